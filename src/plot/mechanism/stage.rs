//! Where everything goes: the part of the world that is shown, its scale, and what stays where it is in every picture.

use std::collections::HashMap;

use super::super::axis::{Axis, Ticks};
use super::super::layout::{
    CAP_HEIGHT, FRAME_WIDTH, GAP, LABEL_SIZE, LINE_HEIGHT, MARGIN, TICK_LENGTH, TICK_SIZE, ticks_along, ticks_upward,
    widest,
};
use super::super::scene::{Anchor, Color, Item, Point, Scene};
use super::super::text;
use super::shape::{Location, Moment, Outline, Shape};
use crate::sketch::{GROUND, Part, Spot};

/// The path of a sensor: times, and where it was.
pub(super) type Path = Vec<(f64, Location)>;

/// Free space around what is shown, for symbols, mm.
const PADDING: f64 = 5.5;
/// Between panels, mm.
const BETWEEN: f64 = 5.0;
/// Over a panel, for its title, mm.
const TITLE: f64 = LABEL_SIZE * (LINE_HEIGHT + 0.2);
/// Between the axis of a panel and the title below it, mm.
const BELOW: f64 = 1.8;

/// What holds something to the ground.
pub(super) struct Support {
    pub at: Location,
    /// Towards the ground, on paper.
    pub normal: Point,
    /// A joint, or the end of a spring.
    pub joint: bool,
    /// In front of the body, which would hide it.
    pub front: bool,
}

/// One panel: a title and the moments that it shows, the last one on top and not faded.
pub(super) struct Content<'c> {
    pub title: String,
    pub moments: Vec<&'c Moment>,
}

/// What is common to all panels, and to all frames of an animation.
pub(super) struct Stage<'s> {
    pub shape: &'s Shape<'s>,
    pub paths: Vec<Path>,
    /// Size of symbols, 0 to 1.
    pub size: f64,
    pub supports: Vec<Support>,
    /// How far parts with a line go along it, m.
    pub ranges: HashMap<usize, (f64, f64)>,
    /// The largest magnitude of each input.
    pub strongest: Vec<f64>,
    /// The longest arrow, m.
    pub reach: f64,
    /// Whether a joint of the member is at its centre of mass.
    pub jointed: Vec<bool>,
    /// World coordinates at the frame's left lower corner, m.
    low: Location,
    /// mm a metre.
    scale: f64,
    panel: (f64, f64),
    columns: usize,
    ticks: [Ticks; 2],
    left: f64,
    right: f64,
}

/// The smallest box around points, m.
#[derive(Clone, Copy)]
struct Bounds {
    low: Location,
    high: Location,
}

impl Bounds {
    fn add(&mut self, point: Location, radius: f64) {
        for ((low, high), x) in self.low.iter_mut().zip(&mut self.high).zip(point) {
            *low = low.min(x - radius);
            *high = high.max(x + radius);
        }
    }

    fn size(&self) -> Location {
        [self.high[0] - self.low[0], self.high[1] - self.low[1]]
    }
}

fn difference(a: Location, b: Location) -> Location {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: Location, b: Location) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

