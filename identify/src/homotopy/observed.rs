//! A mechanism that is pulled towards a record: the same equations of motion with forces that follow what outputs are short of it.
//!
//! Q becomes Q + μ Σ_j g_j e_j(t, q, v, u), e_j = k (ȳ_j(t) - y_j) + d (dȳ_j/dt - dy_j/dt), with directions g_j that stay as they are. Few
//! outputs are measured, so that the matrix of the linear equations changes by a matrix of low rank, and the mechanism's own factors, dense
//! or sparse, stay in use (Woodbury):
//!
//! ```text
//! K' = K + U Yᵀ,  U = μ (g_j; 0),  Y = (position ∂_q + velocity ∂_v)(k y_j + d dy_j/dt)
//! ```

use super::record::Channel;
use costate::Signature;
use costate::dense::{add_scaled, dot};
use costate::linearise::DenseLu;
use costate::sketch::Sketch;
use costate::system::{
    Blocks, By, Equations, Evaluator, Level, Orders, OutputPoint, Point, SingularMatrix, StateVector, System, Weights,
};
use std::sync::Arc;

/// A mechanism with the pull of a record.
pub(crate) struct Observed {
    pub inner: Arc<dyn System>,
    pub channels: Arc<[Channel]>,
    /// Share μ of the pull.
    pub share: f64,
}

impl System for Observed {
    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn remarks(&self) -> &[String] {
        self.inner.remarks()
    }

    fn degrees_of_freedom(&self) -> usize {
        self.inner.degrees_of_freedom()
    }

    fn known_times(&self) -> &[(String, (f64, f64))] {
        self.inner.known_times()
    }

    fn can_yield(&self) -> bool {
        self.inner.can_yield()
    }

    fn sketch(&self) -> Option<&Sketch> {
        self.inner.sketch()
    }

    fn sketch_at(&self, t: f64, q: &[f64], w: &[f64], u: &[f64]) -> costate::Result<Option<Sketch>> {
        self.inner.sketch_at(t, q, w, u)
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        self.around(self.inner.evaluator(), self.inner.evaluator())
    }

    fn evaluator_by(&self, by: By<'_>) -> Box<dyn Evaluator + '_> {
        self.around(self.inner.evaluator_by(by), self.inner.evaluator_by(by))
    }
}

impl Observed {
    /// `outputs`: a second evaluator, so that derivatives of outputs that others have asked for stay.
    fn around<'s>(
        &'s self,
        inner: Box<dyn Evaluator + 's>,
        outputs: Box<dyn Evaluator + 's>,
    ) -> Box<dyn Evaluator + 's> {
        let signature = self.inner.signature();
        let (n, m, y) = (signature.unknown_count(), signature.constraints.len(), signature.outputs.len());
        let rank = self.channels.len();
        let zeros = || StateVector::zeros(signature);
        Box::new(ObservedEvaluator {
            channels: &self.channels,
            share: self.share,
            inner,
            outputs,
            y: vec![0.0; y],
            rates: vec![0.0; y],
            seed: vec![0.0; y],
            along: zeros(),
            scratch: zeros(),
            short: vec![0.0; rank],
            rows: (0..rank).map(|_| zeros()).collect(),
            acts: false,
            left: vec![vec![0.0; n]; rank],
            solved: vec![vec![0.0; n + m]; rank],
            lu: DenseLu::new(rank),
            small: vec![0.0; rank],
        })
    }
}

struct ObservedEvaluator<'s> {
    channels: &'s [Channel],
    share: f64,
    inner: Box<dyn Evaluator + 's>,
    outputs: Box<dyn Evaluator + 's>,
    /// Outputs, their rates along the motion, and a cotangent of them.
    y: Vec<f64>,
    rates: Vec<f64>,
    seed: Vec<f64>,
    /// The motion as a tangent, and room for cotangents.
    along: StateVector,
    scratch: StateVector,
    /// e of each channel.
    short: Vec<f64>,
    /// -∂e of each channel, where the equations were linearised last.
    rows: Vec<StateVector>,
    /// True if forces acted where the equations were linearised.
    acts: bool,
    /// Y, and K⁻¹ U; the factors of I + Yᵀ K⁻¹ U.
    left: Vec<Vec<f64>>,
    solved: Vec<Vec<f64>>,
    lu: DenseLu,
    small: Vec<f64>,
}

