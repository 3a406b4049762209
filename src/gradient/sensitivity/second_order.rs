//! Derivatives of sensitivities: by all parameters and inputs, of a weighted sum of the derivatives of what is compared.
//!
//! For weights g that are held, d/dc Σ_j Σ_i g_ij ∂z_i/∂u_j = Σ_j (∇²J_j e_j)_c with J_j = Σ_i g_ij z_i: one Hessian-vector product of a linear
//! cost for each parameter j, whose price does not depend on how many c there are.

use super::{Change, Gradient};
use crate::Result;
use crate::cost::{CostEvaluator, LeastSquares, Sample};
use crate::system::StateVector;

/// Weights of the derivatives of what is compared by one parameter: for each reference, one a sample.
pub struct SlopeWeights {
    /// The parameter, by its place.
    pub parameter: usize,
    /// Weights of each reference, one a sample.
    pub weights: Vec<Vec<f64>>,
}

/// Σ weight · z over the samples of a comparison.
struct WeightedSamples<'c> {
    comparison: &'c LeastSquares,
    weights: Vec<Vec<f64>>,
}

impl CostEvaluator for WeightedSamples<'_> {
    fn concerns(&self, index: usize, _last: usize) -> bool {
        self.comparison.places().sample(index).is_some()
    }

    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let Some(i) = self.comparison.places().sample(sample.index) else { return 0.0 };
        let references = self.comparison.references().iter().zip(&self.weights);
        references.map(|(reference, weights)| weights[i] * sample.y[reference.output]).sum()
    }

    fn gradient(&mut self, sample: &Sample<'_>, _state: &mut StateVector, y: &mut [f64]) {
        let Some(i) = self.comparison.places().sample(sample.index) else { return };
        let references = self.comparison.references().iter().zip(&self.weights);
        references.for_each(|(reference, weights)| y[reference.output] += weights[i]);
    }

    fn curvature(
        &mut self,
        _sample: &Sample<'_>,
        _tangent: &StateVector,
        _y_tangent: &[f64],
        _state: &mut StateVector,
        _y: &mut [f64],
    ) {
        // it is linear
    }
}

impl<'p> Gradient<'p> {
    /// The derivatives of Σ weight · ∂z/∂(parameter) by parameters and inputs, with weights that are held. `comparison` is the cost that this was
    /// made with; afterwards it has another one.
    ///
    /// # Errors
    /// As [`Gradient::hessian`].
    pub fn slope_of_sensitivities(
        &mut self,
        u: &[f64],
        comparison: &'p LeastSquares,
        weighted: impl IntoIterator<Item = SlopeWeights>,
    ) -> Result<Change> {
        let mut sum = Change { u: vec![0.0; u.len()], w: vec![0.0; self.by_inputs.len()] };
        let mut gradient = vec![0.0; u.len()];
        let mut direction = [Change { u: vec![0.0; u.len()], w: Vec::new() }];
        for SlopeWeights { parameter, weights } in weighted {
            self.cost = Box::new(WeightedSamples { comparison, weights });
            direction[0].u[parameter] = 1.0;
            let mut product = [Change { u: vec![0.0; u.len()], w: Vec::new() }];
            self.hessian_changes(u, &direction, &mut gradient, &mut product)?;
            direction[0].u[parameter] = 0.0;
            sum.u.iter_mut().zip(&product[0].u).for_each(|(sum, own)| *sum += own);
            sum.w.iter_mut().zip(&product[0].w).for_each(|(sum, own)| *sum += own);
        }
        Ok(sum)
    }
}
