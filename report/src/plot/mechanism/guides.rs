//! Guides, planes, and what is on them.

use super::super::decimate;
use super::super::scene::Point;
use super::bodies::mean;
use super::extent::square;
use super::shape::{Location, Moment, across};
use super::solid::Solid;
use super::stage::{Paper, Stage};
use super::symbols::{FIXED, INK, Pen};
use costate::sketch::{GROUND, Part, Slider, Spot};
use std::f64::consts::TAU;

/// Length of a guide of space beyond its use, in sizes of symbols.
pub(super) const RAIL: f64 = 8.0;

impl Stage<'_> {
    /// The line of a guide or a contact, as far as it is used.
    pub(super) fn guide(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, index: usize) {
        if self.shape.sketch.in_space {
            return self.rail(pen, paper, moment, index);
        }
        let (long, high) = pen.block_size();
        let part = &self.shape.sketch.parts[index];
        // how far it goes beyond its use, and how far below it is solid ground
        let (spots, line, beyond, below) = match part {
            Part::Guide { spots, line, slider: Slider::Pin } => (spots, line, 1.5 * pen.size, pen.slot_half()),
            Part::Guide { spots, line, .. } => (spots, line, 1.6 * long, high),
            Part::Contact { spots, line, .. } => (spots, line, 12.0, 0.0),
            _ => return,
        };
        let along = self.shape.direction(line, moment);
        let [x, y, _] = along.0;
        let foot = self.shape.world(&spots[0], moment);
        let end = |s: f64, further: f64| {
            let at = paper.at(foot + along * s);
            (at.0 + further * x, at.1 - further * y)
        };
        let (from, to) = self.ranges.get(&index).copied().unwrap_or_default();
        let line = [end(from, -beyond), end(to, beyond)];
        let frame = [(paper.left, paper.top), (paper.left + paper.panel.0, paper.top + paper.panel.1)];
        let Some(line) = decimate::clip(&line, frame[0], frame[1]).pop() else { return };
        let (mut a, mut b) = (line[0], line[1]);
        let mut right = (y, x);
        // solid ground is below a guide, and to the right of a contact line
        if matches!(part, Part::Guide { .. }) && x < 0.0 {
            (a, b, right) = (b, a, (-y, -x));
        }
        if spots[0].member == GROUND || matches!(part, Part::Contact { .. }) {
            let shifted = |at: Point| (at.0 + below * right.0, at.1 + below * right.1);
            pen.hatched(shifted(a), shifted(b));
        } else {
            pen.path(vec![a, b], 0.28, FIXED);
            if !(from..=to).contains(&0.0) {
                // what holds a slot that is elsewhere
                let nearest = if from > 0.0 { from } else { to };
                self.line(pen, paper, [foot, foot + along * nearest], 0.28, FIXED);
            }
        }
        if matches!(part, Part::Guide { slider: Slider::Pin, .. }) {
            pen.slot(a, b);
        }
    }

    /// A guide in space: a line, between walls if it is on the ground; a thread if that is what it is.
    fn rail(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, index: usize) {
        let Part::Guide { spots, line, slider } = &self.shape.sketch.parts[index] else { return };
        let (foot, along) = (self.shape.world(&spots[0], moment), self.shape.direction(line, moment));
        let (from, to) = self.ranges.get(&index).copied().unwrap_or_default();
        let unit = self.unit(paper);
        let (start, length) = (foot + along * (from - RAIL * unit), to - from + 2.0 * RAIL * unit);
        let ends = [start, start + along * length];
        let grounded = spots[0].member == GROUND;
        let color = if grounded { FIXED } else { INK };
        if grounded {
            for (end, outwards) in ends.into_iter().zip([-along, along]) {
                let (x, y) = paper.along(outwards);
                pen.near = self.near(paper, end, -1.0);
                // seen from its end, a rail has no walls
                if x.hypot(y) > 0.2 {
                    pen.wall(paper.at(end), (x / x.hypot(y), y / x.hypot(y)));
                }
            }
        }
        if *slider == Slider::Nut {
            const CORNERS: f64 = 12.0;
            let side = across(along, moment.pose(spots[0].member));
            let turns = (length / (1.6 * unit)).min(100.0);
            let count = (CORNERS * turns) as u32;
            let point = |i: u32| {
                let (sin, cos) = (TAU * f64::from(i) / CORNERS).sin_cos();
                let out = (side * cos + along.cross(side) * sin) * (0.7 * unit);
                start + along * (length * f64::from(i) / f64::from(count.max(1))) + out
            };
            let thread: Vec<Location> = (0..=count).map(point).collect();
            self.polyline(pen, paper, &thread, 0.8 * pen.thin(), color);
        }
        self.line(pen, paper, ends, 1.8 * pen.thin(), color);
    }

    /// A piece of a plane that is large enough for what is on it.
    pub(super) fn plane(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, index: usize) {
        let Part::Plane { spots, normal, .. } = &self.shape.sketch.parts[index] else { return };
        let normal = self.shape.direction(normal, moment);
        let across = across(normal, moment.pose(spots[0].member));
        let (_, reach) = self.ranges.get(&index).copied().unwrap_or_default();
        let half = reach + 3.0 * self.unit(paper);
        let corners = square(self.shape.world(&spots[0], moment), normal, across, half);
        // what is on the ground hides it
        let grounded = spots[0].member == GROUND;
        pen.near = if grounded { f64::NEG_INFINITY } else { mean(paper, corners.into_iter()) };
        pen.plane(corners.map(|corner| paper.at(corner)).to_vec());
    }

    /// Draws the slider that goes along a guide.
    pub(super) fn slider(
        &self,
        pen: &mut Pen<'_>,
        paper: &Paper,
        moment: &Moment,
        part: &Part,
        [_, block]: &[Spot; 2],
    ) {
        let Part::Guide { line, slider, .. } = part else { return };
        let (point, along) = (self.shape.world(block, moment), self.shape.direction(line, moment));
        let fill = self.fill(block.member);
        pen.near = self.near(paper, point, 1.0);
        if !self.shape.sketch.in_space {
            return pen.block(paper.at(point), paper.along(along), fill);
        }
        let (long, half) = pen.block_size();
        let (long, half) = (long / paper.scale, half / paper.scale);
        let side = across(along, moment.pose(block.member));
        let solid = match slider {
            Slider::Block => Solid::cuboid(point, [along, side, along.cross(side)], [long, half, half]),
            _ => Solid::cylinder(point, along, side, half, long, false),
        };
        self.solid(pen, paper, &solid, Some(fill));
    }
}
