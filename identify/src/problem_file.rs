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

mod candidate;
mod constraint;
mod control;
mod homotopy;
mod keys;
mod mode;
mod prior;
mod response;
mod section;
mod spectrum;

use crate::error::Locate;
pub use keys::reference;
pub use keys::{Hint, Keys, LISTS, hints, unmarked};
pub use section::Section;
use section::table_keys;

use crate::optimise;
use crate::registry::{self, CostFormulas};
use crate::specification::line_of;
use crate::specification::{
    DataSource, Deviation, ExperimentSetting, InputColumn, Lines, OutputColumn, ParameterSetting, Specification, beside,
};
use crate::{Error, Result};
use costate::cost::{Loss, Quadrature};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::{Scale, memory, scheme};
use costate_data::columns::Calibration;
use costate_data::files;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Reads a problem file; paths in it are relative to its folder.
///
/// # Errors
/// If it cannot be read, is not TOML, or holds an unknown key or a value of the wrong kind, by name.
pub fn read(path: &Path) -> Result<Specification> {
    parse(&text(path)?, path)
}

/// The text of a file.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    String::from_utf8(files::read(path)?)
        .map_err(|_| Error::io("read", path, "it is not UTF-8 text", "save the file as UTF-8"))
}

/// All keys of a problem file with their values, as they stand there.
///
/// # Errors
/// If it cannot be read, or is not TOML.
pub fn keys(path: &Path) -> Result<serde_json::Value> {
    Ok(serde_json::json!(table(&text(path)?, path)?))
}

/// Reads a problem from text; `path` is its name in messages and the base of relative paths.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, path: &Path) -> Result<Specification> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let table = table(text, path)?;
    let root = Section { file: path, keys: Vec::new(), table: &table };
    let lines = Lines::of(text, path);
    match stated(&root) {
        Ok(specification) => Ok(Specification { lines, ..specification }),
        Err(error) => Err(lines.locate(error)),
    }
}

/// Mark that some editors begin a file with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text as a table of TOML; `path` is its name in messages.
///
/// # Errors
/// If it is not TOML, with the line and what may be meant.
pub fn table(text: &str, path: &Path) -> Result<Table> {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| line_of(text, span.start));
        let message = error.message().trim().replace('\n', ", ");
        let remedy = remedy(&message, line.and_then(|line| text.lines().nth(line as usize - 1)).unwrap_or_default());
        Error::file(path, line, format!("this is not TOML: {message}"), remedy)
    })
}

/// Specification in the whole file.
fn stated(root: &Section<'_>) -> Result<Specification> {
    let path = root.file;
    root.only(&[&keys::TOP])?;
    let Some(model) = root.text("model")?.map(|model| registry::beside(&model, path)) else {
        return Err(Error::file(path, None, "it names no model", "begin it with: model = \"engine_mount\""));
    };
    let mut specification = Specification::of(&model);
    if let Some(data) = root.section("data")? {
        specification.data = Some(self::data(&data)?);
    }
    for (k, section) in root.sections("experiment")?.iter().enumerate() {
        let shared = specification.data.clone().unwrap_or_default();
        specification.experiments.push(experiment(k + 1, section, &shared)?);
    }
    for (k, section) in root.sections("candidate")?.iter().enumerate() {
        specification.candidates.push(candidate::candidate(k + 1, section)?);
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
    if specification.control.is_some() {
        specification.options = optimise::Options::of_control();
    }
    for constraint in root.sections("constraint")? {
        specification.constraints.push(constraint::constraint(&constraint)?);
    }
    for mode in root.sections("mode")? {
        specification.modes.extend(mode::mode(&mode)?);
    }
    for response in root.sections("response")? {
        specification.responses.push(response::response(&response)?);
    }
    if let Some(optimiser) = root.section("optimiser")? {
        self::optimiser(&optimiser, &mut specification)?;
    }
    Ok(specification)
}

/// Remedy for a line that is not TOML, by what may be meant.
fn remedy(message: &str, line: &str) -> &'static str {
    let value = line.split_once('=').map_or("", |(_, value)| value.trim());
    let is_decimal = |value: &str| {
        value.split_once(',').is_some_and(|(a, b)| a.parse::<i64>().is_ok() && b.trim().parse::<u64>().is_ok())
    };
    match message {
        _ if is_decimal(value) => "write numbers with a decimal point: 0.05",
        _ if ["yes", "no", "on", "off", "True", "False"].contains(&value) => "write true or false",
        twice if twice.contains("duplicate key") => "write each key once",
        number if number.contains("integer") => "correct the number",
        _ => "correct the line; it may be a missing quotation mark or bracket",
    }
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
    specification.memory = integrator.named("memory", memory::bytes)?;
    specification.tolerance = integrator.number("tolerance")?;
    let known = |name: &str| {
        if let Some((scheme, setting)) = name.split_once(':') {
            let remedy = format!("write the setting on a line of its own: {}", setting.replace('=', " = "));
            return Err(Error::invalid(format!("scheme `{scheme}`"), "a setting is in its name", remedy));
        }
        Ok(scheme::by_name(name, &[]).map(|_| name.to_string())?)
    };
    specification.scheme = integrator.named("scheme", known)?;
    if let Some(name) = &specification.scheme {
        let made = scheme::by_name(name, &specification.scheme_settings);
        made.map(|_| ()).map_err(|error| integrator.at("", error.located(&integrator.place())))?;
    }
    Ok(())
}

