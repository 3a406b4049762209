//! All first derivatives at a point: what products with derivatives want.

use super::super::super::pattern::Values;
use super::super::local::gather;
use super::super::{Batch, BatchEvaluator};
use super::{MotionKernels, add, add_slopes, copy};
use costate::system::{Level, Point, Weights};

impl BatchEvaluator<'_> {
    /// Works out all first derivatives, and what changes from point to point in Newton's matrix.
    pub fn linearise(&mut self, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]) {
        let Batch { models, structure, plans, .. } = self.batch;
        let moves = if structure.linear_motion { plans.strides.by_parameter > 0 } else { self.batch.moves() };
        let bends = self.motion.constrains && self.motion.full_curvature.is_some();
        if !moves && !bends {
            return;
        }
        let in_place = moves && weights.equations.forces && self.multiply_coefficients(x, values);
        let moves = moves && !in_place;
        if !moves && !bends {
            return;
        }
        for e in 0..models.len() {
            if moves {
                self.linearise_motion(e, x, weights, values, matrix);
            }
            if bends {
                self.linearise_constraint(e, x, weights, values, matrix);
            }
        }
    }

    #[inline]
    fn linearise_motion(&mut self, e: usize, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]) {
        let (batch, slots) = (self.batch, self.slots);
        let Batch { structure, plans, .. } = batch;
        let by_parameter = batch.places(e, |p| p.by_parameter);
        let c = batch.coordinates_of(e);
        gather(&mut self.x.q, x.q, c);
        gather(&mut self.x.v, x.v, c);
        gather(&mut self.x.a, x.a, c);
        gather(&mut self.x.w, x.w, batch.inputs_of(e));
        let mass = batch.places(e, |p| p.mass);
        if self.take_closed(e, weights, values, matrix) {
            return;
        }
        self.move_fully(e, x, weights, values);
        let entries = &self.motion.entries;
        if structure.linear_motion {
            values.by_parameter[by_parameter].copy_from_slice(&entries[..plans.strides.by_parameter]);
            return;
        }
        let [own_position, own_velocity, own_parameter] =
            plans.full_entries.split(&entries[..plans.full_entries.count()]);
        values.by_parameter[by_parameter].copy_from_slice(own_parameter);
        let position = batch.places(e, |p| p.position);
        values.position[position.clone()].copy_from_slice(own_position);
        add(matrix, &slots.position[position], own_position, weights.position);
        let velocity = batch.places(e, |p| p.velocity);
        values.velocity[velocity.clone()].copy_from_slice(own_velocity);
        add(matrix, &slots.velocity[velocity.clone()], own_velocity, weights.velocity);
        self.add_states(e, weights, values, matrix);
        if structure.mass_by_position {
            add(matrix, &slots.mass[mass.clone()], &values.mass[mass], weights.acceleration);
        }
    }

    #[inline]
    fn linearise_constraint(
        &mut self,
        e: usize,
        x: &Point<'_>,
        weights: Weights,
        values: &mut Values,
        matrix: &mut [f64],
    ) {
        let (batch, slots) = (self.batch, self.slots);
        let (plans, model, p) = (&batch.plans, batch.models.get(e), batch.sizes.p);
        self.take_constraint(e, x);
        self.curve_fully(e, x.t, values);
        let MotionKernels { slopes, second_slopes, rate_slopes, .. } = &mut self.motion;
        let jacobian = batch.places(e, |p| p.jacobian);
        copy(slopes, &mut values.jacobian[jacobian.clone()], &plans.full_slopes);
        add_slopes(slots, jacobian.start, &plans.slopes, &values.jacobian, matrix);
        let geometric = batch.places(e, |p| p.geometric);
        add(matrix, &slots.geometric[geometric.clone()], &values.geometric[geometric], weights.position);
        let by_parameter = batch.places(e, |p| p.geometric_by_parameter);
        copy(second_slopes, &mut values.geometric_by_parameter[by_parameter], &plans.full_geometric_by_parameter);
        let by_parameter = batch.places(e, |p| p.constraint_by_parameter);
        copy(slopes, &mut values.constraint_by_parameter[by_parameter.clone()], &plans.full_by_parameter);
        if weights.equations.level == Level::Position {
            return;
        }
        gather(&mut self.x.v, x.v, batch.coordinates_of(e));
        gather(&mut self.x.a, x.a, batch.coordinates_of(e));
        let own = &self.u[e * p..(e + 1) * p];
        self.time_derivatives.slopes(model, &self.x.point(x.t), own, &plans.variables, rate_slopes);
        for (level, slopes) in rate_slopes[1..].iter().enumerate() {
            copy(slopes, &mut values.rates[level][jacobian.clone()], &plans.full_slopes);
            copy(slopes, &mut values.rates_by_parameter[level][by_parameter.clone()], &plans.full_by_parameter);
        }
        add(matrix, &slots.jacobian[jacobian.clone()], &values.rates[0][jacobian], weights.rate());
    }
}
