//! The noise of sensors, estimated together with the parameters: maximum likelihood.
//!
//! With independent normal noise of standard deviation σ_k in output k, of which there are N_k samples, the negative logarithm of the
//! likelihood is, up to a constant,
//!
//! J = Σ_k [ N_k ln σ_k + Σ (y - ȳ)² / (2 σ_k²) ].
//!
//! For given σ it is the least-squares cost; for given parameters its minimum in σ_k is known. So the search goes by rounds: fit, estimate
//! σ, fit again from where the last fit ended, until no σ changes by more than [`SETTLED`]. The first round begins with the spread of the
//! data, which makes outputs of different units equally important.
//!
//! The plain estimate σ_k² = Σ (y - ȳ)²/N_k is too small, as the parameters have been fitted to the same samples. Taken here is
//!
//! σ_k² = Σ (y - ȳ)² / (N_k - p_k),   p_k = Σ sᵀ (SᵀS)⁻¹ s over the samples of output k,
//!
//! where s are rows of S, the derivatives of all residuals over their σ. p_k is the number of parameters that the samples of output k determine; over all
//! outputs they add up to the number of determined directions. That is Förstner's estimate of variance components, and restricted maximum
//! likelihood to first order; of a single output it is the well-known Σ (y - ȳ)²/(n - p).
//!
//! Standard errors are then those of known noise. That σ itself is uncertain (by σ/√(2 (N - p))) is reported, and neglected in them: with
//! the hundreds of samples of a record it is a matter of per cent.

mod rounds;

pub use rounds::identify_with_noise;
pub(crate) use rounds::{continued, joined, left};

use crate::problem::{Experiment, Problem};
use crate::statistics::worth;
use crate::table::table;
use crate::{Error, Result};
use costate::cost::{LeastSquares, Loss, Reference};
use costate::shown::rounded;
use costate::spread::{Spread, norm};
use serde_json::{Value, json};

/// Rounds end when no deviation changes by more than this part of it. A hundredth of what 5000 samples leave open.
pub const SETTLED: f64 = 1e-4;
/// Most rounds.
pub const MOST_ROUNDS: usize = 30;
/// Fewest directions that the data must determine, for a deviation of priors.
pub const LEAST_DETERMINED: f64 = 1e-2;
/// Fewest samples beyond the parameters that they determine, for an estimate of the noise.
pub const FEWEST: f64 = 2.0;

/// An output whose noise has one standard deviation, which is estimated, in the experiments that share it.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownDeviation {
    /// The output's name; `NAME@EXPERIMENT` if not all experiments share it.
    pub name: String,
    /// Place of the output in the signature.
    pub output: usize,
    /// Names of the experiments that share the deviation, those for validation, too.
    pub experiments: Vec<String>,
    /// True if samples count as the independent ones that they are worth ([`Problem::of_correlated_residuals`]).
    pub is_correlated: bool,
    /// So many samples are worth an independent one; 1 before anything is known.
    pub correlation: f64,
}

impl UnknownDeviation {
    /// True if the deviation is that of this output of an experiment.
    pub fn sees(&self, experiment: &Experiment, output: usize) -> bool {
        self.output == output && self.experiments.contains(&experiment.name)
    }
}

impl Problem {
    /// The problem with the noise of an output estimated together with the parameters, one standard deviation for all experiments; for
    /// [`identify_with_noise`]. Deviations of its references no longer count.
    ///
    /// # Errors
    /// As [`Problem::estimate_deviation_in`].
    pub fn estimate_deviation(self, output: &str) -> Result<Self> {
        let k = self.first().simulation.signature().output_index(output)?;
        let all = self.all().filter(|experiment| spread(experiment, k).is_some());
        let names: Vec<String> = all.map(|experiment| experiment.name.clone()).collect();
        self.estimate_deviation_in(output, output, &names)
    }

    /// True if the noise of an output of an experiment is estimated together with the parameters.
    pub fn estimates_deviation(&self, experiment: &Experiment, output: usize) -> bool {
        self.unknown_deviations.iter().any(|sensor| sensor.sees(experiment, output))
    }

