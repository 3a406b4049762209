//! Spectrum of an output, as stated and as a record gives it.

use super::recording::RecordingFile;
use crate::error::Locate;
use crate::{Error, Result};
use costate::Simulation;
use costate::cost::spectrum;
use costate::cost::spectrum::{Lines, Spectrum, SpeedUnit, Window};
use costate_data::columns;
use costate_data::header;
use costate_data::unit::{Conversion, conversion};

/// Spectrum of an output that is compared in the place of its samples.
#[derive(Debug, Clone, PartialEq)]
pub struct SpectrumSetting {
    /// Lines of the spectrum.
    pub lines: LinesSetting,
    /// Window by which samples are weighted.
    pub window: Window,
    /// Part of each line that is compared.
    pub part: spectrum::SpectrumPart,
}

/// Lines of a spectrum, with names in the place of samples.
#[derive(Debug, Clone, PartialEq)]
pub enum LinesSetting {
    /// Frequencies, Hz.
    Frequencies(Vec<f64>),
    /// The lowest and the highest frequency of a band, and what is between two lines, Hz.
    Band([f64; 2], f64),
    /// Orders of a shaft.
    Orders {
        /// Multiples of its speed.
        orders: Vec<f64>,
        /// The column of its speed, in the file of the output.
        speed: String,
        /// Speeds, in that column's unit.
        speeds: Vec<f64>,
        /// Revolutions about each.
        revolutions: f64,
    },
    /// The frequency response from an input of the model, over a band as above.
    Response(String, [f64; 2], f64),
}

impl SpectrumSetting {
    /// The column that it needs beside that of the output.
    pub(super) fn column(&self) -> Option<&str> {
        match &self.lines {
            LinesSetting::Orders { speed, .. } => Some(header::stem(speed)),
            _ => None,
        }
    }

    /// Spectrum of an output of a file.
    pub(super) fn spectrum(&self, simulation: &Simulation, part: &RecordingFile<'_>) -> Result<Spectrum> {
        let lines = match &self.lines {
            LinesSetting::Frequencies(frequencies) => Lines::Frequencies(frequencies.clone()),
            LinesSetting::Band([from, until], resolution) => {
                Lines::Band { from: *from, until: *until, resolution: *resolution }
            }
            LinesSetting::Orders { orders, speed, speeds, revolutions } => {
                let found = speed_column(part, speed).map_err(|error| error.under(&["speed"]))?;
                let (values, unit) = found;
                let (orders, speeds, revolutions) = (orders.clone(), speeds.clone(), *revolutions);
                Lines::Orders { orders, speed: values, speeds, unit, revolutions }
            }
            LinesSetting::Response(name, [from, until], resolution) => {
                let signature = simulation.signature();
                let k = signature.input_index(name).map_err(|error| error.under(&["response_to"]))?;
                let input = part.times().iter().map(|t| simulation.signals()[k].value(*t)).collect();
                let unit = signature.inputs[k].unit.clone();
                Lines::Response { input, unit, from: *from, until: *until, resolution: *resolution }
            }
        };
        Ok(Spectrum { lines, window: self.window, part: self.part })
    }
}

/// The column of a shaft's speed, whatever its unit is.
fn speed_column(part: &RecordingFile<'_>, name: &str) -> Result<(Vec<f64>, SpeedUnit)> {
    let headers = || part.record.names().iter().map(String::as_str);
    let header = headers().find(|header| *header == name).or_else(|| headers().find(|own| header::stem(own) == name));
    let Some(header) = header else { return Err(columns::missing(part.record, part.file, name).into()) };
    let is = |unit: &str, own: &SpeedUnit| conversion(unit, own.name()) == Conversion::Same;
    let unit = match header::read(header, "rad/s").into_iter().next() {
        None => SpeedUnit::default(),
        Some(header::Named { unit, .. }) => {
            let known = SpeedUnit::named(&unit).or_else(|| SpeedUnit::ALL.into_iter().find(|own| is(&unit, own)));
            known.ok_or_else(|| {
                let problem = format!("column `{header}` is in `{unit}`, which is no unit of a shaft's speed");
                Error::file(part.file, None, problem, "give it in rad/s, rpm or Hz")
            })?
        }
    };
    let values = part.record.column_with_gaps(header)?[part.window.clone()].to_vec();
    Ok((values, unit))
}
