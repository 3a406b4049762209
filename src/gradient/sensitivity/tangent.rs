//! Direct differentiation: tangents of every state, through the same step equation.

use super::hessian::{Change, take_inputs_along};
use super::sensor_run::SensorRun;
use super::{Gradient, add_cost, sample};
use crate::cost::LeastSquares;
use crate::cost::sensor::{PLAIN, Reading};
use crate::cost::spectrum::Spectral;
use crate::cost::stencil::Stencil;
use crate::least_squares::{Linearised, Reduction};
use crate::memory::{FEWER_STEPS, bytes_of};
use crate::signature::Quantity;
use crate::simulate::{Between, Keep, Workspace};
use crate::system::{Evaluator, OutputPoint, StateVector};
use crate::{Error, Result, memory};

/// Gives tangents the changes of the inputs in the row of a time, and in another one that a step sees.
type TangentInputs<'f> = dyn Fn((usize, Option<usize>), &mut [StateVector]) + 'f;

/// A visitor of each time: number of the time, evaluator, state, tangents.
type TangentVisitor<'v> = dyn FnMut(usize, &mut dyn Evaluator, &OutputPoint<'_>, &mut [StateVector]) + 'v;

impl Workspace<'_> {
    /// Carries tangents along the stored run; directions are in the tangents' parameter parts, and `inputs` gives those of the inputs at
    /// each time.
    pub(crate) fn push_forward(
        &mut self,
        tangents: &mut [StateVector],
        inputs: &TangentInputs<'_>,
        visit: &mut TangentVisitor<'_>,
    ) -> Result<()> {
        self.forget_orders();
        let given = self.simulation.given();
        inputs(given.rows_of(0), tangents);
        self.push_start(tangents)?;
        self.reach(0)?;
        visit(0, &mut *self.evaluator, &self.states.view(0, &self.simulation, &mut self.room), tangents);
        // tangents at the beginning of a step, and between its ends
        let [mut before, mut between_steps] =
            [(); 2].map(|()| if given.reads_steps_alone() { vec![] } else { tangents.to_vec() });
        self.push_step(0, tangents)?;
        for k in 1..=given.steps() {
            self.reach(k)?;
            inputs(given.rows_of(k), tangents);
            self.push_step(k, tangents)?;
            for i in given.end_of(k - 1) + 1..given.end_of(k) {
                let Some(between) = Between::of(given, i, k) else { continue };
                let ends = before.iter().zip(&*tangents);
                between_steps.iter_mut().zip(ends).for_each(|(x, (before, after))| between.tangent(before, after, x));
                inputs((i, None), &mut between_steps);
                let x = self.states.view(i, &self.simulation, &mut self.room);
                visit(i, &mut *self.evaluator, &x, &mut between_steps);
            }
            let x = self.states.view(given.end_of(k), &self.simulation, &mut self.room);
            visit(given.end_of(k), &mut *self.evaluator, &x, tangents);
            before.iter_mut().zip(&*tangents).for_each(|(before, after)| before.clone_from(after));
        }
        Ok(())
    }

    /// Makes tangents of the start of the stored run from their parameters.
    pub(super) fn push_start(&mut self, tangents: &mut [StateVector]) -> Result<()> {
        let simulation = &self.simulation;
        let start = self.states.start(simulation.grid().time(0), simulation.inputs_at(0));
        // a stored run always has its start
        match &mut self.start {
            Some(f_0) => f_0.push_forward(&mut *self.evaluator, simulation.signature(), &start, tangents),
            None => Ok(()),
        }
    }

    /// Carries tangents along step `i`, whose states are there; 0 is what the scheme makes of the start.
    pub(super) fn push_step(&mut self, i: usize, tangents: &mut [StateVector]) -> Result<()> {
        let simulation = &self.simulation;
        Workspace::go_on(&self.interrupt, simulation.grid(), simulation.end_of(i))?;
        let step = simulation.step(i);
        self.states.give(&step, &mut self.stepper);
        self.counters.factorisations += 1;
        self.stepper.push_forward(&mut *self.evaluator, simulation.signature(), &step, tangents)
    }
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
            along.iter().map(|along| StateVector { u: along.u[..zero.u.len()].to_vec(), ..zero.clone() }).collect();
        let mut slopes = vec![0.0; along.len()];
        self.ensure_seen(u)?;
        let inputs = |i: (usize, Option<usize>), tangents: &mut [StateVector]| {
            take_inputs_along(i, along, tangents.iter_mut());
        };
        let (model, _) = self.split(u)?;
        let cost = self.cost_tangents(model, &mut tangents, &inputs, &mut slopes)?;
        if let Some(sensor_run) = &self.sensor_run {
            for (slope, along) in slopes.iter_mut().zip(along) {
                let own = sensor_run.run.own_bar.iter().zip(&along.u[model.len()..]);
                *slope += own.map(|(bar, along)| bar * along).sum::<f64>();
            }
        }
        Ok((cost, slopes))
    }

    pub(super) fn tangent_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let (model, own) = self.split(u)?;
        self.workspace.forward(model, Keep::States, &mut |_, _, _| {})?;
        self.see(model, own)?;
        self.choose(u)?;
        self.make_tangents()?;
        let mut tangents = std::mem::take(&mut self.tangents);
        let mut slopes = vec![0.0; tangents.len()];
        let total = self.cost_tangents(model, &mut tangents, &|_, _| {}, &mut slopes);
        self.tangents = tangents;
        gradient.fill(0.0);
        if let Some(sensor_run) = &self.sensor_run {
            gradient[model.len()..].copy_from_slice(&sensor_run.run.own_bar);
            self.clear_inactive(gradient);
        }
        self.active.iter().zip(slopes).for_each(|(&k, slope)| gradient[k] = slope);
        total
    }

    /// The cost of the stored run, and its derivatives along tangents.
    fn cost_tangents(
        &mut self,
        u: &[f64],
        tangents: &mut [StateVector],
        inputs: &TangentInputs<'_>,
        slopes: &mut [f64],
    ) -> Result<f64> {
        let simulation = self.workspace.simulation.given();
        let last = simulation.grid().count();
        let (cost, y, y_bar, bar) = (&mut *self.cost, &mut self.y, &mut self.y_bar, &mut self.bar);
        let (continuous, sensor_run) = (&mut self.continuous, self.sensor_run.as_ref());
        continuous.restart();
        let mut total = 0.0;
        self.workspace.push_forward(tangents, inputs, &mut |i, evaluator, x, tangents| {
            let concerned = cost.concerns(i, last);
            if concerned || continuous.any() {
                evaluator.output(x, y);
                continuous.follow(y);
            }
            if !concerned && sensor_run.is_none() {
                return;
            }
            if let Some(SensorRun { sensors, run, .. }) = sensor_run {
                run.show(sensors, i, y);
            }
            let sample = sample(simulation, i, x, y, u);
            total += if concerned { cost.value(&sample) } else { 0.0 };
            bar.clear_state();
            bar.u.fill(0.0);
            bar.w.fill(0.0);
            add_cost((cost, sensor_run), evaluator, &sample, bar, y_bar);
            for (slope, tangent) in slopes.iter_mut().zip(tangents) {
                *slope += product(bar, tangent);
            }
        })?;
        if !total.is_finite() {
            let (time, step) = (simulation.grid().end(), last);
            return Err(Error::NotFinite { quantity: "the cost".into(), value: total, time, step });
        }
        Ok(total)
    }
}

