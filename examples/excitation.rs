//! How to shake the rigid body of Nachbagauer 2015, section 5.2, so that the velocity of one point says the most of its inertia tensor: standard
//! errors of the paper's drive, of a richer one, and of drives that are found, none of them with a larger acceleration; and what hundreds of
//! identifications from noisy records find.
//!
//! `cargo run --release --example excitation [-- --png]`

use costate::control::{Control, UnknownSignal};
use costate::cost::{Aim, Goal, Goals, LeastSquares, Quadrature, Reference, Sum};
use costate::design::{Optimality, Sought};
use costate::identify::{Settings, identify};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::optimise::{Flow, Method, Options};
use costate::problem::{Integrator, Problem};
use costate::random::SplitMix64;
use costate::report::table;
use costate::spatial::Spline;
use costate::{Simulation, System, TimeGrid};
use costate_models::rigid_body::{DURATION, ENTRIES, Excitation, PEAK, rigid_body};
use std::sync::Arc;
use std::time::Instant;

/// Noise of the sensor, m/s.
const NOISE: f64 = 1e-3;
/// Between two samples, s.
const SAMPLING: f64 = 1e-2;
const INTERVALS: usize = 30;
const VELOCITY: [&str; 3] = ["P.x", "P.y", "P.z"];
const MOTIONS: [&str; 3] = ["Sx", "Sy", "Sz"];

/// A drive, with the values of all parameters of its model.
struct Drive {
    name: &'static str,
    simulation: Simulation,
    u: Vec<f64>,
}

impl Drive {
    fn new(name: &'static str, excitation: Excitation, substeps: usize) -> costate::Result<Self> {
        let system = Arc::new(rigid_body(excitation)?);
        let u = system.signature().nominal();
        let grid = TimeGrid::uniform(0.0, DURATION, SAMPLING / substeps as f64)?;
        Ok(Drive { name, simulation: Integrator::hht(-0.05).simulation(system, grid, vec![])?, u })
    }

    /// What is measured, and what it is to say.
    fn sought(&self) -> costate::Result<Sought> {
        let (signature, grid) = (self.simulation.signature(), self.simulation.grid());
        let substeps = (SAMPLING / grid.uniform_step().unwrap_or(SAMPLING)).round() as usize;
        let times: Vec<f64> = grid.times().iter().step_by(substeps).copied().collect();
        let reference = |name: &str| {
            let output = signature.output_index(name)?;
            Ok(Reference { output, values: vec![0.0; times.len()], deviation: NOISE })
        };
        let references = VELOCITY.into_iter().map(reference).collect::<costate::Result<Vec<_>>>()?;
        let measured = LeastSquares::new(&times, references, substeps, Quadrature::Unit)?;
        Sought::new(signature, measured, &ENTRIES)
    }

    fn errors(&self) -> costate::Result<Vec<f64>> {
        Ok(self.sought()?.assess(&self.simulation, &self.u)?.standard_errors)
    }

    /// The splines' coefficients, along each axis.
    fn coefficients(&self) -> Vec<&[f64]> {
        self.simulation.signature().motions.iter().map(|motion| &self.u[motion.places()]).collect()
    }
}

fn spline() -> Spline {
    Spline::cubic([0.0, DURATION], INTERVALS).begin([0.0; 3]).end([0.0; 3])
}

/// Accelerations of a cubic spline at its knots, between which they are straight lines.
fn accelerations(coefficients: &[f64]) -> Vec<f64> {
    let (spline, h) = (spline(), DURATION / INTERVALS as f64);
    let at = |k: usize, part: f64| spline.at((k as f64 + part) * h, coefficients);
    let of_thirds = |s: [f64; 4]| 9.0 / (h * h) * (2.0 * s[0] - 5.0 * s[1] + 4.0 * s[2] - s[3]);
    let thirds = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
    let mut all: Vec<f64> = (0..INTERVALS).map(|k| of_thirds(thirds.map(|part| at(k, part)))).collect();
    all.push(of_thirds(thirds.map(|part| at(INTERVALS - 1, 1.0 - part))));
    all
}

/// The largest acceleration of S, m/s².
fn peak(coefficients: &[&[f64]]) -> f64 {
    let along: Vec<Vec<f64>> = coefficients.iter().map(|own| accelerations(own)).collect();
    let size = |k: usize| along.iter().map(|a| a[k] * a[k]).sum::<f64>().sqrt();
    (0..=INTERVALS).map(size).fold(0.0, f64::max)
}

