//! A point mass on a massless rod, let go horizontally (IFToMM benchmark library, problem A01).

use crate::named;
use costate::value::Value;
use costate::{Parameter, Result};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::planar::Mechanism;
use std::sync::Arc;

/// The pendulum of the benchmark: 1 kg at 1 m, at rest at (-1, 0) m. Parameters: mass, length, gravity; outputs: position and
/// energy. Motion alone says nothing of the mass, which is fixed.
///
/// # Errors
/// None.
pub fn simple_pendulum() -> Result<Assembly> {
    let mut mechanism = Mechanism::new("simple_pendulum");
    let mass = mechanism.parameter(Parameter::new("m", "kg", 1.0).bounds(1e-6, f64::INFINITY).fixed());
    let length = mechanism.parameter(Parameter::new("L", "m", 1.0).bounds(1e-3, f64::INFINITY));
    let gravity = mechanism.parameter(Parameter::new("g", "m/s^2", 9.81));
    mechanism.gravity([Value::from(0.0), -gravity]);
    let bob = mechanism.point("bob", mass, [-&length, Value::from(0.0)]);
    mechanism.rod("rod", mechanism.ground().at([0.0, 0.0]), bob.at([0.0, 0.0]), length);
    mechanism.position("position", bob.at([0.0, 0.0]));
    mechanism.energy("energy");
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        end: 2.0,
        start: named([("L", 1.2), ("g", 9.0)]),
        outputs: vec!["position.x".into(), "position.y".into()],
        ..Scenario::default()
    };
    registry.with_system(
        "point mass on a rod, let go horizontally, from parts (IFToMM A01)",
        Arc::new(simple_pendulum()?),
        scenario,
    )
}
