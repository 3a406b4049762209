//! Coordinates that stay where they are: the equations of a balance with their unknowns kept at zero.
//!
//! The equations get one force ρ a held coordinate,
//!
//! ```text
//! [ K   E ] [ z ]   [ b ]
//! [ Eᵀ  0 ] [ ρ ] = [ 0 ]
//! ```
//!
//! where E has a one for each of them. They are solved with the evaluator's own factors of K, and the inverse of Eᵀ K⁻¹ E, which is as large
//! as coordinates are held.

use crate::system::Evaluator;
use nalgebra::DMatrix;

/// The held coordinates with what they make of the factors of K.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    places: Vec<usize>,
    /// K⁻¹ E (Eᵀ K⁻¹ E)⁻¹, and the same of Kᵀ.
    columns: [DMatrix<f64>; 2],
    /// True if the last factors cannot keep the held coordinates.
    pub is_singular: bool,
}

impl Held {
    pub fn new(places: &[usize]) -> Self {
        Held { places: places.to_vec(), ..Held::default() }
    }

    /// Takes new factors of K that are in place, for `size` unknowns; false if the coordinates cannot be kept.
    pub fn renew(&mut self, system: &mut dyn Evaluator, size: usize) -> bool {
        let count = self.places.len();
        self.is_singular = false;
        if count == 0 {
            return true;
        }
        for (transposed, columns) in self.columns.iter_mut().enumerate() {
            *columns = DMatrix::zeros(size, count);
            for (mut column, &place) in columns.column_iter_mut().zip(&self.places) {
                column[place] = 1.0;
                solve_factors(system, column.as_mut_slice(), transposed == 1);
            }
            let kept = DMatrix::from_fn(count, count, |i, j| columns[(self.places[i], j)]);
            let Some(inverse) = kept.try_inverse().filter(|inverse| inverse.iter().all(|x| x.is_finite())) else {
                self.is_singular = true;
                return false;
            };
            *columns = &*columns * inverse;
        }
        true
    }

    /// Solves K z = b, or Kᵀ z = b, in place, with the held entries of z at zero.
    #[inline]
    pub fn solve(&self, system: &mut dyn Evaluator, b: &mut [f64], transposed: bool) {
        solve_factors(system, b, transposed);
        for (column, &place) in self.columns[usize::from(transposed)].column_iter().zip(&self.places) {
            // a column is one where its coordinate is held, and zero where others are
            let force = b[place];
            b.iter_mut().zip(column.iter()).for_each(|(z, entry)| *z -= entry * force);
        }
        self.places.iter().for_each(|&place| b[place] = 0.0);
    }
}

#[inline]
fn solve_factors(system: &mut dyn Evaluator, b: &mut [f64], transposed: bool) {
    if transposed { system.solve_transposed(b) } else { system.solve(b) }
}
