//! Settings of which lines are made: units of speeds, windows, and what is compared of each.

use crate::{Error, Result};
use std::f64::consts::TAU;

/// The unit of a shaft's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpeedUnit {
    /// rad/s
    #[default]
    RadiansPerSecond,
    /// Revolutions per minute.
    RevolutionsPerMinute,
    /// Revolutions per second.
    Hertz,
}

impl SpeedUnit {
    /// All units of speed.
    pub const ALL: [SpeedUnit; 3] = [SpeedUnit::RadiansPerSecond, SpeedUnit::RevolutionsPerMinute, SpeedUnit::Hertz];

    /// Names of the unit as files write it, the usual one first.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            SpeedUnit::RadiansPerSecond => &["rad/s"],
            SpeedUnit::RevolutionsPerMinute => &["rpm", "1/min", "min^-1", "r/min"],
            SpeedUnit::Hertz => &["Hz", "1/s", "s^-1"],
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        SpeedUnit::ALL.into_iter().find(|unit| unit.names().contains(&name))
    }

    /// Usual name of the unit.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// One of this unit in rad/s.
    pub fn radians(self) -> f64 {
        match self {
            SpeedUnit::RadiansPerSecond => 1.0,
            SpeedUnit::RevolutionsPerMinute => TAU / 60.0,
            SpeedUnit::Hertz => TAU,
        }
    }
}

/// Weights of the samples within a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Window {
    /// Hann's weights (1 + cos)/2: what is off a line by more than two over the window's length hardly leaks into it.
    #[default]
    Hann,
    /// Equal weights: the sharpest lines, for a whole number of periods of what has no trend.
    Rectangular,
}

/// Quantity that is compared of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpectrumPart {
    /// Amplitude |Y|.
    #[default]
    Amplitude,
    /// Real and imaginary parts, Re Y and Im Y: phases, too.
    Complex,
    /// Level 20 lg |Y|, dB: small lines count as much as large ones.
    Level,
}

impl std::str::FromStr for Window {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "hann" => Ok(Window::Hann),
            "rectangular" => Ok(Window::Rectangular),
            _ => Err(Error::unknown("window", name, "", ["hann", "rectangular"])),
        }
    }
}

impl std::str::FromStr for SpectrumPart {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "amplitude" => Ok(SpectrumPart::Amplitude),
            "complex" => Ok(SpectrumPart::Complex),
            "level" => Ok(SpectrumPart::Level),
            _ => Err(Error::unknown("part of a spectrum", name, "", ["amplitude", "complex", "level"])),
        }
    }
}

impl Window {
    /// Weight at a place from -1/2 to 1/2 of the window's length.
    pub(super) fn weight(self, place: f64) -> f64 {
        match self {
            Window::Hann => 0.5 + 0.5 * (TAU * place).cos(),
            Window::Rectangular => 1.0,
        }
    }

    /// Fewest periods of a line in a window: below, what is no oscillation leaks into it.
    pub(super) fn fewest_periods(self) -> f64 {
        match self {
            Window::Hann => 2.0,
            Window::Rectangular => 1.0,
        }
    }
}
