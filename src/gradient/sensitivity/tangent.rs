//! Direct differentiation: tangents of every state, through the same step equation.

use super::hessian::{Change, take_inputs_along};
use super::{Gradient, add_cost, sample};
use crate::cost::LeastSquares;
use crate::error::{Error, Result};
use crate::least_squares::{Linearised, Reduction};
use crate::scheme::{Counters, Stepper};
use crate::signature::Quantity;
use crate::simulate::Workspace;
use crate::system::{Evaluator, OutputPoint, StateVector};

/// What is done at each time: number of the time, evaluator, state, tangents.
type TangentVisitor<'v> = dyn FnMut(usize, &mut dyn Evaluator, &OutputPoint<'_>, &mut [StateVector]) + 'v;

impl Workspace<'_> {
    /// Carries tangents along the stored run; directions are in the tangents' parameter parts, and `inputs` gives those of the inputs at
    /// each time.
    /// `begun` is shown what the scheme made of the start.
    pub(crate) fn push_forward(
        &mut self,
        tangents: &mut [StateVector],
        inputs: &dyn Fn(usize, &mut [StateVector]),
        begun: &mut dyn FnMut(&[StateVector]),
        visit: &mut TangentVisitor<'_>,
    ) -> Result<()> {
        self.forget_orders();
        let simulation = &self.simulation;
        let signature = simulation.signature();
        let grid = simulation.grid();
        let (states, a_scheme) = (&self.states, &mut self.a_scheme[..]);
        let start = states.point(0, grid.times()[0], simulation.inputs_at(0));
        inputs(0, tangents);
        // a stored run always has its start
        if let Some(f_0) = &self.start {
            f_0.push_forward(&mut *self.evaluator, signature, &start, tangents)?;
        }
        Stepper::begin_tangents(tangents);
        visit(0, &mut *self.evaluator, &states.view(0, simulation, a_scheme), tangents);
        for i in 0..=grid.count() {
            Workspace::go_on(&self.interrupt, grid, i)?;
            inputs(i, tangents);
            let step = simulation.step(i);
            states.give(&step, &mut self.stepper);
            self.stepper.push_forward(&mut *self.evaluator, signature, &step, tangents)?;
            if i == 0 {
                begun(tangents);
            } else {
                visit(i, &mut *self.evaluator, &states.view(i, simulation, a_scheme), tangents);
            }
        }
        let Counters { factorisations, .. } = &mut self.counters;
        *factorisations += grid.count() + 1;
        Ok(())
    }
}

/// Unit directions, one for each of these parameters.
pub(super) fn directions(workspace: &Workspace<'_>, parameters: &[usize]) -> Vec<StateVector> {
    let signature = workspace.simulation.signature();
    parameters
        .iter()
        .map(|&k| {
            let mut tangent = StateVector::with_memory(signature, workspace.layout.memory);
            tangent.u[k] = 1.0;
            tangent
        })
        .collect()
}

