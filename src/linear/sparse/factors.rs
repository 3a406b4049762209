//! Factors on a frozen pattern with frozen pivots: refactorisation in place, and both solves.
//!
//! Elimination takes each pivot's part off all that is left (right-looking), into places that are computed beforehand. Time
//! goes into instructions and mistaken branches, not into arithmetic. Nearly all that a pivot acts on is close behind it:
//! then a byte suffices as index, and into a window of 256 numbers it needs no check of bounds; pivots with few entries have
//! code without loops.

use super::layout::Layout;
use super::pattern::Pattern;
use super::pivoting::Pivots;
use super::triangle::{Triangle, WINDOW};

/// Largest multiplier (entry of L, comparably scaled) that frozen pivots may produce; fresh ones produce at most a hundred,
/// and few of them more than ten.
const GROWTH: f64 = 1e3;
/// Smallest pivot beside its size when it was chosen.
const SHRINKAGE: f64 = 1e-6;
/// A near pivot has fewer entries than this in its column of L, and in its row of U.
const FEW: usize = 16;

/// Calls `$function::<N>` for counts from 1 to 4, which have code without loops, else `$function::<0>`.
///
/// A plain `match` would become a jump through a table, which processors predict badly.
macro_rules! by_count {
    ($count:expr, $function:ident, ($($argument:expr),*)) => {
        if $count <= 2 {
            if $count == 2 {
                $function::<2>($($argument),*)
            } else if $count == 1 {
                $function::<1>($($argument),*)
            } else {
                $function::<0>($($argument),*)
            }
        } else if $count <= 4 {
            if $count == 3 {
                $function::<3>($($argument),*)
            } else {
                $function::<4>($($argument),*)
            }
        } else {
            $function::<0>($($argument),*)
        }
    };
}

#[derive(Debug, Clone, Copy)]
struct Pivot {
    /// Smallest magnitude at which the pivot still serves.
    floor: f32,
    /// Counts of entries in L and U of a near pivot, in four bits each; above that, the place of a far one in its list.
    shape: u32,
}

enum Shape {
    Near(usize, usize),
    Far(usize),
}

impl Pivot {
    #[inline(always)]
    fn shape(self) -> Shape {
        let shape = self.shape as usize;
        if shape < FEW * FEW { Shape::Near(shape / FEW, shape % FEW) } else { Shape::Far(shape - FEW * FEW) }
    }
}

/// A pivot that acts on many places, or far away.
#[derive(Debug, Clone)]
struct Far {
    /// Entries in its column of L, and in its row of U.
    lower: usize,
    upper: usize,
    targets: Vec<u32>,
}

#[derive(Debug, Clone)]
pub(super) struct Factors {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// Place of each slot's value in `scratch`.
    places: Vec<u32>,
    pivots: Vec<Pivot>,
    /// Targets of near pivots, one after the other; see [`Layout::targets`].
    near: Vec<u8>,
    far: Vec<Far>,
    /// Largest magnitude of each entry of L, pivot by pivot.
    limits: Vec<f64>,
    /// The matrix during elimination, pivot by pivot: the pivot, its column, its row. One window of zeros behind. Otherwise
    /// zeros: elimination clears what it has used while that is near.
    scratch: Vec<f64>,
    /// K = P^T L D U Q^T with unit diagonals of L and U; D is stored inverted.
    lower: Triangle,
    diagonal: Vec<f64>,
    upper: Triangle,
    /// Unknowns by position, and one window of zeros behind.
    work: Vec<f64>,
}

impl Factors {
    /// `scale`: factors of the rows that make their entries comparable. `None` if overflow spoils the factors.
    pub(super) fn new(pattern: &Pattern, values: &[f64], pivots: Pivots, scale: &[f64]) -> Option<Self> {
        let layout = Layout::new(&pivots);
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let list = (0..pattern.size)
            .map(|k| {
                let (lower, upper) = (pivots.lower[k].len(), pivots.upper[k].len());
                Pivot { floor: 0.0, shape: add_targets(lower, upper, layout.targets(k), &mut near, &mut far) }
            })
            .collect();
        let (row_positions, column_positions) = (inverse(&pivots.rows), inverse(&pivots.columns));
        let mut places = vec![0; pattern.count()];
        for (i, j, slot) in pattern.entries() {
            places[slot] = layout.place(row_positions[i], column_positions[j]);
        }
        let mut factors = Factors {
            limits: vec![f64::MAX; pivots.lower.iter().map(Vec::len).sum()],
            scratch: vec![0.0; pivots.fill() + WINDOW],
            lower: Triangle::new(&pivots.lower),
            diagonal: vec![0.0; pattern.size],
            upper: Triangle::new(&pivots.upper),
            work: vec![0.0; pattern.size + WINDOW],
            places,
            pivots: list,
            near,
            far,
            rows: pivots.rows,
            columns: pivots.columns,
        };
        if !factors.refactorise(values) || !factors.diagonal.iter().all(|inverse| inverse.is_finite()) {
            return None;
        }
        factors.set_limits(&pivots.lower, scale);
        Some(factors)
    }

