//! The figures of statistics after a fit, from plain slices.

use super::heat_map::HeatMap;
use super::{Axis, Color, Dash, Drawn, Figure, Marker, Panel, Series};
use costate::spread::Spread;
use costate_data::series::Dependence;
use costate_identify::{Error, Result};

/// A correlation matrix as coloured cells with their values; NaN is shown as unknown.
///
/// # Errors
///
/// If the matrix is empty or does not have a row and a column for each name.
pub fn correlation(names: &[&str], values: &[Vec<f64>]) -> Result<Figure> {
    let count = names.len();
    if count == 0 || values.len() != count || values.iter().any(|row| row.len() != count) {
        let problem = format!("it has {} rows for {count} names", values.len());
        let remedy = "give a row and a column for each name, at least one";
        return Err(Error::invalid("the figure of correlations", problem, remedy));
    }
    let names = names.iter().map(|name| (*name).to_string()).collect();
    let map = HeatMap { names, values: values.to_vec() };
    let figure = if count > 9 { Figure::wide() } else { Figure::column() };
    Ok(Figure { drawn: Some(Drawn::Map(map)), ..figure })
}

/// Residuals of an output over time (in s) or over the lines of a spectrum, and their histogram with the normal density of the same mean and
/// spread. `over`: the axis' label, and where each is; `is_joined`: whether they follow each other.
///
/// # Errors
///
/// If there are no residuals, or not one for each time or line.
pub fn residuals(
    name: &str,
    unit: &str,
    (over, at, is_joined): (&str, &[f64], bool),
    residuals: &[f64],
) -> Result<Figure> {
    let what = format!("the figure of residuals of `{name}`");
    if at.is_empty() || at.len() != residuals.len() {
        let problem = format!("it has {} values for {} places", residuals.len(), at.len());
        return Err(Error::invalid(what, problem, "give one value for each time or line, at least one"));
    }
    let label = if unit.is_empty() { format!("residual of {name}") } else { format!("residual of {name} [{unit}]") };
    let drawn = match is_joined {
        true => Series::line(at, residuals).width(0.2),
        false => Series::points(at, residuals).marker(Marker::Circle),
    };
    let over_time = Panel::new(Axis::linear(over), Axis::linear(&label)).series(drawn).reference_line(0.0, "");
    let figure = Figure::column().panel(over_time);
    let finite: Vec<f64> = residuals.iter().copied().filter(|r| r.is_finite()).collect();
    let count = finite.len() as f64;
    let Spread { mean, deviation: spread, .. } = Spread::of(finite.iter().copied());
    let (low, high) = finite.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), r| (l.min(*r), h.max(*r)));
    // residuals that are all the same have no histogram
    if !(spread > 1e-12 * low.abs().max(high.abs()) && (high - low) / spread < 1e6) {
        return Ok(figure);
    }
    // about as many bins as Freedman and Diaconis want for normal data, but not more than can be seen
    let bins = ((high - low) / (2.7 * spread / count.cbrt())).ceil().clamp(4.0, 60.0) as usize;
    let width = (high - low) / bins as f64;
    let mut heights = vec![0.0; bins];
    for r in &finite {
        heights[(((r - low) / width) as usize).min(bins - 1)] += 1.0;
    }
    // a step to each edge, from zero back to zero
    let mut edges = vec![low];
    let mut densities = vec![0.0];
    // in units of 1/spread, so that the axis has plain numbers
    for (i, height) in heights.iter().enumerate() {
        edges.push(low + i as f64 * width);
        densities.push(height * spread / (count * width));
    }
    edges.push(high);
    densities.push(0.0);
    let (left, right) = (low.min(mean - 3.2 * spread), high.max(mean + 3.2 * spread));
    let points: Vec<f64> = (0..=160).map(|i| left + (right - left) * f64::from(i) / 160.0).collect();
    let bell = |r: &f64| (-0.5 * ((r - mean) / spread).powi(2)).exp() / std::f64::consts::TAU.sqrt();
    let density: Vec<f64> = points.iter().map(bell).collect();
    let panel = Panel::new(Axis::linear(label), Axis::linear("density × standard deviation").lower_limit(0.0))
        .series(Series::step(&edges, &densities).label("residuals"))
        .series(Series::line(&points, &density).label("normal").color(Color::PALETTE[1]).dash(Dash::Dashed));
    Ok(figure.panel(panel))
}

