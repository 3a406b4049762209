//! The times at which a simulation stops.

use crate::memory::{self, FEWER_STEPS};
use crate::shown::shown;
use crate::{Error, Result};
use std::sync::{Arc, OnceLock};

/// Steps that no computer gets through in a year: of even ones there may be so many, their times are not kept.
const MOST: f64 = 1e12;

/// Refuses a number of steps whose times no memory holds.
pub fn check_count(count: f64, what: &str, remedy: &str) -> Result<()> {
    memory::check(|| times_of(count, what), memory::bytes_of(1) * count, remedy)
}

/// Refuses a number of even steps that is a slip of the pen.
fn check_even(count: f64, what: &str, remedy: &str) -> Result<()> {
    if count > MOST { check_count(count, what, remedy) } else { Ok(()) }
}

fn times_of(count: f64, what: &str) -> String {
    format!("{what}: times of {count:.2e} steps")
}

/// Room for the times of so many steps.
fn room(count: f64, what: &str, remedy: &str) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    // beyond what an address reaches, it is refused as well
    let numbers = if count < usize::MAX as f64 { count as usize + 1 } else { usize::MAX };
    memory::reserve(&mut times, numbers, || times_of(count, what), remedy)?;
    Ok(times)
}

/// An increasing sequence of times t_0 ... t_N.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeGrid(GridKind);

#[derive(Debug, Clone)]
enum GridKind {
    /// `start + i step`, and all of them once they are asked for: the step is kept because differences of the times would carry
    /// round-off.
    Even {
        start: f64,
        step: f64,
        count: usize,
        times: Arc<OnceLock<Vec<f64>>>,
    },
    Listed(Arc<Vec<f64>>),
}

impl PartialEq for GridKind {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (GridKind::Even { start, step, count, .. }, GridKind::Even { start: s, step: h, count: n, .. }) => {
                (start, step, count) == (s, h, n)
            }
            (GridKind::Listed(times), GridKind::Listed(others)) => times == others,
            _ => false,
        }
    }
}

/// A step that divides a span and is no longer than this one: a round number where there is one that is not much smaller.
fn fitting(span: f64, step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    let round = [10.0, 5.0, 4.0, 2.5, 2.0, 1.0, 0.5].map(|digit| digit * decade);
    let divides = |own: &f64| (span / own - (span / own).round()).abs() < 1e-9 * (span / own);
    let found = round.into_iter().filter(|own| *own <= step).find(divides);
    found.unwrap_or_else(|| span / (span / step).ceil().max(1.0))
}

impl TimeGrid {
    /// A grid from `start` to `end` in steps of `step`, s.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the step is not positive or does not divide the interval (to 1e-6 of a step); [`Error::Memory`] if there
    /// are more steps than any computer gets through.
    pub fn uniform(start: f64, end: f64, step: f64) -> Result<Self> {
        if !(step.is_finite() && step > 0.0) {
            return Err(Error::invalid("the time step", format!("{step} s is not positive"), "give a step > 0"));
        }
        if !(start.is_finite() && end.is_finite() && end > start) {
            let problem = format!("there is no time between {start} s and {end} s");
            return Err(Error::invalid("the simulated time", problem, "let it end after it starts"));
        }
        let count = ((end - start) / step).round();
        check_even(count, &format!("the time step {} s", shown(step)), "use a larger step, or end earlier")?;
        if count < 1.0 || ((end - start) / step - count).abs() > 1e-6 {
            let problem = format!("{step} s does not divide the {} s from {start} s to {end} s", end - start);
            let remedy = format!("use {} s, for example", fitting(end - start, step));
            return Err(Error::invalid("the time step", problem, remedy));
        }
        let count = count as usize;
        let step = (end - start) / count as f64;
        Ok(Self::even(start, step, count))
    }

    /// `count` steps of `step` from `start`, s.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the step is not positive, or there is none; [`Error::Memory`].
    pub fn steps(start: f64, step: f64, count: usize) -> Result<Self> {
        if !(start.is_finite() && step.is_finite() && step > 0.0 && count > 0) {
            let problem = format!("{count} steps of {step} s from {start} s do not move on");
            return Err(Error::invalid(
                "the time grid",
                problem,
                "give a finite start, a step > 0 and at least one step",
            ));
        }
        check_even(count as f64, &format!("{count} steps of {} s", shown(step)), FEWER_STEPS)?;
        Ok(Self::even(start, step, count))
    }

