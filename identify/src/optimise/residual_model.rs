//! The quadratic model of a sum of squares, ½ |r + S d|², damped by ½ λ |D d|²; perhaps with what it leaves out of the Hessian.
//!
//! Without that, S is used through the singular values of R C⁻¹ (R: the triangular factor of S; C: the norms of its columns, so that
//! units of variables drop out before anything is compared with round-off), never through SᵀS. Directions that the residuals do not
//! determine are left alone, with or without damping: steps are those of least norm in the subspace of the others.

use super::bounded_step::Quadratic;
use super::hessian_model::factor;
use costate::dense::svd;
use costate::least_squares::{Linearised, UNDETERMINED};
use nalgebra::{DMatrix, DVector};

/// Singular directions of the Jacobian, its columns of unit length, that a model goes along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Subspace {
    /// Directions whose singular value is no round-off of the decomposition.
    All,
    /// Directions that are certainly determined. Derivatives of simulations are not exact to the last digit: directions without any information
    /// come out with singular values up to 1e-8 of the largest ([`UNDETERMINED`]), and a step along
    /// such a one goes anywhere.
    Determined,
}

impl Subspace {
    /// Singular values below this part of the largest do not count.
    fn tolerance(self) -> f64 {
        match self {
            Subspace::All => 1e-13,
            Subspace::Determined => UNDETERMINED,
        }
    }
}

/// The linearisation at a point.
pub(crate) struct ResidualModel<'a> {
    model: &'a Linearised,
    /// Norms C of the columns.
    columns: Vec<f64>,
    /// Weights D, positive.
    weights: &'a [f64],
    subspace: Subspace,
    /// D⁻¹ (SᵀS + C) D⁻¹, positive definite, where the residuals' own curvature C is to count.
    hessian: Option<DMatrix<f64>>,
    /// Decompositions by the set of variables that stay where they are.
    factors: Vec<(Vec<bool>, Factor)>,
}

/// U Σ Vᵀ.
struct Decomposition {
    u: DMatrix<f64>,
    singular: DVector<f64>,
    v_t: DMatrix<f64>,
}

impl Decomposition {
    fn of(matrix: DMatrix<f64>) -> Option<Self> {
        let svd = svd(matrix, true, true);
        // both were asked for
        Some(Decomposition { u: svd.u?, v_t: svd.v_t?, singular: svd.singular_values })
    }
}

/// R C⁻¹ = U Σ Vᵀ for the variables that move and have a column; the directions that count, and how many do not.
struct Factor {
    moving: Vec<usize>,
    plain: Option<Decomposition>,
    /// Decomposition of R D⁻¹, without what does not count: worked out where it is needed first.
    damped: Option<Decomposition>,
    /// Number of singular values that are no round-off, but below those of determined directions.
    undetermined: usize,
    left_out: usize,
}

impl Factor {
    fn new(model: &ResidualModel, staying: &[bool]) -> Self {
        let moving: Vec<usize> = (0..staying.len()).filter(|&i| !staying[i] && model.columns[i] > 0.0).collect();
        let scaled = DMatrix::from_fn(staying.len(), moving.len(), |i, j| {
            model.model.factor()[(i, moving[j])] / model.columns[moving[j]]
        });
        let whole = if moving.is_empty() { None } else { Decomposition::of(scaled) };
        let (mut undetermined, mut left_out, mut plain) = (0, 0, None);
        if let Some(Decomposition { u, singular, v_t }) = whole {
            let largest = singular.max();
            let above = |subspace: Subspace| {
                let counts = |&j: &usize| singular[j] > subspace.tolerance() * largest;
                (0..singular.len()).filter(counts).collect::<Vec<usize>>()
            };
            let counting = above(model.subspace);
            undetermined = above(Subspace::All).len() - above(Subspace::Determined).len();
            left_out = singular.len() - counting.len();
            plain = Some(Decomposition {
                u: u.select_columns(&counting),
                singular: DVector::from_iterator(counting.len(), counting.iter().map(|&j| singular[j])),
                v_t: v_t.select_rows(&counting),
            });
        }
        Factor { moving, plain, damped: None, undetermined, left_out }
    }

    /// The damped step's part by the residuals that are left.
    fn step(
        &mut self,
        residual: &DVector<f64>,
        damping: f64,
        columns: &[f64],
        weights: &[f64],
    ) -> Option<DVector<f64>> {
        let moving = &self.moving;
        let plain = self.plain.as_ref().filter(|plain| !plain.singular.is_empty())?;
        if damping == 0.0 {
            let y = plain.u.tr_mul(residual).component_div(&plain.singular);
            let z = plain.v_t.tr_mul(&y);
            return Some(DVector::from_fn(moving.len(), |j, _| -z[j] / columns[moving[j]]));
        }
        if self.damped.is_none() {
            let Decomposition { singular, v_t, .. } = plain;
            let ratio = |j: usize| columns[moving[j]] / weights[moving[j]];
            let matrix = DMatrix::from_fn(v_t.nrows(), v_t.ncols(), |i, j| singular[i] * v_t[(i, j)] * ratio(j));
            let Decomposition { u, singular, v_t } = Decomposition::of(matrix)?;
            self.damped = Some(Decomposition { u: &plain.u * u, singular, v_t });
        }
        let Decomposition { u, singular, v_t } = self.damped.as_ref()?;
        let y = u.tr_mul(residual).zip_map(singular, |y, s| y * s / (s * s + damping));
        let z = v_t.tr_mul(&y);
        Some(DVector::from_fn(moving.len(), |j, _| -z[j] / weights[moving[j]]))
    }
}

