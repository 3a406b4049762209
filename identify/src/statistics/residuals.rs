//! Residuals as statistics want them: over deviations, but without the weights of a quadrature.

use super::tail::normal;
use crate::beside::{Row, with_rows};
use crate::ensemble::{Member, join};
use crate::problem::Problem;
use crate::{Error, Result};
use costate::cost::{LeastSquares, Loss};
use costate::least_squares::{Linearised, Reduction};
use costate::sensitivity::ResidualRow;

/// All that is taken from one run with tangents, in all parameters of the problem.
pub(super) struct Residuals {
    /// √ω (S r), with the pull of r under a robust loss in its place, where ω are the weights of the samples over the largest one, with the
    /// rows of priors and modes. ω = 1 without quadrature.
    pub fitted: Linearised,
    /// Rows of priors and modes.
    pub beside: Vec<Row>,
    /// Number of residuals without them.
    pub count: usize,
    /// The largest weight.
    pub most: f64,
    /// ω (S r) of the data, where weights differ or there is something beside them, or lines share noise, which is taken back to that of samples
    /// then: what the spread of a weighted estimate follows from.
    pub spread: Option<Linearised>,
    /// Σ ((y - ȳ)/σ)².
    pub chi_square: f64,
    /// Sums of a robust loss over the residuals, if there is one.
    pub robust: Option<Robust>,
    /// (y - ȳ)/σ of each reference of each experiment.
    pub of_references: Vec<Vec<Vec<f64>>>,
    /// The largest of these.
    pub largest: Vec<Vec<Option<Largest>>>,
}

/// Sums over all residuals r with the pull ψ(r) of their loss.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Robust {
    /// Σ ψ².
    squares: f64,
    /// Σ dψ/dr.
    curvatures: f64,
    /// Residuals beyond the scale of their loss.
    pub down: usize,
    /// So many would be of normal noise of the stated deviations.
    pub expected: f64,
}

impl Robust {
    /// The sums of all experiments, if a loss is robust.
    fn of<'a>(costs: &[&LeastSquares], sums: impl Iterator<Item = &'a Robust>) -> Option<Robust> {
        let is_robust = costs.iter().flat_map(|cost| cost.losses()).any(|loss| *loss != Loss::Squares);
        let add = |sum: Robust, own: &Robust| Robust {
            squares: sum.squares + own.squares,
            curvatures: sum.curvatures + own.curvatures,
            down: sum.down + own.down,
            expected: sum.expected + own.expected,
        };
        is_robust.then(|| sums.fold(Robust::default(), add))
    }

    /// Takes so many residuals into account that have a loss.
    fn expect(&mut self, loss: &Loss, count: usize) {
        self.expected += count as f64 * loss.scale().map_or(0.0, normal);
    }

    /// Takes in a residual; its pull.
    fn note(&mut self, loss: &Loss, residual: f64) -> f64 {
        let pull = loss.weight(residual) * residual;
        self.squares += pull * pull;
        self.curvatures += loss.curvature(residual);
        self.down += usize::from(loss.weighs_down(residual));
        pull
    }

    /// Factor of the covariance (SᵀS)⁻¹ of unit noise, of `n` residuals with so many degrees of freedom (Huber 1981, section
    /// 7.6).
    pub fn variance(&self, n: usize, freedom: usize) -> f64 {
        let mean = self.curvatures / n as f64;
        if freedom == 0 { f64::NAN } else { self.squares / freedom as f64 / (mean * mean) }
    }
}

/// The largest residual of a reference.
#[derive(Debug, Clone)]
pub(super) struct Largest {
    /// Place among the residuals of the reference.
    pub place: usize,
    /// Magnitude, (y - ȳ)/σ.
    pub size: f64,
    /// Weight ω.
    pub weight: f64,
    /// Derivatives by all parameters of the problem.
    pub derivatives: Vec<f64>,
}

/// Residuals of one experiment, in its model's parameters.
struct Own {
    fitted: Linearised,
    spread: Option<Linearised>,
    chi_square: f64,
    robust: Robust,
    of_references: Vec<Vec<f64>>,
    largest: Vec<Option<Largest>>,
}

