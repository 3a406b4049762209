//! Newton's iteration for one balance.

use super::balance::{Combination, Inertia, Multipliers, Prepared, combine};
use super::newton::{Convergence, Verdict};
use super::round_off::{BOUND_LIFE, Excess, STALLED, larger, largest, worst_row};
use super::{Block, Counters, Layout, NewtonOptions};
use crate::system::{Evaluator, Level, Point, Weights};

/// Newton steps of shortened length before a step counts as failed.
const DAMPED_ITERATIONS: usize = 60;
/// The shortest part of an increment that is tried.
const SHORTEST: f64 = 1e-4;
/// Full steps converge where the next increment is less than this part of the last.
const CONTRACTS: f64 = 0.1;

/// Where and when a balance holds.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub t: f64,
    pub w: &'a [f64],
    /// Its number in its list.
    pub number: usize,
}

pub(super) enum Failure {
    Singular,
    NotFinite,
    NotConverged { residual: f64, row: usize },
}

/// What one balance of a list remembers from step to step: good guesses, and bounds of round-off. Results do not depend on it but for
/// round-off.
#[derive(Debug, Clone, Default)]
struct Track {
    /// How the unknowns changed in the last step, whose size it was, for extrapolation.
    change: Vec<f64>,
    step: Option<f64>,
    /// The bound of the residuals' round-off, and steps since it was worked out.
    bound: Vec<f64>,
    bound_age: Option<usize>,
    /// What the constraints' round-off made of the equations of motion since then, N.
    noise: f64,
}

/// Solves balances.
pub(super) struct Solver {
    layout: Layout,
    convergence: Convergence,
    tracks: Vec<Track>,
    /// The unknowns (z, μ).
    pub z: Vec<f64>,
    z_start: Vec<f64>,
    r: Vec<f64>,
    /// The residual before it is solved for.
    residual: Vec<f64>,
    /// Where what a balance sets begins, for z = 0.
    base: Vec<Vec<f64>>,
    /// The same of Q, V, A and S, where these alone are set from these alone.
    whole_base: Vec<f64>,
    load: Vec<f64>,
    /// Velocities as large as what they are sums of.
    terms: Vec<f64>,
    /// A multiple of the unknown that M multiplies.
    inertia: Vec<f64>,
    zeros: Vec<f64>,
    /// The state in which a step that is solved once more has ended: the next balance of motion begins there.
    end: Option<Vec<f64>>,
    spare: Vec<f64>,
}

impl Solver {
    pub fn new(layout: Layout, newton: NewtonOptions) -> Self {
        let zeros = |count| vec![0.0; count];
        let size = layout.n + layout.m;
        Solver {
            layout,
            convergence: Convergence::new(newton),
            tracks: Vec::new(),
            z: zeros(size),
            z_start: zeros(size),
            r: zeros(size),
            residual: zeros(size),
            base: Vec::new(),
            whole_base: zeros(4 * layout.n),
            load: zeros(layout.n),
            terms: zeros(layout.n),
            inertia: zeros(layout.n),
            zeros: zeros(size),
            end: None,
            spare: zeros(layout.size()),
        }
    }

    /// Lets the next balance of motion begin where this state has ended.
    pub fn begin_at(&mut self, end: &[f64]) {
        let mut room = std::mem::take(&mut self.spare);
        room.clear();
        room.extend_from_slice(end);
        self.end = Some(room);
    }

    /// Forgets earlier steps, and makes room for a list of balances.
    pub fn restart(&mut self, balances: &[Prepared]) {
        let (n, size) = (self.layout.n, self.z.len());
        self.tracks.truncate(balances.len());
        let track = || Track { change: vec![0.0; size], bound: vec![0.0; size], ..Track::default() };
        self.tracks.resize_with(balances.len(), track);
        self.tracks.iter_mut().for_each(|track| (track.step, track.bound_age, track.noise) = (None, None, 0.0));
        let most = balances.iter().map(|balance| balance.sets().len()).max().unwrap_or(0);
        self.base.resize_with(most.max(self.base.len()), || vec![0.0; n]);
    }

