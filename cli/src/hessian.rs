//! `costate hessian`

use super::ExitStatus;
use super::console::{print, print_document, tell, waiting};
use super::gradient::warn_of_no_numbers;
use super::remedy;
use super::settings::{self, ProblemArguments};
use super::step_error;
use costate::jumps::Jump;
use costate::sensitivity::Method;
use costate::shown::rounded;
use costate_identify::ensemble::Ensemble;
use costate_identify::problem::Problem;
use costate_identify::registry::Registry;
use costate_identify::statistics::Curvature;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use serde_json::json;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Point: `start`, `nominal`, or name=value,.. (the others at their start)
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

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let specification = arguments.problem.specification()?;
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
    let (mut results, mut left_out, began) = (Vec::new(), Vec::new(), Instant::now());
    let waiting = waiting("Hessians", chosen.len());
    for (done, method) in chosen.into_iter().enumerate() {
        waiting.done(done);
        let began = Instant::now();
        let mut engine = problem.gradient()?;
        let (gradient, hessian) = compute(&problem, &mut engine, &u, method)?;
        left_out = engine.left_out().to_vec();
        results.push(Computed { method, gradient, hessian, seconds: began.elapsed().as_secs_f64() });
    }
    drop(waiting);
    let shown = settings::differentiated(&problem, &left_out);
    let is_number = |k: usize| results.iter().all(|own| own.hessian[k][k].is_finite());
    let are_numbers = warn_of_no_numbers(&problem, &shown, is_number);
    if let Some(first) = results.first() {
        warn_of_kinks(&problem, &u, &first.hessian, began)?;
    }
    problem.told_of_jumps(&u)?.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    step_error::warn_of(&problem, &u, &remedy::in_words(&specification.finer_steps()), began);
    let Some(first) = results.first() else { return Ok(ExitStatus::Success) }; // there is a method
    // without free parameters there is a matrix all the same
    let curvature = match problem.free().is_empty() {
        true => None,
        false => Some(Curvature::of(&problem, &u, &first.gradient, &first.hessian)?),
    };
    if arguments.json {
        let names: Vec<&str> = shown.iter().map(|&k| problem.parameters[k].name.as_str()).collect();
        let methods = results.iter().map(|Computed { method, hessian, seconds, .. }| {
            json!({"method": method, "hessian": part(hessian, &shown), "seconds": seconds})
        });
        let result = json!({
            "model": problem.name,
            "scheme": problem.first().simulation.scheme().name(),
            "scheme_settings": costate_report::scheme_settings(problem.first().simulation.scheme()),
            "parameters": names,
            "gradient": shown.iter().map(|&k| first.gradient[k]).collect::<Vec<_>>(),
            "hessian": part(&first.hessian, &shown),
            "curvature": curvature.map(|curvature| curvature.json()),
            "methods": methods.collect::<Vec<_>>(),
        });
        print_document(&result.to_string());
    } else {
        print(&text(&problem, &results, &shown));
        curvature.iter().for_each(|curvature| print(&format!("\n{}", curvature.report())));
    }
    Ok(if are_numbers { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Warns where the gradient changes otherwise over some change of all parameters than the Hessian says. Where forces or costs have kinks that the
/// motion passes, their moments move, which is in no second derivative of time steps.
///
/// # Errors
/// An evaluator that cannot be made.
fn warn_of_kinks(problem: &Problem, u: &[f64], hessian: &[Vec<f64>], began: Instant) -> Result<()> {
    /// Seconds after which nothing is compared.
    const LONGEST: f64 = 5.0;
    /// Changes of all parameters, beside their sizes: the motion passes kinks in other steps.
    const CHANGES: [f64; 4] = [1e-2, 1.7e-2, 2.9e-2, 4.8e-2];
    /// A difference beside the largest entry, and beside the spread of what these changes say, that is more than nonlinearity.
    const TOO_LARGE: f64 = 0.1;
    const BEYOND_SPREAD: f64 = 2.0;
    let free = problem.free();
    if free.is_empty() || began.elapsed().as_secs_f64() > LONGEST {
        return Ok(());
    }
    let mut direction = vec![0.0; u.len()];
    free.iter().zip([1.0, -1.0].into_iter().cycle()).for_each(|(&k, sign)| direction[k] = sign * problem.size(k));
    let mut engine = problem.gradient()?;
    let mut at = |change: f64| -> Option<Vec<f64>> {
        let moved: Vec<f64> = u.iter().zip(&direction).map(|(u, d)| u + change * d).collect();
        let mut gradient = vec![0.0; u.len()];
        // beside the point, a run may fail, or make no sense
        engine.cost_and_gradient(&moved, Method::Adjoint, &mut gradient).ok()?;
        Some(gradient)
    };
    let quotient = |change: f64| -> Option<Vec<f64>> {
        let [after, before] = [at(change)?, at(-change)?];
        Some(free.iter().map(|&k| problem.size(k) * (after[k] - before[k]) / (2.0 * change)).collect())
    };
    let Some(seen) = CHANGES.into_iter().map(quotient).collect::<Option<Vec<_>>>() else { return Ok(()) };
    let product = |k: &usize| problem.size(*k) * free.iter().map(|&j| hessian[*k][j] * direction[j]).sum::<f64>();
    let (mut off, mut spread, mut size) = (0.0f64, 0.0f64, 0.0f64);
    for (i, own) in free.iter().map(product).enumerate() {
        let of_changes = || seen.iter().map(|quotient| quotient[i]);
        let count = seen.len() as f64;
        let mean = of_changes().sum::<f64>() / count;
        let variance = of_changes().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count;
        (off, spread) = (off.max((mean - own).abs()), spread.max(variance.sqrt()));
        size = size.max(mean.abs()).max(own.abs());
    }
    // what turns around within such changes does so without kinks, too
    if off > TOO_LARGE * size
        && off > BEYOND_SPREAD * spread
        && let Ok(Some(Jump { what, time, .. })) = problem.kink_passed(u)
    {
        tell(&format!(
            "warning: where all parameters change by 1 to 5 %, the gradient changes otherwise than the Hessian says, by {} % of it: the motion passes kinks, \
             first of {what} at t = {} s (abs, max, contact), and no second derivative knows that their moments move; make them smooth over several time \
             steps, sqrt(x^2 + w^2) in the place of abs(x)",
            rounded(100.0 * off / size, 2),
            rounded(time, 6)
        ));
    }
    Ok(())
}

/// Hessian, gradient and time of one method.
struct Computed<'m> {
    method: &'m str,
    gradient: Vec<f64>,
    hessian: Vec<Vec<f64>>,
    seconds: f64,
}

/// Rows and columns of these parameters.
fn part(hessian: &[Vec<f64>], shown: &[usize]) -> Vec<Vec<f64>> {
    shown.iter().map(|&j| shown.iter().map(|&k| hessian[j][k]).collect()).collect()
}

/// The error of all directions at once, with the method that needs less memory.
fn one_by_one(error: Error) -> Error {
    match error {
        Error::Engine(costate::Error::Memory { what, needed, available, remedy }) => {
            let remedy = format!("{remedy}; --method hvp takes them one by one");
            Error::Engine(costate::Error::Memory { what, needed, available, remedy })
        }
        other => other,
    }
}

/// Gradient and Hessian.
fn compute(problem: &Problem, engine: &mut Ensemble<'_>, u: &[f64], method: &str) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let p = u.len();
    let (mut gradient, mut hessian) = (vec![0.0; p], vec![vec![0.0; p]; p]);
    match method {
        "hybrid" => {
            engine.hessian(u, &mut gradient, &mut hessian).map_err(one_by_one)?;
        }
        "hvp" => {
            for (k, row) in hessian.iter_mut().enumerate() {
                let unit: Vec<f64> = (0..p).map(|j| if j == k { 1.0 } else { 0.0 }).collect();
                engine.hessian_vector(u, &unit, &mut gradient, row)?;
            }
        }
        _ => {
            engine.cost_and_gradient(u, Method::Adjoint, &mut gradient)?;
            let left_out = engine.left_out().to_vec();
            for (k, row) in hessian.iter_mut().enumerate().filter(|(k, _)| !left_out.contains(k)) {
                let step = 1e-4 * problem.size(k);
                let mut at = |shift: f64| -> Result<Vec<f64>> {
                    let (mut moved, mut slope) = (u.to_vec(), vec![0.0; p]);
                    moved[k] += shift;
                    engine.cost_and_gradient(&moved, Method::Adjoint, &mut slope)?;
                    Ok(slope)
                };
                let (up, down) = (at(step)?, at(-step)?);
                *row = up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * step)).collect();
            }
            engine.cost_and_gradient(u, Method::Adjoint, &mut gradient)?;
        }
    }
    Ok((gradient, hessian))
}

fn text(problem: &Problem, results: &[Computed<'_>], shown: &[usize]) -> String {
    let names: Vec<&str> = shown.iter().map(|&k| problem.parameters[k].name.as_str()).collect();
    let (p, exact) = (names.len(), part(&results[0].hessian, shown));
    let scaled = |j: usize, k: usize, value: f64| (value * problem.size(shown[j]) * problem.size(shown[k])).abs();
    let mut lines = Vec::new();
    for Computed { method, hessian, seconds, .. } in results {
        let hessian = part(hessian, shown);
        lines.push(format!("Hessian of the cost of `{}` by {method}, {:.3} ms", problem.name, 1e3 * seconds));
        let mut header = vec![""];
        header.extend(&names);
        let rows: Vec<Vec<String>> = names
            .iter()
            .zip(&hessian)
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
            results[0].method
        ));
    }
    lines.join("\n").trim_end().to_string()
}
