//! Reads a mechanism file: its names, its formulas, and what becomes of them.

mod cost;
mod derived;
mod equations;
mod include;
mod names;
mod plain;

pub use cost::cost;
pub use derived::derive;
pub(crate) use derived::{ByFormulas, Follows};
pub use equations::equations;
pub(crate) use include::{File, Scope};

use crate::dimension::{Dimension, Units};
use crate::formula::graph::{Bank, Place, TooLarge};
use crate::formula::parse::{Expression, Fault, parse as parse_formula};
use crate::formula::{Formulas, RESERVED, is_function};
use crate::keys;
use crate::parts::{planar, spatial};
use crate::robot::{self, is_robot};
use crate::scenario;
use costate::derived::Derived;
use costate::system::System;
use costate::{Plain, Signature};
use costate_identify::problem_file::{Section, table, text};
use costate_identify::registry::Entry;
use costate_identify::specification::Lines;
use costate_identify::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::{Table as Toml, Value};

/// Bytes of a file, at most.
const LARGEST: usize = 1_000_000;
/// Coordinates and states, at most: the matrices of plain models are dense.
const MOST_UNKNOWNS: usize = 500;
/// Coordinates squared times nodes of the formulas, at most, for energies: a second.
const MOST_WORK: usize = 30_000_000;
/// Format of files that this reader knows.
const VERSION: usize = 1;

/// Reads a mechanism file, for [`costate_identify::registry::Registry::with_files`].
///
/// # Errors
/// If it cannot be read, is not TOML, holds an unknown key, or a formula with a slip, in a sentence with line and place.
pub fn read(path: &Path) -> Result<Entry> {
    parse(&text(path)?, path)
}

/// Keys of mechanisms from parts that those of formulas do not have.
const OF_PARTS: [&str; 4] = ["body", "point", "include", "gravity"];

/// True for a file that says what a mechanism is, and no problem with a model.
pub fn is_mechanism(path: &Path) -> bool {
    if is_robot(path) {
        return true;
    }
    let read = text(path).ok().and_then(|text| table(&text, path).ok());
    let has = |table: &Toml, keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
    read.is_some_and(|table| {
        !has(&table, &["model"])
            && (has(&table, &["coordinates", "states", "kind", "mass", "force"]) || has(&table, &OF_PARTS))
    })
}

/// Reads a mechanism from text; `path` is its name in messages and the base of relative paths.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, path: &Path) -> Result<Entry> {
    if text.len() > LARGEST {
        let problem = format!("the file has {} bytes, more than {LARGEST}", text.len());
        return Err(Error::file(path, None, problem, "write a larger mechanism in Rust"));
    }
    if is_robot(path) {
        let (text, lines) = robot::translate(text, path, &robot::Options::default())?;
        return of_root_by(&text, path, Some(&lines), entry);
    }
    of_root(text, path, entry)
}

