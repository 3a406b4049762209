//! Distances of a state from the constraints, and what is reported about them.

use crate::signature::{Quantity, Signature};
use crate::system::{Equations, Evaluator, Level, Point};
use crate::{Error, Result};

/// A violation this many times the round-off of evaluating the constraint counts as round-off of the user's formulas: some
/// 1e-10 of the terms in it.
const TOLERANCE: f64 = 1e6;

/// A constraint that moves at the first time leaves no rest. (One that only begins to move then does.)
pub(super) fn refuse_moving_constraints(
    system: &mut dyn Evaluator,
    signature: &Signature,
    x: &Point<'_>,
) -> Result<()> {
    if signature.constraints.is_empty() {
        return Ok(());
    }
    let Violations { velocity, velocity_limit, .. } = Violations::find(system, signature, x);
    match (0..velocity.len()).find(|&k| velocity[k].is_nan() || velocity[k] > velocity_limit[k]) {
        None => Ok(()),
        Some(k) => {
            let what = format!("constraint `{}`", signature.constraints[k].name);
            let problem = format!(
                "it moves by {:.3e} a second at t = {} s, which leaves no equilibrium at rest",
                velocity[k], x.t
            );
            Err(Error::invalid(what, problem, "begin where it stands still, or with another initial state"))
        }
    }
}

/// Distances from the constraints in position and velocity, and how large they may be.
pub(super) struct Violations {
    pub position: Vec<f64>,
    pub velocity: Vec<f64>,
    pub position_limit: Vec<f64>,
    pub velocity_limit: Vec<f64>,
    /// C and C_q v + C_t.
    residuals: [Vec<f64>; 2],
}

impl Violations {
    pub fn find(system: &mut dyn Evaluator, signature: &Signature, x: &Point<'_>) -> Self {
        let (n, m) = (x.q.len(), signature.constraints.len());
        let row_length = |row: &Vec<(u32, f64)>| row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        let mut lengths: Vec<f64> = system.constraint_rows(x).iter().map(row_length).collect();
        lengths.iter_mut().filter(|length| **length <= 0.0).for_each(|length| *length = 1.0);
        let (mut residual, mut bound, mut unused) = (vec![0.0; m], vec![0.0; m], vec![0.0; n]);
        let mut residuals = |level| {
            system.constraint(level, x, &mut residual);
            residual.clone()
        };
        let residuals = [residuals(Level::Position), residuals(Level::Velocity)];
        let [position, velocity] = residuals
            .each_ref()
            .map(|residuals| residuals.iter().zip(&lengths).map(|(r, length)| r.abs() / length).collect::<Vec<f64>>());
        system.round_off(x, Equations::MOTION, &mut unused, &mut bound);
        let position_limit = bound.iter().zip(&lengths).map(|(b, length)| TOLERANCE * b / length + 1e-15).collect();
        // |c · v| <= |c| |v|, of the coordinates that the row couples: the largest velocity stands for them
        let velocities = &x.v[..signature.coordinates.len()];
        let speed = velocities.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let velocity_limit = vec![TOLERANCE * f64::EPSILON * speed + 1e-12; m];
        Violations { position, velocity, position_limit, velocity_limit, residuals }
    }

    /// The rows that are violated, each with its distance in the coordinates and its residual in its own unit.
    pub fn describe(&self, signature: &Signature) -> Vec<String> {
        let all = 0..signature.constraints.len();
        all.flat_map(|k| [self.position_of(signature, k), self.velocity_of(signature, k)]).flatten().collect()
    }

    /// The first residual that is no number, in words, with its value: no start satisfies that.
    pub fn no_number(&self, signature: &Signature) -> Option<(String, f64)> {
        let levels = self.residuals.iter().zip(["residual", "time derivative"]);
        levels.flat_map(|(values, level)| values.iter().enumerate().map(move |(k, value)| (k, *value, level))).find_map(
            |(k, value, level)| {
                let name = &signature.constraints[k].name;
                (!value.is_finite()).then(|| (format!("{level} of the constraint `{name}`"), value))
            },
        )
    }

    /// The rows that are violated in position alone.
    pub fn of_positions(&self, signature: &Signature) -> Vec<String> {
        (0..signature.constraints.len()).filter_map(|k| self.position_of(signature, k)).collect()
    }

    fn position_of(&self, signature: &Signature, k: usize) -> Option<String> {
        let (name, unit) = named(&signature.constraints[k]);
        let (distance, residual) = (self.position[k], self.residuals[0][k]);
        let violated = distance.is_nan() || distance > self.position_limit[k];
        violated.then(|| format!("`{name}` by {distance:.3e} in position (residual {residual:.3e} {unit})"))
    }

    fn velocity_of(&self, signature: &Signature, k: usize) -> Option<String> {
        let (name, unit) = named(&signature.constraints[k]);
        let (distance, residual) = (self.velocity[k], self.residuals[1][k]);
        let violated = distance.is_nan() || distance > self.velocity_limit[k];
        violated.then(|| format!("`{name}` by {distance:.3e} in velocity (residual {residual:.3e} {unit}/s)"))
    }
}

fn named(Quantity { name, unit, .. }: &Quantity) -> (&str, &str) {
    (name, if unit.is_empty() { "1" } else { unit })
}

/// Rows that are named at most: in a chain that is wrong at its foot, all are.
pub(super) const NAMED: usize = 8;

pub(super) fn in_words(violations: &[String]) -> String {
    let more = violations.len().saturating_sub(NAMED);
    let listed = violations[..violations.len() - more].join(", ");
    if more == 0 { listed } else { format!("{listed}, and {more} more") }
}
