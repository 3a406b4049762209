//! Evaluation of an assembly: the sums over its elements, and the linear equations.

mod left_out;

use left_out::LeftOut;

use super::Assembly;
use super::batch::BatchEvaluator;
use super::pattern::{Pairs, ParameterEntry, Values};
use costate::linearise::{DenseLu, Sizes, binomial};
use costate::sparse::SparseLu;
use costate::system::{
    Blocks, Equations, Evaluator, Level, Orders, OutputPoint, Point, SingularMatrix, StateVector, Weights,
};

/// Number of unknowns up to which dense factors are faster than sparse ones.
pub(super) const DENSE: usize = 12;

/// Factors of K in the form that suits its size.
#[derive(Clone)]
pub(super) enum Factors {
    Dense(DenseLu),
    Sparse(Box<SparseLu>),
}

impl Default for Factors {
    fn default() -> Self {
        Factors::Dense(DenseLu::new(0))
    }
}

impl Factors {
    /// Dense up to so many unknowns. Returns the slot of each entry, too.
    pub fn new(size: usize, n: usize, entries: &[(u32, u32)], dense_up_to: usize) -> (Self, Vec<u32>) {
        if size <= dense_up_to {
            let slots = entries.iter().map(|&(row, column)| row * size as u32 + column).collect();
            return (Factors::Dense(DenseLu::new(size)), slots);
        }
        let (lu, slots) = SparseLu::new(size, n, entries);
        (Factors::Sparse(Box::new(lu)), slots)
    }

    fn values_mut(&mut self) -> &mut [f64] {
        match self {
            Factors::Dense(lu) => lu.matrix_mut(),
            Factors::Sparse(lu) => lu.values_mut(),
        }
    }

    fn factorise(&mut self) -> std::result::Result<(), SingularMatrix> {
        let regular = match self {
            Factors::Dense(lu) => lu.factorise(),
            Factors::Sparse(lu) => lu.factorise(),
        };
        if regular { Ok(()) } else { Err(SingularMatrix) }
    }

    fn forget_order(&mut self) {
        match self {
            Factors::Dense(lu) => lu.forget_order(),
            Factors::Sparse(lu) => lu.forget_order(),
        }
    }
}

pub(super) struct AssemblyEvaluator<'s> {
    system: &'s Assembly,
    u: Vec<f64>,
    batches: Vec<BatchEvaluator<'s>>,
    values: Values,
    factors: Factors,
    /// K without what changes from point to point, for `template_weights`.
    template: Vec<f64>,
    template_weights: Option<Weights>,
    /// The level of the constraints that were linearised last.
    level: Level,
    left_out: LeftOut,
    /// Factorisations, and changes of the parameters.
    factored: usize,
}

impl<'s> AssemblyEvaluator<'s> {
    pub fn new(system: &'s Assembly) -> Self {
        let mut factors = system.factors.clone();
        let size = factors.values_mut().len();
        AssemblyEvaluator {
            system,
            u: vec![0.0; system.signature.parameters.len()],
            batches: system.batches.iter().map(|batch| batch.evaluator(&system.slots)).collect(),
            values: Values::new(&system.pattern),
            factors,
            template: vec![0.0; size],
            template_weights: None,
            level: Level::Position,
            left_out: LeftOut::new(system),
            factored: 0,
        }
    }

    /// Numbers of coordinates, constraint rows and inputs.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let signature = &self.system.signature;
        (signature.unknown_count(), signature.constraints.len(), signature.inputs.len())
    }

    /// Derivatives of the linearised constraints by the k-th time derivative of q, with their factor.
    #[inline]
    fn constraint_by(&self, k: usize) -> (f64, &[f64]) {
        let level = self.level as usize;
        let slopes = (level - k).checked_sub(1).map_or(&self.values.jacobian, |rate| &self.values.rates[rate]);
        (binomial(level, k), slopes)
    }

    /// Derivatives of the linearised constraints by parameters.
    fn constraint_by_parameter(&self) -> (&[ParameterEntry], &[f64]) {
        let (pattern, values) = (&self.system.pattern, &self.values);
        let rate = (self.level as usize).checked_sub(1);
        let slopes = rate.map_or(&values.constraint_by_parameter, |rate| &values.rates_by_parameter[rate]);
        (&pattern.constraint_by_parameter.entries, slopes)
    }

    fn prepare_template(&mut self, weights: Weights) {
        self.batches.iter_mut().for_each(|batch| batch.act(weights.equations.forces, &mut self.values));
        if self.template_weights == Some(weights) {
            return;
        }
        self.template.fill(0.0);
        self.batches.iter().for_each(|batch| batch.template(weights, &self.values, &mut self.template));
        self.template_weights = Some(weights);
    }
}

