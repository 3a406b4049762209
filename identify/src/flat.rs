//! Ends that a search calls a minimum, and that are none to a person: nothing is explained, or a parameter has never been seen.
//!
//! Where a start is absurd, the cost is flat, and flat is what a minimum looks like. The bare optimiser cannot tell; who knows the data can.

use super::influence::Influence;
use super::{Identification, Status};
use crate::optimise::Reason;
use crate::problem::{Problem, base_name};
use crate::response::ResponseResult;
use crate::statistics::{Finding, Identifiability, Noise, OutputFit, ResidualTests, Statistics, fits, identifiability};
use crate::{Means, Remedy, Result};
use costate::cost::LeastSquares;
use costate::sensitivity::Gradient;
use costate::shown::{rounded, with_unit};
use costate::{Scale, jumps};

/// A fit that leaves more than this of what each output varies, in percent, explains nothing: its mean would be as good. (A standard error of
/// the noise itself is some percent, as soon as there are a hundred samples.)
pub(crate) const NOTHING: f64 = 1.0;
/// Residuals that are larger than the data's own spread by more than chance, in per cent of fit.
const WORSE: f64 = -1.0;

/// Outputs whose residuals are larger than their given deviations by less than this factor are met.
const MET: f64 = 2.0;

/// A parameter whose whole value changes the residuals by less than this part of what the most influential one does may as well have none.
const NEGLIGIBLE: f64 = 1e-6;

/// A change of a parameter that changes the cost by this part, of itself and of that of the data, shows in it.
const SHOWS: f64 = 1e-6;

/// A cost that steps half as long change by more of itself is that of the steps.
const OF_STEPS: f64 = 0.05;

/// A cost that has fallen to this part of what it was may change by as much.
const VANISHED: f64 = 1e-6;

/// A parameter so many times as large as its start, its nominal value and its size has run off.
const OUT_OF_SIGHT: f64 = 1e6;

/// More parameters without influence are tried together first.
const MANY: usize = 3;

/// A parameter that moved by less than this part has stayed where it was.
const STAYED: f64 = 1e-9;

/// Takes back the success of a search that has ended where nothing is explained, or where a parameter had no influence from its start
/// on that it has elsewhere. Without statistics, which are needed for that, the end stays as it is.
pub(crate) fn judge(problem: &Problem, found: &mut Identification, statistics: &Result<Statistics>) {
    let apart = |why: String| Remedy::by(format!("{why}; begin where they differ, or from many starts"), Means::Starts);
    if !found.outcome.converged {
        // a search also gets stuck where like measurements have met
        found.shortcomings.extend(problem.modes_that_meet(&found.values(), |a, b| a.value != b.value).map(apart));
        return;
    }
    if let Some(why) = problem.told_of_modes_that_meet(&found.values()).map(apart) {
        (found.outcome.converged, found.outcome.reason) = (false, Reason::ModesMeet);
        found.shortcomings = vec![why];
        return;
    }
    // a cost that is no sum of squares has no statistics that would tell
    if problem.least_squares().is_none() {
        let known = without_influence(problem, found).map(|why| (why, Reason::CostKnowsNothing));
        let known = known.or_else(|| Some((jumped(problem, found)?, Reason::CostKnowsNothing)));
        let known = known.or_else(|| Some((ran_off(problem, found)?, Reason::RanOff)));
        let known = known.or_else(|| Some((of_steps(problem, found)?, Reason::OfSteps)));
        if let Some((why, reason)) = known {
            (found.outcome.converged, found.outcome.reason) = (false, reason);
            found.shortcomings = vec![why];
            return;
        }
    }
    let outputs = match statistics {
        Ok(statistics) => statistics.outputs.clone(),
        Err(error) if error.is_interruption() => return,
        // with all parameters at bounds, there are residuals all the same
        Err(_) => fits(problem, &problem.experiments, &found.values()).unwrap_or_default(),
    };
    if let Some(why) = unusable(problem, &outputs) {
        (found.outcome.converged, found.outcome.reason) = (false, Reason::RecordUnusable);
        found.shortcomings = vec![why.into()];
        return;
    }
    let Ok(statistics) = statistics else { return };
    let (u, is_linear) = (found.values(), found.is_linear);
    let stayed = |k: usize| {
        let own = &found.parameters[k];
        own.status == Status::Free && (own.value - own.start).abs() <= STAYED * own.start.abs()
    };
    let seen = |found: &Identifiability, u: &[f64], may_be: &dyn Fn(usize) -> bool| match is_linear {
        true => Vec::new(),
        false => unseen(problem, found, u, may_be),
    };
    let mut reasons = seen(&statistics.identifiability, &u, &stayed);
    let unmet: Vec<String> = ResponseResult::all(problem, &u)
        .into_iter()
        .flatten()
        .filter(ResponseResult::explains_nothing)
        .map(|one| one.measured.what())
        .collect();
    let nothing = explains_nothing(statistics) || !unmet.is_empty();
    if nothing && reasons.is_empty() {
        // from where nothing is seen, a parameter may also have run off
        let at_start = identifiability(problem, &problem.start);
        reasons.extend(at_start.into_iter().flat_map(|found| seen(&found, &problem.start, &|_| true)));
    }
    let reason = match () {
        _ if !reasons.is_empty() => Reason::FlatStart,
        _ if nothing => Reason::NothingExplained,
        _ => return,
    };
    if nothing {
        reasons.extend(unmet.iter().map(|what| format!("less than 1 % of {what} is explained: look at its unit (dB or a plain ratio), its frequencies (Hz or rad/s) and the sign of its phases").into()));
    }
    if nothing && unmet.is_empty() {
        let but = if is_missing(statistics) { ", although their residuals are no noise" } else { "" };
        reasons.push(format!("less than 1 % of what the compared outputs vary is explained{but}").into());
        reasons
            .extend(statistics.residual_tests.iter().filter_map(ResidualTests::dominating_outlier).map(Remedy::from));
    }
    (found.outcome.converged, found.outcome.reason) = (false, reason);
    found.shortcomings = reasons;
}

