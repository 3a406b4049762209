//! ½ Σ_i η_i Σ_k ((y_k(t_i) - ȳ_k(t_i)) / σ_k)², against a reference at every time of the grid or at every s-th.
//!
//! Samples that are not there, in the gaps of a record or beyond the end of the shorter of two records, are NaN in a reference.
//! They have the weight zero in its own sum and take part nowhere: not in the cost, not in its derivatives, not in statistics.
//!
//! Of an output that is known up to a period ([`Quantity::period`](crate::Quantity::period)), such as an angle from `atan2`, y - ȳ
//! is the difference of the least size, at most half a period: the reference may jump by whole turns where it likes, or not at
//! all, and the cost is continuous where the output or the reference jumps. It is smooth but where a residual is half a turn,
//! which no fit should be near to; there it has a ridge.

use super::places::Places;
use super::spectrum::{LineValue, Transform};
use super::{Cost, CostEvaluator, Loss, Quadrature, Sample, Sensors};
use crate::grid::TimeGrid;
use crate::noise::{AddedNoise, NoiseLevel, SyntheticNoise};
use crate::random::SplitMix64;
use crate::signature::difference;
use crate::signature::{Quantity, Signature};
use crate::system::StateVector;
use crate::{Error, Result};

/// A measured (or simulated) output over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Place of the output in the signature.
    pub output: usize,
    /// Values to compare with, one a sample; NaN where there is none.
    pub values: Vec<f64>,
    /// Residuals are divided by this (for example the standard deviation of the noise), in the output's unit; 1 for none.
    pub deviation: f64,
}

impl Reference {
    /// The value of a sample, if it is there.
    #[inline]
    pub fn sample(&self, i: usize) -> Option<f64> {
        let value = self.values[i];
        (!value.is_nan()).then_some(value)
    }

    /// The samples that are there.
    pub fn samples(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied().filter(|value| !value.is_nan())
    }
}

/// The least-squares cost of outputs against references.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    references: Vec<Reference>,
    /// Places of a reference's own samples among all, where it has not all of them; for each reference.
    own: Vec<Option<Vec<usize>>>,
    /// Number of a reference's own samples that were missing when it was given; for each reference.
    missing: Vec<usize>,
    /// Loss of each reference.
    losses: Vec<Loss>,
    places: Places,
    /// η of each sample.
    weights: Vec<f64>,
    /// Noise that was added to the references, where they are simulations.
    noise: Vec<AddedNoise>,
    /// Sensors through which the outputs are seen.
    sensors: Sensors,
}

impl LeastSquares {
    /// A least-squares cost over samples at `times`; the simulation takes `substeps` steps between two of them.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is nothing to compare, lengths differ, a value is infinite, a reference has no sample at all or
    /// a deviation is not positive.
    pub fn new(times: &[f64], references: Vec<Reference>, substeps: usize, quadrature: Quadrature) -> Result<Self> {
        let what = "the least-squares cost";
        if references.is_empty() || times.is_empty() {
            return Err(Error::invalid(what, "there is no output to compare", "name at least one output with data"));
        }
        if substeps == 0 {
            return Err(Error::invalid(what, "there are 0 substeps between two samples", "use at least 1"));
        }
        for reference in &references {
            let output = format!("the reference of output {}", reference.output);
            if reference.values.len() != times.len() {
                let problem = format!("it has {} values for {} times", reference.values.len(), times.len());
                return Err(Error::invalid(output, problem, "give one value a time"));
            }
            if reference.samples().next().is_none() {
                let problem = "none of its samples is there: all are NaN";
                return Err(Error::invalid(output, problem, "give at least one, or leave the reference out"));
            }
            if let Some(i) = reference.values.iter().position(|value| value.is_infinite()) {
                let problem = format!("its value at t = {} s is {}", times[i], reference.values[i]);
                return Err(Error::invalid(
                    output,
                    problem,
                    "correct the sample, or give NaN for one that is not there",
                ));
            }
            if !(reference.deviation.is_finite() && reference.deviation > 0.0) {
                let problem = format!("its residuals cannot be divided by {}", reference.deviation);
                return Err(Error::invalid(output, problem, "give a positive deviation"));
            }
        }
        Ok(LeastSquares::unchecked(times, references, substeps, quadrature))
    }

    /// A cost without any reference: of a problem that is fitted to something else than samples, with a run of two times.
    pub fn of_nothing(times: &[f64]) -> Self {
        LeastSquares::unchecked(times, Vec::new(), 1, Quadrature::Unit)
    }

