//! Sketches of mechanisms: members, and parts with the points where they are attached.
//!
//! A [`Sketch`] is noted down while a `costate_parts::planar::Mechanism` or a `costate_parts::spatial::Mechanism` is put together, or made by
//! a plain model at each time ([`crate::Model::picture`]), and drawn by `costate_report::plot::mechanism`. Properties are kept as they were
//! given, numbers or parameters. Everything lives in space; mechanisms of the plane are in that of z = 0.

use crate::shown::rounded;
use crate::value::Value;
use crate::vector::{Pose, Rotation, Vector};
use std::sync::Arc;

pub use crate::drawing::Place;

/// Place of the ground among the members.
pub const GROUND: usize = 0;

/// Appearance of a mechanism: members, and parts drawn between them; see [`crate::system::System::sketch`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sketch {
    /// True for a mechanism that moves in space, and not in the plane only.
    pub in_space: bool,
    /// The ground, then bodies and point masses.
    pub members: Vec<Member>,
    /// Parts that are drawn between the members.
    pub parts: Vec<Part>,
    /// What members fill; those that fill nothing are drawn by their parts, masses and inertias.
    pub solids: Vec<Solid>,
    /// Points whose path is drawn.
    pub traces: Vec<Spot>,
    /// Points at which other sensors sit.
    pub sensors: Vec<Spot>,
}

/// Something that parts are fixed to.
#[derive(Debug, Clone)]
pub struct Member {
    /// Kind of the member: ground, point or body.
    pub kind: MemberKind,
    /// Places of the member's coordinates.
    pub coordinates: Vec<usize>,
    center: [Value; 3],
    mass: Value,
}

/// Kind of a member: meaning of its coordinates, and distribution of a body's mass.
#[derive(Debug, Clone)]
pub enum MemberKind {
    /// The ground, which does not move; no coordinates.
    Ground,
    /// Coordinates (x, y) or (x, y, z).
    Point,
    /// Coordinates (x, y, φ); inertia, kg m².
    Planar(Value),
    /// Coordinates (x, y, z) and Euler parameters; mass and centre are those of the function.
    Spatial(MassAt),
    /// A member that a plain model places at a time; no coordinates.
    Posed(Box<Posed>),
}

/// A member that a plain model puts into the plane.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Posed {
    /// Name of the member.
    pub name: String,
    /// Position x and y, m, and an angle, rad.
    pub pose: [f64; 3],
    /// Radius of a disc, m; zero for points and bodies.
    pub radius: f64,
    /// The length of a bar, m, along its own first axis.
    pub bar: Option<f64>,
}

impl Member {
    /// Name of the member for messages.
    pub fn shown(&self) -> String {
        match &self.kind {
            MemberKind::Ground => "the ground".to_string(),
            MemberKind::Posed(posed) => format!("`{}`", posed.name),
            _ => "a member".to_string(),
        }
    }
}

/// A point of a member, in its axes, m.
#[derive(Debug, Clone)]
pub struct Spot {
    /// The member, by its place in [`Sketch::members`].
    pub member: usize,
    /// Place of the point in the member's axes, m.
    pub location: [Value; 3],
}

/// A direction that is fixed to a member.
#[derive(Debug, Clone)]
pub struct Ray {
    /// The member, by its place in [`Sketch::members`].
    pub member: usize,
    /// Direction in the member's axes.
    pub direction: Direction,
}

/// A direction in a member's axes.
#[derive(Debug, Clone)]
pub enum Direction {
    /// Angle against x, in the plane, rad.
    Angle(Value),
    /// Vector of any length.
    Vector([Value; 3]),
}

/// An item that a plain model is to draw at the same place of a member at all times.
struct Fixed {
    /// Description for messages.
    what: &'static str,
    member: usize,
    /// A place, or a unit vector.
    at: Vector<f64>,
    /// m with a space before it, or nothing.
    unit: &'static str,
}

/// About what something turns.
#[derive(Debug, Clone)]
#[allow(
    missing_docs,
    reason = "what a part is attached to says all of it: `spots` are points, `line`, `axis` and `normal` directions"
)]
pub enum About {
    /// Two members of the plane turn against each other.
    Members([usize; 2]),
    /// A member turns about an axis through a point.
    Axis { spot: Box<Spot>, axis: Ray, member: usize },
}

/// Joint of a body with the guide that it goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slider {
    /// A body that does not turn against the guide.
    Block,
    /// A body that turns about the guide.
    Sleeve,
    /// A body that turns about the guide as far as it slides.
    Nut,
    /// A point of a body.
    Pin,
}

/// Shape of a body that stays on a plane.
#[derive(Debug, Clone)]
pub enum Touch {
    /// A flat face.
    Face,
    /// A point of a body.
    Point,
    /// A ball of a radius, m, that can leave it.
    Ball(Value),
}

