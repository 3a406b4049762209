//! Where everything goes: from a figure to a scene.

mod panel;

use panel::{draw_panel, x_axis, y_axis};

use super::axis::{Axis, Label, Ticks};
use super::scene::{Anchor, Color, Item, Point, Scene};
use super::series::{ReferenceLine, Series, Style};
use super::text;
use super::{Drawn, Figure, Legend, Panel};
use costate_identify::{Error, Result};

// Lengths in mm; a point is 0.3528 mm.
pub(super) const LABEL_SIZE: f64 = 8.0 * 0.3528;
pub(super) const TICK_SIZE: f64 = 7.5 * 0.3528;
pub(super) const LINE_HEIGHT: f64 = 1.25;
/// Height of digits and capitals over the baseline, in em.
pub(super) const CAP_HEIGHT: f64 = 0.73;
pub(super) const MARGIN: f64 = 1.2;
pub(super) const TICK_LENGTH: f64 = 1.0;
pub(super) const GAP: f64 = 0.9;
/// Lengths of a legend's samples, with lines and with markers only.
const SAMPLE_LENGTH: f64 = 8.0;
const SHORT_SAMPLE_LENGTH: f64 = 2.8;
const SAMPLE_GAP: f64 = 1.2;
pub(super) const FRAME_WIDTH: f64 = 0.2;

/// A panel with all that has to be known before space is allotted.
struct Prepared<'a> {
    panel: &'a Panel,
    /// Series with their styles.
    series: Vec<(&'a Series, Style)>,
    x_range: (f64, f64),
    y_range: (f64, f64),
    y_ticks: Ticks,
    y_label: Vec<String>,
    y_size: f64,
    /// Text that stands in place of data, if there are none to draw.
    missing: Option<&'static str>,
    /// True if a legend stands above this panel.
    is_listed: bool,
}

/// Lowest and highest position in x and in y, if there are any.
type DataRange = (Option<(f64, f64)>, Option<(f64, f64)>);

/// The area between the axes, and the ranges of positions that it spans.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x_range: (f64, f64),
    y_range: (f64, f64),
}

impl Frame {
    fn x(&self, position: f64) -> f64 {
        self.left + self.width * fraction(position, self.x_range)
    }

