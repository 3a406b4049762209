//! Tails of the chi-square and the normal distribution, as probabilities of what tests find by chance.
//!
//! Of the regularised incomplete gamma function by its series and its continued fraction (Abramowitz & Stegun 6.5.29, 6.5.31).
//! For whole degrees of freedom, Γ(ν/2) is a product.

/// Terms after which the sums have converged to round-off for any degrees of freedom below some ten thousand.
const MOST_TERMS: usize = 2000;

/// P(χ² > x) with so many degrees of freedom; NaN with none, or where x is NaN.
pub(super) fn chi_square(x: f64, degrees_of_freedom: usize) -> f64 {
    if degrees_of_freedom == 0 || x.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    let (a, z) = (0.5 * degrees_of_freedom as f64, 0.5 * x);
    let front = (a * z.ln() - z - ln_gamma_of_half(degrees_of_freedom)).exp();
    // the series converges fast below the mean, the fraction above it
    if z < a + 1.0 { 1.0 - front * series(a, z) } else { front * fraction(a, z) }
}

/// P(|Z| > z) of the standard normal distribution.
pub(super) fn normal(z: f64) -> f64 {
    chi_square(z * z, 1)
}

/// ln Γ(ν/2).
fn ln_gamma_of_half(nu: usize) -> f64 {
    let (first, begin) = if nu.is_multiple_of(2) { (1.0, 0.0) } else { (0.5, 0.5 * std::f64::consts::PI.ln()) };
    let factors = (nu - 1) / 2;
    begin + (0..factors).map(|k| (first + k as f64).ln()).sum::<f64>()
}

/// Σ z^n / (a (a + 1) ... (a + n)).
fn series(a: f64, z: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    for n in 1..MOST_TERMS {
        term *= z / (a + n as f64);
        sum += term;
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// 1/(z + 1 - a - 1 (1 - a)/(z + 3 - a - ...)), from the front (Lentz 1976).
fn fraction(a: f64, z: f64) -> f64 {
    let mut b = z + 1.0 - a;
    let mut c = f64::MAX;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..MOST_TERMS {
        let n = n as f64;
        let numerator = n * (a - n);
        b += 2.0;
        d = 1.0 / (b + numerator * d);
        c = b + numerator / c;
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the tails: closed forms for even degrees of freedom on both sides of the seam, printed quantiles for odd
    /// ones, the normal distribution far out, and the edges.
    #[test]
    fn tails_agree_with_closed_forms_and_tables() {
        for x in [1e-6f64, 0.3, 1.0, 3.9, 4.1, 6.0, 20.0, 80.0, 600.0] {
            let half = 0.5 * x;
            let exact = [
                (2, (-half).exp()),
                (4, (-half).exp() * (1.0 + half)),
                (6, (-half).exp() * (1.0 + half + half * half / 2.0)),
            ];
            for (nu, exact) in exact {
                let found = chi_square(x, nu);
                assert!((found / exact - 1.0).abs() < 1e-13, "{nu} degrees of freedom at {x}: {found} and {exact}");
            }
        }
        let table = [(1, 6.634_897, 0.01), (1, 3.841_459, 0.05), (5, 15.086_272, 0.01), (5, 0.554_298, 0.99)];
        for (nu, x, p) in
            table.into_iter().chain([(25, 44.314_105, 0.01), (25, 11.523_975, 0.99), (99, 134.641_617, 0.01)])
        {
            assert!(
                (chi_square(x, nu) / p - 1.0).abs() < 1e-6,
                "{nu} degrees of freedom at {x}: {}",
                chi_square(x, nu)
            );
        }
        assert!((normal(1.959_963_984_540_054) / 0.05 - 1.0).abs() < 1e-12);
        assert!((normal(6.0) / 1.973_175_290_075_396e-9 - 1.0).abs() < 1e-10);
        assert_eq!((chi_square(-1.0, 3), chi_square(f64::INFINITY, 1)), (1.0, 0.0));
        assert!(chi_square(1.0, 0).is_nan() && chi_square(f64::NAN, 2).is_nan());
    }
}
