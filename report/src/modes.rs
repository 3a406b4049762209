//! Modes about an equilibrium: `modes.json`, `modes.csv`, `shapes.csv`, `sensitivities.csv`, figures and animations.

use super::{Folder, cell};
use crate::plot::mechanism::{Picture, View, sketch};
use crate::plot::{Axis, Color, Figure, Marker, Panel, Series};
use costate::Simulation;
use costate::modes::{Character, Complex, Mode, Modes, Sensitivity};
use costate::shown::rounded;
use costate_data::files::write_atomically;
use costate_identify::Result;
use serde_json::{Map, Value, json};

/// Modes with their derivatives, and which of them are drawn.
pub struct ModesResult<'a> {
    /// The simulation whose modes these are.
    pub simulation: &'a Simulation,
    /// Modes of the simulation, all of them.
    pub modes: &'a Modes,
    /// Derivatives of the first modes.
    pub sensitivities: &'a [Option<Sensitivity>],
    /// Number of modes whose shapes are drawn.
    pub drawn: usize,
    /// Numbers of the modes that are animated.
    pub animated: &'a [usize],
    /// The view of a mechanism of space, if not the one that suits it.
    pub view: Option<View>,
}

impl ModesResult<'_> {
    /// d ln f / d ln u of a mode's natural frequency: by how many per cent it grows with one per cent more of each parameter.
    pub fn shares(&self, k: usize) -> Vec<(&str, f64)> {
        let Some(Some(sensitivity)) = self.sensitivities.get(k) else { return Vec::new() };
        let mode = &self.modes.modes[k];
        let parameters = self.simulation.signature().parameters.iter().zip(self.modes.parameters());
        let slopes = sensitivity.natural_frequency(mode);
        parameters
            .zip(slopes)
            .map(|((parameter, u), slope)| (parameter.name.as_str(), slope * u / mode.natural_frequency()))
            .collect()
    }

    fn title(&self, k: usize) -> String {
        let mode = &self.modes.modes[k];
        let what = match (mode.character(), mode.time_constant()) {
            (Character::Free, _) => "moves freely".to_string(),
            (Character::Decay, Some(time)) => format!("decays in {} s", rounded(time, 3)),
            (Character::Divergence, Some(time)) => format!("grows in {} s", rounded(time, 3)),
            _ => format!("{} Hz", rounded(mode.natural_frequency(), 4)),
        };
        format!("mode {}: {what}", k + 1)
    }
}

/// Modes for programs.
pub fn modes_json(found: &ModesResult<'_>) -> Value {
    let signature = found.simulation.signature();
    let shape = |mode: &Mode| -> Map<String, Value> {
        let names = signature.unknowns().map(|unknown| unknown.name.clone());
        names.zip(&mode.shape).map(|(name, z)| (name, json!([z.re, z.im]))).collect()
    };
    let slopes = |k: usize| -> Option<Value> {
        let sensitivity = found.sensitivities.get(k)?.as_ref()?;
        let named = |values: Vec<f64>| -> Map<String, Value> {
            signature
                .parameters
                .iter()
                .map(|parameter| parameter.name.clone())
                .zip(values.into_iter().map(Value::from))
                .collect()
        };
        let mode = &found.modes.modes[k];
        Some(json!({
            "natural_frequency": named(sensitivity.natural_frequency(mode)),
            "damping_ratio": named(sensitivity.damping_ratio(mode)),
            "multiplicity": sensitivity.multiplicity,
        }))
    };
    let mode = |(k, mode): (usize, &Mode)| {
        json!({
            "mode": k + 1,
            "eigenvalue": [mode.eigenvalue.re, mode.eigenvalue.im],
            "natural_frequency": mode.natural_frequency(),
            "damped_frequency": mode.damped_frequency(),
            "damping_ratio": mode.damping_ratio(),
            "time_constant": mode.time_constant(),
            "character": mode.character().name(),
            "shape": shape(mode),
            "derivatives": slopes(k),
        })
    };
    let positions: Map<String, Value> =
        signature.unknowns().zip(&found.modes.q).map(|(c, q)| (c.name.clone(), json!(q))).collect();
    json!({
        "model": signature.name,
        "time": found.modes.time,
        "equilibrium": positions,
        "modes": found.modes.modes.iter().enumerate().map(mode).collect::<Vec<_>>(),
    })
}

