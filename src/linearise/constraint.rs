//! Constraints with first and second derivatives from nested [`Jet`]s or [`SecondOrder`] numbers, and their time derivatives.

use super::entries::motion_entry;
use super::kernel::Sizes;
use crate::model::Model;
use crate::number::{Derivatives, Jet, LANES, Number, SecondOrder};
use crate::system::{Level, Point, StateVector};

/// Where C is differentiated.
#[derive(Clone, Copy)]
pub(crate) struct ConstraintPoint<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub u: &'a [f64],
}

/// C with its first derivatives by a list of coordinates.
pub(crate) trait JacobianKernel<M> {
    /// C into `value`, and its derivatives into `slopes`, rows x list.
    fn evaluate(&mut self, model: &M, x: ConstraintPoint<'_>, value: &mut [f64], slopes: &mut [f64]);
}

/// C with first and second derivatives by a list of variables (coordinates, then `n +` parameters).
pub(crate) trait CurvatureKernel<M> {
    /// C into `value`, its derivatives into `slopes`, rows x list, and λᵀ d²C into `curvature`, coordinates of the list x list.
    fn evaluate(
        &mut self,
        model: &M,
        x: ConstraintPoint<'_>,
        lambda: &[f64],
        value: &mut [f64],
        slopes: &mut [f64],
        curvature: &mut [f64],
    );
}

pub(crate) fn jacobian_kernel<M: Model>(sizes: Sizes, coordinates: Vec<usize>) -> Box<dyn JacobianKernel<M>> {
    match coordinates.len() {
        0..=1 => Box::new(JetJacobian::<1>::new(sizes, coordinates)),
        2 => Box::new(JetJacobian::<2>::new(sizes, coordinates)),
        3..=4 => Box::new(JetJacobian::<4>::new(sizes, coordinates)),
        _ => Box::new(JetJacobian::<8>::new(sizes, coordinates)),
    }
}

/// For a list that is not empty.
pub(crate) fn curvature_kernel<M: Model>(sizes: Sizes, variables: Vec<usize>) -> Box<dyn CurvatureKernel<M>> {
    match variables.len() {
        0..=1 => Box::new(AllPairs::<1>::new(sizes, variables)),
        2 => Box::new(AllPairs::<2>::new(sizes, variables)),
        3 => Box::new(AllPairs::<3>::new(sizes, variables)),
        4 => Box::new(AllPairs::<4>::new(sizes, variables)),
        // three of each of two bodies
        5..=6 => Box::new(InGroups::new(sizes, variables, 3)),
        _ => Box::new(InGroups::new(sizes, variables, LANES)),
    }
}

/// Places of variables among coordinates and parameters.
fn seeded<'a, T>(q: &'a mut [T], u: &'a mut [T], variable: usize) -> &'a mut T {
    let n = q.len();
    if variable < n { &mut q[variable] } else { &mut u[variable - n] }
}

struct JetJacobian<const W: usize> {
    coordinates: Vec<usize>,
    q: Vec<Jet<f64, W>>,
    u: Vec<Jet<f64, W>>,
    c: Vec<Jet<f64, W>>,
}

impl<const W: usize> JetJacobian<W> {
    fn new(sizes: Sizes, coordinates: Vec<usize>) -> Self {
        let zeros = |count| vec![Jet { re: 0.0, eps: [0.0; W] }; count];
        let mut q = zeros(sizes.n);
        // where one pass is enough the seeds stay in place
        coordinates.iter().take(W).enumerate().for_each(|(lane, &j)| q[j].eps[lane] = 1.0);
        JetJacobian { coordinates, q, u: zeros(sizes.p), c: zeros(sizes.m) }
    }
}

impl<M: Model, const W: usize> JacobianKernel<M> for JetJacobian<W> {
    fn evaluate(&mut self, model: &M, x: ConstraintPoint<'_>, value: &mut [f64], slopes: &mut [f64]) {
        let list = self.coordinates.len();
        self.q.iter_mut().zip(x.q).for_each(|(jet, value)| jet.re = *value);
        self.u.iter_mut().zip(x.u).for_each(|(jet, value)| jet.re = *value);
        for (pass, lanes) in self.coordinates.chunks(W).enumerate() {
            if list > W {
                self.q.iter_mut().for_each(|jet| jet.eps = [0.0; W]);
                lanes.iter().enumerate().for_each(|(lane, &j)| self.q[j].eps[lane] = 1.0);
            }
            self.c.fill(Jet { re: 0.0, eps: [0.0; W] });
            model.constraint(Jet { re: x.t, eps: [0.0; W] }, &self.q, &self.u, &mut self.c);
            for (c, slopes) in self.c.iter().zip(slopes.chunks_exact_mut(list)) {
                slopes[pass * W..pass * W + lanes.len()].copy_from_slice(&c.eps[..lanes.len()]);
            }
        }
        value.iter_mut().zip(&self.c).for_each(|(value, c)| *value = c.re);
    }
}

type Square<const W: usize> = Jet<Jet<f64, W>, W>;

/// All pairs of few variables in one evaluation.
struct AllPairs<const W: usize> {
    coordinates: usize,
    q: Vec<Square<W>>,
    u: Vec<Square<W>>,
    c: Vec<Square<W>>,
}

impl<const W: usize> AllPairs<W> {
    fn new(sizes: Sizes, variables: Vec<usize>) -> Self {
        let zeros = |count| vec![Square::<W>::from(0.0); count];
        let (mut q, mut u) = (zeros(sizes.n), zeros(sizes.p));
        for (lane, &i) in variables.iter().enumerate() {
            let jet = seeded(&mut q, &mut u, i);
            jet.re.eps[lane] = 1.0;
            jet.eps[lane].re = 1.0;
        }
        let coordinates = variables.iter().filter(|&&i| i < sizes.n).count();
        AllPairs { coordinates, q, u, c: zeros(sizes.m) }
    }
}

impl<M: Model, const W: usize> CurvatureKernel<M> for AllPairs<W> {
    fn evaluate(
        &mut self,
        model: &M,
        x: ConstraintPoint<'_>,
        lambda: &[f64],
        value: &mut [f64],
        slopes: &mut [f64],
        curvature: &mut [f64],
    ) {
        self.q.iter_mut().zip(x.q).for_each(|(jet, value)| jet.re.re = *value);
        self.u.iter_mut().zip(x.u).for_each(|(jet, value)| jet.re.re = *value);
        self.c.fill(Square::from(0.0));
        model.constraint(Square::from(x.t), &self.q, &self.u, &mut self.c);
        let mut sum = [[0.0; W]; W];
        for ((c, lambda), (value, slopes)) in
            self.c.iter().zip(lambda).zip(value.iter_mut().zip(slopes.chunks_exact_mut(W)))
        {
            *value = c.re.re;
            slopes.copy_from_slice(&c.re.eps);
            for (sum, second) in sum.iter_mut().zip(&c.eps) {
                sum.iter_mut().zip(&second.eps).for_each(|(sum, second)| *sum += lambda * second);
            }
        }
        let rows = curvature.chunks_exact_mut(W).zip(&sum).take(self.coordinates);
        rows.for_each(|(row, sum)| row.copy_from_slice(sum));
    }
}

/// Two groups of variables at a time.
struct InGroups {
    variables: Vec<usize>,
    coordinates: usize,
    /// Variables in a group; the last one may have fewer, and one beyond it is empty.
    width: usize,
    /// Pairs of groups, such that all first derivatives and all second ones by a coordinate are in one of them.
    passes: Vec<[usize; 2]>,
    q: Vec<SecondOrder>,
    u: Vec<SecondOrder>,
    c: Vec<SecondOrder>,
    derivatives: Derivatives,
}

impl InGroups {
    fn new(sizes: Sizes, variables: Vec<usize>, width: usize) -> Self {
        let zeros = |count| vec![SecondOrder::from(0.0); count];
        let coordinates = variables.iter().filter(|&&i| i < sizes.n).count();
        let groups = variables.len().div_ceil(width);
        let with_coordinates = coordinates.div_ceil(width);
        let passes = match with_coordinates {
            0 => (0..groups).step_by(2).map(|first| [first, first + 1]).collect(),
            1 if groups == 1 => vec![[0, 1]],
            _ => (0..with_coordinates).flat_map(|i| (i + 1..groups).map(move |j| [i, j])).collect(),
        };
        let (q, u, c) = (zeros(sizes.n), zeros(sizes.p), zeros(sizes.m));
        InGroups { variables, coordinates, width, passes, q, u, c, derivatives: Derivatives::default() }
    }
}

impl<M: Model> CurvatureKernel<M> for InGroups {
    fn evaluate(
        &mut self,
        model: &M,
        x: ConstraintPoint<'_>,
        lambda: &[f64],
        value: &mut [f64],
        slopes: &mut [f64],
        curvature: &mut [f64],
    ) {
        let InGroups { variables, coordinates, width, passes, q, u, c, derivatives } = self;
        let (list, coordinates, width) = (variables.len(), *coordinates, *width);
        let places = |group: usize| (group * width).min(list)..((group + 1) * width).min(list);
        for pass in passes.iter() {
            q.iter_mut().zip(x.q).for_each(|(number, value)| *number = SecondOrder::from(*value));
            u.iter_mut().zip(x.u).for_each(|(number, value)| *number = SecondOrder::from(*value));
            // λᵀ C
            let mut sum = SecondOrder::from(0.0);
            derivatives.evaluate(|| {
                for (side, &group) in pass.iter().enumerate() {
                    for (lane, &i) in variables[places(group)].iter().enumerate() {
                        let number = seeded(q, u, i);
                        *number = SecondOrder::variable(number.re, side, lane);
                    }
                }
                c.fill(SecondOrder::from(0.0));
                model.constraint(SecondOrder::from(x.t), q, u, c);
                sum = c.iter().zip(lambda).map(|(c, lambda)| *c * *lambda).sum();
            });
            let between = derivatives.between(&sum);
            for (side, &group) in pass.iter().enumerate() {
                let columns = places(group);
                for (c, slopes) in c.iter().zip(slopes.chunks_exact_mut(list)) {
                    slopes[columns.clone()].copy_from_slice(&derivatives.of(c, side).0[..columns.len()]);
                }
                let (_, within) = derivatives.of(&sum, side);
                for (row, place) in places(group).take_while(|&place| place < coordinates).enumerate() {
                    let own = &mut curvature[place * list..][..list];
                    own[columns.clone()].copy_from_slice(&within[row * LANES..][..columns.len()]);
                    for (lane, entry) in own[places(pass[1 - side])].iter_mut().enumerate() {
                        *entry = between[if side == 0 { row * LANES + lane } else { lane * LANES + row }];
                    }
                }
            }
        }
        value.iter_mut().zip(c.iter()).for_each(|(value, c)| *value = c.re);
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
