//! Sensors that do not show outputs as they are: gain, bias and delay.

use crate::common;

use costate::cost::{LeastSquares, Quadrature, Reference, Sensor, Sensors};
use costate::least_squares::Linearised;
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{Parameter, Signal, Simulation, TimeGrid};
use costate_identify::optimise::{Flow, Method as Search};
use costate_identify::problem::{Experiment, Integrator, Problem};
use costate_identify::statistics::{Determinacy, Noise, Statistics, identifiability, said_of_steps_alone};
use costate_identify::steps::{Steps, identify_with_steps};
use costate_identify::{Error, Result};
use costate_identify::{Settings, identify};
use std::sync::Arc;

/// Sensors with all there is on the first output, with a bias on the second, and none on others; filtered where steps are even.
fn sensors(outputs: usize, step: f64, is_even: bool) -> Sensors {
    let low_pass = is_even.then_some(0.25 / step);
    let parameter = |name: &str, nominal: f64| Parameter::new(name, "1", nominal).size(1.0);
    let mut all = vec![Sensor {
        gain: Some(parameter("gain", 1.1)),
        bias: Some(parameter("bias", 0.3)),
        delay: Some(Parameter::new("delay", "s", 0.7 * step).bounds(-4.0 * step, 4.0 * step).size(step)),
        low_pass,
        ..Sensor::new(0)
    }];
    if outputs > 1 {
        all.push(Sensor { bias: Some(parameter("other_bias", -0.2)), low_pass, every: 3, ..Sensor::new(1) });
    }
    Sensors::new(all).unwrap()
}

/// Outputs against what is far enough from them to be told from zero, at every second time of the run.
fn cost(simulation: &Simulation, u: &[f64], quadrature: Quadrature) -> LeastSquares {
    let run = simulation.run(u).unwrap();
    let times: Vec<f64> = run.times().iter().copied().step_by(2).collect();
    let reference = |output: usize| {
        let y = run.output(output);
        let size = common::largest(&y).max(1e-3);
        let off = |(i, y): (usize, &f64)| y + size * (0.3 + 0.2 * (1.3 * i as f64).sin());
        Reference { output, values: y.iter().step_by(2).enumerate().map(off).collect(), deviation: size }
    };
    let outputs = simulation.signature().outputs.len();
    let references = (0..outputs).map(reference).collect();
    let is_even = simulation.grid().uniform_step().is_some();
    let sensors = sensors(outputs, 2.0 * simulation.grid().step(1), is_even);
    LeastSquares::new(&times, references, 2, quadrature).unwrap().with_sensors(sensors, &times).unwrap()
}

/// Protects the chain through sensors for all models, grids and levels: adjoint against tangents to round-off (1e-10 of the largest entry,
/// as without sensors), against differences of the cost, against the linearised residuals; and second derivatives against differences of
/// gradients.
#[test]
fn derivatives_through_sensors_are_exact() {
    for (name, case) in common::models() {
        let case = case.clone().alpha(-0.05).first_steps(60);
        for case in [case.clone(), case.uneven()] {
            let simulation = case.simulation();
            let cost = cost(&simulation, &case.u, Quadrature::Trapezoid);
            derivatives_agree(name, (&simulation, &cost), (&case.u, &case.sizes));
        }
    }
}

/// All derivatives of a cost of what sensors show, at the model's parameters `u` of these sizes.
pub(crate) fn derivatives_agree(
    name: &str,
    (simulation, cost): (&Simulation, &LeastSquares),
    (model, sizes): (&[f64], &[f64]),
) {
    let own = cost.sensors().nominal();
    let u = [model, &own].concat();
    let sensors = cost.sensors().parameters().iter().map(|parameter| parameter.size.unwrap());
    let sizes: Vec<f64> = sizes.iter().copied().chain(sensors).collect();
    let scaled = |x: &[f64]| x.iter().zip(&sizes).map(|(x, s)| x * s).collect::<Vec<f64>>();
    let far = |a: &[f64], b: &[f64]| {
        let (a, b) = (scaled(a), scaled(b));
        let largest = common::largest(&b);
        a.iter().zip(&b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs())) / largest
    };
    let mut engine = Gradient::new(simulation, cost).unwrap();
    let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
    let value = engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
    let again = engine.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
    assert!((value - again).abs() <= 1e-14 * value, "{name}: {value} {again}");
    assert!(far(&adjoint, &tangent) < 1e-10, "{name}: {adjoint:?} {tangent:?}");
    assert!(adjoint[model.len()..].iter().all(|slope| *slope != 0.0), "{name}: sensors do nothing");
    for (k, difference) in engine.differences(&u).unwrap().into_iter().enumerate() {
        let allowed = 10.0 * difference.error + 1e-9 * common::largest(&scaled(&adjoint)) / sizes[k];
        assert!((difference.value - adjoint[k]).abs() <= allowed, "{name} {k}: {difference:?} {}", adjoint[k]);
    }
    let linearised: Linearised = engine.linearise(&u, cost).unwrap();
    assert!((linearised.cost() / value - 1.0).abs() < 1e-12, "{name}");
    assert!(far(&linearised.gradient(), &adjoint) < 1e-10, "{name}: {:?} {adjoint:?}", linearised.gradient());
    second_derivatives(name, &mut engine, &u, &sizes);
}

