//! Measured frequency responses, as analysers and shaker tables give them: each line is one residual more, or two, with exact derivatives.
//!
//! The model's response is that of small motions about the equilibrium at the first time of the first experiment ([`SmallMotions`]). With H
//! of the model, H̄ as measured, and σ the standard deviation of each part of H̄,
//!
//! ```text
//! complex      r = Re (H - H̄)/σ, Im (H - H̄)/σ         logarithm    r = ln |H/H̄| · |H̄|/σ, arg (H/H̄) · |H̄|/σ
//! amplitude    r = (|H| - |H̄|)/σ                      level        r = ln |H/H̄| · |H̄|/σ
//! ```
//!
//! Where σ is small beside |H̄|, the two of each column are the same but for phases: σ/|H̄| is the standard deviation of ln |H̄| and of the
//! phase in rad. Logarithms follow a peak from farther away; the phase is taken between -π and π.

mod otherwise;

use crate::beside::{Row, cost_of};
use crate::problem::{Experiment, Problem};
use crate::table::table;
use crate::{Error, Result};
use costate::jumps::Jump;
use costate::kinks::in_a_sentence;
use costate::modes::{Channel, Complex, Response, SmallMotions};
use costate::shown::rounded;
use costate::{Signature, jumps};
use serde_json::{Value, json};

/// Quantities by which a measured response is compared with the model's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Real and imaginary part.
    Complex,
    /// ln |H| and the phase.
    Logarithm,
    /// Amplitudes |H|.
    Amplitude,
    /// ln |H|: the same as in dB.
    Level,
}

impl Comparison {
    const ALL: [Comparison; 4] = [Comparison::Complex, Comparison::Logarithm, Comparison::Amplitude, Comparison::Level];

    /// Key of the comparison, as files and results write it.
    pub fn key(self) -> &'static str {
        match self {
            Comparison::Complex => "complex",
            Comparison::Logarithm => "logarithm",
            Comparison::Amplitude => "amplitude",
            Comparison::Level => "level",
        }
    }

    /// True if phases take part.
    pub fn has_phase(self) -> bool {
        matches!(self, Comparison::Complex | Comparison::Logarithm)
    }

    /// True if logarithms are compared.
    pub fn is_logarithmic(self) -> bool {
        matches!(self, Comparison::Logarithm | Comparison::Level)
    }
}

impl std::str::FromStr for Comparison {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Comparison::ALL.into_iter().find(|own| own.key() == name);
        found.ok_or_else(|| Error::unknown("kind of comparison", name, "", Comparison::ALL.map(Comparison::key)))
    }
}

/// Measurement at one frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredLine {
    /// Frequency, Hz, not negative.
    pub frequency: f64,
    /// H̄, the output's unit over the input's, of motions e^(i ω t); without a phase its magnitude.
    pub value: Complex<f64>,
    /// Standard deviation of each part of it, in the same unit.
    pub deviation: f64,
}

/// A measured frequency response from an input to an output.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredResponse {
    /// Name of the response.
    pub name: String,
    /// Input and output of the response.
    pub channel: Channel,
    /// Comparison with the model's response.
    pub comparison: Comparison,
    /// The lines, at least one.
    pub lines: Vec<MeasuredLine>,
}

impl MeasuredResponse {
    pub(crate) fn what(&self) -> String {
        format!("the measured frequency response `{}`", self.name)
    }

    /// Checks the numbers of the measurement, for a model of this signature.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`].
    pub fn validate(&self, signature: &Signature) -> Result<()> {
        let refuse = |problem: String, remedy: &str| Err(Error::invalid(self.what(), problem, remedy));
        let Channel { input, output } = self.channel;
        if input >= signature.inputs.len() || output >= signature.outputs.len() {
            return refuse("the model has no such input or output".into(), "name them by Channel::of");
        }
        if self.lines.is_empty() {
            return refuse("it has no line".into(), "give one frequency at least");
        }
        for MeasuredLine { frequency, value, deviation } in &self.lines {
            let at = format!("at {} Hz", rounded(*frequency, 6));
            if !(frequency.is_finite() && *frequency >= 0.0) {
                return refuse(format!("a frequency is {frequency} Hz"), "give frequencies that are not negative");
            }
            if !(value.re.is_finite() && value.im.is_finite()) {
                return refuse(format!("{at} it is {value}"), "leave that line out");
            }
            if self.comparison.is_logarithmic() && value.norm() == 0.0 {
                return refuse(
                    format!("{at} it is 0, which has no logarithm"),
                    "leave that line out, or compare = \"complex\"",
                );
            }
            if !(deviation.is_finite() && *deviation > 0.0) {
                let remedy = "give `deviation`, too, in the unit of the response, below which no part of it is known";
                return refuse(format!("{at} its deviation {deviation} is not positive"), remedy);
            }
        }
        Ok(())
    }

