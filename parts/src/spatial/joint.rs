//! Joints between two sides. Each constraint is scaled such that its multiplier is a force (N) or a torque (N m).

use super::pose::{Sides, Twist, euler_parameters};
use super::tendon::Moved;
use crate::assembly::{ClosedConstraint, Element};
use costate::Number;
use costate::spline::Spline;
use costate::vector::{Pose, Vector, combine, euler_parameters_of};

/// The kind of a joint: what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JointKind {
    /// Points coincide.
    Spherical,
    /// Points coincide, axes are parallel.
    Revolute,
    /// Points coincide, axes are perpendicular.
    Universal,
    /// Points coincide, axes and directions across are parallel.
    Weld,
    /// The second point is on the first axis, axes are parallel.
    Cylindrical,
    /// The second point is on the first axis, axes and directions across are parallel.
    Prismatic,
    /// A cylindrical joint whose angle goes with its displacement.
    Screw,
    /// The second point is in the plane through the first point across the first axis, axes are parallel.
    Planar,
    /// The second point is on the first axis.
    InLine,
    /// The second point is in the plane through the first point across the first axis.
    InPlane,
    /// Points keep their distance.
    Distance,
}

impl JointKind {
    /// True if there are axes among its parameters.
    pub fn has_axes(self) -> bool {
        !matches!(self, JointKind::Spherical | JointKind::Distance)
    }
}

/// Number of parameters of two points, and of two points with axes and directions across.
const POINTS: usize = 6;
pub(super) const FRAMES: usize = 18;

/// The axes of one side of a joint: `z` along the joint's axis, `x` across, `y` completes them; their lengths are what comes out of those
/// that were given.
pub(super) struct Axes<D> {
    pub x: Vector<D>,
    pub y: Vector<D>,
    pub z: Vector<D>,
}

/// The axes in their side's own axes; the direction across is what is perpendicular of the one that is given.
#[inline]
pub(super) fn own_axes<D: Number>(u: &[D]) -> Axes<D> {
    let z = Vector::of(u);
    let y = z.cross(Vector::of(&u[3..]));
    Axes { x: y.cross(z), y, z }
}

/// Both sides of a joint. Parameters: locations of the points, then axis and direction across of the first and of the second
/// side. What is not asked for is not worked out.
pub(super) struct JointPoses<'u, D> {
    pub poses: [Pose<D>; 2],
    u: &'u [D],
}

/// Places of axes and directions across among the parameters, a side each.
const AXES: [usize; 2] = [POINTS, POINTS + 6];

impl<'u, D: Number> JointPoses<'u, D> {
    #[inline]
    pub fn of(sides: Sides, q: &[D], u: &'u [D]) -> Self {
        JointPoses { poses: sides.poses(q), u }
    }

    /// A point, in the world.
    #[inline]
    pub fn point(&self, side: usize) -> Vector<D> {
        self.poses[side].point(Vector::of(&self.u[3 * side..]))
    }

    /// Vector from the first point to the second, in the world.
    #[inline]
    pub fn gap(&self) -> Vector<D> {
        self.point(1) - self.point(0)
    }

    /// The axis of a side in its own axes, of the length that was given.
    #[inline]
    pub fn own_axis(&self, side: usize) -> Vector<D> {
        Vector::of(&self.u[AXES[side]..])
    }

    /// The axis of a side in the world, of the length that was given.
    #[inline]
    pub fn axis(&self, side: usize) -> Vector<D> {
        self.poses[side].rotation.turn(self.own_axis(side))
    }

    /// The first axis, of length one, in the axes of both sides. (The second one may point the opposite way.)
    pub fn first_axes(&self) -> [Vector<D>; 2] {
        [self.own_axis(0).unit(), self.poses[1].rotation.turn_back(self.first_axis())]
    }

    /// The first axis in the world, of length one. (The second one may point the opposite way.)
    #[inline]
    pub fn first_axis(&self) -> Vector<D> {
        self.poses[0].rotation.turn(self.own_axis(0).unit())
    }

    /// All axes of a side in the world, of length one.
    pub fn frame(&self, side: usize) -> [Vector<D>; 3] {
        let Axes { x, y, z } = own_axes(&self.u[AXES[side]..]);
        [x, y, z].map(|axis| self.poses[side].rotation.turn(axis).unit())
    }

