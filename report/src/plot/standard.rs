//! The standard figures of simulation and identification, from plain slices.

use super::text::short_number;
use super::{Axis, Color, Dash, Figure, Marker, Panel, Series};
use costate_identify::{Error, Result};

/// Name, unit (may be empty) and values of a signal.
pub type Signal<'a> = (&'a str, &'a str, &'a [f64]);

pub(super) fn label(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_string() } else { format!("{name} [{unit}]") }
}

fn time_axis() -> Axis {
    Axis::linear("time [s]")
}

pub(super) fn check_length(what: &str, length: usize, of: &str, expected: usize) -> Result<()> {
    if length == expected {
        return Ok(());
    }
    let problem = format!("it has {length} values for {expected} {of}");
    Err(Error::invalid(what, problem, format!("give one value for each of the {of}")))
}

pub(super) fn check_data(what: &str, any: bool) -> Result<()> {
    if any {
        return Ok(());
    }
    Err(Error::invalid(what, "there are no values to draw", "give at least one value"))
}

/// Signals that one figure holds at most: with more, it would have to be shrunk to fit on a page, and its letters with it.
pub const MOST_SIGNALS: usize = 27;

fn stacked(what: &str, time: &[f64], signals: &[Signal]) -> Result<Figure> {
    check_data(what, !signals.is_empty() && !time.is_empty())?;
    // as many as one column of a page holds; more are spread over its width, with their names above
    let columns = match signals.len() {
        0..=8 => 1,
        9..=16 => 2,
        _ => 3,
    };
    let mut figure = match columns {
        1 => Figure::column().share_x(),
        _ => Figure::wide().columns(columns).share_x().panel_height(18.0),
    };
    for (name, unit, values) in signals {
        check_length(&format!("the signal `{name}` of {what}"), values.len(), "times", time.len())?;
        let label = label(name, unit);
        let panel = match columns {
            1 => Panel::new(time_axis(), Axis::linear(label)),
            _ => Panel::new(time_axis(), Axis::linear("")).title(label),
        };
        figure = figure.panel(panel.series(Series::line(time, values).width(0.28)));
    }
    Ok(figure)
}

/// Input signals over time, one panel each (Lauss 2018, Fig. 3). `time` in s.
///
/// # Errors
///
/// If there are no values, or not one for each time.
pub fn input(time: &[f64], signals: &[Signal]) -> Result<Figure> {
    stacked("the figure of inputs", time, signals)
}

/// Simulated outputs over time, one panel each. `time` in s.
///
/// # Errors
///
/// If there are no values, or not one for each time.
pub fn trajectory(time: &[f64], signals: &[Signal]) -> Result<Figure> {
    stacked("the figure of outputs", time, signals)
}

/// The cost over the iterations of an optimisation, the first being number 0, with the best one marked (Lauss 2018,
/// Fig. 4). Logarithmic, unless some cost is negative. Costs that are not finite, those of failed simulations, are gaps.
///
/// # Errors
///
/// If there is no finite cost.
pub fn cost_history(costs: &[f64]) -> Result<Figure> {
    cost_history_in_stages(costs, &[0])
}

/// The cost over the iterations of a search in stages, which begin at these iterations: a line for each, and the best one of the last, as
/// costs of different stages need not be those of the same problem.
///
/// # Errors
///
/// As [`cost_history`]; the last stage is the one that needs a finite cost.
pub fn cost_history_in_stages(costs: &[f64], firsts: &[usize]) -> Result<Figure> {
    let last = firsts.last().copied().unwrap_or(0);
    let finite = costs.iter().copied().enumerate().skip(last).filter(|(_, cost)| cost.is_finite());
    let Some((best, lowest)) = finite.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Err(Error::invalid("the figure of costs", "there is no finite cost to draw", "give at least one"));
    };
    let linear = costs.iter().any(|cost| *cost < 0.0) || !costs.iter().any(|cost| cost.is_finite() && *cost > 0.0);
    let axis = if linear { Axis::linear("cost") } else { Axis::log("cost") };
    let below = if lowest == 0.0 && !linear { ", below the axis" } else { "" };
    let text = format!("best: {} at iteration {best}{below}", short_number(lowest));
    let iterations: Vec<f64> = (0..costs.len()).map(|i| i as f64).collect();
    let best = Series::points(&[best as f64], &[lowest]).label(text);
    let mut panel = Panel::new(Axis::linear("iteration").whole_numbers(), axis);
    for (k, &first) in firsts.iter().enumerate() {
        let end = firsts.get(k + 1).copied().unwrap_or(costs.len());
        let line = Series::line(&iterations[first..end], &costs[first..end]).marker(Marker::Circle);
        // the second colour marks the best
        let color = Color::PALETTE[(k + usize::from(k > 0)) % Color::PALETTE.len()];
        let line = if firsts.len() > 1 { line.color(color).label(format!("stage {}", k + 1)) } else { line };
        panel = panel.series(line);
    }
    Ok(Figure::column().panel(panel.series(best.color(Color::PALETTE[1]).marker(Marker::Ring))))
}

