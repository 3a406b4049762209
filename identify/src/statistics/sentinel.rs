//! Values that stand for missing ones: the same number again and again, far outside all others.
//!
//! Loggers write 9999, -999 or 65535 where they have nothing to write. Such a sample is one outlier of many, none of which stands out beside the others.

use costate::cost::Loss;
use costate::shown::rounded;

/// A value is far from the others where the gap to them is so many times what these reach from their median.
const FAR: f64 = 5.0;
/// A larger part of the samples is no exception.
const MOST: f64 = 0.3;
/// More different values are a motion.
const KINDS: usize = 3;

/// A value that a record repeats far outside all others.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sentinel {
    /// The value, in the output's unit.
    pub value: f64,
    /// How many samples have it.
    pub count: usize,
    /// The time of the first of them, s.
    pub first: f64,
    /// Their part of all squared residuals of the output; under a robust loss, of all pulls.
    pub share: f64,
}

impl Sentinel {
    /// `13 samples of x are 9999 m (the first at t = 1.2 s)`
    pub fn in_words(&self, name: &str, unit: &str) -> String {
        let Sentinel { value, count, first, .. } = self;
        format!(
            "{count} samples of `{name}` are {} {unit}, the first at t = {} s",
            rounded(*value, 6),
            rounded(*first, 6)
        )
    }
}

/// What is known of a record and of what a model makes of it, sample by sample.
pub(super) struct Compared<'a> {
    pub values: &'a [f64],
    pub times: &'a [f64],
    /// y - ȳ
    pub residuals: &'a [f64],
    /// The same over its deviation.
    pub scaled: &'a [f64],
    pub period: Option<f64>,
    pub loss: &'a Loss,
}

impl Compared<'_> {
    /// Values that the record repeats far outside all others, and the model goes nowhere near.
    pub fn sentinels(&self) -> Vec<Sentinel> {
        let largest = self.scaled.iter().fold(0.0f64, |largest, r| largest.max(r.abs()));
        // squares of the largest might overflow
        let part = |i: usize| match self.loss {
            Loss::Squares => (self.scaled[i] / largest).powi(2),
            loss => (loss.weight(self.scaled[i]) * self.scaled[i]).abs(),
        };
        let told = |(value, gap): (f64, f64)| {
            let places = || (0..self.values.len()).filter(|i| self.values[*i] == value);
            // what is known up to a period is never far from anything
            let is_missed = self.period.is_some() || places().all(|i| self.residuals[i].abs() > 0.5 * gap);
            is_missed.then(|| Sentinel {
                value,
                count: places().count(),
                first: places().next().map_or(f64::NAN, |i| self.times[i]),
                share: places().map(part).sum::<f64>() / (0..self.scaled.len()).map(part).sum::<f64>(),
            })
        };
        repeated_far_outside(self.values).into_iter().filter_map(told).collect()
    }
}

/// Warning of values that an input's column repeats far outside all others, of the numbers that loggers write where they have none; pulses of other sizes are what
/// inputs are made of.
pub(crate) fn told_of_input(column: &str, unit: &str, values: &[f64], times: &[f64]) -> Option<String> {
    let of = |(value, _): (f64, f64)| {
        let places = || (0..values.len()).filter(|i| values[*i] == value);
        let (count, first) = (places().count(), places().next().map_or(f64::NAN, |i| times[i]));
        is_code(value).then(|| Sentinel { value, count, first, share: f64::NAN }.in_words(column, unit))
    };
    let told: Vec<String> = repeated_far_outside(values).into_iter().filter_map(of).collect();
    (!told.is_empty()).then(|| {
        format!(
            "warning: {}: far outside all others, that is how loggers mark missing values, and it drives the model all the same; leave them out (empty \
             cells)",
            told.join("; ")
        )
    })
}

/// 999, -9999.9, ..; the largest numbers of 15, 16, 31 and 32 bits; and what is beyond all measure.
fn is_code(value: f64) -> bool {
    const LARGEST: [f64; 6] = [32767.0, 32768.0, 65535.0, 2147483647.0, 2147483648.0, 4294967295.0];
    let digits = value.abs().to_string().replace('.', "");
    let is_nines = digits.len() > 1 && digits.chars().all(|digit| digit == '9');
    is_nines || value.abs() == 999.25 || LARGEST.contains(&value.abs()) || value.abs() >= 1e30
}

