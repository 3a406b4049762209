//! What a person and a program read after a run of [`costate`] or an identification by [`costate_identify`]: tables, JSON, CSV files, figures,
//! drawings and animations of mechanisms ([`plot::mechanism`]), and pages ([`html`]).
//!
//! It knows what is computed, and computes nothing but what is drawn and written; it knows no commands and no terminal.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod bands;
mod bootstrap;
mod certainty;
mod control;
mod design;
mod folder;
pub mod html;
mod landscape;
mod modes;
mod origin;
mod responses;
mod schemes;
mod steps;
mod streamed;

pub use bands::{band_figure, bands_json, bands_text};
pub use bootstrap::{bootstrap_figure, bootstrap_json, bootstrap_text};
pub use certainty::{Certainty, ends_of_searches, profile_figure, profiles_json, starts_json, waterfall};
pub use control::{control_json, information_json};
pub use design::{design_figure, design_json, design_sentences};
pub use folder::Folder;
pub use landscape::{landscape_figure, landscape_json};
pub use modes::{ModesResult, modes_json, shapes_figure};
pub use origin::{InputFile, Origin, SCHEMA, command_line, date, words};
pub use schemes::{schemes_json, work_precision};
pub use steps::{step_errors, steps_json};
pub use streamed::{Streamed, stream};

mod compared;
pub mod plot;

use costate::cost::{LeastSquares, Reference};
use costate::noise::AddedNoise;
use costate::scheme::{Counters, Scheme};
use costate::shown::{number, rounded, with_unit};
use costate::spread::root_mean_square;
use costate::{Parameter, Quantity, Simulation, StartReport, Trajectory};
use costate_identify::Result;
use costate_identify::modal::ModeResult;
use costate_identify::prior::PriorResult;
use costate_identify::problem::{Experiment, Problem, base_name};
use costate_identify::response::ResponseResult;
use costate_identify::statistics::{OutputFit, ParameterStatistics, Statistics, fits};
use costate_identify::table::table;
use costate_identify::{Estimate, Identification, Status};
use serde_json::{Value, json};

/// A unit as figures show it: `m/s^2` becomes m/s².
fn printed(unit: &str) -> String {
    let mut text = String::new();
    let mut raised = false;
    for c in unit.chars() {
        let superscript = match c {
            '-' => Some('⁻'),
            digit => digit.to_digit(10).and_then(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize)),
        };
        match (c, superscript) {
            ('^', _) => raised = true,
            (_, Some(superscript)) if raised => text.push(superscript),
            _ => {
                raised = false;
                text.push(c);
            }
        }
    }
    text
}

/// A scheme's settings for files.
pub fn scheme_settings(scheme: &dyn Scheme) -> serde_json::Map<String, Value> {
    scheme.settings().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect()
}

/// Noise that was added to a reference, for files.
fn noise_json(AddedNoise { output, unit, deviation, seed }: &AddedNoise) -> Value {
    json!({ "output": output, "unit": unit, "deviation": deviation, "seed": seed })
}

/// A text in a CSV file.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A name in a CSV file, in quotation marks where it needs them.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n']) { quoted(text) } else { text.to_string() }
}

/// Units as figures show them.
fn units(quantities: &[Quantity]) -> Vec<String> {
    quantities.iter().map(|q| printed(&q.unit)).collect()
}

/// A quantity with its unit, as axes show it.
fn labelled(quantity: &Quantity) -> String {
    format!("{} [{}]", quantity.name, printed(&quantity.unit))
}

/// Names, units and values for a figure.
fn named<'a>(
    quantities: &'a [Quantity],
    units: &'a [String],
    values: &'a [Vec<f64>],
) -> Vec<(&'a str, &'a str, &'a [f64])> {
    let rows = quantities.iter().zip(units).zip(values);
    rows.map(|((q, unit), values)| (q.name.as_str(), unit.as_str(), values.as_slice())).collect()
}

/// The parameters of an identification: `name  value  change from start  unit  status`.
pub fn parameter_table(identification: &Identification) -> String {
    parameter_rows(identification, None)
}

/// The parameters of an identification with standard errors, where they mean something: `name  value  +/- standard error (relative)
/// change from start  unit  status`.
pub fn parameter_table_with_errors(identification: &Identification, statistics: &Statistics) -> String {
    parameter_rows(identification, Some(statistics))
}

