//! What a comparison of schemes gives: `schemes.json`, `schemes.csv` and a work-precision diagram.

use super::{Folder, cell, quoted};
use crate::plot::{self, Axis, Figure, Panel, Series};
use costate_check::{Energy, Gaps, Measured, Row, WorkPrecision};
use costate_data::files::write_atomically;
use costate_identify::Result;
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

/// A comparison of schemes as JSON; `schemes`: each with its settings.
pub fn schemes_json(model: &str, end: f64, schemes: &[String], study: &WorkPrecision, rows: &[Row]) -> Value {
    let reference = &study.reference;
    json!({
        "model": model,
        "end": end,
        "schemes": schemes,
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
    let mut cells = vec![cell(&row.scheme), format!("{:e}", row.step)];
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
            cells.push(quoted(reason));
        }
    }
    cells.join(",")
}

type Component = fn(&Gaps) -> Option<f64>;
type Abscissa = fn(&Row, &Measured) -> f64;

/// Errors of positions (above) and accelerations (below) over the step (left) and over the time of a run (right).
///
/// # Errors
/// If no run went through.
pub fn work_precision(rows: &[Row]) -> Result<Figure> {
    let kinds: [(&str, Component); 2] =
        [("positions", |gaps| gaps.position), ("accelerations", |gaps| gaps.acceleration)];
    let over: [(&str, Abscissa); 2] = [
        ("step [s]", |row, _| row.step),
        ("computing time of a run [s]", |_, measured| measured.seconds_per_step * measured.steps as f64),
    ];
    let mut figure = Figure::wide().columns(2).panel_height(52.0).share_legend();
    for (name, error) in kinds {
        for (place, (x_label, x)) in over.into_iter().enumerate() {
            let curves = curves(rows, x, error);
            let curves: Vec<(&str, &[f64], &[f64])> =
                curves.iter().map(|(name, xs, ys)| (*name, &**xs, &**ys)).collect();
            let mut panel = Panel::new(Axis::log(x_label), same_height(name, &curves));
            for (name, xs, ys) in &curves {
                panel = panel.series(Series::line(xs, ys).markers().label(*name));
            }
            // an order is one over the step
            let guides = if place == 0 { plot::guides(&curves, &ORDERS) } else { Vec::new() };
            figure = figure.panel(guides.into_iter().fold(panel, Panel::series));
        }
    }
    Ok(figure)
}

/// The errors of each scheme over something.
fn curves(rows: &[Row], x: Abscissa, error: Component) -> Vec<(&str, Vec<f64>, Vec<f64>)> {
    let mut curves: Vec<(&str, Vec<f64>, Vec<f64>)> = Vec::new();
    for row in rows {
        if curves.last().is_none_or(|(name, ..)| *name != row.scheme) {
            curves.push((&row.scheme, Vec::new(), Vec::new()));
        }
        let point = row.outcome.as_ref().ok().and_then(|measured| Some((x(row, measured), error(&measured.errors)?)));
        if let (Some((_, xs, ys)), Some((x, y))) = (curves.last_mut(), point) {
            xs.push(x);
            ys.push(y);
        }
    }
    curves
}

/// An axis of errors with the same limits in both panels of a row, with room for the lines of orders below.
fn same_height(name: &str, curves: &[(&str, &[f64], &[f64])]) -> Axis {
    let errors = || curves.iter().flat_map(|(_, _, errors)| errors.iter().copied()).filter(|error| *error > 0.0);
    let axis = Axis::log(format!("largest relative error of {name}"));
    match (errors().reduce(f64::min), errors().reduce(f64::max)) {
        (Some(low), Some(high)) => axis.lower_limit(low / 4.0).upper_limit(2.0 * high),
        _ => axis,
    }
}

/// Orders of which lines are drawn.
const ORDERS: [f64; 2] = [1.0, 2.0];

impl Folder {
    /// `schemes.json` with `document` ([`schemes_json`]), `schemes.csv`, and the figure `schemes`.
    ///
    /// # Errors
    /// [`Error::Data`](costate_identify::Error::Data).
    pub fn schemes(&self, rows: &[Row], document: Value) -> Result<()> {
        self.together("schemes.json", document, |aside| {
            let lines: Vec<String> = std::iter::once(COLUMNS.join(",")).chain(rows.iter().map(line)).collect();
            write_atomically(&aside.path().join("schemes.csv"), (lines.join("\n") + "\n").as_bytes())?;
            aside.figure_if_any("schemes", work_precision(rows))
        })
    }
}
