//! Profile likelihoods.

use costate::cost::Quadrature;
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::scheme::Hht;
use costate::{Matrix, Model, Number, Parameter, Plain, Quantity, Signature, Simulation, State, TimeGrid};
use costate_identify::optimise::Flow;
use costate_identify::prior::Distribution;
use costate_identify::problem::Problem;
use costate_identify::profile::{Identifiable, Profiles, Side, profiles};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::work::Work;
use costate_identify::{Settings, identify};
use costate_models::dc_motor;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// q'' = u_0 sin t + u_1 cos 3 t + (what `shape` says).
#[derive(Clone)]
struct Forced {
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    /// Nothing more: the residuals are linear in the parameters.
    Linear,
    /// u_2 goes with u_0 everywhere.
    Sum,
    /// u_2 does much of what u_0 and u_1 do, and some of its own.
    Akin,
    /// More is there as soon as u_0 is larger than this.
    Sudden(f64),
    /// e^-u_2 saturates: the data say that u_2 is large, no more.
    Saturated,
    /// u_0² in the place of u_0: linear in that, and the same to both sides of zero.
    Squared(f64),
}

impl Model for Forced {
    fn signature(&self) -> Signature {
        let mut parameters = vec![Parameter::new("u_0", "N", 2.0), Parameter::new("u_1", "N", -1.0)];
        match self.shape {
            Shape::Linear | Shape::Sudden(_) => {}
            Shape::Squared(nominal) => parameters[0].nominal = nominal,
            Shape::Sum | Shape::Akin => parameters.push(Parameter::new("u_2", "N", 1.0)),
            Shape::Saturated => parameters.push(Parameter::new("u_2", "1", 9.0)),
        }
        Signature {
            coordinates: vec![Quantity::new("q", "m")],
            outputs: vec![Quantity::new("a", "m/s^2")],
            parameters,
            ..Signature::new("forced")
        }
    }

    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let more = match self.shape {
            Shape::Linear => D::from(0.0),
            Shape::Squared(_) => (u[0] * u[0] - u[0]) * t.sin(),
            Shape::Akin => u[2] * (t + 0.7).sin(),
            Shape::Sudden(from) => D::from(if u[0].re() > from { 1.0 } else { 0.0 }) * (t * 7.0).sin(),
            Shape::Sum => u[2] * t.sin(),
            Shape::Saturated => (-u[2]).exp() * (t * 7.0).sin() * 10.0,
        };
        force[0] = u[0] * t.sin() + u[1] * (t * 3.0).cos() + more;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
    }
}

fn problem(shape: Shape) -> Problem {
    let grid = TimeGrid::steps(0.0, 0.05, 120).unwrap();
    let system = Arc::new(Plain::new(Forced { shape }).unwrap());
    let simulation = Simulation::new(system, Hht::new(-0.05).unwrap(), grid, vec![]).unwrap();
    let optimum = simulation.signature().nominal();
    let problem = Problem::synthetic("forced", simulation, &optimum, &optimum, &["a"], Quadrature::Unit).unwrap();
    problem.with_noise(&SyntheticNoise { seed: 2, level: NoiseLevel::Relative(0.05) }).unwrap()
}

