//! Exact gradients of multibody simulations.
//!
//! A mechanism is written once, as plain functions generic over [`Number`]. Dual numbers turn it into exact derivatives at one
//! narrow waist; above it every scheme and gradient works on plain `f64`.
//!
//! ```
//! use costate::{Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
//! use costate::cost::{LeastSquares, Quadrature, Reference};
//! use costate::scheme::Hht;
//! use costate::sensitivity::{Gradient, Method};
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
//! linearise                  values + exact derivatives by dual numbers, of plain models                linearise/
//! ======================     System: object-safe, f64 only (the waist) =========================== model/system
//! scheme                     a time integrator is the balances that it solves                           integrate/
//! simulate                   forward runs from a start over a grid of times
//! cost | sensitivity         what is compared; adjoint, tangents, differences: one recursion            gradient/
//! modes                      small vibrations about an equilibrium, and their derivatives
//! ```
//!
//! Beside it: linear algebra that knows nothing of mechanisms (`linear/`).
//!
//! Arrows point down only: no module above the waist names dual numbers, none below it knows of costs
//! (a cost may be *written* as a generic function; [`linearise::Differentiated`] makes it an `f64` one).
//!
//! This crate is the engine. It knows vectors of parameters and of inputs, but no files, records, figures, optimisers, commands or
//! messages on a terminal. What stands on it are crates of their own, each of which knows those above it here:
//!
//! ```text
//! costate             the engine
//! costate-check       derivatives by hand and orders of schemes, compared with exact ones                   check/
//! costate-parts       mechanisms of the plane and of space from bodies, joints, forces and sensors; sums of elements  parts/
//! costate-data        records as columns with units, what series tell by themselves, files                   data/
//! costate-identify    problems, constraints, optimisers, statistics, optimal control, design       identify/
//! costate-file        mechanisms in files: formulas with units, and models made of them                      file/
//! costate-report      figures, drawings of mechanisms, result files, pages                                  report/
//! costate-cli         the commands, for the models of any registry                                          cli/
//! costate-models      ready models, and the program `costate`                                               models/
//! ```
//!
//! # Where to go
//!
//! - The equations, as implemented: `docs/mathematics.md`; why `x.a` and not `x.a_scheme`: `docs/accelerations.md`;
//!   which scheme: `docs/schemes.md`.
//! - Put a mechanism together from bodies, joints, forces and sensors: `costate_parts`.
//! - Identify parameters, or find inputs that reach goals: `costate_identify`.
//! - Give your own models a command line: `costate_cli`.
//!
//! # What it does not do
//!
//! A plain [`Model`] fills dense matrices, which are factorised as sparse ones where most entries are zeros: some hundred coordinates, not
//! thousands; an assembly of `costate_parts` has sparse ones throughout.
//! Time steps are given, or chosen by a simulation for a tolerance ([`adapt`]). The gradient is that of the discretised problem (that is the
//! point); where the step is too coarse, so is the model.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod error;
mod gradient;
mod integrate;
mod linear;
pub mod linearise;
mod model;
pub mod number;

// Every module has one name, whatever folder it lives in, and every item one path: what a mechanism and its simulation are written with is named at the root
// alone, all else in its module alone.
#[doc(inline)]
pub use gradient::{cost, jumps, kinks, modes, noise, sensitivity};
#[doc(inline)]
pub use integrate::{adapt, compliance, continuous, diagnosis, memory, pace, parallel, scheme, step_error, time_axis};
#[doc(inline)]
pub use linear::{dense, least_squares, random, rows, sparse};
#[doc(inline)]
pub use model::{derived, mass, shown, sketch, slip, spline, spread, system, value, vector};

pub(crate) use integrate::{grid, interrupt, signal, simulate, start};
pub(crate) use model::{drawing, signature};

pub use drawing::Drawing;
pub use error::{Error, Result};
pub use grid::TimeGrid;
pub use interrupt::Interrupt;
pub use linearise::plain::Plain;
pub use model::{FreeEndTime, Matrix, Model, State, unpack};
pub use number::bound::Number;
pub use number::condition::Condition;
pub use signal::{Interpolation, Samples, Signal};
pub use signature::{Motion, Parameter, Quantity, Scale, Signature};
pub use simulate::{Checkpoints, Keep, Simulation, Trajectory, Watcher, Workspace};
pub use start::{InitialState, StartReport};
