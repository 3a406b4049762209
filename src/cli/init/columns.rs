//! What the columns of a record may be, by their names and units.

use crate::columns;
use crate::data::Record;
use crate::error::{Error, Result};
use crate::signature::{Quantity, Signature};
use crate::time_axis::TimeAxis;
use std::path::Path;

/// Why a column was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// It has the name.
    Name,
    /// It has nearly the name.
    Likeness,
    /// It is the only one in this unit, and nothing else is.
    Unit,
}

/// A quantity of the model, and the column that it may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapped {
    pub quantity: Quantity,
    pub column: Option<(String, By)>,
    /// Why a column of its name was not taken.
    pub refusal: Option<String>,
}

/// A record with what its columns may be.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub time: String,
    pub axis: TimeAxis,
    pub names: Vec<String>,
    pub inputs: Vec<Mapped>,
    pub outputs: Vec<Mapped>,
}

impl Columns {
    pub fn of(record: &Record, file: &Path, signature: &Signature) -> Result<Self> {
        let time = time(record, file)?;
        let axis = record.time(&time)?;
        let mut used = vec![time.clone()];
        let mut map = |quantities: &[Quantity]| -> Vec<Mapped> {
            quantities.iter().map(|quantity| by_name(record, file, quantity, &mut used)).collect()
        };
        let (mut inputs, mut outputs) = (map(&signature.inputs), map(&signature.outputs));
        by_unit(record, &mut [&mut inputs, &mut outputs], &mut used);
        Ok(Columns { time, axis, names: record.names().to_vec(), inputs, outputs })
    }

    /// Columns that nothing is mapped to.
    pub fn unused(&self) -> Vec<&str> {
        let is_used = |name: &&str| {
            **name == *self.time
                || self
                    .inputs
                    .iter()
                    .chain(&self.outputs)
                    .any(|m| m.column.as_ref().is_some_and(|(own, _)| own == name))
        };
        self.names.iter().map(String::as_str).filter(|name| !is_used(name)).collect()
    }
}

/// A name without its unit, capitals and signs.
fn stem(header: &str) -> String {
    let name = columns::split(header).map_or(header, |(name, _)| name);
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The column of times.
fn time(record: &Record, file: &Path) -> Result<String> {
    for name in ["t", "time"] {
        if let Some(column) = columns::find(record, file, name, "s")? {
            return Ok(column.name.to_string());
        }
    }
    let in_seconds = |header: &&String| columns::split(header).is_none_or(|(_, unit)| columns::same_unit(unit, "s"));
    let is_time = |header: &&String| {
        let known = ["t", "time", "timestamp", "zeit", "temps", "seconds", "sec", "s"];
        known.contains(&stem(header).as_str()) || columns::split(header).is_some_and(|(_, unit)| unit == "s")
    };
    let mut candidates = record.names().iter().filter(in_seconds).filter(is_time);
    match candidates.find(|name| record.time(name).is_ok()) {
        Some(name) => Ok(name.clone()),
        None => {
            let problem = format!("no column is called `t` or `time` (there are: {})", record.names().join(", "));
            Err(Error::file(file, None, problem, "call the column of times, in s, `t` in the header"))
        }
    }
}

/// The column of a quantity's name.
fn by_name(record: &Record, file: &Path, quantity: &Quantity, used: &mut Vec<String>) -> Mapped {
    let mut mapped = Mapped { quantity: quantity.clone(), column: None, refusal: None };
    let found = match columns::find(record, file, &quantity.name, &quantity.unit) {
        Ok(found) => found.map(|column| (column.name.to_string(), By::Name)),
        Err(error) => {
            mapped.refusal = Some(error.to_string());
            return mapped;
        }
    };
    let fits = |header: &&String| {
        stem(header) == stem(&quantity.name)
            && columns::split(header).is_none_or(|(_, unit)| columns::same_unit(unit, &quantity.unit))
    };
    let alike = || {
        let mut alike = record.names().iter().filter(|name| !used.contains(name)).filter(fits);
        // two of them are no answer
        alike.next().filter(|_| alike.next().is_none()).map(|name| (name.clone(), By::Likeness))
    };
    mapped.column = found.filter(|(name, _)| !used.contains(name)).or_else(alike);
    used.extend(mapped.column.iter().map(|(name, _)| name.clone()));
    mapped
}

/// Gives a quantity the column of its unit where there is one of each left.
fn by_unit(record: &Record, groups: &mut [&mut Vec<Mapped>], used: &mut Vec<String>) {
    let left = |used: &[String]| -> Vec<(String, String)> {
        let headers = record.names().iter().filter(|name| !used.contains(name));
        headers.filter_map(|name| Some((name.clone(), columns::split(name)?.1.to_string()))).collect()
    };
    let open: Vec<Quantity> = groups
        .iter()
        .flat_map(|group| group.iter().filter(|m| m.column.is_none() && m.refusal.is_none()))
        .map(|mapped| mapped.quantity.clone())
        .collect();
    for mapped in groups.iter_mut().flat_map(|group| group.iter_mut()) {
        let unit = mapped.quantity.unit.clone();
        let rivals = open.iter().filter(|other| columns::same_unit(&other.unit, &unit)).count();
        let fitting: Vec<String> =
            left(used).into_iter().filter(|(_, own)| columns::same_unit(own, &unit)).map(|(name, _)| name).collect();
        if let (None, None, [one], 1) = (&mapped.column, &mapped.refusal, fitting.as_slice(), rivals)
            && !columns::same_unit(&unit, "1")
        {
            used.push(one.clone());
            mapped.column = Some((one.clone(), By::Unit));
        }
    }
}
