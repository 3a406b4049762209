//! Checks that a mass matrix can be one: symmetric, and positive definite on what the constraints leave free.
//!
//! An unsymmetric M still moves, wrongly: the equations of motion come from a kinetic energy ½ q'ᵀ M q', which knows the symmetric
//! part alone. M may be singular (massless coordinates, Euler parameters); whether a coordinate is determined at all is found out
//! where the equations are solved. What no mechanism has is a motion whose kinetic energy is negative.

use crate::random::SplitMix64;
use crate::signature::Signature;
use crate::system::{Evaluator, Point, System};
use crate::{Error, Result, slip};
use nalgebra::{DMatrix, DVector};
use std::collections::HashMap;

/// Part of the largest entry between coordinates of the same units below which an entry is round-off.
const ROUND_OFF: f64 = 1e-14;
/// Entries that ought to be equal may differ by this part of the larger one, and of the geometric mean of their diagonal entries.
const SYMMETRIC: [f64; 2] = [1e-9, 1e-10];
/// Negative energies beside the sum of their terms' magnitudes that count.
const NEGATIVE: f64 = 1e-8;
/// Most coordinates with which it is asked what the constraints leave free; with more, an indefinite M is refused at once: asking would
/// take minutes.
const DENSE_ANALYSIS: usize = 400;
/// Entries or coordinates that are named at most.
const NAMED: usize = 6;
/// Distances that positions are moved from the start at random points, in their own units beside their values.
const OFFSETS: [f64; 3] = [0.3, 0.03, 0.003];

/// M at one point, each place once.
struct MassMatrix<'s> {
    signature: &'s Signature,
    /// (row, column, value), sorted.
    entries: Vec<(u32, u32, f64)>,
    diagonal: Vec<f64>,
    /// Largest entries between coordinates of two units.
    largest: HashMap<(&'s str, &'s str), f64>,
}

