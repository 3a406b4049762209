//! What sensors make of outputs: z(t) = gain · y(t - delay) + bias, each of the three given or a parameter to be found; and a low-pass
//! filter for both what they show and what was measured.
//!
//! Between the times of a run, outputs follow cubic Hermite polynomials whose slopes are differences over five times (of fourth order;
//! fewer where the run has no five): once continuously differentiable by the delay.

use super::Reference;
use super::low_pass::LowPass;
use crate::error::{Error, Result};
use crate::signature::{Parameter, Signature};
use std::ops::Range;

/// What the sensor of one output makes of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Place of the output in the signature.
    pub output: usize,
    /// What the output is multiplied by; 1 where it is none.
    pub gain: Option<Parameter>,
    /// What is added, in the output's unit; 0 where it is none.
    pub bias: Option<Parameter>,
    /// How much later the sensor shows what has happened, s; 0 where it is none.
    pub delay: Option<Parameter>,
    /// The frequency, Hz, at which a low-pass filter without delay halves the amplitude, both of what it shows and of what was measured.
    pub low_pass: Option<f64>,
    /// Of the samples, the first of every so many is compared; 1 for all.
    pub every: usize,
}

impl Sensor {
    /// One that shows an output as it is.
    pub fn new(output: usize) -> Self {
        Sensor { output, gain: None, bias: None, delay: None, low_pass: None, every: 1 }
    }

    /// For messages.
    fn place(&self) -> String {
        match self.delay.iter().chain(self.parameters()).next() {
            Some(parameter) => format!("the sensor with `{}`", parameter.name),
            None => format!("the sensor of output {}", self.output),
        }
    }

    /// Its filter for samples at `times`.
    fn filter(&self, frequency: f64, values: &[f64], times: &[f64]) -> Result<LowPass> {
        let what = || format!("the low-pass filter of {frequency} Hz");
        let step = match times {
            [first, .., last] => (last - first) / (times.len() - 1) as f64,
            _ => return Err(Error::invalid(what(), "there are no two samples to filter", "leave it out")),
        };
        if let Some(i) = (1..times.len()).find(|&i| (times[i] - times[i - 1] - step).abs() > 1e-3 * step) {
            let problem = format!("samples are unevenly spaced at {} s", times[i]);
            return Err(Error::invalid(what(), problem, "resample the record, or leave the filter out"));
        }
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

    /// What it is told by.
    fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        [&self.gain, &self.bias, &self.delay].into_iter().flatten()
    }
}

/// Sensors of several outputs, with their parameters in one list: gain, bias and delay of the first, then of the next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sensors {
    sensors: Vec<Sensor>,
    parameters: Vec<Parameter>,
    /// Steps of the simulation between two samples.
    pub(super) substeps: usize,
    filters: Vec<Option<LowPass>>,
}

/// Values of a sensor's parameters, or derivatives by them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Reading {
    pub gain: f64,
    pub bias: f64,
    pub delay: f64,
}

