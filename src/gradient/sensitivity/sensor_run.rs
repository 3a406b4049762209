//! Sensors between a run and its cost: what the cost sees of an output at a time depends on several times of the run, and on parameters
//! of the sensors' own. So a stored run is looked at once before it is differentiated.

use super::hessian::SweepDirections;
use super::{Gradient, sample};
use crate::cost::Sensors;
use crate::cost::sensor::{PLAIN, Reading};
use crate::cost::spectrum::Spectral;
use crate::cost::stencil::Stencil;
use crate::memory::FEWER_STEPS;
use crate::simulate::{Simulation, Workspace};
use crate::system::StateVector;
use crate::{Error, Result, memory};

/// Values of sensors over a run, with their derivatives along directions.
pub(super) struct SensorRun<'p> {
    pub sensors: &'p Sensors,
    /// Values of the run at hand.
    pub run: SensorHistories,
    /// Derivatives of the run along directions.
    pub along: Vec<SensorHistories>,
}

/// Values of one run, or derivatives of them: by time for each sensor.
#[derive(Default)]
pub(super) struct SensorHistories {
    /// The sensors' parameters.
    pub own: Vec<f64>,
    /// Outputs.
    pub y: Vec<Vec<f64>>,
    /// Values that the sensors show of the outputs.
    z: Vec<Vec<f64>>,
    /// Spectra of sensors of which a spectrum is compared.
    spectra: Vec<Spectral>,
    /// The cost by what they show.
    z_bar: Vec<Vec<f64>>,
    /// The cost by the outputs.
    y_bar: Vec<Vec<f64>>,
    /// The cost by the sensors' parameters.
    pub own_bar: Vec<f64>,
}

impl SensorHistories {
    fn of(sensors: &Sensors, simulation: &Simulation) -> Result<Self> {
        let (count, times) = (sensors.all().len(), simulation.grid().count() + 1);
        let series = || -> Result<Vec<Vec<f64>>> {
            let one = |_| -> Result<Vec<f64>> {
                let mut values = Vec::new();
                memory::reserve(&mut values, times, || simulation.kept("what sensors show"), FEWER_STEPS)?;
                values.resize(times, 0.0);
                Ok(values)
            };
            (0..count).map(one).collect()
        };
        let own = vec![0.0; sensors.parameters().len()];
        let spectra = vec![Spectral::default(); count];
        let (y, z, z_bar, y_bar) = (series()?, series()?, series()?, series()?);
        Ok(SensorHistories { own: own.clone(), y, z, spectra, z_bar, y_bar, own_bar: own })
    }

    /// Puts the values that sensors show at time `i` in the place of outputs.
    pub fn show(&self, sensors: &Sensors, i: usize, y: &mut [f64]) {
        sensors.all().iter().zip(&self.z).for_each(|(sensor, z)| y[sensor.output] = z[i]);
    }

    /// The spectrum of what sensor `k` shows, if one is compared.
    pub fn spectrum(&self, k: usize) -> &Spectral {
        &self.spectra[k]
    }

    /// Value that sensor `k` shows at time `i`.
    pub fn shown(&self, k: usize, i: usize) -> f64 {
        self.z[k][i]
    }

    /// The cost by outputs at time `i`, in the place of that by what sensors show of them.
    pub fn pull_back(&self, sensors: &Sensors, i: usize, y_bar: &mut [f64]) {
        sensors.all().iter().zip(&self.y_bar).for_each(|(sensor, own)| y_bar[sensor.output] = own[i]);
    }
}

impl<'p> SensorRun<'p> {
    pub fn new(sensors: &'p Sensors, simulation: &Simulation) -> Result<Self> {
        Ok(SensorRun { sensors, run: SensorHistories::of(sensors, simulation)?, along: Vec::new() })
    }

    /// Takes down the outputs of the run, or of a direction, at time `i`.
    pub fn watch(histories: &mut SensorHistories, sensors: &Sensors, i: usize, y: &[f64]) {
        sensors.all().iter().zip(&mut histories.y).for_each(|(sensor, own)| own[i] = y[sensor.output]);
    }

    /// Places in the signature, and readings, of each sensor.
    fn readings(&self, own: &[f64], without: Reading) -> Vec<Reading> {
        (0..self.sensors.all().len()).map(|k| self.sensors.reading(k, own, without)).collect()
    }

    /// z = gain · y(t - delay) + bias, filtered.
    fn show(&mut self, times: &[f64]) {
        let readings = self.readings(&self.run.own, PLAIN);
        for (k, Reading { gain, bias, delay }) in readings.into_iter().enumerate() {
            for i in self.sensors.samples(times) {
                self.run.z[k][i] = gain * Stencil::at(times, i, delay).apply(&self.run.y[k], 0) + bias;
            }
            self.sensors.see(k, &mut self.run.z[k], &mut self.run.spectra[k]);
        }
    }

