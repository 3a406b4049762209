//! Planar mechanisms from parts: bodies, joints, forces and sensors, every property a number or a parameter.
//!
//! ```
//! use costate_parts::planar::{Body, Mechanism};
//! use costate::{Parameter, Simulation, TimeGrid};
//! use costate::scheme::Hht;
//! use costate::system::System;
//! use std::sync::Arc;
//!
//! # fn main() -> costate::Result<()> {
//! // a rod of 1 m, hung up at its end, let go horizontally
//! let mut mechanism = Mechanism::new("rod");
//! let mass = mechanism.parameter(Parameter::new("m", "kg", 1.0));
//! let rod = mechanism.body("rod", Body::new(mass, 1.0 / 12.0).at([0.5, 0.0], 0.0));
//! mechanism.revolute("pin", mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
//! let rod = mechanism.build()?;
//! let simulation = Simulation::new(Arc::new(rod), Hht::new(-0.05)?, TimeGrid::uniform(0.0, 1.0, 1e-3)?, vec![])?;
//! let trajectory = simulation.run(&[1.0])?;
//! assert!((trajectory.state(0).a[2] + 9.81 * 1.5).abs() < 1e-9); // -(m g l/2) / (m l²/3)
//! # Ok(())
//! # }
//! ```
//!
//! While parts are added, the mechanism notes down what they look like: `costate_report::plot::mechanism` draws it.

mod body;
mod force;
mod forces;
mod joint;
mod joints;
mod own;
mod pose;
mod sensor;
mod sensors;

use costate::spline::Spline;
pub use forces::Strut;
pub use joint::{Gears, OnLine, Prismatic, Revolute, Rod, Sides, Weld};
pub use joints::Joint;
pub use pose::{Pose, Side, Twist};
pub use sensors::Mounting;

use crate::assembly::{Assembler, Assembly, Connection, Coordinate, Input, RedundantRows, StateVariable};
use crate::connectivity::Connectivity;
use crate::totals::{Contributions, Total};
use body::{CentredBody, PointMass, RigidBody};
use costate::shown::rounded;
use costate::sketch::{Direction, GROUND, MemberKind, Ray, Sketch, Spot};
use costate::value::Value;
use costate::{Error, Parameter, Result};
use sensor::{Energy, Store};

/// A rigid body: what it weighs and where it starts.
#[derive(Debug, Clone)]
pub struct Body {
    mass: Value,
    inertia: Value,
    center: [Value; 2],
    position: [Value; 2],
    angle: Value,
    velocity: [Value; 2],
    rate: Value,
}

fn pair<V: Into<Value>>(values: [V; 2]) -> [Value; 2] {
    values.map(Into::into)
}

fn zero() -> Value {
    Value::from(0.0)
}

impl Body {
    /// A body with mass (kg) and inertia about its centre of mass (kg m²), at rest at the origin.
    pub fn new(mass: impl Into<Value>, inertia: impl Into<Value>) -> Self {
        let origin = || [zero(), zero()];
        Body {
            mass: mass.into(),
            inertia: inertia.into(),
            center: origin(),
            position: origin(),
            angle: zero(),
            velocity: origin(),
            rate: zero(),
        }
    }

    /// Puts the centre of mass there, in the body's axes, m; it is the reference point otherwise.
    pub fn center<V: Into<Value>>(mut self, location: [V; 2]) -> Self {
        self.center = pair(location);
        self
    }

    /// Position of the reference point (m) and angle (rad) at the start.
    pub fn at<V: Into<Value>>(mut self, position: [V; 2], angle: impl Into<Value>) -> Self {
        (self.position, self.angle) = (pair(position), angle.into());
        self
    }

    /// Velocity of the reference point (m/s) and angular velocity (rad/s) at the start.
    pub fn moving<V: Into<Value>>(mut self, velocity: [V; 2], rate: impl Into<Value>) -> Self {
        (self.velocity, self.rate) = (pair(velocity), rate.into());
        self
    }
}

/// Something that parts can be fixed to: the ground, a body or a point mass.
#[derive(Debug, Clone)]
pub struct Member {
    /// Place of the member in the sketch.
    number: usize,
    side: Side,
    name: String,
    coordinates: Vec<Coordinate>,
}

impl Member {
    /// A point fixed to the member, in its own axes, m.
    pub fn at<V: Into<Value>>(&self, location: [V; 2]) -> Place {
        Place { member: self.clone(), location: pair(location) }
    }

    /// Coordinates of the member: x, y and, for bodies, the angle.
    pub fn coordinates(&self) -> &[Coordinate] {
        &self.coordinates
    }
}

