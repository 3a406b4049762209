//! Statistics of a fit and identifiability, against closed forms, planted deficiencies and repeated noise.

pub mod problems;

use costate::Parameter;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::least_squares::Reduction;
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::sensitivity::Gradient;
use costate_identify::optimise::{Flow, Method};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Analysed, Determinacy, Identifiability, Noise, Statistics, identifiability};
use costate_identify::{Settings, identify};
use costate_report::{Folder, parameter_table_with_errors, result_json};
use nalgebra::{DMatrix, DVector};
use problems::{Line, Noisy, TwoSprings, close, even, line, optimum, problem, simulation};

/// Protects every number of the statistics against the closed forms of a straight line (intercept, slope, their
/// covariance, chi-square, Student's interval, R², fit, AIC and BIC), with noise given and estimated.
#[test]
fn a_straight_line_has_the_known_statistics() {
    let (t, y, problem, u) = line(Quadrature::Unit);
    let n = t.len() as f64;
    let (mean_t, mean_y) = (t.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let s_tt: f64 = t.iter().map(|t| (t - mean_t).powi(2)).sum();
    let s_yy: f64 = y.iter().map(|y| (y - mean_y).powi(2)).sum();
    let slope = t.iter().zip(&y).map(|(t, y)| (t - mean_t) * (y - mean_y)).sum::<f64>() / s_tt;
    let intercept = mean_y - slope * mean_t;
    close(u[0], intercept, 1e-11, "intercept");
    close(u[1], slope, 1e-11, "slope");
    let squares: f64 = t.iter().zip(&y).map(|(t, y)| (y - intercept - slope * t).powi(2)).sum();
    let sigma = 0.25;
    for noise in [Noise::Given, Noise::Estimated] {
        let found = Statistics::at(&problem, &u, &[], noise).unwrap();
        assert_eq!((found.count, found.degrees_of_freedom), (12, 10));
        let chi_square = squares / (sigma * sigma);
        close(found.chi_square, chi_square, 1e-10, "chi-square");
        close(found.reduced_chi_square().unwrap(), chi_square / 10.0, 1e-10, "reduced chi-square");
        let variance = if noise == Noise::Given { sigma * sigma } else { squares / 10.0 };
        let errors = [(variance * (1.0 / n + mean_t * mean_t / s_tt)).sqrt(), (variance / s_tt).sqrt()];
        // 95 %: 1.96 for the normal distribution, 2.228 for ten degrees of freedom
        let t_95 = if noise == Noise::Given { 1.959_963_985 } else { 2.228_138_852 };
        for (k, error) in errors.into_iter().enumerate() {
            let parameter = &found.parameters[k];
            close(parameter.standard_error, error, 1e-10, &parameter.name);
            close(parameter.intervals[1].0, u[k] - t_95 * error, 1e-8, "lower end");
            close(parameter.intervals[1].1, u[k] + t_95 * error, 1e-8, "upper end");
        }
        close(found.covariance[(0, 1)], -variance * mean_t / s_tt, 1e-10, "covariance");
        close(found.correlation[(0, 1)], -mean_t / (s_tt / n + mean_t * mean_t).sqrt(), 1e-10, "correlation");
        close(found.outputs[0].r_squared.unwrap(), 1.0 - squares / s_yy, 1e-10, "R²");
        close(found.outputs[0].fit_percent.unwrap(), 100.0 * (1.0 - (squares / s_yy).sqrt()), 1e-10, "fit");
        close(found.outputs[0].rmse(), (squares / n).sqrt(), 1e-10, "RMSE");
        let (aic, bic) = match noise {
            Noise::Given => (chi_square + 4.0, chi_square + 2.0 * n.ln()),
            _ => (n * (chi_square / n).ln() + 6.0, n * (chi_square / n).ln() + 3.0 * n.ln()),
        };
        close(found.aic, aic, 1e-10, "AIC");
        close(found.bic, bic, 1e-10, "BIC");
        assert_eq!(found.parameters[2].determinacy, Determinacy::Fixed);
        // the ellipse touches the box of its projections: radius times standard error
        let (x, _) = found.ellipse(0, 1).unwrap();
        let radius = if noise == Noise::Given { -2.0 * 0.05f64.ln() } else { 2.0 * 4.102_821 };
        let reach = x.iter().fold(0.0f64, |reach, x| reach.max(*x));
        close(reach, radius.sqrt() * errors[0], 1e-6, "reach of the ellipse");
        assert!(!found.is_noise_free);
    }
}

/// Protects the covariance of a fit with quadrature weights on an uneven grid, and that such weights leave chi-square and
/// the count of residuals alone except where a weight is zero: against matrices written out.
#[test]
fn weights_of_a_quadrature_enter_the_covariance_but_not_chi_square() {
    for quadrature in [Quadrature::Trapezoid, Quadrature::Rectangle] {
        let (t, y, problem, u) = line(quadrature);
        let weights = problem.first().cost.as_least_squares().unwrap().weights().to_vec();
        let used: Vec<usize> = (0..t.len()).filter(|&i| weights[i] > 0.0).collect();
        let s = DMatrix::from_fn(used.len(), 2, |i, k| if k == 0 { 1.0 } else { t[used[i]] });
        let w = DMatrix::from_diagonal(&DVector::from_iterator(used.len(), used.iter().map(|&i| weights[i])));
        let bread = (s.transpose() * &w * &s).try_inverse().unwrap();
        let data = DVector::from_iterator(used.len(), used.iter().map(|&i| y[i]));
        let estimate = &bread * s.transpose() * &w * &data;
        let expected = &bread * s.transpose() * &w * &w * &s * &bread * (0.25 * 0.25);
        let found = Statistics::at(&problem, &u, &[], Noise::Given).unwrap();
        close(u[1], estimate[1], 1e-10, "slope");
        assert_eq!(found.count, used.len());
        close(found.chi_square, (data - &s * estimate).norm_squared() / 0.0625, 1e-10, "chi-square");
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            close(found.covariance[(i, j)], expected[(i, j)], 1e-9, "covariance");
        }
    }
}

