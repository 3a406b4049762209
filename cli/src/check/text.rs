//! A check for a person.

use super::diagnosis::{Looked, percent};
use super::problem::Found;
use crate::console::counted;
use crate::duration::Duration;
use costate::scheme;
use costate::shown::shown;
use costate::shown::{number, rounded};
use costate_identify::problem::Problem;
use costate_identify::response::ResponseResult;
use costate_identify::table::table;
use costate_report::InputFile;

/// Experiments that are listed one by one at most.
const MOST_EXPERIMENTS: usize = 8;
/// Entries of the gradient that are listed at most.
const ENTRIES: usize = 12;

/// Everything, experiments in this `order`.
pub(super) fn report(problem: &Problem, found: &Found, order: &[usize]) -> String {
    let mut lines = vec![format!(
        "{}: {} time steps by {}",
        problem.name,
        problem.steps(),
        scheme::in_words(problem.first().simulation.scheme())
    )];
    if let Some(before) = found.before_fit.as_ref().filter(|_| found.chooses_steps) {
        lines.push(before.sentence());
    }
    if found.chooses_steps {
        lines.push("`identify` takes finer ones if the parameters that it finds depend on them".to_string());
    }
    lines.extend(files(&found.files));
    // a few in their own order, of many the worst
    let mut shown: Vec<usize> = order.iter().copied().take(MOST_EXPERIMENTS).collect();
    shown.sort_unstable();
    for k in shown {
        lines.push(String::new());
        lines.extend(experiment(&found.experiments[k]));
    }
    if order.len() > MOST_EXPERIMENTS {
        lines.push(format!("\nand {} more, which fit better, in check.json", order.len() - MOST_EXPERIMENTS));
    }
    if !found.responses.is_empty() {
        lines.extend([String::new(), ResponseResult::report(&found.responses)]);
    }
    lines.push(String::new());
    if !found.gradient.is_empty() {
        lines.extend(parameters(problem, found));
    }
    lines.extend(found.duration.as_ref().map(Duration::in_words));
    lines.extend(found.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines.extend(found.wrong.iter().map(|sentence| format!("WRONG: {sentence}")));
    lines.push(match (found.wrong.len(), found.warnings.len()) {
        (0, 0) => "all is well".to_string(),
        (0, count) => format!("nothing is wrong; {}", counted(count, "warning")),
        (count, warnings) => format!("NOT ready: {} wrong, {}", counted(count, "thing"), counted(warnings, "warning")),
    });
    lines.join("\n")
}

/// Data files with the beginnings of their checksums.
fn files(files: &[InputFile]) -> Vec<String> {
    let data: Vec<&InputFile> = files.iter().filter(|file| file.role != "problem").collect();
    let line = |InputFile { role, path, bytes, sha256 }: &InputFile| match (bytes, sha256) {
        (Some(bytes), Some(sum)) => format!("{role} {path}: {bytes} bytes, SHA-256 {}..", sum.get(..16).unwrap_or(sum)),
        _ => format!("{role} {path}"),
    };
    let more = data.len().saturating_sub(MOST_EXPERIMENTS);
    let more = (more > 0).then(|| format!("and {more} more files, in check.json"));
    data.into_iter().take(MOST_EXPERIMENTS).map(line).chain(more).collect()
}

fn experiment(looked: &Looked) -> Vec<String> {
    let Looked { name, samples, from, until, substeps, .. } = looked;
    let sampling = match looked.sampling {
        Some(step) => format!("{} s apart ({} Hz)", shown(step), rounded(1.0 / step, 4)),
        None => looked.spacing.clone(),
    };
    let steps = match substeps {
        Some(1) => "a time step each".to_string(),
        Some(substeps) => format!("{substeps} time steps each"),
        None => format!("{} time steps in all", looked.steps),
    };
    let role = if looked.validation { ", for validation" } else { "" };
    let mut lines = vec![
        format!("experiment `{name}`{role}"),
        format!("  {samples} samples from {} s to {} s, {sampling}, {steps}", shown(*from), shown(*until)),
    ];
    let range = |low: f64, high: f64, unit: &str| format!("{} to {} {unit}", rounded(low, 4), rounded(high, 4));
    for (name, unit, low, high) in &looked.inputs {
        lines.push(format!("  input {name}: {}", range(*low, *high, unit)));
    }
    match &looked.outputs {
        Err(reason) => lines.push(format!("  it cannot be run at the start: {reason}")),
        // modes and responses are compared beside samples
        Ok(outputs) if outputs.is_empty() => {}
        Ok(outputs) => {
            let row = |output: &super::diagnosis::Compared| {
                let fit = &output.fit;
                vec![
                    format!("  {}", fit.name),
                    fit.residuals.len().to_string(),
                    output.missing.to_string(),
                    range(output.range.0, output.range.1, ""),
                    rounded(fit.rmse(), 4),
                    fit.unit.clone(),
                    fit.fit_percent.map_or("-".to_string(), percent),
                    // what is still to be estimated is no measure
                    match output.is_estimated {
                        true => "-".to_string(),
                        false => rounded(fit.rmse() / fit.deviation, 4),
                    },
                ]
            };
            let header = ["  output", "compared", "missing", "data", "RMSE", "unit", "fit", "RMSE/deviation"];
            lines.push(table(&header, &outputs.iter().map(row).collect::<Vec<_>>()));
        }
    }
    lines
}

/// Derivatives by free parameters, and what can be determined.
fn parameters(problem: &Problem, found: &Found) -> Vec<String> {
    let verdict = |k: usize| {
        let identified = found.identifiability.as_ref().ok()?;
        let place = identified.parameters.iter().position(|parameter| parameter.index == k)?;
        Some((identified.influences[place], identified.determinacy(place)))
    };
    let row = |&(k, entry): &(usize, f64)| {
        let parameter = &problem.parameters[k];
        let (influence, verdict) = verdict(k).map_or(("-".into(), "-"), |(x, word)| (format!("{x:.2e}"), word));
        vec![
            parameter.name.clone(),
            number(problem.start[k]),
            parameter.unit.clone(),
            format!("{entry:.3e}"),
            influence,
            verdict.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = found.gradient.iter().take(ENTRIES).map(row).collect();
    let header = ["parameter", "start", "unit", "derivative x size", "influence", "at the start"];
    let mut lines = vec![table(&header, &rows)];
    if found.gradient.len() > ENTRIES {
        lines.push(format!("and {} smaller derivatives, in check.json", found.gradient.len() - ENTRIES));
    }
    let condition = |value: f64| if value.is_finite() { rounded(value, 3) } else { "infinite".to_string() };
    lines.push(format!("cost {:.6e} at the start", found.cost));
    lines.push(match &found.identifiability {
        Ok(identified) => format!(
            "the data determine {} directions of {} free parameters; condition number {}",
            identified.rank(),
            identified.parameters.len(),
            condition(identified.condition())
        ),
        Err(reason) => format!("identifiability: {reason}"),
    });
    lines
}
