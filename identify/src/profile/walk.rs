//! The way along one side of a profile: steps, fits of the other parameters, and the end between two of them.
//!
//! A least cost is continuous in the parameter that is held, and it rises by what its slope allows: a fit that ends too high shows as a jump, or as
//! an end that lies nearer than the standard error has it. Both are looked into by fits that begin elsewhere; what they do not mend is said.

use super::{FAR, FIRST, MOST_POINTS, NEAR, PART, ProfilePoint, Side, Walk, is_out_of_reach};
use crate::ensemble::Ensemble;
use crate::optimise::Flow;
use crate::problem::Problem;
use crate::{Error, Result, Settings, identify_from};
use costate::shown::rounded;
use costate::{Parameter, Scale};

/// Steps to where nothing is known are shortened so often.
const MOST_SHORTENED: usize = 4;
/// A step that gains more than this part of the quantile is steep: half as much again as it aims at.
const STEEP: f64 = 1.5 * PART;
/// An end is nearer than its standard error has it, if it is by this part.
const NEARER: f64 = 0.05;
/// A fit is better than another if it has less excess by this part of the quantile.
const LOWER: f64 = 5e-4;
/// A cost that rises by more than so many times what its slopes at both ends of a step allow jumps.
const JUMP: f64 = 2.0;
/// A walk goes on so often from an end that was none.
const MOST_RESUMED: usize = 4;
/// Trials for an end.
const MOST_TRIALS: usize = 40;
/// An end is known to this part of the way to it, at worst.
const ROUGH: f64 = 1e-3;

/// All that walks have in common.
pub(super) struct Ground<'a> {
    pub problem: &'a Problem,
    pub settings: &'a Settings,
    pub free: &'a [usize],
    pub optimum: ProfilePoint,
    /// Of each parameter, see [`ParameterStatistics::cost_unit`](crate::statistics::ParameterStatistics::cost_unit).
    pub units: Vec<f64>,
    pub quantile: f64,
}

/// What is between a point below the quantile and one above it.
enum Between {
    /// The end, and all points up to it and beyond it.
    End(ProfilePoint, Vec<ProfilePoint>),
    /// None that could be found, for this reason: nothing is known beyond the last of these points, or beyond the point below if there are none.
    Nothing(Vec<ProfilePoint>, String),
}

