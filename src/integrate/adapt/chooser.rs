//! A run whose steps are chosen as it goes, so that each makes the same local error.

use super::MOST_STEPS;
use crate::scheme::{Block, Counters, Layout, Step, Stepper};
use crate::shown::shown;
use crate::signal::Signal;
use crate::signature::Quantity;
use crate::simulate::Simulation;
use crate::start::Start;
use crate::step_error::{ROUND_OFF, sizes_by_unit};
use crate::system::{Equations, Evaluator, Point};
use crate::{Error, Result};

/// Steps of the first, rough run that no motion is worth.
const MOST_ROUGH: usize = 200_000;
/// At so many steps, and every time as many again, it is looked how far they have come, once a tenth of all there may be are taken (at once under
/// schemes that make trouble on uneven steps). It is hopeless where the rest would take so many times as many as there may be: at the pace of all
/// of them, and at that of the later half, which knows whether they grow behind a transient.
const PACE: usize = 10_000;
const HOPELESS: f64 = 100.0;
/// The shortest step beside the simulated time.
const SHORTEST: f64 = 1e-13;
/// Safety of the controller, and its exponents, for local errors of third order: of the last error, and of the one before it.
const SAFETY: f64 = 0.9;
const EXPONENTS: [f64; 2] = [-0.7 / 3.0, 0.4 / 3.0];
/// Smallest factor by which a step is shortened at once.
const SHORTER: f64 = 0.2;
/// A motion so many times as large as it was in earlier runs has other sizes.
const UNFORESEEN: f64 = 10.0;
/// Steps that may grow by less than this stay as they are: even steps keep their formulas.
const WORTH_IT: f64 = 1.15;

/// Times between which steps are free: those that must be met, the last one at the end. Behind a jump, the first time that is read is one: between
/// the ends of that step, accelerations of behind the jump are not known.
pub(super) fn met(simulation: &Simulation, u: &[f64], reads: &[f64]) -> Vec<f64> {
    let (start, end) = (simulation.grid().time(0), simulation.grid().end());
    let mut reads = reads.to_vec();
    reads.sort_unstable_by(f64::total_cmp);
    let behind = |jump: f64| reads.get(reads.partition_point(|t| *t <= jump)).copied();
    let jumps = |signal: &Signal| -> Vec<f64> {
        signal.jumps().iter().copied().filter(|t| *t > start && signal.before(*t) != signal.value(*t)).collect()
    };
    let stops: Vec<f64> = simulation.signals().iter().flat_map(jumps).filter_map(behind).collect();
    let kinks = simulation.signals().iter().flat_map(|signal| signal.kinks().into_owned());
    let kinks = kinks.chain(bends(simulation)).chain(bends_of_forces(simulation, u));
    // times that differ by round-off are one
    let same = SHORTEST * (end - start);
    let mut all: Vec<f64> = stops.into_iter().chain(kinks).filter(|t| t - start > same && end - t > same).collect();
    all.push(end);
    all.sort_unstable_by(f64::total_cmp);
    all.dedup_by(|later, earlier| *later - *earlier <= same);
    all
}

/// Values that are looked at for bends, at most.
const LOOKED: usize = 200_000;
/// Pieces of a step of the grid that are looked at, at most.
const BETWEEN: usize = 16;

/// Times of the simulation's own grid with others between them, or some of them, where `each` has so many values.
fn looked_at(simulation: &Simulation, each: usize) -> Vec<f64> {
    let times = simulation.grid().times();
    let values = times.len() * each.max(1);
    if values > LOOKED {
        return times.iter().copied().step_by(values.div_ceil(LOOKED)).collect();
    }
    let count = (LOOKED / values).clamp(1, BETWEEN);
    let between = |pair: &[f64]| {
        let [from, to] = [pair[0], pair[1]];
        (0..count).map(move |i| from + (to - from) * i as f64 / count as f64)
    };
    times.windows(2).flat_map(between).chain(times.last().copied()).collect()
}