fn springs(count: usize, outputs: &[usize]) -> Problem {
    let simulation = simulation(TwoSprings, &even(count, 0.01));
    let truth = simulation.run(&[1.0, 30.0, 10.0, 0.8]).unwrap();
    let mut noisy = Noisy(3);
    let references = outputs.iter().map(|&output| Reference {
        output,
        values: truth.output(output).into_iter().map(|y| y + 1e-3 * noisy.normal()).collect(),
        deviation: 1e-3,
    });
    let references = references.collect();
    problem(simulation, references, Quadrature::Unit, &[1.0, 30.0, 10.0, 0.8])
}

/// Protects the naming of what the data cannot tell: of two springs in parallel only the sum is determined, both have
/// infinite standard errors, and the damper beside them keeps its finite one.
#[test]
fn of_two_springs_in_parallel_only_the_sum_is_determined() {
    let problem = springs(300, &[0]);
    let found = identifiability(&problem, &problem.start).unwrap();
    assert_eq!(found.undetermined.len(), 1);
    assert_eq!(found.undetermined[0].names(), ["k1", "k2"]);
    let warnings = found.warnings().join("\n");
    assert!(warnings.contains("only k1 + k2 is determined"), "{warnings}");
    assert!(warnings.contains("k1/(30 N/m)") && warnings.contains("k2/(10 N/m)"), "{warnings}");
    assert_eq!(found.condition(), f64::INFINITY);
    let fit = Statistics::at(&problem, &problem.start, &[], Noise::Estimated).unwrap();
    assert_eq!(fit.degrees_of_freedom, 298, "two directions are determined");
    for k in [1, 2] {
        assert_eq!(fit.parameters[k].determinacy, Determinacy::Undetermined);
        assert_eq!(fit.parameters[k].standard_error, f64::INFINITY);
    }
    // with one spring fixed, the damper has the same standard error: the other spring takes up the sum
    let alone = Statistics::at(&problem, &problem.start, &[2], Noise::Given).unwrap();
    let both = Statistics::at(&problem, &problem.start, &[], Noise::Given).unwrap();
    close(both.parameters[3].standard_error, alone.parameters[3].standard_error, 1e-6, "damper");
    assert_eq!(alone.parameters[2].determinacy, Determinacy::AtBound);
}

