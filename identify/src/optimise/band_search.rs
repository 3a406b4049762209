//! Levenberg-Marquardt for many unknowns whose Gauss-Newton steps are cheap: damped steps from the function itself.
//!
//! A step minimises ½|r + J d|² + ½ λ |d|² within the bounds, d in scaled variables. λ falls by ten where the model has proved itself, and grows where it has
//! not (Nocedal & Wright, section 10.3).

use super::bounded_step::Suggestion;
use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step};
use super::executor::SearchMethod;
use super::outcome::Reason;
use super::progress::Progress;
use super::trial::{Acceptance, Accepted, Offer, Trials, trial};

/// The first λ beside the cost.
const FIRST_DAMPING: f64 = 1e-3;
/// Damping beside λ that is as good as none.
const UNDAMPED: f64 = 1e-9;
const LEAST_GAIN: f64 = 1e-4;
/// Most rejections and failures in a step.
const MOST_TRIALS: usize = 40;

/// The search.
#[derive(Default)]
pub(crate) struct BandSearch {
    progress: Progress,
    damping: f64,
}

impl SearchMethod for BandSearch {
    fn name(&self) -> &'static str {
        "lm"
    }

    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
        let point = evaluator.evaluate_start()?;
        self.progress = Progress::new(&point, evaluator.cost_scale());
        self.damping = FIRST_DAMPING * 2.0 * point.cost;
        evaluator.record(&point, How::default())?;
        Ok(point)
    }

    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
        if current.gradient_norm == 0.0 {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        let most = evaluator.damped_step(current, UNDAMPED * self.damping)?.promise;
        if self.progress.is_finished(current, most, evaluator.options) {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        let mut trials = Trials::default();
        for _ in 0..MOST_TRIALS {
            let Suggestion { d, promise, .. } = evaluator.damped_step(current, self.damping)?;
            let next = if promise > 0.0 { trial(evaluator, current, &d)? } else { None };
            let Some(next) = next else {
                trials.failed();
                self.damping *= 10.0;
                continue;
            };
            let ratio = (current.cost - next.cost) / promise;
            let offer = Offer { promise, most, least_gain: LEAST_GAIN };
            let damping = self.damping;
            self.damping *= match ratio {
                ratio if ratio > 0.75 => 0.1,
                ratio if ratio > 0.25 => 1.0,
                // false for NaN
                ratio if ratio > LEAST_GAIN => 4.0,
                _ => 10.0,
            };
            if self.progress.judge(evaluator, current, &next, offer, &mut trials)? != Acceptance::Rejected {
                let how = How { damping: Some(damping), ..How::default() };
                let next = Accepted { point: next, limited: true, how };
                return self.progress.accept(evaluator, current, next, most);
            }
        }
        Err(self.progress.without_step(evaluator, current, most, &trials))
    }
}
