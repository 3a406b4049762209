//! Gradients of a cost with respect to the parameters, three ways.
//!
//! The discrete adjoint costs about one more simulation for any number of parameters; tangents cost about one for each
//! chunk of them and give the derivative of every output; differences are the coarse independent check.

mod adjoint;
mod between_steps;
mod continuous;
mod difference;
mod hessian;
mod second_order;
mod sensor_run;
mod step_map;
mod tangent;

pub use difference::Difference;
pub use difference::Raw;
pub use hessian::Change;
pub use second_order::SlopeWeights;
pub use step_map::StepMap;
pub use tangent::Seen;
pub use tangent::{OutputTangents, ResidualRow};

use crate::continuous::Continuous;
use crate::cost::{Cost, CostEvaluator, Sample};
use crate::interrupt::Interrupt;
use crate::memory::FEWER_STEPS;
use crate::simulate::{Checkpoints, Keep, Simulation, Workspace};
use crate::start::InconsistentParameter;
use crate::system::{By, Evaluator, OutputPoint, StateVector};
use crate::{Error, Result, memory};
use sensor_run::SensorRun;

/// The method by which a gradient is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// One sweep backwards through the scheme's own equations.
    #[default]
    Adjoint,
    /// Derivatives of all states, forwards.
    Tangent,
    /// Central differences of the cost.
    Difference,
}

impl Method {
    /// Name of the method in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Method::Adjoint => "adjoint",
            Method::Tangent => "tangent",
            Method::Difference => "difference",
        }
    }
}

/// Choice of the parameters by which derivatives are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Yes,
    /// Derivatives are wanted unless a start as given does not follow the parameter.
    IfFollowed,
    No,
}

/// A simulation with a cost, ready to be evaluated again and again.
pub struct Gradient<'p> {
    /// Choice for each parameter.
    wanted: Vec<Wanted>,
    /// Parameters by which the last evaluation was differentiated, and those that were left out because the start does not follow.
    active: Vec<usize>,
    left_out: Vec<usize>,
    workspace: Workspace<'p>,
    cost: Box<dyn CostEvaluator + 'p>,
    y: Vec<f64>,
    y_bar: Vec<f64>,
    bar: StateVector,
    /// Tangents, one an active parameter of the model, where they were asked for.
    tangents: Vec<StateVector>,
    continuous: Continuous,
    /// Sensors over the run at hand, where the cost does not see outputs as they are.
    sensor_run: Option<SensorRun<'p>>,
    /// Derivatives by the inputs at all times, one time after another; empty where they are given.
    by_inputs: Vec<f64>,
    /// True if the cost is differentiated by inputs, too.
    has_inputs: bool,
}

impl<'p> Gradient<'p> {
    /// A workspace for one thread. Derivatives are taken with respect to all parameters: see [`Gradient::with_respect_to`].
    ///
    /// # Errors
    /// If the cost does not go with the simulation.
    pub fn new(simulation: &'p Simulation, cost: &'p dyn Cost) -> Result<Self> {
        Gradient::around(Workspace::new(simulation), simulation, cost)
    }

    /// A workspace with respect to these parameters alone, by their places: as [`Gradient::with_respect_to`], but derivatives by all others are not even
    /// prepared.
    ///
    /// # Errors
    /// As [`Gradient::new`].
    pub fn by_parameters(simulation: &'p Simulation, cost: &'p dyn Cost, parameters: &[usize]) -> Result<Self> {
        let count = simulation.signature().parameters.len();
        let own: Vec<usize> = (0..count).filter(|k| parameters.contains(k)).collect();
        let workspace = Workspace::by(simulation, By { parameters: Some(&own), ..By::PARAMETERS });
        let mut gradient = Gradient::around(workspace, simulation, cost)?;
        gradient.want(parameters);
        Ok(gradient)
    }

    /// A workspace that takes derivatives with respect to the inputs at all times, too, and lets them be changed: [`Gradient::inputs_mut`],
    /// [`Gradient::by_inputs`].
    ///
    /// # Errors
    /// As [`Gradient::new`].
    pub fn with_inputs(simulation: &'p Simulation, cost: &'p dyn Cost) -> Result<Self> {
        Gradient::by(By::BOTH, simulation, cost)
    }