/// What is made of the table of a file; errors have their lines.
fn of_root<R>(text: &str, path: &Path, make: impl FnOnce(&Section<'_>, &Arc<Lines>) -> Result<R>) -> Result<R> {
    of_root_by(text, path, None, make)
}

/// As [`of_root`], of a text that was made of another one, line by line.
fn of_root_by<R>(
    text: &str,
    path: &Path,
    of_lines: Option<&[u64]>,
    make: impl FnOnce(&Section<'_>, &Arc<Lines>) -> Result<R>,
) -> Result<R> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = table(text, path)?;
    let mut lines = Lines::of(text, path);
    if let Some(others) = of_lines {
        lines.follow(others);
    }
    let lines = Arc::new(lines);
    let root = Section { file: path, keys: Vec::new(), table: &table };
    make(&root, &lines).map_err(|error| lines.locate(error))
}

/// The model of a file as Rust, for whom files are not enough; a robot as a mechanism file.
///
/// # Errors
/// As [`read`], and for mechanisms from parts.
pub fn export(path: &Path) -> Result<String> {
    if is_robot(path) {
        return Ok(robot::translate(&text(path)?, path, &robot::Options::default())?.0);
    }
    of_root(&text(path)?, path, |root, lines| match begin(root, lines)? {
        (mut reading, Kinds::Plain) => Ok(crate::export::export(&reading.model(root)?)),
        _ => Err(root.wrong("kind", "mechanisms from parts have no short form", "export a plain model")),
    })
}

/// A formula of the file.
#[derive(Clone)]
pub(crate) struct Formula {
    /// Keys that lead to it.
    keys: Vec<String>,
    /// Its name in messages: force of `x`.
    what: String,
    text: String,
    pub expression: Expression,
    is_checked: bool,
}

impl Formula {
    /// The formula that a text is, under these keys.
    fn of_text(keys: Vec<String>, what: String, text: &str) -> Result<Self> {
        let nothing = Expression::of_nothing();
        let whole = Formula { keys, what, expression: nothing, text: text.to_string(), is_checked: true };
        match parse_formula(text) {
            Ok(expression) => Ok(Formula { expression, ..whole }),
            Err(fault) => Err(whole.error(fault)),
        }
    }

    /// The formula without a check of units.
    pub fn unchecked(self) -> Self {
        Formula { is_checked: false, ..self }
    }

    /// Keys that lead to it, with points; the name of its part, behind the first, begins with a prefix.
    pub fn path(&self, prefix: &str) -> String {
        let mut keys = self.keys.clone();
        keys.iter_mut().skip(1).take(1).for_each(|name| name.insert_str(0, prefix));
        keys.join(".")
    }

    /// The same formula as if it stood at another key of its table, for the name of what follows from it.
    pub fn at_key(&self, key: &str) -> Self {
        let mut formula = self.clone();
        if let Some(last) = formula.keys.last_mut() {
            *last = key.to_string();
        }
        formula
    }

    /// The error of a fault in it, with its place.
    pub fn error(&self, fault: Fault) -> Error {
        let Fault { span, problem, remedy } = fault;
        // the line of the formula in which the place is
        let start = self.text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        let end = span.end.clamp(span.start, start + line.len());
        let (before, marked) =
            (self.text[start..span.start].chars().count(), self.text[span.start..end].chars().count());
        let (line, before, marked) = excerpt(line, before, marked.max(1));
        let place = format!("\n    {line}\n    {}{}", " ".repeat(before), "^".repeat(marked));
        // `invalid` puts a semicolon between problem and remedy
        let error = Error::invalid(&self.what, problem, format!("{remedy}{place}"));
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        error.under(&keys)
    }
}

/// A line around the characters that are marked behind so many others, and their number: long ones are cut, on both sides.
fn excerpt(line: &str, before: usize, marked: usize) -> (String, usize, usize) {
    /// Characters beside the marked ones, and of these, at most.
    const BESIDE: usize = 60;
    const MARKED: usize = 80;
    const CUT: &str = "...";
    let count = line.chars().count();
    let marked = marked.min(MARKED);
    let (first, last) = (before.saturating_sub(BESIDE), (before + marked + BESIDE).min(count));
    let of = |is_cut: bool| if is_cut { CUT } else { "" };
    let own: String = line.chars().skip(first).take(last - first).collect();
    (format!("{}{own}{}", of(first > 0), of(last < count)), before - first + of(first > 0).len(), marked)
}

/// A file that is being read.
pub(crate) struct Reading {
    pub lines: Arc<Lines>,
    /// Files that it includes, those that include others first.
    pub included: Vec<include::Scope>,

    pub formulas: Formulas,
    pub signature: Signature,
    /// True if formulas are checked for units.
    are_units_checked: bool,
    /// The unit of energy: J, or that of another coherent system of units, such as of a model in volts.
    energy: Dimension,
    /// Masses and forces with their units, and what these are multiplied with for an energy.
    of_energy: Vec<(Formula, Dimension, Dimension)>,
    files: Vec<PathBuf>,
}

/// Values that formulas may use, as banks, and what they are part of.
pub(crate) const OF_START: u8 = bits(&[Bank::Parameter]);
const OF_MASS: u8 = bits(&[Bank::Position, Bank::Parameter]);
const OF_CONSTRAINT: u8 = bits(&[Bank::Time, Bank::Position, Bank::Parameter]);
const OF_FORCE: u8 = bits(&[Bank::Time, Bank::Position, Bank::Velocity, Bank::Input, Bank::Parameter]);
const OF_KINETIC: u8 = bits(&[Bank::Position, Bank::Velocity, Bank::Parameter]);
const OF_POTENTIAL: u8 = bits(&[Bank::Time, Bank::Position, Bank::Input, Bank::Parameter]);
const OF_ANYTHING: u8 = u8::MAX;
/// Laws of springs.
pub(crate) const OF_LAW: u8 = bits(&[Bank::Position, Bank::Velocity, Bank::Multiplier, Bank::Parameter]);
/// Energies that springs store.
pub(crate) const OF_STORED: u8 = OF_MASS;
/// Forces of parts.
pub(crate) const OF_AMOUNT: u8 = bits(&[Bank::Time, Bank::Input, Bank::Parameter]);
/// Pictures.
pub(crate) const OF_PICTURE: u8 = OF_POTENTIAL;
/// Signals.
pub(crate) const OF_TIME: u8 = bits(&[Bank::Time]);

const fn bits(banks: &[Bank]) -> u8 {
    let (mut all, mut k) = (0, 0);
    while k < banks.len() {
        all |= 1 << banks[k] as u8;
        k += 1;
    }
    all
}

fn entry(root: &Section<'_>, lines: &Arc<Lines>) -> Result<Entry> {
    let (mut reading, kind) = begin(root, lines)?;
    let located = |error: costate::Error| match stated_at(root, &error.to_string()) {
        Some([key, name]) => Error::from(error).under(&[&key, &name]),
        None => Error::from(error).located(&root.file.display().to_string()),
    };
    let system: Arc<dyn System> = match kind {
        Kinds::Planar => {
            let (mechanism, derived) = planar::read(&mut reading, root)?;
            with_derived(Arc::new(mechanism.build().map_err(located)?), derived).map_err(located)?
        }
        Kinds::Spatial => {
            let (mechanism, derived) = spatial::read(&mut reading, root)?;
            with_derived(Arc::new(mechanism.build().map_err(located)?), derived).map_err(located)?
        }
        Kinds::Plain => Arc::new(Plain::new(reading.model(root)?).map_err(located)?),
    };
    reading.signature = system.signature().clone();
    let scenario = scenario::read(&mut reading, root)?;
    let mut entry = Entry::new(&root.text("summary")?.unwrap_or_default(), system, scenario);
    entry.files = reading.files;
    Ok(entry)
}

/// Keys of what the finished mechanism calls by its name in an error.
fn stated_at(root: &Section<'_>, sentence: &str) -> Option<[String; 2]> {
    // what is wrong about a coordinate is rather its mass than its name
    const FIRST: [&str; 4] = ["mass", "force", "constraints", "parameters"];
    let tables = || FIRST.into_iter().chain(root.table.keys().map(String::as_str));
    let names = sentence.split('`').skip(1).step_by(2).flat_map(|name| [name, name.split('.').next().unwrap_or(name)]);
    names.into_iter().find_map(|name| {
        let has = |key: &&str| root.table.get(*key).and_then(Value::as_table).is_some_and(|own| own.contains_key(name));
        tables().find(has).map(|key| [key.to_string(), name.to_string()])
    })
}

/// A mechanism with properties that follow from parameters.
fn with_derived(system: Arc<dyn System>, derived: Option<ByFormulas>) -> costate::Result<Arc<dyn System>> {
    let Some(ByFormulas { names, formulas }) = derived else { return Ok(system) };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Arc::new(Derived::new(system, &names, Vec::new(), formulas)?))
}

