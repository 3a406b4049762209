//! A cart with a hanging pole, in minimal coordinates: the mass matrix depends on the angle and on the parameters.

use crate::hand_derived::CartPoleByHand;
use crate::named;
use costate::{Drawing, Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

pub(crate) const GRAVITY: f64 = 9.81;

/// Cart position x and pole angle from hanging; a force pushes the cart.
#[derive(Debug, Clone, Copy)]
pub struct CartPole;

impl Model for CartPole {
    fn signature(&self) -> Signature {
        Signature::new("cart_pole")
            .coordinates([("x", "m"), ("theta", "rad")])
            .inputs([("F", "N")])
            .outputs([("a_x", "m/s^2"), ("theta", "rad"), ("x", "m"), ("alpha", "rad/s^2")])
            .parameters([
                Parameter::new("m_cart", "kg", 1.2).bounds(1e-6, f64::INFINITY),
                Parameter::new("m_pole", "kg", 0.4).bounds(1e-6, f64::INFINITY),
                Parameter::new("l", "m", 0.5).bounds(1e-3, f64::INFINITY),
                Parameter::new("d_cart", "N s/m", 0.3).non_negative(),
                Parameter::new("d_pole", "N m s", 0.01).non_negative(),
                Parameter::new("theta0", "rad", 0.6).fixed(),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], _v: &mut [D]) {
        q[1] = u[5];
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let [m_cart, m_pole, l, _, _, _] = unpack(u);
        let coupling = m_pole * l * q[1].cos();
        m[(0, 0)] = m_cart + m_pole;
        m[(0, 1)] = coupling;
        m[(1, 0)] = coupling;
        m[(1, 1)] = m_pole * l * l;
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, m_pole, l, d_cart, d_pole, _] = unpack(u);
        let sin = q[1].sin();
        force[0] = w[0] + m_pole * l * sin * v[1] * v[1] - d_cart * v[0];
        force[1] = -m_pole * l * sin * GRAVITY - d_pole * v[1];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
        y[1] = x.q[1];
        y[2] = x.q[0];
        y[3] = x.a[1];
    }

    fn picture(&self, _t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        let (sin, cos) = q[1].sin_cos();
        let cart = drawing.point("cart", [q[0], 0.0]);
        let tip = drawing.point("tip", [q[0] + u[2] * sin, -u[2] * cos]);
        drawing.slider(drawing.ground([0.0; 2]), 0.0, cart);
        drawing.rod(cart, tip);
        drawing.force(cart, 0.0, w[0]);
        drawing.trace(tip);
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 4.0,
        step: 2e-3,
        integrator: Integrator::hht(-0.1),
        signals: vec![Signal::function(|t| 3.0 * (2.5 * t).sin() + 2.0 * (5.3 * t).cos())],
        start: named([("m_cart", 1.0), ("m_pole", 0.5), ("l", 0.45), ("d_cart", 0.2), ("d_pole", 0.02)]),
        outputs: vec!["a_x".into(), "theta".into()],
        ..Scenario::default()
    };
    registry
        .with("cart with a hanging pole in minimal coordinates, pushed by a force", CartPole, scenario)?
        .with_hand_derived("cart_pole", CartPoleByHand)
}
