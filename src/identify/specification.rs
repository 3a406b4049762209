//! A problem as a person states it: a model, perhaps a record of measurements, settings, parameters. From it a [`Problem`]
//! is built; everything left out is taken from the model's built-in scenario.

mod record;

pub(crate) use record::beside;
use record::{time_column, window};

use crate::columns::{self, Column};
use crate::constraint::ConstraintSetting;
use crate::control::ControlSetting;
use crate::cost::{LeastSquares, Quadrature, Reference};
use crate::data::{Record, TimeAxis};
use crate::error::{Error, Result};
use crate::grid::{self, TimeGrid};
use crate::noise::{AddedNoise, SyntheticNoise};
use crate::optimise;
use crate::problem::{Integrator, Problem};
use crate::registry::{Entry, Registry, Scenario};
use crate::report::rounded;
use crate::scheme;
use crate::shown::shown;
use crate::signal::{Interpolation, Signal};
use crate::signature::{Parameter, Quantity, Scale};
use crate::simulate::Simulation;
use crate::start::InitialState;
use crate::statistics::Noise;
use std::path::{Path, PathBuf};

/// A column of the record that drives an input.
#[derive(Debug, Clone, PartialEq)]
pub struct InputColumn {
    /// The model's input.
    pub input: String,
    /// The record's column.
    pub column: String,
    /// What the input does between samples.
    pub interpolation: Interpolation,
}

/// A column of the record that an output is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputColumn {
    /// The model's output.
    pub output: String,
    /// The record's column.
    pub column: String,
    /// Residuals are divided by this, in the output's unit.
    pub deviation: f64,
}

/// Where measurements come from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataSource {
    /// The CSV file.
    pub file: PathBuf,
    /// Name of the time column; by default `t` or `time`, perhaps with its unit: `time [s]`.
    pub time: Option<String>,
    /// Inputs with a column; the others keep the scenario's signals. Default: columns named like inputs, `F` or `F [N]`.
    pub inputs: Option<Vec<InputColumn>>,
    /// Interpolation of inputs that are matched by name.
    pub interpolation: Option<Interpolation>,
    /// Outputs with a column. Default: columns named like outputs, `a` or `a [m/s^2]`.
    pub outputs: Option<Vec<OutputColumn>>,
    /// Samples before this time are left out, s.
    pub from: Option<f64>,
    /// Samples after this time are left out, s.
    pub until: Option<f64>,
}

/// What is said of one parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterSetting {
    /// Name.
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
    /// Whether it is identified.
    pub free: Option<bool>,
}

impl ParameterSetting {
    /// Changes what is said of the parameter, and where it starts.
    pub(crate) fn apply(&self, parameter: &mut Parameter, start: &mut f64) {
        let Parameter { lower, upper, scale, size, free, .. } = parameter;
        *lower = self.lower.unwrap_or(*lower);
        *upper = self.upper.unwrap_or(*upper);
        *scale = self.scale.unwrap_or(*scale);
        *size = self.size.or(*size);
        *free = self.free.unwrap_or(*free);
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
    /// Time step, s.
    pub step: Option<f64>,
    /// Steps between two samples.
    pub substeps: Option<usize>,
    /// End of the simulated time, s.
    pub end: Option<f64>,
    /// The time integrator's name.
    pub scheme: Option<String>,
    /// Its settings, by name.
    pub scheme_settings: Vec<(String, f64)>,
    /// Where the simulation begins.
    pub initial_state: Option<InitialState>,
    /// Coordinates that the start keeps while it is projected; given alone, they ask for a projection.
    pub hold: Option<Vec<String>>,
    /// Weights of the least-squares sum.
    pub quadrature: Option<Quadrature>,
    /// What is known of the noise, for statistics.
    pub noise: Option<Noise>,
    /// Noise on the simulated reference, without a record.
    pub synthetic_noise: Option<SyntheticNoise>,
    /// Outputs compared, without a record.
    pub compare: Option<Vec<String>>,
    /// Settings of parameters.
    pub parameters: Vec<ParameterSetting>,
    /// Constraints.
    pub constraints: Vec<ConstraintSetting>,
    /// When constraints are met.
    pub constraint_options: optimise::ConstraintOptions,
    /// What is to be controlled.
    pub control: Option<ControlSetting>,
    /// Optimisation method.
    pub method: Option<optimise::Method>,
    /// When the optimisation stops.
    pub options: optimise::Options,
}

impl Specification {
    /// The built-in problem of a model.
    pub fn of(model: &str) -> Self {
        Specification { model: model.to_string(), ..Specification::default() }
    }

