//! Time steps that are chosen: before a fit, where those of the problem make errors at its start that hide what is to be fitted ([`BeforeFit`]); then
//! a fit, the check of its step, and where that matters another fit with finer steps.
//!
//! [`Statistics::with_time_step`] tells how far each parameter's optimum moves at half the step. Where one moves by more than a tenth of
//! its standard error, all steps are divided by the power of two at which it would no longer, if the error is of second order; and the
//! parameters are fitted again from the values found, and checked again. See `docs/residuals.md`.

mod before_fit;

pub use before_fit::{BeforeFit, OutputError};

use crate::likelihood::{continued, identify_with_noise, joined, left};
use crate::optimise::{Flow, Iteration, Reason};
use crate::problem::{Experiment, Problem};
use crate::statistics::{Noise, OutputFit, Shift, Statistics, TimeStepCheck, fits, matters, named};
use crate::{Error, Result};
use crate::{Identification, Settings, flat};
use costate::Signal;
use costate::sensitivity::{Gradient, Method};
use costate::shown::with_unit;
use serde_json::{Value, json};

/// Most steps between two samples that are chosen: a fit takes so many times as long.
pub const MOST_SUBSTEPS: usize = 64;
/// Most fits that are added.
pub const MOST_REFITS: usize = 3;

/// Choice of the time steps that an identification takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Steps {
    /// Steps of the problem.
    #[default]
    AsGiven,
    /// Steps of the problem, divided until no parameter's optimum depends on them.
    Chosen,
    /// Steps of the problem divided by each of these numbers, one fit after another: an earlier choice once more.
    Repeated(Vec<usize>),
}

/// Result of an identification, with its statistics.
pub struct Fit {
    /// The result; of several fits, the searches are joined as one.
    pub found: Identification,
    /// Statistics with the check of the time step; or why there are none.
    pub statistics: Result<Statistics>,
}

/// One of the fits that led to the steps.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StepFit {
    /// Divisor of the problem's steps.
    pub divided_by: usize,
    /// Steps between two samples, if they are as many in all experiments.
    pub substeps: Option<usize>,
    /// Shifts of the optimum at half these steps, the largest first; empty where they could not be found.
    pub shifts: Vec<Shift>,
    /// The cost.
    pub cost: f64,
    /// Sum of the squared residuals over their deviations, χ².
    pub chi_square: f64,
}

/// Choice of the time steps.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StepChoice {
    /// Estimate of the time steps' error before the first of them, if steps were too coarse there.
    pub before: Option<BeforeFit>,
    /// All fits; the last one is the result.
    pub fits: Vec<StepFit>,
    /// Steps that should have been taken, and why they were not.
    pub refused: Option<String>,
}

impl Problem {
    /// Steps between two samples, if they are as many in all experiments that are fitted.
    pub(crate) fn substeps(&self) -> Option<usize> {
        let costs = self.least_squares()?;
        let first = costs.first()?.substeps();
        first.filter(|_| costs.iter().all(|cost| cost.substeps() == first))
    }

    /// The problem with every time step divided into `parts`.
    ///
    /// # Errors
    /// A cost that is no sum of squares; [`costate::Error::Memory`].
    pub fn divided(&self, parts: usize) -> Result<Self> {
        self.divided_with(parts, &|signal| Ok(signal.clone()))
    }

    /// The problem with every time step divided in two; references that are runs themselves are runs at those steps.
    ///
    /// # Errors
    /// As [`Problem::divided`], or a run that fails.
    pub fn halved(&self) -> Result<Self> {
        let mut halved = self.divided(2)?;
        let Some(optimum) = &self.optimum else { return Ok(halved) };
        for (given, Experiment { simulation, cost, .. }) in self.experiments.iter().zip(&mut halved.experiments) {
            let Some(finer) = cost.as_least_squares() else { continue };
            let outputs: Vec<usize> = finer.references().iter().map(|reference| reference.output).collect();
            let own = given.own(optimum);
            let (before, after) = (given.simulation.outputs(&own, &outputs)?, simulation.outputs(&own, &outputs)?);
            let moved = |k: usize, place: usize| after[k][place] - before[k][place / 2];
            *cost = Box::new(finer.clone().with_references_moved(&moved));
        }
        Ok(halved)
    }

