//! Mechanisms of space from parts: bodies with Euler parameters, joints, forces and sensors, every property a number or a
//! parameter.
//!
//! ```
//! use costate_parts::spatial::{Body, Inertia, Mechanism};
//! use costate::{Parameter, Simulation, TimeGrid};
//! use costate::scheme::Hht;
//! use costate::system::System;
//! use std::sync::Arc;
//!
//! # fn main() -> costate::Result<()> {
//! // a rod of 1 m along x, hung up at its end on a hinge about y, let go horizontally; gravity is along -z
//! let mut mechanism = Mechanism::new("rod");
//! let mass = mechanism.parameter(Parameter::new("m", "kg", 1.0));
//! let inertia = Inertia::diagonal([1e-4, 1.0 / 12.0, 1.0 / 12.0]);
//! let rod = mechanism.body("rod", Body::new(mass, inertia).at([0.5, 0.0, 0.0]));
//! let ground = mechanism.ground();
//! let (hinge, end) = (ground.at([0.0; 3]).axis([0.0, 1.0, 0.0]), rod.at([-0.5, 0.0, 0.0]).axis([0.0, 1.0, 0.0]));
//! mechanism.revolute("hinge", hinge, end);
//! mechanism.angular_velocity("rate", &rod, Default::default());
//! let simulation = Simulation::new(Arc::new(mechanism.build()?), Hht::new(-0.05)?, TimeGrid::uniform(0.0, 1.0, 1e-3)?, vec![])?;
//! let trajectory = simulation.run(&[1.0])?;
//! assert!((trajectory.output(4)[0] - 9.81 * 1.5).abs() < 1e-9); // `rate.alpha_y`: (m g l/2) / (m l²/3)
//! # Ok(())
//! # }
//! ```
//!
//! # Axes of joints
//!
//! A joint connects two [`Place`]s: points with axes, fixed to their members. Its axis is that of [`Place::axis`] (z unless said
//! otherwise), given in the member's own axes; joints that hold a turn about it compare [`Place::across`] on both sides, too (x
//! unless said otherwise). [`Mechanism::place`] takes a point of the *world* at the start, with the world's axes: two places made
//! from one point and one axis fit together however the members are turned.
//!
//! While parts are added, the mechanism notes down what they look like: `costate_report::plot::mechanism` draws it.

mod body;
mod clearance;
mod closed;
mod controller;
mod force;
mod forces;
mod inertia;
mod joint;
mod joints;
mod looks;
mod own;
mod place;
mod pose;
mod sensor;
mod sensors;
mod tendon;

use crate::totals::{Contributions, Total};
pub use clearance::{Capsule, distance_of_lines};
pub use controller::{Command, Controlled, Controller};
use costate::spline::Spline;
pub use forces::Strut;
pub use inertia::{
    Inertia, check as check_inertia, check_moments, entries_of_factors, factors_of_entries, factors_of_moments,
    moments_of_factors,
};
pub use joint::{Freedom, Path};
pub use joints::Joint;
pub use looks::Looks;
pub use place::{Member, Place};
pub use pose::{Side, Sides, Twist};
use sensor::Balance;
pub use sensor::ReactionAxes;
pub use sensors::Mounting;
pub use tendon::Tendon;

use crate::assembly::{Assembler, Assembly, Connection, Coordinate, Input, RedundantRows, StateVariable};
use crate::connectivity::{Connectivity, WORLD};
use body::{PointMass, RigidBody, Store};
use costate::sketch::{GROUND, MemberKind, Sketch};
use costate::value::Value;
use costate::vector::{Rotation, Vector, euler_rates};
use costate::{Error, Parameter, Result};

/// A rigid body: what it weighs and where it starts.
#[derive(Debug, Clone)]
pub struct Body {
    mass: Value,
    inertia: Inertia,
    center: [Value; 3],
    position: [Value; 3],
    orientation: [Value; 4],
    velocity: [Value; 3],
    rates: Rates,
}

#[derive(Debug, Clone)]
enum Rates {
    /// Angular velocity in world axes.
    Angular([Value; 3]),
    EulerParameters([Value; 4]),
}

fn triple<V: Into<Value>>(values: [V; 3]) -> [Value; 3] {
    values.map(Into::into)
}

fn zero() -> Value {
    Value::from(0.0)
}

fn origin() -> [Value; 3] {
    [zero(), zero(), zero()]
}

fn is_origin(location: &[Value; 3]) -> bool {
    *location == origin()
}

