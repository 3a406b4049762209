//! Steps beside samples: between them, or passing over them.

use super::recording::Recording;
use super::{Specification, gaps};
use crate::error::Locate;
use crate::{Error, Result};
use costate::shown::rounded;
use costate::{Simulation, TimeGrid, time_axis};
use costate_data::TimeAxis;

/// Read at all samples, with what it means where steps do not meet them.
pub(super) fn read_at(times: &[f64], simulation: &Simulation, notes: &mut Vec<String>) -> Result<Simulation> {
    let read = simulation.reading(times)?;
    if !read.reads_steps_alone() {
        let inputs = read.signature().inputs.iter().zip(read.signals());
        let passed: Vec<String> = inputs
            .filter(|(_, signal)| !signal.kinks().is_empty())
            .map(|(input, _)| format!("`{}`", input.name))
            .collect();
        let unseen = match passed.as_slice() {
            [] => String::new(),
            names => format!("; of {} they see the values at their ends alone", names.join(", ")),
        };
        let (count, step) = (read.steps(), rounded(read.step_size(1), 3));
        notes.push(format!("{count} steps of {step} s pass over samples, which are read between their ends{unseen}"));
    }
    Ok(read)
}

/// Number of steps between two samples of even sampling, if it is whole.
pub(super) fn whole_part(axis: &TimeAxis, step: f64) -> Option<usize> {
    let ratio = axis.sampling_step().ok()? / step;
    let whole = ratio.round();
    (whole >= 1.0 && (ratio - whole).abs() <= 1e-6 * whole).then_some(whole as usize)
}

/// Even steps at most so long, which samples need not meet.
pub(super) fn own_steps((from, to): (f64, f64), step: f64) -> Result<TimeGrid> {
    let count = ((to - from) / step * (1.0 - 1e-9)).ceil().max(1.0);
    // their times are listed among those of the samples
    time_axis::check_count(2.0 * count, &format!("steps of {step} s"), "use a larger step")
        .map_err(|error| error.under(&["step"]))?;
    Ok(TimeGrid::steps(from, (to - from) / count, count as usize)?)
}

/// The places of sample times on a grid that meets them.
pub(super) fn met(grid: &TimeGrid, times: &[f64]) -> Vec<usize> {
    let all = grid.times();
    let nearest = |t: &f64| match all.partition_point(|time| time < t) {
        0 => 0,
        k if k == all.len() => k - 1,
        k => k - usize::from(t - all[k - 1] < all[k] - t),
    };
    times.iter().map(nearest).collect()
}

impl Specification {
    /// True if steps divide the intervals between samples.
    pub(super) fn meets_samples(&self, recording: &Recording<'_>) -> bool {
        let divides = |step: f64| whole_part(&recording.axis, step).is_some();
        self.tolerance.is_none() && self.step.is_none_or(divides)
    }

    /// The steps: between the samples, or, where they are given and do not divide the sampling, of their own.
    pub(super) fn grid(&self, recording: &Recording<'_>) -> Result<TimeGrid> {
        let (axis, times) = (&recording.axis, recording.times());
        self.refuse_both()?;
        let substeps = match (self.substeps, self.step) {
            (Some(0), _) => {
                let problem = "there are 0 between two samples";
                return Err(Error::invalid("substeps", problem, "use at least 1"));
            }
            (Some(substeps), Some(step)) if whole_part(axis, step) != Some(substeps) => {
                let times = whole_part(axis, step).map_or("no whole number of".to_string(), |times| times.to_string());
                let problem =
                    format!("{step} s is {times} substeps of the sampling step, and {substeps} are asked for");
                return Err(Error::invalid("`step` and `substeps`", problem, "give only one of them").under(&["step"]));
            }
            (Some(substeps), _) => substeps,
            (None, None) => self.found_substeps.unwrap_or(1).max(1),
            (None, Some(step)) if !(step.is_finite() && step > 0.0) => {
                return Err(Error::invalid("the time step", format!("{step} s is not positive"), "give a step > 0"));
            }
            (None, Some(step)) => match whole_part(axis, step) {
                Some(substeps) => substeps,
                None => return own_steps((times[0], times[times.len() - 1]), step),
            },
        };
        let what = format!("{substeps} steps between two of {} samples", times.len());
        let counted = time_axis::check_count((times.len() - 1) as f64 * substeps as f64, &what, "use fewer");
        counted.map_err(|error| error.under(&[if self.step.is_some() { "step" } else { "substeps" }]))?;
        let through = gaps::through(recording)?.map(|times| TimeAxis::new(&times)).transpose()?;
        let axis = through.as_ref().unwrap_or(axis);
        if axis.is_even() {
            let count = (axis.len() - 1) * substeps;
            return Ok(TimeGrid::steps(axis.start(), axis.mean_step() / substeps as f64, count)?);
        }
        Ok(TimeGrid::through(axis.times(), substeps)?)
    }
}
