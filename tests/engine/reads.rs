//! Runs that are read between their steps.

use crate::common;

use common::{ALL, Case};
use costate::cost::{Cost, Quadrature};
use costate::scheme::Scheme;
use costate::sensitivity::{Gradient, Method};
use costate::{Signal, Simulation, scheme};
use std::sync::Arc;

fn simulation(case: &Case, scheme: &str) -> Simulation {
    let signals = case.signals.iter().map(|&w| Signal::function(w)).collect();
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &[]).unwrap();
    Simulation::new(case.system.clone(), scheme, case.grid.clone(), signals).unwrap()
}

/// Times in some steps and not in others, several in one, at ends of steps and beyond the run.
fn times(simulation: &Simulation) -> Vec<f64> {
    let (grid, h) = (simulation.grid(), simulation.grid().step(1));
    let inside = [0.3, 0.9, 1.5, 4.2, 4.25, 4.7, 5.0, 7.01, 7.99, 12.4].map(|k| grid.time(0) + k * h);
    [&inside[..], &[grid.end() - 0.4 * h, grid.end() + h, grid.time(0) - h]].concat()
}

/// Protects derivatives of costs between steps: the adjoint against tangents, and second derivatives against differences of gradients, for
/// every scheme and model, of positions, velocities, accelerations, multipliers and outputs; with checkpoints the same to the last bit.
#[test]
fn derivatives_between_steps_agree() {
    for scheme in scheme::names() {
        for (name, case) in common::models() {
            let case = case.first_steps(50);
            let whole = simulation(&case, scheme);
            let read = whole.reading(&times(&whole)).unwrap();
            assert_eq!((read.steps(), read.grid().count()), (50, 60), "{scheme}, {name}");
            let cost = case.cost_of(ALL).differentiated(Quadrature::Trapezoid);
            let gradients = |simulation: &Simulation| {
                let mut engine = Gradient::new(simulation, &*cost).unwrap();
                [Method::Adjoint, Method::Tangent].map(|method| {
                    let mut gradient = vec![0.0; case.u.len()];
                    let value = engine.cost_and_gradient(&case.u, method, &mut gradient).unwrap();
                    (value, gradient)
                })
            };
            let [(value, adjoint), (other, tangent)] = gradients(&read);
            assert!((value / other - 1.0).abs() < 1e-13, "{scheme}, {name}");
            // undamped multipliers of index 3 hold round-off over beta h^2
            let limit = if ["newmark", "trapezoidal"].contains(&scheme) { 1e-9 } else { 1e-10 };
            let gap = case.distance(&adjoint, &tangent);
            assert!(gap < limit, "{scheme}, {name}: {gap:.1e}");
            // times between steps do count
            let [(ends_alone, _), _] = gradients(&whole);
            assert!((value / ends_alone - 1.0).abs() > 1e-9, "{scheme}, {name}");
            second_derivatives(&case, &read, &*cost, &format!("{scheme}, {name}"));
            let limited = (0..200).map(|k| 200.0 * 1.05f64.powi(k)).find_map(|bytes| read.clone().memory(bytes).ok());
            let limited = limited.unwrap();
            assert!(limited.checkpoints().unwrap().is_some());
            assert_eq!(gradients(&limited), gradients(&read), "{scheme}, {name}");
        }
    }
}

fn second_derivatives(case: &Case, simulation: &Simulation, cost: &dyn Cost, what: &str) {
    let along: Vec<f64> = case.sizes.iter().enumerate().map(|(k, size)| size * (1.3 * k as f64).cos()).collect();
    let mut engine = Gradient::new(simulation, cost).unwrap();
    let [mut gradient, mut product] = [(); 2].map(|()| vec![0.0; case.u.len()]);
    engine.hessian_vector(&case.u, &along, &mut gradient, &mut product).unwrap();
    let h = 1e-5;
    let mut at = |h: f64| {
        let u: Vec<f64> = case.u.iter().zip(&along).map(|(u, d)| u + h * d).collect();
        let mut gradient = vec![0.0; u.len()];
        engine.cost_and_gradient(&u, Method::Adjoint, &mut gradient).unwrap();
        gradient
    };
    let difference: Vec<f64> = at(h).iter().zip(at(-h)).map(|(up, down)| (up - down) / (2.0 * h)).collect();
    let gap = case.distance(&product, &difference);
    assert!(gap < 2e-4, "{what}: {gap:.1e}");
}

