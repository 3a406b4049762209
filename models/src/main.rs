//! The `costate` command, on the models of this crate.

fn main() -> std::process::ExitCode {
    costate_cli::main(costate_models::registry())
}
