//! The friction of EMPS as a small neural network inside the mechanism, trained through the time integrator by the discrete adjoint, beside
//! the physical law.
//!
//! The first half of the record is fitted, with a prior on every weight; the second half is held out, and says which law holds.
//!
//! `cargo run --release --example learned_friction -- [FILE.csv [ITERATIONS]]` (columns t, qm, vir, evenly sampled; default: train.csv in
//! `$COSTATE_DATA/emps` or `../shared/data/emps`, and where neither is there, a record simulated with the physical law and noise)

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::shown::number;
use costate::{Interpolation, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid};
use costate_data::Record as Columns;
use costate_identify::Result;
use costate_identify::optimise::{Flow, Options};
use costate_identify::prior::Distribution;
use costate_identify::problem::Problem;
use costate_identify::table::table;
use costate_identify::{Settings, identify};
use costate_models::emps::{Emps, voltage};
use costate_models::network::Network;
use costate_report::plot::{Axis, Figure, Panel, Series};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the network sees: the velocity, and its sign, smoothed as in the physical law.
type Friction = Network<2, 16>;
/// M, gtau, q0, v0; weights follow.
const BEFORE: usize = 4;
/// Velocity and force of size 1 for the network, m/s and N; where the sign is smoothed, m/s.
const VELOCITY: f64 = 0.1;
const FORCE: f64 = 20.0;
const SMOOTH: f64 = 1e-3;
/// Of the positions, in m: what models of this kind leave, rather than the encoder's noise.
const DEVIATION: f64 = 1e-3;

/// EMPS whose friction, offset included, is a network: M q'' = gtau vir - F(q').
#[derive(Clone, Copy)]
struct LearnedFriction;

/// F(v), N.
fn friction<D: Number>(v: D, weights: &[D]) -> D {
    let sign = v / (v * v + SMOOTH * SMOOTH).sqrt();
    Friction::evaluate(&[v / VELOCITY, sign], weights) * FORCE
}

impl Model for LearnedFriction {
    fn signature(&self) -> Signature {
        let weights = Friction::start().into_iter().enumerate();
        let weights = weights.map(|(k, weight)| Parameter::new(format!("w{k}"), "", weight).size(0.3));
        Signature::new("EMPS with a learned friction")
            .coordinates([("q", "m")])
            .inputs([("vir", "V")])
            .outputs([("qm", "m")])
            .parameters([
                Parameter::new("M", "kg", 95.109).bounds(1e-3, f64::INFINITY),
                Parameter::new("gtau", "N/V", 35.15065188).fixed(),
                Parameter::new("q0", "m", 0.0).size(1e-3).fixed(),
                Parameter::new("v0", "m/s", 0.0).size(1e-2).fixed(),
            ])
            .parameters(weights)
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], v[0]) = (u[2], u[3]);
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[1] * w[0] - friction(v[0], &u[BEFORE..]);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

/// A record, with an even step.
#[derive(Clone)]
struct Record {
    step: f64,
    /// Position and velocity at its beginning.
    start: [f64; 2],
    position: Vec<f64>,
    voltage: Vec<f64>,
}

impl Record {
    fn read(file: &Path) -> Result<Self> {
        let data = Columns::read(file)?;
        let (t, position, voltage) = (data.column("t")?, data.column("qm")?, data.column("vir")?);
        let step = (t[t.len() - 1] - t[0]) / (t.len() - 1) as f64;
        Ok(Record { step, start: [position[0], 0.0], position: position.to_vec(), voltage: voltage.to_vec() })
    }

    /// The physical law with asymmetric friction, and noise of 0.1 mm without a pattern.
    fn simulated() -> Result<Self> {
        let grid = TimeGrid::steps(0.0, 1e-3, 16_000)?;
        let voltage: Vec<f64> = grid.times().iter().map(|t| voltage(*t)).collect();
        let simulation =
            Simulation::new(Arc::new(Plain::new(Emps)?), Hht::new(0.0)?, grid, vec![Signal::function(self::voltage)])?;
        let u = simulation.system().parameters_with(&[("dFv".to_string(), -37.0)])?;
        let mut position = simulation.run(&u)?.output(0);
        let noise = |i: usize| 2e-4 * (((i + 1) as f64 * 0.754_877_666).fract() - 0.5) * 1.7;
        position.iter_mut().enumerate().for_each(|(i, q)| *q += noise(i));
        Ok(Record { step: 1e-3, start: [0.0; 2], position, voltage })
    }

    /// Some of its samples. It begins at rest, other parts with position and velocity of a line through 10 ms on both sides.
    fn part(&self, samples: std::ops::Range<usize>) -> Self {
        let of = |values: &[f64]| values[samples.clone()].to_vec();
        let around = (0.01 / self.step).round() as usize;
        let start = match samples.start.checked_sub(around) {
            None => self.start,
            Some(first) => {
                let window = &self.position[first..=samples.start + around];
                let offset = |i: usize| i as f64 - around as f64;
                let rise: f64 = window.iter().enumerate().map(|(i, q)| offset(i) * q).sum();
                let squares: f64 = (0..window.len()).map(|i| offset(i) * offset(i)).sum();
                [window.iter().sum::<f64>() / window.len() as f64, rise / squares / self.step]
            }
        };
        Record { step: self.step, start, position: of(&self.position), voltage: of(&self.voltage) }
    }

