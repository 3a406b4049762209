//! The matrix of Newton's iteration of a plain model, and its factors: dense ones where it is small or full, else sparse ones.

use super::dense_lu::{DenseLu, OWN_CODE};
use super::kernel::Sizes;
use super::plan;
use super::structure::Structure;
use crate::linear::sparse::SparseLu;
use crate::system::Orders;

/// K = [A C_qᵀ; C_q -c], row by row, and its factors.
///
/// Redundant coordinates have constraints of two bodies each: a slider-crank's K of fifteen unknowns has 48 entries of 225, and its
/// sparse factors take a third of the instructions of dense ones.
pub(super) struct NewtonMatrix {
    dense: DenseLu,
    sparse: Option<Sparse>,
}

/// Sparse factors, and the place in the whole matrix of each value that they take.
struct Sparse {
    lu: SparseLu,
    /// Ascending.
    places: Vec<u32>,
}

/// Sparse factors are taken where at most one entry of so many can be non-zero: their operations have indices to read.
const SPARSE: usize = 3;

impl NewtonMatrix {
    /// Room for the matrix of a model with this structure.
    pub fn new(structure: &Structure, sizes: Sizes) -> Self {
        let Sizes { n, m, .. } = sizes;
        let size = n + m;
        let mut matrix = NewtonMatrix { dense: DenseLu::new(size), sparse: None };
        if size > OWN_CODE {
            let entries = entries(structure, sizes);
            if SPARSE * entries.len() <= size * size {
                let places = entries.iter().map(|&(row, j)| row * size as u32 + j).collect();
                // each entry is listed once, so that slots are numbered as entries are
                let (lu, _) = SparseLu::new(size, n, &entries);
                matrix.sparse = Some(Sparse { lu, places });
            }
        }
        matrix
    }

    /// The matrix to be filled before [`NewtonMatrix::factorise`], row by row.
    #[inline(always)]
    pub fn values_mut(&mut self) -> &mut [f64] {
        self.dense.matrix_mut()
    }

    /// False if it is singular to working precision (or not finite).
    #[inline(always)]
    pub fn factorise(&mut self) -> bool {
        match &mut self.sparse {
            None => self.dense.factorise(),
            Some(sparse) => sparse.factorise(self.dense.matrix_mut()),
        }
    }

    /// Solves K x = b in place.
    #[inline(always)]
    pub fn solve(&mut self, b: &mut [f64]) {
        match &mut self.sparse {
            None => self.dense.solve(b),
            Some(sparse) => sparse.lu.solve(b),
        }
    }

    /// Solves K x = b in place for many right-hand sides of `size` entries, one behind the other.
    pub fn solve_all(&mut self, sides: &mut [f64], size: usize) {
        match &mut self.sparse {
            None => self.dense.solve_all(sides),
            Some(sparse) => sides.chunks_exact_mut(size).for_each(|b| sparse.lu.solve(b)),
        }
    }

    /// Solves Kᵀ x = b in place.
    #[inline(always)]
    pub fn solve_transposed(&mut self, b: &mut [f64]) {
        match &mut self.sparse {
            None => self.dense.solve_transposed(b),
            Some(sparse) => sparse.lu.solve_transposed(b),
        }
    }

    /// Starts over with the order of pivots, so that results do not depend on matrices of earlier runs.
    pub fn forget_order(&mut self) {
        match &mut self.sparse {
            None => self.dense.forget_order(),
            Some(sparse) => sparse.lu.forget_order(),
        }
    }

    /// The order of pivots at hand.
    pub fn orders(&mut self) -> Orders {
        match &mut self.sparse {
            None => Orders::new(self.dense.order.clone()),
            Some(sparse) => Orders::new(sparse.lu.kept()),
        }
    }

    /// Goes back to an order that it had.
    pub fn take_orders(&mut self, orders: &Orders) {
        match &mut self.sparse {
            None => {
                if let Some(order) = orders.get::<Vec<usize>>() {
                    self.dense.order.clone_from(order);
                }
            }
            Some(sparse) => {
                if let Some(kept) = orders.get() {
                    sparse.lu.take_kept(kept);
                }
            }
        }
    }
}

impl Sparse {
    fn factorise(&mut self, matrix: &[f64]) -> bool {
        debug_assert!(self.holds_all_of(matrix), "an entry outside of the pattern");
        for (value, &place) in self.lu.values_mut().iter_mut().zip(&self.places) {
            *value = matrix[place as usize];
        }
        self.lu.factorise()
    }

    /// True if all entries outside of the pattern vanish (or none is a number).
    fn holds_all_of(&self, matrix: &[f64]) -> bool {
        // in order, and no memory is taken
        let mut places = self.places.iter().peekable();
        (0..).zip(matrix).all(|(place, entry)| {
            places.next_if(|inside| **inside == place).is_some() || *entry == 0.0 || entry.is_nan()
        })
    }
}

