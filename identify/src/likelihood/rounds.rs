//! Fits and estimates of the noise in turn.

use super::{FEWEST, MOST_ROUNDS, NoiseEstimate, RoundsEnd, SETTLED, SensorNoise, UnknownDeviation};
use crate::optimise::{Flow, Iteration, Outcome, Reason};
use crate::problem::Problem;
use crate::statistics::{ROUND_OFF, Share, shares};
use crate::{Error, Result};
use crate::{Identification, Settings, identify};
use costate::shown::rounded;

/// Identifies as [`identify`] does, and the deviations of the problem's sensors with it: the problem keeps those that were found. Costs, those of the
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
    if problem.unknown_deviations.is_empty() {
        return identify(problem, settings, observer);
    }
    problem.refuse_weights()?;
    let sensors = problem.unknown_deviations.clone();
    let spreads: Vec<f64> = sensors.iter().map(|sensor| problem.spread(sensor)).collect();
    sensors.iter().zip(&spreads).try_for_each(|(sensor, spread)| problem.set_deviation(sensor, *spread))?;
    let start = problem.start.clone();
    let found =
        Rounds { problem, settings, sensors, spreads, number: 0, before: None, noise_before: None }.run(observer);
    problem.start.clone_from(&start);
    let mut found = found?;
    found.parameters.iter_mut().zip(start).for_each(|(parameter, start)| parameter.start = start);
    Ok(found)
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
    noise_before: Option<(Vec<Share>, Vec<f64>)>,
}

impl Rounds<'_> {
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
            let deviations = self.sensors.iter().zip(&shares).map(|(sensor, share)| estimate(sensor, share));
            let deviations = deviations.collect::<Result<Vec<f64>>>()?;
            if let Some(end) = self.ended(&found, &deviations, stopped) {
                found.noise = Some(self.noise(&shares, end));
                return Ok(found);
            }
            let own = self.sensors.iter().map(|sensor| self.problem.deviation(sensor)).collect();
            self.set(&deviations)?;
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
            self.problem.samples(sensor) as f64 * (self.problem.deviation(sensor) / spread).ln()
        };
        self.sensors.iter().zip(&self.spreads).map(part).sum()
    }

    /// The end of the rounds if an output is reproduced to round-off.
    fn perfect(&self, shares: &[Share]) -> Option<(RoundsEnd, String)> {
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
    fn ended(&self, found: &Identification, deviations: &[f64], stopped: bool) -> Option<(RoundsEnd, String)> {
        let change = |(sensor, next): (&UnknownDeviation, &f64)| (next / self.problem.deviation(sensor) - 1.0).abs();
        let change = self.sensors.iter().zip(deviations).map(change).fold(0.0, f64::max);
        let (number, percent) = (self.number, rounded(100.0 * change, 2));
        let outcome = &found.outcome;
        let options = &self.settings.options;
        let used_up = outcome.evaluations >= options.max_evaluations || outcome.iterations >= options.max_iterations;
        if change <= SETTLED {
            let rounds = if number == 1 { "1 round".to_string() } else { format!("{number} rounds") };
            return Some((RoundsEnd::Settled, format!("the noise of each sensor is estimated, in {rounds} of fits")));
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

    fn noise(&self, shares: &[Share], (end, sentence): (RoundsEnd, String)) -> NoiseEstimate {
        let sensor = |(sensor, share): (&UnknownDeviation, &Share)| {
            let deviation = self.problem.deviation(sensor);
            let freedom = share.samples as f64 - share.parameters;
            SensorNoise {
                name: sensor.name.clone(),
                unit: self.problem.first().simulation.signature().outputs[sensor.output].unit.clone(),
                deviation,
                standard_error: deviation / (2.0 * freedom).sqrt(),
                samples: share.samples,
                parameters: share.parameters,
            }
        };
        let sensors = self.sensors.iter().zip(shares).map(sensor).collect();
        NoiseEstimate { sensors, rounds: self.number, end, sentence }
    }
}

/// √(Σ (y - ȳ)²/(N - p)).
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
    Ok((share.squares / freedom).sqrt())
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
