//! The minimisers on problems with known minima: accuracy, evaluation counts, bounds, scales.

mod ends;

use crate::searches::{check, check_bounds, variables};
use costate_identify::Result;
use costate_identify::optimise::{
    Flow, Method, Objective, Options, Outcome, Reason, Scale, StepRule, Variable, VariableStatus, minimise,
};
use proptest::prelude::*;

/// A function with a memory: every evaluation is recorded, and checked against the bounds.
struct Recorder<F> {
    function: F,
    variables: Vec<Variable>,
    costs: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) -> Result<f64>> Objective for Recorder<F> {
    fn dimension(&self) -> usize {
        self.variables.len()
    }

    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        check_bounds(u, &self.variables);
        let result = (self.function)(u, gradient);
        let usable = gradient.iter().all(|g| g.is_finite());
        self.costs.push(*result.as_ref().ok().filter(|_| usable).unwrap_or(&f64::INFINITY));
        result
    }
}

/// Minimises; checks that evaluations are counted, bounds kept, and the best point not lost.
fn run(
    function: impl FnMut(&[f64], &mut [f64]) -> Result<f64>,
    variables: &[Variable],
    method: Method,
    options: &Options,
) -> Outcome {
    let mut recorder = Recorder { function, variables: variables.to_vec(), costs: Vec::new() };
    let outcome = minimise(&mut recorder, variables, method, options, &mut |_| Flow::Continue).unwrap();
    check(&outcome, &recorder.costs, options);
    outcome
}

/// Half the sum of squared residuals and its gradient.
fn least_squares(residuals: &[f64], jacobian: &[&[f64]], gradient: &mut [f64]) -> f64 {
    gradient.fill(0.0);
    for (r, row) in residuals.iter().zip(jacobian) {
        gradient.iter_mut().zip(*row).for_each(|(g, j)| *g += r * j);
    }
    0.5 * residuals.iter().map(|r| r * r).sum::<f64>()
}

fn rosenbrock(u: &[f64], g: &mut [f64]) -> Result<f64> {
    let (x, y) = (u[0], u[1]);
    Ok(least_squares(&[10.0 * (y - x * x), 1.0 - x], &[&[-20.0 * x, 10.0], &[-1.0, 0.0]], g))
}

fn powell_singular(u: &[f64], g: &mut [f64]) -> Result<f64> {
    let (a, b, c, d) = (u[0], u[1], u[2], u[3]);
    let (s5, s10) = (5f64.sqrt(), 10f64.sqrt());
    let (bc, ad) = (b - 2.0 * c, a - d);
    Ok(least_squares(
        &[a + 10.0 * b, s5 * (c - d), bc * bc, s10 * ad * ad],
        &[
            &[1.0, 10.0, 0.0, 0.0],
            &[0.0, 0.0, s5, -s5],
            &[0.0, 2.0 * bc, -4.0 * bc, 0.0],
            &[2.0 * s10 * ad, 0.0, 0.0, -2.0 * s10 * ad],
        ],
        g,
    ))
}

fn brown_badly_scaled(u: &[f64], g: &mut [f64]) -> Result<f64> {
    let (x, y) = (u[0], u[1]);
    Ok(least_squares(&[x - 1e6, y - 2e-6, x * y - 2.0], &[&[1.0, 0.0], &[0.0, 1.0], &[y, x]], g))
}

fn beale(u: &[f64], g: &mut [f64]) -> Result<f64> {
    let (x, y) = (u[0], u[1]);
    let residuals = [1.5 - x * (1.0 - y), 2.25 - x * (1.0 - y * y), 2.625 - x * (1.0 - y * y * y)];
    let rows = [[y - 1.0, x], [y * y - 1.0, 2.0 * x * y], [y * y * y - 1.0, 3.0 * x * y * y]];
    Ok(least_squares(&residuals, &[&rows[0], &rows[1], &rows[2]], g))
}

const QUASI_NEWTON: [Method; 3] = [Method::Bfgs, Method::LBfgs { memory: 20 }, Method::Dfp];

