//! Where a side of a joint is: the ground, a point mass, or a body.

use costate::Number;

/// The thing that a part is fixed to: the ground, a point mass or a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The world.
    Ground,
    /// A point mass: coordinates (x, y).
    Point,
    /// A rigid body: coordinates (x, y, φ).
    Body,
}

impl Side {
    /// Number of its coordinates.
    pub fn coordinates(self) -> usize {
        match self {
            Side::Ground => 0,
            Side::Point => 2,
            Side::Body => 3,
        }
    }

    /// Pose of the side, from its own coordinates at the head of `q`.
    #[inline(always)]
    pub fn pose<D: Number>(self, q: &[D]) -> Pose<D> {
        let (zero, one) = (D::from(0.0), D::from(1.0));
        match self {
            Side::Ground => Pose { x: zero, y: zero, angle: zero, sin: zero, cos: one },
            Side::Point => Pose { x: q[0], y: q[1], angle: zero, sin: zero, cos: one },
            Side::Body => {
                let (sin, cos) = q[2].sin_cos();
                Pose { x: q[0], y: q[1], angle: q[2], sin, cos }
            }
        }
    }

    /// Velocity of the side, from its own velocities at the head of `v`.
    #[inline(always)]
    pub fn twist<D: Number>(self, v: &[D]) -> Twist<D> {
        let zero = D::from(0.0);
        match self {
            Side::Ground => Twist { x: zero, y: zero, rate: zero },
            Side::Point => Twist { x: v[0], y: v[1], rate: zero },
            Side::Body => Twist { x: v[0], y: v[1], rate: v[2] },
        }
    }

    /// Adds a force at a point, given by its arm in world axes, and a torque to the side's own forces.
    #[inline(always)]
    pub fn push<D: Number>(self, [arm_x, arm_y]: [D; 2], [x, y]: [D; 2], torque: D, force: &mut [D]) {
        if self == Side::Ground {
            return;
        }
        force[0] += x;
        force[1] += y;
        if self == Side::Body {
            force[2] += arm_x * y - arm_y * x + torque;
        }
    }
}

/// Position and orientation.
#[derive(Debug, Clone, Copy)]
pub struct Pose<D> {
    /// Position of the reference point, m.
    pub x: D,
    /// Position of the reference point, m.
    pub y: D,
    /// Angle, rad.
    pub angle: D,
    /// Sine of the angle.
    pub sin: D,
    /// Cosine of the angle.
    pub cos: D,
}

/// Velocity and angular velocity.
#[derive(Debug, Clone, Copy)]
pub struct Twist<D> {
    /// Velocity of the reference point, m/s.
    pub x: D,
    /// Velocity of the reference point, m/s.
    pub y: D,
    /// Angular velocity, rad/s.
    pub rate: D,
}

impl<D: Number> Pose<D> {
    /// A vector in the body's axes, in the world's.
    #[inline(always)]
    pub fn turn(&self, [x, y]: [D; 2]) -> [D; 2] {
        [self.cos * x - self.sin * y, self.sin * x + self.cos * y]
    }

    /// A vector in the world's axes, in the body's.
    #[inline(always)]
    pub fn turn_back(&self, [x, y]: [D; 2]) -> [D; 2] {
        [self.cos * x + self.sin * y, self.cos * y - self.sin * x]
    }

    /// The world position of a point given in the body's axes.
    #[inline(always)]
    pub fn point(&self, location: [D; 2]) -> [D; 2] {
        let [x, y] = self.turn(location);
        [self.x + x, self.y + y]
    }
}

impl<D: Number> Twist<D> {
    /// The velocity of a point at `arm` (in world axes) from the reference point.
    #[inline(always)]
    pub fn at(&self, [x, y]: [D; 2]) -> [D; 2] {
        [self.x - self.rate * y, self.y + self.rate * x]
    }
}