/// Outputs that are observed depend on neither accelerations nor multipliers: whatever these are.
fn output_point<'x>(x: &Point<'x>) -> OutputPoint<'x> {
    OutputPoint { t: x.t, q: x.q, v: x.v, a: x.a, a_scheme: x.a, lambda: x.lambda, w: x.w }
}

fn clear(vector: &mut StateVector) {
    vector.clear_state();
    vector.u.fill(0.0);
    vector.w.fill(0.0);
}

impl ObservedEvaluator<'_> {
    /// Works out what each channel is short of its record.
    fn observe(&mut self, x: &Point<'_>) {
        let at = output_point(x);
        self.outputs.output(&at, &mut self.y);
        self.outputs.linearise_output(&at);
        self.along.q.copy_from_slice(x.v);
        self.rates.fill(0.0);
        self.outputs.output_push_forward(&self.along, &mut self.rates);
        for (short, channel) in self.short.iter_mut().zip(self.channels) {
            *short = channel.short_of(x.t, self.y[channel.output], self.rates[channel.output]);
        }
    }

    /// The derivatives of k y + d dy/dt, behind [`ObservedEvaluator::observe`] at the same place; zero in gaps of a record.
    fn differentiate(&mut self, x: &Point<'_>) {
        let at = output_point(x);
        for (row, channel) in self.rows.iter_mut().zip(self.channels) {
            clear(row);
            if channel.at(x.t).is_none() {
                continue;
            }
            self.seed[channel.output] = channel.stiffness;
            self.outputs.output_pull_back(&self.seed, row);
            if channel.damping != 0.0 {
                self.seed[channel.output] = channel.damping;
                // dy/dt = y_q v: its derivative by v is y_q, by q and u it is y's curvature along the motion
                self.outputs.output_curvature(&at, &self.seed, &self.along, row);
                clear(&mut self.scratch);
                self.outputs.output_pull_back(&self.seed, &mut self.scratch);
                add_scaled(1.0, &self.scratch.q, &mut row.v);
            }
            self.seed[channel.output] = 0.0;
        }
    }

    /// Adds the forces of the record to D.
    fn pull(&self, dynamics: &mut [f64]) {
        for (channel, short) in self.channels.iter().zip(&self.short) {
            add_scaled(-self.share * short, &channel.direction, dynamics);
        }
    }

    /// Prepares the change of K by the pull, behind a factorisation of the mechanism's own K.
    fn update(&mut self, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        let rank = self.channels.len();
        for (k, (row, channel)) in self.rows.iter().zip(self.channels).enumerate() {
            let (left, solved) = (&mut self.left[k], &mut self.solved[k]);
            left.fill(0.0);
            add_scaled(weights.position, &row.q, left);
            add_scaled(weights.velocity, &row.v, left);
            solved.fill(0.0);
            add_scaled(self.share, &channel.direction, &mut solved[..left.len()]);
            self.inner.solve(solved);
        }
        for (i, left) in self.left.iter().enumerate() {
            for (j, solved) in self.solved.iter().enumerate() {
                self.lu.matrix_mut()[i * rank + j] = f64::from(u8::from(i == j)) + dot(left, solved);
            }
        }
        if self.lu.factorise() { Ok(()) } else { Err(SingularMatrix) }
    }

    fn linearised(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        inner: std::result::Result<(), SingularMatrix>,
    ) -> std::result::Result<(), SingularMatrix> {
        self.acts = weights.equations.forces;
        if self.acts {
            self.observe(x);
            self.differentiate(x);
        }
        inner?;
        if self.acts { self.update(weights) } else { Ok(()) }
    }
}

