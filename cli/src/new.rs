//! `costate new` and `costate export`: a mechanism file to begin with, and the way on to Rust.

use super::ExitStatus;
use super::console::{print, print_document, tell};
use super::result::Earlier;
use costate_data::files::write_atomically;
use costate_identify::{Error, Result};
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(super) struct New {
    /// Model by formulas (plain), parts of the plane (planar) or of space (spatial)
    kind: String,
    /// The model's name
    name: String,
    /// The mechanism file [default: NAME.toml]
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args, Debug)]
pub(super) struct Export {
    /// A mechanism file with a plain model, or a robot's file, ROBOT.urdf
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Write the values of this result into the robot's file, and change nothing else of it
    #[arg(long, value_name = "RESULT")]
    values: Option<PathBuf>,
    /// Where to [default: printed]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
}

/// Refuses to lose a file.
fn check_free(out: &Path, force: bool) -> Result<()> {
    if out.exists() && !force {
        let what = out.display().to_string();
        return Err(Error::invalid(what, "it is there already", "name another with --out, or replace it with --force"));
    }
    Ok(())
}

/// Writes a mechanism file to begin with.
pub(super) fn new(arguments: &New) -> Result<ExitStatus> {
    let New { kind, name, out, force } = arguments;
    let out = out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    let text = costate_file::skeleton(kind, &name.replace('-', "_"))?;
    // whatever the name is, what is written can be read
    costate_file::parse(&text, &out)?;
    check_free(&out, *force)?;
    write_atomically(&out, text.as_bytes())?;
    let path = out.display();
    print(&format!(
        "written to {path}\nnext: edit it, then costate check {path} (derivatives), costate simulate {path}, costate init {path} --data \
         record.csv (a problem file for your record)"
    ));
    Ok(ExitStatus::Success)
}

/// Prints or writes a plain model as Rust, or a robot as a mechanism file, or with other values.
pub(super) fn export(arguments: &Export) -> Result<ExitStatus> {
    let Export { file, values, out, force } = arguments;
    let (text, remarks) = match values {
        None => (costate_file::export(file)?, Vec::new()),
        Some(result) if file.extension().is_some_and(|own| own.eq_ignore_ascii_case("urdf")) => {
            let written = costate_file::with_values(file, &Earlier::read(result)?.parameters)?;
            (written.text, written.remarks)
        }
        Some(_) => {
            let remedy = "give a robot's file, .urdf; results of others are taken up by --from";
            return Err(Error::invalid("--values", "values are written into robots' files alone", remedy));
        }
    };
    remarks.iter().for_each(|remark| tell(&format!("note: {remark}")));
    match out {
        None => print_document(text.trim_end()),
        Some(out) => {
            check_free(out, *force)?;
            write_atomically(out, text.as_bytes())?;
            print(&format!("written to {}", out.display()));
        }
    }
    Ok(ExitStatus::Success)
}
