//! Which part of the residuals of a step is more than round-off.

use super::newton::SAFETY;

/// Steps after which a bound of round-off is worked out anew.
pub(super) const BOUND_LIFE: usize = 200;

/// After so many iterations they may be going in circles: near a singular position round-off of the constraints makes large
/// increments of the multipliers, whose products with those of the positions come back in all rows.
pub(super) const STALLED: usize = 10;

/// Bounds are worst cases: what is left on purpose stays below them. With 0.01, a chain of 1000 rods, whose bounds differ by
/// decades, takes twice as long for digits that are round-off anyway.
const BELOW_BOUND: f64 = 0.3;

/// Residual of the equations of motion beside the change of the multipliers that it cannot have caused.
const DROWNED: f64 = 1e-6;

/// What the constraints' round-off may leave of the equations of motion, beside the bound of their own.
const NOISE: f64 = 1e3;

/// The part of the residuals that is no round-off, of the equations of motion and of the constraints.
///
/// A residual is round-off within the bound of its own, or a thousandth of the largest bound of its kind: what other rows'
/// round-off leaves in the increments comes back in every row through the solution. A coordinate that stays at zero, or a
/// body that the motion has not reached yet, has no other error.
pub(super) struct Excess {
    size: [f64; 2],
    /// The smallest and the largest bound of each kind.
    tightest: [f64; 2],
    largest: [f64; 2],
}

impl Excess {
    pub fn of([residual, bound]: [&[f64]; 2], n: usize) -> Self {
        let floor = bound.len() as f64 * f64::EPSILON * largest(bound);
        let mut excess = Excess { size: [0.0; 2], tightest: [f64::INFINITY; 2], largest: [0.0; 2] };
        for (place, kind) in [0..n, n..bound.len()].into_iter().enumerate() {
            let (residual, bound) = (&residual[kind.clone()], &bound[kind]);
            let largest = largest(bound);
            let floor = larger(floor, 1e-3 * largest);
            let (mut size, mut tightest) = (0.0, f64::INFINITY);
            for (r, bound) in residual.iter().zip(bound) {
                let bound = larger(*bound, floor);
                size = if r.abs() <= bound { size } else { larger(size, r.abs()) };
                tightest = if bound < tightest { bound } else { tightest };
            }
            (excess.size[place], excess.tightest[place]) = (size, tightest);
            excess.largest[place] = larger(largest, floor);
        }
        excess
    }

    /// Whether iterations go in circles: the constraints are solved to their round-off, and the equations of motion to the
    /// largest of theirs and the products of increments of multipliers with those of positions.
    pub fn is_noise(&self, products: f64) -> bool {
        self.size[0] <= self.largest[0] + 10.0 * products && self.size[1] <= self.largest[1]
    }

    pub fn is_none(&self) -> bool {
        self.size == [0.0; 2]
    }

    /// Whether increments are the constraints' round-off alone, which no iteration takes away: multipliers change by `change` (N),
    /// though constraints are solved to their round-off, and the equations of motion so well that it does not matter beside that. A
    /// long chain is far from its origin: round-off of positions of kilometres, by β h², moves its accelerations in the fourth digit.
    pub fn is_below_round_off(&self, change: f64) -> bool {
        self.size[1] == 0.0 && self.size[0] <= (DROWNED * change).min(NOISE * self.largest[0])
    }

    /// What of the equations of motion is left then, N, if increments of multipliers times those of positions make `products`: old
    /// factors leave more.
    pub fn noise(&self, products: f64) -> f64 {
        larger(self.size[0], products).min(NOISE * self.largest[0])
    }

    /// Whether the increment that is due leaves nothing but round-off, if the residuals, of these sizes one iteration ago,
    /// go on shrinking as they did. `noise`: what the constraints' round-off makes of the equations of motion.
    pub fn vanishes_after_increment(&self, before: [f64; 2], noise: f64) -> bool {
        let shrunk = |kind: usize| if self.size[kind] > 0.0 { self.size[kind] / before[kind] } else { 0.0 };
        let ratio = larger(shrunk(0), shrunk(1));
        let noise = [if self.size[1] == 0.0 { noise } else { 0.0 }, 0.0];
        (0..2).all(|kind| SAFETY * ratio * self.size[kind] <= larger(BELOW_BOUND * self.tightest[kind], noise[kind]))
    }
}

/// The larger of two; one machine instruction, unlike `f64::max`, which looks for NaN.
#[inline]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |size, value| larger(size, value.abs()))
}

/// The largest residual in magnitude, and its row.
pub(super) fn worst_row(r: &[f64]) -> (f64, usize) {
    r.iter().enumerate().fold((0.0, 0), |worst, (row, r)| if r.abs() > worst.0 { (r.abs(), row) } else { worst })
}
