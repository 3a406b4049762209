//! Joints by name, and what drives them.

use super::joint::{
    Constraint, Coupling, DrivenJoint, DrivenOrientation, DrivenPoint, FRAMES, Freedom, JointKind, JointPoses, Path,
};
use super::pose::Side;
use super::sensor::allows;
use super::tendon::Moved;
use super::{Mechanism, Member, Place};
use crate::assembly::{Connection, Coordinate, Row};
use crate::law::{Driven, FunctionOfTime};
use costate::Error;
use costate::value::Value;

/// A joint that has been added: what motors, friction and reaction sensors are given.
#[derive(Debug, Clone)]
pub struct Joint {
    pub(super) constraint: Constraint,
    pub(super) name: String,
    pub(super) members: [Member; 2],
    pub(super) parameters: Vec<Value>,
    pub(super) rows: Vec<Row>,
}

impl Joint {
    /// True if the joint has this freedom: a turn about its axis, or a way along it.
    pub fn allows(&self, freedom: Freedom) -> bool {
        allows(self.constraint.kind, freedom)
    }

    /// The rows of its constraints. Their multipliers are forces (N) and torques (N m); where an axis or a direction across is made
    /// of parameters, divided by what their lengths multiply the row by. [`super::Mechanism::reaction`] does not mind lengths.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The connection to both members, with the parameters of the joint's frames.
    pub(super) fn connection(&self) -> Connection {
        let coordinates = self.members.iter().flat_map(|member| member.coordinates()).copied();
        Connection::to(coordinates).parameters(self.parameters[..FRAMES.min(self.parameters.len())].iter().cloned())
    }
}

/// Cosine of the angle between the axes of a universal joint beyond which they are taken for parallel.
const PARALLEL: f64 = 0.999;
/// And below which axes that are to be parallel are taken for perpendicular.
const PERPENDICULAR: f64 = 1e-3;

/// Functions that take `impl Into<Value>` only make values of it and leave the rest to another: so that elements are compiled
/// with this crate, and not in each that uses them.
impl Mechanism {
    fn joint<const N: usize>(
        &mut self,
        name: &str,
        kind: JointKind,
        [first, second]: [Place; 2],
        extra: Option<Value>,
        rows: [(&str, &str); N],
    ) -> Joint {
        if kind.has_axes() {
            self.wants_axes(name, &first.member);
            if !matches!(kind, JointKind::InLine | JointKind::InPlane) {
                self.wants_axes(name, &second.member);
            }
        }
        self.connectivity.link(first.member.name(), second.member.name());
        let mut parameters = self.frames(name, &first, &second, kind.has_axes());
        parameters.extend(extra);
        let (sides, connection) = self.between(name, &first.member, &second.member);
        let constraint = Constraint { sides, kind };
        let connection = connection.parameters(parameters.clone()).constraints(rows);
        let rows = self.assembler.element(name, constraint, connection);
        let joint = Joint { constraint, name: name.into(), members: [first.member, second.member], parameters, rows };
        self.note_joint(&joint);
        let parallel =
            kind.has_axes() && !matches!(kind, JointKind::Universal | JointKind::InLine | JointKind::InPlane);
        if parallel && self.cosine(&joint).abs() < PERPENDICULAR {
            // no small turn makes them more parallel: it would count as redundant
            let remedy = "it keeps them parallel: give the second place its `axis`, too, or turn a member";
            self.assembler.note(Error::invalid(format!("`{name}`"), "its axes are perpendicular at the start", remedy));
        }
        joint
    }

    /// Cosine of the angle between a joint's axes at the start.
    fn cosine(&self, joint: &Joint) -> f64 {
        let q = joint.members.each_ref().map(|member| self.assembler.at_start(member.coordinates())).concat();
        let u: Vec<f64> = joint.parameters.iter().map(|value| value.evaluate(self.assembler.nominal())).collect();
        let at = JointPoses::of(joint.constraint.sides, &q, &u);
        at.axis(0).unit().dot(at.axis(1).unit())
    }

