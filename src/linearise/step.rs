//! Exact Jacobians of one time step, from the step equation itself on dual numbers.

use super::functions::{Dual, Functions, Square};
use crate::Matrix;
use crate::system::Point;

/// A state x = (q, v, a, λ) with its time and inputs.
struct StepState<'a> {
    t: f64,
    q: &'a [Dual],
    v: &'a [Dual],
    a: &'a [Dual],
    lambda: &'a [Dual],
    w: &'a [f64],
}

/// Lauss 2018, eq. (15), with (12) inserted into rows 3 and 4: f1, f2, f3 (n entries each), f4 (m).
fn residual(
    model: &dyn Functions,
    (alpha, h): (f64, f64),
    before: &StepState<'_>,
    after: &StepState<'_>,
    u: &[f64],
) -> Vec<Dual> {
    let (n, m) = (after.q.len(), after.lambda.len());
    let (beta, gamma) = ((1.0 - alpha) * (1.0 - alpha) / 4.0, (1.0 - 2.0 * alpha) / 2.0);
    let (c1, c2) = (1.0 / (1.0 + alpha), alpha / (1.0 + alpha));
    let u: Vec<Dual> = u.iter().map(|&u| Dual::from(u)).collect();
    let newmark_position = |j: usize| {
        let mean = before.a[j] * (1.0 - 2.0 * beta) + after.a[j] * (2.0 * beta);
        before.q[j] + before.v[j] * h + mean * (0.5 * h * h)
    };
    let newmark_velocity = |j: usize| before.v[j] + (before.a[j] * (1.0 - gamma) + after.a[j] * gamma) * h;
    let q: Vec<Dual> = (0..n).map(newmark_position).collect();
    let v: Vec<Dual> = (0..n).map(newmark_velocity).collect();
    let inserted = StepState { q: &q, v: &v, ..*after };
    let mut mass = Matrix::filled(n, n, Dual::from(0.0));
    model.mass(&q, &u, &mut mass);
    let (g_before, g) = (applied_force(model, before, &u), applied_force(model, &inserted, &u));
    let mut c = vec![Dual::from(0.0); m];
    model.constraint(Dual::from(after.t), &q, &u, &mut c);
    let inertia = |i: usize| (0..n).map(|j| mass[(i, j)] * after.a[j]).sum::<Dual>();
    let f1 = (0..n).map(|j| after.q[j] - q[j]);
    let f2 = (0..n).map(|j| after.v[j] - v[j]);
    let f3 = (0..n).map(|i| inertia(i) * c1 + g[i] - g_before[i] * c2);
    let f4 = c.iter().map(|c| *c / (beta * h * h));
    f1.chain(f2).chain(f3).chain(f4).collect()
}

/// C_qᵀ λ - Q
fn applied_force(model: &dyn Functions, x: &StepState<'_>, u: &[Dual]) -> Vec<Dual> {
    let (n, m) = (x.q.len(), x.lambda.len());
    let w: Vec<Dual> = x.w.iter().map(|&w| Dual::from(w)).collect();
    let mut force = vec![Dual::from(0.0); n];
    model.force(Dual::from(x.t), x.q, x.v, &w, u, &mut force);
    force.iter_mut().for_each(|force| *force = -*force);
    if m == 0 {
        return force;
    }
    let nested = |values: &[Dual]| values.iter().map(|&value| Square::<1>::constant(value)).collect::<Vec<_>>();
    let (mut q, u) = (nested(x.q), nested(u));
    let mut c = vec![Square::<1>::from(0.0); m];
    for (j, force) in force.iter_mut().enumerate() {
        q[j].eps[0] = Dual::from(1.0);
        c.fill(Square::from(0.0));
        model.constraint(Square::<1>::from(x.t), &q, &u, &mut c);
        q[j].eps[0] = Dual::from(0.0);
        for (c, lambda) in c.iter().zip(x.lambda) {
            *force += c.eps[0] * *lambda;
        }
    }
    force
}

/// (q, v, a, λ) of a point as constants.
fn duals(x: &Point<'_>) -> Vec<Dual> {
    [x.q, x.v, x.a, x.lambda].concat().into_iter().map(Dual::from).collect()
}

fn state<'a>(x: &'a [Dual], point: &Point<'a>) -> StepState<'a> {
    let n = point.q.len();
    let (t, w) = (point.t, point.w);
    StepState { t, q: &x[..n], v: &x[n..2 * n], a: &x[2 * n..3 * n], lambda: &x[3 * n..], w }
}

/// Jacobians df_i/dx_i and df_{i+1}/dx_i of the literal HHT step, Lauss 2018, eqs. (16) and (17), at x_i = `now`, x_{i+1} = `next`. Rows
/// (f1, f2, f3, f4) and columns (q, v, a, λ), 3 n + m of each.
pub fn step_jacobians(
    model: &dyn Functions,
    alpha: f64,
    h: f64,
    now: &Point<'_>,
    next: &Point<'_>,
    u: &[f64],
) -> [Matrix<f64>; 2] {
    // df_i/dx_i does not depend on x_{i-1} but through q_i and v_i: any that leads there will do
    let v_before: Vec<f64> = now.v.iter().zip(now.a).map(|(v, a)| v - h * a).collect();
    let q_before: Vec<f64> = (0..now.q.len()).map(|j| now.q[j] - h * v_before[j] - 0.5 * h * h * now.a[j]).collect();
    let before = Point { t: now.t - h, q: &q_before, v: &v_before, ..*now };
    let (x_before, mut x, x_next) = (duals(&before), duals(now), duals(next));
    let size = x.len();
    let [mut own, mut following] = [(); 2].map(|()| Matrix::filled(size, size, 0.0));
    for j in 0..size {
        x[j].eps[0] = 1.0;
        let f = residual(model, (alpha, h), &state(&x_before, &before), &state(&x, now), u);
        f.iter().enumerate().for_each(|(i, f)| own[(i, j)] = f.eps[0]);
        let f = residual(model, (alpha, h), &state(&x, now), &state(&x_next, next), u);
        f.iter().enumerate().for_each(|(i, f)| following[(i, j)] = f.eps[0]);
        x[j].eps[0] = 0.0;
    }
    [own, following]
}
