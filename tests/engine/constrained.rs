//! Identification within constraints: every method the same, multipliers as difference quotients say, statistics of what is
//! left free.

use costate::Number;
use costate::linearise::ParameterFunction;
use costate::sensitivity::Gradient;
use costate_identify::constraint::{AugmentedCost, Constraint};
use costate_identify::optimise::{Flow, Limit, Method, Multipliers, Reason};
use costate_identify::problem::{Integrator, Problem};
use costate_identify::statistics::{Determinacy, Noise, Statistics, identifiability};
use costate_identify::{Identification, Settings, identify};

const METHODS: [Method; 6] = [
    Method::LevenbergMarquardt,
    Method::GaussNewton,
    Method::Bfgs,
    Method::LBfgs { memory: 20 },
    Method::Ding,
    Method::NewtonTrustRegion,
];

/// The built-in problem of a model up to `end`, in steps of `step`, with rules.
fn problem(model: &str, end: f64, step: f64, rules: &[&str]) -> Problem {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get(model).unwrap();
    let mut scenario = entry.scenario.clone();
    (scenario.end, scenario.step) = (end, step);
    // numbers here have been found with it
    scenario.integrator = Integrator::hht(-0.1);
    let mut problem = entry.problem(&scenario).unwrap();
    let signature = problem.first().simulation.signature();
    problem.constraints = rules.iter().map(|rule| Constraint::parse(rule, signature).unwrap()).collect();
    problem
}

fn found(problem: &Problem, method: Method) -> Identification {
    let settings = Settings { method: Some(method), ..Settings::default() };
    identify(problem, &settings, &mut |_| Flow::Continue).unwrap()
}

/// L times g squared: a nonlinear function of two parameters.
struct Product;

impl ParameterFunction for Product {
    fn value<D: Number>(&self, u: &[D]) -> D {
        u[1] * u[3] * u[3]
    }
}

/// Protects the augmented Lagrangian as a cost: adjoint and tangents agree to round-off, both agree with differences of the
/// cost, and the Hessian with differences of the gradient, with constraints on an output, on a sum and on a function.
#[test]
fn augmented_cost_has_exact_derivatives() {
    let mut problem = problem("pendulum", 0.4, 4e-3, &["peak rod_force <= 6", "L + 0.1 d = 0.9", "a_x = 1 at end"]);
    problem.constraints.push(Constraint::function("L g^2", "m^3/s^4", Product).at_least(100.0));
    let grid = problem.first().simulation.grid();
    let cost = AugmentedCost::new(&*problem.first().cost, &problem.constraints, grid);
    let outputs = grid.count() + 1;
    assert_eq!(cost.count(), outputs + 3);
    // far from the kinks on either side
    let mut limits: Vec<Limit> =
        (0..outputs).map(|i| Limit::at_most(if i % 2 == 0 { -20.0 } else { 90.0 }).sized(5.0)).collect();
    limits.extend([Limit::equals(0.9), Limit::equals(1.0), Limit::at_least(100.0).sized(70.0)]);
    let mut values: Vec<f64> = (0..outputs).map(|i| if i % 3 == 0 { 0.02 } else { 0.0 }).collect();
    values.extend([-0.5, 0.3, -0.01]);
    cost.set(&Multipliers::new(limits, 3.0).with_values(values));

    let mut engine = Gradient::new(&problem.first().simulation, &cost).unwrap();
    let u = [0.5, 0.7, 0.02, 9.81, 1.1, 0.0];
    let sizes = [0.5, 0.7, 0.02, 9.81, 1.1, 1.0];
    let p = u.len();
    let (mut adjoint, mut tangent) = (vec![0.0; p], vec![0.0; p]);
    engine.cost_and_gradient(&u, costate::sensitivity::Method::Adjoint, &mut adjoint).unwrap();
    engine.cost_and_gradient(&u, costate::sensitivity::Method::Tangent, &mut tangent).unwrap();
    let scale = (0..p).map(|k| (adjoint[k] * sizes[k]).abs()).fold(0.0, f64::max);
    let differences = engine.differences(&u).unwrap();
    for k in 0..p {
        let error = (adjoint[k] - tangent[k]).abs() * sizes[k];
        assert!(error < 1e-10 * scale, "{k}: {} {}", adjoint[k], tangent[k]);
        let error = (adjoint[k] - differences[k].value).abs() * sizes[k];
        assert!(error < 1e-6 * scale, "{k}: {} {:?}", adjoint[k], differences[k]);
    }
    let mut hessian = vec![vec![0.0; p]; p];
    engine.hessian(&u, &mut tangent, &mut hessian).unwrap();
    let largest = (0..p * p).map(|i| (hessian[i / p][i % p] * sizes[i / p] * sizes[i % p]).abs()).fold(0.0, f64::max);
    for k in 0..p {
        let mut at = |shift: f64| {
            let (mut moved, mut slope) = (u, vec![0.0; p]);
            moved[k] += shift * sizes[k];
            engine.cost_and_gradient(&moved, costate::sensitivity::Method::Adjoint, &mut slope).unwrap();
            slope
        };
        let (up, down) = (at(1e-4), at(-1e-4));
        for j in 0..p {
            let difference = (up[j] - down[j]) / (2e-4 * sizes[k]);
            let error = (hessian[k][j] - difference).abs() * sizes[j] * sizes[k] / largest;
            assert!(error < 1e-6, "{j} {k}: {} {difference}", hessian[k][j]);
        }
    }
}

