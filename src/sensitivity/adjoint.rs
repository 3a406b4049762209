//! The discrete adjoint (Lauss 2018, eqs. (4)-(11), with the start): one recursion for all schemes.

use super::{Gradient, add_cost, sample};
use crate::error::Result;
use crate::scheme::Step;
use crate::system::Point;

impl Gradient<'_> {
    /// The gradient along the stored states of the last run.
    pub(super) fn sweep(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<()> {
        let simulation = self.workspace.simulation;
        let signature = simulation.signature();
        let grid = simulation.grid();
        let last = grid.count();
        let layout = self.workspace.layout;
        let size = layout.size();
        let (bar, cost, y, y_bar) = (&mut self.bar, &mut *self.cost, &mut self.y, &mut self.y_bar);
        let states = &self.workspace.states;
        let (evaluator, stepper) = (&mut *self.workspace.evaluator, &mut *self.workspace.stepper);
        bar.clear_state();
        bar.u.fill(0.0);
        for i in (0..=last).rev() {
            let (t, w) = (grid.times()[i], simulation.inputs_at(i));
            let state = &states[i * size..(i + 1) * size];
            let x = layout.view(state, t, w);
            if cost.concerns(i, last) {
                evaluator.output(&x, y);
                add_cost(cost, evaluator, &sample(simulation, i, &x, y, u), bar, y_bar);
            }
            if i > 0 {
                let step = Step { index: i, t, h: grid.step(i), w };
                stepper.pull_back(evaluator, signature, &step, state, bar, &mut [])?;
            }
        }
        self.workspace.counters.factorisations += last + 1;
        let x = layout.view(&states[..size], grid.times()[0], simulation.inputs_at(0));
        let start = Point { t: x.t, q: x.q, v: x.v, a: x.a, lambda: x.lambda, w: x.w };
        stepper.start_pull_back(evaluator, &start, bar, &mut []);
        // a stored run always has its start
        if let Some(f_0) = &self.workspace.start {
            f_0.pull_back(evaluator, signature, &start, bar, &mut [])?;
        }
        gradient.copy_from_slice(&bar.u);
        Ok(())
    }
}