    /// Pulls derivatives of the cost by z back to those by y and by the sensors' parameters.
    fn pull_back(&mut self, times: &[f64]) {
        let readings = self.readings(&self.run.own, PLAIN);
        let SensorRun { sensors, run, .. } = self;
        run.own_bar.fill(0.0);
        for (k, Reading { gain, delay, .. }) in readings.into_iter().enumerate() {
            run.y_bar[k].fill(0.0);
            sensors.pull_back(k, &mut run.z_bar[k], &mut run.spectra[k]);
            let mut by = Reading::default();
            for i in sensors.samples(times) {
                let (stencil, z_bar) = (Stencil::at(times, i, delay), run.z_bar[k][i]);
                stencil.add(gain * z_bar, 0, &mut run.y_bar[k]);
                by.gain += z_bar * stencil.apply(&run.y[k], 0);
                by.bias += z_bar;
                by.delay += z_bar * gain * stencil.apply(&run.y[k], 1);
            }
            sensors.add(k, by, &mut run.own_bar);
        }
    }

    /// z along direction `d`.
    fn show_along(&mut self, d: usize, times: &[f64]) {
        let readings = self.readings(&self.run.own, PLAIN);
        let changes = self.readings(&self.along[d].own, Reading::default());
        for (k, (at, change)) in readings.into_iter().zip(changes).enumerate() {
            let (y, along) = (&self.run.y[k], &mut self.along[d]);
            for i in self.sensors.samples(times) {
                let stencil = Stencil::at(times, i, at.delay);
                along.z[k][i] = change.gain * stencil.apply(y, 0)
                    + at.gain * change.delay * stencil.apply(y, 1)
                    + at.gain * stencil.apply(&along.y[k], 0)
                    + change.bias;
            }
            self.sensors.see_along(k, &mut along.z[k], &self.run.spectra[k], &mut along.spectra[k]);
        }
    }

    /// The derivative of [`SensorRun::pull_back`] along direction `d`.
    fn pull_back_along(&mut self, d: usize, times: &[f64]) {
        let readings = self.readings(&self.run.own, PLAIN);
        let changes = self.readings(&self.along[d].own, Reading::default());
        let SensorRun { sensors, run, along } = self;
        let along = &mut along[d];
        along.own_bar.fill(0.0);
        for (k, (at, change)) in readings.into_iter().zip(changes).enumerate() {
            along.y_bar[k].fill(0.0);
            sensors.pull_back_along(k, &mut along.z_bar[k], &run.spectra[k], &mut along.spectra[k]);
            let mut by = Reading::default();
            for i in sensors.samples(times) {
                let stencil = Stencil::at(times, i, at.delay);
                let (z_bar, z_bar_dot) = (run.z_bar[k][i], along.z_bar[k][i]);
                let y = |order: usize| stencil.apply(&run.y[k], order);
                let y_dot = |order: usize| stencil.apply(&along.y[k], order);
                stencil.add(at.gain * z_bar_dot + change.gain * z_bar, 0, &mut along.y_bar[k]);
                stencil.add(at.gain * change.delay * z_bar, 1, &mut along.y_bar[k]);
                by.gain += z_bar_dot * y(0) + z_bar * (y_dot(0) + change.delay * y(1));
                by.bias += z_bar_dot;
                by.delay += z_bar_dot * at.gain * y(1)
                    + z_bar * (change.gain * y(1) + at.gain * (y_dot(1) + change.delay * y(2)));
            }
            sensors.add(k, by, &mut along.own_bar);
        }
    }
}

