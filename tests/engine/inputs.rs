//! Derivatives by the inputs at all times: adjoint, tangents, differences, second derivatives, under every scheme.

use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Scheme;
use costate::sensitivity::{Change, Gradient, Method};
use costate::system::System;
use costate::{
    InitialState, Interpolation, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State,
    TimeGrid, scheme,
};
use std::sync::Arc;

/// A pendulum of unit length under a driven carriage, in Cartesian coordinates, or (without constraint) tied by a stiff spring. Inputs
/// enter the force nonlinearly and together with velocities and parameters, and outputs.
#[derive(Clone)]
pub struct Driven {
    pub tied: bool,
}

impl Model for Driven {
    fn signature(&self) -> Signature {
        let signature = Signature::new("driven")
            .coordinates([("s", "m"), ("x", "m"), ("y", "m")])
            .inputs([("F", "N"), ("g", "m/s^2")])
            .outputs([("power", "W"), ("a_x", "m/s^2")])
            .parameters([Parameter::new("m", "kg", 0.7), Parameter::new("d", "kg/s", 0.3)]);
        if self.tied { signature.constraints([("length", "m^2")]) } else { signature }
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[1] = D::from(0.6);
        q[2] = D::from(-0.8);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.5);
        m[(1, 1)] = u[0];
        m[(2, 2)] = u[0];
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        force[0] = w[0] + w[0] * w[0] * v[0] * 0.1 - u[1] * v[0] + (t * 3.0).sin() * 0.1;
        force[2] = -u[0] * w[1];
        if !self.tied {
            let (x, y) = (q[1] - q[0], q[2]);
            let tension = ((x * x + y * y).sqrt() - 1.0) * 200.0;
            force[0] += tension * x;
            force[1] -= tension * x;
            force[2] -= tension * y;
        }
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        if self.tied {
            let (x, y) = (q[1] - q[0], q[2]);
            c[0] = x * x + y * y - 1.0;
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.w[0] * x.v[0];
        y[1] = x.a[1];
    }
}

/// Of all that there is, inputs among it.
#[derive(Clone)]
pub struct Everything;

impl CostFunction for Everything {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let tension = x.lambda.first().copied().unwrap_or(D::from(0.0));
        let force = x.w[0] * x.w[0] * (0.02 * t);
        force
            + y[0] * y[1] * u[0] * 0.1
            + y[1] * y[1] * 0.01
            + x.q[1] * x.q[1] * x.w[1] * 0.1
            + tension * tension * 0.01
    }

    fn terminal<D: Number>(&self, _t: f64, x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        (x.q[2] - 0.5) * (x.q[2] - 0.5) + y[0] * 0.1 + x.v[0]
    }
}

pub const SCHEMES: [&str; 8] =
    ["hht", "hht-literal", "newmark", "trapezoidal", "generalized-alpha", "ali3p", "i2p", "bdf2"];

/// Smooth inputs, and inputs that jump: one of them twice in succession, both at once, and at the last time.
pub fn signals() -> [Vec<Signal>; 2] {
    let push = || Signal::function(|t| 2.0 * (4.0 * t).cos() + 0.3);
    let jumps = [(0.01, Signal::constant(-1.0)), (0.023, push()), (0.161, Signal::constant(4.0))];
    let held = Signal::sampled(&[0.0, 0.161, 0.345], &[9.81, 5.0, 12.0], Interpolation::ZeroOrder).unwrap();
    [vec![push(), Signal::constant(9.81)], vec![Signal::switched(push(), jumps.to_vec()).unwrap(), held]]
}

pub fn simulation(scheme: &str, tied: bool, start: InitialState, signals: Vec<Signal>) -> Simulation {
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &[]).unwrap();
    let system: Arc<dyn System> = Arc::new(Plain::new(Driven { tied }).unwrap());
    let mut times = vec![0.0];
    // a grid that alternates
    (0..30).for_each(|i| times.push(times[i] + if i % 2 == 0 { 0.01 } else { 0.013 }));
    let grid = TimeGrid::through(&times, 1);
    Simulation::new(system, scheme, grid.unwrap(), signals).unwrap().initial_state(start)
}

