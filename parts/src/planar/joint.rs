//! Joints between two sides. Each constraint is scaled such that its multiplier is a force (N) or a torque (N m).

use super::pose::{Pose, Side, Twist};
use crate::assembly::{ClosedConstraint, ConstraintSlopes, Element};
use costate::Number;

/// The two sides of a joint or a force: the coordinates of the first come before those of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sides(pub Side, pub Side);

impl Sides {
    /// Poses of both sides, from their coordinates.
    #[inline(always)]
    pub fn poses<D: Number>(self, q: &[D]) -> [Pose<D>; 2] {
        [self.0.pose(q), self.1.pose(&q[self.0.coordinates()..])]
    }

    /// Velocities of both sides, from those of their coordinates.
    #[inline(always)]
    pub fn twists<D: Number>(self, v: &[D]) -> [Twist<D>; 2] {
        [self.0.twist(v), self.1.twist(&v[self.0.coordinates()..])]
    }

    /// Adds a force and a torque on the second side at `arms[1]`, and the opposite ones on the first at `arms[0]`.
    #[inline(always)]
    pub fn push<D: Number>(self, arms: [[D; 2]; 2], [x, y]: [D; 2], torque: D, force: &mut [D]) {
        let (first, second) = force.split_at_mut(self.0.coordinates());
        self.0.push(arms[0], [-x, -y], -torque, first);
        self.1.push(arms[1], [x, y], torque, second);
    }
}

/// The angle of a side, or its rate, from its own coordinates at the head of `z`; zero without one.
#[inline(always)]
pub(super) fn angle<D: Number>(side: Side, z: &[D]) -> D {
    if side == Side::Body { z[2] } else { D::from(0.0) }
}

/// From a point of the first side to one of the second: locations are the first four parameters.
#[inline(always)]
fn gap<D: Number>([a, b]: &[Pose<D>; 2], u: &[D]) -> [D; 2] {
    let (a, b) = (a.point([u[0], u[1]]), b.point([u[2], u[3]]));
    [b[0] - a[0], b[1] - a[1]]
}

/// Two points coincide. Parameters: their locations on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Revolute(pub(super) Sides);

impl Element for Revolute {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [x, y] = gap(&self.0.poses(q), u);
        c[0] = x;
        c[1] = y;
    }

    fn closed_constraint(&self) -> Option<&dyn ClosedConstraint> {
        Some(self)
    }
}

/// C = r_b + s_b - r_a - s_a, where an arm s that turns by dφ moves by (-s_y, s_x) dφ.
impl ClosedConstraint for Revolute {
    fn curved(&self) -> Vec<usize> {
        let Sides(a, b) = self.0;
        let angles = [(a, 2), (b, a.coordinates() + 2)].into_iter();
        angles.filter(|(side, _)| *side == Side::Body).map(|(_, angle)| angle).collect()
    }

    fn differentiate(&self, q: &[f64], u: &[f64], to: ConstraintSlopes<'_>) {
        let Sides(first, second) = self.0;
        let [a, b] = self.0.poses(q);
        let arms = [a.turn([u[0], u[1]]), b.turn([u[2], u[3]])];
        to.value[0] = b.x + arms[1][0] - (a.x + arms[0][0]);
        to.value[1] = b.y + arms[1][1] - (a.y + arms[0][1]);
        let signs = [(first, -1.0), (second, 1.0)].into_iter().zip(arms);
        let turning = || signs.clone().filter(|((side, _), _)| *side == Side::Body);
        let count = to.slopes.len() / 2;
        for (column, ((_, sign), [x, y])) in turning().enumerate() {
            to.slopes[column] = -sign * y;
            to.slopes[count + column] = sign * x;
        }
        if let Some((lambda, curvature)) = to.curvature {
            curvature.fill(0.0);
            for (column, ((_, sign), [x, y])) in turning().enumerate() {
                curvature[column * count + column] = -sign * (lambda[0] * x + lambda[1] * y);
            }
        }
    }
}

/// Two points coincide and the angle between the sides stays. Parameters: locations, angle of the second against the first.
#[derive(Debug, Clone, Copy)]
pub struct Weld(pub(super) Sides);

impl Element for Weld {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let Sides(a, b) = self.0;
        let [x, y] = gap(&self.0.poses(q), u);
        c[0] = x;
        c[1] = y;
        c[2] = angle(b, &q[a.coordinates()..]) - angle(a, q) - u[4];
    }
}

/// The second side slides along a line of the first without turning against it. Parameters: locations, direction of the line as
/// an angle in the first side's axes, angle of the second against the first.
#[derive(Debug, Clone, Copy)]
pub struct Prismatic(pub(super) Sides);

impl Element for Prismatic {
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        OnLine(self.0).constraint(t, q, u, c);
        let Sides(a, b) = self.0;
        c[1] = angle(b, &q[a.coordinates()..]) - angle(a, q) - u[5];
    }
}

/// A point of the second side moves on a line of the first. Parameters: locations, direction of the line as an angle in the
/// first side's axes.
#[derive(Debug, Clone, Copy)]
pub struct OnLine(pub(super) Sides);

impl Element for OnLine {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let poses = self.0.poses(q);
        let [x, y] = gap(&poses, u);
        let (sin, cos) = (poses[0].angle + u[4]).sin_cos();
        c[0] = cos * y - sin * x;
    }
}

/// Two points keep their distance. Parameters: locations, distance. The constraint is (|d|² - L²) / (2 L).
#[derive(Debug, Clone, Copy)]
pub struct Rod(pub(super) Sides);

impl Element for Rod {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let [x, y] = gap(&self.0.poses(q), u);
        c[0] = (x * x + y * y - u[4] * u[4]) / (u[4] * 2.0);
    }
}

/// Turns of two bodies in a fixed ratio: φ_b - φ_b0 = ratio (φ_a - φ_a0). Parameters: ratio, φ_a0, φ_b0.
#[derive(Debug, Clone, Copy)]
pub struct Gears(pub(super) Sides);

impl Element for Gears {
    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        let Sides(a, b) = self.0;
        c[0] = angle(b, &q[a.coordinates()..]) - u[2] - u[0] * (angle(a, q) - u[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::closed::against_dual_numbers::check_constraint;

    /// Protects steps of pins: all derivatives, for all kinds of members.
    #[test]
    fn pins_agree_with_dual_numbers() {
        let (body, ground, point) = (Side::Body, Side::Ground, Side::Point);
        for (a, b) in [(body, body), (ground, body), (body, ground), (point, body), (body, point)] {
            let q = [0.3, -0.8, 2.1, 0.7, 0.4, -1.3];
            let count = a.coordinates() + b.coordinates();
            check_constraint(&Revolute(Sides(a, b)), &q[..count], &[0.4, -0.2, 0.9, 0.3], &[0.7, -1.9]);
        }
    }
}
