//! Sensors of outputs: z(t) = gain · y(t - delay) + bias, each of the three given or a parameter to be found; and a low-pass filter for
//! both what they show and what was measured.
//!
//! Between the times of a run, outputs follow cubic Hermite polynomials whose slopes are differences over five times (of fourth order;
//! fewer where the run has no five): once continuously differentiable by the delay.

use super::Reference;
use super::low_pass::LowPass;
use super::places::Places;
use super::spectrum::{self, Spectral, Spectrum, Transform};
use super::stencil::Stencil;
use crate::signature::{Parameter, Signature};
use crate::{Error, Result};
use std::ops::Range;

/// A sensor of one output: gain, bias, delay, filter, and the samples that are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Place of the output in the signature.
    pub output: usize,
    /// Factor of the output; 1 where there is none.
    pub gain: Option<Parameter>,
    /// Offset that is added, in the output's unit; 0 where there is none.
    pub bias: Option<Parameter>,
    /// Time by which the sensor shows later what has happened, s; 0 where there is none.
    pub delay: Option<Parameter>,
    /// The frequency, Hz, at which a low-pass filter without delay halves the amplitude, both of what it shows and of what was measured.
    pub low_pass: Option<f64>,
    /// Stride of the comparison: the first of every so many samples is compared; 1 for all.
    pub every: usize,
    /// Spectrum that is compared in the place of samples, behind all others of these.
    pub spectrum: Option<Spectrum>,
}

/// An output by its place, where its name is not known.
fn ordinal(output: usize) -> String {
    match output {
        0 => "first output".to_string(),
        1 => "second output".to_string(),
        2 => "third output".to_string(),
        _ => format!("{}th output", output + 1),
    }
}

impl Sensor {
    /// A sensor that shows an output as it is.
    pub fn new(output: usize) -> Self {
        Sensor { output, gain: None, bias: None, delay: None, low_pass: None, every: 1, spectrum: None }
    }

    /// Name of the sensor for messages.
    fn place(&self) -> String {
        match self.delay.iter().chain(self.parameters()).next() {
            Some(parameter) => format!("the sensor with `{}`", parameter.name),
            None => format!("the sensor of the {}", ordinal(self.output)),
        }
    }

    /// The sensor's low-pass filter for samples at `times`.
    fn filter(&self, frequency: f64, values: &[f64], times: &[f64]) -> Result<LowPass> {
        let what = || format!("the low-pass filter of {frequency} Hz");
        let step = spectrum::even_step(times).map_err(|problem| {
            let remedy = "choose a piece without gaps (`from`, `until`), resample the record, or leave the filter out";
            Error::invalid(what(), problem, remedy)
        })?;
        if let Some(i) = values.iter().position(|value| value.is_nan()) {
            let problem = format!("the sample at {} s is missing", times[i]);
            return Err(Error::invalid(what(), problem, "choose samples without gaps, or leave the filter out"));
        }
        let filter = LowPass::new(frequency, step, values.iter().sum::<f64>() / values.len() as f64)?;
        if filter.memory > times.len() / 2 {
            let (needed, length) = (2.0 * filter.memory as f64 * step, times.len() as f64 * step);
            let problem = format!(
                "it remembers too long for a record of {length} s: it takes {needed:.3e} s to begin and to end"
            );
            return Err(Error::invalid(what(), problem, "give a higher frequency, or a longer record"));
        }
        Ok(filter)
    }

    /// The parameters that the sensor has: gain, bias and delay as far as they are given.
    fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        [&self.gain, &self.bias, &self.delay].into_iter().flatten()
    }
}

/// Sensors of several outputs, with their parameters in one list: gain, bias and delay of the first, then of the next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sensors {
    sensors: Vec<Sensor>,
    parameters: Vec<Parameter>,
    /// Places of the samples among the times of the run.
    pub(super) places: Places,
    filters: Vec<Option<LowPass>>,
    spectra: Vec<Option<Transform>>,
    /// Places of the samples that an output's own record has among all samples; of those without, it has all.
    own: Vec<Option<Vec<usize>>>,
}

/// Values of a sensor's parameters, or derivatives by them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Reading {
    pub gain: f64,
    pub bias: f64,
    pub delay: f64,
}

