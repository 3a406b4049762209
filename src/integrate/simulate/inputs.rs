//! The inputs of a run: at all times, or, where these are too many, at those around the time at hand.

use super::{Jumps, Simulation};
use crate::grid::TimeGrid;
use crate::memory::{self, bytes_of};
use crate::scheme::Step;
use crate::signal::Signal;
use crate::signature::Quantity;
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Times that are evaluated at once.
const WINDOW: usize = 1024;

/// The part of the memory of a run that inputs at all times may take.
const PART: f64 = 0.25;

/// True if so many numbers may be kept of the inputs of a run that may take so many bytes.
pub(super) fn fit(numbers: usize, bytes: f64) -> bool {
    bytes_of(numbers) <= PART * bytes
}

pub(super) fn named(error: Error, input: &Quantity) -> Error {
    match error {
        Error::Invalid { what, problem, remedy } => {
            Error::Invalid { what: format!("input `{}`: {what}", input.name), problem, remedy }
        }
        other => other,
    }
}

/// The inputs at all times, if they are few; of others, those of the first times are looked at.
///
/// # Errors
/// [`Error::Invalid`] for a value that is not finite.
pub(super) fn checked(
    grid: &TimeGrid,
    signals: &[Signal],
    jumps: &Jumps,
    inputs: &[Quantity],
) -> Result<OnceLock<Vec<f64>>> {
    let times = grid.count() + 1;
    let kept = OnceLock::new();
    if bytes_of(times) * signals.len() as f64 <= memory::LARGE {
        check_finite(grid, inputs, 0, &kept.get_or_init(|| all(grid, signals, jumps))[..times * inputs.len()])?;
    } else {
        let mut part = vec![0.0; times.min(WINDOW) * signals.len()];
        evaluate(grid, signals, jumps, 0, &mut part);
        check_finite(grid, inputs, 0, &part)?;
    }
    Ok(kept)
}

/// Refuses inputs, from time `first` on, that are not finite.
fn check_finite(grid: &TimeGrid, inputs: &[Quantity], first: usize, values: &[f64]) -> Result<()> {
    let Some(place) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let what = format!("input `{}`", inputs[place % inputs.len()].name);
    let problem = format!("it is {} at t = {} s", values[place], grid.time(first + place / inputs.len()));
    Err(Error::invalid(what, problem, "give a signal that is finite over the simulated time"))
}

/// The inputs at all times, one time after another, and from each jump on.
pub(super) fn all(grid: &TimeGrid, signals: &[Signal], jumps: &Jumps) -> Vec<f64> {
    let times = (grid.count() + 1) * signals.len();
    let mut all = Vec::with_capacity(times + jumps.after().len());
    all.resize(times, 0.0);
    evaluate(grid, signals, jumps, 0, &mut all);
    all.extend(jumps.after());
    all
}

/// The inputs at time `first` and at those that follow, as many as there is room for.
fn evaluate(grid: &TimeGrid, signals: &[Signal], jumps: &Jumps, first: usize, inputs: &mut [f64]) {
    let count = signals.len();
    let (mut times, mut values) = ([0.0; WINDOW], [0.0; WINDOW]);
    for (part, inputs) in inputs.chunks_mut((WINDOW * count).max(1)).enumerate() {
        let here = inputs.len() / count;
        let begin = first + part * WINDOW;
        times[..here].iter_mut().enumerate().for_each(|(i, t)| *t = grid.time(begin + i));
        for (k, signal) in signals.iter().enumerate() {
            signal.fill_both(&times[..here], &mut values[..here]);
            inputs.iter_mut().skip(k).step_by(count).zip(&values).for_each(|(w, value)| *w = *value);
        }
        jumps.put_before(begin, inputs);
    }
}

/// A simulation with the inputs that a workspace gives it.
pub(crate) struct Driven<'p> {
    simulation: &'p Simulation,
    inputs: Inputs<'p>,
}

enum Inputs<'p> {
    All(Cow<'p, [f64]>),
    /// Inputs at times from the first one on, and at the start.
    Around {
        first: usize,
        values: Vec<f64>,
        start: Vec<f64>,
    },
}

impl std::ops::Deref for Driven<'_> {
    type Target = Simulation;

    fn deref(&self) -> &Simulation {
        self.simulation
    }
}

