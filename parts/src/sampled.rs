//! Motions that are given: from samples, and splines whose coefficients are parameters.

use crate::law::FunctionOfTime;
use costate::spline::{Spline, factors};
use costate::{Error, Interpolation, Number, Result, Samples, unpack};
use std::sync::Arc;

/// A motion that was measured: the cubic spline through samples, twice continuously differentiable, so that a coordinate that
/// follows it has a velocity and a continuous acceleration.
///
/// Parameters: none, or a gain (nominally 1) and an offset (nominally 0, in the coordinate's unit); the coordinate is
/// gain · spline + offset. A simulation that leaves the range of the samples is refused before it begins.
///
/// Noise of the samples goes into the accelerations, and from there into forces, divided by about the square of the sampling
/// step: smooth a noisy record before ([`smoothed`]).
///
/// ```
/// use costate_parts::planar::{Body, Mechanism};
/// use costate_parts::sampled::Sampled;
/// use costate::{InitialState, Parameter, Simulation, TimeGrid};
/// use costate::scheme::Hht;
/// use costate::system::System;
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

/// Degree of smoothing splines.
const DEGREE: usize = 5;
/// Their intervals a period of the bandwidth.
const INTERVALS: f64 = 12.0;

/// Samples smoothed without delay, with accelerations that are smooth, too: a spline of degree five with a penalty on its fourth derivative
/// (Eilers & Marx 1996), which halves amplitudes at the `bandwidth` (Hz, of times in s), lets through what is slower as 1/(1 + (f/bandwidth)⁸), and
/// keeps cubic polynomials, at the ends, too. Times may be uneven.
///
/// ```
/// use costate_parts::sampled::smoothed;
///
/// let times: Vec<f64> = (0..400).map(|k| 5e-3 * f64::from(k)).collect();
/// let noise = |k: usize| if k % 2 == 0 { 1e-3 } else { -1e-3 };
/// let noisy: Vec<f64> = times.iter().enumerate().map(|(k, t)| (3.0 * t).sin() + noise(k)).collect();
/// let smooth = smoothed(&times, &noisy, 10.0)?;
/// assert!(smooth.iter().zip(&times).all(|(s, t)| (s - (3.0 * t).sin()).abs() < 4e-4));
/// # Ok::<(), costate::Error>(())
/// ```
///
/// # Errors
/// As [`Sampled::new`], or a bandwidth that is not below half the mean frequency of the samples.
pub fn smoothed(times: &[f64], values: &[f64], bandwidth: f64) -> Result<Vec<f64>> {
    Samples::new(times, values, Interpolation::Cubic)?;
    // four samples at least, which increase
    let (first, span) = (times[0], times[times.len() - 1] - times[0]);
    let rate = (times.len() - 1) as f64 / span;
    if !(bandwidth > 0.0 && bandwidth < 0.5 * rate) {
        let problem =
            format!("{bandwidth} Hz is not between 0 and {:.4} Hz, half the frequency of the samples", 0.5 * rate);
        return Err(Error::invalid("the bandwidth of a smoothing spline", problem, "give a frequency in between"));
    }
    let intervals = (INTERVALS * bandwidth * span).ceil().max(1.0);
    let h = span / intervals;
    let count = intervals as usize + DEGREE;
    // the place of a time, and the factors of the coefficients from there on
    let at = |t: f64| {
        let place = ((t - first) / h).floor().clamp(0.0, intervals - 1.0);
        let x = (t - first) / h - place;
        (place as usize, factors(DEGREE, x, |k| k as f64 - (DEGREE - 1) as f64))
    };
    // normal equations: the diagonal and what is below it, row by row
    let mut matrix = vec![[0.0; DEGREE + 1]; count];
    let mut right = vec![0.0; count];
    for (t, value) in times.iter().zip(values) {
        let (place, factors) = at(*t);
        for i in 0..=DEGREE {
            // what rests has no rate, not one of round-off
            right[place + i] += factors[i] * (value - values[0]);
            (0..=i).for_each(|j| matrix[place + i][i - j] += factors[i] * factors[j]);
        }
    }
    let penalty = h * rate / (std::f64::consts::TAU * bandwidth * h).powi(8);
    const DIFFERENCE: [f64; 5] = [1.0, -4.0, 6.0, -4.0, 1.0];
    for k in 0..count.saturating_sub(4) {
        for i in 0..5 {
            (0..=i).for_each(|j| matrix[k + i][i - j] += penalty * DIFFERENCE[i] * DIFFERENCE[j]);
        }
    }
    // Cholesky factors, and both substitutions
    for i in 0..count {
        for d in (0..=DEGREE.min(i)).rev() {
            let j = i - d;
            let known: f64 = (d + 1..=DEGREE.min(i)).map(|e| matrix[i][e] * matrix[j].get(e - d).unwrap_or(&0.0)).sum();
            matrix[i][d] = if d == 0 { (matrix[i][0] - known).sqrt() } else { (matrix[i][d] - known) / matrix[j][0] };
        }
    }
    if matrix.iter().any(|row| !(row[0] > 0.0 && row[0].is_finite())) {
        let problem = "gaps between the samples leave the motion undetermined at this bandwidth";
        return Err(Error::invalid("a smoothing spline", problem, "give a lower bandwidth, or a part without gaps"));
    }
    for i in 0..count {
        let known: f64 = (1..=DEGREE.min(i)).map(|d| matrix[i][d] * right[i - d]).sum();
        right[i] = (right[i] - known) / matrix[i][0];
    }
    for i in (0..count).rev() {
        let known: f64 = (1..=DEGREE.min(count - 1 - i)).map(|d| matrix[i + d][d] * right[i + d]).sum();
        right[i] = (right[i] - known) / matrix[i][0];
    }
    let value = |t: &f64| {
        let (place, factors) = at(*t);
        values[0] + factors.iter().zip(&right[place..]).map(|(factor, c)| factor * c).sum::<f64>()
    };
    Ok(times.iter().map(value).collect())
}

