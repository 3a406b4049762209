//! ALI3-P: the trapezoidal rule on the constraints' positions, with velocities and accelerations projected (Lopez Varela 2021), with
//! P = M and exact constraints in place of penalties.
//!
//! ```text
//! M a* + C_qᵀ λ = Q,  C(q) = 0             with the trapezoidal rule for q, v*
//! v = v* + δ:  M δ + C_qᵀ μ = 0,  C_q v + C_t = 0
//! a = a* + δ:  M δ + C_qᵀ κ = 0,  d²C/dt² = 0,     multipliers λ + κ
//! ```

use super::balance::{Balance, Block, Inertia};
use super::newmark::Newmark;
use super::{NewtonOptions, Scheme};
use crate::system::Level;

/// The scheme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ali3p {
    newton: NewtonOptions,
}

impl Ali3p {
    /// Changes Newton's limits.
    pub fn newton(mut self, options: NewtonOptions) -> Self {
        self.newton = options;
        self
    }
}

impl Scheme for Ali3p {
    fn name(&self) -> &'static str {
        "ali3p"
    }

    fn settings(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn newton_options(&self) -> NewtonOptions {
        self.newton
    }

    fn step(&self, h: f64, _ratio: f64, balances: &mut Vec<Balance>) {
        // Ŝ is the projected acceleration
        let motion = Balance::of_motion(Level::Position, Inertia::Of(Block::A));
        balances.push(Newmark::new(0.0, 0.0).set(motion, h, 0.0));
        balances.push(Balance::projection(Level::Velocity).set(Block::V, [(Block::V, 1.0)], 1.0));
        let accelerations = Balance::projection(Level::Acceleration).add_multipliers();
        balances.push(accelerations.set(Block::A, [(Block::A, 1.0)], 1.0).set(Block::S, [(Block::A, 1.0)], 1.0));
    }
}
