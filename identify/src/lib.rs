//! Parameter identification on the exact gradients of [`costate`]: a problem, a method, and what came out.
//!
//! - A [`problem::Problem`] is simulations with a cost over one vector of parameters: built in a program, or by a
//!   [`specification::Specification`], which holds what a person says in a program or in a problem file ([`problem_file`]). A
//!   [`registry::Registry`] holds models by name, each with the problem that it is tried with.
//! - [`identify`](fn@identify) searches its optimum ([`optimise`], [`homotopy`]), within bounds, constraints ([`constraint`]) and priors ([`prior`]),
//!   from one start or from many ([`starts`]).
//! - How well the data determine what was found: [`statistics`], [`profile`], [`bootstrap`], [`likelihood`], [`bands`], [`landscape`]. How fine
//!   steps must be for that: [`steps`].
//! - Inputs and driven motions over time that reach goals: [`control`]; which experiment to make next: [`design`].
//!
//! It knows models by their signatures and simulations alone, records and problem files; it knows no figures, result files, commands or
//! terminals. What it has to say comes back as values with sentences, never as print.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod bands;
pub(crate) mod beside;
pub mod bootstrap;
pub mod constraint;
pub mod control;
mod convergence;
pub mod design;
pub mod ensemble;
mod error;
pub mod flat;
pub mod homotopy;
mod impossible;
pub(crate) mod influence;
pub mod landscape;
pub mod likelihood;
pub mod linear_record;
pub(crate) mod magnitudes;
pub mod modal;
pub mod optimise;
pub mod prior;
pub mod problem;
pub mod problem_file;
pub mod profile;
pub mod registry;
pub mod response;
mod slope;
pub mod solvers;
pub mod specification;
pub mod starts;
pub mod statistics;
pub mod steps;
pub mod table;
pub mod work;

pub use convergence::convergence;
pub use error::{Error, Means, Remedy, Result};
pub use slope::SlopeCheck;

use crate::constraint::{AugmentedCost, Constrained, ConstraintResult};
use crate::ensemble::Ensemble;
use crate::optimise::{Flow, Iteration, Needs, Objective, Outcome, Reason, Variable, VariableStatus};
use crate::problem::Problem;
use costate::cost::{Cost, LeastSquares};
use costate::least_squares::Linearised;
use costate::sensitivity::Method;
use costate::{Parameter, Scale};
use influence::Influence;
use linear_record::LinearRecord;
use nalgebra::DMatrix;
use std::sync::Arc;
use std::time::Instant;

/// Settings of an identification: method, tolerances, gradients, constraints and homotopy.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The optimisation method; without one, [`default_method`] chooses.
    pub method: Option<optimise::Method>,
    /// Tolerances and limits of the search.
    pub options: optimise::Options,
    /// Method for gradients; the methods for least squares take tangents in any case.
    pub gradient: Method,
    /// Tolerances of the problem's constraints.
    pub constraints: optimise::ConstraintOptions,
    /// Homotopy that pulls the model towards its record on the way, if any ([`homotopy`]): by [`identify`](fn@identify) alone, not by
    /// repeated fits from near by, such as those of profiles.
    pub homotopy: Option<homotopy::Homotopy>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            method: None,
            options: optimise::Options::default(),
            gradient: Method::Adjoint,
            constraints: optimise::ConstraintOptions::default(),
            homotopy: None,
        }
    }
}

impl Settings {
    /// The method for a problem, and why it is this.
    pub fn method_for(&self, problem: &Problem) -> (optimise::Method, String) {
        match self.method {
            Some(method) => (method, "as asked for".to_string()),
            None => default_method(problem),
        }
    }
}

/// Most free parameters for tangents: of more, they cost more than the curvature that they bring is worth, and the adjoint takes over.
const MOST_FOR_TANGENTS: usize = 100;
/// Most free parameters for BFGS, whose matrix is a burden beyond.
const MOST_FOR_BFGS: usize = 500;

