//! Problem files: a [`Specification`] in TOML.
//!
//! ```toml
//! model = "silverbox"
//!
//! [data]
//! file = "multisine.csv"        # beside this file
//! time = "t"                    # default: t or time
//! interpolation = "cubic"       # of inputs matched by name: zero-order, linear, cubic
//! from = 0.0                    # s; default: the whole record
//! until = 10.0
//! # split = "segment"           # rows of one number in this column, one after another, are an experiment of their own
//! inputs.u = { column = "u", interpolation = "cubic" }    # default: columns named like inputs, `u` or `u [V]`
//! outputs.y = { column = "y", deviation = 1e-3 }          # default: columns named like outputs
//! # outputs.y = { deviation = "estimated" }               # found with the parameters, one for all experiments that say so;
//! #                                                       # "estimated-alone": each its own
//!
//! [integrator]
//! scheme = "hht"                # or hht-literal, newmark, trapezoidal, generalized-alpha, ali3p, i2p, bdf2
//! alpha = 0.0                   # a setting alone names its scheme, too
//! substeps = 16                 # or step = 1.024e-4
//! # end = 10.0                  # s; with a record it must be the record's
//! initial_state = "as-given"    # or projected (onto the constraints), equilibrium (at rest, forces in balance)
//! # hold = ["crank.angle"]      # coordinates that a projected start keeps while it moves the others
//!
//! [cost]
//! weights = "unit"              # or rectangle, trapezoid
//! # loss = "huber"              # or soft-l1: outliers pull with limited force; also of one output, in [data.outputs.NAME]
//! # loss_scale = 1.345          # in deviations: residuals beyond it are outliers
//! # outputs = ["y"]             # what is compared; only without [data]
//! noise = "estimated"           # or given: deviations are standard deviations of the noise
//! # synthetic_noise = { seed = 1, level = 0.01 }           # on a simulated reference: part of each output's spread,
//! # synthetic_noise = { seed = 1, level = { y = 1e-3 } }   # or in the output's unit; only without [data]
//!
//! [parameters]
//! m = { start = 4e-6, lower = 1e-9, scale = "log" }
//! k3 = { start = 3.0, upper = 10.0 }
//! offset = { fixed = true }     # or free = true; size = 1e-3: a change that matters, where the start is zero
//! c = { prior = { normal = [40.0, 2.0] } }        # mean, deviation; or log-normal = [40.0, 1.05]: median, factor; or
//!                                                 # uniform = [30.0, 50.0], which is bounds
//! x0 = { local = true, start_column = "x" }    # every experiment has its own, called x0@NAME; from the column's first sample
//!
//! [[experiment]]                # in the place of one [data], which says what they share; all its keys, and:
//! name = "slow"                 # default: that of the file
//! file = "slow.csv"
//! initial_state = "equilibrium" # also hold
//! weight = 2.0                  # of its residuals beside those of others
//! parameters.x0 = { start = 0.1 }    # of its local parameters
//!
//! [[experiment]]
//! file = "another_day.csv"
//! validation = true             # compared with the result, and not fitted
//!
//! [[constraint]]
//! name = "stiffness at 1 V"     # for reports
//! sum = { k1 = 1.0, k3 = 1.0 }  # weights of parameters
//! equals = 4.6                  # or at_most, at_least, or both of these
//! unit = "V/V"                  # default: that of the parameters
//!
//! [[constraint]]
//! output = "y"                  # at every time, each with its own multiplier
//! at_most = 0.3                 # also at_least, equals
//! from = 0.1                    # s; default: the whole time
//! until = 0.4                   # or time = "end"
//!
//! [[constraint]]
//! rule = "m <= 1e-5"            # as on the command line: "a + 2 b = 3", "peak y <= 0.3", "y = 0 at end"
//!
//! [optimiser]
//! method = "bfgs"               # lm, gauss-newton, l-bfgs, ding, newton-tr, dfp, steepest-descent, steepest-descent-fixed
//! max_evaluations = 500         # also max_iterations, cost_target; gradient_tolerance, cost_tolerance,
//!                               # step_tolerance (MINPACK's gtol, ftol, xtol)
//! constraint_tolerance = 1e-8   # relative to a constraint's size; also penalty, the first one in units of the cost
//! ```
//!
//! For `costate control`, inputs that are to be found and goals for outputs:
//!
//! ```toml
//! [[control.signal]]
//! input = "F"
//! size = 100.0                  # its magnitude; also start, intervals, shape, lower, upper, rate, effort, about, smoothness
//!
//! [[control.goal]]
//! output = "phi1"
//! reach = 3.141592653589793     # at the end; or lower, upper (soft limits), or follow = "path.csv" and column; also weight,
//!                               # must = true
//! ```

