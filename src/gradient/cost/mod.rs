//! Costs that are minimised: J = Σ_i η_i g(t_i, x_i, y_i, u) + S(x_N), behind object-safe traits in plain `f64`.

mod goals;
mod least_squares;
mod loss;
mod low_pass;
mod places;
pub(crate) mod sensor;
pub mod spectrum;
pub(crate) mod stencil;
mod sum;

pub use goals::{Aim, Goal, Goals};
pub use least_squares::{LeastSquares, Reference};
pub use loss::{LOSS_SCALE, Loss};
pub use sensor::{Sensor, Sensors};
pub use sum::Sum;

use crate::Result;
use crate::grid::TimeGrid;
use crate::signature::Signature;
use crate::system::{OutputPoint, StateVector};

/// The weights η_i of a sum over the time grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quadrature {
    /// η_i = h_{i+1}, and η_N = 0 (Lauss 2018, eq. (4)).
    #[default]
    Rectangle,
    /// Half the sum of the steps on both sides: second order.
    Trapezoid,
    /// η_i = 1: the plain sum of statistics.
    Unit,
}

impl Quadrature {
    /// Weight of a time with a step `before` it and a step `after` it (zero where there is none).
    pub fn weight(self, before: f64, after: f64) -> f64 {
        match self {
            Quadrature::Rectangle => after,
            Quadrature::Trapezoid => 0.5 * (before + after),
            Quadrature::Unit => 1.0,
        }
    }
}

/// One time of a simulation, as a cost sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// Number of the time, from 0.
    pub index: usize,
    /// Number of the last time.
    pub last: usize,
    /// Step before this time (0 at the start), s.
    pub before: f64,
    /// Step after this time (0 at the end), s.
    pub after: f64,
    /// The state.
    pub x: OutputPoint<'a>,
    /// The outputs.
    pub y: &'a [f64],
    /// The parameters.
    pub u: &'a [f64],
}

/// One residual of a sum of squares.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SquaredRow {
    /// The output that it is about, by its place.
    pub output: usize,
    /// Value of the residual, with its weight's root.
    pub residual: f64,
    /// Derivative of the residual by that output.
    pub slope: f64,
}

/// A cost function. Shared between threads; the work is done by its evaluators.
pub trait Cost: Send + Sync {
    /// Fits the cost to a system and a time grid.
    ///
    /// # Errors
    /// If they do not go together.
    fn check(&self, signature: &Signature, grid: &TimeGrid) -> Result<()>;

    /// A workspace for one thread.
    fn evaluator(&self, signature: &Signature) -> Box<dyn CostEvaluator + '_>;

    /// The least-squares structure, if it has one.
    fn as_least_squares(&self) -> Option<&LeastSquares> {
        None
    }

    /// Sensors through which the cost sees outputs, where it does not see them as they are. Of such outputs it may be a sum of squares
    /// only.
    fn sensors(&self) -> Option<&Sensors> {
        None
    }

    /// Appends the residuals of one time, if the cost is half a sum of their squares and each is linear in one output. `false` if it is
    /// not.
    fn squared_rows(&self, sample: &Sample<'_>, rows: &mut Vec<SquaredRow>) -> bool {
        let _ = (sample, rows);
        false
    }
}

/// A workspace for one cost function and one thread; no allocation after its construction.
pub trait CostEvaluator: Send {
    /// True if the cost takes part at this time at all.
    fn concerns(&self, index: usize, last: usize) -> bool {
        let _ = (index, last);
        true
    }

    /// The weight of a time in the cost's sum, where the cost has its own and does not take it from the sample's steps.
    fn own_weight(&self, index: usize) -> Option<f64> {
        let _ = index;
        None
    }

    /// Contribution of one time to J.
    fn value(&mut self, sample: &Sample<'_>) -> f64;

    /// Adds the derivative of [`CostEvaluator::value`] by the state and the parameters to `state`, by the outputs to `y`.
    fn gradient(&mut self, sample: &Sample<'_>, state: &mut StateVector, y: &mut [f64]);

    /// Adds the derivative of that gradient along a tangent of state, parameters and outputs to `state` and `y`.
    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        tangent: &StateVector,
        y_tangent: &[f64],
        state: &mut StateVector,
        y: &mut [f64],
    );
}
