//! Columns that hold something else than numbers: whoever uses one gets an error that says where, and nobody else does.

use super::Record;
use crate::{Error, Result};
use std::path::Path;

/// First cell of a column that holds no number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foreign {
    /// Line of the cell; `None` in files without lines.
    pub line: Option<u64>,
    /// Description of the cell for a note.
    pub shown: String,
    /// Description of the fault if the column is used.
    pub problem: String,
    /// Remedy for that fault.
    pub remedy: String,
}

impl Foreign {
    /// Error for whoever uses the column.
    pub fn error(&self, path: &Path) -> Error {
        Error::file(path, self.line, &self.problem, &self.remedy)
    }
}

/// Columns that are named at most.
const NAMED: usize = 10;

/// A sentence on the columns of a text file that are left out: with a name and what they hold, or without a name, by their numbers.
pub(super) fn remark(path: &Path, foreign: &[(&str, &Foreign)], unnamed: &[usize]) -> Option<String> {
    let by_name = foreign.iter().map(|(name, own)| match own.line {
        Some(line) => format!("`{name}` (`{}` in line {line})", own.shown),
        None => format!("`{name}` ({})", own.shown),
    });
    let all: Vec<String> = by_name.chain(unnamed.iter().map(|k| format!("column {k} (without a name)"))).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let shown = all[..all.len().min(NAMED)].join(", ");
    let what = if all.len() == 1 { "what is no column of numbers is" } else { "what are no columns of numbers are" };
    (!all.is_empty()).then(|| format!("{}: {what} left out: {shown}{more}", path.display()))
}

impl Record {
    /// Record of a text file, once it is known which columns hold something else than numbers.
    pub(super) fn without_foreign(mut self, foreign: Vec<Option<Foreign>>) -> Result<Self> {
        let path = self.path.clone().unwrap_or_default();
        let is_named = |k: &usize| !self.names[*k].is_empty();
        let named: Vec<usize> = (0..self.names.len()).filter(is_named).collect();
        let has_content = |k: &usize| foreign[*k].is_some() || self.columns[*k].iter().any(|value| !value.is_nan());
        let unnamed = (0..self.names.len()).filter(|k| !is_named(k) && has_content(k)).map(|k| k + 1);
        let unnamed: Vec<usize> = unnamed.collect();
        let own = named.iter().enumerate().filter_map(|(place, k)| Some((place, foreign[*k].clone()?)));
        let own: Vec<(usize, Foreign)> = own.collect();
        if own.len() == named.len() {
            // there is a column, and so a fault
            return Err(own[0].1.error(&path));
        }
        self.columns = named.iter().map(|k| std::mem::take(&mut self.columns[*k])).collect();
        self.names.retain(|name| !name.is_empty());
        let described: Vec<(&str, &Foreign)> = own.iter().map(|(k, one)| (self.names[*k].as_str(), one)).collect();
        self.remarks.extend(remark(&path, &described, &unnamed));
        self.foreign = own;
        Ok(self)
    }
}
