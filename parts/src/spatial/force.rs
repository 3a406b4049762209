//! Forces on and between sides, and what they tell: their energy, the power that they take, what sensors see of them.

use super::closed::MOST;
use super::joint::{FRAMES, Freedom, JointPoses};
use super::pose::{Side, Sides};
use super::sensor::joint_acceleration;
use crate::assembly::{ClosedMotion, Element};
use crate::law::{Axes, Law, Strength};
use crate::totals::{Role, STILL, Total, hertz, of_drag};
use costate::vector::{Pose, Vector};
use costate::{Matrix, Number, State};

/// A force by the law along the line between two points. Parameters: locations, free length, then those of the law. A sensor sees
/// length, rate and tension.
pub(super) struct Strut<L> {
    pub sides: Sides,
    pub law: L,
    pub role: Role,
}

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
        if self.role != Role::Acts {
            return;
        }
        let stretch = Stretch::between(self.sides, q, v, u);
        let tension = self.law.tension_with(stretch.length - u[6], stretch.rate, &v[q.len()..], &u[7..]);
        // the force acts along the line through both points: either will do for both sides
        self.sides.push(q, &stretch.poses, stretch.end, stretch.direction * -tension, force);
    }

    fn rates<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        if self.role == Role::Acts {
            let stretch = Stretch::between(self.sides, q, v, u);
            self.law.state_rates(stretch.length - u[6], stretch.rate, &v[q.len()..], &u[7..], rates);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if self.role == Role::Acts {
            return;
        }
        let stretch = Stretch::between(self.sides, x.q, x.v, u);
        let elongation = stretch.length - u[6];
        if let Role::Tells(total) = self.role {
            y[0] = total.of_law(&self.law, elongation, stretch.rate, &u[7..]);
        } else {
            [y[0], y[1]] = [stretch.length, stretch.rate];
            y[2] = self.law.tension_with(elongation, stretch.rate, &x.v[x.q.len()..], &u[7..]);
        }
    }
}

/// A torque about a joint's axis, or a force along it, by a law of the angle or the displacement. Parameters: those of the joint's
/// frames, angle or displacement without elongation, then those of the law.
pub(super) struct JointLaw<L> {
    pub sides: Sides,
    pub freedom: Freedom,
    pub law: L,
    /// Number of the law's parameters.
    pub parameters: usize,
    pub role: Role,
}

/// Angle or displacement of a joint.
pub(super) fn joint_place<D: Number>(at: &JointPoses<'_, D>, freedom: Freedom) -> D {
    match freedom {
        Freedom::Turn => at.angle(),
        Freedom::Slide => at.axis(0).unit().dot(at.gap()),
    }
}

/// Rate of a joint's angle or displacement, from coordinates and velocities of both sides.
pub(super) fn joint_rate<D: Number>(at: &JointPoses<'_, D>, freedom: Freedom, (sides, q, v): (Sides, &[D], &[D])) -> D {
    match freedom {
        Freedom::Turn => {
            let second = sides.0.coordinates();
            let turning = sides.1.world_rate(&q[second..], &v[second..]);
            at.first_axis().dot(turning) - at.own_axis(0).unit().dot(sides.0.body_rate(q, v))
        }
        Freedom::Slide => at.axis(0).unit().dot(at.drift(&sides.twists(q, v))),
    }
}

/// Adds a torque about a joint's axis or a force along it on the second side, and the opposite one on the first.
pub(super) fn act<D: Number>(
    sides: Sides,
    freedom: Freedom,
    at: &JointPoses<'_, D>,
    q: &[D],
    effort: D,
    force: &mut [D],
) {
    match freedom {
        Freedom::Turn => {
            let second = sides.0.coordinates();
            let (own, other) = force.split_at_mut(second);
            sides.0.twist_by(q, at.own_axis(0).unit() * -effort, own);
            sides.1.twist_in_world(&q[second..], at.first_axis() * effort, other);
        }
        Freedom::Slide => {
            sides.push(q, &at.poses, at.point(1), at.axis(0).unit() * effort, force);
        }
    }
}

