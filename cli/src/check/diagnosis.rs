//! What outputs of the model at the start look like beside the data: what a slip in a column, a sign or a unit would do.

use crate::remedy;
use costate::Parameter;
use costate::cost::{LeastSquares, Reference};
use costate::shown::rounded;
use costate_data::TimeAxis;
use costate_identify::Result;
use costate_identify::problem::{Experiment, Problem};
use costate_identify::specification::Specification;
use costate_identify::statistics::{OutputFit, fits};
use serde_json::{Value, json};

/// Findings on an experiment: its samples, steps, inputs and outputs.
pub(super) struct Looked {
    pub name: String,
    pub validation: bool,
    pub samples: usize,
    pub from: f64,
    pub until: f64,
    /// Sampling interval of all files together, s; `None`: uneven.
    pub sampling: Option<f64>,
    /// Spacing of samples, in words, and the ends of the largest interval, s.
    pub spacing: String,
    pub largest_interval: Option<(f64, f64)>,
    /// Number of all time steps.
    pub steps: usize,
    /// Time steps between two samples; `None`: not as many everywhere.
    pub substeps: Option<usize>,
    /// Name, unit, least and largest value.
    pub inputs: Vec<(String, String, f64, f64)>,
    /// What to do if the record begins elsewhere than the model.
    remedy_of_start: String,
    /// Outputs at the start, or why there are none.
    pub outputs: std::result::Result<Vec<Compared>, String>,
}

/// An output beside its data.
pub(super) struct Compared {
    pub fit: OutputFit,
    /// True if its noise is estimated together with the parameters.
    pub is_estimated: bool,
    /// Number of samples of its record, missing ones among them.
    pub samples: usize,
    /// Number of samples that the record lacks.
    pub missing: usize,
    /// Range of the data.
    pub range: (f64, f64),
}

impl Looked {
    /// Runs an experiment once at the start of `problem`, and compares.
    pub fn at(problem: &Problem, experiment: &Experiment) -> Self {
        let simulation = &experiment.simulation;
        let (grid, signature) = (simulation.grid(), simulation.signature());
        let times = grid.times();
        let cost = experiment.cost.as_least_squares();
        let substeps = cost.map_or(Some(1), LeastSquares::substeps);
        let input = |k: usize| {
            let values = (0..times.len()).map(|i| simulation.inputs_at(i)[k]);
            let (low, high) = range(values);
            (signature.inputs[k].name.clone(), signature.inputs[k].unit.clone(), low, high)
        };
        let samples: Vec<f64> = match cost {
            Some(cost) => cost.places().all(times.len()).map(|i| times[i]).collect(),
            None => times.to_vec(),
        };
        let axis = TimeAxis::new(&samples).ok();
        let sampling = match (grid.uniform_step(), substeps) {
            (Some(step), Some(substeps)) => Some(step * substeps as f64),
            _ => axis.as_ref().and_then(|axis| axis.sampling_step().ok()),
        };
        Looked {
            name: experiment.name.clone(),
            validation: problem.validation.iter().any(|other| std::ptr::eq(other, experiment)),
            samples: cost.map_or(times.len(), |cost| cost.weights().len()),
            from: times[0],
            until: times[times.len() - 1],
            sampling,
            spacing: axis.as_ref().map_or_else(String::new, TimeAxis::spacing),
            largest_interval: axis.as_ref().and_then(TimeAxis::largest_interval),
            steps: simulation.steps(),
            substeps,
            inputs: (0..signature.inputs.len()).map(input).collect(),
            remedy_of_start: problem.remedy_of_start(experiment).1,
            outputs: compared(problem, experiment).map_err(|error| remedy::sentence(&error)),
        }
    }

    /// The worst fit of its outputs, worst of all if it cannot be run.
    pub fn worst(&self) -> f64 {
        let fits = self.outputs.iter().flatten().filter_map(|output| output.fit.fit_percent);
        if self.outputs.is_err() { f64::NEG_INFINITY } else { fits.fold(f64::INFINITY, f64::min) }
    }

    pub fn json(&self) -> Value {
        let inputs = self
            .inputs
            .iter()
            .map(|(name, unit, low, high)| json!({"name": name, "unit": unit, "least": low, "largest": high}));
        let outputs = self.outputs.iter().flatten().map(|output| {
            let mut entry = output.fit.json();
            entry["samples"] = json!(output.samples);
            entry["compared"] = json!(output.fit.residuals.len());
            entry["missing"] = json!(output.missing);
            entry["least"] = json!(output.range.0);
            entry["largest"] = json!(output.range.1);
            entry["deviation"] = json!(output.fit.deviation);
            entry["rmse_over_deviation"] = json!(output.fit.rmse() / output.fit.deviation);
            entry
        });
        json!({
            "name": self.name,
            "validation": self.validation,
            "samples": self.samples,
            "from": self.from,
            "until": self.until,
            "sampling": self.sampling,
            "largest_interval": self.largest_interval.map(|(from, until)| json!({"from": from, "until": until})),
            "substeps": self.substeps,
            "inputs": inputs.collect::<Vec<_>>(),
            "outputs": outputs.collect::<Vec<_>>(),
            "failure": self.outputs.as_ref().err(),
        })
    }

