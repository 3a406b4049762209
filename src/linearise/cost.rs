//! A cost written as plain generic functions, with its gradient by dual numbers.

use super::structure::state_of;
use crate::cost::{Cost, CostEvaluator, Quadrature, Sample};
use crate::error::Result;
use crate::model::State;
use crate::number::{Jet, Number};
use crate::signature::Signature;
use crate::system::StateVector;

/// J = Σ_i η_i `running` + `terminal`, in anything that a state, the outputs and the parameters hold.
pub trait CostFunction: Send + Sync {
    /// g(t, x, y, u). Default: zero.
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let _ = (t, x, y, u);
        D::from(0.0)
    }

    /// S(t, x, y, u) at the last time. Default: zero.
    fn terminal<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let _ = (t, x, y, u);
        D::from(0.0)
    }
}

/// A [`CostFunction`] with the weights of its sum, as a [`Cost`].
#[derive(Debug, Clone)]
pub struct Differentiated<F> {
    function: F,
    quadrature: Quadrature,
}

impl<F: CostFunction> Differentiated<F> {
    /// The cost of `function` with the weights of `quadrature`.
    pub fn new(function: F, quadrature: Quadrature) -> Self {
        Differentiated { function, quadrature }
    }

    fn contribution<D: Number>(&self, sample: &Sample<'_>, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let weight = self.quadrature.weight(sample.before, sample.after);
        let running = self.function.running(sample.x.t, x, y, u) * weight;
        if sample.index == sample.last { running + self.function.terminal(sample.x.t, x, y, u) } else { running }
    }
}

impl<F: CostFunction> Cost for Differentiated<F> {
    fn check(&self, _signature: &Signature, _times: &[f64]) -> Result<()> {
        Ok(())
    }

    fn evaluator(&self, signature: &Signature) -> Box<dyn CostEvaluator + '_> {
        let (n, m) = (signature.coordinates.len(), signature.constraints.len());
        let count = 4 * n + m + signature.inputs.len() + signature.outputs.len() + signature.parameters.len();
        Box::new(Evaluator { cost: self, n, m, inputs: signature.inputs.len(), x: vec![Jet::from(0.0); count] })
    }
}

const WIDTH: usize = 4;

struct Evaluator<'c, F> {
    cost: &'c Differentiated<F>,
    n: usize,
    m: usize,
    inputs: usize,
    /// q, v, a, a_scheme, lambda, w, y, u
    x: Vec<Jet<f64, WIDTH>>,
}

impl<F: CostFunction> CostEvaluator for Evaluator<'_, F> {
    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let x = &sample.x;
        let state = State { q: x.q, v: x.v, a: x.a, a_scheme: x.a_scheme, lambda: x.lambda, w: x.w };
        self.cost.contribution(sample, &state, sample.y, sample.u)
    }

    fn gradient(&mut self, sample: &Sample<'_>, state: &mut StateVector, y: &mut [f64]) {
        let parts =
            [sample.x.q, sample.x.v, sample.x.a, sample.x.a_scheme, sample.x.lambda, sample.x.w, sample.y, sample.u];
        for (jet, value) in self.x.iter_mut().zip(parts.into_iter().flatten()) {
            *jet = Jet::from(*value);
        }
        let (n, m) = (self.n, self.m);
        let outputs = 4 * n + m + self.inputs;
        let parameters = outputs + sample.y.len();
        for first in (0..self.x.len()).step_by(WIDTH) {
            let last = self.x.len().min(first + WIDTH);
            (first..last).for_each(|i| self.x[i].eps[i - first] = 1.0);
            let jets = State { w: &self.x[4 * n + m..outputs], ..state_of(&self.x, n, m) };
            let value = self.cost.contribution(sample, &jets, &self.x[outputs..parameters], &self.x[parameters..]);
            for i in first..last {
                self.x[i].eps[i - first] = 0.0;
                let slope = value.eps[i - first];
                match i {
                    i if i < n => state.q[i] += slope,
                    i if i < 2 * n => state.v[i - n] += slope,
                    i if i < 3 * n => state.a[i - 2 * n] += slope,
                    i if i < 4 * n => state.a_scheme[i - 3 * n] += slope,
                    i if i < 4 * n + m => state.lambda[i - 4 * n] += slope,
                    i if i < outputs => {} // inputs are given
                    i if i < parameters => y[i - outputs] += slope,
                    i => state.u[i - parameters] += slope,
                }
            }
        }
    }
}
