//! Warnings of priors, of measured modes, and of residuals beside the deviations that were given.

use super::{Determinacy, Noise, OutputFit, Statistics};
use crate::Result;
use crate::modal::ModeResult;
use crate::problem::Problem;
use crate::response::ResponseResult;
use costate::shown::rounded;

/// Modes that are off by more of their deviations contradict what else is fitted.
const MISSED: f64 = 3.0;
/// Responses that are off by so many of their deviations may not be what they are taken for.
const FAR: f64 = 5.0;
/// Chi-square beyond so many of its own deviations is not chance.
const BEYOND_CHANCE: f64 = 5.0;
/// Residuals over their deviations, squared and averaged, beyond which deviations are not those of the noise.
const EXCEEDED: f64 = 2.0;
/// Residuals of two outputs whose ratio is larger are not of one noise;
const UNEQUAL: f64 = 2.0;
/// of so many samples at least.
const FEW: usize = 20;

impl Statistics {
    /// Warns of priors that decide, that the data contradict, or that are weighed against deviations which nobody knows.
    pub(super) fn warn_of_priors(&mut self, problem: &Problem) {
        if problem.priors.is_empty() {
            return;
        }
        let decided = self.parameters.iter().filter(|own| own.determinacy == Determinacy::FromPrior);
        let decided: Vec<String> = decided.map(|own| format!("`{}`", own.name)).collect();
        match decided.as_slice() {
            [] => {}
            [one] => self.warnings.push(format!("{one} is known from its prior, not from the data")),
            all => self.warnings.push(format!("{} are known from their priors, not from the data", all.join(", "))),
        }
        for prior in &problem.priors {
            let own = self.parameters.get(prior.parameter);
            self.warnings.extend(own.and_then(|own| prior.contradiction(own)));
        }
        let off = self.reduced_chi_square().unwrap_or(1.0);
        if self.noise == Noise::Estimated && !self.is_noise_free && !(1.0 / EXCEEDED..EXCEEDED).contains(&off) {
            let factor = rounded(off.sqrt(), 2);
            let remedy = match self.down_weighted {
                None => "give the deviations of the noise, or have them estimated (deviation = \"estimated\")",
                // which is no likelihood that deviations could be estimated with
                Some(_) => "give the deviations of the noise, if it is not outliers alone that make the difference",
            };
            self.warnings.push(format!(
                "priors are weighed against the deviations of the outputs, but the residuals are {factor} times as large as these: {remedy}"
            ));
        }
    }

    /// Warns of measured modes that what else is fitted contradicts.
    pub(super) fn warn_of_modes(&mut self, problem: &Problem, u: &[f64]) -> Result<()> {
        for mode in ModeResult::all(problem, u)?.iter().filter(|mode| mode.residual().abs() > MISSED) {
            self.warnings.push(format!(
                "{} is missed by {} deviations: it contradicts what else is fitted, or it is another mode, or the model is wrong",
                mode.measured.what(),
                rounded(mode.residual().abs(), 2)
            ));
        }
        Ok(())
    }

    /// Warns of a linearisation that has two sides, on which measured modes and responses rest, and of jumps that derivatives leave out.
    pub(super) fn warn_of_kinks(&mut self, problem: &Problem, u: &[f64]) -> Result<()> {
        self.warnings.extend(problem.told_of_kinks(u)?);
        self.warnings.extend(problem.told_of_jumps(u)?);
        Ok(())
    }

    /// Warns of frequency responses whose residuals are not those of noise of their deviations.
    pub(super) fn warn_of_responses(&mut self, problem: &Problem, u: &[f64]) -> Result<()> {
        for response in ResponseResult::all(problem, u)? {
            let (rms, (most, at)) = (response.rms(), response.largest());
            let count = response.residuals.len() as f64;
            let limit = (EXCEEDED * count).max(count + BEYOND_CHANCE * (2.0 * count).sqrt());
            let what = response.measured.what();
            if rms * rms * count > limit {
                let otherwise = if rms > FAR { response.would_fit_otherwise(problem, u) } else { None };
                let hint = match otherwise {
                    Some(better) => format!(", or the record is not what it is taken for: {better}"),
                    None if rms > FAR => {
                        ", or the record is not what it is taken for (the sign of phases, dB or a plain ratio, Hz or rad/s)".to_string()
                    }
                    None => String::new(),
                };
                self.warnings.push(format!(
                    "{what} is missed by {} times its deviations (rms; most by {} at {} Hz): these are too small, or the model is wrong{hint}; \
                     standard errors are too small until then",
                    rounded(rms, 3),
                    rounded(most.abs(), 3),
                    rounded(at, 5),
                ));
            } else if count > problem.free().len() as f64 && rms < 1.0 / BEYOND_CHANCE {
                self.warnings.push(format!(
                    "{what} is met to {} of its deviations (rms): these are larger than its noise, and standard errors are too large by as much",
                    rounded(rms, 3)
                ));
            }
        }
        Ok(())
    }

    /// Warns of outputs whose residuals differ in size where one variance stands for all.
    pub(super) fn warn_of_unequal_residuals(&mut self) {
        let is_told =
            |output: &&OutputFit| output.residuals.len() >= FEW && output.rmse() > 0.0 && output.rmse().is_finite();
        let is_given = self.outputs.iter().any(|output| output.deviation != 1.0);
        if self.noise != Noise::Estimated || self.is_noise_free || self.down_weighted.is_some() || is_given {
            return;
        }
        let mut outputs: Vec<&OutputFit> = self.outputs.iter().filter(is_told).collect();
        outputs.sort_by(|a, b| a.rmse().total_cmp(&b.rmse()));
        let [least, .., most] = outputs.as_slice() else { return };
        let ratio = most.rmse() / least.rmse();
        if ratio > UNEQUAL {
            let [least, most] = [least, most].map(|output| &output.name);
            self.warnings.push(format!(
                "residuals of `{most}` are {} times as large as those of `{least}`, and the fit and its standard errors take both for equally good: give \
                 each a deviation, or deviation = \"estimated\"",
                rounded(ratio, 2)
            ));
        }
    }

    /// Warns of residuals that are larger than noise of the deviations that were given.
    pub(super) fn warn_of_size(&mut self) {
        let (freedom, chi_square) = (self.degrees_of_freedom as f64, self.chi_square);
        let is_chance = chi_square <= (EXCEEDED * freedom).max(freedom + BEYOND_CHANCE * (2.0 * freedom).sqrt());
        if self.noise != Noise::Given || self.degrees_of_freedom == 0 || self.down_weighted.is_some() || is_chance {
            return;
        }
        self.warnings.push(format!(
            "residuals are {} times as large as the deviations that were given: these are wrong, or the model is, or this is not the best \
             optimum, which a search from many starts may find; standard errors mean nothing until then",
            rounded((chi_square / freedom).sqrt(), 3)
        ));
    }
}
