//! Triangular factors with unit diagonal, arranged for substitution.
//!
//! Short loops, one for each pivot, would cost more in branches than in arithmetic. So all entries of a factor are one stream,
//! each with the two positions that it connects, and are worked off in chunks of fixed length. Nearly always the positions
//! of a chunk are close together: then a byte each suffices, and into a window of 256 numbers it needs no check of bounds.

/// Length of the window that a byte can index. Vectors of unknowns have so many zeros behind them.
pub(super) const WINDOW: usize = 256;
const CHUNK: usize = 8;
/// First of the bases that number the positions of a chunk in the list of wide ones.
const WIDE: u32 = 1 << 31;

/// L column by column, or U row by row.
#[derive(Debug, Clone)]
pub(super) struct Triangle {
    /// Values in the order of the pivots; zeros behind fill the last chunk.
    values: Vec<f64>,
    chunks: Vec<Chunk>,
    wide: Vec<[[u32; 2]; CHUNK]>,
}

/// For each entry the position of its pivot and the later one, less the base.
#[derive(Debug, Clone)]
struct Chunk {
    base: u32,
    pairs: [[u8; 2]; CHUNK],
}

impl Triangle {
    /// `positions`: for each pivot the later positions of its entries.
    pub(super) fn new(positions: &[Vec<u32>]) -> Self {
        let pairs: Vec<[u32; 2]> =
            (0..).zip(positions).flat_map(|(k, later)| later.iter().map(move |&position| [k, position])).collect();
        let mut wide = Vec::new();
        let chunks: Vec<Chunk> = pairs
            .chunks(CHUNK)
            .map(|list| {
                let base = list[0][0];
                let mut absolute = [[base; 2]; CHUNK];
                absolute[..list.len()].copy_from_slice(list);
                let pairs = absolute.map(|pair| pair.map(|position| (position - base) as u8));
                if absolute.iter().flatten().all(|position| ((position - base) as usize) < WINDOW) {
                    Chunk { base, pairs }
                } else {
                    wide.push(absolute);
                    Chunk { base: WIDE + wide.len() as u32 - 1, pairs }
                }
            })
            .collect();
        Triangle { values: vec![0.0; chunks.len() * CHUNK], chunks, wide }
    }

    /// Entries in the order of the pivots.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Solves for unknowns from the first to the last: each pivot's entries act on later positions.
    pub(super) fn substitute_forwards(&self, x: &mut [f64]) {
        let (values, _) = self.values.as_chunks::<CHUNK>();
        for (values, chunk) in values.iter().zip(&self.chunks) {
            if let Some(window) = window(x, chunk.base) {
                for (value, &[pivot, later]) in values.iter().zip(&chunk.pairs) {
                    window[later as usize] -= value * window[pivot as usize];
                }
            } else {
                for (value, &[pivot, later]) in values.iter().zip(&self.wide[(chunk.base - WIDE) as usize]) {
                    x[later as usize] -= value * x[pivot as usize];
                }
            }
        }
    }

    /// Solves with the transposed, for unknowns from the last to the first.
    pub(super) fn substitute_backwards(&self, x: &mut [f64]) {
        let (values, _) = self.values.as_chunks::<CHUNK>();
        for (values, chunk) in values.iter().zip(&self.chunks).rev() {
            if let Some(window) = window(x, chunk.base) {
                for (value, &[pivot, later]) in values.iter().zip(&chunk.pairs).rev() {
                    window[pivot as usize] -= value * window[later as usize];
                }
            } else {
                for (value, &[pivot, later]) in values.iter().zip(&self.wide[(chunk.base - WIDE) as usize]).rev() {
                    x[pivot as usize] -= value * x[later as usize];
                }
            }
        }
    }
}

#[inline(always)]
fn window(x: &mut [f64], base: u32) -> Option<&mut [f64; WINDOW]> {
    x.get_mut(base as usize..)?.first_chunk_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects chunks whose positions are too far apart for bytes, and the filling of the last chunk.
    #[test]
    fn far_entries_are_reached() {
        let size = 1000;
        let later: Vec<Vec<u32>> = (0..size)
            .map(|k| [k + 1, k + 3, k + 254, k + 700].into_iter().filter(|&i| i < size && (k % 3 != 1)).collect())
            .collect();
        let mut triangle = Triangle::new(&later);
        assert!(!triangle.wide.is_empty() && triangle.wide.len() < triangle.chunks.len());
        let value = |k: u32, i: u32| 0.3 * f64::from(k + 2 * i).sin();
        let entries: Vec<(u32, u32)> = (0..size).flat_map(|k| later[k as usize].iter().map(move |&i| (k, i))).collect();
        triangle.values_mut().iter_mut().zip(&entries).for_each(|(entry, &(k, i))| *entry = value(k, i));
        let b: Vec<f64> = (0..size).map(|i| f64::from(i).cos()).collect();
        let pad = |b: &[f64]| [b, &[0.0; WINDOW]].concat();
        let (mut forwards, mut backwards) = (pad(&b), pad(&b));
        triangle.substitute_forwards(&mut forwards);
        triangle.substitute_backwards(&mut backwards);
        // multiply again
        let (mut product, mut transposed) = (forwards.clone(), backwards.clone());
        for &(k, i) in &entries {
            product[i as usize] += value(k, i) * forwards[k as usize];
            transposed[k as usize] += value(k, i) * backwards[i as usize];
        }
        let largest = forwards.iter().chain(&backwards).fold(1.0f64, |a, x| a.max(x.abs()));
        for ((p, t), b) in product.iter().zip(&transposed).zip(&pad(&b)) {
            assert!((p - b).abs() < 1e-14 * largest && (t - b).abs() < 1e-14 * largest);
        }
    }
}
