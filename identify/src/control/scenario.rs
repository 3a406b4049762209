//! A control problem as a person states it, and the built-in ones.

use super::{Control, Source, UnknownSignal};
use crate::design::{Optimality, Sought as Information};
use crate::error::Locate;
use crate::optimise::Method;
use crate::registry::{CostFormulas, Registry};
use crate::specification::Samples;
use crate::{Error, Result};
use costate::cost::{Aim, Cost, Goal, Goals, LeastSquares, Quadrature, Reference, Sum};
use costate::least_squares::Reduction;
use costate::shown::shown;
use costate::{Interpolation, Parameter, Signal, Simulation};
use costate_data::Record;
use costate_data::clock::{Clock, clock};
use costate_data::columns::{self, Calibration, Sought};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Goals for the times of a grid, s.
pub type GoalsAt = Arc<dyn Fn(&[f64]) -> Vec<Goal> + Send + Sync>;

/// Default control problem of a model.
#[derive(Clone)]
pub struct ControlScenario {
    /// The inputs to begin with, one an input.
    pub start: Vec<Signal>,
    /// Signals that are to be found.
    pub signals: Vec<UnknownSignal>,
    /// Goals of the outputs.
    pub goals: GoalsAt,
    /// Other costs, by name.
    pub others: Vec<(String, Arc<dyn Cost>)>,
    /// Weights of sums over time.
    pub quadrature: Quadrature,
    /// Method by which the signals are searched.
    pub method: Method,
    /// The cost at which the search ends.
    pub target: f64,
    /// Information of the run that is sought besides goals.
    pub information: Option<InformationSetting>,
    /// Number of times that a solution is found once more with half the step.
    pub refinements: usize,
    /// Time step of the first search, s; otherwise that of the model's scenario.
    pub step: Option<f64>,
    /// Assumptions on records, in sentences.
    pub notes: Vec<String>,
}

impl ControlScenario {
    /// Finds these signals for these goals by Levenberg and Marquardt's method.
    pub fn new(
        start: Vec<Signal>,
        signals: Vec<UnknownSignal>,
        goals: impl Fn(&[f64]) -> Vec<Goal> + Send + Sync + 'static,
    ) -> Self {
        ControlScenario {
            start,
            signals,
            goals: Arc::new(goals),
            others: Vec::new(),
            quadrature: Quadrature::Trapezoid,
            method: Method::LevenbergMarquardt,
            target: f64::NEG_INFINITY,
            information: None,
            refinements: 0,
            step: None,
            notes: Vec::new(),
        }
    }

    /// The problem on the grid of `simulation`, every step divided into `parts`, from these inputs on.
    ///
    /// # Errors
    /// As [`Control::new`] and [`Goals::new`].
    pub fn control(&self, name: &str, simulation: &Simulation, parts: usize, start: Vec<Signal>) -> Result<Control> {
        let grid = match parts {
            1 => simulation.grid().clone(),
            parts => simulation.grid().divided(parts)?,
        };
        let simulation = simulation.on(grid, start)?;
        let goals = (self.goals)(simulation.grid().times());
        for (k, goal) in goals.iter().enumerate() {
            let checked = goal.check(simulation.signature());
            checked.map_err(|error| error.under(&["control", "goal", &(k + 1).to_string()]))?;
        }
        // other costs, and information, need none
        let goals = match goals.is_empty() && (!self.others.is_empty() || self.information.is_some()) {
            true => None,
            false => Some(Goals::new(simulation.signature(), goals, self.quadrature)),
        };
        let goals = goals.transpose().map_err(|error| error.under(&["control", "goal"]))?;
        let cost = Sum { goals, others: self.others.clone() };
        let mut control = Control::new(name, simulation, cost, self.signals.clone())?;
        if let Some(information) = &self.information {
            let sought = information.sought(&control.simulation, &control.free());
            let stated = |error: Error| error.under(&["control", "information"]);
            control = control.informed_by(sought.map_err(stated)?).map_err(stated)?;
        }
        Ok(control)
    }
}

/// Aim of an output, in a problem file.
#[derive(Debug, Clone, PartialEq)]
pub enum AimSetting {
    /// Follow a column of a record.
    Follow {
        /// The record.
        file: PathBuf,
        /// Name of the record's column.
        column: String,
        /// Calibration of the column's numbers.
        calibration: Calibration,
        /// The longest interval between two of its samples, s, where that is more than five usual ones.
        max_gap: Option<f64>,
    },
    /// Reach a value at the end.
    Reach(f64),
    /// Stay between two values.
    Within(f64, f64),
}

/// A goal in a problem file.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalSetting {
    /// The output.
    pub output: String,
    /// Aim of the output.
    pub aim: AimSetting,
    /// Weight of the goal.
    pub weight: f64,
    /// True for a requirement that must be met.
    pub must: bool,
}

/// Pairs of changes that a search remembers whose cost is no sum of squares.
const MEMORY: usize = 30;