impl<'s> Stage<'s> {
    /// For `panels` panels that show these moments, on paper of such a width and height at most, mm.
    pub fn new(
        shape: &'s Shape<'s>,
        moments: &[&Moment],
        paths: Vec<Path>,
        panels: usize,
        (width, height): (f64, f64),
    ) -> Self {
        let ranges = ranges(shape, moments);
        let strongest = strongest(moments);
        let mut bounds = bounds(shape, moments, &paths, &ranges);
        let reach = 0.15 * bounds.size()[0].max(bounds.size()[1]);
        for moment in moments {
            for (from, to) in arrows(shape, moment, &strongest, reach) {
                bounds.add(from, 0.0);
                bounds.add(to, 0.0);
            }
        }
        let extent = usable(bounds.size());
        let axes = [Axis::linear("x"), Axis::linear("y")];
        let mut stage = Stage {
            shape,
            paths,
            size: 1.0,
            supports: supports(shape, moments),
            ranges,
            strongest,
            reach,
            jointed: Vec::new(),
            low: [0.0; 2],
            scale: 1.0,
            panel: (0.0, 0.0),
            columns: 1,
            ticks: [Ticks::default(), Ticks::default()],
            left: MARGIN + LABEL_SIZE * LINE_HEIGHT + GAP + text::width("−0.0", TICK_SIZE) + GAP + TICK_LENGTH,
            right: MARGIN + FRAME_WIDTH,
        };
        // labels of the axes take room, and their number and length depend on the room
        for _ in 0..2 {
            stage.arrange(extent, panels, width, height);
            let middle = [0, 1].map(|k| 0.5 * (bounds.low[k] + bounds.high[k]));
            let (wide, high) = (stage.panel.0 / stage.scale, stage.panel.1 / stage.scale);
            stage.low = [middle[0] - 0.5 * wide, middle[1] - 0.5 * high];
            let [x, y] = stage.low;
            stage.ticks = [
                ticks_along(&axes[0], (x, x + wide), stage.panel.0),
                ticks_upward(&axes[1], (y, y + high), stage.panel.1),
            ];
            let [along, upward] = &stage.ticks;
            stage.left = MARGIN + LABEL_SIZE * LINE_HEIGHT + GAP + widest(upward) + GAP + TICK_LENGTH;
            let overhang = along.major.last().map_or(0.0, |(position, label)| {
                0.5 * text::width(label, TICK_SIZE) - (x + wide - position) * stage.scale
            });
            stage.right = MARGIN + overhang.max(FRAME_WIDTH);
        }
        stage.size = (typical(shape, moments) * stage.scale / 8.0).min(1.0);
        stage.jointed = jointed(shape, 2.0 * stage.size / stage.scale);
        stage
    }

    /// Columns and scale such that everything is as large as the paper allows.
    fn arrange(&mut self, extent: Location, panels: usize, width: f64, height: f64) {
        const NARROWEST: f64 = 25.0;
        const LOWEST: f64 = 16.0;
        let below = TICK_LENGTH + GAP + TICK_SIZE + LABEL_SIZE * LINE_HEIGHT + MARGIN;
        let mut best = 0.0;
        for columns in 1..=panels {
            let rows = panels.div_ceil(columns) as f64;
            let wide = (width - self.left - self.right - BETWEEN * (columns as f64 - 1.0)) / columns as f64;
            let high = (height - MARGIN - below + BELOW) / rows - TITLE - BELOW;
            if columns > 1 && wide < NARROWEST {
                break;
            }
            let room = |size: f64| (size - 2.0 * PADDING).max(1.0);
            let scale = (room(wide) / extent[0]).min(room(high) / extent[1]);
            // more columns than needed leave the page empty at its foot, and fewer at its side
            if scale > 1.001 * best {
                best = scale;
                self.scale = scale;
                self.columns = columns;
                let fitting = |extent: f64, least: f64| (scale * extent + 2.0 * PADDING).max(least);
                self.panel = (fitting(extent[0], NARROWEST), fitting(extent[1], LOWEST));
            }
        }
    }

