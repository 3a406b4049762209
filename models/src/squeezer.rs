//! Andrews' squeezing mechanism (Hairer & Wanner, Solving Ordinary Differential Equations II, section VII.7): seven bodies, seven
//! angles, six loop equations, and a start that is given by numbers.

// digits as printed
#![allow(clippy::excessive_precision)]

use costate::{InitialState, Matrix, Model, Number, Parameter, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

use crate::named;

mod whole;

pub use whole::WholeSqueezer;

/// The mechanism, at rest; a constant torque turns its crank against a spring. Parameters: torque, stiffness of the spring, mass of the
/// third body, and two lengths, which the start does not follow. Outputs: the first three angles.
#[derive(Debug, Clone, Copy)]
pub struct Squeezer;

const MASSES: [f64; 7] = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498];
const INERTIAS: [f64; 7] = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5];
const XA: f64 = -0.06934;
const YA: f64 = -0.00227;
const XB: f64 = -0.03635;
const YB: f64 = 0.03273;
const XC: f64 = 0.014;
const YC: f64 = 0.072;
const EA: f64 = 0.01421;
const RA: f64 = 0.00092;
const SA: f64 = 0.01874;
const SB: f64 = 0.01043;
const SC: f64 = 0.018;
const SD: f64 = 0.02;
const TA: f64 = 0.02308;
const TB: f64 = 0.00916;
const UA: f64 = 0.01228;
const UB: f64 = 0.00449;
const FA: f64 = 0.01421;
const RR: f64 = 0.007;
const SS: f64 = 0.035;
const ZT: f64 = 0.04;
const U: f64 = 0.04;
const ZF: f64 = 0.02;
const DA: f64 = 0.0115;
const START: [f64; 7] = [
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
];

/// Places of the parameters that the start follows.
pub const FOLLOWED: [usize; 3] = [0, 1, 2];
/// Places of lengths, which it does not.
pub const LENGTHS: [usize; 2] = [3, 4];

/// beta and theta at 0.03 s, rad (by extrapolation with 80 bits).
pub const AT_30_MS: [f64; 2] = [15.810771195153708, -15.756371058411839];

impl Model for Squeezer {
    fn signature(&self) -> Signature {
        let names = ["beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"];
        Signature::new("squeezer")
            .coordinates(names.map(|name| (name, "rad")))
            .constraints(["b_x", "b_y", "a1_x", "a1_y", "a2_x", "a2_y"].map(|name| (name, "m")))
            .outputs([("beta", "rad"), ("theta", "rad"), ("gamma", "rad")])
            .parameters([
                Parameter::new("mom", "N m", 0.033),
                Parameter::new("c0", "N/m", 4530.0),
                Parameter::new("m3", "kg", MASSES[2]),
                // mass of the third body, lengths of the second and of the fourth
                Parameter::new("d", "m", 0.028).fixed(),
                Parameter::new("e", "m", 0.02).fixed(),
            ])
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q.iter_mut().zip(START).for_each(|(q, start)| *q = D::from(start));
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let [_, theta, _, phi, _, omega, _] = unpack(q);
        let [_, _, m3, _, e] = unpack(u);
        let (e, f) = (e - EA, ZF - FA);
        let [m1, m2, _, m4, m5, m6, m7] = MASSES;
        let [i1, i2, i3, i4, i5, i6, i7] = INERTIAS;
        m[(0, 0)] = theta.cos() * (-2.0 * m2 * DA * RR) + (m1 * RA * RA + m2 * (RR * RR + DA * DA) + i1 + i2);
        m[(0, 1)] = theta.cos() * (-m2 * DA * RR) + (m2 * DA * DA + i2);
        m[(1, 0)] = m[(0, 1)];
        m[(1, 1)] = D::from(m2 * DA * DA + i2);
        m[(2, 2)] = m3 * (SA * SA + SB * SB) + i3;
        m[(3, 3)] = e * e * m4 + i4;
        m[(3, 4)] = (e * e + e * phi.sin() * ZT) * m4 + i4;
        m[(4, 3)] = m[(3, 4)];
        m[(4, 4)] = (e * e + e * phi.sin() * (2.0 * ZT) + ZT * ZT) * m4 + (m5 * (TA * TA + TB * TB) + i4 + i5);
        m[(5, 5)] = D::from(m6 * f * f + i6);
        m[(5, 6)] = omega.sin() * (-m6 * U * f) + (m6 * f * f + i6);
        m[(6, 5)] = m[(5, 6)];
        m[(6, 6)] = omega.sin() * (-2.0 * m6 * U * f) + (m6 * (f * f + U * U) + m7 * (UA * UA + UB * UB) + i6 + i7);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [_, theta, gamma, phi, _, omega, _] = unpack(q);
        let [v_beta, v_theta, _, v_phi, v_delta, v_omega, v_epsilon] = unpack(v);
        let [torque, stiffness, _, _, e] = unpack(u);
        let (e, f) = (e - EA, ZF - FA);
        let [_, m2, _, m4, _, m6, _] = MASSES;
        let (sin, cos) = gamma.sin_cos();
        let (x, y) = (cos * SD + sin * SC + (XB - XC), sin * SD - cos * SC + (YB - YC));
        let length = (x * x + y * y).sqrt();
        let pull = -stiffness * (length - 0.07785) / length;
        force[0] = torque - v_theta * (v_theta + v_beta * 2.0) * theta.sin() * (m2 * DA * RR);
        force[1] = v_beta * v_beta * theta.sin() * (m2 * DA * RR);
        force[2] = pull * x * (cos * SC - sin * SD) + pull * y * (cos * SD + sin * SC);
        force[3] = v_delta * v_delta * phi.cos() * e * (m4 * ZT);
        force[4] = -v_phi * (v_phi + v_delta * 2.0) * phi.cos() * e * (m4 * ZT);
        force[5] = -v_epsilon * v_epsilon * omega.cos() * (m6 * U * f);
        force[6] = v_omega * (v_omega + v_epsilon * 2.0) * omega.cos() * (m6 * U * f);
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [beta, theta, gamma, phi, delta, omega, epsilon] = unpack(q);
        let [_, _, _, d, e] = unpack(u);
        let x = beta.cos() * RR - d * (beta + theta).cos();
        let y = beta.sin() * RR - d * (beta + theta).sin();
        c[0] = x - gamma.sin() * SS - XB;
        c[1] = y + gamma.cos() * SS - YB;
        c[2] = x - e * (phi + delta).sin() - delta.cos() * ZT - XA;
        c[3] = y + e * (phi + delta).cos() - delta.sin() * ZT - YA;
        c[4] = x - (omega + epsilon).cos() * ZF - epsilon.sin() * U - XA;
        c[5] = y - (omega + epsilon).sin() * ZF + epsilon.cos() * U - YA;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y.copy_from_slice(&x.q[..3]);
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 0.03,
        step: 3e-5,
        // with other lengths it is put together again
        integrator: Integrator {
            scheme: "i2p".into(),
            initial_state: InitialState::Projected,
            ..Integrator::default()
        },
        start: named([("mom", 0.034), ("c0", 4600.0), ("m3", 0.022)]),
        outputs: vec!["gamma".into()],
        ..Scenario::default()
    };
    registry.with("Andrews' squeezing mechanism, a standard test of time integrators", Squeezer, scenario)
}
