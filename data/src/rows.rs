//! Tables of numbers as text, written row by row: a long run needs no second copy of itself to be written.

use crate::files;
use crate::{Error, Result};
use costate::parallel::{in_parallel, threads};
use costate::shown::{is_plain, shortest};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A table whose rows are made when they are written.
pub struct Rows<'r> {
    /// Names of the columns, as [`crate::Record::from_columns`] takes them.
    pub names: Vec<String>,
    /// Number of rows.
    pub count: usize,
    /// Appends the values of a row.
    pub row: &'r (dyn Fn(usize, &mut Vec<f64>) + Sync),
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
        /// Rows that a thread makes text of at once.
        const PIECE: usize = 8192;
        Row::names(&self.names, out)?;
        let pieces = self.count.div_ceil(PIECE);
        // a number of threads that makes no sense is refused elsewhere
        let mut texts = vec![Vec::new(); threads().unwrap_or(1).min(pieces)];
        for first in (0..pieces).step_by(texts.len().max(1)) {
            let count = texts.len().min(pieces - first);
            in_parallel(&mut texts[..count], count, |k, text| self.text((first + k) * PIECE, PIECE, text))?;
            texts[..count].iter().try_for_each(|text| out.write_all(text))?;
        }
        Ok(())
    }

    /// The text of `count` rows from the first one on, or of as many as there are.
    fn text(&self, first: usize, count: usize, text: &mut Vec<u8>) -> io::Result<()> {
        text.clear();
        let mut values = Vec::with_capacity(self.names.len());
        for i in first..self.count.min(first + count) {
            values.clear();
            (self.row)(i, &mut values);
            Row::values(&values, text)?;
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
        let mut buffer = zmij::Buffer::new();
        for (index, &value) in values.iter().enumerate() {
            out.write_all(if index > 0 { b"," } else { b"" })?;
            let digits = if is_plain(value) { buffer.format(value) } else { "e" };
            if digits.contains('e') {
                write!(out, "{}", shortest(value))?;
            } else {
                out.write_all(digits.strip_suffix(".0").unwrap_or(digits).as_bytes())?;
            }
        }
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects files from a printer of numbers that has its own ideas: they read back to the same bits, and are as short as those of the standard
    /// library, with its signs and powers. (Of two decimals as short and as near, it takes the other one.)
    #[test]
    fn numbers_are_as_short_as_can_be() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut values = vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            1e-5,
            9.999_999_999_999_999e-6,
            1e15,
            1e16,
            9_007_199_254_740_993.0,
            5e-324,
            f64::MAX,
        ];
        for k in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
            values.extend([
                unit - 0.5,
                (unit - 0.5) * 10_f64.powi(k % 40 - 20),
                (unit * 1e6).round() / 1e3,
                f64::from_bits(state),
            ]);
        }
        values.retain(|value| value.is_finite());
        let mut text = Vec::new();
        Row::values(&values, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let cells: Vec<&str> = text.trim_end().split(',').collect();
        assert_eq!(cells.len(), values.len());
        for (cell, value) in cells.into_iter().zip(values) {
            let expected = shortest(value);
            assert!(cell.parse::<f64>().unwrap().to_bits() == value.to_bits(), "{cell}: {expected}");
            assert!(cell.len() == expected.len() && cell.contains('e') == expected.contains('e'), "{cell}: {expected}");
        }
    }

    /// Protects rows from the number of threads that make text of them, and from the size of their pieces.
    #[test]
    fn rows_stay_in_order() {
        for count in [0, 1, 8191, 8192, 8193, 50_000] {
            let row = |i: usize, row: &mut Vec<f64>| row.push(i as f64);
            let mut text = Vec::new();
            Rows { names: vec!["i".into()], count, row: &row }.write(&mut text).unwrap();
            let expected = (0..count).fold("i\n".to_string(), |text, i| text + &format!("{i}\n"));
            assert!(text == expected.as_bytes(), "{count}");
        }
    }
}
