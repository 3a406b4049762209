//! Bodies: bars, plates, discs, balls, solids, and their centres of mass.

use super::super::scene::{Color, Point};
use super::depth::subdivided;
use super::shape::{Location, Moment, Outline, Piece, Pose};
use super::solid::{Lines, Solid, hull};
use super::stage::{Paper, Stage};
use super::symbols::{INK, Pen};
use costate::sketch::MemberKind;
use std::f64::consts::TAU;

impl Stage<'_> {
    /// Convex outline of a body on paper; a plate of the plane has its corners in order already.
    pub(super) fn silhouette(&self, paper: &Paper, pose: Pose, outline: &Outline) -> Vec<Point> {
        let points: Vec<Point> = outline.points().into_iter().map(|point| paper.at(pose.point(point))).collect();
        if self.shape.sketch.in_space { convex(points) } else { points }
    }

    /// Draws all bodies but those that lie upon ropes and blocks, or only those: discs of plain models, such as drums, that a block would
    /// hide.
    pub(super) fn bodies(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment, upon: bool) {
        let (most, _) = pen.block_size();
        let small = |member: usize, outline: &Outline| {
            self.posed(member) && matches!(outline, Outline::Disc(_, radius) if radius * paper.scale < most)
        };
        let outlines = self.shape.outlines.iter().enumerate().skip(1);
        for (member, outline) in outlines.filter(|(member, outline)| small(*member, outline) == upon) {
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
                    self.solid(pen, paper, &solid.placed(&pose), (!self.hollow[member]).then_some(fill));
                }
                Outline::Made(pieces) => self.pieces(pen, paper, pose, pieces, (fill, 0.0)),
                Outline::Dot | Outline::Block => {}
            }
        }
    }

    /// What a member looks like, with its colour, and how far behind the rest, m; of the room that it keeps, only edges are drawn, unless
    /// there is nothing else.
    pub(super) fn pieces(
        &self,
        pen: &mut Pen<'_>,
        paper: &Paper,
        pose: Pose,
        pieces: &[Piece],
        (fill, behind): (Color, f64),
    ) {
        let is_more = pieces.iter().any(|piece| !matches!(piece, Piece::Room(_)));
        for piece in pieces {
            let (solid, fill) = match piece {
                Piece::Ball(center, radius) => {
                    pen.near = paper.near(pose.point(*center)) - behind;
                    self.ball(pen, paper, pose, (pose.point(*center), *radius), fill);
                    continue;
                }
                Piece::Solid(solid) => (solid, Some(fill)),
                Piece::Room(solid) => (solid, (!is_more).then_some(fill)),
            };
            let placed = solid.placed(&pose);
            pen.near = paper.near(placed.middle()) - behind;
            self.solid(pen, paper, &placed, fill);
        }
    }

    /// True if a plain model gives the pose of a member.
    fn posed(&self, member: usize) -> bool {
        self.shape.sketch.members.get(member).is_some_and(|member| matches!(member.kind, MemberKind::Posed(_)))
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

    /// Draws a solid; its edges only, if there is no colour to fill it with.
    pub(super) fn solid(&self, pen: &mut Pen<'_>, paper: &Paper, solid: &Solid, fill: Option<Color>) {
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
    pub(super) fn centers(&self, pen: &mut Pen<'_>, paper: &Paper, moment: &Moment) {
        for (member, outline) in self.shape.outlines.iter().enumerate().skip(1) {
            let center = self.shape.center(member, moment);
            pen.near = self.near(paper, center, 1.0);
            match outline {
                // a plain model does not say where the centre of mass is
                Outline::Bar(_) | Outline::Plate(_) if !self.jointed[member] && !self.posed(member) => {
                    pen.center(paper.at(center), paper.angle(moment.pose(member)));
                }
                Outline::Dot => pen.mass(paper.at(center)),
                _ => {}
            }
        }
    }
}

/// Mean nearness of points to the viewer, m.
pub(super) fn mean(paper: &Paper, points: impl ExactSizeIterator<Item = Location>) -> f64 {
    let count = points.len() as f64;
    points.map(|point| paper.near(point)).sum::<f64>() / count
}

/// Convex hull of points on paper.
fn convex(points: Vec<Point>) -> Vec<Point> {
    hull(points.into_iter().map(|(x, y)| [x, y]).collect()).into_iter().map(|[x, y]| (x, y)).collect()
}
