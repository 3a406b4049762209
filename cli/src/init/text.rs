//! The text of a problem file: what is said is written, what could be said stands in comments.

use super::columns::{By, Columns, Mapped};
use super::{Source, beside};
use costate::cost::Quadrature;
use costate::noise::NoiseLevel;
use costate::shown::{number, shown};
use costate::{Parameter, Quantity, Scale, scheme};
use costate_identify::Result;
use costate_identify::problem_file::{Hint, LISTS, hints};
use costate_identify::registry::Entry;
use costate_identify::table::broken;
use std::path::Path;
use toml::Value;

/// Column at which comments behind a line begin.
const REMARKS: usize = 52;

/// The most characters of a line of prose.
const WIDTH: usize = 100;

/// The problem file of a model, with these records.
pub(super) fn write(entry: &Entry, sources: &[Source], out: &Path) -> Result<String> {
    let mut text = Text::default();
    head(&mut text, entry, out);
    data(&mut text, sources);
    integrator(&mut text, entry, sources)?;
    cost(&mut text, entry, sources);
    parameters(&mut text, entry)?;
    for section in
        ["candidate", "constraint", "mode", "response", "optimiser", "control", "control.signal", "control.goal"]
    {
        text.section(section, &[]);
    }
    Ok(text.0)
}

/// A line that is said: key, value, remark.
type Said = (String, String, String);

fn said(key: impl Into<String>, value: impl Into<String>, remark: impl Into<String>) -> Said {
    (key.into(), value.into(), remark.into())
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    fn remark(&mut self, line: &str, remark: &str) {
        match remark {
            "" => self.line(line),
            _ => {
                let rest = if line.starts_with('#') { "#" } else { "" };
                let begins = std::iter::once(line).chain(std::iter::repeat(rest));
                for (line, part) in begins.zip(broken(remark, WIDTH)) {
                    self.line(&format!("{line:<REMARKS$}  # {part}"));
                }
            }
        }
    }

    /// Prose in comments, broken at spaces; all lines but the first are indented.
    fn prose(&mut self, sentence: &str) {
        let mut line = String::from("#");
        for word in sentence.split(' ') {
            if line.chars().count() + 1 + word.chars().count() > WIDTH && line.len() > 1 {
                self.line(&line);
                line = "#  ".to_string();
            }
            line.push(' ');
            line.push_str(word);
        }
        self.line(&line);
    }

    fn header(&mut self, section: &str) -> String {
        self.line("");
        if LISTS.contains(&section) { format!("[[{section}]]") } else { format!("[{section}]") }
    }

    /// A section with what is said in it, and all else that could be.
    fn section(&mut self, section: &str, lines: &[Said]) {
        let header = self.header(section);
        self.line(&if lines.is_empty() { format!("# {header}") } else { header });
        self.said(lines);
        self.unsaid(section, lines);
    }

    fn said(&mut self, lines: &[Said]) {
        for (key, value, remark) in lines {
            match key.as_str() {
                "#" => self.prose(value),
                _ => self.remark(&format!("{key} = {value}"), remark),
            }
        }
    }

    /// The keys of a section that are not said, as comments.
    fn unsaid(&mut self, section: &str, lines: &[Said]) {
        let base = |key: &str| key.split('.').next().unwrap_or_default().to_string();
        let mut last = "";
        for Hint { key, line, meaning, .. } in hints(section) {
            // of several lines of one key, the first says what is said; the others are more of it
            let is_first = key != last;
            last = key;
            if !is_first || !lines.iter().any(|(said, ..)| base(said) == key) {
                self.remark(&format!("# {line}"), &meaning);
            }
        }
    }
}

/// A text as TOML has it.
fn quoted(text: &str) -> String {
    Value::String(text.to_string()).to_string()
}

/// A key as TOML has it.
fn bare(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(plain) { name.to_string() } else { quoted(name) }
}

fn list(quantities: &[Quantity]) -> String {
    quantities.iter().map(Quantity::to_string).collect::<Vec<_>>().join(", ")
}

fn head(text: &mut Text, entry: &Entry, out: &Path) {
    let signature = entry.system.signature();
    let (name, file) = (entry.name(), out.display());
    text.prose(&format!("{name}: {}", entry.summary));
    text.line("#");
    text.line(&format!("#   costate check {}", out.display()));
    text.line(&format!("#   costate identify {file}"));
    text.line("#");
    text.prose("Lines that begin with `# ` say what else can be said; a line that is left out leaves the default.");
    for (kind, quantities) in [
        ("coordinates", &signature.coordinates),
        ("states", &signature.states),
        ("inputs", &signature.inputs),
        ("outputs", &signature.outputs),
    ] {
        if !quantities.is_empty() {
            text.prose(&format!("{kind} of the model: {}", list(quantities)));
        }
    }
    let own = entry.files.first().map(|file| beside(out, file).to_string_lossy().into_owned());
    text.line(&format!("model = {}", quoted(own.as_deref().unwrap_or(name))));
}

