//! A sketch for given parameters: outlines of bodies in their own axes, and where everything is at a time.

use std::collections::HashMap;

use crate::planar::{Pose, Side};
use crate::sketch::{Part, Sketch, Spot};

/// A position in the world or on a member, m.
pub(super) type Location = [f64; 2];

/// What a body looks like, in its own axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outline {
    /// Nothing of its own: a block on a guide shows it.
    Block,
    /// A bar between two points.
    Bar([Location; 2]),
    /// A plate: the corners of a convex polygon.
    Plate(Vec<Location>),
    /// A uniform disc of the body's mass and inertia, around its centre of mass: what is attached at one point only.
    Disc(Location, f64),
    /// A point mass, or a body without any extension.
    Dot,
}

/// Where everything is at a time.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub t: f64,
    poses: Vec<Pose<f64>>,
    /// Inputs.
    pub w: Vec<f64>,
}

impl Moment {
    pub fn new(t: f64, poses: Vec<Pose<f64>>, w: Vec<f64>) -> Self {
        Moment { t, poses, w }
    }

    /// The pose of a member; one that is not there is drawn at the origin.
    pub fn pose(&self, member: usize) -> Pose<f64> {
        self.poses.get(member).copied().unwrap_or_else(|| Side::Ground.pose(&[]))
    }
}

/// The sketch with numbers in the place of parameters.
pub(super) struct Shape<'a> {
    pub sketch: &'a Sketch,
    pub u: Vec<f64>,
    /// One a member; the ground has none.
    pub outlines: Vec<Outline>,
    /// Centres of mass, in the members' axes.
    pub centers: Vec<Location>,
    /// Pins by the members that they join, the smaller place first.
    pins: HashMap<[usize; 2], [Spot; 2]>,
    /// The first pin that holds a member to the ground, as a spot of the member.
    axles: HashMap<usize, Spot>,
}

impl<'a> Shape<'a> {
    pub fn new(sketch: &'a Sketch, u: &[f64]) -> Self {
        let mut attached: Vec<Vec<Location>> = vec![Vec::new(); sketch.members.len()];
        let mut blocks = vec![false; sketch.members.len()];
        let mut note = |spot: &Spot| attached.get_mut(spot.member).into_iter().for_each(|spots| spots.push(spot.at(u)));
        sketch.parts.iter().flat_map(Part::spots).for_each(&mut note);
        sketch.traces.iter().chain(&sketch.sensors).for_each(&mut note);
        let (mut pins, mut axles) = (HashMap::new(), HashMap::new());
        for part in &sketch.parts {
            match part {
                Part::Pin([a, b]) => {
                    pins.entry(key(a.member, b.member)).or_insert_with(|| [a.clone(), b.clone()]);
                    for (spot, other) in [(a, b), (b, a)] {
                        if other.member == crate::sketch::GROUND {
                            axles.entry(spot.member).or_insert_with(|| spot.clone());
                        }
                    }
                }
                Part::Guide { spots: [_, b], block: true, .. } => {
                    blocks.get_mut(b.member).into_iter().for_each(|block| *block = true);
                }
                _ => {}
            }
        }
        let mut outlines = Vec::new();
        let mut centers = Vec::new();
        for (member, (mut spots, block)) in sketch.members.iter().zip(attached.into_iter().zip(blocks)) {
            let center = member.center.each_ref().map(|value| value.evaluate(u));
            let (mass, inertia) = (member.mass.evaluate(u), member.inertia.evaluate(u));
            spots.push(center);
            centers.push(center);
            outlines.push(match member.side {
                Side::Body => outline(spots, block, center, (2.0 * inertia / mass).sqrt()),
                Side::Ground | Side::Point => Outline::Dot,
            });
        }
        Shape { sketch, u: u.to_vec(), outlines, centers, pins, axles }
    }

    /// Where a spot is in the world.
    pub fn world(&self, spot: &Spot, moment: &Moment) -> Location {
        moment.pose(spot.member).point(spot.at(&self.u))
    }

