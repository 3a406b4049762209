//! Small matrices of which is known which entries can be non-zero.

use super::dense_lu::by_size;

/// Columns, and entries that can be non-zero, row by row. Values are those of the whole matrix, one row after another: where there are
/// few columns, all of them are worked with, in loops of a length that the compiler knows; else the entries that can be non-zero.
pub(super) struct Pattern {
    columns: usize,
    entries: Vec<(usize, usize)>,
}

impl Pattern {
    pub fn new(columns: usize, entries: Vec<(usize, usize)>) -> Self {
        Pattern { columns, entries }
    }

    /// Adds `scale` Aᵀ x.
    pub fn add_transposed(&self, a: &[f64], scale: f64, x: &[f64], sum: &mut [f64]) {
        by_size!(self.columns, add_transposed_fixed, (a, scale, x, sum), {
            for &(row, column) in &self.entries {
                sum[column] += scale * a[row * self.columns + column] * x[row];
            }
        });
    }

    /// Adds `scale` A x.
    pub fn add_product(&self, a: &[f64], scale: f64, x: &[f64], sum: &mut [f64]) {
        for &(row, column) in &self.entries {
            sum[row] += scale * a[row * self.columns + column] * x[column];
        }
    }

    /// Adds `scale` A to the first columns of rows that are `stride` long.
    pub fn add_to_rows(&self, a: &[f64], scale: f64, rows: &mut [f64], stride: usize) {
        by_size!(self.columns, add_to_rows_fixed, (a, scale, rows, stride), {
            for &(row, column) in &self.entries {
                rows[row * stride + column] += scale * a[row * self.columns + column];
            }
        });
    }
}

fn add_transposed_fixed<const N: usize>(a: &[f64], scale: f64, x: &[f64], sum: &mut [f64]) {
    // the sum has N entries
    let Some(sum) = sum.first_chunk_mut::<N>() else { return };
    let mut all = *sum;
    for (row, x) in a.as_chunks::<N>().0.iter().zip(x) {
        let x = scale * x;
        all.iter_mut().zip(row).for_each(|(sum, a)| *sum += a * x);
    }
    *sum = all;
}

fn add_to_rows_fixed<const N: usize>(a: &[f64], scale: f64, rows: &mut [f64], stride: usize) {
    for (k, row) in a.as_chunks::<N>().0.iter().enumerate() {
        let own = &mut rows[k * stride..][..N];
        own.iter_mut().zip(row).for_each(|(own, a)| *own += scale * a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects products in every compiled size and in the general code: whole rows and entries that can be non-zero give what the definition
    /// does.
    #[test]
    fn products_are_those_of_the_whole_matrix() {
        let (rows, stride) = (4, 13);
        for columns in 1..12 {
            let entries: Vec<_> =
                (0..rows * columns).filter(|k| k % 3 != 1).map(|k| (k / columns, k % columns)).collect();
            let mut a = vec![0.0; rows * columns];
            for &(row, j) in &entries {
                a[row * columns + j] = (1.0 + row as f64 + 0.3 * j as f64).sin();
            }
            let pattern = Pattern::new(columns, entries);
            let x: Vec<f64> = (0..stride).map(|k| (k as f64).cos()).collect();
            let (mut transposed, mut product, mut own) =
                (vec![1.0; columns], vec![1.0; rows], vec![1.0; rows * stride]);
            pattern.add_transposed(&a, -2.0, &x[..rows], &mut transposed);
            pattern.add_product(&a, -2.0, &x[..columns], &mut product);
            pattern.add_to_rows(&a, -2.0, &mut own, stride);
            let near = |found: f64, exact: f64| assert!((found - exact).abs() < 1e-13, "{columns}: {found}, {exact}");
            for (j, found) in transposed.into_iter().enumerate() {
                near(found, 1.0 - 2.0 * (0..rows).map(|row| a[row * columns + j] * x[row]).sum::<f64>());
            }
            for (row, (found, own)) in product.into_iter().zip(own.chunks_exact(stride)).enumerate() {
                near(found, 1.0 - 2.0 * (0..columns).map(|j| a[row * columns + j] * x[j]).sum::<f64>());
                let added = |j: usize| if j < columns { a[row * columns + j] } else { 0.0 };
                own.iter().enumerate().for_each(|(j, own)| near(*own, 1.0 - 2.0 * added(j)));
            }
        }
    }
}
