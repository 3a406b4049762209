//! Elements of one type and structure, stored and evaluated together.

use super::element::{Connection, Element, Local};
use super::pattern::{Pattern, Places, Slots, Values};
use super::value::Value;
use crate::linearise::{
    ConstraintKernel, Curvature, ForceKernel, FullEntries, JacobianKernel, OutputKernel, Plan, RoundOff, SEPARATE,
    Sizes, Structure, constraint_kernel, element_blocks, force_kernel, jacobian_kernel, level, level_curvature,
    level_pull_back, level_push_forward, output_kernel, probe,
};
use crate::model::{Matrix, Model, State};
use crate::system::{Blocks, Level, OutputPoint, Point, StateVector, Weights};
use std::any::{Any, TypeId};

/// Elements of one type and structure.
pub(super) trait Batch: Send + Sync {
    /// Whether an element of this type and structure belongs here.
    fn takes(&self, kind: TypeId, sizes: Sizes, structure: &Structure) -> bool;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// Adds the entries of all elements to the pattern; called once.
    fn number(&mut self, n: usize, pattern: &mut Pattern);
    fn evaluator<'s>(&'s self, slots: &'s Slots) -> Box<dyn BatchEvaluator + 's>;
}

/// Adds to a batch what its elements contribute. Slices and points are those of the whole assembly; everything is *added*,
/// but for the values of derivatives and the outputs, which belong to one element each.
pub(super) trait BatchEvaluator {
    fn set_parameters(&mut self, u: &[f64], values: &mut Values);
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
    /// All first derivatives.
    fn linearise(&mut self, x: &Point<'_>, values: &mut Values);
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
    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]);
    fn linearise_output(&mut self, x: &OutputPoint<'_>, values: &mut Values);
    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector);
    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks);
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
    plans: Option<Plans>,
}

/// What is evaluated with which seeds, and which entries result.
struct Plans {
    newton: Plan,
    newton_entries: Vec<(usize, usize)>,
    full: Plan,
    full_entries: FullEntries,
    output: Plan,
    /// (row, variable) of outputs by the state, and by parameters.
    output_entries: Vec<(usize, usize)>,
    state_entries: usize,
    /// d(C_qᵀ λ): pairs of local coordinates, and (coordinate, parameter).
    bending: Vec<(usize, usize)>,
    bending_by_parameter: Vec<(usize, usize)>,
    constraint_by_parameter: Vec<(usize, usize)>,
    /// For each curved coordinate: (row, place among the entries of C_q).
    curved: Vec<Vec<(usize, usize)>>,
}

