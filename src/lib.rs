//! Exact gradients of multibody simulations.

pub mod cost;
pub mod data;
pub mod error;
pub mod files;
pub mod grid;
pub mod identify;
pub mod linearise;
pub mod model;
pub mod number;
pub mod optimise;
pub mod plot;
pub mod problem;
pub mod registry;
pub mod scheme;
pub mod sensitivity;
pub mod signal;
pub mod signature;
pub mod simulate;
pub mod specification;
mod start;
pub mod system;
pub mod time_axis;

pub use error::{Error, Result};
pub use grid::TimeGrid;
pub use linearise::Plain;
pub use model::{Matrix, Model, State};
pub use number::Number;
pub use scheme::Hht;
pub use sensitivity::{Gradient, Method};
pub use signal::Signal;
pub use signature::{Parameter, Quantity, Scale, Signature};
pub use simulate::{Simulation, Trajectory};
pub use start::StartReport;
pub use system::{Evaluator, System};