    /// A workspace with respect to the inputs at all times alone: derivatives by parameters come out as zero.
    ///
    /// # Errors
    /// As [`Gradient::new`].
    pub fn with_inputs_alone(simulation: &'p Simulation, cost: &'p dyn Cost) -> Result<Self> {
        Ok(Gradient::by(By::INPUTS, simulation, cost)?.with_respect_to(&[]))
    }

    fn by(by: By<'_>, simulation: &'p Simulation, cost: &'p dyn Cost) -> Result<Self> {
        let mut gradient = Gradient::around(Workspace::by(simulation, by), simulation, cost)?;
        gradient.has_inputs = by.inputs;
        let count = simulation.input_rows().count() * simulation.signature().inputs.len();
        let place = || simulation.kept("derivatives by the inputs");
        memory::reserve(&mut gradient.by_inputs, count, place, FEWER_STEPS)?;
        gradient.by_inputs.resize(count, 0.0);
        Ok(gradient)
    }

    /// The inputs at all times, one time after another, to be changed for the next evaluation: where they jump, those just before it. Behind
    /// these, for each jump those from then on. Between times nothing is asked of them.
    pub fn inputs_mut(&mut self) -> &mut [f64] {
        self.workspace.inputs_mut()
    }

    /// The derivatives of the cost by them, in the same order, from the last gradient by the adjoint.
    pub fn by_inputs(&self) -> &[f64] {
        &self.by_inputs
    }

    fn around(workspace: Workspace<'p>, simulation: &'p Simulation, cost: &'p dyn Cost) -> Result<Self> {
        let signature = simulation.signature();
        cost.check(signature, simulation.grid())?;
        let zeros = vec![0.0; signature.outputs.len()];
        let bar = StateVector::with_memory(signature, workspace.layout.memory);
        let sensor_run = cost.sensors().map(|sensors| SensorRun::new(sensors, simulation)).transpose()?;
        let own = sensor_run.as_ref().map_or(0, |sensor_run| sensor_run.sensors.parameters().len());
        Ok(Gradient {
            wanted: vec![Wanted::Yes; signature.parameters.len() + own],
            active: Vec::new(),
            left_out: Vec::new(),
            workspace,
            cost: cost.evaluator(signature),
            y: zeros.clone(),
            y_bar: zeros,
            bar,
            tangents: Vec::new(),
            continuous: Continuous::of(signature),
            sensor_run,
            by_inputs: Vec::new(),
            has_inputs: false,
        })
    }

    /// Takes derivatives with respect to these parameters only (by their places); those by the others are not worked out, and come out
    /// as zero. A start as given has to follow the parameters that are differentiated, and no others.
    pub fn with_respect_to(mut self, parameters: &[usize]) -> Self {
        self.want(parameters);
        self.by_wanted()
    }

    fn want(&mut self, parameters: &[usize]) {
        self.wanted.fill(Wanted::No);
        let count = self.wanted.len();
        for &k in parameters.iter().filter(|k| **k < count) {
            self.wanted[k] = Wanted::Yes;
        }
    }

    /// Lets the mechanism be differentiated by the parameters that are wanted, and no others.
    fn by_wanted(mut self) -> Self {
        let wanted = self.wanted[..self.bar.u.len()].iter().enumerate().filter(|(_, wanted)| **wanted != Wanted::No);
        let parameters: Vec<usize> = wanted.map(|(k, _)| k).collect();
        self.workspace.differentiate(By { parameters: Some(&parameters), inputs: self.has_inputs, ..By::PARAMETERS });
        self
    }

    /// Leaves such parameters out where a start as given does not follow them: derivatives by them come out as zero.
    pub fn leaving_out_inconsistent(mut self, may_be: impl Fn(usize) -> bool) -> Self {
        for (_, wanted) in self.wanted.iter_mut().enumerate().filter(|(k, _)| may_be(*k)) {
            *wanted = Wanted::IfFollowed;
        }
        self.by_wanted()
    }

    /// Places of fixed parameters by which the last derivatives were not taken, because the initial state does not follow them.
    pub fn left_out(&self) -> &[usize] {
        &self.left_out
    }

