//! Curvature of the cost by its Hessian at one point: where the cost bends up, down, or not at all. Nothing is inverted.

use super::direction::{Analysed, Direction};
use super::identifiability::{analysed, sparse_basis};
use crate::problem::Problem;
use crate::{Error, Result};
use costate::dense::symmetric_eigen;
use nalgebra::DMatrix;

/// The least share of the largest eigenvalue that counts as more than round-off.
const ROUND_OFF: f64 = 1e-12;

/// The signs of a Hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Definiteness {
    /// All eigenvalues are positive: the cost has a minimum nearby, if its slope is small.
    PositiveDefinite,
    /// None is negative, some are zero.
    Singular,
    /// Some are negative.
    Indefinite,
}

/// A direction that a minimum does not have.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bend {
    /// Second derivative of the cost along it; 0 where it is round-off.
    pub eigenvalue: f64,
    /// The combination of parameters.
    pub direction: Direction,
}

/// The eigenvalues of a Hessian in the free parameters, each changing by its size (or, if it is scaled by its logarithm,
/// in the logarithm). Those that round-off may have left, by the matrix's own asymmetry, count as zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Curvature {
    /// The parameters, in the model's order.
    pub parameters: Vec<Analysed>,
    /// The largest first.
    pub eigenvalues: Vec<f64>,
    /// Magnitudes up to this are zero.
    pub zero: f64,
    /// Directions without curvature and with a negative one.
    pub bends: Vec<Bend>,
}

impl Curvature {
    /// The analysis of the problem's Hessian (p x p, all parameters) and gradient at `u`.
    ///
    /// # Errors
    /// If all parameters are fixed, or an entry is not finite.
    pub fn of(problem: &Problem, u: &[f64], gradient: &[f64], hessian: &[Vec<f64>]) -> Result<Self> {
        let what = format!("the Hessian of `{}`", problem.name);
        let free = problem.free();
        if free.is_empty() {
            return Err(Error::invalid(what, "all parameters are fixed", "free at least one"));
        }
        let parameters = analysed(problem, u, &free);
        let p = parameters.len();
        let scaled = DMatrix::from_fn(p, p, |i, j| {
            let (a, b) = (&parameters[i], &parameters[j]);
            // d²J/d(ln u)² = u² J'' + u J'
            let bent = if i == j && a.log { a.size * gradient[a.index] } else { 0.0 };
            hessian[a.index][b.index] * a.size * b.size + bent
        });
        if let Some(place) = scaled.iter().position(|entry| !entry.is_finite()) {
            let (row, column) = (&parameters[place % p].name, &parameters[place / p].name);
            let problem = format!("its entry for `{row}` and `{column}` is not finite");
            return Err(Error::invalid(what, problem, "check the values of the parameters and their sizes"));
        }
        let transposed = scaled.transpose();
        let asymmetry = (&scaled - &transposed).amax();
        let eigen = symmetric_eigen((scaled + transposed) * 0.5);
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let eigenvalues: Vec<f64> = order.iter().map(|&j| eigen.eigenvalues[j]).collect();
        let zero = (ROUND_OFF * eigen.eigenvalues.amax()).max(100.0 * asymmetry);
        let vector = |j: usize| eigen.eigenvectors.column(j).iter().copied().collect::<Vec<f64>>();
        let flat = order.iter().filter(|&&j| eigen.eigenvalues[j].abs() <= zero).map(|&j| vector(j)).collect();
        let mut bends = Vec::new();
        for weights in sparse_basis(flat) {
            bends.push(Bend { eigenvalue: 0.0, direction: named(&parameters, weights, 1e-3, 0.0) });
        }
        for &j in order.iter().filter(|&&j| eigen.eigenvalues[j] < -zero) {
            let eigenvalue = eigen.eigenvalues[j];
            let direction = named(&parameters, vector(j), 0.05, eigenvalue / eigen.eigenvalues.amax());
            bends.push(Bend { eigenvalue, direction });
        }
        Ok(Curvature { parameters, eigenvalues, zero, bends })
    }

    /// Numbers of positive, zero and negative eigenvalues.
    pub fn inertia(&self) -> [usize; 3] {
        let count = |test: &dyn Fn(f64) -> bool| self.eigenvalues.iter().filter(|value| test(**value)).count();
        [count(&|x| x > self.zero), count(&|x| x.abs() <= self.zero), count(&|x| x < -self.zero)]
    }

    /// The signs in a word.
    pub fn definiteness(&self) -> Definiteness {
        match self.inertia() {
            [_, 0, 0] => Definiteness::PositiveDefinite,
            [_, _, 0] => Definiteness::Singular,
            _ => Definiteness::Indefinite,
        }
    }
}

/// A direction without the parameters whose part is below `share` of the largest.
fn named(parameters: &[Analysed], mut weights: Vec<f64>, share: f64, strength: f64) -> Direction {
    let most = weights.iter().fold(0.0f64, |most, w| most.max(w.abs()));
    weights.iter_mut().filter(|w| w.abs() <= share * most).for_each(|w| *w = 0.0);
    Direction::new(parameters, &weights, strength)
}
