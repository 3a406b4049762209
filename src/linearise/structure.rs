//! Which variable enters which equation of a model, found once with [`Tracer`]s.

use super::functions::Functions;
use super::kernel::Sizes;
use crate::model::{Matrix, State};
use crate::number::{Tracer, with_branch_detection};
use crate::signature::Signature;

/// The variables of one traced value, as places in the list of traced variables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    pub depends: Vec<usize>,
    pub nonlinear: Vec<usize>,
    /// Zero whatever the variables are.
    pub zero: bool,
    /// The run looked at values.
    pub looked: bool,
}

/// Sparsity of a model. Variable numbers: coordinates `j`, velocities `n + j`, parameters `2 n + k`, inputs `2 n + p + k`, unless said
/// otherwise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Structure {
    /// Entries of M that can be non-zero.
    pub mass: Vec<(usize, usize)>,
    /// Variables (q, u) of each row of M a.
    pub inertia: Vec<Vec<usize>>,
    pub mass_by_position: bool,
    pub mass_by_parameter: bool,
    /// Variables (q, v, u, w) of each row of Q.
    pub force: Vec<Vec<usize>>,
    /// Q is not zero everywhere.
    pub has_force: bool,
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
    /// What looks like a slip: parameters and inputs that nothing depends on, outputs that are always zero.
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
        for (row, value) in result.iter_mut().zip(&out) {
            row.zero &= !branched && value.is_constant_zero();
            row.looked |= branched;
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
pub(crate) fn probe(count: usize, salt: f64) -> Vec<f64> {
    (0..count).map(|i| 0.618 + 0.1 * (salt + i as f64 * 1.7).sin()).collect()
}

impl Structure {
    pub(crate) fn find(model: &dyn Functions, signature: &Signature) -> Self {
        let n = signature.coordinates.len();
        let m = signature.constraints.len();
        let p = signature.parameters.len();
        let k = signature.inputs.len();
        let outputs = signature.outputs.len();
        let u = signature.nominal();
        let join = |parts: &[&[f64]]| parts.concat();
        let (q, v, w) = (probe(n, 0.3), probe(n, 1.1), probe(k, 2.9));

        let mass_rows = trace(&join(&[&q, &u]), n * n, &|x, out| {
            let mut mass = Matrix::filled(n, n, Tracer::from(0.0));
            model.mass(&x[..n], &x[n..], &mut mass);
            out.copy_from_slice(mass.as_slice());
        });
        let mut mass = Vec::new();
        let mut inertia = vec![Vec::new(); n];
        for (place, row) in mass_rows.iter().enumerate().filter(|(_, row)| !row.zero) {
            mass.push((place / n, place % n));
            let variables = &mut inertia[place / n];
            variables.extend(row.depends.iter().map(|&i| if i < n { i } else { i + n }));
            variables.sort_unstable();
            variables.dedup();
        }

        // t may decide on a branch, too: it is traced along, only to see it
        let force_rows = trace(&join(&[&q, &v, &u, &w, &[0.37]]), n, &|x, out| {
            let (head, t) = x.split_at(2 * n + p + k);
            model.force(t[0], &head[..n], &head[n..2 * n], &head[2 * n + p..], &head[2 * n..2 * n + p], out);
        });
        let keep = |rows: &[Row], limit: usize| -> Vec<Vec<usize>> {
            rows.iter().map(|row| row.depends.iter().copied().filter(|&i| i < limit).collect()).collect()
        };
        let force = keep(&force_rows, 2 * n + p + k);
        let mut curved_motion: Vec<usize> = union(&force_rows, |r| &r.nonlinear);
        curved_motion.retain(|&i| i < 2 * n + p + k);
        curved_motion.extend(inertia.iter().flatten());
        curved_motion.sort_unstable();
        curved_motion.dedup();

        let constant_u: Vec<Tracer> = u.iter().map(|&x| Tracer::from(x)).collect();
        let force_in_state = trace(&join(&[&q, &v, &w, &[0.37]]), n, &|x, out| {
            model.force(x[2 * n + k], &x[..n], &x[n..2 * n], &x[2 * n..2 * n + k], &constant_u, out);
        });
        let in_space_and_time = trace(&join(&[&q, &[0.37]]), m, &|x, out| {
            model.constraint(x[n], &x[..n], &constant_u, out);
        });
        let in_all = trace(&join(&[&q, &[0.37], &u]), m, &|x, out| {
            model.constraint(x[n], &x[..n], &x[n + 1..], out);
        });
        let coordinates = |mut list: Vec<usize>| {
            list.retain(|&i| i < n);
            list
        };
        let constraint = in_all
            .iter()
            .enumerate()
            .flat_map(|(row, r)| r.depends.iter().filter(|&&i| i < n).map(move |&i| (row, i)))
            .collect();

        let output_variables = join(&[&q, &v, &probe(n, 4.0), &probe(n, 5.0), &probe(m, 6.0), &u]);
        // time may scale an output: then its derivatives are not constant
        let output_rows = trace(&join(&[&output_variables, &w, &[0.37]]), outputs, &|x, out| {
            let (x, tail) = x.split_at(4 * n + m + p);
            let state = State { w: &tail[..k], ..state_of(x, n, m) };
            model.output(tail[k], &state, &x[4 * n + m..], out);
        });

        let initial = trace(&u, 2 * n, &|x, out| {
            let (q, v) = out.split_at_mut(n);
            model.initial(x, q, v);
        });

        let state_variables = 4 * n + m + p;
        let used_parameters: Vec<usize> = [
            inertia.iter().flatten().filter(|&&i| i >= 2 * n).map(|i| i - 2 * n).collect::<Vec<_>>(),
            union(&force_rows, |r| &r.depends)
                .into_iter()
                .filter(|i| (2 * n..2 * n + p).contains(i))
                .map(|i| i - 2 * n)
                .collect(),
            union(&in_all, |r| &r.depends).into_iter().filter(|&i| i > n).map(|i| i - n - 1).collect(),
            union(&output_rows, |r| &r.depends)
                .into_iter()
                .filter(|i| (4 * n + m..state_variables).contains(i))
                .map(|i| i - 4 * n - m)
                .collect(),
            union(&initial, |r| &r.depends),
        ]
        .concat();
        let used_inputs: Vec<usize> = [
            union(&force_rows, |r| &r.depends)
                .into_iter()
                .filter(|i| (2 * n + p..2 * n + p + k).contains(i))
                .map(|i| i - 2 * n - p)
                .collect::<Vec<_>>(),
            union(&output_rows, |r| &r.depends)
                .into_iter()
                .filter(|i| (state_variables..state_variables + k).contains(i))
                .map(|i| i - state_variables)
                .collect(),
        ]
        .concat();
        let mut remarks = Vec::new();
        for (_, parameter) in signature.parameters.iter().enumerate().filter(|(i, _)| !used_parameters.contains(i)) {
            remarks.push(format!("nothing depends on parameter `{}`", parameter.name));
        }
        for (_, input) in signature.inputs.iter().enumerate().filter(|(i, _)| !used_inputs.contains(i)) {
            remarks.push(format!("nothing depends on input `{}`", input.name));
        }
        for (_, output) in signature.outputs.iter().enumerate().filter(|(i, _)| output_rows[*i].zero) {
            remarks.push(format!("output `{}` is always zero", output.name));
        }
        let output_is_linear = output_rows.iter().all(|r| r.nonlinear.iter().all(|&i| i >= state_variables + k));
        Structure {
            has_force: force_rows.iter().any(|row| !row.zero),
            constant_force: force_rows
                .iter()
                .all(|row| row.depends.iter().all(|i| (2 * n..2 * n + p).contains(i)) && !row.looked),
            linear_motion: inertia.iter().flatten().all(|&i| i >= n)
                && force_in_state.iter().all(|row| row.nonlinear.iter().all(|&i| i >= 2 * n)),
            curved_motion,
            mass_by_position: inertia.iter().flatten().any(|&i| i < n),
            mass_by_parameter: inertia.iter().flatten().any(|&i| i >= 2 * n),
            mass,
            inertia,
            force,
            curved_coordinates: coordinates(union(&in_space_and_time, |r| &r.nonlinear)),
            curved_or_parametric: coordinates(union(&in_all, |r| &r.nonlinear)),
            constraint_parameters: union(&in_all, |r| &r.depends)
                .iter()
                .filter(|&&i| i > n)
                .map(|i| i - n - 1)
                .collect(),
            constraint,
            output: keep(&output_rows, state_variables + k),
            output_is_linear,
            initial_parameters: union(&initial, |r| &r.depends),
            remarks,
        }
    }
}

impl Structure {
    /// Takes the inputs for given: nothing is differentiated by them.
    pub(crate) fn forget_inputs(&mut self, Sizes { n, m, p, .. }: Sizes) {
        self.force.iter_mut().chain([&mut self.curved_motion]).for_each(|list| list.retain(|&i| i < 2 * n + p));
        self.output.iter_mut().for_each(|row| row.retain(|&i| i < 4 * n + m + p));
    }

    /// Takes the parameters at these places for constants: nothing is differentiated by them.
    pub(crate) fn forget_parameters(&mut self, n: usize, m: usize, is_constant: &[bool]) {
        let kept = |first: usize, i: usize| i < first || !is_constant.get(i - first).is_some_and(|c| *c);
        self.inertia.iter_mut().chain(&mut self.force).for_each(|row| row.retain(|&i| kept(2 * n, i)));
        self.curved_motion.retain(|&i| kept(2 * n, i));
        self.constraint_parameters.retain(|&k| kept(0, k));
        self.output.iter_mut().for_each(|row| row.retain(|&i| kept(4 * n + m, i)));
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
    let mut taken: Vec<Vec<usize>> = vec![Vec::new(); rows.len()]; // groups present in each row
    let mut group_of = vec![None; variables];
    let mut count = 0;
    for variable in order {
        let free = |group: &usize| rows_of[variable].iter().all(|&row| !taken[row].contains(group));
        let group = (0..count).find(free).unwrap_or(count);
        count = count.max(group + 1);
        rows_of[variable].iter().for_each(|&row| taken[row].push(group));
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
