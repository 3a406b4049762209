//! Bodies: rigid ones with Euler parameters, and point masses, with gravity.

use super::inertia::{Form, Whole};
use super::pose::{Side, euler_parameters};
use crate::assembly::{ClosedConstraint, ClosedMotion, Element};
use costate::vector::{Rotation, Vector, body_rate, generalized_torque};
use costate::{Matrix, Number};

/// A rigid body with position and Euler parameters of its reference point's axes; their squares add up to one. Parameters:
/// mass, six numbers of the inertia about the centre of mass, its location in the body's axes, gravity; or other ten numbers
/// before gravity, by the form.
///
/// With ω' = 2 G e', hence ω'' = 2 G e'' (G' e' = 0), Newton's and Euler's equations times the variations of position and
/// 2 G δe are the equations of motion; the part of them along e is left to the multiplier of the unit length.
pub(super) struct RigidBody {
    pub form: Form,
    /// The reference point is the centre of mass.
    pub centred: bool,
}

impl RigidBody {
    /// True if its inertia is linear in its six numbers.
    pub(super) fn has_entries(&self) -> bool {
        self.form == Form::Entries
    }

    #[inline]
    fn properties<D: Number>(&self, u: &[D]) -> Whole<D> {
        self.form.whole(u, self.centred)
    }
}

/// G, row by row: ω' = 2 G e'.
#[inline]
pub(super) fn transform<D: Number>([a, x, y, z]: [D; 4]) -> [[D; 4]; 3] {
    [[-x, a, z, -y], [-y, -z, a, x], [-z, y, -x, a]]
}

#[inline]
pub(super) fn times<D: Number>(matrix: &[Vector<D>; 3], vector: Vector<D>) -> Vector<D> {
    Vector([matrix[0].dot(vector), matrix[1].dot(vector), matrix[2].dot(vector)])
}

impl Element for RigidBody {
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let Whole { mass, moment, inertia } = self.properties(u);
        let e = euler_parameters(q);
        let g = transform(e);
        for k in 0..3 {
            m[(k, k)] = mass;
        }
        // 4 Gᵀ I G
        let columns: [Vector<D>; 4] = std::array::from_fn(|j| Vector([g[0][j], g[1][j], g[2][j]]));
        for (j, &column) in columns.iter().enumerate() {
            let turned = times(&inertia, column) * D::from(4.0);
            for (i, &row) in columns.iter().enumerate().take(j + 1) {
                m[(3 + i, 3 + j)] = row.dot(turned);
                m[(3 + j, 3 + i)] = m[(3 + i, 3 + j)];
            }
        }
        if !self.centred {
            // the centre of mass c moves by R (ω' × c) more than the reference point
            let rotation = Rotation::from_euler_parameters(e);
            for (j, &column) in columns.iter().enumerate() {
                let moved = rotation.turn(column.cross(moment)) * D::from(2.0);
                for k in 0..3 {
                    m[(k, 3 + j)] = moved.0[k];
                    m[(3 + j, k)] = moved.0[k];
                }
            }
        }
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let Whole { mass, moment, inertia } = self.properties(u);
        let e = euler_parameters(q);
        let rate = body_rate(e, euler_parameters(v));
        let gravity = Vector::of(&u[10..]);
        let mut torque = times(&inertia, rate).cross(rate);
        (gravity * mass).add_to(force);
        if !self.centred {
            let rotation = Rotation::from_euler_parameters(e);
            let centrifugal = rotation.turn(rate.cross(rate.cross(moment))) * D::from(-1.0);
            centrifugal.add_to(force);
            torque += moment.cross(rotation.turn_back(gravity));
        }
        force[3..].copy_from_slice(&generalized_torque(e, torque));
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        let [a, x, y, z] = euler_parameters(q);
        c[0] = (a * a + x * x + y * y + z * z - 1.0) * 0.5;
    }

    fn closed_constraint(&self) -> Option<&dyn ClosedConstraint> {
        Some(self)
    }

    fn closed_motion(&self) -> Option<&dyn ClosedMotion> {
        self.centred.then_some(self as _)
    }
}

/// A mass without extension. Parameters: mass, gravity.
pub(super) struct PointMass;

impl Element for PointMass {
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        for k in 0..3 {
            m[(k, k)] = u[0];
        }
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        (Vector::of(&u[1..]) * u[0]).add_to(force);
    }
}

/// A body or a mass, which has energy and momentum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    Body(Form),
    Point,
}

/// The motion of a body or a mass, in world axes.
pub(super) struct Motion<D> {
    pub mass: D,
    /// Position and velocity of the centre of mass.
    pub position: Vector<D>,
    pub velocity: Vector<D>,
    /// Angular velocity and momentum about the centre of mass.
    pub rate: Vector<D>,
    pub spin: Vector<D>,
    pub gravity: Vector<D>,
}

impl Store {
    pub fn side(self) -> Side {
        if self == Store::Point { Side::Point } else { Side::Body }
    }

    pub fn motion<D: Number>(self, q: &[D], v: &[D], u: &[D]) -> Motion<D> {
        let (pose, twist) = (self.side().pose(q), self.side().twist(q, v));
        let zero = Vector::zero();
        let (mass, center, spin, gravity) = match self {
            Store::Point => (u[0], zero, zero, Vector::of(&u[1..])),
            Store::Body(form) => {
                let (mass, center, tensor) = form.about_center(u);
                (mass, center, pose.rotation.turn(times(&tensor, twist.rate)), Vector::of(&u[10..]))
            }
        };
        Motion {
            mass,
            position: pose.point(center),
            velocity: twist.at(&pose, center),
            rate: pose.rotation.turn(twist.rate),
            spin,
            gravity,
        }
    }
}
