//! From a [`Model`](crate::Model) to a [`System`](crate::system::System): values and exact derivatives by dual numbers, with dense matrices.
//!
//! Which variable enters which equation is found once; variables that touch different equations share a derivative
//! direction, constant matrices are computed once a parameter vector.

mod blocks;
mod choice;
mod constraint;
mod cost;
mod curvature;
mod dense_lu;
mod function;
mod functions;
mod kernel;
mod newton_matrix;
mod pattern;
pub(crate) mod plain;
mod plan;
mod reverse;
mod round_off;
mod steady;
mod step;
mod structure;
mod waist;

pub use functions::Functions;

pub use blocks::evaluate as element_blocks;
pub use constraint::{
    ConstraintPoint, CurvatureKernel, JacobianKernel, TimeDerivatives, curvature_kernel, jacobian_kernel,
};
pub use cost::{CostFunction, Differentiated};
pub use curvature::Curvature;
pub use dense_lu::DenseLu;
pub use function::{DifferentiatedFunction, Function, ParameterFunction};
pub use kernel::{ForceKernel, OutputKernel, Sizes, force_kernel, output_kernel};
pub use plan::{FullEntries, Plan};
pub use round_off::RoundOff;
pub use step::step_jacobians;
pub use structure::{Structure, probe};

use crate::Matrix;
use crate::linear::clear;
use crate::system::{By, Equations, Evaluator, Level, Mode, Point, SingularMatrix, StatePart, Weights};
use choice::Choice;
use newton_matrix::NewtonMatrix;
use pattern::Pattern;
use reverse::Reverse;
use steady::Steady;

/// All derivatives of M a - Q: by positions and velocities as whole matrices, one behind the other, then those by parameters and
/// inputs, as listed. Those that change, and those that do not.
fn full_plans(structure: &Structure, sizes: Sizes) -> ([Plan; 2], FullEntries) {
    let n = sizes.n;
    let (mut plans, entries) = Plan::full_in_two(structure, sizes);
    let FullEntries { position, velocity, parameter } = &entries;
    let places: Vec<usize> = (position.iter().map(|(row, j)| row * n + j))
        .chain(velocity.iter().map(|(row, j)| (n + row) * n + j))
        .chain(2 * n * n..2 * n * n + parameter.len())
        .collect();
    plans.iter_mut().for_each(|plan| plan.redirect(|number| places[number]));
    (plans, entries)
}

/// Every variable on its own.
pub fn separate(equations: Equations) -> Weights {
    Weights { acceleration: 1.0, position: 1.0, velocity: 1.0, state: 1.0, compliance: 0.0, equations }
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
    /// Structure with all parameters and inputs.
    structure: &'s Structure,
    /// Parameters by which is differentiated (all, if there is no list), and whether inputs are.
    by: (Option<Vec<usize>>, bool),
    /// Products with derivatives by parameters that are not among the entries below.
    reverse: Option<Box<Reverse>>,
    /// Evaluator whose entries have all of them, made when it is asked for, and whether it has what was linearised last.
    forward: Option<Box<PlainEvaluator<'s>>>,
    is_forward: bool,
    output_is_forward: bool,
    u: Vec<f64>,
    /// Values of M's entries, in the order of the structure's list.
    mass: Vec<f64>,
    newton: Box<dyn ForceKernel + 's>,
    full: Box<dyn ForceKernel + 's>,
    /// Derivatives of M a - Q: by q, n x n, by v, n x n, and those by parameters and inputs that can be non-zero.
    full_values: Vec<f64>,
    steady: Steady<'s>,
    /// Places among these, and places in K, of those by q and by v that change.
    changing: [Vec<(u32, u32)>; 2],
    by_position: Pattern,
    by_velocity: Pattern,
    /// Rows of the last ones, and their variables (u, w).
    parameter_entries: Vec<(usize, usize)>,
    curved: Option<Curved>,
    /// Coordinates, and parameters, with second derivatives of C, and parameters of the initial state.
    curved_or_parametric: Vec<usize>,
    constraint_parameters: Vec<usize>,
    initial_parameters: Vec<usize>,
    initial_in_reverse: bool,
    /// Second derivatives of C by `full_variables`.
    curved_full: Option<Box<dyn CurvatureKernel>>,
    full_variables: Vec<usize>,
    /// Derivatives that those kernels return: rows x variables, and variables x variables.
    slopes: Vec<f64>,
    second_slopes: Vec<f64>,
    outputs: Box<dyn OutputKernel>,
    /// Rows, and what they are differentiated by.
    output_entries: Vec<(usize, (StatePart, usize))>,
    output_values: Vec<f64>,
    output_is_current: bool,
    /// C_q, m x n.
    constraint_jacobian: Vec<f64>,
    constraint_pattern: Pattern,
    /// d(C_qᵀ λ)/d(q, u), n x (n + p), and dC/du, m x p: from the last `linearise`.
    constraint_force_slope: Vec<f64>,
    constraint_by_parameter: Vec<f64>,
    /// K without what changes from point to point, for `template_weights`.
    template: Vec<f64>,
    template_weights: Option<Weights>,
    matrix: NewtonMatrix,
    /// Derivatives of dC/dt and d²C/dt², as those of C: by q, m x n, and by u, m x p.
    rates: [Vec<f64>; 2],
    rates_by_parameter: [Vec<f64>; 2],
    rate_slopes: [Vec<f64>; 3],
    time_derivatives: TimeDerivatives,
    /// Level of the constraints that were linearised last.
    level: Level,
    curvature: Curvature<'s>,
    round_off: RoundOff,
    constraint_scratch: Vec<f64>,
    mass_matrix: Matrix<f64>,
}

