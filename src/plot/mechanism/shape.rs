//! A sketch for given parameters: outlines of bodies in their own axes, and where everything is at a time.

use std::collections::HashMap;

use super::solid::{self, Bulk, Solid, hull};
use crate::sketch::{About, Direction, GROUND, Kind, Member, Part, Ray, Sketch, Slider, Spot, evaluate};
use crate::spatial::{Side, Vector};

/// A position in the world or on a member, m.
pub(super) type Location = Vector<f64>;

/// Position and orientation of a member.
pub(super) type Pose = crate::spatial::Pose<f64>;

/// What a body looks like, in its own axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outline {
    /// Nothing of its own: a block on a guide shows it.
    Block,
    /// A bar between two points.
    Bar([Location; 2]),
    /// A plate: the corners of a convex polygon in the plane; in space, what is convex around these points.
    Plate(Vec<Location>),
    /// A uniform disc of the body's mass and inertia, around its centre of mass: what is attached at one point only.
    Disc(Location, f64),
    /// The same in space: a solid, with a bar to the point where the body is attached, if that is not in its middle.
    Solid(Solid, Option<[Location; 2]>),
    /// A point mass, or a body without any extension.
    Dot,
}

impl Outline {
    /// The points that span it; a disc's are its centre only.
    pub fn points(&self) -> Vec<Location> {
        match self {
            Outline::Block | Outline::Dot => Vec::new(),
            Outline::Bar(ends) => ends.to_vec(),
            Outline::Plate(corners) => corners.clone(),
            Outline::Disc(center, _) => vec![*center],
            Outline::Solid(solid, stem) => solid.corners().chain(stem.iter().flatten().copied()).collect(),
        }
    }
}

/// Where everything is at a time.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub t: f64,
    poses: Vec<Pose>,
    /// Inputs.
    pub w: Vec<f64>,
}

impl Moment {
    pub fn new(t: f64, poses: Vec<Pose>, w: Vec<f64>) -> Self {
        Moment { t, poses, w }
    }

    /// The pose of a member; one that is not there is drawn at the origin.
    pub fn pose(&self, member: usize) -> Pose {
        self.poses.get(member).copied().unwrap_or_else(|| Side::Ground.pose(&[]))
    }
}

/// An axis in the world, and a unit vector across it that turns with what turns about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axle {
    pub point: Location,
    pub axis: Location,
    pub across: Location,
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
                        if other.member == GROUND {
                            axles.entry(spot.member).or_insert_with(|| spot.clone());
                        }
                    }
                }
                Part::Guide { spots: [_, b], slider, .. } if *slider != Slider::Pin => {
                    blocks.get_mut(b.member).into_iter().for_each(|block| *block = true);
                }
                _ => {}
            }
        }
        let centers: Vec<Location> = sketch.members.iter().map(|member| evaluate(&member.center, u)).collect();
        let bodies = sketch.members.iter().zip(attached.into_iter().zip(blocks)).zip(&centers);
        let outlines = bodies.map(|((member, (spots, block)), center)| outline(member, u, spots, block, *center));
        Shape { sketch, u: u.to_vec(), outlines: outlines.collect(), centers, pins, axles }
    }

    /// Where a spot is in the world.
    pub fn world(&self, spot: &Spot, moment: &Moment) -> Location {
        moment.pose(spot.member).point(spot.at(&self.u))
    }

    /// Where a member's centre of mass is in the world.
    pub fn center(&self, member: usize, moment: &Moment) -> Location {
        moment.pose(member).point(self.centers.get(member).copied().unwrap_or(Vector::zero()))
    }

    /// About which point two members turn against each other: their pin, else the axle of the second, else its centre.
    fn pivot(&self, [a, b]: [usize; 2], moment: &Moment) -> Location {
        match self.pins.get(&key(a, b)) {
            Some([spot, _]) => self.world(spot, moment),
            None => self.axle(b, moment).unwrap_or_else(|| self.center(b, moment)),
        }
    }

    /// Where a member is pinned to the ground.
    pub fn axle(&self, member: usize, moment: &Moment) -> Option<Location> {
        self.axles.get(&member).map(|spot| self.world(spot, moment))
    }

    /// What something turns about.
    pub fn about(&self, about: &About, moment: &Moment) -> Axle {
        let (point, axis, member) = match about {
            About::Members(members) => (self.pivot(*members, moment), Vector([0.0, 0.0, 1.0]), members[1]),
            About::Axis { spot, axis, member } => (self.world(spot, moment), self.direction(axis, moment), *member),
        };
        Axle { point, axis, across: across(axis, moment.pose(member)) }
    }

    /// A unit vector in the world.
    pub fn direction(&self, Ray { member, direction }: &Ray, moment: &Moment) -> Location {
        let rotation = moment.pose(*member).rotation;
        match direction {
            Direction::Angle(angle) => {
                let (sin, cos) = angle.evaluate(&self.u).sin_cos();
                rotation.turn(Vector([cos, sin, 0.0]))
            }
            Direction::Vector(vector) => rotation.turn(evaluate(vector, &self.u)).unit(),
        }
    }
}

/// A unit vector across an axis that turns with a pose.
pub(super) fn across(axis: Location, pose: Pose) -> Location {
    let [x, y] = [0, 1].map(|k| pose.rotation.axis(k));
    let upright = |side: Location| (side - axis * axis.dot(side)).unit();
    if axis.dot(x).abs() < 0.9 { upright(x) } else { upright(y) }
}

