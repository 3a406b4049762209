//! A solution found once more on finer and finer steps: the account of all stages, and which of them is kept.

use super::replay::worse;
use super::{Control, Solution};
use crate::Result;
use crate::optimise::{Flow, Iteration, Method, Options, Reason};
use costate::Signal;

/// A stage has lost the solution if its cost ends above the least of the stages before by more than this part of that, and by more than this
/// part of what the start costs above it. Less is what smaller steps may make of the same solution.
const OF_COST: f64 = 0.1;
const OF_START: f64 = 0.01;

/// One search among those on finer and finer steps.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Stage {
    /// Number of the stage, from 1.
    pub number: usize,
    /// Steps of the run.
    pub steps: usize,
    /// Size of the time steps where it is even, s.
    pub step: Option<f64>,
    /// The cost on these steps of what it began with: the start, or the solution of the stage before.
    pub start_cost: f64,
    /// The cost on these steps of what the first stage began with; `None` where that run fails.
    pub cost_of_first_start: Option<f64>,
    /// The cost that it ended with.
    pub cost: f64,
    /// Largest distance of a requirement from being met.
    pub violation: f64,
    /// The norm of the gradient there, by scaled unknowns.
    pub gradient_norm: f64,
    /// The running number of its first record in the history.
    pub first_iteration: usize,
    /// Iterations of the stage's search.
    pub iterations: usize,
    /// Runs of the stage's search.
    pub evaluations: usize,
    /// Rounds of multipliers; one where nothing must be met.
    pub rounds: usize,
    /// True if the stage's search converged.
    pub converged: bool,
    /// Reason of the end of the stage's search.
    pub reason: String,
    /// True if the solution of the stages before was lost on these steps.
    pub lost: bool,
}

/// Result of all stages.
pub struct Refined {
    /// The problem of the stage that is kept.
    pub control: Control,
    /// Solution of the stage that is kept, with the history of all stages.
    pub solution: Solution,
    /// All stages.
    pub stages: Vec<Stage>,
    /// The number of the stage that is kept, from 1.
    pub kept: usize,
}

