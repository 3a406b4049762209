//! Constraints of an identification (not those of a mechanism): on the parameters, and on outputs over time.
//!
//! A constraint holds a value between two limits, which are the same for an equality. The value is a sum of parameters, any
//! smooth function of them ([`ParameterFunction`]), or an output at every time of a window, where each time has a multiplier
//! of its own: so a limit of a peak is smooth.
//!
//! ```
//! use costate_identify::constraint::Constraint;
//! # use costate::{Parameter, Signature};
//! # let signature = Signature::new("cart").outputs([("a", "m/s^2")])
//! #     .parameters([Parameter::new("m_1", "kg", 1.0), Parameter::new("m_2", "kg", 2.0)]);
//! let total = Constraint::parse("m_1 + m_2 = 3.5", &signature)?;
//! let order = Constraint::parse("m_1 <= m_2", &signature)?;
//! let limit = Constraint::parse("peak a <= 12", &signature)?;
//! let end = Constraint::parse("a = 0 at end", &signature)?.named("rest");
//! assert_eq!((total.name.as_str(), total.unit.as_str()), ("m_1 + m_2 = 3.5", "kg"));
//! # Ok::<(), costate_identify::Error>(())
//! ```
//!
//! Put them into [`Problem::constraints`]; [`identify`](fn@crate::identify) goes by an augmented Lagrangian
//! ([`minimise_constrained`](crate::optimise::minimise_constrained)) around whichever method it is asked for.

mod augmented;
mod held;
mod result;
mod rule;
mod search;

pub use augmented::AugmentedCost;
pub(crate) use held::{equalities, held_directions};
pub(crate) use search::{Constrained, results};

pub use result::ConstraintResult;
pub use rule::ConstraintSetting;

use crate::optimise::Limit;
use crate::problem::Problem;
use crate::{Error, Means, Remedy, Result};
use costate::linearise::{DifferentiatedFunction, Function, ParameterFunction};
use costate::shown::number;
use costate::{Signature, TimeGrid};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Window of times in which a constraint on an output holds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Window {
    /// First time, s.
    pub from: Option<f64>,
    /// Up to this time, s.
    pub until: Option<f64>,
    /// True if the constraint holds at the last time only.
    pub at_end: bool,
}

impl Window {
    /// True if the window is a part of the run only.
    pub fn is_given(&self) -> bool {
        *self != Window::default()
    }

    /// Numbers of the times of the grid in the window; `None` if there is none.
    pub fn indices(&self, grid: &TimeGrid) -> Option<RangeInclusive<usize>> {
        let (times, last) = (grid.times(), grid.count());
        if self.at_end {
            return Some(last..=last);
        }
        let slack = 1e-6 * (times[last] - times[0]) / last as f64;
        let first = self.from.map_or(0, |from| times.partition_point(|t| *t < from - slack));
        let end = self.until.map_or(times.len(), |until| times.partition_point(|t| *t <= until + slack));
        (first < end).then(|| first..=end - 1)
    }
}

/// A value that is held between limits.
#[derive(Clone)]
pub enum Value {
    /// Σ weight u_k over places k of parameters.
    Sum(Vec<(usize, f64)>),
    /// A function of the parameters.
    Function(Arc<dyn Function>),
    /// An output at every time of a window.
    Output {
        /// Place of the output in the signature.
        output: usize,
        /// Window of times in which the constraint holds.
        window: Window,
    },
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Sum(terms) => f.debug_tuple("Sum").field(terms).finish(),
            Value::Function(_) => f.write_str("Function"),
            Value::Output { output, window } => {
                f.debug_struct("Output").field("output", output).field("window", window).finish()
            }
        }
    }
}

impl Value {
    /// The function of the parameters, if it is one.
    fn of_parameters(&self) -> Option<&dyn Function> {
        match self {
            Value::Sum(terms) => Some(terms),
            Value::Function(function) => Some(&**function),
            Value::Output { .. } => None,
        }
    }
}

