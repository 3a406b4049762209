//! Central differences: coarse, but independent of every derivative.

use super::Gradient;
use crate::error::Result;
use crate::signature::Parameter;

/// A gradient entry by differences, with an estimate of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The derivative, Richardson-extrapolated from two central differences.
    pub value: f64,
    /// Estimated error.
    pub error: f64,
}

/// Relative size of the largest difference; the others are a half and a quarter of it.
const LARGE: f64 = 2e-4;

impl Gradient<'_> {
    /// The gradient by central differences of the cost with two step sizes, extrapolated; a third tells whether they are about the slope
    /// or about round-off. Zero for parameters that it is not taken with respect to: they are not moved.
    ///
    /// # Errors
    /// If a simulation nearby fails, or as [`Gradient::cost_and_gradient`].
    pub fn differences(&mut self, u: &[f64]) -> Result<Vec<Difference>> {
        self.extrapolated(u, true)
    }

    fn extrapolated(&mut self, u: &[f64], thrice: bool) -> Result<Vec<Difference>> {
        let (model, _) = self.split(u)?;
        self.workspace.ensure_stored(model)?;
        self.choose(u)?;
        let own = self.sensed.as_ref().map_or(&[][..], |sensed| sensed.sensors.parameters());
        let parameters: Vec<&Parameter> =
            self.workspace.simulation.given().signature().parameters.iter().chain(own).collect();
        let active = self.active.clone();
        let mut moved = u.to_vec();
        // the cost's own round-off, as far as differences have seen it, and how far each parameter was moved
        let (mut round_off, mut steps) = (0.0f64, vec![f64::INFINITY; u.len()]);
        let mut differences = (0..u.len())
            .map(|k| {
                if !active.contains(&k) {
                    return Ok(Difference { value: 0.0, error: 0.0 });
                }
                let size = parameters[k].size_at(u[k]);
                let mut slope = |h: f64| -> Result<(f64, f64)> {
                    moved[k] = u[k] + h;
                    let (up, above) = (self.cost(&moved)?, moved[k]);
                    moved[k] = u[k] - h;
                    let (down, below) = (self.cost(&moved)?, moved[k]);
                    moved[k] = u[k];
                    Ok(((up - down) / (above - below), (up.abs() + down.abs()) / (above - below)))
                };
                let (coarse, _) = slope(LARGE * size)?;
                let (fine, noise) = slope(0.5 * LARGE * size)?;
                let value = (4.0 * fine - coarse) / 3.0;
                // what extrapolation removed squared away, and round-off of a thousand operations
                let mut error = (fine - coarse).abs() * 0.05 + 1e-13 * noise;
                if thrice {
                    let (finest, _) = slope(0.25 * LARGE * size)?;
                    // the difference of a smooth function falls to a quarter
                    if (finest - fine).abs() > 0.5 * (fine - coarse).abs() {
                        error = error.max((fine - coarse).abs()).max((finest - fine).abs());
                        round_off = round_off.max(error * LARGE * size);
                    }
                    steps[k] = LARGE * size;
                }
                Ok(Difference { value, error })
            })
            .collect::<Result<Vec<Difference>>>()?;
        if thrice {
            let all = differences.iter_mut().zip(steps);
            // it is the same for all of them, and one alone may look smooth by chance
            all.for_each(|(difference, step)| difference.error = difference.error.max(round_off / step));
        }
        Ok(differences)
    }
}

pub(super) fn central(cost: &mut Gradient<'_>, u: &[f64], gradient: &mut [f64]) -> Result<()> {
    let differences = cost.extrapolated(u, false)?;
    gradient.iter_mut().zip(differences).for_each(|(slope, difference)| *slope = difference.value);
    Ok(())
}
