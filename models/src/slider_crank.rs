//! A slider-crank with spring and damper, in redundant coordinates: every joint's force is a multiplier.
//!
//! Crank, connecting rod and slider are rigid bodies in the plane, gravity acts along -y. The crank turns about the origin,
//! driven by a torque; the slider moves along the x axis against a spring and a damper. Every body has the coordinates of its
//! own centre of mass, crank and rod their angle from the x axis, too: eight coordinates, seven constraints, one degree of
//! freedom. Constraints are differences of positions in m, so that multipliers are forces in N. The mechanism is that of Ding
//! 2012's example; the data are our own.
//!
//! # What can be identified from what
//!
//! The motion depends on the inertial parameters through four numbers only, the rod being replaced by masses at its ends: with
//! `m_a = m_rod (1 - s_rod/L_rod)` at the crank's pin and `m_b = m_rod s_rod/L_rod` at the slider, these are the crank's
//! inertia `I_crank + m_crank s_crank² + m_a L_crank²`, the reciprocating mass `m_slider + m_b`, the rod's rest
//! `I_rod - m_rod s_rod (L_rod - s_rod)`, and the moment of weight `m_crank s_crank + m_a L_crank`. So positions and
//! accelerations, beside a known torque, determine four of the five masses and inertias at most (the fifth
//! would be read from the error of the time steps: `identifiability` calls that direction weak). The components of the
//! bearing's force determine all five. The built-in problem frees `m_slider`, `I_crank`, `k` and `d` and compares the crank's
//! angle and the slider's acceleration over one turn: there the search succeeds from anywhere within a factor of three (50 of
//! 50 random starts with Levenberg-Marquardt and with BFGS, linear and logarithmic). With `--free L_crank`, too, it succeeds
//! from the built-in start, but from 32 of those 50 only. Longer runs let phases slip by whole turns.