fn of(problem: &Problem) -> Profiles {
    let found = identify(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(problem, &found, Noise::Estimated).unwrap();
    profiles(problem, &found, &statistics, &Settings::default(), &problem.free(), (&Work::default(), &|_, _, _| {}))
        .unwrap()
}

/// Protects the scale: of residuals that are linear in the parameters, profiles are the parabolas of the standard errors, and so are
/// their intervals; to the tolerance with which ends are looked for. So with a prior, too, whose part of the cost does not grow with noise that is
/// estimated: of one unit of cost for all parameters, profiles end elsewhere.
#[test]
fn profiles_of_linear_residuals_are_parabolas() {
    let prior = Distribution::Normal { mean: 2.0, deviation: 0.02 };
    let all =
        [problem(Shape::Linear), problem(Shape::Linear).with_prior("u_0", prior).unwrap()].map(|problem| of(&problem));
    assert!(all.iter().all(|found| found.better.is_none()));
    for own in all.iter().flat_map(|found| &found.profiles) {
        assert_eq!(own.verdict, Identifiable::Yes);
        for point in &own.points {
            let expected = (point.value - own.value).abs() / own.standard_error;
            assert!((point.excess - expected).abs() < 1e-5 * (1.0 + expected), "{}: {point:?} {expected}", own.name);
        }
        let ((lower, upper), (from, to)) = (own.interval(), own.linear);
        let width = to - from;
        assert!((lower - from).abs() < 1e-3 * width && (upper - to).abs() < 1e-3 * width, "{own:?}");
    }
}

/// Protects ends before a hump: where a parameter enters by its square, zero is beyond the end by little, and the mirrored values are below the quantile
/// again; steps must not go over it.
#[test]
fn ends_before_a_hump_are_found() {
    let mut humps = 0;
    for nominal in (0..40).map(|k| 0.04 + 0.004 * f64::from(k)) {
        let found = of(&problem(Shape::Squared(nominal)));
        let own = &found.profiles[0];
        let (square, deviation) = (own.value * own.value, 2.0 * own.value.abs() * own.standard_error);
        let height = square / (found.quantile * deviation);
        if height < 1.01 {
            continue;
        }
        let ends = [-1.0, 1.0].map(|sign| (square + sign * found.quantile * deviation).sqrt());
        let (lower, upper) = own.interval();
        let near = |end: f64, exact: f64| (end - exact).abs() < 2e-3 * exact;
        assert!(near(lower, ends[0]) && near(upper, ends[1]), "{nominal}, {height}: {lower} {upper} {ends:?}");
        humps += usize::from(height < 1.4);
    }
    assert!(humps >= 3, "{humps}");
}

/// Protects verdicts: parameters that make up for each other have no interval, and one that the data only keep from falling has a lower
/// end alone; the others keep theirs.
#[test]
fn verdicts_tell_what_data_do_not_determine() {
    let found = of(&problem(Shape::Sum));
    let verdicts: Vec<Identifiable> = found.profiles.iter().map(|own| own.verdict).collect();
    assert_eq!(verdicts, [Identifiable::No, Identifiable::Yes, Identifiable::No]);
    assert!(matches!(found.profiles[0].lower, Side::Open(_)) && found.profiles[0].remarks().len() == 2);
    let found = of(&problem(Shape::Saturated));
    let verdicts: Vec<Identifiable> = found.profiles.iter().map(|own| own.verdict).collect();
    assert_eq!(verdicts, [Identifiable::Yes, Identifiable::Yes, Identifiable::FromBelow]);
    let (lower, upper) = found.profiles[2].interval();
    assert!(lower > 1.0 && lower < 9.0 && upper == f64::INFINITY, "{lower} {upper}");
}

/// Protects bounds: a walk ends at its bound, which is no end of the interval: from that side the data do not limit the parameter, and of one between
/// two bounds that they do not reach, they tell hardly anything (Raue et al. 2009). A bound beyond the interval's end changes nothing.
#[test]
fn bounds_end_profiles() {
    let mut bounded = problem(Shape::Linear);
    bounded.parameters[0].lower = 1.99;
    let found = of(&bounded);
    assert_eq!(found.profiles[0].lower, Side::Bound(1.99));
    assert!(found.profiles[0].points.iter().all(|point| point.value >= 1.99));
    assert!(found.profiles[0].remarks()[0].contains("lower bound 1.99"), "{:?}", found.profiles[0].remarks());
    assert_eq!(found.profiles[0].verdict, Identifiable::FromAbove);
    let (lower, upper) = found.profiles[0].interval();
    assert!(lower == f64::NEG_INFINITY && upper > 2.0 && upper.is_finite(), "{lower} {upper}");
    bounded.parameters[0].upper = 2.01;
    let found = of(&bounded);
    assert_eq!(found.profiles[0].upper, Side::Bound(2.01));
    assert_eq!(found.profiles[0].verdict, Identifiable::Hardly);
    (bounded.parameters[0].lower, bounded.parameters[0].upper) = (-2.0, 6.0);
    let found = of(&bounded);
    assert_eq!(found.profiles[0].verdict, Identifiable::Yes);
    let mut above = problem(Shape::Linear);
    above.parameters[1].upper = -0.99;
    let found = of(&above);
    assert_eq!((&found.profiles[1].upper, found.profiles[1].verdict), (&Side::Bound(-0.99), Identifiable::FromBelow));
}

/// Protects against intervals of nothing: without noise there are none, and the sentence says what to do.
#[test]
fn data_without_noise_have_no_profiles() {
    let mut clean = problem(Shape::Linear);
    let optimum = clean.optimum.clone().unwrap();
    let simulation = clean.first().simulation.clone();
    clean = Problem::synthetic("forced", simulation, &optimum, &[1.0, 1.0], &["a"], Quadrature::Unit).unwrap();
    let found = identify(&clean, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&clean, &found, Noise::Estimated).unwrap();
    let error =
        profiles(&clean, &found, &statistics, &Settings::default(), &clean.free(), (&Work::default(), &|_, _, _| {}))
            .unwrap_err()
            .to_string();
    assert!(error.contains("round-off") && error.contains("`Noise::Given`"), "{error}");
}

/// Protects intervals from fits of the other parameters that fail: where these make up for each other down to a bound, a fit beside the bound that begins far
/// from its minimum must not be taken for a rise of the cost. J, d and k of the motor are known up to a common factor, which noise limits from above alone.
#[test]
fn fits_that_fail_beside_a_bound_end_no_interval() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("dc_motor").unwrap();
    let problem = entry.problem(&entry.scenario).unwrap();
    let problem = problem.with_noise(&SyntheticNoise { seed: 1, level: NoiseLevel::Relative(0.01) }).unwrap();
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
    let places: Vec<usize> = ["J", "d"].iter().flat_map(|name| problem.places(name).unwrap()).collect();
    let work = (&Work::default(), &|_: &str, _: usize, _: usize| {});
    let found = profiles(&problem, &found, &statistics, &Settings::default(), &places, (work.0, work.1)).unwrap();
    for own in &found.profiles {
        // where J is at its bound, 1e-9 kg m^2, d cannot follow any more
        let is_bound = match &own.lower {
            Side::Bound(_) => own.name == "J",
            Side::BoundOf(_, other) => own.name == "d" && other == "J",
            _ => false,
        };
        assert!(is_bound, "{}: {:?}", own.name, own.lower);
        assert_eq!(own.verdict, Identifiable::FromAbove, "{}", own.name);
    }
}