    /// The built-in scenario with this specification's settings.
    ///
    /// # Errors
    /// An unknown output or parameter.
    pub fn scenario(&self, entry: &Entry) -> Result<Scenario> {
        for setting in &self.parameters {
            entry.system.signature().parameter_index(&setting.name)?;
        }
        let mut scenario = entry.scenario.clone();
        scenario.step = self.step.unwrap_or(scenario.step);
        scenario.end = self.end.unwrap_or(scenario.end);
        scenario.integrator.choose(self.scheme.as_deref(), &self.scheme_settings)?;
        scenario.integrator.initial_state = self.initial_state.unwrap_or(scenario.integrator.initial_state);
        if let Some(hold) = self.hold.as_ref().filter(|hold| !hold.is_empty()) {
            let asked = self.initial_state.unwrap_or(InitialState::Projected);
            if asked != InitialState::Projected {
                let problem = format!("nothing moves onto the constraints at a start {}", asked.name());
                return Err(Error::invalid(
                    "the coordinates to hold",
                    problem,
                    "ask for a projected start, or hold none",
                ));
            }
            scenario.integrator.initial_state = asked;
            scenario.integrator.hold.clone_from(hold);
        }
        scenario.quadrature = self.quadrature.unwrap_or(scenario.quadrature);
        scenario.noise = self.synthetic_noise.clone().or(scenario.noise);
        if let Some(outputs) = &self.compare {
            for (k, output) in outputs.iter().enumerate() {
                entry.system.signature().output_index(output)?;
                if outputs[..k].contains(output) {
                    let problem = format!("`{output}` is named twice");
                    return Err(Error::invalid("the outputs to compare", problem, "name each once"));
                }
            }
            scenario.outputs = outputs.clone();
        }
        Ok(scenario)
    }

    /// Builds the problem: reads the record, lays the time grid, sets parameters.
    ///
    /// # Errors
    /// Whatever is wrong with the model's name, the record, the settings or the parameters, in a sentence.
    pub fn build(&self, registry: &Registry) -> Result<Problem> {
        Ok(self.build_with_notes(registry)?.0)
    }

    /// As [`Specification::build`], with a sentence on each thing that was assumed and may surprise.
    ///
    /// # Errors
    /// As [`Specification::build`].
    pub fn build_with_notes(&self, registry: &Registry) -> Result<(Problem, Vec<String>)> {
        let mut notes = Vec::new();
        let entry = registry.get(&self.model)?;
        let scenario = self.scenario(entry)?;
        let mut problem = match &self.data {
            None => {
                self.refuse_substeps()?;
                entry.problem(&scenario)?
            }
            Some(_) if self.synthetic_noise.is_some() => {
                let problem = "the reference is a record, which has its own";
                return Err(Error::invalid("synthetic noise", problem, "leave out the record or the noise"));
            }
            Some(source) => {
                let (simulation, cost, columns) = self.measured(entry, &scenario, source, &mut notes)?;
                let Some(cost) = cost else { return Err(Self::nothing_to_compare(entry, source, &columns)) };
                let start = entry.start(&scenario)?;
                Problem { start, ..Problem::new(entry.name(), simulation, Box::new(cost)) }
            }
        };
        let costs = problem.least_squares().unwrap_or_default();
        for added in costs.iter().flat_map(|cost| cost.added_noise()) {
            let AddedNoise { output, unit, deviation, seed } = added;
            let deviation = rounded(*deviation, 4);
            notes.push(format!("noise of standard deviation {deviation} {unit} (seed {seed}) is added to `{output}`"));
        }
        for setting in &self.parameters {
            for k in problem.places(&setting.name)? {
                setting.apply(&mut problem.parameters[k], &mut problem.start[k]);
            }
        }
        for setting in &self.constraints {
            let constraint = setting.resolve(entry.system.signature())?;
            if constraint.unit.is_empty() && setting.terms.len() > 1 {
                notes.push(format!("constraint `{}` adds up parameters in different units", constraint.name));
            }
            problem.constraints.push(constraint);
        }
        problem.validate()?;
        Ok((problem, notes))
    }

