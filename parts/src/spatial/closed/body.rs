//! Bodies whose reference point is the centre of mass.

use super::super::body::{RigidBody, times, transform};
use super::super::pose::euler_parameters;
use super::{EULER, FIRST, torque_by_position};
use crate::assembly::{ClosedConstraint, ClosedMotion, ConstraintSlopes, MotionSlopes};
use costate::vector::{Vector, body_rate, generalized_torque};

impl ClosedConstraint for RigidBody {
    fn curved(&self) -> Vec<usize> {
        (FIRST..FIRST + EULER).collect()
    }

    fn differentiate(&self, q: &[f64], _u: &[f64], to: ConstraintSlopes<'_>) {
        let e = euler_parameters(q);
        to.value[0] = (e.iter().map(|e| e * e).sum::<f64>() - 1.0) * 0.5;
        to.slopes.copy_from_slice(&e);
        if let Some((lambda, curvature)) = to.curvature {
            curvature.fill(0.0);
            (0..EULER).for_each(|i| curvature[i * EULER + i] = lambda[0]);
        }
    }
}

/// Coordinates of a body.
const BODY: usize = 7;

/// Columns of 2 G of these parameters, times a factor.
#[inline]
fn columns(e: [f64; 4], factor: f64) -> [Vector<f64>; 4] {
    let g = transform(e);
    std::array::from_fn(|j| Vector([g[0][j], g[1][j], g[2][j]]) * (2.0 * factor))
}

/// D = (m (a - g), 2 Gᵀ τ) with τ = I ω'' + ω' x I ω', ω' = 2 G e' = -2 G(e') e and ω'' = 2 G e'' = -2 G(e'') e, where the reference
/// point is the centre of mass.
impl ClosedMotion for RigidBody {
    fn knows(&self, parameter: usize) -> bool {
        match parameter {
            0 | 10.. => true,
            1..7 => self.has_entries(),
            _ => false,
        }
    }

    fn differentiate(&self, [q, v, a]: [&[f64]; 3], u: &[f64], to: MotionSlopes<'_>) {
        let inertia = self.form.tensor(&u[1..7]);
        let (mass, gravity) = (u[0], Vector::of(&u[10..]));
        let [e, rates, accelerations] = [q, v, a].map(euler_parameters);
        let (rate, acceleration) = (body_rate(e, rates), body_rate(e, accelerations));
        let spin = times(&inertia, rate);
        let torque = times(&inertia, acceleration) + rate.cross(spin);
        let force = Vector::of(a) - gravity;
        to.value[..3].copy_from_slice(&(force * mass).0);
        to.value[3..].copy_from_slice(&generalized_torque(e, torque));
        for k in 0..3 {
            to.mass[k * BODY + k] = mass;
        }
        // dτ = I dω'' + S dω'
        let by_rate = |turn: Vector<f64>| turn.cross(spin) + rate.cross(times(&inertia, turn));
        let here = columns(e, 1.0);
        let (by_rates, by_accelerations) = (columns(rates, -1.0), columns(accelerations, -1.0));
        let turned = torque_by_position(torque);
        for j in 0..4 {
            let by_position = times(&inertia, by_accelerations[j]) + by_rate(by_rates[j]);
            let by_velocity = by_rate(here[j]);
            let by_acceleration = times(&inertia, here[j]);
            for i in 0..4 {
                let place = (FIRST + i) * BODY + FIRST + j;
                to.mass[place] = here[i].dot(by_acceleration);
                to.by_velocity[place] = here[i].dot(by_velocity);
                to.by_position[place] = here[i].dot(by_position) + turned[i][j];
            }
        }
        if let Some((parameters, by_parameter)) = to.by_parameter {
            let column = |k: usize| self.by_parameter(k, mass, [force, rate, acceleration], e);
            for &k in parameters {
                let slopes = column(k);
                (0..BODY).for_each(|row| by_parameter[row * u.len() + k] = slopes[row]);
            }
        }
    }
}

impl RigidBody {
    /// dD by one parameter.
    fn by_parameter(
        &self,
        parameter: usize,
        mass: f64,
        [force, rate, acceleration]: [Vector<f64>; 3],
        e: [f64; 4],
    ) -> [f64; BODY] {
        let mut slopes = [0.0; BODY];
        match parameter {
            0 => slopes[..3].copy_from_slice(&force.0),
            1..7 => {
                let mut unit = [0.0; 6];
                unit[parameter - 1] = 1.0;
                let inertia = self.form.tensor(&unit);
                let torque = times(&inertia, acceleration) + rate.cross(times(&inertia, rate));
                slopes[FIRST..].copy_from_slice(&generalized_torque(e, torque));
            }
            _ => slopes[parameter - 10] = -mass,
        }
        slopes
    }
}
