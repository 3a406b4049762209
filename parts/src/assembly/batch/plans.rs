//! What a batch evaluates with which seeds, and which entries result.

use super::super::pattern::Places;
use costate::linearise::{FullEntries, Plan, Sizes, Structure};

/// A value of a kernel and where it goes.
#[derive(Clone, Copy)]
pub(super) struct Copied {
    pub from: u32,
    pub to: u32,
}

pub(super) struct Plans {
    /// Newton's matrix where it changes from point to point; empty where motion is linear.
    pub newton: Plan,
    pub newton_entries: Vec<(usize, usize)>,
    /// All derivatives of the motion.
    pub full: Plan,
    pub full_entries: FullEntries,
    /// Derivatives of the motion by parameters and inputs alone: what is left at each point where motion is linear.
    pub by_parameters: Plan,
    pub output: Plan,
    /// (row, variable) of outputs by the state, and by parameters.
    pub output_entries: Vec<(usize, usize)>,
    /// d(C_qᵀ λ): pairs of local coordinates, and (coordinate, parameter).
    pub geometric: Vec<(usize, usize)>,
    pub geometric_by_parameter: Vec<(usize, usize)>,
    pub constraint_by_parameter: Vec<(usize, usize)>,
    /// Coordinates whose columns of C_q change with parameters, then `n +` parameters in C.
    pub variables: Vec<usize>,
    /// Copies from rows x curved coordinates to the entries of C_q.
    pub slopes: Vec<Copied>,
    /// Copies from rows x `variables` to the entries of C_q.
    pub full_slopes: Vec<Copied>,
    /// Copies from coordinates x `variables` to `geometric` and `geometric_by_parameter`.
    pub full_geometric: Vec<Copied>,
    pub full_geometric_by_parameter: Vec<Copied>,
    /// Copies from rows x `variables` to `constraint_by_parameter`.
    pub full_by_parameter: Vec<Copied>,
    /// Entries of C_q that do not change from point to point.
    pub fixed_slopes: Vec<usize>,
    /// Number of values an element.
    pub strides: Places,
}

/// Entries, by the places of their rows and columns in a matrix with so many columns; those without a place are not in it.
fn copied(
    entries: &[(usize, usize)],
    columns: usize,
    row: impl Fn(usize) -> Option<usize>,
    column: impl Fn(usize) -> Option<usize>,
) -> Vec<Copied> {
    let from = |(i, j): (usize, usize)| Some((row(i)? * columns + column(j)?) as u32);
    entries.iter().zip(0..).filter_map(|(&entry, to)| Some(Copied { from: from(entry)?, to })).collect()
}

fn pairs(a: &[usize], b: &[usize]) -> Vec<(usize, usize)> {
    a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j))).collect()
}

impl Plans {
    pub fn new(structure: &Structure, sizes: Sizes, own_rows: usize) -> Self {
        let Sizes { n, m, .. } = sizes;
        let (newton, mut newton_entries) = Plan::newton_entries(structure, n);
        if structure.linear_motion {
            newton_entries.clear();
        }
        let (full, full_entries) = Plan::full(structure, sizes);
        let state_variables = 4 * n + m;
        let (output, output_entries) = Plan::output(structure, sizes.output_variables());
        let Structure { curved_coordinates: curved, curved_or_parametric: both, .. } = structure;
        let (constraint, by_parameter) = (&structure.constraint, &structure.constraint_parameters);
        let own: Vec<usize> = (0..own_rows).collect();
        let geometric = pairs(curved, curved);
        let geometric_by_parameter = pairs(both, by_parameter);
        let constraint_by_parameter = pairs(&own, by_parameter);
        let variables: Vec<usize> = both.iter().copied().chain(by_parameter.iter().map(|k| n + k)).collect();
        let count = variables.len();
        let place = |list: &[usize], variable: usize| list.binary_search(&variable).ok();
        let among_curved = |j: usize| place(curved, j);
        // among the variables
        let coordinate = |j: usize| place(both, j);
        let parameter = |k: usize| Some(both.len() + place(by_parameter, k)?);
        let state_entries = output_entries.iter().filter(|entry| entry.1 < state_variables).count();
        Plans {
            strides: Places {
                mass: structure.mass.len(),
                position: full_entries.position.len(),
                velocity: full_entries.velocity.len(),
                newton: newton_entries.len(),
                jacobian: constraint.len(),
                geometric: geometric.len(),
                by_parameter: full_entries.parameter.len(),
                geometric_by_parameter: geometric_by_parameter.len(),
                constraint_by_parameter: constraint_by_parameter.len(),
                output: state_entries,
                output_by_parameter: output_entries.len() - state_entries,
            },
            newton,
            newton_entries,
            full,
            full_entries,
            by_parameters: Plan::by_parameters(structure, sizes),
            output,
            output_entries,
            slopes: copied(constraint, curved.len(), Some, among_curved),
            full_slopes: copied(constraint, count, Some, coordinate),
            full_geometric: copied(&geometric, count, coordinate, coordinate),
            full_geometric_by_parameter: copied(&geometric_by_parameter, count, coordinate, parameter),
            full_by_parameter: copied(&constraint_by_parameter, count, Some, parameter),
            fixed_slopes: (0..constraint.len()).filter(|&entry| among_curved(constraint[entry].1).is_none()).collect(),
            geometric,
            geometric_by_parameter,
            constraint_by_parameter,
            variables,
        }
    }
}