/// Eigenvalues in the complex plane: growth to the right of zero, frequencies upwards.
fn poles(modes: &Modes) -> Figure {
    // zero is what decides
    let (least, most) =
        modes.modes.iter().map(|mode| mode.eigenvalue.re).fold((0.0f64, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
    let room = if most > least { 0.05 * (most - least) } else { 1.0 };
    let axis = Axis::linear("Re λ [1/s]").lower_limit(least - room).upper_limit(most + room);
    let mut panel = Panel::new(axis, Axis::linear("Im λ / 2π [Hz]"));
    let values = |chosen: &dyn Fn(&Mode) -> bool| -> (Vec<f64>, Vec<f64>) {
        let chosen = modes.modes.iter().filter(|mode| chosen(mode));
        chosen.map(|mode| (mode.eigenvalue.re, mode.damped_frequency())).unzip()
    };
    let grows = |mode: &Mode| mode.eigenvalue.re > 0.0;
    let (x, y) = values(&|mode| !grows(mode));
    panel = panel.series(Series::points(&x, &y).color(Color::PALETTE[0]).marker(Marker::Cross));
    let (x, y) = values(&grows);
    if !x.is_empty() {
        panel = panel.series(Series::points(&x, &y).label("growing").color(Color::PALETTE[1]).marker(Marker::Cross));
    }
    Figure::column().panel(panel)
}

/// Shapes over the coordinates, where nothing says what the mechanism looks like.
fn lines(found: &ModesResult<'_>) -> Figure {
    let signature = found.simulation.signature();
    let names: Vec<&str> = signature.unknowns().map(|unknown| unknown.name.as_str()).collect();
    let number: Vec<f64> = (1..=names.len()).map(|j| j as f64).collect();
    let kind = if signature.states.is_empty() { "coordinate" } else { "coordinate or state" };
    let label = match names.len() {
        ..=8 => format!("{kind} ({})", names.join(", ")),
        _ => kind.to_string(),
    };
    let mut figure = Figure::column().panel_height(32.0).share_x();
    for k in 0..found.drawn {
        let mode = &found.modes.modes[k];
        let x = Axis::linear(&label).whole_numbers().lower_limit(0.5).upper_limit(names.len() as f64 + 0.5);
        let part = |of: fn(&Complex<f64>) -> f64| mode.shape.iter().map(of).collect::<Vec<f64>>();
        let mut panel = Panel::new(x, Axis::linear("shape")).title(found.title(k)).reference_line(0.0, "");
        let imaginary = part(|z| z.im);
        let is_complex = imaginary.iter().any(|z| z.abs() > 1e-6);
        let label = if is_complex { "real" } else { "" };
        panel = panel.series(Series::line(&number, &part(|z| z.re)).label(label).color(Color::PALETTE[0]).markers());
        if is_complex {
            panel =
                panel.series(Series::line(&number, &imaginary).label("imaginary").color(Color::PALETTE[1]).markers());
        }
        figure = figure.panel(panel);
    }
    figure
}

/// Shapes as they are drawn: the mechanism at its largest over where it rests, or else over its coordinates.
///
/// # Errors
/// A picture that contradicts itself.
pub fn shapes_figure(found: &ModesResult<'_>) -> Result<Figure> {
    match picture(found)? {
        None => Ok(lines(found)),
        Some(picture) => {
            let shapes = (0..found.drawn).map(|k| (found.title(k), &found.modes.modes[k].shape[..]));
            picture.shapes(&shapes.collect::<Vec<_>>())
        }
    }
}

fn picture<'a>(found: &ModesResult<'a>) -> Result<Option<Picture<'a>>> {
    if sketch(found.simulation.system()).is_err() {
        return Ok(None);
    }
    let picture = Picture::of_rest(found.simulation, found.modes.parameters(), &found.modes.q)?;
    Ok(Some(match found.view {
        Some(view) => picture.view(view)?,
        None => picture,
    }))
}

