//! Experiments that could be made next, as stated.

use super::measured::Measured;
use super::sampled_steps::met;
use super::{DataSource, Deviation, Specification};
use crate::design::{Candidate, Design};
use crate::problem::{Experiment, Problem};
use crate::registry::{Entry, Registry};
use crate::{Error, Means, Remedy, Result};
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::{Signature, Simulation};

/// An experiment that could be made next: no record of outputs, only what is done and measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CandidateSetting {
    /// Name of the candidate.
    pub name: String,
    /// A record of its inputs, whose times are those of samples; without it, the scenario's inputs drive it.
    pub data: Option<DataSource>,
    /// An experiment of the problem whose run it is: its sensors are more of that.
    pub like: Option<String>,
    /// Last time, s.
    pub end: Option<f64>,
    /// Time between two samples, s; by default a time step.
    pub sampling: Option<f64>,
    /// Sensors: outputs with standard deviations of their noise.
    pub outputs: Vec<(String, f64)>,
    /// Values of parameters that are not identified, in this experiment.
    pub parameters: Vec<(String, f64)>,
    /// Number of the candidate in the problem file, from 1.
    pub number: usize,
}

impl CandidateSetting {
    fn stated(&self, error: Error) -> Error {
        error.under(&["candidate", &self.number.to_string()])
    }

    fn what(&self) -> String {
        format!("candidate `{}`", self.name)
    }

    /// Comparison of its sensors at samples, which are at these places of the run.
    fn comparison(&self, simulation: &Simulation, times: &[f64], places: Vec<usize>) -> Result<LeastSquares> {
        let mut references = Vec::new();
        for (output, deviation) in &self.outputs {
            let stated = |error: Error| error.under(&["outputs", output]);
            let place = simulation.signature().output_index(output).map_err(|error| stated(error.into()))?;
            if !(deviation.is_finite() && *deviation > 0.0) {
                let problem = format!("its standard deviation is {deviation}");
                let remedy = "give that of the sensor's noise, in the output's unit";
                let what = format!("sensor `{output}` of {}", self.what());
                return Err(stated(Error::invalid(what, problem, remedy)));
            }
            references.push(Reference { output: place, values: vec![0.0; times.len()], deviation: *deviation });
        }
        if references.is_empty() {
            let remedy = "name its sensors with their deviations: outputs = { NAME = 0.001 }";
            return Err(Error::invalid(self.what(), "it measures nothing", remedy).under(&["outputs"]));
        }
        Ok(LeastSquares::new(times, references, 1, Quadrature::Unit)?.with_samples_at(places)?)
    }

    /// Steps between two samples of a run without a record, and the step.
    fn sampled(&self, step: f64, end: f64) -> Result<(f64, usize)> {
        let Some(sampling) = self.sampling else { return Ok((step, 1)) };
        let wrong = |problem: String, remedy: &str| {
            Error::invalid(format!("the sampling of {}", self.what()), problem, remedy).under(&["sampling"])
        };
        if !(sampling.is_finite() && sampling > 0.0) {
            return Err(wrong(format!("it is {sampling} s"), "give the time between two samples, > 0"));
        }
        let samples = end / sampling;
        if samples.round() < 1.0 || (samples - samples.round()).abs() > 1e-6 * samples {
            let remedy = "let the last sample be at the end";
            return Err(wrong(format!("{end} s is no whole number of {sampling} s"), remedy));
        }
        let substeps = (sampling / step * (1.0 - 1e-9)).ceil().max(1.0);
        Ok((sampling / substeps, substeps as usize))
    }
}

impl Specification {
    /// The problem with its candidates, and a sentence on each thing that was assumed.
    ///
    /// # Errors
    /// As [`Specification::build`]; without candidates, or where noise is not known: of what has been measured or would be.
    pub fn design(&self, registry: &Registry) -> Result<(Design, Vec<String>)> {
        self.designed(registry).map_err(|error| self.locate(error))
    }