fn data(text: &mut Text, sources: &[Source]) {
    match sources {
        [] => {
            text.section("data", &[]);
            text.section("experiment", &[]);
        }
        [one] => {
            let mut lines = described(one);
            lines.extend(file(one));
            lines.extend(mapping(&one.columns));
            lines.extend(window(one));
            text.section("data", &lines);
            text.section("experiment", &[]);
        }
        [first, others @ ..] => {
            let shared = mapping(&first.columns);
            let is_shared = others.iter().all(|other| mapping(&other.columns) == shared);
            let mut lines = vec![said("#", "what all experiments share", "")];
            lines.extend(shared.iter().filter(|_| is_shared).cloned());
            text.section("data", &lines);
            for (k, source) in sources.iter().enumerate() {
                let header = text.header("experiment");
                text.line(&header);
                let mut lines = described(source);
                lines.push(said("name", quoted(&source.name), ""));
                lines.extend(file(source));
                lines.push(said("validation", source.validation.to_string(), "true: compared, and not fitted"));
                lines.extend(mapping(&source.columns).into_iter().filter(|_| !is_shared));
                lines.extend(window(source));
                text.said(&lines);
                // once is enough
                if k == 0 {
                    text.unsaid("experiment", &lines);
                }
            }
        }
    }
}

/// Description of a record, in words.
fn described(source: &Source) -> Vec<Said> {
    let Columns { axis, names, .. } = &source.columns;
    let spacing = axis.spacing();
    let sentence = format!(
        "{}: {} samples from {} s to {} s, {spacing}; columns: {}",
        source.given.display(),
        axis.len(),
        shown(axis.start()),
        shown(axis.end()),
        names.join(", ")
    );
    vec![said("#", sentence, "")]
}

fn file(source: &Source) -> Vec<Said> {
    let remark = if source.file.is_relative() { "beside this file" } else { "" };
    vec![said("file", quoted(&source.file.display().to_string()), remark)]
}

/// Lines with the first and the last sample of a record.
fn window(source: &Source) -> Vec<Said> {
    let (from, until) = source.columns.known;
    vec![
        said("from", format!("{from:?}"), "s; the first sample that counts"),
        said("until", format!("{until:?}"), "s; the last one"),
    ]
}

/// Lines on which columns are what.
fn mapping(columns: &Columns) -> Vec<Said> {
    let mut lines = vec![said("time", quoted(&columns.time), columns.time_unit)];
    let unused = columns.unused();
    let left = match unused.as_slice() {
        [] => "no column is left".to_string(),
        names => format!("other columns: {}", names.join(", ")),
    };
    let mut add = |kind: &str, mapped: &[Mapped], setting: &str, remark: &dyn Fn(&Quantity) -> String| {
        for Mapped { quantity, column, refusal } in mapped {
            let key = format!("{kind}.{}", bare(&quantity.name));
            match (column, refusal) {
                (Some((name, by)), _) => {
                    let question = match by {
                        By::Name => "",
                        By::Likeness => "; by its likeness: is it?",
                        By::Unit => "; by its unit alone: is it?",
                    };
                    let value = format!("{{ column = {}, {setting} }}", quoted(name));
                    lines.push(said(key, value, remark(quantity) + question));
                }
                (None, Some(refusal)) => lines.push(said("#", format!("{kind} {quantity}: {refusal}"), "")),
                (None, None) => {
                    lines.push(said(
                        "#",
                        format!("no column for {} {quantity}; {left}", kind.trim_end_matches('s')),
                        "",
                    ));
                    lines.push(said("#", format!("{key} = {{ column = \"COLUMN\", {setting} }}"), ""));
                }
            }
        }
        if !mapped.is_empty() && mapped.iter().all(|m| m.column.is_none()) && kind == "inputs" {
            lines.push(said("inputs", "{}", "the built-in signals drive the model; give way to columns, if there are"));
        }
    };
    add("inputs", &columns.inputs, r#"interpolation = "linear""#, &|q| {
        format!("{}; zero-order, linear, cubic", q.unit)
    });
    let (deviation, otherwise) = match is_estimated(columns) {
        true => ("deviation = \"estimated\"", "or a number"),
        false => ("deviation = 1.0", "\"estimated\" finds it"),
    };
    add("outputs", &columns.outputs, deviation, &|q| format!("{}, of the noise; {otherwise}", q.unit));
    lines
}

