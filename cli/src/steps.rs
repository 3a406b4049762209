//! `costate steps`: how results converge over the time step.

use super::ExitStatus;
use super::console::{tell, waiting};
use super::duration::halved_runs;
use super::output::Output;
use super::settings::{self, Run, RunArguments};
use costate::scheme;
use costate::shown::rounded;
use costate::shown::shown;
use costate_check::{Convergence, Series};
use costate_identify::Result;
use costate_identify::convergence;
use costate_identify::registry::Registry;
use costate_identify::table::table;
use costate_report::{Folder, steps_json};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    /// Number of times that the step is halved
    #[arg(long, value_name = "N", default_value = "5", allow_hyphen_values = true, value_parser = settings::count)]
    halvings: usize,
    #[command(flatten)]
    output: Output,
}

/// The reason why a tolerance is refused.
pub(super) const OWN_STEPS: &str = "runs take even steps here, each time half as long";

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let asked = arguments.run.problem();
    let waiting = waiting("runs", arguments.halvings + 1);
    let (mut last, mut is_reported) = (Instant::now(), false);
    let mut done = |runs| {
        let seconds = std::mem::replace(&mut last, Instant::now()).elapsed().as_secs_f64();
        if let Some(sentence) = halved_runs(runs, arguments.halvings + 1, seconds).filter(|_| !is_reported) {
            is_reported = true;
            waiting.tell(&sentence);
        }
        waiting.done(runs);
    };
    let (name, scheme, found) = if asked.is_measured() {
        let problem = settings::build(&asked.specification()?, registry)?;
        let found = convergence(&problem, &problem.start, arguments.halvings, &mut done)?;
        (problem.name.clone(), scheme::in_words(problem.first().simulation.scheme()), found)
    } else {
        asked.specification()?.refuse_tolerance(OWN_STEPS)?;
        let Run { entry, u, simulation, .. } = arguments.run.prepare(registry, settings::entry)?;
        let found = Convergence::of_simulation(&simulation, &u, arguments.halvings, &mut done)?;
        (entry.name().to_string(), scheme::in_words(simulation.scheme()), found)
    };
    drop(waiting);
    for level in &found.levels {
        if let Some(reason) = &level.failure {
            tell(&format!("note: steps of {} s are left out: {reason}", shown(level.step)));
        }
    }
    let document = steps_json(&name, &scheme, &found);
    let write = |folder: &Folder| folder.steps(&found, document.clone());
    let files = "steps.json, steps.csv, figure";
    let folder = arguments.output.folder(&asked.folder_name(&name, "steps"))?;
    Ok(arguments.output.tell(folder, &document, || text(&name, &scheme, &found), (files, write)))
}

fn text(name: &str, scheme: &str, found: &Convergence) -> String {
    let runs: Vec<Vec<String>> = found
        .went_through()
        .map(|level| vec![shown(level.step), level.steps.to_string(), format!("{:.2e}", level.seconds)])
        .collect();
    let largest = found.series.iter().any(|series| series.extrapolation.limit.len() > 1);
    let mut parts = vec![
        format!("{name}: {scheme}, to t = {} s, compared at {} times", shown(found.end), found.times),
        table(&["step [s]", "steps", "measured time [s]"], &runs),
        format!("errors at t = {} s", shown(found.end)),
        errors(found, |series| &series.at_end),
    ];
    if largest {
        parts.push("largest errors over time".to_string());
        parts.push(errors(found, |series| &series.largest));
    }
    parts.push("limit of vanishing steps, with the digits that these runs bear out".to_string());
    parts.push(limits(found));
    parts.join("\n\n")
}

fn labelled(series: &Series) -> String {
    if series.unit.is_empty() { series.name.clone() } else { format!("{} [{}]", series.name, series.unit) }
}

/// The power by which the last two errors fall.
fn order(errors: &[f64]) -> Option<f64> {
    let [.., before, last] = errors else { return None };
    Some((before / last).log2()).filter(|order| order.is_finite())
}

/// A row a quantity, a column a step.
fn errors(found: &Convergence, of: impl Fn(&Series) -> &Vec<f64>) -> String {
    let steps: Vec<String> = found.went_through().map(|level| format!("h/{}", level.parts)).collect();
    let mut header = vec!["quantity"];
    header.extend(steps.iter().map(|step| if step == "h/1" { "h" } else { step.as_str() }));
    header.push("order");
    let row = |series: &Series| {
        let mut row = vec![labelled(series)];
        // where no power was found, the limit is one of the runs, and nothing is beside it
        let is_limit = |error: f64| error == 0.0 && series.error() > 0.0;
        row.extend(
            of(series).iter().map(|&error| if is_limit(error) { "-".to_string() } else { format!("{error:.1e}") }),
        );
        row.push(order(of(series)).map_or("-".to_string(), |order| format!("{order:.2}")));
        row
    };
    table(&header, &found.series.iter().map(row).collect::<Vec<_>>())
}

fn limits(found: &Convergence) -> String {
    let with_deviations = found.series.iter().any(|series| series.deviation.is_some());
    let mut header = vec!["quantity", "limit", "+/-", "digits", "powers removed"];
    if with_deviations {
        header.insert(4, "error at h / deviation");
    }
    let row = |series: &Series| {
        let (digits, error) = (series.digits(), series.error());
        let limit = match (digits, series.limit()) {
            (_, 0.0) => "0".to_string(),
            (0, _) => "-".to_string(),
            (digits, limit) => format!("{limit:.*e}", digits - 1),
        };
        let powers: Vec<String> = series.extrapolation.powers.iter().map(u32::to_string).collect();
        let error = if error.is_finite() { format!("{error:.0e}") } else { "unknown".to_string() };
        let mut row = vec![labelled(series), plainly(&limit, series.limit(), digits), error, digits.to_string()];
        if with_deviations {
            let at_first = series.deviation.and_then(|deviation| Some(series.largest.first()? / deviation));
            row.push(at_first.map_or("-".to_string(), |part| rounded(part, 2)));
        }
        row.push(if powers.is_empty() { "none".to_string() } else { powers.join(" ") });
        row
    };
    table(&header, &found.series.iter().map(row).collect::<Vec<_>>())
}

/// A number with so many digits, without a power of ten where that is short.
fn plainly(scientific: &str, value: f64, digits: usize) -> String {
    let decimals = digits as i32 - 1 - value.abs().max(1e-300).log10().floor() as i32;
    let is_short = digits > 0 && (1e-3..1e6).contains(&value.abs()) && decimals >= 0;
    if is_short { format!("{value:.*}", decimals as usize) } else { scientific.to_string() }
}