/// Protects what is read: at ends of steps the run itself, between them positions, velocities, accelerations and multipliers of second order.
#[test]
fn order_two_is_kept_between_steps() {
    for scheme in ["i2p", "generalized-alpha"] {
        let case = common::slider_crank().step(4e-3, 100);
        let errors = |parts: usize| {
            let whole = simulation(&Case { grid: case.grid.divided(parts).unwrap(), ..case.clone() }, scheme);
            let all: Vec<f64> = (1..100).map(|k| (k as f64 + 0.41 * (k as f64).sin()) * 4e-3).collect();
            let read = whole.reading(&all).unwrap();
            let run = read.run(&case.u).unwrap();
            let fine = simulation(&Case { grid: case.grid.divided(64).unwrap(), ..case.clone() }, scheme);
            let fine = fine.reading(&all).unwrap();
            let exact = fine.run(&case.u).unwrap();
            let place = |times: &[f64], t: f64| times.partition_point(|time| *time < t - 1e-9);
            let mut errors = [0.0f64; 4];
            for &t in all.iter().skip(20) {
                let (a, b) = (run.state(place(run.times(), t)), exact.state(place(exact.times(), t)));
                for (error, (a, b)) in errors.iter_mut().zip([(a.q, b.q), (a.v, b.v), (a.a, b.a), (a.lambda, b.lambda)])
                {
                    a.iter().zip(b).for_each(|(a, b)| *error = error.max((a - b).abs()));
                }
            }
            errors
        };
        let (coarse, fine) = (errors(1), errors(2));
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            let order = common::order(coarse, fine);
            assert!((order - 2.0).abs() < 0.35, "{scheme}: {coarse:.2e}, {fine:.2e}, order {order:.2}");
        }
    }
}

/// Protects runs as they are: reading at times of steps alone changes nothing.
#[test]
fn ends_of_steps_are_read_as_they_are() {
    let case = common::cart_pole().uneven();
    let whole = simulation(&case, "generalized-alpha");
    let same = whole.reading(&whole.grid().times()[3..9]).unwrap();
    assert_eq!(same.grid(), whole.grid());
    let read = whole.reading(&times(&whole)).unwrap().run(&case.u).unwrap();
    let run = whole.run(&case.u).unwrap();
    for (i, t) in run.times().iter().enumerate() {
        let k = read.times().iter().position(|time| time == t).unwrap();
        assert_eq!(run.output(1)[i], read.output(1)[k], "{t}");
        assert_eq!(run.state(i).v, read.state(k).v, "{t}");
    }
}

/// Protects accelerations behind a jump: between the ends of the step that starts anew there, they are not known, and that is said.
#[test]
fn steps_behind_jumps_are_not_read_inside() {
    let case = common::cart_pole().first_steps(10);
    let jump = Signal::switched(Signal::constant(0.0), vec![(0.08, Signal::constant(2.0))]).unwrap();
    let scheme: Arc<dyn Scheme> = scheme::by_name("i2p", &[]).unwrap();
    let system = case.system.clone();
    let simulation = Simulation::new(system, scheme, case.grid.clone(), vec![jump]).unwrap();
    assert!(simulation.reading(&[0.07, 0.11]).is_ok());
    let error = simulation.reading(&[0.07, 0.09]).unwrap_err().to_string();
    assert!(error.contains("from 0.08 s on passes over 0.09 s, behind a jump of an input"), "{error}");
}