    /// The problem with the noise of an output, called `name`, estimated together with the parameters, for some of the experiments.
    ///
    /// # Errors
    /// An unknown output or experiment; one that is not compared there, or whose deviation is estimated already; samples that are weighted.
    pub fn estimate_deviation_in(mut self, name: &str, output: &str, experiments: &[String]) -> Result<Self> {
        let what = format!("the deviation of `{name}`");
        let k = self.first().simulation.signature().output_index(output)?;
        for wanted in experiments {
            let Some(experiment) = self.all().find(|experiment| experiment.name == *wanted) else {
                let known = self.all().map(|experiment| experiment.name.as_str());
                return Err(Error::unknown("experiment", wanted, what, known));
            };
            if spread(experiment, k).is_none() {
                let problem = format!("`{output}` is not compared in experiment `{wanted}`");
                return Err(Error::invalid(what, problem, "compare it with data, or leave the experiment out"));
            }
            if self.estimates_deviation(experiment, k) {
                let problem = format!("that of experiment `{wanted}` is estimated already");
                return Err(Error::invalid(what, problem, "ask for it once"));
            }
        }
        if !self.experiments.iter().any(|experiment| experiments.contains(&experiment.name)) {
            let problem = "no experiment that is fitted compares it";
            return Err(Error::invalid(what, problem, "give a number, or share the deviation with one that is fitted"));
        }
        let (name, experiments) = (name.to_string(), experiments.to_vec());
        let sensor = UnknownDeviation { name, output: k, experiments, is_correlated: false, correlation: 1.0 };
        let spread = self.spread(&sensor);
        self.set_deviation(&sensor, spread)?;
        self.unknown_deviations.push(sensor);
        self.refuse_weights()?;
        Ok(self)
    }

    /// The problem with residuals of the sensor `name`, whose deviation is estimated, that are correlated in time, as those of a model are which does not
    /// explain all: its samples count as the independent ones that they are worth, n/(1 + 2 Σ ρ_k), by the residuals' autocorrelation ρ at lags k.
    ///
    /// # Errors
    /// A sensor whose deviation is not estimated, or one with a filter or a spectrum, which correlates residuals itself.
    pub fn of_correlated_residuals(mut self, name: &str) -> Result<Self> {
        let known: Vec<&str> = self.unknown_deviations.iter().map(|own| own.name.as_str()).collect();
        let Some(k) = known.iter().position(|own| *own == name) else {
            return Err(Error::unknown("estimated deviation", name, "the problem", known));
        };
        let sensor = &self.unknown_deviations[k];
        let is_filtered = |experiment: &Experiment| {
            let cost = experiment.cost.as_least_squares();
            sensor.sees(experiment, sensor.output) && cost.is_some_and(|cost| !cost.sensors().is_empty())
        };
        if self.all().any(is_filtered) {
            let problem = "its samples are seen through a sensor, a filter or a spectrum, which correlates them itself";
            let remedy = "leave that out, or take deviation = \"estimated\"";
            return Err(Error::invalid(format!("the deviation of `{name}`"), problem, remedy));
        }
        self.unknown_deviations[k].is_correlated = true;
        Ok(self)
    }