/// Values that are repeated far outside all others, each with its distance from these.
fn repeated_far_outside(values: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    let [low, median, high] = [0.25, 0.5, 0.75].map(|part| sorted[(part * last as f64).round() as usize]);
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for value in &sorted {
        match groups.last_mut() {
            Some((own, count)) if own == value => *count += 1,
            _ => groups.push((*value, 1)),
        }
    }
    let above: Vec<(f64, usize)> = groups.iter().copied().filter(|group| group.0 > median).collect();
    let below: Vec<(f64, usize)> = groups.iter().rev().copied().filter(|group| group.0 < median).collect();
    // what is usual on the other side is so on this one
    let sides = [(above, median - low), (below, high - median)];
    sides.iter().flat_map(|(side, usual)| outside(side, (median, *usual), (sorted.len(), groups.len()))).collect()
}

/// The same on one side of the median, of values with their counts that are ordered outwards, among so many samples with so many values.
fn outside(side: &[(f64, usize)], (median, usual): (f64, f64), (samples, kinds): (usize, usize)) -> Vec<(f64, f64)> {
    // more groups than these beyond it are no exceptions, whatever they are
    let nearer = side.len().saturating_sub(KINDS + 1);
    let mut reach = side[..nearer].iter().fold(usual, |reach, (value, _)| reach.max((value - median).abs()));
    for (k, &(value, count)) in side.iter().enumerate().skip(nearer) {
        let (beyond, off) = (&side[k..], (value - median).abs());
        let repeated: Vec<f64> = beyond.iter().filter(|group| group.1 > 1).map(|group| group.0).collect();
        let is_seldom = beyond.iter().map(|group| group.1).sum::<usize>() as f64 <= MOST * samples as f64;
        let is_apart = off - reach > FAR * reach && (reach > 0.0 || kinds == 2);
        if is_apart && count > 1 && is_seldom && repeated.len() <= KINDS && beyond.len() <= repeated.len() + 1 {
            return repeated.into_iter().map(|value| (value, (value - median).abs() - reach)).collect();
        }
        reach = reach.max(off);
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Vec<f64> {
        repeated_far_outside(values).into_iter().map(|(value, _)| value).collect()
    }

    /// Protects the person whose logger writes a number where it has none: whichever it is, on one side or on both, beside a motion or a rest, it is found.
    #[test]
    fn what_loggers_write_for_nothing_is_found() {
        let motion: Vec<f64> = (0..200).map(|i| 0.3 + (0.1 * f64::from(i)).sin()).collect();
        for sentinels in [&[9999.0][..], &[-999.25], &[65535.0, 32767.0], &[-9999.0, 9999.0], &[1e30]] {
            let mut values = motion.clone();
            for (k, i) in (20..46).step_by(2).enumerate() {
                values[i] = sentinels[k % sentinels.len()];
            }
            let (mut own, mut sentinels) = (found(&values), sentinels.to_vec());
            own.sort_by(f64::total_cmp);
            sentinels.sort_by(f64::total_cmp);
            assert_eq!(own, sentinels);
            // a single spike between them hides none
            values[77] = 20.0;
            assert_eq!(found(&values).len(), sentinels.len(), "{sentinels:?}");
        }
        let rest: Vec<f64> = (0..100).map(|i| if i % 10 == 3 { -1.0 } else { 0.0 }).collect();
        assert_eq!(found(&rest), [-1.0]);
    }

    /// Protects motions from being taken for that: peaks, levels of a converter, relays, steps and single spikes are none.
    #[test]
    fn motions_are_no_sentinels() {
        let of = |value: &dyn Fn(f64) -> f64| found(&(0..400).map(|i| value(0.05 * f64::from(i))).collect::<Vec<_>>());
        let none: Vec<f64> = Vec::new();
        assert_eq!(of(&|t| (3.0 * t).sin() * (-0.3 * t).exp()), none);
        assert_eq!(of(&|t| (20.0 * (3.0 * t).sin() * (-2.0 * t).exp()).round()), none);
        assert_eq!(of(&|t| if t < 10.0 { 0.0 } else { 1.0 }), none);
        assert_eq!(of(&|t| (100.0 * (3.0 * t).sin()).clamp(-30.0, 30.0)), none);
        assert_eq!(of(&|t| if t == 2.0 { 1e9 } else { t.sin() }), none);
        assert_eq!(found(&[]), none);
        assert_eq!(found(&[1.0, 1.0]), none);
    }
}