/// A point on a member.
#[derive(Debug, Clone)]
pub struct Place {
    member: Member,
    location: [Value; 2],
}

impl Place {
    fn spot(&self) -> Spot {
        let [x, y] = self.location;
        Spot { member: self.member.number, location: [x, y, zero()] }
    }

    /// A line through it at an angle.
    fn line(&self, angle: &Value) -> Ray {
        Ray { member: self.member.number, direction: Direction::Angle(*angle) }
    }
}

/// A mechanism being put together. Every part has a name; messages, coordinates, constraints and outputs use it.
pub struct Mechanism {
    assembler: Assembler,
    gravity: [Value; 2],
    /// Parts that have energy or take it.
    contributions: Contributions,
    connectivity: Connectivity,
    sketch: Sketch,
}

impl Mechanism {
    /// An empty mechanism; gravity is 9.81 m/s² along -y.
    pub fn new(name: impl Into<String>) -> Self {
        Mechanism {
            assembler: Assembler::new(name),
            gravity: [zero(), Value::from(-9.81)],
            contributions: Contributions::default(),
            connectivity: Connectivity::default(),
            sketch: Sketch::new(false),
        }
    }

    /// Changes gravity, m/s², for parts that are added after this.
    pub fn gravity<V: Into<Value>>(&mut self, gravity: [V; 2]) {
        self.gravity = pair(gravity);
    }

    /// Adds a parameter, to be used wherever a [`Value`] is wanted.
    pub fn parameter(&mut self, parameter: Parameter) -> Value {
        self.assembler.parameter(parameter)
    }

    /// Adds a motion whose coefficients are parameters, and returns them for [`Mechanism::drive`] and its like. Control finds such a motion as it
    /// finds an input.
    pub fn motion(&mut self, name: &str, unit: &str, spline: &Spline) -> Vec<Value> {
        self.assembler.motion(name, unit, spline)
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, unit: &str) -> Input {
        self.assembler.input(name, unit)
    }

    /// Adds a first-order state for elements of your own, with its value at the start: see [`Assembler::state`].
    pub fn state(&mut self, name: &str, unit: &str, initial: impl Into<Value>) -> StateVariable {
        self.assembler.state(name, unit, initial)
    }

    /// Gives a state, such as one of a law, another value at the start than zero.
    pub fn start_state(&mut self, state: StateVariable, value: impl Into<Value>) {
        self.assembler.start_state(state, value);
    }

    /// The assembler, for elements of your own. They may hold anything: whether bodies are held is not checked then.
    pub fn assembler(&mut self) -> &mut Assembler {
        self.connectivity.unknown = true;
        &mut self.assembler
    }

    /// Chooses what is done with constraint rows that repeat others at the start, as in closed loops.
    pub fn redundant_rows(&mut self, policy: RedundantRows) {
        self.assembler.redundant_rows(policy);
    }

    /// The ground, as a member: the world.
    pub fn ground(&self) -> Member {
        Member { number: GROUND, side: Side::Ground, name: "ground".into(), coordinates: Vec::new() }
    }

    /// Adds a rigid body.
    pub fn body(&mut self, name: &str, body: Body) -> Member {
        let Body { mass, inertia, center, position: [x, y], angle, velocity: [v_x, v_y], rate } = body;
        let coordinates = vec![
            self.assembler.coordinate(format!("{name}.x"), "m", x, v_x),
            self.assembler.coordinate(format!("{name}.y"), "m", y, v_y),
            self.assembler.coordinate(format!("{name}.angle"), "rad", angle, rate),
        ];
        let begun = if angle.is_constant() { angle.evaluate(&[]) } else { 0.0 };
        if begun.abs() > std::f64::consts::TAU {
            let begun = rounded(begun, 4);
            self.assembler.remark(format!(
                "`{name}` begins turned by {begun} rad, more than a turn: angles are in rad, not in degrees"
            ));
        }
        let places = coordinates.iter().map(|c| c.index()).collect();
        let [x, y] = center;
        let number = self.sketch.member(MemberKind::Planar(inertia), places, [x, y, zero()], mass);
        let values: Vec<Value> = [mass, inertia].into_iter().chain(center).chain(self.gravity).collect();
        self.assembler.claim(name, &values);
        self.check_mass(name, "mass", &values[0]);
        self.check_mass(name, "inertia", &values[1]);
        self.share(name, Store::Body, &coordinates, &values);
        let connection = Connection::to(coordinates.clone());
        if center == [zero(), zero()] {
            let values = [&values[..2], &values[4..]].concat();
            self.assembler.element(name, CentredBody, connection.parameters(values));
        } else {
            self.assembler.element(name, RigidBody, connection.parameters(values));
        }
        let member = Member { number, side: Side::Body, name: name.into(), coordinates };
        self.hold(name, &member.coordinates);
        member
    }