    /// That a problem of control has nothing in it that would be overlooked.
    pub(crate) fn refuse_identification(&self) -> Result<()> {
        let refuse = |what: &str, remedy: &str| {
            Err(Error::invalid(what, "it belongs to an identification; control would overlook it", remedy))
        };
        if !self.constraints.is_empty() {
            return refuse("[[constraint]]", "write a [[control.goal]] with must = true");
        }
        if self.compare.is_some() || self.noise.is_some() || self.synthetic_noise.is_some() {
            return refuse("[cost]", "leave out outputs and noise; goals are [[control.goal]]");
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
        let mut notes = Vec::new();
        let entry = registry.get(&self.model)?;
        let scenario = self.scenario(entry)?;
        let (simulation, measured) = match &self.data {
            None => {
                self.refuse_substeps()?;
                (entry.simulation(&scenario)?, None)
            }
            Some(source) => {
                let (simulation, measured, _) = self.measured(entry, &scenario, source, &mut notes)?;
                (simulation, measured)
            }
        };
        Ok((simulation, measured, notes))
    }

    /// That none of the record's `columns` is named like an output.
    fn nothing_to_compare(entry: &Entry, source: &DataSource, columns: &[String]) -> Error {
        let signature = entry.system.signature();
        let names = |names: Vec<&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let problem = format!(
            "no column is named like an output of {} ({}); there are: {}",
            signature.place(),
            names(signature.outputs.iter().map(|q| &q.name).collect()),
            names(columns.iter().collect())
        );
        let remedy = "rename a column, or map it in a problem file: [data.outputs.NAME] column = ..";
        Error::file(&source.file, None, problem, remedy)
    }

    fn refuse_substeps(&self) -> Result<()> {
        match self.substeps {
            None => Ok(()),
            Some(_) => {
                let problem = "there is no record whose samples they could divide";
                Err(Error::invalid("substeps", problem, "give `step` instead, or a record"))
            }
        }
    }

    /// A simulation with the record's inputs, the comparison with its outputs if it has any, and the names of its columns (the record
    /// may be a pipe, which is read once).
    fn measured(
        &self,
        entry: &Entry,
        scenario: &Scenario,
        source: &DataSource,
        notes: &mut Vec<String>,
    ) -> Result<(Simulation, Option<LeastSquares>, Vec<String>)> {
        let file = &source.file;
        let record = Record::read_csv(file)?;
        let time = time_column(&record, source)?;
        let axis = record.time(time)?;
        let window = window(&axis, source)?;
        let times = &axis.times()[window.clone()];
        if let Some(end) = self.end {
            let last = times[times.len() - 1];
            let gap = (end - last) / axis.mean_step();
            if gap.is_nan() || gap.abs() > 1e-3 {
                let relation = if gap > 0.0 { "ends before the simulation" } else { "goes on after the simulation" };
                let problem = format!("the record {relation}: at {last} s against {end} s");
                let remedy = "leave out `end`, or choose the samples with `from` and `until`";
                return Err(Error::file(&source.file, None, problem, remedy));
            }
        }
        let grid = self.grid(&axis, times, file)?;
        let substeps = grid.count() / (times.len() - 1);
        let signature = entry.system.signature();
        let named_like = |quantities: &[Quantity]| {
            let found = quantities.iter().map(|q| Ok(columns::find(&record, file, &q.name, &q.unit)?.map(|_| q)));
            found.filter_map(Result::transpose).map(|q| Ok(q?.name.clone())).collect::<Result<Vec<_>>>()
        };
        let mut used = vec![time];
        let mut signals = scenario.signals.clone();
        let inputs = match &source.inputs {
            Some(inputs) => inputs.clone(),
            None => {
                let interpolation = source.interpolation.unwrap_or(Interpolation::Linear);
                let column = |name: String| InputColumn { input: name.clone(), column: name, interpolation };
                named_like(&signature.inputs)?.into_iter().map(column).collect()
            }
        };
        for InputColumn { input, column, interpolation } in &inputs {
            let k = signature.input_index(input)?;
            let Column { name, values } = columns::get(&record, file, column, &signature.inputs[k].unit)?;
            signals[k] = Signal::sampled(axis.times(), values, *interpolation).map_err(|error| match error {
                Error::Invalid { problem, remedy, .. } => {
                    Error::file(file, None, format!("column `{name}` for input `{input}`: {problem}"), remedy)
                }
                other => other,
            })?;
            used.push(name);
        }
        let outputs = match &source.outputs {
            Some(outputs) => outputs.clone(),
            None => {
                let column = |name: String| OutputColumn { output: name.clone(), column: name, deviation: 1.0 };
                named_like(&signature.outputs)?.into_iter().map(column).collect()
            }
        };
        let references = outputs
            .iter()
            .map(|OutputColumn { output, column, deviation }| {
                let k = signature.output_index(output)?;
                if !(deviation.is_finite() && *deviation > 0.0) {
                    let problem = format!("residuals cannot be divided by {deviation}");
                    return Err(Error::invalid(format!("deviation of output `{output}`"), problem, "give one > 0"));
                }
                let Column { name, values } = columns::get(&record, file, column, &signature.outputs[k].unit)?;
                used.push(name);
                Ok(Reference { output: k, values: values[window.clone()].to_vec(), deviation: *deviation })
            })
            .collect::<Result<Vec<_>>>()?;
        let unused = record.names().iter().filter(|name| !used.contains(&name.as_str()));
        let unused = unused.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        for input in signature.inputs.iter().filter(|q| !inputs.iter().any(|column| column.input == q.name)) {
            let name = &input.name;
            if source.inputs.is_none() {
                let left = if unused.is_empty() { String::new() } else { format!(" (columns without use: {unused})") };
                let problem = format!("no column drives input `{name}`{left}");
                let remedy = format!(
                    "rename a column, or map it in a problem file: [data.inputs.{name}] column = ..; with an empty \
                     [data.inputs] the model's own signal drives it"
                );
                return Err(Error::file(file, None, problem, remedy));
            }
            notes.push(format!("no column drives input `{name}`: the model's own signal does"));
        }
        let list = |names: Vec<String>| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        notes.push(format!(
            "{}: {} samples from {} s to {} s, {}; inputs: {}; compared: {}; columns without use: {}",
            file.display(),
            times.len(),
            shown(times[0]),
            shown(times[times.len() - 1]),
            if axis.is_even() { format!("{} s apart", shown(axis.mean_step())) } else { "unevenly spaced".to_string() },
            list(inputs.iter().map(|c| format!("{} from `{}` ({})", c.input, c.column, c.interpolation)).collect()),
            list(outputs.iter().map(|c| format!("{} with `{}`", c.output, c.column)).collect()),
            if unused.is_empty() { "none" } else { &unused },
        ));
        if outputs.len() > 1 && outputs.iter().all(|c| c.deviation == 1.0) {
            let units: Vec<&str> = references.iter().map(|r| signature.outputs[r.output].unit.as_str()).collect();
            if units.iter().any(|unit| *unit != units[0]) {
                let first = |&(k, unit): &(usize, &&str)| !units[..k].contains(unit);
                let units: Vec<&str> = units.iter().enumerate().filter(first).map(|(_, unit)| *unit).collect();
                notes.push(format!(
                    "residuals in {} are added up as plain numbers: weigh them with `deviation` in a problem file",
                    units.join(" and ")
                ));
            }
        }
        let integrator = self.integrator(scenario, &grid, !signature.constraints.is_empty(), notes)?;
        let simulation = integrator.simulation(entry.system.clone(), grid, signals)?;
        if references.is_empty() {
            return Ok((simulation, None, record.names().to_vec()));
        }
        // residuals of measurements are summed plainly, unless asked otherwise
        let quadrature = self.quadrature.unwrap_or(Quadrature::Unit);
        let cost = LeastSquares::new(times, references, substeps, quadrature)?;
        Ok((simulation, Some(cost), record.names().to_vec()))
    }

    /// The integrator: where nobody has named one and steps are uneven, one that stands them.
    fn integrator(
        &self,
        scenario: &Scenario,
        grid: &TimeGrid,
        constrained: bool,
        notes: &mut Vec<String>,
    ) -> Result<Integrator> {
        let mut integrator = scenario.integrator.clone();
        let is_free = self.scheme.is_none() && self.scheme_settings.is_empty() && grid.uniform_step().is_none();
        let own = scheme::by_name(&integrator.scheme, &integrator.settings)?;
        if let Some(trouble) = own.on_uneven_steps(constrained).filter(|_| is_free) {
            let other = scheme::for_uneven_steps(constrained);
            integrator.choose(Some(other), &[])?;
            notes.push(format!("steps are uneven, and under {} {trouble}: taking {other}", own.name()));
        }
        Ok(integrator)
    }

    /// The time grid through the samples.
    fn grid(&self, axis: &TimeAxis, times: &[f64], file: &Path) -> Result<TimeGrid> {
        let substeps = match (self.substeps, self.step) {
            (Some(0), _) => {
                let problem = "there are 0 between two samples";
                return Err(Error::invalid("substeps", problem, "use at least 1"));
            }
            (Some(substeps), None) => substeps,
            (None, None) => 1,
            (substeps, Some(step)) => {
                if !(step.is_finite() && step > 0.0) {
                    let problem = format!("{step} s is not positive");
                    return Err(Error::invalid("the time step", problem, "give a step > 0"));
                }
                let sampling = axis.sampling_step().map_err(|error| match error {
                    Error::File { path, line, problem, .. } => {
                        let remedy = "give `substeps` (steps between two samples) instead of a step, or resample";
                        Error::File { path, line, problem, remedy: remedy.to_string() }
                    }
                    other => other,
                })?;
                let ratio = sampling / step;
                let whole = ratio.round();
                if whole < 1.0 || (ratio - whole).abs() > 1e-6 * whole {
                    let problem =
                        format!("{step} s does not divide the sampling step {sampling} s of {}", file.display());
                    let fitting = sampling / ratio.ceil().max(1.0);
                    let remedy = format!("use {fitting} s, or give `substeps` (steps between two samples)");
                    return Err(Error::invalid("the time step", problem, remedy));
                }
                if substeps.is_some_and(|substeps| substeps as f64 != whole) {
                    let problem = format!("{step} s is {whole} substeps of the sampling step {sampling} s");
                    return Err(Error::invalid("`step` and `substeps`", problem, "give only one of them"));
                }
                whole as usize
            }
        };
        let what = format!("{substeps} steps between two of {} samples", times.len());
        grid::check_count((times.len() - 1) as f64 * substeps as f64, &what, "use fewer")?;
        if axis.is_even() {
            let count = (times.len() - 1) * substeps;
            return TimeGrid::steps(times[0], axis.mean_step() / substeps as f64, count);
        }
        TimeGrid::through(times, substeps)
    }
}
