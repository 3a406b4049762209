//! A scheme at work: its balances solved one after another.

use super::balance::{Balance, Multipliers, Prepared};
use super::products::{Room, Solved};
use super::solve::{Failure, Place, Solver};
use super::{Block, Counters, Layout, Scheme};
use crate::diagnosis::{Purpose, not_finite, singular};
use crate::error::{Error, Result};
use crate::signature::Signature;
use crate::system::{Evaluator, Point, StateVector};
use std::sync::Arc;

/// One step: from time `t - h` to `t`; or the start, with what follows it.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Number of the step, from 1; 0 is what a scheme makes of the start.
    pub index: usize,
    /// Time at its end, s.
    pub t: f64,
    /// Its size, s; at the start, that of the first step.
    pub h: f64,
    /// That of the step before it, s.
    pub h_before: f64,
    /// Inputs at its end.
    pub w: &'a [f64],
    /// Inputs one step later, for the start.
    pub w_next: &'a [f64],
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

/// A scheme with memory for one thread.
pub struct Stepper {
    pub(super) scheme: Arc<dyn Scheme>,
    pub(super) layout: Layout,
    /// Numbers that steps read besides q, v, a, S and λ.
    carried: usize,
    pub(super) solver: Solver,
    pub(super) balances: Vec<Prepared>,
    /// As they come from the scheme.
    listed: Vec<Balance>,
    /// Sizes of the step, and of the one before it, that the balances are for; whether it is the start.
    made_for: Option<(f64, f64, bool)>,
    /// The states at both ends of a step that is differentiated.
    pub(super) before: Vec<f64>,
    pub(super) end: Vec<f64>,
    /// Each balance of a step where it has been solved.
    pub(super) replay: Vec<Solved>,
    /// Room for products.
    pub(super) room: Room,
}

impl Stepper {
    /// Memory for one thread.
    pub fn new(scheme: Arc<dyn Scheme>, signature: &Signature) -> Self {
        let layout = Layout::new(&*scheme, signature);
        let mut stepper = Stepper {
            solver: Solver::new(layout, scheme.newton_options()),
            carried: layout.n * usize::from(scheme.carried_blocks()),
            scheme,
            layout,
            balances: Vec::new(),
            listed: Vec::new(),
            made_for: None,
            before: vec![0.0; layout.size()],
            end: vec![0.0; layout.size()],
            replay: Vec::new(),
            room: Room::new(layout, signature),
        };
        // room for the longest list, once
        for is_start in [true, false] {
            stepper.prepare(1.0, 1.0, is_start);
            stepper.solver.restart(&stepper.balances);
            stepper.room.fit(&stepper.balances);
            let count = stepper.balances.len().max(stepper.replay.len());
            stepper.replay.resize_with(count, || Solved::new(layout));
        }
        stepper.made_for = None;
        stepper
    }

    /// Makes the balances ready.
    fn prepare(&mut self, h: f64, h_before: f64, is_start: bool) {
        if self.made_for == Some((h, h_before, is_start)) {
            return;
        }
        self.listed.clear();
        if is_start {
            self.scheme.start(h, &mut self.listed);
        } else {
            self.scheme.step(h, h / h_before, &mut self.listed);
        }
        self.balances.clear();
        let compliance = self.scheme.compliance(h);
        self.balances.extend(self.listed.iter().map(|balance| balance.prepare(compliance)));
        self.made_for = Some((h, h_before, is_start));
    }

    pub(super) fn prepare_for(&mut self, step: &Step<'_>) {
        self.prepare(step.h, step.h_before, step.index == 0);
    }

    pub(super) fn place<'a>(balance: &Balance, number: usize, step: &Step<'a>) -> Place<'a> {
        let w = if balance.later > 0.0 { step.w_next } else { step.w };
        Place { t: step.t + balance.later, w, number }
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
        self.solver.restart(&self.balances);
        for number in 0..self.balances.len() {
            self.solve(system, signature, step, number, (None, x0), counters)?;
        }
        self.prepare(step.h, step.h, false);
        self.solver.restart(&self.balances);
        Ok(())
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
        self.prepare_for(step);
        for number in 0..self.balances.len() {
            let before = (number == 0).then_some(previous);
            self.begin(number, previous, next);
            self.solve(system, signature, step, number, (before, next), counters)?;
        }
        self.recover(previous, next);
        counters.steps += 1;
        Ok(())
    }

    /// What the first balance leaves alone stays as it was.
    fn begin(&self, number: usize, previous: &[f64], next: &mut [f64]) {
        let (layout, balance) = (self.layout, &self.balances[0]);
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
        if balance.multipliers != Multipliers::Told {
            next[layout.multipliers()].copy_from_slice(&previous[layout.multipliers()]);
        }
    }

    /// The scheme's own acceleration is the one that a stored run gives back, to the last bit.
    fn recover(&self, previous: &[f64], next: &mut [f64]) {
        if let Some([after, before]) = self.scheme.recovered_acceleration() {
            let n = self.layout.n;
            let (a, own) = next[2 * n..4 * n].split_at_mut(n);
            for ((own, a), a_before) in own.iter_mut().zip(a).zip(&previous[self.layout.range(Block::A)]) {
                *own = after * *a + before * a_before;
            }
        }
    }

    pub(super) fn solve(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        number: usize,
        (before, x): (Option<&[f64]>, &mut [f64]),
        counters: &mut Counters,
    ) -> Result<()> {
        let balance = &self.balances[number];
        let place = Self::place(balance, number, step);
        let first = counters.iterations;
        let Err(failure) = self.solver.solve(system, balance, place, step.h, (before, x), counters) else {
            return Ok(());
        };
        let n = self.layout.n;
        Err(match failure {
            Failure::Singular => {
                singular(system, signature, &self.solver.point(balance, x, place), Purpose::of(step.index))
            }
            Failure::NotFinite => {
                let residual = self.solver.residual_at(system, balance, place, x);
                let point = Point { a: &self.solver.z[..n], ..self.solver.point(balance, x, place) };
                not_finite(signature, &point, &residual, step.index)
            }
            Failure::NotConverged { residual, row } => Error::NewtonFailed {
                time: step.t,
                step: step.index,
                step_size: step.h,
                iterations: counters.iterations - first,
                residual,
                equation: signature.equation_name(row),
            },
        })
    }
}