/// Times around which an input that is a function bends within short pieces, of a part of the simulation's own steps or more: steps that have grown while little moved
/// would go past a pulse. None where it bends so for a good part of the time.
fn bends(simulation: &Simulation) -> Vec<f64> {
    let times = looked_at(simulation, 1);
    let functions = simulation.signals().iter().filter(|signal| signal.interpolation().is_none());
    functions
        .flat_map(|signal| short_bends(&times, &times.iter().map(|t| signal.value(*t)).collect::<Vec<_>>()))
        .collect()
}

/// Times of the same kind of what equations say of time itself, at the model's start: pulses in the formulas of forces, and of driven motions.
fn bends_of_forces(simulation: &Simulation, u: &[f64]) -> Vec<f64> {
    let signature = simulation.signature();
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let times = looked_at(simulation, n + m);
    let mut evaluator = simulation.system().evaluator();
    evaluator.set_parameters(u);
    let [mut q, mut v] = [(); 2].map(|()| vec![0.0; n]);
    evaluator.initial(&mut q, &mut v);
    let mut w = vec![0.0; simulation.signals().len()];
    fill(simulation, times[0], &mut w);
    let (zeros, mut rows) = (vec![0.0; n.max(m)], vec![vec![0.0; times.len()]; n + m]);
    let mut row = vec![0.0; n + m];
    for (i, &t) in times.iter().enumerate() {
        let (dynamics, constraint) = row.split_at_mut(n);
        let point = Point { t, q: &q, v: &v, a: &zeros[..n], lambda: &zeros[..m], w: &w };
        evaluator.residual(&point, Equations::MOTION, dynamics, constraint);
        rows.iter_mut().zip(&row).for_each(|(values, value)| values[i] = *value);
    }
    rows.iter().flat_map(|values| short_bends(&times, values)).collect()
}

/// Ends of the short pieces of straight lines that values over time keep to, if these are few.
fn short_bends(times: &[f64], values: &[f64]) -> Vec<f64> {
    /// Deviation from pieces of straight lines, beside what values vary.
    const STRAIGHT: f64 = 0.05;
    /// Length of a short piece, beside the simulated time.
    const SHORT: f64 = 0.02;
    /// Length of all short pieces, beside the simulated time, at most.
    const FEW: f64 = 0.1;
    let length = times[times.len() - 1] - times[0];
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), w| (low.min(*w), high.max(*w)));
    // what does not vary but by round-off does not bend
    let varies = high - low > ROUND_OFF * low.abs().max(high.abs());
    if !varies {
        return Vec::new();
    }
    let knots = knots(times, values, STRAIGHT * (high - low));
    let short: Vec<[f64; 2]> = knots
        .windows(2)
        .map(|piece| [times[piece[0]], times[piece[1]]])
        .filter(|[from, to]| to - from < SHORT * length)
        .collect();
    let are_few = short.iter().map(|[from, to]| to - from).sum::<f64>() < FEW * length;
    if are_few { short.into_iter().flatten().collect() } else { Vec::new() }
}

/// Places between which values keep to straight lines through the first of each piece, but for `off`: the first and the last one are among them.
fn knots(times: &[f64], values: &[f64], off: f64) -> Vec<usize> {
    let mut knots = vec![0];
    let mut slopes = [f64::NEG_INFINITY, f64::INFINITY];
    let mut i = 1;
    while i < times.len() {
        let from = knots[knots.len() - 1];
        let (dt, dw) = (times[i] - times[from], values[i] - values[from]);
        let seen = [slopes[0].max((dw - off) / dt), slopes[1].min((dw + off) / dt)];
        if seen[0] > seen[1] {
            // a piece of one interval is straight, so that this one begins behind the last knot
            knots.push(i - 1);
            slopes = [f64::NEG_INFINITY, f64::INFINITY];
        } else {
            slopes = seen;
            i += 1;
        }
    }
    knots.push(times.len() - 1);
    knots.dedup();
    knots
}

