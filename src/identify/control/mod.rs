//! Optimal control: in come a simulation, goals and inputs to be found; out go the inputs' values over time.
//!
//! An unknown signal is a combination of few or many local functions of time, w(t_i) = Σ_k φ_k(t_i) c_k (Nachbagauer 2015, section 4.2.2, with
//! a shape of its own). The adjoint gives the derivatives by the inputs at all times, and so those by all c at once: the price of a
//! gradient does not grow with their number. Sums of squares have Gauss-Newton steps that are as cheap.

mod band;
mod continuation;
mod minimise;
mod objective;
mod replay;
mod scenario;
mod shape;

pub use continuation::continuation;
pub use minimise::{Solution, Violation};
pub use objective::ControlObjective;
pub use replay::{Replay, Shift};
pub use scenario::{AimSetting, ControlScenario, ControlSetting, GoalSetting, GoalsAt};
pub use shape::Shape;

use crate::cost::Sum;
use crate::error::{Error, Result};
use crate::identify::variable_of;
use crate::optimise::{Scale, Variable};
use crate::signal::{Interpolation, Signal};
use crate::signature::Parameter;
use crate::simulate::Simulation;
use crate::start::InitialState;
use shape::{Mixing, place};
use std::cmp::Ordering;

/// Where the nodes of an unknown signal are.
#[derive(Debug, Clone, PartialEq)]
pub enum Nodes {
    /// One at every time of the grid.
    EveryStep,
    /// So many intervals of the same length over the run.
    Intervals(usize),
    /// These times, s.
    At(Vec<f64>),
}

