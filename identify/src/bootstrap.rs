//! The bootstrap: how a result scatters where its data are drawn again (Efron 1979; Davison & Hinkley 1997).
//!
//! The fit is repeated with data that are drawn from those at hand, each time from the optimum on. Its spread is a standard error that
//! asks neither for white noise nor for a cost that is a parabola. What is drawn is [`Over`]:
//!
//! - **blocks of residuals**: ȳ* = y(u*) + e, where e are residuals of the fit without their mean, in blocks from random places of the record
//!   (circular block bootstrap, Politis & Romano 1992), the same places for all outputs of an experiment. What is alike within a block stays
//!   alike: correlation in time, and between outputs. Residuals are first multiplied by √(n/ν), since the fit has made n of them as
//!   small as ν independent ones. Missing samples stay missing, and are skipped where a block is taken from.
//! - **experiments**: of m of them m - 1 are drawn with replacement, each with the weight m/(m - 1) as often as it was drawn, which makes the
//!   variance of a linear estimate that of independent experiments without bias (Rao & Wu 1988). Parameters of experiments that are not
//!   drawn are held; nothing is said of parameters that one experiment alone has.
//!
//! The centre of a prior is redrawn from the prior about the optimum, and measured modes from their deviations about those of the optimum.
//! Deviations of the noise that were estimated are held. Intervals are percentiles: they keep to bounds, and are the same for a parameter and
//! its logarithm.

mod resample;
mod summary;

pub use resample::{Blocks, Over};
pub use summary::ParameterBootstrap;
pub(crate) use summary::quantile;

use crate::optimise::{Flow, Iteration, Needs};
use crate::problem::Problem;
use crate::profile::is_out_of_reach;
use crate::starts::counted_reasons;
use crate::statistics::Statistics;
use crate::work::{ProgressCallback, Stage, Work};
use crate::{Error, Means, Remedy, Result};
use crate::{Identification, Settings, identify_from, some_free};
use costate::memory;
use costate::random::SplitMix64;
use resample::Draw;
use serde::{Deserialize, Serialize};

/// Fewest replicates for quantiles: with fewer, 2.5 and 97.5 % lie beyond the outermost ones.
pub const FEWEST: usize = 40;
/// Fewest experiments that are drawn unless something else is asked for.
pub const FEWEST_EXPERIMENTS: usize = 8;
/// Part of failed replicates above which there is a warning.
const MANY_FAILED: f64 = 0.05;
/// A replicate's search ends where no single parameter would still move by this part of its standard error, to first order (or as the fit's
/// settings say, if that is earlier).
const NEAR: f64 = 1e-6;

/// Settings of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Number of replicates.
    pub replicates: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Unit of resampling; without, experiments where there are [`FEWEST_EXPERIMENTS`], else blocks.
    pub over: Option<Over>,
    /// Length of blocks, s; without, by the rule of Politis & White (2004) from the residuals' autocorrelation.
    pub block: Option<f64>,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { replicates: 200, seed: 1, over: None, block: None }
    }
}

impl Bootstrap {
    /// Unit of resampling for a problem's data.
    pub fn over(&self, problem: &Problem) -> Over {
        let are_drawn =
            problem.experiments.len() >= FEWEST_EXPERIMENTS && problem.modes.is_empty() && problem.responses.is_empty();
        let usual = if are_drawn { Over::Experiments } else { Over::Blocks };
        // who gives the length of blocks wants blocks
        self.over.unwrap_or(if self.block.is_some() { Over::Blocks } else { usual })
    }

