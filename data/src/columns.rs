//! Columns of a record for the quantities of a model: found by name, with the unit that stands behind it, and in the quantity's own unit. The
//! one reader of inputs, outputs, start values, paths and times.

use crate::Record;
use crate::header::{self, Form, Named};
use crate::unit::{Conversion, conversion};
use crate::{Error, Result};
use costate::shown::rounded;
use std::path::Path;

/// Calibration of a column: the law from its numbers to values of its quantity.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Calibration {
    /// The column's unit, where its header names none, or another one.
    pub unit: Option<String>,
    /// A factor from its numbers to values in the quantity's unit, in the place of the one that units give.
    pub scale: Option<f64>,
    /// Offset that is added behind the factor, in the quantity's unit.
    pub offset: Option<f64>,
}

impl Calibration {
    /// A calibration of these, which are its fields.
    pub fn new(unit: Option<String>, scale: Option<f64>, offset: Option<f64>) -> Self {
        Calibration { unit, scale, offset }
    }

    /// Checks that the calibration has one meaning.
    fn validate(&self) -> Result<()> {
        let fault = |key: &'static str, problem: String, remedy: &str| {
            let cause = costate::Error::invalid(format!("`{key}` of a column"), problem, remedy);
            Err(Error::Calibration { key, cause: Box::new(cause) })
        };
        let wrong = |key, value: f64, remedy: &str| fault(key, format!("it is {value}"), remedy);
        match (self.scale, self.offset, &self.unit) {
            (Some(scale), ..) if !(scale.is_finite() && scale != 0.0) => {
                wrong("scale", scale, "give the value of 1 in the column, finite and not zero")
            }
            (_, Some(offset), _) if !offset.is_finite() => wrong("offset", offset, "give a finite number"),
            (Some(_), _, Some(unit)) => {
                let problem = format!("a column in `{unit}` has a factor already");
                let remedy =
                    "leave out `unit`, or let `scale` lead from the column's numbers to the model's unit alone";
                fault("scale", problem, remedy)
            }
            _ => Ok(()),
        }
    }
}

/// The column that is looked for, and the quantity that it is to give.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sought<'c> {
    /// The column's name, with or without its unit.
    pub column: &'c str,
    /// The quantity's own name, the end of which is no unit.
    pub quantity: &'c str,
    /// The quantity's unit.
    pub unit: &'c str,
    /// Calibration of the column's numbers.
    pub calibration: Option<&'c Calibration>,
    /// Names of other quantities, whose ends are no units either.
    pub others: &'c [String],
    /// True if the column may be of any dimension: a gain that is fitted leads to the quantity's.
    pub has_gain: bool,
    /// What a problem file may say of the column's numbers.
    pub keys: Keys<'c>,
}

/// Keys by which a problem file calibrates a column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Keys<'c> {
    /// `unit`, or `scale` and `offset`.
    #[default]
    UnitOrScale,
    /// A key that says the unit, and nothing else.
    Unit(&'c str),
    /// Nothing: the header alone says the unit.
    None,
}

impl<'c> Keys<'c> {
    /// The key that says the unit.
    fn unit(self) -> Option<&'c str> {
        match self {
            Keys::UnitOrScale => Some("unit"),
            Keys::Unit(key) => Some(key),
            Keys::None => None,
        }
    }
}

impl<'c> Sought<'c> {
    /// A column that is called like its quantity, perhaps with a unit behind it.
    pub fn named(name: &'c str, unit: &'c str) -> Self {
        Sought { column: name, quantity: name, unit, ..Sought::default() }
    }

    /// True if a problem file may state a factor beside its unit.
    fn takes_scale(&self) -> bool {
        self.keys == Keys::UnitOrScale
    }
}

/// Law by which numbers of a column become values of a quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    conversion: Conversion,
    scale: Option<f64>,
    offset: f64,
}

impl Law {
    /// The value of a number of the column.
    pub fn of(&self, number: f64) -> f64 {
        self.scale.map_or_else(|| self.conversion.apply(number), |scale| scale * number) + self.offset
    }

    fn is_plain(&self) -> bool {
        self.conversion == Conversion::Same && self.scale.is_none() && self.offset == 0.0
    }
}