    fn set_limits(&mut self, lower: &[Vec<u32>], scale: &[f64]) {
        let scale = |position: usize| scale[self.rows[position] as usize];
        self.limits.clear();
        for (k, (pivot, lower)) in self.pivots.iter_mut().zip(lower).enumerate() {
            pivot.floor = ((SHRINKAGE / self.diagonal[k].abs()) as f32).min(f32::MAX);
            self.limits.extend(lower.iter().map(|&i| GROWTH * scale(k) / scale(i as usize)));
        }
    }

    /// False if a pivot or an entry of L leaves the range in which the order of the pivots serves.
    pub(super) fn refactorise(&mut self, values: &[f64]) -> bool {
        let good = scatter(values, &self.places, &mut self.scratch) && self.eliminate();
        if !good {
            self.scratch.fill(0.0);
        }
        good
    }

    /// Leaves zeros in `scratch`, unless it fails.
    fn eliminate(&mut self) -> bool {
        let mut rest = self.scratch.as_mut_slice();
        let (mut lower, mut upper) = (self.lower.values_mut(), self.upper.values_mut());
        let (mut limits, mut targets) = (self.limits.as_slice(), self.near.as_slice());
        for (pivot, inverse) in self.pivots.iter().zip(&mut self.diagonal) {
            let Some((entry, next)) = rest.split_first_mut() else { return false };
            let diagonal = std::mem::take(entry);
            // comparisons are false for NaN
            let serves = diagonal.abs() >= f64::from(pivot.floor);
            if !serves {
                return false;
            }
            *inverse = 1.0 / diagonal;
            let (l, u) = match pivot.shape() {
                Shape::Near(l, u) => (l, u),
                Shape::Far(place) => (self.far[place].lower, self.far[place].upper),
            };
            let (column, next) = next.split_at_mut(l);
            let (row, tail) = next.split_at_mut(u);
            let (own_limits, other_limits) = limits.split_at(l);
            let (own_lower, other_lower) = lower.split_at_mut(l);
            let (own_upper, other_upper) = upper.split_at_mut(u);
            let pivot_row = Row { entries: row, scaled: own_upper };
            let pivot_column = Column { entries: column, scaled: own_lower, limits: own_limits };
            let good = match pivot.shape() {
                Shape::Near(..) => {
                    let (own_targets, other_targets) = targets.split_at(l * u);
                    targets = other_targets;
                    let Some(window) = tail.first_chunk_mut::<WINDOW>() else { return false };
                    by_count!(l, eliminate_near, (pivot_column, pivot_row, *inverse, own_targets, window))
                }
                Shape::Far(place) => eliminate_far(pivot_column, pivot_row, *inverse, &self.far[place].targets, tail),
            };
            if !good {
                return false;
            }
            (rest, lower, upper, limits) = (tail, other_lower, other_upper, other_limits);
        }
        true
    }

    /// Solves K x = b in place: b becomes K^-1 b.
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        for (x, &row) in self.work.iter_mut().zip(&self.rows) {
            *x = b[row as usize];
        }
        self.lower.substitute_forwards(&mut self.work);
        self.work.iter_mut().zip(&self.diagonal).for_each(|(x, inverse)| *x *= inverse);
        self.upper.substitute_backwards(&mut self.work);
        for (&x, &column) in self.work.iter().zip(&self.columns) {
            b[column as usize] = x;
        }
    }

    /// Solves Kᵀ x = b in place: b becomes K^-T b.
    pub(super) fn solve_transposed(&mut self, b: &mut [f64]) {
        for (x, &column) in self.work.iter_mut().zip(&self.columns) {
            *x = b[column as usize];
        }
        self.upper.substitute_forwards(&mut self.work);
        self.work.iter_mut().zip(&self.diagonal).for_each(|(x, inverse)| *x *= inverse);
        self.lower.substitute_backwards(&mut self.work);
        for (&x, &row) in self.work.iter().zip(&self.rows) {
            b[row as usize] = x;
        }
    }

    /// Entries of the factors.
    #[cfg(test)]
    pub(super) fn fill(&self) -> usize {
        self.scratch.len() - WINDOW
    }
}