impl Ground<'_> {
    /// Away from the optimum until the excess has reached the quantile.
    pub fn walk(&self, walk: &Walk<'_>) -> Result<(Side, Vec<ProfilePoint>)> {
        let (side, points) = self.follow(walk)?;
        Ok((self.by_bound(walk, side, &points), points))
    }

    fn follow(&self, walk: &Walk<'_>) -> Result<(Side, Vec<ProfilePoint>)> {
        let &Walk { parameter: k, direction, standard_error, .. } = walk;
        let parameter = &self.problem.parameters[k];
        let start = self.optimum.u[k];
        let size = parameter.size_from(start);
        let bound = if direction < 0.0 { parameter.lower } else { parameter.upper };
        let by_logarithm = parameter.scale == Scale::Log;
        let is_known = standard_error > 0.0 && standard_error.is_finite();
        let mut step = if is_known { PART * self.quantile * standard_error } else { FIRST * size };
        let mut last = ProfilePoint { value: start, ..self.optimum.clone() };
        let mut points: Vec<ProfilePoint> = Vec::new();
        let (mut shortened, mut resumed, mut before) = (0, 0, None);
        while points.len() < MOST_POINTS {
            if (last.value - bound) * direction >= 0.0 {
                return Ok((Side::Bound(bound), points));
            }
            let moved = match by_logarithm {
                true => last.value * (direction * step / last.value).exp(),
                false => last.value + direction * step,
            };
            let value = if (moved - bound) * direction >= 0.0 { bound } else { moved };
            // the others go on as they have changed, or begin where they were, or at the optimum
            let ahead = before.as_ref().map(|before| self.extrapolated(k, value, before, &last));
            let begins: Vec<&[f64]> = ahead.iter().map(|u| &u[..]).chain([&last.u[..], &self.optimum.u[..]]).collect();
            let reason = match self.fit(k, value, &begins) {
                // of a fit that ends early, the cost is one that the least does not exceed
                Ok((point, early)) if early.is_none() || point.excess < self.quantile => {
                    let is_steep = |point: &ProfilePoint| point.excess - last.excess > STEEP * self.quantile;
                    let point = match is_steep(&point) {
                        true => self.fitted_elsewhere(k, &point)?.unwrap_or(point),
                        false => point,
                    };
                    let point = match self.summit(k, &last, &point)? {
                        Some(summit) => summit,
                        None => point,
                    };
                    if point.excess >= self.quantile {
                        let (end, between) = match self.between(k, &last, point)? {
                            Between::End(end, between) => (end, between),
                            Between::Nothing(between, reason) => {
                                points.extend(between);
                                let to = points.last().map_or(start, |point| point.value);
                                return Ok((Side::Blocked(to, reason), points));
                            }
                        };
                        let expected = (end.value - start).abs() / standard_error;
                        let is_near = !is_known || expected < (1.0 - NEARER) * self.quantile;
                        let lower = if is_near { self.fitted_elsewhere(k, &end)? } else { None };
                        let Some(lower) = lower else {
                            points.extend(between);
                            return Ok((Side::At(end.value), points));
                        };
                        if resumed == MOST_RESUMED {
                            let reason = "fits of the other parameters find lower costs time and again";
                            return Ok((Side::Blocked(last.value, reason.to_string()), points));
                        }
                        resumed += 1;
                        self.sweep_back(k, &mut points, &lower)?;
                        points.push(lower.clone());
                        before = Some(std::mem::replace(&mut last, lower));
                        continue;
                    }
                    if !(is_steep(&point) && self.is_jump(k, &last, &point)?) {
                        let gained = point.excess - last.excess;
                        if gained < -LOWER * self.quantile {
                            // either the way leads down, or it has been too high
                            self.sweep_back(k, &mut points, &point)?;
                        }
                        step *= if gained > 0.0 { (PART * self.quantile / gained).clamp(0.5, 2.0) } else { 2.0 };
                        points.push(point.clone());
                        before = Some(std::mem::replace(&mut last, point));
                        if (last.value - start).abs() > FAR * size.max(start.abs()) {
                            break;
                        }
                        continue;
                    }
                    jump(&last, &point)
                }
                Ok((_, early)) => early.unwrap_or_default(),
                Err(error) if is_out_of_reach(&error) => error.to_string(),
                Err(error) => return Err(error),
            };
            if shortened == MOST_SHORTENED {
                return Ok((Side::Blocked(last.value, reason), points));
            }
            shortened += 1;
            step *= 0.25;
        }
        Ok((Side::Open(last.value), points))
    }

    /// A point beyond the quantile between two below it, which a step has gone over: the cost rises behind the first one, high already, and falls before
    /// the second one, and there is a fit where a cubic through both has its maximum.
    fn summit(&self, k: usize, from: &ProfilePoint, to: &ProfilePoint) -> Result<Option<ProfilePoint>> {
        /// Excess of the first point, beside the quantile, from which on it is worth a look.
        const HIGH: f64 = 0.5;
        /// A maximum this near to the quantile may be beyond it.
        const MAY_BE_BEYOND: f64 = 0.95;
        let is_flat = to.excess - from.excess < 0.5 * PART * self.quantile;
        if from.excess < HIGH * self.quantile || to.excess >= self.quantile || !is_flat {
            return Ok(None);
        }
        let Some([first, second]) = self.slopes(k, [from, to])? else { return Ok(None) };
        let width = to.value - from.value;
        let (rise, fall) = (first * width, second * width);
        if !(rise > 0.0 && fall < 0.0) {
            return Ok(None);
        }
        let gain = to.cost - from.cost;
        // derivative a t² + b t + rise of the cubic, which falls through zero once from 0 to 1
        let (a, b) = (3.0 * (rise + fall) - 6.0 * gain, 6.0 * gain - 4.0 * rise - 2.0 * fall);
        let root = (b * b - 4.0 * a * rise).max(0.0).sqrt();
        let t = 2.0 * rise / (root - b);
        let height = from.cost + t * (rise + t * (b / 2.0 + t * a / 3.0));
        let excess = (2.0 * (height - self.optimum.cost).max(0.0) / self.units[k]).sqrt();
        if !(0.0 < t && t < 1.0 && excess > MAY_BE_BEYOND * self.quantile) {
            return Ok(None);
        }
        match self.fit(k, from.value + t * width, &[&from.u, &to.u]) {
            Ok((point, None)) if point.excess >= self.quantile => Ok(Some(point)),
            Err(error) if !is_out_of_reach(&error) => Err(error),
            _ => Ok(None),
        }
    }

    /// Where the excess is the quantile, between a point below and one above it, by false position that does not stick to one side (the
    /// Illinois rule).
    fn between(&self, k: usize, below: &ProfilePoint, above: ProfilePoint) -> Result<Between> {
        let from = below.value;
        // how far it is beyond the quantile does not matter where a wall is steep
        let rest_of = |point: &ProfilePoint| (point.excess - self.quantile).min(self.quantile);
        let mut points = vec![above.clone()];
        let mut rests = [rest_of(below), rest_of(&above)];
        let mut ends = [below.clone(), above];
        let mut u = below.u.clone();
        let mut kept = None;
        let nothing = |reason: String| Ok(Between::Nothing(Vec::new(), reason));
        for _ in 0..MOST_TRIALS {
            let (a, b) = (ends[0].value, ends[1].value);
            let value = b - rests[1] * (b - a) / (rests[1] - rests[0]);
            let point = match self.fit(k, value, &[&u, &self.optimum.u]) {
                Err(error) if is_out_of_reach(&error) => return nothing(error.to_string()),
                Ok((point, Some(early))) if point.excess >= self.quantile => return nothing(early),
                other => other?.0,
            };
            let rest = rest_of(&point);
            u.clone_from(&point.u);
            points.push(point.clone());
            let is_found = rest.abs() <= NEAR * self.quantile;
            let is_closed = (value - b).abs().min((value - a).abs()) <= 1e-12 * value.abs();
            let side = usize::from(rest >= 0.0);
            (rests[side], ends[side]) = (rest, point);
            if is_found {
                points.sort_by(|a, b| (a.value - from).abs().total_cmp(&(b.value - from).abs()));
                return Ok(Between::End(ends[side].clone(), points));
            }
            if is_closed {
                break;
            }
            if kept == Some(1 - side) {
                rests[1 - side] *= 0.5;
            }
            kept = Some(1 - side);
        }
        points.sort_by(|a, b| (a.value - from).abs().total_cmp(&(b.value - from).abs()));
        let [below, above] = ends;
        let is_rough = (above.value - below.value).abs() > ROUGH * (above.value - self.optimum.u[k]).abs();
        let reason = match () {
            _ if self.is_jump(k, &below, &above)? => jump(&below, &above),
            _ if is_rough => "the cost rises too unevenly for its interval's end to be found".to_string(),
            _ => return Ok(Between::End(above, points)),
        };
        points.retain(|point| point.excess < self.quantile);
        Ok(Between::Nothing(points, reason))
    }

    /// The least cost at the value of a point by fits that begin elsewhere, if it is lower: half-way to the optimum, where parameters that have come to
    /// their bounds together are off them, and at the optimum, unless the first one has come to the same.
    fn fitted_elsewhere(&self, k: usize, point: &ProfilePoint) -> Result<Option<ProfilePoint>> {
        let half_way: Vec<f64> = point.u.iter().zip(&self.optimum.u).map(|(a, b)| 0.5 * (a + b)).collect();
        let mut lower: Option<ProfilePoint> = None;
        let others = if self.free.len() > 1 { &[&half_way, &self.optimum.u][..] } else { &[] };
        for begin in others {
            let least = lower.as_ref().map_or(point.excess, |lower| lower.excess);
            match self.fit(k, point.value, &[begin]) {
                Ok((other, _)) if other.excess < least - LOWER * self.quantile => lower = Some(other),
                Ok((other, _)) if other.excess <= point.excess + LOWER * self.quantile => break,
                Ok(_) => {}
                Err(error) if is_out_of_reach(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(lower)
    }

    /// Fits points again, from the last one back as long as that gains something, from a point beyond them that was found to be lower than they had it.
    fn sweep_back(&self, k: usize, points: &mut [ProfilePoint], lower: &ProfilePoint) -> Result<()> {
        let mut u = lower.u.clone();
        for point in points.iter_mut().rev() {
            match self.fit(k, point.value, &[&u]) {
                Ok((other, _)) if other.excess < point.excess - LOWER * self.quantile => *point = other,
                Err(error) if !is_out_of_reach(&error) => return Err(error),
                _ => break,
            }
            u.clone_from(&point.u);
        }
        Ok(())
    }

    /// Whether the cost rises between two points by more than its slopes allow. A bound of another parameter bends the least cost and leaves its
    /// slope as it is, that of the cost by the parameter alone (the envelope theorem).
    fn is_jump(&self, k: usize, below: &ProfilePoint, above: &ProfilePoint) -> Result<bool> {
        let Some([first, second]) = self.slopes(k, [below, above])? else { return Ok(false) };
        let steepest = first.abs().max(second.abs());
        Ok(above.cost - below.cost > JUMP * steepest * (above.value - below.value).abs())
    }

    /// Slopes of the cost by the parameter at two points; none where one of them cannot be known, which is no reason to stop.
    fn slopes(&self, k: usize, points: [&ProfilePoint; 2]) -> Result<Option<[f64; 2]>> {
        let interrupt = &self.settings.options.interrupt;
        let mut engine = Ensemble::by_parameters(self.problem, &[k])?.interrupted_by(interrupt);
        let (mut slope, mut slopes) = (vec![0.0; points[0].u.len()], [0.0; 2]);
        for (point, own) in points.into_iter().zip(&mut slopes) {
            match engine.cost_and_gradient(&point.u, self.settings.gradient, &mut slope) {
                Ok(_) => *own = slope[k],
                Err(error) if is_out_of_reach(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(slopes))
    }

    /// The other parameters at `value` of parameter `k`, if they go on from two points as they have changed between them, within their bounds.
    fn extrapolated(&self, k: usize, value: f64, before: &ProfilePoint, last: &ProfilePoint) -> Vec<f64> {
        let part = (value - last.value) / (last.value - before.value);
        let mut u = last.u.clone();
        for &other in self.free.iter().filter(|&&other| other != k) {
            let Parameter { lower, upper, scale, .. } = self.problem.parameters[other];
            let (from, to) = (before.u[other], last.u[other]);
            let ahead = match scale {
                Scale::Log => to * (to / from).powf(part),
                Scale::Linear => to + part * (to - from),
            };
            if ahead.is_finite() {
                u[other] = ahead.clamp(lower, upper);
            }
        }
        u
    }

    /// The best fit of the others with parameter `k` at `value`, which begins at the first of these values that leads to a minimum; where none
    /// does, the best that was found, and why that is none.
    fn fit(&self, k: usize, value: f64, begins: &[&[f64]]) -> Result<(ProfilePoint, Option<String>)> {
        let interrupt = &self.settings.options.interrupt;
        let others: Vec<usize> = self.free.iter().copied().filter(|&other| other != k).collect();
        let mut best: Option<(f64, Vec<f64>, Option<String>)> = None;
        let mut failure = None;
        for begin in begins {
            let mut u = begin.to_vec();
            u[k] = value;
            let (cost, early) = if others.is_empty() {
                (Ensemble::new(self.problem)?.interrupted_by(interrupt).cost(&u)?, None)
            } else {
                match identify_from(self.problem, (&u, &others), self.settings, &mut |_| Flow::Continue) {
                    Ok(found) => {
                        u = found.values();
                        let early =
                            || format!("the fit of the other parameters is not sure ({})", found.outcome.reason);
                        (found.outcome.cost, (!found.outcome.converged).then(early))
                    }
                    Err(error) if is_out_of_reach(&error) => {
                        failure = failure.or(Some(error));
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            };
            if interrupt.is_raised() {
                // of a fit that was cut short nothing is known; the stage says the rest
                return Err(Error::interrupted());
            }
            let is_sure = early.is_none();
            if best.as_ref().is_none_or(|(lowest, ..)| cost < *lowest) {
                best = Some((cost, u, early));
            }
            if is_sure {
                break;
            }
        }
        match (best, failure) {
            (Some((cost, u, early)), _) => {
                let excess = (2.0 * (cost - self.optimum.cost).max(0.0) / self.units[k]).sqrt();
                Ok((ProfilePoint { value, cost, excess, u }, early))
            }
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(Error::interrupted()),
        }
    }
}

/// In words.
fn jump(below: &ProfilePoint, above: &ProfilePoint) -> String {
    format!(
        "the cost jumps, from {} to {} standard errors, and no fit of the other parameters finds a way between",
        rounded(below.excess, 3),
        rounded(above.excess, 3)
    )
}
