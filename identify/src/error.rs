//! The error of this crate and of those that stand on it.

pub use costate::{Error, Result};
