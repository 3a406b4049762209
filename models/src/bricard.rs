//! Bricard's mechanism: six hinges in a closed loop, of which one condition follows from the others (IFToMM benchmark library,
//! problem A04; Bricard 1897).
//!
//! Five rods of 1 m and the ground are six edges of a cube, each perpendicular to the next; the axis of every hinge is perpendicular
//! to both its edges. Counting rows there is no freedom left, yet it moves.

use crate::named;
use costate::vector::{Vector, euler_parameters_of};
use costate::{Parameter, Result};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::spatial::{Body, Inertia, Mechanism};
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

/// Positions of the hinges at the start, m; the first and the last are on the ground.
pub const HINGES: [[f64; 3]; 6] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [1.0, -1.0, 1.0], [0.0, -1.0, 1.0], [0.0, 0.0, 1.0]];
/// Axes of the hinges: across the edges that meet there.
const AXES: [[f64; 3]; 6] =
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
/// Side of the rods' square section, m.
const SIDE: f64 = 0.1;

/// The mechanism, let go from rest in a gravity field along -y. Parameters: mass of each rod, kg; a common factor does not show in
/// the motion, so the first is fixed. Outputs: position of the third hinge, energy.
///
/// # Errors
/// None.
pub fn bricard() -> Result<Assembly> {
    let mut mechanism = Mechanism::new("bricard");
    mechanism.gravity([0.0, -9.81, 0.0]);
    mechanism.redundant_rows(RedundantRows::LeaveOut);
    let mut last = mechanism.ground();
    for i in 0..5 {
        let mass = Parameter::new(format!("m{}", i + 1), "kg", 1.0).bounds(1e-6, f64::INFINITY);
        let mass = mechanism.parameter(if i == 0 { mass.fixed() } else { mass });
        let ([a, b], axis) = ([HINGES[i], HINGES[i + 1]], AXES[i]);
        let center = [0, 1, 2].map(|k| 0.5 * (a[k] + b[k]));
        let along = Vector([0, 1, 2].map(|k| b[k] - a[k]));
        // the rod's own x is along it
        let x = Vector([1.0, 0.0, 0.0]);
        let turn = match x.cross(along) {
            Vector([_, y, z]) if y == 0.0 && z == 0.0 => Vector([0.0, 0.0, if along.0[0] > 0.0 { 0.0 } else { 2.0 }]),
            across => across,
        };
        let across = 1.0 / 12.0 * (1.0 + SIDE * SIDE);
        let inertia = Inertia::diagonal([mass * (SIDE * SIDE / 6.0), mass * across, mass * across]);
        let body = Body::new(mass, inertia).at(center).turned(euler_parameters_of(turn * FRAC_PI_2));
        let rod = mechanism.body(&format!("rod{}", i + 1), body);
        let hinge = [mechanism.place(&last, a).axis(axis), mechanism.place(&rod, a).axis(axis)];
        let [first, second] = hinge;
        mechanism.revolute(&format!("hinge{i}"), first, second);
        if i == 2 {
            let tip = mechanism.place(&rod, HINGES[3]);
            mechanism.position("P3", tip);
        }
        last = rod;
    }
    let ground = mechanism.ground();
    let hinge = [mechanism.place(&last, HINGES[5]).axis(AXES[5]), mechanism.place(&ground, HINGES[5]).axis(AXES[5])];
    let [first, second] = hinge;
    mechanism.revolute("hinge5", first, second);
    mechanism.energy("energy");
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        step: 2e-3,
        start: named([("m2", 1.2), ("m3", 0.9), ("m4", 1.1), ("m5", 0.8)]),
        outputs: vec!["P3.x".into(), "P3.y".into(), "P3.z".into()],
        ..Scenario::default()
    };
    registry.with_system(
        "Bricard's mechanism, six hinges in a closed loop with a redundant row (IFToMM A04)",
        Arc::new(bricard()?),
        scenario,
    )
}