impl<'s> MassMatrix<'s> {
    /// `None` where an entry is not finite: the simulation says where, and for which values.
    fn at(evaluator: &mut dyn Evaluator, signature: &'s Signature, x: &Point<'_>) -> Option<Self> {
        let mut entries = evaluator.mass_entries(x);
        if entries.iter().any(|(.., value)| !value.is_finite()) {
            return None;
        }
        entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if same { next.2 } else { 0.0 };
            same
        });
        let mut mass =
            MassMatrix { signature, entries, diagonal: vec![0.0; signature.unknown_count()], largest: HashMap::new() };
        for &(row, column, value) in &mass.entries {
            if row == column {
                mass.diagonal[row as usize] = value;
            }
            let largest = mass.largest.entry(units(signature, row, column)).or_default();
            *largest = value.abs().max(*largest);
        }
        Some(mass)
    }

    /// `None` where M is zero whatever the positions and parameters are.
    fn known(&self, row: u32, column: u32) -> Option<f64> {
        let found = self.entries.binary_search_by_key(&(row, column), |&(row, column, _)| (row, column));
        found.ok().map(|place| self.entries[place].2)
    }

    fn entry(&self, row: u32, column: u32) -> f64 {
        self.known(row, column).unwrap_or(0.0)
    }

    fn round_off(&self, row: u32, column: u32) -> f64 {
        ROUND_OFF * self.largest.get(&units(self.signature, row, column)).copied().unwrap_or_default()
    }

    fn name(&self, coordinate: u32) -> &str {
        self.signature.unknown_name(coordinate as usize)
    }

    /// Pairs of entries that differ, worst first, in words.
    fn unsymmetric(&self) -> Vec<String> {
        let mut found = Vec::new();
        for &(i, j, value) in self.entries.iter().filter(|(i, j, _)| i != j) {
            let mirrored = self.known(j, i);
            // each pair once; where only one of the two places is known, that one tells
            if i > j && mirrored.is_some() {
                continue;
            }
            let other = mirrored.unwrap_or(0.0);
            let (difference, larger) = ((value - other).abs(), value.abs().max(other.abs()));
            let mean = (self.diagonal[i as usize] * self.diagonal[j as usize]).abs().sqrt();
            let round_off = self.round_off(i, j).max(self.round_off(j, i));
            if difference > (SYMMETRIC[0] * larger).max(SYMMETRIC[1] * mean).max(round_off) {
                found.push((difference / larger, i, j, value, other));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let words = |&(_, i, j, value, other): &(f64, u32, u32, f64, f64)| {
            let (row, column) = (self.name(i), self.name(j));
            format!("m[({i}, {j})] = {value:.6e} and m[({j}, {i})] = {other:.6e} (coordinates `{row}` and `{column}`)")
        };
        found.iter().map(words).collect()
    }

    /// Negative entries of the diagonal, in words.
    fn negative(&self) -> Vec<String> {
        let all = (0..).zip(&self.diagonal).filter(|(j, value)| **value < -self.round_off(*j, *j));
        let words = |(j, value): (u32, &f64)| {
            format!(
                "m[({j}, {j})] = {value:.6e} (coordinate `{}` has a negative mass or moment of inertia)",
                self.name(j)
            )
        };
        all.map(words).collect()
    }

    /// Coordinates in groups that entries connect.
    fn groups(&self) -> Vec<Vec<u32>> {
        let n = self.diagonal.len();
        let mut parent: Vec<usize> = (0..n).collect();
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        for &(row, column, value) in &self.entries {
            if row != column && value != 0.0 {
                let (a, b) = (root(&mut parent, row as usize), root(&mut parent, column as usize));
                parent[a] = b;
            }
        }
        let mut groups = vec![Vec::new(); n];
        for j in 0..n {
            groups[root(&mut parent, j)].push(j as u32);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Factors that bring the diagonal to 1, or where it is zero, the largest entry of the row.
    fn scales(&self) -> Vec<f64> {
        let usable = |j: u32| self.diagonal[j as usize].abs() > self.round_off(j, j);
        let mut scales: Vec<f64> = (0..)
            .zip(&self.diagonal)
            .map(|(j, value)| if usable(j) { value.abs().sqrt().recip() } else { 0.0 })
            .collect();
        let mut of_massless = HashMap::<u32, f64>::new();
        for &(row, column, value) in self.entries.iter().filter(|(row, ..)| scales[*row as usize] == 0.0) {
            let largest = of_massless.entry(row).or_default();
            *largest = largest.max(value.abs() * scales[column as usize]);
        }
        for (j, scale) in (0..).zip(&mut scales).filter(|(_, scale)| **scale == 0.0) {
            let largest = of_massless.get(&j).copied().unwrap_or_default();
            *scale = if largest > 0.0 { largest.recip() } else { 1.0 };
        }
        scales
    }

    /// The symmetric part between these coordinates, scaled.
    fn scaled(&self, coordinates: &[u32], scales: &[f64]) -> DMatrix<f64> {
        let factor = |i: u32| scales[i as usize];
        DMatrix::from_fn(coordinates.len(), coordinates.len(), |i, j| {
            let (i, j) = (coordinates[i], coordinates[j]);
            0.5 * (self.entry(i, j) + self.entry(j, i)) * factor(i) * factor(j)
        })
    }

    /// True if the kinetic energy is negative for no velocities at all, constraints left aside.
    fn is_semidefinite(&self, scales: &[f64]) -> bool {
        self.groups().iter().all(|group| match group.as_slice() {
            &[j] => self.diagonal[j as usize] >= -self.round_off(j, j),
            group => is_semidefinite(self.scaled(group, scales)),
        })
    }

    /// The coordinates of a motion that the constraints leave free and whose kinetic energy is negative, if there is one.
    fn negative_motion(&self, rows: &[Vec<(u32, f64)>], scales: &[f64]) -> Option<Vec<u32>> {
        let n = self.diagonal.len() as u32;
        let all: Vec<u32> = (0..n).collect();
        let mass = self.scaled(&all, scales);
        let free = null_space(rows, scales);
        if free.ncols() == 0 {
            return None;
        }
        let eigen = (free.transpose() * &mass * &free).symmetric_eigen();
        let least = eigen.eigenvalues.imin();
        let motion: DVector<f64> = &free * eigen.eigenvectors.column(least);
        let terms = motion.abs().dot(&(mass.abs() * motion.abs()));
        let is_negative = eigen.eigenvalues[least] < -NEGATIVE * terms;
        let largest = motion.amax();
        is_negative.then(|| all.into_iter().filter(|&j| motion[j as usize].abs() > 0.3 * largest).collect())
    }
}

/// Units of a place in M.
fn units(signature: &Signature, row: u32, column: u32) -> (&str, &str) {
    let unit = |j: u32| signature.unknown(j as usize).map_or("", |unknown| &unknown.unit);
    (unit(row), unit(column))
}

/// Cholesky's factorisation with the largest pivot first; what it leaves of a semidefinite matrix is round-off.
fn is_semidefinite(mut matrix: DMatrix<f64>) -> bool {
    let n = matrix.nrows();
    for k in 0..n {
        let pivot = (k..n).max_by(|&a, &b| matrix[(a, a)].total_cmp(&matrix[(b, b)])).unwrap_or(k);
        matrix.swap_rows(k, pivot);
        matrix.swap_columns(k, pivot);
        let value = matrix[(k, k)];
        if value <= NEGATIVE {
            return matrix.view((k, k), (n - k, n - k)).amax() <= NEGATIVE;
        }
        for j in k + 1..n {
            let factor = matrix[(k, j)] / value;
            for i in k + 1..n {
                matrix[(i, j)] -= matrix[(i, k)] * factor;
            }
        }
    }
    true
}

/// Scaled velocities that rows of C_q leave free: an orthonormal basis, in columns.
fn null_space(rows: &[Vec<(u32, f64)>], scales: &[f64]) -> DMatrix<f64> {
    let n = scales.len();
    // as many rows as columns at least, so that every direction has a singular vector
    let mut matrix = DMatrix::zeros(n.max(rows.len()), n);
    for (row, entries) in rows.iter().enumerate() {
        entries.iter().for_each(|&(j, value)| matrix[(row, j as usize)] += value * scales[j as usize]);
        let length = matrix.row(row).norm();
        if length > 0.0 {
            matrix.row_mut(row).unscale_mut(length);
        }
    }
    if rows.is_empty() {
        return DMatrix::identity(n, n);
    }
    let svd = matrix.svd(false, true);
    let Some(v_t) = svd.v_t else { return DMatrix::zeros(n, 0) };
    let free: Vec<usize> = (0..n).filter(|&k| svd.singular_values[k] <= 1e-9).collect();
    DMatrix::from_fn(n, free.len(), |i, k| v_t[(free[k], i)])
}

fn list(mut words: Vec<String>) -> String {
    let more = words.len().saturating_sub(NAMED);
    words.truncate(NAMED);
    let listed = words.join("; ");
    if more == 0 { listed } else { format!("{listed}; and {more} more") }
}

/// Fault of M at `x` as a kinetic energy, if it has one.
fn impossible(evaluator: &mut dyn Evaluator, mass: &MassMatrix<'_>, x: &Point<'_>) -> Option<String> {
    let scales = mass.scales();
    if mass.is_semidefinite(&scales) {
        return None;
    }
    let negative = mass.negative();
    if mass.diagonal.len() > DENSE_ANALYSIS {
        let fault = if negative.is_empty() { "it is not positive definite".to_string() } else { list(negative) };
        return Some(fault);
    }
    let mut rows = evaluator.constraint_rows(x);
    evaluator.left_out().iter().for_each(|&row| rows[row].clear());
    if rows.iter().flatten().any(|(_, value)| !value.is_finite()) {
        return None;
    }
    // as many rows as coordinates, of which none repeats others, leave nothing free: given motions, whose bodies may be sought by linear steps through
    // what nobody can build
    if rows.iter().filter(|row| !row.is_empty()).count() >= mass.diagonal.len() {
        return None;
    }
    let motion = mass.negative_motion(&rows, &scales)?;
    let moving: Vec<String> = motion.iter().take(NAMED).map(|&j| format!("`{}`", mass.name(j))).collect();
    let more = if motion.len() > NAMED { " ..." } else { "" };
    let cause = if negative.is_empty() { String::new() } else { format!(": {}", list(negative)) };
    let constrained = if rows.is_empty() { "" } else { " that the constraints leave free" };
    Some(format!("a motion{constrained}, of {}{more}, has negative kinetic energy{cause}", moving.join(", ")))
}

const REMEDY: &str = "masses and moments of inertia must not be negative, nor products of inertia larger than moments allow: correct \
                      them, or the bounds of the parameters that they are made of";

/// Refuses a mass matrix that is not symmetric for nominal parameters at the start, or at random parameters and positions near it;
/// and one with negative masses, or with a motion of negative kinetic energy, for nominal parameters at the start.
///
/// # Errors
/// [`Error::Invalid`], with the entries by place and by the names of their coordinates.
pub fn check_nominal(system: &dyn System) -> Result<()> {
    // a function that panics beyond the start is not asked there
    slip::caught(|| check(system)).unwrap_or(Ok(()))
}

fn check(system: &dyn System) -> Result<()> {
    let signature = system.signature();
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let mut evaluator = system.evaluator();
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
    let (zeros, w) = (vec![0.0; n.max(m)], vec![0.0; signature.inputs.len()]);
    let wrong = |problem: String, remedy: &str| Err(Error::invalid(signature.place(), problem, remedy));
    let mut random = SplitMix64::new(1);
    for offset in std::iter::once(0.0).chain(OFFSETS) {
        let mut u = signature.nominal();
        if offset > 0.0 {
            for (u, p) in u.iter_mut().zip(&signature.parameters) {
                let change = 2.0 * random.unit() - 1.0;
                *u = (if *u == 0.0 { change } else { *u * (1.0 + 0.3 * change) }).clamp(p.lower, p.upper);
            }
        }
        evaluator.set_parameters(&u);
        evaluator.initial(&mut q, &mut v);
        q.iter_mut().for_each(|q| *q += offset * (1.0 + q.abs()) * (2.0 * random.unit() - 1.0));
        let x = Point { t: 0.0, q: &q, v: &zeros[..n], a: &zeros[..n], lambda: &zeros[..m], w: &w };
        let Some(mass) = MassMatrix::at(&mut *evaluator, signature, &x) else { continue };
        let unsymmetric = mass.unsymmetric();
        if !unsymmetric.is_empty() {
            let problem = format!("its mass matrix is not symmetric: {}", list(unsymmetric));
            return wrong(problem, "fill both places with one value: m[(j, i)] = m[(i, j)]");
        }
        if offset > 0.0 {
            continue;
        }
        let negative = mass.negative();
        if !negative.is_empty() {
            return wrong(format!("its mass matrix for nominal parameters: {}", list(negative)), REMEDY);
        }
        if let Some(problem) = impossible(&mut *evaluator, &mass, &x) {
            return wrong(format!("its mass matrix is impossible for nominal parameters: {problem}"), REMEDY);
        }
    }
    Ok(())
}

/// Refuses a run whose parameters let a motion have negative kinetic energy at its start.
///
/// # Errors
/// [`Error::ImpossibleMass`], with the coordinates by name.
pub(crate) fn check_start(evaluator: &mut dyn Evaluator, signature: &Signature, x: &Point<'_>) -> Result<()> {
    let Some(mass) = MassMatrix::at(evaluator, signature, x) else { return Ok(()) };
    match impossible(evaluator, &mass, x) {
        None => Ok(()),
        Some(reason) => Err(Error::ImpossibleMass { time: x.t, reason, remedy: REMEDY.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the answer on matrices of low rank: a product of low rank is semidefinite in any order, and stays so under
    /// round-off; with one direction turned negative it is not.
    #[test]
    fn semidefinite_matrices_are_distinguished_from_indefinite_ones() {
        for n in 1..8 {
            for rank in 0..=n {
                let factor = DMatrix::from_fn(rank, n, |i, j| ((3 * i + 5 * j * j + i * j) as f64).sin());
                let product = factor.transpose() * &factor;
                assert!(is_semidefinite(product.clone()), "{n} {rank}");
                let direction = DVector::from_fn(n, |i, _| (i as f64 + 0.3).cos());
                let turned = product - 1e-3 * &direction * direction.transpose();
                let least = turned.clone().symmetric_eigen().eigenvalues.min();
                assert_eq!(is_semidefinite(turned), least > -NEGATIVE, "{n} {rank}: {least}");
            }
        }
    }

    /// Protects the free motions: two rows that say the same leave as much as one, and none leaves all.
    #[test]
    fn the_null_space_is_that_of_the_rows() {
        let rows = vec![vec![(0, 1.0), (1, -2.0)], vec![(0, 2.0), (1, -4.0)]];
        let free = null_space(&rows, &[1.0, 10.0, 1.0]);
        assert_eq!(free.ncols(), 2);
        assert!((0..2).all(|k| (free[(0, k)] - 20.0 * free[(1, k)]).abs() < 1e-12));
        assert_eq!(null_space(&[], &[1.0; 3]).ncols(), 3);
    }
}
