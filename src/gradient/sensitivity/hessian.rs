//! Exact second derivatives of the discretised problem (Ding 2012, in discrete form): tangents forwards, then the adjoint's sweep
//! together with its own derivative along each of them.
//!
//! One direction gives a Hessian-vector product, the unit directions give the Hessian; forward run, linearisations and
//! factorisations are shared by all directions. Where the last run was a gradient at the same parameters, its states serve again.
//! Tangents are kept as states are: all of them, or those of a segment, with what it takes to find others once more at checkpoints.

use super::Gradient;
use super::between_steps::BetweenSteps;
use super::sensor_run::SensorRun;
use crate::memory;
use crate::scheme::Direction;
use crate::simulate::{Between, TangentPropagation, Workspace};
use crate::system::StateVector;
use crate::{Error, Result};

impl Gradient<'_> {
    /// The Hessian of the cost at `u`, p x p, symmetric up to round-off; and the gradient. Returns the cost.
    ///
    /// # Errors
    /// Wrong parameters, a simulation that fails; [`Error::Invalid`] if states and tangents of a few steps need more memory than
    /// they may take.
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

    /// The Hessian times each of some of `all` directions, which several evaluations share: to the last bit what one of them would find for
    /// them.
    ///
    /// # Errors
    /// As [`Gradient::hessian`].
    pub fn hessian_vectors_of(
        &mut self,
        all: usize,
        u: &[f64],
        along: &[Vec<f64>],
        gradient: &mut [f64],
        products: &mut [Vec<f64>],
    ) -> Result<f64> {
        self.workspace.evaluator.divide_tangents(all);
        let cost = self.hessian_vectors(u, along, gradient, products);
        self.workspace.evaluator.divide_tangents(0);
        cost
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
        self.workspace.plan(along.len() * layout.size())?;
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
        let by_inputs = vec![vec![0.0; self.by_inputs.len()]; along.len()];
        let direction =
            |x: &StateVector| Direction { before: zero.clone(), tangent: x.clone(), cotangent: zero.clone() };
        let directions = tangents.iter().map(direction).collect();
        let size = layout.size();
        let mut along = SweepDirections { tangents, size, directions, along, by_inputs, ..SweepDirections::default() };
        along.begin(&mut self.workspace)?;
        self.watch_along(&mut along)?;
        let (u, _) = self.split(u)?;
        self.see_along(u, &mut along)?;
        let total = self.sweep(u, gradient, &mut along)?;
        self.clear_inactive(gradient);
        let directions = along.directions.iter().zip(along.by_inputs);
        for (d, (product, (direction, by_inputs))) in products.iter_mut().zip(directions).enumerate() {
            product.u.clone_from(&direction.cotangent.u);
            if let Some(sensor_run) = &self.sensor_run {
                product.u.extend_from_slice(&sensor_run.along[d].own_bar);
            }
            self.clear_inactive(&mut product.u);
            product.w = by_inputs;
        }
        Ok(total)
    }

    /// Goes through the stored run and its tangents, where outputs are followed, or sensors watch.
    fn watch_along(&mut self, along: &mut SweepDirections<'_>) -> Result<()> {
        let (continuous, y, sensor_run) = (&mut self.continuous, &mut self.y, &mut self.sensor_run);
        if !continuous.any() && sensor_run.is_none() {
            return Ok(());
        }
        let mut y_tangent = vec![0.0; y.len()];
        continuous.restart();
        let given = self.workspace.simulation.given();
        let mut between_steps = BetweenSteps::of(given, &self.bar, along.directions.len());
        for i in 0..=given.grid().count() {
            let k = given.step_of(i);
            self.workspace.reach_with(k, along)?;
            along.go_to(k, given.rows_of(k));
            let Workspace { simulation, states, evaluator, room, .. } = &mut self.workspace;
            let x = states.view(i, simulation, room);
            if continuous.any() {
                evaluator.output(&x, y);
                continuous.follow(y);
            }
            if let Some(SensorRun { sensors, along: histories, .. }) = sensor_run {
                evaluator.linearise_output_for_tangents(&x, along.directions.len());
                let directions = match Between::of(given, i, k) {
                    None => &along.directions,
                    Some(between) => between_steps.enter(between, (i, k), along).1,
                };
                for (histories, direction) in histories.iter_mut().zip(directions) {
                    y_tangent.fill(0.0);
                    evaluator.output_push_forward(&direction.tangent, &mut y_tangent);
                    SensorRun::watch(histories, sensors, i, &y_tangent);
                }
            }
        }
        Ok(())
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
    /// Change of the parameters, one entry each.
    pub u: Vec<f64>,
    /// Change of the inputs, one entry for each of [`Gradient::by_inputs`]; or none.
    pub w: Vec<f64>,
}

/// Gives tangents the changes of the inputs in the row of a step's end, and in that of the others that it sees.
pub(super) fn take_inputs_along<'t>(
    (row, other): (usize, Option<usize>),
    along: &[Change],
    tangents: impl Iterator<Item = &'t mut StateVector>,
) {
    for (tangent, along) in tangents.zip(along).filter(|(_, along)| !along.w.is_empty()) {
        let count = tangent.w.len();
        let change = |row: usize| &along.w[row * count..(row + 1) * count];
        tangent.w.copy_from_slice(change(row));
        other.into_iter().for_each(|other| tangent.w_other.copy_from_slice(change(other)));
    }
}