fn key(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

fn outline(member: &Member, u: &[f64], mut spots: Vec<Location>, block: bool, center: Location) -> Outline {
    let finite = |location: &Location| location.0.iter().all(|x| x.is_finite());
    if !finite(&center) || !spots.iter().all(finite) {
        return Outline::Dot;
    }
    let mass = member.mass.evaluate(u);
    match &member.kind {
        Kind::Ground | Kind::Point => Outline::Dot,
        Kind::Planar(inertia) => {
            spots.push(center);
            planar(&spots, block, center, (2.0 * inertia.evaluate(u) / mass).sqrt())
        }
        Kind::Spatial(inertia) => {
            spatial(spots, block, center, || solid::of_inertia(center, mass, inertia.entries_at(u)))
        }
    }
}

fn planar(spots: &[Location], block: bool, center: Location, radius: f64) -> Outline {
    let hull = hull(spots.iter().map(|spot| [spot.0[0], spot.0[1]]).collect());
    let corners: Vec<Location> = hull.into_iter().map(|[x, y]| Vector([x, y, 0.0])).collect();
    match corners.as_slice() {
        [_] if block => Outline::Block,
        [_] if radius.is_finite() && radius > 0.0 => Outline::Disc(center, radius),
        [_] | [] => Outline::Dot,
        [a, b] => Outline::Bar([*a, *b]),
        _ => Outline::Plate(corners),
    }
}

fn spatial(spots: Vec<Location>, block: bool, center: Location, bulk: impl Fn() -> Option<Bulk>) -> Outline {
    let size = spots.iter().chain([&center]).flat_map(|spot| spot.0).fold(0.0f64, |size, x| size.max(x.abs()));
    let same = |a: Location, b: Location| (a - b).length() <= 1e-9 * size;
    let mut apart: Vec<Location> = Vec::new();
    for spot in spots {
        if !apart.iter().any(|known| same(*known, spot)) {
            apart.push(spot);
        }
    }
    let stem = match apart.as_slice() {
        [] => None,
        [spot] if same(*spot, center) => None,
        [spot] => Some([*spot, center]),
        _ => {
            apart.push(center);
            return solid::line(&apart).map_or(Outline::Plate(apart), Outline::Bar);
        }
    };
    match bulk() {
        _ if block && stem.is_none() => Outline::Block,
        Some(Bulk::Solid(solid)) => Outline::Solid(solid, stem),
        Some(Bulk::Rod([start, end])) => {
            let points: Vec<Location> = [start, end, center].into_iter().chain(stem.into_iter().flatten()).collect();
            solid::line(&points).map_or(Outline::Plate(points), Outline::Bar)
        }
        None => stem.map_or(Outline::Dot, Outline::Bar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects outlines: points inside or on an edge are no corners, and bars are told from plates and discs.
    #[test]
    fn bodies_get_the_outline_of_their_points() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.0], [0.0, 0.0]];
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let flat = |[x, y]: [f64; 2]| Vector([x, y, 0.0]);
        let shape = |spots: &[[f64; 2]], block| {
            planar(&spots.iter().copied().map(flat).collect::<Vec<_>>(), block, flat([0.0; 2]), 0.2)
        };
        assert_eq!(shape(&square, false), Outline::Plate(corners.map(flat).to_vec()));
        let bar = Outline::Bar([[0.0, 0.0], [0.6, 0.2]].map(flat));
        assert_eq!(shape(&[[0.0, 0.0], [0.3, 0.1], [0.6, 0.2]], false), bar);
        assert_eq!(shape(&[[0.0, 0.0], [0.0, 0.0]], false), Outline::Disc(flat([0.0; 2]), 0.2));
        assert_eq!(shape(&[[0.0, 0.0]], true), Outline::Block);
        assert_eq!(planar(&[flat([0.0, 0.0])], false, flat([0.0; 2]), f64::NAN), Outline::Dot);
    }

    /// Protects outlines in space: two points make a bar, more a plate, one a solid on a stem.
    #[test]
    fn bodies_of_space_get_the_outline_of_their_points() {
        let center = Vector([0.0, 0.0, 0.1]);
        let ball = || solid::of_inertia(center, 1.0, [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]);
        let shape =
            |spots: &[[f64; 3]], block| spatial(spots.iter().copied().map(Vector).collect(), block, center, ball);
        let (top, foot) = (Vector([0.0, 0.0, 0.5]), Vector([0.0, 0.0, 0.0]));
        assert_eq!(shape(&[top.0, foot.0, foot.0], false), Outline::Bar([foot, top]));
        assert_eq!(shape(&[top.0, [0.2, 0.0, 0.1], foot.0], false).points().len(), 4);
        let Outline::Solid(_, stem) = shape(&[foot.0, foot.0], true) else { panic!() };
        assert_eq!(stem, Some([foot, center]));
        assert!(matches!(shape(&[], false), Outline::Solid(_, None)));
        assert!(matches!(shape(&[center.0], false), Outline::Solid(_, None)));
        assert_eq!(shape(&[center.0], true), Outline::Block);
        assert_eq!(spatial(vec![center], false, center, || None), Outline::Dot);
    }
}