impl<'s> PlainEvaluator<'s> {
    /// `structure`: with all parameters and inputs.
    fn new(model: &'s dyn Functions, sizes: Sizes, structure: &'s Structure, by: By<'_>) -> Self {
        let Sizes { n, m, p, .. } = sizes;
        let size = n + m;
        let whole = structure.by(sizes, by);
        let choice = Choice::of(&whole, sizes, by.mode);
        // what is found forwards
        let rest = choice.rest(&whole, sizes);
        let (newton_plan, steady_entries) = Plan::newton(structure, n, size);
        let ([full_plan, steady_plan], FullEntries { position, velocity, parameter: parameter_entries }) =
            full_plans(&rest, sizes);
        let mut first = 0;
        let changing = [&position, &velocity].map(|entries| {
            let from = std::mem::replace(&mut first, n * n);
            let changing = entries.iter().filter(|entry| steady_entries.binary_search(entry).is_err());
            changing.map(|(row, j)| ((from + row * n + j) as u32, (row * size + j) as u32)).collect()
        });
        let values = vec![0.0; 2 * n * n + parameter_entries.len()];
        let of_motion = |plan: Plan, with_mass: bool| force_kernel(sizes, plan, &structure.mass, with_mass);
        let kernel = (!steady_plan.is_empty()).then(|| of_motion(steady_plan, false));
        let steady = Steady::new(kernel, values.len(), (n, n - sizes.states), steady_entries);
        let (output_plan, output_entries) = Plan::output(&rest, sizes.output_variables());
        let with_mass = rest.mass_by_position || rest.mass_by_parameter;
        let coordinates = &structure.curved_coordinates;
        let curved = (!coordinates.is_empty()).then(|| Curved {
            first: jacobian_kernel(sizes, coordinates.clone()),
            second: curvature_kernel(sizes, &structure.constraint, coordinates.clone()),
        });
        let mut variables = rest.curved_or_parametric.clone();
        variables.extend(rest.constraint_parameters.iter().map(|k| n + k));
        let variables_count = variables.len();
        let curved_full =
            (!variables.is_empty()).then(|| curvature_kernel(sizes, &structure.constraint, variables.clone()));
        PlainEvaluator {
            model,
            sizes,
            structure,
            by: (by.parameters.map(<[usize]>::to_vec), by.inputs),
            reverse: choice.any().then(|| Box::new(Reverse::new(&whole, sizes, &choice))),
            forward: None,
            is_forward: false,
            output_is_forward: false,
            u: vec![0.0; p],
            mass: vec![0.0; structure.mass.len()],
            newton: of_motion(newton_plan, structure.mass_by_position),
            full: of_motion(full_plan, with_mass),
            full_values: values,
            steady,
            changing,
            by_position: Pattern::new(n, position),
            by_velocity: Pattern::new(n, velocity),
            parameter_entries,
            curved,
            curved_full,
            slopes: vec![0.0; m * n.max(variables.len())],
            second_slopes: vec![0.0; variables.len() * variables.len()],
            full_variables: variables,
            outputs: output_kernel(sizes, output_plan),
            output_values: vec![0.0; output_entries.len()],
            output_entries: output_entries.into_iter().map(|(row, i)| (row, sizes.output_variable(i))).collect(),
            output_is_current: false,
            constraint_jacobian: vec![0.0; m * n],
            constraint_pattern: Pattern::new(n, structure.constraint.clone()),
            constraint_force_slope: vec![0.0; n * (n + p)],
            constraint_by_parameter: vec![0.0; m * p],
            template: vec![0.0; size * size],
            template_weights: None,
            matrix: NewtonMatrix::new(structure, sizes),
            rates: [(); 2].map(|()| vec![0.0; m * n]),
            rates_by_parameter: [(); 2].map(|()| vec![0.0; m * p]),
            rate_slopes: [(); 3].map(|()| vec![0.0; m * variables_count]),
            time_derivatives: TimeDerivatives::new(sizes, &whole),
            level: Level::Position,
            curvature: Curvature::new(structure, (&rest, whole.curved_or_parametric), sizes),
            curved_or_parametric: rest.curved_or_parametric,
            constraint_parameters: rest.constraint_parameters,
            initial_parameters: whole.initial_parameters,
            initial_in_reverse: choice.initial,
            round_off: RoundOff::new(sizes),
            constraint_scratch: vec![0.0; m],
            mass_matrix: Matrix::filled(n, n, 0.0),
        }
    }

