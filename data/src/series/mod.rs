//! What samples tell by themselves, whatever they are of: correlations, means over another quantity, values that are repeated far outside all others.

mod correlation;
mod dependence;
mod repeated;

pub use correlation::{Centred, Correlations, Correlogram, Crossing, Run, crossing};
pub use dependence::Dependence;
pub use repeated::repeated_far_outside;
