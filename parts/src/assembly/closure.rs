//! Where redundant rows are looked for: a position near the initial one at which the constraints hold.
//!
//! Rows that repeat others in a closed loop do so where the loop is closed. Initial positions that are rounded, or wrong on
//! purpose because a start is projected, leave it a little open, and no row there is the combination of others.

use super::evaluator::AssemblyEvaluator;
use costate::sparse::SparseLu;
use costate::system::{Evaluator, Level, Point};

/// Beside the squared length of a row: what makes the equations of a step regular where rows repeat others.
const DAMPING: f64 = 1e-6;
/// Distances that count as closed, beside positions of size 1.
const CLOSED: f64 = 1e-13;
/// Distances that are no round-off of a search that has come to its end.
const OPEN: f64 = 1e-7;
const LIMIT: usize = 30;

/// Rows of C_q, and by how much the constraints are violated there.
pub(super) struct Closed {
    pub rows: Vec<Vec<(u32, f64)>>,
    /// The constraint row that is violated the most, with its value there; none where all hold.
    pub open: Option<(usize, f64)>,
}

/// The rows for the parameters `u` at such a position, or at the one that is the nearest to it.
pub(super) fn rows_where_closed(evaluator: &mut AssemblyEvaluator<'_>, u: &[f64]) -> Closed {
    let (n, m, inputs) = evaluator.sizes();
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
    evaluator.set_parameters(u);
    evaluator.initial(&mut q, &mut v);
    let (zeros, w) = (vec![0.0; n.max(m)], vec![0.0; inputs]);
    let (mut found, mut open) = (Vec::new(), None);
    let mut smallest = f64::INFINITY;
    let mut equations: Option<(SparseLu, Vec<u32>)> = None;
    for _ in 0..LIMIT {
        let x = Point { t: 0.0, q: &q, v: &v, a: &zeros[..n], lambda: &zeros[..m], w: &w };
        let mut rows = evaluator.constraint_rows(&x);
        let mut c = vec![0.0; m];
        evaluator.constraint(Level::Position, &x, &mut c);
        // rows as distances, whatever their units
        let (unscaled, values) = (rows.clone(), c.clone());
        for (row, c) in rows.iter_mut().zip(&mut c) {
            let length = row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
            if length > 0.0 {
                row.iter_mut().for_each(|(_, value)| *value /= length);
                *c /= length;
            }
        }
        let violation = c.iter().fold(0.0f64, |largest, c| if largest >= c.abs() { largest } else { c.abs() });
        let is_nearer = found.is_empty() || violation < 0.5 * smallest;
        if !is_nearer {
            break;
        }
        (found, smallest) = (unscaled, violation);
        let size = q.iter().fold(1.0f64, |size, q| size.max(q.abs()));
        let is_open = violation.is_finite() && violation > CLOSED * size;
        let worst = (0..m).max_by(|a, b| c[*a].abs().total_cmp(&c[*b].abs()));
        open = worst.filter(|_| violation > OPEN * size).map(|row| (row, values[row]));
        if !is_open {
            break;
        }
        // the shortest step: [1 C_qᵀ; C_q -damping] (δ, κ) = (0, -C)
        let (lu, slots) = equations.get_or_insert_with(|| SparseLu::new(n + m, n, &entries(&rows, n)));
        let mut slots = slots.iter();
        let values = lu.values_mut();
        let mut put = |value: f64| {
            if let Some(&slot) = slots.next() {
                values[slot as usize] = value;
            }
        };
        (0..n + m).for_each(|i| put(if i < n { 1.0 } else { -DAMPING }));
        rows.iter().flatten().for_each(|&(_, value)| {
            put(value);
            put(value);
        });
        if !lu.factorise() {
            break;
        }
        let mut step = [vec![0.0; n], c].concat();
        lu.solve(&mut step);
        q.iter_mut().zip(&step).for_each(|(q, step)| *q -= step);
    }
    Closed { rows: found, open }
}

/// Places of the diagonal, then of each entry of C_q and of its mirror image.
fn entries(rows: &[Vec<(u32, f64)>], n: usize) -> Vec<(u32, u32)> {
    let mut entries: Vec<(u32, u32)> = (0..n + rows.len()).map(|i| (i as u32, i as u32)).collect();
    for (row, list) in rows.iter().enumerate() {
        let row = (n + row) as u32;
        entries.extend(list.iter().flat_map(|&(column, _)| [(row, column), (column, row)]));
    }
    entries
}
