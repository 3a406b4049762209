//! Derivatives of one element: in closed form where it knows them, by dual numbers where it does not.

use super::super::super::closed::{ConstraintSlopes, MotionSlopes};
use super::super::super::pattern::Values;
use super::super::{Batch, BatchEvaluator};
use super::{MotionKernels, add, copy};
use costate::linearise::{ConstraintPoint, Sizes, separate};
use costate::system::{Point, Weights};

/// Room for all derivatives of an element that knows them, and which of them are entries.
pub(super) struct ClosedForms {
    mass: Vec<f64>,
    by_position: Vec<f64>,
    by_velocity: Vec<f64>,
    by_parameter: Vec<f64>,
    /// Places of the entries of Newton's matrix, and of M.
    newton: Vec<usize>,
    mass_places: Vec<usize>,
    /// Places of the entries of all derivatives: by positions, velocities and parameters.
    full: [Vec<usize>; 3],
    /// Parameters that are not constant.
    parameters: Vec<usize>,
}

impl ClosedForms {
    pub fn new(batch: &Batch) -> Self {
        let Batch { sizes: Sizes { n, p, .. }, structure, plans, closed, .. } = batch;
        let room = |count: usize| vec![0.0; if closed.motion { count } else { 0 }];
        let places = |entries: &[(usize, usize)], stride: usize| match closed.motion {
            true => entries.iter().map(|&(row, column)| row * stride + column).collect(),
            false => Vec::new(),
        };
        let full = &plans.full_entries;
        ClosedForms {
            mass: room(n * n),
            by_position: room(n * n),
            by_velocity: room(n * n),
            by_parameter: room(n * p),
            newton: places(&plans.newton_entries, *n),
            mass_places: places(&structure.mass, *n),
            parameters: {
                let mut all: Vec<usize> = full.parameter.iter().map(|entry| entry.1).collect();
                all.sort_unstable();
                all.dedup();
                all
            },
            full: [places(&full.position, *n), places(&full.velocity, *n), places(&full.parameter, *p)],
        }
    }
}

impl ClosedForms {
    /// Entries of Newton's matrix from derivatives that are in place.
    #[inline]
    fn combine(&self, weights: Weights, entries: &mut [f64]) {
        let ClosedForms { mass, by_position, by_velocity, newton, .. } = self;
        for (entry, &place) in entries.iter_mut().zip(newton) {
            let by_state = weights.position * by_position[place] + weights.velocity * by_velocity[place];
            *entry = weights.acceleration * mass[place] + by_state;
        }
    }
}

/// The place that second derivatives of constraints are written to.
enum Second<'v> {
    /// Nowhere: they are not asked for.
    None,
    /// Aside, for Newton's matrix.
    Aside,
    /// Written in place, where there are none by parameters.
    Into(&'v mut [f64]),
}

/// Puts the values at these places one behind the other.
#[inline]
fn pick(values: &[f64], places: &[usize], to: &mut [f64]) {
    to.iter_mut().zip(places).for_each(|(to, &place)| *to = values[place]);
}

