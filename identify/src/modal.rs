//! Measured modes: natural frequencies, damped frequencies and damping ratios about the equilibrium, each one more residual.
//!
//! r = (f(u) - f̄)/σ, with the exact derivatives of [`Modes::sensitivities`]. Modes are those about the equilibrium at the first time of the first
//! experiment, and are identified by their numbers, the slowest first, as `costate modes` counts them.

use crate::beside::{Row, cost_of};
use crate::problem::{Experiment, Problem};
use crate::table::table;
use crate::{Error, Means, Remedy, Result};
use costate::modes::{Mode, Modes, Sensitivity};
use costate::shown::rounded;
use serde_json::{Value, json};

/// Measured quantity of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeQuantity {
    /// |λ|/2π, Hz.
    NaturalFrequency,
    /// Im λ/2π, Hz.
    DampedFrequency,
    /// -Re λ/|λ|.
    DampingRatio,
}

impl ModeQuantity {
    /// All of them.
    pub const ALL: [ModeQuantity; 3] =
        [ModeQuantity::NaturalFrequency, ModeQuantity::DampedFrequency, ModeQuantity::DampingRatio];

    /// Key of the quantity, as files and results write it.
    pub fn key(self) -> &'static str {
        match self {
            ModeQuantity::NaturalFrequency => "natural_frequency",
            ModeQuantity::DampedFrequency => "damped_frequency",
            ModeQuantity::DampingRatio => "damping_ratio",
        }
    }

    /// Name of the quantity in words.
    pub fn name(self) -> &'static str {
        match self {
            ModeQuantity::NaturalFrequency => "natural frequency",
            ModeQuantity::DampedFrequency => "damped frequency",
            ModeQuantity::DampingRatio => "damping ratio",
        }
    }

    /// Unit of the quantity.
    pub fn unit(self) -> &'static str {
        match self {
            ModeQuantity::NaturalFrequency | ModeQuantity::DampedFrequency => "Hz",
            ModeQuantity::DampingRatio => "1",
        }
    }

    /// `None` of a free motion, and of one that does not oscillate where that has no frequency.
    fn of(self, mode: &Mode) -> Option<f64> {
        match self {
            ModeQuantity::NaturalFrequency => Some(mode.natural_frequency()).filter(|f| *f > 0.0),
            ModeQuantity::DampedFrequency => Some(mode.damped_frequency()).filter(|f| *f > 0.0),
            ModeQuantity::DampingRatio => mode.damping_ratio(),
        }
    }

    fn slope(self, mode: &Mode, sensitivity: &Sensitivity) -> Vec<f64> {
        match self {
            ModeQuantity::NaturalFrequency => sensitivity.natural_frequency(mode),
            ModeQuantity::DampedFrequency => sensitivity.damped_frequency(),
            ModeQuantity::DampingRatio => sensitivity.damping_ratio(mode),
        }
    }
}

/// A measured quantity of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredMode {
    /// The mode's number, from 1, the slowest first.
    pub number: usize,
    /// The quantity that was measured.
    pub quantity: ModeQuantity,
    /// Measured value, in [`ModeQuantity::unit`].
    pub value: f64,
    /// Standard deviation of the measurement, in the same unit.
    pub deviation: f64,
}

impl MeasuredMode {
    pub(crate) fn what(&self) -> String {
        format!("the measured {} of mode {}", self.quantity.name(), self.number)
    }

