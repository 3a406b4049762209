//! Statistics at the optimum.

mod bodies;
mod criteria;
mod dependent;
mod noise;
mod priors;
mod warnings;

pub use bodies::BodyStatistics;
pub use criteria::fits;
use criteria::{correlation, cost_units, covariance, criteria, outputs, root, root_of_curvature};
pub use dependent::DependentStatistics;
pub use noise::Noise;

use super::identifiability::{Identifiability, analysed};
use super::residual_tests::{self, ResidualTests};
use super::residuals::{self};
use super::sentinel::Sentinel;
use super::student::LEVELS;
use super::time_step::TimeStepCheck;
use crate::constraint::held_directions;
use crate::problem::{Problem, base_name};
use crate::steps::StepChoice;
use crate::{Error, Result};
use crate::{Identification, Status};
use costate::spread::{difference, root_mean_square, spread_by_chance};
use costate::{Parameter, Quantity};
use nalgebra::DMatrix;

/// Residuals below this part of the data's own variation are round-off: of a simulation whose Newton iterations end at a relative
/// tolerance of 1e-10, over many steps. No measurement is so free of noise.
pub(crate) const ROUND_OFF: f64 = 1e-8;

/// Determinacy of a parameter: what the data say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Determinacy {
    /// Determined, with a value and a standard error.
    Determined,
    /// Undetermined: part of a combination that the data do not determine.
    Undetermined,
    /// Without influence on any residual.
    WithoutInfluence,
    /// Held at a bound for the statistics.
    AtBound,
    /// Fixed: not identified.
    Fixed,
    /// Determined by its prior: the standard error is more than 0.9 of the prior's deviation, and the data tell next to nothing.
    FromPrior,
}

impl Determinacy {
    /// Remark for tables; nothing where there is nothing to say.
    pub fn remark(self) -> &'static str {
        match self {
            Determinacy::Undetermined => "undetermined",
            Determinacy::WithoutInfluence => "no influence",
            Determinacy::FromPrior => "from its prior",
            Determinacy::Determined | Determinacy::AtBound | Determinacy::Fixed => "",
        }
    }
}

/// A parameter's share of the statistics.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParameterStatistics {
    /// Name of the parameter.
    pub name: String,
    /// Unit of the parameter.
    pub unit: String,
    /// The value at the optimum.
    pub value: f64,
    /// Determinacy of the parameter by the data.
    pub determinacy: Determinacy,
    /// True if the parameter is free and has not moved from its start.
    pub at_start: bool,
    /// Infinite where the data do not determine it; NaN where there is none: held, or no residual left to estimate the noise.
    pub standard_error: f64,
    /// Lower and upper ends for each of [`LEVELS`], cut at the parameter's bounds; as the standard error where that is not finite.
    pub intervals: [(f64, f64); 3],
    /// The 95 % interval as it is without bounds, where that is another one.
    pub beyond_bounds: Option<(f64, f64)>,
    /// Twice what the cost rises by where the parameter is one standard error off, and the others follow. Of independent residuals of one weight, it
    /// is one number for all parameters; others are worth more or less to each. Where there is no standard error: the largest of the others'.
    pub cost_unit: f64,
}

/// Fit of an output: how well it is reproduced.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OutputFit {
    /// Name; `NAME@EXPERIMENT` where there are several experiments.
    pub name: String,
    /// Unit of the output.
    pub unit: String,
    /// Times of the samples, s, or where the lines of a spectrum are.
    pub times: Vec<f64>,
    /// Quantity of `times`: time, or of a spectrum frequency, order or speed.
    pub over: Quantity,
    /// y - ȳ at these times.
    pub residuals: Vec<f64>,
    /// The deviation that the residuals are divided by.
    pub deviation: f64,
    /// Root mean square of the data about their mean; about zero, if they are constant. Of values known up to a period ([`Quantity::period`]),
    /// the mean is the argument of the mean unit vector, and differences from it are taken to the nearest multiple, as residuals are.
    pub size: f64,
    /// Period of values that are known up to one.
    pub period: Option<f64>,
    /// 1 - Σ(y - ȳ)²/Σ(ȳ - mean)², with that mean; `None` for constant data.
    pub r_squared: Option<f64>,
    /// 100 (1 - |y - ȳ|/|ȳ - mean|); `None` for constant data.
    pub fit_percent: Option<f64>,
    /// Their mean.
    pub mean: f64,
    /// Values that the record repeats far outside all others, where the model goes nowhere near.
    pub sentinels: Vec<Sentinel>,
}

