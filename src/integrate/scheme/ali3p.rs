//! ALI3-P: the trapezoidal rule on the constraints' positions, with velocities and accelerations projected (Lopez Varela 2021), with
//! P = M; with exact constraints, or with a penalty.
//!
//! ```text
//! M a* + C_qᵀ λ = Q,  C(q) = 0             with the trapezoidal rule for q, v*
//! v = v* + δ:  M δ + C_qᵀ μ = 0,  C_q v + C_t = 0
//! a = a* + δ:  M δ + C_qᵀ κ = 0,  d²C/dt² = 0,     multipliers λ + κ
//! ```
//!
//! With a penalty α, N/m, the right sides of the constraints are λ/α, μ/(ς α), κ/(ς α), ς = h²/4, in place of 0: the paper's
//! λ = α C and (M + ς C_qᵀ α C_q) v = M v* - ς C_qᵀ α C_t, with α finite. Rows that repeat others then share their force.

use super::balance::{Balance, Block, Inertia};
use super::newmark::Newmark;
use super::{Description, Scheme};
use crate::error::{Error, Result};
use crate::system::Level;

/// The scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct Ali3p {
    penalty: f64,
}

impl Ali3p {
    /// With a penalty α in N/m (of a constraint in m); infinite for exact constraints.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless it is positive.
    pub fn new(penalty: f64) -> Result<Self> {
        if penalty.is_nan() || penalty <= 0.0 {
            let remedy = "give a stiffness in N/m that is large beside masses over the square of the time step, or leave it out \
                          for exact constraints";
            return Err(Error::invalid("scheme `ali3p`", format!("its penalty is {penalty}"), remedy));
        }
        Ok(Ali3p { penalty })
    }
}

impl Scheme for Ali3p {
    fn description(&self) -> Description {
        let settings = if self.penalty.is_finite() { vec![("penalty", self.penalty)] } else { Vec::new() };
        Description { name: "ali3p", settings, ..Description::default() }
    }

    fn compliance(&self, h: f64) -> f64 {
        4.0 / (h * h * self.penalty)
    }

    fn step(&self, h: f64, _ratio: f64, balances: &mut Vec<Balance>) {
        // Ŝ is the projected acceleration
        let motion = Balance::of_motion(Level::Position, Inertia::Of(Block::A));
        balances.push(Newmark::new(0.0, 0.0).set(motion, h, 0.0));
        balances.push(Balance::projection(Level::Velocity).set(Block::V, [(Block::V, 1.0)], 1.0));
        let accelerations = Balance::projection(Level::Acceleration).add_multipliers();
        balances.push(accelerations.set(Block::A, [(Block::A, 1.0)], 1.0).set(Block::S, [(Block::A, 1.0)], 1.0));
    }

    fn local_error(&self, h: f64, _ratio: f64) -> [f64; 3] {
        // Ŝ is the projected acceleration
        Newmark::new(0.0, 0.0).local_error(h, 0.0)
    }
}
