//! A cost written as plain generic functions, with its gradient by dual numbers.

use super::structure::state_of;
use crate::Result;
use crate::State;
use crate::cost::{Cost, CostEvaluator, Quadrature, Sample};
use crate::grid::TimeGrid;
use crate::number::{Jet, Number, Sweep, Taped, Var, all_finite};
use crate::signature::Signature;
use crate::system::StateVector;

/// J = Σ_i η_i `running` + `terminal`, in anything that a state, the outputs and the parameters hold.
///
/// ```
/// use costate::{Number, Plain, Signal, Simulation, State, TimeGrid};
/// use costate::cost::Quadrature;
/// use costate::linearise::{CostFunction, Differentiated};
/// use costate::scheme::Hht;
/// use costate::sensitivity::{Gradient, Method};
/// use costate_identify::{Settings, identify, optimise::Flow, problem::Problem};
/// use std::sync::Arc;
///
/// /// What the spring of an oscillator is stretched by, and how fast the mass still is at the end.
/// struct Restless;
///
/// impl CostFunction for Restless {
///     fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
///         x.q[0] * x.q[0]
///     }
///     fn terminal<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
///         x.v[0] * x.v[0] * 10.0
///     }
/// }
///
/// # fn main() -> costate_identify::Result<()> {
/// let system = Arc::new(Plain::new(costate_models::oscillator::Oscillator)?);
/// let simulation = Simulation::new(system, Hht::new(-0.05)?, TimeGrid::uniform(0.0, 2.0, 0.01)?, vec![Signal::constant(0.0)])?;
/// let cost = Differentiated::new(Restless, Quadrature::Trapezoid);
///
/// // its value and its gradient
/// let u = simulation.signature().nominal();
/// let mut gradient = vec![0.0; u.len()];
/// let value = Gradient::new(&simulation, &cost)?.cost_and_gradient(&u, Method::Adjoint, &mut gradient)?;
///
/// // and the parameters that make it least
/// let problem = Problem::new("restless", simulation, Box::new(cost));
/// let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
/// # assert!(value.is_finite() && gradient.iter().any(|slope| *slope != 0.0));
/// # assert!(found.outcome.cost < value);
/// # Ok(())
/// # }
/// ```
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
        let places = Places {
            n: signature.unknown_count(),
            states: signature.states.len(),
            m: signature.constraints.len(),
            inputs: signature.inputs.len(),
            outputs: signature.outputs.len(),
        };
        let count = places.parameters() + signature.parameters.len();
        let (few, many) = if count > MANY { (0, count) } else { (count, 0) };
        Box::new(DifferentiatedEvaluator {
            cost: self,
            places,
            x: vec![Jet::from(0.0); few],
            along: vec![Jet::from(0.0); few],
            slopes: Vec::new(),
            slopes_along: Vec::new(),
            taped: (Sweep::new(many), (0..many).map(|i| Sweep::variable(i, 0.0)).collect()),
            taped_along: (Sweep::new(many), (0..many).map(|i| Sweep::variable(i, Jet::from(0.0))).collect()),
        })
    }
}

/// Most variables that are differentiated by forwards; more are in reverse.
const MANY: usize = 12;
const WIDTH: usize = 4;

/// Places of the variables q, v, a, a_scheme, λ, w, y, u.
#[derive(Clone, Copy)]
struct Places {
    n: usize,
    states: usize,
    m: usize,
    inputs: usize,
    outputs: usize,
}

impl Places {
    fn first_output(self) -> usize {
        4 * self.n + self.m + self.inputs
    }

    fn parameters(self) -> usize {
        self.first_output() + self.outputs
    }

    /// The cost of one sample.
    fn evaluate<F: CostFunction, D: Number>(self, cost: &Differentiated<F>, sample: &Sample<'_>, x: &[D]) -> D {
        let Places { n, m, .. } = self;
        let (before, u) = x.split_at(self.parameters());
        let (before, y) = before.split_at(self.first_output());
        let state = state_of(before, n, m);
        let state = State { w: &before[4 * n + m..], q: &state.q[..n - self.states], ..state };
        cost.contribution(sample, &state, y, u)
    }

    /// Adds to the derivatives by all variables.
    fn give<T: Copy>(self, slopes: &[T], slope: impl Fn(T) -> f64, state: &mut StateVector, y: &mut [f64]) {
        let StateVector { q, v, a, a_scheme, lambda, w, u, .. } = state;
        let mut rest = slopes;
        for part in [&mut q[..], v, a, a_scheme, lambda, w, y, u] {
            let (own, behind) = rest.split_at(part.len());
            part.iter_mut().zip(own).for_each(|(part, own)| *part += slope(*own));
            rest = behind;
        }
    }
}

