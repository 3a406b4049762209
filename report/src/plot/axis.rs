//! Axes: scale, range and tick labels.

use super::text::superscript;
use costate_identify::{Error, Result};

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear scale: values are evenly spread.
    Linear,
    /// Logarithmic scale, to the base 10; zero and negative values are not drawn.
    Log,
}

/// An axis: its label (with the unit, e.g. `time [s]`), its scale and, if not found from the data, its limits.
#[derive(Debug, Clone)]
pub struct Axis {
    pub(super) label: String,
    pub(super) scale: Scale,
    pub(super) lower: Option<f64>,
    pub(super) upper: Option<f64>,
    pub(super) whole: bool,
}

impl Axis {
    /// An axis with evenly spread values.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis { label: label.into(), scale: Scale::Linear, lower: None, upper: None, whole: false }
    }

    /// An axis with logarithmically spread values.
    pub fn log(label: impl Into<String>) -> Self {
        Axis { scale: Scale::Log, ..Axis::linear(label) }
    }

    /// Sets the lower end of the axis; what lies below is not drawn.
    pub fn lower_limit(mut self, value: f64) -> Self {
        self.lower = Some(value);
        self
    }

    /// Sets the upper end of the axis; what lies above is not drawn.
    pub fn upper_limit(mut self, value: f64) -> Self {
        self.upper = Some(value);
        self
    }

    /// Ticks at whole numbers only, e.g. for iterations.
    pub fn whole_numbers(mut self) -> Self {
        self.whole = true;
        self
    }

    /// True if the value can be drawn.
    pub(super) fn holds(&self, value: f64) -> bool {
        match self.scale {
            // Beyond this, differences of values overflow.
            Scale::Linear => value.abs() < 1e307,
            Scale::Log => value > 0.0 && value < f64::INFINITY,
        }
    }

    /// The value's position before scaling to the paper: itself or its logarithm, NaN where it cannot be drawn.
    pub(super) fn position(&self, value: f64) -> f64 {
        match self.scale {
            _ if !self.holds(value) => f64::NAN,
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    /// Range of positions: that of the data, widened by the fraction `margin` of it, and the limits.
    pub(super) fn range(&self, data: Option<(f64, f64)>, margin: f64) -> Result<(f64, f64)> {
        let limit = |value: Option<f64>| match value.map(|v| self.position(v)) {
            Some(position) if !position.is_finite() => Err(self.unusable_limits()),
            position => Ok(position),
        };
        let (lower, upper) = (limit(self.lower)?, limit(self.upper)?);
        let empty = match self.scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Log => (-1.0, 0.0),
        };
        let (low, high) = data.unwrap_or(empty);
        let (low, high) = (lower.unwrap_or(low), upper.unwrap_or(high));
        // Constant up to rounding: show it in the middle of a sensible range.
        let size = low.abs().max(high.abs());
        let (mut wide_low, mut wide_high) = if high - low <= 4.0 * f64::EPSILON * size || high - low < 1e-300 {
            let half = match self.scale {
                Scale::Log => 1.0,
                Scale::Linear if self.whole => 0.5,
                Scale::Linear if size < 1e-300 => 1.0,
                Scale::Linear => 0.1 * size,
            };
            (low - half, high + half)
        } else {
            let space = margin * (high - low);
            (low - space, high + space)
        };
        wide_low = lower.unwrap_or(wide_low);
        wide_high = upper.unwrap_or(wide_high);
        if wide_low < wide_high {
            return Ok((wide_low, wide_high));
        }
        match (lower, upper) {
            (Some(_), Some(_)) => Err(self.unusable_limits()),
            // The data lie beyond the one limit: an axis of some length that shows so.
            (Some(low), None) => Ok((low, low + 0.1 * low.abs().max(1.0))),
            _ => Ok((wide_high - 0.1 * wide_high.abs().max(1.0), wide_high)),
        }
    }

    fn unusable_limits(&self) -> Error {
        let show = |limit: Option<f64>| limit.map_or("automatic".to_string(), |v| v.to_string());
        Error::invalid(
            format!("the axis `{}`", self.label),
            format!("its limits {} to {} are unusable", show(self.lower), show(self.upper)),
            "give finite limits, the lower one first, both positive on a logarithmic axis",
        )
    }

    /// Extends a range to the next simple number if it nearly reaches it: times often end one step before.
    pub(super) fn completed(&self, (low, high): (f64, f64)) -> (f64, f64) {
        if self.scale == Scale::Log || self.whole {
            return (low, high);
        }
        let step = Step::at_least((high - low) / 10.0);
        let near = |end: f64, simple: f64| (end - simple).abs() < 0.005 * (high - low);
        let (first, last) = (step_count(low, step).floor(), step_count(high, step).ceil());
        let (first, last) = (step.times(first, 0), step.times(last, 0));
        (
            if self.lower.is_none() && near(low, first) { first } else { low },
            if self.upper.is_none() && near(high, last) { last } else { high },
        )
    }

    /// Ticks for a range of positions; `fits` says whether labels at such positions have enough room, or, if the flag is set, just
    /// enough.
    pub(super) fn ticks(&self, range: (f64, f64), fits: &dyn Fn(&[Label], bool) -> bool) -> Ticks {
        let attempt = |count: usize| match self.scale {
            Scale::Linear => linear(range, count, self.whole),
            Scale::Log => log(range, count),
        };
        let fitting = |tight: bool, fewest: usize| {
            let attempts = (2..=12).rev().map(attempt);
            attempts.into_iter().find(|ticks| ticks.major.len() >= fewest && fits(&ticks.major, tight))
        };
        fitting(false, 2).or_else(|| fitting(true, 2)).or_else(|| fitting(true, 1)).unwrap_or_default()
    }
}

