//! How often, and how fast, each method finds the parameters of a model from random starts: the tables of docs/methods.md.
//!
//! `cargo run --release --example starts -- [MODEL ..] [--seed N] [--count N] [--methods NAME,..]
//! [--target COST] [--lost]`
//!
//! The reference is a simulation at the model's nominal parameters. Every free parameter starts at its nominal value times a
//! factor that is log-uniform in [1/3, 3]; parameters whose nominal value is not positive stay there. A search has arrived
//! when its cost is below the target; without one, below 1e-16 of the median start's cost, as costs have units, and what is a
//! good fit to one model's acceleration may be round-off of another's force. `--lost` prints every search that did not arrive.

use costate::Scale;
use costate::random::SplitMix64;
use costate_identify::optimise::{Flow, Method, Options, Outcome};
use costate_identify::problem::Problem;
use costate_identify::{Error, Result};
use costate_identify::{Identification, Settings, Status, identify};

/// Without a target, a search has arrived below this part of the median start's cost.
const RELATIVE_TARGET: f64 = 1e-16;
const MOST_EVALUATIONS: usize = 500;
const METHODS: &str = "bfgs,l-bfgs,gauss-newton,lm,ding,newton-tr";

struct Arguments {
    models: Vec<String>,
    seed: u64,
    count: usize,
    methods: Vec<Method>,
    target: Option<f64>,
    show_lost: bool,
}

fn arguments() -> Result<Arguments> {
    let (models, methods) = (Vec::new(), Vec::new());
    let mut found = Arguments { models, seed: 20180101, count: 200, methods, target: None, show_lost: false };
    let mut methods = METHODS.to_string();
    let mut given = std::env::args().skip(1);
    let number = |name: &str, value: &str| {
        let wrong = |_| Error::invalid(name, format!("`{value}` is no whole number"), "write one such as 200");
        value.parse::<u64>().map_err(wrong)
    };
    while let Some(argument) = given.next() {
        let mut value = || {
            let missing = || Error::invalid(&argument, "its value is missing", "write it after a space");
            given.next().ok_or_else(missing)
        };
        match argument.as_str() {
            "--seed" => found.seed = number("--seed", &value()?)?,
            "--count" => found.count = number("--count", &value()?)?.max(1) as usize,
            "--methods" => methods = value()?,
            "--target" => {
                let text = value()?;
                let wrong = |_| Error::invalid("--target", format!("`{text}` is no number"), "write one such as 1e-15");
                found.target = Some(text.parse::<f64>().map_err(wrong)?);
            }
            "--lost" => found.show_lost = true,
            option if option.starts_with('-') => {
                let known = ["--seed", "--count", "--methods", "--target", "--lost"];
                return Err(Error::unknown("option", option, "", known));
            }
            _ => found.models.push(argument),
        }
    }
    found.methods = methods.split(',').map(str::parse).collect::<Result<_>>()?;
    if found.models.is_empty() {
        found.models.push("engine_mount".into());
    }
    Ok(found)
}

fn random_starts(problem: &Problem, optimum: &[f64], seed: u64, count: usize) -> Vec<Vec<f64>> {
    let mut random = SplitMix64::new(seed);
    let mut start = |_| {
        let mut value = |(u, parameter): (&f64, &costate::Parameter)| match parameter.free && *u > 0.0 {
            true => (u * 3f64.powf(2.0 * random.unit() - 1.0)).clamp(parameter.lower, parameter.upper),
            false => *u,
        };
        optimum.iter().zip(&problem.parameters).map(&mut value).collect()
    };
    (0..count).map(&mut start).collect()
}

/// Puts positive parameters on this scale.
fn rescale(problem: &mut Problem, optimum: &[f64], scale: Scale) {
    for (parameter, u) in problem.parameters.iter_mut().zip(optimum) {
        parameter.scale = if *u > 0.0 && parameter.lower >= 0.0 { scale } else { Scale::Linear };
    }
}

/// Evaluations, Hessians and products in prices of a gradient: a Hessian about one a parameter and one more, a product with it
/// about one and a half (docs/methods.md).
fn gradients(outcome: &Outcome) -> f64 {
    let p = outcome.u.len() as f64;
    outcome.evaluations as f64 + (p + 1.0) * outcome.hessians as f64 + 1.5 * outcome.hessian_products as f64
}

