//! Tables of numbers as text, written row by row: a long run needs no second copy of itself to be written.

use crate::files;
use crate::{Error, Result};
use costate::shown::is_plain;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A table whose rows are made when they are written.
pub struct Rows<'r> {
    /// Names of the columns, as [`crate::data::Record::from_columns`] takes them.
    pub names: Vec<String>,
    /// Number of rows.
    pub count: usize,
    /// Appends the values of a row.
    pub row: &'r dyn Fn(usize, &mut Vec<f64>),
}

impl Rows<'_> {
    /// Writes a file of columns separated by commas; it appears whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`]; [`costate::Error::Invalid`] for a value that is not finite, which could not be read again.
    pub fn write_file(&self, path: &Path) -> Result<()> {
        let mut values = Vec::with_capacity(self.names.len());
        for i in 0..self.count {
            values.clear();
            (self.row)(i, &mut values);
            if let Some(k) = values.iter().position(|value| !value.is_finite()) {
                let what = format!("column `{}`, row {}", self.names[k], i + 1);
                let remedy = "leave the row out, or find where the value comes from";
                return Err(Error::invalid(what, format!("the value is {}", values[k]), remedy));
            }
        }
        files::write_with(path, |file| {
            let mut out = BufWriter::new(file);
            self.write(&mut out)?;
            out.flush()
        })
    }

    /// Writes the header, then each number with as few digits as read back to the same bits.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        Row::names(&self.names, out)?;
        let mut values = Vec::with_capacity(self.names.len());
        for i in 0..self.count {
            values.clear();
            (self.row)(i, &mut values);
            Row::values(&values, out)?;
        }
        Ok(())
    }
}

/// One row of a table.
pub struct Row;

impl Row {
    /// The header.
    pub fn names(names: &[String], out: &mut dyn Write) -> io::Result<()> {
        for (index, name) in names.iter().enumerate() {
            out.write_all(if index > 0 { b"," } else { b"" })?;
            // A first name that starts with `#` or a byte-order mark would be taken for something else.
            if name.contains([',', ';', '"', '#', '\u{feff}']) {
                write!(out, "\"{}\"", name.replace('"', "\"\""))?;
            } else {
                out.write_all(name.as_bytes())?;
            }
        }
        out.write_all(b"\n")
    }

    /// Writes each number with as few digits as read back to the same bits.
    pub fn values(values: &[f64], out: &mut dyn Write) -> io::Result<()> {
        for (index, value) in values.iter().enumerate() {
            out.write_all(if index > 0 { b"," } else { b"" })?;
            if is_plain(*value) { write!(out, "{value}")? } else { write!(out, "{value:e}")? }
        }
        out.write_all(b"\n")
    }
}