fn second_derivatives(name: &str, engine: &mut Gradient<'_>, u: &[f64], sizes: &[f64]) {
    let p = u.len();
    let (mut gradient, mut hessian) = (vec![0.0; p], vec![vec![0.0; p]; p]);
    engine.hessian(u, &mut gradient, &mut hessian).unwrap();
    let mut largest = 0.0f64;
    for i in 0..p {
        (0..p).for_each(|j| largest = largest.max((hessian[i][j] * sizes[i] * sizes[j]).abs()));
    }
    for i in 0..p {
        for j in 0..i {
            let off = (hessian[i][j] - hessian[j][i]) * sizes[i] * sizes[j];
            assert!(off.abs() < 1e-9 * largest, "{name} {i} {j}: {} {}", hessian[i][j], hessian[j][i]);
        }
    }
    // those by sensors' parameters hold those by all others, too
    for i in p - 3..p {
        let h = 1e-4 * sizes[i];
        let mut at = |step: f64| {
            let mut moved = u.to_vec();
            moved[i] += step;
            let mut gradient = vec![0.0; p];
            engine.cost_and_gradient(&moved, Method::Adjoint, &mut gradient).unwrap();
            gradient
        };
        let (up, down) = (at(h), at(-h));
        for j in 0..p {
            let difference = (up[j] - down[j]) / (2.0 * h);
            let off = (hessian[i][j] - difference) * sizes[i] * sizes[j];
            assert!(off.abs() < 1e-6 * largest, "{name} {i} {j}: {} {difference}", hessian[i][j]);
        }
    }
}

/// A record of the oscillator by two sensors: acceleration with a gain and late, position with a bias.
struct Record {
    simulation: Simulation,
    times: Vec<f64>,
    clean: [Vec<f64>; 2],
}

const GAIN: f64 = 1.02;
/// In samples.
const DELAY: f64 = 0.3;
/// m
const BIAS: f64 = 5e-3;
/// s
const SAMPLING: f64 = 0.02;

impl Record {
    /// From a simulation with tenths of a sample as steps, which is at all the times that the late sensor shows.
    fn new(count: usize) -> Result<Self> {
        let system: Arc<dyn System> = common::ready("oscillator");
        let drive = || vec![Signal::function(|t| 3.0 * (3.0 * t + 2.0 * t * t).sin())];
        let parts = 40;
        let fine = TimeGrid::steps(0.0, SAMPLING / parts as f64, count * parts)?;
        let run = Integrator::default().simulation(system.clone(), fine, drive())?.run(&[1.0, 40.0, 0.8, 0.1, 0.0])?;
        let late = (DELAY * parts as f64).round() as usize;
        let (a, x) = (run.output(0), run.output(1));
        let shown = |i: usize| GAIN * a[(i * parts).saturating_sub(late)];
        let clean = [(0..=count).map(shown).collect(), (0..=count).map(|i| x[i * parts] + BIAS).collect()];
        let grid = TimeGrid::steps(0.0, SAMPLING / 8.0, 8 * count)?;
        let times = (0..=count).map(|i| i as f64 * SAMPLING).collect();
        Ok(Record { simulation: Integrator::default().simulation(system, grid, drive())?, times, clean })
    }