use crate::named;
use costate::{Drawing, Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

/// Crank (x1, y1, phi1), rod (x2, y2, phi2), slider (x3, y3).
#[derive(Debug, Clone, Copy)]
pub struct SliderCrank;

/// Added to the square of a force before its root is taken, N²: the magnitude of a force that vanishes keeps a derivative, and
/// one of a micronewton is right to round-off.
const NO_FORCE: f64 = 1e-28;

/// The parameters, by name.
struct Data<D> {
    m_crank: D,
    m_rod: D,
    m_slider: D,
    i_crank: D,
    i_rod: D,
    l_crank: D,
    l_rod: D,
    s_crank: D,
    s_rod: D,
    k: D,
    x_free: D,
    d: D,
    g: D,
    angle: D,
    omega: D,
}

impl<D: Number> Data<D> {
    fn of(u: &[D]) -> Self {
        let [m_crank, m_rod, m_slider, i_crank, i_rod, l_crank, l_rod, s_crank, s_rod, k, x_free, d, g, angle, omega] =
            unpack(u);
        Data { m_crank, m_rod, m_slider, i_crank, i_rod, l_crank, l_rod, s_crank, s_rod, k, x_free, d, g, angle, omega }
    }
}

impl Model for SliderCrank {
    fn signature(&self) -> Signature {
        let mass = |name: &str, nominal: f64| Parameter::new(name, "kg", nominal).bounds(1e-6, f64::INFINITY);
        let inertia = |name: &str, nominal: f64| Parameter::new(name, "kg m^2", nominal).bounds(1e-9, f64::INFINITY);
        let length = |name: &str, nominal: f64| Parameter::new(name, "m", nominal).bounds(1e-3, f64::INFINITY);
        Signature::new("slider_crank")
            .coordinates([
                ("x1", "m"),
                ("y1", "m"),
                ("phi1", "rad"),
                ("x2", "m"),
                ("y2", "m"),
                ("phi2", "rad"),
                ("x3", "m"),
                ("y3", "m"),
            ])
            .constraints([
                ("bearing_x", "m"),
                ("bearing_y", "m"),
                ("pin_x", "m"),
                ("pin_y", "m"),
                ("wrist_x", "m"),
                ("wrist_y", "m"),
                ("guide", "m"),
            ])
            .inputs([("torque", "N m")])
            .outputs([
                ("angle", "rad"),
                ("x", "m"),
                ("v", "m/s"),
                ("a", "m/s^2"),
                ("alpha", "rad/s^2"),
                ("bearing_x", "N"),
                ("bearing_y", "N"),
                ("bearing", "N"),
                ("wrist_x", "N"),
                ("wrist_y", "N"),
            ])
            .parameters([
                mass("m_crank", 1.2).fixed(),
                mass("m_rod", 0.6).fixed(),
                mass("m_slider", 0.8),
                inertia("I_crank", 0.01),
                inertia("I_rod", 0.008).fixed(),
                length("L_crank", 0.1).fixed(),
                length("L_rod", 0.4).fixed(),
                Parameter::new("s_crank", "m", 0.03).fixed(),
                Parameter::new("s_rod", "m", 0.15).fixed(),
                Parameter::new("k", "N/m", 200.0).non_negative(),
                Parameter::new("x_free", "m", 0.4).fixed(),
                Parameter::new("d", "N s/m", 5.0).non_negative(),
                Parameter::new("g", "m/s^2", 9.81).fixed(),
                Parameter::new("angle0", "rad", 0.4).fixed(),
                Parameter::new("omega0", "rad/s", 10.0).fixed(),
            ])
    }

    /// The mechanism closed at the crank's angle and speed, with the slider on the crank's right. A rod that is too short to
    /// reach the x axis has no such position: what comes out is not a number.
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let Data { l_crank, l_rod, s_crank, s_rod, angle, omega, .. } = Data::of(u);
        let (sin, cos) = angle.sin_cos();
        let sin_rod = -l_crank * sin / l_rod;
        let cos_rod = (-sin_rod * sin_rod + 1.0).sqrt();
        let omega_rod = -l_crank * cos * omega / (l_rod * cos_rod);
        (q[0], q[1], q[2]) = (s_crank * cos, s_crank * sin, angle);
        (v[0], v[1], v[2]) = (-s_crank * sin * omega, s_crank * cos * omega, omega);
        let along_rod = |s: D| {
            let position = (l_crank * cos + s * cos_rod, l_crank * sin + s * sin_rod);
            let velocity =
                (-l_crank * sin * omega - s * sin_rod * omega_rod, l_crank * cos * omega + s * cos_rod * omega_rod);
            (position, velocity)
        };
        ((q[3], q[4]), (v[3], v[4])) = along_rod(s_rod);
        (q[5], v[5]) = (sin_rod.asin(), omega_rod);
        // its y vanishes: the rod ends on the axis
        ((q[6], _), (v[6], _)) = along_rod(l_rod);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        let Data { m_crank, m_rod, m_slider, i_crank, i_rod, .. } = Data::of(u);
        let diagonal = [m_crank, m_crank, i_crank, m_rod, m_rod, i_rod, m_slider, m_slider];
        diagonal.into_iter().enumerate().for_each(|(j, inertia)| m[(j, j)] = inertia);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let Data { m_crank, m_rod, m_slider, k, x_free, d, g, .. } = Data::of(u);
        force[1] = -m_crank * g;
        force[2] = w[0];
        force[4] = -m_rod * g;
        force[6] = -k * (q[6] - x_free) - d * v[6];
        force[7] = -m_slider * g;
    }

    /// Signs are such that multipliers are the forces of the bearing on the crank, of the crank on the rod, of the rod on the
    /// slider, and of the guide on the slider.
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let Data { l_crank, l_rod, s_crank, s_rod, .. } = Data::of(u);
        let (sin, cos) = q[2].sin_cos();
        let (sin_rod, cos_rod) = q[5].sin_cos();
        let (to_pin, to_wrist) = (l_crank - s_crank, l_rod - s_rod);
        c[0] = s_crank * cos - q[0];
        c[1] = s_crank * sin - q[1];
        c[2] = q[0] + to_pin * cos - (q[3] - s_rod * cos_rod);
        c[3] = q[1] + to_pin * sin - (q[4] - s_rod * sin_rod);
        c[4] = q[3] + to_wrist * cos_rod - q[6];
        c[5] = q[4] + to_wrist * sin_rod - q[7];
        c[6] = -q[7];
    }

    /// Crank angle; position, velocity and acceleration of the slider; angular acceleration of the crank; force of the bearing
    /// on the crank and its magnitude; force of the rod on the slider.
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[2];
        (y[1], y[2], y[3]) = (x.q[6], x.v[6], x.a[6]);
        y[4] = x.a[2];
        (y[5], y[6]) = (x.lambda[0], x.lambda[1]);
        y[7] = (x.lambda[0] * x.lambda[0] + x.lambda[1] * x.lambda[1] + NO_FORCE).sqrt();
        (y[8], y[9]) = (x.lambda[4], x.lambda[5]);
    }

    fn picture(&self, _t: f64, q: &[f64], w: &[f64], u: &[f64], drawing: &mut Drawing) {
        let Data { l_crank, l_rod, s_crank, s_rod, .. } = Data::of(u);
        let crank = drawing.body("crank", [q[0], q[1]], q[2]);
        let rod = drawing.body("rod", [q[3], q[4]], q[5]);
        let slider = drawing.point("slider", [q[6], q[7]]);
        let bearing = drawing.ground([0.0; 2]);
        drawing.slider(bearing, 0.0, slider);
        drawing.pin(bearing, crank.at([-s_crank, 0.0]));
        drawing.pin(crank.at([l_crank - s_crank, 0.0]), rod.at([-s_rod, 0.0]));
        drawing.pin(slider, rod.at([l_rod - s_rod, 0.0]));
        drawing.spring_and_damper(slider, bearing.at([1.5 * (l_crank + l_rod), 0.0]));
        drawing.torque(bearing, w[0]);
    }
}

/// Torque on the crank of the built-in problem, N m: turns it over its dead centres.
pub fn torque(t: f64) -> f64 {
    1.0 + 0.5 * (12.0 * t).sin()
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 0.35,
        step: 1e-3,
        integrator: Integrator::hht(-0.1),
        signals: vec![Signal::function(torque)],
        start: named([("m_slider", 1.6), ("I_crank", 0.005), ("k", 100.0), ("d", 10.0)]),
        outputs: vec!["angle".into(), "a".into()],
        ..Scenario::default()
    };
    registry.with(
        "slider-crank with spring and damper in redundant coordinates, driven by a torque",
        SliderCrank,
        scenario,
    )
}