/// Rows and columns of all entries that can be non-zero, in order, each once.
fn entries(structure: &Structure, Sizes { n, m, .. }: Sizes) -> Vec<(u32, u32)> {
    let mut entries = structure.mass.clone();
    entries.extend(plan::newton_entries(structure, n));
    for row in structure.constraint.chunk_by(|one, other| one.0 == other.0) {
        // C curves along two coordinates of one row at most
        let curved = || row.iter().map(|entry| entry.1).filter(|j| structure.curved_coordinates.contains(j));
        entries.extend(curved().flat_map(|j| curved().map(move |k| (j, k))));
    }
    entries.extend(structure.constraint.iter().flat_map(|&(row, j)| [(n + row, j), (j, n + row)]));
    entries.extend((n..n + m).map(|row| (row, row)));
    entries.sort_unstable();
    entries.dedup();
    entries.into_iter().map(|(row, j)| (row as u32, j as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;
    use crate::{Matrix, Model, Signature};

    /// Points in a plane, each at a fixed distance from the one before.
    struct Chain {
        points: usize,
    }

    impl Model for Chain {
        fn signature(&self) -> Signature {
            (0..self.points).fold(Signature::new("chain"), |signature, i| {
                let [x, y, rod] = ["x", "y", "rod"].map(|kind| format!("{kind}{i}"));
                signature.coordinates([(&x, "m"), (&y, "m")]).constraints([(&rod, "m^2")])
            })
        }

        fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
            (0..self.points).for_each(|i| q[2 * i] = D::from(i as f64 + 1.0));
        }

        fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
            (0..2 * self.points).for_each(|j| m[(j, j)] = D::from(1.0 + (j / 2) as f64));
        }

        fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], _u: &[D], force: &mut [D]) {
            force.iter_mut().zip(v).for_each(|(force, v)| *force = -*v * 0.3);
        }

        fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
            for (i, c) in c.iter_mut().enumerate() {
                let along = |k: usize| if i == 0 { q[k] } else { q[2 * i + k] - q[2 * i + k - 2] };
                *c = along(0) * along(0) + along(1) * along(1) - D::from(1.0);
            }
        }
    }

    fn of_chain(points: usize) -> (NewtonMatrix, Vec<(u32, u32)>) {
        let chain = Chain { points };
        let signature = chain.signature();
        let structure = Structure::find(&chain, &signature);
        let sizes = Sizes::of(&signature);
        (NewtonMatrix::new(&structure, sizes), entries(&structure, sizes))
    }

    /// Protects what sparse factors are taken for: small matrices and full ones have dense ones. Where the sparse ones are taken they
    /// solve the same, with fresh pivots, with kept ones, and with those of an earlier time.
    #[test]
    fn sparse_factors_are_those_of_the_whole_matrix() {
        assert!(of_chain(2).0.sparse.is_none(), "six unknowns");
        assert!(of_chain(3).0.sparse.is_none(), "more than a third of 81 entries");
        let points = 8;
        let (mut matrix, entries) = of_chain(points);
        let size = 3 * points;
        assert!(matrix.sparse.is_some(), "{} of {} entries", entries.len(), size * size);
        let mut dense = DenseLu::new(size);
        let (mut first, mut orders) = (Vec::new(), None);
        for round in 0..4 {
            // the last round is the first once more
            let wave = |i: u32, j: u32| (f64::from(3 * i.min(j) + 5 * i.max(j)) + f64::from(round % 3)).sin();
            for values in [matrix.values_mut(), dense.matrix_mut()] {
                values.fill(0.0);
                for &(i, j) in &entries {
                    let diagonal = if i == j && (i as usize) < 2 * points { 4.0 } else { 0.0 };
                    values[i as usize * size + j as usize] = wave(i, j) + diagonal;
                }
            }
            if round == 3 {
                matrix.take_orders(orders.as_ref().unwrap());
            }
            assert!(matrix.factorise() && dense.factorise(), "round {round}");
            orders.get_or_insert_with(|| matrix.orders());
            let b: Vec<f64> = (0..size).map(|i| (i as f64).cos()).collect();
            let [mut x, mut y] = [b.clone(), b.clone()];
            matrix.solve(&mut x);
            dense.solve(&mut y);
            let [mut z, mut w] = [b.clone(), b.clone()];
            matrix.solve_transposed(&mut z);
            dense.solve_transposed(&mut w);
            let size = y.iter().chain(&w).fold(1.0f64, |size, x| size.max(x.abs()));
            for (sparse, dense) in x.iter().chain(&z).zip(y.iter().chain(&w)) {
                assert!((sparse - dense).abs() < 1e-12 * size, "round {round}: {sparse} {dense}");
            }
            match round {
                0 => first = x,
                3 => assert_eq!(first, x, "the same to the last bit with the pivots of then"),
                _ => {}
            }
        }
        matrix.values_mut().fill(0.0);
        assert!(!matrix.factorise(), "zeros");
    }

    /// Protects the pattern: an entry outside of it would be left out without a word.
    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "outside of the pattern")]
    fn an_entry_outside_of_the_pattern_is_found() {
        let (mut matrix, entries) = of_chain(8);
        assert!(entries.binary_search(&(16, 15)).is_err());
        matrix.values_mut()[16 * 24 + 15] = 1.0;
        matrix.factorise();
    }
}
