//! Forces on and between sides.

use super::joint::{FRAMES, Freedom, Meeting};
use super::pose::{Pose, Side, Sides, Twist};
use super::vector::Vector;
use crate::assembly::Element;
use crate::law::{Axes, Law};
use crate::number::Number;

/// A force by the law along the line between two points. Parameters: locations, free length, then those of the law.
pub(super) struct Strut<L>(pub Sides, pub L);

/// Length of the line between two points, its direction and its rate, and the second point.
pub(super) struct Stretch<D> {
    pub length: D,
    pub rate: D,
    direction: Vector<D>,
    end: Vector<D>,
    poses: [Pose<D>; 2],
}

impl<D: Number> Stretch<D> {
    /// The locations are the first six parameters.
    #[inline]
    pub fn between(sides: Sides, q: &[D], v: &[D], u: &[D]) -> Self {
        let (poses, [rate_a, rate_b]) = (sides.poses(q), sides.twists(q, v));
        let [a, b] = &poses;
        let locations = [Vector::of(u), Vector::of(&u[3..])];
        let end = b.point(locations[1]);
        let gap = end - a.point(locations[0]);
        let length = gap.length();
        let direction = gap * length.recip();
        let rate = direction.dot(rate_b.at(b, locations[1]) - rate_a.at(a, locations[0]));
        Stretch { length, rate, direction, end, poses }
    }
}

impl<L: Law> Element for Strut<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let stretch = Stretch::between(self.0, q, v, u);
        let tension = self.1.tension(stretch.length - u[6], stretch.rate, &u[7..]);
        // the force acts along the line through both points: either will do for both sides
        self.0.push(q, &stretch.poses, stretch.end, stretch.direction * -tension, force);
    }
}

/// A torque about a joint's axis, or a force along it, by a law of the angle or the displacement. Parameters: those of the joint's
/// frames, angle or displacement without elongation, then those of the law.
pub(super) struct JointLaw<L> {
    pub sides: Sides,
    pub freedom: Freedom,
    pub law: L,
}

/// Angle or displacement of a joint, and its rate.
pub(super) fn joint_motion<D: Number>(meeting: &Meeting<'_, D>, freedom: Freedom, twists: &[Twist<D>; 2]) -> [D; 2] {
    match freedom {
        Freedom::Turn => {
            let [first, second] = meeting.first_axis();
            [meeting.angle(), second.dot(twists[1].rate) - first.dot(twists[0].rate)]
        }
        Freedom::Slide => {
            let axis = meeting.axis(0).unit();
            [axis.dot(meeting.gap()), axis.dot(meeting.drift(twists))]
        }
    }
}

/// Adds a torque about a joint's axis or a force along it on the second side, and the opposite one on the first.
fn act<D: Number>(sides: Sides, freedom: Freedom, meeting: &Meeting<'_, D>, q: &[D], effort: D, force: &mut [D]) {
    match freedom {
        Freedom::Turn => {
            let [first, second] = meeting.first_axis();
            sides.twist_by(q, [first * -effort, second * effort], force);
        }
        Freedom::Slide => {
            sides.push(q, &meeting.poses, meeting.point(1), meeting.axis(0).unit() * effort, force);
        }
    }
}

impl<L: Law> Element for JointLaw<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let meeting = Meeting::of(self.sides, q, u);
        let [place, rate] = joint_motion(&meeting, self.freedom, &self.sides.twists(q, v));
        let effort = self.law.tension(place - u[FRAMES], rate, &u[FRAMES + 1..]);
        act(self.sides, self.freedom, &meeting, q, -effort, force);
    }
}

/// What an input does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// N
    Force,
    /// N m
    Torque,
}

/// Forces without a law of the user's own.
pub(super) enum Action {
    /// An input times a direction. Parameters: location, direction.
    Load { side: Side, axes: Axes, effort: Effort },
    /// An input about or along a joint's axis. Parameters: those of the joint's frames.
    Motor { sides: Sides, freedom: Freedom },
    /// An elastic bearing. Parameters: those of the frames, stiffness (6 x 6), damping (6 x 6).
    Bushing { sides: Sides },
    /// A sphere around a point of the second side presses against a plane of the first, whose axis points into free space.
    /// Parameters: those of the frames, radius, stiffness (N/m^1.5), damping (s/m). Hertz, Hunt & Crossley 1975:
    /// F = k δ^(3/2) (1 + c δ').
    Contact { sides: Sides },
    /// Resistance to the motion of a point through still air: -(d_1 + d_2 |v|) v. Parameters: location, d_1 (N s/m),
    /// d_2 (N s²/m²).
    Drag { side: Side },
}

