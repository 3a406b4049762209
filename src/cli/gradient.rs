//! `costate gradient`

use super::Verdict;
use super::console::{print, print_document, tell, waiting};
use super::settings::{self, ProblemArguments};
use super::step_error::{self, AtHalf};
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::registry::Registry;
use crate::report::{number, problem_errors, rmse, table};
use crate::scheme;
use crate::sensitivity::Method;
use crate::shown::shown;
use serde_json::{Value, json};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Where: `start`, `nominal`, or name=value,.. (the others at their start)
    #[arg(long, default_value = "start", value_name = "POINT", allow_hyphen_values = true)]
    at: String,
    /// `adjoint`, `tangent`, `difference` or `all`
    #[arg(long, default_value = "adjoint", value_name = "NAME")]
    method: String,
    /// Measure times: medians of so many runs
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    repeat: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const ALL: [Method; 3] = [Method::Adjoint, Method::Tangent, Method::Difference];
/// The column of the continuous adjoint, and the order of its formula.
const CONTINUOUS: (&str, usize) = ("continuous (BDF2)", 2);

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<Verdict> {
    let specification = arguments.problem.specification()?;
    let methods: Vec<Method> = match arguments.method.as_str() {
        "all" => ALL.to_vec(),
        name => {
            let found = ALL.into_iter().find(|method| method.name() == name);
            let known = ["adjoint", "tangent", "difference", "all"];
            vec![found.ok_or_else(|| Error::unknown("method", name, "`gradient`", known))?]
        }
    };
    if arguments.repeat == Some(0) {
        return Err(Error::invalid("--repeat", "0 runs have no median", "measure 1 run or more"));
    }
    let problem = settings::build(&specification, registry)?;
    let u = settings::point(&problem, &arguments.at)?;
    let mut gradient = problem.gradient()?;
    let (p, began) = (u.len(), Instant::now());
    let mut results = Vec::new();
    let mut cost = 0.0;
    let waiting = waiting("gradient", 0);
    for &method in &methods {
        waiting.now(&format!("gradient by {}", method.name()));
        let mut slope = vec![0.0; p];
        cost = gradient.cost_and_gradient(&u, method, &mut slope)?;
        results.push(slope);
    }
    let listed = settings::differentiated(&problem, gradient.left_out());
    let mut names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
    if methods.len() > 1 {
        let mut slope = vec![0.0; p];
        match gradient.continuous_adjoint(&u, CONTINUOUS.1, &mut slope) {
            Ok(_) => {
                names.push(CONTINUOUS.0);
                results.push(slope);
            }
            Err(error) => tell(&format!("note: {error}; it has no column here")),
        }
    }
    drop(waiting);
    compare(&problem, &methods, &results, &listed);
    step_error::warn_of(&problem, &u, specification.finer_steps(), began);
    let at_half = AtHalf::of(&problem, &u, (cost, &results[0]), began);
    at_half.iter().for_each(|at_half| at_half.warn(specification.finer_steps()));
    let times = arguments.repeat.map(|n| measure(&mut gradient, &u, methods[0], n)).transpose()?;
    if arguments.json {
        let mut result = json(&problem, arguments, &names, &results, &listed, (cost, times));
        result["rmse"] = rmse(&problem, &u);
        result["half_step"] = at_half.map_or(Value::Null, |at_half| at_half.json());
        print_document(&result.to_string());
    } else {
        print(&text(&problem, &u, &names, &results, &listed, (cost, times)));
        at_half.iter().for_each(|at_half| print(&format!("\n{}", at_half.text())));
        if let (None, Some(_)) = (&problem.optimum, problem.least_squares()) {
            let errors = problem_errors(&problem, &u)?;
            errors.iter().for_each(|error| print(&error.to_string()));
        }
    }
    Ok(Verdict::Good)
}

/// Differences of adjoint and tangents, relative to the largest entry, that are more than round-off.
const DISAGREEMENT: f64 = 1e-7;