    /// Costs of one's own together, and their derivatives, at `u` with every time step divided in two; NaN where a run fails. None for costs that
    /// go with the steps as they are alone.
    pub fn own_cost_at_half(&self, u: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (mut cost, mut slope) = (0.0, vec![0.0; u.len()]);
        for experiment in &self.experiments {
            let (simulation, own) = (&experiment.simulation, experiment.own(u));
            let halved = simulation.divided(2, simulation.signals().to_vec()).ok()?;
            let (mut gradient, mut by_own) = (Gradient::new(&halved, &*experiment.cost).ok()?, vec![0.0; own.len()]);
            cost += gradient.cost_and_gradient(&own, Method::Adjoint, &mut by_own).unwrap_or(f64::NAN);
            experiment.places.iter().zip(by_own).for_each(|(&place, own)| slope[place] += own);
        }
        Some((cost, slope))
    }

    /// The problem with every time step divided into `parts`, and with other signals.
    pub(crate) fn divided_with(&self, parts: usize, signal: &dyn Fn(&Signal) -> Result<Signal>) -> Result<Self> {
        let experiment = |experiment: &Experiment| experiment.divided_with(parts, signal);
        let all = |experiments: &[Experiment]| experiments.iter().map(experiment).collect::<Result<Vec<_>>>();
        Ok(Problem {
            name: self.name.clone(),
            experiments: all(&self.experiments)?,
            validation: all(&self.validation)?,
            parameters: self.parameters.clone(),
            start: self.start.clone(),
            optimum: self.optimum.clone(),
            constraints: self.constraints.clone(),
            unknown_deviations: self.unknown_deviations.clone(),
            priors: self.priors.clone(),
            modes: self.modes.clone(),
            responses: self.responses.clone(),
            record: None,
        })
    }

    /// Sentences on outputs of records that are not fitted, whose errors at `u`, `found`, are those of the time steps: with steps half as long they are
    /// others by more than a tenth. One run a record; `remedy`: what makes steps smaller.
    pub fn told_by_finer_steps(
        &self,
        experiments: &[Experiment],
        u: &[f64],
        (found, remedy): (&[OutputFit], &str),
    ) -> Vec<String> {
        /// Part of an error that matters, and beside what the record varies what is no round-off.
        const MATTERS: [f64; 2] = [0.1, 1e-6];
        let mut told = Vec::new();
        for experiment in experiments {
            // a cost of another kind compares nothing
            let Ok(finer) = experiment.divided_with(2, &|signal| Ok(signal.clone())) else { continue };
            let finer = match fits(self, std::slice::from_ref(&finer), u) {
                Ok(finer) => finer,
                Err(error) => {
                    told.push(format!("validation: with time steps half as long, a run fails: {error}"));
                    continue;
                }
            };
            let worst = (finer.iter())
                .filter_map(|finer| Some((finer, found.iter().find(|own| own.name == finer.name)?)))
                .map(|(finer, own)| (finer, own, (finer.rmse() - own.rmse()).abs()))
                .filter(|(_, own, off)| *off > MATTERS[0] * own.rmse() && *off > MATTERS[1] * own.size)
                .max_by(|a, b| (a.2 / a.1.rmse()).total_cmp(&(b.2 / b.1.rmse())));
            told.extend(worst.map(|(finer, own, _)| {
                format!(
                    "validation: time steps are too coarse: the RMSE of `{}` is {}, and {} with steps half as long; {remedy}",
                    own.name,
                    with_unit(own.rmse(), &own.unit),
                    with_unit(finer.rmse(), &own.unit)
                )
            }));
        }
        told
    }
}

impl Experiment {
    /// The experiment with every time step divided into `parts`, and with other signals.
    fn divided_with(&self, parts: usize, signal: &dyn Fn(&Signal) -> Result<Signal>) -> Result<Self> {
        let Some(cost) = self.cost.as_least_squares() else {
            let what = format!("the cost of `{}`", self.name);
            return Err(Error::invalid(what, "it is no sum of squares", "compare outputs with a reference instead"));
        };
        let signals = self.simulation.signals().iter().map(signal).collect::<Result<Vec<_>>>()?;
        let simulation = self.simulation.divided(parts, signals)?;
        let (name, places) = (self.name.clone(), self.places.clone());
        Ok(Experiment { name, simulation, cost: Box::new(cost.clone().with_steps_divided(parts)), places })
    }
}

