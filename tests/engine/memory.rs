//! Runs whose states are not all kept: everything is the same to the last bit as with all of them.

use crate::common;

use common::{ALL, Case, NONE, Parts};
use costate::cost::{LeastSquares, Quadrature, Reference, Sensor, Sensors};
use costate::linearise::Differentiated;
use costate::scheme::Scheme;
use costate::sensitivity::{Change, Gradient, Method};
use costate::system::System;
use costate::{Parameter, Result, Signal, Simulation, TimeGrid, scheme};
use costate_models::pendulum_chain::pendulum_chain;
use std::sync::Arc;

fn simulation(case: &Case, scheme: &str) -> Simulation {
    let signals = case.signals.iter().map(|&w| Signal::function(w)).collect();
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &[]).unwrap();
    Simulation::new(case.system.clone(), scheme, case.grid.clone(), signals).unwrap()
}

/// The smallest limit from `least` on, in steps of a part of it, with which something works.
fn smallest<R>(least: f64, work: impl Fn(f64) -> Result<R>) -> f64 {
    (0..100).map(|k| (least * 1.06f64.powi(k)).ceil()).find(|limit| work(*limit).is_ok()).expect("some limit is enough")
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Gradients by adjoint and tangents.
fn gradients(simulation: &Simulation, cost: &dyn costate::cost::Cost, u: &[f64]) -> Vec<u64> {
    let mut engine = Gradient::new(simulation, cost).unwrap();
    let mut all = Vec::new();
    for method in [Method::Adjoint, Method::Tangent] {
        let mut gradient = vec![0.0; u.len()];
        all.push(engine.cost_and_gradient(u, method, &mut gradient).unwrap());
        all.extend(gradient);
    }
    bits(&all)
}

/// Gradient and Hessian times two directions, and then a gradient with the same states.
fn products(simulation: &Simulation, cost: &dyn costate::cost::Cost, u: &[f64]) -> Result<Vec<u64>> {
    let direction = |k: usize| u.iter().enumerate().map(|(j, u)| (u.abs() + 0.1) * ((j + k) as f64).cos()).collect();
    let along: Vec<Vec<f64>> = vec![direction(0), direction(2)];
    let mut products = vec![vec![0.0; u.len()]; 2];
    let [mut gradient, mut once_more] = [(); 2].map(|()| vec![0.0; u.len()]);
    let mut engine = Gradient::new(simulation, cost)?;
    let value = engine.hessian_vectors(u, &along, &mut gradient, &mut products)?;
    engine.hessian_vector(u, &along[0], &mut once_more, &mut products[1])?;
    Ok(bits(&[vec![value], gradient, once_more, products.concat()].concat()))
}

/// Compares under limits from the smallest one on.
fn check(name: &str, whole: &Simulation, cost: &dyn costate::cost::Cost, u: &[f64]) {
    let limited = |bytes: f64| whole.clone().memory(bytes);
    assert_eq!(whole.checkpoints().unwrap(), None, "{name}");
    let least = smallest(200.0, limited);
    let all = gradients(whole, cost, u);
    for (factor, most) in [(1.0, 1), (1.2, 3), (2.0, usize::MAX)] {
        let simulation = limited(factor * least).unwrap();
        let checkpoints = simulation.checkpoints().unwrap().expect("the limit is small");
        assert!(checkpoints.count <= most && checkpoints.runs > 1.0, "{name}: {checkpoints:?}");
        assert!(gradients(&simulation, cost, u) == all, "{name}: {checkpoints}");
    }
    let all = products(whole, cost, u).unwrap();
    let least = smallest(least, |bytes| products(&limited(bytes)?, cost, u));
    for factor in [1.0, 3.0] {
        let simulation = limited(factor * least).unwrap();
        assert!(products(&simulation, cost, u).unwrap() == all, "{name}: products, {factor}");
    }
}

/// Protects the recursion through checkpoints for all schemes, with constraints and without, on even and uneven steps: what a stepper
/// carries from step to step unseen is carried over, too.
#[test]
fn checkpoints_change_nothing_to_the_last_bit() {
    for scheme in scheme::names() {
        let free = common::oscillator().first_steps(101);
        let bound = common::pendulum().first_steps(83);
        for (name, is_even) in [("even", true), ("uneven", false)] {
            let free = if is_even { free.clone() } else { free.clone().uneven() };
            let bound = if is_even { bound.clone() } else { bound.clone().uneven() };
            let cost = free.cost_of(ALL).differentiated(Quadrature::Trapezoid);
            check(&format!("{scheme}, oscillator, {name}"), &simulation(&free, scheme), &*cost, &free.u);
            let cost = bound.cost_of(ALL).differentiated(Quadrature::Trapezoid);
            check(&format!("{scheme}, pendulum, {name}"), &simulation(&bound, scheme), &*cost, &bound.u);
        }
    }
}

/// Protects orders of pivots, of sparse and of dense factors, and bounds of round-off that are worked out now and then: what a
/// factorisation takes over from those before it comes back with a checkpoint.
#[test]
fn orders_of_pivots_come_back() {
    // 30 rods have sparse factors; they fall over
    for (rods, steps) in [(30, 150), (3, 400)] {
        let chain: Arc<dyn System> = Arc::new(pendulum_chain(rods).unwrap());
        let u = chain.signature().nominal();
        let grid = TimeGrid::steps(0.0, 1e-2, steps).unwrap();
        let whole = Simulation::new(chain, costate::scheme::Hht::new(-0.05).unwrap(), grid, vec![]).unwrap();
        let reference = Reference { output: 0, values: vec![0.3; steps + 1], deviation: 1.0 };
        let cost = LeastSquares::new(whole.grid().times(), vec![reference], 1, Quadrature::Unit).unwrap();
        let all = gradients(&whole, &cost, &u);
        let row = 8.0 * (3.0 * 2.0 * rods as f64 + rods as f64);
        let simulation = whole.clone().memory(60.0 * row).unwrap();
        assert!(simulation.checkpoints().unwrap().is_some());
        assert!(gradients(&simulation, &cost, &u) == all, "{rods}");
    }
}

/// Protects sensors, residuals, the continuous adjoint, derivatives by inputs, and inputs that are evaluated along the run.
#[test]
fn everything_goes_through_the_same_store() {
    let case = common::oscillator().step(2e-3, 3000);
    let whole = simulation(&case, "hht");
    let state = case.cost_of(Parts { q: true, v: true, ..NONE });
    let run = whole.run(&case.u).unwrap();
    let values = run.output(0).iter().step_by(2).map(|y| 1.1 * y + 0.01).collect();
    let times: Vec<f64> = run.times().iter().copied().step_by(2).collect();
    let sensor = Sensor {
        gain: Some(Parameter::new("gain", "1", 1.0).size(1.0)),
        delay: Some(Parameter::new("delay", "s", 3e-3).bounds(0.0, 1e-2).size(1e-3)),
        low_pass: Some(20.0),
        ..Sensor::new(0)
    };
    let reference = Reference { output: 0, values, deviation: 0.1 };
    let plain = LeastSquares::new(&times, vec![reference], 2, Quadrature::Unit).unwrap();
    let sensed = plain.clone().with_sensors(Sensors::new(vec![sensor]).unwrap(), &times).unwrap();
    let u = [&case.u[..], &[1.05, 2.5e-3]].concat();
    let results = |simulation: &Simulation| {
        let mut all = vec![gradients(simulation, &sensed, &u), products(simulation, &sensed, &u).unwrap()];
        for (cost, u) in [(&plain, &case.u), (&sensed, &u)] {
            let linearised = Gradient::new(simulation, cost).unwrap().linearise(u, cost).unwrap();
            all.push(bits(&linearised.gradient()));
        }
        let mut engine = Gradient::with_inputs(simulation, &plain).unwrap();
        let mut gradient = vec![0.0; case.u.len()];
        engine.cost_and_gradient(&case.u, Method::Adjoint, &mut gradient).unwrap();
        all.push(bits(engine.by_inputs()));
        let along = [Change { u: case.u.clone(), w: engine.by_inputs().to_vec() }];
        let (_, slopes) = engine.derivatives_along(&case.u, &along).unwrap();
        let mut products = [Change { u: gradient.clone(), w: Vec::new() }];
        engine.hessian_changes(&case.u, &along, &mut gradient, &mut products).unwrap();
        all.extend([bits(&slopes), bits(&products[0].u), bits(&products[0].w)]);
        let integral = Differentiated::new(state.clone(), Quadrature::Trapezoid);
        let mut engine = Gradient::new(simulation, &integral).unwrap();
        engine.continuous_adjoint(&case.u, 2, &mut gradient).unwrap();
        all.push(bits(&gradient));
        all
    };
    let limited = whole.clone().memory(40e3).unwrap();
    assert!(limited.checkpoints().unwrap().is_some());
    assert!(results(&limited) == results(&whole));
}

/// Protects what is said: too little for a step, what is done about too little for a run, and how steps are counted.
#[test]
fn limits_are_told() {
    let case = common::oscillator().step(1e-3, 2000);
    let whole = simulation(&case, "hht");
    for bytes in [0.0, -1.0, f64::NAN, 100.0] {
        let error = whole.clone().memory(bytes).unwrap_err().to_string();
        let parts = ["the memory for states: ", " is less than one step of model `oscillator` needs, ", "; allow more"];
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    }
    let limited = whole.clone().memory(12e3).unwrap();
    let note = limited.checkpoints().unwrap().unwrap().to_string();
    assert!(note.starts_with("states of 2,000 steps do not fit in 12 kB: "), "{note}");
    assert!(note.contains(" checkpoints, each step is run 2."), "{note}");
    let cost = case.clone().first_steps(100).cost_of(ALL).differentiated(Quadrature::Trapezoid);
    let counters = |simulation: &Simulation| {
        let mut engine = Gradient::new(simulation, &*cost).unwrap();
        engine.cost_and_gradient(&case.u, Method::Adjoint, &mut vec![0.0; case.u.len()]).unwrap();
        engine.counters()
    };
    assert_eq!(counters(&limited), counters(&whole));
}
