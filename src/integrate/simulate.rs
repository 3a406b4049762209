//! A simulation: a system, a time grid, inputs and a scheme; and the workspace that runs it.

mod checkpoints;
mod inputs;
mod jumps;
mod kept;
mod reads;
mod states;
mod workspace;

pub use checkpoints::Checkpoints;
pub(crate) use inputs::Driven;
use jumps::Jumps;
pub(crate) use kept::TangentPropagation;
pub(crate) use reads::{Between, Room};
use states::States;
pub use workspace::Keep;
pub use workspace::Workspace;

use crate::grid::TimeGrid;
use crate::memory::{FEWER_STEPS, bytes_of};
use crate::scheme::{Counters, Description, Layout, NewtonOptions, Scheme, Stepper, compliance_of_step};
use crate::signal::{Signal, check_range};
use crate::signature::Signature;
use crate::start::{Beginning, InitialState, StartReport};
use crate::system::{OutputPoint, Point, System};
use crate::{Error, Result, memory};
use std::sync::{Arc, OnceLock};

/// A watcher of the times of a run: it is shown number of the time, state, outputs. The run ends where it refuses one.
pub type Watcher<'v, E = Error> = dyn FnMut(usize, &OutputPoint<'_>, &[f64]) -> Result<(), E> + 'v;

/// Refuses a mechanism of which constraints do not give the whole motion.
fn wants_given_motion(system: &dyn System, scheme: &str) -> Result<()> {
    let signature = system.signature();
    let subject = || format!("scheme `{scheme}`");
    if let Some(state) = signature.states.first() {
        let problem =
            format!("{} has a first-order state, `{}`, that must be integrated", signature.place(), state.name);
        return Err(Error::invalid(subject(), problem, "leave it out, or take another scheme"));
    }
    match system.degrees_of_freedom() {
        0 => Ok(()),
        free => {
            let many = if free == 1 { "is 1 freedom" } else { &format!("are {free} freedoms") };
            let problem = format!("there {many} of {} that nothing drives", signature.place());
            Err(Error::invalid(subject(), problem, "drive every freedom by a function of time, or take another scheme"))
        }
    }
}

/// Everything that fixes a trajectory but the parameters.
#[derive(Clone)]
pub struct Simulation {
    system: Arc<dyn System>,
    scheme: Arc<dyn Scheme>,
    /// All times at which it is read.
    grid: TimeGrid,
    /// The numbers of those at which its steps begin and end, where these are not all.
    ends: Option<Arc<Vec<usize>>>,
    signals: Vec<Signal>,
    /// Inputs at every time, and behind these those just after each jump, evaluated once, where they are few or asked for.
    inputs: Arc<OnceLock<Vec<f64>>>,
    /// Jumps of inputs, behind which steps restart.
    jumps: Arc<Jumps>,
    /// Times at which they do so in any case, s.
    restarts: Arc<[f64]>,
    /// Bytes for the states of a run, where somebody says how many.
    memory: Option<f64>,
    beginning: Beginning,
    newton: NewtonOptions,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("model", &self.signature().name)
            .field("scheme", &self.scheme)
            .field("steps", &self.steps())
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// A simulation of a system by a scheme on a grid. `signals`: one an input of the model, in its order.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of signals is wrong, or a sampled signal or motion does not cover the grid.
    pub fn new(
        system: Arc<dyn System>,
        scheme: impl Scheme + 'static,
        grid: TimeGrid,
        signals: Vec<Signal>,
    ) -> Result<Self> {
        Simulation::with_restarts_at(Arc::default(), None, system, scheme, grid, signals)
    }

    fn with_restarts_at(
        restarts: Arc<[f64]>,
        ends: Option<Arc<Vec<usize>>>,
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
        let span = (grid.time(0), grid.end());
        for (part, known) in system.known_times() {
            // a motion goes on smoothly for a small part of a time step
            check_range(&format!("motion `{part}`"), *known, (span.1 - span.0) / grid.count() as f64, span)?;
        }
        for (signal, quantity) in signals.iter().zip(&signature.inputs) {
            signal.covers(span.0, span.1).map_err(|error| inputs::named(error, quantity))?;
        }
        let is_end = |i: usize| ends.as_ref().is_none_or(|ends| ends.binary_search(&i).is_ok());
        let jumps = Arc::new(Jumps::of(&grid, &is_end, &signals, &restarts));
        let inputs = inputs::checked(&grid, &signals, &jumps, &signature.inputs)?;
        let first = grid.time(ends.as_ref().map_or(1, |ends| ends[1])) - grid.time(0);
        let h = grid.uniform_step().unwrap_or(first);
        if !system.can_yield() && compliance_of_step(&scheme, h) != 0.0 {
            let problem = "mechanisms from parts project exactly, leave out constraint rows that repeat others, and need no penalty";
            return Err(Error::invalid(format!("scheme `{}`", scheme.name()), problem, "leave the penalty out"));
        }
        if scheme.description().of_given_motion {
            wants_given_motion(&*system, scheme.name())?;
        }
        let compliance = scheme.compliance(h);
        let beginning = Beginning { compliance, ..Beginning::default() };
        let newton = NewtonOptions::default();
        let inputs = Arc::new(inputs);
        let scheme = Arc::new(scheme);
        Ok(Simulation { system, scheme, grid, ends, signals, inputs, jumps, restarts, memory: None, beginning, newton })
    }

