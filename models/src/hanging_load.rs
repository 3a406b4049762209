//! A load on a rope of constant length under a trolley whose motion is prescribed, and left to a spline: which motion brings it from rest to
//! rest?
//!
//! The rope (9.81 m/s², 0.8 m) swings once in 1.8 s; the trolley has 2.5 s for its way of 1.5 m, and begins and ends at rest.

use crate::named;
use costate::cost::{Aim, Goal};
use costate::spline::Spline;
use costate::value::Value;
use costate::{Parameter, Result};
use costate_identify::control::{ControlScenario, UnknownSignal};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::law::Axes;
use costate_parts::planar::Mechanism;
use std::sync::Arc;

/// Time in which the trolley moves, s.
pub const DURATION: f64 = 2.5;
/// Distance that the trolley moves in [`DURATION`], m.
pub const WAY: f64 = 1.5;

/// The trolley, its motion `slide` with that many intervals, and the load.
///
/// # Errors
/// For no interval.
pub fn hanging_load(intervals: usize) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("hanging_load");
    let length = mechanism.parameter(Parameter::new("L", "m", 0.8).bounds(0.1, 10.0));
    let damping = mechanism.parameter(Parameter::new("d", "N s/m", 0.5).non_negative());
    let slide = Spline::cubic([0.0, DURATION], intervals).begin([0.0; 3]).end([WAY, 0.0, 0.0]);
    let values = mechanism.motion("slide", "m", &slide);
    // a cubic spline's value and rate at its begin, whatever its coefficients are
    let (x, rate) = (values[0], (values[1] - values[0]) * (3.0 * intervals as f64 / DURATION));
    let still = Value::from(0.0);
    let trolley = mechanism.point_moving("cart", 5.0, [x, still], [rate, still]);
    let load = mechanism.point_moving("mass", 20.0, [x, -length], [rate, still]);
    let hook = || trolley.at([0.0, 0.0]);
    mechanism.on_line("rail", mechanism.ground().at([0.0, 0.0]), hook(), 0.0);
    mechanism.drive("servo", trolley.coordinates()[0], slide, values);
    mechanism.rod("rope", hook(), load.at([0.0, 0.0]), length);
    mechanism.drag("air", load.at([0.0, 0.0]), damping, 0.0);
    mechanism.position("trolley", hook());
    mechanism.position("load", load.at([0.0, 0.0]));
    mechanism.velocity("speed", load.at([0.0, 0.0]), Axes::World);
    mechanism.build()
}

/// Control from rest to rest, with as little speed as that takes: J = ½ 1e-3 ∫ (slide'/m)² dt.
pub fn rest_to_rest() -> ControlScenario {
    ControlScenario::new(Vec::new(), vec![UnknownSignal::new("slide", 1.0).smoothness(1e-3)], |_| {
        vec![Goal::new("load.x", Aim::Reach(WAY)).exactly(), Goal::new("speed.x", Aim::Reach(0.0)).exactly()]
    })
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        end: DURATION,
        step: 5e-3,
        integrator: Integrator::hht(-0.05),
        start: named([("L", 0.9), ("d", 0.3)]),
        outputs: vec!["load.x".into(), "load.y".into()],
        ..Scenario::default()
    };
    registry
        .with_system(
            "load under a trolley that is moved from rest to rest, by a motion that is found",
            Arc::new(hanging_load(12)?),
            scenario,
        )?
        .with_control("hanging_load", rest_to_rest())
}
