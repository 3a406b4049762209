//! Steps that are chosen before a fit: at the start, where those of the problem make errors as large as what is to be explained.
//!
//! A search over a model that mostly shows its own step errors ends in a wrong valley, or where nothing falls any more, and a check after it comes too
//! late. So the start is run with its steps, and with steps divided by two, again and again: the difference of two runs is three quarters of the error of
//! the coarser one, if that is of second order. Where it is more than a tenth of the data's spread, or of the residuals where these are larger, steps are
//! divided until it is not. A start that fails with the problem's steps takes the first ones with which it runs.

use super::{MOST_SUBSTEPS, in_words, setting};
use crate::problem::Problem;
use crate::statistics::{OutputFit, fits};
use costate::parallel::in_parallel;
use costate::shown::rounded;
use serde_json::{Value, json};
use std::convert::Infallible;

/// Errors at the start are larger than this part of what is to be explained where steps are divided.
const TOO_LARGE: f64 = 0.1;
/// Steps are divided by no more than this before a fit: half as much is tried at last.
const MOST_PARTS: usize = 16;
/// Errors that have not halved where steps are divided by this will not fall: the motion is chaotic, or jumps.
const PATIENCE: usize = 8;
/// The error of a run beside its difference to one with half the steps, at second order.
const OF_SECOND_ORDER: f64 = 4.0 / 3.0;

/// An output with the error that steps make in it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputError {
    /// The output that is worst with the problem's steps.
    pub output: String,
    /// Root mean square of its estimated error, beside the data's spread or the residuals, whichever is larger.
    pub relative: f64,
}

/// Estimate of the time steps' error before a fit, and the division of the steps that follows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BeforeFit {
    /// Divisor of the problem's steps; 1: they stay.
    pub divided_by: usize,
    /// Steps between two samples as given, if they are as many in all experiments.
    pub substeps: Option<usize>,
    /// The worst error with the problem's steps; `None` where they fail.
    pub error: Option<OutputError>,
    /// The worst error with the steps that were chosen; where none were, with the finest that were tried.
    pub error_after: Option<OutputError>,
    /// Reason why the start fails with the problem's steps, if it does.
    pub failure: Option<String>,
}

impl BeforeFit {
    /// Estimate for a problem at parameters `u`, by runs of all experiments; `None` where its steps will do, or nothing can be said: the
    /// reference is a run with these steps itself, or memory is too small.
    pub fn of(problem: &Problem, u: &[f64]) -> Option<Self> {
        if problem.optimum.is_some() || problem.least_squares().is_none() || problem.is_of_given_motions() {
            return None;
        }
        let most = (MOST_SUBSTEPS / problem.substeps().unwrap_or(1)).clamp(1, MOST_PARTS);
        let (mut failure, mut errors) = (None, Vec::new());
        let mut before: Option<(usize, Vec<OutputFit>)> = None;
        let run = |parts: usize| match parts {
            1 => fits(problem, &problem.experiments, u),
            parts => problem.divided(parts).and_then(|finer| fits(&finer, &finer.experiments, u)),
        };
        // the first two are always asked for; the second one takes twice the memory
        let threads = problem.divided(2).and_then(|finer| finer.at_once()).unwrap_or(1);
        let ahead = in_parallel(&mut [1, 2], threads, |_, parts| Ok::<_, Infallible>(run(*parts)));
        let mut ahead = ahead.into_iter().flatten();
        let mut parts = 1;
        while parts <= 2 * most {
            let own = match ahead.next().unwrap_or_else(|| run(parts)) {
                Ok(own) => Some((parts, own)),
                // finer steps of a motion that grows without limit may fail where coarse ones do not
                Err(error) if error.is_simulation_failure() && before.is_some() => break,
                Err(error) if error.is_simulation_failure() => {
                    failure = failure.or(Some(error.to_string()));
                    None
                }
                Err(_) => return None,
            };
            if let (Some((coarse_parts, coarse)), Some((_, finer))) = (&before, &own) {
                let error = worst(coarse, finer)?;
                let is_small = error.relative <= TOO_LARGE;
                errors.push((*coarse_parts, error));
                if is_small || has_not_fallen(&errors) {
                    break;
                }
            }
            before = own;
            parts *= 2;
        }
        BeforeFit::chosen(errors, failure, problem.substeps())
    }

    /// The problem with these steps; `None` where they stay, or do not fit into memory, so that a fit keeps those that are given.
    pub fn taken(&self, problem: &Problem) -> Option<Problem> {
        if self.divided_by > 1 { problem.divided(self.divided_by).ok() } else { None }
    }

