//! Errors that the size of the time steps makes, from the same run with every step divided in two: with errors of second order, the
//! difference is three quarters of the error.

use crate::signature::{Quantity, Signature};
use crate::simulate::{Simulation, Trajectory};
use crate::{Error, Result};

/// Error of a run beside the difference to one with steps half as long: 1 / (1 - 1/4).
const OF_SECOND_ORDER: f64 = 4.0 / 3.0;
/// Part of the largest value of all below which values are round-off.
pub(crate) const ROUND_OFF: f64 = 1e-12;
/// Times of a run that are compared, about.
const COMPARED: usize = 4096;

/// Estimated error of one coordinate, state or output over a run.
#[derive(Debug, Clone, PartialEq)]
pub struct StepError {
    /// Name and unit of the coordinate, state or output.
    pub quantity: Quantity,
    /// The largest error, in its unit.
    pub error: f64,
    /// Time of the largest error, s.
    pub time: f64,
    /// The largest value of all that have its unit, in it.
    pub size: f64,
    /// Errors at the compared times, in its unit.
    pub over_time: Vec<f64>,
}

impl StepError {
    /// The largest error beside the largest value; 0 where both are.
    pub fn relative(&self) -> f64 {
        if self.error == 0.0 { 0.0 } else { self.error / self.size }
    }
}

/// The errors of a run's coordinates, states and outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct StepErrors {
    /// Times that are compared, s: of a long run, every so many.
    pub times: Vec<f64>,
    /// Coordinates, then states, in the signature's order.
    pub coordinates: Vec<StepError>,
    /// Errors of the outputs, in the signature's order.
    pub outputs: Vec<StepError>,
}

/// Coordinates and outputs of a run at the compared times, one time after another.
#[derive(Default)]
struct Seen {
    q: Vec<f64>,
    y: Vec<f64>,
}

impl StepErrors {
    /// Errors of a run by `simulation` at parameters `u`: takes it, and one with steps half as long, and keeps neither.
    ///
    /// # Errors
    /// If one of the runs fails.
    pub fn of(simulation: &Simulation, u: &[f64]) -> Result<Self> {
        let stride = stride(simulation);
        StepErrors::beside(simulation, u, &seen(simulation, u, stride)?, stride)
    }

    /// Errors as of [`StepErrors::of`], of a run that there is already.
    ///
    /// # Errors
    /// If the run with steps half as long fails.
    pub fn of_run(simulation: &Simulation, u: &[f64], run: &Trajectory) -> Result<Self> {
        let (mut seen, stride) = (Seen::default(), stride(simulation));
        for i in (0..run.times().len()).filter(|i| is_compared(*i, stride, simulation)) {
            let x = run.state(i);
            seen.q.extend(own(x.q, x.v, simulation));
            seen.y.extend(run.outputs_at(i));
        }
        StepErrors::beside(simulation, u, &seen, stride)
    }

    fn beside(simulation: &Simulation, u: &[f64], coarse: &Seen, stride: usize) -> Result<Self> {
        let finer = simulation.divided(2, simulation.signals().to_vec())?;
        let finer = seen(&finer, u, 2 * stride)?;
        let grid = simulation.grid();
        let compared = (0..=grid.count()).filter(|i| is_compared(*i, stride, simulation));
        let times: Vec<f64> = compared.map(|i| grid.time(i)).collect();
        let signature = simulation.signature();
        let Signature { outputs, .. } = signature;
        let unknowns: Vec<Quantity> = signature.unknowns().cloned().collect();
        let coordinates = errors(&unknowns, &times, &coarse.q, &finer.q);
        let outputs = errors(outputs, &times, &coarse.y, &finer.y);
        Ok(StepErrors { times, coordinates, outputs })
    }

    /// The worst beside its size, but for those that are round-off beside the others: coordinates out of a plane, an energy of nothing.
    pub fn worst(of: &[StepError]) -> Option<&StepError> {
        StepErrors::worst_beside(of, of)
    }

    /// The worst output beside its size; outputs that are round-off beside coordinates, too, are left out: accelerations at rest.
    pub fn worst_output(&self) -> Option<&StepError> {
        StepErrors::worst_beside(&self.outputs, self.coordinates.iter().chain(&self.outputs))
    }

