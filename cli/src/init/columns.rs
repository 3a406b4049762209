//! What the columns of a record may be, by their names and units.

use crate::remedy;
use costate::{Quantity, Signature};
use costate_data::Record;
use costate_data::TimeAxis;
use costate_data::clock::{Clock, clock};
use costate_data::columns::{self, Sought};
use costate_data::header;
use costate_data::unit::{Conversion, conversion};
use costate_identify::Result;
use std::path::Path;

/// The reason why a column was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The column has the name.
    Name,
    /// The column has nearly the name.
    Likeness,
    /// The column is the only one in this unit, and nothing else is.
    Unit,
}

/// A quantity of the model, and the column that it may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapped {
    pub quantity: Quantity,
    pub column: Option<(String, By)>,
    /// The reason why a column of its name was not taken.
    pub refusal: Option<String>,
}

/// A record with what its columns may be.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    pub time: String,
    /// The unit of that column, s; none where its header says another.
    pub time_unit: &'static str,
    pub axis: TimeAxis,
    /// The first and the last time at which all inputs are known, s.
    pub known: (f64, f64),
    pub names: Vec<String>,
    pub inputs: Vec<Mapped>,
    pub outputs: Vec<Mapped>,
}

impl Columns {
    pub fn of(record: &Record, file: &Path, signature: &Signature) -> Result<Self> {
        let Clock { name, axis, note } = clock(record, file, None, None)?;
        let time = name.to_string();
        let time_unit = if header::split(&time).is_none() && note.is_none() { "s" } else { "" };
        let others: Vec<String> = signature.inputs.iter().chain(&signature.outputs).map(|q| q.name.clone()).collect();
        let mut used = vec![time.clone()];
        let mut map = |quantities: &[Quantity]| -> Vec<Mapped> {
            quantities.iter().map(|quantity| by_name(record, file, (quantity, &others), &mut used)).collect()
        };
        let (mut inputs, mut outputs) = (map(&signature.inputs), map(&signature.outputs));
        by_unit(record, &mut [&mut inputs, &mut outputs], &mut used);
        let known = known(record, &axis, &inputs);
        Ok(Columns { time, time_unit, axis, known, names: record.names().to_vec(), inputs, outputs })
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

/// First and last time between which all columns of inputs have values.
fn known(record: &Record, axis: &TimeAxis, inputs: &[Mapped]) -> (f64, f64) {
    let columns = inputs.iter().filter_map(|mapped| record.column_with_gaps(&mapped.column.as_ref()?.0).ok());
    columns.fold((axis.start(), axis.end()), |(from, until), values| {
        let place = |k: Option<usize>, time: f64| k.map_or(time, |k| axis.times()[k]);
        let first = place(values.iter().position(|value| !value.is_nan()), from);
        let last = place(values.iter().rposition(|value| !value.is_nan()), until);
        (from.max(first), until.min(last))
    })
}

/// A name without its unit, capitals and signs.
fn stem(header: &str) -> String {
    header::stem(header).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// True if a column that says its unit can be one of `unit`; `None` if it says none.
fn fits(header: &str, unit: &str) -> Option<bool> {
    header::split(header).map(|(_, own)| !matches!(conversion(own, unit), Conversion::Refused(_)))
}

/// The column of a quantity's name.
fn by_name(record: &Record, file: &Path, (quantity, others): (&Quantity, &[String]), used: &mut Vec<String>) -> Mapped {
    let mut mapped = Mapped { quantity: quantity.clone(), column: None, refusal: None };
    let sought = Sought { others, ..Sought::named(&quantity.name, &quantity.unit) };
    let found = match columns::locate(record, file, &sought) {
        Ok(found) => found.map(|column| (column.name.to_string(), By::Name)),
        Err(error) => {
            mapped.refusal = Some(remedy::sentence(&error.into()));
            return mapped;
        }
    };
    let is_alike =
        |header: &&String| stem(header) == stem(&quantity.name) && fits(header, &quantity.unit).unwrap_or(true);
    let alike = || {
        let mut alike = record.names().iter().filter(|name| !used.contains(name)).filter(is_alike);
        // two of them are no answer
        alike.next().filter(|_| alike.next().is_none()).map(|name| (name.clone(), By::Likeness))
    };
    mapped.column = found.filter(|(name, _)| !used.contains(name)).or_else(alike);
    used.extend(mapped.column.iter().map(|(name, _)| name.clone()));
    mapped
}

/// True for units that say what something is.
fn is_said(unit: &str) -> bool {
    !["", "1", "-"].contains(&unit)
}

/// Gives a quantity the column of its unit where there is one of each left.
fn by_unit(record: &Record, groups: &mut [&mut Vec<Mapped>], used: &mut Vec<String>) {
    let open: Vec<Quantity> = groups
        .iter()
        .flat_map(|group| group.iter().filter(|m| m.column.is_none() && m.refusal.is_none()))
        .map(|mapped| mapped.quantity.clone())
        .collect();
    for mapped in groups.iter_mut().flat_map(|group| group.iter_mut()) {
        let unit = mapped.quantity.unit.clone();
        let is_one = |other: &str| !matches!(conversion(other, &unit), Conversion::Refused(_));
        let rivals = open.iter().filter(|other| is_one(&other.unit)).count();
        let left = record.names().iter().filter(|name| !used.contains(name) && record.is_numeric(name));
        let fitting: Vec<String> = left.filter(|name| fits(name, &unit) == Some(true)).cloned().collect();
        if let (None, None, [one], 1) = (&mapped.column, &mapped.refusal, fitting.as_slice(), rivals)
            && is_said(&unit)
            && header::split(one).is_some_and(|(_, own)| is_said(own))
        {
            used.push(one.clone());
            mapped.column = Some((one.clone(), By::Unit));
        }
    }
}