/// Protects ends that the bound of another parameter makes, without a wall: of residuals that are linear in the parameters, the cost is a parabola within
/// bounds, of which the ends are known by the covariance alone. They are told to be what they are; a bound that moves an end by next to nothing is not.
#[test]
fn a_bound_of_another_parameter_that_bends_a_profile_is_told() {
    let free = problem(Shape::Akin);
    let found = identify(&free, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&free, &found, Noise::Estimated).unwrap();
    let (covariance, quantile) = (&statistics.covariance, statistics.quantile());
    let hessian = covariance.clone().try_inverse().unwrap();
    let optimum = found.values();
    let deviation = |k: usize| covariance[(k, k)].sqrt();
    // least of z^2 with u_0 so far off and u_2 not below its bound
    let square = |along: f64, least: f64| {
        let reach = |rows: &[usize], values: &[f64]| {
            let part = DMatrix::from_fn(rows.len(), rows.len(), |i, j| covariance[(rows[i], rows[j])]);
            let values = DVector::from_column_slice(values);
            values.dot(&(part.try_inverse().unwrap() * &values))
        };
        let freely = covariance[(2, 0)] / covariance[(0, 0)] * along;
        if freely >= least { reach(&[0], &[along]) } else { reach(&[0, 2], &[along, least]) }
    };
    assert!(covariance[(2, 0)] < 0.0 && hessian[(2, 0)] > 0.0, "a larger u_0 asks for a smaller u_2");
    for (standard_errors, is_told) in [(0.3, true), (0.9, true), (3.0, false)] {
        let least = -standard_errors * deviation(2);
        let mut bounded = problem(Shape::Akin);
        bounded.parameters[2].lower = optimum[2] + least;
        let own = &of(&bounded).profiles[0];
        let (mut inside, mut outside) = (0.0, 2.0 * quantile * deviation(0));
        while outside - inside > 1e-9 * deviation(0) {
            let middle = 0.5 * (inside + outside);
            if square(middle, least).sqrt() < quantile { inside = middle } else { outside = middle }
        }
        let (at, expected) = (own.interval().1, optimum[0] + inside);
        assert!((at - expected).abs() < 1e-3 * quantile * deviation(0), "{at} {expected}");
        if is_told {
            assert!(inside < 0.95 * quantile * deviation(0), "the bound moves the end");
            assert_eq!((&own.upper, own.verdict), (&Side::AtBoundOf(at, "u_2".to_string()), Identifiable::ByBound));
            assert!(own.remarks().len() == 1 && own.remarks()[0].contains("because `u_2` is at its bound"), "{own:?}");
        } else {
            assert_eq!((&own.upper, own.verdict), (&Side::At(at), Identifiable::Yes));
        }
    }
}

