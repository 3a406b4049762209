//! Steps that are chosen by a tolerance, and the error that steps of a given size make.

use costate::adapt::StepControl;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::sensitivity::Method;
use costate::step_error::{StepError, StepErrors};
use costate::{Interpolation, Result, Signal, Simulation};
use costate_identify::problem::Integrator;
use costate_identify::registry::Entry;

fn of(name: &str, step: Option<f64>, scheme: Option<&str>) -> (Simulation, Vec<f64>) {
    let registry = costate_models::registry().unwrap();
    let entry: &Entry = registry.entries().iter().find(|entry| entry.name() == name).unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.step = step.unwrap_or(scenario.step);
    if let Some(scheme) = scheme {
        scenario.integrator = Integrator { scheme: scheme.into(), settings: Vec::new(), ..scenario.integrator };
    }
    (entry.simulation(&scenario).unwrap(), entry.system.signature().nominal())
}

fn worst(errors: &StepErrors) -> f64 {
    StepErrors::worst(&errors.coordinates).map_or(0.0, StepError::relative)
}

/// The error of a run's coordinates beside a run with steps a sixteenth as long, relative to the largest value of their unit.
fn true_error(simulation: &Simulation, u: &[f64]) -> f64 {
    let fine =
        simulation.on(simulation.grid().divided(16).unwrap(), simulation.signals().to_vec()).unwrap().run(u).unwrap();
    let run = simulation.run(u).unwrap();
    let units = &simulation.signature().coordinates;
    let mut most = 0.0f64;
    for (j, coordinate) in units.iter().enumerate() {
        let same = |k: &usize| units[*k].unit == coordinate.unit;
        let value =
            |i: usize| (0..units.len()).filter(same).fold(0.0f64, |most, k| most.max(fine.state(16 * i).q[k].abs()));
        let size = (0..run.times().len()).map(value).fold(0.0, f64::max);
        let gap =
            (0..run.times().len()).map(|i| (run.state(i).q[j] - fine.state(16 * i).q[j]).abs()).fold(0.0, f64::max);
        most = most.max(gap / size);
    }
    most
}

/// Protects the promise of a tolerance: over decades, with constraints and without, on impacts and on motions that amplify errors, the run's
/// true error is below it, and at least a tenth of it.
#[test]
fn errors_are_in_proportion_to_tolerances() {
    for (name, scheme) in [
        ("oscillator", "generalized-alpha"),
        ("double_pendulum", "generalized-alpha"),
        ("cart_pole", "bdf2"),
        ("slider_crank", "i2p"),
        ("quarter_car", "i2p"),
        ("bricard", "i2p"),
        ("pendulum", "ali3p"),
    ] {
        let (simulation, u) = of(name, None, Some(scheme));
        for tolerance in [1e-2, 1e-4, 1e-5] {
            let controlled = simulation.controlled(&u, StepControl { tolerance, smallest: None }, &[]).unwrap();
            let (estimate, error) = (worst(&controlled.errors), true_error(&controlled.simulation, &u));
            let place = format!("{name}, {scheme}, {tolerance:e}: {error:.1e}, estimated {estimate:.1e}");
            assert!(estimate <= tolerance && error <= 1.3 * tolerance && error >= 0.1 * tolerance, "{place}");
            assert!((0.7..1.4).contains(&(error / estimate)), "{place}");
            assert!(controlled.passes <= 4, "{place}: {} passes", controlled.passes);
        }
    }
}

