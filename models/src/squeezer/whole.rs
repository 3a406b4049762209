//! Andrews' squeezing mechanism with everything that it is made of as a parameter: what the gradient by 42 parameters costs.

use super::{
    DA, EA, FA, INERTIAS, MASSES, RA, RR, SA, SB, SC, SD, SS, START, TA, TB, U, UA, UB, XA, XB, XC, YA, YB, YC, ZF, ZT,
};
use costate::{Matrix, Model, Number, Parameter, Signature, State, unpack};

/// [`super::Squeezer`] with 42 parameters: those two of its loads, seven masses, seven inertias, 25 lengths, and the length of the spring at
/// rest. It is put together again where lengths change.
#[derive(Debug, Clone, Copy)]
pub struct WholeSqueezer;

/// Names and values.
const LENGTHS: [(&str, f64); 26] = [
    ("xa", XA),
    ("ya", YA),
    ("xb", XB),
    ("yb", YB),
    ("xc", XC),
    ("yc", YC),
    ("ea", EA),
    ("ra", RA),
    ("sa", SA),
    ("sb", SB),
    ("sc", SC),
    ("sd", SD),
    ("ta", TA),
    ("tb", TB),
    ("ua", UA),
    ("ub", UB),
    ("fa", FA),
    ("rr", RR),
    ("ss", SS),
    ("zt", ZT),
    ("u", U),
    ("zf", ZF),
    ("da", DA),
    ("d", 0.028),
    ("e", 0.02),
    ("spring", 0.07785),
];

impl Model for WholeSqueezer {
    fn signature(&self) -> Signature {
        let names = ["beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"];
        let of_bodies = |name: &'static str, unit: &'static str, values: [f64; 7]| {
            values
                .into_iter()
                .enumerate()
                .map(move |(k, value)| Parameter::new(format!("{name}{}", k + 1), unit, value))
        };
        Signature::new("whole squeezer")
            .coordinates(names.map(|name| (name, "rad")))
            .constraints(["b_x", "b_y", "a1_x", "a1_y", "a2_x", "a2_y"].map(|name| (name, "m")))
            .outputs([("beta", "rad"), ("theta", "rad"), ("gamma", "rad")])
            .parameters([Parameter::new("mom", "N m", 0.033), Parameter::new("c0", "N/m", 4530.0)])
            .parameters(of_bodies("m", "kg", MASSES))
            .parameters(of_bodies("i", "kg m^2", INERTIAS))
            .parameters(LENGTHS.map(|(name, value)| Parameter::new(format!("length_{name}"), "m", value)))
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q.iter_mut().zip(START).for_each(|(q, start)| *q = D::from(start));
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let [_, theta, _, phi, _, omega, _] = unpack(q);
        let [m1, m2, m3, m4, m5, m6, m7]: [D; 7] = unpack(&u[2..9]);
        let [i1, i2, i3, i4, i5, i6, i7]: [D; 7] = unpack(&u[9..16]);
        let [_, _, _, _, _, _, ea, ra, sa, sb, _, _, ta, tb, ua, ub, fa, rr, _, zt, length, zf, da, _, e, _] =
            unpack(&u[16..]);
        let (e, f) = (e - ea, zf - fa);
        m[(0, 0)] = theta.cos() * m2 * da * rr * -2.0 + m1 * ra * ra + m2 * (rr * rr + da * da) + i1 + i2;
        m[(0, 1)] = m2 * da * da + i2 - theta.cos() * m2 * da * rr;
        m[(1, 0)] = m[(0, 1)];
        m[(1, 1)] = m2 * da * da + i2;
        m[(2, 2)] = m3 * (sa * sa + sb * sb) + i3;
        m[(3, 3)] = e * e * m4 + i4;
        m[(3, 4)] = (e * e + e * phi.sin() * zt) * m4 + i4;
        m[(4, 3)] = m[(3, 4)];
        m[(4, 4)] = (e * e + e * phi.sin() * zt * 2.0 + zt * zt) * m4 + m5 * (ta * ta + tb * tb) + i4 + i5;
        m[(5, 5)] = m6 * f * f + i6;
        m[(5, 6)] = m6 * f * f + i6 - omega.sin() * m6 * length * f;
        m[(6, 5)] = m[(5, 6)];
        m[(6, 6)] =
            m6 * (f * f + length * length) - omega.sin() * m6 * length * f * 2.0 + m7 * (ua * ua + ub * ub) + i6 + i7;
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [_, theta, gamma, phi, _, omega, _] = unpack(q);
        let [v_beta, v_theta, _, v_phi, v_delta, v_omega, v_epsilon] = unpack(v);
        let [torque, stiffness, _, m2, _, m4, _, m6, _]: [D; 9] = unpack(&u[..9]);
        let [_, _, xb, yb, xc, yc, ea, _, _, _, sc, sd, _, _, _, _, fa, rr, _, zt, length, zf, da, _, e, rest] =
            unpack(&u[16..]);
        let (e, f) = (e - ea, zf - fa);
        let (sin, cos) = gamma.sin_cos();
        let (x, y) = (cos * sd + sin * sc + xb - xc, sin * sd - cos * sc + yb - yc);
        let distance = (x * x + y * y).sqrt();
        let pull = -stiffness * (distance - rest) / distance;
        force[0] = torque - v_theta * (v_theta + v_beta * 2.0) * theta.sin() * m2 * da * rr;
        force[1] = v_beta * v_beta * theta.sin() * m2 * da * rr;
        force[2] = pull * x * (cos * sc - sin * sd) + pull * y * (cos * sd + sin * sc);
        force[3] = v_delta * v_delta * phi.cos() * e * m4 * zt;
        force[4] = -v_phi * (v_phi + v_delta * 2.0) * phi.cos() * e * m4 * zt;
        force[5] = -v_epsilon * v_epsilon * omega.cos() * m6 * length * f;
        force[6] = v_omega * (v_omega + v_epsilon * 2.0) * omega.cos() * m6 * length * f;
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [beta, theta, gamma, phi, delta, omega, epsilon] = unpack(q);
        let [xa, ya, xb, yb, _, _, _, _, _, _, _, _, _, _, _, _, _, rr, ss, zt, length, zf, _, d, e, _] =
            unpack(&u[16..]);
        let x = beta.cos() * rr - d * (beta + theta).cos();
        let y = beta.sin() * rr - d * (beta + theta).sin();
        c[0] = x - gamma.sin() * ss - xb;
        c[1] = y + gamma.cos() * ss - yb;
        c[2] = x - e * (phi + delta).sin() - delta.cos() * zt - xa;
        c[3] = y + e * (phi + delta).cos() - delta.sin() * zt - ya;
        c[4] = x - (omega + epsilon).cos() * zf - epsilon.sin() * length - xa;
        c[5] = y - (omega + epsilon).sin() * zf + epsilon.cos() * length - ya;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y.copy_from_slice(&x.q[..3]);
    }
}
