//! A simulation: a system, a time grid, inputs and a scheme; and the workspace that runs it.

use crate::error::{Error, Result};
use crate::grid::TimeGrid;
use crate::scheme::{Counters, Layout, Scheme, Step, Stepper};
use crate::signal::Signal;
use crate::signature::Signature;
use crate::start::{Start, StartReport};
use crate::system::{Evaluator, OutputPoint, System};
use std::sync::Arc;

/// Everything that fixes a trajectory but the parameters.
#[derive(Clone)]
pub struct Simulation {
    system: Arc<dyn System>,
    scheme: Arc<dyn Scheme>,
    grid: TimeGrid,
    signals: Vec<Signal>,
    /// Inputs at every time, evaluated once.
    inputs: Vec<f64>,
    project_start: bool,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("model", &self.signature().name)
            .field("scheme", &self.scheme)
            .field("steps", &self.grid.count())
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// `signals`: one an input of the model, in its order.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of signals is wrong, or a sampled signal does not cover the grid.
    pub fn new(
        system: Arc<dyn System>,
        scheme: impl Scheme + 'static,
        grid: TimeGrid,
        signals: Vec<Signal>,
    ) -> Result<Self> {
        let signature = system.signature();
        if signals.len() != signature.inputs.len() {
            let problem = format!("{} signals are given for {} inputs", signals.len(), signature.inputs.len());
            let names = signature.inputs.iter().map(|i| i.name.as_str()).collect::<Vec<_>>().join(", ");
            let remedy =
                if names.is_empty() { "give none".to_string() } else { format!("give one for each of: {names}") };
            return Err(Error::invalid(signature.place(), problem, remedy));
        }
        let times = grid.times();
        let mut inputs = vec![0.0; times.len() * signals.len()];
        let mut values = vec![0.0; times.len()];
        for (k, (signal, quantity)) in signals.iter().zip(&signature.inputs).enumerate() {
            let named = |error: Error| match error {
                Error::Invalid { what, problem, remedy } => {
                    Error::Invalid { what: format!("input `{}`: {what}", quantity.name), problem, remedy }
                }
                other => other,
            };
            signal.covers(times[0], times[times.len() - 1]).map_err(named)?;
            signal.fill(times, &mut values)?;
            if let Some(i) = values.iter().position(|value| !value.is_finite()) {
                let what = format!("input `{}`", quantity.name);
                let problem = format!("it is {} at t = {} s", values[i], times[i]);
                return Err(Error::invalid(what, problem, "give a signal that is finite over the simulated time"));
            }
            for (i, value) in values.iter().enumerate() {
                inputs[i * signals.len() + k] = *value;
            }
        }
        Ok(Simulation { system, scheme: Arc::new(scheme), grid, signals, inputs, project_start: false })
    }

    /// Moves the model's initial state onto the constraints instead of refusing one that violates them.
    pub fn project_start(mut self, project: bool) -> Self {
        self.project_start = project;
        self
    }

    /// Names and units of the system.
    pub fn signature(&self) -> &Signature {
        self.system.signature()
    }

    /// The system.
    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    /// The time integrator.
    pub fn scheme(&self) -> &dyn Scheme {
        &*self.scheme
    }

    /// The times.
    pub fn grid(&self) -> &TimeGrid {
        &self.grid
    }

    /// The inputs as given.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Values of the inputs at time `i`.
    #[inline]
    pub fn inputs_at(&self, i: usize) -> &[f64] {
        let count = self.signals.len();
        &self.inputs[i * count..(i + 1) * count]
    }

    /// Runs it once. For many runs keep a [`Workspace`].
    ///
    /// # Errors
    /// Wrong parameters, or a simulation that fails.
    pub fn run(&self, u: &[f64]) -> Result<Trajectory> {
        Workspace::new(self).trajectory(u)
    }

    pub(crate) fn check_parameters(&self, u: &[f64]) -> Result<()> {
        let signature = self.signature();
        if u.len() != signature.parameters.len() {
            let problem = format!("{} values are given for {} parameters", u.len(), signature.parameters.len());
            return Err(Error::invalid(signature.place(), problem, "give one value a parameter"));
        }
        match u.iter().zip(&signature.parameters).find(|(value, _)| !value.is_finite()) {
            Some((value, p)) => {
                Err(Error::invalid(format!("parameter `{}`", p.name), format!("its value is {value}"), "give a number"))
            }
            None => Ok(()),
        }
    }
}

/// The result of a simulation.
#[derive(Debug, Clone)]
pub struct Trajectory {
    layout: Layout,
    times: Vec<f64>,
    states: Vec<f64>,
    /// Output `k` at time `i` is `outputs[i * count + k]`.
    outputs: Vec<f64>,
    output_count: usize,
    /// What it cost.
    pub counters: Counters,
    /// How well the model's initial state satisfied the constraints.
    pub start: StartReport,
}