impl Evaluator for ObservedEvaluator<'_> {
    fn set_parameters(&mut self, u: &[f64]) {
        self.inner.set_parameters(u);
        self.outputs.set_parameters(u);
    }

    fn orders(&mut self) -> Option<Orders> {
        self.inner.orders()
    }

    fn take_orders(&mut self, orders: &Orders) {
        self.inner.take_orders(orders);
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
        if equations.forces {
            self.observe(x);
            self.pull(dynamics);
        }
    }

    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.inner.round_off(x, equations, dynamics, constraint);
        if !equations.forces {
            return;
        }
        self.observe(x);
        for channel in self.channels {
            let (y, rate) = (self.y[channel.output], self.rates[channel.output]);
            let size = self.share * channel.round_off(x.t, y, rate);
            dynamics.iter_mut().zip(&channel.direction).for_each(|(sum, g)| *sum += size * g.abs());
        }
    }

    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> std::result::Result<(), SingularMatrix> {
        let inner = self.inner.factorise(x, weights, dynamics, constraint);
        let both = self.linearised(x, weights, inner);
        if self.acts {
            self.pull(dynamics);
        }
        both
    }

    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        let inner = self.inner.linearise(x, weights);
        self.linearised(x, weights, inner)
    }

    fn linearise_for_tangents(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        tangents: usize,
    ) -> std::result::Result<(), SingularMatrix> {
        let inner = self.inner.linearise_for_tangents(x, weights, tangents);
        self.linearised(x, weights, inner)
    }

    fn divide_tangents(&mut self, all: usize) {
        self.inner.divide_tangents(all);
    }

    fn solve(&mut self, b: &mut [f64]) {
        self.inner.solve(b);
        if self.acts {
            self.small.iter_mut().zip(&self.left).for_each(|(small, left)| *small = dot(left, b));
            self.lu.solve(&mut self.small);
            self.small.iter().zip(&self.solved).for_each(|(small, solved)| add_scaled(-small, solved, b));
        }
    }

    fn solve_transposed(&mut self, b: &mut [f64]) {
        if self.acts {
            self.small.iter_mut().zip(&self.solved).for_each(|(small, solved)| *small = dot(solved, b));
            self.lu.solve_transposed(&mut self.small);
            self.small.iter().zip(&self.left).for_each(|(small, left)| add_scaled(-small, left, b));
        }
        self.inner.solve_transposed(b);
    }

    fn pull_back(&mut self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector) {
        self.inner.pull_back(scale, dynamics, constraint, cotangent);
        for (channel, row) in self.channels.iter().zip(&self.rows).filter(|_| self.acts) {
            let factor = scale * self.share * dot(&channel.direction, dynamics);
            let StateVector { q, v, u, w, .. } = cotangent;
            for (to, what) in [(q, &row.q), (v, &row.v), (u, &row.u), (w, &row.w)] {
                add_scaled(factor, what, to);
            }
        }
    }

    fn push_forward(&mut self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.inner.push_forward(tangent, dynamics, constraint);
        for (channel, row) in self.channels.iter().zip(&self.rows).filter(|_| self.acts) {
            let StateVector { q, v, u, w, .. } = tangent;
            let change = dot(&row.q, q) + dot(&row.v, v) + dot(&row.u, u) + dot(&row.w, w);
            add_scaled(self.share * change, &channel.direction, dynamics);
        }
    }

    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)> {
        self.inner.mass_entries(x)
    }

    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>> {
        self.inner.constraint_rows(x)
    }

    fn left_out(&self) -> &[usize] {
        self.inner.left_out()
    }

    fn worst_left_out(&self) -> Option<(usize, f64)> {
        self.inner.worst_left_out()
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

    fn linearise_output_for_tangents(&mut self, x: &OutputPoint<'_>, tangents: usize) {
        self.inner.linearise_output_for_tangents(x, tangents);
    }

    fn output_pull_back(&mut self, y: &[f64], cotangent: &mut StateVector) {
        self.inner.output_pull_back(y, cotangent);
    }

    fn output_push_forward(&mut self, tangent: &StateVector, y: &mut [f64]) {
        self.inner.output_push_forward(tangent, y);
    }

    /// Rates of outputs have third derivatives here, which nobody has: no number instead of a wrong one. Methods that take Hessians are refused before.
    fn curvature(
        &mut self,
        _: &Point<'_>,
        _: Equations,
        _: f64,
        _: [&[f64]; 2],
        _: &StateVector,
        cotangent: &mut StateVector,
    ) {
        cotangent.q.fill(f64::NAN);
        cotangent.u.fill(f64::NAN);
    }

    fn initial_curvature(&mut self, q: &[f64], v: &[f64], tangent: &[f64], u: &mut [f64]) {
        self.inner.initial_curvature(q, v, tangent, u);
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        self.inner.output_curvature(x, y, tangent, cotangent);
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        self.inner.blocks(x, blocks);
        self.observe(x);
        self.differentiate(x);
        let Blocks { force_by_position, force_by_velocity, force_by_parameter, .. } = blocks;
        for (channel, row) in self.channels.iter().zip(&self.rows) {
            for (block, row) in [
                (&mut *force_by_position, &row.q),
                (&mut *force_by_velocity, &row.v),
                (&mut *force_by_parameter, &row.u),
            ] {
                for (i, g) in channel.direction.iter().enumerate() {
                    row.iter().enumerate().for_each(|(j, slope)| block[(i, j)] -= self.share * g * slope);
                }
            }
        }
    }
}
