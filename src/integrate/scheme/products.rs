//! Products of a sequence's derivative with cotangents and tangents, balance by balance.
//!
//! With R = (D, C) the equations of a balance, X = base + b z what it sets, and K its matrix, these are exactly
//!
//! ```text
//! pull back:     p = K⁻ᵀ (Σ b X̄, μ̄),   base̅ = X̄ - (∂R/∂X)ᵀ p,   ū -= (∂R/∂u)ᵀ p
//! push forward:  (Z, Μ) = -K⁻¹ ∂R (base tangents, U),   X = base + b Z
//! ```
//!
//! and, along a direction, the derivative of the first.

mod link;

use link::Link;

use super::balance::{Balance, Inertia, Prepared};
use super::sequence::{Sequence, no_inverse};
use super::sizes::{by_sizes, sized};
use super::{Block, Direction, Layout, Step};
use crate::Result;
use crate::signature::Signature;
use crate::system::{Evaluator, Point, StateVector};

/// A balance where it has been solved.
#[derive(Debug, Clone, Default)]
pub(super) struct Solved {
    /// The state after it.
    pub x: Vec<f64>,
    /// Unknowns (z, μ) of the balance.
    pub z: Vec<f64>,
    /// Acceleration that M multiplies.
    s: Vec<f64>,
    /// Tangents of the state after it, and of the unknowns, one a direction.
    tangents: Vec<StateVector>,
    unknowns: Vec<Vec<f64>>,
}

impl Solved {
    pub fn new(layout: Layout) -> Self {
        let Layout { n, m, .. } = layout;
        Solved { x: vec![0.0; layout.size()], z: vec![0.0; n + m], s: vec![0.0; n], ..Solved::default() }
    }

    pub fn take_inertia(&mut self, balance: &Balance, layout: Layout) {
        match balance.inertia {
            Inertia::Of(block) => self.s.copy_from_slice(&self.x[layout.range(block)]),
            Inertia::Unknown(factor) => self.s.iter_mut().zip(&self.z).for_each(|(s, z)| *s = factor * z),
        }
    }
}

/// Room for products.
pub(super) struct Room {
    /// The weights of the main sweep, and of a direction.
    p: Vec<f64>,
    own: Vec<f64>,
    /// Cotangents or tangents of what the equations see.
    seen: StateVector,
    tangent: StateVector,
    moved: Vec<Vec<f64>>,
    zeros: Vec<f64>,
    /// Right-hand sides of many tangents, one behind the other.
    sides: Vec<f64>,
}

impl Room {
    pub fn new(Layout { n, m, .. }: Layout, signature: &Signature) -> Self {
        let zeros = || vec![0.0; n + m];
        let state = || StateVector::zeros(signature);
        Room {
            p: zeros(),
            own: zeros(),
            seen: state(),
            tangent: state(),
            moved: Vec::new(),
            zeros: zeros(),
            sides: Vec::new(),
        }
    }

    pub fn fit(&mut self, balances: &[Prepared]) {
        let (n, most) = (self.seen.q.len(), balances.iter().map(|balance| balance.sets().len()).max().unwrap_or(0));
        self.moved.resize_with(most.max(self.moved.len()), || vec![0.0; n]);
    }
}

