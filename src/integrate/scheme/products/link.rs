//! Products with the derivative of one solved balance.

use super::super::balance::{Inertia, Multipliers, Prepared, combine};
use super::super::held::Held;
use super::super::solve::Place;
use super::super::{Block, Direction, Layout, Step};
use super::{Room, Solved, no_inverse};
use crate::Result;
use crate::signature::Signature;
use crate::system::{Evaluator, Level, Point, SingularMatrix, StateVector};

fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}

/// A solved balance with its place.
pub(super) struct Link<'a> {
    pub(super) balance: &'a Prepared,
    pub(super) solved: &'a Solved,
    pub(super) place: Place<'a>,
    pub(super) layout: Layout,
    pub(super) held: &'a mut Held,
    /// Number of tangents that are to be pushed forward.
    pub(super) tangents: usize,
}

impl Link<'_> {
    fn point(&self) -> Point<'_> {
        let (x, layout) = (&self.solved.x, self.layout);
        let [q, v] = self.balance.at.map(|block| &x[layout.range(block)]);
        Point { t: self.place.t, q, v, a: &self.solved.s, lambda: &self.solved.z[layout.n..], w: self.place.w }
    }

    fn derive(&self, system: &mut dyn Evaluator, x: &Point<'_>) -> std::result::Result<(), SingularMatrix> {
        system.linearise_for_tangents(x, self.balance.weights, self.tangents)
    }

    /// Makes derivatives and factors ready.
    pub(super) fn linearise(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
    ) -> Result<()> {
        let regular = self.derive(system, &self.point()).is_ok();
        if regular && (!self.balance.is_of_start || self.held.renew(system, self.layout.n + self.layout.m)) {
            return Ok(());
        }
        Err(no_inverse(system, signature, self.held, self.balance, &self.point(), step))
    }

    #[inline]
    fn solve(&self, system: &mut dyn Evaluator, b: &mut [f64], transposed: bool) {
        match (self.balance.is_of_start, transposed) {
            (true, _) => self.held.solve(system, b, transposed),
            (false, true) => system.solve_transposed(b),
            (false, false) => system.solve(b),
        }
    }

    /// Pulls a cotangent, and its derivatives along directions, back from what is there after the balance to what was there before, with
    /// derivatives in place. The directions' tangents after it are those from number `first` on.
    pub(super) fn pull_back(
        &self,
        system: &mut dyn Evaluator,
        (bar, directions): (&mut StateVector, &mut [Direction]),
        (first, is_single): (usize, bool),
        room: &mut Room,
    ) {
        let (equations, mut p, mut own) =
            (self.balance.equations, std::mem::take(&mut room.p), std::mem::take(&mut room.own));
        self.weigh(system, bar, None, &mut p);
        let (dynamics, constraint) = p.split_at(self.layout.n);
        let Solved { tangents, unknowns, .. } = self.solved;
        for (k, Direction { tangent: end, cotangent, .. }) in (first..).zip(directions) {
            if self.balance.is_plain {
                let x = if is_single { &*end } else { &tangents[k] };
                system.curvature(&self.point(), equations, -1.0, [dynamics, constraint], x, cotangent);
                self.weigh(system, cotangent, None, &mut own);
            } else {
                self.curve(system, &p, (&tangents[k], &unknowns[k]), cotangent, room);
                self.weigh(system, cotangent, Some(&room.seen), &mut own);
            }
            self.pull(system, &own, cotangent, room);
        }
        self.pull(system, &p, bar, room);
        (room.p, room.own) = (p, own);
    }

    /// Second derivatives of the equations, weighed with p, along a direction: put to the cotangent of the state, and into `seen` for what
    /// they leave at the unknowns.
    fn curve(
        &self,
        system: &mut dyn Evaluator,
        p: &[f64],
        along: (&StateVector, &[f64]),
        bar: &mut StateVector,
        room: &mut Room,
    ) {
        let Room { tangent, seen, zeros, .. } = room;
        let (mut equations, (dynamics, mut constraint)) = (self.balance.equations, p.split_at(self.layout.n));
        clear(seen);
        self.see(along, tangent);
        if self.balance.is_split {
            tangent.a.copy_from_slice(&along.0.a);
            let weights = [&zeros[..dynamics.len()], constraint];
            system.curvature(&self.point_of_constraints(), equations, -1.0, weights, tangent, seen);
            self.give_acceleration(seen, bar);
            self.see(along, tangent);
            (equations.level, constraint) = (Level::Position, &zeros[..constraint.len()]);
        }
        system.curvature(&self.point(), equations, -1.0, [dynamics, constraint], tangent, seen);
        self.give(seen, bar);
    }

    /// p = K⁻ᵀ (z̄, μ̄), of C and not of what is left of it in K; `seen`: what second derivatives leave at the unknowns themselves.
    fn weigh(&self, system: &mut dyn Evaluator, bar: &StateVector, seen: Option<&StateVector>, p: &mut [f64]) {
        let (z, mu) = p.split_at_mut(self.layout.n);
        if let Some(transfer) = &self.balance.transfer {
            transfer.weigh([&bar.q, &bar.v, &bar.a, &bar.a_scheme], z);
        } else {
            z.fill(0.0);
            self.balance.sets().iter().for_each(|set| add(z, set.unknown, bar.block(set.block.index())));
        }
        if self.balance.seeks_states {
            let states = self.layout.states();
            z[states.clone()].copy_from_slice(&bar.v[states]);
        }
        match self.balance.multipliers {
            Multipliers::Forgotten => mu.fill(0.0),
            _ => mu.copy_from_slice(&bar.lambda),
        }
        if let Some(seen) = seen {
            if let Inertia::Unknown(factor) = self.balance.inertia {
                add(z, factor, &seen.a);
            }
            add(mu, 1.0, &seen.lambda);
        }
        self.solve(system, p, true);
        let level = self.balance.weights.of_level();
        p[self.layout.n..].iter_mut().for_each(|mu| *mu /= level);
    }

    /// Cotangents of what the equations see, put to those of the state.
    fn give(&self, seen: &StateVector, bar: &mut StateVector) {
        let [q, v] = self.balance.at.map(Block::index);
        add(bar.block_mut(q), 1.0, &seen.q);
        add(bar.block_mut(v), 1.0, &seen.v);
        if let Inertia::Of(block) = self.balance.inertia {
            add(bar.block_mut(block.index()), 1.0, &seen.a);
        }
        add(&mut bar.u, 1.0, &seen.u);
        add(&mut bar.w, 1.0, &seen.w);
    }

    /// Pulls a cotangent back from what is there after the balance to what was there before, with p.
    fn pull(&self, system: &mut dyn Evaluator, p: &[f64], bar: &mut StateVector, room: &mut Room) {
        let Room { seen, moved, zeros, .. } = room;
        let (dynamics, constraint) = p.split_at(self.layout.n);
        if self.balance.is_plain {
            system.pull_back(-1.0, dynamics, constraint, bar);
        } else {
            clear(seen);
            let of_all = if self.balance.is_split { &zeros[..constraint.len()] } else { constraint };
            system.pull_back(-1.0, dynamics, of_all, seen);
            self.give(seen, bar);
        }
        if self.balance.is_split {
            clear(seen);
            self.with_constraints(system, |system| {
                system.pull_back(-1.0, &zeros[..dynamics.len()], constraint, seen);
            });
            self.give_acceleration(seen, bar);
            self.give(seen, bar);
        }
        if let Some(transfer) = &self.balance.transfer {
            transfer.backwards([&mut bar.q, &mut bar.v, &mut bar.a, &mut bar.a_scheme]);
        } else {
            for (moved, set) in moved.iter_mut().zip(self.balance.sets()) {
                if !set.known.is_empty() {
                    exchange(bar, set.block, moved);
                }
                bar.block_mut(set.block.index()).fill(0.0);
            }
            for (moved, set) in moved.iter().zip(self.balance.sets()) {
                for (block, factor) in set.known.terms() {
                    add(bar.block_mut(block.index()), factor, moved);
                }
            }
        }
        for (block, factor) in self.balance.load.terms() {
            add(bar.block_mut(block.index()), -factor, dynamics);
        }
        if self.balance.multipliers == Multipliers::Replaced {
            bar.lambda.fill(0.0);
        }
    }

    /// Takes the part of a tangent of the state, and of the unknowns, that the equations see.
    fn see(&self, (x, z): (&StateVector, &[f64]), seen: &mut StateVector) {
        let [q, v] = self.balance.at.map(|block| x.block(block.index()));
        seen.q.copy_from_slice(q);
        seen.v.copy_from_slice(v);
        match self.balance.inertia {
            Inertia::Of(block) => seen.a.copy_from_slice(x.block(block.index())),
            Inertia::Unknown(factor) => seen.a.iter_mut().zip(z).for_each(|(a, z)| *a = factor * z),
        }
        seen.lambda.copy_from_slice(&z[self.layout.n..]);
        seen.u.copy_from_slice(&x.u);
        seen.w.copy_from_slice(&x.w);
    }

    /// Pushes a tangent forward from what was there before to what is there after; that of the unknowns into `r`.
    pub(super) fn push(&self, system: &mut dyn Evaluator, x: &mut StateVector, r: &mut [f64], room: &mut Room) {
        let Room { seen, moved, zeros, p: spare, .. } = room;
        let n = self.layout.n;
        r.fill(0.0);
        let (dynamics, constraint) = r.split_at_mut(n);
        for (block, factor) in self.balance.load.terms() {
            add(dynamics, factor, x.block(block.index()));
        }
        if let Some(transfer) = &self.balance.transfer {
            transfer.forwards([&mut x.q, &mut x.v, &mut x.a, &mut x.a_scheme]);
        } else {
            for (moved, set) in moved.iter_mut().zip(self.balance.sets()) {
                combine(set.known.terms().map(|(block, factor)| (x.block(block.index()), factor)), moved);
            }
            for (moved, set) in moved.iter_mut().zip(self.balance.sets()) {
                exchange(x, set.block, moved);
            }
        }
        if self.balance.is_plain {
            x.lambda.fill(0.0);
            system.push_forward(x, dynamics, constraint);
        } else {
            self.see((x, zeros), seen);
            system.push_forward(seen, dynamics, constraint);
        }
        if self.balance.is_split {
            seen.a.copy_from_slice(&x.a);
            constraint.fill(0.0);
            // C alone: what D makes of it is not wanted again
            self.with_constraints(system, |system| system.push_forward(seen, &mut spare[..n], constraint));
        }
        let level = self.balance.weights.of_level();
        constraint.iter_mut().for_each(|c| *c /= level);
        self.solve(system, r, false);
        r.iter_mut().for_each(|r| *r = -*r);
        match &self.balance.transfer {
            Some(transfer) => transfer.add([&mut x.q, &mut x.v, &mut x.a, &mut x.a_scheme], &r[..n]),
            None => {
                self.balance.sets().iter().for_each(|set| add(x.block_mut(set.block.index()), set.unknown, &r[..n]))
            }
        }
        if self.balance.seeks_states {
            self.layout.states().for_each(|j| x.v[j] = std::mem::take(&mut x.q[j]));
        }
        match self.balance.multipliers {
            Multipliers::Forgotten => {}
            Multipliers::Replaced => x.lambda.copy_from_slice(&r[n..]),
            Multipliers::Added => add(&mut x.lambda, 1.0, &r[n..]),
        }
    }
}

