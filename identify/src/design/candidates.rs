//! Candidates for the next experiment, compared.

use super::{Assessment, Optimality};
use crate::beside::with_rows;
use crate::ensemble::Member;
use crate::problem::Problem;
use crate::statistics::{Analysed, analysed};
use crate::{Error, Result};
use costate::Quantity;
use costate::cost::LeastSquares;
use costate::least_squares::{Linearised, Reduction};

/// End times at which errors over the duration are given, evenly.
const DURATIONS: usize = 20;

/// A problem, and experiments that could be made next.
#[non_exhaustive]
pub struct Design {
    /// Experiments that have been made come first, then those of candidates.
    pub problem: Problem,
    /// Number of experiments that have been made; 0: the first one is the built-in simulation, and counts for nothing.
    pub measured: usize,
    /// Candidates for the next experiment.
    pub candidates: Vec<Candidate>,
}

/// A candidate for the next experiment.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Name of the candidate.
    pub name: String,
    /// The experiment whose run it takes more sensors of, if it does.
    pub like: Option<String>,
    /// The place of its experiment.
    pub experiment: usize,
}

/// A sensor of a candidate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SensorAlone {
    /// The output.
    pub output: Quantity,
    /// The standard deviation of its noise.
    pub deviation: f64,
    /// Assessment with this sensor, and without the candidate's others.
    pub after: Assessment,
}

/// Assessments of a candidate: what it would make of the parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assessed {
    /// The candidate that is assessed.
    pub candidate: Candidate,
    /// Number of samples, of all sensors.
    pub samples: usize,
    /// Assessment with all that has been measured.
    pub after: Assessment,
    /// Assessments of each of its sensors alone, where it has several.
    pub sensors: Vec<SensorAlone>,
    /// Assessments if it ended earlier: end times, s, the last one its own.
    pub durations: Vec<(f64, Assessment)>,
}

/// All candidates, the best first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Criterion of the ranking.
    pub optimality: Optimality,
    /// The parameters that count: those that experiments share. The first ones of every assessment.
    pub parameters: Vec<Analysed>,
    /// Assessment of what is known so far.
    pub before: Assessment,
    /// Samples so far.
    pub samples: usize,
    /// The candidates.
    pub candidates: Vec<Assessed>,
}

/// The information of one experiment, by its own parameters.
#[derive(Default)]
struct Said {
    samples: usize,
    all: Option<Linearised>,
    /// Information of each reference.
    alone: Vec<Linearised>,
    /// Until times.
    until: Vec<(f64, Linearised)>,
}

impl Design {
    /// Compares the candidates at `u`: one run with tangents an experiment.
    ///
    /// # Errors
    /// If an experiment cannot be simulated, or its cost is no sum of squares.
    pub fn compare(&self, u: &[f64], optimality: Optimality) -> Result<Comparison> {
        let Some(costs) = self.problem.least_squares() else {
            let remedy = "compare outputs with records";
            return Err(Error::invalid("the next experiment", "a cost is no sum of squared residuals", remedy));
        };
        // without records, the first one is no experiment
        let first = if self.measured == 0 { 1 } else { 0 };
        let said = self.problem.gradient_by_free()?.each(u, |k, member| {
            if k < first { Ok(Said::default()) } else { said(member, costs[k], k >= self.measured) }
        })?;
        let (counted, _) = self.unknown();
        let assessed = self.candidates.iter().map(|candidate| self.assessed(u, (&costs, &said), candidate));
        let mut candidates = assessed.collect::<Result<Vec<_>>>()?;
        let infinite = |own: &Assessed| {
            own.after.standard_errors[..counted.len()].iter().filter(|error| error.is_infinite()).count()
        };
        candidates.sort_by(|a, b| {
            let means = a.after.mean(optimality).total_cmp(&b.after.mean(optimality));
            infinite(a).cmp(&infinite(b)).then(means)
        });
        let samples = said[..self.measured].iter().map(|said| said.samples).sum();
        let before = self.assess(u, &said, None)?;
        Ok(Comparison { optimality, parameters: analysed(&self.problem, u, &counted), before, samples, candidates })
    }

    /// Places of the parameters that count, which experiments share, and of those that an experiment so far has for itself.
    fn unknown(&self) -> (Vec<usize>, Vec<usize>) {
        let made = &self.problem.experiments[..self.measured.max(1)];
        let seen = self.problem.free().into_iter().filter(|place| made.iter().any(|own| own.places.contains(place)));
        let (shared, own): (Vec<usize>, Vec<usize>) =
            seen.partition(|place| !self.problem.parameters[*place].name.contains('@'));
        // where each experiment has its own of everything, all of it counts
        if shared.is_empty() { (own, shared) } else { (shared, own) }
    }

