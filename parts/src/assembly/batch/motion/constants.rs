//! What does not change from point to point.

use super::super::super::pattern::Values;
use super::super::local::gather;
use super::super::{Batch, BatchEvaluator};
use super::add;
use costate::linearise::{ConstraintPoint, Sizes, jacobian_kernel, probe, separate};
use costate::system::{Equations, Point, Weights};

/// Any time will do where nothing depends on it.
pub(super) const SOME_TIME: f64 = 0.37;

impl BatchEvaluator<'_> {
    /// Takes what does not change from point to point for the parameters that are set.
    pub fn set_constants(&mut self, start: &Point<'_>, values: &mut Values) {
        let batch = self.batch;
        let Batch { models, sizes, structure, plans, .. } = batch;
        let Sizes { n, inputs, p, .. } = *sizes;
        let (anywhere, moving, still) = (probe(n, 0.3), probe(n, 1.1), vec![0.0; n.max(inputs)]);
        for (e, model) in models.iter().enumerate() {
            let own = &self.u[e * p..(e + 1) * p];
            if !self.motion.constant_force.is_empty() {
                let force = &mut self.motion.constant_force[e * n..(e + 1) * n];
                force.fill(0.0);
                model.force(SOME_TIME, &still[..n], &still[..n], &still[..inputs], own, force);
            }
            if structure.linear_motion && plans.full_entries.count() > 0 {
                let entries = &mut self.motion.entries;
                entries.fill(0.0);
                let w = &still[..inputs];
                let x = Point { t: SOME_TIME, q: &anywhere, v: &moving, a: &still[..n], lambda: &[], w };
                let mass = &mut values.mass[batch.places(e, |p| p.mass)];
                self.motion.full.set_parameters(own);
                let separate = separate(Equations::MOTION);
                self.motion.full.evaluate(model, &x, separate, &mut self.force, entries, mass);
                let [position, velocity, _] = plans.full_entries.split(entries);
                values.position[batch.places(e, |p| p.position)].copy_from_slice(position);
                values.velocity[batch.places(e, |p| p.velocity)].copy_from_slice(velocity);
            }
        }
        self.motion.pushes = self.motion.constant_force.iter().any(|force| *force != 0.0);
        self.set_fixed_slopes(start, values);
        if !structure.mass_by_position {
            for e in 0..models.len() {
                self.x.q.copy_from_slice(&anywhere);
                self.update_mass(e, values);
            }
        }
        self.set_coefficients();
        if structure.linear_motion {
            let [position, velocity] = &mut self.motion.constant_slopes;
            position.clear();
            position.extend_from_slice(&values.position[batch.all_places(|p| p.position)]);
            velocity.clear();
            velocity.extend_from_slice(&values.velocity[batch.all_places(|p| p.velocity)]);
            self.motion.acts = true;
        }
    }

    /// Takes the entries of C_q that do not change from point to point.
    fn set_fixed_slopes(&mut self, start: &Point<'_>, values: &mut Values) {
        let batch = self.batch;
        let Batch { models, sizes, structure, plans, .. } = batch;
        if plans.fixed_slopes.is_empty() {
            return;
        }
        let Sizes { n, m, p, .. } = *sizes;
        let anywhere = probe(n, 0.3);
        let fixed: Vec<usize> = (0..n).filter(|j| !structure.curved_coordinates.contains(j)).collect();
        let mut kernel = jacobian_kernel(*sizes, fixed.clone());
        let (mut value, mut slopes) = (vec![0.0; m], vec![0.0; m * fixed.len()]);
        for (e, model) in models.iter().enumerate() {
            let u = &self.u[e * p..(e + 1) * p];
            gather(&mut self.x.q, start.q, batch.coordinates_of(e));
            // a constraint may be defined near the start only (a root, a logarithm)
            for q in [&anywhere, &self.x.q] {
                kernel.evaluate(model, ConstraintPoint { t: SOME_TIME, q, u }, &mut value, &mut slopes);
                if slopes.iter().all(|slope| slope.is_finite()) {
                    break;
                }
            }
            let jacobian = &mut values.jacobian[batch.places(e, |p| p.jacobian)];
            for &entry in &plans.fixed_slopes {
                let (row, j) = structure.constraint[entry];
                // all columns that are not curved are in the list
                let place = fixed.binary_search(&j).unwrap_or_default();
                jacobian[entry] = slopes[row * fixed.len() + place];
            }
        }
    }

    /// Puts the constant derivatives of linear motion in place, with or without forces.
    pub fn act(&mut self, forces: bool, values: &mut Values) {
        let batch = self.batch;
        if !batch.structure.linear_motion || self.motion.acts == forces {
            return;
        }
        self.motion.acts = forces;
        let [by_position, by_velocity] = &self.motion.constant_slopes;
        let own_position = &mut values.position[batch.all_places(|p| p.position)];
        let own_velocity = &mut values.velocity[batch.all_places(|p| p.velocity)];
        for (own, constant) in [(own_position, by_position), (own_velocity, by_velocity)] {
            // motion that is linear has a mass that does not change: without forces nothing is left of these
            if forces { own.copy_from_slice(constant) } else { own.fill(0.0) }
        }
    }

    /// Adds what does not change from point to point in Newton's matrix.
    pub fn template(&self, weights: Weights, values: &Values, matrix: &mut [f64]) {
        let Batch { models, structure, plans, .. } = self.batch;
        let slots = self.slots;
        if !structure.mass_by_position {
            let all = self.batch.all_places(|p| p.mass);
            add(matrix, &slots.mass[all.clone()], &values.mass[all], weights.acceleration);
        }
        if structure.linear_motion {
            let all = self.batch.all_places(|p| p.position);
            add(matrix, &slots.position[all.clone()], &values.position[all], weights.position);
            let all = self.batch.all_places(|p| p.velocity);
            add(matrix, &slots.velocity[all.clone()], &values.velocity[all], weights.velocity);
            (0..models.len()).for_each(|e| self.add_states(e, weights, values, matrix));
        }
        for e in 0..models.len() {
            let first = self.batch.places(e, |p| p.jacobian).start;
            for place in plans.fixed_slopes.iter().map(|entry| first + entry) {
                matrix[slots.jacobian[place] as usize] += values.jacobian[place];
                matrix[slots.jacobian_transposed[place] as usize] += values.jacobian[place];
            }
        }
    }
}
