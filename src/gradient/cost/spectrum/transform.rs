//! Lines of a spectrum as numbers in the places of samples, with first and second derivatives.

use super::super::low_pass::LowPass;
use super::{SpectrumPart, SpeedUnit};
use crate::memory;
use crate::shown::shown;
use crate::signature::Quantity;
use crate::{Error, Result};
use nalgebra::Complex;

/// A line of a spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Frequency of the line, Hz, or its order.
    pub at: f64,
    /// Speed of the shaft, of a line that is an order.
    pub speed: Option<f64>,
}

/// A number of a line, where it is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineValue {
    /// The line.
    pub line: Line,
    /// True for the imaginary part of a complex number.
    pub is_imaginary: bool,
    /// The number of the sample in whose place it is, among all of the record.
    pub sample: usize,
    /// Factor of the number: what stands in the sample's place is the number times this.
    pub scale: f64,
}

/// Part of a Fourier coefficient: a factor times a table of coefficients, from a sample on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub first: usize,
    pub table: usize,
    pub factor: Complex<f64>,
}

/// All lines of an output. The samples that it has are numbered; line by line, what is compared is in the places of those from the second
/// one on (the first and the last of a sum may have half a weight).
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    part: SpectrumPart,
    samples: usize,
    lines: Vec<Line>,
    tables: Vec<Vec<Complex<f64>>>,
    /// Fourier coefficients, each a sum of terms; the squared amplitude of a line is the mean of those of its own.
    coefficients: Vec<Vec<Term>>,
    /// Places of each line's own coefficients among them.
    own: Vec<std::ops::Range<usize>>,
    /// Factor of each line, by which all have the same deviation.
    scale: Vec<f64>,
    /// Deviation of what is compared, the same of all lines, for samples of deviation 1.
    behind: f64,
    /// Lines share noise: they are nearer to each other than what their window tells apart, or their windows overlap.
    pub(super) shares_noise: bool,
    /// Unit of speeds, of orders.
    pub(super) speeds: Option<SpeedUnit>,
    /// Unit of the input that is divided by, of a frequency response.
    pub(super) over: Option<String>,
}

/// Fourier coefficients of a run, or of a direction, and the cost by what is compared of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spectral {
    coefficients: Vec<Complex<f64>>,
    bar: Vec<f64>,
}

/// d (20 lg A) = 20/ln 10 · dA/A.
const DECIBEL: f64 = 20.0 / std::f64::consts::LN_10;

impl SpectrumPart {
    /// An amplitude as it is compared: the value with its first and second derivative.
    fn of(self, amplitude: f64) -> [f64; 3] {
        match self {
            SpectrumPart::Level => {
                // a line that is not there has a level, too, far below all that are
                let amplitude = amplitude.max(1e-150);
                [DECIBEL * amplitude.ln(), DECIBEL / amplitude, -DECIBEL / amplitude / amplitude]
            }
            SpectrumPart::Amplitude | SpectrumPart::Complex => [amplitude, 1.0, 0.0],
        }
    }
}

fn product(a: Complex<f64>, b: Complex<f64>) -> f64 {
    a.re * b.re + a.im * b.im
}

impl Transform {
    /// True if lines share noise, so that their residuals are correlated: they are nearer to each other than what their window tells apart, or their
    /// windows overlap.
    pub fn shares_noise(&self) -> bool {
        self.shares_noise
    }

    pub(super) fn new(part: SpectrumPart, samples: usize) -> Self {
        Transform {
            part,
            samples,
            lines: Vec::new(),
            tables: Vec::new(),
            coefficients: Vec::new(),
            own: Vec::new(),
            scale: Vec::new(),
            behind: 1.0,
            shares_noise: false,
            speeds: None,
            over: None,
        }
    }

    /// Checks that there is memory for so many tables more.
    pub(super) fn room(&self, tables: usize, length: usize) -> Result<()> {
        let numbers = tables.saturating_mul(length).saturating_mul(2);
        let what = || format!("coefficients of {tables} lines over {length} samples each");
        memory::check(what, memory::bytes_of(numbers), "ask for fewer lines, or a coarser resolution")
    }

    pub(super) fn add_table(&mut self, table: Vec<Complex<f64>>) -> usize {
        self.tables.push(table);
        self.tables.len() - 1
    }

    pub(super) fn add(&mut self, line: Line, coefficients: Vec<Vec<Term>>) {
        let first = self.coefficients.len();
        self.coefficients.extend(coefficients);
        self.lines.push(line);
        self.own.push(first..self.coefficients.len());
        self.scale.push(1.0);
    }

