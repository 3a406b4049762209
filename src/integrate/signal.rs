//! Inputs w(t): constants, functions, and samples with an interpolation between them.
//!
//! ```
//! use costate::{Interpolation, Signal};
//! # fn main() -> costate::Result<()> {
//! let gravity = Signal::constant(-9.81);
//! let force = Signal::function(|t| 3.0 * (2.0 * t).sin());
//! let measured = Signal::sampled(&[0.0, 0.1, 0.2], &[1.0, 3.0, 2.0], Interpolation::Linear)?;
//! assert_eq!(gravity.value(7.0) + force.value(0.0), -9.81);
//! assert!((measured.value(0.05) - 2.0).abs() < 1e-15);
//! assert!(measured.covers(0.0, 0.3).unwrap_err().to_string().contains("0.2 s to 0.3 s"));
//! # Ok(())
//! # }
//! ```

mod interpolation;
mod switched;

pub use interpolation::Interpolation;
use switched::Switched;

use crate::time_axis::{EVEN_TOLERANCE, check_times, mean_step, unevenness};
use crate::{Error, Number, Result};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// An input w(t). Cloning is cheap: samples and functions are shared.
#[derive(Clone)]
pub struct Signal(SignalKind);

#[derive(Clone)]
enum SignalKind {
    Constant(f64),
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
    Sampled(Arc<Samples>),
    Switched(Arc<Switched>),
}

/// Values at times, and what is between them.
pub struct Samples {
    times: Vec<f64>,
    values: Vec<f64>,
    interpolation: Interpolation,
    /// Coefficients of 1, s, s², s³ with s = t - t_k in each interval k, for a cubic spline; otherwise empty.
    pieces: Vec<[f64; 4]>,
    /// Mean sampling step, s.
    step: f64,
    /// True if times stray by less than a quarter of a step from an even grid, so that a division finds the interval or a neighbour of it.
    nearly_even: bool,
}

impl Signal {
    /// A signal with the same value at all times.
    pub fn constant(value: f64) -> Self {
        Self(SignalKind::Constant(value))
    }

    /// A function of time in s.
    pub fn function(function: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self(SignalKind::Function(Arc::new(function)))
    }

    /// Samples `values` at `times` in s, even or uneven. Takes O(n), for a spline too.
    ///
    /// # Errors
    /// [`Error::Invalid`] for slices of different length; fewer than 2 samples (4 for a cubic spline); times that are not
    /// finite or do not increase; and values that are not finite or so large that interpolation overflows.
    pub fn sampled(times: &[f64], values: &[f64], interpolation: Interpolation) -> Result<Self> {
        Ok(Self(SignalKind::Sampled(Arc::new(Samples::new(times, values, interpolation)?))))
    }

    /// Samples at `start`, `start + step`, ... in s: for records whose printed times are rounded or jittered about a known
    /// even grid.
    ///
    /// # Errors
    /// As for [`Signal::sampled`], and for a step that is not positive and finite.
    pub fn sampled_evenly(start: f64, step: f64, values: &[f64], interpolation: Interpolation) -> Result<Self> {
        if !(step.is_finite() && step > 0.0) {
            let remedy = "give a positive step in s";
            return Err(Error::invalid("sampled signal", format!("the sampling step is {step} s"), remedy));
        }
        let times: Vec<f64> = (0..values.len()).map(|k| start + k as f64 * step).collect();
        Self::sampled(&times, values, interpolation)
    }

    /// Value w(t). Before the first and after the last sample their values are held, see [`Signal::covers`]. Costs O(1) on even and nearly
    /// even times, O(log n) on others. NaN for a time that is NaN, unless constant.
    pub fn value(&self, t: f64) -> f64 {
        match &self.0 {
            SignalKind::Constant(value) => *value,
            SignalKind::Function(function) => function(t),
            SignalKind::Sampled(samples) => {
                samples.outside(t).unwrap_or_else(|| samples.inside(samples.interval(t), t))
            }
            SignalKind::Switched(switched) => switched.at(t).value(t),
        }
    }

    /// Fills `out` with w at each of `times`, of the same length: the same values as [`Signal::value`], faster where times increase (any
    /// order is allowed).
    ///
    /// # Errors
    /// [`Error::Invalid`] for slices of different length.
    pub fn fill(&self, times: &[f64], out: &mut [f64]) -> Result<()> {
        if times.len() != out.len() {
            let problem = format!("there are {} times and room for {} values", times.len(), out.len());
            return Err(Error::invalid("signal", problem, "give room for one value at each time"));
        }
        self.fill_both(times, out);
        Ok(())
    }

