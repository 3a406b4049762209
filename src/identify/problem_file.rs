//! Problem files: a [`Specification`] in TOML. All keys, with types, units, defaults and meanings: [`reference()`], which is
//! `docs/problem-file.md`.
//!
//! ```toml
//! model = "silverbox"
//!
//! [data]
//! file = "multisine.csv"        # beside this file
//! inputs.u = { column = "u", interpolation = "cubic" }
//! outputs.y = { column = "y", deviation = 1e-3 }
//!
//! [parameters]
//! m = { start = 4e-6, lower = 1e-9, scale = "log" }
//! ```

mod control;
mod keys;
mod section;

pub use keys::reference;
use section::{Section, table_keys};

use crate::constraint::{ConstraintSetting, Window};
use crate::cost::Quadrature;
use crate::error::{Error, Result};
use crate::files;
use crate::noise::{NoiseLevel, SyntheticNoise};
use crate::optimise;
use crate::scheme;
use crate::signature::Scale;
use crate::specification::{
    DataSource, ExperimentSetting, InputColumn, OutputColumn, ParameterSetting, Specification, beside,
};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Reads a problem file; paths in it are relative to its folder.
///
/// # Errors
/// If it cannot be read, is not TOML, or holds an unknown key or a value of the wrong kind, by name.
pub fn read(path: &Path) -> Result<Specification> {
    let text = String::from_utf8(files::read(path)?)
        .map_err(|_| Error::io("read", path, "it is not UTF-8 text", "save the file as UTF-8"))?;
    parse(&text, path)
}

/// Reads a problem from text; `path` is its name in messages and the base of relative paths.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, path: &Path) -> Result<Specification> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line_ends = |end: usize| text.bytes().take(end).filter(|byte| *byte == b'\n').count() as u64;
        let line = error.span().map(|span| 1 + line_ends(span.start));
        let problem = format!("this is not TOML: {}", error.message().trim().replace('\n', ", "));
        Error::file(path, line, problem, "correct the line; it may be a missing quotation mark or bracket")
    })?;
    let root = Section { file: path, name: String::new(), table: &table };
    root.only(&[&keys::TOP])?;
    let Some(model) = root.text("model")? else {
        return Err(Error::file(path, None, "it names no model", "begin it with: model = \"engine_mount\""));
    };
    let mut specification = Specification::of(&model);
    if let Some(data) = root.section("data")? {
        specification.data = Some(self::data(&data)?);
    }
    for section in root.sections("experiment")? {
        let shared = specification.data.clone().unwrap_or_default();
        specification.experiments.push(experiment(&section, &shared)?);
    }
    let unnamed = |data: &DataSource| data.file.as_os_str().is_empty();
    if specification.experiments.is_empty() && specification.data.as_ref().is_some_and(unnamed) {
        return Err(Error::file(path, None, "[data] names no file", "add: file = \"record.csv\""));
    }
    if let Some(integrator) = root.section("integrator")? {
        self::integrator(&integrator, &mut specification)?;
    }
    if let Some(cost) = root.section("cost")? {
        self::cost(&cost, &mut specification)?;
    }
    if let Some(parameters) = root.section("parameters")? {
        for name in table_keys(parameters.table) {
            let Some(section) = parameters.section(&name)? else { continue };
            specification.parameters.push(parameter(&name, &section)?);
        }
    }
    specification.control = root.section("control")?.map(|section| control::control(&section)).transpose()?;
    for constraint in root.sections("constraint")? {
        specification.constraints.push(self::constraint(&constraint)?);
    }
    if let Some(optimiser) = root.section("optimiser")? {
        self::optimiser(&optimiser, &mut specification)?;
    }
    Ok(specification)
}

fn integrator(integrator: &Section<'_>, specification: &mut Specification) -> Result<()> {
    integrator.only(&[&keys::INTEGRATOR])?;
    for name in scheme::settings() {
        specification.scheme_settings.extend(integrator.number(name)?.map(|value| (name.to_string(), value)));
    }
    specification.step = integrator.number("step")?;
    specification.end = integrator.number("end")?;
    specification.substeps = integrator.count("substeps")?;
    specification.initial_state = integrator.named("initial_state", str::parse)?;
    specification.hold = integrator.texts("hold")?;
    let known = |name: &str| {
        if let Some((scheme, setting)) = name.split_once(':') {
            let remedy = format!("write the setting on a line of its own: {}", setting.replace('=', " = "));
            return Err(Error::invalid(format!("scheme `{scheme}`"), "a setting is in its name", remedy));
        }
        scheme::by_name(name, &[]).map(|_| name.to_string())
    };
    specification.scheme = integrator.named("scheme", known)?;
    if let Some(name) = &specification.scheme {
        let made = scheme::by_name(name, &specification.scheme_settings);
        made.map(|_| ()).map_err(|error| error.located(&integrator.place()))?;
    }
    Ok(())
}

