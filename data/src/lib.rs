//! Measured records: named columns of numbers, read from text files, files of MATLAB and NumPy and logs of robots, and written to text files.
//!
//! ```
//! use costate_data::Record;
//! # fn main() -> costate_data::Result<()> {
//! let record = Record::from_columns([("t", vec![0.0, 0.1, 0.2]), ("y", vec![1.0, 0.9, 0.7])])?;
//! assert_eq!(record.column("y")?[2], 0.7);
//! let time = record.time("t")?;
//! assert!(time.is_even() && (time.sampling_step()? - 0.1).abs() < 1e-12);
//! assert!(record.column("Y1").unwrap_err().to_string().contains("did you mean `y`?"));
//! # Ok(())
//! # }
//! ```

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod cells;
pub mod clock;
pub mod columns;
mod error;
pub mod file_set;
pub mod files;
mod foreign;
pub mod header;
mod mat;
mod mcap;
mod npz;
pub mod rows;
pub mod series;
mod time_axis;
pub mod unit;

use crate::rows::Rows;
use cells::{Decimals, Delimiter, Gaps, Row, cells, decode, read_row, shorten};
pub use error::{Error, Result};
use foreign::Foreign;
use mat::LeftOut;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use time_axis::Origin;
pub use time_axis::TimeAxis;

/// Named columns of equal length: at least one column and one row, all values finite, or NaN where a file has gaps and was read with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    /// The file, if the record was read from one.
    path: Option<PathBuf>,
    /// Line of the first row in that file; each row is one line, and none lies between. Of a file of MATLAB, the number of the first value.
    first_line: u64,
    /// True if the record was read from a file of MATLAB or NumPy, or a log, which have no lines.
    is_binary: bool,
    /// Variables of the file that are no columns.
    left_out: Vec<LeftOut>,
    /// Columns, by their places, that hold something else than numbers somewhere; NaN is there.
    foreign: Vec<(usize, Foreign)>,
    /// Assumptions of the reader, in sentences.
    remarks: Vec<String>,
}

impl Record {
    /// Reads a file of measurements, whatever it is: a file of MATLAB (`.mat`, versions 5 to 7) or NumPy (`.npz`), a log of a robot (`.mcap`),
    /// or else a text file as [`Record::read_csv_with_gaps`] does.
    ///
    /// Of MATLAB's workspace and NumPy's archive, real vectors are columns by their names, and columns of a matrix `a` are `a_1`, `a_2`, ..; NaN is a missing sample.
    /// What is not as long as `t` or `time` (or else as most vectors), and structs, cells, text, objects and complex or sparse numbers are left out,
    /// which [`Record::remarks`] tells. Without `t` and `time`, a number `Ts`, `T_s` or `dt` (s) or `fs` (Hz) makes times from 0 on, called `t`.
    ///
    /// Of a log, numbers in messages of ROS 2, ROS 1 and JSON are columns, called by their fields (`linear_acceleration_x`), behind the names that a message gives to
    /// elements of its arrays (`shoulder_position`). Of several topics, the path names one: `run.mcap#/joint_states`.
    ///
    /// # Errors
    /// As [`Record::read_csv_with_gaps`]; [`Error::File`] for a file of MATLAB that is damaged, of version 7.3 (HDF5) or 4, or without a
    /// vector, and for infinite values.
    pub fn read(path: &Path) -> Result<Self> {
        Self::parse_any(&files::read(path)?, path)
    }

    /// Parses a record as [`Record::read`] does, from bytes that are already in memory; `path` is named in messages.
    ///
    /// # Errors
    /// [`Error::File`] and [`costate::Error::Memory`], as for [`Record::read`].
    pub fn parse_any(bytes: &[u8], path: &Path) -> Result<Self> {
        match () {
            _ if mat::is_meant(bytes, path) => mat::parse(bytes, path),
            _ if npz::is_meant(bytes, path) => npz::parse(bytes, path),
            _ if mcap::is_meant(bytes, path) => mcap::parse(bytes, path),
            _ => Self::parse(bytes, path, Gaps::Allowed),
        }
    }

