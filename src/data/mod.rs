//! Measured records: named columns of numbers, read from and written to text files.
//!
//! ```
//! use costate::data::Record;
//! # fn main() -> costate::Result<()> {
//! let record = Record::from_columns([("t", vec![0.0, 0.1, 0.2]), ("y", vec![1.0, 0.9, 0.7])])?;
//! assert_eq!(record.column("y")?[2], 0.7);
//! let time = record.time("t")?;
//! assert!(time.is_even() && (time.sampling_step()? - 0.1).abs() < 1e-12);
//! assert!(record.column("Y1").unwrap_err().to_string().contains("did you mean `y`?"));
//! # Ok(())
//! # }
//! ```

pub(crate) mod columns;
pub(crate) mod file_set;
pub mod files;
pub mod noise;
pub mod random;
pub(crate) mod rows;
pub mod time_axis;

use crate::rows::Rows;
use crate::time_axis::Origin;
pub use crate::time_axis::{EVEN_TOLERANCE, TimeAxis};
use crate::{Error, Result};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Named columns of equal length: at least one column and one row, all values finite, or NaN where a file has gaps and was read with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    /// The file, if the record was read from one.
    path: Option<PathBuf>,
    /// Line of the first row in that file; each row is one line, and none lies between.
    first_line: u64,
}

impl Record {
    /// Reads a text file of columns separated by commas, semicolons or tabs (told from the header line).
    ///
    /// Its first line names the columns; lines before it that are blank or start with `#` are skipped, and so are blank
    /// lines at the end. Cells are trimmed and may be in quotation marks; a byte-order mark and Windows line ends are
    /// accepted. Numbers have a decimal point, whatever the separator.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Memory`] as from [`files::read`]. [`Error::File`] with line and column for anything that is not a finite
    /// number, rows of another length than the header, names that are missing or repeated, blank lines between rows, a
    /// missing header, a file without rows, and text that is not UTF-8.
    pub fn read_csv(path: &Path) -> Result<Self> {
        Self::parse_csv(&files::read(path)?, path)
    }

    /// As [`Record::read_csv`], for records in which samples are missing: cells that are empty, or `NaN`, `NA`, `null`. They are NaN in
    /// [`Record::column_with_gaps`]; [`Record::column`] refuses a column that has any.
    ///
    /// # Errors
    /// As [`Record::read_csv`], but for such cells.
    pub fn read_csv_with_gaps(path: &Path) -> Result<Self> {
        Self::parse(&files::read(path)?, path, Gaps::Allowed)
    }

    /// As [`Record::read_csv`], for bytes that are already in memory; `path` is named in messages.
    ///
    /// # Errors
    /// [`Error::File`], as for [`Record::read_csv`].
    pub fn parse_csv(bytes: &[u8], path: &Path) -> Result<Self> {
        Self::parse(bytes, path, Gaps::Refused)
    }

    fn parse(bytes: &[u8], path: &Path, gaps: Gaps) -> Result<Self> {
        let text = decode(bytes, path)?;
        let mut lines = text.lines().enumerate().map(|(index, line)| (index as u64 + 1, line));
        let mut comment = None;
        let (header_line, header) = loop {
            match lines.next() {
                None => {
                    let remedy = "give a file with a header line that names the columns, and rows of numbers";
                    let problem = if text.trim().is_empty() { "the file is empty" } else { "only comments are in it" };
                    return Err(Error::file(path, None, problem, remedy));
                }
                Some((number, line)) if line.trim_start().starts_with('#') => comment = Some((number, line)),
                Some((_, line)) if line.trim().is_empty() => {}
                Some(found) => break found,
            }
        };
        if header.contains('\r') {
            let problem = "lines end with a lone carriage return";
            return Err(Error::file(path, Some(header_line), problem, "save the file with line ends LF or CRLF"));
        }
        let delimiter = Delimiter::of(header);
        let names: Vec<String> = cells(header, delimiter, path, header_line)?.iter().map(|s| s.to_string()).collect();
        check_names(&names).map_err(|fault| {
            let remedy = match (fault.header_missing, comment) {
                (true, Some((number, line))) if Delimiter::of(line) == delimiter => {
                    format!("{} (if line {number} is meant to do so, remove its `#`)", fault.remedy)
                }
                _ => fault.remedy.to_string(),
            };
            Error::file(path, Some(header_line), fault.problem, remedy)
        })?;

        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        let mut first_line = None;
        let mut blank = None;
        for (number, line) in lines {
            if line.trim().is_empty() {
                blank = blank.or(Some(number));
                continue;
            }
            if let (Some(blank), Some(_)) = (blank, first_line) {
                let remedy = "remove the line if nothing is missing, or split the file there";
                return Err(Error::file(path, Some(blank), "there is a blank line between rows", remedy));
            }
            (first_line, blank) = (first_line.or(Some(number)), None);
            if line.contains('"') {
                let cells = cells(line, delimiter, path, number)?;
                read_row(cells.iter().map(|s| s.as_ref()), &names, &mut columns, (delimiter, gaps))
            } else {
                read_row(line.split(delimiter.character()).map(str::trim), &names, &mut columns, (delimiter, gaps))
            }
            .map_err(|(problem, remedy)| match line.trim_start().starts_with('#') {
                false => Error::file(path, Some(number), problem, remedy),
                true => {
                    let problem = "there is a comment after the header";
                    Error::file(path, Some(number), problem, "move it to the top of the file, or remove it")
                }
            })?;
        }
        match first_line {
            Some(first_line) => Ok(Self { names, columns, path: Some(path.to_path_buf()), first_line }),
            None => {
                let problem = "the file ends after its header, without any row";
                Err(Error::file(path, Some(header_line), problem, "give a file with rows of numbers"))
            }
        }
    }

