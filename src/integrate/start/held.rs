//! Coordinates that a projection holds: whether the others can satisfy the constraints.

use super::violations::NAMED;
use crate::diagnosis::REPEATED;
use crate::signature::Signature;
use crate::sparse::redundant_rows;
use crate::system::{Evaluator, Point};
use crate::{Error, Result};

/// Refuses to hold so many coordinates that the others cannot satisfy the constraints.
///
/// # Errors
/// [`Error::Invalid`] with the rows by name.
pub(super) fn check(system: &mut dyn Evaluator, signature: &Signature, x: &Point<'_>, held: &[usize]) -> Result<()> {
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
            |&&(j, value): &&(u32, f64)| !held.contains(&(j as usize)) && value.abs() > REPEATED * lengths[row];
        rows[row].iter().filter(counts).copied().collect()
    };
    let left: Vec<Vec<(u32, f64)>> = kept.iter().map(free).collect();
    let found = redundant_rows(&left, signature.unknown_count(), REPEATED);
    if found.is_empty() {
        return Ok(());
    }
    let name = |row: &usize| format!("`{}`", signature.constraints[kept[*row]].name);
    let sentences = found.iter().take(NAMED).map(|(row, others)| match others.as_slice() {
        [] => format!("none is left in {}", name(row)),
        _ => format!("in {} they repeat {}", name(row), others.iter().map(name).collect::<Vec<_>>().join(", ")),
    });
    let names: Vec<String> = held.iter().map(|&j| format!("`{}`", signature.unknown_name(j))).collect();
    let problem =
        format!("those that are left cannot satisfy the constraints: {}", sentences.collect::<Vec<_>>().join("; "));
    Err(Error::invalid(format!("the held coordinates {}", names.join(", ")), problem, "hold fewer, or others"))
}
