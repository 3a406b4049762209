//! Approximate minimum degree order of an undirected graph.
//!
//! Amestoy, Davis, Duff: An approximate minimum degree ordering algorithm, SIAM J. Matrix Anal. Appl. 17 (1996) 886-905:
//! quotient graph, approximate external degrees, aggressive absorption, mass elimination, indistinguishable nodes merged.

use std::collections::BTreeSet;

/// The graph during elimination: an eliminated node has become an element, the clique of its boundary.
struct QuotientGraph {
    /// Live neighbours that no common element covers yet.
    neighbours: Vec<Vec<u32>>,
    /// Live elements on whose boundary a node lies.
    elements: Vec<Vec<u32>>,
    /// Nodes on an element's boundary; empty if it is no element, or absorbed.
    boundary: Vec<Vec<u32>>,
    /// Summed weights of the boundary.
    boundary_weight: Vec<u32>,
    is_absorbed: Vec<bool>,
    /// Unknowns that a node stands for; 0 once it is eliminated or merged into another.
    weight: Vec<u32>,
    /// Nodes that are eliminated together with this one.
    members: Vec<Vec<u32>>,
    degree: Vec<u32>,
    /// Nodes by degree; among equal ones the one that waits longest is next, which works on a chain from both ends.
    queue: BTreeSet<(u32, u32, u32)>,
    arrival: Vec<u32>,
    arrivals: u32,
    /// The node that waits for this one.
    successor: Vec<Option<u32>>,
    is_waiting: Vec<bool>,
    /// Element that absorbed an element: its parent in the assembly tree.
    parent: Vec<Option<u32>>,
}

/// Order in which to eliminate the nodes so that few entries fill in, subtrees one after the other.
///
/// `neighbours`: symmetric, without loops or duplicates; `weights`: number of unknowns of each node, at least one; `after`: a
/// neighbour that must go first, of lower number.
pub(super) fn minimum_degree(mut neighbours: Vec<Vec<u32>>, weights: &[u32], after: &[Option<u32>]) -> Vec<u32> {
    let count = neighbours.len();
    // nodes with very many neighbours would be visited at each elimination; they come last anyway
    let dense = 16.0f64.max(10.0 * (count as f64).sqrt()) as usize;
    let is_dense: Vec<bool> = neighbours.iter().map(|n| n.len() > dense).collect();
    neighbours.iter_mut().for_each(|n| n.retain(|&j| !is_dense[j as usize]));
    let live = |i: usize| !is_dense[i];
    let mut graph = QuotientGraph {
        degree: neighbours.iter().map(|n| n.iter().map(|&j| weights[j as usize]).sum()).collect(),
        neighbours,
        elements: vec![Vec::new(); count],
        boundary: vec![Vec::new(); count],
        boundary_weight: vec![0; count],
        is_absorbed: vec![false; count],
        weight: (0..count).map(|i| if live(i) { weights[i] } else { 0 }).collect(),
        members: (0..count).map(|i| vec![i as u32]).collect(),
        queue: BTreeSet::new(),
        arrival: vec![0; count],
        arrivals: 0,
        successor: vec![None; count],
        is_waiting: after.iter().map(Option::is_some).collect(),
        parent: vec![None; count],
    };
    for (i, first) in after.iter().enumerate() {
        if let Some(first) = first {
            graph.successor[*first as usize] = Some(i as u32);
        }
    }
    (0..count).filter(|&i| live(i)).for_each(|i| graph.enqueue(i));
    let mut pivots = Vec::with_capacity(count);
    let mut scratch = EliminationScratch::new(count);
    while let Some((_, _, pivot)) = graph.queue.pop_first() {
        graph.eliminate(pivot as usize, &mut scratch);
        pivots.push(pivot);
    }
    let mut order = Vec::with_capacity(count);
    for pivot in Forest::new(&pivots, &graph.parent).order() {
        order.append(&mut graph.members[pivot as usize]);
    }
    // dense nodes, and those that wait for one
    let mut is_ordered = vec![false; count];
    order.iter().for_each(|&i| is_ordered[i as usize] = true);
    order.extend((0..count as u32).filter(|&i| !is_ordered[i as usize]));
    order
}

/// The tree of eliminations: a node changes only its ancestors.
struct Forest {
    roots: Vec<u32>,
    children: Vec<Vec<u32>>,
    /// Nodes of each subtree.
    size: Vec<u32>,
}

/// Subtrees that are eliminated side by side.
const BRANCHES: u32 = 4;

