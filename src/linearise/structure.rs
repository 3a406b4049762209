//! Structure of a model: which variable enters which equation, found once with [`Tracer`]s.

use super::functions::Functions;
use super::kernel::Sizes;
use crate::number::{Tracer, has_chosen, with_branch_detection};
use crate::signature::Signature;
use crate::system::By;
use crate::{Matrix, State};
use std::ops::Range;

/// The variables of one traced value, as places in the list of traced variables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    pub depends: Vec<usize>,
    pub nonlinear: Vec<usize>,
    /// True for a row that is zero whatever the variables are.
    pub zero: bool,
    /// The run looked at values.
    pub looked: bool,
    /// It did, or chose between them.
    pub chose: bool,
}

/// Sparsity of a model. Variable numbers: coordinates `j`, velocities `n + j`, parameters `2 n + k`, inputs `2 n + p + k`, unless said
/// otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Entries of M that can be non-zero.
    pub mass: Vec<(usize, usize)>,
    /// Variables (q, u) of each row of M a.
    pub inertia: Vec<Vec<usize>>,
    /// True if M depends on coordinates.
    pub mass_by_position: bool,
    /// True if M depends on parameters.
    pub mass_by_parameter: bool,
    /// Variables (q, v, u, w) of each row of Q.
    pub force: Vec<Vec<usize>>,
    /// Variables (q, v, w) of each row by which the derivative of M a - Q is the same wherever and whenever, for given parameters.
    pub steady: Vec<Vec<usize>>,
    /// Q is not zero everywhere.
    pub has_force: bool,
    /// Q depends on time.
    pub force_by_time: bool,
    /// Q depends on parameters alone.
    pub constant_force: bool,
    /// Q is linear in q and v, for fixed parameters, wherever and whenever, and M is constant.
    pub linear_motion: bool,
    /// Variables (q, v, u, w) in which Q or M a is not linear (with M a, all that M depends on).
    pub curved_motion: Vec<usize>,
    /// Coordinates whose column of C_q changes with q or t.
    pub curved_coordinates: Vec<usize>,
    /// Coordinates whose column of C_q changes with q, t or u.
    pub curved_or_parametric: Vec<usize>,
    /// Parameters in C.
    pub constraint_parameters: Vec<usize>,
    /// Rows and coordinates of C_q that can be non-zero.
    pub constraint: Vec<(usize, usize)>,
    /// Variables of each output: q, v, a, a_scheme, lambda, u, w in this order.
    pub output: Vec<Vec<usize>>,
    /// The outputs' derivatives are the same everywhere.
    pub output_is_linear: bool,
    /// Parameters in the initial state.
    pub initial_parameters: Vec<usize>,
    /// Values are looked at, or chosen between: there may be jumps.
    pub may_jump: bool,
    /// Remarks on likely slips: parameters and inputs that nothing depends on, outputs that are always zero.
    pub remarks: Vec<String>,
}

/// Variables a tracer can tell apart in one pass; one more bit stands for all others.
const WINDOW: usize = 127;

/// Sends `values` through `run` as traced variables (in windows) and collects the rows. A run that looks at values may take
/// another branch elsewhere: then every row depends on everything, nonlinearly.
fn trace(values: &[f64], rows: usize, run: &dyn Fn(&[Tracer], &mut [Tracer])) -> Vec<Row> {
    let mut result = vec![Row { zero: true, ..Row::default() }; rows];
    let mut first = 0;
    loop {
        let variables: Vec<Tracer> = (0..values.len())
            .map(|i| {
                let bit = if (first..first + WINDOW).contains(&i) { i - first } else { WINDOW };
                Tracer::variable(values[i], bit as u32)
            })
            .collect();
        let mut out = vec![Tracer::from(0.0); rows];
        let ((), branched) = with_branch_detection(|| run(&variables, &mut out));
        let chosen = branched || has_chosen();
        for (row, value) in result.iter_mut().zip(&out) {
            row.zero &= !branched && value.is_constant_zero();
            row.looked |= branched;
            row.chose |= chosen;
            for i in first..values.len().min(first + WINDOW) {
                let bit = 1u128 << (i - first);
                if branched || value.depends & bit != 0 {
                    row.depends.push(i);
                }
                if branched || value.nonlinear & bit != 0 {
                    row.nonlinear.push(i);
                }
            }
        }
        first += WINDOW;
        if first >= values.len() {
            return result;
        }
    }
}

