//! A model's functions as functions of parameters, written down as they are evaluated.

use crate::linearise::functions::{ConstraintOn, Functions, InitialOn, MotionOn, OutputOn};
use crate::linearise::kernel::Sizes;
use crate::linearise::structure::{Structure, state_of};
use crate::model::{Matrix, State};
use crate::number::{Sweep, Taped, Var};
use crate::system::StatePart;

/// Numbers of which some are variables.
pub(super) struct Numbers<T>(Vec<Var<T>>);

impl<T: Taped> Numbers<T> {
    pub(super) fn new(count: usize) -> Self {
        Numbers(vec![Var::constant(T::zero()); count])
    }

    pub(super) fn set(&mut self, value: impl Fn(usize) -> T) {
        self.0.iter_mut().enumerate().for_each(|(i, number)| *number = Var::constant(value(i)));
    }

    /// Makes one of them variable `k`.
    pub(super) fn vary(&mut self, k: usize, place: usize) {
        self.0[place] = Sweep::variable(k, self.0[place].re);
    }

    /// Makes variables of all of them, with the numbers that come next.
    fn vary_all(&mut self, variables: &mut impl Iterator<Item = usize>) {
        self.0.iter_mut().zip(variables).for_each(|(number, k)| *number = Sweep::variable(k, number.re));
    }
}

/// M a - Q as a function of parameters, and of positions, velocities and inputs, which follow them, if it is to be.
pub(super) struct Motion<T> {
    sweep: Sweep<T>,
    parameters: Vec<usize>,
    pub(super) by_state: bool,
    force_varies: bool,
    pub(super) mass_by_position: bool,
    /// Entries of M, if it depends on parameters.
    pub(super) mass_entries: Vec<(usize, usize)>,
    q: Numbers<T>,
    v: Numbers<T>,
    w: Numbers<T>,
    u: Numbers<T>,
    pub(super) force: Vec<Var<T>>,
    pub(super) mass: Matrix<Var<T>>,
}

impl<T: Taped> Motion<T>
where
    for<'a> dyn Functions + 'a: MotionOn<Var<T>>,
{
    pub(super) fn new(structure: &Structure, Sizes { n, p, inputs, .. }: Sizes, is_single: bool) -> Self {
        let is_parameter = |i: &&usize| (2 * n..2 * n + p).contains(*i);
        let rows = structure.force.iter().chain(&structure.inertia).flatten();
        let mut parameters: Vec<usize> = rows.filter(is_parameter).map(|i| i - 2 * n).collect();
        parameters.sort_unstable();
        parameters.dedup();
        let force_varies = structure.force.iter().flatten().any(|i| is_parameter(&i));
        // with a force that does not vary there is nothing to be won
        let by_state = is_single && force_varies;
        let mass_size = if structure.mass_by_parameter { n } else { 0 };
        Motion {
            sweep: Sweep::new(if by_state { p + 2 * n + inputs } else { p }),
            parameters,
            by_state,
            force_varies,
            mass_by_position: structure.mass_by_position,
            mass_entries: if structure.mass_by_parameter { structure.mass.clone() } else { Vec::new() },
            q: Numbers::new(n),
            v: Numbers::new(n),
            w: Numbers::new(inputs),
            u: Numbers::new(p),
            force: vec![Var::constant(T::zero()); n],
            mass: Matrix::filled(mass_size, mass_size, Var::constant(T::zero())),
        }
    }

    /// Takes parameters, until others are given.
    pub(super) fn set_parameters(&mut self, number: impl Fn(usize) -> T) {
        self.u.set(number);
        self.parameters.iter().for_each(|&k| self.u.vary(k, k));
    }

    /// Q (if it acts) and M at a state that `number` gives entry by entry.
    pub(super) fn evaluate(
        &mut self,
        model: &dyn Functions,
        t: f64,
        forces: bool,
        number: impl Fn(StatePart, usize) -> T,
    ) {
        self.sweep.begin();
        self.q.set(|j| number(StatePart::Position, j));
        self.force.fill(Var::constant(T::zero()));
        if forces && self.force_varies {
            self.v.set(|j| number(StatePart::Velocity, j));
            self.w.set(|k| number(StatePart::Input, k));
            if self.by_state {
                let mut variable = self.u.0.len()..;
                [&mut self.q, &mut self.v, &mut self.w].into_iter().for_each(|part| part.vary_all(&mut variable));
            }
            let (q, v, w, u) = (&self.q.0, &self.v.0, &self.w.0, &self.u.0);
            model.force(Var::from(t), q, v, w, u, &mut self.force);
        }
        if !self.mass_entries.is_empty() {
            self.mass.fill(Var::constant(T::zero()));
            model.mass(&self.q.0, &self.u.0, &mut self.mass);
        }
    }

    /// The derivatives of dᵀ (M a - Q) by all parameters, and what follows them, after an evaluation.
    pub(super) fn derivatives(&mut self, d: &[f64], a: impl Fn(usize) -> T) -> &[T] {
        self.sweep.end();
        for (force, d) in self.force.iter().zip(d) {
            self.sweep.add(T::from(-d), force);
        }
        for &(row, column) in &self.mass_entries {
            self.sweep.add(a(column) * d[row], &self.mass[(row, column)]);
        }
        self.sweep.derivatives()
    }
}