    fn designed(&self, registry: &Registry) -> Result<(Design, Vec<String>)> {
        let (mut problem, mut notes) = self.built(registry)?;
        let entry = &self.entry(registry)?;
        if self.candidates.is_empty() {
            let remedy = "add [[candidate]] tables with name and outputs = { NAME = deviation } to a problem file";
            return Err(Error::invalid("the next experiment", "there is nothing to choose from", remedy));
        }
        if problem.free().is_empty() {
            return Err(Error::invalid("the next experiment", "no parameter is free", "free those that are sought"));
        }
        let measured = if self.source().is_some() { problem.experiments.len() } else { 0 };
        match measured {
            0 => notes.push("nothing has been measured: without records, only priors count so far".into()),
            _ => self.refuse_unknown_noise()?,
        }
        let mut candidates = Vec::new();
        for setting in &self.candidates {
            let added = self.candidate(entry, setting, &mut problem, &mut notes);
            let experiment = added.map_err(|error| setting.stated(error))?;
            candidates.push(Candidate { name: setting.name.clone(), like: setting.like.clone(), experiment });
        }
        Ok((Design { problem, measured, candidates }, notes))
    }

    /// Standard errors so far and with candidates are compared: both rest on deviations.
    fn refuse_unknown_noise(&self) -> Result<()> {
        for stated in self.stated().iter().filter(|stated| !stated.validation) {
            let columns = stated.data.outputs.iter().flatten();
            let known = |deviation: &Option<Deviation>| match deviation {
                Some(Deviation::Given(_)) => true,
                Some(_) => !self.found_deviations.is_empty(),
                None => false,
            };
            let unknown = columns.clone().find(|column| !known(&column.deviation)).map(|column| &*column.output);
            let unknown = if stated.data.outputs.is_none() { Some("NAME") } else { unknown };
            if let Some(output) = unknown {
                let (what, problem) = ("the noise of what has been measured", "its standard deviation is not known");
                let words = format!(
                    "give it, outputs.{output} = {{ deviation = 0.001 }}; or let an identification estimate it \
                     (deviation = \"estimated\"), and take its result"
                );
                let remedy = Remedy::by(words, Means::Result);
                return Err(stated.stated(Error::invalid(what, problem, remedy).under(&["outputs"])));
            }
        }
        Ok(())
    }

    /// Adds a candidate's experiment to the problem, at the place that is returned.
    fn candidate(
        &self,
        entry: &Entry,
        setting: &CandidateSetting,
        problem: &mut Problem,
        notes: &mut Vec<String>,
    ) -> Result<usize> {
        if let Some(name) = &setting.like {
            return as_before(setting, name, problem);
        }
        let (simulation, times) = self.run_of(entry, setting, notes)?;
        let places = met(simulation.grid(), &times);
        let cost = setting.comparison(&simulation, &times, places)?;
        let values = own_values(setting, simulation.signature(), problem)?;
        let local: Vec<&str> = self.local().into_iter().chain(values.iter().map(|(name, _)| *name)).collect();
        let experiment = Experiment::new(setting.name.clone(), simulation, Box::new(cost));
        problem.add_experiment(experiment, &local).map_err(|error| error.under(&["name"]))?;
        for (name, value) in values {
            let place = problem.places(&format!("{name}@{}", setting.name))?[0]; // a name that is found has a place
            problem.start[place] = value;
        }
        Ok(problem.experiments.len() - 1)
    }

