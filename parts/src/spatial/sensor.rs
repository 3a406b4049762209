//! What can be measured.

use super::body::Store;
use super::force::{joint_place, joint_rate};
use super::joint::{Constraint, FRAMES, Freedom, JointKind, JointPoses, own_axes};
use super::pose::{Side, Sides, euler_parameters};
use crate::assembly::Element;
use crate::law::Axes;
use crate::totals::Total;
use costate::number::Jet;
use costate::vector::{Vector, body_rate};
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

/// Sensors without a law of the user's own.
pub(super) enum Sensor {
    /// A point's motion. Parameters: its location.
    Point { side: Side, motion: Motion, axes: Axes },
    /// Specific force (acceleration less gravity) along its own axes. Parameters: location, its axis and direction across,
    /// gravity, gain, biases.
    Accelerometer { side: Side },
    /// Angular velocity about its own axes. Parameters: its axis and direction across, gain, biases.
    Gyroscope { side: Side },
    /// Angle or displacement of a joint with two derivatives. Parameters: those of the joint's frames.
    Joint { sides: Sides, freedom: Freedom },
    /// Angular velocity and acceleration of a side. No parameters.
    Rates { side: Side, axes: Axes },
}

/// Angular velocity and acceleration in the side's own axes.
#[inline]
fn rates<D: Number>(side: Side, x: &State<'_, D>) -> [Vector<D>; 2] {
    match side {
        Side::Body => {
            let e = euler_parameters(x.q);
            // G' e' = 0
            [body_rate(e, euler_parameters(x.v)), body_rate(e, euler_parameters(x.a))]
        }
        _ => [Vector::zero(); 2],
    }
}

/// Acceleration of a point, in world axes.
#[inline]
fn acceleration<D: Number>(side: Side, x: &State<'_, D>, location: Vector<D>) -> Vector<D> {
    if side == Side::Ground {
        return Vector::zero();
    }
    let [rate, growth] = rates(side, x);
    let about_origin = growth.cross(location) + rate.cross(rate.cross(location));
    Vector::of(x.a) + side.pose(x.q).rotation.turn(about_origin)
}

/// The part of a state that belongs to the second of two sides.
fn second_of<'x, D: Number>(first: Side, x: &State<'x, D>) -> State<'x, D> {
    let n = first.coordinates();
    State { q: &x.q[n..], v: &x.v[n..], a: &x.a[n..], ..*x }
}

/// Components along axes of their own lengths.
fn along<D: Number>(u: &[D], vector: Vector<D>) -> [D; 3] {
    let axes = own_axes(u);
    [axes.x, axes.y, axes.z].map(|axis| axis.unit().dot(vector))
}

/// Second derivative of a joint's angle or displacement. Parameters: those of the joint's frames.
pub(super) fn joint_acceleration<D: Number>(sides: Sides, freedom: Freedom, x: &State<'_, D>, u: &[D]) -> D {
    let at = JointPoses::of(sides, x.q, u);
    let second = second_of(sides.0, x);
    match freedom {
        Freedom::Turn => {
            // joints that turn hold the axis fixed to both sides
            let [own, other] = at.first_axes();
            other.dot(rates(sides.1, &second)[1]) - own.dot(rates(sides.0, x)[1])
        }
        Freedom::Slide => {
            // the axis is fixed to the first side: how it sees the second one's acceleration
            let twists = sides.twists(x.q, x.v);
            let carrier = at.poses[0].rotation.turn(twists[0].rate);
            let relative = acceleration(sides.1, &second, Vector::of(&u[3..]))
                - acceleration(sides.0, x, at.carried())
                - carrier.cross(at.drift(&twists)) * D::from(2.0);
            at.axis(0).unit().dot(relative)
        }
    }
}

/// The effort of what drives a joint, on its second member: the opposite of its multiplier. No parameters.
pub(super) struct DriveEffort;

impl Element for DriveEffort {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = -x.lambda[0];
    }
}

impl Element for Sensor {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        match *self {
            Sensor::Point { side, motion, axes } => {
                let (pose, location) = (side.pose(x.q), Vector::of(u));
                let seen = match motion {
                    Motion::Position => pose.point(location),
                    Motion::Velocity => side.twist(x.q, x.v).at(&pose, location),
                    Motion::Acceleration => acceleration(side, x, location),
                };
                let seen = if axes == Axes::World { seen } else { pose.rotation.turn_back(seen) };
                y.copy_from_slice(&seen.0);
            }
            Sensor::Accelerometer { side } => {
                let felt = acceleration(side, x, Vector::of(u)) - Vector::of(&u[9..]);
                let felt = along(&u[3..], side.pose(x.q).rotation.turn_back(felt));
                (0..3).for_each(|k| y[k] = u[12] * felt[k] + u[13 + k]);
            }
            Sensor::Gyroscope { side } => {
                let felt = along(u, rates(side, x)[0]);
                (0..3).for_each(|k| y[k] = u[6] * felt[k] + u[7 + k]);
            }
            Sensor::Joint { sides, freedom } => {
                let at = JointPoses::of(sides, x.q, u);
                [y[0], y[1]] = [joint_place(&at, freedom), joint_rate(&at, freedom, (sides, x.q, x.v))];
                y[2] = joint_acceleration(sides, freedom, x, u);
            }
            Sensor::Rates { side, axes } => {
                let pose = side.pose(x.q);
                for (seen, y) in rates(side, x).into_iter().zip(y.chunks_exact_mut(3)) {
                    let seen = if axes == Axes::Body { seen } else { pose.rotation.turn(seen) };
                    y.copy_from_slice(&seen.0);
                }
            }
        }
    }
}