    /// All panels.
    pub fn scene(&self, contents: &[Content<'_>]) -> Scene {
        let columns = self.columns.min(contents.len()).max(1);
        let rows = contents.len().div_ceil(columns);
        let (wide, high) = self.panel;
        let top = |row: usize| MARGIN + TITLE + row as f64 * (high + BELOW + TITLE);
        let left = |column: usize| self.left + column as f64 * (wide + BETWEEN);
        let bottom = top(rows - 1) + high;
        let foot = TICK_LENGTH + GAP + TICK_SIZE + LABEL_SIZE * LINE_HEIGHT + MARGIN;
        let tenths = |size: f64| (size * 10.0).ceil() / 10.0;
        let (width, height) = (tenths(left(columns - 1) + wide + self.right), tenths(bottom + foot));
        let paper = vec![(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)];
        let mut scene = Scene { width, height, items: vec![Item::Polygon { points: paper, color: Color::WHITE }] };
        for (index, content) in contents.iter().enumerate() {
            let view = View {
                low: self.low,
                scale: self.scale,
                left: left(index % columns),
                top: top(index / columns),
                panel: self.panel,
            };
            let title = (view.left, view.top - 0.4 * LABEL_SIZE);
            scene.text(title, &content.title, LABEL_SIZE, Anchor::Start);
            self.draw(&mut scene, &view, &content.moments);
            self.axes(&mut scene, &view, index % columns == 0, index + columns >= contents.len());
        }
        scene
    }

    /// Frame and ticks; labels only where no other panel is in the way.
    fn axes(&self, scene: &mut Scene, view: &View, at_left: bool, at_foot: bool) {
        let (right, bottom) = (view.left + view.panel.0, view.top + view.panel.1);
        let corners =
            vec![(view.left, view.top), (right, view.top), (right, bottom), (view.left, bottom), (view.left, view.top)];
        scene.path(corners, FRAME_WIDTH, Color::BLACK, &[]);
        let label = |name: &str, ticks: &Ticks| format!("{name} [m] {}", ticks.note).trim_end().to_string();
        let [along, upward] = &self.ticks;
        for (position, text) in &along.major {
            let (x, _) = view.at([*position, self.low[1]]);
            scene.line((x, bottom), (x, bottom + TICK_LENGTH), FRAME_WIDTH, Color::BLACK);
            if at_foot {
                let baseline = bottom + TICK_LENGTH + GAP + CAP_HEIGHT * TICK_SIZE;
                scene.text((x, baseline), text, TICK_SIZE, Anchor::Middle);
            }
        }
        for (position, text) in &upward.major {
            let (_, y) = view.at([self.low[0], *position]);
            scene.line((view.left - TICK_LENGTH, y), (view.left, y), FRAME_WIDTH, Color::BLACK);
            if at_left {
                let at = (view.left - TICK_LENGTH - GAP, y + 0.5 * CAP_HEIGHT * TICK_SIZE);
                scene.text(at, text, TICK_SIZE, Anchor::End);
            }
        }
        if at_foot {
            let baseline = bottom + TICK_LENGTH + GAP + TICK_SIZE + 0.95 * LABEL_SIZE;
            scene.text(((view.left + right) / 2.0, baseline), &label("x", along), LABEL_SIZE, Anchor::Middle);
        }
        if at_left {
            let x = view.left - self.left + MARGIN + 0.95 * LABEL_SIZE;
            scene.upward_text((x, (view.top + bottom) / 2.0), &label("y", upward), LABEL_SIZE);
        }
    }
}

/// From the world to one panel.
#[derive(Clone, Copy)]
pub(super) struct View {
    low: Location,
    /// mm a metre.
    pub scale: f64,
    pub left: f64,
    pub top: f64,
    pub panel: (f64, f64),
}

impl View {
    /// Where a position is on paper.
    pub fn at(&self, [x, y]: Location) -> Point {
        let bottom = self.top + self.panel.1;
        (self.left + (x - self.low[0]) * self.scale, bottom - (y - self.low[1]) * self.scale)
    }
}

/// An extent that a scale can be found for: a point, or what lies on a straight line, gets some width.
fn usable([x, y]: Location) -> Location {
    let size = x.max(y);
    let least = if size > 0.0 { 1e-3 * size } else { 1.0 };
    [x.max(least), y.max(least)]
}

/// Where contacts and guides are used, along their lines from their points, m.
fn ranges(shape: &Shape<'_>, moments: &[&Moment]) -> HashMap<usize, (f64, f64)> {
    let mut ranges = HashMap::new();
    for (index, part) in shape.sketch.parts.iter().enumerate() {
        let (spots, direction, radius) = match part {
            Part::Guide { spots, direction, .. } => (spots, direction, 0.0),
            Part::Contact { spots, direction, radius } => (spots, direction, radius.evaluate(&shape.u)),
            _ => continue,
        };
        // a guide on the ground is as long as it is used; on a body it begins at its point
        let mut range = if spots[0].member == GROUND { (f64::INFINITY, f64::NEG_INFINITY) } else { (0.0, 0.0) };
        for moment in moments {
            let along = shape.direction(&spots[0], direction, moment);
            let s = dot(difference(shape.world(&spots[1], moment), shape.world(&spots[0], moment)), along);
            range = (range.0.min(s - radius), range.1.max(s + radius));
        }
        ranges.insert(index, range);
    }
    ranges
}

fn strongest(moments: &[&Moment]) -> Vec<f64> {
    let count = moments.first().map_or(0, |moment| moment.w.len());
    let largest = |k: usize| moments.iter().map(|moment| moment.w[k].abs()).fold(0.0, f64::max);
    (0..count).map(largest).collect()
}

/// The ends of the arrows of all forces.
pub(super) fn arrows(shape: &Shape<'_>, moment: &Moment, strongest: &[f64], reach: f64) -> Vec<(Location, Location)> {
    let arrow = |part: &Part| {
        let Part::Force { spots: [spot], direction, turning, input } = part else { return None };
        let (w, most) = (*moment.w.get(*input)?, *strongest.get(*input)?);
        let own = direction.each_ref().map(|value| value.evaluate(&shape.u));
        let [x, y] = if *turning { moment.pose(spot.member).turn(own) } else { own };
        let factor = reach * w / most / x.hypot(y);
        let from = shape.world(spot, moment);
        factor.is_finite().then(|| (from, [from[0] + factor * x, from[1] + factor * y]))
    };
    shape.sketch.parts.iter().filter_map(arrow).collect()
}

fn bounds(shape: &Shape<'_>, moments: &[&Moment], paths: &[Path], ranges: &HashMap<usize, (f64, f64)>) -> Bounds {
    let mut bounds = Bounds { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };
    for moment in moments {
        for (index, part) in shape.sketch.parts.iter().enumerate() {
            for spot in part.spots() {
                bounds.add(shape.world(spot, moment), 0.0);
            }
            match part {
                Part::Contact { spots, radius, .. } => {
                    bounds.add(shape.world(&spots[1], moment), radius.evaluate(&shape.u).abs());
                }
                Part::Guide { spots, direction, .. } => {
                    let (foot, along) = (shape.world(&spots[0], moment), shape.direction(&spots[0], direction, moment));
                    for s in ranges.get(&index).map_or([0.0; 2], |range| [range.0, range.1]) {
                        bounds.add([foot[0] + s * along[0], foot[1] + s * along[1]], 0.0);
                    }
                }
                Part::Support { .. } => {
                    shape.support(part, moment).iter().for_each(|(support, ..)| bounds.add(*support, 0.0));
                }
                Part::Gears { members, ratio } => {
                    for (center, radius) in
                        wheels(shape, *members, ratio.evaluate(&shape.u), moment).into_iter().flatten()
                    {
                        bounds.add(center, radius);
                    }
                }
                _ => {}
            }
        }
        for (member, outline) in shape.outlines.iter().enumerate().skip(1) {
            let pose = moment.pose(member);
            match outline {
                Outline::Disc(center, radius) => bounds.add(pose.point(*center), *radius),
                Outline::Plate(corners) => corners.iter().for_each(|corner| bounds.add(pose.point(*corner), 0.0)),
                Outline::Bar(ends) => ends.iter().for_each(|end| bounds.add(pose.point(*end), 0.0)),
                Outline::Dot | Outline::Block => bounds.add(shape.center(member, moment), 0.0),
            }
        }
    }
    let last = moments.iter().map(|moment| moment.t).fold(f64::NEG_INFINITY, f64::max);
    for (_, point) in paths.iter().flat_map(|path| path.iter().take_while(|(t, _)| *t <= last)) {
        bounds.add(*point, 0.0);
    }
    bounds
}

/// Pitch circles of gears whose axles are both on the ground and that mesh outside.
pub(super) fn wheels(
    shape: &Shape<'_>,
    [a, b]: [usize; 2],
    ratio: f64,
    moment: &Moment,
) -> Option<[(Location, f64); 2]> {
    let (first, second) = (shape.axle(a, moment)?, shape.axle(b, moment)?);
    let [x, y] = difference(second, first);
    let distance = x.hypot(y);
    // the second turns `ratio` times as far: its radius is the smaller one for a large ratio
    let radius = distance * ratio.abs() / (1.0 + ratio.abs());
    (ratio < 0.0 && distance > 0.0).then_some([(first, radius), (second, distance - radius)])
}

/// Which members have a joint within a distance (m) of their centre of mass.
fn jointed(shape: &Shape<'_>, near: f64) -> Vec<bool> {
    let mut jointed = vec![false; shape.centers.len()];
    for part in &shape.sketch.parts {
        if !matches!(part, Part::Pin(_) | Part::Weld(_) | Part::Rod(_) | Part::Guide { .. }) {
            continue;
        }
        for spot in part.spots() {
            if let Some(center) = shape.centers.get(spot.member) {
                let [x, y] = difference(spot.at(&shape.u), *center);
                jointed[spot.member] |= x.hypot(y) < near;
            }
        }
    }
    jointed
}

/// A typical length of bodies, or else of rods and springs, m: the median.
fn typical(shape: &Shape<'_>, moments: &[&Moment]) -> f64 {
    let Some(moment) = moments.first() else { return f64::INFINITY };
    let length = |points: &[Location]| {
        let pairs = points.iter().flat_map(|a| points.iter().map(move |b| difference(*a, *b)));
        pairs.map(|[x, y]| x.hypot(y)).fold(0.0, f64::max)
    };
    let bodies = shape.outlines.iter().filter_map(|outline| match outline {
        Outline::Bar(ends) => Some(length(ends)),
        Outline::Plate(corners) => Some(length(corners)),
        Outline::Disc(_, radius) => Some(2.0 * radius),
        Outline::Block | Outline::Dot => None,
    });
    let mut lengths: Vec<f64> = bodies.collect();
    if lengths.is_empty() {
        let ends = shape.sketch.parts.iter().filter_map(|part| match part {
            Part::Rod(spots) | Part::Strut { spots, .. } => Some(spots.each_ref().map(|s| shape.world(s, moment))),
            _ => None,
        });
        lengths = ends.map(|ends| length(&ends)).collect();
    }
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Everything that is fixed to the ground at a point; joints go before springs at the same place.
fn supports(shape: &Shape<'_>, moments: &[&Moment]) -> Vec<Support> {
    let mean = |from: Location, to: &dyn Fn(&Moment) -> Location| {
        let sum = moments.iter().fold([0.0; 2], |sum, moment| {
            let [x, y] = difference(to(moment), from);
            [sum[0] + x, sum[1] + y]
        });
        (sum[0], -sum[1])
    };
    let mut supports: Vec<Support> = Vec::new();
    for part in &shape.sketch.parts {
        let (spots, joint) = match part {
            Part::Pin(spots) | Part::Rod(spots) => (spots, true),
            Part::Strut { spots, .. } | Part::Weld(spots) => (spots, false),
            _ => continue,
        };
        let Some(fixed) = spots.iter().position(|spot| spot.member == GROUND) else { continue };
        let (ground, other): (&Spot, &Spot) = (&spots[fixed], &spots[1 - fixed]);
        let Some(at) = moments.first().map(|moment| shape.world(ground, moment)) else { continue };
        let (x, y) = match part {
            Part::Pin(_) => mean(at, &|moment| shape.center(other.member, moment)),
            _ => mean(at, &|moment| shape.world(other, moment)),
        };
        let normal = match joint {
            // what hangs is held from above
            true if y > 0.2 * x.hypot(y) => (0.0, -1.0),
            false if x.abs() > y.abs() => (-x.signum(), 0.0),
            false if y > 0.0 => (0.0, -1.0),
            _ => (0.0, 1.0),
        };
        let front = matches!(shape.outlines.get(other.member), Some(Outline::Disc(..)));
        let same = supports.iter_mut().find(|support| support.at == at);
        match same {
            Some(support) if joint && !support.joint => *support = Support { at, normal, joint, front },
            Some(_) => {}
            None => supports.push(Support { at, normal, joint, front }),
        }
    }
    supports
}
