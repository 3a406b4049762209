//! Small mechanisms that only tests need, and wrappers around others.

use super::Case;
use costate::{Matrix, Model, Number, Parameter, Signature, State, TimeGrid};
use costate_models::cart_pole::CartPole;

/// When the bead's motion begins: not at 0, where some time derivatives vanish.
pub const BEAD_START: f64 = 0.3;

/// A bead (x, y) on a hoop whose centre swings along x, with a massless pointer z that is led by time and position:
/// constraints that depend on time, position and parameters at once, and a singular mass matrix.
#[derive(Debug, Clone, Copy)]
pub struct Bead;

impl Model for Bead {
    fn signature(&self) -> Signature {
        Signature::new("bead")
            .coordinates([("x", "m"), ("y", "m"), ("z", "m")])
            .constraints([("hoop", "m^2"), ("pointer", "m")])
            .outputs([("hoop_force", "N"), ("pointer", "m")])
            .parameters([
                Parameter::new("m", "kg", 0.4),
                Parameter::new("amplitude", "m", 0.2),
                Parameter::new("omega", "rad/s", 4.0),
                Parameter::new("R", "m", 0.6),
                Parameter::new("d", "N s/m", 0.1),
                Parameter::new("b", "1/s^2", 0.7),
                Parameter::new("k", "N/m", 3.0),
                Parameter::new("angle", "rad", 0.9),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        let [_, amplitude, omega, radius, _, b, _, angle] = *u else { return };
        let (t, rate) = (BEAD_START, 0.8);
        let (sin, cos) = angle.sin_cos();
        q[0] = amplitude * (omega * t).sin() + radius * sin;
        q[1] = -radius * cos;
        v[0] = amplitude * omega * (omega * t).cos() + radius * cos * rate;
        v[1] = radius * sin * rate;
        q[2] = b * q[0] * (t * t);
        v[2] = b * q[0] * (2.0 * t) + b * v[0] * (t * t);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
        m[(1, 1)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [m, _, _, _, d, _, k, _] = *u else { return };
        force[0] = -d * v[0];
        force[1] = -d * v[1] - m * 9.81;
        force[2] = -k * q[2] - d * v[2] * 0.1;
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [_, amplitude, omega, radius, _, b, ..] = *u else { return };
        let x = q[0] - amplitude * (omega * t).sin();
        c[0] = (x * x + q[1] * q[1] - radius * radius) * 0.5;
        c[1] = q[2] - b * t * t * q[0];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = x.lambda[0] * u[3];
        y[1] = x.q[2];
    }
}

pub fn bead() -> Case {
    let u = [0.5, 0.15, 4.5, 0.55, 0.12, 0.6, 2.5, 1.0];
    Case { grid: TimeGrid::steps(BEAD_START, 0.02, 60).unwrap(), ..Case::new(Bead, &u, Vec::new(), 0.02, 60) }
}

/// The cart-pole with its cart tied to the angle by a curved guide: a mass matrix that depends on positions, with a
/// constraint. Starts off the guide.
#[derive(Debug, Clone, Copy)]
pub struct Guided;

impl Model for Guided {
    fn signature(&self) -> Signature {
        CartPole.signature().constraints([("guide", "m")])
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        CartPole.initial(u, q, v);
        v[1] = u[5] * 0.5;
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        CartPole.mass(q, u, m);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        CartPole.force(t, q, v, w, u, force);
    }
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = q[0] - u[2] * (q[1] + t * 0.3).sin() * 0.8 + q[1] * q[1] * 0.1;
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        CartPole.output(t, x, u, y);
    }
}

pub fn guided() -> Case {
    Case::new(Guided, &[1.0, 0.5, 0.45, 0.2, 0.02, 0.7], vec![|t| 3.0 * (2.5 * t).sin()], 0.02, 60)
}

/// A model in other units: its equations of motion and its constraints are multiplied by factors, its parameters are given
/// in a smaller unit.
#[derive(Debug, Clone, Copy)]
pub struct Scaled<M> {
    pub model: M,
    pub motion: f64,
    pub constraint: f64,
    pub parameter: f64,
}

/// Each of `x` times a factor.
fn scale<D: Number>(x: &mut [D], factor: f64) {
    for x in x {
        *x *= factor;
    }
}

fn scaled<D: Number>(x: &[D], factor: f64) -> Vec<D> {
    let mut scaled = x.to_vec();
    scale(&mut scaled, factor);
    scaled
}

fn divided<D: Number>(x: &[D], divisor: f64) -> Vec<D> {
    let mut divided = x.to_vec();
    for x in &mut divided {
        *x /= divisor;
    }
    divided
}

impl<M: Model> Model for Scaled<M> {
    fn signature(&self) -> Signature {
        let mut signature = self.model.signature();
        for p in &mut signature.parameters {
            (p.nominal, p.lower, p.upper) =
                (p.nominal * self.parameter, p.lower * self.parameter, p.upper * self.parameter);
        }
        signature
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        self.model.initial(&divided(u, self.parameter), q, v);
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        self.model.mass(q, &divided(u, self.parameter), m);
        scale(m.as_mut_slice(), self.motion);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        self.model.force(t, q, v, w, &divided(u, self.parameter), force);
        scale(force, self.motion);
    }
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        self.model.constraint(t, q, &divided(u, self.parameter), c);
        scale(c, self.constraint);
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let lambda = scaled(x.lambda, self.constraint / self.motion);
        self.model.output(t, &State { lambda: &lambda, ..*x }, &divided(u, self.parameter), y);
    }
}

/// A model that starts off its constraints, by an amount that depends on its first parameter.
#[derive(Debug, Clone, Copy)]
pub struct Displaced<M> {
    pub model: M,
    pub position: f64,
    pub velocity: f64,
}

impl<M: Model> Model for Displaced<M> {
    fn signature(&self) -> Signature {
        self.model.signature()
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        self.model.initial(u, q, v);
        for j in 0..q.len() {
            q[j] += u[0] * (self.position * (1.0 + j as f64));
            v[j] += u[0] * u[0] * (self.velocity * (2.0 - j as f64));
        }
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        self.model.mass(q, u, m);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        self.model.force(t, q, v, w, u, force);
    }
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        self.model.constraint(t, q, u, c);
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        self.model.output(t, x, u, y);
    }
}

