//! A problem as a person states it: a model, perhaps a record of measurements, settings, parameters. From it a [`Problem`]
//! is built; everything left out is taken from the model's built-in scenario.

mod candidates;
mod derived;
mod deviations;
mod experiments;
mod gaps;
mod lines;
mod measured;
mod record;
mod recording;
mod response;
mod sampled_steps;
mod scenario;
mod sensors;
mod source;
mod spectrum;
mod split;

pub use candidates::CandidateSetting;
pub use experiments::ExperimentSetting;
pub use experiments::name_of;
pub(crate) use gaps::Samples;
pub use lines::Lines;
pub(crate) use lines::line_of;
use measured::Measured;
pub(crate) use record::beside;
pub use response::ResponseSetting;
pub use sensors::Effect;
pub use source::DataSource;
pub use spectrum::{LinesSetting, SpectrumSetting};

use crate::constraint::{Constraint, ConstraintSetting, Value};
use crate::control::ControlSetting;
use crate::modal::{MeasuredMode, ModeResult};
use crate::optimise;
use crate::prior::Distribution;
use crate::problem::Problem;
use crate::registry::{CostFormulas, Entry, Registry, Scenario};
use crate::statistics::Noise;
use crate::steps::Steps;
use crate::{Error, Result};
use costate::cost::{Cost, LeastSquares, Loss, Quadrature};
use costate::noise::{AddedNoise, SyntheticNoise};
use costate::shown::rounded;
use costate::{InitialState, Interpolation, Parameter, Scale, Signature, Simulation};
use costate_data::columns::Calibration;

/// A column of the record that drives an input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputColumn {
    /// The model's input.
    pub input: String,
    /// The record's column.
    pub column: String,
    /// File of the column among several, from 1; by default the only one that has it.
    pub file: Option<usize>,
    /// Interpolation of the input between samples.
    pub interpolation: Interpolation,
    /// Calibration of the column's numbers.
    pub calibration: Calibration,
}

/// A column of the record that an output is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// The model's output.
    pub output: String,
    /// The record's column.
    pub column: String,
    /// File of the column among several, from 1; by default the only one that has it.
    pub file: Option<usize>,
    /// Calibration of the column's numbers.
    pub calibration: Calibration,
    /// Deviation by which residuals are divided, in the output's unit; 1 if nothing is said.
    pub deviation: Option<Deviation>,
    /// Loss of the residuals; as that of the whole problem if nothing is said.
    pub loss: Option<Loss>,
    /// Effects of the sensor on the output.
    pub sensor: Vec<Effect>,
    /// The frequency of a low-pass filter for both, Hz.
    pub low_pass: Option<f64>,
    /// Distance of the samples that are compared: the first of every so many.
    pub every: Option<usize>,
    /// Spectrum that is compared in the place of samples.
    pub spectrum: Option<SpectrumSetting>,
}

/// The prior of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PriorSetting {
    /// This distribution.
    Given(Distribution),
    /// One about this centre, with a deviation that is estimated: see [`Problem::with_estimated_prior`].
    Estimated {
        /// Mean or median.
        centre: f64,
        /// True for a log-normal one.
        is_log: bool,
    },
}

/// The standard deviation of an output's noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Deviation {
    /// Given as this number, in the output's unit.
    Given(f64),
    /// Estimated together with the parameters: one for all experiments that say so of this output.
    Estimated,
    /// Estimated together with the parameters: for each stated experiment alone.
    EstimatedAlone,
    /// As [`Deviation::Estimated`], of residuals that are correlated in time: samples count as the independent ones that they are worth.
    EstimatedCorrelated,
}

/// Settings of one parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterSetting {
    /// Name of the parameter.
    pub name: String,
    /// Start value.
    pub start: Option<f64>,
    /// Smallest value allowed.
    pub lower: Option<f64>,
    /// Largest value allowed.
    pub upper: Option<f64>,
    /// Scaling.
    pub scale: Option<Scale>,
    /// Size for linear scaling.
    pub size: Option<f64>,
    /// True if the parameter is identified.
    pub free: Option<bool>,
    /// True if every experiment has its own value.
    pub local: Option<bool>,
    /// The column whose first sample it starts from, in each experiment.
    pub start_column: Option<String>,
    /// Distribution before any data.
    pub prior: Option<PriorSetting>,
    /// A uniform prior, which is bounds.
    pub uniform: Option<[f64; 2]>,
    /// The formula by which it follows from other parameters.
    pub formula: Option<String>,
    /// The unit of a parameter that the model does not have, for formulas of others.
    pub unit: Option<String>,
    /// The nominal value of such a parameter.
    pub nominal: Option<f64>,
}

