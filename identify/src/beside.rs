//! Residuals beside samples over time: those of priors of parameters, measured modes and frequency responses. Each is a residual with its derivatives, taken
//! at its word: ½ r² is added to the cost.

use crate::prior::Prior;
use crate::problem::Problem;
use crate::{Error, Result};
use costate::least_squares::{Linearised, Reduction};
use costate::sensitivity::Difference;

/// Step of central differences, beside each parameter.
const STEP: f64 = 3e-5;

/// A residual, and its derivatives by all parameters of the problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub residual: f64,
    pub slope: Vec<f64>,
}

/// ½ Σ r².
pub(crate) fn cost_of(rows: &[Row]) -> f64 {
    0.5 * rows.iter().map(|row| row.residual * row.residual).sum::<f64>()
}

/// Adds the derivatives of that to `gradient`.
pub(crate) fn add_gradient(rows: &[Row], gradient: &mut [f64]) {
    for Row { residual, slope } in rows {
        gradient.iter_mut().zip(slope).for_each(|(sum, slope)| *sum += residual * slope);
    }
}

/// Linearised residuals with those of `rows`, each times `factor`.
pub(crate) fn with_rows(linearised: Linearised, rows: &[Row], factor: f64) -> Linearised {
    let Some(first) = rows.first() else { return linearised };
    let count = first.slope.len();
    let mut reduction = Reduction::new(count);
    for i in 0..linearised.dimension() {
        let row: Vec<f64> = linearised.factor().row(i).iter().copied().collect();
        reduction.add(&row, linearised.projected()[i]);
    }
    reduction.add(&vec![0.0; count], linearised.remainder());
    for Row { residual, slope } in rows {
        let row: Vec<f64> = slope.iter().map(|entry| factor * entry).collect();
        reduction.add(&row, factor * residual);
    }
    let mut all = reduction.finish();
    all.rows = linearised.rows + rows.len();
    all
}

impl Problem {
    /// Cost of priors, measured modes and frequency responses at `u`.
    pub(crate) fn cost_beside(&self, u: &[f64]) -> Result<f64> {
        self.priors_have_values(u)?;
        Ok(self.prior_cost(u) + self.mode_cost(u)? + self.response_cost(u)?)
    }

    /// The residuals of these at `u`.
    pub(crate) fn rows_beside(&self, u: &[f64]) -> Result<Vec<Row>> {
        self.priors_have_values(u)?;
        let mut rows = self.prior_rows(u);
        rows.extend(self.mode_rows(u)?);
        rows.extend(self.response_rows(u)?);
        Ok(rows)
    }

    /// Derivatives of the cost of measured modes and frequency responses by differences of values, with the errors of these.
    pub(crate) fn differences_beside(&self, u: &[f64]) -> Result<Vec<Difference>> {
        let mut all = vec![Difference { value: 0.0, error: 0.0 }; u.len()];
        if self.modes.is_empty() && self.responses.is_empty() {
            return Ok(all);
        }
        for &k in &self.first().places {
            let step = STEP * if u[k] == 0.0 { self.size(k) } else { u[k].abs() };
            let at = |factor: f64| -> Result<f64> {
                let mut u = u.to_vec();
                u[k] += factor * step;
                Ok(self.mode_cost(&u)? + self.response_cost(&u)?)
            };
            let [near, far] = [(at(1.0)? - at(-1.0)?) / (2.0 * step), (at(2.0)? - at(-2.0)?) / (4.0 * step)];
            all[k] = Difference { value: (4.0 * near - far) / 3.0, error: (near - far).abs() };
        }
        Ok(all)
    }

    /// Refuses second derivatives of measured modes and frequency responses, which are not known.
    pub(crate) fn all_has_curvature(&self) -> Result<()> {
        let what = match (self.modes.is_empty(), self.responses.is_empty()) {
            (true, true) => return Ok(()),
            (false, _) => "modes",
            (true, false) => "frequency responses",
        };
        let problem = format!("second derivatives of {what} are not known");
        Err(Error::invalid("the Hessian", problem, format!("take lm or bfgs, or leave out the measured {what}")))
    }

    fn priors_have_values(&self, u: &[f64]) -> Result<()> {
        let has_none = |prior: &&Prior| !prior.residual(u).powi(2).is_finite();
        match self.priors.iter().find(has_none) {
            Some(Prior { parameter, .. }) => {
                Err(Error::NoPrior { name: self.parameters[*parameter].name.clone(), value: u[*parameter] })
            }
            None => Ok(()),
        }
    }
}
