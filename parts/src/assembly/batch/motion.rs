//! Equations of motion and constraints of a batch, with first derivatives: the time loop.

mod by_parameters;
mod constants;
mod differentiate;
mod linearise;

use super::super::pattern::{Slots, Values};
use super::local::{LocalState, gather, scatter};
use super::plans::Copied;
use super::{Batch, BatchEvaluator};
use by_parameters::Coefficients;
use costate::linearise::{
    CurvatureKernel, ForceKernel, JacobianKernel, Sizes, curvature_kernel, force_kernel, jacobian_kernel,
};
use costate::system::{Equations, Level, Point, Weights};
use differentiate::ClosedForms;

pub(super) struct MotionKernels<'s> {
    newton: Box<dyn ForceKernel + 's>,
    full: Box<dyn ForceKernel + 's>,
    by_parameters: Box<dyn ForceKernel + 's>,
    /// Derivatives of constraints by the coordinates in which they are not linear, if there are such.
    jacobian: Option<Box<dyn JacobianKernel>>,
    curvature: Option<Box<dyn CurvatureKernel>>,
    /// By these and the parameters.
    full_curvature: Option<Box<dyn CurvatureKernel>>,
    /// Forces that depend on parameters alone, or what of forces does.
    constant_force: Vec<f64>,
    /// True if any entry of `constant_force` is other than zero.
    pushes: bool,
    /// Forces are multiplied out.
    multiplies: bool,
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
    closed: ClosedForms,
    /// Of derivatives of linear motion by parameters.
    coefficients: Option<Coefficients>,
}

