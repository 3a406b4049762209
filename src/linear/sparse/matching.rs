//! An acceleration of its own for each multiplier, through a large entry of its row of the constraint Jacobian.
//!
//! A multiplier's diagonal entry is zero; together with its acceleration it makes a block that can be eliminated at once.

/// No partner.
pub(super) const NONE: u32 = u32::MAX;

/// Entries are taken by size relative to the largest of their row: all rows that can be matched through entries of the first
/// level are, then the others through entries of the next.
const LEVELS: [f64; 5] = [0.5, 0.1, 1e-2, 1e-4, f64::MIN_POSITIVE];

/// A bipartite graph seen from one side; the edges of a vertex start with the preferred one.
struct Edges {
    starts: Vec<u32>,
    /// (vertex of the other side, relative size of the entry)
    ends: Vec<(u32, f64)>,
}

impl Edges {
    fn new(count: usize, mut edges: Vec<(u32, u32, f64)>, preference: impl Fn(u32) -> usize) -> Self {
        edges.sort_by_key(|&(from, to, _)| (from, preference(to), to));
        let mut starts = vec![0; count + 1];
        edges.iter().for_each(|&(from, _, _)| starts[from as usize + 1] += 1);
        (0..count).for_each(|i| starts[i + 1] += starts[i]);
        Edges { starts, ends: edges.into_iter().map(|(_, to, size)| (to, size)).collect() }
    }

    fn of(&self, vertex: u32) -> &[(u32, f64)] {
        &self.ends[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

/// Partner of each of `multipliers` among `accelerations` and reverse, [`NONE`] for those left over.
///
/// `entries`: (multiplier, acceleration, magnitude) of the constraint Jacobian. `is_solid`: accelerations with a diagonal
/// entry to pivot on; the others need a multiplier and are matched first. `crowding`: entries in an acceleration's column; few
/// are preferred.
pub(super) fn match_multipliers(
    multipliers: usize,
    accelerations: usize,
    entries: &[(u32, u32, f64)],
    is_solid: &[bool],
    crowding: &[usize],
) -> (Vec<u32>, Vec<u32>) {
    let mut largest = vec![0.0f64; multipliers];
    entries.iter().for_each(|&(row, _, size)| largest[row as usize] = largest[row as usize].max(size));
    let relative: Vec<(u32, u32, f64)> = entries
        .iter()
        .filter(|&&(_, _, size)| size > 0.0)
        .map(|&(row, column, size)| (row, column, size / largest[row as usize]))
        .collect();
    let mirrored = relative.iter().map(|&(row, column, size)| (column, row, size)).collect();
    let columns = Edges::new(accelerations, mirrored, |_| 0);
    let rows = Edges::new(multipliers, relative, |column| crowding[column as usize]);
    let (mut of_row, mut of_column) = (vec![NONE; multipliers], vec![NONE; accelerations]);
    let light: Vec<u32> = (0..accelerations as u32).filter(|&j| !is_solid[j as usize]).collect();
    let all: Vec<u32> = (0..multipliers as u32).collect();
    // a vertex that is matched stays matched, if to another partner
    LEVELS.iter().for_each(|&level| augment(&columns, level, &light, &mut of_column, &mut of_row));
    LEVELS.iter().for_each(|&level| augment(&rows, level, &all, &mut of_row, &mut of_column));
    (of_row, of_column)
}

/// Matches as many of `starts` as possible through edges of at least `level`, along augmenting paths.
fn augment(edges: &Edges, level: f64, starts: &[u32], partner: &mut [u32], partner_beyond: &mut [u32]) {
    let mut seen = vec![0u32; partner_beyond.len()];
    let mut reached_from = vec![NONE; partner_beyond.len()];
    let mut queue = Vec::new();
    // what a failed search has seen leads nowhere in this pass, so that a pass takes linear time
    for pass in 1.. {
        let mut progress = false;
        for &start in starts {
            if partner[start as usize] != NONE {
                continue;
            }
            queue.clear();
            queue.push(start);
            let mut place = 0;
            let mut free = NONE;
            'search: while let Some(&vertex) = queue.get(place) {
                place += 1;
                for &(beyond, size) in edges.of(vertex) {
                    if size < level || seen[beyond as usize] == pass {
                        continue;
                    }
                    seen[beyond as usize] = pass;
                    reached_from[beyond as usize] = vertex;
                    if partner_beyond[beyond as usize] == NONE {
                        free = beyond;
                        break 'search;
                    }
                    queue.push(partner_beyond[beyond as usize]);
                }
            }
            // turn the path over, from its free end back to the start
            while free != NONE {
                progress = true;
                let vertex = reached_from[free as usize];
                partner_beyond[free as usize] = vertex;
                free = std::mem::replace(&mut partner[vertex as usize], free);
            }
        }
        if !progress {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the augmenting paths: a row that comes last takes the only entry it has, and the others make way; a massless
    /// coordinate is matched although a larger entry is beside it; what cannot be matched stays alone.
    #[test]
    fn rows_make_way_and_massless_columns_come_first() {
        let chain: Vec<(u32, u32, f64)> =
            (0..100).flat_map(|i| [(i, i, 1.0), (i, i + 1, 0.9)]).chain([(100, 0, 1.0)]).collect();
        let (rows, columns) = match_multipliers(101, 101, &chain, &[true; 101], &[1; 101]);
        assert_eq!(rows[100], 0);
        assert!((0..100).all(|i| rows[i] == i as u32 + 1 && columns[i + 1] == i as u32));

        let pair = [(0, 0, 1.0), (0, 1, 1e-3)];
        assert_eq!(match_multipliers(1, 2, &pair, &[true, true], &[1, 1]).0, [0]);
        assert_eq!(match_multipliers(1, 2, &pair, &[true, false], &[1, 1]).0, [1]);

        let crowded = [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 0.0)];
        let (rows, columns) = match_multipliers(3, 1, &crowded, &[true], &[2]);
        assert_eq!((rows, columns), (vec![0, NONE, NONE], vec![0]));
    }

    /// Protects the levels: the smallest entry used is as large as possible.
    #[test]
    fn large_entries_are_preferred() {
        let entries = [(0, 0, 1.0), (0, 1, 0.6), (1, 0, 1.0), (1, 1, 1e-6)];
        assert_eq!(match_multipliers(2, 2, &entries, &[true; 2], &[1; 2]).0, [1, 0]);
    }
}
