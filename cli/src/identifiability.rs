//! `costate identifiability`

use super::ExitStatus;
use super::console::{print, print_document, tell, waiting};
use super::settings::{self, ProblemArguments, tell_of_deviations};
use costate_file::is_robot;
use costate_identify::Result;
use costate_identify::registry::Registry;
use costate_identify::statistics::{identifiability, said_of_steps_alone};
use serde_json::json;
use std::path::Path;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    #[command(flatten)]
    freedom: settings::Freedom,
    /// Point: `start`, `nominal`, or name=value,.. (the others at their start)
    #[arg(long, default_value = "start", value_name = "POINT", allow_hyphen_values = true)]
    at: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let mut specification = arguments.problem.specification()?;
    arguments.freedom.set(&mut specification)?;
    let problem = settings::build(&specification, registry)?;
    let u = settings::point(&problem, &arguments.at)?;
    if is_robot(Path::new(&specification.model)) {
        let model = &specification.model;
        tell(&format!(
            "note: without drives the robot only falls, and that is what is asked about here; of a motion within its limits: costate init {model} \
             --excitation 10, and costate identifiability of the problem that it writes"
        ));
    }
    tell_of_deviations(&problem);
    let waiting = waiting("a run with tangents", 0);
    let found = identifiability(&problem, &u)?;
    let by_steps_alone = found.by_steps_alone(&problem, &u)?;
    drop(waiting);
    let mut warnings = said_of_steps_alone(&problem, &by_steps_alone);
    // what follows rests on derivatives
    warnings.extend(problem.told_of_jumps(&u)?);
    warnings.extend(problem.told_of_modes_that_meet(&u));
    warnings.extend(problem.told_of_shared_noise("this ranking"));
    warnings.extend(found.warnings());
    if arguments.json {
        let mut result = found.json();
        result["model"] = json!(problem.name);
        result["at"] = json!(arguments.at);
        result["told_by_steps_alone"] = json!(said_of_steps_alone(&problem, &by_steps_alone));
        print_document(&format!("{result:#}"));
    } else {
        print(&format!("{}: at {}\n\n{}", problem.name, arguments.at, found.report()));
        for warning in warnings {
            print(&format!("warning: {warning}"));
        }
    }
    let determined = found.undetermined.is_empty() && by_steps_alone.is_empty() && found.without_influence.is_empty();
    Ok(if determined { ExitStatus::Success } else { ExitStatus::Failure })
}
