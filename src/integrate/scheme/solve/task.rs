//! Newton's iteration for one balance at one time.

use super::super::balance::{Multipliers, Prepared};
use super::super::newton::NewtonStatus;
use super::super::round_off::{STALLED, SignificantResidual, larger, largest, relative, sum, worst_row};
use super::super::sizes::sized;
use super::super::{Block, Counters, Layout};
use super::{Failure, Place, Solver, Track, point_of};
use crate::system::{Evaluator, Level, Point, Weights};

/// Newton steps of shortened length before a step counts as failed.
const DAMPED_ITERATIONS: usize = 60;
/// The shortest part of an increment that is tried.
const SHORTEST: f64 = 1e-4;
/// Full steps converge where the next increment is less than this part of the last.
const CONTRACTS: f64 = 0.1;

/// One balance being solved.
pub(super) struct Task<'a, 's> {
    pub solver: &'s mut Solver,
    pub system: &'s mut dyn Evaluator,
    pub balance: &'s Prepared,
    pub weights: Weights,
    pub place: Place<'a>,
    pub x: &'s mut [f64],
    pub counters: &'s mut Counters,
}

impl Task<'_, '_> {
    /// Iterates from the unknowns in `z`; on return `x` holds what they set.
    #[inline(never)]
    pub fn iterate<const N: usize, const M: usize>(&mut self) -> Result<(), Failure> {
        let layout = sized::<N, M>(self.solver.layout);
        let (n, size) = (layout.n, layout.n + layout.m);
        let limit = self.solver.convergence.max_iterations();
        let is_linear = self.balance.is_linear;
        self.solver.convergence.begin();
        // a list of linear balances at the same positions needs factors once
        let mut renew = !self.has_factors(layout);
        let mut worst = (f64::INFINITY, 0);
        let mut sizes = [0.0; 2];
        for iteration in 1..=limit {
            let regular = self.equations(layout, renew);
            if renew && is_linear && regular {
                self.note_factors(layout);
            }
            if !regular {
                let finite = self.solver.r.iter().all(|r| r.is_finite());
                return Err(if finite { Failure::Singular } else { Failure::NotFinite });
            }
            let Solver { r, residual, .. } = &mut *self.solver;
            if iteration == limit {
                worst = worst_row(r);
            }
            residual[..size].copy_from_slice(&r[..size]);
            self.solve_factors();
            let Some(increment) = self.apply_increment(layout) else { return Err(Failure::NotFinite) };
            if is_linear {
                // one solve, and one more to remove its round-off
                if iteration == 2 {
                    self.solver.update(layout, self.balance, self.x, true);
                    return Ok(());
                }
                renew = false;
                continue;
            }
            let status = self.solver.convergence.judge(increment);
            renew = status == NewtonStatus::Slow || self.balance.is_of_start;
            let is_round_off = status != NewtonStatus::Converged
                && (iteration > 1 && self.vanishes(sizes)
                    || status == NewtonStatus::Slow && self.is_round_off(iteration));
            if status == NewtonStatus::Converged || is_round_off {
                self.solver.update(layout, self.balance, self.x, true);
                return Ok(());
            }
            // only a bound that is known asks for them
            let Solver { residual, tracks, .. } = &*self.solver;
            if tracks[self.place.number].bound_age.is_some() {
                sizes = [&residual[..n], &residual[n..size]].map(largest);
            }
        }
        Err(Failure::NotConverged { residual: worst.0, row: worst.1 })
    }

    /// True if the increment has left nothing but round-off: where steps end at that, the bound of a while ago tells it. `before`: sizes of
    /// the residuals one iteration ago.
    fn vanishes(&self, before: [f64; 2]) -> bool {
        let Solver { layout, residual, tracks, .. } = &*self.solver;
        let Track { bound, bound_age, noise, .. } = &tracks[self.place.number];
        bound_age.is_some()
            && SignificantResidual::of([residual, bound], layout.n).vanishes_after_increment(before, *noise)
    }

