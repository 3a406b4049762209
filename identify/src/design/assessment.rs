//! Assessment of information: the standard errors of parameters that it leads to.

use super::criterion::{Optimality, axes};
use crate::Result;
use crate::statistics::{Analysed, Identifiability};
use costate::least_squares::Linearised;

/// Standard errors with which parameters would be known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assessment {
    /// The standard error of each, in its unit; infinite where it is not determined.
    pub standard_errors: Vec<f64>,
    /// The means of the axes of the ellipsoid of those that count, in sizes, as [`Optimality::ALL`]; infinite where one of them is not determined.
    pub means: [f64; 3],
    /// Combinations of parameters that are determined, and others.
    pub identifiability: Identifiability,
}

impl Assessment {
    /// Assessment of information by all parameters of a problem, for some of them, of which those at places `of` count.
    ///
    /// # Errors
    /// If there is no parameter, or derivatives are not finite.
    pub fn of(information: &Linearised, parameters: Vec<Analysed>, of: &[usize]) -> Result<Self> {
        let identifiability = Identifiability::of(information, parameters)?;
        let root = identifiability.covariance_root();
        let standard_error = |(k, parameter): (usize, &Analysed)| {
            let error = root.row(k).norm() * parameter.size;
            // nothing at all is determined: no column
            if error.is_nan() || root.ncols() == 0 { f64::INFINITY } else { error }
        };
        let standard_errors: Vec<f64> = identifiability.parameters.iter().enumerate().map(standard_error).collect();
        let means = match of.iter().all(|&k| standard_errors[k].is_finite()) {
            true => {
                let axes = axes(&root.select_rows(of));
                Optimality::ALL.map(|optimality| optimality.mean(&axes))
            }
            false => [f64::INFINITY; 3],
        };
        Ok(Assessment { standard_errors, means, identifiability })
    }

    /// The mean of one criterion.
    pub fn mean(&self, optimality: Optimality) -> f64 {
        self.means[optimality as usize]
    }
}