    fn problem(&self, deviations: [f64; 2], seed: u64) -> Result<Problem> {
        let reference = |k: usize| Reference { output: k, values: self.clean[k].clone(), deviation: deviations[k] };
        let named = |k: usize| (self.simulation.signature().outputs[k].name.clone(), deviations[k]);
        let noise = SyntheticNoise { level: NoiseLevel::Absolute(vec![named(0), named(1)]), seed };
        let sensors = Sensors::new(vec![
            Sensor {
                gain: Some(Parameter::new("gain_a", "1", 1.0)),
                delay: Some(Parameter::new("delay_a", "s", 0.0).bounds(-0.04, 0.04).size(SAMPLING)),
                ..Sensor::new(0)
            },
            Sensor { bias: Some(Parameter::new("bias_x", "m", 0.0).size(0.01)), ..Sensor::new(1) },
        ])?;
        let cost = LeastSquares::new(&self.times, vec![reference(0), reference(1)], 8, Quadrature::Unit)?
            .with_noise(&noise, self.simulation.signature())?
            .with_sensors(sensors, &self.times)?;
        let mut problem = Problem::new("record", self.simulation.clone(), Box::new(cost));
        problem.start[..3].copy_from_slice(&[1.0, 32.0, 0.5]);
        problem.validate()?;
        Ok(problem)
    }
}

/// Protects what sensors are for: a delay of 0.3 samples, a gain of 1.02 and a bias are found together with stiffness and damping within
/// their standard errors; and these mean what they say: of the 95 % intervals of 200 records, 92 to 98 % hold the truth.
#[test]
fn delay_gain_and_bias_are_found_with_honest_intervals() -> Result<()> {
    let record = Record::new(250)?;
    let truth = [("c", 40.0), ("d", 0.8), ("gain_a", GAIN), ("delay_a", DELAY * SAMPLING), ("bias_x", BIAS)];
    let (mut within, mut close) = (vec![0; truth.len()], 0);
    const REPETITIONS: usize = 200;
    for seed in 0..REPETITIONS as u64 {
        let problem = record.problem([0.1, 2e-3], seed)?;
        let settings = Settings { method: Some(Search::LevenbergMarquardt), ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue)?;
        assert!(found.outcome.converged, "{seed}");
        let statistics = Statistics::of(&problem, &found, Noise::Given)?;
        let mut worst = 0.0f64;
        for ((name, truth), within) in truth.iter().zip(&mut within) {
            let k = problem.places(name)?[0];
            let errors = (found.values()[k] - truth).abs() / statistics.parameters[k].standard_error;
            *within += usize::from(errors < 1.96);
            worst = worst.max(errors);
        }
        close += usize::from(worst < 3.5);
    }
    for ((name, _), within) in truth.iter().zip(within) {
        assert!((184..=196).contains(&within), "{name}: {within} of {REPETITIONS}");
    }
    assert!(close >= REPETITIONS - 2, "{close}");
    Ok(())
}

/// Protects fits of a sensor that is later than its bounds allow, which they hide in gain and damping: a warning says so, and what to write.
#[test]
fn a_delay_at_its_bound_is_told() -> Result<()> {
    let mut problem = Record::new(60)?.problem([0.1, 2e-3], 1)?;
    let k = problem.places("delay_a")?[0];
    problem.parameters[k].upper = 0.25 * DELAY * SAMPLING;
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
    let told = Statistics::of(&problem, &found, Noise::Given)?.warnings.join("\n");
    let parts = ["`delay_a` is held at its bound of 0.0015 s", "may be later", "delay_a = { upper = 0.006 }"];
    parts.iter().for_each(|part| assert!(told.contains(part), "{part}: {told}"));
    Ok(())
}

/// Protects problems of several experiments: one sensor serves them all, or each has its own.
#[test]
fn sensors_are_shared_or_local() -> Result<()> {
    let record = Record::new(60)?;
    let other = || -> Result<Experiment> {
        let problem = record.problem([0.1, 2e-3], 2)?;
        let Some(Experiment { simulation, cost, .. }) = problem.experiments.into_iter().next() else {
            unreachable!("a problem has an experiment")
        };
        Ok(Experiment::new("other", simulation, cost))
    };
    let names = |problem: &Problem| problem.parameters.iter().map(|p| p.name.clone()).collect::<Vec<String>>();
    let shared = record.problem([0.1, 2e-3], 1)?.with_experiment(other()?, &[])?;
    assert_eq!(names(&shared), ["m", "c", "d", "x0", "v0", "gain_a", "delay_a", "bias_x"]);
    let local = record.problem([0.1, 2e-3], 1)?.with_experiment(other()?, &["gain_a", "x0"])?;
    let expected = ["m", "c", "d", "x0@record", "v0", "gain_a@record", "delay_a", "bias_x", "x0@other", "gain_a@other"];
    assert_eq!(names(&local), expected);
    for problem in [&shared, &local] {
        let (mut adjoint, mut tangent) = (vec![0.0; problem.start.len()], vec![0.0; problem.start.len()]);
        let mut engine = problem.gradient()?;
        engine.cost_and_gradient(&problem.start, Method::Adjoint, &mut adjoint)?;
        engine.cost_and_gradient(&problem.start, Method::Tangent, &mut tangent)?;
        let largest = common::largest(&tangent);
        adjoint.iter().zip(&tangent).for_each(|(a, b)| assert!((a - b).abs() < 1e-10 * largest, "{a} {b}"));
        let found = identify(problem, &Settings::default(), &mut |_| Flow::Continue)?;
        assert!(found.outcome.converged);
    }
    let unknown = record.problem([0.1, 2e-3], 1)?.with_experiment(other()?, &["gain_b"]);
    let Err(Error::Engine(costate::Error::UnknownName { .. })) = unknown else {
        panic!("a sensor that is not there is local")
    };
    Ok(())
}

