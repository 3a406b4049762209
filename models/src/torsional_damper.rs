//! The crank train of a four-cylinder engine with a torsional vibration damper at its free end, run up by a dynamometer through its
//! resonances.
//!
//! ring ⇄ hub − throw 1 − throw 2 − throw 3 − throw 4 − flywheel − dynamometer: eight inertias in a row. Reciprocating masses make the
//! throws' inertias depend on the crank angle; gas torques are Fourier series of a four-stroke cycle (polytropic compression and expansion,
//! Wiebe's law of heat release), with the firing order 1-3-4-2. The dynamometer holds the `speed` that it is given, by a torque proportional
//! to what is missing. All data are our own: a petrol engine of two litres as textbooks describe it.

use crate::named;
use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State, unpack};
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_identify::registry::{Registry, Scenario};
use std::f64::consts::{PI, TAU};

/// Of the ring, kg m²; with it, the hub with its pulley, a throw without reciprocating parts, the flywheel, the dynamometer.
const RING: f64 = 6e-3;
const HUB: f64 = 4e-3;
const THROW: f64 = 4.5e-3;
const FLYWHEEL: f64 = 0.15;
const DYNAMOMETER: f64 = 0.5;
/// Torsional stiffness and damping between hub and first throw, two throws, last throw and flywheel; of the coupling to the dynamometer:
/// N m/rad, N m s/rad.
const SHAFT: [[f64; 2]; 6] = [[2.4e5, 0.6], [3.6e5, 0.6], [3.6e5, 0.6], [3.6e5, 0.6], [4.8e5, 0.6], [4.0e3, 20.0]];
/// Torque of the dynamometer for 1 rad/s that is missing, N m s/rad.
const CONTROL: f64 = 50.0;
/// Friction of each throw's bearings, N m s/rad.
const FRICTION: f64 = 0.02;
/// Crank radius, m, over the length of the connecting rod; reciprocating mass of a cylinder, kg; bore, m; compression ratio.
const RADIUS: f64 = 0.045;
const ROD_RATIO: f64 = 0.3;
const RECIPROCATING: f64 = 0.6;
const BORE: f64 = 0.086;
const COMPRESSION: f64 = 10.0;
/// Crank angles at which the cylinders fire, of 4π.
const FIRING: [f64; 4] = [0.0, 3.0 * PI, PI, 2.0 * PI];
/// Harmonics of a cylinder's gas torque, in multiples of half the crank's speed.
const HARMONICS: usize = 16;

/// The crank train; damper stiffness and damping are to be found.
#[derive(Debug, Clone)]
pub struct TorsionalDamper {
    /// Cosine and sine coefficients of the gas torque of one cylinder, N m, over half the crank angle since it fired.
    gas: [[f64; 2]; HARMONICS + 1],
}

/// Derivative of the piston's stroke by its crank angle, over the crank radius, and the derivative of that.
fn stroke<D: Number>(angle: D) -> [D; 2] {
    let (sin, cos) = angle.sin_cos();
    [sin + sin * cos * ROD_RATIO, cos + (cos * cos - sin * sin) * ROD_RATIO]
}

/// Pressure in a cylinder over a cycle from its firing on, Pa, at `4 · half` crank angles.
fn pressures(half: usize) -> Vec<f64> {
    const STEPS: usize = 20;
    const EXPONENT: f64 = 1.32;
    /// Released in a cycle, J; begins so much before the dead centre and takes so long, rad.
    const HEAT: f64 = 1100.0;
    const BEGIN: f64 = 0.3;
    const DURATION: f64 = 0.9;
    let area = 0.25 * PI * BORE * BORE;
    let swept = 2.0 * area * RADIUS;
    let volume = |angle: f64| {
        swept / (COMPRESSION - 1.0) + area * RADIUS * ((1.0 - angle.cos()) + 0.5 * ROD_RATIO * angle.sin().powi(2))
    };
    let burnt = |angle: f64| match (angle + BEGIN) / DURATION {
        part if part <= 0.0 => 0.0,
        part => 1.0 - (-6.9 * part.powi(3)).exp(),
    };
    let (count, step) = (4 * half, PI / half as f64);
    let (intake, exhaust) = (0.95e5, 1.1e5);
    let mut all = vec![0.0; count];
    // compression and expansion: from the lower dead centre before the firing to the one behind it
    let mut pressure = intake;
    for k in 0..2 * half {
        all[(k + count - half) % count] = pressure;
        for part in 0..STEPS {
            let at = |place: f64| (k as f64 + place / STEPS as f64 - half as f64) * step;
            let (from, to) = (at(part as f64), at(part as f64 + 1.0));
            let expanded = pressure * (volume(from) / volume(to)).powf(EXPONENT);
            pressure = expanded + (EXPONENT - 1.0) * HEAT * (burnt(to) - burnt(from)) / volume(to);
        }
    }
    // the exhaust valve opens, and closes before the intake
    for (k, value) in all.iter_mut().enumerate().take(3 * half).skip(half) {
        let since = (k - half) as f64 / half as f64;
        let level = if since < 1.0 { exhaust } else { intake };
        *value = level + (pressure - exhaust) * (-since / 0.08).exp();
    }
    all
}

