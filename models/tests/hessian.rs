//! Second derivatives: against an independent simulation in hyper-dual numbers, and against the gradient.

mod common;

use common::{ALL, Case, FORMS};
use costate::cost::Quadrature;
use costate::linearise::Differentiated;
use costate::{Gradient, Method, Model};
use num_dual::HyperDual64;

/// Agreement with the textbook, of entries scaled by the parameters' sizes, relative to the largest. Multipliers carry
/// round-off / (β h²), which second derivatives of constrained mechanisms take over.
const LIMIT: f64 = 1e-9;

// rows and columns of matrices by index
#[allow(clippy::needless_range_loop)]
fn check<M: Model + Clone + 'static>(name: &str, case: &Case<M>) {
    let function = case.cost_of(ALL);
    let cost = Differentiated::new(function.clone(), Quadrature::Trapezoid);
    let simulation = case.simulation();
    let mut engine = Gradient::new(&simulation, &cost).unwrap();
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
            let u: Vec<HyperDual64> = (0..p)
                .map(|i| {
                    let unit = |at: usize| if i == at { 1.0 } else { 0.0 };
                    HyperDual64::new(case.u[i], unit(j), unit(k), 0.0)
                })
                .collect();
            let exact = textbook.cost(&u, &function, &weights).eps1eps2;
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
