//! Quantiles of Student's distribution for the levels of confidence that reports use.
//!
//! Written here rather than taken from a crate: for whole degrees of freedom the distribution is a finite sum of positive
//! terms (Abramowitz & Stegun 26.7.3-4), exact to round-off, and large ones have a short expansion (26.7.5).

/// A level of confidence with its two-sided quantile of the normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The probability.
    pub probability: f64,
    normal: f64,
}

/// The levels of the reported intervals: 68, 95 and 99.7 %.
pub const LEVELS: [Level; 3] = [
    Level { probability: 0.68, normal: 0.994_457_883_209_753 },
    Level { probability: 0.95, normal: 1.959_963_984_540_054 },
    Level { probability: 0.997, normal: 2.967_737_925_342_168 },
];

impl Level {
    /// t with P(|T| <= t) = probability; `None` stands for infinitely many degrees of freedom. Zero degrees have no
    /// quantile: NaN.
    pub fn quantile(&self, degrees_of_freedom: Option<usize>) -> f64 {
        match degrees_of_freedom {
            None => self.normal,
            Some(0) => f64::NAN,
            Some(nu) if nu > 1000 => expansion(self.normal, nu as f64),
            Some(nu) => {
                let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
                // halving an angle below 2 sixty times leaves nothing to halve
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if within(middle, nu) < self.probability { low = middle } else { high = middle }
                }
                (0.5 * (low + high)).tan() * (nu as f64).sqrt()
            }
        }
    }

    /// r² such that the ellipse xᵀ C⁻¹ x = r² of two parameters holds this probability; C is their covariance, for which
    /// the noise was estimated with these degrees of freedom (`None`: given).
    pub fn ellipse(&self, degrees_of_freedom: Option<usize>) -> f64 {
        let outside = 1.0 - self.probability;
        match degrees_of_freedom {
            None => -2.0 * outside.ln(),
            // twice the quantile of F with 2 and ν degrees of freedom, which has a closed form
            Some(nu) => nu as f64 * (-2.0 / nu as f64 * outside.ln()).exp_m1(),
        }
    }
}

/// P(|T| > t).
pub(super) fn tail(t: f64, degrees_of_freedom: usize) -> f64 {
    let theta = (t.abs() / (degrees_of_freedom as f64).sqrt()).atan();
    (1.0 - within(theta, degrees_of_freedom)).max(0.0)
}

/// P(|T| <= √ν tan θ).
fn within(theta: f64, nu: usize) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let odd = nu % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = if nu == 1 { 0.0 } else { term };
    // exponents of the cosine 3, 5, .. or 2, 4, .. up to ν - 2
    let mut exponent = if odd { 3 } else { 2 };
    while exponent + 2 <= nu {
        term *= cos * cos * (exponent - 1) as f64 / exponent as f64;
        sum += term;
        exponent += 2;
    }
    if odd { std::f64::consts::FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

/// The quantile for many degrees of freedom from that of the normal distribution.
fn expansion(z: f64, nu: f64) -> f64 {
    let z2 = z * z;
    let g1 = z * (z2 + 1.0) / 4.0;
    let g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    z + (g1 + (g2 + g3 / nu) / nu) / nu
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the quantiles: values of printed tables for 95 %, closed forms for 1 and 2 degrees of freedom, the seam
    /// between sum and expansion, and the limit.
    #[test]
    fn quantiles_agree_with_tables_and_closed_forms() {
        let table = [(1, 12.706205), (2, 4.302653), (3, 3.182446), (5, 2.570582), (10, 2.228139), (30, 2.042272)];
        for (nu, expected) in table.into_iter().chain([(100, 1.983972), (1000, 1.962339)]) {
            let found = LEVELS[1].quantile(Some(nu));
            assert!((found - expected).abs() < 1e-6, "{nu} degrees of freedom: {found}");
        }
        for level in LEVELS {
            let p = level.probability;
            let one = (std::f64::consts::FRAC_PI_2 * p).tan();
            let two = p * (2.0 / (1.0 - p * p)).sqrt();
            assert!((level.quantile(Some(1)) / one - 1.0).abs() < 1e-10, "{p}");
            assert!((level.quantile(Some(2)) / two - 1.0).abs() < 1e-12, "{p}");
            let theta = (expansion(level.normal, 1000.0) / 1000f64.sqrt()).atan();
            assert!((within(theta, 1000) - p).abs() < 1e-10, "the seam at {p}");
            assert!((level.quantile(Some(100_000_000)) - level.quantile(None)).abs() < 1e-6);
            assert!((level.ellipse(Some(100_000_000)) - level.ellipse(None)).abs() < 1e-5);
        }
        assert!(LEVELS[1].quantile(Some(0)).is_nan());
        assert!((tail(-2.228_139, 10) - 0.05).abs() < 1e-7 && (tail(63.656_741, 1) - 0.01).abs() < 1e-9);
        // F(0.95; 2, 10) = 4.1028
        assert!((LEVELS[1].ellipse(Some(10)) / 2.0 - 4.1028).abs() < 1e-4);
    }
}
