//! Comparisons of engine, textbook and cost, with their limits.

use super::{Case, Everything, order};
use costate::cost::Quadrature;
use costate::sensitivity::{Gradient, Method};

/// Largest differences that are accepted, see [`Limits::of`].
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub textbook: f64,
    pub tangent: f64,
    pub value: f64,
}

impl Limits {
    /// Without constraints both sides differ by what Newton's iteration may leave out, 1e-14 of an acceleration, in a hundred
    /// steps; adjoint and tangents, which share a trajectory, by round-off alone.
    ///
    /// With constraints Newton's iteration ends where increments are 1e-15 of the positions, which is 1e-15/(β h²) in
    /// accelerations and multipliers (1e-11 at the steps used here); numerical damping forgets it within some steps, α = 0
    /// never does, so that the errors of all steps add up.
    pub fn of(case: &Case) -> Limits {
        match (!case.is_constrained(), case.alpha) {
            (true, _) => Limits { textbook: 1e-12, tangent: 5e-14, value: 1e-13 },
            (false, 0.0) => Limits { textbook: 1e-8, tangent: 1e-9, value: 1e-8 },
            (false, alpha) if alpha > -0.1 => Limits { textbook: 2e-10, tangent: 5e-11, value: 5e-11 },
            (false, _) => Limits { textbook: 2e-11, tangent: 2e-12, value: 5e-12 },
        }
    }
}

/// Cost and gradient of adjoint, tangents and textbook.
pub fn compare(what: &str, case: &Case, cost: &Everything, quadrature: Quadrature) {
    compare_within(Limits::of(case), what, case, cost, quadrature);
}

pub fn compare_within(limits: Limits, what: &str, case: &Case, cost: &Everything, quadrature: Quadrature) {
    let (value, adjoint) = case.engine(cost, quadrature, Method::Adjoint);
    let (again, tangent) = case.engine(cost, quadrature, Method::Tangent);
    let (reference, gradient) = case.textbook().gradient(&case.u, cost, &case.weights(quadrature));
    let place = format!("{what}, {:?}, alpha {}, {quadrature:?}", case.form, case.alpha);
    assert_eq!(value, again, "{place}: the cost of both methods");
    // costs are made of terms of size 1, which may cancel
    let error = (value - reference).abs() / (reference.abs() + 0.1);
    assert!(error <= limits.value, "{place}: cost {value} against {reference}, {error:.1e}");
    let error = case.distance(&adjoint, &tangent);
    assert!(error <= limits.tangent, "{place}: adjoint against tangent {error:.1e}\n{adjoint:?}\n{tangent:?}");
    let error = case.distance(&adjoint, &gradient);
    assert!(error <= limits.textbook, "{place}: adjoint against textbook {error:.1e}\n{adjoint:?}\n{gradient:?}");
}

/// A direction in parameter space without any pattern.
pub fn direction(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().enumerate().map(|(k, size)| size * (1.0 + 2.7 * k as f64).sin()).collect()
}

/// What is left of J after its linear part must be quadratic.
pub fn taylor(what: &str, case: &Case, cost: &Everything) {
    let cost = cost.differentiated(Quadrature::Trapezoid);
    let simulation = case.simulation();
    let mut workspace = Gradient::new(&simulation, &*cost).unwrap();
    let mut gradient = vec![0.0; case.u.len()];
    let value = workspace.cost_and_gradient(&case.u, Method::Adjoint, &mut gradient).unwrap();
    let d = direction(&case.sizes);
    let slope: f64 = gradient.iter().zip(&d).map(|(g, d)| g * d).sum();
    let remainder = |h: f64| {
        let u: Vec<f64> = case.u.iter().zip(&d).map(|(u, d)| u + h * d).collect();
        (workspace.cost(&u).unwrap() - value - h * slope).abs()
    };
    let remainders: Vec<f64> = [2e-3, 1e-3, 5e-4].into_iter().map(remainder).collect();
    for pair in remainders.windows(2) {
        let order = order(pair[0], pair[1]);
        assert!((1.9..=2.1).contains(&order), "{what} {:?}: order {order:.3} of {remainders:.3?}", case.form);
    }
}
