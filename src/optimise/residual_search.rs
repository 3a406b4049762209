//! Levenberg-Marquardt and Gauss-Newton: one argmin solver for the methods that see residuals.
//!
//! Both go by the step that the linearised residuals suggest within the bounds. Gauss-Newton takes it as a direction and
//! backtracks along it. Levenberg-Marquardt damps it until it is no longer than the region where the linearisation has
//! proved itself (Moré 1978): the radius grows and shrinks with the ratio of what was gained to what was promised.

use super::bounded_step::{BoundedModel, Suggestion, weighted_norm};
use super::evaluation::{Evaluator, Halt, Point, SearchState, Step, conclude, evaluator, norm};
use super::method::LeastSquaresMethod;
use super::outcome::{Options, Reason};
use super::progress::Progress;
use super::variable::Scaling;
use crate::error::Error;
use crate::least_squares::Linearised;
use argmin::core::{Error as BoxedError, KV, Problem, Solver};

/// Steps are accepted that gain this part of what is promised.
const LEAST_GAIN: f64 = 1e-4;
/// On a logarithmic scale, a variable weighs at least this part of the heaviest. From 200 starts around the engine mount's
/// optimum, 97 % lead there with 0.1 and 93.5 % with 0, where single variables run off by decades.
const LEAST_LOG_WEIGHT: f64 = 0.1;
/// So many trials in a row that fail to gain what is no more than the cost's uncertainty, and that is the end.
const ROUND_OFF_TRIALS: usize = 3;

/// The solver. `current` is set from `init` on.
pub(crate) struct ResidualSearch {
    method: LeastSquaresMethod,
    progress: Progress,
    current: Option<Point>,
    /// D: the largest norm that each column of the scaled Jacobian has had.
    weights: Vec<f64>,
    /// The region |D d| <= radius in which the linearisation is trusted.
    radius: f64,
}

/// What became of a trial.
enum Verdict {
    Accepted,
    Rejected,
}

impl ResidualSearch {
    pub fn new(method: LeastSquaresMethod) -> Self {
        let (weights, radius) = (Vec::new(), f64::INFINITY);
        ResidualSearch { method, progress: Progress::default(), current: None, weights, radius }
    }

    /// Runs the function at the start.
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
        self.weights = vec![0.0; point.x.len()];
        evaluator.record(&point, None)?;
        if point.gradient_norm == 0.0 {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        Ok(point)
    }

    /// One step from `current`.
    fn step(&mut self, evaluator: &mut Evaluator, current: &Point) -> Step<Point> {
        let model = linearised(current)?;
        let weights = self.weigh(model, &evaluator.scaling);
        let mut bounded = BoundedModel::new(current, model, &weights, &evaluator.scaling);
        let undamped = bounded.minimiser(0.0);
        self.is_finished(current, &undamped, evaluator.options)?;
        match self.method {
            LeastSquaresMethod::GaussNewton => self.backtrack(evaluator, current, &undamped),
            LeastSquaresMethod::LevenbergMarquardt => self.damp(evaluator, current, &mut bounded, &undamped),
        }
    }

    /// Column norms of the scaled Jacobian, never decreasing (Moré 1978), which makes the method blind to units. Variables on
    /// a logarithmic scale have none, and a change by a factor e is a large one even if it hardly shows in the residuals:
    /// these count at least [`LEAST_LOG_WEIGHT`] of the heaviest. A column that has always been zero gets the largest.
    fn weigh(&mut self, model: &Linearised, scaling: &Scaling) -> Vec<f64> {
        let norms = (0..self.weights.len()).map(|k| norm(model.factor().column(k).iter().copied()));
        for (weight, norm) in self.weights.iter_mut().zip(norms) {
            *weight = weight.max(norm);
        }
        let largest = |of_log: bool| {
            let counted = self.weights.iter().enumerate().filter(|(i, _)| !of_log || scaling.is_log(*i));
            counted.map(|(_, weight)| *weight).fold(0.0, f64::max)
        };
        let (of_all, of_log) = (largest(false), largest(true));
        let weight = |(i, weight): (usize, &f64)| match *weight {
            _ if of_all == 0.0 => 1.0,
            weight if scaling.is_log(i) && of_log > 0.0 => weight.max(LEAST_LOG_WEIGHT * of_log),
            0.0 => of_all,
            weight => weight,
        };
        self.weights.iter().enumerate().map(weight).collect()
    }