impl Gradient<'_> {
    /// The cost at `u`, and its derivatives along changes of parameters and inputs, by tangents: one run and one tangent a change.
    ///
    /// # Errors
    /// A simulation that fails, or changes of other sizes.
    pub fn derivatives_along(&mut self, u: &[f64], along: &[Change]) -> Result<(f64, Vec<f64>)> {
        if along.iter().any(|x| x.u.len() != u.len() || !x.w.is_empty() && x.w.len() != self.by_inputs.len()) {
            let problem = format!("their numbers of entries do not fit {} parameters and the inputs", u.len());
            let remedy = "give one entry a parameter, and none or one an input and time";
            return Err(Error::invalid("the changes along which is differentiated", problem, remedy));
        }
        let workspace = &self.workspace;
        let zero = StateVector::with_memory(workspace.simulation.signature(), workspace.layout.memory);
        let mut tangents: Vec<StateVector> =
            along.iter().map(|along| StateVector { u: along.u.clone(), ..zero.clone() }).collect();
        let mut slopes = vec![0.0; along.len()];
        self.workspace.ensure_stored(u)?;
        let inputs = |i: usize, tangents: &mut [StateVector]| take_inputs_along(i, along, tangents.iter_mut());
        let cost = self.cost_tangents(u, &mut tangents, &inputs, &mut slopes)?;
        Ok((cost, slopes))
    }

    pub(super) fn tangent_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.workspace.forward(u, true, &mut |_, _, _| {})?;
        self.choose(u)?;
        let mut tangents = std::mem::take(&mut self.tangents);
        let mut slopes = vec![0.0; self.active.len()];
        let total = self.cost_tangents(u, &mut tangents, &|_, _| {}, &mut slopes);
        self.tangents = tangents;
        gradient.fill(0.0);
        self.active.iter().zip(slopes).for_each(|(&k, slope)| gradient[k] = slope);
        total
    }

    /// The cost of the stored run, and its derivatives along tangents.
    fn cost_tangents(
        &mut self,
        u: &[f64],
        tangents: &mut [StateVector],
        inputs: &dyn Fn(usize, &mut [StateVector]),
        slopes: &mut [f64],
    ) -> Result<f64> {
        let simulation = self.workspace.simulation.given();
        let last = simulation.grid().count();
        let (cost, y, y_bar, bar) = (&mut *self.cost, &mut self.y, &mut self.y_bar, &mut self.bar);
        let continuous = &mut self.continuous;
        continuous.restart();
        let mut total = 0.0;
        self.workspace.push_forward(tangents, inputs, &mut |_| {}, &mut |i, evaluator, x, tangents| {
            let concerned = cost.concerns(i, last);
            if concerned || continuous.any() {
                evaluator.output(x, y);
                continuous.follow(y);
            }
            if !concerned {
                return;
            }
            let sample = sample(simulation, i, x, y, u);
            total += cost.value(&sample);
            bar.clear_state();
            bar.u.fill(0.0);
            bar.w.fill(0.0);
            add_cost(cost, evaluator, &sample, bar, y_bar);
            for (slope, tangent) in slopes.iter_mut().zip(tangents) {
                *slope += product(bar, tangent);
            }
        })?;
        if !total.is_finite() {
            let (time, step) = (simulation.grid().times()[last], last);
            return Err(Error::NotFinite { quantity: "the cost".into(), value: total, time, step });
        }
        Ok(total)
    }
}

/// One residual of a least-squares cost, with its derivatives.
#[derive(Debug, Clone, Copy)]
pub struct ResidualRow<'a> {
    /// Place of the reference in the cost.
    pub reference: usize,
    /// The weight η of the sample.
    pub weight: f64,
    /// (y - ȳ)/σ, without η; y - ȳ up to whole periods of the output.
    pub residual: f64,
    /// What stands for it in a sum of squares, and the derivative of that by it: the residual itself and 1, but for a robust
    /// [loss](crate::cost::Loss).
    pub rooted: (f64, f64),
    /// Its derivatives with respect to all parameters.
    pub derivatives: &'a [f64],
}

