//! When Newton's iteration may stop, and when its matrix must be renewed.
//!
//! A position error ε shows up as ε/(β h²) in accelerations and multipliers: a plain tolerance stalls at small steps, a
//! loose one leaves the adjoint inexact. So a step ends when the *next* increment, extrapolated from the last two, is below
//! round-off of the accelerations; or when increments no longer shrink and the residual lies within the bound of its own
//! round-off, which is then worked out by running error analysis.
//!
//! Every step is checked by at least one increment after the first; that check is cheap, because it uses the factors that
//! are there and evaluates the residual only. New factors are made while increments shrink too slowly for that.

/// Limits of Newton's iteration; the defaults reach round-off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonOptions {
    /// Extrapolated size of the increment that is left out, relative to the accelerations.
    pub tolerance: f64,
    /// Iterations before a step counts as failed.
    pub max_iterations: usize,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { tolerance: 1e-14, max_iterations: 25 }
    }
}

/// Status of Newton's iteration after an increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewtonStatus {
    /// The step is solved.
    Converged,
    /// The factors that are there serve on.
    KeepFactors,
    /// The increments shrink slowly: either they are round-off, or the matrix is too old.
    Slow,
}

/// Ratio of two increments above which old factors are not worth keeping.
const SLOW: f64 = 0.03;
/// With the factors of the first iterate kept, the ratio of the next two increments is twice that of the last two (both are
/// of first order in the first increment); twice that again, to be safe.
pub(super) const SAFETY: f64 = 4.0;

/// Watches the increments of one step.
#[derive(Debug, Clone)]
pub(crate) struct Convergence {
    options: NewtonOptions,
    last: Option<f64>,
}

impl Convergence {
    pub(crate) fn new(options: NewtonOptions) -> Self {
        Convergence { options, last: None }
    }

    pub(crate) fn max_iterations(&self) -> usize {
        self.options.max_iterations
    }

    /// Forgets earlier increments, before the first iteration of a step.
    pub(crate) fn begin(&mut self) {
        self.last = None;
    }

    /// Judges the iteration by `now`, the size of an increment of accelerations and multipliers, relative to them.
    pub(crate) fn judge(&mut self, now: f64) -> NewtonStatus {
        let status = match self.last {
            None if now == 0.0 => NewtonStatus::Converged,
            None => NewtonStatus::KeepFactors,
            Some(before) => {
                let ratio = now / before;
                if ratio < 1.0 && now * SAFETY * ratio <= self.options.tolerance {
                    NewtonStatus::Converged
                } else if ratio > SLOW {
                    NewtonStatus::Slow
                } else {
                    NewtonStatus::KeepFactors
                }
            }
        };
        self.last = Some(now);
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(increments: &[f64]) -> Vec<NewtonStatus> {
        let mut convergence = Convergence::new(NewtonOptions::default());
        convergence.begin();
        increments.iter().map(|&increment| convergence.judge(increment)).collect()
    }

    /// Protects exactness: a first increment is never trusted, however small, unless it is zero.
    #[test]
    fn every_step_is_checked_by_a_second_increment() {
        assert_eq!(watch(&[1e-13]), [NewtonStatus::KeepFactors]);
        assert_eq!(watch(&[0.0]), [NewtonStatus::Converged]);
        assert_eq!(watch(&[1e-4, 1e-10]), [NewtonStatus::KeepFactors, NewtonStatus::Converged]);
        assert_eq!(watch(&[1e-3, 1e-6])[1], NewtonStatus::KeepFactors);
    }

    /// Protects convergence far from the solution and honesty near it: increments that shrink slowly are never accepted for
    /// their size.
    #[test]
    fn slow_increments_are_recognised() {
        assert_eq!(watch(&[1.0, 0.3, 2.0])[1..], [NewtonStatus::Slow, NewtonStatus::Slow]);
        assert_eq!(watch(&[1e-12, 0.9e-12])[1], NewtonStatus::Slow);
    }
}
