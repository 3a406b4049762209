//! Progress of a search, and whether more can be gained.

use super::evaluation::{Point, norm};
use super::outcome::Options;

/// Number of steps in a row without better cost or gradient after which the search has reached round-off, if that is all that is left to
/// gain.
const IDLE_STEPS: usize = 5;
/// Number of such steps after which the search does not get on, whatever its model promises.
const MOST_IDLE_STEPS: usize = 20;

/// The account of a search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    start_cost: f64,
    start_steepness: f64,
    /// The cost of what residuals are differences of, where it is known.
    scale: Option<f64>,
    /// Lowest cost and steepness at the last progress, and the steps since.
    cost: f64,
    steepness: f64,
    idle_steps: usize,
    /// Gain of the last step.
    pub last_gain: f64,
}

/// Standstill of a search: for how long nothing has been gained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    No,
    Some,
    Long,
}

impl Progress {
    /// Progress from the start; `scale`: see [`Objective::cost_scale`](super::Objective::cost_scale).
    pub fn new(start: &Point, scale: Option<f64>) -> Self {
        let Point { cost, steepness, .. } = *start;
        let (start_cost, start_steepness) = (cost.abs(), steepness);
        Progress { start_cost, start_steepness, scale, cost, steepness, idle_steps: 0, last_gain: 0.0 }
    }

    /// Steepness at the start.
    pub fn start_steepness(&self) -> f64 {
        self.start_steepness
    }

    /// The gradient's norm relative to that at the start.
    pub fn relative_gradient(&self, point: &Point) -> f64 {
        point.steepness / self.start_steepness
    }

    /// The cost of what residuals are differences of. Where that is not known: the cost at the start, or that of residuals which
    /// change as much as if every variable changed by its magnitude, whichever is less. `columns`: of the Jacobian, their norms.
    pub fn residual_scale(&self, point: &Point, columns: &[f64]) -> f64 {
        let of_variables = || {
            let changes: Vec<f64> = columns.iter().zip(&point.magnitudes).map(|(column, size)| column * size).collect();
            0.5 * norm(changes.into_iter()).powi(2)
        };
        self.scale.unwrap_or_else(|| self.start_cost.min(of_variables()))
    }

    /// Takes note of an accepted point, and says whether the last few have brought anything.
    pub fn note(&mut self, current: &Point, next: &Point, noise: f64) -> Idle {
        self.last_gain = current.cost - next.cost;
        if next.cost < self.cost - noise * self.cost.abs() || next.steepness < 0.9 * self.steepness {
            self.cost = next.cost.min(self.cost);
            self.steepness = next.steepness.min(self.steepness);
            self.idle_steps = 0;
        } else {
            self.idle_steps += 1;
        }
        match self.idle_steps {
            steps if steps >= MOST_IDLE_STEPS => Idle::Long,
            steps if steps >= IDLE_STEPS => Idle::Some,
            _ => Idle::No,
        }
    }

    /// Has the gradient fallen by this factor since the start?
    pub fn is_gradient_small(&self, point: &Point, tolerance: f64) -> bool {
        point.steepness <= tolerance * self.start_steepness
    }

    /// The gradient has vanished, measured by that at the start; and, as a start may be absurd, so has what a quadratic model
    /// still promises: measured by the cost here, or by the cost of what residuals are differences of (the start's, where that is
    /// not known).
    pub fn is_finished(&self, point: &Point, promise: f64, options: &Options) -> bool {
        let tolerance = options.gradient_tolerance;
        let scale = self.scale.unwrap_or(self.start_cost);
        let little = (options.cost_noise * point.cost.abs()).max(tolerance * tolerance * scale);
        self.is_gradient_small(point, tolerance) && promise <= little
    }

    /// True if what the model still promises is within the uncertainty of the cost, for relative errors `noise`: of the cost, and of the
    /// numbers that residuals are differences of? Where the scale of these is not known, the start's residuals stand for them, or,
    /// as a start may be absurd, what errors of the variables make, whichever is less: derivatives may be absurd, too.
    pub fn is_round_off(&self, promise: f64, point: &Point, noise: f64) -> bool {
        let noise = noise.max(16.0 * f64::EPSILON);
        let cost = point.cost.abs();
        let of_scale = |scale: f64| (cost * scale).sqrt() + noise * scale;
        let of_variables =
            || point.scaled_gradient.iter().zip(&point.magnitudes).map(|(g, size)| g.abs() * size).sum::<f64>();
        let more = self.scale.map_or_else(|| of_scale(self.start_cost).min(of_variables()), of_scale);
        promise <= noise * (cost + more)
    }
}
