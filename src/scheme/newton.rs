//! When Newton's iteration may stop.
//!
//! A position error ε shows up as ε/(β h²) in accelerations and multipliers: a plain tolerance stalls at small steps, a
//! loose one leaves the adjoint inexact. So the iteration stops when its *next* increment, predicted from its own quadratic
//! convergence, is below round-off of the accelerations, or when increments that are below round-off of the positions
//! shrink no more.

/// Limits of Newton's iteration; the defaults reach round-off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonOptions {
    /// Predicted size of the increment that is left out, relative to the accelerations.
    pub tolerance: f64,
    /// Iterations before a step counts as failed.
    pub max_iterations: usize,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { tolerance: 1e-14, max_iterations: 25 }
    }
}

/// Sizes of one increment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Increment {
    /// Of accelerations and multipliers, relative to them.
    pub relative: f64,
    /// Of the positions, relative to positions and to what moves them in one step.
    pub position: f64,
}

/// An increment this small beside the positions is their round-off.
const ROUND_OFF: f64 = 1e-12;
/// An increment below this, beside the positions, says nothing of the rate of convergence: Newton's matrix passes round-off
/// of stiff forces on to light coordinates, which makes increments of some 5e-14 (seen with the engine mount).
const NOISE: f64 = 1e-13;
/// A predicted increment below this, beside the positions, would drown in that noise.
const NEGLIGIBLE: f64 = NOISE / 40.0;
/// Steps after which the remembered rate is measured again.
const TRUST: usize = 16;
const SAFETY: f64 = 10.0;

/// Watches the increments of one step after another.
#[derive(Debug, Clone)]
pub(crate) struct Convergence {
    options: NewtonOptions,
    /// Next increment over the square of the last one, from earlier steps.
    contraction: Option<f64>,
    since_measured: usize,
    last: Option<Increment>,
}

impl Convergence {
    pub(crate) fn new(options: NewtonOptions) -> Self {
        Convergence { options, contraction: None, since_measured: 0, last: None }
    }

    pub(crate) fn forget(&mut self) {
        *self = Convergence::new(self.options);
    }

    /// To be called before the first iteration of a step.
    pub(crate) fn begin(&mut self) {
        self.last = None;
    }

    /// Whether the iteration is done after this increment.
    pub(crate) fn accepts(&mut self, now: Increment) -> bool {
        let tolerance = self.options.tolerance;
        // what the next increment will be, given its ratio to this one
        let negligible = |factor: f64| now.relative * factor <= tolerance || now.position * factor <= NEGLIGIBLE;
        let done = match self.last {
            None => {
                let trusted = self.contraction.filter(|_| self.since_measured < TRUST);
                let shrinks_to = trusted.map(|c| SAFETY * c * now.relative);
                self.since_measured += 1;
                now.relative == 0.0 || shrinks_to.is_some_and(negligible)
            }
            Some(before) => {
                let observed = now.relative / (before.relative * before.relative);
                if now.position > NOISE && now.relative > tolerance {
                    let faded = 0.7 * self.contraction.unwrap_or(0.0);
                    self.contraction = Some(observed.max(faded));
                } else {
                    // only an upper bound: the increment is noise
                    self.contraction = Some(self.contraction.unwrap_or(f64::INFINITY).min(observed));
                }
                self.since_measured = 0;
                let rate = now.relative / before.relative;
                negligible(SAFETY * rate * rate) || (rate > 0.3 && now.position <= ROUND_OFF)
            }
        };
        self.last = Some(now);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn increment(relative: f64, position: f64) -> Increment {
        Increment { relative, position }
    }

    /// Protects exactness: an unknown rate is never trusted, a quadratic one is, and it is measured again in time.
    #[test]
    fn the_first_increment_is_accepted_only_on_a_measured_rate() {
        let mut convergence = Convergence::new(NewtonOptions::default());
        convergence.begin();
        assert!(!convergence.accepts(increment(1e-4, 1e-5)));
        assert!(convergence.accepts(increment(1e-9, 1e-10)));
        let mut accepted = 0;
        for _ in 0..TRUST + 1 {
            convergence.begin();
            accepted += usize::from(convergence.accepts(increment(1e-8, 1e-9)));
        }
        assert_eq!(accepted, TRUST);
        convergence.begin();
        assert!(!convergence.accepts(increment(1e-3, 1e-3)));
    }

    /// Protects small steps: noise in the accelerations that is round-off of the positions ends the iteration, the same
    /// noise without that excuse does not.
    #[test]
    fn stagnation_ends_the_iteration_only_at_round_off() {
        let mut convergence = Convergence::new(NewtonOptions::default());
        convergence.begin();
        assert!(!convergence.accepts(increment(1e-6, 1e-15)));
        assert!(convergence.accepts(increment(0.9e-6, 0.9e-15)));
        convergence.forget();
        convergence.begin();
        assert!(!convergence.accepts(increment(1e-3, 1e-5)));
        assert!(!convergence.accepts(increment(0.9e-3, 0.9e-5)));
    }
}
