//! Statistics of parameters that follow from others.

use super::super::student::LEVELS;
use super::Statistics;
use crate::problem::{Experiment, Problem};
use nalgebra::DMatrix;

/// Part of a change that may go along undetermined directions, and be round-off.
const ROUND_OFF: f64 = 1e-7;

/// A parameter that follows from others ([`costate::derived::Derived`]), with what the data say about it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DependentStatistics {
    /// Name; `NAME@EXPERIMENT` where experiments have their own values.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The value at the optimum.
    pub value: f64,
    /// To first order; infinite where the data do not determine it, zero where it depends on what is fixed or held alone.
    pub standard_error: f64,
    /// Lower and upper ends of the 95 % interval.
    pub interval: (f64, f64),
}

/// Value and derivatives by all parameters of the problem.
struct Row {
    value: f64,
    slope: Vec<f64>,
}

fn rows(experiment: &Experiment, u: &[f64]) -> Vec<Row> {
    let Some(derived) = experiment.simulation.system().derived() else { return Vec::new() };
    let own = experiment.own(u);
    let jacobian = derived.jacobian(&own);
    let row = |(i, value)| {
        let mut slope = vec![0.0; u.len()];
        (0..own.len()).for_each(|k| slope[experiment.places[k]] += jacobian[(i, k)]);
        Row { value, slope }
    };
    derived.values(&own).into_iter().enumerate().map(row).collect()
}

/// Quantities that are named on one line.
const ON_A_LINE: usize = 3;

impl Statistics {
    /// Statistics of what follows from the parameters; `root`: that of the covariance of determined directions.
    pub(super) fn of_dependent(&self, problem: &Problem, u: &[f64], root: &DMatrix<f64>) -> Vec<DependentStatistics> {
        let all: Vec<Vec<Row>> = problem.all().map(|experiment| rows(experiment, u)).collect();
        let Some(derived) = problem.first().simulation.system().derived() else { return Vec::new() };
        let mut found = Vec::new();
        for (i, parameter) in derived.dependent().enumerate() {
            let is_shared = all.iter().all(|rows| rows[i].slope == all[0][i].slope && rows[i].value == all[0][i].value);
            for (experiment, rows) in problem.all().zip(&all).take(if is_shared { 1 } else { all.len() }) {
                let Row { value, slope } = &rows[i];
                let name = match is_shared {
                    true => parameter.name.clone(),
                    false => format!("{}@{}", parameter.name, experiment.name),
                };
                let standard_error = self.error_along(slope, root);
                let half = LEVELS[1].quantile(self.student()) * standard_error;
                let (unit, interval) = (parameter.unit.clone(), (value - half, value + half));
                found.push(DependentStatistics { name, unit, value: *value, standard_error, interval });
            }
        }
        found
    }

    /// Standard error of what has these derivatives by the parameters.
    pub(in super::super) fn error_along(&self, slope: &[f64], root: &DMatrix<f64>) -> f64 {
        let found = &self.identifiability;
        let change = |k: usize| slope[found.parameters[k].index] * found.parameters[k].size;
        if found.without_influence.iter().any(|k| change(*k) != 0.0 && !found.active.contains(k)) {
            return f64::INFINITY;
        }
        let scaled: Vec<f64> = found.active.iter().zip(&found.lengths).map(|(&k, length)| change(k) / length).collect();
        let most = scaled.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
        let along = |j: usize| scaled.iter().enumerate().map(|(i, entry)| entry * found.vectors[(i, j)]).sum::<f64>();
        if (found.rank..found.singular_values.len()).any(|j| along(j).abs() > ROUND_OFF * most) {
            return f64::INFINITY;
        }
        let column = |j: usize| scaled.iter().enumerate().map(|(i, entry)| entry * root[(i, j)]).sum::<f64>();
        (0..root.ncols()).map(|j| column(j).powi(2)).sum::<f64>().sqrt()
    }

    /// Lines on what follows from the parameters.
    pub(in super::super) fn dependent_lines(&self) -> Vec<String> {
        let line = |own: &DependentStatistics| {
            let value = format!("{} = {} {}", own.name, costate::shown::rounded(own.value, 6), own.unit);
            match own.standard_error {
                error if error == f64::INFINITY => format!("{value}, which the data do not determine"),
                error if self.is_noise_free || error == 0.0 || error.is_nan() => value,
                error => format!("{value} +/- {}", costate::shown::rounded(error, 2)),
            }
        };
        match self.dependent.as_slice() {
            [] => Vec::new(),
            few if few.len() <= ON_A_LINE => {
                vec![format!("follow from these: {}", few.iter().map(line).collect::<Vec<_>>().join("; "))]
            }
            many => std::iter::once("follow from these:".to_string())
                .chain(many.iter().map(|own| format!("  {}", line(own))))
                .collect(),
        }
    }
}
