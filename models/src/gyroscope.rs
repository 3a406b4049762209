//! A rotor in two gimbals, with a weight that makes it precess, motors and friction in its hinges.

use crate::named;
use costate::value::Value;
use costate::{Parameter, Result, Signal};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Mounting};
use std::sync::Arc;

/// Names, units and values of the parameters: moments of the rotor along and across its axis; of each gimbal about its hinge; weight on
/// the inner gimbal; viscous friction in the three hinges; bias of the sensor of angular velocity; the rotor's spin at the start.
pub const PARAMETERS: [(&str, &str, f64); 9] = [
    ("I_rotor", "kg m^2", 2.0e-3),
    ("I_across", "kg m^2", 1.1e-3),
    ("I_inner", "kg m^2", 4.0e-4),
    ("I_outer", "kg m^2", 9.0e-4),
    ("m_weight", "kg", 0.05),
    ("d_outer", "N m s/rad", 2.0e-4),
    ("d_inner", "N m s/rad", 2.0e-4),
    ("d_rotor", "N m s/rad", 2.0e-5),
    ("bias", "rad/s", 0.01),
];
/// The rotor's spin at the start, rad/s.
pub const SPIN: f64 = 120.0;

/// The torques of the motors of the rotor and of the outer gimbal, N m.
pub fn torques(t: f64) -> [f64; 2] {
    [4e-3, 0.02 * (6.0 * t).sin()]
}

/// Outer gimbal about z, inner gimbal about y, rotor about x; the weight is on the inner gimbal, 0.1 m along the rotor's axis. Inputs:
/// torques of the motors of the rotor and of the outer gimbal. Outputs: angles of the gimbals with rates and accelerations, a
/// gyroscope on the inner gimbal (with bias), the reaction of the outer bearing, energy.
///
/// # Errors
/// None.
pub fn gyroscope() -> Result<Assembly> {
    let mut mechanism = Mechanism::new("gyroscope");
    let parameters = PARAMETERS.map(|(name, unit, value)| {
        let parameter = Parameter::new(name, unit, value);
        mechanism.parameter(if name == "bias" { parameter } else { parameter.non_negative() })
    });
    let [rotor, across, inner, outer, weight, d_outer, d_inner, d_rotor, bias] = parameters;
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // of the gimbals, the moments about other axes than their hinges' are of no account, or of little
    let ring = |moment: Value| Inertia::diagonal([&moment * 0.8, &moment * 0.8, moment]);
    let outer = mechanism.body("outer", Body::new(0.3, ring(outer)));
    let inner = mechanism.body("inner", Body::new(0.2, Inertia::diagonal([&inner * 0.8, inner, &inner * 0.8])));
    let wheel = Body::new(1.0, Inertia::diagonal([rotor, across, across])).moving([0.0; 3], [SPIN, 0.0, 0.0]);
    let wheel = mechanism.body("rotor", wheel);
    let weight = mechanism.point("weight", weight, [0.1, 0.0, 0.0]);
    let ground = mechanism.ground();
    let origin = [0.0; 3];
    let stand = mechanism.revolute("outer bearing", ground.at(origin).axis(z), outer.at(origin).axis(z));
    let pivot = mechanism.revolute("inner bearing", outer.at(origin).axis(y), inner.at(origin).axis(y));
    let shaft = mechanism.revolute("shaft", inner.at(origin).axis(x), wheel.at(origin).axis(x));
    mechanism.spherical("clamp", inner.at([0.1, 0.0, 0.0]), weight.at(origin));
    for (name, joint, damping) in
        [("outer friction", &stand, d_outer), ("inner friction", &pivot, d_inner), ("shaft friction", &shaft, d_rotor)]
    {
        mechanism.joint_spring(name, joint, Freedom::Turn, 0.0, damping);
    }
    let drive = mechanism.input("rotor torque", "N m");
    mechanism.motor("rotor motor", &shaft, Freedom::Turn, drive);
    let torque = mechanism.input("outer torque", "N m");
    mechanism.motor("outer motor", &stand, Freedom::Turn, torque);
    mechanism.joint_sensor("outer hinge", &stand, Freedom::Turn);
    mechanism.joint_sensor("inner hinge", &pivot, Freedom::Turn);
    let zero = || Value::from(0.0);
    let mounting = Mounting { bias: [zero(), zero(), bias], ..Mounting::default() };
    mechanism.gyroscope("sensor", inner.at(origin), mounting);
    mechanism.reaction("bearing", &stand, &outer, Default::default());
    mechanism.energy("energy");
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        end: 2.0,
        signals: (0..2).map(|k| Signal::function(move |t| torques(t)[k])).collect(),
        start: named([
            ("I_rotor", 1.8e-3),
            ("m_weight", 0.06),
            ("d_outer", 1e-4),
            ("d_inner", 3e-4),
            ("d_rotor", 3e-5),
            ("bias", 0.0),
        ]),
        outputs: vec!["outer hinge.angle".into(), "inner hinge.angle".into(), "sensor.z".into()],
        ..Scenario::default()
    };
    registry.with_system(
        "rotor in two gimbals with motors, friction and a weight that makes it precess",
        Arc::new(gyroscope()?),
        scenario,
    )
}
