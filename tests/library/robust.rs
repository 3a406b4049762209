//! Robust losses: outliers that do not matter, and exact derivatives.

use crate::statistics::problems::{Noisy, TwoSprings, close, even, problem, simulation};
use costate::cost::{Loss, Quadrature, Reference};
use costate::sensitivity::Method;
use costate_identify::optimise::{Flow, Method as Search};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Identification, Settings, identify};

const SIGMA: f64 = 1e-3;
const TRUTH: [f64; 4] = [1.0, 30.0, 10.0, 0.8];
const LOSSES: [Loss; 2] = [Loss::Huber { scale: 1.345 }, Loss::SoftL1 { scale: 1.345 }];

/// A record of a position, of which a part `outliers` of the samples is off by up to 40 deviations, all to one side.
fn record(seed: u64, outliers: f64, loss: Loss) -> Problem {
    let simulation = simulation(TwoSprings, &even(600, 0.01));
    let mut noisy = Noisy(seed);
    let mut value = |y: f64| {
        let off = if noisy.uniform() < outliers { 40.0 * noisy.uniform() } else { 0.0 };
        y + SIGMA * (noisy.normal() + off)
    };
    let values = simulation.run(&TRUTH).unwrap().output(0).into_iter().map(&mut value).collect();
    let reference = Reference { output: 0, values, deviation: SIGMA };
    let mut problem = problem(simulation, vec![reference], Quadrature::Unit, &[1.0, 25.0, 10.0, 0.5]);
    problem.parameters[2].free = false;
    let cost = problem.first().cost.as_least_squares().unwrap().clone().with_loss(None, loss);
    problem.experiments[0].cost = Box::new(cost);
    problem
}

fn fit(problem: &Problem, method: Search) -> Identification {
    let settings = Settings { method: Some(method), ..Settings::default() };
    let found = identify(problem, &settings, &mut |_| Flow::Continue).unwrap();
    assert!(found.outcome.converged, "{method}: {}", found.reason());
    found
}

/// Protects what a robust loss is for: with 5 % of outliers, parameters are nearer to the truth than those of the plain fit, standard
/// errors are honest, and the statistics say how many samples are weighed down. Every method ends at the same values.
#[test]
fn outliers_do_not_matter() {
    let errors = |loss: Loss| {
        let (mut squares, mut scaled) = (0.0, 0.0);
        for seed in 0..40 {
            let problem = record(seed, 0.05, loss);
            let found = fit(&problem, Search::LevenbergMarquardt);
            let statistics = Statistics::of(&problem, &found, Noise::Given).unwrap();
            for k in [1, 3] {
                let off = found.parameters[k].value - TRUTH[k];
                squares += (off / TRUTH[k]).powi(2) / 80.0;
                scaled += (off / statistics.parameters[k].standard_error).powi(2) / 80.0;
            }
        }
        (squares.sqrt(), scaled.sqrt())
    };
    let (plain, honest) = errors(Loss::Squares);
    println!("squares: {plain:.3e} of the values, {honest:.2} standard errors");
    for loss in LOSSES {
        let (robust, honest) = errors(loss);
        println!("{}: {robust:.3e} of the values, {honest:.2} standard errors", loss.name());
        assert!(robust < 0.4 * plain, "{}: {robust} against {plain}", loss.name());
        assert!((0.7..1.4).contains(&honest), "{}: {honest}", loss.name());
    }
    let problem = record(1, 0.05, LOSSES[0]);
    let found = fit(&problem, Search::LevenbergMarquardt);
    let statistics = Statistics::of(&problem, &found, Noise::Given).unwrap();
    let down = statistics.down_weighted.unwrap();
    println!("{} evaluations, {down} samples weighed down", found.outcome.evaluations);
    assert!((100..180).contains(&down), "{down}: 18 % of the good ones, and the outliers");
    assert!(statistics.summary().contains(&format!("a robust loss was used: it weighs down {down} of 600 samples")));
    for method in [Search::GaussNewton, Search::Bfgs, Search::NewtonTrustRegion] {
        let other = fit(&problem, method);
        for k in [1, 3] {
            close(other.parameters[k].value, found.parameters[k].value, 1e-6, &format!("{method}"));
        }
    }
}

/// Protects the derivatives: adjoint, tangents and rows of residuals give one gradient, and Hessian products are those of differences.
#[test]
fn derivatives_of_robust_losses_are_exact() {
    for loss in LOSSES {
        let problem = record(5, 0.05, loss);
        let u = [1.0, 29.0, 10.3, 0.7];
        let mut ensemble = problem.gradient().unwrap();
        let (mut adjoint, mut tangent) = (vec![0.0; 4], vec![0.0; 4]);
        let cost = ensemble.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
        ensemble.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
        let linearised = ensemble.linearise(&u, &problem.least_squares().unwrap()).unwrap();
        close(linearised.cost(), cost, 1e-12, "cost of the rows");
        let differences = ensemble.differences(&u).unwrap();
        for k in 0..4 {
            close(tangent[k], adjoint[k], 1e-11, "tangent");
            close(linearised.gradient()[k], adjoint[k], 1e-11, "rows");
            close(differences[k].value, adjoint[k], 1e-5, "differences");
        }
        let direction = [0.0, 0.4, 0.0, -0.1];
        let (mut gradient, mut product) = (vec![0.0; 4], vec![0.0; 4]);
        ensemble.hessian_vector(&u, &direction, &mut gradient, &mut product).unwrap();
        // Huber's curvature jumps where a sample passes the scale: a step that is short enough for none to pass
        let mut beside = |h: f64| {
            let at: Vec<f64> = u.iter().zip(direction).map(|(u, d)| u + h * d).collect();
            let mut slope = vec![0.0; 4];
            ensemble.cost_and_gradient(&at, Method::Adjoint, &mut slope).unwrap();
            slope
        };
        let (after, before) = (beside(1e-5), beside(-1e-5));
        for k in 0..4 {
            close(product[k], (after[k] - before[k]) / 2e-5, 1e-5, &format!("{} Hessian", loss.name()));
        }
    }
}

/// Protects plain squares: losses with a scale that nothing reaches give the same fit; and refusals.
#[test]
fn losses_without_outliers_are_squares() {
    let plain = fit(&record(2, 0.0, Loss::Squares), Search::LevenbergMarquardt);
    let wide = fit(&record(2, 0.0, Loss::Huber { scale: 50.0 }), Search::LevenbergMarquardt);
    for k in [1, 3] {
        close(wide.parameters[k].value, plain.parameters[k].value, 1e-9, "value");
    }
    for (name, scale, words) in [
        ("hubber", None, "did you mean `huber`?"),
        ("huber", Some(0.0), "loss_scale: 0 is not positive; give a scale from 0.001"),
        ("soft-l1", Some(f64::NAN), "loss_scale: NaN is not positive"),
        ("squares", Some(2.0), "plain squares have no scale"),
    ] {
        let message = Loss::named(name, scale).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    }
    let message = record(2, 0.0, LOSSES[0]).estimate_deviation("x").err().unwrap().to_string();
    assert!(message.contains("a robust loss is no likelihood"), "{message}");
}
