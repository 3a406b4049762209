//! From a scene to an SVG text or a PNG file, both by way of plotters' backends.
//!
//! plotters draws in whole pixels, knows no dashes, and fills thick lines as polygons with defects where they turn back.
//! So the SVG is drawn at 50 pixels a millimetre and its header and lines are then completed, and in bitmaps every piece
//! of a line is a small convex polygon. Letters in bitmaps are drawn from their outlines. So are scenes on drawing areas of others.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Display;

use ab_glyph::{Font as _, PxScale};
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Drawable, PointCollection};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::DrawingErrorKind;

use super::scene::{Anchor, Color, Item, Point, Scene};
use super::text::{self, HEIGHT_PER_EM, RAISED_BY, RAISED_SIZE};
use costate_identify::{Error, Result};

/// Pixels a millimetre in SVG files, before scaling.
const SVG_SCALE: f64 = 50.0;

/// Pixels a metre in PNG files: 300 dpi.
const PNG_PIXELS_PER_METRE: u32 = 11_811;

/// plotters' SVG backend divides font sizes by this to get one em.
const SVG_SIZE_PER_EM: f64 = 1.24;

pub(super) fn failed(reason: impl Display) -> Error {
    Error::invalid("the figure", format!("drawing failed: {reason}"), "please report this with the data of the figure")
}

fn pixel(point: Point, scale: f64) -> (i32, i32) {
    ((point.0 * scale).round() as i32, (point.1 * scale).round() as i32)
}

fn filled(color: Color) -> ShapeStyle {
    RGBColor(color.0, color.1, color.2).filled()
}

fn text_style(size: f64, anchor: Anchor, upward: bool) -> TextStyle<'static> {
    let font = (text::FAMILY, size).into_font();
    let font = if upward { font.transform(FontTransform::Rotate270) } else { font };
    let horizontal = match anchor {
        Anchor::Start => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::End => HPos::Right,
    };
    TextStyle::from(font).pos(Pos::new(horizontal, VPos::Top))
}

/// A point by `along` further in the reading direction and `down` lower on the page as the reader of the text sees it.
fn shifted(at: Point, along: f64, down: f64, upward: bool) -> Point {
    if upward { (at.0 + down, at.1 - along) } else { (at.0 + along, at.1 + down) }
}

/// The scene as SVG.
pub(super) fn svg(scene: &Scene) -> Result<String> {
    let size = pixel((scene.width, scene.height), SVG_SCALE);
    let mut raw = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut raw, (size.0.unsigned_abs(), size.1.unsigned_abs()));
        for item in &scene.items {
            svg_item(&mut backend, item)?;
        }
        backend.present().map_err(failed)?;
    }
    let mut about: &[(&str, String)] = &[];
    let mut paths = scene.items.iter().filter_map(|item| match item {
        Item::Path { dash, .. } => Some((*dash, std::mem::take(&mut about))),
        Item::About(attributes) => {
            about = attributes;
            None
        }
        _ => None,
    });
    let mut svg = String::with_capacity(raw.len() + 4096);
    let mut lines = raw.lines();
    // plotters writes one element a line, in the order of the scene, and a text's content on a line of its own.
    while let Some(line) = lines.next() {
        if line.starts_with("<svg ") {
            svg.push_str(&format!(
                "<svg width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {} {}\" xmlns=\"http://www.w3.org/2000/svg\" \
                 stroke-linecap=\"round\" stroke-linejoin=\"round\">\n",
                scene.width, scene.height, size.0, size.1
            ));
        } else if let Some(rest) = line.strip_prefix("<polyline ") {
            svg.push_str("<polyline ");
            let (dash, about) = paths.next().unwrap_or_default();
            if !dash.is_empty() {
                let lengths: Vec<String> = dash.iter().map(|d| format!("{}", (d * SVG_SCALE).round())).collect();
                svg.push_str(&format!("stroke-dasharray=\"{}\" ", lengths.join(" ")));
            }
            for (name, value) in about {
                svg.push_str(&format!("{name}=\"{}\" ", text::escaped(value)));
            }
            svg.push_str(&rest.replace("opacity=\"1\" ", ""));
            svg.push('\n');
        } else if line.starts_with("<text ") {
            svg.push_str(&line.replace("opacity=\"1\" ", ""));
            svg.push_str(lines.next().unwrap_or("")); // without line breaks, which some viewers take for blanks
        } else {
            svg.push_str(&line.replace("opacity=\"1\" ", ""));
            svg.push('\n');
        }
    }
    Ok(svg)
}

/// A piece of a text with its size and position, and which end of it is there.
type Piece = (String, f64, Point, Anchor);