    /// So many samples of each sensor are worth an independent one at `u`, by the record of linear residuals, or else by one run of each experiment without
    /// derivatives; 1 where residuals are not correlated.
    fn correlations(&self, u: &[f64]) -> Result<Vec<f64>> {
        let sensors: Vec<&UnknownDeviation> = self.unknown_deviations.iter().collect();
        let mut counts = vec![(0.0, 0.0); sensors.len()];
        for (number, experiment) in self.experiments.iter().enumerate() {
            let Some(cost) = experiment.cost.as_least_squares() else { continue };
            let signature = experiment.simulation.signature();
            let is_seen = |(_, reference): &(usize, &Reference)| {
                sensors.iter().any(|own| own.is_correlated && own.sees(experiment, reference.output))
            };
            let references: Vec<(usize, &Reference)> = cost.references().iter().enumerate().filter(is_seen).collect();
            if references.is_empty() {
                continue;
            }
            // what is linear has been run once and for all
            let known = |(place, _): &(usize, &Reference)| {
                self.record.as_ref().and_then(|record| record.residuals((number, experiment), *place, u))
            };
            let all: Vec<Vec<f64>> = match references.iter().map(known).collect::<Option<Vec<Vec<f64>>>>() {
                Some(known) => known,
                None => {
                    let outputs: Vec<usize> = references.iter().map(|(_, reference)| reference.output).collect();
                    let told = experiment.simulation.outputs(&experiment.own(u), &outputs)?;
                    let of = |((_, reference), told): (&(usize, &Reference), Vec<f64>)| {
                        let period = cost.quantity(reference, signature).period;
                        // at all times, which samples are some of
                        let shown = experiment.as_shown(reference.output, told, u);
                        let seen = |i: usize| shown[cost.places().of(i)];
                        let residual = |i: usize| costate::spread::difference(seen(i), reference.values[i], period);
                        cost.samples(reference).map(residual).collect()
                    };
                    references.iter().zip(told).map(of).collect()
                }
            };
            for ((_, reference), residuals) in references.into_iter().zip(all) {
                let (count, worth) = (residuals.len() as f64, worth(&residuals));
                for (sensor, (samples, independent)) in sensors.iter().zip(&mut counts) {
                    if sensor.sees(experiment, reference.output) {
                        (*samples, *independent) = (*samples + count, *independent + count / worth);
                    }
                }
            }
        }
        let of = |(samples, independent): (f64, f64)| if independent > 0.0 { samples / independent } else { 1.0 };
        Ok(counts.into_iter().map(of).collect())
    }

    /// Root mean square of a sensor's data about their mean in each experiment; what rounds begin with.
    fn spread(&self, sensor: &UnknownDeviation) -> f64 {
        let own = self.experiments.iter().filter(|experiment| sensor.experiments.contains(&experiment.name));
        let all: Vec<Spread> = own.filter_map(|experiment| spread(experiment, sensor.output)).collect();
        let count: usize = all.iter().map(|own| own.count).sum();
        let of = |value: &dyn Fn(&Spread) -> f64| {
            norm(all.iter().map(|own| value(own) * (own.count as f64).sqrt())) / (count.max(1) as f64).sqrt()
        };
        // constant up to round-off: its size, if it has any
        let (deviation, size) = (of(&|own| own.deviation), of(&|own| own.deviation.hypot(own.mean)));
        if deviation > 1e-12 * size {
            deviation
        } else if size > 0.0 {
            size
        } else {
            1.0
        }
    }

    /// Takes deviations that were found before, by the sensors' names.
    pub(crate) fn with_found_deviations(mut self, found: &[(String, f64)]) -> Result<Self> {
        for sensor in self.unknown_deviations.clone() {
            if let Some((_, deviation)) = found.iter().find(|(name, _)| *name == sensor.name) {
                self.set_deviation(&sensor, *deviation)?;
            }
        }
        Ok(self)
    }

    fn set_deviation(&mut self, sensor: &UnknownDeviation, deviation: f64) -> Result<()> {
        for experiment in self.experiments.iter_mut().chain(&mut self.validation) {
            if let Some(cost) = experiment.cost.as_least_squares()
                && sensor.sees(experiment, sensor.output)
            {
                experiment.cost = Box::new(cost.clone().with_deviation(sensor.output, deviation)?);
            }
        }
        Ok(())
    }

    /// The deviation that a sensor has now.
    fn deviation(&self, sensor: &UnknownDeviation) -> f64 {
        let own = self.experiments.iter().filter(|experiment| sensor.sees(experiment, sensor.output));
        let mut costs = own.filter_map(|experiment| experiment.cost.as_least_squares());
        let of = |cost: &LeastSquares| {
            let reference = cost.references().iter().find(|reference| reference.output == sensor.output)?;
            Some(reference.deviation / cost.noise_behind(sensor.output))
        };
        costs.find_map(of).unwrap_or(1.0)
    }