    fn y(&self, position: f64) -> f64 {
        self.top + self.height * (1.0 - fraction(position, self.y_range))
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn holds(&self, point: Point) -> bool {
        let tolerance = 1e-6;
        (self.left - tolerance..=self.right() + tolerance).contains(&point.0)
            && (self.top - tolerance..=self.bottom() + tolerance).contains(&point.1)
    }
}

fn fraction(position: f64, range: (f64, f64)) -> f64 {
    (position - range.0) / (range.1 - range.0)
}

/// Lays out a figure.
pub(super) fn scene(figure: &Figure) -> Result<Scene> {
    figure.check()?;
    match &figure.drawn {
        Some(Drawn::Map(map)) => return Ok(map.scene(figure.width)),
        Some(Drawn::Scene(scene)) => return Ok(scene.clone()),
        None => {}
    }
    if figure.columns > 1 {
        return side_by_side(figure);
    }
    let prepared = prepare(figure)?;
    let height = panel_height(figure);
    let labels = prepared.iter().map(|p| p.y_label.len() as f64 * p.y_size * LINE_HEIGHT).fold(0.0, f64::max);
    let numbers = prepared.iter().map(|p| widest(&p.y_ticks)).fold(0.0, f64::max);
    let left = MARGIN + labels + GAP + numbers + GAP + TICK_LENGTH;
    // The last label may reach beyond the frame.
    let mut right = MARGIN + FRAME_WIDTH;
    let mut x_ticks: Vec<Ticks> = Vec::new();
    for _ in 0..2 {
        let width = figure.width - left - right;
        if width < 10.0 {
            return Err(Error::invalid(
                "the width of the figure",
                format!("{} mm leave no room between the labels of the axes", figure.width),
                "make the figure wider or its labels shorter",
            ));
        }
        x_ticks = prepared.iter().map(|p| ticks_along(&p.panel.x, p.x_range, width)).collect();
        let overhang = prepared.iter().zip(&x_ticks).filter_map(|(p, ticks)| {
            let (position, label) = ticks.major.last()?;
            Some(text::width(label, TICK_SIZE) / 2.0 - width * (1.0 - fraction(*position, p.x_range)))
        });
        right = overhang.map(|o| o + MARGIN).fold(right, f64::max);
    }
    let width = figure.width - left - right;
    let mut scene = Scene { width: figure.width, height: 0.0, items: Vec::new() };
    let mut top = MARGIN;
    for (index, (prepared, x_ticks)) in prepared.iter().zip(&x_ticks).enumerate() {
        let last = index + 1 == figure.panels.len();
        top = header(&mut scene, prepared, left, width, top);
        let (x_range, y_range) = (prepared.x_range, prepared.y_range);
        let frame = Frame { left, top, width, height, x_range, y_range };
        draw_panel(&mut scene, prepared, &frame, x_ticks);
        y_axis(&mut scene, prepared, &frame);
        top = frame.bottom();
        top = if figure.shared_x && !last {
            top + TICK_LENGTH + GAP
        } else {
            x_axis(&mut scene, prepared, &frame, x_ticks) + if last { 0.0 } else { 1.5 * GAP }
        };
    }
    // Tenths of a millimetre, so that the size in the file is a short number.
    scene.height = ((top + MARGIN) * 10.0).ceil() / 10.0;
    let (w, h) = (scene.width, scene.height);
    let paper = vec![(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)];
    scene.items.insert(0, Item::Polygon { points: paper, color: Color::WHITE });
    Ok(scene)
}

/// Panels in rows, each laid out as a figure of its own.
fn side_by_side(figure: &Figure) -> Result<Scene> {
    const BETWEEN: f64 = 2.0;
    let columns = figure.columns as f64;
    let width = (figure.width - BETWEEN * (columns - 1.0)) / columns;
    let height = figure.panel_height.unwrap_or(0.7 * width);
    let mut whole = Scene { width: figure.width, height: 0.0, items: Vec::new() };
    let part_legend = if figure.legend == Legend::Shared { Legend::Above } else { figure.legend };
    let part_of = |panels: Vec<Panel>| Figure {
        panels,
        columns: 1,
        width,
        panel_height: Some(height),
        legend: part_legend,
        ..figure.clone()
    };
    if figure.legend == Legend::Shared {
        whole.height = legend(&mut whole, &prepare(figure)?, MARGIN, figure.width - 2.0 * MARGIN, MARGIN);
    }
    let top = whole.height;
    if figure.shared_x {
        for column in 0..figure.columns {
            let panels: Vec<Panel> = figure.panels.iter().skip(column).step_by(figure.columns).cloned().collect();
            if panels.is_empty() {
                continue;
            }
            let part = scene(&part_of(panels))?;
            whole.height = whole.height.max(top + part.height);
            whole.insert(part, (column as f64 * (width + BETWEEN), top));
        }
    }
    let rows = if figure.shared_x { &[][..] } else { &figure.panels[..] };
    for row in rows.chunks(figure.columns) {
        let top = whole.height;
        let parts = row.iter().map(|panel| scene(&part_of(vec![panel.clone()]))).collect::<Result<Vec<_>>>()?;
        let tallest = parts.iter().map(|part| part.height).fold(0.0, f64::max);
        whole.height += tallest;
        for (column, part) in parts.into_iter().enumerate() {
            // legends and exponents differ: axes below stand side by side
            let down = top + tallest - part.height;
            whole.insert(part, (column as f64 * (width + BETWEEN), down));
        }
    }
    let (w, h) = (whole.width, whole.height);
    let paper = vec![(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)];
    whole.items.insert(0, Item::Polygon { points: paper, color: Color::WHITE });
    Ok(whole)
}

fn panel_height(figure: &Figure) -> f64 {
    let count = figure.panels.len() as f64;
    let single = if figure.width > 120.0 { 62.0 } else { 46.0 };
    // As tall as fits on a page with its captions, as long as the panels remain readable.
    figure.panel_height.unwrap_or(if count <= 1.0 { single } else { (200.0 / count - 5.0).clamp(15.0, 0.65 * single) })
}

fn prepare(figure: &Figure) -> Result<Vec<Prepared<'_>>> {
    let ranges: Vec<DataRange> = figure.panels.iter().map(data_range).collect();
    if ranges.iter().all(|(x, _)| x.is_none()) {
        return Err(Error::invalid(
            "the figure",
            "it has no data that can be drawn",
            "give at least one finite value (a positive one for a logarithmic axis)",
        ));
    }
    let union = |ranges: &mut dyn Iterator<Item = (f64, f64)>| ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let all_x = union(&mut ranges.iter().filter_map(|r| r.0));
    let all_y = union(&mut ranges.iter().filter_map(|r| r.1));
    let height = panel_height(figure);
    let mut prepared = Vec::new();
    for (index, (panel, (x, y))) in figure.panels.iter().zip(ranges).enumerate() {
        let is_listed = match figure.legend {
            Legend::OfEach => true,
            Legend::Shared => index == 0,
            Legend::Above => false,
        };
        let missing = if x.is_some() {
            None
        } else if panel.series.iter().all(|s| !s.vertices().any(|(x, y)| x.is_finite() && y.is_finite())) {
            Some("no data")
        } else {
            Some("no positive values")
        };
        let marked = panel.series.iter().any(|s| s.marker.is_some());
        let x_range = panel.x.range(if figure.shared_x { all_x } else { x }, if marked { 0.025 } else { 0.0 })?;
        let x_range = if marked { x_range } else { panel.x.completed(x_range) };
        let y_range = panel.y.range(if figure.shared_y { all_y } else { y }, 0.06)?;
        let y_ticks = ticks_upward(&panel.y, y_range, height);
        let (y_label, y_size) = y_label(&text::clean(&panel.y.label), height + 1.0);
        let mut open = 0;
        let series = panel.series.iter().map(|series| {
            let style = series.style(open);
            open += usize::from(series.color.is_none());
            (series, style)
        });
        let series = series.collect();
        prepared.push(Prepared { panel, series, x_range, y_range, y_ticks, y_label, y_size, missing, is_listed });
    }
    if figure.shared_x {
        // Panels with markers have wider ranges.
        let low = prepared.iter().map(|p| p.x_range.0).fold(f64::INFINITY, f64::min);
        let high = prepared.iter().map(|p| p.x_range.1).fold(f64::NEG_INFINITY, f64::max);
        prepared.iter_mut().for_each(|p| p.x_range = (low, high));
    }
    Ok(prepared)
}