impl Sensors {
    /// Of different outputs, each.
    ///
    /// # Errors
    /// [`Error::Invalid`] if an output has two, or a delay has no bounds: they say which samples can be compared at all.
    pub fn new(sensors: Vec<Sensor>) -> Result<Self> {
        for (k, sensor) in sensors.iter().enumerate() {
            if sensors[..k].iter().any(|other| other.output == sensor.output) {
                let what = format!("the sensors of output {}", sensor.output);
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
        let filters = vec![None; sensors.len()];
        Ok(Sensors { sensors, parameters, substeps: 1, filters })
    }

    /// Makes what was measured at `times` what can be compared with what sensors show: filtered, of deviations as after the filter, and
    /// NaN where it takes no part.
    pub(super) fn prepare(&mut self, references: &mut [Reference], times: &[f64], substeps: usize) -> Result<()> {
        self.substeps = substeps;
        for (k, sensor) in self.sensors.iter().enumerate() {
            let mut own = references.iter_mut().filter(|reference| reference.output == sensor.output);
            let (Some(reference), None) = (own.next(), own.next()) else {
                let problem = "its output is not compared with one reference";
                return Err(Error::invalid(sensor.place(), problem, "give outputs with sensors one reference each"));
            };
            if let Some(frequency) = sensor.low_pass {
                let filter = sensor.filter(frequency, &reference.values, times)?;
                filter.apply(&mut reference.values, 1);
                reference.deviation *= filter.gain_of_noise();
                self.filters[k] = Some(filter);
            }
            if sensor.every >= times.len() {
                let problem = format!("every {}th of {} samples is none but the first", sensor.every, times.len());
                return Err(Error::invalid(sensor.place(), problem, "compare more of them: a smaller `every`"));
            }
            let there = self.comparable(sensor.output, times);
            let is_left_out = |i: usize| !there.contains(&i) || !(i - there.start).is_multiple_of(sensor.every.max(1));
            (0..times.len()).filter(|i| is_left_out(*i)).for_each(|i| reference.values[i] = f64::NAN);
            if reference.samples().next().is_none() {
                let length = times.last().zip(times.first()).map_or(0.0, |(last, first)| last - first);
                let problem = format!("of a record of {length} s no sample is left to be compared");
                let remedy = "bound its delay more narrowly, or take a longer record";
                return Err(Error::invalid(sensor.place(), problem, remedy));
            }
        }
        Ok(())
    }

    /// Filters values, or derivatives, that sensor `k` shows at all times.
    pub(crate) fn filter(&self, k: usize, values: &mut [f64], is_linear: bool) {
        match (&self.filters[k], is_linear) {
            (None, _) => {}
            (Some(filter), true) => filter.apply_linear(values, self.substeps),
            (Some(filter), false) => filter.apply(values, self.substeps),
        }
    }

    /// By what the filter of an output multiplies the deviation of white noise.
    pub(super) fn noise_behind_filter(&self, output: usize) -> f64 {
        let filter = self.of(output).and_then(|k| self.filters[k]);
        filter.map_or(1.0, |filter| filter.gain_of_noise())
    }

    /// The times that are those of samples.
    pub(crate) fn samples(&self, times: &[f64]) -> impl Iterator<Item = usize> + use<> {
        (0..times.len()).step_by(self.substeps.max(1))
    }

    /// One each.
    pub fn all(&self) -> &[Sensor] {
        &self.sensors
    }

    /// What they are told by, beside the parameters of the model.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Their values where nothing else is said.
    pub fn nominal(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.nominal).collect()
    }

    /// Whether outputs are seen as they are.
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
                let problem = format!("there is no output {output} in {}", signature.place());
                Err(Error::invalid("a sensor", problem, "use a place from its signature"))
            }
            None => Ok(()),
        }
    }

    /// The sensor of an output, by its place among them.
    pub(crate) fn of(&self, output: usize) -> Option<usize> {
        self.sensors.iter().position(|sensor| sensor.output == output)
    }

    /// What `own`, one value a parameter, says of sensor `k`; `without` what is said of what it does not have.
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

    /// What is seen of an output `y` at all `times` of a run. `own`: the values of all sensors' parameters. Where a delay leads beyond the
    /// ends of the run, what is there.
    pub fn shown(&self, output: usize, times: &[f64], y: Vec<f64>, own: &[f64]) -> Vec<f64> {
        let Some(k) = self.of(output) else { return y };
        let Reading { gain, bias, delay } = self.reading(k, own, PLAIN);
        let mut z =
            (0..times.len()).map(|i| gain * Stencil::at(times, i, delay).apply(&y, 0) + bias).collect::<Vec<f64>>();
        self.filter(k, &mut z, false);
        z
    }

    /// Samples that can be compared whatever the delay of an output is within its bounds; all `times` of the samples without one. A filter
    /// spreads what the delay makes of the ends.
    pub(crate) fn comparable(&self, output: usize, times: &[f64]) -> Range<usize> {
        let Some(k) = self.of(output) else { return 0..times.len() };
        let delay = self.sensors[k].delay.as_ref();
        let memory = self.filters[k].map_or(0, |filter| filter.memory);
        let Some(Parameter { lower, upper, .. }) = delay else { return 0..times.len() };
        let (Some(&begin), Some(&end)) = (times.first(), times.last()) else { return 0..0 };
        // a sample at the edge is one in spite of round-off
        let slack = 1e-9 * (end - begin);
        let first = times.partition_point(|t| t - upper < begin - slack);
        let last = times.partition_point(|t| t - lower <= end + slack);
        // a delay that is known for sure to lead nowhere needs no margin
        let first = if *upper > 0.0 { first + memory } else { first };
        let last = if *lower < 0.0 { last.saturating_sub(memory) } else { last };
        first..last.max(first)
    }
}

/// What is said of outputs without a sensor.
pub(crate) const PLAIN: Reading = Reading { gain: 1.0, bias: 0.0, delay: 0.0 };

/// Times that slopes are taken from.
const TAKEN: usize = 5;

/// The value at a time of a run, between its steps, too, as a sum over some of its values; and its first two derivatives by the delay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stencil {
    first: usize,
    count: usize,
    weights: [[f64; TAKEN + 1]; 3],
}

