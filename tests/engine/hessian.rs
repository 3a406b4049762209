//! Second derivatives: against an independent simulation in hyper-dual numbers, and against the gradient.

use crate::common;

use common::compare::{Limits, direction};
use common::mechanisms::{Bead, Displaced, Guided, bead, guided};
use common::{ALL, Case, FORMS, order};
use costate::cost::Quadrature;
use costate::scheme::Form;
use costate::sensitivity::{Gradient, Method};

/// Agreement with the textbook, of entries scaled by the parameters' sizes, relative to the largest. Multipliers carry
/// round-off / (β h²), which second derivatives of constrained mechanisms take over.
const LIMIT: f64 = 1e-9;

// rows and columns of matrices by index
#[allow(clippy::needless_range_loop)]
fn check(name: &str, case: &Case) {
    let function = case.cost_of(ALL);
    let cost = function.differentiated(Quadrature::Trapezoid);
    let simulation = case.simulation();
    let mut engine = Gradient::new(&simulation, &*cost).unwrap();
    let p = case.u.len();
    let (mut gradient, mut adjoint) = (vec![0.0; p], vec![0.0; p]);
    let mut hessian = vec![vec![0.0; p]; p];
    let value = engine.hessian(&case.u, &mut gradient, &mut hessian).unwrap();
    let expected = engine.cost_and_gradient(&case.u, Method::Adjoint, &mut adjoint).unwrap();
    assert!((value / expected - 1.0).abs() < 1e-12, "{name}: cost {value} {expected}");
    let scaled = |j: usize, k: usize, value: f64| value * case.sizes[j] * case.sizes[k];
    let mut size = 0.0f64;
    for j in 0..p {
        assert!((gradient[j] - adjoint[j]).abs() <= 1e-12 * adjoint[j].abs(), "{name}: gradient {j}");
        (0..p).for_each(|k| size = size.max(scaled(j, k, hessian[j][k]).abs()));
    }
    assert!(size > 0.0, "{name}: the Hessian is zero");
    let textbook = case.textbook();
    let weights = case.weights(Quadrature::Trapezoid);
    for j in 0..p {
        for k in 0..=j {
            let exact = textbook.second_derivative(&case.u, [j, k], &function, &weights);
            for (what, entry) in [("entry", hessian[j][k]), ("mirrored entry", hessian[k][j])] {
                let error = scaled(j, k, entry - exact).abs() / size;
                assert!(error < LIMIT, "{name}: {what} {j} {k}: {entry} {exact}, error {error:.1e}");
            }
        }
    }
    let direction: Vec<f64> = (0..p).map(|k| case.sizes[k] * (1.0 + k as f64).sin()).collect();
    let mut product = Vec::new();
    engine.hessian_vector(&case.u, &direction, &mut gradient, &mut product).unwrap();
    for j in 0..p {
        let expected: f64 = (0..p).map(|k| hessian[k][j] * direction[k]).sum();
        assert!((product[j] - expected).abs() * case.sizes[j] < 1e-11 * size, "{name}: product {j}");
    }
}

/// Protects the Hessian on every model, in both forms, with a cost that is nonlinear in everything.
#[test]
fn hessians_agree_with_hyper_dual_simulations() {
    for form in FORMS {
        check("oscillator", &common::oscillator().alpha(-0.1).form(form).first_steps(40));
        check("engine_mount", &common::engine_mount().alpha(-0.1).form(form).first_steps(40));
        check("silverbox", &common::silverbox().alpha(-0.1).form(form).first_steps(40));
        check("cart_pole", &common::cart_pole().alpha(-0.3).form(form).first_steps(40));
        check("pendulum", &common::pendulum().alpha(-0.3).form(form).first_steps(40));
        check("slider_crank", &common::slider_crank().alpha(-0.3).form(form).first_steps(10));
        check("emps", &common::emps().alpha(-0.1).form(form).first_steps(40));
        check("pendulum, uneven", &common::pendulum().alpha(-0.2).form(form).first_steps(30).uneven());
    }
}

