//! Data that are drawn from those at hand.

use crate::error::Locate;
use crate::modal::ModeResult;
use crate::prior::{Distribution, Prior};
use crate::problem::{Experiment, Problem};
use crate::response::{MeasuredResponse, ResponseResult};
use crate::statistics::block_length;
use crate::{Error, Means, Remedy, Result};
use costate::cost::{LeastSquares, Loss};
use costate::random::SplitMix64;
use costate::shown::rounded;
use std::str::FromStr;

/// A record that blocks divide into fewer parts has too few of them.
const FEWEST_BLOCKS: f64 = 8.0;

/// Unit of resampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Experiments.
    Experiments,
    /// Blocks of residuals of each experiment.
    Blocks,
}

impl FromStr for Over {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "experiments" => Ok(Over::Experiments),
            "blocks" => Ok(Over::Blocks),
            _ => Err(Error::unknown("kind of bootstrap", name, "", ["experiments", "blocks"])),
        }
    }
}

/// Blocks of the residuals of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// Name of the experiment.
    pub experiment: String,
    /// Length of the blocks, s.
    pub seconds: f64,
    /// Length of the blocks in samples of the output that has most of them.
    pub samples: usize,
    /// Part of the record.
    part: f64,
}

/// Residuals of an output, of which its resampled data are made.
struct Errors {
    /// Places of its own samples among all.
    own: Vec<usize>,
    /// Residuals to be drawn: what was measured minus the fit, centred and inflated, at these samples; NaN where a sample is missing.
    drawn: Vec<f64>,
    /// The fit minus what was measured, at these.
    back: Vec<f64>,
}

/// Draws problems with other data.
pub(super) struct Draw<'a> {
    problem: &'a Problem,
    /// The optimum.
    pub u: Vec<f64>,
    over: Over,
    /// Residuals of each experiment, for each reference.
    errors: Vec<Vec<Errors>>,
    pub blocks: Vec<Blocks>,
    /// Measured modes, with those of the fit.
    modes: Vec<ModeResult>,
    /// Measured frequency responses, likewise.
    responses: Vec<ResponseResult>,
}

/// Duration of a record, s, as if it went on from its end to its beginning.
fn circular_duration(experiment: &Experiment, cost: &LeastSquares) -> f64 {
    let (times, last) = (experiment.simulation.grid().times(), cost.weights().len() - 1);
    let span = times[cost.places().of(last)] - times[0];
    span * (last + 1) as f64 / last.max(1) as f64
}

/// Checks that blocks can be drawn, of this length in s if one is given.
pub(super) fn check_blocks(problem: &Problem, length: Option<f64>, what: String) -> Result<()> {
    if let Some(length) = length
        && !(length.is_finite() && length > 0.0)
    {
        return Err(Error::invalid(what, format!("blocks of {length} s have no length"), "give a number of seconds"));
    }
    for experiment in &problem.experiments {
        let Some(cost) = experiment.cost.as_least_squares() else { continue };
        if let Some(reference) = cost.references().iter().find(|reference| cost.spectrum(reference).is_some()) {
            let name = &experiment.simulation.signature().outputs[reference.output].name;
            let count = problem.experiments.len();
            let problem = format!("`{name}` is compared as a spectrum, whose lines do not follow one another in time");
            let remedy = match count {
                1 => {
                    let words =
                        "with one experiment there is nothing else to draw: compare it in time, or look at profiles";
                    Remedy::by(words, Means::Profiles)
                }
                _ => Remedy::by("compare it in time, or draw experiments", Means::Experiments),
            };
            return Err(Error::invalid(what, problem, remedy));
        }
        let duration = circular_duration(experiment, cost);
        if let Some(length) = length.filter(|length| 2.0 * length > duration) {
            let problem = format!(
                "blocks of {} s are more than half of the record of {} s of experiment `{}`",
                rounded(length, 4),
                rounded(duration, 4),
                experiment.name
            );
            return Err(Error::invalid(
                what,
                problem,
                Remedy::by("give shorter blocks, or leave their length out", Means::BlockLength),
            ));
        }
    }
    Ok(())
}

