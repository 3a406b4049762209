//! No memory is taken in the time loop: once warmed up, the number of allocations of an evaluation does not depend on the
//! number of steps. For every ready model, both forms of HHT, the cost alone, the adjoint and tangents.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{Simulation, TimeGrid};
use costate_identify::Result;

/// Allocations of a second call: of the cost, with the adjoint, with tangents.
fn allocations(gradient: &mut Gradient<'_>, u: &[f64]) -> Result<[u64; 3]> {
    let mut slopes = vec![0.0; u.len()];
    let mut counts = [0; 3];
    for _ in ["warm up", "count"] {
        for (count, method) in counts.iter_mut().zip([None, Some(Method::Adjoint), Some(Method::Tangent)]) {
            let mut outcome = Ok(0.0);
            let info = allocation_counter::measure(|| {
                outcome = match method {
                    None => gradient.cost(u),
                    Some(method) => gradient.cost_and_gradient(u, method, &mut slopes),
                };
            });
            outcome?;
            *count = info.count_total;
        }
    }
    Ok(counts)
}

const IN_SPACE: [&str; 3] = ["bricard", "spatial_chain", "robot_arm"];

/// Protects the speed of long simulations, and bounded memory beside the stored states.
#[test]
fn the_time_loop_takes_no_memory() -> Result<()> {
    // a gyroscope's rotor turns through several pivots in any time that holds 500 steps
    let registry = costate_models::registry()?;
    for entry in registry.entries().iter().filter(|entry| entry.name() != "gyroscope") {
        for scheme in ["hht", "hht-literal", "generalized-alpha", "ali3p", "i2p", "bdf2"] {
            let mut counts = Vec::new();
            for steps in [20, 60] {
                let mut scenario = entry.scenario.clone();
                if entry.name() == "four_bar_chain" || IN_SPACE.contains(&entry.name()) {
                    // near singular positions, and while bodies turn in space, pivots are chosen anew, which takes memory: the
                    // time up to the first one
                    scenario.step = 2e-5;
                }
                scenario.end = f64::from(steps) * scenario.step;
                (scenario.integrator.scheme, scenario.integrator.settings) = (scheme.into(), Vec::new());
                let problem = entry.problem(&scenario)?;
                counts.push(allocations(
                    &mut Gradient::new(&problem.first().simulation, &*problem.first().cost)?,
                    &problem.start,
                )?);
            }
            let place = format!("{} {scheme}: [cost, adjoint, tangent] {counts:?}", entry.name());
            for (few, many) in counts[0].iter().zip(counts[1]) {
                // a sweep chooses its pivots once, where it begins: how much memory that takes depends on the place
                let more = if IN_SPACE.contains(&entry.name()) { 100 } else { 0 };
                assert!(many.abs_diff(*few) <= more, "{place}");
            }
        }
    }
    Ok(())
}

/// Protects the test above from counting nothing at all.
#[test]
fn allocations_are_counted() {
    let info = allocation_counter::measure(|| drop(std::hint::black_box(vec![0u8; 100])));
    assert_eq!(info.count_total, 1);
}

/// Protects long chains: at twice the length the adjoint needs twice the memory. (Tangents, of which there is one a parameter, take four times
/// as much.)
#[test]
fn memory_grows_with_the_length_of_a_chain() -> Result<()> {
    let bytes = |rods: usize| -> Result<f64> {
        let chain = std::sync::Arc::new(costate_models::pendulum_chain::pendulum_chain(rods)?);
        let u = chain.signature().nominal();
        let simulation = Simulation::new(chain, Hht::new(-0.05)?, TimeGrid::uniform(0.0, 5e-3, 1e-3)?, vec![])?;
        let reference = Reference { output: 0, values: vec![1.0; 6], deviation: 1.0 };
        let cost = LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Trapezoid)?;
        let mut slopes = vec![0.0; u.len()];
        let mut outcome = Ok(0.0);
        let taken = allocation_counter::measure(|| {
            outcome = Gradient::new(&simulation, &cost)
                .and_then(|mut gradient| gradient.cost_and_gradient(&u, Method::Adjoint, &mut slopes));
        });
        outcome?;
        Ok(taken.bytes_max as f64)
    };
    let (few, many) = (bytes(300)?, bytes(600)?);
    // vectors that grow take powers of two
    assert!(many < 2.5 * few, "{few} bytes for 300 rods, {many} for 600");
    Ok(())
}
