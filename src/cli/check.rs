//! `costate check`

use super::Verdict;
use super::console::print;
use super::settings::{self, ProblemArguments};
use crate::check::{CheckOptions, check_jacobians, check_products};
use crate::error::Result;
use crate::registry::Registry;
use crate::report::table;
use crate::sensitivity::Method;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
}

/// Agreement of adjoint and tangent that round-off explains, relative to the entry's size.
const EXACT: f64 = 1e-9;

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<Verdict> {
    let specification = arguments.problem.specification()?;
    let problem = settings::build(&specification, registry)?;
    let entry = settings::entry(registry, &specification)?;
    let options = CheckOptions::default();
    let mut right = true;
    if let Some(hand) = &entry.hand_derived {
        let report = check_jacobians(&*entry.system, &**hand, &options)?;
        print(&format!("hand-derived Jacobians against dual numbers\n{report}\n"));
        right &= report.passed();
    }
    let report = check_products(&*entry.system, &options)?;
    print(&format!("products that the engine uses against dense Jacobians, one direction at a time\n{report}\n"));
    right &= report.passed();
    right &= check_gradient(&problem)?;
    print(if right { "\nall agree" } else { "\nNOT all agree" });
    Ok(if right { Verdict::Good } else { Verdict::Bad })
}

/// Adjoint against tangents and differences at the start.
fn check_gradient(problem: &crate::problem::Problem) -> Result<bool> {
    let mut gradient = problem.gradient()?;
    let u = &problem.start;
    let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    gradient.cost_and_gradient(u, Method::Adjoint, &mut adjoint)?;
    gradient.cost_and_gradient(u, Method::Tangent, &mut tangent)?;
    let differences = gradient.differences(u)?;
    // entries are compared by what they change in the cost when a parameter changes by its size
    let sizes: Vec<f64> = problem
        .parameters
        .iter()
        .zip(u)
        .map(|(p, u)| p.size.into_iter().chain([u.abs(), p.nominal.abs()]).find(|s| *s > 0.0).unwrap_or(1.0))
        .collect();
    let norm = adjoint.iter().zip(&sizes).map(|(g, s)| (g * s) * (g * s)).sum::<f64>().sqrt();
    let mut all_right = true;
    let rows: Vec<Vec<String>> = problem
        .parameters
        .iter()
        .enumerate()
        .map(|(k, p)| {
            let exact = (adjoint[k] - tangent[k]).abs();
            let coarse = (adjoint[k] - differences[k].value).abs();
            let floor = EXACT * (adjoint[k].abs() + 1e-6 * norm / sizes[k]);
            let right = exact <= floor && coarse <= 10.0 * differences[k].error + 1e-6 * adjoint[k].abs() + floor;
            all_right &= right;
            vec![
                p.name.clone(),
                format!("{:.12e}", adjoint[k]),
                format!("{exact:.1e}"),
                format!("{coarse:.1e}"),
                format!("{:.1e}", differences[k].error),
                if right { "ok" } else { "OFF" }.to_string(),
            ]
        })
        .collect();
    print(&format!("gradient of the problem `{}` at its start", problem.name));
    let header = ["parameter", "adjoint", "|- tangent|", "|- difference|", "its error", ""];
    print(&table(&header, &rows));
    Ok(all_right)
}