    /// The run of a candidate, and the times of its samples.
    fn run_of(
        &self,
        entry: &Entry,
        setting: &CandidateSetting,
        notes: &mut Vec<String>,
    ) -> Result<(Simulation, Vec<f64>)> {
        let own = Specification { end: None, substeps: None, ..self.clone() };
        if let Some(data) = &setting.data {
            let source = DataSource { until: setting.end.or(data.until), outputs: Some(Vec::new()), ..data.clone() };
            if setting.sampling.is_some() {
                let problem = "its record has its own";
                let what = format!("the sampling of {}", setting.what());
                return Err(Error::invalid(what, problem, "leave it out, or the record").under(&["sampling"]));
            }
            let records = source.records()?;
            let scenario = own.scenario_by_keys(entry)?;
            let mut assumed = Vec::new();
            let Measured { simulation, recording, .. } =
                own.measured((entry, &scenario), &source, &records, &mut assumed)?;
            notes.extend(assumed.into_iter().map(|note| format!("{}: {note}", setting.what())));
            let times = recording.times().to_vec();
            return Ok((simulation, times));
        }
        let mut scenario = Specification { end: setting.end.or(self.end), ..own }.scenario_by_keys(entry)?;
        let (step, substeps) = setting.sampled(scenario.step, scenario.end)?;
        scenario.step = step;
        scenario.integrator.tolerance = None;
        let simulation = entry.simulation(&scenario).map_err(|error| error.under(&["end"]))?;
        let times = simulation.grid().times().iter().step_by(substeps).copied().collect();
        Ok((simulation, times))
    }
}

/// Adds sensors to the run of an experiment, at its samples.
fn as_before(setting: &CandidateSetting, name: &str, problem: &mut Problem) -> Result<usize> {
    let stated = |error: Error| error.under(&["like"]);
    if setting.data.is_some() || setting.end.is_some() || setting.sampling.is_some() || !setting.parameters.is_empty() {
        let problem = format!("it is run as `{name}` was, which says all of that");
        let remedy = "leave out file, end, sampling and parameters, or `like`";
        return Err(stated(Error::invalid(setting.what(), problem, remedy)));
    }
    let names = || problem.all().map(|experiment| experiment.name.as_str());
    let Some(before) = problem.all().find(|experiment| experiment.name == name) else {
        return Err(stated(Error::unknown("experiment", name, "", names())));
    };
    if names().any(|known| known.to_lowercase() == setting.name.to_lowercase()) {
        let error = Error::invalid(setting.what(), "an experiment is called so", "give it a name of its own");
        return Err(error.under(&["name"]));
    }
    let Some(compared) = before.cost.as_least_squares() else {
        let remedy = "take an experiment that is compared with a record";
        return Err(stated(Error::invalid(setting.what(), format!("`{name}` has no samples"), remedy)));
    };
    let simulation = before.simulation.clone();
    let samples: Vec<usize> = (0..compared.weights().len()).map(|sample| compared.places().of(sample)).collect();
    let times: Vec<f64> = samples.iter().map(|&i| simulation.grid().time(i)).collect();
    let cost = Box::new(setting.comparison(&simulation, &times, samples)?);
    // the same run: its own parameters are those of that, but for sensors
    let places = before.places[..simulation.signature().parameters.len()].to_vec();
    problem.experiments.push(Experiment { name: setting.name.clone(), simulation, cost, places });
    Ok(problem.experiments.len() - 1)
}

/// Values that a candidate has of its own, of parameters that nobody looks for.
fn own_values<'s>(
    setting: &'s CandidateSetting,
    signature: &Signature,
    problem: &Problem,
) -> Result<Vec<(&'s str, f64)>> {
    let value = |(name, value): &'s (String, f64)| {
        let stated = |error: Error| error.under(&["parameters", name]);
        signature.parameter_index(name).map_err(|error| stated(error.into()))?;
        match problem.places(name)?.into_iter().any(|place| problem.parameters[place].free) {
            true => {
                let remedy = "fix it in [parameters], or leave it out here";
                let what = format!("parameter `{name}` of {}", setting.what());
                Err(stated(Error::invalid(what, "it is to be identified, and cannot be chosen", remedy)))
            }
            false => Ok((&**name, *value)),
        }
    };
    setting.parameters.iter().map(value).collect()
}
