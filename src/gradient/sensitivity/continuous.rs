//! The continuous adjoint (Nachbagauer 2015, section 3), beside the discrete one: the adjoint differential-algebraic equations, integrated
//! backwards by BDF along a stored run. An approximation whose error falls with the step, to be compared.
//!
//! ```text
//! dp/dt = g_qᵀ + D_qᵀ w + C_qᵀ μ,   d(M w)/dt = g_vᵀ - p + D_vᵀ w,   C_q w = 0,      D = M a + C_qᵀ λ - Q
//! [M C_qᵀ; C_q 0] [w; ξ] = [-S_vᵀ; 0],   p = -S_qᵀ - (C_q v)_qᵀ ξ     at the end        eqs. (38), (39)
//! dJ/du = ∫ g_u + wᵀ D_u + μᵀ C_u dt + (S + ξᵀ C_q v + ζᵀ C)_u + R_u - (p_0 - R_q)ᵀ dq_0/du - ((M w)_0 - R_v)ᵀ dv_0/du
//! ```
//!
//! The cost is the one that the discrete gradient is of, Σ η_i g_i + S, not the integral that it may stand for: with the density η_i g_i / h,
//! h the step, it is the trapezoidal rule's sum (an integral to second order) and what η_0 and η_N have beyond half a step, a term of the start R
//! and one of the end that S takes in. So rectangles and plain sums of samples are compared with themselves.
//!
//! S_q may have any part along C_qᵀ, which no motion sees; left in p, as the paper has it, a first step has to take it away at another
//! position, with an error of first order. It is taken away at once, so that d(C_q w)/dt = 0 holds at the end, too: p = -(S + ξᵀ C_q v + ζᵀ C)_q, and
//! the derivatives of that by u belong to the gradient.
//!
//! μ is not known at the end, and wrong in the first steps from there, which begin with order 1: p has its part along C_qᵀ at the middle of the
//! first step. ∫ μᵀ C_u dt does not mind, as μ is what differences of p are: weights of the first steps are chosen so that p after the first one
//! drops out of the sum ([`first_weights`]).
//!
//! In τ = T - t a step of size γ is one solve with the transposed of the forward run's own matrix (eq. (51)):
//! [α_0² M + γ² D_qᵀ + α_0 γ D_vᵀ, C_qᵀ; C_q, 0] [w; γ² μ] = -α_0 Σ α_i (M w)_i - γ Σ α_i p_i - γ² g_qᵀ - α_0 γ g_vᵀ.

use super::{Gradient, clear};
use crate::cost::Sample;
use crate::diagnosis::{Purpose, singular};
use crate::simulate::Workspace;
use crate::system::{Equations, Evaluator, Level, Point, StateVector, Weights};
use crate::{Error, Result};
use nalgebra::{Matrix3, Vector3};

/// α_0, α_1 ... of the backward differentiation formulas of order 1 to 5.
const BDF: [&[f64]; 5] = [
    &[1.0, -1.0],
    &[1.5, -2.0, 0.5],
    &[11.0 / 6.0, -3.0, 1.5, -1.0 / 3.0],
    &[25.0 / 12.0, -4.0, 3.0, -4.0 / 3.0, 0.25],
    &[137.0 / 60.0, -5.0, 5.0, -10.0 / 3.0, 1.25, -0.2],
];

/// Terms of earlier steps in the backward differences: p and M w, the last step first.
type Past = std::collections::VecDeque<[Vec<f64>; 2]>;

/// Weights of μ in ∫ μᵀ C_u dt in the first three steps from the end, in steps, beyond the one step that every time inside has.
///
/// With h μ_j = Σ_l A_jl p_l, backward differences of p along C_qᵀ, Σ_j (1 + d_j) h μ_j, half of the last one, is to be the change of p up to second
/// order for any p_1: that drops out, p_0 counts whole, and a p that grows evenly is met.
fn first_weights(formula: &[f64]) -> Vector3<f64> {
    let order = formula.len() - 1;
    let entry = |j: usize, l: usize| BDF[j.min(order) - 1].get(j - l).copied().unwrap_or(0.0);
    let sum = |l: usize| (l.max(1)..=l + order).map(|j| entry(j, l)).sum::<f64>();
    let rows = Matrix3::from_fn(|row, j| if row < 2 { entry(j + 1, row) } else { 1.0 });
    let right = Vector3::new(-1.0 - sum(0), -sum(1), 0.5);
    // regular for the formulas of all orders, which a test looks at
    rows.lu().solve(&right).unwrap_or_default()
}