    fn unchecked(times: &[f64], references: Vec<Reference>, substeps: usize, quadrature: Quadrature) -> Self {
        let weights = (0..times.len())
            .map(|i| {
                let before = if i > 0 { times[i] - times[i - 1] } else { 0.0 };
                let after = times.get(i + 1).map_or(0.0, |next| next - times[i]);
                quadrature.weight(before, after)
            })
            .collect();
        let (losses, own) = (vec![Loss::Squares; references.len()], vec![None; references.len()]);
        let missing = references.iter().map(|reference| times.len() - reference.samples().count()).collect();
        let (noise, sensors) = (Vec::new(), Sensors::default());
        let places = Places::Every(substeps);
        LeastSquares { references, own, missing, losses, places, weights, noise, sensors }
    }

    /// The cost for a simulation with any number of steps between two samples: of each sample, its place among the times of the run. Before
    /// sensors are given.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is not one place a sample, the first is not 0, or they do not increase.
    pub fn with_samples_at(mut self, places: Vec<usize>) -> Result<Self> {
        let increases = places.windows(2).all(|pair| pair[0] < pair[1]);
        if places.len() != self.weights.len() || places[0] != 0 || !increases {
            let problem = format!("{} places of {} samples do not increase from 0", places.len(), self.weights.len());
            return Err(Error::invalid("the places of samples", problem, "give one each, from 0 on"));
        }
        self.places = Places::At(places);
        Ok(self)
    }

    /// The cost for outputs that were sampled at times of their own: of each reference, the places of its samples among the times of all.
    /// Elsewhere it has none, filters of sensors see these alone, and `every` counts them. Weights stay those of all times. Before sensors
    /// are given.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is not one list a reference, a list is empty, does not increase or leads beyond the times, or a reference has
    /// no sample there.
    pub fn with_own_samples(mut self, own: Vec<Vec<usize>>) -> Result<Self> {
        let what = "the samples of the references";
        if own.len() != self.references.len() {
            let problem = format!("there are {} lists for {} references", own.len(), self.references.len());
            return Err(Error::invalid(what, problem, "give one each"));
        }
        for (k, (places, reference)) in own.iter().zip(&mut self.references).enumerate() {
            let increases = places.windows(2).all(|pair| pair[0] < pair[1]);
            if !increases || places.last().is_none_or(|last| *last >= self.weights.len()) {
                let problem = format!("those of output {} are no increasing places of times", reference.output);
                return Err(Error::invalid(what, problem, "give places from 0 on, each once"));
            }
            let mut values = vec![f64::NAN; self.weights.len()];
            places.iter().for_each(|i| values[*i] = reference.values[*i]);
            reference.values = values;
            self.missing[k] = places.len() - reference.samples().count();
            if self.missing[k] == places.len() {
                let problem = format!("output {} has none at its own times: all are NaN", reference.output);
                return Err(Error::invalid(what, problem, "give at least one, or leave the reference out"));
            }
        }
        self.own = own.into_iter().map(Some).collect();
        Ok(self)
    }

    /// The places of the samples of a reference, by its place, among those of all; missing ones are among them.
    pub fn own_samples(&self, reference: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let own = self.own[reference].as_deref();
        (0..own.map_or(self.weights.len(), <[usize]>::len)).map(move |i| own.map_or(i, |own| own[i]))
    }

    /// Number of the own samples of a reference, by its place, that were missing when it was given.
    pub fn missing(&self, reference: usize) -> usize {
        self.missing[reference]
    }

    /// Compares what sensors show of outputs. Samples that cannot be compared whatever a delay is within its bounds are left out, and
    /// references are filtered where sensors have a filter.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no sample is left of an output, a sensor's output is not compared, or compared twice; a filter for samples that
    /// are uneven or missing, or of a frequency that they do not have.
    pub fn with_sensors(mut self, mut sensors: Sensors, times: &[f64]) -> Result<Self> {
        sensors.prepare(&mut self.references, &self.own, times, &self.places)?;
        self.sensors = sensors;
        Ok(self)
    }

    /// Adds noise to every reference, whose deviation becomes that of the noise.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the noise has no level for an output, or names one that is not compared.
    pub fn with_noise(mut self, noise: &SyntheticNoise, signature: &Signature) -> Result<Self> {
        let outputs = self.references.iter().map(|reference| &signature.outputs[reference.output]);
        if let NoiseLevel::Absolute(levels) = &noise.level {
            let compared: Vec<&str> = outputs.map(|q| q.name.as_str()).collect();
            if let Some((name, _)) = levels.iter().find(|(name, _)| !compared.contains(&name.as_str())) {
                return Err(Error::unknown("compared output", name, "the noise", compared));
            }
        }
        let mut random = SplitMix64::new(noise.seed);
        for reference in &mut self.references {
            let added = noise.add(&signature.outputs[reference.output], &mut reference.values, &mut random)?;
            reference.deviation = added.deviation;
            self.noise.push(added);
        }
        Ok(self)
    }

