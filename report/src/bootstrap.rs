//! What a bootstrap found, as JSON, in a table and in a figure.

use super::{Folder, number, printed, rounded, table};
use crate::plot::{Axis, Color, Dash, Figure, Panel, Series};
use costate_identify::Result;
use costate_identify::bootstrap::{Bootstrapped, Over, ParameterBootstrap, Replicate};
use costate_identify::problem::Problem;
use serde_json::{Value, json};

/// Parameters that a figure shows at most.
const DRAWN: usize = 8;

/// Bootstrap results for programs; `values` are those of the free parameters of each replicate, null for one that has failed.
pub fn bootstrap_json(found: &Bootstrapped) -> Value {
    let finite = |x: f64| x.is_finite().then_some(x);
    let pair = |(low, high): (f64, f64)| json!([finite(low), finite(high)]);
    let parameter = |own: &ParameterBootstrap| {
        json!({
            "name": own.name, "unit": own.unit, "value": own.value, "standard_error": finite(own.standard_error),
            "linear_interval": pair(own.linear), "bootstrap_error": finite(own.bootstrap_error), "bias": finite(own.bias),
            "interval": pair(own.interval), "at_bounds": own.at_bounds, "count": own.count,
            "missing_because": own.missing_because,
        })
    };
    let blocks = found
        .blocks
        .iter()
        .map(|blocks| json!({"experiment": blocks.experiment, "seconds": blocks.seconds, "samples": blocks.samples}));
    let values = |replicate: &Replicate| {
        let u = replicate.values()?;
        Some(found.parameters.iter().map(|own| u[own.parameter]).collect::<Vec<f64>>())
    };
    json!({
        "replicates": found.replicates.len(),
        "seed": found.asked.seed,
        "over": found.over,
        "blocks": blocks.collect::<Vec<_>>(),
        "inflation": found.inflation,
        "succeeded": found.succeeded(),
        "failures": found.failures().iter().map(|(reason, count)| json!({"reason": reason, "count": count})).collect::<Vec<_>>(),
        "chance": found.chance(),
        "probability": 0.95,
        "kind_of_interval": "percentile",
        "parameters": found.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "values": found.replicates.iter().map(values).collect::<Vec<_>>(),
        "warnings": found.warnings,
    })
}

/// A sentence on the data that were drawn.
fn drawn(found: &Bootstrapped) -> String {
    let count = found.replicates.len();
    let of = match (found.over, found.blocks.as_slice()) {
        (Over::Experiments, _) => "whole experiments".to_string(),
        (Over::Blocks, [one]) => {
            let samples = if one.samples == 1 { "1 sample".into() } else { format!("{} samples", one.samples) };
            format!("blocks of residuals of {} s ({samples})", rounded(one.seconds, 3))
        }
        (Over::Blocks, all) => {
            let ends = all.iter().fold((f64::INFINITY, 0.0f64), |(l, h), own| (l.min(own.seconds), h.max(own.seconds)));
            let [low, high] = [ends.0, ends.1].map(|seconds| rounded(seconds, 3));
            let range = if low == high { low } else { format!("{low} to {high}") };
            format!("blocks of residuals of {range} s")
        }
    };
    let known = rounded(100.0 * found.chance(), 2);
    format!("{count} replicates by {of}; their standard errors are known to {known} %")
}

