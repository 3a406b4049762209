//! MATLAB files as records: vectors of a workspace are columns.
//!
//! The crates that read such files were looked at: `matfile` 0.5 writes to standard output, takes a file that is cut short for a shorter one,
//! refuses `int32` vectors as MATLAB stores them, does not tell the names of what it does not read, and can be led into overflows;
//! `matrw` 0.1 brings some thirty crates and unwraps what it reads. Reading vectors takes fewer lines than guarding either.

mod elements;

use super::foreign::{self, Foreign};
use super::{Record, check_names};
use crate::clock::is_time;
use crate::{Error, Result};
pub(crate) use elements::{Content, Variable};
use elements::{Fault, variables};
use std::collections::HashMap;
use std::path::Path;

/// The header's length, bytes.
const HEADER: usize = 128;

/// First bytes of HDF5 files, perhaps behind a header of 512 bytes.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// Something of the workspace that is no column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeftOut {
    pub name: String,
    /// Kind of the variable, in words: `a struct`.
    pub what: String,
}

/// True if a file is meant as one of MATLAB: by its name, or by how it begins.
pub(super) fn is_meant(bytes: &[u8], path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mat"));
    named || bytes.starts_with(b"MATLAB 5.0 MAT-file") || is_hdf5(bytes)
}

fn is_hdf5(bytes: &[u8]) -> bool {
    let at = |place: usize| bytes.get(place..).is_some_and(|rest| rest.starts_with(HDF5));
    at(0) || at(512) || bytes.starts_with(b"MATLAB 7.3 MAT-file")
}

/// Remedy that helps in all cases.
fn remedy(path: &Path) -> String {
    let name = path.file_name().map_or("run.mat".into(), |name| name.to_string_lossy().into_owned());
    format!("save vectors of equal length from MATLAB: save('{name}', 't', 'a1', '-v7')")
}

/// The record in a file of version 5; NaN where a vector has it.
///
/// # Errors
/// [`Error::File`] for what is no such file, is damaged, or holds no vector; [`costate::Error::Memory`].
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Record> {
    let refuse = |problem: &str| Err(Error::file(path, None, problem, remedy(path)));
    if bytes.is_empty() {
        return refuse("the file is empty");
    }
    if is_hdf5(bytes) {
        return refuse("it is a MATLAB file of version 7.3 (HDF5), which cannot be read");
    }
    let (big_endian, version) = match bytes.get(124..HEADER) {
        Some([low, high, b'I', b'M']) => (false, [*high, *low]),
        Some([high, low, b'M', b'I']) => (true, [*high, *low]),
        _ => return refuse("it is no MATLAB file of version 5, as -v6 and -v7 write it"),
    };
    if version != [1, 0] {
        return refuse(&format!("it is a MATLAB file of format {}.{}, not 1.0", version[0], version[1]));
    }
    let found = variables(&bytes[HEADER..], big_endian).map_err(|fault| match fault {
        Fault::Bytes(problem) => {
            let remedy = format!("copy the file again if it was cut short, or {}", remedy(path));
            Error::file(path, None, format!("the file is damaged: {problem}"), remedy)
        }
        Fault::Memory(error) => error,
    })?;
    columns(found, path, remedy(path))
}

/// A column in the making.
struct Candidate {
    name: String,
    rows: usize,
    /// One column, or those of a matrix.
    columns: Vec<Vec<f64>>,
}