/// Warning where records have too few blocks.
pub(super) fn warning(blocks: &[Blocks]) -> Option<String> {
    let longest = blocks.iter().max_by(|a, b| a.part.total_cmp(&b.part))?;
    let count = longest.part.recip();
    (count < FEWEST_BLOCKS).then(|| {
        format!(
            "residuals are alike for so long that the record of `{}` is {} blocks alone: the bootstrap's standard errors are rough, and \
             rather too small",
            longest.experiment,
            rounded(count, 2)
        )
    })
}

/// m with Σ ψ(x - m) = 0, where ψ is the pull of a loss: the mean for squares.
fn centre(values: &[f64], loss: &Loss) -> f64 {
    let mut centre = 0.0;
    for _ in 0..100 {
        let weights = values.iter().map(|x| loss.weight(x - centre));
        let (sum, total) = weights.zip(values).fold((0.0, 0.0), |(sum, total), (w, x)| (sum + w * x, total + w));
        let next = sum / total;
        let is_there = (next - centre).abs() <= 1e-12 * next.abs();
        centre = next;
        if is_there {
            break;
        }
    }
    centre
}

impl<'a> Draw<'a> {
    /// Around the fit `u`; lengths of blocks in s, or by the rule, and the factor of residuals.
    ///
    /// # Errors
    /// If the fit cannot be simulated.
    pub fn new(problem: &'a Problem, u: Vec<f64>, over: Over, (length, factor): (Option<f64>, f64)) -> Result<Self> {
        let modes = ModeResult::all(problem, &u)?;
        let responses = ResponseResult::all(problem, &u)?;
        let mut draw = Draw { problem, u, over, errors: Vec::new(), blocks: Vec::new(), modes, responses };
        if over == Over::Blocks {
            for experiment in &problem.experiments {
                let Some(cost) = experiment.cost.as_least_squares() else { continue };
                let errors = draw.errors(experiment, cost, factor)?;
                draw.blocks.push(blocks(experiment, cost, &errors, length));
                draw.errors.push(errors);
            }
        }
        Ok(draw)
    }

    /// Residuals of one experiment.
    fn errors(&self, experiment: &Experiment, cost: &LeastSquares, factor: f64) -> Result<Vec<Errors>> {
        let signature = experiment.simulation.signature();
        let run = experiment.simulation.run(&experiment.own(&self.u));
        let run = run.map_err(|error| error.in_experiment(&experiment.name))?;
        let of_reference = |(k, reference): (usize, &costate::cost::Reference)| {
            let y = experiment.shown(&run, &self.u, reference.output);
            let (output, own) = (cost.quantity(reference, signature), cost.own_samples(k).collect::<Vec<usize>>());
            let difference = |i: &usize| output.difference(y[cost.places().of(*i)], reference.values[*i]);
            let back: Vec<f64> = own.iter().map(difference).collect();
            let there: Vec<f64> = back.iter().filter(|r| !r.is_nan()).map(|r| -r / reference.deviation).collect();
            let centre = centre(&there, &cost.losses()[k]) * reference.deviation;
            let drawn = back.iter().map(|back| factor * (-back - centre)).collect();
            Errors { own, drawn, back }
        };
        Ok(cost.references().iter().enumerate().map(of_reference).collect())
    }

    /// The problem with the next data.
    ///
    /// # Errors
    /// None that data of a fit could have.
    pub fn problem(&self, random: &mut SplitMix64) -> Result<Problem> {
        let given = self.problem;
        let mut priors: Vec<Prior> = given.priors.iter().map(|prior| self.about_optimum(prior, random)).collect();
        let modes = self.modes.iter().map(|mode| mode.drawn(random.normal())).collect();
        let drawn = |own: &ResponseResult| own.measured.drawn(&own.found, &mut || random.normal());
        let responses: Vec<MeasuredResponse> = self.responses.iter().map(drawn).collect();
        let experiments = match self.over {
            Over::Blocks => self.with_drawn_residuals(random),
            Over::Experiments => self.drawn_experiments(&mut priors, random)?,
        };
        let mut problem = Problem {
            name: given.name.clone(),
            experiments,
            validation: Vec::new(),
            parameters: given.parameters.clone(),
            start: self.u.clone(),
            optimum: None,
            constraints: Vec::new(),
            unknown_deviations: Vec::new(),
            priors,
            modes,
            responses,
            record: None,
        };
        problem.hold_what_is_not_fitted();
        Ok(problem)
    }

