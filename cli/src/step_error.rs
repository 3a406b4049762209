//! What the size of the time steps makes wrong, as commands say it: estimated from the same run with steps half as long.

use super::console::{is_quiet, tell, waiting};
use super::remedy;
use costate::sensitivity::Method;
use costate::shown::{rounded, with_unit};
use costate::step_error::{StepError, StepErrors};
use costate::{Simulation, Trajectory};
use costate_identify::problem::Problem;
use serde_json::{Value, json};
use std::time::Instant;

/// A run that took longer, in s, is not repeated with twice as many steps unless somebody asks for it.
const LONGEST: f64 = 10.0;
/// Errors beside the largest value of the unit that are warned of.
const TOO_LARGE: f64 = 0.1;
/// Gradients that are smaller parts of a cost, which may count from anywhere, are those of an optimum; and such parts of the largest that residuals allow.
const FLAT: f64 = 1e-4;
const FLAT_RESIDUALS: f64 = 0.1;

/// Estimated errors of a run, or why there are none.
pub(super) enum Estimate {
    Known(StepErrors),
    /// The run with steps half as long fails, for this reason.
    Failed(String),
    /// There is no estimate, for this reason.
    Unknown(String),
}

impl Estimate {
    /// Estimates the errors of a run, which took so many seconds; `run`, if it has been kept.
    pub(super) fn of(simulation: &Simulation, u: &[f64], run: Option<&Trajectory>, seconds: f64) -> Self {
        if seconds > LONGEST {
            return Estimate::Unknown(format!(
                "the run took {} s, and one with steps half as long is not added to it",
                rounded(seconds, 2)
            ));
        }
        let waiting = waiting("the same run with steps half as long", 0);
        let found = match run {
            Some(run) => StepErrors::of_run(simulation, u, run),
            None => StepErrors::of(simulation, u),
        };
        drop(waiting);
        match found {
            Ok(errors) => Estimate::Known(errors),
            Err(error @ (costate::Error::Memory { .. } | costate::Error::Interrupted { .. })) => {
                Estimate::Unknown(error.to_string())
            }
            Err(error) => Estimate::Failed(remedy::sentence(&error.into())),
        }
    }

    /// The coordinate that is wrong by too much, the worst one.
    fn misleading(&self) -> Option<&StepError> {
        let Estimate::Known(errors) = self else { return None };
        StepErrors::worst(&errors.coordinates).filter(|worst| worst.relative() > TOO_LARGE)
    }

    /// Warns on standard error of coordinates that are misleading. `finer`: what makes steps smaller.
    pub(super) fn warn(&self, finer: &str) {
        if let Estimate::Failed(reason) = self {
            tell(&format!(
                "warning: steps are too large, or the run can hardly be solved: with steps half as long, it fails: {reason}"
            ));
        }
        let (Estimate::Known(StepErrors { times, .. }), Some(worst)) = (self, self.misleading()) else { return };
        let StepError { quantity, error, size, over_time, .. } = worst;
        // the largest error is above the limit, so there is a first one
        let first = over_time.iter().position(|error| *error > TOO_LARGE * size).unwrap_or(0);
        tell(&format!(
            "warning: steps are too large: estimated error of `{}` {} from {} s on, beside values up to {}; {finer}",
            quantity.name,
            with_unit(*error, &quantity.unit),
            rounded(times[first], 3),
            with_unit(*size, &quantity.unit)
        ));
    }

    /// Text for a person.
    pub(super) fn text(&self) -> String {
        match self {
            Estimate::Failed(_) => "time-step error not estimated: with steps half as long, the run fails".to_string(),
            Estimate::Unknown(reason) => format!("time-step error not estimated: {reason}"),
            Estimate::Known(errors) => {
                let of = |what: &str, worst: Option<&StepError>| {
                    worst.map(|worst| {
                        let StepError { quantity, error, time, .. } = worst;
                        format!(
                            "{what} {} (`{}`, {} at {} s)",
                            beside(worst),
                            quantity.name,
                            with_unit(*error, &quantity.unit),
                            rounded(*time, 3)
                        )
                    })
                };
                let output = errors.worst_output();
                let other = output.filter(|worst| worst.relative() > 1.0).and(errors.worst_output_of_some_size());
                let parts = [
                    of("coordinates", StepErrors::worst(&errors.coordinates)),
                    of("outputs", output),
                    of("other outputs", other),
                ];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                match parts.is_empty() {
                    true => "estimated time-step error: none, as nothing moves but by round-off".to_string(),
                    false => format!("estimated time-step error: {}", parts.join(", ")),
                }
            }
        }
    }

