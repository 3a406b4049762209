//! Dense matrices of numbers: nalgebra's decompositions, compiled here once.
//!
//! `nalgebra` is generic: each crate that calls it compiles it again.

use nalgebra::{Cholesky, DMatrix, Dyn, SVD, SymmetricEigen};

/// Entries of a column below this part of it are round-off.
const ROUND_OFF: f64 = 1e-15;

/// Singular values as [`nalgebra::Matrix::svd`] gives them, the largest first; left and right singular vectors where they are asked for.
pub fn svd(matrix: DMatrix<f64>, left: bool, right: bool) -> SVD<f64, Dyn, Dyn> {
    matrix.svd(left, right)
}

/// Eigenvalues and eigenvectors of a symmetric matrix, of which the lower triangle is read.
pub fn symmetric_eigen(matrix: DMatrix<f64>) -> SymmetricEigen<f64, Dyn> {
    matrix.symmetric_eigen()
}

/// Cholesky's factor of a symmetric matrix; `None` if it is not positive definite.
pub fn cholesky(matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    matrix.cholesky()
}

/// aᵀ b.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `factor` x to y.
pub fn add_scaled(factor: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
}

/// An orthogonal transformation to echelon form by Householder's reflections, in place, up to the last column. Returns the pivot's column of
/// each row that is left; what is below these is zero, or in the last column alone.
pub fn echelon(matrix: &mut DMatrix<f64>) -> Vec<usize> {
    let (rows, columns) = matrix.shape();
    let mut pivots = Vec::new();
    for k in 0..columns.saturating_sub(1) {
        let first = pivots.len();
        if first == rows {
            break;
        }
        let (mut left, mut right) = matrix.columns_range_pair_mut(k, k + 1..);
        let column = left.as_mut_slice();
        let size = column.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        let (_, reflector) = column.split_at_mut(first);
        let norm = reflector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm <= ROUND_OFF * size {
            reflector.fill(0.0);
            continue;
        }
        let alpha = if reflector[0] > 0.0 { -norm } else { norm };
        reflector[0] -= alpha;
        let square = reflector.iter().map(|v| v * v).sum::<f64>();
        for mut column in right.column_iter_mut() {
            let column = &mut column.as_mut_slice()[first..];
            let product: f64 = reflector.iter().zip(column.iter()).map(|(v, x)| v * x).sum();
            let factor = 2.0 * product / square;
            column.iter_mut().zip(reflector.iter()).for_each(|(x, v)| *x -= factor * v);
        }
        reflector.fill(0.0);
        reflector[0] = alpha;
        pivots.push(k);
    }
    pivots
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects least squares by parts: what a transformation to echelon form leaves has the products of columns it began with, zeros
    /// below its pivots, and no pivot where a column depends on those before it.
    #[test]
    fn echelon_form_keeps_products() {
        let mut matrix = DMatrix::from_fn(5, 4, |i, j| ((3 * i + 7 * j * j + 1) as f64).sin());
        let twice = 2.0 * matrix.column(0);
        matrix.set_column(1, &twice);
        let products = matrix.tr_mul(&matrix);
        assert_eq!(echelon(&mut matrix), [0, 2]);
        assert!((matrix.tr_mul(&matrix) - &products).norm() < 1e-14 * products.norm(), "{matrix}");
        let below = (0..5).flat_map(|i| (0..3).map(move |j| (i, j))).filter(|&(i, j)| i > [0, 0, 1][j]);
        below.for_each(|place| assert!(matrix[place].abs() < 1e-15, "{matrix}"));
        assert!(echelon(&mut DMatrix::zeros(0, 0)).is_empty() && echelon(&mut DMatrix::zeros(3, 0)).is_empty());
    }
}
