//! Statistics as text and as JSON.

use super::curvature::{Curvature, Definiteness};
use super::direction::Direction;
use super::fit::{Determinacy, OutputFit, ParameterStatistics, Statistics};
use super::identifiability::Identifiability;
use super::residual_tests::ResidualTests;
use super::time_step::TimeStepCheck;
use crate::problem::base_name;
use crate::steps::StepChoice;
use crate::table::table;
use costate::shown::{number, rounded};
use costate::spread::root_mean_square;
use serde_json::{Value, json};

/// Said of a fit that leaves nothing of its data.
const NOISE_FREE: &str = "the reference is reproduced to round-off: nothing is left that noise could be estimated from, and standard \
                          errors would mean nothing";

/// Percentages from here on are not printed.
const MEANINGLESS: f64 = 1e6;

/// A finite number, or null.
fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

impl ParameterStatistics {
    /// `+/- 0.12 (3.1 %)` for tables.
    pub fn error_text(&self) -> String {
        match self.determinacy {
            Determinacy::AtBound | Determinacy::Fixed => "-".into(),
            _ if self.standard_error.is_nan() => "+/- unknown".into(),
            _ if self.standard_error.is_infinite() => "+/- infinite".into(),
            _ if self.value == 0.0 => format!("+/- {}", rounded(self.standard_error, 3)),
            _ => {
                let relative = 100.0 * self.standard_error / self.value.abs();
                // of what is nearly zero a percentage says nothing
                let relative =
                    if relative < MEANINGLESS { format!(" ({} %)", rounded(relative, 2)) } else { String::new() };
                format!("+/- {}{relative}", rounded(self.standard_error, 3))
            }
        }
    }

    fn interval(&self, level: usize) -> Value {
        let (low, high) = self.intervals[level];
        json!([finite(low), finite(high)])
    }
}

impl Direction {
    fn json(&self) -> Value {
        let terms = self.terms.iter();
        json!({
            "direction": terms.map(|t| json!({"name": t.parameter.name, "weight": t.weight, "size": t.parameter.size})).collect::<Vec<_>>(),
            "parameters": self.names(),
            "text": self.to_string(),
            "meaning": self.explanation(),
            "relative_singular_value": self.strength,
        })
    }
}

impl OutputFit {
    /// Line for a person: `RMSE of a: 0.12 m/s^2, fit 97.10 %, R^2 = 0.9992`.
    pub fn line(&self) -> String {
        let rmse = format!("RMSE of {}: {} {}", self.name, rounded(self.rmse(), 7), self.unit);
        match (self.fit_percent, self.r_squared) {
            (Some(fit), Some(r_squared)) => {
                // 1 - R² where R² would be printed as 1; of residuals that are far larger than the data, powers of ten
                let r = match r_squared {
                    r if r > 0.9999 => format!(", 1 - R^2 = {:.1e}", 1.0 - r),
                    r if r > -1e6 => format!(", R^2 = {r:.4}"),
                    r if r.is_finite() => format!(", R^2 = {r:.1e}"),
                    _ => String::new(),
                };
                let fit = if fit > -1e6 { format!("{fit:.2}") } else { format!("{fit:.1e}") };
                format!("{rmse}, fit {fit} %{r}")
            }
            _ => format!("{rmse} (the data are constant: no fit percentage)"),
        }
    }
}

/// Outputs that are listed one by one at most; more are summed up by output.
const LISTED: usize = 12;

/// A line an output, or, of many experiments, a line for all of one output.
fn output_lines(outputs: &[OutputFit]) -> Vec<String> {
    if outputs.len() <= LISTED {
        return outputs.iter().map(OutputFit::line).collect();
    }
    let mut names: Vec<&str> = Vec::new();
    outputs.iter().map(|output| base_name(&output.name)).for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    let line = |name: &&str| {
        let own: Vec<&OutputFit> = outputs.iter().filter(|output| base_name(&output.name) == *name).collect();
        let worst = own.iter().max_by(|a, b| a.rmse().total_cmp(&b.rmse()))?;
        let all = root_mean_square(own.iter().flat_map(|output| output.residuals.iter().copied()));
        let least = own.iter().filter_map(|output| output.fit_percent).reduce(f64::min);
        let least = least.map_or(String::new(), |fit| format!("; fit from {fit:.2} %"));
        let (count, unit) = (own.len(), &worst.unit);
        Some(format!(
            "RMSE of {name}: {} {unit} over {count} experiments, at worst {} {unit} in `{}`{least}",
            rounded(all, 4),
            rounded(worst.rmse(), 4),
            worst.name
        ))
    };
    names.iter().filter_map(line).collect()
}

