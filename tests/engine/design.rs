//! Information as a cost: its gradient by motions and inputs, against Hessians of sums of squares, Taylor series and closed forms.

use crate::common;
use costate::cost::{Aim, Goal, Goals, LeastSquares, Quadrature, Reference, Sensor, Sensors, Sum};
use costate::scheme::Scheme;
use costate::sensitivity::Gradient;
use costate::system::System;
use costate::{Parameter, Signal, Simulation, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::control::{Control, ControlObjective, Shape, UnknownSignal};
use costate_identify::design::{Optimality, Sought};
use costate_identify::optimise::{Flow, Method, Objective, Options};
use costate_identify::specification::{ParameterSetting, PriorSetting, Specification};
use costate_identify::statistics::Noise;
use costate_models::hanging_load::hanging_load;
use costate_models::rigid_body;
use costate_models::rigid_body::{ENTRIES, Excitation};
use std::sync::Arc;

fn simulation(system: Arc<dyn System>, scheme: &str, end: f64, steps: usize, signals: Vec<Signal>) -> Simulation {
    let settings = if scheme == "hht" { vec![("alpha".to_string(), -0.05)] } else { Vec::new() };
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &settings).unwrap();
    Simulation::new(system, scheme, TimeGrid::steps(0.0, end / steps as f64, steps).unwrap(), signals).unwrap()
}

/// Every `substeps`-th time of these outputs is measured, with these deviations.
fn measured(simulation: &Simulation, outputs: &[(&str, f64)], substeps: usize) -> LeastSquares {
    let times: Vec<f64> = simulation.grid().times().iter().step_by(substeps).copied().collect();
    let reference = |(name, deviation): &(&str, f64)| Reference {
        output: simulation.signature().output_index(name).unwrap(),
        values: vec![0.0; times.len()],
        deviation: *deviation,
    };
    LeastSquares::new(&times, outputs.iter().map(reference).collect(), substeps, Quadrature::Unit).unwrap()
}

fn control(simulation: Simulation, signals: Vec<UnknownSignal>, sought: Sought) -> Control {
    Control::new("test", simulation, Sum::default(), signals).unwrap().informed_by(sought).unwrap()
}

/// Some values about the start.
fn about(control: &Control) -> Vec<f64> {
    let variables = control.variables().unwrap();
    variables.iter().enumerate().map(|(k, v)| v.start + 0.2 * v.nominal * (0.3 + 0.7 * k as f64).sin()).collect()
}

fn crane(scheme: &str, optimality: Optimality) -> Control {
    let simulation = simulation(Arc::new(hanging_load(12).unwrap()), scheme, 2.5, 100, vec![]);
    let outputs = measured(&simulation, &[("load.x", 1e-3), ("speed.x", 2e-3)], 2);
    let sought = Sought::new(simulation.signature(), outputs, &["L", "d"]).unwrap().optimal(optimality);
    control(simulation, vec![UnknownSignal::new("slide", 1.0)], sought)
}

fn shaken(intervals: usize, steps: usize, optimality: Optimality) -> Control {
    let body = Arc::new(rigid_body::rigid_body(Excitation::Free(intervals)).unwrap());
    let simulation = simulation(body, "hht", 3.0, steps, vec![]);
    let outputs = measured(&simulation, &["P.x", "P.y", "P.z"].map(|name| (name, 1e-3)), 1);
    let sought = Sought::new(simulation.signature(), outputs, &ENTRIES).unwrap().optimal(optimality);
    control(simulation, ["Sx", "Sy", "Sz"].map(|name| UnknownSignal::new(name, 0.1)).to_vec(), sought)
}