/// Protects the common factor of a free oscillation: mass, springs and damper may all be multiplied; two directions are
/// separated into readable ones.
#[test]
fn a_free_oscillation_does_not_determine_a_common_factor() {
    let mut problem = springs(300, &[0, 1]);
    problem.parameters[0].free = true;
    problem.parameters[2].free = false;
    problem.start = vec![1.0, 40.0, 0.0, 0.8];
    let found = identifiability(&problem, &problem.start).unwrap();
    let text = found.warnings().join("\n");
    assert!(text.contains("multiplying m by f, k1 by f, d by f changes nothing"), "{text}");
    problem.parameters[2].free = true;
    problem.start = vec![1.0, 30.0, 10.0, 0.8];
    let found = identifiability(&problem, &problem.start).unwrap();
    assert_eq!(found.undetermined.len(), 2, "{:?}", found.singular_values);
}

/// Protects the limit between undetermined and merely weak: columns that differ by 1e-5 of their length are weak and
/// named so, those that differ by what round-off may leave are undetermined; a poor choice of sizes alone is neither.
#[test]
fn weak_directions_are_named_and_sizes_do_not_matter() {
    let analysed = |size: f64| {
        let parameter = |(index, name): (usize, &str), size| Analysed {
            index,
            name: name.into(),
            unit: "N".into(),
            value: 2.0,
            size,
            log: false,
        };
        vec![parameter((0, "p"), size), parameter((1, "q"), 1.0), parameter((2, "r"), 1.0)]
    };
    let linearised = |difference: f64| {
        let mut reduction = Reduction::new(3);
        for i in 0..200 {
            let (a, b, c) = ((0.1 * f64::from(i)).sin(), (0.37 * f64::from(i)).cos(), (0.05 * f64::from(i)).cos());
            reduction.add(&[a, a + difference * b, c], 0.0);
        }
        reduction.finish()
    };
    for size in [1.0, 1e6] {
        let weak = Identifiability::of(&linearised(1e-5), analysed(size)).unwrap();
        assert_eq!((weak.undetermined.len(), weak.weak.len()), (0, 1), "{:?}", weak.singular_values);
        let text = weak.warnings().join("\n");
        assert!(text.contains("hardly determine") && text.contains("p + q"), "{text}");
        let none = Identifiability::of(&linearised(1e-7), analysed(size)).unwrap();
        assert_eq!((none.undetermined.len(), none.weak.len()), (1, 0), "{:?}", none.singular_values);
        let well = Identifiability::of(&linearised(1.0), analysed(size)).unwrap();
        assert!(well.warnings().is_empty() && well.condition() < 10.0, "{:?}", well.warnings());
    }
}

