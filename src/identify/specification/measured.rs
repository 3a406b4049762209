//! From a record to a simulation with its inputs and a comparison with its outputs.

use super::record::{time_column, window};
use super::sensors;
use super::{DataSource, Deviation, InputColumn, OutputColumn, Specification};
use crate::columns::{self, Column};
use crate::cost::{LeastSquares, Quadrature, Reference};
use crate::data::{Record, TimeAxis};
use crate::error::{Error, Result};
use crate::grid::{self, TimeGrid};
use crate::problem::Integrator;
use crate::registry::{Entry, Scenario};
use crate::scheme;
use crate::shown::shown;
use crate::signal::{Interpolation, Signal};
use crate::signature::{Quantity, Signature};
use crate::simulate::Simulation;
use std::ops::Range;
use std::path::Path;

/// What a record gives.
pub(super) struct Measured {
    pub simulation: Simulation,
    /// The comparison, if there is something to compare.
    pub cost: Option<LeastSquares>,
    /// The samples that are meant.
    pub window: Range<usize>,
}

impl Specification {
    /// That none of the record's `columns` is named like an output.
    pub(super) fn nothing_to_compare(entry: &Entry, source: &DataSource, columns: &[String]) -> Error {
        let signature = entry.system.signature();
        let names = |names: Vec<&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let problem = format!(
            "no column is named like an output of {} ({}); there are: {}",
            signature.place(),
            names(signature.outputs.iter().map(|q| &q.name).collect()),
            names(columns.iter().collect())
        );
        let remedy = "rename a column, or map it in a problem file: [data.outputs.NAME] column = ..";
        Error::file(&source.file, None, problem, remedy)
    }

    /// A simulation with the record's inputs, and the comparison with its outputs if it has any.
    pub(super) fn measured(
        &self,
        (entry, scenario): (&Entry, &Scenario),
        source: &DataSource,
        record: &Record,
        notes: &mut Vec<String>,
    ) -> Result<Measured> {
        let signature = entry.system.signature();
        let mut reading = Reading::begin(signature, source, record)?;
        reading.used.extend(self.parameters.iter().filter_map(|setting| setting.start_column.as_deref()));
        self.check_end(&reading)?;
        let (axis, window) = (reading.axis.clone(), reading.window.clone());
        let times = &axis.times()[window.clone()];
        let grid = self.grid(&axis, times, &source.file)?;
        let substeps = grid.count() / (times.len() - 1);
        let mut signals = scenario.signals.clone();
        let inputs = reading.inputs(&mut signals)?;
        let mut gaps = Vec::new();
        let (outputs, references) = reading.references(&mut gaps)?;
        notes.extend(reading.undriven(&inputs)?);
        notes.push(reading.describe(&inputs, &outputs));
        notes.append(&mut gaps);
        notes.extend(reading.unlike_units(&outputs, &references));
        let integrator = self.integrator(scenario, &grid, !signature.constraints.is_empty(), notes)?;
        let simulation = integrator.simulation(entry.system.clone(), grid, signals)?;
        if references.is_empty() {
            return Ok(Measured { simulation, cost: None, window });
        }
        // residuals of measurements are summed plainly, unless asked otherwise
        let quadrature = self.quadrature.unwrap_or(Quadrature::Unit);
        let sensors = self.sensors(signature, &outputs, &references, &axis)?;
        let mut cost = LeastSquares::new(times, references, substeps, quadrature)?.with_sensors(sensors, times)?;
        notes.extend(sensors::remarks(signature, &cost, times));
        cost = cost.with_loss(None, self.loss.unwrap_or_default());
        for OutputColumn { output, loss, .. } in &outputs {
            if let Some(loss) = loss {
                cost = cost.with_loss(Some(signature.output_index(output)?), *loss);
            }
        }
        Ok(Measured { simulation, cost: Some(cost), window })
    }

    /// That the record ends where the simulation is asked to end.
    fn check_end(&self, reading: &Reading<'_>) -> Result<()> {
        let Some(end) = self.end else { return Ok(()) };
        let last = reading.axis.times()[reading.window.end - 1];
        let gap = (end - last) / reading.axis.mean_step();
        if gap.abs() <= 1e-3 {
            return Ok(());
        }
        let relation = if gap > 0.0 { "ends before the simulation" } else { "goes on after the simulation" };
        let problem = format!("the record {relation}: at {last} s against {end} s");
        let remedy = "leave out `end`, or choose the samples with `from` and `until`";
        Err(Error::file(&reading.source.file, None, problem, remedy))
    }

