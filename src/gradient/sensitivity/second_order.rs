//! Derivatives of sensitivities: by all parameters and inputs, of a weighted sum of the derivatives of what is compared.
//!
//! For weights g that are held, d/dc Σ_j Σ_i g_ij ∂z_i/∂u_j = Σ_j (∇²J_j e_j)_c with J_j = Σ_i g_ij z_i: one Hessian-vector product of a linear
//! cost for each parameter j, whose price does not depend on how many c there are.

use super::adjoint::take_inputs;
use super::{Change, Gradient};
use crate::Result;
use crate::cost::{CostEvaluator, LeastSquares, Sample};
use crate::scheme::Direction;
use crate::simulate::{Keep, Workspace};
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
    /// made with; afterwards it has another one. `share`: that number of as many parts of the sum, by parameters or by times, for several threads.
    ///
    /// # Errors
    /// As [`Gradient::hessian`].
    pub fn slope_of_sensitivities(
        &mut self,
        u: &[f64],
        comparison: &'p LeastSquares,
        weighted: &[SlopeWeights],
        share: (usize, usize),
    ) -> Result<Change> {
        let given = self.workspace.simulation.given();
        if given.scheme().description().of_given_motion
            && given.reads_steps_alone()
            && comparison.sensors().all().is_empty()
        {
            return self.slope_time_by_time(u, comparison, weighted, share);
        }
        let mut sum = Change { u: vec![0.0; u.len()], w: vec![0.0; self.by_inputs.len()] };
        let mut gradient = vec![0.0; u.len()];
        let mut direction = [Change { u: vec![0.0; u.len()], w: Vec::new() }];
        for SlopeWeights { parameter, weights } in weighted.iter().skip(share.0).step_by(share.1) {
            self.cost = Box::new(WeightedSamples { comparison, weights: weights.clone() });
            direction[0].u[*parameter] = 1.0;
            let mut product = [Change { u: vec![0.0; u.len()], w: Vec::new() }];
            self.hessian_changes(u, &direction, &mut gradient, &mut product)?;
            direction[0].u[*parameter] = 0.0;
            sum.u.iter_mut().zip(&product[0].u).for_each(|(sum, own)| *sum += own);
            sum.w.iter_mut().zip(&product[0].w).for_each(|(sum, own)| *sum += own);
        }
        Ok(sum)
    }

    /// The same where every state follows from parameters and its own time alone: there the changes of all parameters go together as one change an
    /// output, another one at each time.
    fn slope_time_by_time(
        &mut self,
        u: &[f64],
        comparison: &LeastSquares,
        weighted: &[SlopeWeights],
        share: (usize, usize),
    ) -> Result<Change> {
        let (model, _) = self.split(u)?;
        self.workspace.forward(model, Keep::States, &mut |_, _, _| {})?;
        self.choose(u)?;
        self.workspace.forget_orders();
        let given = self.workspace.simulation.given();
        let (signature, grid) = (given.signature(), given.grid());
        let zero = StateVector::with_memory(signature, self.workspace.layout.memory);
        let references = comparison.references();
        let [mut tangents, mut bars] = [(); 2].map(|()| vec![zero.clone(); references.len()]);
        let mut sum = Change { u: vec![0.0; u.len()], w: vec![0.0; self.by_inputs.len()] };
        // shares of samples, which may be a few of the times
        let samples = (0..=grid.count()).filter_map(|i| Some((i, comparison.places().sample(i)?)));
        for (i, sample) in samples.skip(share.0).step_by(share.1) {
            Workspace::go_on(&self.workspace.interrupt, grid, i)?;
            self.workspace.reach(i)?;
            for (r, (tangent, bar)) in tangents.iter_mut().zip(&mut bars).enumerate() {
                tangent.clone_from(&zero);
                weighted.iter().for_each(|own| tangent.u[own.parameter] += own.weights[r][sample]);
                bar.clone_from(&zero);
            }
            if i == 0 {
                self.workspace.push_start(&mut tangents)?;
            }
            self.workspace.push_step(i, &mut tangents)?;
            let Workspace { simulation, states, evaluator, stepper, room, start: f_0, .. } = &mut self.workspace;
            let (simulation, evaluator) = (&*simulation, &mut **evaluator);
            let x = states.view(i, simulation, room);
            evaluator.linearise_output(&x);
            let mut directions = Vec::new();
            for ((bar, tangent), reference) in bars.iter_mut().zip(&tangents).zip(references) {
                self.y_bar.fill(0.0);
                self.y_bar[reference.output] = 1.0;
                evaluator.output_pull_back(&self.y_bar, bar);
                let mut cotangent = zero.clone();
                evaluator.output_curvature(&x, &self.y_bar, tangent, &mut cotangent);
                directions.push(Direction { before: zero.clone(), tangent: tangent.clone(), cotangent });
            }
            let (step, mut of_time) = (simulation.step(i), zero.clone());
            states.give(&step, stepper);
            stepper.pull_all_back(evaluator, signature, &step, &mut bars, &mut directions)?;
            for (bar, direction) in bars.iter_mut().zip(&mut directions) {
                let direction = std::slice::from_mut(direction);
                if let (0, Some(f_0)) = (i, &mut *f_0) {
                    let start = states.start(step.t, step.w);
                    f_0.pull_back(evaluator, signature, &start, bar, direction)?;
                }
                // what is left at the time before cancels but for round-off: constraints alone give the motion
                let Direction { cotangent, .. } = &direction[0];
                let parts = [(&mut of_time.w, &cotangent.w), (&mut of_time.w_other, &cotangent.w_other)];
                for (sum, own) in parts.into_iter().chain([(&mut sum.u, &cotangent.u)]) {
                    sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                }
            }
            take_inputs(given.rows_of(i), &mut of_time, &mut sum.w);
            self.workspace.counters.factorisations += 1;
        }
        self.clear_inactive(&mut sum.u);
        Ok(sum)
    }
}
