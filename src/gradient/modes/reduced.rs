//! The linearised motion in independent coordinates, and its eigenvalues.
//!
//! With a basis N of the motions that the constraints allow, C_q N = 0 and Nᵀ M N = 1, small motions N z obey
//!
//! ```text
//! z'' + D z' + K z = 0,      D = Nᵀ D_v N,  K = Nᵀ D_q N
//! ```
//!
//! States stand behind z as their own independent coordinates, by their rates: z_s' + D_s z' + K_s z = 0, where columns of D by states
//! multiply states themselves.
//!
//! Without damping and with K = Kᵀ they are the eigenvectors of K; else those of the system of first order. In both cases
//! what moves freely, K z = D z = 0, is taken out first: its eigenvalue 0 is a double one with one vector only, of which
//! round-off would make something of the size of its square root.

use crate::diagnosis::dense;
use crate::random::SplitMix64;
use crate::signature::Signature;
use crate::system::Blocks;
use crate::{Error, Result};
use nalgebra::linalg::Schur;
use nalgebra::{ColPivQR, Complex, DMatrix, DVector, Dyn, SymmetricEigen};

type Complexes = DVector<Complex<f64>>;
type ComplexMatrix = DMatrix<Complex<f64>>;

/// Rows of constraints whose part beside the others is smaller than this repeat them.
const REPEATED: f64 = 1e-9;
/// Damping, or a difference between K and its transpose, below this part of what it stands beside is round-off.
const NEGLIGIBLE: f64 = 1e-13;
/// An eigenvalue below this part of the fastest may be the 0 of a motion that no stiffness holds,
const FREE: f64 = 1e-9;
/// if terms of its equations cancel each other to this part.
const CANCELLED: f64 = 1e-12;
/// Eigenvalues that are nearer to each other's conjugate than this part of the fastest may be a pair.
const PAIRED: f64 = 1e-8;

/// An eigenvalue with the vectors on both sides, in independent coordinates: yᵀ (λ² + λ D + K) = 0.
pub(super) struct Pair {
    pub eigenvalue: Complex<f64>,
    pub right: Complexes,
    pub left: Complexes,
}

impl Pair {
    fn real(eigenvalue: Complex<f64>, vector: DVector<f64>) -> Self {
        let vector = vector.map(|x| Complex::new(x, 0.0));
        Pair { eigenvalue, left: vector.clone(), right: vector }
    }
}

/// M, D_v and D_q in independent coordinates.
pub(super) struct Reduced {
    /// N, n x f, of coordinates and states apart.
    basis: DMatrix<f64>,
    /// The last ones of n, and of f.
    states: usize,
    /// M, D_v and D_q.
    full: [DMatrix<f64>; 3],
    damping: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    /// C_q, m x n.
    jacobian: DMatrix<f64>,
    /// Decomposition of C_qᵀ by coordinates, with its rank; none without constraints.
    constraints: Option<(ColPivQR<f64, Dyn, Dyn>, usize)>,
}

impl Reduced {
    /// Equations of a mechanism of this signature, reduced.
    pub fn of(blocks: &Blocks, signature: &Signature) -> Result<Self> {
        let (n, states) = (signature.coordinates.len(), signature.states.len());
        let all = dense(&blocks.constraint_by_position);
        let jacobian = all.columns(0, n).transpose();
        let m = jacobian.ncols();
        let constraints = (m > 0).then(|| {
            let longest = jacobian.column_iter().map(|column| column.norm()).fold(0.0, f64::max);
            let factors = ColPivQR::new(jacobian);
            // there may be more rows than coordinates
            let r = factors.r();
            let rank = (0..r.nrows().min(m)).filter(|i| r[(*i, *i)].abs() > REPEATED * longest).count();
            (factors, rank)
        });
        let mut basis = DMatrix::identity(n, n);
        if let Some((factors, rank)) = &constraints {
            // the rows of Qᵀ behind the rank are orthogonal to all constraints
            factors.q_tr_mul(&mut basis);
            basis = basis.rows(*rank, n - rank).transpose();
        }
        let (n, f) = basis.shape();
        let basis = basis.resize(n + states, f + states, 0.0);
        let basis = DMatrix::from_fn(n + states, f + states, |i, j| match j.checked_sub(f) {
            Some(state) if i == n + state => 1.0,
            _ => basis[(i, j)],
        });
        let mass = basis.transpose() * dense(&blocks.mass) * &basis;
        let Some(mass) = mass.cholesky() else {
            let problem = "its mass matrix is not positive along the motions that the constraints allow";
            return Err(Error::invalid(signature.place(), problem, "give every body a mass and an inertia"));
        };
        // N L⁻ᵀ, whose transpose solves L X = Nᵀ; the factor has a positive diagonal
        let transposed = mass.l().solve_lower_triangular(&basis.transpose()).unwrap_or_else(|| basis.transpose());
        let basis = transposed.transpose();
        let inertia = dense(&blocks.inertia_by_position);
        let by_position = inertia + dense(&blocks.constraint_force_by_position) - dense(&blocks.force_by_position);
        let full = [dense(&blocks.mass), -dense(&blocks.force_by_velocity), by_position];
        let [_, damping, stiffness] = [0, 1, 2].map(|k| basis.transpose() * &full[k] * &basis);
        Ok(Reduced { basis, states, full, damping, stiffness, jacobian: all, constraints })
    }