/// Stores what a pivot acts on in the list where it belongs; returns its shape.
fn add_targets(lower: usize, upper: usize, targets: Vec<u32>, near: &mut Vec<u8>, far: &mut Vec<Far>) -> u32 {
    if lower.max(upper) < FEW && targets.iter().all(|&place| (place as usize) < WINDOW) {
        near.extend(targets.iter().map(|&place| place as u8));
        (lower * FEW + upper) as u32
    } else {
        far.push(Far { lower, upper, targets });
        (FEW * FEW + far.len() - 1) as u32
    }
}

/// The rest of the matrix in a pivot's column, its values in L, and the limits of these.
struct Column<'a> {
    entries: &'a mut [f64],
    scaled: &'a mut [f64],
    limits: &'a [f64],
}

/// The rest of the matrix in a pivot's row, and its values in U.
struct Row<'a> {
    entries: &'a mut [f64],
    scaled: &'a mut [f64],
}

impl Column<'_> {
    /// Divides by the pivot; false if an entry exceeds its limit, or is NaN.
    #[inline(always)]
    fn scale(&mut self, inverse: f64) -> bool {
        for ((scaled, entry), &limit) in self.scaled.iter_mut().zip(self.entries.iter_mut()).zip(self.limits) {
            *scaled = std::mem::take(entry) * inverse;
            let serves = scaled.abs() <= limit;
            if !serves {
                return false;
            }
        }
        true
    }
}

/// Divides a pivot's column and row by it and subtracts their product from the rest; false if an entry of L exceeds its limit.
/// `N` entries in the column, or any number if `N` is 0.
#[inline(always)]
fn eliminate_near<const N: usize>(
    mut column: Column<'_>,
    row: Row<'_>,
    inverse: f64,
    mut targets: &[u8],
    window: &mut [f64; WINDOW],
) -> bool {
    let count = if N == 0 { column.entries.len() } else { N };
    column = Column {
        entries: &mut column.entries[..count],
        scaled: &mut column.scaled[..count],
        limits: &column.limits[..count],
    };
    let good = column.scale(inverse);
    for (scaled, entry) in row.scaled.iter_mut().zip(row.entries) {
        let entry = std::mem::take(entry);
        *scaled = entry * inverse;
        let (own_targets, other_targets) = targets.split_at(count);
        for (l, &target) in column.scaled.iter().zip(own_targets) {
            window[target as usize] -= entry * l;
        }
        targets = other_targets;
    }
    good
}

fn eliminate_far(mut column: Column<'_>, row: Row<'_>, inverse: f64, targets: &[u32], rest: &mut [f64]) -> bool {
    let good = column.scale(inverse);
    let count = column.entries.len();
    for (place, (scaled, entry)) in row.scaled.iter_mut().zip(row.entries).enumerate() {
        let entry = std::mem::take(entry);
        *scaled = entry * inverse;
        for (l, &target) in column.scaled.iter().zip(&targets[place * count..(place + 1) * count]) {
            rest[target as usize] -= entry * l;
        }
    }
    good
}

/// Puts each value in its place; false if one is infinite or NaN. One pass: long chains are bound by memory.
fn scatter(values: &[f64], places: &[u32], to: &mut [f64]) -> bool {
    // 0 * x is NaN for both; several sums do not wait for each other
    let mut sums = [0.0f64; 8];
    let ((chunks, rest), (own_places, last)) = (values.as_chunks::<8>(), places.as_chunks::<8>());
    for (chunk, own_places) in chunks.iter().zip(own_places) {
        for ((sum, &value), &place) in sums.iter_mut().zip(chunk).zip(own_places) {
            *sum += value * 0.0;
            to[place as usize] = value;
        }
    }
    for (&value, &place) in rest.iter().zip(last) {
        sums[0] += value * 0.0;
        to[place as usize] = value;
    }
    sums.iter().all(|sum| *sum == 0.0)
}

fn inverse(permutation: &[u32]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    permutation.iter().enumerate().for_each(|(k, &i)| inverse[i as usize] = k);
    inverse
}
