//! `costate report`

use super::console::print;
use super::{Verdict, kept};
use crate::error::Result;
use crate::report::html;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The folder that `identify` wrote, or its result.json
    result: PathBuf,
    /// The page [default: report.html in that folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Verdict> {
    let (result, folder) = html::read(&arguments.result)?;
    let file = arguments.out.clone().unwrap_or_else(|| folder.join(html::REPORT));
    let written = html::write(&result, &folder, &file);
    if written.is_ok() {
        print(&format!("written to {}", file.display()));
    }
    Ok(kept(written))
}