    /// Fills values in as [`Signal::fill`] does, for as many times as there is room for.
    pub(crate) fn fill_both(&self, times: &[f64], out: &mut [f64]) {
        match &self.0 {
            SignalKind::Constant(value) => out.fill(*value),
            SignalKind::Function(_) | SignalKind::Switched(_) => {
                times.iter().zip(out).for_each(|(t, w)| *w = self.value(*t))
            }
            SignalKind::Sampled(samples) => {
                let mut k = 0;
                for (&t, w) in times.iter().zip(out) {
                    *w = samples.outside(t).unwrap_or_else(|| {
                        k = samples.interval_after(k, t);
                        samples.inside(k, t)
                    });
                }
            }
        }
    }

    /// Times of the first and last sample, s; `None` of signals without samples of their own.
    pub fn range(&self) -> Option<(f64, f64)> {
        match &self.0 {
            SignalKind::Sampled(samples) => Some((samples.start(), samples.end())),
            _ => None,
        }
    }

    /// Times at which it jumps or has a kink, s.
    pub fn kinks(&self) -> Cow<'_, [f64]> {
        match &self.0 {
            SignalKind::Sampled(samples) if samples.interpolation != Interpolation::Cubic => {
                Cow::Borrowed(&samples.times)
            }
            SignalKind::Switched(switched) => Cow::Owned(switched.and_those_of(|signal| signal.kinks())),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Times at which it may jump, s.
    pub fn jumps(&self) -> Cow<'_, [f64]> {
        match &self.0 {
            SignalKind::Sampled(samples) if samples.interpolation == Interpolation::ZeroOrder => {
                Cow::Borrowed(&samples.times)
            }
            SignalKind::Switched(switched) => Cow::Owned(switched.and_those_of(|signal| signal.jumps())),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// Limit of the signal from before time t, one of [`Signal::jumps`]; its value at all others.
    pub(crate) fn before(&self, t: f64) -> f64 {
        match &self.0 {
            SignalKind::Sampled(samples) if samples.interpolation == Interpolation::ZeroOrder => {
                let k = samples.times.partition_point(|sample| *sample < t);
                let is_sample = samples.times.get(k).is_some_and(|sample| *sample == t);
                if is_sample { samples.values[k.saturating_sub(1)] } else { self.value(t) }
            }
            SignalKind::Switched(switched) => switched.until(t).before(t),
            _ => self.value(t),
        }
    }

    /// Interpolation between the signal's samples; `None` if it has none.
    pub fn interpolation(&self) -> Option<Interpolation> {
        match &self.0 {
            SignalKind::Sampled(samples) => Some(samples.interpolation),
            _ => None,
        }
    }

    /// The signal with interpolation `to` in the place of `from`, where there are samples enough; others are left as they are.
    ///
    /// # Errors
    /// [`Error::Invalid`] if interpolation overflows.
    pub fn interpolated(&self, from: Interpolation, to: Interpolation) -> Result<Self> {
        match &self.0 {
            SignalKind::Sampled(samples)
                if samples.interpolation == from && samples.times.len() >= to.fewest_samples() =>
            {
                Self::sampled(&samples.times, &samples.values, to)
            }
            _ => Ok(self.clone()),
        }
    }

    /// Checks that the signal is known from `from` to `to` (s), so that no end value is held. A sample that is missed by less than
    /// [`EVEN_TOLERANCE`] sampling steps counts as reached.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the ranges that are not covered.
    pub fn covers(&self, from: f64, to: f64) -> Result<()> {
        if !(from.is_finite() && to.is_finite() && from <= to) {
            let problem = format!("{from} s to {to} s is not a range of time");
            return Err(Error::invalid("signal", problem, "give a finite start, and an end that is not before it"));
        }
        match &self.0 {
            SignalKind::Sampled(samples) => {
                check_range("sampled signal", (samples.start(), samples.end()), samples.step, (from, to))
            }
            SignalKind::Switched(switched) => {
                switched.parts(from, to).try_for_each(|(signal, from, to)| signal.covers(from, to))
            }
            SignalKind::Constant(_) | SignalKind::Function(_) => Ok(()),
        }
    }
}

/// Checks that samples from `start` to `end` (s) are enough from `from` to `to`, but for a small part of a step.
///
/// # Errors
/// [`Error::Invalid`] naming the ranges that are missing.
pub(crate) fn check_range(what: &str, (start, end): (f64, f64), step: f64, (from, to): (f64, f64)) -> Result<()> {
    let tolerance = EVEN_TOLERANCE * step + 4.0 * f64::EPSILON * from.abs().max(to.abs());
    let mut missing = Vec::new();
    if from < start - tolerance {
        missing.push(format!("{from} s to {} s", start.min(to)));
    }
    if to > end + tolerance {
        missing.push(format!("{} s to {to} s", end.max(from)));
    }
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(" and ");
    let problem = format!("its samples go from {start} s to {end} s, and nothing is known from {missing}");
    Err(Error::invalid(what, problem, "simulate within the samples, or give a longer record"))
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            SignalKind::Constant(value) => write!(f, "Signal::constant({value:?})"),
            SignalKind::Function(_) => write!(f, "Signal::function(..)"),
            SignalKind::Switched(switched) => write!(f, "Signal::switched({switched:?})"),
            SignalKind::Sampled(samples) => write!(
                f,
                "Signal::sampled({} samples from {:?} s to {:?} s, {})",
                samples.times.len(),
                samples.start(),
                samples.end(),
                samples.interpolation
            ),
        }
    }
}

