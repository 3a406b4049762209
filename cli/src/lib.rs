//! The command line, for the models of any registry:
//!
//! ```no_run
//! # fn my_registry() -> costate_identify::Result<costate_identify::registry::Registry> { Ok(costate_identify::registry::Registry::new()) }
//! fn main() -> std::process::ExitCode {
//!     costate_cli::main(my_registry())
//! }
//! ```
//!
//! Exit codes: 0 success (an identification converged, a check passed), 1 it ran but did not converge, the check failed, or results could
//! not be written, 2 wrong input, or a simulation that fails at the very start.
//!
//! Results are written before they are printed, all files of a run together: whoever is interrupted leaves those of the run before, or the
//! new ones. A reader of what is printed may go away at any time.
//!
//! It knows all crates below it and no model of its own: those are in the registry that it is given.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod animate;
mod bootstrap;
mod certainty;
mod check;
mod console;
mod control;
mod design;
mod draw;
mod duration;
mod gradient;
mod hessian;
mod identifiability;
mod identify;
mod init;
mod jacobians;
mod landscape;
mod models;
mod modes;
#[cfg(feature = "mpi")]
mod mpi;
mod new;
mod output;
mod program;
mod progress;
mod ranks;
mod remedy;
mod repeat;
mod report;
mod result;
mod schemes;
mod settings;
mod shell;
mod simulate;
mod step_error;
mod steps;
mod unfinished;

/// The crate by which arguments of commands of your own are described.
#[doc(no_inline)]
pub use clap;
use program::{Asked, AskedCommand};
pub use program::{OwnCommand, Program, say};

use clap::{Parser, Subcommand};
use console::Loudness;
use costate::{Interrupt, pace, parallel};
/// The items that a program with models of its own needs beside [`main`]: a registry to put them in, records, and what they fail with.
#[doc(no_inline)]
pub use costate_data as data;
#[doc(no_inline)]
pub use costate_identify::{Error, Result, problem, registry};

use costate_identify::work::{Farewell, Team};
use registry::Registry;
use std::process::ExitCode;

/// Exact gradients of multibody simulations, and parameter identification on top of them.
#[derive(Parser, Debug)]
#[command(name = "costate", version, about, after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// No notes and no progress on standard error: errors alone
    #[arg(short, long, global = true, display_order = 900, conflicts_with = "verbose")]
    quiet: bool,
    /// Every evaluation on standard error, too
    #[arg(short, long, global = true, display_order = 901)]
    verbose: bool,
}

const AFTER_HELP: &str = "\
Examples:
  costate models
  costate new plain my_model
  costate simulate my_model.toml
  costate init oscillator --data record.csv
  costate check oscillator.toml
  costate identify engine_mount --out results
  costate identify problem.toml --report
  costate control overhead_crane
  costate identify --from out/oscillator
  costate gradient oscillator --method all --set c=30
  costate schemes slider_crank
  costate jacobians slider_crank --time 0.5 --only J_M,C_q
  costate steps slider_crank --halvings 6
  costate landscape oscillator c d
  costate design problem.toml
  costate modes half_car --animate 1,2

Exit codes: 0 done, 1 not converged (or a check failed, or results could not be written), 2 wrong input or a failed simulation";

#[derive(Subcommand, Debug)]
enum Command {
    /// List the models; of one, its parameters, inputs and outputs.
    Models(models::Arguments),
    /// Write a mechanism file to begin with, which runs at once.
    New(new::New),
    /// Write a problem file that says everything that can be said of a model and its data.
    Init(init::Arguments),
    /// Simulate a model; write states, outputs and figures.
    Simulate(simulate::Arguments),
    /// Draw a mechanism from parts, at its start or at given times.
    Draw(draw::Arguments),
    /// Animate a mechanism from parts, as a GIF.
    Animate(animate::Arguments),
    /// Compute the cost and its gradient.
    Gradient(gradient::Arguments),
    /// Compute the Hessian of the cost.
    Hessian(hessian::Arguments),
    /// Check derivatives of a model; of a problem file, everything that can be known before a long run.
    Check(check::Arguments),
    /// Print the Jacobians of a model at one point, with the names of rows and columns.
    Jacobians(jacobians::Arguments),
    /// Compare time integrators on a model: errors, orders, drift and times over the step.
    Schemes(schemes::Arguments),
    /// Halve the step again and again: errors, orders, and the limit with its sure digits.
    Steps(steps::Arguments),
    /// Small motions about an equilibrium: frequencies, damping, shapes, and what they follow.
    Modes(modes::Arguments),
    /// Say which parameters the compared outputs can determine, before any fit.
    Identifiability(identifiability::Arguments),
    /// Compare experiments that could be made next by what they would say of the parameters.
    Design(design::Arguments),
    /// Draw the cost over two parameters, with the ways of methods through it.
    Landscape(landscape::Arguments),
    /// Find the parameters that fit the data (or the built-in reference).
    Identify(Box<identify::Arguments>),
    /// Make one page of a result, for reading, printing and signing.
    Report(report::Arguments),
    /// Compare a result with records that it has not been fitted to.
    Validate(result::Arguments),
    /// Find inputs over time that reach goals, and replay them at half the step.
    Control(Box<control::Arguments>),
    /// Print the plain model of a mechanism file as Rust; a robot as a mechanism file, or with the values of a fit.
    Export(new::Export),
    /// Print what lets a shell complete commands and options.
    Completions(shell::Completions),
    /// Write manual pages.
    Man(shell::Manual),
}

/// Exit status of a command that ran to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// Its work is done: exit code 0.
    Success,
    /// It ran without success, such as a check that found something: exit code 1.
    Failure,
}

