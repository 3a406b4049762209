//! The search, with an augmented Lagrangian around it where something must be met.

use super::replay::worse;
use super::{Control, ControlObjective, Replay};
use crate::error::{Error, Result};
use crate::optimise::{Flow, Iteration, Method, Options, Outcome, Reason, minimise, minimise_band, minimise_curved};
use crate::shown::shown;

/// Rounds of multipliers at most.
const MOST_ROUNDS: usize = 30;
/// A search ends where the cost falls by less than this part of it in so many iterations.
/// More of them for methods that learn curvature slowly; those that creep along gradients never settle.
const SETTLED: f64 = 1e-3;
/// So many rounds without lowering violations to this part, and they cannot be met.
const MOST_IDLE: usize = 5;
const PROGRESS: f64 = 0.9;
/// A round that lowers violations less than this makes penalties larger.
const ENOUGH: f64 = 0.25;

/// Something that must be met, at the end of a search.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Violation {
    /// What, in words.
    pub what: String,
    /// How far it is from being met, at most; in the output's unit, or for rates beside the limit.
    pub by: f64,
    /// That unit.
    pub unit: String,
    /// When, s.
    pub time: f64,
}

/// What has been found.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The last minimisation, with the history of all.
    pub outcome: Outcome,
    /// What must be met, and how far it is from that.
    pub violations: Vec<Violation>,
    /// Whether all of it is met.
    pub is_met: bool,
    /// The cost at the start, without penalties; [`Outcome::cost`] is without them, too.
    pub start_cost: f64,
    /// Rounds of multipliers; one where nothing must be met.
    pub rounds: usize,
    /// The cost's shares: goals and other terms, each with its value.
    pub shares: Vec<(String, f64)>,
    /// The run at half the step.
    pub replay: Replay,
}

