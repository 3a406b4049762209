//! Shares of the sensors: how many parameters the residuals of each determine.

use super::identifiability::{Identifiability, analysed};
use crate::constraint::held_directions;
use crate::ensemble::Member;
use crate::likelihood::UnknownDeviation;
use crate::problem::Problem;
use crate::{Error, Result};
use crate::{Identification, Status};
use costate::least_squares::{Linearised, Reduction};

/// Share of a sensor in the residuals and parameters at an optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    /// Number of samples.
    pub samples: usize,
    /// Σ (y - ȳ)², in the output's unit, of samples as they were measured: behind a filter, noise is smaller by a known factor.
    pub squares: f64,
    /// Σ sᵀ (SᵀS)⁻¹ s over the samples: how many parameters they determine. Those of all outputs and
    /// priors and modes add up to the number of determined directions.
    pub parameters: f64,
}

/// Shares of sensors, and parameters that each prior determines: 1 where the data tell nothing of its own.
pub(crate) struct Shares {
    pub sensors: Vec<Share>,
    pub priors: Vec<f64>,
}

/// Shares of each of the problem's sensors, by one run with tangents. Parameters at a bound are held, and constraints that act.
pub(crate) fn shares(problem: &Problem, found: &Identification) -> Result<Shares> {
    let u = found.values();
    let Some(costs) = problem.least_squares() else {
        let what = format!("the noise of `{}`", problem.name);
        return Err(Error::invalid(what, "its cost is no sum of squares", "compare outputs with a reference instead"));
    };
    let factors = match problem.record.as_ref().and_then(|record| record.references(problem, &u)) {
        Some(factors) => factors,
        None => problem.gradient_by_free()?.each(&u, |k, Member { gradient, u, .. }| {
            let mut own = vec![Reduction::new(u.len()); costs[k].references().len()];
            gradient.residual_rows(u, costs[k], &mut |row| own[row.reference].add(row.derivatives, row.residual))?;
            Ok::<_, Error>(own.into_iter().map(Reduction::finish).collect::<Vec<Linearised>>())
        })?,
    };
    let mut all = Reduction::new(u.len());
    for (factors, experiment) in factors.iter().zip(&problem.experiments) {
        for factor in factors {
            rows(factor, &experiment.places, u.len()).iter().for_each(|row| all.add(row, 0.0));
        }
    }
    problem.rows_beside(&u)?.iter().for_each(|row| all.add(&row.slope, 0.0));
    let moved: Vec<usize> = (0..u.len()).filter(|&k| found.parameters[k].status == Status::Free).collect();
    let directions = held_directions(problem, &u, &found.constraints)?;
    let identifiability = match moved.as_slice() {
        [] => None,
        moved => Some(Identifiability::within(&all.finish(), analysed(problem, &u, moved), &directions)?),
    };
    let leverage = |row: &Vec<f64>| identifiability.as_ref().map_or(0.0, |found| found.leverage(row));
    let share = |sensor: &UnknownDeviation| {
        let mut share = Share { samples: 0, squares: 0.0, parameters: 0.0 };
        for ((factors, experiment), cost) in factors.iter().zip(&problem.experiments).zip(&costs) {
            let references = cost.references().iter().zip(factors);
            for (reference, factor) in references.filter(|(reference, _)| sensor.sees(experiment, reference.output)) {
                share.samples += factor.rows;
                let measured = reference.deviation / cost.noise_behind(reference.output);
                share.squares += 2.0 * factor.cost() * measured.powi(2);
                share.parameters += rows(factor, &experiment.places, u.len()).iter().map(leverage).sum::<f64>();
            }
        }
        share
    };
    let sensors = problem.unknown_deviations.iter().map(share).collect();
    let priors = problem.prior_rows(&u).iter().map(|row| leverage(&row.slope)).collect();
    Ok(Shares { sensors, priors })
}

/// Rows of a factor in an experiment's parameters, in all `count` of the problem.
fn rows(factor: &Linearised, places: &[usize], count: usize) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let mut row = vec![0.0; count];
        places.iter().enumerate().for_each(|(k, &place)| row[place] += factor.factor()[(i, k)]);
        row
    };
    (0..factor.dimension()).map(row).collect()
}