/// Columns of a workspace: what is as long as the times, or as most of it.
pub(super) fn columns(found: Vec<Variable>, path: &Path, remedy: String) -> Result<Record> {
    let (mut candidates, mut scalars, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    // what has no name is about functions and objects, not of the workspace
    for Variable { name, dims, content } in found.into_iter().filter(|variable| !variable.name.is_empty()) {
        let mut leave = |what: &str| left_out.push(LeftOut { name: name.clone(), what: what.to_string() });
        match (content, &dims[..]) {
            (Content::Other(what), _) => leave(what),
            (Content::Numbers(values), _) if values.is_empty() => leave("empty"),
            (Content::Numbers(values), _) if values.len() == 1 => scalars.push((name, values[0])),
            (Content::Numbers(values), [rows, count]) if *rows > 1 && *count > 1 => {
                let columns = values.chunks(*rows).map(<[f64]>::to_vec).collect();
                candidates.push(Candidate { name, rows: *rows, columns });
            }
            (Content::Numbers(values), [_, _]) => {
                candidates.push(Candidate { name, rows: values.len(), columns: vec![values] });
            }
            _ => leave("an array of more than two dimensions"),
        }
    }
    let made = sampled(&candidates, &scalars);
    let taken = made.as_ref().map(|(_, name, _)| *name);
    let numbers = scalars.iter().filter(|(name, _)| taken != Some(name));
    let number = |(name, value): &(String, f64)| LeftOut { name: name.clone(), what: format!("one number, {value}") };
    left_out.extend(numbers.map(number));
    let Some(length) = length(&candidates) else {
        let names: Vec<String> = left_out.iter().map(|LeftOut { name, what }| format!("`{name}` is {what}")).collect();
        let there = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        return Err(Error::file(path, None, format!("it holds no vector of numbers{there}"), remedy));
    };
    let (mut remarks, mut names, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    if let Some((step, name, value)) = made {
        remarks.push(format!(
            "{}: there are no times: `t` goes from 0 in steps of {step} s, by `{name}` = {value}",
            path.display()
        ));
        names.push("t".to_string());
        columns.push((0..length).map(|k| k as f64 * step).collect());
    }
    for Candidate { name, rows, columns: own } in candidates {
        if rows != length {
            let what = if own.len() == 1 { "values" } else { "rows" };
            left_out.push(LeftOut { name, what: format!("of {rows} {what}, where others have {length}") });
            continue;
        }
        match own.len() {
            1 => names.push(name),
            count => names.extend((1..=count).map(|k| format!("{name}_{k}"))),
        }
        columns.extend(own);
    }
    check(&names, path)?;
    let foreign = infinite(&names, &columns);
    if foreign.len() == names.len() {
        return Err(foreign[0].1.error(path)); // there is a column
    }
    let what = |LeftOut { name, what }: &LeftOut| format!("`{name}` ({what})");
    if !left_out.is_empty() {
        let all = left_out.iter().map(what).collect::<Vec<_>>().join(", ");
        remarks.push(format!("{}: no columns are made of {all}", path.display()));
    }
    let described: Vec<(&str, &Foreign)> = foreign.iter().map(|(k, one)| (names[*k].as_str(), one)).collect();
    remarks.extend(foreign::remark(path, &described, &[]));
    let path = Some(path.to_path_buf());
    Ok(Record { names, columns, path, first_line: 1, is_binary: true, left_out, foreign, remarks })
}

/// Checks that names are such as a record may have.
fn check(names: &[String], path: &Path) -> Result<()> {
    check_names(names).map_err(|fault| {
        let remedy = "rename a variable: columns 1, 2, .. of a matrix `a` are called `a_1`, `a_2`, ..";
        Error::file(path, None, fault.problem, remedy)
    })?;
    Ok(())
}

/// Columns with infinite values.
fn infinite(names: &[String], columns: &[Vec<f64>]) -> Vec<(usize, Foreign)> {
    let one = |(k, (name, column)): (usize, (&String, &Vec<f64>))| {
        let row = column.iter().position(|value| value.is_infinite())?;
        let problem = format!("value {} of `{name}` is infinite", row + 1);
        let remedy = "give the measured value, or NaN where it is missing".to_string();
        Some((k, Foreign { line: None, shown: format!("infinite at value {}", row + 1), problem, remedy }))
    };
    names.iter().zip(columns).enumerate().filter_map(one).collect()
}

/// Number of rows of a record of these candidates: as many as there are times, or else as most of them have.
fn length(candidates: &[Candidate]) -> Option<usize> {
    if let Some(times) = candidates.iter().find(|one| one.columns.len() == 1 && is_time(&one.name)) {
        return Some(times.rows);
    }
    let mut counts: HashMap<usize, usize> = HashMap::new();
    candidates.iter().for_each(|one| *counts.entry(one.rows).or_default() += 1);
    counts.into_iter().max_by_key(|(rows, count)| (*count, *rows)).map(|(rows, _)| rows)
}

/// The sampling step, s, by the one number that says it, where there are no times.
fn sampled<'s>(candidates: &[Candidate], scalars: &'s [(String, f64)]) -> Option<(f64, &'s str, f64)> {
    if candidates.iter().any(|one| is_time(&one.name)) {
        return None;
    }
    let said = |known: &str| scalars.iter().find(|(name, _)| name.eq_ignore_ascii_case(known));
    let step = ["Ts", "T_s", "dt"].into_iter().find_map(said).map(|(name, value)| (*value, name, *value));
    let rate = || said("fs").map(|(name, value)| (1.0 / value, name, *value));
    step.or_else(rate).map(|(step, name, value)| (step, name.as_str(), value)).filter(|(step, ..)| {
        // anything else cannot be meant
        step.is_finite() && *step > 0.0
    })
}