impl Gradient<'_> {
    /// Residuals and their Jacobian at `u`, reduced: for costs that are least squares. Residuals are
    /// √η_i (y_k(t_i) - ȳ_k,i) / σ_k, or what a robust loss makes of them.
    ///
    /// # Errors
    /// If the cost is no least-squares cost, or the simulation fails.
    pub fn linearise(&mut self, u: &[f64], cost: &LeastSquares) -> Result<Linearised> {
        let mut reduction = Reduction::new(u.len());
        let mut scaled = vec![0.0; u.len()];
        self.residual_rows(u, cost, &mut |row| {
            let (root, (residual, factor)) = (row.weight.sqrt(), row.rooted);
            scaled.iter_mut().zip(row.derivatives).for_each(|(entry, slope)| *entry = root * factor * slope);
            reduction.add(&scaled, root * residual);
        })?;
        let linearised = reduction.finish();
        if linearised.cost().is_finite() {
            return Ok(linearised);
        }
        let last = self.workspace.simulation.grid().count();
        let time = self.workspace.simulation.grid().times()[last];
        Err(Error::NotFinite { quantity: "the cost".into(), value: linearised.cost(), time, step: last })
    }

    /// Shows every residual at `u` with its derivatives, in the order of time, by one run with tangents. Samples without
    /// weight and those that are not there are left out.
    ///
    /// # Errors
    /// If the simulation fails.
    pub fn residual_rows(
        &mut self,
        u: &[f64],
        cost: &LeastSquares,
        visit: &mut dyn FnMut(&ResidualRow<'_>),
    ) -> Result<()> {
        let mut derivatives = vec![0.0; u.len()];
        let wanted = |i: usize| cost.weight_at(i) != 0.0;
        self.output_tangents(u, &wanted, &mut |x| x.residual_rows(cost, &mut derivatives, visit))
    }

    /// Shows the outputs with their derivatives at every time that is `wanted`, in the order of time, by one run with tangents.
    ///
    /// # Errors
    /// If the simulation fails.
    pub fn output_tangents(
        &mut self,
        u: &[f64],
        wanted: &dyn Fn(usize) -> bool,
        visit: &mut dyn FnMut(&OutputTangents<'_>),
    ) -> Result<()> {
        self.workspace.forward(u, true, &mut |_, _, _| {})?;
        self.choose(u)?;
        let p = u.len();
        let active = &self.active;
        let outputs = &self.workspace.simulation.given().signature().outputs;
        let (y, continuous) = (&mut self.y, &mut self.continuous);
        continuous.restart();
        let mut slopes = vec![0.0; p * y.len()];
        let mut y_tangent = vec![0.0; y.len()];
        self.workspace.push_forward(&mut self.tangents, &|_, _| {}, &mut |_| {}, &mut |i, evaluator, x, tangents| {
            let wanted = wanted(i);
            if wanted || continuous.any() {
                evaluator.output(x, y);
                continuous.follow(y);
            }
            if !wanted {
                return;
            }
            evaluator.linearise_output(x);
            for (&k, tangent) in active.iter().zip(tangents.iter()) {
                y_tangent.fill(0.0);
                evaluator.output_push_forward(tangent, &mut y_tangent);
                y_tangent.iter().enumerate().for_each(|(j, slope)| slopes[j * p + k] = *slope);
            }
            visit(&OutputTangents { index: i, y, outputs, slopes: &slopes });
        })
    }
}

/// The outputs at one time, with their derivatives.
#[derive(Debug, Clone, Copy)]
pub struct OutputTangents<'a> {
    /// Number of the time.
    pub index: usize,
    /// The outputs.
    pub y: &'a [f64],
    outputs: &'a [Quantity],
    slopes: &'a [f64],
}

impl<'a> OutputTangents<'a> {
    /// The derivatives of output `k` with respect to all parameters.
    pub fn slopes(&self, k: usize) -> &'a [f64] {
        let p = self.slopes.len() / self.y.len();
        &self.slopes[k * p..(k + 1) * p]
    }

    /// Shows the residuals of this time, if it is that of a sample with weight, of references that have it. `derivatives`: room for one row.
    pub(crate) fn residual_rows(
        &self,
        cost: &LeastSquares,
        derivatives: &mut [f64],
        visit: &mut dyn FnMut(&ResidualRow<'_>),
    ) {
        let weight = cost.weight_at(self.index);
        if weight == 0.0 {
            return;
        }
        for (place, reference) in cost.references().iter().enumerate() {
            let Some(value) = reference.sample(self.index / cost.substeps()) else { continue };
            let slopes = self.slopes(reference.output);
            derivatives.iter_mut().zip(slopes).for_each(|(entry, slope)| *entry = slope / reference.deviation);
            let output = reference.output;
            let residual = self.outputs[output].difference(self.y[output], value) / reference.deviation;
            let rooted = cost.losses()[place].root(residual);
            visit(&ResidualRow { reference: place, weight, residual, rooted, derivatives });
        }
    }
}

/// Cotangent times tangent.
fn product(bar: &StateVector, tangent: &StateVector) -> f64 {
    let parts = [
        (&bar.q, &tangent.q),
        (&bar.v, &tangent.v),
        (&bar.a, &tangent.a),
        (&bar.a_scheme, &tangent.a_scheme),
        (&bar.lambda, &tangent.lambda),
        (&bar.u, &tangent.u),
        (&bar.w, &tangent.w),
    ];
    parts.into_iter().map(|(bar, x)| bar.iter().zip(x).map(|(bar, x)| bar * x).sum::<f64>()).sum()
}