impl BatchEvaluator<'_> {
    /// The constraints of element `e` in closed form, with second derivatives if asked for; false if it does not know them.
    #[inline]
    fn differentiate_constraint(&mut self, e: usize, second: Second<'_>) -> bool {
        let batch = self.batch;
        let known =
            if matches!(second, Second::Into(_)) { batch.closed.whole_constraint } else { batch.closed.constraint };
        let Some(own) = batch.models.get(e).closed_constraint().filter(|_| known) else { return false };
        let Sizes { m, p, .. } = batch.sizes;
        let count = batch.structure.curved_coordinates.len();
        let MotionKernels { slopes, second_slopes, .. } = &mut self.motion;
        let curvature = match second {
            Second::None => None,
            Second::Aside => Some(&mut second_slopes[..count * count]),
            Second::Into(place) => Some(place),
        };
        let curvature = curvature.map(|place| (&self.x.lambda[..m], place));
        let to = ConstraintSlopes { value: &mut self.rows[..m], slopes: &mut slopes[..m * count], curvature };
        own.differentiate(&self.x.q, &self.u[e * p..(e + 1) * p], to);
        true
    }

    /// C of element `e` and its derivatives by the coordinates in which it is not linear.
    #[inline]
    pub(super) fn slope(&mut self, e: usize, t: f64) {
        let batch = self.batch;
        if self.differentiate_constraint(e, Second::None) {
            return;
        }
        let Sizes { m, p, .. } = batch.sizes;
        let at = ConstraintPoint { t, q: &self.x.q, u: &self.u[e * p..(e + 1) * p] };
        if let MotionKernels { jacobian: Some(kernel), slopes, .. } = &mut self.motion {
            kernel.evaluate(batch.models.get(e), at, &mut self.rows[..m], slopes);
        }
    }

    /// C of element `e` with its first and second derivatives by the coordinates in which it is not linear.
    #[inline]
    pub(super) fn curve(&mut self, e: usize, t: f64) {
        let batch = self.batch;
        if self.differentiate_constraint(e, Second::Aside) {
            return;
        }
        let Sizes { m, p, .. } = batch.sizes;
        let at = ConstraintPoint { t, q: &self.x.q, u: &self.u[e * p..(e + 1) * p] };
        if let MotionKernels { curvature: Some(kernel), slopes, second_slopes, .. } = &mut self.motion {
            kernel.evaluate(batch.models.get(e), at, &self.x.lambda, &mut self.rows[..m], slopes, second_slopes);
        }
    }

    /// C of element `e` with its first and second derivatives, by parameters, too; second derivatives are in place among all derivatives
    /// of the assembly.
    #[inline]
    pub(super) fn curve_fully(&mut self, e: usize, t: f64, values: &mut Values) {
        let batch = self.batch;
        let geometric = &mut values.geometric[batch.places(e, |p| p.geometric)];
        if self.differentiate_constraint(e, Second::Into(&mut *geometric)) {
            return;
        }
        let Sizes { m, p, .. } = batch.sizes;
        let at = ConstraintPoint { t, q: &self.x.q, u: &self.u[e * p..(e + 1) * p] };
        if let MotionKernels { full_curvature: Some(kernel), slopes, second_slopes, .. } = &mut self.motion {
            kernel.evaluate(batch.models.get(e), at, &self.x.lambda, &mut self.rows[..m], slopes, second_slopes);
            copy(second_slopes, geometric, &batch.plans.full_geometric);
        }
    }

    /// The equations of motion of element `e` in closed form; false if it does not know them.
    #[inline]
    fn differentiate_motion(&mut self, e: usize, known: bool, with_parameters: bool) -> bool {
        let batch = self.batch;
        let Some(own) = batch.models.get(e).closed_motion().filter(|_| known) else { return false };
        let ClosedForms { mass, by_position, by_velocity, by_parameter, parameters, .. } = &mut self.motion.closed;
        let by_parameter = with_parameters.then_some((&parameters[..], &mut by_parameter[..]));
        let p = batch.sizes.p;
        let to = MotionSlopes { value: &mut self.force, mass, by_position, by_velocity, by_parameter };
        own.differentiate([&self.x.q, &self.x.v, &self.x.a], &self.u[e * p..(e + 1) * p], to);
        true
    }

    /// D of element `e`, without constant forces, and its entries of Newton's matrix.
    #[inline]
    pub(super) fn move_newton(&mut self, e: usize, x: &Point<'_>, weights: Weights, values: &mut Values) {
        let batch = self.batch;
        let own_mass = &mut values.mass[batch.places(e, |p| p.mass)];
        let count = batch.plans.strides.newton;
        if self.differentiate_motion(e, batch.closed.motion && weights.equations.forces, false) {
            let MotionKernels { entries, closed, .. } = &mut self.motion;
            closed.combine(weights, &mut entries[..count]);
            pick(&closed.mass, &closed.mass_places, own_mass);
            return;
        }
        let p = batch.sizes.p;
        let MotionKernels { newton, entries, .. } = &mut self.motion;
        let entries = &mut entries[..count];
        entries.fill(0.0);
        newton.set_parameters(&self.u[e * p..(e + 1) * p]);
        newton.evaluate(batch.models.get(e), &self.x.point(x.t), weights, &mut self.force, entries, own_mass);
    }

    /// All derivatives of D of element `e` in closed form, and what changes in Newton's matrix; false if it does not know them.
    #[inline]
    pub(super) fn take_closed(&mut self, e: usize, weights: Weights, values: &mut Values, matrix: &mut [f64]) -> bool {
        let batch = self.batch;
        if !self.differentiate_motion(e, batch.closed.whole_motion && weights.equations.forces, true) {
            return false;
        }
        let MotionKernels { entries, closed, .. } = &mut self.motion;
        let ClosedForms { mass, by_position, by_velocity, by_parameter, mass_places, full, .. } = &*closed;
        pick(by_position, &full[0], &mut values.position[batch.places(e, |p| p.position)]);
        pick(by_velocity, &full[1], &mut values.velocity[batch.places(e, |p| p.velocity)]);
        pick(by_parameter, &full[2], &mut values.by_parameter[batch.places(e, |p| p.by_parameter)]);
        pick(mass, mass_places, &mut values.mass[batch.places(e, |p| p.mass)]);
        let entries = &mut entries[..batch.plans.strides.newton];
        closed.combine(weights, entries);
        add(matrix, &self.slots.newton[batch.places(e, |p| p.newton)], entries, 1.0);
        true
    }

    /// All derivatives of D of element `e` by dual numbers, one behind the other; by parameters alone where motion is linear.
    #[inline]
    pub(super) fn move_fully(&mut self, e: usize, x: &Point<'_>, weights: Weights, values: &mut Values) {
        let Batch { models, structure, plans, sizes, .. } = self.batch;
        let own_mass = &mut values.mass[self.batch.places(e, |p| p.mass)];
        let MotionKernels { full, by_parameters, entries, .. } = &mut self.motion;
        let (kernel, count) = match structure.linear_motion {
            true => (by_parameters, plans.strides.by_parameter),
            false => (full, plans.full_entries.count()),
        };
        let entries = &mut entries[..count];
        entries.fill(0.0);
        kernel.set_parameters(&self.u[e * sizes.p..(e + 1) * sizes.p]);
        let separate = separate(weights.equations);
        kernel.evaluate(models.get(e), &self.x.point(x.t), separate, &mut self.force, entries, own_mass);
    }
}
