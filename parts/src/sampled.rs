//! Motions that are given: from samples, and splines whose coefficients are parameters.

use crate::law::FunctionOfTime;
use costate::Result;
use costate::number::Number;
use costate::signal::{Interpolation, Samples};
use costate::spline::Spline;
use costate::unpack;
use std::sync::Arc;

/// A motion that was measured: the cubic spline through samples, twice continuously differentiable, so that a coordinate that
/// follows it has a velocity and a continuous acceleration.
///
/// Parameters: none, or a gain (nominally 1) and an offset (nominally 0, in the coordinate's unit); the coordinate is
/// gain · spline + offset. A simulation that leaves the range of the samples is refused before it begins.
///
/// Noise of the samples goes into the accelerations, and from there into forces, divided by about the square of the sampling
/// step: smooth a noisy record before.
///
/// ```
/// use costate_parts::planar::{Body, Mechanism};
/// use costate_parts::sampled::Sampled;
/// use costate::{Hht, InitialState, Parameter, Simulation, System, TimeGrid};
/// use std::sync::Arc;
///
/// # fn main() -> costate::Result<()> {
/// let times: Vec<f64> = (0..=50).map(|k| 0.02 * f64::from(k)).collect();
/// let angles: Vec<f64> = times.iter().map(|t| 0.3 * (6.0 * t).sin()).collect();
/// let mut mechanism = Mechanism::new("driven_rod");
/// let gain = mechanism.parameter(Parameter::new("gain", "1", 1.0));
/// let offset = mechanism.parameter(Parameter::new("offset", "rad", 0.0));
/// let rod = mechanism.body("rod", Body::new(1.0, 1.0 / 12.0).at([0.5, 0.0], 0.0));
/// mechanism.revolute("pin", mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
/// mechanism.drive("motor", rod.coordinates()[2], Sampled::new(&times, &angles)?, [gain, offset]);
/// let grid = TimeGrid::uniform(0.0, 1.0, 5e-3)?;
/// let simulation = Simulation::new(Arc::new(mechanism.build()?), Hht::new(-0.05)?, grid, vec![])?;
/// // the spline's velocity is not zero at the start
/// let trajectory = simulation.initial_state(InitialState::Projected).run(&[2.0, 0.1])?;
/// assert!((trajectory.state(100).q[2] - (2.0 * angles[25] + 0.1)).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Sampled(Arc<Samples>);

impl Sampled {
    /// Samples `values` (in the coordinate's unit) at `times` in s, even or uneven.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] for slices of different length; fewer than 4 samples; times that are not finite or do not increase; and
    /// values that are not finite or so large that interpolation overflows.
    pub fn new(times: &[f64], values: &[f64]) -> Result<Self> {
        Ok(Sampled(Arc::new(Samples::new(times, values, Interpolation::Cubic)?)))
    }
}

impl std::fmt::Debug for Sampled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sampled(from {:?} s to {:?} s)", self.0.start(), self.0.end())
    }
}

impl FunctionOfTime for Sampled {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        let value = self.0.spline(t);
        if u.is_empty() {
            return value;
        }
        let [gain, offset] = unpack(u);
        gain * value + offset
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        Some((self.0.start(), self.0.end()))
    }
}

impl FunctionOfTime for Spline {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        Spline::at(self, t, u)
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        Some(Spline::known_times(self))
    }
}
