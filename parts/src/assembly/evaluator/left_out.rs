//! Rows that repeat others.

use super::super::Assembly;
use super::super::pattern::Values;
use costate::system::Level;

/// Constraint rows that are left out: their equation is "multiplier = 0".
pub(super) struct LeftOut {
    pub(super) rows: Vec<usize>,
    /// Slots of the diagonal entries of their multipliers.
    pub(super) slots: Vec<usize>,
    /// Places of their entries of C_q and dC/du.
    pub(super) jacobian: Vec<usize>,
    pub(super) by_parameter: Vec<usize>,
    /// Room for a vector of rows.
    pub(super) masked: Vec<f64>,
    /// Values of these rows when the constraints were worked out last.
    pub(super) values: Vec<f64>,
}

impl LeftOut {
    pub(super) fn new(system: &Assembly) -> Self {
        let is_left_out = |row: u32| system.is_left_out[row as usize];
        let pattern = &system.pattern;
        let entries = pattern.jacobian.iter().enumerate().filter(|(_, entry)| is_left_out(entry.0));
        let jacobian: Vec<usize> = entries.map(|(place, _)| place).collect();
        let of_rows = pattern.constraint_by_parameter.entries.iter().filter(|entry| is_left_out(entry.row));
        let mut slots: Vec<usize> = jacobian.iter().map(|&place| system.slots.jacobian[place] as usize).collect();
        slots.sort_unstable();
        slots.dedup();
        let rows: Vec<usize> = (0..system.is_left_out.len()).filter(|&row| system.is_left_out[row]).collect();
        LeftOut {
            values: vec![0.0; rows.len()],
            rows,
            slots,
            by_parameter: of_rows.map(|entry| entry.value as usize).collect(),
            jacobian,
            masked: vec![0.0; system.is_left_out.len()],
        }
    }

    pub(super) fn fix(&self, matrix: &mut [f64]) {
        self.slots.iter().for_each(|&slot| matrix[slot] = 1.0);
    }

    pub(super) fn clear(&self, constraint: &mut [f64]) {
        self.rows.iter().for_each(|&row| constraint[row] = 0.0);
    }

    /// Clears constraints, and remembers what their positions were.
    pub(super) fn take(&mut self, constraint: &mut [f64], level: Level) {
        if level != Level::Position {
            return self.clear(constraint);
        }
        for (value, &row) in self.values.iter_mut().zip(&self.rows) {
            *value = std::mem::take(&mut constraint[row]);
        }
    }

    pub(super) fn clear_derivatives(&self, values: &mut Values) {
        let Values { jacobian, constraint_by_parameter, rates, rates_by_parameter, .. } = values;
        for slopes in rates.iter_mut().chain([jacobian]) {
            self.jacobian.iter().for_each(|&place| slopes[place] = 0.0);
        }
        for slopes in rates_by_parameter.iter_mut().chain([constraint_by_parameter]) {
            self.by_parameter.iter().for_each(|&place| slopes[place] = 0.0);
        }
    }

    /// A copy of `constraint` with zeros where rows are left out.
    pub(super) fn mask<'c>(&'c mut self, constraint: &'c [f64]) -> &'c [f64] {
        if self.rows.is_empty() {
            return constraint;
        }
        self.masked.copy_from_slice(constraint);
        self.rows.iter().for_each(|&row| self.masked[row] = 0.0);
        &self.masked
    }
}
