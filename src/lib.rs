//! Exact gradients of multibody simulations.

pub mod error;
pub mod files;
pub use error::{Error, Result};
