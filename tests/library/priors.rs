//! Priors as residuals: cost, derivatives, optimum and statistics against closed forms, tangents and differences.

use crate::statistics::problems::{Line, Noisy, TwoSprings, close, even, line, problem, simulation};
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::sensitivity::Method;
use costate_identify::constraint::Constraint;
use costate_identify::likelihood::identify_with_noise;
use costate_identify::optimise::{Flow, Method as Search};
use costate_identify::prior::{Distribution, PriorResult};
use costate_identify::problem::{Experiment, Problem};
use costate_identify::statistics::{Determinacy, Noise, Statistics, identifiability};
use costate_identify::{Settings, identify};

const NORMAL: Distribution = Distribution::Normal { mean: 1.5, deviation: 0.1 };

/// Two lines with slopes in common; each has its own start, of which the same is known.
fn two_lines() -> Problem {
    let (times, values, problem, _) = line(Quadrature::Unit);
    let other: Vec<f64> = values.iter().map(|y| y + 0.4).collect();
    let reference = Reference { output: 0, values: other, deviation: 0.25 };
    let cost = LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit).unwrap();
    let second = Experiment::new("second", simulation(Line, &times), Box::new(cost));
    let mut problem = problem.with_experiment(second, &["a"]).unwrap();
    problem.parameters[1].lower = 0.0;
    problem
        .with_prior("a", NORMAL)
        .unwrap()
        .with_prior("b", Distribution::LogNormal { median: 0.5, factor: 1.2 })
        .unwrap()
}

/// Protects every derivative of a prior, local ones too: adjoint, tangents and differences of the cost agree, Hessian products with
/// differences of the gradient, and the linearised residuals with both.
#[test]
fn priors_are_in_every_derivative() {
    let problem = two_lines();
    assert_eq!(problem.priors.len(), 3);
    let u = vec![1.2, 0.8, 1.0, 2.1];
    let mut ensemble = problem.gradient().unwrap();
    let mut adjoint = vec![0.0; 4];
    let cost = ensemble.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
    let expected = 0.5 * (((1.2 - 1.5) / 0.1f64).powi(2) + ((2.1 - 1.5) / 0.1f64).powi(2))
        + 0.5 * ((0.8f64 / 0.5).ln() / 1.2f64.ln()).powi(2);
    close(problem.prior_cost(&u), expected, 1e-14, "cost of the priors");
    let plain = Problem { priors: Vec::new(), ..two_lines() };
    close(cost - plain.gradient().unwrap().cost(&u).unwrap(), expected, 1e-12, "the priors' part");
    let mut tangent = vec![0.0; 4];
    ensemble.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
    let costs = problem.least_squares().unwrap();
    let linearised = ensemble.linearise(&u, &costs).unwrap();
    close(linearised.cost(), cost, 1e-13, "cost of the residuals");
    assert_eq!(linearised.rows, 27);
    let differences = ensemble.differences(&u).unwrap();
    for k in [0, 1, 3] {
        close(tangent[k], adjoint[k], 1e-11, "tangent");
        close(linearised.gradient()[k], adjoint[k], 1e-11, "residuals");
        close(differences[k].value, adjoint[k], 1e-7, "differences");
    }
    let direction = vec![0.3, -0.7, 0.0, 0.5];
    let (mut gradient, mut product) = (vec![0.0; 4], vec![0.0; 4]);
    ensemble.hessian_vector(&u, &direction, &mut gradient, &mut product).unwrap();
    let mut beside = |h: f64| {
        let at: Vec<f64> = u.iter().zip(&direction).map(|(u, d)| u + h * d).collect();
        let mut slope = vec![0.0; 4];
        ensemble.cost_and_gradient(&at, Method::Adjoint, &mut slope).unwrap();
        slope
    };
    let (after, before) = (beside(1e-5), beside(-1e-5));
    for k in [0, 1, 3] {
        close(product[k], (after[k] - before[k]) / 2e-5, 1e-7, "Hessian");
        close(gradient[k], adjoint[k], 1e-12, "gradient of the Hessian");
    }
}

