//! The methods with exact second derivatives: known minima, negative and vanishing curvature, bounds and scales.

mod ends;
mod functions;

use crate::searches::{check, check_bounds, variables};
use costate::Number;
use costate_identify::optimise::{
    Curvature, Flow, Method, Objective, Options, Outcome, Reason, Scale, Variable, VariableStatus, minimise,
};
use costate_identify::{Error, Result};
use functions::{Beale, BrownBadlyScaled, Chain, Decades, Function, PowellSingular, Rosenbrock, Saddle, squares};
use num_dual::{Dual64, HyperDual64};

fn failure() -> Error {
    costate::Error::NotFinite { quantity: "x1 [m]".into(), value: f64::NAN, time: 0.1, step: 3 }.into()
}

/// Counts everything, and checks that bounds are kept and second derivatives are asked for where the function ran last.
struct Recorder<'a, F> {
    function: &'a F,
    variables: Vec<Variable>,
    costs: Vec<f64>,
    last: Vec<f64>,
    hessians: usize,
    products: usize,
}

impl<'a, F: Function> Recorder<'a, F> {
    fn new(function: &'a F, variables: &[Variable]) -> Self {
        Recorder { function, variables: variables.to_vec(), costs: vec![], last: vec![], hessians: 0, products: 0 }
    }

    /// d²f along e_i and `direction`.
    fn second(&self, u: &[f64], i: usize, direction: &[f64]) -> f64 {
        let unit = |j: usize| if i == j { 1.0 } else { 0.0 };
        let u: Vec<HyperDual64> = (0..u.len()).map(|j| HyperDual64::new(u[j], unit(j), direction[j], 0.0)).collect();
        self.function.value(&u).eps1eps2
    }

    fn check_place(&self, u: &[f64]) -> Result<()> {
        assert_eq!(u, self.last, "second derivatives are wanted elsewhere than at the last point");
        if self.function.is_bent_badly(u) { Err(failure()) } else { Ok(()) }
    }
}

impl<F: Function> Objective for Recorder<'_, F> {
    fn dimension(&self) -> usize {
        self.variables.len()
    }

    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        check_bounds(u, &self.variables);
        self.costs.push(f64::INFINITY);
        if self.function.fails(u) {
            return Err(failure());
        }
        let mut cost = 0.0;
        for (i, slope) in gradient.iter_mut().enumerate() {
            let u: Vec<Dual64> = (0..u.len()).map(|j| Dual64::new(u[j], if i == j { 1.0 } else { 0.0 })).collect();
            let value = self.function.value(&u);
            (cost, *slope) = (value.re, value.eps);
        }
        if cost.is_finite() && gradient.iter().all(|g| g.is_finite()) {
            *self.costs.last_mut().unwrap() = cost;
            self.last = u.to_vec();
        }
        Ok(cost)
    }

    fn hessian(&mut self, u: &[f64], hessian: &mut [Vec<f64>]) -> Result<()> {
        self.hessians += 1;
        self.check_place(u)?;
        for (j, row) in hessian.iter_mut().enumerate() {
            let direction: Vec<f64> = (0..u.len()).map(|k| if j == k { 1.0 } else { 0.0 }).collect();
            (0..u.len()).for_each(|i| row[i] = self.second(u, i, &direction));
        }
        Ok(())
    }

    fn hessian_vector(&mut self, u: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()> {
        self.products += 1;
        self.check_place(u)?;
        (0..u.len()).for_each(|i| product[i] = self.second(u, i, direction));
        Ok(())
    }
}

/// Minimises; checks counts, the history and that the best point is not lost.
fn run(function: &impl Function, variables: &[Variable], method: Method, options: &Options) -> Outcome {
    let mut recorder = Recorder::new(function, variables);
    let outcome = minimise(&mut recorder, variables, method, options, &mut |_| Flow::Continue).unwrap();
    check(&outcome, &recorder.costs, options);
    assert_eq!((outcome.hessians, outcome.hessian_products), (recorder.hessians, recorder.products));
    // a Hessian serves every trial of its step
    assert!(outcome.hessians <= outcome.iterations + 1, "{} Hessians", outcome.hessians);
    assert!(outcome.history[0].damping.is_none() && outcome.history[0].curvature.is_none());
    outcome
}

fn met(outcome: &Outcome, curvature: Curvature) -> usize {
    outcome.history.iter().filter(|step| step.curvature == Some(curvature)).count()
}

const DING: Method = Method::Ding;
const NEWTON: Method = Method::NewtonTrustRegion;
const METHODS: [Method; 2] = [DING, NEWTON];

