//! Products with the derivative of one solved balance.

use super::super::balance::{Inertia, Multipliers, Prepared, combine};
use super::super::solve::Place;
use super::super::{Block, Layout};
use super::Solved;
use crate::system::{Equations, Evaluator, Level, Point, StateVector};

pub(super) fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}

/// A solved balance with its place.
pub(super) struct Link<'a> {
    pub(super) balance: &'a Prepared,
    pub(super) solved: &'a Solved,
    pub(super) place: Place<'a>,
    pub(super) layout: Layout,
}

impl Link<'_> {
    pub(super) fn point(&self) -> Point<'_> {
        let (x, layout) = (&self.solved.x, self.layout);
        let [q, v] = self.balance.at.map(|block| &x[layout.range(block)]);
        Point { t: self.place.t, q, v, a: &self.solved.s, lambda: &self.solved.z[layout.n..], w: self.place.w }
    }

    /// The point whose acceleration the constraints see, where M sees another one.
    pub(super) fn point_of_constraints(&self) -> Point<'_> {
        Point { a: &self.solved.x[self.layout.range(Block::A)], ..self.point() }
    }

    /// C_qᵀ μ - Q, which has no acceleration in it.
    pub(super) fn force_point<'p>(&'p self, zeros: &'p [f64]) -> Point<'p> {
        Point { a: &zeros[..self.layout.n], ..self.point() }
    }

    /// p = K⁻ᵀ (z̄, μ̄), of C and not of what is left of it in K.
    pub(super) fn weigh(
        &self,
        system: &mut dyn Evaluator,
        bar: &StateVector,
        seen: Option<&StateVector>,
        p: &mut [f64],
    ) {
        let (z, mu) = p.split_at_mut(self.layout.n);
        if let Some(transfer) = &self.balance.transfer {
            transfer.weigh([&bar.q, &bar.v, &bar.a, &bar.a_scheme], z);
        }
        let others = if self.balance.transfer.is_some() { &[] } else { self.balance.sets() };
        for (k, sets) in others.chunks(4).enumerate() {
            if k == 0 {
                combine(sets.iter().map(|set| (bar.block(set.block.index()), set.unknown)), z);
            } else {
                sets.iter().for_each(|set| add(z, set.unknown, bar.block(set.block.index())));
            }
        }
        match self.balance.multipliers {
            Multipliers::Forgotten => mu.fill(0.0),
            _ => mu.copy_from_slice(&bar.lambda),
        }
        if let Some(seen) = seen {
            // what second derivatives leave at the unknowns themselves
            if let Inertia::Unknown(factor) = self.balance.inertia {
                add(z, factor, &seen.a);
            }
            add(mu, 1.0, &seen.lambda);
        }
        system.solve_transposed(p);
        let level = self.balance.weights.of_level();
        p[self.layout.n..].iter_mut().for_each(|mu| *mu /= level);
    }

    /// Cotangents of what the equations see, put to those of the state.
    pub(super) fn give(&self, seen: &StateVector, bar: &mut StateVector) {
        let [q, v] = self.balance.at.map(Block::index);
        add(bar.block_mut(q), 1.0, &seen.q);
        add(bar.block_mut(v), 1.0, &seen.v);
        if let Inertia::Of(block) = self.balance.inertia {
            add(bar.block_mut(block.index()), 1.0, &seen.a);
        }
        add(&mut bar.u, 1.0, &seen.u);
        add(&mut bar.w, 1.0, &seen.w);
    }

    /// With p: from the cotangent of what is there after the balance to that of what was there before.
    pub(super) fn pull(
        &self,
        system: &mut dyn Evaluator,
        p: &[f64],
        bar: &mut StateVector,
        (seen, zeros, moved): (&mut StateVector, &[f64], &mut [Vec<f64>]),
    ) {
        let (dynamics, constraint) = p.split_at(self.layout.n);
        let weights = self.balance.weights;
        if self.balance.is_plain {
            system.pull_back(-1.0, dynamics, constraint, bar);
        } else if self.balance.is_split {
            clear(seen);
            system.pull_back(-1.0, dynamics, &zeros[..constraint.len()], seen);
            self.give(seen, bar);
            clear(seen);
            // the same factors: whether they exist has been seen
            let _ = system.linearise(&self.point_of_constraints(), weights);
            system.pull_back(-1.0, &zeros[..dynamics.len()], constraint, seen);
            add(bar.block_mut(Block::A.index()), 1.0, &seen.a);
            seen.a.fill(0.0);
            self.give(seen, bar);
            let _ = system.linearise(&self.point(), weights);
        } else {
            clear(seen);
            system.pull_back(-1.0, dynamics, constraint, seen);
            self.give(seen, bar);
        }
        if let Some(transfer) = &self.balance.transfer {
            transfer.backwards([&mut bar.q, &mut bar.v, &mut bar.a, &mut bar.a_scheme]);
            return self.release(dynamics, bar);
        }
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
        self.release(dynamics, bar);
    }

    /// What loads and multipliers leave of a cotangent.
    pub(super) fn release(&self, dynamics: &[f64], bar: &mut StateVector) {
        for (block, factor) in self.balance.load.terms() {
            add(bar.block_mut(block.index()), -factor, dynamics);
        }
        if self.balance.multipliers == Multipliers::Told {
            bar.lambda.fill(0.0);
        }
    }

    /// Tangents of what the equations see, for a direction.
    pub(super) fn see(&self, (x, z): (&StateVector, &[f64]), tangent: &mut StateVector) {
        let [q, v] = self.balance.at.map(|block| x.block(block.index()));
        tangent.q.copy_from_slice(q);
        tangent.v.copy_from_slice(v);
        match self.balance.inertia {
            Inertia::Of(block) => tangent.a.copy_from_slice(x.block(block.index())),
            Inertia::Unknown(factor) => tangent.a.iter_mut().zip(z).for_each(|(a, z)| *a = factor * z),
        }
        tangent.lambda.copy_from_slice(&z[self.layout.n..]);
        tangent.u.copy_from_slice(&x.u);
        tangent.w.copy_from_slice(&x.w);
    }

    /// Second derivatives of the equations, weighed with p, along a direction: into `seen`, and to the cotangent of A if the
    /// constraints see another acceleration than M.
    pub(super) fn curve(
        &self,
        system: &mut dyn Evaluator,
        p: &[f64],
        along: (&StateVector, &[f64]),
        (tangent, seen, bar): (&mut StateVector, &mut StateVector, &mut StateVector),
        zeros: &[f64],
    ) {
        let (dynamics, constraint) = p.split_at(self.layout.n);
        let equations = self.balance.equations;
        self.see(along, tangent);
        clear(seen);
        if !self.balance.is_split {
            return system.curvature(&self.point(), equations, -1.0, [dynamics, constraint], tangent, seen);
        }
        tangent.a.copy_from_slice(&along.0.a);
        let weights = [&zeros[..dynamics.len()], constraint];
        system.curvature(&self.point_of_constraints(), equations, -1.0, weights, tangent, seen);
        add(&mut bar.a, 1.0, &seen.a);
        seen.a.fill(0.0);
        self.see(along, tangent);
        let (alone, weights) =
            (Equations { level: Level::Position, ..equations }, [dynamics, &zeros[..constraint.len()]]);
        system.curvature(&self.point(), alone, -1.0, weights, tangent, seen);
    }

    /// From the tangent of what was there before to that of what is there after; that of the unknowns into `r`.
    pub(super) fn push(
        &self,
        system: &mut dyn Evaluator,
        x: &mut StateVector,
        r: &mut [f64],
        (seen, moved, spare): (&mut StateVector, &mut [Vec<f64>], &mut [f64]),
    ) {
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
            clear(seen);
            let [q, v] = self.balance.at.map(|block| x.block(block.index()));
            seen.q.copy_from_slice(q);
            seen.v.copy_from_slice(v);
            seen.u.copy_from_slice(&x.u);
            seen.w.copy_from_slice(&x.w);
            if let Inertia::Of(block) = self.balance.inertia {
                seen.a.copy_from_slice(x.block(block.index()));
            }
            system.push_forward(seen, dynamics, constraint);
            if self.balance.is_split {
                let weights = self.balance.weights;
                let _ = system.linearise(&self.point_of_constraints(), weights);
                seen.a.copy_from_slice(&x.a);
                constraint.fill(0.0);
                // C alone: what D makes of it is not wanted again
                system.push_forward(seen, &mut spare[..n], constraint);
                let _ = system.linearise(&self.point(), weights);
            }
        }
        let level = self.balance.weights.of_level();
        constraint.iter_mut().for_each(|c| *c /= level);
        system.solve(r);
        r.iter_mut().for_each(|r| *r = -*r);
        match &self.balance.transfer {
            Some(transfer) => transfer.add([&mut x.q, &mut x.v, &mut x.a, &mut x.a_scheme], &r[..n]),
            None => {
                self.balance.sets().iter().for_each(|set| add(x.block_mut(set.block.index()), set.unknown, &r[..n]))
            }
        }
        match self.balance.multipliers {
            Multipliers::Forgotten => {}
            Multipliers::Told => x.lambda.copy_from_slice(&r[n..]),
            Multipliers::Added => add(&mut x.lambda, 1.0, &r[n..]),
        }
    }
}

