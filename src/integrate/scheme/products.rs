//! Products of a step's derivative with cotangents and tangents, balance by balance.
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

use link::{Link, clear};

use super::balance::{Balance, Inertia, Prepared};
use super::stepper::{Step, Stepper};
use super::{Block, Counters, Direction, Layout};
use crate::diagnosis::{Purpose, singular};
use crate::error::{Error, Result};
use crate::signature::Signature;
use crate::system::{Evaluator, StateVector};

/// Positions of a step that is solved once more, beside the largest, which count as the same.
const SAME: f64 = 1e-9;

/// A balance where it has been solved.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    /// The state after it.
    x: Vec<f64>,
    /// Its unknowns (z, μ).
    z: Vec<f64>,
    /// What M multiplies.
    s: Vec<f64>,
    /// Tangents of the state after it, and of the unknowns, one a direction.
    tangents: Vec<StateVector>,
    unknowns: Vec<Vec<f64>>,
}

impl Solved {
    pub fn new(layout: Layout) -> Self {
        let Layout { n, m, .. } = layout;
        let (tangents, unknowns) = (Vec::new(), Vec::new());
        Solved { x: vec![0.0; layout.size()], z: vec![0.0; n + m], s: vec![0.0; n], tangents, unknowns }
    }

    fn take_inertia(&mut self, balance: &Balance, layout: Layout) {
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
}

impl Room {
    pub fn new(Layout { n, m, .. }: Layout, signature: &Signature) -> Self {
        let zeros = || vec![0.0; n + m];
        let state = || StateVector::zeros(signature);
        Room { p: zeros(), own: zeros(), seen: state(), tangent: state(), moved: Vec::new(), zeros: zeros() }
    }

    pub fn fit(&mut self, balances: &[Prepared]) {
        let (n, most) = (self.seen.q.len(), balances.iter().map(|balance| balance.sets().len()).max().unwrap_or(0));
        self.moved.resize_with(most.max(self.moved.len()), || vec![0.0; n]);
    }
}

impl Stepper {
    /// Room for the states that products of a step want, to be filled before them: that at its end, and, where there is room for it, that
    /// at its beginning, from which the balances of a list are solved once more.
    pub fn room(&mut self, step: &Step<'_>) -> (&mut [f64], Option<&mut [f64]>) {
        self.prepare_for(step);
        if step.index > 0 && self.balances.len() == 1 {
            return (&mut self.replay[0].x, None);
        }
        (&mut self.end, Some(&mut self.before))
    }

    /// Brings back the state and the unknowns after each balance of a step. A single one ends in the state that is stored.
    fn bring_back(&mut self, system: &mut dyn Evaluator, signature: &Signature, step: &Step<'_>) -> Result<()> {
        self.prepare_for(step);
        let (layout, n) = (self.layout, self.layout.n);
        if let ([balance], true) = (&self.balances[..], step.index > 0) {
            let solved = &mut self.replay[0];
            let own = balance.unknown_itself.unwrap_or(Block::S);
            solved.z[..n].copy_from_slice(&solved.x[layout.range(own)]);
            solved.z[n..].copy_from_slice(&solved.x[layout.multipliers()]);
            solved.take_inertia(balance, layout);
            return Ok(());
        }
        self.solver.restart(&self.balances);
        if step.index > 0 {
            self.solver.begin_at(&self.end);
        }
        let (mut counters, mut replay) = (Counters::default(), std::mem::take(&mut self.replay));
        let mut outcome = Ok(());
        for number in 0..self.balances.len() {
            let (done, rest) = replay.split_at_mut(number);
            let solved = &mut rest[0];
            solved.x.copy_from_slice(done.last().map_or(&self.before, |done| &done.x));
            outcome = self.solve(system, signature, step, number, (None, &mut solved.x), &mut counters);
            if outcome.is_err() {
                break;
            }
            solved.z.copy_from_slice(&self.solver.z);
            solved.take_inertia(&self.balances[number], layout);
        }
        self.replay = replay;
        outcome?;
        let Some(last) = self.replay[..self.balances.len()].last().filter(|_| step.index > 0) else { return Ok(()) };
        let (again, end) = (&last.x[..n], &self.end[..n]);
        let size = again.iter().fold(0.0f64, |size, q| size.max(q.abs()));
        if again.iter().zip(end).all(|(again, end)| (again - end).abs() <= SAME * size) {
            return Ok(());
        }
        let problem = "solved once more for derivatives, it leads elsewhere: its equations have several solutions";
        Err(Error::invalid(format!("the step to t = {} s", step.t), problem, "take smaller steps, or another scheme"))
    }

