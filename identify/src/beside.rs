//! What a problem is fitted to beside samples over time: priors of parameters and measured modes. Each is a residual with its derivatives, taken
//! at its word: ½ r² is added to the cost.

use crate::prior::Prior;
use crate::problem::Problem;
use crate::{Error, Result};
use costate::least_squares::{Linearised, Reduction};

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
    /// What priors and measured modes add to the cost at `u`.
    pub(crate) fn cost_beside(&self, u: &[f64]) -> Result<f64> {
        self.priors_have_values(u)?;
        Ok(self.prior_cost(u) + self.mode_cost(u)?)
    }

    /// The residuals of priors and measured modes at `u`.
    pub(crate) fn rows_beside(&self, u: &[f64]) -> Result<Vec<Row>> {
        self.priors_have_values(u)?;
        let mut rows = self.prior_rows(u);
        rows.extend(self.mode_rows(u)?);
        Ok(rows)
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