impl FunctionOfTime for Spline {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        Spline::at(self, t, u)
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        Some(Spline::known_times(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects smoothing: amplitudes by frequency as documented, cubic polynomials kept to the ends, uneven times, what is refused.
    #[test]
    fn smoothing_halves_at_its_bandwidth() {
        let times: Vec<f64> = (0..2001).map(|k| 5e-3 * f64::from(k) + if k % 3 == 1 { 1e-3 } else { 0.0 }).collect();
        for (frequency, expected) in [(2.0, 1.0), (5.0, 1.0 / (1.0 + 0.5f64.powi(8))), (10.0, 0.5), (20.0, 1.0 / 257.0)]
        {
            let wave: Vec<f64> = times.iter().map(|t| (std::f64::consts::TAU * frequency * t).sin()).collect();
            let smooth = smoothed(&times, &wave, 10.0).unwrap();
            // by correlation, away from the ends
            let inner = || (400..1600).map(|k| (smooth[k], wave[k]));
            let gain = inner().map(|(s, w)| s * w).sum::<f64>() / inner().map(|(_, w)| w * w).sum::<f64>();
            assert!((gain - expected).abs() < 0.02, "{frequency} Hz: {gain} {expected}");
        }
        let cubic: Vec<f64> = times.iter().map(|t| 1.0 - 2.0 * t + 0.3 * t * t - 0.01 * t * t * t).collect();
        let smooth = smoothed(&times, &cubic, 4.0).unwrap();
        assert!(smooth.iter().zip(&cubic).all(|(a, b)| (a - b).abs() < 1e-9));
        // friction of a joint at rest would be sought in the round-off of its rate
        assert_eq!(smoothed(&times, &vec![-0.4; times.len()], 4.0).unwrap(), vec![-0.4; times.len()]);
        for (times, bandwidth, says) in [
            (&times[..], 120.0, "half the frequency of the samples"),
            (&times[..], f64::NAN, "not between 0"),
            (&[0.0, 0.1, 0.2][..], 1.0, "samples"),
        ] {
            let error = smoothed(times, &vec![0.0; times.len()], bandwidth).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
