//! Choice of pivots: sparse LU from the left (Gilbert, Peierls 1988), with threshold partial pivoting.
//!
//! Only the order of the rows and the patterns are kept; the values of the factors are computed by `factors`.

use super::pattern::Pattern;

/// No pivot yet, or no column.
const NONE: u32 = u32::MAX;

/// Rows and columns in the order of elimination, and the pattern of the factors.
pub(super) struct Pivots {
    pub(super) rows: Vec<u32>,
    pub(super) columns: Vec<u32>,
    /// Later positions of the rows in each pivot's column of L.
    pub(super) lower: Vec<Vec<u32>>,
    /// Later positions of the columns in each pivot's row of U.
    pub(super) upper: Vec<Vec<u32>>,
    /// Pivots that are not the designated ones.
    pub(super) strayed: usize,
}

impl Pivots {
    /// Entries of the factors.
    pub(super) fn fill(&self) -> usize {
        self.rows.len() + self.lower.iter().chain(&self.upper).map(Vec::len).sum::<usize>()
    }
}

/// Data that guide the choice of pivots.
pub(super) struct Guide<'a> {
    /// Columns in the order of elimination.
    pub(super) columns: &'a [u32],
    /// The two rows to prefer as pivot of each column.
    pub(super) preferred: &'a [[u32; 2]],
    /// Factors of the rows that make their entries comparable.
    pub(super) scale: &'a [f64],
    /// A pivot is at least so large beside the largest candidate.
    pub(super) threshold: f64,
}

/// State of the factorisation, by original rows where not said otherwise.
struct PivotSearch<'a> {
    /// Values of L column by column, in the order of the pivots, with their rows and with the starts of the columns.
    lower: Vec<(u32, f64)>,
    starts: Vec<usize>,
    /// Position of a row that has become a pivot.
    position: Vec<u32>,
    /// The column that is being eliminated; for each entry also the sum of the magnitudes of its terms.
    column: Vec<(f64, f64)>,
    mark: Vec<u32>,
    /// Rows of the column that have no pivot yet.
    candidates: Vec<u32>,
    /// Positions of the pivots that act on the column, in reverse topological order.
    acting: Vec<u32>,
    stack: Vec<(u32, usize)>,
    guide: &'a Guide<'a>,
}

/// `None`: some column has no candidate that stands out of its own round-off, so the matrix is singular or not finite.
pub(super) fn choose(pattern: &Pattern, values: &[f64], guide: &Guide<'_>) -> Option<Pivots> {
    let size = pattern.size;
    let mut crowding = vec![0u32; size];
    pattern.entries().for_each(|(i, _, _)| crowding[i] += 1);
    let mut search = PivotSearch {
        lower: Vec::with_capacity(2 * pattern.count()),
        starts: vec![0],
        position: vec![NONE; size],
        column: vec![(0.0, 0.0); size],
        mark: vec![NONE; size],
        candidates: Vec::new(),
        acting: Vec::new(),
        stack: Vec::new(),
        guide,
    };
    let mut pivots = Pivots {
        rows: Vec::with_capacity(size),
        columns: guide.columns.to_vec(),
        lower: Vec::with_capacity(size),
        upper: vec![Vec::new(); size],
        strayed: 0,
    };
    for (k, &j) in guide.columns.iter().enumerate() {
        search.load(pattern, values, j as usize, k as u32);
        for &p in &search.acting {
            pivots.upper[p as usize].push(k as u32);
        }
        search.eliminate(&pivots.rows);
        let row = search.pivot(j as usize, &crowding)?;
        pivots.strayed += usize::from(!guide.preferred[j as usize].contains(&row));
        search.finish(row, k as u32);
        pivots.rows.push(row);
    }
    for range in search.starts.windows(2) {
        let mut rows: Vec<u32> =
            search.lower[range[0]..range[1]].iter().map(|&(i, _)| search.position[i as usize]).collect();
        rows.sort_unstable();
        pivots.lower.push(rows);
    }
    Some(pivots)
}