/// Protects the sentences, and sensible outcomes, of input that allows no statistics or only some.
#[test]
fn wrong_input_gets_a_sentence_and_a_sensible_outcome() {
    let sentence = |result: costate_identify::Result<Statistics>| result.unwrap_err().to_string();
    // a parameter without influence is named, the others keep their statistics
    let (times, values, mut problem, u) = line(Quadrature::Unit);
    problem.parameters[2].free = true;
    let found = Statistics::at(&problem, &u, &[], Noise::Estimated).unwrap();
    assert!(found.warnings[0].contains("`c` has no influence"), "{:?}", found.warnings);
    assert_eq!(found.parameters[2].determinacy, Determinacy::WithoutInfluence);
    assert_eq!(found.parameters[2].standard_error, f64::INFINITY);
    assert!(found.parameters[0].standard_error.is_finite());
    assert_eq!(found.degrees_of_freedom, 10);
    assert!(found.parameters[2].at_start && !found.parameters[0].at_start);
    // all fixed, all at bounds
    assert!(sentence(Statistics::at(&problem, &u, &[0, 1, 2], Noise::Estimated)).contains("at their bounds"));
    problem.parameters.iter_mut().for_each(|p| p.free = false);
    assert!(sentence(Statistics::at(&problem, &u, &[], Noise::Estimated)).contains("all parameters are fixed"));
    // as many residuals as parameters, and fewer
    let few = |count: usize, quadrature| {
        let reference = Reference { output: 0, values: values[..count].to_vec(), deviation: 1.0 };
        self::problem(simulation(Line, &times[..count.max(2)]), vec![reference], quadrature, &[1.0, 1.0, 1.0])
    };
    let two = few(2, Quadrature::Unit);
    let found = Statistics::at(&two, &optimum(&two, &two.start, 2), &[], Noise::Estimated).unwrap();
    assert!(found.parameters[0].standard_error.is_nan() && found.reduced_chi_square().is_none());
    assert!(found.warnings.join("\n").contains("none is left to estimate the noise"), "{:?}", found.warnings);
    assert!(found.parameters[0].error_text().contains("unknown"));
    let given = Statistics::at(&two, &two.start, &[], Noise::Given).unwrap();
    close(given.parameters[0].standard_error, 1.0, 1e-10, "first of two points");
    let one = few(2, Quadrature::Rectangle);
    let found = Statistics::at(&one, &one.start, &[], Noise::Estimated).unwrap();
    assert_eq!((found.count, found.degrees_of_freedom), (1, 0));
    assert!(found.warnings[0].contains("`b` has no influence"), "the slope, seen at t = 0 only: {:?}", found.warnings);
    let mut reduction = Reduction::new(3);
    reduction.add(&[1.0, 2.0, 0.0], 0.5);
    let one = Identifiability::of(&reduction.finish(), given.identifiability.parameters.clone()).unwrap();
    assert!(one.warnings()[0].contains("1 residuals cannot determine 2 parameters"), "{:?}", one.warnings());
    assert_eq!(one.undetermined.len(), 1);
    let mut reduction = Reduction::new(3);
    (0..9).for_each(|_| reduction.add(&[0.0; 3], 0.5));
    let blind = Identifiability::of(&reduction.finish(), given.identifiability.parameters.clone()).unwrap();
    assert!(blind.warnings()[0].contains("`a`, `b` have no influence"), "{:?}", blind.warnings());
    // the same data twice
    let reference = Reference { output: 0, values: values.clone(), deviation: 1.0 };
    let twice = self::problem(simulation(Line, &times), vec![reference.clone(), reference], Quadrature::Unit, &u);
    let found = Statistics::at(&twice, &u, &[], Noise::Estimated).unwrap();
    assert!(found.warnings.join("\n").contains("compared twice"), "{:?}", found.warnings);
    // constant data have no spread to explain
    let flat = Reference { output: 0, values: vec![3.0; times.len()], deviation: 1.0 };
    let flat = self::problem(simulation(Line, &times), vec![flat], Quadrature::Unit, &u);
    let found = Statistics::at(&flat, &u, &[], Noise::Estimated).unwrap();
    assert_eq!((found.outputs[0].r_squared, found.outputs[0].fit_percent), (None, None));
    assert!(found.summary().contains("constant"));
    // times that run backwards have negative weights
    let zeros = Reference { output: 0, values: vec![0.0; 3], deviation: 1.0 };
    let cost = LeastSquares::new(&[0.0, 2.0, 1.0], vec![zeros.clone()], 1, Quadrature::Rectangle).unwrap();
    let forwards = self::problem(simulation(Line, &[0.0, 1.0, 2.0]), vec![zeros], Quadrature::Unit, &u);
    let mut backwards = forwards;
    backwards.experiments[0].cost = Box::new(cost);
    assert!(sentence(Statistics::at(&backwards, &u, &[0], Noise::Estimated)).contains("sort the samples"));
    // no residual that counts
    let zeros = Reference { output: 0, values: vec![0.0; 3], deviation: 1.0 };
    let cost = LeastSquares::new(&[0.0; 3], vec![zeros.clone()], 1, Quadrature::Trapezoid).unwrap();
    let mut weightless = backwards;
    weightless.experiments[0].cost = Box::new(cost);
    let text = sentence(Statistics::at(&weightless, &u, &[0], Noise::Estimated));
    assert!(text.contains("no sample has a weight, so there are no residuals"), "{text}");
    let none = LeastSquares::new(&[0.0, 1.0], vec![], 1, Quadrature::Unit).unwrap_err().to_string();
    assert!(none.contains("there is no output to compare"), "{none}");
    // deviations that are none
    for deviation in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let wrong = Reference { deviation, ..zeros.clone() };
        let text = LeastSquares::new(&[0.0, 1.0, 2.0], vec![wrong], 1, Quadrature::Unit).unwrap_err().to_string();
        assert!(text.contains("give a positive deviation"), "{text}");
    }
}

