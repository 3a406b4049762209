//! Problems of the IFToMM benchmark library from planar parts: against the motion in one coordinate, energy and constraints by time
//! step.

use costate::scheme::Hht;
use costate::system::{Level, Point, System};
use costate::{Result, Simulation, TimeGrid, Trajectory};
use costate_models::four_bar_chain::four_bar_chain;
use costate_models::simple_pendulum::simple_pendulum;
use costate_parts::assembly::Assembly;
use std::sync::Arc;

/// Angle from upright of a pendulum θ'' = stiffness sin θ at multiples of `step`, by Runge and Kutta's method of fourth order with
/// steps of 0.1 ms at most: right to 1e-10.
fn pendulum(stiffness: f64, start: [f64; 2], step: f64, count: usize) -> Vec<f64> {
    let slope = |[angle, rate]: [f64; 2]| [rate, stiffness * angle.sin()];
    let parts = (step / 1e-4).ceil();
    let h = step / parts;
    let mut x = start;
    let mut angles = vec![x[0]];
    for _ in 0..count {
        for _ in 0..parts as usize {
            let at = |k: [f64; 2], part: f64| [x[0] + part * h * k[0], x[1] + part * h * k[1]];
            let k1 = slope(x);
            let k2 = slope(at(k1, 0.5));
            let k3 = slope(at(k2, 0.5));
            let k4 = slope(at(k3, 1.0));
            for j in 0..2 {
                x[j] += h / 6.0 * (k1[j] + 2.0 * k2[j] + 2.0 * k3[j] + k4[j]);
            }
        }
        angles.push(x[0]);
    }
    angles
}

/// What is left of exactness in a run.
#[derive(Debug, Clone, Copy)]
struct Drift {
    /// Largest change of the energy, J.
    energy: f64,
    /// Largest violation of a constraint, m.
    position: f64,
    /// Largest velocity of a constraint, m/s.
    velocity: f64,
    /// Largest distance of the marked point from its exact place, m.
    place: f64,
}

fn run(system: &Arc<Assembly>, alpha: f64, end: f64, step: f64) -> Result<Trajectory> {
    let grid = TimeGrid::uniform(0.0, end, step)?;
    Simulation::new(system.clone(), Hht::new(alpha)?, grid, vec![])?.run(&system.signature().nominal())
}

/// Drift over a run; `exact` is the marked point, the first output, at every time.
fn drift(system: &Arc<Assembly>, trajectory: &Trajectory, exact: &[[f64; 2]]) -> Drift {
    let mut drift = Drift { energy: 0.0, position: 0.0, velocity: 0.0, place: 0.0 };
    let energy = trajectory.output(system.signature().output_index("energy").unwrap());
    let (x, y) = (trajectory.output(0), trajectory.output(1));
    let mut evaluator = system.evaluator();
    evaluator.set_parameters(&system.signature().nominal());
    let mut c = vec![0.0; system.signature().constraints.len()];
    for i in 0..trajectory.times().len() {
        drift.energy = drift.energy.max((energy[i] - energy[0]).abs());
        drift.place = drift.place.max((x[i] - exact[i][0]).hypot(y[i] - exact[i][1]));
        let state = trajectory.state(i);
        let point = Point { t: state.t, q: state.q, v: state.v, a: state.a, lambda: state.lambda, w: &[] };
        for (level, largest) in [(Level::Position, &mut drift.position), (Level::Velocity, &mut drift.velocity)] {
            evaluator.constraint(level, &point, &mut c);
            *largest = c.iter().fold(*largest, |largest, c| largest.max(c.abs()));
        }
    }
    drift
}

/// A ratio of errors over steps, as an order.
fn orders(steps: [f64; 3], drifts: &[Drift]) -> Vec<[f64; 3]> {
    let pairs = steps.windows(2).zip(drifts.windows(2));
    pairs
        .map(|(h, d)| {
            let order = |coarse: f64, fine: f64| (coarse / fine).ln() / (h[0] / h[1]).ln();
            [order(d[0].energy, d[1].energy), order(d[0].velocity, d[1].velocity), order(d[0].place, d[1].place)]
        })
        .collect()
}

