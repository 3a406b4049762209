//! `costate completions` and `costate man`: what shells and readers of manuals want, from the arguments themselves.

use super::console::{print, print_document};
use super::{ExitStatus, kept};
use clap::builder::PossibleValuesParser;
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use costate_data::files::write_atomically;
use costate_identify::registry::Registry;
use costate_identify::{Error, Result};
use std::path::{Path, PathBuf};

/// The argument that names a model.
const MODEL: &str = "model";

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

/// Prints a script that a shell reads; it knows the models' names.
pub(super) fn completions(
    registry: &Registry,
    mut command: clap::Command,
    arguments: &Completions,
) -> Result<ExitStatus> {
    let names: Vec<String> = registry.entries().iter().map(|entry| entry.name().to_string()).collect();
    let has_model = |own: &clap::Command| own.get_arguments().any(|argument| argument.get_id() == MODEL);
    let own = command.get_subcommands().filter(|own| has_model(own)).map(|own| own.get_name().to_string());
    for own in own.collect::<Vec<_>>() {
        // bash falls back to files where no name fits; others do not, and must go on to find those of mechanisms and problems
        if arguments.shell == Shell::Bash {
            let known = PossibleValuesParser::new(names.clone());
            command = command.mut_subcommand(own, |own| own.mut_arg(MODEL, |model| model.value_parser(known)));
        }
    }
    let name = command.get_name().to_string();
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, name, &mut script);
    print_document(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitStatus::Success)
}

/// Writes a page for the program, and one for each command.
pub(super) fn manual(command: clap::Command, arguments: &Manual) -> Result<ExitStatus> {
    let folder = &arguments.folder;
    let refused = |error: std::io::Error| Error::io("create the folder", folder, error, "choose another folder");
    std::fs::create_dir_all(folder).map_err(refused)?;
    let mut command = command.disable_help_subcommand(true);
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
    Ok(write_atomically(&path, &text)?)
}
