//! A point mass on a massless rod, in Cartesian coordinates: the constraint depends on the length.

use crate::hand_derived::PendulumByHand;
use crate::named;
use costate::{Drawing, Matrix, Model, Number, Parameter, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::registry::{Registry, Scenario};

/// Position (x, y) from the pivot, y upwards; hangs at angle 0.
#[derive(Debug, Clone, Copy)]
pub struct Pendulum;

impl Model for Pendulum {
    fn signature(&self) -> Signature {
        Signature::new("pendulum")
            .coordinates([("x", "m"), ("y", "m")])
            .constraints([("rod", "m^2")])
            .angles(["angle"])
            .outputs([("a_x", "m/s^2"), ("a_y", "m/s^2"), ("rod_force", "N")])
            .parameters([
                Parameter::new("m", "kg", 0.5).bounds(1e-6, f64::INFINITY).fixed(),
                Parameter::new("L", "m", 0.8).bounds(1e-3, f64::INFINITY),
                Parameter::new("d", "N s/m", 0.05).non_negative(),
                Parameter::new("g", "m/s^2", 9.81).fixed(),
                Parameter::new("angle0", "rad", 1.2),
                Parameter::new("omega0", "rad/s", 0.3),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let [_, length, _, _, angle, omega] = unpack(u);
        let (sin, cos) = angle.sin_cos();
        (q[0], q[1]) = (length * sin, -length * cos);
        (v[0], v[1]) = (length * omega * cos, length * omega * sin);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
        m[(1, 1)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [m, _, d, g, _, _] = unpack(u);
        force[0] = -d * v[0];
        force[1] = -d * v[1] - m * g;
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = (q[0] * q[0] + q[1] * q[1] - u[1] * u[1]) * 0.5;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = x.q[0].atan2(-x.q[1]);
        y[1] = x.a[0];
        y[2] = x.a[1];
        // C_q = (x, y) has length L, so the tension is λ L
        y[3] = x.lambda[0] * u[1];
    }

    fn picture(&self, _t: f64, q: &[f64], _w: &[f64], _u: &[f64], drawing: &mut Drawing) {
        let mass = drawing.point("mass", [q[0], q[1]]);
        drawing.rod(drawing.ground([0.0; 2]), mass);
        drawing.trace(mass);
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 4.0,
        step: 2e-3,
        start: named([("L", 0.7), ("d", 0.02), ("angle0", 1.1), ("omega0", 0.0)]),
        outputs: vec!["a_x".into(), "a_y".into()],
        ..Scenario::default()
    };
    registry
        .with("pendulum in Cartesian coordinates; its length is a parameter of the constraint", Pendulum, scenario)?
        .with_hand_derived("pendulum", PendulumByHand)
}
