//! A system with hand-derived Jacobians in place of dual numbers.

use super::hand::{Block, HandDerived, Supplied};
use costate::Matrix;
use costate::Result;
use costate::linearise::DenseLu;
use costate::mass;
use costate::signature::Signature;
use costate::sketch::Sketch;
use costate::system::{
    Blocks, By, Equations, Evaluator, Level, Orders, OutputPoint, Point, SingularMatrix, StateVector, System, Weights,
};
use std::sync::Arc;

/// The order of the pivots here, and the orders of the system inside.
type BothOrders = (Vec<usize>, Option<Orders>);

/// Values from one system, derivatives by hand where they are supplied and from that system where not.
///
/// Residuals, outputs, the initial state, the constraints' time derivatives and equations without forces (projections) stay with the
/// inner system. Matrices are dense. Nothing is allocated in the time loop if every block is supplied; a missing one calls the inner system's
/// [`Evaluator::blocks`]. Check the set with [`super::check_jacobians`] before: a wrong Jacobian leaves the trajectory right
/// (Newton only converges more slowly) and makes the gradient wrong.
pub struct HandDerivedSystem {
    inner: Arc<dyn System>,
    hand: Arc<dyn HandDerived>,
}

impl HandDerivedSystem {
    /// `inner` with the derivatives of `hand`.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] if the mass matrix by hand is not symmetric, or not positive definite on what the constraints
    /// leave free.
    pub fn new(inner: Arc<dyn System>, hand: Arc<dyn HandDerived>) -> Result<Self> {
        let system = HandDerivedSystem { inner, hand };
        mass::check_nominal(&system)?;
        Ok(system)
    }
}

impl System for HandDerivedSystem {
    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn known_times(&self) -> &[(String, (f64, f64))] {
        self.inner.known_times()
    }

    fn sketch(&self) -> Option<&Sketch> {
        self.inner.sketch()
    }

    fn sketch_at(&self, t: f64, q: &[f64], w: &[f64], u: &[f64]) -> Result<Option<Sketch>> {
        self.inner.sketch_at(t, q, w, u)
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.around(self.inner.evaluator(), 0)
    }

    fn evaluator_by(&self, by: By<'_>) -> Box<dyn Evaluator + '_> {
        let inputs = if !by.inputs { 0 } else { self.inner.signature().inputs.len() };
        self.around(self.inner.evaluator_by(by), inputs)
    }
}

impl HandDerivedSystem {
    /// `inputs`: how many of them are differentiated by.
    fn around<'s>(&'s self, inner: Box<dyn Evaluator + 's>, inputs: usize) -> Box<dyn Evaluator + 's> {
        let signature = self.inner.signature();
        let size = signature.unknown_count() + signature.constraints.len();
        Box::new(HandDerivedEvaluator {
            hand: &*self.hand,
            exists: Block::ALL.map(|block| block.exists(signature)),
            inner,
            by_input: Matrix::filled(signature.unknown_count(), inputs, 0.0),
            u: vec![0.0; signature.parameters.len()],
            blocks: Blocks::zeros(signature),
            exact: Blocks::zeros(signature),
            slopes: Matrix::filled(
                signature.constraints.len(),
                3 * signature.unknown_count() + signature.parameters.len(),
                0.0,
            ),
            equations: Equations::MOTION,
            coordinates: signature.coordinates.len(),
            lu: DenseLu::new(size),
        })
    }
}

struct HandDerivedEvaluator<'s> {
    inner: Box<dyn Evaluator + 's>,
    hand: &'s dyn HandDerived,
    /// Which of [`Block::ALL`] have rows and columns in this system.
    exists: [bool; 10],
    u: Vec<f64>,
    /// By hand, completed.
    blocks: Blocks,
    /// The inner system's, where some are missing.
    exact: Blocks,
    /// Derivatives of the linearised constraints by q, v, a and u, where they are time derivatives: the inner system's, m x (3 n + p).
    slopes: Matrix<f64>,
    /// dD/dw: the inner system's, n x inputs.
    by_input: Matrix<f64>,
    equations: Equations,
    /// Number of coordinates, which come before states.
    coordinates: usize,
    lu: DenseLu,
}

