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
        by_size!(self.columns, add_product_fixed, (a, scale, x, sum), {
            for &(row, column) in &self.entries {
                sum[row] += scale * a[row * self.columns + column] * x[column];
            }
        });
    }

    /// Adds `scale` Aᵀ x of two of them, of as many columns, to a sum each.
    pub fn add_pair_transposed(
        pair: [&Self; 2],
        values: [&[f64]; 2],
        scale: f64,
        x: &[f64],
        [first, second]: [&mut [f64]; 2],
    ) {
        by_size!(pair[0].columns, add_pair_transposed_fixed, (values, scale, x, [first, second]), {
            pair[0].add_transposed(values[0], scale, x, first);
            pair[1].add_transposed(values[1], scale, x, second);
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

fn add_product_fixed<const N: usize>(a: &[f64], scale: f64, x: &[f64], sum: &mut [f64]) {
    // there are N columns
    let Some(x) = x.first_chunk::<N>() else { return };
    for (a, sum) in a.as_chunks::<N>().0.iter().zip(sum) {
        *sum = a.iter().zip(x).fold(*sum, |sum, (a, x)| sum + scale * a * x);
    }
}

fn add_pair_transposed_fixed<const N: usize>(
    [a, b]: [&[f64]; 2],
    scale: f64,
    x: &[f64],
    [first, second]: [&mut [f64]; 2],
) {
    // both sums have N entries
    let (Some(first), Some(second)) = (first.first_chunk_mut::<N>(), second.first_chunk_mut::<N>()) else { return };
    let mut sums = [*first, *second];
    for ((a, b), x) in a.as_chunks::<N>().0.iter().zip(b.as_chunks::<N>().0).zip(x) {
        let x = scale * x;
        for j in 0..N {
            sums[0][j] += a[j] * x;
            sums[1][j] += b[j] * x;
        }
    }
    [*first, *second] = sums;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects products in every compiled size and in the general code: whole rows and entries that can be non-zero give what the definition
    /// does.
    #[test]
    fn products_are_those_of_the_whole_matrix() {
        let rows = 4;
        for columns in 1..12 {
            let entries: Vec<_> =
                (0..rows * columns).filter(|k| k % 3 != 1).map(|k| (k / columns, k % columns)).collect();
            let mut a = vec![0.0; rows * columns];
            for &(row, j) in &entries {
                a[row * columns + j] = (1.0 + row as f64 + 0.3 * j as f64).sin();
            }
            let pattern = Pattern::new(columns, entries);
            let x: Vec<f64> = (0..12).map(|k| (k as f64).cos()).collect();
            let (mut transposed, mut product) = (vec![1.0; columns], vec![1.0; rows]);
            pattern.add_transposed(&a, -2.0, &x[..rows], &mut transposed);
            pattern.add_product(&a, -2.0, &x[..columns], &mut product);
            let (doubled, mut sums) =
                (a.iter().map(|a| 2.0 * a).collect::<Vec<_>>(), [(); 2].map(|()| vec![1.0; columns]));
            let pair = [&pattern, &pattern];
            let [first, second] = &mut sums;
            Pattern::add_pair_transposed(pair, [&a, &doubled], -1.0, &x[..rows], [first, second]);
            let near = |found: f64, exact: f64| assert!((found - exact).abs() < 1e-13, "{columns}: {found}, {exact}");
            for (j, found) in transposed.into_iter().enumerate() {
                let sum = (0..rows).map(|row| a[row * columns + j] * x[row]).sum::<f64>();
                near(found, 1.0 - 2.0 * sum);
                near(sums[0][j], 1.0 - sum);
                near(sums[1][j], 1.0 - 2.0 * sum);
            }
            for (row, found) in product.into_iter().enumerate() {
                near(found, 1.0 - 2.0 * (0..columns).map(|j| a[row * columns + j] * x[j]).sum::<f64>());
            }
        }
    }
}
