//! The search, with an augmented Lagrangian around it where something must be met.

use super::replay::worse;
use super::rounds::Rounds;
use super::{Control, ControlObjective, Placed, Replay};
use crate::optimise::{Flow, Iteration, Method, Needs, Options, Outcome, Reason};
use crate::{Error, Result};
use costate::cost::Goal;
use costate::shown::shown;

/// Something that must be met, at the end of a search.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// Description of the requirement, in words.
    pub what: String,
    /// Largest distance from meeting the requirement; in the output's unit, or for rates beside the limit.
    pub by: f64,
    /// Unit of `by`.
    pub unit: String,
    /// Time of that distance, s.
    pub time: f64,
}

/// Solution of a control problem.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Solution {
    /// The last minimisation, with the history of all.
    pub outcome: Outcome,
    /// Requirements, each with its distance from being met.
    pub violations: Vec<Violation>,
    /// True if all requirements are met.
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
    /// [`Options::max_iterations`] and [`Options::max_evaluations`] bound all rounds of multipliers together. What must be met is met to
    /// `tolerance` by multipliers, or the solution says how far off it is.
    ///
    /// # Errors
    /// As [`minimise`](crate::optimise::minimise); a cost that is not finite at the start; a method for few unknowns.
    pub fn minimise(
        &mut self,
        method: Method,
        tolerance: f64,
        options: &Options,
        observer: &mut dyn FnMut(&Iteration) -> Flow,
    ) -> Result<Solution> {
        if self.information.is_some() && method.needs() != Needs::Gradient {
            let problem = "it takes sums of squares or second derivatives; the information of a run has its gradient";
            return Err(Error::invalid(format!("method `{method}`"), problem, "take bfgs or l-bfgs"));
        }
        let mut variables = self.variables()?;
        let begin: Vec<f64> = variables.iter().map(|variable| variable.start).collect();
        let start_cost = self.check_start(&begin, tolerance)?;
        let mut rounds = Rounds::new(method, options, observer, (start_cost, self.has_constraints()));
        loop {
            let outcome = rounds.search(self, &variables)?;
            let last = outcome.u.clone();
            let violations = self.violations(&last)?;
            let now = violations.iter().map(|violation| violation.by).fold(0.0, worse);
            let is_met = now <= tolerance;
            let is_over = rounds.judge(outcome, now, violations) || is_met;
            let used_up = rounds.used_up();
            let ends = is_over || rounds.stopped || used_up.is_some() || options.interrupt.is_raised();
            if let Some((mut outcome, violations)) = ends.then(|| rounds.end()).flatten() {
                let (shares, replay) = (self.shares(&outcome.u)?, self.replay(&outcome.u)?);
                if self.has_constraints() {
                    outcome.cost = shares.iter().map(|share| share.1).sum();
                }
                if !is_met {
                    let cut_short = used_up.unwrap_or(Reason::Interrupted);
                    outcome.reason = if is_over { Reason::ConstraintsViolated } else { cut_short };
                    outcome.converged = false;
                }
                let rounds = rounds.round;
                return Ok(Solution { outcome, violations, is_met, start_cost, rounds, shares, replay });
            }
            self.update_multipliers(&last, rounds.factor)?;
            variables.iter_mut().zip(&last).for_each(|(variable, u)| variable.start = *u);
        }
    }

    /// The cost at the start, without penalties.
    pub(super) fn cost_at_start(&self) -> Result<f64> {
        let start: Vec<f64> = self.variables()?.iter().map(|variable| variable.start).collect();
        Ok(self.shares(&start)?.iter().map(|share| share.1).sum())
    }

    /// A cost that is no number at the start is reported by its term; so is a limit on rates that the start breaks.
    /// Returns the cost there.
    fn check_start(&self, start: &[f64], tolerance: f64) -> Result<f64> {
        let shares = self.shares(start)?;
        if let (Some(sought), Some((_, value))) = (&self.information, shares.last())
            && value.is_infinite()
        {
            let names = sought.parameters.iter().map(|own| own.name.as_str()).collect::<Vec<_>>().join(", ");
            let problem = format!("the run at the start does not determine all of {names}: errors are infinite there");
            let remedy = "start with signals that move more, measure more, or fix what cannot be identified";
            return Err(Error::invalid("the information that is sought", problem, remedy));
        }
        if let Some((name, value)) = shares.iter().find(|share| !share.1.is_finite()) {
            let remedy = "start where the goals are defined, or correct the term";
            return Err(Error::invalid(format!("cost term \"{name}\""), format!("it is {value} at the start"), remedy));
        }
        for placed in self.signals.iter().filter(|placed| placed.signal.rate.is_finite()) {
            if let Some((i, rate)) = self.fastest(placed, start).filter(|(_, rate)| *rate > 1.0 + 2.0 * tolerance) {
                let (t, limit) = (self.simulation.grid().times()[i], placed.signal.rate);
                let problem =
                    format!("it changes by {:.6} a second at t = {} s, more than {limit}", rate * limit, shown(t));
                let remedy = "start with a slower signal (start = VALUE in a problem file), or allow a larger rate";
                return Err(Error::invalid(placed.signal.what(), problem, remedy));
            }
        }
        Ok(shares.iter().map(|share| share.1).sum())
    }

    /// Rates of change of a signal in each step, beside the limit.
    fn rates(&self, placed: &Placed, unknowns: &[f64]) -> Vec<f64> {
        let (u, w) = self.expand(unknowns);
        let (times, inputs) = (self.simulation.grid().times(), self.simulation.signature().inputs.len());
        let at = |i: usize| placed.value(i, &u, &w, inputs);
        (1..times.len()).map(|i| (at(i) - at(i - 1)) / (times[i] - times[i - 1]) / placed.signal.rate).collect()
    }

    /// The time at which a signal changes fastest, and its rate beside the limit.
    fn fastest(&self, placed: &Placed, unknowns: &[f64]) -> Option<(usize, f64)> {
        let rates = self.rates(placed, unknowns).into_iter().enumerate();
        rates.map(|(i, rate)| (i + 1, rate.abs())).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    pub(super) fn has_constraints(&self) -> bool {
        self.cost.goals.as_ref().is_some_and(|goals| goals.has_constraints())
            || self.signals.iter().any(|placed| placed.signal.rate.is_finite())
    }

    /// Requirements, each with its distance from being met.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn violations(&self, unknowns: &[f64]) -> Result<Vec<Violation>> {
        if !self.has_constraints() {
            return Ok(Vec::new());
        }
        let (u, _) = self.expand(unknowns);
        let run = self.simulation_of(unknowns, 1)?.run(&u)?;
        let goals = self.cost.goals.iter();
        let found = goals.flat_map(|goals| goals.violations(run.times(), &|k| run.output(k)));
        let mut violations: Vec<Violation> = found.map(|found| self.violation(found)).collect();
        for placed in self.signals.iter().filter(|placed| placed.signal.rate.is_finite()) {
            if let Some((i, rate)) = self.fastest(placed, unknowns) {
                let unit = &placed.source.quantity(self.simulation.signature()).unit;
                let what = format!("{} changes by no more than {} {unit}/s", placed.signal.input, placed.signal.rate);
                let (by, unit) = ((rate - 1.0).max(0.0), "of the limit".to_string());
                violations.push(Violation { what, by, unit, time: run.times()[i] });
            }
        }
        Ok(violations)
    }

    fn violation(&self, (goal, by, time): (&Goal, f64, f64)) -> Violation {
        let signature = self.simulation.signature();
        let unit = signature.output_index(&goal.output).map(|k| signature.outputs[k].unit.clone());
        Violation { what: goal.in_words(), by, unit: unit.unwrap_or_default(), time }
    }

    /// Soft limits, each with the largest distance by which the run goes beyond it.
    ///
    /// # Errors
    /// A simulation that fails.
    pub fn beyond_limits(&self, unknowns: &[f64]) -> Result<Vec<Violation>> {
        let Some(goals) = &self.cost.goals else { return Ok(Vec::new()) };
        let (u, _) = self.expand(unknowns);
        let run = self.simulation_of(unknowns, 1)?.run(&u)?;
        let found = goals.beyond_limits(run.times(), &|k| run.output(k));
        Ok(found.into_iter().map(|found| self.violation(found)).collect())
    }

    fn update_multipliers(&mut self, unknowns: &[f64], factor: f64) -> Result<()> {
        let (u, _) = self.expand(unknowns);
        let run = self.simulation_of(unknowns, 1)?.run(&u)?;
        let limited = |placed: &Placed| placed.signal.rate.is_finite();
        let rates: Vec<Vec<f64>> =
            self.signals.iter().filter(|placed| limited(placed)).map(|placed| self.rates(placed, unknowns)).collect();
        if let Some(goals) = &mut self.cost.goals {
            goals.update_multipliers(&|k| run.output(k), factor);
        }
        for (placed, rates) in self.signals.iter_mut().filter(|placed| limited(placed)).zip(rates) {
            for (shift, rate) in placed.shifts[1..].iter_mut().zip(rates) {
                let shifted = rate + *shift;
                *shift = (shifted - shifted.clamp(-1.0, 1.0)) / factor;
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
            shares.push((name.clone(), costate::sensitivity::Gradient::new(&simulation, &**cost)?.cost(&u)?));
        }
        let mut objective = ControlObjective::new(self)?;
        objective.set(unknowns);
        shares.extend(objective.own_shares());
        if let Some(sought) = &self.information {
            shares.push((sought.in_words(), objective.information()?));
        }
        Ok(shares)
    }
}
