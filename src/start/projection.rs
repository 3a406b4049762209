//! The projection of a start onto the constraints, with first and second derivatives.
//!
//! Positions and velocities are projected one after the other by equations of one form, with the multiplier κ (ν, then μ)
//! and the change δ that the projection makes (q_0 - q_m, then v_0 - v_m):
//!
//! ```text
//! M δ + C_qᵀ κ = 0,      C = 0, then C_q v + C_t = 0
//! ```
//!
//! Weighed with fixed numbers, the left sides are what the evaluator's `curvature` differentiates twice, forces left out.

use super::{Purpose, dense, saddle, singular};
use crate::error::{Error, Result};
use crate::scheme::Direction;
use crate::signature::Signature;
use crate::system::{Blocks, Evaluator, Level, Point, StateVector};
use nalgebra::{DMatrix, DVector};

/// The model's state before projection, and the multipliers of both projections.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    q_model: Vec<f64>,
    v_model: Vec<f64>,
    nu: Vec<f64>,
    mu: Vec<f64>,
}

/// One of the two projections at its solution, linearised.
struct Stage<'s> {
    level: Level,
    change: Vec<f64>,
    multiplier: &'s [f64],
    mass: DMatrix<f64>,
    /// d(M δ + C_qᵀ κ)/dq for a fixed δ.
    curvature: DMatrix<f64>,
    blocks: Blocks,
    /// Of the equations by (what is projected, κ).
    matrix: DMatrix<f64>,
}

