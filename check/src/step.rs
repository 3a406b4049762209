//! Jacobians of one time step in the form of Lauss 2018, eqs. (16)-(19), against exact ones.

use super::CheckOptions;
use super::hand::Variable;
use super::report::{BlockName, JacobianReport, Place, Tally};
use super::sample::{Draws, visit_points};
use costate::linearise::{Functions, step_jacobians};
use costate::scheme::Hht;
use costate::system::{Blocks, Point, System};
use costate::{Error, Matrix, Model, Plain, Result, Signature};

/// Two successive states x = (q, v, a, λ), the second with the positions and velocities of Newmark's formulas (12).
#[derive(Debug, Clone, Copy)]
pub struct StepPoint<'a> {
    /// State at t_i.
    pub now: Point<'a>,
    /// State at t_{i+1} = t_i + h.
    pub next: Point<'a>,
    /// Values of the parameters.
    pub u: &'a [f64],
    /// Numerical damping α of HHT.
    pub alpha: f64,
    /// Time step, s.
    pub h: f64,
}

/// Derivatives of the step equation of Lauss 2018, eq. (13), (14), with (12) inserted into rows 3 and 4. Both are square
/// with 3 n + m rows (f1, f2, f3 with n entries each, f4 with m) and columns (q, v, a, λ).
#[derive(Debug, Clone, PartialEq)]
pub struct StepJacobians {
    /// df_i/dx_i, eq. (16).
    pub own: Matrix<f64>,
    /// df_{i+1}/dx_i, eq. (17).
    pub next: Matrix<f64>,
}

/// The choice of C_q in Lauss 2018, eq. (19).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eq19 {
    /// C_q of t_i, as in the paper: right only where C_q is constant.
    AsPrinted,
    /// C_q of t_{i+1}.
    Corrected,
}

/// Lauss 2018, eqs. (16)-(19), from the blocks at t_i and t_{i+1} (as given by [`costate::system::Evaluator::blocks`]).
pub fn paper_step_jacobians(now: &Blocks, next: &Blocks, alpha: f64, h: f64, eq19: Eq19) -> StepJacobians {
    let (n, m) = (now.mass.rows(), now.constraint_by_position.rows());
    let size = 3 * n + m;
    let (beta, gamma) = ((1.0 - alpha) * (1.0 - alpha) / 4.0, (1.0 - 2.0 * alpha) / 2.0);
    let (c1, c2) = (1.0 / (1.0 + alpha), alpha / (1.0 + alpha));
    let zeros = || Matrix::filled(size, size, 0.0);
    let stiffness = |b: &Blocks, i, j| {
        c1 * b.inertia_by_position[(i, j)] + b.constraint_force_by_position[(i, j)] - b.force_by_position[(i, j)]
    };
    let (v, a, lambda) = (n, 2 * n, 3 * n);

    // eq. (16)
    let mut own = zeros();
    for i in 0..n {
        own[(i, i)] = 1.0;
        own[(i, a + i)] = -beta * h * h;
        own[(v + i, v + i)] = 1.0;
        own[(v + i, a + i)] = -gamma * h;
        for j in 0..n {
            own[(a + i, a + j)] =
                c1 * now.mass[(i, j)] + beta * h * h * stiffness(now, i, j) - gamma * h * now.force_by_velocity[(i, j)];
        }
        for row in 0..m {
            own[(a + i, lambda + row)] = now.constraint_by_position[(row, i)];
            own[(lambda + row, a + i)] = now.constraint_by_position[(row, i)];
        }
    }

    let mut following = zeros();
    for i in 0..n {
        // eq. (17)
        following[(i, i)] = -1.0;
        following[(i, v + i)] = -h;
        following[(i, a + i)] = -0.5 * h * h * (1.0 - 2.0 * beta);
        following[(v + i, v + i)] = -1.0;
        following[(v + i, a + i)] = -h * (1.0 - gamma);
        // eq. (18)
        for j in 0..n {
            let before = now.constraint_force_by_position[(i, j)] - now.force_by_position[(i, j)];
            let (after, damping) = (stiffness(next, i, j), next.force_by_velocity[(i, j)]);
            following[(a + i, j)] = after - c2 * before;
            following[(a + i, v + j)] = h * after - damping + c2 * now.force_by_velocity[(i, j)];
            following[(a + i, a + j)] = 0.5 * h * h * (1.0 - 2.0 * beta) * after - h * (1.0 - gamma) * damping;
        }
        // eqs. (18) and (19)
        let in_row_4 = match eq19 {
            Eq19::AsPrinted => now,
            Eq19::Corrected => next,
        };
        for row in 0..m {
            following[(a + i, lambda + row)] = -c2 * now.constraint_by_position[(row, i)];
            let slope = in_row_4.constraint_by_position[(row, i)];
            following[(lambda + row, i)] = slope / (beta * h * h);
            following[(lambda + row, v + i)] = slope / (beta * h);
            following[(lambda + row, a + i)] = (1.0 - 2.0 * beta) / (2.0 * beta) * slope;
        }
    }
    StepJacobians { own, next: following }
}

