//! `costate models`

use super::ExitStatus;
use super::console::{print, print_document};
use costate::shown::number;
use costate::{Parameter, Quantity};
use costate_identify::problem_file;
use costate_identify::registry::{Entry, Registry};
use costate_identify::table::table_within;
use costate_identify::{Error, Result};
use serde_json::{Value, json};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Say all of this model, or of a mechanism file: parameters, inputs, outputs, built-in problem
    model: Option<String>,
    /// Print the model's mechanism file, to begin another with
    #[arg(long, requires = "model", conflicts_with_all = ["names", "json"])]
    file: bool,
    /// Names only, one a line
    #[arg(long)]
    names: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "names")]
    json: bool,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let chosen: Vec<&Entry> = match &arguments.model {
        Some(name) => vec![registry.get(name)?],
        None => registry.entries().iter().collect(),
    };
    if arguments.file {
        let texts: Vec<String> = chosen.into_iter().map(|entry| as_file(registry, entry)).collect::<Result<_>>()?;
        print_document(texts.join("\n").trim_end());
    } else if arguments.names {
        chosen.iter().for_each(|entry| print(entry.name()));
    } else if arguments.json {
        let all: Vec<Value> = chosen.into_iter().map(document).collect::<Result<_>>()?;
        print_document(&format!("{:#}", Value::Array(all)));
    } else if arguments.model.is_some() {
        let texts: Vec<String> = chosen.into_iter().map(describe).collect::<Result<_>>()?;
        print(&texts.join("\n\n"));
    } else {
        print(&overview(&chosen));
    }
    Ok(ExitStatus::Success)
}

/// The mechanism file of a model.
fn as_file(registry: &Registry, entry: &Entry) -> Result<String> {
    match (entry.as_file, entry.files.first()) {
        (Some(text), _) => Ok(text.to_string()),
        (None, Some(file)) => problem_file::text(file),
        (None, None) => {
            let known = registry.entries().iter().filter(|entry| entry.as_file.is_some());
            let names: Vec<&str> = known.map(Entry::name).collect();
            let names = if names.is_empty() { "none".to_string() } else { names.join(", ") };
            let problem = "it is written in Rust, and not in a file";
            Err(Error::invalid(
                format!("model `{}`", entry.name()),
                problem,
                format!("models that are in files, too: {names}"),
            ))
        }
    }
}

/// A line a model.
fn overview(entries: &[&Entry]) -> String {
    const WIDTH: usize = 80;
    let longest = entries.iter().map(|entry| entry.name().chars().count()).max().unwrap_or(0);
    let line = |entry: &&Entry| {
        let line = format!("{:<longest$}  {}", entry.name(), entry.summary);
        if line.chars().count() <= WIDTH {
            return line;
        }
        let cut: String = line.chars().take(WIDTH - 2).collect();
        let whole = cut.rfind(' ').map_or(cut.as_str(), |end| &cut[..end]);
        format!("{} ..", whole.trim_end_matches([',', ';', ' ']))
    };
    let lines: Vec<String> = entries.iter().map(line).collect();
    format!("{}\nall of one, with parameters, inputs and outputs: costate models NAME", lines.join("\n"))
}

/// A model for programs.
fn document(entry: &Entry) -> Result<Value> {
    let signature = entry.system.signature();
    let start = entry.start(&entry.scenario)?;
    let list = |quantities: &[Quantity]| -> Value {
        quantities.iter().map(|quantity| json!({"name": quantity.name, "unit": quantity.unit})).collect()
    };
    let parameter = |(p, start): (&Parameter, f64)| {
        let Parameter { name, unit, nominal, lower, upper, scale, free, size } = p;
        // a bound that is infinite is null
        json!({
            "name": name, "unit": unit, "nominal": nominal, "start": start, "lower": lower, "upper": upper,
            "scale": scale.name(), "free": free, "size": size,
        })
    };
    let scenario = &entry.scenario;
    Ok(json!({
        "model": entry.name(),
        "summary": entry.summary,
        "coordinates": list(&signature.coordinates),
        "states": list(&signature.states),
        "constraints": list(&signature.constraints),
        "degrees_of_freedom": entry.system.degrees_of_freedom(),
        "inputs": list(&signature.inputs),
        "outputs": list(&signature.outputs),
        "parameters": signature.parameters.iter().zip(start).map(parameter).collect::<Vec<_>>(),
        "compared": scenario.outputs,
        "end": scenario.end,
        "step": scenario.step,
        "scheme": scenario.integrator.scheme,
        "has_control": entry.control.is_some(),
    }))
}

fn describe(entry: &Entry) -> Result<String> {
    let signature = entry.system.signature();
    let start = entry.start(&entry.scenario)?;
    let list = |quantities: &[Quantity]| quantities.iter().map(Quantity::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![entry.name().to_string(), format!("  {}", entry.summary)];
    for (kind, quantities) in [
        ("coordinates", &signature.coordinates),
        ("states", &signature.states),
        ("constraints", &signature.constraints),
        ("inputs", &signature.inputs),
        ("outputs", &signature.outputs),
    ] {
        if !quantities.is_empty() {
            lines.push(format!("  {kind}: {}", list(quantities)));
        }
    }
    if !signature.constraints.is_empty() {
        lines.push(format!("  degrees of freedom: {}", entry.system.degrees_of_freedom()));
    }
    let scenario = &entry.scenario;
    lines.push(format!(
        "  built-in problem: find the free parameters from {} over {} s, h = {} s, {}",
        scenario.outputs.join(", "),
        scenario.end,
        scenario.step,
        scenario.integrator
    ));
    let bound = |x: f64| if x.is_infinite() { String::new() } else { number(x) };
    let rows: Vec<Vec<String>> = signature
        .parameters
        .iter()
        .zip(&start)
        .map(|(p, start)| {
            vec![
                p.name.clone(),
                p.unit.clone(),
                number(p.nominal),
                number(*start),
                bound(p.lower),
                bound(p.upper),
                p.scale.name().to_string(),
                if p.free { "free" } else { "fixed" }.to_string(),
            ]
        })
        .collect();
    let header = ["parameter", "unit", "nominal", "start", "lower", "upper", "scale", ""];
    lines.extend(table_within(76, &header, &rows).lines().map(|line| format!("    {line}")));
    Ok(lines.join("\n"))
}