impl OutputFit {
    /// JSON for programs.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "output": self.name,
            "unit": self.unit,
            "samples": self.residuals.len(),
            "rmse": self.rmse(),
            "fit_percent": self.fit_percent,
            "r_squared": self.r_squared,
        })
    }

    /// The deviation of normal residuals that half of them would be within: what a few outliers do not change.
    fn usual_size(&self) -> f64 {
        /// Normal deviations over their median.
        const NORMAL: f64 = 1.4826;
        let mut sizes: Vec<f64> = self.residuals.iter().map(|residual| residual.abs()).collect();
        let middle = sizes.len() / 2;
        if sizes.is_empty() { 0.0 } else { NORMAL * *sizes.select_nth_unstable_by(middle, f64::total_cmp).1 }
    }

    /// True if values that stand for missing ones outweigh all others.
    pub(crate) fn is_of_sentinels(&self) -> bool {
        self.sentinels.iter().map(|own| own.share).sum::<f64>() > 0.5
    }

    /// Values that the record repeats far outside all others, with what to do, in a sentence.
    pub fn told_of_sentinels(&self) -> Option<String> {
        let told: Vec<String> = self.sentinels.iter().map(|own| own.in_words(&self.name, &self.unit)).collect();
        (!told.is_empty()).then(|| {
            format!(
                "{}: far outside all others, that is how loggers mark missing values; leave them out (empty cells), or take a robust loss (loss = \"huber\" \
                 with the `deviation` of the noise)",
                told.join("; ")
            )
        })
    }

    /// True if this is the same output with the same data once more: residuals are the same to the last bit.
    fn is_of_same_data(&self, other: &OutputFit) -> bool {
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<u64>>();
        base_name(&self.name) == base_name(&other.name)
            && self.deviation == other.deviation
            && self.times == other.times
            && bits(&self.residuals) == bits(&other.residuals)
    }

    /// True if there is no noise to speak of, of which statistics say anything.
    pub(super) fn is_round_off(&self) -> bool {
        self.r_squared.map_or(self.rmse() <= ROUND_OFF * self.size, |r_squared| r_squared >= 1.0 - 1e-12)
    }

    /// Root mean square of y - ȳ.
    pub fn rmse(&self) -> f64 {
        root_mean_square(self.residuals.iter().copied())
    }

    /// Root mean square of residuals of a model that knows nothing of values known up to a period: π/√3 rad of an angle.
    pub fn by_chance(&self) -> Option<f64> {
        self.period.map(spread_by_chance)
    }

    /// Root mean square of the difference to another run that is compared with the same data.
    pub(crate) fn distance(&self, other: &OutputFit) -> f64 {
        let pairs = self.residuals.iter().zip(&other.residuals);
        root_mean_square(pairs.map(|(own, other)| difference(*own, *other, self.period)))
    }
}

/// Statistics of a least-squares fit, of its parameters and its data; conventions in the [module](super).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Knowledge of the noise.
    pub noise: Noise,
    /// Number of residuals n.
    pub count: usize,
    /// The data are reproduced to round-off, and what noise they have would have to be estimated from that: then standard errors
    /// and all that rests on them mean nothing, and reports leave them out.
    pub is_noise_free: bool,
    /// Number of samples that a robust loss weighs down; `None` for plain squares.
    pub down_weighted: Option<usize>,
    /// So many would be of normal noise of the stated deviations.
    expected_down: f64,
    /// So many of them are independent, where residuals are correlated and count as what they are worth.
    pub independent: Option<f64>,
    /// n minus the number of determined directions.
    pub degrees_of_freedom: usize,
    /// Sum of the squared residuals over their deviations, χ².
    pub chi_square: f64,
    /// Akaike's information criterion, AIC.
    pub aic: f64,
    /// Bayesian information criterion, BIC.
    pub bic: f64,
    /// All parameters, in the model's order.
    pub parameters: Vec<ParameterStatistics>,
    /// Parameters of the model that follow from these by formulas.
    pub dependent: Vec<DependentStatistics>,
    /// Mass, centre and inertia of bodies that are more than parameters say, such as those of robots.
    pub bodies: Vec<BodyStatistics>,
    /// Combinations of parameters that are determined where these are not alone ([`Identifiability::combinations`]).
    pub combinations: Vec<super::CombinationStatistics>,
    /// Covariance of the parameters that [`Identifiability::parameters`] lists, in their units (of the logarithm where that
    /// is the scale). Rows and columns of undetermined ones are NaN.
    pub covariance: DMatrix<f64>,
    /// Correlation of these parameters.
    pub correlation: DMatrix<f64>,
    /// The outputs that were compared.
    pub outputs: Vec<OutputFit>,
    /// Tests of the outputs' residuals, in the same order; none where the data are reproduced to round-off.
    pub residual_tests: Vec<ResidualTests>,
    /// Check of the time step, where it was asked for ([`Statistics::with_time_step`]).
    pub time_step: Option<TimeStepCheck>,
    /// Choice of the steps, where they were chosen ([`identify_with_steps`](crate::steps::identify_with_steps)).
    pub step_choice: Option<StepChoice>,
    /// Combinations of the parameters that the data determine, and others.
    pub identifiability: Identifiability,
    /// Warnings before the numbers are used, a sentence each.
    pub warnings: Vec<String>,
}