    /// Refuses weights: every sample must count once, as a weighted sum is no likelihood, and neither is one of robust losses.
    fn refuse_weights(&self) -> Result<()> {
        let is_weighted = |experiment: &&Experiment| {
            let cost = experiment.cost.as_least_squares();
            cost.is_some_and(|cost| cost.weights().iter().any(|weight| (weight - 1.0).abs() > 1e-12))
        };
        let is_robust = |experiment: &&Experiment| {
            let cost = experiment.cost.as_least_squares();
            cost.is_some_and(|cost| cost.losses().iter().any(|loss| *loss != Loss::Squares))
        };
        if let (Some(sensor), true) =
            (self.unknown_deviations.first(), self.experiments.iter().any(|own| is_robust(&own)))
        {
            let problem = "it is to be estimated, and a robust loss is no likelihood of normal noise";
            let remedy = "give the deviations as numbers, or leave out `loss`";
            return Err(Error::invalid(format!("the deviation of `{}`", sensor.name), problem, remedy));
        }
        match (self.unknown_deviations.first(), self.experiments.iter().find(is_weighted)) {
            (Some(sensor), Some(experiment)) => {
                let problem = format!(
                    "it is to be estimated, but the samples of experiment `{}` are weighted, and the weights say something else of the \
                     noise",
                    experiment.name
                );
                let remedy =
                    "leave out `weight` of experiments and take weights = \"unit\", or give the deviation as a number";
                Err(Error::invalid(format!("the deviation of `{}`", sensor.name), problem, remedy))
            }
            _ => Ok(()),
        }
    }

    /// Σ 2 N ln σ of the sensors whose noise is estimated.
    pub(crate) fn log_deviations(&self) -> f64 {
        let of = |sensor: &UnknownDeviation| {
            let (samples, own) = (self.samples(sensor) as f64 / sensor.correlation, self.deviation(sensor));
            2.0 * samples * (own / sensor.correlation.sqrt()).ln()
        };
        self.unknown_deviations.iter().map(of).sum()
    }

    /// So many of `count` residuals are independent, where some are counted as what they are worth.
    pub(crate) fn independent(&self, count: usize) -> Option<f64> {
        let correlated = || self.unknown_deviations.iter().filter(|sensor| sensor.is_correlated);
        let lost = |sensor: &UnknownDeviation| self.samples(sensor) as f64 * (1.0 - 1.0 / sensor.correlation);
        correlated().next().map(|_| count as f64 - correlated().map(lost).sum::<f64>())
    }

    fn samples(&self, sensor: &UnknownDeviation) -> usize {
        let own = self.experiments.iter().filter(|experiment| sensor.experiments.contains(&experiment.name));
        own.filter_map(|experiment| spread(experiment, sensor.output)).map(|own| own.count).sum()
    }
}

/// The spread of the samples of an output, where it is compared.
fn spread(experiment: &Experiment, output: usize) -> Option<Spread> {
    let cost = experiment.cost.as_least_squares()?;
    let signature = experiment.simulation.signature();
    signature.outputs.get(output)?;
    let own = || cost.references().iter().filter(|reference| reference.output == output);
    let quantity = cost.quantity(own().next()?, signature);
    let samples: Vec<f64> = own().flat_map(|r| cost.samples(r).map(|i| r.values[i])).collect();
    Some(quantity.spread(samples.iter().copied()))
}

/// The end of the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoundsEnd {
    /// Settled: no deviation changes any more.
    Settled,
    /// All rounds that are allowed have been made.
    MostRounds,
    /// An output is reproduced to round-off: there is no noise to estimate. Deviations are those before.
    PerfectFit,
    /// A search did not converge, or was interrupted.
    SearchEnded,
}

/// The noise of a sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorNoise {
    /// The sensor's name.
    pub name: String,
    /// Unit of its output.
    pub unit: String,
    /// The standard deviation.
    pub deviation: f64,
    /// Standard error of the deviation, σ/√(2 (N - p)).
    pub standard_error: f64,
    /// Number N of samples.
    pub samples: usize,
    /// So many independent samples are these worth; all of them, where they are taken for independent.
    pub independent: f64,
    /// Number p of parameters that the samples determine; no whole number where outputs share parameters.
    pub parameters: f64,
}

