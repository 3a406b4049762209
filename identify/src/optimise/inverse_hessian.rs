//! Curvature as methods by gradients know it: approximations of the inverse Hessian, learnt from gradients.

use super::evaluation::dot;
use costate::dense::add_scaled;
use std::collections::VecDeque;

/// The first direction is the steepest. Of the others it is assumed, until they are known, that they are flatter by this
/// factor: steps too short in a flat direction take many iterations to grow, steps too long are cut within one. The
/// engine mount takes 38 evaluations with 100, and 45 with 1.
const FLATNESS: f64 = 100.0;

/// An approximation H of the inverse Hessian, positive definite at any time.
#[derive(Debug, Clone)]
pub(crate) struct InverseHessian {
    formula: Formula,
    /// Scale of the identity that H starts from.
    scale: f64,
    /// H as a matrix, row by row, from the first update on (BFGS and DFP).
    matrix: Vec<f64>,
    /// The last steps (L-BFGS).
    pairs: VecDeque<Pair>,
}

/// Formula by which a step changes H.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formula {
    /// Nocedal & Wright, eq. (6.17).
    Bfgs,
    /// Nocedal & Wright, eq. (6.15).
    Dfp,
    /// Nocedal & Wright, Algorithm 7.4.
    LBfgs { memory: usize },
    /// No change: steepest descent.
    None,
}

/// A step s and the change y of the gradient over it.
#[derive(Debug, Clone)]
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
}

impl InverseHessian {
    pub fn new(formula: Formula) -> Self {
        InverseHessian { formula, scale: 1.0, matrix: Vec::new(), pairs: VecDeque::new() }
    }

    /// Forgets all, H = scale * identity.
    pub fn reset(&mut self, scale: f64) {
        self.scale = scale;
        self.matrix.clear();
        self.pairs.clear();
    }

    /// True before the first update: directions are those of steepest descent.
    pub fn is_plain(&self) -> bool {
        self.matrix.is_empty() && self.pairs.is_empty()
    }

    pub fn learns(&self) -> bool {
        self.formula != Formula::None
    }

    /// Learns from a step s and the change y of the gradient. A pair without positive curvature s'y > 0 would spoil the
    /// definiteness and is left out (`false`): the bounds may end a step before the Wolfe conditions guarantee it.
    pub fn update(&mut self, s: Vec<f64>, y: Vec<f64>) -> bool {
        let (sy, yy, ss) = (dot(&s, &y), dot(&y, &y), dot(&s, &s));
        if !(sy > 1e-14 * (ss * yy).sqrt() && sy.is_normal() && (sy / yy).is_normal()) {
            return false;
        }
        match self.formula {
            Formula::None => {}
            Formula::LBfgs { memory } => {
                self.pairs.truncate(memory - 1);
                self.pairs.push_front(Pair { s, y });
            }
            Formula::Bfgs | Formula::Dfp => {
                let n = s.len();
                if self.matrix.is_empty() {
                    // Nocedal & Wright, eq. (6.20), for the curvature of the first, steep, direction; the others are flatter.
                    self.scale = FLATNESS * sy / yy;
                    self.matrix = vec![0.0; n * n];
                    (0..n).for_each(|i| self.matrix[i * n + i] = self.scale);
                }
                let hy: Vec<f64> = self.matrix.chunks_exact(n).map(|row| dot(row, &y)).collect();
                let yhy = dot(&y, &hy);
                for (i, row) in self.matrix.chunks_exact_mut(n).enumerate() {
                    for (j, h) in row.iter_mut().enumerate() {
                        *h += match self.formula {
                            Formula::Dfp => s[i] * s[j] / sy - hy[i] * hy[j] / yhy,
                            _ => ((1.0 + yhy / sy) * s[i] * s[j] - hy[i] * s[j] - s[i] * hy[j]) / sy,
                        };
                    }
                }
            }
        }
        true
    }

