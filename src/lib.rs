//! Exact gradients of multibody simulations.

pub mod data;
pub mod error;
pub mod files;
pub mod signal;
pub mod time_axis;
pub use error::{Error, Result};
