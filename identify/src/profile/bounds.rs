//! Ends of intervals that bounds of other parameters make.
//!
//! Where another parameter comes to its bound on the way, the least cost bends: up to there that parameter has made up for what is held, and then it
//! cannot any more. How much that matters is told by the course before, which is followed on to the end.

use super::walk::Ground;
use super::{FAR, ProfilePoint, Side, Walk};
use costate::{Parameter, Scale};

/// A bound makes an end where without it, as the excess has risen before, this part of the quantile would not be reached there.
const UNREACHED: f64 = 0.95;
/// A parameter is at its bound if that is nearer than this part of what it was at the optimum: bounds that several come to together may be
/// approached alone.
const AT_BOUND: f64 = 1e-3;
/// Slopes are taken over at least this part of the quantile, so that errors of fits do not count.
const APART: f64 = 0.05;

impl Ground<'_> {
    /// An end, with the name of the parameter whose bound makes it, if one does.
    pub(super) fn by_bound(&self, walk: &Walk<'_>, end: Side, points: &[ProfilePoint]) -> Side {
        let (Side::At(at), k) = (&end, walk.parameter) else { return end };
        let optimum = ProfilePoint { value: self.optimum.u[k], ..self.optimum.clone() };
        let way: Vec<&ProfilePoint> = std::iter::once(&optimum).chain(points).collect();
        let Some(last) = way.iter().position(|point| point.value == *at) else { return end };
        // how many points are passed before each parameter stays at its bound, and whether it is just there: the last one first
        let met = |&other: &usize| {
            let nearness = self.nearness(other, &way[last].u).filter(|_| other != k)?;
            let free = (0..=last).rev().find(|&place| self.nearness(other, &way[place].u).is_none())?;
            Some((free, nearness > 0.0, other))
        };
        let mut candidates: Vec<(usize, bool, usize)> = self.free.iter().filter_map(met).collect();
        candidates.sort_by_key(|&(free, is_near, other)| (std::cmp::Reverse(free), is_near, other));
        for (free, _, other) in candidates {
            let here = way[free];
            let slope = self.slope_before(walk, &way[..=free]);
            let reached = here.excess + slope * (self.along(k, *at) - self.along(k, here.value)).abs();
            if reached >= UNREACHED * self.quantile {
                continue;
            }
            let name = self.problem.parameters[other].name.clone();
            // what would happen without the bound
            let farther = walk.direction * (self.quantile - here.excess) / slope;
            let alone = match self.problem.parameters[k].scale {
                Scale::Log => here.value * farther.exp(),
                Scale::Linear => here.value + farther,
            };
            let Parameter { lower, upper, .. } = self.problem.parameters[k];
            let size = self.problem.parameters[k].size_from(optimum.value);
            let is_near = (alone - optimum.value).abs() <= FAR * size.max(optimum.value.abs());
            let is_limited = is_near && (lower..=upper).contains(&alone);
            return if is_limited { Side::AtBoundOf(*at, name) } else { Side::BoundOf(*at, name) };
        }
        end
    }

    /// How the excess rises at the last of these points, by those before it; none has more.
    fn slope_before(&self, walk: &Walk<'_>, way: &[&ProfilePoint]) -> f64 {
        let before = way.split_last().and_then(|(here, others)| {
            let apart = |point: &&&ProfilePoint| here.excess - point.excess >= APART * self.quantile;
            let from = others.iter().rev().find(apart).or(others.first())?;
            let k = walk.parameter;
            Some((here.excess - from.excess) / (self.along(k, here.value) - self.along(k, from.value)).abs())
        });
        // at the optimum itself, where the standard error is infinite if the data do not determine it, and NaN if it is held
        let size = match self.problem.parameters[walk.parameter].scale {
            Scale::Log => self.optimum.u[walk.parameter].abs(),
            Scale::Linear => 1.0,
        };
        let at_optimum = size / walk.standard_error;
        before.unwrap_or(if at_optimum.is_finite() { at_optimum } else { 0.0 })
    }

    /// Where a value lies on the parameter's own scale.
    fn along(&self, k: usize, value: f64) -> f64 {
        if self.problem.parameters[k].scale == Scale::Log { value.ln() } else { value }
    }

    /// How far a parameter is from its bound, as part of what it was at the optimum, if that is next to nothing; `None` also if it was at its
    /// bound there.
    fn nearness(&self, other: usize, u: &[f64]) -> Option<f64> {
        let Parameter { lower, upper, .. } = self.problem.parameters[other];
        let of = |bound: f64| {
            let (rest, whole) = ((u[other] - bound).abs(), (self.optimum.u[other] - bound).abs());
            (bound.is_finite() && whole > 0.0 && rest <= AT_BOUND * whole).then(|| rest / whole)
        };
        of(lower).or(of(upper))
    }
}
