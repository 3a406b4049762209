//! From a stage and moments to symbols on paper.

use super::super::scene::{Color, Point, Scene};
use super::bodies::mean;
use super::depth::{runs, subdivided};
use super::extent::{arrows, wheels};
use super::guides::RAIL;
use super::shape::{Axle, Location, Moment, Outline, across};
use super::solid::Solid;
use super::stage::{Paper, Stage};
use super::symbols::{FILLS, FIXED, INK, LOAD, PATHS, Pen, Plane};
use costate::sketch::{About, GROUND, Part, Slider, Spot, Touch};
use costate::vector::Vector;
use std::f64::consts::PI;

/// Below this size of symbols, bodies are plain lines without joints.
const PLAIN: f64 = 0.2;

impl Stage<'_> {
    /// Draws one panel without its axes.
    pub fn draw(&self, scene: &mut Scene, paper: &Paper, moments: &[&Moment]) {
        let Some(last) = moments.last() else { return };
        let mut pen = Pen::new(scene, self.size);
        self.fixed(&mut pen, paper, last);
        let earlier = moments.len() - 1;
        for (k, moment) in moments.iter().enumerate() {
            // the earliest is the lightest
            pen.fade = if k == earlier { 0.0 } else { 0.85 - 0.4 * (k + 1) as f64 / earlier as f64 };
            if self.size < PLAIN {
                self.plain(&mut pen, paper, moment);
            } else {
                self.pose(&mut pen, paper, moment);
            }
            if k < earlier {
                pen.lay_down();
            }
        }
        self.paths(&mut pen, paper, last);
        pen.lay_down();
    }

    /// A length of symbols' size in the world, m.
    pub(super) fn unit(&self, paper: &Paper) -> f64 {
        self.size / paper.scale
    }

    /// Largest depth of a piece of a bar, m.
    pub(super) fn step(&self, paper: &Paper) -> f64 {
        2.0 * self.unit(paper)
    }

    /// Nearness of a symbol at a point, if it lies upon others by a number of layers. In the plane, all is equally near, and what is drawn
    /// later lies on top.
    pub(super) fn near(&self, paper: &Paper, location: Location, layers: f64) -> f64 {
        let lift = if self.shape.sketch.in_space { 2.5 * layers * self.unit(paper) } else { 0.0 };
        paper.near(location) + lift
    }

    /// Nearness of the symbol of a joint: in front of the plates that it joins.
    fn near_joint(&self, paper: &Paper, moment: &Moment, spots: &[Spot]) -> f64 {
        let Some(last) = spots.last() else { return 0.0 };
        let level = |spot: &Spot| match self.shape.outlines.get(spot.member) {
            Some(Outline::Plate(corners)) => mean(paper, corners.iter().map(|at| moment.pose(spot.member).point(*at))),
            _ => f64::NEG_INFINITY,
        };
        let point = self.shape.world(last, moment);
        let own = self.near(paper, point, 1.0);
        let lift = own - paper.near(point);
        spots.iter().map(|spot| level(spot) + lift).fold(own, f64::max)
    }

    /// The ground, and what is on it.
    fn fixed(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        if let Some(Outline::Made(pieces)) = self.shape.outlines.get(GROUND) {
            // what stands on it is seen, wherever its middle is
            const BEHIND: f64 = 1e6;
            self.pieces(pen, paper, moment.pose(GROUND), pieces, (Color::WHITE, BEHIND));
        }
        for (index, part) in self.shape.sketch.parts.iter().enumerate() {
            match part {
                Part::Guide { spots, .. } | Part::Contact { spots, .. } if spots[0].member == GROUND => {
                    self.guide(pen, paper, moment, index);
                }
                Part::Plane { spots, .. } if spots[0].member == GROUND => self.plane(pen, paper, moment, index),
                _ => {}
            }
        }
        self.supports(pen, paper, false);
    }

    fn supports(&self, pen: &mut Pen<'_>, paper: &Paper, front: bool) {
        for support in self.supports.iter().filter(|support| support.front == front) {
            pen.near = self.near(paper, support.at, if front { 0.5 } else { -1.0 });
            match support.joint {
                true => pen.support(paper.at(support.at), support.normal),
                false => pen.wall(paper.at(support.at), support.normal),
            }
        }
    }

    /// A line that may go from far to near.
    pub(super) fn line(&self, pen: &mut Pen<'_>, paper: &Paper, ends: [Location; 2], width: f64, color: Color) {
        let points = subdivided(ends, ends.map(|end| paper.near(end)), self.step(paper));
        self.polyline(pen, paper, &points, width, color);
    }

    pub(super) fn polyline(&self, pen: &mut Pen<'_>, paper: &Paper, points: &[Location], width: f64, color: Color) {
        let points: Vec<(Point, f64)> = points.iter().map(|at| (paper.at(*at), paper.near(*at))).collect();
        for (line, near) in runs(&points, self.step(paper)) {
            pen.near = near;
            pen.path(line, width, color);
        }
    }

    /// The ways of sensors up to a time.
    fn paths(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        for (k, (path, spot)) in self.paths.iter().zip(&self.shape.sketch.traces).enumerate() {
            let until = path.partition_point(|(t, _)| *t <= moment.t);
            let now = self.shape.world(spot, moment);
            let points = path[..until].iter().map(|(_, at)| *at).chain([now]);
            let points: Vec<(Point, f64)> = points.map(|at| (paper.at(at), paper.near(at))).collect();
            let color = PATHS[k % PATHS.len()];
            for (line, near) in runs(&thinned(&points), self.step(paper)) {
                pen.near = near;
                pen.path(line, 0.25, color);
            }
            pen.near = self.near(paper, now, 1.5);
            pen.disc(paper.at(now), 0.45, color);
        }
    }

    pub(super) fn fill(&self, member: usize) -> Color {
        // colours tell the members of small mechanisms apart, and would make large ones a rainbow
        const MOST: usize = 24;
        FILLS[if self.shape.outlines.len() <= MOST { member.saturating_sub(1) % FILLS.len() } else { 0 }]
    }

    /// Lines only.
    fn plain(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        const WIDTH: f64 = 0.3;
        pen.near = 0.0;
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let pose = moment.pose(member);
            let at = |point: &Location| paper.at(pose.point(*point));
            match outline {
                Outline::Bar(ends) => pen.path(ends.iter().map(at).collect(), WIDTH, INK),
                Outline::Plate(_) | Outline::Solid(_) | Outline::Made(_) => {
                    let mut corners = self.silhouette(paper, pose, outline);
                    corners.extend(corners.first().copied());
                    pen.path(corners, WIDTH, INK);
                }
                Outline::Disc(center, radius) => pen.circle(at(center), radius * paper.scale, false),
                Outline::Dot | Outline::Block => pen.disc(paper.at(self.shape.center(member, moment)), WIDTH, INK),
            }
        }
        for part in &self.shape.sketch.parts {
            if let Part::Rod(spots) | Part::Rope(spots) | Part::Strut { spots, .. } = part {
                let ends = spots.iter().map(|spot| paper.at(self.shape.world(spot, moment)));
                pen.path(ends.collect(), WIDTH, if matches!(part, Part::Strut { .. }) { FIXED } else { INK });
            }
            if let Some([support, carried, _]) = self.shape.support(part, moment) {
                pen.path(vec![paper.at(support), paper.at(carried)], WIDTH, FIXED);
            }
        }
    }

    /// Everything that moves.
    fn pose(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        let shape = self.shape;
        let parts = &shape.sketch.parts;
        self.behind(pen, paper, moment);
        self.bodies(pen, paper, moment, false);
        self.supports(pen, paper, true);
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Guide { spots, .. } if spots[0].member != GROUND => self.guide(pen, paper, moment, index),
                Part::Strut { spots, linear } => {
                    self.strut(pen, paper, spots.each_ref().map(|spot| shape.world(spot, moment)), linear.as_ref());
                }
                Part::Axial { spots, line, linear } => {
                    let (from, _) = self.ranges.get(&index).copied().unwrap_or_default();
                    let along = shape.direction(line, moment);
                    let start = shape.world(&spots[0], moment) + along * (from - RAIL * self.unit(paper));
                    let face = along * (pen.block_size().0 / paper.scale);
                    self.strut(pen, paper, [start, shape.world(&spots[1], moment) - face], linear.as_ref());
                }
                Part::Support { .. } => {
                    if let Some([support, carried, Vector([x, y, _])]) = shape.support(part, moment) {
                        pen.strut(paper.at(support), paper.at(carried), true, false);
                        pen.wall(paper.at(support), (x, -y));
                    }
                }
                _ => {}
            }
        }
        self.rods(pen, paper, moment);
        self.bodies(pen, paper, moment, true);
        for part in parts {
            self.joint(pen, paper, moment, part);
        }
        self.centers(pen, paper, moment);
        for (from, to) in arrows(shape, moment, &self.strongest, self.reach) {
            pen.near = self.near(paper, (from + to) * 0.5, 2.0);
            pen.arrow(paper.at(from), paper.at(to), LOAD);
        }
        for index in 0..parts.len() {
            self.driven(pen, paper, moment, index);
        }
    }

    /// Draws what bodies hide.
    fn behind(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        let shape = self.shape;
        let at = |spot: &Spot| paper.at(shape.world(spot, moment));
        for (index, part) in shape.sketch.parts.iter().enumerate() {
            match part {
                Part::Gears { members, ratio } => match wheels(shape, *members, ratio.evaluate(&shape.u), moment) {
                    Some(wheels) => {
                        let mut wheel = |(center, radius)| pen.circle(paper.at(center), radius * paper.scale, true);
                        wheels.into_iter().for_each(&mut wheel);
                    }
                    None => {
                        let [a, b] =
                            members.map(|m| paper.at(shape.axle(m, moment).unwrap_or(shape.center(m, moment))));
                        pen.dashed(vec![a, b], 0.25, FIXED);
                    }
                },
                Part::Contact { spots, radius, .. } => {
                    pen.circle(at(&spots[1]), radius.evaluate(&shape.u).abs() * paper.scale, false);
                    if spots[0].member != GROUND {
                        self.guide(pen, paper, moment, index);
                    }
                }
                Part::Plane { spots, .. } if spots[0].member != GROUND => self.plane(pen, paper, moment, index),
                _ => {}
            }
        }
    }

    /// Rods, ropes, and blocks on guides.
    fn rods(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        for part in &self.shape.sketch.parts {
            match part {
                Part::Rod(spots) | Part::Rope(spots) => {
                    let ends = spots.each_ref().map(|spot| self.shape.world(spot, moment));
                    self.line(pen, paper, ends, 1.8 * pen.thin(), INK);
                    for end in ends.into_iter().filter(|_| matches!(part, Part::Rod(_))) {
                        pen.near = self.near(paper, end, 1.0);
                        pen.end(paper.at(end));
                    }
                }
                Part::Guide { spots, slider, .. } if *slider != Slider::Pin => {
                    self.slider(pen, paper, moment, part, spots)
                }
                _ => {}
            }
        }
    }

    /// A spring, a damper, or both; by a law of its own, a spring.
    fn strut(
        &self,
        pen: &mut Pen<'_>,
        paper: &Paper,
        [a, b]: [Location; 2],
        linear: Option<&[costate::value::Value; 2]>,
    ) {
        let [spring, damper] =
            linear.map_or([true, false], |values| values.each_ref().map(|value| value.evaluate(&self.shape.u) != 0.0));
        pen.near = self.near(paper, (a + b) * 0.5, 0.0);
        pen.strut(paper.at(a), paper.at(b), spring, damper);
    }

    /// The symbol of a joint at its point.
    fn joint(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, part: &Part) {
        let shape = self.shape;
        let unit = self.unit(paper);
        pen.near = self.near_joint(paper, moment, part.spots());
        let place = |spots: &[Spot; 2]| shape.world(&spots[1], moment);
        match part {
            Part::Torsion { about, stiffness } => {
                let spring = stiffness.as_ref().is_some_and(|value| value.evaluate(&shape.u) != 0.0);
                let Axle { point, axis, across } = shape.about(about, moment);
                // around the end of a pin that is seen
                let out =
                    if paper.near(axis) < 0.0 { -axis } else { axis } * if shape.sketch.in_space { unit } else { 0.0 };
                pen.near = self.near(paper, point, 1.5);
                pen.torsion(paper.at(point + out * 2.0), plane(paper, axis, across), spring);
            }
            Part::Pin(spots) | Part::Guide { spots, slider: Slider::Pin, .. } => pen.ring(paper.at(place(spots))),
            Part::Hinge { spots, axis } => {
                let axis = shape.direction(axis, moment);
                let across = across(axis, moment.pose(spots[0].member));
                let pin = Solid::cylinder(place(spots), axis, across, 0.95 * unit, 2.0 * unit, false);
                self.solid(pen, paper, &pin, Some(Color::WHITE));
            }
            Part::Universal { spots, axes } => {
                pen.cross(
                    paper.at(place(spots)),
                    axes.each_ref().map(|axis| paper.along(shape.direction(axis, moment))),
                );
            }
            Part::Weld(spots) => pen.weld(paper.at(place(spots))),
            Part::Bushing(spots) => pen.bushing(paper.at(shape.world(&spots[0], moment)), paper.at(place(spots))),
            Part::Plane { spots, normal, touch } => {
                let point = place(spots);
                match touch {
                    Touch::Face => {
                        let normal = shape.direction(normal, moment);
                        let across = across(normal, moment.pose(spots[1].member));
                        let puck = Solid::cylinder(point, normal, across, 2.0 * unit, 0.4 * unit, false);
                        self.solid(pen, paper, &puck, Some(Color::WHITE));
                    }
                    Touch::Point => pen.ring(paper.at(point)),
                    Touch::Ball(radius) => {
                        pen.circle(paper.at(point), radius.evaluate(&shape.u).abs() * paper.scale, false);
                    }
                }
            }
            _ => {}
        }
    }

    /// Torques, and what follows functions of time.
    fn driven(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, index: usize) {
        /// Three quarters of a turn at most; against the clock around the axis that points at the viewer.
        const SWEEP: f64 = -1.5 * PI;
        let unit = self.unit(paper);
        let mut turn = |about: &About, across: Option<Location>, sweep: f64, color: Color| {
            let axle = self.shape.about(about, moment);
            let across = across.unwrap_or(axle.across);
            pen.near = self.near(paper, axle.point, 2.0);
            pen.torque(paper.at(axle.point), plane(paper, axle.axis, across), sweep, color);
        };
        match &self.shape.sketch.parts[index] {
            Part::Torque { about, .. } => {
                let across = self.projection.across(self.shape.about(about, moment).axis);
                let sweep = SWEEP * moment.load(index).0 / self.strongest[index];
                // a torque that is never there has no sign
                if sweep.is_finite() {
                    turn(about, Some(across), sweep, LOAD);
                }
            }
            Part::DrivenTurn(about) => turn(about, None, SWEEP, FIXED),
            Part::DrivenPoint([spot]) => {
                let point = self.shape.world(spot, moment);
                pen.near = self.near(paper, point, 0.5);
                pen.driven(paper.at(point));
            }
            Part::DrivenSlide { spots: [spot], line } => {
                let point = self.shape.world(spot, moment);
                let arrow = self.shape.direction(line, moment) * (6.0 * unit);
                pen.near = self.near(paper, point, 2.0);
                for end in [point - arrow, point + arrow] {
                    pen.arrow(paper.at(point), paper.at(end), FIXED);
                }
            }
            Part::DrivenAxes(member) => {
                let center = self.shape.center(*member, moment);
                pen.near = self.near(paper, center, 2.0);
                for k in 0..3 {
                    let end = center + moment.pose(*member).rotation.axis(k) * (5.0 * unit);
                    pen.arrow(paper.at(center), paper.at(end), FIXED);
                }
            }
            _ => {}
        }
    }
}

