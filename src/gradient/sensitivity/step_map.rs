//! Derivatives of single steps: what a band of equations is made of.

use super::{Gradient, sample};
use crate::cost::{Cost, SquaredRow};
use crate::error::{Error, Result};
use crate::scheme::Stepper;
use crate::system::StateVector;
use nalgebra::DMatrix;

/// How the state after a step follows the state before it, the inputs and the parameters; and the residuals after it.
///
/// Columns: those of the state (q, v, a, a_scheme and the scheme's own, S in all; none for the start), of the inputs at the step's end (at the
/// first time, for the start), of those one step later (for the start alone), and of the parameters that are differentiated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepMap {
    /// S rows.
    pub state: DMatrix<f64>,
    /// One row a residual.
    pub residuals: DMatrix<f64>,
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

/// A unit vector among the columns of a state.
fn set_unit(x: &mut StateVector, column: usize, value: f64) {
    let n = x.q.len();
    match column.checked_sub(4 * n) {
        Some(own) => x.memory[own] = value,
        None => x.block_mut(column / n)[column % n] = value,
    }
}

impl Gradient<'_> {
    /// Shows the maps of the start (as number 0) and of all steps of the run at `u`, in the order of time, with the residuals of `cost`.
    ///
    /// # Errors
    /// If the run fails, a matrix is singular, or the cost is no sum of squares of outputs.
    pub(crate) fn step_maps(
        &mut self,
        u: &[f64],
        cost: &dyn Cost,
        visit: &mut dyn FnMut(usize, StepMap),
    ) -> Result<()> {
        self.workspace.ensure_stored(u)?;
        self.choose(u)?;
        self.workspace.forget_orders();
        let workspace = &mut self.workspace;
        let (simulation, states, stepper) = (&workspace.simulation, &workspace.states, &mut workspace.stepper);
        let (evaluator, a_scheme) = (&mut *workspace.evaluator, &mut workspace.a_scheme[..]);
        let signature = simulation.signature();
        let grid = simulation.grid();
        let zero = StateVector::with_memory(signature, workspace.layout.memory);
        let (state, inputs, active) = (seen(&zero), signature.inputs.len(), &self.active);
        let outputs = signature.outputs.len();
        let mut rows: Vec<SquaredRow> = Vec::new();
        let mut y = vec![0.0; outputs];
        let mut y_tangent = vec![0.0; outputs];
        self.continuous.restart();
        for i in 0..=grid.count() {
            let step = simulation.step(i);
            let before = if i == 0 { 0 } else { state };
            let later = if i == 0 { inputs } else { 0 };
            let count = before + inputs + later + active.len();
            let mut tangents = vec![zero.clone(); count];
            for (column, tangent) in tangents.iter_mut().enumerate() {
                match column {
                    c if c < before => set_unit(tangent, c, 1.0),
                    c if c < before + inputs => tangent.w[c - before] = 1.0,
                    c if c < before + inputs + later => tangent.w_next[c - before - inputs] = 1.0,
                    c => tangent.u[active[c - before - inputs - later]] = 1.0,
                }
            }
            if i == 0 {
                // a stored run always has its start
                if let Some(f_0) = &workspace.start {
                    let start = states.point(0, step.t, step.w);
                    f_0.push_forward(evaluator, signature, &start, &mut tangents)?;
                }
                Stepper::begin_tangents(&mut tangents);
            } else {
                states.give(&step, stepper);
                stepper.push_forward(evaluator, signature, &step, &mut tangents)?;
            }
            let x = states.view(i, simulation, a_scheme);
            evaluator.output(&x, &mut y);
            self.continuous.follow(&mut y);
            rows.clear();
            if !cost.squared_rows(&sample(simulation, i, &x, &y, u), &mut rows) {
                let remedy = "take a method that works by gradients, such as l-bfgs";
                return Err(Error::invalid("the cost", "it is no sum of squares of outputs", remedy));
            }
            let mut residuals = DMatrix::zeros(rows.len(), count);
            if !rows.is_empty() {
                evaluator.linearise_output(&x);
                for (column, tangent) in tangents.iter().enumerate() {
                    y_tangent.fill(0.0);
                    evaluator.output_push_forward(tangent, &mut y_tangent);
                    for (k, row) in rows.iter().enumerate() {
                        residuals[(k, column)] = row.slope * y_tangent[row.output];
                    }
                }
            }
            if i == 0 {
                states.give(&step, stepper);
                stepper.push_forward(evaluator, signature, &step, &mut tangents)?;
            }
            let mut map = DMatrix::zeros(state, count);
            tangents.iter().enumerate().for_each(|(column, tangent)| put(tangent, column, &mut map));
            let values = rows.iter().map(|row| row.residual).collect();
            visit(i, StepMap { state: map, residuals, values });
        }
        Ok(())
    }
}
