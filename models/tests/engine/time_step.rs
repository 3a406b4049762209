//! The check of the time step: shifts of the optimum are predicted, and nothing is said where the step is fine.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::identify::{Identification, Settings, identify};
use costate::optimise::Flow;
use costate::problem::Problem;
use costate::random::SplitMix64;
use costate::report::result_json;
use costate::signal::Interpolation;
use costate::statistics::{Noise, Shift, Statistics, TimeStep, TimeStepCheck};
use costate::{Hht, Plain, Signal, Simulation, TimeGrid};
use costate_models::{Oscillator, Pendulum};
use std::sync::Arc;

const SAMPLING: f64 = 0.02;
const SAMPLES: usize = 400;

fn pendulum(substeps: usize) -> Simulation {
    let grid = TimeGrid::steps(0.0, SAMPLING / substeps as f64, (SAMPLES - 1) * substeps).unwrap();
    Simulation::new(Arc::new(Plain::new(Pendulum).unwrap()), Hht::new(-0.05).unwrap(), grid, vec![]).unwrap()
}

/// A record of the angle, from steps that have no error to speak of.
fn record(seed: u64) -> Vec<Reference> {
    const FINE: usize = 64;
    const NOISE: f64 = 4e-3;
    let simulation = pendulum(FINE);
    let run = simulation.run(&simulation.signature().nominal()).unwrap();
    let mut random = SplitMix64::new(seed);
    let clean = run.output(0).into_iter().step_by(FINE);
    vec![Reference { output: 0, values: clean.map(|y| y + NOISE * random.normal()).collect(), deviation: NOISE }]
}

fn problem(substeps: usize, references: Vec<Reference>) -> Problem {
    let simulation = pendulum(substeps);
    let times: Vec<f64> = simulation.grid().times().iter().copied().step_by(substeps).collect();
    let cost = LeastSquares::new(&times, references, substeps, Quadrature::Unit).unwrap();
    Problem::new("pendulum", simulation, Box::new(cost))
}

