//! Which parameters have an influence on the residuals, beside others.

use crate::statistics::NO_INFLUENCE;

/// What a change of a parameter by all of its value does to the residuals. Values, unlike sizes that a model suggests, are those of the
/// problem in whatever units it has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Influence {
    pub change: f64,
    /// The parameter is zero, or next to nothing, so that its size had to do.
    pub is_guess: bool,
}

impl Influence {
    /// Derivatives that are round-off lead anywhere: a parameter without influence stays where it is.
    pub fn is_none_beside(&self, largest: f64) -> bool {
        let part = if self.is_guess { GUESSED * NO_INFLUENCE } else { NO_INFLUENCE };
        self.change < part * largest
    }
}

/// A value says nothing that is less than this part of the parameter's size.
pub(super) const NEXT_TO_NOTHING: f64 = 1e-9;

/// A size that was guessed may be too small by this part.
const GUESSED: f64 = 1e-3;
