//! Where the derivatives of all elements are: flat lists of entries, each element's one after another.

use costate::value::Value;

/// A derivative of an equation by a slot of an element, for one parameter in that slot; or by an input.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParameterEntry {
    /// Place of the derivative by the slot.
    pub value: u32,
    pub row: u32,
    pub parameter: u32,
    pub factor: f64,
}

/// Entries of one kind by slots of parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct ParameterEntries {
    pub entries: Vec<ParameterEntry>,
    /// Number of values.
    pub count: usize,
}

impl ParameterEntries {
    /// Takes room for the derivative of `row` by a slot with this value.
    pub fn push(&mut self, row: usize, slot: &Value) {
        let value = self.count as u32;
        self.entries.extend(slot.terms().iter().map(|&(k, factor)| ParameterEntry {
            value,
            row: row as u32,
            parameter: k as u32,
            factor,
        }));
        self.count += 1;
    }

    /// Takes room for the derivative of `row` by an input, which is noted in `by_input`.
    pub fn push_input(&mut self, row: usize, input: u32, by_input: &mut Vec<ParameterEntry>) {
        by_input.push(ParameterEntry { value: self.count as u32, row: row as u32, parameter: input, factor: 1.0 });
        self.count += 1;
    }
}

pub(super) type Pairs = Vec<(u32, u32)>;

/// All entries that can be non-zero, as (row, column) in the assembly's numbering. Several may name the same place.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    /// M.
    pub mass: Pairs,
    /// d(M a - Q)/dq.
    pub position: Pairs,
    /// d(M a - Q)/dv.
    pub velocity: Pairs,
    /// Entries of `position`, `velocity` and M together, for Newton's matrix.
    pub newton: Pairs,
    /// C_q.
    pub jacobian: Pairs,
    /// d(C_qᵀ λ)/dq.
    pub geometric: Pairs,
    /// d(M a - Q)/du.
    pub by_parameter: ParameterEntries,
    /// d(M a - Q)/dw, whose values are among these.
    pub by_input: Vec<ParameterEntry>,
    /// d(C_qᵀ λ)/du.
    pub geometric_by_parameter: ParameterEntries,
    /// dC/du.
    pub constraint_by_parameter: ParameterEntries,
    /// Outputs by q, v, a, a_scheme, λ in one numbering.
    pub output: Pairs,
    /// Outputs by u.
    pub output_by_parameter: ParameterEntries,
    /// Outputs by w, whose values are among these.
    pub output_by_input: Vec<ParameterEntry>,
}

/// Numbers of entries of each kind, in the order of the fields of [`Pattern`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Places {
    pub mass: usize,
    pub position: usize,
    pub velocity: usize,
    pub newton: usize,
    pub jacobian: usize,
    pub geometric: usize,
    pub by_parameter: usize,
    pub geometric_by_parameter: usize,
    pub constraint_by_parameter: usize,
    pub output: usize,
    pub output_by_parameter: usize,
}

impl Pattern {
    /// Places of the next entries.
    pub fn places(&self) -> Places {
        Places {
            mass: self.mass.len(),
            position: self.position.len(),
            velocity: self.velocity.len(),
            newton: self.newton.len(),
            jacobian: self.jacobian.len(),
            geometric: self.geometric.len(),
            by_parameter: self.by_parameter.count,
            geometric_by_parameter: self.geometric_by_parameter.count,
            constraint_by_parameter: self.constraint_by_parameter.count,
            output: self.output.len(),
            output_by_parameter: self.output_by_parameter.count,
        }
    }
}

/// The values of all entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    pub mass: Vec<f64>,
    pub position: Vec<f64>,
    pub velocity: Vec<f64>,
    pub jacobian: Vec<f64>,
    pub geometric: Vec<f64>,
    pub by_parameter: Vec<f64>,
    pub geometric_by_parameter: Vec<f64>,
    pub constraint_by_parameter: Vec<f64>,
    /// Derivatives of dC/dt and d²C/dt², as those of C: by q, and by u.
    pub rates: [Vec<f64>; 2],
    pub rates_by_parameter: [Vec<f64>; 2],
    pub output: Vec<f64>,
    pub output_by_parameter: Vec<f64>,
}

impl Values {
    pub fn new(pattern: &Pattern) -> Self {
        let zeros = |count: usize| vec![0.0; count];
        Values {
            mass: zeros(pattern.mass.len()),
            position: zeros(pattern.position.len()),
            velocity: zeros(pattern.velocity.len()),
            jacobian: zeros(pattern.jacobian.len()),
            geometric: zeros(pattern.geometric.len()),
            by_parameter: zeros(pattern.by_parameter.count),
            geometric_by_parameter: zeros(pattern.geometric_by_parameter.count),
            constraint_by_parameter: zeros(pattern.constraint_by_parameter.count),
            rates: [(); 2].map(|()| zeros(pattern.jacobian.len())),
            rates_by_parameter: [(); 2].map(|()| zeros(pattern.constraint_by_parameter.count)),
            output: zeros(pattern.output.len()),
            output_by_parameter: zeros(pattern.output_by_parameter.count),
        }
    }
}

/// Slots of the values in the matrix of the linear equations.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    pub mass: Vec<u32>,
    pub position: Vec<u32>,
    pub velocity: Vec<u32>,
    pub newton: Vec<u32>,
    /// C_q below, and C_qᵀ on the right.
    pub jacobian: Vec<u32>,
    pub jacobian_transposed: Vec<u32>,
    pub geometric: Vec<u32>,
}

impl Slots {
    /// The entries of K with `n` coordinates, in the order in which [`Slots::from_numbers`] takes their slots back. Those of a
    /// row that is left out all lead to the diagonal entry of its multiplier.
    pub fn entries(pattern: &Pattern, n: usize, is_left_out: &[bool]) -> Pairs {
        let n = n as u32;
        let plain = [&pattern.mass, &pattern.position, &pattern.velocity, &pattern.newton, &pattern.geometric];
        let mut entries: Pairs = plain.into_iter().flatten().copied().collect();
        let diagonal = |row: u32| is_left_out[row as usize].then_some((n + row, n + row));
        entries.extend(pattern.jacobian.iter().map(|&(row, j)| diagonal(row).unwrap_or((n + row, j))));
        entries.extend(pattern.jacobian.iter().map(|&(row, j)| diagonal(row).unwrap_or((j, n + row))));
        entries
    }

    pub fn from_numbers(pattern: &Pattern, numbers: &[u32]) -> Self {
        let mut rest = numbers.iter().copied();
        let mut take = |count: usize| rest.by_ref().take(count).collect::<Vec<u32>>();
        Slots {
            mass: take(pattern.mass.len()),
            position: take(pattern.position.len()),
            velocity: take(pattern.velocity.len()),
            newton: take(pattern.newton.len()),
            geometric: take(pattern.geometric.len()),
            jacobian: take(pattern.jacobian.len()),
            jacobian_transposed: take(pattern.jacobian.len()),
        }
    }
}
