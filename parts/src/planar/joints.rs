//! Joints by name.

use super::joint::{Gears, OnLine, Prismatic, Revolute, Rod, Sides, Weld};
use super::{Mechanism, Member, Place, zero};
use crate::assembly::{Connection, Coordinate, Element, Row};
use crate::law::{Driven, FunctionOfTime};
use costate::Error;
use costate::sketch::{Part, Slider};
use costate::value::Value;

/// A joint that has been added: what a reaction sensor is given.
#[derive(Debug, Clone)]
pub struct Joint<J> {
    pub(super) element: J,
    pub(super) members: [Member; 2],
    pub(super) parameters: Vec<Value>,
    /// True if its parameters begin with the locations of its points on both members.
    pub(super) has_points: bool,
    pub(super) rows: Vec<Row>,
}

impl<J> Joint<J> {
    /// The rows of its constraints. Their multipliers are forces (N) and torques (N m).
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// Functions that take `impl Into<Value>` only make values of it and leave the rest to another: so that elements are compiled
/// with this crate, and not in each that uses them.
impl Mechanism {
    fn joint<J: Element + Clone, const N: usize>(
        &mut self,
        name: &str,
        members: [&Member; 2],
        parameters: Vec<Value>,
        rows: [(&str, &str); N],
        element: impl FnOnce(Sides) -> J,
    ) -> Joint<J> {
        self.connectivity.link(&members[0].name, &members[1].name);
        let (sides, connection) = self.between(name, members[0], members[1]);
        let element = element(sides);
        let connection = connection.parameters(parameters.clone()).constraints(rows);
        let rows = self.assembler.element(name, element.clone(), connection);
        Joint { element, members: members.map(Member::clone), parameters, has_points: true, rows }
    }

    /// A pin: two points coincide.
    pub fn revolute(&mut self, name: &str, first: Place, second: Place) -> Joint<Revolute> {
        self.sketch.parts.push(Part::Pin([first.spot(), second.spot()]));
        let parameters = [first.location, second.location].concat();
        self.joint(name, [&first.member, &second.member], parameters, [("x", "m"), ("y", "m")], Revolute)
    }

    /// Two points coincide, and the second member keeps an angle (rad) against the first.
    pub fn weld(&mut self, name: &str, first: Place, second: Place, angle: impl Into<Value>) -> Joint<Weld> {
        self.add_weld(name, [first, second], angle.into())
    }

    fn add_weld(&mut self, name: &str, [first, second]: [Place; 2], angle: Value) -> Joint<Weld> {
        self.wants_body(name, &second.member);
        self.sketch.parts.push(Part::Weld([first.spot(), second.spot()]));
        let mut parameters = [first.location, second.location].concat();
        parameters.push(angle);
        let rows = [("x", "m"), ("y", "m"), ("angle", "rad")];
        self.joint(name, [&first.member, &second.member], parameters, rows, Weld)
    }

    /// A point of the second member slides along a line through a point of the first, whose direction (rad) is against the first
    /// member's axes; the second keeps an angle (rad) against the first.
    pub fn prismatic(
        &mut self,
        name: &str,
        first: Place,
        second: Place,
        direction: impl Into<Value>,
        angle: impl Into<Value>,
    ) -> Joint<Prismatic> {
        self.add_prismatic(name, [first, second], [direction.into(), angle.into()])
    }

    fn add_prismatic(
        &mut self,
        name: &str,
        [first, second]: [Place; 2],
        [direction, angle]: [Value; 2],
    ) -> Joint<Prismatic> {
        self.wants_body(name, &second.member);
        let spots = [first.spot(), second.spot()];
        self.sketch.parts.push(Part::Guide { spots, line: first.line(&direction), slider: Slider::Block });
        let mut parameters = [first.location, second.location].concat();
        parameters.extend([direction, angle]);
        let rows = [("across", "m"), ("angle", "rad")];
        self.joint(name, [&first.member, &second.member], parameters, rows, Prismatic)
    }

    /// A point of the second member moves on a line through a point of the first, whose direction (rad) is against the first
    /// member's axes.
    pub fn on_line(&mut self, name: &str, first: Place, second: Place, direction: impl Into<Value>) -> Joint<OnLine> {
        self.add_on_line(name, [first, second], direction.into())
    }

    fn add_on_line(&mut self, name: &str, [first, second]: [Place; 2], direction: Value) -> Joint<OnLine> {
        let spots = [first.spot(), second.spot()];
        self.sketch.parts.push(Part::Guide { spots, line: first.line(&direction), slider: Slider::Pin });
        let mut parameters = [first.location, second.location].concat();
        parameters.push(direction);
        self.joint(name, [&first.member, &second.member], parameters, [("across", "m")], OnLine)
    }

    /// A massless rod: two points keep a distance, m.
    pub fn rod(&mut self, name: &str, first: Place, second: Place, length: impl Into<Value>) -> Joint<Rod> {
        self.add_rod(name, [first, second], length.into())
    }

    fn add_rod(&mut self, name: &str, [first, second]: [Place; 2], length: Value) -> Joint<Rod> {
        if length.is_constant() && length.evaluate(&[]) <= 0.0 {
            let problem = format!("its length is {} m", length.evaluate(&[]));
            let remedy = "give a positive length; two points that coincide are a revolute joint";
            self.assembler.note(Error::invalid(format!("rod `{name}`"), problem, remedy));
        }
        self.assembler.wants_distance(name, [self.at_start(&first), self.at_start(&second)]);
        self.sketch.parts.push(Part::Rod([first.spot(), second.spot()]));
        let mut parameters = [first.location, second.location].concat();
        parameters.push(length);
        self.joint(name, [&first.member, &second.member], parameters, [("length", "m")], Rod)
    }

    /// Gears: from the start on, the second body turns `ratio` times as far as the first (negative for wheels that mesh outside).
    pub fn gears(&mut self, name: &str, first: &Member, second: &Member, ratio: impl Into<Value>) -> Joint<Gears> {
        self.add_gears(name, [first, second], ratio.into())
    }

    fn add_gears(&mut self, name: &str, [first, second]: [&Member; 2], ratio: Value) -> Joint<Gears> {
        if ratio.is_constant() && ratio.evaluate(&[]) == 0.0 {
            let problem = "with a ratio of 0 the second member does not turn at all";
            self.assembler.note(Error::invalid(
                format!("gears `{name}`"),
                problem,
                "give the turns of the second for one of the first",
            ));
        }
        let members = [first.number, second.number];
        self.sketch.parts.push(Part::Gears { members, ratio });
        let mut parameters = vec![ratio];
        for member in [first, second] {
            self.wants_body(name, member);
            parameters.push(member.coordinates.get(2).map_or(zero(), |&angle| self.assembler.initial_position(angle)));
        }
        Joint { has_points: false, ..self.joint(name, [first, second], parameters, [("ratio", "rad")], Gears) }
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
}