    fn link<'a>(
        balances: &'a [Prepared],
        replay: &'a [Solved],
        layout: Layout,
        number: usize,
        step: &Step<'a>,
    ) -> Link<'a> {
        let balance = &balances[number];
        Link { balance, solved: &replay[number], place: Self::place(balance, number, step), layout }
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
        // a single balance about q, v, a and λ alone ends in the tangents that are there
        let is_single = matches!(&self.balances[..], [balance] if balance.is_plain && step.index > 0);
        if !directions.is_empty() && !is_single {
            self.bring_back_tangents(system, signature, step, directions)?;
        }
        let Stepper { balances, replay, layout, room, .. } = self;
        let Room { p, own, seen, tangent, moved, zeros } = room;
        let n = layout.n;
        for number in (0..balances.len()).rev() {
            let link = Self::link(balances, replay, *layout, number, step);
            let is_later = link.balance.later > 0.0;
            if is_later {
                exchange_inputs(bar, directions);
            }
            let Solved { tangents, unknowns, .. } = link.solved;
            if let Some(block) = link.balance.force {
                let point = link.force_point(zeros);
                // only products are asked for: a singular matrix does not matter here
                let _ = system.linearise(&point, link.balance.weights);
                let none = &zeros[..p.len() - n];
                for (Direction { cotangent, .. }, (x, z)) in directions.iter_mut().zip(tangents.iter().zip(unknowns)) {
                    link.see((x, z), tangent);
                    tangent.a.fill(0.0);
                    clear(seen);
                    let of_force = bar.block(block.index());
                    system.curvature(&point, link.balance.equations, 1.0, [of_force, none], tangent, seen);
                    link.pull_force(system, block, cotangent, (seen, none));
                }
                clear(seen);
                link.pull_force(system, block, bar, (seen, none));
            }
            if system.linearise(&link.point(), link.balance.weights).is_err() {
                return Err(singular(system, signature, &link.point(), Purpose::of(step.index)));
            }
            link.weigh(system, bar, None, p);
            let (equations, weights) = (link.balance.equations, p.split_at(n));
            for (k, Direction { tangent: end, cotangent, .. }) in directions.iter_mut().enumerate() {
                if link.balance.is_plain {
                    let x = if is_single { &*end } else { &tangents[k] };
                    system.curvature(&link.point(), equations, -1.0, [weights.0, weights.1], x, cotangent);
                    link.weigh(system, cotangent, None, own);
                } else {
                    link.curve(system, p, (&tangents[k], &unknowns[k]), (tangent, seen, cotangent), zeros);
                    link.give(seen, cotangent);
                    link.weigh(system, cotangent, Some(seen), own);
                }
                link.pull(system, own, cotangent, (seen, zeros, moved));
            }
            link.pull(system, p, bar, (seen, zeros, moved));
            if is_later {
                exchange_inputs(bar, directions);
            }
        }
        Ok(())
    }

    /// Tangents after each balance, along each direction.
    fn bring_back_tangents(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        directions: &[Direction],
    ) -> Result<()> {
        let (n, layout) = (self.layout.n, self.layout);
        let count = directions.len();
        for solved in &mut self.replay {
            solved.tangents.resize_with(count, || StateVector::with_memory(signature, layout.memory));
            solved.unknowns.resize_with(count, || vec![0.0; n + layout.m]);
        }
        if let ([balance], true) = (&self.balances[..], step.index > 0) {
            let (own, Solved { tangents, unknowns, .. }) =
                (balance.unknown_itself.unwrap_or(Block::S), &mut self.replay[0]);
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
                let StateVector { u, w, w_next, .. } = &directions[k].tangent;
                x.u.copy_from_slice(u);
                x.w.copy_from_slice(w);
                x.w_next.copy_from_slice(w_next);
            }
            let mut tangents = std::mem::take(&mut rest[0].tangents);
            let mut unknowns = std::mem::take(&mut rest[0].unknowns);
            let outcome = self.push(system, signature, step, number, (&mut tangents, &mut unknowns));
            if self.balances[number].later > 0.0 {
                // what its equations see
                tangents.iter_mut().for_each(StateVector::exchange_inputs);
            }
            (self.replay[number].tangents, self.replay[number].unknowns) = (tangents, unknowns);
            outcome?;
        }
        Ok(())
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
        for number in 0..self.balances.len() {
            self.push(system, signature, step, number, (tangents, &mut []))?;
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
        let Stepper { balances, replay, layout, room, .. } = self;
        let link = Self::link(balances, replay, *layout, number, step);
        if system.linearise(&link.point(), link.balance.weights).is_err() {
            return Err(singular(system, signature, &link.point(), Purpose::of(step.index)));
        }
        let Room { seen, moved, zeros, own, p, .. } = room;
        let is_later = link.balance.later > 0.0;
        if is_later {
            tangents.iter_mut().for_each(StateVector::exchange_inputs);
        }
        let mut unknowns = unknowns.iter_mut();
        for x in tangents.iter_mut() {
            let r = unknowns.next().unwrap_or(&mut *own);
            link.push(system, x, r, (&mut *seen, &mut *moved, &mut *p));
        }
        if let Some(block) = link.balance.force {
            // only products are asked for: a singular matrix does not matter here
            let _ = system.linearise(&link.force_point(zeros), link.balance.weights);
            tangents.iter_mut().for_each(|x| link.push_force(system, block, x, (&mut *seen, &mut *own)));
        }
        if is_later {
            tangents.iter_mut().for_each(StateVector::exchange_inputs);
        }
        Ok(())
    }

    /// What a start leaves to a scheme: S is A, and nothing else is carried yet. Of tangents, before [`Stepper::push_forward`].
    pub fn begin_tangents(tangents: &mut [StateVector]) {
        for StateVector { a, a_scheme, memory, .. } in tangents {
            a_scheme.copy_from_slice(a);
            memory.fill(0.0);
        }
    }

    /// The same of cotangents, after everything else.
    pub fn end_cotangents(bar: &mut StateVector, directions: &mut [Direction]) {
        for bar in directions.iter_mut().map(|direction| &mut direction.cotangent).chain([bar]) {
            let StateVector { a, a_scheme, memory, .. } = bar;
            a.iter_mut().zip(a_scheme).for_each(|(a, own)| *a += std::mem::take(own));
            memory.fill(0.0);
        }
    }
}

/// For a balance about a later time.
fn exchange_inputs(bar: &mut StateVector, directions: &mut [Direction]) {
    bar.exchange_inputs();
    directions.iter_mut().for_each(|direction| direction.cotangent.exchange_inputs());
}
