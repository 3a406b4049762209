//! Rows of a sparse matrix that are combinations of earlier rows: for naming redundant constraints.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A pivot is at least this large beside the largest entry of its row that is left.
const THRESHOLD: f64 = 0.1;
/// Terms of a combination below this are round-off (beside its largest coefficient, in rows of size 1).
const NEGLIGIBLE: f64 = 1e-6;

/// A row after elimination of the pivots of earlier ones, divided by its pivot.
struct Reduced {
    /// Number of the row of the matrix.
    row: usize,
    /// (column, entry) without the pivot.
    entries: Vec<(u32, f64)>,
    /// (reduced row, multiple) that were subtracted from the row; the row was divided by `pivot` afterwards.
    multiples: Vec<(usize, f64)>,
    pivot: f64,
}

/// A sparse vector with random access, cleared in time proportional to its entries.
struct Accumulator {
    values: Vec<f64>,
    is_present: Vec<bool>,
    present: Vec<u32>,
}

impl Accumulator {
    fn new(size: usize) -> Self {
        Accumulator { values: vec![0.0; size], is_present: vec![false; size], present: Vec::new() }
    }

    /// True if the place was empty.
    fn add(&mut self, place: u32, value: f64) -> bool {
        let is_new = !self.is_present[place as usize];
        if is_new {
            self.is_present[place as usize] = true;
            self.present.push(place);
            self.values[place as usize] = 0.0;
        }
        self.values[place as usize] += value;
        is_new
    }

    /// Removes all entries and returns them.
    fn take(&mut self) -> Vec<(u32, f64)> {
        let present = std::mem::take(&mut self.present);
        present
            .into_iter()
            .map(|place| {
                self.is_present[place as usize] = false;
                (place, self.values[place as usize])
            })
            .collect()
    }
}

/// Rows that depend on earlier ones, each with the earlier independent rows that it combines, ascending.
///
/// `rows`: (column, entry) below `columns`, several at one place add up. A row depends on earlier ones if less than `tolerance`
/// of its largest entry is left when they are eliminated from it; a row of zeros depends on none.
pub fn redundant_rows(rows: &[Vec<(u32, f64)>], columns: usize, tolerance: f64) -> Vec<(usize, Vec<usize>)> {
    // a column that no later row has makes the best pivot: nothing is eliminated with it
    let mut last_use = vec![0; columns];
    for (number, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(column, _)| last_use[column as usize] = number);
    }
    let mut reduced: Vec<Reduced> = Vec::new();
    let mut pivot_row: Vec<Option<usize>> = vec![None; columns];
    let mut work = Accumulator::new(columns);
    let mut coefficients = Accumulator::new(rows.len());
    let mut redundant = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let (multiples, size) = eliminate(row, &reduced, &pivot_row, &mut work);
        let mut left = work.take();
        left.retain(|&(column, value)| pivot_row[column as usize].is_none() && value != 0.0);
        let largest = left.iter().fold(0.0f64, |largest, (_, value)| largest.max(value.abs()));
        let is_independent = largest > tolerance * size;
        if !is_independent {
            redundant.push((number, combined_rows(&multiples, &reduced, rows, size, &mut coefficients)));
            continue;
        }
        let candidates = left.iter().filter(|(_, value)| value.abs() >= THRESHOLD * largest);
        let Some(&(column, pivot)) = candidates.min_by_key(|(column, _)| (last_use[*column as usize], *column)) else {
            continue;
        };
        left.retain(|&(other, _)| other != column);
        left.iter_mut().for_each(|(_, value)| *value /= pivot);
        pivot_row[column as usize] = Some(reduced.len());
        reduced.push(Reduced { row: number, entries: left, multiples, pivot });
    }
    redundant
}

/// Largest magnitude of the entries, several at one place added up.
fn row_size(row: &[(u32, f64)], work: &mut Accumulator) -> f64 {
    row.iter().for_each(|&(column, value)| {
        work.add(column, value);
    });
    work.take().iter().fold(0.0, |largest, (_, value)| largest.max(value.abs()))
}

