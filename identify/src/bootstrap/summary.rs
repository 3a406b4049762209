//! Statistics of each parameter over the replicates.

use super::{Bootstrapped, FEWEST, Over, Replicate};
use crate::problem::Problem;
use crate::statistics::{Determinacy, Finding, Statistics};
use costate::shown::rounded;
use costate::spread::Spread;

/// Standard errors that differ by less than this factor from those of the covariance agree with them.
const DIFFERENT: f64 = 1.25;
/// Differences below so many of their own standard errors are chance.
const BEYOND_CHANCE: f64 = 3.0;
/// A bias that matters, in standard errors (Efron & Tibshirani 1993, section 10.3).
const BIASED: f64 = 0.25;

/// Bootstrap statistics of a parameter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParameterBootstrap {
    /// Place of the parameter in the problem.
    pub parameter: usize,
    /// Name of the parameter.
    pub name: String,
    /// Unit of the parameter.
    pub unit: String,
    /// The optimum.
    pub value: f64,
    /// Standard error by the covariance; infinite or NaN where there is none.
    pub standard_error: f64,
    /// The 95 % interval by that, within the parameter's bounds.
    pub linear: (f64, f64),
    /// Number of replicates that have a value of it.
    pub count: usize,
    /// The standard deviation of its values in these; NaN where nothing is said.
    pub bootstrap_error: f64,
    /// Mean of the replicates minus the optimum.
    pub bias: f64,
    /// 2.5 and 97.5 % of them (with the weights of (N + 1) p); NaN with fewer than [`FEWEST`].
    pub interval: (f64, f64),
    /// Number of replicates at a bound.
    pub at_bounds: usize,
    /// Reason why nothing is said, if so.
    pub missing_because: Option<&'static str>,
}

/// The values of a parameter in the replicates that tell of it.
fn values_of(replicates: &[Replicate], parameter: usize) -> Vec<f64> {
    let telling = replicates.iter().filter(|replicate| !replicate.held.contains(&parameter));
    telling.filter_map(|replicate| Some(replicate.values()?[parameter])).collect()
}

/// Quantile of sorted values: what a part p of them is below, interpolated, so that k of N values have the parts k/(N + 1). NaN of none.
pub(crate) fn quantile(sorted: &[f64], p: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = ((sorted.len() + 1) as f64 * p - 1.0).clamp(0.0, last as f64);
    let below = place as usize;
    let (Some(low), Some(high)) = (sorted.get(below), sorted.get((below + 1).min(last))) else { return f64::NAN };
    low + (place - below as f64) * (high - low)
}

pub(super) fn summarise(
    problem: &Problem,
    statistics: &Statistics,
    over: Over,
    replicates: &[Replicate],
) -> Vec<ParameterBootstrap> {
    let of = |k: usize| {
        let own = &statistics.parameters[k];
        let owners = problem.experiments.iter().filter(|experiment| experiment.places.contains(&k)).count();
        let missing_because = match own.determinacy {
            Determinacy::WithoutInfluence => Some("it has no influence on what is compared"),
            Determinacy::Undetermined => Some("the data do not determine it"),
            _ if over == Over::Experiments && owners == 1 => Some("one experiment alone has it"),
            _ => None,
        };
        let mut values = values_of(replicates, k);
        if missing_because.is_some() {
            values.clear();
        }
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        let Spread { mean, deviation, .. } = Spread::of(values.iter().copied());
        let ends = [0.025, 0.975].map(|p| if values.len() < FEWEST { f64::NAN } else { quantile(&values, p) });
        let bounds = [problem.parameters[k].lower, problem.parameters[k].upper];
        ParameterBootstrap {
            parameter: k,
            name: own.name.clone(),
            unit: own.unit.clone(),
            value: own.value,
            standard_error: own.standard_error,
            linear: own.intervals[1],
            count: values.len(),
            bootstrap_error: if values.len() < 2 { f64::NAN } else { deviation * (count / (count - 1.0)).sqrt() },
            bias: mean - own.value,
            interval: (ends[0], ends[1]),
            at_bounds: values.iter().filter(|value| bounds.contains(value)).count(),
            missing_because,
        }
    };
    problem.free().into_iter().map(of).collect()
}

