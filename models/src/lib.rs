//! Ready mechanisms, written against costate's public interface alone.

pub mod bricard;
pub mod cars;
pub mod cart_pole;
pub mod double_pendulum;
pub mod emps;
pub mod engine_mount;
pub mod five_bar;
pub mod four_bar_chain;
pub mod from_parts;
pub mod gyroscope;
pub mod hand_derived;
pub mod hanging_load;
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
pub mod top;
pub mod triple_pendulum;

pub use bricard::bricard;
pub use cars::{half_car, quarter_car};
pub use cart_pole::CartPole;
pub use double_pendulum::double_pendulum;
pub use emps::Emps;
pub use engine_mount::EngineMount;
pub use five_bar::FiveBar;
pub use four_bar_chain::four_bar_chain;
pub use gyroscope::gyroscope;
pub use hanging_load::hanging_load;
pub use oscillator::Oscillator;
pub use overhead_crane::OverheadCrane;
pub use pendulum::Pendulum;
pub use pendulum_chain::pendulum_chain;
pub use rigid_body::{rigid_body, rigid_body_factors};
pub use robot_arm::robot_arm;
pub use silverbox::Silverbox;
pub use simple_pendulum::simple_pendulum;
pub use slider_crank::SliderCrank;
pub use spatial_chain::spatial_chain;
pub use top::top;
pub use triple_pendulum::TriplePendulum;

use costate::problem::Integrator;
use costate::registry::{Registry, Scenario};
use costate::spatial::factors_of_entries;
use costate::{Result, Signal};
use rigid_body::Excitation;
use std::sync::Arc;

fn named<const N: usize>(pairs: [(&str, f64); N]) -> Vec<(String, f64)> {
    pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// The problem of the rigid body, started there.
fn shaken<'n>(start: impl Iterator<Item = (&'n str, f64)>) -> Scenario {
    Scenario {
        end: 3.0,
        step: 1e-2,
        // the acceleration of the drive jumps: without damping the multipliers would ring
        integrator: Integrator::hht(-0.05),
        start: start.map(|(name, value)| (name.to_string(), value)).collect(),
        outputs: ["P.x", "P.y", "P.z"].map(String::from).to_vec(),
        ..Scenario::default()
    }
}

