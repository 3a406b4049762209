//! Sampling times: strictly increasing, and even or not.

use crate::{Error, Result};
use costate::shown::{rounded, shown};
use costate::time_axis::{EVEN_TOLERANCE, check_times, largest_interval, mean_step, unevenness, usual_step};
use std::ops::Range;
use std::path::PathBuf;

/// Sampling times in seconds: at least one, all finite, strictly increasing.
///
/// They are *even* when each lies within `tolerance` sampling steps (and the round-off of the times themselves) of the grid
/// with equal steps between the first and the last time. Positions are compared, not intervals, so that small errors which
/// add up along the record count.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeAxis {
    times: Vec<f64>,
    origin: Origin,
    step: f64,
    unevenness: f64,
    tolerance: f64,
}

/// Origin of times, for messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Origin {
    /// The file, if they were read from one.
    pub path: Option<PathBuf>,
    /// Line of the first row in that file, or the number of the first value of a file without lines.
    pub first_line: u64,
    /// True for a file of MATLAB, which has no lines.
    pub is_binary: bool,
    /// The column's name; empty if they come from no record.
    pub column: String,
}

impl Origin {
    fn error(&self, row: usize, problem: String, remedy: &str) -> Error {
        match &self.path {
            Some(path) => {
                let line = self.first_line + row as u64;
                if self.is_binary {
                    return Error::file(path, None, format!("at value {line} of `{}` {problem}", self.column), remedy);
                }
                Error::file(path, Some(line), format!("in column `{}` {problem}", self.column), remedy)
            }
            None if self.column.is_empty() => {
                Error::invalid(format!("sampling times, row {}", row + 1), problem, remedy)
            }
            None => Error::invalid(format!("column `{}`, row {}", self.column, row + 1), problem, remedy),
        }
    }
}

impl TimeAxis {
    /// Checks `times` in s.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] naming the first row that is not finite, or not later than the one before.
    pub fn new(times: &[f64]) -> Result<Self> {
        Self::with_origin(times, Origin::default())
    }

    /// Times that come from a record, which errors name.
    ///
    /// # Errors
    /// As [`TimeAxis::new`], with the place in the record.
    pub(crate) fn with_origin(times: &[f64], origin: Origin) -> Result<Self> {
        if times.is_empty() {
            return Err(Error::invalid("sampling times", "there is none", "give at least one"));
        }
        check_times(times).map_err(|unusable| origin.error(unusable.row, unusable.problem, unusable.remedy))?;
        let (step, unevenness) = (mean_step(times), unevenness(times));
        Ok(Self { times: times.to_vec(), origin, step, unevenness, tolerance: EVEN_TOLERANCE })
    }

    /// The times, counted as even when they stray by at most `tolerance` sampling steps (default [`EVEN_TOLERANCE`]).
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] for a tolerance that is negative or not a finite number.
    pub fn with_tolerance(mut self, tolerance: f64) -> Result<Self> {
        if !(tolerance.is_finite() && tolerance >= 0.0) {
            let problem = format!("{tolerance} is not a fraction of a sampling step");
            return Err(Error::invalid("tolerance of even sampling", problem, "give a small number such as 1e-4"));
        }
        self.tolerance = tolerance;
        Ok(self)
    }

    /// The times, s.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Number of samples, at least 1.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Always false: an axis has at least one time.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The first time, s.
    pub fn start(&self) -> f64 {
        self.times[0] // there is at least one, checked when made
    }

    /// The last time, s.
    pub fn end(&self) -> f64 {
        self.times[self.times.len() - 1] // there is at least one, checked when made
    }

    /// The mean interval, s: the sampling step if sampling is even; 0 for a single sample.
    pub fn mean_step(&self) -> f64 {
        self.step
    }

    /// The interval that is usual, s: the mean one if sampling is even, else the median, which gaps do not lengthen; 0 for a single sample.
    pub fn usual_step(&self) -> f64 {
        if self.is_even() { self.step } else { usual_step(&self.times) }
    }

    /// The first and the last time of the largest interval between two samples, s; `None` for a single sample.
    pub fn largest_interval(&self) -> Option<(f64, f64)> {
        largest_interval(&self.times)
    }

    /// The spacing in words: that of even samples, or the usual interval with the largest one and its place.
    pub fn spacing(&self) -> String {
        match self.largest_interval().filter(|_| !self.is_even()) {
            None => format!("{} s apart", shown(self.step)),
            Some((from, until)) => format!(
                "unevenly spaced: usually {} s apart, at most {} s, from {} s to {} s",
                rounded(self.usual_step(), 4),
                rounded(until - from, 4),
                shown(from),
                shown(until)
            ),
        }
    }

    /// Some of the times, at least one. They are even where all are.
    pub fn part(&self, range: Range<usize>) -> Self {
        let times = self.times[range].to_vec();
        let own = Self::with_origin(&times, self.origin.clone()).ok().filter(|_| !self.is_even());
        own.unwrap_or(Self { times, ..self.clone() })
    }

    /// The largest distance of a time from the even grid between first and last, in sampling steps.
    pub fn unevenness(&self) -> f64 {
        self.unevenness
    }

    /// True if the unevenness is within the tolerance. A single sample is even.
    pub fn is_even(&self) -> bool {
        let round_off = 4.0 * f64::EPSILON * self.start().abs().max(self.end().abs());
        self.unevenness * self.step <= self.tolerance * self.step + round_off
    }

    /// The sampling step, s: the mean interval of evenly sampled times.
    ///
    /// # Errors
    /// [`Error::File`] or [`costate::Error::Invalid`] if sampling is uneven, naming the interval that differs most from the median;
    /// or if there is one sample only.
    pub fn sampling_step(&self) -> Result<f64> {
        if self.times.len() < 2 {
            let problem = "there is one sample only, so there is no sampling step".to_string();
            return Err(self.origin.error(0, problem, "give at least two samples"));
        }
        if self.is_even() {
            return Ok(self.step);
        }
        let intervals: Vec<f64> = self.times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let median = usual_step(&self.times);
        let differs = |k: &usize| (intervals[*k] - median).abs();
        let worst = (0..intervals.len()).max_by(|a, b| differs(a).total_cmp(&differs(b))).unwrap_or(0);
        let problem = format!(
            "sampling is uneven where even sampling is needed: from {} s to {} s is {:.6e} s, where {median:.6e} s is \
             usual (times stray from an even grid by up to {:.3} steps, {} allowed)",
            self.times[worst],
            self.times[worst + 1],
            intervals[worst],
            self.unevenness,
            self.tolerance,
        );
        let remedy = "fill the gap or resample the record, or allow more with `with_tolerance`";
        Err(self.origin.error(worst + 1, problem, remedy))
    }
}
