//! Levenberg-Marquardt and Gauss-Newton: one search for the methods that see residuals.
//!
//! Both go by the step that the linearised residuals suggest within the bounds. Gauss-Newton takes it as a direction and
//! backtracks along it. Levenberg-Marquardt damps it until it is no longer than the region where the linearisation has
//! proved itself (Moré 1978): the radius grows and shrinks with the ratio of what was gained to what was promised.

use super::bounded_step::{BoundedModel, Suggestion};
use super::evaluation::{Evaluator, Halt, How, Point, Step, dot, norm};
use super::executor::Search;
use super::method::LeastSquaresMethod;
use super::outcome::Reason;
use super::progress::Progress;
use super::residual_model::ResidualModel;
use super::trial::{Offer, Taken, Trials, Verdict, relative_size, trial};
use super::weights::{Weights, farthest, weighted_norm};
use crate::error::Error;
use crate::least_squares::Linearised;

/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;
/// The search.
pub(crate) struct ResidualSearch {
    method: LeastSquaresMethod,
    progress: Progress,
    /// D, from the norms of the columns of the scaled Jacobian.
    weights: Weights,
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
        self.progress = Progress::new(&point);
        evaluator.record(&point, How::default())?;
        if point.gradient_norm == 0.0 {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut Evaluator, current: &Point) -> Step<Point> {
        let model = linearised(current)?;
        let norms = (0..current.x.len()).map(|k| norm(model.factor().column(k).iter().copied()));
        let weights = self.weights.update(norms, &evaluator.scaling);
        let quadratic = ResidualModel::new(model, &weights);
        let mut bounded = BoundedModel::new(quadratic, current, &evaluator.scaling);
        let undamped = bounded.minimiser(0.0);
        if self.progress.is_finished(current, undamped.promise, evaluator.options) {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        match self.method {
            LeastSquaresMethod::GaussNewton => self.backtrack(evaluator, current, &undamped),
            LeastSquaresMethod::LevenbergMarquardt => self.damp(evaluator, current, &mut bounded, &weights, &undamped),
        }
    }
}

impl ResidualSearch {
    pub fn new(method: LeastSquaresMethod) -> Self {
        ResidualSearch { method, progress: Progress::default(), weights: Weights::default(), radius: f64::INFINITY }
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
                    return self.progress.accept(evaluator, current, next, t < 1.0, How::default());
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
        undamped: &Suggestion,
    ) -> Step<Point> {
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
                return Err(self.progress.without_step(evaluator, current, undamped.promise, &trials));
            }
            let length = weighted_norm(weights, d);
            let Some(next) = trial(evaluator, current, d)? else {
                trials.failed();
                self.radius = 0.25 * length;
                continue;
            };
            let gain = current.cost - next.cost;
            let offer = Offer { promise: *promise, most: undamped.promise, least_gain: LEAST_GAIN };
            let verdict = self.progress.judge(evaluator, current, &next, offer, &mut trials)?;
            let taken = Taken { length, slope: dot(d, &current.scaled_gradient), gain, promise: *promise };
            self.radius = taken.radius(radius, *damping == 0.0);
            if verdict != Verdict::Rejected {
                let limited = *damping > 0.0 || trials.any_failed();
                let how = How { damping: Some(*damping), ..How::default() };
                return self.progress.accept(evaluator, current, next, limited, how);
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