/// What a member fills; lengths in m.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the dimensions of solids are what their names say")]
pub enum Solid {
    /// A box about a place: two of its axes, the third one and the first one, and the lengths of its edges along all three.
    Cuboid { center: Spot, axis: Ray, across: Ray, edges: [Value; 3] },
    /// A cylinder about a place, along an axis; a round one has half a ball on each end.
    Cylinder { center: Spot, axis: Ray, radius: Value, length: Value, is_round: bool },
    /// A ball about a place.
    Ball { center: Spot, radius: Value },
    /// Room that is kept free of others: all that is nearer than a radius to the line between two places.
    Room { ends: [Spot; 2], radius: Value },
}

impl Solid {
    /// The member that fills it.
    pub fn member(&self) -> usize {
        match self {
            Solid::Cuboid { center, .. } | Solid::Cylinder { center, .. } | Solid::Ball { center, .. } => center.member,
            Solid::Room { ends: [first, _], .. } => first.member,
        }
    }
}

/// A part of a mechanism that is drawn between members.
#[derive(Debug, Clone)]
#[allow(
    missing_docs,
    reason = "what a part is attached to says all of it: `spots` are points, `line`, `axis` and `normal` directions"
)]
pub enum Part {
    /// Two points coincide: a pin of the plane, a ball in a socket of space.
    Pin([Spot; 2]),
    /// Two points coincide, and axes.
    Hinge { spots: [Spot; 2], axis: Ray },
    /// Two points coincide, and two axes, one a member, are perpendicular.
    Universal { spots: [Spot; 2], axes: [Ray; 2] },
    /// Two points coincide, and axes and angles.
    Weld([Spot; 2]),
    /// The second point slides along a line through the first.
    Guide { spots: [Spot; 2], line: Ray, slider: Slider },
    /// The second point stays in a plane through the first.
    Plane { spots: [Spot; 2], normal: Ray, touch: Touch },
    /// A massless rod.
    Rod([Spot; 2]),
    /// A rope.
    Rope([Spot; 2]),
    /// A spring or damper; by a law of its own, it is drawn as a spring.
    Strut { spots: [Spot; 2], linear: Option<[Value; 2]> },
    /// A spring or damper along a guide's line.
    Axial { spots: [Spot; 2], line: Ray, linear: Option<[Value; 2]> },
    /// An elastic bearing.
    Bushing([Spot; 2]),
    /// A torsional spring or damper; its stiffness, if it is linear.
    Torsion { about: About, stiffness: Option<Value> },
    /// Turns in a fixed ratio.
    Gears { members: [usize; 2], ratio: Value },
    /// A circle around the second point against a line through the first.
    Contact { spots: [Spot; 2], line: Ray, radius: Value },
    /// A spring along a direction (an angle in the plane) to a support that an input moves from the world's origin.
    Support { spots: [Spot; 1], direction: Value, input: usize },
    /// A force along a direction.
    Force { spots: [Spot; 1], along: Ray, amount: Seen },
    /// A torque on the second member, or about an axis.
    Torque { about: About, amount: Seen },
    /// A point follows a path.
    DrivenPoint([Spot; 1]),
    /// A member's axes follow a function of time.
    DrivenAxes(usize),
    /// An angle follows a function of time.
    DrivenTurn(About),
    /// A displacement along a line follows a function of time.
    DrivenSlide { spots: [Spot; 1], line: Ray },
}

/// A strength (N, N m) as drawings need it: at a time, with all inputs and all parameters.
#[derive(Clone)]
pub struct Seen(Arc<StrengthAt>);

type StrengthAt = dyn Fn(f64, &[f64], &[f64]) -> f64 + Send + Sync;

impl Seen {
    /// A strength by a function of time, s, inputs and parameters.
    pub fn of(strength: impl Fn(f64, &[f64], &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Seen(Arc::new(strength))
    }

    /// A strength that is the same at all times, whatever the inputs and parameters are.
    pub fn constant(strength: f64) -> Self {
        Seen::of(move |_, _, _| strength)
    }

    /// Strength at a time, s, with all inputs and parameters.
    pub fn at(&self, t: f64, w: &[f64], u: &[f64]) -> f64 {
        (self.0)(t, w, u)
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen")
    }
}

/// Mass, kg, centre of mass in a member's axes, m, and inertia about it: I_11, I_22, I_33, I_12, I_13, I_23, kg m²; of the plane, I_33 alone.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "all of it is said above")]
pub struct Mass {
    pub mass: f64,
    pub center: [f64; 3],
    pub inertia: [f64; 6],
}

/// The mass of a body of space, with all parameters.
#[derive(Clone)]
pub struct MassAt(Arc<WeighedAt>);

type WeighedAt = dyn Fn(&[f64]) -> Mass + Send + Sync;

impl MassAt {
    /// By a function of parameters.
    pub fn of(mass: impl Fn(&[f64]) -> Mass + Send + Sync + 'static) -> Self {
        MassAt(Arc::new(mass))
    }
}

impl std::fmt::Debug for MassAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MassAt")
    }
}

