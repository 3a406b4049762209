//! From a [`Model`](crate::Model) to a [`System`](crate::System): values and exact derivatives by dual numbers, with dense matrices.
//!
//! Which variable enters which equation is found once; variables that touch different equations share a derivative
//! direction, constant matrices are computed once a parameter vector.

mod blocks;
mod constraint;
mod cost;
mod curvature;
mod dense_lu;
mod entries;
mod function;
mod functions;
mod kernel;
mod plain;
mod round_off;
mod step;
mod structure;

pub(crate) use functions::Functions;
use functions::Square;
pub use plain::Plain;

pub(crate) use blocks::evaluate as element_blocks;
pub(crate) use constraint::{
    ConstraintPoint, CurvatureKernel, JacobianKernel, TimeDerivatives, curvature_kernel, jacobian_kernel,
};
pub use cost::{CostFunction, Differentiated};
pub(crate) use curvature::Curvature;
pub(crate) use dense_lu::DenseLu;
pub(crate) use entries::{output_variable, output_variable_mut};
pub use function::{DifferentiatedFunction, ParameterFunction};
pub(crate) use kernel::{ForceKernel, FullEntries, OutputKernel, Plan, Sizes, force_kernel, output_kernel};
pub(crate) use round_off::RoundOff;
pub(crate) use step::step_jacobians;
pub(crate) use structure::{Structure, probe};

use crate::model::{Matrix, State};
use crate::number::Jet;
use crate::system::{Blocks, Equations, Evaluator, Level, OutputPoint, Point, SingularMatrix, StateVector, Weights};

/// Every variable on its own.
pub(crate) fn separate(equations: Equations) -> Weights {
    Weights { acceleration: 1.0, position: 1.0, velocity: 1.0, equations }
}

/// Constraints that are not linear in all coordinates, with first, and with second derivatives by those.
struct Curved {
    first: Box<dyn JacobianKernel>,
    second: Box<dyn CurvatureKernel>,
}

/// Derivatives at one point, as lists of entries.
struct PlainEvaluator<'s> {
    model: &'s dyn Functions,
    sizes: Sizes,
    structure: &'s Structure,
    u: Vec<f64>,
    /// Values of M's entries, in the order of the structure's list.
    mass: Vec<f64>,
    newton: Box<dyn ForceKernel + 's>,
    full: Box<dyn ForceKernel + 's>,
    /// Places of the values in `full_values`.
    full_entries: FullEntries,
    full_values: Vec<f64>,
    curved: Option<Curved>,
    /// By `full_variables`.
    curved_full: Option<Box<dyn CurvatureKernel>>,
    full_variables: Vec<usize>,
    /// What those kernels return: rows x variables, and variables x variables.
    slopes: Vec<f64>,
    second_slopes: Vec<f64>,
    outputs: Box<dyn OutputKernel>,
    output_entries: Vec<(usize, usize)>,
    output_values: Vec<f64>,
    output_is_current: bool,
    /// C_q, m x n.
    constraint_jacobian: Vec<f64>,
    /// d(C_qᵀ λ)/d(q, u), n x (n + p), and dC/du, m x p: from the last `linearise`.
    constraint_force_slope: Vec<f64>,
    constraint_by_parameter: Vec<f64>,
    /// K without what changes from point to point, for `template_weights`.
    template: Vec<f64>,
    template_weights: Option<Weights>,
    lu: DenseLu,
    /// Derivatives of dC/dt and d²C/dt², as those of C: by q, m x n, and by u, m x p.
    rates: [Vec<f64>; 2],
    rates_by_parameter: [Vec<f64>; 2],
    rate_slopes: [Vec<f64>; 3],
    time_derivatives: TimeDerivatives,
    /// What was linearised last.
    level: Level,
    curvature: Curvature<'s>,
    round_off: RoundOff,
    dynamics_scratch: Vec<f64>,
    constraint_scratch: Vec<f64>,
    mass_matrix: Matrix<f64>,
}

