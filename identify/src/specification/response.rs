//! A measured frequency response as a problem file states it, and what its record makes of it.

use super::recording::reversed;
use super::{Calibration, Specification};
use crate::error::Locate;
use crate::problem::Problem;
use crate::response::{Comparison, MeasuredLine, MeasuredResponse, ResponseResult, unit_of};
use crate::{Error, Result};
use costate::Signature;
use costate::modes::{Channel, Complex};
use costate::shown::shown;
use costate_data::Record;
use costate_data::columns::{self, Column, Keys, Sought};
use costate_data::header;
use costate_data::unit::{Conversion, conversion};
use std::path::PathBuf;

/// A record of a frequency response.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponseSetting {
    /// File of the record.
    pub file: PathBuf,
    /// The model's input that it is from.
    pub input: String,
    /// The output that it leads to.
    pub output: String,
    /// Name of the response; `OUTPUT/INPUT` if nothing is said.
    pub name: Option<String>,
    /// The column of frequencies, and its unit where the header has none; so are the others.
    pub frequency: (Option<String>, Option<String>),
    /// The column of magnitudes; its unit is [`ResponseSetting::unit`].
    pub magnitude: Option<String>,
    /// The column of phases.
    pub phase: (Option<String>, Option<String>),
    /// The column of real parts.
    pub real: Option<String>,
    /// The column of imaginary parts.
    pub imaginary: Option<String>,
    /// The unit of magnitudes or parts, `dB` among others.
    pub unit: Option<String>,
    /// The lowest frequency that takes part, Hz.
    pub from: Option<f64>,
    /// The highest one, Hz.
    pub until: Option<f64>,
    /// Comparison with the model: by default of all that was measured.
    pub comparison: Option<Comparison>,
    /// Standard deviation of each part, in the model's unit of the response.
    pub deviation: Option<f64>,
    /// Standard deviation of each part beside the magnitude.
    pub relative_deviation: Option<f64>,
    /// The column of coherence, and over how many windows it is.
    pub coherence: Option<(String, f64)>,
}

impl Specification {
    /// Adds the measured frequency responses, which the model must have at its start.
    pub(super) fn read_responses(&self, problem: &mut Problem, notes: &mut Vec<String>) -> Result<()> {
        for (k, setting) in self.responses.iter().enumerate() {
            let read = setting.measured(problem.first().simulation.signature());
            let (measured, own) = read.map_err(|error| error.under(&["response", &(k + 1).to_string()]))?;
            problem.responses.push(measured);
            notes.extend(own);
        }
        ResponseResult::all(problem, &problem.start).map_err(|error| error.under(&["response"]))?;
        Ok(())
    }
}

/// Columns as they are usually called, in small letters.
const FREQUENCY: [&str; 7] = ["f", "freq", "frequency", "frequencies", "omega", "w", "ω"];
const ANGULAR: [&str; 3] = ["omega", "w", "ω"];
const MAGNITUDE: [&str; 9] = ["magnitude", "mag", "amplitude", "amp", "gain", "abs", "modulus", "|h|", "h"];
const PHASE: [&str; 5] = ["phase", "arg", "argument", "angle", "phi"];
const REAL: [&str; 4] = ["real", "re", "real part", "re(h)"];
const IMAGINARY: [&str; 5] = ["imaginary", "imag", "im", "imaginary part", "im(h)"];

/// Lines whose deviation is a larger part of them make complex fits biased.
const ROUGH: f64 = 0.15;
/// The squares of larger ratios of a magnitude and its deviation are no numbers.
const LARGEST_RATIO: f64 = 1e140;

/// Values with the name of their column.
type Values = (String, Vec<f64>);

/// A record that is read.
struct Reading<'a> {
    setting: &'a ResponseSetting,
    record: &'a Record,
    notes: Vec<String>,
}

