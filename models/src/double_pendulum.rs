//! A double pendulum with friction in its joints, swinging several times with the same arms: for records in segments.
//!
//! Angles are absolute, from upright (π is hanging), as in the record of Kaheman et al. 2023. Every swing of a record is an experiment with
//! an initial state of its own ([`measured`]); swings may also run side by side on one time axis, as copies of the arms.
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
//! plus what is zero unless asked for, see [`REFINEMENTS`]; and can be multiplied with any number: six ratios are determined of ten parameters. The masses, `a2` and `g` are fixed unless
//! asked for otherwise; for every value of theirs the other six reach every set of ratios. Of the lengths, only
//! L1 = g H12/G2 is known from swings and gravity.

use crate::named;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::system::System;
use costate::value::Value;
use costate::{Matrix, Number, Parameter, Simulation, State, TimeGrid, unpack};
use costate_data::Record;
use costate_identify::problem::{Experiment, Integrator, Problem};
use costate_identify::registry::{Registry, Scenario};
use costate_identify::{Error, Result};
use costate_parts::assembly::{Assembly, Connection, Element};
use costate_parts::planar::Mechanism;
use std::sync::Arc;

/// Two arms. Coordinates: both angles. Parameters: those of [`PHYSICAL`], then those of [`REFINEMENTS`].
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

/// Refinements that the equations above leave out: names, units and sizes that matter. All are zero and fixed unless asked for.
///
/// Errors of the sensors' zeros (added to the angles that are seen), dry friction at the ground and between the arms, and air
/// resistance of the second arm, a torque of `drag2` times its rate. The sign of a rate ω is smoothed as ω/√(ω² + ω_s²)
/// with ω_s = [`SMOOTHING`].
pub const REFINEMENTS: [(&str, &str, f64); 5] = [
    ("offset1", "rad", 1e-2),
    ("offset2", "rad", 1e-2),
    ("dry1", "N m", 1e-4),
    ("dry2", "N m", 1e-4),
    ("drag2", "N m s/rad", 1e-4),
];

/// Rate at which dry friction reaches 71 % of its size, rad/s: a hundredth of the rates of the record.
pub const SMOOTHING: f64 = 0.1;

impl Element for Arms {
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let [m1, m2, a1, a2, l1, i1, i2] = unpack(&u[..7]);
        m[(0, 0)] = i1 + m1 * a1 * a1 + m2 * l1 * l1;
        m[(0, 1)] = m2 * l1 * a2 * (q[0] - q[1]).cos();
        m[(1, 0)] = m[(0, 1)];
        m[(1, 1)] = i2 + m2 * a2 * a2;
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let [m1, m2, a1, a2, l1, _, _, k1, k2, g, _, _, dry1, dry2, drag2] = unpack(u);
        let coupling = m2 * l1 * a2 * (q[0] - q[1]).sin();
        let smoothed = |rate: D| (rate * rate + SMOOTHING * SMOOTHING).sqrt();
        let friction = |viscous: D, dry: D, rate: D| (viscous + dry / smoothed(rate)) * rate;
        let elbow = friction(k2, dry2, v[1] - v[0]);
        force[0] = (m1 * a1 + m2 * l1) * g * q[0].sin() - coupling * v[1] * v[1] - friction(k1, dry1, v[0]) + elbow;
        force[1] = m2 * a2 * g * q[1].sin() + coupling * v[0] * v[0] - elbow - drag2 * v[1];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = x.q[0] + u[10];
        y[1] = x.q[1] + u[11];
    }
}