/// A column of a record.
#[derive(Debug, Clone)]
pub struct Column<'r> {
    /// Name as the header has it.
    pub name: &'r str,
    /// Values in the quantity's unit.
    pub values: Vec<f64>,
    /// Sentence on conversions of the numbers.
    pub note: Option<String>,
}

/// A column with what makes values of its numbers.
#[non_exhaustive]
pub struct Located<'r> {
    /// Name as the header has it.
    pub name: &'r str,
    /// Law by which the column's numbers become values.
    pub law: Law,
    /// Sentence on conversions of the numbers.
    pub note: Option<String>,
}

/// The column called so, or else so with a unit behind it.
///
/// # Errors
/// [`Error::File`] if the column is in a unit that no factor leads from, or if two columns fit as well; [`costate::Error::Invalid`] for a calibration
/// that contradicts itself.
pub fn locate<'r>(record: &'r Record, file: &Path, sought: &Sought<'_>) -> Result<Option<Located<'r>>> {
    sought.calibration.map_or(Ok(()), Calibration::validate)?;
    if let Some(header) = record.names().iter().find(|header| *header == sought.column) {
        let mut ways = header::read(header, sought.unit);
        // the end of a quantity's own name is no unit
        let is_own = header == sought.quantity || sought.others.contains(header);
        ways.retain(|way| way.form == Form::Brackets || !is_own);
        let unknown = header::unknown_in_brackets(header).filter(|_| !is_own).map(|text| Named {
            name: header,
            unit: text.into(),
            form: Form::Brackets,
            conversion: conversion(text, sought.unit),
        });
        return located(header, ways.into_iter().next().or(unknown), file, sought).map(Some);
    }
    let fits = |header: &&'r String| header.starts_with(sought.column) && !sought.others.contains(header);
    let ways = record.names().iter().filter(fits).filter_map(|header| {
        let mut ways = header::read(header, sought.unit).into_iter();
        Some((header.as_str(), ways.find(|way| way.name == sought.column)?))
    });
    let ways: Vec<(&'r str, Named<'r>)> = ways.collect();
    // what is in the unit already comes before what is converted, and that before what cannot be; the end of a name is the least certain of signs
    let rank = |way: &Named<'_>| match (&way.conversion, way.form) {
        (Conversion::Refused(_), _) => 4,
        (conversion, form) => i32::from(*conversion != Conversion::Same) + 2 * i32::from(form == Form::Word),
    };
    let Some(best) = ways.iter().map(|(_, way)| rank(way)).min() else { return Ok(None) };
    let mut best = ways.into_iter().filter(|(_, way)| rank(way) == best);
    let Some((header, way)) = best.next() else { return Ok(None) };
    let is_refused = matches!(way.conversion, Conversion::Refused(_));
    if let Some((second, _)) = best.next().filter(|_| !is_refused) {
        let problem = format!("both `{header}` and `{second}` may be meant by `{}`", sought.column);
        return Err(Error::file(file, None, problem, "rename one of the columns, or name the one that is meant"));
    }
    located(header, Some(way), file, sought).map(Some)
}