    /// A record from columns in memory, in the given order.
    ///
    /// # Errors
    /// [`Error::Invalid`] for no column or no row, columns of different length, a value that is not finite, and names that
    /// a file could not keep: empty, repeated, with spaces around them or control characters in them, or all numbers.
    pub fn from_columns<S: Into<String>>(columns: impl IntoIterator<Item = (S, Vec<f64>)>) -> Result<Self> {
        let (names, columns): (Vec<String>, Vec<Vec<f64>>) =
            columns.into_iter().map(|(name, values)| (name.into(), values)).unzip();
        check_names(&names).map_err(|fault| Error::invalid("column names", fault.problem, fault.remedy))?;
        let rows = columns[0].len(); // there is a column: no names are refused
        if rows == 0 {
            return Err(Error::invalid(format!("column `{}`", names[0]), "it has no value", "give at least one row"));
        }
        for (name, values) in names.iter().zip(&columns) {
            if values.len() != rows {
                let problem = format!("it has {} values where `{}` has {rows}", values.len(), names[0]);
                return Err(Error::invalid(format!("column `{name}`"), problem, "give columns of equal length"));
            }
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                let problem = format!("the value is {}", values[row]);
                let remedy = "leave the row out, or find where the value comes from";
                return Err(Error::invalid(format!("column `{name}`, row {}", row + 1), problem, remedy));
            }
        }
        Ok(Self { names, columns, path: None, first_line: 1 })
    }

    /// Writes the record with commas, each number with as few digits as read back to the same bits. The file appears whole
    /// or not at all, see [`files::write_atomically`].
    ///
    /// # Errors
    /// [`Error::Io`] when the folder is missing or not writable, or the disk is full.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        self.rows(&|i, row| self.row(i, row)).write_file(path)
    }

    /// The text that [`Record::write_csv`] writes.
    pub fn to_csv(&self) -> String {
        let mut text = Vec::new();
        // memory takes everything, and names and numbers are UTF-8
        let _ = self.rows(&|i, row| self.row(i, row)).write(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    fn row(&self, i: usize, row: &mut Vec<f64>) {
        row.extend(self.columns.iter().map(|column| column[i]));
    }

    fn rows<'r>(&self, row: &'r dyn Fn(usize, &mut Vec<f64>)) -> Rows<'r> {
        Rows { names: self.names.clone(), count: self.len(), row }
    }

    /// The values of a column, which may be called `name` without the unit that stands behind it in the record: `clock` is `clock [s]`.
    ///
    /// # Errors
    /// [`Error::UnknownName`], with the nearest name; [`Error::Invalid`] where two columns differ in their units only; [`Error::File`] for a
    /// value that is missing.
    pub fn column(&self, name: &str) -> Result<&[f64]> {
        let index = self.place(name)?;
        let values = self.columns[index].as_slice();
        match values.iter().position(|value| value.is_nan()) {
            None => Ok(values),
            Some(row) => {
                let (file, line) = (self.path.clone().unwrap_or_default(), self.first_line + row as u64);
                let problem = format!("the cell of column `{}` is empty or NaN", self.names[index]);
                Err(Error::file(&file, Some(line), problem, "write its value, or remove the row"))
            }
        }
    }

    /// The same, with NaN where values are missing.
    ///
    /// # Errors
    /// As [`Record::column`], but for missing values.
    pub fn column_with_gaps(&self, name: &str) -> Result<&[f64]> {
        self.place(name).map(|index| self.columns[index].as_slice())
    }

    /// The place of the column called `name`, or else of the one called `name [UNIT]`.
    fn place(&self, name: &str) -> Result<usize> {
        if let Some(index) = self.names.iter().position(|known| known == name) {
            return Ok(index);
        }
        let context = || self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let with_unit = |k: &usize| columns::split(&self.names[*k]).is_some_and(|(stem, _)| stem == name);
        match (0..self.names.len()).filter(with_unit).collect::<Vec<_>>()[..] {
            [] => Err(Error::unknown("column", name, context(), &self.names)),
            [index] => Ok(index),
            [first, second, ..] => {
                let problem = format!("both `{}` and `{}` may be meant", self.names[first], self.names[second]);
                Err(Error::invalid(format!("column `{name}`"), problem, "name it with its unit"))
            }
        }
    }

    /// A column as sampling times in s, by its name as for [`Record::column`].
    ///
    /// # Errors
    /// As [`Record::column`]; [`Error::Invalid`] for a column in another unit than s that is named without it; or [`Error::File`] naming the line (without a file: [`Error::Invalid`] naming the row) where
    /// time does not increase.
    pub fn time(&self, column: &str) -> Result<TimeAxis> {
        let index = self.place(column)?;
        let name = &self.names[index];
        if let Some((_, unit)) = columns::split(name).filter(|(_, unit)| name != column && *unit != "s") {
            let problem = format!("it is `{name}`, and times are in s, not in {unit}");
            return Err(Error::invalid(format!("column `{column}`"), problem, "convert its values"));
        }
        let origin = Origin { path: self.path.clone(), first_line: self.first_line, column: name.clone() };
        TimeAxis::with_origin(self.column(name)?, origin)
    }

    /// Some of its rows.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> Record {
        Record {
            names: self.names.clone(),
            columns: self.columns.iter().map(|column| column[rows.clone()].to_vec()).collect(),
            path: self.path.clone(),
            first_line: self.first_line + rows.start as u64,
        }
    }

    /// The names of the columns, in the order of the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows, at least 1.
    pub fn len(&self) -> usize {
        self.columns[0].len() // there is at least one column, checked when made
    }

    /// Always false: a record has at least one row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What separates cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Comma,
    Semicolon,
    Tab,
}