/// A table with names of rows.
fn rows(head: &str, names: impl Iterator<Item = String>, columns: &[(String, Vec<f64>)]) -> String {
    let header: Vec<String> =
        [head.to_string()].into_iter().chain(columns.iter().map(|(name, _)| cell(name))).collect();
    let row = |(j, name): (usize, String)| {
        let values = columns.iter().map(|(_, values)| format!("{:e}", values[j]));
        [cell(&name)].into_iter().chain(values).collect::<Vec<_>>().join(",")
    };
    let rows = names.enumerate().map(row);
    [header.join(",")].into_iter().chain(rows).map(|line| line + "\n").collect()
}

/// All modes; what there is no number for is left empty.
fn modes_csv(modes: &Modes) -> String {
    let mut lines =
        "mode,real part [1/s],imaginary part [1/s],natural frequency [Hz],damped frequency [Hz],damping ratio,\
                     time constant [s],what it does\n"
            .to_string();
    for (k, mode) in modes.modes.iter().enumerate() {
        let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:e}"));
        let Complex { re, im } = mode.eigenvalue;
        let numbers = [re, im, mode.natural_frequency(), mode.damped_frequency()].map(Some);
        let more = [mode.damping_ratio(), mode.time_constant()];
        let cells: Vec<String> = numbers.into_iter().chain(more).map(number).collect();
        lines.push_str(&format!("{},{},{}\n", k + 1, cells.join(","), mode.character().name()));
    }
    lines
}

impl Folder {
    /// `modes.json` with `document` ([`modes_json`]); `modes.csv`, `shapes.csv` and `sensitivities.csv` with all numbers; the figures `modes`
    /// and `shapes`, and an animation `mode_K.gif` of each mode that is to have one. `progress` is called for each finished frame.
    ///
    /// # Errors
    /// [`Error::Data`](costate_identify::Error::Data); animations of a system without a picture.
    pub fn modes(&self, found: &ModesResult<'_>, document: Value, progress: &mut dyn FnMut()) -> Result<()> {
        let signature = found.simulation.signature();
        let modes = &found.modes.modes;
        self.together("modes.json", document, |aside| {
            let write = |name: &str, lines: String| write_atomically(&aside.path().join(name), lines.as_bytes());
            write("modes.csv", modes_csv(found.modes))?;
            let names = signature.unknowns().map(|c| format!("{} [{}]", c.name, c.unit));
            let shapes: Vec<(String, Vec<f64>)> = (modes.iter().enumerate())
                .flat_map(|(k, mode)| {
                    let part = |name: &str, of: fn(&Complex<f64>) -> f64| {
                        (format!("mode {} {name}", k + 1), mode.shape.iter().map(of).collect())
                    };
                    [part("real", |z| z.re), part("imaginary", |z| z.im)]
                })
                .collect();
            write("shapes.csv", rows("coordinate", names, &shapes))?;
            let mut slopes: Vec<(String, Vec<f64>)> = Vec::new();
            for (k, sensitivity) in found.sensitivities.iter().enumerate() {
                let Some(sensitivity) = sensitivity else { continue };
                slopes.push((format!("natural frequency {} [Hz]", k + 1), sensitivity.natural_frequency(&modes[k])));
                slopes.push((format!("damping ratio {}", k + 1), sensitivity.damping_ratio(&modes[k])));
            }
            let names = signature.parameters.iter().map(|p| format!("{} [{}]", p.name, p.unit));
            write("sensitivities.csv", rows("derivative by", names, &slopes))?;
            aside.figure_if_any("modes", Ok(poles(found.modes)))?;
            aside.figure_if_any("shapes", shapes_figure(found))?;
            for &k in found.animated {
                // refused before, if there is none
                let Some(picture) = picture(found)? else { continue };
                let bytes = picture.swing(&found.title(k), &modes[k].shape, &mut |_| progress())?;
                write_atomically(&aside.path().join(format!("mode_{}.gif", k + 1)), &bytes)?;
            }
            Ok(())
        })
    }
}
