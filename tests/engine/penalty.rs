//! ALI3-P with a pure penalty: its formulas, rows that repeat others, messages. (With the paper's: `textbook_ali3p`.)

use crate::common::largest;
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Scheme;
use costate::sensitivity::{Gradient, Method};
use costate::{
    Error, Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid, Trajectory, scheme, unpack,
};
use std::sync::Arc;

const GRAVITY: f64 = 9.81;

/// A pendulum of length L whose rod is written down once or several times, in different units.
#[derive(Debug, Clone)]
struct Twins(usize);

impl Model for Twins {
    fn signature(&self) -> Signature {
        let signature = Signature::new("twins").coordinates([("x", "m"), ("y", "m")]);
        let rods = &["rod0", "rod1", "rod2"][..self.0];
        rods.iter()
            .fold(signature, |signature, rod| signature.constraints([(rod, "m^2")]))
            .outputs([("rod_force", "N")])
            .parameters([Parameter::new("m", "kg", 0.7), Parameter::new("L", "m", 1.3)])
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], q[1]) = (u[1] * 0.8, u[1] * -0.6);
        (v[0], v[1]) = (u[1] * 0.3, u[1] * 0.4);
    }
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (u[0], u[0]);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = -v[0] * 0.2;
        force[1] = -u[0] * GRAVITY - v[1] * 0.2;
    }
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        for (k, c) in c.iter_mut().enumerate() {
            *c = (q[0] * q[0] + q[1] * q[1] - u[1] * u[1]) * (k as f64 + 1.0);
        }
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let [_, length] = unpack(u);
        y[0] = x.lambda.iter().enumerate().fold(D::from(0.0), |sum, (k, l)| sum + *l * (k as f64 + 1.0)) * length * 2.0;
    }
}

/// Everything that a run gives, once.
#[derive(Clone)]
struct All;

impl CostFunction for All {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], u: &[D]) -> D {
        let force = x.lambda.iter().enumerate().fold(D::from(0.0), |sum, (k, l)| sum + *l * (k as f64 + 1.0));
        x.q[0] * x.v[1] + x.a[0] * x.a[0] * 0.01 + force * force * 0.01 + u[0] * x.q[1]
    }
}

fn simulation(rods: usize, penalty: Option<f64>, h: f64, steps: usize) -> Result<Simulation, Error> {
    let settings: Vec<(String, f64)> =
        penalty.map(|penalty| ("pure_penalty".to_string(), penalty)).into_iter().collect();
    let scheme = scheme::by_name("ali3p", &settings)?;
    Simulation::new(Arc::new(Plain::new(Twins(rods))?), scheme, TimeGrid::steps(0.0, h, steps)?, Vec::new())
}

fn run(rods: usize, penalty: Option<f64>, h: f64, steps: usize) -> Trajectory {
    simulation(rods, penalty, h, steps).unwrap().run(&[0.7, 1.3]).unwrap()
}

/// Protects the pure penalty's meaning: λ = α C, and (M + ς C_qᵀ α C_q) v = M v* - ς C_qᵀ α C_t and the like, written down by hand for this
/// pendulum, with a penalty soft enough to be seen.
#[test]
fn a_pure_penalty_is_a_spring() {
    let (h, steps, [m, length]) = (1e-3, 200, [0.7, 1.3]);
    let penalty: f64 = 1e5;
    let varsigma = 0.25 * h * h;
    let solve = |k: [[f64; 2]; 2], r: [f64; 2]| {
        let determinant = k[0][0] * k[1][1] - k[0][1] * k[1][0];
        [(r[0] * k[1][1] - r[1] * k[0][1]) / determinant, (k[0][0] * r[1] - k[1][0] * r[0]) / determinant]
    };
    let (mut q, mut v) = ([0.8 * length, -0.6 * length], [0.3 * length, 0.4 * length]);
    let project = |q: [f64; 2], x: [f64; 2], right: f64| {
        let c = [2.0 * q[0], 2.0 * q[1]];
        let k = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { m } else { 0.0 } + varsigma * penalty * c[i] * c[j])
        });
        solve(k, std::array::from_fn(|i| m * x[i] - varsigma * penalty * c[i] * right))
    };
    let force = |v: [f64; 2]| [-0.2 * v[0], -m * GRAVITY - 0.2 * v[1]];
    let curvature = |v: [f64; 2]| 2.0 * (v[0] * v[0] + v[1] * v[1]);
    // the start: accelerations alone
    let mut a = project(q, force(v).map(|f| f / m), curvature(v));
    let trajectory = run(1, Some(penalty), h, steps);
    for step in 1..=steps {
        let (q0, v0, a0) = (q, v, a);
        let mut s = a0;
        for _ in 0..30 {
            q = std::array::from_fn(|i| q0[i] + h * v0[i] + 0.25 * h * h * (a0[i] + s[i]));
            v = std::array::from_fn(|i| v0[i] + 0.5 * h * (a0[i] + s[i]));
            let c = q[0] * q[0] + q[1] * q[1] - length * length;
            let r = std::array::from_fn(|i| m * s[i] + 2.0 * q[i] * penalty * c - force(v)[i]);
            let k = std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    let own = if i == j { m + 0.1 * h + varsigma * 2.0 * penalty * c } else { 0.0 };
                    own + varsigma * penalty * 4.0 * q[i] * q[j]
                })
            });
            let change = solve(k, r);
            s = std::array::from_fn(|i| s[i] - change[i]);
        }
        v = project(q, v, 0.0);
        a = project(q, s, curvature(v));
        let x = trajectory.state(step);
        for i in 0..2 {
            // the constraint's round-off times the penalty over h² in accelerations
            assert!((x.q[i] - q[i]).abs() < 1e-11, "step {step}: q {} and {}", x.q[i], q[i]);
            assert!((x.v[i] - v[i]).abs() < 1e-10, "step {step}: v {} and {}", x.v[i], v[i]);
            assert!((x.a[i] - a[i]).abs() < 1e-7, "step {step}: a {} and {}", x.a[i], a[i]);
        }
    }
    let drift = q[0] * q[0] + q[1] * q[1] - length * length;
    assert!(drift.abs() > 1e-6, "the penalty is to be seen: {drift:.1e}");
}

