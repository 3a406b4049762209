//! A scheme at work: its balances solved one after another, and differentiated.

use super::balance::{Balance, Multipliers};
use super::sequence::Sequence;
use super::{Block, Counters, Description, Inertia, Layout, NewtonOptions, Scheme};
use crate::signature::Signature;
use crate::system::{Evaluator, Level, Point, StateVector};
use crate::{Error, Result};
use std::sync::Arc;

/// One step: from time `t - h` to `t`; or the start, with what follows it.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Number of the step, from 1; 0 is what a scheme makes of the start.
    pub index: usize,
    /// True for a step that restarts: inputs have jumped at its beginning.
    pub is_restart: bool,
    /// Time at its end, s.
    pub t: f64,
    /// Size of the step, s; at the start, that of the first step.
    pub h: f64,
    /// Size of the step before it, s.
    pub h_before: f64,
    /// Inputs at its end.
    pub w: &'a [f64],
    /// The other inputs that the step sees: those one step later for the start, those from its beginning on where it restarts.
    pub w_other: &'a [f64],
}

/// A direction in which a sweep backwards is itself differentiated.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Tangent of the state that the sweep is at.
    pub tangent: StateVector,
    /// Tangent of the state before it.
    pub before: StateVector,
    /// Derivative of the sweep's cotangent along it.
    pub cotangent: StateVector,
}

/// Part of a run that balances are listed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Start,
    /// A step that restarts.
    Restart,
    Step,
}

impl StepKind {
    const ALL: [StepKind; 3] = [StepKind::Start, StepKind::Restart, StepKind::Step];

    fn of(step: &Step<'_>) -> Self {
        match step {
            Step { index: 0, .. } => StepKind::Start,
            Step { is_restart: true, .. } => StepKind::Restart,
            _ => StepKind::Step,
        }
    }
}

/// Positions of a step that is solved once more, beside the largest, which count as the same.
const SAME: f64 = 1e-9;

/// A scheme with memory for one thread.
pub struct Stepper {
    scheme: Arc<dyn Scheme>,
    layout: Layout,
    /// Numbers that steps read besides q, v, a, S and λ.
    carried: usize,
    /// Factors of accelerations that make S, if they do.
    recovered: Option<[f64; 2]>,
    /// Numbers that tell what is remembered from step to step.
    remembered: usize,
    sequence: Sequence,
    /// Balances as they come from the scheme.
    listed: Vec<Balance>,
    /// Sizes of the step, and of the one before it, that the balances are for, and its kind.
    made_for: Option<(f64, f64, StepKind)>,
    /// The state from which a step that restarts went on.
    begun: Vec<f64>,
    /// The state at the end of a step that is differentiated.
    end: Vec<f64>,
}

impl Stepper {
    /// Memory for one thread, with what the scheme is in this run, and limits of Newton's iteration.
    pub fn new(
        scheme: Arc<dyn Scheme>,
        description: &Description,
        newton: NewtonOptions,
        signature: &Signature,
    ) -> Self {
        let layout = Layout::new(description, signature);
        let mut stepper = Stepper {
            carried: layout.n * usize::from(description.carried_blocks),
            recovered: description.recovered_acceleration,
            remembered: 0,
            sequence: Sequence::new(layout, newton, signature),
            scheme,
            layout,
            listed: Vec::new(),
            made_for: None,
            begun: vec![0.0; layout.size()],
            end: vec![0.0; layout.size()],
        };
        // room for the longest list, once
        for kind in StepKind::ALL {
            stepper.prepare(1.0, 1.0, kind);
            stepper.sequence.fit();
        }
        stepper.made_for = None;
        stepper.remembered = stepper.sequence.solver.remembered(stepper.sequence.balances.len());
        stepper
    }

    /// Makes the balances ready.
    #[inline]
    fn prepare(&mut self, h: f64, h_before: f64, kind: StepKind) {
        if self.made_for != Some((h, h_before, kind)) {
            self.make(h, h_before, kind);
        }
    }

    fn make(&mut self, h: f64, h_before: f64, kind: StepKind) {
        self.listed.clear();
        match kind {
            StepKind::Start => self.scheme.start(h, &mut self.listed),
            StepKind::Restart => self.list_restart(h),
            StepKind::Step => self.scheme.step(h, h / h_before, &mut self.listed),
        }
        self.sequence.take(&self.listed, self.scheme.compliance(h));
        self.made_for = Some((h, h_before, kind));
    }

