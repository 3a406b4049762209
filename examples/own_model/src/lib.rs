//! A motor with a gear turns an arm through a torsional spring; gravity pulls at the arm, friction brakes the gear.
//!
//! ```text
//! J_m phi''   = K i - k (phi - alpha) - d (phi' - alpha') - b phi' - dry s,      s = phi' / √(phi'² + v_s²)
//! J_a alpha'' =       k (phi - alpha) + d (phi' - alpha') - G sin(alpha)
//! ```
//!
//! `phi` is the angle of the gear's output, `alpha` that of the arm; both are zero where the arm hangs. `s` is the sign of the
//! velocity, smoothed.

use costate::{Drawing, Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_cli::Result;
use costate_cli::registry::{Registry, Scenario};

/// Gravity, m/s².
const GRAVITY: f64 = 9.81;
/// Distance of the accelerometer from the axis, m.
const SENSOR: f64 = 0.4;

/// The mechanism.
pub struct FlexibleArm;

impl Model for FlexibleArm {
    fn signature(&self) -> Signature {
        Signature::new("flexible_arm")
            .coordinates([("phi", "rad"), ("alpha", "rad")])
            .inputs([("current", "A")])
            .outputs([("encoder", "rad"), ("acceleration", "m/s^2")])
            .parameters([
                Parameter::new("J_m", "kg m^2", 0.05).bounds(1e-4, f64::INFINITY),
                Parameter::new("J_a", "kg m^2", 0.1).bounds(1e-4, f64::INFINITY),
                Parameter::new("k", "N m/rad", 60.0).non_negative(),
                Parameter::new("d", "N m s/rad", 0.05).non_negative(),
                Parameter::new("b", "N m s/rad", 0.3).non_negative(),
                Parameter::new("dry", "N m", 0.0).non_negative().size(0.1).fixed(),
                Parameter::new("G", "N m", 3.0).non_negative(),
                Parameter::new("K", "N m/A", 3.2).fixed(),
                Parameter::new("v_s", "rad/s", 0.05).bounds(1e-6, f64::INFINITY).fixed(),
                Parameter::new("zero", "rad", 0.0).size(0.01),
            ])
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
        m[(1, 1)] = u[1];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, _, k, d, b, dry, g, motor, v_s, _] = unpack(u);
        let shaft = k * (q[0] - q[1]) + d * (v[0] - v[1]);
        let sign = v[0] / (v[0] * v[0] + v_s * v_s).sqrt();
        force[0] = motor * w[0] - shaft - b * v[0] - dry * sign;
        force[1] = shaft - g * q[1].sin();
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = x.q[0] + u[9];
        y[1] = x.a[1] * SENSOR + x.q[1].sin() * GRAVITY;
    }

    fn picture(&self, _t: f64, q: &[f64], _w: &[f64], _u: &[f64], drawing: &mut Drawing) {
        let axis = drawing.ground([0.0, 0.0]);
        let gear = drawing.disc("gear", [0.0, 0.0], q[0], 0.06);
        let [_, tip] = drawing.bar("arm", [0.0, 0.0], [SENSOR * q[1].sin(), -SENSOR * q[1].cos()]);
        drawing.pin(axis, gear);
        drawing.trace(tip);
    }
}

/// Current of the built-in problem, A.
fn current(t: f64) -> f64 {
    0.4 * (2.0 * t).sin() + 0.5 * (9.0 * t).sin()
}

/// The model with what it is simulated and tried with where nothing else is said.
///
/// # Errors
/// If the model contradicts itself.
pub fn registry() -> Result<Registry> {
    let scenario = Scenario {
        end: 4.0,
        step: 2e-3,
        signals: vec![Signal::function(current)],
        start: vec![("k".into(), 40.0), ("J_a".into(), 0.15)],
        outputs: vec!["encoder".into(), "acceleration".into()],
        ..Scenario::default()
    };
    Registry::new().with("an arm on a motor with gear, spring and friction", FlexibleArm, scenario)
}