/// Protects what a penalty is for: rows that repeat others are singular without it; with it they share the force of one row.
#[test]
fn repeated_rows_share_their_force() {
    let (h, steps) = (2e-3, 500);
    let error = simulation(2, None, h, steps).unwrap().run(&[0.7, 1.3]).unwrap_err().to_string();
    assert!(error.contains("`rod1`") && error.contains("repeat"), "{error}");
    let alone = run(1, None, h, steps);
    for rods in [2, 3] {
        // 1e9 times the mass over h²/4
        let together = run(rods, Some(1e9 * 0.7 / (0.25 * h * h)), h, steps);
        for i in 0..=steps {
            let [x, y] = [&alone, &together].map(|run| run.state(i));
            assert!((0..2).all(|j| (x.q[j] - y.q[j]).abs() < 1e-9), "{:?} {:?}", x.q, y.q);
            assert!((0..2).all(|j| (x.v[j] - y.v[j]).abs() < 1e-8), "{:?} {:?}", x.v, y.v);
            let [alone, together] = [alone.output(0)[i], together.output(0)[i]];
            assert!((alone - together).abs() < 1e-6 * alone.abs().max(1.0), "rod force {alone} and {together}");
            let drift = y.q[0] * y.q[0] + y.q[1] * y.q[1] - 1.69;
            assert!(drift.abs() < 1e-11, "{drift:.1e}");
        }
    }
}

/// Protects derivatives through yielding constraints, redundant ones included: adjoint, tangents, differences; Hessian.
#[test]
fn derivatives_are_exact() {
    for (rods, penalty) in [(1, 1e5), (2, 1e9), (3, 1e12)] {
        let simulation = simulation(rods, Some(penalty), 5e-3, 100).unwrap();
        let cost = Differentiated::new(All, Quadrature::Trapezoid);
        let mut engine = Gradient::new(&simulation, &cost).unwrap();
        let u = [0.7, 1.3];
        let [mut adjoint, mut tangent] = [[0.0; 2]; 2];
        engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
        engine.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
        let size = largest(&tangent);
        let apart = adjoint.iter().zip(&tangent).fold(0.0f64, |far, (a, t)| far.max((a - t).abs())) / size;
        assert!(apart < 1e-10, "{rods} rods: adjoint {adjoint:?}, tangent {tangent:?}");
        let mut hessian = vec![vec![0.0; 2]; 2];
        engine.hessian(&u, &mut [0.0; 2], &mut hessian).unwrap();
        for k in 0..2 {
            let step = 1e-5;
            let mut at = |part: f64| {
                let mut moved = u;
                moved[k] += part * step;
                let mut gradient = [0.0; 2];
                let cost = engine.cost_and_gradient(&moved, Method::Adjoint, &mut gradient).unwrap();
                (cost, gradient)
            };
            let [(up, above), (down, below)] = [at(1.0), at(-1.0)];
            let difference = (up - down) / (2.0 * step);
            assert!((difference - adjoint[k]).abs() < 1e-6 * size, "{rods} rods: {difference} and {}", adjoint[k]);
            for j in 0..2 {
                let difference = (above[j] - below[j]) / (2.0 * step);
                let own = hessian[j][k];
                assert!((difference - own).abs() < 1e-5 * size, "{rods} rods: {difference} and {own}");
            }
        }
    }
}

/// Protects against penalties that mean nothing.
#[test]
fn wrong_penalties_get_a_sentence() {
    for penalty in [0.0, -1e6, f64::NAN] {
        let error = simulation(1, Some(penalty), 1e-3, 1).unwrap_err().to_string();
        assert!(error.contains("pure_penalty") && error.contains("N/m"), "{error}");
        let error = scheme::by_name("ali3p", &[("penalty".to_string(), penalty)]).unwrap_err().to_string();
        assert!(error.contains("its penalty is") && error.contains("N/m"), "{error}");
    }
    for name in ["penalty", "pure_penalty"] {
        let named = |penalty| scheme::by_name("ali3p", &[(name.to_string(), penalty)]).unwrap().settings();
        assert_eq!(named(1e9), [(name, 1e9)]);
        assert!(named(f64::INFINITY).is_empty());
    }
    let both = ["penalty", "pure_penalty"].map(|name| (name.to_string(), 1e9));
    let error = scheme::by_name("ali3p", &both).unwrap_err().to_string();
    assert!(error.contains("both `penalty` and `pure_penalty`") && error.contains("repeat others"), "{error}");
    let parts = costate_models::registry().unwrap();
    let chain = parts.get("pendulum-chain").unwrap().system.clone();
    let scheme = scheme::by_name("ali3p", &[("penalty".to_string(), 1e9)]).unwrap();
    let error = Simulation::new(chain, scheme, TimeGrid::steps(0.0, 1e-3, 1).unwrap(), Vec::new()).unwrap_err();
    assert!(error.to_string().contains("leave the penalty out"), "{error}");
}
