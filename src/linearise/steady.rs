//! Derivatives of M a - Q that are the same wherever and whenever, for given parameters: found once a run.

use super::functions::Functions;
use super::kernel::ForceKernel;
use super::separate;
use crate::number::all_finite;
use crate::system::{Equations, Point, Weights};

pub(super) struct Steady<'s> {
    /// Kernel that finds the values; none where there are none.
    kernel: Option<Box<dyn ForceKernel + 's>>,
    /// Values of the derivatives: by q, n x n, by v, n x n, and by what follows; zero where derivatives change.
    values: Vec<f64>,
    n: usize,
    first_state: usize,
    /// True if the values have been found for the present parameters.
    is_known: bool,
    /// Rows and columns of K that have nothing else of M a - Q but M.
    entries: Vec<(usize, usize)>,
}

impl<'s> Steady<'s> {
    /// `count` values, n coordinates and states, which begin at a place.
    pub fn new(
        kernel: Option<Box<dyn ForceKernel + 's>>,
        count: usize,
        (n, first_state): (usize, usize),
        entries: Vec<(usize, usize)>,
    ) -> Self {
        Steady { kernel, values: vec![0.0; count], n, first_state, is_known: false, entries }
    }

    pub fn set_parameters(&mut self, u: &[f64]) {
        self.is_known = false;
        self.kernel.iter_mut().for_each(|kernel| kernel.set_parameters(u));
    }

    /// Finds them at whatever point comes first. Where forces are not defined, these may be no numbers, either: then at the next.
    pub fn find(&mut self, model: &dyn Functions, x: &Point<'_>) {
        if self.is_known {
            return;
        }
        if let Some(kernel) = &mut self.kernel {
            self.values.fill(0.0);
            kernel.evaluate(model, x, separate(Equations::MOTION), &mut [], &mut self.values, &mut []);
        }
        self.is_known = all_finite(&self.values);
    }

    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Adds their part of K, whose rows have `size` entries.
    pub fn add_to(&self, matrix: &mut [f64], size: usize, weights: Weights) {
        let (by_position, by_velocity) = self.values.split_at(self.n * self.n);
        for &(row, j) in self.entries.iter().filter(|_| weights.equations.forces) {
            let place = row * self.n + j;
            let velocity = if j < self.first_state { weights.velocity } else { weights.state };
            matrix[row * size + j] += weights.position * by_position[place] + velocity * by_velocity[place];
        }
    }

    /// Puts all derivatives into `values`, to which those that change are added.
    #[inline]
    pub fn put_into(&self, values: &mut [f64], forces: bool) {
        if forces { values.copy_from_slice(&self.values) } else { values.fill(0.0) }
    }
}
