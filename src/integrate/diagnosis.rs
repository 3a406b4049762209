//! Why equations have no solution, in sentences: matrices without inverse, values that are not finite.

use crate::Matrix;
use crate::shown::shown;
use crate::signature::Signature;
use crate::sparse::redundant_rows;
use crate::system::{Blocks, Evaluator, Point};
use crate::{Error, Result};
use nalgebra::{DMatrix, DVector};

/// Use that a singular matrix was meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The accelerations of the start.
    Accelerations,
    /// The search for an equilibrium.
    Equilibrium,
    /// A time step.
    Step,
}

impl Purpose {
    /// Purpose of the matrix of a step by its number.
    pub(crate) fn of(step: usize) -> Self {
        if step == 0 { Purpose::Accelerations } else { Purpose::Step }
    }
}

pub(crate) fn dense(matrix: &Matrix<f64>) -> DMatrix<f64> {
    DMatrix::from_row_slice(matrix.rows(), matrix.columns(), matrix.as_slice())
}

/// [A Bᵀ; B 0]
fn saddle(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, m) = (a.nrows(), b.nrows());
    let mut k = DMatrix::zeros(n + m, n + m);
    k.view_mut((0, 0), (n, n)).copy_from(a);
    k.view_mut((n, 0), (m, n)).copy_from(b);
    k.view_mut((0, n), (n, m)).copy_from(&b.transpose());
    k
}

/// Brings rows and columns into comparable units, so that the smallest singular value is no matter of them; returns the factors.
fn equilibrate(matrix: &mut DMatrix<f64>) -> DVector<f64> {
    let size = matrix.nrows();
    let mut scales = DVector::from_element(size, 1.0);
    for _ in 0..4 {
        let factors: Vec<f64> = (0..size)
            .map(|i| matrix.row(i).amax().max(matrix.column(i).amax()))
            .map(|largest| if largest > 0.0 { 1.0 / largest.sqrt() } else { 1.0 })
            .collect();
        for (i, factor) in factors.iter().enumerate() {
            matrix.row_mut(i).scale_mut(*factor);
            matrix.column_mut(i).scale_mut(*factor);
            scales[i] *= factor;
        }
    }
    scales
}

/// Most unknowns for which dense matrices tell why there is no inverse: beyond, that takes minutes.
const DENSE_ANALYSIS: usize = 600;
/// A row of C_q repeats others if their combination leaves less than this part of it.
pub(crate) const REPEATED: f64 = 1e-9;

/// A mass beside which others of this part of it are round-off of round-off.
const NEGLIGIBLE: f64 = 1e-30;

/// Explains why [M C_qᵀ; C_q 0] (or Newton's matrix) has no inverse.
pub(crate) fn singular(system: &mut dyn Evaluator, signature: &Signature, x: &Point<'_>, purpose: Purpose) -> Error {
    let (reason, remedy) = match analyse(system, signature, x, purpose) {
        Ok(found) => found,
        Err(error) => return error,
    };
    Error::Singular { time: x.t, reason, remedy: remedy.to_string() }
}

