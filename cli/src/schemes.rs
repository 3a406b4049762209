//! `costate schemes`: work and precision of time integrators.

use super::ExitStatus;
use super::console::{is_verbose, tell, waiting};
use super::output::Output;
use super::settings::{self, Run, RunArguments};
use super::steps::OWN_STEPS;
use costate::scheme::Scheme;
use costate::shown::shown;
use costate::{Simulation, TimeGrid, scheme};
use costate_check::{Energy, Gaps, Measured, Row, WorkPrecision};
use costate_identify::registry::Registry;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use costate_report::{Folder, schemes_json};
use std::sync::Arc;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    /// Steps to compare, s [default: 4, 2, 1, 1/2 and 1/4 of the step]
    #[arg(long, value_name = "SECONDS,..", value_delimiter = ',', allow_hyphen_values = true, value_parser = settings::number)]
    steps: Option<Vec<f64>>,
    /// Schemes to compare: NAME or NAME:SETTING=X,.. [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    schemes: Option<Vec<String>>,
    /// The scheme of the reference, with a sixteenth of the smallest step
    #[arg(long, value_name = "NAME", default_value = "i2p")]
    reference: String,
    /// Times are medians of so many runs
    #[arg(long, value_name = "N", default_value = "3", allow_hyphen_values = true, value_parser = settings::count)]
    repeat: usize,
    /// Leave out the comparison of adjoint and tangents, which takes longest
    #[arg(long)]
    no_gradients: bool,
    #[command(flatten)]
    output: Output,
}

/// Factors of the model's own step.
const LADDER: [f64; 5] = [4.0, 2.0, 1.0, 0.5, 0.25];

type Named = (String, Arc<dyn Scheme>);

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    if arguments.repeat == 0 {
        return Err(Error::invalid("--repeat", "0 runs have no median", "measure 1 run or more"));
    }
    let mut specification = arguments.run.problem().specification()?;
    specification.refuse_tolerance(OWN_STEPS)?;
    if !arguments.run.problem().is_measured() {
        // the model's own step need not divide the time where others are asked for
        let asked = arguments.steps.as_ref().and_then(|steps| steps.first().copied());
        specification.step = specification.step.or(asked);
    }
    let Run { entry, u, simulation, .. } = arguments.run.prepare_as(&specification, registry, settings::entry)?;
    let schemes = chosen(arguments, &simulation)?;
    let (simulation, steps) = match &arguments.steps {
        Some(steps) => (simulation, steps.clone()),
        None => ladder(simulation)?,
    };
    let (_, reference) = named("--reference", &arguments.reference, &simulation)?;
    let folder = arguments.output.folder(&arguments.run.problem().folder_name(entry.name(), "schemes"))?;
    let count = schemes.len() * steps.len();
    let waiting = waiting("reference", count);
    let mut study = WorkPrecision::new(&simulation, &u, &steps, reference)?;
    (study.repeat, study.gradients) = (arguments.repeat, !arguments.no_gradients);
    let mut runs = 0;
    let rows = study.run(&schemes, &mut |row| {
        runs += 1;
        waiting.now(&label(row));
        waiting.done(runs);
        if is_verbose() {
            tell(&format!(
                "{}: {}",
                label(row),
                row.outcome.as_ref().map_or_else(|reason| reason.as_str(), |_| "done")
            ));
        }
    });
    drop(waiting);
    let times = simulation.grid().times();
    let end = times[times.len() - 1];
    let words: Vec<String> = schemes.iter().map(|(_, scheme)| scheme::in_words(&**scheme)).collect();
    let document = schemes_json(entry.name(), end, &words, &study, &rows);
    let title = format!("{} to t = {} s: {}", entry.name(), shown(end), words.join("; "));
    let write = |folder: &Folder| folder.schemes(&rows, document.clone());
    let files = "schemes.json, schemes.csv, figure";
    Ok(arguments.output.tell(folder, &document, || text(title, &study, &rows), (files, write)))
}

/// The schemes to compare: those that are asked for, or all. `newmark` is then left out: with its own γ it is `trapezoidal`.
fn chosen(arguments: &Arguments, simulation: &Simulation) -> Result<Vec<Named>> {
    if let Some(asked) = &arguments.schemes {
        // a further setting of the scheme before it: hht:alpha=-0.1,start_order=2
        let mut texts: Vec<String> = Vec::new();
        for text in asked {
            match texts.last_mut().filter(|before| before.contains(':') && text.contains('=') && !text.contains(':')) {
                Some(before) => *before = format!("{before},{text}"),
                None => texts.push(text.clone()),
            }
        }
        let schemes: Vec<Named> =
            texts.iter().map(|text| named("--schemes", text, simulation)).collect::<Result<_>>()?;
        if let Some(k) = (1..schemes.len()).find(|&k| schemes[..k].iter().any(|(name, _)| *name == schemes[k].0)) {
            return Err(Error::invalid("--schemes", format!("`{}` is named twice", schemes[k].0), "name each once"));
        }
        return Ok(schemes);
    }
    let own = simulation.scheme().name();
    let all = scheme::names().into_iter().filter(|name| *name != "newmark" || *name == own);
    all.map(|name| named("--schemes", name, simulation)).collect()
}