fn weights(acceleration: f64, position: f64, velocity: f64, level: Level) -> Weights {
    let equations = Equations { forces: true, level };
    Weights { acceleration, position, velocity, state: velocity, compliance: 0.0, equations }
}

impl Gradient<'_> {
    /// The cost at `u`, and an approximation of its gradient by the continuous adjoint with BDF of this order, which begins with order 1; and
    /// of the derivatives by the inputs, if there are any ([`Gradient::by_inputs`]).
    ///
    /// # Errors
    /// Orders other than 1 to 5; uneven steps; costs in accelerations or multipliers, or of samples that are no integral over time; a
    /// simulation that fails.
    pub fn continuous_adjoint(&mut self, u: &[f64], order: usize, gradient: &mut [f64]) -> Result<f64> {
        let Some(&formula) = order.checked_sub(1).and_then(|k| BDF.get(k)) else {
            return Err(refused(format!("there is no BDF of order {order}"), "take an order from 1 to 5"));
        };
        if self.sensor_run.is_some() {
            let problem = "what sensors with gain, bias or delay show depends on several times at once";
            return Err(refused(problem, "take the discrete adjoint"));
        }
        let cost = self.forward(u, true)?;
        self.choose(u)?;
        self.workspace.forget_orders();
        let grid = self.workspace.simulation.grid();
        if !self.workspace.simulation.reads_steps_alone() {
            let remedy = "let steps end at all samples; the discrete adjoint takes any";
            return Err(refused("the run is read between its steps", remedy));
        }
        let Some(h) = grid.uniform_step() else {
            let remedy = "run at even steps; the discrete adjoint takes any";
            return Err(refused("its formulas are for steps of one size", remedy));
        };
        // what follows a jump of an input has no row of its own here
        self.by_inputs.fill(0.0);
        let mut backwards = Backwards {
            own: StateVector::zeros(self.workspace.simulation.signature()),
            of: self,
            u,
            h,
            formula,
            past: Past::new(),
            left: first_weights(formula).iter().copied().collect(),
            by_parameters: vec![0.0; u.len()],
        };
        let first = backwards.first()?;
        for i in (0..=first).rev() {
            backwards.go_to(i)?;
        }
        let Backwards { past, by_parameters, .. } = backwards;
        let bar = &mut self.bar;
        // what the initial state does, beside what the cost has there alone
        [&mut bar.u, &mut bar.w].into_iter().for_each(|part| part.fill(0.0));
        if let Some([p, mw]) = past.front() {
            bar.q.iter_mut().zip(p).for_each(|(bar, p)| *bar -= p);
            bar.v.iter_mut().zip(mw).for_each(|(bar, mw)| *bar -= mw);
        }
        let Workspace { simulation, states, evaluator, start, .. } = &mut self.workspace;
        if let Some(f_0) = start {
            let start = states.start(simulation.grid().time(0), simulation.inputs_at(0));
            f_0.pull_back(&mut **evaluator, simulation.signature(), &start, bar, &mut [])?;
        }
        gradient
            .iter_mut()
            .zip(by_parameters.iter().zip(&bar.u))
            .for_each(|(slope, (sum, start))| *slope = sum + start);
        self.clear_inactive(gradient);
        Ok(cost)
    }
}

fn refused(problem: impl Into<String>, remedy: &str) -> Error {
    Error::invalid("the continuous adjoint", problem, remedy)
}