/// An output against its reference, before identification in one panel and after it in another, with the same axes
/// (Lauss 2018, Fig. 5). The reference comes with its label; how it is drawn follows from what it is: few samples are points, a smooth
/// line is broad and light, so that it is seen below a simulation that agrees with it, and a rough one is thin, so that its
/// noise is seen.
///
/// # Errors
///
/// If there are no values, or not one for each time.
pub fn outputs(
    name: &str,
    unit: &str,
    time: &[f64],
    reference: (&str, &[f64]),
    before: &[f64],
    after: &[f64],
) -> Result<Figure> {
    let panel = |text: &str, values: &[f64], color: Color| compared(name, unit, time, reference, (text, values), color);
    let before = panel("before identification", before, Color::PALETTE[1])?;
    let after = panel("after identification", after, Color::PALETTE[0])?;
    Ok(Figure::column().share_x().share_y().panel(before).panel(after))
}

/// A simulated output against its reference, which comes with its label.
///
/// # Errors
///
/// If there are no values, or not one for each time.
pub fn comparison(
    name: &str,
    unit: &str,
    time: &[f64],
    reference: (&str, &[f64]),
    simulated: &[f64],
) -> Result<Figure> {
    let panel = compared(name, unit, time, reference, ("simulated", simulated), Color::PALETTE[0])?;
    Ok(Figure::column().panel(panel))
}

fn compared(
    name: &str,
    unit: &str,
    time: &[f64],
    (reference_label, reference): (&str, &[f64]),
    (text, values): (&str, &[f64]),
    color: Color,
) -> Result<Panel> {
    let what = format!("the figure of output `{name}`");
    check_data(&what, !time.is_empty())?;
    for (series, values) in [(reference_label, reference), (&format!("values {text}"), values)] {
        check_length(&format!("{what}, {series}"), values.len(), "times", time.len())?;
    }
    let over = |below: Series, dash: Dash, width: f64| {
        Panel::new(time_axis(), Axis::linear(label(name, unit)))
            .series(below.label(reference_label))
            .series(Series::line(time, values).label(text).color(color).dash(dash).width(width))
    };
    Ok(match Look::of(reference) {
        Look::Sparse => {
            over(Series::points(time, reference).color(Color::GREY).marker(Marker::Circle), Dash::Solid, 0.3)
        }
        Look::Smooth => over(Series::line(time, reference).color(Color::LIGHT_GREY).width(BROAD), Dash::Dashed, 0.25),
        Look::Rough => over(Series::line(time, reference).color(Color::GREY).width(0.15), Dash::Solid, 0.18),
    })
}

/// Thickness of the line of a smooth reference, mm.
const BROAD: f64 = 0.6;

/// The look of samples on a panel of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// So few that each of them can be seen.
    Sparse,
    Smooth,
    /// Samples with noise that a broad line would hide.
    Rough,
}

impl Look {
    fn of(values: &[f64]) -> Self {
        /// The area between the axes, mm.
        const PANEL: [f64; 2] = [74.0, 28.0];
        let there: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let (low, high) = there.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
        if PANEL[0] / there.len() as f64 > 1.5 {
            return Look::Sparse;
        }
        // how far samples are from the middle between their neighbours: of noise, 0.8 standard deviations in the median
        let mut bends: Vec<f64> = there.windows(3).map(|w| (w[1] - 0.5 * (w[0] + w[2])).abs()).collect();
        bends.sort_by(f64::total_cmp);
        let bend = bends.get(bends.len() / 2).copied().unwrap_or(0.0);
        if bend > 0.07 * BROAD * (high - low) / PANEL[1] { Look::Rough } else { Look::Smooth }
    }
}

