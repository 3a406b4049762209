//! Where a side of a joint is: the ground, a point mass, or a body.

use costate::Number;
use costate::vector::{Pose, Rotation, Vector, body_rate, generalized_torque, generalized_world_torque, world_rate};

/// The thing that a part is fixed to: the ground, a point mass or a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The world.
    Ground,
    /// A point mass: coordinates (x, y, z).
    Point,
    /// A rigid body: coordinates (x, y, z) and Euler parameters (e_0, e_1, e_2, e_3).
    Body,
}

/// Euler parameters among the coordinates of a body.
#[inline]
pub(super) fn euler_parameters<D: Number>(z: &[D]) -> [D; 4] {
    [z[3], z[4], z[5], z[6]]
}

impl Side {
    /// Number of its coordinates.
    pub fn coordinates(self) -> usize {
        match self {
            Side::Ground => 0,
            Side::Point => 3,
            Side::Body => 7,
        }
    }

    /// Pose of the side, from its own coordinates at the head of `q`.
    #[inline]
    pub fn pose<D: Number>(self, q: &[D]) -> Pose<D> {
        match self {
            Side::Ground => Pose { origin: Vector::zero(), rotation: Rotation::identity() },
            Side::Point => Pose { origin: Vector::of(q), rotation: Rotation::identity() },
            Side::Body => {
                Pose { origin: Vector::of(q), rotation: Rotation::from_euler_parameters(euler_parameters(q)) }
            }
        }
    }

    /// Angular velocity of the side in its own axes.
    #[inline]
    pub fn body_rate<D: Number>(self, q: &[D], v: &[D]) -> Vector<D> {
        match self {
            Side::Body => body_rate(euler_parameters(q), euler_parameters(v)),
            _ => Vector::zero(),
        }
    }

    /// Angular velocity of the side in the world's axes.
    #[inline]
    pub fn world_rate<D: Number>(self, q: &[D], v: &[D]) -> Vector<D> {
        match self {
            Side::Body => world_rate(euler_parameters(q), euler_parameters(v)),
            _ => Vector::zero(),
        }
    }

    /// Velocity of the side, from its own coordinates and velocities at the heads of `q` and `v`; or its acceleration, from q and a, but
    /// for what the velocity adds to it.
    #[inline]
    pub fn twist<D: Number>(self, q: &[D], v: &[D]) -> Twist<D> {
        let velocity = if self == Side::Ground { Vector::zero() } else { Vector::of(v) };
        Twist { velocity, rate: self.body_rate(q, v) }
    }

    /// Adds a force (world axes) at a point of the world to the side's own forces.
    #[inline]
    pub fn push<D: Number>(self, q: &[D], pose: &Pose<D>, point: Vector<D>, force: Vector<D>, own: &mut [D]) {
        if self == Side::Ground {
            return;
        }
        force.add_to(own);
        if self == Side::Body {
            let torque = pose.rotation.turn_back((point - pose.origin).cross(force));
            self.twist_by(q, torque, own);
        }
    }

    /// Adds a torque in the side's own axes.
    #[inline]
    pub fn twist_by<D: Number>(self, q: &[D], torque: Vector<D>, own: &mut [D]) {
        if self == Side::Body {
            let generalized = generalized_torque(euler_parameters(q), torque);
            own[3..].iter_mut().zip(generalized).for_each(|(own, value)| *own += value);
        }
    }

    /// Adds a torque in the world's axes.
    #[inline]
    pub fn twist_in_world<D: Number>(self, q: &[D], torque: Vector<D>, own: &mut [D]) {
        if self == Side::Body {
            let generalized = generalized_world_torque(euler_parameters(q), torque);
            own[3..].iter_mut().zip(generalized).for_each(|(own, value)| *own += value);
        }
    }
}

/// Velocity and angular velocity.
#[derive(Debug, Clone, Copy)]
pub struct Twist<D> {
    /// Velocity of the reference point in the world's axes, m/s.
    pub velocity: Vector<D>,
    /// Angular velocity in the side's own axes, rad/s.
    pub rate: Vector<D>,
}

impl<D: Number> Twist<D> {
    /// The velocity (world axes) of a point given in the side's axes.
    #[inline]
    pub fn at(&self, pose: &Pose<D>, location: Vector<D>) -> Vector<D> {
        self.velocity + pose.rotation.turn(self.rate.cross(location))
    }
}

/// The two sides of a joint or a force: the coordinates of the first come before those of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides(pub Side, pub Side);

impl Sides {
    /// Poses of both sides, from their coordinates.
    #[inline]
    pub fn poses<D: Number>(self, q: &[D]) -> [Pose<D>; 2] {
        [self.0.pose(q), self.1.pose(&q[self.0.coordinates()..])]
    }

    /// Velocities of both sides, from their coordinates and those of these.
    #[inline]
    pub fn twists<D: Number>(self, q: &[D], v: &[D]) -> [Twist<D>; 2] {
        let second = self.0.coordinates();
        [self.0.twist(q, v), self.1.twist(&q[second..], &v[second..])]
    }

    /// Adds a force (world axes) on the second side at a point of the world, and the opposite one on the first.
    #[inline]
    pub fn push<D: Number>(self, q: &[D], poses: &[Pose<D>; 2], point: Vector<D>, force: Vector<D>, own: &mut [D]) {
        let second = self.0.coordinates();
        let (first, rest) = own.split_at_mut(second);
        self.0.push(q, &poses[0], point, -force, first);
        self.1.push(&q[second..], &poses[1], point, force, rest);
    }

    /// Adds torques, each in the axes of its side.
    #[inline]
    pub fn twist_by<D: Number>(self, q: &[D], torques: [Vector<D>; 2], own: &mut [D]) {
        let second = self.0.coordinates();
        let (first, rest) = own.split_at_mut(second);
        self.0.twist_by(q, torques[0], first);
        self.1.twist_by(&q[second..], torques[1], rest);
    }
}