impl Projection {
    /// Moves `q` and `v` onto the constraints.
    pub(super) fn solve(
        system: &mut dyn Evaluator,
        signature: &Signature,
        t: f64,
        w: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<Self> {
        let (n, m) = (q.len(), signature.constraints.len());
        let (q_model, v_model) = (q.to_vec(), v.to_vec());
        let mut nu = vec![0.0; m];
        let mut blocks = Blocks::zeros(signature);
        let mut c = vec![0.0; m];
        let mut last = f64::INFINITY;
        let mut converged = false;
        for _ in 0..60 {
            let change: Vec<f64> = q.iter().zip(&q_model).map(|(q, start)| q - start).collect();
            let point = Point { t, q, v, a: &change, lambda: &nu, w };
            system.blocks(&point, &mut blocks);
            system.constraint(Level::Position, &point, &mut c);
            let (mass, c_q) = (dense(&blocks.mass), dense(&blocks.constraint_by_position));
            let curvature = dense(&blocks.inertia_by_position) + dense(&blocks.constraint_force_by_position);
            let mut r = DVector::zeros(n + m);
            let force = &mass * DVector::from_column_slice(&change) + c_q.transpose() * DVector::from_column_slice(&nu);
            r.rows_mut(0, n).copy_from(&force);
            r.rows_mut(n, m).copy_from_slice(&c);
            let Some(step) = saddle(&(mass + curvature), &c_q).lu().solve(&r) else {
                return Err(singular(system, signature, &point, Purpose::Accelerations));
            };
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            q.iter_mut().zip(step.iter()).for_each(|(q, step)| *q -= step);
            nu.iter_mut().zip(step.iter().skip(n)).for_each(|(nu, step)| *nu -= step);
            let size = step.rows(0, n).amax() / (q.iter().fold(0.0f64, |s, q| s.max(q.abs())) + 1e-300);
            let known = size > 0.3 * last && {
                // no progress: is what is left the constraint's own round-off?
                let (mut bound, mut unused) = (vec![0.0; m], vec![0.0; n]);
                system.round_off(&Point { t, q, v, a: &change, lambda: &nu, w }, &mut unused, &mut bound);
                c.iter().zip(&bound).all(|(c, bound)| c.abs() <= 2.0 * bound)
            };
            if size <= 1e-15 || known {
                converged = true;
                break;
            }
            last = size;
        }
        if !converged {
            let violations = "no projection onto them was found within 60 iterations".to_string();
            return Err(Error::InconsistentStart { violations });
        }
        let zeros = vec![0.0; n];
        let point = Point { t, q, v: &zeros, a: &zeros, lambda: &nu, w };
        system.blocks(&point, &mut blocks);
        system.constraint(Level::Velocity, &point, &mut c); // C_t alone
        let (mass, c_q) = (dense(&blocks.mass), dense(&blocks.constraint_by_position));
        let mut r = DVector::zeros(n + m);
        r.rows_mut(0, n).copy_from(&(&mass * DVector::from_column_slice(&v_model)));
        r.rows_mut(n, m).copy_from(&-DVector::from_column_slice(&c));
        let matrix = saddle(&mass, &c_q).lu();
        let Some(mut solution) = matrix.solve(&r) else {
            return Err(singular(system, signature, &point, Purpose::Accelerations));
        };
        let residual = saddle(&mass, &c_q) * &solution - &r;
        if let Some(correction) = matrix.solve(&residual) {
            solution -= correction;
        }
        v.copy_from_slice(&solution.as_slice()[..n]);
        let mu = solution.as_slice()[n..].to_vec();
        Ok(Projection { q_model, v_model, nu, mu })
    }

    /// Both projections at their solution: positions, velocities.
    fn stages(&self, system: &mut dyn Evaluator, signature: &Signature, x0: &Point<'_>) -> [Stage<'_>; 2] {
        let parts =
            [(Level::Position, x0.q, &self.q_model, &self.nu), (Level::Velocity, x0.v, &self.v_model, &self.mu)];
        parts.map(|(level, values, of_model, multiplier)| {
            let change: Vec<f64> = values.iter().zip(of_model).map(|(x, model)| x - model).collect();
            let mut blocks = Blocks::zeros(signature);
            system.blocks(&Point { a: &change, lambda: multiplier, ..*x0 }, &mut blocks);
            let (mass, c_q) = (dense(&blocks.mass), dense(&blocks.constraint_by_position));
            let curvature = dense(&blocks.inertia_by_position) + dense(&blocks.constraint_force_by_position);
            // positions that are projected change M and C_q with them
            let own = if level == Level::Position { &mass + &curvature } else { mass.clone() };
            Stage { level, change, multiplier, matrix: saddle(&own, &c_q), mass, curvature, blocks }
        })
    }

    /// From a cotangent of the projected state to one of the model's, and of the parameters; and its derivatives along
    /// directions.
    pub(super) fn pull_back(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()> {
        let m = x0.lambda.len();
        let [positions, velocities] = self.stages(system, signature, x0);
        // of each direction: the model's tangents, then both stages' tangents of κ
        let tangents: Vec<(StateVector, [Vec<f64>; 2])> = directions
            .iter()
            .map(|direction| {
                let mut own = StateVector { u: direction.tangent.u.clone(), ..StateVector::zeros(signature) };
                system.initial_push_forward(&own.u, &mut own.q, &mut own.v);
                let of_model = own.clone();
                let multipliers = self.push(system, [&positions, &velocities], signature, x0, &mut own)?;
                Ok((of_model, multipliers))
            })
            .collect::<Result<_>>()?;
        for (place, stage) in [(1, &velocities), (0, &positions)] {
            let p = stage.multipliers(system, signature, x0, bar, &vec![0.0; m])?;
            for (direction, (of_model, multipliers)) in directions.iter_mut().zip(&tangents) {
                let Direction { tangent, cotangent } = direction;
                let curved = stage.curve(system, signature, x0, &p, tangent, (of_model, &multipliers[place]));
                for (part, curved) in
                    [(&mut cotangent.q, &curved.q), (&mut cotangent.v, &curved.v), (&mut cotangent.u, &curved.u)]
                {
                    part.iter_mut().zip(curved).for_each(|(x, curved)| *x -= curved);
                }
                // what falls to δ falls to the projected state, and with the other sign to the model's
                let projected = stage.projected(cotangent);
                projected.iter_mut().zip(&curved.a).for_each(|(x, curved)| *x -= curved);
                let by_multiplier: Vec<f64> = curved.lambda.iter().map(|x| -x).collect();
                let own = stage.multipliers(system, signature, x0, cotangent, &by_multiplier)?;
                stage.pull(system, signature, x0, &own, cotangent);
                stage.projected(cotangent).iter_mut().zip(&curved.a).for_each(|(x, curved)| *x += curved);
            }
            stage.pull(system, signature, x0, &p, bar);
        }
        Ok(())
    }

    /// From a tangent of the model's state to that of the projected one.
    pub(super) fn push_forward(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        tangent: &mut StateVector,
    ) -> Result<()> {
        let [positions, velocities] = self.stages(system, signature, x0);
        self.push(system, [&positions, &velocities], signature, x0, tangent)?;
        Ok(())
    }

    /// As [`Projection::push_forward`], with the tangents of both multipliers.
    fn push(
        &self,
        system: &mut dyn Evaluator,
        [positions, velocities]: [&Stage<'_>; 2],
        signature: &Signature,
        x0: &Point<'_>,
        tangent: &mut StateVector,
    ) -> Result<[Vec<f64>; 2]> {
        let n = x0.q.len();
        let column = DVector::from_column_slice;
        let u = column(&tangent.u);
        let force = &positions.mass * column(&tangent.q) - positions.by_parameter() * &u;
        let c = dense(&positions.blocks.constraint_by_parameter) * &u;
        let (dq, dnu) = positions.solve(system, signature, x0, force, -c)?;
        tangent.q.copy_from_slice(dq.as_slice());
        let v_model = std::mem::replace(&mut tangent.v, vec![0.0; n]);
        let force = &velocities.mass * column(&v_model) - &velocities.curvature * dq - velocities.by_parameter() * &u;
        let mut c = vec![0.0; dnu.len()];
        system.constraint_push_forward(Level::Velocity, x0, tangent, &mut c);
        let (dv, dmu) = velocities.solve(system, signature, x0, force, -column(&c))?;
        tangent.v.copy_from_slice(dv.as_slice());
        Ok([dnu.as_slice().to_vec(), dmu.as_slice().to_vec()])
    }
}

/// What a stage's two equations are weighed with: n and m numbers.
type Weighing = (DVector<f64>, DVector<f64>);

impl Stage<'_> {
    /// d(M δ + C_qᵀ κ)/du for a fixed δ.
    fn by_parameter(&self) -> DMatrix<f64> {
        dense(&self.blocks.inertia_by_parameter) + dense(&self.blocks.constraint_force_by_parameter)
    }

    /// The part of a state that is projected.
    fn projected<'x>(&self, x: &'x mut StateVector) -> &'x mut Vec<f64> {
        if self.level == Level::Position { &mut x.q } else { &mut x.v }
    }

