//! Identification by homotopy: a model that is pulled towards its record, with exact derivatives, and where that leads.

use costate::cost::Quadrature;
use costate::sensitivity::Method;
use costate::system::System;
use costate::{Model, Plain, Signal, Simulation, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::homotopy::{Homotopy, observed};
use costate_identify::optimise::{Flow, Method as Search};
use costate_identify::problem::Problem;
use costate_identify::{Identification, Settings, identify};
use costate_models::oscillator::Oscillator;
use costate_models::pendulum::Pendulum;
use costate_models::simple_pendulum::simple_pendulum;
use std::sync::Arc;

fn problem(system: Arc<dyn System>, scheme: &str, (step, steps): (f64, usize), off: f64, outputs: &[&str]) -> Problem {
    let inputs = system.signature().inputs.iter().map(|_| Signal::constant(0.0)).collect();
    let grid = TimeGrid::steps(0.0, step, steps).unwrap();
    let simulation = Simulation::new(system, scheme::by_name(scheme, &[]).unwrap(), grid, inputs).unwrap();
    let optimum = simulation.signature().nominal();
    let start: Vec<f64> = optimum.iter().map(|u| off * u).collect();
    Problem::synthetic("pulled", simulation, &optimum, &start, outputs, Quadrature::Unit).unwrap()
}

fn plain<M: Model + 'static>(model: M) -> Arc<dyn System> {
    Arc::new(Plain::new(model).unwrap())
}

/// Protects the gradient of a model that is pulled by half: the adjoint against tangents, and both against differences of the cost, for a free model whose
/// position and velocity pull, one with a constraint whose measured angle is no coordinate (so that rates have derivatives by positions), and one from
/// parts, with sparse matrices; by schemes of all kinds. And that it is another gradient than that of the model itself.
#[test]
fn gradients_of_pulled_models_are_exact() {
    let parts: Arc<dyn System> = Arc::new(simple_pendulum().unwrap());
    for scheme in ["generalized-alpha", "hht", "i2p", "bdf2", "ali3p"] {
        for (system, outputs) in [
            (plain(Oscillator), &["x", "v"][..]),
            (plain(Pendulum), &["angle"]),
            (parts.clone(), &["position.x", "position.y"]),
        ] {
            let what = format!("{} by {scheme}", system.signature().name);
            let problem = problem(system, scheme, (0.01, 60), 1.05, outputs);
            let pulled = observed(&problem, &problem.start, &Homotopy::default(), 0.5).unwrap();
            let count = problem.start.len();
            let of = |problem: &Problem, method| {
                let mut gradient = vec![0.0; count];
                problem.gradient().unwrap().cost_and_gradient(&problem.start, method, &mut gradient).unwrap();
                gradient
            };
            let (adjoint, tangent) = (of(&pulled, Method::Adjoint), of(&pulled, Method::Tangent));
            let largest = tangent.iter().fold(0.0f64, |size, slope| size.max(slope.abs()));
            assert!(largest > 0.0, "{what}");
            let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest;
            assert!(gap(&adjoint, &tangent) < 1e-10, "{what}: {adjoint:?}, {tangent:?}");
            let differences: Vec<f64> =
                pulled.gradient().unwrap().differences(&pulled.start).unwrap().iter().map(|d| d.value).collect();
            assert!(gap(&differences, &tangent) < 1e-6, "{what}: {differences:?}, {tangent:?}");
            assert!(gap(&of(&problem, Method::Adjoint), &tangent) > 1e-3, "{what}: nothing pulls");
        }
    }
}

/// An oscillator over twenty periods, which hardly fade, so far off in stiffness, which alone is unknown; without noise.
fn swings(off: f64) -> Problem {
    let system = plain(Oscillator);
    let grid = TimeGrid::steps(0.0, 0.025, 800).unwrap();
    let scheme = scheme::by_name("generalized-alpha", &[]).unwrap();
    let simulation = Simulation::new(system, scheme, grid, vec![Signal::constant(0.0)]).unwrap();
    let mut optimum = simulation.signature().nominal();
    optimum[2] = 0.05;
    let mut start = optimum.clone();
    start[1] *= off;
    let mut problem = Problem::synthetic("swings", simulation, &optimum, &start, &["x"], Quadrature::Unit).unwrap();
    problem.parameters[2].free = false;
    problem
}

