//! Balances solved one after another, each from what the ones before it have set: a time step, and a start.

use super::balance::{Balance, Prepared};
use super::held::Held;
use super::products::{Room, Solved};
use super::solve::{Failure, Place, Solver};
use super::{Block, Counters, Layout, NewtonOptions, Step};
use crate::diagnosis::{not_finite, singular};
use crate::signature::Signature;
use crate::system::{Evaluator, Point};
use crate::{Error, Result};

/// A list of balances with memory for one thread.
pub(crate) struct Sequence {
    pub(super) layout: Layout,
    pub(super) solver: Solver,
    pub(super) balances: Vec<Prepared>,
    /// The state from which the first balance is solved once more.
    pub before: Vec<f64>,
    /// Each balance where it has been solved.
    pub(super) replay: Vec<Solved>,
    /// Room for products.
    pub(super) room: Room,
}

impl Sequence {
    pub fn new(layout: Layout, newton: NewtonOptions, signature: &Signature) -> Self {
        Sequence {
            layout,
            solver: Solver::new(layout, newton),
            balances: Vec::new(),
            before: vec![0.0; layout.size()],
            replay: Vec::new(),
            room: Room::new(layout, signature),
        }
    }

    /// A start's own, which leaves coordinates as they are where it projects.
    pub fn of_start(signature: &Signature, list: &[Balance], compliance: f64, held: &[usize]) -> Self {
        let layout = Layout::of(signature);
        let newton = NewtonOptions { max_iterations: FROM_AFAR, ..NewtonOptions::default() };
        let mut sequence = Sequence::new(layout, newton, signature);
        sequence.solver.held = Held::new(held);
        sequence.take(list, compliance);
        sequence.fit();
        sequence
    }

    /// Takes other balances, whose constraints yield by `compliance`.
    pub fn take(&mut self, list: &[Balance], compliance: f64) {
        self.balances.clear();
        self.balances.extend(list.iter().map(|balance| balance.prepare(compliance)));
    }

    /// Makes room for its balances, and forgets earlier ones.
    pub fn fit(&mut self) {
        self.solver.restart(&self.balances);
        self.room.fit(&self.balances);
        let count = self.balances.len().max(self.replay.len());
        self.replay.resize_with(count, || Solved::new(self.layout));
    }

    /// Forgets earlier steps.
    pub fn restart(&mut self) {
        self.solver.restart(&self.balances);
    }

    pub(super) fn place<'a>(balance: &Balance, number: usize, step: &Step<'a>) -> Place<'a> {
        let w = if balance.sees_other_inputs() { step.w_other } else { step.w };
        let from = if balance.is_at_beginning { step.t - step.h } else { step.t };
        Place { t: from + balance.later, w, number }
    }

    /// Solves one of them: what it sets goes into `x`, from what is in `before`, or in `x` itself.
    ///
    /// # Errors
    /// If Newton's iteration fails, a value overflows, or the matrix is singular.
    #[inline]
    pub fn solve(
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
        match self.solver.solve(system, balance, place, step.h, (before, &mut *x), counters) {
            Ok(()) => Ok(()),
            Err(failure) => {
                Err(self.failed(failure, system, signature, (step, number), x, counters.iterations - first))
            }
        }
    }

    /// Why balance `number` has no solution, after so many iterations.
    #[cold]
    fn failed(
        &mut self,
        failure: Failure,
        system: &mut dyn Evaluator,
        signature: &Signature,
        (step, number): (&Step<'_>, usize),
        x: &[f64],
        iterations: usize,
    ) -> Error {
        let balance = &self.balances[number];
        let place = Self::place(balance, number, step);
        match failure {
            Failure::Singular => {
                no_inverse(system, signature, &self.solver.held, balance, &self.solver.point(balance, x, place), step)
            }
            Failure::NotFinite => {
                let residual = self.solver.residual_at(system, balance, place, x);
                let point = Point { a: &self.solver.z[..self.layout.n], ..self.solver.point(balance, x, place) };
                not_finite(signature, &point, &residual, step.index)
            }
            Failure::NotConverged { residual, row } => Error::NewtonFailed {
                time: step.t,
                step: step.index,
                step_size: step.h,
                iterations,
                residual,
                equation: signature.equation_name(row),
            },
        }
    }

    /// The state with which balance `number` begins, where the list is kept for products.
    pub fn beginning(&mut self, number: usize) -> &mut [f64] {
        match number.checked_sub(1) {
            None => &mut self.before,
            Some(last) => &mut self.replay[last].x,
        }
    }

    /// Solves one of them as [`Sequence::solve`] does, and keeps it for products.
    ///
    /// # Errors
    /// As [`Sequence::solve`].
    pub fn solve_and_keep(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        number: usize,
        counters: &mut Counters,
    ) -> Result<()> {
        let mut solved = std::mem::take(&mut self.replay[number]);
        solved.x.copy_from_slice(self.beginning(number));
        let outcome = self.solve(system, signature, step, number, (None, &mut solved.x), counters);
        solved.z.copy_from_slice(&self.solver.z);
        solved.take_inertia(&self.balances[number], self.layout);
        self.replay[number] = solved;
        outcome
    }

    /// Takes the unknowns of a single balance from the state in its replay.
    pub fn keep_end(&mut self) {
        let (balance, solved, n) = (&self.balances[0], &mut self.replay[0], self.layout.n);
        let Solved { x, z, .. } = solved;
        z[..n].copy_from_slice(&x[self.layout.range(balance.unknown_itself.unwrap_or(Block::S))]);
        z[n..].copy_from_slice(&x[self.layout.multipliers()]);
        solved.take_inertia(balance, self.layout);
    }

    /// Takes the unknowns of balance `number`, which have been found elsewhere.
    pub fn keep(&mut self, number: usize, z: &[f64]) {
        let mut solved = std::mem::take(&mut self.replay[number]);
        solved.x.copy_from_slice(self.beginning(number));
        self.solver.put(&self.balances[number], z, &mut solved.x);
        solved.z.copy_from_slice(z);
        solved.take_inertia(&self.balances[number], self.layout);
        self.replay[number] = solved;
    }

    /// Positions with the smallest residuals of the constraints among those at which the last balance of a start was evaluated; none if
    /// these were finite nowhere.
    pub fn closest(&self) -> Option<&[f64]> {
        let (least, q) = &self.solver.closest;
        least.is_finite().then_some(&q[..])
    }
}

/// Newton iterations of a start, which may begin far from its solution.
const FROM_AFAR: usize = 60;

/// Why the matrix of a balance has no inverse.
pub(super) fn no_inverse(
    system: &mut dyn Evaluator,
    signature: &Signature,
    held: &Held,
    balance: &Prepared,
    x: &Point<'_>,
    step: &Step<'_>,
) -> Error {
    if held.is_singular {
        let problem = "the others cannot satisfy the constraints here";
        return Error::invalid("the held coordinates", problem, "hold fewer, or others");
    }
    singular(system, signature, x, balance.purpose(step.index))
}
