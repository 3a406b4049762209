//! `costate completions` and `costate man`: what shells and readers of manuals want, from the arguments themselves.

use super::console::{print, print_document};
use super::{Arguments as All, Verdict, kept};
use crate::error::{Error, Result};
use crate::files::write_atomically;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(super) struct Completions {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(clap::Args, Debug)]
pub(super) struct Manual {
    /// Folder for costate.1 and a page a command
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints a script that a shell reads.
pub(super) fn completions(arguments: &Completions) -> Result<Verdict> {
    let mut command = All::command();
    let name = command.get_name().to_string();
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, name, &mut script);
    print_document(String::from_utf8_lossy(&script).trim_end());
    Ok(Verdict::Good)
}

/// Writes a page for the program, and one for each command.
pub(super) fn manual(arguments: &Manual) -> Result<Verdict> {
    let folder = &arguments.folder;
    let refused = |error: std::io::Error| Error::io("create the folder", folder, error, "choose another folder");
    std::fs::create_dir_all(folder).map_err(refused)?;
    let mut command = All::command().disable_help_subcommand(true);
    // fills in usage and what commands inherit
    command.build();
    let name = command.get_name().to_string();
    let mut written = page(&command, folder, &name);
    for own in command.get_subcommands() {
        written = written.and_then(|()| page(own, folder, &format!("{name}-{}", own.get_name())));
    }
    if written.is_ok() {
        print(&format!(
            "written to {}: read with `man -l {}`",
            folder.display(),
            folder.join(format!("{name}.1")).display()
        ));
    }
    Ok(kept(written))
}

fn page(command: &clap::Command, folder: &Path, name: &str) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    let mut text = Vec::new();
    let made = Man::new(command.clone()).render(&mut text);
    made.map_err(|error| Error::io("write", &path, error, "choose another folder"))?;
    write_atomically(&path, &text)
}
