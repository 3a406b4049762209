//! Sensors by name: their outputs are called `name.component`.

use super::force::Strut as StrutElement;
use super::forces::Strut;
use super::joint::Freedom;
use super::joints::Joint;
use super::pose::Side;
use super::sensor::{DriveEffort, Motion, Reaction, ReactionAxes, Sensor};
use super::{Mechanism, Member, Place, zero};
use crate::assembly::{Connection, Row, StateVariable};
use crate::law::{Axes, Law};
use crate::totals::{Role, Total};
use costate::Error;
use costate::value::Value;

/// Gain and biases of an accelerometer or a gyroscope. Its orientation is that of its place: its third axis is the place's axis, its
/// first the direction across.
#[derive(Debug, Clone)]
pub struct Mounting {
    /// Gain: the reading for 1 m/s² or 1 rad/s.
    pub gain: Value,
    /// Biases: the readings at rest, but for gravity.
    pub bias: [Value; 3],
}

impl Default for Mounting {
    fn default() -> Self {
        Mounting { gain: Value::from(1.0), bias: [zero(), zero(), zero()] }
    }
}

fn components(unit: &str) -> [(&str, &str); 3] {
    [("x", unit), ("y", unit), ("z", unit)]
}

impl Mechanism {
    fn point_sensor(&mut self, name: &str, place: Place, motion: Motion, axes: Axes, unit: &str) {
        let spots = if motion == Motion::Position { &mut self.sketch.traces } else { &mut self.sketch.sensors };
        spots.push(place.spot());
        let connection = Connection::to(place.member.coordinates().iter().copied()).parameters(place.location);
        let element = Sensor::Point { side: place.member.side(), motion, axes };
        self.assembler.element(name, element, connection.outputs(components(unit)));
    }

    /// Position of a point in the world, m: `name.x`, `name.y`, `name.z`.
    pub fn position(&mut self, name: &str, place: Place) {
        self.point_sensor(name, place, Motion::Position, Axes::World, "m");
    }

    /// Velocity of a point, m/s.
    pub fn velocity(&mut self, name: &str, place: Place, axes: Axes) {
        self.point_sensor(name, place, Motion::Velocity, axes, "m/s");
    }

    /// Acceleration of a point, m/s².
    pub fn acceleration(&mut self, name: &str, place: Place, axes: Axes) {
        self.point_sensor(name, place, Motion::Acceleration, axes, "m/s^2");
    }

    /// An accelerometer at a place: specific force (it shows 9.81 m/s² upwards at rest) along the place's axes.
    pub fn accelerometer(&mut self, name: &str, place: Place, mounting: Mounting) {
        self.sketch.sensors.push(place.spot());
        let axes = self.axes(name, &place);
        let connection = Connection::to(place.member.coordinates().iter().copied())
            .parameters(place.location)
            .parameters(axes)
            .parameters(self.gravity)
            .parameters([mounting.gain])
            .parameters(mounting.bias);
        let element = Sensor::Accelerometer { side: place.member.side() };
        self.assembler.element(name, element, connection.outputs(components("m/s^2")));
    }

    /// A gyroscope on a body: angular velocity about the place's axes, rad/s.
    pub fn gyroscope(&mut self, name: &str, place: Place, mounting: Mounting) {
        self.wants_body(name, &place.member);
        self.sketch.sensors.push(place.spot());
        let axes = self.axes(name, &place);
        let connection = Connection::to(place.member.coordinates().iter().copied())
            .parameters(axes)
            .parameters([mounting.gain])
            .parameters(mounting.bias);
        let element = Sensor::Gyroscope { side: place.member.side() };
        self.assembler.element(name, element, connection.outputs(components("rad/s")));
    }

    /// Notes that a sensor needs a body.
    fn wants_body(&mut self, name: &str, member: &Member) {
        if member.side() != Side::Body {
            let problem = format!("it feels rotations, and `{}` does not rotate", member.name());
            self.assembler.note(Error::invalid(format!("sensor `{name}`"), problem, "put it on a body"));
        }
    }

    /// Angular velocity (rad/s: `name.x` ...) and acceleration (rad/s²: `name.alpha_x` ...) of a body.
    pub fn angular_velocity(&mut self, name: &str, member: &Member, axes: Axes) {
        self.wants_body(name, member);
        let connection = Connection::to(member.coordinates().iter().copied()).outputs([
            ("x", "rad/s"),
            ("y", "rad/s"),
            ("z", "rad/s"),
            ("alpha_x", "rad/s^2"),
            ("alpha_y", "rad/s^2"),
            ("alpha_z", "rad/s^2"),
        ]);
        self.assembler.element(name, Sensor::Rates { side: member.side(), axes }, connection);
    }

