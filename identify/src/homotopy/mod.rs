//! Identification by homotopy: first the model is pulled towards the record, then less and less, and at last not at all.
//!
//! A record of many periods makes a cost with many valleys, and a fit from a start whose frequency is off ends in one of them. A model that is pulled
//! towards its record by forces (an observer) stays in phase whatever its parameters, and its cost has one valley. With the share μ of these forces from
//! 1 to 0, each fit beginning with the parameters of the one before, that valley leads to the one that is sought (Vyasarayani, Uchida, Carvalho and
//! McPhee 2011). The last fit is a plain one. It is compared with the plain fit from the same start, and the better one is the result.
//!
//! ```text
//! M a + C_qᵀ λ = Q + μ Σ_j g_j [ ω_j² (ȳ_j(t) - y_j) + 2 ω_j (dȳ_j/dt - dy_j/dt) ]        outputs that are positions
//!                Q + μ Σ_j g_j   2 ω_j (ȳ_j(t) - y_j)                                     outputs that are velocities
//! ```
//!
//! The directions g_j = [Jᵀ (J M⁻¹ Jᵀ)⁻¹]_j make forces accelerate one output by 1 and no other; they are those of the start, and stay. ω_j is the gain times
//! the frequency of the record. Nothing pulls in gaps of a record. Records are seen through gain, bias and delay of their sensors at the start.

mod observed;
mod record;

use super::identify_from;
use crate::optimise::{Flow, Iteration, Needs, Outcome, Reason};
use crate::problem::{Experiment, Problem};
use crate::table::table;
use crate::{Error, Result};
use crate::{Identification, Settings};
use costate::cost::LeastSquares;
use observed::Observed;
use record::{Channel, channels};
use std::sync::Arc;

/// Settings of a homotopy: the pull of the model towards its record.
#[derive(Debug, Clone, PartialEq)]
pub struct Homotopy {
    /// The share of the pull falls by 1/stages from fit to fit; by more where fits follow at once, by less where they do not.
    pub stages: usize,
    /// The frequency of the pull beside that of the record.
    pub gain: f64,
}

impl Default for Homotopy {
    /// Vyasarayani's steps of 0.2.
    fn default() -> Self {
        Homotopy { stages: 5, gain: 3.0 }
    }
}

impl Homotopy {
    /// Checks the settings.
    ///
    /// # Errors
    /// No stages, more than 1000, or a gain that is not positive.
    pub fn validate(&self) -> Result<()> {
        if !(1..=1000).contains(&self.stages) {
            let problem = format!("it has {} stages", self.stages);
            return Err(Error::invalid("homotopy", problem, "give 1 to 1000, such as stages = 5"));
        }
        if !(self.gain.is_finite() && self.gain > 0.0) {
            let problem = format!("its gain is {}", self.gain);
            return Err(Error::invalid("homotopy", problem, "give a positive number, such as gain = 3"));
        }
        Ok(())
    }
}

/// One fit on the way.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct HomotopyStage {
    /// The share μ of the pull; `None` for the plain fit from the start, with which the result is compared, and which takes half of the iterations and
    /// evaluations that are allowed, at most.
    pub share: Option<f64>,
    /// The running number of its first record in the history; `None` for a fit that failed at its start.
    pub first_iteration: Option<usize>,
    /// The cost where it began.
    pub start_cost: Option<f64>,
    /// The cost where it ended.
    pub cost: Option<f64>,
    /// Iterations of the fit.
    pub iterations: usize,
    /// Simulations of the fit.
    pub evaluations: usize,
    /// True if the next fit went on from this one; otherwise the share was lowered by less.
    pub accepted: bool,
    /// Reason of the end of the fit.
    pub reason: String,
}

/// Result of a homotopy.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct HomotopyResult {
    /// All fits, that from the start without any pull first.
    pub stages: Vec<HomotopyStage>,
    /// The cost of the plain fit from the start, if it could be simulated.
    pub plain_cost: Option<f64>,
    /// The cost of the last fit, which is plain, too, if it was reached.
    pub cost: Option<f64>,
    /// True if that last fit has the lower cost, and is the result.
    pub helped: bool,
    /// Summary of the homotopy in a sentence.
    pub sentence: String,
}

impl HomotopyResult {
    /// A line a fit, and what it was good for.
    pub fn report(&self) -> String {
        let row = |stage: &HomotopyStage| {
            let cost = |cost: Option<f64>| cost.map_or("failed".to_string(), |cost| format!("{cost:.6e}"));
            vec![
                stage.share.map_or("none, from the start".to_string(), |share| format!("{share:.4}")),
                cost(stage.start_cost),
                cost(stage.cost),
                stage.iterations.to_string(),
                if stage.accepted { String::new() } else { "rejected".to_string() },
            ]
        };
        let rows: Vec<Vec<String>> = self.stages.iter().map(row).collect();
        format!("{}\n{}", table(&["pull", "cost at its start", "cost", "iterations", ""], &rows), self.sentence)
    }
}