/// The error of one output over time at several iterations (Lauss 2018, Fig. 6). If the largest peak is more than thirty times
/// the smallest, which would be a straight line beside it, magnitudes are drawn on a logarithmic axis, else the errors themselves.
///
/// # Errors
///
/// If there are no values, or not one for each time.
pub fn errors(name: &str, unit: &str, time: &[f64], errors: &[(&str, &[f64])]) -> Result<Figure> {
    let what = format!("the figure of errors of `{name}`");
    check_data(&what, !errors.is_empty() && !time.is_empty())?;
    let mut peaks = Vec::new();
    let mut floor = f64::INFINITY;
    for (text, values) in errors {
        check_length(&format!("{what}, `{text}`"), values.len(), "times", time.len())?;
        let mut sizes: Vec<f64> = values.iter().map(|e| e.abs()).filter(|e| *e > 0.0 && e.is_finite()).collect();
        peaks.extend(sizes.iter().copied().max_by(f64::total_cmp));
        // Where an error changes sign, its logarithm falls without bound; the lowest fiftieth may leave the axis.
        let fiftieth = sizes.len() / 50;
        if !sizes.is_empty() {
            floor = floor.min(*sizes.select_nth_unstable_by(fiftieth, f64::total_cmp).1);
        }
    }
    let largest = peaks.iter().copied().fold(0.0, f64::max);
    let smallest = peaks.iter().copied().fold(f64::INFINITY, f64::min);
    let log = largest > 30.0 * smallest;
    let mut panel = if log {
        let axis = Axis::log(label(&format!("|error of {name}|"), unit));
        Panel::new(time_axis(), axis.lower_limit(10f64.powf(floor.log10().floor()).max(f64::MIN_POSITIVE)))
    } else {
        Panel::new(time_axis(), Axis::linear(label(&format!("error of {name}"), unit)))
    };
    for (text, values) in errors {
        let drawn: Vec<f64> = values.iter().map(|e| if log { e.abs() } else { *e }).collect();
        panel = panel.series(Series::line(time, &drawn).label(*text).width(0.3));
    }
    Ok(Figure::column().panel(panel))
}

/// Parameters over the iterations, the first being number 0, relative to their optimum where that is known (finite), else
/// to their last finite value (Lauss 2018, Fig. 7). A parameter whose optimum is zero is drawn as 1 plus its value over
/// its largest magnitude. The axis is logarithmic if the ratios are positive and one of them is beyond a factor of 4. If there are
/// negative ones, and some beyond the first and the later ones would flatten these, the axis ends before them and says so.
///
/// # Errors
///
/// If there are no values, or not one optimum for each parameter.
pub fn parameters(histories: &[(&str, &[f64])], optimum: Option<&[f64]>) -> Result<Figure> {
    let what = "the figure of parameters";
    check_data(what, histories.iter().any(|(_, values)| !values.is_empty()))?;
    if let Some(optimum) = optimum {
        check_length("the optimum in the figure of parameters", optimum.len(), "parameters", histories.len())?;
    }
    let known = |index: usize| optimum.map(|o| o[index]).filter(|o| o.is_finite()); // lengths were compared
    let (all, none) = (
        (0..histories.len()).all(|index| known(index).is_some()),
        (0..histories.len()).all(|index| known(index).is_none()),
    );
    let mut lines = Vec::new();
    for (index, (name, values)) in histories.iter().enumerate() {
        let last = values.iter().rev().copied().find(|v| v.is_finite());
        let Some(target) = known(index).or(last) else { continue };
        let iterations: Vec<f64> = (0..values.len()).map(|i| i as f64).collect();
        let mut text = name.to_string();
        let ratios: Vec<f64> = if target == 0.0 {
            text = format!("1 + {name} / max |{name}|");
            let largest = values.iter().filter(|v| v.is_finite()).fold(0.0, |a: f64, v| a.max(v.abs()));
            values.iter().map(|v| if largest > 0.0 { 1.0 + v / largest } else { 1.0 + v }).collect()
        } else {
            if !all && !none && known(index).is_none() {
                text = format!("{name} / its final value");
            }
            values.iter().map(|v| v / target).collect()
        };
        lines.push((text, iterations, ratios));
    }
    let ratios = || lines.iter().flat_map(|(_, _, ratios)| ratios.iter().copied()).filter(|r| r.is_finite());
    let (low, high) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max));
    let text = if none { "parameter / final value" } else { "parameter / optimum" };
    let (axis, remark) = if low > 0.0 && (high > 4.0 || low < 0.25) {
        (Axis::log(text), String::new())
    } else {
        without_excursions(text, lines.iter().map(|(_, _, ratios)| ratios.as_slice()), (low, high))
    };
    let panel = Panel::new(Axis::linear("iteration").whole_numbers(), axis).title(remark);
    let mut panel = panel.reference_line(1.0, "");
    for (text, iterations, ratios) in lines {
        panel = panel.series(Series::line(&iterations, &ratios).label(text).markers());
    }
    Ok(Figure::column().panel(panel))
}

