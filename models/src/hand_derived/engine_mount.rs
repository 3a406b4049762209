//! The engine mount of Lauss 2018, section 5. Its constraint is linear and M is constant.

use costate::Matrix;
use costate::system::Point;
use costate_check::{HandDerived, Supplied};

use crate::engine_mount::*;

/// Derivatives of [`crate::engine_mount::EngineMount`] by hand, all blocks.
#[derive(Debug, Clone, Copy)]
pub struct EngineMountByHand;

impl HandDerived for EngineMountByHand {
    fn mass(&self, _x: &Point<'_>, _u: &[f64], mass: &mut Matrix<f64>) -> Supplied {
        mass[(0, 0)] = LOAD;
        mass[(2, 2)] = DECOUPLER;
        mass[(3, 3)] = TRACK;
        Supplied::Yes
    }

    fn inertia_by_position(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }

    fn constraint_force_by_position(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }

    fn force_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [c_e1, c_e2, ..] = *u else { return Supplied::No };
        jacobian[(0, 0)] = -(c_e1 + 3.0 * c_e2 * x.q[0] * x.q[0]) - CHAMBER_STIFFNESS;
        jacobian[(0, 1)] = CHAMBER_STIFFNESS;
        jacobian[(1, 0)] = CHAMBER_STIFFNESS;
        jacobian[(1, 1)] = -CHAMBER_STIFFNESS;
        jacobian[(2, 2)] = -DECOUPLER_STIFFNESS;
        Supplied::Yes
    }

    fn force_by_velocity(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [_, _, d_e, d_h2] = *u else { return Supplied::No };
        jacobian[(0, 0)] = -d_e;
        jacobian[(2, 2)] = -DECOUPLER_DAMPING;
        jacobian[(3, 3)] = -(TRACK_DAMPING + 3.0 * d_h2 * x.v[3] * x.v[3]);
        Supplied::Yes
    }

    fn constraint_by_position(&self, _x: &Point<'_>, _u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 1)] = TRACK_ARM + DECOUPLER_ARM;
        jacobian[(0, 2)] = -DECOUPLER_ARM;
        jacobian[(0, 3)] = -TRACK_ARM;
        Supplied::Yes
    }

    fn force_by_parameter(&self, x: &Point<'_>, _u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        jacobian[(0, 0)] = -x.q[0];
        jacobian[(0, 1)] = -x.q[0].powi(3);
        jacobian[(0, 2)] = -x.v[0];
        jacobian[(3, 3)] = -x.v[3].powi(3);
        Supplied::Yes
    }

    fn inertia_by_parameter(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }

    fn constraint_force_by_parameter(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }

    fn constraint_by_parameter(&self, _x: &Point<'_>, _u: &[f64], _jacobian: &mut Matrix<f64>) -> Supplied {
        Supplied::Yes // zero
    }
}