fn fit(problem: &Problem, homotopy: Option<Homotopy>, method: Search) -> Result<Identification> {
    let settings = Settings { method: Some(method), homotopy, ..Settings::default() };
    identify(problem, &settings, &mut |_| Flow::Continue)
}

/// Protects what it is for: from frequencies 30 % off, too low and too high, a plain fit of twenty periods ends elsewhere, and one with homotopy at the
/// parameters that made the record; the last fit has no pull, and the account has every fit.
#[test]
fn frequencies_that_are_far_off_are_found() {
    for off in [0.7f64.powi(2), 1.3f64.powi(2)] {
        let problem = swings(off);
        let alone = fit(&problem, None, Search::LevenbergMarquardt).unwrap();
        assert!((alone.values()[1] / 40.0 - 1.0).abs() > 0.1, "{off}: {:?}", alone.values());
        for method in [Search::LevenbergMarquardt, Search::Bfgs] {
            let found = fit(&problem, Some(Homotopy::default()), method).unwrap();
            let result = found.homotopy.as_ref().unwrap();
            let stiffness = found.values()[1];
            assert!((stiffness / 40.0 - 1.0).abs() < 1e-6, "{off} by {method}: {stiffness}\n{}", result.report());
            assert!(result.helped && found.outcome.converged, "{}", result.report());
            let shares: Vec<Option<f64>> = result.stages.iter().map(|stage| stage.share).collect();
            assert!(shares[..2] == [None, Some(1.0)] && shares.last() == Some(&Some(0.0)), "{shares:?}");
            let numbers: Vec<usize> = found.outcome.history.iter().map(|iteration| iteration.number).collect();
            assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
            assert_eq!(numbers.len(), found.history.len());
            assert_eq!(found.parameters[1].start, 40.0 * off);
        }
    }
}

/// Protects the last fit: it is the plain one from where the one before has ended, to the last bit; and a share of zero is the problem itself.
#[test]
fn the_last_fit_is_a_plain_one() {
    let problem = swings(0.7f64.powi(2));
    let found = fit(&problem, Some(Homotopy::default()), Search::LevenbergMarquardt).unwrap();
    let result = found.homotopy.as_ref().unwrap();
    let last = result.stages.last().and_then(|stage| stage.first_iteration).unwrap();
    let mut from = swings(1.0);
    from.start.clone_from(&found.history[last]);
    let again = fit(&from, None, Search::LevenbergMarquardt).unwrap();
    assert_eq!((again.values(), again.outcome.cost), (found.values(), found.outcome.cost));
    let none = observed(&problem, &problem.start, &Homotopy::default(), 0.0).unwrap();
    let cost = |problem: &Problem| problem.gradient().unwrap().cost(&problem.start).unwrap();
    assert_eq!(cost(&none).to_bits(), cost(&problem).to_bits());
}

/// Protects people: what cannot work is refused with a remedy, and a homotopy that was not needed says that it did not help.
#[test]
fn what_does_not_help_is_told() {
    let near = swings(1.001);
    let found = fit(&near, Some(Homotopy { stages: 2, gain: 3.0 }), Search::LevenbergMarquardt).unwrap();
    let result = found.homotopy.unwrap();
    assert!(!result.helped && result.sentence.contains("did not help"), "{}", result.sentence);
    let refused = |problem: &Problem, homotopy: Homotopy, method: Search| {
        fit(problem, Some(homotopy), method).unwrap_err().to_string()
    };
    let error = refused(&near, Homotopy::default(), Search::NewtonTrustRegion);
    assert!(error.contains("newton-tr") && error.contains("take lm"), "{error}");
    let accelerations = problem(plain(Oscillator), "hht", (0.01, 50), 1.1, &["a"]);
    let error = refused(&accelerations, Homotopy::default(), Search::LevenbergMarquardt);
    assert!(error.contains("accelerations") && error.contains("many starts"), "{error}");
    let error = refused(&near, Homotopy { stages: 0, gain: 3.0 }, Search::LevenbergMarquardt);
    assert!(error.contains("0 stages"), "{error}");
}
