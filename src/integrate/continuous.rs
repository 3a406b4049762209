//! Outputs that are known up to a period, such as angles from `atan2`, without jumps along a run.

use crate::signature::Signature;

/// The one of `value ± period, ± 2 period ..` that is nearest to `other`; `value` itself where `other` is none (NaN).
#[inline]
pub(crate) fn beside(value: f64, other: f64, period: f64) -> f64 {
    // exactly `value` within half a period
    if other.is_nan() { value } else { value - period * ((value - other) / period).round() }
}

/// Follows such outputs from time to time, forwards or backwards: the way back goes through the same values as the way there.
#[derive(Debug, Clone)]
pub(crate) struct Continuous {
    /// Place and period of each.
    outputs: Vec<(usize, f64)>,
    /// Values of these outputs at the time before; NaN where there is none.
    last: Vec<f64>,
}

impl Continuous {
    /// Periodic outputs of a mechanism, at no time yet.
    pub fn of(signature: &Signature) -> Self {
        let periods = signature.outputs.iter().enumerate().filter_map(|(k, output)| Some((k, output.period?)));
        let outputs: Vec<(usize, f64)> = periods.collect();
        Continuous { last: vec![f64::NAN; outputs.len()], outputs }
    }

    /// True if there is any such output: it must then be followed through every time.
    pub fn any(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Forgets the time before: the next values are taken as they are.
    pub fn restart(&mut self) {
        self.last.fill(f64::NAN);
    }

    /// Moves the outputs of the next time to what is nearest to those of the time before.
    #[inline]
    pub fn follow(&mut self, y: &mut [f64]) {
        for ((k, period), last) in self.outputs.iter().zip(&mut self.last) {
            y[*k] = beside(y[*k], *last, *period);
            *last = y[*k];
        }
    }
}
