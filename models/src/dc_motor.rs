//! A direct-current motor with the inductance of its armature.
//!
//! ```text
//! J θ'' = k i - d θ',      L i' = V - R i - k θ'
//! ```
//!
//! The current `i` is a first-order state: it has a rate, but neither mass nor a position. Nominal values are those of the Control
//! Tutorials for MATLAB and Simulink (University of Michigan), *DC Motor Speed: System Modeling*, whose poles lie at -9.9975/s and
//! -2.0025/s.

use crate::named;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// Angle of the rotor and current of the armature; a voltage drives it.
#[derive(Debug, Clone, Copy)]
pub struct DcMotor;

impl Model for DcMotor {
    fn signature(&self) -> Signature {
        Signature::new("dc_motor")
            .coordinates([("angle", "rad")])
            .states([("current", "A")])
            .inputs([("voltage", "V")])
            .outputs([("speed", "rad/s"), ("current", "A"), ("angle", "rad")])
            .parameters([
                Parameter::new("J", "kg m^2", 0.01).bounds(1e-9, f64::INFINITY),
                Parameter::new("d", "N m s", 0.1).non_negative(),
                Parameter::new("k", "N m/A", 0.01).non_negative(),
                Parameter::new("L", "H", 0.5).bounds(1e-9, f64::INFINITY),
                Parameter::new("R", "ohm", 1.0).non_negative(),
                Parameter::new("i0", "A", 0.0).size(1.0).fixed(),
                Parameter::new("speed0", "rad/s", 0.0).size(1.0).fixed(),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], _q: &mut [D], v: &mut [D]) {
        let [.., current, speed] = unpack::<D, 7>(u);
        v.copy_from_slice(&[speed, current]);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let ([speed, current], [_, d, k, ..]) = (unpack(v), unpack::<D, 7>(u));
        force[0] = k * current - d * speed;
    }

    fn rates<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        let ([speed, current], [voltage]) = (unpack(v), unpack(w));
        let [_, _, k, inductance, resistance, ..] = unpack::<D, 7>(u);
        rates[0] = (voltage - resistance * current - k * speed) / inductance;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        let [speed, current] = unpack(x.v);
        y.copy_from_slice(&[speed, current, x.q[0]]);
    }
}

/// Voltage of the built-in problem, V.
pub fn voltage(t: f64) -> f64 {
    6.0 * (1.3 * t).sin() + 4.0 * (9.0 * t).sin()
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 5.0,
        step: 5e-3,
        integrator: Integrator::hht(0.0),
        signals: vec![Signal::function(voltage)],
        start: named([("J", 0.02), ("d", 0.05), ("k", 0.02), ("L", 0.3), ("R", 1.5)]),
        outputs: vec!["speed".into(), "current".into()],
        ..Scenario::default()
    };
    registry.with("direct-current motor with inductance, its current a first-order state", DcMotor, scenario)
}