/// The lines of a y axis' label and their size: a long label takes several lines, its unit if possible the last one, and
/// smaller letters rather than more than two lines.
fn y_label(label: &str, room: f64) -> (Vec<String>, f64) {
    const SMALL_SIZE: f64 = 0.925 * LABEL_SIZE;
    let lines = text::wrap(label, LABEL_SIZE, room);
    if lines.len() <= 1 {
        return (lines, LABEL_SIZE);
    }
    if let Some((name, unit)) = label.rsplit_once(" [") {
        let unit = format!("[{unit}");
        for size in [LABEL_SIZE, SMALL_SIZE] {
            if text::width(name, size) <= room && text::width(&unit, size) <= room {
                return (vec![name.to_string(), unit], size);
            }
        }
    }
    if lines.len() == 2 { (lines, LABEL_SIZE) } else { (text::wrap(label, SMALL_SIZE, room), SMALL_SIZE) }
}

/// Ranges of the positions in x and y of all points that can be drawn, with reference lines.
fn data_range(panel: &Panel) -> DataRange {
    let mut x_range: Option<(f64, f64)> = None;
    let mut y_range: Option<(f64, f64)> = None;
    let extend = |range: &mut Option<(f64, f64)>, value: f64| {
        let (low, high) = range.unwrap_or((value, value));
        *range = Some((low.min(value), high.max(value)));
    };
    for (x, y) in panel.series.iter().flat_map(Series::vertices) {
        let (x, y) = (panel.x.position(x), panel.y.position(y));
        if x.is_finite() && y.is_finite() {
            extend(&mut x_range, x);
            extend(&mut y_range, y);
        }
    }
    for line in &panel.lines {
        let y = panel.y.position(line.value);
        if y.is_finite() {
            extend(&mut y_range, y);
        }
    }
    (x_range, y_range)
}

/// Ticks of a horizontal axis, whose labels stand side by side.
pub(super) fn ticks_along(axis: &Axis, range: (f64, f64), width: f64) -> Ticks {
    axis.ticks(range, &|labels, tight| {
        let centre = |position: f64| fraction(position, range) * width;
        let half = |label: &str| text::width(label, TICK_SIZE) / 2.0;
        let space = TICK_SIZE * if tight { 0.6 } else { 1.0 };
        labels.len() as f64 <= width / 7.0
            && labels.windows(2).all(|w| centre(w[1].0) - centre(w[0].0) >= half(&w[0].1) + half(&w[1].1) + space)
    })
}

/// Ticks of a vertical axis, whose labels stand one above the other.
pub(super) fn ticks_upward(axis: &Axis, range: (f64, f64), height: f64) -> Ticks {
    axis.ticks(range, &|labels, tight| {
        let distance = |w: &[Label]| (w[1].0 - w[0].0) / (range.1 - range.0) * height;
        labels.windows(2).all(|w| distance(w) >= TICK_SIZE * if tight { 1.15 } else { 1.7 })
    })
}

pub(super) fn widest(ticks: &Ticks) -> f64 {
    ticks.major.iter().map(|(_, label)| text::width(label, TICK_SIZE)).fold(0.0, f64::max)
}