/// A run whose steps are chosen as it goes.
pub(super) struct Chooser<'s> {
    simulation: &'s Simulation,
    u: &'s [f64],
    /// The local error of a step, beside sizes, that is allowed.
    pub allowed: f64,
    /// The sum of all local errors beside sizes.
    pub sum: f64,
    smallest: f64,
    /// Sizes of the coordinates; grown as the run goes, where they are not known.
    pub sizes: Vec<f64>,
    are_known: bool,
    /// Times that must be met, in order; the end is the last one.
    stops: Vec<f64>,
    largest_ratio: f64,
    evaluator: Box<dyn Evaluator + 's>,
    stepper: Stepper,
    layout: Layout,
    /// The state before a step, and after it.
    states: [Vec<f64>; 2],
    inputs: [Vec<f64>; 2],
    pub rejected: usize,
    /// True if the last step restarted behind a jump.
    is_restart: bool,
}

/// Times between which a step goes, and the size of the step before it.
#[derive(Clone, Copy)]
struct Leap {
    index: usize,
    from: f64,
    to: f64,
    h_before: f64,
}

impl<'s> Chooser<'s> {
    pub fn new(
        simulation: &'s Simulation,
        u: &'s [f64],
        (allowed, smallest): (f64, Option<f64>),
        sizes: Option<Vec<f64>>,
        stops: &[f64],
    ) -> Result<Self> {
        let (signature, grid, scheme) = (simulation.signature(), simulation.grid(), simulation.scheme());
        let (start, end) = (grid.time(0), grid.end());
        let description = scheme.description();
        let layout = Layout::new(&description, signature);
        Ok(Chooser {
            simulation,
            u,
            allowed,
            sum: 0.0,
            smallest: smallest.unwrap_or(0.0).max(SHORTEST * (end - start)),
            are_known: sizes.is_some(),
            sizes: sizes.unwrap_or_else(|| vec![0.0; layout.n]),
            stops: stops.to_vec(),
            largest_ratio: description.largest_ratio[usize::from(!signature.constraints.is_empty())],
            evaluator: simulation.system().evaluator(),
            stepper: simulation.stepper(),
            layout,
            states: [(); 2].map(|()| vec![0.0; layout.size()]),
            inputs: [(); 2].map(|()| vec![0.0; simulation.signals().len()]),
            rejected: 0,
            is_restart: false,
        })
    }

    /// The times of the steps.
    pub fn times(&mut self) -> Result<Vec<f64>> {
        let grid = self.simulation.grid();
        let mut times = vec![grid.time(0)];
        let mut h = grid.step(1);
        let (mut h_before, mut error_before, mut was_rejected) = (h, 1.0, false);
        let mut stop = 0;
        let beginning = self.begin(times[0])?;
        while stop < self.stops.len() {
            let (index, from) = (times.len(), times[times.len() - 1]);
            let left = self.stops[stop] - from;
            // a stop is met by even steps
            let parts = (left / h * (1.0 - 1e-9)).ceil().max(1.0);
            let to = match parts {
                1.0 => self.stops[stop],
                2.0 => from + 0.5 * left,
                _ => from + h,
            };
            let step = to - from;
            let leap = Leap { index, from, to, h_before: if index == 1 { step } else { h_before } };
            if index == 1 {
                self.states[0].copy_from_slice(&beginning);
                self.start(leap)?;
            }
            match self.step(leap) {
                Ok(error) if error <= self.allowed => {
                    self.sum += error;
                    let error = error / self.allowed;
                    times.push(to);
                    self.check_number(&times)?;
                    self.outgrow();
                    self.states.swap(0, 1);
                    stop += usize::from(parts == 1.0);
                    let most = if was_rejected { 1.0 } else { self.largest_ratio };
                    let factor = SAFETY * error.max(1e-12).powf(EXPONENTS[0]) * f64::powf(error_before, EXPONENTS[1]);
                    let factor = factor.clamp(SHORTER, most);
                    h = step * if (1.0..WORTH_IT).contains(&factor) { 1.0 } else { factor };
                    (h_before, error_before, was_rejected) = (step, error.max(1e-4), false);
                }
                outcome => {
                    self.rejected += 1;
                    was_rejected = true;
                    let error =
                        outcome.as_ref().copied().ok().filter(|error| error.is_finite()).unwrap_or(f64::INFINITY)
                            / self.allowed;
                    h = step * (SAFETY / error.cbrt()).clamp(SHORTER, 0.7);
                    if h < self.smallest {
                        return Err(self.too_small(leap, outcome));
                    }
                }
            }
        }
        Ok(times)
    }