    /// Lets steps restart at these times of the grid, s, too, as they do behind jumps of inputs: where inputs are changed later.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn restarting_at(&self, times: &[f64]) -> Result<Self> {
        let restarts = self.restarts.iter().chain(times).copied().collect();
        self.like(restarts, self.ends.clone(), self.scheme.clone(), self.grid.clone(), self.signals.clone())
    }

    /// The simulation on another grid, with other inputs.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn on(&self, grid: TimeGrid, signals: Vec<Signal>) -> Result<Self> {
        self.like(self.restarts.clone(), None, self.scheme.clone(), grid, signals)
    }

    /// The simulation by another scheme, on another grid.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn under(&self, scheme: impl Scheme + 'static, grid: TimeGrid) -> Result<Self> {
        self.like(self.restarts.clone(), None, scheme, grid, self.signals.clone())
    }

    fn like(
        &self,
        restarts: Arc<[f64]>,
        ends: Option<Arc<Vec<usize>>>,
        scheme: impl Scheme + 'static,
        grid: TimeGrid,
        signals: Vec<Signal>,
    ) -> Result<Self> {
        let mut other = Simulation::with_restarts_at(restarts, ends, self.system.clone(), scheme, grid, signals)?;
        (other.newton, other.memory) = (self.newton, self.memory);
        other.beginning = Beginning { compliance: other.beginning.compliance, ..self.beginning.clone() };
        Ok(other)
    }

    /// Sets the state in which the simulation begins: the model's initial state (the default), that state moved onto the constraints, or rest
    /// in static equilibrium.
    pub fn initial_state(mut self, state: InitialState) -> Self {
        self.beginning.state = state;
        self
    }

    /// Changes the limits of Newton's iteration in each step.
    pub fn newton(mut self, options: NewtonOptions) -> Self {
        self.newton = options;
        self
    }

    /// Lets derivatives take `bytes` for the states of a run: where they do not fit, checkpoints are kept ([`Checkpoints`]), and steps
    /// between them run once more, with the same results to the last bit. Otherwise they take a quarter of the memory that there is.
    /// Trajectories, and what is measured, come on top.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one step needs more.
    pub fn memory(mut self, bytes: f64) -> Result<Self> {
        self.memory = Some(bytes);
        if self.inputs.get().is_some_and(|inputs| !inputs::fit(inputs.len(), bytes)) {
            self.inputs = Arc::default();
        }
        Workspace::new(&self).plan(0)?;
        Ok(self)
    }

    /// Bytes that the states of a run may take, where somebody says how many.
    pub fn memory_limit(&self) -> Option<f64> {
        self.memory
    }

    /// The checkpoints with which derivatives are found; none where the states of a whole run are kept.
    ///
    /// # Errors
    /// As [`Simulation::memory`].
    pub fn checkpoints(&self) -> Result<Option<Checkpoints>> {
        Workspace::new(self).plan(0)
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

    /// State in which the simulation begins; see [`Simulation::initial_state`].
    pub fn start_state(&self) -> InitialState {
        self.beginning.state
    }

    /// Names and units of the system.
    pub fn signature(&self) -> &Signature {
        self.system.signature()
    }

    /// The simulation of another system of the same coordinates, inputs, outputs and start, such as that which a [derived](crate::derived) one is made of.
    pub fn with_system(&self, system: Arc<dyn System>) -> Self {
        Simulation { system, ..self.clone() }
    }

    /// The system that is simulated, to be kept.
    pub fn shared_system(&self) -> Arc<dyn System> {
        self.system.clone()
    }

    /// The system.
    pub fn system(&self) -> &dyn System {
        &*self.system
    }

    /// The time integrator.
    pub fn scheme(&self) -> &dyn Scheme {
        &*self.scheme
    }

    /// The times at which it is read: those of its steps, and others ([`Simulation::reading`]).
    pub fn grid(&self) -> &TimeGrid {
        &self.grid
    }

    pub(crate) fn beginning(&self) -> &Beginning {
        &self.beginning
    }

    /// The scheme at work, for one thread.
    pub(crate) fn stepper(&self) -> Stepper {
        Stepper::new(self.scheme.clone(), &self.scheme_description(), self.newton, self.signature())
    }

    /// The inputs as given.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Values of the inputs at time `i`; where they jump there, those from then on. They are evaluated at all times when this is asked for
    /// the first time.
    #[inline]
    pub fn inputs_at(&self, i: usize) -> &[f64] {
        let (count, row) = (self.signals.len(), self.row_from(i));
        &self.all_inputs()[row * count..(row + 1) * count]
    }

    /// The inputs at all times, one row after another: where they jump, those just before it. Behind these, for each jump the inputs from
    /// then on.
    pub fn all_inputs(&self) -> &[f64] {
        self.inputs.get_or_init(|| inputs::all(&self.grid, &self.signals, &self.jumps))
    }

    /// The row of the inputs that apply from time `i` on.
    #[inline]
    pub fn row_from(&self, i: usize) -> usize {
        self.jumps.at(i).map_or(i, |jump| self.grid.count() + 1 + jump)
    }

    /// The row of the inputs that step `k` sees besides those at its end: at the start (0) those one step later, and where the step
    /// restarts, those from its beginning on.
    #[inline]
    pub(crate) fn other_row(&self, k: usize) -> Option<usize> {
        match k {
            0 => Some(self.end_of(1)),
            _ => self.jumps.at(self.end_of(k - 1)).map(|jump| self.grid.count() + 1 + jump),
        }
    }

    /// The rows of the inputs that step `k` sees: that of its end, and another one, if there is one.
    #[inline]
    pub fn rows_of(&self, k: usize) -> (usize, Option<usize>) {
        (self.end_of(k), self.other_row(k))
    }

    /// The time of each row of the inputs, s, and whether it is that just before a jump.
    pub fn input_rows(&self) -> impl Iterator<Item = (f64, bool)> {
        let times = (0..=self.grid.count()).map(|i| (self.grid.time(i), self.jumps.at(i).is_some()));
        times.chain(self.jumps.places().iter().map(|i| (self.grid.time(*i), false)))
    }

    /// Properties of the scheme beside its equations, in this run.
    pub(crate) fn scheme_description(&self) -> Description {
        let mut description = self.scheme.description();
        if !self.jumps.is_empty() || self.ends.is_some() {
            // accelerations at the beginnings of steps that restart are not stored; and between times, those of both ends are asked for
            description.recovered_acceleration = None;
        }
        description
    }

    /// Runs it once. For many runs keep a [`Workspace`].
    ///
    /// # Errors
    /// Wrong parameters, or a simulation that fails.
    pub fn run(&self, u: &[f64]) -> Result<Trajectory> {
        Workspace::new(self).trajectory(u)
    }

    /// Runs it once, and keeps nothing: every time is shown with its number, its state and its outputs, whose angles do not jump
    /// ([`Quantity::period`](crate::Quantity::period)).
    ///
    /// # Errors
    /// As [`Simulation::run`], and what `visit` refuses: the run ends there.
    pub fn watch<E: From<Error>>(&self, u: &[f64], visit: &mut Watcher<'_, E>) -> Result<(Counters, StartReport), E> {
        Workspace::new(self).watch(u, visit)
    }

    /// Values of these outputs over time, by one run that keeps nothing else.
    ///
    /// # Errors
    /// As [`Simulation::run`].
    pub fn outputs(&self, u: &[f64], outputs: &[usize]) -> Result<Vec<Vec<f64>>> {
        let times = self.grid.count() + 1;
        let place = || self.kept("outputs");
        let room = |_| -> Result<Vec<f64>> {
            let mut values = Vec::new();
            memory::reserve(&mut values, times, place, FEWER_STEPS)?;
            Ok(values)
        };
        let mut all = outputs.iter().map(room).collect::<Result<Vec<_>>>()?;
        self.watch::<Error>(u, &mut |_, _, y| {
            all.iter_mut().zip(outputs).for_each(|(values, k)| values.push(y[*k]));
            Ok(())
        })?;
        Ok(all)
    }

    /// Bytes of a run that keeps states and outputs, with its times.
    pub fn run_bytes(&self) -> f64 {
        let description = self.scheme_description();
        let states = States::new(&Layout::new(&description, self.signature()), &description);
        let numbers = states.size() + self.signature().outputs.len() + 1;
        bytes_of(self.grid.count() + 1) * numbers as f64
    }

    /// Bytes that the states of a run may take.
    pub fn room(&self) -> f64 {
        self.memory.unwrap_or_else(memory::usual)
    }

    /// Description of what is kept of a run, for sentences on memory.
    pub fn kept(&self, what: &str) -> String {
        kept(what, self.signature(), &self.grid)
    }

    /// Checks that these values can be parameters of the system.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a wrong number of values, or one that is not finite.
    pub fn check_parameters(&self, u: &[f64]) -> Result<()> {
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
    /// Work that the run took.
    pub counters: Counters,
    /// Violation of the constraints by the model's initial state, and what was made of it.
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
    pub fn outputs_at(&self, i: usize) -> &[f64] {
        &self.outputs[i * self.output_count..(i + 1) * self.output_count]
    }

    /// Output `k` over time; one that is known up to a period ([`Quantity::period`](crate::Quantity::period)) without jumps.
    pub fn output(&self, k: usize) -> Vec<f64> {
        self.outputs.iter().skip(k).step_by(self.output_count.max(1)).copied().collect()
    }
}
