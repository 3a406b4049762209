//! Derivatives of joints and bodies of space in closed form.
//!
//! With Euler parameters e = (e_0, **e**), R(e) s is a quadratic function, whose derivatives want two products of e with s alone:
//!
//! ```text
//! c = e_0 s + **e** x s,  d = **e** · s
//! R s = e_0 c + d **e** + **e** x c
//! dR s = 2 (c de_0 + d d**e** + d**e** x c)
//! d²(w · R s) = 2 [ w · s, (s x w)ᵀ; s x w, w sᵀ + s wᵀ - (w · s) 1 ]
//! ```

mod body;
mod joint;
mod law;
#[cfg(test)]
mod tests;

use costate::vector::Vector;
pub(super) use law::MOST;

/// Euler parameters of a body; their number.
const EULER: usize = 4;
/// And their place among its coordinates.
const FIRST: usize = 3;

/// A vector that is fixed to a body, turned with it: R(e) s, and its derivatives by e.
#[derive(Clone, Copy)]
pub(super) struct Turned {
    pub value: Vector<f64>,
    c: Vector<f64>,
    d: f64,
}

impl Turned {
    #[inline]
    pub fn of([a, x, y, z]: [f64; 4], vector: Vector<f64>) -> Self {
        let e = Vector([x, y, z]);
        let c = vector * a + e.cross(vector);
        let d = e.dot(vector);
        Turned { value: c * a + e * d + e.cross(c), c, d }
    }

    /// The derivatives of its component along `w`.
    #[inline]
    pub fn along(&self, w: Vector<f64>) -> [f64; 4] {
        let Vector([x, y, z]) = w * self.d + self.c.cross(w);
        [2.0 * w.dot(self.c), 2.0 * x, 2.0 * y, 2.0 * z]
    }

    /// The derivatives of its components, row by row.
    #[inline]
    pub fn slopes(&self) -> [[f64; 4]; 3] {
        let (Vector([x, y, z]), d) = (self.c + self.c, 2.0 * self.d);
        [[x, d, z, -y], [y, -z, d, x], [z, y, -x, d]]
    }
}

/// P with 2 Gᵀ τ = P e.
#[inline]
fn torque_by_position(torque: Vector<f64>) -> [[f64; 4]; 4] {
    let [p, q, r] = (torque + torque).0;
    [[0.0, -p, -q, -r], [p, 0.0, r, -q], [q, -r, 0.0, p], [r, q, -p, 0.0]]
}

/// P with 2 Eᵀ τ = P e.
#[inline]
fn world_torque_by_position(torque: Vector<f64>) -> [[f64; 4]; 4] {
    let [p, q, r] = (torque + torque).0;
    [[0.0, -p, -q, -r], [p, 0.0, -r, q], [q, r, 0.0, -p], [r, -q, p, 0.0]]
}

/// Adds the second derivatives of w · R s by e to a matrix with rows of this length, from a place on.
#[inline]
fn add_second(matrix: &mut [f64], stride: usize, first: usize, w: Vector<f64>, s: Vector<f64>) {
    let (dot, corner) = (2.0 * w.dot(s), s.cross(w));
    let mut at = |i: usize, j: usize, value: f64| matrix[first + i * stride + j] += value;
    at(0, 0, dot);
    for i in 0..3 {
        at(0, i + 1, 2.0 * corner.0[i]);
        at(i + 1, 0, 2.0 * corner.0[i]);
        for j in 0..3 {
            at(i + 1, j + 1, 2.0 * (w.0[i] * s.0[j] + s.0[i] * w.0[j]));
        }
        at(i + 1, i + 1, -dot);
    }
}
