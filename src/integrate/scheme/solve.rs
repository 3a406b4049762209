//! Newton's iteration for one balance.

mod task;

use task::Task;

use super::balance::{Combination, Inertia, Prepared, combine};
use super::held::Held;
use super::newton::Convergence;
use super::round_off::BOUND_LIFE;
use super::sizes::{by_sizes, sized};
use super::{Block, Counters, Layout, NewtonOptions};
use crate::system::{Evaluator, Point};

/// Time, inputs and number of a balance in its list.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub t: f64,
    pub w: &'a [f64],
    /// Number of the balance in its list.
    pub number: usize,
}

pub(super) enum Failure {
    Singular,
    NotFinite,
    NotConverged { residual: f64, row: usize },
}

/// Memory of one balance of a list from step to step: good guesses, and bounds of round-off. Results do not depend on it but for round-off.
#[derive(Debug, Clone, Default)]
struct Track {
    /// Change of the unknowns in the last step, whose size it was, for extrapolation.
    change: Vec<f64>,
    step: Option<f64>,
    /// The bound of the residuals' round-off, and steps since it was worked out.
    bound: Vec<f64>,
    bound_age: Option<usize>,
    /// Residual of the equations of motion that the constraints' round-off left since then, N.
    noise: f64,
}

/// What the factors are of that a linear balance has left: M and C_q alone, at these positions.
#[derive(Debug, Default)]
struct Factored {
    count: Option<usize>,
    t: f64,
    /// Weight of accelerations, and the compliance.
    weights: [f64; 2],
    q: Vec<f64>,
}

/// Solves balances.
pub(super) struct Solver {
    layout: Layout,
    convergence: Convergence,
    tracks: Vec<Track>,
    factored: Factored,
    /// The unknowns (z, μ).
    pub z: Vec<f64>,
    z_start: Vec<f64>,
    r: Vec<f64>,
    /// The residual before it is solved for.
    residual: Vec<f64>,
    /// Values of the blocks that a balance sets for z = 0.
    base: Vec<Vec<f64>>,
    /// Values for z = 0 of Q, V, A and S, where these alone are set from these alone.
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
    /// Coordinates that balances of a start keep.
    pub held: Held,
    /// Least sum of squares of the constraints of a start's balance, and the positions there.
    pub closest: (f64, Vec<f64>),
}

