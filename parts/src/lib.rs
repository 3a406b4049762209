//! Mechanisms from parts: in come bodies, joints, forces and sensors as small generic elements, out goes a [`costate::system::System`] with
//! sparse matrices.
//!
//! - [`planar`] and [`spatial`]: mechanisms from bodies, joints, forces and sensors, every property a number or a parameter;
//! - [`law`]: laws of forces, strengths and functions of time that both take; [`sampled`]: functions of time from records;
//! - [`assembly`]: elements of your own, small generic functions of a few coordinates, differentiated locally and added up.
//!
//! It knows the engine alone: no records, costs, optimisers or figures. What a mechanism looks like is noted down as a
//! [`costate::sketch::Sketch`]; who draws it is `costate_report`.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod assembly;
mod bodies;
pub(crate) mod connectivity;
pub mod law;
pub mod planar;
pub mod sampled;
pub mod spatial;
pub(crate) mod totals;

pub use bodies::{BodyQuantity, bodies, impossible};
