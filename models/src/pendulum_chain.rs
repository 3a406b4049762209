//! A chain of rods in the plane, hung up at one end: for speed and size.

use crate::named;
use costate::{Parameter, Result};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::planar::{Body, Mechanism};
use std::sync::Arc;

/// `count` uniform rods of 1 m and 1 kg, horizontal and at rest at the start, with a damper in every joint. Parameters: all masses,
/// then all dampers; the output is the position of the free end.
///
/// # Errors
/// None for a positive count.
pub fn pendulum_chain(count: usize) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("pendulum_chain");
    let masses: Vec<_> = (1..=count)
        .map(|i| {
            let mass = Parameter::new(format!("m{i}"), "kg", 1.0).bounds(1e-6, f64::INFINITY);
            // from motion alone, masses are known up to a common factor
            mechanism.parameter(if i == 1 { mass.fixed() } else { mass })
        })
        .collect();
    let dampers: Vec<_> = (1..=count)
        .map(|i| mechanism.parameter(Parameter::new(format!("d{i}"), "N m s/rad", 0.02).non_negative()))
        .collect();
    let mut last = mechanism.ground();
    let mut pin = last.at([0.0, 0.0]);
    for (i, (mass, damper)) in masses.into_iter().zip(dampers).enumerate() {
        let name = format!("rod{}", i + 1);
        let rod = mechanism.body(&name, Body::new(mass, 1.0 / 12.0).at([i as f64 + 0.5, 0.0], 0.0));
        mechanism.revolute(&format!("pin{}", i + 1), pin, rod.at([-0.5, 0.0]));
        mechanism.torsion(&format!("damper{}", i + 1), &last, &rod, 0.0, damper);
        pin = rod.at([0.5, 0.0]);
        last = rod;
    }
    let place = last.at([0.5, 0.0]);
    mechanism.position("tip", place);
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let start = named([("m2", 1.2), ("m3", 0.9), ("m4", 1.1), ("d1", 0.05), ("d2", 0.05), ("d3", 0.01), ("d4", 0.03)]);
    let scenario = Scenario { start, outputs: vec!["tip.x".into(), "tip.y".into()], ..Scenario::default() };
    registry.with_system(
        "chain of four rods from parts, with masses and joint dampers as parameters",
        Arc::new(pendulum_chain(4)?),
        scenario,
    )
}
