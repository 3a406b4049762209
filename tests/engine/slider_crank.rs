//! The slider-crank as a mechanism: closure, degrees of freedom, energy, joint forces, and what identifies what.

use crate::common;

use common::{Case, crank};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate_identify::optimise::{Flow, Method};
use costate_identify::specification::{ParameterSetting, Specification};
use costate_identify::statistics::{Noise, Statistics, identifiability};
use costate_identify::{Settings, identify};

/// Places of outputs.
const BEARING_X: usize = 5;
const BEARING_Y: usize = 6;
const BEARING: usize = 7;
const WRIST_X: usize = 8;
const WRIST_Y: usize = 9;

/// All angles of a turn, short and long rods, either sense of rotation.
fn starts() -> impl Iterator<Item = Case> {
    (0..24).map(|i| {
        let mut case = common::slider_crank().alpha(-0.1).step(1e-3, 2);
        let i = f64::from(i);
        case.u[5] = 0.12 + 0.1 * (1.3 * i).sin();
        case.u[6] = 0.35 + 0.1 * (2.1 * i).cos();
        case.u[13] = i * std::f64::consts::TAU / 24.0;
        case.u[14] = 12.0 * (0.9 * i).sin();
        case
    })
}

/// Protects the closed form of the start, the first accelerations and all joint forces: against the mechanism in one
/// coordinate and Newton's law, body by body. Nothing is discretised at the start, so that only round-off is left.
#[test]
fn starts_and_their_forces_follow_from_newton_s_law() {
    for case in starts() {
        let run = case.simulation().run(&case.u).unwrap();
        let x = run.state(0);
        let (angle, rate) = (case.u[13], case.u[14]);
        let [q, slope, bend] = crank::motion(&case.u, angle);
        let acceleration = crank::acceleration(&case.u, case.signals[0](0.0), [angle, rate]);
        let v = slope.map(|s| s * rate);
        let a: [f64; 8] = std::array::from_fn(|j| slope[j] * acceleration + bend[j] * rate * rate);
        for (what, seen, expected) in [("q", x.q, q), ("v", x.v, v), ("a", x.a, a)] {
            let size = expected.iter().fold(0.1f64, |s, e| s.max(e.abs()));
            for j in 0..8 {
                let error = (seen[j] - expected[j]).abs() / size;
                assert!(error <= 1e-13, "angle {angle}, {what}{j}: {} instead of {}", seen[j], expected[j]);
            }
        }
        let [bearing, wrist] = crank::forces(&case.u, &q, &v, &a);
        let expected = [bearing[0], bearing[1], bearing[0].hypot(bearing[1]), wrist[0], wrist[1]];
        let size = expected.iter().fold(1.0f64, |s, e| s.max(e.abs()));
        for (k, expected) in [BEARING_X, BEARING_Y, BEARING, WRIST_X, WRIST_Y].into_iter().zip(expected) {
            let seen = run.output(k)[0];
            assert!((seen - expected).abs() <= 1e-12 * size, "angle {angle}, output {k}: {seen} {expected}");
        }
    }
}

/// Protects the joint forces in motion: bearing and wrist of every step hold the bodies' own accelerations, and constraints
/// hold to round-off.
#[test]
// steps by index, in several lists at once
#[allow(clippy::needless_range_loop)]
fn forces_and_constraints_hold_over_many_turns() {
    for (alpha, h, count) in [(-0.1, 5e-3, 1000), (-0.3, 1e-2, 300), (-0.05, 1e-3, 1000)] {
        let case = common::slider_crank().alpha(alpha).step(h, count);
        let run = case.simulation().run(&case.u).unwrap();
        let outputs: Vec<Vec<f64>> = (0..10).map(|k| run.output(k)).collect();
        assert!(outputs[0][count] - outputs[0][0] > 2.0 * std::f64::consts::TAU, "fewer than two turns");
        let textbook = case.textbook();
        for i in 0..=count {
            let x = run.state(i);
            let [bearing, wrist] = crank::forces(&case.u, x.q, x.v, x.a);
            for (k, expected) in [(BEARING_X, bearing[0]), (BEARING_Y, bearing[1]), (WRIST_X, wrist[0])] {
                let error = (outputs[k][i] - expected).abs();
                assert!(error <= 1e-11 * (10.0 + outputs[BEARING][i]), "h {h}, step {i}, output {k}: {error:e}");
            }
            assert!((outputs[WRIST_Y][i] - wrist[1]).abs() <= 1e-11 * (10.0 + outputs[BEARING][i]));
            let [position, ..] = textbook.mechanics.along_motion(x.t, x.q, x.v, x.a, &case.u);
            assert!(position.iter().all(|c| c.abs() <= 4e-15), "h {h}, step {i}: {position:?}");
        }
    }
}

