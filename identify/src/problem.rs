//! Experiments, each a simulation with a cost, and parameters to be found: what gradients, checks and identifications work on.

use crate::constraint::Constraint;
use crate::ensemble::Ensemble;
use crate::error::Locate;
use crate::likelihood::UnknownDeviation;
use crate::linear_record::LinearRecord;
use crate::modal::MeasuredMode;
use crate::prior::Prior;
use crate::response::MeasuredResponse;
use crate::{Error, Result};
use costate::cost::{Cost, LeastSquares, Quadrature, Reference, Sensors};
use costate::noise::SyntheticNoise;
use costate::sensitivity::Gradient;
use costate::system::{Equations, Evaluator, Point, System};
use costate::{InitialState, Parameter, Signal, Simulation, TimeGrid, Trajectory, scheme};
use std::sync::Arc;

/// Settings of the time integrator.
#[derive(Debug, Clone, PartialEq)]
pub struct Integrator {
    /// The scheme's name, see [`scheme::names`].
    pub scheme: String,
    /// Settings of the scheme, by name, where they are not its own.
    pub settings: Vec<(String, f64)>,
    /// Initial state of simulations.
    pub initial_state: InitialState,
    /// Coordinates that a projected start keeps ([`Simulation::hold`]).
    pub hold: Vec<String>,
    /// Bytes for the states of a run, where derivatives may not take the usual part of the memory ([`Simulation::memory`]).
    pub memory: Option<f64>,
    /// The error that steps may make, in the place of even steps ([`Simulation::controlled`]).
    pub tolerance: Option<f64>,
}

impl Default for Integrator {
    /// Generalized-α: of second order in accelerations and multipliers, too, from the first step on.
    fn default() -> Self {
        let (initial_state, hold) = (InitialState::AsGiven, Vec::new());
        let (memory, tolerance) = (None, None);
        Integrator { scheme: "generalized-alpha".into(), settings: Vec::new(), initial_state, hold, memory, tolerance }
    }
}

impl std::fmt::Display for Integrator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match scheme::by_name(&self.scheme, &self.settings) {
            Ok(scheme) => f.write_str(&scheme::in_words(&*scheme)),
            Err(_) => f.write_str(&self.scheme),
        }
    }
}

impl Integrator {
    /// HHT with this α. With α = 0 the multipliers and accelerations of a constrained mechanism oscillate without damping from step to
    /// step and may grow: use it without constraints only.
    pub fn hht(alpha: f64) -> Self {
        Integrator { scheme: "hht".into(), settings: vec![("alpha".into(), alpha)], ..Integrator::default() }
    }

    /// Chooses another scheme, if a name is given, or if a setting is one of another scheme; and other settings. What was set before is kept where
    /// the scheme has such a setting.
    ///
    /// # Errors
    /// A scheme that does not exist.
    pub(crate) fn choose(&mut self, scheme: Option<&str>, settings: &[(String, f64)]) -> Result<()> {
        let asked = settings.iter().find(|(setting, _)| !scheme::has_setting(&self.scheme, setting));
        let meant =
            asked.and_then(|(setting, _)| scheme::names().into_iter().find(|name| scheme::has_setting(name, setting)));
        if let Some(name) = scheme.or(meant) {
            let own = scheme::by_name(name, &[])?.settings();
            self.settings.retain(|(setting, _)| own.iter().any(|(own, _)| own == setting));
            self.scheme = name.into();
        }
        for (name, value) in settings {
            self.settings.retain(|(own, _)| own != name);
            self.settings.push((name.clone(), *value));
        }
        Ok(())
    }

    /// A simulation with these settings.
    ///
    /// # Errors
    /// A scheme or settings that do not exist or make no sense, or signals that do not fit.
    pub fn simulation(&self, system: Arc<dyn System>, grid: TimeGrid, signals: Vec<Signal>) -> Result<Simulation> {
        let scheme = scheme::by_name(&self.scheme, &self.settings)?;
        let simulation = Simulation::new(system, scheme, grid, signals)?;
        let simulation = simulation.initial_state(self.initial_state).hold(&self.hold)?;
        Ok(self.memory.map_or(Ok(simulation.clone()), |bytes| simulation.memory(bytes))?)
    }
}

