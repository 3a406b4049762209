//! The `costate` command with a model of one's own.

fn main() -> std::process::ExitCode {
    costate_cli::main(flexible_arm::registry())
}