    /// Adds a mass without extension, kg, at rest at `position`, m.
    pub fn point<V: Into<Value>>(&mut self, name: &str, mass: impl Into<Value>, position: [V; 2]) -> Member {
        self.point_moving(name, mass, position, [zero(), zero()])
    }

    /// Adds a mass without extension, kg, at `position`, m, with `velocity`, m/s.
    pub fn point_moving<V: Into<Value>, W: Into<Value>>(
        &mut self,
        name: &str,
        mass: impl Into<Value>,
        position: [V; 2],
        velocity: [W; 2],
    ) -> Member {
        self.add_point(name, mass.into(), pair(position), pair(velocity))
    }

    // compiled here, not in each crate that adds one
    fn add_point(&mut self, name: &str, mass: Value, [x, y]: [Value; 2], [v_x, v_y]: [Value; 2]) -> Member {
        let coordinates = vec![
            self.assembler.coordinate(format!("{name}.x"), "m", x, v_x),
            self.assembler.coordinate(format!("{name}.y"), "m", y, v_y),
        ];
        let places = coordinates.iter().map(|c| c.index()).collect();
        let number = self.sketch.member(MemberKind::Point, places, [zero(), zero(), zero()], mass);
        let values: Vec<Value> = [mass].into_iter().chain(self.gravity).collect();
        self.assembler.claim(name, &values);
        self.check_mass(name, "mass", &values[0]);
        self.share(name, Store::Point, &coordinates, &values);
        self.assembler.element(name, PointMass, Connection::to(coordinates.clone()).parameters(values));
        let member = Member { number, side: Side::Point, name: name.into(), coordinates };
        self.hold(name, &member.coordinates);
        member
    }

    /// Notes what a body or a mass contributes to totals.
    fn share(&mut self, name: &str, store: Store, coordinates: &[Coordinate], values: &[Value]) {
        let connection = Connection::to(coordinates.iter().copied()).parameters(values);
        self.contributions.add(name, move |assembler, total, name, sums| {
            if total == Total::Energy {
                assembler.element(name, Energy(store), connection.clone().adds_to(sums.iter().copied()));
            }
        });
    }

    fn hold(&mut self, name: &str, coordinates: &[Coordinate]) {
        if let Err(error) = self.connectivity.add(name, coordinates) {
            self.assembler.note(error);
        }
    }

    /// Notes a number that cannot be a mass; zero can, where a joint ties it to something with mass.
    fn check_mass(&mut self, name: &str, kind: &str, value: &Value) {
        let number = value.evaluate(self.assembler.nominal());
        if !(number >= 0.0 && number.is_finite()) {
            let (problem, remedy) = (format!("its {kind} is {number}"), "give a positive number");
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, remedy));
        }
    }

    /// The connection of a part between two members, which must not be one and the same.
    fn between(&mut self, name: &str, first: &Member, second: &Member) -> (Sides, Connection) {
        if first.name == second.name {
            let problem = format!("it connects `{}` to itself", first.name);
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, "name two different members"));
        }
        let coordinates = first.coordinates.iter().chain(&second.coordinates).copied();
        (Sides(first.side, second.side), Connection::to(coordinates))
    }

    /// Notes that a part needs a body where it has been given something else.
    fn wants_body(&mut self, name: &str, member: &Member) {
        if member.side != Side::Body {
            let problem = format!("it needs the angle of a body, and `{}` has none", member.name);
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, "use a body"));
        }
    }

    /// Position of a place at the start, in the world.
    fn at_start(&self, place: &Place) -> [f64; 2] {
        let pose = place.member.side.pose(&self.assembler.at_start(&place.member.coordinates));
        let [x, y] = pose.turn(place.location.each_ref().map(|value| value.evaluate(self.assembler.nominal())));
        [pose.x + x, pose.y + y]
    }

    /// Says that nothing needs to hold this member, nor what is connected to it.
    pub fn free(&mut self, member: &Member) {
        self.assembler.claim_coordinates(&member.name, &member.coordinates);
        self.connectivity.let_free(&member.name);
    }

    /// The mechanism as a system.
    ///
    /// # Errors
    /// The first slip that was made in putting it together; see also [`Assembler::build`].
    pub fn build(self) -> Result<Assembly> {
        let loose = self.connectivity.error();
        let assembly = self.assembler.build()?;
        if let Some(error) = loose {
            return Err(error);
        }
        Ok(if self.sketch.is_empty() { assembly } else { assembly.with_sketch(self.sketch) })
    }
}
