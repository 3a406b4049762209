//! Residuals and their Jacobian after an orthogonal reduction: all that least-squares methods and statistics need of them.
//!
//! With residuals r(u) and S = dr/du, the triangular factor of [S r] holds the cost, the gradient and the Gauss-Newton model
//! in (p+1)² numbers, without the loss of digits of SᵀS. Rows are taken in as they come, so that a million of them need no
//! memory.

use nalgebra::{DMatrix, DVector, DVectorView};

/// Directions whose singular value is below this part of the largest one are undetermined. Round-off alone leaves as much
/// of a direction without any information: about 1e-11 for a pendulum in Cartesian coordinates with steps of 2 ms, growing
/// with 1/h² to 3e-8 with 50 µs. No measurement is so free of noise that it would tell more.
pub const UNDETERMINED: f64 = 1e-6;

/// J(u + d) ≈ ½ |r + S d|².
#[derive(Debug, Clone, PartialEq)]
pub struct Linearised {
    /// Number of residuals.
    pub rows: usize,
    /// R_S, p x p upper triangular: SᵀS = R_Sᵀ R_S.
    factor: DMatrix<f64>,
    /// Qᵀ r, p entries.
    projected: DVector<f64>,
    /// Norm of r outside the range of S, which no step can remove.
    remainder: f64,
}

impl Linearised {
    /// Number of parameters.
    pub fn dimension(&self) -> usize {
        self.projected.len()
    }

    /// ½ rᵀ r.
    pub fn cost(&self) -> f64 {
        0.5 * (self.projected.norm_squared() + self.remainder * self.remainder)
    }

    /// Gradient Sᵀ r.
    pub fn gradient(&self) -> Vec<f64> {
        (self.factor.transpose() * &self.projected).as_slice().to_vec()
    }

    /// R_S, upper triangular.
    pub fn factor(&self) -> &DMatrix<f64> {
        &self.factor
    }

    /// Norms of the columns of S.
    pub fn column_norms(&self) -> Vec<f64> {
        let norm = |column: DVectorView<f64>| {
            // squares might overflow, or vanish
            let most = column.amax();
            if most > 0.0 && most.is_finite() { most * (column / most).norm() } else { most }
        };
        self.factor.column_iter().map(norm).collect()
    }

    /// Projected residuals Qᵀ r.
    pub fn projected(&self) -> &DVector<f64> {
        &self.projected
    }

    /// The norm of r outside the range of S.
    pub fn remainder(&self) -> f64 {
        self.remainder
    }

    /// The linearised problem in variables x with du_k = scale_k dx_k, for some of the parameters.
    pub fn scaled(&self, chosen: &[usize], scales: &[f64]) -> Linearised {
        let p = self.dimension();
        let mut reduction = Reduction::new(chosen.len());
        for i in 0..p {
            let row: Vec<f64> = chosen.iter().zip(scales).map(|(&k, scale)| self.factor[(i, k)] * scale).collect();
            reduction.add(&row, self.projected[i]);
        }
        reduction.add(&vec![0.0; chosen.len()], self.remainder);
        Linearised { rows: self.rows, ..reduction.finish() }
    }
}

/// Takes in rows of [S r].
#[derive(Debug, Clone)]
pub struct Reduction {
    p: usize,
    rows: usize,
    /// Rows waiting, after the p + 1 rows of the factor so far.
    block: DMatrix<f64>,
    filled: usize,
    /// Room for the vector of a reflection.
    reflection: Vec<f64>,
}

const BLOCK: usize = 256;

/// aᵀ b in several lanes, for long columns.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    DVectorView::from_slice(a, a.len()).dot(&DVectorView::from_slice(b, b.len()))
}

impl Reduction {
    /// A reduction for residuals of `p` parameters.
    pub fn new(p: usize) -> Self {
        let height = p + 1 + BLOCK;
        Reduction { p, rows: 0, block: DMatrix::zeros(height, p + 1), filled: p + 1, reflection: vec![0.0; height] }
    }

    /// Takes in one residual and its derivatives.
    pub fn add(&mut self, derivatives: &[f64], residual: f64) {
        self.add_scaled(1.0, derivatives, residual);
    }

