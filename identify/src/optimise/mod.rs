//! Minimisation of an expensive smooth function within bounds.
//!
//! The function gives value and gradient in one run ([`Objective`]); each variable has a magnitude, bounds and a linear or
//! logarithmic scale ([`Variable`]); a [`Method`] walks down. No run ever happens outside the bounds, a failed simulation
//! is a rejected step, and the best point is kept however the search ends.
//!
//! ```
//! use costate_identify::Result;
//! use costate_identify::optimise::{Flow, Method, Objective, Options, Variable, minimise};
//!
//! struct Bowl;
//!
//! impl Objective for Bowl {
//!     fn dimension(&self) -> usize {
//!         2
//!     }
//!     fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
//!         let (a, b) = (u[0] - 3.0, u[1] + 1.0);
//!         gradient.copy_from_slice(&[a, 4.0 * b]);
//!         Ok(0.5 * a * a + 2.0 * b * b)
//!     }
//! }
//!
//! let variables = [Variable::new("stiffness", 1.0), Variable::new("offset", 0.5).bounded(0.0, 2.0)];
//! let outcome = minimise(&mut Bowl, &variables, Method::Bfgs, &Options::default(), &mut |iteration| {
//!     println!("{:3}  {:e}", iteration.number, iteration.cost);
//!     Flow::Continue
//! })?;
//! assert!(outcome.converged, "{}", outcome.reason);
//! assert!((outcome.u[0] - 3.0).abs() < 1e-9);
//! assert_eq!(outcome.u[1], 0.0); // held by its lower bound
//! # Ok::<(), costate_identify::Error>(())
//! ```
//!
//! For sums of squares, [`minimise_least_squares`] takes the residuals with their Jacobian ([`LeastSquaresObjective`]) and
//! needs far fewer runs. With exact second derivatives ([`CurvedObjective`]), [`minimise_curved`] does for any cost.
//! [`minimise_constrained`] puts constraints on any of the methods.
//!
//! The methods are solvers of [argmin](https://docs.rs/argmin) and run under its executor; its own solvers are methods, too ([`ArgminSolver`]).

mod argmin_search;
mod augmented_lagrangian;
mod band_model;
mod band_search;
mod bounded_step;
mod descent;
mod ding;
mod evaluation;
mod executor;
mod hessian_model;
mod inverse_hessian;
mod line_search;
mod magnitudes;
mod method;
mod multipliers;
mod newton_trust_region;
mod outcome;
mod progress;
mod residual_curvature;
mod residual_model;
mod residual_search;
mod trace;
mod trial;
mod truncated_cg;
mod variable;
mod weights;

pub use augmented_lagrangian::{ConstrainedObjective, ConstrainedOutcome, ConstraintOptions, minimise_constrained};
pub use method::{ArgminSolver, CurvedMethod, LeastSquaresMethod, Method, StepRule};
pub use multipliers::{Limit, Multipliers};
pub use outcome::{Curvature, Flow, Iteration, Options, Outcome, OuterIteration, Reason};
pub use trace::{Evaluation, Trace};
pub use variable::{Scale, Variable, VariableStatus};

use crate::{Error, Result};
use argmin_search::ArgminSearch;
use band_search::BandSearch;
use costate::least_squares::Linearised;
use descent::Descent;
use ding::Ding;
use evaluation::{Function, ObjectiveEvaluator};
use executor::{SearchMethod, execute};
use newton_trust_region::NewtonTrustRegion;
use residual_search::ResidualSearch;
pub(crate) use variable::Scaling;

/// The function to be minimised. Value and gradient share one run.
pub trait Objective {
    /// Number of variables.
    fn dimension(&self) -> usize;

    /// The cost at u (physical values), and its gradient with respect to u.
    ///
    /// # Errors
    /// A failed simulation (`Error::is_simulation_failure`), or a cost or gradient that is not finite, is a rejected step;
    /// any other error ends the minimisation.
    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// Scale of the cost, for a sum of squares of differences from data: the sum of the data's own squares, which tells what is round-off. `None`
    /// where there is no such thing.
    fn cost_scale(&self) -> Option<f64> {
        None
    }
}

/// Minimises `objective` from the start values of `variables`. `observer` sees the start and every accepted step, and may
/// ask to stop.
///
/// # Errors
/// Unusable variables, options or settings; a failure at the start; an error of the objective that is not a failed
/// simulation. Whatever else ends the search is a [`Reason`] in the outcome, with the best point.
pub fn minimise(
    objective: &mut dyn Objective,
    variables: &[Variable],
    method: Method,
    options: &Options,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    method.validate()?;
    if method.for_least_squares().is_some() {
        let problem = "it needs the residuals, not only the cost and its gradient";
        let remedy = "use `minimise_least_squares`, or a method that works by gradients, such as bfgs";
        return Err(Error::invalid(format!("method `{method}`"), problem, remedy));
    }
    if method.for_second_derivatives().is_some() {
        let problem = "it needs second derivatives, not only the cost and its gradient";
        let remedy = "use `minimise_curved`, or a method that works by gradients, such as bfgs";
        return Err(Error::invalid(format!("method `{method}`"), problem, remedy));
    }
    match method {
        Method::Argmin(solver) => {
            search(Function::Cost(objective), ArgminSearch::new(solver), variables, options, observer)
        }
        _ => search(Function::Cost(objective), Descent::new(method), variables, options, observer),
    }
}