impl Samples {
    /// Samples of a signal, checked as [`Signal::sampled`] says.
    pub fn new(times: &[f64], values: &[f64], interpolation: Interpolation) -> Result<Self> {
        let invalid = |problem: String, remedy: &str| Err(Error::invalid("sampled signal", problem, remedy));
        if times.len() != values.len() {
            let problem = format!("there are {} times and {} values", times.len(), values.len());
            return invalid(problem, "give one value for each time");
        }
        let fewest = interpolation.fewest_samples();
        if times.len() < fewest {
            let problem = format!("{interpolation} interpolation needs {fewest} samples, there are {}", times.len());
            let other = if times.len() > 1 { "give more samples, or choose `linear`" } else { "give more samples" };
            return invalid(problem, other);
        }
        check_times(times)?;
        if let Some(k) = values.iter().position(|value| !value.is_finite()) {
            let problem = format!("the value at t = {} s (row {}) is {}", times[k], k + 1, values[k]);
            return invalid(problem, "remove the sample, or correct its value");
        }
        let pieces = match interpolation {
            Interpolation::Cubic => not_a_knot(times, values),
            Interpolation::ZeroOrder | Interpolation::Linear => Vec::new(),
        };
        let overflow = match interpolation {
            Interpolation::ZeroOrder => None,
            Interpolation::Linear => values.windows(2).position(|pair| !(pair[1] - pair[0]).is_finite()),
            Interpolation::Cubic => pieces.iter().position(|piece| piece.iter().any(|c| !c.is_finite())),
        };
        if let Some(k) = overflow {
            let problem = format!("{interpolation} interpolation overflows after t = {} s (row {})", times[k], k + 1);
            return invalid(problem, "check the units of times and values, and for times that nearly coincide");
        }
        Ok(Samples {
            times: times.to_vec(),
            values: values.to_vec(),
            interpolation,
            pieces,
            step: mean_step(times),
            nearly_even: unevenness(times) < 0.25,
        })
    }

    /// The first time, s.
    pub fn start(&self) -> f64 {
        self.times[0] // there are at least two, checked when made
    }

    /// The last time, s.
    pub fn end(&self) -> f64 {
        self.times[self.times.len() - 1] // there are at least two, checked when made
    }

    /// The value held at and beyond an end; `None` strictly inside.
    fn outside(&self, t: f64) -> Option<f64> {
        if t <= self.start() {
            Some(self.values[0])
        } else if t >= self.end() {
            self.values.last().copied()
        } else if t.is_nan() {
            Some(f64::NAN)
        } else {
            None
        }
    }

    /// The k with t_k <= t < t_(k+1); the nearest one outside.
    fn interval(&self, t: f64) -> usize {
        let last = self.times.len() - 2;
        if !self.nearly_even {
            return self.times.partition_point(|&sample| sample <= t).saturating_sub(1).min(last);
        }
        let mut k = (((t - self.start()) / self.step) as usize).min(last);
        while k > 0 && t < self.times[k] {
            k -= 1;
        }
        while k < last && self.times[k + 1] <= t {
            k += 1;
        }
        k
    }

    /// The interval of a time, as [`Samples::interval`] finds it, looking first at the few intervals from `k` on.
    fn interval_after(&self, k: usize, t: f64) -> usize {
        const NEAR: usize = 4;
        if self.times[k] <= t {
            let ends = self.times[k + 1..].iter().take(NEAR);
            if let Some(ahead) = ends.into_iter().position(|&end| t < end) {
                return k + ahead;
            }
        }
        self.interval(t)
    }

