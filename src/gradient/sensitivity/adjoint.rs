//! The discrete adjoint (Lauss 2018, eqs. (4)-(11), with the start), and its derivatives along directions: one recursion for all schemes.

use super::hessian::Along;
use super::sensed::Sensed;
use super::{Gradient, add_cost, clear, sample};
use crate::cost::{CostEvaluator, Sample};
use crate::error::Result;
use crate::scheme::Direction;
use crate::simulate::Workspace;
use crate::system::{Evaluator, StateVector};

impl Gradient<'_> {
    /// The gradient along the stored states of the last run, and its derivatives along directions, if there are any: the cost is returned
    /// then.
    pub(super) fn sweep(&mut self, u: &[f64], gradient: &mut [f64], along: &mut Along<'_>) -> Result<f64> {
        self.workspace.forget_orders();
        let given = self.workspace.simulation.given();
        let (signature, grid, last) = (given.signature(), given.grid(), given.grid().count());
        let (bar, cost, y, y_bar) = (&mut self.bar, &mut *self.cost, &mut self.y, &mut self.y_bar);
        let is_curved = !along.directions.is_empty();
        let mut room = [(); 2].map(|()| vec![0.0; if is_curved { y.len() } else { 0 }]);
        // the forward run left it at the last time
        let continuous = &mut self.continuous;
        clear(bar);
        let (by_inputs, sensed) = (&mut self.by_inputs, self.sensed.as_ref());
        let mut total = 0.0;
        for i in (0..=last).rev() {
            Workspace::go_on(&self.workspace.interrupt, grid, i)?;
            if is_curved {
                self.workspace.reach_with(i, along)?;
                along.go_to(i);
            } else {
                self.workspace.reach(i)?;
            }
            let Workspace { simulation, states, evaluator, stepper, a_scheme, .. } = &mut self.workspace;
            let (simulation, evaluator) = (&*simulation, &mut **evaluator);
            let step = simulation.step(i);
            if i == 0 {
                // what the scheme made of the start
                states.give(&step, stepper);
                stepper.pull_back(evaluator, signature, &step, bar, &mut along.directions)?;
            }
            let x = states.view(i, simulation, a_scheme);
            let concerned = cost.concerns(i, last);
            if concerned || continuous.any() {
                evaluator.output(&x, y);
                continuous.follow(y);
            }
            if concerned || sensed.is_some() {
                if let Some(Sensed { sensors, run, .. }) = sensed {
                    run.show(sensors, i, y);
                }
                let sample = sample(simulation, i, &x, y, u);
                add_cost((cost, sensed), evaluator, &sample, bar, y_bar);
                if is_curved {
                    total += if concerned { cost.value(&sample) } else { 0.0 };
                    add_curvature((cost, sensed), evaluator, &sample, y_bar, &mut along.directions, &mut room);
                }
            }
            if i > 0 {
                states.give(&step, stepper);
                stepper.pull_back(evaluator, signature, &step, bar, &mut along.directions)?;
                take_inputs(i, bar, by_inputs);
                along.take_inputs(i);
            }
        }
        self.workspace.counters.factorisations += last + 1;
        self.sweep_start(along)?;
        self.give(gradient);
        Ok(total)
    }

    /// The end of a sweep: the start.
    fn sweep_start(&mut self, along: &mut Along<'_>) -> Result<()> {
        let Workspace { simulation, states, evaluator, start: f_0, .. } = &mut self.workspace;
        let (bar, signature) = (&mut self.bar, simulation.signature());
        let start = states.start(simulation.grid().time(0), simulation.inputs_at(0));
        // a stored run always has its start
        if let Some(f_0) = f_0 {
            f_0.pull_back(&mut **evaluator, signature, &start, bar, &mut along.directions)?;
        }
        take_inputs(0, bar, &mut self.by_inputs);
        along.take_inputs(0);
        Ok(())
    }

    /// The derivatives by the parameters of the model, and by those of sensors.
    fn give(&self, gradient: &mut [f64]) {
        let (model, own) = gradient.split_at_mut(self.bar.u.len());
        model.copy_from_slice(&self.bar.u);
        if let Some(sensed) = &self.sensed {
            own.copy_from_slice(&sensed.run.own_bar);
        }
    }
}

/// Adds the derivatives of [`add_cost`], with its cotangents `y_bar` of the outputs, along directions; `room` is for two lists of outputs.
fn add_curvature(
    (cost, sensed): (&mut dyn CostEvaluator, Option<&Sensed<'_>>),
    evaluator: &mut dyn Evaluator,
    sample: &Sample<'_>,
    y_bar: &[f64],
    directions: &mut [Direction],
    [y_tangent, y_curved]: &mut [Vec<f64>; 2],
) {
    evaluator.linearise_output(&sample.x);
    for (d, Direction { tangent, cotangent, .. }) in directions.iter_mut().enumerate() {
        y_tangent.fill(0.0);
        y_curved.fill(0.0);
        evaluator.output_push_forward(tangent, y_tangent);
        if cost.concerns(sample.index, sample.last) {
            cost.curvature(sample, tangent, y_tangent, cotangent, y_curved);
        }
        if let Some(Sensed { sensors, along, .. }) = sensed {
            along[d].pull_back(sensors, sample.index, y_curved);
        }
        evaluator.output_pull_back(y_curved, cotangent);
        evaluator.output_curvature(&sample.x, y_bar, tangent, cotangent);
    }
}

/// Keeps the cotangents of the inputs at time `i`, where they are asked for: `by_inputs` holds those of all times.
pub(super) fn take_inputs(i: usize, bar: &mut StateVector, by_inputs: &mut [f64]) {
    let count = bar.w.len();
    if !by_inputs.is_empty() {
        by_inputs[i * count..(i + 1) * count].copy_from_slice(&bar.w);
        if i == 0 {
            by_inputs[count..2 * count].iter_mut().zip(&bar.w_next).for_each(|(sum, bar)| *sum += bar);
        }
    }
    bar.w.fill(0.0);
}