impl Sequence {
    /// A balance of the sequence where it has been solved, and room for products.
    fn link<'a>(&'a mut self, number: usize, step: &Step<'a>, tangents: usize) -> (Link<'a>, &'a mut Room) {
        let (balance, solved) = (&self.balances[number], &self.replay[number]);
        let (place, held) = (Self::place(balance, number, step), &mut self.solver.held);
        (Link { balance, solved, place, layout: self.layout, held, tangents }, &mut self.room)
    }

    /// Turns a cotangent of its end into one of its beginning; adds to the parameters' part. Does the same to its derivatives along
    /// directions. Each of its balances is kept where it has been solved; `is_single`: there is one, whose tangents are those of the end.
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
        is_single: bool,
    ) -> Result<()> {
        if !directions.is_empty() {
            self.bring_back_tangents(system, signature, step, directions, is_single)?;
        }
        for number in (0..self.balances.len()).rev() {
            let sees_other = self.balances[number].sees_other_inputs();
            if sees_other {
                exchange_inputs(bar, directions);
            }
            let (mut link, room) = self.link(number, step, 0);
            link.pull_force_back(system, (bar, directions), 0, room);
            link.linearise(system, signature, step)?;
            link.pull_back(system, (bar, directions), (0, is_single), room);
            if sees_other {
                exchange_inputs(bar, directions);
            }
        }
        Ok(())
    }

    /// Pulls many cotangents back as [`Sequence::pull_back`] does one, with derivatives that are found once; `directions`: none, or one for each
    /// of them alone.
    ///
    /// # Errors
    /// If the matrix is singular.
    pub fn pull_all_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        (bars, directions): (&mut [StateVector], &mut [Direction]),
        is_single: bool,
    ) -> Result<()> {
        if !directions.is_empty() {
            self.bring_back_tangents(system, signature, step, directions, is_single)?;
        }
        for number in (0..self.balances.len()).rev() {
            let sees_other = self.balances[number].sees_other_inputs();
            let (mut link, room) = self.link(number, step, 0);
            for (k, bar) in bars.iter_mut().enumerate() {
                let own = own_of(directions, k);
                if sees_other {
                    exchange_inputs(bar, own);
                }
                link.pull_force_back(system, (bar, own), k, room);
            }
            link.linearise(system, signature, step)?;
            for (k, bar) in bars.iter_mut().enumerate() {
                let own = own_of(directions, k);
                link.pull_back(system, (bar, own), (k, is_single), room);
                if sees_other {
                    exchange_inputs(bar, own);
                }
            }
        }
        Ok(())
    }

    /// Pulls a cotangent back through a single balance that is direct, solved at `x`, without directions.
    ///
    /// # Errors
    /// If the matrix is singular.
    pub fn pull_directly_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &Point<'_>,
        bar: &mut StateVector,
    ) -> Result<()> {
        by_sizes!(self.layout, self.pull_directly_back_sized(system, signature, step, x, bar))
    }

    fn pull_directly_back_sized<const N: usize, const M: usize>(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &Point<'_>,
        bar: &mut StateVector,
    ) -> Result<()> {
        let (Layout { n, m, .. }, balance) = (sized::<N, M>(self.layout), &self.balances[0]);
        if system.linearise(x, balance.weights).is_err() {
            return Err(no_inverse(system, signature, &self.solver.held, balance, x, step));
        }
        let p = &mut self.room.p[..n + m];
        if let Some(transfer) = &balance.transfer {
            transfer.weigh([&bar.q[..n], &bar.v[..n], &bar.a[..n], &bar.a_scheme[..n]], &mut p[..n]);
        }
        p[n..].iter_mut().zip(&bar.lambda).for_each(|(mu, lambda)| *mu = *lambda);
        system.solve_transposed(p);
        let (z, mu) = p.split_at_mut(n);
        let level = balance.weights.of_level();
        mu.iter_mut().for_each(|mu| *mu /= level);
        system.pull_back(-1.0, z, mu, bar);
        if let Some(transfer) = &balance.transfer {
            let StateVector { q, v, a, a_scheme, .. } = bar;
            transfer.backwards([&mut q[..n], &mut v[..n], &mut a[..n], &mut a_scheme[..n]]);
        }
        bar.lambda.iter_mut().for_each(|lambda| *lambda = 0.0);
        Ok(())
    }

    /// Tangents after each balance, along each direction.
    fn bring_back_tangents(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        directions: &[Direction],
        is_single: bool,
    ) -> Result<()> {
        let (n, layout) = (self.layout.n, self.layout);
        // a single balance about q, v, a and λ alone sees the tangents that are there
        if is_single && self.balances[0].is_plain {
            return Ok(());
        }
        let count = directions.len();
        for solved in &mut self.replay {
            solved.tangents.resize_with(count, || StateVector::with_memory(signature, layout.memory));
            solved.unknowns.resize_with(count, || vec![0.0; n + layout.m]);
        }
        if is_single {
            let own = self.balances[0].unknown_itself.unwrap_or(Block::S);
            let Solved { tangents, unknowns, .. } = &mut self.replay[0];
            for ((x, z), direction) in tangents.iter_mut().zip(unknowns).zip(directions) {
                x.clone_from(&direction.tangent);
                z[..n].copy_from_slice(direction.tangent.block(own.index()));
                z[n..].copy_from_slice(&direction.tangent.lambda);
            }
            return Ok(());
        }
        for number in 0..self.balances.len() {
            let (done, rest) = self.replay.split_at_mut(number);
            for (k, x) in rest[0].tangents.iter_mut().enumerate() {
                x.clone_from(done.last().map_or(&directions[k].before, |done| &done.tangents[k]));
                let StateVector { u, w, w_other, .. } = &directions[k].tangent;
                x.u.copy_from_slice(u);
                x.w.copy_from_slice(w);
                x.w_other.copy_from_slice(w_other);
            }
            let mut tangents = std::mem::take(&mut rest[0].tangents);
            let mut unknowns = std::mem::take(&mut rest[0].unknowns);
            let outcome = self.push(system, signature, step, number, (&mut tangents, &mut unknowns));
            if self.balances[number].sees_other_inputs() {
                // what its equations see
                tangents.iter_mut().for_each(StateVector::exchange_inputs);
            }
            (self.replay[number].tangents, self.replay[number].unknowns) = (tangents, unknowns);
            outcome?;
        }
        Ok(())
    }

    /// Turns tangents of its beginning into those of its end; their parameters' parts are the directions. Each of its balances is kept where
    /// it has been solved.
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
        if matches!(&self.balances[..], [balance] if balance.is_direct) {
            return by_sizes!(self.layout, self.push_directly_sized(system, signature, step, tangents));
        }
        (0..self.balances.len()).try_for_each(|number| self.push(system, signature, step, number, (tangents, &mut [])))
    }

    /// Pushes tangents through a single balance that is direct.
    fn push_directly_sized<const N: usize, const M: usize>(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()> {
        let Layout { n, m, .. } = sized::<N, M>(self.layout);
        let (mut link, room) = self.link(0, step, tangents.len());
        link.linearise(system, signature, step)?;
        let (Some(transfer), level) = (&link.balance.transfer, link.balance.weights.of_level()) else { return Ok(()) };
        let sides = &mut room.sides;
        sides.clear();
        sides.resize((n + m) * tangents.len(), 0.0);
        for (x, side) in tangents.iter_mut().zip(sides.chunks_exact_mut(n + m)) {
            let StateVector { q, v, a, a_scheme, lambda, .. } = &mut *x;
            transfer.forwards([&mut q[..n], &mut v[..n], &mut a[..n], &mut a_scheme[..n]]);
            lambda.iter_mut().for_each(|lambda| *lambda = 0.0);
            let (dynamics, constraint) = side.split_at_mut(n);
            system.push_forward(x, dynamics, constraint);
            constraint.iter_mut().for_each(|c| *c /= level);
        }
        system.solve_all(sides, n + m);
        for (x, side) in tangents.iter_mut().zip(sides.chunks_exact_mut(n + m)) {
            side.iter_mut().for_each(|r| *r = -*r);
            let StateVector { q, v, a, a_scheme, lambda, .. } = x;
            transfer.add([&mut q[..n], &mut v[..n], &mut a[..n], &mut a_scheme[..n]], &side[..n]);
            lambda[..m].copy_from_slice(&side[n..]);
        }
        Ok(())
    }

    /// Pushes tangents through one balance; those of its unknowns are kept where there is room for them.
    fn push(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        number: usize,
        (tangents, unknowns): (&mut [StateVector], &mut [Vec<f64>]),
    ) -> Result<()> {
        let (mut link, room) = self.link(number, step, tangents.len());
        link.linearise(system, signature, step)?;
        let sees_other = link.balance.sees_other_inputs();
        if sees_other {
            tangents.iter_mut().for_each(StateVector::exchange_inputs);
        }
        let mut unknowns = unknowns.iter_mut();
        for x in tangents.iter_mut() {
            let mut own = std::mem::take(&mut room.own);
            link.push(system, x, unknowns.next().unwrap_or(&mut own), room);
            room.own = own;
        }
        link.push_force(system, tangents, room);
        if sees_other {
            tangents.iter_mut().for_each(StateVector::exchange_inputs);
        }
        Ok(())
    }
}

/// The direction of a cotangent that has its own, if there are any.
fn own_of(directions: &mut [Direction], k: usize) -> &mut [Direction] {
    if directions.is_empty() { directions } else { &mut directions[k..=k] }
}

/// Exchanges the inputs at a step's end and the other ones, for a balance that sees the latter.
fn exchange_inputs(bar: &mut StateVector, directions: &mut [Direction]) {
    bar.exchange_inputs();
    directions.iter_mut().for_each(|direction| direction.cotangent.exchange_inputs());
}
