//! Searches from many starts: how sure an optimum is to be the best one.
//!
//! Starts are drawn from a Latin hypercube (McKay, Beckman & Conover 1979): each parameter's interval is cut into as many parts as there are
//! starts, and each part holds one of them, evenly by value or by logarithm. Searches are [`Work`] that is divided; the same seed gives the same
//! starts, and the same ends to the last bit, whatever the number of threads or ranks.
//!
//! Hopeless searches end early. Each one first gets [`screening`] evaluations. Then it is given up if its cost is still more than
//! [`HOPELESS`] times the least cost of all, and has fallen by less than a factor of [`STALLED`] since half of its evaluations; all others go on to their end.

use crate::optimise::{Flow, Iteration, Outcome, Reason};
use crate::problem::Problem;
use crate::work::{ProgressCallback, Stage, Work};
use crate::{Error, Result};
use crate::{Settings, expand, identify_from, some_free};
use costate::cost::LeastSquares;
use costate::memory;
use costate::random::SplitMix64;
use costate::shown::shown;
use costate::signature::{Parameter, Scale};
use serde::{Deserialize, Serialize};

/// A search is hopeless only if its cost is so many times the least one.
pub const HOPELESS: f64 = 100.0;
/// A search is hopeless only if its cost has fallen by less than this factor, too, in the second half of its first evaluations. With 2 in
/// its place, half of the searches that would find the engine mount's best optimum are lost; with this, one in thirty, and three in four of
/// those that stand still are given up.
pub const STALLED: f64 = 1.05;
/// Costs that differ by less, relatively, and parameters that differ by less of their size are those of one optimum.
pub const SAME_COST: f64 = 1e-6;
/// Relative difference of parameters below which optima are one, see [`SAME_COST`].
pub const SAME_VALUE: f64 = 1e-3;
/// An interval whose ends are farther apart than this is drawn from evenly by logarithm.
const DECADE: f64 = 10.0;
/// Costs below this part of the data's own squares are round-off.
const ROUND_OFF: f64 = 1e-16;

/// Evaluations after which a search among so many parameters shows whether it is hopeless.
pub fn screening(parameters: usize) -> usize {
    10 + 2 * parameters
}

/// Number of starts, and where they are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Starts {
    /// Number of starts, that of the problem among them, which is the first.
    pub count: usize,
    /// A parameter without bounds on both sides is drawn between its start over this factor and its start times it, within its bounds; where
    /// it starts at zero, from within its size (or its nominal value) to both sides.
    pub factor: f64,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Starts {
    fn default() -> Self {
        Starts { count: 20, factor: 10.0, seed: 1 }
    }
}

/// Interval that a parameter is drawn from.
struct Interval {
    lower: f64,
    upper: f64,
    by_logarithm: bool,
}

impl Interval {
    fn of(parameter: &Parameter, start: f64, factor: f64) -> Result<Self> {
        let Parameter { name, lower, upper, scale, .. } = parameter;
        let is_bounded = lower.is_finite() && upper.is_finite();
        let nearest = start.abs() / factor;
        let farthest = start.abs() * factor;
        let (from, to) = match start {
            _ if is_bounded => (*lower, *upper),
            start if start > 0.0 => (nearest.max(*lower), farthest.min(*upper)),
            start if start < 0.0 => ((-farthest).max(*lower), (-nearest).min(*upper)),
            _ => match parameter.size.or(Some(parameter.nominal.abs()).filter(|nominal| *nominal > 0.0)) {
                Some(size) => ((-size).max(*lower), size.min(*upper)),
                None => {
                    let problem = "starts are drawn around its start, which is 0 and has neither a factor nor a size";
                    let remedy = "give it bounds on both sides, or a size, or another start, or fix it";
                    return Err(Error::invalid(format!("parameter `{name}`"), problem, remedy));
                }
            },
        };
        if !(from < to && (to - from).is_finite()) {
            let problem = format!("there is no interval to draw starts from, but [{}, {}]", shown(from), shown(to));
            return Err(Error::invalid(format!("parameter `{name}`"), problem, "widen its bounds, or fix it"));
        }
        let by_logarithm = from * to > 0.0
            && (!is_bounded || *scale == Scale::Log || to.abs().max(from.abs()) > DECADE * to.abs().min(from.abs()));
        Ok(Interval { lower: from, upper: to, by_logarithm })
    }

    /// The value at `part` of it, from 0 to 1.
    fn at(&self, part: f64) -> f64 {
        let Interval { lower, upper, .. } = *self;
        let value = match self.by_logarithm {
            true => lower * ((upper / lower).ln() * part).exp(),
            false => lower + (upper - lower) * part,
        };
        value.clamp(lower, upper)
    }
}

