//! The engine mount, engine against kernels written by hand for this one model, in one run.
//!
//! `cargo bench -p costate-benches --bench engine_mount` measures and prints a table of ratios;
//! with `-- none` behind it only the table.

mod hand_written;

use costate::sensitivity::Method;
use costate_benches::{Contestant, measuring, medians};
use costate_identify::Result;
use costate_identify::problem::Problem;
use costate_models::engine_mount::{START, sweep};
use criterion::Criterion;
use hand_written::{Job, dense::Dense, reduced::Reduced};

const STEP: f64 = 1e-4;

fn problem() -> Result<Problem> {
    let registry = costate_models::registry()?;
    let entry = registry.get("engine_mount")?;
    let mut scenario = entry.scenario.clone();
    scenario.step = STEP;
    entry.problem(&scenario)
}

/// Relative difference of two vectors, by the larger entry of each pair.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
}

fn main() -> Result<()> {
    let problem = problem()?;
    let simulation = &problem.first().simulation;
    let force: Vec<f64> = simulation.grid().times().iter().map(|t| sweep(*t)).collect();
    let reference = simulation.run(&simulation.signature().nominal())?.output(0);
    let job = Job { alpha: simulation.scheme().settings()[0].1, h: STEP, force: &force, reference: &reference };
    let steps = job.steps();

    let mut engine = problem.gradient()?;
    let mut engine_with_gradient = problem.gradient()?;
    let (mut dense, mut dense_with_gradient) = (Dense::new(job), Dense::new(job));
    let (mut reduced, mut reduced_with_gradient) = (Reduced::new(job), Reduced::new(job));

    let mut slopes = [[0.0; 4]; 3];
    let costs = [
        engine_with_gradient.cost_and_gradient(&START, Method::Adjoint, &mut slopes[0])?,
        dense_with_gradient.cost_and_gradient(&START, &mut slopes[1]),
        reduced_with_gradient.cost_and_gradient(&START, &mut slopes[2]),
    ];
    for (name, k) in [("dense", 1), ("reduced", 2)] {
        let (cost, gradient) = (difference(&costs[..1], &costs[k..=k]), difference(&slopes[0], &slopes[k]));
        assert!(cost < 1e-10 && gradient < 1e-10, "{name} differs from the engine by {cost:e} and {gradient:e}");
    }
    let iterations = [engine_with_gradient.counters().iterations, dense_with_gradient.iterations];
    let iterations = [iterations[0], iterations[1], reduced_with_gradient.iterations];

    let mut second = problem.gradient()?;
    let mut contestants: Vec<Contestant<'_>> = vec![
        ("engine", Box::new(|| drop(engine.cost(&START)))),
        ("engine", {
            let mut gradient = [0.0; 4];
            Box::new(move || drop(engine_with_gradient.cost_and_gradient(&START, Method::Adjoint, &mut gradient)))
        }),
        ("dense", Box::new(|| _ = std::hint::black_box(dense.cost(&START)))),
        ("dense", {
            let mut gradient = [0.0; 4];
            Box::new(move || _ = std::hint::black_box(dense_with_gradient.cost_and_gradient(&START, &mut gradient)))
        }),
        ("reduced", Box::new(|| _ = std::hint::black_box(reduced.cost(&START)))),
        ("reduced", {
            let mut gradient = [0.0; 4];
            Box::new(move || _ = std::hint::black_box(reduced_with_gradient.cost_and_gradient(&START, &mut gradient)))
        }),
    ];

    let mut criterion: Criterion = costate_benches::criterion();
    for (place, group) in ["engine_mount/cost", "engine_mount/cost_and_gradient"].into_iter().enumerate() {
        let mut group = criterion.benchmark_group(group);
        group.throughput(criterion::Throughput::Elements(steps as u64));
        for (name, work) in contestants.iter_mut().skip(place).step_by(2) {
            group.bench_function(*name, |b| b.iter(&mut *work));
        }
        group.finish();
    }
    criterion.final_summary();

    contestants.push(("Hessian", {
        let (mut gradient, mut hessian) = ([0.0; 4], vec![vec![0.0; 4]; 4]);
        Box::new(move || drop(second.hessian(&START, &mut gradient, &mut hessian)))
    }));
    if measuring() {
        let medians = medians(&mut contestants, 101);
        let nanoseconds = |k: usize| medians[k] / steps as f64 * 1e9;
        println!("\nengine mount, {steps} steps; ns a step, medians of 101 turns");
        println!("            cost   cost+gradient   ratio   iterations   engine/this: cost, cost+gradient");
        for (row, iterations) in iterations.iter().enumerate() {
            let k = 2 * row;
            println!(
                "{:8} {:7.1} {:15.1} {:7.2} {:12.2} {:14.2} {:10.2}",
                contestants[k].0,
                nanoseconds(k),
                nanoseconds(k + 1),
                medians[k + 1] / medians[k],
                *iterations as f64 / steps as f64,
                medians[0] / medians[k],
                medians[1] / medians[k + 1],
            );
        }
        println!("engine, Hessian {:.1}: {:.2} x cost and gradient", nanoseconds(6), medians[6] / medians[1]);
    }
    Ok(())
}