    /// The one whose entries have the derivatives by all parameters.
    fn forward(&mut self) -> &mut PlainEvaluator<'s> {
        let PlainEvaluator { model, sizes, structure, by, u, .. } = self;
        self.forward.get_or_insert_with(|| {
            let by = By { parameters: by.0.as_deref(), inputs: by.1, mode: Mode::Forward };
            let mut forward = PlainEvaluator::new(*model, *sizes, structure, by);
            forward.set_parameters(u);
            Box::new(forward)
        })
    }

    /// Has first derivatives by all parameters found forwards where they were to be found in reverse.
    fn go_forward(&mut self) {
        let Some(reverse) = self.reverse.take() else { return };
        let (point, weights) = reverse.point();
        // only products are asked for
        let _ = self.forward().linearise(&point, weights);
        (self.reverse, self.is_forward) = (Some(reverse), true);
    }

    /// Goes over to forward derivatives of the outputs.
    fn go_output_forward(&mut self) {
        let Some(reverse) = self.reverse.take() else { return };
        self.forward().linearise_output(&reverse.output_point());
        (self.reverse, self.output_is_forward) = (Some(reverse), true);
    }

    /// Takes first derivatives by all parameters forwards.
    fn linearise_forwards(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        self.forward();
        let PlainEvaluator { forward: Some(forward), matrix, is_forward, .. } = self else {
            return Err(SingularMatrix);
        };
        // the factors are this one's, as their order is
        std::mem::swap(&mut forward.matrix, matrix);
        let outcome = forward.linearise(x, weights);
        std::mem::swap(&mut forward.matrix, matrix);
        *is_forward = true;
        outcome
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
        if !lambda.is_empty() {
            self.constraint_pattern.add_transposed(&self.constraint_jacobian, 1.0, lambda, force);
        }
    }

    /// The part of K that does not change from point to point.
    #[inline(always)]
    fn prepare_template(&mut self, x: &Point<'_>, weights: Weights) {
        if self.template_weights != Some(weights) {
            self.make_template(x, weights);
        }
    }

    fn make_template(&mut self, x: &Point<'_>, weights: Weights) {
        self.steady.find(self.model, x);
        let Sizes { n, m, .. } = self.sizes;
        let size = n + m;
        self.template.fill(0.0);
        if !self.structure.mass_by_position {
            for (&(row, column), value) in self.structure.mass.iter().zip(&self.mass) {
                self.template[row * size + column] += weights.acceleration * value;
            }
        }
        self.steady.add_to(&mut self.template, size, weights);
        for &(row, j) in &self.structure.constraint {
            let value = self.constraint_jacobian[row * n + j];
            self.template[j * size + n + row] = value;
            self.template[(n + row) * size + j] = value;
        }
        (n..size).for_each(|row| self.template[row * (size + 1)] = -weights.compliance);
        self.template_weights = self.steady.is_known().then_some(weights);
    }

    /// Takes the constraints of a level above positions, and their rows in K if it is being worked out.
    #[inline(always)]
    fn take_level(&mut self, x: &Point<'_>, equations: Equations, weights: Option<Weights>, constraint: &mut [f64]) {
        if !constraint.is_empty() && equations.level != Level::Position {
            self.take_higher_level(x, equations, weights, constraint);
        }
    }

    fn take_higher_level(
        &mut self,
        x: &Point<'_>,
        equations: Equations,
        weights: Option<Weights>,
        constraint: &mut [f64],
    ) {
        let Sizes { n, m, .. } = self.sizes;
        self.time_derivatives.value(self.model, equations.level, x, &self.u, constraint);
        let coordinates = &self.structure.curved_coordinates;
        let Some(rate) = weights.map(|weights| weights.rate()).filter(|rate| *rate != 0.0) else { return };
        self.time_derivatives.slopes(self.model, x, &self.u, coordinates, &mut self.rate_slopes);
        let matrix = self.matrix.values_mut();
        for (entry, slope) in self.rate_slopes[1][..m * coordinates.len()].iter().enumerate() {
            let (row, j) = (entry / coordinates.len(), coordinates[entry % coordinates.len()]);
            matrix[(n + row) * (n + m) + j] += rate * slope;
        }
    }

    /// Derivatives of dC/dt and d²C/dt² by coordinates and parameters.
    #[inline]
    fn linearise_level(&mut self, x: &Point<'_>, weights: Weights) {
        self.level = weights.equations.level;
        if self.sizes.m > 0 && self.level != Level::Position {
            self.linearise_higher_level(x, weights);
        }
    }

    fn linearise_higher_level(&mut self, x: &Point<'_>, weights: Weights) {
        let Sizes { n, m, p, .. } = self.sizes;
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
        let (rate, matrix) = (weights.rate(), self.matrix.values_mut());
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

    /// Derivatives of C by parameters, m x p.
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
                clear(constraint);
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
                let matrix = self.matrix.values_mut();
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
                    let matrix = self.matrix.values_mut();
                    matrix[j * size + n + row] = value;
                    matrix[(n + row) * size + j] = value;
                }
            }
        }
    }
}

/// Binomial coefficient, l over k, l at most 2.
pub fn binomial(l: usize, k: usize) -> f64 {
    if l == 2 && k == 1 { 2.0 } else { 1.0 }
}
