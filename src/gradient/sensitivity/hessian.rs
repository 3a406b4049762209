//! Exact second derivatives of the discretised problem (Ding 2012, in discrete form): tangents forwards, then the adjoint's sweep
//! together with its own derivative along each of them.
//!
//! One direction gives a Hessian-vector product, the unit directions give the Hessian; forward run, linearisations and
//! factorisations are shared by all directions. Where the last run was a gradient at the same parameters, its states serve again.

use super::Gradient;
use super::sensed::Sensed;
use crate::error::{Error, Result};
use crate::memory::{self, bytes_of};
use crate::scheme::Direction;
use crate::system::StateVector;

impl Gradient<'_> {
    /// The Hessian of the cost at `u`, p x p, symmetric up to round-off; and the gradient. Returns the cost.
    ///
    /// # Errors
    /// Wrong parameters, a simulation that fails; [`Error::Memory`] if the tangents of all times do not fit, before it runs.
    pub fn hessian(&mut self, u: &[f64], gradient: &mut [f64], hessian: &mut [Vec<f64>]) -> Result<f64> {
        let unit = |k: usize| (0..u.len()).map(|j| if j == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let directions: Vec<Vec<f64>> = (0..u.len()).map(unit).collect();
        self.hessian_vectors(u, &directions, gradient, hessian)
    }

    /// The Hessian times `direction`; and the gradient. Returns the cost.
    ///
    /// # Errors
    /// As [`Gradient::hessian`].
    pub fn hessian_vector(
        &mut self,
        u: &[f64],
        direction: &[f64],
        gradient: &mut [f64],
        product: &mut Vec<f64>,
    ) -> Result<f64> {
        let directions = [direction.to_vec()];
        self.hessian_vectors(u, &directions, gradient, std::slice::from_mut(product))
    }

    /// The Hessian times each of several directions `along`, in one sweep; and the gradient. Returns the cost.
    ///
    /// # Errors
    /// As [`Gradient::hessian`].
    pub fn hessian_vectors(
        &mut self,
        u: &[f64],
        along: &[Vec<f64>],
        gradient: &mut [f64],
        products: &mut [Vec<f64>],
    ) -> Result<f64> {
        let along: Vec<Change> = along.iter().map(|u| Change { u: u.clone(), w: Vec::new() }).collect();
        let mut all: Vec<Change> = products.iter().map(|u| Change { u: u.clone(), w: Vec::new() }).collect();
        let cost = self.hessian_changes(u, &along, gradient, &mut all)?;
        products.iter_mut().zip(all).for_each(|(product, change)| *product = change.u);
        Ok(cost)
    }

    /// The Hessian by parameters and by the inputs at all times, times each of several directions `along`; and the gradient, whose part
    /// by inputs is [`Gradient::by_inputs`]. Without [`Gradient::with_inputs`], directions have no inputs, and products get none.
    ///
    /// # Errors
    /// As [`Gradient::hessian`].
    pub fn hessian_changes(
        &mut self,
        u: &[f64],
        along: &[Change],
        gradient: &mut [f64],
        products: &mut [Change],
    ) -> Result<f64> {
        self.check_numbers(u, along, gradient, products)?;
        let simulation = self.workspace.simulation.given();
        let layout = self.workspace.layout;
        // tangents of all times, one state after another
        let size = layout.size();
        let mut stored = Vec::new();
        let numbers = (simulation.grid().count() + 2).saturating_mul(along.len() * size);
        let what = || simulation.kept(&format!("states, and tangents along {} directions,", along.len()));
        let remedy = "take fewer directions at once (one by one: `hessian_vector`, `--method hvp`), or fewer steps";
        memory::check(what, bytes_of(numbers) + bytes_of(self.workspace.numbers_missing()), remedy)?;
        memory::reserve(&mut stored, numbers, what, remedy)?;
        self.ensure_seen(u)?;
        self.choose(u)?;
        let model = self.bar.u.len();
        let mut changes: Vec<Vec<f64>> = along.iter().map(|along| along.u.clone()).collect();
        changes.iter_mut().for_each(|u| self.clear_inactive(u));
        let own: Vec<&[f64]> = changes.iter().map(|u| &u[model..]).collect();
        self.begin_along(&own)?;
        let zero = StateVector::with_memory(simulation.signature(), layout.memory);
        let mut tangents = vec![zero.clone(); along.len()];
        tangents.iter_mut().zip(&changes).for_each(|(tangent, u)| tangent.u.copy_from_slice(&u[..model]));
        let begun = self.store_tangents(&mut tangents, along, &mut stored)?;
        let (u, _) = self.split(u)?;
        self.see_along(u);
        let direction = |tangent: StateVector| Direction { before: zero.clone(), tangent, cotangent: zero.clone() };
        let directions = tangents.into_iter().map(direction).collect();
        let by_inputs = vec![vec![0.0; self.by_inputs.len()]; along.len()];
        let mut along = Along { stored, begun, size, directions, along, by_inputs };
        let total = self.sweep(u, gradient, &mut along)?;
        self.clear_inactive(gradient);
        let directions = along.directions.iter().zip(along.by_inputs);
        for (d, (product, (direction, by_inputs))) in products.iter_mut().zip(directions).enumerate() {
            product.u.clone_from(&direction.cotangent.u);
            if let Some(sensed) = &self.sensed {
                product.u.extend_from_slice(&sensed.along[d].own_bar);
            }
            self.clear_inactive(&mut product.u);
            product.w = by_inputs;
        }
        Ok(total)
    }

    /// Carries tangents along the stored run and keeps them at all times, one state after another; sensors watch. What the scheme made of
    /// those of the start.
    fn store_tangents(
        &mut self,
        tangents: &mut [StateVector],
        along: &[Change],
        stored: &mut Vec<f64>,
    ) -> Result<Vec<f64>> {
        let (continuous, y, sensed) = (&mut self.continuous, &mut self.y, &mut self.sensed);
        let mut y_tangent = vec![0.0; y.len()];
        continuous.restart();
        let mut begun = Vec::new();
        self.workspace.push_forward(
            tangents,
            &|i, tangents| take_inputs_along(i, along, tangents.iter_mut()),
            &mut |tangents| tangents.iter().for_each(|x| put(x, &mut begun)),
            &mut |i, evaluator, x, tangents| {
                if continuous.any() {
                    evaluator.output(x, y);
                    continuous.follow(y);
                }
                if let Some(Sensed { sensors, along, .. }) = sensed {
                    evaluator.linearise_output(x);
                    for (course, tangent) in along.iter_mut().zip(tangents.iter()) {
                        y_tangent.fill(0.0);
                        evaluator.output_push_forward(tangent, &mut y_tangent);
                        Sensed::watch(course, sensors, i, &y_tangent);
                    }
                }
                tangents.iter().for_each(|x| put(x, stored));
            },
        )?;
        Ok(begun)
    }

    fn check_numbers(&self, u: &[f64], along: &[Change], gradient: &[f64], products: &[Change]) -> Result<()> {
        let mut entries = along.iter().map(|along| along.u.len()).chain([gradient.len()]);
        let mut inputs = along.iter().map(|along| along.w.len());
        let fits = |count: usize| count == 0 || count == self.by_inputs.len();
        if along.len() == products.len() && entries.all(|count| count == u.len()) && inputs.all(fits) {
            return Ok(());
        }
        let problem = format!("their numbers of entries do not fit {} parameters and the inputs", u.len());
        let remedy = "give one entry a parameter, none or one an input and time, and one product a direction";
        Err(Error::invalid("the directions, products and gradient of second derivatives", problem, remedy))
    }
}

