//! The start of a simulation: the balances that lead from the model's initial state q_m(u), v_m(u) to that of the first time. The last of
//! them gives consistent accelerations and multipliers,
//!
//! ```text
//! M a_0 + C_qᵀ λ_0 = Q,      d²/dt² C = 0 along the motion.
//! ```
//!
//! If a projection is asked for, positions and velocities are moved onto the constraints before it, by the smallest change in the norm of
//! the mass matrix:
//!
//! ```text
//! M (q_0 - q_m) + C_qᵀ ν = 0,  C(q_0) = 0;      M (v_0 - v_m) + C_qᵀ μ = 0,  C_q v_0 + C_t = 0
//! ```
//!
//! with M and C_q at q_0; coordinates may be held, so that the others move. If a static equilibrium is asked for, v_0 = 0 and q_0 balances
//! the forces: C_qᵀ ν = Q, C(q_0) = 0. Gradients pass through all of them as through those of a
//! step.

mod equilibrium;
mod follow;
mod held;
mod violations;

pub(crate) use follow::InconsistentParameter;

use crate::mass;
use crate::scheme::{Balance, Block, Counters, Direction, Inertia, Sequence, Step};
use crate::signature::Signature;
use crate::system::{Evaluator, Level, Point, StateVector};
use crate::{Error, Result};
use violations::{Violations, in_words};

/// The state in which a simulation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InitialState {
    /// The model's initial positions and velocities, which must satisfy the constraints.
    #[default]
    AsGiven,
    /// The model's initial state, moved onto the constraints by the smallest change in the norm of the mass matrix.
    Projected,
    /// Rest in static equilibrium with the inputs of the first time: C_qᵀ λ = Q at v = 0, and states whose rates are zero. The model's
    /// initial positions and states are where the search begins, its initial velocities are left out.
    Equilibrium,
}

impl InitialState {
    const ALL: [InitialState; 3] = [InitialState::AsGiven, InitialState::Projected, InitialState::Equilibrium];

    /// The balances that take the model's initial state to a start.
    fn balances(self, constrained: bool) -> Vec<Balance> {
        let moved = |level, block| Balance::projection(level).set(block, [(block, 1.0)], 1.0).of_start();
        let accelerations = Balance::of_motion(Level::Acceleration, Inertia::Of(Block::A));
        let mut list = match self {
            InitialState::Projected if constrained => {
                vec![moved(Level::Position, Block::Q), moved(Level::Velocity, Block::V)]
            }
            InitialState::Equilibrium => vec![Balance::at_rest()],
            InitialState::AsGiven | InitialState::Projected => Vec::new(),
        };
        list.push(accelerations.set(Block::A, [], 1.0).set(Block::S, [], 1.0));
        list
    }

    /// Name of the initial state in commands and files.
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

/// A report on how a start came about. Residuals are those of the model's own initial state, as distances in the coordinates' units.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct StartReport {
    /// |C| over the length of its gradient, a row.
    pub position: Vec<f64>,
    /// |C_q v + C_t| over the length of C's gradient, a row.
    pub velocity: Vec<f64>,
    /// Use that was made of the model's initial state.
    pub initial_state: InitialState,
    /// Iterations that the search for an equilibrium took.
    pub iterations: usize,
}

/// The state in which a simulation is to begin, and the coordinates that a projection holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beginning {
    pub state: InitialState,
    pub held: Vec<usize>,
    /// Compliance by which constraints yield to their multipliers in acceleration.
    pub compliance: f64,
    /// True if an equilibrium may be one of many, of a mechanism that moves freely.
    pub may_move: bool,
}

/// The start of one simulation: its balances where they have been solved.
pub(crate) struct Start {
    pub report: StartReport,
    sequence: Sequence,
}

/// The start among the steps.
fn step<'a>((t, w): (f64, &'a [f64])) -> Step<'a> {
    Step { index: 0, is_restart: false, t, h: 0.0, h_before: 0.0, w, w_other: w }
}

/// Point of a state (q, v, a, S, λ).
fn point<'a>(signature: &Signature, (t, w): (f64, &'a [f64]), x: &'a [f64]) -> Point<'a> {
    let n = signature.unknown_count();
    Point { t, q: &x[..n], v: &x[n..2 * n], a: &x[2 * n..3 * n], lambda: &x[4 * n..], w }
}

impl Start {
    /// Fills q, v, a, S and λ of `x0`.
    pub(crate) fn solve(
        system: &mut dyn Evaluator,
        signature: &Signature,
        at: (f64, &[f64]),
        beginning: &Beginning,
        x0: &mut [f64],
    ) -> Result<Self> {
        let &Beginning { state, ref held, compliance, may_move } = beginning;
        let list = state.balances(!signature.constraints.is_empty());
        let mut start = Start {
            report: StartReport { initial_state: state, ..StartReport::default() },
            sequence: Sequence::of_start(signature, &list, compliance, held),
        };
        start.begin(system, signature, at, held)?;
        for number in 0..list.len() {
            match (state, number) {
                (InitialState::Equilibrium, 0) => start.rest(system, signature, at, may_move)?,
                _ => start.take(system, signature, at, number)?,
            }
        }
        let x = &*start.sequence.beginning(list.len());
        mass::check_start(system, signature, &point(signature, at, x))?;
        x0[..x.len()].copy_from_slice(x);
        Ok(start)
    }

