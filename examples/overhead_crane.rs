//! Force and torque that lead a crane's load along a line (Nachbagauer 2015, section 5.1), by several methods, beside the exact solution of
//! the flat system; what the problem determines, and what a little smoothness does about the rest.
//!
//! `cargo run --release --example overhead_crane` writes `plots/overhead_crane.svg`, and the motion as `plots/overhead_crane.gif`.

use costate::{Plain, Simulation, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::control::{Control, ControlObjective};
use costate_identify::optimise::{Flow, Method, Objective, Options};
use costate_identify::table::table;
use costate_models::overhead_crane;
use costate_models::overhead_crane::OverheadCrane;
use costate_report::plot::mechanism::{Animation, Picture};
use costate_report::plot::{Axis, Color, Dash, Figure, Panel, Series};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn control(steps: usize, smoothness: f64) -> Result<Control> {
    let mut scenario = overhead_crane::following();
    scenario.signals = scenario.signals.into_iter().map(|signal| signal.smoothness(smoothness)).collect();
    let grid = TimeGrid::steps(0.0, overhead_crane::DURATION / steps as f64, steps)?;
    let scheme = scheme::by_name("hht", &[("alpha".into(), -0.1)])?;
    let simulation = Simulation::new(Arc::new(Plain::new(OverheadCrane)?), scheme, grid, scenario.start.clone())?;
    scenario.control("overhead_crane", &simulation, 1, scenario.start.clone())
}

/// Force and torque over time.
fn signals(control: &Control, unknowns: &[f64]) -> [Vec<f64>; 2] {
    let (_, w) = control.expand(unknowns);
    [0, 1].map(|k| w.iter().skip(k).step_by(2).copied().collect())
}

/// The motion as an animation.
fn animate(control: &Control, unknowns: &[f64]) -> Result<()> {
    let (u, _) = control.expand(unknowns);
    let simulation = control.simulation_of(unknowns, 1)?;
    let motion = simulation.run(&u)?;
    let bytes = Picture::of_motion(&simulation, &u, &motion)?.animation(&Animation::default(), &mut |_| {})?;
    costate_data::files::write_atomically(Path::new("plots/overhead_crane.gif"), &bytes)?;
    println!("written to plots/overhead_crane.gif ({} kB)", bytes.len() / 1000);
    Ok(())
}

/// Milliseconds of the cost alone, and with its gradient: medians.
fn times(control: &Control) -> Result<[f64; 2]> {
    let mut objective = ControlObjective::new(control)?;
    let start: Vec<f64> = control.variables()?.iter().map(|variable| variable.start).collect();
    let mut gradient = vec![0.0; start.len()];
    let runs = (3_000_000 / start.len()).clamp(5, 1000);
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        let began = Instant::now();
        objective.cost(&start)?;
        took[0].push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        objective.value_and_gradient(&start, &mut gradient)?;
        took[1].push(began.elapsed().as_secs_f64());
    }
    Ok(took.map(|mut took| {
        took.sort_by(f64::total_cmp);
        1e3 * took[took.len() / 2]
    }))
}