/// Protects the count of degrees of freedom: seven independent rows for eight coordinates, at every angle of a turn, so that
/// the multipliers are unique and one motion is left, that of the crank.
#[test]
fn one_degree_of_freedom_is_left_at_every_angle() {
    for case in starts() {
        let textbook = case.textbook();
        let run = case.simulation().run(&case.u).unwrap();
        let q = run.state(0).q;
        // rows of C_q by directions: the velocity of each coordinate
        let column = |j: usize| {
            let mut v = vec![0.0; 8];
            v[j] = 1.0;
            let [_, rate, _] = textbook.mechanics.along_motion(0.0, q, &v, &[0.0; 8], &case.u);
            rate
        };
        let mut rows: Vec<Vec<f64>> = {
            let columns: Vec<Vec<f64>> = (0..8).map(column).collect();
            (0..7).map(|k| columns.iter().map(|c| c[k]).collect()).collect()
        };
        // elimination over all columns but the crank's angle leaves seven pivots: that angle is free, the others follow
        for k in 0..7 {
            let j = [0, 1, 3, 4, 5, 6, 7][k];
            let best = (k..7).max_by(|&a, &b| rows[a][j].abs().total_cmp(&rows[b][j].abs())).unwrap();
            rows.swap(k, best);
            assert!(rows[k][j].abs() > 0.05, "angle {}: pivot {:e} in column {j}", case.u[13], rows[k][j]);
            for i in k + 1..7 {
                let factor = rows[i][j] / rows[k][j];
                let pivot = rows[k].clone();
                rows[i].iter_mut().zip(pivot).for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
}

/// Protects the balance of energy: without damper and torque, kinetic, potential and spring energy stay together within an
/// error that falls with h² at least. Not at α = 0, where growing multipliers end the run: see `convergence.rs`.
#[test]
fn energy_is_kept_without_damper_and_torque() {
    let errors = [4e-3, 2e-3].map(|h| {
        let mut case = common::slider_crank().alpha(-0.05).step(h, (2.0 / h) as usize);
        case.signals = vec![|_| 0.0];
        case.u[11] = 0.0;
        let u = &case.u;
        let run = case.simulation().run(u).unwrap();
        let energy = |i: usize| {
            let x = run.state(i);
            let kinetic: f64 = crank::inertias(u).iter().zip(x.v).map(|(m, v)| 0.5 * m * v * v).sum();
            let stretch = x.q[6] - u[10];
            kinetic + u[12] * (u[0] * x.q[1] + u[1] * x.q[4] + u[2] * x.q[7]) + 0.5 * u[9] * stretch * stretch
        };
        let first = energy(0);
        (1..run.times().len()).fold(0.0f64, |worst, i| worst.max((energy(i) / first - 1.0).abs()))
    });
    let order = common::order(errors[0], errors[1]);
    assert!(errors[0] < 1e-2 && order > 1.9, "{errors:?}, order {order}");
}

/// Protects derivatives where a force vanishes: without gravity, spring, damper, torque and speed there is no force at all, and
/// the magnitude of the bearing's has a derivative all the same.
#[test]
fn a_vanishing_bearing_force_has_a_derivative() {
    let mut case = common::slider_crank().alpha(-0.1).step(1e-3, 5);
    case.signals = vec![|_| 0.0];
    for k in [9, 11, 12, 14] {
        case.u[k] = 0.0;
    }
    let simulation = case.simulation();
    let force = simulation.run(&case.u).unwrap().output(BEARING);
    // later the round-off of positions over β h² comes in
    assert!(force[0] < 2e-14 && force.iter().all(|force| *force < 1e-8), "{force:?}");
    let values = vec![1.0; 6];
    let reference = costate::cost::Reference { output: BEARING, values, deviation: 1.0 };
    let times = simulation.grid().times();
    let quadrature = costate::cost::Quadrature::Trapezoid;
    let cost = costate::cost::LeastSquares::new(times, vec![reference], 1, quadrature).unwrap();
    let mut gradient = vec![0.0; 15];
    let mut workspace = costate::sensitivity::Gradient::new(&simulation, &cost).unwrap();
    workspace.cost_and_gradient(&case.u, costate::sensitivity::Method::Adjoint, &mut gradient).unwrap();
    assert!(gradient.iter().all(|slope| slope.is_finite()), "{gradient:?}");
}

fn specification(outputs: &[&str], free: &[&str]) -> Specification {
    let names = ["m_crank", "m_rod", "m_slider", "I_crank", "I_rod", "L_crank", "k", "x_free", "d"];
    let setting = |name: &&str| ParameterSetting {
        name: name.to_string(),
        free: Some(free.contains(name)),
        ..ParameterSetting::default()
    };
    Specification {
        compare: Some(outputs.iter().map(|output| output.to_string()).collect()),
        parameters: names.iter().map(setting).collect(),
        ..Specification::of("slider_crank")
    }
}

/// Protects what the model's documentation says: of five masses and inertias the motion determines four, whatever is measured
/// of it, and the bearing's force all five. What seems to be left of the fifth is the error of the time steps, which see masses
/// in redundant coordinates one by one: it falls with the step.
#[test]
fn forces_determine_what_motion_does_not() {
    let registry = costate_models::registry().unwrap();
    let inertial = ["m_crank", "m_rod", "m_slider", "I_crank", "I_rod"];
    let conditions = |outputs: &[&str]| {
        [2e-3, 1e-3].map(|step| {
            let specification = Specification { step: Some(step), end: Some(0.4), ..specification(outputs, &inertial) };
            let problem = specification.build(&registry).unwrap();
            let found = identifiability(&problem, &problem.first().simulation.signature().nominal()).unwrap();
            let [.., fourth, last] = found.singular_values[..] else { panic!("five parameters") };
            [found.singular_values[0] / fourth, found.singular_values[0] / last]
        })
    };
    let [coarse, fine] = conditions(&["angle", "x", "v", "a", "alpha"]);
    assert!(fine[0] < 1e3 && fine[1] > 2.0 * coarse[1] && fine[1] > 1e4, "{coarse:?} {fine:?}");
    let [coarse, fine] = conditions(&["bearing_x", "bearing_y"]);
    assert!(fine[1] < 1e3 && (fine[1] / coarse[1] - 1.0).abs() < 0.1, "{coarse:?} {fine:?}");
}

/// Protects the identification from each kind of output, with the default method from the built-in start; the length of the
/// crank among the parameters, too.
#[test]
fn parameters_are_recovered_from_positions_accelerations_and_forces() {
    let registry = costate_models::registry().unwrap();
    for (outputs, free) in [
        (&["angle", "a"][..], &["m_slider", "I_crank", "k", "d"][..]),
        (&["angle", "a"], &["m_slider", "I_crank", "L_crank", "k", "d"]),
        (&["x"], &["m_slider", "I_crank", "k", "d"]),
        (&["alpha"], &["m_slider", "I_crank", "k", "d"]),
        (&["bearing"], &["m_slider", "I_crank", "k", "d"]),
        (&["bearing_x", "bearing_y"], &["m_crank", "m_rod", "m_slider", "I_crank", "k", "d"]),
    ] {
        let problem = specification(outputs, free).build(&registry).unwrap();
        let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        for (estimate, nominal) in found.parameters.iter().zip(problem.first().simulation.signature().nominal()) {
            let error = (estimate.value - nominal).abs() / nominal;
            assert!(error <= 1e-8, "{outputs:?}, {}: {} is off by {error:e}", estimate.name, estimate.value);
        }
    }
}

/// Protects noise and statistics together: over sixty seeds the true values lie within the 68 % intervals about as often as
/// they say (of 240, 163 expected with a deviation of 7; estimates of one fit are correlated, hence five of these), χ²/ν is 1,
/// and the noise of one seed is the same again.
#[test]
fn standard_errors_mean_what_they_say() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("slider_crank").unwrap();
    let (mut inside, mut reduced) = (0, 0.0);
    for seed in 0..60 {
        let mut scenario = entry.scenario.clone();
        scenario.noise = Some(SyntheticNoise { seed, level: NoiseLevel::Relative(0.02) });
        scenario.quadrature = costate::cost::Quadrature::Unit;
        scenario.step = 5e-3;
        let problem = entry.problem(&scenario).unwrap();
        if seed == 0 {
            let again = entry.problem(&scenario).unwrap();
            let references = [&problem, &again]
                .map(|problem| problem.first().cost.as_least_squares().unwrap().references().to_vec());
            assert_eq!(references[0], references[1]);
        }
        let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        let statistics = Statistics::of(&problem, &found, Noise::Given).unwrap();
        reduced += statistics.reduced_chi_square().unwrap() / 60.0;
        let free = statistics.parameters.iter().zip(problem.first().simulation.signature().nominal());
        inside += free
            .filter(|(p, _)| p.standard_error.is_finite())
            .filter(|(p, nominal)| (p.intervals[0].0..=p.intervals[0].1).contains(nominal))
            .count();
    }
    assert!((128..=198).contains(&inside), "{inside} of 240");
    // 138 degrees of freedom, sixty times
    assert!((reduced - 1.0).abs() < 5.0 * (2.0f64 / (138.0 * 60.0)).sqrt(), "{reduced}");
}
