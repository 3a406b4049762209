//! The bootstrap, and bands around outputs, where both have closed forms: residuals that are linear in the parameters.

use costate::cost::{LeastSquares, Loss, Quadrature, Reference, Sensor, Sensors};
use costate::random::SplitMix64;
use costate::scheme::Hht;
use costate::{Interrupt, Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
use costate_identify::Error;
use costate_identify::bands::{Band, Uncertainty, add_bootstrap, bands};
use costate_identify::bootstrap::{Bootstrap, Bootstrapped, Over, bootstrap};
use costate_identify::constraint::Constraint;
use costate_identify::optimise::Flow;
use costate_identify::prior::Distribution;
use costate_identify::problem::{Experiment, Problem};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::work::Work;
use costate_identify::{Identification, Settings, identify};
use std::sync::Arc;

/// A body under a constant force: x = a + b t + c t²/2, v = b + c t, which the trapezoidal rule reproduces exactly.
struct Parabola;

impl Model for Parabola {
    fn signature(&self) -> Signature {
        Signature::new("parabola").coordinates([("x", "m")]).outputs([("x", "m"), ("v", "m/s")]).parameters([
            Parameter::new("a", "m", 1.0),
            Parameter::new("b", "m/s", 1.0),
            Parameter::new("c", "m/s^2", 1.0),
        ])
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], v[0]) = (u[0], u[1]);
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[2];
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        (y[0], y[1]) = (x.q[0], x.v[0]);
    }
}

/// Derivatives of x and v.
fn slopes(t: f64) -> [[f64; 3]; 2] {
    [[1.0, t, 0.5 * t * t], [0.0, 1.0, t]]
}

const STEP: f64 = 0.1;

fn simulation(count: usize) -> Simulation {
    let grid = TimeGrid::steps(0.0, STEP, count - 1).unwrap();
    Simulation::new(Arc::new(Plain::new(Parabola).unwrap()), Hht::new(0.0).unwrap(), grid, vec![]).unwrap()
}

/// Samples of x about a = 1, b = 1, c = 1 with these errors.
fn cost(simulation: &Simulation, errors: &[f64]) -> LeastSquares {
    let x = |(i, error): (usize, &f64)| {
        let s = slopes(simulation.grid().times()[i])[0];
        s.iter().sum::<f64>() + error
    };
    let values = errors.iter().enumerate().map(x).collect();
    let reference = Reference { output: 0, values, deviation: 0.5 };
    LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Unit).unwrap()
}

/// With these parameters free.
fn problem(errors: &[f64], free: &[usize]) -> Problem {
    let simulation = simulation(errors.len());
    let cost = cost(&simulation, errors);
    let mut problem = Problem::new("parabola", simulation, Box::new(cost));
    (0..3).for_each(|k| problem.parameters[k].free = free.contains(&k));
    problem
}

fn white(count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    (0..count).map(|_| 0.3 * random.normal()).collect()
}

fn autoregressive(rho: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    let mut value = random.normal();
    let step = |_| {
        value = rho * value + (1.0 - rho * rho).sqrt() * random.normal();
        value
    };
    (0..count).map(step).collect()
}

