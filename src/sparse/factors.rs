//! Factors on a frozen pattern with frozen pivots: refactorisation in place, and both solves.
//!
//! Time goes into instructions and mistaken branches, not into arithmetic. Nearly all that a pivot acts on is close behind it:
//! then a byte suffices as index, and into a window of 256 numbers it needs no check of bounds; pivots with few entries have
//! code without loops.

use super::layout::{Action, Layout};
use super::pattern::Pattern;
use super::pivoting::Pivots;

/// Largest multiplier (entry of L, comparably scaled) that frozen pivots may produce; fresh ones produce at most ten.
const GROWTH: f64 = 1e3;
/// Smallest pivot beside its size when it was chosen.
const SHRINKAGE: f64 = 1e-6;
/// Length of the window that a byte can index.
const WINDOW: usize = 256;
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
    /// Of a near pivot, the counts of entries in L and U in four bits each; above that, the place of a far one in its list.
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

/// Indices of near pivots, one after the other; see [`Action`].
#[derive(Debug, Clone, Default)]
struct Near {
    lower: Vec<u8>,
    upper: Vec<u8>,
    targets: Vec<u8>,
}

/// Indices of a pivot that acts on many places, or far away.
#[derive(Debug, Clone)]
struct Far {
    lower: Vec<u32>,
    upper: Vec<u32>,
    targets: Vec<u32>,
}

#[derive(Debug, Clone)]
pub(super) struct Factors {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// Place of each slot's value in `factors`.
    places: Vec<u32>,
    pivots: Vec<Pivot>,
    near: Near,
    far: Vec<Far>,
    /// Largest magnitude of each entry of L, pivot by pivot.
    limits: Vec<f64>,
    /// Pivot by pivot: its inverse, its column of L, its row of U. One window of zeros behind.
    factors: Vec<f64>,
    /// Unknowns by position, and one window of zeros behind.
    work: Vec<f64>,
}

impl Factors {
    /// `scale`: factors of the rows that make their entries comparable. `None` if overflow spoils the factors.
    pub(super) fn new(pattern: &Pattern, values: &[f64], pivots: Pivots, scale: &[f64]) -> Option<Self> {
        let layout = Layout::new(&pivots);
        let (mut near, mut far) = (Near::default(), Vec::new());
        let list = (0..pattern.size)
            .map(|k| Pivot { floor: 0.0, shape: add_action(layout.action(k), &mut near, &mut far) })
            .collect();
        let (row_positions, column_positions) = (inverse(&pivots.rows), inverse(&pivots.columns));
        let mut places = vec![0; pattern.count()];
        for (i, j, slot) in pattern.entries() {
            places[slot] = layout.place(row_positions[i], column_positions[j]);
        }
        let mut factors = Factors {
            limits: vec![f64::INFINITY; pivots.lower.iter().map(Vec::len).sum()],
            factors: vec![0.0; pivots.fill() + WINDOW],
            work: vec![0.0; pattern.size + WINDOW],
            places,
            pivots: list,
            near,
            far,
            rows: pivots.rows,
            columns: pivots.columns,
        };
        if !factors.refactorise(values) {
            return None;
        }
        factors.set_limits(&pivots.lower, &pivots.upper, scale);
        Some(factors)
    }

    fn set_limits(&mut self, lower: &[Vec<u32>], upper: &[Vec<u32>], scale: &[f64]) {
        let mut place = 0;
        self.limits.clear();
        for (k, pivot) in self.pivots.iter_mut().enumerate() {
            pivot.floor = (SHRINKAGE / self.factors[place].abs()) as f32;
            let pivot_scale = scale[self.rows[k] as usize];
            self.limits.extend(lower[k].iter().map(|&i| GROWTH * pivot_scale / scale[self.rows[i as usize] as usize]));
            place += 1 + lower[k].len() + upper[k].len();
        }
    }

    /// False if a pivot or an entry of L leaves the range in which the order of the pivots serves.
    pub(super) fn refactorise(&mut self, values: &[f64]) -> bool {
        if !are_finite(values) {
            return false;
        }
        self.factors.fill(0.0);
        for (&value, &place) in values.iter().zip(&self.places) {
            self.factors[place as usize] = value;
        }
        let mut rest = self.factors.as_mut_slice();
        let (mut limits, mut targets) = (self.limits.as_slice(), self.near.targets.as_slice());
        for pivot in &self.pivots {
            let Some((diagonal, next)) = rest.split_first_mut() else { return false };
            // comparisons are false for NaN
            let serves = diagonal.abs() >= f64::from(pivot.floor);
            if !serves {
                return false;
            }
            let inverse = 1.0 / *diagonal;
            *diagonal = inverse;
            let good;
            match pivot.shape() {
                Shape::Near(l, u) => {
                    let (own, tail) = next.split_at_mut(l + u);
                    let (own_limits, other_limits) = limits.split_at(l);
                    let (own_targets, other_targets) = targets.split_at(l * u);
                    let Some(window) = tail.first_chunk_mut::<WINDOW>() else { return false };
                    good = by_count!(l, eliminate_near, (own, u, inverse, own_limits, own_targets, window));
                    (rest, limits, targets) = (tail, other_limits, other_targets);
                }
                Shape::Far(place) => {
                    let far = &self.far[place];
                    let (own, tail) = next.split_at_mut(far.lower.len() + far.upper.len());
                    let (own_limits, other_limits) = limits.split_at(far.lower.len());
                    good = far.eliminate(own, inverse, own_limits, tail);
                    (rest, limits) = (tail, other_limits);
                }
            }
            if !good {
                return false;
            }
        }
        true
    }

