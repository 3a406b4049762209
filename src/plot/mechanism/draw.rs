//! From a stage and moments to symbols on paper.

use super::super::decimate;
use super::super::scene::{Point, Scene};
use super::shape::{Moment, Outline};
use super::stage::{Stage, View, arrows, wheels};
use super::symbols::{FILLS, FIXED, INK, PATHS, Pen};
use crate::sketch::{GROUND, Part, Spot};

/// Below this size of symbols, bodies are plain lines without joints.
const PLAIN: f64 = 0.2;

impl Stage<'_> {
    /// One panel without its axes.
    pub fn draw(&self, scene: &mut Scene, view: &View, moments: &[&Moment]) {
        let Some(last) = moments.last() else { return };
        let mut pen = Pen { scene, size: self.size, fade: 0.0 };
        self.fixed(&mut pen, view, last);
        let earlier = moments.len() - 1;
        for (k, moment) in moments.iter().enumerate() {
            // the earliest is the lightest
            pen.fade = if k == earlier { 0.0 } else { 0.85 - 0.4 * (k + 1) as f64 / earlier as f64 };
            if self.size < PLAIN {
                self.plain(&mut pen, view, moment);
            } else {
                self.pose(&mut pen, view, moment);
            }
        }
        self.paths(&mut pen, view, last);
    }

    /// The ground, and what is on it.
    fn fixed(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment) {
        for (index, part) in self.shape.sketch.parts.iter().enumerate() {
            match part {
                Part::Guide { spots, .. } | Part::Contact { spots, .. } if spots[0].member == GROUND => {
                    self.guide(pen, view, moment, index);
                }
                _ => {}
            }
        }
        self.supports(pen, view, false);
    }

    fn supports(&self, pen: &mut Pen<'_>, view: &View, front: bool) {
        for support in self.supports.iter().filter(|support| support.front == front) {
            match support.joint {
                true => pen.support(view.at(support.at), support.normal),
                false => pen.wall(view.at(support.at), support.normal),
            }
        }
    }

    /// The line of a guide or a contact, as far as it is used.
    fn guide(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment, index: usize) {
        let (long, high) = pen.block_size();
        // how far it goes beyond its use, and how far below it is solid ground
        let (spots, direction, beyond, below) = match &self.shape.sketch.parts[index] {
            Part::Guide { spots, direction, block: true } => (spots, direction, 1.6 * long, high),
            Part::Guide { spots, direction, block: false } => (spots, direction, 1.5 * pen.size, pen.slot_half()),
            Part::Contact { spots, direction, .. } => (spots, direction, 12.0, 0.0),
            _ => return,
        };
        let part = &self.shape.sketch.parts[index];
        let [x, y] = self.shape.direction(&spots[0], direction, moment);
        let [foot_x, foot_y] = self.shape.world(&spots[0], moment);
        let end = |s: f64, further: f64| {
            let at = view.at([foot_x + s * x, foot_y + s * y]);
            (at.0 + further * x, at.1 - further * y)
        };
        let (from, to) = self.ranges.get(&index).copied().unwrap_or_default();
        let line = [end(from, -beyond), end(to, beyond)];
        let frame = [(view.left, view.top), (view.left + view.panel.0, view.top + view.panel.1)];
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
        }
        if matches!(part, Part::Guide { block: false, .. }) {
            pen.slot(a, b);
        }
    }

    /// The ways of sensors up to a time.
    fn paths(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment) {
        for (k, (path, spot)) in self.paths.iter().zip(&self.shape.sketch.traces).enumerate() {
            let until = path.partition_point(|(t, _)| *t <= moment.t);
            let now = view.at(self.shape.world(spot, moment));
            let mut points: Vec<Point> = path[..until].iter().map(|(_, at)| view.at(*at)).collect();
            points.push(now);
            let color = PATHS[k % PATHS.len()];
            pen.path(thinned(&points), 0.25, color);
            pen.disc(now, 0.45, color);
        }
    }

    fn fill(&self, member: usize) -> super::super::scene::Color {
        // colours tell the members of small mechanisms apart, and would make large ones a rainbow
        const MOST: usize = 24;
        FILLS[if self.shape.outlines.len() <= MOST { (member - 1) % FILLS.len() } else { 0 }]
    }

    /// Lines only.
    fn plain(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment) {
        const WIDTH: f64 = 0.3;
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let pose = moment.pose(member);
            let paper = |point: &[f64; 2]| view.at(pose.point(*point));
            match outline {
                Outline::Bar(ends) => pen.path(ends.iter().map(paper).collect(), WIDTH, INK),
                Outline::Plate(corners) => {
                    pen.path(corners.iter().chain(&corners[..1]).map(paper).collect(), WIDTH, INK);
                }
                Outline::Disc(center, radius) => pen.circle(paper(center), radius * view.scale, false),
                Outline::Dot | Outline::Block => pen.disc(view.at(self.shape.center(member, moment)), WIDTH, INK),
            }
        }
        for part in &self.shape.sketch.parts {
            if let Part::Rod(spots) | Part::Strut { spots, .. } = part {
                let ends = spots.iter().map(|spot| view.at(self.shape.world(spot, moment)));
                pen.path(ends.collect(), WIDTH, if matches!(part, Part::Rod(_)) { INK } else { FIXED });
            }
            if let Some((support, carried, _)) = self.shape.support(part, moment) {
                pen.path(vec![view.at(support), view.at(carried)], WIDTH, FIXED);
            }
        }
    }

    /// Everything that moves.
    fn pose(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment) {
        let shape = self.shape;
        let parts = &shape.sketch.parts;
        let at = |spot: &Spot| view.at(shape.world(spot, moment));
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Gears { members, ratio } => match wheels(shape, *members, ratio.evaluate(&shape.u), moment) {
                    Some(wheels) => {
                        wheels
                            .iter()
                            .for_each(|(center, radius)| pen.circle(view.at(*center), radius * view.scale, true));
                    }
                    None => {
                        let [a, b] = members.map(|m| view.at(shape.axle(m, moment).unwrap_or(shape.center(m, moment))));
                        pen.dashed(vec![a, b], 0.25, FIXED);
                    }
                },
                Part::Contact { spots, radius, .. } => {
                    pen.circle(at(&spots[1]), radius.evaluate(&shape.u).abs() * view.scale, false);
                    if spots[0].member != GROUND {
                        self.guide(pen, view, moment, index);
                    }
                }
                _ => {}
            }
        }
        self.bodies(pen, view, moment);
        self.supports(pen, view, true);
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Guide { spots, .. } if spots[0].member != GROUND => self.guide(pen, view, moment, index),
                Part::Strut { spots: [a, b], linear } => {
                    let [spring, damper] = linear
                        .as_ref()
                        .map_or([true, false], |values| values.each_ref().map(|value| value.evaluate(&shape.u) != 0.0));
                    pen.strut(at(a), at(b), spring, damper);
                }
                Part::Support { .. } => {
                    if let Some((support, carried, [x, y])) = shape.support(part, moment) {
                        pen.strut(view.at(support), view.at(carried), true, false);
                        pen.wall(view.at(support), (x, -y));
                    }
                }
                _ => {}
            }
        }
        for part in parts {
            match part {
                Part::Rod([a, b]) => pen.rod(at(a), at(b)),
                Part::Guide { spots: [line, block], direction, block: true } => {
                    let [x, y] = shape.direction(line, direction, moment);
                    pen.block(at(block), (x, -y), self.fill(block.member.max(1)));
                }
                _ => {}
            }
        }
        for part in parts {
            match part {
                Part::Torsion { members, stiffness } => {
                    let spring = stiffness.as_ref().is_some_and(|value| value.evaluate(&shape.u) != 0.0);
                    let angle = -moment.pose(members[1]).angle;
                    pen.torsion(view.at(shape.pivot(*members, moment)), angle, spring);
                }
                Part::Pin([_, spot]) | Part::Guide { spots: [_, spot], block: false, .. } => pen.ring(at(spot)),
                Part::Weld([_, spot]) => pen.weld(at(spot)),
                _ => {}
            }
        }
        self.centers(pen, view, moment);
        for (from, to) in arrows(shape, moment, &self.strongest, self.reach) {
            pen.arrow(view.at(from), view.at(to));
        }
        for part in parts {
            if let Part::Torque { members, input } = part
                && let (Some(w), Some(most)) = (moment.w.get(*input), self.strongest.get(*input))
                && *most > 0.0
            {
                // three quarters of a turn at most
                pen.torque(view.at(shape.pivot(*members, moment)), -1.5 * std::f64::consts::PI * w / most);
            }
        }
    }

    fn bodies(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment) {
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let pose = moment.pose(member);
            let fill = self.fill(member);
            let paper = |point: &[f64; 2]| view.at(pose.point(*point));
            match outline {
                Outline::Bar(ends) => pen.body(ends.iter().map(paper).collect(), false, fill),
                Outline::Plate(corners) => pen.body(corners.iter().map(paper).collect(), true, fill),
                Outline::Disc(center, radius) => pen.wheel(paper(center), radius * view.scale, -pose.angle, fill),
                Outline::Dot | Outline::Block => {}
            }
        }
    }

    /// Centres of mass, unless a joint is there, and point masses.
    fn centers(&self, pen: &mut Pen<'_>, view: &View, moment: &Moment) {
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let center = view.at(self.shape.center(member, moment));
            match outline {
                Outline::Bar(_) | Outline::Plate(_) if !self.jointed[member] => {
                    pen.center(center, -moment.pose(member).angle);
                }
                Outline::Dot => pen.mass(center),
                _ => {}
            }
        }
    }
}

/// A path without what cannot be seen at the printed size.
fn thinned(points: &[Point]) -> Vec<Point> {
    /// More points make files large.
    const MOST: usize = 5000;
    let mut distance = 0.1;
    loop {
        let mut kept: Vec<Point> = Vec::new();
        for point in points {
            let near = kept.last().is_some_and(|last| (last.0 - point.0).hypot(last.1 - point.1) < distance);
            if !near {
                kept.push(*point);
            }
        }
        if kept.len() <= MOST {
            // it ends where the sensor is
            kept.extend(points.last());
            return kept;
        }
        distance *= 1.5;
    }
}