/// Fills the first `count` blocks by hand and completes them.
fn fill(
    inner: &mut dyn Evaluator,
    hand: &dyn HandDerived,
    (x, u): (&Point<'_>, &[f64]),
    (exists, count): (&[bool; 10], usize),
    blocks: &mut Blocks,
    exact: &mut Blocks,
) {
    let mut exact_is_known = false;
    for (block, _) in Block::ALL.into_iter().zip(exists).take(count).filter(|(_, exists)| **exists) {
        if block.fill(hand, x, u, blocks) == Supplied::Yes {
            continue;
        }
        if !exact_is_known {
            inner.blocks(x, exact);
            exact_is_known = true;
        }
        block.of_mut(blocks).as_mut_slice().copy_from_slice(block.of(exact).as_slice());
    }
}

impl HandDerivedEvaluator<'_> {
    fn update(&mut self, x: &Point<'_>, count: usize) {
        let Self { inner, hand, exists, u, blocks, exact, .. } = self;
        fill(&mut **inner, *hand, (x, u), (exists, count), blocks, exact);
    }

    /// Takes the derivatives of the constraints, if they are time derivatives, by the first `count` variables.
    fn take_slopes(&mut self, x: &Point<'_>, weights: Weights, count: usize) {
        if self.equations.level == Level::Position || self.slopes.rows() == 0 {
            return;
        }
        // only products are asked for: a singular matrix is found elsewhere
        let _ = self.inner.linearise(x, weights);
        let (n, m, p) = (x.q.len(), x.lambda.len(), self.u.len());
        let zeros = |count: usize| vec![0.0; count];
        let mut tangent = StateVector {
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            lambda: zeros(m),
            u: zeros(p),
            w: zeros(x.w.len()),
            ..StateVector::default()
        };
        for i in 0..count {
            *variable(&mut tangent, n, i) = 1.0;
            let (mut dynamics, mut column) = (zeros(n), zeros(m));
            self.inner.push_forward(&tangent, &mut dynamics, &mut column);
            *variable(&mut tangent, n, i) = 0.0;
            column.iter().enumerate().for_each(|(row, slope)| self.slopes[(row, i)] = *slope);
        }
    }

    /// Takes dD/dw, which nobody derives by hand.
    fn take_inputs(&mut self, x: &Point<'_>, weights: Weights) {
        let (n, inputs) = (x.q.len(), self.by_input.columns());
        if inputs == 0 {
            return;
        }
        // only products are asked for: a singular matrix is found elsewhere
        let _ = self.inner.linearise(x, weights);
        let zeros = |count: usize| vec![0.0; count];
        let mut tangent = StateVector {
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            lambda: zeros(x.lambda.len()),
            u: zeros(self.u.len()),
            w: zeros(inputs),
            ..StateVector::default()
        };
        for k in 0..inputs {
            tangent.w[k] = 1.0;
            let (mut column, mut constraint) = (zeros(n), zeros(x.lambda.len()));
            self.inner.push_forward(&tangent, &mut column, &mut constraint);
            tangent.w[k] = 0.0;
            column.iter().enumerate().for_each(|(row, slope)| self.by_input[(row, k)] = *slope);
        }
    }

    /// K from the blocks (see [`Weights`]), and its factors.
    fn factorise_blocks(&mut self, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        let b = &self.blocks;
        let (n, m) = (b.mass.rows(), b.constraint_by_position.rows());
        let size = n + m;
        let k = self.lu.matrix_mut();
        k.fill(0.0);
        for i in 0..n {
            for j in 0..n {
                k[i * size + j] = weights.acceleration * b.mass[(i, j)] + weights.position * by_position(b, i, j)
                    - (if j < self.coordinates { weights.velocity } else { weights.state })
                        * b.force_by_velocity[(i, j)];
            }
            for row in 0..m {
                k[i * size + n + row] = b.constraint_by_position[(row, i)];
                let rate = if weights.rate() != 0.0 { weights.rate() * self.slopes[(row, i)] } else { 0.0 };
                k[(n + row) * size + i] = b.constraint_by_position[(row, i)] + rate;
            }
        }
        (n..size).for_each(|row| k[row * (size + 1)] = -weights.compliance);
        if self.lu.factorise() { Ok(()) } else { Err(SingularMatrix) }
    }
}

