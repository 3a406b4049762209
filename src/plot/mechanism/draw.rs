//! From a stage and moments to symbols on paper.

use super::super::decimate;
use super::super::scene::{Color, Point, Scene};
use super::depth::{runs, subdivided};
use super::extent::{arrows, square, wheels};
use super::shape::{Axle, Location, Moment, Outline, Pose, across};
use super::solid::{Lines, Solid, hull};
use super::stage::{Paper, Stage};
use super::symbols::{FILLS, FIXED, INK, LOAD, PATHS, Pen, Plane};
use crate::sketch::{About, GROUND, Part, Slider, Spot, Touch};
use crate::spatial::Vector;
use std::f64::consts::{PI, TAU};

/// Below this size of symbols, bodies are plain lines without joints.
const PLAIN: f64 = 0.2;

/// How far a guide of space goes beyond its use, in sizes of symbols.
const RAIL: f64 = 8.0;

impl Stage<'_> {
    /// One panel without its axes.
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
    fn unit(&self, paper: &Paper) -> f64 {
        self.size / paper.scale
    }

    /// How deep a piece of a bar may be, m.
    fn step(&self, paper: &Paper) -> f64 {
        2.0 * self.unit(paper)
    }

    /// How near a symbol at a point is, if it lies upon others by a number of layers. In the plane, all is equally near, and what
    /// is drawn later lies on top.
    fn near(&self, paper: &Paper, location: Location, layers: f64) -> f64 {
        let lift = if self.shape.sketch.in_space { 2.5 * layers * self.unit(paper) } else { 0.0 };
        paper.near(location) + lift
    }

    /// How near the symbol of a joint is: in front of the plates that it joins.
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
    fn line(&self, pen: &mut Pen<'_>, paper: &Paper, ends: [Location; 2], width: f64, color: Color) {
        let points = subdivided(ends, ends.map(|end| paper.near(end)), self.step(paper));
        self.polyline(pen, paper, &points, width, color);
    }

    fn polyline(&self, pen: &mut Pen<'_>, paper: &Paper, points: &[Location], width: f64, color: Color) {
        let points: Vec<(Point, f64)> = points.iter().map(|at| (paper.at(*at), paper.near(*at))).collect();
        for (line, near) in runs(&points, self.step(paper)) {
            pen.near = near;
            pen.path(line, width, color);
        }
    }

    /// The line of a guide or a contact, as far as it is used.
    fn guide(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, index: usize) {
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
    fn plane(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, index: usize) {
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

    fn fill(&self, member: usize) -> Color {
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
                Outline::Plate(_) | Outline::Solid(_) => {
                    let mut corners = self.silhouette(paper, pose, outline);
                    corners.extend(corners.first().copied());
                    pen.path(corners, WIDTH, INK);
                }
                Outline::Disc(center, radius) => pen.circle(at(center), radius * paper.scale, false),
                Outline::Dot | Outline::Block => pen.disc(paper.at(self.shape.center(member, moment)), WIDTH, INK),
            }
        }
        for part in &self.shape.sketch.parts {
            if let Part::Rod(spots) | Part::Strut { spots, .. } = part {
                let ends = spots.iter().map(|spot| paper.at(self.shape.world(spot, moment)));
                pen.path(ends.collect(), WIDTH, if matches!(part, Part::Rod(_)) { INK } else { FIXED });
            }
            if let Some([support, carried, _]) = self.shape.support(part, moment) {
                pen.path(vec![paper.at(support), paper.at(carried)], WIDTH, FIXED);
            }
        }
    }

    /// What is convex around an outline on paper; a plate of the plane has its corners in order already.
    fn silhouette(&self, paper: &Paper, pose: Pose, outline: &Outline) -> Vec<Point> {
        let points: Vec<Point> = outline.points().into_iter().map(|point| paper.at(pose.point(point))).collect();
        if self.shape.sketch.in_space { convex(points) } else { points }
    }

    /// Everything that moves.
    fn pose(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        let shape = self.shape;
        let parts = &shape.sketch.parts;
        let at = |spot: &Spot| paper.at(shape.world(spot, moment));
        for (index, part) in parts.iter().enumerate() {
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
        self.bodies(pen, paper, moment);
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
        for part in parts {
            match part {
                Part::Rod(spots) => {
                    let ends = spots.each_ref().map(|spot| shape.world(spot, moment));
                    self.line(pen, paper, ends, 1.8 * pen.thin(), INK);
                    for end in ends {
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
        for part in parts {
            self.joint(pen, paper, moment, part);
        }
        self.centers(pen, paper, moment);
        for (from, to) in arrows(shape, moment, &self.strongest, self.reach) {
            pen.near = self.near(paper, (from + to) * 0.5, 2.0);
            pen.arrow(paper.at(from), paper.at(to), LOAD);
        }
        for part in parts {
            self.driven(pen, paper, moment, part);
        }
    }

    /// A spring, a damper, or both; by a law of its own, a spring.
    fn strut(
        &self,
        pen: &mut Pen<'_>,
        paper: &Paper,
        [a, b]: [Location; 2],
        linear: Option<&[crate::assembly::Value; 2]>,
    ) {
        let [spring, damper] =
            linear.map_or([true, false], |values| values.each_ref().map(|value| value.evaluate(&self.shape.u) != 0.0));
        pen.near = self.near(paper, (a + b) * 0.5, 0.0);
        pen.strut(paper.at(a), paper.at(b), spring, damper);
    }

    /// What goes along a guide.
    fn slider(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, part: &Part, [_, block]: &[Spot; 2]) {
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
        self.solid(pen, paper, &solid, fill);
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
                self.solid(pen, paper, &pin, Color::WHITE);
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
                        self.solid(pen, paper, &puck, Color::WHITE);
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
    fn driven(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, part: &Part) {
        /// Three quarters of a turn at most; against the clock around the axis that points at the viewer.
        const SWEEP: f64 = -1.5 * PI;
        let unit = self.unit(paper);
        let mut turn = |about: &About, across: Option<Location>, sweep: f64, color: Color| {
            let axle = self.shape.about(about, moment);
            let across = across.unwrap_or(axle.across);
            pen.near = self.near(paper, axle.point, 2.0);
            pen.torque(paper.at(axle.point), plane(paper, axle.axis, across), sweep, color);
        };
        match part {
            Part::Torque { about, input } => {
                if let (Some(w), Some(most)) = (moment.w.get(*input), self.strongest.get(*input))
                    && *most > 0.0
                {
                    let across = self.projection.across(self.shape.about(about, moment).axis);
                    turn(about, Some(across), SWEEP * w / most, LOAD);
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

    fn bodies(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let pose = moment.pose(member);
            let fill = self.fill(member);
            match outline {
                Outline::Bar(ends) => self.bar(pen, paper, ends.map(|end| pose.point(end)), fill),
                Outline::Plate(corners) => {
                    pen.near = mean(paper, corners.iter().map(|corner| pose.point(*corner)));
                    pen.body(self.silhouette(paper, pose, outline), true, fill);
                }
                Outline::Disc(center, radius) => {
                    self.stems(pen, paper, moment, member, |way| radius / way.length());
                    pen.near = paper.near(pose.point(*center));
                    if self.shape.sketch.in_space {
                        self.ball(pen, paper, pose, (pose.point(*center), *radius), fill);
                    } else {
                        pen.wheel(paper.at(pose.point(*center)), radius * paper.scale, paper.angle(pose), fill);
                    }
                }
                Outline::Solid(solid) => {
                    self.stems(pen, paper, moment, member, |way| solid.exit(self.shape.centers[member], way));
                    pen.near = paper.near(self.shape.center(member, moment));
                    self.solid(pen, paper, &solid.placed(&pose), fill);
                }
                Outline::Dot | Outline::Block => {}
            }
        }
    }

    /// From the surface of a ball or solid to what is attached outside: bars, and thin rods to sensors. `exit` says how far from
    /// its centre that is along a vector (body axes), in lengths of the vector.
    fn stems(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, member: usize, exit: impl Fn(Location) -> f64) {
        let (center, pose) = (self.shape.centers[member], moment.pose(member));
        for stem in &self.shape.stems[member] {
            let way = stem.at - center;
            let inside = exit(way);
            if inside >= 1.0 {
                continue;
            }
            let ends = [center + way * inside, stem.at].map(|end| pose.point(end));
            if stem.carries {
                self.bar(pen, paper, ends, self.fill(member));
            } else {
                self.line(pen, paper, ends, pen.thin(), INK);
            }
        }
    }

    /// A ball with the halves of two great circles that are seen.
    fn ball(&self, pen: &mut Pen<'_>, paper: &Paper, pose: Pose, (center, radius): (Location, f64), fill: Color) {
        const CORNERS: u32 = 64;
        pen.ball(paper.at(center), radius * paper.scale, fill);
        for k in 0..2 {
            let [x, y] = [pose.rotation.axis(k), pose.rotation.axis(k + 1)];
            let arm = |i: u32| {
                let (sin, cos) = (TAU * f64::from(i) / f64::from(CORNERS)).sin_cos();
                (x * cos + y * sin) * radius
            };
            let hidden = |i: u32| paper.near(arm(i)) < 0.0;
            let start = (0..CORNERS).find(|i| hidden(*i) && !hidden(i + 1)).map_or(0, |i| i + 1);
            let seen = (start..start + CORNERS).take_while(|i| !hidden(*i));
            pen.path(seen.map(|i| paper.at(center + arm(i))).collect(), 0.8 * pen.thin(), INK);
        }
    }

    /// A bar that may go from far to near.
    fn bar(&self, pen: &mut Pen<'_>, paper: &Paper, ends: [Location; 2], fill: Color) {
        let points = subdivided(ends, ends.map(|end| paper.near(end)), self.step(paper));
        let last = points.len() - 2; // there are two at least
        for (k, pair) in points.windows(2).enumerate() {
            pen.near = mean(paper, pair.iter().copied());
            let [a, b] = [paper.at(pair[0]), paper.at(pair[1])];
            if last == 0 {
                pen.body(vec![a, b], false, fill);
            } else {
                pen.piece(a, b, [k == 0, k == last], fill);
            }
        }
    }

    fn solid(&self, pen: &mut Pen<'_>, paper: &Paper, solid: &Solid, fill: Color) {
        let mut faces = Vec::new();
        for face in &solid.faces {
            let rim: Vec<Point> = face.corners.iter().map(|corner| paper.at(*corner)).collect();
            let next = rim.iter().cycle().skip(1);
            // upwards is negative on paper
            let area: f64 = rim.iter().zip(next).map(|(a, b)| a.1 * b.0 - a.0 * b.1).sum();
            if area > 0.0 {
                if face.lines == Lines::Marked {
                    let sum = rim.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
                    let count = rim.len() as f64;
                    faces.push(vec![(sum.0 / count, sum.1 / count), rim[0]]);
                }
                if face.lines != Lines::Nothing {
                    faces.push(rim.iter().chain(&rim[..1]).copied().collect());
                }
            }
        }
        pen.solid(convex(solid.corners().map(|corner| paper.at(corner)).collect()), faces, fill);
    }

    /// Centres of mass, unless a joint is there, and point masses.
    fn centers(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let center = self.shape.center(member, moment);
            pen.near = self.near(paper, center, 1.0);
            match outline {
                Outline::Bar(_) | Outline::Plate(_) if !self.jointed[member] => {
                    pen.center(paper.at(center), paper.angle(moment.pose(member)));
                }
                Outline::Dot => pen.mass(paper.at(center)),
                _ => {}
            }
        }
    }
}

/// How near points are in the mean, m.
fn mean(paper: &Paper, points: impl ExactSizeIterator<Item = Location>) -> f64 {
    let count = points.len() as f64;
    points.map(|point| paper.near(point)).sum::<f64>() / count
}

/// What is convex around points on paper.
fn convex(points: Vec<Point>) -> Vec<Point> {
    hull(points.into_iter().map(|(x, y)| [x, y]).collect()).into_iter().map(|[x, y]| (x, y)).collect()
}

/// What a plane across an axis looks like; it is tilted a little where it would be seen from its edge.
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
