//! A five-bar linkage in natural coordinates, moved by torques on the two bars at the frame (after Lopez Varela 2021, whose data are not
//! in the text; these are our own).
//!
//! The frame carries A = (0, 0) and B = (1, 0) m; bars A-1 and 3-B of 0.6 m and 1 kg, bars 1-2 and 2-3 of 0.8 m and 1.2 kg, all uniform.
//! Coordinates are those of the points 1, 2 and 3; gravity acts along -y. The torques are sums of waves whose amplitudes are the
//! parameters:
//!
//! ```text
//! τ = c_0 + Σ_j (c_j cos jωt + s_j sin jωt),    j = 1, 2, 3,  ω = 2π / 2 s
//! ```
//!
//! With the nominal ones, point 2 goes once around the ellipse of [`wanted`] and comes back to where it began, 0.2 mm off it at most.

use crate::named;
use costate::{Drawing, Matrix, Model, Number, Parameter, Signature, State};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};

const GRAVITY: f64 = 9.81;
const FRAME: f64 = 1.0;
/// Of the bars A-1, 1-2, 2-3 and 3-B: lengths, m, and masses, kg.
const LENGTHS: [f64; 4] = [0.6, 0.8, 0.8, 0.6];
const MASSES: [f64; 4] = [1.0, 1.2, 1.2, 1.0];
/// Time of a turn, s.
pub const PERIOD: f64 = 2.0;
const OMEGA: f64 = 2.0 * std::f64::consts::PI / PERIOD;
/// Waves of a torque, beside the constant.
const WAVES: usize = 3;
/// Parameters of a torque.
const AMPLITUDES: usize = 1 + 2 * WAVES;

/// The amplitudes of both torques for which point 2 follows the ellipse, N m: `cargo run --release --example five_bar` finds them.
pub const FOLLOWING: [f64; 2 * AMPLITUDES] = [
    -9.2276909, 0.4949696, -1.5737158, 0.3008248, -0.1303102, 0.0205336, 0.0591200, //
    9.2284577, 0.4939390, 1.5735198, -0.2991124, -0.1311006, 0.0224653, -0.0597997,
];

/// Desired position of point 2 at a time, m.
pub fn wanted(t: f64) -> [f64; 2] {
    let (sin, cos) = (OMEGA * t).sin_cos();
    [0.5 + 0.15 * cos, -0.95 + 0.1 * sin]
}

/// The linkage. Parameters: the amplitudes of the torque on bar A-1, then of that on bar 3-B.
#[derive(Debug, Clone, Copy)]
pub struct FiveBar;

/// The torque with these amplitudes.
fn torque<D: Number>(t: D, amplitudes: &[D]) -> D {
    (1..=WAVES).fold(amplitudes[0], |sum, j| {
        let (sin, cos) = (t * (OMEGA * j as f64)).sin_cos();
        sum + amplitudes[2 * j - 1] * cos + amplitudes[2 * j] * sin
    })
}

/// Intersection of circles around two points, to the left (1) or right (-1) of the way from the first to the second.
fn meeting([x_1, y_1]: [f64; 2], r_1: f64, [x_2, y_2]: [f64; 2], r_2: f64, side: f64) -> [f64; 2] {
    let distance = (x_2 - x_1).hypot(y_2 - y_1);
    let [e_x, e_y] = [(x_2 - x_1) / distance, (y_2 - y_1) / distance];
    let along = (r_1 * r_1 - r_2 * r_2 + distance * distance) / (2.0 * distance);
    let across = side * (r_1 * r_1 - along * along).sqrt();
    [x_1 + along * e_x - across * e_y, y_1 + along * e_y + across * e_x]
}

impl Model for FiveBar {
    fn signature(&self) -> Signature {
        let names = (0..AMPLITUDES).map(|k| match k {
            0 => "c0".to_string(),
            k => format!("{}{}", if k % 2 == 1 { "c" } else { "s" }, k.div_ceil(2)),
        });
        let names: Vec<String> = names.collect();
        let all = ["A", "B"].into_iter().flat_map(|bar| names.iter().map(move |name| format!("{bar}_{name}")));
        Signature::new("five_bar")
            .coordinates([("x1", "m"), ("y1", "m"), ("x2", "m"), ("y2", "m"), ("x3", "m"), ("y3", "m")])
            .constraints([("bar_A1", "m^2"), ("bar_12", "m^2"), ("bar_23", "m^2"), ("bar_3B", "m^2")])
            .outputs([("r2_x", "m"), ("r2_y", "m"), ("torque_A", "N m"), ("torque_B", "N m")])
            .parameters(all.zip(FOLLOWING).map(|(name, nominal)| Parameter::new(name, "N m", nominal).size(1.0)))
    }

