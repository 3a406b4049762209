//! `costate hessian`

use super::settings::{self, IntegratorArguments};
use super::{Verdict, print};
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::registry::Registry;
use crate::report::table;
use crate::sensitivity::Method;
use serde_json::json;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The model's name, or a problem file (.toml)
    model: String,
    #[command(flatten)]
    integrator: IntegratorArguments,
    /// Where: `start`, `nominal`, or name=value,.. (the others at their start)
    #[arg(long, default_value = "start", value_name = "POINT", allow_hyphen_values = true)]
    at: String,
    /// `hybrid` (all directions in one sweep), `hvp` (a product a parameter), `difference` (of the gradient), or `all`
    #[arg(long, default_value = "hybrid", value_name = "NAME")]
    method: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const METHODS: [&str; 3] = ["hybrid", "hvp", "difference"];

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<Verdict> {
    let mut specification = settings::specification(&arguments.model)?;
    arguments.integrator.apply(&mut specification)?;
    let chosen: Vec<&str> = match arguments.method.as_str() {
        "all" => METHODS.to_vec(),
        name => {
            let known = METHODS.into_iter().chain(["all"]);
            let found = METHODS.into_iter().find(|method| *method == name);
            vec![found.ok_or_else(|| Error::unknown("method", name, "`hessian`", known))?]
        }
    };
    let problem = settings::build(&specification, registry)?;
    let u = settings::point(&problem, &arguments.at)?;
    let mut results = Vec::new();
    for method in chosen {
        let began = Instant::now();
        results.push((method, compute(&problem, &u, method)?, began.elapsed().as_secs_f64()));
    }
    if arguments.json {
        let names: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
        let methods = results
            .iter()
            .map(|(method, hessian, seconds)| json!({"method": method, "hessian": hessian, "seconds": seconds}));
        let all = methods.collect::<Vec<_>>();
        print(
            &json!({"model": problem.name, "parameters": names, "hessian": results[0].1, "methods": all}).to_string(),
        );
    } else {
        print(&text(&problem, &results));
    }
    Ok(Verdict::Good)
}

fn compute(problem: &Problem, u: &[f64], method: &str) -> Result<Vec<Vec<f64>>> {
    let p = u.len();
    let mut engine = problem.gradient()?;
    let (mut gradient, mut hessian) = (vec![0.0; p], vec![vec![0.0; p]; p]);
    match method {
        "hybrid" => {
            engine.hessian(u, &mut gradient, &mut hessian)?;
        }
        "hvp" => {
            for (k, row) in hessian.iter_mut().enumerate() {
                let unit: Vec<f64> = (0..p).map(|j| if j == k { 1.0 } else { 0.0 }).collect();
                engine.hessian_vector(u, &unit, &mut gradient, row)?;
            }
        }
        _ => {
            for (k, row) in hessian.iter_mut().enumerate() {
                let step = 1e-4 * problem.size(k);
                let mut at = |shift: f64| -> Result<Vec<f64>> {
                    let mut moved = u.to_vec();
                    moved[k] += shift;
                    engine.cost_and_gradient(&moved, Method::Adjoint, &mut gradient)?;
                    Ok(gradient.clone())
                };
                let (up, down) = (at(step)?, at(-step)?);
                *row = up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * step)).collect();
            }
        }
    }
    Ok(hessian)
}

fn text(problem: &Problem, results: &[(&str, Vec<Vec<f64>>, f64)]) -> String {
    let names: Vec<&str> = problem.parameters.iter().map(|p| p.name.as_str()).collect();
    let (p, exact) = (names.len(), &results[0].1);
    let scaled = |j: usize, k: usize, value: f64| (value * problem.size(j) * problem.size(k)).abs();
    let mut lines = Vec::new();
    for (method, hessian, seconds) in results {
        lines.push(format!("Hessian of the cost of `{}` by {method}, {:.3} ms", problem.name, 1e3 * seconds));
        let mut header = vec![""];
        header.extend(&names);
        let rows: Vec<Vec<String>> = names
            .iter()
            .zip(hessian)
            .map(|(name, row)| {
                let mut cells = vec![name.to_string()];
                cells.extend(row.iter().map(|value| format!("{value:.9e}")));
                cells
            })
            .collect();
        lines.push(table(&header, &rows));
        let pairs = || (0..p).flat_map(|j| (0..p).map(move |k| (j, k)));
        let largest = pairs().map(|(j, k)| scaled(j, k, exact[j][k])).fold(f64::MIN_POSITIVE, f64::max);
        let worst = |other: &dyn Fn(usize, usize) -> f64| {
            pairs().map(|(j, k)| scaled(j, k, hessian[j][k] - other(j, k))).fold(0.0, f64::max) / largest
        };
        let asymmetry = worst(&|j, k| hessian[k][j]);
        let difference = worst(&|j, k| exact[j][k]);
        lines.push(format!(
            "asymmetry {asymmetry:.1e}, difference to {} {difference:.1e} (entries scaled by the parameters' sizes, relative \
             to the largest)\n",
            results[0].0
        ));
    }
    lines.join("\n").trim_end().to_string()
}
