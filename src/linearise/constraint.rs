//! Constraints with first and second derivatives from one evaluation on nested [`Jet`]s, and their time derivatives.

use super::kernel::{Sizes, of_width};
use crate::model::Model;
use crate::number::{Jet, Number};
use crate::system::Level;

/// Evaluates C along one coordinate and, inside, along a list of variables (coordinates, then `n +` parameters).
pub(crate) trait ConstraintKernel {
    fn set_parameters(&mut self, u: &[f64]);
    fn set_point(&mut self, t: f64, q: &[f64]);
    /// Seeds coordinate `outer` (if any) and the variables of pass `pass`; returns their number.
    fn evaluate(&mut self, outer: Option<usize>, pass: usize) -> usize;
    /// Passes over the inner variables.
    fn passes(&self) -> usize;
    /// Inner variable `lane` of `pass`.
    fn variable(&self, pass: usize, lane: usize) -> usize;
    /// C of `row`.
    fn value(&self, row: usize) -> f64;
    /// dC/d(outer) of `row`.
    fn first(&self, row: usize) -> f64;
    /// dC/d(inner) of `row`.
    fn inner(&self, row: usize, lane: usize) -> f64;
    /// d²C/d(outer)d(inner) of `row`.
    fn second(&self, row: usize, lane: usize) -> f64;
}

type Nested<const W: usize> = Jet<Jet<f64, W>, 1>;

struct JetConstraints<'m, M, const W: usize> {
    model: &'m M,
    variables: Vec<usize>,
    t: f64,
    q: Vec<Nested<W>>,
    u: Vec<Nested<W>>,
    c: Vec<Nested<W>>,
}

pub(crate) fn constraint_kernel<'m, M: Model>(
    model: &'m M,
    sizes: Sizes,
    variables: Vec<usize>,
) -> Box<dyn ConstraintKernel + 'm> {
    of_width!(variables.len().max(1), JetConstraints, (model, sizes, variables))
}

impl<'m, M: Model, const W: usize> JetConstraints<'m, M, W> {
    fn new(model: &'m M, sizes: Sizes, variables: Vec<usize>) -> Self {
        let zeros = |count| vec![Nested::<W>::from(0.0); count];
        JetConstraints { model, variables, t: 0.0, q: zeros(sizes.n), u: zeros(sizes.p), c: zeros(sizes.m) }
    }
}

impl<M: Model, const W: usize> ConstraintKernel for JetConstraints<'_, M, W> {
    fn set_parameters(&mut self, u: &[f64]) {
        self.u.iter_mut().zip(u).for_each(|(jet, value)| *jet = Nested::from(*value));
    }

    fn set_point(&mut self, t: f64, q: &[f64]) {
        self.t = t;
        self.q.iter_mut().zip(q).for_each(|(jet, value)| *jet = Nested::from(*value));
    }

    fn evaluate(&mut self, outer: Option<usize>, pass: usize) -> usize {
        let n = self.q.len();
        let lanes = &self.variables[self.variables.len().min(pass * W)..self.variables.len().min((pass + 1) * W)];
        if let Some(j) = outer {
            self.q[j].eps[0].re = 1.0;
        }
        for (lane, &i) in lanes.iter().enumerate() {
            let jet = if i < n { &mut self.q[i] } else { &mut self.u[i - n] };
            jet.re.eps[lane] = 1.0;
        }
        self.c.fill(Nested::from(0.0));
        self.model.constraint(Nested::from(self.t), &self.q, &self.u, &mut self.c);
        if let Some(j) = outer {
            self.q[j].eps[0].re = 0.0;
        }
        for (lane, &i) in lanes.iter().enumerate() {
            let jet = if i < n { &mut self.q[i] } else { &mut self.u[i - n] };
            jet.re.eps[lane] = 0.0;
        }
        lanes.len()
    }

    fn passes(&self) -> usize {
        self.variables.len().div_ceil(W).max(1)
    }

    fn variable(&self, pass: usize, lane: usize) -> usize {
        self.variables[pass * W + lane]
    }

    fn value(&self, row: usize) -> f64 {
        self.c[row].re.re
    }

    fn first(&self, row: usize) -> f64 {
        self.c[row].eps[0].re
    }

    fn inner(&self, row: usize, lane: usize) -> f64 {
        self.c[row].re.eps[lane]
    }

    fn second(&self, row: usize, lane: usize) -> f64 {
        self.c[row].eps[0].eps[lane]
    }
}

/// The motion's Taylor expansion: outer and inner direction are time; `a` enters where both meet.
fn along_motion<T: Number>(q: T, v: T, a: T) -> Jet<Jet<T, 1>, 1> {
    Jet { re: Jet { re: q, eps: [v] }, eps: [Jet { re: v, eps: [a] }] }
}

/// Evaluates a time derivative of C along q + v s + a s²/2 at s = 0, on any number. Allocates: it serves the start of a
/// simulation, not its loop.
pub(crate) fn time_derivative<M: Model, T: Number>(
    model: &M,
    level: Level,
    t: f64,
    [q, v, a, u]: [&[T]; 4],
    rows: usize,
) -> Vec<T> {
    let time = Jet { re: Jet { re: T::from(t), eps: [T::from(1.0)] }, eps: [Jet::from(1.0)] };
    let q: Vec<Jet<Jet<T, 1>, 1>> = (0..q.len()).map(|j| along_motion(q[j], v[j], a[j])).collect();
    let u: Vec<Jet<Jet<T, 1>, 1>> = u.iter().map(|&u| Jet::constant(Jet::constant(u))).collect();
    let mut c = vec![Jet::from(0.0); rows];
    model.constraint(time, &q, &u, &mut c);
    c.iter()
        .map(|c: &Jet<Jet<T, 1>, 1>| match level {
            Level::Position => c.re.re,
            Level::Velocity => c.re.eps[0],
            Level::Acceleration => c.eps[0].eps[0],
        })
        .collect()
}
