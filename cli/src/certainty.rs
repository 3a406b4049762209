//! `costate identify --starts`, `--profiles`: how sure a result is.

use super::console::{counted, tell, waiting};
use super::remedy;
use super::settings;
use costate::shown::{number, rounded};
use costate_identify::optimise::Trace;
use costate_identify::problem::Problem;
use costate_identify::profile::{Profile, Profiles, Side, asked_for, profiles};
use costate_identify::starts::{ManySearches, Starts, identify_from_many};
use costate_identify::statistics::Statistics;
use costate_identify::table::table;
use costate_identify::work::Work;
use costate_identify::{Error, Result};
use costate_identify::{Identification, Settings};
use costate_report::{profiles_json, starts_json};
use serde_json::{Value, json};

#[derive(clap::Args, Debug, Default, PartialEq)]
pub(super) struct CertaintyArguments {
    /// Search from so many starts, the given one among them; go on from the best. A run that was killed goes on
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    starts: Option<usize>,
    /// Draw starts between START/X and START X where there are no bounds [default: 10]
    #[arg(long, value_name = "X", allow_hyphen_values = true, requires = "starts")]
    start_factor: Option<f64>,
    /// Seed of these random numbers [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::seed, requires = "starts")]
    start_seed: Option<u64>,
    /// Profile likelihoods: 95 % intervals where the cost is no parabola; of some parameters alone: --profiles=c,d
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', num_args = 0.., require_equals = true)]
    profiles: Option<Vec<String>>,
}

/// Columns of parameters in the table of optima at most.
const SHOWN: usize = 6;
/// Optima that are listed at most.
const LISTED: usize = 8;

/// Settings of searches that run beside each other: none of them is reported step by step.
fn silent(settings: &Settings) -> Settings {
    let mut silent = settings.clone();
    silent.options.trace = Trace::default();
    silent
}

impl CertaintyArguments {
    /// The starts that are asked for.
    pub fn starts(&self) -> Option<Starts> {
        let usual = Starts::default();
        self.starts.map(|count| Starts {
            count,
            factor: self.start_factor.unwrap_or(usual.factor),
            seed: self.start_seed.unwrap_or(usual.seed),
        })
    }

    /// True if there are searches or profiles.
    pub fn is_divided(&self) -> bool {
        self.starts.is_some() || self.profiles.is_some()
    }

    /// Refuses before the fit what cannot be done after it.
    pub fn check(&self, problem: &Problem) -> Result<()> {
        self.profiles.as_ref().map_or(Ok(()), |names| asked_for(problem, names).map(|_| ()))
    }

    /// Searches from many starts, if that is asked for; the problem then begins where the best of them did.
    pub fn search(&self, problem: &mut Problem, settings: &Settings, work: &Work<'_>) -> Result<Option<ManySearches>> {
        let Some(starts) = self.starts() else { return Ok(None) };
        let progress = waiting("searches", starts.count);
        let show = |what: &str, done: usize, count: usize| progress.part(what, done, count);
        let found = identify_from_many(problem, &silent(settings), &starts, work, &show);
        drop(progress);
        let found = found?;
        tell(&text(problem, &found));
        found.warnings().iter().for_each(|warning| tell(&format!("warning: {warning}")));
        match &found.begin {
            Some(begin) => problem.start.clone_from(begin),
            None => {
                let why = "all of them have failed or were given up";
                let remedy = "take more starts, narrower bounds, or another method";
                return Err(Error::invalid(counted(starts.count, "start"), why, remedy));
            }
        }
        Ok(Some(found))
    }

    /// Profiles of what was found, if they are asked for; or why there are none.
    pub fn profile(
        &self,
        problem: &Problem,
        found: &Identification,
        statistics: &Result<Statistics>,
        settings: &Settings,
        work: &Work<'_>,
    ) -> Option<Result<Profiles>> {
        let names = self.profiles.as_ref()?;
        let profiled = || {
            let (statistics, parameters) = (statistics.as_ref().map_err(Clone::clone)?, asked_for(problem, names)?);
            let progress = waiting("sides of profiles", 2 * parameters.len());
            let show = |what: &str, done: usize, count: usize| progress.part(what, done, count);
            profiles(problem, found, statistics, &silent(settings), &parameters, (work, &show))
        };
        Some(profiled())
    }
}

