//! Derivatives of single steps: what a band of equations is made of.

use super::{Gradient, sample};
use crate::cost::{Cost, SquaredRow};
use crate::simulate::Workspace;
use crate::system::{Evaluator, OutputPoint, StateVector};
use crate::{Error, Result};
use nalgebra::DMatrix;

/// Derivatives of the state after a step by the state before it, the inputs and the parameters; and of the residuals after it.
///
/// Columns: those of the state (q, v, a, a_scheme and the scheme's own, S in all; none for the start), of the inputs at the step's end (at the
/// first time, for the start), of the others that the step sees (those one step later for the start, those from its beginning on where it
/// restarts, none otherwise), and of the parameters that are differentiated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StepMap {
    /// Derivatives of the state after the step, S rows.
    pub state: DMatrix<f64>,
    /// Derivatives of the residuals, one row each.
    pub residuals: DMatrix<f64>,
    /// The residuals themselves.
    pub values: Vec<f64>,
}

/// Numbers of a state that later steps see.
pub(crate) fn seen(x: &StateVector) -> usize {
    4 * x.q.len() + x.memory.len()
}

fn put(x: &StateVector, column: usize, matrix: &mut DMatrix<f64>) {
    let parts = [&x.q, &x.v, &x.a, &x.a_scheme, &x.memory];
    for (row, value) in parts.into_iter().flatten().enumerate() {
        matrix[(row, column)] = *value;
    }
}

/// A tangent for each column of a map.
fn units(zero: &StateVector, is_start: bool, sees_others: bool, active: &[usize]) -> Vec<StateVector> {
    let (n, inputs) = (zero.q.len(), zero.w.len());
    let (before, others) = (if is_start { 0 } else { seen(zero) }, if sees_others { inputs } else { 0 });
    let mut tangents = vec![zero.clone(); before + inputs + others + active.len()];
    for (column, x) in tangents.iter_mut().enumerate() {
        let entry = match column {
            c if c < before.min(4 * n) => &mut x.block_mut(c / n)[c % n],
            c if c < before => &mut x.memory[c - 4 * n],
            c if c < before + inputs => &mut x.w[c - before],
            c if c < before + inputs + others => &mut x.w_other[c - before - inputs],
            c => &mut x.u[active[c - before - inputs - others]],
        };
        *entry = 1.0;
    }
    tangents
}

/// Derivatives of residuals along tangents, a column each; `y` is room for the outputs.
fn residuals_along(
    tangents: &[StateVector],
    evaluator: &mut dyn Evaluator,
    x: &OutputPoint<'_>,
    rows: &[SquaredRow],
    y: &mut [f64],
) -> DMatrix<f64> {
    let mut residuals = DMatrix::zeros(rows.len(), tangents.len());
    if !rows.is_empty() {
        evaluator.linearise_output_for_tangents(x, tangents.len());
        for (column, tangent) in tangents.iter().enumerate() {
            y.fill(0.0);
            evaluator.output_push_forward(tangent, y);
            rows.iter().enumerate().for_each(|(k, row)| residuals[(k, column)] = row.slope * y[row.output]);
        }
    }
    residuals
}

impl Gradient<'_> {
    /// Shows the maps of the start (as number 0) and of all steps of the run at `u`, in the order of time, with the residuals of `cost`.
    ///
    /// # Errors
    /// If the run fails, a matrix is singular, or the cost is no sum of squares of outputs.
    pub fn step_maps(&mut self, u: &[f64], cost: &dyn Cost, visit: &mut dyn FnMut(usize, StepMap)) -> Result<()> {
        self.workspace.ensure_stored(u)?;
        self.choose(u)?;
        self.workspace.forget_orders();
        let given = self.workspace.simulation.given();
        if !given.reads_steps_alone() {
            let problem = "it is read between its steps, where no step has a row of a band";
            return Err(Error::invalid("the simulation", problem, "take steps that end at all times"));
        }
        let (signature, grid) = (given.signature(), given.grid());
        let zero = StateVector::with_memory(signature, self.workspace.layout.memory);
        let mut rows: Vec<SquaredRow> = Vec::new();
        let mut y_tangent = vec![0.0; self.y.len()];
        self.continuous.restart();
        for i in 0..=grid.count() {
            self.workspace.reach(i)?;
            let Workspace { simulation, states, evaluator, stepper, room, start: f_0, .. } = &mut self.workspace;
            let (simulation, evaluator) = (&*simulation, &mut **evaluator);
            let step = simulation.step(i);
            let mut tangents = units(&zero, i == 0, simulation.other_row(i).is_some(), &self.active);
            if i == 0 {
                // a stored run always has its start
                if let Some(f_0) = f_0 {
                    let start = states.start(step.t, step.w);
                    f_0.push_forward(evaluator, signature, &start, &mut tangents)?;
                }
            } else {
                states.give(&step, stepper);
                stepper.push_forward(evaluator, signature, &step, &mut tangents)?;
            }
            let x = states.view(i, simulation, room);
            evaluator.output(&x, &mut self.y);
            self.continuous.follow(&mut self.y);
            rows.clear();
            if !cost.squared_rows(&sample(simulation, i, &x, &self.y, u), &mut rows) {
                let remedy = "take a method that works by gradients, such as l-bfgs";
                return Err(Error::invalid("the cost", "it is no sum of squares of outputs", remedy));
            }
            let residuals = residuals_along(&tangents, evaluator, &x, &rows, &mut y_tangent);
            if i == 0 {
                states.give(&step, stepper);
                stepper.push_forward(evaluator, signature, &step, &mut tangents)?;
            }
            let mut map = DMatrix::zeros(seen(&zero), tangents.len());
            tangents.iter().enumerate().for_each(|(column, tangent)| put(tangent, column, &mut map));
            let values = rows.iter().map(|row| row.residual).collect();
            visit(i, StepMap { state: map, residuals, values });
        }
        Ok(())
    }
}
