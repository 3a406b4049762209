//! Channels that pull the model: the record of an output over time with its rate, and the forces that follow it.

use super::Homotopy;
use crate::problem::{Experiment, Problem};
use crate::{Error, Means, Remedy, Result};
use costate::cost::{LeastSquares, Sensor};
use costate::linearise::DenseLu;
use costate::spread::difference;
use costate::system::{Equations, Evaluator, Level, OutputPoint, Point, StateVector, Weights};

/// Samples on each side over which the rate of a record is the slope of a line.
const SIDE: usize = 2;
/// Distance of samples, in usual ones, beyond which nothing pulls between them.
const GAP: f64 = 4.0;
/// Part beside 1 that makes directions of outputs that repeat each other independent.
const APART: f64 = 1e-6;

/// The record of an output, and what it does.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    pub output: usize,
    period: Option<f64>,
    times: Vec<f64>,
    values: Vec<f64>,
    rates: Vec<f64>,
    /// The longest distance of two samples between which it pulls.
    longest: f64,
    /// Direction of the pull: g, n.
    pub direction: Vec<f64>,
    /// k and d: 1/s² and 1/s for positions; 1/s and 0 for velocities, whose rates are not looked at.
    pub stiffness: f64,
    pub damping: f64,
}

impl Channel {
    /// The record and its rate at a time; `None` outside of it and within gaps.
    pub fn at(&self, t: f64) -> Option<(f64, f64)> {
        let next = self.times.partition_point(|own| *own < t).clamp(1, self.times.len() - 1);
        let (from, to) = (self.times[next - 1], self.times[next]);
        if to - from > self.longest || t < from || t > to {
            return None;
        }
        let part = (t - from) / (to - from);
        let between = |values: &[f64]| values[next - 1] + part * (values[next] - values[next - 1]);
        Some((between(&self.values), between(&self.rates)))
    }

    /// Difference e between the record and the output that the pull is to remove.
    pub fn short_of(&self, t: f64, y: f64, rate: f64) -> f64 {
        let Some((value, slope)) = self.at(t) else { return 0.0 };
        let short = self.stiffness * difference(value, y, self.period);
        if self.damping == 0.0 { short } else { short + self.damping * (slope - rate) }
    }

    /// Round-off of e.
    pub fn round_off(&self, t: f64, y: f64, rate: f64) -> f64 {
        let Some((value, slope)) = self.at(t) else { return 0.0 };
        let sizes = self.stiffness * (value.abs() + y.abs()) + self.damping * (slope.abs() + rate.abs());
        8.0 * f64::EPSILON * sizes
    }
}

/// The channels of an experiment, at these parameters of the problem, and sentences on outputs that cannot pull.
///
/// # Errors
/// If the cost is no sum of squares, or no output can pull.
pub(super) fn channels(
    problem: &Problem,
    experiment: &Experiment,
    start: &[f64],
    homotopy: &Homotopy,
) -> Result<Vec<Channel>> {
    let what = || format!("homotopy for problem `{}`", problem.name);
    let Some(costs) = experiment.cost.as_least_squares() else {
        let remedy = "compare outputs with records, or leave homotopy out";
        return Err(Error::invalid(
            what(),
            "the cost is no sum of squares, and names no record that could pull",
            remedy,
        ));
    };
    let mut probe = Probe::new(experiment, start);
    let mut found = Vec::new();
    for reference in 0..costs.references().len() {
        if let Some(record) = Record::of(costs, reference, experiment, start) {
            found.extend(probe.channel(record, homotopy));
        }
    }
    if found.is_empty() {
        let problem = "none of the measured outputs is a position or a velocity, as functions of q and v: accelerations, forces and spectra do not \
                       pull a model towards a record";
        let words = "compare a position or a velocity, too (the model needs such an output), or leave homotopy out and search from many starts";
        let remedy = Remedy::by(words, Means::Starts);
        return Err(Error::invalid(what(), problem, remedy));
    }
    probe.direct(&mut found);
    Ok(found)
}

/// The samples that an output has.
struct Record {
    output: usize,
    times: Vec<f64>,
    values: Vec<f64>,
    longest: f64,
}