impl<'s> PlainEvaluator<'s> {
    fn new(model: &'s dyn Functions, sizes: Sizes, structure: &'s Structure) -> Self {
        let Sizes { n, m, p, .. } = sizes;
        let size = n + m;
        let newton_plan = Plan::newton(structure, n, size);
        let (full_plan, full_entries) = Plan::full(structure, n, p);
        let (output_plan, output_entries) = Plan::output(structure, 4 * n + m + p);
        let with_mass = structure.mass_by_position || structure.mass_by_parameter;
        let coordinates = &structure.curved_coordinates;
        let curved = (!coordinates.is_empty()).then(|| Curved {
            first: jacobian_kernel(sizes, coordinates.clone()),
            second: curvature_kernel(sizes, coordinates.clone()),
        });
        let mut variables = structure.curved_or_parametric.clone();
        variables.extend(structure.constraint_parameters.iter().map(|k| n + k));
        let variables_count = variables.len();
        let curved_full = (!variables.is_empty()).then(|| curvature_kernel(sizes, variables.clone()));
        PlainEvaluator {
            model,
            sizes,
            structure,
            u: vec![0.0; p],
            mass: vec![0.0; structure.mass.len()],
            newton: force_kernel(sizes, newton_plan, &structure.mass, structure.mass_by_position),
            full: force_kernel(sizes, full_plan, &structure.mass, with_mass),
            full_values: vec![0.0; full_entries.len()],
            full_entries,
            curved,
            curved_full,
            slopes: vec![0.0; m * n.max(variables.len())],
            second_slopes: vec![0.0; variables.len() * variables.len()],
            full_variables: variables,
            outputs: output_kernel(sizes, output_plan),
            output_values: vec![0.0; output_entries.len()],
            output_entries,
            output_is_current: false,
            constraint_jacobian: vec![0.0; m * n],
            constraint_force_slope: vec![0.0; n * (n + p)],
            constraint_by_parameter: vec![0.0; m * p],
            template: vec![0.0; size * size],
            template_weights: None,
            lu: DenseLu::new(size),
            rates: [(); 2].map(|()| vec![0.0; m * n]),
            rates_by_parameter: [(); 2].map(|()| vec![0.0; m * p]),
            rate_slopes: [(); 3].map(|()| vec![0.0; m * variables_count]),
            time_derivatives: TimeDerivatives::new(sizes),
            level: Level::Position,
            curvature: Curvature::new(structure, sizes),
            round_off: RoundOff::new(sizes),
            dynamics_scratch: vec![0.0; n],
            constraint_scratch: vec![0.0; m],
            mass_matrix: Matrix::filled(n, n, 0.0),
        }
    }

    /// Takes the entries of M at `q`.
    fn update_mass(&mut self, q: &[f64]) {
        self.mass_matrix.fill(0.0);
        self.model.mass(q, &self.u, &mut self.mass_matrix);
        for (value, &place) in self.mass.iter_mut().zip(&self.structure.mass) {
            *value = self.mass_matrix[place];
        }
    }

    /// Adds `scale` M a with the cached entries of M.
    fn add_inertia(&self, scale: f64, a: &[f64], force: &mut [f64]) {
        for (&(row, column), value) in self.structure.mass.iter().zip(&self.mass) {
            force[row] += scale * value * a[column];
        }
    }

    /// Adds C_qᵀ λ.
    fn add_constraint_force(&self, lambda: &[f64], force: &mut [f64]) {
        let n = self.sizes.n;
        for &(row, j) in &self.structure.constraint {
            force[j] += self.constraint_jacobian[row * n + j] * lambda[row];
        }
    }

    /// The part of K that does not change from point to point.
    fn prepare_template(&mut self, weights: Weights) {
        if self.template_weights == Some(weights) {
            return;
        }
        let Sizes { n, m, .. } = self.sizes;
        let size = n + m;
        self.template.fill(0.0);
        if !self.structure.mass_by_position {
            for (&(row, column), value) in self.structure.mass.iter().zip(&self.mass) {
                self.template[row * size + column] += weights.acceleration * value;
            }
        }
        for &(row, j) in &self.structure.constraint {
            let value = self.constraint_jacobian[row * n + j];
            self.template[j * size + n + row] = value;
            self.template[(n + row) * size + j] = value;
        }
        self.template_weights = Some(weights);
    }