/// Reason why the end of a search by a cost that is no sum of squares is its start, if that is because nothing changes it there. A start at the very
/// minimum has no slopes either: there, a hundredth more of a parameter shows.
fn without_influence(problem: &Problem, found: &Identification) -> Option<Remedy> {
    let first = found.outcome.history.first()?;
    if found.outcome.iterations > 0 || first.gradient_norm != 0.0 {
        return None;
    }
    let cost =
        |u: &[f64]| -> Option<f64> { problem.experiments.iter().map(|experiment| experiment.cost_at(u).ok()).sum() };
    let at_end = found.values();
    let given = cost(&at_end)?;
    for (k, own) in found.parameters.iter().enumerate().filter(|(_, own)| own.status == Status::Free) {
        let sizes = [own.value.abs(), problem.parameters[k].size.unwrap_or(0.0), 1.0];
        let mut moved = at_end.clone();
        moved[k] += 0.01 * sizes.into_iter().find(|size| *size > 0.0)?;
        if cost(&moved)? != given {
            return None;
        }
    }
    let words = "all its derivatives are zero, and stay so beside the start: does anything move? (an input by `--data FILE.csv`, or a start and inputs in [scenario]); \
                 does the cost name what the parameters change?";
    Some(words.to_string().into())
}

/// Reason why the end of a search by a cost that is no sum of squares is its start, if that is because derivatives leave out what changes the cost.
fn jumped(problem: &Problem, found: &Identification) -> Option<Remedy> {
    let first = found.outcome.history.first()?;
    if found.outcome.iterations > 0 || first.gradient_norm != 0.0 {
        return None;
    }
    let sentence = problem.told_of_jumps(&found.values()).ok().flatten()?;
    Some(format!("all its derivatives are zero, and {sentence}").into())
}

/// Reason why a cost that is no sum of squares has no minimum where the search has ended, if a parameter has gone out of sight.
fn ran_off(problem: &Problem, found: &Identification) -> Option<Remedy> {
    let far = found.parameters.iter().zip(&problem.parameters).find_map(|(own, parameter)| {
        let sizes = [own.start.abs(), parameter.nominal.abs(), parameter.size.unwrap_or(0.0).abs()];
        let times = own.value.abs() / sizes.into_iter().fold(0.0, f64::max);
        (own.status == Status::Free && times.is_finite() && times > OUT_OF_SIGHT).then_some((own, times))
    })?;
    let (own, times) = far;
    let end = if own.value < 0.0 { "lower" } else { "upper" };
    let words = format!(
        "`{}` has run off to {}, {} times what it was: bound it ({end} = VALUE), or add to the cost what much of it costs",
        own.name,
        with_unit(own.value, &own.unit),
        rounded(times, 1)
    );
    Some(words.into())
}

