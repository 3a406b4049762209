//! The waist: values and exact derivatives of a mechanism in plain `f64`, behind object-safe traits.
//!
//! Above it nobody sees a dual number, below it nobody knows of costs and optimisers. Matrices do not cross it: an
//! implementor owns and factorises them in the form that suits it (dense or sparse for a plain [`crate::Model`], sparse for an
//! assembly), and the schemes speak of solves and products with vectors only.

mod state;

pub use state::{StatePart, StateVector};

use crate::Matrix;
use crate::Result;
use crate::derived::Derived;
use crate::signature::Signature;
use crate::sketch::Sketch;

/// A mechanism whose derivatives are known. Shared between threads; the work is done by its [`Evaluator`]s.
pub trait System: Send + Sync {
    /// Names and units.
    fn signature(&self) -> &Signature;

    /// Remarks on likely slips in the mechanism, in sentences: a parameter that nothing depends on, an output that is zero.
    fn remarks(&self) -> &[String] {
        &[]
    }

    /// Coordinates, less constraint rows that are independent at the start.
    fn degrees_of_freedom(&self) -> usize {
        let signature = self.signature();
        signature.unknown_count().saturating_sub(signature.constraints.len())
    }

    /// Parts of it that are known at some times only, such as motions from samples: name, first and last time in s.
    fn known_times(&self) -> &[(String, (f64, f64))] {
        &[]
    }

    /// True if the constraints can yield to their multipliers ([`Weights::compliance`]).
    fn can_yield(&self) -> bool {
        true
    }

    /// False if it is known that no equation and no output jumps ([`crate::jumps`]).
    fn may_jump(&self) -> bool {
        true
    }

    /// Sketch of the mechanism, if it is made of parts that have a shape or draws itself (then at its nominal start): for
    /// `costate_report::plot::mechanism`.
    fn sketch(&self) -> Option<&Sketch> {
        None
    }

    /// Sketch of the mechanism at a time, with these positions, inputs and parameters, if it draws itself; `None` if [`System::sketch`]
    /// holds at all times.
    ///
    /// # Errors
    /// What it says contradicts itself.
    fn sketch_at(&self, t: f64, q: &[f64], w: &[f64], u: &[f64]) -> Result<Option<Sketch>> {
        let _ = (t, q, w, u);
        Ok(None)
    }

    /// The mechanism itself, if some of its parameters follow from others.
    fn derived(&self) -> Option<&Derived> {
        None
    }

    /// A workspace for one thread.
    fn evaluator(&self) -> Box<dyn Evaluator + '_>;

    /// A workspace for one thread whose products are by other variables than the state and the parameters.
    fn evaluator_by(&self, by: By<'_>) -> Box<dyn Evaluator + '_>;
}

/// Variables by which a mechanism is differentiated besides its state: what is left out may come out as zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By<'a> {
    /// The parameters at these places; all of them if there is no list.
    pub parameters: Option<&'a [usize]>,
    /// True if it is differentiated by inputs, too: [`StateVector::w`].
    pub inputs: bool,
    /// Mode in which derivatives by parameters are found.
    pub mode: Mode,
}

impl By<'_> {
    /// Derivatives by all parameters.
    pub const PARAMETERS: By<'static> = By { parameters: None, inputs: false, mode: Mode::Cheaper };
    /// Derivatives by the inputs.
    pub const INPUTS: By<'static> = By { parameters: Some(&[]), inputs: true, mode: Mode::Cheaper };
    /// Derivatives by all parameters and the inputs.
    pub const BOTH: By<'static> = By { parameters: None, inputs: true, mode: Mode::Cheaper };
}

/// Mode in which derivatives by parameters are found. They are the same but for round-off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Whichever takes fewer passes through the model, for its equations of motion, its constraints and its outputs each.
    #[default]
    Cheaper,
    /// Forwards, some parameters a pass.
    Forward,
    /// One sweep back over an evaluation, for all parameters, where the mechanism can do so.
    Reverse,
}

/// A point at which a mechanism is evaluated. `a` is the acceleration that the mass matrix multiplies. States are handled as velocities of
/// coordinates of unit mass whose positions nobody sees: they follow the coordinates in q, v and a, and n counts both.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// Time, s.
    pub t: f64,
    /// Positions, n.
    pub q: &'a [f64],
    /// Velocities, n.
    pub v: &'a [f64],
    /// Accelerations, n.
    pub a: &'a [f64],
    /// Multipliers, m.
    pub lambda: &'a [f64],
    /// Inputs at time `t`.
    pub w: &'a [f64],
}