fn solves(name: &str, function: &impl Function, start: &[f64], cost: f64, most: [usize; 2]) {
    for (method, most) in METHODS.into_iter().zip(most) {
        let outcome = run(function, &variables(start), method, &Options::default());
        let (evaluations, hessians) = (outcome.evaluations, outcome.hessians);
        println!(
            "{name} {method}: {evaluations} evaluations, {hessians} Hessians, {:e}, {}",
            outcome.cost, outcome.reason
        );
        assert!(outcome.converged && outcome.cost <= cost, "{name} {method}: {:e} {}", outcome.cost, outcome.reason);
        assert!(evaluations <= most, "{name} {method}: {evaluations} evaluations");
        assert!(outcome.history[1..].iter().all(|step| step.damping.is_some_and(|damping| damping > 0.0)));
        assert!(outcome.history[1..].iter().all(|step| step.curvature.is_some()));
    }
}

/// Protects both methods: the standard problems of Moré, Garbow and Hillstrom (1981) are solved down to round-off, or to some
/// 1e-24 of the cost at the start (1e12 in Brown's), with not many more evaluations than today.
#[test]
fn standard_problems_are_solved() {
    solves("rosenbrock", &Rosenbrock, &[-1.2, 1.0], 1e-20, [45, 40]);
    solves("powell singular", &PowellSingular, &[3.0, -1.0, 0.0, 1.0], 1e-14, [56, 40]);
    solves("brown badly scaled", &BrownBadlyScaled, &[1.0, 1.0], 1e-12, [50, 40]);
    solves("beale", &Beale, &[1.0, 1.0], 1e-20, [40, 30]);
}

/// Protects the rule of Ding 2012 as printed: after a step, σ is four times, half, or as much as it was, and as often four
/// times more as the Hessian needs to become positive definite or a trial fails.
#[test]
fn sigma_moves_by_the_rule() {
    for start in [[-1.2, 1.0], [0.0, 1.0]] {
        let outcome = run(&Rosenbrock, &variables(&start), DING, &Options::default());
        let sigmas: Vec<f64> = outcome.history.iter().filter_map(|step| step.damping).collect();
        for pair in sigmas.windows(2) {
            let exponent = (pair[1] / pair[0]).log2();
            let allowed = exponent.round() == exponent && (exponent >= -1.0);
            assert!(allowed, "{sigmas:?}");
        }
        assert!(sigmas.last().unwrap() < &(1e-3 * sigmas[0]), "{sigmas:?}");
    }
}

/// Protects negative curvature: both methods leave a saddle that they start beside, and say that they met one. On the line where
/// the gradient does not tell, Ding's method ends at the saddle and calls it that; `newton-tr` follows the negative
/// curvature, and from the saddle itself, too.
#[test]
fn saddles_are_left_or_named() {
    for method in METHODS {
        let outcome = run(&Saddle, &variables(&[1e-3, 1.0]), method, &Options::default());
        assert!(outcome.converged && (outcome.cost + 0.25).abs() < 1e-14, "{method}: {outcome:?}");
        assert!(met(&outcome, Curvature::Negative) > 0, "{method}: {outcome:?}");
        assert_eq!(outcome.history.last().unwrap().curvature, Some(Curvature::Positive), "{method}");
    }
    for start in [[0.0, 1.0], [0.0, 0.0]] {
        let outcome = run(&Saddle, &variables(&start), DING, &Options::default());
        assert_eq!((outcome.reason, outcome.converged), (Reason::SaddlePoint, false), "{outcome:?}");
        assert!(outcome.reason.to_string().contains("a saddle or a maximum, not a minimum"));
        let outcome = run(&Saddle, &variables(&start), NEWTON, &Options::default());
        assert!(outcome.converged && (outcome.cost + 0.25).abs() < 1e-14, "{outcome:?}");
    }
}

/// Protects singular Hessians: what the cost determines is found, what it does not stays, the history says singular, and nothing
/// runs away.
#[test]
fn singular_hessians_are_named_and_not_inverted() {
    struct Undetermined;
    impl Function for Undetermined {
        fn value<D: Number>(&self, u: &[D]) -> D {
            let r = u[0] + u[1] - 3.0;
            r * r + r * r * r * r + u[2] * 0.0
        }
    }
    for method in METHODS {
        let outcome = run(&Undetermined, &variables(&[1.0, 1.0, 7.0]), method, &Options::default());
        assert!(outcome.converged && outcome.cost < 1e-22, "{method}: {:e} {}", outcome.cost, outcome.reason);
        assert!((outcome.u[0] - outcome.u[1]).abs() < 1e-9 && outcome.u[2] == 7.0, "{method}: {:?}", outcome.u);
        assert_eq!(met(&outcome, Curvature::Singular), outcome.iterations, "{method}");
    }
}

