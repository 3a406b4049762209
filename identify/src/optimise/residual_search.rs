//! Levenberg-Marquardt and Gauss-Newton: one search for the methods that see residuals.
//!
//! Both go by the step that the linearised residuals suggest within the bounds. Gauss-Newton takes it as a direction and
//! backtracks along it. Levenberg-Marquardt damps it until it is no longer than the region where the linearisation has
//! proved itself (Moré 1978): the radius grows and shrinks with the ratio of what was gained to what was promised. Where
//! residuals are left whose own curvature counts, Levenberg-Marquardt learns that on the way ([`ResidualCurvature`]), where the function does not know
//! it.
//!
//! Both end by the tests of MINPACK's `lmder` (Moré, Garbow & Hillstrom 1980), each made on the step without damping, so that
//! a step that is small for another reason ends nothing.

use super::bounded_step::{BoundedModel, Suggestion};
use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step, dot};
use super::executor::SearchMethod;
use super::method::Method;
use super::outcome::Reason;
use super::progress::Progress;
use super::residual_curvature::{ResidualCurvature, with_curvature};
use super::residual_model::{ResidualModel, Subspace};
use super::trial::{Acceptance, Accepted, Offer, Taken, Trials, relative_size, trial};
use super::variable::LONGEST_LOG;
use super::weights::{Weights, farthest, weighted_norm};
use crate::Error;
use costate::least_squares::Linearised;
use std::f64::consts::LN_10;

/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;

/// Residuals count as vanished below this part of the gradient's tolerance, beside what they are differences of: parameters that
/// hardly show in them have digits to gain until then.
const VANISHED: f64 = 0.1;

/// A variable on the linear scale goes no farther in one step than so many times its magnitude.
const LONGEST: f64 = 10.0;

/// A step across the whole of its limits that gains what is promised to this part shows residuals that are linear.
const LINEAR: f64 = 1e-6;

/// Undetermined directions are worth another step if the last one has lowered the cost by this part.
const WORTHWHILE: f64 = 1e-6;

/// Number of trials in a row along undetermined directions that gain nothing, after which these are left alone.
const UNDETERMINED_TRIALS: usize = 3;

/// Most corrections of a step.
const MOST_CORRECTIONS: usize = 3;

/// A correction is tried where what it promises for the whole step is the step's own promise to this part: both linearisations then tell of
/// the same valley.
const SAME_PROMISE: f64 = 0.1;

/// The region grows with a corrected step that gains this part of what is promised.
const GOOD_GAIN: f64 = 0.25;

/// The search.
pub(crate) struct ResidualSearch {
    /// True for Levenberg and Marquardt's method, false for Gauss-Newton with backtracking.
    is_damped: bool,
    progress: Progress,
    /// Weights D, from the norms of the columns of the scaled Jacobian.
    weights: Weights,
    curvature: ResidualCurvature,
    /// The region |D d| <= radius in which the linearisation is trusted.
    radius: f64,
    /// Steps keep to determined directions, as others have gained nothing.
    is_cautious: bool,
    /// True if nothing was left to gain along determined directions at the last point.
    was_settled: bool,
    /// The last step has shown that the residuals are linear, as far as it went: the next one has no limits.
    is_linear: bool,
}

/// State of a model's undetermined directions: whether it goes along such ones, which [`Subspace::Determined`] leaves out; and whether nothing is left to
/// gain along the others.
#[derive(Debug, Clone, Copy)]
struct UndeterminedSteps {
    goes_along: bool,
    is_settled: bool,
}

