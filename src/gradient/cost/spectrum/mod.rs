//! Spectra of outputs, which are compared in the frequency domain, in the place of samples: Fourier amplitudes at frequencies or at orders
//! of a shaft, spectra over a band, frequency responses.
//!
//! A line's Fourier coefficient is Y = Σ_j c_j z_j, linear in the samples (Lauss 2018, section 6), with c_j = 2 w_j e^{-iφ_j} / Σ w: a sine of
//! amplitude A gives |Y| = A. The mean of each window is taken off, behind a window of Hann a straight trend, too; that is linear, and so is part
//! of c. A rectangular window keeps the trend, without which whole periods would no longer be sharp.

mod kinds;
mod transform;

pub use kinds::{SpectrumPart, SpeedUnit, Window};
pub use transform::{Line, LineValue};
pub(crate) use transform::{Spectral, Transform};

use super::low_pass::LowPass;
use crate::shown::shown;
use crate::{Error, Result};
use nalgebra::Complex;
use std::f64::consts::{PI, TAU};
use std::ops::Range;
use transform::Term;

/// A spectrum of an output: the lines that are compared in the frequency domain.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// Frequencies or orders of the lines.
    pub lines: Lines,
    /// Weights of the samples within a window.
    pub window: Window,
    /// Quantity that is compared of each line.
    pub part: SpectrumPart,
}

/// Frequencies or orders of the lines of a spectrum.
#[derive(Debug, Clone, PartialEq)]
pub enum Lines {
    /// Lines at these frequencies, Hz, over the whole record.
    Frequencies(Vec<f64>),
    /// All lines in a band, Hz: root mean squares over windows of 1/`resolution` seconds that overlap by half (Welch's method).
    Band {
        /// The lowest frequency, Hz.
        from: f64,
        /// The highest, Hz.
        until: f64,
        /// Distance between two lines, Hz.
        resolution: f64,
    },
    /// Lines at multiples of the speed of a shaft, over so many of its revolutions about the time at which it first passes each of some
    /// speeds.
    Orders {
        /// Multiples of the shaft's speed.
        orders: Vec<f64>,
        /// The shaft's speed at each sample of the output.
        speed: Vec<f64>,
        /// Speeds of the shaft at which the orders are compared.
        speeds: Vec<f64>,
        /// The unit of both.
        unit: SpeedUnit,
        /// Revolutions of each window.
        revolutions: f64,
    },
    /// Frequency response from a known input, Σ X* Y / Σ |X|² over windows as of [`Lines::Band`] (estimator H₁: for noise on the output).
    Response {
        /// The input at each sample of the output.
        input: Vec<f64>,
        /// Unit of the response.
        unit: String,
        /// The lowest frequency, Hz.
        from: f64,
        /// The highest, Hz.
        until: f64,
        /// Distance between two lines, Hz.
        resolution: f64,
    },
}

/// Evenly spaced samples, of which those in a range can be compared.
struct Samples<'a> {
    times: &'a [f64],
    step: f64,
    range: Range<usize>,
}

impl Samples<'_> {
    fn duration(&self) -> f64 {
        self.range.len() as f64 * self.step
    }

    /// Checks that the samples resolve a frequency.
    fn resolve(&self, frequency: f64, line: impl Fn() -> String) -> Result<()> {
        let highest = 0.5 / self.step;
        if frequency < highest {
            return Ok(());
        }
        let problem = format!(
            "{} Hz; samples {} s apart resolve what is below {} Hz, half their frequency",
            three(frequency),
            three(self.step),
            three(highest)
        );
        Err(Error::invalid(line(), problem, "leave it out, or sample more often"))
    }
}

impl Spectrum {
    /// Made for samples at `times`, of which those in `range` can be compared with `measured`, filtered by `filter` before.
    ///
    /// # Errors
    /// [`Error::Invalid`] if samples are uneven, missing, or too few for the lines, too far apart for a frequency, or a speed is not reached.
    pub(super) fn transform(
        &self,
        times: &[f64],
        range: Range<usize>,
        measured: &[f64],
        filter: Option<&LowPass>,
    ) -> Result<Transform> {
        let what = "the spectrum";
        if let Some(t) = range.clone().find(|&i| measured[i].is_nan()).map(|i| times[i]) {
            let problem = format!("the sample at {t} s is missing");
            return Err(Error::invalid(what, problem, "choose samples without gaps: `from` and `until`"));
        }
        let step = even_step(times).map_err(|problem| {
            Error::invalid(what, problem, "choose a piece without gaps (`from`, `until`), or resample the record")
        })?;
        let samples = Samples { times, step, range };
        let mut transform = Transform::new(self.part, times.len());
        match &self.lines {
            Lines::Frequencies(frequencies) => self.at_frequencies(&samples, frequencies, &mut transform)?,
            Lines::Band { from, until, resolution } => {
                self.band(&samples, [*from, *until, *resolution], None, &mut transform)?;
            }
            Lines::Orders { orders, speed, speeds, unit, revolutions } => {
                transform.speeds = Some(*unit);
                let shaft = Shaft::new(&samples, speed, *unit)?;
                self.at_orders(&samples, (orders, speeds), (&shaft, *revolutions), &mut transform)?;
            }
            Lines::Response { input, unit, from, until, resolution } => {
                transform.over = Some(unit.clone());
                self.band(&samples, [*from, *until, *resolution], Some(input), &mut transform)?;
            }
        }
        transform.fit(measured, filter)?;
        Ok(transform)
    }