/// An input that is to be found. It starts as the simulation has it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownSignal {
    /// The input, by name.
    pub input: String,
    /// What it is made of.
    pub shape: Shape,
    /// Where its nodes are.
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
    /// What the effort is measured from.
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

    /// The same with so many intervals between nodes.
    pub fn intervals(self, count: usize) -> Self {
        UnknownSignal { nodes: Nodes::Intervals(count), ..self }
    }

    /// The same made of something else.
    pub fn shaped(self, shape: Shape) -> Self {
        UnknownSignal { shape, ..self }
    }

    /// The same within bounds.
    pub fn bounded(self, lower: f64, upper: f64) -> Self {
        UnknownSignal { lower, upper, ..self }
    }

    /// The same, changing by no more than this a second.
    pub fn rate(self, rate: f64) -> Self {
        UnknownSignal { rate, ..self }
    }

    /// The same with a weight on ½ ∫ ((w - about)/size)² dt.
    pub fn effort(self, weight: f64, about: f64) -> Self {
        UnknownSignal { effort: weight, about, ..self }
    }

    /// The same with a weight on ½ ∫ (dw/dt / size)² dt.
    pub fn smoothness(self, weight: f64) -> Self {
        UnknownSignal { smoothness: weight, ..self }
    }

    fn times(&self, times: &[f64]) -> Result<Vec<f64>> {
        let (first, last) = (times[0], times[times.len() - 1]);
        let what = || format!("the signal of input `{}`", self.input);
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

    fn validate(&self) -> Result<()> {
        let invalid = |problem: String, remedy: &str| {
            Err(Error::invalid(format!("the signal of input `{}`", self.input), problem, remedy))
        };
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

/// An unknown signal on a time grid.
struct Placed {
    signal: UnknownSignal,
    input: usize,
    nodes: Vec<f64>,
    mixing: Mixing,
    /// Multipliers of the limit on its rate over the penalty, one a step; and the penalty.
    shifts: Vec<f64>,
    penalty: f64,
}

/// A simulation with goals, and the inputs (and parameters) that are to be found.
pub struct Control {
    /// Name for reports.
    pub name: String,
    /// The simulation; its signals are where unknown ones start.
    pub simulation: Simulation,
    /// What is minimised.
    pub cost: Sum,
    /// All parameters of the model, in its order; those that are free are found, too.
    pub parameters: Vec<Parameter>,
    /// Their values at the start.
    pub start: Vec<f64>,
    signals: Vec<Placed>,
}

/// The penalty that a limit on rates is begun with, beside costs of about one.
const FIRST_PENALTY: f64 = 1e-2;

impl Control {
    /// Finds these signals for these goals, with fixed parameters.
    ///
    /// # Errors
    /// An unknown input, or one that is named twice; nodes that do not cover the run; bounds that cross; a cost that does not fit.
    pub fn new(name: &str, simulation: Simulation, cost: Sum, signals: Vec<UnknownSignal>) -> Result<Self> {
        let signature = simulation.signature();
        crate::cost::Cost::check(&cost, signature, simulation.grid().times())?;
        if signals.is_empty() {
            let names = signature.inputs.iter().map(|input| input.name.as_str()).collect::<Vec<_>>().join(", ");
            let remedy = format!("name at least one of its inputs ({names})");
            return Err(Error::invalid(format!("the control of `{name}`"), "no signal is to be found", remedy));
        }
        if simulation.start_state() == InitialState::Equilibrium {
            let problem = "it would follow what is to be found: the inputs at the first time";
            let remedy = "begin with the model's own state, or with that projected";
            return Err(Error::invalid("the equilibrium at the start", problem, remedy));
        }
        let times = simulation.grid().times();
        let mut placed: Vec<Placed> = Vec::new();
        for signal in signals {
            signal.validate()?;
            let input = signature.input_index(&signal.input)?;
            if placed.iter().any(|other| other.input == input) {
                let what = format!("the signal of input `{}`", signal.input);
                return Err(Error::invalid(what, "it is named twice", "name it once"));
            }
            let nodes = signal.times(times)?;
            if nodes.len() > times.len() || signal.shape.coefficients(nodes.len()) > times.len() + 2 {
                let problem = format!(
                    "it has {} coefficients, but the run has {} times: some of them would act at none",
                    signal.shape.coefficients(nodes.len()),
                    times.len()
                );
                let what = format!("the signal of input `{}`", signal.input);
                return Err(Error::invalid(what, problem, "give fewer intervals, or take smaller steps"));
            }
            let mixing = Mixing::new(signal.shape, &nodes, times);
            placed.push(Placed {
                signal,
                input,
                nodes,
                mixing,
                shifts: vec![0.0; times.len()],
                penalty: FIRST_PENALTY,
            });
        }
        let mut parameters = signature.parameters.clone();
        parameters.iter_mut().for_each(|parameter| parameter.free = false);
        let (name, start) = (name.to_string(), signature.nominal());
        Ok(Control { name, simulation, cost, parameters, start, signals: placed })
    }

    /// Begins with the multipliers that another search for the same goals has ended with, on another grid.
    pub fn begin_with(&mut self, other: &Control) {
        if let (Some(goals), Some(others)) = (&mut self.cost.goals, &other.cost.goals) {
            goals.begin_with(others);
        }
    }

    /// The unknown signals.
    pub fn signals(&self) -> impl Iterator<Item = &UnknownSignal> {
        self.signals.iter().map(|placed| &placed.signal)
    }

    /// Places of the free parameters.
    fn free(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&k| self.parameters[k].free).collect()
    }

    /// Unknowns, and how many of them are values of signals.
    pub fn unknowns(&self) -> (usize, usize) {
        let values = self.signals.iter().map(|placed| placed.mixing.coefficients).sum::<usize>();
        (self.free().len() + values, values)
    }

    /// The unknowns with their starts: free parameters, then the coefficients of each signal.
    ///
    /// # Errors
    /// A start outside the bounds.
    pub fn variables(&self) -> Result<Vec<Variable>> {
        let mut variables = Vec::new();
        for k in self.free() {
            variables.push(variable_of(&self.parameters[k], self.start[k]));
        }
        for placed in &self.signals {
            let (signal, times) = (&self.simulation.signals()[placed.input], self.simulation.grid().times());
            let shape = placed.signal.shape;
            let coefficients = match shape {
                Shape::Fourier => {
                    let values: Vec<f64> = times.iter().map(|t| signal.value(*t)).collect();
                    placed.mixing.fit(&values)
                }
                _ => (0..placed.mixing.coefficients).map(|k| signal.value(place(shape, &placed.nodes, k))).collect(),
            };
            let UnknownSignal { input, lower, upper, size, .. } = &placed.signal;
            for (k, start) in coefficients.into_iter().enumerate() {
                let name = match shape {
                    Shape::Fourier => format!("{input}, coefficient {k}"),
                    _ => format!("{input} at {:.6} s", place(shape, &placed.nodes, k)),
                };
                let variable =
                    Variable { name, start, nominal: *size, lower: *lower, upper: *upper, scale: Scale::Linear };
                if start < *lower || start > *upper {
                    let problem = format!("it starts at {start} there, outside its bounds {lower} and {upper}");
                    let remedy = "give another start (start = VALUE in a problem file), or widen the bounds";
                    return Err(Error::invalid(format!("the signal of input `{}`", variable.name), problem, remedy));
                }
                variable.validate()?;
                variables.push(variable);
            }
        }
        Ok(variables)
    }

    /// The values of all inputs at all times, one time after another, and of all parameters, for these unknowns.
    pub fn expand(&self, unknowns: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let times = self.simulation.grid().times().len();
        let inputs = self.simulation.signature().inputs.len();
        let mut w: Vec<f64> = (0..times).flat_map(|i| self.simulation.inputs_at(i).to_vec()).collect();
        let mut u = self.start.clone();
        self.put(unknowns, &mut u, &mut w, inputs);
        (u, w)
    }

    fn put(&self, unknowns: &[f64], u: &mut [f64], w: &mut [f64], inputs: usize) {
        let free = self.free();
        free.iter().zip(unknowns).for_each(|(&k, value)| u[k] = *value);
        let mut offset = free.len();
        for placed in &self.signals {
            let own = &unknowns[offset..offset + placed.mixing.coefficients];
            w.iter_mut().skip(placed.input).step_by(inputs).enumerate().for_each(|(i, w)| {
                *w = placed.mixing.value(i, own);
            });
            offset += placed.mixing.coefficients;
        }
    }

    /// The signals of a solution, one an input, as functions of time.
    ///
    /// # Errors
    /// Unknowns that are not finite.
    pub fn signals_of(&self, unknowns: &[f64]) -> Result<Vec<Signal>> {
        let mut signals = self.simulation.signals().to_vec();
        let mut offset = self.free().len();
        let times = self.simulation.grid().times();
        let (first, last) = (times[0], times[times.len() - 1]);
        for placed in &self.signals {
            let own = unknowns[offset..offset + placed.mixing.coefficients].to_vec();
            offset += placed.mixing.coefficients;
            let (shape, nodes) = (placed.signal.shape, placed.nodes.clone());
            signals[placed.input] = match shape {
                Shape::Constant => {
                    let held = [&own[..], &own[own.len() - 1..]].concat();
                    Signal::sampled(&nodes, &held, Interpolation::ZeroOrder)?
                }
                Shape::Linear => Signal::sampled(&nodes, &own, Interpolation::Linear)?,
                _ => Signal::function(move |t| Mixing::new(shape, &nodes, &[t.clamp(first, last)]).value(0, &own)),
            };
        }
        Ok(signals)
    }
}
