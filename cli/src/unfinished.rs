//! What a run has done so far: kept in the folder of its results until they are there, taken over by the same command, refused to another one.

use super::Arguments as All;
use super::console::tell;
use super::identify::Arguments;
use clap::CommandFactory;
use costate::sensitivity::Method;
use costate_identify::Result;
use costate_identify::Settings;
use costate_identify::problem::Problem;
use costate_identify::problem_file;
use costate_identify::work::{Team, Work};
use costate_report::{Folder, Origin, words};
use serde_json::{Map, Value, json};

/// The folder within that of the results.
const UNFINISHED: &str = "unfinished";

/// Options that results do not depend on, and those that are described in other words.
const LEFT_OUT: [&str; 19] = [
    "model",
    "data",
    "from",
    "starts",
    "start_factor",
    "start_seed",
    "profiles",
    "bootstrap",
    "bootstrap_seed",
    "bootstrap_over",
    "block",
    "bands",
    "memory",
    "out",
    "png",
    "report",
    "json",
    "quiet",
    "verbose",
];

/// Work of an identification, divided among the ranks if there are several, and kept in the folder of its results if there is one.
///
/// # Errors
/// What is there is of another problem.
pub(super) fn work<'a>(
    arguments: &Arguments,
    problem: &Problem,
    settings: &Settings,
    origin: &Origin,
    (folder, team): (Option<&Folder>, Option<&'a Team<'a>>),
) -> Result<Work<'a>> {
    if !arguments.is_divided() {
        return Ok(Work::default());
    }
    let work = Work::of(description(arguments, problem, settings, origin)?).divided_among(team);
    let Some(folder) = folder else { return Ok(work) };
    let place = folder.path().join(UNFINISHED);
    let work = work.kept_in(&place)?;
    if work.left_over() > 0 {
        let place = place.display();
        tell(&format!(
            "going on with an unfinished run: {} of its results are taken over from {place}",
            work.left_over()
        ));
    }
    Ok(work)
}

/// All that results depend on.
fn description(arguments: &Arguments, problem: &Problem, settings: &Settings, origin: &Origin) -> Result<Value> {
    let parameter = |k: usize| {
        let own = &problem.parameters[k];
        let keys = json!({
            "start": problem.start[k], "lower": own.lower, "upper": own.upper, "scale": own.scale.name(), "size": problem.size(k),
            "free": own.free,
        });
        (own.name.clone(), keys)
    };
    let parameters: Map<String, Value> = (0..problem.parameters.len()).map(parameter).collect();
    let read = origin.input_files.iter().filter(|file| file.role != "problem").enumerate();
    let files: Map<String, Value> =
        read.map(|(k, file)| (format!("{} {}", file.role, k + 1), json!(file.sha256))).collect();
    let starts = arguments.certainty.starts();
    Ok(json!({
        "costate_version": env!("CARGO_PKG_VERSION"),
        "model": problem.name,
        "method": settings.method_for(problem).0.to_string(),
        "options": options(&origin.command),
        "problem_file": arguments.problem.file().map(problem_file::keys).transpose()?,
        "sha256": files,
        "parameters": parameters,
        "starts": starts.map(|starts| json!({"count": starts.count, "factor": starts.factor, "seed": starts.seed})),
        "computed": computed(problem, settings),
    }))
}

/// Cost and gradient at the start: what is in no file and no option, such as the model's own equations.
fn computed(problem: &Problem, settings: &Settings) -> Value {
    let (free, mut slope) = (problem.free(), vec![0.0; problem.parameters.len()]);
    let cost = problem.gradient().and_then(|gradient| {
        let mut gradient = gradient.with_respect_to(&free).interrupted_by(&settings.options.interrupt);
        gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope)
    });
    let name = |k: usize| problem.parameters[k].name.clone();
    match cost {
        Ok(cost) => {
            let slopes: Map<String, Value> = free.iter().map(|&k| (name(k), json!(slope[k]))).collect();
            json!({"cost at the start": cost, "slope at the start": slopes})
        }
        Err(error) => json!({"cost at the start": error.to_string()}),
    }
}

/// The options of a command that results depend on, as they were given.
fn options(command: &str) -> Value {
    let all = All::command();
    let given = words(command).and_then(|words| all.clone().try_get_matches_from(words).ok());
    let Some((own, given)) = given.as_ref().and_then(|given| given.subcommand()) else { return json!(command) };
    let known = all.get_subcommands().filter(|command| command.get_name() == own).flat_map(|own| own.get_arguments());
    let text = |id: &str| -> Option<String> {
        let values = given.try_get_raw(id).ok()??;
        Some(values.map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(" "))
    };
    let asked = known.filter(|argument| !LEFT_OUT.contains(&argument.get_id().as_str()));
    asked
        .filter_map(|argument| Some((format!("--{}", argument.get_long()?), json!(text(argument.get_id().as_str())?))))
        .collect::<Map<_, _>>()
        .into()
}