impl ParameterBootstrap {
    /// Standard error over that of the covariance, where both are there.
    pub fn ratio(&self) -> Option<f64> {
        let ratio = self.bootstrap_error / self.standard_error;
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }

    /// Remark on the parameter; mostly none.
    pub fn remark(&self) -> Option<String> {
        let ParameterBootstrap { name, at_bounds, count, .. } = self;
        match self.missing_because {
            Some(reason) => Some(format!("nothing is said of `{name}`: {reason}")),
            None if *at_bounds > 0 => Some(format!("`{name}` is at a bound in {at_bounds} of {count} replicates")),
            None => None,
        }
    }
}

/// `` `c` and `d` ``
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

impl Bootstrapped {
    /// Sentences on standard errors that differ from those of the covariance, with a possible reason.
    pub(super) fn differences(&self, statistics: &Statistics) -> Vec<String> {
        let least = DIFFERENT.ln().max(BEYOND_CHANCE * self.chance());
        let differs = |sign: f64| {
            let ratios = self.parameters.iter().filter_map(|own| Some((own.name.as_str(), own.ratio()?)));
            ratios.filter(|(_, ratio)| sign * ratio.ln() > least).collect::<Vec<(&str, f64)>>()
        };
        let sentence = |found: Vec<(&str, f64)>, what: &str, why: String| {
            let (names, ratios): (Vec<&str>, Vec<f64>) = found.into_iter().unzip();
            let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
            let [low, high] = [low, high].map(|ratio| rounded(ratio, 2));
            let range = if low == high { low } else { format!("{low} to {high}") };
            let s = if names.len() == 1 { " is" } else { "s are" };
            format!("the standard error{s} {range} times {what} by the bootstrap for {}: {why}", listed(&names))
        };
        let mut sentences = Vec::new();
        let (larger, smaller) = (differs(1.0), differs(-1.0));
        if !larger.is_empty() {
            sentences.push(sentence(larger, "as large", self.reason(statistics)));
        }
        if !smaller.is_empty() {
            let why = "bounds keep it from scattering, or the noise is not alike at all samples".to_string();
            sentences.push(sentence(smaller, "as large", why));
        }
        sentences
    }

    /// Possible reason why the covariance is too small.
    fn reason(&self, statistics: &Statistics) -> String {
        if self.over == Over::Experiments {
            return "experiments differ by more than the noise within them; take these".into();
        }
        let is_correlated = |finding: Finding| matches!(finding, Finding::FollowInput | Finding::Correlated);
        let correlated = statistics.residual_tests.iter().filter(|tests| is_correlated(tests.finding));
        let names: Vec<&str> = correlated.map(|tests| tests.output.as_str()).collect();
        match names.as_slice() {
            [] => "within them the cost is no parabola, or the noise is not alike at all samples".into(),
            names => format!(
                "residuals of {} are not the white noise that the covariance takes them for; take these",
                listed(&names[..names.len().min(3)])
            ),
        }
    }

    /// Sentence on means of the replicates that are off the optimum.
    pub(super) fn biases(&self) -> Option<String> {
        let estimated = self.parameters.iter().filter(|own| own.count > 0);
        let off = estimated.map(|own| (own, own.bias / own.bootstrap_error));
        let by_chance = |own: &ParameterBootstrap| BEYOND_CHANCE / (own.count as f64).sqrt();
        let biased: Vec<String> = off
            .filter(|(own, off)| off.abs() > BIASED.max(by_chance(own)))
            .map(|(own, off)| format!("`{}` by {}", own.name, rounded(off, 2)))
            .collect();
        (!biased.is_empty()).then(|| {
            format!(
                "means of the replicates are off the fit by more than chance, in standard errors: {}",
                biased.join(", ")
            )
        })
    }
}