/// The name of a local parameter or of an output without that of its experiment: `a` of `a@fast`.
pub fn base_name(name: &str) -> &str {
    name.split_once('@').map_or(name, |(base, _)| base)
}

/// One run of the machine, and what it is compared with.
pub struct Experiment {
    /// Name of the experiment.
    pub name: String,
    /// The simulation.
    pub simulation: Simulation,
    /// The cost that is minimised.
    pub cost: Box<dyn Cost>,
    /// Places of the model's parameters among those of the problem, and then of those of its sensors ([`Cost::sensors`]).
    pub places: Vec<usize>,
}

impl Experiment {
    /// One whose parameters are those of the problem.
    pub fn new(name: impl Into<String>, simulation: Simulation, cost: Box<dyn Cost>) -> Self {
        let places = Vec::new();
        let experiment = Experiment { name: name.into(), simulation, cost, places };
        Experiment { places: (0..experiment.own_parameters().count()).collect(), ..experiment }
    }

    /// The model's parameters, of those of the problem.
    pub fn own(&self, u: &[f64]) -> Vec<f64> {
        let count = self.simulation.signature().parameters.len();
        self.places.iter().take(count).map(|&place| u[place]).collect()
    }

    /// Its cost at `u`, the problem's parameters, without those of priors.
    ///
    /// # Errors
    /// As [`Gradient::cost`].
    pub fn cost_at(&self, u: &[f64]) -> Result<f64> {
        let mut gradient = Gradient::new(&self.simulation, &*self.cost)?;
        gradient.cost(&self.own(u)).map_err(|error| Error::from(error).in_experiment(&self.name))
    }

    /// Values of an output as its sensor shows them, of a run at `u`, the problem's parameters.
    pub fn shown(&self, run: &Trajectory, u: &[f64], output: usize) -> Vec<f64> {
        self.as_shown(output, run.output(output), u)
    }

    /// Values of an output as its sensor shows them, of those of the model at all times of the grid.
    pub fn as_shown(&self, output: usize, y: Vec<f64>, u: &[f64]) -> Vec<f64> {
        match self.cost.sensors() {
            Some(sensors) => sensors.shown(output, self.simulation.grid().times(), y, &self.of_sensors(u)),
            None => y,
        }
    }

    /// The sensors' parameters, of those of the problem.
    pub fn of_sensors(&self, u: &[f64]) -> Vec<f64> {
        let first = self.simulation.signature().parameters.len();
        self.places.iter().skip(first).map(|&place| u[place]).collect()
    }

    /// Parameters of the model, and those of its sensors.
    fn own_parameters(&self) -> impl Iterator<Item = &Parameter> {
        let sensors = self.cost.sensors().map_or(&[][..], Sensors::parameters);
        self.simulation.signature().parameters.iter().chain(sensors)
    }
}

