//! How sure a result is: searches from many starts, and profiles, as JSON and in figures.

use super::{Folder, printed};
use crate::plot::{Axis, Color, Dash, Figure, Marker, Panel, Series};
use costate_identify::Result;
use costate_identify::bands::Band;
use costate_identify::bootstrap::Bootstrapped;
use costate_identify::problem::Problem;
use costate_identify::profile::{Profile, ProfilePoint, Profiles, Side};
use costate_identify::starts::{End, ManySearches, Search, Starts};
use serde_json::{Map, Value, json};

/// Further results that an identification may have been asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Certainty<'a> {
    /// Searches from many starts.
    pub starts: Option<&'a ManySearches>,
    /// Profiles of the parameters.
    pub profiles: Option<&'a Profiles>,
    /// Fits to data that were drawn again.
    pub bootstrap: Option<&'a Bootstrapped>,
    /// Bands around outputs.
    pub bands: Option<&'a [Band]>,
}

/// Searches from many starts for programs: all starts with their ends, optima, and reasons of failures.
pub fn starts_json(problem: &Problem, asked: &Starts, found: &ManySearches) -> Value {
    let values = |u: &[f64]| -> Map<String, Value> {
        found.free.iter().map(|&k| (problem.parameters[k].name.clone(), json!(u[k]))).collect()
    };
    let search = |search: &Search| {
        let kind = match &search.end {
            End::Found(_) => "found",
            End::GivenUp(_) => "given-up",
            End::Failed(_) => "failed",
        };
        let mut row = json!({"start": values(&search.start), "end": kind});
        match (&search.end, search.ended()) {
            (End::Failed(reason), _) => row["reason"] = json!(reason),
            (_, Some(ended)) => {
                row["reason"] = json!(ended.reason.to_string());
                row["cost"] = json!(ended.cost);
                row["evaluations"] = json!(ended.evaluations);
                row["values"] = json!(values(&ended.u));
            }
            (_, None) => {}
        }
        row
    };
    json!({
        "count": asked.count,
        "factor": asked.factor,
        "seed": asked.seed,
        "given_up": found.given_up(),
        "failures": found.failures().iter().map(|(reason, count)| json!({"reason": reason, "count": count})).collect::<Vec<_>>(),
        "optima": found.optima.iter().map(|optimum| json!({
            "count": optimum.searches.len(), "searches": optimum.searches, "cost": optimum.cost, "values": values(&optimum.u),
        })).collect::<Vec<_>>(),
        "searches": found.searches.iter().map(search).collect::<Vec<_>>(),
        "warnings": found.warnings(),
    })
}

/// Profiles for programs.
pub fn profiles_json(found: &Profiles) -> Value {
    let finite = |x: f64| x.is_finite().then_some(x);
    let side = |side: &Side| match side {
        Side::At(value) => json!({"end": "interval", "value": value}),
        Side::AtBoundOf(value, other) => json!({"end": "interval", "value": value, "of": other}),
        Side::Bound(value) => json!({"end": "bound", "value": value}),
        Side::BoundOf(value, other) => json!({"end": "bound", "value": value, "of": other}),
        Side::Open(value) => json!({"end": "open", "followed_to": value}),
        Side::Blocked(value, reason) => json!({"end": "blocked", "followed_to": value, "reason": reason}),
    };
    let profile = |own: &Profile| {
        json!({
            "name": own.name, "unit": own.unit, "value": own.value, "standard_error": finite(own.standard_error),
            "linear_interval": [finite(own.linear.0), finite(own.linear.1)],
            "interval": [finite(own.interval().0), finite(own.interval().1)],
            "lower": side(&own.lower), "upper": side(&own.upper),
            "verdict": own.verdict,
            "points": own.points.iter().map(|point| json!([point.value, point.cost, point.excess])).collect::<Vec<_>>(),
        })
    };
    json!({
        "probability": 0.95,
        "quantile": found.quantile,
        "better": found.better.as_ref().map(|point: &ProfilePoint| json!({"cost": point.cost, "values": point.u})),
        "parameters": found.profiles.iter().map(profile).collect::<Vec<_>>(),
    })
}

/// Costs of all searches from the lowest to the highest (Raue et al. 2013): steps are optima.
///
/// # Errors
/// If no search has ended.
pub fn waterfall(found: &ManySearches) -> Result<Figure> {
    let mut ended: Vec<(f64, bool)> = (found.searches.iter())
        .filter_map(|search| Some((search.ended()?.cost, matches!(search.end, End::Found(_)))))
        .collect();
    ended.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut panel = Panel::new(Axis::linear("search, by its cost").whole_numbers(), Axis::log("cost"));
    for (is_found, label, marker) in [(true, "ended", Marker::Circle), (false, "given up", Marker::Cross)] {
        let own = ended.iter().enumerate().filter(|(_, (cost, found))| *found == is_found && *cost > 0.0);
        let (ranks, costs): (Vec<f64>, Vec<f64>) = own.map(|(rank, (cost, _))| (rank as f64 + 1.0, *cost)).unzip();
        if !ranks.is_empty() {
            panel = panel.series(Series::points(&ranks, &costs).label(label).marker(marker));
        }
    }
    Ok(Figure::column().panel(panel))
}

/// Parameters that a figure of ends shows at most.
const DRAWN: usize = 8;