    /// Warnings of what looks like a slip, in sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (name, unit, low, _) in self.inputs.iter().filter(|(.., low, high)| low == high) {
            warnings.push(format!("input `{name}` is {} {unit} all the time", rounded(*low, 4)));
        }
        for output in self.outputs.iter().flatten() {
            warnings.extend(output.fit.told_of_sentinels());
            let of_start = || output.warning_of_start(self.from, &self.remedy_of_start);
            warnings.extend(output.warning().or_else(of_start));
        }
        let place = |warning: String| format!("experiment `{}`: {warning}", self.name);
        warnings.into_iter().map(place).collect()
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let there = values.filter(|value| !value.is_nan());
    there.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

fn compared(problem: &Problem, experiment: &Experiment) -> Result<Vec<Compared>> {
    let found = fits(problem, std::slice::from_ref(experiment), &problem.start)?;
    let Some(cost) = experiment.cost.as_least_squares() else { return Ok(Vec::new()) };
    let compared = found.into_iter().zip(cost.references()).enumerate();
    let compared = compared.map(|(k, (fit, reference)): (usize, (OutputFit, &Reference))| Compared {
        fit,
        is_estimated: problem.estimates_deviation(experiment, reference.output),
        missing: cost.missing(k),
        samples: cost.own_samples(k).len(),
        range: range(reference.values.iter().copied()),
    });
    Ok(compared.collect())
}

impl Compared {
    /// Warns of a record that begins elsewhere than the model does.
    fn warning_of_start(&self, from: f64, remedy: &str) -> Option<String> {
        /// Part of the data's spread.
        const FAR: f64 = 0.5;
        let (first, off) = self.fit.times.first().copied().zip(self.fit.residuals.first().copied())?;
        if self.fit.over.name != "time" || first != from || off.abs() <= FAR * self.fit.size {
            return None;
        }
        Some(format!(
            "at its first sample, `{}` of the model is off by {} {}, {} of the data's spread: if the record begins elsewhere than the model, \
             {remedy}",
            self.fit.name,
            rounded(off, 3),
            self.fit.unit,
            percent(100.0 * off.abs() / self.fit.size)
        ))
    }

    /// Warns of what the residuals r = y - data and the data's own size show of the model's output y.
    fn warning(&self) -> Option<String> {
        /// The model moves so many times as much as the data, or as little.
        const FAR: f64 = 30.0;
        /// Of the residuals of a model that knows nothing of a value that is known up to a period.
        const LIKE_CHANCE: f64 = 0.8;
        let name = &self.fit.name;
        let Some(fit) = self.fit.fit_percent else {
            return Some(format!("the data of `{name}` are constant: nothing can be fitted to them"));
        };
        let (rmse, size) = (self.fit.rmse(), self.fit.size);
        if let Some(chance) = self.fit.by_chance().filter(|chance| rmse > LIKE_CHANCE * chance) {
            let unit = &self.fit.unit;
            let degrees = if unit == "rad" { ", and are they in rad, not in degrees" } else { "" };
            return Some(format!(
                "at the start the model tells next to nothing of `{name}` (fit {}): residuals of a value that is known up to a period come to {} {unit} by chance, \
                 and are {} {unit}: is it the right column, with this sign{degrees}? does it begin like the data?",
                percent(fit),
                rounded(chance, 3),
                rounded(rmse, 3)
            ));
        }
        if fit >= 100.0 / FAR {
            return None;
        }
        if fit >= 0.0 {
            return Some(format!(
                "at the start the model tells next to nothing of `{name}` (fit {}), as one does that hardly moves beside its data: are units the same (rad and degrees, m and \
                 mm)? is it the right column?",
                percent(fit)
            ));
        }
        let meaning = if rmse > FAR * size {
            "are units the same?"
        } else {
            "is it the right column, with this sign? does it begin like the data?"
        };
        Some(format!(
            "at the start the model is farther from the data of `{name}` than their mean (fit {}): {meaning}",
            percent(fit)
        ))
    }
}

pub(super) fn percent(value: f64) -> String {
    if value.abs() < 1e4 { format!("{value:.1} %") } else { format!("{value:.1e} %") }
}

/// Columns that are an input and an output at once.
pub(super) fn twice(specification: &Specification) -> Vec<String> {
    let records = specification.data.iter().chain(specification.experiments.iter().map(|experiment| &experiment.data));
    let mut found: Vec<String> = Vec::new();
    for record in records {
        let inputs = record.inputs.iter().flatten().map(|input| (&input.column, &input.input));
        for (column, input) in inputs {
            for output in record.outputs.iter().flatten().filter(|output| output.column == *column) {
                found.push(format!("column `{column}` is input `{input}` and output `{}` at once", output.output));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Free parameters that begin at a bound.
pub(super) fn at_bounds(problem: &Problem) -> Vec<String> {
    let warning = |k: usize| {
        let (Parameter { name, lower, upper, .. }, start) = (&problem.parameters[k], problem.start[k]);
        let bound = [("lower", lower), ("upper", upper)].into_iter().find(|(_, bound)| **bound == start)?.0;
        Some(format!("`{name}` starts at its {bound} bound, {}: it can go one way only", rounded(start, 4)))
    };
    problem.free().into_iter().filter_map(warning).collect()
}