/// Protects the fit: every method ends at the same values, those of the normal equations with the priors' rows; with a constraint, too.
#[test]
fn every_method_finds_the_most_probable_values() {
    let (times, values, problem, _) = line(Quadrature::Unit);
    let problem = problem.with_prior("a", NORMAL).unwrap();
    // by hand: weights 16 of the samples, 100 of the prior
    let sum = |f: &dyn Fn(f64, f64) -> f64| times.iter().zip(&values).map(|(t, y)| 16.0 * f(*t, *y)).sum::<f64>();
    let (n, t, tt) = (sum(&|_, _| 1.0) + 100.0, sum(&|t, _| t), sum(&|t, _| t * t));
    let (y, ty) = (sum(&|_, y| y) + 150.0, sum(&|t, y| t * y));
    let determinant = n * tt - t * t;
    let expected = [(tt * y - t * ty) / determinant, (n * ty - t * y) / determinant];
    for method in [Search::LevenbergMarquardt, Search::GaussNewton, Search::Bfgs, Search::NewtonTrustRegion] {
        let settings = Settings { method: Some(method), ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        assert!(found.outcome.converged, "{method}: {}", found.reason());
        for (k, expected) in expected.into_iter().enumerate() {
            close(found.parameters[k].value, expected, 1e-7, &format!("{method}, {k}"));
        }
    }
    let statistics = Statistics::at(&problem, &[expected[0], expected[1], 1.0], &[], Noise::Given).unwrap();
    close(statistics.parameters[0].standard_error, (tt / determinant).sqrt(), 1e-9, "standard error of a");
    close(statistics.parameters[1].standard_error, (n / determinant).sqrt(), 1e-9, "standard error of b");
    close(statistics.correlation[(0, 1)], -t / (n * tt).sqrt(), 1e-9, "correlation");
    assert_eq!(statistics.count, 12);
    // noise known up to a factor: the priors do not grow with it
    let doubled = Statistics::at(&problem, &[expected[0], expected[1], 1.0], &[], Noise::Estimated).unwrap();
    let factor = doubled.reduced_chi_square().unwrap();
    let (h11, h12, h22) = (tt / determinant, -t / determinant, n / determinant);
    let meat = [factor * (n - 100.0) + 100.0, factor * t, factor * tt];
    let row = |a: f64, b: f64| a * a * meat[0] + 2.0 * a * b * meat[1] + b * b * meat[2];
    close(doubled.parameters[0].standard_error, row(h11, h12).sqrt(), 1e-9, "a, noise estimated");
    close(doubled.parameters[1].standard_error, row(h12, h22).sqrt(), 1e-9, "b, noise estimated");
    // a rule between both, by residuals and by gradients, in several experiments
    for method in [Search::LevenbergMarquardt, Search::Bfgs] {
        let mut problem = two_lines();
        let signature = problem.first().simulation.signature().clone();
        problem.constraints = vec![Constraint::parse("b = 0.7", &signature).unwrap()];
        problem.start = vec![1.0, 0.6, 1.0, 1.0];
        let settings = Settings { method: Some(method), ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        assert!(found.outcome.converged, "{method}: {}", found.reason());
        // with the slope held, each start is a weighted mean
        let mean = |shift: f64| {
            let data: f64 = times.iter().zip(&values).map(|(t, y)| 16.0 * (y + shift - 0.7 * t)).sum();
            (data + 150.0) / (16.0 * 12.0 + 100.0)
        };
        close(found.parameters[0].value, mean(0.0), 1e-6, &format!("{method}, first start"));
        close(found.parameters[3].value, mean(0.4), 1e-6, &format!("{method}, second start"));
        let mut cost = problem.gradient().unwrap();
        close(found.outcome.cost, cost.cost(&found.values()).unwrap(), 1e-9, &format!("{method}, cost"));
    }
}

/// Protects what a prior is for: of two springs in parallel only the sum is determined; with a prior of one, both are, and it is said
/// that this one is known from its prior.
#[test]
fn a_prior_determines_what_the_data_do_not() {
    let simulation = simulation(TwoSprings, &even(300, 0.01));
    let truth = simulation.run(&[1.0, 30.0, 10.0, 0.8]).unwrap();
    let mut noisy = Noisy(3);
    let values = truth.output(0).into_iter().map(|y| y + 1e-3 * noisy.normal()).collect();
    let reference = Reference { output: 0, values, deviation: 1e-3 };
    let mut problem = problem(simulation, vec![reference], Quadrature::Unit, &[1.0, 20.0, 20.0, 0.5]);
    problem.parameters[1].lower = 0.0;
    assert_eq!(identifiability(&problem, &problem.start).unwrap().undetermined.len(), 1);
    let problem = problem.with_prior("k1", Distribution::LogNormal { median: 29.0, factor: 1.1 }).unwrap();
    assert!(identifiability(&problem, &problem.start).unwrap().undetermined.is_empty());
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    assert!(found.outcome.converged, "{}", found.reason());
    close(found.parameters[1].value, 29.0, 1e-6, "the prior's median");
    close(found.parameters[1].value + found.parameters[2].value, 40.0, 0.01, "sum");
    let statistics = Statistics::of(&problem, &found, Noise::Given).unwrap();
    let determinacies: Vec<Determinacy> = statistics.parameters.iter().map(|own| own.determinacy).collect();
    assert_eq!(
        determinacies,
        [Determinacy::Fixed, Determinacy::FromPrior, Determinacy::Determined, Determinacy::Determined]
    );
    close(statistics.parameters[1].standard_error, 29.0 * 1.1f64.ln(), 1e-6, "posterior");
    let text = statistics.warnings.join("\n");
    assert!(text.contains("`k1` is known from its prior, not from the data"), "{text}");
    // the data pay for two parameters, the prior for the third
    assert_eq!(statistics.degrees_of_freedom, 298);
    let report =
        PriorResult::report(&PriorResult::all(&problem, &found.values(), Some(&statistics)), found.outcome.cost);
    assert!(report.contains("29 */ 1.1") && report.contains("of the data +"), "{report}");
    // one of the damper is overruled by the data, and one that contradicts them is named
    let problem = problem.with_prior("d", Distribution::Normal { mean: 1.2, deviation: 0.05 }).unwrap();
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Given).unwrap();
    assert_eq!(statistics.parameters[3].determinacy, Determinacy::Determined);
    let text = statistics.warnings.join("\n");
    assert!(text.contains("`d` is") && text.contains("off its prior"), "{text}");
}

/// Protects whoever states a prior that makes no sense: each gets a sentence with the quantity and the remedy.
#[test]
fn priors_without_sense_are_refused() {
    let refused = |name: &str, distribution: Distribution, change: &dyn Fn(&mut Problem), words: &[&str]| {
        let (.., mut problem, _) = line(Quadrature::Unit);
        change(&mut problem);
        let message = problem.with_prior(name, distribution).err().unwrap().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    };
    let normal = |deviation: f64| Distribution::Normal { mean: 1.0, deviation };
    let log = |median: f64, factor: f64| Distribution::LogNormal { median, factor };
    let nothing = |_: &mut Problem| {};
    for deviation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused("a", normal(deviation), &nothing, &["parameter `a`", "is not positive", "give a deviation > 0"]);
    }
    refused("a", log(0.0, 1.1), &nothing, &["its median 0 is not positive"]);
    refused("a", log(1.0, 1.0), &nothing, &["its factor 1 is not above 1", "give a factor such as 1.1"]);
    refused("c", normal(1.0), &nothing, &["the prior of `c`", "the parameter is fixed", "leave out its prior"]);
    refused("A", normal(1.0), &nothing, &["there is no parameter `A`", "did you mean `a`?"]);
    let bounded = |problem: &mut Problem| problem.parameters[0].upper = 0.5;
    refused("a", normal(1.0), &bounded, &["its centre 1 m lies outside the bounds [-inf, 0.5]", "move the bounds"]);
    refused("a", log(1.0, 1.1), &|problem| problem.start[0] = 0.0, &["the start 0 m has no logarithm"]);
    refused(
        "a",
        log(1.0, 1.1),
        &nothing,
        &["the lower bound -inf allows values without a logarithm", "give lower = 0"],
    );
}