    /// Two directions across the first axis in the world, perpendicular and of the same length.
    #[inline]
    fn across(&self) -> [Vector<D>; 2] {
        let Axes { x, y, z } = own_axes(&self.u[AXES[0]..]);
        let rotation = &self.poses[0].rotation;
        [rotation.turn(x), rotation.turn(y * z.length())]
    }

    /// The direction across of the second side, as it was given, in the world.
    #[inline]
    fn second_across(&self) -> Vector<D> {
        self.poses[1].rotation.turn(Vector::of(&self.u[AXES[1] + 3..]))
    }

    /// Angle by which the second side has turned against the first about both axes, which are parallel: -π to π.
    #[inline]
    pub fn angle(&self) -> D {
        let ([x, y], turned) = (self.across(), self.second_across());
        y.dot(turned).atan2(x.dot(turned))
    }

    /// Angle of [`JointPoses::angle`] less another one, whatever turns there are in that, -π to π: zero for the right angle alone, while
    /// the sine is for the one opposite, too.
    pub fn angle_beyond(&self, other: D) -> D {
        let ([x, y], turned) = (self.across(), self.second_across());
        let (sin, cos) = other.sin_cos();
        let [along, across] = [x * cos + y * sin, y * cos - x * sin];
        across.dot(turned).atan2(along.dot(turned))
    }

    /// Velocity of the second point as the first side sees it, in world axes.
    pub fn drift(&self, twists: &[Twist<D>; 2]) -> Vector<D> {
        let second = twists[1].at(&self.poses[1], Vector::of(&self.u[3..]));
        second - twists[0].at(&self.poses[0], self.carried())
    }

    /// The second point in the axes of the first side.
    pub fn carried(&self) -> Vector<D> {
        self.poses[0].rotation.turn_back(self.point(1) - self.poses[0].origin)
    }
}

/// The constraints of a joint. Parameters: the locations of two points; if it has axes, axis and direction across of both sides;
/// the distance, or the way a screw goes along with a full turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Constraint {
    pub sides: Sides,
    pub kind: JointKind,
}

impl Element for Constraint {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let at = JointPoses::of(self.sides, q, u);
        if !self.kind.has_axes() {
            let gap = at.gap();
            if self.kind == JointKind::Spherical {
                gap.add_to(c);
            } else {
                let length = u[POINTS];
                c[0] = (gap.dot(gap) - length * length) / (length * 2.0);
            }
            return;
        }
        let own = own_axes(&u[AXES[0]..]);
        let rotation = &at.poses[0].rotation;
        // across the first axis
        let pair = |vector: Vector<D>| (rotation.turn(own.x).dot(vector), rotation.turn(own.y).dot(vector));
        let coincide = |c: &mut [D]| at.gap().add_to(c);
        let on_axis = |c: &mut [D]| (c[0], c[1]) = pair(at.gap());
        // for a small turn d of the second side against the first: (-d_y, d_x) ... about the first's axes
        let parallel = |c: &mut [D]| (c[0], c[1]) = pair(at.axis(1));
        let aligned = |c: &mut [D]| {
            parallel(c);
            c[2] = at.angle();
        };
        match self.kind {
            JointKind::Revolute => {
                coincide(c);
                parallel(&mut c[3..]);
            }
            JointKind::Universal => {
                coincide(c);
                c[3] = at.axis(0).dot(at.axis(1));
            }
            JointKind::Weld => {
                coincide(c);
                aligned(&mut c[3..]);
            }
            JointKind::Cylindrical => {
                on_axis(c);
                parallel(&mut c[2..]);
            }
            JointKind::Prismatic => {
                on_axis(c);
                aligned(&mut c[2..]);
            }
            JointKind::Screw => {
                on_axis(c);
                parallel(&mut c[2..]);
                let turn = at.axis(0).unit().dot(at.gap()) / u[FRAMES] * std::f64::consts::TAU;
                c[4] = at.angle_beyond(turn);
            }
            JointKind::Planar => {
                c[0] = at.axis(0).dot(at.gap());
                parallel(&mut c[1..]);
            }
            JointKind::InLine => on_axis(c),
            JointKind::InPlane => c[0] = at.axis(0).dot(at.gap()),
            JointKind::Spherical | JointKind::Distance => {}
        }
    }

    fn closed_constraint(&self) -> Option<&dyn ClosedConstraint> {
        self.is_closed().then_some(self as _)
    }
}