    /// Takes the model's initial state, and judges it.
    fn begin(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        at: (f64, &[f64]),
        held: &[usize],
    ) -> Result<()> {
        let x = self.sequence.beginning(0);
        let (q, rest) = x.split_at_mut(signature.unknown_count());
        system.initial(q, &mut rest[..q.len()]);
        let x = point(signature, at, x);
        for (values, level) in [(x.q, "position"), (x.v, "velocity")] {
            if let Some(j) = values.iter().position(|value| !value.is_finite()) {
                let quantity = match j < signature.coordinates.len() {
                    true => format!("initial {level} of `{}`", signature.unknown_name(j)),
                    false => format!("initial value of the state `{}`", signature.unknown_name(j)),
                };
                return Err(Error::NotFinite { quantity, value: values[j], time: x.t, step: 0 });
            }
        }
        let mut violations = Vec::new();
        if !signature.constraints.is_empty() {
            let found = Violations::find(system, signature, &x);
            if let Some((quantity, value)) = found.no_number(signature) {
                return Err(Error::NotFinite { quantity, value, time: x.t, step: 0 });
            }
            violations = found.describe(signature);
            (self.report.position, self.report.velocity) = (found.position, found.velocity);
        }
        match self.report.initial_state {
            InitialState::AsGiven if !violations.is_empty() => {
                Err(Error::InconsistentStart { violations: in_words(&violations) })
            }
            InitialState::Projected => held::check(system, signature, &x, held),
            InitialState::Equilibrium if !held.is_empty() => {
                let problem = "a search for an equilibrium moves all of them";
                Err(Error::invalid("the held coordinates", problem, "hold them in a projected start"))
            }
            _ => Ok(()),
        }
    }

    /// Solves one of its balances.
    fn take(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        at: (f64, &[f64]),
        number: usize,
    ) -> Result<()> {
        let mut counters = Counters::default();
        let outcome = self.sequence.solve_and_keep(system, signature, &step(at), number, &mut counters);
        let (Err(error), Some(q)) = (&outcome, self.sequence.closest()) else { return outcome };
        let (iterations, still) = (counters.iterations, vec![0.0; q.len()]);
        let x = Point { q, v: &still, ..point(signature, at, &self.sequence.before) };
        let violations = Violations::find(system, signature, &x).of_positions(signature);
        let violations = match error {
            Error::NewtonFailed { .. } if violations.is_empty() => {
                "none by more than round-off, without settling".into()
            }
            _ if iterations == 1 || violations.is_empty() => return outcome,
            _ => in_words(&violations),
        };
        Err(Error::NotAssembled { iterations, violations })
    }

    /// Finds a static equilibrium.
    fn rest(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        at: (f64, &[f64]),
        may_move: bool,
    ) -> Result<()> {
        let n = signature.unknown_count();
        let x = self.sequence.beginning(0);
        x[n..n + signature.coordinates.len()].fill(0.0);
        // multipliers for a beginning, because tension may be all that holds a coordinate
        let mut moving = x.to_vec();
        let mut motion = Sequence::of_start(signature, &InitialState::AsGiven.balances(true), 0.0, &[]);
        motion.solve(system, signature, &step(at), 0, (None, &mut moving), &mut Counters::default())?;
        let (z, iterations) = equilibrium::find(system, signature, &point(signature, at, &moving), may_move)?;
        self.report.iterations = iterations;
        self.sequence.keep(0, &z);
        violations::refuse_moving_constraints(system, signature, &point(signature, at, self.sequence.beginning(1)))
    }

    /// Pulls a cotangent of the state at `x0` back to the parameters, which is added to `bar.u`; and its derivatives along directions.
    pub(crate) fn pull_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()> {
        for Direction { tangent, before, .. } in directions.iter_mut() {
            before.clear_state();
            system.initial_push_forward(&tangent.u, &mut before.q, &mut before.v);
        }
        self.sequence.pull_back(system, signature, &step((x0.t, x0.w)), bar, directions, false)?;
        if self.report.initial_state == InitialState::Equilibrium {
            // the model's initial state has no part in where the search ends
            return Ok(());
        }
        for Direction { tangent, cotangent: StateVector { q, v, u, .. }, .. } in directions {
            system.initial_pull_back(q, v, u);
            system.initial_curvature(&bar.q, &bar.v, &tangent.u, u);
        }
        let StateVector { q, v, u, .. } = bar;
        system.initial_pull_back(q, v, u);
        Ok(())
    }

    /// Tangents of the state at `x0` for the directions in the parameters' and inputs' parts.
    pub(crate) fn push_forward(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()> {
        for tangent in tangents.iter_mut() {
            tangent.clear_state();
            system.initial_push_forward(&tangent.u, &mut tangent.q, &mut tangent.v);
        }
        self.sequence.push_forward(system, signature, &step((x0.t, x0.w)), tangents)
    }
}