impl Delimiter {
    /// The most frequent one of a line, outside quotation marks; a comma when none is there.
    fn of(line: &str) -> Self {
        let mut best = (Delimiter::Comma, 0);
        for candidate in [Delimiter::Comma, Delimiter::Semicolon, Delimiter::Tab] {
            let outside = line.split('"').step_by(2);
            let count: usize = outside.map(|part| part.matches(candidate.character()).count()).sum();
            if count > best.1 {
                best = (candidate, count);
            }
        }
        best.0
    }

    fn character(self) -> char {
        match self {
            Delimiter::Comma => ',',
            Delimiter::Semicolon => ';',
            Delimiter::Tab => '\t',
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Delimiter::Comma => "commas",
            Delimiter::Semicolon => "semicolons",
            Delimiter::Tab => "tabs",
        }
    }
}

fn decode<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::file(path, None, "the text is UTF-16", "save the file as UTF-8"));
    }
    let bytes = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|e| {
        let (valid, rest) = bytes.split_at(e.valid_up_to());
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let position = 1 + valid.iter().rev().take_while(|&&byte| byte != b'\n').count();
        let byte = rest.first().copied().unwrap_or_default();
        let problem = format!("byte {position} of the line, 0x{byte:02X}, is not UTF-8 text");
        Error::file(path, Some(line), problem, "save the file as UTF-8 (it may be Latin-1, or no text at all)")
    })
}

/// The trimmed cells of a line. Separators between quotation marks belong to the cell, and `""` there is one mark; spaces
/// may stand before the opening mark, as in `"t", "y"`.
fn cells<'a>(line: &'a str, delimiter: Delimiter, path: &Path, number: u64) -> Result<Vec<Cow<'a, str>>> {
    if !line.contains('"') {
        return Ok(line.split(delimiter.character()).map(|cell| Cow::Borrowed(cell.trim())).collect());
    }
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            _ if character == delimiter.character() && !quoted => {
                cells.push(Cow::Owned(cell.trim().to_string()));
                cell.clear();
            }
            _ => cell.push(character),
        }
    }
    if quoted {
        let remedy = "close it in the same line, and double a mark that belongs to a name";
        return Err(Error::file(path, Some(number), "a quotation mark is not closed", remedy));
    }
    cells.push(Cow::Owned(cell.trim().to_string()));
    Ok(cells)
}

