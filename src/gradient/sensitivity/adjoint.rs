//! The discrete adjoint (Lauss 2018, eqs. (4)-(11), with the start), and its derivatives along directions: one recursion for all schemes.

use super::between_steps::BetweenSteps;
use super::hessian::SweepDirections;
use super::sensor_run::SensorRun;
use super::{Gradient, add_cost, clear, sample};
use crate::Result;
use crate::cost::{CostEvaluator, Sample};
use crate::scheme::Direction;
use crate::simulate::{Between, Workspace};
use crate::system::{Evaluator, StateVector};

impl Workspace<'_> {
    /// Pulls cotangents back through step `k`, whose states are there; 0 is what the scheme makes of the start.
    fn pull_step_back(&mut self, k: usize, bar: &mut StateVector, directions: &mut [Direction]) -> Result<()> {
        let Workspace { simulation, states, stepper, evaluator, .. } = self;
        let (step, signature) = (simulation.step(k), simulation.signature());
        if directions.is_empty() && stepper.is_direct(&step) {
            let end = states.point(k, step.t, step.w);
            return stepper.pull_directly_back(&mut **evaluator, signature, &step, &end, bar);
        }
        states.give(&step, stepper);
        stepper.pull_back(&mut **evaluator, signature, &step, bar, directions)
    }
}

impl Gradient<'_> {
    /// The gradient along the stored states of the last run, and its derivatives along directions, if there are any: the cost is returned
    /// then.
    pub(super) fn sweep(&mut self, u: &[f64], gradient: &mut [f64], along: &mut SweepDirections<'_>) -> Result<f64> {
        self.workspace.forget_orders();
        let given = self.workspace.simulation.given();
        let steps = given.steps();
        clear(&mut self.bar);
        self.by_inputs.fill(0.0);
        let mut between_steps = BetweenSteps::of(given, &self.bar, along.directions.len());
        let mut total = 0.0;
        for k in (0..=steps).rev() {
            Workspace::go_on(&self.workspace.interrupt, given.grid(), given.end_of(k))?;
            if along.directions.is_empty() {
                self.workspace.reach(k)?;
            } else {
                self.workspace.reach_with(k, along)?;
                along.go_to(k, given.rows_of(k));
            }
            if k == 0 {
                // what the scheme made of the start
                self.workspace.pull_step_back(k, &mut self.bar, &mut along.directions)?;
            }
            between_steps.add_pending(&mut self.bar, &mut along.directions);
            total += self.look_at_step(k, u, along, &mut between_steps);
            if k > 0 {
                self.workspace.pull_step_back(k, &mut self.bar, &mut along.directions)?;
                let rows = given.rows_of(k);
                take_inputs(rows, &mut self.bar, &mut self.by_inputs);
                along.take_inputs(rows);
            }
        }
        self.workspace.counters.factorisations += steps + 1;
        self.sweep_start(along)?;
        self.give(gradient);
        Ok(total)
    }

    /// Adds what the cost makes of the times in step `k`, the last one first; along directions, the cost there is returned.
    fn look_at_step(
        &mut self,
        k: usize,
        u: &[f64],
        along: &mut SweepDirections<'_>,
        between_steps: &mut BetweenSteps,
    ) -> f64 {
        let given = self.workspace.simulation.given();
        let last = given.grid().count();
        let (bar, cost, y, y_bar) = (&mut self.bar, &mut *self.cost, &mut self.y, &mut self.y_bar);
        // the forward run left it at the last time
        let continuous = &mut self.continuous;
        let (by_inputs, sensor_run) = (&mut self.by_inputs, self.sensor_run.as_ref());
        let Workspace { simulation, states, evaluator, room, .. } = &mut self.workspace;
        let (simulation, evaluator) = (&*simulation, &mut **evaluator);
        let is_curved = !along.directions.is_empty();
        let mut total = 0.0;
        let (first, end) = (if k == 0 { 0 } else { given.end_of(k - 1) + 1 }, given.end_of(k));
        for i in (first..end + 1).rev() {
            let concerned = cost.concerns(i, last);
            let x = states.view_in(k, i, simulation, room);
            if concerned || continuous.any() {
                evaluator.output(&x, y);
                continuous.follow(y);
            }
            if !concerned && sensor_run.is_none() {
                continue;
            }
            if let Some(SensorRun { sensors, run, .. }) = sensor_run {
                run.show(sensors, i, y);
            }
            let sample = sample(simulation, i, &x, y, u);
            total += if is_curved && concerned { cost.value(&sample) } else { 0.0 };
            let between = Between::of(given, i, k);
            let (own, directions, outputs) = match between {
                None => (&mut *bar, &mut along.directions, &mut between_steps.outputs),
                Some(between) => between_steps.enter(between, (i, k), along),
            };
            add_cost((cost, sensor_run), evaluator, &sample, own, y_bar);
            if is_curved {
                add_curvature((cost, sensor_run), evaluator, &sample, y_bar, directions, outputs);
            }
            if let Some(between) = between {
                between_steps.leave(between, i, (bar, by_inputs), along);
            }
        }
        total
    }

    /// The end of a sweep: the start.
    fn sweep_start(&mut self, along: &mut SweepDirections<'_>) -> Result<()> {
        let Workspace { simulation, states, evaluator, start: f_0, .. } = &mut self.workspace;
        let (bar, signature) = (&mut self.bar, simulation.signature());
        let start = states.start(simulation.grid().time(0), simulation.inputs_at(0));
        // a stored run always has its start
        if let Some(f_0) = f_0 {
            f_0.pull_back(&mut **evaluator, signature, &start, bar, &mut along.directions)?;
        }
        let rows = simulation.rows_of(0);
        take_inputs(rows, bar, &mut self.by_inputs);
        along.take_inputs(rows);
        Ok(())
    }

    /// The derivatives by the parameters of the model, and by those of sensors.
    fn give(&self, gradient: &mut [f64]) {
        let (model, own) = gradient.split_at_mut(self.bar.u.len());
        model.copy_from_slice(&self.bar.u);
        if let Some(sensor_run) = &self.sensor_run {
            own.copy_from_slice(&sensor_run.run.own_bar);
        }
    }
}

