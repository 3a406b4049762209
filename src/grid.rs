//! The times at which a simulation stops.

use crate::error::{Error, Result};

/// More steps than this are a slip of the pen: their times alone would take 0.8 GB.
const MOST_STEPS: f64 = 1e8;

/// Refuses a number of steps that no memory holds.
pub(crate) fn check_count(count: f64, what: &str, remedy: &str) -> Result<()> {
    if count <= MOST_STEPS {
        return Ok(());
    }
    let problem = format!("it makes {count:.2e} steps, and {MOST_STEPS:.0e} are the most that a simulation takes");
    Err(Error::invalid(what, problem, remedy))
}

/// An increasing sequence of times t_0 ... t_N.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeGrid {
    times: Vec<f64>,
    /// The step, if it is the same everywhere: differences of the times would carry round-off.
    uniform: Option<f64>,
}

impl TimeGrid {
    /// From `start` to `end` in steps of `step`, s.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the step is not positive or does not divide the interval (to 1e-6 of a step).
    pub fn uniform(start: f64, end: f64, step: f64) -> Result<Self> {
        if !(step.is_finite() && step > 0.0) {
            return Err(Error::invalid("the time step", format!("{step} s is not positive"), "give a step > 0"));
        }
        if !(start.is_finite() && end.is_finite() && end > start) {
            let problem = format!("there is no time between {start} s and {end} s");
            return Err(Error::invalid("the simulated time", problem, "let it end after it starts"));
        }
        let count = ((end - start) / step).round();
        check_count(count, &format!("the time step {step} s"), "use a larger step, or end earlier")?;
        if count < 1.0 || ((end - start) / step - count).abs() > 1e-6 {
            let fitting = (end - start) / ((end - start) / step).ceil().max(1.0);
            let problem = format!("{step} s does not divide the {} s from {start} s to {end} s", end - start);
            return Err(Error::invalid("the time step", problem, format!("use {fitting} s, for example")));
        }
        let count = count as usize;
        let step = (end - start) / count as f64;
        Ok(Self::even(start, step, count))
    }

    /// `count` steps of `step` from `start`, s.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the step is not positive, or there is none.
    pub fn steps(start: f64, step: f64, count: usize) -> Result<Self> {
        if !(start.is_finite() && step.is_finite() && step > 0.0 && count > 0) {
            let problem = format!("{count} steps of {step} s from {start} s do not move on");
            return Err(Error::invalid(
                "the time grid",
                problem,
                "give a finite start, a step > 0 and at least one step",
            ));
        }
        Ok(Self::even(start, step, count))
    }

    fn even(start: f64, step: f64, count: usize) -> Self {
        let times = (0..=count).map(|i| start + i as f64 * step).collect();
        TimeGrid { times, uniform: Some(step) }
    }

    /// Given times, with every interval divided into `substeps`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are fewer than two times, or if they are not finite and increasing.
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
        let mut all = Vec::with_capacity((times.len() - 1) * substeps + 1);
        for pair in times.windows(2) {
            let h = (pair[1] - pair[0]) / substeps as f64;
            all.extend((0..substeps).map(|k| pair[0] + k as f64 * h));
        }
        all.push(times[times.len() - 1]);
        Ok(TimeGrid { times: all, uniform: None })
    }

    /// All times, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Number of steps N.
    pub fn count(&self) -> usize {
        self.times.len() - 1
    }

    /// Step from time `i - 1` to time `i`, s.
    #[inline]
    pub fn step(&self, i: usize) -> f64 {
        self.uniform.unwrap_or_else(|| self.times[i] - self.times[i - 1])
    }

    /// The step, if it is the same everywhere.
    pub fn uniform_step(&self) -> Option<f64> {
        self.uniform
    }

    /// Steps before and after time `i`, zero beyond the ends.
    #[inline]
    pub fn neighbours(&self, i: usize) -> (f64, f64) {
        let before = if i > 0 { self.step(i) } else { 0.0 };
        let after = if i < self.count() { self.step(i + 1) } else { 0.0 };
        (before, after)
    }
}