/// The adjoint equations on the way backwards along a stored run.
struct Backwards<'a, 'p> {
    /// The gradient whose `bar` holds the derivatives of the cost at the time at hand.
    of: &'a mut Gradient<'p>,
    u: &'a [f64],
    h: f64,
    /// The backward differentiation formula, once there are enough steps.
    formula: &'static [f64],
    past: Past,
    /// [`first_weights`] of the steps that are still to come.
    left: std::collections::VecDeque<f64>,
    /// Derivatives of D and C there, times w and μ.
    own: StateVector,
    by_parameters: Vec<f64>,
}

impl Backwards<'_, '_> {
    /// Adds the derivatives of the cost at time `i` to `bar`, between steps of these lengths; with its term of the end at time `last`.
    fn take_cost(&mut self, i: usize, last: usize, [before, after]: [f64; 2]) -> Result<()> {
        let (Gradient { workspace, cost, y, y_bar, bar, .. }, u) = (&mut *self.of, self.u);
        workspace.reach(i)?;
        let x = workspace.states.view(i, &workspace.simulation, &mut workspace.room);
        workspace.evaluator.output(&x, y);
        clear(bar);
        y_bar.fill(0.0);
        cost.gradient(&Sample { index: i, last, before, after, x, y, u }, bar, y_bar);
        workspace.evaluator.linearise_output(&x);
        workspace.evaluator.output_pull_back(y_bar, bar);
        if [&bar.a, &bar.a_scheme, &bar.lambda].into_iter().flatten().any(|slope| *slope != 0.0) {
            let remedy = "compare a cost in positions and velocities; the discrete adjoint takes any";
            return Err(refused("the cost depends on accelerations or multipliers", remedy));
        }
        Ok(())
    }

    /// At an end: what the cost has there beyond half a step of its density, by q and v, in the place of `bar`'s q and v; returns the
    /// density's. Both together are the cost's own quadrature.
    fn take_end(&mut self, i: usize) -> Result<[Vec<f64>; 2]> {
        let (h, last) = (self.h, self.of.workspace.simulation.grid().count());
        self.take_cost(i, usize::MAX, [h, h])?;
        let factor = self.weight_beside(i) / h;
        let density = [&self.of.bar.q, &self.of.bar.v].map(|g| g.iter().map(|g| factor * g).collect::<Vec<f64>>());
        let steps = [if i == 0 { 0.0 } else { h }, if i == last { 0.0 } else { h }];
        self.take_cost(i, last, steps)?;
        let bar = &mut self.of.bar;
        for (own, density) in [&mut bar.q, &mut bar.v].into_iter().zip(&density) {
            own.iter_mut().zip(density).for_each(|(own, density)| *own -= 0.5 * h * density);
        }
        Ok(density)
    }

    /// The weight of the time beside an end over that of the end, where the cost has its own weights: what an integral would have there.
    fn weight_beside(&self, i: usize) -> f64 {
        let inner = if i == 0 { 1 } else { i - 1 };
        let weight = |i: usize| self.of.cost.own_weight(i).filter(|weight| *weight > 0.0);
        weight(inner).zip(weight(i)).map_or(1.0, |(inner, own)| inner / own)
    }

    /// The last time with a part in the cost.
    fn first(&self) -> Result<usize> {
        let count = self.of.workspace.simulation.grid().count();
        let is_weighted = |i: &usize| self.of.cost.own_weight(*i).is_none_or(|weight| weight > 0.0);
        let last = (0..=count).rev().find(is_weighted).filter(|last| *last >= 2 && is_weighted(&(count / 2)));
        last.ok_or_else(|| {
            let remedy = "compare a cost that has a sample at every time; the discrete adjoint takes any";
            refused("the cost is no integral over time", remedy)
        })
    }

