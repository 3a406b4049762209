//! Mechanisms from parts against the same mechanisms as plain functions.

use costate::{Hht, Plain, Result, Signal, Simulation, System, TimeGrid, Trajectory};
use costate_models::{EngineMount, SliderCrank, engine_mount, from_parts, slider_crank};
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
    let (parts, plain) = (Arc::new(from_parts::slider_crank()?), Arc::new(Plain::new(SliderCrank)?));
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
    let (parts, plain) = (Arc::new(from_parts::engine_mount()?), Arc::new(Plain::new(EngineMount)?));
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
