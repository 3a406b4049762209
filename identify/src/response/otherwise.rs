//! What a record of a frequency response would be if its phases or frequencies were others than they are taken for.

use super::{MeasuredLine, MeasuredResponse, ResponseResult};
use crate::optimise::{Flow, Options};
use crate::problem::Problem;
use crate::{Result, Settings, identify};
use costate::TimeGrid;
use costate::cost::LeastSquares;
use std::f64::consts::TAU;

/// What is explained to this part is what it is taken for.
const EXPLAINED: f64 = 0.95;
/// Of what one reading leaves unexplained, a better one leaves this part at most.
const BETTER: f64 = 0.3;
/// Iterations of a fit that only tells which reading is better.
const ITERATIONS: usize = 30;

/// A mistake in reading that is often made.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Phases with the opposite sign.
    is_conjugate: bool,
    /// The factor of all frequencies.
    factor: f64,
}

impl Reading {
    const ALL: [Reading; 5] = [
        Reading { is_conjugate: true, factor: 1.0 },
        Reading { is_conjugate: false, factor: 1.0 / TAU },
        Reading { is_conjugate: false, factor: TAU },
        Reading { is_conjugate: true, factor: 1.0 / TAU },
        Reading { is_conjugate: true, factor: TAU },
    ];

    fn of(self, measured: &MeasuredResponse) -> MeasuredResponse {
        let line = |line: &MeasuredLine| MeasuredLine {
            frequency: self.factor * line.frequency,
            value: if self.is_conjugate { line.value.conj() } else { line.value },
            ..*line
        };
        MeasuredResponse { lines: measured.lines.iter().map(line).collect(), ..measured.clone() }
    }

    fn in_words(self) -> String {
        let phases = "the phases fit better with the opposite sign (of e^(i ω t), an output that comes later has a negative phase: turn the sign of the phases, or of \
                      the imaginary parts, in the record)";
        let frequencies = match self.factor {
            factor if factor < 1.0 => "the frequencies fit better as rad/s (frequency_unit = \"rad/s\")",
            _ => "the frequencies fit better as Hz (frequency_unit = \"Hz\")",
        };
        match (self.is_conjugate, self.factor == 1.0) {
            (true, true) => phases.to_string(),
            (true, false) => format!("{frequencies}, and {phases}"),
            (false, _) => frequencies.to_string(),
        }
    }
}

impl ResponseResult {
    /// Sentence on which other reading of the record would be explained much better, by a fit of its own, in words; none where there is none.
    pub(crate) fn would_fit_otherwise(&self, problem: &Problem, u: &[f64]) -> Option<String> {
        let now = self.r_squared();
        // false for NaN
        let is_explained = now >= EXPLAINED;
        if is_explained {
            return None;
        }
        let has_phase = self.measured.comparison.has_phase();
        let readings = Reading::ALL.into_iter().filter(|reading| has_phase || !reading.is_conjugate);
        let found = readings.filter_map(|reading| {
            let own = reading.of(&self.measured);
            let starts = [u, &problem.start];
            let best =
                starts.into_iter().filter_map(|start| explained(problem, &own, start).ok()).fold(f64::NAN, f64::max);
            (1.0 - best < BETTER * (1.0 - now)).then_some((reading, best))
        });
        let (reading, best) = found.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        Some(format!("{}: R^2 = {best:.2} instead of {now:.2}", reading.in_words()))
    }
}

/// R² of a fit to this response alone.
fn explained(problem: &Problem, measured: &MeasuredResponse, start: &[f64]) -> Result<f64> {
    let first = problem.first();
    let times = &first.simulation.grid().times()[..2]; // a grid has a step
    let simulation = first.simulation.on(TimeGrid::through(times, 1)?, first.simulation.signals().to_vec())?;
    let mut alone = Problem::new(&problem.name, simulation, Box::new(LeastSquares::of_nothing(times)));
    for (k, &place) in first.places.iter().enumerate().take(alone.parameters.len()) {
        alone.parameters[k] = problem.parameters[place].clone();
        alone.start[k] = start[place];
    }
    let alone = alone.with_response(measured.clone())?;
    let options = Options { max_iterations: ITERATIONS, ..Options::default() };
    let found = identify(&alone, &Settings { options, ..Settings::default() }, &mut |_| Flow::Continue)?;
    let results = ResponseResult::all(&alone, &found.values())?;
    Ok(results.iter().map(ResponseResult::r_squared).fold(f64::NAN, f64::max))
}
