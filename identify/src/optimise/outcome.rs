//! Options, history and outcome of a minimisation.

use super::trace::Trace;
use super::variable::VariableStatus;
use crate::{Error, Means, Remedy, Result};
use costate::Interrupt;
use std::fmt;

/// Tolerances and limits of a search: when to stop. Lengths and gradients are those of the scaled variables, where the nominal value counts as 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Stop after so many runs of the function, failed ones included; Hessians and products with them do not count.
    pub max_evaluations: usize,
    /// Stop after so many steps.
    pub max_iterations: usize,
    /// Stop as soon as the cost is at or below this. `-inf`, the default, never stops: a cost may be negative.
    pub cost_target: f64,
    /// Tolerance of the gradient. For least squares, MINPACK's gtol: stop when the cosine of the angle between the residuals and every column of the Jacobian
    /// (of variables that no bound holds) is at most this. Otherwise: stop when the norm of the gradient (without components held
    /// by bounds) has fallen by this factor since the start, and what a quadratic model still suggests is negligible.
    pub gradient_tolerance: f64,
    /// MINPACK's ftol, for least squares: stop when the last step lowered the cost by no more than this part of it, and the model
    /// without damping promises no more than that, either.
    pub cost_tolerance: f64,
    /// MINPACK's xtol: stop when a step, not cut short by bounds, damping or failed evaluations, changes no variable by more than
    /// this, relative to its value or its nominal value, whichever is larger (for least squares, its value or how far it has come), and
    /// no more is to be gained than round-off.
    pub step_tolerance: f64,
    /// Relative uncertainty of the cost: smaller changes are round-off, and there the gradient decides.
    pub cost_noise: f64,
    /// Stops at once, with the best so far: within a step, too, and within a run of a function that looks at the same flag.
    pub interrupt: Interrupt,
    /// Sees every run of the function.
    pub trace: Trace,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_evaluations: 2000,
            max_iterations: 1000,
            cost_target: f64::NEG_INFINITY,
            gradient_tolerance: 1e-12,
            cost_tolerance: 1e-24,
            step_tolerance: 1e-15,
            cost_noise: 1e-10,
            interrupt: Interrupt::default(),
            trace: Trace::default(),
        }
    }
}

impl Options {
    /// The defaults of searches for signals, whose many unknowns take more iterations, and which run in rounds and stages that share them.
    pub fn of_control() -> Self {
        Options { max_evaluations: 20_000, max_iterations: 10_000, ..Options::default() }
    }

    /// Checks the options.
    pub(crate) fn validate(&self) -> Result<()> {
        let tolerances = [
            ("gradient_tolerance", self.gradient_tolerance),
            ("cost_tolerance", self.cost_tolerance),
            ("step_tolerance", self.step_tolerance),
            ("cost_noise", self.cost_noise),
        ];
        for (name, value) in tolerances {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::invalid(
                    format!("option `{name}`"),
                    format!("it is {value}"),
                    "give 0 <= value < 1",
                ));
            }
        }
        if self.cost_target.is_nan() {
            return Err(Error::invalid("option `cost_target`", "it is NaN", "give a number, or leave it out"));
        }
        if self.max_evaluations == 0 {
            return Err(Error::invalid(
                "option `max_evaluations`",
                "it is 0",
                "allow at least the evaluation at the start",
            ));
        }
        Ok(())
    }
}

/// The answer of an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here and keep the best so far.
    Stop,
}

/// One accepted step, or the start (number 0).
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// Number of the step; 0 is the start.
    pub number: usize,
    /// Runs of the function so far, failed ones included.
    pub evaluations: usize,
    /// Failed runs so far.
    pub failed_evaluations: usize,
    /// The cost here.
    pub cost: f64,
    /// Physical values.
    pub u: Vec<f64>,
    /// Gradient with respect to the physical values.
    pub gradient: Vec<f64>,
    /// Norm of the gradient with respect to the scaled variables, without components held by bounds.
    pub gradient_norm: f64,
    /// Hessians so far, see [`Outcome::hessians`].
    pub hessians: usize,
    /// Products with the Hessian so far.
    pub hessian_products: usize,
    /// Damping of the step that led here: the λ of Levenberg-Marquardt (0 for an undamped step), the σ of Ding's method,
    /// 1/radius of `newton-tr`. `None` at the start and for methods without damping.
    pub damping: Option<f64>,
    /// The Hessian's curvature where the step that led here began, for methods that use it; `None` at the start.
    pub curvature: Option<Curvature>,
    /// Length of the step in the scaled variables.
    pub step_length: f64,
    /// Outer iteration, with constraints. The cost is then that without the constraints' terms; the gradient has them.
    pub outer: Option<OuterIteration>,
    /// Share of the pull towards the record, with a homotopy: 0 in the last fit. The cost is that of the model that is pulled. `None` in plain fits.
    pub homotopy: Option<f64>,
}

/// An outer iteration of a constrained minimisation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OuterIteration {
    /// Number of the outer iteration, from 1.
    pub number: usize,
    /// The largest violation of a constraint, relative to its size.
    pub violation: f64,
    /// The penalty μ.
    pub penalty: f64,
}