/// Locates a column, with the law for its numbers, by what its header says of the unit.
fn located<'r>(header: &'r str, way: Option<Named<'_>>, file: &Path, sought: &Sought<'_>) -> Result<Located<'r>> {
    let Calibration { unit: stated, scale, offset } = sought.calibration.cloned().unwrap_or_default();
    let (asked, place) = (sought.unit, file.display());
    let mut notes = Vec::new();
    let own = way.as_ref().map(|way| &*way.unit);
    let mut law = Law { conversion: Conversion::Same, scale, offset: offset.unwrap_or(0.0) };
    if let Some(scale) = scale {
        notes.push(format!("1 in it is {} {asked}, as `scale` says", rounded(scale, 6)));
        let is_other = |way: &&Named<'_>| way.conversion != Conversion::Same && way.form != Form::Word;
        notes.extend(way.as_ref().filter(is_other).map(|way| format!("its unit, `{}`, is not looked at", way.unit)));
    } else if let Some(unit) = stated.as_deref().or(own) {
        law.conversion = match conversion(unit, asked) {
            Conversion::Refused(_) if sought.has_gain => {
                notes.push(format!("its numbers are in {unit}, and the gain of its sensor is in {unit} per {asked}"));
                Conversion::Same
            }
            Conversion::Refused(why) => return Err(refused(header, (unit, &why), file, sought)),
            conversion => conversion,
        };
        if let Conversion::Factor(factor) = law.conversion {
            notes.push(format!("converted from {unit} to {asked}: 1 {unit} = {} {asked}", rounded(factor, 8)));
        }
        let contradicts = |way: &&Named<'_>| {
            stated.as_ref().is_some_and(|unit| conversion(&way.unit, unit) != Conversion::Same)
                && way.form != Form::Word
        };
        notes.extend(way.as_ref().filter(contradicts).map(|way| {
            format!("this unit is said in the problem file, and goes over the `{}` of its header", way.unit)
        }));
        let is_guess = |way: &&Named<'_>| stated.is_none() && way.form == Form::Word && !law.is_plain();
        notes.extend(way.as_ref().filter(is_guess).map(|way| {
            let end = Some(&header[way.name.len()..]).filter(|end| !end.is_empty()).unwrap_or(&way.unit);
            match sought.keys.unit() {
                Some(key) => format!("if `{end}` is part of the name, say so in a problem file: {key} = \"{asked}\""),
                None => format!("if `{end}` is part of the name, rename the column"),
            }
        }));
    }
    if law.offset != 0.0 {
        notes.push(format!("{} {asked} are added, as `offset` says", rounded(law.offset, 6)));
    }
    let note = (!notes.is_empty()).then(|| format!("{place}: column `{header}`: {}", notes.join("; ")));
    Ok(Located { name: header, law, note })
}

fn refused(header: &str, (unit, why): (&str, &str), file: &Path, sought: &Sought<'_>) -> Error {
    let subject = match header == sought.quantity {
        true => "what it is taken for".to_string(),
        false => format!("`{}`", sought.quantity),
    };
    let asked = sought.unit;
    let problem = format!("column `{header}` is in `{unit}`, where {subject} is in `{asked}`: {why}");
    let is_stated = sought.calibration.is_some_and(|own| own.unit.is_some());
    let remedy = match sought.keys.unit() {
        Some(key) if is_stated => format!("correct `{key}`, or convert its values"),
        None => "convert its values; if this is not its unit, correct the header".to_string(),
        Some(key) => {
            let scale = if sought.takes_scale() { ", or its `scale` and `offset`" } else { "" };
            format!(
                "convert its values; if this is not its unit, correct the header, or say the right one in a problem file, {key} = \"{asked}\"{scale}"
            )
        }
    };
    Error::file(file, None, problem, remedy)
}

/// The column that is sought, NaN where values are missing.
///
/// # Errors
/// As [`locate`].
pub fn find<'r>(record: &'r Record, file: &Path, sought: &Sought<'_>) -> Result<Option<Column<'r>>> {
    let Some(Located { name, law, note }) = locate(record, file, sought)? else { return Ok(None) };
    let numbers = record.column_with_gaps(name)?;
    let values = if law.is_plain() { numbers.to_vec() } else { numbers.iter().map(|x| law.of(*x)).collect() };
    if let Some(row) = (0..values.len()).find(|&k| values[k].is_infinite()) {
        let problem =
            format!("value {} of column `{name}`, {}, is too large in {}", row + 1, numbers[row], sought.unit);
        let remedy =
            if sought.takes_scale() { "check the value, its unit and `scale`" } else { "check the value and its unit" };
        return Err(Error::file(file, None, problem, remedy));
    }
    Ok(Some(Column { name, values, note }))
}

/// Error for a column that is not there, with what is there in its place.
pub fn missing(record: &Record, file: &Path, name: &str) -> Error {
    match record.left_out(name) {
        None => Error::unknown("column", name, file.display().to_string(), record.names()),
        Some(what) => {
            let problem = format!("`{name}` is no column: it is {what}");
            let is_of_numpy = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
            let how = match is_of_numpy {
                true => format!("np.savez(.., t=t, {name}={name}), of float64"),
                false => format!("save(.., 't', '{name}', '-v7')"),
            };
            Error::file(
                file,
                None,
                problem,
                format!("save it as a vector of real numbers, as long as the times: {how}"),
            )
        }
    }
}

#[cfg(test)]
mod tests;
