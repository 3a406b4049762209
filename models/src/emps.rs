//! EMPS, an electro-mechanical positioning system: a carriage on a screw, driven by a motor against dry and viscous friction
//! (Janot, Gautier & Brunot 2019, "Data set and reference models of EMPS").
//!
//! ```text
//! M q'' = gtau vir - (Fv + dFv s) q' - (Fc + dFc s) s - offset,      s = q' / √(q'² + v_s²)
//! ```
//!
//! `s` is the smoothed sign of the velocity: forces forwards are `Fc + dFc`, backwards `Fc - dFc`, and so for `Fv`. Between
//! them the force passes through zero within some `v_s`. A root rather than tanh, whose quotient of hyperbolic functions
//! overflows in derivatives at a thousand times `v_s`.
//!
//! # The measured record
//!
//! `examples/emps.toml` fits the training record: open loop over 24.8 s, from rest, one step a sample (1 ms). Symmetric friction
//! with an offset:
//!
//! | v_s | M | Fv | Fc | offset | RMSE |
//! |---|---|---|---|---|---|
//! | 2 mm/s | 92.01 kg | 195.7 N s/m | 21.47 N | -3.354 N | 2.497 mm |
//! | 1 mm/s | 90.74 kg | 192.2 N s/m | 21.88 N | -3.372 N | 2.477 mm |
//! | 0.5 mm/s | 90.54 kg | 191.8 N s/m | 21.93 N | -3.376 N | 2.461 mm |
//!
//! Halving 1 mm/s moves the parameters by 0.2 %, hence this value; halving the step moves them by less than 0.01 %. From 1 mm/s
//! downwards there is a second minimum, which is slightly worse: searches that start near 96 kg or above end there, those of the
//! problem file's start do not:
//!
//! | v_s | M | Fv | Fc | offset | RMSE |
//! |---|---|---|---|---|---|
//! | 1 mm/s | 95.37 kg | 211.4 N s/m | 19.76 N | -3.298 N | 2.485 mm |
//! | 0.5 mm/s | 96.01 kg | 214.6 N s/m | 19.41 N | -3.284 N | 2.472 mm |
//!
//! At 2 mm/s, five starts from 80 to 120 kg all lead to the first; at 0.25 mm/s they lead to five minima, of 2.444 to 2.468 mm, and the
//! problem file's start to one near 96 kg. With `dFv` free, 1.65 mm are left at 92.8 kg. `dFc` and the offset are the
//! same force at any speed but standstill: with both free their condition number is 8e3 to 8e4, the search creeps along the
//! valley, and a warning names the two. Residuals drift slowly; standard errors are too small by two orders of magnitude, as
//! another warning says.

use crate::named;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// Position of the carriage; the motor's voltage drives it.
#[derive(Debug, Clone, Copy)]
pub struct Emps;

impl Model for Emps {
    fn signature(&self) -> Signature {
        Signature::new("emps").coordinates([("q", "m")]).inputs([("vir", "V")]).outputs([("qm", "m")]).parameters([
            Parameter::new("M", "kg", 95.109).bounds(1e-3, f64::INFINITY),
            Parameter::new("Fv", "N s/m", 203.5).non_negative(),
            Parameter::new("dFv", "N s/m", 0.0).size(50.0).fixed(),
            Parameter::new("Fc", "N", 20.394).non_negative(),
            Parameter::new("dFc", "N", 0.0).size(1.0).fixed(),
            Parameter::new("offset", "N", -3.165).size(1.0),
            Parameter::new("gtau", "N/V", 35.15065188).fixed(),
            Parameter::new("v_s", "m/s", 1e-3).bounds(1e-9, f64::INFINITY).fixed(),
            Parameter::new("q0", "m", 0.0).size(1e-3),
            Parameter::new("v0", "m/s", 0.0).size(1e-2).fixed(),
        ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let [.., q0, v0] = unpack::<D, 10>(u);
        (q[0], v[0]) = (q0, v0);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, fv, d_fv, fc, d_fc, offset, gtau, v_s, _, _] = unpack(u);
        let sign = v[0] / (v[0] * v[0] + v_s * v_s).sqrt();
        force[0] = gtau * w[0] - (fv + d_fv * sign) * v[0] - (fc + d_fc * sign) * sign - offset;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

/// Voltage of the built-in problem, V: to and fro against friction.
pub fn voltage(t: f64) -> f64 {
    1.5 * (2.5 * t).sin() + 0.6 * (6.7 * t).sin()
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 5.0,
        step: 1e-3,
        integrator: Integrator::hht(0.0),
        signals: vec![Signal::function(voltage)],
        start: named([("M", 80.0), ("Fv", 150.0), ("Fc", 15.0), ("offset", 0.0)]),
        outputs: vec!["qm".into()],
        ..Scenario::default()
    };
    registry.with("EMPS, a carriage on a screw with dry friction (Janot, Gautier & Brunot 2019)", Emps, scenario)
}
