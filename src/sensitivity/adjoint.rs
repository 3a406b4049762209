//! The discrete adjoint (Lauss 2018, eqs. (4)-(11), with the start): one recursion for all schemes.

use super::{Gradient, add_cost, sample};
use crate::error::Result;
use crate::scheme::Stepper;
use crate::simulate::Workspace;

impl Gradient<'_> {
    /// The gradient along the stored states of the last run.
    pub(super) fn sweep(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<()> {
        let simulation = self.workspace.simulation;
        let signature = simulation.signature();
        let grid = simulation.grid();
        let last = grid.count();
        let (bar, cost, y, y_bar) = (&mut self.bar, &mut *self.cost, &mut self.y, &mut self.y_bar);
        // the forward run left it at the last time
        let continuous = &mut self.continuous;
        let (states, a_scheme) = (&self.workspace.states, &mut self.workspace.a_scheme[..]);
        let (evaluator, stepper) = (&mut *self.workspace.evaluator, &mut self.workspace.stepper);
        bar.clear_state();
        bar.u.fill(0.0);
        for i in (0..=last).rev() {
            Workspace::go_on(&self.workspace.interrupt, grid, i)?;
            let step = simulation.step(i);
            if i == 0 {
                // what the scheme made of the start
                states.give(&step, stepper);
                stepper.pull_back(evaluator, signature, &step, bar, &mut [])?;
            }
            let x = states.view(i, simulation, a_scheme);
            let concerned = cost.concerns(i, last);
            if concerned || continuous.any() {
                evaluator.output(&x, y);
                continuous.follow(y);
            }
            if concerned {
                add_cost(cost, evaluator, &sample(simulation, i, &x, y, u), bar, y_bar);
            }
            if i > 0 {
                states.give(&step, stepper);
                stepper.pull_back(evaluator, signature, &step, bar, &mut [])?;
            }
        }
        self.workspace.counters.factorisations += last + 1;
        let start = states.point(0, grid.times()[0], simulation.inputs_at(0));
        Stepper::end_cotangents(bar, &mut []);
        // a stored run always has its start
        if let Some(f_0) = &self.workspace.start {
            f_0.pull_back(evaluator, signature, &start, bar, &mut [])?;
        }
        gradient.copy_from_slice(&bar.u);
        Ok(())
    }
}
