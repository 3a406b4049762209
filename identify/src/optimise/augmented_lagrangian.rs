//! Constraints, by an augmented Lagrangian around any method.
//!
//! To J(u) with lower_i <= c_i(u) <= upper_i belongs (Rockafellar 1974; Nocedal & Wright, section 17.4)
//!
//! ```text
//! L(u) = J(u) + Σ_i [ ½ μ_i d_i² - λ_i² / (2 μ_i) ],     d_i = s_i - clamp(s_i, lower_i, upper_i),   s_i = c_i + λ_i / μ_i
//! ```
//!
//! which is once differentiable, and for an equality is J + λ (c - value) + ½ μ (c - value)². An outer iteration minimises L
//! for given λ and μ by the method and takes λ_i = μ_i d_i from there; μ grows where the constraints do not come nearer
//! fast enough (Birgin & Martínez 2014, algorithm 4.1, which is Nocedal & Wright's algorithm 17.4 without its absolute
//! sequence of tolerances: costs here have any size).
//!
//! All c are divided by their sizes first, so that one penalty serves all: μ_i = μ / size_i².

mod function;

use function::{Augmented, Shared};

use super::evaluation::{dot, norm, start_failure};
use super::executor::SearchMethod;
use super::method::Needs;
use super::multipliers::{Limit, Multipliers};
use super::variable::Scaling;
use super::{Flow, Iteration, Method, Options, Outcome};
use super::{OuterIteration, Reason, Variable, run, search_by};
use crate::{Error, Result};
use costate::least_squares::Linearised;

/// The penalty grows by this factor.
const GROWTH: f64 = 10.0;
/// Least progress of an outer iteration: the penalty grows unless what is missing falls to this part.
const PROGRESS: f64 = 0.25;
/// The first minimisation stops when the gradient has fallen by this factor since the start, each one after it at a tenth of
/// that, until the constraints are met.
const EARLY_TOLERANCE: f64 = 1e-3;
/// A search that finds no better point is at a minimum if the gradient has fallen by this factor since the start of all.
const STATIONARY: f64 = 1e-6;
/// Most last searches that may end without a minimum before that is the end.
const LAST_SEARCHES: usize = 3;
/// Number of outer iterations in which the violation hardly falls, although the penalty rules the cost, that prove that no better can be had.
const STALLED: usize = 3;

/// A cost with constraints.
///
/// ```
/// use costate_identify::Result;
/// use costate_identify::optimise::{ConstrainedObjective, ConstraintOptions, Flow, Limit, Method, Multipliers, Options, Variable};
/// use costate_identify::optimise::minimise_constrained;
///
/// /// (a - 3)² + (b + 1)² with a + b <= 1
/// struct Corner([Limit; 1]);
///
/// impl ConstrainedObjective for Corner {
///     fn dimension(&self) -> usize {
///         2
///     }
///     fn limits(&self) -> &[Limit] {
///         &self.0
///     }
///     fn augmented_gradient(&mut self, u: &[f64], m: &Multipliers, gradient: &mut [f64], c: &mut [f64]) -> Result<f64> {
///         c[0] = u[0] + u[1];
///         let (a, b, weight) = (u[0] - 3.0, u[1] + 1.0, m.weight(0, c[0]));
///         gradient.copy_from_slice(&[2.0 * a + weight, 2.0 * b + weight]);
///         Ok(a * a + b * b)
///     }
/// }
///
/// let mut corner = Corner([Limit::at_most(1.0)]);
/// let variables = [Variable::new("a", 0.5), Variable::new("b", 0.5)];
/// let (options, how) = (Options::default(), ConstraintOptions::default());
/// let found = minimise_constrained(&mut corner, &variables, Method::Bfgs, &options, &how, &mut |_| Flow::Continue)?;
/// assert!(found.outcome.converged, "{}", found.outcome.reason);
/// assert!((found.outcome.u[0] - 2.5).abs() < 1e-7 && (found.outcome.u[1] + 1.5).abs() < 1e-7);
/// assert!((found.multipliers[0] - 1.0).abs() < 1e-7); // the cost falls by 1 per unit that the limit is raised
/// # Ok::<(), costate_identify::Error>(())
/// ```
pub trait ConstrainedObjective {
    /// Number of variables.
    fn dimension(&self) -> usize;

    /// Limits of the constraints' values c.
    fn limits(&self) -> &[Limit];

    /// Scale of the cost J, as [`super::Objective::cost_scale`].
    fn cost_scale(&self) -> Option<f64> {
        None
    }

