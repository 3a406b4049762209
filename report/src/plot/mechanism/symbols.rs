//! The symbols of parts, on paper: lengths in mm, y downwards.

use std::f64::consts::{PI, TAU};

use super::super::scene::{Color, Item, Point, Scene};

/// Outlines, rods and springs.
pub(super) const INK: Color = Color(50, 50, 50);
/// Things that do not move.
pub(super) const FIXED: Color = Color(120, 120, 120);
/// Bodies, in turn.
pub(super) const FILLS: [Color; 3] = [Color(186, 213, 233), Color(246, 212, 184), Color(186, 228, 212)];
/// Paths of sensors, in turn.
pub(super) const PATHS: [Color; 3] = [Color(213, 94, 0), Color(0, 114, 178), Color(0, 158, 115)];
/// Applied forces and torques.
pub(super) const LOAD: Color = Color(204, 60, 120);

/// Planes that things lie on: a shade of what does not move that animations have.
const FLOOR: Color = Color(233, 233, 233);

/// Draws on a scene, with symbols of a size, perhaps faded; nearer things cover farther ones.
pub(super) struct Pen<'s> {
    scene: &'s mut Scene,
    /// Size of symbols; 1 is that for bodies with enough room.
    pub size: f64,
    /// Part of white that is mixed to every colour, 0 to 1.
    pub fade: f64,
    /// Nearness to the viewer at which it draws, m.
    pub near: f64,
    /// Items that are not on the scene yet, with their nearness.
    waiting: Vec<(f64, Item)>,
}

/// Two vectors on paper that unit vectors of space look like: across an axis, and after a quarter of a turn clockwise about it.
pub(super) type Plane = [Point; 2];

/// Length and unit vector of the way between two points; none if they are one.
fn along(a: Point, b: Point) -> Option<(f64, Point)> {
    let (x, y) = (b.0 - a.0, b.1 - a.1);
    let length = x.hypot(y);
    (length > 1e-3).then(|| (length, (x / length, y / length)))
}

/// `s` along and `n` to the right (on paper) of a direction.
fn beside(from: Point, (x, y): Point, s: f64, n: f64) -> Point {
    (from.0 + s * x - n * y, from.1 + s * y + n * x)
}

/// A point of a plane at an angle that counts clockwise about its axis.
fn around(centre: Point, [x, y]: Plane, angle: f64, radius: f64) -> Point {
    let (sin, cos) = angle.sin_cos();
    (centre.0 + radius * (cos * x.0 + sin * y.0), centre.1 + radius * (cos * x.1 + sin * y.1))
}

impl<'s> Pen<'s> {
    pub fn new(scene: &'s mut Scene, size: f64) -> Self {
        Pen { scene, size, fade: 0.0, near: 0.0, waiting: Vec::new() }
    }

    /// Puts all that waits on the scene: farther things first, and first things first where they are equally near.
    pub fn lay_down(&mut self) {
        self.waiting.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.scene.items.extend(self.waiting.drain(..).map(|(_, item)| item));
    }

    fn push(&mut self, item: Item) {
        let finite = |point: &Point| point.0.is_finite() && point.1.is_finite();
        let drawable = match &item {
            Item::Path { points, .. } => points.len() > 1 && points.iter().all(finite),
            Item::Polygon { points, .. } => points.iter().all(finite),
            Item::Area { lower, upper, .. } => lower.iter().chain(upper).all(finite),
            Item::Disc { centre, radius, .. } => finite(centre) && radius.is_finite(),
            Item::Text { at, .. } => finite(at),
            Item::About(_) => true,
        };
        if drawable {
            // without the sign of zero, which would part what is equally near
            self.waiting.push((self.near + 0.0, item));
        }
    }

    fn tone(&self, color: Color) -> Color {
        color.mixed(Color::WHITE, self.fade)
    }

    /// Width of thin lines.
    pub fn thin(&self) -> f64 {
        0.28 * self.size.max(0.6)
    }

    /// Half the width of bars.
    fn half_bar(&self) -> f64 {
        0.85 * self.size
    }

    pub fn path(&mut self, points: Vec<Point>, width: f64, color: Color) {
        let color = self.tone(color);
        self.push(Item::Path { points, width, color, dash: &[] });
    }

    pub fn dashed(&mut self, points: Vec<Point>, width: f64, color: Color) {
        let color = self.tone(color);
        self.push(Item::Path { points, width, color, dash: &[1.3, 1.0] });
    }

    fn polygon(&mut self, points: Vec<Point>, color: Color) {
        let color = self.tone(color);
        self.push(Item::Polygon { points, color });
    }