impl Starts {
    fn check(&self) -> Result<()> {
        if self.count < 2 {
            return Err(Error::invalid("starts", format!("there are {}", self.count), "take two or more"));
        }
        if !(self.factor > 1.0 && self.factor.is_finite()) {
            let problem = format!("it is {}", self.factor);
            return Err(Error::invalid("the factor around starts", problem, "give a number above 1, such as 10"));
        }
        Ok(())
    }

    /// The starts: values of all parameters each, that of the problem first.
    ///
    /// # Errors
    /// A count or a factor that makes no sense; a free parameter without an interval to draw from.
    pub fn draw(&self, problem: &Problem) -> Result<Vec<Vec<f64>>> {
        self.check()?;
        // starts and ends, with their texts
        let numbers = self.count.saturating_mul(50 * (1 + problem.parameters.len()));
        memory::check(|| format!("searches from {} starts", self.count), memory::bytes_of(numbers), "take fewer")?;
        let free = some_free(problem)?;
        let intervals = free.iter().map(|&k| Interval::of(&problem.parameters[k], problem.start[k], self.factor));
        let intervals = intervals.collect::<Result<Vec<Interval>>>()?;
        let (drawn, mut random) = (self.count - 1, SplitMix64::new(self.seed));
        let mut starts = vec![problem.start.clone(); self.count];
        for (&k, interval) in free.iter().zip(&intervals) {
            let mut order: Vec<usize> = (0..drawn).collect();
            for last in (1..drawn).rev() {
                order.swap(last, (random.unit() * (last + 1) as f64) as usize);
            }
            for (start, part) in starts[1..].iter_mut().zip(order) {
                start[k] = interval.at((part as f64 + random.unit()) / drawn as f64);
            }
        }
        Ok(starts)
    }
}

/// The end of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// Ended of itself, at this point.
    Found(Ended),
    /// Hopeless after its first evaluations.
    GivenUp(Ended),
    /// Failed, with the reason: its start cannot be simulated, or something else was wrong.
    Failed(String),
}

/// A point at which a search has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ended {
    /// Values of all parameters.
    pub u: Vec<f64>,
    /// The cost there.
    pub cost: f64,
    /// Reason of the end, which says whether that is a minimum.
    pub reason: Reason,
    /// Simulations.
    pub evaluations: usize,
}

impl Ended {
    fn of(start: &[f64], free: &[usize], outcome: &Outcome, before: usize) -> Self {
        let Outcome { u, cost, reason, evaluations, .. } = outcome;
        Ended { u: expand(start, free, u), cost: *cost, reason: *reason, evaluations: before + evaluations }
    }
}

/// One of many searches.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Search {
    /// Start of the search, all parameters.
    pub start: Vec<f64>,
    /// The end of the search.
    pub end: End,
}

impl Search {
    fn found(&self) -> Option<&Ended> {
        if let End::Found(ended) = &self.end { Some(ended) } else { None }
    }

    /// Point at which the search has ended, if it could begin.
    pub fn ended(&self) -> Option<&Ended> {
        match &self.end {
            End::Found(ended) | End::GivenUp(ended) => Some(ended),
            End::Failed(_) => None,
        }
    }
}

/// Searches that have ended at one optimum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Cluster {
    /// Numbers of the searches, that of the least cost first.
    pub searches: Vec<usize>,
    /// The least cost, and the values of all parameters there.
    pub cost: f64,
    /// Values of all parameters at `cost`.
    pub u: Vec<f64>,
}

/// Results of all searches.
#[derive(Debug, Clone, PartialEq)]
pub struct ManySearches {
    /// All searches, in the order of their starts.
    pub searches: Vec<Search>,
    /// The optima, the best one first.
    pub optima: Vec<Cluster>,
    /// Places of the free parameters.
    pub free: Vec<usize>,
    /// Start of a single search that ends in the best optimum, all parameters: the first start that led there, or the optimum itself;
    /// `None` if every search has failed or was given up.
    pub begin: Option<Vec<f64>>,
    /// Costs below this are round-off.
    floor: f64,
}

/// A search after its first evaluations.
#[derive(Serialize, Deserialize)]
enum Screened {
    /// Failed to begin, with the reason.
    Failed(String),
    /// Ended within its first evaluations.
    Ended(Ended),
    /// Able to go on.
    OnItsWay {
        ended: Ended,
        /// Factor by which the cost has fallen in the second half of them.
        #[serde(with = "crate::work::exact")]
        fallen: f64,
    },
}

