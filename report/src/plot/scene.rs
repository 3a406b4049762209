//! What is drawn, in millimetres: a list of paths, polygons, discs and texts that both file formats can render.

/// A position in millimetres; x to the right, y downwards.
pub(super) type Point = (f64, f64);

/// A colour, as red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub u8, pub u8, pub u8);

impl Color {
    /// Black.
    pub const BLACK: Color = Color(0, 0, 0);
    /// White, the background.
    pub const WHITE: Color = Color(255, 255, 255);
    /// A dark grey for frames and reference lines.
    pub const GREY: Color = Color(90, 90, 90);
    /// A light grey for thick lines that others are drawn upon.
    pub const LIGHT_GREY: Color = Color(185, 185, 185);
    /// The palette of Okabe and Ito without its yellow, which vanishes on white paper; distinguishable with the common
    /// colour-vision deficiencies.
    pub const PALETTE: [Color; 7] = [
        Color(0, 114, 178),
        Color(213, 94, 0),
        Color(0, 158, 115),
        Color(204, 121, 167),
        Color(0, 0, 0),
        Color(230, 159, 0),
        Color(86, 180, 233),
    ];
    pub(super) const GRID: Color = Color(226, 226, 226);

    /// The colour mixed with a `part` (0 to 1) of another.
    pub(super) fn mixed(self, other: Color, part: f64) -> Color {
        let mix = |a: u8, b: u8| (f64::from(a) + part * (f64::from(b) - f64::from(a))).round() as u8;
        Color(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }
}

/// The end of a text that its position names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An item to draw. Lengths are in millimetres.
#[derive(Debug, Clone)]
pub(super) enum Item {
    /// Lines with round ends and joins; `dash` are lengths of strokes and gaps, empty for solid lines.
    Path { points: Vec<Point>, width: f64, color: Color, dash: &'static [f64] },
    /// A filled convex polygon.
    Polygon { points: Vec<Point>, color: Color },
    /// The area between two lines with as many points each, at the same x.
    Area { lower: Vec<Point>, upper: Vec<Point>, color: Color },
    /// A filled circle.
    Disc { centre: Point, radius: f64, color: Color },
    /// A text whose baseline goes through `at`; `size` is one em; `upward` text reads from bottom to top.
    Text { at: Point, text: String, size: f64, anchor: Anchor, upward: bool },
    /// Attributes of the next path in SVG files, which say what it shows; bitmaps have no place for them.
    About(Vec<(&'static str, String)>),
}

/// A drawing on white paper.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// Width of the paper.
    pub width: f64,
    /// Height of the paper.
    pub height: f64,
    /// Items to draw, the lowest first.
    pub items: Vec<Item>,
}

impl Scene {
    /// Adds a path unless it has fewer than two points.
    pub fn path(&mut self, points: Vec<Point>, width: f64, color: Color, dash: &'static [f64]) {
        if points.len() > 1 {
            self.items.push(Item::Path { points, width, color, dash });
        }
    }

    /// Adds a solid line.
    pub fn line(&mut self, from: Point, to: Point, width: f64, color: Color) {
        self.path(vec![from, to], width, color, &[]);
    }

    /// Adds all that another scene shows, moved.
    pub fn insert(&mut self, other: Scene, by: Point) {
        let moved = |point: &mut Point| *point = (point.0 + by.0, point.1 + by.1);
        for mut item in other.items {
            match &mut item {
                Item::Path { points, .. } | Item::Polygon { points, .. } => points.iter_mut().for_each(moved),
                Item::Area { lower, upper, .. } => lower.iter_mut().chain(upper).for_each(moved),
                Item::Disc { centre, .. } => moved(centre),
                Item::Text { at, .. } => moved(at),
                Item::About(_) => {}
            }
            self.items.push(item);
        }
    }

    /// Adds a horizontal text.
    pub fn text(&mut self, at: Point, text: &str, size: f64, anchor: Anchor) {
        if !text.is_empty() {
            self.items.push(Item::Text { at, text: text.to_string(), size, anchor, upward: false });
        }
    }

    /// Adds a text that reads from bottom to top.
    pub fn upward_text(&mut self, at: Point, text: &str, size: f64) {
        if !text.is_empty() {
            let text = text.to_string();
            self.items.push(Item::Text { at, text, size, anchor: Anchor::Middle, upward: true });
        }
    }
}
