//! Exact gradients of multibody simulations.

pub mod error;
pub use error::{Error, Result};
