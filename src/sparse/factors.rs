//! Factors on a frozen pattern with frozen pivots: refactorisation in place, and both solves.
//!
//! The factors lie pivot by pivot in one array: the inverse of the pivot, its column of L, its row of U. Indices are relative to
//! the pivot, so that the pivots of a regular structure (a chain of ten thousand links) share a few [`Template`]s, which
//! stay in the fastest cache while the values stream by.

use super::pattern::Pattern;
use super::pivoting::Pivots;
use std::collections::HashMap;

/// Largest multiplier (entry of L, comparably scaled) that frozen pivots may produce; fresh ones produce at most ten.
const GROWTH: f64 = 1e3;
/// Smallest pivot beside its size when it was chosen.
const SHRINKAGE: f64 = 1e-6;

/// What a pivot acts on, relative to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Template {
    /// Positions of the rows in the column of L, less that of the next pivot.
    lower: Vec<u32>,
    /// Positions of the columns in the row of U, less that of the next pivot.
    upper: Vec<u32>,
    /// Places in the array of factors, counted from the end of this pivot's own, that change by -u l: for each entry u
    /// of the row of U one for each entry l of the column of L.
    targets: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Pivot {
    template: u32,
    /// Smallest magnitude at which the pivot still serves.
    floor: f32,
}

#[derive(Debug, Clone)]
pub(super) struct Factors {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// Place of each slot's value in `factors`.
    places: Vec<u32>,
    templates: Vec<Template>,
    pivots: Vec<Pivot>,
    /// Largest magnitude of each entry of L, pivot by pivot.
    limits: Vec<f32>,
    factors: Vec<f64>,
    work: Vec<f64>,
}

impl Factors {
    /// `scale`: factors of the rows that make their entries comparable. `None` if overflow spoils the factors.
    pub(super) fn new(pattern: &Pattern, values: &[f64], pivots: Pivots, scale: &[f64]) -> Option<Self> {
        let layout = Layout::new(&pivots);
        let mut known = HashMap::new();
        let mut templates = Vec::new();
        let mut list = Vec::with_capacity(pattern.size);
        for k in 0..pattern.size {
            let template = layout.template(k);
            let count = templates.len() as u32;
            let index = *known.entry(template).or_insert_with_key(|template| {
                templates.push(template.clone());
                count
            });
            list.push(Pivot { template: index, floor: 0.0 });
        }
        let (row_positions, column_positions) = (inverse(&pivots.rows), inverse(&pivots.columns));
        let mut places = vec![0; pattern.count()];
        for (i, j, slot) in pattern.entries() {
            places[slot] = layout.place(row_positions[i], column_positions[j]);
        }
        let mut factors = Factors {
            places,
            templates,
            pivots: list,
            limits: vec![f32::INFINITY; pivots.lower.iter().map(Vec::len).sum()],
            factors: vec![0.0; pivots.fill()],
            work: vec![0.0; pattern.size],
            rows: pivots.rows,
            columns: pivots.columns,
        };
        if !factors.refactorise(values) {
            return None;
        }
        factors.set_limits(scale);
        Some(factors)
    }

