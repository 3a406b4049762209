//! Profile likelihoods: what the data say of each parameter, where the cost is no parabola.
//!
//! A parameter is moved away from the optimum step by step; at each value the others are fitted again, from where they were before. The
//! *excess* there, z = √(2 (J - J*)/s²), is the number of standard errors that the cost has risen by, with s² = [`Statistics::cost_unit`]: where
//! the cost is a parabola, z = |u - u*|/σ_u. The 95 % interval ends where z reaches Student's quantile (that of the normal distribution for given
//! noise: 2 (J - J*) = 3.84; Raue et al. 2009). Both sides of all parameters are [`Work`] that is divided.

mod verdict;

pub use verdict::Identifiable;

use crate::ensemble::Ensemble;
use crate::optimise::Flow;
use crate::problem::Problem;
use crate::statistics::Statistics;
use crate::work::{ProgressCallback, Stage, Work};
use crate::{Error, Result};
use crate::{Identification, Settings, identify_from};
use costate::signature::{Parameter, Scale};
use serde::{Deserialize, Serialize};

/// Points on one side at most.
const MOST_POINTS: usize = 60;
/// Steps to a side aim at this part of the quantile.
const PART: f64 = 0.25;
/// The end of an interval is known when its excess is so near to the quantile, relatively.
const NEAR: f64 = 1e-4;
/// A side is open where the excess has not reached the quantile so many sizes of the parameter away.
const FAR: f64 = 1e3;
/// The first step where there is no standard error, in sizes of the parameter.
const FIRST: f64 = 0.05;
/// A cost that falls by more than this many units below the optimum's is a better optimum.
const BETTER: f64 = 1e-3;
/// A bound of another parameter that is met no sooner than in this part of the way to an end is what makes the end.
const WALL: f64 = 0.01;
/// Steps to where nothing is known are shortened so often.
const MOST_SHORTENED: usize = 4;
/// Without this much excess, nothing changes.
const FLAT: f64 = 0.05;

/// A value of the parameter, and the best fit of the others there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfilePoint {
    /// The value.
    pub value: f64,
    /// The least cost with it.
    pub cost: f64,
    /// z, without sign.
    pub excess: f64,
    /// All parameters.
    pub u: Vec<f64>,
}

/// How far the data let a parameter go to one side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Side {
    /// The end of the 95 % interval.
    At(f64),
    /// The parameter's bound lies before it: the data do not limit the parameter on this side.
    Bound(f64),
    /// The bound of another parameter, of this name, ends it here, as a wall does: the data do not limit the parameter on this side, either.
    BoundOf(f64, String),
    /// There was none up to here.
    Open(f64),
    /// Nothing is known beyond this, for this reason: simulations fail there, or fits of the other parameters end early.
    Blocked(f64, String),
}

impl Side {
    /// The end of the interval, infinite where the data set none: a bound is said, not found.
    pub fn end(&self, direction: f64) -> f64 {
        self.at().unwrap_or(direction * f64::INFINITY)
    }

    /// Where the interval ends, if it does.
    fn at(&self) -> Option<f64> {
        if let Side::At(value) = self { Some(*value) } else { None }
    }
}

/// The profile of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its place in the problem.
    pub parameter: usize,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The optimum.
    pub value: f64,
    /// By the curvature at the optimum; infinite or NaN where there is none.
    pub standard_error: f64,
    /// The 95 % interval by that, within the parameter's bounds.
    pub linear: (f64, f64),
    /// The 95 % interval by the profile.
    pub lower: Side,
    /// See `lower`.
    pub upper: Side,
    /// By value, the optimum among them.
    pub points: Vec<ProfilePoint>,
    /// What that means.
    pub verdict: Identifiable,
}

/// The profiles of free parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// In the parameters' order.
    pub profiles: Vec<Profile>,
    /// The excess at the ends of intervals.
    pub quantile: f64,
    /// A point with a lower cost than the optimum, if one was passed.
    pub better: Option<ProfilePoint>,
}

/// One side of one parameter.
#[derive(Serialize)]
struct Walk<'a> {
    parameter: usize,
    direction: f64,
    #[serde(with = "crate::work::exact")]
    standard_error: f64,
    /// The optimum.
    from: &'a [f64],
}

