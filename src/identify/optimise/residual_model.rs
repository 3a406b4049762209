//! The quadratic model of a sum of squares, ½ |r + S d|², damped by ½ λ |D d|²; perhaps with what it leaves out of the Hessian.
//!
//! Without that, S is used through the singular values of R D⁻¹ (R: the triangular factor of S), which is the factorisation of the stacked
//! matrix [R; √λ D] for every λ at once, never through SᵀS. Directions that the residuals do not determine are left alone.

use super::bounded_step::Quadratic;
use super::hessian_model::factor;
use crate::least_squares::Linearised;
use nalgebra::{DMatrix, DVector};

/// Singular values below this part of the largest are round-off.
const RANK_TOLERANCE: f64 = 1e-13;
/// The linearisation at a point.
pub(crate) struct ResidualModel<'a> {
    model: &'a Linearised,
    /// D, positive.
    weights: &'a [f64],
    /// D⁻¹ (SᵀS + C) D⁻¹, positive definite, where the residuals' own curvature C is to count.
    hessian: Option<DMatrix<f64>>,
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
    /// `hessian`: see [`ResidualCurvature::hessian`](super::residual_curvature::ResidualCurvature::hessian).
    pub fn new(model: &'a Linearised, weights: &'a [f64], hessian: Option<DMatrix<f64>>) -> Self {
        ResidualModel { model, weights, hessian, factors: Vec::new() }
    }

    /// D d.
    fn weighted(&self, d: &[f64]) -> DVector<f64> {
        DVector::from_iterator(d.len(), d.iter().zip(self.weights).map(|(d, weight)| d * weight))
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

impl ResidualModel<'_> {
    /// By Cholesky's factor of the whole Hessian.
    fn solve_with(&self, hessian: &DMatrix<f64>, staying: &[bool], damping: f64, d: &mut [f64]) {
        let moving: Vec<usize> = (0..staying.len()).filter(|&i| !staying[i]).collect();
        moving.iter().for_each(|&i| d[i] = 0.0);
        let slopes = self.weighted_slopes(d, 0.0);
        let right = DVector::from_iterator(moving.len(), moving.iter().map(|&i| -slopes[i]));
        // a part of a positive definite matrix is one; should round-off say otherwise, these variables stay
        if let Some(factor) = factor(hessian, staying, damping) {
            let step = factor.solve(&right);
            moving.iter().zip(step.iter()).for_each(|(&i, step)| d[i] = step / self.weights[i]);
        }
    }
}

impl Quadratic for ResidualModel<'_> {
    fn solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]) {
        if let Some(hessian) = &self.hessian {
            return self.solve_with(hessian, staying, damping, d);
        }
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
        let factor = self.model.factor();
        let damped = |i: usize, slope: f64| slope + damping * self.weights[i] * d[i];
        if let Some(hessian) = &self.hessian {
            let (slopes, bends) = (factor.tr_mul(self.model.projected()), hessian * self.weighted(d));
            return (0..d.len()).map(|i| damped(i, slopes[i] / self.weights[i] + bends[i])).collect();
        }
        let slopes = factor.tr_mul(&(self.model.projected() + factor * DVector::from_column_slice(d)));
        (0..d.len()).map(|i| damped(i, slopes[i] / self.weights[i])).collect()
    }

    fn slope_size(&self) -> f64 {
        self.model.projected().norm()
    }

    fn bend(&self, d: &[f64]) -> f64 {
        match &self.hessian {
            Some(hessian) => {
                let z = self.weighted(d);
                z.dot(&(hessian * &z))
            }
            None => (self.model.factor() * DVector::from_column_slice(d)).norm_squared(),
        }
    }
}
