//! Files of a record, and values that parameters start from.

use super::recording::{Recording, RecordingFile};
use crate::{Error, Result};
use costate::shown::shown;
use costate_data::columns::{self, Located, Sought};
use std::path::{Path, PathBuf};

/// A value that a parameter starts from, with what is to be said of it.
pub(super) struct Start {
    pub value: f64,
    /// Sentence on conversions of its column's numbers.
    pub converted: Option<String>,
    /// Description of the sample, where it is not the experiment's first one.
    pub late: Option<String>,
}

/// The first sample that a column has in an experiment, of which no other cell matters.
///
/// # Errors
/// No such column, one in another unit, or one of several files; a column without a sample in the experiment.
pub(super) fn start_value(recording: &Recording<'_>, sought: &Sought<'_>) -> Result<Start> {
    let mut found: Vec<(&RecordingFile<'_>, Located<'_>)> = Vec::new();
    for part in &recording.parts {
        found.extend(columns::locate(part.record, part.file, sought)?.map(|own| (part, own)));
    }
    let [(part, Located { name, law, note, .. })] = &found[..] else {
        // which says that there is none, or that there are two
        let (part, column) = recording.get(sought, None)?;
        let (value, converted) = (column.values[recording.parts[part].window.start], column.note);
        return Ok(Start { value, converted, late: None });
    };
    for row in part.window.clone() {
        // of this row alone, so that no other cell is asked for
        let number = part.record.part(row..row + 1).column_with_gaps(name)?[0];
        if number.is_nan() {
            continue;
        }
        let (time, file) = (shown(part.axis.times()[row]), part.file.display());
        let late = format!("the sample of `{name}` at {time} s, the first that it has in {file}");
        let late = (row > part.window.start).then_some(late);
        return Ok(Start { value: law.of(number), converted: note.clone(), late });
    }
    let times = part.times();
    let (from, until) = (shown(times[0]), shown(times[times.len() - 1]));
    let problem = format!("column `{name}` has no value from {from} s to {until} s, which a parameter starts from");
    Err(Error::file(part.file, None, problem, "write one into its first row there, or give a number: start = .."))
}

/// Reads `path` relative to the folder of `base`.
pub(crate) fn beside(base: &Path, path: &Path) -> PathBuf {
    match base.parent() {
        Some(folder) if path.is_relative() => folder.join(path),
        _ => path.to_path_buf(),
    }
}
