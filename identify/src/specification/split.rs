//! Records that are cut into several experiments: by a column of numbers, or at their gaps.

use super::DataSource;
use super::experiments::{check_name, name_of};
use super::gaps::{in_words, limit, listed};
use super::recording::{Recording, window};
use crate::data::Record;
use crate::{Error, Result};
use costate::shown::shown;
use std::path::Path;

/// Value of `split` in the place of a column: the record is cut at intervals without samples.
pub(super) const AT_GAPS: &str = "at-gaps";

/// The pieces of a source that is to be split, each with its name.
pub(super) struct Pieces {
    pub pieces: Vec<(String, Record)>,
    /// Source that all pieces have been cut from: without `from` and `until`, which are behind them.
    pub source: DataSource,
    /// Sentences on the cuts, and on what was left out.
    pub notes: Vec<String>,
}

/// Cuts the one record of a source as `split`, which is given, says; `stated`: the name of all of it.
pub(super) fn pieces(source: &DataSource, split: &str, record: &Record, stated: Option<&str>) -> Result<Pieces> {
    if split != AT_GAPS || record.names().iter().any(|name| name == split) {
        let pieces = numbered(record, split, &source.file, stated.unwrap_or(split))?;
        return Ok(Pieces { pieces, source: source.clone(), notes: Vec::new() });
    }
    let all = Recording::begin(source, std::slice::from_ref(record))?;
    let axis = &all.parts[0].axis; // a source has a file
    let (rows, limit) = (window(axis, source.from, source.until), limit(source.max_gap, axis.usual_step()));
    let times = &axis.times()[rows.clone()];
    let name = stated.map_or_else(|| name_of(&source.file), str::to_string);
    let (mut pieces, mut gaps, mut lost, mut first) = (Vec::new(), Vec::new(), Vec::new(), rows.start);
    for piece in times.chunk_by(|a, b| b - a <= limit) {
        let behind = first + piece.len();
        if let Some(next) = times.get(behind - rows.start) {
            gaps.push(in_words((piece[piece.len() - 1], *next)));
        }
        match piece {
            [alone] => lost.push(format!("{} s", shown(*alone))),
            _ => pieces.push(record.part(first..behind)),
        }
        first = behind;
    }
    if pieces.is_empty() {
        let problem = format!("no two samples are nearer to each other than {} s", shown(limit));
        return Err(Error::file(&source.file, None, problem, "give a larger max_gap, or leave out `split`"));
    }
    let several = pieces.len() > 1;
    let named = |(k, piece): (usize, Record)| {
        let name = if several { format!("{name}_{}", k + 1) } else { name.clone() };
        check_name(&name)?;
        Ok((name, piece))
    };
    let pieces = pieces.into_iter().enumerate().map(named).collect::<Result<_>>()?;
    let file = source.file.display();
    let mut notes = vec![match gaps.as_slice() {
        [] => format!("{file}: there is no gap at which it could be cut"),
        gaps => format!("{file} is cut where it has no samples: {}", listed(gaps)),
    }];
    if !lost.is_empty() {
        notes.push(format!("{file}: samples alone between two gaps are left out: {}", listed(&lost)));
    }
    Ok(Pieces { pieces, source: DataSource { from: None, until: None, ..source.clone() }, notes })
}

/// Rows with the same number in a column, one after another, each set with its name.
fn numbered(record: &Record, column: &str, file: &Path, prefix: &str) -> Result<Vec<(String, Record)>> {
    const LARGEST: f64 = 1e9;
    if !record.names().iter().any(|name| name == column) && record.left_out(column).is_none() {
        let known = record.names().iter().map(String::as_str).chain([AT_GAPS]);
        return Err(Error::unknown("column", column, file.display().to_string(), known));
    }
    let numbers = record.column(column)?;
    let mut pieces: Vec<(String, Record)> = Vec::new();
    let mut first = 0;
    for rows in numbers.chunk_by(|a, b| a == b) {
        let piece = format!("{prefix}{}", rows[0]);
        if rows[0].abs() > LARGEST || rows[0].fract() != 0.0 {
            let problem = format!("`{column}` is {} in it, which is no number of a part", rows[0]);
            return Err(Error::file(file, None, problem, "number the parts by whole numbers, such as 0, 1, 2"));
        }
        if pieces.iter().any(|(known, _)| *known == piece) {
            let problem = format!("`{column}` is {} in two parts that do not follow each other", rows[0]);
            return Err(Error::file(file, None, problem, "number the parts one after another"));
        }
        check_name(&piece)?;
        pieces.push((piece, record.part(first..first + rows.len())));
        first += rows.len();
    }
    Ok(pieces)
}
