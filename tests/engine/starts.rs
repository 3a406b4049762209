//! Searches from many starts.

use crate::common;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::scheme::Hht;
use costate::{Matrix, Model, Number, Parameter, Plain, Quantity, Signal, Signature, Simulation, State, TimeGrid};
use costate_identify::Settings;
use costate_identify::problem::{Experiment, Problem};
use costate_identify::starts::{End, HOPELESS, ManySearches, PATIENCE, Starts, identify_from_many, screening};
use costate_identify::work::Work;
use costate_models::engine_mount::{START, sweep};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// q'' = force, where the force has two parameters: waves of an unknown frequency, of which several fit about as well; none below zero.
#[derive(Clone)]
struct Wave;

impl Model for Wave {
    fn signature(&self) -> Signature {
        Signature {
            coordinates: vec![Quantity::new("q", "m")],
            outputs: vec![Quantity::new("a", "m/s^2")],
            parameters: vec![Parameter::new("amplitude", "N", 1.5), Parameter::new("frequency", "rad/s", 6.0)],
            ..Signature::new("wave")
        }
    }

    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[0] * (u[1] * t).sin() + (D::from(12.0) - u[1]).sqrt() * 0.0;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
    }
}

pub fn wave() -> Problem {
    let grid = TimeGrid::steps(0.0, 0.02, 200).unwrap();
    let simulation = Simulation::new(Arc::new(Plain::new(Wave).unwrap()), Hht::new(-0.05).unwrap(), grid, vec![]);
    let problem =
        Problem::synthetic("wave", simulation.unwrap(), &[1.5, 6.0], &[1.0, 2.0], &["a"], Quadrature::Unit).unwrap();
    problem.with_noise(&SyntheticNoise { seed: 4, level: NoiseLevel::Relative(0.01) }).unwrap()
}

fn search(problem: &Problem, starts: &Starts) -> ManySearches {
    identify_from_many(problem, &Settings::default(), starts, &Work::default(), &|_, _, _| {}).unwrap()
}

/// Protects the draw: one start in each part of each interval, evenly by logarithm around a start, by value between bounds; the given one
/// first; the same for the same seed, others for another one.
#[test]
fn starts_fill_their_intervals() {
    let mut problem = wave();
    (problem.parameters[1].lower, problem.parameters[1].upper) = (1.0, 5.0);
    let starts = Starts { count: 41, factor: 4.0, seed: 7 };
    let drawn = starts.draw(&problem).unwrap();
    assert_eq!((drawn.len(), &drawn[0]), (41, &problem.start));
    let mut parts = [vec![0; 40], vec![0; 40]];
    for u in &drawn[1..] {
        parts[0][((u[0] / 0.25).ln() / 16f64.ln() * 40.0) as usize] += 1;
        parts[1][((u[1] - 1.0) / 4.0 * 40.0) as usize] += 1;
    }
    assert!(parts.iter().flatten().all(|count| *count == 1), "{parts:?}");
    assert_eq!(drawn, starts.draw(&problem).unwrap());
    assert_ne!(drawn, Starts { seed: 8, ..starts }.draw(&problem).unwrap());
}