    /// Chooses the parameters by which the stored run at `u` is differentiated.
    fn choose(&mut self, u: &[f64]) -> Result<()> {
        let Workspace { simulation, evaluator, states, start, .. } = &mut self.workspace;
        let x0 = states.start(simulation.grid().time(0), simulation.inputs_at(0));
        // a stored run always has its start
        let start = start.as_ref();
        let model = &u[..self.bar.u.len()];
        let mut inconsistent = start.map_or(Vec::new(), |f_0| {
            f_0.inconsistent_parameters(&mut **evaluator, simulation.signature(), &x0, model)
        });
        self.left_out =
            inconsistent.iter().map(|a| a.parameter).filter(|&k| self.wanted[k] == Wanted::IfFollowed).collect();
        inconsistent.retain(|a| self.wanted[a.parameter] == Wanted::Yes);
        InconsistentParameter::refuse(&inconsistent)?;
        let is_active = |k: &usize| self.wanted[*k] != Wanted::No && !self.left_out.contains(k);
        let active: Vec<usize> = (0..u.len()).filter(is_active).collect();
        if self.active != active {
            // an adjoint has no need of them
            self.tangents = Vec::new();
            self.active = active;
        }
        Ok(())
    }

    /// Makes room for one tangent an active parameter of the model: dense, so that its size grows with the square of a long chain's length.
    fn make_tangents(&mut self) -> Result<()> {
        // sensors' parameters come last
        let model = self.active.partition_point(|k| *k < self.bar.u.len());
        if self.tangents.len() == model {
            return Ok(());
        }
        let Workspace { simulation, layout, .. } = &self.workspace;
        let zero = StateVector::with_memory(simulation.signature(), layout.memory);
        let numbers = model.saturating_mul(layout.size() + zero.u.len());
        let remedy = "take the adjoint, which needs none, or fewer free parameters";
        memory::check(|| format!("one tangent for each of {model} parameters"), memory::bytes_of(numbers), remedy)?;
        let tangent = |k: &usize| {
            let mut tangent = zero.clone();
            tangent.u[*k] = 1.0;
            tangent
        };
        self.tangents = self.active[..model].iter().map(tangent).collect();
        Ok(())
    }

    /// Clears what belongs to parameters by which is not differentiated.
    fn clear_inactive(&self, entries: &mut [f64]) {
        // in their order
        let mut active = self.active.iter().copied().peekable();
        for (k, entry) in entries.iter_mut().enumerate() {
            if active.next_if_eq(&k).is_none() {
                *entry = 0.0;
            }
        }
    }

    /// The gradient, to stop at the next time step with [`Error::Interrupted`] once `interrupt` is raised.
    pub fn interrupted_by(mut self, interrupt: &Interrupt) -> Self {
        self.workspace.interrupt = interrupt.clone();
        self
    }

    /// The cost at `u`.
    ///
    /// # Errors
    /// Wrong parameters, or a simulation that fails.
    pub fn cost(&mut self, u: &[f64]) -> Result<f64> {
        self.forward(u, false)
    }

    /// The cost at `u`, and its gradient by `method`.
    ///
    /// # Errors
    /// Wrong parameters, a simulation that fails, or [`Error::StartDoesNotFollow`]: a start as given satisfies the constraints for the
    /// values at hand only.
    pub fn cost_and_gradient(&mut self, u: &[f64], method: Method, gradient: &mut [f64]) -> Result<f64> {
        if gradient.len() != u.len() {
            let problem = format!("it has room for {} entries, but there are {} parameters", gradient.len(), u.len());
            return Err(Error::invalid("the gradient", problem, "give it one entry a parameter"));
        }
        match method {
            Method::Adjoint => {
                let cost = self.forward(u, true)?;
                self.choose(u)?;
                let (model, _) = self.split(u)?;
                self.sweep(model, gradient, &mut hessian::SweepDirections::default())?;
                self.clear_inactive(gradient);
                Ok(cost)
            }
            Method::Tangent => self.tangent_gradient(u, gradient),
            Method::Difference => {
                let cost = self.forward(u, true)?;
                difference::central(self, u, gradient)?;
                Ok(cost)
            }
        }
    }

