//! A simulation: a system, a time grid, inputs and a scheme; and the workspace that runs it.

mod states;

use states::States;

use crate::continuous::Continuous;
use crate::error::{Error, Result};
use crate::grid::{FEWER_STEPS, TimeGrid};
use crate::interrupt::Interrupt;
use crate::memory::{self, bytes_of};
use crate::scheme::{Block, Counters, Layout, Scheme, Step, Stepper};
use crate::signal::{Signal, check_range};
use crate::signature::{Quantity, Signature};
use crate::start::{Beginning, InitialState, Start, StartReport};
use crate::system::{By, Evaluator, OutputPoint, Point, System};
use std::borrow::Cow;
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
    beginning: Beginning,
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
    /// [`Error::Invalid`] if the number of signals is wrong, or a sampled signal or motion does not cover the grid; [`Error::Memory`] if
    /// the inputs at all times do not fit into memory.
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
        let span = (times[0], times[times.len() - 1]);
        for (part, known) in system.known_times() {
            // a motion goes on smoothly for a small part of a time step
            check_range(&format!("motion `{part}`"), *known, (span.1 - span.0) / grid.count() as f64, span)?;
        }
        let place = || kept("inputs", signature, &grid);
        memory::check(place, bytes_of(times.len()) * (signals.len() + 1) as f64, FEWER_STEPS)?;
        let mut inputs = vec![0.0; times.len() * signals.len()];
        let mut values = vec![0.0; times.len()];
        for (k, (signal, quantity)) in signals.iter().zip(&signature.inputs).enumerate() {
            let named = |error: Error| match error {
                Error::Invalid { what, problem, remedy } => {
                    Error::Invalid { what: format!("input `{}`: {what}", quantity.name), problem, remedy }
                }
                other => other,
            };
            signal.covers(span.0, span.1).map_err(named)?;
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
        let compliance = scheme.compliance(grid.step(1));
        if compliance != 0.0 && !system.can_yield() {
            let problem = "mechanisms from parts leave out constraint rows that repeat others, and need no penalty";
            return Err(Error::invalid(format!("scheme `{}`", scheme.name()), problem, "leave the penalty out"));
        }
        let beginning = Beginning { compliance, ..Beginning::default() };
        Ok(Simulation { system, scheme: Arc::new(scheme), grid, signals, inputs, beginning })
    }

    /// The same on another grid, with other inputs.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn on(&self, grid: TimeGrid, signals: Vec<Signal>) -> Result<Self> {
        let mut other = Simulation::new(self.system.clone(), self.scheme.clone(), grid, signals)?;
        other.beginning = Beginning { compliance: other.beginning.compliance, ..self.beginning.clone() };
        Ok(other)
    }

    /// Where it begins: at the model's initial state (otherwise), at that state moved onto the constraints, or at rest in static
    /// equilibrium.
    pub fn initial_state(mut self, state: InitialState) -> Self {
        self.beginning.state = state;
        self
    }

    /// Lets a projected start ([`InitialState::Projected`]) keep these coordinates where the model puts them, in position and in
    /// velocity, and move only the others: the angle of a crank that is given, for example. No others are held from now on.
    ///
    /// # Errors
    /// [`Error::UnknownName`]. Where the coordinates that are left cannot satisfy the constraints, runs fail.
    pub fn hold<S: AsRef<str>>(mut self, coordinates: impl IntoIterator<Item = S>) -> Result<Self> {
        let signature = self.system.signature();
        let mut held = Vec::new();
        for name in coordinates {
            let place = signature.coordinate_index(name.as_ref())?;
            if !held.contains(&place) {
                held.push(place);
            }
        }
        self.beginning.held = held;
        Ok(self)
    }

    /// Names of the coordinates that a projected start keeps.
    pub fn held(&self) -> impl Iterator<Item = &str> {
        self.beginning.held.iter().map(|&j| self.signature().coordinates[j].name.as_str())
    }

    /// Where it begins; see [`Simulation::initial_state`].
    pub fn start_state(&self) -> InitialState {
        self.beginning.state
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

    /// Bytes of a run that keeps states and outputs, with its times.
    pub(crate) fn run_bytes(&self) -> f64 {
        let states = States::new(&Layout::new(&*self.scheme, self.signature()), &*self.scheme);
        let numbers = states.size() + self.signature().outputs.len() + 1;
        bytes_of(self.grid.times().len()) * numbers as f64
    }

    /// What is kept of a run, for sentences on memory.
    pub(crate) fn kept(&self, what: &str) -> String {
        kept(what, self.signature(), &self.grid)
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

fn kept(what: &str, signature: &Signature, grid: &TimeGrid) -> String {
    format!("the {what} of {} over {} steps", signature.place(), grid.count())
}

/// The result of a simulation.
#[derive(Debug, Clone)]
pub struct Trajectory {
    times: Vec<f64>,
    states: States,
    /// Output `k` at time `i` is `outputs[i * count + k]`.
    outputs: Vec<f64>,
    output_count: usize,
    /// What it cost.
    pub counters: Counters,
    /// How well the model's initial state satisfied the constraints, and what was made of it.
    pub start: StartReport,
}

impl Trajectory {
    /// The times, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The state at time `i` (without inputs), with the consistent acceleration.
    pub fn state(&self, i: usize) -> Point<'_> {
        self.states.point(i, self.times[i], &[])
    }

    /// The scheme's own acceleration at time `i`.
    pub fn scheme_acceleration(&self, i: usize) -> Vec<f64> {
        let mut a_scheme = vec![0.0; self.states.layout.n];
        self.states.scheme_acceleration(i, &mut a_scheme);
        a_scheme
    }

    /// All outputs at time `i`.
    pub(crate) fn outputs_at(&self, i: usize) -> &[f64] {
        &self.outputs[i * self.output_count..(i + 1) * self.output_count]
    }

    /// Output `k` over time; one that is known up to a period ([`Quantity::period`]) without jumps.
    pub fn output(&self, k: usize) -> Vec<f64> {
        self.outputs.iter().skip(k).step_by(self.output_count.max(1)).copied().collect()
    }
}

/// A simulation with the inputs that a workspace gives it.
pub(crate) struct Driven<'p> {
    simulation: &'p Simulation,
    inputs: Cow<'p, [f64]>,
}

