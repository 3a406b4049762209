//! Priors, which say what is known of parameters before any data: each is one more residual.
//!
//! | prior | residual r | what it says |
//! |---|---|---|
//! | normal, `[mean, deviation]` | (u - mean)/deviation | 68 % between mean - deviation and mean + deviation |
//! | log-normal, `[median, factor]` | ln(u/median)/ln(factor) | 68 % between median/factor and median·factor |
//!
//! ½ r² is added to the cost: the negative logarithm of the density, of u or of ln u, up to a constant. With residuals over the
//! deviations of the noise, the minimum is then the most probable value (of u, or of ln u).

use crate::beside::Row;
use crate::problem::Problem;
use crate::statistics::{Determinacy, ParameterStatistics, Statistics};
use crate::table::table;
use crate::{Error, Result};
use costate::Parameter;
use costate::shown::rounded;
use serde_json::{Value, json};

/// Posterior deviations above this part of the prior's say that the data tell nothing new.
pub const FROM_PRIOR: f64 = 0.9;
/// Priors that are missed by more of their deviations contradict the data.
const MISSED: f64 = 3.0;

/// Distribution of a parameter before any data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// Normal, in the parameter's unit.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// A normal distribution of the logarithm.
    LogNormal {
        /// Median, in the parameter's unit.
        median: f64,
        /// exp of the standard deviation of the logarithm: 1.1 is about 10 %.
        factor: f64,
    },
}

impl Distribution {
    /// Checks the numbers of the distribution.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`].
    pub fn validate(&self) -> Result<()> {
        let wrong = |what: &str, problem: String, remedy: &str| Err(Error::invalid(what, problem, remedy));
        match *self {
            Distribution::Normal { mean, deviation } => {
                match (mean.is_finite(), deviation.is_finite() && deviation > 0.0) {
                    (true, true) => Ok(()),
                    (false, _) => wrong("the normal prior", format!("its mean is {mean}"), "give a number"),
                    _ => wrong(
                        "the normal prior",
                        format!("its deviation {deviation} is not positive"),
                        "give a deviation > 0",
                    ),
                }
            }
            Distribution::LogNormal { median, factor } => {
                if !(median.is_finite() && median > 0.0) {
                    return wrong(
                        "the log-normal prior",
                        format!("its median {median} is not positive"),
                        "give a median > 0",
                    );
                }
                match factor.is_finite() && factor > 1.0 {
                    true => Ok(()),
                    false => wrong(
                        "the log-normal prior",
                        format!("its factor {factor} is not above 1"),
                        "give a factor such as 1.1: about 68 % lie between median/1.1 and median*1.1",
                    ),
                }
            }
        }
    }

    /// Centre of the distribution: mean or median.
    pub fn centre(&self) -> f64 {
        match *self {
            Distribution::Normal { mean, .. } => mean,
            Distribution::LogNormal { median, .. } => median,
        }
    }

    /// The residual at `u`, its first and its second derivative. Not finite where a logarithm has none.
    pub fn residual(&self, u: f64) -> [f64; 3] {
        match *self {
            Distribution::Normal { mean, deviation } => [(u - mean) / deviation, 1.0 / deviation, 0.0],
            Distribution::LogNormal { median, factor } => {
                let width = factor.ln();
                [(u / median).ln() / width, 1.0 / (u * width), -1.0 / (u * u * width)]
            }
        }
    }

    /// `0.5 +/- 0.1`, `0.5 */ 1.2`.
    fn text(&self) -> String {
        match *self {
            Distribution::Normal { mean, deviation } => format!("{} +/- {}", rounded(mean, 5), rounded(deviation, 3)),
            Distribution::LogNormal { median, factor } => format!("{} */ {}", rounded(median, 5), rounded(factor, 6)),
        }
    }
}

/// The prior of one parameter of a problem.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The parameter's place among those of the problem.
    pub parameter: usize,
    /// Distribution of the parameter before any data.
    pub distribution: Distribution,
    /// True if its deviation is estimated together with the parameters: one for all such priors of one kind and unit
    /// ([`crate::likelihood::identify_with_noise`]).
    pub is_estimated: bool,
}

impl Distribution {
    pub(crate) fn is_log(&self) -> bool {
        matches!(self, Distribution::LogNormal { .. })
    }

    /// Standard deviation, of the logarithm where it is log-normal.
    pub(crate) fn deviation(&self) -> f64 {
        match *self {
            Distribution::Normal { deviation, .. } => deviation,
            Distribution::LogNormal { factor, .. } => factor.ln(),
        }
    }

    /// The distribution with another such deviation.
    pub(crate) fn with_deviation(self, deviation: f64) -> Self {
        match self {
            Distribution::Normal { mean, .. } => Distribution::Normal { mean, deviation },
            Distribution::LogNormal { median, .. } => Distribution::LogNormal { median, factor: deviation.exp() },
        }
    }
}