/// Bootstrap results for a person: standard errors and intervals beside those of the covariance, failures and warnings.
pub fn bootstrap_text(found: &Bootstrapped) -> String {
    let error = |x: f64| if x.is_finite() { rounded(x, 3) } else { "-".to_string() };
    let row = |own: &ParameterBootstrap| {
        let (low, high) = own.interval;
        let interval = format!("[{}, {}]", rounded(low, 5), rounded(high, 5));
        vec![
            own.name.clone(),
            number(own.value),
            error(own.standard_error),
            error(own.bootstrap_error),
            error(own.bias),
            if low.is_finite() { interval } else { "-".to_string() },
            own.unit.clone(),
        ]
    };
    let header = ["name", "value", "error by covariance", "by bootstrap", "bias", "95 % by bootstrap", "unit"];
    let rows: Vec<Vec<String>> = found.parameters.iter().map(row).collect();
    let mut lines = vec![format!("{}:", drawn(found)), table(&header, &rows)];
    lines.extend(found.parameters.iter().filter_map(ParameterBootstrap::remark));
    lines.extend(found.failures().iter().map(|(reason, count)| format!("{count} failed: {reason}")));
    lines.extend(found.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines.join("\n")
}

/// The replicates' values of each parameter as a histogram, with the 95 % interval and the normal curve of the standard error by the covariance.
///
/// # Errors
/// If there is nothing to draw.
pub fn bootstrap_figure(found: &Bootstrapped) -> Result<Figure> {
    let shown: Vec<&ParameterBootstrap> = found.parameters.iter().filter(|own| own.count > 1).take(DRAWN).collect();
    let mut figure = Figure::wide().columns(2.min(shown.len())).share_legend();
    for own in shown {
        figure = figure.panel(histogram(found, own));
    }
    Ok(figure)
}

fn histogram(found: &Bootstrapped, own: &ParameterBootstrap) -> Panel {
    let telling = found.replicates.iter().filter(|replicate| !replicate.held.contains(&own.parameter));
    let values: Vec<f64> = telling.filter_map(|replicate| Some(replicate.values()?[own.parameter])).collect();
    let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    // of values that are all the same, a bar of some width
    let span = if most > least { most - least } else { own.value.abs().max(1.0) * 1e-6 };
    let count = ((values.len() as f64).sqrt() as usize).clamp(5, 40);
    let width = span / count as f64;
    let mut counts = vec![0usize; count];
    values.iter().for_each(|value| counts[(((value - least) / width) as usize).min(count - 1)] += 1);
    let x = Axis::linear(format!("{} [{}]", own.name, printed(&own.unit)));
    let mut panel = Panel::new(x, Axis::linear("replicates").lower_limit(0.0));
    for (bin, height) in counts.iter().enumerate().filter(|(_, height)| **height > 0) {
        let (from, height) = (least + bin as f64 * width, *height as f64);
        let bar = Series::area(&[from, from + width], &[0.0, 0.0], &[height, height]).color(Color::LIGHT_GREY);
        panel = panel.series(if bin == 0 { bar.label("replicates") } else { bar });
    }
    let highest = counts.iter().copied().max().unwrap_or(1) as f64;
    let mut normal_height = 0.0;
    if own.standard_error > 0.0 && own.standard_error.is_finite() {
        let at = |i: i32| 3.5 * f64::from(i) / 70.0;
        normal_height = values.len() as f64 * width / (own.standard_error * std::f64::consts::TAU.sqrt());
        let curve =
            (-70..=70).map(|i| (own.value + own.standard_error * at(i), normal_height * (-0.5 * at(i) * at(i)).exp()));
        let (x, y): (Vec<f64>, Vec<f64>) = curve.unzip();
        panel = panel.series(Series::line(&x, &y).label("by the covariance").color(Color::PALETTE[0]));
    }
    // a needle beside broad bars must not flatten them
    if normal_height > 5.0 * highest {
        *panel.y_axis_mut() = Axis::linear("replicates").lower_limit(0.0).upper_limit(2.0 * highest);
    }
    let upright = |x: f64| Series::line(&[x, x], &[0.0, highest]).color(Color::PALETTE[1]);
    if own.interval.0.is_finite() {
        let ends = [upright(own.interval.0).label("95 % of the replicates"), upright(own.interval.1)];
        panel = ends.into_iter().fold(panel, |panel, end| panel.series(end.dash(Dash::Dashed)));
    }
    panel.series(upright(own.value).label("optimum").color(Color::BLACK))
}

impl Folder {
    /// `bootstrap.csv` and the figure `bootstrap`.
    pub(super) fn bootstrap(&self, problem: &Problem, found: &Bootstrapped) -> Result<()> {
        let ended: Vec<(f64, &[f64])> = (found.replicates.iter().enumerate())
            .filter_map(|(number, replicate)| Some((number as f64, replicate.values()?)))
            .collect();
        if !ended.is_empty() {
            let mut columns = vec![("replicate".to_string(), ended.iter().map(|(number, _)| *number).collect())];
            for (k, parameter) in problem.parameters.iter().enumerate() {
                let name = format!("{} [{}]", parameter.name, parameter.unit);
                columns.push((name, ended.iter().map(|(_, u)| u[k]).collect::<Vec<f64>>()));
            }
            self.csv("bootstrap.csv", columns)?;
        }
        self.figure_if_any("bootstrap", bootstrap_figure(found))
    }
}
