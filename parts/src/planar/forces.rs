//! Forces by name.

use super::force::Strut as StrutElement;
use super::force::{Armature, Contact, Drag, PointForce, Support, Torque, Torsion};
use super::joint::Sides;
use super::{Mechanism, Member, Place, pair, zero};
use crate::assembly::{Connection, Coordinate, Input, StateVariable};
use crate::law::{Amount, Axes, BrownMcPhee, Damper, FunctionOfTime, Law, Linear, Source, Strength};
use crate::totals::{Role, Total};
use costate::Error;
use costate::sketch::{About, Direction, GROUND, Part, Ray};
use costate::value::Value;

/// A spring or the like between two points, that has been added: what a strut sensor is given.
#[derive(Debug, Clone)]
pub struct Strut<L> {
    pub(super) law: L,
    pub(super) sides: Sides,
    pub(super) coordinates: Vec<Coordinate>,
    pub(super) parameters: Vec<Value>,
    pub(super) states: Vec<StateVariable>,
}

impl<L> Strut<L> {
    /// The states of its law.
    pub fn states(&self) -> &[StateVariable] {
        &self.states
    }
}

/// Springs, dampers, forces, motors and contacts. As for joints, functions that take `impl Into<Value>` only make values of it.
impl Mechanism {
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
        let [stiffness, damping] = &linear;
        self.assembler.tell_negative(name, [("stiffness", "N/m", stiffness), ("damping", "N s/m", damping)]);
        self.sketch.parts.push(Part::Strut { spots: [first.spot(), second.spot()], linear: Some(linear) });
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
        self.sketch.parts.push(Part::Strut { spots: [first.spot(), second.spot()], linear: None });
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
        self.connectivity.link(&first.member.name, &second.member.name);
        let (sides, connection) = self.between(name, &first.member, &second.member);
        self.assembler.wants_distance(name, [self.at_start(&first), self.at_start(&second)]);
        let mut values = [first.location, second.location].concat();
        values.push(free_length);
        values.extend(parameters);
        let coordinates = connection.coordinates.clone();
        self.contributions.check(name, &law, &values[5..], &mut self.assembler);
        let (acting, states) = (law.clone(), self.assembler.states_of(name, &law, false));
        let connection = connection.states(states.iter().copied()).parameters(values.clone());
        self.contributions.part(&mut self.assembler, name, connection, move |role| {
            Some(StrutElement { sides, law: acting.clone(), role })
        });
        Strut { law, sides, coordinates, parameters: values, states }
    }

    /// A torsional spring (N m/rad) with a damper (N m s/rad) between two members; without torque at angle 0.
    pub fn torsion(
        &mut self,
        name: &str,
        first: &Member,
        second: &Member,
        stiffness: impl Into<Value>,
        damping: impl Into<Value>,
    ) {
        self.add_torsion_spring(name, [first, second], [stiffness.into(), damping.into()]);
    }

    fn add_torsion_spring(&mut self, name: &str, [first, second]: [&Member; 2], linear: [Value; 2]) {
        let about = About::Members([first.number, second.number]);
        self.sketch.parts.push(Part::Torsion { about, stiffness: Some(linear[0]) });
        let [stiffness, damping] = linear;
        if stiffness.is_zero() {
            // no angle is worked out for a damper
            self.add_torsion(name, [first, second], zero(), Damper, vec![damping]);
        } else {
            self.add_torsion(name, [first, second], zero(), Linear, linear.to_vec());
        }
    }

    /// A torque between two members by a law of the relative angle (less `free_angle`, rad) and its rate. Returns the states of the law.
    pub fn torsion_by<L: Law + Clone, V: Into<Value>>(
        &mut self,
        name: &str,
        first: &Member,
        second: &Member,
        free_angle: impl Into<Value>,
        law: L,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<StateVariable> {
        let about = About::Members([first.number, second.number]);
        self.sketch.parts.push(Part::Torsion { about, stiffness: None });
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.add_torsion(name, [first, second], free_angle.into(), law, parameters)
    }

    fn add_torsion<L: Law + Clone>(
        &mut self,
        name: &str,
        [first, second]: [&Member; 2],
        free_angle: Value,
        law: L,
        parameters: Vec<Value>,
    ) -> Vec<StateVariable> {
        self.connectivity.link(&first.name, &second.name);
        let (sides, connection) = self.between(name, first, second);
        self.contributions.check(name, &law, &parameters, &mut self.assembler);
        let states = self.assembler.states_of(name, &law, true);
        let connection = connection.states(states.iter().copied()).parameters([free_angle]).parameters(parameters);
        self.contributions
            .part(&mut self.assembler, name, connection, move |role| Some(Torsion { sides, law: law.clone(), role }));
        states
    }

    /// Smoothed friction in a revolute joint (Brown & McPhee 2016, constant load): Coulomb and static torque (N m), transition
    /// rate (rad/s), viscous coefficient (N m s/rad).
    pub fn joint_friction(
        &mut self,
        name: &str,
        first: &Member,
        second: &Member,
        [coulomb, stick, transition, viscous]: [Value; 4],
    ) {
        self.torsion_by(name, first, second, zero(), BrownMcPhee, [coulomb, stick, transition, viscous]);
    }

    /// A force by a law between a point and a support that moves as inputs say, such as a wheel on a road. Distances are measured
    /// along a fixed direction (rad, world axes) from the world's origin, the support's from there by `motion`: its displacement (m)
    /// and, where the law has damping, its rate (m/s). `free_distance` (m) is that without elongation. Returns the states of the law.
    #[allow(clippy::too_many_arguments)]
    pub fn support<L: Law + Clone, V: Into<Value>>(
        &mut self,
        name: &str,
        place: Place,
        direction: impl Into<Value>,
        motion: impl IntoIterator<Item = Input>,
        free_distance: impl Into<Value>,
        law: L,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<StateVariable> {
        let motion: Vec<Input> = motion.into_iter().collect();
        if !(1..=2).contains(&motion.len()) {
            let problem = format!("{} inputs move it", motion.len());
            let remedy = "give its displacement, or its displacement and its rate";
            self.assembler.note(Error::invalid(format!("support `{name}`"), problem, remedy));
            return Vec::new();
        }
        let direction = direction.into();
        self.sketch.parts.push(Part::Support { spots: [place.spot()], direction, input: motion[0].index() });
        let ground = self.ground();
        self.connectivity.link(&place.member.name, &ground.name);
        let connection = Connection::to(place.member.coordinates.iter().copied())
            .inputs(motion)
            .parameters(place.location)
            .parameters([direction, free_distance.into()])
            .parameters(parameters);
        self.contributions.check(name, &law, &connection.parameters[4..], &mut self.assembler);
        let (side, states) = (place.member.side, self.assembler.states_of(name, &law, false));
        let connection = connection.states(states.iter().copied());
        self.contributions
            .part(&mut self.assembler, name, connection, move |role| Some(Support { side, law: law.clone(), role }));
        states
    }

    /// A force (N) at a point along a direction of any length, given in world or body axes: a number, a parameter, or an input.
    pub fn force<V: Into<Value>>(
        &mut self,
        name: &str,
        place: Place,
        direction: [V; 2],
        axes: Axes,
        amount: impl Into<Amount>,
    ) {
        self.add_force(name, place, pair(direction), axes, amount.into().into());
    }

    /// A force at a point along a direction of any length, given in world or body axes: N as a function of time with parameters.
    pub fn force_by<F: FunctionOfTime, V: Into<Value>, W: Into<Value>>(
        &mut self,
        name: &str,
        place: Place,
        direction: [V; 2],
        axes: Axes,
        function: F,
        parameters: impl IntoIterator<Item = W>,
    ) {
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.add_force(name, place, pair(direction), axes, Source::timed(function, parameters));
    }

    fn add_force<S: Strength>(
        &mut self,
        name: &str,
        place: Place,
        direction: [Value; 2],
        axes: Axes,
        source: Source<S>,
    ) {
        self.assembler.wants_direction(name, &direction);
        let [x, y] = direction;
        let member = if axes == Axes::Body { place.member.number } else { GROUND };
        let along = Ray { member, direction: Direction::Vector([x, y, zero()]) };
        self.sketch.parts.push(Part::Force { spots: [place.spot()], along, amount: source.seen.clone() });
        let connection = Connection::to(place.member.coordinates.iter().copied());
        let connection = source.connect(connection.parameters(place.location).parameters(direction));
        let element = PointForce { side: place.member.side, axes, strength: source.strength };
        self.assembler.element(name, element, connection);
    }

    /// A torque (N m) on the second body, and the opposite one on the first member: a number, a parameter, or an input.
    pub fn torque(&mut self, name: &str, first: &Member, second: &Member, amount: impl Into<Amount>) {
        self.add_torque(name, [first, second], amount.into().into());
    }

    /// A torque on the second body, and the opposite one on the first member: N m as a function of time with parameters.
    pub fn torque_by<F: FunctionOfTime, V: Into<Value>>(
        &mut self,
        name: &str,
        first: &Member,
        second: &Member,
        function: F,
        parameters: impl IntoIterator<Item = V>,
    ) {
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.add_torque(name, [first, second], Source::timed(function, parameters));
    }

    fn add_torque<S: Strength>(&mut self, name: &str, [first, second]: [&Member; 2], source: Source<S>) {
        self.wants_body(name, second);
        let about = About::Members([first.number, second.number]);
        self.sketch.parts.push(Part::Torque { about, amount: source.seen.clone() });
        let (sides, connection) = self.between(name, first, second);
        let connection = source.connect(connection);
        self.assembler.element(name, Torque(sides, source.strength), connection);
    }

    /// A direct-current motor that turns the second body against the first member: torque `torque_constant` (N m/A, and V s/rad) times the
    /// current i, which its voltage (V: a number, a parameter, or an input) drives through a resistance (ohm) and an inductance (H):
    /// L i' = V - R i - k (relative rate). Returns the current, a state `NAME.current`.
    pub fn dc_motor<V: Into<Value>>(
        &mut self,
        name: &str,
        first: &Member,
        second: &Member,
        voltage: impl Into<Amount>,
        [torque_constant, resistance, inductance]: [V; 3],
    ) -> StateVariable {
        let circuit = [torque_constant.into(), resistance.into(), inductance.into()];
        self.add_dc_motor(name, [first, second], voltage.into().into(), circuit)
    }

    fn add_dc_motor<S: Strength>(
        &mut self,
        name: &str,
        [first, second]: [&Member; 2],
        voltage: Source<S>,
        circuit: [Value; 3],
    ) -> StateVariable {
        self.wants_body(name, second);
        let current = self.assembler.state(format!("{name}.current"), "A", 0.0);
        let (sides, connection) = self.between(name, first, second);
        let connection = voltage.connect(connection.states([current]).parameters(circuit));
        self.assembler.element(name, Armature(sides, voltage.strength), connection);
        current
    }

    /// Resistance of the air at a point: linear (N s/m) and quadratic (N s²/m²).
    pub fn drag(&mut self, name: &str, place: Place, linear: impl Into<Value>, quadratic: impl Into<Value>) {
        self.add_drag(name, place, [linear.into(), quadratic.into()]);
    }

    fn add_drag(&mut self, name: &str, place: Place, coefficients: [Value; 2]) {
        let [linear, quadratic] = &coefficients;
        self.assembler
            .tell_negative(name, [("linear drag", "N s/m", linear), ("quadratic drag", "N s^2/m^2", quadratic)]);
        let connection = Connection::to(place.member.coordinates.iter().copied());
        let connection = connection.parameters(place.location).parameters(coefficients);
        let side = place.member.side;
        self.contributions.part(&mut self.assembler, name, connection, move |role| {
            (role != Role::Tells(Total::Energy)).then_some(Drag(side, role))
        });
    }

    /// A circle (centre on the second member, radius in m) presses against a line through a point of the first, whose direction
    /// (rad) is against the first member's axes; free space is on its left. Hertz' law with `stiffness` in N/m^1.5 and `damping`
    /// in s/m.
    #[allow(clippy::too_many_arguments)]
    pub fn contact(
        &mut self,
        name: &str,
        line: Place,
        direction: impl Into<Value>,
        center: Place,
        radius: impl Into<Value>,
        stiffness: impl Into<Value>,
        damping: impl Into<Value>,
    ) {
        self.add_contact(name, [line, center], direction.into(), [radius.into(), stiffness.into(), damping.into()]);
    }

    fn add_contact(
        &mut self,
        name: &str,
        [line, center]: [Place; 2],
        direction: Value,
        [radius, stiffness, damping]: [Value; 3],
    ) {
        let spots = [line.spot(), center.spot()];
        self.sketch.parts.push(Part::Contact { spots, line: line.line(&direction), radius });
        self.connectivity.link(&line.member.name, &center.member.name);
        let (sides, connection) = self.between(name, &line.member, &center.member);
        let connection = connection
            .parameters(line.location)
            .parameters([direction])
            .parameters(center.location)
            .parameters([radius, stiffness, damping]);
        self.contributions.part(&mut self.assembler, name, connection, move |role| Some(Contact(sides, role)));
    }
}