impl Body {
    /// A body with mass (kg) and inertia, at rest at the origin, its axes those of the world.
    pub fn new(mass: impl Into<Value>, inertia: Inertia) -> Self {
        Body {
            mass: mass.into(),
            inertia,
            center: origin(),
            position: origin(),
            orientation: [1.0, 0.0, 0.0, 0.0].map(Value::from),
            velocity: origin(),
            rates: Rates::Angular(origin()),
        }
    }

    /// A body by its mass (kg), the first moments of mass m c (kg m), and the entries I_11, I_22, I_33, I_12, I_13, I_23 of the tensor about
    /// the reference point (kg m²), in the body's axes: ten numbers in which all its forces are linear, so that fits of forces to given motions
    /// are linear, too. Not every choice is possible for a body: see [`check_moments`].
    pub fn of_moments<V: Into<Value>, W: Into<Value>>(mass: impl Into<Value>, first: [V; 3], tensor: [W; 6]) -> Self {
        let inertia = Inertia { form: inertia::Form::Moments, values: tensor.map(Into::into) };
        Body { center: triple(first), ..Body::new(mass, inertia) }
    }

    /// A body by the log-Cholesky factors α, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3 of its pseudo-inertia (Rucker & Wensing 2022): of
    /// all ten numbers, every choice is possible for a body.
    ///
    /// ```text
    /// [ Σ      m c ]                      [ exp d_1   s_12      s_13      t_1 ]
    /// [ m cᵀ   m   ] = U Uᵀ,  U = exp α * [           exp d_2   s_23      t_2 ]       Σ = ∫ r rᵀ dm,  I = tr(Σ) 1 - Σ
    ///                                     [                     exp d_3   t_3 ]
    ///                                     [                               1   ]
    /// ```
    ///
    /// exp 2α is the mass, t (m) the centre of mass; d are logarithms of m, s in m. [`factors_of_moments`] and [`moments_of_factors`] go
    /// to and fro.
    pub fn of_factors<V: Into<Value>>(factors: [V; 10]) -> Self {
        let [alpha, d_1, d_2, d_3, s_12, s_13, s_23, center @ ..] = factors.map(Into::into);
        let inertia = Inertia { form: inertia::Form::PseudoInertia, values: [d_1, d_2, d_3, s_12, s_13, s_23] };
        Body { center, ..Body::new(alpha, inertia) }
    }

    /// Puts the centre of mass there, in the body's axes, m; it is the reference point otherwise. Of [`Body::of_moments`] and
    /// [`Body::of_factors`] it is known already.
    pub fn center<V: Into<Value>>(mut self, location: [V; 3]) -> Self {
        self.center = triple(location);
        self
    }

    /// Position of the reference point at the start, m.
    pub fn at<V: Into<Value>>(mut self, position: [V; 3]) -> Self {
        self.position = triple(position);
        self
    }

    /// Euler parameters of the body's axes at the start, whose squares add up to one; see [`costate::vector::euler_parameters_of`].
    pub fn turned<V: Into<Value>>(mut self, orientation: [V; 4]) -> Self {
        self.orientation = orientation.map(Into::into);
        self
    }

    /// Velocity of the reference point (m/s) and angular velocity (rad/s) at the start, both in the world's axes.
    pub fn moving<V: Into<Value>, W: Into<Value>>(mut self, velocity: [V; 3], angular_velocity: [W; 3]) -> Self {
        (self.velocity, self.rates) = (triple(velocity), Rates::Angular(triple(angular_velocity)));
        self
    }

    /// Rates of the Euler parameters at the start, 1/s, instead of the angular velocity: where the orientation depends on parameters.
    pub fn turning<V: Into<Value>>(mut self, rates: [V; 4]) -> Self {
        self.rates = Rates::EulerParameters(rates.map(Into::into));
        self
    }
}

/// A mechanism being put together. Every part has a name; messages, coordinates, constraints and outputs use it.
pub struct Mechanism {
    assembler: Assembler,
    gravity: [Value; 3],
    /// Parts that have energy or momentum, or take it.
    contributions: Contributions,
    connectivity: Connectivity,
    sketch: Sketch,
}

impl Mechanism {
    /// An empty mechanism; gravity is 9.81 m/s² along -z.
    pub fn new(name: impl Into<String>) -> Self {
        Mechanism {
            assembler: Assembler::new(name),
            gravity: [zero(), zero(), Value::from(-9.81)],
            contributions: Contributions::default(),
            connectivity: Connectivity::default(),
            sketch: Sketch::new(true),
        }
    }

