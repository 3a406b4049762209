//! Sensors as stated: which outputs they show with a gain, a bias or late.

use super::measured::OfFile;
use super::recording::Recording;
use super::{OutputColumn, ParameterSetting, Specification};
use crate::{Error, Result};
use costate::cost::{LeastSquares, Reference, Sensor, Sensors};
use costate::shown::{rounded, shown};
use costate::{Parameter, Quantity, Signature, Simulation};
use costate_data::TimeAxis;

/// Bounds of a delay where nothing is said of them, in samples to both sides.
const MOST: f64 = 5.0;

/// Effect of a sensor on an output; each has a parameter, called `gain_OUTPUT` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// A factor.
    Gain,
    /// A constant that is added.
    Bias,
    /// A delay, s.
    Delay,
}

impl Effect {
    /// All effects.
    pub const ALL: [Effect; 3] = [Effect::Gain, Effect::Bias, Effect::Delay];

    /// Name of the effect in files.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Gain => "gain",
            Effect::Bias => "bias",
            Effect::Delay => "delay",
        }
    }

    /// The name of its parameter.
    fn parameter(self, output: &str) -> String {
        format!("{}_{output}", self.name())
    }
}

impl std::str::FromStr for Effect {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Effect::ALL.map(Effect::name);
        let found = Effect::ALL.into_iter().find(|effect| effect.name() == name);
        found.ok_or_else(|| Error::unknown("effect of a sensor", name, "`sensor`", known))
    }
}

impl OutputColumn {
    fn has_sensor(&self) -> bool {
        !self.sensor.is_empty() || self.low_pass.is_some() || self.every.is_some() || self.spectrum.is_some()
    }
}

impl Specification {
    /// Sensors of the outputs that have one, with their parameters as stated; `references` are in the order of `outputs`.
    pub(super) fn sensors(
        &self,
        simulation: &Simulation,
        outputs: &[OfFile<OutputColumn>],
        references: &[Reference],
        recording: &Recording<'_>,
    ) -> Result<Sensors> {
        let signature = simulation.signature();
        let mut sensors = Vec::new();
        let with_sensor = outputs.iter().zip(references).filter(|((_, column), _)| column.has_sensor());
        for ((part, column), reference) in with_sensor {
            let axis = &recording.parts[*part].axis;
            let quantity = &signature.outputs[reference.output];
            if column.every == Some(0) {
                let place = format!("`every` of output `{}`", column.output);
                let error = Error::invalid(place, "it is 0", "give 1 for all samples, 2 for every second, ..");
                return Err(error.under(&["outputs", &column.output]));
            }
            let every = column.every.unwrap_or(1);
            let mut sensor = Sensor { low_pass: column.low_pass, every, ..Sensor::new(reference.output) };
            if let Some(setting) = &column.spectrum {
                let spectrum = setting.spectrum(simulation, &recording.parts[*part]);
                sensor.spectrum =
                    Some(spectrum.map_err(|error| error.under(&["outputs", &column.output, "spectrum"]))?);
            }
            for effect in &column.sensor {
                let parameter = self.stated_of(effect_on(*effect, quantity, reference, axis), signature);
                let parameter = parameter.map_err(|error| error.under(&["outputs", &column.output]))?;
                match effect {
                    Effect::Gain => sensor.gain = Some(parameter),
                    Effect::Bias => sensor.bias = Some(parameter),
                    Effect::Delay => sensor.delay = Some(parameter),
                }
            }
            sensors.push(sensor);
        }
        Ok(Sensors::new(sensors)?)
    }

    /// Names of all sensors' parameters.
    pub fn of_sensors(&self) -> impl Iterator<Item = String> {
        let sources = self.data.iter().chain(self.experiments.iter().map(|experiment| &experiment.data));
        let columns = sources.flat_map(|source| source.outputs.iter().flatten());
        columns.flat_map(|column| column.sensor.iter().map(|effect| effect.parameter(&column.output)))
    }