    /// Assessment by all that has been measured, with more information of an experiment.
    fn assess(&self, u: &[f64], said: &[Said], more: Option<(&Linearised, usize)>) -> Result<Assessment> {
        let made = (0..self.measured).filter_map(|k| Some((said[k].all.as_ref()?, k)));
        let information = self.together(u, made.chain(more))?;
        let (shared, own) = self.unknown();
        let count = shared.len();
        let mut places = [shared, own].concat();
        let further: Vec<usize> = self.problem.free().into_iter().filter(|place| !places.contains(place)).collect();
        let seen = |place: &usize| more.is_some_and(|(_, k)| self.problem.experiments[k].places.contains(place));
        places.extend(further.into_iter().filter(seen));
        Assessment::of(&information, analysed(&self.problem, u, &places), &(0..count).collect::<Vec<_>>())
    }

    fn assessed(
        &self,
        u: &[f64],
        (costs, said): (&[&LeastSquares], &[Said]),
        candidate: &Candidate,
    ) -> Result<Assessed> {
        let k = candidate.experiment;
        let with = |own: &Linearised| self.assess(u, said, Some((own, k)));
        let Said { samples, all, alone, until } = &said[k];
        let signature = self.problem.experiments[k].simulation.signature();
        let references = costs[k].references().iter().zip(alone).filter(|_| alone.len() > 1);
        let sensors = references.map(|(reference, own)| {
            let (output, deviation) = (signature.outputs[reference.output].clone(), reference.deviation);
            Ok(SensorAlone { output, deviation, after: with(own)? })
        });
        Ok(Assessed {
            candidate: candidate.clone(),
            samples: *samples,
            after: self.assess(u, said, all.as_ref().map(|all| (all, k)))?,
            sensors: sensors.collect::<Result<_>>()?,
            durations: until.iter().map(|(time, own)| Ok((*time, with(own)?))).collect::<Result<_>>()?,
        })
    }

    /// The information of some experiments, of priors and of measured modes, by all parameters.
    fn together<'l>(&self, u: &[f64], parts: impl Iterator<Item = (&'l Linearised, usize)>) -> Result<Linearised> {
        let (mut reduction, mut row, mut rows) = (Reduction::new(u.len()), vec![0.0; u.len()], 0);
        for (own, experiment) in parts {
            let places = &self.problem.experiments[experiment].places;
            for i in 0..own.dimension() {
                row.fill(0.0);
                places.iter().enumerate().for_each(|(k, &place)| row[place] = own.factor()[(i, k)]);
                reduction.add(&row, 0.0);
            }
            rows += own.rows;
        }
        let mut all = reduction.finish();
        all.rows = rows;
        Ok(with_rows(all, &self.problem.rows_beside(u)?, 1.0))
    }
}

/// One run with tangents; `in_parts`: of each sensor and until earlier times, too.
fn said(member: &mut Member<'_>, cost: &LeastSquares, in_parts: bool) -> Result<Said> {
    let Member { gradient, u, experiment, .. } = member;
    let new = || Reduction::new(u.len());
    let references = cost.references();
    let samples: Vec<Vec<usize>> = references.iter().map(|reference| cost.samples(reference).collect()).collect();
    let times = experiment.simulation.grid().times();
    let (from, to) = (times[0], times[times.len() - 1]);
    let ends: Vec<f64> = (1..=DURATIONS).map(|k| from + (to - from) * k as f64 / DURATIONS as f64).collect();
    let (mut all, mut alone, mut until) = (new(), vec![new(); references.len()], Vec::new());
    let (mut seen, mut count) = (vec![0; references.len()], 0);
    gradient.residual_rows(u, cost, &mut |row| {
        let time = times[cost.places().of(samples[row.reference][seen[row.reference]])];
        seen[row.reference] += 1;
        count += 1;
        if in_parts {
            // rows come in the order of time
            while let Some(end) = ends.get(until.len()).filter(|end| time > **end * (1.0 + 1e-9)) {
                until.push((*end, all.clone().finish()));
            }
            alone[row.reference].add(row.derivatives, 0.0);
        }
        all.add(row.derivatives, 0.0);
    })?;
    let all = all.finish();
    if in_parts {
        let rest = ends[until.len()..].iter().map(|end| (*end, all.clone())).collect::<Vec<_>>();
        until.extend(rest);
    }
    let alone = alone.into_iter().map(Reduction::finish).collect();
    Ok(Said { samples: count, all: Some(all), alone, until })
}
