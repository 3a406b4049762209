//! A plain mechanism's equations, as a person writes them.

use super::{Kinds, begin, of_root, text};
use costate_identify::Result;
use costate_identify::problem_file::Section;
use costate_identify::specification::Lines;
use std::fmt::Write as _;
use std::path::Path;
use toml::Value;

/// The equations of a plain mechanism file with its formulas as they stand there: mass and forces row by row, or energies; rates, constraints, outputs, the
/// start, and definitions. None of a mechanism from parts, whose equations nobody writes.
///
/// # Errors
/// As [`super::read`].
pub fn equations(path: &Path) -> Result<Option<String>> {
    if super::is_robot(path) {
        return Ok(None);
    }
    of_root(&text(path)?, path, |root, lines| match begin(root, lines)? {
        // slips are found as by whoever reads the model
        (mut reading, Kinds::Plain) => reading.model(root).map(|_| Some(listing(root, lines))),
        _ => Ok(None),
    })
}

/// The entries of a table in the file's order, with the texts of their formulas.
fn entries(root: &Section<'_>, lines: &Lines, key: &str) -> Vec<(String, String)> {
    let Ok(Some(section)) = root.section(key) else { return Vec::new() };
    let names = lines.in_order(&section);
    let all = names.into_iter().filter_map(|name| Some((formula(section.table.get(&name)?)?, name)));
    all.map(|(formula, name)| (name, formula)).collect()
}

/// The text of a formula: a text, a number, or under `is`.
fn formula(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Table(table) => formula(table.get("is")?),
        _ => None,
    }
}

/// A factor: in brackets, unless it is one word.
fn factor(text: &str) -> String {
    let is_word = text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if is_word { text.to_string() } else { format!("({text})") }
}

fn listing(root: &Section<'_>, lines: &Lines) -> String {
    let of = |key: &str| entries(root, lines, key);
    let coordinates: Vec<String> = of("coordinates").into_iter().map(|(name, _)| name).collect();
    let (mass, force, energy, constraints) = (of("mass"), of("force"), of("energy"), of("constraints"));
    // columns of the mass matrix in each row; an entry of two coordinates stands in both of its places
    let mut rows: Vec<Vec<String>> = vec![Vec::new(); coordinates.len()];
    for (key, text) in &mass {
        let names: Vec<&str> = key.split(',').map(str::trim).collect();
        let pairs = match names[..] {
            [one] => vec![(one, one)],
            [one, other] if one != other => vec![(one, other), (other, one)],
            _ => Vec::new(),
        };
        for (row, column) in pairs {
            if let Some(place) = coordinates.iter().position(|name| name == row) {
                rows[place].push(format!("{} {column}''", factor(text)));
            }
        }
    }
    let mut text = String::from("equations, as the file has them\n");
    let multipliers = if constraints.is_empty() { "" } else { " + C_qᵀ λ" };
    if energy.is_empty() {
        for (name, masses) in coordinates.iter().zip(&rows) {
            let left = if masses.is_empty() { "0".to_string() } else { masses.join(" + ") };
            let right = force.iter().find(|(own, _)| own == name).map_or("0", |(_, text)| text);
            let _ = writeln!(text, "  {left}{multipliers} = {right}");
        }
    } else {
        energy.iter().for_each(|(name, own)| {
            let _ = writeln!(text, "  {name} energy: {own}");
        });
        force.iter().for_each(|(name, own)| {
            let _ = writeln!(text, "  further force of {name}: {own}");
        });
    }
    let kinds = [
        ("rates", "", "' = "),
        ("constraints", "constraint ", ": 0 = "),
        ("outputs", "shown: ", " = "),
        ("start", "at the start: ", " = "),
        ("definitions", "where ", " = "),
        ("constants", "where ", " = "),
    ];
    for (key, before, between) in kinds {
        for (name, own) in of(key) {
            let _ = writeln!(text, "  {before}{name}{between}{own}");
        }
    }
    text
}