/// Protects the bounds: a corner is met exactly; a bound across a curved valley is met and reported; one at which the search
/// starts, or which it meets on the way, is left when the cost falls inwards; a fixed variable stays.
#[test]
fn bounds_are_met_held_and_left() {
    struct Corner;
    impl Function for Corner {
        fn value<D: Number>(&self, u: &[D]) -> D {
            let rows = [[2.0, 1.0, 0.3], [0.0, 3.0, -1.0], [0.5, 0.0, 1.5]];
            squares(&rows.map(|row| (u[0] - 5.0) * row[0] + (u[1] - 5.0) * row[1] + (u[2] - 5.0) * row[2]))
        }
    }
    struct Valley;
    impl Function for Valley {
        fn value<D: Number>(&self, u: &[D]) -> D {
            Rosenbrock.value(&u[..2]) + u[2] * 7.0
        }
    }
    for method in METHODS {
        let v: Vec<_> = variables(&[0.5, 0.2, 1.0]).into_iter().map(|v| v.bounded(-1.0, 2.0)).collect();
        let outcome = run(&Corner, &v, method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!((outcome.u, outcome.gradient_norm), (vec![2.0; 3], 0.0), "{method}");
        assert_eq!(outcome.statuses, [VariableStatus::AtUpperBound; 3]);
        assert!(outcome.evaluations <= 12, "{method}: {}", outcome.evaluations);

        let mut v = variables(&[-1.2, 1.0, 3.0]);
        v[0] = v[0].clone().bounded(-1.2, 0.5);
        v[2] = v[2].clone().bounded(3.0, 3.0);
        let outcome = run(&Valley, &v, method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!((outcome.u[0], outcome.u[2]), (0.5, 3.0), "{method}");
        assert!((outcome.u[1] - 0.25).abs() < 1e-9, "{method}: {:?}", outcome.u);
        assert_eq!(outcome.statuses, [VariableStatus::AtUpperBound, VariableStatus::Free, VariableStatus::Fixed]);
        assert!(outcome.evaluations < 50, "{method}: {}", outcome.evaluations);

        // y starts at its bound with the cost falling outwards, and has to leave it later on the way to (1, 1)
        let mut v = variables(&[0.5, 0.6]);
        v[1] = v[1].clone().bounded(0.6, 2.0);
        let outcome = run(&Rosenbrock, &v, method, &Options::default());
        assert!(outcome.converged && outcome.cost < 1e-20, "{method}: {:e} {}", outcome.cost, outcome.reason);
        assert!(outcome.history[1].u[1] == 0.6, "{method}: the test misses its point");
    }
}

/// Protects optimality in boxes: on random quadratics, convex and indefinite ones, the first-order conditions hold at the end;
/// and where the box has no end, nothing but the bounds of the search stops it.
#[test]
fn random_boxes_end_at_stationary_points() {
    struct Quadratic {
        hessian: Vec<Vec<f64>>,
        slope: Vec<f64>,
    }
    impl Function for Quadratic {
        fn value<D: Number>(&self, u: &[D]) -> D {
            let mut sum = D::from(0.0);
            for (i, row) in self.hessian.iter().enumerate() {
                sum += u[i] * self.slope[i];
                for (j, entry) in row.iter().enumerate() {
                    sum += u[i] * u[j] * (0.5 * entry);
                }
            }
            sum
        }
    }
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut negative = 0;
    for case in 0..200 {
        let n = 1 + case % 6;
        let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| random()).collect()).collect();
        let shift = random();
        let entry = |i: usize, j: usize| {
            (0..n).map(|k| rows[k][i] * rows[k][j]).sum::<f64>() + if i == j { 0.1 + shift } else { 0.0 }
        };
        let hessian = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let function = Quadratic { hessian, slope: (0..n).map(|_| random()).collect() };
        let v: Vec<_> = variables(&vec![0.0; n])
            .into_iter()
            .map(|v| v.bounded(-1.0 - 0.5 * random(), 1.0 + 0.5 * random()))
            .collect();
        for method in METHODS {
            let outcome = run(&function, &v, method, &Options::default());
            negative += met(&outcome, Curvature::Negative);
            assert!(outcome.converged && outcome.evaluations <= 80, "{case} {method}: {outcome:?}");
            for (g, status) in outcome.gradient.iter().zip(&outcome.statuses) {
                match status {
                    VariableStatus::Free => assert!(g.abs() < 1e-8, "{case} {method}: {outcome:?}"),
                    VariableStatus::AtLowerBound => assert!(*g > -1e-8, "{case} {method}: {outcome:?}"),
                    _ => assert!(*g < 1e-8, "{case} {method}: {outcome:?}"),
                }
            }
        }
    }
    assert!(negative > 50, "the test misses its point: {negative}");
}

