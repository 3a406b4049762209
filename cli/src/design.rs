//! `costate design`: which experiment next.

use super::ExitStatus;
use super::console::{tell, waiting};
use super::output::Output;
use super::settings::{self, ProblemArguments};
use costate::shown::{number, rounded};
use costate_identify::Result;
use costate_identify::design::{Assessed, Assessment, Comparison, Optimality};
use costate_identify::registry::Registry;
use costate_identify::table::table;
use costate_report::{Folder, design_json, design_sentences};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Rank by the mean of the error ellipsoid's axes: D (geometric), A (root of mean square) or E (the longest)
    #[arg(long, value_name = "D|A|E", default_value = "D")]
    criterion: String,
    /// Point: `start`, `nominal`, or name=value,.. (the others at their start)
    #[arg(long, default_value = "start", value_name = "POINT", allow_hyphen_values = true)]
    at: String,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let optimality: Optimality = arguments.criterion.parse()?;
    let specification = arguments.problem.specification()?;
    let (design, notes) = specification.design(registry)?;
    settings::say_of(notes, &design.problem);
    let u = settings::point(&design.problem, &arguments.at)?;
    let folder = arguments.output.folder(&arguments.problem.folder_name(&design.problem.name, "design"))?;
    let waiting = waiting("runs with tangents", design.problem.experiments.len());
    let found = design.compare(&u, optimality)?;
    drop(waiting);
    let warnings = [design.problem.told_of_jumps(&u)?, design.problem.told_of_shared_noise("a design")];
    warnings.iter().flatten().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let name = &design.problem.name;
    let document = design_json(name, &found);
    let write = |folder: &Folder| folder.design(&found, document.clone());
    let files = "design.json, design.csv, figure";
    Ok(arguments.output.tell(folder, &document, || text(name, &found), (files, write)))
}

/// A standard error, and by how much it has shrunk.
fn error(after: f64, before: f64) -> String {
    match (after.is_finite(), before.is_finite()) {
        (false, _) => "not determined".to_string(),
        (true, false) => rounded(after, 3),
        (true, true) => match rounded(before / after, 2).as_str() {
            "1" => rounded(after, 3),
            less => format!("{} ({less}x less)", rounded(after, 3)),
        },
    }
}

fn mean(value: f64) -> String {
    if value.is_finite() { rounded(value, 3) } else { "-".to_string() }
}

fn text(name: &str, found: &Comparison) -> String {
    let of = |label: String, after: &Assessment, before: Option<&Assessment>| {
        let mut row = vec![label];
        row.extend((0..found.parameters.len()).map(|k| {
            let before = before.map_or(f64::INFINITY, |before| before.standard_errors[k]);
            error(after.standard_errors[k], before)
        }));
        row.extend(after.means.iter().map(|value| mean(*value)));
        row
    };
    let labels: Vec<String> = found.parameters.iter().map(|own| format!("{} [{}]", own.name, own.unit)).collect();
    let mut header: Vec<&str> = vec!["standard errors with"];
    header.extend(labels.iter().map(String::as_str));
    header.extend(["D", "A", "E"]);
    let before = Some(&found.before);
    let mut rows = vec![of(format!("{} samples so far", found.samples), &found.before, None)];
    rows.extend(found.candidates.iter().map(|own| of(own.candidate.name.clone(), &own.after, before)));
    let values = found.parameters.iter().map(|own| format!("{} = {} {}", own.name, number(own.value), own.unit));
    let mut parts = vec![
        format!(
            "{name}: the next experiment, ranked by {}, for {}",
            found.optimality.name(),
            values.collect::<Vec<_>>().join(", ")
        ),
        table(&header, &rows),
        "D, A, E: means of the axes of the ellipsoid of errors, each parameter beside its size: geometric, root of mean square, longest"
            .to_string(),
    ];
    let several = |own: &&Assessed| !own.sensors.is_empty();
    let alone = found.candidates.iter().filter(several).flat_map(|own| {
        own.sensors.iter().map(move |sensor| (format!("{}: {}", own.candidate.name, sensor.output.name), &sensor.after))
    });
    let alone: Vec<Vec<String>> = alone.map(|(label, after)| of(label, after, before)).collect();
    if !alone.is_empty() {
        header[0] = "one sensor alone";
        parts.push(table(&header, &alone));
    }
    parts.push(design_sentences(found).join("\n"));
    parts.join("\n\n")
}