impl Sensors {
    /// Sensors of different outputs, each.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an output has two, or a delay has no bounds: they say which samples can be compared at all.
    pub fn new(sensors: Vec<Sensor>) -> Result<Self> {
        for (k, sensor) in sensors.iter().enumerate() {
            if sensors[..k].iter().any(|other| other.output == sensor.output) {
                let what = format!("the sensors of the {}", ordinal(sensor.output));
                return Err(Error::invalid(what, "there are two of them", "give an output one sensor"));
            }
            if let Some(delay) = &sensor.delay
                && !(delay.lower.is_finite() && delay.upper.is_finite() && delay.lower <= delay.upper)
            {
                let problem = format!("its bounds are {} and {} s", delay.lower, delay.upper);
                let remedy = match delay.lower > delay.upper {
                    true => "give a lower one that is below the upper one",
                    false => "give finite ones: they say which samples can be compared at all",
                };
                return Err(Error::invalid(format!("the delay `{}`", delay.name), problem, remedy));
            }
        }
        let parameters = sensors.iter().flat_map(|sensor| sensor.parameters().cloned()).collect();
        let (filters, own) = (vec![None; sensors.len()], vec![None; sensors.len()]);
        let spectra = vec![None; sensors.len()];
        Ok(Sensors { sensors, parameters, places: Places::default(), filters, spectra, own })
    }

    /// Makes what was measured at `times` what can be compared with what sensors show: filtered, of deviations as after the filter, and
    /// NaN where it takes no part. `own`: places of the samples that each reference has, where it has not all.
    pub(super) fn prepare(
        &mut self,
        references: &mut [Reference],
        own: &[Option<Vec<usize>>],
        times: &[f64],
        places: &Places,
    ) -> Result<()> {
        self.places.clone_from(places);
        for k in 0..self.sensors.len() {
            let output = self.sensors[k].output;
            let mut compared = references.iter_mut().zip(own).filter(|(reference, _)| reference.output == output);
            let (Some((reference, own)), None) = (compared.next(), compared.next()) else {
                let problem = "its output is not compared with one reference";
                let remedy = "give outputs with sensors one reference each";
                return Err(Error::invalid(self.sensors[k].place(), problem, remedy));
            };
            self.own[k].clone_from(own);
            self.prepare_one(k, reference, times)?;
        }
        Ok(())
    }

