//! What a comparison of schemes gives: `schemes.json`, `schemes.csv` and a work-precision diagram.

use super::Folder;
use crate::check::{Energy, Gaps, Measured, Row, WorkPrecision};
use crate::error::Result;
use crate::files::write_atomically;
use crate::plot::{self, Axis, Figure, Panel, Series};
use serde_json::{Value, json};

fn gaps(gaps: &Gaps) -> Value {
    json!({
        "position": gaps.position, "velocity": gaps.velocity,
        "acceleration": gaps.acceleration, "multiplier": gaps.multiplier,
    })
}

fn row(row: &Row) -> Value {
    let mut document = json!({"scheme": row.scheme, "step": row.step});
    match &row.outcome {
        Err(reason) => document["failure"] = json!(reason),
        Ok(measured) => {
            document["steps"] = json!(measured.steps);
            document["relative_errors"] = gaps(&measured.errors);
            document["orders"] = gaps(&measured.orders);
            document["drift"] = measured.drift.map_or(
                Value::Null,
                |[position, velocity, acceleration]| json!({"position": position, "velocity": velocity, "acceleration": acceleration}),
            );
            document["energy"] = json!(measured.energy);
            document["seconds_per_step"] = json!(measured.seconds_per_step);
            document["iterations_per_step"] = json!(measured.iterations);
            document["adjoint_against_tangent"] = json!(measured.gradient);
            document["gradient_failure"] = json!(measured.gradient_failure);
        }
    }
    document
}

/// A comparison of schemes as JSON.
pub fn schemes_json(model: &str, end: f64, study: &WorkPrecision, rows: &[Row]) -> Value {
    let reference = &study.reference;
    json!({
        "model": model,
        "end": end,
        "reference": {
            "scheme": reference.scheme, "step": reference.step, "uncertainty": gaps(&reference.uncertainty),
        },
        "energy": match &reference.energy {
            Energy::Kept { kinetic, .. } => json!({"kept": true, "largest_kinetic": kinetic}),
            Energy::Unknown(reason) => json!({"kept": false, "reason": reason}),
        },
        "repeat": study.repeat,
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
    })
}

const COLUMNS: [&str; 19] = [
    "scheme",
    "step [s]",
    "steps",
    "error q",
    "error v",
    "error a",
    "error lambda",
    "order q",
    "order v",
    "order a",
    "order lambda",
    "drift C",
    "drift C'",
    "drift C''",
    "energy",
    "seconds a step",
    "iterations a step",
    "adjoint against tangent",
    "failure",
];

/// A line of the file; what there is no number for is left empty.
fn line(row: &Row) -> String {
    let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:e}"));
    let mut cells = vec![row.scheme.clone(), format!("{:e}", row.step)];
    match &row.outcome {
        Ok(Measured { steps, errors, orders, drift, energy, seconds_per_step, iterations, gradient, .. }) => {
            cells.push(steps.to_string());
            cells.extend(errors.list().into_iter().chain(orders.list()).map(number));
            cells.extend((0..3).map(|level| number(drift.map(|drift| drift[level]))));
            cells.extend([*energy, Some(*seconds_per_step), Some(*iterations), *gradient].map(number));
            cells.push(String::new());
        }
        Err(reason) => {
            cells.resize(COLUMNS.len() - 1, String::new());
            cells.push(format!("\"{}\"", reason.replace('"', "'")));
        }
    }
    cells.join(",")
}

/// Errors of positions (above) and accelerations (below) over the step (left) and over the time of a run (right).
///
/// # Errors
/// If no run went through.
pub fn work_precision(rows: &[Row]) -> Result<Figure> {
    let mut names: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if !names.contains(&row.scheme.as_str()) {
            names.push(&row.scheme);
        }
    });
    let kinds: [(&str, fn(&Gaps) -> Option<f64>); 2] =
        [("error of positions", |gaps| gaps.position), ("error of accelerations", |gaps| gaps.acceleration)];
    let over: [(&str, fn(&Row, &Measured) -> f64); 2] = [
        ("step [s]", |row, _| row.step),
        ("computing time [s]", |_, measured| measured.seconds_per_step * measured.steps as f64),
    ];
    let mut figure = Figure::wide().columns(2).panel_height(48.0);
    for (kind, (error_label, error)) in kinds.iter().enumerate() {
        for (place, (x_label, x)) in over.iter().enumerate() {
            let lines: Vec<(&str, Vec<f64>, Vec<f64>)> = names
                .iter()
                .map(|name| {
                    let own = rows.iter().filter(|row| row.scheme == *name);
                    let points = own.filter_map(|row| {
                        let measured = row.outcome.as_ref().ok()?;
                        Some((x(row, measured), error(&measured.errors)?))
                    });
                    let (xs, ys): (Vec<f64>, Vec<f64>) = points.unzip();
                    (*name, xs, ys)
                })
                .collect();
            let lines: Vec<(&str, &[f64], &[f64])> = lines.iter().map(|(name, xs, ys)| (*name, &**xs, &**ys)).collect();
            // one legend is enough
            let listed = |series: Series, name: &str| {
                if (kind, place) == (0, 0) { series.label(name) } else { series.label("") }
            };
            let mut panel = Panel::new(Axis::log(*x_label), Axis::log(*error_label));
            for (name, xs, ys) in &lines {
                panel = panel.series(listed(Series::line(xs, ys).markers(), name));
            }
            if place == 0 {
                for (line, order) in plot::guides(&lines, &ORDERS).into_iter().zip(ORDERS) {
                    panel = panel.series(listed(line, &format!("order {order}")));
                }
            }
            figure = figure.panel(panel);
        }
    }
    Ok(figure)
}

/// Orders of which lines are drawn.
const ORDERS: [f64; 2] = [1.0, 2.0];

impl Folder {
    /// `schemes.json` with `document` ([`schemes_json`]), `schemes.csv`, and the figure `schemes`.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn schemes(&self, rows: &[Row], document: Value) -> Result<()> {
        self.together("schemes.json", document, |aside| {
            let lines: Vec<String> = std::iter::once(COLUMNS.join(",")).chain(rows.iter().map(line)).collect();
            write_atomically(&aside.path().join("schemes.csv"), (lines.join("\n") + "\n").as_bytes())?;
            aside.figure_if_any("schemes", work_precision(rows))
        })
    }
}
