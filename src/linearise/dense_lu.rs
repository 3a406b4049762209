//! LU factors of a small dense matrix in place, with the transposed solve that an adjoint needs.
//!
//! nalgebra's LU allocates and has no transposed solve. Sizes up to eight are compiled separately, so that their loops are
//! unrolled: one factorisation of five unknowns is then as fast as hand-written C.

/// Row-major matrix and its factors `P A = L U` (L with unit diagonal; U's diagonal is stored inverted).
///
/// The order of the pivots is kept from one factorisation to the next as long as it serves: then nothing is searched and
/// nothing branches. It is chosen again as soon as a multiplier exceeds 16; and where a matrix looks singular, once more
/// with rows and columns in other units: masses of 1e-15 kg beside constraints with slopes of 1 are no singularity.
#[derive(Debug, Clone)]
pub struct DenseLu {
    size: usize,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    /// Row of the matrix that became row k of the factors.
    pub order: Vec<usize>,
    scratch: Vec<f64>,
    /// The matrix in other units; empty until one looks singular.
    balanced: Vec<f64>,
}

/// Largest multiplier (entry of L) that a kept order may produce; a fresh order produces at most 1.
const GROWTH: f64 = 16.0;

/// Sizes up to this have their own code.
pub(super) const OWN_CODE: usize = 8;

/// Right-hand sides that are solved for at once: one waits for the last digit of another no more than a vector unit does.
const LANES: usize = 4;

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

pub(super) use by_size;

impl DenseLu {
    /// Room for matrices of this size.
    pub fn new(size: usize) -> Self {
        let square = vec![0.0; size * size];
        DenseLu {
            size,
            matrix: square.clone(),
            factors: square,
            order: (0..size).collect(),
            scratch: vec![0.0; size],
            balanced: Vec::new(),
        }
    }

    /// Starts over with the order of pivots, so that results do not depend on matrices of earlier runs.
    pub fn forget_order(&mut self) {
        self.order.iter_mut().enumerate().for_each(|(k, row)| *row = k);
    }

    /// The matrix to be filled before [`DenseLu::factorise`], row by row.
    pub fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.matrix
    }

    /// False if a pivot vanishes beside the entries of its column, whatever the units (or is not a number).
    pub fn factorise(&mut self) -> bool {
        let DenseLu { size, matrix, factors, order, scratch, balanced } = self;
        let kept = by_size!(*size, kept_order_fixed, (matrix, factors, order), {
            kept_order_general(matrix, factors, order, *size, scratch)
        });
        kept || fresh_order(matrix, factors, order, *size, scratch)
            || balanced_order(matrix, factors, order, *size, scratch, balanced)
    }

    /// Solves A x = b in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        let DenseLu { size, factors, order, scratch, .. } = self;
        by_size!(*size, solve_fixed, (factors, order, b), solve_general(factors, order, *size, b, scratch));
    }

    /// Solves A x = b in place for many right-hand sides, one behind the other; each as [`DenseLu::solve`] does it, to the last bit.
    pub fn solve_all(&mut self, sides: &mut [f64]) {
        let size = self.size;
        let (together, rest) = sides.split_at_mut(sides.len() - sides.len() % (LANES * size.max(1)));
        for b in together.chunks_exact_mut(LANES * size) {
            let DenseLu { factors, order, .. } = self;
            by_size!(
                size,
                solve_lanes_fixed,
                (factors, order, b),
                b.chunks_exact_mut(size).for_each(|b| self.solve(b))
            );
        }
        rest.chunks_exact_mut(size.max(1)).for_each(|b| self.solve(b));
    }

    /// Solves Aᵀ x = b in place.
    pub fn solve_transposed(&mut self, b: &mut [f64]) {
        let DenseLu { size, factors, order, scratch, .. } = self;
        by_size!(*size, solve_transposed_fixed, (factors, order, b), {
            solve_transposed_general(factors, order, *size, b, scratch)
        });
    }
}

/// A pivot this small beside the largest entry of its column is round-off.
fn is_negligible(pivot: f64, column_size: f64, size: usize) -> bool {
    // the comparison is false for NaN
    let significant = pivot.abs() > 8.0 * size as f64 * f64::EPSILON * column_size;
    !significant
}

/// Largest entry of each column.
fn column_sizes(matrix: &[f64], n: usize, sizes: &mut [f64]) {
    sizes.fill(0.0);
    for row in matrix.chunks_exact(n) {
        for (size, entry) in sizes.iter_mut().zip(row) {
            *size = size.max(entry.abs());
        }
    }
}

