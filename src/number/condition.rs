//! Choices between numbers that hide nothing: both are known, whichever is taken.

use super::variable::same;
use super::{Number, Tracer};
use std::any::Any;
use std::ops::{BitAnd, BitOr, Not};

/// What comes of a comparison of numbers ([`Number::less`], [`Number::at_most`]), for [`Number::select`]: it can be joined with `&`, `|` and `!`, and
/// not looked at.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    holds: bool,
    /// Variables that are compared, of numbers that are traced.
    on: u128,
}

impl Condition {
    pub(super) const ALWAYS: Self = Condition { holds: true, on: 0 };

    /// What a comparison of these two gives.
    #[inline]
    pub(super) fn of<D: Number>(first: &D, second: &D, compare: impl FnOnce(f64, f64) -> bool) -> Self {
        let on = |x: &D| same::<_, Tracer>(x).map_or(0, |tracer| tracer.depends);
        Condition { holds: compare(unseen(first), unseen(second)), on: on(first) | on(second) }
    }

    /// The first of two where it holds, else the second. What is traced depends on both, and on what is compared: a choice between two
    /// constants is no constant.
    #[inline]
    pub(super) fn choose<D: Number>(self, first: D, second: D) -> D {
        let (chosen, other) = if self.holds { (first, second) } else { (second, first) };
        // the same type or not: known when it is compiled
        match (same::<_, Tracer>(&chosen), same::<_, Tracer>(&other)) {
            (Some(chosen), Some(other)) => same(&chosen.or(&other, self.on)).unwrap_or(first),
            _ => chosen,
        }
    }
}

impl BitAnd for Condition {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Condition { holds: self.holds & other.holds, on: self.on | other.on }
    }
}

impl BitOr for Condition {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Condition { holds: self.holds | other.holds, on: self.on | other.on }
    }
}

impl Not for Condition {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Condition { holds: !self.holds, ..self }
    }
}

/// The value of a number for a choice between numbers that are all shown to who traces them.
#[inline]
pub(super) fn unseen<D: Number>(x: &D) -> f64 {
    let tracer = (x as &dyn Any).downcast_ref::<Tracer>();
    tracer.map_or_else(|| x.re(), |tracer| tracer.unseen())
}
