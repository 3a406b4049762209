//! Fits and estimates of the noise in turn.

use super::{
    FEWEST, LEAST_DETERMINED, MOST_ROUNDS, NoiseEstimate, PriorNoise, RoundsEnd, SETTLED, SensorNoise, UnknownDeviation,
};
use crate::linear_record::{LinearRecord, is_same};
use crate::optimise::{Flow, Iteration, Outcome, Reason};
use crate::prior::Prior;
use crate::problem::Problem;
use crate::statistics::{ROUND_OFF, Share, Shares, shares};
use crate::{Error, Result};
use crate::{Identification, Settings, identify};
use costate::shown::rounded;
use std::sync::Arc;

/// The worth of correlated samples is taken anew where it has changed by more than this part, far less than what is known of it: else rounds do not
/// settle.
const WORTH: f64 = 0.02;
/// A deviation of priors has settled when it changes by less than this part, a hundredth of what some hundred parameters leave open.
const PRIORS_SETTLED: f64 = 1e-3;
/// Deviations of priors stay within this factor of where they begin.
const FARTHEST: f64 = 1e3;

/// Identifies as [`identify`] does, and the deviations of the problem's sensors with it, and those of its priors that are estimated: the problem keeps those that were found. Costs, those of the
/// history too, are then J as in the [module](super), of σ over those of the first round; iterations and evaluations are those of all
/// rounds. A problem without such sensors is left as it is.
///
/// # Errors
/// As [`identify`]; samples that are weighted, and too few of them to tell any noise.
pub fn identify_with_noise(
    problem: &mut Problem,
    settings: &Settings,
    observer: &mut dyn FnMut(&Iteration) -> Flow,
) -> Result<Identification> {
    if problem.unknown_deviations.is_empty() && !problem.priors.iter().any(|prior| prior.is_estimated) {
        return identify(problem, settings, observer);
    }
    problem.refuse_weights()?;
    let sensors = problem.unknown_deviations.clone();
    let spreads: Vec<f64> = sensors.iter().map(|sensor| problem.spread(sensor)).collect();
    sensors.iter().zip(&spreads).try_for_each(|(sensor, spread)| problem.set_deviation(sensor, *spread))?;
    let start = problem.start.clone();
    problem.record = record(problem, settings)?;
    let found = Rounds::new(problem, settings, &sensors, &spreads).run(observer);
    problem.start.clone_from(&start);
    let record = problem.record.take();
    let found = match found {
        // the record holds nowhere near there
        Ok(found) if !is_on_record(problem, record.as_deref(), &found)? => {
            sensors.iter().zip(&spreads).try_for_each(|(sensor, spread)| problem.set_deviation(sensor, *spread))?;
            let found = Rounds::new(problem, settings, &sensors, &spreads).run(observer);
            problem.start.clone_from(&start);
            found
        }
        found => found,
    };
    let mut found = found?;
    found.parameters.iter_mut().zip(start).for_each(|(parameter, start)| parameter.start = start);
    Ok(found)
}

/// The record of residuals that are linear, for a method that goes by residuals.
fn record(problem: &Problem, settings: &Settings) -> Result<Option<Arc<LinearRecord>>> {
    if settings.method_for(problem).0.needs() != crate::optimise::Needs::Residuals {
        return Ok(None);
    }
    let record = LinearRecord::of(problem, &problem.start, &problem.free(), &settings.options.interrupt)?;
    Ok(record.map(Arc::new))
}

/// True if a run has the cost that the record tells, if there is one.
fn is_on_record(problem: &Problem, record: Option<&LinearRecord>, found: &Identification) -> Result<bool> {
    let (Some(record), false) = (record, found.outcome.reason == Reason::Interrupted) else { return Ok(true) };
    let u = found.values();
    let Some(told) = record.linearise(problem, &u)? else { return Ok(true) };
    let cost = problem.gradient()?.cost(&u)?;
    Ok(is_same(cost, told.cost()))
}

/// The account of all rounds.
struct Rounds<'a> {
    problem: &'a mut Problem,
    settings: &'a Settings,
    sensors: Vec<UnknownDeviation>,
    /// Deviations that the first round begins with.
    spreads: Vec<f64>,
    /// Number of the round, from 1.
    number: usize,
    /// All rounds before as one.
    before: Option<Identification>,
    /// Shares and deviations of the noise after those rounds.
    noise_before: Option<(Shares, Vec<f64>)>,
    /// Priors that share a deviation, with that which they begin with.
    groups: Vec<(Vec<usize>, f64)>,
}

/// Deviations for another round.
struct Next {
    sensors: Vec<f64>,
    priors: Vec<f64>,
}

