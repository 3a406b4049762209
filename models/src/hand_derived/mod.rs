//! Jacobians of some models, derived by hand: how a user writes a set and checks it.
//!
//! ```
//! use costate_check::{CheckOptions, check_jacobians};
//! use costate::Plain;
//! use costate_models::engine_mount::EngineMount;
//! use costate_models::hand_derived::EngineMountByHand;
//!
//! let system = Plain::new(EngineMount)?;
//! let report = check_jacobians(&system, &EngineMountByHand, &CheckOptions::default())?;
//! assert!(report.passed(), "{report}");
//! # Ok::<(), costate::Error>(())
//! ```

mod cart_pole;
mod engine_mount;
mod pendulum;

pub use cart_pole::CartPoleByHand;
pub use engine_mount::EngineMountByHand;
pub use pendulum::PendulumByHand;