/// Estimated deviation of priors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PriorNoise {
    /// Names of their parameters.
    pub names: Vec<String>,
    /// Unit of these, and of the deviation; 1 where they are log-normal.
    pub unit: String,
    /// True if it is the deviation of logarithms.
    pub is_log: bool,
    /// The standard deviation.
    pub deviation: f64,
    /// Standard error of the deviation, σ/√(2 γ).
    pub standard_error: f64,
    /// Number γ of directions that the data determine, of as many as there are parameters.
    pub determined: f64,
}

impl PriorNoise {
    /// In a sentence.
    fn sentence(&self) -> String {
        let PriorNoise { names, unit, is_log, deviation, standard_error, determined } = self;
        let of = if *is_log { "of logarithms " } else { "" };
        let unit = if unit == "1" || *is_log { String::new() } else { format!(" {unit}") };
        let whose = match names.as_slice() {
            [one] => format!("the prior of `{one}`"),
            all => format!("priors of {} parameters (`{}` ..)", all.len(), all.first().map_or("", String::as_str)),
        };
        if *determined < LEAST_DETERMINED {
            return format!(
                "{whose}: the data determine nothing against them, and their standard deviation stays where it began, {}{unit}",
                rounded(*deviation, 3)
            );
        }
        format!(
            "{whose}: standard deviation {of}{} +/- {}{unit} by evidence; the data determine {} directions against it",
            rounded(*deviation, 3),
            rounded(*standard_error, 2),
            rounded(*determined, 3),
        )
    }
}

/// Estimated noise of all sensors.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NoiseEstimate {
    /// Noise of each sensor, in the problem's order.
    pub sensors: Vec<SensorNoise>,
    /// Deviations of priors, where they are estimated.
    pub priors: Vec<PriorNoise>,
    /// Fits, each with the deviations that the one before has led to.
    pub rounds: usize,
    /// The end of the rounds.
    pub end: RoundsEnd,
    /// The end of the rounds in a sentence.
    pub sentence: String,
}

impl NoiseEstimate {
    /// True if the deviations are those of the noise.
    pub fn is_known(&self) -> bool {
        self.end != RoundsEnd::PerfectFit
    }

    /// Report for a person: a table of the sensors, and how it was found.
    pub fn report(&self) -> String {
        if !self.is_known() {
            return format!("warning: {}", self.sentence);
        }
        let row = |sensor: &SensorNoise| {
            let error = rounded(sensor.standard_error, 2);
            vec![
                sensor.name.clone(),
                rounded(sensor.deviation, 4),
                format!("+/- {error}"),
                sensor.unit.clone(),
                sensor.samples.to_string(),
                rounded(sensor.independent, 4),
                rounded(sensor.parameters, 3),
            ]
        };
        let mut header = vec!["sensor", "deviation", "+/- error", "unit", "samples", "worth", "parameters"];
        let mut rows: Vec<Vec<String>> = self.sensors.iter().map(row).collect();
        if self.sensors.iter().all(|sensor| sensor.independent == sensor.samples as f64) {
            header.remove(5);
            rows.iter_mut().for_each(|row| drop(row.remove(5)));
        }
        let kind = if self.end == RoundsEnd::Settled { "" } else { "warning: " };
        let mut lines = if rows.is_empty() { Vec::new() } else { vec![table(&header, &rows)] };
        lines.extend(self.priors.iter().map(PriorNoise::sentence));
        lines.push(format!("{kind}{}", self.sentence));
        lines.join("\n")
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let sensor = |s: &SensorNoise| {
            json!({
                "name": s.name, "unit": s.unit, "deviation": s.deviation, "standard_error": s.standard_error, "samples": s.samples,
                "independent_samples": s.independent, "parameters": s.parameters,
            })
        };
        let prior = |own: &PriorNoise| {
            json!({
                "names": own.names, "unit": own.unit, "of_logarithms": own.is_log, "deviation": own.deviation,
                "standard_error": own.standard_error, "determined": own.determined,
            })
        };
        json!({
            "sensors": self.sensors.iter().map(sensor).collect::<Vec<_>>(),
            "priors": self.priors.iter().map(prior).collect::<Vec<_>>(),
            "rounds": self.rounds,
            "end": self.end,
            "sentence": self.sentence,
        })
    }
}