/// Factorises with row exchanges as they come; remembers their order.
fn fresh_order(matrix: &[f64], factors: &mut [f64], order: &mut [usize], n: usize, sizes: &mut [f64]) -> bool {
    factors.copy_from_slice(matrix);
    column_sizes(matrix, n, sizes);
    order.iter_mut().enumerate().for_each(|(k, row)| *row = k);
    let mut regular = true;
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if factors[i * n + k].abs() > factors[p * n + k].abs() {
                p = i;
            }
        }
        order.swap(k, p);
        if p != k {
            let (upper, lower) = factors.split_at_mut(p * n);
            upper[k * n..k * n + n].swap_with_slice(&mut lower[..n]);
        }
        regular &= !is_negligible(factors[k * n + k], sizes[k], n);
        eliminate_general(factors, k, n);
    }
    regular
}

/// Factorises in the order of pivots that a balanced matrix asks for, which also decides whether the matrix is regular. Rows
/// and columns are scaled by powers of two: that changes no digit of the factors, so that the matrix itself is factorised in
/// that order as exactly as the balanced one. (A pivot that only cancellation has left vanishes in all units.)
fn balanced_order(
    matrix: &[f64],
    factors: &mut [f64],
    order: &mut [usize],
    n: usize,
    sizes: &mut [f64],
    balanced: &mut Vec<f64>,
) -> bool {
    if !matrix.iter().all(|entry| entry.is_finite()) {
        return false;
    }
    balanced.resize(n * n, 0.0);
    balance(matrix, balanced, n);
    if !fresh_order(balanced, factors, order, n, sizes) {
        return false;
    }
    for (row, &source) in factors.chunks_exact_mut(n).zip(order.iter()) {
        row.copy_from_slice(&matrix[source * n..(source + 1) * n]);
    }
    for k in 0..n {
        eliminate_general(factors, k, n);
    }
    true
}

/// Rows and columns times the powers of two that bring the entries nearest to 1: the mean of their logarithms vanishes in
/// each row and column (Curtis & Reid 1972), up to what some alternating sweeps leave.
fn balance(matrix: &[f64], balanced: &mut [f64], n: usize) {
    const SWEEPS: usize = 12;
    let exponents: Vec<Option<f64>> = matrix.iter().map(|entry| (*entry != 0.0).then(|| entry.abs().log2())).collect();
    let (mut rows, mut columns) = (vec![0.0; n], vec![0.0; n]);
    let mean = |sum: f64, count: usize| if count > 0 { -sum / count as f64 } else { 0.0 };
    for _ in 0..SWEEPS {
        for i in 0..n {
            let entries = (0..n).filter_map(|j| exponents[i * n + j].map(|e| e + columns[j]));
            rows[i] = mean(entries.clone().sum(), entries.count());
        }
        for j in 0..n {
            let entries = (0..n).filter_map(|i| exponents[i * n + j].map(|e| e + rows[i]));
            columns[j] = mean(entries.clone().sum(), entries.count());
        }
    }
    for i in 0..n {
        for j in 0..n {
            let exponent = rows[i].round() + columns[j].round();
            balanced[i * n + j] = matrix[i * n + j] * exponent.clamp(-1000.0, 1000.0).exp2();
        }
    }
}

/// Inverts pivot k and removes it from the rows below; returns the largest multiplier.
fn eliminate_general(factors: &mut [f64], k: usize, n: usize) -> f64 {
    let inverse = 1.0 / factors[k * n + k];
    factors[k * n + k] = inverse;
    let (upper, lower) = factors.split_at_mut((k + 1) * n);
    let pivot_row = &upper[k * n + k + 1..];
    let mut growth = 0.0f64;
    for row in lower.chunks_exact_mut(n) {
        if row[k] != 0.0 {
            let factor = row[k] * inverse;
            row[k] = factor;
            growth = growth.max(factor.abs());
            for (x, y) in row[k + 1..].iter_mut().zip(pivot_row) {
                *x -= factor * y;
            }
        }
    }
    growth
}

