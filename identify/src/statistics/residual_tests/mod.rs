//! Tests whether residuals are what statistics assume, white noise, and what they tell if they are not.
//!
//! Formulas and their sources: `docs/residuals.md`.

mod block;
mod judgement;

pub(crate) use block::{block_length, worth};
pub use judgement::Finding;

use super::fit::OutputFit;
use super::identifiability::Identifiability;
use super::residuals::{Largest, Residuals};
use super::{student, tail};
use crate::flat::NOTHING;
use crate::problem::{Experiment, Problem};
use costate::cost::{LeastSquares, Loss, Reference};
use costate::shown::rounded;
use costate::time_axis::{EVEN_TOLERANCE, largest_interval, usual_step};
use costate_data::series::{Centred, Correlations, Correlogram, Run, crossing};

/// Lags that are tested, unless there are fewer than four times as many samples.
const LAGS: usize = 25;

/// Fewest samples for a test.
const FEWEST: usize = 12;

/// Fewest samples for the test of Jarque and Bera: with fewer, its p-value is rough.
const FEW_FOR_NORMALITY: usize = 100;

/// Lags over which correlated residuals are followed, at most, and products that this may take.
const MOST_LAGS: usize = 1000;
const MOST_PRODUCTS: usize = 50_000_000;

/// Part of a step by which times may miss a whole number of steps, of each step, behind samples that are left out.
const GAP_TOLERANCE: f64 = 1e-3;

/// Samples that are more than so many usual intervals apart are no neighbours.
const GAP: f64 = 5.0;

/// A statistic and the probability that chance makes it as large.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Test {
    /// The statistic; its degrees of freedom are those of a chi-square distribution.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees_of_freedom: usize,
    /// The probability.
    pub p_value: f64,
}

/// Third and fourth moments against those of the normal distribution (Jarque & Bera 1980).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Normality {
    /// 0 for a symmetric distribution.
    pub skewness: f64,
    /// 0 for a normal distribution, larger with heavy tails.
    pub excess_kurtosis: f64,
    /// Chi-square with two degrees of freedom, for many samples.
    pub test: Test,
    /// True if there are so few samples that the p-value is rough: the test finds too much at 1 %.
    pub few_samples: bool,
}

/// Correlations of residuals with an input: at a lag k > 0 with what it was k samples before, at k < 0 with what it is after.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct InputCorrelation {
    /// Name of the input.
    pub input: String,
    /// The correlations; bounds count in how input and residuals are correlated with themselves.
    pub correlogram: Correlogram,
    /// The lag with the most significant correlation.
    pub lag: i64,
    /// Delay of that lag, s.
    pub delay: f64,
    /// The correlation there.
    pub correlation: f64,
    /// The probability that chance makes one of the lags as significant.
    pub p_value: f64,
}

/// An interval between two samples.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Interval {
    /// Time of the first sample, s.
    pub from: f64,
    /// Time of the last sample, s.
    pub until: f64,
}

/// The largest residual.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LargestResidual {
    /// Time of the sample, s.
    pub time: f64,
    /// ȳ, the sample's own value, in the output's unit.
    pub value: f64,
    /// y - ȳ there, in the output's unit.
    pub residual: f64,
    /// Part of the sample that the fit adapts to: 0 for none, 1 for a sample that is always met.
    pub leverage: f64,
    /// Residual over its standard deviation, as the other residuals of this output have it.
    pub studentised: f64,
    /// The probability that chance makes the largest of all as large.
    pub p_value: f64,
}

/// A shift of the data in time, as far as parameters do not make up for it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct TimeOffset {
    /// By how much the data are later than the model, s.
    pub later: f64,
    /// The part of the residuals' squares that goes with it.
    pub share: f64,
}

