//! ALI3-P: an augmented Lagrangian of index 3 with the trapezoidal rule, and velocities and accelerations projected (Lopez Varela 2021).
//!
//! ```text
//! M a* + C_qᵀ λ = Q,  C(q) = 0             with the trapezoidal rule for q, v*        eqs. (1), (2)
//! v = v* + δ:  M δ + C_qᵀ μ = 0,  C_q v + C_t = μ/(ς α)                               eq. (3)
//! a = a* + δ:  M δ + C_qᵀ κ = 0,  d²C/dt² = κ/(ς α),     multipliers λ + κ            eq. (4)
//! ```
//!
//! The paper's iteration λ <- λ + α C ends where C = 0, whatever its penalty α: positions and λ are those of exact constraints, found here by
//! Newton's iteration at once. Only the projections yield: with μ and κ eliminated they are (P + ς C_qᵀ α C_q) v = P v* - ς C_qᵀ α C_t and the
//! like, ς = h²/4, P = M. Their penalty may be infinite.
//!
//! A *pure* penalty is something else, and not in the paper: λ = α C without that iteration, so that positions yield, too, and rows that repeat
//! others share their force.

use super::balance::{Balance, Block, Inertia};
use super::newmark::Newmark;
use super::{Description, Scheme};
use crate::system::Level;
use crate::{Error, Result};

/// The scheme ALI3-P with its penalties.
#[derive(Debug, Clone, PartialEq)]
pub struct Ali3p {
    /// Penalty of the projections, N/m.
    penalty: f64,
    /// Penalty of everything, N/m.
    pure_penalty: f64,
}

impl Default for Ali3p {
    /// The scheme with exact projections.
    fn default() -> Self {
        Ali3p { penalty: f64::INFINITY, pure_penalty: f64::INFINITY }
    }
}

impl Ali3p {
    /// The scheme with the paper's penalty α in N/m (of a constraint in m), by which projections yield; infinite for exact ones.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless it is positive.
    pub fn new(penalty: f64) -> Result<Self> {
        let remedy = "give a stiffness in N/m that is large beside masses over the square of the time step, or leave it out \
                      for exact projections";
        Ok(Ali3p { penalty: positive("penalty", penalty, remedy)?, ..Ali3p::default() })
    }

    /// The scheme with constraints as springs of this stiffness in N/m, λ = α C, also in the projections: for rows that repeat others.
    /// Infinite for exact constraints.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless it is positive, and where the projections have a penalty of their own.
    pub fn pure_penalty(self, stiffness: f64) -> Result<Self> {
        let remedy = "give a stiffness in N/m, 1e9 times the masses over h²/4, or leave it out for exact constraints";
        let pure_penalty = positive("pure_penalty", stiffness, remedy)?;
        if pure_penalty.is_finite() && self.penalty.is_finite() {
            let problem = "both `penalty` and `pure_penalty` are given";
            let remedy = "take `penalty` for the paper's scheme, or `pure_penalty` where constraint rows repeat others";
            return Err(Error::invalid("scheme `ali3p`", problem, remedy));
        }
        Ok(Ali3p { pure_penalty, ..self })
    }
}

fn positive(name: &str, value: f64, remedy: &str) -> Result<f64> {
    if value.is_nan() || value <= 0.0 {
        return Err(Error::invalid("scheme `ali3p`", format!("its {name} is {value}"), remedy));
    }
    Ok(value)
}

/// 1/(ς α) of a penalty α.
fn compliance(h: f64, penalty: f64) -> f64 {
    4.0 / (h * h * penalty)
}

impl Scheme for Ali3p {
    fn description(&self) -> Description {
        let all = [("penalty", self.penalty), ("pure_penalty", self.pure_penalty)];
        let settings = all.into_iter().filter(|(_, penalty)| penalty.is_finite()).collect();
        Description { name: "ali3p", settings, ..Description::default() }
    }

    fn compliance(&self, h: f64) -> f64 {
        compliance(h, self.pure_penalty)
    }

    fn step(&self, h: f64, _ratio: f64, balances: &mut Vec<Balance>) {
        // Ŝ is the projected acceleration
        let motion = Balance::of_motion(Level::Position, Inertia::Of(Block::A));
        balances.push(Newmark::new(0.0, 0.0).set(motion, h, 0.0));
        let projection = |level| Balance::projection(level).yielding(compliance(h, self.penalty));
        balances.push(projection(Level::Velocity).set(Block::V, [(Block::V, 1.0)], 1.0));
        let accelerations = projection(Level::Acceleration).add_multipliers();
        balances.push(accelerations.set(Block::A, [(Block::A, 1.0)], 1.0).set(Block::S, [(Block::A, 1.0)], 1.0));
    }

    fn local_error(&self, h: f64, _ratio: f64) -> [f64; 3] {
        // Ŝ is the projected acceleration
        Newmark::new(0.0, 0.0).local_error(h, 0.0)
    }
}