/// Identifies as [`identify_with_noise`] does, with the statistics, and with time steps as `steps` asks for: the problem keeps those that were taken last.
/// Iterations, evaluations and time are those of all fits. Without standard errors there is nothing to be compared with, and steps stay
/// as they are ([`Statistics::with_time_step`]).
///
/// `before` is called before each further fit, with a sentence, with the problem at finer steps; its error refuses them. If they are refused,
/// take more memory than there is, or the search with them ends early, the result is that of the fit before, and
/// [`Statistics::warnings`] say so.
///
/// # Errors
/// As [`identify_with_noise`] in the first fit.
pub fn identify_with_steps(
    problem: &mut Problem,
    settings: &Settings,
    noise: Noise,
    steps: &Steps,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
    before: &mut dyn FnMut(&Problem, &str) -> Result<()>,
) -> Result<Fit> {
    let begun = steps.before(problem);
    let (mut divided_by, mut refused, mut as_given) = (1, None, None);
    if let Some(begun) = begun.as_ref().filter(|begun| begun.divided_by > 1) {
        let finer = problem.divided(begun.divided_by).and_then(|finer| {
            before(&finer, &begun.sentence())?;
            Ok(finer)
        });
        match finer {
            Ok(finer) => {
                divided_by = begun.divided_by;
                as_given = Some(std::mem::replace(problem, finer));
            }
            Err(error) => refused = Some(could_not_be_taken(problem, begun.divided_by, &error)),
        }
    }
    let found = identify_with_noise(problem, settings, observer)?;
    let mut fit = Fit { statistics: statistics(problem, &found, noise), found };
    flat::judge(problem, &mut fit.found, &fit.statistics);
    if fit.found.outcome.reason == Reason::ModesMeet {
        let problem = "derivatives of those that have met are those of their mean";
        fit.statistics = Err(Error::invalid("measured modes", problem, "begin where they differ"));
    }
    // finer steps do not mend a start
    let may_refine = *steps != Steps::AsGiven && fit.found.shortcomings.is_empty();
    let (Ok(first), true) = (&fit.statistics, may_refine) else { return Ok(fit) };
    let fits = vec![StepFit::of(problem, divided_by, &fit.found, first)];
    let is_refused = refused.is_some();
    let mut choice = StepChoice { before: begun, fits, refused };
    while let Some(parts) = steps.next(problem, &choice, &fit).filter(|_| !is_refused) {
        let given = as_given.as_ref().unwrap_or(problem);
        let finer = given.divided(parts).and_then(|mut finer| {
            before(&finer, &choice.announces(&finer))?;
            let (better, statistics) = again(&mut finer, settings, noise, (&fit.found, observer))?;
            Ok((finer, better, statistics))
        });
        match finer {
            Ok((finer, found, statistics)) => {
                choice.fits.push(StepFit::of(&finer, parts, &found, &statistics));
                let coarse = std::mem::replace(problem, finer);
                as_given.get_or_insert(coarse);
                fit = Fit { found, statistics: Ok(statistics) };
            }
            Err(error) => {
                choice.refused = Some(could_not_be_taken(given, parts, &error));
                break;
            }
        }
    }
    if let Ok(statistics) = &mut fit.statistics {
        statistics.warnings.extend(choice.warnings(statistics));
        statistics.step_choice = Some(choice);
    }
    Ok(fit)
}

/// Reason why steps of the problem as `given`, divided, are not those of the result.
fn could_not_be_taken(given: &Problem, parts: usize, error: &Error) -> String {
    let wanted = given.substeps().map(|substeps| parts * substeps);
    format!("{} could not be taken: {error}", setting(parts, wanted))
}

/// A fit from the values found before, as one search with that, and its statistics.
fn again(
    finer: &mut Problem,
    settings: &Settings,
    noise: Noise,
    (before, observer): (&Identification, &mut dyn FnMut(&Iteration) -> Flow),
) -> Result<(Identification, Statistics)> {
    let so_far = &before.outcome;
    let settings = left(settings, so_far);
    if settings.options.max_evaluations == 0 || settings.options.max_iterations == 0 {
        let problem = "all evaluations or iterations are used up";
        return Err(Error::invalid("the fit with them", problem, "allow more"));
    }
    let start = std::mem::replace(&mut finer.start, before.values());
    let found = identify_with_noise(finer, &settings, &mut |iteration| match iteration.number {
        // the start of this fit is the end of the one before
        0 => Flow::Continue,
        _ => observer(&continued(iteration.clone(), Some(so_far), 0.0)),
    });
    finer.start = start;
    let mut found = found?;
    if !found.outcome.converged {
        return Err(Error::invalid("the fit with them", found.reason(), "set them by hand"));
    }
    found = joined(Some(before.clone()), found, 0.0);
    found.parameters.iter_mut().zip(&finer.start).for_each(|(parameter, start)| parameter.start = *start);
    let statistics = statistics(finer, &found, noise)?;
    Ok((found, statistics))
}