impl Control {
    /// Finds the unknowns by `method`: one that works by gradients, `newton-tr` on products with the Hessian, or `lm` for sums of squares,
    /// whose steps cost O(steps). Signals are many, and some of their directions hardly matter: a search ends, too, where the cost has settled.
    /// What must be met is met to `tolerance` by multipliers, or the solution says how far off it is.
    ///
    /// # Errors
    /// As [`minimise`]; a cost that is not finite at the start; a method for few unknowns.
    pub fn minimise(
        &mut self,
        method: Method,
        tolerance: f64,
        options: &Options,
        observer: &mut dyn FnMut(&Iteration) -> Flow,
    ) -> Result<Solution> {
        let mut variables = self.variables()?;
        let window = match method {
            Method::SteepestDescent { .. } | Method::Dfp => usize::MAX,
            Method::Bfgs | Method::LBfgs { .. } => 50,
            _ => 20,
        };
        let begin: Vec<f64> = variables.iter().map(|variable| variable.start).collect();
        let start_cost = self.check_start(&begin, tolerance)?;
        let mut history: Vec<Iteration> = Vec::new();
        let (mut evaluations, mut round, mut worst) = (0, 1, f64::INFINITY);
        let (mut stopped, mut idle) = (false, 0);
        // the round that came nearest
        let mut best: Option<(Outcome, f64, Vec<Violation>)> = None;
        loop {
            let mut objective = ControlObjective::new(self)?.interrupted_by(&options.interrupt);
            let first = history.len();
            let (mut costs, mut settled) = (Vec::new(), false);
            let mut watch = |iteration: &Iteration| {
                costs.push(iteration.cost);
                let iteration = Iteration {
                    number: first + iteration.number,
                    evaluations: evaluations + iteration.evaluations,
                    ..iteration.clone()
                };
                let flow = observer(&iteration);
                stopped |= flow == Flow::Stop;
                let (least, count) = (SETTLED, window);
                let before = costs.len().checked_sub(count.saturating_add(1)).map(|k| costs[k]);
                settled = before.is_some_and(|before| before - iteration.cost <= least * before.abs());
                if settled { Flow::Stop } else { flow }
            };
            let mut outcome = match method {
                Method::LevenbergMarquardt => minimise_band(&mut objective, &variables, options, &mut watch)?,
                Method::GaussNewton => {
                    let remedy = "take lm, whose damping vanishes where that pays";
                    return Err(Error::invalid("method `gauss-newton`", "signals have no such search", remedy));
                }
                _ => match method.for_second_derivatives() {
                    Some(curved) => minimise_curved(&mut objective, &variables, curved, options, &mut watch)?,
                    None => minimise(&mut objective, &variables, method, options, &mut watch)?,
                },
            };
            drop(objective);
            if settled && !stopped && outcome.reason == Reason::Interrupted {
                (outcome.reason, outcome.converged) = (Reason::CostSettled, true);
            }
            let renumbered = outcome.history.drain(..).map(|mut iteration| {
                iteration.number += first;
                iteration.evaluations += evaluations;
                iteration
            });
            history.extend(renumbered);
            evaluations += outcome.evaluations;
            let violations = self.violations(&outcome.u)?;
            let now = violations.iter().map(|violation| violation.by).fold(0.0, worse);
            let is_met = now <= tolerance;
            idle = if now < PROGRESS * worst { 0 } else { idle + 1 };
            let last = outcome.u.clone();
            if best.as_ref().is_none_or(|(_, least, _)| now < *least || least.is_nan()) {
                best = Some((outcome, now, violations));
            }
            let is_over = is_met || round == MOST_ROUNDS || idle == MOST_IDLE;
            let ends = is_over || stopped || options.interrupt.is_raised();
            if let Some((mut outcome, _, violations)) = best.take_if(|_| ends) {
                outcome.iterations = history.len() - round;
                outcome.evaluations = evaluations;
                outcome.history = history;
                let (shares, replay) = (self.shares(&outcome.u)?, self.replay(&outcome.u)?);
                if self.has_constraints() {
                    outcome.cost = shares.iter().map(|share| share.1).sum();
                }
                if !is_met && is_over {
                    (outcome.reason, outcome.converged) = (Reason::ConstraintsViolated, false);
                }
                return Ok(Solution { outcome, violations, is_met, start_cost, rounds: round, shares, replay });
            }
            let factor = if now <= ENOUGH * worst { 1.0 } else { 10.0 };
            self.update_multipliers(&last, factor)?;
            variables.iter_mut().zip(&last).for_each(|(variable, u)| variable.start = *u);
            (worst, round) = (worst.min(now), round + 1);
        }
    }

    /// A cost that is no number at the start is told by its term; so is a limit on rates that the start breaks.
    /// Returns the cost there.
    fn check_start(&self, start: &[f64], tolerance: f64) -> Result<f64> {
        let shares = self.shares(start)?;
        if let Some((name, value)) = shares.iter().find(|share| !share.1.is_finite()) {
            let remedy = "start where the goals are defined, or correct the term";
            return Err(Error::invalid(format!("cost term \"{name}\""), format!("it is {value} at the start"), remedy));
        }
        let (_, w) = self.expand(start);
        for placed in self.signals.iter().filter(|placed| placed.signal.rate.is_finite()) {
            if let Some((i, rate)) = self.fastest(placed, &w).filter(|(_, rate)| *rate > 1.0 + 2.0 * tolerance) {
                let (t, limit) = (self.simulation.grid().times()[i], placed.signal.rate);
                let problem =
                    format!("it changes by {:.6} a second at t = {} s, more than {limit}", rate * limit, shown(t));
                let remedy = "start with a slower signal (start = VALUE in a problem file), or allow a larger rate";
                return Err(Error::invalid(format!("the signal of input `{}`", placed.signal.input), problem, remedy));
            }
        }
        Ok(shares.iter().map(|share| share.1).sum())
    }

