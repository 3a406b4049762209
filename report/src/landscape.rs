//! The cost over two parameters: `landscape.json`, `landscape.csv` and a figure with lines of equal cost and the ways of methods.

use super::{Folder, printed};
use crate::plot::{Axis, Color, Dash, Figure, Grid, Marker, Panel, Series};
use costate_identify::Result;
use costate_identify::landscape::{Landscape, Way};
use costate_identify::problem::Problem;
use serde_json::{Value, json};

/// Lines of equal cost.
const LINES: usize = 14;

/// A map for programs.
pub fn landscape_json(problem: &Problem, found: &Landscape) -> Value {
    let side = |place: usize| {
        let parameter = &problem.parameters[found.parameters[place]];
        json!({"name": parameter.name, "unit": parameter.unit, "values": found.sides[place]})
    };
    let known = |x: f64| x.is_finite().then_some(x);
    let way = |way: &Way| {
        json!({
            "method": way.method.name(), "points": way.points, "cost": known(way.cost), "evaluations": way.evaluations,
            "converged": way.reason.as_ref().is_ok_and(|reason| reason.was_successful()),
            "reason": way.reason.as_ref().map_or_else(Clone::clone, ToString::to_string),
        })
    };
    let rows: Vec<Vec<Option<f64>>> =
        found.cost.iter().map(|row| row.iter().map(|cost| known(*cost)).collect()).collect();
    json!({
        "model": problem.name,
        "x": side(0),
        "y": side(1),
        "cost": rows,
        "ways": found.ways.iter().map(way).collect::<Vec<_>>(),
    })
}

/// Heights of lines: evenly by logarithm over a floor, so that the ground of a valley shows as well as its walls.
fn heights(found: &Landscape) -> Vec<f64> {
    let (least, _) = found.least();
    let most = found.cost.iter().flatten().copied().filter(|cost| cost.is_finite()).fold(least, f64::max);
    let floor = 1e-3 * (most - least);
    (0..LINES).map(|i| least + floor * (1e3f64.powf((i as f64 + 0.5) / LINES as f64))).collect()
}

/// Lines of equal cost, light where it is high, with the ways of all methods, their common start, and the optimum if it is known.
///
/// # Errors
/// If there is nothing to draw.
pub fn landscape_figure(problem: &Problem, found: &Landscape) -> Result<Figure> {
    let [x, y] = [0, 1].map(|place| {
        let parameter = &problem.parameters[found.parameters[place]];
        let values = &found.sides[place];
        let axis = Axis::linear(format!("{} [{}]", parameter.name, printed(&parameter.unit)));
        match values[..] {
            [first, .., last] => axis.lower_limit(first).upper_limit(last),
            _ => axis,
        }
    });
    let mut panel = Panel::new(x, y);
    let grid = Grid { x: &found.sides[0], y: &found.sides[1], rows: &found.cost };
    for (number, height) in heights(found).into_iter().enumerate() {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for line in grid.lines(height) {
            points.extend(line);
            points.push((f64::NAN, f64::NAN));
        }
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let shade = 110 + (110 * number / LINES) as u8;
        if !x.is_empty() {
            let color = Color(shade, shade, shade);
            panel = panel.series(Series::line(&x, &y).color(color).width(0.18).dash(Dash::Solid));
        }
    }
    let inside = |[x, y]: &[f64; 2]| {
        let within = |value: f64, side: &[f64]| matches!(side, [a, .., b] if (*a..=*b).contains(&value));
        within(*x, &found.sides[0]) && within(*y, &found.sides[1])
    };
    for (number, way) in found.ways.iter().enumerate().filter(|(_, way)| way.points.len() > 1) {
        let outside = way.points.iter().any(|point| !inside(point));
        let (x, y): (Vec<f64>, Vec<f64>) = way
            .points
            .iter()
            .map(|point| if inside(point) { (point[0], point[1]) } else { (f64::NAN, f64::NAN) })
            .unzip();
        let label = format!(
            "{}, {} runs{}",
            way.method.name(),
            way.evaluations,
            if outside { " (partly outside)" } else { "" }
        );
        let color = Color::PALETTE[number % Color::PALETTE.len()];
        panel = panel.series(Series::line(&x, &y).label(label).color(color).markers());
    }
    let mark = |panel: Panel, [x, y]: [f64; 2], label: &str, marker: Marker| {
        panel.series(Series::points(&[x], &[y]).label(label).color(Color(0, 0, 0)).marker(marker))
    };
    panel = mark(panel, found.parameters.map(|k| problem.start[k]), "start", Marker::Ring);
    if let Some(optimum) = &problem.optimum {
        panel = mark(panel, found.parameters.map(|k| optimum[k]), "optimum", Marker::Cross);
    }
    Ok(Figure::wide().panel_height(100.0).panel(panel))
}

impl Folder {
    /// `landscape.json` with `document` ([`landscape_json`]), `landscape.csv` with all costs, and the figure `landscape`.
    ///
    /// # Errors
    /// [`Error::Data`](costate_identify::Error::Data).
    pub fn landscape(&self, problem: &Problem, found: &Landscape, document: Value) -> Result<()> {
        self.together("landscape.json", document, |aside| {
            let points = || found.sides[1].iter().flat_map(|y| found.sides[0].iter().map(move |x| [*x, *y]));
            let named = |place: usize| {
                let parameter = &problem.parameters[found.parameters[place]];
                (format!("{} [{}]", parameter.name, parameter.unit), points().map(|point| point[place]).collect())
            };
            let cost = found.cost.iter().flatten().copied().collect();
            aside.csv("landscape.csv", vec![named(0), named(1), ("cost".to_string(), cost)])?;
            aside.figure_if_any("landscape", landscape_figure(problem, found))
        })
    }
}