impl Element for Action {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        match *self {
            Action::Load { side, axes, effort } => {
                let (pose, given) = (side.pose(q), Vector::of(&u[3..]) * w[0]);
                match (effort, axes) {
                    (Effort::Force, Axes::World) => side.push(q, &pose, pose.point(Vector::of(u)), given, force),
                    (Effort::Force, _) => {
                        side.push(q, &pose, pose.point(Vector::of(u)), pose.rotation.turn(given), force);
                    }
                    (Effort::Torque, Axes::World) => side.twist_by(q, pose.rotation.turn_back(given), force),
                    (Effort::Torque, _) => side.twist_by(q, given, force),
                }
            }
            Action::Motor { sides, freedom } => {
                act(sides, freedom, &Meeting::of(sides, q, u), q, w[0], force);
            }
            Action::Bushing { sides } => bushing(sides, q, v, u, force),
            Action::Contact { sides } => contact(sides, q, v, u, force),
            Action::Drag { side } => {
                let pose = side.pose(q);
                let velocity = side.twist(q, v).at(&pose, Vector::of(u));
                // |v| has a kink at rest: rounded off at a micrometre a second, where the force is nothing
                let speed = (velocity.dot(velocity) + 1e-12).sqrt();
                let resistance = velocity * -(u[3] + u[4] * speed);
                side.push(q, &pose, pose.point(Vector::of(u)), resistance, force);
            }
        }
    }
}

/// Displacements and turns of the second side in the first one's axes times matrices. The turn is 2 sin(θ/2) times its axis: the
/// angle, for the few degrees that a bushing allows.
fn bushing<D: Number>(sides: Sides, q: &[D], v: &[D], u: &[D], force: &mut [D]) {
    let meeting = Meeting::of(sides, q, u);
    let twists = sides.twists(q, v);
    let [axes, others] = [meeting.frame(0), meeting.frame(1)];
    let components = |vector: Vector<D>| axes.map(|axis| axis.dot(vector));
    let half = D::from(0.5);
    // the axial vector of the relative rotation is sin θ n; its trace 1 + 2 cos θ
    let axial = (axes[0].cross(others[0]) + axes[1].cross(others[1]) + axes[2].cross(others[2])) * half;
    let trace = axes[0].dot(others[0]) + axes[1].dot(others[1]) + axes[2].dot(others[2]);
    let cosine_of_half = (trace + 1.0).sqrt() * half;
    let turn = axial * cosine_of_half.recip();
    let [x, y, z] = components(meeting.gap());
    let [a, b, c] = components(turn);
    let place = [x, y, z, a, b, c];
    let [x, y, z] = components(meeting.drift(&twists));
    let [turning_a, turning_b] = [0, 1].map(|side| meeting.poses[side].rotation.turn(twists[side].rate));
    let [a, b, c] = components(turning_b - turning_a);
    let rate = [x, y, z, a, b, c];
    let (stiffness, damping) = u[FRAMES..].split_at(36);
    let pull: [D; 6] = std::array::from_fn(|i| {
        (0..6).map(|j| stiffness[6 * i + j] * place[j] + damping[6 * i + j] * rate[j]).sum::<D>()
    });
    let in_world = |pull: &[D]| axes[0] * -pull[0] + axes[1] * -pull[1] + axes[2] * -pull[2];
    sides.push(q, &meeting.poses, meeting.point(1), in_world(&pull), force);
    let torque = in_world(&pull[3..]);
    let torques = [(0, -torque), (1, torque)].map(|(side, torque)| meeting.poses[side].rotation.turn_back(torque));
    sides.twist_by(q, torques, force);
}

fn contact<D: Number>(sides: Sides, q: &[D], v: &[D], u: &[D], force: &mut [D]) {
    let meeting = Meeting::of(sides, q, u);
    let normal = meeting.axis(0).unit();
    let height = normal.dot(meeting.gap());
    let penetration = u[FRAMES] - height;
    if penetration <= 0.0 {
        return;
    }
    let approach = -normal.dot(meeting.drift(&sides.twists(q, v)));
    let pressure = u[FRAMES + 1] * penetration * penetration.sqrt() * (u[FRAMES + 2] * approach + 1.0);
    if pressure <= 0.0 {
        // surfaces do not stick to each other
        return;
    }
    // without friction, the line of force goes through the centre
    sides.push(q, &meeting.poses, meeting.point(1), normal * pressure, force);
}