    /// A ball in a socket: two points coincide. Three rotations are free.
    pub fn spherical(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, JointKind::Spherical, [first, second], None, [("x", "m"), ("y", "m"), ("z", "m")])
    }

    /// A hinge: two points coincide, and the axes there. One rotation is free.
    pub fn revolute(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("x", "m"), ("y", "m"), ("z", "m"), ("tilt_x", "rad"), ("tilt_y", "rad")];
        self.joint(name, JointKind::Revolute, [first, second], None, rows)
    }

    /// A Cardan joint: two points coincide, and the axes of its cross, one on each member, stay perpendicular. Two rotations are
    /// free. Where it is bent by a right angle, one shaft cannot turn the other any more.
    pub fn universal(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("x", "m"), ("y", "m"), ("z", "m"), ("cross", "rad")];
        let joint = self.joint(name, JointKind::Universal, [first, second], None, rows);
        let cosine = self.cosine(&joint);
        if cosine.abs() > PARALLEL {
            // no small turn changes the right angle: it would count as redundant
            let problem =
                format!("its axes are at an angle of {:.1}° at the start", cosine.clamp(-1.0, 1.0).acos().to_degrees());
            let remedy = "they are those of the cross, one on each member, at 90°: give other axes, or turn a member";
            self.assembler.note(Error::invalid(format!("universal joint `{name}`"), problem, remedy));
        }
        joint
    }

    /// Two points coincide, and the axes and the directions across there: nothing is free.
    pub fn weld(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("x", "m"), ("y", "m"), ("z", "m"), ("tilt_x", "rad"), ("tilt_y", "rad"), ("twist", "rad")];
        self.joint(name, JointKind::Weld, [first, second], None, rows)
    }

    /// The second member slides along the axis and turns about it.
    pub fn cylindrical(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("across_x", "m"), ("across_y", "m"), ("tilt_x", "rad"), ("tilt_y", "rad")];
        self.joint(name, JointKind::Cylindrical, [first, second], None, rows)
    }

    /// The second member slides along the axis without turning.
    pub fn prismatic(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("across_x", "m"), ("across_y", "m"), ("tilt_x", "rad"), ("tilt_y", "rad"), ("twist", "rad")];
        self.joint(name, JointKind::Prismatic, [first, second], None, rows)
    }

    /// A screw: the second member goes `lead` (m, negative for a left-handed thread) along the axis with every turn about it.
    /// Without displacement, directions across coincide.
    pub fn screw(&mut self, name: &str, first: Place, second: Place, lead: impl Into<Value>) -> Joint {
        self.add_screw(name, [first, second], lead.into())
    }

    fn add_screw(&mut self, name: &str, places: [Place; 2], lead: Value) -> Joint {
        self.assembler.claim(name, std::slice::from_ref(&lead));
        let at_start = lead.evaluate(self.assembler.nominal());
        if at_start == 0.0 || !at_start.is_finite() {
            let problem = format!("its lead is {at_start} m");
            let remedy = "give the way of a full turn; without any, it is a revolute joint";
            self.assembler.note(Error::invalid(format!("screw `{name}`"), problem, remedy));
        }
        let rows = [("across_x", "m"), ("across_y", "m"), ("tilt_x", "rad"), ("tilt_y", "rad"), ("thread", "rad")];
        self.joint(name, JointKind::Screw, places, Some(lead), rows)
    }

    /// The second member moves in the plane across the axis: two displacements and one rotation are free.
    pub fn planar(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(
            name,
            JointKind::Planar,
            [first, second],
            None,
            [("height", "m"), ("tilt_x", "rad"), ("tilt_y", "rad")],
        )
    }

    /// The second point moves on the axis of the first place; rotations are free.
    pub fn in_line(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, JointKind::InLine, [first, second], None, [("across_x", "m"), ("across_y", "m")])
    }

    /// The second point moves in the plane through the first across its axis; rotations are free.
    pub fn in_plane(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, JointKind::InPlane, [first, second], None, [("height", "m")])
    }

    /// A massless rod: two points keep a distance, m.
    pub fn distance(&mut self, name: &str, first: Place, second: Place, length: impl Into<Value>) -> Joint {
        self.add_distance(name, [first, second], length.into())
    }

    fn add_distance(&mut self, name: &str, [first, second]: [Place; 2], length: Value) -> Joint {
        self.assembler.claim(name, std::slice::from_ref(&length));
        let at_start = length.evaluate(self.assembler.nominal());
        if !(at_start > 0.0 && at_start.is_finite()) {
            let problem = format!("its length is {at_start} m");
            let remedy = "give a positive length; two points that coincide are a spherical joint";
            self.assembler.note(Error::invalid(format!("rod `{name}`"), problem, remedy));
        }
        self.assembler.wants_distance(name, [self.at_start(&first), self.at_start(&second)]);
        self.joint(name, JointKind::Distance, [first, second], Some(length), [("length", "m")])
    }

    /// A coordinate follows a function of time with parameters.
    pub fn drive<M: FunctionOfTime, V: Into<Value>>(
        &mut self,
        name: &str,
        coordinate: Coordinate,
        motion: M,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<Row> {
        self.connectivity.ground(coordinate);
        let connection = Connection::to([coordinate]).parameters(parameters);
        let unit = self.assembler.unit_of(coordinate);
        self.assembler.element(name, Driven(motion), connection.constraints([("motion", &unit)]))
    }

    /// A point follows a path in the world, m.
    pub fn drive_point<P: Path, V: Into<Value>>(
        &mut self,
        name: &str,
        place: Place,
        path: P,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<Row> {
        if place.member.side() == Side::Ground {
            let problem = "the ground does not move";
            self.assembler.note(Error::invalid(
                format!("`{name}`"),
                problem,
                "drive a point of a body or a point mass",
            ));
        }
        self.connectivity.link(place.member.name(), self.ground().name());
        self.note_driven_point(&place);
        let connection = Connection::to(place.member.coordinates().iter().copied());
        let connection = connection.parameters(place.location).parameters(parameters);
        let element = DrivenPoint { side: place.member.side(), path };
        self.assembler.element(name, element, connection.constraints([("x", "m"), ("y", "m"), ("z", "m")]))
    }

    /// A body's axes are turned against the world's by a rotation vector that is a function of time, rad.
    pub fn drive_orientation<P: Path, V: Into<Value>>(
        &mut self,
        name: &str,
        member: &Member,
        path: P,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<Row> {
        if member.side() != Side::Body {
            let problem = format!("`{}` has no axes that could be turned", member.name());
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, "use a body"));
            return Vec::new();
        }
        self.connectivity.link(member.name(), self.ground().name());
        self.note_driven_axes(member);
        let connection = Connection::to(member.coordinates().iter().copied()).parameters(parameters);
        let rows = [("x", "rad"), ("y", "rad"), ("z", "rad")];
        self.assembler.element(name, DrivenOrientation { path }, connection.constraints(rows))
    }

    /// Notes that a joint has no such freedom.
    pub(super) fn wants_freedom(&mut self, name: &str, joint: &Joint, freedom: Freedom) -> bool {
        let allowed = joint.allows(freedom);
        if !allowed {
            let moves = if freedom == Freedom::Turn { "turn about" } else { "slide along" };
            let problem = format!("joint `{}` does not {moves} its axis", joint.name);
            let remedy = "choose the other freedom, or another joint";
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, remedy));
        }
        allowed
    }

    /// The angle (rad) or the displacement (m) of a joint follows a function of time.
    pub fn drive_joint<M: FunctionOfTime, V: Into<Value>>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        motion: M,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<Row> {
        if !self.wants_freedom(name, joint, freedom) {
            return Vec::new();
        }
        self.note_drive(joint, freedom);
        let element = DrivenJoint { sides: joint.constraint.sides, freedom, motion };
        let unit = if freedom == Freedom::Turn { "rad" } else { "m" };
        let connection = joint.connection().parameters(parameters);
        self.assembler.element(name, element, connection.constraints([("motion", unit)]))
    }

    /// Gears, belts and linkages between joints: the angle (rad) or the displacement (m) of the second is `ratio` times that of the first, and
    /// `offset`. Angles are those of [`Mechanism::joint_sensor`]; where the first joint turns beyond half a turn, the ratio of two turns must
    /// be a whole number.
    pub fn coupling(
        &mut self,
        name: &str,
        [first, second]: [(&Joint, Freedom); 2],
        ratio: impl Into<Value>,
        offset: impl Into<Value>,
    ) -> Vec<Row> {
        self.add_coupling(name, [first, second], [ratio.into(), offset.into()])
    }

    fn add_coupling(&mut self, name: &str, joints: [(&Joint, Freedom); 2], numbers: [Value; 2]) -> Vec<Row> {
        let [(first, _), (second, _)] = joints;
        if joints.into_iter().any(|(joint, freedom)| !self.wants_freedom(name, joint, freedom)) {
            return Vec::new();
        }
        if first.name == second.name {
            let problem = format!("it couples joint `{}` with itself", first.name);
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, "name two joints"));
            return Vec::new();
        }
        let (coordinates, members) = Moved::all(&joints);
        let frames = joints.into_iter().flat_map(|(joint, _)| joint.parameters[..FRAMES].iter().copied());
        let element = Coupling([members[0], members[1]]);
        let unit = if joints[1].1 == Freedom::Turn { "rad" } else { "m" };
        let connection = Connection::to(coordinates).parameters(frames).parameters(numbers);
        self.assembler.element(name, element, connection.constraints([("ratio", unit)]))
    }
}
