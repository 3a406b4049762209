//! Sparse LU factors for assemblies of bodies and for models in redundant coordinates, with the transposed solve that an adjoint needs.
//!
//! The matrix is K = [A B^T; B 0] with accelerations first and multipliers behind. The order of its pivots is found from the
//! structure and from values that come first, and kept as long as it serves; see [`SparseLu::factorise`]:
//!
//! 1. `pattern`: rows and columns are made comparable, whatever the units.
//! 2. `matching`: each multiplier gets an acceleration of its own, which must be eliminated before it or with it.
//! 3. `ordering`: the order that causes little fill, under this condition.
//! 4. `pivoting`: pivots in this order where they are large enough, else others.
//! 5. `layout`, `factors`, `triangle`: factors on these pivots, again and again, and both solves.

mod factors;
mod forest;
mod layout;
mod lists;
mod matching;
mod ordering;
mod pattern;
mod pivoting;
mod redundancy;
#[cfg(test)]
mod tests;
mod triangle;

use factors::Factors;
use matching::NONE;
use pattern::Pattern;
use pivoting::{Guide, Pivots};
use std::sync::Arc;

pub use redundancy::redundant_rows;

/// A pivot is at least this large beside the largest entry of its column that is left (rows comparably scaled).
const THRESHOLD: f64 = 0.1;
/// Threshold that is taken instead if it saves a fifth of the fill: it costs a digit at most, and in closed loops the stricter
/// one makes a third more fill and twice as many operations.
const LAX_THRESHOLD: f64 = 0.01;
/// An acceleration is eliminated by its own diagonal entry if that is at least so large (comparably scaled).
const SOLID: f64 = 0.1;

/// A sparse matrix K = [A B^T; B 0] and its factors `P K Q = L U`.
#[derive(Debug, Clone)]
pub struct SparseLu {
    /// Accelerations; the other unknowns are multipliers.
    accelerations: usize,
    pattern: Pattern,
    values: Vec<f64>,
    factors: Option<Factors>,
    /// A copy of them with these pivots, once it was asked for.
    kept: Option<Kept>,
    /// The last matching, and the elimination order that follows from it.
    order: Option<Order>,
    counts: Counts,
}

/// Pivots at some time, and none if there were none. Of the factors that come with them, the numbers mean nothing.
#[derive(Debug, Clone)]
pub struct Kept(Arc<Option<Factors>>);

/// Number of times that the costly work was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Fill-reducing orders.
    pub(crate) orders: usize,
    /// Choices of pivots.
    pub(crate) pivotings: usize,
}

/// The unknown of the other kind that an acceleration or a multiplier is matched with.
///
/// A multiplier's diagonal entry is zero until an acceleration that it acts on has been eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partner {
    None,
    /// The multiplier of an acceleration that is a good pivot itself (most are); it may follow at any time.
    Behind(u32),
    /// The acceleration of a multiplier, which must go first.
    Ahead(u32),
    /// The partner of an acceleration of little or no mass, or of its multiplier: both go at once.
    Beside(u32),
}

/// Depends on the structure of the matrix and on the matching alone.
#[derive(Debug, Clone)]
struct Order {
    partners: Vec<Partner>,
    columns: Vec<u32>,
}

impl SparseLu {
    /// Room for a matrix of `size` unknowns: `n` accelerations first, then multipliers. `entries`: (row, column) of every entry that can be
    /// non-zero, in any order; several at one place share a slot. Returns the slot in [`SparseLu::values_mut`] of each.
    ///
    /// # Panics
    /// If an entry lies outside of the matrix, or `n` exceeds `size`.
    pub fn new(size: usize, n: usize, entries: &[(u32, u32)]) -> (Self, Vec<u32>) {
        assert!(n <= size, "more accelerations than unknowns");
        let (pattern, slots) = Pattern::new(size, entries);
        let values = vec![0.0; pattern.count()];
        let counts = Counts::default();
        let lu = SparseLu { accelerations: n, pattern, values, factors: None, kept: None, order: None, counts };
        (lu, slots)
    }

    /// Values of the entries, to be filled before [`SparseLu::factorise`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    #[cfg(test)]
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Starts over with the order of pivots, so that results do not depend on matrices of earlier runs.
    pub fn forget_order(&mut self) {
        // `order` stays: it is computed from the matching alone, and not used with another
        self.factors = None;
        self.kept = None;
    }

    /// The pivots at hand.
    pub fn kept(&mut self) -> Kept {
        let factors = &self.factors;
        self.kept.get_or_insert_with(|| Kept(Arc::new(factors.clone()))).clone()
    }

    /// Goes back to pivots of this matrix.
    pub fn take_kept(&mut self, kept: &Kept) {
        if self.kept.as_ref().is_none_or(|own| !Arc::ptr_eq(&own.0, &kept.0)) {
            self.factors.clone_from(&kept.0);
            self.kept = Some(kept.clone());
        }
    }

    #[cfg(test)]
    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Factors of the current values, on the pivots of the last time while they serve (this allocates nothing), else on
    /// fresh ones. False if the matrix is singular to working precision or not finite; there are no factors then.
    pub fn factorise(&mut self) -> bool {
        if let Some(factors) = &mut self.factors
            && factors.refactorise(&self.values)
        {
            return true;
        }
        self.factors = self.fresh_factors();
        self.kept = None;
        self.factors.is_some()
    }