/// The problem whose models are pulled towards their records with this share, at these parameters: for looking at what
/// [`Settings::homotopy`](crate::Settings) works on. A share of zero is the problem itself.
///
/// # Errors
/// If the cost is no sum of squares, or no measured output is a position or a velocity.
pub fn observed(problem: &Problem, start: &[f64], homotopy: &Homotopy, share: f64) -> Result<Problem> {
    homotopy.validate()?;
    pulled(problem, &all_channels(problem, start, homotopy)?, share)
}

fn all_channels(problem: &Problem, start: &[f64], homotopy: &Homotopy) -> Result<Vec<Arc<[Channel]>>> {
    let of = |experiment: &Experiment| channels(problem, experiment, start, homotopy).map(Arc::from);
    problem.experiments.iter().map(of).collect()
}

fn pulled(problem: &Problem, channels: &[Arc<[Channel]>], share: f64) -> Result<Problem> {
    let mut experiments = Vec::new();
    for (experiment, channels) in problem.experiments.iter().zip(channels) {
        let Some(costs) = experiment.cost.as_least_squares() else {
            return Err(Error::invalid("homotopy", "the cost is no sum of squares", "compare outputs with records"));
        };
        let inner = experiment.simulation.shared_system();
        let simulation = match share {
            0.0 => experiment.simulation.clone(),
            _ => experiment.simulation.with_system(Arc::new(Observed { inner, channels: channels.clone(), share })),
        };
        let (name, places) = (experiment.name.clone(), experiment.places.clone());
        experiments.push(Experiment { name, simulation, cost: Box::new(costs.clone()), places });
    }
    Ok(Problem {
        name: problem.name.clone(),
        experiments,
        validation: Vec::new(),
        parameters: problem.parameters.clone(),
        start: problem.start.clone(),
        optimum: problem.optimum.clone(),
        constraints: problem.constraints.clone(),
        unknown_deviations: problem.unknown_deviations.clone(),
        priors: problem.priors.clone(),
        modes: problem.modes.clone(),
        responses: problem.responses.clone(),
        record: None,
    })
}

/// Iterations of a fit on the way, which need not end where it could.
const ON_THE_WAY: usize = 20;
const LOOSE: f64 = 1e-4;
/// A fit on the way that ends this much above the one before has lost the track, and a smaller part of the pull is taken away.
const LOST: f64 = 10.0;
/// Most halvings of that part.
const HALVINGS: i32 = 3;
/// A fit that takes so few iterations has followed at once.
const AT_ONCE: usize = 3;
/// The result of the plain fit is the same one where costs differ by less than this part.
const SAME: f64 = 1e-6;
/// Residuals have vanished in both where costs differ by less than this part of what the data have themselves.
const VANISHED: f64 = 1e-20;

