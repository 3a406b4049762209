//! Figures of spectra and of orders over speed.

use super::standard::{check_data, check_length, label};
use super::{Axis, Color, Dash, Figure, Panel, Series};
use costate_identify::Result;

/// A curve of a spectrum, measured and simulated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Curve<'a> {
    /// Name of the curve: `amplitude`, `order 2, amplitude`.
    pub name: String,
    /// Frequencies or orders of its lines.
    pub at: Vec<f64>,
    /// Labels and values at the lines, of which the first are what the others are compared with.
    pub series: Vec<(&'a str, Vec<f64>)>,
}

/// Most curves that one figure shows.
const MOST: usize = 6;

/// Curves of a spectrum of an output, a panel each. `over`: what lines are over, `frequency [Hz]`.
///
/// # Errors
///
/// If there are no lines, or not one value each.
pub fn spectrum(name: &str, unit: &str, over: &str, curves: &[Curve<'_>]) -> Result<Figure> {
    let what = format!("the spectrum of `{name}`");
    check_data(&what, curves.iter().any(|curve| !curve.at.is_empty()))?;
    let mut figure = Figure::column().share_x().share_legend();
    for curve in curves.iter().take(MOST) {
        let mut panel = Panel::new(Axis::linear(over), Axis::linear(label(&curve.name, unit)));
        for (k, (text, values)) in curve.series.iter().enumerate() {
            check_length(&format!("{what}, {text}"), values.len(), "lines", curve.at.len())?;
            let series = Series::line(&curve.at, values).label(*text);
            panel = panel.series(match k {
                0 => series.color(Color::LIGHT_GREY).width(0.9).dash(Dash::Solid),
                1 if curve.series.len() > 2 => series.color(Color::PALETTE[1]).dash(Dash::Dashed),
                _ => series.color(Color::PALETTE[0]).dash(Dash::Solid).width(0.3),
            });
        }
        figure = figure.panel(panel);
    }
    Ok(figure.panel_height(if curves.len() > 1 { 26.0 } else { 40.0 }))
}

/// An order of a run over the speeds of a shaft.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Number of periods in a revolution.
    pub order: f64,
    /// The speeds of the shaft.
    pub speeds: Vec<f64>,
    /// The amplitude at each.
    pub amplitudes: Vec<f64>,
}

/// A Campbell diagram: orders as rays of frequency over speed, as thick as their amplitudes, and natural frequencies (Hz) as horizontal
/// lines; resonances are where they cross. With the title comes the unit of amplitudes, with the label of speeds the revolutions a second
/// that are 1 of them.
///
/// # Errors
///
/// If there are no orders, or not one amplitude for each speed.
pub fn campbell(
    (title, unit): (&str, &str),
    (speed, hertz): (&str, f64),
    orders: &[Order],
    natural: &[(String, f64)],
) -> Result<Figure> {
    /// The thickest part of a ray, mm, and so many grades of thickness.
    const BROADEST: f64 = 2.4;
    const GRADES: usize = 12;
    let what = format!("the Campbell diagram of `{title}`");
    let largest = orders.iter().flat_map(|order| &order.amplitudes).fold(0.0, |most: f64, a| most.max(*a));
    check_data(&what, orders.iter().any(|order| order.speeds.len() > 1) && largest > 0.0)?;
    let frequency = Axis::linear("frequency [Hz]").lower_limit(0.0);
    let thickest = costate::shown::rounded(largest, 3);
    let mut panel = Panel::new(Axis::linear(speed), frequency).title(format!("{title} (thickest: {thickest} {unit})"));
    for (number, Order { order, speeds, amplitudes }) in orders.iter().enumerate() {
        check_length(&format!("{what}, order {order}"), amplitudes.len(), "speeds", speeds.len())?;
        let color = Color::PALETTE[number % Color::PALETTE.len()];
        let at: Vec<f64> = speeds.iter().map(|speed| order * speed * hertz).collect();
        let ray = Series::line(speeds, &at).color(color).width(0.12).dash(Dash::Solid);
        panel = panel.series(ray.label(format!("order {order}")));
        for grade in 1..=GRADES {
            let is_of = |a: f64, b: f64| (0.5 * (a + b) / largest * GRADES as f64).round() as usize == grade;
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for k in (1..speeds.len()).filter(|&k| is_of(amplitudes[k - 1], amplitudes[k])) {
                x.extend([speeds[k - 1], speeds[k], f64::NAN]);
                y.extend([at[k - 1], at[k], f64::NAN]);
            }
            if !x.is_empty() {
                let width = BROADEST * grade as f64 / GRADES as f64;
                panel = panel.series(Series::line(&x, &y).color(color).width(width).dash(Dash::Solid));
            }
        }
    }
    for (name, frequency) in natural {
        panel = panel.reference_line(*frequency, name);
    }
    Ok(Figure::column().panel_height(70.0).panel(panel))
}