impl ParameterSetting {
    /// Settings of a parameter that starts at a value.
    pub fn starting((name, value): (String, f64)) -> Self {
        ParameterSetting { name, start: Some(value), ..ParameterSetting::default() }
    }

    /// Changes what is said of the parameter, and where it starts.
    pub(crate) fn apply(&self, parameter: &mut Parameter, start: &mut f64) {
        let Parameter { lower, upper, scale, size, free, .. } = parameter;
        *lower = self.lower.unwrap_or(*lower);
        *upper = self.upper.unwrap_or(*upper);
        *scale = self.scale.unwrap_or(*scale);
        *size = self.size.or(*size);
        *free = self.free.unwrap_or(*free);
        if let Some([from, to]) = self.uniform {
            (*lower, *upper) = (from, to);
        }
        *start = self.start.unwrap_or(*start);
    }
}

/// A problem as stated. Only the model must be named.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Specification {
    /// The model's name.
    pub model: String,
    /// Measurements; without them the reference is a simulation with the nominal parameters.
    pub data: Option<DataSource>,
    /// Several experiments, in the place of `data`.
    pub experiments: Vec<ExperimentSetting>,
    /// Experiments that could be made next.
    pub candidates: Vec<CandidateSetting>,
    /// Time step, s.
    pub step: Option<f64>,
    /// Steps between two samples; where neither they nor the step are given, an identification chooses ([`Specification::steps`]).
    pub substeps: Option<usize>,
    /// End of the simulated time, s.
    pub end: Option<f64>,
    /// The time integrator's name.
    pub scheme: Option<String>,
    /// Settings of the time integrator, by name.
    pub scheme_settings: Vec<(String, f64)>,
    /// Initial state of the simulation.
    pub initial_state: Option<InitialState>,
    /// Coordinates that the start keeps while it is projected; given alone, they ask for a projection.
    pub hold: Option<Vec<String>>,
    /// Bytes for the states of all runs that are fitted at once.
    pub memory: Option<f64>,
    /// The error that steps may make, in the place of a step.
    pub tolerance: Option<f64>,
    /// Weights of the least-squares sum.
    pub quadrature: Option<Quadrature>,
    /// Loss of residuals; by default their squares.
    pub loss: Option<Loss>,
    /// A cost by formulas, in the place of the sum.
    pub cost: CostFormulas,
    /// Knowledge of the noise, for statistics.
    pub noise: Option<Noise>,
    /// Noise on the simulated reference, without a record.
    pub synthetic_noise: Option<SyntheticNoise>,
    /// Outputs compared, without a record.
    pub compare: Option<Vec<String>>,
    /// Settings of parameters.
    pub parameters: Vec<ParameterSetting>,
    /// Settings that go over all others, those of experiments too: of a command line. Values of an experiment that is not there are left out.
    pub overriding: Vec<ParameterSetting>,
    /// Constraints.
    pub constraints: Vec<ConstraintSetting>,
    /// Measured quantities of modes; without a record and outputs to compare, all that is fitted.
    pub modes: Vec<MeasuredMode>,
    /// Measured frequency responses, likewise.
    pub responses: Vec<ResponseSetting>,
    /// Tolerances of constraints.
    pub constraint_options: optimise::ConstraintOptions,
    /// Control problem.
    pub control: Option<ControlSetting>,
    /// Optimisation method.
    pub method: Option<optimise::Method>,
    /// Tolerances and limits of the optimisation.
    pub options: optimise::Options,
    /// Homotopy that pulls the model towards its record on the way, if any.
    pub homotopy: Option<crate::homotopy::Homotopy>,
    /// Units of the parameters of an earlier fit whose values are taken, by their names: those of the model, or the values mean something else.
    pub found_units: Vec<(String, String)>,
    /// Standard deviations of noise that an earlier fit has found, by the sensors' names.
    pub found_deviations: Vec<(String, f64)>,
    /// Standard deviations of priors (of logarithms, where these are log-normal) that an earlier fit has found, by their parameters' names.
    pub found_priors: Vec<(String, f64)>,
    /// Lines of the file where all of this is stated.
    pub lines: Lines,
    /// Steps between two samples that an earlier fit has found to be enough, where none are given.
    pub found_substeps: Option<usize>,
}

impl Specification {
    /// The built-in problem of a model.
    pub fn of(model: &str) -> Self {
        Specification { model: model.to_string(), ..Specification::default() }
    }

