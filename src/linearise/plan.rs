//! Plans of the derivatives that one kernel computes, in how many passes: variables that never meet in a row share a direction.

use super::kernel::Sizes;
use super::structure::{Structure, groups};

/// The part of the argument that a seed belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Position,
    Velocity,
    Acceleration,
    Parameter,
    Input,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Seed {
    pub target: Target,
    pub index: usize,
    pub lane: usize,
}

/// One derivative to be read off: of `row`, in `lane`, to be put at `destination`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub row: u32,
    pub lane: u32,
    pub destination: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Chunk {
    pub seeds: Vec<Seed>,
    pub entries: Vec<Entry>,
}

/// A plan for one kernel.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) width: usize,
    pub(super) chunks: Vec<Chunk>,
}

/// Derivatives of M a - Q that can be non-zero, as (row, variable). Their values follow one another in this order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FullEntries {
    /// Entries by coordinates.
    pub position: Vec<(usize, usize)>,
    /// Entries by velocities.
    pub velocity: Vec<(usize, usize)>,
    /// Entries by parameters, and by inputs, which follow them.
    pub parameter: Vec<(usize, usize)>,
}

impl FullEntries {
    /// Number of the entries.
    pub fn count(&self) -> usize {
        self.position.len() + self.velocity.len() + self.parameter.len()
    }

    /// Values of the entries by positions, velocities and parameters.
    #[inline]
    pub fn split<'v>(&self, values: &'v [f64]) -> [&'v [f64]; 3] {
        let (position, rest) = values.split_at(self.position.len());
        let (velocity, parameter) = rest.split_at(self.velocity.len());
        [position, velocity, parameter]
    }
}

/// The coordinates that move each row of M a - Q if an unknown acceleration does.
fn newton_rows(structure: &Structure, n: usize) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); n];
    for (row, variables) in rows.iter_mut().enumerate() {
        variables.extend(structure.force[row].iter().filter(|&&i| i < 2 * n).map(|i| i % n));
        if structure.mass_by_position {
            variables.extend(structure.inertia[row].iter().filter(|&&i| i < n));
            variables.extend(structure.mass.iter().filter(|entry| entry.0 == row).map(|entry| entry.1));
        }
        variables.sort_unstable();
        variables.dedup();
    }
    rows
}

/// Rows with their variables, one after another.
fn entries_of(rows: &[Vec<usize>]) -> Vec<(usize, usize)> {
    rows.iter().enumerate().flat_map(|(row, list)| list.iter().map(move |&variable| (row, variable))).collect()
}

/// Entries of the matrix of Newton's iteration that the equations of motion fill.
pub(super) fn newton_entries(structure: &Structure, n: usize) -> Vec<(usize, usize)> {
    entries_of(&newton_rows(structure, n))
}

fn newton_seeds(j: usize) -> Vec<(Target, usize)> {
    vec![(Target::Position, j), (Target::Velocity, j), (Target::Acceleration, j)]
}

/// Widths of kernels of the equations of motion.
const MOTION: [usize; 3] = [2, 4, 8];
/// Outputs are differentiated once a step at most: fewer widths are compiled.
const OUTPUT: [usize; 2] = [4, 8];
const WIDEST: usize = 8;

impl Plan {
    /// Puts what goes to each destination elsewhere.
    pub(super) fn redirect(&mut self, destination: impl Fn(usize) -> usize) {
        let entries = self.chunks.iter_mut().flat_map(|chunk| &mut chunk.entries);
        entries.for_each(|entry| entry.destination = destination(entry.destination as usize) as u32);
    }

    /// `rows`: the variables of each row; `wanted(row, variable)`: whether that derivative is; `seeds_of(variable)`: what moves with it;
    /// `destination(row, variable)`.
    fn new(
        rows: &[Vec<usize>],
        wanted: impl Fn(usize, usize) -> bool,
        variables: usize,
        widths: &[usize],
        seeds_of: impl Fn(usize) -> Vec<(Target, usize)>,
        destination: impl Fn(usize, usize) -> usize,
    ) -> Self {
        let mut is_seeded = vec![false; variables];
        let mut occurs = |row: usize, list: &[usize]| list.iter().for_each(|&i| is_seeded[i] |= wanted(row, i));
        rows.iter().enumerate().for_each(|(row, list)| occurs(row, list));
        // what moves a row moves it even where that derivative is not wanted
        let moves = |list: &Vec<usize>| list.iter().copied().filter(|&i| is_seeded[i]).collect();
        let moving: Vec<Vec<usize>> = rows.iter().map(moves).collect();
        let (group_of, count) = groups(&moving, variables);
        let passes = count.div_ceil(WIDEST).max(1);
        let needed = count.div_ceil(passes).max(1);
        let width = widths.iter().copied().find(|&w| w >= needed).unwrap_or(WIDEST);
        let mut chunks = vec![Chunk::default(); passes];
        for (variable, group) in group_of.iter().enumerate() {
            let Some(group) = group else { continue };
            let (chunk, lane) = (&mut chunks[group / width], group % width);
            chunk.seeds.extend(seeds_of(variable).into_iter().map(|(target, index)| Seed { target, index, lane }));
        }
        for (row, list) in rows.iter().enumerate() {
            for &variable in list.iter().filter(|&&variable| wanted(row, variable)) {
                let Some(group) = group_of[variable] else { continue };
                let destination = destination(row, variable) as u32;
                let entry = Entry { row: row as u32, lane: (group % width) as u32, destination };
                chunks[group / width].entries.push(entry);
            }
        }
        Plan { width, chunks }
    }

