//! Constraints with first and second derivatives from nested [`Jet`]s or [`SecondOrder`] numbers, and their time derivatives.

use super::functions::{ConstraintOn, Functions, LANES, Pairs, Second};
use super::kernel::Sizes;
use super::structure::Structure;
use crate::number::{Derivatives, Jet, Number, SecondOrder};
use crate::system::{Level, Point, StateVector};
use std::collections::BTreeSet;

/// A point at which C is differentiated.
#[derive(Clone, Copy)]
pub struct ConstraintPoint<'a> {
    /// Time, s.
    pub t: f64,
    /// Coordinates.
    pub q: &'a [f64],
    /// Parameters.
    pub u: &'a [f64],
}

/// C with its first derivatives by a list of coordinates.
pub trait JacobianKernel: Send {
    /// C into `value`, and its derivatives into `slopes`, rows x list.
    fn evaluate(&mut self, model: &dyn Functions, x: ConstraintPoint<'_>, value: &mut [f64], slopes: &mut [f64]);
}

/// C with first and second derivatives by a list of variables (coordinates, then `n +` parameters).
pub trait CurvatureKernel: Send {
    /// C into `value`, its derivatives into `slopes`, rows x list, and λᵀ d²C into `curvature`, coordinates of the list x list.
    fn evaluate(
        &mut self,
        model: &dyn Functions,
        x: ConstraintPoint<'_>,
        lambda: &[f64],
        value: &mut [f64],
        slopes: &mut [f64],
        curvature: &mut [f64],
    );
}

/// The kernel for the Jacobian of C by these coordinates.
pub fn jacobian_kernel(sizes: Sizes, coordinates: Vec<usize>) -> Box<dyn JacobianKernel> {
    match coordinates.len() {
        0..=2 => Box::new(JetJacobian::<2>::new(sizes, coordinates)),
        3..=4 => Box::new(JetJacobian::<4>::new(sizes, coordinates)),
        _ => Box::new(JetJacobian::<8>::new(sizes, coordinates)),
    }
}

/// How the curvature of C by so many coordinates among so many variables is found.
pub(super) enum CurvatureBy {
    /// All pairs in one evaluation, of numbers with `1 + W` derivatives for each of `1 + C`.
    Pairs(usize, usize),
    /// Groups of so many, two at a time.
    Groups(usize),
}

impl CurvatureBy {
    pub fn of(coordinates: usize, variables: usize) -> Self {
        match (coordinates, variables) {
            (_, 0..=1) => CurvatureBy::Pairs(1, 1),
            (_, 2) => CurvatureBy::Pairs(2, 2),
            (_, 3..=4) => CurvatureBy::Pairs(4, 4),
            // two bodies in the plane, and where their joint sits on each
            (..=2, 5..=8) => CurvatureBy::Pairs(2, 8),
            // three of each of two bodies
            (_, 5..=6) => CurvatureBy::Groups(3),
            _ => CurvatureBy::Groups(LANES),
        }
    }
}

/// The kernel for the curvature of C by a list of variables that is not empty. `entries`: rows and coordinates of all entries of C_q that
/// can be non-zero.
pub fn curvature_kernel(sizes: Sizes, entries: &[(usize, usize)], variables: Vec<usize>) -> Box<dyn CurvatureKernel> {
    let coordinates = variables.iter().filter(|&&i| i < sizes.n).count();
    match CurvatureBy::of(coordinates, variables.len()) {
        CurvatureBy::Pairs(1, _) => Box::new(AllPairs::<1, 1>::new(sizes, variables)),
        CurvatureBy::Pairs(2, 2) => Box::new(AllPairs::<2, 2>::new(sizes, variables)),
        CurvatureBy::Pairs(2, _) => Box::new(AllPairs::<2, 8>::new(sizes, variables)),
        CurvatureBy::Pairs(..) => Box::new(AllPairs::<4, 4>::new(sizes, variables)),
        CurvatureBy::Groups(width) => Box::new(InGroups::new(sizes, entries, variables, width)),
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

impl<const W: usize> JacobianKernel for JetJacobian<W>
where
    for<'a> dyn Functions + 'a: ConstraintOn<Jet<f64, W>>,
{
    fn evaluate(&mut self, model: &dyn Functions, x: ConstraintPoint<'_>, value: &mut [f64], slopes: &mut [f64]) {
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

/// All pairs of few variables, the first of them a coordinate, in one evaluation.
struct AllPairs<const C: usize, const W: usize> {
    /// Number of variables, at most `W`.
    count: usize,
    /// The first ones, at most `C`.
    coordinates: usize,
    q: Vec<Pairs<C, W>>,
    u: Vec<Pairs<C, W>>,
    c: Vec<Pairs<C, W>>,
}

impl<const C: usize, const W: usize> AllPairs<C, W> {
    fn new(sizes: Sizes, variables: Vec<usize>) -> Self {
        let zeros = |count| vec![Pairs::<C, W>::from(0.0); count];
        let (mut q, mut u) = (zeros(sizes.n), zeros(sizes.p));
        let coordinates = variables.iter().filter(|&&i| i < sizes.n).count();
        for (lane, &i) in variables.iter().enumerate() {
            let jet = seeded(&mut q, &mut u, i);
            jet.re.eps[lane] = 1.0;
            if lane < coordinates {
                jet.eps[lane].re = 1.0;
            }
        }
        AllPairs { count: variables.len(), coordinates, q, u, c: zeros(sizes.m) }
    }
}

impl<const C: usize, const W: usize> CurvatureKernel for AllPairs<C, W>
where
    for<'a> dyn Functions + 'a: ConstraintOn<Pairs<C, W>>,
{
    fn evaluate(
        &mut self,
        model: &dyn Functions,
        x: ConstraintPoint<'_>,
        lambda: &[f64],
        value: &mut [f64],
        slopes: &mut [f64],
        curvature: &mut [f64],
    ) {
        self.q.iter_mut().zip(x.q).for_each(|(jet, value)| jet.re.re = *value);
        self.u.iter_mut().zip(x.u).for_each(|(jet, value)| jet.re.re = *value);
        self.c.fill(Pairs::from(0.0));
        model.constraint(Pairs::from(x.t), &self.q, &self.u, &mut self.c);
        let mut sum = [[0.0; W]; C];
        for ((c, lambda), (value, slopes)) in
            self.c.iter().zip(lambda).zip(value.iter_mut().zip(slopes.chunks_exact_mut(self.count)))
        {
            *value = c.re.re;
            slopes.copy_from_slice(&c.re.eps[..self.count]);
            for (sum, second) in sum.iter_mut().zip(&c.eps) {
                sum.iter_mut().zip(&second.eps).for_each(|(sum, second)| *sum += lambda * second);
            }
        }
        let rows = curvature.chunks_exact_mut(self.count).zip(&sum).take(self.coordinates);
        rows.for_each(|(row, sum)| row.copy_from_slice(&sum[..self.count]));
    }
}

/// Two groups of variables at a time.
struct InGroups {
    variables: Vec<usize>,
    coordinates: usize,
    /// Variables in a group; the last one may have fewer, and one beyond it is empty.
    width: usize,
    /// Pairs of groups, such that all first derivatives, and all second ones by a coordinate that can be non-zero, are in one of them.
    passes: Vec<[usize; 2]>,
    /// Not all second derivatives are in one.
    leaves_zeros: bool,
    q: Vec<SecondOrder>,
    u: Vec<SecondOrder>,
    c: Vec<SecondOrder>,
    derivatives: Derivatives,
}

/// Pairs of groups for so many coordinates among so many variables.
pub(super) fn pairs_of(coordinates: usize, variables: usize, width: usize) -> Vec<[usize; 2]> {
    let groups = variables.div_ceil(width);
    let with_coordinates = coordinates.div_ceil(width);
    match with_coordinates {
        0 => (0..groups).step_by(2).map(|first| [first, first + 1]).collect(),
        1 if groups == 1 => vec![[0, 1]],
        _ => (0..with_coordinates).flat_map(|i| (i + 1..groups).map(move |j| [i, j])).collect(),
    }
}

/// Those of the pairs whose groups have a row of C in common, and of the others as many as it takes to have every group. What a parameter
/// enters is not known.
fn pairs_that_meet(all: &[[usize; 2]], rows_of: impl Fn(usize) -> Option<BTreeSet<usize>>) -> Vec<[usize; 2]> {
    let groups = all.iter().flatten().max().map_or(0, |last| last + 1);
    let rows: Vec<_> = (0..groups).map(rows_of).collect();
    let meet = |[i, j]: [usize; 2]| match (&rows[i], &rows[j]) {
        (Some(one), Some(other)) => !one.is_disjoint(other),
        _ => true,
    };
    let mut is_in = vec![false; groups];
    let mut kept: Vec<[usize; 2]> = all.iter().copied().filter(|&pair| meet(pair)).collect();
    kept.iter().flatten().for_each(|&group| is_in[group] = true);
    for &pair in all {
        if !pair.iter().all(|&group| is_in[group]) {
            kept.push(pair);
            pair.iter().for_each(|&group| is_in[group] = true);
        }
    }
    kept
}

impl InGroups {
    fn new(sizes: Sizes, entries: &[(usize, usize)], variables: Vec<usize>, width: usize) -> Self {
        let zeros = |count| vec![SecondOrder::from(0.0); count];
        let coordinates = variables.iter().filter(|&&i| i < sizes.n).count();
        let all = pairs_of(coordinates, variables.len(), width);
        let passes = pairs_that_meet(&all, |group| {
            let own = variables.chunks(width).nth(group).unwrap_or_default();
            let of_coordinates = || entries.iter().filter(|(_, j)| own.contains(j)).map(|(row, _)| *row).collect();
            own.iter().all(|&i| i < sizes.n).then(of_coordinates)
        });
        let leaves_zeros = passes.len() < all.len();
        let (q, u, c) = (zeros(sizes.n), zeros(sizes.p), zeros(sizes.m));
        let derivatives = Derivatives::default();
        InGroups { variables, coordinates, width, passes, leaves_zeros, q, u, c, derivatives }
    }
}

impl CurvatureKernel for InGroups {
    fn evaluate(
        &mut self,
        model: &dyn Functions,
        x: ConstraintPoint<'_>,
        lambda: &[f64],
        value: &mut [f64],
        slopes: &mut [f64],
        curvature: &mut [f64],
    ) {
        let InGroups { variables, coordinates, width, passes, leaves_zeros, q, u, c, derivatives } = self;
        if *leaves_zeros {
            curvature.fill(0.0);
        }
        let (list, coordinates, width) = (variables.len(), *coordinates, *width);
        let places = |group: usize| (group * width).min(list)..((group + 1) * width).min(list);
        q.iter_mut().zip(x.q).for_each(|(number, value)| *number = SecondOrder::from(*value));
        u.iter_mut().zip(x.u).for_each(|(number, value)| *number = SecondOrder::from(*value));
        for pass in passes.iter() {
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
                for &i in &variables[columns.clone()] {
                    let number = seeded(q, u, i);
                    *number = SecondOrder::from(number.re);
                }
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
pub(super) fn along_motion<T: Number>(q: T, v: T, a: T) -> Jet<Jet<T, 1>, 1> {
    Jet { re: Jet { re: q, eps: [v] }, eps: [Jet { re: v, eps: [a] }] }
}

fn set_motion<T: Number>(numbers: &mut [Jet<Jet<T, 1>, 1>], [q, v, a]: [&[f64]; 3]) {
    for (j, number) in numbers.iter_mut().enumerate() {
        *number = along_motion(T::from(q[j]), T::from(v[j]), T::from(a[j]));
    }
}

fn set_constant<T: Number>(numbers: &mut [Jet<Jet<T, 1>, 1>], values: &[f64]) {
    numbers.iter_mut().zip(values).for_each(|(number, value)| *number = Jet::from(*value));
}

/// The entry of a number along the motion that is the time derivative of a level.
fn of_level<T: Number>(c: &Jet<Jet<T, 1>, 1>, level: Level) -> T {
    match level {
        Level::Position => c.re.re,
        Level::Velocity => c.re.eps[0],
        Level::Acceleration => c.eps[0].eps[0],
    }
}

pub(super) fn time<T: Number>(t: f64) -> Jet<Jet<T, 1>, 1> {
    along_motion(T::from(t), T::from(1.0), T::from(0.0))
}

/// Numbers along the motion: coordinates, parameters, constraints.
struct MotionNumbers<T> {
    q: Vec<Jet<Jet<T, 1>, 1>>,
    u: Vec<Jet<Jet<T, 1>, 1>>,
    c: Vec<Jet<Jet<T, 1>, 1>>,
}

impl<T: Number> MotionNumbers<T>
where
    for<'a> dyn Functions + 'a: ConstraintOn<Jet<Jet<T, 1>, 1>>,
{
    fn new(Sizes { n, m, p, .. }: Sizes) -> Self {
        let zeros = |count| vec![Jet::from(0.0); count];
        MotionNumbers { q: zeros(n), u: zeros(p), c: zeros(m) }
    }

    fn take(&mut self, x: &Point<'_>, u: &[f64]) {
        set_motion(&mut self.q, [x.q, x.v, x.a]);
        set_constant(&mut self.u, u);
    }

    fn evaluate(&mut self, model: &dyn Functions, t: f64) {
        self.c.fill(Jet::from(0.0));
        model.constraint(time(t), &self.q, &self.u, &mut self.c);
    }
}

/// C, dC/dt and d²C/dt² along q + v s + a s²/2 at s = 0, with derivatives.
pub struct TimeDerivatives {
    values: MotionNumbers<f64>,
    slopes: MotionNumbers<Jet<f64, LANES>>,
    curved: MotionNumbers<Second>,
    /// Coordinates whose columns of C_q change, then `n +` parameters in C.
    variables: Vec<usize>,
}

impl TimeDerivatives {
    /// Room for a model of this structure.
    pub fn new(sizes: Sizes, structure: &Structure) -> Self {
        let parameters = structure.constraint_parameters.iter().map(|k| sizes.n + k);
        TimeDerivatives {
            variables: structure.curved_or_parametric.iter().copied().chain(parameters).collect(),
            values: MotionNumbers::new(sizes),
            slopes: MotionNumbers::new(sizes),
            curved: MotionNumbers::new(sizes),
        }
    }

    /// One of the three, C or a time derivative.
    pub fn value(&mut self, model: &dyn Functions, level: Level, x: &Point<'_>, u: &[f64], value: &mut [f64]) {
        self.values.take(x, u);
        self.values.evaluate(model, x.t);
        value.iter_mut().zip(&self.values.c).for_each(|(value, c)| *value = of_level(c, level));
    }

    /// Derivatives of all three by a list of variables (coordinates, then `n +` parameters), rows x list: those of C, dC/dt and
    /// d²C/dt². That of the l-th time derivative by the k-th one of q is (l over k) times that of the (l-k)-th by q.
    pub fn slopes(
        &mut self,
        model: &dyn Functions,
        x: &Point<'_>,
        u: &[f64],
        variables: &[usize],
        slopes: &mut [Vec<f64>; 3],
    ) {
        let numbers = &mut self.slopes;
        numbers.take(x, u);
        for (pass, lanes) in variables.chunks(LANES).enumerate() {
            for (lane, &i) in lanes.iter().enumerate() {
                seeded(&mut numbers.q, &mut numbers.u, i).re.re.eps[lane] = 1.0;
            }
            numbers.evaluate(model, x.t);
            for (lane, &i) in lanes.iter().enumerate() {
                seeded(&mut numbers.q, &mut numbers.u, i).re.re.eps[lane] = 0.0;
            }
            for (row, c) in numbers.c.iter().enumerate() {
                let places = row * variables.len() + pass * LANES..;
                for (slopes, level) in slopes.iter_mut().zip(LEVELS) {
                    slopes[places.clone()][..lanes.len()].copy_from_slice(&of_level(c, level).eps[..lanes.len()]);
                }
            }
        }
    }

    /// Adds the derivatives of one of them along a change of the parameters.
    pub(crate) fn along_parameters(
        &mut self,
        model: &dyn Functions,
        level: Level,
        x: &Point<'_>,
        u: &[f64],
        tangent: &[f64],
        slopes: &mut [f64],
    ) {
        let numbers = &mut self.slopes;
        numbers.take(x, u);
        numbers.u.iter_mut().zip(tangent).for_each(|(number, slope)| number.re.re.eps[0] = *slope);
        numbers.evaluate(model, x.t);
        slopes.iter_mut().zip(&numbers.c).for_each(|(slope, c)| *slope += of_level(c, level).eps[0]);
    }

    /// Adds `scale` ∇ ∂_X (cᵀ d^l C/dt^l) to `cotangent`. The derivative of the l-th time derivative by the k-th one of q is (l over k) times that of
    /// the (l-k)-th by q, along X, too.
    pub fn curvature(
        &mut self,
        model: &dyn Functions,
        level: Level,
        (x, u): (&Point<'_>, &[f64]),
        (scale, c): (f64, &[f64]),
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let TimeDerivatives { curved: numbers, variables, .. } = self;
        let n = x.q.len();
        numbers.take(x, u);
        // along the tangent, whatever is differentiated by
        for (j, number) in numbers.q.iter_mut().enumerate() {
            for (part, slope) in parts(number).into_iter().zip([&tangent.q, &tangent.v, &tangent.v, &tangent.a]) {
                part.eps[0].re = slope[j];
            }
        }
        numbers.u.iter_mut().zip(&tangent.u).for_each(|(number, slope)| number.re.re.eps[0].re = *slope);
        let factors: &[f64] = match level {
            Level::Position => &[1.0],
            Level::Velocity => &[1.0, 1.0],
            Level::Acceleration => &[1.0, 2.0, 1.0],
        };
        for lanes in variables.chunks(LANES) {
            for (lane, &i) in lanes.iter().enumerate() {
                seeded(&mut numbers.q, &mut numbers.u, i).re.re.re.eps[lane] = 1.0;
            }
            numbers.evaluate(model, x.t);
            for (lane, &i) in lanes.iter().enumerate() {
                seeded(&mut numbers.q, &mut numbers.u, i).re.re.re.eps[lane] = 0.0;
                let of = |level: Level| -> f64 {
                    numbers.c.iter().zip(c).map(|(d, c)| c * of_level(d, level).eps[0].eps[lane]).sum()
                };
                if i >= n {
                    cotangent.u[i - n] += scale * of(level);
                    continue;
                }
                let levels = LEVELS[..factors.len()].iter().rev();
                let parts = [&mut cotangent.q, &mut cotangent.v, &mut cotangent.a];
                for (part, (factor, level)) in parts.into_iter().zip(factors.iter().zip(levels)) {
                    part[i] += scale * factor * of(*level);
                }
            }
        }
    }
}

/// Entries for q, v (twice) and a of a number along the motion.
fn parts<T>(number: &mut Jet<Jet<T, 1>, 1>) -> [&mut T; 4] {
    let Jet { re: Jet { re: q, eps: [v] }, eps: [Jet { re: again, eps: [a] }] } = number;
    [q, v, again, a]
}

pub(crate) const LEVELS: [Level; 3] = [Level::Position, Level::Velocity, Level::Acceleration];

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects long plain models: what has no row in common has no curvature, and is not looked for; first derivatives are all there.
    #[test]
    fn groups_that_never_meet_are_not_paired() {
        let all = pairs_of(20, 22, 4);
        assert_eq!(all.len(), 15, "six groups");
        // group k has rows k and k + 1; the last has parameters
        let chain = |group: usize| (group < 5).then(|| BTreeSet::from([group, group + 1]));
        let kept = pairs_that_meet(&all, chain);
        let expected = [[0, 1], [0, 5], [1, 2], [1, 5], [2, 3], [2, 5], [3, 4], [3, 5], [4, 5]];
        assert_eq!(kept, expected);
        // apart, each needs a pass of its own
        let kept = pairs_that_meet(&pairs_of(16, 16, 4), |group| Some(BTreeSet::from([group])));
        assert!((0..4).all(|group| kept.iter().flatten().any(|&own| own == group)), "{kept:?}");
        assert!(kept.len() < 6, "{kept:?}");
        // one group alone, and parameters alone
        assert_eq!(pairs_that_meet(&pairs_of(4, 4, 4), |group| (group > 0).then(BTreeSet::new)), [[0, 1]]);
        assert_eq!(pairs_that_meet(&pairs_of(0, 9, 4), |_| None), [[0, 1], [2, 3]]);
    }
}