    /// Residuals against these responses of the model, a line each; with their derivatives, if the responses have them.
    fn rows(&self, found: &[Response]) -> Vec<Row> {
        let mut rows = Vec::new();
        for (MeasuredLine { value: measured, deviation, .. }, Response { value, slope }) in self.lines.iter().zip(found)
        {
            let weight = match self.comparison.is_logarithmic() {
                true => measured.norm() / deviation,
                false => deviation.recip(),
            };
            // dr = Re (factor dH), and its imaginary part where there is a second one
            let (residual, factor) = match self.comparison {
                Comparison::Complex => (value - measured, Complex::new(1.0, 0.0)),
                Comparison::Logarithm => ((value / measured).ln(), value.inv()),
                Comparison::Level => (Complex::new((value.norm() / measured.norm()).ln(), 0.0), value.inv()),
                Comparison::Amplitude => {
                    (Complex::new(value.norm() - measured.norm(), 0.0), value.conj() / value.norm())
                }
            };
            let moved: Vec<Complex<f64>> = slope.iter().map(|slope| factor * slope * weight).collect();
            let row = |residual: f64, of: fn(&Complex<f64>) -> f64| Row {
                residual: residual * weight,
                slope: moved.iter().map(of).collect(),
            };
            rows.push(row(residual.re, |z| z.re));
            if self.comparison.has_phase() {
                rows.push(row(residual.im, |z| z.im));
            }
        }
        rows
    }

    fn frequencies(&self) -> Vec<f64> {
        self.lines.iter().map(|line| line.frequency).collect()
    }

    /// A measurement of what the model gives, off by its deviations times what `z` gives.
    pub(crate) fn drawn(&self, found: &[Complex<f64>], z: &mut dyn FnMut() -> f64) -> MeasuredResponse {
        let of = |(line, found): (&MeasuredLine, &Complex<f64>)| {
            let value = match self.comparison.has_phase() {
                true => found + Complex::new(z(), z()) * line.deviation,
                false => Complex::new((found.norm() + z() * line.deviation).abs(), 0.0),
            };
            MeasuredLine { value, ..*line }
        };
        MeasuredResponse { lines: self.lines.iter().zip(found).map(of).collect(), ..self.clone() }
    }
}

impl Problem {
    /// The problem with a measured frequency response.
    ///
    /// # Errors
    /// As [`MeasuredResponse::validate`].
    pub fn with_response(mut self, response: MeasuredResponse) -> Result<Self> {
        response.validate(self.first().simulation.signature())?;
        self.responses.push(response);
        Ok(self)
    }

    /// Checks the numbers of all measured frequency responses.
    pub(crate) fn validate_responses(&self) -> Result<()> {
        let signature = self.first().simulation.signature();
        self.responses.iter().try_for_each(|response| response.validate(signature))
    }

    /// Responses of the model at `u`, for each measured one.
    fn responses_at(&self, u: &[f64], derivatives: bool) -> Result<Vec<Vec<Response>>> {
        if self.responses.is_empty() {
            return Ok(Vec::new());
        }
        let first = self.first();
        let motions = SmallMotions::about_equilibrium(&first.simulation, &first.own(u))?;
        let of = |own: &MeasuredResponse| {
            let found = motions.response(own.channel, &own.frequencies(), derivatives)?;
            let is_usable = |found: &Response| found.value.norm() > 0.0 || own.comparison == Comparison::Complex;
            match found.iter().position(|found| !is_usable(found)) {
                None => Ok(found),
                Some(k) => Err(costate::Error::NoResponse {
                    what: own.what(),
                    problem: format!("the model gives 0 at {} Hz", rounded(own.lines[k].frequency, 6)),
                    remedy: "leave that line out (from, until), or compare = \"complex\"".into(),
                }),
            }
        };
        self.responses.iter().map(of).collect::<costate::Result<_>>().map_err(Error::from)
    }