    /// A vector of the independent coordinates in all of them, and the multipliers μ with (λ² M + λ D_v + D_q) φ + C_qᵀ μ = 0; the same
    /// with transposed matrices for a left vector.
    pub fn whole(&self, lambda: Complex<f64>, own: &Complexes, is_left: bool) -> [Complexes; 2] {
        let phi = complex(&self.basis) * own;
        let mut force = Complexes::zeros(phi.len());
        let [mut rates, mut positions] = [&phi * lambda, phi.clone()];
        if !is_left {
            let first = phi.len() - self.states;
            rates.rows_mut(first, self.states).copy_from(&phi.rows(first, self.states));
            positions.rows_mut(first, self.states).fill(Complex::new(0.0, 0.0));
        }
        let vectors = [&rates * lambda, rates, positions];
        for (matrix, phi) in self.full.iter().zip(vectors) {
            for part in [phi.map(|z| z.re), phi.map(|z| z.im)].into_iter().zip([Complex::new(1.0, 0.0), Complex::i()]) {
                let product = if is_left { matrix.tr_mul(&part.0) } else { matrix * &part.0 };
                force.iter_mut().zip(product.iter()).for_each(|(sum, x)| *sum += part.1 * *x);
            }
        }
        let [real, imaginary] = [force.map(|z| z.re), force.map(|z| z.im)].map(|part| self.multipliers(&-part));
        [phi, real.zip_map(&imaginary, Complex::new)]
    }

    /// μ of C_qᵀ μ = b; where rows repeat others, those have none.
    fn multipliers(&self, b: &DVector<f64>) -> DVector<f64> {
        let Some((factors, rank)) = &self.constraints else { return DVector::zeros(0) };
        let r = factors.r();
        let mut projected = b.rows(0, b.len() - self.states).clone_owned();
        factors.q_tr_mul(&mut projected);
        let own = r.view((0, 0), (*rank, *rank)).solve_upper_triangular(&projected.rows(0, *rank).clone_owned());
        let mut multipliers = DVector::zeros(r.ncols());
        // the diagonal has no zeros up to the rank
        multipliers.rows_mut(0, *rank).copy_from(&own.unwrap_or_else(|| DVector::zeros(*rank)));
        factors.p().inv_permute_rows(&mut multipliers);
        multipliers
    }

    /// Motions that nothing leads back from: all (q, ν) with A(0) (q, ν) = 0, perpendicular to each other but for ν.
    pub fn unheld(&self) -> Vec<Vec<f64>> {
        let size = self.stiffness.nrows();
        let mut held = self.stiffness.clone();
        let first = size - self.states;
        held.columns_mut(first, self.states).copy_from(&self.damping.columns(first, self.states));
        let limit = 8.0 * size as f64 * f64::EPSILON * held.amax();
        let parts = held.svd(false, true);
        let Some(directions) = parts.v_t else { return Vec::new() };
        let free = (0..size).filter(|i| parts.singular_values[*i] <= limit);
        let whole = |i: usize| {
            let own = directions.row(i).transpose().map(|x| Complex::new(x, 0.0));
            let [shape, multipliers] = self.whole(Complex::new(0.0, 0.0), &own, false);
            shape.iter().chain(multipliers.iter()).map(|z| z.re).collect()
        };
        free.map(whole).collect()
    }