/// Protects long runs of the simplest constrained system (A01, 10 s): positions hold their constraint to round-off, and the errors
/// of energy, velocity and place fall with the square of the step; after a period by the elliptic integral, the bob is back.
#[test]
fn the_simple_pendulum_swings_as_the_integral_says() {
    let system = Arc::new(simple_pendulum().unwrap());
    let steps = [4e-3, 2e-3, 1e-3];
    let drifts: Vec<Drift> = steps
        .iter()
        .map(|&step| {
            let run = run(&system, -0.05, 10.0, step).unwrap();
            let angles = pendulum(9.81, [std::f64::consts::FRAC_PI_2, 0.0], step, run.times().len() - 1);
            let exact: Vec<[f64; 2]> = angles.iter().map(|angle| [-angle.sin(), angle.cos()]).collect();
            drift(&system, &run, &exact)
        })
        .collect();
    for (drift, step) in drifts.iter().zip(steps) {
        assert!(drift.position < 1e-15, "{step}: {drift:?}");
    }
    for order in orders(steps, &drifts).into_iter().flatten() {
        assert!((order - 2.0).abs() < 0.1, "{drifts:?}");
    }
    // measured 8.9e-5 J, 6.8e-6 m/s
    assert!(drifts[2].energy < 1e-4 && drifts[2].velocity < 1e-5, "{drifts:?}");
    // quarter of a period K(sin 45°) √(L/g) by the arithmetic-geometric mean
    let (mut a, mut b) = (1.0f64, std::f64::consts::FRAC_1_SQRT_2);
    for _ in 0..6 {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    let period = 2.0 * std::f64::consts::PI / a / 9.81f64.sqrt();
    let times = TimeGrid::uniform(0.0, period, period / 4096.0).unwrap();
    let simulation = Simulation::new(system.clone(), Hht::new(-0.05).unwrap(), times, vec![]).unwrap();
    let x = simulation.run(&system.signature().nominal()).unwrap().output(0);
    // at the turning point, an error in time counts as its square; what is seen is the energy lost
    assert!((x[4096] + 1.0).abs() < 1e-4 && (x[2048] - 1.0).abs() < 1e-4, "{} {}", x[2048], x[4096]);
    assert!(x[1024].abs() < 1e-5, "{}", x[1024]);
}

/// The exact place of B0 of the four-bar chain: the chain is one pendulum as long as its cranks stay parallel.
fn exact_b0(windows: usize, step: f64, count: usize) -> Vec<[f64; 2]> {
    let n = windows as f64;
    let stiffness = 9.81 * ((n + 1.0) / 2.0 + n) / ((n + 1.0) / 3.0 + n);
    let angles = pendulum(stiffness, [0.0, 1.0], step, count);
    angles.iter().map(|angle| [angle.sin(), angle.cos()]).collect()
}

/// Protects the way through singular positions (A02, N = 2, 10 s, ten times at least all bars in one line): no parallelogram turns inside
/// out, constraints hold to round-off, and the errors of energy, velocity and place fall with the square of the step.
#[test]
fn four_bars_pass_through_singular_positions() {
    let system = Arc::new(four_bar_chain(2).unwrap());
    let steps = [4e-3, 2e-3, 1e-3];
    let drifts: Vec<Drift> = steps
        .iter()
        .map(|&step| {
            let run = run(&system, -0.1, 10.0, step).unwrap();
            let exact = exact_b0(2, step, run.times().len() - 1);
            let singular = exact.windows(2).filter(|y| y[0][1] * y[1][1] < 0.0).count();
            assert!(singular >= 10, "{singular} singular positions only");
            drift(&system, &run, &exact)
        })
        .collect();
    for (drift, step) in drifts.iter().zip(steps) {
        // coordinates of 2 m: an ulp and a few roundings
        assert!(drift.position < 5e-15, "{step}: {drift:?}");
    }
    for [energy, velocity, place] in orders(steps, &drifts) {
        assert!((energy - 2.0).abs() < 0.1 && (velocity - 2.0).abs() < 0.1, "{drifts:?}");
        // numerical damping, of third order, adds to it at long steps
        assert!(place > 1.9, "{drifts:?}");
    }
    // measured 1.6e-3 J and 1.4e-5 m/s
    assert!(drifts[2].energy < 2e-3 && drifts[2].velocity < 2e-5, "{drifts:?}");
}

/// Protects the assembly of many closed loops (A02, N = 40, up to just before the first singular position): as exact as two
/// windows, in coordinates of 40 m.
#[test]
fn forty_windows_move_as_one() {
    let system = Arc::new(four_bar_chain(40).unwrap());
    let run = run(&system, -0.1, 0.7, 1e-3).unwrap();
    let drift = drift(&system, &run, &exact_b0(40, 1e-3, 700));
    assert!(drift.position < 2e-14, "{drift:?}");
    assert!(drift.place < 1e-5 && drift.velocity < 2e-5, "{drift:?}");
}

/// Protects the passage of singular positions: forty windows come through them at all steps and dampings that were tried, and
/// keep their energy to second order.
#[test]
fn forty_windows_pass_singular_positions() {
    let system = Arc::new(four_bar_chain(40).unwrap());
    let energy = system.signature().output_index("energy").unwrap();
    let lost = |alpha: f64, step: f64| {
        let energies = run(&system, alpha, 2.0, step).unwrap().output(energy);
        energies.iter().fold(0.0f64, |lost, e| lost.max((e - energies[0]).abs()))
    };
    let [coarse, middle, fine] = [2e-3, 1e-3, 5e-4].map(|step| lost(-0.05, step));
    assert!((coarse / middle).log2() > 1.9 && (middle / fine).log2() > 1.9, "{coarse} {middle} {fine}");
    assert!(lost(-0.3, 1e-3) < 0.04 && middle < 0.03, "{middle}");
}