    /// Changes gravity, m/s², for parts that are added after this.
    pub fn gravity<V: Into<Value>>(&mut self, gravity: [V; 3]) {
        self.gravity = triple(gravity);
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
        Member::new(GROUND, Side::Ground, WORLD, Vec::new())
    }

    /// Adds a rigid body. Its coordinates are `name.x`, `name.y`, `name.z` (m) and Euler parameters `name.e0` ... `name.e3`, held to
    /// unit length by the constraint `name.unit`.
    pub fn body(&mut self, name: &str, body: Body) -> Member {
        let Body { mass, inertia, center, position, orientation, velocity, rates } = body;
        let rates = self.euler_rates(name, &orientation, rates);
        let mut coordinates = self.positions(name, position, velocity);
        for (k, (e, rate)) in orientation.iter().zip(rates).enumerate() {
            coordinates.push(self.assembler.coordinate(format!("{name}.e{k}"), "1", e, rate));
        }
        let places = coordinates.iter().map(|c| c.index()).collect();
        let values: Vec<Value> = [mass].into_iter().chain(inertia.values).chain(center).chain(self.gravity).collect();
        let looks = MemberKind::Spatial(inertia.mass_at(mass, center));
        let number = self.sketch.member(looks, places, center, mass);
        if inertia.form.is_split() {
            self.check_mass(name, &mass);
        } else {
            let own = inertia.about_center(mass, center, self.assembler.nominal());
            self.check_mass(name, &own.mass.into());
        }
        self.assembler.claim(name, &values);
        self.check_body(name, (&inertia, mass, center), &orientation);
        self.share(name, Store::Body(inertia.form), &coordinates, &values);
        let element = RigidBody { form: inertia.form, centred: inertia.form.is_split() && is_origin(&center) };
        let connection = Connection::to(coordinates.clone()).parameters(values);
        self.assembler.element(name, element, connection.constraints([("unit", "")]));
        self.hold(name, &coordinates);
        Member::new(number, Side::Body, name, coordinates)
    }

    /// Adds a mass without extension, kg, at rest at `position`, m.
    pub fn point<V: Into<Value>>(&mut self, name: &str, mass: impl Into<Value>, position: [V; 3]) -> Member {
        self.point_moving(name, mass, position, origin())
    }

    /// Adds a mass without extension, kg, at `position`, m, with `velocity`, m/s.
    pub fn point_moving<V: Into<Value>, W: Into<Value>>(
        &mut self,
        name: &str,
        mass: impl Into<Value>,
        position: [V; 3],
        velocity: [W; 3],
    ) -> Member {
        self.add_point(name, mass.into(), triple(position), triple(velocity))
    }

    // compiled here, not in each crate that adds one
    fn add_point(&mut self, name: &str, mass: Value, position: [Value; 3], velocity: [Value; 3]) -> Member {
        let coordinates = self.positions(name, position, velocity);
        let places = coordinates.iter().map(|c| c.index()).collect();
        let number = self.sketch.member(MemberKind::Point, places, origin(), mass);
        let values: Vec<Value> = [mass].into_iter().chain(self.gravity).collect();
        self.assembler.claim(name, &values);
        self.check_mass(name, &values[0]);
        self.share(name, Store::Point, &coordinates, &values);
        self.assembler.element(name, PointMass, Connection::to(coordinates.clone()).parameters(values));
        self.hold(name, &coordinates);
        Member::new(number, Side::Point, name, coordinates)
    }

    /// Notes what a body or a mass contributes to totals.
    fn share(&mut self, name: &str, store: Store, coordinates: &[Coordinate], values: &[Value]) {
        let connection = Connection::to(coordinates.iter().copied()).parameters(values);
        self.contributions.add(name, move |assembler, total, name, sums| {
            if total != Total::Dissipation {
                assembler.element(name, Balance(total, store), connection.clone().adds_to(sums.iter().copied()));
            }
        });
    }

    fn hold(&mut self, name: &str, coordinates: &[Coordinate]) {
        if let Err(error) = self.connectivity.add(name, coordinates) {
            self.assembler.note(error);
        }
    }

    fn positions(&mut self, name: &str, position: [Value; 3], velocity: [Value; 3]) -> Vec<Coordinate> {
        let parts = ["x", "y", "z"].into_iter().zip(position.into_iter().zip(velocity));
        parts.map(|(axis, (x, v))| self.assembler.coordinate(format!("{name}.{axis}"), "m", x, v)).collect()
    }

