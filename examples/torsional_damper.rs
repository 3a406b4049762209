//! The run-up of `torsional_damper`: makes its record, and draws its Campbell diagram with the natural frequencies.
//!
//! `cargo run --release --example torsional_damper [-- FOLDER]` (default: out/torsional_damper)
//!
//! The record, `run_up.csv`, is what `examples/torsional_damper.toml` fits: the twist between both ends of the crankshaft and the speed of
//! the flywheel, at 1.6 kHz over 4 s from 1000 to 6000 revolutions a minute, with noise of 1 % of the twist's root mean square.

use costate::cost::spectrum::{Lines, Spectrum, SpectrumPart, SpeedUnit, Window};
use costate::cost::{LeastSquares, Quadrature, Reference, Sensor, Sensors};
use costate::modes::{Character, Modes};
use costate::random::SplitMix64;
use costate::{Model, Plain, Signal, Simulation, TimeGrid};
use costate_identify::problem::Integrator;
use costate_identify::{Error, Result};
use costate_models::torsional_damper::TorsionalDamper;
use costate_report::plot::{Order, campbell};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

const SAMPLE: f64 = 6.25e-4;
const SAMPLES: usize = 6400;
/// Steps of the simulation between two samples: so many that halving them changes nothing that can be seen.
const STEPS: usize = 32;
const RPM: f64 = 60.0 / std::f64::consts::TAU;

/// The speed that the dynamometer is to hold, rad/s.
fn asked(t: f64) -> f64 {
    (1000.0 + 1250.0 * t) / RPM
}

fn nominal(settings: &[(&str, f64)]) -> Result<Vec<f64>> {
    let signature = TorsionalDamper::default().signature();
    let mut u = signature.nominal();
    for (name, value) in settings {
        u[signature.parameter_index(name)?] = *value;
    }
    Ok(u)
}

fn simulation(count: usize, step: f64) -> Result<Simulation> {
    let grid = TimeGrid::steps(0.0, step, count)?;
    let system = Arc::new(Plain::new(TorsionalDamper::default())?);
    Integrator::hht(0.0).simulation(system, grid, vec![Signal::function(asked)])
}

/// Every sample of an output of the run-up.
fn outputs(u: &[f64]) -> Result<[Vec<f64>; 2]> {
    let run = simulation(SAMPLES * STEPS, SAMPLE / STEPS as f64)?.run(u)?;
    Ok([0, 3].map(|output| run.output(output).into_iter().step_by(STEPS).collect()))
}

/// Orders of an output that was sampled with the speed (rpm).
fn orders(output: Vec<f64>, speed: Vec<f64>) -> Result<Vec<Order>> {
    let times: Vec<f64> = (0..output.len()).map(|i| SAMPLE * i as f64).collect();
    let lines = Lines::Orders {
        orders: vec![2.0, 4.0, 6.0],
        speed,
        speeds: (0..86).map(|k| 1500.0 + 50.0 * f64::from(k)).collect(),
        unit: SpeedUnit::RevolutionsPerMinute,
        revolutions: 8.0,
    };
    let spectrum = Some(Spectrum { lines, window: Window::Hann, part: SpectrumPart::Amplitude });
    let reference = Reference { output: 0, values: output, deviation: 1.0 };
    let sensors = Sensors::new(vec![Sensor { spectrum, ..Sensor::new(0) }])?;
    let cost = LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit)?.with_sensors(sensors, &times)?;
    let mut found: Vec<Order> = Vec::new();
    for value in cost.lines(0) {
        let (order, speed) = (value.line.at, value.line.speed.unwrap_or_default());
        if found.iter().all(|own| own.order != order) {
            found.push(Order { order, speeds: Vec::new(), amplitudes: Vec::new() });
        }
        if let Some(own) = found.iter_mut().find(|own| own.order == order) {
            own.speeds.push(speed);
            own.amplitudes.push(cost.references()[0].values[value.sample] / value.scale);
        }
    }
    Ok(found)
}

/// Natural frequencies at rest, with nothing that drives the train.
fn natural_frequencies(settings: &[(&str, f64)]) -> Result<Vec<(String, f64)>> {
    let at_rest = [settings, &[("gas", 0.0), ("control", 0.0), ("start_speed", 0.0)]].concat();
    let found = Modes::of(&simulation(1, SAMPLE)?, &nominal(&at_rest)?)?;
    let swings = found.modes.iter().filter(|mode| mode.character() == Character::Oscillation);
    let within = swings.map(|mode| mode.natural_frequency()).filter(|f| (50.0..700.0).contains(f));
    Ok(within.map(|f| (format!("{f:.0} Hz"), f)).collect())
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out/torsional_damper".into()));
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::io("create", &folder, error, "name a folder that can be written"))?;
    let begin = ("start_speed", asked(0.0));
    let [twist, speed] = outputs(&nominal(&[begin])?)?;
    let size = (twist.iter().map(|x| x * x).sum::<f64>() / twist.len() as f64).sqrt();
    let mut random = SplitMix64::new(1);
    let mut text = String::from("t,speed [rad/s],crank_speed [rpm],twist [rad]\n");
    for (i, (twist, speed)) in twist.iter().zip(&speed).enumerate() {
        let t = SAMPLE * i as f64;
        let measured = twist + 0.01 * size * random.normal();
        let _ = writeln!(text, "{t},{:.4},{:.2},{measured:.3e}", asked(t), RPM * speed); // a text takes everything
    }
    costate_data::files::write_atomically(&folder.join("run_up.csv"), text.as_bytes())?;
    println!(
        "{} samples, twist {size:.3e} rad (root mean square) with noise of 1 %: {}",
        twist.len(),
        folder.join("run_up.csv").display()
    );
    // a ring that hardly holds is none
    for (name, settings) in [("with damper", vec![begin]), ("without damper", vec![begin, ("k", 1.0), ("d", 0.0)])] {
        let [twist, speed] = outputs(&nominal(&settings)?)?;
        let found = orders(twist, speed.iter().map(|speed| RPM * speed).collect())?;
        for Order { order, speeds, amplitudes } in &found {
            let (at, most) = speeds.iter().zip(amplitudes).fold((0.0, 0.0), |most, (speed, amplitude)| {
                if *amplitude > most.1 { (*speed, *amplitude) } else { most }
            });
            println!("{name}: order {order} twists the crankshaft most at {at} rpm, by {:.3}°", most.to_degrees());
        }
        let natural = natural_frequencies(&settings)?;
        let figure = campbell((&format!("twist {name}"), "rad"), ("speed [rpm]", 1.0 / 60.0), &found, &natural)?;
        let path = folder.join(format!("campbell_{}.svg", name.replace(' ', "_")));
        figure.write_svg(&path)?;
        figure.write_png(path.with_extension("png"))?;
    }
    Ok(())
}