mod constraint;
mod control;
mod prior;
mod section;

use section::{Section, table_keys};

use crate::cost::{Loss, Quadrature};
use crate::error::{Error, Result};
use crate::files;
use crate::noise::{NoiseLevel, SyntheticNoise};
use crate::optimise;
use crate::scheme;
use crate::signature::Scale;
use crate::specification::{
    DataSource, Deviation, ExperimentSetting, InputColumn, OutputColumn, ParameterSetting, Specification, beside,
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
    root.only(&[
        "model",
        "data",
        "integrator",
        "cost",
        "parameters",
        "constraint",
        "experiment",
        "optimiser",
        "control",
    ])?;
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
        specification.constraints.push(constraint::constraint(&constraint)?);
    }
    if let Some(optimiser) = root.section("optimiser")? {
        self::optimiser(&optimiser, &mut specification)?;
    }
    Ok(specification)
}

fn integrator(integrator: &Section<'_>, specification: &mut Specification) -> Result<()> {
    let settings = scheme::settings();
    let own = ["scheme", "step", "substeps", "end", "initial_state", "hold"];
    integrator.only(&[&own[..], &settings].concat())?;
    for name in settings {
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
    cost.only(&["weights", "outputs", "noise", "synthetic_noise", "loss", "loss_scale"])?;
    specification.loss = loss(cost)?;
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
    optimiser.only(&[
        "method",
        "max_evaluations",
        "max_iterations",
        "cost_target",
        "gradient_tolerance",
        "cost_tolerance",
        "step_tolerance",
        "constraint_tolerance",
        "penalty",
    ])?;
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
    section.only(&DATA_KEYS)?;
    over(section, &DataSource::default())
}

/// Keys of a record.
const DATA_KEYS: [&str; 8] = ["file", "time", "interpolation", "split", "from", "until", "inputs", "outputs"];

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
            input.only(&["column", "interpolation"])?;
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
            output.only(&["column", "deviation", "loss", "loss_scale"])?;
            columns.push(OutputColumn {
                column: output.text("column")?.unwrap_or_else(|| name.clone()),
                deviation: deviation(&output)?,
                loss: loss(&output)?,
                output: name,
            });
        }
        source.outputs = Some(columns);
    }
    Ok(source)
}

/// What residuals cost, by its name and its scale in deviations.
fn loss(section: &Section<'_>) -> Result<Option<Loss>> {
    let scale = section.number("loss_scale")?;
    match section.text("loss")? {
        Some(name) => Loss::named(&name, scale).map(Some).map_err(|error| error.located(&section.place())),
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
        _ => Err(Error::unknown("kind of deviation", name, "", ["estimated", "estimated-alone", "a number"])),
    })
}

fn experiment(section: &Section<'_>, shared: &DataSource) -> Result<ExperimentSetting> {
    let own = ["name", "validation", "weight", "initial_state", "hold", "parameters"];
    section.only(&[&own[..], &DATA_KEYS].concat())?;
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
    section.only(&["seed", "level"])?;
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
    section.only(&["start", "start_column", "lower", "upper", "scale", "size", "fixed", "free", "local", "prior"])?;
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
    })
}