    /// Checks the numbers of the measurement.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`].
    pub fn validate(&self) -> Result<()> {
        let refuse = |problem: String, remedy: &str| Err(Error::invalid(self.what(), problem, remedy));
        let MeasuredMode { number, quantity, value, deviation } = *self;
        match quantity {
            _ if number == 0 => {
                let remedy = Remedy::by("take the number of one, the slowest first", Means::Modes);
                Err(Error::invalid(self.what(), "modes are counted from 1", remedy))
            }
            _ if !(deviation.is_finite() && deviation > 0.0) => {
                refuse(format!("its deviation {deviation} is not positive"), "give a deviation > 0")
            }
            ModeQuantity::DampingRatio if !(-1.0..=1.0).contains(&value) => {
                refuse(format!("it is {value}"), "give a ratio from -1 to 1: 0.02 for 2 % of critical damping")
            }
            _ if !value.is_finite() => refuse(format!("it is {value}"), "give a number"),
            ModeQuantity::DampingRatio => Ok(()),
            _ if value <= 0.0 => refuse(format!("it is {value} Hz"), "give a positive frequency in Hz"),
            _ => Ok(()),
        }
    }

    /// Value of the model.
    fn model(&self, modes: &Modes) -> Result<f64> {
        let gone = |problem: String| {
            Err(Error::NoMode {
                what: self.what(),
                problem,
                remedy: Remedy::by("leave it out, or count modes from the slowest one", Means::Modes),
            })
        };
        let count = modes.modes.len();
        let Some(mode) = modes.modes.get(self.number - 1) else {
            return gone(format!("the model has {count} {}", if count == 1 { "mode" } else { "modes" }));
        };
        match self.quantity.of(mode) {
            Some(value) => Ok(value),
            None => {
                let problem = format!("this mode is a {} at these parameters", mode.character().name());
                let remedy = "begin where it oscillates, with less damping, measure its natural frequency in the place of the damped one, or count modes from the slowest one";
                Err(Error::NoMode { what: self.what(), problem, remedy: Remedy::by(remedy, Means::Modes) })
            }
        }
    }
}

impl Problem {
    /// The problem with a measured quantity of a mode.
    ///
    /// # Errors
    /// A deviation that is not positive, or a value that none has.
    pub fn with_mode(mut self, mode: MeasuredMode) -> Result<Self> {
        mode.validate()?;
        self.modes.push(mode);
        Ok(self)
    }

    /// The modes at `u`, with what is measured of them.
    fn modes_at(&self, u: &[f64]) -> Result<(Modes, Vec<f64>)> {
        let first = self.first();
        let modes = Modes::of(&first.simulation, &first.own(u))?;
        let values = self.modes.iter().map(|measured| measured.model(&modes)).collect::<Result<_>>()?;
        Ok((modes, values))
    }

    fn residuals_of(&self, values: &[f64]) -> Vec<f64> {
        self.modes.iter().zip(values).map(|(measured, value)| (value - measured.value) / measured.deviation).collect()
    }

    /// Cost of measured modes at `u`: ½ Σ r².
    ///
    /// # Errors
    /// Without an equilibrium, or without such modes.
    pub fn mode_cost(&self, u: &[f64]) -> Result<f64> {
        if self.modes.is_empty() {
            return Ok(0.0);
        }
        let (_, values) = self.modes_at(u)?;
        Ok(0.5 * self.residuals_of(&values).iter().map(|r| r * r).sum::<f64>())
    }

    /// Modes that are measured apart, and have one frequency at `u`, in a sentence: where they meet, their order changes, and derivatives are those of
    /// their mean, by which nothing leads them apart.
    pub fn told_of_modes_that_meet(&self, u: &[f64]) -> Option<String> {
        self.modes_that_meet(u, |a, b| (a.value - b.value).abs() > a.deviation.min(b.deviation))
    }

