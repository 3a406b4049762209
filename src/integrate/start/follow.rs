//! Check that a start as given follows its parameters.
//!
//! At a start that the model gives, C = 0 and C_q v + C_t = 0 hold for the parameters at hand. Derivatives need more: that both go
//! on to hold when a parameter u changes,
//!
//! ```text
//! C_q dq_0/du + dC/du = 0,      d/du (C_q v_0 + C_t) = 0.
//! ```
//!
//! Where a length is changed and the start stays, there is no motion to differentiate: what comes out belongs to a mechanism that
//! the first step pulls together.

use super::violations::{NAMED, Violations};
use super::{InitialState, Start};
use crate::signature::Signature;
use crate::system::{Equations, Evaluator, Level, Point, StateVector, Weights};
use crate::{Error, Result};

const LEVELS: [Level; 2] = [Level::Position, Level::Velocity];
/// Sums beside the magnitudes of their terms that are looked at closely.
const SUSPICIOUS: f64 = 1e-11;
/// Part of the magnitudes above which a sum is no round-off: an iteration in the model's own initial state may leave as much.
const NOT_ROUND_OFF: f64 = 1e-8;

/// A parameter that a start does not follow.
#[derive(Debug, Clone)]
pub(crate) struct InconsistentParameter {
    /// Place of the parameter.
    pub parameter: usize,
    /// The row that it violates most, in words.
    message: String,
}

impl InconsistentParameter {
    /// Refuses derivatives by these parameters, which would mean nothing.
    pub(crate) fn refuse(list: &[InconsistentParameter]) -> Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        let messages: Vec<&str> = list.iter().take(NAMED).map(|found| found.message.as_str()).collect();
        let more = list.len() - messages.len();
        let more = if more > 0 { format!("; and {more} more parameters") } else { String::new() };
        Err(Error::StartDoesNotFollow { parameters: format!("{}{more}", messages.join("; ")) })
    }
}

impl Start {
    /// The parameters at `u` that the start `x0` does not follow, in their order. One sweep over all of them where there are none.
    pub(crate) fn inconsistent_parameters(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        u: &[f64],
    ) -> Vec<InconsistentParameter> {
        if signature.constraints.is_empty() || self.report.initial_state != InitialState::AsGiven {
            return Vec::new();
        }
        let suspects = suspects(system, signature, x0);
        if suspects.is_empty() {
            return Vec::new();
        }
        let limits = Violations::find(system, signature, x0);
        let rows = system.constraint_rows(x0);
        let mut check = ConsistencyCheck { system, signature, x0, rows, limits };
        suspects.into_iter().filter_map(|k| check.violation(k, signature.parameters[k].size_at(u[k]))).collect()
    }
}

/// Makes products with the derivatives of a level ready.
fn linearise(system: &mut dyn Evaluator, level: Level, x0: &Point<'_>) {
    let equations = Equations { forces: false, level };
    let weights = Weights { acceleration: 1.0, position: 0.0, velocity: 1.0, state: 1.0, compliance: 0.0, equations };
    // only products are asked for: a singular matrix does not matter here
    let _ = system.linearise(x0, weights);
}

/// Parameters for which a sum of all rows with weights changes along the start.
fn suspects(system: &mut dyn Evaluator, signature: &Signature, x0: &Point<'_>) -> Vec<usize> {
    let p = signature.parameters.len();
    let mut is_suspect = vec![false; p];
    let weights: Vec<f64> = (0..x0.lambda.len()).map(|row| 1.0 + 0.5 * (1.7 * row as f64 + 0.3).sin()).collect();
    for level in LEVELS {
        let mut bar = StateVector::zeros(signature);
        linearise(system, level, x0);
        system.pull_back(1.0, &vec![0.0; x0.q.len()], &weights, &mut bar);
        let mut along_start = vec![0.0; p];
        system.initial_pull_back(&bar.q, &bar.v, &mut along_start);
        for ((suspect, direct), along) in is_suspect.iter_mut().zip(&bar.u).zip(&along_start) {
            *suspect |= (direct + along).abs() > SUSPICIOUS * (direct.abs() + along.abs());
        }
    }
    (0..p).filter(|&k| is_suspect[k]).collect()
}

struct ConsistencyCheck<'a> {
    system: &'a mut dyn Evaluator,
    signature: &'a Signature,
    x0: &'a Point<'a>,
    rows: Vec<Vec<(u32, f64)>>,
    limits: Violations,
}

impl ConsistencyCheck<'_> {
    /// The derivative of the rows along a tangent.
    fn slope(&mut self, level: Level, tangent: &StateVector) -> Vec<f64> {
        let mut slope = vec![0.0; self.rows.len()];
        linearise(self.system, level, self.x0);
        self.system.push_forward(tangent, &mut vec![0.0; self.x0.q.len()], &mut slope);
        slope
    }

    /// `size`: a change of parameter `k` that matters.
    fn violation(&mut self, k: usize, size: f64) -> Option<InconsistentParameter> {
        let mut tangent = StateVector::zeros(self.signature);
        tangent.u[k] = 1.0;
        let direct = tangent.clone();
        self.system.initial_push_forward(&direct.u, &mut tangent.q, &mut tangent.v);
        let parameter = &self.signature.parameters[k];
        let mut worst: Option<(f64, String)> = None;
        for level in LEVELS {
            let (total, direct) = (self.slope(level, &tangent), self.slope(level, &direct));
            let (values, limits, what) = match level {
                Level::Position => (&tangent.q, &self.limits.position_limit, "position"),
                _ => (&tangent.v, &self.limits.velocity_limit, "velocity"),
            };
            for (row, entries) in self.rows.iter().enumerate() {
                let length = entries.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
                let length = if length > 0.0 { length } else { 1.0 };
                let along: f64 = entries.iter().map(|&(j, value)| (value * values[j as usize]).abs()).sum();
                // in velocities, what positions do there is the rest
                let terms = along + direct[row].abs() + (total[row] - direct[row]).abs();
                let distance = total[row].abs() * size / length;
                let violates = total[row].abs() > NOT_ROUND_OFF * terms && distance > limits[row];
                if violates && worst.as_ref().is_none_or(|(largest, _)| distance > *largest) {
                    let message = format!(
                        "where `{}` changes by {size:.1e} {}, constraint `{}` is violated by {distance:.1e} in {what}",
                        parameter.name, parameter.unit, self.signature.constraints[row].name
                    );
                    worst = Some((distance, message));
                }
            }
        }
        worst.map(|(_, message)| InconsistentParameter { parameter: k, message })
    }
}