    /// The time at which a signal changes fastest, and its rate beside the limit.
    fn fastest(&self, placed: &super::Placed, w: &[f64]) -> Option<(usize, f64)> {
        let (times, inputs) = (self.simulation.grid().times(), self.simulation.signature().inputs.len());
        let at = |i: usize| w[i * inputs + placed.input];
        let rate = |i: usize| ((at(i) - at(i - 1)) / (times[i] - times[i - 1]) / placed.signal.rate).abs();
        (1..times.len()).map(|i| (i, rate(i))).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn has_constraints(&self) -> bool {
        self.cost.goals.as_ref().is_some_and(|goals| goals.has_constraints())
            || self.signals.iter().any(|placed| placed.signal.rate.is_finite())
    }

    /// What must be met, and how far it is from that.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn violations(&self, unknowns: &[f64]) -> Result<Vec<Violation>> {
        if !self.has_constraints() {
            return Ok(Vec::new());
        }
        let (u, w) = self.expand(unknowns);
        let run = self.simulation_of(unknowns, 1)?.run(&u)?;
        let mut violations = Vec::new();
        if let Some(goals) = &self.cost.goals {
            for (goal, by, time) in goals.violations(run.times(), &|k| run.output(k)) {
                let signature = self.simulation.signature();
                let unit = signature.output_index(&goal.output).map(|k| signature.outputs[k].unit.clone());
                violations.push(Violation { what: goal.in_words(), by, unit: unit.unwrap_or_default(), time });
            }
        }
        for placed in self.signals.iter().filter(|placed| placed.signal.rate.is_finite()) {
            if let Some((i, rate)) = self.fastest(placed, &w) {
                let unit = &self.simulation.signature().inputs[placed.input].unit;
                let what = format!("{} changes by no more than {} {unit}/s", placed.signal.input, placed.signal.rate);
                let (by, unit) = ((rate - 1.0).max(0.0), "of the limit".to_string());
                violations.push(Violation { what, by, unit, time: run.times()[i] });
            }
        }
        Ok(violations)
    }

    fn update_multipliers(&mut self, unknowns: &[f64], factor: f64) -> Result<()> {
        let (u, w) = self.expand(unknowns);
        let run = self.simulation_of(unknowns, 1)?.run(&u)?;
        if let Some(goals) = &mut self.cost.goals {
            goals.update_multipliers(&|k| run.output(k), factor);
        }
        let (times, inputs) = (self.simulation.grid().times(), self.simulation.signature().inputs.len());
        for placed in self.signals.iter_mut().filter(|placed| placed.signal.rate.is_finite()) {
            for i in 1..times.len() {
                let change = w[i * inputs + placed.input] - w[(i - 1) * inputs + placed.input];
                let shifted = change / (times[i] - times[i - 1]) / placed.signal.rate + placed.shifts[i];
                placed.shifts[i] = (shifted - shifted.clamp(-1.0, 1.0)) / factor;
            }
            placed.penalty *= factor;
        }
        Ok(())
    }

    /// The cost's terms, each with its value, as they are without multipliers.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn shares(&self, unknowns: &[f64]) -> Result<Vec<(String, f64)>> {
        let (u, _) = self.expand(unknowns);
        let simulation = self.simulation_of(unknowns, 1)?;
        let run = simulation.run(&u)?;
        let mut shares = Vec::new();
        for goal in self.cost.goals.iter().flat_map(|goals| goals.each()) {
            let cost = goal.cost_of(run.times(), &|k| run.output(k));
            shares.extend(goal.goals().map(|goal| (goal.in_words(), cost)));
        }
        for (name, cost) in &self.cost.others {
            shares.push((name.clone(), crate::Gradient::new(&simulation, &**cost)?.cost(&u)?));
        }
        let mut objective = ControlObjective::new(self)?;
        objective.set(unknowns);
        shares.extend(objective.own_shares());
        Ok(shares)
    }
}
