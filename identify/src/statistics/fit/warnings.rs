//! Warnings of a fit.

use super::super::residual_tests::ResidualTests;
use super::super::{Analysed, Identifiability};
use super::{Determinacy, Noise, OutputFit, ParameterStatistics, Statistics};
use crate::flat::NOTHING;
use crate::prior::Prior;
use costate::shown::{rounded, with_unit};
use nalgebra::DMatrix;

/// Outputs that are named in a sentence.
const NAMED: usize = 3;

/// Standard errors that are so many times as large are told.
const MUCH: f64 = 2.0;

impl Statistics {
    pub(super) fn warn(&self, priors: &[Prior]) -> Vec<String> {
        let mut warnings = self.identifiability.warnings();
        let names = |determinacy: Determinacy| {
            let those = self.parameters.iter().filter(|p| p.determinacy == determinacy);
            those.map(|p| format!("`{}`", p.name)).collect::<Vec<_>>()
        };
        let undetermined = names(Determinacy::Undetermined);
        if !undetermined.is_empty() {
            let (s, verb) = if undetermined.len() == 1 { ("", "is") } else { ("s", "are") };
            warnings.push(format!("the standard error{s} of {} {verb} infinite", undetermined.join(", ")));
        }
        let held: Vec<&ParameterStatistics> =
            self.parameters.iter().filter(|p| p.determinacy == Determinacy::AtBound).collect();
        if let [first, others @ ..] = &held[..] {
            let at = |p: &ParameterStatistics| with_unit(p.value, &p.unit);
            let (those, they) = match others {
                [] => (format!("`{}` is held at its bound of {}", first.name, at(first)), "it"),
                _ => {
                    let each: Vec<String> = held.iter().map(|p| format!("`{}` ({})", p.name, at(p))).collect();
                    (format!("{} are held at their bounds", each.join(", ")), "they")
                }
            };
            warnings.push(format!(
                "{those}, with no standard error; those of the others hold as if {they} were fixed there"
            ));
            for delay in held.iter().filter(|p| p.name.starts_with("delay_")) {
                let (end, sign) = if delay.value < 0.0 { ("lower", "-") } else { ("upper", "") };
                let wide = with_unit(4.0 * delay.value.abs(), "");
                // before all that follows from it
                let told = format!(
                    "the sensor may be later than the bounds of `{}` allow (five samples, where none are stated), and all that is found makes up for it: widen \
                     them ({} = {{ {end} = {sign}{wide} }} in [parameters])",
                    delay.name, delay.name
                );
                warnings.insert(0, told);
            }
        }
        if self.degrees_of_freedom == 0 && self.noise == Noise::Estimated {
            let n = self.count;
            warnings.push(format!(
                "there are as many free parameters as residuals ({n}), and none is left to estimate the noise from: fix some, or \
                 compare more samples"
            ));
        }
        if !self.is_noise_free {
            self.warn_of_large_errors(priors, &mut warnings);
            self.warn_of_bounds(&mut warnings);
        }
        self.warn_of_residuals(&mut warnings);
        warnings
    }

    /// Parameters whose standard error exceeds their value, with the combination that it comes from. Those with a prior are compared with that.
    fn warn_of_large_errors(&self, priors: &[Prior], warnings: &mut Vec<String>) {
        let found = &self.identifiability;
        for (place, parameter) in found.parameters.iter().enumerate() {
            let statistics = &self.parameters[parameter.index];
            let relative = statistics.standard_error / statistics.value.abs();
            // what is about zero may be known well all the same
            let is_small = statistics.standard_error < 0.1 * parameter.size;
            if priors.iter().any(|prior| prior.parameter == parameter.index) {
                continue;
            }
            let Some(column) = found.active.iter().position(|&k| k == place) else { continue };
            if is_small || !(relative > 1.0 && statistics.standard_error.is_finite()) {
                continue;
            }
            let share = |j: usize| (found.vectors[(column, j)] / found.singular_values[j]).powi(2);
            let Some(worst) = (0..found.rank).max_by(|&a, &b| share(a).total_cmp(&share(b))) else { continue };
            let direction = found.along(worst);
            let from = if direction.terms.len() > 1 { format!(", mostly along {direction}") } else { String::new() };
            let size = if statistics.value == 0.0 {
                "not zero".into()
            } else if relative > 10.0 {
                format!("{} times its value", rounded(relative, 2))
            } else {
                format!("{:.0} % of its value", 100.0 * relative)
            };
            warnings
                .push(format!("the data hardly determine `{}`: its standard error is {size}{from}", parameter.name));
        }
    }

    /// Standard errors that would be others if nothing were held at a bound: with the covariance of `all` parameters, up to a `factor`.
    pub(super) fn warn_of_what_rests_on_bounds(
        &mut self,
        all: &Identifiability,
        covariance: &DMatrix<f64>,
        factor: f64,
    ) {
        let place = |index: usize| all.parameters.iter().position(|own| own.index == index);
        let ratio = |(k, own): (usize, &Analysed)| {
            let free = place(own.index).map(|j| covariance[(j, j)] * factor)?;
            let ratio = (free / self.covariance[(k, k)]).sqrt();
            // what is not determined has no covariance
            let is_told = self.covariance[(k, k)] > 0.0 && (ratio.is_nan() || ratio > MUCH);
            is_told.then(|| (own.name.clone(), ratio))
        };
        let mut found: Vec<(String, f64)> =
            self.identifiability.parameters.iter().enumerate().filter_map(ratio).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        let told = |(name, ratio): &(String, f64)| match ratio.is_nan() {
            true => format!("that of `{name}` would be infinite"),
            false => format!("that of `{name}` would be {} times as large", rounded(*ratio, 2)),
        };
        let told: Vec<String> = found.iter().take(NAMED).map(told).collect();
        if !told.is_empty() {
            let others = match found.len() - told.len() {
                0 => String::new(),
                n => format!(", and larger those of {n} others"),
            };
            self.warnings.push(format!(
                "standard errors rest on what is held at its bound: were it free, {}{others}",
                told.join(", ")
            ));
        }
    }