/// The pendulum with one swing for each of `starts`: both angles (rad) and both rates (rad/s) at time 0, nominal values of the
/// parameters `theta1_K`, `theta2_K`, `omega1_K`, `omega2_K`, K from 0. Outputs: `swingK.theta1`, `swingK.theta2`. Of one swing alone,
/// `theta1` and so on, and `arms.theta1`, `arms.theta2`.
///
/// # Errors
/// None for finite starts.
pub fn double_pendulum(starts: &[[f64; 4]]) -> costate::Result<Assembly> {
    let mut mechanism = Mechanism::new("double_pendulum");
    let physical = PHYSICAL.map(|(name, unit, nominal, fixed)| {
        let parameter = Parameter::new(name, unit, nominal).non_negative();
        mechanism.parameter(if fixed { parameter.fixed() } else { parameter })
    });
    let refinements = REFINEMENTS.map(|(name, unit, size)| {
        let parameter = Parameter::new(name, unit, 0.0).size(size).fixed();
        mechanism.parameter(if unit == "rad" { parameter } else { parameter.non_negative() })
    });
    let assembler = mechanism.assembler();
    for (swing, start) in starts.iter().enumerate() {
        let own = |name: &str| if starts.len() == 1 { name.to_string() } else { format!("{name}_{swing}") };
        // an angle that is off by 0.1 rad, or a rate by 1 rad/s, matters, whatever the value is
        let kinds =
            [("theta1", "rad", 0.1), ("theta2", "rad", 0.1), ("omega1", "rad/s", 1.0), ("omega2", "rad/s", 1.0)];
        let mut nominal = start.iter();
        let initial: [Value; 4] = kinds.map(|(name, unit, size)| {
            let value = nominal.next().copied().unwrap_or(0.0);
            assembler.parameter(Parameter::new(own(name), unit, value).size(size))
        });
        let [theta1, theta2, omega1, omega2] = initial;
        let first = assembler.coordinate(own("theta1"), "rad", theta1, omega1);
        let second = assembler.coordinate(own("theta2"), "rad", theta2, omega2);
        let connection = Connection::to([first, second]).parameters(physical).parameters(refinements);
        let outputs = [("theta1", "rad"), ("theta2", "rad")];
        let name = if starts.len() == 1 { "arms".to_string() } else { format!("swing{swing}") };
        assembler.element(&name, Arms, connection.outputs(outputs));
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

/// One segment of a record.
struct Segment {
    /// Times from its start, s.
    times: Vec<f64>,
    /// Both angles over time, rad.
    angles: [Vec<f64>; 2],
    /// Angles and rates of its first sample.
    start: [f64; 4],
}

/// The segments of a record with the columns `segment`, `t`, `theta1`, `theta2`, `omega1`, `omega2`: rows of one number that follow
/// each other are a segment.
fn segments(record: &Record) -> Result<Vec<Segment>> {
    let [number, t, theta1, theta2, omega1, omega2] =
        ["segment", "t", "theta1", "theta2", "omega1", "omega2"].map(|name| record.column(name));
    let (number, t, theta1, theta2, omega1, omega2) = (number?, t?, theta1?, theta2?, omega1?, omega2?);
    let mut segments = Vec::new();
    let mut first = 0;
    for rows in number.chunk_by(|a, b| a == b) {
        let rows = first..first + rows.len();
        first = rows.end;
        segments.push(Segment {
            times: t[rows.clone()].iter().map(|time| time - t[rows.start]).collect(),
            angles: [theta1, theta2].map(|angle| angle[rows.clone()].to_vec()),
            start: [theta1, theta2, omega1, omega2].map(|column| column[rows.start]),
        });
    }
    Ok(segments)
}

/// The initial state of a swing, by its parameters.
const LOCAL: [&str; 4] = ["theta1", "theta2", "omega1", "omega2"];

/// The problem of fitting the first `count` segments of a record (columns `segment`, `t`, `theta1`, `theta2`, `omega1`, `omega2`)
/// up to `end` (s) of each, by `substeps` steps between two samples of the angles. Every segment is an experiment with an unknown initial
/// state, which starts from its first row; the physical parameters start from `physical`.
///
/// # Errors
/// Missing columns, and segments that are sampled unevenly or have fewer than two samples.
pub fn measured(record: &Record, count: usize, end: f64, substeps: usize, physical: [f64; 10]) -> Result<Problem> {
    let system: Arc<dyn System> = Arc::new(double_pendulum(&[[0.0; 4]])?);
    let mut problem: Option<Problem> = None;
    let segments = segments(record)?;
    for (number, segment) in segments.iter().take(count).enumerate() {
        let experiment = segment.experiment(number, end, substeps, &system)?;
        problem = Some(match problem {
            Some(problem) => problem.with_experiment(experiment, &LOCAL)?,
            None => {
                let Experiment { name, simulation, cost, .. } = experiment;
                let mut first = Problem::new("double_pendulum", simulation, cost);
                first.experiments[0].name = name;
                first
            }
        });
    }
    let Some(mut problem) = problem else {
        return Err(Error::invalid("the record of the double pendulum", "there is no segment", "take at least one"));
    };
    problem.start[..10].copy_from_slice(&physical);
    for (segment, experiment) in segments.iter().zip(&problem.experiments) {
        for (name, value) in LOCAL.iter().zip(segment.start) {
            let place = experiment.places[system.signature().parameter_index(name)?];
            (problem.start[place], problem.parameters[place].nominal) = (value, value);
        }
    }
    Ok(problem)
}

impl Segment {
    /// Up to a time, compared with its angles.
    fn experiment(&self, number: usize, end: f64, substeps: usize, system: &Arc<dyn System>) -> Result<Experiment> {
        let times: Vec<f64> = self.times.iter().copied().take_while(|t| *t <= end + 1e-9).collect();
        let subject = format!("segment {number} of the double pendulum's record");
        let [_, .., last] = times[..] else {
            return Err(Error::invalid(subject, "there are fewer than two samples", "take a later end"));
        };
        let step = last / (times.len() - 1) as f64;
        if let Some(i) = (0..times.len()).find(|&i| (times[i] - i as f64 * step).abs() > 0.01 * step) {
            let problem = format!("sample {i} is at {} s and not at a multiple of {step} s", times[i]);
            return Err(Error::invalid(subject, problem, "resample it evenly"));
        }
        let references = self.angles.iter().enumerate().map(|(output, values)| Reference {
            output,
            values: values[..times.len()].to_vec(),
            deviation: 1.0,
        });
        let cost = LeastSquares::new(&times, references.collect(), substeps, Quadrature::Unit)?;
        let grid = TimeGrid::steps(0.0, step / substeps as f64, (times.len() - 1) * substeps)?;
        let simulation = Simulation::new(system.clone(), Hht::new(0.0)?, grid, Vec::new())?;
        Ok(Experiment::new(format!("segment{number}"), simulation, Box::new(cost)))
    }
}

pub(crate) fn register(registry: Registry) -> Result<Registry> {
    let scenario = Scenario {
        step: 2e-3,
        integrator: Integrator::hht(0.0),
        start: named([
            ("a1", 0.12),
            ("L1", 0.19),
            ("I1", 6e-4),
            ("I2", 1.1e-3),
            ("k1", 1e-4),
            ("k2", 4e-5),
            ("theta1", 2.65),
            ("omega2", -1.2),
        ]),
        outputs: vec!["arms.theta1".into(), "arms.theta2".into()],
        ..Scenario::default()
    };
    registry.with_system(
        "double pendulum with friction in its joints: ten parameters, of which a swing determines six combinations",
        Arc::new(double_pendulum(&[[2.6, 3.5, 7.8, -1.4]])?),
        scenario,
    )
}
