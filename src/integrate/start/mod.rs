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
//! with M and C_q at q_0; coordinates may be held, so that the others move. If a static equilibrium is asked for, v_0 = 0 and q_0 balances the forces, see [`equilibrium`]. These
//! are equations like any other: gradients pass through them.

mod border;
mod equilibrium;
mod follow;
mod projection;

pub(crate) use follow::Astray;

use crate::diagnosis::{Purpose, singular};
use crate::error::{Error, Result};
use crate::mass;
use crate::scheme::{Direction, Layout};
use crate::signature::{Quantity, Signature};
use crate::system::{Equations, Evaluator, Level, Point, StateVector, Weights};
use equilibrium::Equilibrium;
use projection::{Projection, Setting};

/// Where a simulation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InitialState {
    /// At the model's initial positions and velocities, which must satisfy the constraints.
    #[default]
    AsGiven,
    /// At those, moved onto the constraints by the smallest change in the norm of the mass matrix.
    Projected,
    /// At rest in static equilibrium with the inputs of the first time: C_qᵀ λ = Q at v = 0. The model's initial positions are
    /// where the search begins, its initial velocities are left out.
    Equilibrium,
}

impl InitialState {
    const ALL: [InitialState; 3] = [InitialState::AsGiven, InitialState::Projected, InitialState::Equilibrium];

    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            InitialState::AsGiven => "as-given",
            InitialState::Projected => "projected",
            InitialState::Equilibrium => "equilibrium",
        }
    }
}

impl std::str::FromStr for InitialState {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|state| state.name() == name);
        found.ok_or_else(|| Error::unknown("initial state", name, "", Self::ALL.map(InitialState::name)))
    }
}

/// How a start came about. Residuals are those of the model's own initial state, as distances in the coordinates' units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StartReport {
    /// |C| over the length of its gradient, a row.
    pub position: Vec<f64>,
    /// |C_q v + C_t| over the length of C's gradient, a row.
    pub velocity: Vec<f64>,
    /// What was made of that state.
    pub initial_state: InitialState,
    /// Iterations that the search for an equilibrium took.
    pub iterations: usize,
}

/// What belongs to the start of one simulation.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub report: StartReport,
    origin: Origin,
    /// Of the equations of its accelerations.
    weights: Weights,
}

/// What q_0 and v_0 solve.
#[derive(Debug, Clone)]
enum Origin {
    Model,
    Projection(Projection),
    Equilibrium(Equilibrium),
}

/// Where a simulation is to begin, and the coordinates that a projection holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beginning {
    pub state: InitialState,
    pub held: Vec<usize>,
    /// By how much constraints yield to their multipliers in acceleration.
    pub compliance: f64,
}

/// Of the equations of the start's accelerations.
fn of_accelerations(compliance: f64) -> Weights {
    let equations = Equations { forces: true, level: Level::Acceleration };
    Weights { acceleration: 1.0, position: 0.0, velocity: 0.0, compliance, equations }
}

/// A violation this many times the round-off of evaluating the constraint counts as round-off of the user's formulas: some
/// 1e-10 of the terms in it.
const TOLERANCE: f64 = 1e6;

/// What a start fills.
struct Parts<'a> {
    q: &'a mut [f64],
    v: &'a mut [f64],
    a: &'a mut [f64],
    lambda: &'a mut [f64],
}

impl<'a> Parts<'a> {
    fn of(layout: &Layout, x: &'a mut [f64]) -> Self {
        let (q, rest) = x.split_at_mut(layout.n);
        let (v, rest) = rest.split_at_mut(layout.n);
        let (a, rest) = rest.split_at_mut(layout.n);
        Parts { q, v, a, lambda: &mut rest[layout.n..layout.n + layout.m] }
    }
}

