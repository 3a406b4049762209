//! A triple pendulum is swung up by a force on its cart (Nachbagauer 2015, section 5.3): from no force at all, on steps that are halved until
//! the solution survives its replay; replayed by another scheme; and held upright for one more second.
//!
//! `cargo run --release --example triple_pendulum` writes `plots/triple_pendulum.svg`, poses of the swing-up
//! (`plots/triple_pendulum_poses.svg`) and its animation (`plots/triple_pendulum.gif`).

use costate::cost::{Aim, Goal};
use costate::{Plain, Signal, Simulation, TimeGrid, Trajectory, scheme};
use costate_identify::Result;
use costate_identify::control::{Control, ControlScenario, UnknownSignal};
use costate_identify::optimise::{Flow, Method, Options};
use costate_models::triple_pendulum;
use costate_models::triple_pendulum::TriplePendulum;
use costate_report::plot::mechanism::{Animation, Picture};
use costate_report::plot::{Axis, Color, Figure, Panel, Series};
use std::f64::consts::PI;
use std::path::Path;
use std::sync::Arc;

fn simulation(name: &str, step: f64, duration: f64, force: Signal) -> costate::Result<Simulation> {
    let settings = if name == "hht" { vec![("alpha".to_string(), -0.05)] } else { Vec::new() };
    let grid = TimeGrid::steps(0.0, step, (duration / step).round() as usize)?;
    Simulation::new(Arc::new(Plain::new(TriplePendulum)?), scheme::by_name(name, &settings)?, grid, vec![force])
}

/// Finds the force from another one; says how.
fn find(
    scenario: &ControlScenario,
    simulation: &Simulation,
    start: Signal,
    values: &[(&str, f64)],
) -> Result<(Control, Vec<f64>, Vec<f64>)> {
    let mut control = scenario.control("triple_pendulum", simulation, 1, vec![start])?;
    for (name, value) in values {
        let place = control.simulation.signature().parameter_index(name)?;
        control.start[place] = *value;
    }
    let options = Options { cost_target: scenario.target, max_iterations: 400, ..Options::default() };
    let found = control.minimise(Method::LevenbergMarquardt, 1e-6, &options, &mut |_| Flow::Continue)?;
    let (_, force) = control.expand(&found.outcome.u);
    println!(
        "{:4} steps: cost {:.2e} after {} iterations, force up to {:.1} N; at half the step outputs move by {:.2} %",
        control.simulation.grid().count(),
        found.outcome.cost,
        found.outcome.iterations,
        force.iter().fold(0.0f64, |largest, force| largest.max(force.abs())),
        100.0 * found.replay.largest
    );
    let costs = found.outcome.history.iter().map(|iteration| iteration.cost).collect();
    Ok((control, found.outcome.u, costs))
}

/// Six poses, as in the paper's Fig. 9, and an animation.
fn draw(swing: &Simulation, swung: &Trajectory) -> Result<()> {
    let picture = Picture::of_motion(swing, &swing.signature().nominal(), swung)?.height(115.0)?;
    picture.panels(&[0.0, 0.7, 1.4, 1.9, 2.3, 3.0])?.write_svg("plots/triple_pendulum_poses.svg")?;
    let bytes = picture.animation(&Animation::default(), &mut |_| {})?;
    costate_data::files::write_atomically(Path::new("plots/triple_pendulum.gif"), &bytes)?;
    println!("\nwritten to plots/triple_pendulum_poses.svg and plots/triple_pendulum.gif ({} kB)", bytes.len() / 1000);
    Ok(())
}

