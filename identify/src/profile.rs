//! Profile likelihoods: what the data say of each parameter, where the cost is no parabola.
//!
//! A parameter is moved away from the optimum step by step; at each value the others are fitted again, from where they were before. The
//! *excess* there, z = √(2 (J - J*)/s²), is the number of standard errors that the cost has risen by, with s² = [`ParameterStatistics::cost_unit`]: where
//! the cost is a parabola, z = |u - u*|/σ_u. The 95 % interval ends where z reaches Student's quantile (that of the normal distribution for given
//! noise: 2 (J - J*) = 3.84; Raue et al. 2009). Both sides of all parameters are [`Work`] that is divided.

mod bounds;
mod verdict;
mod walk;

pub use verdict::Identifiable;

use crate::problem::Problem;
use crate::statistics::{ParameterStatistics, Statistics};
use crate::work::{ProgressCallback, Stage, Work};
use crate::{Error, Identification, Means, Remedy, Result, Settings};
use costate::Parameter;
use serde::{Deserialize, Serialize};
use walk::Ground;

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
/// Without this much excess, nothing changes.
const FLAT: f64 = 0.05;

/// A value of the parameter, and the best fit of the others there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// The same, nearer than the data alone would have it: the bound of another parameter, of this name, makes it.
    AtBoundOf(f64, String),
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
        if let Side::At(value) | Side::AtBoundOf(value, _) = self { Some(*value) } else { None }
    }
}

/// The profile of one parameter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
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
                let remedy = Remedy::by("leave it out, or free it", Means::Free(Some(name.clone())));
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
    let quantile = statistics.quantile();
    let units: Vec<f64> = statistics.parameters.iter().map(|own: &ParameterStatistics| own.cost_unit).collect();
    if statistics.is_noise_free || !units.iter().all(|unit| *unit > 0.0 && (unit * quantile).is_finite()) {
        let problem = "there is no noise beside which the cost could rise: the data are reproduced to round-off";
        return Err(Error::invalid(
            what,
            problem,
            Remedy::by("give measured data, or noise, or the deviations of the noise", Means::NoiseOrDeviations),
        ));
    }
    let free = problem.free();
    let u = found.values();
    let cost = problem.gradient()?.cost(&u)?;
    let optimum = ProfilePoint { value: f64::NAN, cost, excess: 0.0, u };
    let ground = Ground { problem, settings, free: &free, optimum, units, quantile };
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
    let of_all =
        profiles.iter().flat_map(|own: &Profile| own.points.iter().map(|point| (point, ground.units[own.parameter])));
    let lower = of_all.filter(|(point, unit)| point.cost < cost - BETTER * unit).map(|(point, _)| point);
    let better = lower.min_by(|a, b| a.cost.total_cmp(&b.cost)).cloned();
    Ok(Profiles { profiles, quantile, better })
}

/// Whether there is nothing to be fitted, since it cannot be simulated.
pub(crate) fn is_out_of_reach(error: &Error) -> bool {
    error.is_simulation_failure() || matches!(error, Error::Optimiser { .. })
}
