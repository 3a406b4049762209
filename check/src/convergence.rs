//! How results converge over the time step: runs at h, h/2, h/4 .., errors beside Richardson's limit, observed orders, and the digits that
//! the runs bear out.
//!
//! ```
//! # use costate_check::Convergence;
//! # use costate::{Matrix, Model, Number, Parameter, Plain, Signature, Simulation, TimeGrid};
//! # use costate::scheme::Hht;
//! # use std::sync::Arc;
//! # struct Oscillator;
//! # impl Model for Oscillator {
//! #     fn signature(&self) -> Signature {
//! #         Signature::new("oscillator").coordinates([("x", "m")]).parameters([Parameter::new("c", "N/m", 4.0)])
//! #     }
//! #     fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
//! #         q[0] = D::from(1.0);
//! #     }
//! #     fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
//! #         m[(0, 0)] = D::from(1.0);
//! #     }
//! #     fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
//! #         force[0] = -u[0] * q[0];
//! #     }
//! # }
//! # fn main() -> costate::Result<()> {
//! // m x'' = -4 x from x = 1 at rest: cos 2t
//! let grid = TimeGrid::uniform(0.0, 1.0, 0.02)?;
//! let simulation = Simulation::new(Arc::new(Plain::new(Oscillator)?), Hht::new(0.0)?, grid, vec![])?;
//! let found = Convergence::of_simulation(&simulation, &[4.0], 5, &mut |_| {})?;
//! let x = &found.series[0];
//! assert!(x.digits() >= 10 && (x.limit() - 2f64.cos()).abs() < x.error());
//! # Ok(())
//! # }
//! ```

use super::extrapolation::Extrapolation;
use crate::failure_in_short;
use costate::{Error, Result, Simulation, Trajectory};
use std::time::Instant;

/// Halvings beyond which a slip is likelier than patience.
const MOST_HALVINGS: usize = 20;

/// Runs with one size of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Number of parts into which each of the steps as given is divided.
    pub parts: usize,
    /// The first step, s.
    pub step: f64,
    /// Steps of all runs.
    pub steps: usize,
    /// Measured time of the runs, s.
    pub seconds: f64,
    /// The reason why there is no result, if there is none.
    pub failure: Option<String>,
}

/// A coordinate, an output or a cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name of the coordinate, output or cost.
    pub name: String,
    /// Unit of the values; empty for a cost.
    pub unit: String,
    /// Largest magnitude over all times, in the limit.
    pub size: f64,
    /// Deviation by which residuals of a compared output are divided.
    pub deviation: Option<f64>,
    /// Extrapolation of its values at the common times, those of the steps as given.
    pub extrapolation: Extrapolation,
    /// Errors at the last time beside the limit, one a level that went through.
    pub at_end: Vec<f64>,
    /// Largest errors over the common times, one a level that went through.
    pub largest: Vec<f64>,
}

/// Errors of runs with steps that are halved again and again, beside the limit of vanishing steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Convergence {
    /// The runs, those with the largest steps first; the first ones may have failed.
    pub levels: Vec<Level>,
    /// Coordinates and then outputs; of a problem, compared outputs and costs.
    pub series: Vec<Series>,
    /// Times at which runs are compared.
    pub times: usize,
    /// The last of these times, s.
    pub end: f64,
}

impl Series {
    fn new((name, unit, deviation): Named, levels: &[Vec<f64>], steps: usize) -> Self {
        // round-off of steps adds up like steps of a random walk
        let extrapolation = Extrapolation::of(levels, 2.0 * f64::EPSILON * (steps as f64).sqrt());
        let limit = &extrapolation.limit;
        let off =
            |values: &Vec<f64>| -> Vec<f64> { values.iter().zip(limit).map(|(x, limit)| (x - limit).abs()).collect() };
        let at_end = levels.iter().map(|values| off(values).last().copied().unwrap_or(0.0)).collect();
        let largest = levels.iter().map(|values| off(values).into_iter().fold(0.0, f64::max)).collect();
        let size = limit.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        Series { name, unit, size, deviation, extrapolation, at_end, largest }
    }

    /// The limit at the last time.
    pub fn limit(&self) -> f64 {
        self.extrapolation.limit.last().copied().unwrap_or(0.0)
    }

