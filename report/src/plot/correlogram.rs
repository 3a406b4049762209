//! The figure of tests on residuals, from plain slices.

use super::{Axis, Color, Dash, Figure, Panel, Series};
use costate_data::series::Correlations;
use costate_identify::{Error, Result};

/// Correlations of residuals with themselves and with inputs, a panel each, as stems with their 99 % bounds. `axis`: what lags are,
/// with the unit.
///
/// # Errors
///
/// If there are no correlations, or not one value and one bound for each lag.
pub fn correlograms(axis: &str, panels: &[Correlations<'_>]) -> Result<Figure> {
    let what = "the figure of tests on residuals";
    if panels.is_empty() {
        return Err(Error::invalid(what, "there are no correlations to draw", "give at least one panel"));
    }
    let mut figure = Figure::column().panel_height(if panels.len() > 4 { 20.0 } else { 28.0 });
    for (number, Correlations { title, lags, values, bounds }) in panels.iter().enumerate() {
        if values.len() != lags.len() || bounds.len() != lags.len() {
            let problem = format!("it has {} values and {} bounds for {} lags", values.len(), bounds.len(), lags.len());
            return Err(Error::invalid(what, problem, "give a value and a bound for each lag"));
        }
        let stems = |lag: &f64, value: f64| ([*lag, *lag, f64::NAN], [0.0, value, f64::NAN]);
        let (x, y): (Vec<_>, Vec<_>) = lags.iter().zip(*values).map(|(lag, value)| stems(lag, *value)).unzip();
        let below: Vec<f64> = bounds.iter().map(|bound| -bound).collect();
        let bound = |values: &[f64]| Series::line(lags, values).color(Color::PALETTE[1]).dash(Dash::Dashed);
        // the outermost stems stand beside the frame
        let (first, last) = (lags.first().copied().unwrap_or(0.0), lags.last().copied().unwrap_or(0.0));
        let aside = (last - first) / (lags.len().max(2) - 1) as f64;
        let axis = Axis::linear(axis).lower_limit(first - aside).upper_limit(last + aside);
        let legend = if number == 0 { "99 % bound" } else { "" };
        let panel = Panel::new(axis, Axis::linear("correlation"))
            .title(title)
            .reference_line(0.0, "")
            .series(Series::line(&x.concat(), &y.concat()).color(Color::PALETTE[0]).width(0.5))
            .series(bound(bounds).label(legend))
            .series(bound(&below));
        figure = figure.panel(panel);
    }
    Ok(figure)
}
