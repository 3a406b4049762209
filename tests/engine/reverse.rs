//! Derivatives by parameters in reverse, beside those forwards.

use crate::common;

use costate::cost::{Cost, LeastSquares, Quadrature, Reference};
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::{Hht, I2p};
use costate::sensitivity::{Gradient, Method};
use costate::system::{By, Equations, Evaluator, Level, Mode, OutputPoint, Point, StateVector, System, Weights};
use costate::{InitialState, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid};
use costate_models::network::NeuralOscillator;
use costate_models::squeezer::{Squeezer, WholeSqueezer};
use std::sync::Arc;

/// Numbers of about 1 without any pattern.
fn values(count: usize, salt: f64) -> Vec<f64> {
    (0..count).map(|i| (1.3 * i as f64 + salt).sin() + 0.2 * (salt * 7.0).cos()).collect()
}

fn tangent(signature: &Signature, salt: f64) -> StateVector {
    let mut x = StateVector::zeros(signature);
    let parts = [&mut x.q, &mut x.v, &mut x.a, &mut x.a_scheme, &mut x.lambda, &mut x.u, &mut x.w];
    parts.into_iter().enumerate().for_each(|(k, part)| *part = values(part.len(), salt + k as f64));
    x
}

fn parts(x: &StateVector) -> [&[f64]; 7] {
    [&x.q, &x.v, &x.a, &x.a_scheme, &x.lambda, &x.u, &x.w]
}

/// All products of an evaluator at one point: first and second derivatives, each by name.
fn products(evaluator: &mut dyn Evaluator, signature: &Signature, salt: f64) -> Vec<(String, Vec<f64>)> {
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let at = tangent(signature, salt);
    let x = Point { t: 0.2 * salt, q: &at.q, v: &at.v, a: &at.a, lambda: &at.lambda, w: &at.w };
    let (dx, d, c) = (tangent(signature, 5.0), values(n, 8.0), values(m, 9.0));
    let mut found = Vec::new();
    let mut take = |what: String, list: Vec<f64>| found.push((what, list));
    for level in [Level::Position, Level::Velocity, Level::Acceleration] {
        for forces in [true, false] {
            let equations = Equations { forces, level };
            let weights =
                Weights { acceleration: 1.1, position: 0.03, velocity: 0.2, state: 0.2, compliance: 0.0, equations };
            for tangents in [1, 1000] {
                let place = |what: &str| format!("{what}, {equations:?}, {tangents} tangents");
                let _ = evaluator.linearise_for_tangents(&x, weights, tangents);
                let (mut bar, mut dynamics, mut constraint) =
                    (StateVector::zeros(signature), vec![0.0; n], vec![0.0; m]);
                evaluator.pull_back(-2.0, &d, &c, &mut bar);
                evaluator.push_forward(&dx, &mut dynamics, &mut constraint);
                parts(&bar).into_iter().for_each(|part| take(place("pulled back"), part.to_vec()));
                take(place("pushed forward"), dynamics);
                take(place("rows pushed forward"), constraint);
            }
            let mut bar = StateVector::zeros(signature);
            evaluator.curvature(&x, equations, -2.0, [&d, &c], &dx, &mut bar);
            parts(&bar).into_iter().for_each(|part| take(format!("curvature, {equations:?}"), part.to_vec()));
        }
    }
    let x = OutputPoint { t: x.t, q: x.q, v: x.v, a: x.a, a_scheme: &at.a_scheme, lambda: x.lambda, w: x.w };
    let y_bar = values(signature.outputs.len(), 3.0);
    for tangents in [1, 1000] {
        evaluator.linearise_output_for_tangents(&x, tangents);
        let (mut bar, mut y) = (StateVector::zeros(signature), vec![0.0; y_bar.len()]);
        evaluator.output_pull_back(&y_bar, &mut bar);
        evaluator.output_push_forward(&dx, &mut y);
        parts(&bar).into_iter().for_each(|part| take("outputs pulled back".into(), part.to_vec()));
        take("outputs pushed forward".into(), y);
    }
    let (mut by_u, mut curved) = (vec![0.0; dx.u.len()], vec![0.0; dx.u.len()]);
    evaluator.initial_pull_back(&d, &values(n, 2.0), &mut by_u);
    evaluator.initial_curvature(&d, &values(n, 2.0), &dx.u, &mut curved);
    take("initial state pulled back".into(), by_u);
    take("curvature of the initial state".into(), curved);
    let mut bar = StateVector::zeros(signature);
    evaluator.output_curvature(&x, &y_bar, &dx, &mut bar);
    parts(&bar).into_iter().for_each(|part| take("curvature of outputs".into(), part.to_vec()));
    found
}

