//! One mass on a spring and a damper (Lauss 2018, section 4), pushed by a force.

use crate::named;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// m x'' = F - c x - d x'.
#[derive(Debug, Clone, Copy)]
pub struct Oscillator;

impl Model for Oscillator {
    fn signature(&self) -> Signature {
        Signature::new("oscillator")
            .coordinates([("x", "m")])
            .inputs([("F", "N")])
            .outputs([("a", "m/s^2"), ("x", "m"), ("v", "m/s")])
            .parameters([
                Parameter::new("m", "kg", 1.0).bounds(1e-6, f64::INFINITY).fixed(),
                Parameter::new("c", "N/m", 40.0).non_negative(),
                Parameter::new("d", "N s/m", 0.8).non_negative(),
                Parameter::new("x0", "m", 0.1).fixed(),
                Parameter::new("v0", "m/s", 0.0).fixed(),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        q[0] = u[3];
        v[0] = u[4];
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, c, d, _, _] = unpack(u);
        force[0] = w[0] - c * q[0] - d * v[0];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
        y[1] = x.q[0];
        y[2] = x.v[0];
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 5.0,
        step: 1e-2,
        integrator: Integrator::hht(-0.05),
        signals: vec![Signal::function(|t| (3.0 * t).sin())],
        start: named([("c", 25.0), ("d", 0.3)]),
        outputs: vec!["a".into()],
        ..Scenario::default()
    };
    registry.with("mass, spring and damper (Lauss 2018, section 4)", Oscillator, scenario)
}
