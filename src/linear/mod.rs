//! Linear algebra of this kind of problem: in come patterns and numbers, out go factors, orders and reduced least squares. It knows
//! nothing of mechanisms.

pub mod least_squares;
pub(crate) mod sparse;
