//! Exact gradients of multibody simulations.

pub mod error;
pub mod optimise;

pub use error::{Error, Result};
