//! The check of the time step: shifts of the optimum are predicted, and nothing is said where the step is fine. And steps that are chosen
//! by it.

use crate::common;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::random::SplitMix64;
use costate::scheme::Hht;
use costate::{Error, Interpolation, Signal, Simulation, TimeGrid};
use costate_identify::optimise::{Flow, Options};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Noise, Shift, Statistics, TimeStep, TimeStepCheck};
use costate_identify::steps::{BeforeFit, Fit, MOST_SUBSTEPS, Steps, identify_with_steps};
use costate_identify::{Identification, Settings, identify};
use costate_report::result_json;

const SAMPLING: f64 = 0.02;
const SAMPLES: usize = 400;

fn pendulum(substeps: usize) -> Simulation {
    let grid = TimeGrid::steps(0.0, SAMPLING / substeps as f64, (SAMPLES - 1) * substeps).unwrap();
    Simulation::new(common::ready("pendulum"), Hht::new(-0.05).unwrap(), grid, vec![]).unwrap()
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

/// Protects the prediction: after a fit with one coarse step a sample, the report names the pendulum's shift at half the step within 20 % (and the
/// shift to vanishing steps, 4/3 of it, too), and with the substeps that it recommends it names none any more.
#[test]
fn shifts_are_predicted_and_the_remedy_helps() {
    for seed in 0..3 {
        let references = record(seed);
        let (coarse, statistics) = fit(&problem(1, references.clone()));
        let text = statistics.warnings.join("\n");
        println!("{text}\n{:?}", made(&statistics).shifts);
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
        assert!(text.contains("time step: `") && text.contains(&format!("use substeps = {substeps}")), "{text}");
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

/// Protects the check of interpolation: a force between whose samples straight lines are wrong is reported, with what splines would
/// make of it; with splines nothing is said.
#[test]
fn the_optimum_depends_on_the_interpolation() {
    let force = |t: f64| (6.0 * t).sin() + 0.5 * (9.0 * t).cos();
    let run = |step: f64, count: usize, signal: Signal| {
        let grid = TimeGrid::steps(0.0, step, count).unwrap();
        Simulation::new(common::ready("oscillator"), Hht::new(0.0).unwrap(), grid, vec![signal]).unwrap()
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
        let text = statistics.warnings.join("\n");
        println!("{interpolation}: {text}");
        assert_eq!(text.contains("with cubic instead of linear interpolation"), interpolation == Interpolation::Linear);
        assert_eq!(made(&statistics).smoothed.is_some(), interpolation == Interpolation::Linear);
        // who asked for splines learns what lines would be, and is not warned
        assert_eq!(made(&statistics).straightened.is_some(), interpolation == Interpolation::Cubic);
        let text = statistics.summary();
        assert_eq!(text.contains("with linear instead of cubic interpolation"), interpolation == Interpolation::Cubic);
    }
}

/// The slider-crank over one turn, its crank's angle and its slider's acceleration sampled every 5 ms.
fn crank(substeps: usize) -> Simulation {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("slider_crank").unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.step = 5e-3 / substeps as f64;
    entry.simulation(&scenario).unwrap()
}

/// What its sensors see, with noise; the motion from steps that have no error to speak of.
fn crank_record(seed: u64, fine: &[Vec<f64>; 2]) -> Vec<Reference> {
    let mut random = SplitMix64::new(seed);
    let mut reference = |(output, clean, deviation): (usize, &Vec<f64>, f64)| Reference {
        output,
        values: clean.iter().map(|y| y + deviation * random.normal()).collect(),
        deviation,
    };
    vec![reference((0, &fine[0], 2e-3)), reference((3, &fine[1], 0.1))]
}

fn crank_motion() -> [Vec<f64>; 2] {
    const FINE: usize = 64;
    let simulation = crank(FINE);
    let run = simulation.run(&simulation.signature().nominal()).unwrap();
    [0, 3].map(|output| run.output(output).into_iter().step_by(FINE).collect())
}

fn crank_problem(substeps: usize, references: Vec<Reference>) -> Problem {
    let simulation = crank(substeps);
    let times: Vec<f64> = simulation.grid().times().iter().copied().step_by(substeps).collect();
    let cost = LeastSquares::new(&times, references, substeps, Quadrature::Unit).unwrap();
    let mut problem = Problem::new("slider_crank", simulation, Box::new(cost));
    for parameter in &mut problem.parameters {
        parameter.free = ["m_slider", "I_crank", "k", "d"].contains(&&*parameter.name);
    }
    problem
}

/// Protects the prediction for a mechanism with constraints: with one step a sample, the report says by how many standard
/// errors the optimum of the slider-crank is off, within 20 % of what a fit at a 32nd of the step says.
#[test]
fn the_shift_of_a_slider_crank_is_predicted() {
    let motion = crank_motion();
    for seed in 0..2 {
        let references = crank_record(seed, &motion);
        let (coarse, statistics) = fit(&crank_problem(1, references.clone()));
        let (fine, _) = fit(&crank_problem(32, references));
        let shifts = &made(&statistics).shifts;
        assert!(shifts[0].standard_errors.abs() > 1.0, "{shifts:?}");
        assert!(statistics.warnings.join("\n").contains(&format!("time step: `{}`", shifts[0].name)));
        for Shift { name, shift, standard_errors, .. } in shifts.iter().filter(|own| own.standard_errors.abs() > 0.5) {
            let whole = value(&fine, name) - value(&coarse, name);
            println!("seed {seed}, {name}: {standard_errors:.2} standard errors; {:e} of {whole:e}", 4.0 / 3.0 * shift);
            assert!((4.0 / 3.0 * shift / whole - 1.0).abs() < 0.2, "{name}: {shift:e} for {whole:e}");
        }
    }
}

/// Protects against false alarms there: with steps that are fine, nothing is said over ten seeds.
#[test]
fn fine_steps_of_a_slider_crank_raise_no_alarm() {
    let motion = crank_motion();
    for seed in 0..10 {
        let (_, statistics) = fit(&crank_problem(16, crank_record(seed, &motion)));
        assert!(!statistics.warnings.join("\n").contains("time step"), "seed {seed}: {:?}", statistics.warnings);
        println!("seed {seed}: {:?}", made(&statistics).shifts[0]);
    }
}

fn choose(problem: &mut Problem, settings: &Settings, steps: &Steps) -> (Fit, Vec<String>) {
    let mut sentences = Vec::new();
    let mut before = |_: &Problem, sentence: &str| {
        sentences.push(sentence.to_string());
        Ok(())
    };
    let observer = &mut |_: &_| Flow::Continue;
    let fit = identify_with_steps(problem, settings, Noise::Estimated, steps, observer, &mut before).unwrap();
    (fit, sentences)
}

/// Protects the choice: steps become as fine as the optimum asks for, in one account of the search; a choice is repeated to the last bit, and
/// steps that are given stay.
#[test]
fn steps_are_chosen_by_what_they_make_of_the_optimum() {
    let references = record(1);
    let mut chosen = problem(1, references.clone());
    let start = chosen.start.clone();
    let (fit, sentences) = choose(&mut chosen, &Settings::default(), &Steps::Chosen);
    let statistics = fit.statistics.unwrap();
    let choice = statistics.step_choice.as_ref().unwrap();
    let last = choice.fits.last().unwrap();
    println!("{}\n{sentences:?}", statistics.summary());
    assert!(choice.fits.len() > 1 && choice.refused.is_none(), "{choice:?}");
    assert!(made(&statistics).shifts[0].standard_errors.abs() < 0.1);
    assert_eq!(chosen.first().cost.as_least_squares().unwrap().substeps(), Some(last.divided_by));
    assert_eq!((&chosen.start, sentences.len()), (&start, choice.fits.len() - 1));
    assert!(sentences[0].contains("1 step a sample is too coarse: `L` shifts by"), "{sentences:?}");
    for part in
        ["with 1 step a sample, `L` shifts by +", &format!("substeps = {} chosen", last.divided_by), "no parameter"]
    {
        assert!(statistics.summary().contains(part), "`{part}` is missing in {}", statistics.summary());
    }
    assert!(!statistics.warnings.join("\n").contains("time step"), "{:?}", statistics.warnings);
    // one search from the start on
    let (found, outcome) = (&fit.found, &fit.found.outcome);
    assert_eq!(found.history[0], start);
    assert_eq!(found.parameters.iter().map(|p| p.start).collect::<Vec<_>>(), start);
    assert_eq!(outcome.history.last().unwrap().number, outcome.iterations);
    assert_eq!((found.history.len(), outcome.history.len()), (outcome.iterations + 1, outcome.iterations + 1));
    // that of the fine steps alone
    let (alone, _) = self::fit(&problem(last.divided_by, references.clone()));
    let error = statistics.parameters.iter().find(|p| p.name == "L").unwrap().standard_error;
    assert!((value(&alone, "L") - value(found, "L")).abs() < 1e-6 * error);
    let parts = choice.fits.iter().map(|fit| fit.divided_by).collect();
    let (again, _) = choose(&mut problem(1, references.clone()), &Settings::default(), &Steps::Repeated(parts));
    assert_eq!(again.found.values(), found.values());
    assert_eq!(again.found.outcome.cost.to_bits(), outcome.cost.to_bits());
    let mut given = problem(1, references);
    let (as_given, sentences) = choose(&mut given, &Settings::default(), &Steps::AsGiven);
    let statistics = as_given.statistics.unwrap();
    assert!(sentences.is_empty() && statistics.step_choice.is_none());
    assert!(statistics.warnings.join("\n").contains("use substeps = "));
    assert_eq!(given.first().cost.as_least_squares().unwrap().substeps(), Some(1));
}

/// Protects what has been found: where finer steps cannot be had, or nobody waits for them, the fit with coarse ones is the result, and it is
/// said so. Where there is no noise, nothing is chosen and nothing said.
#[test]
fn a_fit_survives_steps_that_cannot_be_had() {
    let mut refused = problem(1, record(2));
    let mut before = |finer: &Problem, _: &str| {
        let (what, remedy) = (format!("{} steps", finer.steps()), "take fewer".to_string());
        Err(Error::Memory { what, needed: 1e12, available: Some(1e9), remedy }.into())
    };
    let (settings, observer) = (Settings::default(), &mut |_: &_| Flow::Continue);
    let fit =
        identify_with_steps(&mut refused, &settings, Noise::Estimated, &Steps::Chosen, observer, &mut before).unwrap();
    let statistics = fit.statistics.unwrap();
    let text = statistics.warnings.join("\n");
    assert!(fit.found.outcome.converged);
    for part in ["use substeps = ", " could not be taken: ", "1 TB of memory", "the result is that of substeps = 1"] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    assert_eq!(refused.first().cost.as_least_squares().unwrap().substeps(), Some(1));
    let (plain, _) = self::fit(&problem(1, record(2)));
    assert_eq!(plain.values(), fit.found.values());
    // no evaluation is left for another fit
    let options = Options { max_evaluations: plain.outcome.evaluations, ..Options::default() };
    let settings = Settings { options, ..Settings::default() };
    let (short, _) = choose(&mut problem(1, record(2)), &settings, &Steps::Chosen);
    assert_eq!(short.found.values(), plain.values());
    assert!(short.statistics.unwrap().warnings.join("\n").contains(" could not be taken: the fit with them: "));
    // records that simulations have written, with noise that tells their steps from others by far
    let mut random = SplitMix64::new(9);
    let mut written = |substeps: usize, deviation: f64| {
        let simulation = pendulum(substeps);
        let run = simulation.run(&simulation.signature().nominal()).unwrap().output(0);
        let values = run.into_iter().step_by(substeps).map(|y| y + deviation * random.normal()).collect();
        problem(1, vec![Reference { output: 0, values, deviation: 1e-3 }])
    };
    let (worse, _) = choose(&mut written(1, 1e-7), &Settings::default(), &Steps::Chosen);
    let text = worse.statistics.unwrap().warnings.join("\n");
    assert!(text.contains("finer steps fit worse") && text.contains("set substeps = 1 to keep them"), "{text}");
    let (limit, _) = choose(&mut written(MOST_SUBSTEPS, 1e-7), &Settings::default(), &Steps::Chosen);
    let statistics = limit.statistics.unwrap();
    let (summary, text) = (statistics.summary(), statistics.warnings.join("\n"));
    assert!(summary.contains(&format!("more than {MOST_SUBSTEPS} are not chosen")), "{summary}\n{text}");
    assert!(text.contains("use substeps = ") && !text.contains("fit worse"), "{text}");
    let (clean, sentences) = choose(&mut written(1, 0.0), &Settings::default(), &Steps::Chosen);
    let statistics = clean.statistics.unwrap();
    assert!(sentences.is_empty() && statistics.is_noise_free && !statistics.summary().contains("time step"));
}

/// The angle of a swing, sampled every 0.1 s of a period of 1.9 s, from steps that have no error to speak of.
fn coarse(seed: u64, noise: f64) -> Problem {
    const STEP: f64 = 0.1;
    const COUNT: usize = 200;
    const FINE: usize = 100;
    let simulation = |substeps: usize| {
        let grid = TimeGrid::steps(0.0, STEP / substeps as f64, COUNT * substeps).unwrap();
        Simulation::new(common::ready("pendulum"), Hht::new(-0.05).unwrap(), grid, vec![]).unwrap()
    };
    let fine = simulation(FINE);
    let mut random = SplitMix64::new(seed);
    let clean = fine.run(&fine.signature().nominal()).unwrap().output(0).into_iter().step_by(FINE);
    let values = clean.map(|y| y + noise * random.normal()).collect();
    let given = simulation(1);
    let cost = LeastSquares::new(
        given.grid().times(),
        vec![Reference { output: 0, values, deviation: noise }],
        1,
        Quadrature::Unit,
    );
    Problem::new("pendulum", given, Box::new(cost.unwrap()))
}

/// Protects fits to coarse records: steps are chosen before the fit, by the error that they make at its start, and told with it; the length is found within its interval, where
/// one step a sample does not lead there. The choice is repeated to the last bit.
#[test]
fn steps_are_chosen_before_a_fit_to_a_coarse_record() {
    let mut problem = coarse(3, 2e-3);
    let known = BeforeFit::of(&problem, &problem.start).unwrap();
    assert!(known.divided_by > 1 && known.failure.is_none(), "{known:?}");
    assert!(known.error.as_ref().unwrap().relative > 0.1 && known.error_after.as_ref().unwrap().relative <= 0.1);
    // no finer than need be: half as many steps are too coarse
    let coarser = coarse(3, 2e-3);
    let finer = BeforeFit::of(&divided(&coarser, known.divided_by / 2), &coarser.start);
    assert!(known.divided_by == 2 || finer.is_some_and(|finer| finer.divided_by == 2), "{known:?}");
    let (fit, sentences) = choose(&mut problem, &Settings::default(), &Steps::Chosen);
    let statistics = fit.statistics.unwrap();
    assert!(fit.found.outcome.converged, "{}", fit.found.reason());
    assert!(sentences[0].contains("the error of `angle` with 1 step a sample is about "), "{sentences:?}");
    assert!(
        sentences[0].contains(&format!("substeps = {} chosen for the first fit", known.divided_by)),
        "{sentences:?}"
    );
    assert!(statistics.summary().contains(&sentences[0]), "{}", statistics.summary());
    let length = statistics.parameters.iter().find(|own| own.name == "L").unwrap();
    assert!((length.value - 0.8).abs() < 4.0 * length.standard_error && length.standard_error < 2e-3, "{length:?}");
    let choice = statistics.step_choice.unwrap();
    assert_eq!(choice.fits[0].divided_by, known.divided_by);
    let parts = choice.fits.iter().map(|fit| fit.divided_by).collect();
    let (again, _) = choose(&mut coarse(3, 2e-3), &Settings::default(), &Steps::Repeated(parts));
    assert_eq!(again.found.values(), fit.found.values());
}

/// The same problem with more steps between its samples.
fn divided(given: &Problem, parts: usize) -> Problem {
    let experiment = given.first();
    let cost = experiment.cost.as_least_squares().unwrap();
    let times = experiment.simulation.grid().times();
    let grid = TimeGrid::steps(0.0, times[1] / parts as f64, (times.len() - 1) * parts).unwrap();
    let finer = experiment.simulation.on(grid, vec![]).unwrap();
    let cost = LeastSquares::new(times, cost.references().to_vec(), parts, Quadrature::Unit).unwrap();
    Problem::new("pendulum", finer, Box::new(cost))
}

/// Protects against steps that nobody needs: those of a record that is sampled finely stay, and nothing is said.
#[test]
fn fine_records_keep_their_steps() {
    let problem = problem(1, record(4));
    assert_eq!(BeforeFit::of(&problem, &problem.start), None);
}
