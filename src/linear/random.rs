//! Reproducible random numbers: the same everywhere, from a seed, without a dependency.

/// Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators".
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// A generator of one of many sequences of this seed, by its number: independent of the others as far as the generator mixes.
    pub fn stream(seed: u64, number: u64) -> Self {
        let mixed = SplitMix64(seed).next();
        SplitMix64(SplitMix64(mixed ^ number).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A uniform random number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (-53f64).exp2()
    }

    /// A random number of the standard normal distribution (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        // 1 - unit lies in (0, 1]: its logarithm is finite
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the reproducibility of reports: the generator is SplitMix64, by its published first numbers.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    /// Protects the distributions: the first four moments of many numbers, within five standard errors.
    #[test]
    fn moments_are_those_of_the_distributions() {
        let (mut random, count) = (SplitMix64::new(1), 100_000);
        let moments =
            |values: &[f64]| [1, 2, 3, 4].map(|k| values.iter().map(|x| x.powi(k)).sum::<f64>() / count as f64);
        let normal: Vec<f64> = (0..count).map(|_| random.normal()).collect();
        let unit: Vec<f64> = (0..count).map(|_| random.unit()).collect();
        assert!(unit.iter().all(|x| (0.0..1.0).contains(x)));
        // variances of x^k: 1, 2, 15, 96; and 1/(2 k + 1) - 1/(k + 1)^2
        let expected = [(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)];
        for (moment, (mean, variance)) in moments(&normal).into_iter().zip(expected) {
            assert!((moment - mean).abs() < 5.0 * (variance / count as f64).sqrt(), "{moment} {mean}");
        }
        for (k, moment) in moments(&unit).into_iter().enumerate() {
            let (k, n) = (k as f64 + 1.0, count as f64);
            let (mean, variance) = (1.0 / (k + 1.0), 1.0 / (2.0 * k + 1.0) - (k + 1.0).powi(-2));
            assert!((moment - mean).abs() < 5.0 * (variance / n).sqrt(), "{moment} {mean}");
        }
    }
}
