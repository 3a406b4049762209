//! A problem as the solvers of [argmin](https://docs.rs/argmin) see it: whatever takes `CostFunction`, `Gradient`, `Hessian`, `Operator` or
//! `Jacobian` over plain vectors runs on a mechanism.
//!
//! ```no_run
//! use argmin::core::Executor;
//! use argmin::solver::neldermead::NelderMead;
//! use costate_identify::solvers::SolverProblem;
//! # fn run(problem: &costate_identify::problem::Problem) -> Result<(), argmin::core::Error> {
//!
//! let mechanism = SolverProblem::new(problem)?;
//! let solver = NelderMead::new(mechanism.simplex(0.05)).with_sd_tolerance(1e-12)?;
//! let found = Executor::new(&mechanism, solver).configure(|state| state.max_iters(500)).run()?;
//! if let Some(x) = &found.state.best_param {
//!     println!("{:?} at a cost of {:e}", mechanism.parameters(x)?, found.state.best_cost);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Inside [`identify`](fn@crate::identify) the same solvers are methods by name, see [`ArgminSolver`](crate::optimise::ArgminSolver): with the history,
//! the limits and the best point that the methods of this crate have.

use crate::beside::Row;
use crate::ensemble::Ensemble;
use crate::optimise::{Scaling, Variable};
use crate::problem::Problem;
use crate::{Error, Result, expand, some_free, variable_of};
use argmin::core::{CostFunction, Error as BoxedError, Gradient, Hessian, Jacobian, Operator};
use costate::cost::LeastSquares;
use costate::sensitivity::Method;
use std::cell::RefCell;

/// The cost of a problem over the scaled free parameters x: u / size on a linear scale, ln(u / size) on a logarithmic one.
///
/// Simulations that fail cost infinitely much, and their derivatives are not numbers. Values outside the parameters' bounds are taken to the
/// nearest within, and cost more: by half the square of their distance, times the cost at the start. Any other error ends the solver with it.
/// Constraints are not looked at: problems that have some are refused.
pub struct SolverProblem<'p> {
    problem: &'p Problem,
    free: Vec<usize>,
    scaling: Scaling,
    /// The cost of being as far as 1 outside the bounds, times 2.
    penalty: f64,
    seen: RefCell<Seen<'p>>,
}

/// Evaluator of all experiments, with the last point where it ran, its cost and its gradient.
struct Seen<'p> {
    ensemble: Ensemble<'p>,
    last: Option<(Vec<f64>, f64, Vec<f64>)>,
    runs: usize,
}

impl<'p> SolverProblem<'p> {
    /// Solver's view of a problem with at least one free parameter, begun at its start.
    ///
    /// # Errors
    /// As [`Problem::validate`]; [`costate::Error::Invalid`] if nothing is free, or if there are constraints; a simulation that fails at the start.
    pub fn new(problem: &'p Problem) -> Result<Self> {
        problem.validate()?;
        if !problem.constraints.is_empty() {
            let remedy = "use `identify`, whose methods keep them, or leave them out";
            let subject = format!("problem `{}`", problem.name);
            return Err(Error::invalid(subject, "it has constraints, which argmin's solvers do not see", remedy));
        }
        let free = some_free(problem)?;
        let variable = |k: &usize| variable_of(&problem.parameters[*k], problem.start[*k]);
        let scaling = Scaling::new(&free.iter().map(variable).collect::<Vec<Variable>>())?;
        let mut ensemble = Ensemble::by_parameters(problem, &free)?;
        let cost = ensemble.cost(&problem.start)?;
        let penalty = if cost > 0.0 { cost } else { 1.0 };
        Ok(SolverProblem {
            problem,
            free,
            scaling,
            penalty,
            seen: RefCell::new(Seen { ensemble, last: None, runs: 1 }),
        })
    }

    /// The scaled start, one value a free parameter in the order of [`Problem::free`].
    pub fn start(&self) -> Vec<f64> {
        self.scaling.start()
    }