    /// What a level above positions makes of the constraints, and of their rows in K if it is being worked out.
    fn take_level(&mut self, x: &Point<'_>, equations: Equations, weights: Option<Weights>, constraint: &mut [f64]) {
        let Sizes { n, m, .. } = self.sizes;
        if m == 0 || equations.level == Level::Position {
            return;
        }
        self.time_derivatives.value(self.model, equations.level, x, &self.u, constraint);
        let coordinates = &self.structure.curved_coordinates;
        let Some(rate) = weights.map(|weights| weights.rate()).filter(|rate| *rate != 0.0) else { return };
        self.time_derivatives.slopes(self.model, x, &self.u, coordinates, &mut self.rate_slopes);
        let matrix = self.lu.matrix_mut();
        for (entry, slope) in self.rate_slopes[1][..m * coordinates.len()].iter().enumerate() {
            let (row, j) = (entry / coordinates.len(), coordinates[entry % coordinates.len()]);
            matrix[(n + row) * (n + m) + j] += rate * slope;
        }
    }

    /// Derivatives of dC/dt and d²C/dt² by coordinates and parameters.
    fn linearise_level(&mut self, x: &Point<'_>, weights: Weights) {
        let Sizes { n, m, p, .. } = self.sizes;
        self.level = weights.equations.level;
        if m == 0 || self.level == Level::Position {
            return;
        }
        let variables = &self.full_variables;
        self.time_derivatives.slopes(self.model, x, &self.u, variables, &mut self.rate_slopes);
        for (level, slopes) in self.rate_slopes[1..].iter().enumerate() {
            for (row, slopes) in slopes.chunks_exact(variables.len().max(1)).enumerate() {
                for (&variable, &slope) in variables.iter().zip(slopes) {
                    match variable.checked_sub(n) {
                        None => self.rates[level][row * n + variable] = slope,
                        Some(k) => self.rates_by_parameter[level][row * p + k] = slope,
                    }
                }
            }
        }
        let (rate, matrix) = (weights.rate(), self.lu.matrix_mut());
        for &(row, j) in self.structure.constraint.iter().filter(|_| rate != 0.0) {
            matrix[(n + row) * (n + m) + j] += rate * self.rates[0][row * n + j];
        }
    }

    /// Derivatives of the linearised constraints by the k-th time derivative of q, m x n, with their factor.
    #[inline]
    fn constraint_by(&self, k: usize) -> (f64, &[f64]) {
        let level = self.level as usize;
        let slopes = (level - k).checked_sub(1).map_or(&self.constraint_jacobian, |rate| &self.rates[rate]);
        (binomial(level, k), slopes)
    }

    /// Those by parameters, m x p.
    #[inline]
    fn constraint_by_parameter(&self) -> &[f64] {
        let rate = (self.level as usize).checked_sub(1);
        rate.map_or(&self.constraint_by_parameter, |rate| &self.rates_by_parameter[rate])
    }

