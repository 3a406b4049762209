//! Where everything goes: the part of the world that is shown, its scale, and what stays where it is in every picture.

use std::collections::HashMap;

use super::super::axis::{Axis, Ticks};
use super::super::layout::{
    CAP_HEIGHT, FRAME_WIDTH, GAP, LABEL_SIZE, LINE_HEIGHT, MARGIN, TICK_LENGTH, TICK_SIZE, ticks_along, ticks_upward,
    widest,
};
use super::super::scene::{Anchor, Color, Item, Point, Scene};
use super::super::text;
use super::corner;
use super::extent::{Support, arrows, bounds, hollow, jointed, ranges, strongest, supports, typical};
use super::shape::{Location, Moment, Pose, Shape};
use super::view::Projection;
use costate::sketch::Part;

/// The path of a sensor: times, and where it was.
pub(super) type Path = Vec<(f64, Location)>;

/// Free space around what is shown, for symbols, and for the walls of guides in space, mm.
const PADDING: f64 = 5.5;
const WIDE_PADDING: f64 = 9.5;
/// Between panels, mm.
const BETWEEN: f64 = 5.0;
/// Over a panel, for its title, mm.
const TITLE: f64 = LABEL_SIZE * (LINE_HEIGHT + 0.2);
/// Between the axis of a panel and the title below it, mm.
const BELOW: f64 = 1.8;

/// One panel: a title and the moments that it shows, the last one on top and not faded.
pub(super) struct Content<'c> {
    pub title: String,
    pub moments: Vec<&'c Moment>,
}

