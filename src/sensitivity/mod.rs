//! Gradients of a cost with respect to the parameters, three ways.
//!
//! The discrete adjoint costs about one more simulation for any number of parameters; tangents cost about one for each
//! chunk of them and give the derivative of every output; differences are the coarse independent check.

mod adjoint;
mod difference;
mod hessian;
mod tangent;

pub use difference::Difference;
pub use tangent::{OutputTangents, ResidualRow};

use crate::continuous::Continuous;
use crate::cost::{Cost, CostEvaluator, Sample};
use crate::error::{Error, Result};
use crate::simulate::{Simulation, Workspace};
use crate::system::{Evaluator, OutputPoint, StateVector};

/// How a gradient is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// One sweep backwards through the scheme's own equations.
    #[default]
    Adjoint,
    /// Derivatives of all states, forwards.
    Tangent,
    /// Central differences of the cost.
    Difference,
}

impl Method {
    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Method::Adjoint => "adjoint",
            Method::Tangent => "tangent",
            Method::Difference => "difference",
        }
    }
}

/// A simulation with a cost, ready to be evaluated again and again.
pub struct Gradient<'p> {
    workspace: Workspace<'p>,
    cost: Box<dyn CostEvaluator + 'p>,
    y: Vec<f64>,
    y_bar: Vec<f64>,
    bar: StateVector,
    tangents: Vec<StateVector>,
    continuous: Continuous,
}

impl<'p> Gradient<'p> {
    /// A workspace for one thread.
    ///
    /// # Errors
    /// If the cost does not go with the simulation.
    pub fn new(simulation: &'p Simulation, cost: &'p dyn Cost) -> Result<Self> {
        let signature = simulation.signature();
        cost.check(signature, simulation.grid().times())?;
        let workspace = Workspace::new(simulation);
        let zeros = vec![0.0; signature.outputs.len()];
        let bar = StateVector::with_memory(signature, workspace.layout.memory);
        Ok(Gradient {
            workspace,
            cost: cost.evaluator(signature),
            y: zeros.clone(),
            y_bar: zeros,
            bar,
            tangents: Vec::new(),
            continuous: Continuous::of(signature),
        })
    }

    /// The cost at `u`.
    ///
    /// # Errors
    /// Wrong parameters, or a simulation that fails.
    pub fn cost(&mut self, u: &[f64]) -> Result<f64> {
        self.forward(u, false)
    }

    /// The cost at `u`, and its gradient by `method`.
    ///
    /// # Errors
    /// Wrong parameters, or a simulation that fails.
    pub fn cost_and_gradient(&mut self, u: &[f64], method: Method, gradient: &mut [f64]) -> Result<f64> {
        if gradient.len() != u.len() {
            let problem = format!("it has room for {} entries, but there are {} parameters", gradient.len(), u.len());
            return Err(Error::invalid("the gradient", problem, "give it one entry a parameter"));
        }
        match method {
            Method::Adjoint => {
                let cost = self.forward(u, true)?;
                self.sweep(u, gradient)?;
                Ok(cost)
            }
            Method::Tangent => self.tangent_gradient(u, gradient),
            Method::Difference => {
                let cost = self.cost(u)?;
                difference::central(self, u, gradient)?;
                Ok(cost)
            }
        }
    }

    /// What the last evaluation cost.
    pub fn counters(&self) -> crate::scheme::Counters {
        self.workspace.counters
    }

    fn forward(&mut self, u: &[f64], store: bool) -> Result<f64> {
        let simulation = self.workspace.simulation;
        let (cost, y, continuous) = (&mut self.cost, &mut self.y, &mut self.continuous);
        let last = simulation.grid().count();
        let mut total = 0.0;
        continuous.restart();
        self.workspace.forward(u, store, &mut |i, evaluator, x| {
            let concerned = cost.concerns(i, last);
            if concerned || continuous.any() {
                evaluator.output(x, y);
                continuous.follow(y);
            }
            if concerned {
                total += cost.value(&sample(simulation, i, x, y, u));
            }
        })?;
        if total.is_finite() {
            return Ok(total);
        }
        let (time, step) = (simulation.grid().times()[last], last);
        Err(Error::NotFinite { quantity: "the cost".into(), value: total, time, step })
    }
}

/// What a cost sees at time `i`.
fn sample<'a>(simulation: &Simulation, i: usize, x: &OutputPoint<'a>, y: &'a [f64], u: &'a [f64]) -> Sample<'a> {
    let (before, after) = simulation.grid().neighbours(i);
    Sample { index: i, last: simulation.grid().count(), before, after, x: *x, y, u }
}

/// Adds the derivative of the cost at one time to `bar`.
fn add_cost(
    cost: &mut dyn CostEvaluator,
    evaluator: &mut dyn Evaluator,
    sample: &Sample<'_>,
    bar: &mut StateVector,
    y_bar: &mut [f64],
) {
    y_bar.fill(0.0);
    cost.gradient(sample, bar, y_bar);
    if y_bar.iter().any(|y| *y != 0.0) {
        evaluator.linearise_output(&sample.x);
        evaluator.output_pull_back(y_bar, bar);
    }
}
