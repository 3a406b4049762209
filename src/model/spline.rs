//! Splines whose coefficients are parameters: motions that are to be found.

use crate::number::Number;
use crate::{Error, Result};

/// Coefficients that act at one time, at most.
pub(crate) const MOST_ACTING: usize = 6;

/// Factors of the degree + 1 B-splines that act at `t`, by de Boor's recurrence. Of `knot`, number degree - 1 is the last one before `t`.
#[inline]
pub fn factors<D: Number>(degree: usize, t: D, knot: impl Fn(usize) -> f64) -> [D; MOST_ACTING] {
    let mut factors = [D::from(0.0); MOST_ACTING];
    factors[0] = D::from(1.0);
    for k in 1..=degree {
        let mut saved = D::from(0.0);
        for (r, factor) in factors[..k].iter_mut().enumerate() {
            let (left, right) = (knot(degree + r - k), knot(degree + r));
            let part = if right > left { *factor * (1.0 / (right - left)) } else { D::from(0.0) };
            *factor = saved + (-t + right) * part;
            saved = (t - left) * part;
        }
        factors[k] = saved;
    }
    factors
}

/// A motion over time whose shape is left to parameters: a B-spline of even intervals, whose coefficients they are. A cubic one has a
/// continuous acceleration, a quintic one a continuous jerk and its derivative. It begins and ends at its first and last coefficient, and
/// stays between the smallest and the largest one.
///
/// [`Signature::motion`](crate::Signature::motion) and the `motion` of a mechanism make the parameters; [`Spline::at`] takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline {
    degree: usize,
    times: [f64; 2],
    intervals: usize,
    /// Values that are held at the begin and at the end: the value, its rate, ...
    held: [Vec<f64>; 2],
}

impl Spline {
    /// A cubic one from a first to a last time, s. It has three coefficients more than intervals.
    pub fn cubic(times: [f64; 2], intervals: usize) -> Self {
        Spline { degree: 3, times, intervals, held: [Vec::new(), Vec::new()] }
    }

    /// A spline of degree five. It has five coefficients more than intervals.
    pub fn quintic(times: [f64; 2], intervals: usize) -> Self {
        Spline { degree: 5, ..Spline::cubic(times, intervals) }
    }

    /// Holds the value at the begin, and its time derivatives, as many as are given (three numbers in all at most): `[0.0; 3]` is rest at zero.
    /// The first coefficients, one a number, are not free then.
    pub fn begin<const N: usize>(mut self, held: [f64; N]) -> Self {
        self.held[0] = held.to_vec();
        self
    }

    /// Holds the value at the end, and its time derivatives, as [`Spline::begin`] does at the begin. A motion that ends at rest (with an
    /// acceleration of zero) stays there; any other is known until then.
    pub fn end<const N: usize>(mut self, held: [f64; N]) -> Self {
        self.held[1] = held.to_vec();
        self
    }

    /// Number of coefficients.
    pub fn count(&self) -> usize {
        self.intervals + self.degree
    }

    /// Places of the coefficients that are not held.
    pub fn free(&self) -> std::ops::Range<usize> {
        self.held[0].len()..self.count().saturating_sub(self.held[1].len())
    }

    /// The first and the last time, s.
    pub fn times(&self) -> [f64; 2] {
        self.times
    }

    fn step(&self) -> f64 {
        (self.times[1] - self.times[0]) / self.intervals as f64
    }

    /// The coefficients at the begin: what is held there, and a straight line between held values for the rest.
    pub fn start(&self) -> Vec<f64> {
        let count = self.count();
        let mut all = vec![0.0; count];
        let [first, last] = self.held.each_ref().map(|held| self.held_at_begin(held));
        let (from, to) = (first.len(), count.saturating_sub(last.len()));
        if to <= from {
            return all;
        }
        // backwards in time, odd derivatives change their sign
        let mirrored: Vec<f64> =
            self.held[1].iter().enumerate().map(|(k, s)| if k % 2 == 1 { -s } else { *s }).collect();
        let last = self.held_at_begin(&mirrored);
        let (left, right) = (first.last().copied(), last.last().copied());
        let ends = [left.or(right).unwrap_or(0.0), right.or(left).unwrap_or(0.0)];
        let place = |k: usize| self.place(k);
        let (a, b) = (place(from.saturating_sub(1)), place(to.min(count - 1)));
        for (k, c) in all.iter_mut().enumerate() {
            *c = match k {
                k if k < from => first[k],
                k if k >= to => last[count - 1 - k],
                k => ends[0] + (ends[1] - ends[0]) * ((place(k) - a) / (b - a)),
            };
        }
        all
    }

    /// The first coefficients, from the value and the derivatives there.
    fn held_at_begin(&self, held: &[f64]) -> Vec<f64> {
        let (h, degree) = (self.step(), self.degree as f64);
        let mut all: Vec<f64> = held.first().copied().into_iter().collect();
        if let [value, rate, ..] = held {
            all.push(value + rate * h / degree);
        }
        if let [_, rate, acceleration] = held {
            let next = rate + acceleration * h / (degree - 1.0);
            all.push(all[1] + next * h * self.intervals.min(2) as f64 / degree);
        }
        all
    }

    /// Place of a coefficient in time, s: the value there is near to it.
    pub fn place(&self, k: usize) -> f64 {
        let knot = |i: usize| i.saturating_sub(self.degree).min(self.intervals) as f64;
        let sum: f64 = (1..=self.degree).map(|i| knot(k + i)).sum();
        self.times[0] + self.step() * sum / self.degree as f64
    }

