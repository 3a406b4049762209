//! Time of one step for the other ready models, cost and cost with gradient.
//!
//! `cargo bench -p costate-benches --bench sizes`; with `-- none` behind it only the table.

#[path = "branches.rs"]
mod branches;

use costate::sensitivity::Method;
use costate_benches::{Contestant, measuring, medians};
use costate_identify::Result;

/// Name, and the number of steps.
const MODELS: [(&str, usize); 4] =
    [("oscillator", 10_000), ("pendulum", 10_000), ("cart_pole", 10_000), ("silverbox", 100_000)];

fn main() -> Result<()> {
    let registry = costate_models::registry()?;
    let mut criterion = costate_benches::criterion();
    let mut table = Vec::new();
    for (name, steps) in MODELS {
        let entry = registry.get(name)?;
        let mut scenario = entry.scenario.clone();
        scenario.end = steps as f64 * scenario.step;
        let problem = entry.problem(&scenario)?;
        let start = &problem.start;
        let (mut plain, mut adjoint) = (problem.gradient()?, problem.gradient()?);
        let mut gradient = vec![0.0; start.len()];
        adjoint.cost_and_gradient(start, Method::Adjoint, &mut gradient)?;
        let iterations = adjoint.counters().iterations as f64 / steps as f64;
        let mut contestants: Vec<Contestant<'_>> = vec![
            ("cost", Box::new(move || drop(plain.cost(start)))),
            (
                "cost_and_gradient",
                Box::new(move || drop(adjoint.cost_and_gradient(start, Method::Adjoint, &mut gradient))),
            ),
        ];
        let mut group = criterion.benchmark_group(name);
        group.throughput(criterion::Throughput::Elements(steps as u64));
        for (work_name, work) in &mut contestants {
            group.bench_function(*work_name, |b| b.iter(&mut *work));
        }
        group.finish();
        if measuring() {
            let rounds = (500_000 / steps).max(7);
            let times = medians(&mut contestants, rounds);
            let [cost, with_gradient] = [times[0], times[1]].map(|time| time / steps as f64 * 1e9);
            let ratio = with_gradient / cost;
            table.push(format!(
                "{name:11} {steps:7} steps {cost:8.1} {with_gradient:15.1} {ratio:7.2} {iterations:12.2}"
            ));
        }
    }
    criterion.final_summary();
    if measuring() {
        println!("\nns a step              cost   cost+gradient   ratio   iterations");
        table.iter().for_each(|row| println!("{row}"));
    }
    branches::table()
}