/// The residuals of the problem at `u`. Samples of weight zero take no part in a fit, so they take none here.
pub(super) fn collect(problem: &Problem, u: &[f64]) -> Result<Residuals> {
    let what = format!("the statistics of `{}`", problem.name);
    let Some(costs) = problem.least_squares() else {
        let remedy = "they need outputs that are compared with a record";
        return Err(Error::invalid(
            what,
            "its cost is no sum of squared residuals, and has no standard errors",
            remedy,
        ));
    };
    let limits = costs.iter().map(|cost| weights(&what, cost)).collect::<Result<Vec<_>>>()?;
    let least = limits.iter().map(|(least, _)| *least).fold(f64::INFINITY, f64::min);
    let most = limits.iter().map(|(_, most)| *most).fold(0.0, f64::max);
    let beside = problem.rows_beside(u)?;
    let any_shares = costs.iter().any(|cost| (0..cost.references().len()).any(|k| shares_noise(cost, k)));
    let differ = most > least * (1.0 + 1e-6) || !beside.is_empty() || any_shares;
    let found = problem.gradient_by_free()?.each(u, |k, Member { gradient, u, experiment, .. }| {
        let mut own = (Reduction::new(u.len()), differ.then(|| Reduction::new(u.len())));
        let mut of_references = vec![Vec::new(); costs[k].references().len()];
        let mut largest = vec![None; of_references.len()];
        let (mut chi_square, mut robust) = (0.0, Robust::default());
        let shared: Vec<bool> = (0..of_references.len()).map(|reference| shares_noise(costs[k], reference)).collect();
        let mut of_lines: Vec<Vec<Vec<f64>>> = vec![Vec::new(); of_references.len()];
        gradient.residual_rows(u, costs[k], &mut |row| {
            note_largest(&mut largest[row.reference], row, of_references[row.reference].len());
            of_references[row.reference].push(row.residual);
            chi_square += row.residual * row.residual;
            let loss = &costs[k].losses()[row.reference];
            let pull = robust.note(loss, row.residual);
            let (fitted, Some(spread)) = (&mut own.0, &mut own.1) else {
                own.0.add(row.derivatives, pull);
                return;
            };
            let weight = row.weight / most;
            fitted.add_scaled(weight.sqrt(), row.derivatives, weight.sqrt() * pull);
            match shared[row.reference] {
                true => of_lines[row.reference].push(row.derivatives.iter().map(|slope| weight * slope).collect()),
                false => spread.add_scaled(weight, row.derivatives, weight * pull),
            }
        })?;
        costs[k].losses().iter().zip(&of_references).for_each(|(loss, own)| robust.expect(loss, own.len()));
        if let Some(spread) = &mut own.1 {
            for (reference, rows) in of_lines.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
                gradient.rows_of_noise(costs[k], reference, rows, &mut |row| spread.add(row, 0.0));
            }
        }
        let (fitted, spread) = (own.0.finish(), own.1.map(Reduction::finish));
        for Largest { weight, derivatives, .. } in largest.iter_mut().flatten() {
            *weight /= most;
            let mut all = vec![0.0; problem.parameters.len()];
            experiment.places.iter().zip(derivatives.iter()).for_each(|(&place, slope)| all[place] += slope);
            *derivatives = all;
        }
        Ok::<_, Error>(Own { fitted, spread, chi_square, robust, of_references, largest })
    })?;
    let robust = Robust::of(&costs, found.iter().map(|own| &own.robust));
    let chi_square = found.iter().map(|own| own.chi_square).sum::<f64>();
    if !chi_square.is_finite() {
        return Err(Error::invalid(what, format!("chi-square is {chi_square}"), "check data and deviations"));
    }
    let (mut fitted, mut spread, mut of_references, mut largest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for own in found {
        fitted.push(own.fitted);
        spread.extend(own.spread);
        of_references.push(own.of_references);
        largest.push(own.largest);
    }
    let spread = differ.then(|| join(problem, spread));
    let data = join(problem, fitted);
    let count = data.rows;
    let fitted = with_rows(data, &beside, most.sqrt().recip());
    Ok(Residuals { fitted, beside, count, most, spread, chi_square, robust, of_references, largest })
}

/// True for a reference that is compared by lines of a spectrum that share noise.
fn shares_noise(cost: &LeastSquares, reference: usize) -> bool {
    cost.spectrum(&cost.references()[reference]).is_some_and(|spectrum| spectrum.shares_noise())
}

impl Problem {
    /// Outputs whose lines of a spectrum share noise, where `what` takes them for independent, in a sentence.
    pub fn told_of_shared_noise(&self, what: &str) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        for (experiment, cost) in self.experiments.iter().zip(self.least_squares()?) {
            for reference in (0..cost.references().len()).filter(|&k| shares_noise(cost, k)) {
                let output = cost.references()[reference].output;
                let name = format!("`{}`", experiment.simulation.signature().outputs[output].name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        (!names.is_empty()).then(|| {
            format!(
                "lines of the spectrum of {} share noise, and {what} takes them as independent: of a fit, whose statistics account for that, standard errors \
                 may be twice as large, or half",
                names.join(", ")
            )
        })
    }
}

/// Keeps the row of the largest residual so far; `place`: of this one.
fn note_largest(largest: &mut Option<Largest>, row: &ResidualRow<'_>, place: usize) {
    let size = row.residual.abs();
    if largest.as_ref().is_none_or(|largest| size > largest.size) {
        *largest = Some(Largest { place, size, weight: row.weight, derivatives: row.derivatives.to_vec() });
    }
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
