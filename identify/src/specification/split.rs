//! Records that are cut into several experiments: by a column of numbers, or at their gaps.

use super::DataSource;
use super::experiments::{check_name, name_of};
use super::gaps::{in_words, limit, listed};
use super::recording::{Recording, reversed, window};
use crate::{Error, Result};
use costate::shown::shown;
use costate::time_axis::usual_step;
use costate::{Quantity, Signature};
use costate_data::Record;
use costate_data::columns::{self, Sought};
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
pub(super) fn pieces(
    signature: &Signature,
    source: &DataSource,
    split: &str,
    record: &Record,
    stated: Option<&str>,
) -> Result<Pieces> {
    if split != AT_GAPS || record.names().iter().any(|name| name == split) {
        let pieces = numbered(record, split, &source.file, stated.unwrap_or(split))?;
        return Ok(Pieces { pieces, source: source.clone(), notes: Vec::new() });
    }
    if let (Some(from), Some(until)) = (source.from, source.until)
        && from >= until
    {
        return Err(reversed(from, until, "s"));
    }
    let all = Recording::begin(source, std::slice::from_ref(record))?;
    let axis = &all.parts[0].axis; // a source has a file
    let has_value = rows_with_values(signature, source, record);
    let rows: Vec<usize> = window(axis, source.from, source.until).filter(|row| has_value[*row]).collect();
    let time = |row: usize| axis.times()[row];
    let limit = limit(source.max_gap, usual_step(&rows.iter().map(|row| time(*row)).collect::<Vec<f64>>()));
    let name = stated.map_or_else(|| name_of(&source.file), str::to_string);
    let (mut pieces, mut gaps, mut lost, mut last) = (Vec::new(), Vec::new(), Vec::new(), None);
    for piece in rows.chunk_by(|a, b| time(*b) - time(*a) <= limit) {
        gaps.extend(last.map(|last| in_words((time(last), time(piece[0])))));
        match piece {
            [alone] => lost.push(format!("{} s", shown(time(*alone)))),
            _ => pieces.push(record.part(piece[0]..piece[piece.len() - 1] + 1)),
        }
        last = piece.last().copied();
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

/// True if rows of a record have a value of an input or of an output; where no column of these is known, each counts.
fn rows_with_values(signature: &Signature, source: &DataSource, record: &Record) -> Vec<bool> {
    let quantities = || signature.inputs.iter().chain(&signature.outputs);
    let others: Vec<String> = quantities().map(|quantity| quantity.name.clone()).collect();
    let unit = |name: &str| quantities().find(|own| own.name == name).map_or("", |own| own.unit.as_str());
    let named = |all: &[Quantity]| all.iter().map(|own| (own.name.clone(), own.name.clone())).collect();
    let of_inputs: Vec<(String, String)> = match &source.inputs {
        Some(inputs) => inputs.iter().map(|own| (own.column.clone(), own.input.clone())).collect(),
        None => named(&signature.inputs),
    };
    let of_outputs: Vec<(String, String)> = match &source.outputs {
        Some(outputs) => outputs.iter().map(|own| (own.column.clone(), own.output.clone())).collect(),
        None => named(&signature.outputs),
    };
    let found: Vec<&[f64]> = of_inputs
        .iter()
        .chain(&of_outputs)
        .filter_map(|(column, quantity)| {
            let sought = Sought { column, quantity, others: &others, ..Sought::named(quantity, unit(quantity)) };
            // what is wrong with a column is said where it is read
            let located = columns::locate(record, &source.file, &sought).ok()??;
            record.column_with_gaps(located.name).ok()
        })
        .collect();
    (0..record.len()).map(|row| found.is_empty() || found.iter().any(|values| !values[row].is_nan())).collect()
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