fn main() -> Result<()> {
    let exact: Vec<[f64; 2]> =
        (0..=300).map(|i| overhead_crane::flat(overhead_crane::DURATION * f64::from(i) / 300.0)).collect();
    let mut rows = Vec::new();
    let mut histories = Vec::new();
    for (name, method, smoothness) in [
        ("lm", Method::LevenbergMarquardt, 0.0),
        ("lm, smoothed", Method::LevenbergMarquardt, 1e-10),
        ("bfgs", Method::Bfgs, 0.0),
        ("l-bfgs", Method::LBfgs { memory: 30 }, 0.0),
        ("newton-tr", Method::NewtonTrustRegion, 0.0),
    ] {
        let mut control = control(300, smoothness)?;
        let began = Instant::now();
        let options = Options { max_iterations: 300, ..Options::default() };
        let found = control.minimise(method, 1e-6, &options, &mut |_| Flow::Continue)?;
        let seconds = began.elapsed().as_secs_f64();
        let costs: Vec<f64> = found.outcome.history.iter().map(|iteration| iteration.cost).collect();
        let until = |part: f64| {
            let first = costs.iter().position(|cost| *cost <= part * costs[0]);
            first.map_or("-".to_string(), |first| first.to_string())
        };
        let [force, _] = signals(&control, &found.outcome.u);
        let off =
            |from: usize, to: usize| (from..to).map(|i| (force[i] - exact[i][0]).abs()).fold(0.0, f64::max) / 509.3;
        rows.push(vec![
            name.to_string(),
            until(1e-7),
            until(1e-10),
            until(1e-12),
            until(1e-18),
            format!("{:.1e}", costs[costs.len() - 1]),
            format!("{:.1e}", off(60, 241)),
            format!("{:.1e}", off(0, 301)),
            format!("{seconds:.2}"),
        ]);
        if name == "lm, smoothed" {
            animate(&control, &found.outcome.u)?;
        }
        histories.push((name, costs, signals(&control, &found.outcome.u)));
    }
    println!("iterations until the cost has fallen by a factor; the force's largest error beside its peak of 509.3 N");
    println!("{}", table(&["method", "1e-7", "1e-10", "1e-12", "1e-18", "cost", "0.6-2.4 s", "all", "s"], &rows));
    for steps in [50, 300, 50_000] {
        let [cost, both] = times(&control(steps, 0.0)?)?;
        println!(
            "{} unknowns: cost {cost:.3} ms, with gradient {both:.3} ms, ratio {:.2}",
            2 * (steps + 1),
            both / cost
        );
    }

    // what the cost sees of 2 x 61 values: singular values of the scaled residuals' Jacobian, from the Hessian where they vanish
    let mut coarse = control(60, 0.0)?;
    let found = coarse.minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue)?;
    let count = found.outcome.u.len();
    let mut objective = ControlObjective::new(&coarse)?;
    objective.value_and_gradient(&found.outcome.u, &mut vec![0.0; count])?;
    let mut hessian = vec![vec![0.0; count]; count];
    objective.hessian(&found.outcome.u, &mut hessian)?;
    let size = |k: usize| if k < count / 2 { 1000.0 } else { 100.0 };
    let scaled = nalgebra::DMatrix::from_fn(count, count, |i, j| hessian[i][j] * size(i) * size(j));
    let mut values: Vec<f64> = scaled.symmetric_eigen().eigenvalues.iter().map(|value| value.max(0.0).sqrt()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    println!(
        "60 steps: singular values {:.2e}, {:.2e} ... {:.2e} (of the middle), {:.2e} (of the last)",
        values[0],
        values[1],
        values[count / 2],
        values[count - 1]
    );

    let seconds: Vec<f64> = (0..=300).map(|i| overhead_crane::DURATION * f64::from(i) / 300.0).collect();
    let mut figure = Figure::wide().columns(2);
    for (k, axis) in ["force F [N]", "torque M [N m]"].into_iter().enumerate() {
        let flat: Vec<f64> = exact.iter().map(|exact| exact[k]).collect();
        figure = figure.panel(
            Panel::new(Axis::linear("time [s]"), Axis::linear(axis))
                .series(Series::line(&seconds, &histories[0].2[k]).label("lm").color(Color::PALETTE[1]))
                .series(Series::line(&seconds, &histories[1].2[k]).label("lm, smoothed").color(Color::PALETTE[0]))
                .series(Series::line(&seconds, &flat).label("exact").color(Color::PALETTE[2]).dash(Dash::Dashed)),
        );
    }
    let mut costs = Panel::new(Axis::linear("iteration").whole_numbers(), Axis::log("cost").lower_limit(1e-24));
    for ((name, history, _), color) in histories.iter().zip(Color::PALETTE) {
        let numbers: Vec<f64> = (0..history.len()).map(|i| i as f64).collect();
        costs = costs.series(Series::line(&numbers, history).label(*name).color(color));
    }
    // the first values, which the load hardly sees
    let first = |values: &[f64]| values[..51].to_vec();
    let flat: Vec<f64> = exact.iter().map(|exact| exact[0]).collect();
    let beginning = Panel::new(Axis::linear("time [s]"), Axis::linear("force F [N]"))
        .series(Series::line(&first(&seconds), &first(&histories[0].2[0])).label("lm").color(Color::PALETTE[1]))
        .series(
            Series::line(&first(&seconds), &first(&histories[1].2[0])).label("lm, smoothed").color(Color::PALETTE[0]),
        )
        .series(
            Series::line(&first(&seconds), &first(&flat)).label("exact").color(Color::PALETTE[2]).dash(Dash::Dashed),
        );
    figure.panel(beginning).panel(costs).write_svg("plots/overhead_crane.svg")?;
    println!("written to plots/overhead_crane.svg");
    Ok(())
}