impl Start {
    /// Fills q, v, a, λ of `x0`.
    pub(crate) fn solve(
        system: &mut dyn Evaluator,
        signature: &Signature,
        layout: &Layout,
        (t, w): (f64, &[f64]),
        beginning: &Beginning,
        x0: &mut [f64],
    ) -> Result<Self> {
        let &Beginning { state: initial_state, ref held, compliance } = beginning;
        let (n, m) = (layout.n, layout.m);
        let x = Parts::of(layout, x0);
        system.initial(x.q, x.v);
        for (values, level) in [(&*x.q, "position"), (&*x.v, "velocity")] {
            if let Some(j) = values.iter().position(|value| !value.is_finite()) {
                let quantity = format!("initial {level} of `{}`", signature.coordinates[j].name);
                return Err(Error::NotFinite { quantity, value: values[j], time: t, step: 0 });
            }
        }
        let mut report = StartReport { initial_state, ..StartReport::default() };
        let mut violations = Vec::new();
        if m > 0 {
            let found = Violations::find(system, signature, t, w, x.q, x.v);
            violations = found.describe(signature);
            (report.position, report.velocity) = (found.position, found.velocity);
        }
        let origin = match initial_state {
            InitialState::AsGiven if !violations.is_empty() => {
                return Err(Error::InconsistentStart { violations: in_words(&violations) });
            }
            InitialState::Projected if m > 0 => {
                let setting = Setting { signature, t, w, held };
                Origin::Projection(Projection::solve(system, &setting, x.q, x.v)?)
            }
            InitialState::AsGiven | InitialState::Projected => Origin::Model,
            InitialState::Equilibrium if !held.is_empty() => {
                let problem = "a search for an equilibrium moves all of them";
                return Err(Error::invalid("the held coordinates", problem, "hold them in a projected start"));
            }
            InitialState::Equilibrium => {
                let found = Equilibrium::solve(system, signature, t, w, x.q)?;
                x.v.fill(0.0);
                refuse_moving_constraints(system, signature, t, w, x.q, x.v)?;
                report.iterations = found.iterations;
                Origin::Equilibrium(found)
            }
        };
        let zeros = vec![0.0; n.max(m)];
        let point = Point { t, q: x.q, v: x.v, a: &zeros[..n], lambda: &zeros[..m], w };
        let z = accelerations(system, signature, &point, of_accelerations(compliance))?;
        x.a.copy_from_slice(&z[..n]);
        x.lambda.copy_from_slice(&z[n..]);
        mass::check_start(system, signature, &point)?;
        Ok(Start { report, origin, weights: of_accelerations(compliance) })
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
        system.linearise(x0, self.weights).map_err(|_| singular(system, signature, x0, Purpose::Accelerations))?;
        let solve = |system: &mut dyn Evaluator, bar: &StateVector| {
            let mut p: Vec<f64> = bar.a.iter().chain(&bar.lambda).copied().collect();
            system.solve_transposed(&mut p);
            p
        };
        let p = solve(system, bar);
        for Direction { tangent, cotangent, .. } in directions.iter_mut() {
            system.curvature(x0, self.weights.equations, -1.0, [&p[..n], &p[n..]], tangent, cotangent);
            let own = solve(system, cotangent);
            system.pull_back(-1.0, &own[..n], &own[n..], cotangent);
        }
        system.pull_back(-1.0, &p[..n], &p[n..], bar);
        match &self.origin {
            Origin::Model => {}
            Origin::Projection(projection) => projection.pull_back(system, signature, x0, bar, directions)?,
            // the model's initial state has no part in where the search ends
            Origin::Equilibrium(found) => return found.pull_back(system, signature, x0, bar, directions),
        }
        for Direction { tangent, cotangent, .. } in directions {
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
        tangents.iter_mut().for_each(StateVector::clear_state);
        if let Origin::Equilibrium(found) = &self.origin {
            found.push_forward(system, signature, x0, tangents)?;
        } else {
            for tangent in tangents.iter_mut() {
                system.initial_push_forward(&tangent.u, &mut tangent.q, &mut tangent.v);
            }
            if let Origin::Projection(projection) = &self.origin {
                projection.push_forward(system, signature, x0, tangents)?;
            }
        }
        system.linearise(x0, self.weights).map_err(|_| singular(system, signature, x0, Purpose::Accelerations))?;
        for tangent in tangents {
            let mut r = vec![0.0; n + m];
            let (dynamics, constraint) = r.split_at_mut(n);
            system.push_forward(tangent, dynamics, constraint);
            system.solve(&mut r);
            tangent.a.iter_mut().chain(&mut tangent.lambda).zip(&r).for_each(|(z, r)| *z = -r);
        }
        Ok(())
    }
}

/// Accelerations and multipliers for the positions and velocities of `x`, whose own are zero.
fn accelerations(
    system: &mut dyn Evaluator,
    signature: &Signature,
    x: &Point<'_>,
    weights: Weights,
) -> Result<Vec<f64>> {
    let (n, m) = (x.q.len(), x.lambda.len());
    let mut r = vec![0.0; n + m];
    let (dynamics, constraint) = r.split_at_mut(n);
    let regular = system.factorise(x, weights, dynamics, constraint).is_ok();
    if let Some(row) = r.iter().position(|r| !r.is_finite()) {
        let quantity = format!("the residual of the {}", signature.equation_name(row));
        return Err(Error::NotFinite { quantity, value: r[row], time: x.t, step: 0 });
    }
    if !regular {
        return Err(singular(system, signature, x, Purpose::Accelerations));
    }
    // linear in (a, λ): one solve, and one more to remove its round-off
    system.solve(&mut r);
    let mut z: Vec<f64> = r.iter().map(|r| -r).collect();
    let point = Point { a: &z[..n], lambda: &z[n..], ..*x };
    let (dynamics, constraint) = r.split_at_mut(n);
    system.residual(&point, weights.equations, dynamics, constraint);
    constraint.iter_mut().zip(&z[n..]).for_each(|(c, lambda)| *c -= weights.compliance * lambda);
    system.solve(&mut r);
    z.iter_mut().zip(&r).for_each(|(z, r)| *z -= r);
    Ok(z)
}

/// A constraint that moves at the first time leaves no rest. (One that only begins to move then does.)
fn refuse_moving_constraints(
    system: &mut dyn Evaluator,
    signature: &Signature,
    t: f64,
    w: &[f64],
    q: &[f64],
    no_velocity: &[f64],
) -> Result<()> {
    if signature.constraints.is_empty() {
        return Ok(());
    }
    let Violations { velocity, velocity_limit, .. } = Violations::find(system, signature, t, w, q, no_velocity);
    match (0..velocity.len()).find(|&k| velocity[k].is_nan() || velocity[k] > velocity_limit[k]) {
        None => Ok(()),
        Some(k) => {
            let what = format!("constraint `{}`", signature.constraints[k].name);
            let problem =
                format!("it moves by {:.3e} a second at t = {t} s, which leaves no equilibrium at rest", velocity[k]);
            Err(Error::invalid(what, problem, "begin where it stands still, or with another initial state"))
        }
    }
}

/// Distances from the constraints in position and velocity, and how large they may be.
struct Violations {
    position: Vec<f64>,
    velocity: Vec<f64>,
    position_limit: Vec<f64>,
    velocity_limit: Vec<f64>,
    /// C and C_q v + C_t.
    residuals: [Vec<f64>; 2],
}

impl Violations {
    fn find(system: &mut dyn Evaluator, signature: &Signature, t: f64, w: &[f64], q: &[f64], v: &[f64]) -> Self {
        let (n, m) = (q.len(), signature.constraints.len());
        let zeros = vec![0.0; n.max(m)];
        let point = Point { t, q, v, a: &zeros[..n], lambda: &zeros[..m], w };
        let row_length = |row: &Vec<(u32, f64)>| row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        let mut lengths: Vec<f64> = system.constraint_rows(&point).iter().map(row_length).collect();
        lengths.iter_mut().filter(|length| **length <= 0.0).for_each(|length| *length = 1.0);
        let (mut residual, mut bound, mut unused) = (vec![0.0; m], vec![0.0; m], vec![0.0; n]);
        let mut residuals = |level| {
            system.constraint(level, &point, &mut residual);
            residual.clone()
        };
        let residuals = [residuals(Level::Position), residuals(Level::Velocity)];
        let [position, velocity] = residuals
            .each_ref()
            .map(|residuals| residuals.iter().zip(&lengths).map(|(r, length)| r.abs() / length).collect::<Vec<f64>>());
        system.round_off(&point, Equations::MOTION, &mut unused, &mut bound);
        let position_limit = bound.iter().zip(&lengths).map(|(b, length)| TOLERANCE * b / length + 1e-15).collect();
        // |c · v| <= |c| |v|, of the coordinates that the row couples: the largest velocity stands for them
        let speed = v.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let velocity_limit = vec![TOLERANCE * f64::EPSILON * speed + 1e-12; m];
        Violations { position, velocity, position_limit, velocity_limit, residuals }
    }

