//! Mechanisms as files: coordinates, parameters, and formulas for mass, force, constraints and outputs in TOML, or parts of the plane or of
//! space, without a compiler.
//!
//! A file is one more [`costate::Model`], evaluated over any number type, so that gradients, Hessians, identification and control work on it
//! unchanged, and as exactly. Formulas are checked for units. All keys: [`reference()`], which is `docs/mechanism-file.md`.
//!
//! ```
//! let text = r#"
//! coordinates = { x = "m" }
//! inputs = { F = "N" }
//! mass = { x = "m" }
//! force = { x = "F - c*x - d*x'" }
//! outputs = { a = { unit = "m/s^2", is = "x''" } }
//!
//! [parameters]
//! m = { unit = "kg", nominal = 1.0, fixed = true }
//! c = { unit = "N/m", nominal = 40.0, lower = 0.0 }
//! d = { unit = "N s/m", nominal = 0.8, lower = 0.0 }
//! "#;
//! let entry = costate_file::parse(text, "oscillator.toml".as_ref())?;
//! assert_eq!(entry.name(), "oscillator");
//! let slip = text.replace("c*x ", "c*x' ");
//! let error = costate_file::parse(&slip, "oscillator.toml".as_ref()).err().unwrap().to_string();
//! assert!(error.starts_with("oscillator.toml, line 5: force of `x`: this subtracts [N] and [N/s]"), "{error}");
//! # Ok::<(), costate_identify::Error>(())
//! ```
//!
//! Robots are read from URDF, too: [`read`] takes `robot.urdf`, mechanism files include it, and [`given_motions`] has its joints move as in a record.
//!
//! [`read`] is what `Registry::with_files` takes, so that a registry knows files by their paths.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod dimension;
mod export;
mod formula;
mod keys;
mod lagrange;
mod model;
mod parts;
mod picture;
mod reader;
mod robot;
mod scenario;
mod skeleton;
mod table;

pub use keys::reference;
pub use model::FileModel;
pub use reader::{cost, derive, equations, export, is_mechanism, parse, read};
pub use robot::{Clear, Excitation, GivenMotions, WithValues, excitation, given_motions, is_robot, with_values};
pub use skeleton::skeleton;

/// What reads formulas of problem files, for `Registry::with_formulas`.
pub const FORMULAS: costate_identify::registry::Formulas = costate_identify::registry::Formulas { derive, cost };
