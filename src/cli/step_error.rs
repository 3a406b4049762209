//! What the size of the time steps makes wrong, as commands say it: estimated from the same run with steps half as long.

use super::console::{tell, waiting};
use crate::error::Error;
use crate::problem::Problem;
use crate::report::rounded;
use crate::signature::Quantity;
use crate::simulate::{Simulation, Trajectory};
use crate::step_error::{StepError, StepErrors};
use serde_json::{Value, json};
use std::time::Instant;

/// A run that took longer, in s, is not repeated with twice as many steps unless somebody asks for it.
const LONGEST: f64 = 10.0;
/// Errors beside the largest value of the unit that are warned of.
const TOO_LARGE: f64 = 0.1;
/// Coordinates that err by less than this part of the largest one show round-off.
const ROUND_OFF: f64 = 1e-12;

/// What is known of the errors of a run.
pub(super) enum Estimate {
    Known(StepErrors),
    /// Why the run with steps half as long fails.
    Failed(String),
    /// Why there is none.
    Unknown(String),
}

impl Estimate {
    /// Of `run`, which took so many seconds.
    pub(super) fn of(simulation: &Simulation, u: &[f64], run: &Trajectory, seconds: f64) -> Self {
        if seconds > LONGEST {
            return Estimate::Unknown(format!(
                "the run took {} s, and one with steps half as long is not added to it",
                rounded(seconds, 2)
            ));
        }
        let waiting = waiting("the same run with steps half as long", 0);
        let found = StepErrors::of(simulation, u, run);
        drop(waiting);
        match found {
            Ok(errors) => Estimate::Known(errors),
            Err(error @ (Error::Memory { .. } | Error::Interrupted { .. })) => Estimate::Unknown(error.to_string()),
            Err(error) => Estimate::Failed(error.to_string()),
        }
    }

    /// The coordinate that is wrong by too much, the worst one.
    fn misleading(&self) -> Option<&StepError> {
        let Estimate::Known(errors) = self else { return None };
        let largest = errors.coordinates.iter().fold(0.0f64, |largest, error| largest.max(error.size));
        let is_wrong = |worst: &&StepError| worst.relative() > TOO_LARGE && worst.error > ROUND_OFF * largest;
        StepErrors::worst(&errors.coordinates).filter(is_wrong)
    }

    /// Warns on standard error of what is misleading.
    pub(super) fn warn(&self, times: &[f64]) {
        match self {
            Estimate::Failed(reason) => tell(&format!(
                "warning: steps are too large, or the run can hardly be solved: with steps half as long, it fails: {reason}"
            )),
            _ => {
                let Some(StepError { quantity, error, size, over_time, .. }) = self.misleading() else { return };
                // the largest error is above the limit, so there is a first one
                let first = over_time.iter().position(|error| *error > TOO_LARGE * size).unwrap_or(0);
                tell(&format!(
                    "warning: steps are too large: estimated error of `{}` {} from {} s on, beside values up to {}; take \
                     `--tolerance 1e-3`, or a smaller `--step`",
                    quantity.name,
                    with_unit(*error, quantity),
                    rounded(times[first], 3),
                    with_unit(*size, quantity)
                ));
            }
        }
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        match self {
            Estimate::Failed(_) => "time-step error not estimated: with steps half as long, the run fails".to_string(),
            Estimate::Unknown(reason) => format!("time-step error not estimated: {reason}"),
            Estimate::Known(errors) => {
                let of = |what: &str, errors: &[StepError]| {
                    StepErrors::worst(errors).map(|worst| {
                        let StepError { quantity, error, time, .. } = worst;
                        format!(
                            "{what} {} (`{}`, {} at {} s)",
                            beside(worst.relative()),
                            quantity.name,
                            with_unit(*error, quantity),
                            rounded(*time, 3)
                        )
                    })
                };
                let parts = [of("coordinates", &errors.coordinates), of("outputs", &errors.outputs)];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                format!("estimated time-step error, beside the largest value: {}", parts.join(", "))
            }
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let one = |error: &StepError| {
            json!({
                "name": error.quantity.name,
                "unit": error.quantity.unit,
                "error": error.error,
                "time": error.time,
                "relative": error.relative(),
            })
        };
        let all = |errors: &[StepError]| errors.iter().map(one).collect::<Vec<_>>();
        match self {
            Estimate::Failed(reason) => json!({"failure": reason}),
            Estimate::Unknown(reason) => json!({"unknown": reason}),
            Estimate::Known(errors) => json!({
                "coordinates": all(&errors.coordinates),
                "outputs": all(&errors.outputs),
                "too_large": self.misleading().is_some(),
            }),
        }
    }
}

/// Warns of steps that are too large in one of the experiments at `u`, as far as that does not take long.
pub(super) fn warn_of(problem: &Problem, u: &[f64]) {
    let began = Instant::now();
    for experiment in &problem.experiments {
        let (simulation, own) = (&experiment.simulation, experiment.own(u));
        let Ok(run) = simulation.run(&own) else { continue }; // that it fails, is said elsewhere
        Estimate::of(simulation, &own, &run, began.elapsed().as_secs_f64()).warn(run.times());
        if began.elapsed().as_secs_f64() > LONGEST {
            break;
        }
    }
}

fn with_unit(value: f64, quantity: &Quantity) -> String {
    let unit = if quantity.unit == "1" { "" } else { &quantity.unit };
    format!("{} {unit}", rounded(value, 2)).trim_end().to_string()
}

/// `1.2 %`, or `17 times the value`
fn beside(part: f64) -> String {
    if part <= 1.0 { format!("{} %", rounded(100.0 * part, 2)) } else { format!("{} times that", rounded(part, 2)) }
}