    /// Reads a text file of columns separated by commas, semicolons or tabs (recognised by the header line).
    ///
    /// Its first line names the columns; lines before it that are blank, start with `#` or are `sep=;` as spreadsheets write it are skipped, and so are
    /// blank lines at the end. Cells are trimmed and may be in quotation marks; a byte-order mark and Windows line ends are
    /// accepted. Numbers have a decimal point; between semicolons or tabs, all of them may have a decimal comma.
    ///
    /// # Errors
    /// [`Error::Io`] and [`costate::Error::Memory`] as from [`files::read`]. [`Error::File`] with line and column for anything that is not a finite
    /// number, rows of another length than the header, names that are missing or repeated, blank lines between rows, a
    /// missing header, a file without rows, and text that is not UTF-8.
    pub fn read_csv(path: &Path) -> Result<Self> {
        Self::parse_csv(&files::read(path)?, path)
    }

    /// Reads a text file as loggers write them, else as [`Record::read_csv`] does. Samples may be missing: cells that are empty, or `NaN`, `NA`, `null`. They
    /// are NaN in [`Record::column_with_gaps`]; [`Record::column`] refuses a column that has any. Columns may hold text, dates and so on as
    /// long as nobody asks for them; columns without a name, and separators at the ends of lines, are left out. [`Record::remarks`] tell.
    ///
    /// # Errors
    /// As [`Record::read_csv`], but for such cells and columns; and if no column holds numbers alone.
    pub fn read_csv_with_gaps(path: &Path) -> Result<Self> {
        Self::parse(&files::read(path)?, path, Gaps::Allowed)
    }

    /// Parses text as [`Record::read_csv`] does, from bytes that are already in memory; `path` is named in messages.
    ///
    /// # Errors
    /// [`Error::File`], as for [`Record::read_csv`].
    pub fn parse_csv(bytes: &[u8], path: &Path) -> Result<Self> {
        Self::parse(bytes, path, Gaps::Refused)
    }

