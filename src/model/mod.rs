//! Models that a user writes: a mechanism as plain functions, generic over the number.

pub mod derived;
pub mod drawing;
mod end_time;
pub mod mass;
pub mod shown;
pub mod signature;
mod size;
pub mod sketch;
pub mod slip;
pub mod spline;
pub mod spread;
pub mod system;
pub mod value;
pub mod vector;

pub use end_time::FreeEndTime;

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
///
/// # First-order states
///
/// A model may have states z besides its coordinates ([`Signature::states`]): quantities with a rate of their own, but neither mass
/// nor a position, such as the current of a motor, a temperature, or the hysteretic part of a force,
///
/// ```text
/// z' = g(t, q, q', z, w, u)
/// ```
///
/// Wherever there are velocities `v`, the states follow them; wherever there are accelerations `a`, their rates do. Schemes treat
/// them alike: a state is integrated as a velocity is.
///
/// ```
/// use costate::{Matrix, Model, Number, Parameter, Signature, State, unpack};
///
/// /// J θ'' = k i - d θ',  L i' = V - R i - k θ'
/// struct Motor;
///
/// impl Model for Motor {
///     fn signature(&self) -> Signature {
///         Signature::new("motor")
///             .coordinates([("angle", "rad")])
///             .states([("current", "A")])
///             .inputs([("voltage", "V")])
///             .outputs([("speed", "rad/s"), ("current", "A")])
///             .parameters([("J", "kg m^2", 1e-4), ("d", "N m s", 1e-5), ("k", "N m/A", 0.05)].map(parameter))
///             .parameters([("L", "H", 1e-3), ("R", "ohm", 0.5), ("i0", "A", 0.0)].map(parameter))
///     }
///     fn initial<D: Number>(&self, u: &[D], _angle: &mut [D], v: &mut [D]) {
///         v[1] = u[5]; // the velocity of the coordinate, then the state
///     }
///     fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
///         m[(0, 0)] = u[0];
///     }
///     fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
///         let [speed, current] = unpack(v);
///         force[0] = u[2] * current - u[1] * speed;
///     }
///     fn rates<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
///         let [speed, current] = unpack(v);
///         rates[0] = (w[0] - u[4] * current - u[2] * speed) / u[3];
///     }
///     fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
///         y.copy_from_slice(x.v);
///     }
/// }
///
/// fn parameter((name, unit, nominal): (&str, &str, f64)) -> Parameter {
///     Parameter::new(name, unit, nominal)
/// }
/// # costate::Plain::new(Motor).unwrap();
/// ```
pub trait Model: Send + Sync {
    /// Names and units of everything; called once.
    fn signature(&self) -> Signature;

    /// Positions `q` and velocities `v` at the start, and behind these the states, as functions of the parameters. Default: zero.
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let _ = (u, q, v);
    }

    /// Mass matrix M(q, u), symmetric, coordinates x coordinates; may be singular as long as the constraints determine the
    /// rest. States have none: their rows and columns are not the model's to fill.
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>);

    /// Generalised force Q(t, q, v, w, u), one entry a coordinate; `w` are the inputs at time `t`, and states follow the velocities
    /// in `v`.
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]);

    /// Rates z' of the states, in their units a second, one entry a state; `v` are the velocities, then the states. Default: zero.
    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        let _ = (t, q, v, w, u, rates);
    }

    /// Constraints C(t, q, u) = 0, one entry a row. Default: none.
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let _ = (t, q, u, c);
    }

    /// Outputs y, what a sensor would see. Default: zero.
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let _ = (t, x, u, y);
    }

    /// Draws the mechanism where it is at time `t`, with y upwards, for `costate_report::plot::mechanism` and the commands `draw` and
    /// `animate`. Default: it has no picture.
    ///
    /// ```
    /// # use costate::Drawing;
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

/// Takes all entries of `values` by name: `let [m, c, d] = unpack(u);`.
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
    /// Velocities, then states.
    pub v: &'a [D],
    /// Accelerations at this time: consistent with the equations of motion, what a sensor sees. Then the rates of states.
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
        // it would be an entry of another row, and a wrong model without a word
        assert!(column < self.columns, "there is no column {column}");
        &self.entries[row * self.columns + column]
    }
}

impl<D> IndexMut<(usize, usize)> for Matrix<D> {
    #[inline]
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut D {
        assert!(column < self.columns, "there is no column {column}");
        &mut self.entries[row * self.columns + column]
    }
}