/// Choice of the equations: `D = M a + C_qᵀ λ - Q` with or without Q, and the constraints or one of their time derivatives along the motion
/// q, v, a.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Equations {
    /// True if Q acts.
    pub forces: bool,
    /// Time derivative of the constraints that is meant.
    pub level: Level,
}

impl Equations {
    /// The equations of motion with Q, and C itself.
    pub const MOTION: Equations = Equations { forces: true, level: Level::Position };
}

/// Weights with which positions, velocities and accelerations follow an unknown z: the matrix of the linear equations is
///
/// ```text
/// K = [ acceleration M + position D_q + velocity D_v    C_qᵀ ]      D = M a + C_qᵀ λ - Q
///     [ C_q + R                                       -κ     ]
/// ```
///
/// States ([`crate::Model::rates`]), which stand among velocities, may follow it by a weight of their own: at rest, velocities are zero, and
/// states are sought. Rows of constraints are divided by the weight of what their level is about, so that C_q is left; R is zero but at
/// [`Level::Velocity`], where it is `position / velocity` times the derivative of C_q v + C_t by q. At [`Level::Acceleration`] nothing
/// but the acceleration may follow z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of accelerations, d a / d z.
    pub acceleration: f64,
    /// Weight of positions, d q / d z.
    pub position: f64,
    /// Weight of velocities, d v / d z.
    pub velocity: f64,
    /// Weight of the states, which stand behind the velocities: their d v / d z.
    pub state: f64,
    /// κ, of rows divided as above: constraints yield by κ times their multipliers. Zero where they hold exactly.
    pub compliance: f64,
    /// Equations that D and the constraints are.
    pub equations: Equations,
}

impl Weights {
    /// Weight d q^(l) / d z of the constraints' level l.
    pub fn of_level(&self) -> f64 {
        match self.equations.level {
            Level::Position => self.position,
            Level::Velocity => self.velocity,
            Level::Acceleration => self.acceleration,
        }
    }

    /// The factor of R's derivative.
    pub fn rate(&self) -> f64 {
        if self.equations.level == Level::Velocity && self.position != 0.0 {
            self.position / self.velocity
        } else {
            0.0
        }
    }
}

/// A point at which an output or a cost is evaluated: like [`Point`], with both accelerations of a scheme.
#[derive(Debug, Clone, Copy)]
pub struct OutputPoint<'a> {
    /// Time, s.
    pub t: f64,
    /// Positions, n.
    pub q: &'a [f64],
    /// Velocities, n.
    pub v: &'a [f64],
    /// Consistent accelerations, n.
    pub a: &'a [f64],
    /// The scheme's own accelerations, n.
    pub a_scheme: &'a [f64],
    /// Multipliers, m.
    pub lambda: &'a [f64],
    /// Inputs.
    pub w: &'a [f64],
}

/// Time derivative of the constraints along the motion q(t).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Positions: C
    Position,
    /// Velocities: dC/dt = C_q v + C_t
    Velocity,
    /// Accelerations: d²C/dt² = C_q a + (terms in v)
    Acceleration,
}

/// The dense blocks of the linearised equations at one point (rows x columns): for reports, checks and the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// M, n x n.
    pub mass: Matrix<f64>,
    /// J_M = d(M a)/dq, n x n.
    pub inertia_by_position: Matrix<f64>,
    /// J_C = d(C_qᵀ λ)/dq, n x n.
    pub constraint_force_by_position: Matrix<f64>,
    /// J_Q = dQ/dq, n x n.
    pub force_by_position: Matrix<f64>,
    /// J_V = dQ/dv, n x n.
    pub force_by_velocity: Matrix<f64>,
    /// C_q, m x n.
    pub constraint_by_position: Matrix<f64>,
    /// dQ/du, n x p.
    pub force_by_parameter: Matrix<f64>,
    /// d(M a)/du, n x p.
    pub inertia_by_parameter: Matrix<f64>,
    /// d(C_qᵀ λ)/du, n x p.
    pub constraint_force_by_parameter: Matrix<f64>,
    /// dC/du, m x p.
    pub constraint_by_parameter: Matrix<f64>,
}

