//! Derivatives of a model, and the gradient of a problem.

use super::Arguments;
use crate::ExitStatus;
use crate::console::{print, print_document, tell, waiting};
use crate::settings;
use costate::modes::{Character, Mode, Modes};
use costate::sensitivity::Method;
use costate::shown::rounded;
use costate_check::{CheckOptions, JacobianReport, check_jacobians, check_products};
use costate_identify::Result;
use costate_identify::problem::Problem;
use costate_identify::registry::Registry;
use costate_identify::table::table;
use serde_json::{Value, json};

/// Agreement of adjoint and tangent that round-off explains, relative to the entry's size.
const EXACT: f64 = 1e-9;
/// What round-off explains of entries far below the others, relative to all of them: lengths of a chain's links cancel in its gradient to 1e-11 of the others.
const EXACT_OF_ALL: f64 = 1e-10;
/// A step in parts of a parameter's size, at which the cost gives a gradient of round-off its scale.
const AWAY: f64 = 1e-2;
/// Agreement of the adjoint with differences that nobody asks more of,
const COARSE: f64 = 1e-6;
/// and that within so many of their errors, of which there are estimates only.
const SAFE: f64 = 10.0;

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let specification = arguments.problem.specification()?;
    let problem = settings::build(&specification, registry)?;
    let entry = settings::entry(registry, &specification)?;
    // formulas of files are checked for units, which do not see signs
    if !entry.files.is_empty() {
        growth(&problem).into_iter().for_each(|sentence| tell(&format!("note: {sentence}")));
    }
    let options = CheckOptions::default();
    let by_products = waiting("products against dense Jacobians", 0);
    let hand =
        entry.hand_derived.as_ref().map(|hand| check_jacobians(&*entry.system, &**hand, &options)).transpose()?;
    let products = check_products(&*entry.system, &options)?;
    drop(by_products);
    let waiting = waiting("gradient in three ways", 0);
    let moved = beside_the_reference(&problem);
    let (gradient, is_moved) = match moved.and_then(|u| gradient(&problem, &u).ok()) {
        Some(compared) => (compared, true),
        None => (gradient(&problem, &problem.start)?, false),
    };
    let jumps = problem.told_of_jumps(&problem.start)?;
    drop(waiting);
    jumps.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let right = hand.iter().chain([&products]).all(JacobianReport::passed) && gradient.iter().all(|entry| entry.right);
    if arguments.output.json {
        let document = json!({
            "model": problem.name,
            "passed": right,
            "hand_derived": hand.as_ref().map(jacobians),
            "products": jacobians(&products),
            "gradient": gradient.iter().map(Compared::json).collect::<Vec<_>>(),
            "beside_start": is_moved,
            "jumps": jumps,
        });
        print_document(&format!("{document:#}"));
    } else {
        if let Some(equations) = entry.files.first().map(|file| costate_file::equations(file)).transpose()?.flatten() {
            print(&equations);
        }
        if let Some(report) = &hand {
            print(&format!("hand-derived Jacobians against dual numbers\n{report}\n"));
        }
        print(&format!("products that the engine uses against dense Jacobians, one direction at a time\n{products}\n"));
        let place = if is_moved { "1 % beside its start, which is what makes its reference" } else { "at its start" };
        print(&format!("gradient of the problem `{}` {place}", problem.name));
        let header = ["parameter", "adjoint", "|- tangent|", "|- difference|", "error of that, about", ""];
        print(&table(&header, &gradient.iter().map(Compared::row).collect::<Vec<_>>()));
        print(&summary(right, hand.is_some(), &options));
        let unsure: Vec<String> =
            gradient.iter().filter(|own| own.is_unsure()).map(|own| format!("`{}`", own.name)).collect();
        if !unsure.is_empty() {
            print(&format!(
                "by {}, differences tell nothing: their own errors are as large as the entry (?), which adjoint and tangents alone agree on",
                unsure.join(", ")
            ));
        }
    }
    Ok(if right { ExitStatus::Success } else { ExitStatus::Failure })
}

/// A word on small motions that grow by themselves, as they do where a force has the wrong sign.
fn growth(problem: &Problem) -> Option<String> {
    // where there is no equilibrium, nothing can be said of motions about it
    let modes = Modes::of(&problem.first().simulation, &problem.start).ok()?;
    let grows = |mode: &&Mode| matches!(mode.character(), Character::Flutter | Character::Divergence);
    let fastest = modes.modes.iter().filter(grows).max_by(|a, b| a.eigenvalue.re.total_cmp(&b.eigenvalue.re))?;
    let signature = problem.first().simulation.signature();
    let largest =
        (0..fastest.shape.len()).max_by(|j, k| fastest.shape[*j].norm().total_cmp(&fastest.shape[*k].norm()))?;
    let seconds = rounded(1.0 / fastest.eigenvalue.re, 3);
    Some(format!(
        "small motions about an equilibrium grow e-fold in {seconds} s, of `{}` most: is that meant? Otherwise a force or a mass has the wrong \
         sign (`costate modes` shows them)",
        signature.unknown_name(largest)
    ))
}