    /// Intervals that would go beyond bounds.
    fn warn_of_bounds(&self, warnings: &mut Vec<String>) {
        let cut = |p: &ParameterStatistics| {
            let (low, high) = p.beyond_bounds?;
            let (low, high) = (rounded(low, 3), rounded(high, 3));
            Some(format!("`{}` ({low} to {high} {} without them)", p.name, p.unit))
        };
        let cut: Vec<String> = self.parameters.iter().filter_map(cut).collect();
        if !cut.is_empty() {
            let what = if cut.len() == 1 { "the 95 % interval is" } else { "95 % intervals are" };
            warnings.push(format!("{what} cut at the bounds: {}", cut.join(", ")));
        }
    }

    /// Residuals that are not what the statistics assume.
    fn warn_of_residuals(&self, warnings: &mut Vec<String>) {
        for (i, a) in self.outputs.iter().enumerate() {
            if self.outputs[..i].iter().any(|b| a.is_of_same_data(b)) {
                warnings.push(format!(
                    "the same data of `{}` are compared twice: leave one out, standard errors are too small",
                    a.name
                ));
            }
        }
        self.warn_of_what_is_not_explained(warnings);
        self.warn_of_many_outliers(warnings);
        warnings.extend(self.outputs.iter().filter_map(OutputFit::told_of_sentinels));
        let overall = ResidualTests::overall(&self.residual_tests).into_iter().filter(|found| found.is_warning);
        warnings.extend(overall.map(|found| found.sentence));
        let noisy: Vec<&OutputFit> = self.outputs.iter().filter(|output| !output.is_round_off()).collect();
        // outliers are no noise, and most samples are none
        let size = |output: &OutputFit| match self.down_weighted {
            Some(_) => output.usual_size(),
            None => output.rmse(),
        };
        let scaled = |output: &OutputFit| size(output) / output.deviation;
        let by_size = |a: &&&OutputFit, b: &&&OutputFit| scaled(a).total_cmp(&scaled(b));
        if let (Some(most), Some(least)) = (noisy.iter().max_by(by_size), noisy.iter().min_by(by_size))
            && scaled(most) > 3.0 * scaled(least)
            // estimated ones are what the residuals say, and where none are given, that is told
            && self.noise != Noise::PerSensor
            && self.outputs.iter().any(|output| output.deviation != 1.0)
        {
            warnings.push(format!(
                "divided by their deviations, residuals of `{}` are {} times those of `{}`: correct the deviations, which \
                 should be as large as the noise and on which all standard errors rely",
                most.name,
                rounded(scaled(most) / scaled(least), 2),
                least.name
            ));
        }
    }

    /// Samples that a robust loss weighs down are outliers only where they are few.
    fn warn_of_many_outliers(&self, warnings: &mut Vec<String>) {
        /// So many times as many as there would be of normal noise, and more by this part of all.
        const MANY: f64 = 2.0;
        const MORE: f64 = 0.15;
        let (n, expected) = (self.count as f64, self.expected_down);
        let are_many = |down: f64| down > MANY * expected && down > expected + MORE * n;
        let Some(down) = self.down_weighted.filter(|down| are_many(*down as f64)) else { return };
        warnings.push(format!(
            "the robust loss weighs down {} % of the samples, and would {} % of noise of the stated deviations: these are too small, or the model is wrong, and \
             standard errors mean little",
            rounded(100.0 * down as f64 / n, 2),
            rounded(100.0 * expected / n, 2)
        ));
    }

    /// Records that tell of no motion, or of none that the model has.
    fn warn_of_what_is_not_explained(&self, warnings: &mut Vec<String>) {
        let listed = |those: &[&OutputFit], word: &dyn Fn(&OutputFit) -> String| {
            let names: Vec<String> = those.iter().take(NAMED).map(|output| word(output)).collect();
            let rest = if those.len() > NAMED { format!(" and {} more", those.len() - NAMED) } else { String::new() };
            names.join(", ") + &rest
        };
        let constant: Vec<&OutputFit> = self.outputs.iter().filter(|output| output.r_squared.is_none()).collect();
        if !constant.is_empty() {
            let word = |output: &OutputFit| {
                let (name, unit, count) = (&output.name, &output.unit, output.residuals.len());
                match output.size {
                    0.0 => format!("`{name}` (zero at all {count} samples)"),
                    size => format!("`{name}` ({} {unit} in magnitude at all {count} samples)", rounded(size, 4)),
                }
            };
            warnings.push(format!(
                "the record of {} does not vary: it tells of a rest alone, and fit and R^2 mean nothing; is it the right column, and the right \
                 time?",
                listed(&constant, &word)
            ));
        }
        let is_nothing = |output: &&OutputFit| output.fit_percent.is_some_and(|fit| fit < NOTHING);
        let unexplained: Vec<&OutputFit> = self.outputs.iter().filter(is_nothing).collect();
        if !unexplained.is_empty() {
            let word = |output: &OutputFit| match output.r_squared {
                Some(r_squared) if r_squared > -10.0 => format!("`{}` (R^2 = {r_squared:.4})", output.name),
                _ => format!("`{}`", output.name),
            };
            let mean = if unexplained.len() == 1 { "its mean" } else { "their means" };
            warnings.push(format!(
                "nothing of what the record of {} varies is explained: {mean} would do as well",
                listed(&unexplained, &word)
            ));
        }
    }
}