    /// The start, before the scheme makes anything of it.
    fn begin(&mut self, t: f64) -> Result<Vec<f64>> {
        self.evaluator.set_parameters(self.u);
        let [w, _] = &mut self.inputs;
        fill(self.simulation, t, w);
        let [x, _] = &mut self.states;
        Start::solve(&mut *self.evaluator, self.simulation.signature(), (t, w), self.simulation.beginning(), x)?;
        x[self.layout.memory_range()].fill(0.0);
        Ok(x.clone())
    }

    /// Lets the scheme begin at the start.
    fn start(&mut self, leap: Leap) -> Result<()> {
        let h = leap.to - leap.from;
        let [w, w_other] = &mut self.inputs;
        fill(self.simulation, leap.from, w);
        fill(self.simulation, leap.to, w_other);
        let step = Step { index: 0, is_restart: false, t: leap.from, h, h_before: h, w, w_other };
        let [x, _] = &mut self.states;
        self.stepper.start(&mut *self.evaluator, self.simulation.signature(), &step, x, &mut Counters::default())
    }

    /// The local error of a step beside the coordinates' sizes.
    fn step(&mut self, leap: Leap) -> Result<f64> {
        let Leap { index, from, to, h_before } = leap;
        let [w, w_other] = &mut self.inputs;
        let mut is_restart = false;
        for ((w, other), signal) in w.iter_mut().zip(w_other.iter_mut()).zip(self.simulation.signals()) {
            (*w, *other) = (signal.before(to), signal.value(from));
            is_restart |= index > 1 && *other != signal.before(from);
        }
        let h = to - from;
        let step = Step { index, is_restart, t: to, h, h_before, w, w_other };
        let [before, after] = &mut self.states;
        let (evaluator, signature) = (&mut *self.evaluator, self.simulation.signature());
        self.stepper.step(evaluator, signature, &step, before, after, &mut Counters::default())?;
        self.is_restart = is_restart;
        if !self.are_known {
            let x = &self.states[1];
            let [q, v, a] = [Block::Q, Block::V, Block::A].map(|block| &x[self.layout.range(block)]);
            let first = signature.state_places().start;
            let seen = (0..self.layout.n).map(|j| match j < first {
                true => q[j].abs().max(h * v[j].abs()).max(h * h * a[j].abs()),
                // a state stands among the velocities
                false => v[j].abs().max(h * a[j].abs()),
            });
            let seen = sizes_by_unit(signature.unknowns(), seen);
            self.sizes.iter_mut().zip(seen).for_each(|(size, seen)| *size = size.max(seen));
        }
        Ok(self.worst(leap).1)
    }

    /// Takes other sizes where a step leads to what earlier runs have gone past.
    fn outgrow(&mut self) {
        let (x, signature) = (&self.states[1], self.simulation.signature());
        let [q, v] = [Block::Q, Block::V].map(|block| &x[self.layout.range(block)]);
        let first = signature.state_places().start;
        let seen = |j: usize| if j < first { q[j].abs() } else { v[j].abs() };
        if !self.are_known || (0..self.layout.n).all(|j| seen(j) <= UNFORESEEN * self.sizes[j]) {
            return;
        }
        let all = sizes_by_unit(signature.unknowns(), (0..self.layout.n).map(seen));
        for (size, seen) in self.sizes.iter_mut().zip(all) {
            *size = if seen > UNFORESEEN * *size { seen } else { *size };
        }
    }