/// Over repeated noise of standard deviation `sigma` on the first output: 95 % intervals hold the truth in 92 to 98 % of
/// cases, and estimates spread as the standard errors say, within 10 %. With 300 repetitions chance alone makes 1.3 % and 4 %.
fn covers(mut problem: Problem, truth: &[f64], sigma: f64, seed: u64) {
    const REPETITIONS: usize = 300;
    let exact = problem.first().simulation.run(truth).unwrap().output(0);
    let times = problem.first().simulation.grid().times().to_vec();
    let free = problem.free();
    let mut noisy = Noisy(seed);
    let mut covered = vec![0; free.len()];
    let (mut estimates, mut variances) = (vec![Vec::new(); free.len()], vec![0.0; free.len()]);
    problem.start = truth.to_vec();
    let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
    for _ in 0..REPETITIONS {
        let values = exact.iter().map(|y| y + sigma * noisy.normal()).collect();
        let reference = Reference { output: 0, values, deviation: 1.0 };
        problem.experiments[0].cost =
            Box::new(LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit).unwrap());
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        assert!(found.outcome.converged, "{}", found.outcome.reason);
        let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
        for (i, &k) in free.iter().enumerate() {
            let parameter = &statistics.parameters[k];
            let (low, high) = parameter.intervals[1];
            covered[i] += usize::from((low..=high).contains(&truth[k]));
            estimates[i].push(parameter.value);
            variances[i] += parameter.standard_error.powi(2) / REPETITIONS as f64;
        }
    }
    for (i, &k) in free.iter().enumerate() {
        let name = &problem.parameters[k].name;
        let percent = 100.0 * covered[i] as f64 / REPETITIONS as f64;
        let mean = estimates[i].iter().sum::<f64>() / REPETITIONS as f64;
        let spread = estimates[i].iter().map(|u| (u - mean).powi(2)).sum::<f64>() / (REPETITIONS - 1) as f64;
        let ratio = (spread / variances[i]).sqrt();
        println!("{name}: coverage {percent:.1} %, spread over standard error {ratio:.3}");
        assert!((92.0..=98.0).contains(&percent), "{name} is covered in {percent} %");
        assert!((ratio - 1.0).abs() < 0.1, "{name} spreads {ratio} times its standard error");
    }
}

/// Protects the meaning of it all on a linear mechanism, with parameters on a linear and on a logarithmic scale.
#[test]
fn intervals_cover_the_truth_and_errors_match_the_spread() {
    let mut problem = springs(150, &[0]);
    problem.parameters[2].free = false;
    problem.parameters[3] = Parameter::new("d", "N s/m", 0.8).log();
    covers(problem, &[1.0, 30.0, 10.0, 0.8], 5e-3, 2024);
}

/// Protects the same on a nonlinear mechanism with a constraint and a massless coordinate: the engine mount, from the
/// acceleration of its load over the whole sweep, with so little noise that no estimate ends at a bound.
#[test]
fn intervals_of_the_engine_mount_cover_the_truth() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("engine-mount").unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.step = 2e-3;
    let problem = entry.problem(&scenario).unwrap();
    let truth = problem.optimum.clone().unwrap();
    covers(problem, &truth, 2e-3, 2024);
}

