//! One panel: series, frame and axes.

use super::super::axis::{Axis, Scale, Ticks};
use super::super::scene::{Anchor, Color, Item, Point, Scene};
use super::super::series::{ReferenceLine, Series, Style};
use super::super::{Panel, decimate, text};
use super::{CAP_HEIGHT, FRAME_WIDTH, Frame, GAP, LABEL_SIZE, LINE_HEIGHT, MARGIN, Prepared, TICK_LENGTH, TICK_SIZE};

/// Columns in which lines are thinned: those of print with 300 dpi.
const COLUMN: f64 = 25.4 / 300.0;

pub(super) fn draw_panel(scene: &mut Scene, prepared: &Prepared, frame: &Frame, x_ticks: &Ticks) {
    const GRID_WIDTH: f64 = 0.12;
    for (series, style) in prepared.series.iter().filter(|(_, style)| style.area) {
        draw_area(scene, prepared.panel, frame, series, style.color);
    }
    for (position, _) in &x_ticks.major {
        let x = frame.x(*position);
        scene.line((x, frame.top), (x, frame.bottom()), GRID_WIDTH, Color::GRID);
    }
    for (position, _) in &prepared.y_ticks.major {
        let y = frame.y(*position);
        scene.line((frame.left, y), (frame.right(), y), GRID_WIDTH, Color::GRID);
    }
    for line in &prepared.panel.lines {
        let y = frame.y(prepared.panel.y.position(line.value));
        if frame.holds((frame.left, y)) {
            let style = ReferenceLine::STYLE;
            scene.path(vec![(frame.left, y), (frame.right(), y)], style.width, style.color, style.dash.pattern());
        }
    }
    let corners = [
        (frame.left, frame.top),
        (frame.right(), frame.top),
        (frame.right(), frame.bottom()),
        (frame.left, frame.bottom()),
        (frame.left, frame.top),
    ];
    scene.items.push(Item::About(about(prepared, frame)));
    scene.path(corners.to_vec(), FRAME_WIDTH, Color::BLACK, &[]);
    for (index, (series, style)) in prepared.series.iter().enumerate() {
        if !style.area {
            draw_series(scene, prepared.panel, frame, series, style, index);
        }
    }
    if let Some(missing) = prepared.missing {
        let middle = (frame.left + frame.width / 2.0, frame.top + frame.height / 2.0);
        scene.text(middle, missing, TICK_SIZE, Anchor::Middle);
    }
}

/// Attributes of a frame, for whoever reads values off the figure: ranges of x and y (logarithms to the base 10 on logarithmic
/// axes), kinds and labels of the axes.
fn about(prepared: &Prepared, frame: &Frame) -> Vec<(&'static str, String)> {
    let range = |axis: &Axis, (low, high): (f64, f64)| {
        let kind = if axis.scale == Scale::Log { "log" } else { "linear" };
        format!("{low:e} {high:e} {kind}")
    };
    let Panel { x, y, .. } = prepared.panel;
    vec![
        ("data-x", range(x, frame.x_range)),
        ("data-y", range(y, frame.y_range)),
        ("data-x-label", text::clean(&x.label)),
        ("data-y-label", text::clean(&y.label)),
    ]
}

pub(super) fn draw_series(
    scene: &mut Scene,
    panel: &Panel,
    frame: &Frame,
    series: &Series,
    style: &Style,
    index: usize,
) {
    /// Markers beyond this number would make files large and cannot be told apart.
    const MOST_MARKERS: usize = 3000;
    let to_paper = |(x, y): Point| {
        let (x, y) = (panel.x.position(x), panel.y.position(y));
        (frame.x(x), frame.y(y))
    };
    let (low, high) = ((frame.left, frame.top), (frame.right(), frame.bottom()));
    let data = || series.x.iter().copied().zip(series.y.iter().copied()).map(to_paper);
    let mut length = 0.0;
    if style.line {
        let mut alone: Vec<Point> = Vec::new();
        for line in decimate::lines(series.vertices().map(to_paper), COLUMN) {
            alone.extend(line.first().filter(|point| line.len() == 1 && frame.holds(**point)));
            for part in decimate::clip(&line, low, high) {
                length += part.windows(2).map(|w| (w[1].0 - w[0].0).hypot(w[1].1 - w[0].1)).sum::<f64>();
                if part.len() > 1 {
                    scene.items.push(Item::About(vec![("data-series", text::clean(&series.label))]));
                }
                scene.path(part, style.width, style.color, style.dash.pattern());
            }
        }
        // A point between two gaps has no line: it is a dot.
        for centre in decimate::cloud(&alone, COLUMN, MOST_MARKERS) {
            scene.items.push(Item::Disc { centre, radius: (0.8 * style.width).max(0.3), color: style.color });
        }
    }
    let Some(marker) = style.marker else { return };
    let inside: Vec<Point> = data().filter(|point| frame.holds(*point)).collect();
    if !style.line || inside.len() <= 25 {
        for point in decimate::cloud(&inside, COLUMN, MOST_MARKERS) {
            marker.draw(scene, point, style.color);
        }
        return;
    }
    // On a line with many points, markers keep a distance along it, and do not begin where those of other lines do.
    let distance = (length / 15.0).max(4.0);
    let mut since = distance * (1.0 - (0.382 * index as f64).fract());
    let mut previous = inside[0]; // longer than 25
    for point in inside {
        since += (point.0 - previous.0).hypot(point.1 - previous.1);
        previous = point;
        if since >= distance {
            since = 0.0;
            marker.draw(scene, point, style.color);
        }
    }
}

