//! Starts in static equilibrium: closed forms, exact first and second derivatives, and what is said where there is none.

use crate::common;

use common::{ALL, Case, FORMS};
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::{Form, Hht};
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::value::Value;
use costate::{
    Error, InitialState, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid,
    Trajectory, unpack,
};
use costate_models::oscillator::Oscillator;
use costate_models::pendulum::Pendulum;
use costate_models::pendulum_chain::pendulum_chain;
use costate_parts::law::{FunctionOfTime, Law, Linear};
use costate_parts::planar::{Body, Mechanism, Member};
use std::sync::Arc;

fn at_rest(system: Arc<dyn System>, signals: Vec<Signal>, form: Form, steps: usize) -> Simulation {
    let grid = TimeGrid::steps(0.0, 5e-3, steps).unwrap();
    let scheme = Hht::new(-0.1).unwrap().form(form);
    Simulation::new(system, scheme, grid, signals).unwrap().initial_state(InitialState::Equilibrium)
}

fn plain<M: Model + 'static>(model: M, steps: usize) -> Simulation {
    at_rest(Arc::new(Plain::new(model).unwrap()), Vec::new(), Form::Consistent, steps)
}

fn built(mechanism: Mechanism, signals: Vec<Signal>, form: Form, steps: usize) -> Simulation {
    at_rest(Arc::new(mechanism.build().unwrap()), signals, form, steps)
}

/// A trajectory must not leave its start: positions by no more than `limit` of the largest, in rounding alone.
#[track_caller]
fn stays(what: &str, run: &Trajectory, limit: f64) {
    let start = run.state(0);
    assert!(start.v.iter().all(|v| *v == 0.0), "{what}: {:?}", start.v);
    let size = start.q.iter().fold(0.0f64, |size, q| size.max(q.abs()));
    for i in 1..run.times().len() {
        let moved = run.state(i).q.iter().zip(start.q).fold(0.0f64, |moved, (q, q0)| moved.max((q - q0).abs()));
        assert!(moved <= limit * size, "{what}: moved by {moved:.1e} at {} s", run.times()[i]);
    }
}

/// m x'' = -k x - d x' + m g from x = 0.2, with the initial velocity 3.
struct Hanging;