fn fit(problem: &Problem) -> (Identification, Statistics) {
    let found = identify(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(problem, &found, Noise::Estimated).unwrap().with_time_step(problem, &found);
    (found, statistics)
}

fn made(statistics: &Statistics) -> &TimeStep {
    match statistics.time_step.as_ref().unwrap() {
        TimeStepCheck::Made(made) => made,
        TimeStepCheck::Skipped(reason) => panic!("{reason}"),
    }
}

fn value(found: &Identification, name: &str) -> f64 {
    found.parameters.iter().find(|p| p.name == name).unwrap().value
}

/// Protects the prediction: fitted with one coarse step a sample, the pendulum is told its shift at half the step within 20 % (and the
/// shift to vanishing steps, 4/3 of it, too), and with the substeps that it is told to take it is told nothing any more.
#[test]
fn shifts_are_predicted_and_the_remedy_helps() {
    for seed in 0..3 {
        let references = record(seed);
        let (coarse, statistics) = fit(&problem(1, references.clone()));
        let told = statistics.warnings.join("\n");
        println!("{told}\n{:?}", made(&statistics).shifts);
        let (half, _) = fit(&problem(2, references.clone()));
        let (fine, _) = fit(&problem(32, references.clone()));
        let mut checked = 0;
        for Shift { name, shift, standard_errors, .. } in &made(&statistics).shifts {
            if standard_errors.abs() < 0.5 {
                continue;
            }
            checked += 1;
            let exact = value(&half, name) - value(&coarse, name);
            let whole = value(&fine, name) - value(&coarse, name);
            println!(
                "{name}: predicted {shift:e}, by refitting {exact:e}; 4/3 of it {:e}, {whole:e}",
                4.0 / 3.0 * shift
            );
            assert!((shift / exact - 1.0).abs() < 0.2, "{name}: {shift:e} for {exact:e}");
            assert!((4.0 / 3.0 * shift / whole - 1.0).abs() < 0.2, "{name}: {shift:e} for {whole:e}");
        }
        assert!(checked > 0, "{:?}", made(&statistics).shifts);
        let substeps = made(&statistics).substeps.unwrap();
        assert!(told.contains("time step: `") && told.contains(&format!("use substeps = {substeps}")), "{told}");
        let (_, remedied) = fit(&problem(substeps, references));
        assert!(!remedied.warnings.join("\n").contains("time step"), "{:?}", remedied.warnings);
    }
}

/// Protects against false alarms: where the step is fine, nothing is said over ten seeds but that nothing shifts.
#[test]
fn fine_steps_raise_no_alarm() {
    for seed in 0..10 {
        let problem = problem(32, record(seed));
        let (found, statistics) = fit(&problem);
        assert!(!statistics.warnings.join("\n").contains("time step"), "seed {seed}: {:?}", statistics.warnings);
        assert!(
            statistics.summary().contains("time step: no parameter shifts by more than"),
            "{}",
            statistics.summary()
        );
        assert_eq!(made(&statistics).substeps, Some(32));
        let json = result_json(&problem, "lm", &found, &Ok(statistics));
        assert_eq!(json["time_step"]["checked"], true);
        assert!(json["time_step"]["at_half_the_step"][0]["standard_errors"].is_number(), "{}", json["time_step"]);
    }
}

/// Protects the reasons for leaving the check out.
#[test]
fn a_check_that_would_mean_nothing_is_left_out() {
    let reason = |problem: &Problem| match fit(problem).1.time_step.unwrap() {
        TimeStepCheck::Made(made) => panic!("{made:?}"),
        TimeStepCheck::Skipped(reason) => reason,
    };
    let simulation = pendulum(1);
    let nominal = simulation.signature().nominal();
    let simulated =
        Problem::synthetic("pendulum", simulation, &nominal, &nominal, &["angle"], Quadrature::Unit).unwrap();
    assert!(reason(&simulated).contains("a simulation with the same step"));
    let exact = Problem { optimum: None, ..simulated };
    assert!(reason(&exact).contains("round-off"));
}

/// Protects the check of interpolation: a force between whose samples straight lines are wrong is told, with what splines would
/// make of it; with splines nothing is said.
#[test]
fn the_optimum_depends_on_the_interpolation() {
    let force = |t: f64| (6.0 * t).sin() + 0.5 * (9.0 * t).cos();
    let run = |step: f64, count: usize, signal: Signal| {
        let grid = TimeGrid::steps(0.0, step, count).unwrap();
        Simulation::new(Arc::new(Plain::new(Oscillator).unwrap()), Hht::new(0.0).unwrap(), grid, vec![signal]).unwrap()
    };
    let fine = run(1e-3, 10_000, Signal::function(force));
    let exact = fine.run(&fine.signature().nominal()).unwrap().output(1);
    let mut random = SplitMix64::new(3);
    let values: Vec<f64> = exact.into_iter().step_by(100).map(|x| x + 1e-3 * random.normal()).collect();
    let times: Vec<f64> = (0..=100).map(|i| 0.1 * f64::from(i)).collect();
    let forces: Vec<f64> = times.iter().map(|t| force(*t)).collect();
    for interpolation in [Interpolation::Linear, Interpolation::Cubic] {
        let simulation = run(1e-2, 1000, Signal::sampled(&times, &forces, interpolation).unwrap());
        let reference = Reference { output: 1, values: values.clone(), deviation: 1e-3 };
        let cost = LeastSquares::new(&times, vec![reference], 10, Quadrature::Unit).unwrap();
        let (_, statistics) = fit(&Problem::new("oscillator", simulation, Box::new(cost)));
        let told = statistics.warnings.join("\n");
        println!("{interpolation}: {told}");
        assert_eq!(told.contains("with cubic instead of linear interpolation"), interpolation == Interpolation::Linear);
        assert_eq!(made(&statistics).smoothed.is_some(), interpolation == Interpolation::Linear);
    }
}