/// A quantity that residuals depend on.
#[derive(Debug, Clone)]
pub struct DependsOn {
    /// Its name with its unit.
    pub label: String,
    /// Its values at the samples of the residuals.
    pub values: Vec<f64>,
    /// How residuals depend on it.
    pub dependence: Dependence,
}

/// Points of a panel at most.
const MOST_POINTS: usize = 800;

/// Residuals over quantities that they depend on, a panel each, with their means over quantiles.
///
/// # Errors
///
/// If there is no quantity, or not one value for each residual.
pub fn dependence(name: &str, unit: &str, residuals: &[f64], on: &[DependsOn]) -> Result<Figure> {
    let what = format!("the figure of what residuals of `{name}` depend on");
    if on.is_empty() || on.iter().any(|own| own.values.len() != residuals.len()) {
        let remedy = "give at least one quantity, with a value for each residual";
        return Err(Error::invalid(what, "quantities and residuals do not fit together", remedy));
    }
    let label = if unit.is_empty() { format!("residual of {name}") } else { format!("residual of {name} [{unit}]") };
    let thinned = |all: &[f64]| -> Vec<f64> {
        all.iter().step_by(residuals.len().div_ceil(MOST_POINTS).max(1)).copied().collect()
    };
    let mut figure = Figure::column().panel_height(40.0);
    for (number, own) in on.iter().enumerate() {
        let [x, r] = &own.dependence.means;
        let legend = if number == 0 { ["residuals", "mean"] } else { ["", ""] };
        let panel = Panel::new(Axis::linear(&own.label), Axis::linear(&label))
            .title(format!("{:.0} % of the residuals' variance goes with it", 100.0 * own.dependence.share))
            .reference_line(0.0, "")
            .series(Series::points(&thinned(&own.values), &thinned(residuals)).marker(Marker::Circle).label(legend[0]))
            .series(Series::line(x, r).color(Color::PALETTE[1]).width(0.6).label(legend[1]));
        figure = figure.panel(panel);
    }
    Ok(figure)
}

/// A confidence ellipse of two parameters.
#[derive(Debug, Clone)]
pub struct Ellipse<'a> {
    /// Name and unit of the parameter on the horizontal axis.
    pub x: (&'a str, String),
    /// Name and unit of the parameter on the vertical axis.
    pub y: (&'a str, String),
    /// The outline, as differences from the estimates: these may be smaller than what the estimates' last digits tell.
    pub outline: (&'a [f64], &'a [f64]),
}

/// 95 % confidence ellipses, a panel for each pair of parameters, the estimates marked.
///
/// # Errors
///
/// If there is no pair.
pub fn ellipses(pairs: &[Ellipse<'_>]) -> Result<Figure> {
    if pairs.is_empty() {
        let remedy = "give at least one pair of parameters with finite standard errors";
        return Err(Error::invalid("the figure of confidence ellipses", "there is no ellipse to draw", remedy));
    }
    let axis = |(name, unit): &(&str, String)| {
        Axis::linear(if unit == "1" || unit.is_empty() { format!("Δ {name}") } else { format!("Δ {name} [{unit}]") })
    };
    let columns = match pairs.len() {
        1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let mut figure = if columns == 1 { Figure::column() } else { Figure::wide() };
    for pair in pairs {
        let panel = Panel::new(axis(&pair.x), axis(&pair.y))
            .title("95 % confidence")
            .series(Series::line(pair.outline.0, pair.outline.1).color(Color::PALETTE[0]))
            .series(Series::points(&[0.0], &[0.0]).color(Color::PALETTE[1]).marker(Marker::Plus));
        figure = figure.panel(panel);
    }
    Ok(figure.columns(columns))
}
