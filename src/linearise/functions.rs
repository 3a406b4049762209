//! A model's generic functions behind an object-safe trait: one entry a function and number type.
//!
//! Only these entries are compiled once a model or element. Everything that differentiates a model speaks of
//! [`dyn Functions`](Functions) and is compiled once.

use crate::number::{Jet, Number, Rounded, SecondOrder, Tracer, Var};
use crate::{Matrix, Model, State};

/// M and Q on numbers `D`.
pub trait MotionOn<D> {
    fn mass(&self, q: &[D], u: &[D], m: &mut Matrix<D>);
    fn force(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]);
}

/// C on numbers `D`.
pub trait ConstraintOn<D> {
    fn constraint(&self, t: D, q: &[D], u: &[D], c: &mut [D]);
}

/// Outputs on numbers `D`.
pub trait OutputOn<D> {
    fn output(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]);
}

/// Initial positions and velocities on numbers `D`.
pub trait InitialOn<D> {
    fn initial(&self, u: &[D], q: &mut [D], v: &mut [D]);
}

impl<M: Model, D: Number> MotionOn<D> for M {
    #[inline]
    fn mass(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        Model::mass(self, q, u, m);
    }
    #[inline]
    fn force(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        Model::force(self, t, q, v, w, u, force);
    }
}

impl<M: Model, D: Number> ConstraintOn<D> for M {
    #[inline]
    fn constraint(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        Model::constraint(self, t, q, u, c);
    }
}

impl<M: Model, D: Number> OutputOn<D> for M {
    #[inline]
    fn output(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        Model::output(self, t, x, u, y);
    }
}

impl<M: Model, D: Number> InitialOn<D> for M {
    #[inline]
    fn initial(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        Model::initial(self, u, q, v);
    }
}

/// Number with its derivative along one direction.
pub(crate) type Dual = Jet<f64, 1>;
/// Number with derivatives by `W` directions, and second ones by these and `C` others.
pub(crate) type Pairs<const C: usize, const W: usize> = Jet<Jet<f64, W>, C>;
/// Number with derivatives by all pairs of `W` directions; with one, two directions.
pub(crate) type Square<const W: usize> = Pairs<W, W>;
/// Lanes of second derivatives.
pub(crate) use crate::number::LANES;
/// Number with derivatives along a tangent, by variables in lanes.
pub(crate) type Second = Jet<Jet<f64, LANES>, 1>;
/// Number with derivatives along two directions, by variables in lanes.
pub(crate) type Third = Jet<Second, 1>;
/// Number along the motion, with derivatives along a tangent, by variables in lanes.
pub(crate) type Fourth = Jet<Jet<Second, 1>, 1>;
/// Bounds of round-off along a direction.
pub(crate) type Directed = Jet<Rounded, 1>;

/// M and Q on all numbers that are needed. Every width of [`Jet`] here costs compile time for every model and element: one is here
/// because a step is slower without it.
pub trait AnyMotion:
    MotionOn<f64>
    + MotionOn<Tracer>
    + MotionOn<Rounded>
    + MotionOn<Dual>
    + MotionOn<Jet<f64, 2>>
    + MotionOn<Jet<f64, 4>>
    + MotionOn<Jet<f64, 8>>
    + MotionOn<Second>
    + MotionOn<Var<f64>>
    + MotionOn<Var<Dual>>
{
}

/// C on all numbers that are needed.
pub trait AnyConstraint:
    ConstraintOn<f64>
    + ConstraintOn<Tracer>
    + ConstraintOn<Directed>
    + ConstraintOn<Dual>
    + ConstraintOn<Jet<f64, 2>>
    + ConstraintOn<Jet<f64, 4>>
    + ConstraintOn<Jet<f64, 8>>
    + ConstraintOn<Square<1>>
    + ConstraintOn<Square<2>>
    + ConstraintOn<Square<4>>
    + ConstraintOn<Pairs<2, 8>>
    + ConstraintOn<SecondOrder>
    + ConstraintOn<Third>
    + ConstraintOn<Fourth>
    + ConstraintOn<Var<Dual>>
    + ConstraintOn<Var<Square<1>>>
{
}

/// Outputs on all numbers that are needed.
pub trait AnyOutput:
    OutputOn<f64>
    + OutputOn<Tracer>
    + OutputOn<Jet<f64, 4>>
    + OutputOn<Jet<f64, 8>>
    + OutputOn<Second>
    + OutputOn<Var<f64>>
    + OutputOn<Var<Dual>>
{
}

/// Initial states on all numbers that are needed.
pub trait AnyInitial:
    InitialOn<f64> + InitialOn<Tracer> + InitialOn<Dual> + InitialOn<Var<f64>> + InitialOn<Var<Dual>>
{
}

/// All functions of a model.
pub trait Functions: AnyMotion + AnyConstraint + AnyOutput + AnyInitial + Send + Sync {}

impl<M: Model> AnyMotion for M {}
impl<M: Model> AnyConstraint for M {}
impl<M: Model> AnyOutput for M {}
impl<M: Model> AnyInitial for M {}
impl<M: Model> Functions for M {}