/// Everything in reverse beside everything forwards, at several points.
fn compare(name: &str, system: &dyn System, u: &[f64]) {
    let mut evaluators = [Mode::Forward, Mode::Reverse, Mode::Cheaper].map(|mode| {
        let mut evaluator = system.evaluator_by(By { mode, ..By::BOTH });
        evaluator.set_parameters(u);
        evaluator
    });
    for salt in [0.4, 2.0, 3.7] {
        let [forward, reverse, cheaper] =
            evaluators.each_mut().map(|evaluator| products(&mut **evaluator, system.signature(), salt));
        for other in [reverse, cheaper] {
            for ((what, forward), (_, other)) in forward.iter().zip(&other) {
                near(&format!("{name}, point {salt}, {what}"), other, forward, 1e-12);
            }
        }
    }
}

fn near(what: &str, seen: &[f64], expected: &[f64], limit: f64) {
    let size = expected.iter().fold(f64::MIN_POSITIVE, |size, x| size.max(x.abs()));
    for (i, (seen, expected)) in seen.iter().zip(expected).enumerate() {
        let error = (seen - expected).abs() / size;
        assert!(
            error <= limit || seen == expected || seen.is_nan() && expected.is_nan(),
            "{what}, entry {i}: {seen:e} instead of {expected:e}"
        );
    }
}

/// Protects both ways to derivatives by parameters: they are the same, in first and second order, at every level of the constraints, for
/// every model of the registry, and where the registry has none so wide.
#[test]
fn forward_and_reverse_are_the_same() {
    let registry = costate_models::registry().unwrap();
    for entry in registry.entries() {
        let simulation = entry.simulation(&entry.scenario).unwrap();
        compare(entry.name(), simulation.system(), &simulation.signature().nominal());
    }
    let nominal = |system: &dyn System| system.signature().nominal();
    for system in [
        &Plain::new(WholeSqueezer).unwrap() as &dyn System,
        // one equation of motion, with an input
        &Plain::new(NeuralOscillator::<16>).unwrap(),
    ] {
        compare(&system.signature().name, system, &nominal(system));
    }
    for (name, system) in [
        ("bead", &*common::mechanisms::bead().system),
        ("wide", &*common::mechanisms::wide().system),
        ("kinks", &Plain::new(Kinks).unwrap()),
    ] {
        let u: Vec<f64> = (0..system.signature().parameters.len()).map(|k| 0.8 + 0.3 * (k as f64).sin()).collect();
        compare(name, system, &u);
    }
}

/// All functions of a number by parameters, sums of products, a branch, and a mass that depends on them. Its output has more operations
/// than have a place of their own.
#[derive(Clone, Copy)]
struct Kinks;

