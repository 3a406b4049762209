//! Auto- and cross-correlations of a series at even samples, some of which may not be there.

use costate::dense::dot;
use costate::spread::Spread;

/// The 99 % bound of a normal number.
const BOUND: f64 = 2.575_829_303_548_901;

/// Correlations over lags, with what chance stays within, for figures.
#[derive(Debug, Clone)]
pub struct Correlations<'a> {
    /// Title above the panel: what is correlated.
    pub title: String,
    /// Lags, in what the axis is labelled with.
    pub lags: Vec<f64>,
    /// A correlation for each lag.
    pub values: &'a [f64],
    /// A bound of its magnitude for each lag.
    pub bounds: &'a [f64],
}

/// Correlations over lags, in samples.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Correlogram {
    /// The lags.
    pub lags: Vec<i64>,
    /// The correlation at each lag; NaN (null in JSON) where no two samples are so far apart.
    pub values: Vec<f64>,
    /// Bounds that white residuals stay within, at each single lag, in 99 of 100 cases.
    pub bounds_99: Vec<f64>,
}

impl Correlogram {
    /// Correlations that exceed their bounds, and zero for the others.
    pub fn beyond_bounds(&self) -> Vec<f64> {
        let pairs = self.values.iter().zip(&self.bounds_99);
        pairs.map(|(value, bound)| if value.abs() > *bound { *value } else { 0.0 }).collect()
    }

    /// Panel for a figure; `step`: what a lag of one sample is called.
    pub fn panel(&self, title: String, step: f64) -> Correlations<'_> {
        let lags = self.lags.iter().map(|lag| *lag as f64 * step).collect();
        Correlations { title, lags, values: &self.values, bounds: &self.bounds_99 }
    }
}

/// A series without its mean, in its standard deviation.
pub struct Centred {
    /// Values; zero where there is none.
    values: Vec<f64>,
    /// True for each value that is there; empty if all are.
    there: Vec<bool>,
    /// Number of values that are there.
    pub count: usize,
    /// Mean of what was given.
    pub mean: f64,
    /// Standard deviation of what was given, with 1/n.
    pub deviation: f64,
}

impl Centred {
    /// Centred of values that are NaN where there is none; `None` if they do not vary.
    pub fn new(given: &[f64]) -> Option<Self> {
        let there = || given.iter().copied().filter(|value| !value.is_nan());
        let Spread { mean, deviation, count } = Spread::of(there());
        let size = there().fold(0.0f64, |size, value| size.max(value.abs()));
        let varies = deviation > 1e-12 * size;
        let value = |given: &f64| if given.is_nan() { 0.0 } else { (given - mean) / deviation };
        varies.then(|| Centred {
            values: given.iter().map(value).collect(),
            there: if count == given.len() { Vec::new() } else { given.iter().map(|value| !value.is_nan()).collect() },
            count,
            mean,
            deviation,
        })
    }

    /// Values that are there, as multiples of the deviation from the mean.
    pub fn scores(&self) -> impl Iterator<Item = f64> {
        let is_there = |i: usize| self.there.get(i).is_none_or(|there| *there);
        self.values.iter().enumerate().filter(move |(i, _)| is_there(*i)).map(|(_, value)| *value)
    }

    /// The mean product of the series with `other` so many samples earlier, and of how many pairs.
    fn product(&self, other: &Centred, lag: i64) -> (f64, usize) {
        let shift = lag.unsigned_abs() as usize;
        let shortest = self.values.len().min(other.values.len());
        if shift >= shortest {
            return (f64::NAN, 0);
        }
        let (own, others) = if lag >= 0 { (shift, 0) } else { (0, shift) };
        let length = shortest - shift;
        let sum = dot(&self.values[own..own + length], &other.values[others..others + length]);
        let is_there = |series: &Centred, i: usize| series.there.get(i).is_none_or(|there| *there);
        let count = match (self.there.is_empty(), other.there.is_empty()) {
            (true, true) => length,
            _ => (0..length).filter(|i| is_there(self, own + i) && is_there(other, others + i)).count(),
        };
        (sum / count as f64, count)
    }

