//! Tables in formulas: a function of one number, by straight lines or a cubic spline between points.

use costate::{Interpolation, Number, Samples};
use costate_identify::Result;

/// Points of a function, and what lies between them. Beyond its ends the last piece goes on.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    at: Vec<f64>,
    /// For each interval, coefficients of 1, x, x², x³ from its begin, of the function and its derivatives.
    pieces: [Vec<[f64; 4]>; ORDERS],
}

/// The function and the derivatives that energies need.
const ORDERS: usize = 3;

impl Table {
    /// # Errors
    /// Points that do not increase, are not finite, or are too few.
    pub fn new(at: &[f64], values: &[f64], interpolation: Interpolation) -> Result<Self> {
        // checked there: as many of both, finite, increasing
        let samples = Samples::new(at, values, interpolation)?;
        let own: Vec<[f64; 4]> = samples.pieces().map(|(_, piece)| piece).collect();
        let slopes = |pieces: &[[f64; 4]]| pieces.iter().map(|[_, b, c, d]| [*b, 2.0 * c, 3.0 * d, 0.0]).collect();
        let first: Vec<[f64; 4]> = slopes(&own);
        let second = slopes(&first);
        Ok(Table { at: at.to_vec(), pieces: [own, first, second] })
    }

    /// The pieces of the function or of a derivative: where each begins, and its coefficients.
    pub fn pieces(&self, order: u8) -> impl Iterator<Item = (f64, [f64; 4])> {
        let pieces = self.pieces.get(usize::from(order)).into_iter().flatten();
        self.at.iter().copied().zip(pieces.copied())
    }

    /// The value at `x`, or that of a derivative.
    #[inline]
    pub fn derivative<D: Number>(&self, order: u8, x: D) -> D {
        let Some(pieces) = self.pieces.get(usize::from(order)) else { return D::from(0.0) };
        x.of_pieces(|x| {
            let behind = self.at.partition_point(|at| *at <= x);
            let k = behind.saturating_sub(1).min(pieces.len() - 1);
            (self.at[k], pieces[k])
        })
    }
}