/// All models of this crate, each with the problem that the command line tries it with.
///
/// # Errors
/// If a model contradicts itself, which the tests rule out.
pub fn registry() -> Result<Registry> {
    let damped = Integrator::hht;
    Registry::new()
        .with(
            "hydraulic engine mount, from the acceleration of the load (Lauss 2018, section 5)",
            EngineMount,
            Scenario {
                integrator: damped(-0.1),
                signals: vec![Signal::function(engine_mount::sweep)],
                start: ["c_E1", "c_E2", "d_E", "d_H2"].into_iter().map(String::from).zip(engine_mount::START).collect(),
                outputs: vec!["a1".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "mass, spring and damper (Lauss 2018, section 4)",
            Oscillator,
            Scenario {
                end: 5.0,
                step: 1e-2,
                integrator: damped(-0.05),
                signals: vec![Signal::function(|t| (3.0 * t).sin())],
                start: named([("c", 25.0), ("d", 0.3)]),
                outputs: vec!["a".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "Silverbox, an electronic Duffing oscillator with offset",
            Silverbox,
            Scenario {
                end: 0.5,
                step: 1e-4,
                integrator: damped(0.0),
                signals: vec![Signal::function(silverbox::multisine)],
                start: named([("m", 6.0e-6), ("d", 3.0e-4), ("k1", 1.1), ("k3", 2.8)]),
                outputs: vec!["y".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "pendulum in Cartesian coordinates; its length is a parameter of the constraint",
            Pendulum,
            Scenario {
                end: 4.0,
                step: 2e-3,
                start: named([("L", 0.7), ("d", 0.02), ("angle0", 1.1), ("omega0", 0.0)]),
                outputs: vec!["a_x".into(), "a_y".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "cart with a hanging pole in minimal coordinates, pushed by a force",
            CartPole,
            Scenario {
                end: 4.0,
                step: 2e-3,
                integrator: damped(-0.1),
                signals: vec![Signal::function(|t| 3.0 * (2.5 * t).sin() + 2.0 * (5.3 * t).cos())],
                start: named([("m_cart", 1.0), ("m_pole", 0.5), ("l", 0.45), ("d_cart", 0.2), ("d_pole", 0.02)]),
                outputs: vec!["a_x".into(), "theta".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "slider-crank with spring and damper in redundant coordinates, driven by a torque",
            SliderCrank,
            Scenario {
                end: 0.35,
                step: 1e-3,
                integrator: damped(-0.1),
                signals: vec![Signal::function(slider_crank::torque)],
                start: named([("m_slider", 1.6), ("I_crank", 0.005), ("k", 100.0), ("d", 10.0)]),
                outputs: vec!["angle".into(), "a".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "five-bar linkage in natural coordinates; torques that lead its point along a closed curve (Lopez Varela 2021)",
            FiveBar,
            Scenario {
                end: five_bar::PERIOD,
                step: 2.5e-3,
                integrator: Integrator { scheme: "ali3p".into(), ..Integrator::default() },
                start: named([("A_c0", 0.9 * five_bar::FOLLOWING[0]), ("B_c0", 0.9 * five_bar::FOLLOWING[7])]),
                outputs: vec!["r2_x".into(), "r2_y".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "EMPS, a carriage on a screw with dry friction (Janot, Gautier & Brunot 2019)",
            Emps,
            Scenario {
                end: 5.0,
                step: 1e-3,
                integrator: damped(0.0),
                signals: vec![Signal::function(emps::voltage)],
                start: named([("M", 80.0), ("Fv", 150.0), ("Fc", 15.0), ("offset", 0.0)]),
                outputs: vec!["qm".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "overhead crane; force and torque that lead its load along a line (Nachbagauer 2015, section 5.1)",
            OverheadCrane,
            Scenario {
                end: overhead_crane::DURATION,
                step: 1e-2,
                integrator: damped(-0.1),
                signals: (0..2).map(|k| Signal::function(move |t| overhead_crane::flat(t)[k])).collect(),
                start: named([("m_cart", 12.0), ("m_load", 101.0), ("J_drum", 0.12)]),
                outputs: vec!["x_c".into(), "l".into()],
                ..Scenario::default()
            },
        )?
        .with(
            "cart with three links, to be swung up by a force (Nachbagauer 2015, section 5.3)",
            TriplePendulum,
            Scenario {
                end: triple_pendulum::DURATION,
                step: 5e-3,
                integrator: damped(-0.05),
                signals: vec![Signal::function(|t| 6.0 * (5.0 * t).sin() + 3.0 * (8.3 * t).cos())],
                start: named([("d1", 0.15), ("d2", 0.004), ("d3", 0.001), ("m_cart", 1.2), ("d_cart", 0.3)]),
                outputs: vec!["phi1".into(), "phi2".into(), "phi3".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "chain of four rods from parts, with masses and joint dampers as parameters",
            Arc::new(pendulum_chain(4)?),
            Scenario {
                start: named([
                    ("m2", 1.2),
                    ("m3", 0.9),
                    ("m4", 1.1),
                    ("d1", 0.05),
                    ("d2", 0.05),
                    ("d3", 0.01),
                    ("d4", 0.03),
                ]),
                outputs: vec!["tip.x".into(), "tip.y".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "point mass on a rod, let go horizontally, from parts (IFToMM A01)",
            Arc::new(simple_pendulum()?),
            Scenario {
                end: 2.0,
                start: named([("L", 1.2), ("g", 9.0)]),
                outputs: vec!["position.x".into(), "position.y".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "two four-bar linkages side by side, through singular positions, from parts (IFToMM A02)",
            Arc::new(four_bar_chain(2)?),
            Scenario {
                step: 2e-3,
                start: named([("m_coupler", 1.3), ("v0", 0.9)]),
                outputs: vec!["B0.x".into(), "B0.y".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "quarter of a car with a damper that resists bump and rebound differently, over a road, from parts",
            Arc::new(quarter_car()?),
            Scenario {
                end: 2.0,
                step: 2e-3,
                signals: vec![Signal::function(cars::under_front)],
                start: named([
                    ("m_wheel", 55.0),
                    ("k", 15e3),
                    ("c_bump", 1500.0),
                    ("c_rebound", 1500.0),
                    ("k_tyre", 220e3),
                ]),
                outputs: vec!["on_body.y".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "half a car, heaving and pitching over a road, from parts",
            Arc::new(half_car()?),
            Scenario {
                end: 2.0,
                step: 2e-3,
                signals: vec![Signal::function(cars::under_front), Signal::function(cars::under_rear)],
                start: named([
                    ("I_body", 1000.0),
                    ("m_wheel_front", 50.0),
                    ("m_wheel_rear", 45.0),
                    ("k_front", 16e3),
                    ("k_rear", 23e3),
                    ("c_bump_front", 1500.0),
                    ("c_bump_rear", 1500.0),
                    ("c_rebound_front", 1500.0),
                    ("c_rebound_rear", 1500.0),
                    ("k_tyre_front", 210e3),
                    ("k_tyre_rear", 210e3),
                ]),
                outputs: vec!["over_front.y".into(), "over_rear.y".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "double pendulum with friction in its joints: ten parameters, of which a swing determines six combinations",
            Arc::new(double_pendulum(&[[2.6, 3.5, 7.8, -1.4]])?),
            Scenario {
                step: 2e-3,
                integrator: damped(0.0),
                start: named([
                    ("a1", 0.12),
                    ("L1", 0.19),
                    ("I1", 6e-4),
                    ("I2", 1.1e-3),
                    ("k1", 1e-4),
                    ("k2", 4e-5),
                    ("theta1_0", 2.65),
                    ("omega2_0", -1.2),
                ]),
                outputs: vec!["swing0.theta1".into(), "swing0.theta2".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "rigid body shaken at one point; its inertia tensor from the velocity of another (Nachbagauer 2015, section 5.2)",
            Arc::new(rigid_body(Excitation::OneAxisAfterAnother)?),
            shaken(rigid_body::ENTRIES.into_iter().zip(rigid_body::START)),
        )?
        .with_system(
            "the same by log-Cholesky factors, of which all values are those of a body",
            Arc::new(rigid_body_factors(Excitation::OneAxisAfterAnother)?),
            shaken(rigid_body::FACTORS.into_iter().zip(factors_of_entries(rigid_body::START)?)),
        )?
        .with_system(
            "heavy symmetric top that spins, nods and goes around",
            Arc::new(top()?),
            Scenario {
                step: 5e-4,
                start: named([("l", 0.13), ("I_across", 2e-3), ("I_along", 8e-4), ("spin", 140.0)]),
                outputs: vec!["axis.x".into(), "axis.y".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "Bricard's mechanism, six hinges in a closed loop with a redundant row (IFToMM A04)",
            Arc::new(bricard()?),
            Scenario {
                step: 2e-3,
                start: named([("m2", 1.2), ("m3", 0.9), ("m4", 1.1), ("m5", 0.8)]),
                outputs: vec!["P3.x".into(), "P3.y".into(), "P3.z".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "chain of four rods in space, on hinges that alternate, with masses and joint dampers as parameters",
            Arc::new(spatial_chain(4)?),
            Scenario {
                start: named([
                    ("m2", 1.2),
                    ("m3", 0.9),
                    ("m4", 1.1),
                    ("d1", 0.05),
                    ("d2", 0.05),
                    ("d3", 0.01),
                    ("d4", 0.03),
                ]),
                outputs: vec!["tip.x".into(), "tip.y".into(), "tip.z".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "rotor in two gimbals with motors, friction and a weight that makes it precess",
            Arc::new(gyroscope()?),
            Scenario {
                end: 2.0,
                signals: (0..2).map(|k| Signal::function(move |t| gyroscope::torques(t)[k])).collect(),
                start: named([
                    ("I_rotor", 1.8e-3),
                    ("m_weight", 0.06),
                    ("d_outer", 1e-4),
                    ("d_inner", 3e-4),
                    ("d_rotor", 3e-5),
                    ("bias", 0.0),
                ]),
                outputs: vec!["outer hinge.angle".into(), "inner hinge.angle".into(), "sensor.z".into()],
                ..Scenario::default()
            },
        )?
        .with_system(
            "robot with six joints from a table of its links, with motor torques and friction",
            Arc::new(robot_arm("robot_arm", &robot_arm::SIX_AXES)?),
            Scenario {
                end: 1.0,
                step: 5e-4,
                signals: (0..6).map(|k| Signal::function(move |t| robot_arm::torque(k, t))).collect(),
                start: named([("m2", 7.0), ("m3", 6.0), ("cx3", 0.1), ("Fc2", 2.0), ("Fv2", 5.0), ("Fv3", 1.5)]),
                outputs: (1..=6).map(|k| format!("q{k}.angle")).collect(),
                ..Scenario::default()
            },
        )?
        .with_system(
            "load under a trolley that is moved from rest to rest, by a motion that is found",
            Arc::new(hanging_load(12)?),
            Scenario {
                end: hanging_load::DURATION,
                step: 5e-3,
                integrator: damped(-0.05),
                start: named([("L", 0.9), ("d", 0.3)]),
                outputs: vec!["load.x".into(), "load.y".into()],
                ..Scenario::default()
            },
        )?
        .with_hand_derived("engine_mount", hand_derived::EngineMountByHand)?
        .with_hand_derived("pendulum", hand_derived::PendulumByHand)?
        .with_hand_derived("cart_pole", hand_derived::CartPoleByHand)?
        .with_control("overhead_crane", overhead_crane::following())?
        .with_control("triple_pendulum", triple_pendulum::swing_up())?
        .with_control("hanging_load", hanging_load::rest_to_rest())?
        .with_control("robot_arm", robot_arm::pose_to_pose())
}