/// The residuals of one output in one experiment under test.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ResidualTests {
    /// Name of the output; `NAME@EXPERIMENT` where there are several experiments.
    pub output: String,
    /// Unit of the output.
    pub unit: String,
    /// Samples that are there.
    pub samples: usize,
    /// s from one sample to the next; the usual interval (the median), if they are uneven.
    pub step: f64,
    /// True if samples are even, but for gaps of whole numbers of steps, of which lags take account; otherwise lags count samples.
    pub is_even: bool,
    /// The largest interval between two samples; `None` of one sample.
    pub largest_interval: Option<Interval>,
    /// Mean of the residuals, in the output's unit.
    pub mean: f64,
    /// The probability that chance makes it as large.
    pub mean_p_value: f64,
    /// Autocorrelation of the residuals about their mean; `None` if they do not vary, are too few, or are round-off. So are all tests.
    pub autocorrelation: Option<Correlogram>,
    /// Autocorrelations at lags from 1 on, as long as they exceed their bound.
    #[serde(skip)]
    pub(crate) run: Vec<f64>,
    /// Number of lags from the first one on over which neighbours are alike.
    pub correlated_lags: usize,
    /// True if lags beyond these were not looked at.
    #[serde(skip)]
    pub(crate) is_run_cut: bool,
    /// Test for white noise of Ljung & Box 1978.
    pub whiteness: Option<Test>,
    /// Factor by which standard errors may be too small, √(1 + 2 Σ of the correlations of the run).
    pub standard_error_factor: f64,
    /// Correlations with every input that varies.
    pub inputs: Vec<InputCorrelation>,
    /// Test for a normal distribution; `None` as above.
    pub normality: Option<Normality>,
    /// The largest one.
    pub largest: Option<LargestResidual>,
    /// True if the model explains anything of what the output's record varies.
    #[serde(skip)]
    pub(crate) explains: bool,
    /// The shift in time that explains most of the residuals; `None` if they are not tested, or samples are uneven.
    pub shift: Option<TimeOffset>,
    /// How far the model is off at the first sample of the record, if it begins there and that is far; over what the record varies; and what to do.
    #[serde(skip)]
    pub(crate) off_at_start: Option<(f64, f64, String)>,
    /// Finding at a level of 1 %.
    pub finding: Finding,
    /// The finding in a sentence.
    pub judgement: String,
}

/// Spacing of samples.
struct Spacing {
    step: f64,
    is_even: bool,
    largest_interval: Option<Interval>,
    /// The samples, one after another, with room where lags pass over a gap.
    places: Vec<Option<usize>>,
}

/// One output of one experiment.
struct Compared<'a> {
    experiment: &'a Experiment,
    cost: &'a LeastSquares,
    reference: &'a Reference,
    /// Place of the reference among those of the cost.
    place: usize,
    fit: &'a OutputFit,
    largest: Option<&'a Largest>,
    /// True if samples count as the independent ones that they are worth: standard errors know of correlations.
    is_counted: bool,
    /// The problem, if the record was fitted.
    fitted: Option<&'a Problem>,
}

/// Tests of all residuals, in the order of `outputs`, which are those of the problem.
pub(super) fn test(
    problem: &Problem,
    residuals: &Residuals,
    found: &Identifiability,
    outputs: &[OutputFit],
) -> Vec<ResidualTests> {
    let of_experiments = problem.experiments.iter().zip(&residuals.largest);
    let compared = of_experiments.flat_map(|(experiment, largest)| {
        let cost = experiment.cost.as_least_squares();
        let references = cost.into_iter().flat_map(|cost| cost.references().iter().enumerate().map(move |r| (cost, r)));
        references.zip(largest).map(move |((cost, reference), largest)| (experiment, cost, reference, largest.as_ref()))
    });
    compared
        .zip(outputs)
        .map(|((experiment, cost, (place, reference), largest), fit)| {
            let sensors = &problem.unknown_deviations;
            let is_counted = sensors.iter().any(|own| own.is_correlated && own.sees(experiment, reference.output));
            Compared { experiment, cost, reference, place, fit, largest, is_counted, fitted: Some(problem) }
                .test(Some(found))
        })
        .collect()
}

/// Tests of residuals of records that were not fitted: those of all experiments of a problem, in the order of [`fits`](super::fits). No sample has
/// had an influence on the parameters, so nothing is said of the largest, and there are no standard errors that could be too small.
pub fn test_unfitted(problem: &Problem, outputs: &[OutputFit]) -> Vec<ResidualTests> {
    let compared = problem.experiments.iter().flat_map(|experiment| {
        let cost = experiment.cost.as_least_squares();
        cost.into_iter().flat_map(move |cost| cost.references().iter().enumerate().map(move |r| (experiment, cost, r)))
    });
    let one = |((experiment, cost, (place, reference)), fit)| {
        Compared { experiment, cost, reference, place, fit, largest: None, is_counted: false, fitted: None }.test(None)
    };
    compared.zip(outputs).map(one).collect()
}