    /// Retries after iterations that failed: once more from where the step began, and by the way of shortened steps.
    #[cold]
    pub fn retry(&mut self, mut outcome: Result<(), Failure>, extrapolated: bool) -> Result<(), Failure> {
        if extrapolated {
            // the extrapolation may have led away (an impact, a switch of the input)
            self.solver.z.copy_from_slice(&self.solver.z_start);
            outcome = self.iterate::<0, 0>();
        }
        let may_damp = !self.balance.is_of_start;
        if may_damp && matches!(outcome, Err(Failure::NotConverged { .. } | Failure::NotFinite)) {
            self.solver.z.copy_from_slice(&self.solver.z_start);
            if !self.damped_newton() {
                self.solver.z.copy_from_slice(&self.solver.z_start);
            }
            outcome = self.iterate::<0, 0>();
        }
        outcome
    }

    /// True if the residual of an increment that did not shrink is round-off.
    fn is_round_off(&mut self, iteration: usize) -> bool {
        let n = self.solver.layout.n;
        let Solver { z, r, residual, tracks, .. } = &mut *self.solver;
        let change = largest(&r[n..]);
        let Track { bound, bound_age, .. } = &tracks[self.place.number];
        if bound_age.is_some() && iteration <= STALLED && SignificantResidual::of([&*residual, bound], n).is_far(change)
        {
            // a new bound, which costs more than an iteration, would not tell anything else
            return false;
        }
        // at the point where the residual was evaluated: its multipliers are back there
        z.iter_mut().zip(&*r).for_each(|(z, r)| *z += r);
        self.measure_round_off();
        let Solver { z, r, residual, tracks, .. } = &mut *self.solver;
        z.iter_mut().zip(&*r).for_each(|(z, r)| *z -= r);
        let track = &mut tracks[self.place.number];
        let significant = SignificantResidual::of([&*residual, &track.bound], n);
        // increments of multipliers times those of positions
        let products = self.weights.position * largest(&r[..n]) * change;
        let is_negligible = significant.is_below_round_off(change);
        if is_negligible {
            track.noise = significant.noise(products);
        }
        significant.is_zero() || is_negligible || iteration > STALLED && significant.is_noise(products)
    }

    /// Comes near to the solution from the unknowns in `z` by Newton's method with steps that are shortened until they lead
    /// nearer, where full ones go in circles: stiff friction, contact. What counts is the next increment with the same factors
    /// (the natural monotonicity test of Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 3.3), which does not
    /// mind the units of equations. True where full steps converge; no such path need exist where friction falls with the rate.
    pub fn damped_newton(&mut self) -> bool {
        let n = self.solver.layout.n;
        // room for an increment and for the point that it leaves
        let track = &mut self.solver.tracks[self.place.number];
        track.bound_age = None;
        let mut from = std::mem::take(&mut track.bound);
        let mut increment = std::mem::take(&mut self.solver.residual);
        let mut near = false;
        for _ in 0..DAMPED_ITERATIONS {
            from.copy_from_slice(&self.solver.z);
            if !self.newton_increment(true) {
                break;
            }
            increment.copy_from_slice(&self.solver.r);
            let scales = [&from[..n], &from[n..]].map(|part| largest(part) + f64::MIN_POSITIVE);
            let size = |change: &[f64]| largest(&change[..n]) / scales[0] + largest(&change[n..]) / scales[1];
            let whole = size(&increment);
            let mut part = 1.0;
            let found = loop {
                for ((z, from), change) in self.solver.z.iter_mut().zip(&from).zip(&increment) {
                    *z = from - part * change;
                }
                let finite = self.newton_increment(false);
                let left = size(&self.solver.r);
                if finite && left <= (1.0 - 0.25 * part) * whole {
                    break Some(left / whole);
                }
                part *= 0.5;
                if part < SHORTEST {
                    break None;
                }
            };
            match found {
                Some(ratio) if part == 1.0 && ratio < CONTRACTS => near = true,
                Some(_) => continue,
                None => {}
            }
            break;
        }
        self.solver.residual = increment;
        self.solver.tracks[self.place.number].bound = from;
        near
    }