/// Identifies as [`identify`](fn@crate::identify) does, by a homotopy from a start and over some parameters.
pub(super) fn identify_by_homotopy(
    problem: &Problem,
    (start, free): (&[f64], &[usize]),
    settings: &Settings,
    homotopy: &Homotopy,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Identification> {
    homotopy.validate()?;
    let (method, _) = settings.method_for(problem);
    if method.needs() == Needs::SecondDerivatives {
        let trouble = "the rates of outputs that pull the model have no second derivatives";
        return Err(Error::invalid(format!("homotopy by method `{method}`"), trouble, "take lm, or bfgs"));
    }
    let channels = all_channels(problem, start, homotopy)?;
    let settings = Settings { homotopy: None, ..settings.clone() };
    let mut way = Way { free, settings, observer, stages: Vec::new(), all: None, stopped: false };
    let plain = way.fit(problem, start, None);
    let plain = match plain {
        Err(error) if !error.is_simulation_failure() => return Err(error),
        other => other,
    };
    let first_failure = plain.as_ref().err().map(ToString::to_string);
    let last = if way.ends() { None } else { way.follow(problem, &channels, start, homotopy)? };
    let costs = [plain.as_ref().ok(), last.as_ref()].map(|found| found.map(|found| found.outcome.cost));
    let data: f64 = problem.least_squares().unwrap_or_default().into_iter().map(LeastSquares::scale).sum();
    let helped = match costs {
        [Some(plain), Some(last)] => plain - last > (SAME * plain).max(VANISHED * data),
        [_, last] => last.is_some(),
    };
    let sentence = in_words(costs, helped, first_failure.as_deref());
    let (found, other) = if helped { (last, plain.ok()) } else { (plain.ok(), last) };
    let Some(found) = found.or(other) else {
        return Err(Error::invalid(format!("homotopy for problem `{}`", problem.name), sentence, "start elsewhere"));
    };
    let result = HomotopyResult { stages: way.stages, plain_cost: costs[0], cost: costs[1], helped, sentence };
    let all = way.all.unwrap_or_else(|| found.clone());
    Ok(Identification {
        outcome: Outcome {
            iterations: all.outcome.iterations,
            evaluations: all.outcome.evaluations,
            failed_evaluations: all.outcome.failed_evaluations,
            hessians: all.outcome.hessians,
            hessian_products: all.outcome.hessian_products,
            history: all.outcome.history,
            ..found.outcome
        },
        // each fit began elsewhere
        parameters: found
            .parameters
            .into_iter()
            .zip(start)
            .map(|(parameter, start)| super::Estimate { start: *start, ..parameter })
            .collect(),
        history: all.history,
        first_failure: all.first_failure.or(first_failure),
        homotopy: Some(result),
        seconds: all.seconds,
        ..found
    })
}

fn in_words(costs: [Option<f64>; 2], helped: bool, failure: Option<&str>) -> String {
    match (costs, failure) {
        ([Some(plain), Some(last)], _) if helped => {
            format!(
                "homotopy helped: its last fit, without any pull, ends at a cost of {last:.6e}, the plain fit from the same start at {plain:.6e}"
            )
        }
        ([Some(plain), Some(last)], _) if last <= plain * (1.0 + SAME) => format!(
            "homotopy did not help: the plain fit from the same start ends as low, at a cost of {plain:.6e} (the last fit: {last:.6e})"
        ),
        ([Some(plain), Some(last)], _) => format!(
            "homotopy did not help: its last fit, without any pull, ends at a cost of {last:.6e}, above the plain fit from the same start, \
             {plain:.6e}, which is kept; more stages, another gain or a search from many starts may find better ones"
        ),
        ([Some(plain), None], _) => format!(
            "homotopy did not help: it did not reach a fit without any pull; the plain fit from the start, at a cost of {plain:.6e}, is kept"
        ),
        ([None, Some(last)], failure) => format!(
            "homotopy helped: its last fit ends at a cost of {last:.6e}, where the start alone cannot be simulated: {}",
            failure.unwrap_or_default()
        ),
        ([None, None], failure) => {
            format!("neither the start nor the model that is pulled can be simulated: {}", failure.unwrap_or_default())
        }
    }
}

/// All fits, and what they have come to.
struct Way<'a> {
    free: &'a [usize],
    settings: Settings,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    stages: Vec<HomotopyStage>,
    /// All of them as one, for the history.
    all: Option<Identification>,
    stopped: bool,
}