    /// Choice of the time steps that an identification takes: with a record, it chooses where nobody has said anything of them.
    pub fn steps(&self) -> Steps {
        let is_open =
            self.source().is_some() && self.step.is_none() && self.substeps.is_none() && self.tolerance.is_none();
        if is_open { Steps::Chosen } else { Steps::AsGiven }
    }

    /// Builds the problem: reads the record, lays the time grid, sets parameters.
    ///
    /// # Errors
    /// Whatever is wrong with the model's name, the record, the settings or the parameters, in a sentence.
    pub fn build(&self, registry: &Registry) -> Result<Problem> {
        Ok(self.build_with_notes(registry)?.0)
    }

    /// Builds the problem as [`Specification::build`] does, with a sentence on each thing that was assumed and may surprise.
    ///
    /// # Errors
    /// As [`Specification::build`].
    pub fn build_with_notes(&self, registry: &Registry) -> Result<(Problem, Vec<String>)> {
        self.built(registry).map_err(|error| self.locate(error))
    }

    fn built(&self, registry: &Registry) -> Result<(Problem, Vec<String>)> {
        let mut notes = Vec::new();
        let entry = &self.entry(registry)?;
        let scenario = self.scenario_by_keys(entry)?;
        self.options.validate().map_err(|error| error.under(&["optimiser"]))?;
        self.constraint_options.validate().map_err(|error| error.under(&["optimiser"]))?;
        let mut problem = match self.source() {
            None if !self.cost.is_empty() => {
                let cost = |simulation: &Simulation| self.formula_cost(registry, simulation, 1.0);
                self.of_own_run(entry, &scenario, &cost, &mut notes)?
            }
            None if self.has_nothing_in_time() => self.without_time(entry, &scenario, &mut notes)?,
            None => {
                // the reference is a run at the nominal values, a fit begins at others
                let points = [self.start_values(entry, &scenario)?, entry.system.signature().nominal()];
                let simulation = self.built_in(entry, &scenario, &points, &mut notes)?;
                let mut problem = entry.problem_of(simulation, &scenario).map_err(|error| self.of_scenario(error))?;
                self.apply_parameters(&mut problem)?;
                self.override_parameters(&mut problem, &mut notes)?;
                problem
            }
            Some(_) if self.synthetic_noise.is_some() => {
                let problem = "the reference is a record, which has its own";
                let error = Error::invalid("synthetic noise", problem, "leave out the record or the noise");
                return Err(error.under(&["cost", "synthetic_noise"]));
            }
            Some(_) => self.measured_problem((registry, entry), &scenario, &mut notes)?,
        };
        if !self.cost.is_empty() {
            notes.push(format!("the cost is {}", self.cost));
        }
        if self.data.is_none() && self.experiments.is_empty() {
            self.take_loss(&mut problem).map_err(|error| error.under(&["cost", "loss"]))?;
        }
        let costs = problem.least_squares().unwrap_or_default();
        for added in costs.iter().flat_map(|cost| cost.added_noise()) {
            let AddedNoise { output, unit, deviation, seed } = added;
            let deviation = rounded(*deviation, 4);
            notes.push(format!("noise of standard deviation {deviation} {unit} (seed {seed}) is added to `{output}`"));
        }
        for setting in &self.parameters {
            if let Some([from, to]) = setting.uniform {
                notes.push(format!(
                    "the uniform prior of `{}` is bounds, {from} to {to}: it adds nothing to the cost",
                    setting.name
                ));
            }
        }
        for sensor in &problem.unknown_deviations {
            let how = if sensor.is_correlated { ", of correlated residuals," } else { "" };
            notes.push(format!(
                "the standard deviation of `{}`{how} is estimated together with the parameters",
                sensor.name
            ));
        }
        let estimated = problem.priors.iter().find(|prior| prior.is_estimated);
        if let Some(prior) = estimated
            && problem.unknown_deviations.is_empty()
            && self.noise != Some(Noise::Given)
        {
            let name = &problem.parameters[prior.parameter].name;
            let text = "its deviation is to be estimated, and that of the noise is known up to a factor only, against which it is weighed";
            let remedy = "have the deviations of the outputs estimated (deviation = \"estimated\", or \"estimated-correlated\"), or give them with noise = \"given\"";
            let error = Error::invalid(format!("the prior of `{name}`"), text, remedy);
            return Err(error.under(&["parameters", crate::problem::base_name(name), "prior"]));
        }
        for (k, setting) in self.constraints.iter().enumerate() {
            let resolved = setting.resolve(entry.system.signature());
            let kept = resolved.and_then(|constraint| refuse_local(&constraint, &problem).map(|()| constraint));
            let constraint = kept.map_err(|error| error.under(&["constraint", &(k + 1).to_string(), "rule"]))?;
            if constraint.unit.is_empty() && setting.terms.len() > 1 {
                notes.push(format!("constraint `{}` adds up parameters in different units", constraint.name));
            }
            problem.constraints.push(constraint);
        }
        problem.modes.clone_from(&self.modes);
        // a mode that is not there at the start is not there for a fit
        ModeResult::all(&problem, &problem.start).map_err(|error| error.under(&["mode"]))?;
        self.read_responses(&mut problem, &mut notes)?;
        problem = problem.with_found_deviations(&self.found_deviations)?.with_found_priors(&self.found_priors);
        problem.validate_by_keys()?;
        Ok((problem, notes))
    }