    /// The cost, weighted by a factor beside others.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless it is positive.
    pub fn weighted(mut self, factor: f64) -> Result<Self> {
        if !(factor.is_finite() && factor > 0.0) {
            let problem = format!("its residuals cannot be weighted by {factor}");
            return Err(Error::invalid("the least-squares cost", problem, "give a weight > 0"));
        }
        self.weights.iter_mut().for_each(|weight| *weight *= factor);
        Ok(self)
    }

    /// The cost with another loss of the residuals of an output, or of all.
    pub fn with_loss(mut self, output: Option<usize>, loss: Loss) -> Self {
        for (own, reference) in self.losses.iter_mut().zip(&self.references) {
            if output.is_none_or(|output| output == reference.output) {
                *own = loss;
            }
        }
        self
    }

    /// The loss of each reference.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The cost with another deviation of the samples of an output as they were measured: behind a filter, it is smaller.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless it is positive.
    pub fn with_deviation(mut self, output: usize, deviation: f64) -> Result<Self> {
        if !(deviation.is_finite() && deviation > 0.0) {
            let problem = format!("its residuals cannot be divided by {deviation}");
            return Err(Error::invalid(
                format!("the reference of output {output}"),
                problem,
                "give a positive deviation",
            ));
        }
        let own = self.references.iter_mut().filter(|reference| reference.output == output);
        let behind = self.sensors.noise_behind(output);
        own.for_each(|reference| reference.deviation = behind * deviation);
        Ok(self)
    }

    /// Factor by which filter and spectrum of an output's sensor multiply the deviation of its samples; 1 without either.
    pub fn noise_behind(&self, output: usize) -> f64 {
        self.sensors.noise_behind(output)
    }

    /// The cost for a simulation whose steps are divided into `parts`.
    pub fn with_steps_divided(mut self, parts: usize) -> Self {
        self.places.divided(parts);
        self.sensors.places.divided(parts);
        self
    }

    /// Adds to every reference, by its number, what there is at a place of the run.
    pub fn with_references_moved(mut self, by: &dyn Fn(usize, usize) -> f64) -> Self {
        let LeastSquares { references, places, .. } = &mut self;
        for (k, reference) in references.iter_mut().enumerate() {
            reference.values.iter_mut().enumerate().for_each(|(i, value)| *value += by(k, places.of(i)));
        }
        self
    }

    /// The noise that was added to the references; empty where none was.
    pub fn added_noise(&self) -> &[AddedNoise] {
        &self.noise
    }

    /// The references that outputs are compared with.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Quantity that is compared of a reference's output: the output itself, or of a spectrum the quantity of its lines, in their unit.
    pub fn quantity(&self, reference: &Reference, signature: &Signature) -> Quantity {
        let output = &signature.outputs[reference.output];
        self.spectrum(reference).map_or_else(|| output.clone(), |spectrum| spectrum.quantity(output))
    }

    /// The transform that makes lines of the output of a reference, if it is a spectrum.
    pub fn spectrum(&self, reference: &Reference) -> Option<&Transform> {
        self.sensors.spectrum(reference.output)
    }

    /// Numbers that are compared of a reference that is a spectrum, by its place, with the places among the samples where they are; else
    /// nothing.
    pub fn lines(&self, reference: usize) -> Vec<LineValue> {
        let Some(spectrum) = self.spectrum(&self.references[reference]) else { return Vec::new() };
        let place = |sample: usize| self.own[reference].as_ref().map_or(sample, |own| own[sample]);
        spectrum.values().map(|value| LineValue { sample: place(value.sample), ..value }).collect()
    }

    /// Sensors through which the outputs are seen.
    pub fn sensors(&self) -> &Sensors {
        &self.sensors
    }

    /// Steps of the simulation between two samples, if they are as many everywhere.
    pub fn substeps(&self) -> Option<usize> {
        self.places.substeps()
    }

