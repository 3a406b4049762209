//! Steps beside samples: between them, or passing over them.

use crate::error::Result;
use crate::grid::{self, TimeGrid};
use crate::report::rounded;
use crate::simulate::Simulation;
use crate::time_axis::TimeAxis;

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

/// How many steps there are between two samples of even sampling, if their number is whole.
pub(super) fn whole_part(axis: &TimeAxis, step: f64) -> Option<usize> {
    let ratio = axis.sampling_step().ok()? / step;
    let whole = ratio.round();
    (whole >= 1.0 && (ratio - whole).abs() <= 1e-6 * whole).then_some(whole as usize)
}

/// Even steps at most so long, which samples need not meet.
pub(super) fn own_steps((from, to): (f64, f64), step: f64) -> Result<TimeGrid> {
    let count = ((to - from) / step * (1.0 - 1e-9)).ceil().max(1.0);
    // their times are listed among those of the samples
    grid::check_count(2.0 * count, &format!("steps of {step} s"), "use a larger step")
        .map_err(|error| error.under(&["step"]))?;
    TimeGrid::steps(from, (to - from) / count, count as usize)
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
