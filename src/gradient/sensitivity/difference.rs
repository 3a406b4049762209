//! Central differences: coarse, but independent of every derivative.

use super::Gradient;
use crate::Result;
use crate::signature::Parameter;

/// A gradient entry by differences, with an estimate of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The derivative, Richardson-extrapolated from two central differences.
    pub value: f64,
    /// Estimated error of the derivative.
    pub error: f64,
}

/// Relative size of the largest difference; the others are a half and a quarter of it.
const LARGE: f64 = 2e-4;

/// A difference before it is known how far the cost's round-off reaches.
#[derive(Debug, Clone, Copy)]
pub struct Raw {
    value: f64,
    error: f64,
    /// The cost's own round-off, as far as this difference has seen it.
    round_off: f64,
    /// Largest distance that the parameter was moved; infinite if it was not.
    step: f64,
}

impl Raw {
    const NONE: Raw = Raw { value: 0.0, error: 0.0, round_off: 0.0, step: f64::INFINITY };

    /// Differences with errors that no round-off is beyond: it is the same for all parameters, and one alone may look smooth by chance.
    pub fn finish(all: &[Raw]) -> Vec<Difference> {
        let round_off = all.iter().map(|raw| raw.round_off).fold(0.0, f64::max);
        all.iter().map(|raw| Difference { value: raw.value, error: raw.error.max(round_off / raw.step) }).collect()
    }
}

impl Gradient<'_> {
    /// The gradient by central differences of the cost with two step sizes, extrapolated; a third tells whether they are about the slope
    /// or about round-off. Zero for parameters that it is not taken with respect to: they are not moved.
    ///
    /// # Errors
    /// If a simulation nearby fails, or as [`Gradient::cost_and_gradient`].
    pub fn differences(&mut self, u: &[f64]) -> Result<Vec<Difference>> {
        let all: Vec<usize> = (0..u.len()).collect();
        Ok(Raw::finish(&self.differences_by(u, &all)?))
    }

    /// Central differences by some parameters, as [`Gradient::differences`] takes them by all.
    pub fn differences_by(&mut self, u: &[f64], parameters: &[usize]) -> Result<Vec<Raw>> {
        self.extrapolated(u, parameters, true)
    }

    fn extrapolated(&mut self, u: &[f64], wanted: &[usize], thrice: bool) -> Result<Vec<Raw>> {
        let (model, _) = self.split(u)?;
        self.workspace.ensure_stored(model)?;
        self.choose(u)?;
        let own = self.sensor_run.as_ref().map_or(&[][..], |sensor_run| sensor_run.sensors.parameters());
        let parameters: Vec<&Parameter> =
            self.workspace.simulation.given().signature().parameters.iter().chain(own).collect();
        let active = self.active.clone();
        let mut moved = u.to_vec();
        let base = if thrice { self.cost(u)? } else { 0.0 };
        let mut difference = |&k: &usize| {
            if !active.contains(&k) {
                return Ok(Raw::NONE);
            }
            let size = parameters[k].size_at(u[k]);
            // the slope, twice the cost over the step, and by how much slopes on both sides differ
            let mut slope = |h: f64| -> Result<(f64, f64, f64)> {
                moved[k] = u[k] + h;
                let (up, above) = (self.cost(&moved)?, moved[k]);
                moved[k] = u[k] - h;
                let (down, below) = (self.cost(&moved)?, moved[k]);
                moved[k] = u[k];
                let step = above - below;
                Ok(((up - down) / step, (up.abs() + down.abs()) / step, 2.0 * (up - 2.0 * base + down) / step))
            };
            let (coarse, ..) = slope(LARGE * size)?;
            let (fine, noise, bend) = slope(0.5 * LARGE * size)?;
            // what extrapolation removed squared away, and round-off of a thousand operations
            let error = (fine - coarse).abs() * 0.05 + 1e-13 * noise;
            let mut raw = Raw { value: (4.0 * fine - coarse) / 3.0, error, ..Raw::NONE };
            if thrice {
                let (finest, _, least_bend) = slope(0.25 * LARGE * size)?;
                raw.step = LARGE * size;
                // the difference of a smooth function falls to a quarter
                if (finest - fine).abs() > 0.5 * (fine - coarse).abs() {
                    raw.error = raw.error.max((fine - coarse).abs()).max((finest - fine).abs());
                    raw.round_off = raw.error * LARGE * size;
                }
                // both extrapolated values of a smooth function are the same but for an error of fourth order; where slopes jump (friction, |v|), what
                // is left of the first order in the step is twice what they differ by
                raw.error = raw.error.max(2.0 * (4.0 * finest - 5.0 * fine + coarse).abs() / 3.0);
                // slopes on both sides of a smooth function differ by half as much at half the step; what is left of that is a jump of the slope
                raw.error = raw.error.max((2.0 * least_bend - bend).abs());
            }
            Ok(raw)
        };
        wanted.iter().map(&mut difference).collect()
    }
}

pub(super) fn central(cost: &mut Gradient<'_>, u: &[f64], gradient: &mut [f64]) -> Result<()> {
    let all: Vec<usize> = (0..u.len()).collect();
    let differences = cost.extrapolated(u, &all, false)?;
    gradient.iter_mut().zip(differences).for_each(|(slope, difference)| *slope = difference.value);
    Ok(())
}