fn union(rows: &[Row], pick: impl Fn(&Row) -> &Vec<usize>) -> Vec<usize> {
    let mut all: Vec<usize> = rows.iter().flat_map(|r| pick(r).iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Generic values, so that no product vanishes by accident.
pub fn probe(count: usize, salt: f64) -> Vec<f64> {
    (0..count).map(|i| 0.618 + 0.1 * (salt + i as f64 * 1.7).sin()).collect()
}

/// Variables, counted from the first, that occur in rows.
fn used(rows: &[Row], variables: Range<usize>) -> Vec<usize> {
    let all = union(rows, |row| &row.depends).into_iter();
    all.filter(|i| variables.contains(i)).map(|i| i - variables.start).collect()
}

/// The functions of a model, traced; each by the variables given here, in this order.
struct Traces {
    sizes: Sizes,
    /// q, u.
    mass: Vec<Row>,
    /// q, v, u, w, t. Time may decide on a branch, too: it is traced along, only to see it.
    force: Vec<Row>,
    /// q, v, w, t.
    force_in_state: Vec<Row>,
    /// q, t.
    constraint_in_space_and_time: Vec<Row>,
    /// q, t, u.
    constraint: Vec<Row>,
    /// q, v, a, a_scheme, lambda, u, w, t. Time may scale an output: then its derivatives are not constant.
    output: Vec<Row>,
    /// u.
    initial: Vec<Row>,
}

impl Traces {
    fn of(model: &dyn Functions, signature: &Signature) -> Self {
        let sizes = Sizes::of(signature);
        let Sizes { n, m, p, inputs: k, outputs, .. } = sizes;
        let (u, t) = (signature.nominal(), [0.37]);
        let constant_u: Vec<Tracer> = u.iter().map(|&x| Tracer::from(x)).collect();
        let (q, v, w) = (probe(n, 0.3), probe(n, 1.1), probe(k, 2.9));
        let join = |parts: &[&[f64]]| parts.concat();
        let state = join(&[&q, &v, &probe(n, 4.0), &probe(n, 5.0), &probe(m, 6.0)]);
        Traces {
            sizes,
            mass: trace(&join(&[&q, &u]), n * n, &|x, out| {
                let mut mass = Matrix::filled(n, n, Tracer::from(0.0));
                model.mass(&x[..n], &x[n..], &mut mass);
                out.copy_from_slice(mass.as_slice());
            }),
            force: trace(&join(&[&q, &v, &u, &w, &t]), n, &|x, out| {
                let (head, t) = x.split_at(2 * n + p + k);
                model.force(t[0], &head[..n], &head[n..2 * n], &head[2 * n + p..], &head[2 * n..2 * n + p], out);
            }),
            force_in_state: trace(&join(&[&q, &v, &w, &t]), n, &|x, out| {
                model.force(x[2 * n + k], &x[..n], &x[n..2 * n], &x[2 * n..2 * n + k], &constant_u, out);
            }),
            constraint_in_space_and_time: trace(&join(&[&q, &t]), m, &|x, out| {
                model.constraint(x[n], &x[..n], &constant_u, out);
            }),
            constraint: trace(&join(&[&q, &t, &u]), m, &|x, out| model.constraint(x[n], &x[..n], &x[n + 1..], out)),
            output: trace(&join(&[&state, &u, &w, &t]), outputs, &|x, out| {
                let (x, tail) = x.split_at(4 * n + m + p);
                let state = State { w: &tail[..k], ..state_of(x, n, m) };
                model.output(tail[k], &state, &x[4 * n + m..], out);
            }),
            initial: trace(&u, 2 * n, &|x, out| {
                let (q, v) = out.split_at_mut(n);
                model.initial(x, q, v);
            }),
        }
    }

    /// True if a function chooses between values during a motion.
    fn chose(&self) -> bool {
        let Traces { mass, force, constraint, output, .. } = self;
        [mass, force, constraint, output].into_iter().flatten().any(|row| row.chose)
    }

    /// Entries of M that can be non-zero; and the variables (q, u), numbered as in a [`Structure`], of each row of M a.
    fn inertia(&self) -> (Vec<(usize, usize)>, Vec<Vec<usize>>) {
        let n = self.sizes.n;
        let mut mass = Vec::new();
        let mut inertia = vec![Vec::new(); n];
        for (place, row) in self.mass.iter().enumerate().filter(|(_, row)| !row.zero) {
            mass.push((place / n, place % n));
            let variables = &mut inertia[place / n];
            variables.extend(row.depends.iter().map(|&i| if i < n { i } else { i + n }));
            variables.sort_unstable();
            variables.dedup();
        }
        (mass, inertia)
    }

    /// Remarks on likely slips: parameters and inputs that nothing depends on, outputs that are always zero.
    fn remarks(&self, signature: &Signature) -> Vec<String> {
        let Sizes { n, states, m, p, inputs: k, .. } = self.sizes;
        let (of_motion, of_output) = (2 * n, 4 * n + m);
        let used_parameters = [
            used(&self.mass, n..n + p),
            used(&self.force, of_motion..of_motion + p),
            used(&self.constraint, n + 1..n + 1 + p),
            used(&self.output, of_output..of_output + p),
            used(&self.initial, 0..p),
        ]
        .concat();
        let of_inputs = |first: usize| first + p..first + p + k;
        let used_inputs = [used(&self.force, of_inputs(of_motion)), used(&self.output, of_inputs(of_output))].concat();
        let parameters = signature.parameters.iter().enumerate().filter(|(i, _)| !used_parameters.contains(i));
        let inputs = signature.inputs.iter().enumerate().filter(|(i, _)| !used_inputs.contains(i));
        let outputs = signature.outputs.iter().zip(&self.output).filter(|(_, row)| row.zero);
        let constant = (self.force[n - states..].iter().zip(&signature.states)).filter(|(row, _)| row.zero);
        (parameters.map(|(_, parameter)| format!("nothing depends on parameter `{}`", parameter.name)))
            .chain(inputs.map(|(_, input)| format!("nothing depends on input `{}`", input.name)))
            .chain(outputs.map(|(output, _)| format!("output `{}` is always zero", output.name)))
            .chain(constant.map(|(_, state)| format!("the rate of state `{}` is always zero", state.name)))
            .collect()
    }
}

impl Structure {
    /// Structure of a model, by tracing its functions once.
    pub fn find(model: &dyn Functions, signature: &Signature) -> Self {
        let traces = Traces::of(model, signature);
        let Sizes { n, m, p, inputs: k, .. } = traces.sizes;
        let (mass, inertia) = traces.inertia();
        let (remarks, motion_variables, output_variables) =
            (traces.remarks(signature), 2 * n + p + k, 4 * n + m + p + k);
        let may_jump = traces.chose();
        let Traces { force, force_in_state, constraint_in_space_and_time, constraint, output, initial, .. } = traces;
        let keep = |rows: &[Row], limit: usize| -> Vec<Vec<usize>> {
            rows.iter().map(|row| row.depends.iter().copied().filter(|&i| i < limit).collect()).collect()
        };
        let mut curved_motion = union(&force, |r| &r.nonlinear);
        curved_motion.retain(|&i| i < motion_variables);
        curved_motion.extend(inertia.iter().flatten());
        curved_motion.sort_unstable();
        curved_motion.dedup();
        let curved = |rows: &[Row]| {
            let mut list = union(rows, |r| &r.nonlinear);
            list.retain(|&i| i < n);
            list
        };
        let is_parameter = |i: &usize| (2 * n..2 * n + p).contains(i);
        let coordinates = |(row, r): (usize, &Row)| -> Vec<(usize, usize)> {
            r.depends.iter().filter(|&&i| i < n).map(|&i| (row, i)).collect()
        };
        let steady = |(row, of_inertia): (&Row, &Vec<usize>)| -> Vec<usize> {
            let linear = row.depends.iter().filter(|i| **i < 2 * n + k && !row.nonlinear.contains(i));
            let variables = linear.map(|&i| if i < 2 * n { i } else { i + p });
            variables.filter(|i| !of_inertia.contains(i)).collect()
        };
        Structure {
            steady: force_in_state.iter().zip(&inertia).map(steady).collect(),
            has_force: force.iter().any(|row| !row.zero),
            force_by_time: force.iter().any(|row| row.depends.contains(&motion_variables)),
            constant_force: force.iter().all(|row| row.depends.iter().all(is_parameter) && !row.looked),
            linear_motion: inertia.iter().flatten().all(|&i| i >= n)
                && force_in_state.iter().all(|row| row.nonlinear.iter().all(|&i| i >= 2 * n)),
            curved_motion,
            mass_by_position: inertia.iter().flatten().any(|&i| i < n),
            mass_by_parameter: inertia.iter().flatten().any(|&i| i >= 2 * n),
            mass,
            inertia,
            force: keep(&force, motion_variables),
            curved_coordinates: curved(&constraint_in_space_and_time),
            curved_or_parametric: curved(&constraint),
            constraint_parameters: used(&constraint, n + 1..n + 1 + p),
            constraint: constraint.iter().enumerate().flat_map(coordinates).collect(),
            output_is_linear: output.iter().all(|r| r.nonlinear.iter().all(|&i| i >= output_variables)),
            output: keep(&output, output_variables),
            initial_parameters: used(&initial, 0..p),
            may_jump,
            remarks,
        }
    }
}

impl Structure {
    /// True if the derivative of a row of M a - Q by one of (q, v, u, w) is the same wherever and whenever, for given parameters.
    pub(crate) fn is_steady(&self, row: usize, variable: usize) -> bool {
        self.steady[row].binary_search(&variable).is_ok()
    }

    /// The structure without the parameters and inputs by which is not differentiated.
    pub(crate) fn by(&self, sizes: Sizes, by: By<'_>) -> Structure {
        let mut own = self.clone();
        if !by.inputs {
            own.forget_inputs(sizes);
        }
        if let Some(list) = by.parameters {
            let mut is_constant = vec![true; sizes.p];
            list.iter().for_each(|&k| is_constant[k] = false);
            own.forget_parameters(sizes.n, sizes.m, &is_constant);
        }
        own
    }

    /// Takes the inputs for given: nothing is differentiated by them.
    fn forget_inputs(&mut self, Sizes { n, m, p, .. }: Sizes) {
        self.force.iter_mut().chain([&mut self.curved_motion]).for_each(|list| list.retain(|&i| i < 2 * n + p));
        self.output.iter_mut().for_each(|row| row.retain(|&i| i < 4 * n + m + p));
    }

    /// Parameters that outputs depend on.
    pub(crate) fn output_parameters(&self, Sizes { n, m, p, .. }: Sizes) -> Vec<usize> {
        let (first, all) = (4 * n + m, self.output.iter().flatten());
        let mut list: Vec<usize> = all.filter(|&&i| (first..first + p).contains(&i)).map(|i| i - first).collect();
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Takes the parameters at these places for constants: nothing is differentiated by them.
    pub fn forget_parameters(&mut self, n: usize, m: usize, is_constant: &[bool]) {
        let kept = |first: usize, i: usize| i < first || !is_constant.get(i - first).is_some_and(|c| *c);
        self.inertia.iter_mut().chain(&mut self.force).for_each(|row| row.retain(|&i| kept(2 * n, i)));
        self.curved_motion.retain(|&i| kept(2 * n, i));
        self.constraint_parameters.retain(|&k| kept(0, k));
        self.output.iter_mut().for_each(|row| row.retain(|&i| kept(4 * n + m, i)));
        self.initial_parameters.retain(|&k| kept(0, k));
        self.mass_by_parameter = self.inertia.iter().flatten().any(|&i| i >= 2 * n);
        if self.constraint_parameters.is_empty() {
            self.curved_or_parametric.clone_from(&self.curved_coordinates);
        }
    }
}

/// Splits (q, v, a, a_scheme, lambda, ...) into a state without inputs.
pub(crate) fn state_of<D>(x: &[D], n: usize, m: usize) -> State<'_, D> {
    State {
        q: &x[..n],
        v: &x[n..2 * n],
        a: &x[2 * n..3 * n],
        a_scheme: &x[3 * n..4 * n],
        lambda: &x[4 * n..4 * n + m],
        w: &[],
    }
}

/// Gives every variable that occurs in `rows` a group such that no row holds two of one group (greedily, most frequent
/// variables first). Result: group of each variable (`None`: occurs nowhere), and the number of groups.
pub(crate) fn groups(rows: &[Vec<usize>], variables: usize) -> (Vec<Option<usize>>, usize) {
    let mut rows_of = vec![Vec::new(); variables];
    for (row, list) in rows.iter().enumerate() {
        list.iter().for_each(|&variable| rows_of[variable].push(row));
    }
    let mut order: Vec<usize> = (0..variables).filter(|&i| !rows_of[i].is_empty()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(rows_of[i].len()));
    // groups present in each row, bit by bit
    let mut taken: Vec<Vec<u64>> = vec![Vec::new(); rows.len()];
    let mut group_of = vec![None; variables];
    let (mut count, mut present) = (0, Vec::new());
    for variable in order {
        present.clear();
        for &row in &rows_of[variable] {
            present.resize(present.len().max(taken[row].len()), 0);
            present.iter_mut().zip(&taken[row]).for_each(|(all, own)| *all |= own);
        }
        let full = present.iter().take_while(|word| **word == u64::MAX).count();
        let group = 64 * full + present.get(full).map_or(0, |word| word.trailing_ones() as usize);
        count = count.max(group + 1);
        for &row in &rows_of[variable] {
            let words = taken[row].len().max(group / 64 + 1);
            taken[row].resize(words, 0);
            taken[row][group / 64] |= 1 << (group % 64);
        }
        group_of[variable] = Some(group);
    }
    (group_of, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the windows: a product of two variables in different windows is nonlinear in both.
    #[test]
    fn products_across_windows_are_nonlinear() {
        let values = vec![0.5; 300];
        let rows = trace(&values, 2, &|x, out| {
            out[0] = x[3] * x[299] + x[150];
            out[1] = x[0] * 2.0;
        });
        assert_eq!(rows[0].depends, [3, 150, 299]);
        assert_eq!(rows[0].nonlinear, [3, 299]);
        assert_eq!(rows[1].depends, [0]);
        assert!(rows[1].nonlinear.is_empty());
    }

    /// Protects models with branches: one that looks at a value is taken to depend on everything.
    #[test]
    fn a_branch_makes_the_structure_dense() {
        let rows = trace(&[0.5, 0.25], 1, &|x, out| out[0] = if x[0] > 0.0 { x[1] } else { x[0] });
        assert_eq!(rows[0].depends, [0, 1]);
        assert_eq!(rows[0].nonlinear, [0, 1]);
    }

    /// Protects seed sharing: no row holds two variables of one group, and separate rows share groups.
    #[test]
    fn groups_never_meet_in_a_row() {
        let rows = vec![vec![0, 1, 4], vec![2, 3], vec![1, 2]];
        let (group_of, count) = groups(&rows, 6);
        assert_eq!(count, 3);
        assert_eq!(group_of[5], None);
        for row in &rows {
            for (i, a) in row.iter().enumerate() {
                assert!(row[..i].iter().all(|b| group_of[*a] != group_of[*b]));
            }
        }
    }
}