impl<'a> Rounds<'a> {
    fn new(problem: &'a mut Problem, settings: &'a Settings, sensors: &[UnknownDeviation], spreads: &[f64]) -> Self {
        let (sensors, spreads) = (sensors.to_vec(), spreads.to_vec());
        let mut groups = Vec::new();
        for group in problem.estimated_priors() {
            let squares = group.iter().map(|&k| {
                let Prior { parameter, distribution, .. } = &problem.priors[k];
                let begun = problem.estimated_prior(*parameter, distribution.centre(), distribution.is_log());
                begun.distribution.deviation().powi(2)
            });
            let begun = (squares.sum::<f64>() / group.len() as f64).sqrt();
            groups.push((group, begun));
        }
        problem.unknown_deviations.iter_mut().for_each(|own| own.correlation = 1.0);
        let mut rounds =
            Rounds { problem, settings, sensors, spreads, number: 0, before: None, noise_before: None, groups };
        let begun: Vec<f64> = rounds.groups.iter().map(|group| group.1).collect();
        rounds.set_priors(&begun);
        rounds
    }

    fn set_priors(&mut self, deviations: &[f64]) {
        for ((group, _), deviation) in self.groups.iter().zip(deviations) {
            for &k in group {
                let prior = &mut self.problem.priors[k];
                prior.distribution = prior.distribution.with_deviation(*deviation);
            }
        }
    }

    /// Deviations of priors by the evidence (MacKay 1992): σ² = Σ d²/γ with distances d from the centres and γ the number of directions that the
    /// data determine.
    fn next_priors(&self, found: &Identification, shares: &Shares) -> Vec<f64> {
        let u = found.values();
        let next = |(group, begun): &(Vec<usize>, f64)| {
            let (own, determined) = (self.prior_deviation(group), determined(group, shares));
            if determined < LEAST_DETERMINED {
                return own;
            }
            let squares: f64 = group.iter().map(|&k| self.problem.priors[k].residual(&u).powi(2)).sum();
            (own * (squares / determined).sqrt()).clamp(begun / FARTHEST, begun * FARTHEST)
        };
        self.groups.iter().map(next).collect()
    }

    fn prior_deviation(&self, group: &[usize]) -> f64 {
        self.problem.priors[group[0]].distribution.deviation()
    }

    fn next(&self, found: &Identification, shares: &Shares) -> Result<Next> {
        let sensors = self.sensors.iter().zip(&shares.sensors).map(|(sensor, share)| estimate(sensor, share));
        Ok(Next { sensors: sensors.collect::<Result<Vec<f64>>>()?, priors: self.next_priors(found, shares) })
    }

    /// Takes the worth of correlated samples anew.
    fn look_at_correlation(&mut self, found: &Identification) -> Result<()> {
        if !self.sensors.iter().any(|sensor| sensor.is_correlated) {
            return Ok(());
        }
        for (k, now) in self.problem.correlations(&found.values())?.into_iter().enumerate() {
            if (now / self.sensors[k].correlation - 1.0).abs() > WORTH {
                self.sensors[k].correlation = now;
                self.problem.unknown_deviations[k].correlation = now;
            }
        }
        Ok(())
    }

    fn run(mut self, observer: &mut dyn FnMut(&Iteration) -> Flow) -> Result<Identification> {
        loop {
            self.number += 1;
            let (mut found, stopped) = match self.fit(observer) {
                Err(error) => return self.keep_before().ok_or(error),
                Ok(found) => found,
            };
            let shares = shares(self.problem, &found)?;
            if let Some(end) = self.perfect(&shares) {
                found.noise = Some(self.noise(&shares, end));
                return Ok(found);
            }
            self.look_at_correlation(&found)?;
            let next = self.next(&found, &shares)?;
            if let Some(end) = self.ended(&found, &next, stopped) {
                found.noise = Some(self.noise(&shares, end));
                return Ok(found);
            }
            let own = self.sensors.iter().map(|sensor| self.problem.deviation(sensor)).collect();
            self.set(&next.sensors)?;
            self.set_priors(&next.priors);
            self.problem.start = found.values();
            (self.before, self.noise_before) = (Some(found), Some((shares, own)));
        }
    }

    fn set(&mut self, deviations: &[f64]) -> Result<()> {
        self.sensors
            .iter()
            .zip(deviations)
            .try_for_each(|(sensor, deviation)| self.problem.set_deviation(sensor, *deviation))
    }

    /// Result of the rounds before, where this one was interrupted before it had anything.
    fn keep_before(&mut self) -> Option<Identification> {
        if !self.settings.options.interrupt.is_raised() {
            return None;
        }
        let (mut found, (shares, deviations)) = (self.before.take()?, self.noise_before.take()?);
        self.set(&deviations).ok()?;
        let sentence =
            format!("interrupted at the start of round {}, before the deviations of the noise settled", self.number);
        self.number -= 1;
        (found.outcome.converged, found.outcome.reason) = (false, Reason::Interrupted);
        found.noise = Some(self.noise(&shares, (RoundsEnd::SearchEnded, sentence)));
        Some(found)
    }