impl<E: Element> Elements<E> {
    pub fn new(sizes: Sizes, own_rows: usize, structure: Structure) -> Self {
        Elements {
            models: Vec::new(),
            sizes,
            own_rows,
            structure,
            coordinates: Vec::new(),
            rows: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            parameters: Vec::new(),
            first: Places::default(),
            plans: None,
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

impl<E: Element> Batch for Elements<E> {
    fn takes(&self, kind: TypeId, sizes: Sizes, structure: &Structure) -> bool {
        kind == TypeId::of::<E>() && self.sizes == sizes && self.structure == *structure
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn number(&mut self, total: usize, pattern: &mut Pattern) {
        self.first = pattern.places();
        let Sizes { n, m, p, outputs, .. } = self.sizes;
        let structure = &self.structure;
        let (newton, newton_entries) = Plan::newton_entries(structure, n);
        let (full, full_entries) = Plan::full(structure, n, p);
        let variables = 4 * n + m;
        let (output, output_entries) = Plan::output(structure, variables + p);
        let by_state = |entry: &&(usize, usize)| entry.1 < variables;
        let curved = &structure.curved_coordinates;
        let both = &structure.curved_or_parametric;
        let by_parameter = &structure.constraint_parameters;
        let pairs = |a: &[usize], b: &[usize]| -> Vec<(usize, usize)> {
            a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j))).collect()
        };
        let own: Vec<usize> = (0..self.own_rows).collect();
        let row_entries = |j: usize| {
            let entries = structure.constraint.iter().enumerate();
            entries.filter(|(_, entry)| entry.1 == j).map(|(place, entry)| (entry.0, place)).collect::<Vec<_>>()
        };
        let plans = Plans {
            newton,
            newton_entries,
            full,
            full_entries,
            output,
            state_entries: output_entries.iter().filter(by_state).count(),
            output_entries,
            bending: pairs(curved, curved),
            bending_by_parameter: pairs(both, by_parameter),
            constraint_by_parameter: pairs(&own, by_parameter),
            curved: curved.iter().map(|&j| row_entries(j)).collect(),
        };
        for e in 0..self.models.len() {
            let c = &self.coordinates[e * n..(e + 1) * n];
            let rows = &self.rows[e * m..(e + 1) * m];
            let y = &self.outputs[e * outputs..(e + 1) * outputs];
            let slots = &self.parameters[e * p..(e + 1) * p];
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
        self.plans = Some(plans);
    }

    fn evaluator<'s>(&'s self, slots: &'s Slots) -> Box<dyn BatchEvaluator + 's> {
        Box::new(Evaluator::new(self, slots))
    }
}

/// Places of one element's values.
#[derive(Clone, Copy)]
struct Strides {
    mass: usize,
    position: usize,
    velocity: usize,
    newton: usize,
    jacobian: usize,
    bending: usize,
    by_parameter: usize,
    bending_by_parameter: usize,
    constraint_by_parameter: usize,
}

/// The state of one element.
struct LocalState {
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    a_scheme: Vec<f64>,
    lambda: Vec<f64>,
    w: Vec<f64>,
}

struct Evaluator<'s, E> {
    batch: &'s Elements<E>,
    plans: &'s Plans,
    slots: &'s Slots,
    strides: Strides,
    /// Parameters of all elements, one after another.
    u: Vec<f64>,
    x: LocalState,
    newton: Box<dyn ForceKernel<Local<E>> + 's>,
    full: Box<dyn ForceKernel<Local<E>> + 's>,
    first: Box<dyn JacobianKernel<Local<E>>>,
    curved: Box<dyn ConstraintKernel<Local<E>>>,
    curved_full: Box<dyn ConstraintKernel<Local<E>>>,
    outputs: Box<dyn OutputKernel<Local<E>>>,
    curvature: Curvature<'s>,
    round_off: RoundOff,
    /// Forces that depend on parameters alone.
    constant_force: Vec<f64>,
    force: Vec<f64>,
    constraint: Vec<f64>,
    entries: Vec<f64>,
    mass_matrix: Matrix<f64>,
    tangent: StateVector,
    cotangent: StateVector,
    output_is_current: bool,
}

impl<'s, E: Element> Evaluator<'s, E> {
    fn new(batch: &'s Elements<E>, slots: &'s Slots) -> Self {
        let sizes = batch.sizes;
        let Sizes { n, m, p, inputs, outputs } = sizes;
        // numbered when the assembly was built
        let plans = batch.plans.as_ref().unwrap_or_else(|| unreachable!("a batch is numbered before it is evaluated"));
        let structure = &batch.structure;
        let with_mass = structure.mass_by_position || structure.mass_by_parameter;
        let mut variables = structure.curved_or_parametric.clone();
        variables.extend(structure.constraint_parameters.iter().map(|k| n + k));
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
        let most = plans.full_entries.len().max(plans.newton_entries.len()).max(plans.output_entries.len());
        Evaluator {
            batch,
            plans,
            slots,
            strides: Strides {
                mass: structure.mass.len(),
                position: plans.full_entries.position.len(),
                velocity: plans.full_entries.velocity.len(),
                newton: plans.newton_entries.len(),
                jacobian: structure.constraint.len(),
                bending: plans.bending.len(),
                by_parameter: plans.full_entries.parameter.len(),
                bending_by_parameter: plans.bending_by_parameter.len(),
                constraint_by_parameter: plans.constraint_by_parameter.len(),
            },
            u: zeros(p * batch.models.len()),
            x: LocalState {
                q: zeros(n),
                v: zeros(n),
                a: zeros(n),
                a_scheme: zeros(n),
                lambda: zeros(m),
                w: zeros(inputs),
            },
            newton: force_kernel(sizes, plans.newton.clone(), &structure.mass, structure.mass_by_position),
            full: force_kernel(sizes, plans.full.clone(), &structure.mass, with_mass),
            first: jacobian_kernel(sizes, structure.curved_coordinates.clone()),
            curved: constraint_kernel(sizes, structure.curved_coordinates.clone()),
            curved_full: constraint_kernel(sizes, variables),
            outputs: output_kernel(sizes, plans.output.clone()),
            curvature: Curvature::new(structure, sizes),
            round_off: RoundOff::new(sizes),
            constant_force: zeros(if structure.has_force && structure.constant_force {
                n * batch.models.len()
            } else {
                0
            }),
            force: zeros(n),
            // outputs pass through it, too
            constraint: zeros(m.max(outputs)),
            entries: zeros(most),
            mass_matrix: Matrix::filled(n, n, 0.0),
            tangent: local.clone(),
            cotangent: local,
            output_is_current: false,
        }
    }
}

/// Copies the entries of a global vector that belong to element `e`.
#[inline]
fn gather(local: &mut [f64], global: &[f64], places: &[u32]) {
    for (value, &place) in local.iter_mut().zip(places) {
        *value = global[place as usize];
    }
}

#[inline]
fn scatter(local: &[f64], global: &mut [f64], places: &[u32]) {
    for (value, &place) in local.iter().zip(places) {
        global[place as usize] += value;
    }
}

impl<E> Elements<E> {
    #[inline]
    fn coordinates_of(&self, e: usize) -> &[u32] {
        &self.coordinates[e * self.sizes.n..(e + 1) * self.sizes.n]
    }