impl Prior {
    fn at(&self, u: &[f64]) -> [f64; 3] {
        self.distribution.residual(u[self.parameter])
    }

    /// Residual of the parameter, in deviations of the prior.
    pub(crate) fn residual(&self, u: &[f64]) -> f64 {
        self.at(u)[0]
    }

    /// Checks that the prior goes with its parameter, and a search with it.
    pub(crate) fn validate(&self, parameter: &Parameter, start: f64) -> Result<()> {
        let what = format!("the prior of `{}`", parameter.name);
        self.distribution.validate().map_err(|error| error.located(&format!("parameter `{}`", parameter.name)))?;
        let Parameter { lower, upper, unit, .. } = parameter;
        if !parameter.free {
            let remedy = "free the parameter, or leave out its prior: it would only add a constant to the cost";
            return Err(Error::invalid(what, "the parameter is fixed", remedy));
        }
        let centre = self.distribution.centre();
        if !(*lower..=*upper).contains(&centre) {
            let problem = format!("its centre {centre} {unit} lies outside the bounds [{lower}, {upper}]");
            return Err(Error::invalid(what, problem, "move the bounds, or the prior"));
        }
        if let Distribution::LogNormal { .. } = self.distribution {
            if start <= 0.0 {
                let problem = format!("it is log-normal, and the start {start} {unit} has no logarithm");
                return Err(Error::invalid(what, problem, "give a positive start, or a normal prior"));
            }
            if *lower < 0.0 {
                let problem =
                    format!("it is log-normal, and the lower bound {lower} allows values without a logarithm");
                return Err(Error::invalid(what, problem, "give lower = 0 or more, or a normal prior"));
            }
        }
        Ok(())
    }
}

impl Problem {
    /// The problem with a prior of the parameter of this name, in the place of any before; of a local one without its experiment's name, of
    /// each of them. To be said after all experiments have been added.
    ///
    /// # Errors
    /// An unknown parameter, or one that [`Problem::validate`] refuses.
    pub fn with_prior(mut self, name: &str, distribution: Distribution) -> Result<Self> {
        for place in self.places(name)? {
            let prior = Prior { parameter: place, distribution, is_estimated: false };
            prior.validate(&self.parameters[place], self.start[place])?;
            self.set_prior(prior);
        }
        Ok(self)
    }

    /// The problem with a prior about this centre whose deviation is estimated together with the parameters, as one of all such priors of the same
    /// kind and unit, for [`crate::likelihood::identify_with_noise`]. It begins with the parameter's size; `is_log`: log-normal, with a factor
    /// of 2.
    ///
    /// # Errors
    /// As [`Problem::with_prior`].
    pub fn with_estimated_prior(mut self, name: &str, centre: f64, is_log: bool) -> Result<Self> {
        for place in self.places(name)? {
            let prior = self.estimated_prior(place, centre, is_log);
            prior.validate(&self.parameters[place], self.start[place])?;
            self.set_prior(prior);
        }
        Ok(self)
    }

    /// A prior about this centre with the deviation that an estimate begins with.
    pub(crate) fn estimated_prior(&self, parameter: usize, centre: f64, is_log: bool) -> Prior {
        let distribution = match is_log {
            true => Distribution::LogNormal { median: centre, factor: 2.0 },
            false => Distribution::Normal { mean: centre, deviation: self.size(parameter) },
        };
        Prior { parameter, distribution, is_estimated: true }
    }

    pub(crate) fn set_prior(&mut self, prior: Prior) {
        self.priors.retain(|own| own.parameter != prior.parameter);
        self.priors.push(prior);
    }

    /// Takes deviations of estimated priors that were found before, by their parameters' names.
    pub(crate) fn with_found_priors(mut self, found: &[(String, f64)]) -> Self {
        for prior in self.priors.iter_mut().filter(|prior| prior.is_estimated) {
            let name = &self.parameters[prior.parameter].name;
            if let Some((_, deviation)) = found.iter().find(|(own, deviation)| own == name && *deviation > 0.0) {
                prior.distribution = prior.distribution.with_deviation(*deviation);
            }
        }
        self
    }

    /// Priors that share a deviation which is estimated: their places.
    pub(crate) fn estimated_priors(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let kind = |k: usize| {
            let Prior { parameter, distribution, .. } = &self.priors[k];
            match distribution {
                Distribution::Normal { .. } => Some(self.parameters[*parameter].unit.as_str()),
                Distribution::LogNormal { .. } => None,
            }
        };
        for k in (0..self.priors.len()).filter(|&k| self.priors[k].is_estimated) {
            match groups.iter_mut().find(|group| kind(group[0]) == kind(k)) {
                Some(group) => group.push(k),
                None => groups.push(vec![k]),
            }
        }
        groups
    }

    /// Cost of the priors at `u`: ½ Σ r².
    pub fn prior_cost(&self, u: &[f64]) -> f64 {
        0.5 * self.priors.iter().map(|prior| prior.at(u)[0].powi(2)).sum::<f64>()
    }

