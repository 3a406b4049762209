//! A heavy symmetric top: it spins about its axis, nods and goes around.
//!
//! With θ from the vertical, momenta p_ψ about the axis of the top and p_φ about the vertical and the moments A (about the tip,
//! across the axis) and C (along it), energy conservation leaves (Goldstein, ch. 5):
//!
//! ```text
//! A θ'' = (p_φ - p_ψ cos θ) (p_φ cos θ - p_ψ) / (A sin³ θ) + m g l sin θ,
//! φ' = (p_φ - p_ψ cos θ) / (A sin² θ),   ψ' = p_ψ / C - φ' cos θ
//! ```

use crate::named;
use costate::vector::{Vector, euler_parameters_of};
use costate::{Parameter, Result};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::spatial::{Body, Inertia, Mechanism};
use std::sync::Arc;

/// Mass (kg), distance of the centre of mass from the tip (m), moments about the centre of mass across and along the axis (kg m²),
/// spin about the axis (rad/s).
pub const NOMINAL: [f64; 5] = [0.8, 0.12, 1.8e-3, 9e-4, 150.0];
/// The axis leans that much at the start, rad.
pub const TILT: f64 = 0.5;
/// Gravity, m/s².
pub const GRAVITY: f64 = 9.81;

/// The top, let go with its axis at rest. Parameters: m, l, I_across, I_along, spin. Motion depends on them through ratios: the mass
/// is fixed. Outputs: position of a point of the axis 1 m from the tip, energy, momentum.
///
/// # Errors
/// None.
pub fn top() -> Result<Assembly> {
    let [m, l, across, along, spin] = NOMINAL;
    let mut mechanism = Mechanism::new("top");
    let mut positive = |name: &str, unit: &str, value: f64| {
        mechanism.parameter(Parameter::new(name, unit, value).bounds(1e-9, f64::INFINITY))
    };
    let (length, across, along) =
        (positive("l", "m", l), positive("I_across", "kg m^2", across), positive("I_along", "kg m^2", along));
    let mass = mechanism.parameter(Parameter::new("m", "kg", m).bounds(1e-9, f64::INFINITY).fixed());
    let spin = mechanism.parameter(Parameter::new("spin", "rad/s", spin));
    mechanism.gravity([0.0, 0.0, -GRAVITY]);
    let inertia = Inertia::diagonal([across, across, along]);
    let turn = euler_parameters_of(Vector([0.0, TILT, 0.0]));
    let rate = [spin * TILT.sin(), &spin * 0.0, spin * TILT.cos()];
    let zero = || costate::value::Value::from(0.0);
    let body = Body::new(mass, inertia).center([zero(), zero(), length]).turned(turn).moving([0.0; 3], rate);
    let body = mechanism.body("top", body);
    mechanism.spherical("tip", mechanism.ground().at([0.0; 3]), body.at([0.0; 3]));
    mechanism.position("axis", body.at([0.0, 0.0, 1.0]));
    mechanism.angular_velocity("rate", &body, costate_parts::law::Axes::Body);
    mechanism.energy("energy");
    mechanism.momentum("momentum");
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        step: 5e-4,
        start: named([("l", 0.13), ("I_across", 2e-3), ("I_along", 8e-4), ("spin", 140.0)]),
        outputs: vec!["axis.x".into(), "axis.y".into()],
        ..Scenario::default()
    };
    registry.with_system("heavy symmetric top that spins, nods and goes around", Arc::new(top()?), scenario)
}