/// Protects constraints on parameters with every method: a total mass that the data contradict and an ordering that does not
/// act give the same optimum and the same multiplier, which is minus the derivative of the least cost by the limit.
#[test]
fn total_mass_and_ordering_of_a_cart() {
    let rules = |total: f64| [format!("m_cart + m_pole = {total}"), "m_pole <= m_cart".to_string()];
    let solved = |total: f64, method| {
        let rules = rules(total);
        found(&problem("cart_pole", 1.0, 5e-3, &[&rules[0], &rules[1]]), method)
    };
    let first = solved(1.7, METHODS[0]);
    for method in METHODS {
        let result = solved(1.7, method);
        assert_eq!(result.outcome.reason, Reason::ConstrainedMinimum, "{method}: {}", result.reason());
        let u = result.values();
        assert!((u[0] + u[1] - 1.7).abs() < 1e-7, "{method}: {u:?}");
        for (a, b) in u.iter().zip(first.values()) {
            assert!((a - b).abs() < 1e-5 * b.abs().max(0.1), "{method}: {u:?} {:?}", first.values());
        }
        let [total, order] = &result.constraints[..] else { panic!("two constraints have two results") };
        assert!(total.active && !total.violated && !order.active && order.multiplier == 0.0, "{method}");
        assert_eq!((total.unit.as_str(), order.acting), ("kg", 0));
        let relative = total.multiplier / first.constraints[0].multiplier - 1.0;
        assert!(relative.abs() < 1e-4, "{method}: {} {relative:e}", total.multiplier);
    }
    let (above, below) = (solved(1.701, METHODS[0]), solved(1.699, METHODS[0]));
    let quotient = (above.outcome.cost - below.outcome.cost) / 0.002;
    let slope = first.constraints[0].cost_by_limit;
    assert!(slope > 0.0 && (slope / quotient - 1.0).abs() < 1e-4, "{slope} {quotient}");
    // the ordering acts where the reference is the other way round
    let ordered = found(&problem("cart_pole", 1.0, 5e-3, &["m_cart <= m_pole"]), METHODS[0]);
    let u = ordered.values();
    assert!(ordered.outcome.converged && (u[0] - u[1]).abs() < 1e-7, "{u:?} {}", ordered.reason());
    assert!(ordered.constraints[0].active && ordered.constraints[0].multiplier > 0.0);
}

/// Protects peak limits: the peak is at its limit at one or two times, whose multipliers add up to minus the derivative of the
/// least cost by the limit; all methods agree.
#[test]
fn peak_of_the_rod_force() {
    let free = problem("pendulum", 1.2, 5e-3, &[]);
    let optimum = free.optimum.clone().unwrap();
    let force = free.first().simulation.run(&optimum).unwrap().output(3);
    let limit = 0.97 * force.iter().copied().fold(0.0, f64::max);
    let solved =
        |limit: f64, method| found(&problem("pendulum", 1.2, 5e-3, &[&format!("peak rod_force <= {limit}")]), method);
    let first = solved(limit, METHODS[0]);
    for method in METHODS {
        let result = solved(limit, method);
        assert!(result.outcome.converged, "{method}: {}", result.reason());
        let peak = &result.constraints[0];
        let force = free.first().simulation.run(&result.values()).unwrap().output(3);
        let highest = (0..force.len()).max_by(|&a, &b| force[a].total_cmp(&force[b])).unwrap();
        assert!((force[highest] - limit).abs() < 1e-6 * limit, "{method}: {} {limit}", force[highest]);
        assert!((peak.time.unwrap() - 5e-3 * highest as f64).abs() < 6e-3, "{method}: {peak:?}");
        assert!((1..=4).contains(&peak.acting) && peak.multiplier > 0.0 && peak.unit == "N", "{method}: {peak:?}");
        let relative = peak.multiplier / first.constraints[0].multiplier - 1.0;
        // quasi-Newton methods end at a small gradient, which leaves the third digit of the multiplier to round-off
        assert!(relative.abs() < 3e-3, "{method}: {} {relative:e}", peak.multiplier);
    }
    let h = 1e-4 * limit;
    let quotient =
        (solved(limit + h, METHODS[0]).outcome.cost - solved(limit - h, METHODS[0]).outcome.cost) / (2.0 * h);
    let slope = first.constraints[0].cost_by_limit;
    assert!((slope / quotient - 1.0).abs() < 1e-3, "{slope} {quotient}");
}