    /// Checks that a bootstrap of this problem is possible, which is known before any fit.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`]: too few replicates or experiments, blocks that are no part of a record, a cost that is no sum of squares,
    /// constraints, spectra of which blocks are asked for, no free parameter.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        let what = format!("the bootstrap of `{}`", problem.name);
        if self.replicates < FEWEST {
            let problem =
                format!("the ends of a 95 % interval lie beyond the outermost of {} replicates", self.replicates);
            return Err(Error::invalid(what, problem, format!("take {FEWEST} or more, such as 200")));
        }
        let numbers = self.replicates.saturating_mul(50 * (1 + problem.parameters.len()));
        memory::check(|| format!("{} replicates", self.replicates), memory::bytes_of(numbers), "take fewer")?;
        some_free(problem)?;
        let Some(costs) = problem.least_squares() else {
            let reason = "the cost is no sum of squares: there are no residuals to draw from";
            return Err(Error::invalid(what, reason, "compare outputs with a reference, or leave the bootstrap out"));
        };
        if costs.iter().all(|cost| cost.references().is_empty()) {
            let reason = "nothing is measured over time: there are no samples to draw from";
            return Err(Error::invalid(
                what,
                reason,
                Remedy::by("take the standard errors, or profiles", Means::Profiles),
            ));
        }
        if !problem.constraints.is_empty() {
            let remedy = "leave the constraints out, or take the standard errors";
            return Err(Error::invalid(what, "its parameters keep to constraints, which it does not know", remedy));
        }
        match self.over(problem) {
            Over::Experiments => self.check_experiments(problem, what),
            Over::Blocks => resample::check_blocks(problem, self.block, what),
        }
    }

    fn check_experiments(&self, problem: &Problem, what: String) -> Result<()> {
        let count = problem.experiments.len();
        if count < 2 {
            let reason = "there is one experiment, and nothing to be drawn from it";
            return Err(Error::invalid(what, reason, Remedy::by("draw blocks of residuals", Means::Blocks)));
        }
        if !(problem.modes.is_empty() && problem.responses.is_empty()) {
            let reason = "measured modes and frequency responses are those about the equilibrium of the first experiment, which may not be drawn";
            return Err(Error::invalid(what, reason, Remedy::by("draw blocks of residuals", Means::Blocks)));
        }
        if self.block.is_some() {
            let remedy = Remedy::by("leave it out, or draw blocks", Means::Blocks);
            return Err(Error::invalid(what, "blocks have a length, but experiments are drawn", remedy));
        }
        Ok(())
    }
}

/// One fit to drawn data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replicate {
    /// The end of its search.
    pub end: ReplicateEnd,
    /// Places of free parameters that were held, since no experiment was drawn that has them.
    pub held: Vec<usize>,
}

/// The end of a replicate's search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicateEnd {
    /// Ended at a minimum.
    Found {
        /// All parameters.
        u: Vec<f64>,
        /// The cost there.
        cost: f64,
        /// Simulations.
        evaluations: usize,
    },
    /// Failed without one, for this reason.
    Failed(String),
}

impl Replicate {
    /// All parameters, if it ended at a minimum.
    pub fn values(&self) -> Option<&[f64]> {
        match &self.end {
            ReplicateEnd::Found { u, .. } => Some(u),
            ReplicateEnd::Failed(_) => None,
        }
    }
}

/// Results of all replicates.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bootstrapped {
    /// Settings that were asked for.
    pub asked: Bootstrap,
    /// Unit of resampling that was taken.
    pub over: Over,
    /// Lengths of blocks, an entry an experiment; empty where experiments were drawn.
    pub blocks: Vec<Blocks>,
    /// √(n/ν), by which residuals were multiplied; 1 where experiments were drawn.
    pub inflation: f64,
    /// All replicates, by their numbers.
    pub replicates: Vec<Replicate>,
    /// The free parameters.
    pub parameters: Vec<ParameterBootstrap>,
    /// Warnings before the numbers are used, a sentence each.
    pub warnings: Vec<String>,
}

/// All that a replicate depends on but the problem.
#[derive(Serialize)]
struct Item<'a> {
    number: usize,
    seed: u64,
    block: Option<f64>,
    over: Over,
    inflation: f64,
    /// The optimum.
    from: &'a [f64],
}

/// All that replicates have in common.
struct Ground<'a> {
    settings: Settings,
    draw: Draw<'a>,
    seed: u64,
    free: Vec<usize>,
}

/// Repeats the fit with drawn data around what was `found`, with its `statistics`; a stage `bootstrap` of the `work`, of which
/// `progress` gets the number of replicates that are done. Results are the same to the last bit however it is divided: each replicate has
/// random numbers of its own.
///
/// # Errors
/// As [`Bootstrap::check`]; without noise or degrees of freedom; as [`Work::run`]. Fits that fail are counted ([`ReplicateEnd::Failed`]).
pub fn bootstrap(
    problem: &Problem,
    found: &Identification,
    statistics: &Statistics,
    settings: &Settings,
    asked: &Bootstrap,
    (work, progress): (&Work<'_>, ProgressCallback<'_>),
) -> Result<Bootstrapped> {
    asked.check(problem)?;
    let what = || format!("the bootstrap of `{}`", problem.name);
    if statistics.is_noise_free {
        let reason = "there is no noise to draw from: the data are reproduced to round-off";
        return Err(Error::invalid(what(), reason, Remedy::by("give measured data, or noise", Means::Noise)));
    }
    if statistics.degrees_of_freedom == 0 {
        let reason = format!("{} residuals leave no degree of freedom", statistics.count);
        return Err(Error::invalid(what(), reason, "fix parameters, or take more data"));
    }
    let over = asked.over(problem);
    let inflation = match over {
        Over::Blocks => (statistics.count as f64 / statistics.degrees_of_freedom as f64).sqrt(),
        Over::Experiments => 1.0,
    };
    let draw = Draw::new(problem, found.values(), over, (asked.block, inflation))?;
    let settings = settings_of_replicates(problem, settings, statistics.count);
    let ground = Ground { settings, draw, seed: asked.seed, free: problem.free() };
    let (seed, block, from) = (asked.seed, asked.block, &ground.draw.u[..]);
    let item = |number| Item { number, seed, block, over, inflation, from };
    let items: Vec<Item<'_>> = (0..asked.replicates).map(item).collect();
    let done = |done: usize| progress("replicates", done, items.len());
    let (threads, interrupt) = (problem.at_once()?, &ground.settings.options.interrupt);
    let stage = Stage { name: "bootstrap", what: "the bootstrap", threads, interrupt, done: &done };
    let replicates = work.run(&stage, &items, |item| ground.replicate(item.number))?;
    let blocks = ground.draw.blocks;
    let parameters = summary::summarise(problem, statistics, over, &replicates);
    let mut all = Bootstrapped { asked: *asked, over, blocks, inflation, replicates, parameters, warnings: Vec::new() };
    all.warnings = all.warn(problem, statistics);
    Ok(all)
}

