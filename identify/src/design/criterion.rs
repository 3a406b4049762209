//! Criteria of experiments: one number for how well parameters are known.

use crate::{Error, Result};
use costate::dense::svd;
use nalgebra::DMatrix;

/// Criterion of an optimal experiment: the mean of the confidence ellipsoid's semi-axes that counts (Kiefer's family). Axes are
/// standard errors along the ellipsoid's directions, each parameter beside its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optimality {
    /// The geometric mean: the volume. It does not depend on sizes; which experiment is best does not, either.
    #[default]
    D,
    /// The root of the mean square: that of all standard errors.
    A,
    /// The longest one.
    E,
}

/// The power of variances by which a search takes the longest axis: the mean of so high a power is at most 1.2 times shorter (of 20 parameters).
const SMOOTH: i32 = 8;

impl Optimality {
    /// All of them.
    pub const ALL: [Optimality; 3] = [Optimality::D, Optimality::A, Optimality::E];

    /// Letter of the criterion.
    pub fn name(self) -> &'static str {
        match self {
            Optimality::D => "D",
            Optimality::A => "A",
            Optimality::E => "E",
        }
    }

    /// The mean of semi-axes.
    pub fn mean(self, axes: &[f64]) -> f64 {
        let count = axes.len() as f64;
        match self {
            Optimality::D => (axes.iter().map(|axis| axis.ln()).sum::<f64>() / count).exp(),
            Optimality::A => (axes.iter().map(|axis| axis * axis).sum::<f64>() / count).sqrt(),
            Optimality::E => axes.iter().copied().fold(0.0, f64::max),
        }
    }
}

impl std::str::FromStr for Optimality {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Optimality::ALL.into_iter().find(|own| own.name().eq_ignore_ascii_case(name));
        known.ok_or_else(|| Error::unknown("criterion", name, "", Optimality::ALL.map(Optimality::name)))
    }
}

/// The semi-axes of the ellipsoid of some parameters, whatever the others are: of W = rows of R⁻¹, where C = W Wᵀ.
pub(super) fn axes(rows: &DMatrix<f64>) -> Vec<f64> {
    svd(rows.clone(), false, false).singular_values.iter().copied().collect()
}

/// The logarithm of the mean semi-axis of the parameters at places `of`, and its derivative by the information matrix F = RᵀR of all; of the upper
/// triangular `factor` R. The longest axis is a mean of a high power. `None` where R is singular.
pub(crate) fn value_and_slope(
    optimality: Optimality,
    factor: &DMatrix<f64>,
    of: &[usize],
) -> Option<(f64, DMatrix<f64>)> {
    let p = factor.nrows();
    let inverse = factor.solve_upper_triangular(&DMatrix::identity(p, p))?;
    let rows = inverse.select_rows(of);
    let svd = svd(rows.clone(), true, false);
    let directions = svd.u?;
    let axes = svd.singular_values;
    let (count, longest) = (axes.len() as f64, axes.max());
    if !(longest.is_finite() && axes.min() > 0.0) {
        return None;
    }
    // by variances λ, the squares of axes
    let power = match optimality {
        Optimality::D => 0,
        Optimality::A => 1,
        Optimality::E => SMOOTH,
    };
    let beside = axes.map(|axis| (axis / longest).powi(2));
    let (value, by_variances) = match power {
        0 => (axes.map(f64::ln).sum() / count, axes.map(|axis| 0.5 / (count * axis * axis))),
        m => {
            let sum = beside.map(|r| r.powi(m)).sum();
            let slope = beside.map(|r| 0.5 * r.powi(m - 1) / (sum * longest * longest));
            (longest.ln() + 0.5 * (sum / count).ln() / f64::from(m), slope)
        }
    };
    // dC = -C dF C
    let along = inverse * rows.transpose() * directions;
    Some((value, -(&along * DMatrix::from_diagonal(&by_variances) * along.transpose())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(f: &DMatrix<f64>) -> DMatrix<f64> {
        f.clone().cholesky().unwrap().l().transpose()
    }

    /// Protects criteria and their derivatives by the information matrix: values against determinant, trace and eigenvalues of the covariance of
    /// some of the parameters; slopes against differences.
    #[test]
    fn criteria_are_those_of_the_covariance() {
        let s = DMatrix::from_fn(7, 4, |i, j| ((i * 3 + j * 5) as f64 * 0.7).sin() + if i == j { 1.0 } else { 0.0 });
        let f = s.transpose() * &s;
        for of in [vec![0, 1, 2, 3], vec![2, 0], vec![1]] {
            let c = f.clone().try_inverse().unwrap().select_rows(&of).select_columns(&of);
            let k = of.len() as f64;
            let eigen = c.clone().symmetric_eigen().eigenvalues;
            let high = (eigen.map(|x| x.powi(SMOOTH)).sum() / k).powf(0.5 / f64::from(SMOOTH));
            let expected = [c.determinant().powf(0.5 / k), (c.trace() / k).sqrt(), high];
            let rows = factor(&f).solve_upper_triangular(&DMatrix::identity(4, 4)).unwrap().select_rows(&of);
            let exact = [expected[0], expected[1], eigen.max().sqrt()];
            for ((optimality, expected), exact) in Optimality::ALL.into_iter().zip(expected).zip(exact) {
                let (value, slope) = value_and_slope(optimality, &factor(&f), &of).unwrap();
                assert!((value - expected.ln()).abs() < 1e-12, "{optimality:?} of {of:?}");
                assert!((optimality.mean(&axes(&rows)) / exact - 1.0).abs() < 1e-12);
                let d = DMatrix::from_fn(4, 4, |i, j| ((i + j) as f64).cos());
                let at = |e: f64| value_and_slope(optimality, &factor(&(&f + &d * e)), &of).unwrap().0;
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope.dot(&d) - difference).abs() < 1e-8 * slope.norm(), "{optimality:?} of {of:?}");
            }
        }
        assert!(value_and_slope(Optimality::D, &DMatrix::zeros(2, 2), &[0]).is_none());
    }
}