    /// Goes to time `i`, and adds its part of the integral.
    fn go_to(&mut self, i: usize) -> Result<()> {
        let (h, count) = (self.h, self.of.workspace.simulation.grid().count());
        let is_end = self.past.is_empty();
        let g = if is_end || i == 0 {
            self.take_end(i)?
        } else {
            self.take_cost(i, count, [h, h])?;
            [&self.of.bar.q, &self.of.bar.v].map(|g| g.iter().map(|g| g / h).collect::<Vec<f64>>())
        };
        let whole = if is_end || i == 0 { 0.5 * h } else { h };
        let bar = &self.of.bar;
        self.by_parameters.iter_mut().zip(&bar.u).for_each(|(sum, slope)| *sum += slope);
        let by_w = bar.w.clone();
        let p = if is_end { self.begin(i, &g[1])? } else { self.step(i, &g)? };
        let own = &self.own;
        self.by_parameters.iter_mut().zip(&own.u).for_each(|(sum, slope)| *sum += whole * slope);
        if !self.of.by_inputs.is_empty() {
            let width = own.w.len();
            let slopes = own.w.iter().zip(&by_w).map(|(own, direct)| whole * own + direct);
            self.of.by_inputs[i * width..(i + 1) * width].iter_mut().zip(slopes).for_each(|(w, slope)| *w = slope);
        }
        self.past.push_front([p, own.a.clone()]);
        self.past.truncate(self.formula.len() - 1);
        Ok(())
    }

    /// Takes w at the end, time `last`, where multipliers count as zero; returns p. `bar` holds what the cost has there alone.
    fn begin(&mut self, last: usize, g_v: &[f64]) -> Result<Vec<f64>> {
        let h = self.h;
        let Workspace { simulation, states, evaluator, .. } = &mut self.of.workspace;
        let point = |i: usize| states.point(i, simulation.grid().time(i), simulation.inputs_at(i));
        let (point, before) = (point(last), point(last - 1));
        let mut z = vec![0.0; point.q.len() + point.lambda.len()];
        let Terminal { p, turned, zeta } = terminal(&mut **evaluator, [&point, &before], h, &self.of.bar, g_v, &mut z)
            .map_err(|()| singular(&mut **evaluator, simulation.signature(), &point, Purpose::Step))?;
        // only products are asked for: a singular matrix does not matter here
        let _ = evaluator.linearise(&point, weights(1.0, h * h, h, Level::Position));
        // ζ is what the integral of μ has at once; the products count for half a step
        z[point.q.len()..].iter_mut().zip(&zeta).for_each(|(mu, zeta)| *mu = zeta / (0.5 * h));
        self.take_products(&z);
        self.by_parameters.iter_mut().zip(&turned.u).for_each(|(sum, slope)| *sum += slope);
        self.own.w.iter_mut().zip(&turned.w).for_each(|(own, slope)| *own += slope / (0.5 * h));
        Ok(p)
    }

    /// Takes a step to time `i`, with the derivatives of the density by q and v; returns p.
    fn step(&mut self, i: usize, [g_q, g_v]: &[Vec<f64>; 2]) -> Result<Vec<f64>> {
        let h = self.h;
        let Workspace { simulation, states, evaluator, .. } = &mut self.of.workspace;
        let point = states.point(i, simulation.grid().time(i), simulation.inputs_at(i));
        let (n, m) = (point.q.len(), point.lambda.len());
        let steps = self.past.len();
        let alphas = if steps < self.formula.len() - 1 { BDF[steps - 1] } else { self.formula };
        let sum = |part: usize| -> Vec<f64> {
            let of = |j: usize| self.past.iter().zip(&alphas[1..]).map(|(x, alpha)| alpha * x[part][j]).sum();
            (0..n).map(of).collect()
        };
        let (of_p, of_mw) = (sum(0), sum(1));
        let all = weights(alphas[0] * alphas[0], h * h, alphas[0] * h, Level::Position);
        if evaluator.linearise(&point, all).is_err() {
            return Err(singular(&mut **evaluator, simulation.signature(), &point, Purpose::Step));
        }
        let right = |j: usize| -alphas[0] * of_mw[j] - h * of_p[j] - h * h * g_q[j] - alphas[0] * h * g_v[j];
        let mut z: Vec<f64> = (0..n).map(right).chain(std::iter::repeat_n(0.0, m)).collect();
        evaluator.solve_transposed(&mut z);
        // γ² μ has been solved for
        z[n..].iter_mut().for_each(|mu| *mu /= h * h);
        if let Some(more) = self.left.pop_front().filter(|more| *more != 0.0) {
            let of_constraints: Vec<f64> = z[n..].iter().map(|mu| h * more * mu).collect();
            self.take_products(&[vec![0.0; n], of_constraints].concat());
            self.by_parameters.iter_mut().zip(&self.own.u).for_each(|(sum, slope)| *sum += slope);
        }
        self.take_products(&z);
        Ok((0..n).map(|j| -(h * (g_q[j] + self.own.q[j]) + of_p[j]) / alphas[0]).collect())
    }