impl Statistics {
    /// Text below the table of parameters.
    pub fn summary(&self) -> String {
        let mut lines = self.dependent_lines();
        lines.extend(self.combination_lines());
        for (a, b, value) in self.notable_correlations(0.9) {
            lines.push(format!("correlation of {a} and {b}: {value:.3}"));
        }
        if self.is_noise_free {
            let rmse = |o: &OutputFit| format!("RMSE of {}: {} {}", o.name, rounded(o.rmse(), 2), o.unit);
            lines.extend(self.outputs.iter().map(rmse));
            lines.push(NOISE_FREE.into());
            return lines.join("\n");
        }
        let reduced = match self.reduced_chi_square() {
            Some(value) => format!("reduced {}", rounded(value, 4)),
            None => "no degrees of freedom".into(),
        };
        let noise = match self.noise {
            super::Noise::Given => "noise as given",
            super::Noise::PerSensor => "noise of each sensor estimated",
            super::Noise::Estimated => "noise estimated from the residuals",
        };
        let worth = match self.independent {
            Some(worth) => {
                format!("; the residuals are correlated, and count as {} independent ones", rounded(worth, 3))
            }
            None => String::new(),
        };
        let chi_square = rounded(self.chi_square, 4);
        let (n, nu) = (self.count, self.degrees_of_freedom);
        lines.push(match n {
            0 => "standard errors follow from the deviations of what is measured beside samples, and of priors: there are no samples".to_string(),
            _ => format!("chi-square {chi_square}, {reduced} ({n} residuals, {nu} degrees of freedom, {noise}{worth})"),
        });
        lines.extend(self.down_weighted.map(|down| {
            format!(
                "a robust loss was used: it weighs down {down} of {n} samples; chi-square and RMSE are those of all samples, standard errors \
                 those of the loss"
            )
        }));
        lines.extend(output_lines(&self.outputs));
        // what is to be warned of is a warning
        let tests = ResidualTests::overall(&self.residual_tests).into_iter().filter(|found| !found.is_warning);
        lines.extend(tests.map(|found| found.sentence));
        lines.extend(self.step_choice.iter().filter_map(StepChoice::summary));
        lines.extend(self.time_step.iter().flat_map(TimeStepCheck::summary));
        lines.join("\n")
    }

    /// Number that rests on the noise: null without noise.
    pub(super) fn noisy(&self, x: f64) -> Value {
        if self.is_noise_free { Value::Null } else { finite(x) }
    }

    /// Adds everything to a result for programs.
    pub fn extend_json(&self, result: &mut Value) {
        let names: Vec<&str> = self.identifiability.parameters.iter().map(|p| p.name.as_str()).collect();
        if let Some(parameters) = result["parameters"].as_array_mut() {
            for (entry, statistics) in parameters.iter_mut().zip(&self.parameters) {
                entry["standard_error"] = self.noisy(statistics.standard_error);
                entry["determined"] = json!(statistics.determinacy);
                entry["at_start"] = json!(statistics.at_start);
            }
        }
        result["noise_free"] = json!(self.is_noise_free);
        let is_interval =
            |p: &&ParameterStatistics| !matches!(p.determinacy, Determinacy::Fixed | Determinacy::AtBound);
        let has_error = |p: &&ParameterStatistics| !self.is_noise_free || p.standard_error.is_infinite();
        let confidence = self.parameters.iter().filter(is_interval).filter(has_error);
        let confidence = confidence.map(|p| {
            let unbounded = p.standard_error.is_infinite();
            let beyond = p.beyond_bounds.map(|(low, high)| json!([low, high]));
            json!({"95_without_bounds": beyond, "name": p.name, "unbounded": unbounded, "68": p.interval(0), "95": p.interval(1), "99.7": p.interval(2)})
        });
        result["confidence"] = confidence.collect();
        let dependent = self.dependent.iter().map(|own| {
            let (low, high) = own.interval;
            json!({
                "name": own.name, "unit": own.unit, "value": own.value, "determined": own.standard_error.is_finite(),
                "standard_error": self.noisy(own.standard_error), "95": [self.noisy(low), self.noisy(high)],
            })
        });
        result["dependent_parameters"] = dependent.collect();
        result["combinations"] = self.combinations_json();
        result["bodies"] = self.bodies_json();
        let rows = (0..names.len()).map(|i| self.correlation.row(i).iter().map(|x| finite(*x)).collect::<Vec<_>>());
        result["correlation"] = json!({"names": names, "matrix": rows.collect::<Vec<_>>()});
        result["noise"] = json!(self.noise);
        result["residuals"] = json!(self.count);
        result["down_weighted"] = json!(self.down_weighted);
        result["degrees_of_freedom"] = json!(self.degrees_of_freedom);
        result["deviations"] =
            self.outputs.iter().map(|output| json!({"output": output.name, "deviation": output.deviation})).collect();
        result["chi_square"] = self.noisy(self.chi_square);
        result["reduced_chi_square"] = self.noisy(self.reduced_chi_square().unwrap_or(f64::NAN));
        result["aic"] = self.noisy(self.aic);
        result["bic"] = self.noisy(self.bic);
        let outputs = |value: &dyn Fn(&OutputFit) -> Option<f64>| {
            let entries = self.outputs.iter().map(|output| (output.name.clone(), json!(value(output))));
            Value::Object(entries.collect())
        };
        result["fit_percent"] = outputs(&|output| output.fit_percent);
        result["r_squared"] = outputs(&|output| output.r_squared);
        let directions = |list: &[Direction]| list.iter().map(Direction::json).collect::<Value>();
        result["undetermined"] = directions(&self.identifiability.undetermined);
        result["weakly_determined"] = directions(&self.identifiability.weak);
        result["condition_number"] = finite(self.identifiability.condition());
        if let Some(check) = &self.time_step {
            result["time_step"] = check.json();
            // null: nobody was to choose
            result["time_step"]["chosen"] = json!(self.step_choice.as_ref().map(StepChoice::json));
        }
        result["residual_tests"] = json!(self.residual_tests);
        result["statistics_warnings"] = json!(self.warnings);
    }
}

