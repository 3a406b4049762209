//! Equations of motion and constraints of a batch, with first derivatives: the time loop.

mod constants;

use super::super::pattern::{Slots, Values};
use super::local::{LocalState, gather, scatter};
use super::plans::Copied;
use super::{Batch, BatchEvaluator};
use crate::linearise::{
    ConstraintPoint, CurvatureKernel, ForceKernel, JacobianKernel, Sizes, curvature_kernel, force_kernel,
    jacobian_kernel, separate,
};
use crate::system::{Equations, Level, Point, Weights};

pub(super) struct MotionKernels<'s> {
    newton: Box<dyn ForceKernel + 's>,
    full: Box<dyn ForceKernel + 's>,
    by_parameters: Box<dyn ForceKernel + 's>,
    /// Where constraints are not linear: by the coordinates in which they are not.
    jacobian: Option<Box<dyn JacobianKernel>>,
    curvature: Option<Box<dyn CurvatureKernel>>,
    /// By these and the parameters.
    full_curvature: Option<Box<dyn CurvatureKernel>>,
    /// Forces that depend on parameters alone.
    constant_force: Vec<f64>,
    /// Q is worked out at every point.
    evaluates_force: bool,
    constrains: bool,
    entries: Vec<f64>,
    slopes: Vec<f64>,
    second_slopes: Vec<f64>,
    /// Of dC/dt and d²C/dt².
    rate_slopes: [Vec<f64>; 3],
    /// Constant derivatives of linear motion by q and v, as they are with forces; and whether these are in place.
    constant_slopes: [Vec<f64>; 2],
    acts: bool,
}

impl<'s> MotionKernels<'s> {
    pub fn new(batch: &'s Batch) -> Self {
        let Batch { sizes, structure, plans, own_rows, .. } = batch;
        let Sizes { n, m, .. } = *sizes;
        let with_mass = structure.mass_by_position || structure.mass_by_parameter;
        let curved = &structure.curved_coordinates;
        let constant_force = structure.has_force && structure.constant_force;
        let count = plans.variables.len();
        let zeros = |count: usize| vec![0.0; count];
        let forces =
            |plan: &crate::linearise::Plan, with_mass| force_kernel(*sizes, plan.clone(), &structure.mass, with_mass);
        MotionKernels {
            newton: forces(&plans.newton, structure.mass_by_position),
            full: forces(&plans.full, with_mass),
            by_parameters: forces(&plans.by_parameters, with_mass),
            jacobian: (!curved.is_empty()).then(|| jacobian_kernel(*sizes, curved.clone())),
            curvature: (!curved.is_empty()).then(|| curvature_kernel(*sizes, curved.clone())),
            full_curvature: (count > 0).then(|| curvature_kernel(*sizes, plans.variables.clone())),
            constant_force: zeros(if constant_force { n * batch.models.len() } else { 0 }),
            evaluates_force: structure.has_force && !structure.constant_force,
            constrains: *own_rows > 0,
            entries: zeros(plans.full_entries.len().max(plans.newton_entries.len())),
            slopes: zeros(m * count.max(n)),
            second_slopes: zeros(count * count),
            rate_slopes: [(); 3].map(|()| zeros(m * count)),
            constant_slopes: [Vec::new(), Vec::new()],
            acts: true,
        }
    }
}

/// Puts the entries of C_q that change from point to point into the matrix.
#[inline]
fn add_slopes(slots: &Slots, first: usize, entries: &[Copied], jacobian: &[f64], matrix: &mut [f64]) {
    for entry in entries {
        let place = first + entry.to as usize;
        matrix[slots.jacobian[place] as usize] += jacobian[place];
        matrix[slots.jacobian_transposed[place] as usize] += jacobian[place];
    }
}

#[inline]
fn copy(from: &[f64], to: &mut [f64], entries: &[Copied]) {
    for entry in entries {
        to[entry.to as usize] = from[entry.from as usize];
    }
}

/// Adds weighted values to their slots.
#[inline]
fn add(matrix: &mut [f64], slots: &[u32], values: &[f64], weight: f64) {
    for (&slot, value) in slots.iter().zip(values) {
        matrix[slot as usize] += weight * value;
    }
}

