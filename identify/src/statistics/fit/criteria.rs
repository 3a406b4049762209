//! Covariance, correlation, information criteria and errors of outputs.

use super::super::identifiability::{Identifiability, scaled};
use super::super::residuals::Residuals;
use super::super::sentinel::Compared;
use super::{Noise, OutputFit};
use crate::Result;
use crate::beside::with_rows;
use crate::error::Locate;
use crate::problem::{Experiment, Problem};
use costate::Quantity;
use costate::cost::LeastSquares;
use costate::spread::root_mean_square;
use nalgebra::DMatrix;

/// B of the covariance B Bᵀ of determined directions as the curvature of the cost alone has it: as if all residuals were independent and of one weight.
pub(super) fn root_of_curvature(found: &Identifiability, variance: f64) -> DMatrix<f64> {
    let entry = |i: usize, j: usize| found.vectors[(i, j)] / found.singular_values[j] * variance.sqrt();
    DMatrix::from_fn(found.active.len(), found.rank, entry)
}

/// B of the covariance B Bᵀ of determined directions, in columns of unit length, from the singular value decomposition. `variance`: that of residuals
/// over their deviations; priors and modes are taken at their word.
pub(super) fn root(residuals: &Residuals, found: &Identifiability, variance: f64) -> DMatrix<f64> {
    let (p, rank) = (found.active.len(), found.rank);
    match &residuals.spread {
        None => root_of_curvature(found, variance),
        Some(spread) => {
            // the part of priors and modes in the spread does not grow with the noise
            let factor = (residuals.most * variance.max(f64::MIN_POSITIVE).sqrt()).recip();
            let spread = &with_rows(spread.clone(), &residuals.beside, factor);
            let mut columns = scaled(spread, &found.parameters).select_columns(&found.active);
            columns.column_iter_mut().zip(&found.lengths).for_each(|(mut column, length)| column /= *length);
            let back = found.vectors.columns(0, rank);
            let squared = |i: usize, j: usize| found.vectors[(i, j)] / found.singular_values[j].powi(2);
            DMatrix::from_fn(p, rank, squared) * (columns * back).transpose() * variance.sqrt()
        }
    }
}

/// Covariance in the parameters' units; NaN for those that are not determined. `root`: [`root`].
pub(super) fn covariance(found: &Identifiability, root: &DMatrix<f64>) -> DMatrix<f64> {
    let count = found.parameters.len();
    let p = found.active.len();
    let mut covariance = DMatrix::from_element(count, count, f64::NAN);
    let unit = root * root.transpose();
    let change = |i: usize| {
        let parameter = &found.parameters[found.active[i]];
        // the logarithm's change is that in sizes
        (if parameter.log { 1.0 } else { parameter.size }) / found.lengths[i]
    };
    for i in 0..p {
        for j in 0..p {
            let (k, l) = (found.active[i], found.active[j]);
            if !found.involved.contains(&k) && !found.involved.contains(&l) {
                covariance[(k, l)] = unit[(i, j)] * change(i) * change(j);
            }
        }
    }
    covariance
}

/// Twice what the cost rises by where each of all `count` parameters is one standard error off, and the others follow; `unit`: where the covariance
/// by the noise is that by the cost's curvature.
pub(super) fn cost_units(
    found: &Identifiability,
    unit: f64,
    [by_noise, by_curvature]: [&DMatrix<f64>; 2],
    count: usize,
) -> Vec<f64> {
    let ratio = |i: usize| Some(by_noise[(i, i)] / by_curvature[(i, i)]).filter(|ratio| ratio.is_finite());
    let ratios = || found.parameters.iter().enumerate().filter_map(|(i, own)| Some((own.index, ratio(i)?)));
    let largest = ratios().map(|(_, ratio)| ratio).reduce(f64::max).unwrap_or(1.0);
    let mut units = vec![unit * largest; count];
    ratios().for_each(|(index, ratio)| units[index] = unit * ratio);
    units
}

/// Ones on the diagonal; NaN where the covariance is.
pub(super) fn correlation(covariance: &DMatrix<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(covariance.nrows(), covariance.ncols(), |i, j| {
        let size = covariance[(i, i)].sqrt() * covariance[(j, j)].sqrt();
        if i == j && size.is_finite() { 1.0 } else { (covariance[(i, j)] / size).clamp(-1.0, 1.0) }
    })
}

