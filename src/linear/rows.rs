//! Sparse matrices by rows: inputs at all times as sums of a few coefficients each.

/// Sparse matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    /// Places where each row's entries begin.
    first: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

/// A matrix without rows.
impl Default for SparseRows {
    fn default() -> Self {
        SparseRows { first: vec![0], entries: Vec::new() }
    }
}

impl SparseRows {
    /// Adds an entry to the row that is being made.
    pub fn push(&mut self, column: usize, factor: f64) {
        self.entries.push((column as u32, factor));
    }

    /// Ends the row that is being made.
    pub fn end_row(&mut self) {
        self.first.push(self.entries.len());
    }

    /// Columns and factors of row `i`.
    pub fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.first[i]..self.first[i + 1]]
    }

    /// Row `i` times x.
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).iter().map(|&(column, factor)| factor * x[column as usize]).sum()
    }

    /// Adds row `i`, times `y`, to `sums`.
    pub fn add(&self, i: usize, y: f64, sums: &mut [f64]) {
        self.row(i).iter().for_each(|&(column, factor)| sums[column as usize] += factor * y);
    }

    /// Puts all rows times x to every `stride`-th place of `out`.
    pub fn times(&self, x: &[f64], out: &mut [f64], stride: usize) {
        out.iter_mut().step_by(stride).enumerate().for_each(|(i, out)| *out = self.dot(i, x));
    }

    /// Adds the transposed matrix times y, which stands at every `stride`-th place, to `sums`.
    pub fn add_transposed(&self, y: &[f64], stride: usize, sums: &mut [f64]) {
        y.iter().step_by(stride).enumerate().for_each(|(i, y)| self.add(i, *y, sums));
    }
}
