//! What a change of a variable by all of its size is, for methods that see residuals: without units, so that the same problem in other
//! units goes the same way.

use super::variable::Scaling;

/// How large variables are. The nominal value that a variable is scaled by is a guess, and may be wrong by decades (a start of zero
/// has none at all): what a variable has been is not.
#[derive(Debug, Clone)]
pub(crate) struct Magnitudes {
    /// Scaled variables at the start.
    start: Vec<f64>,
    /// The norm of what residuals are differences of; where that is not known, of the first residuals.
    size: Option<f64>,
}

impl Magnitudes {
    /// `scale`: see [`Objective::cost_scale`](super::Objective::cost_scale).
    pub fn new(start: Vec<f64>, scale: Option<f64>) -> Self {
        Magnitudes { start, size: scale.map(|scale| (2.0 * scale).sqrt()) }
    }

    /// At x, where the columns of the residuals' Jacobian have these norms. On the logarithmic scale, which has no units: 1. On the
    /// linear one: the value, or how far it has come from its start, whichever is more. A variable that starts at zero says nothing
    /// by that; it counts at least what changes the residuals as much as if all that they are differences of had gone.
    pub fn at(&mut self, x: &[f64], columns: &[f64], cost: f64, scaling: &Scaling) -> Vec<f64> {
        let size = *self.size.get_or_insert((2.0 * cost).sqrt());
        let magnitude = |(i, own): (usize, f64)| {
            let has_none = self.start[i] == 0.0 && columns[i] > 0.0 && !scaling.is_log(i);
            if has_none { own.max(size / columns[i]) } else { own }
        };
        self.own(x, scaling).into_iter().enumerate().map(magnitude).collect()
    }

    /// The same without what residuals tell: zero for a variable that is still at zero.
    pub fn own(&self, x: &[f64], scaling: &Scaling) -> Vec<f64> {
        let own = |(i, x): (usize, &f64)| match scaling.is_log(i) {
            true => 1.0,
            false => x.abs().max((x - self.start[i]).abs()),
        };
        x.iter().enumerate().map(own).collect()
    }
}