    /// Point 2 where it is to be, with the velocity that it is to have.
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], v: &mut [D]) {
        let second = wanted(0.0);
        let first = meeting([0.0, 0.0], LENGTHS[0], second, LENGTHS[1], -1.0);
        let third = meeting([FRAME, 0.0], LENGTHS[3], second, LENGTHS[2], 1.0);
        let now = [first, second, third].concat();
        // velocities of points 1 and 3 are those at which the bars keep their lengths
        let v_2 = 0.1 * OMEGA;
        let turning = |fixed: [f64; 2], end: [f64; 2]| {
            // (end - r2) . (v_end - v_2) = 0 and (end - fixed) . v_end = 0
            let (a, b) = ([end[0] - now[2], end[1] - now[3]], [end[0] - fixed[0], end[1] - fixed[1]]);
            let (right, determinant) = (a[1] * v_2, a[0] * b[1] - a[1] * b[0]);
            [right * b[1] / determinant, -right * b[0] / determinant]
        };
        let (first, third) = (turning([0.0, 0.0], first), turning([FRAME, 0.0], third));
        let speeds = [first[0], first[1], 0.0, v_2, third[0], third[1]];
        for j in 0..6 {
            (q[j], v[j]) = (D::from(now[j]), D::from(speeds[j]));
        }
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        // a uniform bar between points i and j: m/3 at either, m/6 between them; the frame's ends do not move
        for (bar, ends) in
            [(0, [None, Some(0)]), (1, [Some(0), Some(1)]), (2, [Some(1), Some(2)]), (3, [Some(2), None])]
        {
            for (i, first) in ends.into_iter().enumerate() {
                for (j, second) in ends.into_iter().enumerate() {
                    let (Some(first), Some(second)) = (first, second) else { continue };
                    let share = MASSES[bar] / if i == j { 3.0 } else { 6.0 };
                    (0..2).for_each(|axis| m[(2 * first + axis, 2 * second + axis)] += D::from(share));
                }
            }
        }
    }

    fn force<D: Number>(&self, t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        for point in 0..3 {
            force[2 * point + 1] = D::from(-0.5 * GRAVITY * (MASSES[point] + MASSES[point + 1]));
        }
        let (amplitudes, others) = u.split_at(AMPLITUDES);
        for (point, fixed, bar, amplitudes) in [(0, 0.0, 0, amplitudes), (2, FRAME, 3, others)] {
            let factor = torque(t, amplitudes) / (LENGTHS[bar] * LENGTHS[bar]);
            force[2 * point] -= factor * q[2 * point + 1];
            force[2 * point + 1] += factor * (q[2 * point] - fixed);
        }
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        let square = |x: D, y: D, length: f64| (x * x + y * y - length * length) * 0.5;
        c[0] = square(q[0], q[1], LENGTHS[0]);
        c[1] = square(q[2] - q[0], q[3] - q[1], LENGTHS[1]);
        c[2] = square(q[4] - q[2], q[5] - q[3], LENGTHS[2]);
        c[3] = square(q[4] - FRAME, q[5], LENGTHS[3]);
    }

    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let (amplitudes, others) = u.split_at(AMPLITUDES);
        (y[0], y[1]) = (x.q[2], x.q[3]);
        (y[2], y[3]) = (torque(t, amplitudes), torque(t, others));
    }

    fn picture(&self, t: f64, q: &[f64], _w: &[f64], u: &[f64], drawing: &mut Drawing) {
        let points = [[0.0, 0.0], [q[0], q[1]], [q[2], q[3]], [q[4], q[5]], [FRAME, 0.0]];
        let fixed = [points[0], points[4]].map(|at| drawing.ground(at));
        let mut end = fixed[0];
        for (name, ends) in ["bar A-1", "bar 1-2", "bar 2-3", "bar 3-B"].into_iter().zip(points.windows(2)) {
            let [start, next] = drawing.bar(name, ends[0], ends[1]);
            drawing.pin(end, start);
            end = next;
            if name == "bar 1-2" {
                drawing.trace(end);
            }
        }
        drawing.pin(fixed[1], end);
        let (amplitudes, others) = u.split_at(AMPLITUDES);
        drawing.torque(fixed[0], torque(t, amplitudes));
        drawing.torque(fixed[1], torque(t, others));
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: PERIOD,
        step: 2.5e-3,
        integrator: Integrator { scheme: "ali3p".into(), ..Integrator::default() },
        start: named([("A_c0", 0.9 * FOLLOWING[0]), ("B_c0", 0.9 * FOLLOWING[7])]),
        outputs: vec!["r2_x".into(), "r2_y".into()],
        ..Scenario::default()
    };
    registry.with(
        "five-bar linkage in natural coordinates; torques that lead its point along a closed curve (Lopez Varela 2021)",
        FiveBar,
        scenario,
    )
}