    /// The gradient has vanished, and what the linearisation still promises is little as well: measured by the cost here, or by
    /// the cost at the start if the residuals vanish at the minimum.
    fn is_finished(&self, current: &Point, undamped: &Suggestion, options: &Options) -> Step<()> {
        let tolerance = options.gradient_tolerance;
        let little = (options.cost_noise * current.cost).max(tolerance * tolerance * self.progress.start_cost());
        if self.progress.is_gradient_small(current, tolerance) && undamped.promise <= little {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        Ok(())
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
            match self.judge(evaluator, current, &next, promise, undamped.promise, &mut trials)? {
                Verdict::Accepted => return self.accept(evaluator, current, next, t < 1.0, None),
                Verdict::Rejected => {
                    let parabola = 0.5 * promise * t / (next.cost - current.cost + promise);
                    t = if parabola.is_finite() { parabola.clamp(0.1 * t, 0.5 * t) } else { 0.1 * t };
                }
            }
        }
        Err(self.without_step(evaluator, current, undamped, &trials))
    }

    /// Levenberg-Marquardt: damps until the cost falls.
    fn damp(
        &mut self,
        evaluator: &mut Evaluator,
        current: &Point,
        bounded: &mut BoundedModel,
        undamped: &Suggestion,
    ) -> Step<Point> {
        let limits: Vec<f64> =
            current.x.iter().enumerate().map(|(i, &x)| evaluator.scaling.trusted_step(i, x)).collect();
        let weights = bounded.weights();
        let mut trials = Trials::default();
        loop {
            let radius = self.radius;
            let suggestion = bounded.within(|d| {
                let farthest = d.iter().zip(&limits).map(|(d, limit)| d.abs() / limit).fold(0.0, f64::max);
                farthest.max(weighted_norm(weights, d) / radius)
            });
            let Suggestion { d, damping, promise } = &suggestion;
            if *promise <= 0.0 && trials.is_new() {
                return Err(Halt::Stop(Reason::CostAtRoundOff));
            }
            if relative_size(current, d) <= f64::EPSILON {
                return Err(self.without_step(evaluator, current, undamped, &trials));
            }
            let length = weighted_norm(weights, d);
            let Some(next) = trial(evaluator, current, d)? else {
                trials.failed();
                self.radius = 0.25 * length;
                continue;
            };
            let gain = current.cost - next.cost;
            let ratio = gain / promise;
            let verdict = self.judge(evaluator, current, &next, *promise, undamped.promise, &mut trials)?;
            self.adapt(ratio, length, *damping, current, d, gain);
            if let Verdict::Accepted = verdict {
                let limited = *damping > 0.0 || trials.any_failed();
                return self.accept(evaluator, current, next, limited, Some(*damping));
            }
        }
    }

    /// The radius after a step of this length with this ratio of gain to promise (Moré 1978).
    fn adapt(&mut self, ratio: f64, length: f64, damping: f64, current: &Point, d: &[f64], gain: f64) {
        if ratio <= 0.25 {
            let slope: f64 = d.iter().zip(&current.scaled_gradient).map(|(d, g)| d * g).sum();
            let parabola = if gain >= 0.0 { 0.5 } else { 0.5 * slope / (slope + gain) };
            self.radius = parabola.clamp(0.1, 0.5) * self.radius.min(10.0 * length).min(length.max(f64::MIN_POSITIVE));
        } else if ratio >= 0.75 || damping == 0.0 {
            self.radius = 2.0 * length;
        }
    }

    /// Is the trial a step? Where the cost changes by its uncertainty only, the gradient decides.
    fn judge(
        &self,
        evaluator: &Evaluator,
        current: &Point,
        next: &Point,
        promise: f64,
        most: f64,
        trials: &mut Trials,
    ) -> Step<Verdict> {
        let noise = evaluator.options.cost_noise;
        let gain = current.cost - next.cost;
        let uncertain = noise * current.cost;
        let is_noise = promise <= uncertain && gain.abs() <= uncertain;
        if gain >= LEAST_GAIN * promise && gain > 0.0 || is_noise && next.gradient_norm < 0.9 * current.gradient_norm {
            return Ok(Verdict::Accepted);
        }
        trials.rejected();
        let certain = self.progress.is_round_off(most, current.cost, 0.0);
        let likely = self.progress.is_round_off(most, current.cost, noise);
        if certain || (likely && trials.count >= ROUND_OFF_TRIALS) {
            return Err(Halt::Stop(Reason::CostAtRoundOff));
        }
        Ok(Verdict::Rejected)
    }