/// Draws the area between the two lines of a series, thinned to columns of print, of which each shows the extremes.
fn draw_area(scene: &mut Scene, panel: &Panel, frame: &Frame, series: &Series, color: Color) {
    let (low, high) = ((frame.left, frame.top), (frame.right(), frame.bottom()));
    let to_paper = |x: f64, y: f64| {
        let (x, y) = (frame.x(panel.x.position(x)), frame.y(panel.y.position(y)));
        (x.clamp(low.0, high.0), y.clamp(low.1, high.1))
    };
    let count = series.x.len() / 2;
    let (mut lower, mut upper): (Vec<Point>, Vec<Point>) = (Vec::new(), Vec::new());
    let mut begun = f64::NEG_INFINITY;
    for i in 0..count {
        let (below, above) = (to_paper(series.x[i], series.y[i]), to_paper(series.x[i], series.y[2 * count - 1 - i]));
        match (lower.last_mut(), upper.last_mut()) {
            (Some(last), Some(top)) if below.0 < begun + COLUMN && i + 1 < count => {
                (last.1, top.1) = (last.1.max(below.1), top.1.min(above.1));
            }
            _ => {
                begun = below.0;
                lower.push(below);
                upper.push(above);
            }
        }
    }
    if lower.len() > 1 && lower.iter().chain(&upper).all(|(x, y)| x.is_finite() && y.is_finite()) {
        scene.items.push(Item::Area { lower, upper, color });
    }
}

pub(super) fn y_axis(scene: &mut Scene, prepared: &Prepared, frame: &Frame) {
    for (position, label) in &prepared.y_ticks.major {
        let y = frame.y(*position);
        scene.line((frame.left - TICK_LENGTH, y), (frame.left, y), FRAME_WIDTH, Color::BLACK);
        let at = (frame.left - TICK_LENGTH - GAP, y + 0.5 * CAP_HEIGHT * TICK_SIZE);
        scene.text(at, label, TICK_SIZE, Anchor::End);
    }
    for position in &prepared.y_ticks.minor {
        let y = frame.y(*position);
        scene.line((frame.left - 0.5 * TICK_LENGTH, y), (frame.left, y), 0.75 * FRAME_WIDTH, Color::BLACK);
    }
    let middle = frame.top + frame.height / 2.0;
    for (index, line) in prepared.y_label.iter().enumerate() {
        let baseline = MARGIN + prepared.y_size * (index as f64 * LINE_HEIGHT + 0.95);
        scene.upward_text((baseline, middle), line, prepared.y_size);
    }
}

/// Ticks, their labels and the label of the axis; returns where they end.
pub(super) fn x_axis(scene: &mut Scene, prepared: &Prepared, frame: &Frame, ticks: &Ticks) -> f64 {
    let bottom = frame.bottom();
    let baseline = bottom + TICK_LENGTH + GAP + CAP_HEIGHT * TICK_SIZE;
    for (position, label) in &ticks.major {
        let x = frame.x(*position);
        scene.line((x, bottom), (x, bottom + TICK_LENGTH), FRAME_WIDTH, Color::BLACK);
        scene.text((x, baseline), label, TICK_SIZE, Anchor::Middle);
    }
    for position in &ticks.minor {
        let x = frame.x(*position);
        scene.line((x, bottom), (x, bottom + 0.5 * TICK_LENGTH), 0.75 * FRAME_WIDTH, Color::BLACK);
    }
    let lines = text::wrap(&text::clean(&prepared.panel.x.label), LABEL_SIZE, frame.width);
    let middle = frame.left + frame.width / 2.0;
    let mut top = baseline + 0.3 * TICK_SIZE;
    if !ticks.note.is_empty() {
        // At the right end, on the label's line if both have room.
        let note = text::width(&ticks.note, TICK_SIZE);
        let label = lines.first().map_or(0.0, |line| text::width(line, LABEL_SIZE));
        scene.text((frame.right(), top + TICK_SIZE), &ticks.note, TICK_SIZE, Anchor::End);
        if label / 2.0 + note + 2.0 > frame.width / 2.0 {
            top += TICK_SIZE * LINE_HEIGHT;
        }
    }
    for line in lines {
        top += LABEL_SIZE * LINE_HEIGHT;
        scene.text((middle, top - 0.25 * LABEL_SIZE), &line, LABEL_SIZE, Anchor::Middle);
    }
    top
}