impl Screened {
    fn ended(&self) -> Option<&Ended> {
        match self {
            Screened::Failed(_) => None,
            Screened::Ended(ended) | Screened::OnItsWay { ended, .. } => Some(ended),
        }
    }

    /// True if the search is worth going on, beside the least cost of all.
    fn goes_on(&self, least: f64) -> bool {
        let is_hopeless = |cost: f64, fallen: f64| cost > HOPELESS * least && fallen < STALLED;
        matches!(self, Screened::OnItsWay { ended, fallen } if !is_hopeless(ended.cost, *fallen))
    }
}

/// Shared data of all searches.
struct Crowd<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    /// Settings of the first evaluations.
    short: Settings,
    free: Vec<usize>,
}

/// Reasons with their numbers, the most frequent first. Those that differ in times and values alone are one, worded as the first.
pub(crate) fn counted_reasons<'r>(reasons: impl Iterator<Item = &'r str>) -> Vec<(String, usize)> {
    let kind = |reason: &str| reason.chars().filter(|c| c.is_alphabetic()).collect::<String>();
    let mut counts: Vec<(String, usize)> = Vec::new();
    for reason in reasons {
        match counts.iter_mut().find(|(known, _)| kind(known) == kind(reason)) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason.to_string(), 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// Searches the least cost from many starts: a stage `screen` of first evaluations, and a stage `search` of those that are worth it. `progress` gets
/// the number of those that have ended.
///
/// # Errors
/// As [`Starts::draw`]; the first start's error if no start can be simulated; as [`Work::run`].
pub fn identify_from_many(
    problem: &Problem,
    settings: &Settings,
    starts: &Starts,
    work: &Work<'_>,
    progress: ProgressCallback<'_>,
) -> Result<ManySearches> {
    problem.validate()?;
    let free = some_free(problem)?;
    let (starts, count) = (starts.draw(problem)?, starts.count);
    let mut short = settings.clone();
    short.options.max_evaluations = short.options.max_evaluations.min(screening(free.len()));
    let crowd = Crowd { problem, settings, short, free };
    let (what, threads, interrupt) = ("searches from many starts", problem.at_once()?, &settings.options.interrupt);
    let done = |done: usize| progress("first evaluations of searches", done, count);
    let screen = Stage { name: "screen", what, threads, interrupt, done: &done };
    let screened: Vec<Screened> = work.run(&screen, &starts, |start| crowd.screen(start))?;
    if screened.iter().all(|screened| matches!(screened, Screened::Failed(_))) {
        // it fails again
        crowd.screen_as_it_is(&starts[0])?;
    }
    let least = screened.iter().filter_map(Screened::ended).map(|ended| ended.cost).fold(f64::INFINITY, f64::min);
    let going_on: Vec<&Ended> =
        screened.iter().filter(|screened| screened.goes_on(least)).filter_map(Screened::ended).collect();
    let before = count - going_on.len();
    let done = |done: usize| progress("searches", before + done, count);
    done(0);
    let search = Stage { name: "search", what, threads, interrupt, done: &done };
    let mut rest = work.run(&search, &going_on, |from| crowd.go_on(from))?.into_iter();
    let end = |screened: Screened| match screened {
        // there is one for each
        ref on_its_way if on_its_way.goes_on(least) => rest.next().map(End::Found),
        Screened::Failed(reason) => Some(End::Failed(reason)),
        Screened::Ended(ended) => Some(End::Found(ended)),
        Screened::OnItsWay { ended, .. } => Some(End::GivenUp(ended)),
    };
    let ends: Vec<Option<End>> = screened.into_iter().map(end).collect();
    let searches = starts.into_iter().zip(ends).filter_map(|(start, end)| Some(Search { start, end: end? })).collect();
    let mut found = ManySearches::of(problem, crowd.free, searches);
    found.begin = found.single_search(problem, settings)?;
    Ok(found)
}

impl Crowd<'_> {
    fn search(&self, from: &[f64], settings: &Settings) -> Result<Outcome> {
        let at = (from, &self.free[..]);
        Ok(identify_from(self.problem, at, settings, &mut |_: &Iteration| Flow::Continue)?.outcome)
    }

    /// The first evaluations of a search.
    fn screen(&self, start: &[f64]) -> Result<Screened> {
        Ok(self.screen_as_it_is(start).unwrap_or_else(|error| Screened::Failed(error.to_string())))
    }

    fn screen_as_it_is(&self, start: &[f64]) -> Result<Screened> {
        let outcome = self.search(start, &self.short)?;
        let ended = Ended::of(start, &self.free, &outcome, 0);
        if outcome.reason != Reason::MaxEvaluations || self.short.options == self.settings.options {
            return Ok(Screened::Ended(ended));
        }
        let half = outcome.evaluations / 2;
        let before = outcome.history.iter().take_while(|iteration| iteration.evaluations <= half).last();
        let fallen = before.map_or(f64::INFINITY, |before| before.cost / outcome.cost);
        Ok(Screened::OnItsWay { ended, fallen })
    }

    /// The rest of a search.
    fn go_on(&self, from: &Ended) -> Result<Ended> {
        let mut rest = self.settings.clone();
        let options = &mut rest.options;
        options.max_evaluations = options.max_evaluations.saturating_sub(from.evaluations).max(1);
        match self.search(&from.u, &rest) {
            Ok(outcome) => Ok(Ended::of(&from.u, &self.free, &outcome, from.evaluations)),
            // it could be simulated before: nothing better is known
            Err(error) if error.is_simulation_failure() => Ok(from.clone()),
            Err(error) => Err(error),
        }
    }
}

impl ManySearches {
    fn of(problem: &Problem, free: Vec<usize>, searches: Vec<Search>) -> Self {
        let mut order: Vec<(usize, &Ended)> =
            searches.iter().enumerate().filter_map(|(k, search)| Some((k, search.found()?))).collect();
        order.sort_by(|a, b| a.1.cost.total_cmp(&b.1.cost));
        // costs beside the data's own squares are round-off below this
        let scale: f64 = problem.least_squares().into_iter().flatten().map(LeastSquares::scale).sum();
        let floor = ROUND_OFF * scale;
        let mut optima: Vec<Cluster> = Vec::new();
        for (number, Ended { u, cost, .. }) in order {
            let is_same = |cluster: &&mut Cluster| {
                let of_value = |&k: &usize| {
                    let size = problem.parameters[k].size_from(cluster.u[k]).max(cluster.u[k].abs());
                    (u[k] - cluster.u[k]).abs() <= SAME_VALUE * size
                };
                (cost - cluster.cost).abs() <= SAME_COST * cluster.cost.abs() + floor && free.iter().all(of_value)
            };
            match optima.iter_mut().find(is_same) {
                Some(cluster) => cluster.searches.push(number),
                None => optima.push(Cluster { searches: vec![number], cost: *cost, u: u.clone() }),
            }
        }
        ManySearches { searches, optima, free, begin: None, floor }
    }

    /// The best values of all parameters; `None` if every search has failed or was given up.
    pub fn best(&self) -> Option<&Cluster> {
        self.optima.first()
    }

    /// Start of a single search that ends in the best optimum.
    fn single_search(&self, problem: &Problem, settings: &Settings) -> Result<Option<Vec<f64>>> {
        let Some(best) = self.best() else { return Ok(None) };
        let first = best.searches.iter().min().map_or(&best.u, |&number| &self.searches[number].start);
        let again = identify_from(problem, (first, &self.free), settings, &mut |_: &Iteration| Flow::Continue)?;
        // searches of two parts may go another way
        let leads_there = again.outcome.cost <= best.cost * (1.0 + SAME_COST) + self.floor;
        Ok(Some(if leads_there { first.clone() } else { best.u.clone() }))
    }

    /// Searches that were given up.
    pub fn given_up(&self) -> usize {
        self.searches.iter().filter(|search| matches!(search.end, End::GivenUp(_))).count()
    }

    /// Reasons why searches have failed, each with their number, the most frequent first. Times and values in a reason are those of the first one.
    pub fn failures(&self) -> Vec<(String, usize)> {
        counted_reasons(self.searches.iter().filter_map(|search| match &search.end {
            End::Failed(reason) => Some(reason.as_str()),
            _ => None,
        }))
    }

    /// Warnings before the best optimum is believed: sentences, mostly none.
    pub fn warnings(&self) -> Vec<String> {
        let (Some(best), count) = (self.best(), self.searches.len()) else { return Vec::new() };
        let mut warnings = Vec::new();
        if best.searches.len() == 1 {
            warnings.push(format!(
                "the best optimum was found from one of {count} starts alone: there may be a better one; take more starts"
            ));
        }
        let as_good = |cluster: &&Cluster| (cluster.cost - best.cost).abs() <= SAME_COST * best.cost.abs() + self.floor;
        let others = self.optima[1..].iter().filter(as_good).count();
        if others > 0 {
            warnings.push(format!(
                "{others} other sets of parameter values cost the same: the data do not tell them apart"
            ));
        }
        warnings
    }
}