    /// The increment of Newton's method at the unknowns in `z` into `r`, with new factors or those that are there; false if it is
    /// not finite.
    fn newton_increment(&mut self, renew: bool) -> bool {
        let regular = self.equations(self.solver.layout, renew);
        if regular {
            self.solve_factors();
        }
        regular && self.solver.r.iter().all(|r| r.is_finite())
    }

    /// True if the factors are there that a linear balance is to have.
    fn has_factors(&mut self, layout: Layout) -> bool {
        let Solver { factored, .. } = &*self.solver;
        let is_untouched = self.balance.is_linear
            && !self.balance.is_of_start
            && factored.count.is_some_and(|count| self.system.factored() == Some(count))
            && factored.t == self.place.t
            && factored.weights == [self.weights.acceleration, self.weights.compliance];
        if !is_untouched {
            return false;
        }
        self.solver.update(layout, self.balance, self.x, false);
        self.solver.factored.q == self.x[layout.range(self.balance.at[0])]
    }

    /// Keeps what the factors of a linear balance are of.
    fn note_factors(&mut self, layout: Layout) {
        let factored = &mut self.solver.factored;
        factored.count = self.system.factored().filter(|_| !self.balance.is_of_start);
        if factored.count.is_some() {
            (factored.t, factored.weights) = (self.place.t, [self.weights.acceleration, self.weights.compliance]);
            factored.q.clear();
            factored.q.extend_from_slice(&self.x[layout.range(self.balance.at[0])]);
        }
    }

    /// The increment from the residual in `r`.
    #[inline]
    fn solve_factors(&mut self) {
        let Solver { r, held, .. } = &mut *self.solver;
        if self.balance.is_of_start { held.solve(self.system, r, false) } else { self.system.solve(r) }
    }

    /// True if factors are there, for a balance of a start too; the positions nearest to its constraints are kept.
    fn watch(&mut self, regular: bool) -> bool {
        let Solver { layout, held, r, closest: (least, closest), .. } = &mut *self.solver;
        let size = r[layout.n..].iter().map(|c| c * c).sum::<f64>();
        if size < *least {
            *least = size;
            closest.copy_from_slice(&self.x[layout.range(Block::Q)]);
        }
        regular && held.renew(self.system, layout.n + layout.m)
    }

    /// The residual at the unknowns in `z`, with new factors if asked for; false if there are none.
    #[inline(always)]
    fn equations(&mut self, layout: Layout, renew: bool) -> bool {
        self.solver.update(layout, self.balance, self.x, false);
        let Solver { z, r, inertia, load, .. } = &mut *self.solver;
        let (dynamics, constraint) = r[..layout.n + layout.m].split_at_mut(layout.n);
        let point = point_of(layout, self.balance, [z, inertia], self.x, self.place);
        self.counters.iterations += 1;
        let regular = if renew {
            self.counters.factorisations += 1;
            self.system.factorise(&point, self.weights, dynamics, constraint).is_ok()
        } else {
            self.system.residual(&point, self.weights.equations, dynamics, constraint);
            true
        };
        if self.balance.is_split {
            let a = &self.x[layout.range(Block::A)];
            self.system.constraint(Level::Acceleration, &Point { a, ..point }, constraint);
        }
        if !self.balance.load.is_empty() {
            dynamics.iter_mut().zip(load).for_each(|(r, load)| *r += *load);
        }
        let scale = 1.0 / self.weights.of_level();
        constraint.iter_mut().for_each(|c| *c *= scale);
        let compliance = self.weights.compliance;
        if compliance != 0.0 {
            constraint.iter_mut().zip(point.lambda).for_each(|(c, mu)| *c -= compliance * mu);
        }
        if self.balance.is_of_start && renew { self.watch(regular) } else { regular }
    }