    /// The same of modes whose measurements `matter`.
    pub(crate) fn modes_that_meet(
        &self,
        u: &[f64],
        matter: impl Fn(&MeasuredMode, &MeasuredMode) -> bool,
    ) -> Option<String> {
        /// Parts of a frequency by which modes that have met may differ, for a search stops beside a kink.
        const MET: f64 = 1e-4;
        let (_, values) = self.modes_at(u).ok().filter(|_| !self.modes.is_empty())?;
        let pairs = (0..values.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let (i, j) = pairs.into_iter().find(|&(i, j)| {
            let [a, b] = [i, j].map(|k| &self.modes[k]);
            let is_frequency = a.quantity == b.quantity && a.quantity != ModeQuantity::DampingRatio;
            let have_met = (values[i] - values[j]).abs() <= MET * values[i].abs();
            is_frequency && a.number != b.number && matter(a, b) && have_met
        })?;
        Some(format!(
            "modes {} and {} have one frequency here, {} Hz, where they change places and derivatives are those of their mean, so that nothing leads them \
             apart; they are measured at {} and {} Hz",
            self.modes[i].number,
            self.modes[j].number,
            rounded(values[i], 6),
            rounded(self.modes[i].value, 6),
            rounded(self.modes[j].value, 6)
        ))
    }

    /// Residuals of the measured modes at `u`, each with its derivatives by all parameters.
    pub(crate) fn mode_rows(&self, u: &[f64]) -> Result<Vec<Row>> {
        let Some(count) = self.modes.iter().map(|measured| measured.number).max() else { return Ok(Vec::new()) };
        let (modes, values) = self.modes_at(u)?;
        let Experiment { simulation, places, .. } = self.first();
        let sensitivities = modes.sensitivities(simulation, count)?;
        let rows = self.modes.iter().zip(self.residuals_of(&values)).map(|(measured, residual)| {
            let place = measured.number - 1;
            let mut slope = vec![0.0; u.len()];
            // a mode with a frequency moves with the parameters
            if let Some(own) = sensitivities.get(place).and_then(Option::as_ref) {
                let own = measured.quantity.slope(&modes.modes[place], own);
                places.iter().zip(own).for_each(|(&k, own)| slope[k] = own / measured.deviation);
            }
            Row { residual, slope }
        });
        Ok(rows.collect())
    }
}

/// Comparison of a measured quantity of a mode with the model.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ModeResult {
    /// The measurement.
    pub measured: MeasuredMode,
    /// Value of the model.
    pub found: f64,
}

impl ModeResult {
    /// Comparisons of all measured modes of a problem at `u`.
    ///
    /// # Errors
    /// As [`Problem::mode_cost`].
    pub fn all(problem: &Problem, u: &[f64]) -> Result<Vec<ModeResult>> {
        if problem.modes.is_empty() {
            return Ok(Vec::new());
        }
        let (_, values) = problem.modes_at(u)?;
        let all = problem.modes.iter().zip(values);
        Ok(all.map(|(measured, found)| ModeResult { measured: *measured, found }).collect())
    }

    /// Residual of the model, in deviations.
    pub fn residual(&self) -> f64 {
        (self.found - self.measured.value) / self.measured.deviation
    }

    /// A measurement of what was found, off by so many of its deviations.
    pub(crate) fn drawn(&self, z: f64) -> MeasuredMode {
        MeasuredMode { value: self.found + z * self.measured.deviation, ..self.measured }
    }

    /// Report for a person: a table.
    pub fn report(results: &[ModeResult]) -> String {
        let row = |result: &ModeResult| {
            let MeasuredMode { number, quantity, value, deviation } = result.measured;
            vec![
                number.to_string(),
                quantity.name().to_string(),
                format!("{} +/- {}", rounded(value, 6), rounded(deviation, 3)),
                rounded(result.found, 6),
                quantity.unit().to_string(),
                format!("{} deviations", rounded(result.residual(), 2)),
            ]
        };
        let rows: Vec<Vec<String>> = results.iter().map(row).collect();
        let residuals = results.iter().map(|result| Row { residual: result.residual(), slope: Vec::new() });
        let cost = cost_of(&residuals.collect::<Vec<Row>>());
        format!(
            "{}\ncost of the modes {cost:.6e}",
            table(&["mode", "quantity", "measured", "found", "unit", "off by"], &rows)
        )
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let MeasuredMode { number, quantity, value, deviation } = self.measured;
        json!({
            "number": number, "quantity": quantity.key(), "unit": quantity.unit(), "measured": value, "deviation": deviation,
            "found": self.found, "residual": self.residual(),
        })
    }
}