/// Splits a text where superscripts begin and end. Viewers may have another font: pieces are anchored so that differences
/// in width move the text's free end.
fn pieces(text: &str, at: Point, size: f64, anchor: Anchor, upward: bool) -> Vec<Piece> {
    let mut runs = text::runs(text);
    if let ([(run, false)], true) = (runs.as_slice(), anchor == Anchor::Middle) {
        return vec![(run.clone(), size, at, anchor)];
    }
    let backwards = anchor == Anchor::End;
    if backwards {
        runs.reverse();
    }
    let mut along = if anchor == Anchor::Middle { -text::width(text, size) / 2.0 } else { 0.0 };
    let mut pieces = Vec::new();
    for (run, raised) in runs {
        let (size, rise) = if raised { (size * RAISED_SIZE, size * RAISED_BY) } else { (size, 0.0) };
        // Viewers drop blanks at the ends: they become distance.
        let (visible, direction, anchor) = match backwards {
            true => (run.trim_end(), -1.0, Anchor::End),
            false => (run.trim_start(), 1.0, Anchor::Start),
        };
        let width = text::width(visible, size);
        along += direction * (text::width(&run, size) - width);
        pieces.push((visible.to_string(), size, shifted(at, along, -rise, upward), anchor));
        along += direction * width;
    }
    pieces
}

fn svg_item(backend: &mut SVGBackend, item: &Item) -> Result<()> {
    match item {
        Item::Path { points, width, color, .. } => {
            let stroke = (width * SVG_SCALE).round().max(1.0) as u32;
            let style = filled(*color).stroke_width(stroke);
            let mut pixels: Vec<(i32, i32)> = points.iter().map(|p| pixel(*p, SVG_SCALE)).collect();
            // Equal neighbours add nothing, but a line of one pixel must keep both of its ends.
            if pixels.len() > 2 {
                pixels.dedup();
            }
            if pixels.len() == 1 {
                pixels.push(pixels[0]);
            }
            backend.draw_path(pixels, &style).map_err(failed)
        }
        Item::Polygon { points, color } => {
            let pixels: Vec<(i32, i32)> = points.iter().map(|p| pixel(*p, SVG_SCALE)).collect();
            backend.fill_polygon(pixels, &filled(*color)).map_err(failed)
        }
        Item::Area { lower, upper, color } => {
            let pixels = lower.iter().chain(upper.iter().rev()).map(|p| pixel(*p, SVG_SCALE));
            backend.fill_polygon(pixels.collect::<Vec<_>>(), &filled(*color)).map_err(failed)
        }
        Item::Disc { centre, radius, color } => {
            let radius = (radius * SVG_SCALE).round().max(1.0) as u32;
            backend.draw_circle(pixel(*centre, SVG_SCALE), radius, &filled(*color), true).map_err(failed)
        }
        Item::Text { at, text, size, anchor, upward } => {
            for (piece, size, at, anchor) in pieces(text, *at, *size, *anchor, *upward) {
                // plotters puts the baseline of what it calls top-aligned text 0.76 em below the position.
                let at = pixel(shifted(at, 0.0, -0.76 * size, *upward), SVG_SCALE);
                let style = text_style(size * SVG_SIZE_PER_EM * SVG_SCALE, anchor, *upward);
                backend.draw_text(&piece, &style, at).map_err(failed)?;
            }
            Ok(())
        }
        // attributes are added when the text is completed
        Item::About(_) => Ok(()),
    }
}

