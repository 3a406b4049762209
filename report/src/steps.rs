//! What halving the step gives: `steps.json`, `steps.csv` and a figure of errors.

use super::Folder;
use crate::plot::{self, Axis, Figure};
use costate_check::{Convergence, Series};
use costate_identify::Result;
use serde_json::{Value, json};

/// Lines that a figure of errors holds; the first ones are drawn.
const DRAWN: usize = 7;

/// Convergence over the step as JSON.
pub fn steps_json(name: &str, scheme: &str, found: &Convergence) -> Value {
    // infinite: unknown
    let known = |x: f64| x.is_finite().then_some(x);
    let series = |series: &Series| {
        json!({
            "name": series.name, "unit": series.unit, "size": series.size, "deviation": series.deviation,
            "errors_at_end": series.at_end, "largest_errors": series.largest,
            "observed_order": series.extrapolation.observed, "powers": series.extrapolation.powers,
            "limit": series.limit(), "limit_error": known(series.error()), "digits": series.digits(),
        })
    };
    let level = |level: &costate_check::Level| {
        json!({
            "step": level.step, "divided_by": level.parts, "steps": level.steps, "seconds": level.seconds,
            "failure": level.failure,
        })
    };
    json!({
        "name": name,
        "scheme": scheme,
        "end": found.end,
        "common_times": found.times,
        "runs": found.levels.iter().map(level).collect::<Vec<_>>(),
        "quantities": found.series.iter().map(series).collect::<Vec<_>>(),
    })
}

/// Largest errors over the step, each beside its quantity's size, with lines of the orders that were seen.
///
/// # Errors
/// If there is nothing to draw.
pub fn step_errors(found: &Convergence) -> Result<Figure> {
    let steps: Vec<f64> = found.went_through().map(|level| level.step).collect();
    let mut drawn: Vec<&Series> = found.series.iter().filter(|series| series.size > 0.0).collect();
    let all = drawn.len();
    // of many, those that are worst at the largest step
    let part = |series: &Series| series.largest.first().map_or(0.0, |error| error / series.size);
    drawn.sort_by(|a, b| part(b).total_cmp(&part(a)));
    drawn.truncate(DRAWN);
    let relative: Vec<Vec<f64>> =
        drawn.iter().map(|series| series.largest.iter().map(|error| error / series.size).collect()).collect();
    let lines: Vec<(&str, &[f64], &[f64])> =
        drawn.iter().zip(&relative).map(|(series, errors)| (&*series.name, &*steps, &**errors)).collect();
    let mut orders: Vec<f64> = drawn.iter().filter_map(|series| Some(series.extrapolation.observed?.round())).collect();
    orders.retain(|order| *order >= 1.0);
    orders.sort_by(f64::total_cmp);
    orders.dedup();
    let mut figure = plot::convergence(&lines, &orders)?;
    let label = match all > DRAWN {
        true => format!("relative error (worst {DRAWN} of {all})"),
        false => "largest error, relative".to_string(),
    };
    for panel in figure.panels_mut() {
        *panel.x_axis_mut() = Axis::log("step [s]");
        *panel.y_axis_mut() = Axis::log(&label);
    }
    Ok(figure)
}

impl Folder {
    /// `steps.json` with `document` ([`steps_json`]), `steps.csv` with the errors of all quantities by step, and the figure `steps`.
    ///
    /// # Errors
    /// [`Error::Data`](costate_identify::Error::Data).
    pub fn steps(&self, found: &Convergence, document: Value) -> Result<()> {
        self.together("steps.json", document, |aside| {
            let levels: Vec<&costate_check::Level> = found.went_through().collect();
            let of_levels =
                |value: &dyn Fn(&costate_check::Level) -> f64| levels.iter().map(|level| value(level)).collect();
            let mut columns: Vec<(String, Vec<f64>)> = vec![
                ("step [s]".to_string(), of_levels(&|level| level.step)),
                ("steps".to_string(), of_levels(&|level| level.steps as f64)),
                ("seconds".to_string(), of_levels(&|level| level.seconds)),
            ];
            for series in &found.series {
                let unit = if series.unit.is_empty() { "1" } else { &series.unit };
                columns.push((format!("{} at end [{unit}]", series.name), series.at_end.clone()));
                columns.push((format!("{} largest [{unit}]", series.name), series.largest.clone()));
            }
            // a coordinate and an output may have one name
            distinguish(&mut columns);
            aside.csv("steps.csv", columns)?;
            aside.figure_if_any("steps", step_errors(found))
        })
    }
}

/// Gives columns of one name numbers.
fn distinguish(columns: &mut [(String, Vec<f64>)]) {
    for k in (1..columns.len()).rev() {
        let before = columns[..k].iter().filter(|(name, _)| *name == columns[k].0).count();
        if before > 0 {
            columns[k].0 = format!("{} ({})", columns[k].0, before + 1);
        }
    }
}