/// Protects the end and windows: an output is where it is wanted, and only there.
#[test]
fn outputs_at_the_end_and_in_a_window() {
    for method in [Method::LevenbergMarquardt, Method::Bfgs] {
        let problem = problem("cart_pole", 1.0, 5e-3, &["x = 0.35 at end", "a_x <= 3 from 0.1 until 0.6"]);
        let result = found(&problem, method);
        assert!(result.outcome.converged, "{method}: {}", result.reason());
        let run = problem.first().simulation.run(&result.values()).unwrap();
        let (a, x) = (run.output(0), run.output(2));
        assert!((x[x.len() - 1] - 0.35).abs() < 1e-6, "{method}: {}", x[x.len() - 1]);
        assert_eq!(result.constraints[0].time, Some(1.0));
        assert!(a[20..=120].iter().all(|a| *a <= 3.0 + 1e-6), "{method}");
    }
}

/// Protects a person who asks for what cannot be: the angle at the start is fixed.
#[test]
fn what_no_parameter_can_reach_is_named() {
    for method in [Method::LevenbergMarquardt, Method::Bfgs] {
        let result = found(&problem("cart_pole", 0.5, 5e-3, &["theta >= 0.7 until 0"]), method);
        assert_eq!(result.outcome.reason, Reason::ConstraintsViolated, "{method}");
        let reason = result.reason();
        for part in ["cannot be met", "`theta >= 0.7 until 0` is violated by 0.1 rad at t = 0 s", "the penalty reached"]
        {
            assert!(reason.contains(part), "{method}: {reason}");
        }
    }
}

/// Protects statistics: what an equality ties down is determined, with the standard errors of the problem without that
/// parameter.
#[test]
fn an_equality_determines_what_the_data_do_not() {
    let with = |rules: &[&str], mass_is_free: bool| {
        let mut problem = problem("pendulum", 1.0, 5e-3, rules);
        problem.parameters[0].free = mass_is_free;
        // noise that repeats
        let references = problem.first().cost.as_least_squares().unwrap().references().to_vec();
        let noisy = references.into_iter().map(|mut reference| {
            let noise = |i: usize| 0.05 * (12.9898 * i as f64 + reference.output as f64).sin();
            reference.values.iter_mut().enumerate().for_each(|(i, y)| *y += noise(i));
            reference
        });
        let times = problem.first().simulation.grid().times();
        let unit = costate::cost::Quadrature::Unit;
        let cost = costate::cost::LeastSquares::new(times, noisy.collect(), 1, unit).unwrap();
        problem.experiments[0].cost = Box::new(cost);
        problem
    };
    let fixed = with(&[], false);
    let fixed_result = found(&fixed, Method::LevenbergMarquardt);
    let expected = Statistics::of(&fixed, &fixed_result, Noise::Estimated).unwrap();
    let tied = with(&["m = 0.5"], true);
    assert!(!identifiability(&with(&[], true), &tied.start).unwrap().undetermined.is_empty());
    assert!(identifiability(&tied, &tied.start).unwrap().undetermined.is_empty());
    let result = found(&tied, Method::LevenbergMarquardt);
    let statistics = Statistics::of(&tied, &result, Noise::Estimated).unwrap();
    assert_eq!(statistics.degrees_of_freedom, expected.degrees_of_freedom);
    for k in [1, 2, 4, 5] {
        let (a, b) = (&statistics.parameters[k], &expected.parameters[k]);
        assert_eq!(a.determinacy, Determinacy::Determined, "{}", a.name);
        assert!(
            (a.standard_error / b.standard_error - 1.0).abs() < 1e-5,
            "{}: {} {}",
            a.name,
            a.standard_error,
            b.standard_error
        );
    }
    assert!(statistics.parameters[0].standard_error < 1e-9, "{:?}", statistics.parameters[0]);
    assert!(statistics.warnings.iter().any(|w| w.contains("keep to `m = 0.5`")), "{:?}", statistics.warnings);
}

/// Protects the covariance on the null space: C - C aᵀ (a C aᵀ)⁻¹ a C for the one row a of an equality.
#[test]
fn covariance_is_that_on_the_null_space() {
    let free = problem("cart_pole", 1.0, 5e-3, &[]);
    let tied = problem("cart_pole", 1.0, 5e-3, &["m_cart + 2 m_pole = 2.1"]);
    let result = found(&tied, Method::LevenbergMarquardt);
    let plain = Statistics::at(&free, &result.values(), &[], Noise::Given).unwrap().covariance;
    let covariance = Statistics::of(&tied, &result, Noise::Given).unwrap().covariance;
    let p = plain.nrows();
    let row = |k: usize| [1.0, 2.0].get(k).copied().unwrap_or(0.0);
    let along = |k: usize| (0..p).map(|j| plain[(k, j)] * row(j)).sum::<f64>();
    let total: f64 = (0..p).map(|k| row(k) * along(k)).sum();
    for i in 0..p {
        for j in 0..p {
            let expected = plain[(i, j)] - along(i) * along(j) / total;
            let scale = (plain[(i, i)] * plain[(j, j)]).sqrt();
            let error = (covariance[(i, j)] - expected).abs() / scale;
            assert!(error < 1e-9, "{i} {j}: {} {expected}", covariance[(i, j)]);
        }
    }
}
