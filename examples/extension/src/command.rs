//! `parameters MODEL`: names, values and units.

use costate_cli::clap::{Arg, ArgMatches, Command};
use costate_cli::registry::Registry;
use costate_cli::{ExitStatus, OwnCommand, say};
use costate_identify::Result;

/// The command.
pub struct Parameters;

impl OwnCommand for Parameters {
    fn arguments(&self) -> Command {
        Command::new("parameters").about("List the parameters of a model").arg(Arg::new("model").required(true))
    }

    fn run(&self, registry: &Registry, arguments: &ArgMatches) -> Result<ExitStatus> {
        // clap has refused a command line without it
        let model = arguments.get_one::<String>("model").map_or("", String::as_str);
        for parameter in &registry.get(model)?.system.signature().parameters {
            say(&format!("{} = {} {}", parameter.name, parameter.nominal, parameter.unit));
        }
        Ok(ExitStatus::Success)
    }
}