impl<'s> MotionKernels<'s> {
    pub fn new(batch: &'s Batch) -> Self {
        let Batch { sizes, structure, plans, own_rows, .. } = batch;
        let Sizes { n, m, .. } = *sizes;
        let with_mass = structure.mass_by_position || structure.mass_by_parameter;
        let curved = &structure.curved_coordinates;
        let constant_force = batch.multiplies_force();
        let count = plans.variables.len();
        let zeros = |count: usize| vec![0.0; count];
        let forces =
            |plan: &costate::linearise::Plan, with_mass| force_kernel(*sizes, plan.clone(), &structure.mass, with_mass);
        let curvature = |variables: &Vec<usize>| curvature_kernel(*sizes, &structure.constraint, variables.clone());
        MotionKernels {
            newton: forces(&plans.newton, structure.mass_by_position),
            full: forces(&plans.full, with_mass),
            by_parameters: forces(&plans.by_parameters, with_mass),
            jacobian: (!curved.is_empty()).then(|| jacobian_kernel(*sizes, curved.clone())),
            curvature: (!curved.is_empty()).then(|| curvature(curved)),
            full_curvature: (count > 0).then(|| curvature(&plans.variables)),
            multiplies: constant_force,
            pushes: false,
            constant_force: zeros(if constant_force { n * batch.models.len() } else { 0 }),
            evaluates_force: structure.has_force && !constant_force,
            constrains: *own_rows > 0,
            entries: zeros(plans.full_entries.count().max(plans.newton_entries.len())),
            slopes: zeros(m * count.max(n)),
            second_slopes: zeros(count * count),
            rate_slopes: [(); 3].map(|()| zeros(m * count)),
            constant_slopes: [Vec::new(), Vec::new()],
            acts: true,
            closed: ClosedForms::new(batch),
            coefficients: Coefficients::new(batch),
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
    /// Evaluates the constraints of element `e`, whose q and λ are in place, at a level above positions; at velocities, with the
    /// derivatives that are asked for.
    fn take_level(&mut self, e: usize, x: &Point<'_>, level: Level) {
        let (batch, own) = (self.batch, &mut self.x);
        let c = batch.coordinates_of(e);
        gather(&mut own.v, x.v, c);
        gather(&mut own.a, x.a, c);
        let Sizes { m, p, .. } = batch.sizes;
        let (own, u) = (self.x.point(x.t), &self.u[e * p..(e + 1) * p]);
        self.time_derivatives.value(batch.models.get(e), level, &own, u, &mut self.rows[..m]);
    }

    /// Adds to the matrix what derivatives by states have beyond those by velocities, where they follow the unknown by another weight.
    fn add_states(&self, e: usize, weights: Weights, values: &Values, matrix: &mut [f64]) {
        let Batch { sizes: Sizes { n, states, .. }, plans, .. } = self.batch;
        let beyond = weights.state - weights.velocity;
        if *states == 0 || beyond == 0.0 {
            return;
        }
        let places = self.batch.places(e, |p| p.velocity);
        let own = plans.full_entries.velocity.iter().zip(places).filter(|((_, column), _)| *column >= n - states);
        own.for_each(|(_, place)| matrix[self.slots.velocity[place] as usize] += beyond * values.velocity[place]);
    }

    /// Takes the entries of M of element `e` at its q.
    fn update_mass(&mut self, e: usize, values: &mut Values) {
        let batch = self.batch;
        let p = batch.sizes.p;
        self.mass_matrix.fill(0.0);
        batch.models.get(e).mass(&self.x.q, &self.u[e * p..(e + 1) * p], &mut self.mass_matrix);
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
        batch.models.get(e).force(x.t, q, v, w, &self.u[e * p..(e + 1) * p], &mut self.force);
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

    /// Takes away forces that are multiplied out.
    #[inline]
    fn add_linear_force(&self, e: usize, x: &Point<'_>, dynamics: &mut [f64]) {
        let (n, plans, c) = (self.batch.sizes.n, &self.batch.plans, self.batch.coordinates_of(e));
        let MotionKernels { constant_force, pushes, multiplies, .. } = &self.motion;
        if !multiplies {
            return;
        }
        if *pushes {
            for (&place, force) in c.iter().zip(&constant_force[e * n..(e + 1) * n]) {
                dynamics[place as usize] -= force;
            }
        }
        let [by_position, by_velocity] = &self.motion.constant_slopes;
        let entries =
            [(&plans.full_entries.position, by_position, x.q), (&plans.full_entries.velocity, by_velocity, x.v)];
        for (entries, slopes, x) in entries {
            let own = &slopes[e * entries.len()..(e + 1) * entries.len()];
            for (&(row, column), slope) in entries.iter().zip(own) {
                dynamics[c[row] as usize] += slope * x[c[column] as usize];
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
        self.batch.models.get(e).constraint(t, &self.x.q, own, &mut self.rows[..m]);
    }

    /// Adds D and C.
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
        for e in 0..batch.models.len() {
            if evaluates_force && forces {
                self.add_force(e, x, dynamics);
            }
            if structure.mass_by_position {
                gather(&mut self.x.q, x.q, batch.coordinates_of(e));
                self.update_mass(e, values);
            }
            self.add_inertia(e, x, values, dynamics);
            if forces {
                self.add_linear_force(e, x, dynamics);
            }
            if !constrains {
                continue;
            }
            self.take_constraint(e, x);
            if self.motion.jacobian.is_some() {
                self.slope(e, x.t);
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

    /// Adds D and C, and what changes from point to point in Newton's matrix.
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
        for e in 0..batch.models.len() {
            if !structure.linear_motion {
                self.take_motion(e, x);
                self.move_newton(e, x, weights, values);
                scatter(&self.force, dynamics, batch.coordinates_of(e));
                let entries = &self.motion.entries[..plans.strides.newton];
                add(matrix, &slots.newton[batch.places(e, |p| p.newton)], entries, 1.0);
            } else if evaluates_force && forces {
                self.add_force(e, x, dynamics);
            }
            if !structure.mass_by_position {
                self.add_inertia(e, x, values, dynamics);
            }
            if forces {
                self.add_linear_force(e, x, dynamics);
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
        let plans = &batch.plans;
        // where positions are known, second derivatives are no part of the matrix
        match weights.position == 0.0 {
            true => self.slope(e, x.t),
            false => self.curve(e, x.t),
        }
        let MotionKernels { slopes, second_slopes, .. } = &self.motion;
        let places = batch.places(e, |p| p.jacobian);
        copy(slopes, &mut values.jacobian[places.clone()], &plans.slopes);
        add_slopes(slots, places.start, &plans.slopes, &values.jacobian, matrix);
        if weights.position != 0.0 {
            add(matrix, &slots.geometric[batch.places(e, |p| p.geometric)], second_slopes, weights.position);
        }
    }

    /// The derivatives of dC/dt by the coordinates in which constraints are not linear.
    fn bend_rates(&mut self, e: usize, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]) {
        let (batch, p) = (self.batch, self.batch.sizes.p);
        let (own, u) = (self.x.point(x.t), &self.u[e * p..(e + 1) * p]);
        let (curved, slopes) = (&batch.structure.curved_coordinates, &mut self.motion.rate_slopes);
        self.time_derivatives.slopes(batch.models.get(e), &own, u, curved, slopes);
        let places = batch.places(e, |p| p.jacobian);
        copy(&slopes[1], &mut values.rates[0][places.clone()], &batch.plans.slopes);
        add(matrix, &self.slots.jacobian[places.clone()], &values.rates[0][places], weights.rate());
    }
}
