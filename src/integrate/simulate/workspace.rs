//! Memory and evaluators for runs of one simulation.

use super::kept::Kept;
use super::states::States;
use super::{Between, Checkpoints, Driven, Room, Simulation, Trajectory, Watcher};
use crate::continuous::Continuous;
use crate::grid::TimeGrid;
use crate::interrupt::Interrupt;
use crate::memory::{FEWER_STEPS, bytes_of};
use crate::pace::Pace;
use crate::scheme::{Counters, Layout, Stepper};
use crate::signature::{Quantity, Signature};
use crate::start::{Start, StartReport};
use crate::system::{By, Evaluator, OutputPoint};
use crate::{Error, Result, memory};

/// Memory and evaluators for running one simulation again and again without allocation in the time loop.
pub struct Workspace<'p> {
    pub(crate) simulation: Driven<'p>,
    pub(crate) evaluator: Box<dyn Evaluator + 'p>,
    pub(crate) stepper: Stepper,
    pub(crate) layout: Layout,
    /// The states of the last stored run, or those of a segment of it: [`Workspace::reach`] brings others back.
    pub(crate) states: States,
    pub(super) kept: Kept,
    /// The state before a step, and after it, in the scheme's layout.
    pub(super) current: [Vec<f64>; 2],
    /// The start, before the scheme made anything of it.
    origin: Vec<f64>,
    /// Room for a state as outputs see it.
    pub(crate) room: Room,
    /// The parameters of the last run, if it was stored and went through.
    stored_at: Option<Vec<f64>>,
    pub(crate) start: Option<Start>,
    pub(crate) counters: Counters,
    pub(crate) interrupt: Interrupt,
}

/// A visitor of each time of a run: number of the time, evaluator, state.
pub(crate) type Visitor<'v> = dyn FnMut(usize, &mut dyn Evaluator, &OutputPoint<'_>) + 'v;

/// Part of a run that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: whoever watches has seen it.
    Nothing,
    /// States, so that all can be had again.
    States,
    /// Every state, in memory.
    All,
}

/// Largest residual of a row that is left out, in its unit, beside the largest coordinate (and one): what round-off makes of a row that the
/// others imply.
const LEFT_OUT: f64 = 1e-6;

/// Rows are left out because the others imply them for nominal parameters near the start: elsewhere they may not.
#[inline]
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

/// Refuses outputs at time `i` that are not finite.
fn check_outputs(simulation: &Simulation, i: usize, y: &[f64]) -> Result<()> {
    let Some(k) = y.iter().position(|y| !y.is_finite()) else { return Ok(()) };
    let quantity = format!("output `{}`", simulation.signature().outputs[k].name);
    Err(Error::NotFinite { quantity, value: y[k], time: simulation.grid.time(i), step: i })
}

impl<'p> Workspace<'p> {
    /// A workspace for one thread.
    pub fn new(simulation: &'p Simulation) -> Self {
        Workspace::around(simulation, simulation.system.evaluator())
    }

    /// A workspace whose derivatives are by these variables.
    pub(crate) fn by(simulation: &'p Simulation, by: By<'_>) -> Self {
        Workspace::around(simulation, simulation.system.evaluator_by(by))
    }

    /// Takes derivatives by these from now on.
    pub(crate) fn differentiate(&mut self, by: By<'_>) {
        self.stored_at = None;
        self.evaluator = self.simulation.given().system.evaluator_by(by);
    }

    fn around(simulation: &'p Simulation, evaluator: Box<dyn Evaluator + 'p>) -> Self {
        let signature = simulation.signature();
        let description = simulation.scheme_description();
        let layout = Layout::new(&description, signature);
        Workspace {
            simulation: Driven::new(simulation),
            evaluator,
            stepper: simulation.stepper(),
            layout,
            states: States::new(&layout, &description),
            kept: Kept::new(),
            current: [(); 2].map(|()| vec![0.0; layout.size()]),
            origin: vec![0.0; layout.size()],
            room: Room::new(layout),
            stored_at: None,
            start: None,
            counters: Counters::default(),
            interrupt: Interrupt::default(),
        }
    }

    /// Work that the last run took.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The inputs at all times, one row after another, to be changed for the next run; see [`Simulation::all_inputs`].
    pub(crate) fn inputs_mut(&mut self) -> &mut [f64] {
        self.stored_at = None;
        self.simulation.inputs_mut()
    }

    /// The checkpoints of the last stored run; none if all of its states are kept.
    pub(crate) fn checkpoints(&mut self) -> Result<Option<Checkpoints>> {
        self.plan(0)
    }

    /// Stops at time `i` if that is asked for.
    #[inline]
    pub(crate) fn go_on(interrupt: &Interrupt, grid: &TimeGrid, i: usize) -> Result<()> {
        if interrupt.is_raised() { Err(Error::Interrupted { time: grid.time(i), step: i }) } else { Ok(()) }
    }

    /// Runs forward from the start.
    pub fn forward(&mut self, u: &[f64], keep: Keep, visit: &mut Visitor<'_>) -> Result<()> {
        self.simulation.check_parameters(u)?;
        self.stored_at = None;
        let store = keep != Keep::Nothing;
        if store {
            self.begin_keeping(keep == Keep::All)?;
        }
        self.counters = Counters::default();
        self.start = None;
        self.evaluator.set_parameters(u);
        self.begin(store, visit)?;
        let last = self.simulation.steps();
        if store {
            self.keep_beginning();
            let end = self.kept.plan.segments() - 1;
            self.run_segments((0, end), end, Some(visit), None)?;
        } else {
            self.advance((0, last), false, Some(visit))?;
        }
        self.stored_at = store.then(|| u.to_vec());
        Ok(())
    }