/// Reason why the minimum of a cost that is no sum of squares is one of the steps, if it is.
fn of_steps(problem: &Problem, found: &Identification) -> Option<Remedy> {
    let u = found.values();
    let mut given = 0.0;
    for experiment in &problem.experiments {
        let mut gradient = Gradient::new(&experiment.simulation, &*experiment.cost).ok()?;
        given += gradient.cost(&experiment.own(&u)).unwrap_or(f64::NAN);
    }
    let (finer, slope) = problem.own_cost_at_half(&u)?;
    let at_start = found.outcome.history.first().map_or(0.0, |first| first.cost.abs());
    let allowed = OF_STEPS * given.abs().max(finer.abs()) + VANISHED * at_start;
    let steepest = (0..u.len())
        .filter(|k| found.parameters[*k].status == Status::Free)
        .map(|k| (k, (slope[k] * u[k]).abs()))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    // beside constraints, priors and modes this cost is not least by itself
    let Problem { constraints, priors, modes, responses, .. } = problem;
    let is_alone = constraints.is_empty() && priors.is_empty() && modes.is_empty() && responses.is_empty();
    let steep = steepest.filter(|(_, slope)| is_alone && *slope > allowed);
    // false for NaN
    if (finer - given).abs() <= allowed && steep.is_none() {
        return None;
    }
    let falls = steep.map_or_else(String::new, |(k, slope)| {
        let part = rounded(100.0 * slope / finer.abs(), 2);
        format!(", and still falls by {part} % of it for a change of `{}` by its own size", problem.parameters[k].name)
    });
    let (given, finer) = (rounded(given, 4), rounded(finer, 4));
    let words = format!(
        "at half the step it is {finer}, in the place of {given}{falls}; take steps of a tolerance, or smaller ones"
    );
    Some(Remedy { words, means: Some(Means::ToleranceOrStep) })
}

/// Reason why no fit to these records says anything, if that is so.
fn unusable(problem: &Problem, outputs: &[OutputFit]) -> Option<String> {
    let is_of_sentinels = |output: &&OutputFit| output.is_of_sentinels();
    let told: Vec<String> = outputs.iter().filter(is_of_sentinels).filter_map(OutputFit::told_of_sentinels).collect();
    if told.is_empty() { nothing_varies(problem, outputs) } else { Some(told.join("; ")) }
}

/// Sentence that nothing of what is compared varies, if that is so, with what to do.
pub fn nothing_varies(problem: &Problem, outputs: &[OutputFit]) -> Option<String> {
    // rests under different loads tell something, and so do a sample alone, modes and responses
    let varies = |output: &OutputFit| {
        let is_other =
            |other: &OutputFit| base_name(&other.name) == base_name(&output.name) && other.mean != output.mean;
        output.r_squared.is_some() || output.residuals.len() < 2 || outputs.iter().any(is_other)
    };
    let is_all = problem.modes.is_empty() && problem.responses.is_empty() && !outputs.is_empty();
    (is_all && !outputs.iter().any(varies)).then(|| {
        "nothing that is compared varies, and whatever lets the model rest fits a rest: compare a record of a motion (is it the right column? another \
         part of the record: `from`, `until`)"
            .to_string()
    })
}

/// True if no output is reproduced any better than by its mean, although there is something to reproduce: residuals that are white are
/// noise, which nothing explains, unless they are larger than what the data vary, or one of them outweighs all others; and so are those that
/// are as small as deviations that were given.
fn explains_nothing(statistics: &Statistics) -> bool {
    let fits: Vec<f64> = statistics.outputs.iter().filter_map(|output| output.fit_percent).collect();
    let is_met = matches!(statistics.noise, Noise::Given)
        && statistics.chi_square <= MET * MET * statistics.degrees_of_freedom.max(1) as f64;
    // one sample may hide all that there is to explain
    let hides = |tests: &ResidualTests| tests.dominating_outlier().is_some();
    // a robust loss is there for data that have no spread of their own
    statistics.down_weighted.is_none()
        && !fits.is_empty()
        && fits.iter().all(|fit| *fit < NOTHING)
        && !is_met
        && (fits.iter().all(|fit| *fit < WORSE)
            || is_missing(statistics)
            || statistics.residual_tests.iter().any(hides))
}