/// Look on paper of a plane across an axis; it is tilted a little where it would be seen from its edge.
fn plane(paper: &Paper, axis: Location, across: Location) -> Plane {
    const LEAST: f64 = 0.45;
    let seen = |across: Location, further: Location| [paper.along(across), paper.along(-further)];
    let (viewer, further) = (paper.viewer(), axis.cross(across));
    let near = axis.dot(viewer);
    if near.abs() >= LEAST {
        return seen(across, further);
    }
    // in the plane that holds the axis and the viewer, both vectors turn with the axis
    let flat = (axis - viewer * near).unit();
    let upright = |near: f64| viewer * (1.0 - near * near).sqrt() - flat * near;
    let (side, before, after) = (flat.cross(viewer), upright(near), upright(LEAST.copysign(near)));
    let turned = |vector: Location| after * vector.dot(before) + side * vector.dot(side);
    seen(turned(across), turned(further))
}

/// A path without what cannot be seen at the printed size.
fn thinned(points: &[(Point, f64)]) -> Vec<(Point, f64)> {
    /// More points make files large.
    const MOST: usize = 5000;
    let mut distance = 0.1;
    loop {
        let mut kept: Vec<(Point, f64)> = Vec::new();
        for (point, near) in points {
            let seen = kept.last().is_none_or(|(last, _)| (last.0 - point.0).hypot(last.1 - point.1) >= distance);
            if seen {
                kept.push((*point, *near));
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