impl SearchMethod for ResidualSearch {
    fn name(&self) -> &'static str {
        if self.is_damped { Method::LevenbergMarquardt.name() } else { Method::GaussNewton.name() }
    }

    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
        let point = evaluator.evaluate_start()?;
        let (rows, free) = (linearised(&point)?.rows, evaluator.scaling.free_count());
        if rows < free {
            let problem = format!("there are {rows} for {free} free variables, so that they determine no minimum");
            let remedy = "compare more values, fix variables, or take a method that works by gradients, such as bfgs";
            return Err(Halt::Error(Error::invalid(format!("residuals for `{}`", self.name()), problem, remedy)));
        }
        self.progress = Progress::new(&point, evaluator.cost_scale());
        evaluator.record(&point, How::default())?;
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
        let model = linearised(current)?;
        let columns = model.column_norms();
        let own = evaluator.own_magnitudes(&current.x, &columns);
        let weights = self.weights.update(&columns, &own, &current.magnitudes, &evaluator.scaling);
        let held = evaluator.scaling.held(current);
        let mut bounded = self.model(evaluator, current, &weights, Subspace::All)?;
        let mut goes_along = bounded.quadratic.has_undetermined(&held);
        let mut undamped = bounded.minimiser(0.0);
        let mut is_settled = false;
        if goes_along {
            let mut determined = self.model(evaluator, current, &weights, Subspace::Determined)?;
            let sure = determined.minimiser(0.0);
            is_settled = self.progress.is_round_off(sure.promise, current, evaluator.options.cost_noise);
            if is_settled && self.was_settled && self.progress.last_gain <= WORTHWHILE * current.cost {
                return Err(Halt::Stop(Reason::DeterminedSmall));
            }
            if self.is_cautious && !is_settled || evaluator.is_linear() {
                (bounded, undamped, goes_along) = (determined, sure, false);
            }
        }
        self.was_settled = is_settled;
        if let Some(reason) = self.end(evaluator, current, &columns, &undamped) {
            return Err(Halt::Stop(reason));
        }
        let undetermined = UndeterminedSteps { goes_along, is_settled };
        match self.is_damped {
            false => self.backtrack(evaluator, current, undamped, &weights, undetermined),
            true => self.damp(evaluator, current, bounded, &weights, undetermined),
        }
    }
}

impl ResidualSearch {
    /// Levenberg and Marquardt's method if it is damped, else Gauss-Newton with backtracking.
    pub fn new(is_damped: bool) -> Self {
        ResidualSearch {
            is_damped,
            progress: Progress::default(),
            weights: Weights::default(),
            curvature: ResidualCurvature::default(),
            radius: f64::INFINITY,
            is_cautious: false,
            was_settled: false,
            is_linear: false,
        }
    }

