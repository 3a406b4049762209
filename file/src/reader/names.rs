//! What formulas of a file may name: coordinates, states, inputs, parameters, motions, constants, tables, definitions.

use super::{Formula, MOST_UNKNOWNS, Reading, is_name, shown};
use crate::dimension::{Dimension, Units};
use crate::formula::graph::{Bank, Place};
use crate::formula::parse::{Expression, Fault, Kind};
use crate::formula::{Meaning, RESERVED, TableMeaning, is_function};
use crate::keys;
use crate::table::Table;
use costate::spline::Spline;
use costate::{Interpolation, Parameter, Quantity, Scale};
use costate_data::Record;
use costate_data::columns::{Sought, locate};
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};
use costate_parts::sampled::smoothed;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Value;

impl Reading {
    /// Makes a name known to formulas.
    pub(super) fn know(&mut self, section: &Section<'_>, (key, name): (&str, &str), meaning: Meaning) -> Result<()> {
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
    pub(super) fn names(&mut self, root: &Section<'_>) -> Result<()> {
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
                for (order, (kind, bank)) in of_unknown(kind == "state").iter().enumerate() {
                    let place = self.formulas.graph.variable(*bank, count).map_err(self.large())?;
                    let meaning = Meaning { kind, place, units: per_second(units, order as i32) };
                    self.know(&section, (&name, &format!("{name}{}", "'".repeat(order))), meaning)?;
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

    pub(super) fn constants(&mut self, root: &Section<'_>) -> Result<()> {
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

    pub(super) fn tables(&mut self, root: &Section<'_>) -> Result<()> {
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
            let values = match own.number("bandwidth")? {
                None => values,
                Some(_) if interpolation == Interpolation::Linear => {
                    let problem = "straight lines between its points are not smooth";
                    return Err(own.wrong("bandwidth", problem, "let `interpolation` be \"cubic\""));
                }
                Some(bandwidth) => {
                    smoothed(&at, &values, bandwidth).map_err(|error| own.at("bandwidth", error.into()))?
                }
            };
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
    pub(super) fn definitions(&mut self, root: &Section<'_>) -> Result<()> {
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
    pub(super) fn resolve(&mut self, names: &[String], formulas: &[Formula], kind: &'static str) -> Result<Vec<Place>> {
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
}

/// What a coordinate or a state and its derivatives, by primes, are called, and where they are; of a state, velocities are values.
pub(super) fn of_unknown(is_state: bool) -> &'static [(&'static str, Bank)] {
    match is_state {
        false => {
            &[("a coordinate", Bank::Position), ("a velocity", Bank::Velocity), ("an acceleration", Bank::Acceleration)]
        }
        true => &[("a state", Bank::Velocity), ("a rate", Bank::Acceleration)],
    }
}

/// Shows all names in a formula.
pub(super) fn mentioned(e: &Expression, show: &mut dyn FnMut(&str)) {
    match &e.kind {
        Kind::Number(..) => {}
        Kind::Name(own) => show(own),
        Kind::Call(_, arguments) => arguments.iter().for_each(|argument| mentioned(argument, show)),
        Kind::Negative(inner) | Kind::Not(inner) => mentioned(inner, show),
        Kind::Binary(_, sides) => sides.iter().for_each(|side| mentioned(side, show)),
    }
}

pub(super) fn parameter(name: &str, own: &Section<'_>) -> Result<Parameter> {
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
