//! What can be measured.

use super::joint::{Sides, angle};
use super::pose::Side;
use crate::assembly::Element;
use crate::law::Axes;
use costate::number::Jet;
use costate::{Number, State};

/// The quantity of a point's motion that a sensor sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    /// Position, m.
    Position,
    /// Velocity, m/s.
    Velocity,
    /// Acceleration, m/s².
    Acceleration,
}

/// A point's motion. Parameters: its location.
pub(super) struct PointSensor {
    pub side: Side,
    pub motion: Motion,
    pub axes: Axes,
}

/// Velocity or acceleration of a point with this arm.
#[inline]
fn acceleration_at<D: Number>(side: Side, x: &State<'_, D>, arm: [D; 2]) -> [D; 2] {
    let [a_x, a_y] = side.twist(x.a).at(arm);
    let rate = side.twist(x.v).rate;
    [a_x - rate * rate * arm[0], a_y - rate * rate * arm[1]]
}

impl Element for PointSensor {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let pose = self.side.pose(x.q);
        let arm = pose.turn([u[0], u[1]]);
        let seen = match self.motion {
            Motion::Position => [pose.x + arm[0], pose.y + arm[1]],
            Motion::Velocity => self.side.twist(x.v).at(arm),
            Motion::Acceleration => acceleration_at(self.side, x, arm),
        };
        let seen = if self.axes == Axes::World { seen } else { pose.turn_back(seen) };
        y.copy_from_slice(&seen);
    }
}

/// An accelerometer on a body: specific force (acceleration less gravity) along its own two axes. Parameters: location, mounting
/// angle against the body, gravity, gain, biases.
pub(super) struct Accelerometer(pub Side);

impl Element for Accelerometer {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let pose = self.0.pose(x.q);
        let [a_x, a_y] = acceleration_at(self.0, x, pose.turn([u[0], u[1]]));
        let (force_x, force_y) = (a_x - u[3], a_y - u[4]);
        let (sin, cos) = (pose.angle + u[2]).sin_cos();
        y[0] = u[5] * (cos * force_x + sin * force_y) + u[6];
        y[1] = u[5] * (cos * force_y - sin * force_x) + u[7];
    }
}

/// Angle, angular velocity and angular acceleration of the second side against the first.
pub(super) struct AngleSensor(pub Sides);

impl Element for AngleSensor {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        let Sides(a, b) = self.0;
        let relative = |z: &[D]| angle(b, &z[a.coordinates()..]) - angle(a, z);
        y[0] = relative(x.q);
        y[1] = relative(x.v);
        y[2] = relative(x.a);
    }
}

/// The force (N) and the torque about the reference point (N m) that a joint exerts on one of its sides. Parameters are those
/// of the joint.
pub(super) struct Reaction<J> {
    pub joint: J,
    /// Place of the side's point of the joint among the parameters, if the joint has points.
    pub location: Option<usize>,
    /// Place of the side's first coordinate, and number of its coordinates.
    pub first: usize,
    pub count: usize,
    pub rows: usize,
}

impl<J: Element> Element for Reaction<J> {
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        // the constraint force is -C_qᵀ λ, coordinate by coordinate: wider numbers take longer to compile than they save
        let zero = Jet::<D, 1>::constant(D::from(0.0));
        let (mut q, mut parameters) = ([zero; 6], [zero; 16]);
        q.iter_mut().zip(x.q).for_each(|(jet, value)| jet.re = *value);
        parameters.iter_mut().zip(u).for_each(|(jet, value)| jet.re = *value);
        for (lane, y) in y.iter_mut().enumerate().take(self.count) {
            let mut c = [zero; 4];
            q[self.first + lane].eps[0] = D::from(1.0);
            self.joint.constraint(Jet::constant(t), &q[..x.q.len()], &parameters[..u.len()], &mut c[..self.rows]);
            q[self.first + lane].eps[0] = D::from(0.0);
            let force: D = (0..self.rows).map(|row| c[row].eps[0] * x.lambda[row]).sum();
            *y = -force;
        }
        if let (3, Some(location)) = (self.count, self.location) {
            // from the reference point to the joint's
            let [x, y_] = Side::Body.pose(&x.q[self.first..]).turn([u[location], u[location + 1]]);
            y[2] -= x * y[1] - y_ * y[0];
        }
    }
}

/// A body or a mass, which stores energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    /// Parameters: mass, inertia, centre of mass, gravity.
    Body,
    /// Parameters: mass, gravity.
    Point,
}

impl Store {
    pub fn side(self) -> Side {
        if self == Store::Body { Side::Body } else { Side::Point }
    }
}

/// Kinetic energy and energy in the gravity field of a body or a mass, J. Parameters: its own.
pub(super) struct Energy(pub Store);

impl Element for Energy {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let side = self.0.side();
        let (pose, twist) = (side.pose(x.q), side.twist(x.v));
        let zero = D::from(0.0);
        let (inertia, center, gravity) = match self.0 {
            Store::Body => (u[1], [u[2], u[3]], [u[4], u[5]]),
            Store::Point => (zero, [zero; 2], [u[1], u[2]]),
        };
        let arm = pose.turn(center);
        let [v_x, v_y] = twist.at(arm);
        y[0] = (u[0] * (v_x * v_x + v_y * v_y) + inertia * twist.rate * twist.rate) * 0.5
            - u[0] * (gravity[0] * (pose.x + arm[0]) + gravity[1] * (pose.y + arm[1]));
    }
}
