//! Noise that is added to a simulated reference, so that statistics of a fit can be seen at work.

use crate::random::SplitMix64;
use crate::shown::rounded;
use crate::signature::Quantity;
use crate::{Error, Result};

/// Noise below this part of the largest value is no more than a simulation's own round-off.
const ROUND_OFF: f64 = 1e-12;

/// Size of the noise.
#[derive(Debug, Clone, PartialEq)]
pub enum NoiseLevel {
    /// Standard deviation as a part of the reference's own about its mean, the same part for every output.
    Relative(f64),
    /// Standard deviation in the unit of the output, by the output's name.
    Absolute(Vec<(String, f64)>),
}

/// Independent normal noise of a given seed. Numbers are drawn output by output in the order of the comparison, sample by
/// sample.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticNoise {
    /// Seed of the random numbers: another seed, another noise.
    pub seed: u64,
    /// Size of the noise.
    pub level: NoiseLevel,
}

/// Noise that was added to one reference.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedNoise {
    /// The output.
    pub output: String,
    /// Unit of the output.
    pub unit: String,
    /// Standard deviation of the noise, in that unit.
    pub deviation: f64,
    /// The seed of all outputs' noise.
    pub seed: u64,
}

impl SyntheticNoise {
    /// Adds noise to `values` of `output` and says what was added. Samples that are not there (NaN) remain so.
    pub(crate) fn add(&self, output: &Quantity, values: &mut [f64], random: &mut SplitMix64) -> Result<AddedNoise> {
        let subject = format!("the noise of output `{}`", output.name);
        let deviation = match &self.level {
            NoiseLevel::Relative(part) => {
                let spread = output.spread(values.iter().copied()).deviation;
                if spread == 0.0 {
                    let remedy = format!("give it in {}: {}=value", output.unit, output.name);
                    return Err(Error::invalid(
                        subject,
                        "its reference is constant, so that a part of it is none",
                        remedy,
                    ));
                }
                part * spread
            }
            NoiseLevel::Absolute(levels) => match levels.iter().find(|(name, _)| *name == output.name) {
                Some((_, deviation)) => *deviation,
                None => {
                    let remedy = "give one for every compared output";
                    return Err(Error::invalid(subject, "it has no standard deviation", remedy));
                }
            },
        };
        if !(deviation.is_finite() && deviation > 0.0) {
            let problem = format!("its standard deviation would be {deviation} {}", output.unit);
            return Err(Error::invalid(subject, problem, "give a positive level"));
        }
        let largest = values.iter().filter(|y| !y.is_nan()).fold(0.0, |largest: f64, y| largest.max(y.abs()));
        let least = ROUND_OFF * largest;
        if deviation < least {
            let unit = &output.unit;
            let problem = format!(
                "a standard deviation of {} {unit} is lost in the round-off of a simulation whose values reach {} {unit}",
                rounded(deviation, 3),
                rounded(largest, 3)
            );
            let remedy = format!("give a level that makes it {} {unit} at least, or no noise", rounded(least, 1));
            return Err(Error::invalid(subject, problem, remedy));
        }
        values.iter_mut().for_each(|y| *y += deviation * random.normal());
        Ok(AddedNoise { output: output.name.clone(), unit: output.unit.clone(), deviation, seed: self.seed })
    }
}
