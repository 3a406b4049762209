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
    print(&summary(right, entry.hand_derived.is_some(), &options));
    Ok(if right { Verdict::Good } else { Verdict::Bad })
}

/// The verdict, and what it rests on.
fn summary(right: bool, by_hand: bool, options: &CheckOptions) -> String {
    let CheckOptions { points, seed, tolerance, .. } = options;
    let hand = match by_hand {
        true => "hand-derived Jacobians were among them",
        false => "no hand-derived Jacobians were among them, because the model has none",
    };
    format!(
        "\n{}: derivatives at {points} random points from seed {seed}, relative tolerance {tolerance:e}; {hand}; the gradient at the \
         start, adjoint against tangents to {EXACT:e} and against differences within their errors",
        if right { "all agree" } else { "NOT all agree" }
    )
}

/// Adjoint against tangents and differences at the start, by all parameters that the start follows.
fn check_gradient(problem: &crate::problem::Problem) -> Result<bool> {
    let mut gradient = problem.gradient()?;
    let u = &problem.start;
    let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    gradient.cost_and_gradient(u, Method::Adjoint, &mut adjoint)?;
    gradient.cost_and_gradient(u, Method::Tangent, &mut tangent)?;
    let differences = gradient.differences(u)?;
    let shown = settings::differentiated(problem, gradient.left_out());
    // entries are compared by what they change in the cost when a parameter changes by its size
    let sizes: Vec<f64> = (0..u.len()).map(|k| problem.size(k)).collect();
    let norm = adjoint.iter().zip(&sizes).map(|(g, s)| (g * s) * (g * s)).sum::<f64>().sqrt();
    let mut all_right = true;
    let rows: Vec<Vec<String>> = shown
        .into_iter()
        .map(|k| {
            let p = &problem.parameters[k];
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
