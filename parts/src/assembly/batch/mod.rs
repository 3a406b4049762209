//! Elements of one type and structure, stored and evaluated together.

mod analysis;
mod local;
mod motion;
mod outputs;
mod plans;

use super::closed::{BatchElement, BatchElements};
use super::element::Connection;
use super::pattern::{Pattern, Places, Slots, Values};
use costate::Matrix;
use costate::linearise::{Curvature, Functions, RoundOff, Sizes, Structure, TimeDerivatives};
use costate::system::{Point, StateVector};
use costate::value::Value;
use local::LocalState;
use motion::MotionKernels;
use outputs::OutputKernels;
use plans::Plans;

/// Marks the number of a state among coordinates, behind all of which it comes when these are complete.
const STATE: u32 = 1 << 31;

/// The elements, with their places in the assembly, one element after another.
pub(super) struct Batch {
    models: Box<dyn BatchElements>,
    sizes: Sizes,
    /// Rows of the elements' own among the multipliers that they see.
    own_rows: usize,
    structure: Structure,
    /// Of each, coordinates, then states.
    coordinates: Vec<u32>,
    /// Multipliers: own rows, then others'.
    rows: Vec<u32>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    parameters: Vec<Value>,
    /// Places of the batch's first values.
    first: Places,
    plans: Plans,
    closed: Closed,
}

/// Derivatives that elements compute themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed {
    /// Constraints by the coordinates in which they are not linear.
    constraint: bool,
    /// And these are all that they are differentiated by.
    whole_constraint: bool,
    /// The equations of motion by positions, velocities and accelerations.
    motion: bool,
    /// And by all parameters that enter.
    whole_motion: bool,
}

impl Closed {
    pub fn of(model: &dyn BatchElement, structure: &Structure) -> Self {
        let constraint = model.closed_constraint().is_some_and(|own| own.curved() == structure.curved_coordinates)
            && !structure.curved_coordinates.is_empty();
        let without_parameters = structure.constraint_parameters.is_empty()
            && structure.curved_or_parametric == structure.curved_coordinates;
        // a mass that stays the same is added elsewhere
        let moves = !structure.linear_motion && (structure.mass_by_position || structure.mass.is_empty());
        let own = model.closed_motion().filter(|_| moves);
        let n = structure.force.len();
        let entered = || structure.force.iter().chain(&structure.inertia).flatten().filter(|i| **i >= 2 * n);
        Closed {
            constraint,
            whole_constraint: constraint && without_parameters,
            motion: own.is_some(),
            whole_motion: own.is_some_and(|own| entered().all(|i| own.knows(i - 2 * n))),
        }
    }
}

/// The structure of an element's functions; what its constant parameters enter is not differentiated by them.
pub(super) fn structure_of(model: &dyn Functions, connection: &Connection, nominal: &[f64]) -> (Sizes, Structure) {
    let values: Vec<f64> = connection.parameters.iter().map(|value| value.evaluate(nominal)).collect();
    let signature = connection.local_signature(&values);
    let sizes = Sizes::of(&signature);
    let mut structure = Structure::find(model, &signature);
    let is_constant: Vec<bool> = connection.parameters.iter().map(Value::is_constant).collect();
    structure.forget_parameters(sizes.n, sizes.m, &is_constant);
    (sizes, structure)
}

impl Batch {
    /// An empty batch for elements of the type of `model`.
    pub fn new(model: &dyn BatchElement, sizes: Sizes, own_rows: usize, structure: Structure, closed: Closed) -> Self {
        Batch {
            models: model.list(),
            plans: Plans::new(&structure, sizes, own_rows),
            sizes,
            own_rows,
            structure,
            coordinates: Vec::new(),
            rows: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            parameters: Vec::new(),
            first: Places::default(),
            closed,
        }
    }

    /// `rows`: the multipliers that the element sees; `outputs`: places of its outputs.
    pub fn push(&mut self, model: Box<dyn BatchElement>, connection: &Connection, rows: &[usize], outputs: &[usize]) {
        model.put_into(&mut *self.models);
        self.coordinates.extend(connection.coordinates.iter().map(|c| c.0 as u32));
        self.coordinates.extend(connection.states.iter().map(|state| STATE | state.0 as u32));
        self.rows.extend(rows.iter().map(|&row| row as u32));
        self.inputs.extend(connection.inputs.iter().map(|input| input.0 as u32));
        self.outputs.extend(outputs.iter().map(|&output| output as u32));
        self.parameters.extend(connection.parameters.iter().cloned());
    }

