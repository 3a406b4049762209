//! Tests on residuals: how often they cry wolf, and what they find.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::random::SplitMix64;
use costate::scheme::Hht;
use costate::{Interpolation, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid};
use costate_identify::optimise::Flow;
use costate_identify::problem::{Experiment, Problem};
use costate_identify::statistics::{Finding, Noise, ResidualTests, Statistics};
use costate_identify::{Settings, identify};
use costate_report::plot::correlograms;
use costate_report::{Folder, result_json};
use std::sync::Arc;

const STEP: f64 = 0.01;

/// y = k F, and what does not matter: z = b.
struct Gain;

impl Model for Gain {
    fn signature(&self) -> Signature {
        Signature::new("gain")
            .coordinates([("x", "m")])
            .inputs([("F", "N"), ("still", "N")])
            .outputs([("y", "N"), ("z", "N")])
            .parameters([Parameter::new("k", "1", 1.0), Parameter::new("b", "N", 0.0).fixed()])
    }
    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = D::from(0.0);
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        (y[0], y[1]) = (u[0] * x.w[0], u[1]);
    }
}

/// A force that remembers what it was a while before, as forces do.
fn force(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut last = 0.0;
    let next = |_| {
        last = 0.7 * last + random.normal();
        last
    };
    (0..count).map(next).collect()
}

fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(1_000_000 + seed);
    (0..count).map(|_| random.normal()).collect()
}

fn experiment(name: &str, force: &[f64], references: Vec<Reference>) -> Experiment {
    let grid = TimeGrid::steps(0.0, STEP, force.len() - 1).unwrap();
    let input = Signal::sampled_evenly(0.0, STEP, force, Interpolation::Linear).unwrap();
    let system = Arc::new(Plain::new(Gain).unwrap());
    let simulation = Simulation::new(system, Hht::new(0.0).unwrap(), grid, vec![input, Signal::constant(1.0)]).unwrap();
    let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Unit).unwrap();
    Experiment::new(name, simulation, Box::new(cost))
}

fn reference(output: usize, values: Vec<f64>) -> Reference {
    Reference { output, values, deviation: 1.0 }
}

/// y measured as `data`, driven by `force`.
fn measured(force: &[f64], data: Vec<f64>) -> Problem {
    let Experiment { simulation, cost, .. } = experiment("", force, vec![reference(0, data)]);
    Problem::new("gain", simulation, cost)
}

