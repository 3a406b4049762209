//! Work and precision of the schemes: errors of positions and accelerations against time, over step sizes, on models with constraints;
//! with a figure for one of them.
//!
//! `cargo run --release --example schemes -- [MODEL..]` prints tables and writes `plots/schemes.svg`.

use costate::plot::{self, Axis};
use costate::problem::Integrator;
use costate::registry::Entry;
use costate::system::{Level, Point};
use costate::{Result, Trajectory};
use std::time::Instant;

const SCHEMES: [&str; 6] = ["hht", "generalized-alpha", "i2p", "ali3p", "bdf2", "trapezoidal"];
/// Steps in each run, beside those of the coarsest.
const REFINEMENTS: [usize; 4] = [1, 2, 4, 8];
/// Steps of the reference beside those of the finest run.
const REFERENCE: usize = 16;

fn run(entry: &Entry, scheme: &str, step: f64, end: f64) -> Result<(Trajectory, f64)> {
    let mut scenario = entry.scenario.clone();
    (scenario.step, scenario.end) = (step, end);
    scenario.integrator = Integrator { scheme: scheme.into(), settings: Vec::new(), ..scenario.integrator };
    let simulation = entry.simulation(&scenario)?;
    let u = entry.system.signature().nominal();
    let began = Instant::now();
    Ok((simulation.run(&u)?, began.elapsed().as_secs_f64()))
}

/// Largest error of positions and accelerations, beside the largest of the reference; times of the run are among those of the reference.
fn errors(run: &Trajectory, reference: &Trajectory) -> [f64; 2] {
    let stride = (reference.times().len() - 1) / (run.times().len() - 1);
    let (mut errors, mut sizes) = ([0.0f64; 2], [f64::MIN_POSITIVE; 2]);
    for i in 0..run.times().len() {
        let (x, exact) = (run.state(i), reference.state(i * stride));
        for (kind, (x, exact)) in [(x.q, exact.q), (x.a, exact.a)].into_iter().enumerate() {
            for (x, exact) in x.iter().zip(exact) {
                errors[kind] = errors[kind].max((x - exact).abs());
                sizes[kind] = sizes[kind].max(exact.abs());
            }
        }
    }
    [errors[0] / sizes[0], errors[1] / sizes[1]]
}

/// The largest violation of constraints in velocity.
fn drift(entry: &Entry, run: &Trajectory) -> f64 {
    let signature = entry.system.signature();
    let mut evaluator = entry.system.evaluator();
    evaluator.set_parameters(&signature.nominal());
    let (mut c, w) = (vec![0.0; signature.constraints.len()], vec![0.0; signature.inputs.len()]);
    let mut worst = 0.0f64;
    for i in 0..run.times().len() {
        evaluator.constraint(Level::Velocity, &Point { w: &w, ..run.state(i) }, &mut c);
        worst = c.iter().fold(worst, |worst, c| worst.max(c.abs()));
    }
    worst
}

fn main() -> Result<()> {
    let registry = costate_models::registry()?;
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let chosen = |entry: &&Entry| match asked.is_empty() {
        true => !entry.system.signature().constraints.is_empty(),
        false => asked.iter().any(|name| name == entry.name()),
    };
    for entry in registry.entries().iter().filter(chosen) {
        let (step, end) = (entry.scenario.step, (entry.scenario.end).min(400.0 * entry.scenario.step));
        let finest = step / REFINEMENTS[REFINEMENTS.len() - 1] as f64;
        let reference = match run(entry, "i2p", finest / REFERENCE as f64, end) {
            Ok((reference, _)) => reference,
            Err(error) => {
                println!("{}: no reference: {error}", entry.name());
                continue;
            }
        };
        println!("\n{}, {end} s, steps of {step} s and 2, 4, 8 times as many", entry.name());
        println!("{:18} {:>44} {:>44} {:>10} {:>9}", "scheme", "error of q", "error of q''", "C_q v", "µs/step");
        let mut curves = Vec::new();
        for scheme in SCHEMES {
            let (mut seconds, mut all) = (Vec::new(), [Vec::new(), Vec::new()]);
            let mut last = None;
            for refinement in REFINEMENTS {
                match run(entry, scheme, step / refinement as f64, end) {
                    Ok((trajectory, time)) => {
                        let found = errors(&trajectory, &reference);
                        all.iter_mut().zip(found).for_each(|(all, error)| all.push(error));
                        seconds.push(time);
                        last = Some((drift(entry, &trajectory), time / trajectory.counters.steps as f64));
                    }
                    Err(_) => all.iter_mut().for_each(|all| all.push(f64::NAN)),
                }
            }
            let told = |errors: &[f64]| errors.iter().map(|e| format!("{e:10.1e}")).collect::<Vec<_>>().join(" ");
            let (drift, time) = last.unwrap_or((f64::NAN, f64::NAN));
            println!("{scheme:18} {} {} {drift:10.1e} {:9.2}", told(&all[0]), told(&all[1]), 1e6 * time);
            let errors: Vec<f64> = all[1].iter().copied().filter(|e| e.is_finite()).collect();
            curves.push((scheme, seconds, errors));
        }
        if entry.name() == "slider_crank" {
            let curves: Vec<(&str, &[f64], &[f64])> =
                curves.iter().map(|(name, x, y)| (*name, x.as_slice(), y.as_slice())).collect();
            let mut figure = plot::convergence(&curves, &[])?;
            *figure.panels_mut()[0].x_axis_mut() = Axis::log("time of a run [s]");
            *figure.panels_mut()[0].y_axis_mut() = Axis::log("largest relative error of accelerations");
            figure.write_svg("plots/schemes.svg")?;
            println!("written to plots/schemes.svg");
        }
    }
    Ok(())
}
