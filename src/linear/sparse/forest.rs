//! Subtrees of eliminations, one after the other or side by side.

use super::lists::{Lists, NONE};

/// The tree of eliminations: a node changes only its ancestors.
pub(super) struct Forest {
    roots: Vec<u32>,
    children: Lists,
    /// Nodes of each subtree.
    size: Vec<u32>,
    /// Nodes that are no children any more.
    is_cut: Vec<bool>,
}

/// Subtrees that are eliminated side by side.
const BRANCHES: u32 = 4;

impl Forest {
    /// `nodes`: children before their parents.
    pub fn new(nodes: &[u32], parent: &[u32]) -> Self {
        let count = parent.len();
        let mut room = vec![0; count];
        let parents = nodes.iter().map(|&node| parent[node as usize]);
        parents.filter(|&parent| parent != NONE).for_each(|parent| room[parent as usize] += 1);
        let children = Lists::with_room(&room);
        let mut forest = Forest { roots: Vec::new(), children, size: vec![1; count], is_cut: vec![false; count] };
        for &node in nodes {
            match parent[node as usize] {
                NONE => forest.roots.push(node),
                parent => {
                    forest.size[parent as usize] += forest.size[node as usize];
                    forest.children.push(parent as usize, node);
                }
            }
        }
        forest
    }

    /// Children before their parents. Large branches take turns, node by node: a processor works on one while it waits for
    /// a pivot of the other.
    pub fn order(mut self) -> Vec<u32> {
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
            let below: Vec<u32> = self.children.list(node as usize).iter().copied().filter(is_large).collect();
            if below.len() > 1 || (below.len() == 1 && self.size[node as usize] > 2 * limit) {
                front.extend(below);
            } else {
                branches.push(node);
            }
        }
        branches.iter().for_each(|&node| self.is_cut[node as usize] = true);
        self.roots.retain(|&root| !self.is_cut[root as usize]);
        branches
    }

    /// One subtree in one piece, its largest part first: leaves come right before their parents.
    fn postorder(&mut self, root: u32) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.size[root as usize] as usize);
        let (mut stack, mut below) = (vec![root], Vec::new());
        while let Some(node) = stack.pop() {
            // a parent is met a second time when its children are through
            below.clear();
            let children = self.children.list(node as usize).iter().copied();
            below.extend(children.filter(|&child| !self.is_cut[child as usize]));
            self.children.clear(node as usize);
            if below.is_empty() {
                order.push(node);
            } else {
                // the last one on the stack comes off first
                below.sort_by_key(|&child| self.size[child as usize]);
                stack.push(node);
                stack.extend(&below);
            }
        }
        order
    }
}
