//! Between the state of the assembly and that of one element.

use super::Batch;
use costate::linearise::Sizes;
use costate::system::{OutputPoint, Point, StateVector};

/// The state of one element.
pub(super) struct LocalState {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub a: Vec<f64>,
    pub a_scheme: Vec<f64>,
    pub lambda: Vec<f64>,
    pub w: Vec<f64>,
}

/// Copies the entries of a global vector that belong to an element.
#[inline]
pub(super) fn gather(local: &mut [f64], global: &[f64], places: &[u32]) {
    for (value, &place) in local.iter_mut().zip(places) {
        *value = global[place as usize];
    }
}

/// Copies the entries of a global vector that belong to an element into the head of `local`; the rest is zero.
pub(super) fn gather_head(local: &mut [f64], global: &[f64], places: &[u32]) {
    local.fill(0.0);
    gather(local, global, places);
}

#[inline]
pub(super) fn scatter(local: &[f64], global: &mut [f64], places: &[u32]) {
    for (value, &place) in local.iter().zip(places) {
        global[place as usize] += value;
    }
}

impl LocalState {
    pub fn new(sizes: Sizes) -> Self {
        let Sizes { n, m, inputs, .. } = sizes;
        let zeros = |count: usize| vec![0.0; count];
        LocalState { q: zeros(n), v: zeros(n), a: zeros(n), a_scheme: zeros(n), lambda: zeros(m), w: zeros(inputs) }
    }

    pub fn take(&mut self, batch: &Batch, e: usize, x: &Point<'_>) {
        let c = batch.coordinates_of(e);
        gather(&mut self.q, x.q, c);
        gather(&mut self.v, x.v, c);
        gather(&mut self.a, x.a, c);
        gather(&mut self.lambda, x.lambda, batch.rows_of(e));
        gather(&mut self.w, x.w, batch.inputs_of(e));
    }

    pub fn take_output(&mut self, batch: &Batch, e: usize, x: &OutputPoint<'_>) {
        let OutputPoint { t, q, v, a, a_scheme, lambda, w } = *x;
        self.take(batch, e, &Point { t, q, v, a, lambda, w });
        gather(&mut self.a_scheme, a_scheme, batch.coordinates_of(e));
    }

    #[inline]
    pub fn point(&self, t: f64) -> Point<'_> {
        Point { t, q: &self.q, v: &self.v, a: &self.a, lambda: &self.lambda, w: &self.w }
    }

    pub fn output_point(&self, t: f64) -> OutputPoint<'_> {
        let LocalState { q, v, a, a_scheme, lambda, w } = self;
        OutputPoint { t, q, v, a, a_scheme, lambda, w }
    }
}

/// Copies what belongs to element `e`; its parameters are the slots' values along the direction.
pub(super) fn gather_state(batch: &Batch, e: usize, global: &StateVector, local: &mut StateVector) {
    let c = batch.coordinates_of(e);
    gather(&mut local.q, &global.q, c);
    gather(&mut local.v, &global.v, c);
    gather(&mut local.a, &global.a, c);
    gather(&mut local.a_scheme, &global.a_scheme, c);
    gather(&mut local.lambda, &global.lambda, batch.rows_of(e));
    gather(&mut local.w, &global.w, batch.inputs_of(e));
    for (slot, value) in local.u.iter_mut().zip(batch.parameters_of(e)) {
        *slot = value.terms().iter().map(|&(k, factor)| factor * global.u[k]).sum();
    }
}

pub(super) fn scatter_state(batch: &Batch, e: usize, local: &StateVector, global: &mut StateVector) {
    let c = batch.coordinates_of(e);
    scatter(&local.q, &mut global.q, c);
    scatter(&local.v, &mut global.v, c);
    scatter(&local.a, &mut global.a, c);
    scatter(&local.a_scheme, &mut global.a_scheme, c);
    scatter(&local.lambda, &mut global.lambda, batch.rows_of(e));
    scatter(&local.w, &mut global.w, batch.inputs_of(e));
    for (slot, value) in local.u.iter().zip(batch.parameters_of(e)) {
        value.terms().iter().for_each(|&(k, factor)| global.u[k] += factor * slot);
    }
}

pub(super) fn clear(local: &mut StateVector) {
    local.clear_state();
    local.u.fill(0.0);
    local.w.fill(0.0);
}
