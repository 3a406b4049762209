//! Time integrators. A scheme *is* the equation f_i(x_i, x_{i-1}, u) = 0 that it solves.
//!
//! What the recursions above need of a scheme: one step forward, and the products of that step's derivative with a
//! cotangent (for the adjoint) and with tangents. With f_i converged these are exactly
//!
//! ```text
//! pull back:     p = (∂f_i/∂x_i)⁻ᵀ x̄_i,   x̄_{i-1} = -(∂f_i/∂x_{i-1})ᵀ p,   ū -= (∂f_i/∂u)ᵀ p
//! push forward:  X_i = -(∂f_i/∂x_i)⁻¹ (∂f_i/∂x_{i-1} X_{i-1} + ∂f_i/∂u U)
//! ```

mod hht;
mod newton;
mod round_off;

pub use hht::{Form, Hht};
pub use newton::NewtonOptions;

use crate::error::Result;
use crate::signature::Signature;
use crate::system::{Evaluator, OutputPoint, Point, StateVector};

/// Where the parts of a state at work are: (q, v, a, a_scheme, λ, memory) one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Coordinates.
    pub n: usize,
    /// Constraint rows.
    pub m: usize,
    /// Numbers that the scheme carries besides.
    pub memory: usize,
}

impl Layout {
    /// Numbers a state.
    pub fn size(&self) -> usize {
        4 * self.n + self.m + self.memory
    }

    /// A state as outputs see it.
    #[inline]
    pub fn view<'a>(&self, x: &'a [f64], t: f64, w: &'a [f64]) -> OutputPoint<'a> {
        let n = self.n;
        let (q, rest) = x.split_at(n);
        let (v, rest) = rest.split_at(n);
        let (a, rest) = rest.split_at(n);
        let (a_scheme, rest) = rest.split_at(n);
        OutputPoint { t, q, v, a, a_scheme, lambda: &rest[..self.m], w }
    }

    /// What the scheme carries.
    pub fn memory<'a>(&self, x: &'a [f64]) -> &'a [f64] {
        &x[4 * self.n + self.m..]
    }

    /// The parts of a state to be written.
    pub fn parts<'a>(&self, x: &'a mut [f64]) -> StateParts<'a> {
        let (q, rest) = x.split_at_mut(self.n);
        let (v, rest) = rest.split_at_mut(self.n);
        let (a, rest) = rest.split_at_mut(self.n);
        let (a_scheme, rest) = rest.split_at_mut(self.n);
        let (lambda, memory) = rest.split_at_mut(self.m);
        StateParts { q, v, a, a_scheme, lambda, memory }
    }
}

/// The parts of one stored state.
#[derive(Debug)]
pub struct StateParts<'a> {
    /// Positions.
    pub q: &'a mut [f64],
    /// Velocities.
    pub v: &'a mut [f64],
    /// Consistent accelerations.
    pub a: &'a mut [f64],
    /// The scheme's accelerations.
    pub a_scheme: &'a mut [f64],
    /// Multipliers.
    pub lambda: &'a mut [f64],
    /// What the scheme carries.
    pub memory: &'a mut [f64],
}

/// One step: from time `t - h` to `t`.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Number of the step, from 1.
    pub index: usize,
    /// Time at its end, s.
    pub t: f64,
    /// Its size, s.
    pub h: f64,
    /// Inputs at its end.
    pub w: &'a [f64],
}

/// What a simulation cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Time steps.
    pub steps: usize,
    /// Newton iterations.
    pub iterations: usize,
    /// Factorisations of Newton's matrix, those of a gradient included.
    pub factorisations: usize,
}

/// A time integrator.
pub trait Scheme: std::fmt::Debug + Send + Sync {
    /// Its name in commands and files.
    fn name(&self) -> String;

    /// Its numerical damping parameter: α of HHT.
    fn parameter(&self) -> f64;

    /// How its states are laid out at work.
    fn layout(&self, signature: &Signature) -> Layout;

    /// The scheme's own acceleration at the end of a step, from the consistent ones at its beginning and its end: stored runs
    /// do without it.
    fn own_acceleration(&self, before: &[f64], after: &[f64], own: &mut [f64]);

    /// A workspace for one thread.
    fn stepper(&self, signature: &Signature) -> Box<dyn Stepper>;
}

/// A direction in which a sweep backwards is itself differentiated.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Tangent of the state that the sweep is at.
    pub tangent: StateVector,
    /// Derivative of the sweep's cotangent along it.
    pub cotangent: StateVector,
}

/// A scheme at work. A start state already holds consistent q, v, a, λ when it comes here.
pub trait Stepper {
    /// Fills in what the scheme keeps besides q, v, a, λ in a start state `x0`, and forgets earlier steps.
    fn start(&mut self, system: &mut dyn Evaluator, t: f64, w: &[f64], x0: &mut [f64]);

    /// From a cotangent of the whole start state to one of its q, v, a, λ; and its derivatives along directions.
    fn start_pull_back(
        &mut self,
        system: &mut dyn Evaluator,
        start: &Point<'_>,
        cotangent: &mut StateVector,
        directions: &mut [Direction],
    );

    /// From tangents of q, v, a, λ to those of the whole start state.
    fn start_push_forward(&mut self, system: &mut dyn Evaluator, start: &Point<'_>, tangents: &mut [StateVector]);

    /// Solves f_i(next, previous, u) = 0 for `next`.
    ///
    /// # Errors
    /// If Newton's iteration fails, a value overflows, or the matrix is singular.
    fn step(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        previous: &[f64],
        next: &mut [f64],
        counters: &mut Counters,
    ) -> Result<()>;

    /// Turns a cotangent of the step's end `x` into one of its beginning; adds to its parameters' part. Does the same to its derivatives along
    /// directions, whose tangents are those of `x`.
    ///
    /// # Errors
    /// If the matrix is singular.
    fn pull_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &OutputPoint<'_>,
        cotangent: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()>;

    /// Turns tangents of a step's beginning into those of its end `x`; their parameters' parts are the directions.
    ///
    /// # Errors
    /// If the matrix is singular.
    fn push_forward(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &OutputPoint<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()>;
}
