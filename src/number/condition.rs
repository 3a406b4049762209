//! Choices between numbers that hide nothing: both are known, whichever is taken.

use super::variable::same;
use super::{Number, Tracer};
use std::any::Any;
use std::ops::{BitAnd, BitOr, Not};

/// What comes of a comparison of numbers ([`Number::less`], [`Number::at_most`]), for [`Number::select`]: it can be joined with `&`, `|` and `!`, and
/// not looked at.
#[derive(Debug, Clone, Copy)]
pub struct Condition(bool);

impl Condition {
    pub(super) fn new(holds: bool) -> Self {
        Condition(holds)
    }

    /// The first of two where it holds, else the second; what depends on something depends on both.
    #[inline]
    pub(super) fn choose<D: Number>(self, first: D, second: D) -> D {
        let (chosen, other) = if self.0 { (first, second) } else { (second, first) };
        // the same type or not: known when it is compiled
        match (same::<_, Tracer>(&chosen), same::<_, Tracer>(&other)) {
            (Some(chosen), Some(other)) => same(&chosen.or(&other)).unwrap_or(first),
            _ => chosen,
        }
    }
}

impl BitAnd for Condition {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Condition(self.0 & other.0)
    }
}

impl BitOr for Condition {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Condition(self.0 | other.0)
    }
}

impl Not for Condition {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Condition(!self.0)
    }
}

/// The value of a number for a choice between numbers that are all shown to who traces them.
#[inline]
pub(super) fn unseen<D: Number>(x: &D) -> f64 {
    let tracer = (x as &dyn Any).downcast_ref::<Tracer>();
    tracer.map_or_else(|| x.re(), |tracer| tracer.unseen())
}
