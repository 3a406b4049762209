//! The part of the residuals of a step that is more than round-off.

use super::newton::SAFETY;

/// Steps after which a bound of round-off is worked out again.
pub(super) const BOUND_LIFE: usize = 200;

/// Number of iterations after which they may be going in circles: near a singular position round-off of the constraints makes large
/// increments of the multipliers, whose products with those of the positions come back in all rows.
pub(super) const STALLED: usize = 10;

/// Bounds are worst cases: what is left on purpose stays below them. With 0.01, a chain of 1000 rods, whose bounds differ by
/// decades, takes twice as long for digits that are round-off anyway.
const BELOW_BOUND: f64 = 0.3;

/// Residual of the equations of motion beside the change of the multipliers that it cannot have caused.
const NEGLIGIBLE: f64 = 1e-6;

/// Largest factor by which a bound may grow in its life.
const GROWN: f64 = 10.0;

/// Factor of the equations' own bound that the constraints' round-off may leave of the equations of motion.
const NOISE: f64 = 1e3;

/// The part of the residuals that is no round-off, of the equations of motion and of the constraints.
///
/// A residual is round-off within the bound of its own, or a thousandth of the largest bound of its kind: what other rows'
/// round-off leaves in the increments comes back in every row through the solution. A coordinate that stays at zero, or a
/// body that the motion has not reached yet, has no other error.
pub(super) struct SignificantResidual {
    size: [f64; 2],
    /// The smallest and the largest bound of each kind.
    tightest: [f64; 2],
    largest: [f64; 2],
}

impl SignificantResidual {
    pub fn of([residual, bound]: [&[f64]; 2], n: usize) -> Self {
        let floor = bound.len() as f64 * f64::EPSILON * largest(bound);
        let mut significant = SignificantResidual { size: [0.0; 2], tightest: [f64::INFINITY; 2], largest: [0.0; 2] };
        for (place, kind) in [0..n, n..bound.len()].into_iter().enumerate() {
            let (residual, bound) = (&residual[kind.clone()], &bound[kind]);
            let largest = largest(bound);
            let floor = larger(floor, 1e-3 * largest);
            [significant.size[place], significant.tightest[place]] = beyond(residual, bound, floor);
            significant.largest[place] = larger(largest, floor);
        }
        significant
    }

    /// True if iterations go in circles: the constraints are solved to their round-off, and the equations of motion to the largest of
    /// theirs and the products of increments of multipliers with those of positions.
    pub fn is_noise(&self, products: f64) -> bool {
        self.size[0] <= self.largest[0] + 10.0 * products && self.size[1] <= self.largest[1]
    }

    pub fn is_zero(&self) -> bool {
        self.size == [0.0; 2]
    }

    /// True if increments are the constraints' round-off alone, which no iteration takes away: multipliers change by `change` (N), though
    /// constraints are solved to their round-off, and the equations of motion so well that it does not matter beside that. A long chain is
    /// far from its origin: round-off of positions of kilometres, by β h², moves its accelerations in the fourth digit.
    pub fn is_below_round_off(&self, change: f64) -> bool {
        self.size[1] == 0.0 && self.size[0] <= (NEGLIGIBLE * change).min(NOISE * self.largest[0])
    }

    /// True if residuals are so large that none of these answers would be given with bounds that have grown some times since, either.
    pub fn is_far(&self, change: f64) -> bool {
        let negligible = (NEGLIGIBLE * change).min(NOISE * self.largest[0]);
        self.size[0] > GROWN * larger(self.largest[0], negligible) || self.size[1] > GROWN * self.largest[1]
    }

    /// Residual of the equations of motion, N, that round-off then leaves, if increments of multipliers times those of positions make
    /// `products`: old factors leave more.
    pub fn noise(&self, products: f64) -> f64 {
        larger(self.size[0], products).min(NOISE * self.largest[0])
    }

    /// True if the increment that is due leaves nothing but round-off, if the residuals, of these sizes one iteration ago, go on shrinking
    /// as they did. `noise`: what the constraints' round-off makes of the equations of motion.
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

/// Sums and largest values of long vectors are those of so many interleaved parts, which do not wait for each other.
const LANES: usize = 8;

#[inline]
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Folds all values, one after the other, or in eight parts that are joined.
#[inline(always)]
fn folded(values: &[f64], one: impl Fn(f64, f64) -> f64, join: impl Fn(f64, f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let last = rest.iter().fold(0.0, |all, value| one(all, *value));
    if chunks.is_empty() {
        return last;
    }
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = one(*lane, *value);
        }
    }
    lanes.into_iter().fold(last, join)
}

/// Folds pairs of values, which make two numbers, as [`folded`] does values.
#[inline(always)]
fn folded_pairs(
    [a, b]: [&[f64]; 2],
    start: [f64; 2],
    one: impl Fn([f64; 2], f64, f64) -> [f64; 2],
    join: impl Fn([f64; 2], [f64; 2]) -> [f64; 2],
) -> [f64; 2] {
    let ((chunks, rest), (others, last)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let last = rest.iter().zip(last).fold(start, |all, (a, b)| one(all, *a, *b));
    if chunks.is_empty() {
        return last;
    }
    let [mut first, mut second] = start.map(|start| [start; LANES]);
    for (a, b) in chunks.iter().zip(others) {
        for lane in 0..LANES {
            [first[lane], second[lane]] = one([first[lane], second[lane]], a[lane], b[lane]);
        }
    }
    first.into_iter().zip(second).fold(last, |all, (first, second)| join(all, [first, second]))
}

#[inline]
pub(super) fn largest(values: &[f64]) -> f64 {
    folded(values, |size, value| larger(size, value.abs()), larger)
}

/// The sum of all values, in any order.
#[inline]
pub(super) fn sum(values: &[f64]) -> f64 {
    folded(values, |sum, value| sum + value, |a, b| a + b)
}

/// The sum of the changes' magnitudes, which is finite if they are, and the largest one beside its value, which counts with `floor` more.
#[inline]
pub(super) fn relative(changes: &[f64], values: &[f64], floor: f64) -> [f64; 2] {
    folded_pairs(
        [changes, values],
        [0.0; 2],
        |[total, size], change, value| [total + change.abs(), larger(size, change.abs() / (value.abs() + floor))],
        |[total, size], [more, other]| [total + more, larger(size, other)],
    )
}

/// The largest residual beyond its bound, which is no smaller than `floor`, and the smallest bound.
fn beyond(residual: &[f64], bound: &[f64], floor: f64) -> [f64; 2] {
    folded_pairs(
        [residual, bound],
        [0.0, f64::INFINITY],
        |[size, tightest], r, bound| {
            let (r, bound) = (r.abs(), larger(bound, floor));
            [larger(size, if r <= bound { 0.0 } else { r }), smaller(tightest, bound)]
        },
        |[size, tightest], [other, bound]| [larger(size, other), smaller(tightest, bound)],
    )
}

/// The largest residual in magnitude, and its row.
pub(super) fn worst_row(r: &[f64]) -> (f64, usize) {
    r.iter().enumerate().fold((0.0, 0), |worst, (row, r)| if r.abs() > worst.0 { (r.abs(), row) } else { worst })
}