fn cost(cost: &Section<'_>, specification: &mut Specification) -> Result<()> {
    cost.only(&[&keys::COST])?;
    specification.loss = loss(cost)?;
    specification.synthetic_noise = cost.section("synthetic_noise")?.map(synthetic_noise).transpose()?;
    specification.quadrature = cost.named("weights", quadrature)?;
    specification.noise = cost.named("noise", str::parse)?;
    specification.compare = cost.texts("outputs")?;
    if specification.data.is_some() && specification.compare.is_some() {
        let problem = "it says what is compared without a record, but there is [data]";
        return Err(cost.wrong("outputs", problem, "name the outputs in [data.outputs] instead"));
    }
    specification.cost = cost_formulas(cost)?;
    let of_squares = ["weights", "outputs", "noise", "loss", "loss_scale", "synthetic_noise"];
    match of_squares.iter().find(|key| cost.table.contains_key(**key)) {
        Some(key) if !specification.cost.is_empty() => {
            let problem = "it is of a sum of squares, and the cost is a formula";
            Err(cost.wrong(key, problem, "leave one of them out"))
        }
        _ => Ok(()),
    }
}

/// The cost by formulas that a section states.
fn cost_formulas(section: &Section<'_>) -> Result<CostFormulas> {
    Ok(CostFormulas { integral: section.text("integral")?, terminal: section.text("terminal")? })
}

fn optimiser(optimiser: &Section<'_>, specification: &mut Specification) -> Result<()> {
    optimiser.only(&[&keys::OPTIMISER])?;
    specification.method = optimiser.named("method", str::parse)?;
    let defaults = specification.options.clone();
    specification.options = optimise::Options {
        max_evaluations: optimiser.count("max_evaluations")?.unwrap_or(defaults.max_evaluations),
        max_iterations: optimiser.count("max_iterations")?.unwrap_or(defaults.max_iterations),
        cost_target: optimiser.number("cost_target")?.unwrap_or(defaults.cost_target),
        gradient_tolerance: optimiser.number("gradient_tolerance")?.unwrap_or(defaults.gradient_tolerance),
        cost_tolerance: optimiser.number("cost_tolerance")?.unwrap_or(defaults.cost_tolerance),
        step_tolerance: optimiser.number("step_tolerance")?.unwrap_or(defaults.step_tolerance),
        ..defaults
    };
    specification.homotopy = homotopy::homotopy(optimiser)?;
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

/// Data source of a section, over what is given for all.
fn over(section: &Section<'_>, shared: &DataSource) -> Result<DataSource> {
    let mut source = driven(section, shared)?;
    if let Some(outputs) = section.section("outputs")? {
        source.outputs = Some(columns_of(&outputs)?);
    }
    Ok(source)
}

/// Data source of a section but for outputs, over what is given for all.
fn driven(section: &Section<'_>, shared: &DataSource) -> Result<DataSource> {
    let own = section.named("interpolation", str::parse)?;
    let interpolation = own.or(shared.interpolation);
    let (file, more_files) = files_of(section)?.unwrap_or_else(|| (shared.file.clone(), shared.more_files.clone()));
    let mut source = DataSource {
        file,
        more_files,
        time: section.text("time")?.or(shared.time.clone()),
        time_unit: section.text("time_unit")?.or(shared.time_unit.clone()),
        interpolation,
        split: section.text("split")?.or(shared.split.clone()),
        max_gap: section.positive("max_gap")?.or(shared.max_gap),
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
                file: input.count("file")?,
                interpolation: own.or(interpolation).unwrap_or(costate::Interpolation::Linear),
                calibration: calibration(&input)?,
                input: name,
            });
        }
        source.inputs = Some(columns);
    }
    Ok(source)
}

/// Columns of the outputs of a record.
fn columns_of(outputs: &Section<'_>) -> Result<Vec<OutputColumn>> {
    let mut columns = Vec::new();
    for name in table_keys(outputs.table) {
        let Some(output) = outputs.section(&name)? else { continue };
        output.only(&[&keys::OUTPUT])?;
        let effects = output.texts("sensor")?.unwrap_or_default();
        if let Some(twice) = (1..effects.len()).find(|k| effects[..*k].contains(&effects[*k])) {
            let problem = format!("`{}` is named twice", effects[twice]);
            return Err(output.wrong("sensor", problem, "name each once"));
        }
        let sensor = effects.iter().map(|effect| effect.parse()).collect::<Result<Vec<_>>>();
        let sensor = sensor.map_err(|error| output.at("sensor", error.within(output.place())))?;
        columns.push(OutputColumn {
            column: output.text("column")?.unwrap_or_else(|| name.clone()),
            file: output.count("file")?,
            calibration: calibration(&output)?,
            deviation: deviation(&output)?,
            loss: loss(&output)?,
            low_pass: output.number("low_pass")?,
            every: output.count("every")?,
            spectrum: output.section("spectrum")?.map(|own| spectrum::spectrum(&own)).transpose()?,
            sensor,
            output: name,
        });
    }
    Ok(columns)
}

