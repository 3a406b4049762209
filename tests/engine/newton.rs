//! The methods with exact second derivatives on real simulations.

use costate::Scale;
use costate::sensitivity::Method;
use costate_identify::optimise::{Flow, Method as Optimiser};
use costate_identify::problem::Problem;
use costate_identify::{Identification, Settings, identify};

const CURVED: [Optimiser; 2] = [Optimiser::Ding, Optimiser::NewtonTrustRegion];

fn problem(name: &str) -> Problem {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get(name).unwrap();
    entry.problem(&entry.scenario).unwrap()
}

fn search(problem: &Problem, method: Optimiser, gradient: Method) -> Identification {
    let settings = Settings { method: Some(method), gradient, ..Settings::default() };
    identify(problem, &settings, &mut |_| Flow::Continue).unwrap()
}

/// Protects the engine mount from the paper's start: costs fall below 1e-18 on both scales with not many more evaluations than
/// today, and one Hessian a step.
#[test]
fn the_engine_mount_is_identified() {
    for (scale, most) in [(Scale::Linear, [45, 15]), (Scale::Log, [60, 35])] {
        let mut problem = problem("engine_mount");
        problem.parameters.iter_mut().for_each(|parameter| parameter.scale = scale);
        for (method, most) in CURVED.into_iter().zip(most) {
            let found = search(&problem, method, Method::Adjoint);
            let outcome = &found.outcome;
            println!(
                "{scale:?} {method}: {} evaluations, {} Hessians, {:e}, {}",
                outcome.evaluations, outcome.hessians, outcome.cost, outcome.reason
            );
            let reached = outcome.history.iter().find(|i| i.cost < 1e-18).map(|i| i.evaluations);
            assert!(outcome.converged, "{scale:?} {method}: {}", outcome.reason);
            assert!(reached.is_some_and(|count| count <= most), "{scale:?} {method}: {reached:?}");
            assert!(outcome.hessians <= outcome.iterations + 1 && outcome.hessian_products == 0);
            for (found, true_value) in found.values().iter().zip(problem.optimum.as_ref().unwrap()) {
                assert!((found / true_value - 1.0).abs() < 1e-9, "{scale:?} {method}: {found}");
            }
        }
    }
}

/// Protects other mechanisms and fixed parameters: their rows and columns are left out of the Hessian, not mixed up.
#[test]
fn other_mechanisms_are_identified_with_and_without_fixed_parameters() {
    // the pendulum's residuals are uncertain by Newton's tolerance: the search ends there
    for (name, floor) in [("oscillator", 1e-20), ("pendulum", 1e-16)] {
        for method in CURVED {
            let mut problem = problem(name);
            let optimum = problem.optimum.clone().unwrap();
            for fixed in [None, Some(0)] {
                if let Some(k) = fixed {
                    problem.parameters[k].free = false;
                    problem.start[k] = optimum[k];
                }
                let found = search(&problem, method, Method::Adjoint);
                let outcome = &found.outcome;
                println!(
                    "{name} {method}: {} evaluations, {:e}, {}",
                    outcome.evaluations, outcome.cost, outcome.reason
                );
                assert!(outcome.converged && outcome.cost < floor, "{name} {method}: {outcome:?}");
            }
        }
    }
}

/// Protects exactness: whether adjoint or tangents feed an optimiser, it finds the same parameters, up to the round-off of the
/// end (a cost of 1e-18 and less tells parameters no better than to some 1e-10).
#[test]
fn adjoint_and_tangents_lead_to_the_same_result() {
    for method in [Optimiser::Bfgs, Optimiser::LBfgs { memory: 20 }, Optimiser::Ding, Optimiser::NewtonTrustRegion] {
        for name in ["engine_mount", "oscillator"] {
            let problem = problem(name);
            let [adjoint, tangent] = [Method::Adjoint, Method::Tangent].map(|path| search(&problem, method, path));
            for found in [&adjoint, &tangent] {
                assert!(found.outcome.converged && found.outcome.cost < 1e-18, "{name} {method}: {:?}", found.outcome);
            }
            for (one, other) in adjoint.values().iter().zip(tangent.values()) {
                assert!((one - other).abs() <= 1e-9 * one.abs(), "{name} {method}: {one} {other}");
            }
            // the same way from the start on: rounding has not had the time to grow
            let (one, other) = (&adjoint.history[1], &tangent.history[1]);
            for (one, other) in one.iter().zip(other) {
                assert!((one - other).abs() <= 1e-10 * one.abs(), "{name} {method}: first step {one} {other}");
            }
        }
    }
}
