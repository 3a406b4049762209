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
//! For sums of squares, methods that take the residuals with their Jacobian ([`Objective::linearise`]) need far fewer runs; others take exact second
//! derivatives ([`Objective::hessian`]). [`minimise_constrained`] puts constraints on any of the methods.
//!
//! The methods are solvers of [argmin](https://docs.rs/argmin) and run under its executor; its own solvers are methods, too ([`ArgminSolver`]), and so
//! are those that others [`register`].

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
mod own;
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
pub use method::{ArgminSolver, Method, Needs, StepRule};
pub use multipliers::{Limit, Multipliers};
pub use outcome::{Curvature, Flow, Iteration, Options, Outcome, OuterIteration, Reason};
pub use own::{OwnMethod, register};
pub use trace::{Evaluation, Trace};
pub use variable::{Scale, Variable, VariableStatus};

use crate::{Error, Result};
use argmin_search::ArgminSearch;
use band_search::BandSearch;
use costate::least_squares::Linearised;
use descent::Descent;
use ding::Ding;
use evaluation::ObjectiveEvaluator;
use executor::{SearchMethod, execute};
use nalgebra::DMatrix;
use newton_trust_region::NewtonTrustRegion;
use residual_search::ResidualSearch;
pub(crate) use variable::Scaling;

/// What a method of your own is made of: a [`SearchMethod`] steps from point to point, and has an
/// [`ObjectiveEvaluator`] run the function, within all limits.
pub mod search {
    pub use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step};
    pub use super::executor::SearchMethod;
}

/// The function to be minimised. Value and gradient share one run.
///
/// What else a function can do is up to it: [`Method::needs`] tells what a method takes, and a function that lacks it is refused with a remedy.
pub trait Objective {
    /// Number of variables.
    fn dimension(&self) -> usize;

    /// The cost at u (physical values), and its gradient with respect to u. A function with residuals may leave it to them.
    ///
    /// # Errors
    /// A failed simulation (`Error::is_simulation_failure`), or a cost or gradient that is not finite, is a rejected step;
    /// any other error ends the minimisation.
    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let linearised = self.linearise(u)?;
        gradient.copy_from_slice(&linearised.gradient());
        Ok(linearised.cost())
    }

    /// For a sum of squares of differences from data: half the sum of the data's own squares, which tells what is round-off. `None`
    /// where there is no such thing.
    fn cost_scale(&self) -> Option<f64> {
        None
    }

    /// The residuals r of a cost ½ rᵀ r at u (physical values) and their derivatives with respect to u, reduced: see
    /// [`Reduction`](costate::least_squares::Reduction). Residuals and their Jacobian share one run.
    ///
    /// # Errors
    /// As for [`Objective::value_and_gradient`]; and if the cost is no sum of squares, which is the default.
    fn linearise(&mut self, u: &[f64]) -> Result<Linearised> {
        let _ = u;
        Err(Error::invalid("the cost", "it is no sum of squares", "take another method, such as bfgs"))
    }

    /// What Gauss-Newton leaves out of the Hessian of ½ rᵀ r at u, Σ r_i ∇²r_i, where that costs next to nothing; without it, it is learnt from gradients.
    fn residual_curvature(&mut self, u: &[f64]) -> Option<DMatrix<f64>> {
        let _ = u;
        None
    }

    /// True if the residuals are linear, so that a step along what they do not determine leads nowhere.
    fn is_linear(&self) -> bool {
        false
    }

    /// The Hessian at u, a row for each variable. u is the point where [`Objective::value_and_gradient`] ran last, without
    /// failing, so that what that run knows need not be computed again.
    ///
    /// # Errors
    /// After a failed simulation, or with entries that are not finite, the next step goes by the gradient alone; any other
    /// error ends the minimisation. There is one if there are no second derivatives, which is the default.
    fn hessian(&mut self, u: &[f64], hessian: &mut [Vec<f64>]) -> Result<()> {
        let _ = (u, hessian);
        Err(Error::invalid("the cost", "it has no second derivatives", "take another method, such as bfgs"))
    }

    /// The Hessian at u times `direction`, by default from the whole Hessian; u is as for [`Objective::hessian`].
    ///
    /// # Errors
    /// As for [`Objective::hessian`].
    fn hessian_vector(&mut self, u: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()> {
        let mut hessian = vec![vec![0.0; u.len()]; u.len()];
        self.hessian(u, &mut hessian)?;
        product.iter_mut().zip(&hessian).for_each(|(entry, row)| *entry = evaluation::dot(row, direction));
        Ok(())
    }

    /// Itself, if it works out its own damped Gauss-Newton steps: [`Method::LevenbergMarquardt`] takes these then.
    fn damped_steps(&mut self) -> Option<&mut dyn DampedSteps> {
        None
    }
}

/// A sum of squares of many unknowns that works out damped Gauss-Newton steps itself, from a band or the like.
pub trait DampedSteps {
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

/// Minimises `objective` from the start values of `variables`. `observer` sees the start and every accepted step, and may
/// ask to stop.
///
/// # Errors
/// Unusable variables, options or settings; a method that takes what the function has not; fewer residuals than variables for a method that takes
/// residuals; a failure at the start; an error of the objective that is not a failed simulation. Whatever else ends the search is a [`Reason`] in the
/// outcome, with the best point.
pub fn minimise(
    objective: &mut dyn Objective,
    variables: &[Variable],
    method: Method,
    options: &Options,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    method.validate()?;
    let mut own = search_by(method, objective.damped_steps().is_some());
    run(objective, method.needs(), &mut *own, variables, options, observer)
}

/// The search by a method.
fn search_by(method: Method, has_damped_steps: bool) -> Box<dyn SearchMethod> {
    match method {
        Method::LevenbergMarquardt if has_damped_steps => Box::new(BandSearch::default()),
        Method::LevenbergMarquardt => Box::new(ResidualSearch::new(true)),
        Method::GaussNewton => Box::new(ResidualSearch::new(false)),
        Method::Ding => Box::new(Ding::default()),
        Method::NewtonTrustRegion => Box::new(NewtonTrustRegion::default()),
        Method::Argmin(solver) => Box::new(ArgminSearch::new(solver)),
        Method::Own(own) => own.search(),
        Method::Bfgs | Method::LBfgs { .. } | Method::Dfp | Method::SteepestDescent { .. } => {
            Box::new(Descent::new(method))
        }
    }
}

/// Runs a search to its end.
fn run<'a>(
    objective: &'a mut dyn Objective,
    needs: Needs,
    search: &mut dyn SearchMethod,
    variables: &[Variable],
    options: &'a Options,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Outcome> {
    let method = search.name();
    let scaling = Scaling::new(variables)?;
    options.validate()?;
    if objective.dimension() != scaling.dimension() {
        return Err(Error::invalid(
            "variables of the minimisation",
            format!("there are {}, but the function has {}", scaling.dimension(), objective.dimension()),
            "give one variable for each argument of the function",
        ));
    }
    let by_residuals = needs == Needs::Residuals && objective.damped_steps().is_none();
    let mut evaluator = ObjectiveEvaluator::new((objective, by_residuals), method, scaling, options, observer);
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
    let statuses = evaluator.scaling.statuses(&best.u);
    let is_at_bound = statuses.iter().any(|status| *status != VariableStatus::Free);
    let reason = if reason == Reason::SolverStopped && is_at_bound { Reason::SolverAtBounds } else { reason };
    Ok(Outcome {
        statuses,
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
