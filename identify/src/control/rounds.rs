//! Searches one after another, with multipliers between them.

use super::{Control, ControlObjective, Violation};
use crate::optimise::{Flow, Iteration, Method, Options, Outcome, Reason, Variable, minimise};
use crate::{Error, Result};

/// Rounds of multipliers at most.
const MOST_ROUNDS: usize = 30;
/// A search ends where the cost falls by less than this part of it in so many iterations.
/// More of them for methods that learn curvature slowly; those that creep along gradients never settle.
const SETTLED: f64 = 1e-3;
/// A cost has not settled where a change of all unknowns by a tenth of their size in all would still take away as much, to first order, as
/// the geometric mean of what it is and what it was at the start. Not asked where something must be met: penalties make gradients large
/// across what they keep to.
const STEEP: f64 = 10.0;
/// Most rounds in a row without lowering violations to this part: after them, they cannot be met.
const MOST_IDLE: usize = 5;
const PROGRESS: f64 = 0.9;
/// A round that lowers violations less than this makes penalties larger.
const ENOUGH: f64 = 0.25;

/// The account of all rounds.
pub(super) struct Rounds<'a> {
    method: Method,
    options: &'a Options,
    observer: &'a mut dyn FnMut(&Iteration) -> Flow,
    /// The cost that all rounds began with, and whether something must be met.
    start: (f64, bool),
    history: Vec<Iteration>,
    evaluations: usize,
    pub round: usize,
    /// The least violation so far, and the rounds since it fell.
    worst: f64,
    idle: usize,
    /// True if the observer wants no more.
    pub stopped: bool,
    /// Growth factor of penalties.
    pub factor: f64,
    /// The round that came nearest.
    best: Option<(Outcome, f64, Vec<Violation>)>,
}

impl<'a> Rounds<'a> {
    pub fn new(
        method: Method,
        options: &'a Options,
        observer: &'a mut dyn FnMut(&Iteration) -> Flow,
        start: (f64, bool),
    ) -> Self {
        Rounds {
            method,
            options,
            observer,
            start,
            history: Vec::new(),
            evaluations: 0,
            round: 0,
            worst: f64::INFINITY,
            idle: 0,
            stopped: false,
            factor: 1.0,
            best: None,
        }
    }

    /// One more search, with the multipliers as they are.
    pub fn search(&mut self, control: &Control, variables: &[Variable]) -> Result<Outcome> {
        let mut objective = ControlObjective::new(control)?.interrupted_by(&self.options.interrupt);
        let window = match self.method {
            Method::SteepestDescent { .. } | Method::Dfp => usize::MAX,
            Method::Bfgs | Method::LBfgs { .. } => 50,
            _ => 20,
        };
        let (first, evaluations) = (self.history.len(), self.evaluations);
        let renumbered = |iteration: &Iteration| Iteration {
            number: first + iteration.number,
            evaluations: evaluations + iteration.evaluations,
            ..iteration.clone()
        };
        let left = Options {
            max_iterations: self.options.max_iterations.saturating_sub(self.iterations()),
            max_evaluations: self.options.max_evaluations.saturating_sub(self.evaluations),
            ..self.options.clone()
        };
        let (mut costs, mut settled) = (Vec::new(), false);
        let mut watch = |iteration: &Iteration| {
            costs.push(iteration.cost);
            let flow = (self.observer)(&renumbered(iteration));
            self.stopped |= flow == Flow::Stop;
            let before = costs.len().checked_sub(window.saturating_add(1)).map(|k: usize| costs[k]);
            settled = before.is_some_and(|before| before - iteration.cost <= SETTLED * before.abs());
            if settled { Flow::Stop } else { flow }
        };
        if self.method == Method::GaussNewton {
            let remedy = "take lm, whose damping vanishes where that pays";
            return Err(Error::invalid("method `gauss-newton`", "signals have no such search", remedy));
        }
        let mut outcome = minimise(&mut objective, variables, self.method, &left, &mut watch)?;
        if settled && !self.stopped && outcome.reason == Reason::Interrupted {
            let (start, constrained) = self.start;
            let steep = outcome.gradient_norm > STEEP * (outcome.cost * start).abs().sqrt();
            outcome.reason = if steep && !constrained { Reason::CostStalled } else { Reason::CostSettled };
            outcome.converged = outcome.reason.was_successful();
        }
        self.history.extend(outcome.history.drain(..).map(|iteration| renumbered(&iteration)));
        self.evaluations += outcome.evaluations;
        self.round += 1;
        Ok(outcome)
    }

    fn iterations(&self) -> usize {
        self.history.len() - self.round
    }

    /// Limit that has been reached by all rounds together.
    pub fn used_up(&self) -> Option<Reason> {
        match self.options {
            options if self.iterations() >= options.max_iterations => Some(Reason::MaxIterations),
            options if self.evaluations >= options.max_evaluations => Some(Reason::MaxEvaluations),
            _ => None,
        }
    }

    /// Takes note of what a round has come to; says whether another one is in vain.
    pub fn judge(&mut self, outcome: Outcome, now: f64, violations: Vec<Violation>) -> bool {
        self.idle = if now < PROGRESS * self.worst { 0 } else { self.idle + 1 };
        self.factor = if now <= ENOUGH * self.worst { 1.0 } else { 10.0 };
        self.worst = self.worst.min(now);
        if self.best.as_ref().is_none_or(|(_, least, _)| now < *least || least.is_nan()) {
            self.best = Some((outcome, now, violations));
        }
        self.round == MOST_ROUNDS || self.idle == MOST_IDLE
    }

    /// The round that came nearest, with the history of all.
    pub fn end(&mut self) -> Option<(Outcome, Vec<Violation>)> {
        let (mut outcome, _, violations) = self.best.take()?;
        outcome.iterations = self.iterations();
        outcome.evaluations = self.evaluations;
        outcome.history = std::mem::take(&mut self.history);
        Some((outcome, violations))
    }
}