    fn even(start: f64, step: f64, count: usize) -> Self {
        TimeGrid(GridKind::Even { start, step, count, times: Arc::default() })
    }

    /// Given times, with every interval divided into `substeps`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are fewer than two times, or if they are not finite and increasing; [`Error::Memory`].
    pub fn through(times: &[f64], substeps: usize) -> Result<Self> {
        let what = "the time grid";
        if times.len() < 2 {
            let problem = format!("it has {} time", times.len());
            return Err(Error::invalid(what, problem, "give at least a start and an end"));
        }
        if substeps == 0 {
            return Err(Error::invalid(what, "there are 0 substeps an interval", "use at least 1"));
        }
        if let Some(i) = times.iter().position(|t| !t.is_finite()) {
            return Err(Error::invalid(what, format!("time {i} is {}", times[i]), "give finite times"));
        }
        if let Some(i) = (1..times.len()).find(|&i| times[i] <= times[i - 1]) {
            let problem = format!("time {i}, {} s, does not come after {} s", times[i], times[i - 1]);
            return Err(Error::invalid(what, problem, "sort the times and remove repeated ones"));
        }
        let what = format!("{substeps} steps between two of {} times", times.len());
        let mut all = room((times.len() - 1) as f64 * substeps as f64, &what, "use fewer")?;
        for pair in times.windows(2) {
            let h = (pair[1] - pair[0]) / substeps as f64;
            all.extend((0..substeps).map(|k| pair[0] + k as f64 * h));
        }
        all.push(times[times.len() - 1]);
        Ok(TimeGrid(GridKind::Listed(Arc::new(all))))
    }

    /// The grid with every step divided into `parts`.
    ///
    /// # Errors
    /// [`Error::Invalid`] for 0 parts; [`Error::Memory`].
    pub fn divided(&self, parts: usize) -> Result<Self> {
        match &self.0 {
            GridKind::Even { start, step, count, .. } if parts > 0 => {
                Self::steps(*start, step / parts as f64, count.saturating_mul(parts))
            }
            _ => Self::through(self.times(), parts),
        }
    }

    /// All times, s. Of even steps they are listed when this is asked for the first time; see [`TimeGrid::time`].
    pub fn times(&self) -> &[f64] {
        match &self.0 {
            GridKind::Even { start, step, count, times } => {
                times.get_or_init(|| (0..=*count).map(|i| start + i as f64 * step).collect())
            }
            GridKind::Listed(times) => times,
        }
    }

    /// Time `i`, s.
    #[inline]
    pub fn time(&self, i: usize) -> f64 {
        match &self.0 {
            GridKind::Even { start, step, .. } => start + i as f64 * step,
            GridKind::Listed(times) => times[i],
        }
    }

    /// The last time, s.
    pub fn end(&self) -> f64 {
        self.time(self.count())
    }

    /// Number of steps N.
    #[inline]
    pub fn count(&self) -> usize {
        match &self.0 {
            GridKind::Even { count, .. } => *count,
            GridKind::Listed(times) => times.len() - 1,
        }
    }

    /// Step from time `i - 1` to time `i`, s.
    #[inline]
    pub fn step(&self, i: usize) -> f64 {
        match &self.0 {
            GridKind::Even { step, .. } => *step,
            GridKind::Listed(times) => times[i] - times[i - 1],
        }
    }

    /// The step, if it is the same everywhere.
    pub fn uniform_step(&self) -> Option<f64> {
        match &self.0 {
            GridKind::Even { step, .. } => Some(*step),
            GridKind::Listed(_) => None,
        }
    }

    /// Steps before and after time `i`, zero beyond the ends.
    #[inline]
    pub fn neighbours(&self, i: usize) -> (f64, f64) {
        let before = if i > 0 { self.step(i) } else { 0.0 };
        let after = if i < self.count() { self.step(i + 1) } else { 0.0 };
        (before, after)
    }
}
