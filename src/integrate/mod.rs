//! Forward runs: in come a [`crate::System`], a scheme, times, inputs and a start, out go states of all times.

pub mod adapt;
pub(crate) mod compliance;
pub(crate) mod continuous;
pub(crate) mod diagnosis;
pub mod grid;
pub(crate) mod interrupt;
pub(crate) mod memory;
pub(crate) mod pace;
pub mod parallel;
pub mod scheme;
pub mod signal;
pub mod simulate;
pub(crate) mod start;
pub mod step_error;