impl<'p> Gradient<'p> {
    /// The model's parameters, and those of the sensors.
    pub(super) fn split<'u>(&self, u: &'u [f64]) -> Result<(&'u [f64], &'u [f64])> {
        let Some(sensor_run) = &self.sensor_run else { return Ok((u, &[])) };
        let (own, model) = (sensor_run.sensors.parameters().len(), self.bar.u.len());
        match u.len() == model + own {
            true => Ok(u.split_at(model)),
            false => {
                let problem = format!("{} values are given for {model} of the model and {own} of sensors", u.len());
                Err(Error::invalid("the parameters", problem, "give one value a parameter"))
            }
        }
    }

    /// A stored run at `u`, seen by its sensors, if there are any.
    pub(super) fn ensure_seen(&mut self, u: &[f64]) -> Result<()> {
        let (model, own) = self.split(u)?;
        self.workspace.ensure_stored(model)?;
        self.see(model, own).map(|_| ())
    }

    /// Looks at the stored run: what sensors show, the cost of it, and how it depends on the outputs. The cost; 0 without sensors.
    pub(super) fn see(&mut self, u: &[f64], own: &[f64]) -> Result<f64> {
        let Some(sensor_run) = &mut self.sensor_run else { return Ok(0.0) };
        sensor_run.run.own.copy_from_slice(own);
        let simulation = self.workspace.simulation.given();
        let times = simulation.grid().times();
        let last = simulation.grid().count();
        let (cost, y, y_bar, continuous) = (&mut self.cost, &mut self.y, &mut self.y_bar, &mut self.continuous);
        let workspace = &mut self.workspace;
        workspace.forget_orders();
        continuous.restart();
        for i in 0..=last {
            workspace.reach(simulation.step_of(i))?;
            let Workspace { simulation, states, evaluator, room, .. } = workspace;
            evaluator.output(&states.view(i, simulation, room), y);
            continuous.follow(y);
            SensorRun::watch(&mut sensor_run.run, sensor_run.sensors, i, y);
        }
        sensor_run.show(times);
        continuous.restart();
        let mut scratch = StateVector::zeros(simulation.signature());
        let mut total = 0.0;
        for i in 0..=last {
            if !continuous.any() && !cost.concerns(i, last) {
                continue;
            }
            workspace.reach(simulation.step_of(i))?;
            let Workspace { simulation: driven, states, evaluator, room, .. } = &mut *workspace;
            let x = states.view(i, driven, room);
            evaluator.output(&x, y);
            continuous.follow(y);
            if !cost.concerns(i, last) {
                continue;
            }
            sensor_run.run.show(sensor_run.sensors, i, y);
            let sample = sample(simulation, i, &x, y, u);
            total += cost.value(&sample);
            y_bar.fill(0.0);
            cost.gradient(&sample, &mut scratch, y_bar);
            let all = sensor_run.sensors.all().iter().zip(&mut sensor_run.run.z_bar);
            all.for_each(|(sensor, own)| own[i] = y_bar[sensor.output]);
        }
        sensor_run.pull_back(times);
        Ok(total)
    }

    /// Gets ready to be shown outputs along so many directions.
    pub(super) fn begin_along(&mut self, own: &[&[f64]]) -> Result<()> {
        let simulation = self.workspace.simulation.given();
        let Some(sensor_run) = &mut self.sensor_run else { return Ok(()) };
        let histories_along = |own: &&[f64]| {
            Ok(SensorHistories { own: own.to_vec(), ..SensorHistories::of(sensor_run.sensors, simulation)? })
        };
        sensor_run.along = own.iter().map(histories_along).collect::<Result<_>>()?;
        Ok(())
    }

    /// Once outputs along all directions have been shown: how the cost's dependence on the outputs changes along each.
    pub(super) fn see_along(&mut self, u: &[f64], along: &mut SweepDirections<'_>) -> Result<()> {
        let Some(sensor_run) = &mut self.sensor_run else { return Ok(()) };
        let simulation = self.workspace.simulation.given();
        let (times, last) = (simulation.grid().times(), simulation.grid().count());
        let (cost, y, y_bar) = (&mut self.cost, &mut self.y, &mut self.y_bar);
        let zero = StateVector::zeros(simulation.signature());
        let (mut scratch, mut y_tangent) = (zero.clone(), vec![0.0; y.len()]);
        for d in 0..sensor_run.along.len() {
            sensor_run.show_along(d, times);
            for i in 0..=last {
                if !cost.concerns(i, last) {
                    continue;
                }
                self.workspace.reach_with(simulation.step_of(i), along)?;
                let Workspace { simulation: driven, states, room, .. } = &mut self.workspace;
                let x = states.view(i, driven, room);
                // costs of outputs that sensors show are sums of squares of them: nothing else is asked for
                y.fill(0.0);
                sensor_run.run.show(sensor_run.sensors, i, y);
                let sample = sample(simulation, i, &x, y, u);
                y_tangent.fill(0.0);
                sensor_run.along[d].show(sensor_run.sensors, i, &mut y_tangent);
                y_bar.fill(0.0);
                cost.curvature(&sample, &zero, &y_tangent, &mut scratch, y_bar);
                let all = sensor_run.sensors.all().iter().zip(&mut sensor_run.along[d].z_bar);
                all.for_each(|(sensor, own)| own[i] = y_bar[sensor.output]);
            }
            sensor_run.pull_back_along(d, times);
        }
        Ok(())
    }
}
