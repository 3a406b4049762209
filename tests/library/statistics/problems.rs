//! Small models, noise, and problems made of them.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::least_squares::Linearised;
use costate::scheme::Hht;
use costate::{Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
use costate_identify::problem::Problem;
use std::sync::Arc;

/// A body without forces: y = a + b t, which the scheme reproduces exactly. `c` has no influence.
pub struct Line;

impl Model for Line {
    fn signature(&self) -> Signature {
        Signature::new("line").coordinates([("x", "m")]).outputs([("y", "m")]).parameters([
            Parameter::new("a", "m", 1.0),
            Parameter::new("b", "m/s", 1.0),
            Parameter::new("c", "N", 1.0).fixed(),
        ])
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], v[0]) = (u[0], u[1]);
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = D::from(0.0);
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

/// m x'' = -(k1 + k2) x - d x', from x = 0.1: two springs in parallel.
pub struct TwoSprings;

impl Model for TwoSprings {
    fn signature(&self) -> Signature {
        Signature::new("two_springs").coordinates([("x", "m")]).outputs([("x", "m"), ("a", "m/s^2")]).parameters([
            Parameter::new("m", "kg", 1.0).fixed(),
            Parameter::new("k1", "N/m", 30.0),
            Parameter::new("k2", "N/m", 10.0),
            Parameter::new("d", "N s/m", 0.8).non_negative(),
        ])
    }
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(0.1);
    }
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [_, k1, k2, d] = *u else { return };
        force[0] = -k1 * q[0] - k2 * q[0] - d * v[0];
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        (y[0], y[1]) = (x.q[0], x.a[0]);
    }
}

/// Uniform and normal numbers from a seed (splitmix64, Box and Muller).
pub struct Noisy(pub u64);

impl Noisy {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

pub fn simulation(model: impl Model + 'static, times: &[f64]) -> Simulation {
    let grid = TimeGrid::through(times, 1).unwrap();
    Simulation::new(Arc::new(Plain::new(model).unwrap()), Hht::new(0.0).unwrap(), grid, vec![]).unwrap()
}

pub fn problem(simulation: Simulation, references: Vec<Reference>, quadrature: Quadrature, start: &[f64]) -> Problem {
    let cost = LeastSquares::new(simulation.grid().times(), references, 1, quadrature).unwrap();
    let name = simulation.signature().name.clone();
    Problem { start: start.to_vec(), ..Problem::new(name, simulation, Box::new(cost)) }
}

pub fn even(count: usize, step: f64) -> Vec<f64> {
    (0..count).map(|i| i as f64 * step).collect()
}

/// One Gauss-Newton step in the parameters at `free`.
fn step(linearised: &Linearised, free: &[usize], u: &mut [f64]) {
    let reduced = linearised.scaled(free, &vec![1.0; free.len()]);
    let change = reduced.factor().solve_upper_triangular(&-reduced.projected()).unwrap();
    free.iter().zip(change.iter()).for_each(|(&k, change)| u[k] += change);
}

pub fn optimum(problem: &Problem, start: &[f64], steps: usize) -> Vec<f64> {
    let cost = problem.first().cost.as_least_squares().unwrap();
    let mut u = start.to_vec();
    for _ in 0..steps {
        let linearised = problem.gradient().unwrap().linearise(&u, &[cost]).unwrap();
        step(&linearised, &problem.free(), &mut u);
    }
    u
}

pub fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-300), "{what}: {found} against {expected}");
}

/// A line through noisy points at uneven times.
pub fn line(quadrature: Quadrature) -> (Vec<f64>, Vec<f64>, Problem, Vec<f64>) {
    let mut noisy = Noisy(7);
    let mut times = vec![0.0];
    (0..11).for_each(|_| times.push(times[times.len() - 1] + 0.2 + noisy.uniform()));
    let values: Vec<f64> = times.iter().map(|t| 2.0 - 0.7 * t + 0.3 * noisy.normal()).collect();
    let reference = Reference { output: 0, values: values.clone(), deviation: 0.25 };
    let problem = problem(simulation(Line, &times), vec![reference], quadrature, &[1.0, 1.0, 1.0]);
    let u = optimum(&problem, &problem.start, 2);
    (times, values, problem, u)
}
