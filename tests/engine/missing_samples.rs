//! Samples that are not there: NaN in a reference takes part nowhere.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{Simulation, TimeGrid};
use costate_identify::Result;
use costate_identify::optimise::{Flow, Method as Search};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Settings, identify};
use costate_models::double_pendulum::double_pendulum;
use costate_report::{output_errors, rmse};
use std::sync::Arc;

const STARTS: [[f64; 4]; 2] = [[2.6, 3.5, 3.0, -1.4], [3.9, 2.2, 0.5, 1.0]];

/// Two swings; of the second, samples from `length` on are not there.
fn problem(count: usize, length: usize) -> Result<Problem> {
    let system = Arc::new(double_pendulum(&STARTS)?);
    let nominal = system.signature().nominal();
    let simulation = Simulation::new(system.clone(), Hht::new(0.0)?, TimeGrid::steps(0.0, 2e-3, count)?, vec![])?;
    let trajectory = simulation.run(&nominal)?;
    let references = (0..4)
        .map(|output| {
            let mut values = trajectory.output(output);
            // something to fit, of which nothing follows from the model
            values.iter_mut().enumerate().for_each(|(i, y)| *y += 1e-3 * (1.7 * (i + 300 * output) as f64).sin());
            if output >= 2 {
                values[length..].fill(f64::NAN);
            }
            Reference { output, values, deviation: 1e-3 }
        })
        .collect();
    let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Unit)?;
    Ok(Problem { start: nominal, ..Problem::new("swings", simulation, Box::new(cost)) })
}

/// The problem of one swing of `length` samples, of two with one kept.
fn alone(swing: usize, length: usize, full: &Problem) -> Result<(f64, Vec<f64>)> {
    let grid = TimeGrid::steps(0.0, 2e-3, length - 1)?;
    let system = Arc::new(double_pendulum(&STARTS)?);
    let simulation = Simulation::new(system, Hht::new(0.0)?, grid, vec![])?;
    let given = full.first().cost.as_least_squares().unwrap().references();
    let references = given[2 * swing..2 * swing + 2]
        .iter()
        .map(|reference| Reference { values: reference.values[..length].to_vec(), ..reference.clone() })
        .collect();
    let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Unit)?;
    let mut gradient = vec![0.0; full.start.len()];
    let value = Gradient::new(&simulation, &cost)?.cost_and_gradient(&full.start, Method::Adjoint, &mut gradient)?;
    Ok((value, gradient))
}

/// Protects cost and derivatives: those of two swings, one shorter, are the sums of those of the swings alone; by adjoint and
/// tangents, and so for the Hessian's products against differences.
#[test]
fn a_shorter_swing_counts_as_far_as_it_goes() -> Result<()> {
    let both = problem(400, 251)?;
    let ((first, slopes), (second, more)) = (alone(0, 401, &both)?, alone(1, 251, &both)?);
    let expected: Vec<f64> = slopes.iter().zip(&more).map(|(a, b)| a + b).collect();
    let p = both.start.len();
    let mut engine = both.gradient()?;
    let scale = |k: usize| both.size(k);
    let largest = (0..p).fold(0.0f64, |s, k| s.max((expected[k] * scale(k)).abs()));
    for method in [Method::Adjoint, Method::Tangent] {
        let mut gradient = vec![0.0; p];
        let cost = engine.cost_and_gradient(&both.start, method, &mut gradient)?;
        assert!((cost / (first + second) - 1.0).abs() < 1e-12, "{cost} {first} {second}");
        for k in 0..p {
            // sums in another order, and Newton's floor
            assert!(((gradient[k] - expected[k]) * scale(k)).abs() < 1e-10 * largest, "{method:?} {k}");
        }
    }
    let direction: Vec<f64> = (0..p).map(|k| scale(k) * (1.0 + k as f64).sin()).collect();
    let (mut gradient, mut product) = (vec![0.0; p], vec![0.0; p]);
    engine.hessian_vector(&both.start, &direction, &mut gradient, &mut product)?;
    let mut at = |step: f64| -> Result<Vec<f64>> {
        let moved: Vec<f64> = both.start.iter().zip(&direction).map(|(u, d)| u + step * d).collect();
        let mut gradient = vec![0.0; p];
        engine.cost_and_gradient(&moved, Method::Adjoint, &mut gradient)?;
        Ok(gradient)
    };
    let (up, down) = (at(1e-5)?, at(-1e-5)?);
    let largest = (0..p).fold(0.0f64, |s, k| s.max((product[k] * scale(k)).abs()));
    for k in 0..p {
        let difference = (up[k] - down[k]) / 2e-5;
        assert!(((product[k] - difference) * scale(k)).abs() < 1e-6 * largest, "{k}: {} {difference}", product[k]);
    }
    Ok(())
}