/// Experiments with one model, and its parameters with their starts. Every parameter is shared by all experiments unless it is local: then
/// each has its own, called `NAME@EXPERIMENT`.
pub struct Problem {
    /// Name for reports.
    pub name: String,
    /// Experiments that are fitted, one at least; the first ones' parameters come first.
    pub experiments: Vec<Experiment>,
    /// Experiments that are compared, but not fitted.
    pub validation: Vec<Experiment>,
    /// All parameters: those of the model, in its order, as the first experiment has them; those of its sensors; then those that the
    /// others have for themselves. Bounds, scale and
    /// freedom are as this problem wants them.
    pub parameters: Vec<Parameter>,
    /// Values where an identification starts, one a parameter.
    pub start: Vec<f64>,
    /// The parameters that made the reference, where known.
    pub optimum: Option<Vec<f64>>,
    /// Constraints that an identification must keep to; outputs are those of the first experiment.
    pub constraints: Vec<Constraint>,
    /// Sensors whose noise is estimated together with the parameters ([`Problem::estimate_deviation`]).
    pub unknown_deviations: Vec<UnknownDeviation>,
    /// Priors of parameters, one a parameter at most ([`Problem::with_prior`]).
    pub priors: Vec<Prior>,
    /// Measured quantities of modes ([`Problem::with_mode`]).
    pub modes: Vec<MeasuredMode>,
    /// Measured frequency responses ([`Problem::with_response`]).
    pub responses: Vec<MeasuredResponse>,
    /// A record of the residuals for fits again and again, of whoever has made it and knows that it still holds; mostly none.
    pub record: Option<Arc<LinearRecord>>,
}

impl Problem {
    /// One experiment that starts at the model's nominal values.
    pub fn new(name: impl Into<String>, simulation: Simulation, cost: Box<dyn Cost>) -> Self {
        let name = name.into();
        let first = Experiment::new(name.clone(), simulation, cost);
        let parameters: Vec<Parameter> = first.own_parameters().cloned().collect();
        let start = parameters.iter().map(|parameter| parameter.nominal).collect();
        let experiments = vec![first];
        let (validation, constraints) = (Vec::new(), Vec::new());
        Problem {
            name,
            experiments,
            validation,
            parameters,
            start,
            optimum: None,
            constraints,
            unknown_deviations: Vec::new(),
            priors: Vec::new(),
            modes: Vec::new(),
            responses: Vec::new(),
            record: None,
        }
    }

    /// Adds an experiment with the same model; of the parameters that are `local` it has its own, which start where those of the first experiment do.
    ///
    /// # Errors
    /// Another model, a name that is taken, or local parameters that the model does not have.
    pub fn with_experiment(mut self, experiment: Experiment, local: &[&str]) -> Result<Self> {
        self.add_experiment(experiment, local)?;
        Ok(self)
    }

    pub(crate) fn add_experiment(&mut self, experiment: Experiment, local: &[&str]) -> Result<()> {
        let places = self.places_of(&experiment, local)?;
        self.experiments.push(Experiment { places, ..experiment });
        Ok(())
    }

    /// Adds an experiment that is compared with the result, and not fitted.
    ///
    /// # Errors
    /// As [`Problem::with_experiment`].
    pub fn with_validation(mut self, experiment: Experiment, local: &[&str]) -> Result<Self> {
        let places = self.places_of(&experiment, local)?;
        self.validation.push(Experiment { places, ..experiment });
        self.hold_what_is_not_fitted();
        Ok(self)
    }

    /// Fixes local parameters of experiments that are compared only, and drops their priors: nothing that is fitted depends on them.
    pub(crate) fn hold_what_is_not_fitted(&mut self) {
        for place in 0..self.parameters.len() {
            self.parameters[place].free &= self.experiments.iter().any(|experiment| experiment.places.contains(&place));
        }
        let experiments = &self.experiments;
        self.priors.retain(|prior| experiments.iter().any(|own| own.places.contains(&prior.parameter)));
    }