    /// A prior whose centre is drawn from it as if the optimum were the truth.
    fn about_optimum(&self, prior: &Prior, random: &mut SplitMix64) -> Prior {
        let (value, z) = (self.u[prior.parameter], random.normal());
        let distribution = match prior.distribution {
            Distribution::Normal { deviation, .. } => Distribution::Normal { mean: value + z * deviation, deviation },
            Distribution::LogNormal { factor, .. } => {
                Distribution::LogNormal { median: value * factor.powf(z), factor }
            }
        };
        Prior { distribution, ..*prior }
    }

    fn with_drawn_residuals(&self, random: &mut SplitMix64) -> Vec<Experiment> {
        let costs = self.problem.least_squares().unwrap_or_default();
        let all = self.problem.experiments.iter().zip(costs).zip(self.errors.iter().zip(&self.blocks));
        let one = |((experiment, cost), (errors, blocks)): ((&Experiment, &LeastSquares), (&Vec<Errors>, &Blocks))| {
            let count = (1.0 / blocks.part).ceil() as usize;
            let starts: Vec<f64> = (0..count).map(|_| random.unit()).collect();
            let moves: Vec<Vec<f64>> =
                errors.iter().map(|errors| errors.moves(cost.weights().len(), blocks.part, &starts)).collect();
            let by = |k: usize, place: usize| cost.places().sample(place).map_or(0.0, |sample| moves[k][sample]);
            copy(experiment, cost.clone().with_references_moved(&by))
        };
        all.map(one).collect()
    }

    fn drawn_experiments(&self, priors: &mut [Prior], random: &mut SplitMix64) -> Result<Vec<Experiment>> {
        let given = &self.problem.experiments;
        let mut counts = vec![0usize; given.len()];
        (1..given.len()).for_each(|_| counts[(random.unit() * given.len() as f64) as usize] += 1);
        let weight = |count: usize| count as f64 * given.len() as f64 / (given.len() - 1) as f64;
        for prior in priors {
            // what is known of one experiment comes with it, as often as that
            let mut owners = given.iter().zip(&counts).filter(|(own, _)| own.places.contains(&prior.parameter));
            if let (Some((_, count)), None) = (owners.next(), owners.next()) {
                prior.distribution = narrowed(prior.distribution, weight((*count).max(1)));
            }
        }
        let costs = self.problem.least_squares().unwrap_or_default();
        let drawn = given.iter().zip(costs).zip(counts).filter(|(_, count)| *count > 0);
        drawn.map(|((own, cost), count)| Ok(copy(own, cost.clone().weighted(weight(count))?))).collect()
    }
}

/// Distribution that is so many times as important.
fn narrowed(distribution: Distribution, weight: f64) -> Distribution {
    match distribution {
        Distribution::Normal { mean, deviation } => Distribution::Normal { mean, deviation: deviation / weight.sqrt() },
        Distribution::LogNormal { median, factor } => {
            Distribution::LogNormal { median, factor: factor.powf(weight.sqrt().recip()) }
        }
    }
}

fn copy(experiment: &Experiment, cost: LeastSquares) -> Experiment {
    let Experiment { name, simulation, places, .. } = experiment;
    Experiment { name: name.clone(), simulation: simulation.clone(), cost: Box::new(cost), places: places.clone() }
}

/// Blocks of an experiment: of so many s, or by the rule, the longest of its outputs.
fn blocks(experiment: &Experiment, cost: &LeastSquares, errors: &[Errors], length: Option<f64>) -> Blocks {
    let duration = circular_duration(experiment, cost);
    let of_output = |errors: &Errors| {
        let there: Vec<f64> = errors.drawn.iter().copied().filter(|x| !x.is_nan()).collect();
        block_length(&there) as f64 / errors.own.len() as f64
    };
    let most = errors.iter().map(|errors| errors.own.len()).max().unwrap_or(1) as f64;
    let chosen = || errors.iter().map(of_output).fold(0.0, f64::max);
    let part = length.map_or_else(chosen, |length| length / duration).max(1.0 / most);
    let samples = (part * most).round().max(1.0);
    // whole samples
    let part = samples / most;
    Blocks { experiment: experiment.name.clone(), seconds: part * duration, samples: samples as usize, part }
}

