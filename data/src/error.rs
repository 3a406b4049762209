//! The error of records and files.

use costate::shown::tidy;
use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The ways in which reading and writing can fail, in sentences that name the file, the place in it and the remedy.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number or a name that cannot be used, or too little memory.
    #[error(transparent)]
    Engine(#[from] costate::Error),

    /// A file whose content cannot be used.
    #[error("{}{}: {problem}; {remedy}", .path.display(), line_number(.line))]
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where known.
        line: Option<u64>,
        /// The fault of the content.
        problem: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// The operating system refused a file.
    #[error("cannot {action} {}: {reason}; {remedy}", .path.display())]
    Io {
        /// `read`, `write` ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// Files cannot be written into a folder, and another one is the remedy.
    #[error("cannot {action} {}: {reason}; {remedy}", .path.display())]
    Folder {
        /// `write into`, `create the folder` ...
        action: &'static str,
        /// The folder, or the file in it.
        path: PathBuf,
        /// The reason, of the system or of another run that is at work there.
        reason: String,
        /// The remedy, which ends with another folder.
        remedy: String,
    },

    /// A fault in the calibration of a column.
    #[error("{cause}")]
    Calibration {
        /// What is wrong in it: `unit`, `scale` or `offset`.
        key: &'static str,
        /// The fault.
        cause: Box<costate::Error>,
    },
}

impl Error {
    /// A value that cannot be used: what, why, and the remedy.
    pub fn invalid(what: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        costate::Error::invalid(what, problem, remedy).into()
    }

    /// A file with unusable content; `line` counts from 1.
    pub fn file(path: &Path, line: Option<u64>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        let tidied = |text: String| tidy(&text).into_owned();
        Error::File { path: path.to_path_buf(), line, problem: tidied(problem.into()), remedy: tidied(remedy.into()) }
    }

    /// The operating system refused a file.
    pub fn io(action: &'static str, path: &Path, reason: impl ToString, remedy: impl Into<String>) -> Self {
        Error::Io { action, path: path.to_path_buf(), reason: reason.to_string(), remedy: remedy.into() }
    }

    /// A folder, or a file in it, that cannot be written, where another folder is the remedy.
    pub fn folder(action: &'static str, path: &Path, reason: impl ToString, remedy: impl Into<String>) -> Self {
        Error::Folder { action, path: path.to_path_buf(), reason: reason.to_string(), remedy: remedy.into() }
    }

    /// An unknown name, as [`costate::Error::unknown`].
    pub fn unknown<S: AsRef<str>>(
        kind: &'static str,
        name: &str,
        context: impl Into<String>,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        costate::Error::unknown(kind, name, context, known).into()
    }
}

/// The sentence of `Display`, since that is what a program prints whose `main` returns a [`Result`], and what `unwrap` says.
impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn line_number(line: &Option<u64>) -> String {
    line.map(|l| format!(", line {l}")).unwrap_or_default()
}
