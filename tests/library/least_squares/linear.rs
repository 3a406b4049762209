//! Problems that are linear in their variables, determined or not.

use super::{GN, LM, run};
use costate_identify::optimise::{Options, Variable};
use nalgebra::{DMatrix, DVector};

/// Evenly from -1 to 1, always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |_, _| self.next())
    }
}

/// r = A (u - solution) + rest, with a rest that no u can remove.
struct Linear {
    matrix: DMatrix<f64>,
    solution: DVector<f64>,
    rest: DVector<f64>,
}

impl Linear {
    /// A of n columns with unit-free condition about `condition`, where `missing` directions have no influence at all; each variable in
    /// a unit of its own.
    fn new(random: &mut Random, n: usize, missing: usize, condition: f64, noise: f64) -> (Self, Vec<f64>) {
        let (rows, rank) = (n + 30, n - missing);
        let left = random.matrix(rows, rank + 1).qr().q();
        let right = random.matrix(n, n).qr().q();
        let singular = |j: usize| condition.powf(-(j as f64) / (rank.max(2) - 1) as f64);
        let mut matrix = DMatrix::zeros(rows, n);
        for j in 0..rank {
            matrix += singular(j) * left.column(j) * right.column(j).transpose();
        }
        let units: Vec<f64> = (0..n).map(|_| 10f64.powf(6.0 * random.next())).collect();
        matrix.column_iter_mut().zip(&units).for_each(|(mut column, unit)| column /= *unit);
        let solution = DVector::from_fn(n, |k, _| units[k] * (2.0 + random.next()));
        (Linear { matrix, solution, rest: noise * left.column(rank) }, units)
    }

    fn rows(&self, u: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let r = &self.matrix * (DVector::from_column_slice(u) - &self.solution) + &self.rest;
        r.iter().zip(self.matrix.row_iter()).map(|(r, row)| (*r, row.iter().copied().collect())).collect()
    }
}

/// Protects against creeping: a linear problem is solved in three steps at most, with up to 90 variables, a condition of up to 1e10 in
/// columns of unit length, and directions that nothing determines, from any start.
#[test]
fn linear_problems_take_three_steps() {
    let mut random = Random(7);
    for case in 0..16 {
        let n = [3, 12, 40, 90][(case + case / 4) % 4];
        let missing = (case / 4) % 4;
        let (missing, condition) = (missing.min(n - 2), [1e2, 1e10, 1e6][case % 3]);
        let noise = if case % 2 == 0 { 0.0 } else { 1e-3 };
        let (problem, units) = Linear::new(&mut random, n, missing, condition, noise);
        let least = 0.5 * problem.rest.norm_squared();
        for zero in [true, false] {
            let start = |k: usize| if zero { 0.0 } else { units[k] * random.next() };
            let variables: Vec<Variable> =
                (0..n).map(start).enumerate().map(|(k, u)| Variable::new(format!("v{k}"), u)).collect();
            let began: Vec<f64> = variables.iter().map(|variable| variable.start).collect();
            let first = 0.5 * problem.rows(&began).iter().map(|row| row.0 * row.0).sum::<f64>();
            for method in [LM, GN] {
                let outcome = run(|u: &[f64]| Ok(problem.rows(u)), &variables, method, &Options::default());
                let name = format!("{case} {method}: {n} variables, {missing} missing, {condition:e}, noise {noise}");
                // Gauss-Newton's first step is shortened as a whole, of which one more may be left
                let most = if method == LM { 3 } else { 4 };
                assert!(
                    outcome.converged && outcome.iterations <= most,
                    "{name}: {} {}",
                    outcome.iterations,
                    outcome.reason
                );
                // the uncertainty of residuals is that of the products they are made of
                assert!(outcome.cost - least <= 1e-9 * least + 1e-20 * first, "{name}: {:e} {least:e}", outcome.cost);
            }
        }
    }
}
