//! Joints whose points coincide, and whose axes are perpendicular or parallel.

use super::super::joint::{Constraint, JointKind, own_axes};
use super::super::pose::{Side, euler_parameters};
use super::{EULER, FIRST, Turned, add_second};
use crate::assembly::{ClosedConstraint, ConstraintSlopes};
use costate::vector::Vector;

/// A side of a joint: what its vectors become in the world, and where its Euler parameters are among the curved coordinates.
struct Turning {
    side: Side,
    origin: Vector<f64>,
    e: [f64; 4],
    column: usize,
}

impl Turning {
    #[inline]
    fn of(side: Side, q: &[f64], column: usize) -> Self {
        let origin = if side == Side::Ground { Vector::zero() } else { Vector::of(q) };
        // a body that does not turn
        let e = if side == Side::Body { euler_parameters(q) } else { [1.0, 0.0, 0.0, 0.0] };
        Turning { side, origin, e, column }
    }

    #[inline]
    fn turns(&self) -> bool {
        self.side == Side::Body
    }

    #[inline]
    fn turned(&self, vector: Vector<f64>) -> Turned {
        Turned::of(self.e, vector)
    }

    /// Puts derivatives into their columns of a row.
    #[inline]
    fn put(&self, row: &mut [f64], slopes: [f64; 4]) {
        if self.turns() {
            row[self.column..][..EULER].copy_from_slice(&slopes);
        }
    }
}

fn curved_count(side: Side) -> usize {
    if side == Side::Body { EULER } else { 0 }
}

impl Constraint {
    /// True if points coincide and all else is that axes are perpendicular.
    pub(in super::super) fn is_closed(&self) -> bool {
        matches!(self.kind, JointKind::Spherical | JointKind::Revolute | JointKind::Universal)
    }

    /// Axes of the first side, each of which is perpendicular to the axis of the second.
    #[inline]
    fn perpendicular(&self, u: &[f64]) -> ([Vector<f64>; 2], usize) {
        match self.kind {
            JointKind::Revolute => {
                let own = own_axes(&u[6..]);
                ([own.x, own.y], 2)
            }
            JointKind::Universal => ([Vector::of(&u[6..]); 2], 1),
            _ => ([Vector::zero(); 2], 0),
        }
    }
}

impl ClosedConstraint for Constraint {
    fn curved(&self) -> Vec<usize> {
        let (first, second) = (self.sides.0, self.sides.1);
        let places = |side, start: usize| start + FIRST..start + FIRST + curved_count(side);
        places(first, 0).chain(places(second, first.coordinates())).collect()
    }

    fn differentiate(&self, q: &[f64], u: &[f64], to: ConstraintSlopes<'_>) {
        let ConstraintSlopes { value, slopes, curvature } = to;
        let (first, second) = (self.sides.0, self.sides.1);
        let count = curved_count(first) + curved_count(second);
        let a = Turning::of(first, q, 0);
        let b = Turning::of(second, &q[first.coordinates()..], curved_count(first));
        let arms = [Vector::of(u), Vector::of(&u[3..])];
        let ends = [a.turned(arms[0]), b.turned(arms[1])];
        let gap = b.origin + ends[1].value - a.origin - ends[0].value;
        value[..3].copy_from_slice(&gap.0);
        for ((row, own), other) in slopes.chunks_exact_mut(count).zip(ends[0].slopes()).zip(ends[1].slopes()) {
            a.put(row, own.map(|slope| -slope));
            b.put(row, other);
        }
        let (axes, perpendicular) = self.perpendicular(u);
        let axis = if perpendicular > 0 { Vector::of(&u[12..]) } else { Vector::zero() };
        let turned_axis = b.turned(axis);
        let turned = axes.map(|axis| a.turned(axis));
        let rows = slopes.chunks_exact_mut(count.max(1)).zip(value.iter_mut()).skip(3);
        for ((row, value), own) in rows.zip(&turned[..perpendicular]) {
            *value = own.value.dot(turned_axis.value);
            a.put(row, own.along(turned_axis.value));
            b.put(row, turned_axis.along(own.value));
        }
        let Some((lambda, curvature)) = curvature else { return };
        curvature.fill(0.0);
        let pull = Vector::of(lambda);
        // what the multipliers make of the axes of the first side
        let (mut across, mut torque) = (Vector::zero(), Vector::zero());
        for ((own, axis), lambda) in turned[..perpendicular].iter().zip(axes).zip(&lambda[3..]) {
            across += axis * *lambda;
            torque += own.value * *lambda;
        }
        if a.turns() {
            add_second(curvature, count, 0, -pull, arms[0]);
            add_second(curvature, count, 0, turned_axis.value, across);
        }
        let corner = b.column * count + b.column;
        if b.turns() {
            add_second(curvature, count, corner, pull, arms[1]);
            add_second(curvature, count, corner, torque, axis);
        }
        if a.turns() && b.turns() && perpendicular > 0 {
            let (left, right) = (a.turned(across).slopes(), turned_axis.slopes());
            for i in 0..EULER {
                for j in 0..EULER {
                    let product: f64 = (0..3).map(|k| left[k][i] * right[k][j]).sum();
                    curvature[i * count + b.column + j] = product;
                    curvature[(b.column + j) * count + i] = product;
                }
            }
        }
    }
}
