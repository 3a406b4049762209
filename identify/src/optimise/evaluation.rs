//! The one place where the function is run: counts, bounds, failures, and the best point so far.

use super::Objective;
use super::band_model::BandModel;
use super::bounded_step::{BoundedModel, Suggestion};
use super::magnitudes::Magnitudes;
use super::outcome::{Curvature, Flow, Iteration, Options, Reason};
use super::trace::Evaluation;
use super::variable::Scaling;
use crate::{Error, Result};
pub(crate) use costate::dense::dot;
use costate::least_squares::Linearised;
use nalgebra::DMatrix;
use std::time::Instant;

/// A point where the function has been run.
#[derive(Debug, Clone)]
pub struct Point {
    /// Scaled variables.
    pub x: Vec<f64>,
    /// Physical values.
    pub u: Vec<f64>,
    /// The cost.
    pub cost: f64,
    /// Gradient with respect to the physical values.
    pub gradient: Vec<f64>,
    /// Gradient with respect to the scaled variables.
    pub scaled_gradient: Vec<f64>,
    /// Norm of `scaled_gradient` without components held by bounds.
    pub gradient_norm: f64,
    /// Steepness of the cost, for comparison between points. With residuals: the norm of the slopes along the columns of their
    /// Jacobian of unit length, without components held by bounds, which does not depend on the variables' units; otherwise
    /// `gradient_norm`.
    pub steepness: f64,
    /// Magnitude of each scaled variable: the change that counts as one by all of its size, which is how large it has been.
    pub magnitudes: Vec<f64>,
    /// Residuals and Jacobian with respect to the scaled variables, if the function gives them.
    pub model: Option<Linearised>,
}

/// Way by which an accepted point was reached, for the history.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct How {
    /// Damping or the like of the step, if the method has one.
    pub damping: Option<f64>,
    /// Signs of the cost's curvature where the step began, if they were seen.
    pub curvature: Option<Curvature>,
}

/// The way out of the middle of a step.
#[derive(Debug)]
pub enum Halt {
    /// A regular end.
    Stop(Reason),
    /// Wrong input or the like.
    Error(Error),
}

/// The result of something that a stop or an error may cut short.
pub type Step<T> = std::result::Result<T, Halt>;

/// Runs the objective for the methods. This is what argmin's executor takes as the problem.
pub struct ObjectiveEvaluator<'a> {
    objective: &'a mut dyn Objective,
    /// True if the function is run by its residuals.
    by_residuals: bool,
    /// The method's name, for messages.
    method: &'static str,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    pub(super) scaling: Scaling,
    magnitudes: Magnitudes,
    pub(super) options: &'a Options,
    pub(super) evaluations: usize,
    pub(super) failed_evaluations: usize,
    pub(super) hessians: usize,
    pub(super) hessian_products: usize,
    /// Reason of the last failed evaluation.
    last_failure: String,
    /// The lowest cost of all evaluations; or, within round-off of it, the accepted point with the smallest gradient.
    pub(super) best: Option<Point>,
    lowest_cost: f64,
    /// Scaled variables of the last accepted point.
    last: Option<Vec<f64>>,
    pub(super) history: Vec<Iteration>,
    pub(super) reason: Option<Reason>,
}

