//! Lines of a problem file where its statements stand.

use super::Specification;
use crate::Error;
use crate::problem_file::Section;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The lines of all keys of a problem file; empty where no file was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    file: PathBuf,
    /// Lines by the keys that lead there, of lists with numbers from 1; `None` for what something else has gone over.
    lines: BTreeMap<Vec<String>, Option<u64>>,
    /// Bytes where they begin.
    begins: BTreeMap<Vec<String>, usize>,
}

/// The line of a byte, from 1.
pub(crate) fn line_of(text: &str, byte: usize) -> u64 {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count() as u64
}

impl Lines {
    /// Lines of the keys of a text that is TOML.
    pub fn of(text: &str, file: &Path) -> Self {
        let mut found = Lines { file: file.to_path_buf(), lines: BTreeMap::new(), begins: BTreeMap::new() };
        if let Ok(table) = DeTable::parse(text) {
            let breaks: Vec<usize> =
                text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(k, _)| k).collect();
            found.table(&breaks, &[], table.get_ref());
        }
        found
    }

    /// Takes in a table of a text whose lines end at the bytes `breaks`.
    fn table(&mut self, breaks: &[usize], keys: &[String], table: &DeTable<'_>) {
        let line_of = |byte: usize| 1 + breaks.partition_point(|own| *own < byte) as u64;
        for (key, value) in table {
            let keys = [keys, &[key.get_ref().to_string()]].concat();
            self.begins.insert(keys.clone(), key.span().start);
            let elements: Vec<_> = value.get_ref().as_array().into_iter().flat_map(|list| list.iter()).collect();
            // of tables in a list, the first is not all of them
            if elements.is_empty() || !elements.iter().all(|element| element.get_ref().is_table()) {
                self.lines.insert(keys.clone(), Some(line_of(key.span().start)));
            }
            for (k, element) in elements.into_iter().enumerate() {
                if let DeValue::Table(table) = element.get_ref() {
                    let keys = [&keys[..], &[(k + 1).to_string()]].concat();
                    self.lines.insert(keys.clone(), Some(line_of(element.span().start)));
                    self.table(breaks, &keys, table);
                }
            }
            if let DeValue::Table(table) = value.get_ref() {
                self.table(breaks, &keys, table);
            }
        }
    }

    /// Lets lines mean those of another file, which this text was made of: line k + 1 comes from `others[k]`.
    pub fn follow(&mut self, others: &[u64]) {
        for line in self.lines.values_mut().flatten() {
            *line = usize::try_from(*line).ok().and_then(|line| others.get(line.wrapping_sub(1))).copied().unwrap_or(1);
        }
    }

    /// The keys of a table in the order of the file.
    pub fn in_order(&self, section: &Section<'_>) -> Vec<String> {
        let mut keys: Vec<String> = section.table.keys().cloned().collect();
        keys.sort_by_key(|key| self.begins.get([&section.keys[..], std::slice::from_ref(key)].concat().as_slice()));
        keys
    }

    /// Takes note that something goes over what stands there: it is not to blame any more.
    pub fn forget(&mut self, keys: &[&str]) {
        self.lines.insert(keys.iter().map(|key| key.to_string()).collect(), None);
    }

    /// The error with the line that it is about, if that is known.
    pub fn locate(&self, error: Error) -> Error {
        let Error::Stated { keys, place: None, cause } = error else { return error };
        match self.line(&keys, &cause.to_string()) {
            Some(line) => Error::Stated { keys, place: Some((self.file.clone(), line)), cause },
            None => *cause,
        }
    }

    /// The line of these keys, or else of the table that they are missing in; of a table, that of the key that the `sentence` names. What
    /// experiments do not say themselves, the whole file does.
    fn line(&self, keys: &[String], sentence: &str) -> Option<u64> {
        let shared = match keys {
            [list, _, rest @ ..] if list == "experiment" && !rest.is_empty() => {
                vec![[&["data".to_string()], rest].concat(), rest.to_vec()]
            }
            [list, rest @ ..] if list == "data" && !rest.is_empty() => vec![rest.to_vec()],
            _ => Vec::new(),
        };
        let known = |keys: &&[String]| self.lines.contains_key(*keys);
        let own = std::iter::once(keys).chain(shared.iter().map(Vec::as_slice));
        let table = own.chain((1..keys.len()).rev().map(|count| &keys[..count])).find(known)?;
        // what stands behind is the remedy, or a value that is quoted
        let problem = sentence.split(['{', ';']).next().unwrap_or_default();
        let words = problem.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        let named = words.filter_map(|word| self.lines.get([table, &[word.to_string()]].concat().as_slice()));
        named.chain(self.lines.get(table)).next().copied().flatten()
    }
}

impl Specification {
    /// The error with the line that it is about, if a file says it.
    pub fn locate(&self, error: Error) -> Error {
        let Error::Stated { keys, place: None, cause } = error else { return error };
        let keys = match keys.as_slice() {
            [table, name] if table == "parameters" => {
                // what a command line says goes over the file
                if self.overriding.iter().any(|setting| setting.name == *name) {
                    return *cause;
                }
                self.keys_of(name)
            }
            _ => keys,
        };
        self.lines.locate(Error::Stated { keys, place: None, cause })
    }

    /// The keys of a parameter, which may be an experiment's own.
    fn keys_of(&self, name: &str) -> Vec<String> {
        let keys = |keys: &[&str]| keys.iter().map(|key| key.to_string()).collect();
        let Some((base, experiment)) = name.split_once('@') else { return keys(&["parameters", name]) };
        match self.stated().iter().find(|stated| stated.number > 0 && stated.usual_name() == experiment) {
            Some(stated) => keys(&["experiment", &stated.number.to_string(), "parameters", base]),
            None => keys(&["parameters", base]),
        }
    }
}
