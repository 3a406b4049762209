//! The quadratic model of a sum of squares, ½ |r + S d|², damped by ½ λ |D d|².
//!
//! S is used through the singular values of R D⁻¹ (R: the triangular factor of S), which is the factorisation of the stacked
//! matrix [R; √λ D] for every λ at once, never through SᵀS. Directions that the residuals do not determine are left alone.

use super::bounded_step::{BoundedModel, Quadratic, Suggestion};
use crate::least_squares::Linearised;
use nalgebra::{DMatrix, DVector};

/// Singular values below this part of the largest are round-off.
const RANK_TOLERANCE: f64 = 1e-13;
/// A radius is met to this relative accuracy.
const RADIUS_TOLERANCE: f64 = 0.1;
/// Bisections for a radius.
const MAX_SEARCH: usize = 100;

/// The linearisation at a point.
pub(crate) struct ResidualModel<'a> {
    model: &'a Linearised,
    /// D, positive.
    weights: &'a [f64],
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

impl<'a> ResidualModel<'a> {
    pub fn new(model: &'a Linearised, weights: &'a [f64]) -> Self {
        ResidualModel { model, weights, factors: Vec::new() }
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
}

impl Quadratic for ResidualModel<'_> {
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

    fn weighted_slopes(&self, d: &[f64], damping: f64) -> Vec<f64> {
        let step = DVector::from_column_slice(d);
        let slopes = self.model.factor().tr_mul(&(self.model.projected() + self.model.factor() * step));
        (0..d.len()).map(|i| slopes[i] / self.weights[i] + damping * self.weights[i] * d[i]).collect()
    }

    fn slope_size(&self) -> f64 {
        self.model.projected().norm()
    }

    fn bend(&self, d: &[f64]) -> f64 {
        (self.model.factor() * DVector::from_column_slice(d)).norm_squared()
    }
}

impl BoundedModel<'_, ResidualModel<'_>> {
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
}
