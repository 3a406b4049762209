//! Approximate minimum degree order of an undirected graph.
//!
//! Amestoy, Davis, Duff: An approximate minimum degree ordering algorithm, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905:
//! quotient graph, approximate external degrees, aggressive absorption, mass elimination, indistinguishable nodes merged.

use super::forest::Forest;
use super::lists::{Lists, NONE};

/// Nodes by degree; among equal ones the one that waits longest is next, which works on a chain from both ends.
struct Queue {
    /// The first and the last node of each degree.
    ends: Vec<[u32; 2]>,
    /// The nodes before and behind a node of the same degree.
    beside: Vec<[u32; 2]>,
    is_in: Vec<bool>,
    /// No node has a lower degree.
    least: usize,
}

impl Queue {
    fn new(count: usize) -> Self {
        Queue { ends: Vec::new(), beside: vec![[NONE; 2]; count], is_in: vec![false; count], least: 0 }
    }

    fn insert(&mut self, node: u32, degree: u32) {
        let degree = degree as usize;
        if degree >= self.ends.len() {
            self.ends.resize(degree + 1, [NONE; 2]);
        }
        let [first, last] = &mut self.ends[degree];
        self.beside[node as usize] = [*last, NONE];
        if *last == NONE {
            *first = node;
        } else {
            self.beside[*last as usize][1] = node;
        }
        *last = node;
        self.is_in[node as usize] = true;
        self.least = self.least.min(degree);
    }

    /// Takes a node out, if it is in, with the degree that it was put in with.
    fn remove(&mut self, node: u32, degree: u32) {
        if !std::mem::replace(&mut self.is_in[node as usize], false) {
            return;
        }
        let [before, behind] = self.beside[node as usize];
        let [first, last] = &mut self.ends[degree as usize];
        match before {
            NONE => *first = behind,
            _ => self.beside[before as usize][1] = behind,
        }
        match behind {
            NONE => *last = before,
            _ => self.beside[behind as usize][0] = before,
        }
    }

    fn pop(&mut self) -> Option<u32> {
        while self.ends.get(self.least)?[0] == NONE {
            self.least += 1;
        }
        let node = self.ends[self.least][0];
        self.remove(node, self.least as u32);
        Some(node)
    }
}

/// The graph during elimination: an eliminated node has become an element, the clique of its boundary.
struct QuotientGraph {
    /// Live neighbours that no common element covers yet.
    neighbours: Lists,
    /// Live elements on whose boundary a node lies: a new one takes the place of a neighbour, or of an element that it absorbs.
    elements: Lists,
    /// Nodes on an element's boundary; empty if it is no element, or absorbed.
    boundary: Vec<Vec<u32>>,
    /// Summed weights of the boundary.
    boundary_weight: Vec<u32>,
    is_absorbed: Vec<bool>,
    /// Unknowns that a node stands for; 0 once it is eliminated or merged into another.
    weight: Vec<u32>,
    /// The next of the nodes that are eliminated together, and the last of those that began with this one.
    next_member: Vec<u32>,
    last_member: Vec<u32>,
    degree: Vec<u32>,
    queue: Queue,
    /// The node that waits for this one.
    successor: Vec<Option<u32>>,
    is_waiting: Vec<bool>,
    /// Element that absorbed an element: its parent in the assembly tree.
    parent: Vec<u32>,
}

