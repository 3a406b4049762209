//! A passive hydraulic engine mount (Lauss 2018, section 5).
//!
//! The load x1 rests on an elastomer with cubic stiffness and pushes, through a stiff spring, the massless piston x2 of a
//! chamber whose fluid moves the decoupler x3 and the inertia track's fluid x4; volume is conserved.

use crate::hand_derived::EngineMountByHand;
use costate::{Drawing, Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// Constants that are not identified, SI units.
pub(crate) const LOAD: f64 = 20.0;
pub(crate) const TRACK: f64 = 0.0019;
pub(crate) const DECOUPLER: f64 = 0.002;
pub(crate) const CHAMBER_STIFFNESS: f64 = 375e3;
pub(crate) const TRACK_DAMPING: f64 = 0.08;
pub(crate) const DECOUPLER_STIFFNESS: f64 = 9e3;
pub(crate) const DECOUPLER_DAMPING: f64 = 10.0;
pub(crate) const TRACK_ARM: f64 = 0.095;
pub(crate) const DECOUPLER_ARM: f64 = 0.0036;
pub(crate) const GRAVITY: f64 = 9.81;

/// The parameters' start in the paper: c_E1, c_E2, d_E, d_H2.
pub const START: [f64; 4] = [73.8e3, 4e9, 0.5, 1.2];

/// The model; parameters are those of the paper's identification.
#[derive(Debug, Clone, Copy)]
pub struct EngineMount;

impl Model for EngineMount {
    fn signature(&self) -> Signature {
        Signature::new("engine_mount")
            .coordinates([("x1", "m"), ("x2", "m"), ("x3", "m"), ("x4", "m")])
            .constraints([("volume", "m^2")])
            .inputs([("F", "N")])
            .outputs([("a1", "m/s^2"), ("x1", "m"), ("v1", "m/s")])
            .parameters([
                Parameter::new("c_E1", "N/m", 123e3).non_negative(),
                Parameter::new("c_E2", "N/m^3", 2.5e9).non_negative(),
                Parameter::new("d_E", "N s/m", 5.0).non_negative(),
                Parameter::new("d_H2", "N s^3/m^3", 2.0).non_negative(),
            ])
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(LOAD);
        m[(2, 2)] = D::from(DECOUPLER);
        m[(3, 3)] = D::from(TRACK);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [c_e1, c_e2, d_e, d_h2] = unpack(u);
        let chamber = (q[0] - q[1]) * CHAMBER_STIFFNESS;
        let elastomer = (c_e1 + c_e2 * q[0] * q[0]) * q[0] + d_e * v[0];
        let track = (d_h2 * v[3] * v[3] + TRACK_DAMPING) * v[3];
        force[0] = w[0] + LOAD * GRAVITY - elastomer - chamber;
        force[1] = chamber;
        force[2] = -q[2] * DECOUPLER_STIFFNESS - v[2] * DECOUPLER_DAMPING;
        force[3] = -track;
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        c[0] = q[1] * (TRACK_ARM + DECOUPLER_ARM) - q[2] * DECOUPLER_ARM - q[3] * TRACK_ARM;
    }

    /// The paper's output is the scheme's own acceleration.
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a_scheme[0];
        y[1] = x.q[0];
        y[2] = x.v[0];
    }

    /// Lauss 2018, Fig. 2, heights at rest in m: the load on its elastomer, and beside it the piston, whose fluid moves decoupler and track.
    fn picture(&self, _t: f64, q: &[f64], w: &[f64], _u: &[f64], drawing: &mut Drawing) {
        let [load, _] = drawing.bar("load", [-0.012, 0.024 - q[0]], [0.012, 0.024 - q[0]]);
        let piston = drawing.point("piston", [0.004, 0.014 - q[1]]);
        let decoupler = drawing.point("decoupler", [0.0, 0.008 - q[2]]);
        let track = drawing.point("track", [0.008, 0.008 - q[3]]);
        drawing.spring_and_damper(drawing.ground([-0.008, 0.0]), load.at([0.004, 0.0]));
        drawing.spring(load.at([0.016, 0.0]), piston);
        drawing.rod(piston, decoupler);
        drawing.rod(piston, track);
        drawing.spring_and_damper(drawing.ground([0.0, 0.0]), decoupler);
        drawing.damper(drawing.ground([0.008, 0.0]), track);
        drawing.force(load.at([0.012, 0.0]), -std::f64::consts::FRAC_PI_2, w[0]);
    }
}

/// Excitation of the load, N: 100 sin(4 π 25^t t), a sweep from 2 Hz to 211 Hz within a second (Lauss 2018, Fig. 3). The frequency at t is the
/// phase's derivative over 2 π, 2 · 25^t (1 + t ln 25).
pub fn sweep(t: f64) -> f64 {
    100.0 * (4.0 * std::f64::consts::PI * 25f64.powf(t) * t).sin()
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        integrator: Integrator::hht(-0.1),
        signals: vec![Signal::function(sweep)],
        start: ["c_E1", "c_E2", "d_E", "d_H2"].into_iter().map(String::from).zip(START).collect(),
        outputs: vec!["a1".into()],
        ..Scenario::default()
    };
    registry
        .with(
            "hydraulic engine mount, from the acceleration of the load (Lauss 2018, section 5)",
            EngineMount,
            scenario,
        )?
        .with_hand_derived("engine_mount", EngineMountByHand)
}