    /// The coordinate with the largest local error of a step beside its size, and that.
    fn worst(&self, leap: Leap) -> (usize, f64) {
        let h = leap.to - leap.from;
        let h_before = if self.is_restart { h } else { leap.h_before };
        let [by_s, by_a_before, by_s_before] = self.simulation.scheme().local_error(h, h / h_before);
        let [before, after] = &self.states;
        let before = if self.is_restart { self.stepper.begun() } else { before };
        let (s, [a_before, s_before]) =
            (&after[self.layout.range(Block::S)], [Block::A, Block::S].map(|block| &before[self.layout.range(block)]));
        let first = self.simulation.signature().state_places().start;
        let error = |j: usize| {
            let error = (by_s * s[j] + by_a_before * a_before[j] + by_s_before * s_before[j]).abs();
            // that of a position is of the size of the step beside that of a rate
            if j < first { error } else { error / h }
        };
        let floor = ROUND_OFF * self.sizes.iter().fold(0.0f64, |largest, size| largest.max(*size));
        let beside = (0..self.layout.n).filter(|&j| self.sizes[j] > floor).map(|j| (j, error(j) / self.sizes[j]));
        beside.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
    }

    /// Refuses more steps than there may be, or where that is to be foreseen.
    fn check_number(&self, times: &[f64]) -> Result<()> {
        let (taken, t) = (times.len(), times[times.len() - 1]);
        let most = if self.are_known { MOST_STEPS } else { MOST_ROUGH };
        let progress = || format!("at t = {} s, {taken} steps have been taken", shown(t));
        if taken > most {
            return Err(self.too_many(&progress()));
        }
        // a scheme that makes trouble on uneven steps stays where it is
        let is_stuck = self.trouble().is_some();
        if taken.is_multiple_of(PACE) && (taken >= most / 10 || is_stuck && taken > PACE) {
            let left = self.simulation.grid().end() - t;
            let at_pace_since = |first: usize| left / (t - times[first]) * (taken - 1 - first) as f64;
            let more = match is_stuck {
                true => at_pace_since(taken - 1 - PACE),
                false => at_pace_since(0).min(at_pace_since(taken / 2)),
            };
            if more > HOPELESS * most as f64 {
                return Err(self.too_many(&format!("{}, and about {more:.0e} more would be at their pace", progress())));
            }
        }
        Ok(())
    }

    pub fn too_many(&self, problem: &str) -> Error {
        let remedy = match self.trouble() {
            Some(trouble) => format!("take another scheme: on uneven steps, {trouble}"),
            None => "ask for a larger error, or end earlier; runs with halved steps can be extrapolated to more digits"
                .to_string(),
        };
        Error::invalid("the tolerance", problem, remedy)
    }

    /// Fault of the scheme on uneven steps, if it has one.
    fn trouble(&self) -> Option<&'static str> {
        let constrained = !self.simulation.signature().constraints.is_empty();
        self.simulation.scheme().description().on_uneven_steps[usize::from(constrained)]
    }

    /// No step is short enough for `outcome` to be good.
    fn too_small(&self, leap: Leap, outcome: Result<f64>) -> Error {
        match outcome {
            Err(Error::NewtonFailed { equation, residual, .. }) => {
                let problem = format!(
                    "they would have to be shorter than {} s: Newton's iteration fails, with a residual of {residual:.1e} in the equation \
                     of {equation}",
                    shown(self.smallest)
                );
                let remedy = "look for a jump in forces or motions near this time, or end earlier";
                return Error::invalid(format!("the steps at t = {} s", shown(leap.to)), problem, remedy);
            }
            Err(other) => return other,
            Ok(_) => {}
        }
        let (j, relative) = self.worst(leap);
        let (time, step_size, error) = (leap.to, self.smallest, relative * self.sizes[j]);
        let worst = self.simulation.signature().unknown(j).cloned();
        let Quantity { name: coordinate, unit, .. } = worst.unwrap_or_else(|| Quantity::new("", ""));
        Error::StepTooSmall { time, step_size, coordinate, error, unit }
    }
}

fn fill(simulation: &Simulation, t: f64, w: &mut [f64]) {
    w.iter_mut().zip(simulation.signals()).for_each(|(w, signal)| *w = signal.value(t));
}