fn fitted(problem: &Problem, noise: Noise) -> (Identification, Statistics) {
    let found = identify(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(problem, &found, noise).unwrap();
    (found, statistics)
}

fn drawn(problem: &Problem, asked: &Bootstrap) -> Bootstrapped {
    let (found, statistics) = fitted(problem, Noise::Estimated);
    bootstrap(problem, &found, &statistics, &Settings::default(), asked, (&Work::default(), &|_, _, _| {})).unwrap()
}

/// Four standard deviations of a standard error that so many replicates tell.
fn chance(replicates: usize) -> f64 {
    4.0 / (2.0 * replicates as f64).sqrt()
}

/// Protects the scale of standard errors: of white residuals and a linear model, single residuals drawn again scatter with the covariance
/// of the fit, exactly but for the number of replicates (residuals add up to zero, and √(n/ν) makes their variance χ²/ν). Intervals are
/// those of the normal distribution, within the four deviations of an outer quantile, 1.34 σ/√(N p (1 - p))·p.. of N; there is no bias.
#[test]
fn white_residuals_give_the_covariance() {
    let problem = problem(&white(60, 5), &[0, 1, 2]);
    let asked = Bootstrap { replicates: 400, seed: 3, block: Some(STEP), ..Bootstrap::default() };
    let found = drawn(&problem, &asked);
    assert_eq!((found.over, found.blocks[0].samples, found.succeeded()), (Over::Blocks, 1, 400));
    assert!((found.inflation - (60f64 / 57.0).sqrt()).abs() < 1e-12);
    // of a normal quantile, √(p (1 - p)/N)/density
    let of_quantile = 4.0 * (0.025f64 * 0.975 / 400.0).sqrt() / 0.0584;
    for own in &found.parameters {
        let ratio = own.ratio().unwrap();
        assert!((ratio - 1.0).abs() < chance(400), "{}: {ratio}", own.name);
        assert!(own.bias.abs() < 4.0 * own.standard_error / 20.0, "{own:?}");
        let ends = [own.value - 1.96 * own.standard_error, own.value + 1.96 * own.standard_error];
        for (end, expected) in [own.interval.0, own.interval.1].into_iter().zip(ends) {
            assert!((end - expected).abs() < of_quantile * own.standard_error, "{own:?}");
        }
    }
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    // other numbers from another seed, the same from the same
    assert_eq!(found, drawn(&problem, &asked));
    assert_ne!(found.replicates, drawn(&problem, &Bootstrap { seed: 4, ..asked }).replicates);
}

/// Protects what blocks are for: the mean of first-order autoregressive noise with ρ = 0.8 scatters three times as much as the covariance says,
/// and blocks of the rule's length find most of it. What they find is, but for chance, the variance of means of circular blocks of
/// these very residuals; with single residuals it is the covariance's error.
#[test]
fn blocks_find_the_error_of_coloured_noise() {
    const COUNT: usize = 1500;
    let noise = autoregressive(0.8, COUNT, 11);
    let problem = problem(&noise, &[0]);
    let asked = Bootstrap { replicates: 400, seed: 2, ..Bootstrap::default() };
    let found = drawn(&problem, &asked);
    let (own, block) = (&found.parameters[0], found.blocks[0].samples);
    let mean = noise.iter().sum::<f64>() / COUNT as f64;
    let of_block = |begin: usize| (0..block).map(|k| noise[(begin + k) % COUNT] - mean).sum::<f64>();
    let variance = (0..COUNT).map(|begin| of_block(begin).powi(2)).sum::<f64>() / COUNT as f64;
    // the last block is shorter; n/ν is 1500/1499
    let exact = (variance / (block * COUNT) as f64).sqrt();
    let tolerance = chance(400) + block as f64 / COUNT as f64;
    assert!((own.bootstrap_error / exact - 1.0).abs() < tolerance, "{} {exact} {block}", own.bootstrap_error);
    let ratio = own.ratio().unwrap();
    assert!((2.2..3.6).contains(&ratio), "{ratio} with blocks of {block}");
    assert!(found.warnings[0].contains("times as large by the bootstrap for `a`"), "{:?}", found.warnings);
    assert!(found.warnings[0].contains("residuals of `x` are not the white noise"), "{:?}", found.warnings);
    let single = drawn(&problem, &Bootstrap { block: Some(STEP), ..asked });
    assert!((single.parameters[0].ratio().unwrap() - 1.0).abs() < chance(400));
}

/// Ten short records whose means scatter more than their samples.
fn many_experiments(local: &[&str]) -> Problem {
    let mut random = SplitMix64::new(8);
    let simulation = simulation(12);
    let mut experiment = |number: usize| {
        let offset = random.normal();
        let errors: Vec<f64> = (0..12).map(|_| offset + 0.1 * random.normal()).collect();
        Experiment::new(format!("e{number}"), simulation.clone(), Box::new(cost(&simulation, &errors)))
    };
    let Experiment { simulation, cost, .. } = experiment(0);
    let mut problem = Problem::new("parabola", simulation, cost);
    (1..3).for_each(|k| problem.parameters[k].free = false);
    for number in 1..10 {
        problem = problem.with_experiment(experiment(number), local).unwrap();
    }
    problem
}

/// Protects the bootstrap of experiments: the mean of ten of them scatters by s/√10, s being the deviation of their means, exactly but for the
/// number of replicates, whatever the samples within them say; experiments are what is drawn by default.
#[test]
fn experiments_scatter_as_their_means_do() {
    let problem = many_experiments(&[]);
    let found = drawn(&problem, &Bootstrap { replicates: 400, ..Bootstrap::default() });
    assert_eq!((found.over, found.inflation), (Over::Experiments, 1.0));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let times = problem.first().simulation.grid().times();
    let own = |experiment: &Experiment| {
        let values = &experiment.cost.as_least_squares().unwrap().references()[0].values;
        let errors: Vec<f64> = values.iter().zip(times).map(|(x, t)| x - slopes(*t)[0].iter().sum::<f64>()).collect();
        mean(&errors)
    };
    let means: Vec<f64> = problem.experiments.iter().map(own).collect();
    let middle = mean(&means);
    let exact = (means.iter().map(|own| (own - middle).powi(2)).sum::<f64>() / 90.0).sqrt();
    let error = found.parameters[0].bootstrap_error;
    assert!((error / exact - 1.0).abs() < chance(400), "{error} {exact}");
    assert!(found.warnings[0].contains("experiments differ by more"), "{:?}", found.warnings);
}

/// Protects parameters that one experiment alone has: they are held where it is not drawn, and nothing is said of their scatter.
#[test]
fn local_parameters_come_with_their_experiments() {
    let mut problem = many_experiments(&["b"]);
    let names: Vec<String> = problem.parameters.iter().map(|own| own.name.clone()).collect();
    let local: Vec<usize> = (0..names.len()).filter(|k| names[*k].starts_with("b@")).collect();
    assert_eq!(local.len(), 10);
    local.iter().for_each(|k| problem.parameters[*k].free = true);
    let found = drawn(&problem, &Bootstrap { replicates: 40, ..Bootstrap::default() });
    let optimum = |k: usize| found.parameters.iter().find(|own| own.parameter == k).unwrap().value;
    for replicate in &found.replicates {
        let u = replicate.values().unwrap();
        // nine of ten are drawn, with replacement: one is never there
        assert!(!replicate.held.is_empty() && replicate.held.len() < 10);
        for k in &local {
            assert_eq!(u[*k] == optimum(*k), replicate.held.contains(k), "{k}");
        }
    }
    for own in &found.parameters {
        assert_eq!(own.missing_because.is_some(), local.contains(&own.parameter), "{own:?}");
        assert_eq!(own.bootstrap_error.is_finite(), own.parameter == 0, "{own:?}");
    }
}

/// Protects priors and robust losses: with a prior as good as the data, the scatter is that of the covariance, in which the prior is one more
/// residual; with Huber's loss, that of the robust covariance, within the part that this is itself uncertain by (some outliers in 200 samples).
#[test]
fn priors_and_losses_scatter_as_the_covariance_says() {
    let problem =
        problem(&white(40, 7), &[0]).with_prior("a", Distribution::Normal { mean: 1.1, deviation: 0.08 }).unwrap();
    let asked = Bootstrap { replicates: 400, block: Some(STEP), ..Bootstrap::default() };
    let (found, statistics) = fitted(&problem, Noise::Given);
    let alone = 0.5 / 40f64.sqrt();
    assert!(statistics.parameters[0].standard_error < 0.8 * alone);
    let result =
        bootstrap(&problem, &found, &statistics, &Settings::default(), &asked, (&Work::default(), &|_, _, _| {}))
            .unwrap();
    // residuals scatter by 0.3 in the place of the given 0.5: the data's part of the variance is smaller by that squared
    let (data, prior) = (40.0 / 0.25, 0.08f64.powi(-2));
    let scatter = statistics.chi_square / statistics.degrees_of_freedom as f64;
    let exact = (data * scatter + prior).sqrt() / (data + prior);
    let error = result.parameters[0].bootstrap_error;
    assert!((error / exact - 1.0).abs() < chance(400) + 0.03, "{error} {exact}");

    let mut errors = white(200, 9);
    (0..200).step_by(20).for_each(|i| errors[i] += 5.0);
    let mut robust = self::problem(&errors, &[0]);
    let plain = robust.first().cost.as_least_squares().unwrap().clone();
    robust.experiments[0].cost = Box::new(plain.with_loss(None, Loss::Huber { scale: 1.0 }));
    let result = drawn(&robust, &asked);
    let ratio = result.parameters[0].ratio().unwrap();
    assert!((ratio - 1.0).abs() < chance(400) + 0.05, "{ratio}");
    assert!(
        result.parameters[0].bias.abs() < 0.25 * result.parameters[0].bootstrap_error,
        "{:?}",
        result.parameters[0]
    );
}

/// Protects bounds: no replicate leaves them, and those that end there are counted.
#[test]
fn bounds_are_kept() {
    let mut bounded = problem(&white(40, 1), &[0]);
    let (found, _) = fitted(&bounded, Noise::Estimated);
    bounded.start = found.values();
    bounded.parameters[0].lower = bounded.start[0] - 0.01;
    let result = drawn(&bounded, &Bootstrap::default());
    let own = &result.parameters[0];
    assert!(result.replicates.iter().all(|replicate| replicate.values().unwrap()[0] >= bounded.parameters[0].lower));
    assert!((60..120).contains(&own.at_bounds) && own.interval.0 == bounded.parameters[0].lower, "{own:?}");
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

/// Protects the words on what cannot be drawn, before any fit.
#[test]
fn what_cannot_be_drawn_is_refused() {
    let usual = Bootstrap::default();
    let mut problem = problem(&white(40, 1), &[0]);
    let refusal = |problem: &Problem, asked: Bootstrap| message(asked.check(problem));
    assert_eq!(refusal(&problem, usual), "");
    assert!(refusal(&problem, Bootstrap { replicates: 39, ..usual }).contains("40 or more"));
    assert!(refusal(&problem, Bootstrap { block: Some(2.1), ..usual }).contains("more than half of the record"));
    assert!(refusal(&problem, Bootstrap { block: Some(0.0), ..usual }).contains("have no length"));
    let over = Some(Over::Experiments);
    assert!(refusal(&problem, Bootstrap { over, ..usual }).contains("there is one experiment"));
    let many = many_experiments(&[]);
    assert!(refusal(&many, Bootstrap { over, block: Some(0.2), ..usual }).contains("experiments are drawn"));
    problem.parameters[0].free = false;
    assert!(refusal(&problem, usual).contains("fixed"));
    problem.parameters[0].free = true;
    problem.constraints = vec![Constraint::parse("a <= 2", problem.first().simulation.signature()).unwrap()];
    assert!(refusal(&problem, usual).contains("constraints"));
    let exact = self::problem(&[0.0; 40], &[0]);
    let (found, statistics) = fitted(&exact, Noise::Estimated);
    let settings = Settings::default();
    assert!(
        message(bootstrap(&exact, &found, &statistics, &settings, &usual, (&Work::default(), &|_, _, _| {})))
            .contains("round-off")
    );
    assert!(message(Uncertainty::of(&statistics)).contains("round-off"));
}

fn bands_of(problem: &Problem) -> (Vec<Band>, Statistics, Identification) {
    let (found, statistics) = fitted(problem, Noise::Estimated);
    let uncertainty = Uncertainty::of(&statistics).unwrap();
    (bands(problem, &found.values(), &uncertainty, &Interrupt::default()).unwrap(), statistics, found)
}

/// Protects bands by their closed form, √(s C sᵀ) with s = (1, t, t²/2) and (0, 1, t): of an output that is compared, with the noise, and of
/// one that is not; missing samples change nothing of where bands are. By a bootstrap, they are as wide but for chance.
#[test]
fn bands_are_those_of_the_closed_form() {
    let mut errors = white(30, 3);
    errors[4] = f64::NAN;
    let problem = problem(&errors, &[0, 1, 2]);
    let (mut found, statistics, fit) = bands_of(&problem);
    assert_eq!(found.iter().map(|band| band.times.len()).collect::<Vec<_>>(), [30, 30]);
    let sigma = (statistics.chi_square / 26.0).sqrt() * 0.5;
    for (k, band) in found.iter().enumerate() {
        for (i, t) in band.times.iter().enumerate() {
            let s = slopes(*t)[k];
            let row = |i: usize| (0..3).map(|j| statistics.covariance[(i, j)] * s[i] * s[j]).sum::<f64>();
            let exact = (0..3).map(row).sum::<f64>().sqrt();
            // differences of nearly equal terms: a condition of 1e3
            assert!((band.deviations[i] - exact).abs() < 1e-10 * sigma, "{k} {t}");
            let value: f64 = s.iter().zip(fit.values()).map(|(s, u)| s * u).sum();
            assert!((band.values[i] - value).abs() < 1e-9);
        }
    }
    let [x, v] = [&found[0], &found[1]];
    assert!((x.noise.unwrap() / sigma - 1.0).abs() < 1e-9 && v.noise.is_none());
    assert!((x.half_of_samples(7).unwrap() / x.quantile / sigma.hypot(x.deviations[7]) - 1.0).abs() < 1e-9);
    let inside = x.measured.iter().filter(|(i, off)| off.abs() <= x.half_of_samples(*i).unwrap()).count();
    assert_eq!((x.inside(), x.measured.len(), v.inside()), (Some((inside, 29)), 29, None));
    assert!(x.measured.iter().all(|(i, off)| {
        let data = slopes(x.times[*i])[0].iter().sum::<f64>() + errors[*i];
        (x.values[*i] + off - data).abs() < 1e-12
    }));
    let asked = Bootstrap { replicates: 400, block: Some(STEP), ..Bootstrap::default() };
    add_bootstrap(&problem, &drawn(&problem, &asked), &mut found).unwrap();
    let of_quantile = 4.0 * (0.025f64 * 0.975 / 400.0).sqrt() / 0.0584;
    for band in &found {
        for (i, (low, high)) in band.bootstrap.iter().enumerate() {
            let (deviation, y) = (band.deviations[i], band.values[i]);
            assert!((low - (y - 1.96 * deviation)).abs() < of_quantile * deviation, "{i}");
            assert!((high - (y + 1.96 * deviation)).abs() < of_quantile * deviation, "{i}");
        }
    }
}

/// Protects bands of what sensors show: with a bias β, z = v + β has s = (0, 1, t, 1) and is there at its samples.
#[test]
fn bands_are_those_of_what_sensors_show() {
    let mut random = SplitMix64::new(2);
    let simulation = simulation(20);
    let reference = |output: usize, random: &mut SplitMix64| {
        let value = |t: &f64| slopes(*t)[output].iter().sum::<f64>() + 0.7 * output as f64 + 0.1 * random.normal();
        Reference { output, values: simulation.grid().times().iter().map(value).collect(), deviation: 0.1 }
    };
    let references = vec![reference(0, &mut random), reference(1, &mut random)];
    let bias = Parameter::new("beta", "m/s", 0.5);
    let sensors = Sensors::new(vec![Sensor { bias: Some(bias), every: 3, ..Sensor::new(1) }]).unwrap();
    let times = simulation.grid().times().to_vec();
    let cost = LeastSquares::new(&times, references, 1, Quadrature::Unit).unwrap().with_sensors(sensors, &times);
    let problem = Problem::new("parabola", simulation, Box::new(cost.unwrap()));
    let (found, statistics, fit) = bands_of(&problem);
    let band = &found[1];
    assert_eq!((band.times.len(), band.measured.len()), (7, 7));
    for (i, t) in band.times.iter().enumerate() {
        let s = [0.0, 1.0, *t, 1.0];
        let row = |i: usize| (0..4).map(|j| statistics.covariance[(i, j)] * s[i] * s[j]).sum::<f64>();
        let exact = (0..4).map(row).sum::<f64>().sqrt();
        assert!((band.deviations[i] - exact).abs() < 1e-9, "{t}: {} {exact}", band.deviations[i]);
        let value: f64 = s.iter().zip(fit.values()).map(|(s, u)| s * u).sum();
        assert!((band.values[i] - value).abs() < 1e-9);
    }
}

/// Protects what 95 % means: of 400 records of twelve samples, where Student's quantile is exact, the bands hold the truth, and new samples, as
/// often, within four deviations √(p (1 - p)/400) of a count.
#[test]
fn bands_hold_as_often_as_they_say() {
    const RECORDS: usize = 400;
    let mut counts = [0usize; 4];
    for seed in 0..RECORDS as u64 {
        let (found, ..) = bands_of(&problem(&white(12, 1000 + seed), &[0, 1, 2]));
        let truth = |k: usize, t: f64| slopes(t)[k].iter().sum::<f64>();
        let [x, v] = [&found[0], &found[1]];
        for (slot, band, k, i) in [(0, x, 0, 0), (1, x, 0, 6), (2, v, 1, 11)] {
            counts[slot] += usize::from((band.values[i] - truth(k, band.times[i])).abs() <= band.half(i));
        }
        let new = truth(0, x.times[6]) + white(1, 77_000 + seed)[0];
        counts[3] += usize::from((x.values[6] - new).abs() <= x.half_of_samples(6).unwrap());
    }
    let tolerance = 4.0 * (0.95f64 * 0.05 / RECORDS as f64).sqrt();
    for count in counts {
        let part = count as f64 / RECORDS as f64;
        assert!((part - 0.95).abs() < tolerance, "{counts:?}");
    }
}