impl Compared<'_> {
    /// `found`: what of the fit the samples had an influence on, if they had. Under a robust loss, tests are those of the residuals' pulls: what it
    /// weighs down is neither an offset nor an outlier that would call for a robust loss.
    fn test(&self, found: Option<&Identifiability>) -> ResidualTests {
        match &self.cost.losses()[self.place] {
            Loss::Squares => self.tested(found),
            loss => {
                let mut pulls = self.fit.clone();
                let deviation = pulls.deviation;
                pulls.residuals.iter_mut().for_each(|r| *r *= loss.weight(*r / deviation));
                Compared { fit: &pulls, largest: None, ..*self }.tested(found)
            }
        }
    }

    fn tested(&self, found: Option<&Identifiability>) -> ResidualTests {
        let OutputFit { name, unit, times, residuals, .. } = self.fit;
        let Spacing { step, is_even, largest_interval, places } = self.spacing();
        let n = residuals.len();
        let mut tests = ResidualTests {
            output: name.clone(),
            unit: unit.clone(),
            samples: n,
            step,
            is_even,
            largest_interval,
            mean: residuals.iter().sum::<f64>() / n as f64,
            mean_p_value: f64::NAN,
            autocorrelation: None,
            run: Vec::new(),
            correlated_lags: 0,
            is_run_cut: false,
            whiteness: None,
            standard_error_factor: 1.0,
            inputs: Vec::new(),
            normality: None,
            largest: None,
            explains: self.fit.fit_percent.is_none_or(|fit| fit >= NOTHING),
            shift: None,
            off_at_start: None,
            finding: Finding::White,
            judgement: String::new(),
        };
        let series = Centred::new(&self.placed(&places));
        match series {
            _ if self.fit.is_round_off() => tests.finding = Finding::RoundOff,
            _ if self.cost.spectrum(self.reference).is_some() => tests.finding = Finding::Lines,
            _ if n < FEWEST => tests.finding = Finding::TooFew,
            None => tests.finding = Finding::Constant,
            Some(series) => {
                tests.correlate(&series);
                if tests.whiteness.is_none_or(|test| test.degrees_of_freedom == 0) {
                    // no two samples are neighbours: nothing was tested
                    tests.autocorrelation = None;
                    tests.whiteness = None;
                    tests.finding = Finding::TooFew;
                    tests.judgement = tests.sentence(tests.finding);
                    return tests;
                }
                self.cross(&series, &places, &mut tests);
                tests.normality = Some(normality(&series));
                tests.largest = self
                    .largest
                    .zip(found)
                    .and_then(|(largest, found)| self.studentised(largest, found, times, residuals));
                if found.is_none() || self.is_counted {
                    tests.standard_error_factor = 1.0;
                }
                tests.finding = tests.find(judgement::LEVEL);
                // where one delay is sought, another says nothing new; a record that was not fitted may begin elsewhere
                let is_told = self.cost.sensors().has_delay(self.reference.output)
                    || self.fitted.is_none() && self.is_far_at_start().is_some();
                tests.shift = (is_even && !is_told).then(|| self.shift(step, &places)).flatten();
                tests.off_at_start = self.off_at_start();
            }
        }
        tests.judgement = tests.sentence(tests.finding);
        tests
    }

    /// The largest residual over the deviation that the others of its output let it have (Cook & Weisberg 1982, section 2.2.1).
    fn studentised(
        &self,
        largest: &Largest,
        found: &Identifiability,
        times: &[f64],
        residuals: &[f64],
    ) -> Option<LargestResidual> {
        let n = residuals.len() as f64;
        let freedom = n * (1.0 - found.rank as f64 / found.residuals as f64);
        let leverage = (largest.weight * found.leverage(&largest.derivatives)).min(1.0);
        let (residual, time) = (residuals[largest.place], times[largest.place]);
        // in parts of the largest one, whose square might overflow, and beside which the others would be lost in a difference of sums
        let others = residuals.iter().enumerate().filter(|(i, _)| *i != largest.place);
        let others = others.map(|(_, r)| (r / residual).powi(2)).sum::<f64>();
        // round-off, where the others are what this one has pulled them to, or vanish
        let least = (f64::EPSILON * others).max(f64::EPSILON * f64::EPSILON);
        let without = (others - leverage / (1.0 - leverage)).max(least);
        let studentised = residual.signum() * ((freedom - 1.0) / (1.0 - leverage) / without).sqrt();
        let degrees_of_freedom = (freedom - 1.0).floor();
        if !(degrees_of_freedom >= 1.0 && studentised.is_finite()) {
            return None;
        }
        let p = student::tail(studentised, degrees_of_freedom as usize);
        let p_value = (n * p).min(1.0);
        let value = self.cost.samples(self.reference).nth(largest.place).map_or(f64::NAN, |i| self.reference.values[i]);
        Some(LargestResidual { time, value, residual, leverage, studentised, p_value })
    }

    /// Residuals at the output's own samples, which are at these places; NaN where there is none.
    fn placed(&self, places: &[Option<usize>]) -> Vec<f64> {
        let mut placed = vec![f64::NAN; self.cost.weights().len()];
        self.cost.samples(self.reference).zip(&self.fit.residuals).for_each(|(i, residual)| placed[i] = *residual);
        places.iter().map(|place| place.map_or(f64::NAN, |i| placed[i])).collect()
    }

    /// Data that are late by d are y(t - d), and residuals y - data then d y': d by least squares, and the part of the residuals' squares that goes with it.
    fn shift(&self, step: f64, places: &[Option<usize>]) -> Option<TimeOffset> {
        let residuals = self.placed(places);
        let shown =
            places.iter().zip(&residuals).map(|(place, residual)| Some(self.reference.values[(*place)?] + residual));
        let shown: Vec<Option<f64>> = shown.collect();
        let whole = |change: f64| self.fit.period.map_or(change, |period| change - period * (change / period).round());
        let [mut both, mut slopes, mut squares] = [0.0; 3];
        for (around, residual) in shown.windows(3).zip(&residuals[1..]) {
            let [Some(before), _, Some(after)] = around else { continue };
            let slope = whole(after - before) / (2.0 * step);
            if residual.is_finite() && slope.is_finite() {
                both += residual * slope;
                slopes += slope * slope;
                squares += residual * residual;
            }
        }
        let found = TimeOffset { later: both / slopes, share: both * both / (slopes * squares) };
        (found.later.is_finite() && found.share.is_finite()).then_some(found)
    }

    /// The first residual and its part of what the record varies, where it is a large one and the model begins there, too.
    fn is_far_at_start(&self) -> Option<(f64, f64)> {
        /// Of what the record varies.
        const FAR: f64 = 0.25;
        let (time, residual) = self.fit.times.first().zip(self.fit.residuals.first())?;
        let part = residual.abs() / self.fit.size;
        let begins = *time == self.experiment.simulation.grid().times()[0] && self.fit.over.name == "time";
        (begins && part > FAR && self.fit.fit_percent.is_some()).then_some((*residual, part))
    }

    fn off_at_start(&self) -> Option<(f64, f64, String)> {
        let (residual, part) = self.is_far_at_start()?;
        let (is_found, remedy) = self.fitted?.remedy_of_start(self.experiment);
        (!is_found).then_some((residual, part, remedy))
    }

    /// Spacing of the output's own samples.
    fn spacing(&self) -> Spacing {
        let times = self.experiment.simulation.grid().times();
        // rows of a file without a value of this output are no samples of it
        let own: Vec<usize> = self.cost.samples(self.reference).collect();
        let samples: Vec<f64> = own.iter().map(|i| times[self.cost.places().of(*i)]).collect();
        let largest_interval = largest_interval(&samples).map(|(from, until)| Interval { from, until });
        let step = (samples[samples.len() - 1] - samples[0]) / (samples.len() - 1).max(1) as f64;
        if samples.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= EVEN_TOLERANCE * step) {
            return Spacing { step, is_even: true, largest_interval, places: own.into_iter().map(Some).collect() };
        }
        // where samples are left out of an even sampling, their places are kept, so that none are neighbours across a gap
        let step = usual_step(&samples);
        let steps = |pair: &[f64]| (pair[1] - pair[0]) / step;
        let is_whole = |steps: f64| (steps - steps.round()).abs() <= GAP_TOLERANCE * steps.max(1.0) && steps >= 0.5;
        let is_even = samples.windows(2).all(|pair| is_whole(steps(pair)));
        let mut places: Vec<Option<usize>> = own.first().map(|i| Some(*i)).into_iter().collect();
        for (pair, i) in samples.windows(2).zip(&own[1..]) {
            // beyond the last lag, nothing is counted
            let empty = if is_even { steps(pair).round() as usize - 1 } else { usize::from(steps(pair) > GAP) * LAGS };
            places.extend(std::iter::repeat_n(None, empty.min(MOST_LAGS)));
            places.push(Some(*i));
        }
        Spacing { step, is_even, largest_interval, places }
    }

    fn cross(&self, series: &Centred, places: &[Option<usize>], tests: &mut ResidualTests) {
        let simulation = &self.experiment.simulation;
        let Some(autocorrelation) = &tests.autocorrelation else { return };
        let last = autocorrelation.lags.len();
        let mut own = autocorrelation.beyond_bounds();
        own.extend(tests.run.iter().skip(last));
        for (k, quantity) in simulation.signature().inputs.iter().enumerate() {
            let value = |i: usize| simulation.inputs_at(self.cost.places().of(i))[k];
            let values: Vec<f64> = places.iter().map(|place| place.map_or(f64::NAN, value)).collect();
            let Some(input) = Centred::new(&values) else { continue };
            let found = crossing(series, &own, &input, last);
            let lag = found.correlogram.lags[found.most];
            tests.inputs.push(InputCorrelation {
                input: quantity.name.clone(),
                lag,
                delay: lag as f64 * tests.step,
                correlation: found.correlogram.values[found.most],
                p_value: by_chance(found.score, found.correlogram.lags.len()),
                correlogram: found.correlogram,
            });
        }
    }
}