    pub fn disc(&mut self, centre: Point, radius: f64, color: Color) {
        let color = self.tone(color);
        self.push(disc(centre, radius, color));
    }

    /// A joint: a ring, white inside.
    pub fn ring(&mut self, centre: Point) {
        self.disc(centre, 0.85 * self.size + 0.5 * self.thin(), INK);
        self.disc(centre, 0.85 * self.size - 0.5 * self.thin(), Color::WHITE);
    }

    /// A welded place.
    pub fn weld(&mut self, (x, y): Point) {
        let half = 0.7 * self.size;
        self.polygon(vec![(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)], INK);
    }

    /// A bar through points, or a plate if `closed`, with round corners.
    pub fn body(&mut self, mut points: Vec<Point>, closed: bool, fill: Color) {
        let half = self.half_bar();
        if closed {
            points.push(points[0]); // a plate has corners
            self.path(points.clone(), 2.0 * half + 2.0 * self.thin(), INK);
            self.polygon(points[1..].to_vec(), fill);
        } else {
            self.path(points.clone(), 2.0 * half + 2.0 * self.thin(), INK);
        }
        self.path(points, 2.0 * half, fill);
    }

    /// A piece of a bar, with round ends where it ends itself.
    pub fn piece(&mut self, a: Point, b: Point, ends: [bool; 2], fill: Color) {
        let half = self.half_bar();
        // pieces overlap a little, such that no seam is seen
        for (half, overlap, color) in [(half + self.thin(), 0.05, INK), (half, 0.1, fill)] {
            for (end, _) in [a, b].into_iter().zip(ends).filter(|(_, round)| *round) {
                self.disc(end, half, color);
            }
            if let Some((length, direction)) = along(a, b) {
                let [start, stop] = [(ends[0], -overlap, 0.0), (ends[1], length + overlap, length)]
                    .map(|(round, beyond, at)| if round { at } else { beyond });
                let corner = |s: f64, n: f64| beside(a, direction, s, n);
                let corners = vec![corner(start, -half), corner(stop, -half), corner(stop, half), corner(start, half)];
                self.polygon(corners, color);
            }
        }
    }

    /// A convex solid: its silhouette, perhaps filled, and the outlines of the faces that are seen, with lines on them.
    pub fn solid(&mut self, silhouette: Vec<Point>, faces: Vec<Vec<Point>>, fill: Option<Color>) {
        let width = self.thin();
        if let Some(fill) = fill {
            self.polygon(silhouette.clone(), fill);
        }
        self.path(closed(silhouette), 1.3 * width, INK);
        for face in faces {
            self.path(face, 0.8 * width, INK);
        }
    }

    pub fn ball(&mut self, centre: Point, radius: f64, fill: Color) {
        self.disc(centre, radius + 0.65 * self.thin(), INK);
        self.disc(centre, radius - 0.65 * self.thin(), fill);
    }

    /// The cross of a Cardan joint, along two directions of less than unit length.
    pub fn cross(&mut self, (x, y): Point, axes: [Point; 2]) {
        let (arm, wide) = (2.0 * self.size, 0.9 * self.size);
        for (width, color) in [(wide + self.thin(), INK), (wide - self.thin(), Color::WHITE)] {
            for (a, b) in axes {
                self.path(vec![(x - arm * a, y - arm * b), (x + arm * a, y + arm * b)], width, color);
            }
        }
    }

    /// An elastic bearing: a dark ring in a white one.
    pub fn bushing(&mut self, a: Point, b: Point) {
        let (size, thin) = (self.size, self.thin());
        self.path(vec![a, b], thin, INK);
        for (radius, color) in [
            (1.5 * size + 0.5 * thin, INK),
            (1.5 * size - 0.5 * thin, Color::WHITE),
            (1.1 * size, FIXED),
            (0.6 * size, Color::WHITE),
        ] {
            self.disc(b, radius, color);
        }
    }

    /// A plane that things lie on.
    pub fn plane(&mut self, corners: Vec<Point>) {
        self.polygon(corners.clone(), FLOOR);
        self.path(closed(corners), 0.7 * self.thin(), FIXED);
    }

    /// A point that follows a path: a dark triangle below it.
    pub fn driven(&mut self, centre: Point) {
        let size = self.size.max(0.5);
        let corner = |n: f64| (centre.0 + n * size, centre.1 + 2.7 * size);
        self.polygon(vec![centre, corner(1.6), corner(-1.6)], FIXED);
    }

    /// A wheel with a spoke that shows how far it has turned; `angle` counts as on paper.
    pub fn wheel(&mut self, centre: Point, radius: f64, angle: f64, fill: Color) {
        let radius = radius.max(self.half_bar());
        self.disc(centre, radius + 0.5 * self.thin(), INK);
        self.disc(centre, radius - 0.5 * self.thin(), fill);
        let rim = (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin());
        self.path(vec![centre, rim], self.thin(), INK);
    }