    /// About the largest |λ|, 1/s.
    pub fn fastest(&self) -> f64 {
        self.damping.amax().max(self.stiffness.amax().sqrt())
    }

    /// M, D_v and D_q in all coordinates; columns of D_v by states multiply states themselves.
    pub fn full(&self) -> &[DMatrix<f64>; 3] {
        &self.full
    }

    /// C_q, m x n.
    pub fn jacobian(&self) -> &DMatrix<f64> {
        &self.jacobian
    }

    /// Rows of constraints that do not repeat others.
    pub fn independent_rows(&self) -> Vec<usize> {
        let Some((factors, rank)) = &self.constraints else { return Vec::new() };
        let count = factors.r().ncols();
        let mut places = DMatrix::from_fn(1, count, |_, j| j as f64);
        factors.p().permute_columns(&mut places);
        let mut rows: Vec<usize> = places.iter().take(*rank).map(|place| *place as usize).collect();
        rows.sort_unstable();
        rows
    }

    /// Derivative yᵀ A'(λ) x of a pair.
    pub fn slope(&self, pair: &Pair) -> Complex<f64> {
        slope(&complex(&self.damping), self.states, pair)
    }

    /// All modes: one of each pair of conjugates, and one of each free motion.
    ///
    /// # Errors
    /// If the eigenvalues cannot be found, which says that the equations are out of all scale.
    pub fn pairs(&self) -> Result<Vec<Pair>> {
        let (stiff, fastest) = (self.stiffness.amax(), self.fastest());
        let (free, bound) = self.free(fastest);
        let mut pairs: Vec<Pair> =
            free.column_iter().map(|column| Pair::real(Complex::new(0.0, 0.0), column.clone_owned())).collect();
        if bound.ncols() == 0 {
            return Ok(pairs);
        }
        let own = bound.transpose() * &self.stiffness * &bound;
        let damping = bound.transpose() * &self.damping * &bound;
        let asymmetry = (&own - own.transpose()).amax();
        let is_of_second_order = self.states == 0;
        if is_of_second_order
            && damping.amax() <= NEGLIGIBLE * fastest
            && asymmetry <= NEGLIGIBLE * stiff * own.nrows() as f64
        {
            let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new((&own + own.transpose()) * 0.5);
            for (square, vector) in eigenvalues.iter().zip(eigenvectors.column_iter()) {
                let root = Complex::new(-square, 0.0).sqrt();
                pairs.push(Pair::real(root, &bound * vector));
                if *square < 0.0 {
                    pairs.push(Pair::real(-root, &bound * vector));
                }
            }
            return Ok(pairs);
        }
        for pair in damped_pairs([&own, &damping], fastest, self.states)? {
            let bound = complex(&bound);
            pairs.push(Pair { right: &bound * pair.right, left: &bound * pair.left, ..pair });
        }
        Ok(pairs)
    }

    /// Orthonormal bases of what moves freely, and of the rest, which ends with the states.
    fn free(&self, fastest: f64) -> (DMatrix<f64>, DMatrix<f64>) {
        let whole = self.stiffness.nrows();
        let size = whole - self.states;
        let none = (DMatrix::zeros(whole, 0), DMatrix::identity(whole, whole));
        if size == 0 {
            return none;
        }
        if fastest == 0.0 {
            return (none.1, none.0);
        }
        let mut both = DMatrix::zeros(2 * whole, size);
        both.rows_mut(0, whole).copy_from(&(self.stiffness.columns(0, size) / (fastest * fastest)));
        both.rows_mut(whole, whole).copy_from(&(self.damping.columns(0, size) / fastest));
        let limit = 8.0 * size as f64 * f64::EPSILON;
        let parts = both.clone().svd(false, true);
        let Some(directions) = parts.v_t else { return none };
        let order = |free: bool| {
            let chosen: Vec<usize> = (0..size).filter(|i| (parts.singular_values[*i] <= limit) == free).collect();
            directions.select_rows(&chosen).transpose()
        };
        let (free, bound) = (order(true), order(false));
        let count = bound.ncols();
        let free = free.clone().resize(whole, free.ncols(), 0.0);
        let mut bound = bound.resize(whole, count + self.states, 0.0);
        bound.view_mut((size, count), (self.states, self.states)).fill_diagonal(1.0);
        // nothing else may push it either
        let pushed = [&self.stiffness / (fastest * fastest), &self.damping / fastest]
            .map(|matrix| (free.transpose() * matrix).amax())
            .into_iter()
            .fold(0.0, f64::max);
        if free.ncols() == 0 || pushed > 1e3 * limit { none } else { (free, bound) }
    }
}