/// Whether a file may have cells without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gaps {
    Allowed,
    Refused,
}

/// How a cell says that there is no value.
fn is_missing(cell: &str) -> bool {
    cell.is_empty() || ["nan", "na", "null"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// Appends one row to the columns, or says problem and remedy.
fn read_row<'a>(
    mut cells: impl Iterator<Item = &'a str> + Clone,
    names: &[String],
    columns: &mut [Vec<f64>],
    (delimiter, gaps): (Delimiter, Gaps),
) -> std::result::Result<(), (String, String)> {
    let all = cells.clone();
    for (name, column) in names.iter().zip(columns) {
        let Some(cell) = cells.next() else { return Err(wrong_count(all.count(), names.len(), delimiter)) };
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => column.push(value),
            // A row of the wrong length says more than its first odd cell.
            _ if all.clone().count() != names.len() => {
                return Err(wrong_count(all.count(), names.len(), delimiter));
            }
            _ if gaps == Gaps::Allowed && is_missing(cell) => column.push(f64::NAN),
            parsed => return Err(no_number(name, cell, parsed.is_ok(), delimiter)),
        }
    }
    if cells.next().is_some() { Err(wrong_count(all.count(), names.len(), delimiter)) } else { Ok(()) }
}

fn wrong_count(found: usize, expected: usize, delimiter: Delimiter) -> (String, String) {
    let cells = if found == 1 { "cell" } else { "cells" };
    let columns = if expected == 1 { "1 column" } else { &format!("{expected} columns") };
    let problem =
        format!("the row has {found} {cells} (separated by {}) where the header names {columns}", delimiter.plural());
    let remedy = if delimiter == Delimiter::Comma && found == 2 * expected {
        "write numbers with a decimal point, or separate cells by semicolons"
    } else if found < expected {
        "complete the row, or remove it"
    } else {
        "remove what is too much, or name the column in the header"
    };
    (problem, remedy.to_string())
}

fn no_number(name: &str, cell: &str, not_finite: bool, delimiter: Delimiter) -> (String, String) {
    if cell.is_empty() {
        return (format!("the cell of column `{name}` is empty"), "write its value, or remove the row".to_string());
    }
    let shown = shorten(cell);
    if not_finite {
        let problem = format!("`{shown}` in column `{name}` is not a finite number");
        return (problem, "write the measured value, or remove the row".to_string());
    }
    let comma = cell.matches(',').count() == 1 && cell.replace(',', ".").parse::<f64>().is_ok();
    let remedy = if comma {
        format!("write numbers with a decimal point: `{}`", cell.replace(',', "."))
    } else if cell.split_whitespace().count() > 1 && cell.split_whitespace().all(|part| part.parse::<f64>().is_ok()) {
        format!("separate cells by commas, semicolons or tabs (by the header, these are {})", delimiter.plural())
    } else {
        "write a number such as -1.5e-3, or remove the row".to_string()
    };
    (format!("`{shown}` in column `{name}` is not a number"), remedy)
}

/// Text of the file as it may stand in a message: on one line, and not long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// Why names cannot be those of columns.
struct NameFault {
    problem: String,
    remedy: &'static str,
    header_missing: bool,
}

/// The same rule for files and for columns in memory, so that what is written can be read.
fn check_names(names: &[String]) -> std::result::Result<(), NameFault> {
    let fault = |problem: String, remedy| Err(NameFault { problem, remedy, header_missing: false });
    if names.is_empty() {
        return fault("there is no column".to_string(), "give at least one");
    }
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let problem = format!("the header is missing: all {} names are numbers", names.len());
        let remedy = "add a first line that names the columns, such as `t,y`";
        return Err(NameFault { problem, remedy, header_missing: true });
    }
    let mut seen = HashMap::new();
    for (index, name) in names.iter().enumerate() {
        let number = index + 1;
        if name.is_empty() {
            return fault(format!("column {number} has no name"), "name it, or remove the separator before it");
        }
        if name.trim() != name || name.contains(char::is_control) {
            let problem = format!(
                "the name of column {number}, `{}`, has spaces around it or control characters in it",
                shorten(name)
            );
            return fault(problem, "choose a plain name");
        }
        if let Some(first) = seen.insert(name.as_str(), number) {
            let problem = format!("columns {first} and {number} are both named `{}`", shorten(name));
            return fault(problem, "rename one of them");
        }
    }
    Ok(())
}