    fn problem(&self, model: impl Model + 'static) -> Result<Problem> {
        let grid = TimeGrid::steps(0.0, self.step, self.position.len() - 1)?;
        let voltage = Signal::sampled_evenly(0.0, self.step, &self.voltage, Interpolation::Linear)?;
        let simulation = Simulation::new(Arc::new(Plain::new(model)?), Hht::new(0.0)?, grid, vec![voltage])?;
        let reference = Reference { output: 0, values: self.position.clone(), deviation: DEVIATION };
        let cost = LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Unit)?;
        let mut problem = Problem::new("emps", simulation, Box::new(cost));
        for (name, value) in [("q0", self.start[0]), ("v0", self.start[1])] {
            let place = problem.first().simulation.signature().parameter_index(name)?;
            (problem.start[place], problem.parameters[place].free) = (value, false);
        }
        Ok(problem)
    }

    /// Root of the mean square of a model's errors, mm. Positions and velocities begin as this record does.
    fn error(&self, model: impl Model + 'static, u: &[f64]) -> Result<f64> {
        let problem = self.problem(model)?;
        let mut own = u.to_vec();
        for name in ["q0", "v0"] {
            let place = problem.first().simulation.signature().parameter_index(name)?;
            own[place] = problem.start[place];
        }
        let shown = problem.first().simulation.run(&own)?.output(0);
        let squares: f64 = shown.iter().zip(&self.position).map(|(y, q)| (y - q) * (y - q)).sum();
        Ok(1e3 * (squares / shown.len() as f64).sqrt())
    }
}

/// A fit of the physical law, symmetric or not.
fn physical(record: &Record, is_symmetric: bool) -> Result<Vec<f64>> {
    let mut problem = record.problem(Emps)?;
    let place = problem.first().simulation.signature().parameter_index("dFv")?;
    problem.parameters[place].free = !is_symmetric;
    Ok(identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?.values())
}

/// A fit of the network. Its weights begin small, and stay so where the record does not ask for more.
fn learned(record: &Record, iterations: usize) -> Result<(Vec<f64>, String)> {
    let mut problem = record.problem(LearnedFriction)?;
    for k in 0..Friction::WEIGHTS {
        problem = problem.with_prior(&format!("w{k}"), Distribution::Normal { mean: 0.0, deviation: 1.0 })?;
    }
    let options = Options { max_iterations: iterations, ..Options::default() };
    let found = identify(&problem, &Settings { options, ..Settings::default() }, &mut |_| Flow::Continue)?;
    let message = format!(
        "{} weights and the mass, {} iterations, {} simulations, {:.0} s: {}",
        Friction::WEIGHTS,
        found.outcome.iterations,
        found.outcome.evaluations,
        found.seconds,
        found.reason()
    );
    Ok((found.values(), message))
}

/// The physical friction with its offset, N.
fn physical_friction(v: f64, u: &[f64]) -> f64 {
    let (fv, d_fv, fc, d_fc, offset, v_s) = (u[1], u[2], u[3], u[4], u[5], u[7]);
    let sign = v / v.hypot(v_s);
    (fv + d_fv * sign) * v + (fc + d_fc * sign) * sign + offset
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().map(PathBuf::from).unwrap_or_else(|| {
        let data = std::env::var_os("COSTATE_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
        data.join("emps/train.csv")
    });
    let iterations = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(300);
    let record = if file.exists() {
        println!("record: {}", file.display());
        Record::read(&file)?
    } else {
        println!("{} is not there: a record simulated with the physical law is taken", file.display());
        Record::simulated()?
    };
    let half = record.position.len() / 2;
    let (fitted, held_out) = (record.part(0..half), record.part(half..record.position.len()));

    let (symmetric, asymmetric) = (physical(&fitted, true)?, physical(&fitted, false)?);
    let (network, message) = learned(&fitted, iterations)?;
    println!("{message}\n");
    let mut rows = Vec::new();
    for (name, u) in [("physical, symmetric", &symmetric), ("physical, asymmetric", &asymmetric)] {
        rows.push((name, [fitted.error(Emps, u)?, held_out.error(Emps, u)?], u[0]));
    }
    let errors = [fitted.error(LearnedFriction, &network)?, held_out.error(LearnedFriction, &network)?];
    rows.push(("learned", errors, network[0]));
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, [own, other], mass)| vec![name.to_string(), number(own), number(other), number(mass)])
        .collect();
    println!("{}", table(&["friction", "RMSE fitted [mm]", "RMSE held out [mm]", "M [kg]"], &rows));

    let v: Vec<f64> = (-150..=150).map(|k| 1e-3 * f64::from(k)).collect();
    let of = |law: &dyn Fn(f64) -> f64| v.iter().map(|v| law(*v)).collect::<Vec<f64>>();
    let panel = Panel::new(Axis::linear("velocity [m/s]"), Axis::linear("friction [N]"))
        .series(Series::line(&v, &of(&|v| physical_friction(v, &symmetric))).label("symmetric"))
        .series(Series::line(&v, &of(&|v| physical_friction(v, &asymmetric))).label("asymmetric"))
        .series(Series::line(&v, &of(&|v| friction(v, &network[BEFORE..]))).label("learned"));
    Figure::column().panel(panel).write_svg("plots/learned_friction.svg")?;
    println!("written to plots/learned_friction.svg");
    Ok(())
}