    /// Jumps that motions go through, which no derivative knows of, in a sentence: of the first experiment that has some.
    ///
    /// # Errors
    /// As [`costate::Simulation::run`].
    pub fn told_of_jumps(&self, u: &[f64]) -> Result<Option<String>> {
        for experiment in &self.experiments {
            let found = jumps::jumps(&experiment.simulation, Some(&*experiment.cost), &experiment.own(u))?;
            if let Some(sentence) = jumps::in_a_sentence(&found) {
                return Ok(Some(sentence));
            }
        }
        Ok(None)
    }

    /// The first kink of forces, outputs or the cost that a motion passes, of which no second derivative knows.
    ///
    /// # Errors
    /// As [`costate::Simulation::run`].
    pub fn kink_passed(&self, u: &[f64]) -> Result<Option<Jump>> {
        for experiment in &self.experiments {
            let found = jumps::kinks_passed(&experiment.simulation, Some(&*experiment.cost), &experiment.own(u))?;
            if let Some(first) = found.into_iter().min_by(|a, b| a.time.total_cmp(&b.time)) {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }

    /// Places where the linearisation that measured modes and frequency responses rest on has two sides, in a sentence.
    ///
    /// # Errors
    /// Without an equilibrium.
    pub fn told_of_kinks(&self, u: &[f64]) -> Result<Option<String>> {
        if self.modes.is_empty() && self.responses.is_empty() {
            return Ok(None);
        }
        let first = self.first();
        let motions = SmallMotions::about_equilibrium(&first.simulation, &first.own(u))?;
        let channels: Vec<Channel> = self.responses.iter().map(|own| own.channel).collect();
        Ok(in_a_sentence(&motions.kinks(&channels)))
    }

    /// Cost of measured frequency responses at `u`: ½ Σ r².
    ///
    /// # Errors
    /// Without an equilibrium, or where the model has no response.
    pub fn response_cost(&self, u: &[f64]) -> Result<f64> {
        let found = self.responses_at(u, false)?;
        Ok(self.responses.iter().zip(&found).map(|(own, found)| cost_of(&own.rows(found))).sum())
    }

    /// Residuals of the measured responses at `u`, each with its derivatives by all parameters.
    pub(crate) fn response_rows(&self, u: &[f64]) -> Result<Vec<Row>> {
        let found = self.responses_at(u, true)?;
        let Experiment { places, .. } = self.first();
        let spread = |own: Row| {
            let mut slope = vec![0.0; u.len()];
            places.iter().zip(own.slope).for_each(|(&k, own)| slope[k] = own);
            Row { slope, ..own }
        };
        Ok(self.responses.iter().zip(&found).flat_map(|(own, found)| own.rows(found)).map(spread).collect())
    }
}

/// Comparison of a measured frequency response with the model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResponseResult {
    /// The measurement.
    pub measured: MeasuredResponse,
    /// Responses of the model, line by line.
    pub found: Vec<Complex<f64>>,
    /// Residuals in deviations: one a line, or two.
    pub residuals: Vec<f64>,
    /// Unit of both.
    pub unit: String,
}

/// Residuals below so many deviations are no sign of a wrong model alone.
const FAR: f64 = 5.0;
/// Part of a response that is left where less than a hundredth is explained.
const NEARLY: f64 = 0.99;

impl ResponseResult {
    /// Comparisons of all measured responses of a problem at `u`.
    ///
    /// # Errors
    /// As [`Problem::response_cost`].
    pub fn all(problem: &Problem, u: &[f64]) -> Result<Vec<ResponseResult>> {
        let signature = problem.first().simulation.signature();
        let of = |(own, found): (&MeasuredResponse, Vec<Response>)| ResponseResult {
            measured: own.clone(),
            residuals: own.rows(&found).iter().map(|row| row.residual).collect(),
            found: found.iter().map(|found| found.value).collect(),
            unit: unit_of(signature, own.channel),
        };
        Ok(problem.responses.iter().zip(problem.responses_at(u, false)?).map(of).collect())
    }

    /// √(Σ r²/n): about 1 where the model is right and the deviations are.
    pub fn rms(&self) -> f64 {
        (self.residuals.iter().map(|r| r * r).sum::<f64>() / self.residuals.len() as f64).sqrt()
    }

    /// True if the model is no nearer to what was measured than nothing is: than no motion at all where values are compared, than a constant where
    /// logarithms are.
    pub fn explains_nothing(&self) -> bool {
        self.rms() > FAR && self.missed() > NEARLY * self.baseline()
    }