impl BatchEvaluator<'_> {
    /// What a level above positions makes of the constraints of element `e`, whose q and λ are in place; at velocities, with the
    /// derivatives that are asked for.
    fn take_level(&mut self, e: usize, x: &Point<'_>, level: Level) {
        let (batch, own) = (self.batch, &mut self.x);
        let c = batch.coordinates_of(e);
        gather(&mut own.v, x.v, c);
        gather(&mut own.a, x.a, c);
        let Sizes { m, p, .. } = batch.sizes;
        let (own, u) = (self.x.point(x.t), &self.u[e * p..(e + 1) * p]);
        self.time_derivatives.value(&*batch.models[e], level, &own, u, &mut self.rows[..m]);
    }

    /// Takes the entries of M of element `e` at its q.
    fn update_mass(&mut self, e: usize, values: &mut Values) {
        let batch = self.batch;
        let p = batch.sizes.p;
        self.mass_matrix.fill(0.0);
        batch.models[e].mass(&self.x.q, &self.u[e * p..(e + 1) * p], &mut self.mass_matrix);
        let mass = &mut values.mass[batch.places(e, |p| p.mass)];
        for (value, &place) in mass.iter_mut().zip(&batch.structure.mass) {
            *value = self.mass_matrix[place];
        }
    }

    /// Takes what the motion of element `e` depends on.
    #[inline]
    fn take_motion(&mut self, e: usize, x: &Point<'_>) {
        let (batch, own) = (self.batch, &mut self.x);
        let c = batch.coordinates_of(e);
        gather(&mut own.q, x.q, c);
        gather(&mut own.v, x.v, c);
        gather(&mut own.w, x.w, batch.inputs_of(e));
        if batch.structure.mass_by_position || batch.structure.mass_by_parameter {
            gather(&mut own.a, x.a, c);
        }
    }

    /// Takes what the constraints of element `e` depend on.
    #[inline]
    fn take_constraint(&mut self, e: usize, x: &Point<'_>) {
        gather(&mut self.x.q, x.q, self.batch.coordinates_of(e));
        gather(&mut self.x.lambda, x.lambda, self.batch.own_rows_of(e));
    }

    /// Takes away Q.
    #[inline]
    fn add_force(&mut self, e: usize, x: &Point<'_>, dynamics: &mut [f64]) {
        let batch = self.batch;
        self.take_motion(e, x);
        self.force.fill(0.0);
        let LocalState { q, v, w, .. } = &self.x;
        let p = batch.sizes.p;
        batch.models[e].force(x.t, q, v, w, &self.u[e * p..(e + 1) * p], &mut self.force);
        for (&place, force) in batch.coordinates_of(e).iter().zip(&self.force) {
            dynamics[place as usize] -= force;
        }
    }

    /// Adds M a with the stored M.
    #[inline]
    fn add_inertia(&self, e: usize, x: &Point<'_>, values: &Values, dynamics: &mut [f64]) {
        let (structure, c) = (&self.batch.structure, self.batch.coordinates_of(e));
        let mass = &values.mass[self.batch.places(e, |p| p.mass)];
        for (&(row, column), value) in structure.mass.iter().zip(mass) {
            dynamics[c[row] as usize] += value * x.a[c[column] as usize];
        }
    }

    /// Takes away forces that depend on parameters alone.
    #[inline]
    fn add_constant_force(&self, e: usize, dynamics: &mut [f64]) {
        let n = self.batch.sizes.n;
        if let Some(own) = self.motion.constant_force.get(e * n..(e + 1) * n) {
            for (&place, force) in self.batch.coordinates_of(e).iter().zip(own) {
                dynamics[place as usize] -= force;
            }
        }
    }

    /// Adds C_qᵀ λ from the stored C_q, and the C at hand.
    #[inline]
    fn add_constraint(&self, e: usize, values: &Values, dynamics: &mut [f64], constraint: &mut [f64]) {
        let c = self.batch.coordinates_of(e);
        let jacobian = &values.jacobian[self.batch.places(e, |p| p.jacobian)];
        for (&(row, j), value) in self.batch.structure.constraint.iter().zip(jacobian) {
            dynamics[c[j] as usize] += value * self.x.lambda[row];
        }
        scatter(&self.rows, constraint, self.batch.own_rows_of(e));
    }

    /// C where it is linear.
    fn evaluate_linear_constraint(&mut self, e: usize, t: f64) {
        let Sizes { m, p, .. } = self.batch.sizes;
        self.rows[..m].fill(0.0);
        let own = &self.u[e * p..(e + 1) * p];
        self.batch.models[e].constraint(t, &self.x.q, own, &mut self.rows[..m]);
    }

    /// D and C.
    pub fn residual(
        &mut self,
        x: &Point<'_>,
        Equations { forces, level }: Equations,
        values: &mut Values,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) {
        let batch = self.batch;
        let (structure, plans) = (&batch.structure, &batch.plans);
        let MotionKernels { evaluates_force, constrains, .. } = self.motion;
        if !batch.moves() && !constrains {
            return;
        }
        let Sizes { m, p, .. } = batch.sizes;
        for (e, model) in batch.models.iter().enumerate() {
            if evaluates_force && forces {
                self.add_force(e, x, dynamics);
            }
            if structure.mass_by_position {
                gather(&mut self.x.q, x.q, batch.coordinates_of(e));
                self.update_mass(e, values);
            }
            self.add_inertia(e, x, values, dynamics);
            if forces {
                self.add_constant_force(e, dynamics);
            }
            if !constrains {
                continue;
            }
            self.take_constraint(e, x);
            if let Some(kernel) = &mut self.motion.jacobian {
                let at = ConstraintPoint { t: x.t, q: &self.x.q, u: &self.u[e * p..(e + 1) * p] };
                kernel.evaluate(&**model, at, &mut self.rows[..m], &mut self.motion.slopes);
                copy(&self.motion.slopes, &mut values.jacobian[batch.places(e, |p| p.jacobian)], &plans.slopes);
            } else if level == Level::Position {
                self.evaluate_linear_constraint(e, x.t);
            }
            if level != Level::Position {
                self.take_level(e, x, level);
            }
            self.add_constraint(e, values, dynamics, constraint);
        }
    }

    /// The same, and what changes from point to point in Newton's matrix.
    pub fn newton(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        values: &mut Values,
        [dynamics, constraint]: [&mut [f64]; 2],
        matrix: &mut [f64],
    ) {
        let (batch, slots) = (self.batch, self.slots);
        let (structure, plans) = (&batch.structure, &batch.plans);
        let Equations { forces, level } = weights.equations;
        let MotionKernels { evaluates_force, constrains, .. } = self.motion;
        if !batch.moves() && !constrains {
            return;
        }
        let p = batch.sizes.p;
        for (e, model) in batch.models.iter().enumerate() {
            if !structure.linear_motion {
                self.take_motion(e, x);
                let own = &self.u[e * p..(e + 1) * p];
                let MotionKernels { newton, entries, .. } = &mut self.motion;
                let entries = &mut entries[..plans.strides.newton];
                entries.fill(0.0);
                newton.set_parameters(own);
                let mass = &mut values.mass[batch.places(e, |p| p.mass)];
                newton.evaluate(&**model, &self.x.point(x.t), weights, &mut self.force, entries, mass);
                scatter(&self.force, dynamics, batch.coordinates_of(e));
                add(matrix, &slots.newton[batch.places(e, |p| p.newton)], entries, 1.0);
            } else if evaluates_force && forces {
                self.add_force(e, x, dynamics);
            }
            if !structure.mass_by_position {
                self.add_inertia(e, x, values, dynamics);
            }
            if forces {
                self.add_constant_force(e, dynamics);
            }
            if !constrains {
                continue;
            }
            self.take_constraint(e, x);
            if self.motion.curvature.is_some() {
                self.bend(e, x, weights, values, matrix);
            } else if level == Level::Position {
                self.evaluate_linear_constraint(e, x.t);
            }
            if level != Level::Position {
                self.take_level(e, x, level);
                if weights.rate() != 0.0 && self.motion.curvature.is_some() {
                    self.bend_rates(e, x, weights, values, matrix);
                }
            }
            self.add_constraint(e, values, dynamics, constraint);
        }
    }

    /// C, C_q and d(C_qᵀ λ) of element `e`, where constraints are not linear.
    #[inline]
    fn bend(&mut self, e: usize, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]) {
        let (batch, slots) = (self.batch, self.slots);
        let (plans, Sizes { m, p, .. }) = (&batch.plans, batch.sizes);
        let MotionKernels { curvature: Some(kernel), slopes, second_slopes, .. } = &mut self.motion else { return };
        let at = ConstraintPoint { t: x.t, q: &self.x.q, u: &self.u[e * p..(e + 1) * p] };
        kernel.evaluate(&*batch.models[e], at, &self.x.lambda, &mut self.rows[..m], slopes, second_slopes);
        let places = batch.places(e, |p| p.jacobian);
        copy(slopes, &mut values.jacobian[places.clone()], &plans.slopes);
        add_slopes(slots, places.start, &plans.slopes, &values.jacobian, matrix);
        add(matrix, &slots.geometric[batch.places(e, |p| p.geometric)], second_slopes, weights.position);
    }

    /// The derivatives of dC/dt by the coordinates in which constraints are not linear.
    fn bend_rates(&mut self, e: usize, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]) {
        let (batch, p) = (self.batch, self.batch.sizes.p);
        let (own, u) = (self.x.point(x.t), &self.u[e * p..(e + 1) * p]);
        let (curved, slopes) = (&batch.structure.curved_coordinates, &mut self.motion.rate_slopes);
        self.time_derivatives.slopes(&*batch.models[e], &own, u, curved, slopes);
        let places = batch.places(e, |p| p.jacobian);
        copy(&slopes[1], &mut values.rates[0][places.clone()], &batch.plans.slopes);
        add(matrix, &self.slots.jacobian[places.clone()], &values.rates[0][places], weights.rate());
    }

    /// All first derivatives, and what changes from point to point in Newton's matrix.
    pub fn linearise(&mut self, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]) {
        let Batch { models, structure, plans, .. } = self.batch;
        let moves = if structure.linear_motion { plans.strides.by_parameter > 0 } else { self.batch.moves() };
        let bends = self.motion.constrains && self.motion.full_curvature.is_some();
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
        let Batch { models, structure, plans, .. } = batch;
        let p = batch.sizes.p;
        let by_parameter = batch.places(e, |p| p.by_parameter);
        let MotionKernels { full, by_parameters, entries, .. } = &mut self.motion;
        let (kernel, count) = match structure.linear_motion {
            true => (by_parameters, plans.strides.by_parameter),
            false => (full, plans.full_entries.len()),
        };
        let entries = &mut entries[..count];
        entries.fill(0.0);
        kernel.set_parameters(&self.u[e * p..(e + 1) * p]);
        let c = batch.coordinates_of(e);
        gather(&mut self.x.q, x.q, c);
        gather(&mut self.x.v, x.v, c);
        gather(&mut self.x.a, x.a, c);
        gather(&mut self.x.w, x.w, batch.inputs_of(e));
        let mass = batch.places(e, |p| p.mass);
        let own_mass = &mut values.mass[mass.clone()];
        let separate = separate(weights.equations);
        kernel.evaluate(&*models[e], &self.x.point(x.t), separate, &mut self.force, entries, own_mass);
        if structure.linear_motion {
            values.by_parameter[by_parameter].copy_from_slice(entries);
            return;
        }
        let [own_position, own_velocity, own_parameter] = plans.full_entries.split(entries);
        values.by_parameter[by_parameter].copy_from_slice(own_parameter);
        let position = batch.places(e, |p| p.position);
        values.position[position.clone()].copy_from_slice(own_position);
        add(matrix, &slots.position[position], own_position, weights.position);
        let velocity = batch.places(e, |p| p.velocity);
        values.velocity[velocity.clone()].copy_from_slice(own_velocity);
        add(matrix, &slots.velocity[velocity], own_velocity, weights.velocity);
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
        let (plans, model, Sizes { m, p, .. }) = (&batch.plans, &*batch.models[e], batch.sizes);
        self.take_constraint(e, x);
        let own = &self.u[e * p..(e + 1) * p];
        let MotionKernels { full_curvature: Some(kernel), slopes, second_slopes, rate_slopes, .. } = &mut self.motion
        else {
            return;
        };
        let at = ConstraintPoint { t: x.t, q: &self.x.q, u: own };
        kernel.evaluate(model, at, &self.x.lambda, &mut self.rows[..m], slopes, second_slopes);
        let jacobian = batch.places(e, |p| p.jacobian);
        copy(slopes, &mut values.jacobian[jacobian.clone()], &plans.full_slopes);
        add_slopes(slots, jacobian.start, &plans.slopes, &values.jacobian, matrix);
        let geometric = batch.places(e, |p| p.geometric);
        copy(second_slopes, &mut values.geometric[geometric.clone()], &plans.full_geometric);
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
        self.time_derivatives.slopes(model, &self.x.point(x.t), own, &plans.variables, rate_slopes);
        for (level, slopes) in rate_slopes[1..].iter().enumerate() {
            copy(slopes, &mut values.rates[level][jacobian.clone()], &plans.full_slopes);
            copy(slopes, &mut values.rates_by_parameter[level][by_parameter.clone()], &plans.full_by_parameter);
        }
        add(matrix, &slots.jacobian[jacobian.clone()], &values.rates[0][jacobian], weights.rate());
    }
}