impl<'p> Driven<'p> {
    pub(super) fn new(simulation: &'p Simulation) -> Self {
        let count = simulation.signals.len();
        let numbers = (simulation.grid.count() + 1).saturating_mul(count);
        let fits = match simulation.memory {
            Some(limit) => fit(numbers, limit),
            None => simulation.inputs.get().is_some() || fit(numbers, memory::usual()),
        };
        // where it is read between its steps, there are samples at as many times
        if fits || !simulation.reads_steps_alone() {
            return Driven { simulation, inputs: Inputs::All(Cow::Borrowed(simulation.all_inputs())) };
        }
        let mut values = vec![0.0; WINDOW.min(simulation.grid.count() + 1) * count];
        evaluate(&simulation.grid, &simulation.signals, &simulation.jumps, 0, &mut values);
        let start = values[..count].to_vec();
        Driven { simulation, inputs: Inputs::Around { first: 0, values, start } }
    }

    /// The simulation as it is given.
    pub fn given(&self) -> &'p Simulation {
        self.simulation
    }

    /// Bytes that the inputs take.
    pub(super) fn bytes_of_inputs(&self) -> f64 {
        match &self.inputs {
            Inputs::All(values) => bytes_of(values.len()),
            Inputs::Around { values, .. } => bytes_of(values.len()),
        }
    }

    /// The inputs at all times, and from each jump on, to be changed.
    pub(super) fn inputs_mut(&mut self) -> &mut [f64] {
        if let Inputs::Around { .. } = self.inputs {
            self.inputs = Inputs::All(Cow::Borrowed(self.simulation.all_inputs()));
        }
        match &mut self.inputs {
            Inputs::All(values) => values.to_mut(),
            Inputs::Around { values, .. } => values,
        }
    }

    /// Makes sure that the inputs at the end of step `i` and of the next one are there.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a value that is not finite.
    #[inline]
    pub fn go_to(&mut self, i: usize) -> Result<()> {
        if let Inputs::Around { first, values, .. } = &self.inputs {
            let (count, last) = (self.simulation.signals.len(), self.simulation.grid.count());
            let end = *first + values.len() / count;
            if i < *first || (i + 1).min(last) >= end {
                return self.evaluate_around(i);
            }
        }
        Ok(())
    }

    /// Evaluates a window that reaches far in the direction in which times are gone through.
    #[cold]
    fn evaluate_around(&mut self, i: usize) -> Result<()> {
        let Inputs::Around { first, values, .. } = &mut self.inputs else { return Ok(()) };
        let Simulation { grid, signals, jumps, .. } = self.simulation;
        let times = values.len() / signals.len();
        let begin = if i < *first { (i + 2).saturating_sub(times) } else { i };
        *first = begin.min(grid.count() + 1 - times);
        evaluate(grid, signals, jumps, *first, values);
        check_finite(grid, &self.simulation.signature().inputs, *first, values)
    }

    /// Values of the inputs at time `i`, where they jump just before that: at the start, or around the time that was gone to.
    #[inline]
    pub fn inputs_at(&self, i: usize) -> &[f64] {
        let count = self.simulation.signals.len();
        match &self.inputs {
            Inputs::All(values) => &values[i * count..(i + 1) * count],
            Inputs::Around { start, .. } if i == 0 => start,
            Inputs::Around { first, values, .. } => &values[(i - first) * count..(i - first + 1) * count],
        }
    }

    /// Step `i`; 0 is what the scheme makes of the start.
    #[inline(always)]
    pub fn step(&self, i: usize) -> Step<'_> {
        let simulation = self.simulation;
        let (next, end) = (if i == 0 { 1 } else { i }, simulation.end_of(i));
        let h = simulation.step_size(next);
        let jump = if i == 0 { None } else { simulation.jumps.at(simulation.end_of(i - 1)) };
        let w = self.inputs_at(end);
        Step {
            index: i,
            is_restart: jump.is_some(),
            t: simulation.grid.time(end),
            h,
            h_before: if i > 1 { simulation.step_size(i - 1) } else { h },
            w,
            w_other: match jump {
                Some(jump) => self.after(jump),
                None if i == 0 => self.inputs_at(simulation.end_of(next)),
                None => w,
            },
        }
    }

    /// The inputs from a jump on.
    #[inline]
    fn after(&self, jump: usize) -> &[f64] {
        let (count, times) = (self.simulation.signals.len(), self.simulation.grid.count() + 1);
        let (first, values) = match &self.inputs {
            Inputs::All(values) => (times + jump, &values[..]),
            Inputs::Around { .. } => (jump, self.simulation.jumps.after()),
        };
        &values[first * count..(first + 1) * count]
    }
}