    /// The cost J at u (physical values) and c; and the gradient of the augmented Lagrangian,
    /// ∇J + Σ [`Multipliers::weight`] ∇c_i.
    ///
    /// # Errors
    /// As [`super::Objective::value_and_gradient`].
    fn augmented_gradient(
        &mut self,
        u: &[f64],
        multipliers: &Multipliers,
        gradient: &mut [f64],
        c: &mut [f64],
    ) -> Result<f64>;

    /// The cost J at u and c; and its residuals with one more for each constraint that acts: [`Multipliers::residual`].
    ///
    /// # Errors
    /// As [`super::Objective::linearise`]; and if the cost is no sum of squares, which is the default.
    fn augmented_residuals(
        &mut self,
        _u: &[f64],
        _multipliers: &Multipliers,
        _c: &mut [f64],
    ) -> Result<(f64, Linearised)> {
        Err(Error::invalid("the cost", "it is no sum of squares", "take another method, such as bfgs"))
    }

    /// The Hessian of the augmented Lagrangian, a row for each variable:
    /// ∇²J + Σ ([`Multipliers::weight`] ∇²c_i + [`Multipliers::curvature`] ∇c_i ∇c_iᵀ). u is the point where
    /// [`ConstrainedObjective::augmented_gradient`] ran last, without failing.
    ///
    /// # Errors
    /// As [`super::Objective::hessian`]; and if there are no second derivatives, which is the default.
    fn augmented_hessian(&mut self, _u: &[f64], _multipliers: &Multipliers, _hessian: &mut [Vec<f64>]) -> Result<()> {
        Err(Error::invalid("the cost", "it has no second derivatives", "take another method, such as bfgs"))
    }

    /// Product of the augmented Lagrangian's Hessian with a direction; by default from the whole Hessian.
    ///
    /// # Errors
    /// As [`ConstrainedObjective::augmented_hessian`].
    fn augmented_hessian_vector(
        &mut self,
        u: &[f64],
        multipliers: &Multipliers,
        direction: &[f64],
        product: &mut [f64],
    ) -> Result<()> {
        let mut hessian = vec![vec![0.0; u.len()]; u.len()];
        self.augmented_hessian(u, multipliers, &mut hessian)?;
        product.iter_mut().zip(&hessian).for_each(|(entry, row)| *entry = dot(row, direction));
        Ok(())
    }
}

/// Tolerances and limits of a constrained minimisation, besides [`Options`].
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintOptions {
    /// Constraints are met when they are violated by no more than this, relative to their sizes.
    pub tolerance: f64,
    /// The first penalty μ, in units of the cost; by default from cost and gradient at the start.
    pub penalty: Option<f64>,
    /// Stop after so many outer iterations.
    pub max_outer: usize,
}

impl Default for ConstraintOptions {
    fn default() -> Self {
        ConstraintOptions { tolerance: 1e-8, penalty: None, max_outer: 40 }
    }
}

impl ConstraintOptions {
    pub(crate) fn validate(&self) -> Result<()> {
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let problem = format!("it is {}", self.tolerance);
            return Err(Error::invalid(
                "option `constraint_tolerance`",
                problem,
                "give one between 0 and 1, such as 1e-8",
            ));
        }
        match self.penalty {
            Some(penalty) if !(penalty.is_finite() && penalty > 0.0) => {
                let remedy = "give a positive number, or leave it out";
                Err(Error::invalid("option `penalty`", format!("it is {penalty}"), remedy))
            }
            _ => Ok(()),
        }
    }
}

/// The result of a constrained minimisation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstrainedOutcome {
    /// Outcome as without constraints; costs are J, gradients those of the Lagrangian.
    pub outcome: Outcome,
    /// The constraints' values c.
    pub c: Vec<f64>,
    /// λ, cost per unit of c; zero where a constraint does not act. See [`Multipliers`] for the sign.
    pub multipliers: Vec<f64>,
    /// The largest violation, relative to the constraints' sizes.
    pub violation: f64,
    /// The last penalty μ.
    pub penalty: f64,
    /// Outer iterations.
    pub outer: usize,
}