impl Model for Kinks {
    fn signature(&self) -> Signature {
        Signature::new("kinks")
            .coordinates([("x", "m"), ("y", "m")])
            .constraints([("row", "m")])
            .outputs([("y", "m")])
            .parameters((0..20).map(|k| Parameter::new(format!("u{k}"), "", 0.6)).collect::<Vec<_>>())
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], q[1], v[0]) = (u[0].sin(), u[1] * u[2], u[3].exp());
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (u[0] * u[1] + 1.0, u[2].sqrt());
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let angle = u[0].atan2(u[1]) + (u[2] * 0.5).asin() + (u[3] * 0.5).acos() + u[4].atan() + u[5].tan();
        let powers = u[6].powd(u[7]) + u[8].powi(3) + u[9].powf(1.7) + u[10].cbrt() + u[11].recip() + u[12].powi(-2);
        let growth = u[13].exp2() + u[14].exp_m1() + u[15].ln_1p() + u[16].log2() + u[17].log10() + u[18].log(3.0);
        let wide =
            u[0].sinh() + u[1].cosh() + u[2].asinh() + (u[3] + 2.0).acosh() + (u[4] * 0.4).atanh() + u[5].sph_j0();
        force[0] = angle * q[0] + powers * v[0].sin() + (u[19] - u[18]).abs() * t;
        force[1] = growth * q[1] - wide * q[0] + u[6] / u[7] - u[8] % 0.25 + (u[9] - 0.5).max(q[1]) * 3.0;
        if u[10] > q[0] {
            force[1] += u[10] * u[11].sph_j1() + u[12].sph_j2() * v[1];
        }
        // of parameters with themselves, with others that are fewer, with states, and of constants alone
        let products = D::dot(u, u) + D::dot(u, &u[3..7]) - D::dot(q, &u[4..6]) * D::dot(&u[8..10], v);
        force[1] += products * D::dot(q, q) + D::dot(&[], u);
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = q[0] * q[0] * u[0] * u[1] + q[1] * u[2].cos() * u[3] - u[4] * u[5] * t.sin() + u[6] / (u[7] + 2.0);
        c[0] += D::dot(&[q[0], u[8] * q[1], t, u[9]], &u[10..14]);
    }

    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let all = std::iter::repeat_n(u, 200).flatten();
        let law = all.fold(D::from(0.0), |sum, u| sum + (*u * x.q[0]).tanh() * 0.01);
        y[0] = law * x.v[1] + x.a[0] * u[3] * t + x.lambda[0] * u[4];
    }
}

/// Twenty springs of which each is as stiff as the root of the square of its parameter.
#[derive(Clone, Copy)]
struct Roots;

impl Model for Roots {
    fn signature(&self) -> Signature {
        Signature::new("roots")
            .coordinates([("x", "m")])
            .outputs([("x", "m")])
            .parameters((0..20).map(|k| Parameter::new(format!("k{k}"), "N/m", 0.3)).collect::<Vec<_>>())
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = u.iter().fold(D::from(0.0), |sum, u| sum + (*u * *u).sqrt());
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u.iter().fold(D::from(0.0), |sum, u| sum - (*u * *u).sqrt() * q[0]);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = u.iter().fold(x.q[0], |sum, u| sum + (*u * *u).sqrt() * x.v[0]);
    }
}

/// Protects zero times infinity: a root at zero is infinitely steep, but its argument does not move. Forwards that is zero, and so it is in
/// reverse.
#[test]
fn infinite_slopes_times_zero_are_zero_in_reverse() {
    let system = Plain::new(Roots).unwrap();
    let mut u = vec![0.4; 20];
    (u[3], u[11]) = (0.0, 0.0);
    let [forward, reverse] = [Mode::Forward, Mode::Reverse].map(|mode| {
        let mut evaluator = system.evaluator_by(By { mode, ..By::BOTH });
        evaluator.set_parameters(&u);
        products(&mut *evaluator, system.signature(), 0.4)
    });
    for ((what, forward), (_, reverse)) in forward.iter().zip(&reverse).filter(|((what, _), _)| !what.contains("curv"))
    {
        assert!(forward.iter().all(|value| value.is_finite()), "{what}: {forward:?}");
        near(what, reverse, forward, 1e-12);
    }
}

/// The square of an output, and the size of all parameters.
struct Regularised;

impl CostFunction for Regularised {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let error = y[0] - 0.1;
        u.iter().fold(error * error + x.v[0] * x.v[0] * 1e-4, |sum, u| sum + *u * *u * y[0] * 1e-3)
            + D::dot(u, u) * y[0] * 1e-4
    }
}