/// Some change of everything.
fn change(inputs: usize, salt: f64) -> Change {
    let wave = |count: usize, salt: f64| (0..count).map(|i| (salt + 1.3 * i as f64).sin()).collect();
    Change { u: wave(2, salt), w: wave(inputs, salt + 0.4) }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Protects dQ/dw, dy/dw, dg/dw and the schemes' own use of inputs (of the next time at the start, of both sides of a jump): the adjoint's derivatives by all inputs
/// at all times against tangents and against differences.
#[test]
fn derivatives_by_inputs_agree() {
    for scheme in SCHEMES {
        let [smooth, jumping] = signals();
        for (tied, start, signals) in [
            (true, InitialState::AsGiven, &smooth),
            (true, InitialState::Projected, &smooth),
            (false, InitialState::AsGiven, &smooth),
            (true, InitialState::AsGiven, &jumping),
            (false, InitialState::AsGiven, &jumping),
        ] {
            let simulation = simulation(scheme, tied, start, signals.clone());
            let cost = Differentiated::new(Everything, Quadrature::Trapezoid);
            let mut engine = Gradient::with_inputs(&simulation, &cost).unwrap();
            let (u, count) = (simulation.signature().nominal(), engine.inputs_mut().len());
            let mut gradient = vec![0.0; 2];
            engine.cost_and_gradient(&u, Method::Adjoint, &mut gradient).unwrap();
            let by_inputs = engine.by_inputs().to_vec();
            let directions = [change(count, 0.1), change(count, 2.0)];
            let (_, slopes) = engine.derivatives_along(&u, &directions).unwrap();
            let given = engine.inputs_mut().to_vec();
            for (direction, slope) in directions.iter().zip(slopes) {
                let adjoint = dot(&gradient, &direction.u) + dot(&by_inputs, &direction.w);
                let size = gradient.iter().chain(&by_inputs).fold(0.0f64, |size, x| size.max(x.abs()));
                // as for parameters: undamped multipliers of index 3 hold round-off over β h²
                let limit = if tied && ["newmark", "trapezoidal"].contains(&scheme) { 1e-10 } else { 1e-11 };
                let error = (adjoint - slope).abs() / size;
                assert!(error < limit, "{scheme}, {tied}: {adjoint:.16e} against tangents' {slope:.16e}");
                let mut at = |h: f64| {
                    let moved = given.iter().zip(&direction.w).map(|(w, d)| w + h * d).collect::<Vec<_>>();
                    engine.inputs_mut().copy_from_slice(&moved);
                    let u: Vec<f64> = u.iter().zip(&direction.u).map(|(u, d)| u + h * d).collect();
                    engine.cost(&u).unwrap()
                };
                // the remainder of order 4 of an extrapolated difference
                let slope_by = |h: f64, at: &mut dyn FnMut(f64) -> f64| (at(h) - at(-h)) / (2.0 * h);
                let (coarse, fine) = (slope_by(2e-3, &mut at), slope_by(1e-3, &mut at));
                let difference = (4.0 * fine - coarse) / 3.0;
                let error = (adjoint - difference).abs() / size;
                assert!(error < 1e-7, "{scheme}, {tied}: {adjoint:.10e} against differences' {difference:.10e}");
            }
        }
    }
}

/// Protects second derivatives by inputs and parameters together: symmetric, and the change of the gradient.
#[test]
fn second_derivatives_by_inputs_agree() {
    for scheme in SCHEMES {
        let [smooth, jumping] = signals();
        for (tied, signals) in [(true, &smooth), (false, &smooth), (true, &jumping), (false, &jumping)] {
            let simulation = simulation(scheme, tied, InitialState::AsGiven, signals.clone());
            let cost = Differentiated::new(Everything, Quadrature::Trapezoid);
            let mut engine = Gradient::with_inputs(&simulation, &cost).unwrap();
            let (u, count) = (simulation.signature().nominal(), engine.inputs_mut().len());
            let (along, mut gradient) = ([change(count, 0.1), change(count, 2.0)], vec![0.0; 2]);
            let mut products = [Change::default(), Change::default()];
            engine.hessian_changes(&u, &along, &mut gradient, &mut products).unwrap();
            let product = |a: &Change, b: &Change| dot(&a.u, &b.u) + dot(&a.w, &b.w);
            let (one, other) = (product(&along[0], &products[1]), product(&along[1], &products[0]));
            let size = product(&along[0], &products[0]).abs().max(product(&along[1], &products[1]).abs());
            assert!((one - other).abs() < 1e-9 * size, "{scheme}, {tied}: {one:.12e}, {other:.12e}");
            let given = engine.inputs_mut().to_vec();
            let mut at = |h: f64| {
                let moved = given.iter().zip(&along[0].w).map(|(w, d)| w + h * d).collect::<Vec<_>>();
                engine.inputs_mut().copy_from_slice(&moved);
                let u: Vec<f64> = u.iter().zip(&along[0].u).map(|(u, d)| u + h * d).collect();
                let mut gradient = vec![0.0; 2];
                engine.cost_and_gradient(&u, Method::Adjoint, &mut gradient).unwrap();
                [gradient, engine.by_inputs().to_vec()].concat()
            };
            let h = 1e-4;
            let (up, down) = (at(h), at(-h));
            let exact = [products[0].u.clone(), products[0].w.clone()].concat();
            let largest = exact.iter().fold(0.0f64, |size, x| size.max(x.abs()));
            for (k, exact) in exact.iter().enumerate() {
                let difference = (up[k] - down[k]) / (2.0 * h);
                let error = (difference - exact).abs() / largest;
                assert!(error < 1e-5, "{scheme}, {tied}, entry {k}: {exact:.8e} against {difference:.8e}");
            }
        }
    }
}

/// A cost in positions and velocities, with an end-point term: what the continuous adjoint knows.
#[derive(Clone)]
struct Motion;

impl CostFunction for Motion {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, _y: &[D], u: &[D]) -> D {
        let off = x.q[1] - 0.3 * t;
        off * off * u[0] + x.v[0] * x.v[2] * 0.1 + x.w[0] * x.w[0] * 0.01
    }

    fn terminal<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], u: &[D]) -> D {
        (x.q[2] + 0.9) * (x.q[2] + 0.9) + x.v[1] * x.v[1] * u[1]
    }
}

