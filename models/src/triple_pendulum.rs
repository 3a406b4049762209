//! A cart with three links, to be swung up by a force on the cart (Nachbagauer 2015, section 5.3; data of the links: Glück, Eder & Kugi 2013).
//!
//! Redundant coordinates as in the paper: position of the cart, and of each link its centre of mass and its angle from hanging; six rows
//! are the revolute joints. π is upright.

use crate::named;
use costate::cost::{Aim, Goal};
use costate::{Drawing, Matrix, Model, Number, Parameter, Signal, Signature, State};
use costate_identify::Result;
use costate_identify::control::{ControlScenario, UnknownSignal};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};
use std::f64::consts::PI;

const GRAVITY: f64 = 9.81;
/// Of the links, from the cart outwards: masses, kg, inertias about the centres of mass, kg m², lengths and distances from the joint to
/// the centre of mass, m, friction in the joint, N m s.
const MASSES: [f64; 3] = [0.876, 0.938, 0.553];
const INERTIAS: [f64; 3] = [0.013, 0.024, 0.018];
const LENGTHS: [f64; 3] = [0.323, 0.419, 0.484];
const CENTRES: [f64; 3] = [0.215, 0.269, 0.226];
const FRICTION: [f64; 3] = [0.215, 0.002, 0.002];
/// Time of the swing-up, s.
pub const DURATION: f64 = 3.0;

/// The cart with its links; they hang at rest at the start, unless fixed parameters say otherwise.
#[derive(Debug, Clone, Copy)]
pub struct TriplePendulum;

/// Place of a link's angle.
fn angle(link: usize) -> usize {
    3 * link + 3
}

/// Position of a link's joint, from the coordinates.
fn joint<D: Number>(q: &[D], link: usize) -> [D; 2] {
    match link.checked_sub(1) {
        None => [q[0], D::from(0.0)],
        Some(before) => {
            let (sin, cos) = q[angle(before)].sin_cos();
            let rest = LENGTHS[before] - CENTRES[before];
            [q[3 * before + 1] + sin * rest, q[3 * before + 2] - cos * rest]
        }
    }
}

impl Model for TriplePendulum {
    fn signature(&self) -> Signature {
        let friction = ["d1", "d2", "d3"].into_iter().zip(FRICTION);
        Signature::new("triple_pendulum")
            .coordinates([
                ("x_c", "m"),
                ("x1", "m"),
                ("y1", "m"),
                ("phi1", "rad"),
                ("x2", "m"),
                ("y2", "m"),
                ("phi2", "rad"),
                ("x3", "m"),
                ("y3", "m"),
                ("phi3", "rad"),
            ])
            .constraints([
                ("joint1_x", "m"),
                ("joint1_y", "m"),
                ("joint2_x", "m"),
                ("joint2_y", "m"),
                ("joint3_x", "m"),
                ("joint3_y", "m"),
            ])
            .inputs([("F", "N")])
            .outputs([
                ("x_c", "m"),
                ("phi1", "rad"),
                ("phi2", "rad"),
                ("phi3", "rad"),
                ("v_c", "m/s"),
                ("omega1", "rad/s"),
                ("omega2", "rad/s"),
                ("omega3", "rad/s"),
            ])
            .parameters(
                friction
                    .map(|(name, d)| Parameter::new(name, "N m s", d).non_negative())
                    .chain([
                        Parameter::new("m_cart", "kg", 1.0).bounds(1e-6, f64::INFINITY),
                        Parameter::new("d_cart", "N s/m", 0.1).non_negative(),
                        Parameter::new("x_c0", "m", 0.0).fixed(),
                        Parameter::new("v_c0", "m/s", 0.0).fixed(),
                    ])
                    .chain(["phi1_0", "phi2_0", "phi3_0"].map(|name| Parameter::new(name, "rad", 0.0).fixed()))
                    .chain(["omega1_0", "omega2_0", "omega3_0"].map(|name| Parameter::new(name, "rad/s", 0.0).fixed())),
            )
    }