/// Protects intervals at bounds: with 2 % noise the linear interval of the engine mount's `d_H2` reaches below zero, where it cannot be; it
/// is cut there, and both are reported.
#[test]
fn intervals_are_cut_at_bounds() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("engine-mount").unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.step = 2e-3;
    scenario.noise = Some(SyntheticNoise { seed: 3, level: NoiseLevel::Relative(0.02) });
    let mut problem = entry.problem(&scenario).unwrap();
    problem.start = problem.optimum.clone().unwrap();
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Estimated).unwrap();
    let place = problem.places("d_H2").unwrap()[0];
    let of = &statistics.parameters[place];
    let (low, high) = of.beyond_bounds.expect("the interval ends at a bound");
    let bound = problem.parameters[place].lower;
    assert!(low < bound && of.intervals[1] == (bound, high), "{of:?}");
    assert!(statistics.warnings.iter().any(|w| w.contains("cut at the bounds: `d_H2`")), "{:?}", statistics.warnings);
    let json = result_json(&problem, "lm", &found, &Ok(statistics));
    let entry = json["confidence"].as_array().unwrap().iter().find(|entry| entry["name"] == "d_H2").unwrap();
    assert_eq!((entry["95"][0].as_f64(), entry["95_without_bounds"][0].as_f64()), (Some(bound), Some(low)));
}

/// Protects what people and programs get: a table with infinite and finite errors, warnings that name the combination, JSON
/// with null for infinity and a flag, figures; and that missing statistics fail nothing but say why.
#[test]
fn reports_carry_the_statistics_and_survive_without_them() {
    let mut problem = springs(200, &[0]);
    problem.start = vec![1.0, 31.0, 10.5, 0.9];
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap();
    let statistics = Statistics::of(&problem, &found, Noise::Estimated);
    let table = parameter_table_with_errors(&found, statistics.as_ref().unwrap());
    println!("{table}\n{}", statistics.as_ref().unwrap().summary());
    println!("{}", statistics.as_ref().unwrap().warnings.join("\n"));
    assert!(table.contains("+/- infinite") && table.contains("undetermined") && table.contains("%)"), "{table}");
    let json = result_json(&problem, "bfgs", &found, &statistics);
    let parameter = |k: usize| &json["parameters"][k];
    assert!(parameter(1)["standard_error"].is_null() && parameter(1)["determined"] == "undetermined");
    assert!(parameter(3)["standard_error"].as_f64().unwrap() > 0.0 && parameter(3)["determined"] == "determined");
    assert_eq!(json["undetermined"][0]["parameters"], serde_json::json!(["k1", "k2"]));
    assert_eq!(json["undetermined"][0]["direction"][1]["name"], "k2");
    assert!(json["confidence"][0]["95"][0].is_null() && json["confidence"][0]["unbounded"] == true);
    assert!(json["confidence"][2]["95"][0].as_f64() < json["confidence"][2]["68"][0].as_f64());
    for key in ["chi_square", "reduced_chi_square", "aic", "bic"] {
        assert!(json[key].is_number(), "{key}: {}", json[key]);
    }
    assert!(json["fit_percent"]["x"].as_f64().unwrap() > 90.0 && json["correlation"]["matrix"][0][0].is_null());
    let mut stopped = found.clone();
    stopped.outcome.converged = false;
    let statistics_there = Statistics::of(&problem, &stopped, Noise::Estimated).unwrap();
    assert!(statistics_there.warnings[0].contains("did not converge"), "{:?}", statistics_there.warnings);
    let path = std::env::temp_dir().join(format!("costate-statistics-{}", std::process::id()));
    let folder = Folder::create(&path, false).unwrap();
    let json = result_json(&problem, "bfgs", &found, &statistics);
    folder.identification(&problem, &found, &statistics, json).unwrap();
    for name in ["correlation.svg", "residuals_x.svg", "result.json"] {
        assert!(path.join(name).is_file(), "{name}");
    }
    let missing = Err(costate_identify::Error::invalid("the statistics", "there are none", "carry on"));
    let json = result_json(&problem, "bfgs", &found, &missing);
    folder.identification(&problem, &found, &missing, json.clone()).unwrap();
    assert_eq!(json["statistics"]["missing_because"], "the statistics: there are none; carry on");
    std::fs::remove_dir_all(path).unwrap();
}

