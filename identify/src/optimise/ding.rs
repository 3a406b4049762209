//! Ding 2012's trust-region method of Levenberg-Marquardt kind with exact second derivatives: (G + σ I) d = -g.
//!
//! The paper leaves three numbers open. c1 = 1/4 and c2 = 3/4 are those of the method that it cites (Fletcher 1987, Practical
//! Methods of Optimization, section 5.2), whose factors 4 and 1/2 it has as well. σ starts at |g| in the scaled variables, so
//! that the first step is no longer than 1 where G is positive: no variable changes by more than its size. The paper has no
//! bounds; here d minimises the damped model over the steps that they permit, by an active set, and positive definiteness is
//! asked of G over the variables that no bound holds. Where changes of the cost are round-off, the ratio says nothing and σ
//! stays.

use super::bounded_step::BoundedModel;
use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step};
use super::executor::SearchMethod;
use super::hessian_model::{Hessian, HessianModel, factor};
use super::method::Method;
use super::outcome::{Curvature, Reason};
use super::progress::Progress;
use super::trial::{Acceptance, Accepted, Offer, Trials, begin, relative_size, trial};

/// Ding's c1: below, σ grows.
const POOR_RATIO: f64 = 0.25;
/// Ding's c2: above, σ falls.
const GOOD_RATIO: f64 = 0.75;
const GROWTH: f64 = 4.0;
const DECAY: f64 = 0.5;

/// The search.
#[derive(Default)]
pub(crate) struct Ding {
    progress: Progress,
    /// `None` before the first step.
    sigma: Option<f64>,
    /// The last Hessian.
    last: Option<Hessian>,
}

impl SearchMethod for Ding {
    fn name(&self) -> &'static str {
        Method::Ding.name()
    }

    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
        let (point, progress) = begin(evaluator)?;
        self.progress = progress;
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
        if let Some(last) = &self.last {
            last.stop_at_minimum(evaluator, &self.progress, current)?;
        }
        let hessian = self.last.insert(Hessian::at(evaluator, current)?);
        if self.progress.is_gradient_small(current, evaluator.options.gradient_tolerance) {
            match hessian.curvature {
                Curvature::Positive => hessian.stop_at_minimum(evaluator, &self.progress, current)?,
                Curvature::Negative => return Err(Halt::Stop(Reason::SaddlePoint)),
                _ => return Err(Halt::Stop(Reason::GradientSmall)),
            }
        }
        let most = hessian.most(evaluator, current);
        let mut sigma = self.sigma.unwrap_or(current.gradient_norm);
        let held = evaluator.scaling.held(current);
        while factor(&hessian.matrix, &held, sigma).is_none() {
            sigma = GROWTH * sigma.max(f64::MIN_POSITIVE);
        }
        let quadratic = HessianModel::new(&hessian.matrix, &current.scaled_gradient);
        let mut bounded = BoundedModel::new(quadratic, current, &evaluator.scaling);
        let mut trials = Trials::default();
        loop {
            let suggestion = bounded.minimiser(sigma);
            if relative_size(current, &suggestion.d) <= f64::EPSILON {
                return Err(self.progress.without_step(evaluator, current, most, &trials));
            }
            let promise = suggestion.promise;
            // round-off, or an active set that is wrong
            if promise <= 0.0 {
                sigma *= GROWTH;
                continue;
            }
            let Some(next) = trial(evaluator, current, &suggestion.d)? else {
                trials.failed();
                sigma *= GROWTH;
                continue;
            };
            let offer = Offer { promise, most, least_gain: 0.0 };
            let acceptance = self.progress.judge(evaluator, current, &next, offer, &mut trials)?;
            let how = How { damping: Some(sigma), curvature: Some(hessian.curvature) };
            let ratio = (current.cost - next.cost) / promise;
            match acceptance {
                Acceptance::AcceptedInNoise => {}
                _ if ratio < POOR_RATIO => sigma *= GROWTH,
                _ if ratio > GOOD_RATIO => sigma *= DECAY,
                _ => {}
            }
            if acceptance != Acceptance::Rejected {
                self.sigma = Some(sigma);
                let next = Accepted { point: next, limited: !trials.is_new(), how };
                return self.progress.accept(evaluator, current, next, most);
            }
        }
    }
}
