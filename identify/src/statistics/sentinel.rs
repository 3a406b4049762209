//! Values that stand for missing ones: the same number again and again, far outside all others.
//!
//! Loggers write 9999, -999 or 65535 where they have nothing to write. Such a sample is one outlier of many, none of which stands out beside the others.

use costate::cost::Loss;
use costate::shown::rounded;
use costate_data::series::repeated_far_outside;

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