impl ResidualTests {
    /// The label of lags and the panels of a figure: the autocorrelation, then the inputs that matter most, as many as fit on a page.
    pub fn panels(&self) -> (&'static str, Vec<Correlations<'_>>) {
        const MOST_INPUTS: usize = 6;
        let (axis, step) = if self.is_even { ("lag [s]", self.step) } else { ("lag [samples]", 1.0) };
        let whiteness = self.whiteness.map_or(f64::NAN, |test| test.p_value);
        let title = format!("residuals of {}: whiteness p = {}", self.output, rounded(whiteness, 2));
        let mut panels: Vec<_> = self.autocorrelation.iter().map(|found| found.panel(title.clone(), step)).collect();
        let mut inputs: Vec<&InputCorrelation> = self.inputs.iter().collect();
        inputs.sort_by(|a, b| a.p_value.total_cmp(&b.p_value));
        panels.extend(inputs.into_iter().take(MOST_INPUTS).map(|input| {
            let title = format!("with input {} at t − lag: p = {}", input.input, rounded(input.p_value, 2));
            input.correlogram.panel(title, step)
        }));
        (axis, panels)
    }

    fn correlate(&mut self, series: &Centred) {
        let n = series.count;
        let (autocorrelation, statistic, degrees_of_freedom) = series.autocorrelations(LAGS.min(n / 4));
        let p_value = tail::chi_square(statistic, degrees_of_freedom);
        self.whiteness = Some(Test { statistic, degrees_of_freedom, p_value });
        let most = MOST_LAGS.min(MOST_PRODUCTS / n).min(n / 4);
        let Run { values, sum } = series.run(most.max(autocorrelation.lags.len()));
        self.run = values;
        self.correlated_lags = self.run.len();
        self.is_run_cut = self.run.len() >= most;
        let inflation = 1.0 + 2.0 * sum;
        self.standard_error_factor = inflation.sqrt();
        let score = series.mean / (series.deviation * (inflation / n as f64).sqrt());
        // the deviation is estimated, too, from so many independent residuals; far out, where digits are lost, both tails are nothing
        let worth = (n as f64 / inflation).floor().max(2.0);
        let t = score * ((n - 1) as f64 / n as f64).sqrt();
        self.mean_p_value = tail::normal(score).max(student::tail(t, worth as usize - 1));
        self.autocorrelation = Some(autocorrelation);
    }
}

/// The probability that the largest of so many independent normal numbers exceeds `score` in magnitude.
fn by_chance(score: f64, count: usize) -> f64 {
    // 1 - (1 - p)^n, exact for small p, too
    -(count as f64 * (-tail::normal(score)).ln_1p()).exp_m1()
}

fn normality(series: &Centred) -> Normality {
    let n = series.count as f64;
    let moment = |power: i32| series.scores().map(|score| score.powi(power)).sum::<f64>() / n;
    let (skewness, excess_kurtosis) = (moment(3), moment(4) - 3.0);
    let statistic = n / 6.0 * (skewness * skewness + 0.25 * excess_kurtosis * excess_kurtosis);
    let test = Test { statistic, degrees_of_freedom: 2, p_value: tail::chi_square(statistic, 2) };
    Normality { skewness, excess_kurtosis, test, few_samples: series.count < FEW_FOR_NORMALITY }
}