/// Local parameters that are listed one by one at most.
const LOCALS: usize = 16;

fn parameter_rows(identification: &Identification, statistics: Option<&Statistics>) -> String {
    // without noise, an error is infinite or means nothing
    let has_error =
        |statistics: &Statistics, p: &ParameterStatistics| !statistics.is_noise_free || p.standard_error.is_infinite();
    let with_errors =
        statistics.is_some_and(|statistics| statistics.parameters.iter().any(|p| has_error(statistics, p)));
    let is_local = |p: &Estimate| p.name.contains('@');
    let locals: Vec<&Estimate> = identification.parameters.iter().filter(|p| is_local(p)).collect();
    let summarised: &[&Estimate] = if locals.len() > LOCALS { &locals } else { &[] };
    let shown = identification.parameters.iter().enumerate().filter(|(_, p)| summarised.is_empty() || !is_local(p));
    let rows = shown.map(|(k, p)| {
        let change = p.value - p.start;
        let sign = if change >= 0.0 { "+" } else { "" };
        let percent = rounded(100.0 * change / p.start.abs(), 4);
        let relative = if p.start == 0.0 { String::new() } else { format!(" ({sign}{percent} %)") };
        let mut row = vec![
            p.name.clone(),
            number(p.value),
            format!("{sign}{}{relative}", rounded(change, 4)),
            p.unit.clone(),
            p.status.name().to_string(),
        ];
        if let Some((all, own)) = statistics.and_then(|all| Some((all, all.parameters.get(k)?))) {
            let start = if own.at_start { "still at its start" } else { "" };
            let mut remarks = vec![p.status.name(), own.determinacy.remark(), start];
            remarks.retain(|remark| !remark.is_empty());
            // whatever is said of the others but this is said of free ones alone
            if remarks.len() > 1 {
                remarks.retain(|remark| *remark != Status::Free.name());
            }
            row[4] = remarks.join(", ");
            if with_errors {
                row.insert(2, if has_error(all, own) { own.error_text() } else { "-".to_string() });
            }
        }
        row
    });
    let mut header = vec!["name", "value", "change from start", "unit", "status"];
    if with_errors {
        header.insert(2, "+/- standard error");
    }
    let mut text = table(&header, &rows.collect::<Vec<_>>());
    if !summarised.is_empty() {
        let bases = summarised.iter().map(|p| base_name(&p.name));
        let mut names: Vec<&str> = bases.collect();
        names.sort_unstable();
        names.dedup();
        text += &format!(
            "\nand {} of single experiments, of which {} are free, in result.json: {}",
            summarised.len(),
            summarised.iter().filter(|p| p.status != Status::Fixed).count(),
            names.join(", ")
        );
    }
    text
}

/// The result for programs. Where there are no statistics, their place says why.
pub fn result_json(
    problem: &Problem,
    method: &str,
    identification: &Identification,
    statistics: &Result<Statistics>,
) -> Value {
    let outcome = &identification.outcome;
    let scheme = problem.first().simulation.scheme();
    let mut result = json!({
        "schema": SCHEMA,
        "costate_version": env!("CARGO_PKG_VERSION"),
        "model": problem.name,
        "method": method,
        "converged": outcome.converged,
        "reason": identification.reason(),
        "cost": outcome.cost,
        "start_cost": outcome.history.first().map(|start| start.cost),
        "gradient_norm": outcome.gradient_norm,
        "iterations": outcome.iterations,
        "evaluations": outcome.evaluations,
        "failed_evaluations": outcome.failed_evaluations,
        "hessians": outcome.hessians,
        "hessian_products": outcome.hessian_products,
        "first_failure": identification.first_failure,
        "seconds": identification.seconds,
        "scheme": scheme.name(),
        "scheme_settings": scheme_settings(scheme),
        "steps": problem.steps(),
        "rmse": match statistics {
            // the numbers that a person reads
            Ok(statistics) => by_name(statistics.outputs.iter().map(|output| (output.name.clone(), output.rmse()))),
            Err(error) if error.is_interruption() => Value::Null,
            Err(_) => rmse(problem, &identification.values()),
        },
        "parameters": parameters(problem, identification),
        "experiments": problem.all().map(|experiment| experiment_json(problem, experiment)).collect::<Vec<_>>(),
    });
    extend(&mut result, problem, identification, statistics);
    match statistics {
        Ok(statistics) => statistics.extend_json(&mut result),
        Err(reason) => result["statistics"] = json!({"missing_because": reason.to_string()}),
    }
    result
}