    fn places_of(&mut self, experiment: &Experiment, local: &[&str]) -> Result<Vec<usize>> {
        let place = format!("experiment `{}`", experiment.name);
        let signature = self.first().simulation.signature();
        let other = experiment.simulation.signature();
        let same = signature.parameters.iter().map(|p| &p.name).eq(other.parameters.iter().map(|p| &p.name));
        if signature.name != other.name || !same {
            let problem = format!("it is one of {}, the first is one of {}", other.place(), signature.place());
            return Err(Error::invalid(place, problem, "take one model for all experiments of a problem"));
        }
        // files of some systems do not tell capitals apart
        if self.all().any(|known| known.name.to_lowercase() == experiment.name.to_lowercase()) {
            return Err(Error::invalid(place, "there are two of this name", "give each experiment its own `name`"));
        }
        let known = || self.all().chain([experiment]).flat_map(Experiment::own_parameters).map(|p| p.name.as_str());
        if let Some(name) = local.iter().find(|name| !known().any(|known| known == **name)) {
            return Err(Error::unknown("parameter", name, signature.place(), known()));
        }
        let mut places = Vec::new();
        let of_model = signature.parameters.len();
        for (k, own) in experiment.own_parameters().enumerate() {
            let is_local = local.contains(&&*own.name);
            let place = match (self.shared_place(&own.name), is_local) {
                (Some((_, place)), false) => {
                    // bounds of a delay are those of all records
                    let shared = &mut self.parameters[place];
                    if k >= of_model {
                        (shared.lower, shared.upper) = (shared.lower.max(own.lower), shared.upper.min(own.upper));
                    }
                    place
                }
                (found, _) => {
                    let mut new = own.clone();
                    let mut start = own.nominal;
                    if let Some((other, place)) = found {
                        new.clone_from(&self.parameters[place]);
                        start = self.start[place];
                        self.parameters[place].name = format!("{}@{}", own.name, self.nth(other).name);
                    }
                    new.name = if is_local { format!("{}@{}", own.name, experiment.name) } else { own.name.clone() };
                    self.parameters.push(new);
                    self.start.push(start);
                    self.parameters.len() - 1
                }
            };
            places.push(place);
        }
        Ok(places)
    }

    /// The first experiment that has a parameter of this name, and the parameter's place.
    fn shared_place(&self, name: &str) -> Option<(usize, usize)> {
        self.all().enumerate().find_map(|(number, experiment)| {
            let own = experiment.own_parameters().position(|own| own.name == name)?;
            Some((number, experiment.places[own]))
        })
    }

    fn nth(&self, number: usize) -> &Experiment {
        match number.checked_sub(self.experiments.len()) {
            None => &self.experiments[number],
            Some(number) => &self.validation[number],
        }
    }

    /// The first experiment.
    pub fn first(&self) -> &Experiment {
        // there is one from the beginning, and none is ever removed
        &self.experiments[0]
    }

    /// All experiments, those for validation last.
    pub fn all(&self) -> impl Iterator<Item = &Experiment> {
        self.experiments.iter().chain(&self.validation)
    }

    /// Places of the parameter of this name; of a local one without its experiment's name, those of all experiments.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`] with the nearest known name.
    pub fn places(&self, name: &str) -> Result<Vec<usize>> {
        let names = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        if let Some(place) = names().position(|own| own == name) {
            return Ok(vec![place]);
        }
        let is_meant = |own: &str| base_name(own) == name;
        let found: Vec<usize> = names().enumerate().filter(|(_, own)| is_meant(own)).map(|(place, _)| place).collect();
        if found.is_empty() {
            return Err(Error::unknown("parameter", name, self.first().simulation.signature().place(), names()));
        }
        Ok(found)
    }

    /// Name of something of an experiment: `NAME@EXPERIMENT` where there are several.
    pub fn name_in(&self, experiment: &Experiment, name: &str) -> String {
        if self.all().nth(1).is_none() { name.to_string() } else { format!("{name}@{}", experiment.name) }
    }

    /// True if no experiment that is fitted integrates anything, so that steps make no errors.
    pub fn is_of_given_motions(&self) -> bool {
        self.experiments.iter().all(|experiment| experiment.simulation.scheme().description().of_given_motion)
    }

    /// Time steps of all experiments that are fitted.
    pub fn steps(&self) -> usize {
        self.experiments.iter().map(|experiment| experiment.simulation.steps()).sum()
    }

    /// The costs of all experiments as sums of squares, if all are.
    pub fn least_squares(&self) -> Option<Vec<&LeastSquares>> {
        self.experiments.iter().map(|experiment| experiment.cost.as_least_squares()).collect()
    }