    /// Lists a step that restarts: at its beginning velocities on the constraints, accelerations that the forces there give, and what the
    /// scheme makes of a start; then its first step.
    fn list_restart(&mut self, h: f64) {
        if self.layout.m > 0 {
            self.listed.push(Balance::projection(Level::Velocity).set(Block::V, [(Block::V, 1.0)], 1.0));
        }
        let motion = Balance::of_motion(Level::Acceleration, Inertia::Of(Block::A));
        self.listed.push(motion.set(Block::A, [], 1.0).set(Block::S, [], 1.0));
        self.scheme.start(h, &mut self.listed);
        self.listed.iter_mut().for_each(|balance| *balance = balance.at_beginning());
        self.scheme.step(h, 1.0, &mut self.listed);
    }

    #[inline]
    fn prepare_for(&mut self, step: &Step<'_>) {
        self.prepare(step.h, step.h_before, StepKind::of(step));
    }

    /// Makes of a consistent state in `x0`, whose S is A, what the first step begins with, and forgets earlier steps.
    ///
    /// # Errors
    /// As [`Stepper::step`].
    pub fn start(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x0: &mut [f64],
        counters: &mut Counters,
    ) -> Result<()> {
        self.prepare_for(step);
        self.sequence.restart();
        for number in 0..self.sequence.balances.len() {
            self.sequence.solve(system, signature, step, number, (None, x0), counters)?;
        }
        self.prepare(step.h, step.h, StepKind::Step);
        self.sequence.restart();
        Ok(())
    }

    /// The state from which the last step went on, where it restarted.
    pub(crate) fn begun(&self) -> &[f64] {
        &self.begun
    }

    /// Numbers that tell what steps remember of the steps before them.
    pub(crate) fn remembered(&self) -> usize {
        self.remembered
    }

    /// Puts them behind others, after a step.
    pub(crate) fn remember(&mut self, numbers: &mut Vec<f64>) {
        if let Some((h, _, StepKind::Restart)) = self.made_for {
            // nothing: the next step forgets it
            self.prepare(h, h, StepKind::Step);
            self.sequence.restart();
        }
        self.sequence.solver.remember(self.sequence.balances.len(), numbers);
    }

    /// Takes them back before `step`, so that it is solved once more to the last bit.
    pub(crate) fn recall(&mut self, step: &Step<'_>, numbers: &[f64]) {
        self.prepare_for(step);
        self.sequence.restart();
        self.sequence.solver.recall(numbers);
    }

    /// Solves the equations of a step for `next`.
    ///
    /// # Errors
    /// If Newton's iteration fails, a value overflows, or the matrix is singular.
    pub fn step(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        previous: &[f64],
        next: &mut [f64],
        counters: &mut Counters,
    ) -> Result<()> {
        let was_restart = matches!(self.made_for, Some((.., StepKind::Restart)));
        self.prepare_for(step);
        if step.is_restart || was_restart {
            self.sequence.restart();
        }
        if step.is_restart {
            // as before a start: what is solved for there begins at zero
            next[self.layout.memory_range()].fill(0.0);
        }
        for number in 0..self.sequence.balances.len() {
            let is_first_of_step = number > 0 && self.sequence.balances[number - 1].is_at_beginning;
            if is_first_of_step && !self.sequence.balances[number].is_at_beginning {
                self.begun.copy_from_slice(next);
            }
            let before = (number == 0).then_some(previous);
            self.begin(number, previous, next);
            self.sequence.solve(system, signature, step, number, (before, next), counters)?;
        }
        self.recover(previous, next);
        // what nobody sees does not grow
        next[self.layout.states()].fill(0.0);
        counters.steps += 1;
        Ok(())
    }

    /// Copies from the state before whatever the first balance leaves alone.
    #[inline(always)]
    fn begin(&self, number: usize, previous: &[f64], next: &mut [f64]) {
        let (layout, balance) = (self.layout, &self.sequence.balances[0]);
        if number > 0 || balance.is_whole && self.carried == 0 {
            return;
        }
        let first = layout.memory_range().start;
        let carried = first..first + self.carried;
        next[carried.clone()].copy_from_slice(&previous[carried]);
        for block in [Block::Q, Block::V, Block::A, Block::S] {
            if !balance.sets().iter().any(|set| set.block == block) {
                next[layout.range(block)].copy_from_slice(&previous[layout.range(block)]);
            }
        }
        if balance.multipliers != Multipliers::Replaced {
            next[layout.multipliers()].copy_from_slice(&previous[layout.multipliers()]);
        }
    }