/// A comparison for programs.
fn jacobians(report: &JacobianReport) -> Value {
    let mismatches = report.mismatches.iter().map(|mismatch| {
        json!({
            "block": mismatch.block.to_string(),
            "row": mismatch.row,
            "column": mismatch.column,
            "checked": mismatch.checked,
            "exact": mismatch.exact,
            "relative_error": mismatch.relative_error,
            "time": mismatch.time,
        })
    });
    json!({
        "passed": report.passed(),
        "entries": report.entries,
        "points": report.points,
        "seed": report.seed,
        "tolerance": report.tolerance,
        "mismatches": mismatches.collect::<Vec<_>>(),
    })
}

/// The verdict, and what it rests on.
fn summary(right: bool, by_hand: bool, options: &CheckOptions) -> String {
    let CheckOptions { points, seed, tolerance, .. } = options;
    let hand = match by_hand {
        true => "hand-derived Jacobians were among them",
        false => "no hand-derived Jacobians were among them, because the model has none",
    };
    format!(
        "\n{}: derivatives at {points} random points from seed {seed}, relative tolerance {tolerance:e}; {hand}; the gradient, \
         adjoint against tangents to {EXACT:e}, or {EXACT_OF_ALL:e} of all entries, and against differences to {COARSE:e} or to {SAFE} times what is estimated of their errors (x2: twice that)",
        if right { "all agree" } else { "NOT all agree" }
    )
}

/// An entry of the gradient in three ways.
struct Compared {
    name: String,
    adjoint: f64,
    tangent: f64,
    difference: f64,
    /// Estimated error of the difference.
    error: f64,
    /// What is round-off.
    floor: f64,
    right: bool,
}

impl Compared {
    fn row(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            format!("{:.12e}", self.adjoint),
            format!("{:.1e}", (self.adjoint - self.tangent).abs()),
            format!("{:.1e}", (self.adjoint - self.difference).abs()),
            format!("{:.1e}", self.error),
            match (self.adjoint - self.difference).abs() / self.error {
                _ if !self.right => "OFF".to_string(),
                _ if self.is_unsure() => "?".to_string(),
                times if times > 1.0 && self.is_estimate_needed() => format!("ok (x{})", times.ceil()),
                _ => "ok".to_string(),
            },
        ]
    }

    /// True if it agrees only because the error of differences is an estimate.
    fn is_estimate_needed(&self) -> bool {
        (self.adjoint - self.difference).abs() > COARSE * self.adjoint.abs()
    }

    /// True if it agrees because the error of differences is as large as the entry.
    fn is_unsure(&self) -> bool {
        let off = (self.adjoint - self.difference).abs();
        self.right && off > self.floor && self.is_estimate_needed() && 2.0 * self.error > self.adjoint.abs()
    }

    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "adjoint": self.adjoint,
            "tangent": self.tangent,
            "difference": self.difference,
            "difference_error": self.error,
            "passed": self.right,
            "is_told_by_differences": !self.is_unsure(),
        })
    }
}

/// A point beside the start where that makes the very reference: all residuals are zero there, and all entries with them. None otherwise.
fn beside_the_reference(problem: &Problem) -> Option<Vec<f64>> {
    if problem.optimum.as_ref()? != &problem.start {
        return None;
    }
    let mut u = problem.start.clone();
    for k in problem.free() {
        let (parameter, step) = (&problem.parameters[k], AWAY * problem.size(k));
        u[k] = if u[k] + step <= parameter.upper { u[k] + step } else { (u[k] - step).max(parameter.lower) };
    }
    Some(u)
}

/// Adjoint against tangents and differences at a point, by all parameters that the start follows.
fn gradient(problem: &Problem, u: &[f64]) -> Result<Vec<Compared>> {
    let mut gradient = problem.gradient()?;
    let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    gradient.cost_and_gradient(u, Method::Adjoint, &mut adjoint)?;
    gradient.cost_and_gradient(u, Method::Tangent, &mut tangent)?;
    let differences = gradient.differences(u)?;
    let shown = settings::differentiated(problem, gradient.left_out());
    // entries are compared by what they change in the cost when a parameter changes by its size
    let sizes: Vec<f64> = (0..u.len()).map(|k| problem.size(k)).collect();
    let norm = adjoint.iter().zip(&sizes).map(|(g, s)| (g * s) * (g * s)).sum::<f64>().sqrt();
    // where residuals are round-off, so is the gradient: what the cost is a hundredth of a size away says how large it might be
    let cost = gradient.cost(u)?;
    let mut nearby = u.to_vec();
    let mut away = vec![0.0; u.len()];
    for &k in &shown {
        nearby[k] = u[k] + AWAY * sizes[k];
        // what cannot be run there has no scale there
        away[k] = gradient.cost(&nearby).map_or(0.0, |near| (near - cost).abs() / AWAY);
        nearby[k] = u[k];
    }
    let compared = |k: usize| {
        let (value, error) = (differences[k].value, differences[k].error);
        let exact = (adjoint[k] - tangent[k]).abs();
        let coarse = (adjoint[k] - value).abs();
        let floor = EXACT * adjoint[k].abs() + (EXACT_OF_ALL * norm + EXACT * away[k]) / sizes[k];
        let right = exact <= floor && coarse <= SAFE * error + COARSE * adjoint[k].abs() + floor;
        let name = problem.parameters[k].name.clone();
        Compared { name, adjoint: adjoint[k], tangent: tangent[k], difference: value, error, floor, right }
    };
    Ok(shown.into_iter().map(compared).collect())
}