/// A linear axis of ratios from `low` to `high` that shows starts and later halves in full, and earlier excursions only as far
/// as these remain readable; and what to say of the rest.
fn without_excursions<'a>(
    text: &str,
    histories: impl Iterator<Item = &'a [f64]>,
    (low, high): (f64, f64),
) -> (Axis, String) {
    let settled = histories.flat_map(|ratios| ratios.iter().take(1).chain(&ratios[ratios.len() / 2..]));
    let settled = settled.copied().filter(|ratio| ratio.is_finite());
    let (first, last) = settled.fold((1.0, 1.0), |(l, h): (f64, f64), ratio| (l.min(ratio), h.max(ratio)));
    // what begins farther away than this has its whole way outside
    let (first, last) = (first.max(-2.0), last.min(4.0));
    let span = (last - first).max(0.2);
    if high - low <= 4.0 * span {
        return (Axis::linear(text), String::new());
    }
    let (bottom, top) = (first - span, last + span);
    let mut beyond = Vec::new();
    let mut axis = Axis::linear(text);
    if low < bottom {
        beyond.push(format!("down to {}", short_number(low)));
        axis = axis.lower_limit(bottom);
    }
    if high > top {
        beyond.push(format!("up to {}", short_number(high)));
        axis = axis.upper_limit(top);
    }
    (axis, format!("not shown: values {}", beyond.join(" and ")))
}

/// Errors against step sizes (in s), both logarithmic, one line for each method: label, step sizes, errors. For each
/// reference order a guide line is drawn below the data.
///
/// # Errors
///
/// If there are no values, or not one error for each step size.
pub fn convergence(methods: &[(&str, &[f64], &[f64])], orders: &[f64]) -> Result<Figure> {
    let what = "the figure of convergence";
    check_data(what, methods.iter().any(|(_, steps, _)| !steps.is_empty()))?;
    let mut panel = Panel::new(Axis::log("step size [s]"), Axis::log("error"));
    for (text, steps, errors) in methods {
        check_length(&format!("{what}, `{text}`"), errors.len(), "step sizes", steps.len())?;
        panel = panel.series(Series::line(steps, errors).label(*text).markers());
    }
    Ok(Figure::column().panel(guides(methods, orders).into_iter().fold(panel, Panel::series)))
}

/// Lines of these orders for a panel of errors over steps.
pub(crate) fn guides(methods: &[(&str, &[f64], &[f64])], orders: &[f64]) -> Vec<Series> {
    const DASHES: [Dash; 4] = [Dash::Dashed, Dash::Dotted, Dash::DashDotted, Dash::LongDashed];
    let orders = orders.iter().filter(|order| order.is_finite()).zip(DASHES.iter().cycle());
    let line = |(order, dash): (&f64, &Dash)| {
        let (steps, errors) = guide(methods, *order)?;
        let line = Series::line(&steps, &errors).label(format!("order {order}"));
        Some(line.color(Color::GREY).width(0.25).dash(*dash))
    };
    orders.filter_map(line).collect()
}

/// A line of slope `order`, half as high as the method whose slope comes nearest to it; it ends at the method's smallest
/// error, since round-off governs smaller steps.
fn guide(methods: &[(&str, &[f64], &[f64])], order: f64) -> Option<(Vec<f64>, Vec<f64>)> {
    // Step sizes and errors, the largest step first, as long as errors matter.
    let falling = |(_, steps, errors): &(&str, &[f64], &[f64])| -> Vec<(f64, f64)> {
        let pairs = steps.iter().copied().zip(errors.iter().copied());
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let mut pairs: Vec<(f64, f64)> = pairs.filter(|(h, e)| positive(*h) && positive(*e)).collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let smallest = (0..pairs.len()).min_by(|a, b| pairs[*a].1.total_cmp(&pairs[*b].1));
        pairs.truncate(smallest.map_or(0, |index| index + 1));
        pairs
    };
    let slope = |pairs: &[(f64, f64)]| {
        let distinct = pairs.windows(2).filter(|w| w[0].0 > w[1].0);
        let mut slopes: Vec<f64> = distinct.map(|w| (w[0].1 / w[1].1).ln() / (w[0].0 / w[1].0).ln()).collect();
        slopes.sort_by(f64::total_cmp);
        slopes.get(slopes.len() / 2).copied()
    };
    let candidates = methods.iter().map(falling).filter_map(|pairs| Some((slope(&pairs)?, pairs)));
    let (_, pairs) = candidates.min_by(|a, b| (a.0 - order).abs().total_cmp(&(b.0 - order).abs()))?;
    let factor = pairs.iter().map(|(h, e)| e / h.powf(order)).fold(f64::INFINITY, f64::min) / 2.0;
    let (largest, (smallest, error)) = (pairs.first()?.0, *pairs.last()?);
    // A line steeper than any method must not stretch the axis.
    let end = if order > 0.0 { (error / 3.0 / factor).powf(1.0 / order) } else { smallest };
    let steps = vec![largest, end.clamp(smallest, largest)];
    let errors = steps.iter().map(|h| factor * h.powf(order)).collect();
    Some((steps, errors))
}