    /// Coefficients of a line of phases φ_j, weighted; `x`: what a straight trend, which a window of Hann takes off, is straight in.
    fn table(&self, phases: &[f64], weights: &[f64], x: &[f64]) -> Vec<Complex<f64>> {
        let total: f64 = weights.iter().sum();
        let mean = |values: &dyn Fn(usize) -> Complex<f64>| {
            let sum: Complex<f64> = (0..weights.len()).map(|j| values(j) * weights[j]).sum();
            sum / total
        };
        let wave = |j: usize| Complex::from_polar(1.0, -phases[j]);
        let middle = mean(&|j| Complex::from(x[j])).re;
        let constant = mean(&wave);
        let spread = mean(&|j| Complex::from((x[j] - middle).powi(2))).re;
        let has_trend = self.window == Window::Hann && spread > 0.0;
        let slope = if has_trend { mean(&|j| wave(j) * (x[j] - middle)) / spread } else { Complex::from(0.0) };
        let entry = |j: usize| (wave(j) - constant - slope * (x[j] - middle)) * (2.0 * weights[j] / total);
        (0..weights.len()).map(entry).collect()
    }

    /// Checks that a window holds periods enough of a line.
    fn long_enough(&self, periods: f64, line: impl Fn() -> String, remedy: &str) -> Result<()> {
        let fewest = self.window.fewest_periods();
        if periods >= fewest * (1.0 - 1e-9) {
            return Ok(());
        }
        let window = if self.window == Window::Hann { "a Hann" } else { "a rectangular" };
        let problem = format!("its window holds {} periods of it; {window} window needs {fewest}", three(periods));
        Err(Error::invalid(line(), problem, remedy))
    }

    /// Checks that lines are far enough apart to tell different things: nearer to each other, noise makes the same of them, and standard
    /// errors would be too small.
    fn apart(&self, frequencies: &[f64], duration: f64) -> Result<()> {
        let mut sorted = frequencies.to_vec();
        sorted.sort_by(f64::total_cmp);
        let least = self.window.fewest_periods() / duration;
        match sorted.windows(2).find(|pair| pair[1] - pair[0] < least * (1.0 - 1e-9)) {
            Some(pair) => {
                let problem = format!(
                    "the next is {} Hz away; a record of {} s tells lines apart from {} Hz on",
                    three(pair[1] - pair[0]),
                    three(duration),
                    three(least)
                );
                Err(Error::invalid(format!("the line at {} Hz", pair[0]), problem, "leave one of them out"))
            }
            None => Ok(()),
        }
    }

    fn at_frequencies(&self, samples: &Samples<'_>, frequencies: &[f64], transform: &mut Transform) -> Result<()> {
        let own = &samples.times[samples.range.clone()];
        let count = own.len();
        transform.room(frequencies.len(), count)?;
        let weights: Vec<f64> = (0..count).map(|j| self.window.weight((j as f64 + 0.5) / count as f64 - 0.5)).collect();
        self.apart(frequencies, samples.duration())?;
        transform.shares_noise = frequencies.len() > 1 && self.window.fewest_periods() > 1.0;
        for &frequency in frequencies {
            let line = || format!("the line at {frequency} Hz");
            positive(frequency, line, "a frequency")?;
            samples.resolve(frequency, line)?;
            let remedy = "take a longer record, or a higher frequency";
            self.long_enough(frequency * samples.duration(), line, remedy)?;
            let phases: Vec<f64> = own.iter().map(|t| TAU * frequency * (t - own[0])).collect();
            let table = transform.add_table(self.table(&phases, &weights, own));
            let term = Term { first: samples.range.start, table, factor: Complex::from(1.0) };
            transform.add(Line { at: frequency, speed: None }, vec![vec![term]]);
        }
        Ok(())
    }

