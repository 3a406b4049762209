//! `costate report`

use super::console::{print, print_document};
use super::{ExitStatus, kept};
use costate_identify::{Error, Result};
use costate_report::html;
use serde_json::json;
use std::ffi::OsStr;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The folder that `identify` wrote, or its result.json
    result: PathBuf,
    /// The page [default: report.html in that folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitStatus> {
    let (result, folder) = html::read(&arguments.result)?;
    let file = arguments.out.clone().unwrap_or_else(|| folder.join(html::REPORT));
    let is_page = |extension: &OsStr| extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm");
    if !file.extension().is_some_and(is_page) {
        let what = format!("--out {}", file.display());
        return Err(Error::invalid(
            what,
            "a page would take the place of this file",
            "give it a name that ends in .html",
        ));
    }
    let written = html::write(&result, &folder, &file);
    if written.is_ok() && arguments.json {
        print_document(&format!("{:#}", json!({"file": file.display().to_string()})));
    } else if written.is_ok() {
        print(&format!("written to {}", file.display()));
    }
    Ok(kept(written))
}
