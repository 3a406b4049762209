//! A double pendulum with friction in its joints, swinging several times with the same arms: for records in segments.
//!
//! Angles are absolute, from upright (π is hanging), as in the record of Kaheman et al. 2023. Every swing is a copy of the two
//! arms with an initial state of its own; all copies share the ten physical parameters and run side by side on one time axis.
//! The arms are one [`Element`] in minimal coordinates: with joints as constraints, positions at the start would be products of
//! lengths and unknown angles.
//!
//! # What free swings determine
//!
//! The equations of motion are
//!
//! ```text
//! H11 θ1'' + H12 (cos(θ1 - θ2) θ2'' + sin(θ1 - θ2) θ2'²) = G1 sin θ1 - k1 θ1' - k2 (θ1' - θ2')
//! H22 θ2'' + H12 (cos(θ1 - θ2) θ1'' - sin(θ1 - θ2) θ1'²) = G2 sin θ2          - k2 (θ2' - θ1')
//!
//! H11 = I1 + m1 a1² + m2 L1²,   H12 = m2 L1 a2,   H22 = I2 + m2 a2²,   G1 = (m1 a1 + m2 L1) g,   G2 = m2 a2 g
//! ```
//!
//! and can be multiplied with any number: six ratios are determined of ten parameters. The masses, `a2` and `g` are fixed unless
//! asked for otherwise; for every value of theirs the other six reach every set of ratios. Of the lengths, only
//! L1 = g H12/G2 is known from swings and gravity.

use costate::assembly::{Assembly, Connection, Element, Value};
use costate::planar::Mechanism;
use costate::{Matrix, Number, Parameter, Result, State, unpack};

/// Two arms. Coordinates: both angles. Parameters: those of [`PHYSICAL`].
struct Arms;

/// Names, units and nominal values of the physical parameters (the estimates of Kaheman et al. 2023), and whether they are fixed.
///
/// Masses, distances of the centres of mass from the joints, length of the first arm between the joints, inertias about the
/// centres of mass, viscous friction at the ground and between the arms, gravity.
pub const PHYSICAL: [(&str, &str, f64, bool); 10] = [
    ("m1", "kg", 0.09384, true),
    ("m2", "kg", 0.13760, true),
    ("a1", "m", 0.10857, false),
    ("a2", "m", 0.11678, true),
    ("L1", "m", 0.17272, false),
    ("I1", "kg m^2", 4.375e-4, false),
    ("I2", "kg m^2", 1.2688e-3, false),
    ("k1", "N m s/rad", 2.371e-4, false),
    ("k2", "N m s/rad", 1.0e-5, false),
    ("g", "m/s^2", 9.80858, true),
];

impl Element for Arms {
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let [m1, m2, a1, a2, l1, i1, i2] = unpack(&u[..7]);
        m[(0, 0)] = i1 + m1 * a1 * a1 + m2 * l1 * l1;
        m[(0, 1)] = m2 * l1 * a2 * (q[0] - q[1]).cos();
        m[(1, 0)] = m[(0, 1)];
        m[(1, 1)] = i2 + m2 * a2 * a2;
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [m1, m2, a1, a2, l1, _, _, k1, k2, g] = unpack(u);
        let coupling = m2 * l1 * a2 * (q[0] - q[1]).sin();
        let elbow = k2 * (v[1] - v[0]);
        force[0] = (m1 * a1 + m2 * l1) * g * q[0].sin() - coupling * v[1] * v[1] - k1 * v[0] + elbow;
        force[1] = m2 * a2 * g * q[1].sin() + coupling * v[0] * v[0] - elbow;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
        y[1] = x.q[1];
    }
}

/// The pendulum with one swing for each of `starts`: both angles (rad) and both rates (rad/s) at time 0, nominal values of the
/// parameters `theta1_K`, `theta2_K`, `omega1_K`, `omega2_K`, K from 0. Outputs: `swingK.theta1`, `swingK.theta2`.
///
/// # Errors
/// None for finite starts.
pub fn double_pendulum(starts: &[[f64; 4]]) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("double_pendulum");
    let physical = PHYSICAL.map(|(name, unit, nominal, fixed)| {
        let parameter = Parameter::new(name, unit, nominal).non_negative();
        mechanism.parameter(if fixed { parameter.fixed() } else { parameter })
    });
    let assembler = mechanism.assembler();
    for (swing, start) in starts.iter().enumerate() {
        // an angle that is off by 0.1 rad, or a rate by 1 rad/s, matters, whatever the value is
        let kinds = [("theta1", "rad", 0.1), ("theta2", "rad", 0.1), ("omega1", "rad/s", 1.0), ("omega2", "rad/s", 1.0)];
        let mut nominal = start.iter();
        let initial: [Value; 4] = kinds.map(|(name, unit, size)| {
            let value = nominal.next().copied().unwrap_or(0.0);
            assembler.parameter(Parameter::new(format!("{name}_{swing}"), unit, value).size(size))
        });
        let [theta1, theta2, omega1, omega2] = initial;
        let first = assembler.coordinate(format!("theta1_{swing}"), "rad", theta1, omega1);
        let second = assembler.coordinate(format!("theta2_{swing}"), "rad", theta2, omega2);
        let connection = Connection::to([first, second]).parameters(physical.clone());
        let outputs = [("theta1", "rad"), ("theta2", "rad")];
        assembler.element(&format!("swing{swing}"), Arms, connection.outputs(outputs));
    }
    mechanism.build()
}

/// H11/H22, H12/H22, G1/H22 (1/s²), G2/H22 (1/s²), k1/H22 (1/s), k2/H22 (1/s): what free swings determine, from the physical
/// parameters in the order of [`PHYSICAL`].
pub fn ratios(u: &[f64]) -> [f64; 6] {
    let [m1, m2, a1, a2, l1, i1, i2, k1, k2, g] = unpack(&u[..10]);
    let h22 = i2 + m2 * a2 * a2;
    let h11 = i1 + m1 * a1 * a1 + m2 * l1 * l1;
    [h11, m2 * l1 * a2, (m1 * a1 + m2 * l1) * g, m2 * a2 * g, k1, k2].map(|value| value / h22)
}