    fn solve(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        force: DVector<f64>,
        constraint: DVector<f64>,
    ) -> Result<Weighing> {
        self.solved(system, signature, x0, self.matrix.clone(), force, constraint)
    }

    /// The weights p with (∂ equations/∂(projected, κ))ᵀ p = (cotangents of the projected state and of κ).
    fn multipliers(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        bar: &mut StateVector,
        by_multiplier: &[f64],
    ) -> Result<Weighing> {
        let (own, multiplier) =
            (DVector::from_column_slice(self.projected(bar)), DVector::from_column_slice(by_multiplier));
        self.solved(system, signature, x0, self.matrix.transpose(), own, multiplier)
    }

    fn solved(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        matrix: DMatrix<f64>,
        upper: DVector<f64>,
        lower: DVector<f64>,
    ) -> Result<Weighing> {
        let (n, m) = (upper.len(), lower.len());
        let mut r = DVector::zeros(n + m);
        r.rows_mut(0, n).copy_from(&upper);
        r.rows_mut(n, m).copy_from(&lower);
        let Some(x) = matrix.lu().solve(&r) else {
            return Err(singular(system, signature, x0, Purpose::Accelerations));
        };
        Ok((x.rows(0, n).into_owned(), x.rows(n, m).into_owned()))
    }

    /// With the weights of the equations: replaces the cotangent of the projected state by that of the model's, and adds
    /// to those of the parameters and, for velocities, of the positions.
    fn pull(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        (d, c): &Weighing,
        bar: &mut StateVector,
    ) {
        let add = |part: &mut [f64], change: &[f64]| part.iter_mut().zip(change).for_each(|(x, c)| *x += c);
        let mut level = StateVector::zeros(signature);
        system.constraint_pull_back(self.level, x0, -1.0, c.as_slice(), &mut level);
        add(&mut bar.u, &level.u);
        add(&mut bar.u, (-self.by_parameter().transpose() * d).as_slice());
        if self.level == Level::Velocity {
            add(&mut bar.q, &level.q);
            add(&mut bar.q, (-self.curvature.transpose() * d).as_slice());
        }
        self.projected(bar).copy_from_slice((self.mass.transpose() * d).as_slice());
    }

    /// The gradient of the derivative, along a direction, of the equations weighed with fixed numbers: by q, v, u, and by
    /// δ (in the place of a) and κ (in that of λ).
    fn curve(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        (d, c): &Weighing,
        tangent: &StateVector,
        (of_model, multiplier): (&StateVector, &[f64]),
    ) -> StateVector {
        let (own, model) = match self.level {
            Level::Position => (&tangent.q, &of_model.q),
            _ => (&tangent.v, &of_model.v),
        };
        let mut along = tangent.clone();
        along.a = own.iter().zip(model).map(|(x, model)| x - model).collect();
        along.lambda = multiplier.to_vec();
        let mut curved = StateVector::zeros(signature);
        let no_rows = vec![0.0; c.len()];
        let point = Point { a: &self.change, lambda: self.multiplier, ..*x0 };
        system.curvature(&point, 1.0, d.as_slice(), &no_rows, &along, &mut curved);
        system.constraint_curvature(self.level, x0, 1.0, c.as_slice(), &along, &mut curved);
        // the evaluator's equations have forces in them, these have not
        let zeros = vec![0.0; x0.q.len()];
        along.a.fill(0.0);
        along.lambda.fill(0.0);
        let mut forces = StateVector::zeros(signature);
        let point = Point { a: &zeros, lambda: &no_rows, ..*x0 };
        system.curvature(&point, 1.0, d.as_slice(), &no_rows, &along, &mut forces);
        for (part, force) in [(&mut curved.q, &forces.q), (&mut curved.v, &forces.v), (&mut curved.u, &forces.u)] {
            part.iter_mut().zip(force).for_each(|(x, force)| *x -= force);
        }
        curved
    }
}