    /// The correlation with itself `lag` samples earlier, the deviation that it has if the series is white, and of how many pairs.
    pub fn autocorrelation(&self, lag: usize) -> (f64, f64, usize) {
        let (value, pairs) = self.product(self, lag as i64);
        let n = self.count as f64;
        (value, (n / ((n + 2.0) * pairs as f64)).sqrt(), pairs)
    }

    /// Autocorrelations at lags from 1 to `last`, and the statistic of Ljung and Box.
    pub fn autocorrelations(&self, last: usize) -> (Correlogram, f64, usize) {
        let mut found = Correlogram { lags: Vec::new(), values: Vec::new(), bounds_99: Vec::new() };
        let (mut statistic, mut counted) = (0.0, 0);
        for lag in 1..=last {
            let (value, deviation, pairs) = self.autocorrelation(lag);
            found.lags.push(lag as i64);
            found.values.push(value);
            found.bounds_99.push(BOUND * deviation);
            if pairs > 0 {
                statistic += (value / deviation).powi(2);
                counted += 1;
            }
        }
        (found, statistic, counted)
    }

    /// Autocorrelations at lags from 1 on, as long as they exceed their bound: as far as neighbours are alike. No more than `most` lags
    /// are looked at; one at which there are no pairs ends nothing.
    pub fn run(&self, most: usize) -> Run {
        let mut run = Run { values: Vec::new(), sum: 0.0 };
        let mut unknown = 0;
        for lag in 1..=most.min(self.values.len().saturating_sub(1)) {
            let (value, deviation, pairs) = self.autocorrelation(lag);
            if pairs == 0 {
                unknown += 1;
                continue;
            }
            if value.is_nan() || value <= BOUND * deviation {
                break;
            }
            run.values.resize(run.values.len() + unknown, 0.0);
            unknown = 0;
            run.values.push(value);
            // with all samples there, each has a neighbour at the lag but for the ends
            let places = self.values.len();
            let neighbours = (pairs * places) as f64 / (self.count * (places - lag)) as f64;
            run.sum += value * neighbours;
        }
        run
    }
}

/// Autocorrelations as far as neighbours are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The correlations at lags from 1 on; 0 where no two samples are so far apart.
    pub values: Vec<f64>,
    /// Their sum, each in the part in which samples have a neighbour at its lag.
    pub sum: f64,
}

/// Correlations of a series with another: at a lag k > 0, with what the other was k samples before.
pub struct Crossing {
    /// The correlations.
    pub correlogram: Correlogram,
    /// Place of the most significant correlation among the lags.
    pub most: usize,
    /// Significance of that correlation, in its deviations.
    pub score: f64,
}

/// Correlations of `residuals` with `input` at lags from -`last` to `last`. Beyond white noise, the deviation of a correlation is
/// √((1 + 2 Σ ρ_e ρ_u)/m): the sum runs over lags where the residuals' `own` correlation, from lag 1 on, exceeds its bound.
pub fn crossing(residuals: &Centred, own: &[f64], input: &Centred, last: usize) -> Crossing {
    let products = own.iter().enumerate().filter(|(_, own)| **own != 0.0);
    let sum: f64 = products.map(|(k, own)| own * input.autocorrelation(k + 1).0).sum();
    let factor = (1.0 + 2.0 * sum).max(1.0);
    let mut found = Correlogram { lags: Vec::new(), values: Vec::new(), bounds_99: Vec::new() };
    let mut scores = Vec::new();
    for lag in -(last as i64)..=last as i64 {
        let (value, pairs) = residuals.product(input, lag);
        let deviation = (factor / pairs as f64).sqrt();
        found.lags.push(lag);
        found.values.push(value);
        found.bounds_99.push(BOUND * deviation);
        scores.push(if pairs > 0 { (value / deviation).abs() } else { 0.0 });
    }
    let largest =
        |places: std::ops::Range<usize>| places.max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(last);
    // causes come before effects, unless the contrary is plain: periodic inputs lead as well as they lag
    let (any, causal) = (largest(0..scores.len()), largest(last..scores.len()));
    let most = if scores[causal] >= 0.9 * scores[any] { causal } else { any };
    Crossing { correlogram: found, most, score: scores[most] }
}