    /// The parameter with what is said of it.
    fn stated_of(&self, mut parameter: Parameter, signature: &Signature) -> Result<Parameter> {
        if signature.parameters.iter().any(|own| own.name == parameter.name) {
            let what = format!("the sensor's parameter `{}`", parameter.name);
            let problem = format!("{} has one of this name", signature.place());
            return Err(Error::invalid(what, problem, "rename the model's"));
        }
        let settings = self.parameters.iter().chain(&self.overriding);
        let own: Vec<&ParameterSetting> = settings.filter(|setting| setting.name == parameter.name).collect();
        let mut start = parameter.nominal;
        own.into_iter().for_each(|setting| setting.apply(&mut parameter, &mut start));
        parameter.nominal = start;
        Ok(parameter)
    }
}

/// The parameter of an effect where nothing is said of it.
fn effect_on(effect: Effect, quantity: &Quantity, reference: &Reference, axis: &TimeAxis) -> Parameter {
    let name = effect.parameter(&quantity.name);
    match effect {
        Effect::Gain => Parameter::new(name, "1", 1.0),
        Effect::Bias => {
            let samples: Vec<f64> = reference.samples().collect();
            let own = quantity.spread(samples.iter().copied());
            let size = [own.deviation, own.mean.abs(), 1.0].into_iter().find(|size| *size > 0.0 && size.is_finite());
            Parameter { size, ..Parameter::new(name, quantity.unit.clone(), 0.0) }
        }
        Effect::Delay => {
            let step = axis.usual_step();
            Parameter::new(name, "s", 0.0).bounds(-MOST * step, MOST * step).size(step)
        }
    }
}

/// Sentences on what sensors do to the comparison.
pub(super) fn remarks(signature: &Signature, cost: &LeastSquares, times: &[f64]) -> Vec<String> {
    let mut remarks = weights_of_few(signature, cost);
    for sensor in cost.sensors().all() {
        let name = &signature.outputs[sensor.output].name;
        let own = cost.sensors().own_times(sensor.output, times);
        if let Some(spectrum) = cost.sensors().spectrum(sensor.output) {
            remarks.push(format!("of `{name}` {} are compared in the place of samples", spectrum.described()));
            continue;
        }
        if let Some(delay) = &sensor.delay {
            let there = cost.sensors().comparable(sensor.output, times);
            let (before, after) = (there.start, own.len() - there.end);
            remarks.push(format!(
                "`{name}` is compared without its first {before} and last {after} samples, where a delay of {} s to {} s leads \
                 out of the record",
                shown(delay.lower),
                shown(delay.upper),
            ));
        }
        if let (Some(frequency), Some(all)) = (sensor.low_pass, own.len().checked_sub(1)) {
            let step = (own[all] - own[0]) / all as f64;
            // where the autocorrelation of filtered white noise has fallen below a twentieth
            let apart = (0.65 / (frequency * step)).ceil() as usize;
            if sensor.every < apart && apart < own.len() {
                remarks.push(format!(
                    "the filter of {} Hz makes neighbouring residuals of `{name}` depend on each other, for which standard errors \
                     are too small: compare every {apart}th sample (every = {apart})",
                    shown(frequency),
                ));
            }
        }
    }
    remarks
}

/// Outputs with values in few rows of a record whose samples weigh as long as its rows: the integral over time that the weights mean is not that of such an
/// output.
fn weights_of_few(signature: &Signature, cost: &LeastSquares) -> Vec<String> {
    /// Less than this part of the time is told.
    const MOST: f64 = 0.9;
    let weights = cost.weights();
    if weights.windows(2).all(|pair| pair[0] == pair[1]) {
        return Vec::new();
    }
    let total: f64 = weights.iter().sum();
    let remark = |reference: &Reference| {
        let own: f64 = cost.samples(reference).map(|i| weights[i]).sum();
        let is_spectrum = cost.spectrum(reference).is_some();
        (own < MOST * total && !is_spectrum).then(|| {
            format!(
                "the weights of `{}` are those of all rows of the record, and it is compared in few: they add up to {} s of {} s, and it counts as \
                 much less beside other outputs as an integral over time; weights = \"unit\" counts each sample once",
                signature.outputs[reference.output].name,
                rounded(own, 3),
                rounded(total, 3)
            )
        })
    };
    cost.references().iter().filter_map(remark).collect()
}
