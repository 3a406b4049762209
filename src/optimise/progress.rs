//! Where a search started, what it has gained, and whether more can be gained.

use super::evaluation::Point;

/// So many steps in a row without better cost or gradient, and the search has reached round-off.
const IDLE_STEPS: usize = 5;

/// The account of a search.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    start_cost: f64,
    start_gradient_norm: f64,
    /// Lowest cost and gradient norm at the last progress, and the steps since.
    cost: f64,
    gradient_norm: f64,
    idle_steps: usize,
}

impl Progress {
    pub fn new(start: &Point) -> Self {
        let Point { cost, gradient_norm, .. } = *start;
        Progress { start_cost: cost, start_gradient_norm: gradient_norm, cost, gradient_norm, idle_steps: 0 }
    }

    /// The gradient's norm relative to that at the start.
    pub fn relative_gradient(&self, point: &Point) -> f64 {
        point.gradient_norm / self.start_gradient_norm
    }

    /// The cost at the start.
    pub fn start_cost(&self) -> f64 {
        self.start_cost
    }

    /// Takes note of an accepted point. True if the last few have brought nothing.
    pub fn is_idle_after(&mut self, next: &Point, noise: f64) -> bool {
        if next.cost < self.cost - noise * self.cost.abs() || next.gradient_norm < 0.9 * self.gradient_norm {
            self.cost = next.cost.min(self.cost);
            self.gradient_norm = next.gradient_norm.min(self.gradient_norm);
            self.idle_steps = 0;
        } else {
            self.idle_steps += 1;
        }
        self.idle_steps >= IDLE_STEPS
    }

    /// Has the gradient fallen by this factor since the start?
    pub fn is_gradient_small(&self, point: &Point, tolerance: f64) -> bool {
        point.gradient_norm <= tolerance * self.start_gradient_norm
    }

    /// Is what the model still promises within the uncertainty of the cost? A cost that is half a sum of squares r'r, with
    /// errors of `noise` in r relative to r's size at the start, is uncertain by
    /// noise sqrt(J J_start) + noise^2 J_start besides the plain noise J.
    pub fn is_round_off(&self, model_decrease: f64, cost: f64, noise: f64) -> bool {
        let noise = noise.max(16.0 * f64::EPSILON);
        let (cost, start) = (cost.abs(), self.start_cost.abs());
        model_decrease <= noise * (cost + (cost * start).sqrt() + noise * start)
    }
}