fn forced(scheme: &str, shape: Shape, optimality: Optimality) -> Control {
    let signals = vec![Signal::function(|t| (2.0 * t).sin())];
    let simulation = simulation(common::ready("oscillator"), scheme, 3.0, 120, signals);
    // what a sensor shows scaled, and later; by how much is unknown, too
    let (gain, delay) = (Parameter::new("gain_a", "1", 1.1), Parameter::new("delay_a", "s", 0.013).bounds(0.0, 0.05));
    let place = simulation.signature().output_index("a").unwrap();
    let sensors = vec![Sensor { gain: Some(gain), delay: Some(delay), ..Sensor::new(place) }];
    let outputs = measured(&simulation, &[("a", 0.02), ("x", 1e-3)], 3);
    let times: Vec<f64> = simulation.grid().times().iter().step_by(3).copied().collect();
    let outputs = outputs.with_sensors(Sensors::new(sensors).unwrap(), &times).unwrap();
    let mut sought = Sought::new(simulation.signature(), outputs, &["c", "d"]).unwrap().optimal(optimality);
    let first = simulation.signature().parameters.len();
    for (k, own) in sought.measured.sensors().parameters().iter().enumerate() {
        let parameter = costate_identify::statistics::Analysed {
            index: first + k,
            name: own.name.clone(),
            unit: own.unit.clone(),
            value: own.nominal,
            size: 1.0,
            log: false,
        };
        sought.parameters.push(parameter);
    }
    let force = UnknownSignal::new("F", 2.0).intervals(9).shaped(shape);
    control(simulation, vec![force], sought)
}

/// Protects the gradient of information by motions and inputs: the difference quotient's error falls by four for half the change, for every
/// criterion, of some of the parameters too, behind sensors with parameters of their own, in the plane and in space.
#[test]
fn gradients_of_information_are_those_of_its_value() {
    let check = |control: &Control, what: &str| {
        let mut objective = ControlObjective::new(control).unwrap();
        let u = about(control);
        let mut gradient = vec![0.0; u.len()];
        let cost = objective.value_and_gradient(&u, &mut gradient).unwrap();
        assert!((objective.cost(&u).unwrap() - cost).abs() < 1e-12 * cost.abs(), "{what}");
        let sizes: Vec<f64> = control.variables().unwrap().iter().map(|variable| variable.nominal).collect();
        let along: Vec<f64> = sizes.iter().enumerate().map(|(i, size)| size * (1.7 * i as f64).cos()).collect();
        let slope: f64 = along.iter().zip(&gradient).map(|(a, b)| a * b).sum();
        let mut missed = |part: f64| {
            let moved: Vec<f64> = u.iter().zip(&along).map(|(u, along)| u + part * along).collect();
            (objective.cost(&moved).unwrap() - cost - part * slope).abs()
        };
        let ratio = missed(5e-4) / missed(2.5e-4);
        assert!((ratio - 4.0).abs() < 0.1, "{what}: {ratio}");
    };
    for optimality in Optimality::ALL {
        check(&crane("hht", optimality), &format!("crane, {optimality:?}"));
        check(&shaken(8, 60, optimality), &format!("body, {optimality:?}"));
        check(&forced("generalized-alpha", Shape::Linear, optimality), &format!("force, {optimality:?}"));
    }
    let mut one = crane("i2p", Optimality::D);
    one.information.as_mut().unwrap().of = vec![1];
    check(&one, "one of two");
    check(&forced("i2p", Shape::Cubic, Optimality::A), "cubic");
}

