//! Pattern of a sparse matrix: where it can be non-zero, and what is read off its values before pivots are chosen.

use super::lists::Lists;

/// Entries column by column; `slots` says where the value of each is kept.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) size: usize,
    starts: Vec<u32>,
    rows: Vec<u32>,
    slots: Vec<u32>,
}

impl Pattern {
    /// Returns the slot of each given entry too: slots are numbered in the order in which entries come first.
    pub(super) fn new(size: usize, entries: &[(u32, u32)]) -> (Self, Vec<u32>) {
        assert!(
            entries.iter().all(|&(i, j)| (i as usize) < size && (j as usize) < size),
            "entry outside of the matrix"
        );
        let mut sorted: Vec<u32> = (0..entries.len() as u32).collect();
        sorted.sort_by_key(|&k| (entries[k as usize].1, entries[k as usize].0, k));
        // for each given entry the first one at the same place
        let mut first: Vec<u32> = (0..entries.len() as u32).collect();
        for pair in sorted.windows(2) {
            if entries[pair[0] as usize] == entries[pair[1] as usize] {
                first[pair[1] as usize] = first[pair[0] as usize];
            }
        }
        let mut slot_of = vec![0; entries.len()];
        let mut count = 0;
        for k in 0..entries.len() {
            if first[k] as usize == k {
                slot_of[k] = count;
                count += 1;
            } else {
                slot_of[k] = slot_of[first[k] as usize];
            }
        }
        let mut pattern = Pattern { size, starts: vec![0; size + 1], rows: Vec::new(), slots: Vec::new() };
        for &k in sorted.iter().filter(|&&k| first[k as usize] == k) {
            let (row, column) = entries[k as usize];
            pattern.rows.push(row);
            pattern.slots.push(slot_of[k as usize]);
            pattern.starts[column as usize + 1] += 1;
        }
        (0..size).for_each(|j| pattern.starts[j + 1] += pattern.starts[j]);
        (pattern, slot_of)
    }

    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// (row, slot) of the entries of a column, rows ascending.
    pub(super) fn column(&self, j: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.starts[j] as usize..self.starts[j + 1] as usize;
        self.rows[range.clone()].iter().zip(&self.slots[range]).map(|(&row, &slot)| (row as usize, slot as usize))
    }

    /// (row, column, slot) of all entries, column by column.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.size).flat_map(move |j| self.column(j).map(move |(i, slot)| (i, j, slot)))
    }

    /// Factors of row i and column i, one for both, such that the largest entry of each row and column becomes about 1, whatever the units:
    /// rows of heavy and light bodies can then be compared. (Ruiz 2001, a few sweeps.)
    pub(super) fn equilibrate(&self, values: &[f64]) -> Vec<f64> {
        let mut scale = vec![1.0f64; self.size];
        let mut largest = vec![0.0f64; self.size];
        for _ in 0..4 {
            largest.fill(0.0);
            for (i, j, slot) in self.entries() {
                let size = (scale[i] * values[slot] * scale[j]).abs();
                largest[i] = largest[i].max(size);
                largest[j] = largest[j].max(size);
            }
            for (scale, &largest) in scale.iter_mut().zip(&largest) {
                if largest.is_normal() {
                    *scale /= largest.sqrt();
                }
            }
        }
        scale
    }

    /// Undirected graph of groups of unknowns (`group[i]` for unknown i), without loops.
    pub(super) fn compressed(&self, group: &[u32], groups: usize) -> Lists {
        let pairs = || self.entries().map(|(i, j, _)| [group[i], group[j]]).filter(|[a, b]| a != b);
        let mut room = vec![0; groups];
        pairs().flatten().for_each(|a| room[a as usize] += 1);
        let mut neighbours = Lists::with_room(&room);
        for [a, b] in pairs() {
            neighbours.push(a as usize, b);
            neighbours.push(b as usize, a);
        }
        neighbours.sort_and_dedup();
        neighbours
    }
}
