//! An assembly as a system.

use super::batch::Batch;
use super::evaluator::{AssemblyEvaluator, Factors};
use super::pattern::{Pattern, Slots};
use super::{Value, closure};
use costate::shown::with_unit;
use costate::sketch::Sketch;
use costate::sparse::redundant_rows;
use costate::system::{By, Evaluator, System};
use costate::{Error, Signature};

/// Constraint rows, each with those that it repeats.
type Redundant = Vec<(usize, Vec<usize>)>;

/// A mechanism made of elements.
pub struct Assembly {
    pub(super) signature: Signature,
    pub(super) initial: Vec<[Value; 2]>,
    pub(super) batches: Vec<Batch>,
    pub(super) pattern: Pattern,
    pub(super) slots: Slots,
    pub(super) factors: Factors,
    /// Constraint rows whose multipliers are kept at zero.
    pub(super) is_left_out: Vec<bool>,
    /// Number of redundant rows at the start.
    pub(super) redundant: usize,
    pub(super) known_times: Vec<(String, (f64, f64))>,
    pub(super) remarks: Vec<String>,
    pub(super) sketch: Option<Sketch>,
}

/// Rows of C_q, for nominal parameters and where the constraints hold near the start, that others combine to within this part of their length are redundant.
pub(super) const REDUNDANT: f64 = 1e-9;

impl Assembly {
    /// Keeps what it looks like.
    pub(crate) fn with_sketch(mut self, sketch: Sketch) -> Self {
        self.sketch = Some(sketch);
        self
    }

    /// Degrees of freedom at the start: coordinates, less independent constraint rows.
    pub fn degrees_of_freedom(&self) -> usize {
        (self.signature.unknown_count() + self.redundant).saturating_sub(self.signature.constraints.len())
    }

    /// Names of the constraint rows that were left out, because they repeat others at the start.
    pub fn left_out(&self) -> Vec<&str> {
        let rows = self.signature.constraints.iter().zip(&self.is_left_out);
        rows.filter(|(_, left_out)| **left_out).map(|(row, _)| row.name.as_str()).collect()
    }

    /// Gives every entry its place in the matrix.
    pub(super) fn lay_out(&mut self, dense_up_to: usize) {
        let n = self.signature.unknown_count();
        let size = n + self.signature.constraints.len();
        let entries = Slots::entries(&self.pattern, n, &self.is_left_out);
        let (factors, numbers) = Factors::new(size, n, &entries, dense_up_to);
        self.slots = Slots::from_numbers(&self.pattern, &numbers);
        self.factors = factors;
    }

    /// Constraint rows that hold what others hold already, each with those; and the row that no position near the start satisfies, with by how much.
    pub(super) fn redundant_rows(&self) -> (Redundant, Option<(usize, f64)>) {
        let n = self.signature.unknown_count();
        let closed = closure::rows_where_closed(&mut AssemblyEvaluator::new(self), &self.signature.nominal());
        if closed.rows.iter().flatten().any(|(_, value)| !value.is_finite()) {
            // the simulation says where
            return (Vec::new(), None);
        }
        (redundant_rows(&closed.rows, n, REDUNDANT), closed.open)
    }

    /// Says which these are.
    pub(super) fn refuse(&self, found: &[(usize, Vec<usize>)], open: Option<(usize, f64)>) -> Error {
        let constraints = &self.signature.constraints;
        let name = |row: &usize| format!("`{}`", constraints[*row].name);
        let described = found.iter().take(6).map(|(row, others)| {
            let others: Vec<String> = others.iter().take(6).map(name).collect();
            match others.as_slice() {
                [] => format!("{} holds nothing at the start", name(row)),
                _ => format!("{} repeats {}", name(row), others.join(", ")),
            }
        });
        let described: Vec<String> = described.collect();
        let more = if found.len() > described.len() { ", and more" } else { "" };
        let (count, m) = (found.len(), constraints.len());
        let are = if count == 1 { "is" } else { "are" };
        if let Some((row, value)) = open {
            let own = &constraints[row];
            let off = with_unit(value.abs(), &own.unit);
            let problem = format!(
                "its joints do not fit together near the start: `{}` stays off by {off}, and there {count} of its {m} constraint rows {are} redundant: \
                 {}{more}",
                own.name,
                described.join("; ")
            );
            let remedy = "check lengths and places of its loop, or start nearer to a position in which it closes";
            return Error::invalid(self.signature.place(), problem, remedy);
        }
        let problem =
            format!("{count} of its {m} constraint rows {are} redundant at the start: {}{more}", described.join("; "));
        let remedy = "replace a joint of the closed loop by one that holds less (a revolute joint by a point on a line), start \
                      away from a singular position, or have redundant rows left out or kept (`redundant_rows`)";
        Error::invalid(self.signature.place(), problem, remedy)
    }
}

impl System for Assembly {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }

    fn known_times(&self) -> &[(String, (f64, f64))] {
        &self.known_times
    }

    fn degrees_of_freedom(&self) -> usize {
        Assembly::degrees_of_freedom(self)
    }

    fn can_yield(&self) -> bool {
        false
    }

    fn sketch(&self) -> Option<&Sketch> {
        self.sketch.as_ref()
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(AssemblyEvaluator::new(self))
    }

    fn evaluator_by(&self, _by: By<'_>) -> Box<dyn Evaluator + '_> {
        // few elements have inputs: their products are always there
        self.evaluator()
    }
}
