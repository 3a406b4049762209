//! What a user writes: a mechanism as plain functions, generic over the number.

pub mod drawing;
mod end_time;
pub(crate) mod mass;
pub(crate) mod shown;
pub mod signature;
pub(crate) mod sketch;
pub(crate) mod slip;
pub(crate) mod spline;
pub mod system;

pub use end_time::FreeEndTime;
pub use spline::Spline;

use crate::drawing::Drawing;
use crate::number::Number;
use crate::signature::Signature;
use std::ops::{Index, IndexMut};

/// A mechanism in descriptor form:
///
/// ```text
/// M(q,u) q'' + C_q(q,t,u)ᵀ λ = Q(q,q',w(t),t,u),     C(q,t,u) = 0
/// ```
///
/// Every slice and matrix that a function fills is zero on entry. Sizes come from [`Model::signature`]; the functions may
/// unpack slices with `let [m, c, d] = unpack(u);` (see [`unpack`]). Nothing here ever writes a derivative: the functions are
/// called with dual numbers for that. Branches on values are allowed where the function stays differentiable.
pub trait Model: Send + Sync {
    /// Names and units of everything; called once.
    fn signature(&self) -> Signature;

    /// Positions `q` and velocities `v` at the start, as functions of the parameters. Default: zero.
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let _ = (u, q, v);
    }

    /// Mass matrix M(q, u), symmetric, coordinates x coordinates; may be singular as long as the constraints determine the
    /// rest.
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>);

    /// Generalised force Q(t, q, v, w, u), one entry a coordinate; `w` are the inputs at time `t`.
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]);

    /// Constraints C(t, q, u) = 0, one entry a row. Default: none.
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let _ = (t, q, u, c);
    }

    /// Outputs y, what a sensor would see. Default: zero.
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let _ = (t, x, u, y);
    }

    /// What it looks like where it is at time `t`, with y upwards, for [`crate::plot::mechanism`] and the commands `draw` and
    /// `animate`. Default: it has no picture.
    ///
    /// ```
    /// # use costate::drawing::Drawing;
    /// # struct Crane;
    /// # impl Crane {
    /// /// A load on a rope below a cart; q: position of the cart, position of the load with y downwards.
    /// fn picture(&self, _t: f64, q: &[f64], w: &[f64], _u: &[f64], drawing: &mut Drawing) {
    ///     let cart = drawing.point("cart", [q[0], 0.0]);
    ///     let load = drawing.point("load", [q[1], -q[2]]);
    ///     drawing.slider(drawing.ground([0.0, 0.0]), 0.0, cart);
    ///     drawing.rope(cart, load);
    ///     drawing.force(cart, 0.0, w[0]);
    ///     drawing.trace(load);
    /// }
    /// # }
    /// ```
    fn picture(&self, t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        let _ = (t, q, w, u, drawing);
    }
}

/// All entries of `values` by name: `let [m, c, d] = unpack(u);`.
///
/// # Panics
/// If there are more or fewer than are asked for: a slip in the model, which [`crate::Plain::new`] turns into an error before
/// anything is simulated.
#[inline]
pub fn unpack<D: Copy, const N: usize>(values: &[D]) -> [D; N] {
    match values.first_chunk() {
        Some(all) if values.len() == N => *all,
        _ => panic!("{N} values are unpacked where there are {}", values.len()),
    }
}

/// The state at one time, as outputs and costs see it.
#[derive(Debug, Clone, Copy)]
pub struct State<'a, D> {
    /// Positions.
    pub q: &'a [D],
    /// Velocities.
    pub v: &'a [D],
    /// Accelerations at this time: consistent with the equations of motion, what a sensor sees.
    pub a: &'a [D],
    /// The integrator's own acceleration variable. That of HHT belongs to the time t + α h: see the page on accelerations.
    pub a_scheme: &'a [D],
    /// Multipliers λ; the constraint forces are -C_qᵀ λ.
    pub lambda: &'a [D],
    /// Inputs at this time.
    pub w: &'a [D],
}

/// A dense matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<D> {
    rows: usize,
    columns: usize,
    entries: Vec<D>,
}

impl<D: Copy> Matrix<D> {
    /// A matrix with the same number everywhere.
    pub fn filled(rows: usize, columns: usize, value: D) -> Self {
        Matrix { rows, columns, entries: vec![value; rows * columns] }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All entries, row by row.
    pub fn as_slice(&self) -> &[D] {
        &self.entries
    }

    /// All entries, row by row.
    pub fn as_mut_slice(&mut self) -> &mut [D] {
        &mut self.entries
    }

    /// Sets every entry.
    pub fn fill(&mut self, value: D) {
        self.entries.fill(value);
    }
}

impl<D> Index<(usize, usize)> for Matrix<D> {
    type Output = D;
    #[inline]
    fn index(&self, (row, column): (usize, usize)) -> &D {
        debug_assert!(column < self.columns, "column {column} of {}", self.columns);
        &self.entries[row * self.columns + column]
    }
}

impl<D> IndexMut<(usize, usize)> for Matrix<D> {
    #[inline]
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut D {
        debug_assert!(column < self.columns, "column {column} of {}", self.columns);
        &mut self.entries[row * self.columns + column]
    }
}