/// A value between limits.
#[derive(Debug, Clone)]
pub struct Constraint {
    /// Name in reports.
    pub name: String,
    /// Unit of the value.
    pub unit: String,
    /// The value that is held.
    pub value: Value,
    /// Smallest value, `-inf` for none.
    pub lower: f64,
    /// Largest value, `inf` for none; the same as `lower` for an equality.
    pub upper: f64,
    /// A change of the value that matters. By default: of parameters, the change that their sizes make; of an output, its
    /// limit or its largest value at the start, whichever is larger.
    pub size: Option<f64>,
}

impl Constraint {
    /// Constraint from a rule, such as `m_1 + 2 m_2 = 3.5`, `m_1 <= m_2`, `peak a <= 12`, `-3 <= a <= 3 from 1 until 2`, `|a| <= 3`,
    /// `a = 0 at end`.
    ///
    /// # Errors
    /// What is wrong with the text, in a sentence; unknown names, with the nearest known one.
    pub fn parse(rule: &str, signature: &Signature) -> Result<Self> {
        ConstraintSetting::parse(rule)?.resolve(signature)
    }

    /// Any smooth function of the parameters; give it limits.
    pub fn function(name: &str, unit: &str, function: impl ParameterFunction + 'static) -> Self {
        let value = Value::Function(Arc::new(DifferentiatedFunction(function)));
        let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
        Constraint { name: name.into(), unit: unit.into(), value, lower, upper, size: None }
    }

    /// The constraint value = `limit`.
    pub fn equals(self, limit: f64) -> Self {
        Constraint { lower: limit, upper: limit, ..self }
    }

    /// The constraint with value <= `limit`.
    pub fn at_most(self, limit: f64) -> Self {
        Constraint { upper: limit, ..self }
    }

    /// The constraint with value >= `limit`.
    pub fn at_least(self, limit: f64) -> Self {
        Constraint { lower: limit, ..self }
    }

    /// The constraint under another name.
    pub fn named(self, name: &str) -> Self {
        Constraint { name: name.into(), ..self }
    }

    /// True if both limits are the same.
    pub fn is_equality(&self) -> bool {
        self.lower == self.upper
    }

    /// `constraint `total mass``, for messages.
    fn place(&self) -> String {
        format!("constraint `{}`", self.name)
    }

    fn with_unit(&self, value: f64) -> String {
        format!("{} {}", number(value), self.unit).trim_end().to_string()
    }