/// Leaves in `work` what remains of a row; returns the multiples of reduced rows that were subtracted, and the row's size.
fn eliminate(
    row: &[(u32, f64)],
    reduced: &[Reduced],
    pivot_row: &[Option<usize>],
    work: &mut Accumulator,
) -> (Vec<(usize, f64)>, f64) {
    let size = row_size(row, work);
    // a reduced row has no entries in the pivots of earlier ones, but may have some in those of later ones
    let mut queue = BinaryHeap::new();
    let add = |work: &mut Accumulator, queue: &mut BinaryHeap<_>, column: u32, value: f64| {
        if work.add(column, value)
            && let Some(next) = pivot_row[column as usize]
        {
            queue.push(Reverse((next, column)));
        }
    };
    row.iter().for_each(|&(column, value)| add(work, &mut queue, column, value));
    let mut multiples = Vec::new();
    while let Some(Reverse((next, column))) = queue.pop() {
        let multiple = work.values[column as usize];
        if multiple == 0.0 {
            continue;
        }
        multiples.push((next, multiple));
        for &(column, value) in &reduced[next].entries {
            add(work, &mut queue, column, -multiple * value);
        }
    }
    (multiples, size)
}

/// Rows of the matrix whose combination is the given one of reduced rows.
fn combined_rows(
    multiples: &[(usize, f64)],
    reduced: &[Reduced],
    rows: &[Vec<(u32, f64)>],
    size: f64,
    coefficients: &mut Accumulator,
) -> Vec<usize> {
    let mut queue = BinaryHeap::new();
    let add = |coefficients: &mut Accumulator, queue: &mut BinaryHeap<usize>, place: usize, value: f64| {
        if coefficients.add(place as u32, value) {
            queue.push(place);
        }
    };
    multiples.iter().for_each(|&(place, multiple)| add(coefficients, &mut queue, place, multiple));
    // reduced = (row - multiples of earlier reduced ones) / pivot, from the last to the first
    while let Some(place) = queue.pop() {
        let Reduced { multiples, pivot, .. } = &reduced[place];
        coefficients.values[place] /= pivot;
        let coefficient = coefficients.values[place];
        multiples.iter().for_each(|&(other, multiple)| add(coefficients, &mut queue, other, -coefficient * multiple));
    }
    let extent = |row: &[(u32, f64)]| row.iter().fold(0.0f64, |largest, (_, value)| largest.max(value.abs()));
    let terms: Vec<(usize, f64)> = coefficients
        .take()
        .into_iter()
        .map(|(place, coefficient)| (reduced[place as usize].row, coefficient))
        .map(|(row, coefficient)| (row, coefficient.abs() * extent(&rows[row])))
        .collect();
    let mut combined: Vec<usize> =
        terms.into_iter().filter(|&(_, term)| term > NEGLIGIBLE * size).map(|(row, _)| row).collect();
    combined.sort_unstable();
    combined
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;
    use proptest::prelude::*;

    /// Rows of a chain of planar links, each hinged to the one before; the first one to the ground.
    fn chain_rows(links: u32) -> Vec<Vec<(u32, f64)>> {
        let angle = |i: u32| 1.3 * f64::from(i).sin();
        let hinge = |i: u32, direction: u32| {
            let arm = |i: u32| if direction == 0 { 0.5 * angle(i).sin() } else { -0.5 * angle(i).cos() };
            let mut row = vec![(3 * i + direction, 1.0), (3 * i + 2, arm(i))];
            if i > 0 {
                row.extend([(3 * i - 3 + direction, -1.0), (3 * i - 1, arm(i - 1))]);
            }
            row
        };
        (0..links).flat_map(|i| [hinge(i, 0), hinge(i, 1)]).collect()
    }

    /// Protects the names in the message about redundant constraints: copies, multiples, sums and empty rows are found, with
    /// those that they combine and no others.
    #[test]
    fn combinations_are_named() {
        let rows = vec![
            vec![(0, 1.0), (1, 2.0)],
            vec![(2, 1.0)],
            vec![(0, 3.0), (1, 6.0)],
            vec![(1, 1.0), (3, 1.0)],
            vec![(0, 1.0), (1, 1.0), (3, -1.0), (2, 0.0)],
            vec![],
            vec![(4, 1e-3)],
            vec![(2, 5.0), (2, -5.0), (4, 2.0), (2, 1.0)],
        ];
        let expected = [(2, vec![0]), (4, vec![0, 3]), (5, vec![]), (7, vec![1, 6])];
        assert_eq!(redundant_rows(&rows, 5, 1e-9), expected);
        assert_eq!(redundant_rows(&[], 0, 1e-9), []);
    }

    /// Protects against calling a nearly parallel row redundant, and against missing one that round-off has touched.
    #[test]
    fn the_tolerance_separates() {
        let rows = |distance: f64| vec![vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0), (1, 1.0 + distance)]];
        assert_eq!(redundant_rows(&rows(1e-6), 2, 1e-9), []);
        assert_eq!(redundant_rows(&rows(1e-12), 2, 1e-9), [(1, vec![0])]);
    }

    /// Protects near-linear time and the combination along a whole loop: a chain of 10 000 links whose far end is held both by
    /// a hinge, which is independent, and by a second one, which is not. (Quadratic work would take minutes.)
    #[test]
    fn long_chains_take_linear_time() {
        let links = 10_000;
        let mut rows = chain_rows(links);
        assert_eq!(redundant_rows(&rows, 3 * links as usize, 1e-9), []);
        let last = 3 * (links - 1);
        rows.extend([vec![(last, 1.0), (last + 2, 0.4)], vec![(last + 1, 1.0), (last + 2, 0.3)]]);
        let holds = 2 * links as usize;
        rows.extend([vec![(last, 2.0), (last + 1, -1.0), (last + 2, 0.5)]]);
        assert_eq!(redundant_rows(&rows, 3 * links as usize, 1e-9), [(holds + 2, vec![holds, holds + 1])]);
    }

    proptest! {
        /// Protects the count of redundant rows against the rank by singular values, and each combination: the row is in the
        /// span of those that it names.
        #[test]
        fn ranks_agree_with_singular_values(
            columns in 1usize..8,
            picks in prop::collection::vec((0usize..4, prop::collection::vec(-3i32..4, 8)), 1..14),
        ) {
            let mut rows: Vec<Vec<f64>> = Vec::new();
            for (kind, numbers) in &picks {
                // every other row or so combines earlier ones
                let mut row: Vec<f64> = numbers[..columns].iter().map(|&n| f64::from(n)).collect();
                if *kind > 1 && !rows.is_empty() {
                    row = (0..columns)
                        .map(|j| rows.iter().zip(numbers).map(|(row, &n)| 0.5 * f64::from(n) * row[j]).sum())
                        .collect();
                }
                rows.push(row);
            }
            let sparse: Vec<Vec<(u32, f64)>> = rows
                .iter()
                .map(|row| row.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(j, &x)| (j as u32, x)).collect())
                .collect();
            let rank = |rows: &[&Vec<f64>]| match rows.len() {
                0 => 0,
                count => DMatrix::from_fn(count, columns, |i, j| rows[i][j]).rank(1e-9),
            };
            let redundant = redundant_rows(&sparse, columns, 1e-9);
            prop_assert_eq!(rows.len() - redundant.len(), rank(&rows.iter().collect::<Vec<_>>()));
            for (row, combined) in redundant {
                let mut span: Vec<&Vec<f64>> = combined.iter().map(|&i| &rows[i]).collect();
                let alone = rank(&span);
                prop_assert_eq!(alone, span.len(), "named rows are independent");
                span.push(&rows[row]);
                prop_assert_eq!(rank(&span), alone);
            }
        }
    }
}
