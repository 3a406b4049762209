//! Columns of a record by the name of a quantity, where the header may hold the unit: `a`, `a [m/s^2]`.

use crate::data::Record;
use crate::error::{Error, Result};
use std::path::Path;

/// A column of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column<'r> {
    /// Its name as the header has it.
    pub name: &'r str,
    /// Its values.
    pub values: &'r [f64],
}

/// The column called `name`, or else `name [unit]`; NaN where values are missing.
///
/// # Errors
/// [`Error::File`] if the column's unit is another one, or if two columns fit.
pub(crate) fn find<'r>(record: &'r Record, file: &Path, name: &str, unit: &str) -> Result<Option<Column<'r>>> {
    let column = |name: &'r str| Ok(Some(Column { name, values: record.column_with_gaps(name)? }));
    let mut fitting = None;
    let mut other = None;
    for header in record.names() {
        if header == name {
            return match split(header) {
                Some((_, own)) if plain(own) != plain(unit) => Err(in_another_unit(file, header, own, name, unit)),
                _ => column(header),
            };
        }
        match split(header) {
            Some((stem, own)) if stem == name && plain(own) == plain(unit) => {
                if let Some(first) = fitting.replace(header) {
                    let problem = format!("both `{first}` and `{header}` may be meant by `{name}`");
                    return Err(Error::file(file, None, problem, "rename one of the columns"));
                }
            }
            Some((stem, own)) if stem == name => other = Some((header, own)),
            _ => {}
        }
    }
    match (fitting, other) {
        (Some(header), _) => column(header),
        (None, None) => Ok(None),
        (None, Some((header, own))) => Err(in_another_unit(file, header, own, name, unit)),
    }
}

fn in_another_unit(file: &Path, header: &str, own: &str, name: &str, unit: &str) -> Error {
    let subject = if header == name { "what it is taken for".to_string() } else { format!("`{name}`") };
    let problem = format!("column `{header}` is in `{own}`, where {subject} is in `{unit}`");
    let remedy = "convert its values; if only the unit is spelt differently, correct the header";
    Error::file(file, None, problem, remedy)
}

/// As [`find`], for a column that must be there, with all its values.
///
/// # Errors
/// As [`find`], [`Error::UnknownName`], and as [`Record::column`] for a value that is missing.
pub(crate) fn get<'r>(record: &'r Record, file: &Path, name: &str, unit: &str) -> Result<Column<'r>> {
    let found = get_with_gaps(record, file, name, unit)?;
    Ok(Column { values: record.column(found.name)?, ..found })
}

/// As [`find`], for a column that must be there.
///
/// # Errors
/// As [`find`], and [`Error::UnknownName`].
pub(crate) fn get_with_gaps<'r>(record: &'r Record, file: &Path, name: &str, unit: &str) -> Result<Column<'r>> {
    match find(record, file, name, unit)? {
        Some(column) => Ok(column),
        None => Err(missing(record, file, name)),
    }
}

/// That there is no such column, with what is there in its place.
pub(crate) fn missing(record: &Record, file: &Path, name: &str) -> Error {
    match record.left_out(name) {
        None => Error::unknown("column", name, file.display().to_string(), record.names()),
        Some(what) => {
            let problem = format!("`{name}` is no column: it is {what}");
            let remedy =
                format!("save it as a vector of real numbers, as long as the times: save(.., 't', '{name}', '-v7')");
            Error::file(file, None, problem, remedy)
        }
    }
}

/// `a [m/s^2]` is `a` in `m/s^2`.
pub(crate) fn split(header: &str) -> Option<(&str, &str)> {
    let (name, unit) = header.strip_suffix(']')?.rsplit_once('[')?;
    Some((name.trim_end(), unit.trim()))
}

/// `a [m/s^2]` is `a`, and so is `a`.
pub(crate) fn stem(header: &str) -> &str {
    split(header).map_or(header, |(name, _)| name)
}

/// Whether two units are one, spelt in any usual way.
pub(crate) fn same_unit(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

/// One spelling for the usual ones of a unit.
fn plain(unit: &str) -> String {
    let unit = unit.replace('²', "^2").replace('³', "^3").replace(['·', '*'], " ");
    match unit.trim() {
        "" | "-" => "1".to_string(),
        unit => unit.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(header: &str, name: &str, unit: &str) -> Result<Option<String>> {
        let record = Record::parse_csv(
            format!("{header}\n{}\n", vec!["1"; header.split(',').count()].join(",")).as_bytes(),
            Path::new("r.csv"),
        )?;
        Ok(find(&record, Path::new("r.csv"), name, unit)?.map(|column| column.name.to_string()))
    }

    // Protects the match by name: exact names first, then the name with its unit in any usual spelling.
    #[test]
    fn a_unit_may_stand_behind_the_name() {
        for header in ["a", "a [m/s^2]", "a[m/s²]", "a  [ m/s^2 ]"] {
            assert_eq!(found(&format!("t,{header}"), "a", "m/s^2").unwrap().unwrap(), header);
        }
        assert_eq!(found("t,d [N·s/m]", "d", "N s/m").unwrap().unwrap(), "d [N·s/m]");
        assert_eq!(found("t,k [-]", "k", "1").unwrap().unwrap(), "k [-]");
        assert_eq!(found("a [m/s^2],a", "a", "m/s^2").unwrap().unwrap(), "a");
        assert_eq!(found("a [g],a [m/s^2]", "a", "m/s^2").unwrap().unwrap(), "a [m/s^2]");
        for header in ["t,aa [m/s^2]", "t,[m/s^2]", "t,a (m/s^2)", "t,a [m/s^2] filtered"] {
            assert_eq!(found(header, "a", "m/s^2").unwrap(), None, "{header}");
        }
    }

    // Protects results against a silent factor of 1000, and against a choice between two columns that nobody made.
    #[test]
    fn another_unit_and_two_candidates_are_refused() {
        let message = found("t,a [mm/s^2]", "a", "m/s^2").unwrap_err().to_string();
        assert!(message.contains("`a [mm/s^2]` is in `mm/s^2`, where `a` is in `m/s^2`"), "{message}");
        let message = found("a [m/s^2],a[m/s²]", "a", "m/s^2").unwrap_err().to_string();
        assert!(message.contains("both `a [m/s^2]` and `a[m/s²]` may be meant"), "{message}");
    }
}