fn simulation(model: impl Model + 'static, step: f64, is_projecting: bool) -> Simulation {
    let inputs = model.signature().inputs.len();
    let grid = TimeGrid::steps(0.0, step, 60).unwrap();
    let signals = (0..inputs).map(|_| Signal::function(|t: f64| (3.0 * t).sin())).collect();
    let system = Arc::new(Plain::new(model).unwrap());
    let simulation = match is_projecting {
        true => Simulation::new(system, I2p::new(0.8).unwrap(), grid, signals),
        false => Simulation::new(system, Hht::new(-0.05).unwrap(), grid, signals),
    };
    simulation.unwrap().initial_state(InitialState::Projected)
}

fn costs(simulation: &Simulation) -> [Box<dyn Cost>; 2] {
    let times = simulation.grid().times();
    let reference = Reference { output: 0, values: vec![0.1; times.len()], deviation: 1.0 };
    [
        Box::new(LeastSquares::new(times, vec![reference], 1, Quadrature::Trapezoid).unwrap()),
        Box::new(Differentiated::new(Regularised, Quadrature::Trapezoid)),
    ]
}

/// Protects gradients of many parameters: adjoint and tangents agree, second derivatives with differences of gradients, and derivatives by
/// few of many parameters are those of all of them.
#[test]
fn gradients_by_many_parameters() {
    let cases = [
        ("whole squeezer", simulation(WholeSqueezer, 3e-5, false)),
        ("whole squeezer, projected", simulation(WholeSqueezer, 3e-5, true)),
        ("neural oscillator", simulation(NeuralOscillator::<16>, 1e-2, false)),
    ];
    for (name, simulation) in &cases {
        let u = simulation.signature().nominal();
        for (number, cost) in costs(simulation).iter().enumerate() {
            let name = format!("{name}, cost {number}");
            let mut gradient = Gradient::new(simulation, &**cost).unwrap();
            let [mut adjoint, mut tangent] = [(); 2].map(|()| vec![0.0; u.len()]);
            gradient.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
            gradient.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
            let by_size =
                |slopes: &[f64]| -> Vec<f64> { slopes.iter().zip(&u).map(|(s, u)| s * u.abs().max(1e-9)).collect() };
            near(&name, &by_size(&adjoint), &by_size(&tangent), 1e-10);
            let few = [1, 4, 20];
            let mut own = vec![1.0; u.len()];
            let mut fewer = Gradient::new(simulation, &**cost).unwrap().with_respect_to(&few);
            fewer.cost_and_gradient(&u, Method::Adjoint, &mut own).unwrap();
            let expected: Vec<f64> = (0..u.len()).map(|k| if few.contains(&k) { adjoint[k] } else { 0.0 }).collect();
            near(&format!("{name}: few"), &by_size(&own), &by_size(&expected), 1e-10);
            // along a direction
            let direction: Vec<f64> = u.iter().enumerate().map(|(k, u)| u * (1.7 * k as f64).sin() * 0.1).collect();
            let (mut again, mut product) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            gradient.hessian_vector(&u, &direction, &mut again, &mut product).unwrap();
            near(&format!("{name}: gradient with its product"), &by_size(&again), &by_size(&adjoint), 1e-10);
            let mut moved = |s: f64| {
                let u: Vec<f64> = u.iter().zip(&direction).map(|(u, d)| u + s * d).collect();
                let mut slopes = vec![0.0; u.len()];
                gradient.cost_and_gradient(&u, Method::Adjoint, &mut slopes).unwrap();
                slopes
            };
            let (up, down) = (moved(1e-4), moved(-1e-4));
            let difference: Vec<f64> = up.iter().zip(&down).map(|(up, down)| (up - down) / 2e-4).collect();
            near(&format!("{name}: product"), &by_size(&product), &by_size(&difference), 1e-5);
        }
    }
}

/// Protects the mechanism with everything as a parameter: it is the one with five.
#[test]
fn the_whole_squeezer_is_the_squeezer() {
    let [few, all] = [simulation(Squeezer, 3e-5, true), simulation(WholeSqueezer, 3e-5, true)].map(|simulation| {
        assert!([5, 42].contains(&simulation.signature().parameters.len()));
        simulation.run(&simulation.signature().nominal()).unwrap().output(0)
    });
    near("beta", &all, &few, 1e-10);
}