    /// Solves a balance: what it sets goes into `x`, from what is in `before`, or in `x` itself; `h` is the size of the step.
    pub fn solve(
        &mut self,
        system: &mut dyn Evaluator,
        balance: &Prepared,
        place: Place<'_>,
        h: f64,
        (before, x): (Option<&[f64]>, &mut [f64]),
        counters: &mut Counters,
    ) -> Result<(), Failure> {
        self.take(balance, before.unwrap_or(x));
        if let Some(end) = self.end.take().filter(|_| balance.equations.forces) {
            let (z, mu) = self.z_start.split_at_mut(self.layout.n);
            let own = balance.unknown_itself.unwrap_or(Block::S);
            z.copy_from_slice(&end[self.layout.range(own)]);
            mu.copy_from_slice(&end[self.layout.multipliers()]);
            self.spare = end;
        }
        let track = &mut self.tracks[place.number];
        track.bound_age = track.bound_age.map(|age| age + 1).filter(|age| *age < BOUND_LIFE);
        let ratio = track.step.map_or(0.0, |step| h / step);
        let is_motion = balance.equations.forces;
        let ratio = if is_motion { ratio } else { 0.0 };
        for ((z, start), change) in self.z.iter_mut().zip(&self.z_start).zip(&track.change) {
            *z = start + ratio * change;
        }
        let extrapolated = is_motion && track.step.is_some();
        let mut task = Task { solver: self, system, balance, weights: balance.weights, place, x, counters };
        let mut outcome = task.iterate();
        if outcome.is_err() && extrapolated {
            // the extrapolation may have been what led astray (an impact, a switch of the input)
            task.solver.z.copy_from_slice(&task.solver.z_start);
            outcome = task.iterate();
        }
        if matches!(outcome, Err(Failure::NotConverged { .. } | Failure::NotFinite)) {
            task.solver.z.copy_from_slice(&task.solver.z_start);
            if !task.approach() {
                task.solver.z.copy_from_slice(&task.solver.z_start);
            }
            outcome = task.iterate();
        }
        outcome?;
        task.keep();
        let track = &mut self.tracks[place.number];
        for ((change, z), start) in track.change.iter_mut().zip(&self.z).zip(&self.z_start) {
            *change = z - start;
        }
        track.step = Some(h);
        Ok(())
    }

    /// Takes the base of what is set, the load, and where to begin.
    fn take(&mut self, balance: &Prepared, x: &[f64]) {
        let (n, layout) = (self.layout.n, self.layout);
        let blocks = |terms: &Combination, sum: &mut [f64]| {
            combine(terms.terms().map(|(block, factor)| (&x[layout.range(block)], factor)), sum);
        };
        match &balance.transfer {
            Some(transfer) => transfer.base(n, x, &mut self.whole_base),
            None => self.base.iter_mut().zip(balance.sets()).for_each(|(base, set)| blocks(&set.known, base)),
        }
        if !balance.load.is_empty() {
            blocks(&balance.load, &mut self.load);
        }
        self.z_start.fill(0.0);
        if balance.equations.forces {
            if let Some(block) = balance.unknown_itself {
                let own = layout.range(block);
                self.z_start[..n].copy_from_slice(&x[own]);
            }
            self.z_start[n..].copy_from_slice(&x[layout.multipliers()]);
        }
    }

    /// Where the balance is evaluated, with the unknowns in `z`.
    #[inline(always)]
    pub fn point<'a>(&'a self, balance: &Prepared, x: &'a [f64], place: Place<'a>) -> Point<'a> {
        let layout = self.layout;
        let [q, v] = balance.at.map(|block| &x[layout.range(block)]);
        let a = match balance.inertia {
            Inertia::Of(block) => &x[layout.range(block)],
            Inertia::Unknown(_) => &self.inertia[..],
        };
        Point { t: place.t, q, v, a, lambda: &self.z[layout.n..], w: place.w }
    }

    /// The residual at `x`, for messages.
    pub fn residual_at(
        &mut self,
        system: &mut dyn Evaluator,
        balance: &Prepared,
        place: Place<'_>,
        x: &[f64],
    ) -> Vec<f64> {
        let mut r = vec![0.0; self.z.len()];
        let (dynamics, constraint) = r.split_at_mut(self.layout.n);
        system.residual(&self.point(balance, x, place), balance.equations, dynamics, constraint);
        r
    }
}