/// Minimises a cost within its constraints from the start values of `variables`; otherwise as [`minimise`](super::minimise).
///
/// # Errors
/// As [`minimise`](super::minimise); limits or options that cannot be; a method for least squares where the cost is none.
pub fn minimise_constrained(
    objective: &mut dyn ConstrainedObjective,
    variables: &[Variable],
    method: Method,
    options: &Options,
    how: &ConstraintOptions,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<ConstrainedOutcome> {
    method.validate()?;
    options.validate()?;
    how.validate()?;
    objective.limits().iter().enumerate().try_for_each(|(i, limit)| limit.validate(i))?;
    let limits = objective.limits().to_vec();
    let mut augmented = Augmented {
        c: vec![0.0; limits.len()],
        multipliers: Multipliers::new(limits, 0.0),
        objective,
        at: Vec::new(),
        seen: Vec::new(),
        evaluations: 0,
    };
    let mut outer = Outer {
        method,
        options,
        how,
        observer,
        history: Vec::new(),
        failed_evaluations: 0,
        iterations: 0,
        curvatures: (0, 0),
        steepest: 0.0,
        descent: if method.needs() == Needs::Gradient { Some(search_by(method, false)) } else { None },
    };
    outer.run(&mut augmented, variables)
}

/// The outer loop.
struct Outer<'a> {
    method: Method,
    options: &'a Options,
    how: &'a ConstraintOptions,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    history: Vec<Iteration>,
    failed_evaluations: usize,
    iterations: usize,
    /// Hessians and their products so far.
    curvatures: (usize, usize),
    /// Norm of the cost's scaled gradient at the start; if the cost is flat there, of the first augmented Lagrangian's.
    steepest: f64,
    /// Descent of methods that go by gradients: what they have learnt serves the next outer iteration.
    descent: Option<Box<dyn SearchMethod>>,
}

/// Development of the violation.
#[derive(Default)]
struct Account {
    missing: f64,
    violation: f64,
    stalled: usize,
    last_searches: usize,
}

