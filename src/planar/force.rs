//! Forces on and between sides.

use super::joint::{Sides, angle};
use super::pose::Side;
use crate::assembly::Element;
use crate::law::{Axes, Law};
use crate::number::Number;

/// A torque by the law between two sides. Parameters: angle without elongation, then those of the law.
pub(super) struct Torsion<L>(pub Sides, pub L);

impl<L: Law> Element for Torsion<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let Sides(a, b) = self.0;
        let second = a.coordinates();
        let elongation = angle(b, &q[second..]) - angle(a, q) - u[0];
        let rate = angle(b, &v[second..]) - angle(a, v);
        let torque = self.1.tension(elongation, rate, &u[1..]);
        if a == Side::Body {
            force[2] += torque;
        }
        if b == Side::Body {
            force[second + 2] -= torque;
        }
    }
}

/// A force by the law along the line between two points. Parameters: locations, free length, then those of the law.
pub(super) struct Strut<L>(pub Sides, pub L);

/// Length of the line between two points, its direction, its rate, and the points' arms.
pub(super) struct Stretch<D> {
    pub length: D,
    pub rate: D,
    pub direction: [D; 2],
    pub arms: [[D; 2]; 2],
}

impl<D: Number> Stretch<D> {
    /// The locations are the first four parameters.
    #[inline]
    pub fn between(sides: Sides, q: &[D], v: &[D], u: &[D]) -> Self {
        let ([a, b], [rate_a, rate_b]) = (sides.poses(q), sides.twists(v));
        let arms = [a.turn([u[0], u[1]]), b.turn([u[2], u[3]])];
        let (x, y) = (b.x + arms[1][0] - a.x - arms[0][0], b.y + arms[1][1] - a.y - arms[0][1]);
        let length = (x * x + y * y).sqrt();
        let direction = [x / length, y / length];
        let (v_a, v_b) = (rate_a.at(arms[0]), rate_b.at(arms[1]));
        let rate = direction[0] * (v_b[0] - v_a[0]) + direction[1] * (v_b[1] - v_a[1]);
        Stretch { length, rate, direction, arms }
    }
}

impl<L: Law> Element for Strut<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let stretch = Stretch::between(self.0, q, v, u);
        let tension = self.1.tension(stretch.length - u[4], stretch.rate, &u[5..]);
        let [x, y] = stretch.direction;
        self.0.push(stretch.arms, [-tension * x, -tension * y], D::from(0.0), force);
    }
}

/// A force by the law along a fixed direction, between a point and a support that an input moves in that direction. Parameters:
/// location, direction as an angle, free distance, then those of the law. Inputs: the support's displacement and, if there is a
/// second one, its rate.
pub(super) struct Support<L>(pub Side, pub L);

impl<L: Law> Element for Support<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let pose = self.0.pose(q);
        let arm = pose.turn([u[0], u[1]]);
        let [v_x, v_y] = self.0.twist(v).at(arm);
        let (sin, cos) = u[2].sin_cos();
        let distance = cos * (pose.x + arm[0]) + sin * (pose.y + arm[1]) - w[0];
        let rate = cos * v_x + sin * v_y - w.get(1).copied().unwrap_or(D::from(0.0));
        let tension = self.1.tension(distance - u[3], rate, &u[4..]);
        self.0.push(arm, [-tension * cos, -tension * sin], D::from(0.0), force);
    }
}

/// An input times a direction, at a point of a side. Parameters: location, direction (x, y).
pub(super) struct PointForce(pub Side, pub Axes);

impl Element for PointForce {
    fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let pose = self.0.pose(q);
        let direction = if self.1 == Axes::World { [u[2], u[3]] } else { pose.turn([u[2], u[3]]) };
        let arm = pose.turn([u[0], u[1]]);
        self.0.push(arm, [direction[0] * w[0], direction[1] * w[0]], D::from(0.0), force);
    }
}

/// An input as a torque on the second side, and the opposite on the first. Parameter: factor.
pub(super) struct Torque(pub Sides);

impl Element for Torque {
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let zero = [[D::from(0.0); 2]; 2];
        self.0.push(zero, zero[0], w[0] * u[0], force);
    }
}

/// Resistance to the motion of a point through still air: -(d_1 + d_2 |v|) v. Parameters: location, d_1 (N s/m), d_2
/// (N s²/m²).
pub(super) struct Drag(pub Side);

impl Element for Drag {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let arm = self.0.pose(q).turn([u[0], u[1]]);
        let [x, y] = self.0.twist(v).at(arm);
        // |v| has a kink at rest: rounded off at a micrometre a second, where the force is nothing
        let speed = (x * x + y * y + 1e-12).sqrt();
        let factor = -(u[2] + u[3] * speed);
        self.0.push(arm, [factor * x, factor * y], D::from(0.0), force);
    }
}

/// A circle around a point of the second side presses against a line of the first (Hertz, with damping that vanishes with
/// the penetration; Hunt & Crossley 1975): F = k δ^(3/2) (1 + c δ'). Parameters: a point of the line and its direction as an
/// angle, in the first side's axes; centre and radius of the circle; k (N/m^1.5), c (s/m). The free side is to the left.
pub(super) struct Contact(pub Sides);

impl Element for Contact {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let ([a, b], [rate_a, rate_b]) = (self.0.poses(q), self.0.twists(v));
        let (sin, cos) = (a.angle + u[2]).sin_cos();
        let normal = [-sin, cos];
        let foot = a.turn([u[0], u[1]]);
        let center = b.turn([u[3], u[4]]);
        let to_center = [b.x + center[0] - a.x - foot[0], b.y + center[1] - a.y - foot[1]];
        let height = normal[0] * to_center[0] + normal[1] * to_center[1];
        let penetration = u[5] - height;
        if penetration <= 0.0 {
            return;
        }
        // the point of contact, as an arm of either side
        let touch_b = [center[0] - normal[0] * height, center[1] - normal[1] * height];
        let touch_a = [touch_b[0] + b.x - a.x, touch_b[1] + b.y - a.y];
        let (v_a, v_b) = (rate_a.at(touch_a), rate_b.at(touch_b));
        let approach = -(normal[0] * (v_b[0] - v_a[0]) + normal[1] * (v_b[1] - v_a[1]));
        let pressure = u[6] * penetration * penetration.sqrt() * (u[7] * approach + 1.0);
        if pressure <= 0.0 {
            // surfaces do not stick to each other
            return;
        }
        self.0.push([touch_a, touch_b], [normal[0] * pressure, normal[1] * pressure], D::from(0.0), force);
    }
}
