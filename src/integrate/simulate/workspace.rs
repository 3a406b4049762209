//! Memory and evaluators for runs of one simulation.

use super::states::States;
use super::{Driven, Simulation, Trajectory};
use crate::continuous::Continuous;
use crate::error::{Error, Result};
use crate::grid::{FEWER_STEPS, TimeGrid};
use crate::interrupt::Interrupt;
use crate::memory::{self, bytes_of};
use crate::scheme::{Counters, Layout, Stepper};
use crate::signature::{Quantity, Signature};
use crate::start::Start;
use crate::system::{By, Evaluator, OutputPoint};
use std::borrow::Cow;

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
        let description = simulation.scheme.description();
        let layout = Layout::new(&description, signature);
        Workspace {
            simulation: Driven { simulation, inputs: Cow::Borrowed(&simulation.inputs) },
            evaluator,
            stepper: simulation.stepper(),
            layout,
            states: States::new(&layout, &description),
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
        let start = Start::solve(&mut *self.evaluator, signature, (t0, w0), beginning, previous)?;
        self.start = Some(start);
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
                let empty = States::new(&self.layout, &self.simulation.scheme.description());
                std::mem::replace(&mut self.states, empty)
            },
            outputs,
            output_count: count,
            counters: self.counters,
            start: self.start.as_ref().map(|s| s.report.clone()).unwrap_or_default(),
        })
    }
}