impl Statistics {
    /// Statistics at the result of an identification; parameters at a bound are held. It takes one run with tangents. Where the noise of sensors was
    /// estimated with the parameters, it is that: [`Noise::PerSensor`].
    ///
    /// # Errors
    /// As [`Statistics::at`].
    pub fn of(problem: &Problem, found: &Identification, noise: Noise) -> Result<Self> {
        let held: Vec<usize> =
            (0..found.parameters.len()).filter(|&k| found.parameters[k].status != Status::Free).collect();
        let u = found.values();
        let noise = match &found.noise {
            None => noise,
            // of priors alone
            Some(estimate) if estimate.sensors.is_empty() => noise,
            Some(estimate) if estimate.is_known() => Noise::PerSensor,
            // deviations are then spreads of the data
            Some(_) => Noise::Estimated,
        };
        let directions = held_directions(problem, &u, &found.constraints)?;
        let mut statistics = Statistics::within(problem, &u, &held, &directions, noise)?;
        if !directions.is_empty() {
            let active = found.constraints.iter().filter(|c| c.is_held()).map(|c| format!("`{}`", c.name));
            let names = active.collect::<Vec<_>>().join(", ");
            statistics.warnings.push(format!("the statistics are those of parameters that keep to {names}"));
        }
        if !found.outcome.converged {
            let warning = "the search did not converge: statistics are those of an optimum, which this may not be";
            statistics.warnings.insert(0, warning.into());
        }
        Ok(statistics)
    }

    /// Statistics at `u`, for the problem's free parameters except those `held`. Meaningful at a minimum of the cost.
    ///
    /// # Errors
    /// If the cost is no sum of squares, no parameter is left, or the simulation fails.
    pub fn at(problem: &Problem, u: &[f64], held: &[usize], noise: Noise) -> Result<Self> {
        Statistics::within(problem, u, held, &[], noise)
    }