/// Event of a refinement, as its observer gets it.
pub enum RefinementEvent<'a> {
    /// A stage begins, with its number.
    Begin(usize, &'a Control),
    /// An iteration, by its running number.
    Iteration(&'a Iteration),
    /// A stage has ended; whether another one follows.
    End(&'a Stage, bool),
}

/// Finds a solution, and so often (`refinements`) once more with half the step, each time from the solution before. `problem` makes the problem with every
/// step divided into so many parts, from these signals or the start's own. [`Options::max_iterations`] and
/// [`Options::max_evaluations`] bound all searches together.
///
/// On smaller steps a solution may be lost: it lived on the error of larger ones. A stage that has lost it is marked ([`Stage::lost`]). If it
/// ended above what the start costs, the stage before is kept, and nothing is refined any more; if the last one has lost it, what it has
/// found is kept without having converged.
///
/// # Errors
/// As [`Control::minimise`]; whatever `problem` returns.
pub fn refine(
    refinements: usize,
    problem: &mut dyn FnMut(usize, Option<Vec<Signal>>) -> Result<Control>,
    (method, tolerance, options): (Method, f64, &Options),
    observer: &mut dyn FnMut(RefinementEvent<'_>) -> Flow,
) -> Result<Refined> {
    let mut stages: Vec<Stage> = Vec::new();
    let mut history: Vec<Iteration> = Vec::new();
    let mut evaluations = 0;
    let mut left = options.clone();
    let mut last: Option<(Control, Solution)> = None;
    loop {
        let parts = 1 << stages.len();
        let signals = last.as_ref().map(|(control, found)| control.signals_of(&found.outcome.u)).transpose()?;
        let mut control = problem(parts, signals)?;
        if let Some((last, found)) = &last {
            control.begin_with(last, &found.outcome.u);
        }
        observer(RefinementEvent::Begin(stages.len() + 1, &control));
        let (first, before) = (history.len(), evaluations);
        let renumbered = |iteration: &Iteration| Iteration {
            number: first + iteration.number,
            evaluations: before + iteration.evaluations,
            ..iteration.clone()
        };
        let mut stopped = false;
        let mut solution = control.minimise(method, tolerance, &left, &mut |iteration| {
            let flow = observer(RefinementEvent::Iteration(&renumbered(iteration)));
            stopped |= flow == Flow::Stop;
            flow
        })?;
        let outcome = &mut solution.outcome;
        history.extend(outcome.history.drain(..).map(|iteration| renumbered(&iteration)));
        evaluations += outcome.evaluations;
        left.max_iterations = left.max_iterations.saturating_sub(outcome.iterations);
        left.max_evaluations = left.max_evaluations.saturating_sub(outcome.evaluations);
        let mut stage = Stage::of(stages.len() + 1, first, &control, &solution);
        let constrained = control.has_constraints();
        stage.cost_of_first_start = match stages.first() {
            None => Some(solution.start_cost),
            Some(_) => problem(parts, None)?.cost_at_start().ok(),
        };
        stage.lost = stage.has_lost(&stages, constrained);
        let is_worse_than_start = !constrained && stage.cost_of_first_start.is_some_and(|start| stage.cost > start);
        let dropped = stage.lost && is_worse_than_start;
        let used_up = left.max_iterations == 0 || left.max_evaluations == 0;
        let interrupted = stopped || options.interrupt.is_raised();
        let goes_on = stages.len() < refinements && !dropped && !used_up && !interrupted;
        observer(RefinementEvent::End(&stage, goes_on));
        let (lost, number) = (stage.lost, stage.number);
        stages.push(stage);
        let kept = if dropped { number - 1 } else { number };
        let (control, mut solution) = match last.filter(|_| dropped) {
            Some(before) => before,
            None => (control, solution),
        };
        if goes_on {
            last = Some((control, solution));
            continue;
        }
        let outcome = &mut solution.outcome;
        if lost {
            (outcome.converged, outcome.reason) = (false, Reason::SolutionLost);
        } else if used_up && number <= refinements {
            let iterations = left.max_iterations == 0;
            outcome.reason = if iterations { Reason::MaxIterations } else { Reason::MaxEvaluations };
            outcome.converged = false;
        }
        outcome.iterations = stages.iter().map(|stage| stage.iterations).sum();
        (outcome.evaluations, outcome.history) = (evaluations, history);
        solution.start_cost = stages[0].start_cost;
        // a search without rounds counts as one
        solution.rounds = 1 + stages.iter().map(|stage| stage.rounds - 1).sum::<usize>();
        return Ok(Refined { control, solution, stages, kept });
    }
}

impl Stage {
    fn of(number: usize, first_iteration: usize, control: &Control, solution: &Solution) -> Self {
        let outcome = &solution.outcome;
        Stage {
            number,
            steps: control.simulation.steps(),
            step: control.simulation.grid().uniform_step(),
            start_cost: solution.start_cost,
            cost_of_first_start: None,
            cost: outcome.cost,
            violation: solution.violations.iter().map(|violation| violation.by).fold(0.0, worse),
            gradient_norm: outcome.gradient_norm,
            first_iteration,
            iterations: outcome.iterations,
            evaluations: outcome.evaluations,
            rounds: solution.rounds,
            converged: outcome.converged,
            reason: outcome.reason.to_string(),
            lost: false,
        }
    }

    /// True if stages before this one came lower by more than what smaller steps may make of one solution. What the start costs is no measure where it need not
    /// meet what must be met.
    fn has_lost(&self, before: &[Stage], constrained: bool) -> bool {
        let Some(least) = before.iter().map(|stage| stage.cost).reduce(f64::min) else { return false };
        let start = self.cost_of_first_start.filter(|_| !constrained).unwrap_or(least);
        self.cost.is_nan() || self.cost - least > (OF_COST * least.abs()).max(OF_START * (start - least))
    }
}