/// Order in which to eliminate the nodes so that few entries fill in, subtrees one after the other.
///
/// `neighbours`: symmetric, without loops or duplicates; `weights`: number of unknowns of each node, at least one; `after`: a
/// neighbour that must go first, of lower number.
pub(super) fn minimum_degree(mut neighbours: Lists, weights: &[u32], after: &[Option<u32>]) -> Vec<u32> {
    let count = neighbours.count();
    // nodes with very many neighbours would be visited at each elimination; they come last anyway
    let dense = 16.0f64.max(10.0 * (count as f64).sqrt()) as u32;
    let is_dense: Vec<bool> = neighbours.lengths().iter().map(|length| *length > dense).collect();
    if is_dense.contains(&true) {
        (0..count).for_each(|i| neighbours.retain(i, |j| !is_dense[j as usize]));
    }
    let live = |i: usize| !is_dense[i];
    let mut graph = QuotientGraph {
        degree: (0..count).map(|i| neighbours.list(i).iter().map(|&j| weights[j as usize]).sum()).collect(),
        elements: Lists::with_room(neighbours.lengths()),
        neighbours,
        boundary: vec![Vec::new(); count],
        boundary_weight: vec![0; count],
        is_absorbed: vec![false; count],
        weight: (0..count).map(|i| if live(i) { weights[i] } else { 0 }).collect(),
        next_member: vec![NONE; count],
        last_member: (0..count as u32).collect(),
        queue: Queue::new(count),
        successor: vec![None; count],
        is_waiting: after.iter().map(Option::is_some).collect(),
        parent: vec![NONE; count],
    };
    for (i, first) in after.iter().enumerate() {
        if let Some(first) = first {
            graph.successor[*first as usize] = Some(i as u32);
        }
    }
    (0..count).filter(|&i| live(i)).for_each(|i| graph.enqueue(i));
    let mut pivots = Vec::with_capacity(count);
    let mut scratch = EliminationScratch::new(count);
    while let Some(pivot) = graph.queue.pop() {
        graph.eliminate(pivot as usize, &mut scratch);
        pivots.push(pivot);
    }
    let mut order = Vec::with_capacity(count);
    for pivot in Forest::new(&pivots, &graph.parent).order() {
        order.extend(graph.members(pivot));
    }
    // dense nodes, and those that wait for one
    let mut is_ordered = vec![false; count];
    order.iter().for_each(|&i| is_ordered[i as usize] = true);
    order.extend((0..count as u32).filter(|&i| !is_ordered[i as usize]));
    order
}

/// Scratch of one elimination; a mark is set if it equals the round.
struct EliminationScratch {
    round: u32,
    node_mark: Vec<u32>,
    element_mark: Vec<u32>,
    /// Weight of an element's boundary outside the boundary of the pivot.
    outside: Vec<u32>,
    boundary: Vec<u32>,
    /// (hash, node) of what is left on it.
    keys: Vec<(u32, u32)>,
}