    /// The scheme's own acceleration is the one that a stored run gives back, to the last bit.
    fn recover(&self, previous: &[f64], next: &mut [f64]) {
        if let Some([after, before]) = self.recovered {
            let previous = if matches!(self.made_for, Some((.., StepKind::Restart))) { &self.begun } else { previous };
            let n = self.layout.n;
            let (a, own) = next[2 * n..4 * n].split_at_mut(n);
            for ((own, a), a_before) in own.iter_mut().zip(a).zip(&previous[self.layout.range(Block::A)]) {
                *own = after * *a + before * a_before;
            }
        }
    }

    /// True for a step of one balance, which ends in the state and the tangents that are stored.
    #[inline]
    fn is_single(&self, step: &Step<'_>) -> bool {
        step.index > 0 && self.sequence.balances.len() == 1
    }

    /// Room for the states that products of a step want, to be filled before them: that at its end, and, where there is room for it, that
    /// at its beginning, from which the balances of a list are solved once more.
    pub fn room(&mut self, step: &Step<'_>) -> (&mut [f64], Option<&mut [f64]>) {
        self.prepare_for(step);
        if self.is_single(step) {
            return (&mut self.sequence.replay[0].x, None);
        }
        (&mut self.end, Some(&mut self.sequence.before))
    }

    /// Brings back the state and the unknowns after each balance of a step.
    fn bring_back(&mut self, system: &mut dyn Evaluator, signature: &Signature, step: &Step<'_>) -> Result<()> {
        self.prepare_for(step);
        if self.is_single(step) {
            self.sequence.keep_end();
            return Ok(());
        }
        self.sequence.restart();
        if step.index > 0 {
            self.sequence.solver.begin_at(&self.end);
        }
        let mut counters = Counters::default();
        for number in 0..self.sequence.balances.len() {
            self.sequence.solve_and_keep(system, signature, step, number, &mut counters)?;
        }
        if step.index == 0 {
            return Ok(());
        }
        let (own, count) = (..self.layout.states().start, self.sequence.balances.len());
        let (again, end) = (&self.sequence.beginning(count)[own], &self.end[own]);
        let size = again.iter().fold(0.0f64, |size, q| size.max(q.abs()));
        if again.iter().zip(end).all(|(again, end)| (again - end).abs() <= SAME * size) {
            return Ok(());
        }
        let problem = "solved once more for derivatives, it leads elsewhere: its equations have several solutions";
        Err(Error::invalid(format!("the step to t = {} s", step.t), problem, "take smaller steps, or another scheme"))
    }

    /// Turns a cotangent of the step's end into one of its beginning; adds to its parameters' part. Does the same to its derivatives along
    /// directions. The state that [`Stepper::room`] asks for is in place.
    ///
    /// # Errors
    /// If the matrix is singular.
    pub fn pull_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()> {
        self.bring_back(system, signature, step)?;
        let is_single = self.is_single(step);
        self.sequence.pull_back(system, signature, step, bar, directions, is_single)
    }

    /// Turns many cotangents of the step's end into those of its beginning, as [`Stepper::pull_back`] does one; `directions`: none, or one for each of
    /// them alone.
    ///
    /// # Errors
    /// If the matrix is singular.
    pub(crate) fn pull_all_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        bars: &mut [StateVector],
        directions: &mut [Direction],
    ) -> Result<()> {
        self.bring_back(system, signature, step)?;
        let is_single = self.is_single(step);
        self.sequence.pull_all_back(system, signature, step, (bars, directions), is_single)
    }

    /// True if [`Stepper::pull_directly_back`] does for a step.
    #[inline]
    pub fn is_direct(&mut self, step: &Step<'_>) -> bool {
        self.prepare_for(step);
        self.is_single(step) && self.sequence.balances[0].is_direct
    }

    /// Pulls a cotangent back through a step that is direct, without directions, from the state at its end alone: see
    /// [`Stepper::pull_back`].
    ///
    /// # Errors
    /// If the matrix is singular.
    #[inline]
    pub fn pull_directly_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        end: &Point<'_>,
        bar: &mut StateVector,
    ) -> Result<()> {
        self.sequence.pull_directly_back(system, signature, step, end, bar)
    }

    /// Turns tangents of a step's beginning into those of its end; their parameters' parts are the directions. The state that
    /// [`Stepper::room`] asks for is in place.
    ///
    /// # Errors
    /// If the matrix is singular.
    pub fn push_forward(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()> {
        self.bring_back(system, signature, step)?;
        self.sequence.push_forward(system, signature, step, tangents)
    }
}