impl Member {
    /// Mass, centre of mass and inertia with these parameters; of a member that a plain model places, its centre alone.
    pub fn mass_at(&self, u: &[f64]) -> Mass {
        let inertia = match &self.kind {
            MemberKind::Spatial(MassAt(mass)) => return mass(u),
            MemberKind::Planar(inertia) => [0.0, 0.0, inertia.evaluate(u), 0.0, 0.0, 0.0],
            MemberKind::Ground | MemberKind::Point | MemberKind::Posed(_) => [0.0; 6],
        };
        Mass { mass: self.mass.evaluate(u), center: evaluate(&self.center, u).0, inertia }
    }
}

impl Direction {
    /// A vector in the member's axes, of any length.
    pub fn on_member(&self, u: &[f64]) -> Vector<f64> {
        match self {
            Direction::Angle(angle) => {
                let (sin, cos) = angle.evaluate(u).sin_cos();
                Vector([cos, sin, 0.0])
            }
            Direction::Vector(vector) => evaluate(vector, u),
        }
    }
}

impl Part {
    /// The points where it is attached.
    pub fn spots(&self) -> &[Spot] {
        match self {
            Part::Pin(spots) | Part::Weld(spots) | Part::Bushing(spots) => spots,
            Part::Rod(spots) | Part::Rope(spots) => spots,
            Part::Hinge { spots, .. } | Part::Universal { spots, .. } | Part::Plane { spots, .. } => spots,
            Part::Guide { spots, .. } | Part::Strut { spots, .. } | Part::Axial { spots, .. } => spots,
            Part::Contact { spots, .. } => spots,
            Part::Support { spots, .. } => spots,
            Part::Force { spots, .. } | Part::DrivenPoint(spots) | Part::DrivenSlide { spots, .. } => spots,
            Part::Torsion { .. } | Part::Gears { .. } | Part::Torque { .. } => &[],
            Part::DrivenAxes(_) | Part::DrivenTurn(_) => &[],
        }
    }

    /// All points of the part: those where it is attached, and the one which it turns about.
    pub fn places(&self) -> impl Iterator<Item = &Spot> {
        let about = match self {
            Part::Torsion { about: About::Axis { spot, .. }, .. } => Some(&**spot),
            Part::Torque { about: About::Axis { spot, .. }, .. } | Part::DrivenTurn(About::Axis { spot, .. }) => {
                Some(&**spot)
            }
            _ => None,
        };
        self.spots().iter().chain(about)
    }

    /// Strength of a force (N) or torque (N m); zero for other parts.
    pub fn amount(&self, t: f64, w: &[f64], u: &[f64]) -> f64 {
        match self {
            Part::Force { amount, .. } | Part::Torque { amount, .. } => amount.at(t, w, u),
            _ => 0.0,
        }
    }

    /// True for a part whose points hold two members together, so that its symbol covers what else is there.
    pub fn is_joint(&self) -> bool {
        let at_a_point = matches!(self, Part::Pin(_) | Part::Hinge { .. } | Part::Universal { .. } | Part::Weld(_));
        at_a_point || matches!(self, Part::Rod(_) | Part::Guide { .. } | Part::Plane { .. } | Part::Bushing(_))
    }
}

impl Sketch {
    /// The ground alone.
    pub fn new(in_space: bool) -> Self {
        let (parts, solids, traces, sensors) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut sketch = Sketch { in_space, members: Vec::new(), parts, solids, traces, sensors };
        let zero = || Value::from(0.0);
        sketch.member(MemberKind::Ground, Vec::new(), [zero(), zero(), zero()], zero());
        sketch
    }

    /// Adds a member; returns its place.
    pub fn member(&mut self, kind: MemberKind, coordinates: Vec<usize>, center: [Value; 3], mass: Value) -> usize {
        self.members.push(Member { kind, coordinates, center, mass });
        self.members.len() - 1
    }

    /// True if there is nothing but the ground.
    pub fn is_empty(&self) -> bool {
        self.members.len() < 2
    }

    /// Positions and orientations of all members.
    pub fn poses(&self, q: &[f64]) -> Vec<Pose<f64>> {
        (0..self.members.len()).map(|member| self.pose(member, q)).collect()
    }

