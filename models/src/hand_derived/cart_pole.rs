//! The cart with a pole: no constraints, but M depends on the angle and on the parameters.

use costate::Matrix;
use costate::system::Point;
use costate_check::{HandDerived, Supplied};

use crate::cart_pole::GRAVITY;

/// Derivatives of [`crate::cart_pole::CartPole`] by hand, all blocks; its parameters are m_cart, m_pole, l, d_cart, d_pole, and the initial angle.
#[derive(Debug, Clone, Copy)]
pub struct CartPoleByHand;

impl HandDerived for CartPoleByHand {
    fn mass(&self, x: &Point<'_>, u: &[f64], mass: &mut Matrix<f64>) -> Supplied {
        let [m_cart, m_pole, l, ..] = *u else { return Supplied::No };
        mass[(0, 0)] = m_cart + m_pole;
        mass[(0, 1)] = m_pole * l * x.q[1].cos();
        mass[(1, 0)] = m_pole * l * x.q[1].cos();
        mass[(1, 1)] = m_pole * l * l;
        Supplied::Yes
    }

    fn inertia_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [_, m_pole, l, ..] = *u else { return Supplied::No };
        jacobian[(0, 1)] = -m_pole * l * x.q[1].sin() * x.a[1];
        jacobian[(1, 1)] = -m_pole * l * x.q[1].sin() * x.a[0];
        Supplied::Yes
    }

    fn force_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [_, m_pole, l, ..] = *u else { return Supplied::No };
        jacobian[(0, 1)] = m_pole * l * x.q[1].cos() * x.v[1] * x.v[1];
        jacobian[(1, 1)] = -m_pole * l * x.q[1].cos() * GRAVITY;
        Supplied::Yes
    }

    fn force_by_velocity(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [_, m_pole, l, d_cart, d_pole, _] = *u else { return Supplied::No };
        jacobian[(0, 0)] = -d_cart;
        jacobian[(0, 1)] = 2.0 * m_pole * l * x.q[1].sin() * x.v[1];
        jacobian[(1, 1)] = -d_pole;
        Supplied::Yes
    }

    fn force_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [_, m_pole, l, ..] = *u else { return Supplied::No };
        let (sin, square) = (x.q[1].sin(), x.v[1] * x.v[1]);
        jacobian[(0, 1)] = l * sin * square;
        jacobian[(0, 2)] = m_pole * sin * square;
        jacobian[(0, 3)] = -x.v[0];
        jacobian[(1, 1)] = -l * sin * GRAVITY;
        jacobian[(1, 2)] = -m_pole * sin * GRAVITY;
        jacobian[(1, 4)] = -x.v[1];
        Supplied::Yes
    }

    fn inertia_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let [_, m_pole, l, ..] = *u else { return Supplied::No };
        let cos = x.q[1].cos();
        jacobian[(0, 0)] = x.a[0];
        jacobian[(0, 1)] = x.a[0] + l * cos * x.a[1];
        jacobian[(0, 2)] = m_pole * cos * x.a[1];
        jacobian[(1, 1)] = l * cos * x.a[0] + l * l * x.a[1];
        jacobian[(1, 2)] = m_pole * cos * x.a[0] + 2.0 * m_pole * l * x.a[1];
        Supplied::Yes
    }
}
