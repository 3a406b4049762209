//! Settings of a signal that is to be found.

use super::Shape;
use crate::{Error, Result};
use costate::Motion;
use std::cmp::Ordering;

/// Nodes of an unknown signal.
#[derive(Debug, Clone, PartialEq)]
pub enum Nodes {
    /// One at every time of the grid.
    EveryStep,
    /// Ends of so many intervals of the same length over the run.
    Intervals(usize),
    /// Times of the nodes, s.
    At(Vec<f64>),
}

/// An input that is to be found, which starts as the simulation has it; or a motion that is made of parameters, which starts as these say.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownSignal {
    /// The input or the motion, by name.
    pub input: String,
    /// Functions that the signal is made of; given by the motion, for one.
    pub shape: Shape,
    /// Nodes of the signal; given by the motion, for one.
    pub nodes: Nodes,
    /// The magnitude that counts as 1, in the input's unit.
    pub size: f64,
    /// Smallest value.
    pub lower: f64,
    /// Largest value.
    pub upper: f64,
    /// Largest change a second, in the input's unit/s: a constraint of an augmented Lagrangian.
    pub rate: f64,
    /// Weight of ½ ∫ ((w - about)/size)² dt.
    pub effort: f64,
    /// Value from which the effort is measured.
    pub about: f64,
    /// Weight of ½ ∫ (dw/dt / size)² dt, size per s.
    pub smoothness: f64,
}

impl UnknownSignal {
    /// A signal of straight lines with a node at every time, of this magnitude; no bounds, no regularisation.
    pub fn new(input: impl Into<String>, size: f64) -> Self {
        let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
        UnknownSignal {
            input: input.into(),
            shape: Shape::Linear,
            nodes: Nodes::EveryStep,
            size,
            lower,
            upper,
            rate: f64::INFINITY,
            effort: 0.0,
            about: 0.0,
            smoothness: 0.0,
        }
    }

    /// The signal with so many intervals between nodes.
    pub fn intervals(self, count: usize) -> Self {
        UnknownSignal { nodes: Nodes::Intervals(count), ..self }
    }

    /// The signal made of other functions.
    pub fn shaped(self, shape: Shape) -> Self {
        UnknownSignal { shape, ..self }
    }

    /// The signal within bounds.
    pub fn bounded(self, lower: f64, upper: f64) -> Self {
        UnknownSignal { lower, upper, ..self }
    }

    /// The signal changing by no more than this a second.
    pub fn rate(self, rate: f64) -> Self {
        UnknownSignal { rate, ..self }
    }

    /// The signal with a weight on ½ ∫ ((w - about)/size)² dt.
    pub fn effort(self, weight: f64, about: f64) -> Self {
        UnknownSignal { effort: weight, about, ..self }
    }

    /// The signal with a weight on ½ ∫ (dw/dt / size)² dt.
    pub fn smoothness(self, weight: f64) -> Self {
        UnknownSignal { smoothness: weight, ..self }
    }

    pub(super) fn what(&self) -> String {
        format!("the signal of `{}`", self.input)
    }

    /// Checks the signal against its motion, which has its own shape and nodes, and whose held values must be within the bounds.
    pub(super) fn fits_motion(&self, motion: &Motion) -> Result<()> {
        let what = || format!("the motion `{}`", self.input);
        if self.nodes != Nodes::EveryStep || self.shape != Shape::default() {
            let problem = "the model says what it is made of";
            return Err(Error::invalid(what(), problem, "leave out its shape and its intervals"));
        }
        let held = motion.spline.start();
        let held = (0..held.len()).filter(|k| !motion.spline.free().contains(k)).map(|k| held[k]);
        match held.into_iter().find(|value| *value < self.lower || *value > self.upper) {
            Some(value) => {
                let problem =
                    format!("{value} is held at an end, outside its bounds {} and {}", self.lower, self.upper);
                Err(Error::invalid(what(), problem, "widen the bounds, or hold less"))
            }
            None => Ok(()),
        }
    }