impl EliminationScratch {
    fn new(count: usize) -> Self {
        EliminationScratch {
            round: 0,
            node_mark: vec![0; count],
            element_mark: vec![0; count],
            outside: vec![0; count],
            boundary: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Puts nodes on the boundary that are not there yet.
    fn reach(&mut self, nodes: &[u32], weight: &[u32]) {
        for &i in nodes {
            if weight[i as usize] > 0 && self.node_mark[i as usize] != self.round {
                self.node_mark[i as usize] = self.round;
                self.boundary.push(i);
            }
        }
    }
}

impl QuotientGraph {
    fn enqueue(&mut self, i: usize) {
        if !self.is_waiting[i] {
            self.queue.insert(i as u32, self.degree[i]);
        }
    }

    /// A node, and those that are eliminated together with it.
    fn members(&self, i: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(i), |&i| Some(self.next_member[i as usize]).filter(|&next| next != NONE))
    }

    /// Merges node j into i.
    fn merge(&mut self, i: usize, j: usize) {
        self.next_member[self.last_member[i] as usize] = j as u32;
        self.last_member[i] = self.last_member[j];
        self.weight[j] = 0;
        self.neighbours.clear(j);
        self.elements.clear(j);
    }

    fn release_successors(&mut self, pivot: usize) {
        let mut member = pivot as u32;
        while member != NONE {
            if let Some(successor) = self.successor[member as usize] {
                self.is_waiting[successor as usize] = false;
            }
            member = self.next_member[member as usize];
        }
    }

    fn absorb(&mut self, element: usize, pivot: usize) {
        self.is_absorbed[element] = true;
        self.parent[element] = pivot as u32;
        self.boundary[element] = Vec::new();
    }

    fn eliminate(&mut self, pivot: usize, scratch: &mut EliminationScratch) {
        scratch.round += 1;
        scratch.node_mark[pivot] = scratch.round;
        scratch.boundary.clear();
        scratch.reach(self.neighbours.list(pivot), &self.weight);
        for k in 0..self.elements.list(pivot).len() {
            let element = self.elements.list(pivot)[k] as usize;
            scratch.reach(&self.boundary[element], &self.weight);
            self.absorb(element, pivot);
        }
        self.neighbours.clear(pivot);
        self.elements.clear(pivot);
        self.weight[pivot] = 0;
        self.release_successors(pivot);
        scratch.boundary.iter().for_each(|&i| self.queue.remove(i, self.degree[i as usize]));
        self.measure_elements(scratch);
        self.update_neighbourhoods(pivot, scratch);
        self.release_successors(pivot);
        self.merge_indistinguishable(scratch);
        let boundary: Vec<u32> = scratch.boundary.iter().copied().filter(|&i| self.weight[i as usize] > 0).collect();
        let total: u32 = boundary.iter().map(|&i| self.weight[i as usize]).sum();
        for &i in &boundary {
            let i = i as usize;
            // `degree` holds the part outside the boundary so far
            self.degree[i] += total - self.weight[i];
            self.enqueue(i);
        }
        self.boundary_weight[pivot] = total;
        self.boundary[pivot] = boundary;
    }

    /// Weight of the own boundary, outside of this one, of each element that touches it.
    fn measure_elements(&self, scratch: &mut EliminationScratch) {
        for &i in &scratch.boundary {
            for &element in self.elements.list(i as usize) {
                let element = element as usize;
                if scratch.element_mark[element] != scratch.round {
                    scratch.element_mark[element] = scratch.round;
                    scratch.outside[element] = self.boundary_weight[element];
                }
                scratch.outside[element] -= self.weight[i as usize];
            }
        }
    }

    /// Removes what the new element covers, and nodes that nothing else touches; the others get their keys.
    fn update_neighbourhoods(&mut self, pivot: usize, scratch: &mut EliminationScratch) {
        scratch.keys.clear();
        for &node in &scratch.boundary {
            let i = node as usize;
            let (mut outside, mut hash) = (0u32, 0u32);
            for k in 0..self.elements.list(i).len() {
                let e = self.elements.list(i)[k] as usize;
                if !self.is_absorbed[e] && scratch.outside[e] == 0 {
                    self.absorb(e, pivot);
                }
            }
            let is_absorbed = &self.is_absorbed;
            self.elements.retain(i, |element| {
                let keep = !is_absorbed[element as usize];
                if keep {
                    outside += scratch.outside[element as usize];
                    hash = hash.wrapping_add(element);
                }
                keep
            });
            let weight = &self.weight;
            self.neighbours.retain(i, |j| {
                let keep = scratch.node_mark[j as usize] != scratch.round && weight[j as usize] > 0;
                if keep {
                    outside += weight[j as usize];
                    hash = hash.wrapping_add(j);
                }
                keep
            });
            if outside == 0 && !self.is_waiting[i] {
                self.merge(pivot, i);
                continue;
            }
            self.elements.push(i, pivot as u32);
            self.degree[i] = self.degree[i].min(outside);
            scratch.keys.push((hash, node));
        }
    }

    /// Merges nodes with the same neighbours and elements: they stay alike until they are eliminated.
    fn merge_indistinguishable(&mut self, scratch: &mut EliminationScratch) {
        let mut keys = std::mem::take(&mut scratch.keys);
        keys.sort_unstable();
        for group in keys.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            for (place, &(_, i)) in group.iter().enumerate() {
                let i = i as usize;
                if self.weight[i] == 0 || self.is_waiting[i] {
                    continue;
                }
                scratch.round += 1;
                self.neighbours.list(i).iter().for_each(|&j| scratch.node_mark[j as usize] = scratch.round);
                self.elements.list(i).iter().for_each(|&e| scratch.element_mark[e as usize] = scratch.round);
                for &(_, j) in &group[place + 1..] {
                    let j = j as usize;
                    let alike = self.weight[j] > 0
                        && !self.is_waiting[j]
                        && self.neighbours.list(j).len() == self.neighbours.list(i).len()
                        && self.elements.list(j).len() == self.elements.list(i).len()
                        && self.neighbours.list(j).iter().all(|&k| scratch.node_mark[k as usize] == scratch.round)
                        && self.elements.list(j).iter().all(|&e| scratch.element_mark[e as usize] == scratch.round);
                    if alike {
                        self.weight[i] += self.weight[j];
                        self.merge(i, j);
                    }
                }
            }
        }
        scratch.keys = keys;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn lists(neighbours: &[Vec<u32>]) -> Lists {
        let room: Vec<u32> = neighbours.iter().map(|n| n.len() as u32).collect();
        let mut lists = Lists::with_room(&room);
        for (i, own) in neighbours.iter().enumerate() {
            own.iter().for_each(|&j| lists.push(i, j));
        }
        lists
    }

    fn graph(count: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); count];
        for (i, j) in edges {
            neighbours[i].push(j as u32);
            neighbours[j].push(i as u32);
        }
        neighbours
    }

    /// Entries of the factor below the diagonal, by plain elimination on sets.
    fn fill(neighbours: &[Vec<u32>], order: &[u32]) -> usize {
        let mut sets: Vec<BTreeSet<u32>> = neighbours.iter().map(|n| n.iter().copied().collect()).collect();
        let mut entries = 0;
        for &pivot in order {
            let set = std::mem::take(&mut sets[pivot as usize]);
            entries += set.len();
            for &i in &set {
                sets[i as usize].remove(&pivot);
                sets[i as usize].extend(set.iter().filter(|&&j| j != i));
            }
        }
        entries
    }

    fn checked_fill(neighbours: Vec<Vec<u32>>) -> usize {
        let count = neighbours.len();
        let order = minimum_degree(lists(&neighbours), &vec![1; count], &vec![None; count]);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &j)| i == j as usize), "not a permutation");
        fill(&neighbours, &order)
    }

    /// Protects linear time: trees (a star and its dense centre too) must not fill at all; a ring fills by count - 3.
    #[test]
    fn trees_and_rings_fill_as_little_as_possible() {
        let count = 500;
        assert_eq!(checked_fill(graph(count, (1..count).map(|i| (i - 1, i)))), count - 1);
        assert_eq!(checked_fill(graph(count, (1..count).map(|i| ((i - 1) / 3, i)))), count - 1);
        assert_eq!(checked_fill(graph(count, (1..count).map(|i| (0, i)))), count - 1);
        assert_eq!(checked_fill(graph(count, (0..count).map(|i| (i, (i + 1) % count)))), 2 * count - 3);
        assert_eq!(checked_fill(graph(30, (0..30).flat_map(|i| (0..i).map(move |j| (i, j))))), 30 * 29 / 2);
    }

    /// Protects the quality on grids: 30 x 30 points in their natural order, a band, fill 26 000 entries; a good order makes
    /// a third of it.
    #[test]
    fn grids_fill_little() {
        let side = 30;
        let edges = (0..side * side).flat_map(|p| {
            let right = (p % side + 1 < side).then_some((p, p + 1));
            let below = (p + side < side * side).then_some((p, p + side));
            right.into_iter().chain(below)
        });
        let entries = checked_fill(graph(side * side, edges));
        assert!(entries < 9500, "{entries}");
    }

    /// Protects the pivots of multipliers, which are zero before: a node that waits for another comes after it, be the other
    /// merged with nodes like it, or dense; in each tree of random graphs.
    #[test]
    fn nodes_that_wait_come_later() {
        for case in 0..200u32 {
            let count = 40 + case as usize;
            let random = |k: usize, below: usize| {
                ((k as f64 * 12.9898 + f64::from(case)).sin().abs() * 43758.5453) as usize % below
            };
            let mut edges = BTreeSet::new();
            for k in 0..2 * count {
                let (i, j) = (random(2 * k, count), random(2 * k + 1, count));
                edges.extend((i != j).then(|| (i.min(j), i.max(j))));
            }
            // a node with many neighbours, and its successor
            edges.extend((1..count).filter(|_| case % 3 == 0).map(|i| (0, i)));
            let neighbours = graph(count, edges.iter().copied());
            let mut after = vec![None; count];
            let mut is_taken = vec![false; count];
            for &(i, j) in &edges {
                if !is_taken[i] && !is_taken[j] {
                    (is_taken[i], is_taken[j]) = (true, true);
                    after[j] = Some(i as u32);
                }
            }
            let order = minimum_degree(lists(&neighbours), &vec![1; count], &after);
            let mut position = vec![usize::MAX; count];
            order.iter().enumerate().for_each(|(k, &i)| position[i as usize] = k);
            assert!(order.len() == count && position.iter().all(|&k| k < count), "a permutation");
            let waits = |i: usize| after[i].is_none_or(|first| position[first as usize] < position[i]);
            assert!((0..count).all(waits), "case {case}");
        }
    }
}