impl Default for TorsionalDamper {
    fn default() -> Self {
        const HALF: usize = 180;
        let area = 0.25 * PI * BORE * BORE;
        let torques: Vec<f64> = pressures(HALF)
            .iter()
            .enumerate()
            .map(|(k, pressure)| (pressure - 1e5) * area * RADIUS * stroke(k as f64 * PI / HALF as f64)[0])
            .collect();
        let coefficient = |n: usize, wave: fn(f64) -> f64| {
            let sum: f64 = torques
                .iter()
                .enumerate()
                .map(|(k, torque)| torque * wave(TAU * n as f64 * k as f64 / torques.len() as f64))
                .sum();
            sum * if n == 0 { 1.0 } else { 2.0 } / torques.len() as f64
        };
        let mut gas = [[0.0; 2]; HARMONICS + 1];
        for (n, own) in gas.iter_mut().enumerate() {
            *own = [coefficient(n, f64::cos), coefficient(n, f64::sin)];
        }
        TorsionalDamper { gas }
    }
}

impl TorsionalDamper {
    /// Gas torque of a cylinder, N m, so many rad after it fired.
    fn gas_torque<D: Number>(&self, angle: D) -> D {
        let (sin, cos) = (angle * 0.5).sin_cos();
        let (mut s, mut c) = (sin, cos);
        let mut sum = D::from(self.gas[0][0]);
        for [of_cos, of_sin] in &self.gas[1..] {
            sum += c * *of_cos + s * *of_sin;
            (s, c) = (s * cos + c * sin, c * cos - s * sin);
        }
        sum
    }
}

impl Model for TorsionalDamper {
    fn signature(&self) -> Signature {
        Signature::new("torsional_damper")
            .coordinates(
                ["ring", "hub", "throw1", "throw2", "throw3", "throw4", "flywheel", "dynamometer"]
                    .map(|name| (name, "rad")),
            )
            .inputs([("speed", "rad/s")])
            .outputs([
                ("twist", "rad"),
                ("ring_twist", "rad"),
                ("hub_speed", "rad/s"),
                ("flywheel_speed", "rad/s"),
                ("hub_acceleration", "rad/s^2"),
            ])
            .parameters([
                Parameter::new("k", "N m/rad", 1.9e4).bounds(1.0, f64::INFINITY),
                Parameter::new("d", "N m s/rad", 3.0).non_negative(),
                Parameter::new("gas", "1", 1.0).fixed(),
                Parameter::new("control", "N m s/rad", CONTROL).non_negative().fixed(),
                Parameter::new("start_speed", "rad/s", 300.0).fixed(),
            ])
    }

    fn initial<D: Number>(&self, u: &[D], _q: &mut [D], v: &mut [D]) {
        v.fill(u[4]);
    }

    fn mass<D: Number>(&self, q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(RING);
        m[(1, 1)] = D::from(HUB);
        for k in 0..4 {
            let [s, _] = stroke(q[2 + k] - FIRING[k]);
            m[(2 + k, 2 + k)] = s * s * (RECIPROCATING * RADIUS * RADIUS) + THROW;
        }
        m[(6, 6)] = D::from(FLYWHEEL);
        m[(7, 7)] = D::from(DYNAMOMETER);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [k, d, gas, control, _] = unpack(u);
        let constants = SHAFT.map(|[k, d]| [D::from(k), D::from(d)]);
        for (i, [k, d]) in [[k, d]].into_iter().chain(constants).enumerate() {
            let torque = k * (q[i + 1] - q[i]) + d * (v[i + 1] - v[i]);
            force[i] += torque;
            force[i + 1] -= torque;
        }
        for i in 0..4 {
            let [s, slope] = stroke(q[2 + i] - FIRING[i]);
            let (angle, speed) = (q[2 + i], v[2 + i]);
            // what the inertia's own change does, J' θ'²/2
            let inertia = s * slope * speed * speed * (RECIPROCATING * RADIUS * RADIUS);
            force[2 + i] += gas * self.gas_torque(angle - FIRING[i]) - inertia - speed * FRICTION;
        }
        force[7] += control * (w[0] - v[7]);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[1] - x.q[6];
        y[1] = x.q[0] - x.q[1];
        (y[2], y[3], y[4]) = (x.v[1], x.v[6], x.a[1]);
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        end: 0.1,
        step: 1e-4,
        integrator: Integrator::hht(-0.05),
        signals: vec![Signal::function(|t| 300.0 + 1000.0 * t)],
        start: named([("k", 1.3e4), ("d", 4.5)]),
        outputs: vec!["twist".into()],
        ..Scenario::default()
    };
    registry.with(
        "crank train of four cylinders with a torsional vibration damper, run up",
        TorsionalDamper::default(),
        scenario,
    )
}
