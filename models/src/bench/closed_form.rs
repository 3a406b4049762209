//! Motions that have a closed form: those of a pendulum, by Jacobi's amplitude.

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

/// The complete elliptic integral of the first kind K(m), and the amplitude am(x | m), for 0 < m < 1 (Abramowitz & Stegun, 16.4 and 17.6).
fn jacobi(m: f64) -> (f64, impl Fn(f64) -> f64) {
    let (mut a, mut b, mut ratios) = (1.0, (1.0 - m).sqrt(), vec![]);
    // halves quadratically: ten rounds are more than enough
    for _ in 0..10 {
        let half = 0.5 * (a - b);
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
        ratios.push(half / a);
    }
    let amplitude = move |x: f64| {
        let whole = a * x * 2f64.powi(ratios.len() as i32);
        ratios.iter().rev().fold(whole, |phi, ratio| 0.5 * (phi + (ratio * phi.sin()).asin()))
    };
    (PI / (2.0 * a), amplitude)
}

/// Angle from the lowest place, rad, of a point on a rod of 1 m that is let go horizontally: sin(angle/2) = sn(K - sqrt(g/l) t | 1/2)/sqrt 2.
pub(super) fn pendulum(t: f64, gravity: f64) -> f64 {
    let (quarter, amplitude) = jacobi(0.5);
    2.0 * (amplitude(quarter - gravity.sqrt() * t).sin() / SQRT_2).asin()
}

/// Angle of the cranks of A02 from upright, clockwise, rad: with `windows` linkages, rods of 1 m and 1 kg, and a start upright with 1 rad/s. Couplers are
/// carried along, so that (angle')² = 1 + 2 k (1 - cos angle), where k g is the ratio of first to second moments.
pub(super) fn four_bars(t: f64, windows: f64, gravity: f64) -> f64 {
    let cranks = windows + 1.0;
    let k = gravity * (0.5 * cranks + windows) / (cranks / 3.0 + windows);
    let (quarter, amplitude) = jacobi(k / (0.25 + k));
    2.0 * (FRAC_PI_2 - amplitude(quarter - (0.25 + k).sqrt() * t))
}