    /// Fits once, with the deviations at hand; and whether the observer wants no more.
    fn fit(&mut self, observer: &mut dyn FnMut(&Iteration) -> Flow) -> Result<(Identification, bool)> {
        let level = self.level();
        let before = self.before.take();
        let so_far = before.as_ref().map(|found| &found.outcome);
        // whether any are left has been looked at before
        let settings = so_far.map_or(self.settings.clone(), |outcome| left(self.settings, outcome));
        let mut stopped = false;
        let outcome = identify(self.problem, &settings, &mut |iteration| {
            // the start of a round is the end of the one before
            if iteration.number == 0 && so_far.is_some() {
                return Flow::Continue;
            }
            let flow = observer(&continued(iteration.clone(), so_far, level));
            stopped |= flow == Flow::Stop;
            flow
        });
        let found = match outcome {
            Ok(found) => found,
            Err(error) => {
                self.before = before;
                return Err(error);
            }
        };
        Ok((joined(before, found, level), stopped))
    }

    /// Σ N ln σ over the first round's.
    fn level(&self) -> f64 {
        let part = |(sensor, spread): (&UnknownDeviation, &f64)| {
            let samples = self.problem.samples(sensor) as f64 / sensor.correlation;
            samples * (self.problem.deviation(sensor) / (sensor.correlation.sqrt() * spread)).ln()
        };
        let prior =
            |(group, begun): &(Vec<usize>, f64)| group.len() as f64 * (self.prior_deviation(group) / begun).ln();
        let sensors: f64 = self.sensors.iter().zip(&self.spreads).map(part).sum();
        sensors + self.groups.iter().map(prior).sum::<f64>()
    }

    /// The end of the rounds if an output is reproduced to round-off.
    fn perfect(&self, shares: &Shares) -> Option<(RoundsEnd, String)> {
        let shares = &shares.sensors;
        let is_perfect =
            |share: &Share, spread: f64| share.squares <= (ROUND_OFF * spread).powi(2) * share.samples as f64;
        let place = (0..shares.len()).find(|&k| is_perfect(&shares[k], self.spreads[k]))?;
        let name = &self.sensors[place].name;
        let sentence = format!(
            "`{name}` is reproduced to round-off: it has no noise that could be estimated; give its deviation as a number, or leave it out"
        );
        Some((RoundsEnd::PerfectFit, sentence))
    }

    /// The end of the rounds, if no other one is of use; `deviations` would be those of the next.
    fn ended(&self, found: &Identification, next: &Next, stopped: bool) -> Option<(RoundsEnd, String)> {
        let change = |(sensor, next): (&UnknownDeviation, &f64)| (next / self.problem.deviation(sensor) - 1.0).abs();
        let of_sensors = self.sensors.iter().zip(&next.sensors).map(change).fold(0.0, f64::max);
        let change = |((group, _), next): (&(Vec<usize>, f64), &f64)| (next / self.prior_deviation(group) - 1.0).abs();
        let of_priors = self.groups.iter().zip(&next.priors).map(change).fold(0.0, f64::max);
        let change = of_sensors.max(of_priors);
        let is_settled = of_sensors <= SETTLED && of_priors <= PRIORS_SETTLED;
        let (number, percent) = (self.number, rounded(100.0 * change, 2));
        let outcome = &found.outcome;
        let options = &self.settings.options;
        let used_up = outcome.evaluations >= options.max_evaluations || outcome.iterations >= options.max_iterations;
        if is_settled {
            let rounds = if number == 1 { "1 round".to_string() } else { format!("{number} rounds") };
            let what = match (self.sensors.is_empty(), self.groups.is_empty()) {
                (false, true) => "the noise of each sensor is",
                (true, _) => "the deviation of priors is",
                (false, false) => "the noise of each sensor and the deviation of priors are",
            };
            return Some((RoundsEnd::Settled, format!("{what} estimated, in {rounds} of fits")));
        }
        if !outcome.converged || stopped || used_up {
            let sentence = format!(
                "the search ended in round {number}, before the deviations of the noise settled: the next would change one of them by \
                 {percent} %"
            );
            return Some((RoundsEnd::SearchEnded, sentence));
        }
        (number >= MOST_ROUNDS).then(|| {
            let sentence = format!(
                "the deviations of the noise have not settled in {number} rounds: the last would still change one of them by {percent} %; \
                 give those that are known as numbers"
            );
            (RoundsEnd::MostRounds, sentence)
        })
    }

