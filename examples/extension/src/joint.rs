//! A bead on an elliptic wire: a joint that costate does not have.

use costate::sketch::Part;
use costate::value::Value;
use costate::{Number, Parameter};
use costate_cli::registry::{Registry, Scenario};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_parts::assembly::{Connection, Element};
use costate_parts::planar::{Body, Mechanism, Mounting, Sides};
use std::sync::Arc;

/// A point of the second member stays on an ellipse of the first. Parameters: locations, then the half axes.
#[derive(Clone)]
struct OnEllipse(Sides);

impl Element for OnEllipse {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [first, second] = self.0.poses(q);
        let (center, point) = (first.point([u[0], u[1]]), second.point([u[2], u[3]]));
        let [x, y] = first.turn_back([point[0] - center[0], point[1] - center[1]]);
        let (x, y) = (x / u[4], y / u[5]);
        // of the size of a length, so that the multiplier is a force
        c[0] = (x * x + y * y - 1.0) * (u[4] + u[5]) * 0.25;
    }
}

/// A bead of unknown drag slides down the wire.
pub fn register(registry: Registry) -> Result<Registry> {
    let mut mechanism = Mechanism::new("bead");
    let drag = mechanism.parameter(Parameter::new("drag", "N s/m", 0.05).non_negative());
    let width = mechanism.parameter(Parameter::new("width", "m", 0.6).bounds(1e-3, f64::INFINITY));
    let bead = mechanism.body("bead", Body::new(0.1, 1e-5).at([width, Value::from(0.0)], 0.0));
    let places = [mechanism.ground().at([0.0, 0.0]), bead.at([0.0, 0.0])];
    let with = |connection: Connection| connection.parameters([width, Value::from(0.4)]).constraints([("wire", "m")]);
    mechanism.own("wire", places, OnEllipse, with, |spots| Some(Part::Rope(spots)));
    mechanism.drag("air", bead.at([0.0, 0.0]), drag, 0.0);
    mechanism.accelerometer("sensor", bead.at([0.0, 0.0]), Mounting::default());
    let scenario = Scenario {
        end: 1.0,
        step: 1e-3,
        integrator: Integrator::default(),
        start: vec![("drag".into(), 0.1), ("width".into(), 0.61)],
        outputs: vec!["sensor.x".into(), "sensor.y".into()],
        ..Scenario::default()
    };
    registry.with_system("a bead on an elliptic wire", Arc::new(mechanism.build()?), scenario)
}