    /// Angle (rad), rate (rad/s) and angular acceleration (rad/s²) of the second member of a joint about its axis, or its displacement
    /// (m) along it, with rate (m/s) and acceleration (m/s²). The angle is between -π and π at the start and continuous from there;
    /// it is compared with records up to whole turns ([`Quantity::period`](costate::Quantity::period)).
    pub fn joint_sensor(&mut self, name: &str, joint: &Joint, freedom: Freedom) {
        if !self.wants_freedom(name, joint, freedom) {
            return;
        }
        let connection = joint.connection();
        let connection = match freedom {
            Freedom::Turn => connection.angles(["angle"]).outputs([("rate", "rad/s"), ("acceleration", "rad/s^2")]),
            Freedom::Slide => connection.outputs([("displacement", "m"), ("rate", "m/s"), ("acceleration", "m/s^2")]),
        };
        let element = Sensor::Joint { sides: joint.constraint.sides, freedom };
        self.assembler.element(name, element, connection);
    }

    /// The effort of a drive ([`Mechanism::drive_joint`]) as output `name.effort`: the torque (N m) about the joint's axis, or the force (N) along
    /// it, on the second member, that makes the joint follow its motion.
    pub fn drive_sensor(&mut self, name: &str, drive: &[Row], freedom: Freedom) {
        let [row] = drive else {
            let problem = "what it is of drives no joint";
            self.assembler.note(Error::invalid(format!("sensor `{name}`"), problem, "name the drive of a joint"));
            return;
        };
        let unit = if freedom == Freedom::Turn { "N m" } else { "N" };
        let connection = Connection::default().multipliers([*row]).outputs([("effort", unit)]);
        self.assembler.element(name, DriveEffort, connection);
    }

    /// A first-order state as outputs `name.value`, in its unit, and `name.rate`, a second.
    pub fn state_sensor(&mut self, name: &str, state: StateVariable) {
        self.assembler.state_sensor(name, state);
    }

    /// Length (m), rate (m/s) and tension (N) of a spring or another strut.
    pub fn strut_sensor<L: Law + Clone>(&mut self, name: &str, strut: &Strut<L>) {
        let connection = Connection::to(strut.coordinates.iter().copied()).states(strut.states.iter().copied());
        let connection = connection.parameters(strut.parameters.clone());
        let outputs = [("length", "m"), ("rate", "m/s"), ("tension", "N")];
        let element = StrutElement { sides: strut.sides, law: strut.law.clone(), role: Role::Sensor };
        self.assembler.element(name, element, connection.outputs(outputs));
    }

    /// The force (N: `name.x` ...) and the torque about the joint's point (N m: `name.torque_x` ...) that a joint exerts on `member`.
    pub fn reaction(&mut self, name: &str, joint: &Joint, member: &Member, axes: ReactionAxes) {
        let [a, b] = &joint.members;
        let on_second = b.name() == member.name();
        if !on_second && a.name() != member.name() {
            let problem = format!("the joint does not touch `{}`", member.name());
            let remedy = format!("name `{}` or `{}`", a.name(), b.name());
            self.assembler.note(Error::invalid(format!("sensor `{name}`"), problem, remedy));
            return;
        }
        if member.side() == Side::Ground {
            let problem = "the ground has no equations from which its reaction could be read";
            let remedy = "take the reaction on the other member: it is the opposite";
            self.assembler.note(Error::invalid(format!("sensor `{name}`"), problem, remedy));
            return;
        }
        let element = Reaction { joint: joint.constraint, rows: joint.rows.len(), on_second, axes };
        let connection = Connection::to(a.coordinates().iter().chain(b.coordinates()).copied())
            .parameters(joint.parameters.clone())
            .multipliers(joint.rows.iter().copied())
            .outputs(components("N"));
        let connection = if member.side() == Side::Body {
            connection.outputs([("torque_x", "N m"), ("torque_y", "N m"), ("torque_z", "N m")])
        } else {
            connection
        };
        self.assembler.element(name, element, connection);
    }

    fn total(&mut self, name: &str, total: Total, outputs: &[(&str, &str)]) {
        self.connectivity.nothing_yet(name).into_iter().for_each(|error| self.assembler.note(error));
        self.contributions.sum(&mut self.assembler, total, name, outputs);
    }

    /// Energy of all that has been added so far, J, as output `name`: kinetic and in the gravity field of bodies and masses, and what
    /// springs, contacts and laws ([`Law::energy`]) store; for turns of elastic bearings, which have no energy beyond small angles, to
    /// their second order. Inputs and functions of time bring energy in, dampers and friction take it out: see
    /// [`Mechanism::dissipation`].
    pub fn energy(&mut self, name: &str) {
        self.total(name, Total::Energy, &[("", "J")]);
    }

    /// Power that dampers, friction, contacts and the air take from all that has been added so far, W: output `name`.
    pub fn dissipation(&mut self, name: &str) {
        self.total(name, Total::Dissipation, &[("", "W")]);
    }

    /// Momentum (kg m/s: `name.x` ...) and angular momentum about the world's origin (kg m²/s: `name.spin_x` ...) of all bodies and
    /// masses that have been added so far.
    pub fn momentum(&mut self, name: &str) {
        let (linear, angular) = ("kg m/s", "kg m^2/s");
        let outputs = [
            ("x", linear),
            ("y", linear),
            ("z", linear),
            ("spin_x", angular),
            ("spin_y", angular),
            ("spin_z", angular),
        ];
        self.total(name, Total::Momentum, &outputs);
    }
}
