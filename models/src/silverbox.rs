//! The Silverbox: an electronic Duffing oscillator with offset (Wigren & Schoukens 2013).

use crate::named;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// m y'' + d y' + k1 y + k3 y³ = u + offset, from an unknown state.
#[derive(Debug, Clone, Copy)]
pub struct Silverbox;

impl Model for Silverbox {
    fn signature(&self) -> Signature {
        Signature::new("silverbox").coordinates([("y", "V")]).inputs([("u", "V")]).outputs([("y", "V")]).parameters([
            Parameter::new("m", "s^2", 5.371e-6).bounds(1e-9, f64::INFINITY),
            Parameter::new("d", "s", 2.250e-4).non_negative(),
            Parameter::new("k1", "1", 0.9900),
            Parameter::new("k3", "1/V^2", 3.917),
            Parameter::new("offset", "V", 0.0).size(1e-3),
            Parameter::new("y0", "V", 0.0).size(1e-2),
            Parameter::new("v0", "V/s", 0.0).size(10.0),
        ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        q[0] = u[5];
        v[0] = u[6];
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, d, k1, k3, offset, _, _] = unpack(u);
        force[0] = w[0] + offset - d * v[0] - (k1 + k3 * q[0] * q[0]) * q[0];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

/// A sum of five sines between 20 and 90 Hz, V: excites the resonance at 68 Hz.
pub fn multisine(t: f64) -> f64 {
    [20.0, 37.0, 53.0, 68.0, 90.0]
        .iter()
        .enumerate()
        .map(|(k, f)| 0.02 * (2.0 * std::f64::consts::PI * f * t + 1.7 * (k * k) as f64).sin())
        .sum()
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 0.5,
        step: 1e-4,
        integrator: Integrator::hht(0.0),
        signals: vec![Signal::function(multisine)],
        start: named([("m", 6.0e-6), ("d", 3.0e-4), ("k1", 1.1), ("k3", 2.8)]),
        outputs: vec!["y".into()],
        ..Scenario::default()
    };
    registry.with("Silverbox, an electronic Duffing oscillator with offset", Silverbox, scenario)
}
