//! Time that a run will take, reported once it can be known: after its first steps, to whoever waits.
//!
//! A library says nothing; a command [listens](listen). The clock is read at a few of the first steps, then at one in some thousands.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Runs that take longer are reported, s.
const LONG: f64 = 60.0;
/// Duration, s, of a beginning whose pace is more than chance.
const BEGINNING: f64 = 0.5;
/// Steps between two looks at the clock.
const STRIDE: usize = 4096;
/// Steps before the first look.
const FIRST: usize = 64;

/// A run that takes long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongRun {
    /// Steps of the run.
    pub steps: usize,
    /// Steps that are done.
    pub done: usize,
    /// Time that the other steps take at the same pace, s.
    pub seconds_left: f64,
}

static LISTENER: OnceLock<fn(&LongRun)> = OnceLock::new();
static REPORTED: AtomicBool = AtomicBool::new(false);

/// Has the first long run of this process reported to `listener`; the first one who listens does.
pub fn listen(listener: fn(&LongRun)) {
    LISTENER.get_or_init(|| listener);
}

/// The pace of one run.
pub(crate) struct Pace {
    /// The step and the instant at which the run began; `None` where nobody listens, or a long run has been reported.
    began: Option<(usize, Instant)>,
    steps: usize,
}

impl Pace {
    /// The pace of a run of so many steps, from one of them on.
    pub fn begin(from: usize, steps: usize) -> Self {
        let listens = steps > FIRST && LISTENER.get().is_some() && !REPORTED.load(Ordering::Relaxed);
        Pace { began: listens.then(|| (from, Instant::now())), steps }
    }

    /// Step `i` is done.
    #[inline]
    pub fn note(&self, i: usize) {
        if let Some((from, began)) = self.began
            && is_due(i - from)
        {
            self.look(i, i - from, began.elapsed().as_secs_f64());
        }
    }

    #[cold]
    fn look(&self, i: usize, done: usize, seconds: f64) {
        if let Some(seconds_left) = left(done, self.steps - i, seconds)
            && !REPORTED.swap(true, Ordering::Relaxed)
            && let Some(listener) = LISTENER.get()
        {
            listener(&LongRun { steps: self.steps, done: i, seconds_left });
        }
    }
}

/// True if the clock is to be read after so many steps.
#[inline]
fn is_due(done: usize) -> bool {
    done.is_multiple_of(STRIDE) || (done.is_power_of_two() && done >= FIRST)
}

/// Time, s, that so many steps take at the pace of those that are `done`, if that is long.
fn left(done: usize, left: usize, seconds: f64) -> Option<f64> {
    let seconds_left = seconds / done.max(1) as f64 * left as f64;
    (seconds > BEGINNING && seconds_left > LONG).then_some(seconds_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects what is reported of long runs: by the pace of the first steps, not before that is known, and not of short ones; the clock is read seldom.
    #[test]
    fn long_runs_are_known_by_their_pace() {
        assert_eq!(left(1000, 1_000_000, 1.0), Some(1000.0));
        assert_eq!(left(1000, 1_000_000, 0.1), None);
        assert_eq!(left(1000, 10_000, 1.0), None);
        let looks = (1..100_000).filter(|&done| is_due(done)).count();
        assert!(looks <= 100_000 / STRIDE + 7, "{looks}");
    }
}
