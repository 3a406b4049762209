//! Elements of one type and structure, stored and evaluated together.

mod analysis;
mod local;
mod motion;
mod outputs;
mod plans;

use super::element::{Connection, Element, Local};
use super::pattern::{Pattern, Places, Slots, Values};
use super::value::Value;
use crate::linearise::{Curvature, RoundOff, Sizes, Structure};
use crate::model::Matrix;
use crate::system::{Blocks, Level, OutputPoint, Point, StateVector, Weights};
use local::LocalState;
use motion::MotionKernels;
use outputs::OutputKernels;
use plans::Plans;
use std::any::{Any, TypeId};

/// Elements of one type and structure.
pub(super) trait Batch: Send + Sync {
    /// Whether an element of this type, with so many rows of its own, and this structure belongs here.
    fn takes(&self, kind: TypeId, own_rows: usize, sizes: Sizes, structure: &Structure) -> bool;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Adds the entries of all elements to the pattern; called once.
    fn number(&mut self, n: usize, pattern: &mut Pattern);
    fn evaluator<'s>(&'s self, slots: &'s Slots) -> Box<dyn BatchEvaluator + 's>;
}

/// Adds to a batch what its elements contribute. Slices and points are those of the whole assembly; everything is *added*,
/// but for the values of derivatives and the outputs, which belong to one element each.
pub(super) trait BatchEvaluator: Motion + Analysis + Outputs {
    /// What is constant for these parameters goes into `values`. `start`: a state at which everything can be evaluated.
    fn set_parameters(&mut self, u: &[f64], start: &Point<'_>, values: &mut Values);
}

/// What the time loop needs.
pub(super) trait Motion {
    /// What does not change from point to point in Newton's matrix.
    fn template(&self, weights: Weights, values: &Values, matrix: &mut [f64]);
    fn residual(&mut self, x: &Point<'_>, values: &mut Values, dynamics: &mut [f64], constraint: &mut [f64]);
    /// The same, and what changes from point to point in Newton's matrix.
    fn newton(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        values: &mut Values,
        dynamics: &mut [f64],
        constraint: &mut [f64],
        matrix: &mut [f64],
    );
    /// All first derivatives, and what changes from point to point in Newton's matrix.
    fn linearise(&mut self, x: &Point<'_>, weights: Weights, values: &mut Values, matrix: &mut [f64]);
}

/// What is needed now and then.
pub(super) trait Analysis {
    fn round_off(&mut self, x: &Point<'_>, dynamics: &mut [f64], constraint: &mut [f64]);
    fn level(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]);
    fn level_pull_back(&mut self, level: Level, x: &Point<'_>, scale: f64, c: &[f64], cotangent: &mut StateVector);
    fn level_push_forward(&mut self, level: Level, x: &Point<'_>, tangent: &StateVector, c: &mut [f64]);
    #[allow(clippy::too_many_arguments)]
    fn level_curvature(
        &mut self,
        level: Level,
        x: &Point<'_>,
        scale: f64,
        c: &[f64],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    );
    fn curvature(
        &mut self,
        x: &Point<'_>,
        scale: f64,
        multipliers: (&[f64], &[f64]),
        tangent: &StateVector,
        cotangent: &mut StateVector,
    );
    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks);
}

/// Outputs and their derivatives.
pub(super) trait Outputs {
    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]);
    fn linearise_output(&mut self, x: &OutputPoint<'_>, values: &mut Values);
    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector);
}

/// The elements, with their places in the assembly, one element after another.
pub(super) struct Elements<E> {
    models: Vec<Local<E>>,
    sizes: Sizes,
    /// Rows of the elements' own among the multipliers that they see.
    own_rows: usize,
    structure: Structure,
    coordinates: Vec<u32>,
    /// Multipliers: own rows, then others'.
    rows: Vec<u32>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    parameters: Vec<Value>,
    /// Where the batch's values begin.
    first: Places,
    plans: Plans,
}

/// The structure of an element's functions; what its constant parameters enter is not differentiated by them.
pub(super) fn structure_of<E: Element>(
    model: &Local<E>,
    connection: &Connection,
    nominal: &[f64],
) -> (Sizes, Structure) {
    let values: Vec<f64> = connection.parameters.iter().map(|value| value.evaluate(nominal)).collect();
    let signature = connection.local_signature(&values);
    let sizes = Sizes {
        n: signature.coordinates.len(),
        m: signature.constraints.len(),
        p: signature.parameters.len(),
        inputs: signature.inputs.len(),
        outputs: signature.outputs.len(),
    };
    let mut structure = Structure::find(model, &signature);
    let is_constant: Vec<bool> = connection.parameters.iter().map(Value::is_constant).collect();
    structure.forget_parameters(sizes.n, sizes.m, &is_constant);
    (sizes, structure)
}

impl<E: Element> Elements<E> {
    pub fn new(sizes: Sizes, own_rows: usize, structure: Structure) -> Self {
        Elements {
            models: Vec::new(),
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
        }
    }

