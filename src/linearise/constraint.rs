//! Constraints with first and second derivatives from nested [`Jet`]s, and their time derivatives.

use super::entries::motion_entry;
use super::kernel::{Sizes, of_width};
use crate::model::Model;
use crate::number::{Jet, Number};
use crate::system::{Level, Point, StateVector};

/// Evaluates C with derivatives along one coordinate and, inside, along a list of variables (coordinates, then `n +`
/// parameters).
pub(crate) trait ConstraintKernel<M> {
    fn set_parameters(&mut self, u: &[f64]);
    fn set_point(&mut self, t: f64, q: &[f64]);
    /// Seeds coordinate `outer` (if any) and the variables of pass `pass`; returns their number.
    fn evaluate(&mut self, model: &M, outer: Option<usize>, pass: usize) -> usize;
    /// Passes over the inner variables.
    fn passes(&self) -> usize;
    /// Inner variable `lane` of `pass`, and its place in the list.
    fn variable(&self, pass: usize, lane: usize) -> usize;
    fn place(&self, pass: usize, lane: usize) -> usize;
    /// C of `row`.
    fn value(&self, row: usize) -> f64;
    /// dC/d(outer) of `row`.
    fn first(&self, row: usize) -> f64;
    /// dC/d(inner) of `row`.
    fn inner(&self, row: usize, lane: usize) -> f64;
    /// d²C/d(outer)d(inner) of `row`.
    fn second(&self, row: usize, lane: usize) -> f64;
}

/// The coordinate `outer` of every evaluation must be one of `variables`, if there are any.
pub(crate) fn constraint_kernel<M: Model>(sizes: Sizes, variables: Vec<usize>) -> Box<dyn ConstraintKernel<M>> {
    match variables.len() {
        2 => Box::new(SquareConstraints::<2>::new(sizes, variables)),
        3 => Box::new(SquareConstraints::<3>::new(sizes, variables)),
        4 => Box::new(SquareConstraints::<4>::new(sizes, variables)),
        count => of_width!(count.max(1), JetConstraints, (sizes, variables)),
    }
}

/// Places of variables among coordinates and parameters.
fn seeded<'a, T>(q: &'a mut [T], u: &'a mut [T], variable: usize) -> &'a mut T {
    let n = q.len();
    if variable < n { &mut q[variable] } else { &mut u[variable - n] }
}

type Nested<const W: usize> = Jet<Jet<f64, W>, 1>;

/// One coordinate after another.
struct JetConstraints<const W: usize> {
    variables: Vec<usize>,
    t: f64,
    q: Vec<Nested<W>>,
    u: Vec<Nested<W>>,
    c: Vec<Nested<W>>,
}

impl<const W: usize> JetConstraints<W> {
    fn new(sizes: Sizes, variables: Vec<usize>) -> Self {
        let zeros = |count| vec![Nested::<W>::from(0.0); count];
        JetConstraints { variables, t: 0.0, q: zeros(sizes.n), u: zeros(sizes.p), c: zeros(sizes.m) }
    }
}

impl<M: Model, const W: usize> ConstraintKernel<M> for JetConstraints<W> {
    fn set_parameters(&mut self, u: &[f64]) {
        self.u.iter_mut().zip(u).for_each(|(jet, value)| *jet = Nested::from(*value));
    }

    fn set_point(&mut self, t: f64, q: &[f64]) {
        self.t = t;
        self.q.iter_mut().zip(q).for_each(|(jet, value)| *jet = Nested::from(*value));
    }

    fn evaluate(&mut self, model: &M, outer: Option<usize>, pass: usize) -> usize {
        let lanes = &self.variables[self.variables.len().min(pass * W)..self.variables.len().min((pass + 1) * W)];
        if let Some(j) = outer {
            self.q[j].eps[0].re = 1.0;
        }
        for (lane, &i) in lanes.iter().enumerate() {
            seeded(&mut self.q, &mut self.u, i).re.eps[lane] = 1.0;
        }
        self.c.fill(Nested::from(0.0));
        model.constraint(Nested::from(self.t), &self.q, &self.u, &mut self.c);
        if let Some(j) = outer {
            self.q[j].eps[0].re = 0.0;
        }
        for (lane, &i) in lanes.iter().enumerate() {
            seeded(&mut self.q, &mut self.u, i).re.eps[lane] = 0.0;
        }
        lanes.len()
    }

    fn passes(&self) -> usize {
        self.variables.len().div_ceil(W).max(1)
    }

    fn variable(&self, pass: usize, lane: usize) -> usize {
        self.variables[pass * W + lane]
    }

