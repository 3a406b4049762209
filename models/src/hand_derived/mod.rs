//! Jacobians of some models, derived by hand: how a user writes a set, checks it, and puts it in place of dual numbers.
//!
//! ```
//! use costate_check::{CheckOptions, HandDerivedSystem, check_jacobians};
//! use costate::{Plain, System};
//! use costate_models::{EngineMount, hand_derived::EngineMountByHand};
//! use std::sync::Arc;
//!
//! let system = Arc::new(Plain::new(EngineMount)?);
//! let report = check_jacobians(&*system, &EngineMountByHand, &CheckOptions::default())?;
//! assert!(report.passed(), "{report}");
//! let by_hand: Arc<dyn System> = Arc::new(HandDerivedSystem::new(system, Arc::new(EngineMountByHand))?);
//! # let _ = by_hand;
//! # Ok::<(), costate::Error>(())
//! ```

mod cart_pole;
mod engine_mount;
mod pendulum;

pub use cart_pole::CartPoleByHand;
pub use engine_mount::EngineMountByHand;
pub use pendulum::PendulumByHand;