    fn noise(&self, shares: &Shares, (end, sentence): (RoundsEnd, String)) -> NoiseEstimate {
        let sensor = |(sensor, share): (&UnknownDeviation, &Share)| {
            let deviation = self.problem.deviation(sensor) / sensor.correlation.sqrt();
            let independent = share.samples as f64 / sensor.correlation;
            // correlated samples may be worth fewer than what their fit takes
            let freedom = (independent - share.parameters).max(1.0);
            SensorNoise {
                name: sensor.name.clone(),
                unit: self.problem.first().simulation.signature().outputs[sensor.output].unit.clone(),
                deviation,
                standard_error: deviation / (2.0 * freedom).sqrt(),
                samples: share.samples,
                independent,
                parameters: share.parameters,
            }
        };
        let prior = |(group, _): &(Vec<usize>, f64)| {
            let (first, deviation) = (&self.problem.priors[group[0]], self.prior_deviation(group));
            let determined = determined(group, shares);
            let name = |k: &usize| self.problem.parameters[self.problem.priors[*k].parameter].name.clone();
            PriorNoise {
                names: group.iter().map(name).collect(),
                unit: self.problem.parameters[first.parameter].unit.clone(),
                is_log: first.distribution.is_log(),
                deviation,
                standard_error: deviation / (2.0 * determined).sqrt(),
                determined,
            }
        };
        let sensors = self.sensors.iter().zip(&shares.sensors).map(sensor).collect();
        let priors = self.groups.iter().map(prior).collect();
        NoiseEstimate { sensors, priors, rounds: self.number, end, sentence }
    }
}

/// Number of directions of a group of priors that the data determine.
fn determined(group: &[usize], shares: &Shares) -> f64 {
    group.iter().map(|&k| (1.0 - shares.priors[k]).max(0.0)).sum()
}

/// √(Σ (y - ȳ)²/(N - p)), times the root of how many samples are worth one.
fn estimate(sensor: &UnknownDeviation, share: &Share) -> Result<f64> {
    let freedom = share.samples as f64 - share.parameters;
    if freedom < FEWEST {
        let (name, samples) = (&sensor.name, share.samples);
        let problem = format!(
            "its {samples} samples determine {} parameters, and too few are left to estimate any noise",
            rounded(share.parameters, 3)
        );
        let remedy = "give the deviation as a number, take more samples, or fix parameters";
        return Err(Error::invalid(format!("the deviation of `{name}`"), problem, remedy));
    }
    Ok((share.squares / freedom * sensor.correlation).sqrt())
}

/// Settings with what the search so far has left of evaluations and iterations, from where it is: without a homotopy.
pub(crate) fn left(settings: &Settings, so_far: &Outcome) -> Settings {
    let mut settings = Settings { homotopy: None, ..settings.clone() };
    let options = &mut settings.options;
    options.max_evaluations = options.max_evaluations.saturating_sub(so_far.evaluations);
    options.max_iterations = options.max_iterations.saturating_sub(so_far.iterations);
    settings
}

/// An iteration of a round as one of all.
pub(crate) fn continued(iteration: Iteration, before: Option<&Outcome>, level: f64) -> Iteration {
    let Some(before) = before else { return Iteration { cost: iteration.cost + level, ..iteration } };
    Iteration {
        number: iteration.number + before.iterations,
        evaluations: iteration.evaluations + before.evaluations,
        failed_evaluations: iteration.failed_evaluations + before.failed_evaluations,
        hessians: iteration.hessians + before.hessians,
        hessian_products: iteration.hessian_products + before.hessian_products,
        cost: iteration.cost + level,
        ..iteration
    }
}

/// Rounds before and one more as one search; the start of a round is the end of the one before.
pub(crate) fn joined(before: Option<Identification>, found: Identification, level: f64) -> Identification {
    let so_far = before.as_ref().map(|found| &found.outcome);
    let own = found.outcome.history.into_iter().map(|iteration| continued(iteration, so_far, level));
    let mut outcome = Outcome { history: own.collect(), cost: found.outcome.cost + level, ..found.outcome };
    let Some(before) = before else { return Identification { outcome, ..found } };
    let (own, first) = (outcome.history.split_off(1.min(outcome.history.len())), before.outcome);
    outcome = Outcome {
        history: first.history.into_iter().chain(own).collect(),
        iterations: outcome.iterations + first.iterations,
        evaluations: outcome.evaluations + first.evaluations,
        failed_evaluations: outcome.failed_evaluations + first.failed_evaluations,
        hessians: outcome.hessians + first.hessians,
        hessian_products: outcome.hessian_products + first.hessian_products,
        ..outcome
    };
    let history = before.history.into_iter().chain(found.history.into_iter().skip(1)).collect();
    Identification {
        outcome,
        history,
        homotopy: before.homotopy.or(found.homotopy),
        first_failure: before.first_failure.or(found.first_failure),
        impossible: if found.impossible.is_empty() { before.impossible } else { found.impossible },
        seconds: before.seconds + found.seconds,
        ..found
    }
}