/// One residual of a least-squares cost, with its derivatives.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ResidualRow<'a> {
    /// Place of the reference in the cost.
    pub reference: usize,
    /// The weight η of the sample.
    pub weight: f64,
    /// Residual (y - ȳ)/σ, without η; y - ȳ up to whole periods of the output.
    pub residual: f64,
    /// The residual's root in a sum of squares, and the root's derivative by the residual: the residual itself and 1, but for a robust
    /// [loss](crate::cost::Loss).
    pub rooted: (f64, f64),
    /// Derivatives of the residual with respect to all parameters.
    pub derivatives: &'a [f64],
}

impl ResidualRow<'_> {
    /// Adds the residual, weighted and as its loss has it, to a reduction.
    pub fn add_to(&self, reduction: &mut Reduction) {
        let (root, (residual, factor)) = (self.weight.sqrt(), self.rooted);
        reduction.add_scaled(root * factor, self.derivatives, root * residual);
    }
}

impl Gradient<'_> {
    /// Residuals and their Jacobian at `u`, reduced: for costs that are least squares. Residuals are
    /// √η_i (y_k(t_i) - ȳ_k,i) / σ_k, or what a robust loss makes of them.
    ///
    /// # Errors
    /// If the cost is no least-squares cost, or the simulation fails.
    pub fn linearise(&mut self, u: &[f64], cost: &LeastSquares) -> Result<Linearised> {
        let mut reduction = Reduction::new(u.len());
        self.residual_rows(u, cost, &mut |row| row.add_to(&mut reduction))?;
        let linearised = reduction.finish();
        if linearised.cost().is_finite() {
            return Ok(linearised);
        }
        let last = self.workspace.simulation.grid().count();
        let time = self.workspace.simulation.grid().end();
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
        self.residuals_and_outputs(u, cost, &|_| false, &mut |seen| {
            if let Seen::Residual(row) = seen {
                visit(&row);
            }
        })
    }

    /// Shows every residual as [`Gradient::residual_rows`], those of outputs with sensors last; and outputs at times that are `wanted`.
    pub fn residuals_and_outputs(
        &mut self,
        u: &[f64],
        cost: &LeastSquares,
        wanted: &dyn Fn(usize) -> bool,
        visit: &mut dyn FnMut(Seen<'_>),
    ) -> Result<()> {
        let mut derivatives = vec![0.0; u.len()];
        let mut slopes = SensorSlopes::room(self, cost, u.len())?;
        let has_sensors = !slopes.0.is_empty();
        let taken = |i: usize| has_sensors || cost.weight_at(i) != 0.0 || wanted(i);
        let is_compared = |j: usize| cost.references().iter().any(|reference| reference.output == j);
        let compared: Vec<usize> = (0..self.y.len()).filter(|j| is_compared(*j)).collect();
        // reference, time and parameter of the first derivative that is no number
        let mut wrong: Option<(usize, usize, usize)> = None;
        self.output_slopes(u, &taken, &|i| if wanted(i) { None } else { Some(&compared) }, &mut |x| {
            slopes.take(cost, x);
            x.residual_rows(cost, &mut derivatives, &mut |row| {
                if wrong.is_none()
                    && row.residual.is_finite()
                    && let Some(k) = row.derivatives.iter().position(|slope| !slope.is_finite())
                {
                    wrong = Some((row.reference, x.index, k));
                }
                visit(Seen::Residual(*row));
            });
            if wanted(x.index) {
                visit(Seen::Outputs(*x));
            }
        })?;
        if let Some((reference, i, k)) = wrong {
            let given = self.workspace.simulation.given();
            let (signature, time) = (given.signature(), given.grid().time(i));
            let output = &cost.quantity(&cost.references()[reference], signature).name;
            let by =
                signature.parameters.get(k).map_or(String::new(), |own| format!(" with respect to `{}`", own.name));
            let quantity = format!("the derivative of the output `{output}`{by}");
            return Err(Error::NotFinite { quantity, value: f64::NAN, time, step: i });
        }
        self.sensor_rows(cost, &mut slopes, &mut derivatives, visit)
    }

    /// The residuals of outputs with sensors, of the run that was seen last.
    fn sensor_rows(
        &self,
        cost: &LeastSquares,
        slopes: &mut SensorSlopes,
        row: &mut [f64],
        visit: &mut dyn FnMut(Seen<'_>),
    ) -> Result<()> {
        let Some(SensorRun { sensors, run, .. }) = &self.sensor_run else { return Ok(()) };
        let simulation = self.workspace.simulation.given();
        for (place, reference) in cost.references().iter().enumerate() {
            let Some(k) = sensors.of(reference.output) else { continue };
            let output = cost.quantity(reference, simulation.signature());
            let columns = self.sensor_columns(k, slopes);
            for sample in cost.samples(reference) {
                let i = cost.places().of(sample);
                row.iter_mut().zip(&columns).for_each(|(entry, column)| *entry = column[i] / reference.deviation);
                self.clear_inactive(row);
                let residual = output.difference(run.shown(k, i), reference.values[sample]) / reference.deviation;
                let weight = cost.weight_at(i);
                visit(Seen::Residual(ResidualRow {
                    reference: place,
                    weight,
                    residual,
                    rooted: cost.losses()[place].root(residual),
                    derivatives: row,
                }));
            }
        }
        Ok(())
    }

    /// Takes rows, one a residual of a reference with a spectrum, back to the samples that its lines are made of, for the run that was seen last: shows one
    /// row R a sample, so that Σ RᵀR is the covariance of the sum of all rows given, each times the noise of its residual, where samples have white noise
    /// and residuals have the variance 1. Without a spectrum, nothing is shown.
    pub fn rows_of_noise(
        &self,
        cost: &LeastSquares,
        reference: usize,
        rows: &[Vec<f64>],
        visit: &mut dyn FnMut(&[f64]),
    ) {
        let (Some(SensorRun { sensors, run, .. }), Some(first)) = (&self.sensor_run, rows.first()) else { return };
        let reference = &cost.references()[reference];
        let (Some(k), Some(spectrum)) = (sensors.of(reference.output), sensors.spectrum(reference.output)) else {
            return;
        };
        let (count, noise) = (self.workspace.simulation.given().grid().count() + 1, spectrum.noise());
        let mut at = run.spectrum(k).clone();
        let column = |j: usize| {
            let mut values = vec![0.0; count];
            cost.samples(reference).zip(rows).for_each(|(sample, row)| values[cost.places().of(sample)] = row[j]);
            sensors.pull_back(k, &mut values, &mut at);
            values
        };
        let columns: Vec<Vec<f64>> = (0..first.len()).map(column).collect();
        let mut row = vec![0.0; first.len()];
        for i in 0..count {
            row.iter_mut().zip(&columns).for_each(|(entry, column)| *entry = column[i] / noise);
            if row.iter().any(|entry| *entry != 0.0) {
                visit(&row);
            }
        }
    }

    /// Derivatives of what sensor `k` shows at all times, by each parameter; of the outputs' slopes nothing is left.
    fn sensor_columns(&self, k: usize, slopes: &mut SensorSlopes) -> Vec<Vec<f64>> {
        let Some(SensorRun { sensors, run, .. }) = &self.sensor_run else { return Vec::new() };
        let times = self.workspace.simulation.given().grid().times();
        let Reading { gain, delay, .. } = sensors.reading(k, &run.own, PLAIN);
        let slopes = std::mem::take(&mut slopes.0[k]);
        let mut own = vec![0.0; sensors.parameters().len()];
        let mut columns = vec![vec![0.0; times.len()]; slopes.len() + own.len()];
        for i in sensors.samples(times) {
            let stencil = Stencil::at(times, i, delay);
            own.fill(0.0);
            let y = |order: usize| stencil.apply(&run.y[k], order);
            sensors.add(k, Reading { gain: y(0), bias: 1.0, delay: gain * y(1) }, &mut own);
            let of_model = slopes.iter().map(|slopes| gain * stencil.apply(slopes, 0));
            let all = of_model.chain(own.iter().copied());
            columns.iter_mut().zip(all).for_each(|(column, entry)| column[i] = entry);
        }
        let (at, mut along) = (run.spectrum(k), Spectral::default());
        columns.iter_mut().for_each(|column| sensors.see_along(k, column, at, &mut along));
        columns
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
        self.output_slopes(u, wanted, &|_| None, visit)
    }

    /// Shows outputs as [`Gradient::output_tangents`]; of times for which `needed` has a list, the derivatives of these outputs alone may be
    /// there.
    fn output_slopes<'n>(
        &mut self,
        u: &[f64],
        wanted: &dyn Fn(usize) -> bool,
        needed: &dyn Fn(usize) -> Option<&'n [usize]>,
        visit: &mut dyn FnMut(&OutputTangents<'_>),
    ) -> Result<()> {
        let (model, own) = self.split(u)?;
        self.workspace.forward(model, Keep::States, &mut |_, _, _| {})?;
        self.see(model, own)?;
        self.choose(u)?;
        let given = self.workspace.simulation.given();
        if given.scheme().description().of_given_motion && given.reads_steps_alone() {
            return self.slopes_time_by_time(u.len(), wanted, needed, visit);
        }
        self.make_tangents()?;
        let p = u.len();
        let active = &self.active;
        let outputs = &self.workspace.simulation.given().signature().outputs;
        let (y, continuous) = (&mut self.y, &mut self.continuous);
        continuous.restart();
        let mut slopes = vec![0.0; p * y.len()];
        let mut y_tangent = vec![0.0; y.len()];
        self.workspace.push_forward(&mut self.tangents, &|_, _| {}, &mut |i, evaluator, x, tangents| {
            let wanted = wanted(i);
            if wanted || continuous.any() {
                evaluator.output(x, y);
                continuous.follow(y);
            }
            if !wanted {
                return;
            }
            evaluator.linearise_output_for_tangents(x, tangents.len());
            for (&k, tangent) in active.iter().zip(tangents.iter()) {
                y_tangent.fill(0.0);
                evaluator.output_push_forward(tangent, &mut y_tangent);
                y_tangent.iter().enumerate().for_each(|(j, slope)| slopes[j * p + k] = *slope);
            }
            visit(&OutputTangents { index: i, y, outputs, slopes: &slopes });
        })
    }
}

impl Gradient<'_> {
    /// Shows outputs with their derivatives where every state follows from parameters and its own time alone: by adjoints that go back no
    /// farther, one an output, which are fewer than parameters.
    fn slopes_time_by_time<'n>(
        &mut self,
        p: usize,
        wanted: &dyn Fn(usize) -> bool,
        needed: &dyn Fn(usize) -> Option<&'n [usize]>,
        visit: &mut dyn FnMut(&OutputTangents<'_>),
    ) -> Result<()> {
        self.workspace.forget_orders();
        let given = self.workspace.simulation.given();
        let (signature, grid) = (given.signature(), given.grid());
        let zero = StateVector::with_memory(signature, self.workspace.layout.memory);
        let every: Vec<usize> = (0..self.y.len()).collect();
        let mut bars = vec![zero.clone(); every.len()];
        let mut slopes = vec![0.0; p * every.len()];
        self.continuous.restart();
        for i in 0..=grid.count() {
            Workspace::go_on(&self.workspace.interrupt, grid, i)?;
            self.workspace.reach(i)?;
            let Workspace { simulation, states, evaluator, stepper, room, start: f_0, .. } = &mut self.workspace;
            let (simulation, evaluator) = (&*simulation, &mut **evaluator);
            let is_wanted = wanted(i);
            let x = states.view(i, simulation, room);
            if is_wanted || self.continuous.any() {
                evaluator.output(&x, &mut self.y);
                self.continuous.follow(&mut self.y);
            }
            if !is_wanted {
                continue;
            }
            let outputs = needed(i).unwrap_or(&every);
            let bars = &mut bars[..outputs.len()];
            evaluator.linearise_output(&x);
            for (bar, &j) in bars.iter_mut().zip(outputs) {
                bar.clone_from(&zero);
                self.y_bar.fill(0.0);
                self.y_bar[j] = 1.0;
                evaluator.output_pull_back(&self.y_bar, bar);
            }
            let step = simulation.step(i);
            states.give(&step, stepper);
            stepper.pull_all_back(evaluator, signature, &step, bars, &mut [])?;
            if let (0, Some(f_0)) = (i, f_0) {
                let start = states.start(step.t, step.w);
                bars.iter_mut().try_for_each(|bar| f_0.pull_back(evaluator, signature, &start, bar, &mut []))?;
            }
            // what is left at the time before cancels but for round-off: constraints alone give the motion
            for (bar, &j) in bars.iter().zip(outputs) {
                let own = &mut slopes[j * p..(j + 1) * p];
                self.active.iter().filter(|k| **k < bar.u.len()).for_each(|&k| own[k] = bar.u[k]);
            }
            self.workspace.counters.factorisations += 1;
            visit(&OutputTangents { index: i, y: &self.y, outputs: &signature.outputs, slopes: &slopes });
        }
        Ok(())
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
            // what sensors show depends on other times, too
            if cost.sensors().of(reference.output).is_some() {
                continue;
            }
            let Some(value) = cost.places().sample(self.index).and_then(|i| reference.sample(i)) else { continue };
            let slopes = self.slopes(reference.output);
            derivatives.iter_mut().zip(slopes).for_each(|(entry, slope)| *entry = slope / reference.deviation);
            let output = reference.output;
            let residual = self.outputs[output].difference(self.y[output], value) / reference.deviation;
            let rooted = cost.losses()[place].root(residual);
            visit(&ResidualRow { reference: place, weight, residual, rooted, derivatives });
        }
    }
}