    #[inline]
    fn coordinates_of(&self, e: usize) -> &[u32] {
        &self.coordinates[e * self.sizes.n..(e + 1) * self.sizes.n]
    }

    /// All rows whose multipliers the element sees.
    #[inline]
    fn rows_of(&self, e: usize) -> &[u32] {
        &self.rows[e * self.sizes.m..(e + 1) * self.sizes.m]
    }

    #[inline]
    fn own_rows_of(&self, e: usize) -> &[u32] {
        &self.rows_of(e)[..self.own_rows]
    }

    #[inline]
    fn inputs_of(&self, e: usize) -> &[u32] {
        &self.inputs[e * self.sizes.inputs..(e + 1) * self.sizes.inputs]
    }

    #[inline]
    fn outputs_of(&self, e: usize) -> &[u32] {
        &self.outputs[e * self.sizes.outputs..(e + 1) * self.sizes.outputs]
    }

    #[inline]
    fn parameters_of(&self, e: usize) -> &[Value] {
        &self.parameters[e * self.sizes.p..(e + 1) * self.sizes.p]
    }

    /// Places of element `e` among the values of one kind.
    #[inline]
    fn places(&self, e: usize, kind: impl Fn(&Places) -> usize) -> std::ops::Range<usize> {
        let (first, stride) = (kind(&self.first), kind(&self.plans.strides));
        first + e * stride..first + (e + 1) * stride
    }

    /// Places of all elements among the values of one kind.
    fn all_places(&self, kind: impl Fn(&Places) -> usize) -> std::ops::Range<usize> {
        let (first, stride) = (kind(&self.first), kind(&self.plans.strides));
        first..first + self.models.len() * stride
    }

    /// True if the elements have mass or force.
    fn moves(&self) -> bool {
        self.structure.has_force || !self.structure.mass.is_empty()
    }

    /// True if forces are sums of constants and of coordinates and velocities times constants: they are multiplied out.
    fn multiplies_force(&self) -> bool {
        let Batch { structure, sizes: Sizes { n, p, .. }, .. } = self;
        let is_driven = structure.force_by_time || structure.force.iter().flatten().any(|i| *i >= 2 * n + p);
        structure.linear_motion && structure.has_force && !is_driven
    }

    /// True if an element of this type, with so many rows of its own, and this structure belongs here.
    pub fn takes(
        &self,
        model: &dyn BatchElement,
        own_rows: usize,
        sizes: Sizes,
        structure: &Structure,
        closed: Closed,
    ) -> bool {
        model.belongs_in(&*self.models)
            && self.own_rows == own_rows
            && self.sizes == sizes
            && self.structure == *structure
            && self.closed == closed
    }

