//! Gradients with derivatives by hand in place of dual numbers.

use super::{Planted, check, lines};
use costate::sensitivity::Method;
use costate::system::Point;
use costate::{Matrix, System};
use costate_check::{CheckOptions, HandDerived, HandDerivedSystem, Supplied, check_products};
use costate_identify::Result;
use costate_identify::registry::Entry;
use costate_models::hand_derived::{CartPoleByHand, EngineMountByHand, PendulumByHand};
use costate_models::{Pendulum, registry};
use std::sync::Arc;

/// A test problem shortened to `end`, with the entry's own system or with its set in place of dual numbers.
fn gradient(entry: &Entry, system: Arc<dyn System>, method: Method, end: f64) -> Result<(f64, Vec<f64>, String)> {
    let entry = Entry { system, ..entry.clone() };
    let integrator = costate_identify::problem::Integrator::hht(-0.1);
    let scenario = costate_identify::registry::Scenario { end, integrator, ..entry.scenario.clone() };
    let problem = entry.problem(&scenario)?;
    let mut workspace = problem.gradient()?;
    let mut gradient = vec![0.0; problem.start.len()];
    let cost = workspace.cost_and_gradient(&problem.start, method, &mut gradient)?;
    Ok((cost, gradient, format!("{:?}", workspace.counters())))
}

/// Protects the third implementor of the waist: with hand-derived Jacobians, cost, gradient and Newton's counters are those
/// of dual numbers; a set that lacks blocks is completed.
#[test]
fn hand_derived_jacobians_give_the_same_gradient() {
    struct WithoutMassAndStiffness<H>(H);
    impl<H: HandDerived> HandDerived for WithoutMassAndStiffness<H> {
        fn force_by_velocity(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
            self.0.force_by_velocity(x, u, jacobian)
        }
        fn constraint_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
            self.0.constraint_by_position(x, u, jacobian)
        }
        fn constraint_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
            self.0.constraint_by_parameter(x, u, jacobian)
        }
    }
    let registry = registry().unwrap();
    let sets: [(&str, f64, Arc<dyn HandDerived>); 5] = [
        ("engine_mount", 0.3, Arc::new(EngineMountByHand)),
        ("pendulum", 1.0, Arc::new(PendulumByHand)),
        ("cart_pole", 1.0, Arc::new(CartPoleByHand)),
        ("pendulum", 0.5, Arc::new(WithoutMassAndStiffness(PendulumByHand))),
        ("engine_mount", 0.1, Arc::new(WithoutMassAndStiffness(EngineMountByHand))),
    ];
    for (name, end, hand) in sets {
        let entry = registry.get(name).unwrap();
        let by_hand: Arc<dyn System> = Arc::new(HandDerivedSystem::new(entry.system.clone(), hand).unwrap());
        let products = check_products(&*by_hand, &CheckOptions::default()).unwrap();
        assert!(products.passed(), "{products}");
        for method in [Method::Adjoint, Method::Tangent] {
            let (cost, exact, counters) = gradient(entry, entry.system.clone(), method, end).unwrap();
            let (cost_by_hand, found, counters_by_hand) = gradient(entry, by_hand.clone(), method, end).unwrap();
            assert!((cost_by_hand / cost - 1.0).abs() < 1e-12, "{name}: {cost_by_hand} {cost}");
            // the pendulum's mass hardly matters: its tangents cancel to a part in 400, so they agree less closely
            let tolerance = if method == Method::Adjoint { 1e-12 } else { 1e-11 };
            for (k, (found, exact)) in found.iter().zip(&exact).enumerate() {
                assert!((found - exact).abs() <= tolerance * exact.abs(), "{name} {k}: {found:e} {exact:e}");
            }
            assert_eq!(counters_by_hand, counters, "{name}");
        }
    }
}

/// Protects the reason for the checker: a set with a wrong entry runs, its trajectory is right, its gradient is not.
#[test]
fn an_unchecked_error_makes_the_gradient_wrong() {
    let wrong = Planted(PendulumByHand, |block, _, _, jacobian: &mut Matrix<f64>| {
        if block == "constraint_by_parameter" {
            jacobian[(0, 1)] *= -1.0;
        }
    });
    assert_eq!(lines(&check(Pendulum, &wrong)), [("dC/du", "constraint `rod`", "u `L`")]);
    let registry = registry().unwrap();
    let entry = registry.get("pendulum").unwrap();
    let by_hand: Arc<dyn System> = Arc::new(HandDerivedSystem::new(entry.system.clone(), Arc::new(wrong)).unwrap());
    let (cost, exact, _) = gradient(entry, entry.system.clone(), Method::Adjoint, 0.5).unwrap();
    let (cost_by_hand, found, _) = gradient(entry, by_hand, Method::Adjoint, 0.5).unwrap();
    assert!((cost_by_hand / cost - 1.0).abs() < 1e-12);
    assert!((found[1] / exact[1] - 1.0).abs() > 1e-3);
}
