//! `costate check`: derivatives of a model; or of a problem file everything that can be known before a long run.

mod derivatives;
mod diagnosis;
mod problem;
mod text;

use super::ExitStatus;
use super::output::Output;
use super::settings::ProblemArguments;
use costate_identify::Result;
use costate_identify::registry::Registry;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Check derivatives of a problem file, too, as of a model
    #[arg(long)]
    derivatives: bool,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    if arguments.derivatives || !arguments.problem.is_measured() {
        derivatives::run(registry, arguments)
    } else {
        problem::run(registry, arguments)
    }
}
