//! Joints and forces by name.

use super::force::{Acting, Action, Effort, JointLaw, Load, Motor, Strut as StrutElement};
use super::joint::{Constraint, DrivenJoint, DrivenOrientation, DrivenPoint, FRAMES, Freedom, JointPoses, Kind, Path};
use super::pose::{Side, Sides};
use super::sensor::allows;
use super::{Mechanism, Member, Place, triple, zero};
use crate::assembly::{Connection, Coordinate, Row, Value};
use crate::error::Error;
use crate::law::{Amount, Axes, BrownMcPhee, Driven, FunctionOfTime, Law, Linear, Source, Strength};
use crate::totals::{Role, Total};

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
    /// The rows of its constraints. Their multipliers are forces (N) and torques (N m); where an axis or a direction across is made
    /// of parameters, divided by what their lengths multiply the row by. [`super::Mechanism::reaction`] does not mind lengths.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// To both members, with the parameters of its frames.
    pub(super) fn connection(&self) -> Connection {
        let coordinates = self.members.iter().flat_map(|member| member.coordinates()).copied();
        Connection::to(coordinates).parameters(self.parameters[..FRAMES.min(self.parameters.len())].iter().cloned())
    }
}

/// A spring or the like between two points, that has been added: what a strut sensor is given.
#[derive(Debug, Clone)]
pub struct Strut<L> {
    pub(super) law: L,
    pub(super) sides: Sides,
    pub(super) coordinates: Vec<Coordinate>,
    pub(super) parameters: Vec<Value>,
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
        kind: Kind,
        [first, second]: [Place; 2],
        extra: Option<Value>,
        rows: [(&str, &str); N],
    ) -> Joint {
        if kind.has_axes() {
            self.wants_axes(name, &first.member);
            if !matches!(kind, Kind::InLine | Kind::InPlane) {
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
        let parallel = kind.has_axes() && !matches!(kind, Kind::Universal | Kind::InLine | Kind::InPlane);
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

    fn add_action(&mut self, name: &str, connection: Connection, action: Action) {
        let has = move |role| match role {
            Role::Tells(Total::Energy) => !matches!(action, Action::Drag(_)),
            _ => true,
        };
        self.ledger.part(&mut self.assembler, name, connection, move |role| has(role).then_some(Acting(action, role)));
    }

    /// A ball in a socket: two points coincide. Three rotations are free.
    pub fn spherical(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, Kind::Spherical, [first, second], None, [("x", "m"), ("y", "m"), ("z", "m")])
    }

    /// A hinge: two points coincide, and the axes there. One rotation is free.
    pub fn revolute(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("x", "m"), ("y", "m"), ("z", "m"), ("tilt_x", "rad"), ("tilt_y", "rad")];
        self.joint(name, Kind::Revolute, [first, second], None, rows)
    }

    /// A Cardan joint: two points coincide, and the axes of its cross, one on each member, stay perpendicular. Two rotations are
    /// free. Where it is bent by a right angle, one shaft cannot turn the other any more.
    pub fn universal(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("x", "m"), ("y", "m"), ("z", "m"), ("cross", "rad")];
        let joint = self.joint(name, Kind::Universal, [first, second], None, rows);
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
        self.joint(name, Kind::Weld, [first, second], None, rows)
    }

    /// The second member slides along the axis and turns about it.
    pub fn cylindrical(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("across_x", "m"), ("across_y", "m"), ("tilt_x", "rad"), ("tilt_y", "rad")];
        self.joint(name, Kind::Cylindrical, [first, second], None, rows)
    }

    /// The second member slides along the axis without turning.
    pub fn prismatic(&mut self, name: &str, first: Place, second: Place) -> Joint {
        let rows = [("across_x", "m"), ("across_y", "m"), ("tilt_x", "rad"), ("tilt_y", "rad"), ("twist", "rad")];
        self.joint(name, Kind::Prismatic, [first, second], None, rows)
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
        self.joint(name, Kind::Screw, places, Some(lead), rows)
    }

    /// The second member moves in the plane across the axis: two displacements and one rotation are free.
    pub fn planar(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, Kind::Planar, [first, second], None, [("height", "m"), ("tilt_x", "rad"), ("tilt_y", "rad")])
    }

    /// The second point moves on the axis of the first place; rotations are free.
    pub fn in_line(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, Kind::InLine, [first, second], None, [("across_x", "m"), ("across_y", "m")])
    }

    /// The second point moves in the plane through the first across its axis; rotations are free.
    pub fn in_plane(&mut self, name: &str, first: Place, second: Place) -> Joint {
        self.joint(name, Kind::InPlane, [first, second], None, [("height", "m")])
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
        self.joint(name, Kind::Distance, [first, second], Some(length), [("length", "m")])
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
        self.assembler.element(name, Driven(motion), connection.constraints([("motion", "1")]))
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
        let allowed = allows(joint.constraint.kind, freedom);
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

    /// A linear spring (N/m) with a damper (N s/m) between two points, without force at the free length, m.
    pub fn spring(
        &mut self,
        name: &str,
        first: Place,
        second: Place,
        free_length: impl Into<Value>,
        stiffness: impl Into<Value>,
        damping: impl Into<Value>,
    ) -> Strut<Linear> {
        self.add_spring(name, [first, second], free_length.into(), [stiffness.into(), damping.into()])
    }

    fn add_spring(
        &mut self,
        name: &str,
        [first, second]: [Place; 2],
        free_length: Value,
        linear: [Value; 2],
    ) -> Strut<Linear> {
        self.note_strut(&first, &second, Some(linear));
        self.add_strut(name, [first, second], free_length, Linear, linear.to_vec())
    }

    /// A force along the line between two points by a law of elongation and rate.
    pub fn strut<L: Law + Clone, V: Into<Value>>(
        &mut self,
        name: &str,
        first: Place,
        second: Place,
        free_length: impl Into<Value>,
        law: L,
        parameters: impl IntoIterator<Item = V>,
    ) -> Strut<L> {
        self.note_strut(&first, &second, None);
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.add_strut(name, [first, second], free_length.into(), law, parameters)
    }

    fn add_strut<L: Law + Clone>(
        &mut self,
        name: &str,
        [first, second]: [Place; 2],
        free_length: Value,
        law: L,
        parameters: Vec<Value>,
    ) -> Strut<L> {
        self.connectivity.link(first.member.name(), second.member.name());
        let (sides, connection) = self.between(name, &first.member, &second.member);
        self.assembler.wants_distance(name, [self.at_start(&first), self.at_start(&second)]);
        let mut values = [first.location, second.location].concat();
        values.push(free_length);
        values.extend(parameters);
        let coordinates = connection.coordinates.clone();
        self.ledger.check(name, &law, &values[7..], &mut self.assembler);
        let acting = law.clone();
        self.ledger.part(&mut self.assembler, name, connection.parameters(values.clone()), move |role| {
            Some(StrutElement { sides, law: acting.clone(), role })
        });
        Strut { law, sides, coordinates, parameters: values }
    }

    /// A torque (N m) about a joint's axis by a law of its angle (-π to π, less `free`, rad), or a force (N) along it by a law of its
    /// displacement (less `free`, m): springs, dampers, friction.
    pub fn joint_law<L: Law + Clone, V: Into<Value>>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        free: impl Into<Value>,
        law: L,
        parameters: impl IntoIterator<Item = V>,
    ) {
        if self.wants_freedom(name, joint, freedom) {
            self.note_joint_law(joint, freedom, None);
            let parameters = parameters.into_iter().map(Into::into).collect();
            self.add_joint_law(name, joint, freedom, free.into(), law, parameters);
        }
    }

    fn add_joint_law<L: Law + Clone>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        free: Value,
        law: L,
        parameters: Vec<Value>,
    ) {
        self.ledger.check(name, &law, &parameters, &mut self.assembler);
        let sides = joint.constraint.sides;
        let connection = joint.connection().parameters([free]).parameters(parameters);
        self.ledger.part(&mut self.assembler, name, connection, move |role| {
            Some(JointLaw { sides, freedom, law: law.clone(), role })
        });
    }

    /// A linear spring and damper in a joint: N m/rad and N m s/rad, or N/m and N s/m.
    pub fn joint_spring(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        stiffness: impl Into<Value>,
        damping: impl Into<Value>,
    ) {
        self.add_joint_spring(name, joint, freedom, [stiffness.into(), damping.into()]);
    }

    fn add_joint_spring(&mut self, name: &str, joint: &Joint, freedom: Freedom, linear: [Value; 2]) {
        if self.wants_freedom(name, joint, freedom) {
            self.note_joint_law(joint, freedom, Some(linear));
            self.add_joint_law(name, joint, freedom, zero(), Linear, linear.to_vec());
        }
    }

    /// Smoothed friction in a joint (Brown & McPhee 2016, constant load): Coulomb and static torque (N m) or force (N), transition
    /// rate (rad/s or m/s), viscous coefficient (N m s/rad or N s/m).
    pub fn joint_friction(&mut self, name: &str, joint: &Joint, freedom: Freedom, coefficients: [Value; 4]) {
        self.joint_law(name, joint, freedom, zero(), BrownMcPhee, coefficients);
    }

    /// A torque (N m) about a joint's axis or a force (N) along it, on the second member, and the opposite one on the first: a number,
    /// a parameter, or an input.
    pub fn motor(&mut self, name: &str, joint: &Joint, freedom: Freedom, amount: impl Into<Amount>) {
        self.add_motor(name, joint, freedom, amount.into().into());
    }

    /// The same, N m or N as a function of time with parameters.
    pub fn motor_by<F: FunctionOfTime, V: Into<Value>>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        function: F,
        parameters: impl IntoIterator<Item = V>,
    ) {
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.add_motor(name, joint, freedom, Source::timed(function, parameters));
    }

    fn add_motor<S: Strength>(&mut self, name: &str, joint: &Joint, freedom: Freedom, source: Source<S>) {
        if self.wants_freedom(name, joint, freedom) {
            self.note_motor(joint, freedom, source.seen.clone());
            let connection = source.connect(joint.connection());
            let element = Motor { sides: joint.constraint.sides, freedom, strength: source.strength };
            self.assembler.element(name, element, connection);
        }
    }

    /// An elastic bearing between two places: stiffness times displacements (m) and turns (rad) of the second in the first one's
    /// axes (across, the third one, along the axis), and damping times their rates. Rows are forces (N) and torques (N m).
    pub fn bushing<V: Into<Value>, W: Into<Value>>(
        &mut self,
        name: &str,
        first: Place,
        second: Place,
        stiffness: [[V; 6]; 6],
        damping: [[W; 6]; 6],
    ) {
        let matrix = |m: [[Value; 6]; 6]| m.into_iter().flatten();
        let coefficients =
            matrix(stiffness.map(|row| row.map(Into::into))).chain(matrix(damping.map(|row| row.map(Into::into))));
        self.add_bushing(name, [first, second], coefficients.collect());
    }

    /// Coefficients are both matrices row by row.
    fn add_bushing(&mut self, name: &str, [first, second]: [Place; 2], coefficients: Vec<Value>) {
        self.wants_axes(name, &first.member);
        self.wants_axes(name, &second.member);
        self.connectivity.link(first.member.name(), second.member.name());
        self.note_bushing(&first, &second);
        let frames = self.frames(name, &first, &second, true);
        let (sides, connection) = self.between(name, &first.member, &second.member);
        let connection = connection.parameters(frames).parameters(coefficients);
        self.add_action(name, connection, Action::Bushing(sides));
    }

    fn load<S: Strength>(
        &mut self,
        name: &str,
        place: Place,
        direction: [Value; 3],
        (effort, axes): (Effort, Axes),
        source: Source<S>,
    ) {
        self.assembler.wants_direction(name, &direction);
        self.note_load(&place, &direction, axes, effort == Effort::Torque, source.seen.clone());
        let connection = Connection::to(place.member.coordinates().iter().copied());
        let connection = source.connect(connection.parameters(place.location).parameters(direction));
        let element = Load { side: place.member.side(), axes, effort, strength: source.strength };
        self.assembler.element(name, element, connection);
    }

    /// A force (N) at a point along a direction, given in world or body axes: a number, a parameter, or an input.
    pub fn force<V: Into<Value>>(
        &mut self,
        name: &str,
        place: Place,
        direction: [V; 3],
        axes: Axes,
        amount: impl Into<Amount>,
    ) {
        self.load(name, place, triple(direction), (Effort::Force, axes), amount.into().into());
    }

    /// The same, N as a function of time with parameters.
    pub fn force_by<F: FunctionOfTime, V: Into<Value>, W: Into<Value>>(
        &mut self,
        name: &str,
        place: Place,
        direction: [V; 3],
        axes: Axes,
        function: F,
        parameters: impl IntoIterator<Item = W>,
    ) {
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.load(name, place, triple(direction), (Effort::Force, axes), Source::timed(function, parameters));
    }

    /// A torque (N m) on a body about a direction, given in world or body axes: a number, a parameter, or an input.
    pub fn torque<V: Into<Value>>(
        &mut self,
        name: &str,
        member: &Member,
        direction: [V; 3],
        axes: Axes,
        amount: impl Into<Amount>,
    ) {
        self.wants_axes(name, member);
        self.load(name, member.at([0.0; 3]), triple(direction), (Effort::Torque, axes), amount.into().into());
    }

    /// The same, N m as a function of time with parameters.
    pub fn torque_by<F: FunctionOfTime, V: Into<Value>, W: Into<Value>>(
        &mut self,
        name: &str,
        member: &Member,
        direction: [V; 3],
        axes: Axes,
        function: F,
        parameters: impl IntoIterator<Item = W>,
    ) {
        self.wants_axes(name, member);
        let parameters = parameters.into_iter().map(Into::into).collect();
        let source = Source::timed(function, parameters);
        self.load(name, member.at([0.0; 3]), triple(direction), (Effort::Torque, axes), source);
    }

    /// Resistance of the air at a point: linear (N s/m) and quadratic (N s²/m²).
    pub fn drag(&mut self, name: &str, place: Place, linear: impl Into<Value>, quadratic: impl Into<Value>) {
        self.add_drag(name, place, [linear.into(), quadratic.into()]);
    }

    fn add_drag(&mut self, name: &str, place: Place, coefficients: [Value; 2]) {
        let connection = Connection::to(place.member.coordinates().iter().copied());
        let connection = connection.parameters(place.location).parameters(coefficients);
        self.add_action(name, connection, Action::Drag(place.member.side()));
    }

    /// A sphere (centre on the second member, radius in m) presses against a plane through the first place, whose axis points into
    /// free space. Hertz' law with `stiffness` in N/m^1.5 and `damping` in s/m.
    #[allow(clippy::too_many_arguments)]
    pub fn contact(
        &mut self,
        name: &str,
        plane: Place,
        center: Place,
        radius: impl Into<Value>,
        stiffness: impl Into<Value>,
        damping: impl Into<Value>,
    ) {
        self.add_contact(name, [plane, center], [radius.into(), stiffness.into(), damping.into()]);
    }

    fn add_contact(&mut self, name: &str, [plane, center]: [Place; 2], [radius, stiffness, damping]: [Value; 3]) {
        self.wants_axes(name, &plane.member);
        self.connectivity.link(plane.member.name(), center.member.name());
        let frames = self.frames(name, &plane, &center, true);
        self.note_contact(&plane, &center, &frames, radius);
        let (sides, connection) = self.between(name, &plane.member, &center.member);
        let connection = connection.parameters(frames);
        let connection = connection.parameters([radius, stiffness, damping]);
        self.add_action(name, connection, Action::Contact(sides));
    }
}
