//! Time and memory of chains of rods by their length: forward, and with the gradient by all masses and all dampers.
//!
//! `cargo run --release --example chain_speed -- [space] [LENGTHS]`, for example `10 100 1000 10000 100000`. h = 1 ms, one thread; 1 s, and
//! from 30000 rods on as much less as keeps the stored states within 3 GB. With `space`, chains on hinges that alternate instead of planar ones.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{Simulation, TimeGrid};
use costate_identify::table::table;
use costate_models::pendulum_chain::pendulum_chain;
use costate_models::spatial_chain::spatial_chain;
use std::sync::Arc;
use std::time::Instant;

const H: f64 = 1e-3;

/// So many that states of all rods and steps fit into the memory of a desk.
fn steps(rods: usize) -> usize {
    (30_000_000 / rods).clamp(10, 1000)
}

/// Resident memory of this process in bytes, where the system tells it.
fn memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| kilobytes * 1024.0)
}

struct Measured {
    rods: usize,
    /// ns a step and rod.
    forward: f64,
    both: f64,
    /// Doubles a step and rod, all memory together.
    doubles: f64,
    /// ms before the first step: to put the chain together, and to make ready for its derivatives and factors, up to a step's length of run.
    built: f64,
    ready: f64,
}

fn measure(rods: usize, in_space: bool) -> costate::Result<Measured> {
    let steps = steps(rods);
    let before = memory().unwrap_or(f64::NAN);
    let began = Instant::now();
    let chain = Arc::new(if in_space { spatial_chain(rods)? } else { pendulum_chain(rods)? });
    let mut u = chain.signature().nominal();
    u[rods..].fill(0.0);
    let built = 1e3 * began.elapsed().as_secs_f64();
    let began = Instant::now();
    let first = Simulation::new(chain.clone(), Hht::new(-0.05)?, TimeGrid::steps(0.0, H, 1)?, vec![])?;
    first.run(&u)?;
    let ready = 1e3 * began.elapsed().as_secs_f64();
    let simulation = Simulation::new(chain, Hht::new(-0.05)?, TimeGrid::uniform(0.0, H * steps as f64, H)?, vec![])?;
    let reference = Reference { output: 0, values: vec![1.0; steps + 1], deviation: 1.0 };
    let cost = LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Trapezoid)?;
    let mut engine = Gradient::new(&simulation, &cost)?;
    let mut gradient = vec![0.0; u.len()];
    let scale = 1e9 / (steps * rods) as f64;
    let (mut forward, mut both) = (f64::INFINITY, f64::INFINITY);
    // the least of some runs: other programs only add
    for _ in 0..(2000 / rods).clamp(3, 40) {
        let begin = Instant::now();
        engine.cost(&u)?;
        forward = forward.min(begin.elapsed().as_secs_f64() * scale);
        let begin = Instant::now();
        engine.cost_and_gradient(&u, Method::Adjoint, &mut gradient)?;
        both = both.min(begin.elapsed().as_secs_f64() * scale);
    }
    let doubles = (memory().unwrap_or(f64::NAN) - before) / (8 * steps * rods) as f64;
    Ok(Measured { rods, forward, both, doubles, built, ready })
}

fn main() -> costate::Result<()> {
    let mut lengths: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if lengths.is_empty() {
        lengths = vec![10, 100, 1000];
    }
    let in_space = std::env::args().any(|text| text == "space");
    let measured = lengths.into_iter().filter(|rods| *rods > 0).map(|rods| measure(rods, in_space));
    let measured = measured.collect::<costate::Result<Vec<_>>>()?;
    let rows: Vec<Vec<String>> = measured
        .iter()
        .map(|m| {
            vec![
                m.rods.to_string(),
                format!("{:.0}", m.forward),
                format!("{:.0}", m.both),
                format!("{:.2}", (m.both - m.forward) / m.forward),
                format!("{:.1}", m.doubles),
                format!("{:.2}", m.built),
                format!("{:.2}", m.ready),
            ]
        })
        .collect();
    let header = [
        "rods",
        "forward [ns]",
        "with gradient [ns]",
        "sweep / forward",
        "doubles (all memory)",
        "built [ms]",
        "first step [ms]",
    ];
    println!("a step and rod:\n{}", table(&header, &rows));
    if let [first, .., last] = measured.as_slice() {
        let decades = (last.rods as f64 / first.rods as f64).ln();
        let exponent = |a: f64, b: f64| 1.0 + (b / a).ln() / decades;
        println!(
            "exponents of growth: forward {:.3}, with gradient {:.3}; built {:.3}, first step {:.3}",
            exponent(first.forward, last.forward),
            exponent(first.both, last.both),
            exponent(first.built, last.built) - 1.0,
            exponent(first.ready, last.ready) - 1.0
        );
    }
    Ok(())
}