impl ResponseSetting {
    /// Reads it, for a model of this signature; with sentences on what was assumed.
    ///
    /// # Errors
    /// No such input, output, file or column; a unit that no factor leads from; nothing that says how exact it is.
    pub(super) fn measured(&self, signature: &Signature) -> Result<(MeasuredResponse, Vec<String>)> {
        let input = signature.input_index(&self.input).map_err(|error| error.under(&["input"]))?;
        let output = signature.output_index(&self.output).map_err(|error| error.under(&["output"]))?;
        let channel = Channel { input, output };
        if let (Some(from), Some(until)) = (self.from, self.until)
            && from > until
        {
            return Err(reversed(from, until, "Hz").under(&["until"]));
        }
        let unit = unit_of(signature, channel);
        let record = Record::read(&self.file).map_err(|error| error.under(&["file"]))?;
        let mut reading = Reading { setting: self, record: &record, notes: Vec::new() };
        reading.notes.extend(record.remarks().iter().cloned());
        let frequencies = reading.frequency()?;
        let (values, has_phase) = reading.values(&unit)?;
        let relative = reading.relative_deviations()?;
        let notes = reading.notes;
        let comparison = match (self.comparison, has_phase) {
            (Some(comparison), false) if comparison.has_phase() => {
                let problem = format!("{} has no phase", self.file.display());
                let remedy = "name the column of phases (phase), or take compare = \"amplitude\" or \"level\"";
                let what = format!("compare = \"{}\"", comparison.key());
                return Err(Error::invalid(what, problem, remedy).under(&["compare"]));
            }
            (Some(comparison), _) => comparison,
            (None, true) => Comparison::Complex,
            (None, false) => Comparison::Amplitude,
        };
        let (mut lines, mut blank) = (Vec::new(), 0);
        for (k, (&frequency, value)) in frequencies.iter().zip(values).enumerate() {
            let is_beyond =
                self.from.is_some_and(|from| frequency < from) || self.until.is_some_and(|until| frequency > until);
            if frequency.is_nan() || value.is_nan() || relative[k].is_nan() {
                blank += 1;
            } else if !is_beyond {
                let deviation = self.deviation.unwrap_or(0.0).hypot(relative[k] * value.norm());
                lines.push(MeasuredLine { frequency, value, deviation });
            }
        }
        let is_absurd = |line: &&MeasuredLine| {
            let ratio = line.value.norm() / line.deviation;
            ratio > LARGEST_RATIO || ratio > 0.0 && ratio < LARGEST_RATIO.recip()
        };
        if let Some(line) = lines.iter().find(is_absurd) {
            let problem = format!(
                "at {} Hz it is {:e}, with a deviation of {:e}",
                line.frequency,
                line.value.norm(),
                line.deviation
            );
            let remedy = "give a deviation of the size of its noise, in the unit of the response";
            return Err(Error::file(&self.file, None, problem, remedy));
        }
        if lines.is_empty() {
            let there = frequencies.iter().copied().filter(|frequency| !frequency.is_nan());
            let (least, most) = there.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), f| (a.min(f), b.max(f)));
            let problem =
                format!("none of its frequencies takes part (they go from {} Hz to {} Hz)", shown(least), shown(most));
            let remedy = match (self.from, self.until) {
                _ if blank == frequencies.len() => "fill its cells",
                (Some(_), Some(_)) => "widen `from` and `until` (Hz)",
                (Some(_), None) => "give a lower `from` (Hz)",
                (None, Some(_)) => "give a higher `until` (Hz)",
                (None, None) => "fill its cells",
            };
            return Err(Error::file(&self.file, None, problem, remedy));
        }
        let mut notes = notes;
        if blank > 0 {
            notes.push(format!("{}: {blank} lines with an empty cell are left out", self.file.display()));
        }
        let is_rough = |line: &&MeasuredLine| line.deviation > ROUGH * line.value.norm();
        let rough = lines.iter().filter(is_rough).count();
        if !comparison.is_logarithmic() && 10 * rough > lines.len() {
            notes.push(format!(
                "warning: {}: {rough} of {} lines are known to less than {} %: where deviations go by measured magnitudes, lines that came out too small weigh too \
                 much, and pull the fit; compare = \"{}\" is not biased so",
                self.file.display(),
                lines.len(),
                100.0 * ROUGH,
                if has_phase { "logarithm" } else { "level" }
            ));
        }
        let name = self.name.clone().unwrap_or_else(|| channel.name(signature));
        let measured = MeasuredResponse { name, channel, comparison, lines };
        measured.validate(signature)?;
        Ok((measured, notes))
    }
}

