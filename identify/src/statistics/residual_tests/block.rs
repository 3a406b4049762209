//! Length of blocks of residuals with which a bootstrap sees how they are correlated.

use super::MOST_PRODUCTS;
use costate_data::series::Centred;

/// The length of blocks, in samples, with which the circular block bootstrap finds the variance of a mean with the least mean square error
/// (Politis & White 2004, corrected by Patton, Politis & White 2009): b = (2 G²/D)^⅓ n^⅓ with G = Σ |k| ρ_k and
/// D = 4/3 (Σ ρ_k)², over all lags k with a flat-top window that ends at twice the last lag beyond which no correlation counts. 1 for white
/// residuals, and where nothing is known; a quarter of the record at most.
pub(crate) fn block_length(residuals: &[f64]) -> usize {
    let Some((sum, moment, count)) = sums(residuals) else { return 1 };
    let n = count as f64;
    let length = (2.0 * moment * moment / (4.0 / 3.0 * sum * sum) * n).cbrt();
    // a sum of zero is one of strongly alternating residuals
    let longest = (count / 4).max(1) as f64;
    if length.is_nan() { 1 } else { length.ceil().clamp(1.0, longest) as usize }
}

/// So many samples are worth one that is independent of the others: 1 + 2 Σ ρ_k over the lags that count; 1 for white or alternating residuals, and where
/// nothing is known.
pub(crate) fn worth(residuals: &[f64]) -> f64 {
    let Some((sum, _, count)) = sums(residuals) else { return 1.0 };
    if sum.is_nan() { 1.0 } else { sum.clamp(1.0, (count / 4).max(1) as f64) }
}

/// Σ ρ_k and Σ |k| ρ_k over lags of both signs, and the number of residuals.
fn sums(residuals: &[f64]) -> Option<(f64, f64, usize)> {
    let series = Centred::new(residuals).filter(|series| series.count >= super::FEWEST)?;
    let n = series.count as f64;
    // as many lags in a row that do not count are an end
    let in_a_row = n.log10().sqrt().ceil().max(5.0) as usize;
    let bound = 2.0 * (n.log10() / n).sqrt();
    let most = (series.count / 4).min(MOST_PRODUCTS / series.count).max(in_a_row);
    let mut correlations: Vec<f64> = Vec::new();
    let last = |correlations: &[f64]| correlations.iter().rposition(|value| value.abs() >= bound).map_or(0, |k| k + 1);
    while correlations.len() < most && correlations.len() < last(&correlations) + in_a_row {
        correlations.push(series.autocorrelation(correlations.len() + 1).0);
    }
    let counted = last(&correlations);
    let end = (2 * counted).min(most);
    for lag in correlations.len() + 1..=end {
        correlations.push(series.autocorrelation(lag).0);
    }
    let window = |lag: usize| (2.0 * (1.0 - lag as f64 / end as f64)).clamp(0.0, 1.0);
    let (mut sum, mut moment) = (1.0, 0.0);
    for (lag, value) in (1..=end).zip(&correlations).filter(|(_, value)| !value.is_nan()) {
        sum += 2.0 * window(lag) * value;
        moment += 2.0 * window(lag) * lag as f64 * value;
    }
    Some((sum, moment, series.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use costate::random::SplitMix64;

    fn autoregressive(rho: f64, count: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let mut value = random.normal();
        let step = |_| {
            value = rho * value + (1.0 - rho * rho).sqrt() * random.normal();
            value
        };
        (0..count).map(step).collect()
    }

    /// Protects the rule: one sample for white residuals, and for first-order autoregressive ones what its formula gives with their
    /// true correlations ρ^k, G = 2 ρ/(1 - ρ)², Σ ρ_k = (1 + ρ)/(1 - ρ): in the mean of eight series within a quarter, and each within a
    /// factor of two, by which estimates scatter; long blocks where residuals drift, but no more than a quarter of
    /// the record.
    #[test]
    fn blocks_are_as_long_as_correlations_ask_for() {
        let of =
            |rho: f64| (1..=8).map(|seed| block_length(&autoregressive(rho, 4000, seed)) as f64).collect::<Vec<f64>>();
        assert!(of(0.0).iter().all(|found| *found <= 8.0), "{:?}", of(0.0));
        for rho in [0.5f64, 0.8] {
            let (moment, sum) = (2.0 * rho / (1.0 - rho).powi(2), (1.0 + rho) / (1.0 - rho));
            let expected = (2.0 * moment * moment / (4.0 / 3.0 * sum * sum) * 4000.0).cbrt();
            let found = of(rho);
            assert!(found.iter().all(|found| (0.5..2.0).contains(&(found / expected))), "{rho}: {found:?} {expected}");
            let mean = found.iter().sum::<f64>() / 8.0;
            assert!((mean / expected - 1.0).abs() < 0.25, "{rho}: {found:?} {expected}");
        }
        let drift: Vec<f64> = (0..400).map(f64::from).collect();
        assert!((50..=100).contains(&block_length(&drift)), "{}", block_length(&drift));
        assert_eq!((block_length(&[1.0; 50]), block_length(&[1.0, 2.0])), (1, 1));
    }
}
