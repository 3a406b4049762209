//! The pendulum in Cartesian coordinates: C_q moves with the position, C depends on the length.

use costate::Matrix;
use costate::system::Point;
use costate_check::{HandDerived, Supplied};

/// Derivatives of [`crate::pendulum::Pendulum`] by hand, all blocks; its parameters are m, L, d, g, and two of the start.
#[derive(Debug, Clone, Copy)]
pub struct PendulumByHand;

impl HandDerived for PendulumByHand {
    fn mass(&self, _x: &Point<'_>, u: &[f64], mass: &mut Matrix<f64>) -> Supplied {
        mass[(0, 0)] = u[0];
        mass[(1, 1)] = u[0];
        Supplied::Yes
    }

    fn inertia_by_position(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }

    fn constraint_force_by_position(&self, x: &Point<'_>, _u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = x.lambda[0];
        jacobian[(1, 1)] = x.lambda[0];
        Supplied::Yes
    }

    fn force_by_position(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }

    fn force_by_velocity(&self, _x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = -u[2];
        jacobian[(1, 1)] = -u[2];
        Supplied::Yes
    }

    fn constraint_by_position(&self, x: &Point<'_>, _u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = x.q[0];
        jacobian[(0, 1)] = x.q[1];
        Supplied::Yes
    }

    fn force_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [m, _, _, g, ..] = *u else { return Supplied::No };
        jacobian[(0, 2)] = -x.v[0];
        jacobian[(1, 0)] = -g;
        jacobian[(1, 2)] = -x.v[1];
        jacobian[(1, 3)] = -m;
        Supplied::Yes
    }

    fn inertia_by_parameter(&self, x: &Point<'_>, _u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = x.a[0];
        jacobian[(1, 0)] = x.a[1];
        Supplied::Yes
    }

    fn constraint_force_by_parameter(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero: the length enters C, but not C_q
    }

    fn constraint_by_parameter(&self, _x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 1)] = -u[1];
        Supplied::Yes
    }
}
