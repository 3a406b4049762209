//! Layout of the entries of the matrix and of its fill during elimination.

use super::pivoting::Pivots;

/// Places of the entries in one array, pivot by pivot: the pivot, its column, its row.
pub(super) struct Layout<'a> {
    pivots: &'a Pivots,
    /// Place of each pivot, and the end.
    starts: Vec<u32>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(pivots: &'a Pivots) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for (lower, upper) in pivots.lower.iter().zip(&pivots.upper) {
            end += 1 + (lower.len() + upper.len()) as u32;
            starts.push(end);
        }
        Layout { pivots, starts }
    }

    /// Place of the entry at a position of the permuted matrix; it must be in the pattern.
    pub(super) fn place(&self, row: usize, column: usize) -> u32 {
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

    /// Places that change by -u l when a pivot is eliminated, counted from where the next pivot begins: for each entry u
    /// of its row of U one for each entry l of its column of L.
    pub(super) fn targets(&self, k: usize) -> Vec<u32> {
        let (lower, upper) = (&self.pivots.lower[k], &self.pivots.upper[k]);
        let end = self.starts[k + 1];
        let of_column = |&j: &u32| lower.iter().map(move |&i| self.place(i as usize, j as usize) - end);
        upper.iter().flat_map(of_column).collect()
    }
}
