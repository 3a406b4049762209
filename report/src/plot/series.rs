//! What a panel shows: lines, steps and points with their styles.

use super::axis::{Axis, Scale};
use super::decimate;
use super::scene::{Color, Item, Point, Scene};

/// The pattern of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// A line without gaps.
    Solid,
    /// A line of short strokes.
    Dashed,
    /// A line of dots.
    Dotted,
    /// A line of strokes and dots in turn.
    DashDotted,
    /// A line of long strokes.
    LongDashed,
}

impl Dash {
    pub(super) const ALL: [Dash; 5] = [Dash::Solid, Dash::Dashed, Dash::DashDotted, Dash::LongDashed, Dash::Dotted];

    /// Lengths of strokes and gaps in mm. The ends are round, so gaps look shorter by the line's width.
    pub(super) fn pattern(self) -> &'static [f64] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[1.3, 1.0],
            Dash::Dotted => &[0.02, 0.75],
            Dash::DashDotted => &[1.8, 0.85, 0.02, 0.85],
            Dash::LongDashed => &[3.2, 1.1],
        }
    }
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A filled circle.
    Circle,
    /// A square, white inside.
    Square,
    /// A filled triangle.
    Triangle,
    /// A diamond, white inside.
    Diamond,
    /// A diagonal cross.
    Cross,
    /// An upright cross.
    Plus,
    /// A ring, larger than the others, for marking one point among many.
    Ring,
}

impl Marker {
    pub(super) const ALL: [Marker; 6] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross, Marker::Plus];

    /// Draws the marker.
    pub(super) fn draw(self, scene: &mut Scene, centre: Point, color: Color) {
        const STROKE: f64 = 0.22;
        let at = |dx: f64, dy: f64| (centre.0 + dx, centre.1 + dy);
        let mut outlined = |points: Vec<Point>| {
            let mut outline = points.clone();
            outline.push(points[0]); // every caller below gives points
            scene.items.push(Item::Polygon { points, color: Color::WHITE });
            scene.path(outline, STROKE, color, &[]);
        };
        match self {
            Marker::Circle => scene.items.push(Item::Disc { centre, radius: 0.65, color }),
            Marker::Square => outlined(vec![at(-0.58, -0.58), at(0.58, -0.58), at(0.58, 0.58), at(-0.58, 0.58)]),
            Marker::Diamond => outlined(vec![at(0.0, -0.85), at(0.85, 0.0), at(0.0, 0.85), at(-0.85, 0.0)]),
            Marker::Triangle => {
                let points = vec![at(0.0, -0.85), at(0.78, 0.55), at(-0.78, 0.55)];
                scene.items.push(Item::Polygon { points, color });
            }
            Marker::Cross => {
                scene.line(at(-0.6, -0.6), at(0.6, 0.6), 0.28, color);
                scene.line(at(-0.6, 0.6), at(0.6, -0.6), 0.28, color);
            }
            Marker::Plus => {
                scene.line(at(-0.8, 0.0), at(0.8, 0.0), 0.28, color);
                scene.line(at(0.0, -0.8), at(0.0, 0.8), 0.28, color);
            }
            Marker::Ring => {
                let angle = |i: u32| f64::from(i) * std::f64::consts::TAU / 32.0;
                let ring = (0..=32).map(|i| at(1.4 * angle(i).cos(), 1.4 * angle(i).sin())).collect();
                scene.path(ring, 0.32, color, &[]);
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Line,
    Step,
    Points,
    /// A filled area: its outline goes there and back.
    Area,
}

/// Data to draw, with a label for the legend. What is not said about its style is chosen so that the series of a panel
/// differ in colour and also in dashes or markers, for print in black and white.
#[derive(Debug, Clone)]
pub struct Series {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) shape: Shape,
    pub(super) label: String,
    pub(super) color: Option<Color>,
    pub(super) dash: Option<Dash>,
    pub(super) width: f64,
    pub(super) marker: Option<Option<Marker>>,
}

impl Series {
    fn new(shape: Shape, x: &[f64], y: &[f64]) -> Self {
        Series {
            x: x.to_vec(),
            y: y.to_vec(),
            shape,
            label: String::new(),
            color: None,
            dash: None,
            width: 0.35,
            marker: None,
        }
    }

    /// Points joined by straight lines. Values that are not finite, not positive on a logarithmic axis, or beyond 1e307 on
    /// a linear one are gaps.
    pub fn line(x: &[f64], y: &[f64]) -> Self {
        Series::new(Shape::Line, x, y)
    }

    /// A line of steps: each value holds until the next x.
    pub fn step(x: &[f64], y: &[f64]) -> Self {
        Series::new(Shape::Step, x, y)
    }

    /// The area between two lines over the same x, up to the first gap of one of them. It is not listed among lines: draw it below them.
    pub fn area(x: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        let there = lower.iter().zip(upper).take_while(|(a, b)| a.is_finite() && b.is_finite()).count().min(x.len());
        let around = |forth: &[f64], back: &[f64]| -> Vec<f64> {
            forth[..there].iter().chain(back[..there].iter().rev()).copied().collect()
        };
        Series::new(Shape::Area, &around(x, x), &around(lower, upper))
    }

    /// Points with markers, without a line.
    pub fn points(x: &[f64], y: &[f64]) -> Self {
        Series { marker: Some(None), ..Series::new(Shape::Points, x, y) }
    }

    /// Sets the name in the legend; without one the series is not listed.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets the colour.
    pub fn color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }

    /// Sets the pattern of the line.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.dash = Some(dash);
        self
    }

    /// Sets the thickness of the line in mm at the printed size; 0.35 by default.
    pub fn width(mut self, millimetres: f64) -> Self {
        self.width = millimetres;
        self
    }

    /// Adds markers of this shape; on a line with many points only at some of them.
    pub fn marker(mut self, marker: Marker) -> Self {
        self.marker = Some(Some(marker));
        self
    }

    /// Adds markers of a shape that differs from those of the panel's other series.
    pub fn markers(mut self) -> Self {
        self.marker = Some(None);
        self
    }

    /// The style, where the series is the `index`-th of its panel whose style was left open.
    pub(super) fn style(&self, index: usize) -> Style {
        let marker = self.marker.map(|marker| marker.unwrap_or(Marker::ALL[index % Marker::ALL.len()]));
        // Markers tell lines apart already; dashes then begin only where the markers repeat.
        let dash = if marker.is_some() { index / Marker::ALL.len() } else { index };
        Style {
            color: self.color.unwrap_or(Color::PALETTE[index % Color::PALETTE.len()]),
            dash: self.dash.unwrap_or(Dash::ALL[dash % Dash::ALL.len()]),
            // Zero or negative widths would vanish, and infinite ones would cover everything.
            width: if self.width.is_finite() { self.width.clamp(0.1, 3.0) } else { 0.35 },
            line: matches!(self.shape, Shape::Line | Shape::Step),
            area: self.shape == Shape::Area,
            marker,
        }
    }

    /// The points in order, with the corners of steps.
    /// Leaves points out of a very long line that no width of paper shows beside the others, before they are kept, measured and drawn.
    pub(super) fn thin(&mut self, x: &Axis, y: &Axis) {
        /// Points of a line that are kept as they are.
        const LONG: usize = 200_000;
        /// Columns of all of it: several for one that is printed, see [`decimate::lines`].
        const COLUMNS: f64 = 16_384.0;
        if self.shape != Shape::Line || self.marker.is_some() || self.x.len() <= LONG || x.scale != Scale::Linear {
            return;
        }
        let ends = |ends: (f64, f64), x: &f64| if x.is_finite() { (ends.0.min(*x), ends.1.max(*x)) } else { ends };
        let (first, last) = self.x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        let column = (last - first) / COLUMNS;
        if !(column.is_finite() && column > 0.0) {
            return;
        }
        // what cannot be drawn is a gap
        let drawn = |value: f64| if y.holds(value) { value } else { f64::NAN };
        let points = self.x.iter().zip(&self.y).map(|(x, y)| (*x, drawn(*y)));
        let lines = decimate::lines(points, column);
        if !lines.is_empty() {
            let gap = [(f64::NAN, f64::NAN)];
            (self.x, self.y) = lines.join(&gap[..]).into_iter().unzip();
        }
    }

    pub(super) fn vertices(&self) -> impl Iterator<Item = Point> + '_ {
        let points = self.x.iter().copied().zip(self.y.iter().copied());
        let previous = std::iter::once(f64::NAN).chain(self.y.iter().copied());
        let step = self.shape == Shape::Step;
        points.zip(previous).enumerate().flat_map(move |(i, (point, before))| {
            let corner = (step && i > 0).then_some((point.0, before));
            corner.into_iter().chain([point])
        })
    }
}