    /// Statistics of parameters that move orthogonally to the rows `directions` only, by all parameters: those of constraints.
    fn within(problem: &Problem, u: &[f64], held: &[usize], directions: &[Vec<f64>], noise: Noise) -> Result<Self> {
        let what = format!("the statistics of `{}`", problem.name);
        let free = problem.free();
        if free.is_empty() {
            return Err(Error::invalid(what, "all parameters are fixed", "free at least one"));
        }
        let moved: Vec<usize> = free.iter().copied().filter(|k| !held.contains(k)).collect();
        if moved.is_empty() {
            return Err(Error::invalid(what, "all free parameters are at their bounds", "widen the bounds"));
        }
        let residuals = residuals::collect(problem, u)?;
        let identifiability = Identifiability::within(&residuals.fitted, analysed(problem, u, &moved), directions)?
            .of_linear(problem.is_of_given_motions());
        let (n, rank) = (residuals.count, identifiability.rank);
        // without samples there is no noise to be estimated
        let noise = if n == 0 { Noise::Given } else { noise };
        // what priors and modes determine costs no residual; n rows determine n directions at most
        let rows = residuals.beside.iter();
        let paid: f64 = rows.map(|row| identifiability.leverage(&row.slope) / residuals.most).sum();
        let degrees_of_freedom = n.saturating_sub(rank.saturating_sub(paid.round() as usize));
        let chi_square = residuals.chi_square;
        let variance = match (noise, &residuals.robust) {
            (_, Some(robust)) => robust.variance(n, degrees_of_freedom),
            (Noise::Given | Noise::PerSensor, _) => 1.0,
            (Noise::Estimated, _) if degrees_of_freedom == 0 => f64::NAN,
            (Noise::Estimated, _) => chi_square / degrees_of_freedom as f64,
        };
        let root_of_noise = root(&residuals, &identifiability, variance);
        let covariance = covariance(&identifiability, &root_of_noise);
        // whatever the noise is
        let some = if variance > 0.0 && variance.is_finite() { variance } else { 1.0 };
        let by_noise = self::covariance(&identifiability, &root(&residuals, &identifiability, some));
        let by_curvature = self::covariance(&identifiability, &root_of_curvature(&identifiability, some));
        let correlation = correlation(&by_noise);
        let cost_units = cost_units(&identifiability, residuals.most * variance, [&by_noise, &by_curvature], u.len());
        let (aic, bic) = criteria(problem, (noise, chi_square), n, rank);
        let outputs = outputs(problem, &residuals);
        let costs = problem.least_squares().into_iter().flatten();
        let has_noise = costs.into_iter().any(|cost| !cost.added_noise().is_empty());
        let is_reproduced = |output: &OutputFit| output.rmse() <= ROUND_OFF * output.size;
        let is_noise_free = noise == Noise::Estimated && !has_noise && outputs.iter().all(is_reproduced);
        let tests = || residual_tests::test(problem, &residuals, &identifiability, &outputs);
        let mut statistics = Statistics {
            noise,
            is_noise_free,
            residual_tests: if is_noise_free { Vec::new() } else { tests() },
            count: n,
            down_weighted: residuals.robust.as_ref().map(|robust| robust.down),
            expected_down: residuals.robust.as_ref().map_or(0.0, |robust| robust.expected),
            independent: problem.independent(n),
            degrees_of_freedom,
            chi_square,
            aic,
            bic,
            time_step: None,
            step_choice: None,
            parameters: Vec::new(),
            dependent: Vec::new(),
            bodies: Vec::new(),
            combinations: Vec::new(),
            correlation,
            covariance,
            outputs,
            identifiability,
            warnings: Vec::new(),
        };
        let parameter = |(k, unit)| statistics.parameter(problem, u, &free, (k, unit));
        statistics.parameters = cost_units.into_iter().enumerate().map(parameter).collect();
        statistics.dependent = statistics.of_dependent(problem, u, &root_of_noise);
        statistics.combinations = statistics.of_combinations(u.len(), &root_of_noise);
        statistics.bodies = statistics.of_bodies(problem, u, &root_of_noise);
        statistics.warnings = statistics.warn(&problem.priors);
        statistics.warn_of_priors(problem);
        statistics.warn_of_modes(problem, u)?;
        statistics.warn_of_responses(problem, u)?;
        statistics.warn_of_kinks(problem, u)?;
        statistics.warn_of_size();
        statistics.warn_of_unequal_residuals();
        if moved.len() < free.len() {
            let all = Identifiability::within(&residuals.fitted, analysed(problem, u, &free), directions)?;
            statistics.warn_of_what_rests_on_bounds(
                &all,
                &self::covariance(&all, &root(&residuals, &all, some)),
                variance / some,
            );
        }
        Ok(statistics)
    }

    /// χ²/ν; `None` without degrees of freedom.
    pub fn reduced_chi_square(&self) -> Option<f64> {
        (self.degrees_of_freedom > 0).then(|| self.chi_square / self.degrees_of_freedom as f64)
    }

    /// Standard errors from the value to each end of the 95 % interval of a parameter.
    pub fn quantile(&self) -> f64 {
        LEVELS[1].quantile(self.student())
    }

    /// Degrees of freedom of Student's distribution; `None`: normal.
    fn student(&self) -> Option<usize> {
        match self.noise {
            Noise::Given | Noise::PerSensor => None,
            Noise::Estimated => Some(self.degrees_of_freedom),
        }
    }

    /// Pairs of parameters whose correlation exceeds `limit` in magnitude, the strongest first.
    pub fn notable_correlations(&self, limit: f64) -> Vec<(&str, &str, f64)> {
        let names = &self.identifiability.parameters;
        let mut pairs = Vec::new();
        for i in 0..names.len() {
            for j in 0..i {
                let value = self.correlation[(i, j)];
                if value.abs() > limit {
                    pairs.push((names[j].name.as_str(), names[i].name.as_str(), value));
                }
            }
        }
        pairs.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
        pairs
    }

