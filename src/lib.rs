//! Exact gradients of multibody simulations.

pub mod error;
pub mod plot;
pub use error::{Error, Result};
