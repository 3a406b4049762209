//! Means and spreads of values, without overflow, and in one way for values that are known up to a period.
//!
//! Of an angle that may be off by whole turns, neither mean nor spread may depend on turns: its mean is the argument of the mean unit
//! vector (Mardia & Jupp, Directional Statistics, 2000, section 2.2), and its deviations from that are taken to the nearest turn, as residuals are.
//! An angle taken at random has the spread π/√3 rad, and so have residuals of a model that knows nothing of it.

use crate::signature::Quantity;

pub use crate::signature::difference;

/// √Σ x², of what is no number or infinite the same.
pub fn norm(values: impl Iterator<Item = f64>) -> f64 {
    // Σ x² = largest² · sum, as BLAS keeps it: neither overflows where the norm does not
    let (largest, sum) = values.fold((0.0f64, 0.0f64), |(largest, sum), value| match value.abs() {
        0.0 => (largest, sum),
        size if size > largest => (size, 1.0 + sum * (largest / size) * (largest / size)),
        size => (largest, sum + (size / largest) * (size / largest)),
    });
    if largest.is_infinite() { largest } else { largest * sum.sqrt() }
}

/// Root mean square √(Σ x²/n); NaN of nothing.
pub fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let mut count = 0usize;
    let norm = norm(values.inspect(|_| count += 1));
    norm / (count as f64).sqrt()
}

/// Mean and scatter of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean of the values.
    pub mean: f64,
    /// Root mean square of their deviations from it.
    pub deviation: f64,
    /// Number of the values.
    pub count: usize,
}

impl Spread {
    /// Spread of values that are what they are. NaN of none.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        Spread::about(values, None)
    }

    /// Spread of values known up to a `period`, if there is one. NaN of none.
    fn about(values: impl Iterator<Item = f64> + Clone, period: Option<f64>) -> Self {
        let count = values.clone().count();
        let mean = match period {
            Some(period) => {
                let turn = std::f64::consts::TAU / period;
                let (sin, cos) = values.clone().fold((0.0, 0.0), |(sin, cos), value| {
                    let (own_sin, own_cos) = (value * turn).sin_cos();
                    (sin + own_sin, cos + own_cos)
                });
                if count == 0 { f64::NAN } else { f64::atan2(sin, cos) / turn }
            }
            // parts of the largest, whose sum does not overflow
            None => match values.clone().fold(0.0f64, |most, value| most.max(value.abs())) {
                0.0 if count > 0 => 0.0,
                most => values.clone().map(|value| value / most).sum::<f64>() / count as f64 * most,
            },
        };
        let deviation = root_mean_square(values.map(|value| crate::signature::difference(value, mean, period)));
        Spread { mean, deviation, count }
    }

    /// True if the values differ by more than round-off: a part of constant ones is none.
    pub fn varies(&self) -> bool {
        self.deviation > 1e-14 * self.mean.abs()
    }
}

impl Quantity {
    /// Mean and deviation of values of it that are there; see the [module](self).
    pub fn spread(&self, values: impl Iterator<Item = f64> + Clone) -> Spread {
        Spread::about(values.filter(|value| !value.is_nan()), self.period)
    }
}

/// The spread of values that are known up to a `period`, taken at random: what residuals come to of a model that knows nothing.
pub fn spread_by_chance(period: f64) -> f64 {
    period / 12f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    /// Protects norms from overflow and underflow of squares, and what is not finite from being lost.
    #[test]
    fn norms_neither_overflow_nor_vanish() {
        for size in [1e300, 1.0, 1e-300] {
            // 3, 4, 12: 13
            let found = norm([3.0, -4.0, 0.0, 12.0].into_iter().map(|x| x * size * 1e-2)) / (size * 1e-2);
            assert!((found - 13.0).abs() < 1e-13, "{size}: {found}");
            let spread = Spread::of([1.5, 1.7, 1.6, 1.2].into_iter().map(|x| x * size));
            assert!((spread.mean / size - 1.5).abs() < 1e-15, "{spread:?}");
            assert!((spread.deviation / size - 0.035f64.sqrt()).abs() < 1e-14, "{spread:?}");
        }
        assert_eq!(norm([1.0, f64::INFINITY, 2.0].into_iter()), f64::INFINITY);
        assert!(norm([1.0, f64::NAN, 2.0].into_iter()).is_nan() && norm([f64::NAN].into_iter()).is_nan());
        assert_eq!(norm([0.0, 0.0].into_iter()), 0.0);
        assert!(root_mean_square([].into_iter()).is_nan() && Spread::of([].into_iter()).mean.is_nan());
    }

    /// Protects the mean and the spread of angles: they are those of the angles, whatever whole turns are added, in rad or degrees; of
    /// angles all around they are those of chance, π/√3 rad.
    #[test]
    fn angles_are_spread_alike_whatever_their_turns() {
        let angles: Vec<f64> = (0..200).map(|i| 3.0 + 0.4 * (i as f64 * 0.7).sin()).collect();
        let plain = Spread::of(angles.iter().copied());
        let turned = angles.iter().enumerate().map(|(i, angle)| angle + TAU * ((i * 7) % 5) as f64 - 2.0 * TAU);
        let found = Quantity::angle("a").spread(turned.clone());
        // the arithmetic mean of so small a spread is the direction's to third order
        assert!(
            (found.mean - plain.mean).abs() < 1e-3 && (found.deviation - plain.deviation).abs() < 1e-5,
            "{found:?}"
        );
        let degrees = Quantity::new("a", "deg").periodic(360.0).spread(turned.map(f64::to_degrees));
        assert!((degrees.deviation.to_radians() - found.deviation).abs() < 1e-12, "{degrees:?}");
        // a shaft that turns evenly, over many turns
        let shaft = Quantity::angle("a").spread((0..10_000).map(|i| i as f64 * 0.1));
        assert!((shaft.deviation - PI / 3f64.sqrt()).abs() < 1e-2, "{shaft:?}");
        assert_eq!(spread_by_chance(TAU), TAU / 12f64.sqrt());
    }
}
