//! An oscillator with the hysteresis of Bouc (1967) and Wen (1976).
//!
//! ```text
//! m x'' = F - k x - c x' - z,      z' = A x' - β |x'| z - γ x' |z|
//! ```
//!
//! The hysteretic force `z` is a first-order state. Values are those of the benchmark of Noël & Schoukens (2016, *Hysteretic benchmark
//! with a dynamic nonlinearity*): m_L = 2 kg, c_L = 10 N s/m, k_L = 5e4 N/m, α = 5e4 N/m, β = 1e3, γ = 0.8, δ = -1.1, ν = 1. There, only
//! the products βγ and βδ enter; here, they are β and γ.

use crate::named;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// Displacement and hysteretic force; a force drives it.
#[derive(Debug, Clone, Copy)]
pub struct BoucWen;

/// z', N/s, at a rate of elongation, m/s, and a force z, N, with A (N/m), β and γ (1/m).
pub fn hysteresis<D: Number>(rate: D, z: D, [stiffness, beta, gamma]: [D; 3]) -> D {
    stiffness * rate - beta * rate.abs() * z - gamma * rate * z.abs()
}

impl Model for BoucWen {
    fn signature(&self) -> Signature {
        Signature::new("bouc_wen")
            .coordinates([("x", "m")])
            .states([("z", "N")])
            .inputs([("F", "N")])
            .outputs([("x", "m"), ("z", "N"), ("a", "m/s^2")])
            .parameters([
                Parameter::new("m", "kg", 2.0).bounds(1e-6, f64::INFINITY).fixed(),
                Parameter::new("c", "N s/m", 10.0).non_negative(),
                Parameter::new("k", "N/m", 5e4).non_negative(),
                Parameter::new("A", "N/m", 5e4).non_negative(),
                Parameter::new("beta", "1/m", 800.0),
                Parameter::new("gamma", "1/m", -1100.0),
                Parameter::new("z0", "N", 0.0).size(10.0).fixed(),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], _q: &mut [D], v: &mut [D]) {
        v[1] = u[6];
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let ([rate, z], [_, c, k, ..]) = (unpack(v), unpack::<D, 7>(u));
        force[0] = w[0] - k * q[0] - c * rate - z;
    }

    fn rates<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        let ([rate, z], [_, _, _, stiffness, beta, gamma, _]) = (unpack(v), unpack(u));
        rates[0] = hysteresis(rate, z, [stiffness, beta, gamma]);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y.copy_from_slice(&[x.q[0], x.v[1], x.a[0]]);
    }
}

/// Force of the built-in problem, N.
pub fn excitation(t: f64) -> f64 {
    60.0 * (125.0 * t).sin() + 50.0 * (210.0 * t).sin()
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 0.5,
        step: 5e-4,
        integrator: Integrator::hht(0.0),
        signals: vec![Signal::function(excitation)],
        start: named([("c", 8.0), ("k", 4.5e4), ("A", 4.5e4), ("beta", 600.0), ("gamma", -800.0)]),
        outputs: vec!["x".into()],
        ..Scenario::default()
    };
    registry.with("oscillator with hysteresis (Bouc-Wen; Noël & Schoukens 2016)", BoucWen, scenario)
}