fn cost(cost: &Section<'_>, specification: &mut Specification) -> Result<()> {
    cost.only(&[&keys::COST])?;
    specification.synthetic_noise = cost.section("synthetic_noise")?.map(synthetic_noise).transpose()?;
    specification.quadrature = cost.named("weights", quadrature)?;
    specification.noise = cost.text("noise")?.map(|name| name.parse()).transpose()?;
    specification.compare = cost.texts("outputs")?;
    if specification.data.is_some() && specification.compare.is_some() {
        let problem = "it says what is compared without a record, but there is [data]";
        return Err(cost.wrong("outputs", problem, "name the outputs in [data.outputs] instead"));
    }
    Ok(())
}

fn optimiser(optimiser: &Section<'_>, specification: &mut Specification) -> Result<()> {
    optimiser.only(&[&keys::OPTIMISER])?;
    specification.method = optimiser.named("method", str::parse)?;
    let defaults = optimise::Options::default();
    specification.options = optimise::Options {
        max_evaluations: optimiser.count("max_evaluations")?.unwrap_or(defaults.max_evaluations),
        max_iterations: optimiser.count("max_iterations")?.unwrap_or(defaults.max_iterations),
        cost_target: optimiser.number("cost_target")?.unwrap_or(defaults.cost_target),
        gradient_tolerance: optimiser.number("gradient_tolerance")?.unwrap_or(defaults.gradient_tolerance),
        cost_tolerance: optimiser.number("cost_tolerance")?.unwrap_or(defaults.cost_tolerance),
        step_tolerance: optimiser.number("step_tolerance")?.unwrap_or(defaults.step_tolerance),
        ..defaults
    };
    let constraints = &mut specification.constraint_options;
    constraints.tolerance = optimiser.number("constraint_tolerance")?.unwrap_or(constraints.tolerance);
    constraints.penalty = optimiser.number("penalty")?;
    Ok(())
}

fn quadrature(name: &str) -> Result<Quadrature> {
    match name {
        "rectangle" => Ok(Quadrature::Rectangle),
        "trapezoid" => Ok(Quadrature::Trapezoid),
        "unit" => Ok(Quadrature::Unit),
        _ => Err(Error::unknown("kind of weights", name, "", ["rectangle", "trapezoid", "unit"])),
    }
}

fn data(section: &Section<'_>) -> Result<DataSource> {
    section.only(&[&keys::DATA])?;
    over(section, &DataSource::default())
}

/// What a section says of a record, over what is said of all.
fn over(section: &Section<'_>, shared: &DataSource) -> Result<DataSource> {
    let own = section.named("interpolation", str::parse)?;
    let interpolation = own.or(shared.interpolation);
    let mut source = DataSource {
        file: section.text("file")?.map_or(shared.file.clone(), |file| beside(section.file, &PathBuf::from(file))),
        time: section.text("time")?.or(shared.time.clone()),
        interpolation,
        split: section.text("split")?.or(shared.split.clone()),
        from: section.number("from")?.or(shared.from),
        until: section.number("until")?.or(shared.until),
        inputs: shared.inputs.clone(),
        outputs: shared.outputs.clone(),
    };
    if own.is_some() {
        source.inputs.iter_mut().flatten().for_each(|input| input.interpolation = own.unwrap_or(input.interpolation));
    }
    if let Some(inputs) = section.section("inputs")? {
        let mut columns = Vec::new();
        for name in table_keys(inputs.table) {
            let Some(input) = inputs.section(&name)? else { continue };
            input.only(&[&keys::INPUT])?;
            let own = input.named("interpolation", str::parse)?;
            columns.push(InputColumn {
                column: input.text("column")?.unwrap_or_else(|| name.clone()),
                interpolation: own.or(interpolation).unwrap_or(crate::signal::Interpolation::Linear),
                input: name,
            });
        }
        source.inputs = Some(columns);
    }
    if let Some(outputs) = section.section("outputs")? {
        let mut columns = Vec::new();
        for name in table_keys(outputs.table) {
            let Some(output) = outputs.section(&name)? else { continue };
            output.only(&[&keys::OUTPUT])?;
            columns.push(OutputColumn {
                column: output.text("column")?.unwrap_or_else(|| name.clone()),
                deviation: output.number("deviation")?.unwrap_or(1.0),
                output: name,
            });
        }
        source.outputs = Some(columns);
    }
    Ok(source)
}

fn experiment(section: &Section<'_>, shared: &DataSource) -> Result<ExperimentSetting> {
    section.only(&[&keys::EXPERIMENT, &keys::DATA])?;
    let data = over(section, shared)?;
    if data.file.as_os_str().is_empty() {
        return Err(section.wrong("file", "the experiment has no data", "add: file = \"record.csv\""));
    }
    let mut parameters = Vec::new();
    if let Some(table) = section.section("parameters")? {
        for name in table_keys(table.table) {
            let Some(own) = table.section(&name)? else { continue };
            parameters.push(parameter(&name, &own)?);
        }
    }
    let weight = section.number("weight")?;
    if weight.is_some_and(|weight| !(weight.is_finite() && weight > 0.0)) {
        return Err(section.wrong("weight", "it is not positive", "give a weight > 0, or leave the experiment out"));
    }
    Ok(ExperimentSetting {
        name: section.text("name")?,
        data,
        validation: section.flag("validation")?.unwrap_or(false),
        weight,
        initial_state: section.named("initial_state", str::parse)?,
        hold: section.texts("hold")?,
        parameters,
    })
}