impl Blocks {
    /// Blocks that are all zero, in the sizes of `signature`.
    pub fn zeros(signature: &Signature) -> Self {
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        Blocks::of_sizes(n, m, signature.parameters.len())
    }

    /// Blocks that are all zero, for n coordinates and states, m constraints and p parameters.
    pub fn of_sizes(n: usize, m: usize, p: usize) -> Self {
        let zeros = |rows, columns| Matrix::filled(rows, columns, 0.0);
        Blocks {
            mass: zeros(n, n),
            inertia_by_position: zeros(n, n),
            constraint_force_by_position: zeros(n, n),
            force_by_position: zeros(n, n),
            force_by_velocity: zeros(n, n),
            constraint_by_position: zeros(m, n),
            force_by_parameter: zeros(n, p),
            inertia_by_parameter: zeros(n, p),
            constraint_force_by_parameter: zeros(n, p),
            constraint_by_parameter: zeros(m, p),
        }
    }
}

/// Orders of pivots that an evaluator keeps from one factorisation to the next, which may change the round-off of later ones. Shared by its
/// copies.
#[derive(Clone)]
pub struct Orders(std::sync::Arc<dyn std::any::Any + Send + Sync>);

impl Orders {
    /// Whatever the evaluator keeps.
    pub fn new<T: Send + Sync + 'static>(kept: T) -> Self {
        Orders(std::sync::Arc::new(kept))
    }

    /// The kept orders, if they are of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

/// The matrix of [`Evaluator::factorise`] has no inverse (to working precision).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SingularMatrix;

/// Values and exact derivatives of a mechanism, for one thread, without allocation after its construction.
///
/// `D = M(q,u) a + C_qᵀ λ - Q(t,q,v,w,u)` is the residual of motion (n entries), `C` that of the constraints (m entries).
/// Slices have the sizes of the signature. Products *add* to what is there.
pub trait Evaluator: Send {
    /// Takes parameter values; everything constant for them is computed once here.
    fn set_parameters(&mut self, u: &[f64]);

    /// Orders on which later factorisations depend, in their round-off, besides their matrix; none if there are none. With the same orders
    /// and the same parameters, the same is computed to the last bit.
    fn orders(&mut self) -> Option<Orders> {
        None
    }

    /// Goes back to orders that it had with the same parameters.
    fn take_orders(&mut self, orders: &Orders) {
        let _ = orders;
    }

    /// Initial positions and velocities.
    fn initial(&mut self, q: &mut [f64], v: &mut [f64]);

    /// Adds (dq0/du)ᵀ q + (dv0/du)ᵀ v to `u`.
    fn initial_pull_back(&mut self, q: &[f64], v: &[f64], u: &mut [f64]);

    /// Adds dq0/du u to `q` and dv0/du u to `v`.
    fn initial_push_forward(&mut self, u: &[f64], q: &mut [f64], v: &mut [f64]);

