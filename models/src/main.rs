//! The `costate` command.
fn main() {}
