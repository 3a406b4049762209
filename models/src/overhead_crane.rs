//! An overhead crane: a cart with a hoisting drum and a load on a rope (Nachbagauer 2015, section 5.1). A force drives the cart and a torque the
//! drum so that the load follows a straight line from rest to rest.
//!
//! Coordinates are those of the paper: position of the cart, free length of the rope, position of the load, y downwards. A positive torque
//! hoists; 98.1 N m hold the load. The system is flat: force and torque follow from the load's path ([`flat`]).

use crate::named;
use costate::cost::{Aim, Goal};
use costate::number::Jet;
use costate::{Drawing, Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::control::{ControlScenario, UnknownSignal};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

const GRAVITY: f64 = 9.81;
/// Time in which the load is moved, s.
pub const DURATION: f64 = 3.0;
/// The torque that holds the load, N m.
pub const HOLDING: f64 = 98.1;

/// The crane. The rope hangs straight down at the start.
#[derive(Debug, Clone, Copy)]
pub struct OverheadCrane;

/// Part of the load's way at a time, from 0 to 1: 126 s⁵ - 420 s⁶ + 540 s⁷ - 315 s⁸ + 70 s⁹ with s = t/3 s, whose first four
/// derivatives vanish at both ends (the paper prints 540 s²). On any number, for its derivatives.
fn way<D: Number>(t: D) -> D {
    let s = t * (1.0 / DURATION);
    s.powi(5) * (s * (s * (s * (s * 70.0 - 315.0) + 540.0) - 420.0) + 126.0)
}

/// Desired position of the load at a time, m.
pub fn wanted<D: Number>(t: D) -> [D; 2] {
    let way = way(t);
    [way * 5.0, way * -3.0 + 4.0]
}

impl Model for OverheadCrane {
    fn signature(&self) -> Signature {
        Signature::new("overhead_crane")
            .coordinates([("x_c", "m"), ("l", "m"), ("x_m", "m"), ("y_m", "m")])
            .constraints([("rope", "m^2")])
            .inputs([("F", "N"), ("M", "N m")])
            .outputs([("x_m", "m"), ("y_m", "m"), ("x_c", "m"), ("l", "m"), ("rope_force", "N")])
            .parameters([
                Parameter::new("m_cart", "kg", 10.0).bounds(1e-6, f64::INFINITY),
                Parameter::new("m_load", "kg", 100.0).bounds(1e-6, f64::INFINITY),
                Parameter::new("J_drum", "kg m^2", 0.1).bounds(1e-9, f64::INFINITY),
                Parameter::new("r_drum", "m", 0.1).bounds(1e-6, f64::INFINITY),
                Parameter::new("l0", "m", 4.0).bounds(1e-3, f64::INFINITY).fixed(),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], _v: &mut [D]) {
        q[1] = u[4];
        q[3] = u[4];
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        let [m_cart, m_load, inertia, radius, _] = unpack(u);
        m[(0, 0)] = m_cart;
        m[(1, 1)] = inertia / (radius * radius);
        m[(2, 2)] = m_load;
        m[(3, 3)] = m_load;
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, m_load, _, radius, _] = unpack(u);
        force[0] = w[0];
        force[1] = -w[1] / radius;
        force[3] = m_load * GRAVITY;
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        let across = q[2] - q[0];
        c[0] = across * across + q[3] * q[3] - q[1] * q[1];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[2];
        y[1] = x.q[3];
        y[2] = x.q[0];
        y[3] = x.q[1];
        y[4] = x.lambda[0] * x.q[1] * 2.0;
    }

    /// The drum turns against the clock where it hoists.
    fn picture(&self, _t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        let cart = drawing.point("cart", [q[0], 0.0]);
        let drum = drawing.disc("drum", [q[0], 0.0], -q[1] / u[3], u[3]);
        let load = drawing.point("load", [q[2], -q[3]]);
        drawing.slider(drawing.ground([0.0; 2]), 0.0, cart);
        drawing.rope(drum, load);
        drawing.force(cart, 0.0, w[0]);
        drawing.torque(drum, w[1]);
        drawing.trace(load);
    }
}

/// The force and the torque for which the load follows its path exactly, N and N m, for the nominal masses.
///
/// The load's acceleration gives the rope's direction and force, that the cart's position and the rope's length, and their second
/// derivatives the force and the torque.
pub fn flat(t: f64) -> [f64; 2] {
    let [m_cart, m_load, inertia, radius] = [10.0, 100.0, 0.1, 0.1];
    let one = Jet { re: 1.0, eps: [0.0] };
    let [cart, rope] = cart_and_rope(Jet { re: Jet { re: t, eps: [1.0] }, eps: [one] });
    let second = |x: Second| x.eps[0].eps[0];
    let [(x, a_x), (_, a_y)] = path(t);
    let tension = m_load * a_x.hypot(GRAVITY - a_y);
    let across = (x - cart.re.re) / rope.re.re;
    [m_cart * second(cart) - tension * across, radius * (tension - inertia / (radius * radius) * second(rope))]
}

/// Position of the cart and length of the rope: the rope pulls the load, m a = -T (load - cart)/l + (0, m g).
fn cart_and_rope<D: Number>(t: D) -> [D; 2] {
    let [(x, a_x), (y, a_y)] = path(t);
    let across = y * a_x / (a_y - GRAVITY);
    [x - across, (across * across + y * y).sqrt()]
}

/// Two derivatives by time.
type Second = Jet<Jet<f64, 1>, 1>;

/// Position and acceleration of the path in both directions.
fn path<D: Number>(t: D) -> [(D, D); 2] {
    let s = t * (1.0 / DURATION);
    // second derivative of the way
    let bend = s.powi(3)
        * (s * (s * (s * (s * 5040.0 - 17640.0) + 22680.0) - 12600.0) + 2520.0)
        * (1.0 / (DURATION * DURATION));
    let [x, y] = wanted(t);
    [(x, bend * 5.0), (y, bend * -3.0)]
}

/// Force and torque that lead the load along its path, from no force and the torque that holds it: J = ½ ∫ |position - path|² dt.
pub fn following() -> ControlScenario {
    ControlScenario::new(
        vec![Signal::constant(0.0), Signal::constant(HOLDING)],
        vec![UnknownSignal::new("F", 1000.0), UnknownSignal::new("M", 100.0)],
        |times| {
            let path = |k: usize| Aim::Follow(times.iter().map(|t| wanted(*t)[k]).collect());
            vec![Goal::new("x_m", path(0)), Goal::new("y_m", path(1))]
        },
    )
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: DURATION,
        step: 1e-2,
        integrator: Integrator::hht(-0.1),
        signals: (0..2).map(|k| Signal::function(move |t| flat(t)[k])).collect(),
        start: named([("m_cart", 12.0), ("m_load", 101.0), ("J_drum", 0.12)]),
        outputs: vec!["x_c".into(), "l".into()],
        ..Scenario::default()
    };
    registry
        .with(
            "overhead crane; force and torque that lead its load along a line (Nachbagauer 2015, section 5.1)",
            OverheadCrane,
            scenario,
        )?
        .with_control("overhead_crane", following())
}