    /// The checkpoints with which derivatives are found, where not all states of a run are kept ([`Simulation::memory`]).
    ///
    /// # Errors
    /// As [`Simulation::memory`].
    pub fn checkpoints(&mut self) -> Result<Option<Checkpoints>> {
        self.workspace.checkpoints()
    }

    /// Work of the last evaluation; steps that are run once more are not counted.
    pub fn counters(&self) -> crate::scheme::Counters {
        self.workspace.counters
    }

    fn forward(&mut self, u: &[f64], store: bool) -> Result<f64> {
        let simulation = self.workspace.simulation.given();
        let total = match self.sensor_run {
            None => self.watched(u, store)?,
            Some(_) => {
                let (model, own) = self.split(u)?;
                self.workspace.forward(model, Keep::States, &mut |_, _, _| {})?;
                self.see(model, own)?
            }
        };
        let last = simulation.grid().count();
        if total.is_finite() {
            return Ok(total);
        }
        let step = if self.sensor_run.is_none() { self.first_not_finite(u)?.unwrap_or(last) } else { last };
        let time = simulation.grid().time(step);
        Err(Error::NotFinite { quantity: "the cost".into(), value: total, time, step })
    }

    /// The first time at which the cost is not finite, by a run of its own.
    #[cold]
    fn first_not_finite(&mut self, u: &[f64]) -> Result<Option<usize>> {
        let simulation = self.workspace.simulation.given();
        let (cost, y, continuous) = (&mut self.cost, &mut self.y, &mut self.continuous);
        let (last, mut first) = (simulation.grid().count(), None);
        continuous.restart();
        self.workspace.forward(u, Keep::Nothing, &mut |i, evaluator, x| {
            evaluator.output(x, y);
            continuous.follow(y);
            let wrong = |cost: &mut dyn CostEvaluator| !cost.value(&sample(simulation, i, x, y, u)).is_finite();
            if first.is_none() && cost.concerns(i, last) && wrong(&mut **cost) {
                first = Some(i);
            }
        })?;
        Ok(first)
    }

    /// A run whose cost is added up as it goes.
    fn watched(&mut self, u: &[f64], store: bool) -> Result<f64> {
        let simulation = self.workspace.simulation.given();
        let (cost, y, continuous) = (&mut self.cost, &mut self.y, &mut self.continuous);
        let last = simulation.grid().count();
        let mut total = 0.0;
        continuous.restart();
        let keep = if store { Keep::States } else { Keep::Nothing };
        self.workspace.forward(u, keep, &mut |i, evaluator, x| {
            let concerned = cost.concerns(i, last);
            if concerned || continuous.any() {
                evaluator.output(x, y);
                continuous.follow(y);
            }
            if concerned {
                total += cost.value(&sample(simulation, i, x, y, u));
            }
        })?;
        Ok(total)
    }
}

/// The sample that a cost sees at time `i`.
fn sample<'a>(simulation: &Simulation, i: usize, x: &OutputPoint<'a>, y: &'a [f64], u: &'a [f64]) -> Sample<'a> {
    let (before, after) = simulation.grid().neighbours(i);
    Sample { index: i, last: simulation.grid().count(), before, after, x: *x, y, u }
}

/// Adds the derivative of the cost at one time to `bar`.
fn add_cost(
    (cost, sensor_run): (&mut dyn CostEvaluator, Option<&SensorRun<'_>>),
    evaluator: &mut dyn Evaluator,
    sample: &Sample<'_>,
    bar: &mut StateVector,
    y_bar: &mut [f64],
) {
    crate::linear::clear(y_bar);
    if cost.concerns(sample.index, sample.last) {
        cost.gradient(sample, bar, y_bar);
    }
    if let Some(SensorRun { sensors, run, .. }) = sensor_run {
        run.pull_back(sensors, sample.index, y_bar);
    }
    if y_bar.iter().any(|y| *y != 0.0) {
        evaluator.linearise_output(&sample.x);
        evaluator.output_pull_back(y_bar, bar);
    }
}

/// Clears the state and everything else.
fn clear(x: &mut StateVector) {
    x.clear_state();
    [&mut x.u, &mut x.w, &mut x.w_other].into_iter().for_each(|part| part.fill(0.0));
}