/// Directions along which a sweep is differentiated, with their tangents of the times whose states are there.
#[derive(Default)]
pub(super) struct SweepDirections<'a> {
    /// Tangents of times from `first` on, one state after another.
    stored: Vec<f64>,
    first: usize,
    /// Tangents of the start, and those of the state that the scheme makes of it.
    origin: Vec<f64>,
    begun: Vec<f64>,
    /// Numbers a tangent.
    size: usize,
    /// Tangents on their way along the run.
    tangents: Vec<StateVector>,
    pub directions: Vec<Direction>,
    along: &'a [Change],
    /// Derivatives by the inputs at all times, one list a direction.
    by_inputs: Vec<Vec<f64>>,
}

/// Remedy where tangents take too much memory.
const FEWER_DIRECTIONS: &str = "take fewer directions at once (one by one: `hessian_vector`), or fewer steps";

impl SweepDirections<'_> {
    /// Takes the tangents of the start of the stored run, and makes room for those that follow.
    fn begin(&mut self, run: &mut Workspace<'_>) -> Result<()> {
        run.reach(0)?;
        run.forget_orders();
        take_inputs_along(run.simulation.rows_of(0), self.along, self.tangents.iter_mut());
        run.push_start(&mut self.tangents)?;
        self.tangents.iter().for_each(|x| put(x, &mut self.origin));
        run.push_step(0, &mut self.tangents)?;
        self.tangents.iter().for_each(|x| put(x, &mut self.begun));
        let each = self.origin.len();
        let plan = run.accompany(self, each)?;
        let what = || run.simulation.kept(&format!("states, and tangents along {} directions,", self.directions.len()));
        memory::reserve(&mut self.stored, (plan.length + 1).saturating_mul(each), what, FEWER_DIRECTIONS)
    }

    /// Takes the tangents of the end of step `i`, of the state from which it began, and of its inputs.
    pub fn go_to(&mut self, i: usize, (row, other): (usize, Option<usize>)) {
        let count = self.directions.len();
        for (k, direction) in self.directions.iter_mut().enumerate() {
            let state = |i: usize| &self.stored[((i - self.first) * count + k) * self.size..][..self.size];
            get(state(i), &mut direction.tangent);
            match i {
                0 => get(state(0), &mut direction.before),
                1 => get(&self.begun[k * self.size..][..self.size], &mut direction.before),
                _ => get(state(i - 1), &mut direction.before),
            }
        }
        take_inputs_along((row, other), self.along, self.directions.iter_mut().map(|direction| &mut direction.tangent));
    }

    /// The tangents at time `i` in step `k`, whose end was gone to.
    pub fn between(&self, between: Between, (i, k): (usize, usize), between_steps: &mut [Direction]) {
        for (d, (own, Direction { tangent, before, .. })) in between_steps.iter_mut().zip(&self.directions).enumerate()
        {
            own.tangent.u.copy_from_slice(&tangent.u);
            if k == 1 {
                // not what the scheme has made of the start
                get(&self.stored[d * self.size..][..self.size], &mut own.before);
                between.tangent(&own.before, tangent, &mut own.tangent);
            } else {
                between.tangent(before, tangent, &mut own.tangent);
            }
        }
        take_inputs_along((i, None), self.along, between_steps.iter_mut().map(|own| &mut own.tangent));
    }

    /// Keeps the cotangents of the inputs of one direction.
    pub fn take_inputs_of(&mut self, d: usize, rows: (usize, Option<usize>), cotangent: &mut StateVector) {
        super::adjoint::take_inputs(rows, cotangent, &mut self.by_inputs[d]);
    }

    /// Keeps the cotangents of the inputs in the row of a step's end, and in that of the others that it sees.
    pub fn take_inputs(&mut self, rows: (usize, Option<usize>)) {
        for (Direction { cotangent, .. }, by_inputs) in self.directions.iter_mut().zip(&mut self.by_inputs) {
            super::adjoint::take_inputs(rows, cotangent, by_inputs);
        }
    }
}

impl TangentPropagation for SweepDirections<'_> {
    fn save(&self, numbers: &mut Vec<f64>) {
        self.tangents.iter().for_each(|x| put(x, numbers));
    }

    fn load(&mut self, numbers: &[f64]) {
        self.tangents.iter_mut().zip(numbers.chunks_exact(self.size)).for_each(|(x, own)| get(own, x));
    }

    fn follow(&mut self, run: &mut Workspace<'_>, (from, to): (usize, usize)) -> Result<()> {
        let SweepDirections { stored, first, origin, tangents, along, .. } = self;
        *first = from;
        stored.clear();
        match from {
            0 => stored.extend_from_slice(origin),
            _ => tangents.iter().for_each(|x| put(x, stored)),
        }
        for i in from + 1..=to {
            run.simulation.go_to(i)?;
            take_inputs_along(run.simulation.rows_of(i), along, tangents.iter_mut());
            run.push_step(i, tangents)?;
            tangents.iter().for_each(|x| put(x, stored));
        }
        Ok(())
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