    fn pose(&self, member: usize, q: &[f64]) -> Pose<f64> {
        // a member of another mechanism is a slip; it is drawn at the origin
        let Some(Member { kind, coordinates, .. }) = self.members.get(member) else {
            return Pose::default();
        };
        let mut own = [0.0; 7];
        own.iter_mut().zip(coordinates).for_each(|(own, j)| *own = q[*j]);
        match kind {
            MemberKind::Ground => Pose::default(),
            MemberKind::Point => Pose { origin: Vector::of(&own), ..Pose::default() },
            MemberKind::Planar(_) => flat([own[0], own[1], own[2]]),
            MemberKind::Posed(posed) => flat(posed.pose),
            MemberKind::Spatial(_) => {
                // between time steps and before a start is projected, they are not quite of unit length
                let length = own[3..].iter().map(|e| e * e).sum::<f64>().sqrt();
                own[3..].iter_mut().for_each(|e| *e /= length);
                let rotation = Rotation::from_euler_parameters([own[3], own[4], own[5], own[6]]);
                Pose { origin: Vector::of(&own), rotation }
            }
        }
    }

    /// Positions of all traced points in the world, m.
    pub fn traced(&self, q: &[f64], u: &[f64]) -> Vec<Vector<f64>> {
        self.traces.iter().map(|spot| self.pose(spot.member, q).point(spot.at(u))).collect()
    }

    /// A contradiction of a later sketch of the same plain model to this one, in a sentence; whether places have moved on what they are
    /// fixed to is looked at only if they are to be `rigid`.
    pub fn contradiction(&self, later: &Sketch, rigid: bool) -> Option<String> {
        let counts = |sketch: &Sketch| [sketch.members.len() - 1, sketch.parts.len(), sketch.traces.len()];
        let ([members, parts, traces], now) = (counts(self), counts(later));
        if now != [members, parts, traces] {
            let [members_now, parts_now, traces_now] = now;
            return Some(format!(
                "there are {members_now} members, {parts_now} parts and {traces_now} traces, and {members}, {parts} and {traces} at \
                 the start"
            ));
        }
        let (start, now) = (self.fixed(), later.fixed());
        let lengths = start.iter().filter(|fixed| !fixed.unit.is_empty()).map(|fixed| fixed.at.length());
        let size = lengths.fold(0.0, f64::max);
        let strays = |a: &Fixed, b: &Fixed| {
            let most = 1e-2 * if a.unit.is_empty() { 1.0 } else { size };
            a.member != b.member || rigid && (b.at - a.at).length() > most
        };
        let (before, after) = start.iter().zip(&now).find(|(before, after)| strays(before, after))?;
        let shown = |Fixed { member, at, unit, .. }: &Fixed| {
            let [x, y, _] = at.0.map(|x| rounded(x, 4));
            format!("({x}, {y}){unit} on {}", self.members.get(*member).map_or(String::new(), Member::shown))
        };
        Some(format!("{} {}, and {} at the start", after.what, shown(after), shown(before)))
    }

    /// Items that do not move on the members of a plain model.
    fn fixed(&self) -> Vec<Fixed> {
        let spots = self.parts.iter().flat_map(Part::places).chain(&self.traces).map(|spot| Fixed {
            what: "something is attached at",
            member: spot.member,
            at: spot.at(&[]),
            unit: " m",
        });
        let rims = self.members.iter().enumerate().filter_map(|(member, looks)| match &looks.kind {
            MemberKind::Posed(posed) => Some(Fixed {
                what: "the rim of a disc is at",
                member,
                at: Vector([posed.radius, 0.0, 0.0]),
                unit: " m",
            }),
            _ => None,
        });
        let guides = self.parts.iter().filter_map(|part| match part {
            Part::Guide { line: Ray { member, direction }, .. } => {
                let (what, at) = ("a guide points along", direction.on_member(&[]));
                Some(Fixed { what, member: *member, at, unit: "" })
            }
            _ => None,
        });
        spots.chain(rims).chain(guides).collect()
    }
}

impl Spot {
    /// Location of the point on its member, m.
    pub fn at(&self, u: &[f64]) -> Vector<f64> {
        evaluate(&self.location, u)
    }
}

/// x, y and an angle in the plane.
fn flat([x, y, angle]: [f64; 3]) -> Pose<f64> {
    let (sin, cos) = angle.sin_cos();
    let rows = [[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]];
    Pose { origin: Vector([x, y, 0.0]), rotation: Rotation(rows.map(Vector)) }
}

/// Three values with these parameters.
pub fn evaluate(values: &[Value; 3], u: &[f64]) -> Vector<f64> {
    Vector(values.each_ref().map(|value| value.evaluate(u)))
}