/// Evaluator of a cost function: of few variables, jets along some of them at a time; of many, numbers on a tape.
struct DifferentiatedEvaluator<'c, F> {
    cost: &'c Differentiated<F>,
    places: Places,
    x: Vec<Jet<f64, WIDTH>>,
    /// The variables along a tangent.
    along: Vec<Jet<Jet<f64, 1>, WIDTH>>,
    slopes: Vec<f64>,
    slopes_along: Vec<Jet<f64, 1>>,
    taped: (Sweep<f64>, Vec<Var<f64>>),
    taped_along: (Sweep<Jet<f64, 1>>, Vec<Var<Jet<f64, 1>>>),
}

/// The derivatives of `cost` by all variables, some at a time.
fn forwards<T: Number>(
    x: &mut [Jet<T, WIDTH>],
    one: T,
    cost: impl Fn(&[Jet<T, WIDTH>]) -> Jet<T, WIDTH>,
    slopes: &mut Vec<T>,
) {
    slopes.clear();
    for first in (0..x.len()).step_by(WIDTH) {
        let last = x.len().min(first + WIDTH);
        (first..last).for_each(|i| x[i].eps[i - first] = one);
        let value = cost(x);
        for (x, (lane, slope)) in x[first..last].iter_mut().zip(value.eps.into_iter().enumerate()) {
            x.eps[lane] = T::zero();
            slopes.push(slope);
        }
    }
}

/// The derivatives of `cost` by all variables, in one sweep back.
fn backwards<T: Taped>(
    (sweep, x): &mut (Sweep<T>, Vec<Var<T>>),
    set: impl Fn(&mut [Var<T>]),
    cost: impl Fn(&[Var<T>]) -> Var<T>,
) -> &[T] {
    sweep.begin();
    set(x);
    let value = cost(x);
    sweep.end();
    sweep.add(T::one(), &value);
    sweep.derivatives()
}

/// Puts all that a cost depends on into the variables, in their order: `give` puts a value and its tangent into one of them.
fn set<D>(x: &mut [D], sample: &Sample<'_>, tangents: [&[f64]; 8], give: impl Fn(&mut D, f64, f64)) {
    let point = sample.x;
    let parts = [point.q, point.v, point.a, point.a_scheme, point.lambda, point.w, sample.y, sample.u];
    let mut rest = x;
    for (values, tangents) in parts.into_iter().zip(tangents) {
        let (own, behind) = rest.split_at_mut(values.len());
        own.iter_mut().zip(values).zip(tangents).for_each(|((own, value), tangent)| give(own, *value, *tangent));
        rest = behind;
    }
}

impl<F: CostFunction> CostEvaluator for DifferentiatedEvaluator<'_, F> {
    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let x = &sample.x;
        let own = x.q.len() - self.places.states;
        let state = State { q: &x.q[..own], v: x.v, a: x.a, a_scheme: x.a_scheme, lambda: x.lambda, w: x.w };
        self.cost.contribution(sample, &state, sample.y, sample.u)
    }

    fn gradient(&mut self, sample: &Sample<'_>, state: &mut StateVector, y: &mut [f64]) {
        let DifferentiatedEvaluator { cost, places, x, slopes, taped, .. } = self;
        // values alone: what is given for tangents is not looked at
        let none =
            [sample.x.q, sample.x.v, sample.x.a, sample.x.a_scheme, sample.x.lambda, sample.x.w, sample.y, sample.u];
        if !taped.1.is_empty() {
            let set = |x: &mut [Var<f64>]| set(x, sample, none, |x, value, _| x.re = value);
            let slopes = backwards(taped, set, |x| places.evaluate(cost, sample, x));
            if all_finite(slopes) {
                return places.give(slopes, |slope| slope, state, y);
            }
            // zero times infinity is zero forwards
            x.resize(taped.1.len(), Jet::from(0.0));
        }
        set(x, sample, none, |x, value, _| x.re = value);
        forwards(x, 1.0, |x| places.evaluate(cost, sample, x), slopes);
        places.give(slopes, |slope| slope, state, y);
    }

    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        tangent: &StateVector,
        y_tangent: &[f64],
        state: &mut StateVector,
        y: &mut [f64],
    ) {
        let DifferentiatedEvaluator { cost, places, along, slopes_along, taped_along, .. } = self;
        let StateVector { q, v, a, a_scheme, lambda, w, u, .. } = tangent;
        let tangents = [&q[..], v, a, a_scheme, lambda, w, y_tangent, u];
        if !taped_along.1.is_empty() {
            let give = |x: &mut Var<Jet<f64, 1>>, re: f64, tangent: f64| x.re = Jet { re, eps: [tangent] };
            let set = |x: &mut [Var<Jet<f64, 1>>]| set(x, sample, tangents, give);
            let slopes = backwards(taped_along, set, |x| places.evaluate(cost, sample, x));
            return places.give(slopes, |slope| slope.eps[0], state, y);
        }
        set(along, sample, tangents, |x, re, tangent| x.re = Jet { re, eps: [tangent] });
        let one = Jet { re: 1.0, eps: [0.0] };
        forwards(along, one, |x| places.evaluate(cost, sample, x), slopes_along);
        places.give(slopes_along, |slope| slope.eps[0], state, y);
    }
}
