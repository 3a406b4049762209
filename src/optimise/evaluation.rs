//! The one place where the function is run: counts, bounds, failures, and the best point so far.

use super::outcome::{Flow, Iteration, Options, Reason};
use super::variable::Scaling;
use super::{Method, Objective};
use crate::error::Error;

/// A point where the function has been run.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// Scaled variables.
    pub x: Vec<f64>,
    /// Physical values.
    pub u: Vec<f64>,
    pub cost: f64,
    /// With respect to the physical values.
    pub gradient: Vec<f64>,
    /// With respect to the scaled variables.
    pub scaled_gradient: Vec<f64>,
    /// Norm of `scaled_gradient` without components held by bounds.
    pub gradient_norm: f64,
}

/// The way out of the middle of a step.
#[derive(Debug)]
pub(crate) enum Halt {
    /// A regular end.
    Stop(Reason),
    /// Wrong input or the like.
    Error(Error),
}

/// The result of something that a stop or an error may cut short.
pub(crate) type Step<T> = std::result::Result<T, Halt>;

/// Runs the objective for the methods. This is what argmin's executor takes as the problem.
pub(crate) struct Evaluator<'a> {
    objective: &'a mut dyn Objective,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    pub scaling: Scaling,
    pub options: &'a Options,
    pub evaluations: usize,
    pub failed_evaluations: usize,
    /// Why the last failed evaluation failed.
    last_failure: String,
    /// The lowest cost of all evaluations; or, within round-off of it, the accepted point with the smallest gradient.
    pub best: Option<Point>,
    lowest_cost: f64,
    /// Scaled variables of the last accepted point.
    last: Option<Vec<f64>>,
    pub history: Vec<Iteration>,
    pub reason: Option<Reason>,
}

impl<'a> Evaluator<'a> {
    pub fn new(
        objective: &'a mut dyn Objective,
        scaling: Scaling,
        options: &'a Options,
        observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    ) -> Self {
        Evaluator {
            objective,
            observer,
            scaling,
            options,
            evaluations: 0,
            failed_evaluations: 0,
            last_failure: String::new(),
            best: None,
            lowest_cost: f64::INFINITY,
            last: None,
            history: Vec::new(),
            reason: None,
        }
    }

    /// Runs the function at x. `None`: the run failed; a method rejects the step.
    pub fn evaluate(&mut self, x: &[f64]) -> Step<Option<Point>> {
        if self.evaluations >= self.options.max_evaluations {
            return Err(Halt::Stop(Reason::MaxEvaluations));
        }
        self.evaluations += 1;
        let u = self.scaling.physical(x);
        let mut gradient = vec![0.0; u.len()];
        let failure = match u.iter().find(|u| !u.is_finite()) {
            // A logarithmic scale overflows easily: no reason to bother the simulation.
            Some(_) => "a variable overflowed".to_string(),
            None => match self.objective.value_and_gradient(&u, &mut gradient) {
                Ok(cost) if !cost.is_finite() => format!("the cost is {cost}"),
                Ok(_) if gradient.iter().any(|g| !g.is_finite()) => "the gradient is not finite".to_string(),
                Ok(cost) => return self.keep(x, u, cost, gradient).map(Some),
                Err(error) if error.is_simulation_failure() => error.to_string(),
                Err(error) => return Err(Halt::Error(error)),
            },
        };
        self.failed_evaluations += 1;
        self.last_failure = failure;
        Ok(None)
    }

    fn keep(&mut self, x: &[f64], u: Vec<f64>, cost: f64, gradient: Vec<f64>) -> Step<Point> {
        let scaled_gradient = self.scaling.scaled_gradient(&u, &gradient);
        let free = (0..x.len()).filter(|&i| !self.scaling.is_held(i, x[i], scaled_gradient[i]));
        let gradient_norm = norm(free.map(|i| scaled_gradient[i]));
        let point = Point { x: x.to_vec(), u, cost, gradient, scaled_gradient, gradient_norm };
        if point.cost < self.lowest_cost {
            self.lowest_cost = point.cost;
            self.best = Some(point.clone());
        }
        if point.cost <= self.options.cost_target {
            return Err(Halt::Stop(Reason::CostBelowTarget));
        }
        Ok(point)
    }

    /// Runs the function at the start. A failure there is an error: there is no step to reject.
    pub fn evaluate_start(&mut self, method: Method) -> Step<Point> {
        let x = self.scaling.start();
        self.evaluate(&x)?.ok_or_else(|| {
            Halt::Error(Error::Optimiser {
                method: method.name().to_string(),
                problem: format!("the evaluation at the start fails: {}", self.last_failure),
                remedy: "start where the simulation works".to_string(),
            })
        })
    }

    /// Records an accepted point and tells the observer.
    pub fn record(&mut self, point: &Point) -> Step<()> {
        // Among costs that differ by round-off only, a smaller gradient is the better minimum.
        if let Some(best) = &mut self.best {
            let close = point.cost - self.lowest_cost <= self.options.cost_noise * self.lowest_cost.abs();
            if close && point.gradient_norm < best.gradient_norm {
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
            step_length: norm(point.x.iter().zip(&last).map(|(new, old)| new - old)),
        };
        let flow = (self.observer)(&iteration);
        self.history.push(iteration);
        match flow {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(Halt::Stop(Reason::Interrupted)),
        }
    }

    /// If the run was cut within a step that had found better than every accepted point, records that as the last step.
    pub fn record_unfinished_step(&mut self) {
        let lowest_accepted = self.history.iter().map(|i| i.cost).fold(f64::INFINITY, f64::min);
        if let Some(best) = self.best.clone().filter(|best| best.cost < lowest_accepted) {
            // A wish to stop no longer matters: this is the end.
            let _ = self.record(&best);
        }
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

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Takes the error out of argmin's box.
pub(crate) fn unboxed(error: argmin::core::Error, method: Method) -> Error {
    error.downcast::<Error>().unwrap_or_else(|other| Error::Optimiser {
        method: method.name().to_string(),
        problem: other.to_string(),
        remedy: "report this as a defect of the optimiser".to_string(),
    })
}
