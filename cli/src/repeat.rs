//! `costate identify --from RESULT` alone: the run that a result tells of, once more.

use super::console::{print, tell};
use super::identify::{self, Arguments};
use super::result::Earlier;
use super::{Command, ExitStatus};
use clap::Parser;
use costate_identify::Identification;
use costate_identify::problem::Problem;
use costate_identify::registry::Registry;
use costate_identify::steps::{StepChoice, Steps};
use costate_identify::work::Team;
use costate_identify::{Error, Result};
use costate_report::words;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// An earlier identification that is repeated.
pub(super) struct Repeat {
    pub earlier: Earlier,
    /// The command that found it.
    pub command: String,
    /// True if other data take the place of its own.
    other_data: bool,
}

/// Finds again what the result at `path` describes; `asked` says where to and how much is written.
pub(super) fn run(
    registry: &Registry,
    (asked, team): (&Arguments, Option<&Team<'_>>),
    path: &Path,
) -> Result<ExitStatus> {
    let earlier = Earlier::read(path)?;
    only_what_changes_nothing(asked)?;
    let (command, mut arguments) = recorded(&earlier)?;
    let other_data = !asked.problem.data.is_empty();
    refuse_changed(&earlier, other_data)?;
    let version = earlier.document["costate_version"].as_str().unwrap_or("of unknown version");
    if version != env!("CARGO_PKG_VERSION") {
        let own = env!("CARGO_PKG_VERSION");
        tell(&format!("warning: the result is of costate {version}, this is {own}: numbers may differ"));
    }
    if earlier.document["reason"].as_str().is_some_and(|reason| reason.contains("interrupted")) {
        tell("warning: the earlier search was interrupted, this one is not: it may find something else");
    }
    if other_data {
        arguments.problem.data.clone_from(&asked.problem.data);
    }
    let usual = PathBuf::from("out").join(format!("{}_repeated", earlier.model.replace('-', "_")));
    arguments.out = asked.out.clone().or((!asked.json).then_some(usual));
    arguments.json = asked.json;
    arguments.png |= asked.png;
    arguments.report = asked.report || (arguments.report && arguments.out.is_some());
    identify::search(registry, (&arguments, team), Some(&Repeat { earlier, command, other_data }))
}

/// A repetition with another method is none.
fn only_what_changes_nothing(asked: &Arguments) -> Result<()> {
    let mut plain = Arguments::default();
    (plain.png, plain.report, plain.json) = (asked.png, asked.report, asked.json);
    plain.out.clone_from(&asked.out);
    plain.problem.from.clone_from(&asked.problem.from);
    plain.problem.data.clone_from(&asked.problem.data);
    if plain == *asked {
        return Ok(());
    }
    let problem = "without a model it repeats a run, in which nothing can be changed but --data, --out, --png, --report and --json";
    Err(Error::invalid("--from", problem, "name the model or the problem file, too, to begin with the result's values"))
}

/// The command of a result, and what it asked for.
fn recorded(earlier: &Earlier) -> Result<(String, Arguments)> {
    let remedy = "name the model or the problem file, too, to begin with its values";
    let wrong = |problem: String| Error::file(earlier.path(), None, problem, remedy);
    let Some(command) = earlier.document["command"].as_str() else {
        return Err(wrong("it does not say by which command it was found, so it cannot be repeated".to_string()));
    };
    let read = words(command).map(super::Arguments::try_parse_from);
    match read {
        Some(Ok(super::Arguments { command: Command::Identify(arguments), .. })) => {
            Ok((command.to_string(), *arguments))
        }
        Some(Ok(_)) => Err(wrong(format!("it was not found by `identify`, but by `{command}`"))),
        _ => Err(wrong(format!("this costate does not understand the command that found it, `{command}`"))),
    }
}

/// Refuses files that are not those that were read then.
fn refuse_changed(earlier: &Earlier, other_data: bool) -> Result<()> {
    let mut changed = Vec::new();
    let mut is_data_alone = true;
    for file in earlier.files() {
        let (role, path) = (file.role, file.path);
        let is_data = role == "data" || role == "validation";
        if is_data && other_data {
            continue;
        }
        let Some(reason) = file.difference() else { continue };
        is_data_alone &= is_data;
        changed.push(format!("{role} {path} {reason}"));
    }
    if changed.is_empty() {
        return Ok(());
    }
    let remedy = match is_data_alone {
        true => {
            "bring it back (paths are those of the folder where the command ran), or give --data FILE.csv for another run"
        }
        false => {
            "bring it back (paths are those of the folder where the command ran), or name the problem file to run what it says now"
        }
    };
    Err(Error::file(earlier.path(), None, format!("this run cannot be repeated: {}", changed.join("; ")), remedy))
}

impl Repeat {
    /// Warns of what the model has otherwise than then.
    pub fn warn_of_changes(&self, problem: &Problem) -> Result<()> {
        self.earlier.check(&problem.name)?;
        let then: Vec<(&str, f64)> = self.parameters("start");
        let now = problem.parameters.iter().zip(&problem.start);
        let now: Vec<(&str, f64)> = now.map(|(parameter, start)| (&*parameter.name, *start)).collect();
        for (name, start) in then.iter().filter(|_| !self.other_data) {
            match now.iter().find(|(other, _)| other == name) {
                None => tell(&format!("warning: there is no parameter `{name}` any more: the model is another")),
                Some((_, other)) if other != start => {
                    tell(&format!(
                        "warning: `{name}` started at {start}, and starts at {other} now: the model is another"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The steps that were chosen then; of other data they are chosen once more.
    pub fn steps(&self) -> Option<Steps> {
        let then = || StepChoice::of_json(&self.earlier.document["time_step"]["chosen"]).unwrap_or_default();
        (!self.other_data).then(then)
    }

    fn parameters(&self, key: &str) -> Vec<(&str, f64)> {
        let listed = self.earlier.document["parameters"].as_array();
        let value = |entry: &'_ Value| -> Option<f64> { entry[key].as_f64() };
        listed.into_iter().flatten().filter_map(|entry| Some((entry["name"].as_str()?, value(entry)?))).collect()
    }

    /// Differences from the earlier result, in words; nothing if parameters and cost are the same to the last bit.
    fn differences(&self, found: &Identification) -> Vec<String> {
        let mut differences = Vec::new();
        let then = self.parameters("value");
        for estimate in &found.parameters {
            match then.iter().find(|(name, _)| *name == estimate.name) {
                Some((_, value)) if value.to_bits() == estimate.value.to_bits() => {}
                Some((name, value)) => differences.push(format!("`{name}` is {}, and was {value}", estimate.value)),
                None => differences.push(format!("`{}` is new", estimate.name)),
            }
        }
        let (cost, before) = (found.outcome.cost, self.earlier.document["cost"].as_f64());
        if before.is_none_or(|before| before.to_bits() != cost.to_bits()) {
            differences.push(format!("the cost is {cost}, and was {}", self.earlier.document["cost"]));
        }
        differences
    }

    /// Compares, unless data are others: for `result.json`, and in words unless a document is printed.
    pub fn compare(&self, found: &Identification, json_alone: bool, document: &mut Value) -> ExitStatus {
        let path = self.earlier.path().display();
        let differences = self.differences(found);
        let identical = differences.is_empty();
        document["repeats"] =
            json!({"result": path.to_string(), "identical": identical, "other_data": self.other_data});
        let sentence = match (identical, self.other_data) {
            (true, _) => format!("the same parameters and cost to the last bit as in {path}"),
            (false, true) => format!("of other data than {path}: {}", differences.join("; ")),
            (false, false) => format!("NOT the same as in {path}: {}", differences.join("; ")),
        };
        if json_alone {
            tell(&sentence)
        } else {
            print(&sentence)
        }
        if identical || self.other_data { ExitStatus::Success } else { ExitStatus::Failure }
    }
}
