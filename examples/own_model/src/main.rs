//! The `costate` command with a model of one's own.

fn main() -> std::process::ExitCode {
    costate::cli::main(flexible_arm::registry())
}