/// Information that a run is to give, in a problem file.
#[derive(Debug, Clone, PartialEq)]
pub struct InformationSetting {
    /// Outputs that are measured, with the standard deviations of their noise.
    pub outputs: Vec<(String, f64)>,
    /// Time between two samples, s; otherwise the time step.
    pub sampling: Option<f64>,
    /// The parameters that are to be identified; otherwise all but those that are found with the signals.
    pub parameters: Option<Vec<String>>,
    /// Those of them that count; otherwise all.
    pub of: Option<Vec<String>>,
    /// Mean of the standard errors that counts.
    pub optimality: Optimality,
    /// Standard deviation of what is known of each parameter before, in its sizes; otherwise nothing is.
    pub known: Option<f64>,
    /// Weight beside goals.
    pub weight: f64,
}

impl InformationSetting {
    /// The information of a run of this simulation whose parameters at `found` are found with the signals.
    ///
    /// # Errors
    /// Unknown outputs or parameters, parameters without a size, a sampling that is no multiple of the step.
    pub fn sought(&self, simulation: &Simulation, found: &[usize]) -> Result<Information> {
        let (signature, grid) = (simulation.signature(), simulation.grid());
        let all = grid.times();
        let substeps = match self.sampling {
            None => 1,
            Some(sampling) => {
                let parts = grid.uniform_step().map_or(0.0, |step| sampling / step);
                let whole = parts.round();
                if whole < 1.0 || (parts - whole).abs() > 1e-6 * whole {
                    let problem = format!("{} s are no whole number of time steps", shown(sampling));
                    let error = Error::invalid("the sampling", problem, "give a multiple of the step");
                    return Err(error.under(&["sampling"]));
                }
                whole as usize
            }
        };
        let times: Vec<f64> = all.iter().step_by(substeps).copied().collect();
        let reference = |(name, deviation): &(String, f64)| {
            let output = signature.output_index(name).map_err(|error| Error::from(error).under(&["outputs", name]))?;
            Ok(Reference { output, values: vec![0.0; times.len()], deviation: *deviation })
        };
        let references = self.outputs.iter().map(reference).collect::<Result<Vec<_>>>()?;
        let measured = LeastSquares::new(&times, references, substeps, Quadrature::Unit)?;
        let is_sought = |(k, _): &(usize, &Parameter)| {
            !found.contains(k) && !signature.motions.iter().any(|motion| motion.places().contains(k))
        };
        let named = |key: &str, names: &[String]| -> Result<Vec<usize>> {
            let place =
                |name: &String| signature.parameter_index(name).map_err(|error| Error::from(error).under(&[key]));
            names.iter().map(place).collect()
        };
        let parameters = match &self.parameters {
            Some(names) => named("parameters", names)?,
            None => signature.parameters.iter().enumerate().filter(is_sought).map(|(k, _)| k).collect(),
        };
        let names: Vec<&str> = parameters.iter().map(|&k| signature.parameters[k].name.as_str()).collect();
        let mut sought = Information::new(signature, measured, &names)?.optimal(self.optimality);
        sought.weight = self.weight;
        if let Some(of) = &self.of {
            let place = |k: usize| {
                parameters.iter().position(|&own| own == k).ok_or_else(|| {
                    let what = format!("parameter `{}`", signature.parameters[k].name);
                    let remedy = "name it in `parameters`, too";
                    Error::invalid(what, "it counts, and is not to be identified", remedy).under(&["of"])
                })
            };
            sought.of = named("of", of)?.into_iter().map(place).collect::<Result<_>>()?;
        }
        if let Some(known) = self.known {
            let mut before = Reduction::new(names.len());
            for k in 0..names.len() {
                let row: Vec<f64> = (0..names.len()).map(|j| if j == k { known.recip() } else { 0.0 }).collect();
                before.add(&row, 0.0);
            }
            sought.before = Some(before.finish());
        }
        Ok(sought)
    }
}

/// A control problem in a problem file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ControlSetting {
    /// Signals that are to be found, each with the constant that it starts from, if that is given.
    pub signals: Vec<(UnknownSignal, Option<f64>)>,
    /// Goals of the outputs.
    pub goals: Vec<GoalSetting>,
    /// Information of the run that is sought besides goals.
    pub information: Option<InformationSetting>,
    /// A cost by formulas, besides goals.
    pub cost: CostFormulas,
    /// Number of times that a solution is found once more with half the step.
    pub refinements: Option<usize>,
}

