//! LU factors of a small dense matrix in place, with the transposed solve that an adjoint needs.
//!
//! nalgebra's LU allocates and has no transposed solve. Sizes up to eight are compiled separately, so that their loops are
//! unrolled: one factorisation of five unknowns is then as fast as hand-written C.

/// Row-major matrix and its factors `P A = L U` (L with unit diagonal).
#[derive(Debug, Clone)]
pub(crate) struct DenseLu {
    size: usize,
    factors: Vec<f64>,
    pivots: Vec<usize>,
}

/// Calls `$function::<N>` for sizes that have their own code, else `$general`.
macro_rules! by_size {
    ($size:expr, $function:ident, ($($argument:expr),*), $general:expr) => {
        match $size {
            1 => $function::<1>($($argument),*),
            2 => $function::<2>($($argument),*),
            3 => $function::<3>($($argument),*),
            4 => $function::<4>($($argument),*),
            5 => $function::<5>($($argument),*),
            6 => $function::<6>($($argument),*),
            7 => $function::<7>($($argument),*),
            8 => $function::<8>($($argument),*),
            _ => $general,
        }
    };
}

impl DenseLu {
    pub(crate) fn new(size: usize) -> Self {
        DenseLu { size, factors: vec![0.0; size * size], pivots: vec![0; size] }
    }

    /// The matrix to be filled before [`DenseLu::factorise`], row by row.
    pub(crate) fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.factors
    }

    /// False if a pivot vanishes beside the entries of its column (or is not a number).
    pub(crate) fn factorise(&mut self) -> bool {
        let (a, pivots) = (&mut self.factors[..], &mut self.pivots[..]);
        by_size!(self.size, factorise_fixed, (a, pivots), factorise_general(a, pivots, self.size))
    }

    pub(crate) fn solve(&self, b: &mut [f64]) {
        let (a, pivots) = (&self.factors[..], &self.pivots[..]);
        by_size!(self.size, solve_fixed, (a, pivots, b), solve_general(a, pivots, self.size, b));
    }

    pub(crate) fn solve_transposed(&self, b: &mut [f64]) {
        let (a, pivots) = (&self.factors[..], &self.pivots[..]);
        by_size!(self.size, solve_transposed_fixed, (a, pivots, b), solve_transposed_general(a, pivots, self.size, b));
    }
}

/// A pivot this small beside the largest entry of its column is round-off.
fn is_negligible(pivot: f64, column_size: f64, size: usize) -> bool {
    pivot.is_nan() || pivot.abs() <= 8.0 * size as f64 * f64::EPSILON * column_size
}

#[inline]
fn factorise_fixed<const N: usize>(a: &mut [f64], pivots: &mut [usize]) -> bool {
    // the slices have N * N and N entries by construction of DenseLu
    let (rows, _) = a.as_chunks_mut::<N>();
    let Ok(a) = <&mut [[f64; N]; N]>::try_from(rows) else { return false };
    let Ok(pivots) = <&mut [usize; N]>::try_from(pivots) else { return false };
    let mut column_size = [0.0f64; N];
    for row in a.iter() {
        for j in 0..N {
            column_size[j] = column_size[j].max(row[j].abs());
        }
    }
    let mut regular = true;
    for k in 0..N {
        let mut p = k;
        for i in k + 1..N {
            if a[i][k].abs() > a[p][k].abs() {
                p = i;
            }
        }
        pivots[k] = p;
        a.swap(k, p);
        regular &= !is_negligible(a[k][k], column_size[k], N);
        let inverse = 1.0 / a[k][k];
        let pivot_row = a[k];
        a[k][k] = inverse;
        for row in a.iter_mut().skip(k + 1) {
            let factor = row[k] * inverse;
            row[k] = factor;
            for j in k + 1..N {
                row[j] -= factor * pivot_row[j];
            }
        }
    }
    regular
}

#[inline]
fn solve_fixed<const N: usize>(a: &[f64], pivots: &[usize], b: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    let (Ok(a), Ok(b)) = (<&[[f64; N]; N]>::try_from(rows), <&mut [f64; N]>::try_from(b)) else { return };
    for (k, &p) in pivots.iter().enumerate().take(N) {
        b.swap(k, p);
    }
    for i in 1..N {
        for j in 0..i {
            b[i] -= a[i][j] * b[j];
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            b[i] -= a[i][j] * b[j];
        }
        b[i] *= a[i][i];
    }
}

#[inline]
fn solve_transposed_fixed<const N: usize>(a: &[f64], pivots: &[usize], b: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    let (Ok(a), Ok(b)) = (<&[[f64; N]; N]>::try_from(rows), <&mut [f64; N]>::try_from(b)) else { return };
    for i in 0..N {
        b[i] *= a[i][i];
        for j in i + 1..N {
            b[j] -= a[i][j] * b[i];
        }
    }
    for i in (1..N).rev() {
        for j in 0..i {
            b[j] -= a[i][j] * b[i];
        }
    }
    for k in (0..N).rev() {
        b.swap(k, pivots[k]);
    }
}