/// Adjoint and tangents are derivatives of one and the same run: where they differ, neither is to be trusted, and that is said.
fn compare(problem: &Problem, methods: &[Method], results: &[Vec<f64>], listed: &[usize]) {
    let of = |wanted| methods.iter().position(|method| *method == wanted).map(|at| &results[at]);
    let (Some(adjoint), Some(tangent)) = (of(Method::Adjoint), of(Method::Tangent)) else { return };
    let largest =
        |value: &dyn Fn(usize) -> f64| listed.iter().map(|&k| (value(k) * problem.size(k)).abs()).fold(0.0, f64::max);
    let difference = largest(&|k| adjoint[k] - tangent[k]) / largest(&|k| adjoint[k]);
    if difference > DISAGREEMENT {
        tell(&format!(
            "warning: adjoint and tangents differ by {difference:.0e} of the largest entry, where round-off alone should be between \
             them: this motion makes errors grow; take another scheme (i2p, generalized-alpha) or a smaller step"
        ));
    }
}

/// Median seconds of the cost alone, and of cost with gradient.
fn measure(gradient: &mut Ensemble<'_>, u: &[f64], method: Method, repeat: usize) -> Result<(f64, f64)> {
    let mut slope = vec![0.0; u.len()];
    let mut alone = Vec::new();
    let mut both = Vec::new();
    let waiting = waiting("runs", repeat);
    for done in 0..repeat {
        waiting.done(done);
        let began = Instant::now();
        gradient.cost(u)?;
        alone.push(began.elapsed().as_secs_f64());
        let began = Instant::now();
        gradient.cost_and_gradient(u, method, &mut slope)?;
        both.push(began.elapsed().as_secs_f64());
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    Ok((median(alone), median(both)))
}

fn json(
    problem: &Problem,
    arguments: &Arguments,
    names: &[&str],
    results: &[Vec<f64>],
    listed: &[usize],
    (cost, times): (f64, Option<(f64, f64)>),
) -> Value {
    let simulation = &problem.first().simulation;
    let entries = |slope: &[f64]| {
        let parameters = listed.iter().map(|&k| (&problem.parameters[k], slope[k]));
        parameters.map(|(p, value)| json!({"name": p.name, "unit": p.unit, "value": value})).collect::<Vec<_>>()
    };
    let mut result = json!({
        "model": problem.name,
        "step": simulation.even_step(),
        "scheme": simulation.scheme().name(),
        "scheme_settings": scheme::settings_of(simulation.scheme()),
        "steps": problem.steps(),
        "method": arguments.method,
        "cost": cost,
        "gradient": entries(&results[0]),
        "seconds_cost": times.map(|t| t.0),
        "seconds_cost_and_gradient": times.map(|t| t.1),
    });
    if names.len() > 1 {
        let all = names.iter().zip(results);
        result["methods"] = all.map(|(method, slope)| json!({"method": method, "gradient": entries(slope)})).collect();
    }
    result
}

fn text(
    problem: &Problem,
    u: &[f64],
    names: &[&str],
    results: &[Vec<f64>],
    listed: &[usize],
    (cost, times): (f64, Option<(f64, f64)>),
) -> String {
    let simulation = &problem.first().simulation;
    let mut lines = vec![format!(
        "{}: {} steps{}, {}",
        problem.name,
        problem.steps(),
        simulation.even_step().map_or(String::new(), |h| format!(" of {} s", shown(h))),
        scheme::in_words(simulation.scheme())
    )];
    lines.push(format!("cost {cost:.16e}\n"));
    let mut header = vec!["parameter", "at", "unit"];
    header.extend(names);
    let beside: Vec<String> = names[1..].iter().map(|name| format!("{name}/adjoint - 1")).collect();
    header.extend(beside.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|&k| {
            let p = &problem.parameters[k];
            let mut row = vec![p.name.clone(), number(u[k]), p.unit.clone()];
            row.extend(results.iter().map(|slope| format!("{:.15e}", slope[k])));
            if names.len() > 1 {
                let relative = |slope: &[f64]| {
                    let difference = slope[k] - results[0][k];
                    if difference == 0.0 { 0.0 } else { difference / results[0][k] }
                };
                row.extend(results[1..].iter().map(|slope| format!("{:.1e}", relative(slope))));
            }
            row
        })
        .collect();
    lines.push(table(&header, &rows));
    if let Some((alone, both)) = times {
        let per_step = 1e9 / simulation.steps() as f64;
        lines.push(format!(
            "\ncost {:.4} ms ({:.1} ns a step), cost and gradient {:.4} ms ({:.1} ns a step), ratio {:.2}",
            alone * 1e3,
            alone * per_step,
            both * 1e3,
            both * per_step,
            both / alone
        ));
    }
    lines.join("\n")
}