    /// The first coefficient that acts at time `t`, and the factors of it and those after it, [`Spline::acting`] in all. Costs the same for any
    /// number of coefficients.
    #[inline]
    pub fn factors<D: Number>(&self, t: D) -> (usize, [D; MOST_ACTING]) {
        let last = self.intervals as f64;
        let mut x = (t - self.times[0]) * (1.0 / self.step());
        if x.re() > last && self.ends_at_rest() {
            x = D::from(last);
        }
        // NaN is in the first one
        let interval = (x.re() as usize).min(self.intervals.saturating_sub(1));
        let before = self.degree - 1;
        let knot = |i: usize| (interval + i).saturating_sub(before).min(self.intervals) as f64;
        (interval, factors(self.degree, x, knot))
    }

    /// Number of coefficients that act at one time.
    pub fn acting(&self) -> usize {
        self.degree + 1
    }

    /// The value at time `t`, from all coefficients. Costs the same for any number of them.
    #[inline]
    pub fn at<D: Number>(&self, t: D, coefficients: &[D]) -> D {
        let (first, factors) = self.factors(t);
        let own = coefficients.get(first..first + self.acting()).unwrap_or_default();
        D::dot(&factors, own)
    }

    fn ends_at_rest(&self) -> bool {
        matches!(self.held[1].as_slice(), [_, rate, acceleration] if *rate == 0.0 && *acceleration == 0.0)
    }

    /// First and last time at which it is known, s.
    pub fn known_times(&self) -> (f64, f64) {
        (self.times[0], if self.ends_at_rest() { f64::MAX } else { self.times[1] })
    }

    /// Checks times, intervals, and what is held.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the motion.
    pub fn validate(&self, name: &str) -> Result<()> {
        let invalid =
            |problem: String, remedy: &str| Err(Error::invalid(format!("the motion `{name}`"), problem, remedy));
        let [from, to] = self.times;
        // `!` for NaN
        if !(from.is_finite() && to.is_finite() && from < to) {
            return invalid(format!("it goes from {from} s to {to} s"), "give a first time and a later one");
        }
        if self.intervals == 0 {
            return invalid("it has no interval".into(), "give at least one");
        }
        if self.held.iter().any(|held| held.len() > 3) {
            let problem = "more than the value, its rate and its acceleration are held".into();
            return invalid(problem, "hold three numbers at either end at most");
        }
        if self.held.iter().flatten().any(|value| !value.is_finite()) {
            return invalid("what is held at its ends is not finite".into(), "give finite numbers");
        }
        if self.free().is_empty() {
            let problem = format!("its {} coefficients are all held", self.count());
            return invalid(problem, "give more intervals, or hold less");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Jet;

    /// Value, rate and acceleration.
    fn along(spline: &Spline, t: f64, c: &[f64]) -> [f64; 3] {
        let t = Jet { re: Jet { re: t, eps: [1.0] }, eps: [Jet { re: 1.0, eps: [0.0] }] };
        let c: Vec<Jet<Jet<f64, 1>, 1>> = c.iter().map(|c| Jet::from(*c)).collect();
        let s = spline.at(t, &c);
        [s.re.re, s.re.eps[0], s.eps[0].eps[0]]
    }

    /// Protects what is held: value, rate and acceleration at both ends, for both degrees and few intervals; and a polynomial of the second degree,
    /// which a spline without free coefficients between has to be.
    #[test]
    fn ends_are_held() {
        for intervals in [1, 2, 3, 7] {
            for spline in [Spline::cubic([1.0, 3.0], intervals), Spline::quintic([1.0, 3.0], intervals)] {
                let mut held = spline.count().min(6) / 2;
                if 2 * held == spline.count() {
                    held -= 1;
                }
                let spline = match held {
                    1 => spline.begin([0.3]).end([-0.7]),
                    2 => spline.begin([0.3, 1.1]).end([-0.7, 0.4]),
                    _ => spline.begin([0.3, 1.1, -2.0]).end([-0.7, 0.4, 3.0]),
                };
                spline.validate("s").unwrap();
                let c = spline.start();
                let ends = [along(&spline, 1.0, &c), along(&spline, 3.0, &c)];
                for (end, held) in ends.iter().zip(&spline.held) {
                    for (a, b) in end.iter().zip(held) {
                        assert!((a - b).abs() < 1e-12, "{intervals}: {end:?} for {held:?}");
                    }
                }
            }
        }
    }

    /// Protects continuity: of the acceleration of a cubic, at every node; and a motion that ends at rest stays there.
    #[test]
    fn accelerations_are_continuous() {
        for spline in [Spline::cubic([0.0, 2.0], 5), Spline::quintic([0.0, 2.0], 5)] {
            let spline = spline.begin([0.0; 3]).end([1.0, 0.0, 0.0]);
            let mut c = spline.start();
            spline.free().for_each(|k| c[k] += (k as f64).sin());
            for node in [0.4, 0.8, 1.2, 1.6, 2.0] {
                let (a, b) = (along(&spline, node - 1e-9, &c), along(&spline, node + 1e-9, &c));
                a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{node}: {a} and {b}"));
            }
            assert_eq!(along(&spline, 5.0, &c), [1.0, 0.0, 0.0]);
            for t in [0.0, 0.3, 1.0, 2.0] {
                let line: Vec<f64> = (0..spline.count()).map(|k| 2.0 - 3.0 * spline.place(k)).collect();
                assert!((spline.at(t, &line) - (2.0 - 3.0 * t)).abs() < 1e-13);
            }
        }
    }
}