/// A change of the parameters, and of the inputs at all times, one time after another; or derivatives by them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    /// One entry a parameter.
    pub u: Vec<f64>,
    /// One entry an input and time, as [`Gradient::by_inputs`]; or none.
    pub w: Vec<f64>,
}

/// Gives tangents the changes of the inputs at time `i`, and at the start of those one step later.
pub(super) fn take_inputs_along<'t>(i: usize, along: &[Change], tangents: impl Iterator<Item = &'t mut StateVector>) {
    for (tangent, along) in tangents.zip(along).filter(|(_, along)| !along.w.is_empty()) {
        let count = tangent.w.len();
        tangent.w.copy_from_slice(&along.w[i * count..(i + 1) * count]);
        if i == 0 {
            tangent.w_next.copy_from_slice(&along.w[count..2 * count]);
        }
    }
}

/// Directions along which a sweep is differentiated, with their tangents of all times, one state after another.
#[derive(Default)]
pub(super) struct Along<'a> {
    stored: Vec<f64>,
    /// What the scheme made of those of the start.
    begun: Vec<f64>,
    /// Numbers a tangent.
    size: usize,
    pub directions: Vec<Direction>,
    along: &'a [Change],
    /// By the inputs at all times, one list a direction.
    by_inputs: Vec<Vec<f64>>,
}

impl Along<'_> {
    /// Takes the tangents of time `i`, and of the state from which the step to it began.
    pub fn go_to(&mut self, i: usize) {
        let count = self.directions.len();
        for (k, direction) in self.directions.iter_mut().enumerate() {
            let state = |i: usize| &self.stored[(i * count + k) * self.size..][..self.size];
            get(state(i), &mut direction.tangent);
            match i {
                0 => get(state(0), &mut direction.before),
                1 => get(&self.begun[k * self.size..][..self.size], &mut direction.before),
                _ => get(state(i - 1), &mut direction.before),
            }
        }
        take_inputs_along(i, self.along, self.directions.iter_mut().map(|direction| &mut direction.tangent));
    }

    /// Keeps the cotangents of the inputs at time `i`.
    pub fn take_inputs(&mut self, i: usize) {
        for (Direction { cotangent, .. }, by_inputs) in self.directions.iter_mut().zip(&mut self.by_inputs) {
            super::adjoint::take_inputs(i, cotangent, by_inputs);
        }
    }
}

/// Puts a tangent behind others, without its parameters.
fn put(x: &StateVector, stored: &mut Vec<f64>) {
    for part in [&x.q, &x.v, &x.a, &x.a_scheme, &x.lambda, &x.memory] {
        stored.extend_from_slice(part);
    }
}

/// Takes it back.
fn get(mut stored: &[f64], x: &mut StateVector) {
    for part in [&mut x.q, &mut x.v, &mut x.a, &mut x.a_scheme, &mut x.lambda, &mut x.memory] {
        let (own, rest) = stored.split_at(part.len());
        part.copy_from_slice(own);
        stored = rest;
    }
}
