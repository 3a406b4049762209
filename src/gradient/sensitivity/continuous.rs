//! The continuous adjoint (Nachbagauer 2015, section 3), beside the discrete one: the adjoint differential-algebraic equations, integrated
//! backwards by BDF along a stored run. An approximation whose error falls with the step, to be compared.
//!
//! ```text
//! dp/dt = g_qᵀ + D_qᵀ w + C_qᵀ μ,   d(M w)/dt = g_vᵀ - p + D_vᵀ w,   C_q w = 0,      D = M a + C_qᵀ λ - Q
//! [M C_qᵀ; C_q 0] [w; ξ] = [-S_vᵀ; 0],   p = -S_qᵀ - (C_q v)_qᵀ ξ     at the end        eqs. (38), (39)
//! dJ/du = ∫ g_u + wᵀ D_u + μᵀ C_u dt + S_u - p_0ᵀ dq_0/du - (M w)_0ᵀ dv_0/du
//! ```
//!
//! S_q may have any part along C_qᵀ, which no motion sees; left in p, as the paper has it, a first step has to take it away at another
//! position, with an error of first order. It is taken away at once, so that d(C_q w)/dt = 0 holds at the end, too.
//!
//! In τ = T - t a step of size γ is one solve with the transposed of the forward run's own matrix (eq. (51)):
//! [α_0² M + γ² D_qᵀ + α_0 γ D_vᵀ, C_qᵀ; C_q, 0] [w; γ² μ] = -α_0 Σ α_i (M w)_i - γ Σ α_i p_i - γ² g_qᵀ - α_0 γ g_vᵀ.

use super::Gradient;
use crate::cost::Sample;
use crate::diagnosis::{Purpose, singular};
use crate::error::{Error, Result};
use crate::system::{Equations, Evaluator, Level, Point, StateVector, Weights};

/// α_0, α_1 ... of the backward differentiation formulas of order 1 to 5.
const BDF: [&[f64]; 5] = [
    &[1.0, -1.0],
    &[1.5, -2.0, 0.5],
    &[11.0 / 6.0, -3.0, 1.5, -1.0 / 3.0],
    &[25.0 / 12.0, -4.0, 3.0, -4.0 / 3.0, 0.25],
    &[137.0 / 60.0, -5.0, 5.0, -10.0 / 3.0, 1.25, -0.2],
];

/// What earlier steps leave: p and M w, the last one first.
type Past = std::collections::VecDeque<[Vec<f64>; 2]>;

fn weights(acceleration: f64, position: f64, velocity: f64, level: Level) -> Weights {
    Weights { acceleration, position, velocity, compliance: 0.0, equations: Equations { forces: true, level } }
}

