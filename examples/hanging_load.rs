//! A load under a trolley is moved from rest to rest by a motion that is found: by several methods, and what a gradient costs beside the number of
//! the motion's values.
//!
//! `cargo run --release --example hanging_load`

use costate::scheme::Hht;
use costate::{Simulation, TimeGrid};
use costate_identify::Result;
use costate_identify::control::{Control, ControlObjective};
use costate_identify::optimise::{Flow, Method, Objective, Options};
use costate_identify::table::table;
use costate_models::hanging_load::{DURATION, hanging_load, rest_to_rest};
use std::sync::Arc;
use std::time::Instant;

fn control(intervals: usize, steps: usize) -> Result<Control> {
    let grid = TimeGrid::steps(0.0, DURATION / steps as f64, steps)?;
    let simulation = Simulation::new(Arc::new(hanging_load(intervals)?), Hht::new(-0.05)?, grid, vec![])?;
    rest_to_rest().control("hanging_load", &simulation, 1, Vec::new())
}

/// Milliseconds of the cost alone, with its gradient, and of an iteration of `lm` in all: medians.
fn times(control: &mut Control) -> Result<[f64; 3]> {
    let start: Vec<f64> = control.variables()?.iter().map(|variable| variable.start).collect();
    let mut objective = ControlObjective::new(control)?;
    let mut gradient = vec![0.0; start.len()];
    let mut took = [Vec::new(), Vec::new()];
    for _ in 0..15 {
        let began = Instant::now();
        objective.cost(&start)?;
        took[0].push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        objective.value_and_gradient(&start, &mut gradient)?;
        took[1].push(began.elapsed().as_secs_f64());
    }
    drop(objective);
    let [cost, gradient] = took.map(|mut took| {
        took.sort_by(f64::total_cmp);
        1e3 * took[took.len() / 2]
    });
    let options = Options { max_iterations: 3, ..Options::default() };
    let began = Instant::now();
    let mut count = 0;
    control.minimise(Method::LevenbergMarquardt, 1e3, &options, &mut |iteration| {
        count = iteration.number.max(1);
        Flow::Continue
    })?;
    Ok([cost, gradient, 1e3 * began.elapsed().as_secs_f64() / f64::from(count as u32)])
}

fn main() -> Result<()> {
    let mut rows = Vec::new();
    for method in [Method::LevenbergMarquardt, Method::LBfgs { memory: 20 }, Method::NewtonTrustRegion] {
        let mut control = control(12, 500)?;
        let found = control.minimise(method, 1e-9, &Options::default(), &mut |_| Flow::Continue)?;
        rows.push(vec![
            method.to_string(),
            format!("{}", found.outcome.iterations),
            format!("{:.6e}", found.outcome.cost),
            found.violations.iter().map(|v| format!("{:.1e} {}", v.by, v.unit)).collect::<Vec<_>>().join(", "),
        ]);
    }
    println!("{}\n", table(&["method", "iterations", "cost", "off at the end by"], &rows));
    let mut rows = Vec::new();
    for intervals in [12, 50, 200, 500] {
        let mut control = control(intervals, 500)?;
        let [cost, gradient, iteration] = times(&mut control)?;
        let count = control.unknowns().0;
        rows.push(vec![
            format!("{count}"),
            format!("{cost:.2} ms"),
            format!("{gradient:.2} ms"),
            format!("{:.1}", gradient / cost),
            format!("{iteration:.0} ms"),
        ]);
    }
    println!("{}", table(&["values", "cost alone", "with its gradient", "ratio", "an iteration of lm"], &rows));
    Ok(())
}
