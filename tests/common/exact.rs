//! Exactness of gradients of mechanisms from parts, with every property a parameter; laws and motions for them.

use super::largest;
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::{Form, Hht};
use costate::sensitivity::{Gradient, Method};
use costate::{InitialState, Number, Signal, Simulation, State, TimeGrid};
use costate_parts::assembly::Assembly;
use costate_parts::law::{FunctionOfTime, Law};
use std::sync::Arc;

/// Looks at everything: positions, velocities, both accelerations, multipliers, outputs and, if told to, parameters.
struct Everything {
    parameters: bool,
}

fn weight(i: usize) -> f64 {
    0.4 + 0.3 * (1.7 * i as f64).sin()
}

impl CostFunction for Everything {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let parts = [(x.q, 1.0), (x.v, 0.5), (x.a, 0.01), (x.a_scheme, 0.01), (x.lambda, 1e-3), (y, 0.1)];
        let parameters = if self.parameters { u } else { &[] };
        let mut sum = D::from(0.0);
        let mut place = 0;
        for (values, size) in parts.into_iter().chain([(parameters, 0.2)]) {
            for value in values {
                let scaled = *value * size;
                sum += scaled * scaled * weight(place) + scaled * weight(place + 7) * (1.0 + t).sin();
                place += 1;
            }
        }
        sum
    }
}

/// From a projected start, with steps of 2 ms.
pub fn simulation(system: Assembly, signals: Vec<Signal>, form: Form, steps: usize) -> Simulation {
    let scheme = Hht::new(-0.1).unwrap().form(form);
    let grid = TimeGrid::uniform(0.0, 2e-3 * steps as f64, 2e-3).unwrap();
    Simulation::new(Arc::new(system), scheme, grid, signals).unwrap().initial_state(InitialState::Projected)
}

/// Adjoint, tangents and differences of the gradient, to which every parameter contributes; Hessian times a direction against differences of gradients.
pub fn check(name: &str, simulation: &Simulation) {
    let u = simulation.signature().nominal();
    let p = u.len();
    let cost = Differentiated::new(Everything { parameters: true }, Quadrature::Trapezoid);
    let mut engine = Gradient::new(simulation, &cost).unwrap();
    let size = |k: usize| if u[k] == 0.0 { 0.1 } else { u[k].abs() };
    let mut gradients = [vec![0.0; p], vec![0.0; p], vec![0.0; p]];
    for (gradient, method) in gradients.iter_mut().zip([Method::Adjoint, Method::Tangent, Method::Difference]) {
        engine.cost_and_gradient(&u, method, gradient).unwrap_or_else(|error| panic!("{name}: {error}"));
        gradient.iter_mut().enumerate().for_each(|(k, g)| *g *= size(k));
    }
    let [adjoint, tangent, difference] = &gradients;
    let scale = largest(adjoint);
    // through the motion, not through the cost's own terms
    let motion = Differentiated::new(Everything { parameters: false }, Quadrature::Trapezoid);
    let mut through_motion = vec![0.0; p];
    let value = Gradient::new(simulation, &motion).unwrap().cost_and_gradient(&u, Method::Adjoint, &mut through_motion);
    value.unwrap();
    for k in 0..p {
        let parameter = &simulation.signature().parameters[k].name;
        let share = through_motion[k].abs() * size(k) / scale;
        assert!(share > 1e-8, "{name}: nothing comes of `{parameter}`: {share:e}");
        let error = (adjoint[k] - tangent[k]).abs() / scale;
        // two ways through the same steps: round-off, and Newton's floor of some 1e-12
        assert!(error < 1e-10, "{name}: `{parameter}` {:e} {:e}", adjoint[k], tangent[k]);
        // differences are good to half the digits
        let error = (adjoint[k] - difference[k]).abs() / scale;
        assert!(error < 1e-5, "{name}: `{parameter}` {:e} by differences {:e}", adjoint[k], difference[k]);
    }
    let direction: Vec<f64> = (0..p).map(|k| size(k) * weight(k)).collect();
    let at = |engine: &mut Gradient<'_>, step: f64| {
        let moved: Vec<f64> = u.iter().zip(&direction).map(|(u, d)| u + step * d).collect();
        let mut gradient = vec![0.0; p];
        engine.cost_and_gradient(&moved, Method::Adjoint, &mut gradient).unwrap();
        gradient
    };
    let (up, down) = (at(&mut engine, 1e-4), at(&mut engine, -1e-4));
    let (mut gradient, mut product) = (vec![0.0; p], vec![0.0; p]);
    engine.hessian_vector(&u, &direction, &mut gradient, &mut product).unwrap();
    let expected: Vec<f64> = (0..p).map(|k| size(k) * (up[k] - down[k]) / 2e-4).collect();
    for k in 0..p {
        let error = (size(k) * product[k] - expected[k]).abs() / largest(&expected).max(scale);
        // the differences' own error, of the square of the step
        assert!(error < 1e-5, "{name}: Hessian, row {k}: {:e} {:e}", size(k) * product[k], expected[k]);
    }
}

/// Waves of amplitude 2 with different phases.
pub fn signals(count: usize) -> Vec<Signal> {
    (0..count).map(|k| Signal::function(move |t| 2.0 * (7.0 * t + k as f64).sin())).collect()
}

/// Parameters: mean, amplitude, frequency (rad/s).
#[derive(Clone)]
pub struct Swing;

impl FunctionOfTime for Swing {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        u[0] + u[1] * (t * u[2]).sin()
    }
}

/// Parameters: stiffness, hardening, friction.
#[derive(Clone)]
pub struct Cubic;

impl Law for Cubic {
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        u[0] * elongation + u[1] * elongation * elongation * elongation + u[2] * rate.tanh()
    }

    fn energy<D: Number>(&self, elongation: D, u: &[D]) -> Option<D> {
        let square = elongation * elongation;
        Some(square * (u[0] * 0.5 + u[1] * square * 0.25))
    }
}