impl<'a> ResidualModel<'a> {
    /// `hessian`: see [`ResidualCurvature::hessian`](super::residual_curvature::ResidualCurvature::hessian); it counts only where all
    /// directions are determined.
    pub fn new(
        model: &'a Linearised,
        weights: &'a [f64],
        subspace: Subspace,
        held: &[bool],
        hessian: Option<DMatrix<f64>>,
    ) -> Self {
        let columns = model.column_norms();
        let mut all = ResidualModel { model, columns, weights, subspace, hessian: None, factors: Vec::new() };
        let Factor { undetermined, left_out, .. } = *all.decomposed(held);
        all.hessian = hessian.filter(|_| undetermined + left_out == 0);
        all
    }

    /// True if there are directions that [`Subspace::All`] has, and [`Subspace::Determined`] has not, over the variables that are not
    /// `held`.
    pub fn has_undetermined(&mut self, held: &[bool]) -> bool {
        self.decomposed(held).undetermined > 0
    }

    /// D d.
    fn weighted(&self, d: &[f64]) -> DVector<f64> {
        DVector::from_iterator(d.len(), d.iter().zip(self.weights).map(|(d, weight)| d * weight))
    }

    fn decomposed(&mut self, staying: &[bool]) -> &mut Factor {
        let place = match self.factors.iter().position(|(set, _)| set == staying) {
            Some(place) => place,
            None => {
                let new = Factor::new(self, staying);
                self.factors.push((staying.to_vec(), new));
                self.factors.len() - 1
            }
        };
        &mut self.factors[place].1
    }
}

impl ResidualModel<'_> {
    /// Solves with Cholesky's factor of the whole Hessian.
    fn solve_with(&self, hessian: &DMatrix<f64>, staying: &[bool], damping: f64, d: &mut [f64]) {
        let moving: Vec<usize> = (0..staying.len()).filter(|&i| !staying[i]).collect();
        moving.iter().for_each(|&i| d[i] = 0.0);
        let slopes = self.weighted_slopes(d, 0.0);
        let right = DVector::from_iterator(moving.len(), moving.iter().map(|&i| -slopes[i]));
        // a part of a positive definite matrix is one; should round-off say otherwise, these variables stay
        if let Some(factor) = factor(hessian, staying, damping) {
            let step = factor.solve(&right);
            moving.iter().zip(step.iter()).for_each(|(&i, step)| d[i] = step / self.weights[i]);
        }
    }
}

impl Quadratic for ResidualModel<'_> {
    fn solve(&mut self, staying: &[bool], damping: f64, d: &mut [f64]) {
        if let Some(hessian) = &self.hessian {
            return self.solve_with(hessian, staying, damping, d);
        }
        for i in (0..d.len()).filter(|&i| !staying[i]) {
            d[i] = 0.0;
        }
        let residual = self.model.projected() + self.model.factor() * DVector::from_column_slice(d);
        let (columns, weights) = (self.columns.clone(), self.weights);
        let factor = self.decomposed(staying);
        if let Some(step) = factor.step(&residual, damping, &columns, weights) {
            factor.moving.iter().zip(step.iter()).for_each(|(&i, step)| d[i] = *step);
        }
    }

    fn weighted_slopes(&self, d: &[f64], damping: f64) -> Vec<f64> {
        let factor = self.model.factor();
        let damped = |i: usize, slope: f64| slope + damping * self.weights[i] * d[i];
        if let Some(hessian) = &self.hessian {
            let (slopes, bends) = (factor.tr_mul(self.model.projected()), hessian * self.weighted(d));
            return (0..d.len()).map(|i| damped(i, slopes[i] / self.weights[i] + bends[i])).collect();
        }
        let slopes = factor.tr_mul(&(self.model.projected() + factor * DVector::from_column_slice(d)));
        (0..d.len()).map(|i| damped(i, slopes[i] / self.weights[i])).collect()
    }

    fn slope_size(&self) -> f64 {
        self.model.projected().norm()
    }

    fn bend(&self, d: &[f64]) -> f64 {
        match &self.hessian {
            Some(hessian) => {
                let z = self.weighted(d);
                z.dot(&(hessian * &z))
            }
            None => (self.model.factor() * DVector::from_column_slice(d)).norm_squared(),
        }
    }
}
