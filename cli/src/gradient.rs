//! `costate gradient`

use super::ExitStatus;
use super::console::{print, print_document, tell, waiting};
use super::remedy;
use super::settings::{self, ProblemArguments};
use super::step_error::{self, AtHalf};
use costate::scheme;
use costate::sensitivity::Method;
use costate::shown::number;
use costate::shown::shown;
use costate_identify::ensemble::Ensemble;
use costate_identify::problem::Problem;
use costate_identify::registry::Registry;
use costate_identify::specification::Specification;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use costate_report::{problem_errors, rmse};
use serde_json::{Value, json};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Point: `start`, `nominal`, or name=value,.. (the others at their start)
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

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
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
    let mut gap = None;
    if methods.len() > 1 {
        let mut slope = vec![0.0; p];
        match gradient.continuous_adjoint(&u, CONTINUOUS.1, &mut slope) {
            Ok(_) => {
                let is_quick = began.elapsed().as_secs_f64() < LONGEST;
                let at_half = || Gap::at_half(&problem, &specification, registry, &u, &listed);
                let at_step = Gap::of(&problem, [&slope, &results[0]], &listed);
                gap = Some(Gap { at_step, at_half: is_quick.then(at_half).flatten() });
                names.push(CONTINUOUS.0);
                results.push(slope);
            }
            Err(error) => tell(&format!("note: {}; it has no column here", remedy::sentence(&error))),
        }
    }
    drop(waiting);
    let are_numbers = warn_of_no_numbers(&problem, &listed, |k| results.iter().all(|slope| slope[k].is_finite()));
    compare(&problem, &methods, &results, &listed);
    problem.told_of_jumps(&u)?.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    step_error::warn_of(&problem, &u, &remedy::in_words(&specification.finer_steps()), began);
    let at_half = AtHalf::of(&problem, &u, (cost, &results[0]), began);
    at_half.iter().for_each(|at_half| at_half.warn(&remedy::in_words(&specification.finer_steps())));
    let times = arguments.repeat.map(|n| measure(&mut gradient, &u, methods[0], n)).transpose()?;
    if arguments.json {
        let mut result = json(&problem, arguments, &names, &results, &listed, (cost, times));
        result["rmse"] = rmse(&problem, &u);
        result["continuous_gap"] = gap.map_or(Value::Null, |gap| gap.json());
        result["half_step"] = at_half.map_or(Value::Null, |at_half| at_half.json());
        print_document(&result.to_string());
    } else {
        print(&text(&problem, &u, &names, &results, &listed, (cost, times)));
        gap.iter().for_each(|gap| print(&format!("\n{}", gap.text())));
        at_half.iter().for_each(|at_half| print(&format!("\n{}", at_half.text())));
        if let (None, Some(_)) = (&problem.optimum, problem.least_squares()) {
            let errors = problem_errors(&problem, &u)?;
            errors.iter().for_each(|error| print(&error.to_string()));
        }
    }
    Ok(if are_numbers { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Names the parameters whose derivatives are no numbers, as `is_number` says; true if there are none.
pub(super) fn warn_of_no_numbers(problem: &Problem, listed: &[usize], is_number: impl Fn(usize) -> bool) -> bool {
    let wrong: Vec<String> =
        (listed.iter().filter(|k| !is_number(**k))).map(|&k| format!("`{}`", problem.parameters[k].name)).collect();
    if !wrong.is_empty() {
        tell(&format!(
            "warning: derivatives by {} are no numbers: a function has no slope where the motion passes (a root or a power at 0, 0/0); keep away from \
             there with sqrt(x^2 + w^2) in the place of sqrt(x^2), or begin beside it",
            wrong.join(", ")
        ));
    }
    wrong.is_empty()
}

/// A comparison that has taken longer so far, in s, is not repeated with twice as many steps.
const LONGEST: f64 = 5.0;

/// By how much the continuous adjoint is off the discrete one, beside its largest entry; entries times the sizes of their parameters.
struct Gap {
    at_step: f64,
    /// At half the step, where that is known.
    at_half: Option<f64>,
}

impl Gap {
    fn of(problem: &Problem, [continuous, discrete]: [&[f64]; 2], listed: &[usize]) -> f64 {
        let largest = |value: &dyn Fn(usize) -> f64| {
            listed.iter().map(|&k| (value(k) * problem.size(k)).abs()).fold(0.0, f64::max)
        };
        let (apart, size) = (largest(&|k| continuous[k] - discrete[k]), largest(&|k| discrete[k]));
        if apart == 0.0 { 0.0 } else { apart / size }
    }

    /// The gap at half the step, of a problem whose reference is a run of its own: it has a sample at every time there, too.
    fn at_half(
        problem: &Problem,
        specification: &Specification,
        registry: &Registry,
        u: &[f64],
        listed: &[usize],
    ) -> Option<f64> {
        let is_recorded = specification.data.is_some() || !specification.experiments.is_empty();
        if is_recorded || specification.tolerance.is_some() {
            return None;
        }
        let step = problem.first().simulation.even_step()?;
        // that a run may fail, is said elsewhere
        let finer = Specification { step: Some(0.5 * step), substeps: None, ..specification.clone() };
        let (finer, _) = finer.build_with_notes(registry).ok()?;
        let mut gradient = finer.gradient().ok()?;
        let [mut discrete, mut continuous] = [(); 2].map(|()| vec![0.0; u.len()]);
        gradient.cost_and_gradient(u, Method::Adjoint, &mut discrete).ok()?;
        gradient.continuous_adjoint(u, CONTINUOUS.1, &mut continuous).ok()?;
        Some(Gap::of(&finer, [&continuous, &discrete], listed))
    }

    fn text(&self) -> String {
        let what = format!(
            "{} approximates the gradient of the same cost: off by {:.1e} of its largest entry",
            CONTINUOUS.0, self.at_step
        );
        let half = self.at_half.filter(|half| *half > 0.0 && self.at_step > 0.0);
        half.map_or(format!("{what}, which falls with the step"), |half| {
            format!(
                "{what}, by {half:.1e} at half the step ({:.1} times less; second order: 4 times)",
                self.at_step / half
            )
        })
    }

    fn json(&self) -> Value {
        json!({"largest_difference": self.at_step, "at_half_step": self.at_half})
    }
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
        "scheme_settings": costate_report::scheme_settings(simulation.scheme()),
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