/// A picture of so many columns and rows: red, green and blue of each pixel, row by row.
pub(super) struct Pixels {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

/// The scene in pixels, `scale` a millimetre.
pub(super) fn pixels(scene: &Scene, scale: f64) -> Result<Pixels> {
    /// Bounds the memory of large figures: pixels that are drawn before shrinking.
    const MOST_PIXELS: usize = 40_000_000;
    let (width, height) = pixel((scene.width, scene.height), scale);
    let (width, height) = (width.unsigned_abs() as usize, height.unsigned_abs() as usize);
    let shrink = (1..=4).rev().find(|s| width * height * s * s <= MOST_PIXELS).unwrap_or(1);
    let (wide, high) = (width * shrink, height * shrink);
    let mut large = vec![255u8; 3 * wide * high];
    {
        let mut backend = BitMapBackend::with_buffer(&mut large, (wide as u32, high as u32));
        for item in &scene.items {
            draw_item(&mut backend, item, scale * shrink as f64).map_err(failed)?;
        }
        backend.present().map_err(failed)?;
    }
    Ok(Pixels { width, height, rgb: shrunk(&large, wide, width, height, shrink) })
}

/// The scene as a PNG file of 300 dpi.
pub(super) fn png(scene: &Scene) -> Result<Vec<u8>> {
    let Pixels { width, height, rgb } = pixels(scene, f64::from(PNG_PIXELS_PER_METRE) / 1000.0)?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: PNG_PIXELS_PER_METRE,
        yppu: PNG_PIXELS_PER_METRE,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&rgb).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// Averages squares of `factor` x `factor` pixels.
fn shrunk(large: &[u8], wide: usize, width: usize, height: usize, factor: usize) -> Vec<u8> {
    let mut small = Vec::with_capacity(3 * width * height);
    let mut sums = vec![0u32; 3 * width];
    let count = (factor * factor) as u32;
    for rows in large.chunks_exact(3 * wide * factor) {
        sums.fill(0);
        for row in rows.chunks_exact(3 * wide) {
            for (sum, square) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * factor)) {
                for rgb in square.chunks_exact(3) {
                    sum.iter_mut().zip(rgb).for_each(|(s, c)| *s += u32::from(*c));
                }
            }
        }
        small.extend(sums.iter().map(|s| ((s + count / 2) / count) as u8));
    }
    small
}

/// A scene whose corner is at the origin of a drawing area, `scale` pixels a millimetre.
struct Placed<'s> {
    scene: &'s Scene,
    scale: f64,
}

impl<'a> PointCollection<'a, (i32, i32)> for &'a Placed<'_> {
    type Point = (i32, i32);
    type IntoIter = std::iter::Once<(i32, i32)>;

    fn point_iter(self) -> Self::IntoIter {
        std::iter::once((0, 0))
    }
}

impl<B: DrawingBackend> Drawable<B> for Placed<'_> {
    fn draw<I: Iterator<Item = (i32, i32)>>(&self, mut at: I, backend: &mut B, _: (u32, u32)) -> Drawn<B> {
        // where the area begins in what it is a part of
        let (right, down) = at.next().unwrap_or_default();
        let mut moved = Scene { width: self.scene.width, height: self.scene.height, items: Vec::new() };
        moved.insert(self.scene.clone(), (f64::from(right) / self.scale, f64::from(down) / self.scale));
        moved.items.iter().try_for_each(|item| draw_item(backend, item, self.scale))
    }
}

/// The scene as large as it fits into the upper left of an area.
pub(super) fn on_area<B: DrawingBackend>(scene: &Scene, area: &DrawingArea<B, Shift>) -> Result<()> {
    let (width, height) = area.dim_in_pixel();
    let scale = (f64::from(width) / scene.width).min(f64::from(height) / scene.height);
    if scale <= 0.0 {
        let problem = format!("it is {width} by {height} pixels");
        return Err(Error::invalid("the drawing area", problem, "give one with room for a figure"));
    }
    area.draw(&Placed { scene, scale }).map_err(failed)
}

/// Result of a backend's drawing.
type Drawn<B> = std::result::Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

fn draw_item<B: DrawingBackend>(backend: &mut B, item: &Item, scale: f64) -> Drawn<B> {
    match item {
        Item::Path { points, width, color, dash } => {
            let style = filled(*color);
            let mut draw = |a: Point, b: Point| -> Drawn<B> {
                let outline = capsule(a, b, width / 2.0).map(|p| pixel(p, scale));
                backend.fill_polygon(outline, &style)
            };
            if dash.is_empty() {
                points.windows(2).try_for_each(|pair| draw(pair[0], pair[1]))
            } else {
                strokes(points, dash).into_iter().try_for_each(|(a, b)| draw(a, b))
            }
        }
        Item::Polygon { points, color } => {
            let pixels: Vec<(i32, i32)> = points.iter().map(|p| pixel(*p, scale)).collect();
            backend.fill_polygon(pixels, &filled(*color))
        }
        Item::Area { lower, upper, color } => {
            let pairs = lower.windows(2).zip(upper.windows(2));
            pairs.into_iter().try_for_each(|(below, above)| {
                let corners = [below[0], below[1], above[1], above[0]].map(|p| pixel(p, scale));
                backend.fill_polygon(corners, &filled(*color))
            })
        }
        Item::Disc { centre, radius, color } => {
            let outline = capsule(*centre, *centre, *radius).map(|p| pixel(p, scale));
            backend.fill_polygon(outline, &filled(*color))
        }
        Item::Text { at, text, size, anchor, upward } => {
            for (piece, size, at, anchor) in pieces(text, *at, *size, *anchor, *upward) {
                let mut along = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => -text::width(&piece, size) / 2.0,
                    Anchor::End => -text::width(&piece, size),
                };
                for letter in piece.chars() {
                    draw_letter(backend, letter, shifted(at, along, 0.0, *upward), size, *upward, scale)?;
                    along += size * text::advance(letter);
                }
            }
            Ok(())
        }
        Item::About(_) => Ok(()),
    }
}

