//! Names of files that a file includes.

use super::names::parameter;
use super::{LARGEST, OF_START, Reading};
use crate::dimension::Units;
use crate::formula::graph::Bank;
use crate::formula::{Meaning, TableMeaning};
use crate::keys;
use crate::robot::{self, is_robot};
use costate::Quantity;
use costate_identify::problem_file::{Section, table, text};
use costate_identify::specification::Lines;
use costate_identify::{Error, Result};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use toml::{Table as Toml, Value};

/// Files in files in files, at most.
const DEEPEST: usize = 8;
/// Files, at most.
const MOST: usize = 200;

/// A file that is included.
#[derive(Default)]
pub(crate) struct File {
    /// The number of the file that includes it: 0 is the first one.
    pub parent: usize,
    /// Its name there.
    pub name: String,
    /// What names of its parts begin with.
    pub prefix: String,
    pub path: PathBuf,
    pub table: Toml,
    pub lines: Arc<Lines>,
}

/// A file that is included, with what its formulas may name.
#[derive(Default)]
pub(crate) struct Scope {
    file: Arc<File>,
    lines: Arc<Lines>,
    names: HashMap<String, Meaning>,
    tables: HashMap<String, TableMeaning>,
}

impl Scope {
    pub fn file(&self) -> Arc<File> {
        self.file.clone()
    }
}

/// Names of a file that mean those of the file which includes it.
enum Shared {
    All,
    These(Vec<String>),
}

impl Shared {
    fn of(own: &Section<'_>) -> Result<Self> {
        match own.table.get("shared") {
            Some(Value::Boolean(true)) => Ok(Shared::All),
            Some(Value::Boolean(false)) | None => Ok(Shared::These(Vec::new())),
            _ => Ok(Shared::These(own.texts("shared")?.unwrap_or_default())),
        }
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Shared::All => true,
            Shared::These(names) => names.iter().any(|own| own == name),
        }
    }
}

impl Reading {
    /// Lets formulas mean what they do in a file that is included, or back.
    pub fn exchange(&mut self, scope: &mut Scope) {
        std::mem::swap(&mut self.formulas.names, &mut scope.names);
        std::mem::swap(&mut self.formulas.tables, &mut scope.tables);
        std::mem::swap(&mut self.lines, &mut scope.lines);
    }

    /// Reads names of all files that the file of a number includes.
    pub(super) fn include(
        &mut self,
        root: &Section<'_>,
        parent: usize,
        outer_prefix: &str,
        depth: usize,
    ) -> Result<()> {
        let Some((section, names)) = self.rows(root, "include")? else { return Ok(()) };
        for name in names {
            let Some(own) = section.section(&name)? else { continue };
            let space = root.text("kind")?.as_deref() == Some("spatial");
            own.only(&[if space { &keys::space::INCLUDE } else { &keys::INCLUDE }])?;
            let file = own
                .text("file")?
                .ok_or_else(|| own.wrong("file", "it is missing", "name a mechanism file: file = \"leg.toml\""))?;
            if depth == DEEPEST || self.included.len() == MOST {
                let problem = format!("files are included {DEEPEST} deep, or {MOST} times");
                return Err(own.wrong("file", problem, "let no file lead to itself"));
            }
            let file = own.file.parent().map_or_else(|| PathBuf::from(&file), |folder| folder.join(&file));
            let text = text(&file).map_err(|error| own.at("file", error))?;
            if text.len() > LARGEST {
                return Err(own.wrong("file", format!("it has more than {LARGEST} bytes"), "take a smaller one"));
            }
            let (text, of_lines) = if is_robot(&file) {
                let (text, of_lines) = robot::translate(&text, &file, &robot::Options::of(&own)?)?;
                (text, Some(of_lines))
            } else {
                if let Some(key) = robot::KEYS.into_iter().find(|key| own.table.contains_key(*key)) {
                    return Err(own.wrong(key, "it is for robots' files alone, .urdf", "leave it out"));
                }
                (text, None)
            };
            let table = table(&text, &file)?;
            let mut lines = Lines::of(&text, &file);
            if let Some(of_lines) = of_lines {
                lines.follow(&of_lines);
            }
            let lines = Arc::new(lines);
            let prefix = format!("{outer_prefix}{name}_");
            self.files.push(file.clone());
            let inner = Section { file: &file, keys: Vec::new(), table: &table };
            let kind = |section: &Section<'_>| section.text("kind").ok().flatten();
            if kind(&inner) != kind(root) {
                let problem = format!("{} is of another kind", file.display());
                return Err(own.wrong("file", problem, "include mechanisms from parts of the same kind"));
            }
            if inner.table.contains_key("motion") {
                let problem = format!("{} has motions of its own", file.display());
                return Err(own.wrong("file", problem, "let the file that includes it have them"));
            }
            let shared = Shared::of(&own)?;
            let with = self.given(&own)?;
            let known = |key: &str| -> Vec<String> {
                inner
                    .table
                    .get(key)
                    .and_then(Value::as_table)
                    .map_or_else(Vec::new, |all| all.keys().cloned().collect())
            };
            let parameters = known("parameters");
            let of_both: Vec<String> = parameters.iter().cloned().chain(known("inputs")).collect();
            let strange = with.keys().find(|name| !parameters.contains(name)).map(|name| ("with", name.clone()));
            let strange = strange.or_else(|| match &shared {
                Shared::These(names) => {
                    names.iter().find(|own| !of_both.contains(own)).map(|own| ("shared", own.clone()))
                }
                Shared::All => None,
            });
            if let Some((key, name)) = strange {
                let place = file.display().to_string();
                return Err(own.at(key, Error::unknown("parameter or input", &name, place, &of_both)));
            }
            let number = self.included.len() + 1;
            let base: HashMap<String, Meaning> = ["t", "pi"]
                .iter()
                .filter_map(|name| Some((name.to_string(), self.formulas.names.get(*name)?.clone())))
                .collect();
            let included = File {
                parent,
                name,
                prefix: prefix.clone(),
                path: file.clone(),
                table: table.clone(),
                lines: lines.clone(),
            };
            let mut scope =
                Scope { file: Arc::new(included), lines: lines.clone(), names: base, tables: HashMap::new() };
            // its place, before those of the files that it includes
            self.included.push(Scope::default());
            self.exchange(&mut scope);
            // what the outer file names is in the scope now
            let read = self
                .included_names(&inner, [outer_prefix, &prefix], (&shared, &with), &mut scope.names)
                .and_then(|()| self.constants(&inner))
                .and_then(|()| self.tables(&inner))
                .and_then(|()| self.definitions(&inner))
                .and_then(|()| inner.only(&[&keys::HEAD, if space { &keys::space::TOP } else { &keys::PLANAR }]))
                .and_then(|()| self.include(&inner, number, &prefix, depth + 1));
            self.exchange(&mut scope);
            read.map_err(|error| lines.locate(error))?;
            self.included[number - 1] = scope;
        }
        Ok(())
    }

