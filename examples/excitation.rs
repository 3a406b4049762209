//! How to shake the rigid body of Nachbagauer 2015, section 5.2, so that the velocity of one point says the most of its inertia tensor: standard
//! errors of the paper's drive, of a richer one, and of drives that are found, none of them with a larger acceleration; and what hundreds of
//! identifications from noisy records find.
//!
//! `cargo run --release --example excitation [-- --png]`

use costate::cost::{Aim, Goal, Goals, LeastSquares, Quadrature, Reference, Sum};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::random::SplitMix64;
use costate::spline::Spline;
use costate::system::System;
use costate::{Simulation, TimeGrid};
use costate_identify::control::{Control, UnknownSignal};
use costate_identify::design::{Optimality, Sought};
use costate_identify::optimise::{Flow, Method, Options};
use costate_identify::problem::{Integrator, Problem};
use costate_identify::table::table;
use costate_identify::{Settings, identify};
use costate_models::rigid_body::{DURATION, ENTRIES, Excitation, INERTIA, PEAK, rigid_body};
use costate_report::Folder;
use costate_report::plot::{Axis, Figure, Panel, Series};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Noise of the sensor, m/s.
const NOISE: f64 = 1e-3;
/// Between two samples, s.
const SAMPLING: f64 = 1e-2;
/// Of the splines that a drive is made of.
const INTERVALS: usize = 30;
/// Which mean of errors, beside the paper's, is to be small: the longest axis of their ellipsoid.
const CRITERION: Optimality = Optimality::E;
/// Identifications from noisy records.
const REPEATS: usize = 400;
const VELOCITY: [&str; 3] = ["P.x", "P.y", "P.z"];
const MOTIONS: [&str; 3] = ["Sx", "Sy", "Sz"];

/// A drive, with the values of all parameters of its model.
struct Drive {
    name: &'static str,
    simulation: Simulation,
    u: Vec<f64>,
}

impl Drive {
    fn new(name: &'static str, excitation: Excitation, substeps: usize) -> costate_identify::Result<Self> {
        let system = Arc::new(rigid_body(excitation)?);
        let u = system.signature().nominal();
        let grid = TimeGrid::uniform(0.0, DURATION, SAMPLING / substeps as f64)?;
        Ok(Drive { name, simulation: Integrator::hht(-0.05).simulation(system, grid, vec![])?, u })
    }

    /// What is measured, and what it is to say.
    fn sought(&self) -> costate_identify::Result<Sought> {
        let (signature, grid) = (self.simulation.signature(), self.simulation.grid());
        let substeps = (SAMPLING / grid.uniform_step().unwrap_or(SAMPLING)).round() as usize;
        let times: Vec<f64> = grid.times().iter().step_by(substeps).copied().collect();
        let reference = |name: &str| {
            let output = signature.output_index(name)?;
            Ok(Reference { output, values: vec![0.0; times.len()], deviation: NOISE })
        };
        let references = VELOCITY.into_iter().map(reference).collect::<costate_identify::Result<Vec<_>>>()?;
        let measured = LeastSquares::new(&times, references, substeps, Quadrature::Unit)?;
        Sought::new(signature, measured, &ENTRIES)
    }

    fn errors(&self) -> costate_identify::Result<Vec<f64>> {
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
fn found(name: &'static str, optimality: Optimality, beside: &[f64], stroke: f64) -> costate_identify::Result<Drive> {
    let mut drive = Drive::new(name, Excitation::Free(INTERVALS), 1)?;
    let limit = Goal::new("acceleration.squared", Aim::Within { lower: f64::NEG_INFINITY, upper: PEAK * PEAK });
    let goals = Goals::new(drive.simulation.signature(), vec![limit.exactly()], Quadrature::Trapezoid)?;
    let signals = MOTIONS.map(|motion| UnknownSignal::new(motion, 0.05).bounded(-stroke, stroke)).to_vec();
    let sought = drive.sought()?.optimal(optimality).sized(beside)?;
    let control = Control::new(name, drive.simulation.clone(), Sum::of_goals(goals), signals)?;
    let mut control = control.informed_by(sought)?;
    let mut random = SplitMix64::new(1);
    for motion in &control.simulation.signature().motions {
        motion.spline.free().for_each(|own| control.start[motion.first + own] = 0.002 * random.normal());
    }
    let options = Options { max_iterations: 600, ..Options::default() };
    let began = Instant::now();
    let solution = control.minimise(Method::LBfgs { memory: 30 }, 1e-2, &options, &mut |iteration| {
        if iteration.number % 50 == 0 {
            println!("  {name}: iteration {}, {:.4}", iteration.number, iteration.cost);
        }
        Flow::Continue
    })?;
    println!(
        "{name}: {} unknowns, {} iterations in {} rounds, {} gradients, {:.0} s, {}; {:.3} to {:.3}, acceleration met to {:.1e} m^2/s^4",
        control.unknowns().0,
        solution.outcome.iterations,
        solution.rounds,
        solution.outcome.evaluations,
        began.elapsed().as_secs_f64(),
        solution.outcome.reason,
        solution.start_cost,
        solution.outcome.cost,
        solution.violations.iter().map(|violation| violation.by).fold(0.0, f64::max),
    );
    (drive.u, _) = control.expand(&solution.outcome.u);
    // the limit holds at the steps, to its tolerance: here at the knots, exactly
    let factor = PEAK / peak(&drive.coefficients());
    println!("{name}: scaled by {factor:.4} to the paper's peak");
    let motions = drive.simulation.signature().motions.clone();
    motions.iter().for_each(|motion| drive.u[motion.places()].iter_mut().for_each(|c| *c *= factor));
    Ok(drive)
}

/// What identifications from noisy records of a drive find, a list of entries each.
fn repeated(drive: &Drive) -> costate_identify::Result<Vec<Vec<f64>>> {
    let once = |seed: usize| -> costate_identify::Result<Vec<f64>> {
        let (name, u) = (drive.name, &drive.u);
        let problem = Problem::synthetic(name, drive.simulation.clone(), u, u, &VELOCITY, Quadrature::Unit)?;
        let level = NoiseLevel::Absolute(VELOCITY.map(|name| (name.to_string(), NOISE)).to_vec());
        let problem = problem.with_noise(&SyntheticNoise { seed: seed as u64, level })?;
        let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
        Ok(identify(&problem, &settings, &mut |_| Flow::Continue)?.values()[..ENTRIES.len()].to_vec())
    };
    let threads = costate::parallel::threads()?;
    let of_thread =
        |first: usize| (first..REPEATS).step_by(threads).map(once).collect::<costate_identify::Result<Vec<_>>>();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|first| scope.spawn(move || of_thread(first))).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(|_| costate::Error::invalid("a thread", "it failed", "report it"))??);
        }
        Ok(all)
    })
}