/// Unless nobody waits for them: after an interruption of simulations that take long, statistics would take some runs more.
fn statistics(problem: &Problem, found: &Identification, noise: Noise) -> Result<Statistics> {
    const LONG: f64 = 0.2;
    let seconds = found.seconds / found.outcome.evaluations.max(1) as f64;
    if found.outcome.reason == Reason::Interrupted && seconds > LONG {
        return Err(Error::interrupted());
    }
    Ok(Statistics::of(problem, found, noise)?.with_time_step(problem, found))
}

impl Steps {
    /// Division of the steps that the first fit begins with, at the problem's start.
    pub fn before(&self, problem: &Problem) -> Option<BeforeFit> {
        match self {
            Steps::AsGiven => None,
            Steps::Chosen => BeforeFit::of(problem, &problem.start),
            Steps::Repeated(all) => {
                let divided_by = all.first().copied().filter(|parts| *parts > 1)?;
                Some(BeforeFit::repeated(divided_by, problem.substeps()))
            }
        }
    }

    /// Divisor of the problem's steps as given in another fit, if it takes one; `problem`: with the steps of the last.
    fn next(&self, problem: &Problem, choice: &StepChoice, fit: &Fit) -> Option<usize> {
        match self {
            Steps::AsGiven => None,
            Steps::Repeated(all) => all.get(choice.fits.len()).copied().filter(|parts| *parts > 0),
            Steps::Chosen => {
                let divide_by = match &fit.statistics.as_ref().ok()?.time_step {
                    Some(TimeStepCheck::Made(made)) => made.divide_by,
                    // where a search gets stuck, steps may be why
                    _ if is_stuck(fit.found.outcome.reason) => BeforeFit::of(problem, &fit.found.values())?.divided_by,
                    _ => return None,
                };
                let last = choice.fits.last()?;
                let wanted = (last.divided_by * divide_by).min(choice.most());
                (choice.fits.len() <= MOST_REFITS && wanted > last.divided_by).then_some(wanted)
            }
        }
    }
}

/// True if a search has ended where the cost does not do what its derivatives say, or nothing can be simulated.
fn is_stuck(reason: Reason) -> bool {
    matches!(reason, Reason::NoDescent | Reason::NoProgress | Reason::BlockedByFailures)
}

/// `1 step a sample`
fn in_words(divided_by: usize, substeps: Option<usize>) -> String {
    match substeps {
        Some(1) => "1 step a sample".to_string(),
        Some(count) => format!("{count} steps a sample"),
        None if divided_by == 1 => "the steps as given".to_string(),
        None => format!("steps divided by {divided_by}"),
    }
}

/// `substeps = 8`
fn setting(divided_by: usize, substeps: Option<usize>) -> String {
    substeps.map_or(format!("steps divided by {divided_by}"), |substeps| format!("substeps = {substeps}"))
}

impl StepFit {
    fn of(problem: &Problem, divided_by: usize, found: &Identification, statistics: &Statistics) -> Self {
        let shifts = match &statistics.time_step {
            Some(TimeStepCheck::Made(made)) => made.shifts.clone(),
            _ => Vec::new(),
        };
        let (cost, chi_square) = (found.outcome.cost, statistics.chi_square);
        StepFit { divided_by, substeps: problem.substeps(), shifts, cost, chi_square }
    }

    fn in_words(&self) -> String {
        in_words(self.divided_by, self.substeps)
    }

    fn json(&self) -> Value {
        json!({
            "divided_by": self.divided_by,
            "substeps": self.substeps,
            "cost": self.cost,
            "chi_square": self.chi_square,
            "largest_shift": self.shifts.first().map(Shift::json),
        })
    }
}

