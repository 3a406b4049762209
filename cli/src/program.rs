//! The program: the commands of this crate and of others.

use super::console::{self, Loudness};
use super::{Arguments, Command, ExitStatus, begin, begin_with, together};
use crate::ranks::{self, Launch};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use costate_identify::registry::Registry;
use costate_identify::{Error, Result};
use std::ffi::OsString;
use std::process::ExitCode;

/// A command of your own, beside those of this crate.
///
/// ```
/// use costate_cli::clap::{Arg, ArgMatches, Command};
/// use costate_cli::registry::Registry;
/// use costate_cli::{ExitStatus, OwnCommand, say};
///
/// /// `PROGRAM parameters MODEL`
/// struct Parameters;
///
/// impl OwnCommand for Parameters {
///     fn arguments(&self) -> Command {
///         Command::new("parameters").about("List the parameters of a model").arg(Arg::new("model").required(true))
///     }
///
///     fn run(&self, registry: &Registry, arguments: &ArgMatches) -> costate_identify::Result<ExitStatus> {
///         let model = arguments.get_one::<String>("model").map_or("", String::as_str);
///         for parameter in &registry.get(model)?.system.signature().parameters {
///             say(&parameter.name);
///         }
///         Ok(ExitStatus::Success)
///     }
/// }
///
/// // in `main`, instead of `costate_cli::main(my_registry())`
/// # let my_registry = || Ok(Registry::new());
/// let program = costate_cli::Program::new(my_registry()).with_command(Parameters);
/// # let _ = program;
/// ```
pub trait OwnCommand {
    /// Name, line of help and arguments of the command.
    fn arguments(&self) -> clap::Command;

    /// Runs the command. It has `--quiet` and `--verbose`, too, which [`say`] keeps to.
    ///
    /// # Errors
    /// Wrong input, or whatever else ends it: the program says so and exits with code 2.
    fn run(&self, registry: &Registry, arguments: &ArgMatches) -> Result<ExitStatus>;
}

/// Prints a line of a result on standard output; whether that fails, such as on a full disk, is reported when the command has ended.
pub fn say(text: &str) {
    console::print(text);
}

/// A program with the commands of this crate, on the models of a registry, and with others.
pub struct Program {
    pub(super) registry: Result<Registry>,
    commands: Vec<Box<dyn OwnCommand>>,
}

/// Loudness and command that the command line asks for.
pub(super) struct Asked {
    pub loudness: Loudness,
    pub command: AskedCommand,
}

pub(super) enum AskedCommand {
    Ours(Box<Command>),
    /// A command of others by its place, with its arguments.
    Own(usize, ArgMatches),
}

impl Program {
    /// A program with the commands of this crate, which know mechanism files, too. A registry that could not be made is reported when a command needs it.
    pub fn new(registry: Result<Registry>) -> Self {
        Program {
            registry: registry
                .map(|registry| registry.with_files(costate_file::read).with_formulas(costate_file::FORMULAS)),
            commands: Vec::new(),
        }
    }

    /// Adds a command. One that has the name of another is refused when the program runs.
    pub fn with_command(mut self, command: impl OwnCommand + 'static) -> Self {
        let arguments = command.arguments();
        let name = arguments.get_name();
        if self.arguments().get_subcommands().any(|known| known.get_name() == name || name == "help") {
            let subject = format!("command `{name}`");
            self.registry = Err(Error::invalid(subject, "another command has this name", "choose another name"));
        } else {
            self.commands.push(Box::new(command));
        }
        self
    }

    /// Runs the command line of this process; together with others, if it was started by MPI with others.
    pub fn main(self) -> ExitCode {
        let code = match Launch::found() {
            Some(launch) => ranks::among(&launch, |team| together(&self, team)),
            None => begin(&self, None).code,
        };
        ExitCode::from(console::exit_code(code))
    }

    /// Runs these arguments, the first of which is the program's name, alone; returns the exit code.
    pub fn run(&self, arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
        console::exit_code(begin_with(self, self.asked_by(arguments), None).code)
    }

    /// Arguments of all commands.
    pub(super) fn arguments(&self) -> clap::Command {
        Arguments::command().subcommands(self.commands.iter().map(|own| own.arguments()))
    }

    /// Reads the command line of this process.
    pub(super) fn asked(&self) -> std::result::Result<Asked, clap::Error> {
        self.asked_by(std::env::args_os())
    }

    fn asked_by(
        &self,
        arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> std::result::Result<Asked, clap::Error> {
        let matches = self.arguments().try_get_matches_from(arguments)?;
        let loudness = match ["quiet", "verbose"].map(|flag| matches.get_flag(flag)) {
            [true, _] => Loudness::Quiet,
            [false, true] => Loudness::Verbose,
            [false, false] => Loudness::Normal,
        };
        let place = |name: &str| self.commands.iter().position(|own| own.arguments().get_name() == name);
        let own = matches.subcommand().and_then(|(name, matches)| Some((place(name)?, matches)));
        let command = match own {
            Some((place, matches)) => AskedCommand::Own(place, matches.clone()),
            None => AskedCommand::Ours(Box::new(Arguments::from_arg_matches(&matches)?.command)),
        };
        Ok(Asked { loudness, command })
    }

    /// Runs a command of others.
    pub(super) fn run_own(&self, place: usize, registry: &Registry, matches: &ArgMatches) -> Result<ExitStatus> {
        // places come from the same list
        self.commands.get(place).map_or(Ok(ExitStatus::Failure), |own| own.run(registry, matches))
    }
}