fn projected(case: Case, form: Form, count: usize) -> Case {
    case.alpha(-0.1).form(form).project().first_steps(count)
}

/// Protects projected starts: curved constraints, moving ones with a singular mass matrix, a mass matrix that depends on
/// positions; with states that are projected far and with costs that see nothing but the start.
#[test]
fn hessians_pass_through_the_projection_of_the_start() {
    for form in FORMS {
        for count in [1, 30] {
            check(
                "pendulum",
                &projected(
                    Displaced::case(costate_models::pendulum::Pendulum, common::pendulum(), 0.06, 0.5),
                    form,
                    count,
                ),
            );
            check("bead", &projected(Displaced::case(Bead, bead(), 0.06, 0.5), form, count));
            check("guided", &projected(guided(), form, count));
            check("guided, displaced", &projected(Displaced::case(Guided, guided(), 0.05, 0.3), form, count));
        }
    }
}

/// What is left of J after its quadratic model, at steps h that halve.
fn remainders(case: &Case, steps: &[f64]) -> Vec<f64> {
    let cost = case.cost_of(ALL).differentiated(Quadrature::Trapezoid);
    let simulation = case.simulation();
    let mut engine = Gradient::new(&simulation, &*cost).unwrap();
    let (mut gradient, mut product) = (vec![0.0; case.u.len()], Vec::new());
    let d = direction(&case.sizes);
    let value = engine.hessian_vector(&case.u, &d, &mut gradient, &mut product).unwrap();
    let along = |x: &[f64]| x.iter().zip(&d).map(|(x, d)| x * d).sum::<f64>();
    let (slope, curvature) = (along(&gradient), along(&product));
    let remainder = |h: &f64| {
        let u: Vec<f64> = case.u.iter().zip(&d).map(|(u, d)| u + h * d).collect();
        (engine.cost(&u).unwrap() - value - h * (slope + 0.5 * h * curvature)).abs()
    };
    steps.iter().map(remainder).collect()
}

/// Protects cost, gradient and Hessian as a triple: what is left of J after its quadratic model must be cubic.
#[test]
fn taylor_remainders_are_of_third_order() {
    let third = |what: &str, remainders: Vec<f64>| {
        for pair in remainders.windows(2) {
            let order = order(pair[0], pair[1]);
            assert!((2.9..=3.1).contains(&order), "{what}: order {order:.3} of {remainders:?}");
        }
    };
    let steps = [4e-3, 2e-3, 1e-3];
    for form in FORMS {
        for (name, case) in common::models() {
            third(name, remainders(&case.clone().alpha(-0.1).form(form), &steps));
        }
        let displaced = Displaced::case(Guided, guided(), 0.05, 0.3);
        third("guided, projected", remainders(&projected(displaced, form, 60), &steps));
    }
}

/// Protects symmetry, to the round-off that adjoint and tangents have between them: rows and columns of the Hessian are
/// computed by different products.
#[test]
fn hessians_are_symmetric_to_round_off() {
    fn check(name: &str, case: &Case) {
        let cost = case.cost_of(ALL).differentiated(Quadrature::Trapezoid);
        let simulation = case.simulation();
        let p = case.u.len();
        let (mut gradient, mut hessian) = (vec![0.0; p], vec![vec![0.0; p]; p]);
        let mut engine = Gradient::new(&simulation, &*cost).unwrap();
        engine.hessian(&case.u, &mut gradient, &mut hessian).unwrap();
        let scaled = |j: usize, k: usize, value: f64| (value * case.sizes[j] * case.sizes[k]).abs();
        let pairs = || (0..p).flat_map(|j| (0..p).map(move |k| (j, k)));
        let size = pairs().map(|(j, k)| scaled(j, k, hessian[j][k])).fold(0.0, f64::max);
        let worst = pairs().map(|(j, k)| scaled(j, k, hessian[j][k] - hessian[k][j])).fold(0.0, f64::max) / size;
        assert!(worst <= Limits::of(case).tangent, "{name} {:?}: {worst:.1e}", case.form);
    }
    for form in FORMS {
        for (name, case) in common::models() {
            check(name, &case.clone().alpha(-0.1).form(form));
        }
        check("bead, projected", &projected(Displaced::case(Bead, bead(), 0.06, 0.5), form, 60));
    }
}