    /// The integrator: where nobody has named one and steps are uneven, one that stands them.
    fn integrator(
        &self,
        scenario: &Scenario,
        grid: &TimeGrid,
        constrained: bool,
        notes: &mut Vec<String>,
    ) -> Result<Integrator> {
        let mut integrator = scenario.integrator.clone();
        let is_free = self.scheme.is_none() && self.scheme_settings.is_empty() && grid.uniform_step().is_none();
        let own = scheme::by_name(&integrator.scheme, &integrator.settings)?;
        if let Some(trouble) = own.description().on_uneven_steps[usize::from(constrained)].filter(|_| is_free) {
            let other = scheme::for_uneven_steps(constrained);
            integrator.choose(Some(other), &[])?;
            notes.push(format!("steps are uneven, and under {} {trouble}: taking {other}", own.name()));
        }
        Ok(integrator)
    }

    /// The time grid through the samples.
    fn grid(&self, axis: &TimeAxis, times: &[f64], file: &Path) -> Result<TimeGrid> {
        let substeps = match (self.substeps, self.step) {
            (Some(0), _) => {
                let problem = "there are 0 between two samples";
                return Err(Error::invalid("substeps", problem, "use at least 1"));
            }
            (Some(substeps), None) => substeps,
            (None, None) => self.found_substeps.unwrap_or(1).max(1),
            (substeps, Some(step)) => {
                if !(step.is_finite() && step > 0.0) {
                    let problem = format!("{step} s is not positive");
                    return Err(Error::invalid("the time step", problem, "give a step > 0"));
                }
                let sampling = axis.sampling_step().map_err(|error| match error {
                    Error::File { path, line, problem, .. } => {
                        let remedy = "give `substeps` (steps between two samples) instead of a step, or resample";
                        Error::File { path, line, problem, remedy: remedy.to_string() }
                    }
                    other => other,
                })?;
                let ratio = sampling / step;
                let whole = ratio.round();
                if whole < 1.0 || (ratio - whole).abs() > 1e-6 * whole {
                    let problem =
                        format!("{step} s does not divide the sampling step {sampling} s of {}", file.display());
                    let fitting = sampling / ratio.ceil().max(1.0);
                    let remedy = format!("use {fitting} s, or give `substeps` (steps between two samples)");
                    return Err(Error::invalid("the time step", problem, remedy));
                }
                if substeps.is_some_and(|substeps| substeps as f64 != whole) {
                    let problem = format!("{step} s is {whole} substeps of the sampling step {sampling} s");
                    return Err(Error::invalid("`step` and `substeps`", problem, "give only one of them"));
                }
                whole as usize
            }
        };
        let what = format!("{substeps} steps between two of {} samples", times.len());
        grid::check_count((times.len() - 1) as f64 * substeps as f64, &what, "use fewer")?;
        if axis.is_even() {
            let count = (times.len() - 1) * substeps;
            return TimeGrid::steps(times[0], axis.mean_step() / substeps as f64, count);
        }
        TimeGrid::through(times, substeps)
    }
}

/// A record that is being read for a model.
struct Reading<'a> {
    signature: &'a Signature,
    source: &'a DataSource,
    record: &'a Record,
    axis: TimeAxis,
    /// The samples that are meant.
    window: Range<usize>,
    /// Columns that have been used.
    used: Vec<&'a str>,
}

impl<'a> Reading<'a> {
    fn begin(signature: &'a Signature, source: &'a DataSource, record: &'a Record) -> Result<Self> {
        let time = time_column(record, source)?;
        let axis = record.time(time)?;
        let window = window(&axis, source)?;
        let used = std::iter::once(time).chain(source.split.as_deref()).collect();
        Ok(Reading { signature, source, record, axis, window, used })
    }

    /// Quantities that a column is named like.
    fn named_like(&self, quantities: &[Quantity]) -> Result<Vec<String>> {
        let find = |q: &Quantity| columns::find(self.record, &self.source.file, &q.name, &q.unit);
        let found = quantities.iter().map(|q| Ok(find(q)?.map(|_| q.name.clone())));
        found.filter_map(Result::transpose).collect()
    }

    /// Lets columns drive inputs.
    fn inputs(&mut self, signals: &mut [Signal]) -> Result<Vec<InputColumn>> {
        let (file, signature) = (&self.source.file, self.signature);
        let inputs = match &self.source.inputs {
            Some(inputs) => inputs.clone(),
            None => {
                let interpolation = self.source.interpolation.unwrap_or(Interpolation::Linear);
                let column = |name: String| InputColumn { input: name.clone(), column: name, interpolation };
                self.named_like(&signature.inputs)?.into_iter().map(column).collect()
            }
        };
        for InputColumn { input, column, interpolation } in &inputs {
            let k = signature.input_index(input)?;
            let Column { name, values } = columns::get(self.record, file, column, &signature.inputs[k].unit)?;
            signals[k] = Signal::sampled(self.axis.times(), values, *interpolation).map_err(|error| match error {
                Error::Invalid { problem, remedy, .. } => {
                    Error::file(file, None, format!("column `{name}` for input `{input}`: {problem}"), remedy)
                }
                other => other,
            })?;
            self.used.push(name);
        }
        Ok(inputs)
    }

