//! What the size of the time steps makes wrong, from the same run with every step divided in two: with errors of second order, the
//! difference is three quarters of the error.

use crate::error::Result;
use crate::signature::Quantity;
use crate::simulate::{Simulation, Trajectory};

/// Error of a run beside the difference to one with steps half as long: 1 / (1 - 1/4).
const OF_SECOND_ORDER: f64 = 4.0 / 3.0;

/// What is wrong with one coordinate or output over a run, as estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct StepError {
    /// Its name and unit.
    pub quantity: Quantity,
    /// The largest error, in its unit.
    pub error: f64,
    /// When, s.
    pub time: f64,
    /// The largest value of all that have its unit, in it.
    pub size: f64,
    /// Errors over time, in its unit.
    pub over_time: Vec<f64>,
}

impl StepError {
    /// The largest error beside the largest value; 0 where both are.
    pub fn relative(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error / self.size }
    }
}

/// The errors of a run's coordinates and outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct StepErrors {
    /// In the signature's order.
    pub coordinates: Vec<StepError>,
    /// In the signature's order.
    pub outputs: Vec<StepError>,
}

impl StepErrors {
    /// Of `run` by `simulation` at parameters `u`: takes a run with steps half as long.
    ///
    /// # Errors
    /// If that run fails, or does not fit into memory.
    pub fn of(simulation: &Simulation, u: &[f64], run: &Trajectory) -> Result<Self> {
        let finer = simulation.on(simulation.grid().divided(2)?, simulation.signals().to_vec())?.run(u)?;
        let signature = simulation.signature();
        let coordinates =
            errors(&signature.coordinates, run.times(), |k, i| (run.state(i).q[k], finer.state(2 * i).q[k]));
        let at = |k: usize, i: usize| (run.outputs_at(i)[k], finer.outputs_at(2 * i)[k]);
        Ok(StepErrors { coordinates, outputs: errors(&signature.outputs, run.times(), at) })
    }

    /// The worst beside its size.
    pub fn worst(of: &[StepError]) -> Option<&StepError> {
        of.iter().max_by(|a, b| a.relative().total_cmp(&b.relative()))
    }
}

/// `at`: a quantity's value at a time by number, and that of the finer run.
fn errors(quantities: &[Quantity], times: &[f64], at: impl Fn(usize, usize) -> (f64, f64)) -> Vec<StepError> {
    let of = |(k, quantity): (usize, &Quantity)| {
        let error = |i| {
            let (value, finer) = at(k, i);
            OF_SECOND_ORDER * quantity.difference(value, finer).abs()
        };
        let over_time: Vec<f64> = (0..times.len()).map(error).collect();
        let worst = (0..times.len()).max_by(|a, b| over_time[*a].total_cmp(&over_time[*b])).unwrap_or(0);
        let size = (0..times.len()).fold(0.0f64, |size, i| size.max(at(k, i).1.abs()));
        StepError { quantity: quantity.clone(), error: over_time[worst], time: times[worst], size, over_time }
    };
    let mut errors: Vec<StepError> = quantities.iter().enumerate().map(of).collect();
    let sizes = sizes_by_unit(quantities, errors.iter().map(|error| error.size));
    errors.iter_mut().zip(sizes).for_each(|(error, size)| error.size = size);
    errors
}

/// For each quantity, the largest size of all that have its unit.
pub(crate) fn sizes_by_unit(quantities: &[Quantity], sizes: impl Iterator<Item = f64>) -> Vec<f64> {
    let sizes: Vec<f64> = sizes.collect();
    let of = |unit: &str| {
        let same = quantities.iter().zip(&sizes).filter(|(quantity, _)| quantity.unit == unit);
        same.fold(0.0f64, |most, (_, size)| most.max(*size))
    };
    quantities.iter().map(|quantity| of(&quantity.unit)).collect()
}