/// A position on an axis and its label.
pub(super) type Label = (f64, String);

/// Marks of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ticks {
    /// Positions with labels.
    pub major: Vec<Label>,
    /// Positions without.
    pub minor: Vec<f64>,
    /// Common factor of all labels, e.g. `×10⁻³`; empty if there is none.
    pub note: String,
}

/// A step of 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    digit: f64,
    exponent: i32,
}

impl Step {
    /// The smallest step that is at least `size`.
    fn at_least(size: f64) -> Self {
        let exponent = size.log10().floor().clamp(-305.0, 305.0) as i32;
        let relative = size / 10f64.powi(exponent);
        let digit = [1.0, 2.0, 5.0].into_iter().find(|d| *d >= relative * (1.0 - 1e-9));
        digit.map_or(Step { digit: 1.0, exponent: exponent + 1 }, |digit| Step { digit, exponent })
    }

    /// `count` steps, divided by ten to the `unit`; divides where multiplying would round (0.3 instead of 3 x 0.1).
    fn times(self, count: f64, unit: i32) -> f64 {
        let exponent = self.exponent - unit;
        if exponent < 0 {
            count * self.digit / 10f64.powi(-exponent)
        } else {
            count * self.digit * 10f64.powi(exponent)
        }
    }
}

fn linear((low, high): (f64, f64), count: usize, whole: bool) -> Ticks {
    let mut step = Step::at_least((high - low) / count as f64);
    if whole && step.exponent < 0 {
        step = Step { digit: 1.0, exponent: 0 };
    }
    let first = (step_count(low, step) - 1e-9).ceil();
    let last = (step_count(high, step) + 1e-9).floor();
    let mut counts: Vec<f64> = Vec::new();
    // At most as many as asked for, plus one for the ends; the bound protects against rounding in extreme ranges.
    while counts.len() < 40 && first + counts.len() as f64 <= last {
        counts.push(first + counts.len() as f64);
    }
    // Steps far smaller than the values: label the differences from the first tick.
    let largest = first.abs().max(last.abs());
    let offset = if largest * step.digit > 2e5 { first } else { 0.0 };
    let (unit, decimals) = label_unit(largest_label(&counts, offset), step);
    let major = counts
        .iter()
        .map(|count| (step.times(*count, 0), number(step.times(count - offset, unit), decimals)))
        .collect();
    let mut note = if unit == 0 { String::new() } else { format!("×10{}", superscript(unit)) };
    if offset != 0.0 {
        let (unit, decimals) = label_unit(offset, step);
        let power = if unit == 0 { String::new() } else { format!("×10{}", superscript(unit)) };
        let value = step.times(offset, unit);
        let sign = if value < 0.0 { "−" } else { "+" };
        let mut digits = number(value.abs(), decimals);
        if digits.contains('.') {
            digits = digits.trim_end_matches('0').trim_end_matches('.').to_string();
        }
        note = format!("{note} {sign} {digits}{power}").trim_start().to_string();
    }
    Ticks { major, minor: Vec::new(), note }
}