    /// The 95 % confidence ellipse of two of the parameters that [`Identifiability::parameters`] lists, as differences from the
    /// estimates in their units; `None` where one of them has no finite standard error.
    pub fn ellipse(&self, first: usize, second: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        let (a, b) = (self.identifiability.parameters.get(first)?, self.identifiability.parameters.get(second)?);
        let radius = LEVELS[1].ellipse(self.student()).sqrt();
        // Cholesky's factor of the two rows
        let deviation = self.covariance[(first, first)].sqrt();
        let slope = self.covariance[(second, first)] / deviation;
        let rest = (self.covariance[(second, second)] - slope * slope).max(0.0).sqrt();
        if !(deviation > 0.0 && (radius * (deviation + slope + rest)).is_finite()) {
            return None;
        }
        let difference = |value: f64, change: f64, log: bool| if log { value * change.exp_m1() } else { change };
        let points = (0..=120).map(|i| {
            let (sin, cos) = (f64::from(i) / 120.0 * std::f64::consts::TAU).sin_cos();
            let x = difference(a.value, radius * deviation * cos, a.log);
            (x, difference(b.value, radius * (slope * cos + rest * sin), b.log))
        });
        Some(points.unzip())
    }

    /// The ellipses of all pairs of up to four parameters (those that are correlated most): places and differences.
    pub fn ellipse_pairs(&self) -> Vec<(usize, usize, Vec<f64>, Vec<f64>)> {
        let count = self.identifiability.parameters.len();
        let usable = |k: &usize| self.covariance[(*k, *k)] > 0.0;
        let mut chosen: Vec<usize> = (0..count).filter(usable).collect();
        let most = |k: usize| {
            let others = (0..count).filter(|&j| j != k).map(|j| self.correlation[(k, j)].abs());
            others.fold(0.0, f64::max)
        };
        chosen.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
        chosen.truncate(4);
        chosen.sort_unstable();
        let pairs = chosen.iter().flat_map(|&i| chosen.iter().filter(move |&&j| j > i).map(move |&j| (i, j)));
        pairs.filter_map(|(i, j)| self.ellipse(i, j).map(|(x, y)| (i, j, x, y))).collect()
    }

    fn parameter(
        &self,
        problem: &Problem,
        u: &[f64],
        free: &[usize],
        (k, cost_unit): (usize, f64),
    ) -> ParameterStatistics {
        let Identifiability { parameters, without_influence, involved, .. } = &self.identifiability;
        let place = parameters.iter().position(|p| p.index == k);
        let determinacy = match place {
            None if free.contains(&k) => Determinacy::AtBound,
            None => Determinacy::Fixed,
            Some(place) if without_influence.contains(&place) => Determinacy::WithoutInfluence,
            Some(place) if involved.contains(&place) => Determinacy::Undetermined,
            Some(_) => Determinacy::Determined,
        };
        let value = u[k];
        let (standard_error, intervals) = match (place, determinacy) {
            (Some(place), Determinacy::Determined) => {
                let error = self.covariance[(place, place)].sqrt();
                let log = parameters[place].log;
                let ends = LEVELS.map(|level| {
                    let half = level.quantile(self.student()) * error;
                    if log { (value * (-half).exp(), value * half.exp()) } else { (value - half, value + half) }
                });
                (if log { value * error } else { error }, ends)
            }
            (Some(_), _) => (f64::INFINITY, [(f64::NEG_INFINITY, f64::INFINITY); 3]),
            (None, _) => (f64::NAN, [(f64::NAN, f64::NAN); 3]),
        };
        let Parameter { name, unit, lower, upper, .. } = problem.parameters[k].clone();
        // the true value is within its bounds: what is cut off holds it in none of the cases that the level counts
        let cut = intervals.map(|(low, high): (f64, f64)| match standard_error.is_finite() {
            true => (low.max(lower), high.min(upper)),
            false => (low, high),
        });
        let beyond_bounds = (standard_error.is_finite() && cut[1] != intervals[1]).then_some(intervals[1]);
        let intervals = cut;
        let at_start = free.contains(&k) && value == problem.start[k];
        let own = ParameterStatistics {
            name,
            unit,
            value,
            determinacy,
            at_start,
            standard_error,
            intervals,
            beyond_bounds,
            cost_unit,
        };
        let is_decided = problem.priors.iter().any(|prior| prior.parameter == k && prior.decides(&own));
        if is_decided { ParameterStatistics { determinacy: Determinacy::FromPrior, ..own } } else { own }
    }
}