    /// Solves K x = b in place: b becomes K^-1 b; NaN if there are no factors.
    pub fn solve(&mut self, b: &mut [f64]) {
        match &mut self.factors {
            Some(factors) => factors.solve(b),
            None => b.fill(f64::NAN),
        }
    }

    /// Solves Kᵀ x = b in place: b becomes K^-T b; NaN if there are no factors.
    pub fn solve_transposed(&mut self, b: &mut [f64]) {
        match &mut self.factors {
            Some(factors) => factors.solve_transposed(b),
            None => b.fill(f64::NAN),
        }
    }

    /// Entries of L and U together, 0 if there are no factors.
    #[cfg(test)]
    pub(crate) fn fill(&self) -> usize {
        self.factors.as_ref().map_or(0, Factors::fill)
    }

    fn fresh_factors(&mut self) -> Option<Factors> {
        self.counts.pivotings += 1;
        if !self.values.iter().all(|value| value.is_finite()) {
            return None;
        }
        let scale = self.pattern.equilibrate(&self.values);
        let partners = self.match_unknowns(&scale);
        if self.order.as_ref().is_none_or(|order| order.partners != partners) {
            self.counts.orders += 1;
            self.order = Some(self.order_unknowns(partners));
        }
        let pivots = self.choose_pivots(&scale)?;
        Factors::new(&self.pattern, &self.values, pivots, &scale)
    }

    fn match_unknowns(&self, scale: &[f64]) -> Vec<Partner> {
        let n = self.accelerations;
        let mut constraint_jacobian = Vec::new();
        let mut crowding = vec![0; n];
        let mut diagonal = vec![0.0f64; n];
        for (i, j, slot) in self.pattern.entries().filter(|&(_, j, _)| j < n) {
            let size = (scale[i] * self.values[slot] * scale[j]).abs();
            crowding[j] += 1;
            if i >= n {
                constraint_jacobian.push(((i - n) as u32, j as u32, size));
            } else if i == j {
                diagonal[j] = size;
            }
        }
        let is_solid: Vec<bool> = diagonal.iter().map(|&size| size >= SOLID).collect();
        let multipliers = self.pattern.size - n;
        let (of_row, of_column) =
            matching::match_multipliers(multipliers, n, &constraint_jacobian, &is_solid, &crowding);
        let acceleration = |j: usize, row: u32| match row {
            NONE => Partner::None,
            row if is_solid[j] => Partner::Behind(row + n as u32),
            row => Partner::Beside(row + n as u32),
        };
        let multiplier = |column: u32| match column {
            NONE => Partner::None,
            column if is_solid[column as usize] => Partner::Ahead(column),
            column => Partner::Beside(column),
        };
        let accelerations = of_column.into_iter().enumerate().map(|(j, row)| acceleration(j, row));
        accelerations.chain(of_row.into_iter().map(multiplier)).collect()
    }

    /// Orders the graph in which a multiplier and the acceleration beside it are one node.
    fn order_unknowns(&self, partners: Vec<Partner>) -> Order {
        let mut group = vec![0; partners.len()];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut after = Vec::new();
        // accelerations come first, so that the partner of a multiplier has its group already
        for (i, partner) in partners.iter().enumerate() {
            match *partner {
                Partner::Beside(other) if (other as usize) < i => {
                    group[i] = group[other as usize];
                    groups[group[i] as usize].push(i as u32);
                }
                _ => {
                    group[i] = groups.len() as u32;
                    groups.push(vec![i as u32]);
                    after.push(if let Partner::Ahead(other) = *partner { Some(group[other as usize]) } else { None });
                }
            }
        }
        let weights: Vec<u32> = groups.iter().map(|members| members.len() as u32).collect();
        let graph = self.pattern.compressed(&group, groups.len());
        let order = ordering::minimum_degree(graph, &weights, &after);
        let columns = order.iter().flat_map(|&node| groups[node as usize].iter().copied()).collect();
        Order { partners, columns }
    }

    fn choose_pivots(&self, scale: &[f64]) -> Option<Pivots> {
        let Order { partners, columns } = self.order.as_ref()?;
        let preferred = |i: u32, partner: &Partner| match *partner {
            Partner::None => [i, i],
            Partner::Ahead(other) | Partner::Behind(other) => [i, other],
            // the large off-diagonal entries of the pair first
            Partner::Beside(other) => [other, i],
        };
        let preferred: Vec<[u32; 2]> = (0..).zip(partners).map(|(i, partner)| preferred(i, partner)).collect();
        let choose = |threshold: f64| {
            let guide = Guide { columns, preferred: &preferred, scale, threshold };
            pivoting::choose(&self.pattern, &self.values, &guide)
        };
        let pivots = choose(THRESHOLD)?;
        if pivots.strayed > 0
            && let Some(lax) = choose(LAX_THRESHOLD)
            && 5 * lax.fill() < 4 * pivots.fill()
        {
            return Some(lax);
        }
        Some(pivots)
    }
}