/// The statistics of the best fit.
fn fitted(problem: &Problem) -> Statistics {
    let found = identify(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    Statistics::of(problem, &found, Noise::Estimated).unwrap()
}

/// The same where y is 2 F with these errors.
fn tests_of(force: &[f64], errors: &[f64]) -> ResidualTests {
    let data = force.iter().zip(errors).map(|(force, error)| 2.0 * force + error).collect();
    fitted(&measured(force, data)).residual_tests.remove(0)
}

/// Noise of which neighbours correlate by `c`.
fn coloured(count: usize, seed: u64, c: f64) -> Vec<f64> {
    let mut last = 0.0;
    let errors = noise(count, seed).into_iter().map(|white| {
        last = c * last + white * (1.0 - c * c).sqrt();
        last
    });
    errors.collect()
}

/// Protects the levels of all tests: on white noise of 1000 seeds, with and without gaps, each of them finds something in about 1 %
/// of cases (with 1000 seeds, chance alone makes 0.3 %); Jarque and Bera's, known to be liberal with few samples, in up to 3 %.
#[test]
fn white_noise_is_white() {
    let count = 400;
    for gaps in [false, true] {
        let mut found = [0; 5];
        for seed in 0..1000 {
            let force = force(count, seed);
            let mut errors = noise(count, seed);
            if gaps {
                errors[30..75].fill(f64::NAN);
                errors.iter_mut().skip(90).step_by(7).for_each(|error| *error = f64::NAN);
            }
            let tests = tests_of(&force, &errors);
            let p_values = [
                tests.whiteness.unwrap().p_value,
                tests.inputs[0].p_value,
                tests.mean_p_value,
                tests.largest.unwrap().p_value,
                tests.normality.unwrap().test.p_value,
            ];
            assert_eq!(tests.inputs.len(), 1, "an input that does not vary is left out");
            found.iter_mut().zip(p_values).for_each(|(found, p)| *found += usize::from(p < 0.01));
        }
        println!("whiteness, input, mean, largest, normality: {found:?} of 1000");
        assert!(found[..4].iter().all(|found| (2..=20).contains(found)), "{found:?}");
        assert!((5..=30).contains(&found[4]), "{found:?}");
    }
}

/// Protects single bounds: 99 of 100 correlations of white noise lie within them, at every lag of figures; and so do those of noise
/// that is correlated itself with an input that is, too, since bounds count both in.
#[test]
fn bounds_hold_99_percent() {
    for c in [0.0, 0.8] {
        let (mut own, mut crossed, mut all) = (0, 0, 0);
        for seed in 0..200 {
            let tests = tests_of(&force(400, seed), &coloured(400, seed, c));
            let outside = |found: &costate_data::series::Correlogram| {
                found.values.iter().zip(&found.bounds_99).filter(|(value, bound)| value.abs() > **bound).count()
            };
            own += outside(tests.autocorrelation.as_ref().unwrap());
            crossed += outside(&tests.inputs[0].correlogram);
            all += 1;
        }
        let (own, crossed) = (own as f64 / f64::from(25 * all), crossed as f64 / f64::from(51 * all));
        println!("c = {c}: beyond their bounds {own:.4} of autocorrelations, {crossed:.4} of cross-correlations");
        assert!(c > 0.0 || (0.005..0.015).contains(&own), "{own}");
        assert!((0.003..0.02).contains(&crossed), "{crossed}");
    }
}

/// Protects the detection of missing dynamics: noise whose neighbours correlate is found always, with the factor by which standard
/// errors are too small; neighbours that alternate are told apart.
#[test]
fn correlated_residuals_are_found() {
    let mut factors = 0.0;
    for seed in 0..100 {
        let tests = tests_of(&force(400, seed), &coloured(400, seed, 0.6));
        assert!(tests.whiteness.unwrap().p_value < 1e-6, "seed {seed}");
        assert_eq!(tests.finding, Finding::Correlated, "seed {seed}: {}", tests.judgement);
        factors += tests.standard_error_factor / 100.0;
    }
    // √((1 + c)/(1 - c)) = 2 in the limit of many samples
    assert!((1.7..2.1).contains(&factors), "{factors}");
    let tests = tests_of(&force(400, 3), &coloured(400, 3, 0.6));
    println!("{}", tests.judgement);
    assert!(tests.judgement.contains("residuals of `y` are correlated over 0.0"), "{}", tests.judgement);
    assert!(tests.judgement.contains("dynamics are missing, not noise"), "{}", tests.judgement);
    assert!(tests.judgement.contains("perhaps by a factor of"), "{}", tests.judgement);
    let alternating = tests_of(&force(400, 3), &coloured(400, 3, -0.6));
    println!("{}", alternating.judgement);
    assert!(alternating.judgement.contains("alternate"), "{}", alternating.judgement);
    assert_eq!(alternating.standard_error_factor, 1.0);
    // of so many samples, a correlation that does not matter is proved and hardly counts
    let slight = tests_of(&force(40_000, 3), &coloured(40_000, 3, 0.05));
    assert!(slight.whiteness.unwrap().p_value < 1e-6);
    assert_eq!(slight.finding, Finding::SlightlyCorrelated, "{}", slight.judgement);
}

/// Protects records whose outputs are logged at different rates, in one file: an output that has a value in every 4th or 40th row is tested as if its
/// samples were the whole record. White is never what nobody looked at.
#[test]
fn samples_in_every_few_rows_are_neighbours() {
    for every in [4, 40] {
        let count = 400 * every;
        let (force, errors) = (force(count, 5), coloured(400, 5, 0.9));
        let mut sparse = vec![f64::NAN; count];
        sparse.iter_mut().step_by(every).zip(&errors).for_each(|(to, error)| *to = *error);
        let tests = tests_of(&force, &sparse);
        assert_eq!(tests.finding, Finding::Correlated, "{}", tests.judgement);
        assert_eq!(tests.whiteness.unwrap().degrees_of_freedom, 25);
        assert!((tests.step - STEP * every as f64).abs() < 1e-12);
        // √((1 + c)/(1 - c)) = 4.4, and less of so few samples
        assert!((2.5..5.0).contains(&tests.standard_error_factor), "{}", tests.standard_error_factor);
        assert!(tests.judgement.contains("perhaps by a factor of"), "{}", tests.judgement);
    }
    // of pairs that are far apart, each sample has one neighbour: the variance of the mean is 1 + c times that of white noise
    let (force, mut errors) = (force(4000, 6), coloured(4000, 6, 0.9));
    errors.iter_mut().enumerate().filter(|(i, _)| i % 40 > 1).for_each(|(_, error)| *error = f64::NAN);
    let pairs = tests_of(&force, &errors);
    assert!((pairs.standard_error_factor - 1.9_f64.sqrt()).abs() < 0.1, "{}", pairs.standard_error_factor);
}

/// Protects the detection of a delayed input: by name and delay, whatever the seed; and of one that comes too late.
#[test]
fn a_delayed_input_is_found() {
    let mut false_alarms = 0;
    for seed in 0..100 {
        let force = force(405, seed);
        let delayed = |by: usize| {
            let own = &force[5..];
            let other: Vec<f64> = force[5 - by..].iter().take(400).copied().collect();
            let errors = noise(400, seed);
            let errors: Vec<f64> = (0..400).map(|i| 0.8 * other[i] + 0.5 * errors[i]).collect();
            tests_of(own, &errors)
        };
        let tests = delayed(5);
        assert_eq!(tests.finding, Finding::FollowInput, "seed {seed}: {}", tests.judgement);
        assert_eq!((tests.inputs[0].lag, tests.inputs[0].input.as_str()), (5, "F"), "seed {seed}");
        if seed == 0 {
            println!("{}", tests.judgement);
            assert!(tests.judgement.contains("residuals of `y` follow input `F` at a delay of 0.05 s"));
        }
        // without delay, the gain takes it in
        false_alarms += usize::from(delayed(0).finding <= Finding::Correlated);
    }
    assert!(false_alarms <= 6, "{false_alarms} of 100, two expected");
    let force = force(400, 9);
    let late: Vec<f64> = (0..400).map(|i| force.get(i + 4).copied().unwrap_or(0.0)).collect();
    let tests = tests_of(&force, &late);
    println!("{}", tests.judgement);
    assert!(tests.judgement.contains("lead input `F` by 0.04 s"), "{}", tests.judgement);
}

/// Protects what else may be: an offset, an outlier with its leverage, heavy tails, constant and few residuals, round-off.
#[test]
fn other_findings_are_told_apart() {
    let force = force(400, 1);
    let found = |errors: Vec<f64>| {
        let tests = tests_of(&force, &errors);
        println!("{}", tests.judgement);
        (tests.finding, tests)
    };
    let white = noise(400, 5);
    assert_eq!(found(white.clone()).0, Finding::White);
    assert_eq!(found(white.iter().map(|e| e + 0.3).collect()).0, Finding::Offset);
    let mut outlier = white.clone();
    outlier[123] += 9.0;
    let (finding, tests) = found(outlier);
    let largest = tests.largest.unwrap();
    assert_eq!((finding, largest.time), (Finding::Outlier, 1.23));
    assert!((7.0..11.0).contains(&-largest.studentised), "{largest:?}");
    // one parameter: the leverage of a sample is its part of Σ F²
    let exact = force[123].powi(2) / force.iter().map(|force| force * force).sum::<f64>();
    assert!((largest.leverage / exact - 1.0).abs() < 1e-9, "{largest:?}");
    let (finding, tests) = found(white.iter().map(|e| e.powi(3)).collect());
    assert!(finding == Finding::NotNormal || finding == Finding::Outlier, "{finding:?}");
    assert!(tests.normality.unwrap().excess_kurtosis > 3.0 && !tests.normality.unwrap().few_samples);
    let few = tests_of(&force[..8], &white[..8]);
    assert!(few.finding == Finding::TooFew && few.whiteness.is_none(), "{}", few.judgement);
    let some = tests_of(&force[..40], &white[..40]);
    assert_eq!(some.autocorrelation.as_ref().unwrap().lags.len(), 10);
    assert!(some.normality.unwrap().few_samples);
    // z = b, constant data: residuals are the same everywhere, or noise
    let second = |errors: Vec<f64>| {
        let data = force.iter().zip(&white).map(|(force, error)| 2.0 * force + error).collect();
        let Experiment { simulation, cost, .. } =
            experiment("", &force, vec![reference(0, data), reference(1, errors)]);
        fitted(&Problem::new("gain", simulation, cost))
    };
    let constant = second(vec![0.4; 400]);
    assert_eq!(constant.residual_tests[1].finding, Finding::Constant, "{}", constant.residual_tests[1].judgement);
    assert!(constant.warnings.join("\n").contains("residuals of `z` are the same at all samples (-0.4 N)"));
    assert_eq!(second(noise(400, 8)).residual_tests[1].finding, Finding::White);
    assert_eq!(second(vec![0.0; 400]).residual_tests[1].finding, Finding::RoundOff);
    // data without noise: nothing at all is said
    let exact = fitted(&measured(&force, force.iter().map(|force| 2.0 * force).collect()));
    assert!(exact.is_noise_free && exact.residual_tests.is_empty());
}

fn several(errors: &[Vec<f64>]) -> Problem {
    let mut experiments = errors.iter().enumerate().map(|(k, errors)| {
        let force = force(errors.len(), 50 + k as u64);
        let data = force.iter().zip(errors).map(|(force, error)| 2.0 * force + error).collect();
        experiment(&format!("run{k}"), &force, vec![reference(0, data)])
    });
    let first = experiments.next().unwrap();
    let mut problem = Problem::new("gain", first.simulation, first.cost);
    problem.experiments[0].name = first.name;
    experiments.fold(problem, |problem, experiment| problem.with_experiment(experiment, &[]).unwrap())
}

/// Protects the one line on many experiments: what matters first, nothing said twice, and chance among many is no finding.
#[test]
fn many_outputs_have_one_line() {
    let mut errors: Vec<Vec<f64>> = (0..26).map(|k| noise(300, 100 + k)).collect();
    let white = fitted(&several(&errors));
    println!("{}", white.summary());
    assert_eq!(white.summary().matches("residuals of all 26 outputs are white").count(), 1);
    assert!(!white.warnings.join("\n").contains("residuals of"), "{:?}", white.warnings);
    for k in [3, 7, 11, 20] {
        errors[k] = coloured(300, k as u64, 0.7);
    }
    let force = force(300, 65);
    errors[15] = (0..300).map(|i| 2.0 * if i < 3 { 0.0 } else { force[i - 3] } + 0.1 * errors[15][i]).collect();
    let found = fitted(&several(&errors));
    let warnings: Vec<&String> = found.warnings.iter().filter(|warning| warning.contains("not white")).collect();
    println!("{}", warnings[0]);
    assert_eq!(warnings.len(), 1, "{:?}", found.warnings);
    assert!(
        warnings[0]
            .starts_with("residuals of 5 of 26 outputs are not white noise. Those of `y@run15` follow input `F`")
    );
    assert!(!found.summary().contains("white"), "{}", found.summary());
}

/// Protects what programs and readers get: JSON with a list of objects, and figures.
#[test]
fn reports_carry_the_tests() {
    let force = force(400, 2);
    let data = force.iter().zip(coloured(400, 4, 0.6)).map(|(force, error)| 2.0 * force + error).collect();
    let problem = measured(&force, data);
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Estimated);
    let json = result_json(&problem, "lm", &found, &statistics);
    let tests = &json["residual_tests"][0];
    assert_eq!((&tests["output"], &tests["finding"]), (&"y".into(), &"correlated".into()));
    assert_eq!(tests["autocorrelation"]["lags"].as_array().unwrap().len(), 25);
    assert_eq!(tests["inputs"][0]["correlogram"]["values"].as_array().unwrap().len(), 51);
    assert!(tests["whiteness"]["p_value"].as_f64().unwrap() < 1e-6 && tests["largest"]["studentised"].is_number());
    let path = std::env::temp_dir().join(format!("costate-residual-tests-{}", std::process::id()));
    let folder = Folder::create(&path, false).unwrap();
    folder.identification(&problem, &found, &statistics, json.clone()).unwrap();
    let svg = std::fs::read_to_string(path.join("residual_tests_y.svg")).unwrap();
    assert!(svg.contains("lag [s]") && svg.contains("with input F"), "labels");
    std::fs::remove_dir_all(path).unwrap();
    assert!(correlograms("lag", &[]).is_err());
}
