//! Linear algebra of this kind of problem: in come patterns and numbers, out go factors, orders and reduced least squares. It knows
//! nothing of mechanisms.

pub mod dense;
pub mod least_squares;
pub mod random;
pub mod rows;
pub mod sparse;

/// Sets all to zero. Few without a call: in a step of a small mechanism calls count.
#[inline(always)]
pub(crate) fn clear(x: &mut [f64]) {
    match x {
        [] => {}
        [a] => *a = 0.0,
        [a, b] => (*a, *b) = (0.0, 0.0),
        [a, b, c] => (*a, *b, *c) = (0.0, 0.0, 0.0),
        [a, b, c, d] => (*a, *b, *c, *d) = (0.0, 0.0, 0.0, 0.0),
        more => more.fill(0.0),
    }
}