/// Adds what only some problems have.
fn extend(result: &mut Value, problem: &Problem, identification: &Identification, statistics: &Result<Statistics>) {
    if !problem.validation.is_empty() {
        result["validation"] = match fits(problem, &problem.validation, &identification.values()) {
            Ok(found) => found.iter().map(OutputFit::json).collect(),
            Err(error) => json!({"missing_because": error.to_string()}),
        };
    }
    if !identification.constraints.is_empty() {
        result["constraints"] = json!(identification.constraints);
    }
    if !problem.priors.is_empty() {
        let values = identification.values();
        let priors = PriorResult::all(problem, &values, statistics.as_ref().ok());
        result["priors"] = priors.iter().map(PriorResult::json).collect();
        result["cost_of_priors"] = json!(problem.prior_cost(&values));
        result["cost_of_data"] = json!(identification.outcome.cost - problem.prior_cost(&values));
    }
    // the search has ended where they are
    let modes = ModeResult::all(problem, &identification.values()).unwrap_or_default();
    if !modes.is_empty() {
        result["modes"] = modes.iter().map(ModeResult::json).collect();
    }
    let responses = ResponseResult::all(problem, &identification.values()).unwrap_or_default();
    if !responses.is_empty() {
        result["responses"] = responses.iter().map(ResponseResult::json).collect();
    }
    if let Some(homotopy) = &identification.homotopy {
        result["homotopy"] = json!(homotopy);
    }
    if let Some(noise) = &identification.noise {
        result["estimated_deviations"] = noise.json();
    }
    if !identification.impossible.is_empty() {
        result["impossible"] = json!(identification.impossible);
    }
    let costs = problem.least_squares().unwrap_or_default();
    if let Some(cost) = costs.iter().find(|cost| !cost.added_noise().is_empty()) {
        result["synthetic_noise"] = cost.added_noise().iter().map(noise_json).collect();
    }
}

/// Summary of a simulation with these parameters, for programs; with the errors of what it was `measured` against, if it was.
pub fn simulation_json(
    simulation: &Simulation,
    u: &[f64],
    trajectory: &Trajectory,
    measured: Option<&LeastSquares>,
) -> Value {
    let errors = measured
        .map(|cost| output_errors((cost, &cost.sensors().nominal()), simulation, trajectory))
        .unwrap_or_default();
    simulation_document(simulation, u, (trajectory.counters, &trajectory.start), &errors)
}

fn simulation_document(
    simulation: &Simulation,
    u: &[f64],
    (counters, start): (Counters, &StartReport),
    errors: &[OutputError],
) -> Value {
    let signature = simulation.signature();
    let parameters = signature.parameters.iter().zip(u);
    let rmse: serde_json::Map<_, _> =
        errors.iter().map(|error| (error.output.name.clone(), json!(error.rmse))).collect();
    json!({
        "model": signature.name,
        "scheme": simulation.scheme().name(),
        "scheme_settings": scheme_settings(simulation.scheme()),
        "parameters": parameters.map(|(p, value)| json!({"name": p.name, "unit": p.unit, "value": value})).collect::<Vec<_>>(),
        "steps": counters.steps,
        "rmse": rmse,
        "newton_iterations": counters.iterations,
        "factorisations": counters.factorisations,
        "start": {
            "initial_state": start.initial_state.name(),
            "equilibrium_iterations": start.iterations,
            "position_residuals": start.position,
            "velocity_residuals": start.velocity,
        },
    })
}

/// Estimate of each parameter, with its bounds, nominal value and scale.
fn parameters(problem: &Problem, identification: &Identification) -> Vec<Value> {
    let entry = |(k, estimate): (usize, &Estimate)| {
        let Parameter { nominal, lower, upper, scale, .. } = &problem.parameters[k];
        let mut entry = json!(estimate);
        // a bound that is infinite is null
        entry["lower"] = json!(lower);
        entry["upper"] = json!(upper);
        entry["nominal"] = json!(nominal);
        entry["scale"] = json!(scale.name());
        entry["size"] = json!(problem.size(k));
        entry
    };
    identification.parameters.iter().enumerate().map(entry).collect()
}

