//! The step that a linearisation of the residuals suggests, damped and within bounds:
//! minimise ½ |r + S d|² + ½ λ |D d|² over the d that the bounds permit.
//!
//! S is used through the singular values of R D⁻¹ (R: the triangular factor of S), which is the factorisation of the stacked
//! matrix [R; √λ D] for every λ at once, never through SᵀS. Directions that the residuals do not determine are left alone.

use super::evaluation::{Point, norm};
use super::variable::Scaling;
use crate::least_squares::Linearised;
use nalgebra::{DMatrix, DVector};

/// Singular values below this part of the largest are round-off.
const RANK_TOLERANCE: f64 = 1e-13;
/// A radius is met to this relative accuracy.
const RADIUS_TOLERANCE: f64 = 0.1;
/// Bisections for a radius.
const MAX_SEARCH: usize = 100;

/// The linearisation at a point.
pub(crate) struct BoundedModel<'a> {
    model: &'a Linearised,
    gradient: &'a [f64],
    /// D, positive.
    weights: &'a [f64],
    /// Least and largest step of each variable.
    ranges: Vec<(f64, f64)>,
    /// At a bound with the cost falling outwards, or fixed.
    held: Vec<bool>,
    /// Singular value decompositions by the set of variables that stay where they are.
    factors: Vec<(Vec<bool>, Factor)>,
}

/// R D⁻¹ = U Σ Vᵀ for the variables that move.
struct Factor {
    moving: Vec<usize>,
    u: DMatrix<f64>,
    singular: DVector<f64>,
    v_t: DMatrix<f64>,
}

/// A step, and what the linearisation promises for it.
#[derive(Debug, Clone)]
pub(crate) struct Suggestion {
    pub d: Vec<f64>,
    pub damping: f64,
    /// The decrease of the cost: >= 0 but for round-off.
    pub promise: f64,
}

impl<'a> BoundedModel<'a> {
    pub fn new(point: &'a Point, model: &'a Linearised, weights: &'a [f64], scaling: &Scaling) -> Self {
        let n = point.x.len();
        BoundedModel {
            model,
            gradient: &point.scaled_gradient,
            weights,
            ranges: (0..n).map(|i| scaling.range(i, point.x[i])).collect(),
            held: (0..n).map(|i| scaling.is_held(i, point.x[i], point.scaled_gradient[i])).collect(),
            factors: Vec::new(),
        }
    }

    /// The step with this damping. Variables that would leave are put onto their bounds, the others then do without them;
    /// one that the model pulls back inside is let go again, once.
    pub fn minimiser(&mut self, damping: f64) -> Suggestion {
        let n = self.held.len();
        let mut d = vec![0.0; n];
        let mut staying = self.held.clone();
        let mut released = vec![false; n];
        loop {
            self.solve(&staying, damping, &mut d);
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
            let slopes = self.slopes(&d, damping);
            let pull = |&i: &usize| {
                let (least, most) = self.ranges[i];
                let inwards = (d[i] <= least && slopes[i] < 0.0) || (d[i] >= most && slopes[i] > 0.0);
                staying[i] && !released[i] && least < most && inwards
            };
            let relative = |i: &usize| slopes[*i].abs() / self.weights[*i];
            let pulled = (0..n).filter(pull).max_by(|a, b| relative(a).total_cmp(&relative(b)));
            match pulled.filter(|i| relative(i) > 1e-12 * self.model.projected().norm()) {
                Some(i) => (staying[i], released[i]) = (false, true),
                None => break,
            }
        }
        Suggestion { promise: self.promise(&d), d, damping }
    }

    /// The least damped step with `size(d) <= 1`, to 10 %.
    pub fn within(&mut self, size: impl Fn(&[f64]) -> f64) -> Suggestion {
        let largest = 1.0 + RADIUS_TOLERANCE;
        let undamped = self.minimiser(0.0);
        if size(&undamped.d) <= largest {
            return undamped;
        }
        // The columns of R D⁻¹ have at most length 1, so that 1 damps every direction.
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

    /// Puts the moving components of the minimiser into d; those that stay are as they are.
    fn solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]) {
        let place = match self.factors.iter().position(|(set, _)| set == staying) {
            Some(place) => place,
            None => {
                self.factors.push((staying.to_vec(), self.factor(staying)));
                self.factors.len() - 1
            }
        };
        for i in (0..d.len()).filter(|&i| !staying[i]) {
            d[i] = 0.0;
        }
        let residual = self.model.projected() + self.model.factor() * DVector::from_column_slice(d);
        let Factor { moving, u, singular, v_t } = &self.factors[place].1;
        if moving.is_empty() {
            return;
        }
        let mut y = u.tr_mul(&residual);
        let largest = singular.max();
        for (y, s) in y.iter_mut().zip(singular) {
            *y = if *s > RANK_TOLERANCE * largest { -*y * s / (s * s + damping) } else { 0.0 };
        }
        let y = v_t.tr_mul(&y);
        for (&i, y) in moving.iter().zip(&y) {
            d[i] = y / self.weights[i];
        }
    }

    fn factor(&self, staying: &[bool]) -> Factor {
        let moving: Vec<usize> = (0..staying.len()).filter(|&i| !staying[i]).collect();
        let rows = staying.len();
        let scaled =
            DMatrix::from_fn(rows, moving.len(), |i, j| self.model.factor()[(i, moving[j])] / self.weights[moving[j]]);
        let empty = || (DMatrix::zeros(rows, 0), DVector::zeros(0), DMatrix::zeros(0, 0));
        let (u, singular, v_t) = if moving.is_empty() {
            empty()
        } else {
            let svd = scaled.svd(true, true);
            match (svd.u, svd.v_t) {
                (Some(u), Some(v_t)) => (u, svd.singular_values, v_t),
                // both were asked for
                _ => empty(),
            }
        };
        Factor { moving, u, singular, v_t }
    }

    /// Slopes of the damped model at d.
    fn slopes(&self, d: &[f64], damping: f64) -> Vec<f64> {
        let step = DVector::from_column_slice(d);
        let slopes = self.model.factor().tr_mul(&(self.model.projected() + self.model.factor() * step));
        (0..d.len()).map(|i| slopes[i] + damping * self.weights[i] * self.weights[i] * d[i]).collect()
    }

    /// What the linearisation promises: without the cancellation of the two costs.
    fn promise(&self, d: &[f64]) -> f64 {
        let slope: f64 = d.iter().zip(self.gradient).map(|(d, g)| d * g).sum();
        -slope - 0.5 * (self.model.factor() * DVector::from_column_slice(d)).norm_squared()
    }

    /// D.
    pub fn weights(&self) -> &'a [f64] {
        self.weights
    }
}

/// |D d|.
pub(crate) fn weighted_norm(weights: &[f64], d: &[f64]) -> f64 {
    norm(d.iter().zip(weights).map(|(d, weight)| d * weight))
}