/// Protects against ends at jumps: a cost that is not continuous has no end that fits could find, before the interval's end as well as there.
#[test]
fn a_jump_is_no_end() {
    let smooth = of(&problem(Shape::Linear));
    let own = &smooth.profiles[0];
    for standard_errors in [0.6, 1.7] {
        let at = own.value + standard_errors * own.standard_error;
        let sudden = of(&problem(Shape::Sudden(at)));
        let own = &sudden.profiles[0];
        let Side::Blocked(to, reason) = &own.upper else { panic!("{standard_errors}: {:?}", own.upper) };
        assert!(*to <= at && *to > own.value && reason.contains("the cost jumps"), "{to} {at} {reason}");
        assert_eq!(own.verdict, Identifiable::Unknown);
        assert!(own.points.iter().all(|point| point.value <= at) && own.remarks().len() == 1, "{own:?}");
        assert!(matches!(own.lower, Side::At(_)), "{own:?}");
    }
}

/// The motor once more, in numbers that are known one by one: k/J, d/J, k, L, R, by the trapezoidal rule.
struct Motor {
    step: f64,
    /// Places of samples, and what was measured there: speed and current, over their deviations.
    samples: Vec<usize>,
    measured: Vec<f64>,
    deviations: [f64; 2],
    /// The least J.
    least: f64,
}

impl Motor {
    fn simulated(&self, &[a, b, k, inductance, resistance]: &[f64; 5]) -> Vec<f64> {
        let h = 0.5 * self.step;
        let (mut speed, mut current, mut n) = (0.0, 0.0, 0);
        let mut values = Vec::new();
        for &sample in &self.samples {
            while n < sample {
                let voltage = |n: usize| dc_motor::voltage(n as f64 * self.step);
                let (speed_0, current_0) = (
                    speed + h * (a * current - b * speed),
                    current + h * (voltage(n) + voltage(n + 1) - resistance * current - k * speed) / inductance,
                );
                // (1 + h b) w - h a i = w_0, h k/L w + (1 + h R/L) i = i_0
                let (m, c, r) = (1.0 + h * b, h * k / inductance, 1.0 + h * resistance / inductance);
                let determinant = m * r + h * a * c;
                speed = (r * speed_0 + h * a * current_0) / determinant;
                current = (m * current_0 - c * speed_0) / determinant;
                n += 1;
            }
            values.extend([speed / self.deviations[0], current / self.deviations[1]]);
        }
        values
    }

    /// The least sum of squares with parameter `name` at `value`, if it is given, from `x` on: by Gauss and Newton, with k at its least value where it
    /// would have to be below.
    fn least(&self, held: Option<(&str, f64)>, x: &mut [f64; 5]) -> f64 {
        // all of x, with what is held put in
        let whole = |x: &[f64; 5]| {
            let mut x = *x;
            match held {
                Some(("J", value)) => x[2] = x[0] * value,
                Some(("d", value)) => x[2] = x[0] / x[1] * value,
                Some(("k", value)) => x[2] = value,
                Some(("L", value)) => x[3] = value,
                Some(("R", value)) => x[4] = value,
                _ => {}
            }
            x
        };
        let place = held.map(|(name, _)| match name {
            "J" | "d" | "k" => 2,
            "L" => 3,
            _ => 4,
        });
        let residuals = |x: &[f64; 5]| {
            let simulated = self.simulated(&whole(x));
            DVector::from_iterator(simulated.len(), simulated.iter().zip(&self.measured).map(|(a, b)| a - b))
        };
        let mut is_at_bound = false;
        for _ in 0..30 {
            let moving: Vec<usize> = (0..5).filter(|k| Some(*k) != place && !(*k == 2 && is_at_bound)).collect();
            let r = residuals(x);
            let columns: Vec<DVector<f64>> = moving
                .iter()
                .map(|&k| {
                    let change = 1e-5 * [1.0, 10.0, 0.01, 0.5, 1.0][k];
                    let (mut up, mut down) = (*x, *x);
                    (up[k], down[k]) = (x[k] + change, x[k] - change);
                    (residuals(&up) - residuals(&down)) / (2.0 * change)
                })
                .collect();
            let jacobian = DMatrix::from_columns(&columns);
            let scale = DVector::from_iterator(columns.len(), columns.iter().map(|column| column.norm()));
            let scaled = DMatrix::from_fn(r.len(), columns.len(), |i, j| jacobian[(i, j)] / scale[j]);
            let change = (scaled.tr_mul(&scaled)).cholesky().unwrap().solve(&scaled.tr_mul(&r)).component_div(&scale);
            moving.iter().zip(change.iter()).for_each(|(&k, change)| x[k] -= change);
            let least = self.least * x[0];
            if place != Some(2) && x[2] < least {
                (x[2], is_at_bound) = (least, true);
            }
            if change.component_mul(&scale).norm() < 1e-9 * r.norm() {
                break;
            }
        }
        residuals(x).norm_squared()
    }
}