impl CertaintyArguments {
    /// Adds what was asked for to a result.
    pub fn extend_json(
        &self,
        problem: &Problem,
        many: Option<&ManySearches>,
        profiles: Option<&Result<Profiles>>,
        result: &mut Value,
    ) {
        if let (Some(asked), Some(found)) = (self.starts(), many) {
            result["starts"] = starts_json(problem, &asked, found);
        }
        match profiles {
            None => {}
            Some(Ok(found)) => result["profiles"] = profiles_json(found),
            Some(Err(reason)) => result["profiles"] = json!({"missing_because": remedy::sentence(reason)}),
        }
    }
}

/// The optima with their counts, and what became of the other searches.
fn text(problem: &Problem, found: &ManySearches) -> String {
    let shown = &found.free[..found.free.len().min(SHOWN)];
    let mut header = vec!["optimum", "searches", "cost"];
    header.extend(shown.iter().map(|&k| problem.parameters[k].name.as_str()));
    let row = |(place, optimum): (usize, &costate_identify::starts::Cluster)| {
        let mut row = vec![(place + 1).to_string(), optimum.searches.len().to_string(), rounded(optimum.cost, 6)];
        row.extend(shown.iter().map(|&k| rounded(optimum.u[k], 5)));
        row
    };
    let rows: Vec<Vec<String>> = found.optima.iter().take(LISTED).enumerate().map(row).collect();
    let mut lines = vec![format!("{}:", counted(found.searches.len(), "start")), table(&header, &rows)];
    let of = |&k: &usize| format!("{} {}", problem.parameters[k].name, problem.parameters[k].unit);
    lines.push(format!("units: {}", shown.iter().map(of).collect::<Vec<_>>().join(", ")));
    let hidden = found.free.len() - shown.len();
    if hidden > 0 {
        lines.push(format!("and {} more, which result.json has", counted(hidden, "parameter")));
    }
    let left = found.optima.len().saturating_sub(LISTED);
    if left > 0 {
        lines.push(format!("and {} with higher costs", counted(left, "optimum").replace("optimums", "optima")));
    }
    if found.given_up() > 0 {
        lines.push(format!(
            "{} given up as hopeless",
            counted(found.given_up(), "search").replace("searchs", "searches")
        ));
    }
    lines.extend(found.failures().iter().map(|(reason, count)| format!("{count} failed: {reason}")));
    lines.join("\n")
}

/// Intervals by profiles beside those by standard errors.
pub(super) fn profile_text(found: &Result<Profiles>) -> String {
    let found = match found {
        Ok(found) => found,
        Err(reason) => return format!("no profiles: {}", remedy::sentence(reason)),
    };
    let end = |x: f64| if x.is_finite() { number_short(x) } else { "-".to_string() };
    let interval = |(lower, upper): (f64, f64)| format!("[{}, {}]", end(lower), end(upper));
    let side = |side: &Side| match side {
        Side::At(value) => number_short(*value),
        Side::Bound(value) => format!("bound {}", number_short(*value)),
        Side::AtBoundOf(value, other) => format!("{} (bound of {other})", number_short(*value)),
        Side::BoundOf(_, other) => format!("bound of {other}"),
        Side::Open(_) | Side::Blocked(..) => "-".to_string(),
    };
    let row = |own: &Profile| {
        vec![
            own.name.clone(),
            number(own.value),
            interval(own.linear),
            format!("[{}, {}]", side(&own.lower), side(&own.upper)),
            own.unit.clone(),
            own.verdict.in_words().to_string(),
        ]
    };
    let header = ["name", "value", "95 % by standard error", "95 % by profile", "unit", "identifiable"];
    let mut lines = vec![table(&header, &found.profiles.iter().map(row).collect::<Vec<_>>())];
    lines.extend(found.profiles.iter().flat_map(Profile::remarks));
    if let Some(better) = &found.better {
        lines.push(format!(
            "warning: a profile has passed a lower cost, {} at {}: this is not the best optimum, and these are not its intervals; begin there, or \
             search from more starts (--starts)",
            rounded(better.cost, 7),
            found.profiles.iter().map(|own| format!("{} = {}", own.name, rounded(better.u[own.parameter], 6))).collect::<Vec<_>>().join(", ")
        ));
    }
    lines.join("\n")
}

fn number_short(x: f64) -> String {
    rounded(x, 5)
}