/// True if there is something in the residuals that a model might explain.
fn is_missing(statistics: &Statistics) -> bool {
    let may_be = |finding: Finding| matches!(finding, Finding::FollowInput | Finding::Correlated | Finding::Lines);
    statistics.residual_tests.iter().any(|tests| may_be(tests.finding))
}

/// A sentence for each parameter that has no influence where it is, and some elsewhere. `may_be` says which to look at.
pub fn unseen(problem: &Problem, found: &Identifiability, u: &[f64], may_be: &dyn Fn(usize) -> bool) -> Vec<Remedy> {
    let most = Influence::largest(&found.changes);
    let negligible = found.parameters.iter().zip(&found.changes).filter(|(_, own)| own.is_below(NEGLIGIBLE, most));
    let all: Vec<usize> = negligible.map(|(parameter, _)| parameter.index).filter(|k| may_be(*k)).collect();
    // many that have no influence together need not be tried one by one
    if all.len() > MANY && !influence_together(problem, u, &all) {
        return Vec::new();
    }
    all.into_iter().filter_map(|k| sentence(problem, u, k)).collect()
}

/// True unless the cost stays what it is where all these parameters are a thousand times larger, and a thousand times smaller, within their
/// bounds.
fn influence_together(problem: &Problem, u: &[f64], all: &[usize]) -> bool {
    let Ok(mut engine) = problem.gradient_by_free() else { return true };
    let mut costs = [1.0, 1e3, 1e-3].into_iter().map(|factor| {
        let mut other = u.to_vec();
        for &k in all {
            other[k] = (factor * u[k]).clamp(problem.parameters[k].lower, problem.parameters[k].upper);
        }
        engine.cost(&other).ok().filter(|cost| cost.is_finite())
    });
    let Some(Some(here)) = costs.next() else { return true };
    let scale = problem.least_squares().into_iter().flatten().map(LeastSquares::scale).sum::<f64>().max(here.abs());
    costs.any(|cost| cost.is_none_or(|cost| (cost - here).abs() > SHOWS * scale))
}

/// Sentence on parameter `k`, if the cost depends on it anywhere.
fn sentence(problem: &Problem, u: &[f64], k: usize) -> Option<Remedy> {
    let parameter = &problem.parameters[k];
    let elsewhere = influential(problem, u, k)?;
    let value = |value: f64| match parameter.unit.as_str() {
        "1" | "" => rounded(value, 4),
        unit => format!("{} {unit}", rounded(value, 4)),
    };
    if problem.told_of_jumps(u).ok().flatten().is_some() {
        let words = format!(
            "`{}` has no influence by derivatives at its start, {}, though the cost depends on it: the motion goes through jumps whose moments move with \
             parameters, which no derivative knows; {}",
            parameter.name,
            value(u[k]),
            jumps::REMEDY
        );
        return Some(words.into());
    }
    let where_to = if elsewhere.abs() < u[k].abs() { "there, or at a smaller value" } else { "there" };
    let words = format!(
        "`{}` has no influence at its start, {}, but it has at {}: start {where_to}, or search from many starts",
        parameter.name,
        value(u[k]),
        value(elsewhere)
    );
    Some(Remedy::by(words, Means::Starts))
}

/// Another value of parameter `k`, within its bounds, at which it changes the cost.
fn influential(problem: &Problem, u: &[f64], k: usize) -> Option<f64> {
    let (parameter, here) = (&problem.parameters[k], u[k]);
    let mut engine = problem.gradient_by_free().ok()?;
    let mut cost = |value: f64| {
        let mut other = u.to_vec();
        other[k] = value;
        // what cannot be simulated there says nothing
        engine.cost(&other).ok().filter(|cost| cost.is_finite())
    };
    let least = cost(here)?;
    // where the data are met, all else is round-off beside what they are
    let scale = problem.least_squares().into_iter().flatten().map(LeastSquares::scale).sum::<f64>().max(least.abs());
    let others = [parameter.nominal, 1e-3 * here, 1e-6 * here, 1e-9 * here, 1e3 * here];
    others.into_iter().find(|&value| {
        let may_be = value != here
            && (parameter.lower..=parameter.upper).contains(&value)
            && (parameter.scale != Scale::Log || value > 0.0);
        may_be && cost(value).is_some_and(|other| (other - least).abs() > SHOWS * scale)
    })
}