impl Forest {
    /// `nodes`: children before their parents.
    fn new(nodes: &[u32], parent: &[Option<u32>]) -> Self {
        let mut forest =
            Forest { roots: Vec::new(), children: vec![Vec::new(); parent.len()], size: vec![1; parent.len()] };
        for &node in nodes {
            match parent[node as usize] {
                Some(parent) => {
                    forest.size[parent as usize] += forest.size[node as usize];
                    forest.children[parent as usize].push(node);
                }
                None => forest.roots.push(node),
            }
        }
        forest
    }

    /// Children before their parents. Large branches take turns, node by node: a processor works on one while it waits for
    /// a pivot of the other.
    fn order(mut self) -> Vec<u32> {
        let branches = self.cut_branches();
        let mut streams: Vec<_> = branches.into_iter().map(|root| self.postorder(root).into_iter()).collect();
        let mut order = Vec::new();
        while !streams.is_empty() {
            streams.retain_mut(|stream| stream.next().map(|node| order.push(node)).is_some());
        }
        for root in std::mem::take(&mut self.roots) {
            order.append(&mut self.postorder(root));
        }
        order
    }

    /// Takes a few subtrees of similar size out of the forest.
    fn cut_branches(&mut self) -> Vec<u32> {
        let mut branches = Vec::new();
        let total: u32 = self.roots.iter().map(|&root| self.size[root as usize]).sum();
        let limit = total / BRANCHES;
        let is_large = |root: &u32| self.size[*root as usize] > limit / 2;
        let mut front: Vec<u32> = self.roots.iter().copied().filter(is_large).collect();
        // down from the roots, as long as a node splits into several large branches or is too large itself
        while let Some(node) = front.pop() {
            let below: Vec<u32> = self.children[node as usize].iter().copied().filter(is_large).collect();
            if below.len() > 1 || (below.len() == 1 && self.size[node as usize] > 2 * limit) {
                front.extend(below);
            } else {
                branches.push(node);
            }
        }
        let is_cut: BTreeSet<u32> = branches.iter().copied().collect();
        self.roots.retain(|root| !is_cut.contains(root));
        self.children.iter_mut().for_each(|children| children.retain(|child| !is_cut.contains(child)));
        branches
    }

    /// One subtree in one piece, its largest part first: leaves come right before their parents.
    fn postorder(&mut self, root: u32) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.size[root as usize] as usize);
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            // a parent is met a second time when its children are through
            let mut below = std::mem::take(&mut self.children[node as usize]);
            if below.is_empty() {
                order.push(node);
            } else {
                // the last one on the stack comes off first
                below.sort_by_key(|&child| self.size[child as usize]);
                stack.push(node);
                stack.extend(below);
            }
        }
        order
    }
}

/// Scratch of one elimination; a mark is set if it equals the round.
struct EliminationScratch {
    round: u32,
    node_mark: Vec<u32>,
    element_mark: Vec<u32>,
    /// Weight of an element's boundary outside the boundary of the pivot.
    outside: Vec<u32>,
}

impl EliminationScratch {
    fn new(count: usize) -> Self {
        EliminationScratch {
            round: 0,
            node_mark: vec![0; count],
            element_mark: vec![0; count],
            outside: vec![0; count],
        }
    }
}

impl QuotientGraph {
    fn enqueue(&mut self, i: usize) {
        if self.is_waiting[i] {
            return;
        }
        self.arrivals += 1;
        self.arrival[i] = self.arrivals;
        self.queue.insert((self.degree[i], self.arrivals, i as u32));
    }

    fn dequeue(&mut self, i: usize) {
        self.queue.remove(&(self.degree[i], self.arrival[i], i as u32));
    }

    /// Merges node j into i.
    fn merge(&mut self, i: usize, j: usize) {
        let mut members = std::mem::take(&mut self.members[j]);
        self.members[i].append(&mut members);
        self.weight[j] = 0;
        self.neighbours[j] = Vec::new();
        self.elements[j] = Vec::new();
    }

    fn release_successors(&mut self, pivot: usize) {
        for &i in &self.members[pivot] {
            if let Some(successor) = self.successor[i as usize] {
                self.is_waiting[successor as usize] = false;
            }
        }
    }

    fn absorb(&mut self, element: usize, pivot: usize) {
        self.is_absorbed[element] = true;
        self.parent[element] = Some(pivot as u32);
        self.boundary[element] = Vec::new();
    }