impl<'a> ObjectiveEvaluator<'a> {
    pub(super) fn new(
        (objective, by_residuals): (&'a mut dyn Objective, bool),
        method: &'static str,
        scaling: Scaling,
        options: &'a Options,
        observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    ) -> Self {
        let magnitudes = Magnitudes::new(scaling.start(), scale_of(&*objective));
        ObjectiveEvaluator {
            objective,
            by_residuals,
            method,
            observer,
            scaling,
            magnitudes,
            options,
            evaluations: 0,
            failed_evaluations: 0,
            hessians: 0,
            hessian_products: 0,
            last_failure: String::new(),
            best: None,
            lowest_cost: f64::INFINITY,
            last: None,
            history: Vec::new(),
            reason: None,
        }
    }

    /// Magnitudes of scaled variables by themselves, see [`Magnitudes::own`].
    pub(super) fn own_magnitudes(&self, x: &[f64], columns: &[f64]) -> Vec<f64> {
        self.magnitudes.own(x, columns, &self.scaling)
    }

    /// Scale of the cost, see [`Objective::cost_scale`].
    pub fn cost_scale(&self) -> Option<f64> {
        scale_of(&*self.objective)
    }

    /// Bounds of a scaled variable.
    pub fn bounds(&self, i: usize) -> (f64, f64) {
        self.scaling.bounds(i)
    }

    /// Tolerances and limits; those of iterations and evaluations are kept to without the method.
    pub fn options(&self) -> &Options {
        self.options
    }

    /// Cost, gradient and, if the method goes by them, residuals at u.
    fn run(&mut self, u: &[f64]) -> Result<(f64, Vec<f64>, Option<Linearised>)> {
        if !self.by_residuals {
            let mut gradient = vec![0.0; u.len()];
            let cost = self.objective.value_and_gradient(u, &mut gradient)?;
            return Ok((cost, gradient, None));
        }
        let linearised = self.objective.linearise(u)?;
        if linearised.dimension() != u.len() {
            let problem = format!("it has {} columns for {} variables", linearised.dimension(), u.len());
            let remedy = "give one column for each variable";
            return Err(Error::invalid("the Jacobian of the residuals", problem, remedy));
        }
        Ok((linearised.cost(), linearised.gradient(), Some(linearised)))
    }

    /// Runs the function at scaled variables x, which must lie within their bounds. `None`: the run failed; a method rejects the step.
    ///
    /// # Errors
    /// A limit that is reached, an interruption, or an error that ends the search: the method hands it on.
    pub fn evaluate(&mut self, x: &[f64]) -> Step<Option<Point>> {
        if self.evaluations >= self.options.max_evaluations {
            return Err(Halt::Stop(Reason::MaxEvaluations));
        }
        if self.options.interrupt.is_raised() {
            return Err(Halt::Stop(Reason::Interrupted));
        }
        self.evaluations += 1;
        let u = self.scaling.physical(x);
        let (number, began) = (self.evaluations, Instant::now());
        let tell = |cost: std::result::Result<f64, &str>| {
            let seconds = began.elapsed().as_secs_f64();
            self.options.trace.tell(&Evaluation { number, u: &u, cost, seconds });
        };
        let failure = match u.iter().find(|u| !u.is_finite()) {
            // A logarithmic scale overflows easily: no reason to bother the simulation.
            Some(_) => "a variable overflowed".to_string(),
            None => match self.run(&u) {
                Ok((cost, ..)) if !cost.is_finite() => format!("the cost is {cost}"),
                Ok((_, gradient, _)) if gradient.iter().any(|g| !g.is_finite()) => {
                    "the gradient is not finite".to_string()
                }
                Ok((cost, gradient, model)) => {
                    tell(Ok(cost));
                    return self.keep(x, u, cost, gradient, model).map(Some);
                }
                Err(error) if error.is_simulation_failure() => error.to_string(),
                Err(error) if error.is_interruption() => {
                    self.evaluations -= 1;
                    return Err(Halt::Stop(Reason::Interrupted));
                }
                Err(error) => return Err(Halt::Error(error)),
            },
        };
        tell(Err(&failure));
        self.failed_evaluations += 1;
        self.last_failure = failure;
        Ok(None)
    }

    fn keep(
        &mut self,
        x: &[f64],
        u: Vec<f64>,
        cost: f64,
        gradient: Vec<f64>,
        model: Option<Linearised>,
    ) -> Step<Point> {
        let scaled_gradient = self.scaling.scaled_gradient(&u, &gradient);
        let free = (0..x.len()).filter(|&i| !self.scaling.is_held(i, x[i], scaled_gradient[i]));
        let gradient_norm = norm(free.map(|i| scaled_gradient[i]));
        let model = model.map(|model| {
            let all: Vec<usize> = (0..x.len()).collect();
            model.scaled(&all, &self.scaling.slopes(&u))
        });
        let (magnitudes, steepness) = match &model {
            Some(model) => {
                let columns = model.column_norms();
                let free =
                    (0..x.len()).filter(|&i| columns[i] > 0.0 && !self.scaling.is_held(i, x[i], scaled_gradient[i]));
                (
                    self.magnitudes.at(x, &columns, cost, &self.scaling),
                    norm(free.map(|i| scaled_gradient[i] / columns[i])),
                )
            }
            None => (x.iter().map(|x| x.abs().max(1.0)).collect(), gradient_norm),
        };
        let x = x.to_vec();
        let point = Point { x, u, cost, gradient, scaled_gradient, gradient_norm, steepness, magnitudes, model };
        if point.cost < self.lowest_cost {
            self.lowest_cost = point.cost;
            self.best = Some(point.clone());
        }
        if point.cost <= self.options.cost_target {
            return Err(Halt::Stop(Reason::CostBelowTarget));
        }
        Ok(point)
    }

    /// The Hessian with respect to the scaled variables, symmetric, where the function was run last. `None`: it failed, or is
    /// not finite.
    pub fn hessian(&mut self, point: &Point) -> Step<Option<DMatrix<f64>>> {
        let n = point.x.len();
        let mut rows = vec![vec![0.0; n]; n];
        self.hessians += 1;
        let outcome = self.objective.hessian(&point.u, &mut rows);
        if !Self::worked(outcome)? {
            return Ok(None);
        }
        let slopes = self.scaling.slopes(&point.u);
        let mut hessian = DMatrix::from_fn(n, n, |i, j| 0.5 * (rows[i][j] + rows[j][i]) * slopes[i] * slopes[j]);
        for (i, bend) in self.scaling.bends(&point.u).into_iter().enumerate() {
            hessian[(i, i)] += point.gradient[i] * bend;
        }
        Ok(Some(hessian).filter(|hessian| hessian.iter().all(|entry| entry.is_finite())))
    }

    /// True if the function knows that its residuals are linear in the scaled variables.
    pub(super) fn is_linear(&self) -> bool {
        self.objective.is_linear() && !self.scaling.any_log()
    }

    /// What Gauss-Newton leaves out of the Hessian with respect to the scaled variables, if the function knows.
    pub(super) fn residual_curvature(&mut self, point: &Point) -> Option<DMatrix<f64>> {
        let curvature = self.objective.residual_curvature(&point.u)?;
        let slopes = self.scaling.slopes(&point.u);
        let n = point.x.len();
        let mut curvature = DMatrix::from_fn(n, n, |i, j| curvature[(i, j)] * slopes[i] * slopes[j]);
        for (i, bend) in self.scaling.bends(&point.u).into_iter().enumerate() {
            curvature[(i, i)] += point.gradient[i] * bend;
        }
        Some(curvature).filter(|curvature| curvature.iter().all(|entry| entry.is_finite()))
    }

    /// Product of the Hessian by the scaled variables with `direction`.
    pub fn hessian_vector(&mut self, point: &Point, direction: &[f64]) -> Step<Option<Vec<f64>>> {
        let slopes = self.scaling.slopes(&point.u);
        let physical: Vec<f64> = direction.iter().zip(&slopes).map(|(d, slope)| d * slope).collect();
        let mut product = vec![0.0; direction.len()];
        self.hessian_products += 1;
        let outcome = self.objective.hessian_vector(&point.u, &physical, &mut product);
        if !Self::worked(outcome)? {
            return Ok(None);
        }
        for (i, bend) in self.scaling.bends(&point.u).into_iter().enumerate() {
            product[i] = product[i] * slopes[i] + point.gradient[i] * bend * direction[i];
        }
        Ok(Some(product).filter(|product| product.iter().all(|entry| entry.is_finite())))
    }

    /// A step of Levenberg and Marquardt from a point within the bounds, with the damping λ, in scaled variables; and what it promises.
    pub(super) fn damped_step(&mut self, point: &Point, damping: f64) -> Step<Suggestion> {
        let slopes = self.scaling.slopes(&point.u);
        let Some(steps) = self.objective.damped_steps() else {
            let remedy = "report this as a defect of the optimiser";
            return Err(Halt::Error(Error::invalid("a damped step", "the function has none", remedy)));
        };
        let band = BandModel::new(steps, point, slopes);
        let mut model = BoundedModel::new(band, point, &self.scaling);
        let suggestion = model.minimiser(damping);
        match model.quadratic.error {
            None => Ok(suggestion),
            Some(error) if error.is_interruption() => Err(Halt::Stop(Reason::Interrupted)),
            Some(error) => Err(Halt::Error(error)),
        }
    }

    /// A failed simulation is no error of the search.
    fn worked(outcome: Result<()>) -> Step<bool> {
        match outcome {
            Ok(()) => Ok(true),
            Err(error) if error.is_simulation_failure() => Ok(false),
            Err(error) if error.is_interruption() => Err(Halt::Stop(Reason::Interrupted)),
            Err(error) => Err(Halt::Error(error)),
        }
    }

    /// Runs the function at the start. A failure there is an error: there is no step to reject; and so is an interruption, before
    /// which there is nothing to keep.
    pub fn evaluate_start(&mut self) -> Step<Point> {
        let x = self.scaling.start();
        let start = match self.evaluate(&x) {
            Err(Halt::Stop(Reason::Interrupted)) => Err(Halt::Error(start_interruption(self.method))),
            other => other,
        };
        start?.ok_or_else(|| Halt::Error(start_failure(self.method, &self.last_failure)))
    }

    /// Records an accepted point and tells the observer.
    pub fn record(&mut self, point: &Point, how: How) -> Step<()> {
        // Among costs that differ by round-off only, a smaller gradient is the better minimum.
        if let Some(best) = &mut self.best {
            let close = point.cost - self.lowest_cost <= self.options.cost_noise * self.lowest_cost.abs();
            if close && point.steepness < best.steepness {
                *best = point.clone();
            }
        }
        let last = self.last.replace(point.x.clone()).unwrap_or_else(|| point.x.clone());
        let iteration = Iteration {
            number: self.history.len(),
            evaluations: self.evaluations,
            failed_evaluations: self.failed_evaluations,
            cost: point.cost,
            u: point.u.clone(),
            gradient: point.gradient.clone(),
            gradient_norm: point.gradient_norm,
            hessians: self.hessians,
            hessian_products: self.hessian_products,
            damping: how.damping,
            curvature: how.curvature,
            outer: None,
            homotopy: None,
            step_length: norm(point.x.iter().zip(&last).map(|(new, old)| new - old)),
        };
        let flow = (self.observer)(&iteration);
        self.history.push(iteration);
        match flow {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(Halt::Stop(Reason::Interrupted)),
        }
    }

    /// Records the best point as the last step, if the run was cut within a step that had found better than every accepted point.
    pub(super) fn record_unfinished_step(&mut self) {
        let lowest_accepted = self.history.iter().map(|i| i.cost).fold(f64::INFINITY, f64::min);
        if let Some(best) = self.best.clone().filter(|best| best.cost < lowest_accepted) {
            // A wish to stop no longer matters: this is the end.
            let _ = self.record(&best, How::default());
        }
    }
}

/// Scale of a function's cost, if it is one.
fn scale_of(objective: &dyn Objective) -> Option<f64> {
    objective.cost_scale().filter(|scale| scale.is_finite() && *scale > 0.0)
}

/// Error of an evaluation that fails at the start, where there is no step to reject.
pub(crate) fn start_failure(method: &str, failure: &str) -> Error {
    Error::Optimiser {
        method: method.to_string(),
        problem: format!("the evaluation at the start fails: {failure}"),
        remedy: "start where the simulation works".to_string(),
    }
}

fn start_interruption(method: &str) -> Error {
    Error::Optimiser {
        method: method.to_string(),
        problem: "interrupted before the evaluation at the start was done".to_string(),
        remedy: "there is nothing to keep".to_string(),
    }
}

/// Euclidean norm, safe against overflow of the squares.
pub(crate) fn norm(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(0.0, |a: f64, v| a.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    largest * values.map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}
