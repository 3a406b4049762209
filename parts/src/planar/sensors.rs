//! Sensors by name: their outputs are called `name.component`.

use super::force::Strut as StrutElement;
use super::forces::Strut;
use super::joints::Joint;
use super::sensor::{Accelerometer, AngleSensor, Motion, PointSensor, Reaction};
use super::{Mechanism, Member, Place, zero};
use crate::assembly::{Connection, Element, StateVariable};
use crate::law::{Axes, Law};
use crate::totals::{Role, Total};
use costate::Error;
use costate::value::Value;

/// Mounting angle, gain and biases of an accelerometer.
#[derive(Debug, Clone)]
pub struct Mounting {
    /// Angle of its axes against the body's, rad.
    pub angle: Value,
    /// Gain: the reading for 1 m/s².
    pub gain: Value,
    /// Biases: the readings at 0 m/s².
    pub bias: [Value; 2],
}

impl Default for Mounting {
    fn default() -> Self {
        Mounting { angle: zero(), gain: Value::from(1.0), bias: [zero(), zero()] }
    }
}

impl Mechanism {
    fn point_sensor(&mut self, name: &str, place: Place, motion: Motion, axes: Axes, unit: &str) {
        let spots = if motion == Motion::Position { &mut self.sketch.traces } else { &mut self.sketch.sensors };
        spots.push(place.spot());
        let connection = Connection::to(place.member.coordinates.iter().copied()).parameters(place.location);
        let element = PointSensor { side: place.member.side, motion, axes };
        self.assembler.element(name, element, connection.outputs([("x", unit), ("y", unit)]));
    }

    /// Position of a point in the world, m: `name.x`, `name.y`.
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

    /// An accelerometer at a point of a member: specific force (it shows 9.81 m/s² upwards at rest) along its own axes.
    pub fn accelerometer(&mut self, name: &str, place: Place, mounting: Mounting) {
        self.sketch.sensors.push(place.spot());
        let Mounting { angle, gain, bias } = mounting;
        let connection = Connection::to(place.member.coordinates.iter().copied())
            .parameters(place.location)
            .parameters([angle])
            .parameters(self.gravity)
            .parameters([gain])
            .parameters(bias);
        let outputs = [("x", "m/s^2"), ("y", "m/s^2")];
        self.assembler.element(name, Accelerometer(place.member.side), connection.outputs(outputs));
    }

    /// Angle (rad), rate (rad/s) and angular acceleration (rad/s²) of the second member against the first. The angle counts turns,
    /// and is compared with records that do: see [`Mechanism::encoder`] for others.
    pub fn angle(&mut self, name: &str, first: &Member, second: &Member) {
        let (sides, connection) = self.between(name, first, second);
        let outputs = [("angle", "rad"), ("rate", "rad/s"), ("acceleration", "rad/s^2")];
        self.assembler.element(name, AngleSensor(sides), connection.outputs(outputs));
    }

    /// Angle (rad), rate (rad/s) and angular acceleration (rad/s²) of the second member against the first as an absolute encoder sees them,
    /// which does not count turns: records of the angle may jump by 2π, and are compared up to whole turns
    /// ([`Quantity::period`](costate::Quantity::period)).
    pub fn encoder(&mut self, name: &str, first: &Member, second: &Member) {
        let (sides, connection) = self.between(name, first, second);
        let outputs = [("rate", "rad/s"), ("acceleration", "rad/s^2")];
        self.assembler.element(name, AngleSensor(sides), connection.angles(["angle"]).outputs(outputs));
    }

    /// Length (m), rate (m/s) and tension (N) of a spring or another strut.
    pub fn strut_sensor<L: Law + Clone>(&mut self, name: &str, strut: &Strut<L>) {
        let connection = Connection::to(strut.coordinates.iter().copied()).states(strut.states.iter().copied());
        let connection = connection.parameters(strut.parameters.clone());
        let outputs = [("length", "m"), ("rate", "m/s"), ("tension", "N")];
        let element = StrutElement { sides: strut.sides, law: strut.law.clone(), role: Role::Sensor };
        self.assembler.element(name, element, connection.outputs(outputs));
    }

    /// The force (N, world axes) and the torque about the member's own point of the joint (N m) that a joint exerts on `member`.
    pub fn reaction<J: Element + Clone>(&mut self, name: &str, joint: &Joint<J>, member: &Member) {
        let [a, b] = &joint.members;
        let sides = [(a, 0, 0), (b, a.coordinates.len(), 2)];
        let Some((_, first, place)) = sides.into_iter().find(|(side, ..)| side.name == member.name) else {
            let problem = format!("the joint does not touch `{}`", member.name);
            let remedy = format!("name `{}` or `{}`", a.name, b.name);
            self.assembler.note(Error::invalid(format!("sensor `{name}`"), problem, remedy));
            return;
        };
        let count = member.coordinates.len();
        if count == 0 {
            let problem = "the ground has no equations from which its reaction could be read";
            let remedy = "take the reaction on the other member: it is the opposite";
            self.assembler.note(Error::invalid(format!("sensor `{name}`"), problem, remedy));
            return;
        }
        let location = joint.has_points.then_some(place);
        let element = Reaction { joint: joint.element.clone(), location, first, count, rows: joint.rows.len() };
        let connection = Connection::to(a.coordinates.iter().chain(&b.coordinates).copied())
            .parameters(joint.parameters.clone())
            .multipliers(joint.rows.iter().copied());
        match count {
            2 => self.assembler.element(name, element, connection.outputs([("x", "N"), ("y", "N")])),
            _ => {
                let outputs = [("x", "N"), ("y", "N"), ("torque", "N m")];
                self.assembler.element(name, element, connection.outputs(outputs))
            }
        };
    }

    /// A first-order state as outputs `name.value`, in its unit, and `name.rate`, a second.
    pub fn state_sensor(&mut self, name: &str, state: StateVariable) {
        self.assembler.state_sensor(name, state);
    }

    /// Energy of all that has been added so far, J, as output `name`: kinetic and in the gravity field of bodies and masses, and what
    /// springs, contacts and laws ([`Law::energy`]) store. Inputs and functions of time bring energy in, dampers and friction take it
    /// out: see [`Mechanism::dissipation`].
    pub fn energy(&mut self, name: &str) {
        self.total(name, Total::Energy, "J");
    }

    /// Power that dampers, friction, contacts and the air take from all that has been added so far, W: output `name`.
    pub fn dissipation(&mut self, name: &str) {
        self.total(name, Total::Dissipation, "W");
    }

    fn total(&mut self, name: &str, total: Total, unit: &str) {
        self.connectivity.nothing_yet(name).into_iter().for_each(|error| self.assembler.note(error));
        self.contributions.sum(&mut self.assembler, total, name, &[("", unit)]);
    }
}