/// Protects counts: searches that end in the same optimum are counted together, the best one first; failures are counted by reason,
/// hopeless searches are given up, and all of them are there. A single search from where the result says ends in the best optimum.
#[test]
fn optima_and_failures_are_counted() {
    let problem = wave();
    let done = AtomicUsize::new(0);
    let starts = Starts { count: 24, factor: 8.0, seed: 3 };
    let count = |what: &str, now: usize, of: usize| {
        assert!(now <= of && of == 24);
        done.fetch_max(if what == "searches" { now } else { 0 }, Ordering::Relaxed);
    };
    let found = identify_from_many(&problem, &Settings::default(), &starts, &Work::default(), &count).unwrap();
    assert_eq!(done.into_inner(), 24);
    let failed: usize = found.failures().iter().map(|(_, count)| count).sum();
    let ended: usize = found.optima.iter().map(|optimum| optimum.searches.len()).sum();
    assert_eq!(ended + failed + found.given_up(), 24);
    assert!(failed > 0 && found.optima.len() > 1, "{failed} {:?}", found.optima);
    assert!(
        found.failures()[0].0.contains("not finite") || found.failures()[0].0.contains("NaN"),
        "{:?}",
        found.failures()
    );
    let best = found.best().unwrap();
    assert!((best.u[1] - 6.0).abs() < 0.05 && (best.u[0] - 1.5).abs() < 0.05, "{best:?}");
    assert!(found.optima.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
    let first = screening(2);
    for search in &found.searches {
        if let End::GivenUp(ended) = &search.end {
            match ended.evaluations == first {
                true => assert!(ended.cost > HOPELESS * best.cost),
                false => assert!(ended.evaluations == PATIENCE * first && ended.cost > best.cost),
            }
        }
    }
    let mut again = wave();
    again.start = found.begin.clone().unwrap();
    let alone =
        costate_identify::identify(&again, &Settings::default(), &mut |_| costate_identify::optimise::Flow::Continue);
    let cost = alone.unwrap().outcome.cost;
    assert!((cost / best.cost - 1.0).abs() < 1e-6, "{cost} {}", best.cost);
    assert_eq!(found, search(&problem, &starts));
}

/// Protects words on starts that cannot be drawn, and the error of a problem that cannot be simulated anywhere.
#[test]
fn wrong_starts_get_a_sentence() {
    let mut problem = wave();
    let message = |problem: &Problem, starts: Starts| {
        let found = identify_from_many(problem, &Settings::default(), &starts, &Work::default(), &|_, _, _| {});
        found.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let usual = Starts::default();
    assert!(message(&problem, Starts { count: 1, ..usual }).contains("take two or more"));
    assert!(message(&problem, Starts { factor: 1.0, ..usual }).contains("a number above 1"));
    problem.start[0] = 0.0;
    problem.parameters[0].nominal = 0.0;
    let refusal = message(&problem, usual);
    assert!(refusal.contains("`amplitude`") && refusal.contains("bounds on both sides"), "{refusal}");
    problem.start = vec![1.0, 100.0];
    let refusal = message(&problem, Starts { factor: 2.0, ..usual });
    assert!(refusal.contains("finite") || refusal.contains("NaN"), "{refusal}");
}

/// The engine mount under two drives, with 1 % of noise, from the paper's start.
fn engine_mount() -> Problem {
    let grid = TimeGrid::steps(0.0, 1e-3, 600).unwrap();
    let system = common::ready("engine_mount");
    let simulation = |drive: fn(f64) -> f64| {
        Simulation::new(system.clone(), Hht::new(-0.1).unwrap(), grid.clone(), vec![Signal::function(drive)]).unwrap()
    };
    let optimum = simulation(sweep).signature().nominal();
    let experiment = |name: &str, drive: fn(f64) -> f64, seed: u64| {
        let simulation = simulation(drive);
        let values = simulation.run(&optimum).unwrap().output(0);
        let references = vec![Reference { output: 0, values, deviation: 1.0 }];
        let cost = LeastSquares::new(grid.times(), references, 1, Quadrature::Unit).unwrap();
        let noise = SyntheticNoise { seed, level: NoiseLevel::Relative(0.01) };
        let cost = cost.with_noise(&noise, simulation.signature()).unwrap();
        Experiment::new(name, simulation, Box::new(cost))
    };
    let Experiment { simulation, cost, .. } = experiment("sweep", sweep, 1);
    let problem = Problem::new("engine_mount", simulation, cost);
    let other = experiment("slow", |t| 150.0 * (40.0 * t + 60.0 * t * t).sin(), 2);
    Problem { start: START.to_vec(), ..problem.with_experiment(other, &[]).unwrap() }
}

/// Protects the number that starts are for: from within a factor of ten in each parameter, half of the searches find the best optimum.
#[test]
fn half_of_the_searches_find_the_engine_mount() {
    let problem = engine_mount();
    let starts = Starts { count: 20, factor: 10.0, seed: 1 };
    let found = search(&problem, &starts);
    let best = found.best().unwrap();
    assert!(2 * best.searches.len() >= starts.count, "{}", best.searches.len());
    let truth = problem.first().simulation.signature().nominal();
    assert!((best.u[0] / truth[0] - 1.0).abs() < 0.01, "{:?}", best.u);
}
