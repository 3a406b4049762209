//! Richardson's extrapolation, as far as the numbers bear it out.
//!
//! Values from runs with steps h, h/2, h/4 .. have an error `c_1 h^p1 + c_2 h^p2 + ..`. Nothing is assumed of the powers: of three
//! neighbouring values, two differences tell the power that governs them, and if it is a whole number larger than those before, it is
//! removed from all values. What is left is looked at in the same way, until no power is found. Most schemes have all powers from the
//! second on; symmetric ones have even powers alone, and forces that jump spoil all of them.
//!
//! A column of this table tells its error itself: two neighbours that differ by d, where the differences fall, are not farther than
//! d from the limit. The column that differs least is taken.

/// Largest distance of an observed power from a whole number.
const WHOLE: f64 = 0.25;

/// The first power is at most this; and each is at most so much above the one before it: errors that fall faster do so by chance, or because
/// steps are too large to see the motion at all.
const FIRST: u32 = 4;
const APART: u32 = 2;

/// Part of the typical error below which no entry's own is believed.
const SHARE: f64 = 0.1;

/// By how much what grows as steps fall may grow from one run to the next: round-off of accelerations by 4, undamped multipliers by more.
const GROWTH: f64 = 8.0;

/// Part of the bounds that is added for caution: differences predict what follows to leading order only.
const SAFETY: f64 = 2.0;

/// Differences of so many times the round-off say nothing of powers.
const ABOVE: f64 = 4.0;

/// The limit of vanishing steps, as estimated from several runs, with its error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Extrapolation {
    /// Powers of the step that were found in the errors and removed, in this order.
    pub powers: Vec<u32>,
    /// The power that governs the last three plain values; `None` of fewer, or of values that do not differ.
    pub observed: Option<f64>,
    /// The limit, one entry a value.
    pub limit: Vec<f64>,
    /// Estimated bound of the error of the limit: infinite where differences do not fall.
    pub error: Vec<f64>,
}

/// A column of the table: values that are free of some powers, the largest step first.
struct Column {
    values: Vec<Vec<f64>>,
    /// Of the largest value.
    round_off: f64,
    /// The largest power that may govern them.
    largest: u32,
}

impl Column {
    fn difference(&self, i: usize) -> impl Iterator<Item = f64> + '_ {
        self.values[i + 1].iter().zip(&self.values[i]).map(|(fine, coarse)| fine - coarse)
    }

    /// The root of the mean square of difference `i`: a single entry may vanish by chance.
    fn size(&self, i: usize) -> f64 {
        let count = self.values[i].len().max(1) as f64;
        (self.difference(i).map(|d| d * d).sum::<f64>() / count).sqrt()
    }

    /// Ratio of the last difference to the one before it.
    fn ratio(&self) -> Option<f64> {
        let last = self.values.len().checked_sub(3)?;
        let (before, now) = (self.size(last), self.size(last + 1));
        (before > 0.0 && now.is_finite()).then(|| now / before)
    }

    /// The whole power that governs the differences, if there is one.
    fn power(&self) -> Option<u32> {
        if self.size(self.values.len().checked_sub(2)?) <= ABOVE * self.round_off {
            return None;
        }
        let observed = -self.ratio()?.log2();
        let whole = observed.round();
        ((observed - whole).abs() <= WHOLE && (1.0..=f64::from(self.largest)).contains(&whole)).then_some(whole as u32)
    }

    /// The column with `power` removed.
    fn without(&self, power: u32) -> Column {
        let factor = 1.0 / (2f64.powi(power as i32) - 1.0);
        let next = |pair: &[Vec<f64>]| {
            pair[0].iter().zip(&pair[1]).map(|(coarse, fine)| fine + factor * (fine - coarse)).collect()
        };
        Column { values: self.values.windows(2).map(next).collect(), largest: power + APART, ..*self }
    }

    /// Bounds on the errors of the last values.
    fn errors(&self) -> Vec<f64> {
        let Some(last) = self.values.len().checked_sub(2) else {
            return vec![f64::INFINITY; self.values.first().map_or(0, Vec::len)];
        };
        // of two values, nobody knows whether differences fall
        let Some(ratio) = self.ratio().or((self.size(last) == 0.0).then_some(0.0)) else {
            return vec![f64::INFINITY; self.values[0].len()];
        };
        // Σ ratio^k of all differences to come; where they are round-off, they need not fall
        let is_round_off = self.size(last) <= ABOVE * self.round_off;
        let to_come = match ratio {
            _ if is_round_off => 1.0,
            ratio if ratio < 1.0 && -ratio.log2() <= f64::from(self.largest) + 2.0 * WHOLE => {
                (ratio / (1.0 - ratio)).max(1.0)
            }
            _ => return vec![f64::INFINITY; self.values[0].len()],
        };
        let floor = self.round_off.max(SHARE * self.size(last));
        let before: Vec<f64> = match last.checked_sub(1) {
            Some(before) if !is_round_off => self.difference(before).map(|d| ratio * d.abs()).collect(),
            _ => vec![0.0; self.values[0].len()],
        };
        // the last difference may vanish by chance: the one before foresees it
        self.difference(last)
            .zip(&before)
            .map(|(d, foreseen)| (SAFETY * to_come * d.abs().max(*foreseen)).max(floor))
            .collect()
    }
}

