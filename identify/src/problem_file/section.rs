//! Tables of a file, whose keys are asked for by name and kind.

use super::keys::Keys;
use crate::{Error, Result};
use std::path::Path;
use toml::{Table, Value};

pub(super) fn table_keys(table: &Table) -> Vec<String> {
    table.keys().cloned().collect()
}

/// A table of a file, with the keys that lead to it, whose values are asked for by key and kind. Errors name the key ([`Error::Stated`]).
#[derive(Clone)]
pub struct Section<'a> {
    /// The file, for messages and relative paths.
    pub file: &'a Path,
    /// Keys that lead to the table.
    pub keys: Vec<String>,
    /// The table.
    pub table: &'a Table,
}

impl<'a> Section<'a> {
    /// Name of the section in messages: `[integrator]`; nothing at the top.
    pub fn place(&self) -> String {
        if self.keys.is_empty() { String::new() } else { format!("[{}]", self.keys.join(".")) }
    }

    /// An error about one of its keys, which may be missing.
    pub fn at(&self, key: &str, error: Error) -> Error {
        let keys = self.keys.iter().map(String::as_str).chain([key]);
        error.under(&keys.collect::<Vec<_>>())
    }

    /// An error about one of its keys: the problem, and the remedy.
    pub fn wrong(&self, key: &str, problem: impl Into<String>, remedy: &str) -> Error {
        let place = if self.keys.is_empty() { String::new() } else { format!(" in {}", self.place()) };
        self.at(key, Error::invalid(format!("`{key}`{place}"), problem, remedy))
    }

    /// The table or the value under a key.
    fn below(&self, key: &str) -> Vec<String> {
        self.keys.iter().cloned().chain([key.to_string()]).collect()
    }

    /// Refuses what is not in any of these.
    ///
    /// # Errors
    /// If something else is there.
    pub fn only(&self, known: &[&Keys]) -> Result<()> {
        let names = || known.iter().flat_map(|keys| keys.names());
        match self.table.keys().find(|key| names().all(|name| name != key.as_str())) {
            Some(key) => Err(self.at(key, Error::unknown("key", key, self.place(), names()))),
            None => Ok(()),
        }
    }

