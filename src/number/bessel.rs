//! Spherical Bessel functions, where they are small as well as where they are not.

use super::Number;

/// The spherical Bessel function of the first kind jₙ(x); j₀ is sin(x)/x. By its series up to |x| = n + 1, so that no digit cancels and derivatives of every
/// order exist at zero; beyond, by the recurrence from sin and cos, which is stable there (Abramowitz & Stegun, 10.1.2 and 10.1.19).
pub(super) fn spherical_bessel<D: Number>(order: u8, x: D) -> D {
    let n = f64::from(order);
    let square = x * x;
    let mut series = D::from(1.0);
    for k in (1..=12 + u16::from(order)).rev().map(f64::from) {
        series = series * square * (-0.5 / (k * (2.0 * (n + k) + 1.0))) + 1.0;
    }
    let first = (1..=i32::from(order)).fold(x.powi(i32::from(order)), |first, k| first / f64::from(2 * k + 1));
    let (sin, cos) = x.sin_cos();
    let mut last = [cos / x, sin / x];
    for k in 0..order {
        last = [last[1], last[1] * f64::from(2 * k + 1) / x - last[0]];
    }
    D::select(square.at_most((n + 1.0) * (n + 1.0)), first * series, last[1])
}