    /// Takes in one residual, and `factor` times these derivatives.
    pub fn add_scaled(&mut self, factor: f64, derivatives: &[f64], residual: f64) {
        if self.filled == self.block.nrows() {
            self.reduce();
        }
        for (k, derivative) in derivatives.iter().enumerate() {
            self.block[(self.filled, k)] = factor * derivative;
        }
        self.block[(self.filled, self.p)] = residual;
        self.filled += 1;
        self.rows += 1;
    }

    /// Householder reflections, column by column, over the rows that are filled.
    fn reduce(&mut self) {
        let (p, rows, height) = (self.p, self.filled, self.block.nrows());
        for k in 0..=p {
            let v = &mut self.reflection[k..rows];
            let (column, others) = self.block.as_mut_slice()[k * height..].split_at_mut(height);
            let column = &mut column[k..rows];
            v.copy_from_slice(column);
            let norm = dot(v, v).sqrt();
            if norm == 0.0 {
                continue;
            }
            if !norm.is_finite() {
                // must not be lost with the rows below: cost or gradient will show it
                column[0] = f64::NAN;
                continue;
            }
            let alpha = if column[0] > 0.0 { -norm } else { norm };
            v[0] -= alpha;
            let size = dot(v, v);
            column.fill(0.0);
            column[0] = alpha;
            for other in others.chunks_exact_mut(height) {
                let other = &mut other[k..rows];
                let factor = 2.0 * dot(v, other) / size;
                other.iter_mut().zip(&*v).for_each(|(entry, v)| *entry -= factor * v);
            }
        }
        self.filled = p + 1;
    }

    /// The factor of all rows.
    pub fn finish(mut self) -> Linearised {
        self.reduce();
        let p = self.p;
        Linearised {
            rows: self.rows,
            factor: self.block.view((0, 0), (p, p)).into_owned(),
            projected: self.block.view((0, p), (p, 1)).column(0).into_owned(),
            remainder: self.block[(p, p)].abs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects against silence: an entry that is not finite shows in the cost or the gradient, wherever it is.
    #[test]
    fn what_is_not_finite_is_not_lost() {
        for value in [f64::NAN, f64::INFINITY] {
            for place in 0..6 {
                let mut rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 2.0]];
                rows[place / 3][place % 3] = value;
                let mut reduction = Reduction::new(2);
                rows.iter().for_each(|row| reduction.add(&row[..2], row[2]));
                let linearised = reduction.finish();
                let finite = linearised.cost().is_finite() && linearised.gradient().iter().all(|g| g.is_finite());
                assert!(!finite, "{value} at {place}: {linearised:?}");
            }
        }
    }

    /// Protects the reduction: cost, gradient and SᵀS are those of the rows, over several blocks and after scaling.
    #[test]
    fn the_factor_keeps_cost_gradient_and_normal_matrix() {
        let (p, rows) = (3, 1000);
        let s = |i: usize, k: usize| ((i * (k + 2)) as f64 * 0.37).sin() * 10f64.powi(k as i32);
        let r = |i: usize| (i as f64 * 0.11).cos();
        let mut reduction = Reduction::new(p);
        (0..rows).for_each(|i| reduction.add(&[s(i, 0), s(i, 1), s(i, 2)], r(i)));
        let linearised = reduction.finish();
        assert_eq!(linearised.rows, rows);
        let cost = 0.5 * (0..rows).map(|i| r(i) * r(i)).sum::<f64>();
        assert!((linearised.cost() / cost - 1.0).abs() < 1e-13);
        let half = linearised.scaled(&[2, 0], &[0.5, 2.0]);
        for k in 0..p {
            let gradient: f64 = (0..rows).map(|i| s(i, k) * r(i)).sum();
            assert!((linearised.gradient()[k] - gradient).abs() < 1e-11 * 10f64.powi(k as i32), "gradient {k}");
            for j in 0..p {
                let entry: f64 = (0..rows).map(|i| s(i, k) * s(i, j)).sum();
                let normal = linearised.factor().transpose() * linearised.factor();
                assert!((normal[(k, j)] - entry).abs() < 1e-11 * 10f64.powi((k + j) as i32), "entry {k} {j}");
            }
        }
        assert!((half.gradient()[0] - 0.5 * linearised.gradient()[2]).abs() < 1e-11);
        assert!((half.gradient()[1] - 2.0 * linearised.gradient()[0]).abs() < 1e-11);
        assert!((half.cost() / cost - 1.0).abs() < 1e-13);
    }
}
