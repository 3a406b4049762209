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
    /// By how much the gradient differs, beside its largest entry there or beside the cost; entries times the sizes of their parameters.
    difference: f64,
    /// True if the cost is what it is measured by, as hardly anything is left of the gradient.
    is_flat: bool,
}

impl AtHalf {
    /// Compares cost and gradient at `u` with those at half the step, as far as that does not take long and means something: at a perfect
    /// fit, both are round-off.
    pub(super) fn of(problem: &Problem, u: &[f64], (cost, slope): (f64, &[f64]), began: Instant) -> Option<Self> {
        const PERFECT: f64 = 1e-12;
        /// A sum of squares is about as large as its gradient at a parameter that is off by its own size, and of an optimum the gradient is round-off
        /// while the sum is not. Other costs may count from anywhere.
        const FLAT: [f64; 2] = [1.0, 1e-4];
        let sums = problem.least_squares();
        let scale: f64 = sums.iter().flatten().map(|cost| cost.scale()).sum();
        if began.elapsed().as_secs_f64() > LONGEST || scale > 0.0 && cost <= PERFECT * scale {
            return None;
        }
        let waiting = waiting("the gradient at half the step", 0);
        // that it may fail, is said of the run
        let (cost, halved) = match sums {
            None => problem.own_cost_at_half(u)?,
            Some(_) => {
                let (finer, mut halved) = (problem.halved().ok()?, vec![0.0; u.len()]);
                (finer.gradient().ok()?.cost_and_gradient(u, Method::Adjoint, &mut halved).ok()?, halved)
            }
        };
        drop(waiting);
        let largest = |value: &dyn Fn(usize) -> f64| {
            problem.free().into_iter().map(|k| (value(k) * problem.size(k)).abs()).fold(0.0, f64::max)
        };
        let own_size = largest(&|k| halved[k]);
        let is_flat = own_size.max(largest(&|k| slope[k])) < FLAT[usize::from(sums.is_none())] * cost.abs();
        let difference = largest(&|k| halved[k] - slope[k]) / if is_flat { cost.abs() } else { own_size };
        difference.is_finite().then_some(AtHalf { cost, difference, is_flat })
    }

    pub(super) fn warn(&self, finer: &str) {
        if self.difference > TOO_LARGE {
            tell(&format!("warning: steps are too large: {}; {finer}", self.text()));
        }
    }

    pub(super) fn text(&self) -> String {
        let AtHalf { cost, difference, is_flat } = self;
        let difference = percent(*difference);
        let beside = match is_flat {
            true => "the cost, beside which it is small (times the parameters' sizes)",
            false => "its largest entry",
        };
        format!("at half the step the cost is {cost:.4e}, and the gradient differs by {difference} of {beside}")
    }

    pub(super) fn json(&self) -> Value {
        let beside = if self.is_flat { "cost" } else { "largest entry" };
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
