//! A chain of rods in space, hung up at one end on hinges whose axes alternate: for speed and size.

use crate::named;
use costate::{Parameter, Result};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism};
use std::sync::Arc;

/// `count` rods of 1 m, 1 kg and a square section of 0.1 m along x, at rest at the start, on hinges with dampers. The axes of the hinges
/// are perpendicular to the rods and to one another, 45 degrees from the vertical. Parameters: all masses, then all dampers; the
/// output is the position of the free end.
///
/// # Errors
/// None for a positive count.
pub fn spatial_chain(count: usize) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("spatial_chain");
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
    let inertia = Inertia::diagonal([0.01 / 6.0, 1.01 / 12.0, 1.01 / 12.0]);
    let mut end = mechanism.ground().at([0.0; 3]);
    for (i, (mass, damper)) in masses.into_iter().zip(dampers).enumerate() {
        let axis = [0.0, 1.0, if i % 2 == 0 { 1.0 } else { -1.0 }];
        let body = Body::new(mass, inertia.clone()).at([i as f64 + 0.5, 0.0, 0.0]);
        let rod = mechanism.body(&format!("rod{}", i + 1), body);
        let start = rod.at([-0.5, 0.0, 0.0]).axis(axis);
        let hinge = mechanism.revolute(&format!("hinge{}", i + 1), end.axis(axis), start);
        mechanism.joint_spring(&format!("damper{}", i + 1), &hinge, Freedom::Turn, 0.0, damper);
        end = rod.at([0.5, 0.0, 0.0]);
    }
    mechanism.position("tip", end);
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let start = named([("m2", 1.2), ("m3", 0.9), ("m4", 1.1), ("d1", 0.05), ("d2", 0.05), ("d3", 0.01), ("d4", 0.03)]);
    let scenario =
        Scenario { start, outputs: vec!["tip.x".into(), "tip.y".into(), "tip.z".into()], ..Scenario::default() };
    registry.with_system(
        "chain of four rods in space, on hinges that alternate, with masses and joint dampers as parameters",
        Arc::new(spatial_chain(4)?),
        scenario,
    )
}