/// Adds the derivatives of [`add_cost`], with its cotangents `y_bar` of the outputs, along directions; `room` is for two lists of outputs.
fn add_curvature(
    (cost, sensor_run): (&mut dyn CostEvaluator, Option<&SensorRun<'_>>),
    evaluator: &mut dyn Evaluator,
    sample: &Sample<'_>,
    y_bar: &[f64],
    directions: &mut [Direction],
    [y_tangent, y_curved]: &mut [Vec<f64>; 2],
) {
    y_tangent.resize(y_bar.len(), 0.0);
    y_curved.resize(y_bar.len(), 0.0);
    evaluator.linearise_output_for_tangents(&sample.x, directions.len());
    for (d, Direction { tangent, cotangent, .. }) in directions.iter_mut().enumerate() {
        y_tangent.fill(0.0);
        y_curved.fill(0.0);
        evaluator.output_push_forward(tangent, y_tangent);
        if cost.concerns(sample.index, sample.last) {
            cost.curvature(sample, tangent, y_tangent, cotangent, y_curved);
        }
        if let Some(SensorRun { sensors, along, .. }) = sensor_run {
            along[d].pull_back(sensors, sample.index, y_curved);
        }
        evaluator.output_pull_back(y_curved, cotangent);
        evaluator.output_curvature(&sample.x, y_bar, tangent, cotangent);
    }
}

/// Keeps the cotangents of the inputs in the row of a step's end, and in that of the others that it sees, where they are asked for:
/// `by_inputs` holds those of all rows.
#[inline]
pub(super) fn take_inputs((row, other): (usize, Option<usize>), bar: &mut StateVector, by_inputs: &mut [f64]) {
    if by_inputs.is_empty() {
        return;
    }
    let count = bar.w.len();
    by_inputs[row * count..(row + 1) * count].copy_from_slice(&bar.w);
    if let Some(other) = other {
        by_inputs[other * count..(other + 1) * count].iter_mut().zip(&bar.w_other).for_each(|(sum, bar)| *sum += bar);
    }
    bar.w.fill(0.0);
    bar.w_other.fill(0.0);
}