impl StepChoice {
    /// Largest divisor of the problem's steps.
    fn most(&self) -> usize {
        let given = self.fits.first().and_then(|fit| fit.substeps.map(|substeps| substeps / fit.divided_by));
        (MOST_SUBSTEPS / given.unwrap_or(1).max(1)).max(1)
    }

    /// `time step: with 1 step a sample, `k` shifts by -4.5 standard errors (-0.261 N m/rad) at half the step`
    fn moved(&self) -> Option<String> {
        let first = self.fits.first().filter(|fit| matters(&fit.shifts))?;
        Some(format!("time step: with {}, {} at half the step", first.in_words(), named(&first.shifts)))
    }

    /// Sentence before the next fit, on the problem at finer steps.
    fn announces(&self, finer: &Problem) -> String {
        let last = self.fits.last().map_or(String::new(), StepFit::in_words);
        let shifts = self.fits.last().map_or(String::new(), |fit| named(&fit.shifts));
        let why = if shifts.is_empty() { String::new() } else { format!(": {shifts} at half the step") };
        let finer = finer.substeps().map_or("finer ones".to_string(), |substeps| format!("substeps = {substeps}"));
        format!("time step: {last} is too coarse{why}; fitting again with {finer}")
    }

    /// Sentence on the choice, if anything was chosen.
    pub(crate) fn summary(&self) -> Option<String> {
        let begun = self.before.as_ref().map(BeforeFit::sentence);
        let Some(finer) = self.fits.get(1..).filter(|finer| !finer.is_empty()) else { return begun };
        let settings: Vec<String> = finer.iter().map(|fit| setting(fit.divided_by, fit.substeps)).collect();
        let last = self.fits.last()?;
        let limit = match matters(&last.shifts) {
            true if last.divided_by >= self.most() => format!("; more than {MOST_SUBSTEPS} are not chosen"),
            true if finer.len() >= MOST_REFITS => format!("; no more than {MOST_REFITS} fits are added"),
            _ => String::new(),
        };
        let stuck = || Some(format!("time step: with {}, the search got stuck", self.fits.first()?.in_words()));
        let moved = self.moved().or_else(stuck)?;
        let chosen = format!("{moved}; {} chosen, and fitted again{limit}", settings.join(", then "));
        Some(begun.into_iter().chain([chosen]).collect::<Vec<_>>().join("\n"))
    }

    /// Warnings of the choice.
    fn warnings(&self, statistics: &Statistics) -> Vec<String> {
        /// Twice a difference of logarithmic likelihoods that chance hardly makes.
        const RISE: f64 = 10.0;
        let (Some(first), Some(last)) = (self.fits.first(), self.fits.last()) else { return Vec::new() };
        let refused = self.refused.iter().map(|refused| {
            let kept = setting(last.divided_by, last.substeps);
            format!("time step: {refused}; the result is that of {kept}")
        });
        let risen = last.chi_square - first.chi_square;
        let risen = match statistics.noise {
            Noise::Given => risen,
            Noise::Estimated => risen / (first.chi_square / statistics.degrees_of_freedom.max(1) as f64),
            // where deviations are estimated again in each fit, the likelihood is compared
            Noise::PerSensor => 2.0 * (last.cost - first.cost),
        };
        let risen = (risen > RISE).then(|| {
            format!(
                "time step: finer steps fit worse (cost {:.6e} instead of {:.6e}): errors of coarse ones make up for something that the model \
                 lacks; only if a simulation with {} has written the record, set {} to keep them",
                last.cost,
                first.cost,
                first.in_words(),
                setting(first.divided_by, first.substeps)
            )
        });
        refused.chain(risen).collect()
    }

    /// JSON for programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "before_fit": self.before.as_ref().map(BeforeFit::json),
            "fits": self.fits.iter().map(StepFit::json).collect::<Vec<_>>(),
            "refused": self.refused,
            "said": self.summary(),
        })
    }

    /// Divisors of the steps in one fit after another, from what result files keep; `None` if nothing was chosen.
    pub fn of_json(chosen: &Value) -> Option<Steps> {
        let fits = chosen["fits"].as_array()?.iter();
        let parts: Option<Vec<usize>> =
            fits.map(|fit| fit["divided_by"].as_u64().and_then(|parts| usize::try_from(parts).ok())).collect();
        Some(Steps::Repeated(parts?))
    }
}
