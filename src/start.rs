//! The start of a simulation: initial state, consistency, and the residual f_0(x_0, u) = 0 with its products.
//!
//! q_0(u) and v_0(u) are the model's; a_0 and λ_0 solve
//!
//! ```text
//! M a_0 + C_qᵀ λ_0 = Q,      d²/dt² C = 0 along the motion.
//! ```
//!
//! If a projection is asked for, q_0 and v_0 are moved onto the constraints first, by the smallest change in the norm of
//! the mass matrix:
//!
//! ```text
//! M (q_0 - q_m) + C_qᵀ ν = 0,  C(q_0) = 0;      M (v_0 - v_m) + C_qᵀ μ = 0,  C_q v_0 + C_t = 0
//! ```
//!
//! with M and C_q at q_0. These are equations like any other: gradients pass through them.

use crate::error::{Error, Result};
use crate::model::Matrix;
use crate::scheme::{Direction, Layout};
use crate::signature::Signature;
use crate::system::{Blocks, Evaluator, Level, Point, StateVector, Weights};
use nalgebra::{DMatrix, DVector};

/// Residuals of the constraints at the start, as distances in the coordinates' units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StartReport {
    /// |C| over the length of its gradient, a row.
    pub position: Vec<f64>,
    /// |C_q v + C_t| over the length of C's gradient, a row.
    pub velocity: Vec<f64>,
    /// Whether the state was projected.
    pub projected: bool,
}

/// What belongs to the start of one simulation.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub report: StartReport,
    /// The model's state before projection, and the multipliers of both projections, if there was one.
    projection: Option<Projection>,
}

#[derive(Debug, Clone)]
struct Projection {
    q_model: Vec<f64>,
    v_model: Vec<f64>,
    nu: Vec<f64>,
    mu: Vec<f64>,
}

const PLAIN: Weights = Weights { acceleration: 1.0, position: 0.0, velocity: 0.0 };
/// A violation this many times the round-off of evaluating the constraint counts as round-off of the user's formulas: some
/// 1e-10 of the terms in it.
const TOLERANCE: f64 = 1e6;

impl Start {
    /// Fills q, v, a, λ of `x0`.
    pub(crate) fn solve(
        system: &mut dyn Evaluator,
        signature: &Signature,
        layout: &Layout,
        t: f64,
        w: &[f64],
        project: bool,
        x0: &mut [f64],
    ) -> Result<Self> {
        let (n, m) = (layout.n, layout.m);
        let x = layout.parts(x0);
        system.initial(x.q, x.v);
        for (values, level) in [(&*x.q, "position"), (&*x.v, "velocity")] {
            if let Some(j) = values.iter().position(|value| !value.is_finite()) {
                let quantity = format!("initial {level} of `{}`", signature.coordinates[j].name);
                return Err(Error::NotFinite { quantity, value: values[j], time: t, step: 0 });
            }
        }
        let zeros = vec![0.0; n.max(m)];
        let mut start = Start { report: StartReport::default(), projection: None };
        if m > 0 {
            let Violations { position, velocity, position_limit, velocity_limit } =
                Violations::find(system, signature, t, w, x.q, x.v);
            let mut bad = Vec::new();
            for (k, constraint) in signature.constraints.iter().enumerate() {
                if position[k].is_nan() || position[k] > position_limit[k] {
                    bad.push(format!("`{}` by {:.3e} in position", constraint.name, position[k]));
                }
                if velocity[k].is_nan() || velocity[k] > velocity_limit[k] {
                    bad.push(format!("`{}` by {:.3e} in velocity", constraint.name, velocity[k]));
                }
            }
            start.report = StartReport { position, velocity, projected: false };
            if project {
                start.projection = Some(Projection::solve(system, signature, t, w, x.q, x.v)?);
                start.report.projected = true;
            } else if !bad.is_empty() {
                return Err(Error::InconsistentStart { violations: bad.join(", ") });
            }
        }
        let point = Point { t, q: x.q, v: x.v, a: &zeros[..n], lambda: &zeros[..m], w };
        let mut r = vec![0.0; n + m];
        let (dynamics, constraint) = r.split_at_mut(n);
        let regular = system.factorise(&point, PLAIN, dynamics, constraint).is_ok();
        system.constraint(Level::Acceleration, &point, constraint);
        if let Some(row) = r.iter().position(|r| !r.is_finite()) {
            let quantity = format!("the residual of the {}", signature.equation_name(row));
            return Err(Error::NotFinite { quantity, value: r[row], time: t, step: 0 });
        }
        if !regular {
            return Err(singular(system, signature, &point, true));
        }
        // linear in (a, λ): one solve, and one more to remove its round-off
        system.solve(&mut r);
        let mut z: Vec<f64> = r.iter().map(|r| -r).collect();
        let point = Point { a: &z[..n], lambda: &z[n..], ..point };
        let (dynamics, constraint) = r.split_at_mut(n);
        system.residual(&point, dynamics, constraint);
        system.constraint(Level::Acceleration, &point, constraint);
        system.solve(&mut r);
        z.iter_mut().zip(&r).for_each(|(z, r)| *z -= r);
        x.a.copy_from_slice(&z[..n]);
        x.lambda.copy_from_slice(&z[n..]);
        Ok(start)
    }