    #[inline]
    fn rows_of(&self, e: usize) -> &[u32] {
        &self.rows[e * self.sizes.m..(e + 1) * self.sizes.m]
    }

    #[inline]
    fn inputs_of(&self, e: usize) -> &[u32] {
        &self.inputs[e * self.sizes.inputs..(e + 1) * self.sizes.inputs]
    }

    #[inline]
    fn outputs_of(&self, e: usize) -> &[u32] {
        &self.outputs[e * self.sizes.outputs..(e + 1) * self.sizes.outputs]
    }
}

impl LocalState {
    #[inline]
    fn take<E>(&mut self, batch: &Elements<E>, e: usize, x: &Point<'_>) {
        let c = batch.coordinates_of(e);
        gather(&mut self.q, x.q, c);
        gather(&mut self.v, x.v, c);
        gather(&mut self.a, x.a, c);
        gather(&mut self.lambda, x.lambda, batch.rows_of(e));
        gather(&mut self.w, x.w, batch.inputs_of(e));
    }

    fn take_output<E>(&mut self, batch: &Elements<E>, e: usize, x: &OutputPoint<'_>) {
        let OutputPoint { t, q, v, a, a_scheme, lambda, w } = *x;
        self.take(batch, e, &Point { t, q, v, a, lambda, w });
        gather(&mut self.a_scheme, a_scheme, batch.coordinates_of(e));
    }

    #[inline]
    fn point(&self, t: f64) -> Point<'_> {
        Point { t, q: &self.q, v: &self.v, a: &self.a, lambda: &self.lambda, w: &self.w }
    }

    fn output_point(&self, t: f64) -> OutputPoint<'_> {
        let LocalState { q, v, a, a_scheme, lambda, w } = self;
        OutputPoint { t, q, v, a, a_scheme, lambda, w }
    }
}

/// Copies what belongs to element `e`; its parameters are the slots' values along the direction.
fn gather_state<E>(batch: &Elements<E>, e: usize, global: &StateVector, local: &mut StateVector) {
    let c = batch.coordinates_of(e);
    gather(&mut local.q, &global.q, c);
    gather(&mut local.v, &global.v, c);
    gather(&mut local.a, &global.a, c);
    gather(&mut local.a_scheme, &global.a_scheme, c);
    gather(&mut local.lambda, &global.lambda, batch.rows_of(e));
    let p = batch.sizes.p;
    for (slot, value) in local.u.iter_mut().zip(&batch.parameters[e * p..]) {
        *slot = value.terms().iter().map(|&(k, factor)| factor * global.u[k]).sum();
    }
}

fn scatter_state<E>(batch: &Elements<E>, e: usize, local: &StateVector, global: &mut StateVector) {
    let c = batch.coordinates_of(e);
    scatter(&local.q, &mut global.q, c);
    scatter(&local.v, &mut global.v, c);
    scatter(&local.a, &mut global.a, c);
    scatter(&local.a_scheme, &mut global.a_scheme, c);
    scatter(&local.lambda, &mut global.lambda, batch.rows_of(e));
    let p = batch.sizes.p;
    for (slot, value) in local.u.iter().zip(&batch.parameters[e * p..]) {
        value.terms().iter().for_each(|&(k, factor)| global.u[k] += factor * slot);
    }
}

fn clear(local: &mut StateVector) {
    local.clear_state();
    local.u.fill(0.0);
}