    /// The rows that are violated, each with its distance in the coordinates and its residual in its own unit.
    fn describe(&self, signature: &Signature) -> Vec<String> {
        let all = 0..signature.constraints.len();
        all.flat_map(|k| [self.position_of(signature, k), self.velocity_of(signature, k)]).flatten().collect()
    }

    /// The rows that are violated in position alone.
    fn of_positions(&self, signature: &Signature) -> Vec<String> {
        (0..signature.constraints.len()).filter_map(|k| self.position_of(signature, k)).collect()
    }

    fn position_of(&self, signature: &Signature, k: usize) -> Option<String> {
        let (name, unit) = named(&signature.constraints[k]);
        let (distance, residual) = (self.position[k], self.residuals[0][k]);
        let violated = distance.is_nan() || distance > self.position_limit[k];
        violated.then(|| format!("`{name}` by {distance:.3e} in position (residual {residual:.3e} {unit})"))
    }

    fn velocity_of(&self, signature: &Signature, k: usize) -> Option<String> {
        let (name, unit) = named(&signature.constraints[k]);
        let (distance, residual) = (self.velocity[k], self.residuals[1][k]);
        let violated = distance.is_nan() || distance > self.velocity_limit[k];
        violated.then(|| format!("`{name}` by {distance:.3e} in velocity (residual {residual:.3e} {unit}/s)"))
    }
}

fn named(Quantity { name, unit, .. }: &Quantity) -> (&str, &str) {
    (name, if unit.is_empty() { "1" } else { unit })
}

/// Rows that are named at most: in a chain that is wrong at its foot, all are.
const NAMED: usize = 8;

fn in_words(violations: &[String]) -> String {
    let more = violations.len().saturating_sub(NAMED);
    let told = violations[..violations.len() - more].join(", ");
    if more == 0 { told } else { format!("{told}, and {more} more") }
}