    /// A centre of mass: a disc in quarters.
    pub fn center(&mut self, centre: Point, angle: f64) {
        let radius = 0.75 * self.size;
        self.disc(centre, radius + 0.5 * self.thin(), INK);
        self.disc(centre, radius, Color::WHITE);
        for start in [angle, angle + PI] {
            let mut quarter = vec![centre];
            quarter.extend((0..=8).map(|i| {
                let angle = start + 0.25 * TAU * f64::from(i) / 8.0;
                (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
            }));
            self.polygon(quarter, INK);
        }
    }

    pub fn mass(&mut self, centre: Point) {
        self.disc(centre, 1.2 * self.size.max(0.25), INK);
    }

    /// The end of a rod.
    pub fn end(&mut self, at: Point) {
        self.disc(at, 0.55 * self.size + 0.5 * self.thin(), INK);
        self.disc(at, 0.55 * self.size - 0.5 * self.thin(), Color::WHITE);
    }

    /// A spring, a damper, or both side by side.
    pub fn strut(&mut self, a: Point, b: Point, spring: bool, damper: bool) {
        let Some((length, direction)) = along(a, b) else { return };
        let thin = self.thin();
        let size = self.size.min(length / 8.0);
        let end = (0.12 * length).min(4.0 * size);
        let apart = if spring && damper { 1.75 * size } else { 0.0 };
        let at = |s: f64, n: f64| beside(a, direction, s, n);
        self.path(vec![a, at(end, 0.0)], thin, INK);
        self.path(vec![at(length - end, 0.0), b], thin, INK);
        if apart > 0.0 {
            for s in [end, length - end] {
                self.path(vec![at(s, -apart), at(s, apart)], thin, INK);
            }
        }
        let inner = length - 2.0 * end;
        if spring || !damper {
            const TURNS: usize = 6;
            let lead = 0.1 * inner;
            let step = (inner - 2.0 * lead) / TURNS as f64;
            let mut points = vec![at(end, -apart), at(end + lead, -apart)];
            for turn in 0..TURNS {
                let start = end + lead + turn as f64 * step;
                points.push(at(start + 0.25 * step, -apart - 1.2 * size));
                points.push(at(start + 0.75 * step, -apart + 1.2 * size));
            }
            points.extend([at(length - end - lead, -apart), at(length - end, -apart)]);
            self.path(points, thin, INK);
        }
        if damper {
            let (open, closed, piston) = (end + 0.62 * inner, end + 0.3 * inner, end + 0.48 * inner);
            let wide = 1.1 * size;
            self.path(vec![at(end, apart), at(closed, apart)], thin, INK);
            let cup =
                [at(open, apart - wide), at(closed, apart - wide), at(closed, apart + wide), at(open, apart + wide)];
            self.path(cup.to_vec(), thin, INK);
            self.path(vec![at(piston, apart - 0.75 * wide), at(piston, apart + 0.75 * wide)], 1.6 * thin, INK);
            self.path(vec![at(piston, apart), at(length - end, apart)], thin, INK);
        }
    }

    /// A torsional spring (a spiral) or damper (an arc) around a joint, in a plane that turns with it.
    pub fn torsion(&mut self, centre: Point, plane: Plane, spring: bool) {
        let (turns, inner) = if spring { (1.75, 1.3) } else { (0.7, 2.0) };
        let count = 40;
        let points = (0..=count).map(|i| {
            let part = f64::from(i) / f64::from(count);
            let radius = self.size * (inner + part * if spring { 1.3 } else { 0.0 });
            around(centre, plane, TAU * turns * part, radius)
        });
        let points = points.collect();
        self.path(points, 0.8 * self.thin(), INK);
    }

    /// A line with what is fixed on the right side of the way from `a` to `b`.
    pub fn hatched(&mut self, a: Point, b: Point) {
        let Some((length, direction)) = along(a, b) else { return };
        let thin = self.thin();
        let size = self.size.max(0.5);
        let count = (length / (0.9 * size)).floor().max(1.0);
        for i in 0..count as usize {
            let s = (i as f64 + 0.75) * length / count;
            let stroke = vec![beside(a, direction, s, 0.0), beside(a, direction, s - 0.8 * size, 0.9 * size)];
            self.path(stroke, 0.6 * thin, FIXED);
        }
        self.path(vec![a, b], thin, FIXED);
    }

    /// Draws the support of a joint on the ground: a triangle on hatched ground on the side of `normal`.
    pub fn support(&mut self, centre: Point, normal: Point) {
        let size = self.size.max(0.5);
        let (high, half) = (2.7 * size, 1.6 * size);
        // to the left of the normal begins the hatched line, so that its right side is the ground
        let corner = |n: f64| beside(centre, normal, high, n);
        let triangle = vec![centre, corner(half), corner(-half)];
        self.polygon(triangle.clone(), Color::WHITE);
        self.path([&triangle[..], &[centre]].concat(), self.thin(), FIXED);
        self.hatched(corner(1.5 * half), corner(-1.5 * half));
    }

    /// A piece of wall behind a point, on the side of `normal`.
    pub fn wall(&mut self, centre: Point, normal: Point) {
        let half = 1.9 * self.size.max(0.5);
        self.hatched(beside(centre, normal, 0.0, half), beside(centre, normal, 0.0, -half));
    }

    /// A block on a guide along `direction`.
    pub fn block(&mut self, centre: Point, direction: Point, fill: Color) {
        let (long, half) = self.block_size();
        let at = |s: f64, n: f64| beside(centre, direction, s, n);
        let corners = vec![at(-long, -half), at(long, -half), at(long, half), at(-long, half)];
        self.polygon(corners.clone(), fill);
        self.path([&corners[..], &corners[..1]].concat(), self.thin(), INK);
    }

    /// Size of a block: half its length and half its height.
    pub fn block_size(&self) -> Point {
        (2.6 * self.size.max(0.3), 1.5 * self.size.max(0.3))
    }

    /// A slot in which a pin slides.
    pub fn slot(&mut self, a: Point, b: Point) {
        let width = 2.0 * self.slot_half();
        self.path(vec![a, b], width + 2.0 * self.thin(), FIXED);
        self.path(vec![a, b], width, Color::WHITE);
    }

    pub fn slot_half(&self) -> f64 {
        self.size + 0.5 * self.thin()
    }

    /// A circle that is not filled.
    pub fn circle(&mut self, centre: Point, radius: f64, dashed: bool) {
        let mut points = circle(centre, radius);
        points.push(points[0]); // a circle has points
        let width = self.thin();
        if dashed { self.dashed(points, width, FIXED) } else { self.path(points, width, INK) }
    }

    /// A force.
    pub fn arrow(&mut self, a: Point, b: Point, color: Color) {
        let Some((length, direction)) = along(a, b) else { return };
        let head = (1.9 * self.size.max(0.5)).min(length);
        let at = |s: f64, n: f64| beside(a, direction, s, n);
        self.path(vec![a, at(length - head, 0.0)], 1.7 * self.thin(), color);
        self.polygon(vec![b, at(length - head, 0.42 * head), at(length - head, -0.42 * head)], color);
    }

    /// A torque: an arrow along an arc in a plane; `sweep` in rad, clockwise.
    pub fn torque(&mut self, centre: Point, plane: Plane, sweep: f64, color: Color) {
        let radius = 3.2 * self.size.max(0.5);
        let head = 1.9 * self.size.max(0.5);
        let body = sweep.abs() - 0.6 * head / radius;
        if body <= 0.0 {
            return;
        }
        let start = -0.75 * PI;
        let at = |angle: f64, radius: f64| around(centre, plane, angle, radius);
        let count = 24;
        let arc = (0..=count).map(|i| at(start + sweep.signum() * body * f64::from(i) / f64::from(count), radius));
        let arc = arc.collect();
        self.path(arc, 1.7 * self.thin(), color);
        let (neck, tip) = (start + sweep.signum() * body, start + sweep);
        let corners = vec![at(tip, radius), at(neck, radius + 0.42 * head), at(neck, radius - 0.42 * head)];
        self.polygon(corners, color);
    }
}

/// A disc; a large one has corners, so that it is round in bitmaps.
fn disc(centre: Point, radius: f64, color: Color) -> Item {
    if radius < 1.5 {
        Item::Disc { centre, radius, color }
    } else {
        Item::Polygon { points: circle(centre, radius), color }
    }
}

/// A circle that is not filled, on a scene.
pub(super) fn ring(scene: &mut Scene, centre: Point, radius: f64, width: f64, color: Color) {
    let mut points = circle(centre, radius);
    points.push(points[0]); // a circle has points
    scene.path(points, width, color, &[]);
}

fn closed(mut points: Vec<Point>) -> Vec<Point> {
    points.extend(points.first().copied());
    points
}

fn circle(centre: Point, radius: f64) -> Vec<Point> {
    const CORNERS: usize = 72;
    let angles = (0..CORNERS).map(|i| TAU * i as f64 / CORNERS as f64);
    angles.map(|angle| (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())).collect()
}