    /// `known`: the input of a frequency response.
    fn band(
        &self,
        samples: &Samples<'_>,
        [from, until, resolution]: [f64; 3],
        known: Option<&[f64]>,
        transform: &mut Transform,
    ) -> Result<()> {
        let what = || format!("the band from {from} Hz to {until} Hz");
        positive(resolution, what, "a resolution")?;
        if !(0.0 <= from && from <= until && until.is_finite()) {
            return Err(Error::invalid(what(), "it is none", "give a lower and a higher frequency"));
        }
        let length = (1.0 / (resolution * samples.step)).round();
        if length > samples.range.len() as f64 {
            let (asked, there) = (three(1.0 / resolution), three(samples.duration()));
            let problem =
                format!("lines {resolution} Hz apart need windows of {asked} s, and the record has {there} s");
            return Err(Error::invalid(what(), problem, "ask for a coarser resolution, or take a longer record"));
        }
        samples.resolve(until, || format!("the upper end of {}", what()))?;
        let (length, spacing) = (length as usize, 1.0 / (length * samples.step));
        let first = (from / spacing - 1e-9).ceil() as usize;
        let last = (until / spacing + 1e-9).floor() as usize;
        if last < first {
            let problem = format!("there is no line in it: they are multiples of {} Hz", three(spacing));
            return Err(Error::invalid(what(), problem, "widen it, or ask for a finer resolution"));
        }
        let line = || format!("the line at {} Hz", three(first as f64 * spacing));
        self.long_enough(first as f64, line, "begin the band higher, or ask for a finer resolution")?;
        transform.room(last - first + 1, length)?;
        let x: Vec<f64> = (0..length).map(|j| j as f64).collect();
        let weights: Vec<f64> = x.iter().map(|j| self.window.weight((j + 0.5) / length as f64 - 0.5)).collect();
        let starts: Vec<usize> =
            (samples.range.start..=samples.range.end - length).step_by((length / 2).max(1)).collect();
        let mut strengths = Vec::new();
        // lines are one period of the window apart
        transform.shares_noise = starts.len() > 1 || last > first && self.window.fewest_periods() > 1.0;
        for k in first..=last {
            let phases: Vec<f64> = x.iter().map(|j| TAU * k as f64 * j / length as f64).collect();
            let table = transform.add_table(self.table(&phases, &weights, &x));
            let term = |first: usize, factor: Complex<f64>| Term { first, table, factor };
            let line = Line { at: k as f64 * spacing, speed: None };
            let Some(input) = known else {
                // one estimate a window: phases of different ones have nothing to do with each other
                if self.part == SpectrumPart::Complex && starts.len() > 1 {
                    let problem = format!("phases of {} windows do not add up", starts.len());
                    let remedy = "compare amplitudes, or ask for frequencies or a response";
                    return Err(Error::invalid(what(), problem, remedy));
                }
                transform.add(line, starts.iter().map(|first| vec![term(*first, Complex::from(1.0))]).collect());
                continue;
            };
            let of_input = |first: &usize| transform.sum(&term(*first, Complex::from(1.0)), input);
            let of_input: Vec<Complex<f64>> = starts.iter().map(of_input).collect();
            let strength: f64 = of_input.iter().map(|x| x.norm_sqr()).sum();
            strengths.push((line.at, strength));
            let terms = starts.iter().zip(of_input).map(|(first, x)| term(*first, x.conj() / strength)).collect();
            transform.add(line, vec![terms]);
        }
        let most = strengths.iter().fold(0.0, |most: f64, (_, strength)| most.max(*strength));
        // below a millionth of the strongest amplitude, the input is round-off or leakage
        match strengths.iter().find(|(_, strength)| strength.is_nan() || *strength <= 1e-12 * most) {
            Some((at, _)) => {
                let problem = format!("its input has nothing at {} Hz", three(*at));
                Err(Error::invalid("the frequency response", problem, "choose a band that the input excites"))
            }
            None => Ok(()),
        }
    }

    fn at_orders(
        &self,
        samples: &Samples<'_>,
        (orders, speeds): (&[f64], &[f64]),
        (shaft, revolutions): (&Shaft<'_>, f64),
        transform: &mut Transform,
    ) -> Result<()> {
        positive(revolutions, || "a window of an order".to_string(), "a number of revolutions")?;
        let speed = shaft.speed;
        // windows about speeds that are near to each other overlap
        transform.shares_noise = orders.len() * speeds.len() > 1;
        for &asked in speeds {
            let (window, middle) = shaft.window(samples, asked, revolutions)?;
            let phases = &shaft.angle[window.clone()];
            let half = PI * revolutions;
            // even in the angle: dφ = ω dt
            let weights: Vec<f64> = window
                .clone()
                .zip(phases)
                .map(|(j, angle)| self.window.weight((angle - middle) / (2.0 * half)) * speed[j].abs())
                .collect();
            transform.room(orders.len(), window.len())?;
            let fastest = window.clone().map(|j| speed[j].abs()).fold(0.0, f64::max);
            for &order in orders {
                let line = || format!("order {order} at {} {}", three(asked), shaft.unit.name());
                positive(order, line, "an order")?;
                samples.resolve(order * fastest * shaft.unit.radians() / TAU, line)?;
                self.long_enough(order * revolutions, line, "ask for more revolutions, or a higher order")?;
                let own: Vec<f64> = phases.iter().map(|angle| order * (angle - middle)).collect();
                let table = transform.add_table(self.table(&own, &weights, phases));
                let term = Term { first: window.start, table, factor: Complex::from(1.0) };
                transform.add(Line { at: order, speed: Some(asked) }, vec![vec![term]]);
            }
        }
        Ok(())
    }
}

/// A shaft whose speed is known at samples.
struct Shaft<'a> {
    speed: &'a [f64],
    unit: SpeedUnit,
    /// Angle of the shaft, rad.
    angle: Vec<f64>,
}