/// Variable `i` among q, v, a and u.
fn variable(x: &mut StateVector, n: usize, i: usize) -> &mut f64 {
    match i {
        i if i < n => &mut x.q[i],
        i if i < 2 * n => &mut x.v[i - n],
        i if i < 3 * n => &mut x.a[i - 2 * n],
        i => &mut x.u[i - 3 * n],
    }
}

/// dD/dq
#[inline]
fn by_position(b: &Blocks, i: usize, j: usize) -> f64 {
    b.inertia_by_position[(i, j)] + b.constraint_force_by_position[(i, j)] - b.force_by_position[(i, j)]
}

/// dD/du
#[inline]
fn by_parameter(b: &Blocks, i: usize, k: usize) -> f64 {
    b.inertia_by_parameter[(i, k)] + b.constraint_force_by_parameter[(i, k)] - b.force_by_parameter[(i, k)]
}

impl Evaluator for HandDerivedEvaluator<'_> {
    fn set_parameters(&mut self, u: &[f64]) {
        self.u.copy_from_slice(u);
        self.lu.forget_order();
        self.inner.set_parameters(u);
    }

    fn orders(&mut self) -> Option<Orders> {
        Some(Orders::new::<BothOrders>((self.lu.order.clone(), self.inner.orders())))
    }

    fn take_orders(&mut self, orders: &Orders) {
        let Some((own, inner)) = orders.get::<BothOrders>() else { return };
        self.lu.order.clone_from(own);
        inner.iter().for_each(|orders| self.inner.take_orders(orders));
    }

    fn initial(&mut self, q: &mut [f64], v: &mut [f64]) {
        self.inner.initial(q, v);
    }

    fn initial_pull_back(&mut self, q: &[f64], v: &[f64], u: &mut [f64]) {
        self.inner.initial_pull_back(q, v, u);
    }

    fn initial_push_forward(&mut self, u: &[f64], q: &mut [f64], v: &mut [f64]) {
        self.inner.initial_push_forward(u, q, v);
    }

    fn residual(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.inner.residual(x, equations, dynamics, constraint);
    }

    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> std::result::Result<(), SingularMatrix> {
        self.equations = weights.equations;
        if !self.equations.forces {
            return self.inner.factorise(x, weights, dynamics, constraint);
        }
        self.inner.residual(x, weights.equations, dynamics, constraint);
        self.update(x, Block::OF_NEWTON);
        self.take_slopes(x, weights, if weights.rate() != 0.0 { x.q.len() } else { 0 });
        self.factorise_blocks(weights)
    }

    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        self.equations = weights.equations;
        if !self.equations.forces {
            return self.inner.linearise(x, weights);
        }
        self.update(x, Block::ALL.len());
        self.take_slopes(x, weights, 3 * x.q.len() + self.u.len());
        self.take_inputs(x, weights);
        self.factorise_blocks(weights)
    }

    fn solve(&mut self, b: &mut [f64]) {
        if self.equations.forces { self.lu.solve(b) } else { self.inner.solve(b) }
    }

    fn solve_transposed(&mut self, b: &mut [f64]) {
        if self.equations.forces { self.lu.solve_transposed(b) } else { self.inner.solve_transposed(b) }
    }

    fn pull_back(&mut self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector) {
        if !self.equations.forces {
            return self.inner.pull_back(scale, dynamics, constraint, cotangent);
        }
        let b = &self.blocks;
        for (i, d) in dynamics.iter().map(|d| scale * d).enumerate() {
            for j in 0..dynamics.len() {
                cotangent.q[j] += by_position(b, i, j) * d;
                cotangent.v[j] -= b.force_by_velocity[(i, j)] * d;
                cotangent.a[j] += b.mass[(i, j)] * d;
            }
            for k in 0..self.u.len() {
                cotangent.u[k] += by_parameter(b, i, k) * d;
            }
            for k in 0..self.by_input.columns() {
                cotangent.w[k] += self.by_input[(i, k)] * d;
            }
            for row in 0..constraint.len() {
                cotangent.lambda[row] += b.constraint_by_position[(row, i)] * d;
            }
        }
        if self.equations.level != Level::Position {
            for (row, c) in constraint.iter().map(|c| scale * c).enumerate() {
                for i in 0..self.slopes.columns() {
                    *variable(cotangent, dynamics.len(), i) += self.slopes[(row, i)] * c;
                }
            }
            return;
        }
        for (row, c) in constraint.iter().map(|c| scale * c).enumerate() {
            for j in 0..dynamics.len() {
                cotangent.q[j] += b.constraint_by_position[(row, j)] * c;
            }
            for k in 0..self.u.len() {
                cotangent.u[k] += b.constraint_by_parameter[(row, k)] * c;
            }
        }
    }

    fn push_forward(&mut self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]) {
        if !self.equations.forces {
            return self.inner.push_forward(tangent, dynamics, constraint);
        }
        let b = &self.blocks;
        let n = dynamics.len();
        for (i, d) in dynamics.iter_mut().enumerate() {
            for j in 0..n {
                *d += by_position(b, i, j) * tangent.q[j] - b.force_by_velocity[(i, j)] * tangent.v[j]
                    + b.mass[(i, j)] * tangent.a[j];
            }
            for (k, u) in tangent.u.iter().enumerate() {
                *d += by_parameter(b, i, k) * u;
            }
            for k in 0..self.by_input.columns() {
                *d += self.by_input[(i, k)] * tangent.w[k];
            }
            for (row, lambda) in tangent.lambda.iter().enumerate() {
                *d += b.constraint_by_position[(row, i)] * lambda;
            }
        }
        if self.equations.level != Level::Position {
            for (row, c) in constraint.iter_mut().enumerate() {
                let variables = tangent.q.iter().chain(&tangent.v).chain(&tangent.a).chain(&tangent.u);
                *c += variables.enumerate().map(|(i, x)| self.slopes[(row, i)] * x).sum::<f64>();
            }
            return;
        }
        for (row, c) in constraint.iter_mut().enumerate() {
            for (j, q) in tangent.q.iter().enumerate() {
                *c += b.constraint_by_position[(row, j)] * q;
            }
            for (k, u) in tangent.u.iter().enumerate() {
                *c += b.constraint_by_parameter[(row, k)] * u;
            }
        }
    }

    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)> {
        if Block::Mass.fill(self.hand, x, &self.u, &mut self.blocks) == Supplied::No {
            return self.inner.mass_entries(x);
        }
        let n = x.q.len();
        let entry = |(place, &value): (usize, &f64)| ((place / n) as u32, (place % n) as u32, value);
        self.blocks.mass.as_slice().iter().enumerate().map(entry).collect()
    }

    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>> {
        self.inner.constraint_rows(x)
    }

    fn left_out(&self) -> &[usize] {
        self.inner.left_out()
    }

    fn constraint(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]) {
        self.inner.constraint(level, x, value);
    }

    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        self.inner.output(x, y);
    }

    fn linearise_output(&mut self, x: &OutputPoint<'_>) {
        self.inner.linearise_output(x);
    }

    fn output_pull_back(&mut self, y: &[f64], cotangent: &mut StateVector) {
        self.inner.output_pull_back(y, cotangent);
    }

    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.inner.round_off(x, equations, dynamics, constraint);
    }

    fn curvature(
        &mut self,
        x: &Point<'_>,
        equations: Equations,
        scale: f64,
        weights: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        // second derivatives are not derived by hand
        self.inner.curvature(x, equations, scale, weights, tangent, cotangent);
    }

    fn initial_curvature(&mut self, q: &[f64], v: &[f64], tangent: &[f64], u: &mut [f64]) {
        self.inner.initial_curvature(q, v, tangent, u);
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        self.inner.output_curvature(x, y, tangent, cotangent);
    }

    fn output_push_forward(&mut self, tangent: &StateVector, y: &mut [f64]) {
        self.inner.output_push_forward(tangent, y);
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        let Self { inner, hand, exists, u, exact, .. } = self;
        fill(&mut **inner, *hand, (x, u), (exists, Block::ALL.len()), blocks, exact);
    }
}