impl Record {
    /// Record of the model's output, for what a sensor with its parameters of the start shows; without spectra and too few samples.
    fn of(costs: &LeastSquares, reference: usize, experiment: &Experiment, start: &[f64]) -> Option<Self> {
        let own = &costs.references()[reference];
        if costs.spectrum(own).is_some() {
            return None;
        }
        let signature = experiment.simulation.signature();
        let quantity = &signature.outputs[own.output];
        let [gain, bias, delay] = seen_through(costs.sensors().all(), own.output, &experiment.of_sensors(start));
        let grid = experiment.simulation.grid();
        let (mut times, mut values) = (Vec::new(), Vec::new());
        for (i, value) in own.values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            times.push(grid.time(costs.places().of(i)) - delay);
            values.push((value - bias) / gain);
        }
        if times.len() <= 2 * SIDE || !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        // angles without jumps, so that they have rates
        let mut before = values[0];
        for value in &mut values {
            before = quantity.beside(*value, before);
            *value = before;
        }
        let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f64::total_cmp);
        Some(Record { output: own.output, longest: GAP * steps[steps.len() / 2], times, values })
    }

    /// Slopes of lines through neighbouring samples, which smooths noise; within gaps, those of the samples on one side.
    fn rates(&self) -> Vec<f64> {
        let is_beside = |i: usize, j: usize| {
            let (from, to) = (i.min(j), i.max(j));
            (from..to).all(|k| self.times[k + 1] - self.times[k] <= self.longest)
        };
        let count = self.times.len();
        let slope = |i: usize| {
            let near: Vec<usize> =
                (i.saturating_sub(SIDE)..=(i + SIDE).min(count - 1)).filter(|&j| is_beside(i, j)).collect();
            let mean = |of: &dyn Fn(usize) -> f64| near.iter().map(|&j| of(j)).sum::<f64>() / near.len() as f64;
            let (t, y) = (mean(&|j| self.times[j]), mean(&|j| self.values[j]));
            let sums = near.iter().map(|&j| {
                let away = self.times[j] - t;
                [away * (self.values[j] - y), away * away]
            });
            let [mixed, square] = sums.fold([0.0; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
            if square > 0.0 { mixed / square } else { 0.0 }
        };
        (0..count).map(slope).collect()
    }
}

/// Gain, bias and delay of an output's sensor; those of one that shows it as it is, if it has none.
fn seen_through(sensors: &[Sensor], output: usize, own: &[f64]) -> [f64; 3] {
    let mut values = own.iter();
    for sensor in sensors {
        let mut next = |stated: bool, otherwise: f64| {
            if stated { values.next().copied().unwrap_or(otherwise) } else { otherwise }
        };
        let seen =
            [next(sensor.gain.is_some(), 1.0), next(sensor.bias.is_some(), 0.0), next(sensor.delay.is_some(), 0.0)];
        if sensor.output == output {
            return seen;
        }
    }
    [1.0, 0.0, 0.0]
}

/// The model where it starts.
struct Probe<'s> {
    experiment: &'s Experiment,
    evaluator: Box<dyn Evaluator + 's>,
    q: Vec<f64>,
    v: Vec<f64>,
    zeros: [Vec<f64>; 2],
}

impl<'s> Probe<'s> {
    fn new(experiment: &'s Experiment, start: &[f64]) -> Self {
        let signature = experiment.simulation.signature();
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        let mut evaluator = experiment.simulation.system().evaluator();
        evaluator.set_parameters(&experiment.own(start));
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        evaluator.initial(&mut q, &mut v);
        Probe { experiment, evaluator, q, v, zeros: [vec![0.0; n], vec![0.0; m]] }
    }

    /// Slopes of an output, and whether it depends on time by itself.
    fn slopes(&mut self, output: usize) -> (StateVector, bool) {
        let simulation = &self.experiment.simulation;
        let signature = simulation.signature();
        let mut seed = vec![0.0; signature.outputs.len()];
        let mut values = [vec![0.0; seed.len()], vec![0.0; seed.len()]];
        let grid = simulation.grid();
        let mut slope = StateVector::zeros(signature);
        let times = [grid.time(0), grid.time(grid.count() / 2)];
        for (t, y) in times.into_iter().zip(&mut values).rev() {
            let w = simulation.inputs_at(0);
            let Probe { q, v, zeros: [a, lambda], .. } = self;
            let x = OutputPoint { t, q, v, a, a_scheme: a, lambda, w };
            self.evaluator.output(&x, y);
            self.evaluator.linearise_output(&x);
        }
        seed[output] = 1.0;
        self.evaluator.output_pull_back(&seed, &mut slope);
        (slope, values[0][output] != values[1][output])
    }