    /// Updates the columns of C_q that change, and fills C; adds J_C times the weight of positions to K if asked.
    fn curve(&mut self, x: &Point<'_>, position_weight: Option<f64>, constraint: &mut [f64]) {
        let Sizes { n, m, .. } = self.sizes;
        let size = n + m;
        let model = self.model;
        let Some(Curved { first, second }) = &mut self.curved else {
            if m > 0 {
                constraint.fill(0.0);
                model.constraint(x.t, x.q, &self.u, constraint);
            }
            return;
        };
        let coordinates = &self.structure.curved_coordinates;
        let count = coordinates.len();
        let at = ConstraintPoint { t: x.t, q: x.q, u: &self.u };
        let slopes = &mut self.slopes[..m * count];
        match position_weight {
            None => first.evaluate(model, at, constraint, slopes),
            Some(weight) => {
                let second_slopes = &mut self.second_slopes[..count * count];
                second.evaluate(model, at, x.lambda, constraint, slopes, second_slopes);
                let matrix = self.lu.matrix_mut();
                for (row, &j) in second_slopes.chunks_exact(count).zip(coordinates) {
                    for (&k, value) in coordinates.iter().zip(row) {
                        matrix[j * size + k] += weight * value;
                    }
                }
            }
        }
        for (row, slopes) in slopes.chunks_exact(count).enumerate() {
            for (&j, &value) in coordinates.iter().zip(slopes) {
                self.constraint_jacobian[row * n + j] = value;
                if position_weight.is_some() {
                    let matrix = self.lu.matrix_mut();
                    matrix[j * size + n + row] = value;
                    matrix[(n + row) * size + j] = value;
                }
            }
        }
    }
}

/// l over k, l at most 2.
pub(crate) fn binomial(l: usize, k: usize) -> f64 {
    if l == 2 && k == 1 { 2.0 } else { 1.0 }
}