/// All that walks have in common.
struct Ground<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    free: &'a [usize],
    optimum: ProfilePoint,
    unit: f64,
    quantile: f64,
}

/// The free parameters of these names, all of them if there are none, in their order.
///
/// # Errors
/// A name that is unknown, or of a parameter that is fixed.
pub fn asked_for(problem: &Problem, names: &[String]) -> Result<Vec<usize>> {
    let mut places = if names.is_empty() { problem.free() } else { Vec::new() };
    for name in names {
        for k in problem.places(name)? {
            let Parameter { name, free, .. } = &problem.parameters[k];
            if !free {
                let remedy = format!("free it with --free {name}, or leave it out");
                return Err(Error::invalid(format!("the profile of `{name}`"), "the parameter is fixed", remedy));
            }
            places.push(k);
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Walks along the profiles of the free `parameters` ([`asked_for`]) from what was `found`, with its `statistics`: a stage `profile` of two sides a parameter, of
/// which `told` is told how many are done.
///
/// # Errors
/// Without noise, with constraints; as [`Work::run`]. Simulations that fail on the way end a side ([`Side::Blocked`]).
pub fn profiles(
    problem: &Problem,
    found: &Identification,
    statistics: &Statistics,
    settings: &Settings,
    parameters: &[usize],
    (work, told): (&Work<'_>, ProgressCallback<'_>),
) -> Result<Profiles> {
    let what = format!("the profiles of `{}`", problem.name);
    if !problem.constraints.is_empty() {
        let remedy = "leave the constraints out, or take the standard errors";
        return Err(Error::invalid(what, "its parameters keep to constraints, which profiles do not know", remedy));
    }
    let (unit, quantile) = (statistics.cost_unit, statistics.quantile());
    if statistics.is_noise_free || !(unit > 0.0 && (unit * quantile).is_finite()) {
        let problem = "there is no noise beside which the cost could rise: the data are reproduced to round-off";
        return Err(Error::invalid(
            what,
            problem,
            "give measured data, or noise (--noise-level 0.01), or the deviations of the noise (--noise given)",
        ));
    }
    let free = problem.free();
    let u = found.values();
    let cost = problem.gradient()?.cost(&u)?;
    let optimum = ProfilePoint { value: f64::NAN, cost, excess: 0.0, u };
    let ground = Ground { problem, settings, free: &free, optimum, unit, quantile };
    let sides = |&parameter: &usize| {
        let (standard_error, from) = (statistics.parameters[parameter].standard_error, &ground.optimum.u[..]);
        [-1.0, 1.0].map(|direction| Walk { parameter, direction, standard_error, from })
    };
    let walks: Vec<Walk<'_>> = parameters.iter().flat_map(sides).collect();
    let done = |done: usize| told("sides of profiles", done, walks.len());
    let (threads, interrupt) = (problem.at_once()?, &settings.options.interrupt);
    let stage = Stage { name: "profile", what: "profiles", threads, interrupt, done: &done };
    let mut sides = work.run(&stage, &walks, |walk| ground.walk(walk))?.into_iter();
    let mut profiles = Vec::new();
    for &k in parameters {
        // two sides of each
        let (Some((lower, mut points)), Some((upper, others))) = (sides.next(), sides.next()) else { break };
        points.reverse();
        points.push(ProfilePoint { value: ground.optimum.u[k], ..ground.optimum.clone() });
        points.extend(others);
        profiles.push(Profile::of(k, &statistics.parameters[k], (lower, upper), points, quantile));
    }
    let is_better = |point: &&ProfilePoint| point.cost < cost - BETTER * unit;
    let all = profiles.iter().flat_map(|profile: &Profile| &profile.points).filter(is_better);
    let better = all.min_by(|a, b| a.cost.total_cmp(&b.cost)).cloned();
    Ok(Profiles { profiles, quantile, better })
}

impl Ground<'_> {
    /// Away from the optimum until the excess has reached the quantile.
    fn walk(&self, walk: &Walk<'_>) -> Result<(Side, Vec<ProfilePoint>)> {
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
        let (mut shortened, mut before) = (0, None);
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
                    if point.excess >= self.quantile {
                        let (end, between) = self.end_between(k, last, point)?;
                        points.extend(between);
                        return Ok((self.or_wall(k, end, &points), points));
                    }
                    let gained = point.excess - last.excess;
                    step *= if gained > 0.0 { (PART * self.quantile / gained).clamp(0.5, 2.0) } else { 2.0 };
                    points.push(point.clone());
                    before = Some(std::mem::replace(&mut last, point));
                    if (last.value - start).abs() > FAR * size.max(start.abs()) {
                        break;
                    }
                    continue;
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

    /// Where the excess is the quantile, between a point below and one above it, by false position that does not stick to one side (the
    /// Illinois rule).
    fn end_between(&self, k: usize, below: ProfilePoint, above: ProfilePoint) -> Result<(Side, Vec<ProfilePoint>)> {
        const MOST: usize = 20;
        let from = below.value;
        let mut points = vec![above.clone()];
        let mut ends = [(below.value, below.excess - self.quantile), (above.value, above.excess - self.quantile)];
        let mut u = below.u;
        let mut kept = None;
        for _ in 0..MOST {
            let [(a, f_a), (b, f_b)] = ends;
            let value = b - f_b * (b - a) / (f_b - f_a);
            let blocked = |reason: String| Ok((Side::Blocked(from, reason), vec![]));
            let point = match self.fit(k, value, &[&u, &self.optimum.u]) {
                Err(error) if is_out_of_reach(&error) => return blocked(error.to_string()),
                Ok((point, Some(early))) if point.excess >= self.quantile => return blocked(early),
                other => other?.0,
            };
            let rest = point.excess - self.quantile;
            u.clone_from(&point.u);
            points.push(point);
            let side = usize::from(rest >= 0.0);
            if rest.abs() <= NEAR * self.quantile || (value - b).abs().min((value - a).abs()) <= 1e-12 * value.abs() {
                break;
            }
            ends[side] = (value, rest);
            if kept == Some(1 - side) {
                ends[1 - side].1 *= 0.5;
            }
            kept = Some(1 - side);
        }
        let end = points.last().map_or(from, |point| point.value);
        points.sort_by(|a, b| (a.value - from).abs().total_cmp(&(b.value - from).abs()));
        Ok((Side::At(end), points))
    }

    /// An end, unless another parameter's bound makes it: one that is met just before, from which on the cost rises at once.
    fn or_wall(&self, k: usize, end: Side, points: &[ProfilePoint]) -> Side {
        let Some(at) = end.at() else { return end };
        let distance = |point: &&ProfilePoint| (point.value - at).abs();
        let Some(last) = points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else { return end };
        let is_at_bound = |other: usize, u: &[f64]| {
            let Parameter { lower, upper, .. } = self.problem.parameters[other];
            u[other] == lower || u[other] == upper
        };
        let is_wall = |other: &&usize| {
            let freely = points.iter().chain([&self.optimum]).filter(|point| !is_at_bound(**other, &point.u));
            // the optimum has no value of one parameter of its own
            let nearest = freely.map(|point| (point.u[k] - at).abs()).fold(f64::INFINITY, f64::min);
            is_at_bound(**other, &last.u) && nearest <= WALL * (self.optimum.u[k] - at).abs()
        };
        let wall = self.free.iter().filter(|&&other| other != k).find(is_wall);
        wall.map_or(end, |&other| Side::BoundOf(at, self.problem.parameters[other].name.clone()))
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
                return Err(Error::Interrupted { time: 0.0, step: 0 });
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
                let excess = (2.0 * (cost - self.optimum.cost).max(0.0) / self.unit).sqrt();
                Ok((ProfilePoint { value, cost, excess, u }, early))
            }
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(Error::Interrupted { time: 0.0, step: 0 }),
        }
    }
}

/// Whether there is nothing to be fitted, since it cannot be simulated.
pub(crate) fn is_out_of_reach(error: &Error) -> bool {
    error.is_simulation_failure() || matches!(error, Error::Optimiser { .. })
}