/// One balance being solved.
struct Task<'a, 's> {
    solver: &'s mut Solver,
    system: &'s mut dyn Evaluator,
    balance: &'s Prepared,
    weights: Weights,
    place: Place<'a>,
    x: &'s mut [f64],
    counters: &'s mut Counters,
}

impl Task<'_, '_> {
    /// From the unknowns in `z`; on return `x` holds what they set.
    fn iterate(&mut self) -> Result<(), Failure> {
        let n = self.solver.layout.n;
        let limit = self.solver.convergence.max_iterations();
        let is_linear = self.balance.is_linear;
        self.solver.convergence.begin();
        let mut renew = true;
        let mut worst = (f64::INFINITY, 0);
        let mut sizes = [0.0; 2];
        for iteration in 1..=limit {
            if !self.equations(renew) {
                let finite = self.solver.r.iter().all(|r| r.is_finite());
                return Err(if finite { Failure::Singular } else { Failure::NotFinite });
            }
            let Solver { r, residual, tracks, .. } = &mut *self.solver;
            if iteration == limit {
                worst = worst_row(r);
            }
            // where steps end at round-off, the bound of a while ago tells it
            let last_sizes = std::mem::replace(&mut sizes, [&r[..n], &r[n..]].map(largest));
            let Track { bound, bound_age, noise, .. } = &tracks[self.place.number];
            let known = iteration > 1
                && bound_age.is_some()
                && Excess::of([&*r, bound], n).vanishes_after_increment(last_sizes, *noise);
            residual.copy_from_slice(r);
            self.system.solve(r);
            let Some(increment) = self.apply_increment() else { return Err(Failure::NotFinite) };
            if is_linear {
                // one solve, and one more to remove its round-off
                if iteration == 2 {
                    self.update(true);
                    return Ok(());
                }
                renew = false;
                continue;
            }
            let verdict = self.solver.convergence.judge(increment);
            renew = verdict == Verdict::Doubtful;
            let doubted = renew && !known;
            let round_off = known || doubted && self.is_round_off(iteration);
            if verdict == Verdict::Converged || round_off {
                self.update(true);
                return Ok(());
            }
        }
        Err(Failure::NotConverged { residual: worst.0, row: worst.1 })
    }

    /// Whether the residual of an increment that did not shrink is round-off.
    fn is_round_off(&mut self, iteration: usize) -> bool {
        let n = self.solver.layout.n;
        let Solver { z, r, .. } = &mut *self.solver;
        // at the point where the residual was evaluated: its multipliers are back there
        z.iter_mut().zip(&*r).for_each(|(z, r)| *z += r);
        self.measure_round_off();
        let Solver { z, r, residual, tracks, .. } = &mut *self.solver;
        z.iter_mut().zip(&*r).for_each(|(z, r)| *z -= r);
        let track = &mut tracks[self.place.number];
        let excess = Excess::of([&*residual, &track.bound], n);
        // increments of multipliers times those of positions
        let change = largest(&r[n..]);
        let products = self.weights.position * largest(&r[..n]) * change;
        let drowned = excess.is_below_round_off(change);
        if drowned {
            track.noise = excess.noise(products);
        }
        excess.is_none() || drowned || iteration > STALLED && excess.is_noise(products)
    }

    /// Comes near to the solution from the unknowns in `z` by Newton's method with steps that are shortened until they lead
    /// nearer, where full ones go in circles: stiff friction, contact. What counts is the next increment with the same factors
    /// (the natural monotonicity test of Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 3.3), which does not
    /// mind the units of equations. True where full steps converge; no such path need exist where friction falls with the rate.
    fn approach(&mut self) -> bool {
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
        let regular = self.equations(renew);
        if regular {
            self.system.solve(&mut self.solver.r);
        }
        regular && self.solver.r.iter().all(|r| r.is_finite())
    }