/// Finds a drive with no larger acceleration than in the paper, and no larger way than `stroke` to each side, for which the mean standard error
/// beside those of the paper's drive is the least; from random coefficients.
fn found(name: &'static str, optimality: Optimality, beside: &[f64], stroke: f64, seed: u64) -> costate::Result<Drive> {
    let mut drive = Drive::new(name, Excitation::Free(INTERVALS), 1)?;
    let goals = vec![Goal::new("acceleration.squared", Aim::Within { lower: f64::NEG_INFINITY, upper: PEAK * PEAK })];
    let goals = goals.into_iter().map(|goal| goal.exactly().weighted(1.0)).collect();
    let goals = Goals::new(drive.simulation.signature(), goals, Quadrature::Trapezoid)?;
    let signals = MOTIONS.map(|motion| UnknownSignal::new(motion, 0.05).bounded(-stroke, stroke)).to_vec();
    let sought = drive.sought()?.optimal(optimality).sized(beside)?;
    let control = Control::new(name, drive.simulation.clone(), Sum::of_goals(goals), signals)?;
    let mut control = control.informed_by(sought)?;
    let mut random = SplitMix64::new(seed);
    for motion in &control.simulation.signature().motions {
        for own in motion.spline.free() {
            control.start[motion.first + own] = 0.002 * random.normal();
        }
    }
    let options = Options { max_iterations: 400, ..Options::default() };
    let began = Instant::now();
    let solution = control.minimise(Method::LBfgs { memory: 30 }, 1e-3, &options, &mut |iteration| {
        if iteration.number % 20 == 0 {
            eprintln!(
                "{name} {:4} {:.5} {:.1e} {:.1}",
                iteration.number,
                iteration.cost,
                iteration.gradient_norm,
                began.elapsed().as_secs_f64()
            );
        }
        Flow::Continue
    })?;
    println!(
        "{name}: {} unknowns, {} iterations in {} rounds, {} runs with gradient, {:.0} s; {} ({:.3} to {:.3}); {:?}",
        control.unknowns().0,
        solution.outcome.iterations,
        solution.rounds,
        solution.outcome.evaluations,
        began.elapsed().as_secs_f64(),
        solution.outcome.reason,
        solution.start_cost,
        solution.outcome.cost,
        solution.violations,
    );
    (drive.u, _) = control.expand(&solution.outcome.u);
    // the limit holds at the steps, to the tolerance: here at the knots, exactly
    let factor = PEAK / peak(&drive.coefficients());
    println!("scaled by {factor:.5}");
    let motions = drive.simulation.signature().motions.clone();
    motions.iter().for_each(|motion| drive.u[motion.places()].iter_mut().for_each(|c| *c *= factor));
    Ok(drive)
}

fn main() -> costate::Result<()> {
    let paper = Drive::new("one axis after another", Excitation::OneAxisAfterAnother, 1)?;
    let all = Drive::new("all axes at once", Excitation::AllAxesGently, 1)?;
    let errors = paper.errors()?;
    let optimality = std::env::args().nth(1).unwrap_or("A".into()).parse()?;
    let stroke = std::env::args().nth(2).map_or(0.1, |x| x.parse().unwrap());
    let seed = std::env::args().nth(3).map_or(1, |x| x.parse().unwrap());
    let drive = found("found", optimality, &errors, stroke, seed)?;
    let row = |drive: &Drive| {
        let mut row = vec![drive.name.to_string()];
        row.extend(
            drive.errors()?.iter().zip(&errors).map(|(error, paper)| format!("{error:.3} ({:.2})", paper / error)),
        );
        Ok(row)
    };
    let rows = [&paper, &all, &drive].map(row).into_iter().collect::<costate::Result<Vec<_>>>()?;
    println!("{}", table(&[&["drive"], &ENTRIES[..]].concat(), &rows));
    let mut fine = Drive::new("half the step", Excitation::Free(INTERVALS), 2)?;
    fine.u = drive.u.clone();
    println!("{}", table(&[&["drive"], &ENTRIES[..]].concat(), &[row(&fine)?]));
    Ok(())
}