    fn parse(bytes: &[u8], path: &Path, gaps: Gaps) -> Result<Self> {
        let text = decode(bytes, path)?;
        let mut lines = text.lines().enumerate().map(|(index, line)| (index as u64 + 1, line));
        let (header_line, delimiter, names) = head(text, &mut lines, path, gaps)?;
        let mut row = Row::new(&names, delimiter, gaps);
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        let mut first_line = None;
        let mut blank = None;
        let mut decimals = Decimals::default();
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
                read_row(cells.iter().map(|s| s.as_ref()), &mut row, &mut columns, number)
            } else {
                read_row(line.split(delimiter.character()).map(str::trim), &mut row, &mut columns, number)
            }
            .and_then(|signs| decimals.see(signs, number))
            .map_err(|(problem, remedy)| match line.trim_start().starts_with('#') {
                false => Error::file(path, Some(number), problem, remedy),
                true => {
                    let problem = "there is a comment after the header";
                    Error::file(path, Some(number), problem, "move it to the top of the file, or remove it")
                }
            })?;
        }
        let Some(first_line) = first_line else {
            let problem = "the file ends after its header, without any row";
            return Err(Error::file(path, Some(header_line), problem, "give a file with rows of numbers"));
        };
        let Row { foreign, commas, .. } = row;
        let remarks = commas.remark(path, &names).into_iter().collect();
        let plain = Self { path: Some(path.to_path_buf()), first_line, remarks, ..Self::plain(names, columns) };
        plain.without_foreign(foreign)
    }

    /// A record from columns in memory, in the given order.
    ///
    /// # Errors
    /// [`costate::Error::Invalid`] for no column or no row, columns of different length, a value that is not finite, and names that
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
        Ok(Self::plain(names, columns))
    }

    /// Record in memory.
    fn plain(names: Vec<String>, columns: Vec<Vec<f64>>) -> Self {
        let (left_out, foreign, remarks) = (Vec::new(), Vec::new(), Vec::new());
        Self { names, columns, path: None, first_line: 1, is_binary: false, left_out, foreign, remarks }
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

    fn rows<'r>(&self, row: &'r (dyn Fn(usize, &mut Vec<f64>) + Sync)) -> Rows<'r> {
        Rows { names: self.names.clone(), count: self.len(), row }
    }

    /// The values of a column as they stand there, which may be called `name` without the unit that stands behind it in the record: `clock` is
    /// `clock [ms]`, in ms.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`], with the nearest name; [`costate::Error::Invalid`] where two columns differ in their units only; [`Error::File`] for a
    /// value that is missing.
    pub fn column(&self, name: &str) -> Result<&[f64]> {
        let index = self.place(name)?;
        let values = self.column_with_gaps(name)?;
        match values.iter().position(|value| value.is_nan()) {
            None => Ok(values),
            Some(row) => {
                let (file, line) = (self.path.clone().unwrap_or_default(), self.first_line + row as u64);
                let name = &self.names[index];
                if self.is_binary {
                    let problem = format!("value {line} of `{name}` is NaN");
                    return Err(Error::file(
                        &file,
                        None,
                        problem,
                        "give its value, or save vectors without that sample",
                    ));
                }
                let problem = format!("the cell of column `{name}` is empty or NaN");
                Err(Error::file(&file, Some(line), problem, "write its value, or remove the row"))
            }
        }
    }

    /// Values of the column of exactly this name, with NaN where values are missing.
    ///
    /// # Errors
    /// As [`Record::column`], but for missing values; [`Error::File`] where the column holds something else than numbers.
    pub fn column_with_gaps(&self, name: &str) -> Result<&[f64]> {
        let index = self.place(name)?;
        match self.foreign.iter().find(|(column, _)| *column == index) {
            None => Ok(self.columns[index].as_slice()),
            Some((_, foreign)) => Err(foreign.error(&self.path.clone().unwrap_or_default())),
        }
    }

    /// True if a column of exactly this name holds numbers, or nothing, in all rows.
    pub fn is_numeric(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name) && !self.foreign.iter().any(|(column, _)| self.names[*column] == name)
    }

    /// The place of the column called `name`, or else of the one called `name [UNIT]`.
    fn place(&self, name: &str) -> Result<usize> {
        if let Some(index) = self.names.iter().position(|known| known == name) {
            return Ok(index);
        }
        let context = || self.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let with_unit = |k: &usize| header::split(&self.names[*k]).is_some_and(|(stem, _)| stem == name);
        match (0..self.names.len()).filter(with_unit).collect::<Vec<_>>()[..] {
            [] => Err(Error::unknown("column", name, context(), &self.names)),
            [index] => Ok(index),
            [first, second, ..] => {
                let problem = format!("both `{}` and `{}` may be meant", self.names[first], self.names[second]);
                Err(Error::invalid(format!("column `{name}`"), problem, "name it with its unit"))
            }
        }
    }

    /// A column as sampling times in s, by its name as for [`Record::column`]; what is in another unit by its header (`clock [ms]`,
    /// `Time (min)`, `t/h`, `t_us`) is converted.
    ///
    /// # Errors
    /// As [`Record::column`]; [`Error::File`] for a column whose unit is none of time, or naming the line (without a file: [`costate::Error::Invalid`]
    /// naming the row) where time does not increase.
    pub fn time(&self, column: &str) -> Result<TimeAxis> {
        let name = &self.names[self.place(column)?];
        let file = self.path.clone().unwrap_or_default();
        clock::clock(self, &file, Some(name), None).map(|clock| clock.axis).map_err(|error| match error {
            Error::File { problem, remedy, .. } if self.path.is_none() => {
                Error::invalid(format!("column `{column}`"), problem, remedy)
            }
            other => other,
        })
    }

    /// A column as sampling times, by a law that leads from its numbers to s.
    ///
    /// # Errors
    /// As [`Record::time`].
    pub fn times_by(&self, column: &str, law: &dyn Fn(f64) -> f64) -> Result<TimeAxis> {
        let origin = Origin {
            path: self.path.clone(),
            first_line: self.first_line,
            is_binary: self.is_binary,
            column: column.to_string(),
        };
        let times: Vec<f64> = self.column(column)?.iter().map(|number| law(*number)).collect();
        TimeAxis::with_origin(&times, origin)
    }

    /// Some of its rows.
    pub fn part(&self, rows: std::ops::Range<usize>) -> Record {
        // where a column has no gap, it is one of numbers
        let has_gap =
            |(column, _): &&(usize, Foreign)| self.columns[*column][rows.clone()].iter().any(|x| !x.is_finite());
        Record {
            names: self.names.clone(),
            columns: self.columns.iter().map(|column| column[rows.clone()].to_vec()).collect(),
            path: self.path.clone(),
            first_line: self.first_line + rows.start as u64,
            is_binary: self.is_binary,
            left_out: self.left_out.clone(),
            foreign: self.foreign.iter().filter(has_gap).cloned().collect(),
            remarks: self.remarks.clone(),
        }
    }

    /// Assumptions of the reader, and variables of the file that are no columns, in sentences.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// True if the record was read from a file of MATLAB.
    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Kind of the variable of this name that is no column: `a struct`.
    pub fn left_out(&self, name: &str) -> Option<&str> {
        self.left_out.iter().find(|one| one.name == name).map(|one| &*one.what)
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

/// The number of the header line, what separates columns, and their names: of the first line that is no comment, up to which `lines` are taken.
fn head<'t>(
    text: &str,
    lines: &mut impl Iterator<Item = (u64, &'t str)>,
    path: &Path,
    gaps: Gaps,
) -> Result<(u64, Delimiter, Vec<String>)> {
    let mut comment = None;
    let is_header = |(number, line): &(u64, &str)| {
        if line.trim_start().starts_with('#') {
            comment = Some((*number, line.to_string()));
        }
        let is_of_spreadsheet = line.trim().strip_prefix("sep=").is_some_and(|sign| sign.chars().count() <= 1);
        !line.trim_start().starts_with('#') && !line.trim().is_empty() && !is_of_spreadsheet
    };
    let Some((header_line, header)) = lines.find(is_header) else {
        let remedy = "give a file with a header line that names the columns, and rows of numbers";
        let problem = if text.trim().is_empty() { "the file is empty" } else { "only comments are in it" };
        return Err(Error::file(path, None, problem, remedy));
    };
    if header.contains('\r') {
        let problem = "lines end with a lone carriage return";
        return Err(Error::file(path, Some(header_line), problem, "save the file with line ends LF or CRLF"));
    }
    let delimiter = Delimiter::of(header);
    let names: Vec<String> = cells(header, delimiter, path, header_line)?.iter().map(|s| s.to_string()).collect();
    let is_meant = |name: &&String| gaps == Gaps::Refused || !name.is_empty();
    let named: Vec<String> = names.iter().filter(is_meant).cloned().collect();
    check_names(&named).map_err(|fault| {
        let remedy = match (fault.header_missing, &comment) {
            (true, Some((number, line))) if Delimiter::of(line) == delimiter => {
                format!("{} (if line {number} is meant to do so, remove its `#`)", fault.remedy)
            }
            _ => fault.remedy.to_string(),
        };
        Error::file(path, Some(header_line), fault.problem, remedy)
    })?;
    Ok((header_line, delimiter, names))
}

/// Fault of names that cannot be those of columns.
struct NameFault {
    problem: String,
    remedy: &'static str,
    header_missing: bool,
}

/// Checks names by one rule for files and for columns in memory, so that what is written can be read.
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