    /// The table under a key, if there is one.
    ///
    /// # Errors
    /// If something else is there.
    pub fn section(&self, key: &str) -> Result<Option<Section<'a>>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Section { file: self.file, keys: self.below(key), table })),
            Some(other) => Err(self.wrong(key, kind(other, "a table"), "write it as { key = value, .. }")),
        }
    }

    /// The table under a key; none if a list is there, or nothing.
    ///
    /// # Errors
    /// If something else is there.
    pub fn section_or_list(&self, key: &str) -> Result<Option<Section<'a>>> {
        match self.table.get(key) {
            Some(Value::Array(_)) => Ok(None),
            _ => self.section(key),
        }
    }

    /// The tables of a list, such as `[[constraint]]`, numbered from 1.
    ///
    /// # Errors
    /// If something else is there.
    pub fn sections(&self, key: &str) -> Result<Vec<Section<'a>>> {
        let keys = self.below(key);
        let remedy = format!("begin each with a line [[{}]]", keys.join("."));
        let list = match self.table.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(self.wrong(key, kind(other, "a list of tables"), &remedy)),
        };
        let section = |(i, value): (usize, &'a Value)| match value {
            Value::Table(table) => {
                let keys = keys.iter().cloned().chain([(i + 1).to_string()]).collect();
                Ok(Section { file: self.file, keys, table })
            }
            other => Err(self.wrong(key, kind(other, "a table"), &remedy)),
        };
        list.iter().enumerate().map(section).collect()
    }

    /// A number that is not NaN, if there is one.
    ///
    /// # Errors
    /// If something else is there.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Float(x)) if x.is_nan() => Err(self.wrong(key, "it is NaN", "give a number")),
            Some(Value::Float(x)) => Ok(Some(*x)),
            Some(Value::Integer(x)) => Ok(Some(*x as f64)),
            Some(other) => Err(self.wrong(key, kind(other, "a number"), "give a number, without quotes or unit")),
        }
    }

    /// A number above 0, in s.
    ///
    /// # Errors
    /// If something else is there.
    pub fn positive(&self, key: &str) -> Result<Option<f64>> {
        match self.number(key)? {
            Some(value) if value <= 0.0 => Err(self.wrong(key, format!("it is {value}"), "give a time in s above 0")),
            value => Ok(value),
        }
    }

    /// Two numbers that must be there.
    ///
    /// # Errors
    /// If something else is there.
    pub fn pair(&self, key: &str, remedy: &str) -> Result<[f64; 2]> {
        let values = self.table.get(key).and_then(finite_numbers);
        let pair: Option<[f64; 2]> = values.and_then(|values| values.try_into().ok());
        pair.ok_or_else(|| self.wrong(key, "it is no pair of finite numbers", remedy))
    }

    /// A list of numbers, at least one.
    ///
    /// # Errors
    /// If something else is there.
    pub fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let values = finite_numbers(value).filter(|values| !values.is_empty());
        let wrong = || self.wrong(key, "it is no list of finite numbers", "write it as [1.0, 2.0]");
        values.map(Some).ok_or_else(wrong)
    }

    /// A whole number from 0, if there is one.
    ///
    /// # Errors
    /// If something else is there.
    pub fn count(&self, key: &str) -> Result<Option<usize>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Integer(x)) => match usize::try_from(*x) {
                Ok(count) => Ok(Some(count)),
                Err(_) => Err(self.wrong(key, format!("it is {x}"), "give a whole number, 0 or more")),
            },
            Some(other) => Err(self.wrong(key, kind(other, "a whole number"), "give a whole number")),
        }
    }

    /// True or false, if it is there.
    ///
    /// # Errors
    /// If something else is there.
    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.wrong(key, kind(other, "true or false"), "write true or false, without quotes")),
        }
    }

    /// A text, if there is one.
    ///
    /// # Errors
    /// If something else is there.
    pub fn text(&self, key: &str) -> Result<Option<String>> {
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other @ (Value::Array(_) | Value::Table(_))) => {
                Err(self.wrong(key, kind(other, "a text"), "write one text in quotes"))
            }
            Some(other) => Err(self.wrong(key, kind(other, "a text"), "put it in quotes")),
        }
    }

    /// Something that has a name, as `parse` knows it.
    ///
    /// # Errors
    /// If something else is there.
    pub fn named<T, E: Into<Error>>(&self, key: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<Option<T>> {
        let text = self.text(key)?;
        text.map(|name| parse(&name).map_err(|error| self.at(key, error.into().within(self.place())))).transpose()
    }

    /// A list of texts, if there is one.
    ///
    /// # Errors
    /// If something else is there.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<String>>> {
        let remedy = "write it as [\"a\", \"b\"]";
        match self.table.get(key) {
            None => Ok(None),
            Some(Value::Array(values)) => values
                .iter()
                .map(|value| match value {
                    Value::String(text) => Ok(text.clone()),
                    other => Err(self.wrong(key, kind(other, "a text"), remedy)),
                })
                .collect::<Result<Vec<_>>>()
                .map(Some),
            Some(other) => Err(self.wrong(key, kind(other, "a list of texts"), remedy)),
        }
    }
}

fn finite_numbers(value: &Value) -> Option<Vec<f64>> {
    let number = |value: &Value| match value {
        Value::Float(x) if x.is_finite() => Some(*x),
        Value::Integer(x) => Some(*x as f64),
        _ => None,
    };
    value.as_array()?.iter().map(number).collect()
}

fn kind(value: &Value, wanted: &str) -> String {
    format!(
        "it is {} `{value}`, not {wanted}",
        if value.is_array() || value.is_integer() { "an" } else { "a" }.to_string() + " " + value.type_str()
    )
}
