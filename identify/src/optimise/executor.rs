//! Executor of every method as an argmin solver: a search begins, steps from point to point, and halts.

use super::evaluation::{Halt, ObjectiveEvaluator, Point, Step};
use crate::Error;
use argmin::core::{Error as BoxedError, Executor, IterState, KV, Problem, Solver, State, TerminationReason};

/// argmin's state: scaled variables and scaled gradient.
type SearchState = IterState<Vec<f64>, Vec<f64>, (), (), (), f64>;

/// A method of minimisation.
pub trait SearchMethod {
    /// The name by which problem files and the command line call it.
    fn name(&self) -> &'static str;

    /// Runs the function at the start.
    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point>;

    /// One step from `current`.
    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point>;
}

/// Runs a search under argmin's executor until it halts or has used up its iterations.
pub(super) fn execute(search: &mut dyn SearchMethod, evaluator: &mut ObjectiveEvaluator) -> Result<(), Error> {
    let name = search.name();
    let (start, most) = (evaluator.scaling.start(), evaluator.options.max_iterations as u64);
    let solver = SearchSolver { search, current: None };
    // Ctrl-C belongs to the program, not to a library: the observer stops the search.
    Executor::new(evaluator, solver)
        .configure(|state: SearchState| IterState::max_iters(state.param(start), most))
        .ctrlc(false)
        .run()
        .map(|_| ())
        .map_err(|error| unboxed(error, name))
}

/// The solver; `current` is set from `init` on.
struct SearchSolver<'s> {
    search: &'s mut dyn SearchMethod,
    current: Option<Point>,
}

impl<'a> Solver<&'a mut ObjectiveEvaluator<'_>, SearchState> for SearchSolver<'_> {
    fn name(&self) -> &str {
        self.search.name()
    }

    fn init(
        &mut self,
        problem: &mut Problem<&'a mut ObjectiveEvaluator<'_>>,
        state: SearchState,
    ) -> Result<(SearchState, Option<KV>), BoxedError> {
        let evaluator = evaluator(problem)?;
        let end = self.search.begin(evaluator);
        let (next, state) = conclude(evaluator, state, end)?;
        self.current = next;
        Ok((state, None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<&'a mut ObjectiveEvaluator<'_>>,
        state: SearchState,
    ) -> Result<(SearchState, Option<KV>), BoxedError> {
        let evaluator = evaluator(problem)?;
        let current = self.current.take().ok_or_else(|| BoxedError::msg("a step was asked for before the start"))?;
        let end = self.search.step(evaluator, &current);
        let (next, state) = conclude(evaluator, state, end)?;
        self.current = next;
        Ok((state, None))
    }
}

/// The evaluator within argmin's problem.
fn evaluator<'p, 'b>(
    problem: &'p mut Problem<&mut ObjectiveEvaluator<'b>>,
) -> Result<&'p mut ObjectiveEvaluator<'b>, BoxedError> {
    problem.problem.as_deref_mut().ok_or_else(|| BoxedError::msg("argmin has lost the problem"))
}

/// Puts the end of a step into argmin's state, and gives back the point to go on from.
fn conclude(
    evaluator: &mut ObjectiveEvaluator,
    state: SearchState,
    end: Step<Point>,
) -> Result<(Option<Point>, SearchState), BoxedError> {
    match end {
        Ok(point) => {
            let state = state.param(point.x.clone()).cost(point.cost).gradient(point.scaled_gradient.clone());
            Ok((Some(point), state))
        }
        Err(Halt::Error(error)) => Err(error.into()),
        Err(Halt::Stop(reason)) => {
            evaluator.record_unfinished_step();
            evaluator.reason = Some(reason);
            let state = match &evaluator.best {
                Some(best) => state.param(best.x.clone()).cost(best.cost).gradient(best.scaled_gradient.clone()),
                None => state,
            };
            Ok((None, state.terminate_with(TerminationReason::SolverExit(reason.to_string()))))
        }
    }
}

/// Takes the error out of argmin's box.
fn unboxed(error: BoxedError, method: &str) -> Error {
    error.downcast::<Error>().unwrap_or_else(|other| Error::Optimiser {
        method: method.to_string(),
        problem: other.to_string(),
        remedy: "report this as a defect of the optimiser".to_string(),
    })
}