    /// The residual at the unknowns in `z`, with new factors if asked for; false if there are none.
    #[inline]
    fn equations(&mut self, renew: bool) -> bool {
        self.update(false);
        let mut r = std::mem::take(&mut self.solver.r);
        let (dynamics, constraint) = r.split_at_mut(self.solver.layout.n);
        let point = self.solver.point(self.balance, self.x, self.place);
        self.counters.iterations += 1;
        let regular = if renew {
            self.counters.factorisations += 1;
            self.system.factorise(&point, self.weights, dynamics, constraint).is_ok()
        } else {
            self.system.residual(&point, self.weights.equations, dynamics, constraint);
            true
        };
        if self.balance.is_split {
            let a = &self.x[self.solver.layout.range(Block::A)];
            self.system.constraint(Level::Acceleration, &Point { a, ..point }, constraint);
        }
        if !self.balance.load.is_empty() {
            dynamics.iter_mut().zip(&self.solver.load).for_each(|(r, load)| *r += load);
        }
        let scale = 1.0 / self.weights.of_level();
        constraint.iter_mut().for_each(|c| *c *= scale);
        let compliance = self.weights.compliance;
        if compliance != 0.0 {
            constraint.iter_mut().zip(point.lambda).for_each(|(c, mu)| *c -= compliance * mu);
        }
        self.solver.r = r;
        regular
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

    /// What the equations see of what the balance sets, from the unknowns; in the `end`, all of it.
    #[inline(always)]
    fn update(&mut self, end: bool) {
        let Solver { layout, z, base, whole_base, inertia, .. } = &mut *self.solver;
        if let Some(transfer) = &self.balance.transfer {
            // equations never see S
            transfer.update(if end { 4 } else { 3 }, whole_base, z, self.x);
        }
        let others = if self.balance.transfer.is_some() { &[] } else { self.balance.sets() };
        for ((set, base), seen) in others.iter().zip(&*base).zip(self.balance.seen) {
            if !seen && !end {
                continue;
            }
            let block = &mut self.x[layout.range(set.block)];
            let (factor, n) = (set.unknown, block.len());
            for ((value, base), z) in block.iter_mut().zip(&base[..n]).zip(&z[..n]) {
                *value = base + factor * z;
            }
        }
        if let Inertia::Unknown(factor) = self.balance.inertia {
            inertia.iter_mut().zip(&*z).for_each(|(s, z)| *s = factor * z);
        }
    }

    /// z -= r, and the size of r relative to z; `None` if it is not finite. Projections change little: what counts is the change of what
    /// they move.
    #[inline]
    fn apply_increment(&mut self) -> Option<f64> {
        let Solver { layout, z, r, base, .. } = &mut *self.solver;
        for (z, r) in z.iter_mut().zip(&*r) {
            *z -= r;
        }
        let (a, lambda) = z.split_at(layout.n);
        let (a_change, lambda_change) = r.split_at(layout.n);
        let is_motion = self.balance.equations.forces;
        let (mut relative, mut total) = (0.0f64, 0.0f64);
        let mut measure = |change: f64, size: f64, floor: f64| {
            total += change.abs();
            relative = larger(relative, change.abs() / (size.abs() + floor));
        };
        // nothing moves where nothing is: the floor only keeps 0/0 away
        if is_motion {
            let floor = 1e-3 * largest(a) + f64::MIN_POSITIVE;
            a_change.iter().zip(a).for_each(|(change, a)| measure(*change, *a, floor));
        } else {
            // a projection sets one block first of all, and by the unknown itself
            let base = base.first().map_or(&[][..], |base| base);
            let floor = 1e-3 * (largest(base) + largest(a)) + f64::MIN_POSITIVE;
            let moved = base.iter().zip(a).map(|(base, z)| base + z);
            a_change.iter().zip(moved).for_each(|(change, moved)| measure(*change, moved, floor));
        }
        if !lambda.is_empty() {
            total += lambda_change.iter().sum::<f64>();
            if is_motion {
                relative = larger(relative, largest(lambda_change) / (largest(lambda) + f64::MIN_POSITIVE));
            }
        }
        total.is_finite().then_some(relative)
    }

    /// Puts multipliers and forces into the state.
    fn keep(&mut self) {
        let Solver { layout, z, zeros, r, .. } = &mut *self.solver;
        let n = layout.n;
        let lambda = &mut self.x[layout.multipliers()];
        match self.balance.multipliers {
            Multipliers::Forgotten => {}
            Multipliers::Told => lambda.copy_from_slice(&z[n..]),
            Multipliers::Added => lambda.iter_mut().zip(&z[n..]).for_each(|(lambda, mu)| *lambda += mu),
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
