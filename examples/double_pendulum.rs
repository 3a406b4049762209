//! A real double pendulum (Kaheman et al. 2023), 26 swings with unknown initial states: what they determine of the ten physical
//! parameters, and how well.
//!
//! `cargo run --release --example double_pendulum -- FILE.csv` (columns segment, t, theta1, theta2, omega1, omega2; default:
//! train.csv in `$COSTATE_DATA/double_pendulum` or `../shared/data/double_pendulum`)

use costate::data::Record;
use costate::identify::{Settings, identify};
use costate::optimise::{Flow, Method};
use costate::report::{number, output_errors, table};
use costate::statistics::{Noise, Statistics, identifiability};
use costate_models::double_pendulum::{PHYSICAL, measured, ratios};
use std::path::PathBuf;

/// The ratios that Kaheman et al.'s estimates amount to.
const PUBLISHED: [(&str, f64); 6] = [
    ("H11/H22", 1.798),
    ("H12/H22", 0.8835),
    ("G1/H22 [1/s^2]", 105.95),
    ("G2/H22 [1/s^2]", 50.02),
    ("k1/H22 [1/s]", 0.059),
    ("k2/H22 [1/s]", 0.007),
];

fn main() -> costate::Result<()> {
    let file = std::env::args().nth(1).map(PathBuf::from).unwrap_or_else(|| {
        let data = std::env::var_os("COSTATE_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
        data.join("double_pendulum/train.csv")
    });
    let record = Record::read_csv(&file)?;
    // every determined parameter off: a1, L1, I1, I2, k1, k2
    let mut physical = PHYSICAL.map(|(.., nominal, _)| nominal);
    for (k, factor) in [(2, 0.8), (4, 1.2), (5, 1.3), (6, 0.8), (7, 0.3), (8, 3.0)] {
        physical[k] *= factor;
    }
    let settings = Settings { method: Method::LevenbergMarquardt, ..Settings::default() };
    let mut rows = Vec::new();
    let mut known: Option<Vec<f64>> = None;
    // over long swings, small errors of the parameters grow: the horizon grows with what is known
    for (end, substeps) in [(0.3, 1), (1.0, 1), (3.0, 1), (3.0, 4)] {
        let mut problem = measured(&record, usize::MAX, end, substeps, physical)?;
        if let Some(values) = known.take() {
            problem.start = values;
        }
        let found = identify(&problem, &settings, &mut |_| Flow::Continue)?;
        let values = found.values();
        let samples = problem.simulation.grid().count() / substeps + 1;
        let trajectory = problem.simulation.run(&values)?;
        let errors = match problem.cost.as_least_squares() {
            Some(cost) => output_errors(cost, &problem.simulation, &trajectory),
            None => Vec::new(),
        };
        let rms = |first: usize| {
            let squares = errors.iter().skip(first).step_by(2).map(|error| error.rmse * error.rmse);
            (squares.sum::<f64>() / (errors.len() / 2) as f64).sqrt()
        };
        let both = ((rms(0).powi(2) + rms(1).powi(2)) / 2.0).sqrt();
        let worst = errors.iter().fold(0.0f64, |worst, error| worst.max(error.rmse));
        rows.push(vec![
            number(problem.simulation.grid().times()[problem.simulation.grid().count()]),
            samples.to_string(),
            substeps.to_string(),
            number(1e3 * rms(0)),
            number(1e3 * rms(1)),
            number(1e3 * both),
            number(1e3 * worst),
            found.outcome.evaluations.to_string(),
            number(found.seconds),
        ]);
        eprintln!(
            "up to {end} s: {} ({} evaluations, {:.1} s)",
            found.reason(),
            found.outcome.evaluations,
            found.seconds
        );
        if (end, substeps) == (3.0, 4) {
            let statistics = Statistics::of(&problem, &found, Noise::Estimated)?;
            let listed = |k: usize| {
                let estimate = &found.parameters[k];
                let error = statistics.parameters.iter().find(|p| p.name == estimate.name);
                let error = error.map_or("fixed".to_string(), |p| number(p.standard_error));
                vec![
                    estimate.name.clone(),
                    estimate.unit.clone(),
                    number(estimate.start),
                    number(estimate.value),
                    error,
                ]
            };
            let parameters: Vec<Vec<String>> = (0..10).map(listed).collect();
            println!("{}", table(&["parameter", "unit", "start", "found", "standard error"], &parameters));
            let compared: Vec<Vec<String>> = PUBLISHED
                .iter()
                .zip(ratios(&values))
                .map(|((name, published), ratio)| {
                    let off = format!("{:+.2} %", 100.0 * (ratio / published - 1.0));
                    vec![name.to_string(), number(*published), number(ratio), off]
                })
                .collect();
            println!("{}", table(&["determined", "published", "found", "difference"], &compared));
            // what would be known with all ten free
            problem.parameters.iter_mut().for_each(|parameter| parameter.free = true);
            let analysis = identifiability(&problem, &values)?;
            let count = 10 - analysis.undetermined.len();
            println!("with all ten free, {count} combinations are determined; what the record leaves open:");
            for direction in &analysis.undetermined {
                println!("  {direction}{}", direction.explanation().map_or(String::new(), |text| format!(": {text}")));
            }
            println!();
        }
        known = Some(values);
    }
    let header = [
        "until [s]",
        "samples",
        "substeps",
        "RMSE theta1 [mrad]",
        "theta2 [mrad]",
        "both [mrad]",
        "worst swing [mrad]",
        "simulations",
        "time [s]",
    ];
    println!("{}", table(&header, &rows));
    Ok(())
}