impl Outer<'_> {
    fn run(&mut self, augmented: &mut Augmented<'_>, variables: &[Variable]) -> Result<ConstrainedOutcome> {
        let scaling = Scaling::new(variables)?;
        let mut variables = variables.to_vec();
        let least_squares = self.method.needs() == Needs::Residuals;
        let start_cost = self.begin(augmented, &scaling, least_squares)?;
        let mut account = Account { missing: f64::INFINITY, violation: f64::INFINITY, ..Account::default() };
        let mut last_phase = false;
        let mut number = 0;
        loop {
            number += 1;
            let found = self.minimise(augmented, &variables, number, last_phase)?;
            // should it be interrupted, the best so far must still be returned
            self.options.interrupt.suspended(|| augmented.ensure_at(&found.u, least_squares))?;
            variables.iter_mut().zip(&found.u).for_each(|(variable, u)| variable.start = *u);
            let violation = augmented.multipliers.violation(&augmented.c);
            let (cost, _) = augmented.seen_at(&found.u).unwrap_or((f64::NAN, violation));
            let missing = augmented.multipliers.update(&augmented.c);
            let penalty = augmented.multipliers.penalty;
            let is_met = missing <= self.how.tolerance;
            let rules = 0.5 * penalty * violation * violation > 1e3 * cost.abs().max(start_cost);
            let falls = violation < 0.9 * account.violation;
            account.stalled = if falls || is_met || !rules { 0 } else { account.stalled + 1 };
            let reason = match found.reason {
                _ if violation <= self.how.tolerance && cost <= self.options.cost_target => {
                    Some(Reason::CostBelowTarget)
                }
                Reason::Interrupted | Reason::MaxEvaluations | Reason::MaxIterations => Some(found.reason),
                reason if is_met && last_phase => {
                    account.last_searches += 1;
                    // the constraints' own uncertainty makes a gradient, too
                    let floor = (STATIONARY * self.steepest).max(penalty * self.options.cost_noise);
                    if found.gradient_norm <= floor || reason.was_successful() {
                        Some(Reason::ConstrainedMinimum)
                    } else {
                        (account.last_searches >= LAST_SEARCHES).then_some(reason)
                    }
                }
                _ if !is_met && (account.stalled >= STALLED || number >= self.how.max_outer) => {
                    Some(Reason::ConstraintsViolated)
                }
                reason if number >= self.how.max_outer => Some(reason),
                _ if augmented.evaluations >= self.options.max_evaluations => Some(Reason::MaxEvaluations),
                _ => None,
            };
            if let Some(reason) = reason {
                return Ok(self.outcome(augmented, found, cost, reason, violation, number));
            }
            if is_met {
                last_phase = true;
            } else if missing > PROGRESS * account.missing {
                augmented.multipliers.penalty *= GROWTH;
            }
            (account.missing, account.violation) = (missing, violation);
        }
    }

    /// Takes the steepest slope and the first penalty from the start; returns the size of the cost there.
    fn begin(&mut self, augmented: &mut Augmented<'_>, scaling: &Scaling, least_squares: bool) -> Result<f64> {
        let start = scaling.physical(&scaling.start());
        let (cost, gradient) = match augmented.cost_and_gradient(&start, least_squares) {
            Err(error) if error.is_simulation_failure() => {
                return Err(start_failure(self.method.name(), &error.to_string()));
            }
            other => other?,
        };
        self.steepest = norm(scaling.scaled_gradient(&start, &gradient).into_iter());
        let first = || first_penalty(cost, self.steepest);
        augmented.multipliers.penalty = self.how.penalty.unwrap_or_else(first);
        Ok(cost.abs())
    }

    /// Options for one outer iteration, less what has been spent.
    fn options_left(&self, spent: usize) -> Options {
        Options {
            max_evaluations: self.options.max_evaluations.saturating_sub(spent).max(1),
            max_iterations: self.options.max_iterations.saturating_sub(self.iterations),
            cost_target: f64::NEG_INFINITY,
            ..self.options.clone()
        }
    }

    /// One outer iteration: minimises the augmented Lagrangian from where the last one ended.
    fn minimise(
        &mut self,
        augmented: &mut Augmented<'_>,
        variables: &[Variable],
        number: usize,
        last_phase: bool,
    ) -> Result<Outcome> {
        augmented.seen.clear();
        let early = if last_phase { 0.0 } else { EARLY_TOLERANCE * 0.1f64.powi(number as i32 - 1) };
        let tolerance = self.options.gradient_tolerance.max(early);
        let spent = augmented.evaluations;
        let options = self.options_left(spent);
        let shared = std::cell::RefCell::new(augmented);
        let mut function = Shared(&shared);
        let (history, failed, observer) = (&mut self.history, self.failed_evaluations, &mut *self.observer);
        let (steepest, descent) = (&mut self.steepest, &mut self.descent);
        let (hessians, products) = self.curvatures;
        let mut is_stopped_by_observer = false;
        let mut relay = |inner: &Iteration| {
            if *steepest == 0.0 {
                *steepest = inner.gradient_norm;
            }
            // a warm start may be so good that no method can make the gradient much smaller
            let end = if inner.gradient_norm <= tolerance * *steepest { Flow::Stop } else { Flow::Continue };
            // the start of a later outer iteration is the end of the one before
            if number > 1 && inner.number == 0 {
                return end;
            }
            let augmented = shared.borrow();
            let (cost, violation) = augmented.seen_at(&inner.u).unwrap_or((f64::NAN, f64::NAN));
            let iteration = Iteration {
                number: history.len(),
                evaluations: spent + inner.evaluations,
                failed_evaluations: failed + inner.failed_evaluations,
                hessians: hessians + inner.hessians,
                hessian_products: products + inner.hessian_products,
                cost,
                outer: Some(OuterIteration { number, violation, penalty: augmented.multipliers.penalty }),
                ..inner.clone()
            };
            is_stopped_by_observer = observer(&iteration) == Flow::Stop;
            history.push(iteration);
            if is_stopped_by_observer { Flow::Stop } else { end }
        };
        let mut other;
        let search = match descent {
            Some(descent) => &mut **descent,
            None => {
                other = search_by(self.method, false);
                &mut *other
            }
        };
        let mut found = run(&mut function, self.method.needs(), search, variables, &options, &mut relay)?;
        let is_interrupted = is_stopped_by_observer || self.options.interrupt.is_raised();
        if found.reason == Reason::Interrupted && !is_interrupted {
            found.reason = Reason::GradientSmall;
        }
        self.failed_evaluations += found.failed_evaluations;
        self.curvatures = (hessians + found.hessians, products + found.hessian_products);
        self.iterations += found.iterations;
        Ok(found)
    }

    fn outcome(
        &mut self,
        augmented: &Augmented<'_>,
        found: Outcome,
        cost: f64,
        reason: Reason,
        violation: f64,
        outer: usize,
    ) -> ConstrainedOutcome {
        let outcome = Outcome {
            cost,
            converged: reason.was_successful(),
            reason,
            iterations: self.history.len().saturating_sub(1),
            evaluations: augmented.evaluations,
            failed_evaluations: self.failed_evaluations,
            hessians: self.curvatures.0,
            hessian_products: self.curvatures.1,
            history: std::mem::take(&mut self.history),
            ..found
        };
        ConstrainedOutcome {
            outcome,
            c: augmented.c.clone(),
            multipliers: augmented.multipliers.values().to_vec(),
            violation,
            penalty: augmented.multipliers.penalty,
            outer,
        }
    }
}

/// Ten times the curvature of the parabola that has this cost and slope and the minimum 0, or the change of the cost that a
/// step of length 1 promises at most.
fn first_penalty(cost: f64, slope: f64) -> f64 {
    let parabola = if cost == 0.0 { 0.0 } else { 0.5 * slope * slope / cost.abs() };
    let penalty = GROWTH * parabola.max(cost.abs());
    if penalty.is_finite() && penalty > 0.0 { penalty } else { 1.0 }
}