    /// True if nothing is fitted but measured modes and frequency responses.
    fn has_nothing_in_time(&self) -> bool {
        let has_others = !(self.modes.is_empty() && self.responses.is_empty());
        self.source().is_none() && has_others && self.compare.is_none()
    }

    /// The problem of these, with a run of one step.
    fn without_time(&self, entry: &Entry, scenario: &Scenario, notes: &mut Vec<String>) -> Result<Problem> {
        let scenario = Scenario { end: scenario.step, ..scenario.clone() };
        let of_nothing = |simulation: &Simulation| -> Result<Box<dyn Cost>> {
            Ok(Box::new(LeastSquares::of_nothing(simulation.grid().times())))
        };
        self.of_own_run(entry, &scenario, &of_nothing, notes)
    }

    /// The cost by formulas of a simulation.
    fn formula_cost(&self, registry: &Registry, simulation: &Simulation, weight: f64) -> Result<Box<dyn Cost>> {
        if !(weight.is_finite() && weight > 0.0) {
            let error = Error::invalid("the weight", format!("it is {weight}"), "give a positive number");
            return Err(error.under(&["weight"]));
        }
        registry.cost(simulation.signature(), &self.cost, weight).map_err(|error| error.under(&["cost"]))
    }

    /// The problem of a cost of the model's own run.
    fn of_own_run(
        &self,
        entry: &Entry,
        scenario: &Scenario,
        cost: &dyn Fn(&Simulation) -> Result<Box<dyn Cost>>,
        notes: &mut Vec<String>,
    ) -> Result<Problem> {
        let start = self.start_values(entry, scenario)?;
        let simulation = self.built_in(entry, scenario, std::slice::from_ref(&start), notes)?;
        let cost = cost(&simulation)?;
        let mut problem = Problem { start, ..Problem::new(entry.name(), simulation, cost) };
        self.apply_parameters(&mut problem)?;
        self.override_parameters(&mut problem, notes)?;
        Ok(problem)
    }

    /// The loss of a problem without a record.
    fn take_loss(&self, problem: &mut Problem) -> Result<()> {
        let Some(loss) = self.loss else { return Ok(()) };
        for experiment in &mut problem.experiments {
            let Some(cost) = experiment.cost.as_least_squares() else {
                let remedy = "leave it out, or compare outputs with a reference";
                return Err(Error::invalid(
                    format!("the loss `{}`", loss.name()),
                    "the cost is no sum of squares",
                    remedy,
                ));
            };
            experiment.cost = Box::new(cost.clone().with_loss(None, loss));
        }
        Ok(())
    }

    /// Sets a model's parameters and their starts as stated.
    pub fn set_parameters(&self, signature: &Signature, parameters: &mut [Parameter], start: &mut [f64]) -> Result<()> {
        let (overriding, _) = self.overriding_of_first(signature);
        let settings = self.searched().chain(&overriding);
        settings.filter(|setting| !self.of_sensors().any(|name| name == setting.name)).try_for_each(|setting| {
            let k = signature.parameter_index(&setting.name)?;
            setting.apply(&mut parameters[k], &mut start[k]);
            Ok(())
        })
    }