    /// From the cart outwards.
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], v[0]) = (u[5], u[6]);
        let mut joint = [u[5], D::from(0.0)];
        let mut speed = [u[6], D::from(0.0)];
        for link in 0..3 {
            let (phi, omega) = (u[7 + link], u[10 + link]);
            let (sin, cos) = phi.sin_cos();
            // along the link by `length` from its joint
            let at = |length: f64| [joint[0] + sin * length, joint[1] - cos * length];
            let moving = |length: f64| [speed[0] + cos * omega * length, speed[1] + sin * omega * length];
            let (center, end) =
                ((at(CENTRES[link]), moving(CENTRES[link])), (at(LENGTHS[link]), moving(LENGTHS[link])));
            for axis in 0..2 {
                q[3 * link + 1 + axis] = center.0[axis];
                v[3 * link + 1 + axis] = center.1[axis];
            }
            (q[angle(link)], v[angle(link)]) = (phi, omega);
            (joint, speed) = end;
        }
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[3];
        for link in 0..3 {
            m[(3 * link + 1, 3 * link + 1)] = D::from(MASSES[link]);
            m[(3 * link + 2, 3 * link + 2)] = D::from(MASSES[link]);
            m[(angle(link), angle(link))] = D::from(INERTIAS[link]);
        }
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        force[0] = w[0] - u[4] * v[0];
        let mut before = D::from(0.0);
        for link in 0..3 {
            force[3 * link + 2] -= D::from(MASSES[link] * GRAVITY);
            let rate = v[angle(link)];
            let torque = u[link] * (rate - before);
            force[angle(link)] -= torque;
            if let Some(inner) = link.checked_sub(1) {
                force[angle(inner)] += torque;
            }
            before = rate;
        }
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        for link in 0..3 {
            let [x, y] = joint(q, link);
            let (sin, cos) = q[angle(link)].sin_cos();
            c[2 * link] = q[3 * link + 1] - x - sin * CENTRES[link];
            c[2 * link + 1] = q[3 * link + 2] - y + cos * CENTRES[link];
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
        y[4] = x.v[0];
        for link in 0..3 {
            y[1 + link] = x.q[angle(link)];
            y[5 + link] = x.v[angle(link)];
        }
    }

    fn picture(&self, _t: f64, q: &[f64], w: &[f64], _u: &[f64], drawing: &mut Drawing) {
        let mut end = drawing.point("cart", joint(q, 0));
        drawing.slider(drawing.ground([0.0; 2]), 0.0, end);
        drawing.force(end, 0.0, w[0]);
        for link in 0..3 {
            let [inner, outer] = drawing.bar(format!("link {}", link + 1), joint(q, link), joint(q, link + 1));
            drawing.pin(end, inner);
            end = outer;
        }
        drawing.trace(end);
    }
}

/// Goals that swing hanging links up: upright and at rest over the middle at the end, errors of positions weighted with 5 as in the
/// paper; the travel is limited softly to 1 m.
pub fn upright() -> Vec<Goal> {
    let mut goals = vec![
        Goal::new("x_c", Aim::Reach(0.0)).weighted(5.0),
        Goal::new("v_c", Aim::Reach(0.0)),
        Goal::new("x_c", Aim::Within { lower: -1.0, upper: 1.0 }).weighted(100.0),
    ];
    for link in 1..=3 {
        goals.push(Goal::new(format!("phi{link}"), Aim::Reach(PI)).weighted(5.0));
        goals.push(Goal::new(format!("omega{link}"), Aim::Reach(0.0)));
    }
    goals
}

/// The force that swings the links up in [`DURATION`], of straight lines between nodes every 50 ms, from no force at all. At a step of 5 ms,
/// then with steps down to 0.625 ms: upright is unstable, and a solution for large steps does not survive smaller ones.
pub fn swing_up() -> ControlScenario {
    let force = UnknownSignal::new("F", 20.0).intervals(60);
    let mut scenario = ControlScenario::new(vec![Signal::constant(0.0)], vec![force], |_| upright());
    scenario.target = 1e-10;
    scenario.refinements = 3;
    scenario
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: DURATION,
        step: 5e-3,
        integrator: Integrator::hht(-0.05),
        signals: vec![Signal::function(|t| 6.0 * (5.0 * t).sin() + 3.0 * (8.3 * t).cos())],
        start: named([("d1", 0.15), ("d2", 0.004), ("d3", 0.001), ("m_cart", 1.2), ("d_cart", 0.3)]),
        outputs: vec!["phi1".into(), "phi2".into(), "phi3".into()],
        ..Scenario::default()
    };
    registry
        .with(
            "cart with three links, to be swung up by a force (Nachbagauer 2015, section 5.3)",
            TriplePendulum,
            scenario,
        )?
        .with_control("triple_pendulum", swing_up())
}