/// A point of space as a function of time, or a rotation vector (rad).
pub trait Path: Send + Sync + 'static {
    /// Components of the point at time `t`; `u` are the parameters that were given with it.
    fn at<D: Number>(&self, t: D, u: &[D]) -> [D; 3];

    /// First and last time at which it is known, s; `None` if it is at all times. Simulations keep to that.
    fn known_times(&self) -> Option<(f64, f64)> {
        None
    }
}

/// Three motions one after another, each with its own coefficients: x, y, z.
impl Path for [Spline; 3] {
    fn at<D: Number>(&self, t: D, u: &[D]) -> [D; 3] {
        let mut rest = u;
        self.each_ref().map(|spline| {
            let (own, later) = rest.split_at(spline.count().min(rest.len()));
            rest = later;
            spline.at(t, own)
        })
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        let known = self.each_ref().map(Spline::known_times);
        Some(known.into_iter().fold((f64::MIN, f64::MAX), |(from, to), known| (known.0.max(from), known.1.min(to))))
    }
}

/// A point of a side follows a path in the world. Parameters: its location, then those of the path.
pub(super) struct DrivenPoint<P> {
    pub side: super::Side,
    pub path: P,
}

impl<P: Path> Element for DrivenPoint<P> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.path.known_times()
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let there = Vector(self.path.at(t, &u[3..]));
        c.copy_from_slice(&(self.side.pose(q).point(Vector::of(u)) - there).0);
    }
}

/// A body's axes are turned against the world's by a rotation vector. Parameters: those of the path.
pub(super) struct DrivenOrientation<P> {
    pub path: P,
}

impl<P: Path> Element for DrivenOrientation<P> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.path.known_times()
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [a, x, y, z] = euler_parameters_of(Vector(self.path.at(t, u)));
        // 2 n sin(θ/2) of the turn that is left, in the axes that the path gives: zero for no other turn; e and -e are one
        let [cosine, left @ ..] = combine([a, -x, -y, -z], euler_parameters(q));
        let side = if cosine < 0.0 { -2.0 } else { 2.0 };
        c.iter_mut().zip(left).for_each(|(c, left)| *c = left * side);
    }
}

/// The freedom of a joint that moves, or is driven: turning or sliding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freedom {
    /// The second side turns about the axis: rad, N m.
    Turn,
    /// The second point slides along the axis: m, N.
    Slide,
}

/// A joint's angle or displacement follows a function of time. Parameters: those of the joint's frames, then those of the motion.
pub(super) struct DrivenJoint<M> {
    pub sides: Sides,
    pub freedom: Freedom,
    pub motion: M,
}

impl<M: crate::law::FunctionOfTime> Element for DrivenJoint<M> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.motion.known_times()
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let at = JointPoses::of(self.sides, q, u);
        let there = self.motion.at(t, &u[FRAMES..]);
        c[0] = match self.freedom {
            Freedom::Slide => at.axis(0).unit().dot(at.gap()) - there,
            Freedom::Turn => at.angle_beyond(there),
        };
    }
}

/// Turns or ways of two joints that go together. Parameters: those of the frames of the first joint, those of the second, ratio, offset.
pub(super) struct Coupling(pub [Moved; 2]);

impl Element for Coupling {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let of = self.0.map(|member| member.own(q));
        let first = JointPoses::of(self.0[0].sides, &of[0], u);
        let second = JointPoses::of(self.0[1].sides, &of[1], &u[FRAMES..]);
        let place = |at: &JointPoses<'_, D>, freedom| match freedom {
            Freedom::Turn => at.angle(),
            Freedom::Slide => at.axis(0).unit().dot(at.gap()),
        };
        let there = u[2 * FRAMES] * place(&first, self.0[0].freedom) + u[2 * FRAMES + 1];
        c[0] = match self.0[1].freedom {
            Freedom::Turn => second.angle_beyond(there),
            Freedom::Slide => place(&second, Freedom::Slide) - there,
        };
    }
}