impl Solver {
    pub fn new(layout: Layout, newton: NewtonOptions) -> Self {
        let zeros = |count| vec![0.0; count];
        let size = layout.n + layout.m;
        Solver {
            layout,
            convergence: Convergence::new(newton),
            tracks: Vec::new(),
            factored: Factored::default(),
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
            held: Held::default(),
            closest: (f64::INFINITY, zeros(layout.n)),
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
        let track = || Track { change: vec![0.0; size], bound: vec![0.0; size], ..Track::default() };
        self.tracks.resize_with(balances.len().max(self.tracks.len()), track);
        self.tracks.iter_mut().for_each(|track| (track.step, track.bound_age, track.noise) = (None, None, 0.0));
        let most = balances.iter().map(|balance| balance.sets().len()).max().unwrap_or(0);
        self.base.resize_with(most.max(self.base.len()), || vec![0.0; n]);
    }

    /// Numbers that tell what is remembered from step to step, for so many balances.
    pub fn remembered(&self, balances: usize) -> usize {
        balances * (2 * self.z.len() + 3)
    }

    /// Puts them behind others.
    pub fn remember(&self, balances: usize, numbers: &mut Vec<f64>) {
        for Track { change, step, bound, bound_age, noise } in &self.tracks[..balances] {
            numbers.extend_from_slice(change);
            numbers.extend_from_slice(bound);
            // neither sizes of steps nor ages are negative
            let age = bound_age.map_or(-1.0, |age| age as f64);
            numbers.extend([step.unwrap_or(-1.0), age, *noise]);
        }
    }

    /// Takes them back, after [`Solver::restart`].
    pub fn recall(&mut self, numbers: &[f64]) {
        let size = self.z.len();
        for (track, own) in self.tracks.iter_mut().zip(numbers.chunks_exact(2 * size + 3)) {
            track.change.copy_from_slice(&own[..size]);
            track.bound.copy_from_slice(&own[size..2 * size]);
            let known = |number: f64| (number >= 0.0).then_some(number);
            track.step = known(own[2 * size]);
            track.bound_age = known(own[2 * size + 1]).map(|age| age as usize);
            track.noise = own[2 * size + 2];
        }
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
        by_sizes!(self.layout, self.solve_sized(system, balance, place, h, (before, x), counters))
    }

    fn solve_sized<const N: usize, const M: usize>(
        &mut self,
        system: &mut dyn Evaluator,
        balance: &Prepared,
        place: Place<'_>,
        h: f64,
        (before, x): (Option<&[f64]>, &mut [f64]),
        counters: &mut Counters,
    ) -> Result<(), Failure> {
        let layout = sized::<N, M>(self.layout);
        self.take(layout, balance, before.unwrap_or(x));
        let extrapolated = self.guess(layout, balance, place, h);
        let mut task = Task { solver: self, system, balance, weights: balance.weights, place, x, counters };
        let outcome = task.iterate::<N, M>();
        if outcome.is_err() {
            task.retry(outcome, extrapolated)?;
        }
        task.keep(layout);
        let size = layout.n + layout.m;
        let Solver { z, z_start, tracks, .. } = self;
        let track = &mut tracks[place.number];
        for ((change, z), start) in track.change[..size].iter_mut().zip(&z[..size]).zip(&z_start[..size]) {
            *change = z - start;
        }
        track.step = Some(h);
        Ok(())
    }

    /// Guesses the unknowns by their change in the step before, if it is known; then true.
    #[inline(always)]
    fn guess(&mut self, layout: Layout, balance: &Prepared, place: Place<'_>, h: f64) -> bool {
        let size = layout.n + layout.m;
        let is_motion = balance.equations.forces;
        if is_motion
            && !balance.is_at_beginning
            && let Some(end) = self.end.take()
        {
            let (z, mu) = self.z_start.split_at_mut(layout.n);
            let own = balance.unknown_itself.unwrap_or(Block::S);
            z.copy_from_slice(&end[layout.range(own)]);
            mu.copy_from_slice(&end[layout.multipliers()]);
            self.spare = end;
        }
        let track = &mut self.tracks[place.number];
        track.bound_age = track.bound_age.map(|age| age + 1).filter(|age| *age < BOUND_LIFE);
        let ratio = track.step.filter(|_| is_motion).map_or(0.0, |step| h / step);
        for ((z, start), change) in self.z[..size].iter_mut().zip(&self.z_start[..size]).zip(&track.change[..size]) {
            *z = start + ratio * change;
        }
        is_motion && track.step.is_some()
    }

    /// Takes the base of what is set, the load, and where to begin.
    #[inline(always)]
    fn take(&mut self, layout: Layout, balance: &Prepared, x: &[f64]) {
        let n = layout.n;
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
        self.closest.0 = f64::INFINITY;
        let (z, mu) = self.z_start[..n + layout.m].split_at_mut(n);
        match balance.unknown_itself.filter(|_| balance.equations.forces) {
            Some(block) => z.copy_from_slice(&x[layout.range(block)][..n]),
            None => z.fill(0.0),
        }
        match balance.equations.forces {
            true => mu.copy_from_slice(&x[layout.multipliers()][..layout.m]),
            false => mu.fill(0.0),
        }
    }

    /// Updates the blocks that the balance sets and the equations see, from the unknowns; in the `end`, all of them.
    #[inline(always)]
    fn update(&mut self, layout: Layout, balance: &Prepared, x: &mut [f64], end: bool) {
        let Solver { z, base, whole_base, inertia, .. } = self;
        if let Some(transfer) = &balance.transfer {
            // equations never see S
            transfer.update(layout.n, if end { 4 } else { 3 }, (whole_base, z), x);
        }
        let others = if balance.transfer.is_some() { &[] } else { balance.sets() };
        for ((set, base), seen) in others.iter().zip(&*base).zip(balance.seen) {
            if !seen && !end {
                continue;
            }
            let block = &mut x[layout.range(set.block)];
            let (factor, n) = (set.unknown, block.len());
            for ((value, base), z) in block.iter_mut().zip(&base[..n]).zip(&z[..n]) {
                *value = base + factor * z;
            }
        }
        if balance.seeks_states {
            layout.give_states(x);
        }
        if let Inertia::Unknown(factor) = balance.inertia {
            inertia.iter_mut().zip(&*z).for_each(|(s, z)| *s = factor * z);
        }
    }

    /// Lets what a balance sets follow unknowns that have been found elsewhere.
    pub fn put(&mut self, balance: &Prepared, z: &[f64], x: &mut [f64]) {
        self.take(self.layout, balance, x);
        self.z.copy_from_slice(z);
        self.update(self.layout, balance, x, true);
    }

    /// Point at which the balance is evaluated, with the unknowns in `z`.
    #[inline(always)]
    pub fn point<'a>(&'a self, balance: &Prepared, x: &'a [f64], place: Place<'a>) -> Point<'a> {
        point_of(self.layout, balance, [&self.z, &self.inertia], x, place)
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

/// Point at which a balance is evaluated, with these unknowns, and the multiple of them that M may multiply.
#[inline(always)]
fn point_of<'a>(
    layout: Layout,
    balance: &Prepared,
    [z, inertia]: [&'a [f64]; 2],
    x: &'a [f64],
    place: Place<'a>,
) -> Point<'a> {
    let n = layout.n;
    let (q, v, a) = if balance.is_plain {
        let (q, rest) = x[..3 * n].split_at(n);
        let (v, a) = rest.split_at(n);
        (q, v, a)
    } else {
        let [q, v] = balance.at.map(|block| &x[layout.range(block)]);
        let a = match balance.inertia {
            Inertia::Of(block) => &x[layout.range(block)],
            Inertia::Unknown(_) => inertia,
        };
        (q, v, a)
    };
    Point { t: place.t, q, v, a, lambda: &z[n..n + layout.m], w: place.w }
}
