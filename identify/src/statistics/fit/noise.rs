//! Knowledge of the noise.

use crate::{Error, Result};

/// Knowledge of the noise of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// The deviations of the references are its standard deviations.
    Given,
    /// The deviations are right up to one factor, which is estimated from the residuals.
    #[default]
    Estimated,
    /// The deviation of each sensor was estimated with the parameters ([`likelihood`](crate::likelihood)): they are then those of the
    /// noise, as if they had been given.
    PerSensor,
}

impl std::str::FromStr for Noise {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "given" => Ok(Noise::Given),
            "estimated" => Ok(Noise::Estimated),
            _ => Err(Error::unknown("kind of noise", name, "", ["given", "estimated"])),
        }
    }
}