/// Protects deviations of priors by the evidence against the closed form: of means of equal error v of many records, each drawn about zero, the most
/// probable deviation is √(mean square - v), and the data determine s²/(s² + v) of each.
#[test]
fn a_deviation_of_priors_is_the_most_probable_one() {
    let (experiments, samples, sigma) = (12usize, 8usize, 0.5);
    let times = even(samples, 0.1);
    let mut noisy = crate::statistics::problems::Noisy(11);
    let mut means = Vec::new();
    let mut build = |name: &str| {
        let own = 0.8 * noisy.normal();
        let values: Vec<f64> = times.iter().map(|_| own + sigma * noisy.normal()).collect();
        means.push(values.iter().sum::<f64>() / values.len() as f64);
        let reference = Reference { output: 0, values, deviation: sigma };
        let cost = LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit).unwrap();
        Experiment::new(name, simulation(Line, &times), Box::new(cost))
    };
    let first = build("first");
    let mut problem = Problem::new("first", first.simulation, first.cost);
    // a level, without the slope
    problem.parameters[1].free = false;
    problem.start[1] = 0.0;
    problem.parameters[2].free = false;
    for k in 1..experiments {
        problem = problem.with_experiment(build(&format!("r{k}")), &["a"]).unwrap();
    }
    let mut problem = problem.with_estimated_prior("a", 0.0, false).unwrap();
    let found = identify_with_noise(&mut problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let noise = found.noise.unwrap();
    assert!(noise.sensors.is_empty() && noise.priors.len() == 1, "{}", noise.report());
    let v = sigma * sigma / samples as f64;
    let square = means.iter().map(|mean| mean * mean).sum::<f64>() / experiments as f64;
    let expected = (square - v).sqrt();
    // rounds end at a change of a thousandth
    close(noise.priors[0].deviation, expected, 3e-3, "deviation");
    close(noise.priors[0].determined, experiments as f64 * (1.0 - v / square), 1e-2, "determined");
    close(problem.priors[0].distribution.residual(1.0)[0], 1.0 / noise.priors[0].deviation, 1e-12, "in the problem");
    assert!(noise.report().contains("by evidence"), "{}", noise.report());
}
