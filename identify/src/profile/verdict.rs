//! What a profile means: in a word, and in sentences on ends that are none.

use super::{FLAT, Profile, ProfilePoint, Side};
use crate::statistics::ParameterStatistics;
use costate::shown::rounded;

/// What the data say of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identifiable {
    /// Its interval has two ends.
    Yes,
    /// Its interval has two ends, one of which at least the bound of another parameter makes ([`Side::AtBoundOf`]).
    ByBound,
    /// From below alone: it may be as large as it likes, or as its bound allows (practically non-identifiable; Raue et al. 2009).
    FromBelow,
    /// From above alone.
    FromAbove,
    /// Nothing is known beyond some value to one side at least, before the interval ends ([`Side::Blocked`]).
    Unknown,
    /// The cost changes, but to neither side by enough.
    Hardly,
    /// The others make up for all its changes.
    No,
}

impl Identifiable {
    /// In words.
    pub fn in_words(self) -> &'static str {
        match self {
            Identifiable::Yes => "identifiable",
            Identifiable::ByBound => "by the bound of another parameter",
            Identifiable::FromBelow => "only from below: the data do not keep it from growing",
            Identifiable::FromAbove => "only from above: the data do not keep it from falling",
            Identifiable::Unknown => "not known: a side of its profile could not be followed to an end",
            Identifiable::Hardly => "hardly: the data limit it to neither side",
            Identifiable::No => "not at all: the other parameters make up for it",
        }
    }
}

impl Profile {
    pub(super) fn of(
        parameter: usize,
        own: &ParameterStatistics,
        (lower, upper): (Side, Side),
        points: Vec<ProfilePoint>,
        quantile: f64,
    ) -> Self {
        let most = points.iter().map(|point| point.excess).fold(0.0, f64::max);
        let any = |is: fn(&Side) -> bool| is(&lower) || is(&upper);
        let verdict = match (lower.at(), upper.at()) {
            (Some(_), Some(_)) if any(|side| matches!(side, Side::AtBoundOf(..))) => Identifiable::ByBound,
            (Some(_), Some(_)) => Identifiable::Yes,
            _ if any(|side| matches!(side, Side::Blocked(..))) => Identifiable::Unknown,
            (Some(_), None) => Identifiable::FromBelow,
            (None, Some(_)) => Identifiable::FromAbove,
            _ if most < FLAT * quantile => Identifiable::No,
            _ => Identifiable::Hardly,
        };
        let (name, unit) = (own.name.clone(), own.unit.clone());
        let (value, standard_error, linear) = (own.value, own.standard_error, own.intervals[1]);
        Profile { parameter, name, unit, value, standard_error, linear, lower, upper, points, verdict }
    }

    /// The 95 % interval; infinite ends where it has none, before a bound or anywhere.
    pub fn interval(&self) -> (f64, f64) {
        (self.lower.end(-1.0), self.upper.end(1.0))
    }

    /// Sentences on ends that are none; mostly none.
    pub fn remarks(&self) -> Vec<String> {
        let of_side = |side: &Side, name: &str| match side {
            Side::Blocked(value, reason) => Some(format!(
                "`{}` was followed {name} to {} alone, beyond which {reason}",
                self.name,
                rounded(*value, 5)
            )),
            Side::Bound(value) => Some(format!(
                "`{}` reaches its {name} bound {} before its interval ends: on that side it is limited by the bound, not by the data",
                self.name,
                rounded(*value, 5)
            )),
            Side::BoundOf(value, other) => Some(format!(
                "`{}` comes to its {name} end at {} because `{other}` is at its bound there: on that side it is limited by that bound, not by the data",
                self.name,
                rounded(*value, 5)
            )),
            Side::AtBoundOf(value, other) => Some(format!(
                "`{}` comes to its {name} end at {} because `{other}` is at its bound there: the data alone would let it go farther",
                self.name,
                rounded(*value, 5)
            )),
            Side::Open(value) => {
                Some(format!("`{}` has no {name} end: it was followed to {}", self.name, rounded(*value, 5)))
            }
            Side::At(_) => None,
        };
        [of_side(&self.lower, "lower"), of_side(&self.upper, "upper")].into_iter().flatten().collect()
    }
}