/// `NAME` or `NAME:SETTING=X`; without settings, that of the simulation has its own.
fn named(option: &str, text: &str, simulation: &Simulation) -> Result<Named> {
    let (name, setting) = text.split_once(':').unwrap_or((text, ""));
    let own = simulation.scheme();
    let settings = match setting {
        "" if name == own.name() => own.settings().into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        _ => settings::assignments(option, &[setting.to_string()])?,
    };
    Ok((text.to_string(), scheme::by_name(name, &settings)?))
}

/// The simulation's own step and those around it; where the largest does not divide its time, it ends earlier.
fn ladder(simulation: Simulation) -> Result<(Simulation, Vec<f64>)> {
    let grid = simulation.grid();
    let times = grid.times();
    let (start, end) = (times[0], times[times.len() - 1]);
    let step = grid.uniform_step().unwrap_or((end - start) / grid.count() as f64);
    let steps: Vec<f64> = LADDER.iter().map(|factor| factor * step).collect();
    let count = ((end - start) / steps[0] * (1.0 + 1e-9)).floor();
    if count < 1.0 {
        let problem = format!("{} s is shorter than four steps of {} s", shown(end - start), shown(step));
        return Err(Error::invalid("the simulated time", problem, "give --steps, a later --end or a smaller --step"));
    }
    let last = start + count * steps[0];
    if (last - end).abs() <= 1e-6 * step {
        return Ok((simulation, steps));
    }
    tell(&format!("note: it ends at t = {} s, which steps of {} s divide", shown(last), shown(steps[0])));
    let grid = TimeGrid::uniform(start, last, step)?;
    let signals = simulation.signals().to_vec();
    Ok((simulation.on(grid, signals)?, steps))
}

fn text(title: String, study: &WorkPrecision, rows: &[Row]) -> String {
    let reference = &study.reference;
    let uncertainty = &reference.uncertainty;
    let differences: Vec<String> = ["q", "q'", "q''", "λ"]
        .iter()
        .zip(uncertainty.list())
        .filter_map(|(name, gap)| Some(format!("{name} {:.0e}", gap?)))
        .collect();
    let mut parts = vec![
        title,
        format!(
            "largest errors over time beside {} with steps of {} s, relative to the largest value of each coordinate and multiplier (the \
             reference differs from a run with twice its step by {})",
            reference.scheme,
            shown(reference.step),
            differences.join(", ")
        ),
        errors(rows),
    ];
    parts.push(format!(
        "largest violation of constraints C and of their rates, change of energy beside the largest kinetic energy, Newton iterations a \
         step, time of a step (measured here: median of {}), difference of adjoint and tangents beside the largest entry",
        if study.repeat == 1 { "1 run".to_string() } else { format!("{} runs", study.repeat) }
    ));
    parts.push(manners(rows));
    if let Energy::Unknown(reason) = &reference.energy {
        parts.push(format!("no energy: {reason}"));
    }
    let failed = rows.iter().filter_map(|row| Some(format!("{}: {}", label(row), row.outcome.as_ref().err()?)));
    let without = rows.iter().filter_map(|row| {
        let reason = row.outcome.as_ref().ok()?.gradient_failure.as_ref()?;
        Some(format!("{}, gradient: {reason}", label(row)))
    });
    let failed: Vec<String> = failed.chain(without).collect();
    if !failed.is_empty() {
        parts.push(format!("failed:\n  {}", failed.join("\n  ")));
    }
    parts.join("\n\n")
}

fn label(row: &Row) -> String {
    format!("{} {}", row.scheme, shown(row.step))
}

fn cell(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.1e}"))
}

fn rough(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| format!("{value:.0e}"))
}

fn errors(rows: &[Row]) -> String {
    let header = ["scheme, step [s]", "q", "order", "q''", "order", "λ", "order"];
    let nothing = Gaps::default();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let (errors, orders) = match &row.outcome {
                Ok(Measured { errors, orders, .. }) => (errors, orders),
                Err(_) => (&nothing, &nothing),
            };
            let mut cells = vec![label(row)];
            for kind in [0, 2, 3] {
                cells.push(cell(errors.list()[kind]));
                cells.push(orders.list()[kind].map_or("-".to_string(), |order| format!("{order:.2}")));
            }
            cells
        })
        .collect();
    table(&header, &rows)
}

fn manners(rows: &[Row]) -> String {
    let header = ["scheme, step [s]", "C", "C'", "C''", "energy", "Newton", "µs", "adjoint"];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let measured = row.outcome.as_ref().ok();
            let mut cells = vec![label(row)];
            cells.extend((0..3).map(|level| rough(measured.and_then(|own| Some(own.drift?[level])))));
            cells.push(cell(measured.and_then(|own| own.energy)));
            cells.push(measured.map_or("-".to_string(), |own| format!("{:.2}", own.iterations)));
            cells.push(measured.map_or("-".to_string(), |own| format!("{:.2}", 1e6 * own.seconds_per_step)));
            cells.push(rough(measured.and_then(|own| own.gradient)));
            cells
        })
        .collect();
    table(&header, &rows)
}
