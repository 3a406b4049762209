//! The quadratic model with an exact Hessian, gᵀd + ½ dᵀG d, damped by ½ σ |d|²; and what the Hessian's curvature is.

use super::bounded_step::{BoundedModel, Quadratic};
use super::evaluation::{Halt, ObjectiveEvaluator, Point, Step, norm};
use super::outcome::{Curvature, Reason};
use super::progress::Progress;
use costate::dense::{cholesky, symmetric_eigen};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// Eigenvalues that are negative by no more than this part of the largest are taken for zero: second derivatives of constrained
/// mechanisms carry relative errors up to about 1e-9.
const CURVATURE_NOISE: f64 = 1e-8;

/// A Hessian with respect to the scaled variables.
#[derive(Debug, Clone)]
pub(crate) struct Hessian {
    pub matrix: DMatrix<f64>,
    /// Curvature over the variables that no bound held where the Hessian was computed.
    pub curvature: Curvature,
    /// A direction of negative curvature, where the curvature is negative.
    pub downwards: Vec<f64>,
}

impl Hessian {
    /// Computes it at the point evaluated last. One that fails leaves no curvature, so that a step goes by the gradient.
    pub fn at(evaluator: &mut ObjectiveEvaluator, point: &Point) -> Step<Self> {
        let n = point.x.len();
        Ok(match evaluator.hessian(point)? {
            Some(matrix) => Hessian::new(matrix, &evaluator.scaling.held(point)),
            None => Hessian { matrix: DMatrix::zeros(n, n), curvature: Curvature::Unknown, downwards: Vec::new() },
        })
    }

    fn new(matrix: DMatrix<f64>, held: &[bool]) -> Self {
        if factor(&matrix, held, 0.0).is_some() {
            return Hessian { matrix, curvature: Curvature::Positive, downwards: Vec::new() };
        }
        // a congruence makes units drop out and leaves the signs of the eigenvalues
        let free = moving(held);
        let largest = |i: usize| free.iter().map(|&j| matrix[(i, j)].abs()).fold(0.0, f64::max);
        let scales: Vec<f64> = free.iter().map(|&i| largest(i).sqrt()).map(|s| if s > 0.0 { s } else { 1.0 }).collect();
        let scaled =
            DMatrix::from_fn(free.len(), free.len(), |i, j| matrix[(free[i], free[j])] / (scales[i] * scales[j]));
        let eigen = symmetric_eigen(scaled);
        let least = eigen.eigenvalues.imin();
        let is_negative = eigen.eigenvalues[least] < -CURVATURE_NOISE * eigen.eigenvalues.amax();
        let mut downwards = vec![0.0; held.len()];
        for (k, &i) in free.iter().enumerate() {
            downwards[i] = eigen.eigenvectors[(k, least)] / scales[k];
        }
        let curvature = if is_negative { Curvature::Negative } else { Curvature::Singular };
        Hessian { matrix, curvature, downwards }
    }

    /// H d.
    pub fn times(&self, d: &[f64]) -> Vec<f64> {
        (&self.matrix * DVector::from_column_slice(d)).as_slice().to_vec()
    }

    /// Largest decrease that the model with this Hessian promises from `point`: `inf` if it has no minimum there.
    pub fn most(&self, evaluator: &ObjectiveEvaluator, point: &Point) -> f64 {
        if factor(&self.matrix, &evaluator.scaling.held(point), 0.0).is_none() {
            return f64::INFINITY;
        }
        let quadratic = HessianModel::new(&self.matrix, &point.scaled_gradient);
        BoundedModel::new(quadratic, point, &evaluator.scaling).minimiser(0.0).promise
    }

    /// Stops at a minimum, as far as the gradient and this Hessian, which may be that of the point before, tell.
    pub fn stop_at_minimum(&self, evaluator: &ObjectiveEvaluator, progress: &Progress, point: &Point) -> Step<()> {
        let options = evaluator.options;
        if progress.is_gradient_small(point, options.gradient_tolerance)
            && progress.is_finished(point, self.most(evaluator, point), options)
        {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        Ok(())
    }
}

/// The model around a point.
pub(crate) struct HessianModel<'a> {
    hessian: &'a DMatrix<f64>,
    gradient: &'a [f64],
}

impl<'a> HessianModel<'a> {
    pub fn new(hessian: &'a DMatrix<f64>, gradient: &'a [f64]) -> Self {
        HessianModel { hessian, gradient }
    }
}

impl Quadratic for HessianModel<'_> {
    fn solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]) {
        let free = moving(staying);
        free.iter().for_each(|&i| d[i] = 0.0);
        let slopes = self.weighted_slopes(d, 0.0);
        let right = DVector::from_iterator(free.len(), free.iter().map(|&i| -slopes[i]));
        // a part of a positive definite matrix is one; should round-off say otherwise, these variables stay
        if let Some(factor) = factor(self.hessian, staying, damping) {
            let step = factor.solve(&right);
            free.iter().zip(step.iter()).for_each(|(&i, step)| d[i] = *step);
        }
    }

    fn weighted_slopes(&self, d: &[f64], damping: f64) -> Vec<f64> {
        let product = self.hessian * DVector::from_column_slice(d);
        (0..d.len()).map(|i| self.gradient[i] + product[i] + damping * d[i]).collect()
    }

    fn slope_size(&self) -> f64 {
        norm(self.gradient.iter().copied())
    }

    fn bend(&self, d: &[f64]) -> f64 {
        let d = DVector::from_column_slice(d);
        d.dot(&(self.hessian * &d))
    }
}

fn moving(staying: &[bool]) -> Vec<usize> {
    (0..staying.len()).filter(|&i| !staying[i]).collect()
}

/// Cholesky's factor of H + σ I over the variables that move, if that is positive definite beyond round-off.
pub(crate) fn factor(hessian: &DMatrix<f64>, staying: &[bool], sigma: f64) -> Option<Cholesky<f64, Dyn>> {
    let free = moving(staying);
    let n = free.len();
    let matrix = DMatrix::from_fn(n, n, |i, j| hessian[(free[i], free[j])] + if i == j { sigma } else { 0.0 });
    let round_off = 4.0 * (n as f64 + 1.0) * f64::EPSILON;
    let diagonal = matrix.diagonal();
    let factor = cholesky(matrix)?;
    let lower = factor.l_dirty();
    // what cancels in a pivot leaves an error of its diagonal entry's size
    (0..n).all(|i| lower[(i, i)] * lower[(i, i)] > round_off * diagonal[i]).then_some(factor)
}