/// The curvature of the cost at a point, over the variables that no bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Curvature {
    /// The Hessian is positive definite: a quadratic model with a minimum. Where products are used in its place, along every
    /// direction that was tried.
    Positive,
    /// Without curvature along some direction, up to round-off, and nowhere negative.
    Singular,
    /// Negative along some direction: a step follows it, the Hessian is never inverted there.
    Negative,
    /// The Hessian could not be computed; the step went by the gradient.
    Unknown,
}

impl Curvature {
    /// Name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Curvature::Positive => "positive",
            Curvature::Singular => "singular",
            Curvature::Negative => "negative",
            Curvature::Unknown => "unknown",
        }
    }
}

/// Reason why a minimisation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Reason {
    /// The cost reached the target.
    CostBelowTarget,
    /// The gradient vanished: a minimum.
    GradientSmall,
    /// Least squares: no variable can lower the cost, to first order (MINPACK's gtol).
    AngleSmall,
    /// Least squares: along all that the residuals determine, nothing is left to gain; along the rest, which their derivatives show by
    /// round-off only, steps gain nothing.
    DeterminedSmall,
    /// Least squares: neither the last step nor the model gains anything that counts (MINPACK's ftol).
    ReductionSmall,
    /// The steps vanished (MINPACK's xtol).
    StepSmall,
    /// Least squares: the residuals vanished, up to round-off.
    ResidualsVanished,
    /// The cost changes by round-off only: as good a minimum as the arithmetic gives.
    CostAtRoundOff,
    /// The cost still falls, but by no more than is worth it: see [`Control::minimise`](crate::control::Control::minimise).
    CostSettled,
    /// The cost hardly falls any more, though its gradient is large: no minimum.
    CostStalled,
    /// A solution was lost on smaller steps: see [`refine`](crate::control::refine).
    SolutionLost,
    /// The solver of another library says that it has converged, by its own test.
    SolverConverged,
    /// The solver of another library cannot go on.
    SolverStopped,
    /// The same where variables are at bounds, which it does not know.
    SolverAtBounds,
    /// The constraints are met, and the cost cannot fall along them.
    ConstrainedMinimum,
    /// No point was found that meets the constraints.
    ConstraintsViolated,
    /// All iterations that were allowed have been made.
    MaxIterations,
    /// All evaluations that were allowed have been made.
    MaxEvaluations,
    /// The observer asked to stop.
    Interrupted,
    /// The cost does not fall along its own negative gradient.
    NoDescent,
    /// Steps bring nothing of what the model promises.
    NoProgress,
    /// Least squares: no variable that may change has any influence on the residuals.
    NoInfluence,
    /// Every way down leads to failing evaluations.
    BlockedByFailures,
    /// The gradient vanished where the curvature is negative: no minimum.
    SaddlePoint,
    /// A free parameter of an identification had no influence where the search began, although it has elsewhere, and stayed there, or
    /// nothing is explained.
    FlatStart,
    /// No output of an identification is reproduced better than by its mean, although its residuals are no noise.
    NothingExplained,
    /// Of an identification: no fit to this record says anything, because it does not vary, or values that stand for missing ones outweigh all others.
    RecordUnusable,
    /// Of an identification by a cost that is no sum of squares: it is another one with steps half as long.
    OfSteps,
    /// Of an identification by a cost that is no sum of squares: a parameter has gone so far that the cost hardly knows it any more.
    RanOff,
    /// Of an identification by a cost that is no sum of squares: no free parameter has any influence on it.
    CostKnowsNothing,
    /// Of an identification from measured modes: modes that are measured apart have one frequency, where nothing leads them apart.
    ModesMeet,
}

impl Reason {
    /// True if the result is a minimum, as far as the tolerances and the arithmetic tell.
    pub fn was_successful(&self) -> bool {
        matches!(
            self,
            Reason::CostBelowTarget
                | Reason::GradientSmall
                | Reason::AngleSmall
                | Reason::DeterminedSmall
                | Reason::ReductionSmall
                | Reason::StepSmall
                | Reason::ResidualsVanished
                | Reason::CostAtRoundOff
                | Reason::CostSettled
                | Reason::SolverConverged
                | Reason::ConstrainedMinimum
        )
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.remedy().fmt(f)
    }
}

impl Reason {
    /// The reason in words, with the means that they recommend.
    pub fn remedy(self) -> Remedy {
        let means = match self {
            Reason::SolutionLost => Some(Means::Step),
            Reason::NothingExplained => Some(Means::Starts),
            _ => None,
        };
        Remedy { words: self.words().to_string(), means }
    }