/// Title, legend and common exponent above the frame; returns where the frame begins.
fn header(scene: &mut Scene, prepared: &Prepared, left: f64, width: f64, mut top: f64) -> f64 {
    let title = text::wrap(&text::clean(&prepared.panel.title), LABEL_SIZE, width);
    for line in &title {
        top += LABEL_SIZE * LINE_HEIGHT;
        scene.text((left, top - 0.25 * LABEL_SIZE), line, LABEL_SIZE, Anchor::Start);
    }
    let (below_title, note) = (top, &prepared.y_ticks.note);
    if prepared.is_listed {
        top = legend(scene, std::slice::from_ref(prepared), left, width, top);
    }
    let last = title.last().map_or(f64::INFINITY, |line| text::width(line, LABEL_SIZE));
    if !note.is_empty() && top == below_title && last + text::width(note, TICK_SIZE) + 2.0 < width {
        // beside the title, so that panels with and without it are equally high
        scene.text((left + width, top - 0.25 * LABEL_SIZE), note, TICK_SIZE, Anchor::End);
    } else if !note.is_empty() {
        top += TICK_SIZE * (LINE_HEIGHT + 0.1);
        scene.text((left, top - 0.3 * TICK_SIZE), &prepared.y_ticks.note, TICK_SIZE, Anchor::Start);
    }
    top + 0.5 * TICK_SIZE
}

/// The legend: as many equally tall rows as needed, in columns; what panels repeat is listed once. Returns where it ends.
fn legend(scene: &mut Scene, panels: &[Prepared], left: f64, width: f64, top: f64) -> f64 {
    let reference = |prepared: &Prepared| -> Vec<(String, Style)> {
        prepared.panel.lines.iter().map(|line| (line.label.clone(), ReferenceLine::STYLE)).collect()
    };
    let series = |prepared: &Prepared| -> Vec<(String, Style)> {
        let listed = |(series, style): &(&Series, Style)| {
            let nothing = !series.label.is_empty() && !series.y.iter().any(|y| y.is_finite());
            (series.label.clone() + if nothing { " (no data)" } else { "" }, *style)
        };
        prepared.series.iter().map(listed).collect()
    };
    let is_line = |prepared: &Prepared| {
        let lines = prepared.series.iter().any(|(series, style)| style.line && !series.label.is_empty());
        lines || !prepared.panel.lines.is_empty()
    };
    let sample = if panels.iter().any(is_line) { SAMPLE_LENGTH } else { SHORT_SAMPLE_LENGTH };
    let mut listed: Vec<(String, Style)> = Vec::new();
    for (label, style) in panels.iter().flat_map(series).chain(panels.iter().flat_map(reference)) {
        if !label.is_empty() && listed.iter().all(|(other, _)| *other != label) {
            listed.push((label, style));
        }
    }
    let room = width - sample - SAMPLE_GAP;
    let entries: Vec<(Vec<String>, Style)> =
        listed.into_iter().map(|(label, style)| (text::wrap(&text::clean(&label), TICK_SIZE, room), style)).collect();
    let entry_width = |(lines, _): &(Vec<String>, Style)| {
        sample + SAMPLE_GAP + lines.iter().map(|line| text::width(line, TICK_SIZE)).fold(0.0, f64::max)
    };
    const BETWEEN: f64 = 3.0;
    let column_widths = |columns: usize| -> Vec<f64> {
        let width = |column| entries.iter().skip(column).step_by(columns).map(entry_width).fold(0.0, f64::max);
        (0..columns).map(width).collect()
    };
    let fits = |widths: &Vec<f64>| widths.iter().sum::<f64>() + BETWEEN * (widths.len() as f64 - 1.0) <= width;
    let widths = (1..=entries.len()).rev().map(column_widths).find(fits).unwrap_or_else(|| column_widths(1));
    let mut row_top = top;
    for row in entries.chunks(widths.len().max(1)) {
        let mut start = left;
        for ((lines, style), width) in row.iter().zip(&widths) {
            let mut baseline = row_top + TICK_SIZE;
            let middle = baseline - 0.5 * CAP_HEIGHT * TICK_SIZE;
            if style.area {
                let corners = [(0.0, -0.4), (1.0, -0.4), (1.0, 0.4), (0.0, 0.4)];
                let at = |(x, y): (f64, f64)| (start + sample * x, middle + TICK_SIZE * y);
                scene.items.push(Item::Polygon { points: corners.map(at).to_vec(), color: style.color });
            }
            if style.line {
                let line = vec![(start, middle), (start + sample, middle)];
                scene.path(line, style.width, style.color, style.dash.pattern());
            }
            if let Some(marker) = style.marker {
                marker.draw(scene, (start + sample / 2.0, middle), style.color);
            }
            for line in lines {
                scene.text((start + sample + SAMPLE_GAP, baseline), line, TICK_SIZE, Anchor::Start);
                baseline += TICK_SIZE * LINE_HEIGHT;
            }
            start += width + BETWEEN;
        }
        let lines = row.iter().map(|(lines, _)| lines.len()).max().unwrap_or(1);
        row_top += TICK_SIZE * (LINE_HEIGHT + 0.15) * lines.max(1) as f64;
    }
    row_top
}
