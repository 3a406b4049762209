//! I2P: generalized-α on the constraints' velocities, with positions and velocities projected (index 2, projected).
//!
//! ```text
//! M A + C_qᵀ λ = Q,  C_q v* + C_t = 0      with Newmark's formulas for q*, v*
//! q = q* + δ:  M δ + C_qᵀ μ = 0,  C(q) = 0
//! v = v* + δ:  M δ + C_qᵀ μ = 0,  C_q v + C_t = 0
//! ```
//!
//! It never divides a position by β h²: of all schemes here it has the lowest floor of round-off, and it is stable at large and uneven
//! steps.

use super::balance::{Balance, Block, Inertia};
use super::generalized_alpha::check_radius;
use super::newmark::Newmark;
use super::{Description, Scheme};
use crate::Result;
use crate::system::Level;

/// The scheme I2P with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct I2p {
    spectral_radius: f64,
}

impl I2p {
    /// The scheme by the spectral radius at infinity, 0 to 1: what a step leaves of the highest frequencies.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] outside that interval.
    pub fn new(spectral_radius: f64) -> Result<Self> {
        check_radius("i2p", spectral_radius)?;
        Ok(I2p { spectral_radius })
    }
}

impl Scheme for I2p {
    fn description(&self) -> Description {
        let settings = vec![("spectral_radius", self.spectral_radius)];
        Description { name: "i2p", settings, own_blocks: Newmark::STARTS_WITH, ..Description::default() }
    }

    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        Newmark::with_radius(self.spectral_radius).start(h, false, balances);
    }

    fn step(&self, h: f64, ratio: f64, balances: &mut Vec<Balance>) {
        let motion = Balance::of_motion(Level::Velocity, Inertia::Of(Block::A));
        balances.push(Newmark::with_radius(self.spectral_radius).set(motion, h, ratio));
        balances.push(Balance::projection(Level::Position).set(Block::Q, [(Block::Q, 1.0)], 1.0));
        balances.push(Balance::projection(Level::Velocity).set(Block::V, [(Block::V, 1.0)], 1.0));
    }

    fn local_error(&self, h: f64, ratio: f64) -> [f64; 3] {
        Newmark::with_radius(self.spectral_radius).local_error(h, ratio)
    }
}