/// True if the noise of outputs is to be estimated one by one: there are several, in units of their own.
fn is_estimated(columns: &Columns) -> bool {
    columns.outputs.len() > 1
}

fn integrator(text: &mut Text, entry: &Entry, sources: &[Source]) -> Result<()> {
    let scenario = &entry.scenario;
    let is_constrained = !entry.system.signature().constraints.is_empty();
    let mut scheme = scheme::by_name(&scenario.integrator.scheme, &scenario.integrator.settings)?;
    let is_uneven = sources.iter().any(|source| !source.columns.axis.is_even());
    let mut remark = "hht, hht-literal, newmark, trapezoidal, generalized-alpha, ali3p, i2p, bdf2";
    if is_uneven && scheme.description().on_uneven_steps[usize::from(is_constrained)].is_some() {
        scheme = scheme::by_name(scheme::for_uneven_steps(is_constrained), &[])?;
        remark = "which stands uneven steps of this model";
    }
    let mut lines = vec![said("scheme", quoted(scheme.name()), remark)];
    lines.extend(scheme.settings().into_iter().map(|(name, value)| said(name, format!("{value:?}"), "")));
    match sources {
        [] => {
            lines.push(said("step", format!("{:?}", scenario.step), "s"));
            lines.push(said("end", format!("{:?}", scenario.end), "s"));
        }
        _ => {
            let sentence = format!(
                "`identify` chooses the time steps; those of the built-in problem are {} s",
                shown(scenario.step)
            );
            lines.push(said("#", sentence, ""));
        }
    }
    let start = &scenario.integrator;
    lines.push(said("initial_state", quoted(start.initial_state.name()), "as-given, projected, equilibrium"));
    if !start.hold.is_empty() {
        let names: Vec<String> = start.hold.iter().map(|name| quoted(name)).collect();
        lines.push(said("hold", format!("[{}]", names.join(", ")), ""));
    }
    text.section("integrator", &lines);
    Ok(())
}

fn cost(text: &mut Text, entry: &Entry, sources: &[Source]) {
    let scenario = &entry.scenario;
    // residuals of measurements are summed plainly
    let quadrature = if sources.is_empty() { scenario.quadrature } else { Quadrature::Unit };
    let weights = match quadrature {
        Quadrature::Rectangle => "rectangle",
        Quadrature::Trapezoid => "trapezoid",
        Quadrature::Unit => "unit",
    };
    let mut lines = vec![said("weights", quoted(weights), "of samples: unit, rectangle, trapezoid")];
    if !sources.iter().any(|source| is_estimated(&source.columns)) {
        let remark = "given: `deviation` is the standard deviation of the noise";
        lines.push(said("noise", quoted("estimated"), remark));
    }
    if sources.is_empty() {
        let outputs: Vec<String> = scenario.outputs.iter().map(|name| quoted(name)).collect();
        lines.push(said("outputs", format!("[{}]", outputs.join(", ")), "what is compared"));
        if let Some(noise) = &scenario.noise {
            let level = match &noise.level {
                NoiseLevel::Relative(part) => format!("{part:?}"),
                NoiseLevel::Absolute(levels) => {
                    let levels: Vec<String> =
                        levels.iter().map(|(name, value)| format!("{} = {value:?}", bare(name))).collect();
                    format!("{{ {} }}", levels.join(", "))
                }
            };
            let value = format!("{{ seed = {}, level = {level} }}", noise.seed);
            lines.push(said("synthetic_noise", value, "on the simulated reference"));
        }
    }
    text.section("cost", &lines);
}

fn parameters(text: &mut Text, entry: &Entry) -> Result<()> {
    let start = entry.start(&entry.scenario)?;
    let header = text.header("parameters");
    text.line(&header);
    for (parameter, start) in entry.system.signature().parameters.iter().zip(start) {
        let Parameter { name, unit, nominal, lower, upper, scale, free, size } = parameter;
        let mut parts = vec![format!("start = {start:?}")];
        parts.extend(lower.is_finite().then(|| format!("lower = {lower:?}")));
        parts.extend(upper.is_finite().then(|| format!("upper = {upper:?}")));
        parts.extend((*scale == Scale::Log).then(|| r#"scale = "log""#.to_string()));
        parts.extend(size.map(|size| format!("size = {size:?}")));
        parts.push(format!("free = {free}"));
        let line = format!("{} = {{ {} }}", bare(name), parts.join(", "));
        text.remark(&line, &format!("{unit}; nominal {}", number(*nominal)));
    }
    text.unsaid("parameters", &[]);
    Ok(())
}