/// Balances in which M and the constraints see different accelerations.
impl Link<'_> {
    /// The point that the constraints see.
    fn point_of_constraints(&self) -> Point<'_> {
        Point { a: &self.solved.x[self.layout.range(Block::A)], ..self.point() }
    }

    /// Does `work` with derivatives at the point that the constraints see.
    fn with_constraints(&self, system: &mut dyn Evaluator, work: impl FnOnce(&mut dyn Evaluator)) {
        // the same factors: whether they exist has been seen
        let _ = self.derive(system, &self.point_of_constraints());
        work(system);
        let _ = self.derive(system, &self.point());
    }

    /// The cotangent of what the constraints see as acceleration, put to that of A.
    fn give_acceleration(&self, seen: &mut StateVector, bar: &mut StateVector) {
        add(&mut bar.a, 1.0, &seen.a);
        seen.a.fill(0.0);
    }
}

/// Products of the block that keeps the force C_qᵀ μ - Q, which has no acceleration in it.
impl Link<'_> {
    /// Pulls back the cotangent of that block, and its derivatives along directions.
    pub(super) fn pull_force_back(
        &self,
        system: &mut dyn Evaluator,
        (bar, directions): (&mut StateVector, &mut [Direction]),
        first: usize,
        room: &mut Room,
    ) {
        let Some(block) = self.balance.force else { return };
        let Room { seen, tangent, zeros, .. } = room;
        let (none, still) = (&zeros[..self.layout.m], &zeros[..self.layout.n]);
        let point = Point { a: still, ..self.point() };
        // only products are asked for: a singular matrix does not matter here
        let _ = self.derive(system, &point);
        let Solved { tangents, unknowns, .. } = self.solved;
        for (Direction { cotangent, .. }, along) in directions.iter_mut().zip(tangents.iter().zip(unknowns).skip(first))
        {
            self.see((along.0, along.1), tangent);
            tangent.a.fill(0.0);
            clear(seen);
            let of_force = bar.block(block.index());
            system.curvature(&point, self.balance.equations, 1.0, [of_force, none], tangent, seen);
            self.pull_force(system, block, cotangent, (seen, none));
        }
        clear(seen);
        self.pull_force(system, block, bar, (seen, none));
    }

    fn pull_force(
        &self,
        system: &mut dyn Evaluator,
        block: Block,
        bar: &mut StateVector,
        (seen, none): (&mut StateVector, &[f64]),
    ) {
        system.pull_back(1.0, bar.block(block.index()), none, seen);
        bar.block_mut(block.index()).fill(0.0);
        seen.a.fill(0.0);
        self.give(seen, bar);
        add(&mut bar.lambda, 1.0, &seen.lambda);
    }

    /// Tangents of the block of forces, from those of the state after the balance.
    pub(super) fn push_force(&self, system: &mut dyn Evaluator, tangents: &mut [StateVector], room: &mut Room) {
        let Some(block) = self.balance.force else { return };
        let Room { seen, own: r, zeros, .. } = room;
        // only products are asked for: a singular matrix does not matter here
        let _ = self.derive(system, &Point { a: &zeros[..self.layout.n], ..self.point() });
        for x in tangents {
            self.see((x, zeros), seen);
            seen.a.fill(0.0);
            seen.lambda.copy_from_slice(&x.lambda);
            r.fill(0.0);
            let (dynamics, constraint) = r.split_at_mut(self.layout.n);
            system.push_forward(seen, dynamics, constraint);
            x.block_mut(block.index()).copy_from_slice(dynamics);
        }
    }
}

/// Exchanges a block for another vector.
fn exchange(x: &mut StateVector, block: Block, other: &mut Vec<f64>) {
    match block {
        Block::Q => std::mem::swap(&mut x.q, other),
        Block::V => std::mem::swap(&mut x.v, other),
        Block::A => std::mem::swap(&mut x.a, other),
        Block::S => std::mem::swap(&mut x.a_scheme, other),
        _ => x.block_mut(block.index()).swap_with_slice(other),
    }
}

fn clear(x: &mut StateVector) {
    x.clear_state();
    x.u.fill(0.0);
    x.w.fill(0.0);
}