    /// Refuses what a control problem would overlook.
    pub fn refuse_identification(&self) -> Result<()> {
        let refuse = |what: &str, remedy: &str, keys: &[&str]| {
            let error = Error::invalid(what, "it belongs to an identification; control would overlook it", remedy);
            Err(self.locate(error.under(keys)))
        };
        if !self.modes.is_empty() {
            return refuse("[[mode]]", "leave it out", &["mode", "1"]);
        }
        if !self.responses.is_empty() {
            return refuse("[[response]]", "leave it out", &["response", "1"]);
        }
        if !self.constraints.is_empty() {
            return refuse("[[constraint]]", "write a [[control.goal]] with must = true", &["constraint", "1"]);
        }
        if let Some(setting) = self.parameters.iter().find(|setting| setting.prior.is_some()) {
            let what = format!("the prior of `{}`", setting.name);
            return refuse(&what, "leave it out", &["parameters", &setting.name]);
        }
        if !self.cost.is_empty() {
            return refuse("[cost]", "write integral and terminal in [control]", &["cost"]);
        }
        if self.loss.is_some() || self.compare.is_some() || self.noise.is_some() || self.synthetic_noise.is_some() {
            return refuse("[cost]", "leave out outputs, loss and noise; goals are [[control.goal]]", &["cost"]);
        }
        Ok(())
    }

    /// The simulation alone, without a cost; with a record, driven by its inputs, and the comparison with its outputs if it has
    /// any. Sentences as from [`Specification::build_with_notes`].
    ///
    /// # Errors
    /// As [`Specification::build`].
    pub fn simulation_with_notes(
        &self,
        registry: &Registry,
    ) -> Result<(Simulation, Option<LeastSquares>, Vec<String>)> {
        self.simulated(registry).map_err(|error| self.locate(error))
    }

    fn simulated(&self, registry: &Registry) -> Result<(Simulation, Option<LeastSquares>, Vec<String>)> {
        let mut notes = Vec::new();
        let entry = &self.entry(registry)?;
        let scenario = self.scenario_by_keys(entry)?;
        notes.extend(experiments::left_out(&self.overriding_of_first(entry.system.signature()).1));
        let (simulation, measured) = match self.source() {
            None => {
                let u = self.model_values(entry)?;
                (self.built_in(entry, &scenario, &[u], &mut notes)?, None)
            }
            Some(source) => {
                if self.experiments.len() > 1 {
                    notes.push("of several experiments, this is the first".to_string());
                }
                let stated = |error: Error| match self.experiments.first() {
                    Some(first) => first.stated(error),
                    None => error.under(&["data"]),
                };
                let (simulation, cost) = self.first(entry, &scenario, source, &mut notes).map_err(stated)?;
                (simulation, cost)
            }
        };
        Ok((simulation, measured, notes))
    }

    /// The simulation of the first experiment of a source, and its comparison.
    fn first(
        &self,
        entry: &Entry,
        scenario: &Scenario,
        source: &DataSource,
        notes: &mut Vec<String>,
    ) -> Result<(Simulation, Option<LeastSquares>)> {
        let own = self.experiments.first();
        let mut records = source.records()?;
        let mut source = source.clone();
        if let Some(split) = source.split.clone() {
            let cut = split::pieces(
                entry.system.signature(),
                &source,
                &split,
                &records[0],
                own.and_then(|own| own.name.as_deref()),
            )
            .map_err(|error| error.under(&["split"]))?;
            notes.extend(cut.notes);
            let mut pieces = cut.pieces;
            let (name, first) = pieces.swap_remove(0); // there is one, as a record has rows
            notes.push(format!("of several experiments, this is the first, `{name}`"));
            (records, source) = (vec![first], cut.source);
        }
        // sensors as this experiment has them
        let (overriding, _) = self.overriding_of_first(entry.system.signature());
        let local = own.iter().flat_map(|own| &own.parameters);
        let parameters = self.parameters.iter().chain(local).cloned().collect();
        let first = Specification { parameters, overriding, ..self.clone() };
        let Measured { simulation, cost, .. } = first.measured((entry, scenario), &source, &records, notes)?;
        Ok((simulation, cost))
    }

    /// The record, or that of the first experiment.
    fn source(&self) -> Option<&DataSource> {
        self.experiments.first().map(|experiment| &experiment.data).or(self.data.as_ref())
    }
}

/// Constraints see the first experiment alone.
fn refuse_local(constraint: &Constraint, problem: &Problem) -> Result<()> {
    if problem.experiments.len() == 1 {
        return Ok(());
    }
    let place = format!("constraint `{}`", constraint.name);
    match &constraint.value {
        Value::Output { .. } => {
            let remedy = "leave it out, or identify from one experiment";
            Err(Error::invalid(place, "an output has no limit in several experiments at once yet", remedy))
        }
        Value::Sum(terms) => match terms.iter().find(|(k, _)| problem.parameters[*k].name.contains('@')) {
            Some((k, _)) => {
                let name = &problem.parameters[*k].name;
                Err(Error::invalid(place, format!("`{name}` is local"), "name parameters that all experiments share"))
            }
            None => Ok(()),
        },
        Value::Function(_) => Ok(()),
    }
}