/// Protects the continuous adjoint (Nachbagauer 2015, eqs. (24)-(51)): with consistent end values, parameters, initial state and inputs its gap
/// to the discrete gradient falls with the order of its formula, as far as the forward run's own order 2 lets it.
#[test]
fn the_continuous_adjoint_tends_to_the_discrete_one() {
    for tied in [true, false] {
        let gap = |order: usize, steps: usize| {
            let system: Arc<dyn System> = Arc::new(Plain::new(Driven { tied }).unwrap());
            let signals = vec![Signal::function(|t| 2.0 * (4.0 * t).cos() + 0.3), Signal::constant(9.81)];
            let grid = TimeGrid::steps(0.0, 0.4 / steps as f64, steps).unwrap();
            let scheme: Arc<dyn Scheme> = scheme::by_name("i2p", &[]).unwrap();
            let simulation = Simulation::new(system, scheme, grid, signals).unwrap();
            let cost = Differentiated::new(Motion, Quadrature::Trapezoid);
            let mut engine = Gradient::with_inputs(&simulation, &cost).unwrap();
            let u = simulation.signature().nominal();
            let (mut discrete, mut continuous) = (vec![0.0; 2], vec![0.0; 2]);
            engine.cost_and_gradient(&u, Method::Adjoint, &mut discrete).unwrap();
            let by_inputs = engine.by_inputs().to_vec();
            engine.continuous_adjoint(&u, order, &mut continuous).unwrap();
            let largest = discrete.iter().fold(0.0f64, |size, x| size.max(x.abs()));
            let of_parameters =
                discrete.iter().zip(&continuous).map(|(d, c)| (d - c).abs()).fold(0.0, f64::max) / largest;
            // along a smooth change of an input
            let wave = |slopes: &[f64]| -> f64 {
                (0..=steps).map(|i| slopes[2 * i] * (3.0 * i as f64 / steps as f64).sin()).sum()
            };
            let of_inputs = (wave(&by_inputs) / wave(engine.by_inputs()) - 1.0).abs();
            [of_parameters, of_inputs]
        };
        for order in 1..=3 {
            let (coarse, fine) = (gap(order, 100), gap(order, 200));
            for (what, (coarse, fine)) in ["parameters", "inputs"].into_iter().zip(coarse.into_iter().zip(fine)) {
                let observed = (coarse / fine).log2();
                let expected = order.min(2) as f64;
                assert!(
                    observed > expected - 0.25 && fine < 0.02,
                    "{tied}, BDF{order}, {what}: {coarse:.1e}, {fine:.1e}"
                );
            }
        }
    }
}

/// Protects the comparison of built-in costs, sums of rectangles: the continuous adjoint is one of the same sum, so that halving the step leaves a
/// quarter of its gap to the discrete gradient, on mechanisms with constraints,
/// of which some depend on the parameters, and on one without.
#[test]
fn the_continuous_adjoint_is_of_the_same_cost() {
    let registry = costate_models::registry().unwrap();
    for name in ["five_bar", "double_pendulum", "simple_pendulum"] {
        let entry = registry.get(name).unwrap();
        let gap = |part: f64| {
            let scenario =
                costate_identify::registry::Scenario { step: part * entry.scenario.step, ..entry.scenario.clone() };
            let problem = entry.problem(&scenario).unwrap();
            let mut engine = problem.gradient().unwrap();
            let [mut discrete, mut continuous] = [(); 2].map(|()| vec![0.0; problem.start.len()]);
            engine.cost_and_gradient(&problem.start, Method::Adjoint, &mut discrete).unwrap();
            engine.continuous_adjoint(&problem.start, 2, &mut continuous).unwrap();
            let largest = |value: &dyn Fn(usize) -> f64| {
                (0..discrete.len()).map(|k| (value(k) * problem.size(k)).abs()).fold(0.0, f64::max)
            };
            largest(&|k| continuous[k] - discrete[k]) / largest(&|k| discrete[k])
        };
        let (coarse, fine) = (gap(1.0), gap(0.5));
        assert!((3.4..4.6).contains(&(coarse / fine)) && coarse < 0.01, "{name}: {coarse:.1e}, {fine:.1e}");
    }
}