impl<M: Model + Clone + 'static> Displaced<M> {
    /// The case of the model, displaced.
    pub fn case(model: M, case: Case, position: f64, velocity: f64) -> Case {
        case.with_model(Displaced { model, position, velocity })
    }
}

/// Contact with one side, stiction-like damping on the other, a stage of the input, a constraint that sets in later: other
/// variables and parameters matter on each side of every branch.
#[derive(Debug, Clone, Copy)]
pub struct Branching;

impl Model for Branching {
    fn signature(&self) -> Signature {
        Signature::new("branching")
            .coordinates([("x", "m"), ("y", "m"), ("z", "m")])
            .constraints([("lift", "m")])
            .inputs([("F", "N")])
            .outputs([("side", "1")])
            .parameters([
                Parameter::new("k_right", "N/m", 60.0),
                Parameter::new("k_left", "N/m", 20.0),
                Parameter::new("d_left", "N s/m", 0.8),
                Parameter::new("pull", "1", 0.7),
                Parameter::new("inertia", "1/m^2", 0.6),
                Parameter::new("lift", "m/s^3", 1.5),
                Parameter::new("y0", "m", 0.5),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        q[0] = D::from(0.2);
        q[1] = if u[6] > D::from(0.1) { u[6] } else { u[5] };
        v[0] = D::from(-1.5);
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
        // continuous with its slope
        let excess = q[1] - 0.3;
        m[(1, 1)] = if excess.is_positive() { u[4] * excess * excess * excess + 0.8 } else { D::from(0.8) };
        m[(2, 2)] = D::from(0.5);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [k_right, k_left, d_left, pull, ..] = *u else { return };
        force[0] = if q[0] > D::from(0.0) { -k_right * q[0] * (q[0] + 1.0) } else { -k_left * q[0] - d_left * v[0] };
        force[1] = if w[0].re() > 0.2 { pull * w[0] * q[0] - q[1] * 9.0 } else { -q[1] * 12.0 - v[1] * 0.2 };
        force[2] = -q[2].abs() * q[2] * 4.0 + w[0];
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let late = t - 0.6;
        c[0] = q[2] - q[1] * 0.4 + u[6] * 0.4;
        if late.re() > 0.0 {
            c[0] -= u[5] * late * late * late * q[0];
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = if x.q[0] > D::from(0.0) { x.q[0] * u[0] } else { x.v[1] * u[3] * 10.0 };
    }
}

pub fn branching() -> Case {
    let u = [50.0, 25.0, 0.7, 0.9, 0.8, 1.2, 0.6];
    Case::new(Branching, &u, vec![|t| (4.0 * t).sin()], 0.02, 80)
}

/// More parameters than one window of the structure's search holds, more neighbours in each equation than one pass of dual
/// numbers carries, and a curved constraint through all coordinates.
#[derive(Debug, Clone, Copy)]
pub struct Wide;

pub const WIDE_COORDINATES: usize = 10;
pub const WIDE_PARAMETERS: usize = 145;

impl Model for Wide {
    fn signature(&self) -> Signature {
        let quantity = |j: usize| costate::Quantity::new(format!("q{j}"), "m");
        Signature {
            coordinates: (0..WIDE_COORDINATES).map(quantity).collect(),
            ..Signature::new("wide")
                .constraints([("shell", "m^2")])
                .outputs([("sum", "1")])
                .parameters((0..WIDE_PARAMETERS).map(|k| Parameter::new(format!("u{k}"), "1", 1.0 + 0.01 * k as f64)))
        }
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q.iter_mut().enumerate().for_each(|(j, q)| *q = D::from(0.3 + 0.05 * j as f64));
    }

    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        for j in 0..WIDE_COORDINATES {
            m[(j, j)] = u[j] * 0.2 + 2.0 + q[j] * q[j] * u[144];
        }
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        for (k, u) in u.iter().enumerate().take(130) {
            let j = k % WIDE_COORDINATES;
            let next = q[(j + 1 + k / 40) % WIDE_COORDINATES];
            force[j] -= *u * (q[j] * (1.0 + 0.1 * k as f64) + next * 0.5 + t).sin() * 0.3 + v[j] * 0.01;
        }
        force[3] -= u[5] * u[140] * q[9];
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        for j in 0..WIDE_COORDINATES {
            let start = 0.3 + 0.05 * j as f64;
            c[0] += u[130 + j] * (q[j] * q[j] - start * start);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        for j in 0..WIDE_COORDINATES {
            y[0] += x.q[j] * u[j + 135] + x.a[j] * u[j] * 0.01;
        }
    }
}

pub fn wide() -> Case {
    let u: Vec<f64> = (0..WIDE_PARAMETERS).map(|k| 1.0 + 0.3 * (k as f64).sin()).collect();
    Case::new(Wide, &u, Vec::new(), 0.02, 25)
}
