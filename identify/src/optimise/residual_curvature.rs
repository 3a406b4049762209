//! Curvature of the residuals, which Gauss-Newton leaves out of a sum of squares' Hessian, C = Σ r_i ∇²r_i, learnt from gradients: a secant
//! method after Dennis, Gay & Welsch 1981 (NL2SOL).
//!
//! Where residuals are left at the minimum, C may be as large as SᵀS along some direction. Steps that do not know of it are then
//! wrong by a factor there, a trust region shrinks until they are harmless, and along every other direction the search creeps.
//!
//! A step s from x to x⁺ tells C s = y: the change of the gradient less that of the linearised residuals,
//! y = g⁺ - g - ½ (SᵀS + S⁺ᵀS⁺) s. (NL2SOL's y = (S⁺ - S)ᵀ r⁺ wants all residuals of two points at once; this one is as accurate
//! to first order in s.) Before it learns, C is scaled down to y, so that it vanishes with the residuals. It counts as long as it
//! predicts gradients better than SᵀS alone does.

use super::evaluation::{Point, norm};
use super::hessian_model::factor;
use costate::least_squares::Linearised;
use nalgebra::{DMatrix, DVector};

/// C counts once its predictions are better than those without it by this factor, and no longer where they are worse by it.
const BETTER: f64 = 2.0;

/// The secant approximation of C, with respect to the scaled variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResidualCurvature {
    matrix: DMatrix<f64>,
    counts: bool,
}

/// Curvatures below this part of the largest are taken for as much.
const LEAST_CURVATURE: f64 = 1e-12;

/// D⁻¹ (SᵀS + C) D⁻¹ with a matrix C.
fn relative(model: &Linearised, curvature: &DMatrix<f64>, weights: &[f64]) -> DMatrix<f64> {
    let whole = model.factor().tr_mul(model.factor()) + curvature;
    let n = weights.len();
    DMatrix::from_fn(n, n, |i, j| whole[(i, j)] / (weights[i] * weights[j]))
}

/// D⁻¹ (SᵀS + C) D⁻¹ with a matrix C that is exact, made positive definite over the variables that are not `held`: along directions of negative curvature,
/// by the size of that (Dauphin et al. 2014), so that steps lead away from saddles.
pub(crate) fn with_curvature(
    model: &Linearised,
    mut curvature: DMatrix<f64>,
    weights: &[f64],
    held: &[bool],
) -> Option<DMatrix<f64>> {
    // what has no influence has no curvature, and stays where it is
    let norms = model.column_norms();
    let without: Vec<usize> = (0..held.len()).filter(|&k| norms[k] == 0.0).collect();
    for &k in &without {
        curvature.row_mut(k).fill(0.0);
        curvature.column_mut(k).fill(0.0);
    }
    let mut all = relative(model, &curvature, weights);
    without.iter().for_each(|&k| all[(k, k)] = 1.0);
    if factor(&all, held, 0.0).is_some() {
        return Some(all);
    }
    let moving: Vec<usize> = (0..held.len()).filter(|&k| !held[k] && !without.contains(&k)).collect();
    let part = all.select_rows(&moving).select_columns(&moving);
    let mut eigen = nalgebra::SymmetricEigen::try_new(part, f64::EPSILON, 0)?;
    let least = LEAST_CURVATURE * eigen.eigenvalues.amax();
    eigen.eigenvalues.iter_mut().for_each(|value| *value = value.abs().max(least));
    let part = eigen.recompose();
    for (i, &row) in moving.iter().enumerate() {
        for (k, &column) in moving.iter().enumerate() {
            all[(row, column)] = 0.5 * (part[(i, k)] + part[(k, i)]);
        }
    }
    factor(&all, held, 0.0).map(|_| all)
}

impl ResidualCurvature {
    /// D⁻¹ (SᵀS + C) D⁻¹, if C counts, and that is positive definite over the variables that are not `held`.
    pub fn hessian(&self, model: &Linearised, weights: &[f64], held: &[bool]) -> Option<DMatrix<f64>> {
        let all = self.counts.then(|| relative(model, &self.matrix, weights))?;
        factor(&all, held, 0.0).map(|_| all)
    }

    /// Learns from a step that was taken. (Rejected ones, which went too far, mislead.)
    pub fn learn(&mut self, from: &Point, to: &Point, weights: &[f64]) {
        let (Some(here), Some(there)) = (&from.model, &to.model) else { return };
        let n = from.x.len();
        if self.matrix.nrows() != n {
            self.matrix = DMatrix::zeros(n, n);
        }
        let difference = |a: &[f64], b: &[f64]| DVector::from_iterator(n, a.iter().zip(b).map(|(a, b)| a - b));
        let step = difference(&to.x, &from.x);
        let change = difference(&to.scaled_gradient, &from.scaled_gradient);
        let bend = |model: &Linearised| model.factor().tr_mul(&(model.factor() * &step));
        let (bend_here, known) = (bend(here), &self.matrix * &step);
        let size = |error: &DVector<f64>| norm(error.iter().zip(weights).map(|(e, weight)| e / weight));
        let without = size(&(&change - &bend_here));
        let with = size(&(&change - &bend_here - &known));
        self.counts = if self.counts { with <= BETTER * without } else { BETTER * with < without };
        let y = &change - 0.5 * (bend_here + bend(there));
        self.update(&step, &y, &change, weights);
    }

    fn update(&mut self, step: &DVector<f64>, y: &DVector<f64>, change: &DVector<f64>, weights: &[f64]) {
        let known = step.dot(&(&self.matrix * step)).abs();
        let factor = if known > 0.0 { (step.dot(y).abs() / known).min(1.0) } else { 1.0 };
        let error = y - factor * (&self.matrix * step);
        // the change of the gradient where it is one of positive curvature, or else the weighted step
        let weighted = DVector::from_iterator(step.len(), step.iter().zip(weights).map(|(s, w)| s * w * w));
        let along = if step.dot(change) > 1e-3 * step.dot(&weighted) { change } else { &weighted };
        let slope = step.dot(along);
        let update = (&error * along.transpose() + along * error.transpose()) / slope
            - (step.dot(&error) / (slope * slope)) * (along * along.transpose());
        let next = factor * &self.matrix + update;
        if next.iter().all(|entry| entry.is_finite()) {
            self.matrix = next;
        }
    }
}
