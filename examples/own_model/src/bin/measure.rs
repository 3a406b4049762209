//! Writes the records of this folder: simulations with true values, at steps of a twentieth of the sampling time, with noise.
//!
//! `cargo run --release --bin measure -- FOLDER`

use costate::random::SplitMix64;
use costate::{Signal, TimeGrid};
use costate_cli::Result;
use costate_cli::data::Record;
use costate_cli::problem::Integrator;
use std::path::Path;

/// What an identification is to find.
const TRUTH: [(&str, f64); 7] =
    [("J_m", 0.062), ("J_a", 0.118), ("k", 74.0), ("d", 0.09), ("b", 0.24), ("dry", 0.35), ("G", 3.4)];
/// Standard deviations of the noise of the encoder (rad) and of the accelerometer (m/s²).
const NOISE: [f64; 2] = [2e-3, 0.1];
/// Sampling time, s.
const SAMPLING: f64 = 5e-3;
const SAMPLES: usize = 1601;
/// Steps between two samples.
const SUBSTEPS: usize = 20;

/// Current over time, A.
type Current = fn(f64) -> f64;

/// Name, seed of the noise, where the encoder stood when it was switched on (rad), and current.
const RECORDS: [(&str, u64, f64, Current); 3] = [
    ("sines", 1, 0.021, |t| 0.4 * (1.9 * t).sin() + 0.5 * (8.3 * t).sin() + 0.6 * (23.0 * t).sin()),
    ("slow", 2, -0.013, |t| 0.7 * (1.3 * t).sin() + 0.3 * (31.0 * t).sin()),
    ("sweep", 3, 0.008, |t| 0.5 * (t + 1.5 * t * t).sin()),
];

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    RECORDS.iter().try_for_each(|record| measure(Path::new(&folder), *record))
}

fn measure(folder: &Path, (name, seed, zero, current): (&str, u64, f64, Current)) -> Result<()> {
    let registry = flexible_arm::registry()?;
    let system = registry.get("flexible_arm")?.system.clone();
    let values: Vec<(String, f64)> =
        TRUTH.into_iter().chain([("zero", zero)]).map(|(name, value)| (name.to_string(), value)).collect();
    let values = system.parameters_with(&values)?;

    let end = SAMPLING * (SAMPLES - 1) as f64;
    let grid = TimeGrid::uniform(0.0, end, SAMPLING / SUBSTEPS as f64)?;
    let simulation = Integrator::default().simulation(system, grid, vec![Signal::function(current)])?;
    let motion = simulation.run(&values)?;

    let mut random = SplitMix64::new(seed);
    let mut sensor = |k: usize, scale: f64| -> Vec<f64> {
        let samples = motion.output(k).into_iter().step_by(SUBSTEPS);
        samples.map(|y| ((y + NOISE[k] * random.normal()) * scale).round() / scale).collect()
    };
    let (encoder, acceleration) = (sensor(0, 1e5), sensor(1, 1e3));
    let times: Vec<f64> = (0..SAMPLES).map(|i| i as f64 * 5.0 / 1e3).collect();
    let current = times.iter().map(|t| (current(*t) * 1e4).round() / 1e4).collect();
    let columns = [("t [s]", times), ("current [A]", current), ("encoder [rad]", encoder), ("acc", acceleration)];
    Ok(Record::from_columns(columns)?.write_csv(&folder.join(format!("{name}.csv")))?)
}