impl<L: Law> JointLaw<L> {
    /// Angle or displacement less that without elongation, if it matters, and the rate.
    fn motion<D: Number>(&self, at: &JointPoses<'_, D>, q: &[D], v: &[D], u: &[D]) -> [D; 2] {
        let rate = joint_rate(at, self.freedom, (self.sides, q, v));
        if L::OF_RATE_ALONE {
            return [D::from(0.0), rate];
        }
        [joint_place(at, self.freedom) - u[FRAMES], rate]
    }
}

impl<L: Law> Element for JointLaw<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.role != Role::Acts {
            return;
        }
        let at = JointPoses::of(self.sides, q, u);
        let [elongation, rate] = self.motion(&at, q, v, u);
        let effort = self.law.tension_with(elongation, rate, &v[q.len()..], &u[FRAMES + 1..]);
        act(self.sides, self.freedom, &at, q, -effort, force);
    }

    fn rates<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        if self.role == Role::Acts {
            let [elongation, rate] = self.motion(&JointPoses::of(self.sides, q, u), q, v, u);
            self.law.state_rates(elongation, rate, &v[q.len()..], &u[FRAMES + 1..], rates);
        }
    }

    fn closed_motion(&self) -> Option<&dyn ClosedMotion> {
        let knows = L::OF_RATE_ALONE
            && self.law.states(true).is_empty()
            && self.freedom == Freedom::Turn
            && self.parameters <= MOST;
        (knows && self.role == Role::Acts).then_some(self as _)
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if let Role::Tells(total) = self.role {
            let [elongation, rate] = self.motion(&JointPoses::of(self.sides, x.q, u), x.q, x.v, u);
            y[0] = total.of_law(&self.law, elongation, rate, &u[FRAMES + 1..]);
        }
    }
}

/// A strength about or along a joint's axis. Parameters: those of the joint's frames, then those of the strength.
pub(super) struct Motor<S> {
    pub sides: Sides,
    pub freedom: Freedom,
    pub strength: S,
}

impl<S: Strength> Element for Motor<S> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.strength.known_times()
    }

    fn force<D: Number>(&self, t: D, q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let effort = self.strength.at(t, w, &u[FRAMES..]);
        act(self.sides, self.freedom, &JointPoses::of(self.sides, q, u), q, effort, force);
    }
}

/// What turns or slides with a joint and has an inertia of its own there, such as a rotor behind gears: ½ J (rate)². Parameters: those of the
/// joint's frames, then J.
pub(super) struct Rotor {
    pub sides: Sides,
    pub freedom: Freedom,
    pub role: Role,
}

/// Coordinates of two bodies.
const BOTH: usize = 14;

impl Element for Rotor {
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        if self.role != Role::Acts {
            return;
        }
        // the joint's rate is this times the velocities
        let (mut along, n) = ([D::from(0.0); BOTH], q.len());
        act(self.sides, self.freedom, &JointPoses::of(self.sides, q, u), q, D::from(1.0), &mut along[..n]);
        for i in 0..n {
            for j in 0..n {
                m[(i, j)] = along[i] * along[j] * u[FRAMES];
            }
        }
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        // a turn grows by accelerations of Euler parameters alone
        if self.role == Role::Acts && self.freedom == Freedom::Slide {
            let rest = [D::from(0.0); BOTH];
            let x = State { q, v, a: &rest[..q.len()], a_scheme: &rest[..q.len()], lambda: &[], w: &[] };
            let growth = joint_acceleration(self.sides, self.freedom, &x, u);
            act(self.sides, self.freedom, &JointPoses::of(self.sides, q, u), q, -growth * u[FRAMES], force);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if self.role == Role::Tells(Total::Energy) {
            let rate = joint_rate(&JointPoses::of(self.sides, x.q, u), self.freedom, (self.sides, x.q, x.v));
            y[0] = rate * rate * u[FRAMES] * 0.5;
        }
    }
}

/// A motor whose armature has an inductance, with its current i as a state: the effort k i, L i' = V - R i - k (rate). Parameters: those of
/// the joint's frames, k, R, L, then those of the voltage.
pub(super) struct Armature<S> {
    pub sides: Sides,
    pub freedom: Freedom,
    pub voltage: S,
}