impl Link<'_> {
    /// With the derivatives of the force C_qᵀ μ - Q in place: from the cotangent of the block that keeps it.
    pub(super) fn pull_force(
        &self,
        system: &mut dyn Evaluator,
        block: Block,
        bar: &mut StateVector,
        (seen, none): (&mut StateVector, &[f64]),
    ) {
        system.pull_back(1.0, bar.block(block.index()), none, seen);
        bar.block_mut(block.index()).fill(0.0);
        // there is no acceleration in it
        seen.a.fill(0.0);
        self.give(seen, bar);
        add(&mut bar.lambda, 1.0, &seen.lambda);
    }

    /// The tangent of that block.
    pub(super) fn push_force(
        &self,
        system: &mut dyn Evaluator,
        block: Block,
        x: &mut StateVector,
        (seen, r): (&mut StateVector, &mut [f64]),
    ) {
        let [q, v] = self.balance.at.map(|block| x.block(block.index()));
        clear(seen);
        seen.q.copy_from_slice(q);
        seen.v.copy_from_slice(v);
        seen.lambda.copy_from_slice(&x.lambda);
        seen.u.copy_from_slice(&x.u);
        seen.w.copy_from_slice(&x.w);
        r.fill(0.0);
        let (dynamics, constraint) = r.split_at_mut(self.layout.n);
        system.push_forward(seen, dynamics, constraint);
        x.block_mut(block.index()).copy_from_slice(dynamics);
    }
}

/// Exchanges a block for another vector.
pub(super) fn exchange(x: &mut StateVector, block: Block, other: &mut Vec<f64>) {
    match block {
        Block::Q => std::mem::swap(&mut x.q, other),
        Block::V => std::mem::swap(&mut x.v, other),
        Block::A => std::mem::swap(&mut x.a, other),
        Block::S => std::mem::swap(&mut x.a_scheme, other),
        _ => x.block_mut(block.index()).swap_with_slice(other),
    }
}

pub(super) fn clear(x: &mut StateVector) {
    x.clear_state();
    x.u.fill(0.0);
    x.w.fill(0.0);
}
