//! Gradients of runs whose states do not fit into memory: time, memory, and the gradient to the last bit.
//!
//! `cargo run --release --example long_run -- [STEPS] [LIMIT]`: the engine mount over so many steps (a million) of 0.1 ms, whose states
//! may take LIMIT (otherwise as much as is usual), such as `100MB`.

use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::{Number, Plain, Result, Signal, Simulation, State, TimeGrid};
use costate_models::engine_mount::EngineMount;
use std::sync::Arc;
use std::time::Instant;

/// The mean square of the displacement.
struct Shaking;

impl CostFunction for Shaking {
    fn running<D: Number>(&self, _t: f64, _x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        y[0] * y[0]
    }
}

/// The most memory that this process had, in MB, where the system tells it.
fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1.024e-3 * kilobytes)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let steps = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let force = |t: f64| 100.0 * (113.0 * t).sin() + 60.0 * (251.0 * t).cos();
    let grid = TimeGrid::steps(0.0, 1e-4, steps)?;
    let system = Arc::new(Plain::new(EngineMount)?);
    let u = [73.8e3, 4e9, 0.5, 1.2];
    let mut simulation = Simulation::new(system, Hht::new(-0.05)?, grid, vec![Signal::function(force)])?;
    if let Some(limit) = arguments.next() {
        simulation = simulation.memory(costate::memory::bytes(&limit)?)?;
    }
    match simulation.checkpoints()? {
        Some(checkpoints) => println!("{checkpoints}"),
        None => println!("all states are kept"),
    }
    let cost = Differentiated::new(Shaking, Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &cost)?;
    let mut gradient = [0.0; 4];
    let per_step = |begun: Instant| 1e9 * begun.elapsed().as_secs_f64() / steps as f64;
    let begun = Instant::now();
    let value = engine.cost(&u)?;
    println!("cost {value:e}: {:.0} ns a step", per_step(begun));
    let begun = Instant::now();
    engine.cost_and_gradient(&u, Method::Adjoint, &mut gradient)?;
    println!("with gradient: {:.0} ns a step", per_step(begun));
    println!("gradient {gradient:?}, to the last bit {:x?}", gradient.map(f64::to_bits));
    if let Some(peak) = peak() {
        println!("{peak:.0} MB at most");
    }
    Ok(())
}