pub(super) fn criteria(problem: &Problem, (noise, chi_square): (Noise, f64), n: usize, p: usize) -> (f64, f64) {
    let (n, p) = (problem.independent(n).unwrap_or(n as f64), p as f64);
    match noise {
        Noise::PerSensor => {
            let (likelihood, p) = (chi_square + problem.log_deviations(), p + problem.unknown_deviations.len() as f64);
            (likelihood + 2.0 * p, likelihood + p * n.ln())
        }
        Noise::Given => (chi_square + 2.0 * p, chi_square + p * n.ln()),
        Noise::Estimated => {
            let likelihood = n * (chi_square / n).ln();
            (likelihood + 2.0 * (p + 1.0), likelihood + (p + 1.0) * n.ln())
        }
    }
}

pub(super) fn outputs(problem: &Problem, residuals: &Residuals) -> Vec<OutputFit> {
    let of_experiments = problem.experiments.iter().zip(&residuals.of_references);
    of_experiments
        .flat_map(|(experiment, scaled)| {
            let cost = experiment.cost.as_least_squares();
            let references = cost.into_iter().flat_map(|cost| (0..cost.references().len()).map(move |r| (cost, r)));
            let fits = references.zip(scaled).map(|(place, scaled)| fit(experiment, place, scaled));
            fits.map(|fit| OutputFit { name: problem.name_in(experiment, &fit.name), ..fit }).collect::<Vec<_>>()
        })
        .collect()
}

/// Fit of an output of an experiment, by its residuals over their deviation.
fn fit(experiment: &Experiment, (cost, place): (&LeastSquares, usize), scaled: &[f64]) -> OutputFit {
    let times = experiment.simulation.grid().times();
    let reference = &cost.references()[place];
    let there = || cost.samples(reference);
    let quantity = cost.quantity(reference, experiment.simulation.signature());
    let data = quantity.spread(there().map(|i| reference.values[i]));
    let residuals: Vec<f64> = scaled.iter().map(|r| r * reference.deviation).collect();
    // beside the data's own spread, of values known up to a period both to the nearest of it
    let unexplained = root_mean_square(residuals.iter().copied()) / data.deviation;
    let (over, times): (Quantity, Vec<f64>) = match cost.spectrum(reference) {
        Some(spectrum) => {
            (spectrum.axis(), cost.lines(place).iter().map(|value| spectrum.place(&value.line)).collect())
        }
        None => (Quantity::new("time", "s"), there().map(|i| times[cost.places().of(i)]).collect()),
    };
    // constant up to round-off: there is nothing to explain
    let varies = data.varies();
    let sentinels = match cost.spectrum(reference) {
        // its lines are no samples
        Some(_) => Vec::new(),
        None => {
            let values: Vec<f64> = there().map(|i| reference.values[i]).collect();
            let (period, loss) = (quantity.period, &cost.losses()[place]);
            Compared { values: &values, times: &times, residuals: &residuals, scaled, period, loss }.sentinels()
        }
    };
    OutputFit {
        period: quantity.period,
        name: quantity.name,
        unit: quantity.unit,
        times,
        over,
        residuals,
        deviation: reference.deviation,
        size: if varies { data.deviation } else { data.mean.abs() },
        r_squared: varies.then_some(1.0 - unexplained * unexplained),
        fit_percent: varies.then_some(100.0 * (1.0 - unexplained)),
        mean: data.mean,
        sentinels,
    }
}

/// Fits of the outputs of experiments at `u`, by one run each: for those that are not fitted.
///
/// # Errors
/// If a simulation fails.
pub fn fits(problem: &Problem, experiments: &[Experiment], u: &[f64]) -> Result<Vec<OutputFit>> {
    let mut found = Vec::new();
    for experiment in experiments {
        let Some(cost) = experiment.cost.as_least_squares() else { continue };
        let run =
            experiment.simulation.run(&experiment.own(u)).map_err(|error| error.in_experiment(&experiment.name))?;
        for (place, reference) in cost.references().iter().enumerate() {
            let y = experiment.shown(&run, u, reference.output);
            let output = cost.quantity(reference, experiment.simulation.signature());
            let error = |i: usize| output.difference(y[cost.places().of(i)], reference.values[i]) / reference.deviation;
            let scaled: Vec<f64> = cost.samples(reference).map(error).collect();
            let own = fit(experiment, (cost, place), &scaled);
            found.push(OutputFit { name: problem.name_in(experiment, &own.name), ..own });
        }
    }
    Ok(found)
}
