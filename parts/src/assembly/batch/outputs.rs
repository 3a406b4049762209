//! Outputs of the elements of a batch.

use super::super::pattern::Values;
use super::local::{LocalState, clear, gather, gather_state, scatter_state};
use super::{Batch, BatchEvaluator};
use costate::State;
use costate::linearise::{OutputKernel, Sizes, output_kernel};
use costate::system::{OutputPoint, StateVector};

pub(super) struct OutputKernels {
    kernel: Box<dyn OutputKernel>,
    entries: Vec<f64>,
    /// The derivatives are linear ones, and in place.
    current: bool,
}

impl OutputKernels {
    pub fn new(batch: &Batch) -> Self {
        OutputKernels {
            kernel: output_kernel(batch.sizes, batch.plans.output.clone()),
            entries: vec![0.0; batch.plans.output_entries.len()],
            current: false,
        }
    }

    pub fn forget(&mut self) {
        self.current = false;
    }
}

impl BatchEvaluator<'_> {
    /// Adds the outputs.
    pub fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        let batch = self.batch;
        let Sizes { outputs, .. } = batch.sizes;
        if outputs == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take_output(batch, e, x);
            self.rows[..outputs].fill(0.0);
            let LocalState { q, v, a, a_scheme, lambda, w } = &self.x;
            let own = &self.u[e * batch.sizes.p..(e + 1) * batch.sizes.p];
            let state = State { q, v, a, a_scheme, lambda, w };
            model.output(x.t, &state, own, &mut self.rows[..outputs]);
            for (&place, value) in batch.outputs_of(e).iter().zip(&self.rows) {
                y[place as usize] += *value;
            }
        }
    }

    /// First derivatives of the outputs.
    pub fn linearise_output(&mut self, x: &OutputPoint<'_>, values: &mut Values) {
        let batch = self.batch;
        if batch.plans.output_entries.is_empty() || self.outputs.current {
            return;
        }
        let variables = 4 * batch.sizes.n + batch.sizes.m;
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take_output(batch, e, x);
            let own = &self.u[e * batch.sizes.p..(e + 1) * batch.sizes.p];
            let OutputKernels { kernel, entries, .. } = &mut self.outputs;
            kernel.set_parameters(own);
            kernel.evaluate(model, &self.x.output_point(x.t), entries);
            let mut by_state = values.output[batch.places(e, |p| p.output)].iter_mut();
            let by_parameter = batch.places(e, |p| p.output_by_parameter);
            let mut by_parameter = values.output_by_parameter[by_parameter].iter_mut();
            for (&(_, variable), value) in batch.plans.output_entries.iter().zip(entries) {
                let next = if variable < variables { by_state.next() } else { by_parameter.next() };
                next.into_iter().for_each(|place| *place = *value);
            }
        }
        self.outputs.current = batch.structure.output_is_linear;
    }

    /// Adds ∇ ∂_X (ȳᵀ y) to `cotangent`.
    pub fn output_curvature(
        &mut self,
        x: &OutputPoint<'_>,
        y: &[f64],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let batch = self.batch;
        let Sizes { p, outputs, .. } = batch.sizes;
        if outputs == 0 || batch.structure.output_is_linear {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take_output(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            gather(&mut self.rows[..outputs], y, batch.outputs_of(e));
            clear(&mut self.cotangent);
            let own = &self.u[e * p..(e + 1) * p];
            let point = self.x.output_point(x.t);
            self.curvature.output(model, &point, own, &self.rows[..outputs], &self.tangent, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }
}