    fn place(&self, pass: usize, lane: usize) -> usize {
        pass * W + lane
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

type Square<const W: usize> = Jet<Jet<f64, W>, W>;

/// All pairs of few variables in one evaluation.
struct SquareConstraints<const W: usize> {
    variables: Vec<usize>,
    t: f64,
    q: Vec<Square<W>>,
    u: Vec<Square<W>>,
    c: Vec<Square<W>>,
    evaluated: bool,
    /// Lane of the coordinate asked for last.
    outer: usize,
}

impl<const W: usize> SquareConstraints<W> {
    fn new(sizes: Sizes, variables: Vec<usize>) -> Self {
        let zeros = |count| vec![Square::<W>::from(0.0); count];
        let (mut q, mut u) = (zeros(sizes.n), zeros(sizes.p));
        for (lane, &i) in variables.iter().enumerate() {
            let jet = seeded(&mut q, &mut u, i);
            jet.re.eps[lane] = 1.0;
            jet.eps[lane].re = 1.0;
        }
        SquareConstraints { variables, t: 0.0, q, u, c: zeros(sizes.m), evaluated: false, outer: 0 }
    }
}

impl<M: Model, const W: usize> ConstraintKernel<M> for SquareConstraints<W> {
    #[inline]
    fn set_parameters(&mut self, u: &[f64]) {
        self.u.iter_mut().zip(u).for_each(|(jet, value)| jet.re.re = *value);
        self.evaluated = false;
    }

    #[inline]
    fn set_point(&mut self, t: f64, q: &[f64]) {
        self.t = t;
        self.q.iter_mut().zip(q).for_each(|(jet, value)| jet.re.re = *value);
        self.evaluated = false;
    }

    fn evaluate(&mut self, model: &M, outer: Option<usize>, _pass: usize) -> usize {
        if !self.evaluated {
            self.c.fill(Square::from(0.0));
            model.constraint(Square::from(self.t), &self.q, &self.u, &mut self.c);
            self.evaluated = true;
        }
        if let Some(lane) = outer.and_then(|j| self.variables.iter().position(|&i| i == j)) {
            self.outer = lane;
        }
        W
    }

    fn passes(&self) -> usize {
        1
    }

    fn variable(&self, _pass: usize, lane: usize) -> usize {
        self.variables[lane]
    }

    fn place(&self, _pass: usize, lane: usize) -> usize {
        lane
    }

    fn value(&self, row: usize) -> f64 {
        self.c[row].re.re
    }

    fn first(&self, row: usize) -> f64 {
        self.c[row].eps[self.outer].re
    }

    fn inner(&self, row: usize, lane: usize) -> f64 {
        self.c[row].re.eps[lane]
    }

    fn second(&self, row: usize, lane: usize) -> f64 {
        self.c[row].eps[self.outer].eps[lane]
    }
}

/// Evaluates C with its first derivatives by a list of coordinates.
pub(crate) trait JacobianKernel<M> {
    fn set_parameters(&mut self, u: &[f64]);
    /// Puts C into `value` and hands (row, place in the list, derivative) to `take`.
    fn evaluate(&mut self, model: &M, t: f64, q: &[f64], value: &mut [f64], take: &mut dyn FnMut(usize, usize, f64));
}

struct JetJacobian<const W: usize> {
    coordinates: Vec<usize>,
    q: Vec<Jet<f64, W>>,
    u: Vec<Jet<f64, W>>,
    c: Vec<Jet<f64, W>>,
}

pub(crate) fn jacobian_kernel<M: Model>(sizes: Sizes, coordinates: Vec<usize>) -> Box<dyn JacobianKernel<M>> {
    of_width!(coordinates.len().max(1), JetJacobian, (sizes, coordinates))
}

impl<const W: usize> JetJacobian<W> {
    fn new(sizes: Sizes, coordinates: Vec<usize>) -> Self {
        let zeros = |count| vec![Jet { re: 0.0, eps: [0.0; W] }; count];
        JetJacobian { coordinates, q: zeros(sizes.n), u: zeros(sizes.p), c: zeros(sizes.m) }
    }
}

impl<M: Model, const W: usize> JacobianKernel<M> for JetJacobian<W> {
    #[inline]
    fn set_parameters(&mut self, u: &[f64]) {
        self.u.iter_mut().zip(u).for_each(|(jet, value)| jet.re = *value);
    }

    fn evaluate(&mut self, model: &M, t: f64, q: &[f64], value: &mut [f64], take: &mut dyn FnMut(usize, usize, f64)) {
        self.q.iter_mut().zip(q).for_each(|(jet, value)| jet.re = *value);
        for (pass, lanes) in self.coordinates.chunks(W).enumerate() {
            lanes.iter().enumerate().for_each(|(lane, &j)| self.q[j].eps[lane] = 1.0);
            self.c.fill(Jet { re: 0.0, eps: [0.0; W] });
            model.constraint(Jet { re: t, eps: [0.0; W] }, &self.q, &self.u, &mut self.c);
            lanes.iter().for_each(|&j| self.q[j].eps = [0.0; W]);
            for (row, c) in self.c.iter().enumerate() {
                value[row] = c.re;
                c.eps[..lanes.len()].iter().enumerate().for_each(|(lane, slope)| take(row, pass * W + lane, *slope));
            }
        }
    }
}

/// The motion's Taylor expansion: outer and inner direction are time; `a` enters where both meet.
fn along_motion<T: Number>(q: T, v: T, a: T) -> Jet<Jet<T, 1>, 1> {
    Jet { re: Jet { re: q, eps: [v] }, eps: [Jet { re: v, eps: [a] }] }
}

/// Evaluates a time derivative of C along q + v s + a s²/2 at s = 0, on any number. Allocates: it serves the start of a
/// simulation, not its loop.
fn time_derivative<M: Model, T: Number>(
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

/// q, v, a, u along a tangent.
fn directed(x: &Point<'_>, u: &[f64], tangent: &StateVector) -> [Vec<Jet<f64, 1>>; 4] {
    let parts = [(x.q, &tangent.q), (x.v, &tangent.v), (x.a, &tangent.a), (u, &tangent.u)];
    parts.map(|(values, tangents)| values.iter().zip(tangents).map(|(&re, &t)| Jet { re, eps: [t] }).collect())
}

/// A time derivative of C.
pub(crate) fn level<M: Model>(model: &M, level: Level, x: &Point<'_>, u: &[f64], value: &mut [f64]) {
    let derivative = time_derivative(model, level, x.t, [x.q, x.v, x.a, u], value.len());
    value.copy_from_slice(&derivative);
}

/// Adds its derivative applied to a tangent (q, v, a, u).
pub(crate) fn level_push_forward<M: Model>(
    model: &M,
    level: Level,
    x: &Point<'_>,
    u: &[f64],
    tangent: &StateVector,
    c: &mut [f64],
) {
    let [q, v, a, u] = directed(x, u, tangent);
    let derivative = time_derivative(model, level, x.t, [&q, &v, &a, &u], c.len());
    c.iter_mut().zip(derivative).for_each(|(c, jet)| *c += jet.eps[0]);
}

/// Adds `scale` times its transposed derivative applied to `c`.
pub(crate) fn level_pull_back<M: Model>(
    model: &M,
    level: Level,
    x: &Point<'_>,
    u: &[f64],
    scale: f64,
    c: &[f64],
    cotangent: &mut StateVector,
) {
    let zeros = StateVector { q: vec![0.0; x.q.len()], v: vec![0.0; x.v.len()], ..StateVector::default() };
    let mut parts = directed(x, u, &StateVector { a: vec![0.0; x.a.len()], u: vec![0.0; u.len()], ..zeros });
    for part in 0..4 {
        for i in 0..parts[part].len() {
            parts[part][i].eps[0] = 1.0;
            let [q, v, a, u] = &parts;
            let derivative = time_derivative(model, level, x.t, [q, v, a, u], c.len());
            parts[part][i].eps[0] = 0.0;
            let slope: f64 = derivative.iter().zip(c).map(|(d, c)| d.eps[0] * c).sum();
            *motion_entry(cotangent, part, i) += scale * slope;
        }
    }
}

/// Adds `scale` times the derivative of that along `tangent`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn level_curvature<M: Model>(
    model: &M,
    level: Level,
    x: &Point<'_>,
    u: &[f64],
    scale: f64,
    c: &[f64],
    tangent: &StateVector,
    cotangent: &mut StateVector,
) {
    let mut parts = directed(x, u, tangent).map(|part| part.into_iter().map(Jet::constant).collect::<Vec<_>>());
    for part in 0..4 {
        for i in 0..parts[part].len() {
            parts[part][i].eps[0].re = 1.0;
            let [q, v, a, u] = &parts;
            let derivative: Vec<Jet<Jet<f64, 1>, 1>> = time_derivative(model, level, x.t, [q, v, a, u], c.len());
            parts[part][i].eps[0].re = 0.0;
            let slope: f64 = derivative.iter().zip(c).map(|(jet, c)| c * jet.eps[0].eps[0]).sum();
            *motion_entry(cotangent, part, i) += scale * slope;
        }
    }
}
