//! Bands around outputs, as JSON, in a table, files and figures.

use super::{Folder, compared, labelled, rounded, table, with_unit};
use crate::plot::{Axis, Color, Dash, Figure, Panel, Series};
use costate_identify::Result;
use costate_identify::bands::Band;
use serde_json::{Value, json};

/// Of new samples, and of the model: colours that lines and a grid are seen upon.
const OF_SAMPLES: Color = Color(217, 232, 243);
const OF_MODEL: Color = Color(143, 190, 221);
/// More measured samples than this are a line, of which points would be a cloud.
const MOST_POINTS: usize = 150;

/// Bands for programs: widths, and how many samples are inside; the bands themselves are in files.
pub fn bands_json(bands: &[Band]) -> Value {
    let one = |band: &Band| {
        let of_samples = (0..band.times.len()).filter_map(|i| band.half_of_samples(i)).reduce(f64::max);
        json!({
            "output": band.output.name, "unit": band.output.unit, "fitted": band.is_fitted,
            "noise": band.noise, "widest": band.widest(), "widest_of_samples": of_samples,
            "samples": band.inside().map(|(_, all)| all), "inside": band.inside().map(|(inside, _)| inside),
        })
    };
    json!({
        "probability": 0.95,
        "quantile": bands.first().map(|band| band.quantile),
        "outputs": bands.iter().map(one).collect::<Vec<_>>(),
    })
}

/// Bands for a person: a table of widths, and how many of the measured samples are inside.
pub fn bands_text(bands: &[Band]) -> String {
    let row = |band: &Band| {
        let inside =
            |(inside, all): (usize, usize)| format!("{} % of {all}", rounded(100.0 * inside as f64 / all as f64, 3));
        vec![
            band.output.name.clone(),
            format!("+/- {}", with_unit(band.widest(), &band.output.unit)),
            band.noise.map_or("-".to_string(), |noise| with_unit(noise, &band.output.unit)),
            band.inside().map_or("-".to_string(), inside),
        ]
    };
    let header = ["output", "95 % of the model, at most", "deviation of the noise", "samples within 95 %"];
    table(&header, &bands.iter().map(row).collect::<Vec<_>>())
}

/// The fit with its bands and what was measured; below, all of it less the fit, where the bands show.
///
/// # Errors
/// If there is nothing to draw.
pub fn band_figure(band: &Band) -> Result<Figure> {
    let all: Vec<usize> = (0..band.times.len()).collect();
    let of = |value: &dyn Fn(usize) -> f64| all.iter().map(|i| value(*i)).collect::<Vec<f64>>();
    let panel = |label: String, base: &[f64]| {
        let mut panel = Panel::new(Axis::linear("time [s]"), Axis::linear(label));
        let area = |half: &dyn Fn(usize) -> f64| {
            Series::area(&band.times, &of(&|i| base[i] - half(i)), &of(&|i| base[i] + half(i)))
        };
        if band.noise.is_some() {
            let wide = area(&|i| band.half_of_samples(i).unwrap_or_default());
            panel = panel.series(wide.label("new samples, 95 %").color(OF_SAMPLES));
        }
        panel = panel.series(area(&|i| band.half(i)).label("model, 95 %").color(OF_MODEL));
        if !band.measured.is_empty() {
            let samples = band.measured.iter().map(|(i, off)| (band.times[*i], base[*i] + off));
            let (x, y): (Vec<f64>, Vec<f64>) = samples.unzip();
            let series = match x.len() <= MOST_POINTS {
                true => Series::points(&x, &y).marker(crate::plot::Marker::Circle),
                false => Series::line(&x, &y).width(0.12).dash(Dash::Solid),
            };
            panel = panel.series(series.label("measured").color(Color::GREY));
        }
        // measured lines hide the area
        let edge = |sign: f64| Series::line(&band.times, &of(&|i| base[i] + sign * band.half(i))).width(0.15);
        for sign in [-1.0, 1.0] {
            panel = panel.series(edge(sign).color(Color::PALETTE[0]).dash(Dash::Solid));
        }
        if !band.bootstrap.is_empty() {
            let end = |of: &dyn Fn(&(f64, f64)) -> f64| {
                let ends =
                    band.bootstrap.iter().zip(&band.values).zip(base).map(|((ends, y), base)| base + of(ends) - y);
                let line = Series::line(&band.times, &ends.collect::<Vec<f64>>()).color(Color::PALETTE[1]);
                line.width(0.2).dash(Dash::Dashed)
            };
            panel = panel.series(end(&|ends| ends.0).label("replicates, 95 %")).series(end(&|ends| ends.1));
        }
        panel
    };
    let zeros = vec![0.0; band.times.len()];
    let fit = |y: &[f64]| Series::line(&band.times, y).label("fit").color(Color::BLACK).width(0.15).dash(Dash::Solid);
    let labelled = labelled(&band.output);
    let above = panel(labelled.clone(), &band.values).series(fit(&band.values));
    let below = panel(format!("less the fit: {labelled}"), &zeros).series(fit(&zeros));
    Ok(Figure::column().share_x().share_legend().panel(above).panel(below))
}

impl Folder {
    /// `band_NAME.csv` of every output, and `band_NAME` of those of the first experiments.
    pub(super) fn bands(&self, bands: &[Band]) -> Result<()> {
        for band in bands.iter().filter(|band| !band.times.is_empty()) {
            let (name, unit) = (&band.output.name, &band.output.unit);
            let column = |value: &dyn Fn(usize) -> f64| (0..band.times.len()).map(value).collect::<Vec<f64>>();
            let mut columns = vec![
                ("time [s]".to_string(), band.times.clone()),
                (format!("{name} [{unit}]"), band.values.clone()),
                (format!("{name} standard error [{unit}]"), band.deviations.clone()),
            ];
            let mut ends = |what: &str, of: &dyn Fn(usize) -> (f64, f64)| {
                columns.push((format!("{name} lower {what} [{unit}]"), column(&|i| of(i).0)));
                columns.push((format!("{name} upper {what} [{unit}]"), column(&|i| of(i).1)));
            };
            let around = |i: usize, half: f64| (band.values[i] - half, band.values[i] + half);
            ends("model", &|i| around(i, band.half(i)));
            if band.noise.is_some() {
                ends("samples", &|i| around(i, band.half_of_samples(i).unwrap_or_default()));
            }
            if !band.bootstrap.is_empty() {
                ends("bootstrap", &|i| band.bootstrap[i]);
            }
            self.csv(&format!("band_{}.csv", super::folder::file_name(name)), columns)?;
            if band.experiment < compared::MOST_EXPERIMENTS {
                self.figure_if_any(&format!("band_{name}"), band_figure(band))?;
            }
        }
        Ok(())
    }
}
