//! Lines of a text file of columns as cells and numbers.

use super::foreign::Foreign;
use crate::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

/// Separator of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    Comma,
    Semicolon,
    Tab,
}

impl Delimiter {
    /// The most frequent one of a line, outside quotation marks; a comma when none is there.
    pub fn of(line: &str) -> Self {
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

    pub fn character(self) -> char {
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

pub(super) fn decode<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a str> {
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
pub(super) fn cells<'a>(line: &'a str, delimiter: Delimiter, path: &Path, number: u64) -> Result<Vec<Cow<'a, str>>> {
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

/// Permission for cells without a value, and for columns that hold something else than numbers or have no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    Allowed,
    Refused,
}

/// True if the cell is a sign for a missing value.
pub(super) fn is_missing(cell: &str) -> bool {
    const WORDS: [&str; 12] = ["nan", "-nan", "-nan(ind)", "na", "n/a", "#n/a", "#nv", "null", "none", "-", "--", "?"];
    WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word)) || cell.is_empty()
}

/// A problem and its remedy.
type Fault = (String, String);

/// Decimal signs of a file's numbers: `1,234` is one and a bit in a file with commas, and more than a thousand in one with points.
#[derive(Debug, Default)]
pub(super) struct Decimals {
    /// Lines of the first decimal point, and of the first comma.
    point: Option<u64>,
    comma: Option<u64>,
}

/// Decimal signs that some number of a line has.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Signs {
    comma: bool,
    point: bool,
}

impl Decimals {
    /// Takes down what a line has.
    pub fn see(&mut self, signs: Signs, number: u64) -> std::result::Result<(), Fault> {
        if signs.comma {
            self.comma.get_or_insert(number);
        }
        if signs.point {
            self.point.get_or_insert(number);
        }
        let (Some(point), Some(comma)) = (self.point, self.comma) else { return Ok(()) };
        let problem = format!(
            "numbers have a decimal comma in line {comma} and a point in line {point}: one of them may part thousands"
        );
        Err((problem, "write all numbers with a decimal point, and none between thousands".to_string()))
    }
}

/// A number with a decimal comma, where commas separate nothing.
fn with_comma(cell: &str, delimiter: Delimiter) -> Option<f64> {
    let is_one = delimiter != Delimiter::Comma && cell.bytes().filter(|byte| *byte == b',').count() == 1;
    if !is_one || cell.contains('.') {
        return None;
    }
    cell.replace(',', ".").parse().ok().filter(|value: &f64| value.is_finite())
}

/// Properties that all rows have in common.
pub(super) struct Row<'n> {
    /// Names of the columns; empty ones are of columns without a name.
    names: &'n [String],
    delimiter: Delimiter,
    gaps: Gaps,
    /// Cells that a row has at least: those behind the last name may be left out.
    least: usize,
    /// The first cell of each column that is no number, if there is one.
    pub foreign: Vec<Option<Foreign>>,
    /// Commas in numbers, where they are read as decimal ones.
    pub commas: Commas,
}

/// Commas in numbers of a file.
#[derive(Debug, Default)]
pub(super) struct Commas {
    /// Column and text of the first number whose comma may as well part thousands.
    grouped: Option<(usize, String)>,
    /// True if the comma of some number parts no thousands.
    is_decimal: bool,
}

impl Commas {
    fn see(&mut self, column: usize, cell: &str) {
        if self.is_decimal {
            return;
        }
        let digits = cell.trim_start_matches(['-', '+']);
        let is_grouped = digits.split_once(',').is_some_and(|(whole, part)| {
            (1..=3).contains(&whole.len())
                && !whole.starts_with('0')
                && part.len() == 3
                && part.bytes().all(|b| b.is_ascii_digit())
        });
        match is_grouped {
            true if self.grouped.is_none() => self.grouped = Some((column, cell.to_string())),
            true => {}
            false => self.is_decimal = true,
        }
    }

    /// A remark, where all commas may part thousands.
    pub fn remark(&self, path: &Path, names: &[String]) -> Option<String> {
        let (column, cell) = self.grouped.as_ref().filter(|_| !self.is_decimal)?;
        Some(format!(
            "{}: commas in numbers are read as decimal ones: `{cell}` in column `{}` is {}; if they part thousands, write the numbers without them",
            path.display(),
            names[*column],
            cell.replace(',', ".").parse::<f64>().ok()?
        ))
    }
}

impl<'n> Row<'n> {
    pub fn new(names: &'n [String], delimiter: Delimiter, gaps: Gaps) -> Self {
        let least = match gaps {
            Gaps::Refused => names.len(),
            Gaps::Allowed => names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1),
        };
        Row { names, delimiter, gaps, least, foreign: vec![None; names.len()], commas: Commas::default() }
    }

    /// True if a row of these cells is as long as the header, but for separators at the ends of lines.
    fn fits<'a>(&self, cells: impl Iterator<Item = &'a str> + Clone) -> bool {
        let count = cells.clone().count();
        let is_more_empty = || self.gaps == Gaps::Allowed && cells.skip(self.names.len()).all(str::is_empty);
        count >= self.least && (count <= self.names.len() || is_more_empty())
    }
}