/// Optima of searches, a panel for each of the first parameters, in the order of their costs; the line is the best optimum.
///
/// # Errors
/// If no search has ended of itself.
pub fn ends_of_searches(problem: &Problem, found: &ManySearches) -> Result<Figure> {
    let mut ended: Vec<(f64, &[f64])> = (found.searches.iter())
        .filter(|search| matches!(search.end, End::Found(_)))
        .filter_map(|search| search.ended().map(|ended| (ended.cost, &ended.u[..])))
        .collect();
    ended.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ranks: Vec<f64> = (1..=ended.len()).map(|rank| rank as f64).collect();
    let shown = &found.free[..found.free.len().min(DRAWN)];
    let mut figure = Figure::wide().columns(2.min(shown.len())).share_legend();
    for &k in shown {
        let parameter = &problem.parameters[k];
        let values: Vec<f64> = ended.iter().map(|(_, u)| u[k]).collect();
        let (least, most) = values.iter().fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(*x), b.max(*x)));
        let label = format!("{} [{}]", parameter.name, printed(&parameter.unit));
        let y = if least > 0.0 && most > 10.0 * least { Axis::log(label) } else { Axis::linear(label) };
        let mut panel = Panel::new(Axis::linear("search, by its cost").whole_numbers(), y)
            .series(Series::points(&ranks, &values).marker(Marker::Circle));
        if let Some(best) = found.best() {
            panel = panel.reference_line(best.u[k], "best");
        }
        figure = figure.panel(panel);
    }
    Ok(figure)
}

/// Profiles beside the parabolas of the standard errors, a panel each, with the threshold of the 95 % intervals.
///
/// # Errors
/// If there is nothing to draw.
pub fn profile_figure(found: &Profiles) -> Result<Figure> {
    let threshold = found.quantile * found.quantile;
    let mut figure = Figure::wide().columns(2.min(found.profiles.len())).share_legend();
    for own in &found.profiles {
        let shown = |point: &&ProfilePoint| point.excess <= 1.5 * found.quantile;
        let (values, rises): (Vec<f64>, Vec<f64>) =
            own.points.iter().filter(shown).map(|point| (point.value, point.excess * point.excess)).unzip();
        let x = Axis::linear(format!("{} [{}]", own.name, printed(&own.unit)));
        let mut panel = Panel::new(x, Axis::linear("2 ΔJ / s²").lower_limit(0.0).upper_limit(2.0 * threshold))
            .reference_line(threshold, "95 %");
        let mut told = Vec::new();
        for (name, side) in [("lower", &own.lower), ("upper", &own.upper)] {
            // what the profile stops at is no end that the data set
            let (stop, label) = match side {
                Side::At(_) | Side::Open(_) => continue,
                Side::Blocked(to, _) => {
                    told.push(format!("{name} end not known"));
                    (to, "followed to here alone")
                }
                Side::Bound(bound) => (bound, "bound: no end of the interval"),
                Side::AtBoundOf(end, other) | Side::BoundOf(end, other) => {
                    told.push(format!("{name} end by the bound of {other}"));
                    (end, "end by another parameter's bound")
                }
            };
            let (color, dash) = match side {
                Side::Bound(_) => (Color::BLACK, Dash::Dotted),
                Side::Blocked(..) => (Color::GREY, Dash::Dotted),
                _ => (Color::BLACK, Dash::DashDotted),
            };
            let line = Series::line(&[*stop, *stop], &[0.0, 2.0 * threshold]).label(label);
            panel = panel.series(line.color(color).dash(dash));
        }
        let profile = Series::line(&values, &rises).label("profile").marker(Marker::Circle);
        panel = panel.series(profile.color(Color::PALETTE[0]).dash(Dash::Solid));
        if own.standard_error > 0.0 && own.standard_error.is_finite() {
            let at = |i: i32| 1.4 * found.quantile * f64::from(i) / 40.0;
            let (values, rises): (Vec<f64>, Vec<f64>) =
                (-40..=40).map(|i| (own.value + own.standard_error * at(i), at(i) * at(i))).unzip();
            let parabola = Series::line(&values, &rises).label("by its standard error");
            panel = panel.series(parabola.color(Color::GREY).dash(Dash::Dashed));
        }
        panel = panel.title(told.join(", "));
        figure = figure.panel(panel);
    }
    Ok(figure)
}

impl Folder {
    /// Figures `starts`, `starts_parameters` and `profiles`, and `profiles.csv`; `bootstrap` and bands; as far as they were asked for.
    pub(super) fn certainty(&self, problem: &Problem, certainty: &Certainty<'_>) -> Result<()> {
        if let Some(found) = certainty.starts {
            self.figure_if_any("starts", waterfall(found))?;
            self.figure_if_any("starts_parameters", ends_of_searches(problem, found))?;
        }
        certainty.bootstrap.map_or(Ok(()), |found| self.bootstrap(problem, found))?;
        certainty.bands.map_or(Ok(()), |bands| self.bands(bands))?;
        let Some(found) = certainty.profiles else { return Ok(()) };
        let all = || found.profiles.iter().flat_map(|own| own.points.iter().map(move |point| (own.parameter, point)));
        let mut columns = vec![
            ("parameter".to_string(), all().map(|(k, _)| k as f64 + 1.0).collect::<Vec<f64>>()),
            ("cost".to_string(), all().map(|(_, point)| point.cost).collect()),
            ("standard errors".to_string(), all().map(|(_, point)| point.excess).collect()),
        ];
        for (k, parameter) in problem.parameters.iter().enumerate() {
            let name = format!("{} [{}]", parameter.name, parameter.unit);
            columns.push((name, all().map(|(_, point)| point.u[k]).collect()));
        }
        self.csv("profiles.csv", columns)?;
        self.figure_if_any("profiles", profile_figure(found))
    }
}
