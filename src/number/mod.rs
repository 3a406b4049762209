//! The one bound that a model's functions carry.

mod boilerplate;
mod jet;
mod rounded;
mod second_order;
mod tracer;

pub use jet::Jet;
pub(crate) use rounded::Rounded;
pub(crate) use second_order::{Derivatives, LANES, SecondOrder};
pub(crate) use tracer::{Tracer, with_branch_detection};

/// A real number as models see it: `f64`, a dual number of any kind, nested ones.
///
/// All arithmetic and the usual functions (`sin`, `cos`, `sqrt`, `exp`, `powi`, `atan2`, `tanh` ...) come with it. Plain
/// floats go on the right: `x * 2.0`, not `2.0 * x`; constants are made with `D::from(2.0)`.
///
/// This is [`num_dual::DualNum`] under a name of the field, so every number type of that crate goes through a model, too.
pub trait Number: num_dual::DualNum<Primitive = f64> + Copy + Send + Sync {}

impl<T: num_dual::DualNum<Primitive = f64> + Copy + Send + Sync> Number for T {}
