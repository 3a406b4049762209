//! A real double pendulum (Kaheman et al. 2023), 26 swings with unknown initial states: what they determine of the ten physical
//! parameters, and how well.
//!
//! `cargo run --release --example double_pendulum -- FILE.csv` (columns segment, t, theta1, theta2, omega1, omega2; default:
//! train.csv in `$COSTATE_DATA/double_pendulum` or `../shared/data/double_pendulum`)

use costate::shown::number;
use costate_data::Record;
use costate_identify::optimise::{Flow, Method};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Noise, Statistics, identifiability};
use costate_identify::table::table;
use costate_identify::{Identification, Settings, Status, identify};
use costate_models::double_pendulum::{PHYSICAL, REFINEMENTS, measured, ratios};
use costate_report::problem_errors;
use std::path::PathBuf;

/// What swings determine, H22 being I2 + m2 a2².
const RATIOS: [&str; 6] = ["H11/H22", "H12/H22", "G1/H22 [1/s^2]", "G2/H22 [1/s^2]", "k1/H22 [1/s]", "k2/H22 [1/s]"];

fn main() -> costate_identify::Result<()> {
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
    let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
    let mut rows = Vec::new();
    let mut known: Option<Vec<f64>> = None;
    // over long swings, small errors of the parameters grow: the horizon grows with what is known
    let all = REFINEMENTS.map(|(name, ..)| name);
    let stages: [(f64, usize, &str, &[&str]); 11] = [
        (0.3, 1, "viscous", &[]),
        (0.6, 1, "viscous", &[]),
        (1.0, 1, "viscous", &[]),
        (1.5, 1, "viscous", &[]),
        (1.8, 1, "viscous", &[]),
        (3.0, 1, "viscous", &[]),
        (3.0, 1, "and air", &["drag2"]),
        (3.0, 1, "and dry, first joint", &["drag2", "dry1"]),
        (3.0, 1, "and dry, both", &["drag2", "dry1", "dry2"]),
        (3.0, 1, "and offsets", &all),
        (3.0, 2, "and offsets", &all),
    ];
    let mut found_ratios = Vec::new();
    for (end, substeps, friction, freed) in stages {
        let mut problem = measured(&record, usize::MAX, end, substeps, physical)?;
        let places = PHYSICAL.len()..PHYSICAL.len() + REFINEMENTS.len();
        problem.parameters[places].iter_mut().for_each(|p| p.free = freed.contains(&p.name.as_str()));
        if let Some(values) = known.take() {
            problem.start = values;
        }
        let found = identify(&problem, &settings, &mut |_| Flow::Continue)?;
        let [first, second, worst] = errors(&problem, &found)?;
        let both = ((first * first + second * second) / 2.0).sqrt();
        let times = problem.first().simulation.grid().times();
        eprintln!("up to {end} s: {} ({:.1} s)", found.reason(), found.seconds);
        rows.push(vec![
            friction.to_string(),
            number(times[times.len() - 1]),
            substeps.to_string(),
            number(1e3 * first),
            number(1e3 * second),
            number(1e3 * both),
            number(1e3 * worst),
            found.outcome.evaluations.to_string(),
            number(found.seconds),
        ]);
        let values = found.values();
        let until = [friction.to_string(), number(times[times.len() - 1]), substeps.to_string()];
        found_ratios.push(until.into_iter().chain(ratios(&values).map(number)).collect());
        // what all of a swing says with the least and with the most of what is free
        if end > 1.8 && (freed.is_empty() || freed.len() == all.len()) {
            account(&mut problem, &found)?;
        }
        known = Some(values);
    }
    let header = [
        "friction",
        "until [s]",
        "substeps",
        "RMSE theta1 [mrad]",
        "theta2 [mrad]",
        "both [mrad]",
        "worst of a swing [mrad]",
        "simulations",
        "time [s]",
    ];
    println!("{}", table(&header, &rows));
    let header: Vec<&str> = ["friction", "until [s]", "substeps"].into_iter().chain(RATIOS).collect();
    println!("{}", table(&header, &found_ratios));
    Ok(())
}

/// Root mean squares of the errors of the first angle, of the second, and the largest one of a swing's angle, rad.
fn errors(problem: &Problem, found: &Identification) -> costate_identify::Result<[f64; 3]> {
    let errors = problem_errors(problem, &found.values())?;
    let mean = |first: usize| {
        let squares = errors.iter().skip(first).step_by(2).map(|error| error.rmse * error.rmse);
        (squares.sum::<f64>() / (errors.len() / 2) as f64).sqrt()
    };
    Ok([mean(0), mean(1), errors.iter().fold(0.0, |worst, error| worst.max(error.rmse))])
}

/// What was found of the physical parameters and their ratios, and what would be determined with all ten of them free.
fn account(problem: &mut Problem, found: &Identification) -> costate_identify::Result<()> {
    let statistics = Statistics::of(problem, found, Noise::Estimated)?;
    let listed = |k: usize| {
        let estimate = &found.parameters[k];
        let error = statistics.parameters.iter().find(|p| p.name == estimate.name).map(|p| p.standard_error);
        let error = match (estimate.status, error) {
            (Status::Free, Some(error)) => number(error),
            (status, _) => status.name().to_string(),
        };
        vec![estimate.name.clone(), estimate.unit.clone(), number(estimate.value), error]
    };
    let parameters: Vec<Vec<String>> = (0..PHYSICAL.len() + REFINEMENTS.len()).map(listed).collect();
    println!("{}", table(&["parameter", "unit", "found", "standard error"], &parameters));
    let values = found.values();
    // the length of the first arm follows from what is determined and from gravity, the last of the physical parameters
    let determined = |values: &[f64]| {
        let all = ratios(values);
        all.into_iter().chain([values[PHYSICAL.len() - 1] * all[1] / all[3]])
    };
    let compared: Vec<Vec<String>> = RATIOS
        .into_iter()
        .chain(["L1 = g H12/G2 [m]"])
        .zip(determined(&PHYSICAL.map(|(.., nominal, _)| nominal)))
        .zip(determined(&values))
        .map(|((name, published), ratio)| {
            let off = format!("{:+.2} %", 100.0 * (ratio / published - 1.0));
            vec![name.to_string(), number(published), number(ratio), off]
        })
        .collect();
    println!("{}", table(&["determined", "published", "found", "difference"], &compared));
    problem.parameters[..PHYSICAL.len()].iter_mut().for_each(|parameter| parameter.free = true);
    let analysis = identifiability(problem, &values)?;
    let count = PHYSICAL.len() - analysis.undetermined.len();
    println!("with all ten free, {count} combinations are determined; what the record leaves open:");
    for direction in &analysis.undetermined {
        println!("  {direction}{}", direction.explanation().map_or(String::new(), |text| format!(": {text}")));
    }
    println!();
    Ok(())
}
