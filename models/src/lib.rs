//! Ready mechanisms, written against costate's public interface alone.

pub mod bench;
pub mod bouc_wen;
pub mod bricard;
pub mod cars;
pub mod cart_pole;
pub mod dc_motor;
pub mod double_pendulum;
pub mod emps;
pub mod engine_mount;
pub mod five_bar;
pub mod four_bar_chain;
pub mod from_parts;
pub mod gyroscope;
pub mod hand_derived;
pub mod hanging_load;
pub mod network;
pub mod oscillator;
pub mod overhead_crane;
pub mod pendulum;
pub mod pendulum_chain;
pub mod rigid_body;
pub mod robot_arm;
pub mod silverbox;
pub mod simple_pendulum;
pub mod slider_crank;
pub mod spatial_chain;
pub mod squeezer;
pub mod top;
pub mod torsional_damper;
pub mod triple_pendulum;

use costate_identify::Result;
use costate_identify::registry::Registry;

fn named<const N: usize>(pairs: [(&str, f64); N]) -> Vec<(String, f64)> {
    pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// Registry of all models of this crate, each with the problem that the command line tries it with.
///
/// # Errors
/// If a model contradicts itself, which the tests rule out.
pub fn registry() -> Result<Registry> {
    // `register` adds what is in a file
    let models = [
        engine_mount::register,
        oscillator::register,
        silverbox::register,
        pendulum::register,
        cart_pole::register,
        slider_crank::register,
        five_bar::register,
        emps::register,
        dc_motor::register,
        bouc_wen::register,
        overhead_crane::register,
        triple_pendulum::register,
        pendulum_chain::register,
        simple_pendulum::register,
        four_bar_chain::register,
        cars::register,
        double_pendulum::register,
        rigid_body::register,
        top::register,
        bricard::register,
        spatial_chain::register,
        gyroscope::register,
        robot_arm::register,
        hanging_load::register,
        squeezer::register,
        torsional_damper::register,
    ];
    let registry = models.into_iter().try_fold(Registry::new(), |registry, register| register(registry))?;
    FILES.into_iter().try_fold(registry, |registry, (name, text)| registry.with_mechanism_file(name, text))
}

/// Models that are mechanism files, too.
const FILES: [(&str, &str); 28] = [
    ("bouc_wen", include_str!("../files/bouc_wen.toml")),
    ("bricard", include_str!("../files/bricard.toml")),
    ("cart_pole", include_str!("../files/cart_pole.toml")),
    ("dc_motor", include_str!("../files/dc_motor.toml")),
    ("double_pendulum", include_str!("../files/double_pendulum.toml")),
    ("emps", include_str!("../files/emps.toml")),
    ("engine_mount", include_str!("../files/engine_mount.toml")),
    ("five_bar", include_str!("../files/five_bar.toml")),
    ("four_bar_chain", include_str!("../files/four_bar_chain.toml")),
    ("gyroscope", include_str!("../files/gyroscope.toml")),
    ("half_car", include_str!("../files/half_car.toml")),
    ("hanging_load", include_str!("../files/hanging_load.toml")),
    ("oscillator", include_str!("../files/oscillator.toml")),
    ("overhead_crane", include_str!("../files/overhead_crane.toml")),
    ("pendulum", include_str!("../files/pendulum.toml")),
    ("pendulum_chain", include_str!("../files/pendulum_chain.toml")),
    ("quarter_car", include_str!("../files/quarter_car.toml")),
    ("rigid_body", include_str!("../files/rigid_body.toml")),
    ("rigid_body_factors", include_str!("../files/rigid_body_factors.toml")),
    ("robot_arm", include_str!("../files/robot_arm.toml")),
    ("silverbox", include_str!("../files/silverbox.toml")),
    ("simple_pendulum", include_str!("../files/simple_pendulum.toml")),
    ("slider_crank", include_str!("../files/slider_crank.toml")),
    ("spatial_chain", include_str!("../files/spatial_chain.toml")),
    ("squeezer", include_str!("../files/squeezer.toml")),
    ("top", include_str!("../files/top.toml")),
    ("torsional_damper", include_str!("../files/torsional_damper.toml")),
    ("triple_pendulum", include_str!("../files/triple_pendulum.toml")),
];