fn synthetic_noise(section: Section<'_>) -> Result<SyntheticNoise> {
    section.only(&[&keys::SYNTHETIC_NOISE])?;
    let level = match section.table.get("level") {
        Some(Value::Table(_)) => {
            let mut levels = Vec::new();
            if let Some(table) = section.section("level")? {
                for name in table_keys(table.table) {
                    levels.extend(table.number(&name)?.map(|deviation| (name, deviation)));
                }
            }
            NoiseLevel::Absolute(levels)
        }
        _ => match section.number("level")? {
            Some(part) => NoiseLevel::Relative(part),
            None => return Err(section.wrong("level", "it is missing", "give one, such as level = 0.01")),
        },
    };
    Ok(SyntheticNoise { seed: section.count("seed")?.unwrap_or(1) as u64, level })
}

fn parameter(name: &str, section: &Section<'_>) -> Result<ParameterSetting> {
    section.only(&[&keys::PARAMETER])?;
    let scale = match section.text("scale")?.as_deref() {
        None => None,
        Some("linear") => Some(Scale::Linear),
        Some("log") => Some(Scale::Log),
        Some(other) => return Err(Error::unknown("scale", other, section.place(), ["linear", "log"])),
    };
    let (fixed, free) = (section.flag("fixed")?, section.flag("free")?);
    if let (Some(fixed), Some(free)) = (fixed, free)
        && fixed == free
    {
        return Err(section.wrong("fixed", "it contradicts `free`", "give only one of them"));
    }
    if section.number("start")?.is_some() && section.text("start_column")?.is_some() {
        return Err(section.wrong("start", "it contradicts `start_column`", "give only one of them"));
    }
    Ok(ParameterSetting {
        name: name.to_string(),
        start: section.number("start")?,
        lower: section.number("lower")?,
        upper: section.number("upper")?,
        scale,
        size: section.number("size")?,
        local: section.flag("local")?,
        start_column: section.text("start_column")?,
        free: free.or(fixed.map(|fixed| !fixed)),
    })
}

fn constraint(section: &Section<'_>) -> Result<ConstraintSetting> {
    section.only(&[&keys::CONSTRAINT])?;
    let name = section.text("name")?;
    let unit = section.text("unit")?;
    let what = [section.text("rule")?.is_some(), section.section("sum")?.is_some(), section.text("output")?.is_some()];
    if what.iter().filter(|given| **given).count() != 1 {
        let what = section.place();
        return Err(Error::invalid(what, "it must name one of `rule`, `sum` and `output`", "give just one of them"));
    }
    if let Some(rule) = section.text("rule")? {
        for key in ["equals", "at_most", "at_least", "time", "from", "until"] {
            if section.table.contains_key(key) {
                return Err(section.wrong(key, "the rule says it already", "leave it out, or say it without `rule`"));
            }
        }
        let setting = ConstraintSetting::parse(&rule).map_err(|error| error.within(section.place()))?;
        return Ok(ConstraintSetting { name: name.unwrap_or(rule), unit, ..setting });
    }
    let equals = section.number("equals")?;
    let (lower, upper) = (section.number("at_least")?, section.number("at_most")?);
    if equals.is_some() && (lower.is_some() || upper.is_some()) {
        return Err(section.wrong("equals", "it leaves no room for `at_least` or `at_most`", "give only one of them"));
    }
    if equals.is_none() && lower.is_none() && upper.is_none() {
        return Err(Error::invalid(section.place(), "it has no limit", "add `equals`, `at_most` or `at_least`"));
    }
    let at_end = match section.text("time")?.as_deref() {
        None => false,
        Some("end") => true,
        Some(other) => return Err(Error::unknown("time", other, section.place(), ["end"])),
    };
    let window = Window { from: section.number("from")?, until: section.number("until")?, at_end };
    if at_end && (window.from.is_some() || window.until.is_some()) {
        return Err(section.wrong("time", "it contradicts `from` and `until`", "give only one of them"));
    }
    let mut terms = Vec::new();
    if let Some(sum) = section.section("sum")? {
        for parameter in table_keys(sum.table) {
            let weight = sum.number(&parameter)?.unwrap_or(1.0);
            terms.push((parameter, weight));
        }
    }
    let output = section.text("output")?;
    let of_output = Some(output.is_some());
    terms.extend(output.map(|output| (output, 1.0)));
    let described = || {
        let terms =
            terms.iter().map(|(name, weight)| if *weight == 1.0 { name.clone() } else { format!("{weight} {name}") });
        terms.collect::<Vec<_>>().join(" + ")
    };
    Ok(ConstraintSetting {
        name: name.unwrap_or_else(described),
        terms,
        of_output,
        lower: equals.or(lower).unwrap_or(f64::NEG_INFINITY),
        upper: equals.or(upper).unwrap_or(f64::INFINITY),
        window,
        unit,
    })
}