    /// The least and the largest scaled values, infinite where there is no bound.
    pub fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        (0..self.free.len()).map(|i| self.scaling.bounds(i)).unzip()
    }

    /// A simplex around the start for Nelder and Mead: its edges are this part of each value (of 1 for a value below 1), into the bounds.
    pub fn simplex(&self, edge: f64) -> Vec<Vec<f64>> {
        self.scaling.simplex(&self.start(), edge)
    }

    /// The parameters of the problem, in their units, with these scaled values of the free ones.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] for another number of values.
    pub fn parameters(&self, x: &[f64]) -> Result<Vec<f64>> {
        if x.len() != self.free.len() {
            let problem = format!("there are {} values for {} free parameters", x.len(), self.free.len());
            return Err(Error::invalid("scaled values", problem, "give one value a free parameter"));
        }
        Ok(expand(&self.problem.start, &self.free, &self.scaling.physical(x)))
    }

    /// Simulations so far, of all experiments together, failed ones included.
    pub fn runs(&self) -> usize {
        self.seen.borrow().runs
    }

    /// Distances of x from the bounds, outside of them; else 0.
    fn beyond(&self, x: &[f64]) -> Vec<f64> {
        let (lower, upper) = self.bounds();
        // not a number stays what it is
        x.iter().zip(lower.iter().zip(&upper)).map(|(x, (lower, upper))| x - x.clamp(*lower, *upper)).collect()
    }

    /// Result of `work` at the parameters of x, or `failed` where the simulation fails.
    fn at<T>(
        &self,
        x: &[f64],
        failed: T,
        work: impl FnOnce(&mut Seen<'p>, &[f64]) -> Result<T>,
    ) -> std::result::Result<T, BoxedError> {
        let u = self.parameters(x)?;
        if u.iter().any(|value| !value.is_finite()) {
            return Ok(failed);
        }
        match work(&mut self.seen.borrow_mut(), &u) {
            Err(error) if error.is_simulation_failure() => Ok(failed),
            other => Ok(other?),
        }
    }

    /// Cost and scaled gradient, of one run.
    fn cost_and_gradient(&self, x: &[f64]) -> std::result::Result<(f64, Vec<f64>), BoxedError> {
        let nowhere = (f64::INFINITY, vec![f64::NAN; x.len()]);
        self.at(x, nowhere.clone(), |seen, u| {
            if let Some((_, cost, slope)) = seen.last.as_ref().filter(|(at, ..)| at == x) {
                return Ok((*cost, slope.clone()));
            }
            let mut full = vec![0.0; u.len()];
            seen.runs += 1;
            let cost = seen.ensemble.cost_and_gradient(u, Method::Adjoint, &mut full)?;
            let beyond = self.beyond(x);
            let slope = self.scaling.scaled_gradient(&self.of_free(u), &self.of_free(&full));
            let outside = |(slope, beyond): (f64, &f64)| if *beyond == 0.0 { slope } else { self.penalty * beyond };
            let slope: Vec<f64> = slope.into_iter().zip(&beyond).map(outside).collect();
            let cost = cost + self.fine(&beyond);
            if !(cost.is_finite() && slope.iter().all(|slope| slope.is_finite())) {
                return Ok(nowhere);
            }
            seen.last = Some((x.to_vec(), cost, slope.clone()));
            Ok((cost, slope))
        })
    }

    /// Cost of being outside the bounds.
    fn fine(&self, beyond: &[f64]) -> f64 {
        0.5 * self.penalty * beyond.iter().map(|beyond| beyond * beyond).sum::<f64>()
    }

    fn of_free(&self, all: &[f64]) -> Vec<f64> {
        self.free.iter().map(|&k| all[k]).collect()
    }

    /// Residuals with their scaled derivatives.
    fn rows(&self, x: &[f64]) -> std::result::Result<Vec<(f64, Vec<f64>)>, BoxedError> {
        let costs: Vec<&LeastSquares> = self.problem.least_squares().ok_or_else(|| {
            let subject = format!("the cost of problem `{}`", self.problem.name);
            Error::invalid(subject, "it is no sum of squares", "take a solver that needs no residuals")
        })?;
        self.at(x, Vec::new(), |seen, u| {
            seen.runs += 1;
            let of_experiments = seen.ensemble.residual_rows(u, &costs)?;
            let slopes = self.scaling.slopes(&self.of_free(u));
            let scaled = |Row { residual, slope }: Row| {
                let slope = self.free.iter().zip(&slopes).map(|(&k, factor)| slope[k] * factor).collect();
                (residual, slope)
            };
            Ok(of_experiments.into_iter().map(scaled).collect())
        })
    }
}

