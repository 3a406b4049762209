//! Step control: steps as long as a tolerance allows. What comes in is a simulation, what goes out is the same on a grid of its own, which
//! is frozen then: derivatives are exact for that grid.
//!
//! Local errors of positions, C h² (S - Ŝ), tell how long each step may be *beside the others*: all make the same error, which takes the
//! fewest steps for their sum (a controller with a proportional and an integral part). How long all of them may be is told by the whole
//! run: its error is estimated from steps half as long, and the limit of local errors follows it, until the error is below what was asked
//! for. So a tolerance is one of the result, also where a motion amplifies or forgets errors. Even steps are tried, too, and taken where they
//! need no more: errors of an even motion cancel better on them.

use crate::error::{Error, Result};
use crate::grid::TimeGrid;
use crate::scheme::{Block, Counters, Layout, Step, Stepper};
use crate::shown::shown;
use crate::signal::Signal;
use crate::signature::Quantity;
use crate::simulate::Simulation;
use crate::start::Start;
use crate::step_error::{ROUND_OFF, StepError, StepErrors, sizes_by_unit};
use crate::system::Evaluator;

/// What steps are asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepControl {
    /// The largest error of any coordinate over the whole run, beside the largest value of all coordinates that have its unit.
    pub tolerance: f64,
    /// The shortest step that is taken, s; 1e-13 of the simulated time otherwise.
    pub smallest: Option<f64>,
}

/// A simulation on steps that were chosen, and how.
#[derive(Debug, Clone)]
pub struct Controlled {
    /// On its grid.
    pub simulation: Simulation,
    /// Its errors, as estimated.
    pub errors: StepErrors,
    /// Times that the whole grid was chosen.
    pub passes: usize,
    /// Steps that were taken and thrown away in the last pass.
    pub rejected: usize,
}

/// Passes that are taken at most.
const MOST_PASSES: usize = 12;
/// A run is good enough with this part of the tolerance, or more: fewer steps are not worth another pass.
const ENOUGH: f64 = 0.1;
/// Passes in which twice as many steps do not halve the error, after which there is no hope.
const PATIENCE: usize = 2;
/// The tolerance of a first run, from which sizes are taken.
const ROUGH: f64 = 1e-2;
/// What is aimed at, beside the tolerance.
const AIM: f64 = 0.5;
/// Part of the tolerance that local errors are to add up to in the first pass.
const FIRST: f64 = 0.5;
/// What even steps aim at, beside the tolerance: less than it, since their number is foretold.
const EVEN_AIM: f64 = 0.8;
/// Steps of one pass that no tolerance is worth, and of the first one.
const MOST_STEPS: usize = 5_000_000;
const MOST_ROUGH: usize = 200_000;
/// After so many steps it is looked how far they have come: it is hopeless where the rest would take so many times as many as there may be.
const PACE: usize = 10_000;
const HOPELESS: f64 = 100.0;
/// The smallest tolerance, above round-off.
const LEAST: f64 = 1e-12;
/// The shortest step beside the simulated time.
const SHORTEST: f64 = 1e-13;
/// Safety of the controller, and its exponents, for local errors of third order: of the last error, and of the one before it.
const SAFETY: f64 = 0.9;
const EXPONENTS: [f64; 2] = [-0.7 / 3.0, 0.4 / 3.0];
/// By how much a step is shortened at most.
const SHORTER: f64 = 0.2;
/// Steps that may grow by less than this stay as they are: even steps keep their formulas.
const WORTH_IT: f64 = 1.15;