    fn words(self) -> &'static str {
        match self {
            Reason::CostBelowTarget => "the cost reached its target",
            Reason::GradientSmall => "the gradient fell below its tolerance",
            Reason::AngleSmall => "no parameter changes the sum of squares to first order, to the tolerance (gtol)",
            Reason::DeterminedSmall => {
                "the cost is least along all combinations of parameters that the residuals determine; along the others steps gain nothing"
            }
            Reason::ReductionSmall => {
                "the actual and the predicted relative reduction of the cost fell below their tolerance (ftol)"
            }
            Reason::StepSmall => "the relative steps fell below their tolerance (xtol)",
            Reason::ResidualsVanished => "the residuals have vanished, up to round-off",
            Reason::CostAtRoundOff => "the cost can decrease no further: its changes are at round-off level",
            Reason::CostSettled => {
                "the cost has settled: it fell by less than 0.1 % in the last 20 iterations (50 of bfgs and l-bfgs); a lower one may \
             exist, which another method or start may find"
            }
            Reason::CostStalled => {
                "the cost hardly falls any more (by less than 0.1 % in the last 20 iterations, 50 of bfgs and l-bfgs), but its gradient is large: no \
                 minimum; another method (lm, where the cost is a sum of squares), a start nearby or an effort (effort = WEIGHT) may help"
            }
            Reason::SolutionLost => {
                "the solution was lost on smaller steps: what was found on larger ones lived on the error of the steps; another method (lm), an \
                 effort (effort = WEIGHT) or smaller steps from the start on may find a gentler one"
            }
            Reason::SolverConverged => "argmin's solver has converged, by its own test",
            Reason::SolverStopped => {
                "argmin's solver cannot go on from here, and says not that it has converged: another method (lm, bfgs) may"
            }
            Reason::SolverAtBounds => {
                "argmin's solver knows no bounds, and cannot go on along one that a parameter has come to: take a method that does (lm, bfgs), keep what is \
                 at its bound fixed (free = false), or widen its bounds"
            }
            Reason::ConstrainedMinimum => {
                "the constraints are met, and the cost is least among the points that meet them"
            }
            Reason::ConstraintsViolated => {
                "the constraints cannot be met from this start: they contradict each other, the bounds or the model; loosen \
                 them, or start elsewhere"
            }
            Reason::MaxIterations => "the allowed number of iterations was used up; the best so far is kept",
            Reason::MaxEvaluations => "the allowed number of evaluations was used up; the best so far is kept",
            Reason::Interrupted => "interrupted; the best so far is kept",
            Reason::NoDescent => {
                "the cost does not decrease by what its gradient promises, however short the step: it is too inaccurate there (tighten the \
                 simulation's tolerance, or take smaller steps), or the gradient is not its own"
            }
            Reason::NoProgress => {
                "no progress: the derivatives promise a decrease of the cost that steps do not bring, as where a simulation is unstable or \
                 chaotic, and numbers cannot resolve the steps: check the model, shorten the simulated time, or start elsewhere"
            }
            Reason::NoInfluence => {
                "nothing that may change has any influence on the residuals here: start elsewhere, or compare something else"
            }
            Reason::BlockedByFailures => {
                "every step that would lower the cost runs into failed evaluations, however short; bounds that exclude \
                 the failing region, or a smaller time step, may help"
            }
            Reason::FlatStart => {
                "the search began where the cost is flat, and ended there: what looks like a minimum says nothing"
            }
            Reason::NothingExplained => {
                "the cost is flat here, but the fit explains nothing: start elsewhere, or search from many starts"
            }
            Reason::RecordUnusable => "the cost is least here, but a fit to this record says nothing",
            Reason::OfSteps => "the cost is least here, but it is that of the steps",
            Reason::RanOff => "the cost falls as far as anybody looks, ever more slowly",
            Reason::CostKnowsNothing => "no free parameter changes the cost",
            Reason::ModesMeet => "measured modes have met",
            Reason::SaddlePoint => {
                "the gradient vanished, but the Hessian is not positive: a saddle or a maximum, not a minimum; start elsewhere"
            }
        }
    }
}

/// The result of a minimisation: the best point that was evaluated, and how it was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// Physical values of the best point: the lowest cost of all evaluations; among accepted steps whose costs differ by
    /// round-off only (`Options::cost_noise`), the smallest gradient.
    pub u: Vec<f64>,
    /// The cost there.
    pub cost: f64,
    /// The gradient there, with respect to the physical values.
    pub gradient: Vec<f64>,
    /// Norm of the gradient with respect to the scaled variables, without components held by bounds.
    pub gradient_norm: f64,
    /// True if the result is a minimum as far as tolerances and arithmetic tell; same as `reason.was_successful()`.
    pub converged: bool,
    /// Reason why the search ended; displays as a sentence.
    pub reason: Reason,
    /// Steps taken.
    pub iterations: usize,
    /// Runs of the function, failed ones included.
    pub evaluations: usize,
    /// Failed runs: failed simulations, costs or gradients that are not finite.
    pub failed_evaluations: usize,
    /// Hessians that were computed besides the evaluations.
    pub hessians: usize,
    /// Products of the Hessian with a vector that were computed besides the evaluations.
    pub hessian_products: usize,
    /// Status of each variable at the end.
    pub statuses: Vec<VariableStatus>,
    /// The start and every accepted step. If the run was cut within a step that had already found better, that last.
    pub history: Vec<Iteration>,
}

impl Outcome {
    /// True if the result is a minimum as far as tolerances and arithmetic tell.
    pub fn was_successful(&self) -> bool {
        self.reason.was_successful()
    }
}