/// The method for a problem where none is asked for, and why.
pub fn default_method(problem: &Problem) -> (optimise::Method, String) {
    let free = problem.free().len();
    let parameters = if free == 1 { "1 free parameter".to_string() } else { format!("{free} free parameters") };
    let is_least_squares = problem.least_squares().is_some();
    let quasi_newton =
        if free <= MOST_FOR_BFGS { optimise::Method::Bfgs } else { optimise::Method::LBfgs { memory: 20 } };
    match is_least_squares {
        true if free <= MOST_FOR_TANGENTS => (
            optimise::Method::LevenbergMarquardt,
            format!("least squares with {parameters}: tangents give the curvature in one run"),
        ),
        // a row of the Jacobian is one pull-back at its own time, whatever the number of parameters
        true if problem.is_of_given_motions() => (
            optimise::Method::LevenbergMarquardt,
            format!("least squares with {parameters} and given motions: the Jacobian is had time by time"),
        ),
        true => {
            (quasi_newton, format!("least squares with {parameters}: the adjoint is cheaper than so many tangents"))
        }
        false => (quasi_newton, format!("no sum of squares; {parameters}")),
    }
}

/// Status of a parameter after an identification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Identified, inside its bounds.
    Free,
    /// Kept at its start.
    Fixed,
    /// At its lower bound.
    AtLowerBound,
    /// At its upper bound.
    AtUpperBound,
}

impl Status {
    /// Name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Status::Free => "free",
            Status::Fixed => "fixed",
            Status::AtLowerBound => "at lower bound",
            Status::AtUpperBound => "at upper bound",
        }
    }
}

/// A parameter before and after.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Name of the parameter.
    pub name: String,
    /// Unit of the parameter.
    pub unit: String,
    /// Value where the search began.
    pub start: f64,
    /// The best value.
    pub value: f64,
    /// Status of the parameter at the end.
    pub status: Status,
}

/// The result of an identification.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Identification {
    /// The method that searched.
    pub method: optimise::Method,
    /// The optimiser's account; its vectors hold the free parameters only.
    pub outcome: Outcome,
    /// All parameters, in the model's order.
    pub parameters: Vec<Estimate>,
    /// All parameter values of every accepted step, from the start on.
    pub history: Vec<Vec<f64>>,
    /// The message of the first simulation that failed within the search, if any did.
    pub first_failure: Option<String>,
    /// Sentences on parameters that are physically impossible, found or passed on the way; mostly none.
    pub impossible: Vec<String>,
    /// Results of the problem's constraints, in their order.
    pub constraints: Vec<ConstraintResult>,
    /// The constraint that is violated worst, in a sentence, if one is.
    pub violation: Option<String>,
    /// Check of the cost's gradient by differences of the cost, where the search got stuck.
    pub slope: Option<SlopeCheck>,
    /// Reasons why an end that looks like a minimum is no success, with their remedies; none if it is one: see [`Reason::FlatStart`]
    /// and [`Reason::NothingExplained`].
    pub shortcomings: Vec<Remedy>,
    /// The noise of the sensors, where it was estimated ([`likelihood::identify_with_noise`]).
    pub noise: Option<likelihood::NoiseEstimate>,
    /// Result of the homotopy, where there was one ([`Settings::homotopy`]).
    pub homotopy: Option<homotopy::HomotopyResult>,
    /// True where residuals are linear in all parameters that were free: what has no influence somewhere has none anywhere.
    pub(crate) is_linear: bool,
    /// Wall-clock time, s.
    pub seconds: f64,
}

impl Identification {
    /// The best parameter vector, in the model's order.
    pub fn values(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.value).collect()
    }

    /// Reason why the search ended, with the constraint that is violated worst, if one is, and what is wrong with an end that looks like a minimum.
    pub fn reason(&self) -> String {
        self.reasons().iter().map(Remedy::to_string).collect::<Vec<String>>().join("; ")
    }

    /// Parts of [`reason`](Identification::reason), each with the means that it recommends.
    pub fn reasons(&self) -> Vec<Remedy> {
        let mut all = vec![self.outcome.reason.remedy()];
        all.extend(self.slope.as_ref().map(SlopeCheck::remedy));
        all.extend(self.violation.clone().map(Remedy::from));
        all.extend(self.shortcomings.iter().cloned());
        all
    }
}