    /// Rates of the Euler parameters at the start: linear in the angular velocity if the orientation is given by numbers.
    fn euler_rates(&mut self, name: &str, orientation: &[Value; 4], rates: Rates) -> [Value; 4] {
        let angular = match rates {
            Rates::EulerParameters(rates) => return rates,
            Rates::Angular(angular) => angular,
        };
        if is_origin(&angular) {
            return [zero(), zero(), zero(), zero()];
        }
        if orientation.iter().any(|e| !e.is_constant()) {
            let problem =
                "its orientation and its angular velocity at the start depend on each other through parameters";
            let remedy = "give the rates of its Euler parameters (`Body::turning`)";
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, remedy));
            return [zero(), zero(), zero(), zero()];
        }
        let e = orientation.each_ref().map(|e| e.evaluate(&[]));
        let columns = [0, 1, 2].map(|k| {
            let mut axis = Vector::zero();
            axis.0[k] = 1.0;
            euler_rates(e, Rotation::from_euler_parameters(e).turn_back(axis))
        });
        std::array::from_fn(|i| {
            let [x, y, z] = &angular;
            x * columns[0][i] + y * columns[1][i] + z * columns[2][i]
        })
    }

    /// Notes a number that cannot be a mass; zero can, where a joint ties it to something with mass.
    fn check_mass(&mut self, name: &str, value: &Value) {
        let number = value.evaluate(self.assembler.nominal());
        if !(number >= 0.0 && number.is_finite()) {
            let (problem, remedy) = (format!("its mass is {number}"), "give a positive number");
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, remedy));
        }
    }

    /// Notes an inertia that no body has, and Euler parameters that are not of unit length.
    fn check_body(
        &mut self,
        name: &str,
        (inertia, mass, center): (&Inertia, Value, [Value; 3]),
        orientation: &[Value; 4],
    ) {
        let nominal = self.assembler.nominal();
        let e = orientation.each_ref().map(|e| e.evaluate(nominal));
        let inertia = inertia.about_center(mass, center, nominal).inertia;
        if let Err(error) = inertia::check(inertia) {
            self.assembler.note(Error::invalid(format!("`{name}`"), error.to_string(), "correct its inertia"));
        }
        let length = e.iter().map(|e| e * e).sum::<f64>().sqrt();
        if (length - 1.0).abs() > UNIT && orientation.iter().all(Value::is_constant) || length.is_nan() {
            let problem =
                format!("the length of its Euler parameters ({}, {}, {}, {}) is {length}", e[0], e[1], e[2], e[3]);
            let remedy = "divide them by their length (`euler_parameters_of` makes them from a rotation vector)";
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, remedy));
        }
    }

    /// The connection of a part between two members, which must not be one and the same.
    fn between(&mut self, name: &str, first: &Member, second: &Member) -> (Sides, Connection) {
        if first.name() == second.name() {
            let problem = format!("it connects `{}` to itself", first.name());
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, "name two different members"));
        }
        let coordinates = first.coordinates().iter().chain(second.coordinates()).copied();
        (Sides(first.side(), second.side()), Connection::to(coordinates))
    }

    /// Notes that a part needs a body where it has been given a point mass.
    fn wants_axes(&mut self, name: &str, member: &Member) {
        if member.side() == Side::Point {
            let problem = format!("it needs the axes of a body, and the point mass `{}` has none", member.name());
            self.assembler.note(Error::invalid(format!("`{name}`"), problem, "use a body"));
        }
    }

    /// Says that nothing needs to hold this member, nor what is connected to it.
    pub fn free(&mut self, member: &Member) {
        self.assembler.claim_coordinates(member.name(), member.coordinates());
        self.connectivity.let_free(member.name());
    }

    /// The mechanism as a system.
    ///
    /// # Errors
    /// The first slip that was made in putting it together; see also [`Assembler::build`].
    pub fn build(self) -> Result<Assembly> {
        let loose = self.connectivity.error();
        let assembly = self.assembler.build()?;
        match loose {
            Some(error) => Err(error),
            None if self.sketch.is_empty() => Ok(assembly),
            None => Ok(assembly.with_sketch(self.sketch)),
        }
    }
}

/// Largest deviation of Euler parameters from unit length at the start: what a few digits leave is for the projection of the start.
const UNIT: f64 = 1e-9;