    /// Adds the entries of all elements to the pattern; called once, when it is known how many coordinates come before states, and how
    /// many there are of both.
    pub fn number(&mut self, (coordinates, total): (usize, usize), pattern: &mut Pattern) {
        let states = self.coordinates.iter_mut().filter(|place| **place & STATE != 0);
        states.for_each(|place| *place = (*place & !STATE) + coordinates as u32);
        self.first = pattern.places();
        let Sizes { n, m, p, .. } = self.sizes;
        let variables = 4 * n + m;
        let (structure, plans) = (&self.structure, &self.plans);
        for e in 0..self.models.len() {
            let (c, rows, y) = (self.coordinates_of(e), self.rows_of(e), self.outputs_of(e));
            let (slots, inputs) = (self.parameters_of(e), self.inputs_of(e));
            let by_coordinates = |&(i, j): &(usize, usize)| (c[i], c[j]);
            pattern.mass.extend(structure.mass.iter().map(by_coordinates));
            pattern.position.extend(plans.full_entries.position.iter().map(by_coordinates));
            pattern.velocity.extend(plans.full_entries.velocity.iter().map(by_coordinates));
            pattern.newton.extend(plans.newton_entries.iter().map(by_coordinates));
            pattern.geometric.extend(plans.geometric.iter().map(by_coordinates));
            pattern.jacobian.extend(structure.constraint.iter().map(|&(row, j)| (rows[row], c[j])));
            for &(row, slot) in &plans.full_entries.parameter {
                match slot.checked_sub(p) {
                    None => pattern.by_parameter.push(c[row] as usize, &slots[slot]),
                    Some(k) => pattern.by_parameter.push_input(c[row] as usize, inputs[k], &mut pattern.by_input),
                }
            }
            for &(j, slot) in &plans.geometric_by_parameter {
                pattern.geometric_by_parameter.push(c[j] as usize, &slots[slot]);
            }
            for &(row, slot) in &plans.constraint_by_parameter {
                pattern.constraint_by_parameter.push(rows[row] as usize, &slots[slot]);
            }
            for &(row, variable) in &plans.output_entries {
                if variable < variables {
                    let place = match variable {
                        i if i < 4 * n => i / n * total + c[i % n] as usize,
                        i => 4 * total + rows[i - 4 * n] as usize,
                    };
                    pattern.output.push((y[row], place as u32));
                } else {
                    let (row, by_input) = (y[row] as usize, &mut pattern.output_by_input);
                    match (variable - variables).checked_sub(p) {
                        None => pattern.output_by_parameter.push(row, &slots[variable - variables]),
                        Some(k) => pattern.output_by_parameter.push_input(row, inputs[k], by_input),
                    }
                }
            }
        }
    }

    pub fn evaluator<'s>(&'s self, slots: &'s Slots) -> BatchEvaluator<'s> {
        BatchEvaluator::new(self, slots)
    }
}

/// The elements of a batch with what evaluating them needs: adds to the assembly what they contribute.
///
/// Slices and points are those of the whole assembly; everything is *added*, but for the values of derivatives and the outputs,
/// which belong to one element each.
pub(super) struct BatchEvaluator<'s> {
    batch: &'s Batch,
    slots: &'s Slots,
    /// Parameters of all elements, one after another.
    u: Vec<f64>,
    x: LocalState,
    motion: MotionKernels<'s>,
    outputs: OutputKernels,
    curvature: Curvature<'s>,
    time_derivatives: TimeDerivatives,
    round_off: RoundOff,
    force: Vec<f64>,
    /// Constraints, or outputs.
    rows: Vec<f64>,
    mass_matrix: Matrix<f64>,
    tangent: StateVector,
    cotangent: StateVector,
}

impl<'s> BatchEvaluator<'s> {
    fn new(batch: &'s Batch, slots: &'s Slots) -> Self {
        let sizes = batch.sizes;
        let Sizes { n, m, p, inputs, outputs, .. } = sizes;
        let zeros = |count: usize| vec![0.0; count];
        let local = StateVector {
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            a_scheme: zeros(n),
            lambda: zeros(m),
            u: zeros(p),
            w: zeros(inputs),
            w_other: Vec::new(),
            memory: Vec::new(),
        };
        BatchEvaluator {
            batch,
            slots,
            u: zeros(p * batch.models.len()),
            x: LocalState::new(sizes),
            motion: MotionKernels::new(batch),
            outputs: OutputKernels::new(batch),
            curvature: Curvature::new(
                &batch.structure,
                (&batch.structure, batch.structure.curved_or_parametric.clone()),
                sizes,
            ),
            time_derivatives: TimeDerivatives::new(sizes, &batch.structure),
            round_off: RoundOff::new(sizes),
            force: zeros(n),
            rows: zeros(m.max(outputs)),
            mass_matrix: Matrix::filled(n, n, 0.0),
            tangent: local.clone(),
            cotangent: local,
        }
    }

    /// Parameters of element `e`.
    #[inline]
    fn parameters_of(&self, e: usize) -> &[f64] {
        let p = self.batch.sizes.p;
        &self.u[e * p..(e + 1) * p]
    }

    /// Sets the parameters, and puts what is constant for them into `values`. `start`: a state at which everything can be evaluated.
    pub fn set_parameters(&mut self, u: &[f64], start: &Point<'_>, values: &mut Values) {
        self.u.iter_mut().zip(&self.batch.parameters).for_each(|(slot, value)| *slot = value.evaluate(u));
        self.outputs.forget();
        self.set_constants(start, values);
    }
}