impl Reading<'_> {
    /// The name, without its unit, of the column that is meant: the one that is given, or one of the usual ones.
    fn named(&self, given: Option<&String>, usual: &[&str], unit: &str) -> Option<String> {
        if let Some(name) = given {
            return Some(name.clone());
        }
        let stem = |header: &String| match decibel(header) {
            Some((stem, _)) => stem.to_string(),
            None => header::read(header, unit).first().map_or(header.clone(), |own| own.name.to_string()),
        };
        let all: Vec<String> = self.record.names().iter().map(stem).collect();
        let is = |name: &&str| all.iter().find(|own| own.to_lowercase() == **name);
        usual.iter().find_map(is).cloned()
    }

    /// Values of the column of a quantity in a unit; `stated` and `key`: what is said of its own, and where that may be said.
    fn find(
        &mut self,
        (quantity, column): (&str, &str),
        unit: &str,
        (stated, key): (Option<&str>, Option<&str>),
    ) -> Result<Values> {
        let calibration = Calibration::new(stated.map(str::to_string), None, None);
        let sought = Sought {
            column,
            quantity,
            unit,
            calibration: key.map(|_| &calibration),
            keys: key.map_or(Keys::None, Keys::Unit),
            ..Sought::default()
        };
        let file = &self.setting.file;
        let found = columns::find(self.record, file, &sought)?;
        let Column { name, values, note } = found.ok_or_else(|| columns::missing(self.record, file, column))?;
        self.notes.extend(note);
        Ok((name.to_string(), values))
    }

    /// Frequencies, Hz.
    fn frequency(&mut self) -> Result<Vec<f64>> {
        let (given, stated) = &self.setting.frequency;
        let Some(column) = self.named(given.as_ref(), &FREQUENCY, "Hz") else {
            let problem = format!("it has no column of frequencies, among {}", self.record.names().join(", "));
            return Err(Error::file(&self.setting.file, None, problem, "name it: frequency = \"COLUMN\""));
        };
        let header = self.record.names().iter().find(|header| **header == column);
        let has_unit = stated.is_some() || header.is_none_or(|header| !header::read(header, "Hz").is_empty());
        let usual = if ANGULAR.contains(&&*column.to_lowercase()) { "rad/s" } else { "Hz" };
        let stated = stated.as_deref().or(if has_unit { None } else { Some(usual) });
        let (name, values) = self.find(("frequency", &column), "Hz", (stated, Some("frequency_unit")))?;
        if !has_unit {
            let file = self.setting.file.display();
            self.notes
                .push(format!("{file}: nothing says the unit of `{name}`: it is taken in {usual} (frequency_unit)"));
        }
        Ok(values)
    }

    /// H̄ in the model's unit, and whether phases are known.
    fn values(&mut self, unit: &str) -> Result<(Vec<Complex<f64>>, bool)> {
        let setting = self.setting;
        let parts = [(&setting.real, &REAL[..]), (&setting.imaginary, &IMAGINARY[..])]
            .map(|(given, usual)| self.named(given.as_ref(), usual, unit));
        let magnitude = self.named(setting.magnitude.as_ref(), &MAGNITUDE, unit);
        let phase = self.named(setting.phase.0.as_ref(), &PHASE, "rad");
        let of_parts = setting.real.is_some() || setting.imaginary.is_some();
        let of_magnitude = setting.magnitude.is_some() || setting.phase.0.is_some();
        if of_parts && of_magnitude {
            let remedy = "give magnitude and phase, or real and imaginary";
            return Err(Error::invalid("the response", "it is stated twice", remedy).under(&["magnitude"]));
        }
        match (parts, magnitude) {
            ([Some(real), Some(imaginary)], None) => self.of_parts([&real, &imaginary], unit),
            ([Some(real), Some(imaginary)], Some(magnitude)) if !of_parts && !of_magnitude => {
                let problem = format!("it has `{real}` and `{imaginary}`, and `{magnitude}`, too");
                let remedy = format!("say which is meant: real = \"{real}\", or magnitude = \"{magnitude}\"");
                Err(Error::file(&setting.file, None, problem, remedy))
            }
            ([Some(real), Some(imaginary)], Some(_)) if of_parts => self.of_parts([&real, &imaginary], unit),
            (_, Some(magnitude)) if !of_parts => self.of_magnitude(&magnitude, phase.as_deref(), unit),
            _ => {
                let problem = format!("it has no column of a response, among {}", self.record.names().join(", "));
                let remedy = "name them: magnitude = \"COLUMN\" and phase = \"COLUMN\", or real and imaginary";
                Err(Error::file(&setting.file, None, problem, remedy))
            }
        }
    }

    fn of_parts(&mut self, names: [&str; 2], unit: &str) -> Result<(Vec<Complex<f64>>, bool)> {
        let stated = self.setting.unit.as_deref();
        let [real, imaginary] = names.map(|name| self.find(("response", name), unit, (stated, Some("unit"))));
        let ((_, real), (_, imaginary)) = (real?, imaginary?);
        Ok((real.into_iter().zip(imaginary).map(|(re, im)| Complex::new(re, im)).collect(), true))
    }

    fn of_magnitude(&mut self, column: &str, phase: Option<&str>, unit: &str) -> Result<(Vec<Complex<f64>>, bool)> {
        let magnitude = self.magnitude(column, unit)?;
        let file = &self.setting.file;
        if let Some(k) = magnitude.iter().position(|value| *value < 0.0) {
            let problem = format!("value {} of `{column}` is {}, and no magnitude", k + 1, magnitude[k]);
            return Err(Error::file(file, None, problem, "if it is in dB, say so: unit = \"dB\""));
        }
        let Some(phase) = phase else {
            return Ok((magnitude.into_iter().map(|value| Complex::new(value, 0.0)).collect(), false));
        };
        let stated = self.setting.phase.1.as_deref();
        let has_unit = stated.is_some()
            || self.record.names().iter().all(|header| header != phase || !header::read(header, "rad").is_empty());
        if !has_unit {
            let problem = format!("nothing says whether `{phase}` is in degrees or radians");
            let error = Error::file(file, None, problem, "say so: phase_unit = \"deg\", or \"rad\"");
            return Err(error.under(&["phase_unit"]));
        }
        let (_, phase) = self.find(("phase", phase), "rad", (stated, Some("phase_unit")))?;
        let value = |(size, phase): (f64, f64)| Complex::from_polar(size, phase);
        // a blank in either is one in both
        let is_there = |value: Complex<f64>| if value.is_nan() { Complex::new(f64::NAN, f64::NAN) } else { value };
        Ok((magnitude.into_iter().zip(phase).map(value).map(is_there).collect(), true))
    }

    /// Magnitudes in the model's unit, from levels, too.
    fn magnitude(&mut self, column: &str, unit: &str) -> Result<Vec<f64>> {
        let names = self.record.names();
        let by_header = names.iter().find_map(|header| {
            let (stem, reference) = decibel(header)?;
            (header == column || stem == column).then(|| (header.clone(), reference.to_string()))
        });
        let stated = self.setting.unit.as_deref();
        let said = stated.map(|unit| level(unit).map(str::to_string));
        if let (Some(None), Some((header, _)), Some(stated)) = (&said, &by_header, stated) {
            let problem = format!("column `{header}` is in dB, and unit = \"{stated}\" says that it is not");
            let remedy = "leave `unit` out, say the reference (unit = \"dB re UNIT\"), or correct the header";
            return Err(Error::file(&self.setting.file, None, problem, remedy));
        }
        let (header, reference) = match (said, by_header) {
            // another unit than dB is said
            (Some(None), _) | (None, None) => {
                return Ok(self.find(("response", column), unit, (stated, Some("unit")))?.1);
            }
            // what `dB` alone leaves open, the header may say
            (Some(Some(reference)), Some((header, own))) => {
                (header, if reference.is_empty() { own } else { reference })
            }
            (Some(Some(reference)), None) => (column.to_string(), reference),
            (None, Some((header, reference))) => (header, reference),
        };
        let file = &self.setting.file;
        let levels = self.record.column_with_gaps(&header)?;
        let factor = match reference.as_str() {
            "" => 1.0,
            reference => match conversion(reference, unit) {
                Conversion::Same => 1.0,
                Conversion::Factor(factor) => factor,
                Conversion::Refused(why) => {
                    let problem =
                        format!("`{header}` is in dB with respect to `{reference}`, the response is in {unit}: {why}");
                    return Err(Error::file(file, None, problem, "correct it, or say unit = \"dB re UNIT\""));
                }
            },
        };
        let shown = if reference.is_empty() { unit } else { &reference };
        self.notes.push(format!(
            "{}: column `{header}`: converted from dB with respect to 1 {shown}: 20 dB are {} {unit}",
            file.display(),
            costate::shown::rounded(10.0 * factor, 6)
        ));
        Ok(levels.iter().map(|level| 10f64.powf(level / 20.0) * factor).collect())
    }

    /// Standard deviations beside the magnitude, of each line.
    fn relative_deviations(&mut self) -> Result<Vec<f64>> {
        let setting = self.setting;
        let own = setting.relative_deviation;
        let Some((column, averages)) = &setting.coherence else {
            if own.is_none() && setting.deviation.is_none() {
                let problem = "nothing says how exact it is";
                let remedy = "give relative_deviation = 0.05 (beside each magnitude), `deviation`, or `coherence` with `averages`";
                return Err(Error::invalid("the response", problem, remedy).under(&["relative_deviation"]));
            }
            return Ok(vec![own.unwrap_or(0.0); self.record.len()]);
        };
        let (name, coherence) = self.find(("coherence", column), "1", (None, None))?;
        if let Some(k) = coherence.iter().position(|value| !(value.is_nan() || *value > 0.0 && *value <= 1.0)) {
            let problem = format!("value {} of `{name}` is {}, and no coherence", k + 1, coherence[k]);
            return Err(Error::file(&setting.file, None, problem, "give γ², above 0 and at most 1"));
        }
        let of = |square: &f64| own.unwrap_or(0.0).hypot(((1.0 - square) / (2.0 * square * averages)).sqrt());
        Ok(coherence.iter().map(of).collect())
    }
}

