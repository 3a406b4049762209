//! A cost written as plain generic functions, with its gradient by dual numbers.

use super::structure::state_of;
use crate::cost::{Cost, CostEvaluator, Quadrature, Sample};
use crate::error::Result;
use crate::grid::TimeGrid;
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
    fn check(&self, _signature: &Signature, _grid: &TimeGrid) -> Result<()> {
        Ok(())
    }

    fn evaluator(&self, signature: &Signature) -> Box<dyn CostEvaluator + '_> {
        let (n, m) = (signature.coordinates.len(), signature.constraints.len());
        let count = 4 * n + m + signature.inputs.len() + signature.outputs.len() + signature.parameters.len();
        Box::new(Evaluator {
            cost: self,
            n,
            m,
            inputs: signature.inputs.len(),
            x: vec![Jet::from(0.0); count],
            along: vec![Jet::from(0.0); count],
        })
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
    /// The same along a tangent.
    along: Vec<Jet<Jet<f64, 1>, WIDTH>>,
}

/// Evaluates the cost along each variable in turn and hands its slopes to `take`.
macro_rules! sweep {
    ($evaluator:expr, $x:ident, $sample:expr, $one:expr, $zero:expr, $slope:expr, $state:expr, $y:expr) => {{
        let (n, m) = ($evaluator.n, $evaluator.m);
        let outputs = 4 * n + m + $evaluator.inputs;
        let parameters = outputs + $sample.y.len();
        for first in (0..$evaluator.$x.len()).step_by(WIDTH) {
            let last = $evaluator.$x.len().min(first + WIDTH);
            (first..last).for_each(|i| $evaluator.$x[i].eps[i - first] = $one);
            let x = &$evaluator.$x;
            let jets = State { w: &x[4 * n + m..outputs], ..state_of(x, n, m) };
            let value = $evaluator.cost.contribution($sample, &jets, &x[outputs..parameters], &x[parameters..]);
            for i in first..last {
                $evaluator.$x[i].eps[i - first] = $zero;
                let slope = $slope(value.eps[i - first]);
                match i {
                    i if i < n => $state.q[i] += slope,
                    i if i < 2 * n => $state.v[i - n] += slope,
                    i if i < 3 * n => $state.a[i - 2 * n] += slope,
                    i if i < 4 * n => $state.a_scheme[i - 3 * n] += slope,
                    i if i < 4 * n + m => $state.lambda[i - 4 * n] += slope,
                    i if i < outputs => $state.w[i - 4 * n - m] += slope,
                    i if i < parameters => $y[i - outputs] += slope,
                    i => $state.u[i - parameters] += slope,
                }
            }
        }
    }};
}

/// All that a cost depends on, in the order of [`Evaluator`]'s variables.
fn arguments<'a>(sample: &Sample<'a>) -> [&'a [f64]; 8] {
    let x = sample.x;
    [x.q, x.v, x.a, x.a_scheme, x.lambda, x.w, sample.y, sample.u]
}

impl<F: CostFunction> CostEvaluator for Evaluator<'_, F> {
    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let x = &sample.x;
        let state = State { q: x.q, v: x.v, a: x.a, a_scheme: x.a_scheme, lambda: x.lambda, w: x.w };
        self.cost.contribution(sample, &state, sample.y, sample.u)
    }

    fn gradient(&mut self, sample: &Sample<'_>, state: &mut StateVector, y: &mut [f64]) {
        for (jet, value) in self.x.iter_mut().zip(arguments(sample).into_iter().flatten()) {
            *jet = Jet::from(*value);
        }
        sweep!(self, x, sample, 1.0, 0.0, |slope: f64| slope, state, y);
    }

    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        tangent: &StateVector,
        y_tangent: &[f64],
        state: &mut StateVector,
        y: &mut [f64],
    ) {
        let StateVector { q, v, a, a_scheme, lambda, w, u, .. } = tangent;
        let before = [q, v, a, a_scheme, lambda, w].into_iter().flatten().copied();
        let tangents = before.chain(y_tangent.iter().copied()).chain(u.iter().copied());
        let values = arguments(sample).into_iter().flatten();
        for ((jet, value), tangent) in self.along.iter_mut().zip(values).zip(tangents) {
            *jet = Jet::constant(Jet { re: *value, eps: [tangent] });
        }
        let (one, zero) = (Jet { re: 1.0, eps: [0.0] }, Jet { re: 0.0, eps: [0.0] });
        sweep!(self, along, sample, one, zero, |slope: Jet<f64, 1>| slope.eps[0], state, y);
    }
}
