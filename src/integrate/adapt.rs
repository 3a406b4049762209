//! Step control: steps as long as a tolerance allows. What comes in is a simulation, what goes out is the same on a grid of its own, which
//! is frozen then: derivatives are exact for that grid.
//!
//! Local errors of positions, C h² (S - Ŝ), tell how long each step may be *beside the others*: all make the same error, which takes the
//! fewest steps for their sum (a controller with a proportional and an integral part). How long all of them may be follows from the whole
//! run: its error is estimated from steps half as long, and the limit of local errors follows it, until the error is below what was asked
//! for. So a tolerance is one of the result, also where a motion amplifies or forgets errors. Even steps are tried, too, and taken where they
//! need no more: errors of an even motion cancel better on them.
//!
//! A step that fails is a step that is rejected, in all of these runs; what more steps would do is known from runs that have been made, never by
//! the pace of a transient.

mod chooser;

use crate::grid::TimeGrid;
use crate::shown::shown;
use crate::simulate::Simulation;
use crate::step_error::{StepError, StepErrors};
use crate::{Error, Result};
use chooser::{Chooser, met};

/// Demands on the steps that are chosen.
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
    /// The simulation on the grid that was chosen.
    pub simulation: Simulation,
    /// Estimated errors of the simulation.
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
/// Passes in which twice as many steps do not halve the error, after which there is no hope; and where errors are as large as the motion.
const PATIENCE: [usize; 2] = [2, 4];
/// The tolerance of a first run, from which sizes are taken.
const ROUGH: f64 = 1e-2;
/// Where it does not do: the next one beside it, and the last one.
const FINER: f64 = 1e-3;
const FINEST: f64 = 1e-7;
/// Part of the tolerance that a pass aims at.
const AIM: f64 = 0.5;
/// Part of the tolerance that local errors are to add up to in the first pass.
const FIRST: f64 = 0.5;
/// Part of the tolerance that even steps aim at: less than it, since their number is foretold.
const EVEN_AIM: f64 = 0.8;
/// Steps that no tolerance is worth.
const MOST_STEPS: usize = 5_000_000;
/// Steps of the first pass, at most: what more of them would do is measured first. But it takes so many times those of the rough run.
const MODEST: f64 = 20_000.0;
const BEYOND_ROUGH: f64 = 4.0;
/// Part of the largest values from which on an error says no more than that it is large: two jumps that are not at the same time.
const SATURATED: f64 = 0.3;
/// Steps of a pass that are divided where a run fails, at most.
const MOST_DIVIDED: usize = 10;
/// The smallest tolerance, above round-off.
const LEAST: f64 = 1e-12;
impl Simulation {
    /// The simulation with steps as long as a tolerance allows, at parameters `u`, which is also read at the times `reads`, s
    /// ([`Simulation::reading`]). Steps meet the first and last time, all samples of inputs that are no splines, and all times at which
    /// inputs switch; the first step of the grid is what the control begins with.
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
        let stops = met(self, u, reads);
        let (scout, count) = self.scouted(u, smallest, &stops)?;
        let (roughness, rough) = (scout.allowed, count as f64);
        let expected = (rough * (scout.sum / (FIRST * tolerance)).sqrt()).min(MODEST.max(BEYOND_ROUGH * rough));
        // more is known to fail where finer steps had to be tried
        let most = if roughness < ROUGH { roughness } else { f64::INFINITY };
        let allowed = roughness * limit(rough * rough / (expected * expected));
        let (mut sizes, mut allowed) = (scout.sizes, allowed.min(most));
        let mut accepted: Option<Controlled> = None;
        // error and number of steps of the pass before, and how often it did not help to take more of them
        let (mut before, mut in_vain) = ((f64::INFINITY, 0), 0);
        let mut trouble = String::new();
        for pass in 1..=MOST_PASSES {
            let mut chooser = Chooser::new(self, u, (allowed, smallest), Some(sizes.clone()), &stops)?;
            let times = chooser.times()?;
            let (mut error, mut count) = (1.0, times.len() - 1);
            match self.judged(u, times, reads)? {
                Judged::Failed(failure) => trouble = failed(&failure),
                Judged::Known(simulation, errors) => {
                    let worst = StepErrors::worst(&errors.coordinates);
                    error = worst.map_or(0.0, StepError::relative);
                    trouble = worst.map_or(String::new(), large);
                    count = simulation.steps();
                    sizes = errors.coordinates.iter().map(|error| error.size).collect();
                    if error <= tolerance {
                        let fewer = accepted.as_ref().is_none_or(|best| count < best.simulation.steps());
                        if fewer {
                            accepted =
                                Some(Controlled { simulation, errors, passes: pass, rejected: chooser.rejected });
                        }
                        if !fewer || error >= ENOUGH * tolerance {
                            break;
                        }
                    }
                }
            }
            let is_saturated = error >= SATURATED;
            if error > tolerance {
                if accepted.is_some() {
                    break;
                }
                let needed = count as f64 * (error / (AIM * tolerance)).sqrt();
                if !is_saturated && needed > MOST_STEPS as f64 {
                    let problem = format!("with {count} steps, {trouble}: about {needed:.0e} steps would be taken");
                    return Err(chooser.too_many(&problem));
                }
            }
            in_vain += usize::from(error > 0.5 * before.0 && count > 2 * before.1 && before.1 > 0);
            if in_vain >= PATIENCE[usize::from(is_saturated)] {
                break;
            }
            before = (error, count);
            allowed = (allowed * limit((AIM * tolerance / error).clamp(0.01, 100.0))).min(most);
        }
        if let Some(best) = accepted {
            return Ok(self.even(u, &best, tolerance, (&stops, reads)).unwrap_or(best));
        }
        let problem = format!("with {} steps, {trouble}, and more of them do not help", before.1);
        let remedy = "ask for less, or simulate a shorter time: the motion amplifies errors, or round-off is reached";
        Err(Error::invalid(format!("a tolerance of {}", shown(tolerance)), problem, remedy))
    }

    /// A first run, and the number of its times. Where steps would have to be shorter than there are, those before may have been too long, and have led to
    /// another solution of their equations, from which nothing leads on: then finer ones are tried.
    fn scouted<'s>(&'s self, u: &'s [f64], smallest: Option<f64>, stops: &[f64]) -> Result<(Chooser<'s>, usize)> {
        let (mut roughness, mut failure) = (ROUGH, None);
        loop {
            let mut scout = Chooser::new(self, u, (roughness, smallest), None, stops)?;
            match scout.times() {
                Ok(times) => return Ok((scout, times.len())),
                Err(error @ Error::StepTooSmall { .. }) if roughness > FINEST => failure = failure.or(Some(error)),
                Err(error) => return Err(failure.unwrap_or(error)),
            }
            roughness *= FINER;
        }
    }

    /// The run on steps that were chosen, and its errors. Where it, or that with steps half as long, fails in a step (which no other run has
    /// taken), that step is divided, as it would be where steps are chosen; unless the same one fails again: then steps are too large, or lie
    /// at the wrong places.
    fn judged(&self, u: &[f64], mut times: Vec<f64>, reads: &[f64]) -> Result<Judged> {
        let mut divided: Vec<[f64; 2]> = Vec::new();
        loop {
            let simulation = self.on(TimeGrid::through(&times, 1)?, self.signals().to_vec())?.reading(reads)?;
            let failure = match StepErrors::of(&simulation, u) {
                Ok(errors) => return Ok(Judged::Known(simulation, errors)),
                Err(failure) => failure,
            };
            let Some(t) = time_of(&failure) else { return Err(failure) };
            let end = times.partition_point(|time| *time < t).clamp(1, times.len() - 1);
            let [from, to] = [times[end - 1], times[end]];
            let again = divided.iter().any(|[start, end]| from >= *start && to <= *end);
            if again || divided.len() == MOST_DIVIDED {
                return Ok(Judged::Failed(failure));
            }
            divided.push([from, to]);
            times.insert(end, from + 0.5 * (to - from));
        }
    }

    /// The errors of its run, and the largest of those of coordinates beside their sizes.
    fn step_errors(&self, u: &[f64]) -> Result<(StepErrors, f64)> {
        let errors = StepErrors::of(self, u)?;
        let worst = StepErrors::worst(&errors.coordinates).map_or(0.0, StepError::relative);
        Ok((errors, worst))
    }

    /// The simulation with even steps between the stops, if no more of them keep the tolerance.
    fn even(
        &self,
        u: &[f64],
        best: &Controlled,
        tolerance: f64,
        (stops, reads): (&[f64], &[f64]),
    ) -> Option<Controlled> {
        let start = self.grid().time(0);
        let most = best.simulation.steps();
        let with = |count: f64| {
            let longest = (self.grid().end() - start) / count;
            let parts = |length: f64| (length / longest * (1.0 - 1e-9)).ceil().max(1.0) as usize;
            let grid = match *stops {
                [end] => TimeGrid::steps(start, (end - start) / parts(end - start) as f64, parts(end - start)),
                _ => {
                    let mut times = vec![start];
                    for stop in stops {
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

/// Outcome of a run on steps that were chosen.
enum Judged {
    Known(Simulation, StepErrors),
    /// The run fails, or the one with steps half as long.
    Failed(Error),
}

/// Time, s, at which a step has failed that may succeed with another size.
fn time_of(failure: &Error) -> Option<f64> {
    match failure {
        Error::NewtonFailed { time, .. } | Error::Singular { time, .. } | Error::NotFinite { time, .. } => Some(*time),
        _ => None,
    }
}

/// Step in which, and equation where, Newton's iteration fails, for sentences that go on.
fn failed(failure: &Error) -> String {
    match failure {
        Error::NewtonFailed { time, step_size, equation, .. } => format!(
            "the run with steps half as long fails at t = {} s: Newton's iteration does not converge with a step of {} s, worst in the \
             equation of {equation}",
            shown(*time),
            shown(*step_size)
        ),
        other => format!("the run with steps half as long fails: {other}"),
    }
}

/// The largest error of a run, for sentences that go on.
fn large(worst: &StepError) -> String {
    let StepError { quantity, error, time, .. } = worst;
    format!(
        "the error of `{}` is {error:.1e} {} at t = {} s, {:.1e} of its largest value, as estimated from steps half as long",
        quantity.name,
        quantity.unit,
        shown(*time),
        worst.relative()
    )
}

/// The factor of local errors for a factor of the whole error, which is of second order where they are of third.
fn limit(factor: f64) -> f64 {
    if factor.is_finite() { factor.powf(1.5) } else { 1.0 }
}