    /// Finds the start, and what the scheme makes of it.
    fn begin(&mut self, store: bool, visit: &mut Visitor<'_>) -> Result<()> {
        self.simulation.go_to(0)?;
        let simulation = &self.simulation;
        let signature = simulation.signature();
        let grid = &simulation.grid;
        let (t0, w0) = (grid.time(0), simulation.inputs_at(0));
        let x0 = &mut self.current[0];
        let start = Start::solve(&mut *self.evaluator, signature, (t0, w0), &simulation.beginning, x0)?;
        self.start = Some(start);
        x0[self.layout.memory_range()].fill(0.0);
        Workspace::go_on(&self.interrupt, grid, 0)?;
        let step = simulation.step(0);
        let x = self.layout.view(x0, step.t, step.w);
        check_left_out(&*self.evaluator, signature, &x)?;
        if store {
            self.states.keep_start(x0);
        }
        visit(0, &mut *self.evaluator, &x);
        self.origin.copy_from_slice(x0);
        self.stepper.start(&mut *self.evaluator, signature, &step, x0, &mut self.counters)?;
        self.states.begun.copy_from_slice(x0);
        Ok(())
    }

    /// Runs from one time to another, and keeps the states if `store`. Without a visitor it has been run before: it is not counted.
    pub(super) fn advance(
        &mut self,
        (from, to): (usize, usize),
        store: bool,
        mut visit: Option<&mut Visitor<'_>>,
    ) -> Result<()> {
        let counted = self.counters;
        let [previous, next] = &mut self.current;
        let given = self.simulation.given();
        let signature = given.signature();
        let pace = Pace::begin(from, given.steps());
        for i in from + 1..=to {
            pace.note(i - 1);
            Workspace::go_on(&self.interrupt, &given.grid, given.end_of(i))?;
            self.simulation.go_to(i)?;
            let step = self.simulation.step(i);
            self.stepper.step(&mut *self.evaluator, signature, &step, previous, next, &mut self.counters)?;
            std::mem::swap(previous, next);
            if store {
                self.states.keep(i, previous);
            }
            if let Some(visit) = &mut visit {
                let x = self.layout.view(previous, step.t, step.w);
                check_left_out(&*self.evaluator, signature, &x)?;
                let (begun, end) = (given.end_of(i - 1), given.end_of(i));
                if end - begun > 1 {
                    let before = self.layout.view(if i == 1 { &self.origin } else { &*next }, step.t, step.w);
                    for time in begun + 1..end {
                        let at = (given.grid.time(time), self.simulation.inputs_at(time));
                        let between = Between::of(given, time, i).into_iter();
                        between.for_each(|between| self.room.fill(between, [&before, &x]));
                        visit(time, &mut *self.evaluator, &self.room.seen(at));
                    }
                }
                visit(end, &mut *self.evaluator, &x);
            }
        }
        if visit.is_none() {
            self.counters = counted;
        }
        Ok(())
    }

    /// Makes sure that every state of the run at `u` is there, without a run if it was the last one.
    pub(crate) fn ensure_stored(&mut self, u: &[f64]) -> Result<()> {
        if self.stored_at.as_deref() == Some(u) {
            return Ok(());
        }
        self.forward(u, Keep::States, &mut |_, _, _| {})
    }

    /// Lets nothing depend on what was done with the stored states before: orders of pivots start over.
    pub(crate) fn forget_orders(&mut self) {
        if let Some(u) = &self.stored_at {
            self.evaluator.set_parameters(u);
        }
    }

    /// Runs and keeps nothing; as [`Simulation::watch`].
    pub(super) fn watch<E: From<Error>>(
        &mut self,
        u: &[f64],
        visit: &mut Watcher<'_, E>,
    ) -> Result<(Counters, StartReport), E> {
        let given = self.simulation.given();
        let mut y = vec![0.0; given.signature().outputs.len()];
        let mut continuous = Continuous::of(given.signature());
        let mut refused = None;
        let stop = self.interrupt.clone();
        let outcome = self.forward(u, Keep::Nothing, &mut |i, evaluator, x| {
            evaluator.output(x, &mut y);
            continuous.follow(&mut y);
            let seen = check_outputs(given, i, &y).map_err(E::from).and_then(|()| visit(i, x, &y));
            // the run stops at the next step
            if let (Err(error), None) = (seen, &refused) {
                refused = Some(error);
                stop.raise();
            }
        });
        if let Some(error) = refused {
            return Err(error);
        }
        outcome?;
        Ok((self.counters, self.start.as_ref().map(|s| s.report.clone()).unwrap_or_default()))
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
        let mut states = States::new(&self.layout, &self.simulation.scheme_description());
        let reads_more = !self.simulation.reads_steps_alone();
        if reads_more {
            states.make_room(self.simulation.grid.count() + 1, || self.simulation.kept("states"))?;
        }
        let keep = if reads_more { Keep::Nothing } else { Keep::All };
        self.forward(u, keep, &mut |i, evaluator, x| {
            let y = &mut outputs[i * count..(i + 1) * count];
            evaluator.output(x, y);
            continuous.follow(y);
            if reads_more {
                states.keep_seen(i, x);
            }
        })?;
        let given = self.simulation.given();
        outputs.chunks(count.max(1)).enumerate().try_for_each(|(i, y)| check_outputs(given, i, y))?;
        self.stored_at = None;
        Ok(Trajectory {
            times: self.simulation.grid.times().to_vec(),
            states: if reads_more { states } else { std::mem::replace(&mut self.states, states) },
            outputs,
            output_count: count,
            counters: self.counters,
            start: self.start.as_ref().map(|s| s.report.clone()).unwrap_or_default(),
        })
    }
}
