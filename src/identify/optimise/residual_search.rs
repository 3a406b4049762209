//! Levenberg-Marquardt and Gauss-Newton: one search for the methods that see residuals.
//!
//! Both go by the step that the linearised residuals suggest within the bounds. Gauss-Newton takes it as a direction and
//! backtracks along it. Levenberg-Marquardt damps it until it is no longer than the region where the linearisation has
//! proved itself (Moré 1978): the radius grows and shrinks with the ratio of what was gained to what was promised. Where
//! residuals are left whose own curvature counts, Levenberg-Marquardt learns that on the way ([`ResidualCurvature`]).
//!
//! Both end by the tests of MINPACK's `lmder` (Moré, Garbow & Hillstrom 1980), each made on the step without damping, so that
//! a step that is small for another reason ends nothing.

use super::bounded_step::{BoundedModel, Suggestion};
use super::evaluation::{Evaluator, Halt, How, Point, Step, dot, norm};
use super::executor::Search;
use super::method::LeastSquaresMethod;
use super::outcome::Reason;
use super::progress::Progress;
use super::residual_curvature::ResidualCurvature;
use super::residual_model::ResidualModel;
use super::trial::{Accepted, Offer, Taken, Trials, Verdict, relative_size, trial};
use super::weights::{Weights, farthest, weighted_norm};
use crate::error::Error;
use crate::least_squares::Linearised;

/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;

/// Residuals count as vanished below this part of the gradient's tolerance, beside what they are differences of: parameters that
/// hardly show in them have digits to gain until then.
const VANISHED: f64 = 0.1;

/// The search.
pub(crate) struct ResidualSearch {
    method: LeastSquaresMethod,
    progress: Progress,
    /// D, from the norms of the columns of the scaled Jacobian.
    weights: Weights,
    curvature: ResidualCurvature,
    /// The region |D d| <= radius in which the linearisation is trusted.
    radius: f64,
}

impl Search for ResidualSearch {
    fn name(&self) -> &'static str {
        self.method.name()
    }

    fn begin(&mut self, evaluator: &mut Evaluator) -> Step<Point> {
        let point = evaluator.evaluate_start()?;
        let (rows, free) = (linearised(&point)?.rows, evaluator.scaling.free_count());
        if rows < free {
            let problem = format!("there are {rows} for {free} free variables, so that they determine no minimum");
            let remedy = "compare more values, fix variables, or take a method that works by gradients, such as bfgs";
            return Err(Halt::Error(Error::invalid(
                format!("residuals for `{}`", self.method.name()),
                problem,
                remedy,
            )));
        }
        self.progress = Progress::new(&point, evaluator.cost_scale());
        evaluator.record(&point, How::default())?;
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut Evaluator, current: &Point) -> Step<Point> {
        let model = linearised(current)?;
        let norms = (0..current.x.len()).map(|k| norm(model.factor().column(k).iter().copied()));
        let weights = self.weights.update(norms, &current.x, &evaluator.scaling);
        let mut bounded = self.model(evaluator, current, model, &weights);
        let undamped = bounded.minimiser(0.0);
        if let Some(reason) = self.end(evaluator, current, model, &undamped) {
            return Err(Halt::Stop(reason));
        }
        match self.method {
            LeastSquaresMethod::GaussNewton => self.backtrack(evaluator, current, &undamped),
            LeastSquaresMethod::LevenbergMarquardt => self.damp(evaluator, current, &mut bounded, &weights),
        }
    }
}

impl ResidualSearch {
    pub fn new(method: LeastSquaresMethod) -> Self {
        ResidualSearch {
            method,
            progress: Progress::default(),
            weights: Weights::default(),
            curvature: ResidualCurvature::default(),
            radius: f64::INFINITY,
        }
    }

