//! Searches from many starts: how sure an optimum is to be the best one.
//!
//! Starts are drawn from a Latin hypercube (McKay, Beckman & Conover 1979): each parameter's interval is cut into as many parts as there are
//! starts, and each part holds one of them, evenly by value or by logarithm. Searches are [`Work`] that is divided; the same seed gives the same
//! starts, and the same ends to the last bit, whatever the number of threads or ranks.
//!
//! Hopeless searches end early. Each one first gets [`screening`] evaluations. Then it is given up if its cost is still more than
//! [`HOPELESS`] times the least cost of all, and has fallen by less than a factor of [`STALLED`] since half of its evaluations. After [`PATIENCE`] times as
//! many evaluations it is given up if its cost has fallen by less than a factor of [`SLOW`] since half of them and would need more than [`FARTHER`] times as
//! many once more, at that rate, to come down to the least one. All others go on to their end. Costs of one's own, to which any constant may be added, are
//! compared after many evaluations alone, by differences.

use crate::optimise::{Flow, Iteration, Outcome, Reason};
use crate::problem::Problem;
use crate::work::{ProgressCallback, Stage, Work};
use crate::{Error, Result};
use crate::{Settings, expand, identify_from, some_free};
use costate::cost::LeastSquares;
use costate::random::SplitMix64;
use costate::shown::shown;
use costate::{Parameter, Scale, memory};
use serde::{Deserialize, Serialize};

/// A search is hopeless only if its cost is so many times the least one.
pub const HOPELESS: f64 = 100.0;
/// A search is hopeless only if its cost has fallen by less than this factor, too, in the second half of its first evaluations. With 2 in
/// its place, half of the searches that would find the engine mount's best optimum are lost; with this, one in thirty, and three in four of
/// those that stand still are given up.
pub const STALLED: f64 = 1.05;
/// So many times [`screening`] evaluations are enough for nearly all searches that find an optimum.
pub const PATIENCE: usize = 10;
/// A search is hopeless after these only if its cost has fallen by less than this factor since half of them.
pub const SLOW: f64 = 2.0;
/// A search is hopeless after these only if so many times as many, too, would not bring its cost down to the least one of all.
pub const FARTHER: f64 = 2.0;
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
    /// Hopeless after its first evaluations, or after many.
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
        /// The cost after half of them; `inf` if there was none yet.
        #[serde(with = "crate::work::exact")]
        half: f64,
    },
}

/// Costs that searches are measured by.
#[derive(Clone, Copy)]
struct Yardstick {
    /// The least of all that are known.
    least: f64,
    /// Costs below are round-off; `None` for costs of one's own, to which any constant may be added: ratios say nothing of them.
    floor: Option<f64>,
}

impl Screened {
    fn ended(&self) -> Option<&Ended> {
        match self {
            Screened::Failed(_) => None,
            Screened::Ended(ended) | Screened::OnItsWay { ended, .. } => Some(ended),
        }
    }

    /// True if the search is worth going on after its first evaluations.
    fn goes_on(&self, Yardstick { least, floor }: Yardstick) -> bool {
        let is_hopeless = |cost: f64, half: f64| floor.is_some() && cost > HOPELESS * least && half < STALLED * cost;
        matches!(self, Screened::OnItsWay { ended, half } if !is_hopeless(ended.cost, *half))
    }

    /// True if the search is worth going on after many.
    fn goes_farther(&self, Yardstick { least, floor }: Yardstick) -> bool {
        // half of the evaluations have brought it down by a factor, or by a difference; there are so many halves more
        let halves = 2.0 * FARTHER;
        let comes_down = |cost: f64, half: f64| match floor {
            Some(floor) => half >= SLOW * cost || cost <= least.max(floor) * (half / cost).powf(halves),
            None => cost - least <= halves * (half - cost),
        };
        matches!(self, Screened::OnItsWay { ended, half } if comes_down(ended.cost, *half))
    }
}

/// The ends of searches of which `goes_on` says which are worth it; the others, with their places.
fn sorted_out(screened: Vec<Screened>, goes_on: impl Fn(&Screened) -> bool) -> (Vec<Option<End>>, Vec<(usize, Ended)>) {
    let mut going_on = Vec::new();
    let end = |(place, screened): (usize, Screened)| {
        let is_worth_it = goes_on(&screened);
        match screened {
            Screened::Failed(reason) => Some(End::Failed(reason)),
            Screened::Ended(ended) => Some(End::Found(ended)),
            Screened::OnItsWay { ended, .. } if is_worth_it => {
                going_on.push((place, ended));
                None
            }
            Screened::OnItsWay { ended, .. } => Some(End::GivenUp(ended)),
        }
    };
    let ends = screened.into_iter().enumerate().map(end).collect();
    (ends, going_on)
}