    /// The record as a channel that pulls along the output's slope; `None` for one that cannot.
    fn channel(&mut self, record: Record, homotopy: &Homotopy) -> Option<Channel> {
        let (slope, is_driven) = self.slopes(record.output);
        let is_zero = |part: &[f64]| part.iter().all(|slope| *slope == 0.0);
        if !(is_zero(&slope.a) && is_zero(&slope.a_scheme) && is_zero(&slope.lambda)) {
            return None;
        }
        let is_velocity = !is_zero(&slope.v);
        let direction = if is_velocity { slope.v } else { slope.q };
        if is_zero(&direction) || !direction.iter().all(|slope| slope.is_finite()) {
            return None;
        }
        let rates = record.rates();
        let Record { output, times, values, longest } = record;
        let frequency = homotopy.gain * frequency(&times, &values, &rates);
        // a record's rate tells nothing of the motion's part in an output that time changes by itself
        let damping = if is_driven && !is_velocity { 0.0 } else { 2.0 * frequency };
        let (stiffness, damping) = if is_velocity { (2.0 * frequency, 0.0) } else { (frequency * frequency, damping) };
        let period = self.experiment.simulation.signature().outputs[output].period;
        Some(Channel { output, period, times, values, rates, longest, direction, stiffness, damping })
    }

    /// Makes slopes directions of forces that accelerate their outputs by 1, and no others that are observed: Jᵀ (J M⁻¹ Jᵀ)⁻¹, with the acceleration
    /// that constraints leave for M⁻¹. Channels on which no force has an effect go.
    fn direct(&mut self, channels: &mut Vec<Channel>) {
        let simulation = &self.experiment.simulation;
        let (n, m) = (self.q.len(), self.zeros[1].len());
        let equations = Equations { forces: true, level: Level::Acceleration };
        let weights =
            Weights { acceleration: 1.0, position: 0.0, velocity: 0.0, state: 0.0, compliance: 0.0, equations };
        let Probe { q, v, zeros: [a, lambda], .. } = self;
        let x = Point { t: simulation.grid().time(0), q, v, a, lambda, w: simulation.inputs_at(0) };
        let (mut dynamics, mut constraint) = (vec![0.0; n], vec![0.0; m]);
        let is_regular = self.evaluator.factorise(&x, weights, &mut dynamics, &mut constraint).is_ok();
        let answer = |channel: &Channel, evaluator: &mut dyn Evaluator| -> Vec<f64> {
            let mut moved = channel.direction.clone();
            moved.resize(n + m, 0.0);
            if is_regular {
                evaluator.solve(&mut moved);
            }
            moved.truncate(n);
            moved
        };
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut answers: Vec<Vec<f64>> = channels.iter().map(|own| answer(own, &mut *self.evaluator)).collect();
        let own: Vec<f64> = channels.iter().zip(&answers).map(|(own, moved)| product(&own.direction, moved)).collect();
        let mut keep = own.iter().map(|own| own.is_finite() && *own > 0.0);
        channels.retain(|_| keep.next().unwrap_or(false));
        let mut keep = own.iter().map(|own| own.is_finite() && *own > 0.0);
        answers.retain(|_| keep.next().unwrap_or(false));
        let sizes: Vec<f64> = own.into_iter().filter(|own| own.is_finite() && *own > 0.0).map(f64::sqrt).collect();
        let rank = channels.len();
        let mut lu = DenseLu::new(rank);
        for i in 0..rank {
            for j in 0..rank {
                let entry = product(&channels[i].direction, &answers[j]) / (sizes[i] * sizes[j]);
                lu.matrix_mut()[i * rank + j] = if i == j { entry + APART } else { entry };
            }
        }
        if !lu.factorise() {
            return;
        }
        let slopes: Vec<Vec<f64>> = channels.iter().map(|channel| channel.direction.clone()).collect();
        for (k, channel) in channels.iter_mut().enumerate() {
            let mut mixed = vec![0.0; rank];
            mixed[k] = 1.0 / sizes[k];
            lu.solve(&mut mixed);
            channel.direction.fill(0.0);
            for ((slope, factor), size) in slopes.iter().zip(&mixed).zip(&sizes) {
                channel.direction.iter_mut().zip(slope).for_each(|(sum, slope)| *sum += factor / size * slope);
            }
        }
    }
}

/// The angular frequency of a record, 1/s: that of an oscillation with its spread and that of its rate, as long as samples can show it.
fn frequency(times: &[f64], values: &[f64], rates: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let speed = (rates.iter().map(|rate| rate * rate).sum::<f64>() / count).sqrt();
    let length = times[times.len() - 1] - times[0];
    let slowest = std::f64::consts::TAU / length;
    let fastest = std::f64::consts::FRAC_PI_2 * (count - 1.0) / length;
    if spread > 0.0 && speed.is_finite() { (speed / spread).clamp(slowest, fastest) } else { slowest }
}