    /// A least-squares problem whose reference is a simulation at `optimum`.
    ///
    /// # Errors
    /// If that simulation fails, or an output is unknown.
    pub fn synthetic(
        name: &str,
        simulation: Simulation,
        optimum: &[f64],
        start: &[f64],
        outputs: &[&str],
        quadrature: Quadrature,
    ) -> Result<Self> {
        let places = outputs.iter().map(|output| simulation.signature().output_index(output));
        let places = places.collect::<costate::Result<Vec<usize>>>()?;
        let values = simulation.outputs(optimum, &places)?;
        let references = places.into_iter().zip(values);
        let references = references.map(|(output, values)| Reference { output, values, deviation: 1.0 }).collect();
        let cost = LeastSquares::new(simulation.grid().times(), references, 1, quadrature)?;
        let optimum = Some(optimum.to_vec());
        Ok(Problem { start: start.to_vec(), optimum, ..Problem::new(name, simulation, Box::new(cost)) })
    }

    /// The problem with noise on its reference.
    ///
    /// # Errors
    /// If the cost is no sum of squares, or as [`LeastSquares::with_noise`].
    pub fn with_noise(mut self, noise: &SyntheticNoise) -> Result<Self> {
        for Experiment { simulation, cost, .. } in &mut self.experiments {
            let Some(clean) = cost.as_least_squares() else {
                let subject = format!("problem `{}`", self.name);
                return Err(Error::invalid(subject, "noise needs references", "give a least-squares cost"));
            };
            *cost = Box::new(clean.clone().with_noise(noise, simulation.signature())?);
        }
        Ok(self)
    }

