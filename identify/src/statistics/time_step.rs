//! Shift of the optimum with the time step, and with the interpolation of inputs between their samples.
//!
//! The residuals and their derivatives at the parameters that were found, from a run at half the step with the same samples, give
//! the optimum there by one Gauss-Newton step: it is small, and the next one negligible. See `docs/residuals.md`.

use super::direction::Direction;
use super::fit::{Determinacy, ParameterStatistics, Statistics};
use super::identifiability::{Identifiability, analysed, said_of_steps_alone};
use super::residuals;
use crate::problem::Problem;
use crate::{Error, Result};
use crate::{Identification, Status};
use costate::parallel::in_parallel;
use costate::shown::rounded;
use costate::{Interpolation, Signal};
use serde_json::{Value, json};

/// A shift of fewer standard errors does not matter.
const NEGLIGIBLE: f64 = 0.1;

/// Parameters that are named in a sentence.
const NAMED: usize = 3;

/// Shift of a parameter's optimum.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Shift {
    /// Name of the parameter.
    pub name: String,
    /// Unit of the parameter.
    pub unit: String,
    /// The change of the optimum, in the parameter's unit.
    pub shift: f64,
    /// The shift in standard errors.
    pub standard_errors: f64,
}

impl Shift {
    /// JSON for programs.
    pub(crate) fn json(&self) -> Value {
        let Shift { name, unit, shift, standard_errors } = self;
        json!({"name": name, "unit": unit, "shift": shift, "standard_errors": standard_errors})
    }
}

/// Shifts of the optimum at half the time step.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeStep {
    /// Shifts from the optimum at the step to that at half of it, the largest in standard errors first. At second order, the optimum of
    /// vanishing steps is 4/3 as far.
    pub shifts: Vec<Shift>,
    /// Divisor of the steps so that another halving does not matter any more, if a shift falls to a quarter with each;
    /// 1 where nothing need be done.
    pub divide_by: usize,
    /// Steps between two samples that would be, if they are now as many in all experiments.
    pub substeps: Option<usize>,
    /// Shifts from straight lines between the samples of inputs to cubic splines, at half the step; `None` if there are no straight lines.
    pub smoothed: Option<Vec<Shift>>,
    /// Shifts from cubic splines to straight lines between the samples of inputs, at half the step; `None` if there are no splines.
    pub straightened: Option<Vec<Shift>>,
}

/// The check of the time step.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeStepCheck {
    /// The check was made.
    Made(TimeStep),
    /// The check was not made, for this reason.
    Skipped(String),
}

impl Statistics {
    /// The statistics with a check of the time step, and of the interpolation of inputs, by a run with tangents at half the step for each. Where
    /// the check means nothing or fails, the reason is kept instead.
    pub fn with_time_step(mut self, problem: &Problem, found: &Identification) -> Self {
        self.set_apart_what_steps_tell(problem, found);
        let check = match self.no_use(problem, found) {
            Some(reason) => TimeStepCheck::Skipped(reason.to_string()),
            None => match self.check(problem, found) {
                Ok(made) => TimeStepCheck::Made(made),
                Err(error) => TimeStepCheck::Skipped(format!("at half the step: {error}")),
            },
        };
        if let TimeStepCheck::Made(made) = &check {
            self.warnings.extend(made.warnings());
        }
        self.time_step = Some(check);
        self
    }

    /// Takes directions that only the error of steps tells for what they are, undetermined ones, before anything else is said.
    fn set_apart_what_steps_tell(&mut self, problem: &Problem, found: &Identification) {
        // without runs at half the step, nothing is known of them, which the check of the step says
        let Ok(directions) = self.identifiability.by_steps_alone(problem, &found.values()) else { return };
        for name in directions.iter().flat_map(Direction::names) {
            for own in self.parameters.iter_mut().filter(|own| own.name == name) {
                own.determinacy = Determinacy::Undetermined;
                own.standard_error = f64::INFINITY;
                own.intervals = [(f64::NEG_INFINITY, f64::INFINITY); 3];
                own.beyond_bounds = None;
            }
            if let Some(place) = self.identifiability.parameters.iter().position(|own| own.name == name) {
                for matrix in [&mut self.covariance, &mut self.correlation] {
                    matrix.row_mut(place).fill(f64::NAN);
                    matrix.column_mut(place).fill(f64::NAN);
                }
            }
        }
        let said = said_of_steps_alone(problem, &directions);
        self.warnings.splice(0..0, said);
    }