impl Errors {
    /// Additions to what was measured at all samples, so that it becomes the fit with drawn errors: blocks are this part of the record,
    /// and begin at these parts of it. Every residual that is there is as likely as any other, however many are missing before it.
    fn moves(&self, samples: usize, part: f64, starts: &[f64]) -> Vec<f64> {
        let count = self.own.len();
        let mut moves = vec![0.0; samples];
        let there: Vec<usize> = (0..count).filter(|place| !self.drawn[*place].is_nan()).collect();
        // of whole numbers, round-off makes less than these
        let place = |x: f64| ((x * count as f64 + 1e-9) as usize).min(count);
        let first = |start: f64| {
            let place = place(start) % count;
            there.binary_search(&place).unwrap_or_else(|before| {
                // among those that are missing it is anywhere, and so anywhere among those that are there
                let beyond = (start * count as f64 - place as f64).clamp(0.0, 1.0);
                let part = ((place - before) as f64 + beyond) / (count - there.len()) as f64;
                (part * there.len() as f64) as usize
            })
        };
        for (block, start) in starts.iter().enumerate().filter(|_| !there.is_empty()) {
            let targets = place(block as f64 * part)..place((block + 1) as f64 * part);
            for (from, target) in (first(*start)..).zip(targets).filter(|(_, target)| !self.back[*target].is_nan()) {
                moves[self.own[target]] = self.back[target] + self.drawn[there[from % there.len()]];
            }
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An output whose drawn errors are these and whose fit is exact.
    fn errors(own: Vec<usize>, drawn: &[f64]) -> Errors {
        let back = drawn.iter().map(|x| if x.is_nan() { f64::NAN } else { 0.0 }).collect();
        Errors { own, drawn: drawn.to_vec(), back }
    }

    /// Protects what blocks keep: neighbours stay neighbours, around the end of the record, too; outputs are taken from the same places, those with
    /// fewer samples from about the same time; missing samples stay missing, and are no part of what is drawn.
    #[test]
    fn blocks_keep_what_is_alike() {
        let numbers: Vec<f64> = (0..10).map(|k| f64::from(k) + 1.0).collect();
        let (part, starts) = (0.3, [0.8, 0.05, 0.4, 0.95]);
        let all = errors((0..10).collect(), &numbers);
        assert_eq!(all.moves(10, part, &starts), [9.0, 10.0, 1.0, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 10.0]);
        let tens: Vec<f64> = numbers.iter().map(|x| 10.0 * x).collect();
        let other = errors((0..10).collect(), &tens).moves(10, part, &starts);
        assert!(all.moves(10, part, &starts).iter().zip(other).all(|(a, b)| b == 10.0 * a));

        // every second sample
        let half = errors(vec![0, 2, 4, 6, 8], &[1.0, 3.0, 5.0, 7.0, 9.0]);
        assert_eq!(half.moves(10, 0.4, &[0.8, 0.0, 0.5]), [9.0, 0.0, 1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 5.0, 0.0]);

        let mut gaps = numbers;
        (gaps[1], gaps[6]) = (f64::NAN, f64::NAN);
        let moved = errors((0..10).collect(), &gaps).moves(10, 0.5, &[0.13, 0.0]);
        // 2 is missing: from 3 by chance, over a gap; and from 1, over a gap
        assert_eq!(moved, [3.0, 0.0, 5.0, 6.0, 8.0, 1.0, 0.0, 4.0, 5.0, 6.0]);
    }

    /// Protects the bootstrap of records with gaps: what comes behind a long gap is drawn as often as anything else.
    #[test]
    fn all_that_is_there_is_drawn_alike() {
        let numbers: Vec<f64> = (0..40).map(|k| if (5..30).contains(&k) { f64::NAN } else { f64::from(k) }).collect();
        let all = errors((0..40).collect(), &numbers);
        let mut counts = [0usize; 40];
        let steps = 4000;
        for k in 0..steps {
            let moved = all.moves(40, 0.1, &[(f64::from(k) + 0.5) / f64::from(steps)]);
            // the first block is the samples 0 to 3
            moved[..4].iter().for_each(|value| counts[*value as usize] += 1);
        }
        let expected = 4 * steps as usize / 15;
        for (k, count) in counts.iter().enumerate() {
            let is_missing = (5..30).contains(&k);
            let is_alike = if is_missing { *count == 0 } else { count.abs_diff(expected) <= expected / 50 };
            assert!(is_alike, "{k}: {count} of {expected}");
        }
    }
}