    /// b becomes K^-1 b.
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        for (x, &row) in self.work.iter_mut().zip(&self.rows) {
            *x = b[row as usize];
        }
        let (mut rest, mut x) = (self.factors.as_slice(), self.work.as_mut_slice());
        let mut near = self.near.lower.as_slice();
        for pivot in &self.pivots {
            let Some((known, tail)) = x.split_first_mut() else { return };
            match pivot.shape() {
                Shape::Near(l, u) => {
                    let (own, next) = rest.split_at(1 + l + u);
                    let (places, other_places) = near.split_at(l);
                    let Some(window) = tail.first_chunk_mut::<WINDOW>() else { return };
                    by_count!(l, subtract_near, (*known, &own[1..1 + l], places, window));
                    (rest, near) = (next, other_places);
                }
                Shape::Far(place) => {
                    let Far { lower, upper, .. } = &self.far[place];
                    let (own, next) = rest.split_at(1 + lower.len() + upper.len());
                    subtract(*known, &own[1..1 + lower.len()], lower, tail);
                    rest = next;
                }
            }
            x = tail;
        }
        let mut rest = &self.factors[..self.factors.len() - WINDOW];
        let mut near = self.near.upper.as_slice();
        for (k, pivot) in self.pivots.iter().enumerate().rev() {
            let (head, tail) = self.work.split_at_mut(k + 1);
            match pivot.shape() {
                Shape::Near(l, u) => {
                    let (next, own) = rest.split_at(rest.len() - 1 - l - u);
                    let (other_places, places) = near.split_at(near.len() - u);
                    let Some(window) = tail.first_chunk::<WINDOW>() else { return };
                    head[k] = by_count!(u, reduce_near, (head[k], &own[1 + l..], places, window)) * own[0];
                    (rest, near) = (next, other_places);
                }
                Shape::Far(place) => {
                    let Far { lower, upper, .. } = &self.far[place];
                    let (next, own) = rest.split_at(rest.len() - 1 - lower.len() - upper.len());
                    head[k] = reduce(head[k], &own[1 + lower.len()..], upper, tail) * own[0];
                    rest = next;
                }
            }
        }
        for (&x, &column) in self.work.iter().zip(&self.columns) {
            b[column as usize] = x;
        }
    }

    /// b becomes K^-T b.
    pub(super) fn solve_transposed(&mut self, b: &mut [f64]) {
        for (x, &column) in self.work.iter_mut().zip(&self.columns) {
            *x = b[column as usize];
        }
        let (mut rest, mut x) = (self.factors.as_slice(), self.work.as_mut_slice());
        let mut near = self.near.upper.as_slice();
        for pivot in &self.pivots {
            let Some((known, tail)) = x.split_first_mut() else { return };
            *known *= rest[0];
            match pivot.shape() {
                Shape::Near(l, u) => {
                    let (own, next) = rest.split_at(1 + l + u);
                    let (places, other_places) = near.split_at(u);
                    let Some(window) = tail.first_chunk_mut::<WINDOW>() else { return };
                    by_count!(u, subtract_near, (*known, &own[1 + l..], places, window));
                    (rest, near) = (next, other_places);
                }
                Shape::Far(place) => {
                    let Far { lower, upper, .. } = &self.far[place];
                    let (own, next) = rest.split_at(1 + lower.len() + upper.len());
                    subtract(*known, &own[1 + lower.len()..], upper, tail);
                    rest = next;
                }
            }
            x = tail;
        }
        let mut rest = &self.factors[..self.factors.len() - WINDOW];
        let mut near = self.near.lower.as_slice();
        for (k, pivot) in self.pivots.iter().enumerate().rev() {
            let (head, tail) = self.work.split_at_mut(k + 1);
            match pivot.shape() {
                Shape::Near(l, u) => {
                    let (next, own) = rest.split_at(rest.len() - 1 - l - u);
                    let (other_places, places) = near.split_at(near.len() - l);
                    let Some(window) = tail.first_chunk::<WINDOW>() else { return };
                    head[k] = by_count!(l, reduce_near, (head[k], &own[1..1 + l], places, window));
                    (rest, near) = (next, other_places);
                }
                Shape::Far(place) => {
                    let Far { lower, upper, .. } = &self.far[place];
                    let (next, own) = rest.split_at(rest.len() - 1 - lower.len() - upper.len());
                    head[k] = reduce(head[k], &own[1..1 + lower.len()], lower, tail);
                    rest = next;
                }
            }
        }
        for (&x, &row) in self.work.iter().zip(&self.rows) {
            b[row as usize] = x;
        }
    }

    /// Entries of the factors.
    pub(super) fn fill(&self) -> usize {
        self.factors.len() - WINDOW
    }
}