/// An item of a run with tangents, as it is shown to a visitor.
pub enum Seen<'a> {
    /// A residual with its derivatives.
    Residual(ResidualRow<'a>),
    /// All outputs of one time with their derivatives.
    Outputs(OutputTangents<'a>),
}

/// Derivatives of outputs that have sensors: of each sensor, by each parameter of the model, at all times.
struct SensorSlopes(Vec<Vec<Vec<f64>>>);

impl SensorSlopes {
    fn room(gradient: &Gradient<'_>, cost: &LeastSquares, parameters: usize) -> Result<Self> {
        let simulation = gradient.workspace.simulation.given();
        let times = simulation.grid().count() + 1;
        let model = parameters.min(gradient.bar.u.len());
        let numbers = cost.sensors().all().len().saturating_mul(model).saturating_mul(times);
        let what = || simulation.kept("derivatives of what sensors show");
        memory::check(what, bytes_of(numbers), FEWER_STEPS)?;
        let of_sensor = |_| vec![vec![0.0; times]; model];
        Ok(SensorSlopes((0..cost.sensors().all().len()).map(of_sensor).collect()))
    }

    fn take(&mut self, cost: &LeastSquares, x: &OutputTangents<'_>) {
        for (sensor, own) in cost.sensors().all().iter().zip(&mut self.0) {
            own.iter_mut().zip(x.slopes(sensor.output)).for_each(|(own, slope)| own[x.index] = *slope);
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