    /// Places of the samples among the times of the run.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// The weight η of each sample.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The cost of outputs that are all zero, ½ Σ η (ȳ/σ)²: what round-off in the cost is measured by.
    pub fn scale(&self) -> f64 {
        let of_reference = |reference: &Reference| {
            let squares =
                self.samples(reference).map(|i| self.weights[i] * (reference.values[i] / reference.deviation).powi(2));
            squares.sum::<f64>()
        };
        0.5 * self.references.iter().map(of_reference).sum::<f64>()
    }

    /// The samples of a reference that take part in the sum: those that are there and have a weight.
    pub fn samples(&self, reference: &Reference) -> impl Iterator<Item = usize> + Clone {
        (0..self.weights.len()).filter(|&i| self.weights[i] != 0.0 && reference.sample(i).is_some())
    }

    /// The weight η at a time of the grid, 0 between samples.
    pub fn weight_at(&self, index: usize) -> f64 {
        self.places.sample(index).map_or(0.0, |sample| self.weights[sample])
    }
}

impl Cost for LeastSquares {
    fn check(&self, signature: &Signature, grid: &TimeGrid) -> Result<()> {
        let (samples, steps) = (self.weights.len(), grid.count());
        if self.places.of(samples - 1) != steps {
            let last = self.places.of(samples - 1);
            let problem =
                format!("the last of {samples} samples is behind {last} steps, and the time grid has {steps}");
            return Err(Error::invalid("the least-squares cost", problem, "let the grid follow the samples"));
        }
        self.sensors.check(signature)?;
        match self.references.iter().find(|r| r.output >= signature.outputs.len()) {
            Some(r) => {
                let problem = format!("there is no output {} in {}", r.output, signature.place());
                Err(Error::invalid("the least-squares cost", problem, "use a place from its signature"))
            }
            None => Ok(()),
        }
    }

    fn evaluator(&self, signature: &Signature) -> Box<dyn CostEvaluator + '_> {
        let period = |reference: &Reference| match self.spectrum(reference) {
            Some(_) => None,
            None => signature.outputs.get(reference.output)?.period,
        };
        let periods = self.references.iter().map(period).collect();
        Box::new(LeastSquaresEvaluator { cost: self, periods })
    }

    fn as_least_squares(&self) -> Option<&LeastSquares> {
        Some(self)
    }

    fn sensors(&self) -> Option<&Sensors> {
        (!self.sensors.is_empty()).then_some(&self.sensors)
    }
}

struct LeastSquaresEvaluator<'c> {
    cost: &'c LeastSquares,
    /// Period of the output that each reference is for.
    periods: Vec<Option<f64>>,
}

impl CostEvaluator for LeastSquaresEvaluator<'_> {
    fn concerns(&self, index: usize, _last: usize) -> bool {
        self.cost.places.sample(index).is_some()
    }

    fn own_weight(&self, index: usize) -> Option<f64> {
        Some(if self.cost.places == Places::Every(1) { self.cost.weight_at(index) } else { 0.0 })
    }

    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let Some(i) = self.cost.places.sample(sample.index) else { return 0.0 };
        let mut sum = 0.0;
        for ((reference, period), loss) in self.cost.references.iter().zip(&self.periods).zip(&self.cost.losses) {
            let Some(value) = reference.sample(i) else { continue };
            let residual = difference(sample.y[reference.output], value, *period) / reference.deviation;
            sum += loss.value(residual);
        }
        0.5 * self.cost.weights[i] * sum
    }

    fn gradient(&mut self, sample: &Sample<'_>, _state: &mut StateVector, y: &mut [f64]) {
        let Some(i) = self.cost.places.sample(sample.index) else { return };
        for ((reference, period), loss) in self.cost.references.iter().zip(&self.periods).zip(&self.cost.losses) {
            let Some(value) = reference.sample(i) else { continue };
            let residual = difference(sample.y[reference.output], value, *period);
            let weight = self.cost.weights[i] * loss.weight(residual / reference.deviation);
            y[reference.output] += weight * residual / (reference.deviation * reference.deviation);
        }
    }

    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        _tangent: &StateVector,
        y_tangent: &[f64],
        _state: &mut StateVector,
        y: &mut [f64],
    ) {
        let Some(i) = self.cost.places.sample(sample.index) else { return };
        for ((reference, period), loss) in self.cost.references.iter().zip(&self.periods).zip(&self.cost.losses) {
            let Some(value) = reference.sample(i) else { continue };
            let Reference { output, deviation, .. } = reference;
            let residual = difference(sample.y[*output], value, *period) / deviation;
            let weight = self.cost.weights[i] * loss.curvature(residual);
            y[*output] += weight * y_tangent[*output] / (deviation * deviation);
        }
    }
}