/// Calibration of a column's numbers.
fn calibration(column: &Section<'_>) -> Result<Calibration> {
    let [scale, offset] = [column.number("scale")?, column.number("offset")?];
    Ok(Calibration::new(column.text("unit")?, scale, offset))
}

/// The files of an experiment: one, or a list of several.
fn files_of(section: &Section<'_>) -> Result<Option<(PathBuf, Vec<PathBuf>)>> {
    let names = match section.table.get("file") {
        Some(Value::Array(_)) => section.texts("file")?,
        _ => section.text("file")?.map(|name| vec![name]),
    };
    let Some(names) = names else { return Ok(None) };
    if let Some(k) = (1..names.len()).find(|k| names[..*k].contains(&names[*k])) {
        return Err(section.wrong("file", format!("`{}` is named twice", names[k]), "name each file once"));
    }
    let mut files = names.into_iter().map(|name| beside(section.file, &PathBuf::from(name)));
    match files.next() {
        Some(first) => Ok(Some((first, files.collect()))),
        None => Err(section.wrong("file", "the list is empty", "name at least one file")),
    }
}

/// Loss of residuals, by its name and its scale in deviations.
fn loss(section: &Section<'_>) -> Result<Option<Loss>> {
    let scale = section.number("loss_scale")?;
    match section.text("loss")? {
        Some(name) => {
            let made = Loss::named(&name, scale).map(Some);
            made.map_err(|error| section.at("", error.located(&section.place())))
        }
        None if scale.is_some() => {
            Err(section.wrong("loss_scale", "there is no loss that it belongs to", "add: loss = \"huber\""))
        }
        None => Ok(None),
    }
}

/// The standard deviation of an output's noise: a number, or how it is estimated.
fn deviation(output: &Section<'_>) -> Result<Option<Deviation>> {
    if !matches!(output.table.get("deviation"), Some(Value::String(_))) {
        return Ok(output.number("deviation")?.map(Deviation::Given));
    }
    output.named("deviation", |name| match name {
        "estimated" => Ok(Deviation::Estimated),
        "estimated-alone" => Ok(Deviation::EstimatedAlone),
        "estimated-correlated" => Ok(Deviation::EstimatedCorrelated),
        _ => {
            let known = ["estimated", "estimated-alone", "estimated-correlated", "a number"];
            Err(Error::unknown("kind of deviation", name, "", known))
        }
    })
}

fn experiment(number: usize, section: &Section<'_>, shared: &DataSource) -> Result<ExperimentSetting> {
    section.only(&[&keys::EXPERIMENT, &keys::DATA])?;
    let data = over(section, shared)?;
    if data.file.as_os_str().is_empty() {
        return Err(section.wrong("file", "the experiment has no data", "add: file = \"record.csv\""));
    }
    let mut parameters = Vec::new();
    if let Some(table) = section.section("parameters")? {
        for name in table_keys(table.table) {
            let Some(own) = table.section(&name)? else { continue };
            if let Some(key) = ["expr", "unit", "nominal"].into_iter().find(|key| own.table.contains_key(*key)) {
                let remedy = "say it in [parameters]; what differs by experiment is made local";
                return Err(own.wrong(key, "it is the same in all experiments", remedy));
            }
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
        number,
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
        Some(other) => {
            let error = Error::unknown("scale", other, section.place(), ["linear", "log"]);
            return Err(section.at("scale", error));
        }
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
    if section.table.contains_key("expr") {
        let others = keys::PARAMETER.names().filter(|key| *key != "expr");
        if let Some(key) = others.into_iter().find(|key| section.table.contains_key(*key)) {
            let remedy = "leave it out: what is said of parameters is said of those that the formula names";
            return Err(section.wrong(key, "the parameter follows from others, by `expr`", remedy));
        }
    }
    if section.table.contains_key("nominal") && !section.table.contains_key("unit") {
        let remedy = "give `start`; a new parameter has a `unit`, too";
        return Err(section.wrong("nominal", "the model knows the nominal values of its parameters", remedy));
    }
    let (prior, uniform) = section.section("prior")?.map_or(Ok((None, None)), |own| prior::prior(&own, section))?;
    Ok(ParameterSetting {
        prior,
        uniform,
        name: name.to_string(),
        start: section.number("start")?,
        lower: section.number("lower")?,
        upper: section.number("upper")?,
        scale,
        size: section.number("size")?,
        local: section.flag("local")?,
        start_column: section.text("start_column")?,
        free: free.or(fixed.map(|fixed| !fixed)),
        formula: section.text("expr")?,
        unit: section.text("unit")?,
        nominal: section.number("nominal")?,
    })
}