    /// Sum of the values, weighted by a term's coefficients.
    pub(super) fn sum(&self, term: &Term, values: &[f64]) -> Complex<f64> {
        let all = self.tables[term.table].iter().zip(&values[term.first..]);
        term.factor * all.map(|(c, value)| c * *value).sum::<Complex<f64>>()
    }

    /// Numbers that are compared.
    pub(crate) fn count(&self) -> usize {
        self.lines.len() * self.parts()
    }

    fn parts(&self) -> usize {
        if self.part == SpectrumPart::Complex { 2 } else { 1 }
    }

    /// Makes lines alike in deviation, by those of `measured`.
    pub(super) fn fit(&mut self, measured: &[f64], filter: Option<&LowPass>) -> Result<()> {
        let what = "the spectrum";
        if self.lines.is_empty() {
            return Err(Error::invalid(what, "there is no line in it", "ask for at least one"));
        }
        if self.count() + 2 > self.samples {
            let problem = format!("{} numbers are made of {} samples", self.count(), self.samples);
            return Err(Error::invalid(what, problem, "ask for fewer lines, or take a longer record"));
        }
        let coefficients = self.of(measured);
        let is_silent = |line: &usize| self.part == SpectrumPart::Level && self.amplitude(*line, &coefficients) == 0.0;
        if let Some(line) = (0..self.lines.len()).find(is_silent) {
            let problem = format!("{} is zero in the record, and has no level", self.name(line));
            return Err(Error::invalid(what, problem, "leave the line out, or compare amplitudes"));
        }
        let deviations: Vec<f64> = (0..self.lines.len())
            .map(|line| {
                let own = self.own[line].clone();
                let count = own.len() as f64;
                let variance = own.map(|k| self.variance(k, filter)).sum::<f64>() / (count * count);
                variance.sqrt() * self.part.of(self.amplitude(line, &coefficients))[1]
            })
            .collect();
        if let Some(k) = deviations.iter().position(|own| !(own.is_finite() && *own > 0.0)) {
            let problem = format!("{} has no noise to be compared with", self.name(k));
            return Err(Error::invalid(what, problem, "leave the line out"));
        }
        let mut sorted = deviations.clone();
        sorted.sort_by(f64::total_cmp);
        self.behind = sorted[sorted.len() / 2];
        self.scale = deviations.iter().map(|own| self.behind / own).collect();
        Ok(())
    }

    /// The variance of the real and the imaginary part of a Fourier coefficient, on average, for white noise of variance 1 before the filter.
    fn variance(&self, coefficient: usize, filter: Option<&LowPass>) -> f64 {
        let terms = &self.coefficients[coefficient];
        if let (None, [term]) = (filter, terms.as_slice()) {
            let squares: f64 = self.tables[term.table].iter().map(Complex::norm_sqr).sum();
            return 0.5 * term.factor.norm_sqr() * squares;
        }
        let mut parts = [vec![0.0; self.samples], vec![0.0; self.samples]];
        for term in terms {
            for (j, c) in self.tables[term.table].iter().enumerate() {
                let c = term.factor * c;
                parts[0][term.first + j] += c.re;
                parts[1][term.first + j] += c.im;
            }
        }
        let squares = parts.iter_mut().map(|part| {
            filter.iter().for_each(|filter| filter.apply_linear(part, 1));
            part.iter().map(|x| x * x).sum::<f64>()
        });
        0.5 * squares.sum::<f64>()
    }

    /// The deviation of what is compared, for samples of deviation 1.
    pub(crate) fn noise(&self) -> f64 {
        self.behind
    }

    /// The numbers that are compared, each with the sample in whose place it stands.
    pub(crate) fn values(&self) -> impl Iterator<Item = LineValue> {
        let parts = self.parts();
        (0..self.count()).map(move |k| LineValue {
            line: self.lines[k / parts],
            is_imaginary: k % parts == 1,
            sample: 1 + k,
            scale: self.scale[k / parts],
        })
    }

    /// Quantity of one number of the spectrum of an output: without a period.
    pub fn quantity(&self, output: &Quantity) -> Quantity {
        let unit = match (&self.part, &self.over) {
            (SpectrumPart::Level, _) => "dB".to_string(),
            (_, Some(over)) if over.contains([' ', '/']) => format!("{}/({over})", output.unit),
            (_, Some(over)) => format!("{}/{over}", output.unit),
            (_, None) => output.unit.clone(),
        };
        Quantity::new(output.name.clone(), unit)
    }