    /// Parameters of an included file that are formulas here.
    fn given(&mut self, own: &Section<'_>) -> Result<HashMap<String, Meaning>> {
        let mut all = HashMap::new();
        let Some((section, names)) = self.rows(own, "with")? else { return Ok(all) };
        for name in names {
            let formula = self.formula(&section, &name, format!("parameter `{name}`"), false)?;
            let (place, units) = self.lowered(&formula, OF_START)?;
            all.insert(name, Meaning { kind: "a parameter", place, units });
        }
        Ok(all)
    }

    fn included_names(
        &mut self,
        inner: &Section<'_>,
        prefixes: [&str; 2],
        (shared, with): (&Shared, &HashMap<String, Meaning>),
        outer: &mut HashMap<String, Meaning>,
    ) -> Result<()> {
        if let Some((section, names)) = self.rows(inner, "inputs")? {
            for name in names {
                let unit = section.text(&name)?.unwrap_or_default();
                let units = self.declared(&section, &name, &unit)?;
                let found = if shared.contains(&name) { outer.get(&name).cloned() } else { None };
                let meaning = match found {
                    Some(known) => same(&section, &name, known, ("an input", units))?,
                    None => {
                        let count = self.signature.inputs.len();
                        let place = self.formulas.graph.variable(Bank::Input, count).map_err(self.large())?;
                        let meaning = Meaning { kind: "an input", place, units };
                        let full = full_name(prefixes, &name, shared, &meaning, outer);
                        self.signature.inputs.push(Quantity::new(full, unit));
                        meaning
                    }
                };
                self.know(&section, (&name, &name), meaning)?;
            }
        }
        if let Some((section, names)) = self.rows(inner, "parameters")? {
            for name in names {
                let Some(own) = section.section(&name)? else { continue };
                let mut parameter = parameter(&name, &own)?;
                let units = self.declared(&own, "unit", &parameter.unit)?;
                let given = with.get(&name).cloned();
                let found = given.or_else(|| if shared.contains(&name) { outer.get(&name).cloned() } else { None });
                let meaning = match found {
                    Some(known) => same(&section, &name, known, ("a parameter", units))?,
                    None => {
                        let count = self.signature.parameters.len();
                        let place = self.formulas.graph.variable(Bank::Parameter, count).map_err(self.large())?;
                        let meaning = Meaning { kind: "a parameter", place, units };
                        parameter.name = full_name(prefixes, &name, shared, &meaning, outer);
                        self.signature.parameters.push(parameter);
                        meaning
                    }
                };
                self.know(&section, (&name, &name), meaning)?;
            }
        }
        Ok(())
    }
}

/// What a name of an included file is called, by what names of the outer file and of this one begin with: one that is shared is known to the outer
/// file from now on.
fn full_name(
    [outer_prefix, prefix]: [&str; 2],
    name: &str,
    shared: &Shared,
    meaning: &Meaning,
    outer: &mut HashMap<String, Meaning>,
) -> String {
    if !shared.contains(name) {
        return format!("{prefix}{name}");
    }
    outer.insert(name.to_string(), meaning.clone());
    format!("{outer_prefix}{name}")
}

/// A name of the outer file that is the same quantity.
fn same(section: &Section<'_>, name: &str, known: Meaning, (kind, units): (&'static str, Units)) -> Result<Meaning> {
    let refuse = |problem: String| {
        let remedy = "leave it out of `shared` and `with`, or let both be in one unit";
        Err(section.wrong(name, problem, remedy))
    };
    match (known.units, units) {
        _ if known.kind != kind => refuse(format!("the file that includes this one knows it as {}", known.kind)),
        (Units::Is(a), Units::Is(b)) if !a.is_same(&b) => {
            refuse(format!("it is in [{b}], and what it is given is in [{a}]"))
        }
        // a number alone is in the unit that is wanted
        (Units::Any, _) => Ok(Meaning { units, ..known }),
        _ => Ok(known),
    }
}