    /// Works out the bound of the residuals' round-off at `x`, with the multipliers in `z`.
    fn measure_round_off(&mut self) {
        let mut bound = std::mem::take(&mut self.solver.tracks[self.place.number].bound);
        self.measure_velocities();
        let (dynamics, constraint) = bound.split_at_mut(self.solver.layout.n);
        let mut point = self.solver.point(self.balance, self.x, self.place);
        if self.weights.equations.level == Level::Velocity {
            point.v = &self.solver.terms;
        }
        self.system.round_off(&point, self.weights.equations, dynamics, constraint);
        if !self.balance.load.is_empty() {
            for (bound, load) in dynamics.iter_mut().zip(&self.solver.load) {
                *bound += f64::EPSILON * load.abs();
            }
        }
        let (level, compliance) = (self.weights.of_level(), self.weights.compliance);
        for (c, mu) in constraint.iter_mut().zip(&self.solver.z[self.solver.layout.n..]) {
            *c = *c / level + f64::EPSILON * (compliance * mu).abs();
        }
        let track = &mut self.solver.tracks[self.place.number];
        (track.bound, track.bound_age, track.noise) = (bound, Some(0), 0.0);
    }

    /// Near rest, velocities are small differences of what a step begins with and what it adds, whose round-off they have.
    fn measure_velocities(&mut self) {
        let Solver { layout, z, base, whole_base, terms, .. } = &mut *self.solver;
        let (n, block) = (layout.n, self.balance.at[1]);
        terms.copy_from_slice(&self.x[layout.range(block)]);
        let Some(k) = self.balance.sets().iter().position(|set| set.block == block) else { return };
        let base = if self.balance.transfer.is_some() { &whole_base[block.index() * n..][..n] } else { &base[k][..n] };
        let factor = self.balance.sets()[k].unknown;
        for ((term, base), z) in terms.iter_mut().zip(base).zip(&*z) {
            *term = (base.abs() + (factor * z).abs()).copysign(*term);
        }
    }

    /// z -= r, and the size of r relative to z; `None` if it is not finite. Projections change little: what counts is the change of what
    /// they move.
    #[inline(always)]
    fn apply_increment(&mut self, layout: Layout) -> Option<f64> {
        let Solver { z, r, base, .. } = &mut *self.solver;
        let (z, r) = (&mut z[..layout.n + layout.m], &r[..layout.n + layout.m]);
        for (z, r) in z.iter_mut().zip(r) {
            *z -= r;
        }
        let (a, lambda) = z.split_at(layout.n);
        let (a_change, lambda_change) = r.split_at(layout.n);
        let is_motion = self.balance.equations.forces;
        // nothing moves where nothing is: the floor only keeps 0/0 away
        let [total, mut size] = if is_motion {
            relative(a_change, a, 1e-3 * largest(a) + f64::MIN_POSITIVE)
        } else {
            // a projection sets one block first of all, and by the unknown itself
            let base = base.first().map_or(&[][..], |base| base);
            let floor = 1e-3 * (largest(base) + largest(a)) + f64::MIN_POSITIVE;
            let moved = base.iter().zip(a).map(|(base, z)| base + z);
            a_change.iter().zip(moved).fold([0.0; 2], |[total, size]: [f64; 2], (change, moved)| {
                [total + change.abs(), larger(size, change.abs() / (moved.abs() + floor))]
            })
        };
        if is_motion && !lambda.is_empty() {
            size = larger(size, largest(lambda_change) / (largest(lambda) + f64::MIN_POSITIVE));
        }
        (total + sum(lambda_change)).is_finite().then_some(size)
    }

    /// Puts multipliers and forces into the state.
    #[inline(always)]
    pub fn keep(&mut self, layout: Layout) {
        let Solver { z, zeros, r, .. } = &mut *self.solver;
        let n = layout.n;
        let (lambda, mu) = (&mut self.x[layout.multipliers()], &z[n..n + layout.m]);
        match self.balance.multipliers {
            Multipliers::Forgotten => {}
            Multipliers::Replaced => lambda.copy_from_slice(mu),
            Multipliers::Added => lambda.iter_mut().zip(mu).for_each(|(lambda, mu)| *lambda += mu),
        }
        if let Some(block) = self.balance.force {
            let [q, v] = self.balance.at.map(|block| &self.x[layout.range(block)]);
            let point = Point { t: self.place.t, q, v, a: &zeros[..n], lambda: &z[n..], w: self.place.w };
            let (dynamics, constraint) = r.split_at_mut(n);
            self.system.residual(&point, self.balance.equations, dynamics, constraint);
            self.x[layout.range(block)].copy_from_slice(dynamics);
        }
    }
}