impl std::ops::Deref for Driven<'_> {
    type Target = Simulation;

    fn deref(&self) -> &Simulation {
        self.simulation
    }
}

impl<'p> Driven<'p> {
    /// As it is given.
    pub fn given(&self) -> &'p Simulation {
        self.simulation
    }

    /// Values of the inputs at time `i`.
    #[inline]
    pub fn inputs_at(&self, i: usize) -> &[f64] {
        let count = self.signals.len();
        &self.inputs[i * count..(i + 1) * count]
    }

    /// Step `i`; 0 is what the scheme makes of the start.
    #[inline]
    pub fn step(&self, i: usize) -> Step<'_> {
        let grid = &self.grid;
        let next = if i == 0 { 1 } else { i };
        let h_before = if i > 1 { grid.step(i - 1) } else { grid.step(1) };
        let (w, w_next) = (self.inputs_at(i), self.inputs_at(next));
        Step { index: i, t: grid.times()[i], h: grid.step(next), h_before, w, w_next }
    }
}

/// Memory and evaluators for running one simulation again and again without allocation in the time loop.
pub struct Workspace<'p> {
    pub(crate) simulation: Driven<'p>,
    pub(crate) evaluator: Box<dyn Evaluator + 'p>,
    pub(crate) stepper: Stepper,
    pub(crate) layout: Layout,
    /// All states of the last stored run.
    pub(crate) states: States,
    /// The state before a step, and after it, in the scheme's layout.
    current: [Vec<f64>; 2],
    /// Room for the scheme's own acceleration, which is not stored.
    pub(crate) a_scheme: Vec<f64>,
    /// The parameters of the last run, if it was stored and went through.
    stored_at: Option<Vec<f64>>,
    pub(crate) start: Option<Start>,
    pub(crate) counters: Counters,
    pub(crate) interrupt: Interrupt,
}

/// What is done at each time of a run: number of the time, evaluator, state.
pub(crate) type Visitor<'v> = dyn FnMut(usize, &mut dyn Evaluator, &OutputPoint<'_>) + 'v;

/// How far a row that is left out may be off, in its unit, beside the largest coordinate (and one): what round-off makes of a row that
/// the others imply.
const LEFT_OUT: f64 = 1e-6;

/// Rows are left out because the others imply them for nominal parameters near the start: elsewhere they may not.
fn check_left_out(system: &dyn Evaluator, signature: &Signature, x: &OutputPoint<'_>) -> Result<()> {
    let Some((row, off)) = system.worst_left_out() else { return Ok(()) };
    if off <= LEFT_OUT || off <= LEFT_OUT * x.q.iter().fold(0.0f64, |size, q| size.max(q.abs())) {
        return Ok(());
    }
    let Quantity { name, unit, .. } = &signature.constraints[row];
    let problem = format!(
        "left out as redundant, it is off by {off:.3e} {unit} at t = {} s: the other rows imply it for nominal parameters at the \
         start, but not here",
        x.t
    );
    let remedy = "start away from singular positions, correct the parameters that tear a closed loop, or remove what is \
                  held twice";
    Err(Error::invalid(format!("constraint `{name}`"), problem, remedy))
}

impl<'p> Workspace<'p> {
    /// A workspace for one thread.
    pub fn new(simulation: &'p Simulation) -> Self {
        Workspace::around(simulation, simulation.system.evaluator())
    }

    /// One whose derivatives are by these.
    pub(crate) fn by(simulation: &'p Simulation, by: By) -> Self {
        Workspace::around(simulation, simulation.system.evaluator_by(by))
    }