/// What a mechanism of a file is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kinds {
    Plain,
    Planar,
    Spatial,
}

/// Reads what a file names, and its kind.
fn begin(root: &Section<'_>, lines: &Arc<Lines>) -> Result<(Reading, Kinds)> {
    if let Some(version) = root.count("version")?.filter(|version| *version != VERSION) {
        let problem = format!("this costate reads version {VERSION}, and the file is of version {version}");
        return Err(root.wrong("version", problem, "take a newer costate"));
    }
    let kind = match root.text("kind")?.as_deref() {
        None if OF_PARTS.iter().any(|key| root.table.contains_key(*key)) => {
            let problem = "the file has parts, and does not say whether they move in the plane or in space";
            return Err(Error::file(root.file, None, problem, "give kind = \"planar\" or kind = \"spatial\""));
        }
        None | Some("plain") => Kinds::Plain,
        Some("planar") => Kinds::Planar,
        Some("spatial") => Kinds::Spatial,
        Some(other) => {
            return Err(root.at("kind", Error::unknown("kind of mechanism", other, "", ["plain", "planar", "spatial"])));
        }
    };
    root.only(&[
        &keys::HEAD,
        match kind {
            Kinds::Plain => &keys::PLAIN,
            Kinds::Planar => &keys::PLANAR,
            Kinds::Spatial => &keys::space::TOP,
        },
    ])?;
    let name = match root.text("name")? {
        Some(name) => name,
        None => root.file.file_stem().unwrap_or_default().to_string_lossy().replace('-', "_"),
    };
    if !is_name(&name) {
        let problem = format!("`{name}` is no name: letters, digits and `_`, no digit first");
        return Err(root.wrong("name", problem, "give it another one: name = \"my_model\""));
    }
    let formulas = Formulas::new().map_err(|_| too_large(root))?;
    let mut reading = Reading {
        are_units_checked: root.flag("units")?.unwrap_or(true),
        files: vec![root.file.to_path_buf()],
        ..Reading::bare(lines.clone(), formulas, name)
    };
    reading.names(root)?;
    reading.constants(root)?;
    reading.tables(root)?;
    reading.definitions(root)?;
    if kind != Kinds::Plain {
        reading.include(root, 0, "", 0)?;
    }
    Ok((reading, kind))
}