impl<'a> Shaft<'a> {
    fn new(samples: &Samples<'_>, speed: &'a [f64], unit: SpeedUnit) -> Result<Self> {
        if let Some(i) = samples.range.clone().find(|&i| !speed[i].is_finite()) {
            let problem = format!("its speed at {} s is missing", samples.times[i]);
            return Err(Error::invalid("the shaft", problem, "give a speed for every sample"));
        }
        let (mut angle, half) = (vec![0.0; speed.len()], 0.5 * samples.step * unit.radians());
        for j in samples.range.start + 1..samples.range.end {
            angle[j] = angle[j - 1] + half * (speed[j - 1] + speed[j]);
        }
        Ok(Shaft { speed, unit, angle })
    }

    /// The samples within so many revolutions about the first time at which it passes a speed, and its angle there.
    fn window(&self, samples: &Samples<'_>, asked: f64, revolutions: f64) -> Result<(Range<usize>, f64)> {
        let unit = self.unit.name();
        let what = || format!("the speed of {} {unit}", three(asked));
        let range = samples.range.clone();
        let (speed, angle) = (self.speed, &self.angle);
        let passes = |j: &usize| (speed[*j] - asked) * (speed[*j + 1] - asked) <= 0.0;
        let Some(j) = (range.start..range.end.saturating_sub(1)).find(passes) else {
            let own = &speed[range];
            let (low, high) = own.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), s| (a.min(*s), b.max(*s)));
            let problem =
                format!("the shaft does not pass it: the run goes from {} to {} {unit}", three(low), three(high));
            return Err(Error::invalid(what(), problem, "ask for speeds that it passes"));
        };
        let part = if speed[j + 1] == speed[j] { 0.0 } else { (asked - speed[j]) / (speed[j + 1] - speed[j]) };
        let middle = angle[j] + part * (angle[j + 1] - angle[j]);
        let inside = |i: &usize| (angle[*i] - middle).abs() <= PI * revolutions;
        let first = (range.start..=j).rev().take_while(inside).last().unwrap_or(j);
        let last = (j + 1..range.end).take_while(inside).last().unwrap_or(j + 1);
        if first == range.start || last + 1 == range.end {
            let side = if first == range.start { "before" } else { "after" };
            let turns = if first == range.start { middle - angle[first] } else { angle[last] - middle } / TAU;
            let problem = format!(
                "there are {} revolutions {side} it, and a window of {revolutions} needs {}",
                three(turns.abs()),
                three(0.5 * revolutions)
            );
            return Err(Error::invalid(what(), problem, "ask for fewer revolutions, or a speed farther from the ends"));
        }
        Ok((first..last + 1, middle))
    }
}

/// The step between samples, or what is wrong with it: the interval that differs most from the usual one.
pub(super) fn even_step(times: &[f64]) -> std::result::Result<f64, String> {
    let [first, .., last] = times else { return Err("there is one sample only".to_string()) };
    let step = (last - first) / (times.len() - 1) as f64;
    let is_even = |pair: &[f64]| (pair[1] - pair[0] - step).abs() <= 1e-3 * step;
    if times.windows(2).all(is_even) {
        return Ok(step);
    }
    let mut lengths: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    lengths.sort_by(f64::total_cmp);
    let usual = lengths[lengths.len() / 2];
    let differs = |pair: &[f64]| (pair[1] - pair[0] - usual).abs();
    let worst = times.windows(2).max_by(|a, b| differs(a).total_cmp(&differs(b))).unwrap_or(&times[..2]);
    let (from, until) = (worst[0], worst[1]);
    let (length, usual) = (three(until - from), three(usual));
    Err(format!(
        "samples are unevenly spaced: from {} s to {} s is {length} s, where {usual} s is usual",
        shown(from),
        shown(until)
    ))
}

fn positive(value: f64, of: impl Fn() -> String, name: &str) -> Result<()> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(Error::invalid(of(), format!("{value} is not positive"), format!("give {name} > 0"))),
    }
}

/// A number with three digits.
fn three(value: f64) -> String {
    shown(format!("{value:.2e}").parse().unwrap_or(value))
}