impl Gradient<'_> {
    /// The cost at `u`, and an approximation of its gradient by the continuous adjoint with BDF of this order, which begins with order 1; and
    /// of the derivatives by the inputs, if there are any ([`Gradient::by_inputs`]).
    ///
    /// # Errors
    /// Orders other than 1 to 5; uneven steps; costs in accelerations or multipliers, or of samples that are no integral over time; a
    /// simulation that fails.
    pub fn continuous_adjoint(&mut self, u: &[f64], order: usize, gradient: &mut [f64]) -> Result<f64> {
        let what = "the continuous adjoint";
        let Some(longest) = order.checked_sub(1).and_then(|k| BDF.get(k)) else {
            return Err(Error::invalid(what, format!("there is no BDF of order {order}"), "take an order from 1 to 5"));
        };
        let cost = self.forward(u, true)?;
        self.choose(u)?;
        self.workspace.forget_orders();
        let workspace = &mut self.workspace;
        let (simulation, states) = (&workspace.simulation, &workspace.states);
        let (system, a_scheme) = (&mut *workspace.evaluator, &mut workspace.a_scheme[..]);
        let signature = simulation.signature();
        let grid = simulation.grid();
        let Some(h) = grid.uniform_step() else {
            let remedy = "run at even steps; the discrete adjoint takes any";
            return Err(Error::invalid(what, "its formulas are for steps of one size", remedy));
        };
        let (n, last) = (signature.coordinates.len(), grid.count());
        let size = n + signature.constraints.len();
        let (y, y_bar, bar) = (&mut self.y, &mut self.y_bar, &mut self.bar);
        let cost_of = &mut self.cost;
        let weight_at: Vec<Option<f64>> = (0..=last).map(|i| cost_of.own_weight(i)).collect();
        let weight_at = |i: usize| weight_at[i];
        let own_weights = weight_at(last / 2);
        // sums with the weight 1 stand for an integral of as many samples as there are a second
        let middle = states.view(last / 2, simulation, a_scheme);
        system.output(&middle, y);
        let mut value =
            |h: f64| cost_of.value(&Sample { index: last / 2, last: usize::MAX, before: h, after: h, x: middle, y, u });
        let is_unit = value(1.0) != 0.0 && value(1.0) == value(2.0);
        let samples_a_second = if is_unit { 1.0 / h } else { 1.0 };
        if own_weights.is_some_and(|weight| weight <= 0.0) || own_weights.is_none() && last < 2 {
            let remedy = "compare a cost that has a sample at every time; the discrete adjoint takes any";
            return Err(Error::invalid(what, "the cost is no integral over time", remedy));
        }
        let mut past: Past = Past::new();
        let mut p_u = vec![0.0; u.len()];
        let mut multipliers = vec![0.0; size - n];
        let mut own = StateVector::zeros(signature);
        for i in (0..=last).rev() {
            let x = states.view(i, simulation, a_scheme);
            let point = Point { t: x.t, q: x.q, v: x.v, a: x.a, lambda: x.lambda, w: x.w };
            system.output(&x, y);
            // the density of the cost: its weights are those of an integral, whole at both ends
            let mut density = |sample: Sample<'_>, bar: &mut StateVector| {
                bar.clear_state();
                bar.u.fill(0.0);
                bar.w.fill(0.0);
                y_bar.fill(0.0);
                cost_of.gradient(&sample, bar, y_bar);
                system.linearise_output(&sample.x);
                system.output_pull_back(y_bar, bar);
            };
            let sample = Sample { index: i, last: usize::MAX, before: 1.0, after: 1.0, x, y, u };
            density(sample, bar);
            let cell = match own_weights {
                // in the middle, weights over steps tell how much a second counts
                Some(middle) => weight_at(i).filter(|weight| *weight > 0.0).map_or(0.0, |weight| middle / h / weight),
                None => samples_a_second,
            };
            let whole = if i == 0 || i == last { 0.5 * h } else { h };
            bar.u.iter_mut().zip(&mut p_u).for_each(|(slope, sum)| *sum += cell * whole * *slope);
            if [&bar.a, &bar.a_scheme, &bar.lambda].into_iter().flatten().any(|slope| *slope != 0.0) {
                let remedy = "compare a cost in positions and velocities; the discrete adjoint takes any";
                return Err(Error::invalid(what, "the cost depends on accelerations or multipliers", remedy));
            }
            let by_w = bar.w.clone();
            let (g_q, g_v): (Vec<f64>, Vec<f64>) =
                (bar.q.iter().map(|g| cell * g).collect(), bar.v.iter().map(|g| cell * g).collect());
            let mut z = vec![0.0; size];
            let p = if i == last {
                let before = states.point(last - 1, grid.times()[last - 1], simulation.inputs_at(last - 1));
                density(Sample { last, before: 0.0, after: 0.0, ..sample }, bar);
                if own_weights.is_some() {
                    clear(bar);
                }
                p_u.iter_mut().zip(&bar.u).for_each(|(sum, slope)| *sum += slope);
                terminal(system, [&point, &before], h, bar, &g_v, &mut z)
                    .map_err(|()| singular(system, signature, &point, Purpose::Step))?
            } else {
                let alphas = if past.len() < longest.len() - 1 { BDF[past.len() - 1] } else { longest };
                let before = |part: usize, j: usize| {
                    past.iter().zip(&alphas[1..]).map(|(x, alpha)| alpha * x[part][j]).sum::<f64>()
                };
                let all = weights(alphas[0] * alphas[0], h * h, alphas[0] * h, Level::Position);
                if system.linearise(&point, all).is_err() {
                    return Err(singular(system, signature, &point, Purpose::Step));
                }
                for j in 0..n {
                    z[j] = -alphas[0] * before(1, j) - h * before(0, j) - h * h * g_q[j] - alphas[0] * h * g_v[j];
                }
                system.solve_transposed(&mut z);
                // γ² μ has been solved for
                z[n..].iter_mut().for_each(|mu| *mu /= h * h);
                clear(&mut own);
                system.pull_back(1.0, &z[..n], &z[n..], &mut own);
                (0..n).map(|j| -(h * (g_q[j] + own.q[j]) + before(0, j)) / alphas[0]).collect()
            };
            // the integrand, and M w
            if i == last {
                // the multipliers there are those of the step before
                let _ = system.linearise(&point, weights(1.0, h * h, h, Level::Position));
            } else {
                multipliers.copy_from_slice(&z[n..]);
            }
            clear(&mut own);
            system.pull_back(1.0, &z[..n], &multipliers, &mut own);
            p_u.iter_mut().zip(&own.u).for_each(|(sum, slope)| *sum += whole * slope);
            if !self.by_inputs.is_empty() {
                let count = own.w.len();
                let slopes = own.w.iter().zip(&by_w).map(|(own, direct)| whole * (own + cell * direct));
                self.by_inputs[i * count..(i + 1) * count].iter_mut().zip(slopes).for_each(|(w, slope)| *w = slope);
            }
            past.push_front([p, own.a.clone()]);
            past.truncate(order);
        }
        // what the initial state does
        clear(bar);
        if let Some([p, mw]) = past.front() {
            bar.q.iter_mut().zip(p).for_each(|(bar, p)| *bar = -p);
            bar.v.iter_mut().zip(mw).for_each(|(bar, mw)| *bar = -mw);
        }
        let start = states.point(0, grid.times()[0], simulation.inputs_at(0));
        if let Some(f_0) = &workspace.start {
            f_0.pull_back(system, signature, &start, bar, &mut [])?;
        }
        gradient.iter_mut().zip(p_u.iter().zip(&bar.u)).for_each(|(slope, (sum, start))| *slope = sum + start);
        self.clear_inactive(gradient);
        Ok(cost)
    }
}

fn clear(x: &mut StateVector) {
    x.clear_state();
    x.u.fill(0.0);
    x.w.fill(0.0);
}

/// Consistent values at the end, the first of two times: w and ξ in `z`, and p; with the derivatives of the end-point term in `bar`.
fn terminal(
    system: &mut dyn Evaluator,
    [point, before]: [&Point<'_>; 2],
    h: f64,
    bar: &StateVector,
    g_v: &[f64],
    z: &mut [f64],
) -> std::result::Result<Vec<f64>, ()> {
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
    Ok(p)
}