/// Searches the free parameters that minimise the problem's cost. `observer` sees the start and every accepted step and may
/// ask to stop; the best point so far is kept in every case. Deviations are taken as they are: see
/// [`likelihood::identify_with_noise`].
///
/// # Errors
/// Wrong input, no free parameter, or a simulation that fails at the start. A simulation that fails later is a rejected
/// step.
pub fn identify(
    problem: &Problem,
    settings: &Settings,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Identification> {
    problem.validate()?;
    let from = (&problem.start[..], &some_free(problem)?[..]);
    let mut found = match &settings.homotopy {
        Some(homotopy) => homotopy::identify_by_homotopy(problem, from, settings, homotopy, observer)?,
        None => identify_from(problem, from, settings, observer)?,
    };
    let is_stuck = matches!(found.outcome.reason, Reason::NoDescent | Reason::NoProgress);
    if is_stuck && problem.constraints.is_empty() {
        found.slope = SlopeCheck::of(problem, &found, &settings.options.interrupt);
    }
    Ok(found)
}

/// Identifies from another start, over some of the free parameters.
pub(crate) fn identify_from(
    problem: &Problem,
    (start, free): (&[f64], &[usize]),
    settings: &Settings,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Identification> {
    let began = Instant::now();
    let sizes = influence::sizes(problem, (start, free), settings)?;
    let sized = |(&k, size): (&usize, &f64)| variable_of(&problem.parameters[k], start[k]).nominal(*size);
    let variables: Vec<Variable> = free.iter().zip(&sizes).map(sized).collect();
    let first = problem.first();
    let augmented = AugmentedCost::new(&*first.cost, &problem.constraints, first.simulation.grid());
    let is_constrained = !problem.constraints.is_empty();
    let cost: &dyn Cost = if is_constrained { &augmented } else { &*first.cost };
    let mut objective = Reduced {
        gradient: Ensemble::around(problem, cost, Some(free))?.interrupted_by(&settings.options.interrupt),
        method: settings.gradient,
        u: start.to_vec(),
        full: vec![0.0; start.len()],
        free,
        sizes: free.iter().map(|&k| problem.parameters[k].size_from(start[k])).collect(),
        residuals: None,
        problem,
        record: problem.record.clone(),
        scale: problem.least_squares().map(|costs| costs.into_iter().map(LeastSquares::scale).sum()),
        first_failure: None,
    };
    let options = &settings.options;
    let (method, _) = settings.method_for(problem);
    if method.needs() == Needs::SecondDerivatives {
        problem.all_has_curvature().map_err(|error| error.about(format!("method `{method}`")))?;
    }
    if method.needs() == Needs::Residuals {
        objective.residuals = Some(squares(problem, &method)?);
        if objective.record.is_none() {
            objective.record = LinearRecord::of(problem, start, free, &settings.options.interrupt)?.map(Arc::new);
        }
    }
    let (mut constraints, mut violation) = (Vec::new(), None);
    let outcome = if is_constrained {
        let how = &settings.constraints;
        let mut constrained = Constrained::new(problem, &mut objective, &augmented);
        let found = optimise::minimise_constrained(&mut constrained, &variables, method, options, how, observer)?;
        constraints = constraint::results(problem, &found, how.tolerance);
        violation = ConstraintResult::worst(&constraints, found.penalty);
        found.outcome
    } else {
        let found = optimise::minimise(&mut objective, &variables, method, options, observer)?;
        match objective.is_off_record(&found)? {
            false => found,
            true => {
                objective.record = None;
                optimise::minimise(&mut objective, &variables, method, options, observer)?
            }
        }
    };
    let is_linear = objective.is_linear();
    let history: Vec<Vec<f64>> = outcome.history.iter().map(|iteration| expand(start, free, &iteration.u)).collect();
    let best = expand(start, free, &outcome.u);
    Ok(Identification {
        method,
        impossible: impossible::sentences(problem, &best, &history),
        history,
        parameters: estimates(problem, (start, free), &outcome.statuses, &best),
        outcome,
        first_failure: objective.first_failure,
        constraints,
        violation,
        slope: None,
        shortcomings: Vec::new(),
        noise: None,
        homotopy: None,
        is_linear,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// The parameters that are free, of which there must be one.
pub(crate) fn some_free(problem: &Problem) -> Result<Vec<usize>> {
    let free = problem.free();
    if free.is_empty() {
        let remedy = Remedy::by("free at least one", Means::Free(None));
        return Err(Error::invalid(format!("problem `{}`", problem.name), "all its parameters are fixed", remedy));
    }
    Ok(free)
}

/// The sums of squares that a method asks for.
fn squares<'p>(problem: &'p Problem, method: &optimise::Method) -> Result<Vec<&'p LeastSquares>> {
    problem.least_squares().ok_or_else(|| {
        let subject = format!("method `{method}` for problem `{}`", problem.name);
        let remedy = "take a method that works by gradients, such as bfgs";
        Error::invalid(subject, "the cost is no sum of squares", remedy)
    })
}

/// All parameters, with these values of the free ones.
pub(crate) fn expand(start: &[f64], free: &[usize], values: &[f64]) -> Vec<f64> {
    let mut u = start.to_vec();
    free.iter().zip(values).for_each(|(&k, value)| u[k] = *value);
    u
}

/// Estimates of all parameters, by what was `found` of the free ones.
fn estimates(
    problem: &Problem,
    (start, free): (&[f64], &[usize]),
    found: &[VariableStatus],
    best: &[f64],
) -> Vec<Estimate> {
    let mut statuses = vec![Status::Fixed; best.len()];
    for (&k, status) in free.iter().zip(found) {
        statuses[k] = match status {
            VariableStatus::AtLowerBound => Status::AtLowerBound,
            VariableStatus::AtUpperBound => Status::AtUpperBound,
            VariableStatus::Fixed => Status::Fixed,
            _ => Status::Free,
        };
    }
    problem
        .parameters
        .iter()
        .enumerate()
        .map(|(k, p)| Estimate {
            name: p.name.clone(),
            unit: p.unit.clone(),
            start: start[k],
            value: best[k],
            status: statuses[k],
        })
        .collect()
}

/// The optimiser's view of a parameter: scaled by the size of its start, or of its nominal value, or as it says itself.
pub(crate) fn variable_of(parameter: &Parameter, start: f64) -> Variable {
    let scale = match parameter.scale {
        Scale::Linear => optimise::Scale::Linear,
        Scale::Log => optimise::Scale::Log,
    };
    Variable::new(parameter.name.clone(), start)
        .bounded(parameter.lower, parameter.upper)
        .nominal(parameter.size_from(start))
        .scaled(scale)
}

/// Cost and gradient in the free parameters.
pub(crate) struct Reduced<'p> {
    pub gradient: Ensemble<'p>,
    pub method: Method,
    pub u: Vec<f64>,
    full: Vec<f64>,
    pub free: &'p [usize],
    /// Sizes of the free parameters.
    sizes: Vec<f64>,
    /// The costs of all experiments, where a method sees their residuals.
    pub residuals: Option<Vec<&'p LeastSquares>>,
    problem: &'p Problem,
    /// The residuals' record, where they are linear in what the mechanism is made of.
    record: Option<Arc<LinearRecord>>,
    /// The cost of the data themselves, where it is a sum of squares.
    scale: Option<f64>,
    first_failure: Option<String>,
}

impl Reduced<'_> {
    pub fn set(&mut self, u: &[f64]) {
        for (&k, value) in self.free.iter().zip(u) {
            self.u[k] = *value;
        }
    }

    /// True if a run has another cost than the record tells, so far from where that was made. Who has made the record looks himself.
    fn is_off_record(&mut self, found: &Outcome) -> Result<bool> {
        if self.record.is_none() || self.problem.record.is_some() || found.reason == Reason::Interrupted {
            return Ok(false);
        }
        self.set(&found.u);
        let cost = self.gradient.cost(&self.u)?;
        Ok(!linear_record::is_same(cost, found.cost))
    }

    /// The Hessian times directions in all parameters.
    fn hessian_vectors(&mut self, u: &[f64], directions: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        self.set(u);
        let mut products = vec![vec![0.0; self.u.len()]; directions.len()];
        let cost = self.gradient.hessian_vectors(&self.u, directions, &mut self.full, &mut products);
        self.noting(cost)?;
        Ok(products)
    }

    /// The influence of free parameter `i`, whose column has this norm.
    fn influence(&self, i: usize, norm: f64) -> Influence {
        Influence::of(self.u[self.free[i]], self.sizes[i], norm)
    }

    /// Keeps the first failure's message.
    pub fn noting<T>(&mut self, result: Result<T>) -> Result<T> {
        if let (Err(error), None) = (&result, &self.first_failure)
            && error.is_simulation_failure()
        {
            self.first_failure = Some(error.to_string());
        }
        result
    }
}

impl Objective for Reduced<'_> {
    fn dimension(&self) -> usize {
        self.free.len()
    }

    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.set(u);
        let cost = self.gradient.cost_and_gradient(&self.u, self.method, &mut self.full);
        let cost = self.noting(cost)?;
        gradient.iter_mut().zip(self.free).for_each(|(slope, &k)| *slope = self.full[k]);
        Ok(cost)
    }

    fn cost_scale(&self) -> Option<f64> {
        self.scale
    }

    fn hessian(&mut self, u: &[f64], hessian: &mut [Vec<f64>]) -> Result<()> {
        let unit = |&k: &usize| (0..self.u.len()).map(|j| if j == k { 1.0 } else { 0.0 }).collect();
        let directions: Vec<Vec<f64>> = self.free.iter().map(unit).collect();
        let products = self.hessian_vectors(u, &directions)?;
        for (row, product) in hessian.iter_mut().zip(&products) {
            row.iter_mut().zip(self.free).for_each(|(entry, &k)| *entry = product[k]);
        }
        Ok(())
    }

    fn hessian_vector(&mut self, u: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()> {
        let mut full = vec![0.0; self.u.len()];
        self.free.iter().zip(direction).for_each(|(&k, entry)| full[k] = *entry);
        let products = self.hessian_vectors(u, &[full])?;
        product.iter_mut().zip(self.free).for_each(|(entry, &k)| *entry = products[0][k]);
        Ok(())
    }

    fn is_linear(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.is_linear())
    }

    fn residual_curvature(&mut self, u: &[f64]) -> Option<DMatrix<f64>> {
        let record = self.record.clone()?;
        self.set(u);
        let all = record.curvature(self.problem, &self.u)?;
        Some(all.select_rows(self.free).select_columns(self.free))
    }

    fn linearise(&mut self, u: &[f64]) -> Result<Linearised> {
        self.set(u);
        let Some(costs) = &self.residuals else {
            return Err(Error::invalid("the cost", "it is no sum of squares", "take another method, such as bfgs"));
        };
        let told = match &self.record {
            Some(record) => record.linearise(self.problem, &self.u).transpose(),
            None => None,
        };
        let linearised = told.unwrap_or_else(|| self.gradient.linearise(&self.u, costs));
        let linearised = self.noting(linearised)?;
        let norms = linearised.column_norms();
        let influences: Vec<Influence> =
            self.free.iter().enumerate().map(|(i, &k)| self.influence(i, norms[k])).collect();
        let largest = Influence::largest(&influences);
        let scale = |influence: &Influence| if influence.is_none_beside(largest) { 0.0 } else { 1.0 };
        Ok(linearised.scaled(self.free, &influences.iter().map(scale).collect::<Vec<f64>>()))
    }
}
