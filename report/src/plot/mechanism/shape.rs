//! A sketch for given parameters: outlines of bodies in their own axes, and where everything is at a time.

use std::borrow::Cow;
use std::collections::HashMap;

use super::solid::{self, Bulk, Face, Solid, hull};
use costate::sketch;
use costate::sketch::{About, GROUND, Mass, Member, MemberKind, Part, Ray, Sketch, Slider, Spot, evaluate};
use costate::vector::Vector;

/// A position in the world or on a member, m.
pub(super) type Location = Vector<f64>;

/// Position and orientation of a member.
pub(super) type Pose = costate::vector::Pose<f64>;

/// Shape that a body is drawn with, in its own axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outline {
    /// Nothing of its own: a block on a guide shows it.
    Block,
    /// A bar between two points.
    Bar([Location; 2]),
    /// A plate: the corners of a convex polygon in the plane; in space, what is convex around these points.
    Plate(Vec<Location>),
    /// A uniform disc (in space, a ball) of the body's mass and inertia, around its centre of mass: what is attached at one
    /// point only.
    Disc(Location, f64),
    /// A uniform solid of the body's mass and inertia around its centre of mass, in space, if it is no ball.
    Solid(Solid),
    /// What the mechanism says that it looks like.
    Made(Vec<Piece>),
    /// A point mass, or a body without any extension.
    Dot,
}

/// A piece of what a body looks like, in its axes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Solid(Solid),
    /// All around a line, of which only edges are drawn where there is something else.
    Room(Solid),
    /// A ball by its centre and radius.
    Ball(Location, f64),
}

impl Piece {
    fn of(solid: &sketch::Solid, u: &[f64]) -> Option<Self> {
        let unit = |ray: &Ray| ray.direction.on_member(u).unit();
        let upright = |axis: Location, way: Location| (way - axis * axis.dot(way)).unit();
        let piece = match solid {
            sketch::Solid::Cuboid { center, axis, across, edges } => {
                let z = unit(axis);
                let x = upright(z, unit(across));
                let half = evaluate(edges, u).0.map(|edge| 0.5 * edge);
                Piece::Solid(Solid::cuboid(center.at(u), [x, z.cross(x), z], half))
            }
            sketch::Solid::Cylinder { center, axis, radius, length, is_round } => {
                let (axis, radius, half) = (unit(axis), radius.evaluate(u), 0.5 * length.evaluate(u));
                let (center, across) = (center.at(u), across(axis, Pose::default()));
                Piece::Solid(if *is_round {
                    Solid::capsule([center - axis * half, center + axis * half], axis, across, radius)
                } else {
                    Solid::cylinder(center, axis, across, radius, half, false)
                })
            }
            sketch::Solid::Ball { center, radius } => Piece::Ball(center.at(u), radius.evaluate(u)),
            sketch::Solid::Room { ends, radius } => {
                let [from, to] = ends.each_ref().map(|end| end.at(u));
                let radius = radius.evaluate(u);
                if (to - from).length() <= 1e-9 * radius {
                    Piece::Ball(from, radius)
                } else {
                    let axis = (to - from).unit();
                    Piece::Room(Solid::capsule([from, to], axis, across(axis, Pose::default()), radius))
                }
            }
        };
        // what is not finite, or has no extent, is not drawn
        let is_seen = match &piece {
            Piece::Solid(solid) | Piece::Room(solid) => {
                solid.corners().all(|corner| corner.0.iter().all(|x| x.is_finite()))
            }
            Piece::Ball(center, radius) => *radius > 0.0 && center.0.iter().chain([radius]).all(|x| x.is_finite()),
        };
        is_seen.then_some(piece)
    }

    /// Points around it, all in its convex hull's extent.
    fn points(&self) -> Vec<Location> {
        match self {
            Piece::Solid(solid) | Piece::Room(solid) => solid.corners().collect(),
            Piece::Ball(center, radius) => {
                let ways = (0..3).map(|k| Vector(std::array::from_fn(|j| if j == k { *radius } else { 0.0 })));
                ways.flat_map(|way: Location| [*center + way, *center - way]).collect()
            }
        }
    }
}

impl Outline {
    /// The outline of a ball or a solid of a body's inertia about its centre, no farther from there than `most`.
    fn within(self, center: Location, most: f64) -> Self {
        match self {
            Outline::Disc(at, radius) => Outline::Disc(at, radius.min(most)),
            Outline::Solid(solid) => {
                let far = solid.corners().map(|corner| (corner - center).length()).fold(0.0, f64::max);
                let part = if far > most { most / far } else { 1.0 };
                let moved = |face: &Face| Face {
                    corners: face.corners.iter().map(|corner| center + (*corner - center) * part).collect(),
                    lines: face.lines,
                };
                Outline::Solid(Solid { faces: solid.faces.iter().map(moved).collect() })
            }
            other => other,
        }
    }

