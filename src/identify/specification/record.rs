//! Where a record is, and which of its columns is the time.

use super::DataSource;
use crate::columns;
use crate::data::Record;
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The column of times of one `file` of a source.
pub(super) fn time_column<'r>(record: &'r Record, source: &DataSource, file: &Path) -> Result<&'r str> {
    if let Some(name) = &source.time {
        // of several files, some may call it so
        match columns::find(record, file, name, "s")? {
            None if !source.more_files.is_empty() => {}
            _ => return Ok(columns::get(record, file, name, "s")?.name),
        }
    }
    for name in ["t", "time"] {
        if let Some(column) = columns::find(record, file, name, "s")? {
            return Ok(column.name);
        }
    }
    // `Time`, `Time (s)`: what else could it be
    let stem = |name: &str| {
        let name = name.trim();
        let stem = name.strip_suffix("(s)").or_else(|| name.strip_suffix("[s]")).unwrap_or(name);
        stem.trim().to_lowercase()
    };
    let meant = |name: &&String| ["t", "time"].contains(&stem(name).as_str());
    let mut meant = record.names().iter().filter(meant);
    if let (Some(one), None) = (meant.next(), meant.next()) {
        return Ok(one);
    }
    let names = record.names().join(", ");
    let problem = format!("no column is called `t` or `time` (there are: {names})");
    let remedy = match record.is_matlab() {
        false => "rename the time column, or name it in a problem file",
        true => {
            "save the times, s, as a vector `t`, or the sampling step, s, as a number `Ts`; or name the vector in a problem file"
        }
    };
    Err(Error::file(file, None, problem, remedy))
}

/// Reads `path` relative to the folder of `base`.
pub(crate) fn beside(base: &Path, path: &Path) -> PathBuf {
    match base.parent() {
        Some(folder) if path.is_relative() => folder.join(path),
        _ => path.to_path_buf(),
    }
}
