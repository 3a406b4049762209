//! Residuals as statistics want them: over deviations, but without the weights of a quadrature.

use crate::cost::LeastSquares;
use crate::error::{Error, Result};
use crate::least_squares::{Linearised, Reduction};
use crate::problem::Problem;

/// All that is taken from one run with tangents.
pub(super) struct Residuals {
    /// √ω (S r) in all parameters, where ω are the weights of the samples over the largest one. ω = 1 without quadrature.
    pub fitted: Linearised,
    /// ω (S r), where weights differ: what the spread of a weighted estimate follows from.
    pub spread: Option<Linearised>,
    /// Σ ((y - ȳ)/σ)².
    pub chi_square: f64,
    /// (y - ȳ)/σ of each reference.
    pub of_references: Vec<Vec<f64>>,
}

/// The residuals of the problem at `u`. Samples of weight zero take no part in a fit, so they take none here.
pub(super) fn collect(problem: &Problem, u: &[f64]) -> Result<Residuals> {
    let what = format!("the statistics of `{}`", problem.name);
    let Some(cost) = problem.cost.as_least_squares() else {
        let remedy = "compare outputs with a reference instead";
        return Err(Error::invalid(what, "its cost is no sum of squared residuals", remedy));
    };
    let (least, most) = weights(&what, cost)?;
    let mut fitted = Reduction::new(u.len());
    let mut spread = (most > least * (1.0 + 1e-6)).then(|| Reduction::new(u.len()));
    let mut of_references = vec![Vec::new(); cost.references().len()];
    let mut chi_square = 0.0;
    let mut scaled = vec![0.0; u.len()];
    problem.gradient_by_free()?.residual_rows(u, cost, &mut |row| {
        of_references[row.reference].push(row.residual);
        chi_square += row.residual * row.residual;
        let Some(spread) = &mut spread else {
            fitted.add(row.derivatives, row.residual);
            return;
        };
        let weight = row.weight / most;
        for (reduction, factor) in [(&mut fitted, weight.sqrt()), (spread, weight)] {
            scaled.iter_mut().zip(row.derivatives).for_each(|(entry, slope)| *entry = factor * slope);
            reduction.add(&scaled, factor * row.residual);
        }
    })?;
    if !chi_square.is_finite() {
        return Err(Error::invalid(what, format!("chi-square is {chi_square}"), "check data and deviations"));
    }
    Ok(Residuals { fitted: fitted.finish(), spread: spread.map(Reduction::finish), chi_square, of_references })
}

/// The smallest and the largest positive weight.
fn weights(what: &str, cost: &LeastSquares) -> Result<(f64, f64)> {
    if let Some(i) = cost.weights().iter().position(|weight| weight.is_nan() || *weight < 0.0) {
        let problem = format!("sample {i} has the weight {}", cost.weights()[i]);
        return Err(Error::invalid(what, problem, "sort the samples by time"));
    }
    let positive = || cost.weights().iter().copied().filter(|weight| *weight > 0.0);
    if positive().next().is_none() {
        let problem = "no sample has a weight, so there are no residuals";
        return Err(Error::invalid(what, problem, "give more samples, or use unit weights"));
    }
    Ok((positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max)))
}