    /// An earlier choice once more.
    pub(super) fn repeated(divided_by: usize, substeps: Option<usize>) -> Self {
        BeforeFit { divided_by, substeps, error: None, error_after: None, failure: None }
    }

    /// Choice from errors by divisors, which ascend.
    fn chosen(errors: Vec<(usize, OutputError)>, failure: Option<String>, substeps: Option<usize>) -> Option<Self> {
        let first = errors.first().cloned();
        let (last_parts, last) = errors.last().cloned()?;
        let is_small = last.relative <= TOO_LARGE;
        let divided_by = match &failure {
            _ if is_small => last_parts,
            Some(_) => first.as_ref()?.0,
            None => 1,
        };
        if divided_by == 1 && is_small {
            return None;
        }
        let error = if failure.is_none() { first.map(|(_, error)| error) } else { None };
        Some(BeforeFit { divided_by, substeps, error, error_after: Some(last), failure })
    }

    /// Sentence on what was found, and what follows.
    pub fn sentence(&self) -> String {
        let substeps = self.substeps;
        let finer = substeps.map(|substeps| substeps * self.divided_by);
        let percent = |error: &OutputError| format!("{} %", rounded(100.0 * error.relative, 2));
        let why = match (&self.failure, &self.error, &self.error_after) {
            (Some(reason), ..) => format!("with {}, the start fails ({reason})", in_words(1, substeps)),
            (None, Some(error), Some(after)) if self.divided_by > 1 => format!(
                "at the start, the error of `{}` with {} is about {} of the data's spread (or of the residuals, if they are larger), and {} with {}",
                error.output,
                in_words(1, substeps),
                percent(error),
                percent(after),
                in_words(self.divided_by, finer)
            ),
            (None, Some(error), Some(after)) => {
                return format!(
                    "time step: at the start, the error of `{}` with {} is about {} of the data's spread (or of the residuals, if they are larger), and {} with the \
                     finest that were tried: the motion there is chaotic, or jumps, and steps stay as they are",
                    error.output,
                    in_words(1, substeps),
                    percent(error),
                    percent(after)
                );
            }
            _ => "as in the earlier result".to_string(),
        };
        format!("time step: {why}: {} chosen for the first fit", setting(self.divided_by, finer))
    }

    /// Warning that steps which somebody has set are too coarse at the start.
    pub fn warning(&self) -> String {
        let percent = |error: &OutputError| format!("{} %", rounded(100.0 * error.relative, 2));
        let finer = setting(self.divided_by, self.substeps.map(|substeps| substeps * self.divided_by));
        let (given, remedy) = (in_words(1, self.substeps), format!("take {finer}, or leave the steps to be chosen"));
        match (&self.failure, &self.error, &self.error_after) {
            (None, Some(error), Some(after)) if self.divided_by > 1 => format!(
                "time step: at the start, the error of `{}` with {given} is about {} of the data's spread (or of the residuals, if they are larger), and {} with \
                 {finer}: {remedy}",
                error.output,
                percent(error),
                percent(after)
            ),
            (None, ..) => self.sentence(),
            (Some(reason), ..) => format!("time step: with {given}, the start fails ({reason}): {remedy}"),
        }
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let error = |error: &Option<OutputError>| {
            error.as_ref().map(|error| json!({"output": error.output, "relative_error": error.relative}))
        };
        json!({
            "divided_by": self.divided_by,
            "with_steps_as_given": error(&self.error),
            "with_these": error(&self.error_after),
            "failure": self.failure,
        })
    }
}

/// The output whose residuals differ most, beside what is to be explained; `None` without any.
fn worst(coarse: &[OutputFit], finer: &[OutputFit]) -> Option<OutputError> {
    let of = |(coarse, finer): (&OutputFit, &OutputFit)| {
        let error = OF_SECOND_ORDER * coarse.distance(finer);
        let size = finer.size.max(finer.rmse());
        OutputError { output: finer.name.clone(), relative: if error == 0.0 { 0.0 } else { error / size } }
    };
    coarse.iter().zip(finer).map(of).max_by(|a, b| a.relative.total_cmp(&b.relative))
}

fn has_not_fallen(errors: &[(usize, OutputError)]) -> bool {
    let (Some((_, first)), Some((parts, last))) = (errors.first(), errors.last()) else { return false };
    *parts >= PATIENCE && last.relative > 0.5 * first.relative
}