/// Appends one row to the columns, and says which decimal signs its numbers have; or problem and remedy.
pub(super) fn read_row<'a>(
    mut cells: impl Iterator<Item = &'a str> + Clone,
    row: &mut Row<'_>,
    columns: &mut [Vec<f64>],
    line: u64,
) -> std::result::Result<Signs, Fault> {
    let (all, delimiter, expected) = (cells.clone(), row.delimiter, row.names.len());
    let mut signs = Signs::default();
    for (k, (name, column)) in row.names.iter().zip(columns).enumerate() {
        let Some(cell) = cells.next() else {
            if k < row.least {
                return Err(wrong_count(all.count(), expected, delimiter));
            }
            column.push(f64::NAN);
            continue;
        };
        let parsed = cell.parse::<f64>();
        if let (Err(_), Some(value)) = (&parsed, with_comma(cell, delimiter)) {
            column.push(value);
            signs.comma = true;
            row.commas.see(k, cell);
            continue;
        }
        match parsed {
            Ok(value) if value.is_finite() => {
                column.push(value);
                signs.point |= cell.contains('.');
            }
            // A row of the wrong length says more than its first odd cell.
            _ if !row.fits(all.clone()) => return Err(wrong_count(all.count(), expected, delimiter)),
            _ if row.gaps == Gaps::Allowed && is_missing(cell) => column.push(f64::NAN),
            parsed if row.gaps == Gaps::Allowed => {
                column.push(f64::NAN);
                if row.foreign[k].is_none() {
                    let (problem, remedy) = no_number(name, cell, parsed.is_ok(), delimiter);
                    row.foreign[k] = Some(Foreign { line: Some(line), shown: shorten(cell), problem, remedy });
                }
            }
            parsed => return Err(no_number(name, cell, parsed.is_ok(), delimiter)),
        }
    }
    let is_over = cells.next().is_none() || row.fits(all.clone());
    if is_over { Ok(signs) } else { Err(wrong_count(all.count(), expected, delimiter)) }
}

fn wrong_count(found: usize, expected: usize, delimiter: Delimiter) -> Fault {
    let cells = if found == 1 { "cell" } else { "cells" };
    let columns = if expected == 1 { "1 column" } else { &format!("{expected} columns") };
    let problem =
        format!("the row has {found} {cells} (separated by {}) where the header names {columns}", delimiter.plural());
    let remedy = if delimiter == Delimiter::Comma && found == 2 * expected {
        "write numbers with a decimal point, or separate cells by semicolons"
    } else if found < expected {
        "complete the row, or remove it"
    } else if found == expected + 1 {
        "remove what is too much, or name the column in the header (that of an index, too: a file may be written without one)"
    } else {
        "remove what is too much, or name the column in the header"
    };
    (problem, remedy.to_string())
}

fn no_number(name: &str, cell: &str, not_finite: bool, delimiter: Delimiter) -> Fault {
    if cell.is_empty() {
        return (format!("the cell of column `{name}` is empty"), "write its value, or remove the row".to_string());
    }
    let shown = shorten(cell);
    if not_finite {
        let problem = format!("`{shown}` in column `{name}` is not a finite number");
        return (problem, "write the measured value, or remove the row".to_string());
    }
    if cell.starts_with('#') {
        let remedy = match cell.ends_with(['!', '?']) {
            true => "a spreadsheet found no number there: empty the cell, which is a missing sample, or remove the row",
            false => "move a comment to the top of the file, or remove it",
        };
        return (format!("`{shown}` in column `{name}` is not a number"), remedy.to_string());
    }
    let comma = cell.matches(',').count() == 1 && cell.replace(',', ".").parse::<f64>().is_ok();
    let remedy = if is_date(cell) {
        "write times as seconds, from any zero: dates and clock times are not read".to_string()
    } else if comma {
        format!("write numbers with a decimal point: `{}`", cell.replace(',', "."))
    } else if cell.split_whitespace().count() > 1 && cell.split_whitespace().all(|part| part.parse::<f64>().is_ok()) {
        format!("separate cells by commas, semicolons or tabs (by the header, these are {})", delimiter.plural())
    } else {
        "write a number such as -1.5e-3, or remove the row".to_string()
    };
    (format!("`{shown}` in column `{name}` is not a number"), remedy)
}

/// True if a text is a date or a time of the day: `2026-03-01T12:00:00.010`, `1/3/2026 12:00`, `12:00:01`.
fn is_date(cell: &str) -> bool {
    let separators = cell.matches(['-', '/', ':']).count();
    let is_clock = |c: char| c.is_ascii_digit() || "-/:. TZ+".contains(c);
    separators >= 2 && cell.starts_with(|c: char| c.is_ascii_digit()) && cell.chars().all(is_clock)
}

/// Text of the file as it may stand in a message: on one line, and not long.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