impl ControlSetting {
    /// Control problem with the inputs of a simulation where nothing else is said; records are read here, and formulas by the registry.
    ///
    /// # Errors
    /// Unknown inputs and columns, records that cannot be read or do not cover the run, slips in formulas.
    pub fn scenario(&self, simulation: &Simulation, registry: &Registry) -> Result<ControlScenario> {
        let signature = simulation.signature();
        let mut start = simulation.signals().to_vec();
        for (k, (signal, value)) in self.signals.iter().enumerate() {
            let stated = |error: Error| error.under(&["control", "signal", &(k + 1).to_string()]);
            match (Source::of(signature, &signal.input).map_err(stated)?, value) {
                (Source::Input(input), Some(value)) => start[input] = Signal::constant(*value),
                (Source::Motion(..), Some(_)) => {
                    let what = format!("the start of the motion `{}`", signal.input);
                    let remedy = "leave it out, or give starts of its parameters in [parameters]";
                    return Err(stated(Error::invalid(what, "a motion begins as its parameters say", remedy)));
                }
                (_, None) => {}
            }
        }
        let mut goals: Vec<(Goal, Option<Signal>)> = Vec::new();
        let mut notes = Vec::new();
        for (k, GoalSetting { output, aim, weight, must }) in self.goals.iter().enumerate() {
            let (aim, path) = match aim {
                AimSetting::Reach(value) => (Aim::Reach(*value), None),
                AimSetting::Within(lower, upper) => (Aim::Within { lower: *lower, upper: *upper }, None),
                AimSetting::Follow { file, column, calibration, max_gap } => {
                    let quantity = signature.output_index(output).map_err(|error| error.under(&["output"]));
                    // whatever is wrong with the record, the line that names it is the place
                    let path = quantity.and_then(|_| {
                        let path = path(simulation, output, file, (column, calibration, *max_gap));
                        path.map_err(|error| error.under(&["follow"]))
                    });
                    let (path, own) = path.map_err(|error| error.under(&["control", "goal", &(k + 1).to_string()]))?;
                    notes.extend(own);
                    (Aim::Follow(Vec::new()), Some(path))
                }
            };
            goals.push((Goal { output: output.clone(), aim, weight: *weight, must: *must }, path));
        }
        if self.signals.is_empty() || (goals.is_empty() && self.information.is_none() && self.cost.is_empty()) {
            let problem = "it needs at least one signal to be found, and one goal, a formula of a cost, or information";
            let remedy = "add [[control.signal]] with an input, and [[control.goal]] with an output, integral = \"FORMULA\" or [control.information]";
            return Err(Error::invalid("[control]", problem, remedy).under(&["control"]));
        }
        let signals = self.signals.iter().map(|(signal, _)| signal.clone()).collect();
        let mut scenario = ControlScenario::new(start, signals, move |times| {
            let goal = |(goal, path): &(Goal, Option<Signal>)| match path {
                None => goal.clone(),
                Some(path) => Goal { aim: Aim::Follow(times.iter().map(|t| path.value(*t)).collect()), ..goal.clone() },
            };
            goals.iter().map(goal).collect()
        });
        scenario.refinements = self.refinements.unwrap_or(0);
        scenario.information.clone_from(&self.information);
        if !self.cost.is_empty() {
            let cost = registry.cost(signature, &self.cost, 1.0).map_err(|error| error.under(&["control"]))?;
            scenario.others.push((self.cost.to_string(), Arc::from(cost)));
        }
        if self.information.is_some() || !self.cost.is_empty() {
            // the cost is no sum of squares
            scenario.method = Method::LBfgs { memory: MEMORY };
        }
        scenario.notes = notes;
        Ok(scenario)
    }
}

/// The path that an output is to follow, and what was assumed of it.
fn path(
    simulation: &Simulation,
    output: &str,
    file: &Path,
    (column, calibration, max_gap): (&str, &Calibration, Option<f64>),
) -> Result<(Signal, Vec<String>)> {
    let (signature, times) = (simulation.signature(), simulation.grid().times());
    let record = Record::read(file)?;
    let Clock { axis, note, .. } = clock(&record, file, None, None)?;
    let quantity = &signature.outputs[signature.output_index(output)?];
    let sought = Sought { column, calibration: Some(calibration), ..Sought::named(&quantity.name, &quantity.unit) };
    let found = columns::find(&record, file, &sought)?.ok_or_else(|| columns::missing(&record, file, column))?;
    let samples = Samples::of(&found, &axis);
    if samples.has_holes && (max_gap.is_none() || samples.times.is_empty()) {
        record.column(found.name)?;
    }
    let mut notes: Vec<String> = note.into_iter().chain(found.note).collect();
    notes.extend(samples.sparse(Interpolation::Linear, "")?);
    if !axis.is_even() {
        notes.push(format!("{}: {} samples, {}", file.display(), axis.len(), axis.spacing()));
    }
    let run = (times[0], times[times.len() - 1]);
    let (gaps, allowed) = samples.gaps(max_gap, run, Interpolation::Linear);
    if !gaps.is_empty() {
        let place = format!("column `{}`, which output `{output}` is to follow,", samples.name);
        let longest = gaps.iter().fold(0.0f64, |longest, (from, to)| longest.max(to - from));
        let remedy = format!(
            "write the path there, too, or say max_gap = {} in [[control.goal]], if a straight line is meant",
            shown(longest)
        );
        return Err(Error::file(file, None, samples.without(&place, &gaps), remedy));
    }
    notes.extend(allowed);
    let path = Signal::sampled(&samples.times, &samples.values, Interpolation::Linear)?;
    path.covers(run.0, run.1).map_err(|error| match error {
        costate::Error::Invalid { problem, remedy, .. } => {
            costate::Error::Invalid { what: format!("column `{column}` of {}", file.display()), problem, remedy }
        }
        other => other,
    })?;
    Ok((path, notes))
}