/// Protects the logarithmic scale, its second derivative above all: a parabola in the logarithms is met in one step; and values
/// that start decades away are found.
#[test]
fn log_scale_has_its_own_curvature() {
    let log = |start: &[f64]| -> Vec<_> { variables(start).into_iter().map(|v| v.scaled(Scale::Log)).collect() };
    let near = run(&Decades { target: [3e-6, 5.0, 7e9] }, &log(&[4e-6, 4.0, 5e9]), NEWTON, &Options::default());
    assert!(near.history[1].cost < 1e-26 * near.history[0].cost, "{:e}", near.history[1].cost);
    for method in METHODS {
        let far = run(&Decades { target: [3e-6, 5.0, 7e9] }, &log(&[1.0, 1e-3, 1e3]), method, &Options::default());
        assert!(far.converged && far.cost < 1e-20, "{method}: {:e} {}", far.cost, far.reason);
        assert_eq!(met(&far, Curvature::Positive), far.iterations, "{method}");
    }
}

/// Protects many variables: 200 of them take products only; their number stays far below a Hessian's a step, and the last steps
/// converge faster than linearly.
#[test]
fn many_variables_take_products_only() {
    let chain = Chain { n: 200 };
    let outcome = run(&chain, &variables(&vec![0.5; 200]), NEWTON, &Options::default());
    let products = outcome.hessian_products;
    println!("chain: {} evaluations, {products} products, {:e}, {}", outcome.evaluations, outcome.cost, outcome.reason);
    assert_eq!(outcome.hessians, 0);
    assert!(outcome.converged && outcome.cost < 1e-18, "{:e} {}", outcome.cost, outcome.reason);
    assert!(outcome.u.iter().all(|u| (u - 1.0).abs() < 1e-8));
    assert!(outcome.evaluations < 300 && products < 30 * outcome.iterations, "{} {products}", outcome.evaluations);
    let norms = outcome.history.windows(2).map(|pair| pair[1].gradient_norm / pair[0].gradient_norm);
    let rates: Vec<f64> = norms.collect();
    let [.., before, last] = rates[..] else { panic!("{rates:?}") };
    assert!(before < 1e-2 && last < before, "{rates:?}");
}

/// Protects large problems with many active bounds: a loaded string above a floor, 200 variables.
#[test]
fn many_bounds_are_found_together() {
    struct LoadedString;
    impl Function for LoadedString {
        fn value<D: Number>(&self, u: &[D]) -> D {
            let n = u.len();
            let at = |i: usize| if i == 0 || i > n { D::from(0.0) } else { u[i - 1] };
            (1..=n + 1).fold(D::from(0.0), |sum, i| {
                let span = at(i) - at(i - 1);
                sum + span * span * 0.5 + at(i) * 2e-3
            })
        }
    }
    let v: Vec<_> = variables(&vec![0.0; 200]).into_iter().map(|v| v.bounded(-1.0, f64::INFINITY)).collect();
    let options = Options { gradient_tolerance: 1e-8, ..Options::default() };
    let outcome = run(&LoadedString, &v, NEWTON, &options);
    let held = outcome.statuses.iter().filter(|&&s| s == VariableStatus::AtLowerBound).count();
    let products = outcome.hessian_products;
    println!("string: {} evaluations, {products} products, {held} at the floor", outcome.evaluations);
    assert!(outcome.converged, "{}", outcome.reason);
    // free spans of sqrt(2 * 1 / load) = 31.6 at both ends
    assert!((136..=140).contains(&held), "{held} at the floor");
    assert!(outcome.evaluations < 100 && products < 2000, "{} evaluations, {products} products", outcome.evaluations);
}

/// Protects the units: neither a factor of the cost nor one of a variable changes the way that is taken, but by the rounding
/// of a root in the weights.
#[test]
fn units_do_not_matter() {
    struct Scaled;
    impl Function for Scaled {
        fn value<D: Number>(&self, u: &[D]) -> D {
            let factor = 2f64.powi(40);
            Rosenbrock.value(&[u[0], u[1] * (1.0 / factor)]) * factor
        }
    }
    for method in METHODS {
        let plain = run(&Rosenbrock, &variables(&[-1.2, 1.0]), method, &Options::default());
        let other = run(&Scaled, &variables(&[-1.2, 2f64.powi(40)]), method, &Options::default());
        assert_eq!(plain.evaluations, other.evaluations, "{method}");
        assert!((plain.u[0] - other.u[0]).abs() < 1e-12, "{method}");
    }
}
