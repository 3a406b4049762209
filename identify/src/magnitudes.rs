//! Check that squares of residuals neither vanish nor overflow.

use crate::problem::{Experiment, Problem};
use crate::{Error, Result};
use costate::cost::{LeastSquares, Reference};
use costate::shown::rounded;

/// Half the sum of the data's own squares, in deviations: where it is less, residuals that are a small part of the data have squares that are lost.
const LEAST: f64 = 1e-250;
/// Most of that half sum: where it is more, squares of residuals that are a multiple of the data may overflow.
const MOST: f64 = 1e280;

/// Refuses costs whose squares would vanish or overflow: a search would take data that nothing meets for data that are met to round-off.
///
/// # Errors
/// [`costate::Error::Invalid`] that names the output which is farthest off.
pub(crate) fn validate(problem: &Problem) -> Result<()> {
    let Some(costs) = problem.least_squares() else { return Ok(()) };
    let scale = costs.iter().map(|cost| LeastSquares::scale(cost)).sum::<f64>();
    let worst = problem.experiments.iter().zip(&costs).flat_map(|(own, cost)| largest(problem, own, cost));
    let Some(worst) = worst.max_by(|a, b| a.size().total_cmp(&b.size())).filter(|worst| worst.size() > 0.0) else {
        return Ok(());
    };
    if (LEAST..=MOST).contains(&scale) || worst.size().is_nan() {
        return Ok(());
    }
    let (what, remedy) = if scale < LEAST { ("vanish", "smaller") } else { ("overflow", "larger") };
    let Largest { name, unit, value, deviation } = worst;
    Err(Error::invalid(
        format!("the deviation of `{name}`"),
        format!(
            "it is {} {unit}, beside values up to {} {unit}: squares of residuals over it {what}, as numbers between 1e-308 and 1e308 are all there is",
            rounded(deviation, 4),
            rounded(value, 4)
        ),
        format!("give a {remedy} one, as large as the noise (deviation = ..), or other units (scale = ..)"),
    ))
}

/// The largest value of a record.
struct Largest {
    name: String,
    unit: String,
    value: f64,
    deviation: f64,
}

impl Largest {
    /// Size in deviations.
    fn size(&self) -> f64 {
        self.value / self.deviation
    }
}

fn largest(problem: &Problem, experiment: &Experiment, cost: &LeastSquares) -> Vec<Largest> {
    let of = |reference: &Reference| {
        let quantity = cost.quantity(reference, experiment.simulation.signature());
        let value = cost.samples(reference).map(|i| reference.values[i].abs()).fold(0.0, f64::max);
        let name = problem.name_in(experiment, &quantity.name);
        Largest { name, unit: quantity.unit, value, deviation: reference.deviation }
    };
    cost.references().iter().map(of).collect()
}
