//! Bodies: rigid ones and point masses, with gravity.

use crate::assembly::Element;
use costate::{Matrix, Number};

/// A rigid body whose centre of mass is its reference point. Parameters: mass, inertia, gravity x, y.
pub(super) struct CentredBody;

impl Element for CentredBody {
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
        m[(1, 1)] = u[0];
        m[(2, 2)] = u[1];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[0] * u[2];
        force[1] = u[0] * u[3];
    }
}

/// A rigid body with its centre of mass anywhere. Parameters: mass, inertia about the centre of mass, its location x, y in
/// the body's axes, gravity x, y.
pub(super) struct RigidBody;

impl Element for RigidBody {
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let (sin, cos) = q[2].sin_cos();
        let (along_x, along_y) = (cos * u[2] - sin * u[3], sin * u[2] + cos * u[3]);
        m[(0, 0)] = u[0];
        m[(1, 1)] = u[0];
        m[(0, 2)] = -u[0] * along_y;
        m[(1, 2)] = u[0] * along_x;
        m[(2, 0)] = m[(0, 2)];
        m[(2, 1)] = m[(1, 2)];
        m[(2, 2)] = u[1] + u[0] * (u[2] * u[2] + u[3] * u[3]);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let (sin, cos) = q[2].sin_cos();
        let (along_x, along_y) = (cos * u[2] - sin * u[3], sin * u[2] + cos * u[3]);
        let centrifugal = u[0] * v[2] * v[2];
        force[0] = u[0] * u[4] + centrifugal * along_x;
        force[1] = u[0] * u[5] + centrifugal * along_y;
        force[2] = u[0] * (along_x * u[5] - along_y * u[4]);
    }
}

/// A mass without extension. Parameters: mass, gravity x, y.
pub(super) struct PointMass;

impl Element for PointMass {
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[0];
        m[(1, 1)] = u[0];
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[0] * u[1];
        force[1] = u[0] * u[2];
    }
}