    /// The part of what was measured that is explained: 1 where all is, 0 where no motion at all (of logarithms, a constant) would be as near.
    pub fn r_squared(&self) -> f64 {
        1.0 - self.missed() / self.baseline()
    }

    /// Sentence that the model is farther from it than no motion is, if that is so, as at a start.
    pub fn doubt(&self) -> Option<String> {
        (self.rms() > FAR && self.missed() > self.baseline()).then(|| {
            format!(
                "the model is farther from {} than no motion is (R^2 = {}): look at its unit (dB or a plain ratio), its frequencies (Hz or rad/s) and the sign of its \
                 phases, or start nearer",
                self.measured.what(),
                rounded(self.r_squared(), 3)
            )
        })
    }

    fn missed(&self) -> f64 {
        self.residuals.iter().map(|r| r * r).sum()
    }

    /// Squares that no motion would miss.
    fn baseline(&self) -> f64 {
        let lines = &self.measured.lines;
        let weighted = |line: &MeasuredLine| line.value.norm() / line.deviation;
        if !self.measured.comparison.is_logarithmic() {
            return lines.iter().map(|line| weighted(line).powi(2)).sum();
        }
        let weights: f64 = lines.iter().map(|line| weighted(line).powi(2)).sum();
        let level = |line: &MeasuredLine| line.value.norm().ln();
        let mean = lines.iter().map(|line| weighted(line).powi(2) * level(line)).sum::<f64>() / weights;
        lines.iter().map(|line| (weighted(line) * (level(line) - mean)).powi(2)).sum()
    }

    /// The largest residual, in deviations, with the frequency of its line in Hz.
    pub fn largest(&self) -> (f64, f64) {
        let each = self.residuals.len() / self.measured.lines.len();
        let mut largest = (0.0f64, self.measured.lines[0].frequency); // there is one
        for (k, r) in self.residuals.iter().enumerate().filter(|(_, r)| !r.is_nan()) {
            if r.abs() > largest.0.abs() {
                largest = (*r, self.measured.lines[k / each].frequency);
            }
        }
        largest
    }

    /// Report for a person: a table.
    pub fn report(results: &[ResponseResult]) -> String {
        let row = |result: &ResponseResult| {
            let frequencies = result.measured.frequencies();
            let [least, most] = [f64::min, f64::max].map(|of| frequencies.iter().copied().fold(frequencies[0], of));
            let (largest, at) = result.largest();
            vec![
                result.measured.name.clone(),
                frequencies.len().to_string(),
                format!("{} to {} Hz", rounded(least, 4), rounded(most, 4)),
                result.measured.comparison.key().to_string(),
                format!("{} deviations", rounded(result.rms(), 3)),
                format!("{} at {} Hz", rounded(largest, 3), rounded(at, 5)),
            ]
        };
        let rows: Vec<Vec<String>> = results.iter().map(row).collect();
        let cost: f64 = 0.5 * results.iter().flat_map(|result| &result.residuals).map(|r| r * r).sum::<f64>();
        let header = ["frequency response", "lines", "range", "compared", "off by (rms)", "most"];
        format!("{}\ncost of the frequency responses {cost:.6e}", table(&header, &rows))
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let (largest, at) = self.largest();
        let line = |(line, found): (&MeasuredLine, &Complex<f64>)| {
            let MeasuredLine { frequency, value, deviation } = line;
            json!({
                "frequency": frequency, "measured": [value.re, value.im], "deviation": deviation,
                "found": [found.re, found.im],
            })
        };
        json!({
            "name": self.measured.name, "unit": self.unit, "compared": self.measured.comparison.key(),
            "rms": self.rms(), "largest": largest, "largest_at": at,
            "lines": self.measured.lines.iter().zip(&self.found).map(line).collect::<Vec<_>>(),
        })
    }
}

/// The output's unit over the input's.
pub(crate) fn unit_of(signature: &Signature, channel: Channel) -> String {
    let quantities = [&signature.outputs[channel.output], &signature.inputs[channel.input]];
    let [above, below] = quantities.map(|quantity| match quantity.unit.trim() {
        "" | "-" => "1".to_string(),
        unit if unit.contains(['/', ' ', '*']) => format!("({unit})"),
        unit => unit.to_string(),
    });
    if below == "1" { above } else { format!("{above}/{below}") }
}
