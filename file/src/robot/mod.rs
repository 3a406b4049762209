//! Robots from URDF: a file of that format becomes the text of a mechanism file, whose lines are known by those of the robot's.

mod clearance;
mod excitation;
mod frame;
mod mechanism;
mod record;
mod urdf;
mod write_back;

pub use clearance::Clear;
pub use excitation::{Excitation, excitation};
pub(crate) use mechanism::{KEYS, Options, translate};
pub use record::{GivenMotions, given_motions};
pub use write_back::{WithValues, with_values};

use std::path::Path;

/// True for the name of a robot's file.
pub fn is_robot(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("urdf"))
}