    /// Checks the constraint within its problem.
    ///
    /// # Errors
    /// Limits that exclude every value, nothing that could be changed, a window without times, a limit that the bounds
    /// exclude.
    pub fn validate(&self, problem: &Problem) -> Result<()> {
        let wrong = |what: String, remedy: &str| Err(Error::invalid(self.place(), what, remedy));
        let (lower, upper) = (self.lower, self.upper);
        if lower.is_nan() || upper.is_nan() || lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            return wrong(format!("no value lies between {lower} and {upper}"), "give a lower limit <= the upper one");
        }
        if lower == f64::NEG_INFINITY && upper == f64::INFINITY {
            return wrong("it has no limit".into(), "say `equals`, `at_most` or `at_least`");
        }
        if self.size.is_some_and(|size| !(size.is_finite() && size > 0.0)) {
            return wrong("its size is not positive".into(), "give a positive number, or leave it out");
        }
        match &self.value {
            Value::Sum(terms) => self.validate_sum(problem, terms),
            Value::Function(function) => {
                let value = function.value(&problem.start);
                if value.is_finite() {
                    return Ok(());
                }
                wrong(format!("its value at the start is {value}"), "start where it is finite")
            }
            Value::Output { output, window } => {
                if *output >= problem.first().simulation.signature().outputs.len() {
                    return wrong(format!("there is no output {output}"), "use a place from the signature");
                }
                if problem.first().cost.sensors().is_some_and(|sensors| sensors.of(*output).is_some()) {
                    let what = "its output is compared by a sensor with gain, bias or delay";
                    return wrong(what.into(), "let the model have a second output of the same, and constrain that");
                }
                let times = problem.first().simulation.grid().times();
                match window.indices(problem.first().simulation.grid()) {
                    Some(_) => Ok(()),
                    None => {
                        let (first, last) = (times[0], times[times.len() - 1]);
                        let problem = format!(
                            "no time lies between {} s and {} s (the simulation covers {first} s to {last} s)",
                            window.from.unwrap_or(first),
                            window.until.unwrap_or(last)
                        );
                        wrong(problem, "widen `from` and `until`")
                    }
                }
            }
        }
    }

    fn validate_sum(&self, problem: &Problem, terms: &[(usize, f64)]) -> Result<()> {
        let wrong = |what: String, remedy: &str| Err(Error::invalid(self.place(), what, remedy));
        let Some(parameters) = terms.iter().map(|(k, _)| problem.parameters.get(*k)).collect::<Option<Vec<_>>>() else {
            return wrong("it names a parameter that is not there".into(), "use places from the signature");
        };
        let names = |list: Vec<String>| list.join(", ");
        if parameters.iter().all(|p| !p.free) {
            let list = terms.iter().zip(&parameters);
            let list = names(list.map(|((k, _), p)| format!("{} = {}", named(p), number(problem.start[*k]))).collect());
            let problem = format!("all that it names is fixed ({list}), so that nothing can be changed");
            let remedy = Remedy::by("leave the constraint out, or free one of them", Means::Free(None));
            return Err(Error::invalid(self.place(), problem, remedy));
        }
        let ends = |p: &costate::Parameter, k: usize| {
            if p.free { (p.lower, p.upper) } else { (problem.start[k], problem.start[k]) }
        };
        let (mut least, mut most, mut magnitude) = (0.0, 0.0, 0.0f64);
        for ((k, weight), p) in terms.iter().zip(&parameters) {
            let (low, high) = ends(p, *k);
            let (a, b) = (weight * low, weight * high);
            (least, most) = (least + a.min(b), most + a.max(b));
            magnitude = [a, b].into_iter().filter(|x| x.is_finite()).fold(magnitude, |m, x| m.max(x.abs()));
        }
        let slack = 1e-12 * magnitude;
        if least > self.upper + slack || most < self.lower - slack {
            let list = names(
                terms
                    .iter()
                    .zip(&parameters)
                    .map(|((k, _), p)| {
                        let (low, high) = ends(p, *k);
                        format!("{} in [{}, {}]", named(p), number(low), number(high))
                    })
                    .collect(),
            );
            let side = if least > self.upper {
                format!("at least {}", self.with_unit(least))
            } else {
                format!("at most {}", self.with_unit(most))
            };
            let limit = if least > self.upper { self.upper } else { self.lower };
            let problem = format!("it wants {}, but the bounds make it {side} ({list})", self.with_unit(limit));
            return wrong(problem, "move the limit, or widen the bounds");
        }
        Ok(())
    }

    /// The limits as the optimiser sees them. `peak`: the largest magnitude of the output in the window at the start.
    fn limit(&self, problem: &Problem, peak: f64) -> Limit {
        let known =
            [self.lower, self.upper].into_iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
        let natural = match self.value.of_parameters() {
            None => known.max(peak),
            Some(function) => {
                let mut gradient = vec![0.0; problem.start.len()];
                function.add_gradient(&problem.start, 1.0, &mut gradient);
                let change =
                    problem.free().into_iter().map(|k| (gradient[k] * problem.size(k)).powi(2)).sum::<f64>().sqrt();
                if change > 0.0 { change } else { known }
            }
        };
        let natural = if natural.is_finite() && natural > 0.0 { natural } else { 1.0 };
        Limit::between(self.lower, self.upper).sized(self.size.unwrap_or(natural))
    }
}

fn named(parameter: &costate::Parameter) -> String {
    format!("`{}`", parameter.name)
}