    /// From a cotangent of (q_0, v_0, a_0, λ_0) to one of the parameters, which is added to `bar.u`.
    pub(crate) fn pull_back(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()> {
        let n = x0.q.len();
        if self.projection.is_some() && !directions.is_empty() {
            let problem = "second derivatives of a projected start are not available";
            let remedy = "let the model's initial state satisfy the constraints, or use differences of the gradient";
            return Err(Error::invalid("the start", problem, remedy));
        }
        system.linearise(x0, PLAIN).map_err(|_| singular(system, signature, x0, true))?;
        let solve = |system: &mut dyn Evaluator, bar: &StateVector| {
            let mut p: Vec<f64> = bar.a.iter().chain(&bar.lambda).copied().collect();
            system.solve_transposed(&mut p);
            p
        };
        let pull = |system: &mut dyn Evaluator, p: &[f64], bar: &mut StateVector| {
            let (dynamics, constraint) = p.split_at(n);
            system.pull_back(-1.0, dynamics, &vec![0.0; constraint.len()], bar);
            if !constraint.is_empty() {
                system.constraint_pull_back(Level::Acceleration, x0, -1.0, constraint, bar);
            }
        };
        let p = solve(system, bar);
        for Direction { tangent, cotangent } in directions.iter_mut() {
            let (dynamics, constraint) = p.split_at(n);
            system.curvature(x0, -1.0, dynamics, &vec![0.0; constraint.len()], tangent, cotangent);
            if !constraint.is_empty() {
                system.constraint_curvature(Level::Acceleration, x0, -1.0, constraint, tangent, cotangent);
            }
            let own = solve(system, cotangent);
            pull(system, &own, cotangent);
        }
        pull(system, &p, bar);
        if let Some(projection) = &self.projection {
            projection.pull_back(system, signature, x0, bar)?;
        }
        for Direction { tangent, cotangent } in directions {
            let StateVector { q, v, u, .. } = cotangent;
            system.initial_pull_back(q, v, u);
            system.initial_curvature(&bar.q, &bar.v, &tangent.u, u);
        }
        let StateVector { q, v, u, .. } = bar;
        system.initial_pull_back(q, v, u);
        Ok(())
    }

    /// Tangents of (q_0, v_0, a_0, λ_0) for the directions in the parameters' parts.
    pub(crate) fn push_forward(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()> {
        let (n, m) = (x0.q.len(), x0.lambda.len());
        for tangent in tangents.iter_mut() {
            tangent.clear_state();
            system.initial_push_forward(&tangent.u, &mut tangent.q, &mut tangent.v);
            if let Some(projection) = &self.projection {
                projection.push_forward(system, signature, x0, tangent)?;
            }
        }
        system.linearise(x0, PLAIN).map_err(|_| singular(system, signature, x0, true))?;
        for tangent in tangents {
            let mut r = vec![0.0; n + m];
            let (dynamics, constraint) = r.split_at_mut(n);
            system.push_forward(tangent, dynamics, constraint);
            constraint.fill(0.0);
            if m > 0 {
                system.constraint_push_forward(Level::Acceleration, x0, tangent, constraint);
            }
            system.solve(&mut r);
            tangent.a.iter_mut().chain(&mut tangent.lambda).zip(&r).for_each(|(z, r)| *z = -r);
        }
        Ok(())
    }
}

/// Distances from the constraints in position and velocity, and how large they may be.
struct Violations {
    position: Vec<f64>,
    velocity: Vec<f64>,
    position_limit: Vec<f64>,
    velocity_limit: Vec<f64>,
}

impl Violations {
    fn find(system: &mut dyn Evaluator, signature: &Signature, t: f64, w: &[f64], q: &[f64], v: &[f64]) -> Self {
        let (n, m) = (q.len(), signature.constraints.len());
        let zeros = vec![0.0; n.max(m)];
        let point = Point { t, q, v, a: &zeros[..n], lambda: &zeros[..m], w };
        let mut lengths = vec![0.0; m];
        system.constraint_row_lengths(&point, &mut lengths);
        lengths.iter_mut().filter(|length| **length <= 0.0).for_each(|length| *length = 1.0);
        let (mut residual, mut bound, mut unused) = (vec![0.0; m], vec![0.0; m], vec![0.0; n]);
        let mut distances = |level| {
            system.constraint(level, &point, &mut residual);
            residual.iter().zip(&lengths).map(|(r, length)| r.abs() / length).collect::<Vec<f64>>()
        };
        let (position, velocity) = (distances(Level::Position), distances(Level::Velocity));
        system.round_off(&point, &mut unused, &mut bound);
        let position_limit = bound.iter().zip(&lengths).map(|(b, length)| TOLERANCE * b / length + 1e-15).collect();
        // |c · v| <= |c| |v|, of the coordinates that the row couples: the largest velocity stands for them
        let speed = v.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let velocity_limit = vec![TOLERANCE * f64::EPSILON * speed + 1e-12; m];
        Violations { position, velocity, position_limit, velocity_limit }
    }
}

fn dense(matrix: &Matrix<f64>) -> DMatrix<f64> {
    DMatrix::from_row_slice(matrix.rows(), matrix.columns(), matrix.as_slice())
}

/// [A Bᵀ; B 0]
fn saddle(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, m) = (a.nrows(), b.nrows());
    let mut k = DMatrix::zeros(n + m, n + m);
    k.view_mut((0, 0), (n, n)).copy_from(a);
    k.view_mut((n, 0), (m, n)).copy_from(b);
    k.view_mut((0, n), (n, m)).copy_from(&b.transpose());
    k
}

impl Projection {
    /// Moves `q` and `v` onto the constraints.
    fn solve(
        system: &mut dyn Evaluator,
        signature: &Signature,
        t: f64,
        w: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<Self> {
        let (n, m) = (q.len(), signature.constraints.len());
        let (q_model, v_model) = (q.to_vec(), v.to_vec());
        let mut nu = vec![0.0; m];
        let mut blocks = Blocks::zeros(signature);
        let mut c = vec![0.0; m];
        let mut last = f64::INFINITY;
        let mut converged = false;
        for _ in 0..60 {
            let change: Vec<f64> = q.iter().zip(&q_model).map(|(q, start)| q - start).collect();
            let point = Point { t, q, v, a: &change, lambda: &nu, w };
            system.blocks(&point, &mut blocks);
            system.constraint(Level::Position, &point, &mut c);
            let (mass, c_q) = (dense(&blocks.mass), dense(&blocks.constraint_by_position));
            let curvature = dense(&blocks.inertia_by_position) + dense(&blocks.constraint_force_by_position);
            let mut r = DVector::zeros(n + m);
            let force = &mass * DVector::from_column_slice(&change) + c_q.transpose() * DVector::from_column_slice(&nu);
            r.rows_mut(0, n).copy_from(&force);
            r.rows_mut(n, m).copy_from_slice(&c);
            let Some(step) = saddle(&(mass + curvature), &c_q).lu().solve(&r) else {
                return Err(singular(system, signature, &point, true));
            };
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            q.iter_mut().zip(step.iter()).for_each(|(q, step)| *q -= step);
            nu.iter_mut().zip(step.iter().skip(n)).for_each(|(nu, step)| *nu -= step);
            let size = step.rows(0, n).amax() / (q.iter().fold(0.0f64, |s, q| s.max(q.abs())) + 1e-300);
            let known = size > 0.3 * last && {
                // no progress: is what is left the constraint's own round-off?
                let (mut bound, mut unused) = (vec![0.0; m], vec![0.0; n]);
                system.round_off(&Point { t, q, v, a: &change, lambda: &nu, w }, &mut unused, &mut bound);
                c.iter().zip(&bound).all(|(c, bound)| c.abs() <= 2.0 * bound)
            };
            if size <= 1e-15 || known {
                converged = true;
                break;
            }
            last = size;
        }
        if !converged {
            let violations = "no projection onto them was found within 60 iterations".to_string();
            return Err(Error::InconsistentStart { violations });
        }
        let zeros = vec![0.0; n];
        let point = Point { t, q, v: &zeros, a: &zeros, lambda: &nu, w };
        system.blocks(&point, &mut blocks);
        system.constraint(Level::Velocity, &point, &mut c); // C_t alone
        let (mass, c_q) = (dense(&blocks.mass), dense(&blocks.constraint_by_position));
        let mut r = DVector::zeros(n + m);
        r.rows_mut(0, n).copy_from(&(&mass * DVector::from_column_slice(&v_model)));
        r.rows_mut(n, m).copy_from(&-DVector::from_column_slice(&c));
        let matrix = saddle(&mass, &c_q).lu();
        let Some(mut solution) = matrix.solve(&r) else { return Err(singular(system, signature, &point, true)) };
        let residual = saddle(&mass, &c_q) * &solution - &r;
        if let Some(correction) = matrix.solve(&residual) {
            solution -= correction;
        }
        v.copy_from_slice(&solution.as_slice()[..n]);
        let mu = solution.as_slice()[n..].to_vec();
        Ok(Projection { q_model, v_model, nu, mu })
    }

    /// Derivatives of both projections' equations. The rows are (q, ν, v, μ).
    fn equations(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
    ) -> [(DMatrix<f64>, Blocks); 2] {
        let difference = |x: &[f64], start: &[f64]| x.iter().zip(start).map(|(x, s)| x - s).collect::<Vec<f64>>();
        let mut at = |change: &[f64], multiplier: &[f64]| {
            let mut blocks = Blocks::zeros(signature);
            system.blocks(&Point { a: change, lambda: multiplier, ..*x0 }, &mut blocks);
            let curvature = dense(&blocks.inertia_by_position) + dense(&blocks.constraint_force_by_position);
            (curvature, blocks)
        };
        [at(&difference(x0.q, &self.q_model), &self.nu), at(&difference(x0.v, &self.v_model), &self.mu)]
    }

    fn pull_back(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        bar: &mut StateVector,
    ) -> Result<()> {
        let (n, m) = (x0.q.len(), x0.lambda.len());
        let [(q_curvature, q_blocks), (v_curvature, v_blocks)] = self.equations(system, signature, x0);
        let (mass, c_q) = (dense(&q_blocks.mass), dense(&q_blocks.constraint_by_position));
        let no_inverse = |system: &mut dyn Evaluator| singular(system, signature, x0, true);
        let parameter_part = |blocks: &Blocks, d: &DVector<f64>| {
            let sum = dense(&blocks.inertia_by_parameter) + dense(&blocks.constraint_force_by_parameter);
            sum.transpose() * d
        };
        // velocities: M (v - v_m) + C_qᵀ μ = 0, C_q v + C_t = 0
        let mut r = DVector::zeros(n + m);
        r.rows_mut(0, n).copy_from_slice(&bar.v);
        let Some(p) = saddle(&mass, &c_q).transpose().lu().solve(&r) else { return Err(no_inverse(system)) };
        let (d, c) = (p.rows(0, n).into_owned(), p.rows(n, m).into_owned());
        let mut q_bar = DVector::from_column_slice(&bar.q) - v_curvature.transpose() * &d;
        let mut u_bar = -parameter_part(&v_blocks, &d);
        let mut level = StateVector::zeros(signature);
        system.constraint_pull_back(Level::Velocity, x0, -1.0, c.as_slice(), &mut level);
        q_bar += DVector::from_column_slice(&level.q);
        u_bar += DVector::from_column_slice(&level.u);
        let v_bar = mass.transpose() * &d;
        // positions: M (q - q_m) + C_qᵀ ν = 0, C = 0
        let mut r = DVector::zeros(n + m);
        r.rows_mut(0, n).copy_from(&q_bar);
        let matrix = saddle(&(&mass + q_curvature), &c_q).transpose();
        let Some(p) = matrix.lu().solve(&r) else { return Err(no_inverse(system)) };
        let (d, c) = (p.rows(0, n).into_owned(), p.rows(n, m).into_owned());
        u_bar -= parameter_part(&q_blocks, &d);
        u_bar -= dense(&q_blocks.constraint_by_parameter).transpose() * &c;
        let q_bar = mass.transpose() * &d;
        bar.q.copy_from_slice(q_bar.as_slice());
        bar.v.copy_from_slice(v_bar.as_slice());
        bar.u.iter_mut().zip(u_bar.iter()).for_each(|(u, x)| *u += x);
        Ok(())
    }

    fn push_forward(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        tangent: &mut StateVector,
    ) -> Result<()> {
        let (n, m) = (x0.q.len(), x0.lambda.len());
        let [(q_curvature, q_blocks), (v_curvature, v_blocks)] = self.equations(system, signature, x0);
        let (mass, c_q) = (dense(&q_blocks.mass), dense(&q_blocks.constraint_by_position));
        let u = DVector::from_column_slice(&tangent.u);
        let parameter_part =
            |blocks: &Blocks| (dense(&blocks.inertia_by_parameter) + dense(&blocks.constraint_force_by_parameter)) * &u;
        let mut r = DVector::zeros(n + m);
        let force = &mass * DVector::from_column_slice(&tangent.q) - parameter_part(&q_blocks);
        r.rows_mut(0, n).copy_from(&force);
        r.rows_mut(n, m).copy_from(&-(dense(&q_blocks.constraint_by_parameter) * &u));
        let matrix = saddle(&(&mass + q_curvature), &c_q);
        let Some(dq) = matrix.lu().solve(&r) else { return Err(singular(system, signature, x0, true)) };
        tangent.q.copy_from_slice(&dq.as_slice()[..n]);
        let dq = dq.rows(0, n).into_owned();
        let v_model = std::mem::replace(&mut tangent.v, vec![0.0; n]);
        let force = &mass * DVector::from_column_slice(&v_model) - v_curvature * dq - parameter_part(&v_blocks);
        let mut c = vec![0.0; m];
        system.constraint_push_forward(Level::Velocity, x0, tangent, &mut c);
        r.rows_mut(0, n).copy_from(&force);
        r.rows_mut(n, m).copy_from(&-DVector::from_column_slice(&c));
        let Some(dv) = saddle(&mass, &c_q).lu().solve(&r) else { return Err(singular(system, signature, x0, true)) };
        tangent.v.copy_from_slice(&dv.as_slice()[..n]);
        Ok(())
    }
}

/// Explains why [M C_qᵀ; C_q 0] (or Newton's matrix) has no inverse.
pub(crate) fn singular(system: &mut dyn Evaluator, signature: &Signature, x: &Point<'_>, at_start: bool) -> Error {
    let mut blocks = Blocks::zeros(signature);
    system.blocks(x, &mut blocks);
    let n = signature.coordinates.len();
    let parts = [&blocks.mass, &blocks.inertia_by_position, &blocks.force_by_position, &blocks.force_by_velocity];
    for part in parts.into_iter().chain([&blocks.constraint_by_position, &blocks.constraint_force_by_position]) {
        if let Some(place) = part.as_slice().iter().position(|entry| !entry.is_finite()) {
            let (row, column) = (place / n, &signature.coordinates[place % n].name);
            let of_constraint = std::ptr::eq(part, &blocks.constraint_by_position);
            let equation = signature.equation_name(if of_constraint { n + row } else { row });
            let quantity = format!("a derivative of the {equation} by `{column}`");
            return Error::NotFinite { quantity, value: part.as_slice()[place], time: x.t, step: 0 };
        }
    }
    let remedy_rows = "remove the redundant rows, or replace them by independent ones".to_string();
    let c_q = dense(&blocks.constraint_by_position);
    let (dependent, rank) = dependent_rows(&c_q);
    if !dependent.is_empty() {
        let names = |rows: &[usize]| {
            rows.iter().map(|&k| format!("`{}`", signature.constraints[k].name)).collect::<Vec<_>>().join(", ")
        };
        let combined: Vec<String> = dependent
            .iter()
            .map(|(row, others)| {
                if others.is_empty() {
                    format!("row {} has no coordinate in it here", names(&[*row]))
                } else {
                    format!("row {} repeats {}", names(&[*row]), names(others))
                }
            })
            .collect();
        let reason = format!(
            "{} of the {} constraint rows are redundant (C_q has rank {rank}): {}",
            dependent.len(),
            c_q.nrows(),
            combined.join("; ")
        );
        return Error::Singular { time: x.t, reason, remedy: remedy_rows };
    }
    // directions that the constraints leave free and that carry no mass
    let mass = dense(&blocks.mass);
    let svd = saddle(&mass, &c_q).svd(false, true);
    let loose = svd.v_t.map(|v_t| {
        let last = svd.singular_values.imin();
        let direction = v_t.row(last).into_owned();
        let n = signature.coordinates.len();
        let largest = direction.columns(0, n).amax();
        (0..n)
            .filter(|&j| direction[j].abs() > 0.3 * largest)
            .map(|j| format!("`{}`", signature.coordinates[j].name))
            .collect::<Vec<_>>()
    });
    let small = svd.singular_values.min() <= 1e-12 * svd.singular_values.max();
    let (reason, remedy) = match loose {
        Some(names) if small => (
            format!("neither mass nor a constraint determines the acceleration of {}", names.join(", ")),
            "give it mass, or a constraint that ties it to a coordinate with mass".to_string(),
        ),
        _ if at_start => ("[M C_qᵀ; C_q 0] has no inverse to working precision".to_string(), "check masses and units".to_string()),
        _ => (
            "Newton's matrix has no inverse here, though [M C_qᵀ; C_q 0] has one: a stiffness or damping cancels the mass".to_string(),
            "take another step size, or check the signs of stiffnesses and dampings".to_string(),
        ),
    };
    Error::Singular { time: x.t, reason, remedy }
}

/// Rows of `matrix` that are combinations of earlier ones, each with the rows that it combines; and the rank.
fn dependent_rows(matrix: &DMatrix<f64>) -> (Vec<(usize, Vec<usize>)>, usize) {
    let mut basis: Vec<(usize, DVector<f64>)> = Vec::new();
    let mut dependent = Vec::new();
    for k in 0..matrix.nrows() {
        let row = matrix.row(k).transpose();
        let norm = row.norm();
        if norm.is_nan() || norm == 0.0 {
            dependent.push((k, Vec::new()));
            continue;
        }
        let columns: Vec<DVector<f64>> = basis.iter().map(|(_, row)| row.clone()).collect();
        if !columns.is_empty() {
            let others = DMatrix::from_columns(&columns);
            let svd = others.clone().svd(true, true);
            // an empty basis cannot reach this point, so the solve succeeds; if not, the row counts as independent
            if let Ok(coefficients) = svd.solve(&row, 1e-12 * svd.singular_values.max())
                && (&row - &others * &coefficients).norm() <= 1e-9 * norm
            {
                let used = coefficients.iter().zip(&basis).filter(|(c, (_, r))| c.abs() * r.norm() > 1e-6 * norm);
                dependent.push((k, used.map(|(_, (row, _))| *row).collect()));
                continue;
            }
        }
        basis.push((k, row));
    }
    (dependent, basis.len())
}

/// Names the first value that is not finite: a force, a constraint, or a coordinate.
pub(crate) fn not_finite(signature: &Signature, x: &Point<'_>, residual: &[f64], step: usize) -> Error {
    let n = signature.coordinates.len();
    let named = |values: &[f64], kind: &str| {
        let found = values.iter().enumerate().find(|(_, value)| !value.is_finite());
        found.map(|(j, value)| (format!("the {kind} of `{}`", signature.coordinates[j].name), *value))
    };
    let residual = || {
        let found = residual.iter().enumerate().find(|(_, value)| !value.is_finite());
        found.map(|(row, value)| (format!("the residual of the {}", signature.equation_name(row)), *value))
    };
    let (quantity, value) = named(&x.q[..n], "position")
        .or_else(|| named(x.v, "velocity"))
        .or_else(residual)
        .or_else(|| named(x.a, "acceleration"))
        .unwrap_or_else(|| ("the increment of Newton's iteration".into(), f64::NAN));
    Error::NotFinite { quantity, value, time: x.t, step }
}