impl Curvature {
    /// Report for a person: eigenvalues, their signs, and what a minimum does not have.
    pub fn report(&self) -> String {
        let [positive, zero, negative] = self.inertia();
        let verdict = match self.definiteness() {
            Definiteness::PositiveDefinite => "positive definite",
            Definiteness::Singular => "singular",
            Definiteness::Indefinite => "indefinite",
        };
        let values: Vec<String> = self.eigenvalues.iter().map(|value| format!("{value:.3e}")).collect();
        let mut lines = vec![format!(
            "in the free parameters, each in its size: {verdict}, {positive} positive, {zero} zero, {negative} negative \
             eigenvalues: {} (zero up to {:.1e})",
            values.join(", "),
            self.zero
        )];
        for bend in &self.bends {
            let direction = &bend.direction;
            if bend.eigenvalue == 0.0 {
                let meaning = direction.explanation().map_or(String::new(), |meaning| format!(": {meaning}"));
                lines.push(format!("the cost does not bend along {direction}{meaning}"));
            } else {
                lines.push(format!("the cost bends down ({:.3e}) along {direction}", bend.eigenvalue));
            }
        }
        lines.join("\n")
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let [positive, zero, negative] = self.inertia();
        let bends = self.bends.iter().map(|bend| {
            let mut entry = bend.direction.json();
            entry["eigenvalue"] = json!(bend.eigenvalue);
            entry
        });
        json!({
            "verdict": self.definiteness(),
            "parameters": self.parameters.iter().map(|p| json!({"name": p.name, "size": p.size})).collect::<Vec<_>>(),
            "eigenvalues": self.eigenvalues,
            "zero_up_to": self.zero,
            "positive": positive,
            "zero": zero,
            "negative": negative,
            "directions": bends.collect::<Vec<_>>(),
        })
    }
}

impl Identifiability {
    /// Determinacy of parameter `k` of [`Identifiability::parameters`] near this point, in a word or two.
    pub fn determinacy(&self, k: usize) -> &'static str {
        let name = self.parameters[k].name.as_str();
        if self.without_influence.contains(&k) {
            "no influence"
        } else if self.involved.contains(&k) {
            "undetermined"
        } else if self.weak.iter().any(|direction| direction.names().contains(&name)) {
            "hardly determined"
        } else {
            "determined"
        }
    }

    /// Report for a person: parameters by influence, singular values, and which parameters are determined.
    pub fn report(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .ranking()
            .into_iter()
            .enumerate()
            .map(|(rank, k)| {
                let parameter = &self.parameters[k];
                vec![
                    (rank + 1).to_string(),
                    parameter.name.clone(),
                    number(parameter.value),
                    number(parameter.size),
                    parameter.unit.clone(),
                    format!("{:.3e}", self.influences[k]),
                    self.determinacy(k).into(),
                ]
            })
            .collect();
        let header = ["rank", "parameter", "at", "size", "unit", "influence", "locally"];
        let values: Vec<String> = self.singular_values.iter().map(|value| format!("{value:.2e}")).collect();
        let condition = self.condition();
        let condition = if condition.is_finite() { rounded(condition, 3) } else { "infinite".into() };
        let combinations: String = self.combination_lines().iter().map(|line| format!("\n{line}")).collect();
        format!(
            "{}\n\n{} residuals; influence: their RMS change, over the deviations, if the parameter changes by its size\n\
             singular values of the derivatives, columns of unit length: {}\ncondition number {condition}{combinations}",
            table(&header, &rows),
            self.residuals,
            values.join(", "),
        )
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let parameter = |k: usize| {
            let p = &self.parameters[k];
            json!({
                "name": p.name, "unit": p.unit, "value": p.value, "size": p.size, "influence": self.influences[k],
                "without_influence": self.without_influence.contains(&k), "undetermined": self.involved.contains(&k),
            })
        };
        let directions = |list: &[Direction]| list.iter().map(Direction::json).collect::<Value>();
        json!({
            "residuals": self.residuals,
            "parameters": (0..self.parameters.len()).map(parameter).collect::<Vec<_>>(),
            "ranking": self.ranking().into_iter().map(|k| &self.parameters[k].name).collect::<Vec<_>>(),
            "singular_values": self.singular_values,
            "condition_number": finite(self.condition()),
            "undetermined": directions(&self.undetermined),
            "weakly_determined": directions(&self.weak),
            "combinations": self.combinations().iter().map(super::Combination::json).collect::<Vec<_>>(),
            "warnings": self.warnings(),
        })
    }
}