    /// What outputs are compared with; and what is missing there.
    fn references(&mut self, gaps: &mut Vec<String>) -> Result<(Vec<OutputColumn>, Vec<Reference>)> {
        let (file, signature) = (&self.source.file, self.signature);
        let outputs = match &self.source.outputs {
            Some(outputs) => outputs.clone(),
            None => {
                let column = |name: String| OutputColumn {
                    output: name.clone(),
                    column: name,
                    deviation: None,
                    loss: None,
                    sensor: Vec::new(),
                    low_pass: None,
                    every: None,
                };
                self.named_like(&signature.outputs)?.into_iter().map(column).collect()
            }
        };
        let mut references = Vec::new();
        for OutputColumn { output, column, deviation, low_pass, .. } in &outputs {
            let k = signature.output_index(output)?;
            // one that is estimated begins with the spread of the data, which the problem of all experiments knows
            let deviation = if let Some(Deviation::Given(deviation)) = deviation { *deviation } else { 1.0 };
            if !(deviation.is_finite() && deviation > 0.0) {
                let problem = format!("residuals cannot be divided by {deviation}");
                return Err(Error::invalid(format!("deviation of output `{output}`"), problem, "give one > 0"));
            }
            let Column { name, values } =
                columns::get_with_gaps(self.record, file, column, &signature.outputs[k].unit)?;
            self.used.push(name);
            let values = values[self.window.clone()].to_vec();
            let missing = values.iter().filter(|value| value.is_nan()).count();
            if missing > 0 {
                let count = values.len();
                gaps.push(format!("{missing} of {count} samples of `{name}` are missing, and take part nowhere"));
            }
            // a filter would spread what are no jumps
            let values = match low_pass {
                Some(_) => signature.outputs[k].unwrapped(values),
                None => values,
            };
            references.push(Reference { output: k, values, deviation });
        }
        Ok((outputs, references))
    }

    fn unused(&self) -> String {
        let unused = self.record.names().iter().filter(|name| !self.used.contains(&name.as_str()));
        unused.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// Inputs without a column: a note on each, if that is meant.
    fn undriven(&self, inputs: &[InputColumn]) -> Result<Vec<String>> {
        let without = self.signature.inputs.iter().filter(|q| !inputs.iter().any(|column| column.input == q.name));
        let note = |Quantity { name, .. }: &Quantity| {
            if self.source.inputs.is_some() {
                return Ok(format!("no column drives input `{name}`: the model's own signal does"));
            }
            let unused = self.unused();
            let left = if unused.is_empty() { String::new() } else { format!(" (columns without use: {unused})") };
            let remedy = format!(
                "rename a column, or map it in a problem file: [data.inputs.{name}] column = ..; with an empty \
                 [data.inputs] the model's own signal drives it"
            );
            Err(Error::file(&self.source.file, None, format!("no column drives input `{name}`{left}"), remedy))
        };
        without.map(note).collect()
    }

    /// What was read, in one line.
    fn describe(&self, inputs: &[InputColumn], outputs: &[OutputColumn]) -> String {
        let (axis, times, unused) = (&self.axis, &self.axis.times()[self.window.clone()], self.unused());
        let list = |names: Vec<String>| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        format!(
            "{}: {} samples from {} s to {} s, {}; inputs: {}; compared: {}; columns without use: {}",
            self.source.file.display(),
            times.len(),
            shown(times[0]),
            shown(times[times.len() - 1]),
            if axis.is_even() { format!("{} s apart", shown(axis.mean_step())) } else { "unevenly spaced".to_string() },
            list(inputs.iter().map(|c| format!("{} from `{}` ({})", c.input, c.column, c.interpolation)).collect()),
            list(outputs.iter().map(|c| format!("{} with `{}`", c.output, c.column)).collect()),
            if unused.is_empty() { "none" } else { &unused },
        )
    }

    /// That residuals in different units are added up, if nobody has weighed them.
    fn unlike_units(&self, outputs: &[OutputColumn], references: &[Reference]) -> Option<String> {
        let units: Vec<&str> = references.iter().map(|r| self.signature.outputs[r.output].unit.as_str()).collect();
        let is_plain = outputs.iter().all(|c| c.deviation.is_none_or(|deviation| deviation == Deviation::Given(1.0)));
        if !is_plain || units.iter().all(|unit| *unit == units[0]) {
            return None;
        }
        let first = |&(k, unit): &(usize, &&str)| !units[..k].contains(unit);
        let units: Vec<&str> = units.iter().enumerate().filter(first).map(|(_, unit)| *unit).collect();
        Some(format!(
            "residuals in {} are added up as plain numbers: give each output its `deviation`, or `deviation = \"estimated\"`, in a problem file",
            units.join(" and ")
        ))
    }
}