    /// Estimated bound of the error of the limit at the last time; infinite where that is not known.
    pub fn error(&self) -> f64 {
        self.extrapolation.error.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Digits of the limit at the last time that the runs bear out.
    pub fn digits(&self) -> usize {
        self.extrapolation.digits(self.extrapolation.limit.len().saturating_sub(1))
    }
}

/// Name, unit and deviation.
pub type Named = (String, String, Option<f64>);

/// Values of runs with one size of steps: over the common times, a list each.
pub type Values = Vec<Vec<f64>>;

impl Convergence {
    /// Convergence of coordinates and outputs of a simulation at `u`, at its times, with its steps and these halved `halvings` times;
    /// `done` is called with the number of levels that are finished. Largest steps that fail are left out.
    ///
    /// # Errors
    /// Fewer than two runs that go through, or coordinates that stay at zero.
    pub fn of_simulation(
        simulation: &Simulation,
        u: &[f64],
        halvings: usize,
        done: &mut dyn FnMut(usize),
    ) -> Result<Self> {
        let signature = simulation.signature();
        let run = |parts: usize| {
            let finer = simulation.on(simulation.grid().divided(parts)?, simulation.signals().to_vec())?;
            let run = finer.run(u)?;
            let first = signature.state_places().start;
            let coordinates = (0..signature.unknown_count())
                .map(|j| sampled(&run, parts, |i| if j < first { run.state(i).q[j] } else { run.state(i).v[j] }));
            let outputs = (0..signature.outputs.len()).map(|k| every(run.output(k), parts));
            Ok((coordinates.chain(outputs).collect(), finer.grid().count()))
        };
        let named = signature.unknowns().chain(&signature.outputs);
        let named = named.map(|quantity| (quantity.name.clone(), quantity.unit.clone(), None)).collect();
        let times = simulation.grid().times();
        let found = Convergence::of_runs(halvings, simulation.grid().step(1), (run, failure_in_short), named, done)?;
        let mut found = Convergence { times: times.len(), end: times[times.len() - 1], ..found };
        if found.series[..signature.unknown_count()].iter().all(|series| series.size == 0.0) {
            let problem = "all coordinates stay at zero, and errors have no size to be compared with";
            return Err(Error::invalid(signature.place(), problem, "start it elsewhere, or let forces act on it"));
        }
        // an output may be a coordinate, and have its name
        let outputs = found.series.split_off(signature.unknown_count());
        let is_new = |output: &Series| !found.series.contains(output);
        let outputs: Vec<Series> = outputs.into_iter().filter(is_new).collect();
        found.series.extend(outputs);
        Ok(found)
    }

    /// Convergence of runs that the caller makes, with a first step of `step` s: `run` gives the values and the steps of the runs with steps
    /// divided into so many parts, `failed` the words for an error of theirs that smaller steps may mend (such as [`failure_in_short`]), and `named` says what the values are. [`Convergence::times`] and [`Convergence::end`] are left to the caller.
    ///
    /// # Errors
    /// As [`Convergence::of_simulation`].
    pub fn of_runs<E: From<Error>>(
        halvings: usize,
        step: f64,
        (run, failed): (impl Fn(usize) -> Result<(Values, usize), E>, impl Fn(&E) -> Option<String>),
        named: Vec<Named>,
        done: &mut dyn FnMut(usize),
    ) -> Result<Self, E> {
        if !(1..=MOST_HALVINGS).contains(&halvings) {
            let problem = match halvings {
                0 => "one step alone shows no error".to_string(),
                _ => format!("{halvings} make {:.0e} steps of one", 2f64.powi(halvings.min(1000) as i32)),
            };
            return Err(Error::invalid("the halvings of the step", problem, "halve it 2 to 6 times").into());
        }
        let (mut levels, mut found): (Vec<Level>, Vec<Values>) = (Vec::new(), Vec::new());
        for k in 0..=halvings {
            done(k);
            let parts = 1 << k;
            let began = Instant::now();
            let outcome = run(parts);
            let seconds = began.elapsed().as_secs_f64();
            let level = Level { parts, step: step / parts as f64, steps: 0, seconds, failure: None };
            match outcome {
                Ok((values, steps)) => {
                    found.push(values);
                    levels.push(Level { steps, ..level });
                }
                // steps that are too large; where smaller ones went through, something else is wrong
                Err(error) => match failed(&error).filter(|_| found.is_empty() && k + 1 < halvings) {
                    Some(failure) => levels.push(Level { failure: Some(failure), ..level }),
                    None => return Err(error),
                },
            }
        }
        let most = levels.iter().map(|level| level.steps).max().unwrap_or(1);
        let of = |(k, named): (usize, Named)| {
            let levels: Vec<Vec<f64>> = found.iter().map(|values| values[k].clone()).collect();
            Series::new(named, &levels, most)
        };
        let series = named.into_iter().enumerate().map(of).collect();
        Ok(Convergence { levels, series, times: 0, end: 0.0 })
    }

    /// The levels that went through.
    pub fn went_through(&self) -> impl Iterator<Item = &Level> {
        self.levels.iter().filter(|level| level.failure.is_none())
    }
}

/// Every so many of the values.
fn every(values: Vec<f64>, stride: usize) -> Vec<f64> {
    values.into_iter().step_by(stride).collect()
}

fn sampled(run: &Trajectory, stride: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..run.times().len()).step_by(stride).map(value).collect()
}