/// Runs the command line of this process on the models of `registry`; together with others, if it was started by MPI with others.
pub fn main(registry: Result<Registry>) -> ExitCode {
    Program::new(registry).main()
}

/// Runs the command as one of several ranks, of which the first one speaks for all. Returns the exit code of all.
fn together(program: &Program, team: &Team<'_>) -> u8 {
    if !team.is_first() {
        console::set_loudness(Loudness::Silent);
    }
    // ranks are as many as there are processors
    parallel::keep_to_one();
    let own = begin(program, Some(team));
    match team.farewell(own) {
        Ok((code, others)) => {
            others.iter().for_each(|sentence| console::tell_error(sentence));
            code
        }
        Err(error) => {
            console::tell_error(&remedy::sentence(&error));
            2
        }
    }
}

/// The sentence in which commands tell of an error.
pub fn sentence(error: &Error) -> String {
    remedy::sentence(error)
}

/// What `costate identify` prints of a result.
pub fn report(
    problem: &problem::Problem,
    found: &costate_identify::Identification,
    statistics: &Result<costate_identify::statistics::Statistics>,
) -> String {
    identify::summary(problem, found, statistics, None)
}

/// Reads the arguments of this process, and does what they say.
fn begin(program: &Program, team: Option<&Team<'_>>) -> Farewell {
    begin_with(program, program.asked(), team)
}

/// Does what arguments say.
fn begin_with(program: &Program, asked: std::result::Result<Asked, clap::Error>, team: Option<&Team<'_>>) -> Farewell {
    let Asked { loudness, command } = match asked {
        Ok(asked) => asked,
        Err(message) => return Farewell { code: console::tell_of_arguments(&message), sentence: None },
    };
    if team.is_none_or(Team::is_first) {
        console::set_loudness(loudness);
    }
    pace::listen(|long| console::tell_above(&duration::long_run(long)));
    match run(program, command, team) {
        Ok(ExitStatus::Success) => Farewell { code: 0, sentence: None },
        Ok(ExitStatus::Failure) => Farewell { code: 1, sentence: None },
        Err(error) => {
            console::tell_error(&remedy::sentence(&error));
            Farewell { code: 2, sentence: Some(remedy::sentence(&error)) }
        }
    }
}

/// True if this rank has something to do in a command that is not divided: the first one has, and says so.
fn is_for(team: Option<&Team<'_>>) -> bool {
    let Some(team) = team else { return true };
    let count = team.size();
    console::tell(&format!(
        "note: one of {count} ranks does this alone; what is divided among ranks are `--starts`, `--profiles` and `--bootstrap` of `identify`"
    ));
    team.is_first()
}

/// Runs a command.
fn run(program: &Program, command: AskedCommand, team: Option<&Team<'_>>) -> Result<ExitStatus> {
    let registry = program.registry.as_ref().map_err(Error::clone)?;
    let is_divided = matches!(&command, AskedCommand::Ours(command) if matches!(**command, Command::Identify(_)));
    if !is_divided && !is_for(team) {
        return Ok(ExitStatus::Success);
    }
    let command = match command {
        AskedCommand::Ours(command) => *command,
        AskedCommand::Own(place, arguments) => return program.run_own(place, registry, &arguments),
    };
    match command {
        Command::Models(arguments) => models::run(registry, &arguments),
        Command::New(arguments) => new::new(&arguments),
        Command::Export(arguments) => new::export(&arguments),
        Command::Init(arguments) => init::run(registry, &arguments),
        Command::Simulate(arguments) => simulate::run(registry, &arguments),
        Command::Draw(arguments) => draw::run(registry, &arguments),
        Command::Animate(arguments) => animate::run(registry, &arguments),
        Command::Gradient(arguments) => gradient::run(registry, &arguments),
        Command::Hessian(arguments) => hessian::run(registry, &arguments),
        Command::Check(arguments) => check::run(registry, &arguments),
        Command::Jacobians(arguments) => jacobians::run(registry, &arguments),
        Command::Schemes(arguments) => schemes::run(registry, &arguments),
        Command::Steps(arguments) => steps::run(registry, &arguments),
        Command::Modes(arguments) => modes::run(registry, &arguments),
        Command::Identifiability(arguments) => identifiability::run(registry, &arguments),
        Command::Design(arguments) => design::run(registry, &arguments),
        Command::Landscape(arguments) => landscape::run(registry, &arguments),
        Command::Identify(arguments) => identify::run(registry, &arguments, team),
        Command::Report(arguments) => report::run(&arguments),
        Command::Validate(arguments) => result::run(registry, &arguments),
        Command::Control(arguments) => control::run(registry, &arguments),
        Command::Completions(arguments) => shell::completions(registry, program.arguments(), &arguments),
        Command::Man(arguments) => shell::manual(program.arguments(), &arguments),
    }
}

/// The verdict on a result that was found, and written or not.
fn kept(written: Result<()>) -> ExitStatus {
    match written {
        Ok(()) => ExitStatus::Success,
        Err(error) => {
            console::tell_error(&remedy::sentence(&error));
            ExitStatus::Failure
        }
    }
}

/// Ctrl-C asks to stop at the next time step; a second one ends the program.
fn watch_for_interrupt() -> Interrupt {
    let flag = Interrupt::default();
    let shared = flag.clone();
    let watching = ctrlc::set_handler(move || {
        if shared.raise() {
            std::process::exit(130);
        }
        console::tell("\nstopping; the best so far is kept (Ctrl-C again to leave at once)");
    });
    if watching.is_err() {
        console::tell("note: interrupts cannot be caught here; Ctrl-C loses the result");
    }
    flag
}