impl Evaluator for PlainEvaluator<'_> {
    fn set_parameters(&mut self, u: &[f64]) {
        let Sizes { n, m, .. } = self.sizes;
        let structure = self.structure;
        self.u.copy_from_slice(u);
        self.newton.set_parameters(u);
        self.full.set_parameters(u);
        self.outputs.set_parameters(u);
        self.template_weights = None;
        self.lu.forget_order();
        self.output_is_current = false;
        // where it does not matter: no coordinate at a value that a function might divide by
        let anywhere = probe(n, 0.3);
        if !structure.mass_by_position {
            self.update_mass(&anywhere);
        }
        if m > 0 {
            // columns of C_q that neither q nor t changes
            let fixed: Vec<usize> = (0..n).filter(|j| !structure.curved_coordinates.contains(j)).collect();
            if !fixed.is_empty() {
                let mut kernel = jacobian_kernel(self.sizes, fixed.clone());
                let mut value = vec![0.0; m];
                let slopes = &mut self.slopes[..m * fixed.len()];
                let (mut start, mut speed) = (vec![0.0; n], vec![0.0; n]);
                self.model.initial(u, &mut start, &mut speed);
                // a constraint may be defined near the start only (a root, a logarithm)
                for point in [&anywhere, &start] {
                    let at = ConstraintPoint { t: 0.37, q: point, u };
                    kernel.evaluate(self.model, at, &mut value, slopes);
                    if slopes.iter().all(|slope| slope.is_finite()) {
                        break;
                    }
                }
                for (row, slopes) in slopes.chunks_exact(fixed.len()).enumerate() {
                    fixed.iter().zip(slopes).for_each(|(j, slope)| self.constraint_jacobian[row * n + j] = *slope);
                }
            }
        }
    }

    fn initial(&mut self, q: &mut [f64], v: &mut [f64]) {
        q.fill(0.0);
        v.fill(0.0);
        self.model.initial(&self.u, q, v);
    }

    fn initial_pull_back(&mut self, q: &[f64], v: &[f64], u: &mut [f64]) {
        let n = self.sizes.n;
        let mut direction = vec![0.0; self.u.len()];
        for &k in &self.structure.initial_parameters {
            direction[k] = 1.0;
            let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
            self.initial_push_forward(&direction, &mut dq, &mut dv);
            direction[k] = 0.0;
            u[k] += dq.iter().zip(q).chain(dv.iter().zip(v)).map(|(d, bar)| d * bar).sum::<f64>();
        }
    }

    fn initial_push_forward(&mut self, u: &[f64], q: &mut [f64], v: &mut [f64]) {
        let zero = Jet { re: 0.0, eps: [0.0] };
        let parameters: Vec<Jet<f64, 1>> = self.u.iter().zip(u).map(|(&re, &du)| Jet { re, eps: [du] }).collect();
        let (mut dq, mut dv) = (vec![zero; q.len()], vec![zero; v.len()]);
        self.model.initial(&parameters, &mut dq, &mut dv);
        q.iter_mut().zip(&dq).chain(v.iter_mut().zip(&dv)).for_each(|(value, jet)| *value += jet.eps[0]);
    }

    fn residual(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        dynamics.fill(0.0);
        if equations.forces {
            self.model.force(x.t, x.q, x.v, x.w, &self.u, dynamics);
        }
        dynamics.iter_mut().for_each(|value| *value = -*value);
        if self.structure.mass_by_position {
            self.update_mass(x.q);
        }
        self.add_inertia(1.0, x.a, dynamics);
        self.curve(x, None, constraint);
        self.add_constraint_force(x.lambda, dynamics);
        self.take_level(x, equations, None, constraint);
    }

    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.round_off.bound(self.model, (x, &self.u), equations, dynamics, constraint);
    }

    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> std::result::Result<(), SingularMatrix> {
        self.prepare_template(weights);
        self.lu.matrix_mut().copy_from_slice(&self.template);
        self.newton.evaluate(self.model, x, weights, dynamics, self.lu.matrix_mut(), &mut self.mass);
        if !self.structure.mass_by_position {
            self.add_inertia(1.0, x.a, dynamics);
        }
        self.curve(x, Some(weights.position), constraint);
        self.add_constraint_force(x.lambda, dynamics);
        self.take_level(x, weights.equations, Some(weights), constraint);
        if self.lu.factorise() { Ok(()) } else { Err(SingularMatrix) }
    }

    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        let Sizes { n, m, p, .. } = self.sizes;
        let size = n + m;
        let structure = self.structure;
        self.full_values.fill(0.0);
        // the residual itself is not needed here
        let separate = separate(weights.equations);
        self.full.evaluate(self.model, x, separate, &mut self.dynamics_scratch, &mut self.full_values, &mut self.mass);
        if let Some(kernel) = &mut self.curved_full {
            let variables = &self.full_variables;
            let count = variables.len();
            let at = ConstraintPoint { t: x.t, q: x.q, u: &self.u };
            let slopes = &mut self.slopes[..m * count];
            kernel.evaluate(self.model, at, x.lambda, &mut self.constraint_scratch, slopes, &mut self.second_slopes);
            for (row, slopes) in slopes.chunks_exact(count).enumerate() {
                for (&variable, &slope) in variables.iter().zip(slopes) {
                    match variable.checked_sub(n) {
                        None => self.constraint_jacobian[row * n + variable] = slope,
                        Some(k) => self.constraint_by_parameter[row * p + k] = slope,
                    }
                }
            }
            for (&j, slopes) in structure.curved_or_parametric.iter().zip(self.second_slopes.chunks_exact(count)) {
                for (variable, slope) in variables.iter().zip(slopes) {
                    self.constraint_force_slope[j * (n + p) + variable] = *slope;
                }
            }
        }
        self.prepare_template(weights);
        let matrix = self.lu.matrix_mut();
        matrix.copy_from_slice(&self.template);
        if structure.mass_by_position {
            for (&(row, column), value) in structure.mass.iter().zip(&self.mass) {
                matrix[row * size + column] += weights.acceleration * value;
            }
        }
        let [by_position, by_velocity, _] = self.full_entries.split(&self.full_values);
        for (&(row, j), value) in self.full_entries.position.iter().zip(by_position) {
            matrix[row * size + j] += weights.position * value;
        }
        for (&(row, j), value) in self.full_entries.velocity.iter().zip(by_velocity) {
            matrix[row * size + j] += weights.velocity * value;
        }
        for &j in &structure.curved_coordinates {
            for &k in &structure.curved_coordinates {
                matrix[j * size + k] += weights.position * self.constraint_force_slope[j * (n + p) + k];
            }
            for row in 0..m {
                let value = self.constraint_jacobian[row * n + j];
                matrix[j * size + n + row] = value;
                matrix[(n + row) * size + j] = value;
            }
        }
        self.linearise_level(x, weights);
        if self.lu.factorise() { Ok(()) } else { Err(SingularMatrix) }
    }

    fn solve(&mut self, b: &mut [f64]) {
        self.lu.solve(b);
    }

    fn solve_transposed(&mut self, b: &mut [f64]) {
        self.lu.solve_transposed(b);
    }

    fn pull_back(&self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector) {
        let Sizes { n, p, .. } = self.sizes;
        let structure = self.structure;
        let entries = &self.full_entries;
        let [by_position, by_velocity, by_parameter] = entries.split(&self.full_values);
        let parts = [
            (&entries.position, by_position, &mut cotangent.q),
            (&entries.velocity, by_velocity, &mut cotangent.v),
            (&entries.parameter, by_parameter, &mut cotangent.u),
        ];
        for (entries, values, part) in parts {
            for (&(row, variable), value) in entries.iter().zip(values) {
                part[variable] += scale * value * dynamics[row];
            }
        }
        for (&(row, column), value) in structure.mass.iter().zip(&self.mass) {
            cotangent.a[column] += scale * value * dynamics[row];
        }
        let of_positions = self.level == Level::Position;
        for &(row, j) in &structure.constraint {
            let value = scale * self.constraint_jacobian[row * n + j];
            cotangent.lambda[row] += value * dynamics[j];
            if of_positions {
                cotangent.q[j] += value * constraint[row];
            }
        }
        let StateVector { q, v, a, .. } = cotangent;
        let levels = if of_positions { 0 } else { self.level as usize + 1 };
        for (k, part) in [q, v, a].into_iter().enumerate().take(levels) {
            let (factor, slopes) = self.constraint_by(k);
            for &(row, j) in &structure.constraint {
                part[j] += scale * factor * slopes[row * n + j] * constraint[row];
            }
        }
        let by_parameter = self.constraint_by_parameter();
        for &j in &structure.curved_or_parametric {
            let slopes = &self.constraint_force_slope[j * (n + p)..(j + 1) * (n + p)];
            for &k in &structure.curved_or_parametric {
                cotangent.q[k] += scale * slopes[k] * dynamics[j];
            }
            for &k in &structure.constraint_parameters {
                cotangent.u[k] += scale * slopes[n + k] * dynamics[j];
            }
        }
        for &k in &structure.constraint_parameters {
            for (row, c) in constraint.iter().enumerate() {
                cotangent.u[k] += scale * by_parameter[row * p + k] * c;
            }
        }
    }

    fn push_forward(&self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]) {
        let Sizes { n, p, .. } = self.sizes;
        let structure = self.structure;
        let entries = &self.full_entries;
        let [by_position, by_velocity, by_parameter] = entries.split(&self.full_values);
        let parts = [
            (&entries.position, by_position, &tangent.q),
            (&entries.velocity, by_velocity, &tangent.v),
            (&entries.parameter, by_parameter, &tangent.u),
        ];
        for (entries, values, part) in parts {
            for (&(row, variable), value) in entries.iter().zip(values) {
                dynamics[row] += value * part[variable];
            }
        }
        self.add_inertia(1.0, &tangent.a, dynamics);
        let of_positions = self.level == Level::Position;
        for &(row, j) in &structure.constraint {
            let value = self.constraint_jacobian[row * n + j];
            dynamics[j] += value * tangent.lambda[row];
            if of_positions {
                constraint[row] += value * tangent.q[j];
            }
        }
        let levels = if of_positions { 0 } else { self.level as usize + 1 };
        for (k, part) in [&tangent.q, &tangent.v, &tangent.a].into_iter().enumerate().take(levels) {
            let (factor, slopes) = self.constraint_by(k);
            for &(row, j) in &structure.constraint {
                constraint[row] += factor * slopes[row * n + j] * part[j];
            }
        }
        let by_parameter = self.constraint_by_parameter();
        for &j in &structure.curved_or_parametric {
            let slopes = &self.constraint_force_slope[j * (n + p)..(j + 1) * (n + p)];
            for &k in &structure.curved_or_parametric {
                dynamics[j] += slopes[k] * tangent.q[k];
            }
            for &k in &structure.constraint_parameters {
                dynamics[j] += slopes[n + k] * tangent.u[k];
            }
        }
        for &k in &structure.constraint_parameters {
            for (row, c) in constraint.iter_mut().enumerate() {
                *c += by_parameter[row * p + k] * tangent.u[k];
            }
        }
    }

    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)> {
        self.update_mass(x.q);
        let places = self.structure.mass.iter().zip(&self.mass);
        places.map(|(&(row, column), &value)| (row as u32, column as u32, value)).collect()
    }

    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>> {
        let Sizes { n, m, .. } = self.sizes;
        self.curve(x, None, &mut vec![0.0; m]);
        let row = |row: usize| (0..n).map(|j| (j as u32, self.constraint_jacobian[row * n + j])).collect();
        (0..m).map(row).collect()
    }

    fn constraint(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]) {
        self.time_derivatives.value(self.model, level, x, &self.u, value);
    }

    fn curvature(
        &mut self,
        x: &Point<'_>,
        Equations { forces, level }: Equations,
        scale: f64,
        [d, c]: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let at = (x, &self.u[..]);
        if level == Level::Position {
            return self.curvature.equations(self.model, at, forces, scale, [d, c], tangent, cotangent);
        }
        self.constraint_scratch.fill(0.0);
        let no_rows = &self.constraint_scratch[..];
        self.curvature.equations(self.model, at, forces, scale, [d, no_rows], tangent, cotangent);
        self.time_derivatives.curvature(self.model, level, at, (scale, c), tangent, cotangent);
    }

    fn initial_curvature(&mut self, q: &[f64], v: &[f64], tangent: &[f64], u: &mut [f64]) {
        type Second = Square<1>;
        let parameters = self.u.iter().zip(tangent).map(|(&re, &du)| Jet::constant(Jet { re, eps: [du] }));
        let mut parameters: Vec<Second> = parameters.collect();
        for &k in &self.structure.initial_parameters {
            parameters[k].eps[0].re = 1.0;
            let (mut q_jets, mut v_jets) = (vec![Second::from(0.0); q.len()], vec![Second::from(0.0); v.len()]);
            self.model.initial(&parameters, &mut q_jets, &mut v_jets);
            parameters[k].eps[0].re = 0.0;
            let slopes = q_jets.iter().zip(q).chain(v_jets.iter().zip(v));
            u[k] += slopes.map(|(jet, bar)| bar * jet.eps[0].eps[0]).sum::<f64>();
        }
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        self.curvature.output(self.model, x, &self.u, y, tangent, cotangent);
    }

    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        y.fill(0.0);
        let OutputPoint { t, q, v, a, a_scheme, lambda, w } = *x;
        self.model.output(t, &State { q, v, a, a_scheme, lambda, w }, &self.u, y);
    }

    fn linearise_output(&mut self, x: &OutputPoint<'_>) {
        if !self.output_is_current {
            self.outputs.evaluate(self.model, x, &mut self.output_values);
            self.output_is_current = self.structure.output_is_linear;
        }
    }

    fn output_pull_back(&self, y: &[f64], cotangent: &mut StateVector) {
        let Sizes { n, m, .. } = self.sizes;
        for (&(row, variable), value) in self.output_entries.iter().zip(&self.output_values) {
            *output_variable_mut(cotangent, n, m, variable) += value * y[row];
        }
    }

    fn output_push_forward(&self, tangent: &StateVector, y: &mut [f64]) {
        let Sizes { n, m, .. } = self.sizes;
        for (&(row, variable), value) in self.output_entries.iter().zip(&self.output_values) {
            y[row] += value * output_variable(tangent, n, m, variable);
        }
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        blocks::evaluate(self.model, x, &self.u, blocks);
    }
}
