//! Where results go, and what is printed of them: options of most commands.

use super::console::{print, print_document};
use super::{ExitStatus, kept, settings};
use costate_identify::Result;
use costate_report::Folder;
use serde_json::Value;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(super) struct Output {
    /// Folder for files and figures [default: out/NAME_COMMAND, NAME of the problem file or model; none with --json]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Figures as PNG, too
    #[arg(long)]
    png: bool,
    /// Print the result as JSON, in place of text
    #[arg(long)]
    pub json: bool,
}

impl Output {
    /// The folder that is asked for, or else `out/USUAL`; none where results are printed as JSON alone.
    pub(super) fn folder(&self, usual: &str) -> Result<Option<Folder>> {
        settings::results(self.out.as_ref(), self.json, usual, self.png)
    }

    /// Writes what there is, and prints it: `document` or `text`, with the names of the `files`.
    pub(super) fn tell(
        &self,
        folder: Option<Folder>,
        document: &Value,
        text: impl FnOnce() -> String,
        (files, write): (&str, impl FnOnce(&Folder) -> Result<()>),
    ) -> ExitStatus {
        let written = folder.as_ref().map_or(Ok(()), write);
        if self.json {
            print_document(&format!("{document:#}"));
            return kept(written);
        }
        print(&text());
        if let (Ok(()), Some(folder)) = (&written, folder) {
            print(&format!("\nwritten to {}: {files}", folder.path().display()));
        }
        kept(written)
    }
}