    /// Evaluates cost and gradient again and again, with respect to all parameters. Fixed ones that a start as given does not follow
    /// are left out ([`Ensemble::left_out`]).
    ///
    /// # Errors
    /// If a cost does not go with its simulation.
    pub fn gradient(&self) -> Result<Ensemble<'_>> {
        Ok(Ensemble::new(self)?.leaving_out_inconsistent(|k| !self.parameters[k].free))
    }

    /// Evaluator of cost and gradient with respect to the free parameters alone: derivatives by the others are zero.
    pub fn gradient_by_free(&self) -> Result<Ensemble<'_>> {
        Ensemble::by_parameters(self, &self.free())
    }

    /// Places of the parameters that an identification changes.
    pub fn free(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&k| self.parameters[k].free).collect()
    }

    /// True if free parameters say where an experiment begins, and nothing else; with what to do where its record begins elsewhere than the model.
    pub fn remedy_of_start(&self, experiment: &Experiment) -> (bool, String) {
        let simulation = &experiment.simulation;
        let own = experiment.own(&self.start);
        let mut evaluator = simulation.system().evaluator();
        let (count, rows) = (simulation.signature().unknown_count(), simulation.signature().constraints.len());
        let [mut q, mut v] = [vec![0.0; count], vec![0.0; count]];
        evaluator.set_parameters(&own);
        evaluator.initial(&mut q, &mut v);
        // beside it, as much may be zero there
        q.iter_mut().chain(&mut v).enumerate().for_each(|(k, x)| *x += 1e-3 + 1e-4 * k as f64);
        let (a, lambda) = (vec![0.7; count], vec![0.3; rows]);
        let (t, w) = (simulation.grid().times()[0], simulation.inputs_at(0));
        let point = Point { t, q: &q, v: &v, a: &a, lambda: &lambda, w };
        let equations = |evaluator: &mut dyn Evaluator, u: &[f64]| {
            let [mut dynamics, mut constraint] = [vec![0.0; count], vec![0.0; rows]];
            evaluator.set_parameters(u);
            evaluator.residual(&point, Equations::MOTION, &mut dynamics, &mut constraint);
            [dynamics, constraint]
        };
        let before = equations(&mut *evaluator, &own);
        // what is in the equations is found by them, and is not what says where a record begins
        let mut says_where = |k: &usize| {
            let [mut direction, mut changed] = [vec![0.0; own.len()], own.clone()];
            direction[*k] = 1.0;
            changed[*k] += 0.01 * self.size(experiment.places[*k]);
            let [mut q, mut v] = [vec![0.0; count], vec![0.0; count]];
            evaluator.set_parameters(&own);
            evaluator.initial_push_forward(&direction, &mut q, &mut v);
            q.iter().chain(&v).any(|slope| *slope != 0.0) && equations(&mut *evaluator, &changed) == before
        };
        let places: Vec<usize> = (0..own.len()).filter(|k| says_where(k)).map(|k| experiment.places[k]).collect();
        let free = places.iter().filter(|&&k| self.parameters[k].free).map(|&k| base_name(&self.parameters[k].name));
        let free: Vec<&str> = free.collect();
        if let Some(name) = free.first() {
            let several = "where records begin differently, local = true and start_column = ..";
            let named: Vec<String> = free.iter().map(|name| format!("`{name}`")).collect();
            return (
                true,
                format!(
                    "let {} begin near it ({name} = {{ start = .. }} in [parameters]; {several})",
                    named.join(" or ")
                ),
            );
        }
        let several = if self.experiments.len() > 1 { ", local = true" } else { "" };
        let remedy = match places.as_slice() {
            [] => format!(
                "let its start be found (in a mechanism file start = {{ x = \"x0\" }}, and x0 among its parameters{})",
                if several.is_empty() { "" } else { "; x0 = { local = true } in the problem" }
            ),
            [first, others @ ..] => {
                let name = base_name(&self.parameters[*first].name);
                let more = if others.is_empty() { "" } else { " and others that say where it begins" };
                format!("free `{name}`{more} ({name} = {{ free = true{several} }} in [parameters])")
            }
        };
        (false, remedy)
    }

    /// The size of a change of parameter `k` that matters: as the parameter says, or that of its start; or that of its nominal
    /// value, if it starts a thousand times nearer to zero or farther away than that, which makes no scale.
    pub fn size(&self, k: usize) -> f64 {
        self.parameters[k].size_from(self.start[k])
    }

    /// Checks every parameter's start against its bounds and scale, every prior, measured mode, frequency response and constraint.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] naming the parameter or the constraint.
    pub fn validate(&self) -> Result<()> {
        self.validate_by_keys().map_err(|error| error.cause().clone())
    }

    /// Checks all as [`Problem::validate`] does; errors say which keys of a problem file they are about.
    pub(crate) fn validate_by_keys(&self) -> Result<()> {
        if self.start.len() != self.parameters.len() {
            let problem = format!("{} start values for {} parameters", self.start.len(), self.parameters.len());
            return Err(Error::invalid(format!("problem `{}`", self.name), problem, "give one a parameter"));
        }
        crate::magnitudes::validate(self)?;
        for (parameter, start) in self.parameters.iter().zip(&self.start) {
            let valid = Parameter { nominal: *start, ..parameter.clone() }.validate_as("start");
            valid.map_err(|error| error.under(&["parameters", &parameter.name]))?;
        }
        for prior in &self.priors {
            let (Some(parameter), Some(start)) =
                (self.parameters.get(prior.parameter), self.start.get(prior.parameter))
            else {
                let problem = format!("there is no parameter {}", prior.parameter);
                return Err(Error::invalid(
                    format!("a prior of `{}`", self.name),
                    problem,
                    "use a place of its parameters",
                ));
            };
            prior.validate(parameter, *start).map_err(|error| error.under(&["parameters", &parameter.name]))?;
        }
        self.modes.iter().try_for_each(MeasuredMode::validate)?;
        self.validate_responses()?;
        self.constraints.iter().enumerate().try_for_each(|(k, constraint)| {
            constraint.validate(self).map_err(|error| error.under(&["constraint", &(k + 1).to_string()]))
        })
    }
}