    /// The value at t in interval k.
    fn inside(&self, k: usize, t: f64) -> f64 {
        let (from, to) = (self.times[k], self.times[k + 1]);
        match self.interpolation {
            Interpolation::ZeroOrder => {
                let step = to - from;
                // At most a quarter of the step, for times that are resolved no better than that.
                let snap = (EVEN_TOLERANCE * step).max(4.0 * f64::EPSILON * t.abs()).min(0.25 * step);
                self.values[if to - t <= snap { k + 1 } else { k }]
            }
            Interpolation::Linear => {
                let (left, right) = (self.values[k], self.values[k + 1]);
                left + (right - left) * ((t - from) / (to - from))
            }
            Interpolation::Cubic => self.cubic(k, t),
        }
    }

    /// The cubic of interval k.
    fn cubic<D: Number>(&self, k: usize, t: D) -> D {
        let [a, b, c, d] = self.pieces[k];
        let s = t - self.times[k];
        s * (s * (s * d + c) + b) + a
    }

    /// The cubic spline at any time, with derivatives by time; beyond an end that end's cubic goes on.
    pub fn spline<D: Number>(&self, t: D) -> D {
        t.of_pieces(|t| self.piece(self.interval(t)))
    }

    /// For each two samples, the time of the first, and the coefficients of 1, s, s², s³ from there on, of what lies between them.
    pub fn pieces(&self) -> impl Iterator<Item = (f64, [f64; 4])> {
        (0..self.times.len() - 1).map(|k| self.piece(k))
    }

    fn piece(&self, k: usize) -> (f64, [f64; 4]) {
        let slope = || (self.values[k + 1] - self.values[k]) / (self.times[k + 1] - self.times[k]);
        let own = match self.interpolation {
            Interpolation::Cubic => self.pieces[k],
            Interpolation::Linear => [self.values[k], slope(), 0.0, 0.0],
            Interpolation::ZeroOrder => [self.values[k], 0.0, 0.0, 0.0],
        };
        (self.times[k], own)
    }
}

/// The not-a-knot spline through n >= 4 points at increasing times: for each interval the coefficients of 1, s, s², s³.
///
/// The unknowns are the slopes m_k at the samples (de Boor, A Practical Guide to Splines, 1978, ch. IV): with intervals h_k
/// and secants d_k, continuity of w'' at sample k is
///     h_k m_(k-1) + 2 (h_(k-1) + h_k) m_k + h_(k-1) m_(k+1) = 3 (h_k d_(k-1) + h_(k-1) d_k),
/// and continuity of w''' at the second and last but one sample, combined with it, is one more equation in two unknowns at
/// each end. Elimination without pivoting is stable: all pivots stay positive.
fn not_a_knot(times: &[f64], values: &[f64]) -> Vec<[f64; 4]> {
    let n = times.len();
    let h: Vec<f64> = times.windows(2).map(|t| t[1] - t[0]).collect();
    let d: Vec<f64> = values.windows(2).zip(&h).map(|(w, h)| (w[1] - w[0]) / h).collect();

    // Row k of the eliminated system: m_k = right[k] - upper[k] m_(k+1).
    let mut upper = vec![0.0; n];
    let mut right = vec![0.0; n];
    let span = h[0] + h[1];
    upper[0] = span / h[1];
    right[0] = ((h[0] + 2.0 * span) * d[0] + h[0] * (h[0] / h[1]) * d[1]) / span;
    for k in 1..n - 1 {
        let pivot = 2.0 * (h[k - 1] + h[k]) - h[k] * upper[k - 1];
        upper[k] = h[k - 1] / pivot;
        right[k] = (3.0 * (h[k] * d[k - 1] + h[k - 1] * d[k]) - h[k] * right[k - 1]) / pivot;
    }
    let (inner, outer) = (h[n - 3], h[n - 2]);
    let span = inner + outer;
    let end = (outer * outer * d[n - 3] + (2.0 * span + outer) * inner * d[n - 2]) / span;
    let mut slope = (end - span * right[n - 2]) / (inner - span * upper[n - 2]);

    let mut pieces = vec![[0.0; 4]; n - 1];
    for k in (0..n - 1).rev() {
        let next = slope;
        slope = right[k] - upper[k] * next;
        let excess = (slope + next - 2.0 * d[k]) / h[k];
        pieces[k] = [values[k], slope, (d[k] - slope) / h[k] - excess, excess / h[k]];
    }
    pieces
}