    /// Axis over which lines are shown.
    pub fn axis(&self) -> Quantity {
        match self.speeds {
            None => Quantity::new("frequency", "Hz"),
            Some(unit) if self.has_speeds() => Quantity::new("speed", unit.name()),
            Some(_) => Quantity::new("order", "1"),
        }
    }

    /// True if lines differ in the shaft speed, too.
    fn has_speeds(&self) -> bool {
        self.lines.iter().any(|line| line.speed != self.lines[0].speed)
    }

    /// Revolutions a second that are 1 of the speed's unit, of amplitudes of orders at several speeds.
    pub fn speed_in_hertz(&self) -> Option<f64> {
        let unit = self.speeds.filter(|_| self.has_speeds() && self.part == SpectrumPart::Amplitude)?;
        Some(unit.radians() / std::f64::consts::TAU)
    }

    /// `12 amplitudes (orders 2 and 4 at 6 speeds)`.
    pub fn described(&self) -> String {
        let what = match (self.part, &self.over) {
            (SpectrumPart::Amplitude, None) => "amplitudes",
            (SpectrumPart::Amplitude, Some(_)) => "amplitudes of a frequency response",
            (SpectrumPart::Complex, None) => "real and imaginary parts",
            (SpectrumPart::Complex, Some(_)) => "real and imaginary parts of a frequency response",
            (SpectrumPart::Level, _) => "levels in dB",
        };
        let range = |values: &dyn Fn(&Line) -> f64, unit: &str| {
            let all = self.lines.iter().map(values);
            let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
            let [low, high] = [low, high].map(|x| shown(format!("{x:.3e}").parse().unwrap_or(x)));
            if low == high { format!("{low}{unit}") } else { format!("{low} to {high}{unit}") }
        };
        let lines = match self.speeds {
            None => range(&|line| line.at, " Hz"),
            Some(unit) => {
                let unit = format!(" {}", unit.name());
                let speeds = range(&|line| line.speed.unwrap_or_default(), &unit);
                format!("orders {} at {speeds}", range(&|line| line.at, ""))
            }
        };
        format!("{} {what} ({lines})", self.count())
    }

    /// `speed [rpm]`.
    pub fn speed_label(&self) -> String {
        format!("speed [{}]", self.speeds.unwrap_or_default().name())
    }

    /// The `k`-th order of those that differ.
    pub fn order(&self, k: usize) -> f64 {
        let mut orders: Vec<f64> = Vec::new();
        for line in &self.lines {
            if !orders.contains(&line.at) {
                orders.push(line.at);
            }
        }
        orders[k]
    }

    /// Place of a line on this axis.
    pub fn place(&self, line: &Line) -> f64 {
        line.speed.filter(|_| self.has_speeds()).unwrap_or(line.at)
    }

    /// Label of the curve of a number, if there are several.
    pub fn curve(&self, value: &LineValue) -> String {
        let part = match (self.part, value.is_imaginary) {
            (SpectrumPart::Complex, false) => "real part",
            (SpectrumPart::Complex, true) => "imaginary part",
            (SpectrumPart::Amplitude, _) => "amplitude",
            (SpectrumPart::Level, _) => "level",
        };
        match self.has_speeds() {
            true => format!("order {}, {part}", value.line.at),
            false => part.to_string(),
        }
    }

    /// A line in words.
    fn name(&self, line: usize) -> String {
        match self.lines[line] {
            Line { at, speed: Some(speed) } => {
                format!("order {at} at {speed} {}", self.speeds.unwrap_or_default().name())
            }
            Line { at, speed: None } => format!("the line at {at} Hz"),
        }
    }

    /// Fourier coefficients of samples.
    fn of(&self, samples: &[f64]) -> Vec<Complex<f64>> {
        let one = |terms: &Vec<Term>| terms.iter().map(|term| self.sum(term, samples)).sum();
        self.coefficients.iter().map(one).collect()
    }

    fn amplitude(&self, line: usize, coefficients: &[Complex<f64>]) -> f64 {
        let own = &coefficients[self.own[line].clone()];
        (own.iter().map(Complex::norm_sqr).sum::<f64>() / own.len() as f64).sqrt()
    }

    /// dA along directions of the coefficients; 0 where A is 0 and has no derivative.
    fn amplitude_along(&self, line: usize, at: &[Complex<f64>], along: &[Complex<f64>]) -> f64 {
        let (own, amplitude) = (self.own[line].clone(), self.amplitude(line, at));
        let count = own.len() as f64;
        match amplitude > 0.0 {
            true => own.map(|k| product(at[k], along[k])).sum::<f64>() / (count * amplitude),
            false => 0.0,
        }
    }

