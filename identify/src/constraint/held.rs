//! Directions that active constraints hold, for statistics.

use super::{Constraint, ConstraintResult, Value};
use crate::Result;
use crate::problem::Problem;

/// Rows of derivatives, by all parameters, along which the parameters cannot move: those of equalities and of limits that
/// act. Neighbouring times at which an output's limit acts count as one peak, whose row is the mean of theirs by their
/// multipliers: that several samples share a peak is an accident of the time grid.
pub(crate) fn held_directions(problem: &Problem, u: &[f64], found: &[ConstraintResult]) -> Result<Vec<Vec<f64>>> {
    let mut held = Vec::new();
    // (output, times with weights)
    let mut peaks: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
    for (constraint, result) in found.iter().filter_map(|r| problem.constraints.get(r.place).map(|c| (c, r))) {
        let Constraint { value, .. } = constraint;
        match value {
            Value::Output { output, window } if constraint.is_equality() => {
                let times = window.indices(problem.first().simulation.grid()).into_iter().flatten();
                peaks.extend(times.map(|i| (*output, vec![(i, 1.0)])));
            }
            Value::Output { output, .. } => {
                // at the next time, and at the same limit
                let neighbours = |a: &(usize, f64), b: &(usize, f64)| a.0 + 1 == b.0 && a.1 * b.1 > 0.0;
                peaks.extend(result.multipliers.chunk_by(neighbours).map(|peak| (*output, peak.to_vec())));
            }
            _ if constraint.is_equality() || result.multiplier != 0.0 => {
                let mut row = vec![0.0; u.len()];
                if let Some(function) = value.of_parameters() {
                    function.add_gradient(u, 1.0, &mut row);
                }
                held.push(row);
            }
            _ => {}
        }
    }
    if peaks.is_empty() {
        return Ok(held);
    }
    let mut rows = vec![vec![0.0; u.len()]; peaks.len()];
    let mut gradient = problem.gradient_by_free()?;
    let wanted = |i: usize| peaks.iter().any(|(_, times)| times.iter().any(|(j, _)| *j == i));
    let own: Vec<f64> = problem.first().places.iter().map(|&place| u[place]).collect();
    gradient.first().output_tangents(&own, &wanted, &mut |x| {
        for ((output, times), row) in peaks.iter().zip(&mut rows) {
            let total: f64 = times.iter().map(|(_, weight)| weight).sum();
            for (_, weight) in times.iter().filter(|(i, _)| *i == x.index) {
                let slopes = x.slopes(*output);
                row.iter_mut().zip(slopes).for_each(|(entry, slope)| *entry += weight / total * slope);
            }
        }
    })?;
    held.extend(rows);
    Ok(held)
}

/// Gradients of the equalities among functions of the parameters, which hold at any point.
pub(crate) fn equalities(problem: &Problem, u: &[f64]) -> Vec<Vec<f64>> {
    let functions = problem.constraints.iter().filter(|constraint| constraint.is_equality());
    functions
        .filter_map(|constraint| {
            let mut row = vec![0.0; u.len()];
            constraint.value.of_parameters()?.add_gradient(u, 1.0, &mut row);
            Some(row)
        })
        .collect()
}
