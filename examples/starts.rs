//! How often, and how fast, each method finds the engine mount's parameters (Lauss 2018, section 5): first from the paper's
//! start, then from 200 random ones.
//!
//! `cargo run --release --example starts` (with `-- --lost`, too, where every lost start led)

use costate::identify::{Identification, Settings, identify};
use costate::optimise::{Flow, Method, Options};
use costate::problem::Problem;
use costate::random::SplitMix64;
use costate::report::table;
use costate::{Result, Scale};

/// A run counts as successful below this cost.
const TARGET: f64 = 1e-15;
const COUNT: usize = 200;
const METHODS: [Method; 4] =
    [Method::Bfgs, Method::LBfgs { memory: 20 }, Method::GaussNewton, Method::LevenbergMarquardt];

/// How the variables are scaled.
#[derive(Clone, Copy)]
enum Scaling {
    Physical,
    BySize,
    Log,
}

fn scaled(problem: &mut Problem, scaling: Scaling) {
    for parameter in &mut problem.parameters {
        parameter.scale = if let Scaling::Log = scaling { Scale::Log } else { Scale::Linear };
        parameter.size = if let Scaling::Physical = scaling { Some(1.0) } else { None };
        // a logarithm has no place for 0
        parameter.lower = 0.0;
    }
}

fn search(problem: &Problem, method: Method, options: Options) -> Result<Identification> {
    identify(problem, &Settings { method, options, ..Settings::default() }, &mut |_| Flow::Continue)
}

/// Evaluations until an accepted step has a cost below `target`.
fn evaluations_to(target: f64, found: &Identification) -> Option<usize> {
    found.outcome.history.iter().find(|iteration| iteration.cost < target).map(|iteration| iteration.evaluations)
}

fn main() -> Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get("engine-mount")?;
    let show_lost = std::env::args().any(|argument| argument == "--lost");
    let mut rows = Vec::new();
    for step in [1e-3, 1e-4] {
        let mut scenario = entry.scenario.clone();
        scenario.step = step;
        let mut problem = entry.problem(&scenario)?;
        for (name, scaling) in [("none", Scaling::Physical), ("size", Scaling::BySize), ("log", Scaling::Log)] {
            scaled(&mut problem, scaling);
            for method in METHODS {
                let found = search(&problem, method, Options::default())?;
                let outcome = &found.outcome;
                let reached = evaluations_to(1e-18, &found).map_or("-".to_string(), |n| n.to_string());
                rows.push(vec![
                    format!("{step:.0e}"),
                    name.to_string(),
                    method.to_string(),
                    reached,
                    outcome.evaluations.to_string(),
                    format!("{:.1e}", outcome.cost),
                    outcome.reason.to_string().chars().take(60).collect(),
                ]);
            }
        }
    }
    println!("From the paper's start:");
    println!("{}\n", table(&["h", "scale", "method", "to 1e-18", "in all", "cost", "reason"], &rows));

    let mut rows = Vec::new();
    let mut problem = entry.problem(&entry.scenario)?;
    let optimum = entry.system.signature().nominal();
    for (name, scaling) in [("size", Scaling::BySize), ("log", Scaling::Log)] {
        scaled(&mut problem, scaling);
        for method in METHODS {
            let mut random = SplitMix64::new(20180101);
            let mut evaluations = Vec::new();
            let mut lost = Vec::new();
            for number in 0..COUNT {
                problem.start = optimum.iter().map(|u| u * 3f64.powf(2.0 * random.unit() - 1.0)).collect();
                let options = Options { cost_target: TARGET, max_evaluations: 500, ..Options::default() };
                match search(&problem, method, options) {
                    Ok(found) if found.outcome.cost < TARGET => evaluations.push(found.outcome.evaluations),
                    Ok(found) => {
                        let Identification { outcome, .. } = &found;
                        let (cost, reason) = (outcome.cost, outcome.reason);
                        let (start, values) = (&problem.start, found.values());
                        lost.push(format!("{number}: cost {cost:.1e}, {reason:?}, from {start:.3?} to {values:.3?}"));
                    }
                    Err(error) => lost.push(format!("{number}: {error}")),
                }
            }
            evaluations.sort();
            rows.push(vec![
                name.to_string(),
                method.to_string(),
                format!("{:.1} %", 100.0 * evaluations.len() as f64 / COUNT as f64),
                evaluations.get(evaluations.len() / 2).map_or("-".into(), |n| n.to_string()),
                evaluations.last().map_or("-".into(), |n| n.to_string()),
            ]);
            if show_lost {
                println!("{name}, {method}:");
                lost.iter().for_each(|line| println!("  {line}"));
            }
        }
    }
    println!("From {COUNT} random starts within a factor of 3 around the optimum, h = 1e-3:");
    println!("{}", table(&["scale", "method", "reached", "median evaluations", "most"], &rows));
    Ok(())
}