    /// The points that span it; a disc's are its centre only.
    pub fn points(&self) -> Vec<Location> {
        match self {
            Outline::Block | Outline::Dot => Vec::new(),
            Outline::Bar(ends) => ends.to_vec(),
            Outline::Plate(corners) => corners.clone(),
            Outline::Disc(center, _) => vec![*center],
            Outline::Solid(solid) => solid.corners().collect(),
            Outline::Made(pieces) => pieces.iter().flat_map(Piece::points).collect(),
        }
    }
}

/// A point of a body that is fixed to its ball or solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stem {
    /// Position in the body's axes, m.
    pub at: Location,
    /// True if a part is attached there, else a sensor.
    pub carries: bool,
}

/// Poses, loads and inputs at a time.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub t: f64,
    poses: Vec<Pose>,
    /// Strengths of parts that are forces or torques, N or N m, and unit vectors along forces.
    loads: Vec<(f64, Location)>,
    /// Inputs as the places of supports, which move with everything else if motions are exaggerated.
    places: Vec<f64>,
}

impl Moment {
    /// Poses and loads of a sketch at a time, with positions, inputs, and inputs as the places of supports.
    pub fn new(t: f64, sketch: &Sketch, q: &[f64], u: &[f64], (w, places): (&[f64], Vec<f64>)) -> Self {
        let mut moment = Moment { t, poses: sketch.poses(q), loads: Vec::new(), places };
        let load = |part: &Part| match part {
            Part::Force { along, .. } => (part.amount(t, w, u), direction(along, u, &moment)),
            _ => (part.amount(t, w, u), Vector::zero()),
        };
        moment.loads = sketch.parts.iter().map(load).collect();
        moment
    }

    /// Strength of a part that is a force or torque, N or N m, and a unit vector along the force.
    pub fn load(&self, part: usize) -> (f64, Location) {
        self.loads.get(part).copied().unwrap_or((0.0, Vector::zero()))
    }

    /// The pose of a member; one that is not there is drawn at the origin.
    pub fn pose(&self, member: usize) -> Pose {
        self.poses.get(member).copied().unwrap_or_default()
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
    pub sketch: Cow<'a, Sketch>,
    pub u: Vec<f64>,
    /// Shapes of the members, one each; the ground has none.
    pub outlines: Vec<Outline>,
    /// Stems from the centre of mass to points outside of balls and solids; one list a member.
    pub stems: Vec<Vec<Stem>>,
    /// Centres of mass, in the members' axes.
    pub centers: Vec<Location>,
    /// Pins by the members that they join, the smaller place first.
    pins: HashMap<[usize; 2], [Spot; 2]>,
    /// The first pin that holds a member to the ground, as a spot of the member.
    axles: HashMap<usize, Spot>,
}

/// A body between joints at one point is drawn no larger than one part in so many of all arms together.
const WRIST: f64 = 12.0;

impl<'a> Shape<'a> {
    pub fn new(sketch: Cow<'a, Sketch>, u: &[f64]) -> Self {
        let mut attached: Vec<Vec<Location>> = vec![Vec::new(); sketch.members.len()];
        let mut blocks = vec![false; sketch.members.len()];
        let mut seen = attached.clone();
        let note = |spots: &mut Vec<Vec<Location>>, spot: &Spot| {
            spots.get_mut(spot.member).into_iter().for_each(|spots| spots.push(spot.at(u)));
        };
        sketch.parts.iter().flat_map(Part::spots).for_each(|spot| note(&mut attached, spot));
        sketch.traces.iter().chain(&sketch.sensors).for_each(|spot| note(&mut seen, spot));
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
        let masses: Vec<Mass> = sketch.members.iter().map(|member| member.mass_at(u)).collect();
        let centers: Vec<Location> = masses.iter().map(|own| Vector(own.center)).collect();
        let arms: f64 = attached.iter().skip(1).map(|spots| spread(spots)).sum();
        let looks = sketch.members.iter().zip(&centers).enumerate().map(|(k, (member, center))| {
            let points = Points { attached: &attached[k], seen: &seen[k], center: *center, block: blocks[k] };
            let (outline, stems) = points.looks(member, &masses[k]);
            // inertias of robots' files are often no body's: between joints of a wrist it would hide the arm
            let hides = sketch.in_space && attached[k].len() > 1 && arms > 0.0;
            (if hides { outline.within(*center, arms / WRIST) } else { outline }, stems)
        });
        let (mut outlines, mut stems): (Vec<_>, Vec<_>) = looks.unzip();
        for solid in &sketch.solids {
            let (Some(outline), Some(piece)) = (outlines.get_mut(solid.member()), Piece::of(solid, u)) else {
                continue;
            };
            match outline {
                Outline::Made(pieces) => pieces.push(piece),
                other => *other = Outline::Made(vec![piece]),
            }
            stems[solid.member()].clear();
        }
        Shape { sketch, u: u.to_vec(), outlines, stems, centers, pins, axles }
    }

