//! Measured frequency responses: `response_NAME.csv` and the figures `response_NAME`.

use super::Folder;
use crate::plot::{Axis, Color, Figure, Marker, Panel, Series};
use costate_identify::Identification;
use costate_identify::Result;
use costate_identify::problem::Problem;
use costate_identify::response::ResponseResult;
use std::f64::consts::TAU;

/// Magnitude in dB, and the phase where it was measured, over frequency.
///
/// # Errors
/// A response without a line.
pub fn response_figure(result: &ResponseResult) -> Result<Figure> {
    let mut order: Vec<usize> = (0..result.found.len()).collect();
    let lines = &result.measured.lines;
    order.sort_by(|a, b| lines[*a].frequency.total_cmp(&lines[*b].frequency));
    let at: Vec<f64> = order.iter().map(|k| lines[*k].frequency).collect();
    let has_decades = at.first().zip(at.last()).is_some_and(|(first, last)| *first > 0.0 && *last > 10.0 * first);
    let axis = || if has_decades { Axis::log("frequency [Hz]") } else { Axis::linear("frequency [Hz]") };
    let panel = |label: String, measured: Vec<f64>, found: Vec<f64>| {
        let panel = Panel::new(axis(), Axis::linear(label));
        let points = Series::points(&at, &measured).label("measured").color(Color::LIGHT_GREY).marker(Marker::Cross);
        let line = Series::line(&at, &found).label("model").color(Color::PALETTE[0]);
        panel.series(points).series(line)
    };
    let level = |norm: f64| 20.0 * norm.log10();
    let mut figure = Figure::column().share_x().share_legend().panel_height(34.0).panel(panel(
        format!("{} [dB re 1 {}]", result.measured.name, result.unit),
        order.iter().map(|k| level(lines[*k].value.norm())).collect(),
        order.iter().map(|k| level(result.found[*k].norm())).collect(),
    ));
    if result.measured.comparison.has_phase() {
        // without jumps by whole turns, and what was measured next to it
        let mut model: Vec<f64> = order.iter().map(|k| result.found[*k].arg()).collect();
        for k in 1..model.len() {
            model[k] -= TAU * ((model[k] - model[k - 1]) / TAU).round();
        }
        let off = |k: usize| (lines[k].value / result.found[k]).arg();
        let measured = order.iter().zip(&model).map(|(k, model)| (model + off(*k)).to_degrees()).collect();
        let model = model.into_iter().map(f64::to_degrees).collect();
        figure = figure.panel(panel("phase [deg]".to_string(), measured, model));
    }
    Ok(figure)
}

impl Folder {
    /// Writes a table and a figure of each frequency response, measured and simulated.
    pub(super) fn response_figures(&self, problem: &Problem, found: &Identification) -> Result<()> {
        // the search has ended where they are
        let results = ResponseResult::all(problem, &found.values()).unwrap_or_default();
        for (k, result) in results.iter().enumerate() {
            let is_plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
            let name: String = result.measured.name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
            let same = |other: &ResponseResult| other.measured.name == result.measured.name;
            let name = match results.iter().filter(|other| same(other)).count() {
                1 => format!("response_{name}"),
                _ => format!("response_{name}_{}", k + 1),
            };
            let unit = &result.unit;
            let column = |name: &str, of: &dyn Fn(usize) -> f64| {
                (format!("{name} [{unit}]"), (0..result.found.len()).map(of).collect::<Vec<f64>>())
            };
            let lines = &result.measured.lines;
            let frequency = lines.iter().map(|line| line.frequency).collect();
            let columns = vec![
                ("frequency [Hz]".to_string(), frequency),
                column("measured real", &|k| lines[k].value.re),
                column("measured imaginary", &|k| lines[k].value.im),
                column("deviation", &|k| lines[k].deviation),
                column("model real", &|k| result.found[k].re),
                column("model imaginary", &|k| result.found[k].im),
            ];
            self.csv(&format!("{name}.csv"), columns)?;
            self.figure_if_any(&name, response_figure(result))?;
        }
        Ok(())
    }
}