fn filtered(times: &[f64], sensors: Sensors) -> Result<LeastSquares> {
    let reference = Reference { output: 0, values: vec![1.0, 2.0, 3.0], deviation: 1.0 };
    Ok(LeastSquares::new(times, vec![reference], 1, Quadrature::Unit)?.with_sensors(sensors, times)?)
}

/// Protects what is refused: delays without bounds, as long as the record, sensors of outputs that nothing is compared with, wrong counts
/// of values, and the continuous adjoint.
#[test]
fn sensors_that_make_no_sense_are_refused() -> Result<()> {
    let endless = Sensor { delay: Some(Parameter::new("delay_a", "s", 0.0)), ..Sensor::new(0) };
    let error = Sensors::new(vec![endless]).unwrap_err().to_string();
    assert!(error.contains("delay_a") && error.contains("bounds"), "{error}");
    let times = [0.0, 0.1, 0.2];
    let reference = |output| Reference { output, values: vec![1.0, 2.0, 3.0], deviation: 1.0 };
    let plain = LeastSquares::new(&times, vec![reference(0)], 1, Quadrature::Unit)?;
    let late = |upper: f64, output: usize| {
        let delay = Parameter::new("delay_a", "s", 0.0).bounds(-upper, upper);
        Sensors::new(vec![Sensor { delay: Some(delay), ..Sensor::new(output) }])
    };
    assert!(plain.clone().with_sensors(late(0.1, 0)?, &times).is_ok());
    let error = plain.clone().with_sensors(late(0.15, 0)?, &times).unwrap_err().to_string();
    assert!(error.contains("no sample is left"), "{error}");
    let error = plain.with_sensors(late(0.1, 1)?, &times).unwrap_err().to_string();
    assert!(error.contains("not compared"), "{error}");
    let coarse = Sensors::new(vec![Sensor { low_pass: Some(6.0), ..Sensor::new(0) }])?;
    let error = filtered(&times, coarse).unwrap_err().to_string();
    assert!(error.contains("6 Hz") && error.contains("half the frequency"), "{error}");
    let slow = || Sensors::new(vec![Sensor { low_pass: Some(1.0), ..Sensor::new(0) }]);
    let error = filtered(&[0.0, 0.1, 0.3], slow()?).unwrap_err().to_string();
    assert!(error.contains("unevenly spaced"), "{error}");
    for frequency in [1.0, 1e-300] {
        let sensor = Sensor { low_pass: Some(frequency), ..Sensor::new(0) };
        let error = filtered(&times, Sensors::new(vec![sensor])?).unwrap_err().to_string();
        assert!(error.contains("remembers too long"), "{error}");
    }
    let twice = Sensors::new(vec![Sensor::new(0), Sensor::new(0)]).unwrap_err().to_string();
    assert!(twice.contains("two"), "{twice}");
    let record = Record::new(20)?;
    let problem = record.problem([0.1, 2e-3], 1)?;
    let Experiment { simulation, cost, .. } = problem.first();
    let mut engine = Gradient::new(simulation, &**cost)?;
    let error = engine.cost(&problem.start[..5]).unwrap_err().to_string();
    assert!(error.contains("sensors"), "{error}");
    let error = engine.continuous_adjoint(&problem.start, 2, &mut [0.0; 8]).unwrap_err().to_string();
    assert!(error.contains("sensors"), "{error}");
    Ok(())
}