/// Protects fits and their statistics: residuals are counted where there are samples, errors are means over them, and noise leaves
/// gaps as they are.
#[test]
fn statistics_count_the_samples_that_are_there() -> Result<()> {
    let problem = problem(400, 251)?;
    let settings = Settings { method: Some(Search::LevenbergMarquardt), ..Settings::default() };
    let found = identify(&problem, &settings, &mut |_| Flow::Continue)?;
    let statistics = Statistics::of(&problem, &found, Noise::Given)?;
    let lengths: Vec<usize> = statistics.outputs.iter().map(|output| output.residuals.len()).collect();
    assert_eq!(lengths, [401, 401, 251, 251]);
    assert!(statistics.outputs.iter().all(|output| output.times.len() == output.residuals.len()));
    let trajectory = problem.first().simulation.run(&found.values())?;
    let cost = problem.first().cost.as_least_squares().unwrap();
    for (error, output) in
        output_errors((cost, &[]), &problem.first().simulation, &trajectory).iter().zip(&statistics.outputs)
    {
        assert!((error.rmse / output.rmse() - 1.0).abs() < 1e-12);
        // a sine of 1 mrad
        assert!((error.rmse - 1e-3 / 2f64.sqrt()).abs() < 5e-5, "{}", error.rmse);
    }
    let noise = SyntheticNoise { seed: 5, level: NoiseLevel::Relative(0.01) };
    let noisy = cost.clone().with_noise(&noise, problem.first().simulation.signature())?;
    let gaps = |cost: &LeastSquares| cost.references().iter().map(|r| r.samples().count()).collect::<Vec<_>>();
    assert_eq!(gaps(&noisy), [401, 401, 251, 251]);
    assert!(noisy.added_noise().iter().all(|added| added.deviation.is_finite()));
    Ok(())
}

/// Protects figures: a sample without a weight, as the last one of a sum of rectangles, takes no part in the error of a fit,
/// whoever computes it.
#[test]
fn samples_without_a_weight_are_no_error() -> Result<()> {
    let grid = TimeGrid::steps(0.0, 2e-3, 100)?;
    let system = Arc::new(double_pendulum(&STARTS[..1])?);
    let simulation = Simulation::new(system.clone(), Hht::new(0.0)?, grid, vec![])?;
    let nominal = system.signature().nominal();
    let mut problem =
        Problem::synthetic("swing", simulation, &nominal, &nominal, &["arms.theta1"], Quadrature::Rectangle)?;
    let cost = problem.first().cost.as_least_squares().unwrap();
    assert_eq!(cost.weights().last(), Some(&0.0));
    let mut reference = cost.references()[0].clone();
    reference
        .values
        .iter_mut()
        .enumerate()
        .for_each(|(i, y)| *y += if i == 100 { 1.0 } else { 1e-3 * (i as f64).sin() });
    let times = problem.first().simulation.grid().times();
    problem.experiments[0].cost = Box::new(LeastSquares::new(times, vec![reference], 1, Quadrature::Rectangle)?);
    let statistics = Statistics::at(&problem, &nominal, &[], Noise::Estimated)?;
    let reported = rmse(&problem, &nominal)["arms.theta1"].as_f64().unwrap();
    assert!((reported / statistics.outputs[0].rmse() - 1.0).abs() < 1e-12 && reported < 2e-3, "{reported}");
    Ok(())
}

/// Protects against slips: a reference without any sample, and infinite values, are refused by name.
#[test]
fn references_without_samples_are_refused() {
    let refused = |values: Vec<f64>| {
        let reference = Reference { output: 0, values, deviation: 1.0 };
        LeastSquares::new(&[0.0, 1.0], vec![reference], 1, Quadrature::Unit).unwrap_err().to_string()
    };
    assert!(refused(vec![f64::NAN; 2]).contains("none of its samples is there"));
    let text = refused(vec![0.0, f64::INFINITY]);
    assert!(text.contains("t = 1 s") && text.contains("NaN"), "{text}");
}
