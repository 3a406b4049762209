//! Magnitudes of variables for methods that see residuals: without units, so that the same problem in other
//! units goes the same way.

use super::variable::Scaling;

/// A variable whose whole value changes the residuals by less than this part of what they are differences of is next to nothing.
const NEXT_TO_NOTHING: f64 = 1e-8;

/// Magnitudes of variables: how large they have been. The nominal value that a variable is scaled by is a guess, and may be wrong by decades (a start of zero
/// has none at all): what a variable has been is not.
#[derive(Debug, Clone)]
pub(crate) struct Magnitudes {
    /// Scaled variables at the start.
    start: Vec<f64>,
    /// The norm of what residuals are differences of; where that is not known, of the first residuals.
    size: Option<f64>,
    /// True if the scale of the cost is known.
    is_known: bool,
}

impl Magnitudes {
    /// `scale`: see [`Objective::cost_scale`](super::Objective::cost_scale).
    pub fn new(start: Vec<f64>, scale: Option<f64>) -> Self {
        Magnitudes { start, size: scale.map(|scale| (2.0 * scale).sqrt()), is_known: scale.is_some() }
    }

    /// Magnitudes at x, where the columns of the residuals' Jacobian have these norms. On the logarithmic scale, which has no units: 1. On the
    /// linear one: the value, or how far it has come from its start, whichever is more, but of the way from an absurd start no more than
    /// changes the residuals as much as if all that they are differences of had gone. A variable that starts at zero, or next to nothing,
    /// says nothing by that; it counts at least as much.
    pub fn at(&mut self, x: &[f64], columns: &[f64], cost: f64, scaling: &Scaling) -> Vec<f64> {
        let size = *self.size.get_or_insert((2.0 * cost).sqrt());
        let magnitude = |(i, own): (usize, f64)| {
            let has_none = self.start[i] == 0.0 || self.is_known && own * columns[i] < NEXT_TO_NOTHING * size;
            let tells = has_none && columns[i] > 0.0 && !scaling.is_log(i);
            if tells { own.max(size / columns[i]) } else { own }
        };
        self.own(x, columns, scaling).into_iter().enumerate().map(magnitude).collect()
    }

    /// Magnitudes without what residuals tell of what is next to nothing: zero for a variable that is still at zero.
    pub fn own(&self, x: &[f64], columns: &[f64], scaling: &Scaling) -> Vec<f64> {
        let own = |(i, x): (usize, &f64)| match scaling.is_log(i) {
            true => 1.0,
            false => {
                let known = self.size.filter(|_| self.is_known);
                let most = known.map_or(f64::INFINITY, |size| size / columns[i]);
                let way = (x - self.start[i]).abs();
                x.abs().max(if way > most { most } else { way })
            }
        };
        x.iter().enumerate().map(own).collect()
    }
}
