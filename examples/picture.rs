//! Mechanisms drawn from their parts: a slider-crank with a spring that drives a rocker, and every other symbol.
//!
//! `cargo run --release --example picture` writes `out/picture/slider_crank.svg`, `slider_crank_overlay.svg`, `symbols.svg`
//! (and PNG), and `slider_crank.gif`.

use costate::scheme::Hht;
use costate::value::Value;
use costate::{InitialState, Parameter, Signal, Simulation, TimeGrid};
use costate_identify::Result;
use costate_parts::assembly::Assembly;
use costate_parts::law::Axes;
use costate_parts::planar::{Body, Mechanism};
use costate_report::plot::mechanism::{Animation, Picture};
use std::sync::Arc;

/// A crank, turned by a motor, moves a slider against a spring with a damper; a sensor sits on the connecting rod.
fn slider_crank() -> costate::Result<Assembly> {
    let mut m = Mechanism::new("slider_crank");
    let length = m.parameter(Parameter::new("crank", "m", 0.12));
    let motor = m.input("motor", "N m");
    let zero = || Value::from(0.0);
    let ground = m.ground();
    let crank = m.body("crank", Body::new(0.8, 2e-3).at([length * 0.5, zero()], 0.0));
    let rod = m.body("rod", Body::new(0.6, 6e-3).at([length + 0.17, zero()], 0.0));
    let slider = m.body("slider", Body::new(1.0, 1e-3).at([length + 0.34, zero()], 0.0));
    m.revolute("main bearing", ground.at([0.0, 0.0]), crank.at([length * -0.5, zero()]));
    m.revolute("crank pin", crank.at([length * 0.5, zero()]), rod.at([-0.17, 0.0]));
    m.revolute("wrist pin", rod.at([0.17, 0.0]), slider.at([0.0, 0.0]));
    m.prismatic("guide", ground.at([0.0, 0.0]), slider.at([0.0, 0.0]), 0.0, 0.0);
    m.spring("spring", slider.at([0.0, 0.0]), ground.at([0.68, 0.0]), 0.2, 250.0, 4.0);
    m.torque("motor", &ground, &crank, motor);
    m.position("point", rod.at([0.0, 0.07]));
    m.build()
}

/// One of each symbol: two gears, a pendulum on a slot with a torsional spring, a welded plate, a ball on a floor, point
/// masses on rods and springs, a force.
fn symbols() -> costate::Result<Assembly> {
    let mut m = Mechanism::new("symbols");
    let ground = m.ground();
    let wind = m.input("wind", "N");
    let wheel = m.body("wheel", Body::new(2.0, 0.01).at([-0.55, 0.35], 0.0).moving([0.0, 0.0], 6.0));
    let pinion = m.body("pinion", Body::new(0.5, 6e-4).at([-0.25, 0.35], 0.0).moving([0.0, 0.0], -12.0));
    m.revolute("wheel axle", ground.at([-0.55, 0.35]), wheel.at([0.0, 0.0]));
    m.revolute("pinion axle", ground.at([-0.25, 0.35]), pinion.at([0.0, 0.0]));
    m.gears("gears", &wheel, &pinion, -2.0);
    let carrier = m.body("carrier", Body::new(0.4, 1e-3).at([0.25, 0.5], 0.0));
    m.prismatic("rail", ground.at([0.0, 0.5]), carrier.at([0.0, 0.0]), 0.0, 0.0);
    let arm = m.body("arm", Body::new(0.7, 0.01).at([0.25, 0.3], 0.0));
    m.revolute("hinge", carrier.at([0.0, 0.0]), arm.at([0.0, 0.2]));
    m.torsion("torsion spring", &carrier, &arm, 2.0, 0.05);
    let plate = m.body("plate", Body::new(0.5, 3e-3).at([0.25, 0.06], 0.0));
    m.weld("weld", arm.at([0.0, -0.2]), plate.at([0.0, 0.04]), 0.0);
    m.force("wind", plate.at([0.1, -0.04]), [1.0, 0.0], Axes::World, wind);
    m.position("corner", plate.at([-0.1, -0.04]));
    let ball = m.body("ball", Body::new(0.3, 5e-4).at([-0.3, -0.12], 0.0).moving([0.25, 0.0], 0.0));
    m.contact("floor", ground.at([0.0, -0.3]), 0.0, ball.at([0.0, 0.0]), 0.06, 2e4, 0.3);
    let bob = m.point("bob", 0.5, [-0.75, -0.1]);
    m.rod("string", ground.at([-0.75, 0.15]), bob.at([0.0, 0.0]), 0.25);
    let weight = m.point("weight", 0.5, [0.65, 0.1]);
    m.spring("spring", ground.at([0.65, 0.5]), weight.at([0.0, 0.0]), 0.35, 80.0, 0.0);
    m.spring("damper", weight.at([0.0, 0.0]), ground.at([0.65, -0.3]), 0.4, 0.0, 1.5);
    let lever = m.body("lever", Body::new(0.4, 3e-3).at([0.95, 0.3], 0.6));
    m.revolute("fulcrum", ground.at([0.95, 0.3]), lever.at([0.0, 0.0]));
    m.joint_friction("friction", &ground, &lever, [0.05, 0.07, 0.1, 0.01].map(Value::from));
    let pin = m.point("pin", 0.2, [1.1, -0.1]);
    m.on_line("slot", ground.at([0.95, -0.1]), pin.at([0.0, 0.0]), 0.3);
    m.spring("strut", lever.at([0.15, 0.0]), pin.at([0.0, 0.0]), 0.3, 60.0, 1.0);
    m.position("lever end", lever.at([-0.15, 0.0]));
    m.build()
}

fn simulation(system: Assembly, end: f64, signal: fn(f64) -> f64) -> Result<Simulation> {
    let signals = vec![Signal::function(signal)];
    let grid = TimeGrid::uniform(0.0, end, 1e-3)?;
    Ok(Simulation::new(Arc::new(system), Hht::new(-0.1)?, grid, signals)?.initial_state(InitialState::Projected))
}

fn main() -> Result<()> {
    let folder = std::path::Path::new("out/picture");
    // a folder that cannot be made is reported with the first file
    let _ = std::fs::create_dir_all(folder);
    let crank = simulation(slider_crank()?, 1.0, |t| if t < 0.5 { 6.0 } else { -2.0 })?;
    let u = crank.system().signature().nominal();
    let trajectory = crank.run(&u)?;
    let picture = Picture::of_motion(&crank, &u, &trajectory)?;
    let parts = simulation(symbols()?, 0.6, |t| 4.0 * (9.0 * t).cos())?;
    let motion = parts.run(&[])?;
    let figures = [
        ("slider_crank", picture.panels(&[0.0, 0.1, 0.2, 0.3])?),
        ("slider_crank_overlay", picture.overlay(&[0.0, 0.05, 0.1, 0.15])?),
        ("symbols", Picture::of_motion(&parts, &[], &motion)?.panels(&[0.3])?),
        ("symbols_start", Picture::of_start(&parts, &[])?.panels(&[0.0])?),
    ];
    for (name, figure) in figures {
        figure.write_svg(folder.join(format!("{name}.svg")))?;
        figure.write_png(folder.join(format!("{name}.png")))?;
    }
    let bytes = picture.animation(&Animation::default(), &mut |_| {})?;
    costate_data::files::write_atomically(&folder.join("slider_crank.gif"), &bytes)?;
    println!("written to {}", folder.display());
    Ok(())
}