/// Protects derivatives on frozen steps, with all schemes: adjoint and tangents agree.
#[test]
fn derivatives_are_exact_on_frozen_steps() {
    for (name, scheme, limit) in [
        ("slider_crank", "i2p", 1e-12),
        ("slider_crank", "ali3p", 1e-10),
        ("double_pendulum", "generalized-alpha", 1e-12),
        ("double_pendulum", "hht", 1e-12),
        ("cart_pole", "bdf2", 1e-12),
    ] {
        let (simulation, u) = of(name, None, Some(scheme));
        let control = StepControl { tolerance: 1e-3, smallest: None };
        let simulation = simulation.controlled(&u, control, &[]).unwrap().simulation;
        let times = simulation.grid().times();
        let zeros = |output| Reference { output, values: vec![0.0; times.len()], deviation: 1.0 };
        let references = (0..simulation.signature().outputs.len()).map(zeros).collect();
        let cost = LeastSquares::new(times, references, 1, Quadrature::Trapezoid).unwrap();
        let mut engine = costate::sensitivity::Gradient::new(&simulation, &cost).unwrap();
        let [mut adjoint, mut tangent] = [(); 2].map(|()| vec![0.0; u.len()]);
        engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
        engine.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
        let size = tangent.iter().zip(&u).map(|(g, u)| (g * u).abs()).fold(0.0, f64::max);
        let gap = adjoint.iter().zip(&tangent).zip(&u).map(|((a, t), u)| ((a - t) * u).abs()).fold(0.0, f64::max);
        assert!(gap < limit * size, "{name}, {scheme}: {:.1e}", gap / size);
    }
}

/// Protects times that must be met: those that are asked for, and the samples of inputs with kinks.
#[test]
fn times_are_met() {
    let (simulation, u) = of("oscillator", None, Some("generalized-alpha"));
    let times: Vec<f64> =
        (0..=10).map(|k| simulation.grid().times()[simulation.grid().count()] * k as f64 / 10.0).collect();
    let values: Vec<f64> = (0..=10).map(|k| f64::from(k % 2)).collect();
    let signals: Vec<Signal> =
        simulation.signals().iter().map(|_| Signal::sampled(&times, &values, Interpolation::Linear).unwrap()).collect();
    let is_driven = !signals.is_empty();
    let simulation = simulation.on(simulation.grid().clone(), signals).unwrap();
    let stop = 0.3217 * times[10];
    let controlled = simulation.controlled(&u, StepControl { tolerance: 1e-3, smallest: None }, &[stop]).unwrap();
    let chosen = controlled.simulation.grid().times();
    assert!(chosen.contains(&stop));
    assert!(!is_driven || times.iter().all(|t| chosen.contains(t)));
}

/// Protects fixed steps that tell, and those that need not: models' own steps have small errors, steps that are much too large do not.
#[test]
fn steps_that_are_too_large_are_told() {
    for (name, step, least) in [("double_pendulum", 0.1, 10.0), ("rigid_body", 0.3, 1.0), ("pendulum", 0.1, 1.0)] {
        let (simulation, u) = of(name, Some(step), None);
        let errors = StepErrors::of(&simulation, &u).unwrap();
        assert!(worst(&errors) > least, "{name}: {}", worst(&errors));
    }
    for name in ["double_pendulum", "rigid_body", "pendulum", "slider_crank", "engine_mount", "oscillator"] {
        let (simulation, u) = of(name, None, None);
        let errors = StepErrors::of(&simulation, &u).unwrap();
        assert!(worst(&errors) < 0.03, "{name}: {}", worst(&errors));
    }
}

/// Protects sentences: tolerances that make no sense or cannot be met, and a smallest step that is reached.
#[test]
fn tolerances_that_cannot_be_met_are_told() {
    let (simulation, u) = of("pendulum", None, Some("i2p"));
    let says = |tolerance: f64, smallest: Option<f64>, parts: &[&str]| {
        let outcome: Result<_> = simulation.controlled(&u, StepControl { tolerance, smallest }, &[]);
        let error = outcome.err().unwrap().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing in: {error}"));
    };
    says(0.0, None, &["the tolerance: 0 is not positive", "1e-4"]);
    says(f64::NAN, None, &["the tolerance: NaN is not positive"]);
    says(1e-3, Some(-1.0), &["the smallest step: -1 s is not positive"]);
    says(1e-6, Some(0.05), &["steps would have to be shorter than 0.05 s", "the local error of `", "larger error"]);
}