    fn around(simulation: &'p Simulation, evaluator: Box<dyn Evaluator + 'p>) -> Self {
        let signature = simulation.signature();
        let layout = Layout::new(&*simulation.scheme, signature);
        Workspace {
            simulation: Driven { simulation, inputs: Cow::Borrowed(&simulation.inputs) },
            evaluator,
            stepper: Stepper::new(simulation.scheme.clone(), signature),
            layout,
            states: States::new(&layout, &*simulation.scheme),
            current: [(); 2].map(|()| vec![0.0; layout.size()]),
            a_scheme: vec![0.0; layout.n],
            stored_at: None,
            start: None,
            counters: Counters::default(),
            interrupt: Interrupt::default(),
        }
    }

    /// What the last run cost.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The inputs at all times, one time after another, to be changed for the next run.
    pub(crate) fn inputs_mut(&mut self) -> &mut [f64] {
        self.stored_at = None;
        self.simulation.inputs.to_mut()
    }

    /// How many numbers all states of a run are.
    fn numbers_stored(&self) -> usize {
        (self.simulation.grid.count() + 1) * self.states.size()
    }

    /// Numbers that the next run with `store` adds to what is taken already.
    pub(crate) fn numbers_missing(&self) -> usize {
        self.numbers_stored().saturating_sub(self.states.rows.capacity())
    }

    /// Stops at time `i` if that is asked for.
    #[inline]
    pub(crate) fn go_on(interrupt: &Interrupt, grid: &TimeGrid, i: usize) -> Result<()> {
        if interrupt.is_raised() { Err(Error::Interrupted { time: grid.times()[i], step: i }) } else { Ok(()) }
    }

    /// Runs forward from the start; keeps every state if `store`.
    pub(crate) fn forward(&mut self, u: &[f64], store: bool, visit: &mut Visitor<'_>) -> Result<()> {
        self.simulation.check_parameters(u)?;
        let numbers = if store { self.numbers_stored() } else { 0 };
        let simulation = &self.simulation;
        let signature = simulation.signature();
        let grid = &simulation.grid;
        if store {
            memory::reserve(&mut self.states.rows, numbers, || simulation.kept("states"), FEWER_STEPS)?;
            self.states.rows.resize(numbers, 0.0);
        }
        self.stored_at = None;
        self.counters = Counters::default();
        self.start = None;
        self.evaluator.set_parameters(u);
        let (t0, w0) = (grid.times()[0], simulation.inputs_at(0));
        let [previous, next] = &mut self.current;
        let beginning = &simulation.beginning;
        let start = Start::solve(&mut *self.evaluator, signature, &self.layout, (t0, w0), beginning, previous)?;
        self.start = Some(start);
        previous.copy_within(self.layout.range(Block::A), self.layout.range(Block::S).start);
        previous[self.layout.memory_range()].fill(0.0);
        for i in 0..=grid.count() {
            Workspace::go_on(&self.interrupt, grid, i)?;
            let step = simulation.step(i);
            if i > 0 {
                self.stepper.step(&mut *self.evaluator, signature, &step, previous, next, &mut self.counters)?;
                std::mem::swap(previous, next);
            }
            let x = self.layout.view(previous, step.t, step.w);
            check_left_out(&*self.evaluator, signature, &x)?;
            if store {
                self.states.keep(i, previous);
            }
            visit(i, &mut *self.evaluator, &x);
            if i == 0 {
                self.stepper.start(&mut *self.evaluator, signature, &step, previous, &mut self.counters)?;
                self.states.begun.copy_from_slice(previous);
            }
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

    /// Lets nothing depend on what was done with the stored states before: orders of pivots start over.
    pub(crate) fn forget_orders(&mut self) {
        if let Some(u) = &self.stored_at {
            self.evaluator.set_parameters(u);
        }
    }

    /// Runs and keeps everything.
    ///
    /// # Errors
    /// Wrong parameters, a simulation that fails; [`Error::Memory`] if states and outputs do not fit, before it runs.
    pub fn trajectory(&mut self, u: &[f64]) -> Result<Trajectory> {
        let count = self.simulation.signature().outputs.len();
        let taken = bytes_of(self.states.rows.capacity());
        memory::check(|| self.simulation.kept("states and outputs"), self.simulation.run_bytes() - taken, FEWER_STEPS)?;
        let mut outputs = vec![0.0; count * (self.simulation.grid.count() + 1)];
        let mut continuous = Continuous::of(self.simulation.signature());
        self.forward(u, true, &mut |i, evaluator, x| {
            let y = &mut outputs[i * count..(i + 1) * count];
            evaluator.output(x, y);
            continuous.follow(y);
        })?;
        if let Some(place) = outputs.iter().position(|y| !y.is_finite()) {
            let quantity = format!("output `{}`", self.simulation.signature().outputs[place % count].name);
            let (step, value) = (place / count, outputs[place]);
            return Err(Error::NotFinite { quantity, value, time: self.simulation.grid.times()[step], step });
        }
        self.stored_at = None;
        Ok(Trajectory {
            times: self.simulation.grid.times().to_vec(),
            states: {
                let empty = States::new(&self.layout, &*self.simulation.scheme);
                std::mem::replace(&mut self.states, empty)
            },
            outputs,
            output_count: count,
            counters: self.counters,
            start: self.start.as_ref().map(|s| s.report.clone()).unwrap_or_default(),
        })
    }
}
