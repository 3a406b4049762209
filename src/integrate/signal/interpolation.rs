//! Interpolation between samples.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Interpolation of a sampled signal between its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The value of the last sample is held: what a digital controller does.
    ///
    /// A time less than [`EVEN_TOLERANCE`](crate::time_axis::EVEN_TOLERANCE) sampling steps (or its own round-off) before a sample counts as that sample's time:
    /// `t = k * h` gives sample k although it may be rounded down, summed up from many steps, or the sample's printed time
    /// rounded up.
    ZeroOrder,
    /// Straight lines between samples.
    Linear,
    /// A cubic spline, twice continuously differentiable, with not-a-knot ends: the third derivative is continuous at the
    /// second and the last but one sample, so that no end condition is made up and the error is O(h⁴) up to the ends (a
    /// natural spline forces w'' = 0 there and loses two orders). For band-limited signals.
    Cubic,
}

impl Interpolation {
    /// All names that are understood: `zero-order`, `zoh` (the same), `linear`, `cubic`.
    pub const NAMES: [&'static str; 4] = ["zero-order", "zoh", "linear", "cubic"];

    pub(super) fn fewest_samples(self) -> usize {
        match self {
            Interpolation::ZeroOrder | Interpolation::Linear => 2,
            Interpolation::Cubic => 4,
        }
    }
}

impl fmt::Display for Interpolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interpolation::ZeroOrder => "zero-order",
            Interpolation::Linear => "linear",
            Interpolation::Cubic => "cubic",
        })
    }
}

impl FromStr for Interpolation {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "zero-order" | "zoh" => Ok(Interpolation::ZeroOrder),
            "linear" => Ok(Interpolation::Linear),
            "cubic" => Ok(Interpolation::Cubic),
            _ => Err(Error::unknown("interpolation", name, "", Self::NAMES)),
        }
    }
}