impl Simulation {
    /// The same with steps as long as a tolerance allows, at parameters `u`, which is also read at the times `reads`, s
    /// ([`Simulation::reading`]). Steps meet the first and last time, all samples of inputs that are no splines, and all times at which inputs
    /// switch; the first step of the grid is what the control begins with.
    ///
    /// # Errors
    /// [`Error::Invalid`] for tolerances that are not positive or that cannot be met; [`Error::StepTooSmall`]; a run that fails.
    pub fn controlled(&self, u: &[f64], control: StepControl, reads: &[f64]) -> Result<Controlled> {
        let StepControl { tolerance, smallest } = control;
        if !(LEAST..1.0).contains(&tolerance) {
            let problem = match tolerance {
                t if t >= 1.0 => format!("an error of {} is as large as the motion", shown(tolerance)),
                t if t > 0.0 => format!("{} is no error above round-off", shown(tolerance)),
                _ => format!("{} is not positive", shown(tolerance)),
            };
            return Err(Error::invalid("the tolerance", problem, "give a relative error such as 1e-4"));
        }
        if let Some(step) = smallest.filter(|step| !(step.is_finite() && *step > 0.0)) {
            let problem = format!("{step} s is not positive");
            return Err(Error::invalid("the smallest step", problem, "give a time > 0, or leave it out"));
        }
        self.check_parameters(u)?;
        // sizes come from a run that need not be exact
        let mut scout = Chooser::new(self, u, (ROUGH, smallest), None, reads)?;
        let rough = scout.times()?.len() as f64;
        let expected = rough * (scout.sum / (FIRST * tolerance)).sqrt();
        if expected > MOST_STEPS as f64 {
            return Err(scout.too_many(&format!("about {expected:.0e} steps would be taken")));
        }
        let (mut sizes, mut allowed) = (scout.sizes, ROUGH * limit(FIRST * tolerance / scout.sum));
        let mut accepted: Option<Controlled> = None;
        // error and number of steps of the pass before, and how often it did not help to take more of them
        let (mut before, mut in_vain) = ((f64::INFINITY, 0), 0);
        for pass in 1..=MOST_PASSES {
            let mut chooser = Chooser::new(self, u, (allowed, smallest), Some(sizes), reads)?;
            let times = chooser.times()?;
            let simulation = self.on(TimeGrid::through(&times, 1)?, self.signals().to_vec())?.reading(reads)?;
            let (errors, error) = simulation.step_errors(u)?;
            let count = simulation.steps();
            sizes = errors.coordinates.iter().map(|error| error.size).collect();
            if error <= tolerance {
                let fewer = accepted.as_ref().is_none_or(|best| count < best.simulation.steps());
                if fewer {
                    accepted = Some(Controlled { simulation, errors, passes: pass, rejected: chooser.rejected });
                }
                if !fewer || error >= ENOUGH * tolerance {
                    break;
                }
            } else if accepted.is_some() {
                break;
            }
            in_vain += usize::from(error > 0.5 * before.0 && count > 2 * before.1 && before.1 > 0);
            if in_vain == PATIENCE {
                break;
            }
            before = (error, count);
            allowed *= limit((AIM * tolerance / error).clamp(0.01, 100.0));
        }
        if let Some(best) = accepted {
            return Ok(self.even(u, &best, tolerance, reads).unwrap_or(best));
        }
        let problem = format!("the error of the run stays at {:.1e}, as estimated from steps half as long", before.0);
        let remedy = "ask for less, or simulate a shorter time: the motion amplifies errors, or round-off is reached";
        Err(Error::invalid(format!("a tolerance of {}", shown(tolerance)), problem, remedy))
    }

    /// The errors of its run, and the largest of those of coordinates beside their sizes.
    fn step_errors(&self, u: &[f64]) -> Result<(StepErrors, f64)> {
        let errors = StepErrors::of(self, u)?;
        let worst = StepErrors::worst(&errors.coordinates).map_or(0.0, StepError::relative);
        Ok((errors, worst))
    }

    /// The same with even steps between the stops, if no more of them keep the tolerance.
    fn even(&self, u: &[f64], best: &Controlled, tolerance: f64, reads: &[f64]) -> Option<Controlled> {
        let start = self.grid().time(0);
        let stops = met(self, reads);
        let most = best.simulation.steps();
        let with = |count: f64| {
            let longest = (self.grid().end() - start) / count;
            let parts = |length: f64| (length / longest * (1.0 - 1e-9)).ceil().max(1.0) as usize;
            let grid = match stops[..] {
                [end] => TimeGrid::steps(start, (end - start) / parts(end - start) as f64, parts(end - start)),
                _ => {
                    let mut times = vec![start];
                    for stop in &stops {
                        let from = times[times.len() - 1];
                        let parts = parts(stop - from);
                        times.extend((1..parts).map(|part| from + (stop - from) * part as f64 / parts as f64));
                        times.push(*stop);
                    }
                    TimeGrid::through(&times, 1)
                }
            };
            let simulation =
                self.on(grid.ok()?, self.signals().to_vec()).and_then(|simulation| simulation.reading(reads));
            let simulation = simulation.ok()?;
            let (errors, error) = simulation.step_errors(u).ok()?;
            Some((Controlled { simulation, errors, passes: best.passes, rejected: best.rejected }, error))
        };
        // errors are of second order
        let (tried, error) = with(most as f64)?;
        let needed = tried.simulation.steps() as f64 * (error / (EVEN_AIM * tolerance)).sqrt();
        let (found, error) = with(Some(needed).filter(|needed| *needed <= most as f64)?)?;
        (error <= tolerance && found.simulation.steps() <= most).then_some(found)
    }
}

/// Times between which steps are free: those that must be met, the last one at the end. Behind a jump, the first time that is read is one: between
/// the ends of that step, accelerations of behind the jump are not known.
fn met(simulation: &Simulation, reads: &[f64]) -> Vec<f64> {
    let (start, end) = (simulation.grid().time(0), simulation.grid().end());
    let mut reads = reads.to_vec();
    reads.sort_unstable_by(f64::total_cmp);
    let behind = |jump: f64| reads.get(reads.partition_point(|t| *t <= jump)).copied();
    let jumps = |signal: &Signal| -> Vec<f64> {
        signal.jumps().iter().copied().filter(|t| *t > start && signal.before(*t) != signal.value(*t)).collect()
    };
    let stops: Vec<f64> = simulation.signals().iter().flat_map(jumps).filter_map(behind).collect();
    let kinks = simulation.signals().iter().flat_map(|signal| signal.kinks().into_owned());
    // times that differ by round-off are one
    let same = SHORTEST * (end - start);
    let mut all: Vec<f64> = stops.into_iter().chain(kinks).filter(|t| t - start > same && end - t > same).collect();
    all.push(end);
    all.sort_unstable_by(f64::total_cmp);
    all.dedup_by(|later, earlier| *later - *earlier <= same);
    all
}