/// Number of steps from zero to a value.
fn step_count(value: f64, step: Step) -> f64 {
    if step.exponent < 0 {
        value * 10f64.powi(-step.exponent) / step.digit
    } else {
        value / 10f64.powi(step.exponent) / step.digit
    }
}

/// The largest of the labels in steps from the offset.
fn largest_label(counts: &[f64], offset: f64) -> f64 {
    counts.iter().map(|count| (count - offset).abs()).fold(0.0, f64::max)
}

/// Common exponent of labels whose largest is `count` steps, a multiple of three, and the number of decimals.
fn label_unit(count: f64, step: Step) -> (i32, usize) {
    let decade = if count == 0.0 { 0 } else { (count.abs() * step.digit).log10().floor() as i32 + step.exponent };
    let unit = if (-2..5).contains(&decade) { 0 } else { decade.div_euclid(3) * 3 };
    (unit, usize::try_from(unit - step.exponent).unwrap_or(0))
}

/// A number with a true minus sign; zero without one.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if value < 0.0 && !zero { format!("−{text}") } else { text }
}

fn log((low, high): (f64, f64), count: usize) -> Ticks {
    let decades: Vec<i32> = ((low - 1e-9).ceil() as i32..=(high + 1e-9).floor() as i32).collect();
    let inside = |position: f64| position >= low - 1e-9 && position <= high + 1e-9;
    let multiples = |decade: i32, digits: &'static [i32]| {
        digits.iter().map(move |digit| (decade, *digit)).map(|(e, d)| (f64::from(e) + f64::from(d).log10(), e, d))
    };
    let fine = || ((low.floor() as i32)..=(high.floor() as i32)).flat_map(|e| multiples(e, &[2, 3, 4, 5, 6, 7, 8, 9]));
    if decades.len() >= 3 || (decades.len() == 2 && high - low >= 1.8) {
        let every = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500].into_iter();
        let labelled = |every: i32| decades.iter().filter(move |d| *d % every == 0).count();
        let every = every.clone().find(|every| labelled(*every) <= count).unwrap_or(1000);
        let (major, others): (Vec<i32>, Vec<i32>) = decades.iter().partition(|d| *d % every == 0);
        let minor = match every {
            1 => fine().map(|(position, ..)| position).filter(|p| inside(*p)).collect(),
            _ if decades.len() <= 60 => others.into_iter().map(f64::from).collect(),
            _ => Vec::new(),
        };
        let major = major.into_iter().map(|d| (f64::from(d), format!("10{}", superscript(d)))).collect();
        return Ticks { major, minor, note: String::new() };
    }
    // Less than two decades: 1, 2, 5 of each.
    let bounds = (low.floor() as i32)..=(high.floor() as i32);
    let ticks: Vec<(f64, i32, i32)> =
        bounds.flat_map(|e| multiples(e, &[1, 2, 5])).filter(|(position, ..)| inside(*position)).collect();
    let plain = low >= -3.0 && high <= 4.0;
    let label = |exponent: i32, digit: i32| match digit {
        _ if plain => number(f64::from(digit) * 10f64.powi(exponent), usize::try_from(-exponent).unwrap_or(0)),
        1 => format!("10{}", superscript(exponent)),
        _ => format!("{digit}×10{}", superscript(exponent)),
    };
    if ticks.len() >= 3 && ticks.len() <= count {
        let major: Vec<Label> = ticks.iter().map(|(position, e, d)| (*position, label(*e, *d))).collect();
        let minor = fine().map(|(position, ..)| position).filter(|p| inside(*p)).collect();
        return Ticks { major, minor, note: String::new() };
    }
    // Less than one decade: as on a linear axis, at logarithmic positions.
    let unlogged = (10f64.powf(low).max(f64::MIN_POSITIVE), 10f64.powf(high).min(1e307));
    let mut ticks = linear(unlogged, count, false);
    ticks.major.retain(|(value, _)| *value > 0.0);
    ticks.major.iter_mut().for_each(|(value, _)| *value = value.log10());
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|(_, label)| label.as_str()).collect()
    }

    /// Protects readers from labels like 0.30000000000000004 and from steps of 0.37.
    #[test]
    fn linear_ticks_are_multiples_of_one_two_five() {
        assert_eq!(labels(&linear((0.0, 1.0), 6, false)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&linear((-105.0, 105.0), 5, false)), ["−100", "−50", "0", "50", "100"]);
        assert_eq!(labels(&linear((-0.1, 3.1), 12, true)), ["0", "1", "2", "3"]);
    }

    /// Protects small and large numbers from labels that are all zeros; the exponent is common, in steps of three.
    #[test]
    fn tiny_and_huge_numbers_have_a_common_exponent() {
        let tiny = linear((0.0, 4.2e-7), 5, false);
        assert_eq!((labels(&tiny), tiny.note.as_str()), (vec!["0", "100", "200", "300", "400"], "×10⁻⁹"));
        let huge = linear((0.0, 2.1e6), 5, false);
        assert_eq!((labels(&huge), huge.note.as_str()), (vec!["0.0", "0.5", "1.0", "1.5", "2.0"], "×10⁶"));
        assert_eq!(labels(&linear((0.0, 0.05), 5, false)), ["0.00", "0.01", "0.02", "0.03", "0.04", "0.05"]);
    }

    /// Protects nearly constant data: differences are labelled from an offset, which is stated.
    #[test]
    fn nearly_constant_values_are_labelled_from_an_offset() {
        let ticks = linear((1.000_000_1, 1.000_000_9), 4, false);
        assert_eq!(labels(&ticks), ["0", "200", "400", "600"]);
        assert_eq!(ticks.note, "×10⁻⁹ + 1.0000002");
    }

    /// Protects logarithmic axes over few and many decades.
    #[test]
    fn log_ticks_are_powers_of_ten_or_their_simple_multiples() {
        assert_eq!(labels(&log((-20.5, 2.0), 5)), ["10⁻²⁰", "10⁻¹⁵", "10⁻¹⁰", "10⁻⁵", "10⁰"]);
        assert_eq!(labels(&log((-1.1, 0.1), 6)), ["0.1", "0.2", "0.5", "1"]);
        assert_eq!(labels(&log((-6.1, -4.9), 6)), ["10⁻⁶", "2×10⁻⁶", "5×10⁻⁶", "10⁻⁵"]);
    }

    /// Protects constant data, zero included, from an axis without length, and limits from being ignored.
    #[test]
    fn ranges_have_length() -> Result<()> {
        let axis = Axis::linear("y");
        assert_eq!(axis.range(Some((2.0, 2.0)), 0.05)?, (1.8, 2.2));
        assert_eq!(axis.range(Some((0.0, 0.0)), 0.05)?, (-1.0, 1.0));
        assert_eq!(axis.clone().lower_limit(-3.0).range(Some((0.0, 1.0)), 0.0)?, (-3.0, 1.0));
        assert!(axis.clone().lower_limit(2.0).upper_limit(1.0).range(None, 0.0).is_err());
        assert!(Axis::log("y").lower_limit(0.0).range(None, 0.0).is_err());
        let beyond = axis.lower_limit(5.0).range(Some((0.0, 1.0)), 0.05)?;
        assert!(beyond.0 == 5.0 && beyond.1 > 5.0);
        Ok(())
    }
}