    /// Reason why a check would mean nothing.
    fn no_use(&self, problem: &Problem, found: &Identification) -> Option<&'static str> {
        if problem.optimum.is_some() {
            return Some("the reference is a simulation with the same step, against which the step has no error");
        }
        if problem.is_of_given_motions() {
            return Some("the motion is given: nothing is integrated, and steps make no error");
        }
        if self.is_noise_free {
            return Some("the data are reproduced to round-off: there is no standard error to compare a shift with");
        }
        if !found.outcome.converged {
            return Some("the search did not converge, or was interrupted");
        }
        if found.constraints.iter().any(|constraint| constraint.is_held()) {
            return Some("constraints act, and the optimum moves along them");
        }
        let is_known = |p: &ParameterStatistics| p.standard_error.is_finite() && p.standard_error > 0.0;
        (!self.parameters.iter().any(is_known)).then_some("no parameter has a standard error to compare a shift with")
    }

    fn check(&self, problem: &Problem, found: &Identification) -> Result<TimeStep> {
        let u = found.values();
        let moved: Vec<usize> = (0..u.len()).filter(|&k| found.parameters[k].status == Status::Free).collect();
        let step = |problem: &Problem| {
            let fitted = residuals::collect(problem, &u)?.fitted;
            let parameters = analysed(problem, &u, &moved);
            Ok::<_, Error>(Identifiability::of(&fitted, parameters)?.newton_step(&fitted))
        };
        // at half the step as they are, and with each interpolation that is met exchanged for the other one
        let others = [(Interpolation::Linear, Interpolation::Cubic), (Interpolation::Cubic, Interpolation::Linear)];
        let mut asked: Vec<Option<(Interpolation, Interpolation)>> = vec![None];
        asked.extend(others.iter().filter(|(from, _)| is_met(problem, *from)).map(|other| Some(*other)));
        // of several experiments, each run is divided among threads itself; these take twice the memory
        let threads = if problem.experiments.len() == 1 { problem.divided(2)?.at_once()? } else { 1 };
        let found = in_parallel(&mut asked.clone(), threads, |_, asked| {
            step(&match *asked {
                None => problem.divided(2)?,
                Some((from, to)) => problem.divided_with(2, &|signal: &Signal| Ok(signal.interpolated(from, to)?))?,
            })
        })?;
        let at_half = &found[0];
        let shifts = self.shifts(&moved, at_half);
        let (divide_by, substeps) = finer(problem, &shifts);
        let [smoothed, straightened] = others.map(|other| {
            let place = asked.iter().position(|asked| *asked == Some(other))?;
            let change: Vec<f64> = found[place].iter().zip(at_half).map(|(other, own)| other - own).collect();
            Some(self.shifts(&moved, &change))
        });
        Ok(TimeStep { shifts, divide_by, substeps, smoothed, straightened })
    }

    fn shifts(&self, moved: &[usize], changes: &[f64]) -> Vec<Shift> {
        let known = moved.iter().zip(changes).map(|(&k, change)| (&self.parameters[k], *change));
        let known = known.filter(|(parameter, _)| parameter.standard_error.is_finite());
        let mut shifts: Vec<Shift> = known
            .map(|(parameter, shift)| Shift {
                name: parameter.name.clone(),
                unit: parameter.unit.clone(),
                shift,
                standard_errors: shift / parameter.standard_error,
            })
            .collect();
        shifts.sort_by(|a, b| b.standard_errors.abs().total_cmp(&a.standard_errors.abs()));
        shifts
    }
}

/// Divisor of the steps, and how many substeps that makes.
fn finer(problem: &Problem, shifts: &[Shift]) -> (usize, Option<usize>) {
    let mut left = shifts.first().map_or(0.0, |shift| shift.standard_errors.abs());
    let mut divide_by = 1;
    while left > NEGLIGIBLE && divide_by < 1024 {
        (left, divide_by) = (0.25 * left, 2 * divide_by);
    }
    (divide_by, problem.substeps().map(|substeps| divide_by * substeps))
}

