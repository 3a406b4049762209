//! The symbols of parts, on paper: lengths in mm, y downwards.

use std::f64::consts::{PI, TAU};

use super::super::scene::{Color, Item, Point, Scene};

/// Outlines, rods and springs.
pub(super) const INK: Color = Color(50, 50, 50);
/// What does not move.
pub(super) const FIXED: Color = Color(120, 120, 120);
/// Bodies, in turn.
pub(super) const FILLS: [Color; 3] = [Color(186, 213, 233), Color(246, 212, 184), Color(186, 228, 212)];
/// Paths of sensors, in turn.
pub(super) const PATHS: [Color; 3] = [Color(213, 94, 0), Color(0, 114, 178), Color(0, 158, 115)];
/// Applied forces and torques.
pub(super) const LOAD: Color = Color(204, 60, 120);

/// Draws on a scene, with symbols of a size, perhaps faded.
pub(super) struct Pen<'s> {
    pub scene: &'s mut Scene,
    /// Size of symbols; 1 is that for bodies with enough room.
    pub size: f64,
    /// How much of white is mixed to every colour, 0 to 1.
    pub fade: f64,
}

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

impl Pen<'_> {
    fn tone(&self, color: Color) -> Color {
        color.mixed(Color::WHITE, self.fade)
    }

    /// Width of thin lines.
    fn thin(&self) -> f64 {
        0.28 * self.size.max(0.6)
    }

    /// Half the width of bars.
    fn half_bar(&self) -> f64 {
        0.85 * self.size
    }

    pub fn path(&mut self, points: Vec<Point>, width: f64, color: Color) {
        let color = self.tone(color);
        self.scene.path(points, width, color, &[]);
    }

    pub fn dashed(&mut self, points: Vec<Point>, width: f64, color: Color) {
        let color = self.tone(color);
        self.scene.path(points, width, color, &[1.3, 1.0]);
    }

    fn polygon(&mut self, points: Vec<Point>, color: Color) {
        let color = self.tone(color);
        self.scene.items.push(Item::Polygon { points, color });
    }

    pub fn disc(&mut self, centre: Point, radius: f64, color: Color) {
        let color = self.tone(color);
        if radius < 1.5 {
            self.scene.items.push(Item::Disc { centre, radius, color });
        } else {
            self.scene.items.push(Item::Polygon { points: circle(centre, radius), color });
        }
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

    pub fn rod(&mut self, a: Point, b: Point) {
        self.path(vec![a, b], 1.8 * self.thin(), INK);
        for end in [a, b] {
            self.disc(end, 0.55 * self.size + 0.5 * self.thin(), INK);
            self.disc(end, 0.55 * self.size - 0.5 * self.thin(), Color::WHITE);
        }
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

    /// A torsional spring (a spiral) or damper (an arc) around a joint; `angle` counts as on paper.
    pub fn torsion(&mut self, centre: Point, angle: f64, spring: bool) {
        let (turns, inner) = if spring { (1.75, 1.3) } else { (0.7, 2.0) };
        let count = 40;
        let points = (0..=count).map(|i| {
            let part = f64::from(i) / f64::from(count);
            let radius = self.size * (inner + part * if spring { 1.3 } else { 0.0 });
            let angle = angle + TAU * turns * part;
            (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
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

    /// What holds a joint to the ground: a triangle on hatched ground on the side of `normal`.
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

    /// Half the length and half the height of a block.
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
    pub fn arrow(&mut self, a: Point, b: Point) {
        let Some((length, direction)) = along(a, b) else { return };
        let head = (1.9 * self.size.max(0.5)).min(length);
        let at = |s: f64, n: f64| beside(a, direction, s, n);
        self.path(vec![a, at(length - head, 0.0)], 1.7 * self.thin(), LOAD);
        self.polygon(vec![b, at(length - head, 0.42 * head), at(length - head, -0.42 * head)], LOAD);
    }

    /// A torque: an arrow along an arc; `sweep` in rad, positive as on paper (clockwise).
    pub fn torque(&mut self, centre: Point, sweep: f64) {
        let radius = 3.2 * self.size.max(0.5);
        let head = 1.9 * self.size.max(0.5);
        let body = sweep.abs() - 0.6 * head / radius;
        if body <= 0.0 {
            return;
        }
        let start = -0.75 * PI;
        let at = |angle: f64, radius: f64| (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin());
        let count = 24;
        let arc = (0..=count).map(|i| at(start + sweep.signum() * body * f64::from(i) / f64::from(count), radius));
        let arc = arc.collect();
        self.path(arc, 1.7 * self.thin(), LOAD);
        let (neck, tip) = (start + sweep.signum() * body, start + sweep);
        let corners = vec![at(tip, radius), at(neck, radius + 0.42 * head), at(neck, radius - 0.42 * head)];
        self.polygon(corners, LOAD);
    }
}

fn circle(centre: Point, radius: f64) -> Vec<Point> {
    const CORNERS: usize = 72;
    let angles = (0..CORNERS).map(|i| TAU * i as f64 / CORNERS as f64);
    angles.map(|angle| (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())).collect()
}