fn factorise_general(a: &mut [f64], pivots: &mut [usize], n: usize) -> bool {
    let mut regular = true;
    for k in 0..n {
        let column_size = (0..n).map(|i| a[i * n + k].abs()).fold(0.0, f64::max);
        // entries above the diagonal belong to U already; they only make the comparison stricter
        let mut p = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[p * n + k].abs() {
                p = i;
            }
        }
        pivots[k] = p;
        if p != k {
            let (upper, lower) = a.split_at_mut(p * n);
            upper[k * n..k * n + n].swap_with_slice(&mut lower[..n]);
        }
        regular &= !is_negligible(a[k * n + k], column_size, n);
        let inverse = 1.0 / a[k * n + k];
        a[k * n + k] = inverse;
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n + k + 1..];
        for row in lower.chunks_exact_mut(n) {
            if row[k] != 0.0 {
                let factor = row[k] * inverse;
                row[k] = factor;
                for (x, y) in row[k + 1..].iter_mut().zip(pivot_row) {
                    *x -= factor * y;
                }
            }
        }
    }
    regular
}

fn solve_general(a: &[f64], pivots: &[usize], n: usize, b: &mut [f64]) {
    for (k, &p) in pivots.iter().enumerate() {
        b.swap(k, p);
    }
    for i in 1..n {
        let known = a[i * n..i * n + i].iter().zip(&b[..i]).map(|(l, x)| l * x).sum::<f64>();
        b[i] -= known;
    }
    for i in (0..n).rev() {
        let known = a[i * n + i + 1..(i + 1) * n].iter().zip(&b[i + 1..n]).map(|(u, x)| u * x).sum::<f64>();
        b[i] = (b[i] - known) * a[i * n + i];
    }
}

fn solve_transposed_general(a: &[f64], pivots: &[usize], n: usize, b: &mut [f64]) {
    for i in 0..n {
        b[i] *= a[i * n + i];
        let x = b[i];
        for (entry, u) in b[i + 1..n].iter_mut().zip(&a[i * n + i + 1..(i + 1) * n]) {
            *entry -= u * x;
        }
    }
    for i in (1..n).rev() {
        let x = b[i];
        for (entry, l) in b[..i].iter_mut().zip(&a[i * n..i * n + i]) {
            *entry -= l * x;
        }
    }
    for k in (0..n).rev() {
        b.swap(k, pivots[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects both solves in every compiled size and the general code: residuals of an unsymmetric matrix that needs
    /// row exchanges (a symmetric one would hide a transposed solve).
    #[test]
    fn solves_and_transposed_solves_have_small_residuals() {
        for n in 1..14 {
            let entry = |i: usize, j: usize| {
                ((3 * i + 7 * j * j + i * j) as f64 * 0.7).sin() + f64::from(u8::from((i + 1) % n == j)) * 3.0
            };
            let mut lu = DenseLu::new(n);
            for i in 0..n {
                for j in 0..n {
                    lu.matrix_mut()[i * n + j] = entry(i, j);
                }
            }
            assert!(lu.factorise(), "size {n}");
            let b: Vec<f64> = (0..n).map(|i| (i as f64 + 1.0).cos()).collect();
            let (mut x, mut y) = (b.clone(), b.clone());
            lu.solve(&mut x);
            lu.solve_transposed(&mut y);
            for i in 0..n {
                let row: f64 = (0..n).map(|j| entry(i, j) * x[j]).sum();
                let column: f64 = (0..n).map(|j| entry(j, i) * y[j]).sum();
                assert!((row - b[i]).abs() < 1e-12, "size {n}, row {i}");
                assert!((column - b[i]).abs() < 1e-12, "size {n}, column {i}");
            }
        }
    }

    /// Protects the message about redundant constraints: repeated rows, zero columns and NaN are told from bad scaling.
    #[test]
    fn singular_matrices_are_told_from_badly_scaled_ones() {
        for n in [2, 5, 12] {
            let mut lu = DenseLu::new(n);
            let diagonal = |lu: &mut DenseLu| {
                lu.matrix_mut().fill(0.0);
                (0..n).for_each(|i| lu.matrix_mut()[i * n + i] = 10f64.powi(6 - 3 * i as i32 % 13));
            };
            diagonal(&mut lu);
            assert!(lu.factorise(), "scaled, size {n}");
            diagonal(&mut lu);
            lu.matrix_mut()[0] = 0.0;
            assert!(!lu.factorise(), "zero column, size {n}");
            diagonal(&mut lu);
            let row: Vec<f64> = (0..n).map(|j| 0.1 + j as f64).collect();
            lu.matrix_mut()[..n].copy_from_slice(&row);
            lu.matrix_mut()[n..2 * n].copy_from_slice(&row);
            assert!(!lu.factorise(), "repeated row, size {n}");
            diagonal(&mut lu);
            lu.matrix_mut()[0] = f64::NAN;
            assert!(!lu.factorise(), "NaN, size {n}");
        }
    }
}
