//! The `costate` command with a scheme, a joint, a method and a command of one's own.

mod command;
mod joint;
mod method;
mod scheme;

use costate_cli::registry::Registry;

fn registry() -> costate_identify::Result<Registry> {
    let registry = Registry::new().with_scheme(scheme::ENTRY)?.with_method(method::METHOD)?;
    joint::register(registry)
}

fn main() -> std::process::ExitCode {
    costate_cli::Program::new(registry()).with_command(command::Parameters).main()
}
