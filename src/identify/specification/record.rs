//! What part of a record is meant.

use super::DataSource;
use crate::columns;
use crate::data::{Record, TimeAxis};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

pub(super) fn time_column<'r>(record: &'r Record, source: &DataSource) -> Result<&'r str> {
    if let Some(name) = &source.time {
        return Ok(columns::get(record, &source.file, name, "s")?.name);
    }
    for name in ["t", "time"] {
        if let Some(column) = columns::find(record, &source.file, name, "s")? {
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
    Err(Error::file(&source.file, None, problem, "rename the time column, or name it in a problem file"))
}

/// The samples between `from` and `until`.
pub(super) fn window(axis: &TimeAxis, source: &DataSource) -> Result<std::ops::Range<usize>> {
    let times = axis.times();
    if times.len() < 2 {
        return Err(Error::file(&source.file, None, "there is one sample only", "give at least two"));
    }
    let slack = 1e-6 * axis.mean_step();
    let first = source.from.map_or(0, |from| times.partition_point(|t| *t < from - slack));
    let last = source.until.map_or(times.len(), |until| times.partition_point(|t| *t <= until + slack));
    if last < first + 2 {
        let problem = format!(
            "fewer than two samples lie between {} s and {} s (the record covers {} s to {} s)",
            source.from.unwrap_or(times[0]),
            source.until.unwrap_or(times[times.len() - 1]),
            times[0],
            times[times.len() - 1]
        );
        return Err(Error::file(&source.file, None, problem, "widen `from` and `until`"));
    }
    Ok(first..last)
}

/// Reads `path` relative to the folder of `base`.
pub(crate) fn beside(base: &Path, path: &Path) -> PathBuf {
    match base.parent() {
        Some(folder) if path.is_relative() => folder.join(path),
        _ => path.to_path_buf(),
    }
}
