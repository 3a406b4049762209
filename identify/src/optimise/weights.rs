//! The weights D of a trust region |D d| <= radius.

use super::variable::Scaling;

/// Least weight of a variable on a logarithmic scale, as a part of the heaviest. From 200 starts around the engine mount's
/// optimum, 97 % lead Levenberg-Marquardt there with 0.1 and 93.5 % with 0, where single variables run off by decades.
const LEAST_LOG_WEIGHT: f64 = 0.1;

/// Least weight of a variable on a linear scale, as a part of the heaviest. A trust region that goes by influence alone lets what
/// hardly shows in the cost run off by decades as long as everything else is off: a moment of inertia of 93 kg m² to minus a
/// million. What a variable weighs is taken over its own magnitude, so that units do not count.
const LEAST_WEIGHT: f64 = 0.01;

/// The largest that each variable has weighed so far (Moré 1978), which makes a method blind to units.
#[derive(Debug, Clone, Default)]
pub(crate) struct Weights {
    largest: Vec<f64>,
}

impl Weights {
    /// Takes note of what variables weigh at a point where they have these magnitudes; gives D. Variables on a logarithmic scale have no
    /// units, and a change by a factor e is a large one even if it hardly shows in the cost: these count at least [`LEAST_LOG_WEIGHT`]
    /// of the heaviest, the others [`LEAST_WEIGHT`]. A variable that has never weighed anything gets the largest. `own`: magnitudes
    /// without what residuals tell ([`Magnitudes::own`](super::magnitudes::Magnitudes::own)); what is at zero is no measure for others.
    pub fn update(&mut self, now: &[f64], own: &[f64], magnitudes: &[f64], scaling: &Scaling) -> Vec<f64> {
        self.largest.resize(now.len(), 0.0);
        for (weight, now) in self.largest.iter_mut().zip(now) {
            *weight = weight.max(*now);
        }
        let magnitude = |i: usize, magnitudes: &[f64]| if scaling.is_log(i) { 1.0 } else { magnitudes[i] };
        let largest = |of_log: bool| {
            // what weighed much at an absurd start is no measure for the others
            let counted = now.iter().enumerate().filter(|(i, _)| !of_log || scaling.is_log(*i));
            counted.map(|(i, weight)| weight * magnitude(i, own)).fold(0.0, f64::max)
        };
        let (of_all, of_log) = (largest(false), largest(true));
        let weight = |(i, weight): (usize, &f64)| match (*weight, of_all / magnitude(i, magnitudes)) {
            (weight, _) if scaling.is_log(i) && of_log > 0.0 => weight.max(LEAST_LOG_WEIGHT * of_log),
            (weight, heaviest) if heaviest > 0.0 && heaviest.is_finite() => {
                if weight > 0.0 {
                    weight.max(LEAST_WEIGHT * heaviest)
                } else {
                    heaviest
                }
            }
            // nothing to be measured by; and without a column, nothing moves, so that any weight does
            (weight, _) => {
                if weight > 0.0 {
                    weight
                } else {
                    1.0
                }
            }
        };
        self.largest.iter().enumerate().map(weight).collect()
    }
}

/// |D d|.
pub(crate) fn weighted_norm(weights: &[f64], d: &[f64]) -> f64 {
    super::evaluation::norm(d.iter().zip(weights).map(|(d, weight)| d * weight))
}

/// The largest component of d, each measured by its limit.
pub(crate) fn farthest(d: &[f64], limits: &[f64]) -> f64 {
    d.iter().zip(limits).map(|(d, limit)| d.abs() / limit).fold(0.0, f64::max)
}