impl Stencil {
    /// At `times[i] - delay`. More than half a step beyond the ends of the run, at the ends.
    pub fn at(times: &[f64], i: usize, delay: f64) -> Self {
        let (last, t) = (times.len() - 1, times[i] - delay);
        let alone = |first: usize| {
            let mut weights = [[0.0; TAKEN + 1]; 3];
            weights[0][0] = 1.0;
            Stencil { first, count: 1, weights }
        };
        // a little beyond the ends, the polynomial of the last step holds: differences at a bound of the delay want no kink there
        if last == 0 || t < times[0] - 0.5 * (times[1] - times[0]) {
            return alone(0);
        }
        if t > times[last] + 0.5 * (times[last] - times[last - 1]) {
            return alone(last);
        }
        // the step in which the time is; the one that ends there at the end of the run
        let k = (times.partition_point(|time| *time <= t)).clamp(1, last) - 1;
        let step = times[k + 1] - times[k];
        let x = (t - times[k]) / step;
        // values and slopes at both ends of the step, and derivatives by x
        let ends = [
            [(1.0 + 2.0 * x) * (1.0 - x) * (1.0 - x), 6.0 * x * (x - 1.0), 12.0 * x - 6.0],
            [x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x), 6.0 - 12.0 * x],
        ];
        let slopes = [
            [x * (1.0 - x) * (1.0 - x), (1.0 - x) * (1.0 - 3.0 * x), 6.0 * x - 4.0],
            [x * x * (x - 1.0), x * (3.0 * x - 2.0), 6.0 * x - 2.0],
        ];
        let taken = TAKEN.min(last + 1);
        let begin = |k: usize| k.saturating_sub(TAKEN / 2).min(last + 1 - taken);
        let first = begin(k);
        let mut weights = [[0.0; TAKEN + 1]; 3];
        // dx/d(delay) = -1/step
        let by_delay = [1.0, -1.0 / step, 1.0 / (step * step)];
        for (end, (values, slopes)) in ends.into_iter().zip(slopes).enumerate() {
            let at = begin(k + end);
            let difference = differences(&times[at..at + taken], k + end - at);
            for (order, weights) in weights.iter_mut().enumerate() {
                weights[k + end - first] += by_delay[order] * values[order];
                for (j, slope) in difference.into_iter().take(taken).enumerate() {
                    weights[at - first + j] += by_delay[order] * step * slopes[order] * slope;
                }
            }
        }
        Stencil { first, count: begin(k + 1) - first + taken, weights }
    }

    /// The derivative of this `order` by the delay, of values at all times.
    pub fn apply(&self, y: &[f64], order: usize) -> f64 {
        let y = &y[self.first..self.first + self.count];
        y.iter().zip(&self.weights[order]).map(|(y, weight)| y * weight).sum()
    }

    /// Adds `factor` times the transpose.
    pub fn add(&self, factor: f64, order: usize, y_bar: &mut [f64]) {
        let y_bar = &mut y_bar[self.first..self.first + self.count];
        y_bar.iter_mut().zip(&self.weights[order]).for_each(|(bar, weight)| *bar += factor * weight);
    }
}

/// Weights of the derivative, at the `k`-th of these times, of the polynomial through values at all of them.
fn differences(times: &[f64], k: usize) -> [f64; TAKEN] {
    let mut weights = [0.0; TAKEN];
    let others = |j: usize| (0..times.len()).filter(move |&i| i != j);
    for j in others(k) {
        let above: f64 = others(j).filter(|&i| i != k).map(|i| times[k] - times[i]).product();
        let below: f64 = others(j).map(|i| times[j] - times[i]).product();
        weights[j] = above / below;
    }
    weights[k] = others(k).map(|i| 1.0 / (times[k] - times[i])).sum();
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slopes over five times make cubic polynomials exact wherever they are read, and their derivatives by the delay, too.
    #[test]
    fn cubics_are_read_exactly() {
        let times = [0.0, 0.1, 0.15, 0.3, 0.42, 0.5, 0.61, 0.8];
        let cubic = |t: f64| 1.0 + t * (2.0 + t * (-3.0 + 4.0 * t));
        let y: Vec<f64> = times.iter().map(|&t| cubic(t)).collect();
        for i in 0..times.len() {
            for delay in [0.0, 0.03, 0.1, 0.17] {
                let t = times[i] - delay;
                if t < 0.0 {
                    continue;
                }
                let stencil = Stencil::at(&times, i, delay);
                let exact = [cubic(t), -(2.0 - 6.0 * t + 12.0 * t * t), -6.0 + 24.0 * t];
                for (order, exact) in exact.into_iter().enumerate() {
                    let found = stencil.apply(&y, order);
                    assert!((found - exact).abs() < 1e-11, "t = {t}, order {order}: {found} against {exact}");
                }
            }
        }
    }

    /// Differences at a bound of a delay, just beyond the ends of a run, have the slope of the step there.
    #[test]
    fn ends_have_no_kink() {
        let times = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
        let y = times.map(|t: f64| t * t);
        for (i, t) in [(0, 0.0), (5, 0.5)] {
            for delay in [-1e-3, 1e-3] {
                let found = Stencil::at(&times, i, delay).apply(&y, 0);
                assert!((found - (t - delay) * (t - delay)).abs() < 1e-14, "{i} {delay}: {found}");
            }
        }
    }

    /// Short runs have fewer differences: what is there is taken, and nothing is read beyond it.
    #[test]
    fn short_runs_are_read() {
        for count in 1..7 {
            let times: Vec<f64> = (0..count).map(|i| i as f64).collect();
            for i in 0..count {
                for delay in [-2.5, -0.4, 0.0, 0.4, 1.0, 2.5] {
                    let found = Stencil::at(&times, i, delay).apply(&vec![3.0; count], 0);
                    assert!((found - 3.0).abs() < 1e-14, "{count} times, {i}, delay {delay}: {found}");
                }
            }
        }
    }
}
