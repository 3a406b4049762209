//! Every scheme on every model of the registry, those from parts among them: derivatives, and identification.

use costate::sensitivity::Method;
use costate::{InitialState, scheme};
use costate_identify::optimise::{Flow, Options};
use costate_identify::problem::Integrator;
use costate_identify::registry::Scenario;
use costate_identify::{Settings, identify};

/// Protects derivatives through assemblies, redundant rows and built-in problems under schemes that are not their own: adjoint against
/// tangents over the first steps.
#[test]
fn adjoint_and_tangent_agree_on_every_model() {
    let registry = costate_models::registry().unwrap();
    for entry in registry.entries() {
        for name in scheme::names() {
            let scenario = Scenario {
                end: 20.0 * entry.scenario.step,
                integrator: Integrator {
                    scheme: name.into(),
                    settings: Vec::new(),
                    initial_state: InitialState::Projected,
                    ..entry.scenario.integrator.clone()
                },
                ..entry.scenario.clone()
            };
            let problem = entry.problem(&scenario).unwrap();
            let u = problem.start.clone();
            let mut engine = problem.gradient().unwrap();
            let [mut adjoint, mut tangent] = [(); 2].map(|()| vec![0.0; u.len()]);
            engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
            engine.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
            let largest = |value: &dyn Fn(usize) -> f64| {
                (0..u.len()).map(|k| (value(k) * problem.size(k)).abs()).fold(0.0, f64::max)
            };
            let error = largest(&|k| adjoint[k] - tangent[k]) / largest(&|k| tangent[k]);
            // round-off of positions over β h² is in multipliers of index 3, and in what is compared of accelerations
            let limit = if ["i2p", "bdf2"].contains(&name) { 1e-10 } else { 1e-9 };
            assert!(error < limit, "{}, {name}: {error:.1e}", entry.name());
        }
    }
}

/// Protects identification from the scheme: each finds the parameters that made its own reference.
#[test]
fn every_scheme_identifies() {
    let registry = costate_models::registry().unwrap();
    for model in ["oscillator", "pendulum", "pendulum_chain", "five_bar"] {
        let entry = registry.get(model).unwrap();
        for name in scheme::names() {
            let scenario = Scenario {
                end: entry.scenario.end.min(200.0 * entry.scenario.step),
                integrator: Integrator {
                    scheme: name.into(),
                    settings: Vec::new(),
                    ..entry.scenario.integrator.clone()
                },
                ..entry.scenario.clone()
            };
            let problem = entry.problem(&scenario).unwrap();
            let options = Options { max_iterations: 200, ..Options::default() };
            let settings = Settings { options, ..Settings::default() };
            let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
            // undamped multipliers ring, and what is compared of them is round-off times a thousand
            let rings = ["newmark", "trapezoidal"].contains(&name);
            let (limit, converged) = (if rings { 1e-12 } else { 1e-16 }, found.outcome.converged || rings);
            let (cost, start) = (found.outcome.cost, found.outcome.history[0].cost);
            assert!(converged && cost < limit * start, "{model}, {name}: {cost:e} of {start:e}");
        }
    }
}