    fn set_limits(&mut self, scale: &[f64]) {
        let mut rest = self.factors.as_slice();
        let mut limits = self.limits.iter_mut();
        for (k, pivot) in self.pivots.iter_mut().enumerate() {
            let template = &self.templates[pivot.template as usize];
            pivot.floor = (SHRINKAGE / rest[0].abs()) as f32;
            let pivot_scale = scale[self.rows[k] as usize];
            for (&i, limit) in template.lower.iter().zip(&mut limits) {
                *limit = (GROWTH * pivot_scale / scale[self.rows[k + 1 + i as usize] as usize]) as f32;
            }
            rest = &rest[1 + template.lower.len() + template.upper.len()..];
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
        let mut good = true;
        let mut rest = self.factors.as_mut_slice();
        let mut limits = self.limits.as_slice();
        for pivot in &self.pivots {
            let Template { lower, upper, targets } = &self.templates[pivot.template as usize];
            let (own, tail) = rest.split_at_mut(1 + lower.len() + upper.len());
            let (own_limits, other_limits) = limits.split_at(lower.len());
            let (diagonal, own) = own.split_at_mut(1);
            let (l, u) = own.split_at_mut(lower.len());
            // comparisons are false for NaN
            good &= diagonal[0].abs() >= f64::from(pivot.floor);
            let inverse = 1.0 / diagonal[0];
            diagonal[0] = inverse;
            for (l, &limit) in l.iter_mut().zip(own_limits) {
                *l *= inverse;
                good &= l.abs() <= f64::from(limit);
            }
            if !l.is_empty() {
                for (u, targets) in u.iter().zip(targets.chunks_exact(l.len())) {
                    for (l, &target) in l.iter().zip(targets) {
                        tail[target as usize] -= u * l;
                    }
                }
            }
            rest = tail;
            limits = other_limits;
        }
        good
    }

    /// b becomes K^-1 b.
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        for (x, &row) in self.work.iter_mut().zip(&self.rows) {
            *x = b[row as usize];
        }
        let mut rest = self.factors.as_slice();
        let mut x = self.work.as_mut_slice();
        for pivot in &self.pivots {
            let Template { lower, upper, .. } = &self.templates[pivot.template as usize];
            let Some((known, tail)) = x.split_first_mut() else { break };
            let (own, next) = rest.split_at(1 + lower.len() + upper.len());
            for (l, &i) in own[1..].iter().zip(lower) {
                tail[i as usize] -= l * *known;
            }
            (rest, x) = (next, tail);
        }
        let mut rest = self.factors.as_slice();
        for (k, pivot) in self.pivots.iter().enumerate().rev() {
            let Template { lower, upper, .. } = &self.templates[pivot.template as usize];
            let (head, tail) = self.work.split_at_mut(k + 1);
            let (next, own) = rest.split_at(rest.len() - 1 - lower.len() - upper.len());
            let mut sum = head[k];
            for (u, &j) in own[1 + lower.len()..].iter().zip(upper) {
                sum -= u * tail[j as usize];
            }
            head[k] = sum * own[0];
            rest = next;
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
        let mut rest = self.factors.as_slice();
        let mut x = self.work.as_mut_slice();
        for pivot in &self.pivots {
            let Template { lower, upper, .. } = &self.templates[pivot.template as usize];
            let Some((known, tail)) = x.split_first_mut() else { break };
            let (own, next) = rest.split_at(1 + lower.len() + upper.len());
            *known *= own[0];
            for (u, &j) in own[1 + lower.len()..].iter().zip(upper) {
                tail[j as usize] -= u * *known;
            }
            (rest, x) = (next, tail);
        }
        let mut rest = self.factors.as_slice();
        for (k, pivot) in self.pivots.iter().enumerate().rev() {
            let Template { lower, upper, .. } = &self.templates[pivot.template as usize];
            let (head, tail) = self.work.split_at_mut(k + 1);
            let (next, own) = rest.split_at(rest.len() - 1 - lower.len() - upper.len());
            let mut sum = head[k];
            for (l, &i) in own[1..].iter().zip(lower) {
                sum -= l * tail[i as usize];
            }
            head[k] = sum;
            rest = next;
        }
        for (&x, &row) in self.work.iter().zip(&self.rows) {
            b[row as usize] = x;
        }
    }

    /// Entries of the factors.
    pub(super) fn fill(&self) -> usize {
        self.factors.len()
    }
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

/// Where the entries of the factors lie.
struct Layout<'a> {
    pivots: &'a Pivots,
    /// Place of each pivot, and the end.
    starts: Vec<u32>,
}

impl<'a> Layout<'a> {
    fn new(pivots: &'a Pivots) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for (lower, upper) in pivots.lower.iter().zip(&pivots.upper) {
            end += 1 + (lower.len() + upper.len()) as u32;
            starts.push(end);
        }
        Layout { pivots, starts }
    }

    /// Place of the entry at a position of the permuted matrix; it must be in the pattern.
    fn place(&self, row: usize, column: usize) -> u32 {
        let find = |list: &[u32], position: usize| match list.binary_search(&(position as u32)) {
            Ok(place) => place as u32,
            Err(_) => unreachable!("the pattern of the factors holds that of the matrix and its fill"),
        };
        match row.cmp(&column) {
            std::cmp::Ordering::Equal => self.starts[row],
            std::cmp::Ordering::Greater => self.starts[column] + 1 + find(&self.pivots.lower[column], row),
            std::cmp::Ordering::Less => {
                self.starts[row] + 1 + self.pivots.lower[row].len() as u32 + find(&self.pivots.upper[row], column)
            }
        }
    }

    fn template(&self, k: usize) -> Template {
        let (lower, upper) = (&self.pivots.lower[k], &self.pivots.upper[k]);
        let relative = |list: &[u32]| list.iter().map(|&position| position - k as u32 - 1).collect();
        let end = self.starts[k + 1];
        let targets =
            upper.iter().flat_map(|&j| lower.iter().map(move |&i| self.place(i as usize, j as usize) - end)).collect();
        Template { lower: relative(lower), upper: relative(upper), targets }
    }
}