/// Protects covariances at the edge of round-off: data without any noise, and parameters that hardly differ, leave variances
/// that are not negative and correlations between -1 and 1, whatever the noise.
#[test]
fn covariances_without_noise_and_near_singularity_are_sound() {
    let (times, _, problem, _) = line(Quadrature::Unit);
    let values = times.iter().map(|t| 2.0 - 0.5 * t).collect();
    let exact = Reference { output: 0, values, deviation: 1.0 };
    let exact = self::problem(simulation(Line, &times), vec![exact], Quadrature::Unit, &problem.start);
    let found = Statistics::at(&exact, &[2.0, -0.5, 1.0], &[], Noise::Estimated).unwrap();
    assert!(found.chi_square < 1e-28 && found.parameters[0].standard_error < 1e-14);
    let unit = Statistics::at(&exact, &[2.0, -0.5, 1.0], &[], Noise::Given).unwrap();
    close(found.correlation[(0, 1)], unit.correlation[(0, 1)], 1e-14, "correlation without noise");
    // two points: nothing is left for the noise, but the correlation is known
    let reference = Reference { output: 0, values: vec![1.0, 2.0], deviation: 1.0 };
    let two = self::problem(simulation(Line, &times[..2]), vec![reference], Quadrature::Unit, &problem.start);
    let found = Statistics::at(&two, &[1.0, 1.0, 1.0], &[], Noise::Estimated).unwrap();
    assert!(found.covariance[(0, 0)].is_nan() && found.correlation[(0, 1)] < 0.0);
    // samples so close together that intercept and slope are all but the same
    let late: Vec<f64> = (0..40).map(|i| 1e3 + 1e-2 * f64::from(i)).collect();
    let reference = Reference { output: 0, values: late.iter().map(|t| t + (9.0 * t).sin()).collect(), deviation: 1.0 };
    let mut origin = vec![0.0];
    origin.extend(&late);
    let mut references = vec![reference];
    references[0].values.insert(0, 0.0);
    let narrow = self::problem(simulation(Line, &origin), references, Quadrature::Rectangle, &problem.start);
    let found = Statistics::at(&narrow, &problem.start, &[], Noise::Given).unwrap();
    let c = &found.covariance;
    assert!(c[(0, 0)] > 0.0 && c[(1, 1)] > 0.0 && found.correlation[(0, 1)].abs() <= 1.0, "{c}");
    assert!(c[(0, 0)] * c[(1, 1)] >= c[(0, 1)] * c[(0, 1)] * (1.0 - 1e-14), "{c}");
    assert!(found.ellipse(0, 1).is_some());
}

/// Protects the warning of a parameter that the noise hides: it is named, with how much its standard error exceeds it.
#[test]
fn a_parameter_hidden_by_noise_is_named() {
    let mut problem = springs(60, &[0]);
    problem.parameters[2].free = false;
    let exact = problem.first().simulation.run(&[1.0, 30.0, 10.0, 1e-3]).unwrap().output(0);
    let mut noisy = Noisy(5);
    let values = exact.iter().map(|y| y + 2e-2 * noisy.normal()).collect();
    let reference = Reference { output: 0, values, deviation: 1.0 };
    let times = problem.first().simulation.grid().times().to_vec();
    problem.experiments[0].cost = Box::new(LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit).unwrap());
    let found = Statistics::at(&problem, &[1.0, 30.0, 10.0, 1e-3], &[], Noise::Estimated).unwrap();
    let text = found.warnings.join("\n");
    assert!(text.contains("hardly determine `d`") && text.contains("times its value"), "{text}");
}

/// Protects the linearisation that optimisers use from the one of statistics: rows without weights, weighted by hand, give
/// the same factor.
#[test]
fn rows_of_residuals_give_the_linearisation() {
    let (_, _, problem, u) = line(Quadrature::Trapezoid);
    let cost = problem.first().cost.as_least_squares().unwrap();
    let mut gradient = Gradient::new(&problem.first().simulation, &*problem.first().cost).unwrap();
    let linearised = gradient.linearise(&u, cost).unwrap();
    let mut slope = [0.0; 3];
    gradient
        .residual_rows(&u, cost, &mut |row| {
            let parts = slope.iter_mut().zip(row.derivatives);
            parts.for_each(|(sum, derivative)| *sum += row.weight * row.residual * derivative);
        })
        .unwrap();
    slope.iter().zip(linearised.gradient()).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
}