impl Trajectory {
    /// The times, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The state at time `i` (without inputs).
    pub fn state(&self, i: usize) -> OutputPoint<'_> {
        let size = self.layout.size();
        self.layout.view(&self.states[i * size..(i + 1) * size], self.times[i], &[])
    }

    /// Output `k` over time.
    pub fn output(&self, k: usize) -> Vec<f64> {
        self.outputs.iter().skip(k).step_by(self.output_count.max(1)).copied().collect()
    }
}

/// Memory and evaluators for running one simulation again and again without allocation in the time loop.
pub struct Workspace<'p> {
    pub(crate) simulation: &'p Simulation,
    pub(crate) evaluator: Box<dyn Evaluator + 'p>,
    pub(crate) stepper: Box<dyn Stepper>,
    pub(crate) layout: Layout,
    /// All states of the last stored run, or two of them.
    pub(crate) states: Vec<f64>,
    /// The parameters of the last run, if it was stored and went through.
    stored_at: Option<Vec<f64>>,
    pub(crate) start: Option<Start>,
    pub(crate) counters: Counters,
}

/// What is done at each time of a run: number of the time, evaluator, state.
pub(crate) type Visitor<'v> = dyn FnMut(usize, &mut dyn Evaluator, &OutputPoint<'_>) + 'v;

impl<'p> Workspace<'p> {
    /// A workspace for one thread.
    pub fn new(simulation: &'p Simulation) -> Self {
        let signature = simulation.signature();
        Workspace {
            simulation,
            evaluator: simulation.system.evaluator(),
            stepper: simulation.scheme.stepper(signature),
            layout: simulation.scheme.layout(signature),
            states: Vec::new(),
            stored_at: None,
            start: None,
            counters: Counters::default(),
        }
    }

    /// What the last run cost.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Runs forward from the start; keeps every state if `store`.
    pub(crate) fn forward(&mut self, u: &[f64], store: bool, visit: &mut Visitor<'_>) -> Result<()> {
        let simulation = self.simulation;
        simulation.check_parameters(u)?;
        let signature = simulation.signature();
        let size = self.layout.size();
        let grid = &simulation.grid;
        let kept = if store { grid.count() + 1 } else { 2 };
        self.states.resize(kept * size, 0.0);
        self.stored_at = None;
        self.counters = Counters::default();
        self.start = None;
        self.evaluator.set_parameters(u);
        let (t0, w0) = (grid.times()[0], simulation.inputs_at(0));
        let x0 = &mut self.states[..size];
        let project = simulation.project_start;
        let start = Start::solve(&mut *self.evaluator, signature, &self.layout, t0, w0, project, x0)?;
        self.start = Some(start);
        self.stepper.start(&mut *self.evaluator, t0, w0, x0);
        visit(0, &mut *self.evaluator, &self.layout.view(x0, t0, w0));
        for i in 1..=grid.count() {
            let (head, tail) = self.states.split_at_mut(if store { i * size } else { size });
            let (previous, next) = if store {
                (&head[(i - 1) * size..], &mut tail[..size])
            } else if i % 2 == 1 {
                (&*head, tail)
            } else {
                (&*tail, head)
            };
            let step = Step { index: i, t: grid.times()[i], h: grid.step(i), w: simulation.inputs_at(i) };
            self.stepper.step(&mut *self.evaluator, signature, &step, previous, next, &mut self.counters)?;
            visit(i, &mut *self.evaluator, &self.layout.view(next, step.t, step.w));
        }
        self.stored_at = store.then(|| u.to_vec());
        Ok(())
    }

    /// Makes sure that every state of the run at `u` is there, without a run if it was the last one.
    pub(crate) fn ensure_stored(&mut self, u: &[f64]) -> Result<()> {
        if self.stored_at.as_deref() == Some(u) {
            return Ok(());
        }
        self.forward(u, true, &mut |_, _, _| {})
    }

    /// Runs and keeps everything.
    ///
    /// # Errors
    /// Wrong parameters, or a simulation that fails.
    pub fn trajectory(&mut self, u: &[f64]) -> Result<Trajectory> {
        let count = self.simulation.signature().outputs.len();
        let mut outputs = vec![0.0; count * (self.simulation.grid.count() + 1)];
        self.forward(u, true, &mut |i, evaluator, x| evaluator.output(x, &mut outputs[i * count..(i + 1) * count]))?;
        if let Some(place) = outputs.iter().position(|y| !y.is_finite()) {
            let quantity = format!("output `{}`", self.simulation.signature().outputs[place % count].name);
            let (step, value) = (place / count, outputs[place]);
            return Err(Error::NotFinite { quantity, value, time: self.simulation.grid.times()[step], step });
        }
        Ok(Trajectory {
            layout: self.layout,
            times: self.simulation.grid.times().to_vec(),
            states: self.states.clone(),
            outputs,
            output_count: count,
            counters: self.counters,
            start: self.start.as_ref().map(|s| s.report.clone()).unwrap_or_default(),
        })
    }
}
