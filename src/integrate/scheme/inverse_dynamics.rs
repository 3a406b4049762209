//! Inverse dynamics: the motion is given by constraints alone, time by time, and what is sought are the forces that make it.
//!
//! ```text
//! q = q* + δ:  M δ + C_qᵀ μ = 0,  C(t, q) = 0          q*, v* from the step before, where an iteration begins
//! v = v* + δ:  M δ + C_qᵀ μ = 0,  C_q v + C_t = 0
//! M A + C_qᵀ λ = Q,  C_q A = γ
//! ```
//!
//! Where as many rows are independent as there are coordinates, nothing of the step before is left in the result: there is no error of
//! integration, and no step size.

use super::balance::{Balance, Block, Inertia};
use super::{Description, Scheme};
use crate::system::Level;

const Q: Block = Block::Q;
const V: Block = Block::V;
const A: Block = Block::A;

/// Inverse dynamics of mechanisms whose motion is given: every freedom is driven. Multipliers of the drives are the forces and torques that
/// they take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InverseDynamics;

impl Scheme for InverseDynamics {
    fn description(&self) -> Description {
        Description {
            name: "inverse-dynamics",
            largest_ratio: [f64::INFINITY; 2],
            of_given_motion: true,
            ..Description::default()
        }
    }

    fn step(&self, h: f64, _ratio: f64, balances: &mut Vec<Balance>) {
        balances.push(Balance::projection(Level::Position).set(Q, [(Q, 1.0), (V, h), (A, 0.5 * h * h)], 1.0));
        balances.push(Balance::projection(Level::Velocity).set(V, [(V, 1.0), (A, h)], 1.0));
        let forces = Balance::of_motion(Level::Acceleration, Inertia::Of(A));
        balances.push(forces.set(A, [], 1.0).set(Block::S, [], 1.0));
    }

    fn local_error(&self, _h: f64, _ratio: f64) -> [f64; 3] {
        [0.0; 3]
    }
}
