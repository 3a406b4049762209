//! Scales of parameters, and the size of one for whatever changes it.

use crate::signature::{Parameter, Scale};

impl Parameter {
    /// Size of the parameter where it starts at `start`: the one that it was given, else that of its start, or of its nominal value where
    /// the start is zero or far from it.
    pub fn size_from(&self, start: f64) -> f64 {
        const FAR: f64 = 1e3;
        let (start, nominal) = (start.abs(), self.nominal.abs());
        let is_near = nominal == 0.0 || (nominal / FAR..=nominal * FAR).contains(&start);
        match self.size {
            Some(size) => size,
            None if start > 0.0 && is_near => start,
            None if nominal > 0.0 => nominal,
            None => 1.0,
        }
    }
}

impl Scale {
    /// Name of the scale for tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Linear => "linear",
            Scale::Log => "log",
        }
    }
}