impl Extrapolation {
    /// Extrapolates `levels`, the values from each run, the largest step first, each step half the one before; as many values in each.
    /// `round_off`: that of a run's results, relative to the largest. The smallest steps are left out where the larger ones show more.
    pub fn of(levels: &[Vec<f64>], round_off: f64) -> Self {
        let largest = levels.last().map_or(0.0, |values| values.iter().fold(0.0f64, |size, x| size.max(x.abs())));
        let whole = Column { values: levels.to_vec(), round_off: round_off * largest, largest: FIRST };
        let observed = whole.ratio().map(|ratio| -ratio.log2()).filter(|power| power.is_finite());
        let limit = levels.last().cloned().unwrap_or_default();
        let mut best = Extrapolation { powers: Vec::new(), observed, limit, error: whole.errors() };
        let mut least = typical(&best.error);
        for count in (2..=levels.len()).rev() {
            let mut column = Column { values: levels[..count].to_vec(), ..whole };
            let mut powers: Vec<u32> = Vec::new();
            loop {
                let mut error = column.errors();
                let last = column.values.last().map_or(&[][..], Vec::as_slice);
                if let Some(next) = levels.get(count) {
                    scattered(&mut error, (last, powers.first().copied()), (&levels[count - 1], next));
                }
                let own = typical(&error);
                if own < least {
                    least = own;
                    let limit = column.values.last().cloned().unwrap_or_default();
                    best = Extrapolation { powers: powers.clone(), observed, limit, error };
                }
                let Some(power) = column.power().filter(|power| powers.last().is_none_or(|last| power > last)) else {
                    break;
                };
                powers.push(power);
                column = column.without(power);
            }
        }
        best
    }

    /// The digits of the value at `place` that are borne out, 0 to 15.
    pub fn digits(&self, place: usize) -> usize {
        match (self.limit.get(place), self.error.get(place)) {
            (Some(value), Some(error)) if *error > 0.0 => {
                (value.abs() / error).log10().floor().clamp(0.0, 15.0) as usize
            }
            // zero at all steps
            (Some(_), Some(_)) => 15,
            _ => 0,
        }
    }
}

/// Raises errors to what the next finer run shows where it does not follow the powers that were found: what grows as steps fall was there before,
/// smaller by a factor of at most [`GROWTH`].
fn scattered(error: &mut [f64], (limit, power): (&[f64], Option<u32>), (last, next): (&[f64], &[f64])) {
    let factor = power.map_or(1.0, |power| 2f64.powi(-(power as i32)));
    for (((error, limit), last), next) in error.iter_mut().zip(limit).zip(last).zip(next) {
        let predicted = limit + factor * (last - limit);
        *error = error.max((next - predicted).abs() / GROWTH);
    }
}

/// The root of the mean square.
fn typical(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64).sqrt()
}