/// Residuals of a sum of squares, ½ rᵀ r. Residuals and their Jacobian share one run.
pub trait LeastSquaresObjective {
    /// Number of variables.
    fn dimension(&self) -> usize;

    /// Residuals at u (physical values) and their derivatives with respect to u, reduced:
    /// see [`Reduction`](costate::least_squares::Reduction).
    ///
    /// # Errors
    /// As for [`Objective::value_and_gradient`].
    fn linearise(&mut self, u: &[f64]) -> Result<Linearised>;

    /// Scale of the cost, half the sum of squares, as [`Objective::cost_scale`].
    fn cost_scale(&self) -> Option<f64> {
        None
    }
}

/// Minimises half the sum of squares of `objective` from the start values of `variables`; otherwise as [`minimise`].
///
/// # Errors
/// As [`minimise`]; and if there are fewer residuals than variables.
pub fn minimise_least_squares(
    objective: &mut dyn LeastSquaresObjective,
    variables: &[Variable],
    method: LeastSquaresMethod,
    options: &Options,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    search(Function::Residuals(objective), ResidualSearch::new(method), variables, options, observer)
}

/// A function with exact second derivatives.
pub trait CurvedObjective: Objective {
    /// The Hessian at u, a row for each variable. u is the point where [`Objective::value_and_gradient`] ran last, without
    /// failing, so that what that run knows need not be computed again.
    ///
    /// # Errors
    /// After a failed simulation, or with entries that are not finite, the next step goes by the gradient alone; any other
    /// error ends the minimisation.
    fn hessian(&mut self, u: &[f64], hessian: &mut [Vec<f64>]) -> Result<()>;

    /// The Hessian at u times `direction`; u is as for [`CurvedObjective::hessian`].
    ///
    /// # Errors
    /// As for [`CurvedObjective::hessian`].
    fn hessian_vector(&mut self, u: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()>;
}

/// Minimises `objective` by its second derivatives from the start values of `variables`; otherwise as [`minimise`].
///
/// # Errors
/// As [`minimise`].
pub fn minimise_curved(
    objective: &mut dyn CurvedObjective,
    variables: &[Variable],
    method: CurvedMethod,
    options: &Options,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    let function = Function::Curved(objective);
    match method {
        CurvedMethod::Ding => search(function, Ding::default(), variables, options, observer),
        CurvedMethod::NewtonTrustRegion => search(function, NewtonTrustRegion::default(), variables, options, observer),
        CurvedMethod::Argmin(solver) => search(function, ArgminSearch::new(solver), variables, options, observer),
    }
}

/// A sum of squares of many unknowns whose damped Gauss-Newton steps are worked out by the function itself.
pub trait BandObjective: Objective {
    /// The step that minimises ½|r + J step|² + ½ Σ (damping_k step_k)² at u, where [`Objective::value_and_gradient`] ran last, over the entries
    /// that are not `given`.
    ///
    /// # Errors
    /// As [`Objective::value_and_gradient`].
    fn damped_step(&mut self, u: &[f64], damping: &[f64], given: &[Option<f64>], step: &mut [f64]) -> Result<()>;

    /// Jᵀ J `direction` there.
    ///
    /// # Errors
    /// As [`Objective::value_and_gradient`].
    fn normal_product(&mut self, u: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()>;
}

/// Minimises `objective` by Levenberg-Marquardt steps of its own from the start values of `variables`; otherwise as [`minimise`].
///
/// # Errors
/// As [`minimise`].
pub fn minimise_band(
    objective: &mut dyn BandObjective,
    variables: &[Variable],
    options: &Options,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    search(Function::Band(objective), BandSearch::default(), variables, options, observer)
}

/// Runs a search to its end.
fn search<'a>(
    function: Function<'a>,
    search: impl SearchMethod,
    variables: &[Variable],
    options: &'a Options,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    let method = search.name();
    let scaling = Scaling::new(variables)?;
    options.validate()?;
    if function.dimension() != scaling.dimension() {
        return Err(Error::invalid(
            "variables of the minimisation",
            format!("there are {}, but the function has {}", scaling.dimension(), function.dimension()),
            "give one variable for each argument of the function",
        ));
    }
    let mut evaluator = ObjectiveEvaluator::new(function, method, scaling, options, observer);
    execute(search, &mut evaluator)?;
    outcome(evaluator, method)
}

/// Outcome of all that the evaluator has seen. Without a reason of its own, the search has run into argmin's limit.
fn outcome(evaluator: ObjectiveEvaluator, method: &str) -> Result<Outcome> {
    let reason = evaluator.reason.unwrap_or(Reason::MaxIterations);
    let best = evaluator.best.ok_or_else(|| Error::Optimiser {
        method: method.to_string(),
        problem: "nothing was evaluated".to_string(),
        remedy: "report this as a defect of the optimiser".to_string(),
    })?;
    Ok(Outcome {
        statuses: evaluator.scaling.statuses(&best.u),
        u: best.u,
        cost: best.cost,
        gradient: best.gradient,
        gradient_norm: best.gradient_norm,
        converged: reason.was_successful(),
        reason,
        iterations: evaluator.history.len().saturating_sub(1),
        evaluations: evaluator.evaluations,
        failed_evaluations: evaluator.failed_evaluations,
        hessians: evaluator.hessians,
        hessian_products: evaluator.hessian_products,
        history: evaluator.history,
    })
}