/// True if an input is interpolated like this.
fn is_met(problem: &Problem, interpolation: Interpolation) -> bool {
    let mut signals = problem.experiments.iter().flat_map(|experiment| experiment.simulation.signals());
    signals.any(|signal| signal.interpolation() == Some(interpolation))
}

/// `k2` shifts by +2.3 standard errors (+0.1 N/m), `d` by -0.4
pub(crate) fn named(shifts: &[Shift]) -> String {
    let signed = |x: f64, digits: usize| format!("{}{}", if x < 0.0 { "" } else { "+" }, rounded(x, digits));
    let named = shifts.iter().filter(|shift| shift.standard_errors.abs() > NEGLIGIBLE).take(NAMED).enumerate();
    let named = named.map(|(i, Shift { name, unit, shift, standard_errors })| {
        let errors = signed(*standard_errors, 2);
        if i > 0 {
            return format!("`{name}` by {errors}");
        }
        format!("`{name}` shifts by {errors} standard errors ({} {unit})", signed(*shift, 3))
    });
    named.collect::<Vec<_>>().join(", ")
}

/// True if one of the shifts, the largest first, is more than negligible.
pub(crate) fn matters(shifts: &[Shift]) -> bool {
    shifts.first().is_some_and(|shift| shift.standard_errors.abs() > NEGLIGIBLE)
}

impl TimeStep {
    /// Warnings of the check.
    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if matters(&self.shifts) {
            let remedy = match self.substeps {
                Some(substeps) => format!("use substeps = {substeps}"),
                None => {
                    format!("take steps {} times smaller (a tolerance {} times)", self.divide_by, self.divide_by.pow(2))
                }
            };
            warnings.push(format!(
                "time step: {} at half the step, 4/3 as much without any error of the step (at second order); {remedy}",
                named(&self.shifts)
            ));
        }
        if let Some(shifts) = self.smoothed.as_ref().filter(|shifts| matters(shifts)) {
            warnings.push(format!(
                "inputs between their samples: {} with cubic instead of linear interpolation: is the signal smooth between its samples? then --interpolation cubic; has it corners? then linear",
                named(shifts)
            ));
        }
        warnings
    }
}

impl TimeStepCheck {
    /// Sentences that are no warnings.
    pub(super) fn summary(&self) -> Vec<String> {
        let TimeStepCheck::Made(made) = self else { return Vec::new() };
        let mut lines = Vec::new();
        if !matters(&made.shifts) {
            let most = made.shifts.first().map_or(0.0, |shift| shift.standard_errors.abs());
            let most = rounded(most, 1);
            lines.push(format!("time step: no parameter shifts by more than {most} standard errors at half the step"));
        }
        // splines are what somebody has asked for
        if let Some(shifts) = made.straightened.as_ref().filter(|shifts| matters(shifts)) {
            lines.push(format!(
                "inputs between their samples: {} with linear instead of cubic interpolation",
                named(shifts)
            ));
        }
        lines
    }

    /// JSON for programs.
    pub(super) fn json(&self) -> Value {
        let made = match self {
            TimeStepCheck::Skipped(reason) => return json!({"checked": false, "reason": reason}),
            TimeStepCheck::Made(made) => made,
        };
        let at_half = made.shifts.iter().map(|own| {
            let mut entry = own.json();
            entry["shift_without_step_error"] = json!(4.0 / 3.0 * own.shift);
            entry
        });
        let other = |shifts: &Option<Vec<Shift>>| {
            let list = shifts.as_ref().map(|shifts| shifts.iter().map(Shift::json).collect::<Vec<_>>());
            json!(list)
        };
        json!({
            "checked": true,
            "at_half_the_step": at_half.collect::<Vec<_>>(),
            "divide_steps_by": made.divide_by,
            "substeps": made.substeps,
            "cubic_instead_of_linear_inputs": other(&made.smoothed),
            "linear_instead_of_cubic_inputs": other(&made.straightened),
        })
    }
}