/// Settings of the fit, without what would end a search that begins at the optimum before it has begun, and without what is far below a
/// standard error.
fn settings_of_replicates(problem: &Problem, settings: &Settings, residuals: usize) -> Settings {
    let mut settings = settings.clone();
    let method = settings.method_for(problem).0;
    let options = &mut settings.options;
    options.cost_target = f64::NEG_INFINITY;
    if method.needs() == Needs::Residuals {
        // a cosine of 1/√n is about a standard error
        options.gradient_tolerance = options.gradient_tolerance.max(NEAR / (residuals as f64).sqrt());
    }
    // of the whole problem: a part of it must not choose another
    Settings { method: Some(method), ..settings }
}

impl Ground<'_> {
    /// The fit to the data of this number.
    fn replicate(&self, number: usize) -> Result<Replicate> {
        let drawn = self.draw.problem(&mut SplitMix64::stream(self.seed, number as u64))?;
        let free = drawn.free();
        let found = identify_from(&drawn, (&drawn.start, &free), &self.settings, &mut |_: &Iteration| Flow::Continue);
        if self.settings.options.interrupt.is_raised() {
            // of a fit that was cut short nothing is known; the stage says the rest
            return Err(Error::interrupted());
        }
        let end = match found {
            Ok(found) if found.outcome.converged => {
                let (u, cost, evaluations) = (found.values(), found.outcome.cost, found.outcome.evaluations);
                ReplicateEnd::Found { u, cost, evaluations }
            }
            Ok(found) => ReplicateEnd::Failed(format!("the search did not converge: {}", found.reason())),
            Err(error) if is_out_of_reach(&error) => ReplicateEnd::Failed(error.to_string()),
            Err(error) => return Err(error),
        };
        let held = self.free.iter().copied().filter(|k| !free.contains(k)).collect();
        Ok(Replicate { end, held })
    }
}

impl Bootstrapped {
    /// Number of replicates that ended at a minimum.
    pub fn succeeded(&self) -> usize {
        self.replicates.iter().filter(|replicate| replicate.values().is_some()).count()
    }

    /// Reasons why replicates have failed, each with their number, the most frequent first.
    pub fn failures(&self) -> Vec<(String, usize)> {
        counted_reasons(self.replicates.iter().filter_map(|replicate| match &replicate.end {
            ReplicateEnd::Failed(reason) => Some(reason.as_str()),
            ReplicateEnd::Found { .. } => None,
        }))
    }

    /// The part by which chance moves standard errors of so many replicates of normal estimates, 1/√(2 N).
    pub fn chance(&self) -> f64 {
        (2.0 * self.succeeded().max(1) as f64).sqrt().recip()
    }

    fn warn(&self, problem: &Problem, statistics: &Statistics) -> Vec<String> {
        let mut warnings = Vec::new();
        let (count, failed) = (self.replicates.len(), self.replicates.len() - self.succeeded());
        if failed as f64 > MANY_FAILED * count as f64 {
            warnings.push(format!(
                "{failed} of {count} replicates have failed: the spread is that of those which have not, and may be too small"
            ));
        }
        if self.succeeded() < FEWEST {
            warnings.push(format!("{} replicates are too few for 95 % intervals", self.succeeded()));
        }
        let experiments = problem.experiments.len();
        if self.over == Over::Experiments && experiments < FEWEST_EXPERIMENTS {
            warnings.push(format!(
                "{experiments} experiments are few to draw from: the bootstrap's standard errors are rough, and its intervals too narrow; \
                 take blocks of residuals, or more experiments"
            ));
        }
        warnings.extend(resample::warning(&self.blocks));
        warnings.extend(self.differences(statistics));
        warnings.extend(self.biases());
        warnings
    }
}