impl CostFunction for &SolverProblem<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, x: &Vec<f64>) -> std::result::Result<f64, BoxedError> {
        self.at(x, f64::INFINITY, |seen, u| {
            if let Some((_, cost, _)) = seen.last.as_ref().filter(|(at, ..)| at == x) {
                return Ok(*cost);
            }
            seen.runs += 1;
            let cost = seen.ensemble.cost(u)? + self.fine(&self.beyond(x));
            Ok(if cost.is_nan() { f64::INFINITY } else { cost })
        })
    }
}

impl Gradient for &SolverProblem<'_> {
    type Param = Vec<f64>;
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> std::result::Result<Vec<f64>, BoxedError> {
        Ok(self.cost_and_gradient(x)?.1)
    }
}

impl Hessian for &SolverProblem<'_> {
    type Param = Vec<f64>;
    type Hessian = Vec<Vec<f64>>;

    fn hessian(&self, x: &Vec<f64>) -> std::result::Result<Vec<Vec<f64>>, BoxedError> {
        self.at(x, vec![vec![f64::NAN; x.len()]; x.len()], |seen, u| {
            let unit = |&k: &usize| (0..u.len()).map(|j| if j == k { 1.0 } else { 0.0 }).collect();
            let directions: Vec<Vec<f64>> = self.free.iter().map(unit).collect();
            let (mut full, mut products) = (vec![0.0; u.len()], vec![vec![0.0; u.len()]; directions.len()]);
            seen.runs += 1;
            seen.ensemble.hessian_vectors(u, &directions, &mut full, &mut products)?;
            let own = self.of_free(u);
            let (slopes, bends, slope) = (self.scaling.slopes(&own), self.scaling.bends(&own), self.of_free(&full));
            let beyond = self.beyond(x);
            let entry = |i: usize, j: usize| {
                if beyond[i] != 0.0 || beyond[j] != 0.0 {
                    return if i == j { self.penalty } else { 0.0 };
                }
                let bend = if i == j { slope[i] * bends[i] } else { 0.0 };
                0.5 * (products[i][self.free[j]] + products[j][self.free[i]]) * slopes[i] * slopes[j] + bend
            };
            Ok((0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j)).collect()).collect())
        })
    }
}

/// The residuals r of a sum of squares ½ rᵀ r, in the order of experiments and times, those of priors, modes and frequency responses last;
/// none for a simulation that fails.
impl Operator for &SolverProblem<'_> {
    type Param = Vec<f64>;
    type Output = Vec<f64>;

    fn apply(&self, x: &Vec<f64>) -> std::result::Result<Vec<f64>, BoxedError> {
        Ok(self.rows(x)?.into_iter().map(|(residual, _)| residual).collect())
    }
}

/// Derivatives of the residuals by x, a row for each residual.
impl Jacobian for &SolverProblem<'_> {
    type Param = Vec<f64>;
    type Jacobian = Vec<Vec<f64>>;

    fn jacobian(&self, x: &Vec<f64>) -> std::result::Result<Vec<Vec<f64>>, BoxedError> {
        Ok(self.rows(x)?.into_iter().map(|(_, slope)| slope).collect())
    }
}
