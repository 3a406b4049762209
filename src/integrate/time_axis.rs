//! Sampling times: how even they are, and which of them cannot be used.

use crate::Error;

pub use crate::grid::check_count;

/// Distance, in sampling steps, that times may stray from an even grid and still count as even.
///
/// Records are printed with rounded decimals: seven decimals on a step of 1.6 ms round by 3e-5 of a step. A sample that is
/// late by a ten-thousandth of a step changes nothing that a measurement could show.
pub const EVEN_TOLERANCE: f64 = 1e-4;

/// The first sampling time that cannot be used.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UnusableTime {
    /// Its row, counted from 0.
    pub row: usize,
    /// The fault, e.g. that it is no later than the time before.
    pub problem: String,
    /// The remedy: what to do.
    pub remedy: &'static str,
}

impl From<UnusableTime> for Error {
    fn from(UnusableTime { row, problem, remedy }: UnusableTime) -> Self {
        Error::invalid(format!("sampling times, row {}", row + 1), problem, remedy)
    }
}

/// Checks that `times`, s, are finite and increase.
///
/// # Errors
/// The first of them that is not finite, or not later than the one before.
pub fn check_times(times: &[f64]) -> Result<(), UnusableTime> {
    let wrong = |row: usize, problem: String, remedy: &'static str| Err(UnusableTime { row, problem, remedy });
    if let Some(row) = times.iter().position(|t| !t.is_finite()) {
        let problem = format!("the time is {}", times[row]);
        return wrong(row, problem, "remove the row, or write the time of its sample");
    }
    if let Some(before) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
        let (earlier, later) = (times[before], times[before + 1]);
        if earlier == later {
            return wrong(before + 1, format!("the time {later} s is repeated"), "remove the repeated row");
        }
        let problem = format!("the time {later} s comes after {earlier} s");
        return wrong(before + 1, problem, "sort the rows by time, or split the record where time starts again");
    }
    match times {
        [start, .., end] if !(end - start).is_finite() => {
            let problem = format!("the span from {start} s to {end} s is too large to compute with");
            wrong(times.len() - 1, problem, "check the times and their unit")
        }
        _ => Ok(()),
    }
}

/// The mean interval between times, s; 0 where there is none.
pub fn mean_step(times: &[f64]) -> f64 {
    match times {
        [start, .., end] => (end - start) / (times.len() - 1) as f64,
        _ => 0.0,
    }
}

/// The largest distance of a time from the even grid between first and last, in sampling steps.
pub fn unevenness(times: &[f64]) -> f64 {
    let step = mean_step(times);
    let stray = |(k, t): (usize, &f64)| (t - (times[0] + k as f64 * step)).abs() / step;
    if step > 0.0 { times.iter().enumerate().map(stray).fold(0.0, f64::max) } else { 0.0 }
}

/// The median interval between times, s, of two in the middle the shorter one; 0 where there is none.
pub fn usual_step(times: &[f64]) -> f64 {
    let mut intervals: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = intervals.len().saturating_sub(1) / 2;
    if intervals.is_empty() { 0.0 } else { *intervals.select_nth_unstable_by(middle, f64::total_cmp).1 }
}

/// The ends of the largest interval between times, s.
pub fn largest_interval(times: &[f64]) -> Option<(f64, f64)> {
    let length = |pair: &[f64]| pair[1] - pair[0];
    let largest = times.windows(2).max_by(|a, b| length(a).total_cmp(&length(b)))?;
    Some((largest[0], largest[1]))
}
