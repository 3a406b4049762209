//! Forward runs: in come a [`crate::system::System`], a scheme, times, inputs and a start, out go states of all times.

pub mod adapt;
pub mod compliance;
pub mod continuous;
pub mod diagnosis;
pub mod grid;
pub mod interrupt;
pub mod memory;
pub mod pace;
pub mod parallel;
pub mod scheme;
pub mod signal;
pub mod simulate;
pub mod start;
pub mod step_error;
pub mod time_axis;