impl Model for Hanging {
    fn signature(&self) -> Signature {
        Signature::new("hanging").coordinates([("x", "m")]).outputs([("x", "m")]).parameters([
            Parameter::new("m", "kg", 2.0),
            Parameter::new("k", "N/m", 300.0),
            Parameter::new("x0", "m", 0.2),
        ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], v[0]) = (u[2], D::from(3.0));
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[0] * 9.81 - u[1] * q[0] - v[0] * 0.4;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

/// Positions summed over the run.
#[derive(Clone)]
struct Positions;

impl CostFunction for Positions {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        x.q.iter().fold(D::from(0.0), |sum, q| sum + *q)
    }
}

/// Protects the meaning: a mass on a spring hangs at m g / k, whatever the model's initial state is; gradient and Hessian of
/// that are those of the formula.
#[test]
fn a_mass_hangs_where_the_spring_holds_it() {
    let (m, k) = (2.0, 300.0);
    let simulation = plain(Hanging, 200);
    let run = simulation.run(&[m, k, 0.2]).unwrap();
    let expected = m * 9.81 / k;
    assert!((run.state(0).q[0] / expected - 1.0).abs() < 1e-15);
    assert_eq!(run.start.initial_state, InitialState::Equilibrium);
    assert!((1..=3).contains(&run.start.iterations), "{}", run.start.iterations);
    stays("hanging", &run, 1e-14);
    let cost = Differentiated::new(Positions, Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &cost).unwrap();
    let (mut gradient, mut hessian) = (vec![0.0; 3], vec![vec![0.0; 3]; 3]);
    let value = engine.hessian(&[m, k, 0.2], &mut gradient, &mut hessian).unwrap();
    let g = 9.81;
    let slopes = [g / k, -m * g / (k * k), 0.0];
    let curvature = [[0.0, -g / (k * k), 0.0], [-g / (k * k), 2.0 * m * g / (k * k * k), 0.0], [0.0; 3]];
    // over one second; steps add up rounding of forces that cancel
    let near = |a: f64, b: f64, size: f64| assert!((a - b).abs() <= 1e-11 * size, "{a:e} {b:e}");
    near(value, expected, expected);
    for i in 0..3 {
        near(gradient[i], slopes[i], g / k);
        (0..3).for_each(|j| near(hessian[i][j], curvature[i][j], g / (k * k)));
    }
}

/// Protects the search where tension alone holds a mass: the rod's force is the only stiffness, it vanishes with the rod
/// level and is negative above. From everywhere the pendulum comes to hang; its own angle and rate leave no trace.
#[test]
fn a_pendulum_hangs_down_from_every_angle() {
    for angle in [0.0, 0.3, 1.2, std::f64::consts::FRAC_PI_2, 2.0, -2.8, 3.1] {
        let case = Case::new(Pendulum, &[0.6, 0.7, 0.06, 9.81, angle, 0.4], Vec::new(), 0.01, 100).alpha(-0.1);
        let simulation = case.simulation().initial_state(InitialState::Equilibrium);
        let run = simulation.run(&case.u).unwrap_or_else(|error| panic!("from {angle}: {error}"));
        let start = run.state(0);
        assert!(start.q[0].abs() < 1e-14 && (start.q[1] + 0.7).abs() < 1e-14, "from {angle}: {:?}", start.q);
        assert!((start.lambda[0] * 0.7 - 0.6 * 9.81).abs() < 1e-13, "from {angle}: {:?}", start.lambda);
        stays("pendulum", &run, 1e-12);
        let cost = case.cost_of(ALL).differentiated(Quadrature::Trapezoid);
        let mut engine = Gradient::new(&simulation, &*cost).unwrap();
        for method in [Method::Adjoint, Method::Tangent] {
            let mut gradient = vec![0.0; 6];
            engine.cost_and_gradient(&case.u, method, &mut gradient).unwrap();
            assert!(gradient[1] != 0.0, "{gradient:?}");
        }
    }
}

/// A pendulum with a torsion spring, free at `free`: I φ'' = -m g l sin φ - k (φ - free).
struct Torsion;

impl Model for Torsion {
    fn signature(&self) -> Signature {
        Signature::new("torsion").coordinates([("phi", "rad")]).outputs([("phi", "rad")]).parameters([
            Parameter::new("m_g_l", "N m", 6.0),
            Parameter::new("k", "N m/rad", 2.0),
            Parameter::new("free", "rad", 2.2),
            Parameter::new("phi0", "rad", 0.5),
        ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = u[3];
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(0.3);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [weight, k, free, _] = unpack(u);
        force[0] = -weight * q[0].sin() - k * (q[0] - free);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

/// Protects stability: of several equilibria the search takes one in which the mechanism would stay, and stays there.
#[test]
fn a_torsion_spring_holds_a_pendulum_where_it_is_stable() {
    for start in [-6.0, -1.0, 0.5, 2.0, 2.9, 3.3, 4.0, 6.0] {
        let (weight, k, free) = (6.0, 2.0, 2.2);
        let run = plain(Torsion, 400).run(&[weight, k, free, start]).unwrap();
        let phi = run.state(0).q[0];
        let torque = -weight * phi.sin() - k * (phi - free);
        assert!(torque.abs() < 1e-14 * (weight + k * (phi - free).abs()), "from {start}: {phi} with {torque:.1e}");
        assert!(weight * phi.cos() + k > 0.0, "from {start}: {phi} is a summit");
        stays("torsion", &run, 1e-12);
    }
}

/// A rate does not matter at rest; its parameters must come out with a slope of zero there.
#[derive(Clone)]
struct Progressive;

impl Law for Progressive {
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        u[0] * elongation + u[1] * elongation * elongation * elongation + u[2] * rate
    }
}

fn parameter(mechanism: &mut Mechanism, name: &str, nominal: f64) -> Value {
    mechanism.parameter(Parameter::new(name, "1", nominal))
}

/// Two links, hung up and held by springs, with much about them a parameter.
fn links(mechanism: &mut Mechanism) -> [Member; 2] {
    let mut p = |name: &str, nominal: f64| mechanism.parameter(Parameter::new(name, "1", nominal));
    let (length, mass, c_x, g_x) = (p("L", 0.6), p("m", 1.2), p("c_x", 0.25), p("g_x", 0.3));
    mechanism.gravity([g_x, Value::from(-9.7)]);
    let first = Body::new(mass, 0.05).center([c_x, Value::from(0.03)]).at([0.0, 0.0], -0.9).moving([0.0, 0.0], 0.7);
    let first = mechanism.body("first", first);
    let second = mechanism.body("second", Body::new(0.8, 0.02).at([0.37, -0.47], -0.4));
    mechanism.revolute("pivot", mechanism.ground().at([0.0, 0.0]), first.at([0.0, 0.0]));
    mechanism.revolute("elbow", first.at([length, Value::from(0.0)]), second.at([-0.2, 0.01]));
    [first, second]
}

type Build = fn(&mut Mechanism);

/// Name, inputs and parts; small ones with dense factors, larger ones with sparse ones.
const MECHANISMS: [(&str, usize, Build); 5] = [
    ("two masses on springs", 0, |m| {
        let mass = parameter(m, "m", 0.7);
        let first = m.point("first", mass, [0.3, -0.4]);
        let second = m.point("second", 0.4, [0.5, -0.9]);
        let laws = [("k1", 60.0), ("k3", 900.0), ("d", 0.7)].map(|(name, nominal)| parameter(m, name, nominal));
        m.strut("upper", m.ground().at([0.0, 0.0]), first.at([0.0, 0.0]), 0.4, Progressive, laws);
        m.strut("side", m.ground().at([0.9, 0.0]), first.at([0.0, 0.0]), 0.5, Progressive, laws);
        let free = parameter(m, "free", 0.45);
        m.strut("lower", first.at([0.0, 0.0]), second.at([0.0, 0.0]), free, Linear, [50.0, 0.3]);
    }),
    ("links and a spring", 0, |m| {
        let [_, second] = links(m);
        let [x, free, k] = [("x", 0.1), ("free", 0.3), ("k", 40.0)].map(|(name, nominal)| parameter(m, name, nominal));
        m.spring("spring", m.ground().at([0.9, -0.1]), second.at([x, Value::from(-0.2)]), free, k, 1.5);
    }),
    ("links and a pushed torsion spring", 1, |m| {
        let [first, second] = links(m);
        let k = parameter(m, "k", 3.0);
        m.torsion("torsion", &first, &second, k, 0.4);
        let push = m.input("push", "N m");
        m.torque("push", &m.ground(), &first, push);
    }),
    ("links, a rod and a spring that bends the loop", 0, |m| {
        let [first, second] = links(m);
        let [x, rod] = [("x", 1.0), ("rod", 0.5)].map(|(name, nominal)| parameter(m, name, nominal));
        m.rod("rod", m.ground().at([x, Value::from(-0.2)]), second.at([0.1, 0.05]), rod);
        let k = parameter(m, "k", 200.0);
        m.spring("spring", m.ground().at([0.4, 0.3]), first.at([0.4, 0.0]), 0.3, k, 1.0);
    }),
    ("a rope bridge of masses", 0, |m| {
        let [mass, length, k] =
            [("m", 0.5), ("L", 0.35), ("k", 700.0)].map(|(name, nominal)| parameter(m, name, nominal));
        let mut before = m.ground().at([0.0, 0.0]);
        for i in 0..9 {
            let x = 0.3 * (i + 1) as f64;
            let next = m.point(&format!("p{i}"), mass, [x, -0.1 * x * (3.0 - x)]);
            if i % 2 == 0 {
                m.rod(&format!("rod{i}"), before, next.at([0.0, 0.0]), length);
            } else {
                m.spring(&format!("rope{i}"), before, next.at([0.0, 0.0]), length, k, 2.0);
            }
            before = next.at([0.0, 0.0]);
        }
        m.spring("last", before, m.ground().at([3.0, 0.2]), length, k, 2.0);
    }),
];

/// Looks at everything: positions, velocities, both accelerations, multipliers and parameters.
struct Everything;

impl CostFunction for Everything {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, _y: &[D], u: &[D]) -> D {
        let parts = [(x.q, 1.0), (x.v, 0.5), (x.a, 0.05), (x.a_scheme, 0.05), (x.lambda, 1e-2), (u, 1e-2)];
        let mut sum = D::from(0.0);
        let mut place = 0;
        for (values, size) in parts {
            for value in values {
                let (scaled, weight) = (*value * size, 0.4 + 0.3 * (1.7 * place as f64).sin());
                sum += scaled * scaled * weight + scaled * (1.0 - weight) * (1.0 + t).sin();
                place += 1;
            }
        }
        sum
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// Protects derivatives through the equilibrium, with dense and sparse factors, in both forms: adjoint and tangents agree to
/// round-off, differences to theirs, and Hessian products with differences of gradients. With forces that move the
/// mechanism afterwards, and with a run of a single step, whose cost sees little but the start.
#[test]
fn derivatives_pass_through_the_equilibrium() {
    for (name, inputs, build) in MECHANISMS {
        for (form, steps) in FORMS.into_iter().flat_map(|form| [(form, 1), (form, 40)]) {
            let mut mechanism = Mechanism::new("trial");
            build(&mut mechanism);
            let signals = (0..inputs).map(|_| Signal::function(|t| 1.5 + (9.0 * t).sin())).collect();
            let simulation = built(mechanism, signals, form, steps);
            let u = simulation.signature().nominal();
            let p = u.len();
            let cost = Differentiated::new(Everything, Quadrature::Unit);
            let mut engine = Gradient::new(&simulation, &cost).unwrap();
            let mut gradient = |u: &[f64], method| {
                let mut gradient = vec![0.0; p];
                engine.cost_and_gradient(u, method, &mut gradient).unwrap_or_else(|error| panic!("{name}: {error}"));
                gradient.iter().zip(u).map(|(g, u)| g * u).collect::<Vec<f64>>()
            };
            let [adjoint, tangent, difference] =
                [Method::Adjoint, Method::Tangent, Method::Difference].map(|method| gradient(&u, method));
            let size = largest(&adjoint);
            for k in 0..p {
                let what = format!("{name}, {form:?}, {steps} steps, `{}`", simulation.signature().parameters[k].name);
                assert!((adjoint[k] - tangent[k]).abs() < 1e-11 * size, "{what}: {:e} {:e}", adjoint[k], tangent[k]);
                let error = (adjoint[k] - difference[k]).abs() / size;
                assert!(error < 1e-7, "{what}: {:e} {:e} by differences", adjoint[k], difference[k]);
            }
            let direction: Vec<f64> = (0..p).map(|k| u[k] * (1.0 + 2.7 * k as f64).sin()).collect();
            let mut at = |h: f64| {
                let moved: Vec<f64> = u.iter().zip(&direction).map(|(u, d)| u + h * d).collect();
                gradient(&moved, Method::Adjoint).iter().zip(&moved).map(|(g, u)| g / u).collect::<Vec<f64>>()
            };
            // extrapolated, so that differences are good to nine digits or so
            let [far, near] = [2e-3, 1e-3].map(|h| {
                let (up, down) = (at(h), at(-h));
                (0..p).map(|k| (up[k] - down[k]) / (2.0 * h)).collect::<Vec<f64>>()
            });
            let expected: Vec<f64> = (0..p).map(|k| (4.0 * near[k] - far[k]) / 3.0 * u[k]).collect();
            let (mut again, mut product) = (vec![0.0; p], Vec::new());
            engine.hessian_vector(&u, &direction, &mut again, &mut product).unwrap();
            for k in 0..p {
                let error = (product[k] * u[k] - expected[k]).abs() / largest(&expected);
                assert!(error < 1e-7, "{name}, {form:?}, {steps} steps: Hessian, row {k}: error {error:.1e}");
            }
        }
    }
}

/// Protects the start as a state of rest: from parts, dense and sparse, nothing moves; and a chain of pendulums that
/// begins level comes to hang, each joint with the weight below it.
#[test]
fn what_is_in_equilibrium_stays_there() {
    for (name, inputs, build) in MECHANISMS {
        let mut mechanism = Mechanism::new("trial");
        build(&mut mechanism);
        let signals = (0..inputs).map(|_| Signal::constant(0.8)).collect();
        let simulation = built(mechanism, signals, Form::Consistent, 400);
        let run = simulation.run(&simulation.signature().nominal()).unwrap();
        stays(name, &run, 1e-11);
    }
    let count = 12;
    let simulation = at_rest(Arc::new(pendulum_chain(count).unwrap()), Vec::new(), Form::Consistent, 50);
    let run = simulation.run(&simulation.signature().nominal()).unwrap();
    stays("chain", &run, 1e-10);
    for i in 0..count {
        let q = &run.state(0).q[3 * i..3 * i + 3];
        let down = -(i as f64 + 0.5);
        assert!(q[0].abs() < 1e-12 && (q[1] - down).abs() < 1e-12, "body {i}: {q:?}");
        assert!((q[2].sin() + 1.0).abs() < 1e-12, "body {i}: {q:?}");
    }
}

#[track_caller]
fn said<T>(outcome: costate::Result<T>, parts: &[&str]) -> Error {
    let Err(error) = outcome else { panic!("this should fail") };
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    error
}

/// Protects what is said of a mechanism that nothing holds: the coordinates, and only they; with weight, without any
/// force, and in a direction that joins two coordinates.
#[test]
fn what_nothing_holds_is_named() {
    let run = |build: Build| {
        let mut mechanism = Mechanism::new("loose");
        build(&mut mechanism);
        built(mechanism, Vec::new(), Form::Consistent, 3).run(&[])
    };
    let error = said(
        run(|m| {
            let slider = m.body("slider", Body::new(1.0, 0.1).at([0.1, 0.0], 0.0));
            m.prismatic("rail", m.ground().at([0.0, 0.0]), slider.at([0.0, 0.0]), 1.5, 0.0);
        }),
        &["singular at t = 0 s", "neither a stiffness nor a constraint holds `slider.y` at rest; give it a spring"],
    );
    assert!(error.is_simulation_failure());
    said(
        run(|m| {
            m.gravity([0.0, 0.0]);
            let left = m.point("left", 1.0, [0.0, 0.0]);
            let right = m.point("right", 2.0, [1.0, 0.0]);
            m.on_line("wire", m.ground().at([0.0, 0.0]), left.at([0.0, 0.0]), 0.0);
            m.on_line("wire on", m.ground().at([0.0, 0.0]), right.at([0.0, 0.0]), 0.0);
            m.spring("spring", left.at([0.0, 0.0]), right.at([0.0, 0.0]), 0.8, 50.0, 0.1);
        }),
        &["holds `left.x`, `right.x` at rest"],
    );
}

/// A force that falls with the distance and never ends.
struct Repelled;

impl Model for Repelled {
    fn signature(&self) -> Signature {
        Signature::new("repelled").coordinates([("x", "m"), ("y", "m")])
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(1.0);
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (D::from(1.0), D::from(1.0));
    }

    fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = (q[0].sin() * 0.5 + 2.0) * 3.0;
        force[1] = q[1] * -5.0;
    }
}

/// Protects the other failure: a mechanism that is held nowhere long enough to rest; the equation is named, and by how much it is
/// off. Inside an identification that is a rejected step.
#[test]
fn no_equilibrium_is_an_error() {
    let parts =
        ["no static equilibrium was found at t = 0 s: after ", "the equation of motion of `x` is off by ", "e0; give"];
    let error = said(plain(Repelled, 3).run(&[]), &parts);
    assert!(error.is_simulation_failure());
}

#[derive(Clone)]
struct Along;

impl FunctionOfTime for Along {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        u[0] + u[1] * t + u[2] * t * t
    }
}

/// Protects drives: one that moves at the start leaves no rest and is refused by name; one that stands still there may
/// accelerate, and accelerations and multipliers are those of the motion that begins.
#[test]
fn drives_must_stand_still_at_the_start() {
    let mut mechanism = Mechanism::new("driven");
    let speed = parameter(&mut mechanism, "speed", 0.4);
    let crank = mechanism.body("crank", Body::new(1.0, 0.1).at([0.0, 0.0], 0.3));
    mechanism.revolute("axle", mechanism.ground().at([0.0, 0.0]), crank.at([0.0, 0.0]));
    mechanism.drive("servo", crank.coordinates()[2], Along, [Value::from(0.2), speed, Value::from(1.5)]);
    let simulation = built(mechanism, Vec::new(), Form::Consistent, 20);
    said(
        simulation.run(&[0.4]),
        &["constraint `servo.motion`: it moves by 4.000e-1 a second at t = 0 s", "stands still"],
    );
    let run = simulation.run(&[0.0]).unwrap();
    let start = run.state(0);
    assert!((start.q[2] - 0.2).abs() < 1e-15 && (start.a[2] - 3.0).abs() < 1e-13, "{start:?}");
    let end = run.state(20);
    assert!((end.q[2] - 0.2 - 1.5 * 0.01).abs() < 1e-12, "{end:?}");
}

/// Protects inputs at rest: they are those of the first time, in the closed form of a linear spring.
#[test]
fn inputs_push_at_rest() {
    let case = Case::new(Oscillator, &[1.3, 30.0, 0.5, 0.12, -0.2], vec![|t| 2.4 + t], 0.02, 5);
    let run = case.simulation().initial_state(InitialState::Equilibrium).run(&case.u).unwrap();
    assert!((run.state(0).q[0] / (2.4 / 30.0) - 1.0).abs() < 1e-15, "{:?}", run.state(0));
}