impl<S: Strength> Element for Armature<S> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.voltage.known_times()
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let effort = u[FRAMES] * v[q.len()];
        act(self.sides, self.freedom, &JointPoses::of(self.sides, q, u), q, effort, force);
    }

    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        let rate = joint_rate(&JointPoses::of(self.sides, q, u), self.freedom, (self.sides, q, v));
        let voltage = self.voltage.at(t, w, &u[FRAMES + 3..]);
        rates[0] = (voltage - u[FRAMES + 1] * v[q.len()] - u[FRAMES] * rate) / u[FRAMES + 2];
    }
}

/// A strength along a direction. Parameters: location, direction of any length, then those of the strength.
pub(super) struct Load<S> {
    pub side: Side,
    pub axes: Axes,
    pub effort: Effort,
    pub strength: S,
}

impl<S: Strength> Element for Load<S> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.strength.known_times()
    }

    fn force<D: Number>(&self, t: D, q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let (side, pose, given) =
            (self.side, self.side.pose(q), Vector::of(&u[3..]).unit() * self.strength.at(t, w, &u[6..]));
        match (self.effort, self.axes) {
            (Effort::Force, Axes::World) => side.push(q, &pose, pose.point(Vector::of(u)), given, force),
            (Effort::Force, _) => side.push(q, &pose, pose.point(Vector::of(u)), pose.rotation.turn(given), force),
            (Effort::Torque, Axes::World) => side.twist_by(q, pose.rotation.turn_back(given), force),
            (Effort::Torque, _) => side.twist_by(q, given, force),
        }
    }
}

/// The kind of a load: a force or a torque.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// A force, N.
    Force,
    /// A torque, N m.
    Torque,
}

/// Forces without a law of the user's own.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// An elastic bearing. Parameters: those of the frames, stiffness (6 x 6), damping (6 x 6).
    Bushing(Sides),
    /// A sphere around a point of the second side presses against a plane of the first, whose axis points into free space.
    /// Parameters: those of the frames, radius, stiffness (N/m^1.5), damping (s/m). Hertz, Hunt & Crossley 1975:
    /// F = k δ^(3/2) (1 + c δ').
    Contact(Sides),
    /// Resistance to the motion of a point through still air: -(d_1 + d_2 |v|) v. Parameters: location, d_1 (N s/m),
    /// d_2 (N s²/m²).
    Drag(Side),
}

/// An action with its role.
pub(super) struct Acting(pub Action, pub Role);

impl Element for Acting {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.1 != Role::Acts {
            return;
        }
        match self.0 {
            Action::Bushing(sides) => Bearing::of(sides, q, v, u).push(sides, q, u, force),
            Action::Contact(sides) => {
                let at = JointPoses::of(sides, q, u);
                if let Some([depth, depth_rate]) = touch(&at, sides, q, v, u) {
                    let pressure = hertz([u[FRAMES + 1], u[FRAMES + 2]], depth, depth_rate);
                    // without friction, the line of force goes through the centre
                    sides.push(q, &at.poses, at.point(1), at.axis(0).unit() * pressure, force);
                }
            }
            Action::Drag(side) => {
                let pose = side.pose(q);
                let velocity = side.twist(q, v).at(&pose, Vector::of(u));
                let resistance = velocity * -(u[3] + u[4] * (velocity.dot(velocity) + STILL).sqrt());
                side.push(q, &pose, pose.point(Vector::of(u)), resistance, force);
            }
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let Role::Tells(total) = self.1 else { return };
        match self.0 {
            Action::Bushing(sides) => {
                let Bearing { place, rate, .. } = Bearing::of(sides, x.q, x.v, u);
                let (stiffness, damping) = u[FRAMES..].split_at(36);
                y[0] = match total {
                    Total::Energy => form(stiffness, &place) * 0.5,
                    _ => form(damping, &rate),
                };
            }
            Action::Contact(sides) => {
                if let Some([depth, depth_rate]) = touch(&JointPoses::of(sides, x.q, u), sides, x.q, x.v, u) {
                    y[0] = total.of_hertz([u[FRAMES + 1], u[FRAMES + 2]], depth, depth_rate);
                }
            }
            Action::Drag(side) => {
                let velocity = side.twist(x.q, x.v).at(&side.pose(x.q), Vector::of(u));
                y[0] = of_drag([u[3], u[4]], velocity.dot(velocity));
            }
        }
    }
}