/// Protects intervals of parameters that are known up to a near-common factor: J, d and k of the motor, whose bounds make ends of L and R, too, without a
/// wall. All are those of an independent calculation, in numbers that are known one by one; and those that a bound makes say so.
#[test]
fn ends_are_those_of_an_independent_calculation() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("dc_motor").unwrap();
    let problem = entry.problem(&entry.scenario).unwrap();
    let problem = problem.with_noise(&SyntheticNoise { seed: 1, level: NoiseLevel::Relative(0.01) }).unwrap();
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
    let step = problem.first().simulation.grid().uniform_step().unwrap();
    let outputs = &statistics.outputs;
    let samples: Vec<usize> = outputs[0].times.iter().map(|t| (t / step).round() as usize).collect();
    assert_eq!(outputs.len(), 2);
    let u = found.values();
    let optimum = [u[2] / u[0], u[1] / u[0], u[2], u[3], u[4]];
    let deviations = [outputs[0].deviation, outputs[1].deviation];
    let mut motor = Motor { step, samples, measured: Vec::new(), deviations, least: problem.parameters[0].lower };
    let residuals = (0..motor.samples.len()).flat_map(|n| [outputs[0].residuals[n], outputs[1].residuals[n]]);
    let per_deviation = residuals.enumerate().map(|(n, residual)| residual / deviations[n % 2]);
    motor.measured = motor.simulated(&optimum).iter().zip(per_deviation).map(|(a, b)| a - b).collect();
    let mut best = optimum;
    let least = motor.least(None, &mut best);
    let variance = least / statistics.degrees_of_freedom as f64;
    let free = problem.free();
    let work = (&Work::default(), &|_: &str, _: usize, _: usize| {});
    let profiled = profiles(&problem, &found, &statistics, &Settings::default(), &free, (work.0, work.1)).unwrap();
    let natural = [best[2] / best[0], best[1] * best[2] / best[0], best[2], best[3], best[4]];
    for (own, value) in profiled.profiles.iter().zip(natural) {
        let name = own.name.as_str();
        assert!((own.value - value).abs() < 1e-4 * own.standard_error, "{name}: {} {value}", own.value);
        let mut ends = [f64::NEG_INFINITY, f64::INFINITY];
        for (direction, end) in [-1.0, 1.0].into_iter().zip(&mut ends) {
            let is_open = direction < 0.0 && ["J", "d", "k"].contains(&name);
            let mut x = best;
            let mut excess = |at: f64| ((motor.least(Some((name, at)), &mut x) - least) / variance).max(0.0).sqrt();
            if is_open {
                let far = value - 0.999 * value;
                assert!(excess(far) < profiled.quantile, "{name}");
                continue;
            }
            let (mut inside, mut outside) = (0.0, 3.0 * profiled.quantile * own.standard_error);
            while outside - inside > 1e-6 * own.standard_error {
                let middle = 0.5 * (inside + outside);
                if excess(value + direction * middle) < profiled.quantile { inside = middle } else { outside = middle }
            }
            *end = value + direction * inside;
        }
        let is_by_j = |side: &Side| match side {
            Side::AtBoundOf(_, other) => ["L", "R"].contains(&name) && other == "J",
            Side::BoundOf(_, other) => ["d", "k"].contains(&name) && other == "J",
            _ => false,
        };
        assert_eq!(
            (is_by_j(&own.lower), is_by_j(&own.upper)),
            (["d", "k", "L"].contains(&name), name == "R"),
            "{own:?}"
        );
        assert_eq!(own.verdict == Identifiable::ByBound, ["L", "R"].contains(&name), "{own:?}");
        let width = own.linear.1 - own.linear.0;
        let (lower, upper) = own.interval();
        assert!(lower == ends[0] || (lower - ends[0]).abs() < 1e-3 * width, "{name}: {own:?} {ends:?}");
        assert!(upper == ends[1] || (upper - ends[1]).abs() < 1e-3 * width, "{name}: {own:?} {ends:?}");
    }
}