/// A reason, and a remedy.
type Finding = (String, &'static str);

/// Finds what is wrong with the matrix; an error if a derivative is not finite.
fn analyse(system: &mut dyn Evaluator, signature: &Signature, x: &Point<'_>, purpose: Purpose) -> Result<Finding> {
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let not_a_number = |row: usize, column: usize, value: f64| {
        let column = signature.unknown_name(column);
        let quantity = format!("a derivative of the {} by `{column}`", signature.equation_name(row));
        Error::NotFinite { quantity, value, time: x.t, step: 0 }
    };
    let rows = system.constraint_rows(x);
    for (row, entries) in rows.iter().enumerate() {
        if let Some((column, value)) = entries.iter().find(|(_, value)| !value.is_finite()) {
            return Err(not_a_number(n + row, *column as usize, *value));
        }
    }
    if let Some(reason) = redundancy(rows, system.left_out(), signature) {
        return Ok((
            reason,
            "remove the redundant rows, or replace them by independent ones; where the start is far from one at which all joints fit, begin nearer to that",
        ));
    }
    if n + m > DENSE_ANALYSIS {
        let remedy = "look for coordinates that neither mass nor a constraint determines (nor a stiffness, at rest), and check masses \
                      and units; a smaller mechanism of the same parts tells more";
        return Ok(("the matrix of its equations has no inverse to working precision".to_string(), remedy));
    }
    let mut blocks = Blocks::zeros(signature);
    system.blocks(x, &mut blocks);
    let parts = [&blocks.mass, &blocks.inertia_by_position, &blocks.force_by_position, &blocks.force_by_velocity];
    for part in parts.into_iter().chain([&blocks.constraint_force_by_position]) {
        if let Some(place) = part.as_slice().iter().position(|entry| !entry.is_finite()) {
            return Err(not_a_number(place / n, place % n, part.as_slice()[place]));
        }
    }
    // rows that are left out are no part of the equations: their multipliers are zero
    let kept: Vec<usize> = (0..m).filter(|row| !system.left_out().contains(row)).collect();
    let jacobian = dense(&blocks.constraint_by_position).select_rows(&kept);
    if purpose == Purpose::Equilibrium {
        // what no stiffness and no constraint holds
        let mut stiffness = dense(&blocks.constraint_force_by_position) - dense(&blocks.force_by_position);
        // what a state does to forces and rates stands among the derivatives by velocities
        for j in signature.state_places() {
            stiffness.set_column(j, &-dense(&blocks.force_by_velocity).column(j));
        }
        let matrix = saddle(&stiffness, &jacobian);
        let names = faintest_motion(matrix, signature).map_or_else(Vec::new, |(names, _)| names);
        let is_state = |name: &String| signature.states.iter().any(|state| format!("`{}`", state.name) == *name);
        let listed = names.join(", ");
        return Ok(match names.iter().any(is_state) {
            // a state has no spring: its rate does
            true => (
                format!(
                    "at rest, any value of {listed} is one of an equilibrium, because the rate of a state does not bring it back"
                ),
                "let the rate depend on the state itself (- z/T), or begin as given: initial_state = \"as-given\"",
            ),
            false => (
                format!("neither a stiffness nor a constraint holds {listed} at rest"),
                "give it a spring or a constraint, or begin with another initial state than equilibrium",
            ),
        });
    }
    Ok(without_acceleration(signature, (&blocks.mass, &jacobian), purpose))
}

/// Rows of C_q that repeat others, in words, if any do; rows that are left out are no part of the equations.
fn redundancy(mut rows: Vec<Vec<(u32, f64)>>, left_out: &[usize], signature: &Signature) -> Option<String> {
    let kept: Vec<usize> = (0..rows.len()).filter(|row| !left_out.contains(row)).collect();
    let rows: Vec<_> = kept.iter().map(|&row| std::mem::take(&mut rows[row])).collect();
    let redundant = redundant_rows(&rows, signature.unknown_count(), REPEATED);
    let names = |rows: &[usize]| {
        rows.iter().map(|&k| format!("`{}`", signature.constraints[kept[k]].name)).collect::<Vec<_>>().join(", ")
    };
    let sentence = |(row, others): &(usize, Vec<usize>)| {
        if others.is_empty() {
            format!("row {} has no coordinate in it here", names(&[*row]))
        } else {
            format!("row {} repeats {}", names(&[*row]), names(others))
        }
    };
    let combined: Vec<String> = redundant.iter().map(sentence).collect();
    (!redundant.is_empty()).then(|| {
        format!(
            "{} of the {} constraint rows are redundant (C_q has rank {}): {}",
            redundant.len(),
            kept.len(),
            kept.len() - redundant.len(),
            combined.join("; ")
        )
    })
}

/// Accelerations that neither mass nor a constraint determines.
fn without_acceleration(
    signature: &Signature,
    (mass, jacobian): (&Matrix<f64>, &DMatrix<f64>),
    purpose: Purpose,
) -> Finding {
    let mass = dense(mass);
    let faintest = faintest_motion(saddle(&mass, jacobian), signature);
    let no_inverse = || "[M C_qᵀ; C_q 0] has no inverse to working precision".to_string();
    let heaviest = mass.diagonal().iamax();
    let lightest =
        mass.diagonal().iter().copied().filter(|mass| *mass != 0.0).fold(f64::INFINITY, |a, b| a.min(b.abs()));
    let is_negligible = lightest < NEGLIGIBLE * mass[(heaviest, heaviest)].abs();
    match faintest {
        // masses are so large that others are round-off beside them, or constraints, where all of the direction is in the multipliers
        Some((names, true)) if is_negligible || names.is_empty() => {
            let (name, value) = (signature.unknown_name(heaviest), shown(mass[(heaviest, heaviest)]));
            (format!("{}: the inertia of `{name}` is {value}", no_inverse()), "check masses and units")
        }
        Some((names, true)) => (
            format!("neither mass nor a constraint determines the acceleration of {}", names.join(", ")),
            "give it mass (an angle: inertia), or a constraint that ties it to a coordinate with mass; a quantity that has a rate of \
             its own but no inertia (a current, a temperature, a hysteretic force) is one of the model's `states`, not a coordinate",
        ),
        _ if purpose == Purpose::Accelerations => (no_inverse(), "check masses and units"),
        _ => (
            "Newton's matrix has no inverse here, though [M C_qᵀ; C_q 0] has one: a stiffness or damping cancels the mass".to_string(),
            "take another step size, or check the signs of stiffnesses and dampings",
        ),
    }
}

/// Names the first value that is not finite: a force, a constraint, or a coordinate.
pub(crate) fn not_finite(signature: &Signature, x: &Point<'_>, residual: &[f64], step: usize) -> Error {
    let n = signature.unknown_count();
    let named = |values: &[f64], kind: &str| {
        let found = values.iter().enumerate().find(|(_, value)| !value.is_finite());
        found.map(|(j, value)| (signature.part_name(kind, j), *value))
    };
    let residual = || {
        let found = residual.iter().enumerate().find(|(_, value)| !value.is_finite());
        found.map(|(row, value)| (format!("the residual of the {}", signature.equation_name(row)), *value))
    };
    let (quantity, value) = named(&x.q[..n], "position")
        .or_else(|| named(x.v, "velocity"))
        .or_else(residual)
        .or_else(|| named(x.a, "acceleration"))
        .unwrap_or_else(|| ("the increment of Newton's iteration".into(), f64::NAN));
    Error::NotFinite { quantity, value, time: x.t, step }
}

/// The coordinates that take part in the motions which a saddle matrix maps to nothing, to working precision, by name, or in the one that it maps to
/// the least; and whether that is nothing.
fn faintest_motion(mut matrix: DMatrix<f64>, signature: &Signature) -> Option<(Vec<String>, bool)> {
    let n = signature.unknown_count();
    let scales = equilibrate(&mut matrix);
    let svd = matrix.svd(false, true);
    let (values, directions) = (&svd.singular_values, svd.v_t?);
    let nothing = 1e-12 * values.max();
    let least = values.imin();
    let free: Vec<usize> = (0..values.len()).filter(|&k| k == least || values[k] <= nothing).collect();
    let motion =
        DVector::from_fn(n, |j, _| scales[j] * free.iter().map(|&k| directions[(k, j)].powi(2)).sum::<f64>().sqrt());
    let largest = motion.amax();
    let moving = (0..n).filter(|&j| motion[j] > 0.3 * largest);
    let names = moving.map(|j| format!("`{}`", signature.unknown_name(j))).collect();
    Some((names, values[least] <= nothing))
}