fn too_large(root: &Section<'_>) -> Error {
    Error::file(root.file, None, "its formulas are too large", "write a larger mechanism in Rust")
}

/// True for what can be a name in a formula.
fn is_name(name: &str) -> bool {
    let mut all = name.chars();
    all.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && all.all(|c| c.is_alphanumeric() || c == '_')
}

impl Reading {
    /// What is known before a file is read.
    fn bare(lines: Arc<Lines>, formulas: Formulas, name: String) -> Self {
        Reading {
            lines,
            included: Vec::new(),
            formulas,
            signature: Signature::new(name),
            are_units_checked: true,
            energy: Dimension::JOULE,
            of_energy: Vec::new(),
            files: Vec::new(),
        }
    }
}

impl Reading {
    pub fn large(&self) -> impl Fn(TooLarge) -> Error + use<> {
        |_| Error::invalid("the formulas of this file", "they are too large", "write a larger mechanism in Rust")
    }

    /// The entries of a table, in the file's order.
    pub fn rows<'s>(&self, root: &Section<'s>, key: &str) -> Result<Option<(Section<'s>, Vec<String>)>> {
        let section = root.section(key)?;
        Ok(section.map(|section| {
            let names = self.lines.in_order(&section);
            (section, names)
        }))
    }

    /// The units of a text, or anything where they are not checked.
    fn declared(&self, section: &Section<'_>, key: &str, unit: &str) -> Result<Units> {
        if !self.are_units_checked {
            return Ok(Units::Any);
        }
        let remedy = "write one such as \"N s/m\"; `units = false` at the top of the file leaves units unchecked";
        Dimension::of(unit).map(Units::Is).map_err(|problem| section.wrong(key, problem, remedy))
    }

    /// Units of a state that formulas of a law know.
    pub fn state_of_law(&self, section: &Section<'_>, name: &str, unit: &str) -> Result<Units> {
        let is_free = name != "x" && !self.formulas.names.contains_key(name) && !RESERVED.contains(&name);
        if !is_name(name) || !is_free || is_function(name) {
            let problem = format!("`{name}` is no name that is free: letters, digits and `_`, no digit first");
            return Err(section.wrong(name, problem, "give it another one"));
        }
        self.declared(section, name, unit)
    }

    /// The formula under a key, which must be there.
    pub fn formula(&self, section: &Section<'_>, key: &str, what: String, may_be_table: bool) -> Result<Formula> {
        match section.table.get(key) {
            None => Err(section.wrong(key, "it is missing", "give a number, or a formula in quotes")),
            Some(Value::Table(table)) if may_be_table => {
                let own = Section { file: section.file, keys: below(section, key), table };
                own.only(&[&keys::FORMULA])?;
                let is_checked = own.flag("units")?.unwrap_or(true);
                Ok(Formula { is_checked, ..self.formula(&own, "is", what, false)? })
            }
            Some(value) => formula_of(value, section, key, what),
        }
    }

    fn units_of(&mut self, formula: &Formula) -> Result<Units> {
        if !self.are_units_checked {
            return Ok(Units::Any);
        }
        self.formulas.units(&formula.expression).map_err(|fault| formula.error(fault))
    }

    /// The node of a formula that may use some banks, and its units.
    pub fn lowered(&mut self, formula: &Formula, allowed: u8) -> Result<(Place, Units)> {
        let place = self.formulas.lower(&formula.expression).map_err(|fault| formula.error(fault))?;
        if let Some((at, bank)) = self.formulas.forbidden(&formula.expression, allowed) {
            let what = match bank {
                Bank::Time => "the time",
                Bank::Position => "coordinates",
                Bank::Velocity => "velocities or states",
                Bank::Acceleration => "accelerations or rates",
                Bank::SchemeAcceleration => "accelerations",
                Bank::Multiplier => "multipliers, or states of a law",
                Bank::Input => "inputs",
                Bank::Parameter => "parameters",
            };
            let kind = formula.what.split(" `").next().unwrap_or_default().trim_end_matches(" of");
            let problem = format!("a {kind} cannot depend on {what}");
            return Err(formula.error(Fault::new(
                &at.span,
                problem,
                "check the formula, and the definitions that it names",
            )));
        }
        let units = if formula.is_checked && self.are_units_checked { self.units_of(formula)? } else { Units::Any };
        Ok((place, units))
    }

    /// Node of a formula that is in a unit.
    pub fn in_unit(&mut self, formula: &Formula, allowed: u8, wanted: Units) -> Result<Place> {
        let (place, units) = self.lowered(formula, allowed)?;
        if let Units::Is(wanted) = wanted {
            self.formulas.expect(&formula.expression, units, wanted).map_err(|fault| formula.error(fault))?;
        }
        Ok(place)
    }
}