/// Style of a series: colour, dashes, width, and what is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub color: Color,
    pub dash: Dash,
    pub width: f64,
    pub line: bool,
    pub area: bool,
    pub marker: Option<Marker>,
}

/// A horizontal line across a panel.
#[derive(Debug, Clone)]
pub(super) struct ReferenceLine {
    pub value: f64,
    pub label: String,
}

impl ReferenceLine {
    pub(super) const STYLE: Style =
        Style { color: Color::GREY, dash: Dash::Dashed, width: 0.2, line: true, area: false, marker: None };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects figures of long records: of a million points few stay, and peaks, gaps and ends are among them; where the axis is
    /// logarithmic, what it cannot show is a gap; short lines, markers and other axes are left alone.
    #[test]
    fn long_lines_are_thinned_without_a_trace() {
        let x: Vec<f64> = (0..1_000_000).map(|i| 1e-3 * f64::from(i)).collect();
        let mut y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        (y[123_457], y[765_431], y[500_000]) = (50.0, -40.0, f64::NAN);
        let (linear, log) = (Axis::linear("x"), Axis::log("y"));
        let thinned = |x: &[f64], y: &[f64], of_y: &Axis| {
            let mut series = Series::line(x, y);
            series.thin(&linear, of_y);
            series
        };
        let seen = thinned(&x, &y, &linear);
        assert!(seen.x.len() == seen.y.len() && seen.x.len() < 70_000, "{}", seen.x.len());
        for i in [0, 123_457, 765_431, 499_999, 500_001, 999_999] {
            assert!(seen.x.iter().zip(&seen.y).any(|point| point == (&x[i], &y[i])), "{i}");
        }
        assert_eq!(seen.y.iter().filter(|y| y.is_nan()).count(), 1);
        assert!(seen.x.is_sorted_by(|a, b| a <= b || a.is_nan() || b.is_nan()));
        let seen = thinned(&x, &y, &log);
        assert!(seen.y.iter().all(|y| *y > 0.0 || y.is_nan()) && seen.y.contains(&50.0));
        let none = thinned(&x, &vec![-1.0; x.len()], &log);
        assert_eq!(none.x.len(), x.len());
        assert_eq!(thinned(&x[..1000], &y[..1000], &linear).x.len(), 1000);
        let mut marked = Series::points(&x, &y);
        marked.thin(&linear, &linear);
        let mut over_log = Series::line(&x, &y);
        over_log.thin(&log, &linear);
        assert_eq!([marked.x.len(), over_log.x.len()], [x.len(); 2]);
    }
}