    /// The model at a point; for Levenberg-Marquardt, with the residuals' curvature where that counts.
    fn model<'m>(
        &self,
        evaluator: &mut ObjectiveEvaluator,
        point: &'m Point,
        weights: &'m [f64],
        subspace: Subspace,
    ) -> Step<BoundedModel<'m, ResidualModel<'m>>> {
        let (model, held) = (linearised(point)?, evaluator.scaling.held(point));
        let known = if self.is_damped { evaluator.residual_curvature(point) } else { None };
        let hessian = match known {
            Some(curvature) => with_curvature(model, curvature, weights, &held),
            None if self.is_damped => self.curvature.hessian(model, weights, &held),
            None => None,
        };
        let quadratic = ResidualModel::new(model, weights, subspace, &held, hessian);
        Ok(BoundedModel::new(quadratic, point, &evaluator.scaling))
    }

    /// MINPACK's tests; and two that it leaves to its user, of residuals that are round-off and of columns that are zero.
    fn end(
        &self,
        evaluator: &ObjectiveEvaluator,
        current: &Point,
        columns: &[f64],
        undamped: &Suggestion,
    ) -> Option<Reason> {
        let (options, cost) = (evaluator.options, current.cost);
        if cost <= (VANISHED * options.gradient_tolerance).powi(2) * self.progress.residual_scale(current, columns) {
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
    fn backtrack(
        &mut self,
        evaluator: &mut ObjectiveEvaluator,
        current: &Point,
        mut undamped: Suggestion,
        weights: &[f64],
        mut undetermined: UndeterminedSteps,
    ) -> Step<Point> {
        let slope_along = |d: &[f64]| dot(d, &current.scaled_gradient);
        let mut slope = slope_along(&undamped.d);
        if slope >= 0.0 {
            return Err(Halt::Stop(Reason::CostAtRoundOff));
        }
        let limits = self.limits(evaluator, current);
        let mut t = (1.0 / farthest(&undamped.d, &limits)).min(1.0);
        let mut trials = Trials::default();
        while t * relative_size(current, &undamped.d) > f64::EPSILON {
            let step: Vec<f64> = undamped.d.iter().map(|d| t * d).collect();
            let Some(next) = trial(evaluator, current, &step)? else {
                trials.failed();
                t *= 0.25;
                continue;
            };
            let promise = -slope * t;
            let offer = Offer { promise, most: undamped.promise, least_gain: LEAST_GAIN };
            match self.progress.judge(evaluator, current, &next, offer, &mut trials)? {
                Acceptance::Accepted | Acceptance::AcceptedInNoise => {
                    // of the parabola that the model is along the step
                    let bend = 2.0 * (-slope - undamped.promise);
                    self.is_linear = t < 1.0 && is_kept(current.cost - next.cost, promise - 0.5 * t * t * bend);
                    let next = Accepted { point: next, limited: t < 1.0, how: How::default() };
                    return self.progress.accept(evaluator, current, next, undamped.promise);
                }
                Acceptance::Rejected => {
                    let parabola = 0.5 * promise * t / (next.cost - current.cost + promise);
                    t = if parabola.is_finite() { parabola.clamp(0.1 * t, 0.5 * t) } else { 0.1 * t };
                }
            }
            if self.leaves_undetermined(undetermined, &trials)? {
                undamped = self.model(evaluator, current, weights, Subspace::Determined)?.minimiser(0.0);
                (undetermined.goes_along, slope) = (false, slope_along(&undamped.d));
                t = (1.0 / farthest(&undamped.d, &limits)).min(1.0);
            }
        }
        Err(self.progress.without_step(evaluator, current, undamped.promise, &trials))
    }

    /// Levenberg-Marquardt: damps until the cost falls.
    fn damp<'m>(
        &mut self,
        evaluator: &mut ObjectiveEvaluator,
        current: &'m Point,
        mut bounded: BoundedModel<'m, ResidualModel<'m>>,
        weights: &'m [f64],
        mut undetermined: UndeterminedSteps,
    ) -> Step<Point> {
        let mut most = bounded.minimiser(0.0).promise;
        let mut limits = self.limits(evaluator, current);
        let mut radius = if std::mem::take(&mut self.is_linear) { f64::INFINITY } else { self.radius };
        let mut trials = Trials::default();
        loop {
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
                radius = 0.25 * length;
                continue;
            };
            let gain = current.cost - next.cost;
            let offer = Offer { promise: *promise, most, least_gain: LEAST_GAIN };
            let acceptance = self.progress.judge(evaluator, current, &next, offer, &mut trials)?;
            let taken = Taken { length, slope: dot(d, &current.scaled_gradient), gain, promise: *promise };
            let how = How { damping: Some(*damping), ..How::default() };
            if acceptance != Acceptance::Rejected {
                self.radius = taken.radius(radius, *damping == 0.0);
                self.is_linear = *damping > 0.0 && is_kept(gain, *promise);
                self.curvature.learn(current, &next, weights);
                let limited = *damping > 0.0 || trials.any_failed();
                return self.progress.accept(evaluator, current, Accepted { point: next, limited, how }, most);
            }
            if self.leaves_undetermined(undetermined, &trials)? {
                bounded = self.model(evaluator, current, weights, Subspace::Determined)?;
                (undetermined.goes_along, most) = (false, bounded.minimiser(0.0).promise);
                continue;
            }
            let promise = *promise;
            if let Some(next) = self.corrected(evaluator, current, next, weights, offer)? {
                let length = weighted_norm(weights, &difference(&next.x, &current.x));
                let is_good = current.cost - next.cost >= GOOD_GAIN * promise;
                self.radius = if is_good { 2.0 * length.max(taken.length) } else { taken.radius(radius, false) };
                return self.progress.accept(evaluator, current, Accepted { point: next, limited: true, how }, most);
            }
            limits = self.limits(evaluator, current);
            // a trial without limits that fails says nothing of the region that has proved itself
            radius = taken.radius(radius, false).min(self.radius);
        }
    }

    /// Largest step of each variable: beyond, no model is worth anything, unless it has proved to be exact.
    fn limits(&self, evaluator: &ObjectiveEvaluator, point: &Point) -> Vec<f64> {
        let limit = |(i, size): (usize, &f64)| match () {
            _ if evaluator.scaling.is_log(i) && !self.is_damped => LN_10,
            _ if evaluator.scaling.is_log(i) => LONGEST_LOG,
            _ if self.is_linear => f64::INFINITY,
            _ => LONGEST * size,
        };
        point.magnitudes.iter().enumerate().map(limit).collect()
    }

    /// After a trial that was rejected: from now on, steps keep to what is determined. Where nothing is left to gain there, some more
    /// trials are granted, and that is the end.
    fn leaves_undetermined(&mut self, undetermined: UndeterminedSteps, trials: &Trials) -> Step<bool> {
        match undetermined {
            UndeterminedSteps { goes_along: false, .. } => Ok(false),
            UndeterminedSteps { is_settled: true, .. } if trials.rejections() >= UNDETERMINED_TRIALS => {
                Err(Halt::Stop(Reason::DeterminedSmall))
            }
            UndeterminedSteps { is_settled: true, .. } => Ok(false),
            _ => {
                self.is_cautious = true;
                Ok(true)
            }
        }
    }

    /// Point back in the valley, from a rejected trial whose linearisation promises that the cost falls below that of `current` after all.
    /// Along a narrow curved valley a step that follows its tangent leaves it soon, so that a region in which each
    /// single one lowers the cost lets the search creep.
    fn corrected(
        &self,
        evaluator: &mut ObjectiveEvaluator,
        current: &Point,
        mut next: Point,
        weights: &[f64],
        offer: Offer,
    ) -> Step<Option<Point>> {
        let subspace = if self.is_cautious { Subspace::Determined } else { Subspace::All };
        for _ in 0..MOST_CORRECTIONS {
            let radius = weighted_norm(weights, &difference(&next.x, &current.x));
            let limits = self.limits(evaluator, &next);
            let mut bounded = self.model(evaluator, &next, weights, subspace)?;
            let step = bounded.within(|d| farthest(d, &limits).max(weighted_norm(weights, d) / radius));
            let promise = current.cost - (next.cost - step.promise);
            if (promise - offer.promise).abs() > SAME_PROMISE * offer.promise {
                return Ok(None);
            }
            let Some(point) = trial(evaluator, &next, &step.d)? else { return Ok(None) };
            let gain = current.cost - point.cost;
            if gain >= LEAST_GAIN * offer.promise && gain > 0.0 {
                return Ok(Some(point));
            }
            if point.cost >= next.cost {
                return Ok(None);
            }
            next = point;
        }
        Ok(None)
    }
}

/// True if a gain is what was promised, as of a quadratic function.
fn is_kept(gain: f64, promise: f64) -> bool {
    (gain - promise).abs() <= LINEAR * promise
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn linearised(point: &Point) -> Step<&Linearised> {
    point.model.as_ref().ok_or_else(|| {
        let remedy = "report this as a defect of the optimiser";
        Halt::Error(Error::invalid("least squares", "the residuals are missing", remedy))
    })
}
