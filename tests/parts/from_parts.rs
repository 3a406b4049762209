//! Mechanisms from parts against the same mechanisms as plain functions; and how they are assembled around what is given.

use crate::common;

use common::exact;
use costate::scheme::{Form, Hht};
use costate::system::System;
use costate::{Error, InitialState, Parameter, Result, Signal, Simulation, TimeGrid, Trajectory};
use costate_models::{engine_mount, from_parts, slider_crank};
use costate_parts::assembly::Assembly;
use costate_parts::planar::{Body, Mechanism};
use std::sync::Arc;

fn run(system: Arc<dyn System>, signal: fn(f64) -> f64, grid: &TimeGrid, u: &[f64]) -> Result<Trajectory> {
    Simulation::new(system, Hht::new(-0.1)?, grid.clone(), vec![Signal::function(signal)])?.run(u)
}

/// The largest difference of two lists over the largest value.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0f64, |largest, v| largest.max(v.abs()));
    largest(&mut a.iter().zip(b).map(|(a, b)| a - b)) / largest(&mut b.iter().copied())
}

/// Every coordinate of one kind over a run.
fn all(trajectory: &Trajectory, pick: fn(&costate::system::Point<'_>) -> Vec<f64>) -> Vec<f64> {
    (0..trajectory.times().len()).flat_map(|i| pick(&trajectory.state(i))).collect()
}

/// Protects parts against plain functions on a closed loop: the slider-crank moves alike, to 1e-12 in positions, with nominal and
/// other masses, stiffness and damping; its bearing pushes alike.
#[test]
fn the_slider_crank_from_parts_is_that_of_plain_functions() -> Result<()> {
    let (parts, plain) = (Arc::new(from_parts::slider_crank()?), common::ready("slider_crank"));
    let names = |parameters: &[costate::Parameter]| parameters.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&parts.signature().parameters), names(&plain.signature().parameters[..13]));
    let grid = TimeGrid::uniform(0.0, 0.7, 1e-3)?;
    for factor in [1.0, 1.3] {
        let mut u = plain.signature().nominal();
        for (k, name) in ["m_crank", "m_rod", "m_slider", "I_crank", "I_rod", "k", "d"].into_iter().enumerate() {
            u[plain.signature().parameter_index(name)?] *= 1.0 + (factor - 1.0) * (1.0 + k as f64).sin();
        }
        let one = run(parts.clone(), slider_crank::torque, &grid, &u[..13])?;
        let other = run(plain.clone(), slider_crank::torque, &grid, &u)?;
        let error = difference(&all(&one, |x| x.q.to_vec()), &all(&other, |x| x.q.to_vec()));
        assert!(error < 1e-12, "positions: {error:e}");
        // what Newton leaves of positions is in velocities over a step, in accelerations over its square
        let error = difference(&all(&one, |x| x.v.to_vec()), &all(&other, |x| x.v.to_vec()));
        assert!(error < 1e-11, "velocities: {error:e}");
        for (of_parts, of_plain) in
            [("acceleration.x", "a"), ("bearing force.x", "bearing_x"), ("bearing force.y", "bearing_y")]
        {
            let place = parts.signature().output_index(of_parts)?;
            let error = difference(&one.output(place), &other.output(plain.signature().output_index(of_plain)?));
            assert!(error < 1e-8, "{of_plain}: {error:e}");
        }
    }
    Ok(())
}

/// Protects elements on single coordinates, masses of zero and a constraint between more than two of them: the engine mount moves
/// alike, to 1e-12, in everything that its sensor sees.
#[test]
fn the_engine_mount_from_parts_is_that_of_plain_functions() -> Result<()> {
    let (parts, plain) = (Arc::new(from_parts::engine_mount()?), common::ready("engine_mount"));
    assert_eq!(parts.signature().parameters, plain.signature().parameters);
    let grid = TimeGrid::uniform(0.0, 1.0, 1e-3)?;
    for u in [plain.signature().nominal(), engine_mount::START.to_vec()] {
        let one = run(parts.clone(), engine_mount::sweep, &grid, &u)?;
        let other = run(plain.clone(), engine_mount::sweep, &grid, &u)?;
        let error = difference(&all(&one, |x| x.q.to_vec()), &all(&other, |x| x.q.to_vec()));
        assert!(error < 1e-12, "positions: {error:e}");
        for k in 0..3 {
            let error = difference(&one.output(k), &other.output(k));
            assert!(error < 1e-12, "output {k}: {error:e}");
        }
    }
    Ok(())
}