/// The factor of local errors for a factor of the whole error, which is of second order where they are of third.
fn limit(factor: f64) -> f64 {
    if factor.is_finite() { factor.powf(1.5) } else { 1.0 }
}

/// A run whose steps are chosen as it goes.
struct Chooser<'s> {
    simulation: &'s Simulation,
    u: &'s [f64],
    /// The local error of a step, beside sizes, that is allowed.
    allowed: f64,
    /// The sum of all local errors beside sizes.
    sum: f64,
    smallest: f64,
    /// Of the coordinates; grown as the run goes, where they are not known.
    sizes: Vec<f64>,
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
    rejected: usize,
    /// Whether the last step started anew.
    is_anew: bool,
}

/// Where a step goes.
#[derive(Clone, Copy)]
struct Leap {
    index: usize,
    from: f64,
    to: f64,
    h_before: f64,
}

impl<'s> Chooser<'s> {
    fn new(
        simulation: &'s Simulation,
        u: &'s [f64],
        (allowed, smallest): (f64, Option<f64>),
        sizes: Option<Vec<f64>>,
        reads: &[f64],
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
            stops: met(simulation, reads),
            largest_ratio: description.largest_ratio[usize::from(!signature.constraints.is_empty())],
            evaluator: simulation.system().evaluator(),
            stepper: simulation.stepper(),
            layout,
            states: [(); 2].map(|()| vec![0.0; layout.size()]),
            inputs: [(); 2].map(|()| vec![0.0; simulation.signals().len()]),
            rejected: 0,
            is_anew: false,
        })
    }

    /// The times of the steps.
    fn times(&mut self) -> Result<Vec<f64>> {
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
                        return Err(outcome.err().unwrap_or_else(|| self.too_small(leap)));
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

    /// What the scheme makes of the start.
    fn start(&mut self, leap: Leap) -> Result<()> {
        let h = leap.to - leap.from;
        let [w, w_other] = &mut self.inputs;
        fill(self.simulation, leap.from, w);
        fill(self.simulation, leap.to, w_other);
        let step = Step { index: 0, is_anew: false, t: leap.from, h, h_before: h, w, w_other };
        let [x, _] = &mut self.states;
        self.stepper.start(&mut *self.evaluator, self.simulation.signature(), &step, x, &mut Counters::default())
    }

    /// The local error of a step beside the coordinates' sizes.
    fn step(&mut self, leap: Leap) -> Result<f64> {
        let Leap { index, from, to, h_before } = leap;
        let [w, w_other] = &mut self.inputs;
        let mut is_anew = false;
        for ((w, other), signal) in w.iter_mut().zip(w_other.iter_mut()).zip(self.simulation.signals()) {
            (*w, *other) = (signal.before(to), signal.value(from));
            is_anew |= index > 1 && *other != signal.before(from);
        }
        let h = to - from;
        let step = Step { index, is_anew, t: to, h, h_before, w, w_other };
        let [before, after] = &mut self.states;
        let (evaluator, signature) = (&mut *self.evaluator, self.simulation.signature());
        self.stepper.step(evaluator, signature, &step, before, after, &mut Counters::default())?;
        self.is_anew = is_anew;
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

    /// The coordinate with the largest local error of a step beside its size, and that.
    fn worst(&self, leap: Leap) -> (usize, f64) {
        let h = leap.to - leap.from;
        let h_before = if self.is_anew { h } else { leap.h_before };
        let [by_s, by_a_before, by_s_before] = self.simulation.scheme().local_error(h, h / h_before);
        let [before, after] = &self.states;
        let before = if self.is_anew { self.stepper.begun() } else { before };
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
        let told = || format!("at t = {} s, {taken} steps have been taken", shown(t));
        if taken > most {
            return Err(self.too_many(&told()));
        }
        if taken > PACE && taken.is_multiple_of(PACE) {
            let covered = t - times[taken - 1 - PACE];
            let left = (self.simulation.grid().end() - t) / covered * PACE as f64;
            if left > HOPELESS * most as f64 {
                let problem = format!("{}, and about {left:.0e} more would be at the pace of the last {PACE}", told());
                return Err(self.too_many(&problem));
            }
        }
        Ok(())
    }

    fn too_many(&self, problem: &str) -> Error {
        let remedy = match self.trouble() {
            Some(trouble) => format!("take another scheme: on uneven steps, {trouble}"),
            None => "ask for a larger error, or end earlier; `costate steps` extrapolates to more digits".to_string(),
        };
        Error::invalid("the tolerance", problem, remedy)
    }

    /// What the scheme makes of uneven steps.
    fn trouble(&self) -> Option<&'static str> {
        let constrained = !self.simulation.signature().constraints.is_empty();
        self.simulation.scheme().description().on_uneven_steps[usize::from(constrained)]
    }

    fn too_small(&self, leap: Leap) -> Error {
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