/// The force (N) and the torque about the joint's point (N m) that a joint exerts on one of its sides. Parameters are those of
/// the joint.
pub(super) struct Reaction {
    pub joint: Constraint,
    pub rows: usize,
    pub on_second: bool,
    pub axes: ReactionAxes,
}

/// The axes in which a reaction is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReactionAxes {
    /// The world's axes.
    #[default]
    World,
    /// The body's axes.
    Body,
    /// Axes of the joint on that body: its axis is the third. Of joints without axes (spherical, distance), those of the body.
    Joint,
}

impl Element for Reaction {
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        // the constraint force is -C_qᵀ λ, coordinate by coordinate: wider numbers take longer to compile than they save
        let zero = Jet::<D, 1>::constant(D::from(0.0));
        let (mut q, mut parameters) = ([zero; 14], [zero; FRAMES + 1]);
        q.iter_mut().zip(x.q).for_each(|(jet, value)| jet.re = *value);
        parameters.iter_mut().zip(u).for_each(|(jet, value)| jet.re = *value);
        let Sides(a, b) = self.joint.sides;
        let (side, first) = if self.on_second { (b, a.coordinates()) } else { (a, 0) };
        let mut push = [D::from(0.0); 7];
        for (lane, push) in push.iter_mut().enumerate().take(side.coordinates()) {
            let mut c = [zero; 6];
            q[first + lane].eps[0] = D::from(1.0);
            self.joint.constraint(Jet::constant(t), &q[..x.q.len()], &parameters[..u.len()], &mut c[..self.rows]);
            q[first + lane].eps[0] = D::from(0.0);
            *push = -(0..self.rows).map(|row| c[row].eps[0] * x.lambda[row]).sum::<D>();
        }
        let own = &x.q[first..];
        let pose = side.pose(own);
        let force = Vector::of(&push);
        let mut torque = Vector::zero();
        if side == Side::Body {
            // Q_e = 2 Gᵀ τ' + k e, and G Gᵀ = 1 for unit e; this one is about the reference point
            let about_origin = body_rate(euler_parameters(own), [push[3], push[4], push[5], push[6]]) * D::from(0.25);
            let location = Vector::of(&u[if self.on_second { 3 } else { 0 }..]);
            torque = pose.rotation.turn(about_origin - location.cross(pose.rotation.turn_back(force)));
        }
        // a point mass has outputs for the force alone
        for (seen, y) in [force, torque].into_iter().zip(y.chunks_exact_mut(3)) {
            let in_body = pose.rotation.turn_back(seen);
            let seen = match self.axes {
                ReactionAxes::World => seen.0,
                ReactionAxes::Joint if self.joint.kind.has_axes() => {
                    along(&u[if self.on_second { 12 } else { 6 }..], in_body)
                }
                _ => in_body.0,
            };
            y.copy_from_slice(&seen);
        }
    }
}

/// Energy (kinetic and in the gravity field) or momentum of a body or a mass. Parameters: its own.
pub(super) struct Balance(pub Total, pub Store);

impl Element for Balance {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let motion = self.1.motion(x.q, x.v, u);
        let momentum = motion.velocity * motion.mass;
        match self.0 {
            Total::Energy => {
                y[0] = (momentum.dot(motion.velocity) + motion.spin.dot(motion.rate)) * 0.5
                    - motion.mass * motion.gravity.dot(motion.position);
            }
            Total::Momentum => {
                momentum.add_to(y);
                (motion.spin + motion.position.cross(momentum)).add_to(&mut y[3..]);
            }
            Total::Dissipation => {}
        }
    }
}

/// True if a joint has an angle or a displacement along its axis, by which it can be driven, loaded or measured.
pub(super) fn allows(kind: JointKind, freedom: Freedom) -> bool {
    match freedom {
        Freedom::Turn => {
            matches!(kind, JointKind::Revolute | JointKind::Cylindrical | JointKind::Screw | JointKind::Planar)
        }
        Freedom::Slide => {
            matches!(kind, JointKind::Prismatic | JointKind::Cylindrical | JointKind::Screw | JointKind::InLine)
        }
    }
}
