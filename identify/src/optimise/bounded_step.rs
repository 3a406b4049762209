//! The step that a damped quadratic model of the cost suggests within bounds:
//! minimise m(d) + ½ λ |D d|² over the d that the bounds permit.

use super::evaluation::{Point, dot};
use super::variable::Scaling;

/// A radius is met to this relative accuracy.
const RADIUS_TOLERANCE: f64 = 0.1;
/// Bisections for a radius.
const MAX_SEARCH: usize = 100;

/// A quadratic model m of the cost around a point.
pub(crate) trait Quadratic {
    /// Puts the minimiser of the damped model over the variables that are not `staying`, given those that are, into d.
    fn solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]);

    /// Slopes of the damped model at d, each relative to its variable's weight.
    fn weighted_slopes(&self, d: &[f64], damping: f64) -> Vec<f64>;

    /// The size of such slopes at d = 0.
    fn slope_size(&self) -> f64;

    /// Twice the undamped model's quadratic part at d.
    fn bend(&self, d: &[f64]) -> f64;
}

/// A model within bounds.
pub(crate) struct BoundedModel<'a, Q> {
    pub quadratic: Q,
    gradient: &'a [f64],
    /// Least and largest step of each variable.
    ranges: Vec<(f64, f64)>,
    /// True for variables at a bound with the cost falling outwards, or fixed.
    held: Vec<bool>,
}

/// A step, and what the model promises for it.
#[derive(Debug, Clone)]
pub(crate) struct Suggestion {
    pub d: Vec<f64>,
    pub damping: f64,
    /// The decrease of the cost: >= 0 but for round-off and models without a minimum.
    pub promise: f64,
}

impl<'a, Q: Quadratic> BoundedModel<'a, Q> {
    pub fn new(quadratic: Q, point: &'a Point, scaling: &Scaling) -> Self {
        let ranges = (0..point.x.len()).map(|i| scaling.range(i, point.x[i])).collect();
        BoundedModel { quadratic, gradient: &point.scaled_gradient, ranges, held: scaling.held(point) }
    }

    /// The step with this damping. Variables that would leave are put onto their bounds, the others then do without them;
    /// one that the model pulls back inside is let go again, once.
    pub fn minimiser(&mut self, damping: f64) -> Suggestion {
        let n = self.held.len();
        let mut d = vec![0.0; n];
        let mut staying = self.held.clone();
        let mut released = vec![false; n];
        loop {
            self.quadratic.solve(&staying, damping, &mut d);
            let mut left = false;
            for i in 0..n {
                if staying[i] {
                    continue;
                }
                let inside = d[i].clamp(self.ranges[i].0, self.ranges[i].1);
                // also what is not a number stays
                if inside != d[i] {
                    d[i] = if inside.is_finite() { inside } else { 0.0 };
                    (staying[i], left) = (true, true);
                }
            }
            if left {
                continue;
            }
            let slopes = self.quadratic.weighted_slopes(&d, damping);
            let pull = |&i: &usize| {
                let (least, most) = self.ranges[i];
                let inwards = (d[i] <= least && slopes[i] < 0.0) || (d[i] >= most && slopes[i] > 0.0);
                staying[i] && !released[i] && least < most && inwards
            };
            let pulled = (0..n).filter(pull).max_by(|&a, &b| slopes[a].abs().total_cmp(&slopes[b].abs()));
            match pulled.filter(|&i| slopes[i].abs() > 1e-12 * self.quadratic.slope_size()) {
                Some(i) => (staying[i], released[i]) = (false, true),
                None => break,
            }
        }
        // without the cancellation of two costs
        let promise = -dot(&d, self.gradient) - 0.5 * self.quadratic.bend(&d);
        Suggestion { promise, d, damping }
    }

    /// The least damped step with `size(d) <= 1`, to 10 %.
    pub fn within(&mut self, size: impl Fn(&[f64]) -> f64) -> Suggestion {
        let largest = 1.0 + RADIUS_TOLERANCE;
        let undamped = self.minimiser(0.0);
        if size(&undamped.d) <= largest {
            return undamped;
        }
        // Relative to the weights, the model bends by about 1, so that 1 damps every direction.
        let (mut low, mut high) = (0.0, 1e-4);
        let mut best = self.minimiser(high);
        while size(&best.d) > largest && high < 1e300 {
            (low, high) = (high, 100.0 * high);
            best = self.minimiser(high);
        }
        for _ in 0..MAX_SEARCH {
            if size(&best.d) >= 1.0 - RADIUS_TOLERANCE || high < 1e-30 {
                break;
            }
            let middle = if low == 0.0 { 1e-2 * high } else { (low * high).sqrt() };
            if middle <= low || middle >= high {
                break;
            }
            let trial = self.minimiser(middle);
            if size(&trial.d) > largest {
                low = middle;
            } else {
                (high, best) = (middle, trial);
            }
        }
        best
    }
}
