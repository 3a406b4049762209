//! Lines of a text file of columns as cells and numbers.

use crate::error::{Error, Result};
use std::borrow::Cow;
use std::path::Path;

/// What separates cells.
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

/// Whether a file may have cells without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    Allowed,
    Refused,
}

/// How a cell says that there is no value.
pub(super) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || ["nan", "na", "null"].iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// A problem and its remedy.
type Fault = (String, String);

/// Which decimal signs numbers of a file have: `1,234` is one and a bit in a file with commas, and more than a thousand in one with points.
#[derive(Debug, Default)]
pub(super) struct Decimals {
    /// Lines of the first decimal point, and of the first comma.
    point: Option<u64>,
    comma: Option<u64>,
}

impl Decimals {
    /// Takes down what a line has, some `commas` or none.
    pub fn see(&mut self, commas: bool, line: &str, number: u64) -> std::result::Result<(), Fault> {
        if commas {
            self.comma.get_or_insert(number);
        }
        if self.point.is_none() && line.contains('.') {
            self.point = Some(number);
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

/// Appends one row to the columns, and says whether a number has a decimal comma; or problem and remedy.
pub(super) fn read_row<'a>(
    mut cells: impl Iterator<Item = &'a str> + Clone,
    names: &[String],
    columns: &mut [Vec<f64>],
    (delimiter, gaps): (Delimiter, Gaps),
) -> std::result::Result<bool, Fault> {
    let all = cells.clone();
    let mut commas = false;
    for (name, column) in names.iter().zip(columns) {
        let Some(cell) = cells.next() else { return Err(wrong_count(all.count(), names.len(), delimiter)) };
        let parsed = cell.parse::<f64>();
        if let (Err(_), Some(value)) = (&parsed, with_comma(cell, delimiter)) {
            column.push(value);
            commas = true;
            continue;
        }
        match parsed {
            Ok(value) if value.is_finite() => column.push(value),
            // A row of the wrong length says more than its first odd cell.
            _ if all.clone().count() != names.len() => {
                return Err(wrong_count(all.count(), names.len(), delimiter));
            }
            _ if gaps == Gaps::Allowed && is_missing(cell) => column.push(f64::NAN),
            parsed => return Err(no_number(name, cell, parsed.is_ok(), delimiter)),
        }
    }
    if cells.next().is_some() { Err(wrong_count(all.count(), names.len(), delimiter)) } else { Ok(commas) }
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
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