impl<E: Element> Evaluator<'_, E> {
    fn count(&self) -> usize {
        self.batch.models.len()
    }

    #[inline]
    fn moves(&self) -> bool {
        self.batch.structure.has_force || !self.batch.structure.mass.is_empty()
    }

    /// Adds M a and takes away constant forces, from what is stored.
    #[inline]
    fn add_constant(&mut self, e: usize, x: &Point<'_>, values: &Values, dynamics: &mut [f64]) {
        let structure = &self.batch.structure;
        let c = self.batch.coordinates_of(e);
        if !structure.mass_by_position {
            let first = self.batch.first.mass + e * self.strides.mass;
            let mass = &values.mass[first..first + self.strides.mass];
            for (&(row, column), value) in structure.mass.iter().zip(mass) {
                dynamics[c[row] as usize] += value * x.a[c[column] as usize];
            }
        }
        if !self.constant_force.is_empty() {
            let n = self.batch.sizes.n;
            for (&place, force) in c.iter().zip(&self.constant_force[e * n..(e + 1) * n]) {
                dynamics[place as usize] -= force;
            }
        }
    }

    /// Adds C_qᵀ λ from the stored C_q, and C.
    #[inline]
    fn add_constraint(&self, e: usize, values: &Values, dynamics: &mut [f64], constraint: &mut [f64]) {
        let structure = &self.batch.structure;
        let c = self.batch.coordinates_of(e);
        let first = self.batch.first.jacobian + e * self.strides.jacobian;
        let jacobian = &values.jacobian[first..first + self.strides.jacobian];
        for (&(row, j), value) in structure.constraint.iter().zip(jacobian) {
            dynamics[c[j] as usize] += value * self.x.lambda[row];
        }
        let own = self.batch.own_rows;
        scatter(&self.constraint[..own], constraint, &self.batch.rows_of(e)[..own]);
    }

    /// Takes the entries of M of element `e` at its q.
    fn update_mass(&mut self, e: usize, values: &mut Values) {
        let structure = &self.batch.structure;
        let p = self.batch.sizes.p;
        self.mass_matrix.fill(0.0);
        self.batch.models[e].mass(&self.x.q, &self.u[e * p..(e + 1) * p], &mut self.mass_matrix);
        let first = self.batch.first.mass + e * self.strides.mass;
        for (value, &place) in values.mass[first..].iter_mut().zip(&structure.mass) {
            *value = self.mass_matrix[place];
        }
    }
}

