//! Result of a constraint.

use super::augmented::Rows;
use super::{Constraint, Value};
use crate::optimise::Limit;
use crate::problem::Problem;
use crate::table::table;
use costate::shown::{number, rounded};

/// A constraint at the end of a search. The Lagrangian is J + Σ λ (value - limit): λ >= 0 at an upper limit, λ <= 0 at a
/// lower one, and raising the limit by one unit changes the least cost by -λ (to first order).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ConstraintResult {
    /// Name of the constraint.
    pub name: String,
    /// Unit of value and limits; multipliers are cost per this unit.
    pub unit: String,
    /// The value; of an output over time, the one that is nearest to its limit or farthest beyond it.
    pub value: f64,
    /// Smallest value allowed; in JSON null where there is none.
    pub lower: f64,
    /// Largest value allowed; in JSON null where there is none.
    pub upper: f64,
    /// Distance of the value beyond a limit, in its unit; 0 if it is not.
    pub violation: f64,
    /// True if the violation is more than the tolerance.
    pub violated: bool,
    /// True if the value is at a limit, within the tolerance, so that the limit matters.
    pub active: bool,
    /// λ, cost per unit; of an output over time, the sum over all times.
    pub multiplier: f64,
    /// -λ: change of the least cost per unit by which the limit is raised.
    pub cost_by_limit: f64,
    /// Time at which the value occurs, s; for outputs.
    pub time: Option<f64>,
    /// Number of times at which the constraint acts; 1 or 0 for parameters.
    pub acting: usize,
    /// Numbers and multipliers of these times; number 0 for parameters.
    #[serde(skip)]
    pub(crate) multipliers: Vec<(usize, f64)>,
    #[serde(skip)]
    pub(crate) place: usize,
}

impl ConstraintResult {
    pub(super) fn of(
        constraint: &Constraint,
        rows: &Rows,
        problem: &Problem,
        c: &[f64],
        multipliers: &[f64],
        tolerance: f64,
    ) -> Self {
        let (lower, upper) = (constraint.lower, constraint.upper);
        let limit = Limit::between(lower, upper);
        // > 0: beyond a limit; < 0: so far from the nearer one
        let beyond = |c: f64| (c - upper).max(lower - c);
        // a constraint has one value at least
        let worst = (0..c.len()).max_by(|&a, &b| beyond(c[a]).total_cmp(&beyond(c[b]))).unwrap_or(0);
        let first = rows.output.as_ref().map_or(0, |(_, times)| *times.start());
        let is_output = matches!(constraint.value, Value::Output { .. });
        let violation = limit.violation_by(c[worst]).abs();
        let acting = multipliers.iter().enumerate().filter(|(_, m)| **m != 0.0);
        let acting: Vec<(usize, f64)> = acting.map(|(i, m)| (first + i, *m)).collect();
        let multiplier: f64 = multipliers.iter().sum();
        ConstraintResult {
            name: constraint.name.clone(),
            unit: constraint.unit.clone(),
            value: c[worst],
            lower,
            upper,
            violation,
            violated: violation > tolerance,
            active: constraint.is_equality() || beyond(c[worst]) >= -tolerance,
            multiplier,
            cost_by_limit: if multiplier == 0.0 { 0.0 } else { -multiplier },
            time: is_output.then(|| problem.first().simulation.grid().times()[first + worst]),
            acting: acting.len(),
            multipliers: acting,
            place: problem.constraints.iter().position(|other| std::ptr::eq(other, constraint)).unwrap_or(0),
        }
    }

    /// True if statistics hold the constraint: an equality, or a limit that acts.
    pub(crate) fn is_held(&self) -> bool {
        self.lower == self.upper || self.multiplier != 0.0
    }

    /// `= 3.5`, `<= 12` or `-3 .. 3`.
    fn limits(&self) -> String {
        match (self.lower, self.upper) {
            (lower, upper) if lower == upper => format!("= {}", number(upper)),
            (f64::NEG_INFINITY, upper) => format!("<= {}", number(upper)),
            (lower, f64::INFINITY) => format!(">= {}", number(lower)),
            (lower, upper) => format!("{} .. {}", number(lower), number(upper)),
        }
    }

    fn status(&self) -> String {
        let times =
            if self.time.is_some() && self.acting > 1 { format!(" at {} times", self.acting) } else { String::new() };
        match () {
            () if self.violated => format!("VIOLATED by {}", rounded(self.violation, 3)),
            () if self.active => format!("active{times}"),
            () => "not active".to_string(),
        }
    }

    /// The constraints as a table, with the meaning of the multipliers below it.
    pub fn table(results: &[ConstraintResult]) -> String {
        let rows = results.iter().map(|r| {
            let when = r.time.map_or(String::new(), |t| format!("{} s", number(t)));
            let value = number(r.value);
            vec![r.name.clone(), value, r.limits(), r.unit.clone(), r.status(), rounded(r.multiplier, 6), when]
        });
        let header = ["constraint", "value", "limit", "unit", "status", "multiplier", "when"];
        let meaning = "multiplier: the least cost changes by minus this per unit by which the limit is raised";
        format!("{}\n{meaning}", table(&header, &rows.collect::<Vec<_>>()))
    }

    /// The worst violation in a sentence, if there is one beyond the tolerance.
    pub fn worst(results: &[ConstraintResult], penalty: f64) -> Option<String> {
        let part = |r: &ConstraintResult| r.violation / r.value.abs().max(r.violation);
        let worst = results.iter().filter(|r| r.violated).max_by(|a, b| part(a).total_cmp(&part(b)))?;
        let when = worst.time.map_or(String::new(), |t| format!(" at t = {} s", number(t)));
        Some(format!(
            "constraint `{}` is violated by {} {}{when}: {} where {} is wanted; the penalty reached {}",
            worst.name,
            rounded(worst.violation, 3),
            worst.unit,
            number(worst.value),
            worst.limits(),
            rounded(penalty, 2),
        ))
    }
}