/// Protects the gradient from errors of the sweep that it rests on: against the Hessian of a sum of squares whose residuals are the weights,
/// along the other of the two parameters, less its Gauss-Newton part; and information of one parameter is F = Σ s²/σ² in closed form.
#[test]
fn gradients_of_information_are_columns_of_hessians() {
    for (control, parameter) in [(crane("hht", Optimality::D), "d"), (shaken(6, 50, Optimality::A), "I22")] {
        let mut control = control;
        let sought = control.information.as_mut().unwrap();
        sought.parameters.retain(|own| own.name == parameter);
        sought.of = vec![0];
        let (place, size) = (sought.parameters[0].index, sought.parameters[0].size);
        let plain = sought.measured.clone();
        let u = about(&control);
        let mut objective = ControlObjective::new(&control).unwrap();
        let mut gradient = vec![0.0; u.len()];
        let value = objective.value_and_gradient(&u, &mut gradient).unwrap();
        let (all, _) = control.expand(&u);
        let simulation = &control.simulation;
        let mut rows = Vec::new();
        let free: Vec<usize> = (0..all.len()).filter(|&k| control.parameters[k].free).collect();
        // a motion's first values are held: the start does not follow them
        let by = [&free[..], &[place]].concat();
        let mut tangents = Gradient::new(simulation, &plain).unwrap().with_respect_to(&by);
        tangents.residual_rows(&all, &plain, &mut |row| rows.push((row.reference, row.derivatives.to_vec()))).unwrap();
        let information: f64 = rows.iter().map(|(_, s)| s[place] * s[place]).sum::<f64>() * size * size;
        assert!((value + 0.5 * information.ln()).abs() < 1e-12 * value.abs(), "{parameter}: {value}");
        // residuals that are the derivatives themselves: y - (y - σ s)
        let outputs: Vec<usize> = plain.references().iter().map(|reference| reference.output).collect();
        let mut references = plain.references().to_vec();
        let run = simulation.run(&all).unwrap();
        let values: Vec<Vec<f64>> = outputs.iter().map(|k| run.output(*k)).collect();
        let substeps = plain.substeps().unwrap();
        for (k, reference) in references.iter_mut().enumerate() {
            let own = rows.iter().filter(|(of, _)| *of == k).map(|(_, s)| s[place] * reference.deviation);
            reference.values = values[k].iter().step_by(substeps).zip(own).map(|(y, s)| y - s).collect();
        }
        let times: Vec<f64> = simulation.grid().times().iter().step_by(substeps).copied().collect();
        let squares = LeastSquares::new(&times, references, substeps, Quadrature::Unit).unwrap();
        let units: Vec<Vec<f64>> =
            free.iter().map(|c| (0..all.len()).map(|k| f64::from(u8::from(k == *c))).collect()).collect();
        let mut products = vec![Vec::new(); free.len()];
        let mut slope = vec![0.0; all.len()];
        let mut curved = Gradient::new(simulation, &squares).unwrap().with_respect_to(&by);
        curved.hessian_vectors(&all, &units, &mut slope, &mut products).unwrap();
        let largest = gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
        for (k, (product, c)) in products.iter().zip(&free).enumerate() {
            let normal: f64 = rows.iter().map(|(_, s)| s[place] * s[*c]).sum();
            let expected = -(product[place] - normal) * size * size / information;
            assert!((gradient[k] - expected).abs() < 1e-10 * largest, "{parameter}, {k}: {} {expected}", gradient[k]);
        }
    }
}

/// Protects what is found: a force of limited size whose effect of the mass alone is measured is full on one side and then the other, and the
/// error of what is measured falls as much as that; limits on outputs are kept; and methods that would be wrong are refused with those that are not.
#[test]
fn excitations_are_found_within_limits() {
    let mut control = forced("generalized-alpha", Shape::Linear, Optimality::D);
    let signals: Vec<UnknownSignal> = control.signals().map(|signal| signal.clone().bounded(-2.0, 2.0)).collect();
    let goals = vec![Goal::new("x", Aim::Within { lower: -0.12, upper: 0.12 }).exactly().weighted(100.0)];
    let goals = Goals::new(control.simulation.signature(), goals, Quadrature::Trapezoid).unwrap();
    let sought = control.information.take().unwrap();
    let limited = Control::new("limited", control.simulation.clone(), Sum::of_goals(goals), signals.clone()).unwrap();
    let mut limited = limited.informed_by(sought.clone()).unwrap();
    let mut free = Control::new("free", control.simulation, Sum::default(), signals).unwrap();
    free = free.informed_by(sought).unwrap();
    // those of all rounds of multipliers together
    let options = Options { max_iterations: 600, ..Options::default() };
    let run = |control: &mut Control, method| control.minimise(method, 1e-6, &options, &mut |_| Flow::Continue);
    let bounded = run(&mut free, Method::LBfgs { memory: 20 }).unwrap();
    assert!(bounded.outcome.cost < bounded.start_cost - 0.5, "{} {}", bounded.outcome.cost, bounded.start_cost);
    assert!(bounded.outcome.u.iter().all(|w| w.abs() <= 2.0));
    let kept = run(&mut limited, Method::LBfgs { memory: 20 }).unwrap();
    assert!(kept.is_met, "{:?}", kept.violations);
    assert!(kept.outcome.cost > bounded.outcome.cost, "{} {}", kept.outcome.cost, bounded.outcome.cost);
    let refused: Result<_> = run(&mut free, Method::LevenbergMarquardt);
    assert!(refused.unwrap_err().to_string().contains("take bfgs or l-bfgs"));
}

