//! Reads a mechanism file: its names, its formulas, and what becomes of them.

mod derived;
mod include;
mod plain;

pub use derived::derive;
pub(crate) use derived::{ByFormulas, Follows};

use crate::dimension::{Dimension, Units};
use crate::formula::graph::{Bank, Place, TooLarge};
use crate::formula::parse::{Expression, Fault, Kind, parse as parse_formula};
use crate::formula::{Formulas, Meaning, RESERVED, TableMeaning, is_function};
use crate::keys;
use crate::parts::{planar, spatial};
use crate::scenario;
use crate::table::Table;
use costate::derived::Derived;
use costate::signal::Interpolation;
use costate::signature::{Parameter, Quantity, Scale, Signature};
use costate::spline::Spline;
use costate::{Plain, System};
use costate_identify::data::Record;
use costate_identify::data::columns::{Sought, locate};
use costate_identify::problem_file::{Section, table, text};
use costate_identify::registry::Entry;
use costate_identify::specification::Lines;
use costate_identify::{Error, Result};
use std::collections::HashMap;
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

/// True for a file that says what a mechanism is, and no problem with a model.
pub fn is_mechanism(path: &Path) -> bool {
    let read = text(path).ok().and_then(|text| table(&text, path).ok());
    let has = |table: &Toml, keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
    read.is_some_and(|table| {
        !has(&table, &["model"]) && has(&table, &["coordinates", "states", "kind", "mass", "force"])
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
    of_root(text, path, entry)
}

/// What is made of the table of a file; errors have their lines.
fn of_root<R>(text: &str, path: &Path, make: impl FnOnce(&Section<'_>, &Arc<Lines>) -> Result<R>) -> Result<R> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = table(text, path)?;
    let lines = Arc::new(Lines::of(text, path));
    let root = Section { file: path, keys: Vec::new(), table: &table };
    make(&root, &lines).map_err(|error| lines.locate(error))
}

/// The model of a file as Rust, for whom files are not enough.
///
/// # Errors
/// As [`read`], for mechanisms from parts, and for tables.
pub fn export(path: &Path) -> Result<String> {
    of_root(&text(path)?, path, |root, lines| match begin(root, lines)? {
        (mut reading, Kinds::Plain) => crate::export::export(&reading.model(root)?),
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
    /// The formula without a check of units.
    pub fn unchecked(self) -> Self {
        Formula { is_checked: false, ..self }
    }

    /// Keys that lead to it, with points.
    pub fn path(&self) -> String {
        self.keys.join(".")
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
        let place = format!("\n    {line}\n    {}{}", " ".repeat(before), "^".repeat(marked.max(1)));
        // `invalid` puts a semicolon between problem and remedy
        let error = Error::invalid(&self.what, problem, format!("{remedy}{place}"));
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        error.under(&keys)
    }
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

    /// Makes a name known to formulas.
    fn know(&mut self, section: &Section<'_>, (key, name): (&str, &str), meaning: Meaning) -> Result<()> {
        let base = name.trim_end_matches('\'');
        // what has no rates may be written in backquotes
        let is_quotable =
            ["an input", "a parameter"].contains(&meaning.kind) && !name.is_empty() && !name.contains(['`', '\n']);
        if !is_name(base) && !is_quotable {
            let problem = format!("`{base}` is no name: letters, digits and `_`, no digit first");
            return Err(section.wrong(key, problem, "give it another one"));
        }
        if RESERVED.contains(&base) {
            return Err(section.wrong(
                key,
                format!("`{base}` means something else in formulas"),
                "give it another name",
            ));
        }
        if let Some(other) = self.formulas.names.get(name) {
            let problem = format!("`{name}` is {} already", other.kind);
            return Err(section.wrong(key, problem, "give each its own name"));
        }
        self.formulas.names.insert(name.to_string(), meaning);
        Ok(())
    }

    /// Coordinates, states, inputs and parameters.
    fn names(&mut self, root: &Section<'_>) -> Result<()> {
        let per_second = |units: Units, power: i32| match units {
            Units::Any => Units::Any,
            Units::Is(units) => Units::Is(units.times(Dimension::SECOND, -power)),
        };
        let mut count = 0;
        for (kind, key) in [("coordinate", "coordinates"), ("state", "states")] {
            let Some((section, names)) = self.rows(root, key)? else { continue };
            for name in names {
                let unit = section.text(&name)?.unwrap_or_default();
                let units = self.declared(&section, &name, &unit)?;
                // (primes, bank, place); of a state, velocities are values
                let known: &[(&str, Bank, usize)] = match kind {
                    "coordinate" => &[("", Bank::Position, 0), ("'", Bank::Velocity, 1), ("''", Bank::Acceleration, 2)],
                    _ => &[("", Bank::Velocity, 0), ("'", Bank::Acceleration, 1)],
                };
                for (primes, bank, order) in known {
                    let place = self.formulas.graph.variable(*bank, count).map_err(self.large())?;
                    let kind = match (kind, *order) {
                        ("coordinate", 0) => "a coordinate",
                        ("coordinate", 1) => "a velocity",
                        ("coordinate", _) => "an acceleration",
                        (_, 0) => "a state",
                        _ => "a rate",
                    };
                    let meaning = Meaning { kind, place, units: per_second(units, *order as i32) };
                    self.know(&section, (&name, &format!("{name}{primes}")), meaning)?;
                }
                let place = self.formulas.graph.variable(Bank::SchemeAcceleration, count).map_err(self.large())?;
                let order = if kind == "coordinate" { 2 } else { 1 };
                let meaning = Meaning { kind: "an acceleration", place, units: per_second(units, order) };
                self.formulas.scheme.insert(name.clone(), meaning);
                let quantity = Quantity::new(name, unit);
                match kind {
                    "coordinate" => self.signature.coordinates.push(quantity),
                    _ => self.signature.states.push(quantity),
                }
                count += 1;
                if count > MOST_UNKNOWNS {
                    let problem = format!("there are more than {MOST_UNKNOWNS} coordinates and states");
                    return Err(root.wrong(key, problem, "write a larger mechanism in Rust, from parts"));
                }
            }
        }
        if let Some((section, names)) = self.rows(root, "inputs")? {
            for (k, name) in names.into_iter().enumerate() {
                let unit = section.text(&name)?.unwrap_or_default();
                let units = self.declared(&section, &name, &unit)?;
                let place = self.formulas.graph.variable(Bank::Input, k).map_err(self.large())?;
                self.know(&section, (&name, &name), Meaning { kind: "an input", place, units })?;
                self.signature.inputs.push(Quantity::new(name, unit));
            }
        }
        if let Some((section, names)) = self.rows(root, "parameters")? {
            for (k, name) in names.into_iter().enumerate() {
                let own = section.section(&name)?;
                let Some(own) = own else { continue };
                let parameter = parameter(&name, &own)?;
                let units = self.declared(&own, "unit", &parameter.unit)?;
                let place = self.formulas.graph.variable(Bank::Parameter, k).map_err(self.large())?;
                self.know(&section, (&name, &name), Meaning { kind: "a parameter", place, units })?;
                self.signature.parameters.push(parameter);
            }
        }
        self.motions(root)
    }

    /// Motions, whose coefficients are parameters.
    fn motions(&mut self, root: &Section<'_>) -> Result<()> {
        let Some((section, names)) = self.rows(root, "motion")? else { return Ok(()) };
        for name in names {
            let Some(own) = section.section(&name)? else { continue };
            own.only(&[&keys::MOTION])?;
            let unit = own.text("unit")?.unwrap_or_default();
            let units = self.declared(&own, "unit", &unit)?;
            let missing =
                |key: &str, example: &str| own.wrong(key, "it is missing", &format!("give it: {key} = {example}"));
            let from = own.number("from")?.unwrap_or(0.0);
            let until = own.number("until")?.ok_or_else(|| missing("until", "2.5"))?;
            let intervals = own.count("intervals")?.ok_or_else(|| missing("intervals", "12"))?;
            if intervals > MOST_UNKNOWNS {
                let problem = format!("there are {intervals} of them, more than {MOST_UNKNOWNS}");
                return Err(own.wrong("intervals", problem, "take fewer"));
            }
            let times = [from, until];
            let spline = match own.text("degree")?.as_deref() {
                None | Some("cubic") => Spline::cubic(times, intervals),
                Some("quintic") => Spline::quintic(times, intervals),
                Some(other) => {
                    return Err(own.at("degree", Error::unknown("degree", other, own.place(), ["cubic", "quintic"])));
                }
            };
            let ends = [own.numbers("begin")?.unwrap_or_default(), own.numbers("end")?.unwrap_or_default()];
            let spline = match *ends[0].as_slice() {
                [] => spline,
                [x] => spline.begin([x]),
                [x, v] => spline.begin([x, v]),
                [x, v, a] => spline.begin([x, v, a]),
                _ => return Err(own.wrong("begin", "it has more than a value and two rates", "give three at most")),
            };
            let spline = match *ends[1].as_slice() {
                [] => spline,
                [x] => spline.end([x]),
                [x, v] => spline.end([x, v]),
                [x, v, a] => spline.end([x, v, a]),
                _ => return Err(own.wrong("end", "it has more than a value and two rates", "give three at most")),
            };
            spline.validate(&name).map_err(|error| own.at("intervals", error.into()))?;
            let first = self.signature.parameters.len();
            self.signature = std::mem::take(&mut self.signature).motion(&name, &shown(&unit), &spline);
            for k in first..self.signature.parameters.len() {
                let place = self.formulas.graph.variable(Bank::Parameter, k).map_err(self.large())?;
                let parameter = self.signature.parameters[k].name.clone();
                self.know(&section, (&name, &parameter), Meaning { kind: "a parameter", place, units })?;
            }
        }
        Ok(())
    }

    fn constants(&mut self, root: &Section<'_>) -> Result<()> {
        let Some((section, names)) = self.rows(root, "constants")? else { return Ok(()) };
        for name in names {
            let (formula, unit) = match section.table.get(&name) {
                Some(Value::Table(table)) => {
                    let own = Section {
                        file: section.file,
                        keys: [&section.keys[..], std::slice::from_ref(&name)].concat(),
                        table,
                    };
                    own.only(&[&keys::CONSTANT])?;
                    (self.formula(&own, "is", format!("constant `{name}`"), true)?, own.text("unit")?)
                }
                _ => (self.formula(&section, &name, format!("constant `{name}`"), true)?, None),
            };
            let place = self.formulas.lower(&formula.expression).map_err(|fault| formula.error(fault))?;
            if self.formulas.graph.constant_of(place).is_none_or(|value| !value.is_finite()) {
                let fault = Fault::new(
                    &formula.expression.span,
                    "this is no finite constant",
                    "make it of numbers and of constants that stand before it",
                );
                return Err(formula.error(fault));
            }
            let own = self.units_of(&formula)?;
            let units = match unit {
                Some(unit) => {
                    let units = self.declared(&section, &name, &unit)?;
                    if let Units::Is(wanted) = units {
                        self.formulas.expect(&formula.expression, own, wanted).map_err(|fault| formula.error(fault))?;
                    }
                    units
                }
                None => own,
            };
            self.know(&section, (&name, &name), Meaning { kind: "a constant", place, units })?;
        }
        Ok(())
    }

    fn tables(&mut self, root: &Section<'_>) -> Result<()> {
        let Some((section, names)) = self.rows(root, "tables")? else { return Ok(()) };
        for name in names {
            let Some(own) = section.section(&name)? else { continue };
            own.only(&[&keys::TABLE])?;
            if !is_name(&name)
                || RESERVED.contains(&name.as_str())
                || is_function(&name)
                || self.formulas.names.contains_key(&name)
            {
                return Err(section.wrong(
                    &name,
                    "the name of a table must be free, and one of letters, digits and `_`",
                    "give it another name",
                ));
            }
            let [over, unit] = [own.text("over")?.unwrap_or_default(), own.text("unit")?.unwrap_or_default()];
            let [over_units, of] = [self.declared(&own, "over", &over)?, self.declared(&own, "unit", &unit)?];
            let interpolation = match own.text("interpolation")?.as_deref() {
                None | Some("linear") => Interpolation::Linear,
                Some("cubic") => Interpolation::Cubic,
                Some(other) => {
                    let error = Error::unknown("interpolation", other, own.place(), ["linear", "cubic"]);
                    return Err(own.at("interpolation", error));
                }
            };
            let (at, values) = match own.text("file")? {
                Some(file) => self.points(&own, &file, [&over, &unit])?,
                None => match (own.numbers("at")?, own.numbers("is")?) {
                    (Some(at), Some(values)) => (at, values),
                    _ => {
                        return Err(own.wrong(
                            "at",
                            "a table has points `at` and values `is`",
                            "give both lists, or a file",
                        ));
                    }
                },
            };
            let fewest = if interpolation == Interpolation::Cubic { 4 } else { 2 };
            if at.len() != values.len() || at.len() < fewest {
                let problem = format!("there are {} points and {} values", at.len(), values.len());
                return Err(own.wrong("at", problem, &format!("give as many of both, {fewest} at least")));
            }
            if let Some(k) = at.windows(2).position(|pair| pair[1] <= pair[0]) {
                let problem = format!("point {} is {}, and the next is {}", k + 1, at[k], at[k + 1]);
                return Err(own.wrong("at", problem, "let points increase"));
            }
            let table = Table::new(&at, &values, interpolation)
                .map_err(|error| error.located(&own.place()).under(&["tables", &name]))?;
            self.formulas.graph.tables.push(Arc::new(table));
            let table = self.formulas.graph.tables.len() - 1;
            self.formulas.tables.insert(name, TableMeaning { table, over: over_units, of });
        }
        Ok(())
    }

    /// Points of a table from a record.
    fn points(&mut self, own: &Section<'_>, file: &str, units: [&str; 2]) -> Result<(Vec<f64>, Vec<f64>)> {
        let remedy = "name both: columns = [\"v\", \"F\"]";
        let names = own.texts("columns")?.unwrap_or_default();
        let [x, y] = names.as_slice() else { return Err(own.wrong("columns", "two columns are wanted", remedy)) };
        let path = own.file.parent().map_or_else(|| PathBuf::from(file), |folder| folder.join(file));
        let record = Record::read(&path)?;
        let column = |name: &String, unit: &str| -> Result<Vec<f64>> {
            let Some(located) = locate(&record, &path, &Sought::named(name, unit))? else {
                return Err(
                    own.at("columns", Error::unknown("column", name, path.display().to_string(), record.names()))
                );
            };
            Ok(record.column(located.name)?.iter().map(|number| located.law.of(*number)).collect())
        };
        let points = (column(x, units[0])?, column(y, units[1])?);
        self.files.push(path);
        Ok(points)
    }

    /// Definitions, each behind those that it names.
    fn definitions(&mut self, root: &Section<'_>) -> Result<()> {
        let Some((section, names)) = self.rows(root, "definitions")? else { return Ok(()) };
        let mut formulas = Vec::new();
        for name in &names {
            if self.formulas.names.contains_key(name) || !is_name(name) || RESERVED.contains(&name.as_str()) {
                let kind = self.formulas.names.get(name).map_or("no name that is free", |meaning| meaning.kind);
                return Err(section.wrong(
                    name,
                    format!("`{name}` is {kind}"),
                    "give each its own name, of letters, digits and `_`",
                ));
            }
            formulas.push(self.formula(&section, name, format!("definition `{name}`"), true)?);
        }
        self.resolve(&names, &formulas, "a definition").map(|_| ())
    }

    /// Makes names of formulas known, each behind those that it names; their nodes.
    fn resolve(&mut self, names: &[String], formulas: &[Formula], kind: &'static str) -> Result<Vec<Place>> {
        let index: HashMap<&str, usize> = names.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        // definitions that each names, and those that name it
        let named: Vec<Vec<usize>> = formulas
            .iter()
            .map(|formula| {
                let mut all = Vec::new();
                mentioned(&formula.expression, &mut |name| all.extend(index.get(name)));
                all.sort_unstable();
                all.dedup();
                all
            })
            .collect();
        let mut naming = vec![Vec::new(); names.len()];
        named.iter().enumerate().for_each(|(k, all)| all.iter().for_each(|of| naming[*of].push(k)));
        let mut open: Vec<usize> = named.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..names.len()).filter(|k| open[*k] == 0).collect();
        let mut next = 0;
        let mut places = vec![None; names.len()];
        while let Some(k) = ready.get(next).copied() {
            next += 1;
            let formula = &formulas[k];
            let place = self.formulas.lower(&formula.expression).map_err(|fault| formula.error(fault))?;
            let units = if formula.is_checked { self.units_of(formula)? } else { Units::Any };
            places[k] = Some(place);
            self.formulas.names.insert(names[k].clone(), Meaning { kind, place, units });
            for other in &naming[k] {
                open[*other] -= 1;
                if open[*other] == 0 {
                    ready.push(*other);
                }
            }
        }
        match (0..names.len()).find(|k| open[*k] > 0) {
            None => Ok(places.into_iter().flatten().collect()),
            Some(k) => {
                let problem = format!("`{}` leads to itself, perhaps by way of others", names[k]);
                Err(formulas[k].error(Fault::new(&formulas[k].expression.span, problem, "break the circle")))
            }
        }
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
    let whole =
        Formula { keys: below(section, key), what, expression: Expression::of_nothing(), text, is_checked: true };
    match parse_formula(&whole.text) {
        Ok(expression) => Ok(Formula { expression, ..whole }),
        Err(fault) => Err(whole.error(fault)),
    }
}

/// Shows all names in a formula.
fn mentioned(e: &Expression, show: &mut dyn FnMut(&str)) {
    match &e.kind {
        Kind::Number(..) => {}
        Kind::Name(own) => show(own),
        Kind::Call(_, arguments) => arguments.iter().for_each(|argument| mentioned(argument, show)),
        Kind::Negative(inner) | Kind::Not(inner) => mentioned(inner, show),
        Kind::Binary(_, sides) => sides.iter().for_each(|side| mentioned(side, show)),
    }
}

fn parameter(name: &str, own: &Section<'_>) -> Result<Parameter> {
    own.only(&[&keys::PARAMETER])?;
    let Some(nominal) = own.number("nominal")? else {
        return Err(own.wrong("nominal", "it is missing", "give the value where nothing else is said: nominal = 40.0"));
    };
    let scale = match own.text("scale")?.as_deref() {
        None | Some("linear") => Scale::Linear,
        Some("log") => Scale::Log,
        Some(other) => return Err(own.at("scale", Error::unknown("scale", other, own.place(), ["linear", "log"]))),
    };
    let parameter = Parameter {
        lower: own.number("lower")?.unwrap_or(f64::NEG_INFINITY),
        upper: own.number("upper")?.unwrap_or(f64::INFINITY),
        scale,
        free: !own.flag("fixed")?.unwrap_or(false),
        size: own.number("size")?,
        ..Parameter::new(name, shown(&own.text("unit")?.unwrap_or_default()), nominal)
    };
    parameter.validate().map_err(|error| own.at("nominal", error.into()))?;
    Ok(parameter)
}