fn main() -> Result<()> {
    let scenario = triple_pendulum::swing_up();
    let (mut force, mut history, mut step) = (Signal::constant(0.0), Vec::new(), 5e-3);
    for round in 0..=scenario.refinements {
        let simulation = simulation("hht", step, triple_pendulum::DURATION, force.clone())?;
        let (control, unknowns, costs) = find(&scenario, &simulation, force, &[])?;
        force = control.signals_of(&unknowns)?.swap_remove(0);
        if round == 0 {
            history = costs;
        }
        if round < scenario.refinements {
            step *= 0.5;
        }
    }
    println!("\nreplayed, at the end: angles beside upright [rad], rates [rad/s]");
    let mut ends = Vec::new();
    for (name, step) in [("hht", step), ("hht", 0.25 * step), ("i2p", 0.1 * step)] {
        let simulation = simulation(name, step, triple_pendulum::DURATION, force.clone())?;
        let run = simulation.run(&simulation.signature().nominal())?;
        let end = |k: usize| run.output(k).last().copied().unwrap_or(f64::NAN);
        println!(
            "{name:4} {step:.2e} s: {:9.6} {:9.6} {:9.6}   {:9.6} {:9.6} {:9.6}",
            end(1) - PI,
            end(2) - PI,
            end(3) - PI,
            end(5),
            end(6),
            end(7)
        );
        ends = (0..8).map(end).collect();
    }

    // one more second upright, from where the swing-up ends for the independent scheme: the same way, with a path for it
    let swing = simulation("hht", step, triple_pendulum::DURATION, force.clone())?;
    let swung = swing.run(&swing.signature().nominal())?;
    draw(&swing, &swung)?;
    let hold = ControlScenario::new(
        vec![Signal::constant(0.0)],
        vec![UnknownSignal::new("F", 20.0).intervals(40).effort(1e-6, 0.0)],
        |times| {
            let follow = |value: f64| Aim::Follow(vec![value; times.len()]);
            let angles = (1..=3).map(|link| Goal::new(format!("phi{link}"), follow(PI)).weighted(5.0));
            angles.chain([Goal::new("x_c", follow(0.0)).weighted(5.0)]).chain(triple_pendulum::upright()).collect()
        },
    );
    println!("\nheld for one more second");
    let upright = simulation("hht", 0.5 * step, 1.0, Signal::constant(0.0))?;
    let start = [
        ("x_c0", ends[0]),
        ("v_c0", ends[4]),
        ("phi1_0", ends[1]),
        ("phi2_0", ends[2]),
        ("phi3_0", ends[3]),
        ("omega1_0", ends[5]),
        ("omega2_0", ends[6]),
        ("omega3_0", ends[7]),
    ];
    let (control, unknowns, _) = find(&hold, &upright, Signal::constant(0.0), &start)?;
    let (u, held_force) = control.expand(&unknowns);
    let held = control.simulation_of(&unknowns, 1)?.run(&u)?;
    let replay = control.replay(&unknowns)?;
    for shift in replay.shifts.iter().filter(|shift| shift.output.starts_with("phi")) {
        println!("{} moves by {:.1e} rad at half the step", shift.output, shift.largest);
    }
    for k in 1..=3 {
        let off = held.output(k).iter().map(|phi| (phi - PI).abs()).fold(0.0, f64::max);
        println!("phi{k}: {off:.1e} rad off upright at most");
    }

    let times: Vec<f64> =
        swung.times().iter().copied().chain(held.times()[1..].iter().map(|t| t + triple_pendulum::DURATION)).collect();
    let both = |k: usize| [swung.output(k), held.output(k)[1..].to_vec()].concat();
    let found: Vec<f64> =
        swung.times().iter().map(|t| force.value(*t)).chain(held_force[1..].iter().copied()).collect();
    let mut angles = Panel::new(Axis::linear("time [s]"), Axis::linear("angle from hanging [rad]"));
    for (k, color) in (1..=3).zip(Color::PALETTE) {
        angles = angles.series(Series::line(&times, &both(k)).label(format!("φ{k}")).color(color));
    }
    let numbers: Vec<f64> = (0..history.len()).map(|i| i as f64).collect();
    Figure::wide()
        .columns(2)
        .panel(
            Panel::new(Axis::linear("time [s]"), Axis::linear("force F [N]"))
                .series(Series::line(&times, &found).label("found").color(Color::PALETTE[0])),
        )
        .panel(angles)
        .panel(
            Panel::new(Axis::linear("iteration").whole_numbers(), Axis::log("cost of the end point"))
                .series(Series::line(&numbers, &history).label("steps of 5 ms")),
        )
        .panel(
            Panel::new(Axis::linear("time [s]"), Axis::linear("position of the cart [m]"))
                .series(Series::line(&times, &both(0)).label("cart").color(Color::PALETTE[2])),
        )
        .write_svg("plots/triple_pendulum.svg")?;
    println!("written to plots/triple_pendulum.svg");
    Ok(())
}