/// Protects least-squares costs: the Hessian of each built-in problem is the derivative of its gradient.
#[test]
fn hessians_of_built_in_problems_are_derivatives_of_their_gradients() {
    for entry in costate_models::registry().unwrap().entries() {
        let mut scenario = entry.scenario.clone();
        scenario.end = scenario.step * 100.0;
        let problem = entry.problem(&scenario).unwrap();
        let mut engine = problem.gradient().unwrap();
        let u = problem.start.clone();
        let p = u.len();
        let (mut gradient, mut hessian) = (vec![0.0; p], vec![vec![0.0; p]; p]);
        engine.hessian(&u, &mut gradient, &mut hessian).unwrap();
        let sizes: Vec<f64> = (0..p).map(|k| problem.size(k)).collect();
        let largest =
            (0..p).flat_map(|j| (0..p).map(move |k| (j, k))).map(|(j, k)| (hessian[j][k] * sizes[j] * sizes[k]).abs());
        let largest = largest.fold(0.0, f64::max);
        for k in 0..p {
            let mut at = |shift: f64| {
                let (mut moved, mut slope) = (u.clone(), vec![0.0; p]);
                moved[k] += shift * sizes[k];
                engine.cost_and_gradient(&moved, Method::Adjoint, &mut slope).unwrap();
                slope
            };
            let (up, down) = (at(1e-4), at(-1e-4));
            for j in 0..p {
                let difference = (up[j] - down[j]) / (2e-4 * sizes[k]);
                let error = (hessian[j][k] - difference).abs() * sizes[j] * sizes[k] / largest;
                assert!(error < 1e-6, "{}: {j} {k}: {} {difference}", entry.name(), hessian[j][k]);
            }
        }
    }
}

/// Protects the states that a gradient leaves behind: a Hessian at the same parameters takes them over, to the bit and without a
/// Newton iteration; at others, it does not.
#[test]
fn hessians_take_over_the_run_of_a_gradient() {
    for entry in costate_models::registry().unwrap().entries() {
        let mut scenario = entry.scenario.clone();
        scenario.end = scenario.step * 8.0;
        let problem = entry.problem(&scenario).unwrap();
        let u = problem.start.clone();
        let p = u.len();
        let (mut gradient, zero) = (vec![0.0; p], vec![vec![0.0; p]; p]);
        let (mut fresh, mut after) = (zero.clone(), zero);
        problem.gradient().unwrap().hessian(&u, &mut gradient, &mut fresh).unwrap();
        let mut engine = problem.gradient().unwrap();
        for path in [Method::Adjoint, Method::Tangent, Method::Difference] {
            engine.cost_and_gradient(&u, path, &mut gradient).unwrap();
            let before = engine.counters();
            engine.hessian(&u, &mut gradient, &mut after).unwrap();
            assert_eq!(after, fresh, "{} after {path:?}", entry.name());
            if path != Method::Difference {
                assert_eq!(engine.counters().iterations, before.iterations, "{} after {path:?}", entry.name());
            }
            // a run elsewhere in between, and one that fails
            let moved: Vec<f64> = u.iter().map(|u| 1.01 * u + 1e-3).collect();
            engine.cost_and_gradient(&moved, path, &mut gradient).unwrap();
            let failing = vec![f64::MAX; p];
            assert!(engine.cost_and_gradient(&failing, path, &mut gradient).is_err(), "{}", entry.name());
            engine.hessian(&u, &mut gradient, &mut after).unwrap();
            assert_eq!(after, fresh, "{} after {path:?} elsewhere", entry.name());
        }
    }
}