/// Protects against a number where there is none: the delay of a sensor and the start of a motion that nothing drives are one thing. The coarse steps of a record tell them apart by their own error
/// alone, and that is said first, before a fit and after it: no standard error, and no doubt of the gradient. With a start that is known, the delay is found.
#[test]
fn a_delay_and_a_free_start_of_a_motion_that_nothing_drives_are_one_thing() {
    const DELAY: f64 = 0.02;
    const NOISE: f64 = 3e-4;
    let (c, d, v0) = (40.0f64, 0.3, 0.2f64);
    let (decay, omega) = (0.5 * d, (c - 0.25 * d * d).sqrt());
    let x = |t: f64| (-decay * t).exp() * (0.1 * (omega * t).cos() + (v0 + 0.1 * decay) / omega * (omega * t).sin());
    let mut random = costate::random::SplitMix64::new(2);
    let times: Vec<f64> = (0..101).map(|i| 0.1 * f64::from(i)).collect();
    let values: Vec<f64> = times.iter().map(|t| x(t - DELAY) + NOISE * random.normal()).collect();
    let problem = |free: &[&str]| {
        let system: Arc<dyn System> = common::ready("oscillator");
        let output = system.signature().outputs.iter().position(|output| output.name == "x").unwrap();
        let grid = TimeGrid::steps(0.0, 0.1, 100).unwrap();
        let scheme = costate::scheme::Hht::new(-0.05).unwrap();
        let simulation = Simulation::new(system, scheme, grid, vec![Signal::function(|_| 0.0)]).unwrap();
        let delay = Parameter::new("delay_x", "s", 0.01).bounds(-0.1, 0.1).size(0.1);
        let sensors = Sensors::new(vec![Sensor { delay: Some(delay), ..Sensor::new(output) }]).unwrap();
        let reference = Reference { output, values: values.clone(), deviation: NOISE };
        let cost = LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit).unwrap();
        let cost = cost.with_sensors(sensors, &times).unwrap();
        let mut problem = Problem::new("oscillator", simulation, Box::new(cost));
        for (parameter, start) in problem.parameters.iter_mut().zip(&mut problem.start) {
            parameter.free = free.contains(&&*parameter.name);
            match parameter.name.as_str() {
                "d" => *start = 0.4,
                "v0" => (parameter.size, *start) = (Some(0.5), 0.2),
                _ => {}
            }
        }
        problem
    };
    let free = problem(&["c", "d", "x0", "v0", "delay_x"]);
    let before = identifiability(&free, &free.start).unwrap();
    let warnings =
        [said_of_steps_alone(&free, &before.by_steps_alone(&free, &free.start).unwrap()), before.warnings()].concat();
    assert!(warnings[0].contains("delay_x") && warnings[0].contains("v0"), "{warnings:?}");
    let mut chosen = problem(&["c", "d", "x0", "v0", "delay_x"]);
    let fit = identify_with_steps(
        &mut chosen,
        &Settings::default(),
        Noise::Estimated,
        &Steps::Chosen,
        &mut |_| Flow::Continue,
        &mut |_, _| Ok(()),
    )
    .unwrap();
    let statistics = fit.statistics.unwrap();
    let own = |name: &str| statistics.parameters.iter().find(|own| own.name == name).unwrap();
    assert!(statistics.warnings[0].contains("delay_x"), "{:?}", statistics.warnings);
    // held by a bound, it has none, either, and the start has one for that delay alone
    let is_held = own("delay_x").determinacy == Determinacy::AtBound;
    assert!(!own("delay_x").standard_error.is_finite(), "{:?}", own("delay_x"));
    assert!(is_held || own("v0").standard_error.is_infinite(), "{:?}", own("v0"));
    assert!((own("c").value - c).abs() < 5.0 * own("c").standard_error, "{:?}", own("c"));
    assert!(!fit.found.reason().contains("may be wrong"), "{}", fit.found.reason());
    let mut known = problem(&["c", "d", "delay_x"]);
    let fit = identify_with_steps(
        &mut known,
        &Settings::default(),
        Noise::Estimated,
        &Steps::Chosen,
        &mut |_| Flow::Continue,
        &mut |_, _| Ok(()),
    )
    .unwrap();
    let statistics = fit.statistics.unwrap();
    let delay = statistics.parameters.iter().find(|own| own.name == "delay_x").unwrap();
    assert!((delay.value - DELAY).abs() < 5.0 * delay.standard_error && delay.standard_error < 1e-3, "{delay:?}");
}
