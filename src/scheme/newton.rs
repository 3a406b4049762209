//! When Newton's iteration may stop, and when its matrix must be renewed.
//!
//! A position error ε shows up as ε/(β h²) in accelerations and multipliers: a plain tolerance stalls at small steps, a
//! loose one leaves the adjoint inexact. So a step ends when the *next* increment, extrapolated from the last two, is below
//! round-off of the accelerations, or when increments that are below round-off of the positions shrink no more.
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

/// Sizes of one increment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Increment {
    /// Of accelerations and multipliers, relative to them.
    pub relative: f64,
    /// Of the positions, relative to positions and to what moves them in one step.
    pub position: f64,
}

/// What to do after an increment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The step is solved.
    Converged,
    /// Go on with the factors that are there.
    KeepFactors,
    /// Go on with the matrix at the new point.
    Refactorise,
}

/// An increment this small beside the positions is their round-off.
const ROUND_OFF: f64 = 1e-12;
/// Ratio of two increments above which old factors are not worth keeping.
const SLOW: f64 = 0.03;
/// With the factors of the first iterate kept, the ratio of the next two increments is twice that of the last two (both are
/// of first order in the first increment); twice that again, to be safe.
const SAFETY: f64 = 4.0;

/// Watches the increments of one step.
#[derive(Debug, Clone)]
pub(crate) struct Convergence {
    options: NewtonOptions,
    last: Option<Increment>,
}

impl Convergence {
    pub(crate) fn new(options: NewtonOptions) -> Self {
        Convergence { options, last: None }
    }

    pub(crate) fn max_iterations(&self) -> usize {
        self.options.max_iterations
    }

    /// To be called before the first iteration of a step.
    pub(crate) fn begin(&mut self) {
        self.last = None;
    }

    pub(crate) fn judge(&mut self, now: Increment) -> Verdict {
        let verdict = match self.last {
            None if now.relative == 0.0 => Verdict::Converged,
            None => Verdict::KeepFactors,
            Some(before) => {
                let ratio = now.relative / before.relative;
                let negligible = now.relative * SAFETY * ratio <= self.options.tolerance;
                if ratio < 1.0 && negligible || ratio > 0.3 && now.position <= ROUND_OFF {
                    Verdict::Converged
                } else if ratio > SLOW {
                    Verdict::Refactorise
                } else {
                    Verdict::KeepFactors
                }
            }
        };
        self.last = Some(now);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(increments: &[(f64, f64)]) -> Vec<Verdict> {
        let mut convergence = Convergence::new(NewtonOptions::default());
        convergence.begin();
        increments.iter().map(|&(relative, position)| convergence.judge(Increment { relative, position })).collect()
    }

    /// Protects exactness: a first increment is never trusted, however small, unless it is zero.
    #[test]
    fn every_step_is_checked_by_a_second_increment() {
        assert_eq!(watch(&[(1e-13, 1e-13)]), [Verdict::KeepFactors]);
        assert_eq!(watch(&[(0.0, 0.0)]), [Verdict::Converged]);
        assert_eq!(watch(&[(1e-4, 1e-6), (1e-10, 1e-12)]), [Verdict::KeepFactors, Verdict::Converged]);
        assert_eq!(watch(&[(1e-3, 1e-4), (1e-6, 1e-7)])[1], Verdict::KeepFactors);
    }

    /// Protects convergence far from the solution: slowly shrinking increments ask for a new matrix.
    #[test]
    fn slow_increments_renew_the_matrix() {
        assert_eq!(watch(&[(1.0, 1.0), (0.3, 0.3), (2.0, 2.0)])[1..], [Verdict::Refactorise, Verdict::Refactorise]);
    }

    /// Protects small steps: noise in the accelerations that is round-off of the positions ends the iteration, the same
    /// noise without that excuse does not.
    #[test]
    fn stagnation_ends_the_iteration_only_at_round_off() {
        assert_eq!(watch(&[(1e-6, 1e-15), (0.9e-6, 0.9e-15)])[1], Verdict::Converged);
        assert_eq!(watch(&[(1e-3, 1e-5), (0.9e-3, 0.9e-5)])[1], Verdict::Refactorise);
    }
}