impl Way<'_> {
    /// True if nobody wants to go on.
    fn ends(&self) -> bool {
        let options = &self.settings.options;
        let used_up = self.all.as_ref().is_some_and(|all| {
            all.outcome.evaluations >= options.max_evaluations || all.outcome.iterations >= options.max_iterations
        });
        self.stopped || used_up || options.interrupt.is_raised()
    }

    /// Follows the homotopy from the whole pull to none; the last fit, if it was reached.
    fn follow(
        &mut self,
        problem: &Problem,
        channels: &[Arc<[Channel]>],
        start: &[f64],
        homotopy: &Homotopy,
    ) -> Result<Option<Identification>> {
        let usual = 1.0 / homotopy.stages as f64;
        let least = usual * 0.5f64.powi(HALVINGS);
        let (mut u, mut share, mut fall) = (start.to_vec(), 1.0f64, usual);
        let mut cost = self.pulled_fit(problem, channels, &mut u, share, None)?;
        while cost.is_some() && !self.ends() {
            // the last fit begins where no more than a usual part of the pull is left
            let next = match share - fall {
                next if next >= 0.5 * least => next,
                _ if share > 1.5 * usual => usual,
                _ => 0.0,
            };
            if next == 0.0 {
                return match self.fit(problem, &u, Some(0.0)) {
                    Err(error) if error.is_simulation_failure() && fall > least => {
                        fall *= 0.5;
                        continue;
                    }
                    Err(error) if error.is_simulation_failure() => Ok(None),
                    found => found.map(Some),
                };
            }
            let limit = cost.filter(|_| fall > least).map(|cost| LOST * cost);
            match self.pulled_fit(problem, channels, &mut u, next, limit)? {
                Some(now) => {
                    share = next;
                    cost = Some(now);
                    let followed = self.stages.last().is_some_and(|stage| stage.iterations <= AT_ONCE);
                    fall = if followed { 2.0 * usual } else { usual };
                }
                None if fall > least => fall *= 0.5,
                None => cost = None,
            }
        }
        Ok(None)
    }

    /// A fit on the way: its cost, and its parameters in `u`; `None` where it fails or ends above `limit`.
    fn pulled_fit(
        &mut self,
        problem: &Problem,
        channels: &[Arc<[Channel]>],
        u: &mut Vec<f64>,
        share: f64,
        limit: Option<f64>,
    ) -> Result<Option<f64>> {
        let pulled = pulled(problem, channels, share)?;
        let found = match self.fit(&pulled, u, Some(share)) {
            Err(error) if error.is_simulation_failure() => return Ok(None),
            other => other?,
        };
        let cost = found.outcome.cost;
        let accepted = limit.is_none_or(|limit| cost <= limit);
        if let Some(stage) = self.stages.last_mut() {
            stage.accepted = accepted;
        }
        if accepted {
            *u = found.values();
        }
        Ok(accepted.then_some(cost))
    }

    /// A fit, with what the ones before have left.
    fn fit(&mut self, problem: &Problem, start: &[f64], share: Option<f64>) -> Result<Identification> {
        let (iterations, outcome) = match &self.all {
            Some(all) => (all.outcome.history.len(), Some(&all.outcome)),
            None => (0, None),
        };
        let mut settings = self.settings.clone();
        if let Some(before) = outcome {
            settings = crate::likelihood::left(&settings, before);
        }
        if share.is_none() {
            // a plain fit that creeps must leave something for the others
            let options = &mut settings.options;
            options.max_iterations = options.max_iterations.div_ceil(2);
            options.max_evaluations = options.max_evaluations.div_ceil(2);
        }
        if share.is_some_and(|share| share > 0.0) {
            let options = &mut settings.options;
            options.max_iterations = options.max_iterations.min(ON_THE_WAY);
            options.gradient_tolerance = options.gradient_tolerance.max(LOOSE);
            options.cost_tolerance = options.cost_tolerance.max(LOOSE);
        }
        let before = outcome.map_or([0; 2], |all| [all.evaluations, all.failed_evaluations]);
        let numbered = |iteration: &Iteration| Iteration {
            number: iterations + iteration.number,
            evaluations: before[0] + iteration.evaluations,
            failed_evaluations: before[1] + iteration.failed_evaluations,
            homotopy: share,
            ..iteration.clone()
        };
        let (observer, stopped) = (&mut *self.observer, &mut self.stopped);
        let found = identify_from(problem, (start, self.free), &settings, &mut |iteration| {
            let flow = observer(&numbered(iteration));
            *stopped |= flow == Flow::Stop;
            flow
        });
        let mut stage = HomotopyStage {
            share,
            first_iteration: None,
            start_cost: None,
            cost: None,
            iterations: 0,
            evaluations: 0,
            accepted: false,
            reason: String::new(),
        };
        match &found {
            Err(error) => stage.reason = error.to_string(),
            Ok(found) => {
                let own = &found.outcome;
                stage.first_iteration = Some(iterations);
                stage.start_cost = own.history.first().map(|start| start.cost);
                (stage.cost, stage.iterations) = (Some(own.cost), own.iterations);
                (stage.evaluations, stage.accepted) = (own.evaluations, true);
                stage.reason = match own.reason {
                    Reason::MaxIterations if share.is_some_and(|share| share > 0.0) => {
                        "as many iterations as a fit on the way may take".to_string()
                    }
                    reason => reason.to_string(),
                };
                self.take(found, &numbered);
            }
        }
        self.stages.push(stage);
        found
    }

    /// Adds a fit to the history.
    fn take(&mut self, found: &Identification, numbered: &dyn Fn(&Iteration) -> Iteration) {
        let own = found.outcome.history.iter().map(numbered);
        match &mut self.all {
            None => {
                let mut found = found.clone();
                found.outcome.history = own.collect();
                self.all = Some(found);
            }
            Some(all) => {
                let outcome = &mut all.outcome;
                outcome.history.extend(own);
                // the start of each fit is one more
                outcome.iterations = outcome.history.len() - 1;
                outcome.evaluations += found.outcome.evaluations;
                outcome.failed_evaluations += found.outcome.failed_evaluations;
                outcome.hessians += found.outcome.hessians;
                outcome.hessian_products += found.outcome.hessian_products;
                all.history.extend(found.history.iter().cloned());
                all.first_failure = all.first_failure.take().or_else(|| found.first_failure.clone());
                all.seconds += found.seconds;
            }
        }
    }
}