    /// The matrix of Newton's iteration: the unknown acceleration j moves q_j, v_j and a_j. `stride` is its row length. Entries that are the
    /// same wherever and whenever are left to the caller, as rows and columns.
    pub(crate) fn newton(structure: &Structure, n: usize, stride: usize) -> (Self, Vec<(usize, usize)>) {
        let rows = newton_rows(structure, n);
        let is_steady = |row: usize, j: usize| {
            let occurs = |list: &[usize], i: usize| list.binary_search(&i).is_ok();
            let is_steady = |i: usize| structure.is_steady(row, i) || !occurs(&structure.force[row], i);
            let moves_mass = || structure.mass_by_position && structure.mass.binary_search(&(row, j)).is_ok();
            is_steady(j) && is_steady(n + j) && !occurs(&structure.inertia[row], j) && !moves_mass()
        };
        let steady = entries_of(&rows).into_iter().filter(|&(row, j)| is_steady(row, j)).collect();
        let wanted = |row: usize, j: usize| !is_steady(row, j);
        (Plan::new(&rows, wanted, n, &MOTION, newton_seeds, |row, j| row * stride + j), steady)
    }

    /// A plan for K, with the entries that can be non-zero numbered in the order in which they are returned.
    pub fn newton_entries(structure: &Structure, n: usize) -> (Self, Vec<(usize, usize)>) {
        let rows = newton_rows(structure, n);
        let entries = entries_of(&rows);
        let number = |row, j| entries.binary_search(&(row, j)).unwrap_or_default();
        (Plan::new(&rows, |_, _| true, n, &MOTION, newton_seeds, number), entries)
    }

    /// All derivatives by q, v, u and w; the destinations number the entries, which are returned, too.
    pub fn full(structure: &Structure, sizes: Sizes) -> (Self, FullEntries) {
        let ([plan], entries) = Plan::of_motion(structure, sizes, |_| true, [|_, _| true]);
        (plan, entries)
    }

    /// All derivatives by q, v, u and w in two plans: those that change from point to point or with time, and those that do not, if there
    /// are any.
    pub(crate) fn full_in_two(structure: &Structure, sizes: Sizes) -> ([Self; 2], FullEntries) {
        let steady = |row: usize, variable: usize| structure.is_steady(row, variable);
        let parts: [&dyn Fn(usize, usize) -> bool; 2] = [&|row, variable| !steady(row, variable), &steady];
        Plan::of_motion(structure, sizes, |_| true, parts)
    }

    /// A plan of the derivatives by u and w alone.
    pub fn by_parameters(structure: &Structure, sizes: Sizes) -> Self {
        let ([plan], _) = Plan::of_motion(structure, sizes, |variable| variable >= 2 * sizes.n, [|_, _| true]);
        plan
    }

    /// True if the plan has no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.entries.is_empty())
    }

    /// The derivatives that are `wanted`, numbered; and plans, each for some of them, by row and variable.
    fn of_motion<const K: usize>(
        structure: &Structure,
        sizes: Sizes,
        wanted: impl Fn(usize) -> bool,
        parts: [impl Fn(usize, usize) -> bool; K],
    ) -> ([Self; K], FullEntries) {
        let Sizes { n, p, inputs, .. } = sizes;
        let rows: Vec<Vec<usize>> = (0..n)
            .map(|row| {
                let all = structure.force[row].iter().chain(&structure.inertia[row]);
                let mut variables: Vec<usize> = all.copied().filter(|&variable| wanted(variable)).collect();
                variables.sort_unstable();
                variables.dedup();
                variables
            })
            .collect();
        let kind = |variable: usize| (variable / n).min(2);
        let mut all: Vec<(usize, usize, usize)> = (rows.iter().enumerate())
            .flat_map(|(row, list)| list.iter().map(move |&variable| (kind(variable), row, variable)))
            .collect();
        all.sort_unstable();
        let number = |row, variable| all.binary_search(&(kind(variable), row, variable)).unwrap_or_default();
        let seeds = |variable: usize| match variable {
            i if i < n => vec![(Target::Position, i)],
            i if i < 2 * n => vec![(Target::Velocity, i - n)],
            i if i < 2 * n + p => vec![(Target::Parameter, i - 2 * n)],
            i => vec![(Target::Input, i - 2 * n - p)],
        };
        let plans = parts.map(|part| Plan::new(&rows, part, 2 * n + p + inputs, &MOTION, seeds, number));
        let of_kind = |wanted: usize| {
            let entries = all.iter().filter(|entry| entry.0 == wanted);
            entries.map(|&(kind, row, variable)| (row, variable - kind * n)).collect()
        };
        (plans, FullEntries { position: of_kind(0), velocity: of_kind(1), parameter: of_kind(2) })
    }

    /// All derivatives of the outputs; variables as in [`Structure::output`].
    pub fn output(structure: &Structure, variables: usize) -> (Self, Vec<(usize, usize)>) {
        let rows = &structure.output;
        let entries = entries_of(rows);
        let number = |row, variable| entries.binary_search(&(row, variable)).unwrap_or_default();
        // the target is not used: outputs keep all their variables in one array
        (Plan::new(rows, |_, _| true, variables, &OUTPUT, |i| vec![(Target::Position, i)], number), entries)
    }
}
