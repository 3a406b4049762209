//! Noise of sensors that is estimated together with the parameters: against known noise and closed forms.

use crate::statistics::problems::{Noisy, TwoSprings, close, even, line, problem, simulation};
use costate::cost::{Quadrature, Reference};
use costate::{Interrupt, Matrix, Model, Number, Signature, State};
use costate_identify::likelihood::{RoundsEnd, identify_with_noise};
use costate_identify::optimise::{Flow, Options};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Identification, Settings};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Deviations of the two sensors: a factor of 50 apart.
const SIGMA: [f64; 2] = [1e-3, 5e-2];
const TRUTH: [f64; 4] = [1.0, 30.0, 10.0, 0.8];

/// Position and acceleration of a mass on springs, with noise of `sigma`; stiffness and damping are free.
fn two_sensors(count: usize, seed: u64, sigma: [f64; 2], deviations: [f64; 2]) -> Problem {
    let simulation = simulation(TwoSprings, &even(count, 10.0 / count as f64));
    let truth = simulation.run(&TRUTH).unwrap();
    let mut noisy = Noisy(seed);
    let references = (0..2).map(|output| Reference {
        output,
        values: truth.output(output).into_iter().map(|y| y + sigma[output] * noisy.normal()).collect(),
        deviation: deviations[output],
    });
    let references = references.collect();
    let mut problem = problem(simulation, references, Quadrature::Unit, &[1.0, 25.0, 10.0, 0.5]);
    problem.parameters[2].free = false;
    problem
}

fn estimated(problem: Problem) -> Problem {
    problem.estimate_deviation("x").unwrap().estimate_deviation("a").unwrap()
}