    /// The direction d = -(B_FF)^-1 g_F on the free variables F, with B = H^-1, and 0 on the others: the minimiser of the
    /// quadratic model with the others held. `None` if rounding has spoilt H.
    pub fn direction(&self, gradient: &[f64], held: &[bool]) -> Option<Vec<f64>> {
        let free = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(held).map(|(&v, &held)| if held { 0.0 } else { v }).collect()
        };
        let g = free(gradient);
        let d = if self.is_plain() {
            g.iter().map(|g| -self.scale * g).collect()
        } else if self.matrix.is_empty() {
            self.two_loop_recursion(g, free)
        } else {
            self.dense_direction(g, held)?
        };
        (d.iter().all(|d| d.is_finite()) && dot(&d, gradient) < 0.0).then_some(d)
    }

    /// (B_FF)^-1 = H_FF - H_FA (H_AA)^-1 H_AF, the Schur complement, A being the held variables.
    fn dense_direction(&self, mut g: Vec<f64>, held: &[bool]) -> Option<Vec<f64>> {
        let n = g.len();
        let h = |i: usize, j: usize| self.matrix[i * n + j];
        let product = |g: &[f64]| -> Vec<f64> { self.matrix.chunks_exact(n).map(|row| dot(row, g)).collect() };
        let hg = product(&g);
        let active: Vec<usize> = (0..n).filter(|&i| held[i]).collect();
        if active.is_empty() {
            return Some(hg.iter().map(|v| -v).collect());
        }
        let m = active.len();
        let block: Vec<f64> = active.iter().flat_map(|&i| active.iter().map(move |&j| h(i, j))).collect();
        let rhs = active.iter().map(|&i| hg[i]).collect();
        for (&i, z) in active.iter().zip(solve_cholesky(block, rhs, m)?) {
            g[i] = -z;
        }
        let hg = product(&g);
        Some((0..n).map(|i| if held[i] { 0.0 } else { -hg[i] }).collect())
    }

    /// Nocedal & Wright, Algorithm 7.4, with the pairs cut to the free variables.
    fn two_loop_recursion(&self, mut q: Vec<f64>, free: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let pairs = self.pairs.iter().map(|pair| Pair { s: free(&pair.s), y: free(&pair.y) });
        let pairs: Vec<(Pair, f64)> = pairs.map(|pair| (dot(&pair.s, &pair.y), pair)).map(|(sy, p)| (p, sy)).collect();
        let usable = |(pair, sy): &&(Pair, f64)| *sy > 1e-14 * (dot(&pair.s, &pair.s) * dot(&pair.y, &pair.y)).sqrt();
        let pairs: Vec<_> = pairs.iter().filter(usable).collect();
        let mut alphas = Vec::with_capacity(pairs.len());
        for (Pair { s, y }, sy) in &pairs {
            let alpha = dot(s, &q) / sy;
            add_scaled(-alpha, y, &mut q);
            alphas.push(alpha);
        }
        let scale = pairs.first().map_or(self.scale, |(Pair { y, .. }, sy)| sy / dot(y, y));
        q.iter_mut().for_each(|q| *q *= scale);
        for ((Pair { s, y }, sy), alpha) in pairs.iter().zip(&alphas).rev() {
            let beta = dot(y, &q) / sy;
            add_scaled(alpha - beta, s, &mut q);
        }
        q.iter().map(|q| -q).collect()
    }
}

/// Solves a x = b with symmetric positive definite a (n x n); `None` if it is not.
fn solve_cholesky(mut a: Vec<f64>, mut b: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    for i in 0..n {
        for j in 0..=i {
            let sum = a[i * n + j] - dot(&a[i * n..i * n + j], &a[j * n..j * n + j]);
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return None;
                }
                a[i * n + i] = sum.sqrt();
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
        b[i] = (b[i] - dot(&a[i * n..i * n + i], &b[..i])) / a[i * n + i];
    }
    for i in (0..n).rev() {
        b[i] /= a[i * n + i];
        for j in 0..i {
            b[j] -= a[i * n + j] * b[i];
        }
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hessian of a convex quadratic function, for the tests.
    const B: [[f64; 3]; 3] = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]];

    fn taught(formula: Formula) -> InverseHessian {
        let mut h = InverseHessian::new(formula);
        for s in [[1.0, 0.2, 0.0], [0.3, -1.0, 0.1], [0.0, 0.4, 1.0]] {
            let y = B.iter().map(|row| dot(row, &s)).collect();
            assert!(h.update(s.to_vec(), y));
        }
        h
    }

    /// Protects the formulas: every update satisfies the secant equation H y = s of the last step.
    #[test]
    fn updates_satisfy_the_secant_equation() {
        for formula in [Formula::Bfgs, Formula::Dfp, Formula::LBfgs { memory: 5 }] {
            let s = [0.0, 0.4, 1.0];
            let y: Vec<f64> = B.iter().map(|row| dot(row, &s)).collect();
            let d = taught(formula).direction(&y, &[false; 3]).unwrap();
            for i in 0..3 {
                assert!((d[i] + s[i]).abs() < 1e-12, "{formula:?}: {d:?}");
            }
        }
    }

    /// Protects the reduction to free variables: it is the inverse of the free block of H^-1, not the free block of H.
    #[test]
    fn held_variables_reduce_the_model() {
        let h = taught(Formula::Bfgs);
        let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let inverse: Vec<Vec<f64>> = columns.iter().map(|c| h.direction(c, &[false; 3]).unwrap()).collect();
        let g = [0.7, -0.3, 0.9];
        let d = h.direction(&g, &[false, true, false]).unwrap();
        // H (g + e_1 mu) = -d with (H d)_1 = 0: with B = H^-1, the free rows of B d + g vanish.
        let matrix = nalgebra::Matrix3::from_fn(|i, j| -inverse[i][j]).try_inverse().unwrap();
        let residual = matrix * nalgebra::Vector3::from_row_slice(&d) + nalgebra::Vector3::from_row_slice(&g);
        assert_eq!(d[1], 0.0);
        assert!(residual[0].abs() < 1e-12 && residual[2].abs() < 1e-12, "{residual}");
    }

    /// Protects definiteness: a step against the curvature is not learnt.
    #[test]
    fn negative_curvature_is_left_out() {
        let mut h = taught(Formula::Bfgs);
        assert!(!h.update(vec![1.0, 0.0, 0.0], vec![-1.0, 0.0, 0.0]));
        assert!(!h.update(vec![0.0; 3], vec![0.0; 3]));
    }
}
