//! The `costate` command, on the models of this crate.

fn main() -> std::process::ExitCode {
    costate_cli::Program::new(costate_models::registry()).with_command(costate_models::bench::Bench).main()
}