    /// Prepares sensor `k` alone, as [`Sensors::prepare`] does all.
    fn prepare_one(&mut self, k: usize, reference: &mut Reference, times: &[f64]) -> Result<()> {
        let sensor = &self.sensors[k];
        let places: Vec<usize> = self.own[k].clone().unwrap_or_else(|| (0..times.len()).collect());
        let own_times = self.own_times(sensor.output, times);
        if let Some(frequency) = sensor.low_pass {
            let mut values: Vec<f64> = places.iter().map(|i| reference.values[*i]).collect();
            let filter = sensor.filter(frequency, &values, &own_times)?;
            filter.apply(&mut values, 1);
            places.iter().zip(values).for_each(|(i, value)| reference.values[*i] = value);
            reference.deviation *= filter.gain_of_noise();
            self.filters[k] = Some(filter);
        }
        if sensor.every >= places.len() {
            let problem = format!("every {}th of {} samples is none but the first", sensor.every, places.len());
            return Err(Error::invalid(sensor.place(), problem, "compare more of them: a smaller `every`"));
        }
        let there = self.comparable(sensor.output, times);
        if let Some(spectrum) = &sensor.spectrum {
            if sensor.every > 1 {
                let problem = format!("every {}th sample alone has another spectrum", sensor.every);
                return Err(Error::invalid("`every`", problem, "leave it out beside a spectrum"));
            }
            let mut values: Vec<f64> = places.iter().map(|i| reference.values[*i]).collect();
            let transform = spectrum.transform(&own_times, there, &values, self.filters[k].as_ref())?;
            transform.see(&mut values, &mut Spectral::default());
            reference.values.fill(f64::NAN);
            let compared = places.iter().zip(values).skip(1).take(transform.count());
            compared.for_each(|(i, value)| reference.values[*i] = value);
            let behind_filter = self.filters[k].map_or(1.0, |filter| filter.gain_of_noise());
            reference.deviation *= transform.noise() / behind_filter;
            self.spectra[k] = Some(transform);
            return Ok(());
        }
        let is_left_out = |j: usize| !there.contains(&j) || !(j - there.start).is_multiple_of(sensor.every.max(1));
        places.iter().enumerate().filter(|(j, _)| is_left_out(*j)).for_each(|(_, i)| reference.values[*i] = f64::NAN);
        if reference.samples().next().is_none() {
            let length = times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first);
            let problem = format!("of a record of {length} s no sample is left to be compared");
            let remedy = "bound its delay more narrowly, or take a longer record";
            return Err(Error::invalid(sensor.place(), problem, remedy));
        }
        Ok(())
    }

    /// Filters values, or derivatives, that sensor `k` shows at all times: those at its own samples.
    fn filter(&self, k: usize, values: &mut [f64], is_linear: bool) {
        let Some(filter) = &self.filters[k] else { return };
        let run = |values: &mut [f64], stride: usize| match is_linear {
            true => filter.apply_linear(values, stride),
            false => filter.apply(values, stride),
        };
        match (&self.own[k], &self.places) {
            (None, Places::Every(steps)) => run(values, *steps),
            _ => self.on_own(k, values, |taken| run(taken, 1)),
        }
    }

    /// Changes values at the samples of sensor `k`, as they follow each other.
    fn on_own(&self, k: usize, values: &mut [f64], change: impl FnOnce(&mut [f64])) {
        let own: Vec<usize> = match &self.own[k] {
            None => self.places.all(values.len()).collect(),
            Some(own) => own.iter().map(|sample| self.places.of(*sample)).collect(),
        };
        let mut taken: Vec<f64> = own.iter().map(|i| values[*i]).collect();
        change(&mut taken);
        own.iter().zip(taken).for_each(|(i, value)| values[*i] = value);
    }

    /// Makes what is compared of values that sensor `k` shows at all times: filtered, and their spectrum where one is asked for.
    pub(crate) fn see(&self, k: usize, values: &mut [f64], seen: &mut Spectral) {
        self.filter(k, values, false);
        if let Some(spectrum) = &self.spectra[k] {
            self.on_own(k, values, |own| spectrum.see(own, seen));
        }
    }

    /// The derivative of [`Sensors::see`] along values.
    pub(crate) fn see_along(&self, k: usize, values: &mut [f64], at: &Spectral, along: &mut Spectral) {
        self.filter(k, values, true);
        if let Some(spectrum) = &self.spectra[k] {
            self.on_own(k, values, |own| spectrum.see_along(at, own, along));
        }
    }

    /// Pulls derivatives of the cost by what is compared back to those by values.
    pub(crate) fn pull_back(&self, k: usize, values: &mut [f64], at: &mut Spectral) {
        if let Some(spectrum) = &self.spectra[k] {
            self.on_own(k, values, |own| spectrum.pull_back(own, at));
        }
        self.filter(k, values, true);
    }

    /// The derivative of [`Sensors::pull_back`] along a direction.
    pub(crate) fn pull_back_along(&self, k: usize, values: &mut [f64], at: &Spectral, along: &mut Spectral) {
        if let Some(spectrum) = &self.spectra[k] {
            self.on_own(k, values, |own| spectrum.pull_back_along(at, own, along));
        }
        self.filter(k, values, true);
    }

    /// The spectrum that is compared of an output, if one is.
    pub fn spectrum(&self, output: usize) -> Option<&Transform> {
        self.spectra[self.of(output)?].as_ref()
    }

    /// The times of the samples that an output's own record has, by the `times` of all samples.
    pub fn own_times(&self, output: usize, times: &[f64]) -> Vec<f64> {
        match self.of(output).and_then(|k| self.own[k].as_ref()) {
            None => times.to_vec(),
            Some(own) => own.iter().map(|i| times[*i]).collect(),
        }
    }

    /// Factor by which the filter and the spectrum of an output multiply the deviation of white noise.
    pub(super) fn noise_behind(&self, output: usize) -> f64 {
        let Some(k) = self.of(output) else { return 1.0 };
        match (&self.spectra[k], &self.filters[k]) {
            (Some(spectrum), _) => spectrum.noise(),
            (None, Some(filter)) => filter.gain_of_noise(),
            (None, None) => 1.0,
        }
    }

    /// The times that are those of samples.
    pub(crate) fn samples(&self, times: &[f64]) -> impl Iterator<Item = usize> {
        self.places.all(times.len())
    }

    /// All sensors, in order.
    pub fn all(&self) -> &[Sensor] {
        &self.sensors
    }

    /// Parameters of all sensors, which come beside those of the model.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Nominal values of the sensors' parameters.
    pub fn nominal(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.nominal).collect()
    }

    /// True if there is no sensor: outputs are seen as they are.
    pub fn is_empty(&self) -> bool {
        self.sensors.is_empty()
    }

    /// Names of the parameters of an output's sensor.
    pub fn names(&self, output: usize) -> Vec<&str> {
        let own = self.sensors.iter().filter(|sensor| sensor.output == output).flat_map(Sensor::parameters);
        own.map(|parameter| parameter.name.as_str()).collect()
    }

    pub(crate) fn check(&self, signature: &Signature) -> Result<()> {
        match self.sensors.iter().find(|sensor| sensor.output >= signature.outputs.len()) {
            Some(Sensor { output, .. }) => {
                let problem = format!("there is no {} in {}", ordinal(*output), signature.place());
                Err(Error::invalid("a sensor", problem, "use a place from its signature"))
            }
            None => Ok(()),
        }
    }

    /// The sensor of an output, by its place among them.
    pub fn of(&self, output: usize) -> Option<usize> {
        self.sensors.iter().position(|sensor| sensor.output == output)
    }

    /// True if the sensor of an output has a delay.
    pub fn has_delay(&self, output: usize) -> bool {
        self.of(output).is_some_and(|k| self.sensors[k].delay.is_some())
    }

    /// Gain, bias and delay of sensor `k` by `own`, one value a parameter; `without` holds the values of those that it does not have.
    pub(crate) fn reading(&self, k: usize, own: &[f64], without: Reading) -> Reading {
        let mut values = own.iter().skip(self.sensors[..k].iter().map(|sensor| sensor.parameters().count()).sum());
        let Sensor { gain, bias, delay, .. } = &self.sensors[k];
        let mut next = |asked: &Option<Parameter>, other: f64| match asked {
            Some(_) => values.next().copied().unwrap_or(other),
            None => other,
        };
        Reading { gain: next(gain, without.gain), bias: next(bias, without.bias), delay: next(delay, without.delay) }
    }

    /// Adds derivatives by what sensor `k` has to those by its parameters.
    pub(crate) fn add(&self, k: usize, by: Reading, own: &mut [f64]) {
        let first = self.sensors[..k].iter().map(|sensor| sensor.parameters().count()).sum();
        let Sensor { gain, bias, delay, .. } = &self.sensors[k];
        let has = [(gain, by.gain), (bias, by.bias), (delay, by.delay)];
        let entries = has.into_iter().filter(|(asked, _)| asked.is_some());
        own.iter_mut().skip(first).zip(entries).for_each(|(entry, (_, by))| *entry += by);
    }

    /// An output `y` at all `times` of a run, as its sensor shows it. `own`: the values of all sensors' parameters. Where a delay leads
    /// beyond the ends of the run, what is there. Of a spectrum, what is compared in the places of samples.
    pub fn shown(&self, output: usize, times: &[f64], y: Vec<f64>, own: &[f64]) -> Vec<f64> {
        let Some(k) = self.of(output) else { return y };
        let Reading { gain, bias, delay } = self.reading(k, own, PLAIN);
        let mut z =
            (0..times.len()).map(|i| gain * Stencil::at(times, i, delay).apply(&y, 0) + bias).collect::<Vec<f64>>();
        self.see(k, &mut z, &mut Spectral::default());
        if self.spectra[k].is_some() {
            return z;
        }
        if let (Some(_), Some(own)) = (&self.filters[k], &self.own[k]) {
            // a filter knows nothing between the samples that it takes
            for pair in own.windows(2) {
                let (first, last) = (self.places.of(pair[0]), self.places.of(pair[1]));
                let slope = (z[last] - z[first]) / (times[last] - times[first]);
                (first + 1..last).for_each(|i| z[i] = z[first] + slope * (times[i] - times[first]));
            }
        }
        z
    }

    /// Samples of an output's own record that can be compared whatever its delay is within its bounds; `times`: those of all samples. A
    /// filter spreads what the delay makes of the ends.
    pub fn comparable(&self, output: usize, times: &[f64]) -> Range<usize> {
        let Some(k) = self.of(output) else { return 0..times.len() };
        let own = self.own_times(output, times);
        let delay = self.sensors[k].delay.as_ref();
        let memory = self.filters[k].map_or(0, |filter| filter.memory);
        let Some(Parameter { lower, upper, .. }) = delay else { return 0..own.len() };
        // what is there to be read of the run
        let (Some(&begin), Some(&end)) = (times.first(), times.last()) else { return 0..0 };
        // a sample at the edge is one in spite of round-off
        let slack = 1e-9 * (end - begin);
        let first = own.partition_point(|t| t - upper < begin - slack);
        let last = own.partition_point(|t| t - lower <= end + slack);
        // a delay that is known for sure to lead nowhere needs no margin
        let first = if *upper > 0.0 { first + memory } else { first };
        let last = if *lower < 0.0 { last.saturating_sub(memory) } else { last };
        first..last.max(first)
    }
}

/// Gain, bias and delay of outputs without a sensor.
pub(crate) const PLAIN: Reading = Reading { gain: 1.0, bias: 0.0, delay: 0.0 };