impl<E: Element> BatchEvaluator for Evaluator<'_, E> {
    fn set_parameters(&mut self, u: &[f64], values: &mut Values) {
        let Elements { models, sizes, structure, parameters, .. } = self.batch;
        let Sizes { n, p, .. } = *sizes;
        self.u.iter_mut().zip(parameters).for_each(|(slot, value)| *slot = value.evaluate(u));
        self.output_is_current = false;
        let anywhere = probe(n, 0.3);
        let still = probe(n, 1.1);
        for (e, model) in models.iter().enumerate() {
            let own = &self.u[e * p..(e + 1) * p];
            if !self.constant_force.is_empty() {
                let w = vec![0.0; sizes.inputs];
                let force = &mut self.constant_force[e * n..(e + 1) * n];
                force.fill(0.0);
                model.force::<f64>(0.37, &anywhere, &still, &w, own, force);
            }
            if !structure.constraint.is_empty() {
                self.first.set_parameters(own);
                let fixed: Vec<usize> = (0..n).filter(|j| !structure.curved_coordinates.contains(j)).collect();
                let mut kernel = jacobian_kernel::<Local<E>>(*sizes, fixed.clone());
                kernel.set_parameters(own);
                let mut value = vec![0.0; sizes.m];
                let first = self.batch.first.jacobian + e * self.strides.jacobian;
                kernel.evaluate(model, 0.37, &anywhere, &mut value, &mut |row, place, slope| {
                    if let Ok(entry) = structure.constraint.binary_search(&(row, fixed[place])) {
                        values.jacobian[first + entry] = slope;
                    }
                });
            }
        }
        if !structure.mass_by_position {
            for e in 0..models.len() {
                self.x.q.copy_from_slice(&anywhere);
                self.update_mass(e, values);
            }
        }
    }

    fn template(&self, weights: Weights, values: &Values, matrix: &mut [f64]) {
        let structure = &self.batch.structure;
        let count = self.batch.models.len();
        if !structure.mass_by_position {
            let all = self.batch.first.mass..self.batch.first.mass + count * self.strides.mass;
            for (&slot, value) in self.slots.mass[all.clone()].iter().zip(&values.mass[all]) {
                matrix[slot as usize] += weights.acceleration * value;
            }
        }
        for e in 0..count {
            let first = self.batch.first.jacobian + e * self.strides.jacobian;
            for (entry, (_, j)) in structure.constraint.iter().enumerate() {
                if structure.curved_coordinates.binary_search(j).is_err() {
                    let value = values.jacobian[first + entry];
                    matrix[self.slots.jacobian[first + entry] as usize] += value;
                    matrix[self.slots.jacobian_transposed[first + entry] as usize] += value;
                }
            }
        }
    }

    fn residual(&mut self, x: &Point<'_>, values: &mut Values, dynamics: &mut [f64], constraint: &mut [f64]) {
        let (moves, batch) = (self.moves(), self.batch);
        let structure = &batch.structure;
        let p = batch.sizes.p;
        let constrains = batch.own_rows > 0;
        if !moves && !constrains {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            let u = e * p..(e + 1) * p;
            if structure.mass_by_position || constrains || structure.has_force && self.constant_force.is_empty() {
                self.x.take(batch, e, x);
            }
            if structure.has_force && self.constant_force.is_empty() {
                self.force.fill(0.0);
                let LocalState { q, v, w, .. } = &self.x;
                model.force::<f64>(x.t, q, v, w, &self.u[u.clone()], &mut self.force);
                for (&place, force) in batch.coordinates_of(e).iter().zip(&self.force) {
                    dynamics[place as usize] -= force;
                }
            }
            if structure.mass_by_position {
                self.update_mass(e, values);
                let first = batch.first.mass + e * self.strides.mass;
                let c = batch.coordinates_of(e);
                for (&(row, column), value) in structure.mass.iter().zip(&values.mass[first..]) {
                    dynamics[c[row] as usize] += value * self.x.a[column];
                }
            }
            self.add_constant(e, x, values, dynamics);
            if constrains {
                if structure.curved_coordinates.is_empty() {
                    self.constraint.fill(0.0);
                    model.constraint::<f64>(x.t, &self.x.q, &self.u[u], &mut self.constraint[..batch.sizes.m]);
                } else {
                    let first = batch.first.jacobian + e * self.strides.jacobian;
                    let jacobian = &mut values.jacobian[first..first + self.strides.jacobian];
                    self.first.set_parameters(&self.u[u]);
                    let curved = &self.plans.curved;
                    self.first.evaluate(model, x.t, &self.x.q, &mut self.constraint, &mut |row, place, slope| {
                        if let Some(&(_, entry)) = curved[place].iter().find(|entry| entry.0 == row) {
                            jacobian[entry] = slope;
                        }
                    });
                }
                self.add_constraint(e, values, dynamics, constraint);
            }
        }
    }

    fn newton(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        values: &mut Values,
        dynamics: &mut [f64],
        constraint: &mut [f64],
        matrix: &mut [f64],
    ) {
        let batch = self.batch;
        let structure = &batch.structure;
        let Sizes { p, .. } = batch.sizes;
        let (moves, constrains) = (self.moves(), batch.own_rows > 0);
        if !moves && !constrains {
            return;
        }
        let varies = structure.mass_by_position || structure.has_force && self.constant_force.is_empty();
        for (e, model) in batch.models.iter().enumerate() {
            let u = e * p..(e + 1) * p;
            if varies || constrains {
                self.x.take(batch, e, x);
            }
            if varies {
                self.newton.set_parameters(&self.u[u.clone()]);
                let entries = &mut self.entries[..self.strides.newton];
                entries.fill(0.0);
                let first = batch.first.mass + e * self.strides.mass;
                let mass = &mut values.mass[first..first + self.strides.mass];
                self.newton.evaluate(model, &self.x.point(x.t), weights, &mut self.force, entries, mass);
                scatter(&self.force, dynamics, batch.coordinates_of(e));
                let first = batch.first.newton + e * self.strides.newton;
                scatter(entries, matrix, &self.slots.newton[first..]);
            }
            self.add_constant(e, x, values, dynamics);
            if !constrains {
                continue;
            }
            if structure.curved_coordinates.is_empty() {
                self.constraint.fill(0.0);
                model.constraint::<f64>(x.t, &self.x.q, &self.u[u], &mut self.constraint[..batch.sizes.m]);
            } else {
                self.bend(e, x.t, weights.position, values, matrix);
            }
            self.add_constraint(e, values, dynamics, constraint);
        }
    }

    fn linearise(&mut self, x: &Point<'_>, values: &mut Values) {
        let batch = self.batch;
        let structure = &batch.structure;
        let Sizes { n, m, p, .. } = batch.sizes;
        let (moves, constrains) = (self.moves(), batch.own_rows > 0);
        let motion = moves && (self.plans.full_entries.len() > 0 || structure.mass_by_position);
        let bends =
            constrains && !(structure.curved_or_parametric.is_empty() && structure.constraint_parameters.is_empty());
        if !motion && !bends {
            return;
        }
        let Strides { position, velocity, by_parameter, .. } = self.strides;
        for (e, model) in batch.models.iter().enumerate() {
            let u = e * p..(e + 1) * p;
            self.x.take(batch, e, x);
            if motion {
                self.full.set_parameters(&self.u[u.clone()]);
                let entries = &mut self.entries[..position + velocity + by_parameter];
                entries.fill(0.0);
                let first = batch.first.mass + e * self.strides.mass;
                let mass = &mut values.mass[first..first + self.strides.mass];
                self.full.evaluate(model, &self.x.point(x.t), SEPARATE, &mut self.force, entries, mass);
                let put = |all: &mut [f64], first: usize, stride: usize, own: &[f64]| {
                    all[first + e * stride..first + (e + 1) * stride].copy_from_slice(own);
                };
                put(&mut values.position, batch.first.position, position, &entries[..position]);
                put(&mut values.velocity, batch.first.velocity, velocity, &entries[position..position + velocity]);
                put(&mut values.by_parameter, batch.first.by_parameter, by_parameter, &entries[position + velocity..]);
            }
            if !bends {
                continue;
            }
            let kernel = &mut *self.curved_full;
            kernel.set_parameters(&self.u[u]);
            kernel.set_point(x.t, &self.x.q);
            let outer = &structure.curved_or_parametric;
            let parameters = &structure.constraint_parameters;
            let first = batch.first.jacobian + e * self.strides.jacobian;
            let bending = batch.first.bending + e * self.strides.bending;
            let by_parameter = batch.first.bending_by_parameter + e * self.strides.bending_by_parameter;
            let of_rows = batch.first.constraint_by_parameter + e * self.strides.constraint_by_parameter;
            for place in 0..outer.len().max(1) {
                let j = outer.get(place).copied();
                let curved = j.and_then(|j| structure.curved_coordinates.binary_search(&j).ok());
                for pass in 0..kernel.passes() {
                    let lanes = kernel.evaluate(model, j, pass);
                    if let (Some(curved), 0) = (curved, pass) {
                        for &(row, entry) in &self.plans.curved[curved] {
                            values.jacobian[first + entry] = kernel.first(row);
                        }
                    }
                    for lane in 0..lanes {
                        let variable = kernel.variable(pass, lane);
                        let second = || (0..m).map(|row| self.x.lambda[row] * kernel.second(row, lane)).sum::<f64>();
                        if variable < n {
                            let inner = structure.curved_coordinates.binary_search(&variable);
                            if let (Some(curved), Ok(inner)) = (curved, inner) {
                                let count = structure.curved_coordinates.len();
                                values.bending[bending + curved * count + inner] = second();
                            }
                        } else if let Ok(k) = parameters.binary_search(&(variable - n)) {
                            if j.is_some() {
                                values.bending_by_parameter[by_parameter + place * parameters.len() + k] = second();
                            }
                            if place == 0 {
                                for row in 0..batch.own_rows {
                                    let entry = of_rows + row * parameters.len() + k;
                                    values.constraint_by_parameter[entry] = kernel.inner(row, lane);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn round_off(&mut self, x: &Point<'_>, dynamics: &mut [f64], constraint: &mut [f64]) {
        let batch = self.batch;
        let p = batch.sizes.p;
        if !self.moves() && batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            let own = &self.u[e * p..(e + 1) * p];
            let m = batch.sizes.m;
            self.round_off.bound(model, &self.x.point(x.t), own, &mut self.force, &mut self.constraint[..m]);
            // adding up the elements rounds once more
            self.force.iter_mut().for_each(|bound| *bound *= 2.0);
            scatter(&self.force, dynamics, batch.coordinates_of(e));
            let own_rows = batch.own_rows;
            scatter(&self.constraint[..own_rows], constraint, &batch.rows_of(e)[..own_rows]);
        }
    }

    fn level(&mut self, which: Level, x: &Point<'_>, value: &mut [f64]) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        let own_rows = batch.own_rows;
        if own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            level(model, which, &self.x.point(x.t), &self.u[e * p..(e + 1) * p], &mut self.constraint[..m]);
            scatter(&self.constraint[..own_rows], value, &batch.rows_of(e)[..own_rows]);
        }
    }

    fn level_pull_back(&mut self, which: Level, x: &Point<'_>, scale: f64, c: &[f64], cotangent: &mut StateVector) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        let own_rows = batch.own_rows;
        if own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            let own = &mut self.constraint[..m];
            own.fill(0.0);
            gather(&mut own[..own_rows], c, batch.rows_of(e));
            clear(&mut self.cotangent);
            let u = &self.u[e * p..(e + 1) * p];
            level_pull_back(model, which, &self.x.point(x.t), u, scale, own, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    fn level_push_forward(&mut self, which: Level, x: &Point<'_>, tangent: &StateVector, c: &mut [f64]) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        let own_rows = batch.own_rows;
        if own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            let own = &mut self.constraint[..m];
            own.fill(0.0);
            level_push_forward(model, which, &self.x.point(x.t), &self.u[e * p..(e + 1) * p], &self.tangent, own);
            scatter(&own[..own_rows], c, &batch.rows_of(e)[..own_rows]);
        }
    }

    fn level_curvature(
        &mut self,
        which: Level,
        x: &Point<'_>,
        scale: f64,
        c: &[f64],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        let own_rows = batch.own_rows;
        if own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            let own = &mut self.constraint[..m];
            own.fill(0.0);
            gather(&mut own[..own_rows], c, batch.rows_of(e));
            clear(&mut self.cotangent);
            let u = &self.u[e * p..(e + 1) * p];
            let point = self.x.point(x.t);
            level_curvature(model, which, &point, u, scale, own, &self.tangent, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    fn curvature(
        &mut self,
        x: &Point<'_>,
        scale: f64,
        (dynamics, constraint): (&[f64], &[f64]),
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        let own_rows = batch.own_rows;
        if !self.moves() && own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            gather(&mut self.force, dynamics, batch.coordinates_of(e));
            let own = &mut self.constraint[..m];
            own.fill(0.0);
            gather(&mut own[..own_rows], constraint, batch.rows_of(e));
            clear(&mut self.cotangent);
            let u = &self.u[e * p..(e + 1) * p];
            let (point, tangent) = (self.x.point(x.t), &self.tangent);
            self.curvature.equations(model, &point, u, scale, &self.force, own, tangent, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        let batch = self.batch;
        let Sizes { p, outputs, .. } = batch.sizes;
        if outputs == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take_output(batch, e, x);
            let own = &mut self.constraint[..outputs];
            own.fill(0.0);
            let LocalState { q, v, a, a_scheme, lambda, w } = &self.x;
            model.output::<f64>(x.t, &State { q, v, a, a_scheme, lambda, w }, &self.u[e * p..(e + 1) * p], own);
            for (&place, value) in batch.outputs_of(e).iter().zip(own) {
                y[place as usize] = *value;
            }
        }
    }

    fn linearise_output(&mut self, x: &OutputPoint<'_>, values: &mut Values) {
        let batch = self.batch;
        let count = self.plans.output_entries.len();
        if count == 0 || self.output_is_current {
            return;
        }
        let Sizes { p, .. } = batch.sizes;
        let (by_state, by_parameter) = (self.plans.state_entries, count - self.plans.state_entries);
        let variables = 4 * batch.sizes.n + batch.sizes.m;
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take_output(batch, e, x);
            self.outputs.set_parameters(&self.u[e * p..(e + 1) * p]);
            let entries = &mut self.entries[..count];
            self.outputs.evaluate(model, &self.x.output_point(x.t), entries);
            let mut state = batch.first.output + e * by_state;
            let mut parameter = batch.first.output_by_parameter + e * by_parameter;
            for (&(_, variable), value) in self.plans.output_entries.iter().zip(entries) {
                if variable < variables {
                    values.output[state] = *value;
                    state += 1;
                } else {
                    values.output_by_parameter[parameter] = *value;
                    parameter += 1;
                }
            }
        }
        self.output_is_current = batch.structure.output_is_linear;
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        let batch = self.batch;
        let Sizes { p, outputs, .. } = batch.sizes;
        if outputs == 0 || batch.structure.output_is_linear {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take_output(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            let own = &mut self.constraint[..outputs];
            gather(own, y, batch.outputs_of(e));
            clear(&mut self.cotangent);
            let u = &self.u[e * p..(e + 1) * p];
            let point = self.x.output_point(x.t);
            self.curvature.output(model, &point, u, own, &self.tangent, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        let batch = self.batch;
        let Sizes { n, m, p, .. } = batch.sizes;
        let zeros = |rows, columns| Matrix::filled(rows, columns, 0.0);
        let mut own = Blocks {
            mass: zeros(n, n),
            inertia_by_position: zeros(n, n),
            constraint_force_by_position: zeros(n, n),
            force_by_position: zeros(n, n),
            force_by_velocity: zeros(n, n),
            constraint_by_position: zeros(m, n),
            force_by_parameter: zeros(n, p),
            inertia_by_parameter: zeros(n, p),
            constraint_force_by_parameter: zeros(n, p),
            constraint_by_parameter: zeros(m, p),
        };
        for e in 0..self.count() {
            self.x.take(batch, e, x);
            let u = &self.u[e * p..(e + 1) * p];
            own.constraint_by_position.fill(0.0);
            element_blocks(&batch.models[e], &self.x.point(x.t), u, &mut own);
            let (c, rows) = (batch.coordinates_of(e), &batch.rows_of(e)[..batch.own_rows]);
            let slots = &batch.parameters[e * p..(e + 1) * p];
            let add = |to: &mut Matrix<f64>, from: &Matrix<f64>, rows: &[u32]| {
                for (i, &row) in rows.iter().enumerate() {
                    for (j, &column) in c.iter().enumerate() {
                        to[(row as usize, column as usize)] += from[(i, j)];
                    }
                }
            };
            add(&mut blocks.mass, &own.mass, c);
            add(&mut blocks.inertia_by_position, &own.inertia_by_position, c);
            add(&mut blocks.constraint_force_by_position, &own.constraint_force_by_position, c);
            add(&mut blocks.force_by_position, &own.force_by_position, c);
            add(&mut blocks.force_by_velocity, &own.force_by_velocity, c);
            add(&mut blocks.constraint_by_position, &own.constraint_by_position, rows);
            let add = |to: &mut Matrix<f64>, from: &Matrix<f64>, rows: &[u32]| {
                for (i, &row) in rows.iter().enumerate() {
                    for (slot, value) in slots.iter().enumerate() {
                        for &(k, factor) in value.terms() {
                            to[(row as usize, k)] += factor * from[(i, slot)];
                        }
                    }
                }
            };
            add(&mut blocks.force_by_parameter, &own.force_by_parameter, c);
            add(&mut blocks.inertia_by_parameter, &own.inertia_by_parameter, c);
            add(&mut blocks.constraint_force_by_parameter, &own.constraint_force_by_parameter, c);
            add(&mut blocks.constraint_by_parameter, &own.constraint_by_parameter, rows);
        }
    }
}

impl<E: Element> Evaluator<'_, E> {
    /// C and C_q of element `e` with J_C times the weight of positions added to the matrix.
    #[inline]
    fn bend(&mut self, e: usize, t: f64, weight: f64, values: &mut Values, matrix: &mut [f64]) {
        let batch = self.batch;
        let structure = &batch.structure;
        let p = batch.sizes.p;
        let kernel = &mut *self.curved;
        kernel.set_parameters(&self.u[e * p..(e + 1) * p]);
        kernel.set_point(t, &self.x.q);
        let count = structure.curved_coordinates.len();
        let first = batch.first.jacobian + e * self.strides.jacobian;
        let bending = batch.first.bending + e * self.strides.bending;
        for (place, &j) in structure.curved_coordinates.iter().enumerate() {
            for pass in 0..kernel.passes() {
                let lanes = kernel.evaluate(&batch.models[e], Some(j), pass);
                for lane in 0..lanes {
                    let mut second = 0.0;
                    for (row, lambda) in self.x.lambda[..batch.own_rows].iter().enumerate() {
                        second += lambda * kernel.second(row, lane);
                    }
                    let entry = bending + place * count + kernel.place(pass, lane);
                    matrix[self.slots.bending[entry] as usize] += weight * second;
                }
                if pass == 0 {
                    for &(row, entry) in &self.plans.curved[place] {
                        let value = kernel.first(row);
                        values.jacobian[first + entry] = value;
                        matrix[self.slots.jacobian[first + entry] as usize] += value;
                        matrix[self.slots.jacobian_transposed[first + entry] as usize] += value;
                    }
                }
            }
        }
        for (row, value) in self.constraint[..batch.own_rows].iter_mut().enumerate() {
            *value = kernel.value(row);
        }
    }
}