fn fit(problem: &mut Problem) -> Identification {
    identify_with_noise(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap()
}

/// Protects what rounds are for: of two sensors whose noise differs by a factor of 50, deviations are recovered within 5 %, whatever is
/// said of them before, and standard errors are those of known noise.
#[test]
fn deviations_of_unlike_sensors_are_recovered() {
    for seed in [1, 2, 3] {
        // wrong by factors that would turn the weights round
        let mut problem = estimated(two_sensors(3000, seed, SIGMA, [7.0, 1e-4]));
        let found = fit(&mut problem);
        assert!(found.outcome.converged, "{}", found.reason());
        let noise = found.noise.clone().unwrap();
        assert_eq!(noise.end, RoundsEnd::Settled, "{}", noise.sentence);
        println!("seed {seed}: {} evaluations\n{}", found.outcome.evaluations, noise.report());
        for (sensor, sigma) in noise.sensors.iter().zip(SIGMA) {
            close(sensor.deviation, sigma, 0.05, &sensor.name);
            assert!((sensor.deviation - sigma).abs() < 4.0 * sensor.standard_error);
        }
        let paid: f64 = noise.sensors.iter().map(|sensor| sensor.parameters).sum();
        close(paid, 2.0, 1e-9, "parameters paid for");
        assert!(noise.rounds <= 6, "{} rounds", noise.rounds);
        let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
        assert_eq!(statistics.noise, Noise::PerSensor);
        let mut known = two_sensors(3000, seed, SIGMA, SIGMA);
        let other = fit(&mut known);
        let expected = Statistics::of(&known, &other, Noise::Given).unwrap();
        for k in [1, 3] {
            let (own, other) = (&statistics.parameters[k], &expected.parameters[k]);
            println!("  {}: {} +/- {} against +/- {}", own.name, own.value, own.standard_error, other.standard_error);
            close(own.standard_error, other.standard_error, 0.05, &own.name);
            assert!((own.value - other.value).abs() < 0.1 * other.standard_error, "{}", own.name);
        }
        // warm starts: the history is one search that falls, from the start that was asked for
        assert_eq!(found.parameters[1].start, 25.0);
        assert_eq!(problem.start[1], 25.0);
        let history = &found.outcome.history;
        assert!(history.windows(2).all(|pair| pair[1].number == pair[0].number + 1));
        assert!(history.windows(2).all(|pair| pair[1].cost <= pair[0].cost + 1e-3 * pair[0].cost.abs()));
        assert_eq!(found.history.len(), history.len());
    }
}

/// Protects the meaning of the standard errors: over repeated noise, estimates are as far from the truth as they say.
#[test]
fn estimates_scatter_as_their_standard_errors_say() {
    let mut squares = 0.0;
    let seeds = 40;
    for seed in 0..seeds {
        let mut problem = estimated(two_sensors(300, 100 + seed, SIGMA, [1.0, 1.0]));
        let found = fit(&mut problem);
        let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
        let off = |k: usize| (found.parameters[k].value - TRUTH[k]) / statistics.parameters[k].standard_error;
        squares += off(1).powi(2) + off(3).powi(2);
    }
    let size = (squares / (2 * seeds) as f64).sqrt();
    println!("errors over standard errors: {size}");
    assert!((0.8..1.2).contains(&size), "{size}");
}

/// Protects the correction for fitted parameters: of one sensor it is the well-known n - p.
#[test]
fn one_sensor_has_the_known_correction() {
    let (times, values, problem, u) = line(Quadrature::Unit);
    let squares: f64 = times.iter().zip(&values).map(|(t, y)| (y - u[0] - u[1] * t).powi(2)).sum();
    let mut problem = problem.estimate_deviation("y").unwrap();
    let found = fit(&mut problem);
    let sensor = &found.noise.as_ref().unwrap().sensors[0];
    close(sensor.deviation, (squares / 10.0).sqrt(), 1e-9, "deviation");
    close(sensor.standard_error, sensor.deviation / 20f64.sqrt(), 1e-9, "its standard error");
    let per_sensor = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
    let common = Statistics::at(&problem, &found.values(), &[], Noise::Estimated).unwrap();
    close(per_sensor.parameters[1].standard_error, common.parameters[1].standard_error, 1e-9, "standard error");
    let likelihood = 12.0 * sensor.deviation.powi(2).ln() + 10.0;
    close(per_sensor.aic, likelihood + 6.0, 1e-9, "AIC");
    close(per_sensor.bic, likelihood + 3.0 * 12f64.ln(), 1e-9, "BIC");
}

/// Protects against noise that is none: a perfect fit ends with a sentence, and nothing rests on its deviations.
#[test]
fn a_perfect_fit_has_no_noise_to_estimate() {
    let mut problem = estimated(two_sensors(200, 1, [0.0, 0.0], [1.0, 1.0]));
    let found = fit(&mut problem);
    let noise = found.noise.as_ref().unwrap();
    assert_eq!((noise.end, noise.rounds), (RoundsEnd::PerfectFit, 1));
    assert!(noise.report().contains("`x` is reproduced to round-off"), "{}", noise.report());
    let statistics = Statistics::of(&problem, &found, Noise::Given).unwrap();
    assert!(statistics.is_noise_free);
    // one noisy sensor beside a perfect one: the sentence names the perfect one
    let mut problem = estimated(two_sensors(200, 1, [0.0, 0.05], [1.0, 1.0]));
    let found = fit(&mut problem);
    let noise = found.noise.unwrap();
    println!("{} {:?} {}", noise.rounds, noise.end, noise.sentence);
    assert_eq!(noise.end, RoundsEnd::PerfectFit);
    assert!(noise.sentence.starts_with("`x`"), "{}", noise.sentence);
}

/// Protects the account where rounds are cut short, and refusals: sentences with remedies.
#[test]
fn what_cannot_be_estimated_is_said() {
    let mut problem = estimated(two_sensors(300, 5, SIGMA, [1.0, 1.0]));
    let options = Options { max_evaluations: 3, ..Options::default() };
    let settings = Settings { options, ..Settings::default() };
    let found = identify_with_noise(&mut problem, &settings, &mut |_| Flow::Continue).unwrap();
    let noise = found.noise.unwrap();
    assert_eq!(noise.end, RoundsEnd::SearchEnded);
    assert!(found.outcome.evaluations <= 3);
    assert!(noise.report().contains("warning: the search ended in round 1"), "{}", noise.report());
    let refused = |result: costate_identify::Result<Problem>, words: &[&str]| {
        let message = result.err().unwrap().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    };
    let again = estimated(two_sensors(300, 5, SIGMA, [1.0, 1.0])).estimate_deviation("x");
    refused(again, &["`x`", "estimated already"]);
    refused(two_sensors(300, 5, SIGMA, [1.0, 1.0]).estimate_deviation("y"), &["there is no output `y`"]);
    let (_, _, weighted, _) = line(Quadrature::Trapezoid);
    refused(weighted.estimate_deviation("y"), &["`y`", "weighted", "weights = \"unit\""]);
    let (.., few, _) = line(Quadrature::Unit);
    let nobody = few.estimate_deviation_in("y", "y", &["nobody".to_string()]);
    refused(nobody, &["there is no experiment `nobody`"]);
    // as many samples as parameters, and one more
    let simulation = simulation(crate::statistics::problems::Line, &even(3, 0.5));
    let reference = Reference { output: 0, values: vec![0.0, 1.0, 0.5], deviation: 1.0 };
    let few = problem_of(simulation, reference).estimate_deviation("y").unwrap();
    let mut few = few;
    let message = identify_with_noise(&mut few, &Settings::default(), &mut |_| Flow::Continue).unwrap_err().to_string();
    assert!(message.contains("3 samples determine 2 parameters"), "{message}");
}

fn problem_of(simulation: costate::Simulation, reference: Reference) -> Problem {
    problem(simulation, vec![reference], Quadrature::Unit, &[1.0, 1.0, 1.0])
}

/// Two springs that ask to stop when they have been started so many times.
struct Stopping;

static STARTS_LEFT: AtomicUsize = AtomicUsize::new(usize::MAX);
static STOP: Mutex<Option<Interrupt>> = Mutex::new(None);

impl Model for Stopping {
    fn signature(&self) -> Signature {
        TwoSprings.signature()
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let left = STARTS_LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if let (Ok(1), Some(interrupt)) = (left, &*STOP.lock().unwrap()) {
            interrupt.raise();
        }
        TwoSprings.initial(u, q, v);
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        TwoSprings.mass(q, u, m);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        TwoSprings.force(t, q, v, w, u, force);
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        TwoSprings.output(t, x, u, y);
    }
}

/// Protects a night's work: whenever a search in rounds is interrupted, what it has found is kept; between two rounds, too.
#[test]
fn an_interrupt_at_any_time_keeps_the_best_so_far() {
    let mut problem = estimated(two_sensors(100, 4, SIGMA, [1.0, 1.0]));
    problem.experiments[0].simulation = simulation(Stopping, &even(100, 0.1));
    let (start, mut between) = (problem.start.clone(), 0);
    let mut has_iterated = false;
    for starts in 1.. {
        let interrupt = Interrupt::default();
        *STOP.lock().unwrap() = Some(interrupt.clone());
        STARTS_LEFT.store(starts, Ordering::Relaxed);
        let options = Options { interrupt: interrupt.clone(), ..Options::default() };
        let settings = Settings { options, ..Settings::default() };
        let mut iterations = 0;
        let found = identify_with_noise(&mut problem, &settings, &mut |_| {
            iterations += 1;
            Flow::Continue
        });
        assert_eq!(problem.start, start);
        has_iterated |= iterations > 0;
        let Ok(found) = found else {
            assert!(!has_iterated, "interrupted at run {starts}, {iterations} iterations are lost");
            continue;
        };
        let noise = found.noise.clone().unwrap();
        if !interrupt.is_raised() {
            assert!(found.outcome.converged && noise.rounds > 1 && between > 0, "{}, {between}", noise.sentence);
            break;
        }
        between += usize::from(noise.sentence.contains("interrupted at the start of round"));
        if noise.end == RoundsEnd::SearchEnded {
            assert!(!found.outcome.converged, "{starts}: {}", noise.sentence);
        }
    }
}

/// Protects samples that follow each other: of noise with a correlation of 0.9 from sample to sample, 19 are worth one, and standard errors are those of
/// estimates that are made again and again; as if they were independent, errors would be four times as large as said.
#[test]
fn correlated_samples_count_as_what_they_are_worth() {
    let (count, rho, repeats) = (2000, 0.9f64, 60);
    let (mut squares, mut worth) = ([0.0; 2], 0.0);
    for seed in 0..repeats {
        let mut problem = two_sensors(count, 100 + seed, [0.0, 0.0], [1.0, 1.0]);
        let mut noisy = Noisy(900 + seed);
        let costs = &mut problem.experiments[0].cost;
        let clean = costs.as_least_squares().unwrap().clone();
        let mut references = clean.references()[1..].to_vec();
        let mut own = noisy.normal();
        for value in &mut references[0].values {
            *value += 0.05 * own;
            own = rho * own + (1.0 - rho * rho).sqrt() * noisy.normal();
        }
        *costs = Box::new(
            costate::cost::LeastSquares::new(&even(count, 10.0 / count as f64), references, 1, Quadrature::Unit)
                .unwrap(),
        );
        let mut problem = problem.estimate_deviation("a").unwrap().of_correlated_residuals("a").unwrap();
        let found = fit(&mut problem);
        let noise = found.noise.clone().unwrap();
        assert_eq!(noise.end, RoundsEnd::Settled, "{}", noise.sentence);
        close(noise.sensors[0].deviation, 0.05, 0.35, "deviation of a sample");
        worth += noise.sensors[0].independent / repeats as f64;
        let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
        for (k, sum) in [1, 3].into_iter().zip(&mut squares) {
            let own = &statistics.parameters[k];
            *sum += ((own.value - TRUTH[k]) / own.standard_error).powi(2) / repeats as f64;
        }
    }
    // n (1 - ρ)/(1 + ρ)
    close(worth, count as f64 * (1.0 - rho) / (1.0 + rho), 0.25, "worth");
    println!("worth {worth}, errors {:?} standard errors", squares.map(f64::sqrt));
    for sum in squares {
        assert!(sum.sqrt() > 0.75 && sum.sqrt() < 1.3, "errors are {} standard errors", sum.sqrt());
    }
    let unknown = two_sensors(50, 1, SIGMA, SIGMA).of_correlated_residuals("a").err().unwrap().to_string();
    assert!(unknown.contains("estimated deviation"), "{unknown}");
}

/// Protects records with several time steps a sample: white residuals are worth as many as there are, and no others are looked at.
#[test]
fn white_samples_are_worth_themselves_at_any_number_of_steps() {
    let given = two_sensors(400, 5, SIGMA, SIGMA);
    let first = given.first();
    let references = first.cost.as_least_squares().unwrap().references()[1..].to_vec();
    for steps in [1, 4] {
        let simulation = first.simulation.divided(steps, first.simulation.signals().to_vec()).unwrap();
        let times = first.simulation.grid().times();
        let cost = costate::cost::LeastSquares::new(times, references.clone(), steps, Quadrature::Unit).unwrap();
        let problem = Problem { start: given.start.clone(), ..Problem::new("finer", simulation, Box::new(cost)) };
        let mut problem = problem.estimate_deviation("a").unwrap().of_correlated_residuals("a").unwrap();
        let noise = fit(&mut problem).noise.unwrap();
        // the number is that of independent ones up to chance
        close(noise.sensors[0].independent, times.len() as f64, 0.2, "worth");
    }
}