/// Row `i` of a 6 x 6 matrix times a vector.
fn row_times<D: Number>(matrix: &[D], i: usize, x: &[D; 6]) -> D {
    D::dot(&matrix[6 * i..6 * i + 6], x)
}

/// xᵀ A x.
fn form<D: Number>(matrix: &[D], x: &[D; 6]) -> D {
    D::dot(x, &std::array::from_fn::<_, 6, _>(|i| row_times(matrix, i, x)))
}

/// Displacements and turns of the second side in the first one's axes. The turn is φ = 2 sin(θ/2) n about its axis n: the angle, for the few
/// degrees that a bushing allows. Its energy is ½ xᵀ K x of displacements and turns x, so that its torque is that of dφ/dt =
/// cos(θ/2) ω + ½ ω × φ: with m = (K x) of turns, -(cos(θ/2) m + ½ φ × m).
struct Bearing<'x, D> {
    at: JointPoses<'x, D>,
    axes: [Vector<D>; 3],
    place: [D; 6],
    rate: [D; 6],
    cosine_of_half: D,
}

impl<'x, D: Number> Bearing<'x, D> {
    fn of(sides: Sides, q: &'x [D], v: &[D], u: &'x [D]) -> Self {
        let at = JointPoses::of(sides, q, u);
        let twists = sides.twists(q, v);
        let [axes, others] = [at.frame(0), at.frame(1)];
        let components = |vector: Vector<D>| axes.map(|axis| axis.dot(vector));
        let half = D::from(0.5);
        // the axial vector of the relative rotation is sin θ n; its trace 1 + 2 cos θ
        let axial = (axes[0].cross(others[0]) + axes[1].cross(others[1]) + axes[2].cross(others[2])) * half;
        let trace = axes[0].dot(others[0]) + axes[1].dot(others[1]) + axes[2].dot(others[2]);
        let cosine_of_half = (trace + 1.0).sqrt() * half;
        let turn = axial * cosine_of_half.recip();
        let [x, y, z] = components(at.gap());
        let [a, b, c] = components(turn);
        let place = [x, y, z, a, b, c];
        let [x, y, z] = components(at.drift(&twists));
        let [turning_a, turning_b] = [0, 1].map(|side| at.poses[side].rotation.turn(twists[side].rate));
        let [a, b, c] = components(turning_b - turning_a);
        let rate = [x, y, z, a, b, c];
        Bearing { at, axes, place, rate, cosine_of_half }
    }

    fn push(&self, sides: Sides, q: &[D], u: &[D], force: &mut [D]) {
        let Bearing { at, axes, place, rate, cosine_of_half } = self;
        let (stiffness, damping) = u[FRAMES..].split_at(36);
        let [spring, damper]: [[D; 6]; 2] =
            [(stiffness, place), (damping, rate)].map(|(matrix, x)| std::array::from_fn(|i| row_times(matrix, i, x)));
        let [turn, moment] = [place, &spring].map(|x| Vector([x[3], x[4], x[5]]));
        let moment = moment * *cosine_of_half + turn.cross(moment) * D::from(0.5);
        let Vector([a, b, c]) = moment;
        let spring = [spring[0], spring[1], spring[2], a, b, c];
        let pull: [D; 6] = std::array::from_fn(|i| spring[i] + damper[i]);
        let in_world = |pull: &[D]| axes[0] * -pull[0] + axes[1] * -pull[1] + axes[2] * -pull[2];
        sides.push(q, &at.poses, at.point(1), in_world(&pull), force);
        let torque = in_world(&pull[3..]);
        let torques = [(0, -torque), (1, torque)].map(|(side, torque)| at.poses[side].rotation.turn_back(torque));
        sides.twist_by(q, torques, force);
    }
}

/// Depth of a sphere in a plane, and its rate; `None` where they do not touch.
fn touch<D: Number>(at: &JointPoses<'_, D>, sides: Sides, q: &[D], v: &[D], u: &[D]) -> Option<[D; 2]> {
    let normal = at.axis(0).unit();
    let depth = u[FRAMES] - normal.dot(at.gap());
    (depth > 0.0).then(|| [depth, -normal.dot(at.drift(&sides.twists(q, v)))])
}