/// Protects the quasi-Newton methods: the standard problems of Moré, Garbow and Hillstrom (1981) are solved from their
/// standard starts, to their known minima, with not many more evaluations than today.
#[test]
fn standard_problems_are_solved() {
    type Function = fn(&[f64], &mut [f64]) -> Result<f64>;
    type Problem = (&'static str, Function, &'static [f64], &'static [f64], f64, [usize; 3]);
    let problems: [Problem; 4] = [
        ("rosenbrock", rosenbrock, &[-1.2, 1.0], &[1.0, 1.0], 1e-7, [50, 60, 60]),
        ("powell singular", powell_singular, &[3.0, -1.0, 0.0, 1.0], &[0.0; 4], 1e-3, [75, 85, 140]),
        ("brown badly scaled", brown_badly_scaled, &[1.0, 1.0], &[1e6, 2e-6], 1e-6, [50, 55, 95]),
        ("beale", beale, &[1.0, 1.0], &[3.0, 0.5], 1e-7, [22, 22, 28]),
    ];
    for (name, function, start, minimum, tolerance, most) in problems {
        for (method, most) in QUASI_NEWTON.into_iter().zip(most) {
            let outcome = run(function, &variables(start), method, &Options::default());
            println!("{name} {method}: {} evaluations, {:e}, {}", outcome.evaluations, outcome.cost, outcome.reason);
            assert!(outcome.converged, "{name}, {method}: {}", outcome.reason);
            assert!(outcome.cost < 1e-14, "{name}, {method}: {:e}", outcome.cost);
            assert!(outcome.evaluations <= most, "{name}, {method}: {} evaluations", outcome.evaluations);
            for (u, m) in outcome.u.iter().zip(minimum) {
                let magnitude = if *m == 0.0 { 1.0 } else { m.abs() };
                assert!((u - m).abs() <= tolerance * magnitude, "{name}, {method}: {:?}", outcome.u);
            }
        }
    }
}

/// Protects both step rules of steepest descent: they converge where curvatures do not differ much, and always go down.
#[test]
fn steepest_descent_goes_down() {
    for rule in [StepRule::LineSearch, StepRule::RelativeDecrease { epsilon: 0.5 }] {
        let method = Method::SteepestDescent { rule };
        let bowl = |u: &[f64], g: &mut [f64]| {
            Ok(least_squares(&[u[0] - 2.0, 2.0 * (u[1] + 1.0)], &[&[1.0, 0.0], &[0.0, 2.0]], g))
        };
        let outcome = run(bowl, &variables(&[1.0, 1.0]), method, &Options::default());
        assert!(outcome.converged && outcome.cost < 1e-12, "{method}: {} {:e}", outcome.reason, outcome.cost);
        let options = Options { max_iterations: 200, ..Options::default() };
        let outcome = run(rosenbrock, &variables(&[-1.2, 1.0]), method, &options);
        assert_eq!(outcome.reason, Reason::MaxIterations);
        assert!(outcome.cost < 1.0 && outcome.history.windows(2).all(|h| h[1].cost < h[0].cost), "{method}");
    }
}

/// Protects the bounds: the solution lies in a corner, the free minimum outside; every method meets it exactly.
#[test]
fn a_corner_is_met_exactly() {
    let function = |u: &[f64], g: &mut [f64]| {
        let rows: [&[f64]; 3] = [&[2.0, 1.0, 0.3], &[0.0, 3.0, -1.0], &[0.5, 0.0, 1.5]];
        let residuals: Vec<f64> = rows.iter().map(|r| r.iter().zip(u).map(|(r, u)| r * (u - 5.0)).sum()).collect();
        Ok(least_squares(&residuals, &rows, g))
    };
    for method in Method::BY_GRADIENT {
        let v: Vec<_> = variables(&[0.5, 0.2, 1.0]).into_iter().map(|v| v.bounded(-1.0, 2.0)).collect();
        let outcome = run(function, &v, method, &Options::default());
        println!("corner, {method}: {} evaluations", outcome.evaluations);
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!(outcome.u, [2.0; 3], "{method}");
        assert_eq!(outcome.statuses, [VariableStatus::AtUpperBound; 3]);
        assert_eq!(outcome.gradient_norm, 0.0);
        assert!(outcome.evaluations <= 40, "{method}: {} evaluations", outcome.evaluations);
    }
}

/// Protects bounds in a curved valley, and fixed variables: Rosenbrock with x <= 0.5 has its minimum at (0.5, 0.25).
#[test]
fn a_bound_across_a_valley() {
    for method in QUASI_NEWTON {
        let function = |u: &[f64], g: &mut [f64]| {
            g[2] = 7.0;
            Ok(rosenbrock(&u[..2], &mut g[..2])? + 7.0 * u[2])
        };
        let mut v = variables(&[-1.2, 1.0, 3.0]);
        v[0].upper = 0.5;
        (v[2].lower, v[2].upper) = (3.0, 3.0);
        let outcome = run(function, &v, method, &Options::default());
        println!("valley, {method}: {} evaluations", outcome.evaluations);
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!((outcome.u[0], outcome.u[2]), (0.5, 3.0));
        assert!((outcome.u[1] - 0.25).abs() < 1e-7, "{method}: {:?}", outcome.u);
        assert_eq!(outcome.statuses, [VariableStatus::AtUpperBound, VariableStatus::Free, VariableStatus::Fixed]);
        assert!(outcome.evaluations < 60, "{method}: {}", outcome.evaluations);
    }
}

/// Protects the logarithmic scale: positive quantities that start decades away from their values, and decades apart.
#[test]
fn log_scale_spans_decades() {
    let target: [f64; 3] = [3e-6, 5.0, 7e9];
    let function = |u: &[f64], g: &mut [f64]| {
        let weights = [1.0, 2.0, 0.5];
        let mut cost = 0.0;
        for (i, (target, weight)) in target.iter().zip(weights).enumerate() {
            let r = weight * (u[i] / target).ln();
            cost += 0.5 * r * r;
            g[i] = r * weight / u[i];
        }
        Ok(cost)
    };
    for method in Method::BY_GRADIENT {
        let start = variables(&[1.0, 1e-3, 1e3]).into_iter();
        let v: Vec<_> = start.map(|v| v.scaled(Scale::Log).bounded(0.0, 1e12)).collect();
        let outcome = run(function, &v, method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        for (u, target) in outcome.u.iter().zip(target) {
            assert!((u / target - 1.0).abs() < 1e-4, "{method}: {:?}", outcome.u);
        }
    }
}

/// Protects the precision of fits with a residual: the cost stalls at round-off long before the gradient does, and the
/// search goes on by slopes alone.
#[test]
fn precision_does_not_end_with_the_cost() {
    for method in QUASI_NEWTON {
        let offset = |u: &[f64], g: &mut [f64]| Ok(1e3 + rosenbrock(u, g)?);
        let outcome = run(offset, &variables(&[-1.2, 1.0]), method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        // The cost alone would leave an uncertainty of sqrt(1e3 * 2e-16), about 5e-7.
        assert!((outcome.u[0] - 1.0).abs() < 1e-9, "{method}: {:?}", outcome.u);
    }
}

/// Protects the units of the cost: a factor of it, a power of two, changes nothing about the way.
#[test]
fn units_of_the_cost_do_not_matter() {
    for method in Method::BY_GRADIENT {
        let options = Options { max_iterations: 30, ..Options::default() };
        let plain = run(rosenbrock, &variables(&[-1.2, 1.0]), method, &options);
        for factor in [2f64.powi(40), 2f64.powi(-40)] {
            let scaled = |u: &[f64], g: &mut [f64]| {
                let cost = rosenbrock(u, g)?;
                g.iter_mut().for_each(|g| *g *= factor);
                Ok(cost * factor)
            };
            let scaled = run(scaled, &variables(&[-1.2, 1.0]), method, &options);
            assert_eq!((&scaled.u, scaled.evaluations), (&plain.u, plain.evaluations), "{method}");
        }
    }
}

/// Protects reproducibility: the same input gives the same bits.
#[test]
fn runs_are_deterministic() {
    for method in Method::BY_GRADIENT {
        let options = Options { max_iterations: 50, ..Options::default() };
        let one = run(beale, &variables(&[1.0, 1.0]), method, &options);
        assert_eq!(one, run(beale, &variables(&[1.0, 1.0]), method, &options));
    }
}

/// Protects large problems with many active bounds: a loaded string above a floor, 200 variables.
#[test]
fn many_bounds_are_found_together() {
    let n = 200;
    let function = |u: &[f64], g: &mut [f64]| {
        let at = |i: usize| if i == 0 || i > n { 0.0 } else { u[i - 1] };
        let load = 2e-3;
        let mut cost = 0.0;
        for i in 1..=n + 1 {
            cost += 0.5 * (at(i) - at(i - 1)).powi(2) + load * at(i);
        }
        for i in 1..=n {
            g[i - 1] = 2.0 * at(i) - at(i - 1) - at(i + 1) + load;
        }
        Ok(cost)
    };
    for method in [Method::Bfgs, Method::LBfgs { memory: 20 }] {
        let v: Vec<_> = (0..n).map(|i| Variable::new(format!("u{i}"), 0.0).bounded(-1.0, 5.0)).collect();
        let options = Options { gradient_tolerance: 1e-8, ..Options::default() };
        let outcome = run(function, &v, method, &options);
        let held = outcome.statuses.iter().filter(|&&s| s == VariableStatus::AtLowerBound).count();
        println!("string, {method}: {} evaluations, {held} at the floor", outcome.evaluations);
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        // Free spans of sqrt(2 * 1 / load) = 31.6 at both ends.
        assert!((136..=140).contains(&held), "{method}: {held} at the floor");
        assert!(outcome.evaluations < 1000, "{method}: {}", outcome.evaluations);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Protects optimality: on random convex quadratics in random boxes the Karush-Kuhn-Tucker conditions hold at the
    /// result: no gradient where free, outward descent at bounds.
    #[test]
    fn optimality_in_random_boxes(
        n in 1usize..6,
        entries in prop::collection::vec(-1.0f64..1.0, 36),
        minimum in prop::collection::vec(-3.0f64..3.0, 6),
        boxes in prop::collection::vec((-2.0f64..2.0, 0.0f64..2.0, 0.0f64..=1.0, any::<bool>()), 6),
        method in 0usize..3,
    ) {
        // A'A + 0.1 I is positive definite.
        let hessian = |i: usize, j: usize| {
            (0..n).map(|k| entries[6 * k + i] * entries[6 * k + j]).sum::<f64>() + if i == j { 0.1 } else { 0.0 }
        };
        let function = |u: &[f64], g: &mut [f64]| {
            for (i, g) in g.iter_mut().enumerate() {
                *g = (0..n).map(|j| hessian(i, j) * (u[j] - minimum[j])).sum();
            }
            Ok(0.5 * (0..n).map(|i| g[i] * (u[i] - minimum[i])).sum::<f64>())
        };
        let v: Vec<Variable> = (0..n).map(|i| {
            let (lower, width, part, open) = boxes[i];
            let upper = if open { f64::INFINITY } else { lower + width };
            Variable::new(format!("u{i}"), lower + part * width).bounded(lower, upper).nominal(1.0)
        }).collect();
        prop_assume!(v.iter().any(|v| !v.is_fixed()) && v.iter().all(|v| v.start <= v.upper));
        let outcome = run(function, &v, QUASI_NEWTON[method], &Options::default());
        prop_assert!(outcome.converged, "{} {:?}", outcome.reason, outcome);
        for i in 0..n {
            let g = outcome.gradient[i];
            match outcome.statuses[i] {
                VariableStatus::Free => prop_assert!(g.abs() < 1e-7, "{outcome:?}"),
                VariableStatus::AtLowerBound => prop_assert!(g > -1e-7, "{outcome:?}"),
                VariableStatus::AtUpperBound => prop_assert!(g < 1e-7, "{outcome:?}"),
                VariableStatus::Fixed => {}
            }
        }
        prop_assert!(outcome.evaluations < 200, "{} evaluations", outcome.evaluations);
    }
}
