//! What residuals depend on: how much of them goes with another quantity of the run.

/// Quantiles of a quantity, in each of which residuals have a mean, at most; and samples in one, at least.
const BINS: usize = 24;
const SAMPLES: usize = 12;
/// A quantity varies if its range is more than this part of its largest value.
const VARIES: f64 = 1e-9;
/// Values that differ by less than this part of the range are one, as they are in a figure: what has settled has one mean.
const ALIKE: f64 = 1e-3;

/// Means of residuals over a quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// Part of the residuals' variance that their means over quantiles of the quantity are, less what chance would be of white residuals (the correlation
    /// ratio, Pearson 1905; its correction as that of R²).
    pub share: f64,
    /// Means of the quantity and of the residuals, quantile by quantile.
    pub means: [Vec<f64>; 2],
}

impl Dependence {
    /// How residuals depend on the values of a quantity, at the same samples. `None` where there are too few samples, or one of both does not vary.
    pub fn of(residuals: &[f64], quantity: &[f64]) -> Option<Self> {
        let mut both: Vec<(f64, f64)> = quantity
            .iter()
            .zip(residuals)
            .filter(|(x, r)| x.is_finite() && r.is_finite())
            .map(|(x, r)| (*x, *r))
            .collect();
        let bins = (both.len() / SAMPLES).min(BINS);
        if bins < 4 {
            return None;
        }
        both.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let count = both.len() as f64;
        let size = both.iter().fold(0.0_f64, |most, (x, _)| most.max(x.abs()));
        let range = both[both.len() - 1].0 - both[0].0;
        if range <= VARIES * size {
            return None;
        }
        let mean = both.iter().map(|(_, r)| r).sum::<f64>() / count;
        let all = both.iter().map(|(_, r)| (r - mean).powi(2)).sum::<f64>();
        let mut means = [Vec::new(), Vec::new()];
        let (mut between, mut begin) = (0.0, 0);
        for k in 0..bins {
            let cut = (k + 1) * both.len() / bins;
            if cut <= begin {
                continue;
            }
            // samples of one value stay together: their order is none of the quantity
            let last = both[cut - 1].0;
            let end = cut + both[cut..].partition_point(|(x, _)| x - last <= ALIKE * range);
            let own = &both[begin..end];
            begin = end;
            let [x, r] = [0, 1]
                .map(|of| own.iter().map(|both| if of == 0 { both.0 } else { both.1 }).sum::<f64>() / own.len() as f64);
            between += own.len() as f64 * (r - mean).powi(2);
            means[0].push(x);
            means[1].push(r);
        }
        let bins = means[0].len();
        if all <= 0.0 || bins < 2 {
            return None;
        }
        let share = 1.0 - (1.0 - between / all) * (count - 1.0) / (count - bins as f64);
        Some(Dependence { share: share.max(0.0), means })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use costate::random::SplitMix64;

    /// Protects what is told of residuals: white ones depend on nothing, and of those that follow the sign of a quantity the share is what it is.
    #[test]
    fn shares_are_those_of_what_is_put_in() {
        let mut random = SplitMix64::new(7);
        let quantity: Vec<f64> = (0..3000).map(|_| random.normal()).collect();
        let noise: Vec<f64> = (0..3000).map(|_| random.normal()).collect();
        let white = Dependence::of(&noise, &quantity).unwrap();
        assert!(white.share < 0.01, "{}", white.share);
        let friction: Vec<f64> = noise.iter().zip(&quantity).map(|(noise, x)| noise + x.signum()).collect();
        let found = Dependence::of(&friction, &quantity).unwrap();
        assert!((found.share - 0.5).abs() < 0.04, "{}", found.share);
        assert_eq!(found.means[0].len(), BINS);
        assert!((found.means[1][0] + 1.0).abs() < 0.3 && (found.means[1][BINS - 1] - 1.0).abs() < 0.3);
        // a quantity of two values has two means, and a drift over time is none of it; what settles at one value has one mean there
        let switched: Vec<f64> = (0..3000).map(|i| if i < 1500 { 0.0 } else { 4.0 }).collect();
        let drift: Vec<f64> = (0..3000).map(|i| (std::f64::consts::TAU * f64::from(i) / 500.0).sin()).collect();
        let found = Dependence::of(&drift, &switched).unwrap();
        assert!(found.share < 0.01 && found.means[0] == [0.0, 4.0], "{found:?}");
        let settled: Vec<f64> = (0..3000).map(|i| (-0.1 * f64::from(i)).exp()).collect();
        let found = Dependence::of(&drift, &settled).unwrap();
        // the drift while it decays, in one mean, beside that of all the rest
        assert!(found.share < 0.1 && found.means[0].len() <= 3, "{found:?}");
        // nothing is said where nothing varies, or of a few samples
        assert_eq!(Dependence::of(&noise, &vec![3.0; 3000]), None);
        assert_eq!(Dependence::of(&[1.0; 3000], &quantity), None);
        assert_eq!(Dependence::of(&noise[..40], &quantity[..40]), None);
    }
}