    /// The derivatives of D and C, times w and μ.
    fn take_products(&mut self, z: &[f64]) {
        let (w, mu) = z.split_at(self.own.q.len());
        clear(&mut self.own);
        self.of.workspace.evaluator.pull_back(1.0, w, mu, &mut self.own);
    }
}

/// Adjoint variables and derivatives that the terms at the end of the run give.
struct Terminal {
    p: Vec<f64>,
    /// Derivatives of ξᵀ C_q v.
    turned: StateVector,
    zeta: Vec<f64>,
}

/// Consistent values at the end, the first of two times: w and ξ in `z`, and the rest; with the derivatives of the end-point term in `bar`.
fn terminal(
    system: &mut dyn Evaluator,
    [point, before]: [&Point<'_>; 2],
    h: f64,
    bar: &StateVector,
    g_v: &[f64],
    z: &mut [f64],
) -> std::result::Result<Terminal, ()> {
    let n = point.q.len();
    let accelerations = weights(1.0, 0.0, 0.0, Level::Acceleration);
    system.linearise(point, accelerations).map_err(|_| ())?;
    z[..n].iter_mut().zip(&bar.v).for_each(|(z, s)| *z = -s);
    z[n..].fill(0.0);
    system.solve_transposed(z);
    let zeros = |count: usize| vec![0.0; count];
    let zero = StateVector {
        q: zeros(n),
        v: zeros(n),
        a: zeros(n),
        a_scheme: zeros(n),
        lambda: zeros(point.lambda.len()),
        u: zeros(bar.u.len()),
        w: zeros(bar.w.len()),
        ..StateVector::default()
    };
    let (w, xi) = z.split_at(n);
    // D_vᵀ w and M w; and M w a step before
    let [mut own, mut earlier] = [zero.clone(), zero.clone()];
    system.pull_back(1.0, w, &zeros(xi.len()), &mut own);
    // only products are asked for: a singular matrix does not matter here
    let _ = system.linearise(before, accelerations);
    system.pull_back(1.0, w, &zeros(xi.len()), &mut earlier);
    // (C_q v)_qᵀ ξ, and (C_q v)_q w
    let rate = Weights {
        compliance: 0.0,
        equations: Equations { forces: false, level: Level::Velocity },
        ..weights(1.0, 0.0, 1.0, Level::Velocity)
    };
    let _ = system.linearise(point, rate);
    let mut turned = zero.clone();
    system.pull_back(1.0, &zeros(n), xi, &mut turned);
    let mut p: Vec<f64> = bar.q.iter().zip(&turned.q).map(|(s, c)| -s - c).collect();
    let along = StateVector { q: w.to_vec(), ..zero.clone() };
    let (mut unused, mut rates) = (zeros(n), zeros(xi.len()));
    system.push_forward(&along, &mut unused, &mut rates);
    // M dw/dτ = p + C_qᵀ ζ - g_v - D_vᵀ w - dM/dτ w,   C_q dw/dτ = (C_q v)_q w
    system.linearise(point, accelerations).map_err(|_| ())?;
    let of_motion = (0..n).map(|j| p[j] - g_v[j] - own.v[j] - (earlier.a[j] - own.a[j]) / h);
    let mut turn: Vec<f64> = of_motion.chain(rates).collect();
    system.solve_transposed(&mut turn);
    let (mut along_rows, zeta) = (zero, &turn[n..]);
    system.pull_back(1.0, &zeros(n), zeta, &mut along_rows);
    // of second time derivatives by accelerations, C_qᵀ is left
    p.iter_mut().zip(&along_rows.a).for_each(|(p, part)| *p -= part);
    Ok(Terminal { p, turned, zeta: zeta.to_vec() })
}