fn complex(matrix: &DMatrix<f64>) -> ComplexMatrix {
    matrix.map(|x| Complex::new(x, 0.0))
}

/// Vectors of an upper triangular matrix to the eigenvalues on its diagonal, as columns.
fn triangular_vectors(t: &ComplexMatrix) -> ComplexMatrix {
    let size = t.nrows();
    let tiny = f64::EPSILON * t.camax();
    let mut vectors = DMatrix::identity(size, size);
    for k in 0..size {
        for i in (0..k).rev() {
            let sum: Complex<f64> = (i + 1..=k).map(|j| t[(i, j)] * vectors[(j, k)]).sum();
            let mut gap = t[(i, i)] - t[(k, k)];
            if gap.norm() < tiny {
                gap = Complex::new(tiny, 0.0);
            }
            vectors[(i, k)] = -sum / gap;
        }
        let length = vectors.column(k).norm();
        vectors.column_mut(k).unscale_mut(length);
    }
    vectors
}

/// Times that the iteration is restarted, in other coordinates: its shifts fail for some matrices with many zeros.
const ATTEMPTS: usize = 4;

/// The unitary factor of a matrix, and its triangular one.
fn schur(matrix: &DMatrix<f64>) -> Result<[ComplexMatrix; 2]> {
    let size = matrix.nrows();
    let mut random = SplitMix64::new(1);
    let mut turn = DMatrix::identity(size, size);
    for _ in 0..ATTEMPTS {
        let turned = turn.transpose() * matrix * &turn;
        if let Some(found) = Schur::try_new(complex(&turned), f64::EPSILON, 60 * size.max(10)) {
            let (q, t) = found.unpack();
            return Ok([complex(&turn) * q, t]);
        }
        // a reflection at a plane of no meaning
        let normal = DVector::from_fn(size, |_, _| random.normal()).normalize();
        turn = DMatrix::identity(size, size) - &normal * normal.transpose() * 2.0;
    }
    let problem = "the iteration for its eigenvalues does not converge";
    Err(Error::invalid(
        "the linearised motion",
        problem,
        "check the units of masses and stiffnesses for values out of scale",
    ))
}

/// yᵀ A'(λ) x with the last `states` entries of x behind those by positions: 2 λ + D by these, 1 by states.
fn slope(damping: &ComplexMatrix, states: usize, Pair { eigenvalue, right, left }: &Pair) -> Complex<f64> {
    let (mut moved, mut turned) = (right.clone(), right * (eigenvalue * 2.0));
    let first = right.len() - states;
    moved.rows_mut(first, states).fill(Complex::new(0.0, 0.0));
    turned.rows_mut(first, states).copy_from(&right.rows(first, states));
    left.dot(&(damping * moved + turned))
}

/// Velocities, and behind them states as they are, of a motion e^(λ t) whose shape is x.
fn rates(lambda: Complex<f64>, x: &Complexes, states: usize) -> Complexes {
    let mut rates = x * lambda;
    let first = x.len() - states;
    rates.rows_mut(first, states).copy_from(&x.rows(first, states));
    rates
}

/// Factors of the states, powers of two, that make their rows and columns in a matrix of first order alike: from `first` on.
fn balance(matrix: &mut DMatrix<f64>, first: usize) -> Vec<f64> {
    /// Each is changed a few times, because the others change with it.
    const ROUNDS: usize = 8;
    let mut factors = vec![1.0; matrix.nrows()];
    let size = matrix.nrows();
    for j in (0..ROUNDS).flat_map(|_| first..size) {
        let beside = |k: usize, x: f64| if k == j { 0.0 } else { x.abs() };
        let row = matrix.row(j).iter().enumerate().map(|(k, x)| beside(k, *x)).sum::<f64>();
        let column = matrix.column(j).iter().enumerate().map(|(k, x)| beside(k, *x)).sum::<f64>();
        let factor = (row / column).log2() / 2.0;
        if factor.is_finite() {
            let factor = factor.round().exp2();
            matrix.row_mut(j).unscale_mut(factor);
            matrix.column_mut(j).scale_mut(factor);
            factors[j] *= factor;
        }
    }
    factors
}