/// Stores what a pivot acts on in the list where it belongs; returns its shape.
fn add_action(action: Action, near: &mut Near, far: &mut Vec<Far>) -> u32 {
    let Action { lower, upper, targets } = action;
    let is_near = |list: &[u32]| list.iter().all(|&place| (place as usize) < WINDOW);
    if lower.len().max(upper.len()) < FEW && is_near(&lower) && is_near(&upper) && is_near(&targets) {
        let bytes = |list: &[u32]| list.iter().map(|&place| place as u8).collect::<Vec<u8>>();
        near.lower.extend(bytes(&lower));
        near.upper.extend(bytes(&upper));
        near.targets.extend(bytes(&targets));
        (lower.len() * FEW + upper.len()) as u32
    } else {
        far.push(Far { lower, upper, targets });
        (FEW * FEW + far.len() - 1) as u32
    }
}

impl Far {
    /// `own`: column of L and row of U. False if an entry of L exceeds its limit.
    fn eliminate(&self, own: &mut [f64], inverse: f64, limits: &[f64], tail: &mut [f64]) -> bool {
        let (l, u) = own.split_at_mut(self.lower.len());
        let good = scale(l, inverse, limits);
        if !l.is_empty() {
            for (u, targets) in u.iter().zip(self.targets.chunks_exact(l.len())) {
                subtract(*u, l, targets, tail);
            }
        }
        good
    }
}

/// Divides a column of L by its pivot; false if an entry exceeds its limit, or is NaN.
#[inline(always)]
fn scale(l: &mut [f64], inverse: f64, limits: &[f64]) -> bool {
    for (l, &limit) in l.iter_mut().zip(limits) {
        *l *= inverse;
        let serves = l.abs() <= limit;
        if !serves {
            return false;
        }
    }
    true
}

/// [`Far::eliminate`] of a near pivot, with `N` entries in the column of L, or any number if `N` is 0.
#[inline(always)]
fn eliminate_near<const N: usize>(
    own: &mut [f64],
    upper: usize,
    inverse: f64,
    limits: &[f64],
    targets: &[u8],
    window: &mut [f64; WINDOW],
) -> bool {
    let count = if N == 0 { limits.len() } else { N };
    if count == 0 {
        return true;
    }
    let (l, u) = own.split_at_mut(count);
    let good = scale(l, inverse, &limits[..count]);
    for (u, targets) in u[..upper].iter().zip(targets.chunks_exact(count)) {
        subtract_near::<N>(*u, l, targets, window);
    }
    good
}

/// Subtracts the multiple of a sparse vector, of `N` entries or of any number if `N` is 0.
#[inline(always)]
fn subtract_near<const N: usize>(factor: f64, entries: &[f64], places: &[u8], x: &mut [f64; WINDOW]) {
    let count = if N == 0 { entries.len() } else { N };
    for (entry, &place) in entries[..count].iter().zip(&places[..count]) {
        x[place as usize] -= entry * factor;
    }
}

fn subtract(factor: f64, entries: &[f64], places: &[u32], x: &mut [f64]) {
    for (entry, &place) in entries.iter().zip(places) {
        x[place as usize] -= entry * factor;
    }
}

/// `value` less the product with a sparse vector, of `N` entries or of any number if `N` is 0.
#[inline(always)]
fn reduce_near<const N: usize>(value: f64, entries: &[f64], places: &[u8], x: &[f64; WINDOW]) -> f64 {
    let count = if N == 0 { entries.len() } else { N };
    // the nearest place comes last, since it was the last to be known
    entries[..count]
        .iter()
        .zip(&places[..count])
        .rev()
        .fold(value, |sum, (entry, &place)| sum - entry * x[place as usize])
}

fn reduce(value: f64, entries: &[f64], places: &[u32], x: &[f64]) -> f64 {
    entries.iter().zip(places).rev().fold(value, |sum, (entry, &place)| sum - entry * x[place as usize])
}

/// Neither infinite nor NaN.
fn are_finite(values: &[f64]) -> bool {
    // 0 * x is NaN for both; several sums do not wait for each other
    let mut sums = [0.0f64; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value * 0.0;
        }
    }
    rest.iter().all(|value| value.is_finite()) && sums.iter().all(|sum| *sum == 0.0)
}

fn inverse(permutation: &[u32]) -> Vec<usize> {
    let mut inverse = vec![0; permutation.len()];
    permutation.iter().enumerate().for_each(|(k, &i)| inverse[i as usize] = k);
    inverse
}
