//! Exact gradients of multibody simulations.

pub mod cost;
pub mod error;
pub mod linearise;
pub mod model;
pub mod number;
pub mod signature;
pub mod system;

pub use error::{Error, Result};
pub use linearise::Plain;
pub use model::{Matrix, Model, State};
pub use number::Number;
pub use signature::{Parameter, Quantity, Scale, Signature};
pub use system::{Evaluator, System};
