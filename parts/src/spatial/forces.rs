//! Forces and torques by name.

use super::force::{Acting, Action, Armature, Effort, JointLaw, Load, Motor, Rotor, Strut as StrutElement};
use super::joint::Freedom;
use super::joints::Joint;
use super::pose::Sides;
use super::{Mechanism, Member, Place, triple, zero};
use crate::assembly::{Connection, Coordinate, StateVariable};
use crate::law::{Amount, Axes, BrownMcPhee, Damper, FunctionOfTime, Law, Linear, Source, Strength};
use crate::totals::{Role, Total};
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

/// Forces, springs, dampers and motors. As for joints, functions that take `impl Into<Value>` only make values of it.
impl Mechanism {
    fn add_action(&mut self, name: &str, connection: Connection, action: Action) {
        let has = move |role| match role {
            Role::Tells(Total::Energy) => !matches!(action, Action::Drag(_)),
            _ => true,
        };
        self.contributions
            .part(&mut self.assembler, name, connection, move |role| has(role).then_some(Acting(action, role)));
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
        let [stiffness, damping] = &linear;
        self.assembler.tell_negative(name, [("stiffness", "N/m", stiffness), ("damping", "N s/m", damping)]);
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
        self.contributions.check(name, &law, &values[7..], &mut self.assembler);
        let (acting, states) = (law.clone(), self.assembler.states_of(name, &law, false));
        let connection = connection.states(states.iter().copied()).parameters(values.clone());
        self.contributions.part(&mut self.assembler, name, connection, move |role| {
            Some(StrutElement { sides, law: acting.clone(), role })
        });
        Strut { law, sides, coordinates, parameters: values, states }
    }

    /// A torque (N m) about a joint's axis by a law of its angle (-π to π, less `free`, rad), or a force (N) along it by a law of its
    /// displacement (less `free`, m): springs, dampers, friction. Returns the states of the law.
    pub fn joint_law<L: Law + Clone, V: Into<Value>>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        free: impl Into<Value>,
        law: L,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<StateVariable> {
        if !self.wants_freedom(name, joint, freedom) {
            return Vec::new();
        }
        self.note_joint_law(joint, freedom, None);
        let parameters = parameters.into_iter().map(Into::into).collect();
        self.add_joint_law(name, joint, freedom, free.into(), law, parameters)
    }

    fn add_joint_law<L: Law + Clone>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        free: Value,
        law: L,
        parameters: Vec<Value>,
    ) -> Vec<StateVariable> {
        self.contributions.check(name, &law, &parameters, &mut self.assembler);
        let (sides, count) = (joint.constraint.sides, parameters.len());
        let states = self.assembler.states_of(name, &law, freedom == Freedom::Turn);
        let connection = joint.connection().states(states.iter().copied()).parameters([free]).parameters(parameters);
        self.contributions.part(&mut self.assembler, name, connection, move |role| {
            Some(JointLaw { sides, freedom, law: law.clone(), parameters: count, role })
        });
        states
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
            let [stiffness, damping] = linear;
            if stiffness.is_zero() {
                // no angle is worked out for a damper
                self.add_joint_law(name, joint, freedom, zero(), Damper, vec![damping]);
            } else {
                self.add_joint_law(name, joint, freedom, zero(), Linear, linear.to_vec());
            }
        }
    }

    /// Smoothed friction in a joint (Brown & McPhee 2016, constant load): Coulomb and static torque (N m) or force (N), transition
    /// rate (rad/s or m/s), viscous coefficient (N m s/rad or N s/m).
    pub fn joint_friction(&mut self, name: &str, joint: &Joint, freedom: Freedom, coefficients: [Value; 4]) {
        self.joint_law(name, joint, freedom, zero(), BrownMcPhee, coefficients);
    }

    /// An inertia that moves with a joint alone, such as that of a rotor behind gears, about the joint's axis (kg m²: that of the rotor times the
    /// square of the gear ratio), or along it (kg). It has energy, but no weight and no spin across the axis.
    pub fn rotor(&mut self, name: &str, joint: &Joint, freedom: Freedom, inertia: impl Into<Value>) {
        self.add_rotor(name, joint, freedom, inertia.into());
    }

    fn add_rotor(&mut self, name: &str, joint: &Joint, freedom: Freedom, inertia: Value) {
        if !self.wants_freedom(name, joint, freedom) {
            return;
        }
        let sides = joint.constraint.sides;
        let connection = joint.connection().parameters([inertia]);
        self.contributions.part(&mut self.assembler, name, connection, move |role| {
            let has = !matches!(role, Role::Tells(total) if total != Total::Energy);
            has.then_some(Rotor { sides, freedom, role })
        });
    }

    /// A torque (N m) about a joint's axis or a force (N) along it, on the second member, and the opposite one on the first: a number,
    /// a parameter, or an input.
    pub fn motor(&mut self, name: &str, joint: &Joint, freedom: Freedom, amount: impl Into<Amount>) {
        self.add_motor(name, joint, freedom, amount.into().into());
    }

    /// A torque about a joint's axis or a force along it, on the second member, and the opposite one on the first: N m or N as a function
    /// of time with parameters.
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

    /// A direct-current motor about a joint's axis, or a linear one along it, on the second member against the first: effort
    /// `torque_constant` (N m/A and V s/rad, or N/A and V s/m) times the current i, which its voltage (V: a number, a parameter, or an input)
    /// drives through a resistance (ohm) and an inductance (H): L i' = V - R i - k (rate). Returns the current, a state `NAME.current`;
    /// none where the joint does not have this freedom, which the build tells.
    pub fn dc_motor<V: Into<Value>>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        voltage: impl Into<Amount>,
        [torque_constant, resistance, inductance]: [V; 3],
    ) -> Option<StateVariable> {
        let circuit = [torque_constant.into(), resistance.into(), inductance.into()];
        self.add_dc_motor(name, joint, freedom, voltage.into().into(), circuit)
    }

    fn add_dc_motor<S: Strength>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        voltage: Source<S>,
        circuit: [Value; 3],
    ) -> Option<StateVariable> {
        if !self.wants_freedom(name, joint, freedom) {
            return None;
        }
        let current = self.assembler.state(format!("{name}.current"), "A", 0.0);
        let connection = voltage.connect(joint.connection().states([current]).parameters(circuit));
        let element = Armature { sides: joint.constraint.sides, freedom, voltage: voltage.strength };
        self.assembler.element(name, element, connection);
        Some(current)
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

    /// A force (N) at a point along a direction of any length, given in world or body axes: a number, a parameter, or an input.
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

    /// A force at a point along a direction of any length, given in world or body axes: N as a function of time with parameters.
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

    /// A torque (N m) on a body about a direction of any length, given in world or body axes: a number, a parameter, or an input.
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

    /// A torque on a body about a direction of any length, given in world or body axes: N m as a function of time with parameters.
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
        let [linear, quadratic] = &coefficients;
        self.assembler
            .tell_negative(name, [("linear drag", "N s/m", linear), ("quadratic drag", "N s^2/m^2", quadratic)]);
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