    /// Position of a spot in the world.
    pub fn world(&self, spot: &Spot, moment: &Moment) -> Location {
        moment.pose(spot.member).point(spot.at(&self.u))
    }

    /// Position of a member's centre of mass in the world.
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

    /// Position of the pin by which a member is held to the ground, in the world.
    pub fn axle(&self, member: usize, moment: &Moment) -> Option<Location> {
        self.axles.get(&member).map(|spot| self.world(spot, moment))
    }

    /// Axis, in the world, about which something turns.
    pub fn about(&self, about: &About, moment: &Moment) -> Axle {
        let (point, axis, member) = match about {
            About::Members(members) => (self.pivot(*members, moment), Vector([0.0, 0.0, 1.0]), members[1]),
            About::Axis { spot, axis, member } => (self.world(spot, moment), self.direction(axis, moment), *member),
        };
        Axle { point, axis, across: across(axis, moment.pose(member)) }
    }

    /// A unit vector in the world.
    pub fn direction(&self, ray: &Ray, moment: &Moment) -> Location {
        direction(ray, &self.u, moment)
    }

    /// Support that an input moves, of a spring: its place, the point that it carries, and the unit vector from there to the
    /// support.
    pub fn support(&self, part: &Part, moment: &Moment) -> Option<[Location; 3]> {
        let Part::Support { spots: [spot], direction, input } = part else { return None };
        let displacement = *moment.places.get(*input)?;
        let (sin, cos) = direction.evaluate(&self.u).sin_cos();
        let (carried, along) = (self.world(spot, moment), Vector([cos, sin, 0.0]));
        let distance = along.dot(carried) - displacement;
        let outward = if distance < 0.0 { along } else { -along };
        Some([carried - along * distance, carried, outward])
    }
}

/// A unit vector in the world.
fn direction(ray: &Ray, u: &[f64], moment: &Moment) -> Location {
    moment.pose(ray.member).rotation.turn(ray.direction.on_member(u)).unit()
}

/// A unit vector across an axis that turns with a pose.
pub(super) fn across(axis: Location, pose: Pose) -> Location {
    let [x, y] = [0, 1].map(|k| pose.rotation.axis(k));
    let upright = |side: Location| (side - axis * axis.dot(side)).unit();
    if axis.dot(x).abs() < 0.9 { upright(x) } else { upright(y) }
}

/// The largest distance between two points.
fn spread(points: &[Location]) -> f64 {
    let from = |k: usize| points[k + 1..].iter().map(move |other| (*other - points[k]).length());
    (0..points.len()).flat_map(from).filter(|length| length.is_finite()).fold(0.0, f64::max)
}

fn key(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

/// The points of a body that are known, in its axes.
#[derive(Clone, Copy)]
struct Points<'p> {
    /// Points where parts are attached.
    attached: &'p [Location],
    /// Points that sensors see.
    seen: &'p [Location],
    center: Location,
    /// A block on a guide shows it.
    block: bool,
}

impl Points<'_> {
    fn looks(&self, member: &Member, own: &Mass) -> (Outline, Vec<Stem>) {
        let finite = |location: &Location| location.0.iter().all(|x| x.is_finite());
        if !self.all().iter().all(finite) {
            return (Outline::Dot, Vec::new());
        }
        match &member.kind {
            MemberKind::Ground | MemberKind::Point => (Outline::Dot, Vec::new()),
            MemberKind::Posed(posed) => (self.planar(posed.radius, posed.bar), Vec::new()),
            MemberKind::Planar(_) => (self.planar((2.0 * own.inertia[2] / own.mass).sqrt(), None), Vec::new()),
            MemberKind::Spatial(_) => self.spatial(|| solid::of_inertia(self.center, own.mass, own.inertia)),
        }
    }

    fn all(&self) -> Vec<Location> {
        self.attached.iter().chain(self.seen).copied().chain([self.center]).collect()
    }

    /// `radius` is that of the uniform disc.
    /// A body of the plane; a `bar` has both ends, whether something is attached there or not.
    fn planar(&self, radius: f64, bar: Option<f64>) -> Outline {
        let ends = bar.into_iter().flat_map(|length| [[0.0, 0.0], [length, 0.0]]);
        let hull = hull(self.all().iter().map(|spot| [spot.0[0], spot.0[1]]).chain(ends).collect());
        let corners: Vec<Location> = hull.into_iter().map(|[x, y]| Vector([x, y, 0.0])).collect();
        match corners.as_slice() {
            [_] if self.block => Outline::Block,
            [_] if radius.is_finite() && radius > 0.0 => Outline::Disc(self.center, radius),
            [_] | [] => Outline::Dot,
            [a, b] => Outline::Bar([*a, *b]),
            _ => Outline::Plate(corners),
        }
    }