/// Shared data of all searches.
struct Crowd<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    /// Evaluations of a search in all when it has had the first ones, and many.
    parts: [usize; 2],
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
    let first = screening(free.len());
    let crowd = Crowd { problem, settings, parts: [first, PATIENCE * first], free };
    let (what, threads, interrupt) = ("searches from many starts", problem.at_once()?, &settings.options.interrupt);
    let done = |done: usize| progress("first evaluations of searches", done, count);
    let screen = Stage { name: "screen", what, threads, interrupt, done: &done };
    let screened: Vec<Screened> = work.run(&screen, &starts, |start| crowd.screen(start))?;
    if screened.iter().all(|screened| matches!(screened, Screened::Failed(_))) {
        // it fails again
        crowd.begin(&starts[0])?;
    }
    let floor = problem.least_squares().is_some().then(|| round_off_cost(problem));
    let least_of = |screened: &[Screened], before: f64| {
        let least = screened.iter().filter_map(Screened::ended).map(|ended| ended.cost).fold(before, f64::min);
        Yardstick { least, floor }
    };
    let yardstick = least_of(&screened, f64::INFINITY);
    let (mut ends, mut going_on) = sorted_out(screened, |screened| screened.goes_on(yardstick));
    for (name, limit) in [("search", Some(crowd.parts[1])), ("straggle", None)] {
        let before = count - going_on.len();
        let done = |done: usize| progress("searches", before + done, count);
        done(0);
        let search = Stage { name, what, threads, interrupt, done: &done };
        let from: Vec<&Ended> = going_on.iter().map(|(_, ended)| ended).collect();
        let searched: Vec<Screened> = work.run(&search, &from, |from| crowd.go_on(from, limit))?;
        let yardstick = least_of(&searched, yardstick.least);
        let (found, still) = sorted_out(searched, |searched| searched.goes_farther(yardstick));
        let places: Vec<usize> = going_on.iter().map(|(place, _)| *place).collect();
        places.iter().zip(found).for_each(|(&place, end)| ends[place] = end);
        going_on = still.into_iter().map(|(number, ended)| (places[number], ended)).collect();
    }
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
        Ok(self.begin(start).unwrap_or_else(|error| Screened::Failed(error.to_string())))
    }

    fn begin(&self, start: &[f64]) -> Result<Screened> {
        self.part(start, 0, Some(self.parts[0]))
    }

    /// A search from a point with so many evaluations behind it, until there are `limit` of them in all, or to its end.
    fn part(&self, from: &[f64], before: usize, limit: Option<usize>) -> Result<Screened> {
        let most = self.settings.options.max_evaluations;
        let mut settings = self.settings.clone();
        settings.options.max_evaluations = limit.unwrap_or(most).min(most).saturating_sub(before).max(1);
        let outcome = self.search(from, &settings)?;
        let ended = Ended::of(from, &self.free, &outcome, before);
        if outcome.reason != Reason::MaxEvaluations || limit.is_none_or(|limit| limit >= most) {
            return Ok(Screened::Ended(ended));
        }
        // of all evaluations: a part that begins later is the second half or more
        let half = (ended.evaluations / 2).saturating_sub(before);
        let since = outcome.history.iter().take_while(|iteration| iteration.evaluations <= half.max(1)).last();
        Ok(Screened::OnItsWay { ended, half: since.map_or(f64::INFINITY, |since| since.cost) })
    }

    /// More of a search.
    fn go_on(&self, from: &Ended, limit: Option<usize>) -> Result<Screened> {
        match self.part(&from.u, from.evaluations, limit) {
            // it could be simulated before: nothing better is known
            Err(error) if error.is_simulation_failure() => Ok(Screened::Ended(from.clone())),
            other => other,
        }
    }
}

/// Costs below this are round-off, beside the data's own squares.
fn round_off_cost(problem: &Problem) -> f64 {
    ROUND_OFF * problem.least_squares().into_iter().flatten().map(LeastSquares::scale).sum::<f64>()
}

impl ManySearches {
    fn of(problem: &Problem, free: Vec<usize>, searches: Vec<Search>) -> Self {
        let mut order: Vec<(usize, &Ended)> =
            searches.iter().enumerate().filter_map(|(k, search)| Some((k, search.found()?))).collect();
        order.sort_by(|a, b| a.1.cost.total_cmp(&b.1.cost));
        let floor = round_off_cost(problem);
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
        let leads_there = again.outcome.cost <= best.cost + SAME_COST * best.cost.abs() + self.floor;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn on_its_way(cost: f64, half: f64) -> Screened {
        let ended = Ended { u: vec![1.0], cost, reason: Reason::MaxEvaluations, evaluations: 180 };
        Screened::OnItsWay { ended, half }
    }

    /// Protects the time that starts take, and the optima: after many evaluations, searches are given up that would be far above the least cost
    /// even after twice as many; the best one never is, however slow, nor one that falls fast enough, nor what differs by round-off.
    #[test]
    fn stragglers_are_given_up() {
        let yardstick = Yardstick { least: 2.0, floor: Some(1e-12) };
        let goes_on = |cost: f64, fallen: f64| on_its_way(cost, fallen * cost).goes_farther(yardstick);
        assert!(!goes_on(40.0, 1.15) && !goes_on(40.0, f64::NAN));
        // 1.9⁴ = 13: down to 1.5 and 3.1
        assert!(goes_on(20.0, 1.9) && !goes_on(40.0, 1.9));
        assert!(goes_on(1e9, 2.1) && goes_on(40.0, f64::INFINITY));
        assert!(goes_on(2.0, 1.0) && goes_on(1.9, 1.0));
        let of_nothing = Yardstick { least: 1e-28, floor: Some(1e-12) };
        assert!(on_its_way(1e-13, 1e-13).goes_farther(of_nothing) && !on_its_way(1.0, 1.9).goes_farther(of_nothing));
    }

    /// Protects costs of one's own: a constant more or less changes nothing, and first evaluations give up none of them.
    #[test]
    fn a_constant_in_the_cost_gives_up_no_search() {
        for constant in [0.0, -100.0, 1e6] {
            let yardstick = Yardstick { least: 2.0 + constant, floor: None };
            let search = |cost: f64, half: f64| on_its_way(cost + constant, half + constant);
            assert!(search(1e3, 1e3).goes_on(yardstick) && search(3.0, 3.1).goes_on(yardstick));
            assert!(search(3.0, 3.5).goes_farther(yardstick) && !search(3.0, 3.1).goes_farther(yardstick));
            assert!(search(2.0, 2.0).goes_farther(yardstick) && search(3.0, f64::INFINITY).goes_farther(yardstick));
        }
    }
}