/// Draws a letter that begins at `at` on its baseline.
fn draw_letter<B: DrawingBackend>(
    backend: &mut B,
    letter: char,
    at: Point,
    size: f64,
    upward: bool,
    scale: f64,
) -> Drawn<B> {
    let unreadable = || DrawingErrorKind::FontError(Box::from("the shipped font cannot be read"));
    let font = text::font().ok_or_else(unreadable)?;
    let height = PxScale::from((size * HEIGHT_PER_EM * scale) as f32);
    // Blanks have no outline.
    let Some(outline) = font.outline_glyph(font.glyph_id(letter).with_scale(height)) else { return Ok(()) };
    let corner = outline.px_bounds().min;
    let origin = pixel(at, scale);
    let (columns, rows) = backend.get_size();
    let mut result = Ok(());
    outline.draw(|x, y, coverage| {
        let (x, y) = (x as i32 + corner.x as i32, y as i32 + corner.y as i32);
        let (x, y) = if upward { (origin.0 + y, origin.1 - x) } else { (origin.0 + x, origin.1 + y) };
        let inside = (0..columns as i32).contains(&x) && (0..rows as i32).contains(&y);
        if inside && coverage > 0.0 && result.is_ok() {
            let color = RGBColor(0, 0, 0).mix(f64::from(coverage.min(1.0)));
            result = backend.draw_pixel((x, y), color.to_backend_color());
        }
    });
    result
}

/// The outline of a line piece with round ends.
fn capsule(a: Point, b: Point, radius: f64) -> [Point; 24] {
    let direction = (b.1 - a.1).atan2(b.0 - a.0);
    std::array::from_fn(|i| {
        let (centre, start, i) =
            if i < 12 { (b, direction - FRAC_PI_2, i) } else { (a, direction + FRAC_PI_2, i - 12) };
        let angle = start + PI * i as f64 / 11.0;
        (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
    })
}

/// The strokes of a dashed line.
fn strokes(points: &[Point], dash: &[f64]) -> Vec<(Point, Point)> {
    let mut strokes = Vec::new();
    let (mut entry, mut left) = (0, dash[0]); // callers give a pattern
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let length = (b.0 - a.0).hypot(b.1 - a.1);
        let at = |s: f64| (a.0 + (b.0 - a.0) * s / length, a.1 + (b.1 - a.1) * s / length);
        let mut done = 0.0;
        while length > 0.0 && done < length {
            let end = (done + left).min(length);
            if entry % 2 == 0 {
                strokes.push((at(done), at(end)));
            }
            left -= end - done;
            done = end;
            if left <= 1e-9 {
                entry = (entry + 1) % dash.len();
                left = dash[entry];
            }
        }
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects blanks next to superscripts, which SVG viewers drop, and the order of pieces that are placed backwards.
    #[test]
    fn pieces_of_a_text_leave_room_for_blanks() {
        let blank = 10.0 * text::advance(' ');
        let ten = text::width("10⁶", 10.0);
        let forwards = pieces("10⁶ N", (1.0, 0.0), 10.0, Anchor::Start, false);
        let texts: Vec<&str> = forwards.iter().map(|piece| piece.0.as_str()).collect();
        assert_eq!(texts, ["10", "6", "N"]);
        assert!((forwards[2].2.0 - (1.0 + ten + blank)).abs() < 1e-12);
        let backwards = pieces("N 10⁶", (0.0, 0.0), 10.0, Anchor::End, false);
        let texts: Vec<&str> = backwards.iter().map(|piece| piece.0.as_str()).collect();
        assert_eq!(texts, ["6", "N 10"]);
        assert!((backwards[1].2.0 + text::width("⁶", 10.0)).abs() < 1e-12 && backwards[1].2.1 == 0.0);
    }

    /// Protects dashed lines in bitmaps: strokes and gaps go on around corners.
    #[test]
    fn dashes_go_around_corners() {
        let strokes = strokes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 3.0)], &[2.0, 0.5]);
        assert_eq!(strokes.len(), 4);
        assert_eq!(strokes[1], ((2.5, 0.0), (3.0, 0.0)));
        assert_eq!(strokes[2], ((3.0, 0.0), (3.0, 1.5)));
    }
}