/// Where a lost search ended: parameters at bounds or far away, and the cost there, or why it gave up.
fn place(found: &Identification, optimum: &[f64]) -> String {
    let mut parts = Vec::new();
    for (parameter, optimum) in found.parameters.iter().zip(optimum) {
        let (name, ratio) = (&parameter.name, parameter.value / optimum);
        match parameter.status {
            Status::AtLowerBound => parts.push(format!("{name} at its lower bound {}", parameter.value)),
            Status::AtUpperBound => parts.push(format!("{name} at its upper bound {}", parameter.value)),
            Status::Free if ratio.abs() < 1e-2 => parts.push(format!("{name} near 0")),
            Status::Free if ratio < 0.0 => parts.push(format!("{name} of the other sign")),
            Status::Free if ratio > 1e2 => parts.push(format!("{name} far above")),
            _ => {}
        }
    }
    let outcome = &found.outcome;
    if outcome.converged {
        parts.push(format!("stationary, cost {:.1e}", outcome.cost));
    } else {
        parts.push(format!("not converged ({:?})", outcome.reason));
    }
    parts.join(", ")
}

fn median<T: Copy + PartialOrd>(mut values: Vec<T>) -> Option<T> {
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.get(values.len() / 2).copied()
}

/// The table of one model.
fn compare(name: &str, arguments: &Arguments) -> Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get(name)?;
    let mut problem = entry.problem(&entry.scenario)?;
    let optimum = entry.system.signature().nominal();
    let usual_start = problem.start.clone();
    let starts = random_starts(&problem, &optimum, arguments.seed, arguments.count);
    let mut engine = problem.gradient()?;
    let costs: Vec<f64> = starts.iter().filter_map(|u| engine.cost(u).ok()).collect();
    drop(engine);
    let typical = median(costs).unwrap_or(1.0);
    let target = arguments.target.unwrap_or(RELATIVE_TARGET * typical);
    println!("## {}: {} starts, seed {}\n", entry.name(), starts.len(), arguments.seed);
    println!("Median cost of the starts {typical:.2e}; arrived below {target:.1e}.\n");
    println!("| scale | method | arrived | evaluations: median | most | in gradients: median | from the usual start |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    let mut losses = Vec::new();
    for (scale_name, scale) in [("linear", Scale::Linear), ("log", Scale::Log)] {
        rescale(&mut problem, &optimum, scale);
        for &method in &arguments.methods {
            let options = Options { cost_target: target, max_evaluations: MOST_EVALUATIONS, ..Options::default() };
            let settings = Settings { method: Some(method), options, ..Settings::default() };
            let mut search = |start: &[f64]| {
                problem.start = start.to_vec();
                identify(&problem, &settings, &mut |_| Flow::Continue)
            };
            let (mut evaluations, mut prices) = (Vec::new(), Vec::new());
            let mut lost: Vec<(String, usize)> = Vec::new();
            for (number, start) in starts.iter().enumerate() {
                let place = match search(start) {
                    Ok(found) if found.outcome.cost < target => {
                        evaluations.push(found.outcome.evaluations);
                        prices.push(gradients(&found.outcome));
                        continue;
                    }
                    Ok(found) => {
                        if arguments.show_lost {
                            let (values, reason) = (found.values(), found.outcome.reason);
                            println!("{scale_name} {method} {number}: {reason:?} from {start:.3?} to {values:.3?}");
                        }
                        place(&found, &optimum)
                    }
                    Err(error) if error.is_simulation_failure() || matches!(error, Error::Optimiser { .. }) => {
                        "no simulation at the start".to_string()
                    }
                    Err(error) => return Err(error),
                };
                match lost.iter_mut().find(|(known, _)| *known == place) {
                    Some((_, count)) => *count += 1,
                    None => lost.push((place, 1)),
                }
            }
            let usual = search(&usual_start)
                .ok()
                .filter(|found| found.outcome.cost < target)
                .map_or("-".to_string(), |found| found.outcome.evaluations.to_string());
            let share = 100.0 * evaluations.len() as f64 / starts.len() as f64;
            let most = evaluations.iter().max().map_or("-".to_string(), usize::to_string);
            let middle = median(evaluations).map_or("-".to_string(), |n| n.to_string());
            let price = median(prices).map_or("-".to_string(), |n| format!("{n:.0}"));
            println!("| {scale_name} | {method} | {share:.1} % | {middle} | {most} | {price} | {usual} |");
            lost.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            losses.push((format!("{scale_name}, {method}"), lost));
        }
    }
    println!("\nWhere the others ended:\n");
    for (name, lost) in losses.iter().filter(|(_, lost)| !lost.is_empty()) {
        println!("- {name}:");
        lost.iter().for_each(|(place, count)| println!("  - {count} times {place}"));
    }
    println!();
    Ok(())
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    arguments.models.iter().try_for_each(|name| compare(name, &arguments))
}
