//! One signal after another.

use super::{Signal, SignalKind};
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// Signal k + 1 applies from time k on, the first one before them.
#[derive(Debug)]
pub(super) struct Switched {
    times: Vec<f64>,
    signals: Vec<Signal>,
}

impl Signal {
    /// One signal after another: `first`, and each of the others from its time in s on. A run whose steps meet these times is exact to the
    /// scheme's order in spite of the jumps: it restarts behind each of them.
    ///
    /// ```
    /// use costate::Signal;
    /// # fn main() -> costate::Result<()> {
    /// let push = Signal::switched(Signal::constant(0.0), vec![(0.5, Signal::constant(2.0)), (0.8, Signal::constant(0.0))])?;
    /// assert_eq!([0.2, 0.5, 0.8].map(|t| push.value(t)), [0.0, 2.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for times that are not finite or do not increase.
    pub fn switched(first: Signal, then: Vec<(f64, Signal)>) -> Result<Self> {
        let (times, others): (Vec<f64>, Vec<Signal>) = then.into_iter().unzip();
        if let Some(t) = times.iter().find(|t| !t.is_finite()) {
            return Err(Error::invalid("switched signal", format!("it switches at {t} s"), "give finite times"));
        }
        if let Some(pair) = times.windows(2).find(|pair| pair[1] <= pair[0]) {
            let problem = format!("it switches at {} s, and then at {} s", pair[0], pair[1]);
            return Err(Error::invalid("switched signal", problem, "sort the times, and give each once"));
        }
        let signals = std::iter::once(first).chain(others).collect();
        Ok(Self(SignalKind::Switched(Arc::new(Switched { times, signals }))))
    }
}

impl Switched {
    /// The signal that applies at a time.
    pub fn at(&self, t: f64) -> &Signal {
        &self.signals[self.times.partition_point(|from| *from <= t)]
    }

    /// The signal that applies just before a time.
    pub fn until(&self, t: f64) -> &Signal {
        &self.signals[self.times.partition_point(|from| *from < t)]
    }

    /// The signals that apply between two times, and from when to when.
    pub fn parts(&self, from: f64, to: f64) -> impl Iterator<Item = (&Signal, f64, f64)> {
        let begins = std::iter::once(from).chain(self.times.iter().map(move |t| t.max(from)));
        let ends = self.times.iter().map(move |t| t.min(to)).chain([to]);
        self.signals
            .iter()
            .zip(begins.zip(ends))
            .map(|(signal, (from, to))| (signal, from, to))
            .filter(|part| part.1 < part.2)
    }

    /// The times at which it switches, and those that its signals have while they apply.
    pub fn and_those_of<'s>(&'s self, of: impl Fn(&'s Signal) -> Cow<'s, [f64]>) -> Vec<f64> {
        let mut all = self.times.clone();
        for (signal, from, to) in self.parts(f64::NEG_INFINITY, f64::INFINITY) {
            all.extend(of(signal).iter().filter(|t| **t > from && **t < to));
        }
        all.sort_unstable_by(f64::total_cmp);
        all
    }
}