/// Adds the entries times `x` to `y`.
#[inline]
fn multiply(entries: &Pairs, values: &[f64], x: &[f64], y: &mut [f64]) {
    for (&(row, column), value) in entries.iter().zip(values) {
        y[row as usize] += value * x[column as usize];
    }
}

/// Adds `scale` times the transposed entries times `y` to `x`.
#[inline]
fn multiply_transposed(entries: &Pairs, values: &[f64], scale: f64, y: &[f64], x: &mut [f64]) {
    for (&(row, column), value) in entries.iter().zip(values) {
        x[column as usize] += scale * value * y[row as usize];
    }
}

fn multiply_parameters(entries: &[ParameterEntry], values: &[f64], u: &[f64], y: &mut [f64]) {
    for e in entries {
        y[e.row as usize] += e.factor * values[e.value as usize] * u[e.parameter as usize];
    }
}

fn multiply_parameters_transposed(entries: &[ParameterEntry], values: &[f64], scale: f64, y: &[f64], u: &mut [f64]) {
    for e in entries {
        u[e.parameter as usize] += scale * e.factor * values[e.value as usize] * y[e.row as usize];
    }
}

impl Evaluator for AssemblyEvaluator<'_> {
    fn set_parameters(&mut self, u: &[f64]) {
        self.u.copy_from_slice(u);
        self.template_weights = None;
        self.factored += 1;
        self.factors.forget_order();
        let (n, m) = (self.system.signature.unknown_count(), self.system.signature.constraints.len());
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        self.initial(&mut q, &mut v);
        let (zeros, w) = (vec![0.0; n.max(m)], vec![0.0; self.system.signature.inputs.len()]);
        let start = Point { t: 0.0, q: &q, v: &v, a: &zeros[..n], lambda: &zeros[..m], w: &w };
        for batch in &mut self.batches {
            batch.set_parameters(u, &start, &mut self.values);
        }
    }

    fn orders(&mut self) -> Option<Orders> {
        Some(match &mut self.factors {
            Factors::Dense(lu) => Orders::new(lu.order.clone()),
            Factors::Sparse(lu) => Orders::new(lu.kept()),
        })
    }

    fn take_orders(&mut self, orders: &Orders) {
        match &mut self.factors {
            Factors::Dense(lu) => orders.get::<Vec<usize>>().into_iter().for_each(|order| lu.order.clone_from(order)),
            Factors::Sparse(lu) => orders.get().into_iter().for_each(|kept| lu.take_kept(kept)),
        }
    }

    fn initial(&mut self, q: &mut [f64], v: &mut [f64]) {
        for (j, [position, velocity]) in self.system.initial.iter().enumerate() {
            q[j] = position.evaluate(&self.u);
            v[j] = velocity.evaluate(&self.u);
        }
    }

    fn initial_pull_back(&mut self, q: &[f64], v: &[f64], u: &mut [f64]) {
        for (j, [position, velocity]) in self.system.initial.iter().enumerate() {
            position.terms().iter().for_each(|&(k, factor)| u[k] += factor * q[j]);
            velocity.terms().iter().for_each(|&(k, factor)| u[k] += factor * v[j]);
        }
    }

    fn initial_push_forward(&mut self, u: &[f64], q: &mut [f64], v: &mut [f64]) {
        let along = |value: &super::Value| value.terms().iter().map(|&(k, factor)| factor * u[k]).sum::<f64>();
        for (j, [position, velocity]) in self.system.initial.iter().enumerate() {
            q[j] += along(position);
            v[j] += along(velocity);
        }
    }

    fn residual(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        dynamics.fill(0.0);
        constraint.fill(0.0);
        for batch in &mut self.batches {
            batch.residual(x, equations, &mut self.values, dynamics, constraint);
        }
        self.left_out.take(constraint, equations.level);
    }

    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        dynamics.fill(0.0);
        constraint.fill(0.0);
        self.batches.iter_mut().for_each(|batch| batch.round_off(x, equations, dynamics, constraint));
    }

    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> Result<(), SingularMatrix> {
        self.prepare_template(weights);
        dynamics.fill(0.0);
        constraint.fill(0.0);
        let matrix = self.factors.values_mut();
        matrix.copy_from_slice(&self.template);
        for batch in &mut self.batches {
            batch.newton(x, weights, &mut self.values, [&mut *dynamics, &mut *constraint], matrix);
        }
        self.left_out.take(constraint, weights.equations.level);
        self.left_out.fix(matrix);
        self.factored += 1;
        self.factors.factorise()
    }

    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> Result<(), SingularMatrix> {
        self.prepare_template(weights);
        let matrix = self.factors.values_mut();
        matrix.copy_from_slice(&self.template);
        for batch in &mut self.batches {
            batch.linearise(x, weights, &mut self.values, matrix);
        }
        self.level = weights.equations.level;
        self.left_out.clear_derivatives(&mut self.values);
        self.left_out.fix(matrix);
        self.factored += 1;
        self.factors.factorise()
    }

    fn factored(&self) -> Option<usize> {
        Some(self.factored)
    }

    fn solve(&mut self, b: &mut [f64]) {
        match &mut self.factors {
            Factors::Dense(lu) => lu.solve(b),
            Factors::Sparse(lu) => lu.solve(b),
        }
    }

    fn solve_all(&mut self, sides: &mut [f64], size: usize) {
        match &mut self.factors {
            Factors::Dense(lu) => lu.solve_all(sides),
            Factors::Sparse(lu) => sides.chunks_exact_mut(size).for_each(|b| lu.solve(b)),
        }
    }

    fn solve_transposed(&mut self, b: &mut [f64]) {
        match &mut self.factors {
            Factors::Dense(lu) => lu.solve_transposed(b),
            Factors::Sparse(lu) => lu.solve_transposed(b),
        }
    }

    fn pull_back(&mut self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector) {
        let (pattern, values) = (&self.system.pattern, &self.values);
        let StateVector { q, v, a, lambda, u, w, .. } = cotangent;
        multiply_transposed(&pattern.position, &values.position, scale, dynamics, q);
        multiply_transposed(&pattern.velocity, &values.velocity, scale, dynamics, v);
        multiply_transposed(&pattern.mass, &values.mass, scale, dynamics, a);
        multiply_transposed(&pattern.geometric, &values.geometric, scale, dynamics, q);
        for (&(row, column), value) in pattern.jacobian.iter().zip(&values.jacobian) {
            lambda[row as usize] += scale * value * dynamics[column as usize];
        }
        for (k, part) in [&mut *q, v, a].into_iter().enumerate().take(self.level as usize + 1) {
            let (factor, slopes) = self.constraint_by(k);
            multiply_transposed(&pattern.jacobian, slopes, scale * factor, constraint, part);
        }
        multiply_parameters_transposed(&pattern.by_parameter.entries, &values.by_parameter, scale, dynamics, u);
        multiply_parameters_transposed(&pattern.by_input, &values.by_parameter, scale, dynamics, w);
        let geometric = (&pattern.geometric_by_parameter.entries, &values.geometric_by_parameter);
        multiply_parameters_transposed(geometric.0, geometric.1, scale, dynamics, u);
        let rows = self.constraint_by_parameter();
        multiply_parameters_transposed(rows.0, rows.1, scale, constraint, u);
    }

    fn push_forward(&mut self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]) {
        let (pattern, values) = (&self.system.pattern, &self.values);
        multiply(&pattern.position, &values.position, &tangent.q, dynamics);
        multiply(&pattern.velocity, &values.velocity, &tangent.v, dynamics);
        multiply(&pattern.mass, &values.mass, &tangent.a, dynamics);
        multiply(&pattern.geometric, &values.geometric, &tangent.q, dynamics);
        multiply_transposed(&pattern.jacobian, &values.jacobian, 1.0, &tangent.lambda, dynamics);
        for (k, part) in [&tangent.q, &tangent.v, &tangent.a].into_iter().enumerate().take(self.level as usize + 1) {
            let (factor, slopes) = self.constraint_by(k);
            for (&(row, column), value) in pattern.jacobian.iter().zip(slopes) {
                constraint[row as usize] += factor * value * part[column as usize];
            }
        }
        multiply_parameters(&pattern.by_parameter.entries, &values.by_parameter, &tangent.u, dynamics);
        multiply_parameters(&pattern.by_input, &values.by_parameter, &tangent.w, dynamics);
        let geometric = (&pattern.geometric_by_parameter.entries, &values.geometric_by_parameter);
        multiply_parameters(geometric.0, geometric.1, &tangent.u, dynamics);
        let rows = self.constraint_by_parameter();
        multiply_parameters(rows.0, rows.1, &tangent.u, constraint);
    }

    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)> {
        // the residual takes what M is at x
        self.residual(x, Equations::MOTION, &mut vec![0.0; x.q.len()], &mut vec![0.0; x.lambda.len()]);
        let places = self.system.pattern.mass.iter().zip(&self.values.mass);
        places.map(|(&(row, column), &value)| (row, column, value)).collect()
    }

    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>> {
        let (mut dynamics, mut constraint) = (vec![0.0; x.q.len()], vec![0.0; x.lambda.len()]);
        self.residual(x, Equations::MOTION, &mut dynamics, &mut constraint);
        let mut rows = vec![Vec::new(); x.lambda.len()];
        for (&(row, column), &value) in self.system.pattern.jacobian.iter().zip(&self.values.jacobian) {
            rows[row as usize].push((column, value));
        }
        rows
    }

    fn left_out(&self) -> &[usize] {
        &self.left_out.rows
    }

    fn worst_left_out(&self) -> Option<(usize, f64)> {
        let LeftOut { rows, values, .. } = &self.left_out;
        let all = rows.iter().copied().zip(values.iter().map(|value| value.abs()));
        // NaN is worse than anything
        all.reduce(|worst, row| if row.1 <= worst.1 || worst.1.is_nan() { worst } else { row })
    }

    fn constraint(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]) {
        value.fill(0.0);
        self.batches.iter_mut().for_each(|batch| batch.level(level, x, value));
        if level == Level::Acceleration {
            // the start is measured against all rows, its accelerations and multipliers follow from those that count
            self.left_out.clear(value);
        }
    }

    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        y.fill(0.0);
        self.batches.iter_mut().for_each(|batch| batch.output(x, y));
    }

    fn linearise_output(&mut self, x: &OutputPoint<'_>) {
        for batch in &mut self.batches {
            batch.linearise_output(x, &mut self.values);
        }
    }

    fn output_pull_back(&mut self, y: &[f64], cotangent: &mut StateVector) {
        let (pattern, values) = (&self.system.pattern, &self.values);
        let sizes = Sizes::of(&self.system.signature);
        for (&(row, variable), value) in pattern.output.iter().zip(&values.output) {
            let (part, i) = sizes.output_variable(variable as usize);
            cotangent.part_mut(part)[i] += value * y[row as usize];
        }
        let (StateVector { u, w, .. }, values) = (cotangent, &values.output_by_parameter);
        multiply_parameters_transposed(&pattern.output_by_parameter.entries, values, 1.0, y, u);
        multiply_parameters_transposed(&pattern.output_by_input, values, 1.0, y, w);
    }

    fn output_push_forward(&mut self, tangent: &StateVector, y: &mut [f64]) {
        let (pattern, values) = (&self.system.pattern, &self.values);
        let sizes = Sizes::of(&self.system.signature);
        for (&(row, variable), value) in pattern.output.iter().zip(&values.output) {
            let (part, i) = sizes.output_variable(variable as usize);
            y[row as usize] += value * tangent.part(part)[i];
        }
        multiply_parameters(&pattern.output_by_parameter.entries, &values.output_by_parameter, &tangent.u, y);
        multiply_parameters(&pattern.output_by_input, &values.output_by_parameter, &tangent.w, y);
    }

    fn curvature(
        &mut self,
        x: &Point<'_>,
        equations: Equations,
        scale: f64,
        [dynamics, constraint]: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let constraint = self.left_out.mask(constraint);
        for batch in &mut self.batches {
            batch.curvature(x, equations, scale, [dynamics, constraint], (tangent, &mut *cotangent));
        }
    }

    fn initial_curvature(&mut self, _q: &[f64], _v: &[f64], _tangent: &[f64], _u: &mut [f64]) {
        // initial values are linear in the parameters
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        self.batches.iter_mut().for_each(|batch| batch.output_curvature(x, y, tangent, cotangent));
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        let Blocks {
            mass,
            inertia_by_position,
            constraint_force_by_position,
            force_by_position,
            force_by_velocity,
            constraint_by_position,
            force_by_parameter,
            inertia_by_parameter,
            constraint_force_by_parameter,
            constraint_by_parameter,
        } = blocks;
        for block in [
            mass,
            inertia_by_position,
            constraint_force_by_position,
            force_by_position,
            force_by_velocity,
            constraint_by_position,
            force_by_parameter,
            inertia_by_parameter,
            constraint_force_by_parameter,
            constraint_by_parameter,
        ] {
            block.fill(0.0);
        }
        self.batches.iter_mut().for_each(|batch| batch.blocks(x, blocks));
    }
}