impl Motion<f64> {
    /// The derivatives that were found last.
    pub(super) fn last(&self) -> &[f64] {
        self.sweep.last()
    }
}

/// C as a function of some variables: coordinates, then `n +` parameters.
pub(super) struct Rows<T> {
    sweep: Sweep<T>,
    variables: Vec<usize>,
    q: Numbers<T>,
    u: Numbers<T>,
    pub(super) c: Vec<Var<T>>,
}

impl<T: Taped> Rows<T>
where
    for<'a> dyn Functions + 'a: ConstraintOn<Var<T>>,
{
    pub(super) fn new(variables: Vec<usize>, Sizes { n, m, p, .. }: Sizes) -> Self {
        Rows {
            sweep: Sweep::new(variables.len()),
            variables,
            q: Numbers::new(n),
            u: Numbers::new(p),
            c: vec![Var::constant(T::zero()); m],
        }
    }

    /// The derivatives of the sum of all rows, each times its factor, with the numbers of their variables.
    pub(super) fn derivatives(
        &mut self,
        model: &dyn Functions,
        t: T,
        q: impl Fn(usize) -> T,
        u: impl Fn(usize) -> T,
        factor: impl Fn(usize) -> T,
    ) -> impl Iterator<Item = (usize, T)> {
        self.sweep.begin();
        self.q.set(q);
        self.u.set(u);
        let n = self.q.0.len();
        for (k, &variable) in self.variables.iter().enumerate() {
            match variable.checked_sub(n) {
                None => self.q.vary(k, variable),
                Some(parameter) => self.u.vary(k, parameter),
            }
        }
        self.c.fill(Var::constant(T::zero()));
        model.constraint(Var::constant(t), &self.q.0, &self.u.0, &mut self.c);
        self.sweep.end();
        self.c.iter().enumerate().for_each(|(row, c)| self.sweep.add(factor(row), c));
        self.variables.iter().copied().zip(self.sweep.derivatives().iter().copied())
    }
}

/// Outputs as functions of parameters.
pub(super) struct Outputs<T> {
    sweep: Sweep<T>,
    parameters: Vec<usize>,
    /// q, v, a, a_scheme, λ, u, w
    x: Numbers<T>,
    pub(super) y: Vec<Var<T>>,
}

impl<T: Taped> Outputs<T>
where
    for<'a> dyn Functions + 'a: OutputOn<Var<T>>,
{
    pub(super) fn new(structure: &Structure, sizes: Sizes) -> Self {
        Outputs {
            sweep: Sweep::new(sizes.p),
            parameters: structure.output_parameters(sizes),
            x: Numbers::new(sizes.output_variables()),
            y: vec![Var::constant(T::zero()); sizes.outputs],
        }
    }

    pub(super) fn evaluate(
        &mut self,
        model: &dyn Functions,
        sizes: Sizes,
        t: f64,
        number: impl Fn(StatePart, usize) -> T,
    ) {
        let Sizes { n, m, p, .. } = sizes;
        self.sweep.begin();
        self.x.set(|i| {
            let (part, i) = sizes.output_variable(i);
            number(part, i)
        });
        let first = 4 * n + m;
        self.parameters.iter().for_each(|&k| self.x.vary(k, first + k));
        self.y.fill(Var::constant(T::zero()));
        let (u, w) = self.x.0[first..].split_at(p);
        model.output(Var::from(t), &State { w, ..state_of(&self.x.0, n, m) }, u, &mut self.y);
    }

    /// The derivatives of a sum of all outputs, each times its factor, by all parameters.
    pub(super) fn derivatives(&mut self, factors: &[f64]) -> &[T] {
        self.sweep.end();
        self.y.iter().zip(factors).for_each(|(y, factor)| self.sweep.add(T::from(*factor), y));
        self.sweep.derivatives()
    }
}

/// Hands the derivatives of q̄ᵀ q0 + v̄ᵀ v0 by parameters, counted in their list, to `take`.
pub(crate) fn initial<T: Taped>(
    model: &dyn Functions,
    (parameters, p): (&[usize], usize),
    value: impl Fn(usize) -> T,
    (q_bar, v_bar): (&[f64], &[f64]),
    take: impl FnMut(usize, T),
) where
    for<'a> dyn Functions + 'a: InitialOn<Var<T>>,
{
    let mut sweep = Sweep::new(parameters.len());
    let zeros = vec![Var::constant(T::zero()); q_bar.len()];
    let (mut q, mut v, mut take) = (zeros.clone(), zeros, take);
    sweep.begin();
    let mut u: Numbers<T> = Numbers::new(p);
    u.set(value);
    parameters.iter().enumerate().for_each(|(k, &place)| u.vary(k, place));
    model.initial(&u.0, &mut q, &mut v);
    sweep.end();
    let all = q.iter().zip(q_bar).chain(v.iter().zip(v_bar));
    all.for_each(|(number, bar)| sweep.add(T::from(*bar), number));
    sweep.derivatives().iter().enumerate().for_each(|(k, slope)| take(k, *slope));
}