/// Modes of z'' + D z' + K z = 0, and of states behind z.
fn damped_pairs([stiffness, damping]: [&DMatrix<f64>; 2], fastest: f64, states: usize) -> Result<Vec<Pair>> {
    let size = stiffness.nrows();
    let (own, order) = (size - states, 2 * size - states);
    // time in units of the fastest motion, so that both halves are alike, and states in units of velocities
    let (stiff, damped) = (stiffness / (fastest * fastest), damping / fastest);
    let mut first_order = DMatrix::zeros(order, order);
    first_order.view_mut((0, own), (own, own)).fill_diagonal(1.0);
    first_order.view_mut((own, 0), (size, own)).copy_from(&-stiff.columns(0, own));
    first_order.view_mut((own, own), (size, size)).copy_from(&-&damped);
    let factors = balance(&mut first_order, 2 * own);
    let [q, t] = schur(&first_order)?;
    let mut right = q * triangular_vectors(&t);
    let Some(mut left) = right.clone().try_inverse() else {
        let problem = "two of its modes are one, as at critical damping, and have no derivatives";
        return Err(Error::invalid("the linearised motion", problem, "change a damping by a small part"));
    };
    for (j, factor) in factors.iter().enumerate().skip(2 * own) {
        right.row_mut(j).scale_mut(*factor);
        left.column_mut(j).unscale_mut(*factor);
    }
    let (stiff, damped) = (complex(&stiff), complex(&damped));
    let mut pairs = Vec::new();
    for k in 0..order {
        let shape = right.column(k);
        let mut pair = Pair {
            eigenvalue: t[(k, k)],
            right: Complexes::from_fn(size, |j, _| shape[if j < own { j } else { own + j }]),
            // yᵀ A(λ) = 0 for the second half of a left vector
            left: left.view((k, own), (1, size)).row(0).transpose(),
        };
        pair.right /= Complex::new(pair.right.norm(), 0.0);
        // what is left of the equations, of which columns of K by states are zero
        let residual = |lambda: Complex<f64>, x: &Complexes| {
            let rates = rates(lambda, x, states);
            &rates * lambda + &damped * &rates + &stiff * x
        };
        // Newton's iteration for the eigenvalue, whose error is the product of those of both vectors
        for _ in 0..2 {
            let lambda = pair.eigenvalue;
            let change = pair.left.dot(&residual(lambda, &pair.right)) / slope(&damped, states, &pair);
            if change.norm() < 1e-3 * (lambda.norm() + f64::EPSILON) {
                pair.eigenvalue -= change;
            }
        }
        // what friction stops, but no stiffness brings back: its motion from one place to another has the eigenvalue 0
        let zero = Complex::new(0.0, 0.0);
        let held = residual(zero, &pair.right).norm();
        let sizes = |matrix: &ComplexMatrix| matrix.map(|z| z.norm());
        let terms = sizes(&stiff) * pair.right.map(|z| z.norm())
            + sizes(&damped) * rates(zero, &pair.right, states).map(|z| z.norm());
        if pair.eigenvalue.norm() < FREE && held <= CANCELLED * terms.norm() {
            pair.eigenvalue = zero;
        }
        pair.eigenvalue *= fastest;
        pair.right.rows_mut(own, states).iter_mut().for_each(|z| *z *= fastest);
        // what is nobody's conjugate is real, and its imaginary part round-off
        let conjugate = t[(k, k)].conj();
        let has_partner =
            (0..order).any(|l| l != k && (t[(l, l)] - conjugate).norm() <= PAIRED.max(PAIRED * conjugate.norm()));
        let is_real = pair.eigenvalue.im.abs() <= 1e-12 * pair.eigenvalue.norm() || !has_partner;
        if is_real {
            pair.eigenvalue.im = 0.0;
        }
        if is_real || pair.eigenvalue.im > 0.0 {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}