impl PivotSearch<'_> {
    /// Loads a column of the matrix and finds all rows that it reaches.
    fn load(&mut self, pattern: &Pattern, values: &[f64], j: usize, k: u32) {
        self.candidates.clear();
        self.acting.clear();
        for (i, slot) in pattern.column(j) {
            self.reach(i as u32, k);
            self.column[i] = (values[slot], values[slot].abs());
        }
    }

    /// Depth-first search from a row through the columns of L of the rows that are pivots.
    fn reach(&mut self, row: u32, k: u32) {
        if !self.visit(row, k) {
            return;
        }
        while let Some(&(p, place)) = self.stack.last() {
            let range = self.starts[p as usize] + place..self.starts[p as usize + 1];
            let mut left = None;
            for at in range {
                if self.visit(self.lower[at].0, k) {
                    left = Some(at);
                    break;
                }
            }
            match left {
                // the child is on top of the stack now; its parent, below, goes on behind it
                Some(at) => {
                    let parent = self.stack.len() - 2;
                    self.stack[parent].1 = at + 1 - self.starts[p as usize];
                }
                None => {
                    self.acting.push(p);
                    self.stack.pop();
                }
            }
        }
    }

    /// Marks a row; true if it was pushed on the stack because its pivot's column must be searched.
    fn visit(&mut self, row: u32, k: u32) -> bool {
        if self.mark[row as usize] == k {
            return false;
        }
        self.mark[row as usize] = k;
        self.column[row as usize] = (0.0, 0.0);
        match self.position[row as usize] {
            NONE => self.candidates.push(row),
            p => self.stack.push((p, 0)),
        }
        self.position[row as usize] != NONE
    }

    fn eliminate(&mut self, pivot_rows: &[u32]) {
        for &p in self.acting.iter().rev() {
            let (u, _) = self.column[pivot_rows[p as usize] as usize];
            for &(i, l) in &self.lower[self.starts[p as usize]..self.starts[p as usize + 1]] {
                let (value, terms) = &mut self.column[i as usize];
                *value -= l * u;
                *terms += (l * u).abs();
            }
        }
    }

    /// The preferred row if it is large enough, else the emptiest row that is.
    ///
    /// An entry is round-off, and no candidate, if it is negligible beside the terms that it is the sum of: a test that units
    /// do not change. (The size of its column is no measure: a body of 1e-15 kg may be there beside one of 1 kg.)
    fn pivot(&self, j: usize, crowding: &[u32]) -> Option<u32> {
        let size = self.position.len() as f64;
        let noise = 64.0 * size.sqrt() * f64::EPSILON;
        let magnitude = |row: u32| {
            let (value, terms) = self.column[row as usize];
            // false for NaN and for infinity
            let stands_out = value.abs() > noise * terms && value.is_finite();
            if stands_out { value.abs() * self.guide.scale[row as usize] } else { 0.0 }
        };
        let is_finite = self.candidates.iter().all(|&row| self.column[row as usize].0.is_finite());
        let largest = self.candidates.iter().fold(0.0f64, |largest, &row| largest.max(magnitude(row)));
        if largest == 0.0 || !is_finite {
            return None;
        }
        let serves = |row: u32| magnitude(row) >= self.guide.threshold * largest;
        let preferred = self.guide.preferred[j].into_iter().find(|&row| self.candidates.contains(&row) && serves(row));
        let order = |a: u32, b: u32| {
            crowding[a as usize].cmp(&crowding[b as usize]).then(magnitude(b).total_cmp(&magnitude(a)))
        };
        preferred.or_else(|| self.candidates.iter().copied().filter(|&row| serves(row)).min_by(|&a, &b| order(a, b)))
    }

    fn finish(&mut self, pivot: u32, k: u32) {
        let (value, _) = self.column[pivot as usize];
        self.position[pivot as usize] = k;
        for &row in self.candidates.iter().filter(|&&row| row != pivot) {
            self.lower.push((row, self.column[row as usize].0 / value));
        }
        self.starts.push(self.lower.len());
    }
}