    /// Document for programs.
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

/// Warns of steps that are too large in one of the experiments at `u`, as far as that does not take long and somebody listens.
/// `began`: the time when the runs at `u` began.
pub(super) fn warn_of(problem: &Problem, u: &[f64], finer: &str, began: Instant) {
    for experiment in problem.experiments.iter().filter(|_| !is_quiet()) {
        let (simulation, own) = (&experiment.simulation, experiment.own(u));
        Estimate::of(simulation, &own, None, began.elapsed().as_secs_f64()).warn(finer);
    }
}

/// Effect of the time step on a cost and its gradient.
pub(super) struct AtHalf {
    /// The cost at half the step.
    cost: f64,
    /// By how much the gradient differs, beside something.
    difference: f64,
    beside: Beside,
}

/// What the change of a gradient is compared with.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    /// The largest entry at half the step; entries times the sizes of their parameters.
    Entry,
    /// The cost, at an optimum.
    Cost,
    /// The largest entries that residuals of this size allow, |r| |∂r/∂u|: at an optimum of a least-squares cost.
    Residuals,
}

impl AtHalf {
    /// Compares cost and gradient at `u` with those at half the step, as far as that does not take long and means something: at a perfect
    /// fit, both are round-off; at an optimum, what is left of the gradient is no measure of its change.
    pub(super) fn of(problem: &Problem, u: &[f64], (cost, slope): (f64, &[f64]), began: Instant) -> Option<Self> {
        const PERFECT: f64 = 1e-12;
        let sums = problem.least_squares();
        let scale: f64 = sums.iter().flatten().map(|cost| cost.scale()).sum();
        if began.elapsed().as_secs_f64() > LONGEST || scale > 0.0 && cost <= PERFECT * scale {
            return None;
        }
        let waiting = waiting("the gradient at half the step", 0);
        // that it may fail, is said of the run
        let finer = match sums {
            Some(_) => Some(problem.halved().ok()?),
            None => None,
        };
        let (cost, halved) = match &finer {
            None => problem.own_cost_at_half(u)?,
            Some(finer) => {
                let mut halved = vec![0.0; u.len()];
                (finer.gradient().ok()?.cost_and_gradient(u, Method::Adjoint, &mut halved).ok()?, halved)
            }
        };
        drop(waiting);
        let change: Vec<f64> = halved.iter().zip(slope).map(|(halved, slope)| halved - slope).collect();
        let free = problem.free();
        let largest = |values: &[f64], size: &dyn Fn(usize) -> f64| {
            free.iter().map(|&k| (values[k] * size(k)).abs()).fold(0.0, f64::max)
        };
        let [own, changed] = [&halved, &change].map(|values| largest(values, &|k| problem.size(k)));
        let by_entry = AtHalf { cost, difference: changed / own, beside: Beside::Entry };
        let found = match finer.filter(|_| by_entry.difference > TOO_LARGE) {
            Some(finer) => {
                let costs = finer.least_squares()?;
                let norms = finer.gradient().ok()?.linearise(u, &costs).ok()?.column_norms();
                // of what has no influence, nothing is left
                let bound = |k: usize| if norms[k] > 0.0 { 1.0 / (norms[k] * (2.0 * cost).sqrt()) } else { 0.0 };
                let [own, difference] = [&halved, &change].map(|values| largest(values, &bound));
                let is_flat = own < FLAT_RESIDUALS;
                if is_flat { AtHalf { cost, difference, beside: Beside::Residuals } } else { by_entry }
            }
            None if problem.least_squares().is_none() && own + changed < FLAT * cost.abs() => {
                AtHalf { cost, difference: changed / cost.abs(), beside: Beside::Cost }
            }
            None => by_entry,
        };
        found.difference.is_finite().then_some(found)
    }

    pub(super) fn warn(&self, finer: &str) {
        let limit = if self.beside == Beside::Residuals { TOO_LARGE * FLAT_RESIDUALS } else { TOO_LARGE };
        if self.difference > limit {
            tell(&format!("warning: steps are too large: {}; {finer}", self.text()));
        }
    }

    pub(super) fn text(&self) -> String {
        let AtHalf { cost, difference, beside } = self;
        let difference = percent(*difference);
        let beside = match beside {
            Beside::Entry => "its largest entry",
            Beside::Cost => "the cost, beside which it is small (times the parameters' sizes)",
            Beside::Residuals => "the largest that residuals of this size allow, beside which it is small",
        };
        format!("at half the step the cost is {cost:.4e}, and the gradient differs by {difference} of {beside}")
    }

    pub(super) fn json(&self) -> Value {
        let beside = match self.beside {
            Beside::Entry => "largest-entry",
            Beside::Cost => "cost",
            Beside::Residuals => "largest-of-residuals",
        };
        json!({"cost": self.cost, "largest_difference": self.difference, "beside": beside})
    }
}

/// `1.2 % of the largest value`; of an error that is larger than all values, what these are.
fn beside(error: &StepError) -> String {
    match error.relative() {
        part if part <= 1.0 => format!("{} of the largest value", percent(part)),
        _ => format!("more than the largest value, {}", with_unit(error.size, &error.quantity.unit)),
    }
}

fn percent(part: f64) -> String {
    format!("{} %", rounded(100.0 * part, 2))
}