    /// Shape of a body in space: around its points, if it hangs between several parts; else from its mass and inertia.
    fn spatial(&self, bulk: impl Fn() -> Option<Bulk>) -> (Outline, Vec<Stem>) {
        let all = self.all();
        let size = all.iter().flat_map(|spot| spot.0).fold(0.0f64, |size, x| size.max(x.abs()));
        let apart = |a: Location, b: Location| (a - b).length() > 1e-9 * size;
        let stems = [(self.attached, true), (self.seen, false)].into_iter().flat_map(|(spots, carries)| {
            spots.iter().filter(|spot| apart(**spot, self.center)).map(move |at| Stem { at: *at, carries })
        });
        let stems: Vec<Stem> = stems.collect();
        let around = || match solid::line(&all) {
            Some(ends) => (Outline::Bar(ends), Vec::new()),
            None => (Outline::Plate(all.clone()), Vec::new()),
        };
        let several = self.attached.iter().any(|spot| apart(*spot, self.attached[0]));
        match bulk() {
            _ if several => around(),
            _ if self.block && stems.is_empty() => (Outline::Block, stems),
            Some(Bulk::Solid(solid)) => (Outline::Solid(solid), stems),
            Some(Bulk::Ball(radius)) => (Outline::Disc(self.center, radius), stems),
            Some(Bulk::Rod(ends)) => {
                let points: Vec<Location> = ends.into_iter().chain(self.attached.iter().copied()).collect();
                (solid::line(&points).map_or(Outline::Plate(points), Outline::Bar), stems)
            }
            None if stems.is_empty() => (Outline::Dot, stems),
            None => around(),
        }
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
        let shape = |spots: &[[f64; 2]], block, radius| {
            let attached: Vec<Location> = spots.iter().copied().map(flat).collect();
            Points { attached: &attached, seen: &[], center: flat([0.0; 2]), block }.planar(radius, None)
        };
        assert_eq!(shape(&square, false, 0.2), Outline::Plate(corners.map(flat).to_vec()));
        let bar = Outline::Bar([[0.0, 0.0], [0.6, 0.2]].map(flat));
        assert_eq!(shape(&[[0.0, 0.0], [0.3, 0.1], [0.6, 0.2]], false, 0.2), bar);
        assert_eq!(shape(&[[0.0, 0.0], [0.0, 0.0]], false, 0.2), Outline::Disc(flat([0.0; 2]), 0.2));
        assert_eq!(shape(&[[0.0, 0.0]], true, 0.2), Outline::Block);
        assert_eq!(shape(&[[0.0, 0.0]], false, f64::NAN), Outline::Dot);
    }

    /// Protects outlines in space: parts at two points make a bar, at more a plate, at one a solid on a stem, and sensors are
    /// no parts.
    #[test]
    fn bodies_of_space_get_the_outline_of_their_points() {
        let center = Vector([0.0, 0.0, 0.1]);
        let shape = |attached: &[Location], seen: &[Location], block, entries| {
            let points = Points { attached, seen, center, block };
            points.spatial(|| solid::of_inertia(center, 1.0, entries))
        };
        let (cuboid, ball) = ([0.1, 0.2, 0.25, 0.0, 0.0, 0.0], [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]);
        let [top, foot, side] = [[0.0, 0.0, 0.5], [0.0; 3], [0.2, 0.0, 0.1]].map(Vector);
        assert_eq!(shape(&[top, foot, foot], &[], false, ball).0, Outline::Bar([foot, top]));
        assert_eq!(shape(&[top, side, foot], &[], false, ball).0.points().len(), 4);
        let (outline, stems) = shape(&[foot, foot], &[center, top], true, cuboid);
        assert!(matches!(outline, Outline::Solid(_)));
        assert_eq!(
            stems.iter().map(|stem| (stem.at, stem.carries)).collect::<Vec<_>>(),
            [(foot, true), (foot, true), (top, false)]
        );
        assert!(matches!(shape(&[], &[], false, cuboid).0, Outline::Solid(_)));
        let (outline, _) = shape(&[center], &[top, side], false, ball);
        assert!(matches!(outline, Outline::Disc(at, radius) if at == center && (radius - 0.5).abs() < 1e-12));
        assert_eq!(shape(&[center], &[], true, ball).0, Outline::Block);
        assert_eq!(shape(&[center], &[], false, [0.0; 6]).0, Outline::Dot);
        assert_eq!(shape(&[foot], &[], false, [0.0; 6]).0, Outline::Bar([center, foot]));
    }
}