/// Settings that all panels share, and all frames of an animation.
pub(super) struct Stage<'s> {
    pub shape: &'s Shape<'s>,
    pub projection: Projection,
    pub paths: Vec<Path>,
    /// Size of symbols, 0 to 1.
    pub size: f64,
    pub supports: Vec<Support>,
    /// Ranges of parts with a line along it, m.
    pub ranges: HashMap<usize, (f64, f64)>,
    /// The largest magnitude of each part that is a force or a torque.
    pub strongest: Vec<f64>,
    /// The longest arrow, m.
    pub reach: f64,
    /// True for each member with a smaller body inside its solid.
    pub hollow: Vec<bool>,
    /// True for each member with a joint at its centre of mass.
    pub jointed: Vec<bool>,
    /// Projected position of the frame's left lower corner, m.
    low: [f64; 2],
    /// Scale, mm a metre.
    scale: f64,
    panel: (f64, f64),
    padding: f64,
    columns: usize,
    /// Names and ticks of both axes, if they are axes of the world.
    axes: Option<[(&'static str, Ticks); 2]>,
    left: f64,
    right: f64,
}

impl<'s> Stage<'s> {
    /// A stage for `panels` panels that show these moments, on paper of such a width and height at most, mm.
    pub fn new(
        shape: &'s Shape<'s>,
        projection: Projection,
        moments: &[&Moment],
        paths: Vec<Path>,
        panels: usize,
        (width, height): (f64, f64),
    ) -> Self {
        let ranges = ranges(shape, moments);
        let strongest = strongest(shape, moments);
        let mut bounds = bounds(shape, moments, &paths, &ranges, &projection);
        let reach = 0.15 * bounds.size()[0].max(bounds.size()[1]);
        for moment in moments {
            for (from, to) in arrows(shape, moment, &strongest, reach) {
                bounds.add(projection.at(from), 0.0);
                bounds.add(projection.at(to), 0.0);
            }
        }
        let extent = usable(bounds.size());
        let names = projection.axes();
        let guided = shape.sketch.parts.iter().any(|part| matches!(part, Part::Guide { .. }));
        let numbers = if names.is_some() { text::width("−0.0", TICK_SIZE) } else { 0.0 };
        let mut stage = Stage {
            shape,
            projection,
            paths,
            size: 1.0,
            supports: supports(shape, moments, &projection),
            ranges,
            strongest,
            reach,
            hollow: hollow(shape, moments),
            jointed: Vec::new(),
            low: [0.0; 2],
            scale: 1.0,
            panel: (0.0, 0.0),
            padding: if shape.sketch.in_space && guided { WIDE_PADDING } else { PADDING },
            columns: 1,
            axes: None,
            left: left(numbers),
            right: MARGIN + FRAME_WIDTH,
        };
        // labels of the axes take room, and their number and length depend on the room
        for _ in 0..2 {
            stage.arrange(extent, panels, width, height);
            let middle = [0, 1].map(|k| 0.5 * (bounds.low[k] + bounds.high[k]));
            let (wide, high) = (stage.panel.0 / stage.scale, stage.panel.1 / stage.scale);
            stage.low = [middle[0] - 0.5 * wide, middle[1] - 0.5 * high];
            let Some([along, upward]) = names else {
                stage.left = MARGIN + FRAME_WIDTH;
                continue;
            };
            stage.scales([along, upward], [wide, high]);
        }
        stage.size = (typical(shape, moments) * stage.scale / 8.0).min(1.0);
        stage.jointed = jointed(shape, 2.0 * stage.size / stage.scale);
        stage
    }

    /// Axes along the panels, which show so much, and the room that their labels take.
    fn scales(&mut self, [along, upward]: [&'static str; 2], [wide, high]: [f64; 2]) {
        let [x, y] = self.low;
        let ticks = [
            (along, ticks_along(&Axis::linear(along), (x, x + wide), self.panel.0)),
            (upward, ticks_upward(&Axis::linear(upward), (y, y + high), self.panel.1)),
        ];
        self.left = left(widest(&ticks[1].1));
        let overhang =
            ticks[0].1.major.last().map_or(0.0, |(position, label)| {
                0.5 * text::width(label, TICK_SIZE) - (x + wide - position) * self.scale
            });
        self.right = MARGIN + overhang.max(FRAME_WIDTH);
        self.axes = Some(ticks);
    }

    /// Columns and scale such that everything is as large as the paper allows.
    fn arrange(&mut self, extent: [f64; 2], panels: usize, width: f64, height: f64) {
        const NARROWEST: f64 = 25.0;
        const LOWEST: f64 = 16.0;
        let below = self.foot();
        let mut best = 0.0;
        for columns in 1..=panels {
            let rows = panels.div_ceil(columns) as f64;
            let wide = (width - self.left - self.right - BETWEEN * (columns as f64 - 1.0)) / columns as f64;
            let high = (height - MARGIN - below + BELOW) / rows - TITLE - BELOW;
            if columns > 1 && wide < NARROWEST {
                break;
            }
            let room = |size: f64| (size - 2.0 * self.padding).max(1.0);
            let scale = (room(wide) / extent[0]).min(room(high) / extent[1]);
            // more columns than needed leave the page empty at its foot, and fewer at its side
            if scale > 1.001 * best {
                best = scale;
                self.scale = scale;
                self.columns = columns;
                let fitting = |extent: f64, least: f64| (scale * extent + 2.0 * self.padding).max(least);
                self.panel = (fitting(extent[0], NARROWEST), fitting(extent[1], LOWEST));
            }
        }
    }

    /// Below the lowest panels, mm.
    fn foot(&self) -> f64 {
        if self.projection.axes().is_some() {
            TICK_LENGTH + GAP + TICK_SIZE + LABEL_SIZE * LINE_HEIGHT + MARGIN
        } else {
            corner::HEIGHT + GAP + MARGIN
        }
    }

    /// Draws all panels.
    pub fn scene(&self, contents: &[Content<'_>]) -> Scene {
        let columns = self.columns.min(contents.len()).max(1);
        let rows = contents.len().div_ceil(columns);
        let (wide, high) = self.panel;
        let top = |row: usize| MARGIN + TITLE + row as f64 * (high + BELOW + TITLE);
        let left = |column: usize| self.left + column as f64 * (wide + BETWEEN);
        let bottom = top(rows - 1) + high;
        let foot = self.foot();
        let tenths = |size: f64| (size * 10.0).ceil() / 10.0;
        let (width, height) = (tenths(left(columns - 1) + wide + self.right), tenths(bottom + foot));
        let paper = vec![(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)];
        let mut scene = Scene { width, height, items: vec![Item::Polygon { points: paper, color: Color::WHITE }] };
        for (index, content) in contents.iter().enumerate() {
            let paper = Paper {
                projection: self.projection,
                low: self.low,
                scale: self.scale,
                left: left(index % columns),
                top: top(index / columns),
                panel: self.panel,
            };
            let title = (paper.left, paper.top - 0.4 * LABEL_SIZE);
            scene.text(title, &content.title, LABEL_SIZE, Anchor::Start);
            self.draw(&mut scene, &paper, &content.moments);
            self.frame(&mut scene, &paper, index % columns == 0, index + columns >= contents.len());
        }
        if self.axes.is_none() {
            corner::axes(&mut scene, &self.projection, (self.left, bottom + GAP));
            corner::bar(&mut scene, self.scale, wide, (left(columns - 1) + wide, bottom + GAP));
        }
        scene
    }

    /// Frame and ticks; labels only where no other panel is in the way.
    fn frame(&self, scene: &mut Scene, paper: &Paper, at_left: bool, at_foot: bool) {
        let (right, bottom) = (paper.left + paper.panel.0, paper.top + paper.panel.1);
        let corners = vec![
            (paper.left, paper.top),
            (right, paper.top),
            (right, bottom),
            (paper.left, bottom),
            (paper.left, paper.top),
        ];
        scene.path(corners, FRAME_WIDTH, Color::BLACK, &[]);
        let Some([(x_name, along), (y_name, upward)]) = &self.axes else { return };
        let label = |name: &str, ticks: &Ticks| format!("{name} [m] {}", ticks.note).trim_end().to_string();
        for (position, text) in &along.major {
            let (x, _) = paper.place([*position, self.low[1]]);
            scene.line((x, bottom), (x, bottom + TICK_LENGTH), FRAME_WIDTH, Color::BLACK);
            if at_foot {
                let baseline = bottom + TICK_LENGTH + GAP + CAP_HEIGHT * TICK_SIZE;
                scene.text((x, baseline), text, TICK_SIZE, Anchor::Middle);
            }
        }
        for (position, text) in &upward.major {
            let (_, y) = paper.place([self.low[0], *position]);
            scene.line((paper.left - TICK_LENGTH, y), (paper.left, y), FRAME_WIDTH, Color::BLACK);
            if at_left {
                let at = (paper.left - TICK_LENGTH - GAP, y + 0.5 * CAP_HEIGHT * TICK_SIZE);
                scene.text(at, text, TICK_SIZE, Anchor::End);
            }
        }
        if at_foot {
            let baseline = bottom + TICK_LENGTH + GAP + TICK_SIZE + 0.95 * LABEL_SIZE;
            scene.text(((paper.left + right) / 2.0, baseline), &label(x_name, along), LABEL_SIZE, Anchor::Middle);
        }
        if at_left {
            let x = paper.left - self.left + MARGIN + 0.95 * LABEL_SIZE;
            scene.upward_text((x, (paper.top + bottom) / 2.0), &label(y_name, upward), LABEL_SIZE);
        }
    }
}

/// The margin left of a panel with numbers of a width, mm.
fn left(numbers: f64) -> f64 {
    MARGIN + LABEL_SIZE * LINE_HEIGHT + GAP + numbers + GAP + TICK_LENGTH
}

/// The transformation from the world to the paper of one panel.
#[derive(Clone, Copy)]
pub(super) struct Paper {
    projection: Projection,
    low: [f64; 2],
    /// Scale, mm a metre.
    pub scale: f64,
    pub left: f64,
    pub top: f64,
    pub panel: (f64, f64),
}

impl Paper {
    /// Point on paper of a projected position.
    fn place(&self, [x, y]: [f64; 2]) -> Point {
        let bottom = self.top + self.panel.1;
        (self.left + (x - self.low[0]) * self.scale, bottom - (y - self.low[1]) * self.scale)
    }

    /// Point on paper of a position.
    pub fn at(&self, location: Location) -> Point {
        self.place(self.projection.at(location))
    }

    /// Nearness of a position to the viewer, m.
    pub fn near(&self, location: Location) -> f64 {
        self.projection.near(location)
    }

    /// The unit vector towards the viewer.
    pub fn viewer(&self) -> Location {
        self.projection.viewer()
    }

    /// A vector in its own unit.
    pub fn along(&self, vector: Location) -> Point {
        let [x, y] = self.projection.at(vector);
        (x, -y)
    }

    /// The angle of a member's first axis, as on paper, rad.
    pub fn angle(&self, pose: Pose) -> f64 {
        let (x, y) = self.along(pose.rotation.axis(0));
        y.atan2(x)
    }
}

/// An extent that a scale can be found for: a point, or what lies on a straight line, gets some width.
fn usable([x, y]: [f64; 2]) -> [f64; 2] {
    let size = x.max(y);
    let least = if size > 0.0 { 1e-3 * size } else { 1.0 };
    [x.max(least), y.max(least)]
}