    fn eliminate(&mut self, pivot: usize, scratch: &mut EliminationScratch) {
        scratch.round += 1;
        let round = scratch.round;
        scratch.node_mark[pivot] = round;
        let mut boundary = Vec::new();
        let mut reach = |nodes: &[u32], weight: &[u32]| {
            for &i in nodes {
                if weight[i as usize] > 0 && scratch.node_mark[i as usize] != round {
                    scratch.node_mark[i as usize] = round;
                    boundary.push(i);
                }
            }
        };
        reach(&std::mem::take(&mut self.neighbours[pivot]), &self.weight);
        for element in std::mem::take(&mut self.elements[pivot]) {
            reach(&self.boundary[element as usize], &self.weight);
            self.absorb(element as usize, pivot);
        }
        self.weight[pivot] = 0;
        self.release_successors(pivot);
        boundary.iter().for_each(|&i| self.dequeue(i as usize));
        self.measure_elements(&boundary, scratch);
        let keys = self.update_neighbourhoods(pivot, &boundary, scratch);
        boundary.retain(|&i| self.weight[i as usize] > 0);
        self.release_successors(pivot);
        self.merge_indistinguishable(keys, scratch);
        boundary.retain(|&i| self.weight[i as usize] > 0);
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
    fn measure_elements(&self, boundary: &[u32], scratch: &mut EliminationScratch) {
        for &i in boundary {
            for &element in &self.elements[i as usize] {
                let element = element as usize;
                if scratch.element_mark[element] != scratch.round {
                    scratch.element_mark[element] = scratch.round;
                    scratch.outside[element] = self.boundary_weight[element];
                }
                scratch.outside[element] -= self.weight[i as usize];
            }
        }
    }

    /// Removes what the new element covers, and nodes that nothing else touches; returns (hash, node) of the others.
    fn update_neighbourhoods(
        &mut self,
        pivot: usize,
        boundary: &[u32],
        scratch: &EliminationScratch,
    ) -> Vec<(u32, u32)> {
        let mut keys = Vec::with_capacity(boundary.len());
        for &node in boundary {
            let i = node as usize;
            let (mut outside, mut hash) = (0u32, 0u32);
            let mut elements = std::mem::take(&mut self.elements[i]);
            elements.retain(|&element| {
                let e = element as usize;
                if !self.is_absorbed[e] && scratch.outside[e] == 0 {
                    self.absorb(e, pivot);
                }
                let keep = !self.is_absorbed[e];
                if keep {
                    outside += scratch.outside[e];
                    hash = hash.wrapping_add(element);
                }
                keep
            });
            let weight = &self.weight;
            self.neighbours[i].retain(|&j| {
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
            elements.push(pivot as u32);
            self.elements[i] = elements;
            self.degree[i] = self.degree[i].min(outside);
            keys.push((hash, node));
        }
        keys
    }

    /// Merges nodes with the same neighbours and elements: they stay alike until they are eliminated.
    fn merge_indistinguishable(&mut self, mut keys: Vec<(u32, u32)>, scratch: &mut EliminationScratch) {
        keys.sort_unstable();
        for group in keys.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            for (place, &(_, i)) in group.iter().enumerate() {
                let i = i as usize;
                if self.weight[i] == 0 || self.is_waiting[i] {
                    continue;
                }
                scratch.round += 1;
                self.neighbours[i].iter().for_each(|&j| scratch.node_mark[j as usize] = scratch.round);
                self.elements[i].iter().for_each(|&e| scratch.element_mark[e as usize] = scratch.round);
                for &(_, j) in &group[place + 1..] {
                    let j = j as usize;
                    let alike = self.weight[j] > 0
                        && !self.is_waiting[j]
                        && self.neighbours[j].len() == self.neighbours[i].len()
                        && self.elements[j].len() == self.elements[i].len()
                        && self.neighbours[j].iter().all(|&k| scratch.node_mark[k as usize] == scratch.round)
                        && self.elements[j].iter().all(|&e| scratch.element_mark[e as usize] == scratch.round);
                    if alike {
                        self.weight[i] += self.weight[j];
                        self.merge(i, j);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let order = minimum_degree(neighbours.clone(), &vec![1; count], &vec![None; count]);
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
            let order = minimum_degree(neighbours, &vec![1; count], &after);
            let mut position = vec![usize::MAX; count];
            order.iter().enumerate().for_each(|(k, &i)| position[i as usize] = k);
            assert!(order.len() == count && position.iter().all(|&k| k < count), "a permutation");
            let waits = |i: usize| after[i].is_none_or(|first| position[first as usize] < position[i]);
            assert!((0..count).all(waits), "case {case}");
        }
    }
}
