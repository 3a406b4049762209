//! Coordinates that a projection holds: the equations with them kept.
//!
//! The equations of a projection get one force ρ a held coordinate and its equation instead,
//!
//! ```text
//! [ K   E ] [ z ]   [ b ]
//! [ Eᵀ  0 ] [ ρ ] = [ d ]
//! ```
//!
//! where E has a one for each held coordinate. They are solved with the evaluator's own factors of K and with those of Eᵀ K⁻¹ E,
//! which is as large as coordinates are held.

use super::NAMED;
use crate::error::{Error, Result};
use crate::linearise::DenseLu;
use crate::signature::Signature;
use crate::sparse::redundant_rows;
use crate::system::{Evaluator, Point};

/// The held coordinates with what they make of the factors of K.
pub(super) struct Border<'h> {
    held: &'h [usize],
    /// K⁻¹ E and K⁻ᵀ E, column by column.
    columns: Vec<Vec<f64>>,
    transposed: Vec<Vec<f64>>,
    /// Eᵀ K⁻¹ E.
    lu: DenseLu,
}

impl<'h> Border<'h> {
    /// With the factors of K in place, for `size` unknowns; `None` if the held coordinates cannot be kept.
    pub fn new(system: &mut dyn Evaluator, held: &'h [usize], size: usize) -> Option<Self> {
        let unit = |j: usize| (0..size).map(|i| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let mut border = Border { held, columns: Vec::new(), transposed: Vec::new(), lu: DenseLu::new(held.len()) };
        for &j in held {
            let (mut column, mut transposed) = (unit(j), unit(j));
            system.solve(&mut column);
            system.solve_transposed(&mut transposed);
            border.columns.push(column);
            border.transposed.push(transposed);
        }
        let count = held.len();
        for (i, &row) in held.iter().enumerate() {
            for (j, column) in border.columns.iter().enumerate() {
                border.lu.matrix_mut()[i * count + j] = column[row];
            }
        }
        (count == 0 || border.lu.factorise()).then_some(border)
    }

    pub fn held(&self) -> &'h [usize] {
        self.held
    }

    /// `b`, then `d`: solved in place.
    pub fn solve(&mut self, system: &mut dyn Evaluator, b: &mut [f64]) {
        let (z, rho) = b.split_at_mut(b.len() - self.held.len());
        system.solve(z);
        self.correct(z, rho, false);
    }

    /// The same with K transposed.
    pub fn solve_transposed(&mut self, system: &mut dyn Evaluator, b: &mut [f64]) {
        let (z, rho) = b.split_at_mut(b.len() - self.held.len());
        system.solve_transposed(z);
        self.correct(z, rho, true);
    }

    fn correct(&mut self, z: &mut [f64], rho: &mut [f64], transposed: bool) {
        if self.held.is_empty() {
            return;
        }
        let kept = rho.to_vec();
        rho.iter_mut().zip(self.held).for_each(|(rho, &j)| *rho = z[j] - *rho);
        let columns = if transposed {
            self.lu.solve_transposed(rho);
            &self.transposed
        } else {
            self.lu.solve(rho);
            &self.columns
        };
        for (column, rho) in columns.iter().zip(rho.iter()) {
            z.iter_mut().zip(column).for_each(|(z, entry)| *z -= entry * rho);
        }
        // without the round-off of getting there
        self.held.iter().zip(kept).for_each(|(&j, kept)| z[j] = kept);
    }
}

/// Refuses to hold so many coordinates that the others cannot satisfy the constraints.
///
/// # Errors
/// [`Error::Invalid`] with the rows by name.
pub(super) fn check(
    system: &mut dyn Evaluator,
    signature: &Signature,
    x: &Point<'_>,
    held: &[usize],
    tolerance: f64,
) -> Result<()> {
    if held.is_empty() {
        return Ok(());
    }
    let rows = system.constraint_rows(x);
    let kept: Vec<usize> = (0..rows.len()).filter(|row| !system.left_out().contains(row)).collect();
    let lengths: Vec<f64> =
        rows.iter().map(|row| row.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max)).collect();
    let free = |&row: &usize| -> Vec<(u32, f64)> {
        // what is round-off of the whole row is nothing in what is left of it
        let counts =
            |&&(j, value): &&(u32, f64)| !held.contains(&(j as usize)) && value.abs() > tolerance * lengths[row];
        rows[row].iter().filter(counts).copied().collect()
    };
    let left: Vec<Vec<(u32, f64)>> = kept.iter().map(free).collect();
    let found = redundant_rows(&left, signature.coordinates.len(), tolerance);
    if found.is_empty() {
        return Ok(());
    }
    let name = |row: &usize| format!("`{}`", signature.constraints[kept[*row]].name);
    let told = found.iter().take(NAMED).map(|(row, others)| match others.as_slice() {
        [] => format!("none is left in {}", name(row)),
        _ => format!("in {} they repeat {}", name(row), others.iter().map(name).collect::<Vec<_>>().join(", ")),
    });
    let names: Vec<String> = held.iter().map(|&j| format!("`{}`", signature.coordinates[j].name)).collect();
    let problem =
        format!("those that are left cannot satisfy the constraints: {}", told.collect::<Vec<_>>().join("; "));
    Err(Error::invalid(format!("the held coordinates {}", names.join(", ")), problem, "hold fewer, or others"))
}
