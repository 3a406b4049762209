//! Statistics of what bodies weigh, where that is more than parameters say.

use super::Statistics;
use crate::problem::{Experiment, Problem};
use crate::table::table;
use costate::shown::rounded;
use nalgebra::DMatrix;
use serde_json::{Value, json};

/// A quantity of a body, beside its start.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BodyStatistics {
    /// Name of the body; `NAME@EXPERIMENT` where experiments have their own.
    pub body: String,
    /// `mass`, `center_x` .. in the body's axes, `I_xx` .. about the centre of mass (of the plane, `inertia`).
    pub quantity: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Its value with the parameters of the start, which are those of a robot's file.
    pub start: f64,
    /// Its value at the optimum.
    pub value: f64,
    /// To first order; infinite where the data do not determine it, zero where it depends on what is fixed or held alone.
    pub standard_error: f64,
}

/// A quantity of a body at the start and at the optimum, and its derivatives by all parameters of the problem.
struct Row<'p> {
    body: &'p str,
    quantity: &'static str,
    unit: &'static str,
    values: [f64; 2],
    slope: Vec<f64>,
}

/// Part of a parameter's size by which it is varied: derivatives are those of smooth functions, by central differences, right to 1e-9.
const STEP: f64 = 1e-5;

impl Statistics {
    fn rows<'p>(&self, problem: &Problem, experiment: &'p Experiment, u: &[f64]) -> Vec<Row<'p>> {
        let system = experiment.simulation.system();
        let at = |u: &[f64]| costate_parts::bodies(system, &experiment.own(u));
        let [before, found] = [problem.start.as_slice(), u].map(at);
        let mut rows = Vec::new();
        for ((body, now), (_, start)) in found.into_iter().zip(&before) {
            rows.extend(now.into_iter().zip(start).map(|((quantity, unit, value), (_, _, start))| Row {
                body,
                quantity,
                unit,
                values: [*start, value],
                slope: vec![0.0; u.len()],
            }));
        }
        if rows.is_empty() {
            return rows;
        }
        for own in &self.identifiability.parameters {
            let step = STEP * if own.log { own.value.abs() } else { own.size };
            let mut varied = u.to_vec();
            let sides = [step, -step].map(|step| {
                varied[own.index] = u[own.index] + step;
                at(&varied).into_iter().flat_map(|(_, all)| all).map(|(_, _, value)| value).collect::<Vec<f64>>()
            });
            for (k, row) in rows.iter_mut().enumerate() {
                row.slope[own.index] = (sides[0][k] - sides[1][k]) / (2.0 * step);
            }
        }
        rows
    }

    /// What bodies weigh that has more to it than parameters say: of which a quantity is not one of them. `root`: that of the covariance of determined directions.
    pub(super) fn of_bodies(&self, problem: &Problem, u: &[f64], root: &DMatrix<f64>) -> Vec<BodyStatistics> {
        let all: Vec<Vec<Row<'_>>> = problem.all().map(|experiment| self.rows(problem, experiment, u)).collect();
        let is_same = |own: &Vec<Row<'_>>| {
            own.len() == all[0].len()
                && own.iter().zip(&all[0]).all(|(a, b)| a.values == b.values && a.slope == b.slope)
        };
        let is_shared = all.iter().all(is_same);
        let mut found = Vec::new();
        for (experiment, rows) in problem.all().zip(&all).take(if is_shared { 1 } else { all.len() }) {
            for own in rows.chunk_by(|a, b| a.body == b.body) {
                let is_parameter = |row: &Row<'_>| {
                    let mut changing = row.slope.iter().zip(u).filter(|(slope, _)| **slope != 0.0);
                    let is_one = changing.next().is_none_or(|(_, value)| row.values[1] == *value);
                    is_one && changing.next().is_none()
                };
                if own.iter().all(is_parameter) {
                    continue;
                }
                let name = match is_shared {
                    true => own[0].body.to_string(),
                    false => format!("{}@{}", own[0].body, experiment.name),
                };
                let fact = |row: &Row<'_>| BodyStatistics {
                    body: name.clone(),
                    quantity: row.quantity,
                    unit: row.unit,
                    start: row.values[0],
                    value: row.values[1],
                    standard_error: self.error_along(&row.slope, root),
                };
                found.extend(own.iter().map(fact));
            }
        }
        found
    }

    /// Table of what bodies weigh, as far as the data determine it; nothing where they determine nothing.
    pub fn body_table(&self) -> Option<String> {
        let is_shown = |own: &&BodyStatistics| {
            own.standard_error != f64::INFINITY && (own.standard_error != 0.0 || own.value != own.start)
        };
        let rows: Vec<Vec<String>> = self.bodies.iter().filter(is_shown).map(|own| self.body_row(own)).collect();
        (!rows.is_empty()).then(|| table(&["body", "quantity", "start", "found", "+/- standard error"], &rows))
    }

    fn body_row(&self, own: &BodyStatistics) -> Vec<String> {
        let mut row = vec![own.body.clone(), format!("{} [{}]", own.quantity, own.unit)];
        // nothing but for round-off
        let value = if own.value.abs() < 1e-9 * own.standard_error { 0.0 } else { own.value };
        row.extend([own.start, value].map(|value| rounded(value + 0.0, 5)));
        row.push(match own.standard_error {
            error if self.is_noise_free || error == 0.0 || error.is_nan() => "-".to_string(),
            error => {
                let percent = 100.0 * error / own.value.abs();
                let relative = if percent < 1000.0 { format!(" ({} %)", rounded(percent, 2)) } else { String::new() };
                format!("+/- {}{relative}", rounded(error, 3))
            }
        });
        row
    }

    /// What bodies weigh, for programs.
    pub(in super::super) fn bodies_json(&self) -> Value {
        let one = |own: &BodyStatistics| {
            json!({
                "body": own.body, "quantity": own.quantity, "unit": own.unit, "start": own.start, "value": own.value,
                "determined": own.standard_error.is_finite(), "standard_error": self.noisy(own.standard_error),
            })
        };
        self.bodies.iter().map(one).collect()
    }
}