    /// `rows`: the multipliers that the element sees; `output`: place of its first output.
    pub fn push(&mut self, model: Local<E>, connection: &Connection, rows: &[usize], output: usize) {
        self.models.push(model);
        self.coordinates.extend(connection.coordinates.iter().map(|c| c.0 as u32));
        self.rows.extend(rows.iter().map(|&row| row as u32));
        self.inputs.extend(connection.inputs.iter().map(|input| input.0 as u32));
        self.outputs.extend((0..connection.outputs.len()).map(|k| (output + k) as u32));
        self.parameters.extend(connection.parameters.iter().cloned());
    }
}

impl<E> Elements<E> {
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

    /// Whether the elements have mass or force.
    fn moves(&self) -> bool {
        self.structure.has_force || !self.structure.mass.is_empty()
    }
}

impl<E: Element> Batch for Elements<E> {
    fn takes(&self, kind: TypeId, own_rows: usize, sizes: Sizes, structure: &Structure) -> bool {
        kind == TypeId::of::<E>() && self.own_rows == own_rows && self.sizes == sizes && self.structure == *structure
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn number(&mut self, total: usize, pattern: &mut Pattern) {
        self.first = pattern.places();
        let Sizes { n, m, .. } = self.sizes;
        let variables = 4 * n + m;
        let (structure, plans) = (&self.structure, &self.plans);
        for e in 0..self.models.len() {
            let (c, rows, y) = (self.coordinates_of(e), self.rows_of(e), self.outputs_of(e));
            let slots = self.parameters_of(e);
            let by_coordinates = |&(i, j): &(usize, usize)| (c[i], c[j]);
            pattern.mass.extend(structure.mass.iter().map(by_coordinates));
            pattern.position.extend(plans.full_entries.position.iter().map(by_coordinates));
            pattern.velocity.extend(plans.full_entries.velocity.iter().map(by_coordinates));
            pattern.newton.extend(plans.newton_entries.iter().map(by_coordinates));
            pattern.bending.extend(plans.bending.iter().map(by_coordinates));
            pattern.jacobian.extend(structure.constraint.iter().map(|&(row, j)| (rows[row], c[j])));
            for &(row, slot) in &plans.full_entries.parameter {
                pattern.by_parameter.push(c[row] as usize, &slots[slot]);
            }
            for &(j, slot) in &plans.bending_by_parameter {
                pattern.bending_by_parameter.push(c[j] as usize, &slots[slot]);
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
                    pattern.output_by_parameter.push(y[row] as usize, &slots[variable - variables]);
                }
            }
        }
    }

    fn evaluator<'s>(&'s self, slots: &'s Slots) -> Box<dyn BatchEvaluator + 's> {
        Box::new(Evaluator::new(self, slots))
    }
}

/// The elements of a batch with what evaluating them needs.
struct Evaluator<'s, E> {
    batch: &'s Elements<E>,
    slots: &'s Slots,
    /// Parameters of all elements, one after another.
    u: Vec<f64>,
    x: LocalState,
    motion: MotionKernels<'s, E>,
    outputs: OutputKernels<E>,
    curvature: Curvature<'s>,
    round_off: RoundOff,
    force: Vec<f64>,
    /// Constraints, or outputs.
    rows: Vec<f64>,
    mass_matrix: Matrix<f64>,
    tangent: StateVector,
    cotangent: StateVector,
}

impl<'s, E: Element> Evaluator<'s, E> {
    fn new(batch: &'s Elements<E>, slots: &'s Slots) -> Self {
        let sizes = batch.sizes;
        let Sizes { n, m, p, outputs, .. } = sizes;
        let zeros = |count: usize| vec![0.0; count];
        let local = StateVector {
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            a_scheme: zeros(n),
            lambda: zeros(m),
            u: zeros(p),
            memory: Vec::new(),
        };
        Evaluator {
            batch,
            slots,
            u: zeros(p * batch.models.len()),
            x: LocalState::new(sizes),
            motion: MotionKernels::new(batch),
            outputs: OutputKernels::new(batch),
            curvature: Curvature::new(&batch.structure, sizes),
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
}

impl<E: Element> BatchEvaluator for Evaluator<'_, E> {
    fn set_parameters(&mut self, u: &[f64], start: &Point<'_>, values: &mut Values) {
        self.u.iter_mut().zip(&self.batch.parameters).for_each(|(slot, value)| *slot = value.evaluate(u));
        self.outputs.forget();
        self.set_constants(start, values);
    }
}
