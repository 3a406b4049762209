//! Replay of a solution with its signals at half the step: is it one of the equations of motion, and not of the time grid?

use super::{Control, Shape};
use crate::Result;
use costate::{Simulation, Trajectory, jumps};

/// Shift of an output when steps are halved.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Shift {
    /// The output.
    pub output: String,
    /// Unit of the output.
    pub unit: String,
    /// Values at the end with the steps of the solution, and with half of them.
    pub end: [f64; 2],
    /// The largest change over time.
    pub largest: f64,
    /// Range of the output over time, the largest less the smallest value.
    pub range: f64,
}

/// A solution run once more at half the step.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Replay {
    /// The cost with the steps of the solution, and with half of them: of goals in the sums over the same times, of others in their own.
    pub cost: [f64; 2],
    /// One an output that has a goal, unless it moves by round-off alone; where there is another cost than goals, one an output that moves.
    pub shifts: Vec<Shift>,
    /// The largest change over time beside the range, over these outputs.
    pub largest: f64,
}

/// An output without a goal that moves by less of its size does not count.
const STILL: f64 = 1e-6;
/// What moves by less, beside the largest output in its unit, moves by round-off.
const NOTHING: f64 = 1e-12;

impl Replay {
    /// True if no output moves by more than this part of its range.
    pub fn survives(&self, tolerance: f64) -> bool {
        // false for NaN
        self.largest <= tolerance
    }
}

impl Control {
    /// The simulation with the signals of a solution, every step divided into `parts`.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn simulation_of(&self, unknowns: &[f64], parts: usize) -> Result<Simulation> {
        let grid = self.simulation.grid().divided(parts)?;
        Ok(self.simulation.on(grid, self.signals_of(unknowns)?)?)
    }

    /// Jumps that the motion with a solution goes through, which no derivative knows of, in a sentence.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn told_of_jumps(&self, unknowns: &[f64]) -> Result<Option<String>> {
        let (u, _) = self.expand(unknowns);
        // signals of steps jump at given times, as what follows them does
        let inputs_move = self.signals().all(|signal| signal.shape != Shape::Constant);
        let simulation = self.simulation_of(unknowns, 1)?;
        let found = jumps::jumps_with((&simulation, Some(&self.cost)), &u, inputs_move)?;
        Ok(jumps::in_a_sentence(&found))
    }

    /// Runs a solution again at half the step.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn replay(&self, unknowns: &[f64]) -> Result<Replay> {
        let (u, _) = self.expand(unknowns);
        let simulations = [self.simulation_of(unknowns, 1)?, self.simulation_of(unknowns, 2)?];
        let (given, fine) = (simulations[0].run(&u)?, simulations[1].run(&u)?);
        let mut shifts = Vec::new();
        let mut cost = [0.0; 2];
        if let Some(goals) = &self.cost.goals {
            let times = given.times();
            cost = [goals.cost_of(times, &|k| given.output(k)), goals.cost_of(times, &|k| every_other(&fine, k))];
        }
        for (_, other) in &self.cost.others {
            for (cost, simulation) in cost.iter_mut().zip(&simulations) {
                *cost += costate::sensitivity::Gradient::new(simulation, &**other)?.cost(&u)?;
            }
        }
        let are_all_seen = !self.cost.others.is_empty() || self.information.is_some();
        let goals = || self.cost.goals.iter().flat_map(|goals| goals.goals());
        let outputs = &self.simulation.signature().outputs;
        let size_of = |k: usize| given.output(k).iter().fold(0.0f64, |size, y| size.max(y.abs()));
        let sizes: Vec<f64> = (0..outputs.len()).map(size_of).collect();
        for (k, output) in outputs.iter().enumerate() {
            let has_goal = goals().any(|goal| goal.output == output.name);
            if !has_goal && !are_all_seen {
                continue;
            }
            let (y, finer) = (given.output(k), every_other(&fine, k));
            let largest = y.iter().zip(&finer).fold(0.0f64, |largest, (a, b)| largest.max((a - b).abs()));
            let top = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let range = top - y.iter().copied().fold(f64::INFINITY, f64::min);
            let alike = outputs.iter().zip(&sizes).filter(|(other, _)| other.unit == output.unit);
            let scale = alike.fold(0.0f64, |most, (_, size)| most.max(*size));
            let is_round_off = range.max(largest) <= NOTHING * scale;
            if is_round_off || !has_goal && range <= STILL * sizes[k] {
                continue;
            }
            let end = [y[y.len() - 1], finer[finer.len() - 1]];
            let (name, unit) = (output.name.clone(), output.unit.clone());
            shifts.push(Shift { output: name, unit, end, largest, range });
        }
        let relative = |shift: &Shift| match shift.largest {
            0.0 => 0.0,
            largest => largest / shift.range,
        };
        let largest = shifts.iter().map(relative).fold(0.0, worse);
        Ok(Replay { cost, shifts, largest })
    }
}

/// The larger of two; NaN is worse than anything.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

fn every_other(run: &Trajectory, output: usize) -> Vec<f64> {
    run.output(output).into_iter().step_by(2).collect()
}