/// Standard deviations of what was found, and the part of the values that are within 1.96 standard errors of the true ones.
fn spread(found: &[Vec<f64>], errors: &[f64]) -> (Vec<f64>, f64) {
    let count = found.len() as f64;
    let deviation = |k: usize| {
        let mean = found.iter().map(|own| own[k]).sum::<f64>() / count;
        (found.iter().map(|own| (own[k] - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
    };
    let inside = |own: &Vec<f64>| (0..errors.len()).filter(|&k| (own[k] - INERTIA[k]).abs() < 1.96 * errors[k]).count();
    let part = found.iter().map(inside).sum::<usize>() as f64 / (count * errors.len() as f64);
    ((0..errors.len()).map(deviation).collect(), part)
}

fn figure(drive: &Drive) -> Figure {
    let (coefficients, spline) = (drive.coefficients(), spline());
    let times = drive.simulation.grid().times();
    let knots: Vec<f64> = (0..=INTERVALS).map(|k| DURATION * k as f64 / INTERVALS as f64).collect();
    let mut ways = Panel::new(Axis::linear("time [s]"), Axis::linear("way of S [m]"));
    let mut growth = Panel::new(Axis::linear("time [s]"), Axis::linear("acceleration of S [m/s²]"));
    for (own, axis) in coefficients.iter().zip(["x", "y", "z"]) {
        let way: Vec<f64> = times.iter().map(|t| spline.at(*t, own)).collect();
        ways = ways.series(Series::line(times, &way).label(axis));
        growth = growth.series(Series::line(&knots, &accelerations(own)).label(axis));
    }
    Figure::column().panel(ways).panel(growth)
}

fn main() -> costate_identify::Result<()> {
    let paper = Drive::new("one axis after another", Excitation::OneAxisAfterAnother, 1)?;
    let all = Drive::new("all axes at once", Excitation::AllAxesGently, 1)?;
    let errors = paper.errors()?;
    let near = found("found, within 0.1 m", CRITERION, &errors, 0.1)?;
    let far = found("found, within 0.5 m", CRITERION, &errors, 0.5)?;
    let mut rows = Vec::new();
    for drive in [&paper, &all, &near, &far] {
        let own = drive.errors()?;
        let row = own.iter().zip(&errors).map(|(error, paper)| format!("{error:.3} ({:.1}x)", paper / error));
        rows.push([vec![drive.name.to_string()], row.collect()].concat());
    }
    for drive in [&near, &far] {
        let fine = Drive { u: drive.u.clone(), ..Drive::new(drive.name, Excitation::Free(INTERVALS), 2)? };
        let row = fine.errors()?.iter().map(|error| format!("{error:.3}")).collect();
        rows.push([vec![format!("{}, at half the step", drive.name)], row].concat());
    }
    println!(
        "\nStandard errors at {NOISE} m/s of noise and 100 samples a second, kg m^2, and how much smaller than with the paper's drive:"
    );
    println!("{}", table(&[&["drive"], &ENTRIES[..]].concat(), &rows));

    println!("Standard deviations of {REPEATS} identifications, beside the standard errors:");
    let mut rows = Vec::new();
    for drive in [&paper, &near, &far] {
        let (began, own) = (Instant::now(), drive.errors()?);
        let (deviations, inside) = spread(&repeated(drive)?, &own);
        let mut row = vec![drive.name.to_string()];
        row.extend(deviations.iter().zip(&own).map(|(found, error)| format!("{found:.3} ({:.2})", found / error)));
        row.extend([format!("{:.1} %", 100.0 * inside), format!("{:.0} s", began.elapsed().as_secs_f64())]);
        rows.push(row);
    }
    println!("{}", table(&[&["drive"], &ENTRIES[..], &["within 1.96", "took"]].concat(), &rows));
    let folder = Folder::create(Path::new("out/excitation"), std::env::args().any(|argument| argument == "--png"))?;
    folder.figure("excitation", &figure(&near))?;
    println!("figure in {}", folder.path().display());
    Ok(())
}
