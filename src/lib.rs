//! Exact gradients of multibody simulations, and parameter identification on top of them.
//!
//! A mechanism is written once, as plain functions generic over [`Number`]. Dual numbers turn it into exact derivatives at one
//! narrow waist; above it every scheme, gradient, optimiser, report and command works on plain `f64`.
//!
//! ```
//! use costate::{Gradient, Hht, Matrix, Method, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
//! use costate::cost::{LeastSquares, Quadrature, Reference};
//! use std::sync::Arc;
//!
//! /// m q'' = -c q - d q', from q = 1 at rest; a sensor sees the acceleration.
//! struct Oscillator;
//!
//! impl Model for Oscillator {
//!     fn signature(&self) -> Signature {
//!         Signature::new("oscillator")
//!             .coordinates([("q", "m")])
//!             .outputs([("a", "m/s^2")])
//!             .parameters([Parameter::new("c", "N/m", 40.0), Parameter::new("d", "N s/m", 0.8)])
//!     }
//!     fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
//!         q[0] = D::from(1.0);
//!     }
//!     fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
//!         m[(0, 0)] = D::from(1.0);
//!     }
//!     fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
//!         force[0] = -u[0] * q[0] - u[1] * v[0];
//!     }
//!     fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
//!         y[0] = x.a[0];
//!     }
//! }
//!
//! # fn main() -> costate::Result<()> {
//! let grid = TimeGrid::uniform(0.0, 2.0, 1e-2)?;
//! let simulation = Simulation::new(Arc::new(Plain::new(Oscillator)?), Hht::new(-0.1)?, grid, vec![])?;
//!
//! // a "measurement", and the cost of missing it
//! let measured = simulation.run(&[40.0, 0.8])?.output(0);
//! let reference = Reference { output: 0, values: measured, deviation: 1.0 };
//! let cost = LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Trapezoid)?;
//!
//! // cost and exact gradient elsewhere, by one run forwards and one sweep backwards
//! let mut gradient = Gradient::new(&simulation, &cost)?;
//! let mut slope = [0.0; 2];
//! let value = gradient.cost_and_gradient(&[30.0, 1.0], Method::Adjoint, &mut slope)?;
//!
//! let mut tangent = [0.0; 2];
//! gradient.cost_and_gradient(&[30.0, 1.0], Method::Tangent, &mut tangent)?;
//! assert!(value > 0.0 && (slope[0] / tangent[0] - 1.0).abs() < 1e-12);
//! # Ok(())
//! # }
//! ```
//!
//! # The house
//!
//! ```text
//! your model                 plain generic functions: mass, force, constraint, output, initial          model/
//! ----------------------     Number: the one bound ----------------------------------------------------- number/
//! linearise | assembly       values + exact derivatives by dual numbers; plain models, or sums of elements (sparse)
//! planar, spatial            bodies, joints, forces and sensors of the plane and of space, as elements  parts/
//! ======================     System: object-safe, f64 only (the waist) =========================== model/system
//! scheme                     a time integrator is the balances that it solves                           integrate/
//! simulate                   forward runs from a start over a grid of times
//! cost | sensitivity         what is compared; adjoint, tangents, differences: one recursion            gradient/
//! optimise, constraint       how the optimum is searched, and what it must keep to                      identify/
//! control                    inputs and motions that are to be found, and goals for outputs
//! statistics                 how well the data determine what was found
//! problem, specification     what a person asks for, from a program or a file
//! check                      which entry of a hand-derived Jacobian is wrong                            check/
//! report, plot, cli          what a person reads                                                        report/, cli/
//! ```
//!
//! Beside it: linear algebra that knows nothing of mechanisms (`linear/`), and records and files (`data/`).
//!
//! Arrows point down only: no module above the waist names dual numbers, none below it knows of costs and optimisers
//! (a cost may be *written* as a generic function; [`linearise::Differentiated`] makes it an `f64` one).
//!
//! # Where to go
//!
//! - Identify parameters: [`identify`](mod@identify), from a [`problem::Problem`] or a [`specification::Specification`]; problem files:
//!   [`problem_file`].
//! - Find inputs and driven motions over time that reach goals: [`control`]; `docs/control.md`.
//! - Put a mechanism together from bodies, joints, forces and sensors: [`planar`], [`spatial`]; add elements of your own: [`assembly`].
//! - Draw and animate such a mechanism, of the plane or of space, or a plain model that says what it looks like
//!   ([`Model::picture`]): [`plot::mechanism`].
//! - Check hand-derived Jacobians: [`check`].
//! - Give your own models a command line: [`cli`].
//! - The equations, as implemented: `docs/mathematics.md`; why `x.a` and not `x.a_scheme`: `docs/accelerations.md`;
//!   which optimiser: `docs/methods.md`.
//!
//! # What it does not do
//!
//! A plain [`Model`] has dense matrices: some hundred coordinates, not thousands; an [`assembly`] has sparse ones.
//! Time steps are given, or chosen: by a simulation for a tolerance ([`adapt`]), by a fit for its standard errors ([`steps`]). The gradient is that of the discretised problem (that is the point); where the step is too coarse, so is the model.

// what a command says goes through `cli::console`, and a library says nothing
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod check;
pub mod cli;
pub mod data;
pub mod error;
mod gradient;
pub mod identify;
mod integrate;
mod linear;
pub mod linearise;
pub mod model;
pub mod number;
mod parts;
pub mod report;

// every module has one name, whatever folder it lives in
use data::{clock, columns, file_set, header, rows, spread, unit};
#[doc(inline)]
pub use data::{files, noise, random, time_axis};
#[doc(inline)]
pub use gradient::{cost, modes, sensitivity};
use identify::beside;
#[doc(inline)]
pub use identify::{
    bands, bootstrap, constraint, control, design, ensemble, homotopy, landscape, likelihood, modal, optimise, prior,
    problem, problem_file, profile, registry, specification, starts, statistics, steps, work,
};
#[doc(inline)]
pub use integrate::{adapt, grid, parallel, scheme, signal, simulate, step_error};
use integrate::{compliance, continuous, diagnosis, interrupt, memory, pace, start};
#[doc(inline)]
pub use linear::least_squares;
use linear::sparse;
#[doc(inline)]
pub use model::{drawing, signature, system};
use model::{mass, shown, sketch, slip, spline};
#[doc(inline)]
pub use parts::{assembly, planar, spatial};
use parts::{connectivity, law, sampled, totals};
#[doc(inline)]
pub use report::plot;
use report::table;

pub use drawing::Drawing;
pub use error::{Error, Result};
pub use grid::TimeGrid;
pub use interrupt::Interrupt;
pub use linearise::Plain;
pub use model::{Matrix, Model, State, unpack};
pub use number::Number;
pub use scheme::Hht;
pub use sensitivity::{Gradient, Method};
pub use signal::Signal;
pub use signature::{Parameter, Quantity, Scale, Signature};
pub use simulate::{Simulation, Trajectory};
pub use sketch::Sketch;
pub use start::{InitialState, StartReport};
pub use system::{Evaluator, System};