    /// Where a member's centre of mass is in the world.
    pub fn center(&self, member: usize, moment: &Moment) -> Location {
        moment.pose(member).point(self.centers.get(member).copied().unwrap_or_default())
    }

    /// About which point two members turn against each other: their pin, else the axle of the second, else its centre.
    pub fn pivot(&self, [a, b]: [usize; 2], moment: &Moment) -> Location {
        match self.pins.get(&key(a, b)) {
            Some([spot, _]) => self.world(spot, moment),
            None => self.axle(b, moment).unwrap_or_else(|| self.center(b, moment)),
        }
    }

    /// Where a member is pinned to the ground.
    pub fn axle(&self, member: usize, moment: &Moment) -> Option<Location> {
        self.axles.get(&member).map(|spot| self.world(spot, moment))
    }

    /// The unit vector of a guide or contact line in the world.
    pub fn direction(&self, line: &Spot, direction: &crate::assembly::Value, moment: &Moment) -> Location {
        let (sin, cos) = (moment.pose(line.member).angle + direction.evaluate(&self.u)).sin_cos();
        [cos, sin]
    }

    /// Of a spring to a support that an input moves: the support's place, the point that it carries, and the unit vector from
    /// there to the support.
    pub fn support(&self, part: &Part, moment: &Moment) -> Option<(Location, Location, Location)> {
        let Part::Support { spots: [spot], direction, input } = part else { return None };
        let displacement = *moment.w.get(*input)?;
        let (sin, cos) = direction.evaluate(&self.u).sin_cos();
        let [x, y] = self.world(spot, moment);
        let distance = cos * x + sin * y - displacement;
        let side = if distance < 0.0 { 1.0 } else { -1.0 };
        Some(([x - distance * cos, y - distance * sin], [x, y], [side * cos, side * sin]))
    }
}

fn key(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

fn outline(spots: Vec<Location>, block: bool, center: Location, radius: f64) -> Outline {
    let hull = hull(spots);
    match hull.as_slice() {
        _ if hull.iter().flatten().any(|x| !x.is_finite()) => Outline::Dot,
        [_] if block => Outline::Block,
        [_] if radius.is_finite() && radius > 0.0 => Outline::Disc(center, radius),
        [_] | [] => Outline::Dot,
        [a, b] => Outline::Bar([*a, *b]),
        _ => Outline::Plate(hull),
    }
}

/// The convex hull, without points that are the same or on its edges to round-off (Andrew 1979).
fn hull(mut points: Vec<Location>) -> Vec<Location> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let size = points.iter().flatten().fold(0.0f64, |size, x| size.max(x.abs()));
    let near = 1e-9 * size;
    points.dedup_by(|a, b| (a[0] - b[0]).abs() <= near && (a[1] - b[1]).abs() <= near);
    if points.len() < 3 {
        return points;
    }
    let turn = |a: Location, b: Location, c: Location| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let chain = |points: &mut dyn Iterator<Item = Location>| {
        let mut chain: Vec<Location> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && turn(a, b, point) <= near * size
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = chain(&mut points.iter().copied());
    hull.extend(chain(&mut points.iter().rev().copied()));
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects outlines: points inside or on an edge are no corners, and bars are told from plates and discs.
    #[test]
    fn bodies_get_the_outline_of_their_points() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.0], [0.0, 0.0]];
        let corners = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let shape = |spots: &[Location], block| outline(spots.to_vec(), block, [0.0; 2], 0.2);
        assert_eq!(shape(&square, false), Outline::Plate(corners));
        assert_eq!(shape(&[[0.0, 0.0], [0.3, 0.1], [0.6, 0.2]], false), Outline::Bar([[0.0, 0.0], [0.6, 0.2]]));
        assert_eq!(shape(&[[0.0, 0.0], [0.0, 0.0]], false), Outline::Disc([0.0, 0.0], 0.2));
        assert_eq!(shape(&[[0.0, 0.0]], true), Outline::Block);
        assert_eq!(outline(vec![[0.0, 0.0]], false, [0.0; 2], f64::NAN), Outline::Dot);
    }
}