/// Settings of an experiment: what was simulated and compared.
fn experiment_json(problem: &Problem, experiment: &Experiment) -> Value {
    let simulation = &experiment.simulation;
    let (grid, signature) = (simulation.grid(), simulation.signature());
    let times = grid.times();
    let cost = experiment.cost.as_least_squares();
    let output = |cost: &LeastSquares, reference: &Reference| {
        let Quantity { name, unit, .. } = &cost.quantity(reference, signature);
        json!({
            "name": problem.name_in(experiment, name),
            "unit": unit,
            "deviation": reference.deviation,
            "samples": cost.samples(reference).count(),
            "sensor": cost.sensors().names(reference.output),
        })
    };
    let outputs = cost.iter().flat_map(|cost| cost.references().iter().map(|reference| output(cost, reference)));
    let inputs = signature.inputs.iter().zip(simulation.signals()).map(|(input, signal)| {
        // null: no samples
        let interpolation = signal.interpolation().map(|interpolation| interpolation.to_string());
        json!({"name": input.name, "unit": input.unit, "interpolation": interpolation})
    });
    json!({
        "name": experiment.name,
        "validation": problem.validation.iter().any(|other| std::ptr::eq(other, experiment)),
        "from": times[0],
        "until": times[times.len() - 1],
        "steps": simulation.steps(),
        // null: uneven
        "step": simulation.even_step(),
        "substeps": cost.and_then(LeastSquares::substeps),
        "initial_state": simulation.start_state().name(),
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
    })
}

/// Root mean square of each compared output's residuals, by name; null where the simulation fails.
pub fn rmse(problem: &Problem, u: &[f64]) -> Value {
    let Ok(errors) = problem_errors(problem, u) else { return Value::Null };
    by_name(errors.into_iter().map(|error| (error.output.name, error.rmse)))
}

fn by_name(values: impl Iterator<Item = (String, f64)>) -> Value {
    Value::Object(values.map(|(name, value)| (name, json!(value))).collect())
}

/// Error of an output beside its reference.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputError {
    /// Name and unit of the output.
    pub output: Quantity,
    /// Root mean square of the differences, in the output's unit.
    pub rmse: f64,
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RMSE of {}: {:.6e} {}", self.output.name, self.rmse, self.output.unit)
    }
}

/// `frequency [Hz]`; without a unit where there is none.
pub(crate) fn axis_label(quantity: &Quantity) -> String {
    match quantity.unit.as_str() {
        "1" => quantity.name.clone(),
        unit => format!("{} [{}]", quantity.name, printed(unit)),
    }
}

/// The compared outputs of a trajectory, over the samples that take part in the cost, as seen by sensors with these parameters.
pub fn output_errors(
    (cost, sensors): (&LeastSquares, &[f64]),
    simulation: &Simulation,
    trajectory: &Trajectory,
) -> Vec<OutputError> {
    output_errors_of((cost, sensors), simulation, &|place| trajectory.output(cost.references()[place].output))
}

/// Errors of outputs, by the places of their references.
fn output_errors_of(
    (cost, sensors): (&LeastSquares, &[f64]),
    simulation: &Simulation,
    output: &dyn Fn(usize) -> Vec<f64>,
) -> Vec<OutputError> {
    let error = |(place, reference): (usize, &Reference)| {
        let y = cost.sensors().shown(reference.output, simulation.grid().times(), output(place), sensors);
        let output = cost.quantity(reference, simulation.signature());
        let residual = |i: usize| output.difference(y[cost.places().of(i)], reference.values[i]);
        let rmse = match cost.lines(place) {
            lines if lines.is_empty() => root_mean_square(cost.samples(reference).map(residual)),
            lines => root_mean_square(lines.iter().map(|value| residual(value.sample) / value.scale)),
        };
        OutputError { output, rmse }
    };
    cost.references().iter().enumerate().map(error).collect()
}

/// Errors of all experiments of a problem at `u`, by one run each.
///
/// # Errors
/// If a simulation fails.
pub fn problem_errors(problem: &Problem, u: &[f64]) -> Result<Vec<OutputError>> {
    let mut errors = Vec::new();
    for experiment in &problem.experiments {
        let Some(cost) = experiment.cost.as_least_squares() else { continue };
        let run = experiment.simulation.run(&experiment.own(u))?;
        for mut error in output_errors((cost, &experiment.of_sensors(u)), &experiment.simulation, &run) {
            error.output.name = problem.name_in(experiment, &error.output.name);
            errors.push(error);
        }
    }
    Ok(errors)
}