/// The reference of a level, if this is the unit of one: that of `dB re 1 m/N` is `m/N`, that of `dB` is empty.
fn level(unit: &str) -> Option<&str> {
    let unit = unit.trim();
    let rest = unit.get(..2).filter(|start| start.eq_ignore_ascii_case("db")).map(|_| unit[2..].trim())?;
    let rest = rest.trim_start_matches(',').trim_start();
    let inner = rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    let rest = inner.filter(|inner| inner.starts_with("re")).unwrap_or(rest);
    match ["re.", "ref.", "rel.", "ref", "rel", "re"].into_iter().find_map(|word| rest.strip_prefix(word)) {
        Some(reference) => {
            let reference = reference.trim_start_matches([':', ' ']).trim();
            let reference = reference.strip_prefix("1 ").unwrap_or(reference).trim();
            Some(if reference == "1" { "" } else { reference })
        }
        None => rest.is_empty().then_some(""),
    }
}

/// The name of a column of levels, and their reference: `Magnitude (dB)`, `mag_dB`, `H [dB re 1 m/N]`.
fn decibel(header: &str) -> Option<(&str, &str)> {
    let starts = header.match_indices(['[', '(', '/', '_', ' ', ',', '.', '-']);
    starts.into_iter().find_map(|(place, sign)| {
        let own = &header[place + sign.len()..];
        let own = match sign {
            "[" => own.strip_suffix(']')?,
            "(" => own.strip_suffix(')')?,
            _ => own,
        };
        let stem = header[..place].trim_end_matches([' ', '_', ',', '/', '-', '.']);
        level(own).filter(|_| !stem.is_empty()).map(|reference| (stem, reference))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects levels in dB as analysers write them, with and without a reference.
    #[test]
    fn levels_are_told_by_their_headers() {
        for (header, found) in [
            ("Magnitude (dB)", Some(("Magnitude", ""))),
            ("mag_dB", Some(("mag", ""))),
            ("H dB", Some(("H", ""))),
            ("a/F [dB re 1 (m/s^2)/N]", Some(("a/F", "(m/s^2)/N"))),
            ("H/dB", Some(("H", ""))),
            ("mag, dB ref 1 mm/N", Some(("mag", "mm/N"))),
            ("H [dB (re 1 (m/s^2)/(N))]", Some(("H", "(m/s^2)/(N)"))),
            ("H (dB re. 1 (m/s^2)/N)", Some(("H", "(m/s^2)/N"))),
            ("H [dB re: 1]", Some(("H", ""))),
            ("magnitude [m/N]", None),
            ("dB", None),
            ("a_dBc", None),
        ] {
            assert_eq!(decibel(header), found, "{header}");
        }
        assert_eq!([level("dB"), level("db re 1 g/N"), level("mm/N")], [Some(""), Some("g/N"), None]);
    }
}