    /// The model at a point; for Levenberg-Marquardt, with the residuals' curvature where that counts.
    fn model<'m>(
        &self,
        evaluator: &Evaluator,
        current: &'m Point,
        model: &'m Linearised,
        weights: &'m [f64],
    ) -> BoundedModel<'m, ResidualModel<'m>> {
        let hessian = match self.method {
            LeastSquaresMethod::GaussNewton => None,
            LeastSquaresMethod::LevenbergMarquardt => {
                self.curvature.hessian(model, weights, &evaluator.scaling.held(current))
            }
        };
        BoundedModel::new(ResidualModel::new(model, weights, hessian), current, &evaluator.scaling)
    }

    /// MINPACK's tests; and two that it leaves to its user, of residuals that are round-off and of columns that are zero.
    fn end(&self, evaluator: &Evaluator, current: &Point, model: &Linearised, undamped: &Suggestion) -> Option<Reason> {
        let (options, cost) = (evaluator.options, current.cost);
        let columns: Vec<f64> = model.factor().column_iter().map(|column| norm(column.iter().copied())).collect();
        if cost <= (VANISHED * options.gradient_tolerance).powi(2) * self.progress.residual_scale(current, &columns) {
            return Some(Reason::ResidualsVanished);
        }
        let held = evaluator.scaling.held(current);
        let free = (0..columns.len()).filter(|&i| !held[i]);
        let cosines = free.clone().filter(|&i| columns[i] > 0.0).map(|i| {
            // one after the other: products might overflow
            current.scaled_gradient[i].abs() / columns[i] / (2.0 * cost).sqrt()
        });
        let largest =
            cosines.fold(None, |largest: Option<f64>, cosine| Some(largest.map_or(cosine, |l| l.max(cosine))));
        match largest {
            None if free.count() > 0 => return Some(Reason::NoInfluence),
            None => return Some(Reason::AngleSmall),
            Some(cosine) if cosine <= options.gradient_tolerance => return Some(Reason::AngleSmall),
            Some(_) => {}
        }
        let little = options.cost_tolerance * cost;
        if undamped.promise <= little && self.progress.last_gain <= little {
            return Some(Reason::ReductionSmall);
        }
        let size = relative_size(current, &undamped.d);
        let is_round_off = || self.progress.is_round_off(undamped.promise, current, options.cost_noise);
        match () {
            _ if size > options.step_tolerance => None,
            _ if self.progress.last_gain > 0.0 || is_round_off() => Some(Reason::StepSmall),
            // too small to be tried, although it promises much
            _ => (size <= f64::EPSILON).then_some(Reason::NoProgress),
        }
    }

    /// Gauss-Newton: backtracks from the undamped step until the cost falls as its slope promises (Armijo's rule).
    fn backtrack(&mut self, evaluator: &mut Evaluator, current: &Point, undamped: &Suggestion) -> Step<Point> {
        let d = &undamped.d;
        let slope: f64 = d.iter().zip(&current.scaled_gradient).map(|(d, g)| d * g).sum();
        if slope >= 0.0 {
            return Err(Halt::Stop(Reason::CostAtRoundOff));
        }
        let mut t = longest(evaluator, current, d).min(1.0);
        let mut trials = Trials::default();
        while t * relative_size(current, d) > f64::EPSILON {
            let step: Vec<f64> = d.iter().map(|d| t * d).collect();
            let Some(next) = trial(evaluator, current, &step)? else {
                trials.failed();
                t *= 0.25;
                continue;
            };
            let promise = -slope * t;
            let offer = Offer { promise, most: undamped.promise, least_gain: LEAST_GAIN };
            match self.progress.judge(evaluator, current, &next, offer, &mut trials)? {
                Verdict::Accepted | Verdict::AcceptedInNoise => {
                    let next = Accepted { point: next, limited: t < 1.0, how: How::default() };
                    return self.progress.accept(evaluator, current, next, undamped.promise);
                }
                Verdict::Rejected => {
                    let parabola = 0.5 * promise * t / (next.cost - current.cost + promise);
                    t = if parabola.is_finite() { parabola.clamp(0.1 * t, 0.5 * t) } else { 0.1 * t };
                }
            }
        }
        Err(self.progress.without_step(evaluator, current, undamped.promise, &trials))
    }

    /// Levenberg-Marquardt: damps until the cost falls.
    fn damp(
        &mut self,
        evaluator: &mut Evaluator,
        current: &Point,
        bounded: &mut BoundedModel<ResidualModel>,
        weights: &[f64],
    ) -> Step<Point> {
        let most = bounded.minimiser(0.0).promise;
        let limits = evaluator.scaling.trusted_steps(&current.x);
        let mut trials = Trials::default();
        loop {
            let radius = self.radius;
            let suggestion = bounded.within(|d| farthest(d, &limits).max(weighted_norm(weights, d) / radius));
            let Suggestion { d, damping, promise } = &suggestion;
            if *promise <= 0.0 && trials.is_new() {
                return Err(Halt::Stop(Reason::CostAtRoundOff));
            }
            if relative_size(current, d) <= f64::EPSILON {
                return Err(self.progress.without_step(evaluator, current, most, &trials));
            }
            let length = weighted_norm(weights, d);
            let Some(next) = trial(evaluator, current, d)? else {
                trials.failed();
                self.radius = 0.25 * length;
                continue;
            };
            let gain = current.cost - next.cost;
            let offer = Offer { promise: *promise, most, least_gain: LEAST_GAIN };
            let verdict = self.progress.judge(evaluator, current, &next, offer, &mut trials)?;
            let taken = Taken { length, slope: dot(d, &current.scaled_gradient), gain, promise: *promise };
            self.radius = taken.radius(radius, *damping == 0.0);
            if verdict != Verdict::Rejected {
                self.curvature.learn(current, &next, weights);
                let limited = *damping > 0.0 || trials.any_failed();
                let how = How { damping: Some(*damping), ..How::default() };
                return self.progress.accept(evaluator, current, Accepted { point: next, limited, how }, most);
            }
        }
    }
}

/// The t at which the first variable has gone as far along d as any model is worth.
fn longest(evaluator: &Evaluator, point: &Point, d: &[f64]) -> f64 {
    let moving = d.iter().enumerate().filter(|(_, d)| **d != 0.0);
    moving.map(|(i, d)| evaluator.scaling.longest_step(i, point.x[i]) / d.abs()).fold(f64::INFINITY, f64::min)
}

fn linearised(point: &Point) -> Step<&Linearised> {
    point.model.as_ref().ok_or_else(|| {
        let remedy = "report this as a defect of the optimiser";
        Halt::Error(Error::invalid("least squares", "the residuals are missing", remedy))
    })
}