    /// Adds its Hessian times `direction` to `product`.
    pub(crate) fn add_prior_curvature(&self, u: &[f64], direction: &[f64], product: &mut [f64]) {
        for prior in &self.priors {
            let [residual, slope, curvature] = prior.at(u);
            product[prior.parameter] += (slope * slope + residual * curvature) * direction[prior.parameter];
        }
    }

    /// Residuals of the priors at `u`.
    pub(crate) fn prior_rows(&self, u: &[f64]) -> Vec<Row> {
        let row = |prior: &Prior| {
            let [residual, own, _] = prior.at(u);
            let mut slope = vec![0.0; u.len()];
            slope[prior.parameter] = own;
            Row { residual, slope }
        };
        self.priors.iter().map(row).collect()
    }
}

/// Comparison of a prior with the value that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PriorResult {
    /// The parameter's name.
    pub name: String,
    /// Unit of the parameter.
    pub unit: String,
    /// The prior.
    pub distribution: Distribution,
    /// The value that was found.
    pub value: f64,
    /// Distance of the value from the prior's centre, in deviations of the prior.
    pub residual: f64,
    /// The standard error over the prior's deviation; `None` where there is no standard error.
    pub narrowed: Option<f64>,
}

impl PriorResult {
    /// Comparisons of all priors of a problem with the values, and with the statistics at these, if there are any.
    pub fn all(problem: &Problem, u: &[f64], statistics: Option<&Statistics>) -> Vec<PriorResult> {
        let result = |prior: &Prior| {
            let parameter = &problem.parameters[prior.parameter];
            let own = statistics.and_then(|statistics| statistics.parameters.get(prior.parameter));
            PriorResult {
                name: parameter.name.clone(),
                unit: parameter.unit.clone(),
                distribution: prior.distribution,
                value: u[prior.parameter],
                residual: prior.at(u)[0],
                narrowed: own.and_then(|own| prior.narrowed(own)),
            }
        };
        problem.priors.iter().map(result).collect()
    }

    /// Report for a person: a table, and how the cost is split.
    pub fn report(results: &[PriorResult], cost: f64) -> String {
        let row = |result: &PriorResult| {
            vec![
                result.name.clone(),
                result.distribution.text(),
                rounded(result.value, 5),
                result.unit.clone(),
                format!("{} deviations", rounded(result.residual, 2)),
                result.narrowed.map_or("-".to_string(), |narrowed| rounded(narrowed, 3)),
                result.remark().to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = results.iter().map(row).collect();
        let header = ["prior", "says", "found", "unit", "off by", "narrowed to", ""];
        let own: f64 = results.iter().map(|result| 0.5 * result.residual * result.residual).sum();
        let split = format!("cost {:.6e} = {:.6e} of the data + {own:.6e} of the priors", cost, cost - own);
        format!("{}\n{split}", table(&header, &rows))
    }

    /// Remark on a prior that decides, or is contradicted by the data; else empty.
    fn remark(&self) -> &'static str {
        match self.narrowed {
            _ if self.residual.abs() > MISSED => "contradicted",
            Some(narrowed) if narrowed > FROM_PRIOR => "decides",
            _ => "",
        }
    }

    /// JSON for programs.
    pub fn json(&self) -> Value {
        let mut entry = json!({
            "name": self.name, "unit": self.unit, "value": self.value, "residual": self.residual,
            "cost": 0.5 * self.residual * self.residual, "error_over_prior": self.narrowed, "text": self.distribution.text(),
            "remark": self.remark(),
        });
        entry["prior"] = match self.distribution {
            Distribution::Normal { mean, deviation } => json!({"normal": [mean, deviation]}),
            Distribution::LogNormal { median, factor } => json!({"log-normal": [median, factor]}),
        };
        entry
    }
}

impl Prior {
    /// The standard error over the prior's deviation, to first order in the logarithm's case.
    fn narrowed(&self, own: &ParameterStatistics) -> Option<f64> {
        let [_, slope, _] = self.distribution.residual(own.value);
        Some(own.standard_error * slope.abs()).filter(|narrowed| narrowed.is_finite())
    }

    /// True if the data tell next to nothing beside the prior.
    pub(crate) fn decides(&self, own: &ParameterStatistics) -> bool {
        own.determinacy == Determinacy::Determined && self.narrowed(own).is_some_and(|narrowed| narrowed > FROM_PRIOR)
    }

    /// A sentence on a prior that the data contradict.
    pub(crate) fn contradiction(&self, own: &ParameterStatistics) -> Option<String> {
        let [residual, ..] = self.distribution.residual(own.value);
        (residual.abs() > MISSED).then(|| {
            format!(
                "`{}` is {} deviations off its prior, which the data contradict: one of them, or the model, is wrong",
                own.name,
                rounded(residual.abs(), 2)
            )
        })
    }
}