/// Protects people from signals that say nothing: at rest no force acts, and nothing is determined; and from asking for what is chosen.
#[test]
fn what_says_nothing_is_told() {
    let forced = forced("generalized-alpha", Shape::Linear, Optimality::D);
    let (sought, signals) = (forced.information.clone().unwrap(), || forced.signals().cloned().collect::<Vec<_>>());
    let at_rest = forced.simulation.on(forced.simulation.grid().clone(), vec![Signal::constant(0.0)]).unwrap();
    let mut still = Control::new("still", at_rest, Sum::default(), signals()).unwrap();
    still.start[forced.simulation.signature().parameter_index("x0").unwrap()] = 0.0;
    let mut still = still.informed_by(sought.clone()).unwrap();
    let options = Options::default();
    let error = still.minimise(Method::Bfgs, 1e-6, &options, &mut |_| Flow::Continue).unwrap_err().to_string();
    assert!(error.contains("does not determine all of") && error.contains("c, d"), "{error}");
    let mut twice = Control::new("twice", forced.simulation.clone(), Sum::default(), signals()).unwrap();
    twice.parameters[sought.parameters[0].index].free = true;
    let error = twice.informed_by(sought.clone()).err().unwrap().to_string();
    assert!(error.contains("it is to be identified, and is chosen"), "{error}");
    let outputs = sought.measured;
    let signature = forced.simulation.signature();
    assert!(Sought::new(signature, outputs.clone(), &[]).unwrap_err().to_string().contains("name at least one"));
    assert!(Sought::new(signature, outputs, &["cc"]).unwrap_err().to_string().contains("`c`"));
}

/// Protects what goes on from a result: a prior whose deviation was estimated has the one that was found, and not the size of its parameter again; one
/// that is weighed against noise of unknown size is refused.
#[test]
fn a_prior_goes_on_with_the_deviation_that_was_found() {
    let prior = |name: &str, centre: f64, is_log: bool| ParameterSetting {
        name: name.to_string(),
        prior: Some(PriorSetting::Estimated { centre, is_log }),
        ..ParameterSetting::default()
    };
    let specification = Specification {
        parameters: vec![prior("c", 40.0, false), prior("d", 0.8, true)],
        noise: Some(Noise::Given),
        ..Specification::of("oscillator")
    };
    let registry = costate_models::registry().unwrap();
    let deviations = |specification: &Specification| -> Vec<f64> {
        let problem = specification.build(&registry).unwrap();
        // of one deviation off the centre
        problem.priors.iter().map(|prior| prior.distribution.residual(prior.distribution.centre())[1].recip()).collect()
    };
    let begun = deviations(&specification);
    let found = vec![("c".to_string(), 3.0), ("d".to_string(), 0.25)];
    let goes_on = deviations(&Specification { found_priors: found, ..specification.clone() });
    assert!(begun[0] > 3.0, "{begun:?}");
    assert!((goes_on[0] - 3.0).abs() < 1e-12 && (goes_on[1] - 0.8 * 0.25).abs() < 1e-12, "{goes_on:?}");
    let loose = Specification { noise: None, ..specification }.build(&registry).err().unwrap().to_string();
    assert!(loose.contains("prior of `c`") && loose.contains("noise = \"given\""), "{loose}");
}