    /// Times of its nodes in a run with steps to these times. Values that are held change at the ends of steps, nearest to where they would: no step
    /// sees a jump within itself.
    pub(super) fn times(&self, times: &[f64]) -> Result<Vec<f64>> {
        let nodes = self.stated_times(times)?;
        if self.shape != Shape::Constant {
            return Ok(nodes);
        }
        let nearest = |t: f64| {
            let behind = times.partition_point(|end| *end < t).min(times.len() - 1);
            let before = behind.saturating_sub(1);
            if t - times[before] < times[behind] - t { times[before] } else { times[behind] }
        };
        let held: Vec<f64> = nodes.iter().map(|t| nearest(*t)).collect();
        if held.windows(2).any(|pair| pair[0] >= pair[1]) {
            let problem = "some of the values that it holds would act for no step";
            return Err(Error::invalid(self.what(), problem, "give fewer intervals, or take smaller steps"));
        }
        Ok(held)
    }

    fn stated_times(&self, times: &[f64]) -> Result<Vec<f64>> {
        let (first, last) = (times[0], times[times.len() - 1]);
        let what = || self.what();
        match &self.nodes {
            Nodes::EveryStep => Ok(times.to_vec()),
            Nodes::Intervals(0) => Err(Error::invalid(what(), "it has no interval", "give at least one")),
            Nodes::Intervals(count) => {
                let step = (last - first) / *count as f64;
                Ok((0..=*count).map(|k| if k == *count { last } else { first + k as f64 * step }).collect())
            }
            Nodes::At(nodes) => {
                // `!` for NaN
                let increases = nodes.len() > 1 && nodes.windows(2).all(|pair| pair[1] > pair[0]);
                if !increases || !nodes.iter().all(|t| t.is_finite()) {
                    let problem = "the times of its nodes do not increase, or there are fewer than two";
                    return Err(Error::invalid(what(), problem, "give at least two times that increase"));
                }
                let tolerance = 1e-9 * (last - first);
                if nodes[0] > first + tolerance || nodes[nodes.len() - 1] < last - tolerance {
                    let problem = format!(
                        "its nodes from {} s to {} s do not cover the run from {first} s to {last} s",
                        nodes[0],
                        nodes[nodes.len() - 1]
                    );
                    return Err(Error::invalid(what(), problem, "give nodes from the run's beginning to its end"));
                }
                Ok(nodes.clone())
            }
        }
    }

    pub(super) fn validate(&self) -> Result<()> {
        let invalid = |problem: String, remedy: &str| Err(Error::invalid(self.what(), problem, remedy));
        // `!` for NaN
        if !(self.size.is_finite() && self.size > 0.0) {
            return invalid(format!("its size is {}", self.size), "give the magnitude that it will have, in its unit");
        }
        if self.lower.partial_cmp(&self.upper) != Some(Ordering::Less) {
            return invalid(format!("its bounds {} and {} cross", self.lower, self.upper), "give the lower one first");
        }
        if self.rate.is_nan() || self.rate <= 0.0 {
            return invalid(format!("its largest rate is {}", self.rate), "give a positive one, or leave it out");
        }
        for (name, weight) in [("effort", self.effort), ("smoothness", self.smoothness)] {
            if !(weight.is_finite() && weight >= 0.0) {
                return invalid(format!("the weight of its {name} is {weight}"), "give a weight of zero or more");
            }
        }
        if self.rate.is_finite() && self.shape == Shape::Constant {
            let remedy = "take straight lines or a spline";
            return invalid("a signal that jumps has no largest rate".into(), remedy);
        }
        if (self.lower.is_finite() || self.upper.is_finite()) && !self.shape.is_bounded_by_coefficients() {
            let remedy = "take another shape, or a soft limit on an output that shows the input";
            return invalid("the values of a Fourier series cannot be bounded".into(), remedy);
        }
        Ok(())
    }
}
