//! Design of experiments: what experiments would say of the parameters before they are made, and excitations that say the most.
//!
//! The Fisher information of samples with independent normal noise of given deviations is F = Σ sᵀs/σ² with the derivatives s of each by the
//! parameters. It adds up over samples, sensors and experiments, and its inverse is the covariance of the parameters that a fit would find. All of
//! it is to first order, at the parameters that are taken to be true.
//!
//! [`Sought`] makes it the cost of a control problem ([`Control`](crate::control::Control)): inputs and motions are found that say the most within
//! their bounds, by gradients that are exact (Oberpeilsteiner et al. 2018).

mod assessment;
mod candidates;
mod criterion;
mod sought;

pub use assessment::Assessment;
pub use candidates::{Assessed, Candidate, Comparison, Design, SensorAlone};
pub use criterion::Optimality;
pub(crate) use sought::Informed;
pub use sought::Sought;