/// A crank, a coupler and a rocker, put together roughly; the crank's angle and rate are given.
fn four_bar() -> Result<Assembly> {
    let mut m = Mechanism::new("four_bar");
    let mut parameter = |name: &str, unit: &str, nominal| m.parameter(Parameter::new(name, unit, nominal));
    let (angle, rate) = (parameter("angle", "rad", 0.9), parameter("rate", "rad/s", 2.0));
    let (mass, half) = (parameter("m", "kg", 1.2), parameter("half", "m", 0.6));
    let crank = m.body("crank", Body::new(0.7, 0.02).at([0.1, 0.2], angle).moving([0.0, 0.0], rate));
    let coupler = m.body("coupler", Body::new(mass, 0.1).at([0.7, 0.6], 0.2));
    let rocker = m.body("rocker", Body::new(0.9, 0.05).at([1.2, 0.4], 1.3));
    m.revolute("foot", m.ground().at([0.0, 0.0]), crank.at([-0.2, 0.0]));
    m.revolute("pin", crank.at([0.2, 0.0]), coupler.at([-&half, 0.0.into()]));
    m.revolute("wrist", coupler.at([half, 0.0.into()]), rocker.at([0.45, 0.0]));
    m.revolute("stand", m.ground().at([1.1, 0.0]), rocker.at([-0.45, 0.0]));
    m.acceleration("sensor", coupler.at([0.1, 0.2]), costate_parts::law::Axes::Body);
    m.build()
}

/// Protects assembly around what is given: a held coordinate keeps position and velocity to the last digit while the others move
/// onto the constraints, first and second derivatives pass through, and without it the crank is moved, too.
#[test]
fn held_coordinates_stay() -> Result<()> {
    let held = exact::simulation(four_bar()?, vec![], Form::Consistent, 30).hold(["crank.angle"])?;
    assert_eq!(held.held().collect::<Vec<_>>(), ["crank.angle"]);
    let u = held.signature().nominal();
    let run = held.run(&u)?;
    let place = held.signature().coordinate_index("crank.angle")?;
    assert_eq!((run.state(0).q[place], run.state(0).v[place]), (0.9, 2.0));
    for level in [costate::system::Level::Position, costate::system::Level::Velocity] {
        let mut off = vec![0.0; held.signature().constraints.len()];
        let mut evaluator = held.system().evaluator();
        evaluator.set_parameters(&u);
        evaluator.constraint(level, &run.state(0), &mut off);
        assert!(off.iter().all(|c| c.abs() < 1e-14), "{level:?}: {off:?}");
    }
    exact::check("held", &held);
    let moved = held.hold::<&str>([])?.run(&u)?;
    assert!((moved.state(0).q[place] - 0.9).abs() > 1e-3);
    Ok(())
}

/// Protects users who hold too much, or something that is not there: the rows that cannot be satisfied are named.
#[test]
fn what_cannot_be_held_is_named() -> Result<()> {
    let simulation = exact::simulation(four_bar()?, vec![], Form::Consistent, 3);
    let u = simulation.signature().nominal();
    let message = |held: &[&str]| -> Result<String> {
        let error = simulation.clone().hold(held)?.run(&u).expect_err("it cannot be held");
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        Ok(error.to_string())
    };
    let text = message(&["crank.angle", "crank.x"])?;
    assert!(text.contains("`crank.angle`, `crank.x`") && text.contains("none is left in `foot.x`"), "{text}");
    // one freedom, two angles
    let text = message(&["crank.angle", "rocker.angle"])?;
    assert!(text.contains(" they repeat ") && text.contains("hold fewer"), "{text}");
    let error = simulation.clone().hold(["crank.angel"]).expect_err("there is none");
    assert!(error.to_string().contains("did you mean `crank.angle`"), "{error}");
    let resting = simulation.clone().hold(["crank.angle"])?.initial_state(InitialState::Equilibrium);
    assert!(resting.run(&u).expect_err("an equilibrium moves all").to_string().contains("equilibrium"));
    // held where it does not reach
    let mut far = u.clone();
    far[3] = 1.0;
    let error = simulation.hold(["crank.angle"])?.run(&far).expect_err("it does not reach");
    assert!(matches!(error, Error::NotAssembled { .. }), "{error}");
    Ok(())
}