    /// The worst output among those that are larger than their errors: that of one that is about zero hides it.
    pub fn worst_output_of_some_size(&self) -> Option<&StepError> {
        let sized = self.outputs.iter().filter(|error| error.relative() <= 1.0);
        sized.max_by(|a, b| a.relative().total_cmp(&b.relative())).filter(|error| error.relative() > 0.0)
    }

    fn worst_beside<'e>(of: &'e [StepError], all: impl IntoIterator<Item = &'e StepError>) -> Option<&'e StepError> {
        let floor = ROUND_OFF * all.into_iter().fold(0.0f64, |largest, error| largest.max(error.size));
        let significant = of.iter().filter(|error| error.size.max(error.error) > floor);
        significant.max_by(|a, b| a.relative().total_cmp(&b.relative()))
    }
}

/// Positions, then states.
fn own<'x>(q: &'x [f64], v: &'x [f64], simulation: &Simulation) -> impl Iterator<Item = &'x f64> {
    let first = simulation.signature().state_places().start;
    q[..first].iter().chain(&v[first..])
}

fn stride(simulation: &Simulation) -> usize {
    simulation.grid().count().div_ceil(COMPARED).max(1)
}

fn is_compared(i: usize, stride: usize, simulation: &Simulation) -> bool {
    i.is_multiple_of(stride) || i == simulation.grid().count()
}

fn seen(simulation: &Simulation, u: &[f64], stride: usize) -> Result<Seen> {
    let mut seen = Seen::default();
    simulation.watch::<Error>(u, &mut |i, x, y| {
        if is_compared(i, stride, simulation) {
            seen.q.extend(own(x.q, x.v, simulation));
            seen.y.extend(y);
        }
        Ok(())
    })?;
    Ok(seen)
}

/// Errors of values one time after another, those of the run and of the finer one.
fn errors(quantities: &[Quantity], times: &[f64], coarse: &[f64], finer: &[f64]) -> Vec<StepError> {
    let n = quantities.len();
    let of = |(k, quantity): (usize, &Quantity)| {
        let error = |i: usize| OF_SECOND_ORDER * quantity.difference(coarse[i * n + k], finer[i * n + k]).abs();
        let over_time: Vec<f64> = (0..times.len()).map(error).collect();
        let worst = (0..times.len()).max_by(|a, b| over_time[*a].total_cmp(&over_time[*b])).unwrap_or(0);
        StepError {
            quantity: quantity.clone(),
            error: over_time[worst],
            time: times[worst],
            size: (0..times.len()).map(|i| finer[i * n + k]).fold(0.0f64, |size, value| size.max(value.abs())),
            over_time,
        }
    };
    let mut errors: Vec<StepError> = quantities.iter().enumerate().map(of).collect();
    let sizes = sizes_by_unit(quantities, errors.iter().map(|error| error.size));
    errors.iter_mut().zip(sizes).for_each(|(error, size)| error.size = size);
    errors
}

/// Largest size among all quantities of the same unit, for each quantity.
pub(crate) fn sizes_by_unit<'q>(
    quantities: impl IntoIterator<Item = &'q Quantity, IntoIter: Clone>,
    sizes: impl Iterator<Item = f64>,
) -> Vec<f64> {
    let quantities = quantities.into_iter();
    let sizes: Vec<f64> = sizes.collect();
    let of = |unit: &str| {
        let same = quantities.clone().zip(&sizes).filter(|(quantity, _)| quantity.unit == unit);
        same.fold(0.0f64, |most, (_, size)| most.max(*size))
    };
    quantities.clone().map(|quantity| of(&quantity.unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(name: &str, unit: &str, (error, size): (f64, f64)) -> StepError {
        let quantity = Quantity::new(name, unit);
        StepError { quantity, error, time: 0.0, size, over_time: Vec::new() }
    }

    /// Protects from round-off that hides what is wrong: an angle that is nothing errs by all of itself.
    #[test]
    fn round_off_is_not_the_worst() {
        let all = [error("angle", "rad", (2e-17, 1e-17)), error("x", "m", (0.5, 1.0)), error("y", "m", (0.1, 1.0))];
        assert_eq!(StepErrors::worst(&all).map(|worst| worst.quantity.name.as_str()), Some("x"));
        // but an angle that should be nothing is wrong
        let torn = [error("angle", "rad", (3.0, 1e-17)), error("x", "m", (0.5, 1.0))];
        assert_eq!(StepErrors::worst(&torn).map(|worst| worst.quantity.name.as_str()), Some("angle"));
        assert_eq!(StepErrors::worst(&[]), None);
    }
}