fn kept_order_general(matrix: &[f64], factors: &mut [f64], order: &[usize], n: usize, sizes: &mut [f64]) -> bool {
    for (row, &source) in factors.chunks_exact_mut(n).zip(order) {
        row.copy_from_slice(&matrix[source * n..(source + 1) * n]);
    }
    column_sizes(matrix, n, sizes);
    for k in 0..n {
        if is_negligible(factors[k * n + k], sizes[k], n) || eliminate_general(factors, k, n) > GROWTH {
            return false;
        }
    }
    true
}

// rows and columns by index, as in the formulas
#[allow(clippy::needless_range_loop)]
#[inline]
fn kept_order_fixed<const N: usize>(matrix: &[f64], factors: &mut [f64], order: &[usize]) -> bool {
    // the slices have N * N and N entries by construction of DenseLu
    let (matrix, _) = matrix.as_chunks::<N>();
    let (factors, _) = factors.as_chunks_mut::<N>();
    let (Ok(matrix), Ok(factors), Ok(order)) =
        (<&[[f64; N]; N]>::try_from(matrix), <&mut [[f64; N]; N]>::try_from(factors), <&[usize; N]>::try_from(order))
    else {
        return false;
    };
    let mut a = [[0.0; N]; N];
    for k in 0..N {
        a[k] = matrix[order[k]];
    }
    // A = L U with multipliers up to GROWTH: the largest entry above the pivot stands for the column of A, times this
    let caution = N as f64 * GROWTH;
    let mut good = true;
    for k in 0..N {
        let mut column_size = 0.0;
        for row in &a[..k] {
            column_size = if row[k].abs() > column_size { row[k].abs() } else { column_size };
        }
        good &= !is_negligible(a[k][k], caution * column_size, N);
        let inverse = 1.0 / a[k][k];
        a[k][k] = inverse;
        for i in k + 1..N {
            let factor = a[i][k] * inverse;
            a[i][k] = factor;
            good &= factor.abs() <= GROWTH;
            for j in k + 1..N {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    *factors = a;
    good
}

#[inline]
fn solve_fixed<const N: usize>(a: &[f64], order: &[usize], b: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    let (Ok(a), Ok(order), Ok(b)) =
        (<&[[f64; N]; N]>::try_from(rows), <&[usize; N]>::try_from(order), <&mut [f64; N]>::try_from(b))
    else {
        return;
    };
    let mut x = [0.0; N];
    for k in 0..N {
        x[k] = b[order[k]];
    }
    for i in 1..N {
        for j in 0..i {
            x[i] -= a[i][j] * x[j];
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            x[i] -= a[i][j] * x[j];
        }
        x[i] *= a[i][i];
    }
    *b = x;
}

/// As [`solve_fixed`], of several right-hand sides.
#[inline]
fn solve_lanes_fixed<const N: usize>(a: &[f64], order: &[usize], b: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    let (Ok(a), Ok(order), (sides, _)) =
        (<&[[f64; N]; N]>::try_from(rows), <&[usize; N]>::try_from(order), b.as_chunks_mut::<N>())
    else {
        return;
    };
    let Some(sides) = sides.first_chunk_mut::<LANES>() else { return };
    let mut x = [[0.0; LANES]; N];
    for k in 0..N {
        x[k] = std::array::from_fn(|lane| sides[lane][order[k]]);
    }
    for i in 1..N {
        for j in 0..i {
            x[i] = std::array::from_fn(|lane| x[i][lane] - a[i][j] * x[j][lane]);
        }
    }
    for i in (0..N).rev() {
        for j in i + 1..N {
            x[i] = std::array::from_fn(|lane| x[i][lane] - a[i][j] * x[j][lane]);
        }
        x[i] = x[i].map(|x| x * a[i][i]);
    }
    for (lane, side) in sides.iter_mut().enumerate() {
        *side = std::array::from_fn(|i| x[i][lane]);
    }
}

#[inline]
fn solve_transposed_fixed<const N: usize>(a: &[f64], order: &[usize], b: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    let (Ok(a), Ok(order), Ok(b)) =
        (<&[[f64; N]; N]>::try_from(rows), <&[usize; N]>::try_from(order), <&mut [f64; N]>::try_from(b))
    else {
        return;
    };
    let mut x = *b;
    for i in 0..N {
        x[i] *= a[i][i];
        for j in i + 1..N {
            x[j] -= a[i][j] * x[i];
        }
    }
    for i in (1..N).rev() {
        for j in 0..i {
            x[j] -= a[i][j] * x[i];
        }
    }
    for k in 0..N {
        b[order[k]] = x[k];
    }
}

fn solve_general(a: &[f64], order: &[usize], n: usize, b: &mut [f64], x: &mut [f64]) {
    for (x, &row) in x.iter_mut().zip(order) {
        *x = b[row];
    }
    for i in 1..n {
        let known = a[i * n..i * n + i].iter().zip(&x[..i]).map(|(l, x)| l * x).sum::<f64>();
        x[i] -= known;
    }
    for i in (0..n).rev() {
        let known = a[i * n + i + 1..(i + 1) * n].iter().zip(&x[i + 1..n]).map(|(u, x)| u * x).sum::<f64>();
        x[i] = (x[i] - known) * a[i * n + i];
    }
    b.copy_from_slice(x);
}

fn solve_transposed_general(a: &[f64], order: &[usize], n: usize, b: &mut [f64], x: &mut [f64]) {
    x.copy_from_slice(b);
    for i in 0..n {
        x[i] *= a[i * n + i];
        let known = x[i];
        for (entry, u) in x[i + 1..n].iter_mut().zip(&a[i * n + i + 1..(i + 1) * n]) {
            *entry -= u * known;
        }
    }
    for i in (1..n).rev() {
        let known = x[i];
        for (entry, l) in x[..i].iter_mut().zip(&a[i * n..i * n + i]) {
            *entry -= l * known;
        }
    }
    for (&row, x) in order.iter().zip(x.iter()) {
        b[row] = *x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects both solves in every compiled size and the general code: residuals of an unsymmetric matrix that needs
    /// row exchanges (a symmetric one would hide a transposed solve).
    #[test]
    #[allow(clippy::needless_range_loop)]
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
            assert!(lu.factorise(), "size {n}, with the order kept");
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
            let mut sides: Vec<f64> = (0..6 * n).map(|i| (i as f64 + 1.0).cos()).collect();
            let mut alone = sides.clone();
            alone.chunks_exact_mut(n).for_each(|b| lu.solve(b));
            lu.solve_all(&mut sides);
            assert_eq!(sides, alone, "size {n}, six sides");
        }
    }

    /// Protects mechanisms of any size: a chain of small masses, each tied to the next by a constraint, has a regular matrix
    /// with exact solutions; without masses, or with a constraint repeated, it has none.
    #[test]
    fn small_masses_beside_constraints_are_no_singularity() {
        for rows in [1usize, 2, 3, 6] {
            let (count, n) = (rows + 1, 2 * rows + 1);
            let chain = |mass: f64, repeated: bool| {
                let mut matrix = vec![0.0; n * n];
                (0..count).for_each(|i| matrix[i * n + i] = mass * (1.0 + i as f64));
                for row in 0..rows {
                    let first = if repeated && row + 1 == rows { 0 } else { row };
                    for (j, slope) in [(first, 1.0), (first + 1, -0.7)] {
                        matrix[(count + row) * n + j] = slope;
                        matrix[j * n + count + row] = slope;
                    }
                }
                matrix
            };
            let mut lu = DenseLu::new(n);
            let mut regular = |matrix: &[f64]| {
                lu.matrix_mut().copy_from_slice(matrix);
                lu.factorise().then(|| lu.clone())
            };
            for mass in [1e-15, 1e-30] {
                let matrix = chain(mass, false);
                let Some(mut lu) = regular(&matrix) else { panic!("{count} masses of {mass}") };
                // accelerations of size 1, multipliers of the size of forces
                let x: Vec<f64> = (0..n).map(|i| (1.0 + i as f64) * if i < count { 1.0 } else { mass }).collect();
                let b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| matrix[i * n + j] * x[j]).sum()).collect();
                // the matrix is symmetric
                for solve in [DenseLu::solve, DenseLu::solve_transposed] {
                    let mut z = b.clone();
                    solve(&mut lu, &mut z);
                    let error = z.iter().zip(&x).map(|(z, x)| (z / x - 1.0).abs()).fold(0.0, f64::max);
                    assert!(error < 1e-12, "{count} masses of {mass}: {z:?} {x:?}");
                }
                assert!(rows == 1 || regular(&chain(mass, true)).is_none(), "{rows} rows, one repeated");
            }
            assert!(regular(&chain(0.0, false)).is_none(), "{count} coordinates without mass");
        }
    }

    /// Protects the message about redundant constraints: repeated rows, zero columns and NaN are distinguished from bad scaling.
    #[test]
    fn singular_matrices_are_distinguished_from_badly_scaled_ones() {
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