/// Compares the step Jacobians that `by_hand` gives with exact ones, which are dual-number derivatives of the step equation
/// itself, at random states and parameters. Rows are called ``f3 (motion of `x`)``, columns ``q `x` ``.
///
/// # Errors
/// α or h out of range, matrices of the wrong size, options that make no sense, or a model that is nowhere smooth around
/// its initial state.
pub fn check_step<M: Model>(
    plain: &Plain<M>,
    alpha: f64,
    h: f64,
    by_hand: &mut dyn FnMut(&StepPoint<'_>) -> StepJacobians,
    options: &CheckOptions,
) -> Result<JacobianReport> {
    check(plain, plain.model(), (alpha, h), by_hand, options)
}

fn check(
    plain: &dyn System,
    model: &dyn Functions,
    (alpha, h): (f64, f64),
    by_hand: &mut dyn FnMut(&StepPoint<'_>) -> StepJacobians,
    options: &CheckOptions,
) -> Result<JacobianReport> {
    Hht::new(alpha)?;
    if !(h.is_finite() && h > 0.0) {
        return Err(Error::invalid("time step of the check", format!("it is {h} s"), "give a positive number"));
    }
    let signature = plain.signature();
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let (rows, columns) = (row_names(signature), column_names(signature));
    let tally =
        |symbol, words| Tally::new(BlockName { symbol, words }, rows.clone(), columns.clone(), options.tolerance);
    let mut own = tally("df_i/dx_i", "step by its own state");
    let mut next = tally("df_{i+1}/dx_i", "step by the state before");
    visit_points(plain, options, &mut |sample, _, _, random| {
        let now = sample.point();
        let (a, lambda) = (random.vector(n, 1.0), random.vector(m, 1.0));
        let w = random.vector(now.w.len(), 1.0);
        let (q, v) = newmark(alpha, h, &now, &a);
        let after = Point { t: now.t + h, q: &q, v: &v, a: &a, lambda: &lambda, w: &w };
        let [exact_own, exact_next] = step_jacobians(model, alpha, h, &now, &after, &sample.u);
        let jacobians = by_hand(&StepPoint { now, next: after, u: &sample.u, alpha, h });
        let sizes = [&sample.sizes.q[..], &sample.sizes.v, &sample.sizes.a, &sample.sizes.lambda].concat();
        let place = Place { time: sample.t, point: sample.number };
        for (tally, checked, exact) in [(&mut own, jacobians.own, exact_own), (&mut next, jacobians.next, exact_next)] {
            if checked.rows() != rows.len() || checked.columns() != rows.len() {
                let found = format!("it has {} rows and {} columns", checked.rows(), checked.columns());
                let remedy = format!("give a square matrix of {} rows: 3 a coordinate, 1 a constraint", rows.len());
                return Err(Error::invalid("Jacobian of a step by hand", found, remedy));
            }
            let terms: Vec<f64> = (0..rows.len())
                .map(|i| sizes.iter().enumerate().map(|(j, size)| exact[(i, j)].abs() * size).sum())
                .collect();
            tally.compare(&checked, &exact, &terms, &sizes, place);
        }
        Ok(())
    })?;
    Ok(JacobianReport::new(&signature.name, options, ["by hand", "exact"], vec![own, next]))
}

/// Lauss 2018, eq. (12).
fn newmark(alpha: f64, h: f64, before: &Point<'_>, a: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (beta, gamma) = ((1.0 - alpha) * (1.0 - alpha) / 4.0, (1.0 - 2.0 * alpha) / 2.0);
    let position = |j: usize| {
        let mean = (1.0 - 2.0 * beta) * before.a[j] + 2.0 * beta * a[j];
        before.q[j] + h * before.v[j] + 0.5 * h * h * mean
    };
    let velocity = |j: usize| before.v[j] + h * ((1.0 - gamma) * before.a[j] + gamma * a[j]);
    ((0..a.len()).map(position).collect(), (0..a.len()).map(velocity).collect())
}

fn row_names(signature: &Signature) -> Vec<String> {
    let coordinates = |f: &'static str, what: &'static str| {
        let state = if what == "velocity" { "value" } else { "rate" };
        signature.unknowns().enumerate().map(move |(j, unknown)| match signature.state_places().contains(&j) {
            true => format!("{f} ({state} of `{}`)", unknown.name),
            false => format!("{f} ({what} of `{}`)", unknown.name),
        })
    };
    coordinates("f1", "position")
        .chain(coordinates("f2", "velocity"))
        .chain(coordinates("f3", "motion"))
        .chain(signature.constraints.iter().map(|c| format!("f4 (constraint `{}`)", c.name)))
        .collect()
}

fn column_names(signature: &Signature) -> Vec<String> {
    [Variable::Position, Variable::Velocity, Variable::Acceleration, Variable::Multiplier]
        .into_iter()
        .flat_map(|variable| variable.names(signature))
        .collect()
}
