//! Members, and points with axes on them.

use super::pose::{Side, euler_parameters};
use super::{Mechanism, origin, triple};
use crate::assembly::Coordinate;
use costate::Error;
use costate::value::Value;
use costate::vector::{Rotation, Vector};

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
    pub(super) fn new(number: usize, side: Side, name: &str, coordinates: Vec<Coordinate>) -> Self {
        Member { number, side, name: name.into(), coordinates }
    }

    /// A point fixed to the member, in its own axes, m.
    pub fn at<V: Into<Value>>(&self, location: [V; 3]) -> Place {
        Place { member: self.clone(), location: triple(location), base: Rotation::identity(), axis: None, across: None }
    }

    /// Coordinates of the member: x, y, z and, for bodies, Euler parameters.
    pub fn coordinates(&self) -> &[Coordinate] {
        &self.coordinates
    }

    pub(super) fn number(&self) -> usize {
        self.number
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// A point with axes, fixed to a member.
#[derive(Debug, Clone)]
pub struct Place {
    pub(super) member: Member,
    pub(super) location: [Value; 3],
    /// From the member's axes to those in which directions are given.
    base: Rotation<f64>,
    axis: Option<[Value; 3]>,
    across: Option<[Value; 3]>,
}

impl Place {
    /// The axis of a joint, or the third axis of a sensor: of any length but zero. It is z unless said otherwise.
    pub fn axis<V: Into<Value>>(mut self, direction: [V; 3]) -> Self {
        self.axis = Some(triple(direction));
        self
    }

    /// A direction across the axis: what of it is parallel to the axis does not count. It is x unless said otherwise; joints that
    /// hold no turn about their axis choose one for themselves.
    pub fn across<V: Into<Value>>(mut self, direction: [V; 3]) -> Self {
        self.across = Some(triple(direction));
        self
    }

    /// The axis, and a direction across it, in the member's axes.
    pub(super) fn directions(&self) -> [[Value; 3]; 2] {
        let usual = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]].map(|direction| direction.map(Value::from));
        [self.axis.unwrap_or(usual[0]), self.across.unwrap_or(usual[1])].map(|direction| self.in_member(&direction))
    }

    /// A direction that was given in the axes of the base, in the member's own.
    fn in_member(&self, direction: &[Value; 3]) -> [Value; 3] {
        if self.base == Rotation::identity() {
            return *direction;
        }
        let [x, y, z] = direction;
        std::array::from_fn(|k| {
            let column = self.base.axis(k).0;
            x * column[0] + y * column[1] + z * column[2]
        })
    }
}

/// Directions that are nearly the same, as the sine of the angle between them.
const PARALLEL: f64 = 1e-6;

fn divided(direction: [Value; 3], length: f64) -> [Value; 3] {
    direction.map(|component| component / length)
}

fn is_constant(direction: &[Value; 3]) -> bool {
    direction.iter().all(Value::is_constant)
}

impl Mechanism {
    /// A point of the world at the start (m), fixed to a member whose start is given by numbers; directions at this place are given
    /// in the world's axes at the start.
    pub fn place(&mut self, member: &Member, point: [f64; 3]) -> Place {
        self.assembler.claim_coordinates(&member.name, &member.coordinates);
        let start: Vec<Value> = member.coordinates.iter().map(|c| self.assembler.initial_position(*c)).collect();
        if start.iter().any(|value| !value.is_constant()) {
            let problem =
                "its place at the start depends on parameters, so that points of the world are not fixed to it";
            let remedy = "give the point in the member's own axes (`Member::at`)";
            self.assembler.note(Error::invalid(format!("`{}`", member.name), problem, remedy));
            return member.at(point);
        }
        let start: Vec<f64> = start.iter().map(|value| value.evaluate(&[])).collect();
        let pose = member.side.pose(&start);
        let location = pose.rotation.turn_back(Vector(point) - pose.origin).0.map(Value::from);
        let base = if member.side == Side::Body {
            Rotation::from_euler_parameters(euler_parameters(&start))
        } else {
            Rotation::identity()
        };
        Place { member: member.clone(), location, base, axis: None, across: None }
    }

    /// Position of a place at the start, in the world.
    pub(super) fn at_start(&self, place: &Place) -> [f64; 3] {
        let pose = place.member.side.pose(&self.assembler.at_start(&place.member.coordinates));
        pose.point(Vector(place.location.each_ref().map(|value| value.evaluate(self.assembler.nominal())))).0
    }

    /// Axis and direction across in the member's own axes: of unit length and perpendicular where they are numbers. What is wrong
    /// with them is noted.
    pub(super) fn axes(&mut self, part: &str, place: &Place) -> [Value; 6] {
        place.axis.iter().chain(&place.across).for_each(|direction| self.assembler.claim(part, direction));
        let nominal = self.assembler.nominal();
        let at_start = |direction: &[Value; 3]| Vector(direction.each_ref().map(|value| value.evaluate(nominal)));
        let unit = |k: usize| {
            let mut axis = origin();
            axis[k] = Value::from(1.0);
            axis
        };
        let given = place.axis.unwrap_or_else(|| unit(2));
        let mut axis = place.in_member(&given);
        let mut along = at_start(&axis);
        let length = along.length();
        if !(length > 0.0 && length.is_finite()) {
            let problem = format!("the length of its axis on `{}` is {length}", place.member.name);
            self.assembler.note(Error::invalid(format!("`{part}`"), problem, "give a direction"));
            return [0.0, 0.0, 1.0, 1.0, 0.0, 0.0].map(Value::from);
        }
        if is_constant(&axis) {
            axis = divided(axis, length);
        }
        along = along * (1.0 / length);
        let mut across = place.in_member(&place.across.unwrap_or_else(|| unit(0)));
        let mut beside = at_start(&across);
        let sine = |beside: Vector<f64>| along.cross(beside).length() / beside.length();
        if place.across.is_none() && (beside.dot(along)).abs() > 0.9 {
            // any will do for a joint that holds no turn; x is too near to the axis
            across = place.in_member(&unit(1));
            beside = at_start(&across);
        }
        if sine(beside).is_nan() || sine(beside) < PARALLEL {
            let problem = format!("its direction across on `{}` is parallel to its axis", place.member.name);
            self.assembler.note(Error::invalid(
                format!("`{part}`"),
                problem,
                "give a direction that leads away from the axis",
            ));
        } else if is_constant(&axis) && is_constant(&across) {
            let upright = beside - along * beside.dot(along);
            across = upright.unit().0.map(Value::from);
        }
        let ([a, b, c], [x, y, z]) = (axis, across);
        [a, b, c, x, y, z]
    }

    /// Parameters of the two places of a joint, with or without axes.
    pub(super) fn frames(&mut self, part: &str, first: &Place, second: &Place, with_axes: bool) -> Vec<Value> {
        let mut values = [first.location, second.location].concat();
        if with_axes {
            for place in [first, second] {
                values.extend(self.axes(part, place));
            }
        }
        values
    }
}