    /// The end where no step is found, however short.
    fn without_step(&self, evaluator: &Evaluator, current: &Point, undamped: &Suggestion, trials: &Trials) -> Halt {
        let noise = evaluator.options.cost_noise;
        Halt::Stop(match () {
            _ if trials.is_new() => Reason::StepSmall,
            _ if trials.last_failed => Reason::BlockedByFailures,
            _ if self.progress.is_round_off(undamped.promise, current.cost, noise) => Reason::CostAtRoundOff,
            _ => Reason::NoDescent,
        })
    }

    /// Takes the step to `next`. A step that damping, limits or failures have shortened may be small for that reason alone.
    fn accept(
        &mut self,
        evaluator: &mut Evaluator,
        current: &Point,
        next: Point,
        limited: bool,
        damping: Option<f64>,
    ) -> Step<Point> {
        let step: Vec<f64> = next.x.iter().zip(&current.x).map(|(a, b)| a - b).collect();
        let largest = relative_size(&next, &step);
        evaluator.record(&next, damping)?;
        let options = evaluator.options;
        let idle = self.progress.is_idle_after(&next, options.cost_noise);
        if next.gradient_norm == 0.0 {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        if largest <= options.step_tolerance && !limited {
            return Err(Halt::Stop(Reason::StepSmall));
        }
        if idle {
            return Err(Halt::Stop(Reason::CostAtRoundOff));
        }
        Ok(next)
    }
}

/// The trials of one step that came to nothing.
#[derive(Default)]
struct Trials {
    /// Rejections in a row.
    count: usize,
    failures: usize,
    last_failed: bool,
}

impl Trials {
    fn failed(&mut self) {
        (self.count, self.last_failed) = (0, true);
        self.failures += 1;
    }

    fn rejected(&mut self) {
        self.count += 1;
        self.last_failed = false;
    }

    fn is_new(&self) -> bool {
        self.count + self.failures == 0
    }

    fn any_failed(&self) -> bool {
        self.failures > 0
    }
}

/// The function at x + d.
fn trial(evaluator: &mut Evaluator, from: &Point, d: &[f64]) -> Step<Option<Point>> {
    let mut x = from.x.clone();
    for (i, x) in x.iter_mut().enumerate().filter(|(i, _)| d[*i] != 0.0) {
        *x += d[i];
        evaluator.scaling.clamp(i, from.x[i], x);
    }
    evaluator.evaluate(&x)
}

/// The largest change of a variable, relative to its value or nominal value.
fn relative_size(point: &Point, d: &[f64]) -> f64 {
    d.iter().zip(&point.x).map(|(d, x)| d.abs() / x.abs().max(1.0)).fold(0.0, f64::max)
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

impl<'a> Solver<&'a mut Evaluator<'_>, SearchState> for ResidualSearch {
    fn name(&self) -> &str {
        self.method.name()
    }

    fn init(
        &mut self,
        problem: &mut Problem<&'a mut Evaluator<'_>>,
        state: SearchState,
    ) -> Result<(SearchState, Option<KV>), BoxedError> {
        let evaluator = evaluator(problem)?;
        let end = self.begin(evaluator);
        let (next, state) = conclude(evaluator, state, end)?;
        self.current = next;
        Ok((state, None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<&'a mut Evaluator<'_>>,
        state: SearchState,
    ) -> Result<(SearchState, Option<KV>), BoxedError> {
        let evaluator = evaluator(problem)?;
        let current = self.current.take().ok_or_else(|| BoxedError::msg("a step was asked for before the start"))?;
        let end = self.step(evaluator, &current);
        let (next, state) = conclude(evaluator, state, end)?;
        self.current = next;
        Ok((state, None))
    }
}