    /// Puts what is compared in the places of samples.
    pub(crate) fn see(&self, samples: &mut [f64], seen: &mut Spectral) {
        seen.coefficients = self.of(samples);
        samples.fill(0.0);
        for line in 0..self.lines.len() {
            let values = match self.part {
                SpectrumPart::Complex => {
                    let value = seen.coefficients[self.own[line].start];
                    [value.re, value.im]
                }
                part => [part.of(self.amplitude(line, &seen.coefficients))[0], 0.0],
            };
            self.put(line, values, samples);
        }
    }

    fn put(&self, line: usize, values: [f64; 2], samples: &mut [f64]) {
        let parts = self.parts();
        let places = samples[1 + line * parts..].iter_mut().take(parts);
        places.zip(values).for_each(|(place, value)| *place = self.scale[line] * value);
    }

    fn get(&self, line: usize, samples: &[f64]) -> [f64; 2] {
        let parts = self.parts();
        let first = 1 + line * parts;
        let second = if parts == 2 { samples[first + 1] } else { 0.0 };
        [self.scale[line] * samples[first], self.scale[line] * second]
    }

    /// The derivative of [`Transform::see`] along samples.
    pub(crate) fn see_along(&self, at: &Spectral, samples: &mut [f64], along: &mut Spectral) {
        along.coefficients = self.of(samples);
        samples.fill(0.0);
        for line in 0..self.lines.len() {
            let values = match self.part {
                SpectrumPart::Complex => {
                    let value = along.coefficients[self.own[line].start];
                    [value.re, value.im]
                }
                part => {
                    let [_, slope, _] = part.of(self.amplitude(line, &at.coefficients));
                    [slope * self.amplitude_along(line, &at.coefficients, &along.coefficients), 0.0]
                }
            };
            self.put(line, values, samples);
        }
    }

    /// Pulls derivatives of the cost by what is compared, in the places of samples, back to those by samples.
    pub(crate) fn pull_back(&self, samples: &mut [f64], at: &mut Spectral) {
        at.bar.clear();
        at.bar.extend_from_slice(samples);
        samples.fill(0.0);
        for line in 0..self.lines.len() {
            let [bar, other] = self.get(line, &at.bar);
            if self.part == SpectrumPart::Complex {
                self.spread(self.own[line].start, Complex::new(bar, other), samples);
                continue;
            }
            let amplitude = self.amplitude(line, &at.coefficients);
            if amplitude == 0.0 {
                continue;
            }
            let own = self.own[line].clone();
            let factor = bar * self.part.of(amplitude)[1] / (own.len() as f64 * amplitude);
            own.for_each(|k| self.spread(k, at.coefficients[k] * factor, samples));
        }
    }

    /// The derivative of [`Transform::pull_back`] along a direction; `at` has been pulled back.
    pub(crate) fn pull_back_along(&self, at: &Spectral, samples: &mut [f64], along: &mut Spectral) {
        along.bar.clear();
        along.bar.extend_from_slice(samples);
        samples.fill(0.0);
        for line in 0..self.lines.len() {
            let [bar_along, other] = self.get(line, &along.bar);
            if self.part == SpectrumPart::Complex {
                self.spread(self.own[line].start, Complex::new(bar_along, other), samples);
                continue;
            }
            let amplitude = self.amplitude(line, &at.coefficients);
            if amplitude == 0.0 {
                continue;
            }
            let [bar, _] = self.get(line, &at.bar);
            let [_, slope, curvature] = self.part.of(amplitude);
            let change = self.amplitude_along(line, &at.coefficients, &along.coefficients);
            let own = self.own[line].clone();
            let count = own.len() as f64;
            let factor = bar * slope / (count * amplitude);
            let factor_along = (bar_along * slope + bar * curvature * change) / (count * amplitude)
                - bar * slope * change / (count * amplitude * amplitude);
            for k in own {
                let bar = at.coefficients[k] * factor_along + along.coefficients[k] * factor;
                self.spread(k, bar, samples);
            }
        }
    }

    /// Adds the cost by samples for that by a Fourier coefficient.
    fn spread(&self, coefficient: usize, bar: Complex<f64>, samples: &mut [f64]) {
        for term in &self.coefficients[coefficient] {
            let bar = term.factor.conj() * bar;
            let places = samples[term.first..].iter_mut().zip(&self.tables[term.table]);
            places.for_each(|(place, c)| *place += product(*c, bar));
        }
    }
}