    /// D and C.
    fn residual(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]);

    /// Bounds on the round-off of evaluating D and C at `x`, entry by entry: how exactly they can be known. Slow; it is asked only where an
    /// iteration makes no progress. At [`Level::Acceleration`] there is none.
    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]);

    /// D and C, and the factors of K (see [`Weights`]).
    ///
    /// # Errors
    /// [`SingularMatrix`]; the residuals are valid all the same.
    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> std::result::Result<(), SingularMatrix>;

    /// Counts whatever changes the factors or what they are of: where the number is the same, they are those that were there. `None`: it does not tell.
    fn factored(&self) -> Option<usize> {
        None
    }

    /// Finds all first derivatives of D and C at `x`, kept for the products below, and the factors of K.
    ///
    /// # Errors
    /// [`SingularMatrix`]; the products are valid all the same.
    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix>;

    /// Linearises as [`Evaluator::linearise`] does, where so many tangents are to be pushed forward: an evaluator may choose other ways for
    /// one than for many.
    ///
    /// # Errors
    /// As [`Evaluator::linearise`].
    fn linearise_for_tangents(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        tangents: usize,
    ) -> std::result::Result<(), SingularMatrix> {
        let _ = tangents;
        self.linearise(x, weights)
    }

    /// Tangents are divided among several evaluators, which have `all` of them together: ways that are chosen by their number are chosen by
    /// this one from now on, so that results do not depend on the division. Zero: they are not divided.
    fn divide_tangents(&mut self, all: usize) {
        let _ = all;
    }

    /// Solves K z = b in place with the last factors; z = (acceleration n, multipliers m).
    fn solve(&mut self, b: &mut [f64]);

    /// Solves as [`Evaluator::solve`] does for many right-hand sides of `size` entries each, one behind the other.
    fn solve_all(&mut self, sides: &mut [f64], size: usize) {
        sides.chunks_exact_mut(size.max(1)).for_each(|b| self.solve(b));
    }

    /// Solves Kᵀ z = b in place with the last factors.
    fn solve_transposed(&mut self, b: &mut [f64]);

    /// Pulls back with the last [`Evaluator::linearise`]: adds `scale` (∂D)ᵀ d + `scale` (∂C)ᵀ c to the cotangents of q, v, a, λ, u, w.
    fn pull_back(&mut self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector);

    /// Pushes forward with the last [`Evaluator::linearise`]: adds ∂D and ∂C applied to a tangent (q, v, a, λ, u, w).
    fn push_forward(&mut self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]);

    /// The entries of M at `x` as (row, column, value), in any order; several at one place add up. It allocates.
    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)>;

    /// The rows of C_q at `x` as (column, entry); it allocates.
    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>>;

    /// Constraint rows that are left out, because they repeat others: their multipliers are zero.
    fn left_out(&self) -> &[usize] {
        &[]
    }

    /// The one of these that was off most when the constraints were worked out last: its row, and how far, in the row's unit.
    fn worst_left_out(&self) -> Option<(usize, f64)> {
        None
    }

    /// A time derivative of the constraints along the motion q, v, a.
    fn constraint(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]);

    /// Outputs y.
    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]);

    /// Derivatives of the outputs at `x`, kept for the two products below.
    fn linearise_output(&mut self, x: &OutputPoint<'_>);

    /// Linearises as [`Evaluator::linearise_output`] does, where so many tangents are to be pushed forward.
    fn linearise_output_for_tangents(&mut self, x: &OutputPoint<'_>, tangents: usize) {
        let _ = tangents;
        self.linearise_output(x);
    }

    /// Pulls outputs back with the last [`Evaluator::linearise_output`]: adds (∂y)ᵀ y to the cotangents.
    fn output_pull_back(&mut self, y: &[f64], cotangent: &mut StateVector);

    /// Pushes outputs forward with the last [`Evaluator::linearise_output`]: adds ∂y applied to a tangent.
    fn output_push_forward(&mut self, tangent: &StateVector, y: &mut [f64]);

    /// Second derivatives of the equations: adds `scale` ∇ ∂_X (dᵀ D + cᵀ C) to the cotangents of q, v, a, λ, u, where X is
    /// the tangent (q, v, a, λ, u) and `weights` = [d, c] are fixed.
    fn curvature(
        &mut self,
        x: &Point<'_>,
        equations: Equations,
        scale: f64,
        weights: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    );

    /// Second derivatives of the initial state: adds ∇ ∂_U (q̄ᵀ q0 + v̄ᵀ v0) to `u`, along the direction `tangent` of the parameters.
    fn initial_curvature(&mut self, q: &[f64], v: &[f64], tangent: &[f64], u: &mut [f64]);

    /// Second derivatives of the outputs: adds ∇ ∂_X (ȳᵀ y) to the cotangents.
    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector);

    /// The dense blocks at `x`; may allocate.
    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks);
}

impl dyn System + '_ {
    /// The parameters that [`System::sketch`] is about: these, or all of the mechanism where some follow from others ([`System::derived`]).
    pub fn parameters_of_sketch(&self, u: &[f64]) -> Vec<f64> {
        self.derived().map_or_else(|| u.to_vec(), |derived| derived.all(u))
    }

    /// A parameter vector for this system: the nominal values with some replaced.
    ///
    /// # Errors
    /// Unknown names, with the nearest known one.
    pub fn parameters_with(&self, changes: &[(String, f64)]) -> Result<Vec<f64>> {
        let signature = self.signature();
        let mut u = signature.nominal();
        for (name, value) in changes {
            u[signature.parameter_index(name)?] = *value;
        }
        Ok(u)
    }
}
