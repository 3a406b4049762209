//! A low-pass filter without delay, applied alike to what is measured and to what sensors show.
//!
//! Second-order Butterworth by the bilinear transform (Oppenheim and Schafer, Discrete-Time Signal Processing, section 7.1), run forwards
//! and then backwards from rest: with H the first of both as a matrix, the second is Hᵀ, so that HᵀH is symmetric and its own transpose.

use crate::{Error, Result};

/// The filter for one sampling step, about a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LowPass {
    /// Coefficient of this and the two earlier values of what goes in, b₁ = 2 b₀, b₂ = b₀.
    b: f64,
    /// Coefficients of the two earlier values of what comes out.
    a: [f64; 2],
    /// Values are filtered about this one, so that the filter does not begin and end with a jump.
    mean: f64,
    /// Number of samples after which an impulse has fallen below a thousandth.
    pub memory: usize,
}

impl LowPass {
    /// A filter that halves the amplitude at `frequency` (Hz), for samples `step` apart.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless the frequency is positive and below half that of the samples.
    pub fn new(frequency: f64, step: f64, mean: f64) -> Result<Self> {
        let highest = 0.5 / step;
        if !(frequency > 0.0 && frequency < highest) {
            let problem =
                format!("{frequency} Hz is not between 0 and {highest} Hz, half the frequency of the samples");
            return Err(Error::invalid("a low-pass filter", problem, "give a frequency in between"));
        }
        // one pass has |H|² = 1/2 at the frequency, both together 1/2 in amplitude
        let k = (std::f64::consts::PI * frequency * step).tan();
        let scale = 1.0 / (1.0 + std::f64::consts::SQRT_2 * k + k * k);
        let a = [2.0 * (k * k - 1.0) * scale, (1.0 - std::f64::consts::SQRT_2 * k + k * k) * scale];
        let decay = std::f64::consts::SQRT_2 * std::f64::consts::PI * frequency * step;
        Ok(LowPass { b: k * k * scale, a, mean, memory: (1000f64.ln() / decay).ceil() as usize })
    }

    fn once<'x>(&self, values: impl Iterator<Item = &'x mut f64>) {
        let (mut x, mut y) = ([0.0; 2], [0.0; 2]);
        for value in values {
            let new = self.b * (*value + 2.0 * x[0] + x[1]) - self.a[0] * y[0] - self.a[1] * y[1];
            (x, y) = ([*value, x[0]], [new, y[0]]);
            *value = new;
        }
    }

    /// Filters derivatives: the linear part alone, at every `stride`-th place.
    pub fn apply_linear(&self, values: &mut [f64], stride: usize) {
        self.once(values.iter_mut().step_by(stride));
        let last = (values.len().max(1) - 1) / stride * stride;
        self.once(values.iter_mut().take(last + 1).rev().step_by(stride));
    }

    /// Filters values, at every `stride`-th place.
    pub fn apply(&self, values: &mut [f64], stride: usize) {
        values.iter_mut().for_each(|value| *value -= self.mean);
        self.apply_linear(values, stride);
        values.iter_mut().for_each(|value| *value += self.mean);
    }

    /// Factor by which the filter divides the standard deviation of white noise.
    pub fn gain_of_noise(&self) -> f64 {
        let mut impulse = vec![0.0; 4 * self.memory + 1];
        impulse[2 * self.memory] = 1.0;
        self.apply_linear(&mut impulse, 1);
        impulse.iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects what the filter is for: a constant passes, an oscillation at the frequency is halved without delay, one far above it goes,
    /// and the filter is its own transpose, whatever the stride.
    #[test]
    fn low_frequencies_pass_without_delay() {
        let (step, frequency) = (1e-3, 20.0);
        let filter = LowPass::new(frequency, step, 3.0).unwrap();
        let mut constant = vec![3.0; 500];
        filter.apply(&mut constant, 1);
        assert!(constant.iter().all(|x| *x == 3.0));
        for (f, expected) in [(1.0, 1.0), (20.0, 0.5), (200.0, 0.0)] {
            let wave = |i: usize| (std::f64::consts::TAU * f * step * i as f64).sin();
            let mut values: Vec<f64> = (0..4000).map(wave).collect();
            let linear = LowPass { mean: 0.0, ..filter };
            linear.apply(&mut values, 1);
            for (i, value) in values.iter().enumerate().take(2500).skip(1500) {
                assert!((value - expected * wave(i)).abs() < 1e-3, "{f} Hz at {i}: {value}");
            }
        }
        let random = |seed: usize| (0..91).map(|i| ((i * i + seed) as f64 * 1.7).sin()).collect::<Vec<f64>>();
        for stride in [1, 3] {
            let (a, b) = (random(1), random(2));
            let (mut of_a, mut of_b) = (a.clone(), b.clone());
            filter.apply_linear(&mut of_a, stride);
            filter.apply_linear(&mut of_b, stride);
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).step_by(stride).map(|(x, y)| x * y).sum::<f64>();
            assert!((dot(&of_a, &b) - dot(&a, &of_b)).abs() < 1e-14);
        }
        assert!(LowPass::new(500.0, step, 0.0).is_err() && LowPass::new(0.0, step, 0.0).is_err());
    }

    /// Protects deviations: white noise comes out with the standard deviation that is said.
    #[test]
    fn the_gain_of_noise_is_that_of_white_noise() {
        let filter = LowPass::new(30.0, 1e-3, 0.0).unwrap();
        let mut random = crate::random::SplitMix64::new(7);
        let mut noise: Vec<f64> = (0..200_000).map(|_| random.normal()).collect();
        filter.apply(&mut noise, 1);
        let deviation = (noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64).sqrt();
        // of 200000 samples some 20000 are independent
        assert!((deviation / filter.gain_of_noise() - 1.0).abs() < 0.02, "{deviation} {}", filter.gain_of_noise());
    }
}
