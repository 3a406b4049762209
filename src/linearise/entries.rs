//! Entries of a state vector by number.

use crate::system::StateVector;

/// Entry `i` of q, v, a, u by the number of the part.
pub(super) fn motion_entry(s: &mut StateVector, part: usize, i: usize) -> &mut f64 {
    match part {
        0 => &mut s.q[i],
        1 => &mut s.v[i],
        2 => &mut s.a[i],
        _ => &mut s.u[i],
    }
}

/// Entry of a state vector by the numbering of `Structure::output`.
pub(crate) fn output_variable(s: &StateVector, n: usize, m: usize, variable: usize) -> f64 {
    match variable {
        i if i < n => s.q[i],
        i if i < 2 * n => s.v[i - n],
        i if i < 3 * n => s.a[i - 2 * n],
        i if i < 4 * n => s.a_scheme[i - 3 * n],
        i if i < 4 * n + m => s.lambda[i - 4 * n],
        i => s.u[i - 4 * n - m],
    }
}

/// The same, to be changed.
pub(crate) fn output_variable_mut(s: &mut StateVector, n: usize, m: usize, variable: usize) -> &mut f64 {
    match variable {
        i if i < n => &mut s.q[i],
        i if i < 2 * n => &mut s.v[i - n],
        i if i < 3 * n => &mut s.a[i - 2 * n],
        i if i < 4 * n => &mut s.a_scheme[i - 3 * n],
        i if i < 4 * n + m => &mut s.lambda[i - 4 * n],
        i => &mut s.u[i - 4 * n - m],
    }
}
