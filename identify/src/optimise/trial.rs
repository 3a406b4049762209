//! Trials of a step that a quadratic model suggests: whether one is taken, and what the end is where none is.

use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step};
use super::outcome::Reason;
use super::progress::{Idle, Progress};

/// Number of trials in a row that fail to gain what is no more than the cost's uncertainty, after which the search ends.
const ROUND_OFF_TRIALS: usize = 3;

/// The trials of one step that came to nothing.
#[derive(Default)]
pub(crate) struct Trials {
    /// Rejections in a row.
    count: usize,
    failures: usize,
    last_failed: bool,
}

impl Trials {
    pub fn failed(&mut self) {
        (self.count, self.last_failed) = (0, true);
        self.failures += 1;
    }

    fn rejected(&mut self) {
        self.count += 1;
        self.last_failed = false;
    }

    /// Number of rejections in a row.
    pub fn rejections(&self) -> usize {
        self.count
    }

    pub fn is_new(&self) -> bool {
        self.count + self.failures == 0
    }

    pub fn any_failed(&self) -> bool {
        self.failures > 0
    }
}

/// Decrease of the cost that a model promises.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// The decrease of the cost by this step.
    pub promise: f64,
    /// The decrease by the best of steps; `inf` if the model has no minimum.
    pub most: f64,
    /// The part of the promise that a step must gain.
    pub least_gain: f64,
}

/// A step that is taken.
pub(crate) struct Accepted {
    pub point: Point,
    /// Damping, limits or failures have shortened it: it may be small for that reason alone.
    pub limited: bool,
    pub how: How,
}

/// Acceptance of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Acceptance {
    Accepted,
    /// Accepted on its gradient: the cost changes by its uncertainty only, and the ratio of gain to promise says nothing.
    AcceptedInNoise,
    Rejected,
}

/// A trial within a trust region.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    /// |D d|.
    pub length: f64,
    /// Slope of the cost along d.
    pub slope: f64,
    pub gain: f64,
    pub promise: f64,
}

impl Taken {
    /// The radius after the trial (Moré 1978); `is_inside`: the radius did not shorten it.
    pub fn radius(&self, radius: f64, is_inside: bool) -> f64 {
        let Taken { length, slope, gain, promise } = *self;
        let ratio = gain / promise;
        if ratio <= 0.25 {
            let parabola = if gain >= 0.0 { 0.5 } else { 0.5 * slope / (slope + gain) };
            parabola.clamp(0.1, 0.5) * radius.min(10.0 * length).min(length.max(f64::MIN_POSITIVE))
        } else if ratio >= 0.75 || is_inside {
            2.0 * length
        } else {
            radius
        }
    }
}

impl Progress {
    /// Judges whether the trial is a step. Where the cost changes by its uncertainty only, the gradient decides.
    pub fn judge(
        &self,
        evaluator: &ObjectiveEvaluator,
        current: &Point,
        next: &Point,
        offer: Offer,
        trials: &mut Trials,
    ) -> Step<Acceptance> {
        let noise = evaluator.options.cost_noise;
        let gain = current.cost - next.cost;
        let uncertain = noise * current.cost.abs();
        let is_noise = offer.promise <= uncertain && gain.abs() <= uncertain;
        if is_noise && next.steepness < 0.9 * current.steepness {
            return Ok(Acceptance::AcceptedInNoise);
        }
        if gain >= offer.least_gain * offer.promise && gain > 0.0 {
            return Ok(Acceptance::Accepted);
        }
        trials.rejected();
        let certain = self.is_round_off(offer.most, current, 0.0);
        let likely = self.is_round_off(offer.most, current, noise);
        if certain || (likely && trials.count >= ROUND_OFF_TRIALS) {
            return Err(Halt::Stop(Reason::CostAtRoundOff));
        }
        Ok(Acceptance::Rejected)
    }

    /// The end where no step is found, however short; `most` is what the model promises at best.
    pub fn without_step(&self, evaluator: &ObjectiveEvaluator, current: &Point, most: f64, trials: &Trials) -> Halt {
        let is_round_off = self.is_round_off(most, current, evaluator.options.cost_noise);
        Halt::Stop(match () {
            _ if trials.last_failed => Reason::BlockedByFailures,
            _ if trials.is_new() && is_round_off => Reason::StepSmall,
            _ if trials.is_new() => Reason::NoProgress,
            _ if is_round_off => Reason::CostAtRoundOff,
            _ => Reason::NoDescent,
        })
    }

    /// Takes the step to `next`; `most` is what the model promised at best.
    pub fn accept(
        &mut self,
        evaluator: &mut ObjectiveEvaluator,
        current: &Point,
        next: Accepted,
        most: f64,
    ) -> Step<Point> {
        let Accepted { point: next, limited, how } = next;
        let step: Vec<f64> = next.x.iter().zip(&current.x).map(|(a, b)| a - b).collect();
        let largest = relative_size(&next, &step);
        evaluator.record(&next, how)?;
        let options = evaluator.options;
        let idle = self.note(current, &next, options.cost_noise);
        let is_round_off = self.is_round_off(most, current, options.cost_noise);
        match idle {
            _ if largest <= options.step_tolerance && !limited => Err(Halt::Stop(Reason::StepSmall)),
            Idle::Some | Idle::Long if is_round_off => Err(Halt::Stop(Reason::CostAtRoundOff)),
            Idle::Long => Err(Halt::Stop(Reason::NoProgress)),
            _ => Ok(next),
        }
    }
}

/// Runs the function at the start. Where the gradient vanishes, second derivatives tell whether that is the end.
pub(crate) fn begin(evaluator: &mut ObjectiveEvaluator) -> Step<(Point, Progress)> {
    let point = evaluator.evaluate_start()?;
    evaluator.record(&point, How::default())?;
    if evaluator.scaling.held(&point).iter().all(|held| *held) {
        return Err(Halt::Stop(Reason::GradientSmall));
    }
    let progress = Progress::new(&point, evaluator.cost_scale());
    Ok((point, progress))
}

/// The function at x + d.
pub(crate) fn trial(evaluator: &mut ObjectiveEvaluator, from: &Point, d: &[f64]) -> Step<Option<Point>> {
    let mut x = from.x.clone();
    for (i, x) in x.iter_mut().enumerate().filter(|(i, _)| d[*i] != 0.0) {
        *x += d[i];
        evaluator.scaling.clamp(i, from.x[i], x);
    }
    evaluator.evaluate(&x)
}

/// The largest change of a variable, relative to its magnitude.
pub(crate) fn relative_size(point: &Point, d: &[f64]) -> f64 {
    let changes = d.iter().zip(&point.magnitudes).filter(|(d, _)| **d != 0.0);
    changes.map(|(d, size)| d.abs() / size).fold(0.0, f64::max)
}