/// The unit in a signature.
fn shown(unit: &str) -> String {
    if unit.trim().is_empty() { "1".into() } else { unit.to_string() }
}

/// Keys that lead to what is under a key of a table.
fn below(section: &Section<'_>, key: &str) -> Vec<String> {
    section.keys.iter().cloned().chain([key.to_string()]).collect()
}

/// The formula that a value is, or that is in a list under a key.
pub(crate) fn formula_of(value: &Value, section: &Section<'_>, key: &str, what: String) -> Result<Formula> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_finite() => format!("{number:?}"),
        other => {
            let problem = format!("it is a {} `{other}`, not a formula", other.type_str());
            return Err(section.wrong(key, problem, "give a number, or a formula in quotes"));
        }
    };
    Formula::of_text(below(section, key), what, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects messages on long formulas: what is wrong is seen with what stands around it, and marked where it is shown, whatever is cut.
    #[test]
    fn long_lines_are_cut_around_what_is_wrong() {
        let line = format!("{}wrong{}", "ä".repeat(500), "b".repeat(500));
        for (text, before) in [(line.as_str(), 500), (&line[1000..], 0), (&line[..1005], 500), ("a + wrong", 4)] {
            let (shown, at, marked) = excerpt(text, before, 5);
            let seen: String = shown.chars().skip(at).take(marked).collect();
            assert_eq!(seen, "wrong", "{shown}");
            assert!(shown.chars().count() <= 60 + 5 + 60 + 6, "{shown}");
        }
        assert_eq!(excerpt("a + wrong", 4, 5), ("a + wrong".to_string(), 4, 5));
        // what is marked may itself be long
        let (shown, at, marked) = excerpt(&line, 0, 1005);
        assert!(at == 0 && marked == 80 && shown.ends_with("...") && shown.chars().count() == 143, "{shown}");
    }
}
