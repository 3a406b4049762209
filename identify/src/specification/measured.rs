//! Simulation with the inputs of a record, and comparison with its outputs.

use super::gaps::Driver;
use super::recording::{Recording, RecordingFile};
use super::sampled_steps::{met, read_at};
use super::scenario::steps_in_words;
use super::sensors::{self, Effect};
use super::{DataSource, Deviation, InputColumn, OutputColumn, Specification, SpectrumSetting};
use crate::error::Locate;
use crate::problem::Integrator;
use crate::registry::{Entry, Scenario};
use crate::statistics::told_of_input;
use crate::{Error, Result};
use costate::adapt::StepControl;
use costate::cost::{LeastSquares, Quadrature, Reference, Sensors};
use costate::shown::{rounded, shown};
use costate::{Interpolation, Quantity, Signal, Signature, Simulation, TimeGrid};
use costate_data::Record;
use costate_data::columns::{self, Calibration, Column, Sought};
use costate_data::header;

/// Something of a file of an experiment, by the file's place.
pub(super) type OfFile<T> = (usize, T);

/// Simulation and comparison that a record gives.
pub(super) struct Measured<'a> {
    pub simulation: Simulation,
    /// The comparison, if there is something to compare.
    pub cost: Option<LeastSquares>,
    /// Files that both are from.
    pub recording: Recording<'a>,
}

impl Specification {
    /// Error for `records` of which no column is named like an output.
    pub(super) fn nothing_to_compare(entry: &Entry, source: &DataSource, records: &[Record]) -> Error {
        let signature = entry.system.signature();
        let left_out = |record: &&Record| signature.outputs.iter().find(|q| record.left_out(&q.name).is_some());
        if let Some((record, output)) = records.iter().find_map(|record| Some((record, left_out(&record)?))) {
            return columns::missing(record, &source.file, &output.name).into();
        }
        let names = |names: Vec<&String>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let problem = format!(
            "no column is named like an output of {} ({}); there are: {}",
            signature.place(),
            names(signature.outputs.iter().map(|q| &q.name).collect()),
            names(records.iter().flat_map(Record::names).collect())
        );
        let remedy = "rename a column, or map it in a problem file: [data.outputs.NAME] column = ..";
        Error::file(&source.file, None, problem, remedy)
    }

    /// A simulation with the inputs of a source's `records`, and the comparison with their outputs if they have any.
    pub(super) fn measured<'a>(
        &'a self,
        (entry, scenario): (&'a Entry, &Scenario),
        source: &'a DataSource,
        records: &'a [Record],
        notes: &mut Vec<String>,
    ) -> Result<Measured<'a>> {
        let signature = entry.system.signature();
        let mut reading = Reading::begin(signature, source, records)?;
        reading.used.extend(self.start_columns(&reading.recording));
        let mut signals = scenario.signals.clone();
        let (inputs, drivers) = reading.inputs(&mut signals)?;
        let known = |driver: &Driver| driver.known(&reading.recording.parts[driver.part].axis);
        let known: Vec<(f64, f64)> = drivers.iter().map(known).collect();
        let bound = if source.from.is_some() { "from" } else { "until" };
        reading.recording.choose(source, &known).map_err(|error| error.under(&[bound]))?;
        let mut of_inputs = Vec::new();
        drivers.iter().try_for_each(|driver| driver.check(source, &reading.recording, &mut of_inputs))?;
        self.check_end(&reading)?;
        let grid = self.grid(&reading.recording).map_err(|error| error.under(&["integrator"]))?;
        let mut gaps = Vec::new();
        let (outputs, references) = match self.cost.is_empty() {
            true => reading.references(&mut gaps)?,
            false => (Vec::new(), Vec::new()),
        };
        if let (false, Some(output)) = (self.cost.is_empty(), source.outputs.iter().flatten().next()) {
            let what = format!("output `{}`", output.output);
            let error = Error::invalid(what, "it is compared, and the cost is a formula", "leave one of them out");
            return Err(error.under(&["outputs", &output.output]));
        }
        notes.extend(reading.recording.beyond(source));
        notes.extend(reading.undriven(&inputs)?);
        notes.extend(reading.describe(&inputs, &outputs));
        notes.append(&mut of_inputs);
        notes.extend(self.through_gaps(&reading.recording)?);
        notes.append(&mut gaps);
        notes.extend(reading.unlike_units(&outputs, &references));
        let integrator = self.integrator(scenario, &grid, !signature.constraints.is_empty(), notes)?;
        let made = integrator.simulation(entry.system.clone(), grid, signals);
        let times = reading.recording.times();
        let made = made.and_then(|simulation| match self.tolerance {
            Some(_) => self.controlled((entry, scenario), simulation, times, notes),
            None if self.meets_samples(&reading.recording) => Ok(simulation),
            None => read_at(times, &simulation, notes),
        });
        let simulation = made.map_err(|error| error.under(&["integrator"]))?;
        if references.is_empty() {
            return Ok(Measured { simulation, cost: None, recording: reading.recording });
        }
        let cost = self.cost((&simulation, &reading.recording), &outputs, references)?;
        notes.extend(sensors::remarks(signature, &cost, reading.recording.times()));
        Ok(Measured { simulation, cost: Some(cost), recording: reading.recording })
    }

    /// Simulation with the steps of a tolerance, if there is one, read at all samples.
    fn controlled(
        &self,
        (entry, scenario): (&Entry, &Scenario),
        simulation: Simulation,
        times: &[f64],
        notes: &mut Vec<String>,
    ) -> Result<Simulation> {
        let Some(tolerance) = self.tolerance else { return Ok(simulation) };
        let control = StepControl { tolerance, smallest: None };
        let chosen = simulation.controlled(&self.start_values(entry, scenario)?, control, times);
        let controlled = chosen.map_err(|error| error.under(&["tolerance"]))?;
        notes.push(steps_in_words(&controlled));
        Ok(controlled.simulation)
    }

    /// The comparison of `outputs`, each of a part, with what was measured.
    fn cost(
        &self,
        (simulation, recording): (&Simulation, &Recording<'_>),
        outputs: &[OfFile<OutputColumn>],
        references: Vec<Reference>,
    ) -> Result<LeastSquares> {
        let signature = simulation.signature();
        let is_met = self.meets_samples(recording) && self.through_gaps(recording)?.is_none();
        let substeps = if is_met { simulation.grid().count() / (recording.times().len() - 1) } else { 1 };
        // residuals of measurements are summed plainly, unless asked otherwise
        let quadrature = self.quadrature.unwrap_or(Quadrature::Unit);
        let (times, several) = (recording.times(), recording.parts.len() > 1);
        if several && quadrature != Quadrature::Unit {
            let problem =
                "each file of an experiment has times of its own, which no integral over all of them weights rightly";
            return Err(Error::invalid("`weights` of [cost]", problem, "leave it out: weights = \"unit\""));
        }
        let sensors = self.sensors(simulation, outputs, &references, recording)?;
        let of = |references: Vec<Reference>, sensors: Sensors| {
            let places = |reference: &Reference| {
                let own = outputs.iter().find(|(_, own)| signature.outputs[reference.output].name == own.output);
                own.map_or_else(Vec::new, |(part, _)| recording.parts[*part].places.clone())
            };
            let own_samples = several.then(|| references.iter().map(places).collect());
            let mut cost = LeastSquares::new(times, references, substeps, quadrature)?;
            if !is_met {
                cost = cost.with_samples_at(met(simulation.grid(), times))?;
            }
            if let Some(own_samples) = own_samples {
                cost = cost.with_own_samples(own_samples)?;
            }
            cost.with_sensors(sensors, times)
        };
        for sensor in sensors.all() {
            // one at a time, to know which is refused
            let own = references.iter().filter(|reference| reference.output == sensor.output).cloned().collect();
            let alone = Sensors::new(vec![sensor.clone()]).and_then(|alone| of(own, alone));
            let output = &signature.outputs[sensor.output].name;
            alone.map_err(|error| error.under(&["outputs", output]))?;
        }
        let mut cost = of(references, sensors)?.with_loss(None, self.loss.unwrap_or_default());
        for (_, OutputColumn { output, loss, .. }) in outputs {
            if let Some(loss) = loss {
                cost = cost.with_loss(Some(signature.output_index(output)?), *loss);
            }
        }
        Ok(cost)
    }

    /// Columns that parameters start from, with their parts.
    fn start_columns<'a>(&'a self, recording: &Recording<'a>) -> Vec<(usize, &'a str)> {
        let names = self.parameters.iter().filter_map(|setting| setting.start_column.as_deref());
        names.flat_map(|name| (0..recording.parts.len()).map(move |part| (part, name))).collect()
    }

    /// Checks that the record ends where the simulation is asked to end.
    fn check_end(&self, reading: &Reading<'_>) -> Result<()> {
        let Some(end) = self.end else { return Ok(()) };
        let times = reading.recording.times();
        let last = times[times.len() - 1];
        let gap = (end - last) / reading.recording.axis.mean_step();
        if gap.abs() <= 1e-3 {
            return Ok(());
        }
        let relation = if gap > 0.0 { "ends before the simulation" } else { "goes on after the simulation" };
        let problem = format!("the record {relation}: at {last} s against {end} s");
        let remedy = "leave out `end`, or choose the samples with `from` and `until`";
        Err(Error::file(&reading.source.file, None, problem, remedy).under(&["integrator", "end"]))
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
        if grid.uniform_step().is_none() || self.tolerance.is_some() {
            self.stand_uneven_steps(&mut integrator, constrained, notes)?;
        }
        Ok(integrator)
    }
}

/// State of reading records for a model.
struct Reading<'a> {
    signature: &'a Signature,
    source: &'a DataSource,
    recording: Recording<'a>,
    /// Columns that have been used, with their parts.
    used: Vec<(usize, &'a str)>,
    /// Names of all inputs and outputs.
    names: Vec<String>,
    /// Conversions of columns' numbers, in sentences.
    converted: Vec<String>,
}

impl<'a> Reading<'a> {
    fn begin(signature: &'a Signature, source: &'a DataSource, records: &'a [Record]) -> Result<Self> {
        let recording = Recording::begin(source, records)?;
        let times = recording.parts.iter().map(|part| part.time).enumerate();
        let used = times.chain(source.split.as_deref().map(|name| (0, name))).collect();
        let names = signature.inputs.iter().chain(&signature.outputs).map(|quantity| quantity.name.clone()).collect();
        let converted = recording.notes.clone();
        Ok(Reading { signature, source, recording, used, names, converted })
    }

    /// Quantities that a column is named like.
    fn named_like(&self, quantities: &[Quantity]) -> Result<Vec<String>> {
        let find = |q: &Quantity| {
            self.recording.find(&Sought { others: &self.names, ..Sought::named(&q.name, &q.unit) }, None)
        };
        let found = quantities.iter().map(|q| Ok(find(q)?.map(|_| q.name.clone())));
        found.filter_map(Result::transpose).collect()
    }

    /// Lets columns drive inputs; each with its part, and with what it is driven by.
    fn inputs(&mut self, signals: &mut [Signal]) -> Result<(Vec<OfFile<InputColumn>>, Vec<Driver>)> {
        let signature = self.signature;
        let inputs = match &self.source.inputs {
            Some(inputs) => inputs.clone(),
            None => {
                let interpolation = self.source.interpolation.unwrap_or(Interpolation::Linear);
                let column = |name: String| InputColumn {
                    input: name.clone(),
                    column: name,
                    file: None,
                    interpolation,
                    calibration: Calibration::default(),
                };
                self.named_like(&signature.inputs)?.into_iter().map(column).collect()
            }
        };
        let (mut found, mut drivers) = (Vec::new(), Vec::new());
        for input in inputs {
            let stated = |error: Error| error.under(&["inputs", &input.input]);
            let k = signature.input_index(&input.input).map_err(|error| stated(error.into()))?;
            let sought = Sought {
                column: &input.column,
                calibration: Some(&input.calibration),
                others: &self.names,
                ..Sought::named(&input.input, &signature.inputs[k].unit)
            };
            let (part, column) = self.recording.get(&sought, input.file).map_err(stated)?;
            let (name, RecordingFile { file, axis, .. }) = (column.name, &self.recording.parts[part]);
            let driver = Driver::new(part, &input, &column, axis);
            if driver.samples.has_holes && self.source.max_gap.is_none() {
                self.recording.complete(&sought, input.file).map_err(stated)?;
            }
            self.converted.extend(column.note);
            let (samples, unit) = (&driver.samples, &signature.inputs[k].unit);
            self.converted.extend(told_of_input(name, unit, &samples.values, &samples.times));
            signals[k] = driver.signal(axis).map_err(|error| match error {
                Error::Engine(costate::Error::Invalid { problem, remedy, .. }) => {
                    let problem = format!("column `{name}` for input `{}`: {problem}", input.input);
                    stated(Error::file(file, None, problem, remedy))
                }
                other => other,
            })?;
            self.used.push((part, name));
            found.push((part, input));
            drivers.push(driver);
        }
        Ok((found, drivers))
    }

    /// References that outputs are compared with; notes what is missing there.
    fn references(&mut self, gaps: &mut Vec<String>) -> Result<(Vec<OfFile<OutputColumn>>, Vec<Reference>)> {
        let signature = self.signature;
        let outputs = match &self.source.outputs {
            Some(outputs) => outputs.clone(),
            None => {
                let column = |name: String| OutputColumn {
                    output: name.clone(),
                    column: name,
                    file: None,
                    calibration: Calibration::default(),
                    deviation: None,
                    loss: None,
                    sensor: Vec::new(),
                    low_pass: None,
                    every: None,
                    spectrum: None,
                };
                self.named_like(&signature.outputs)?.into_iter().map(column).collect()
            }
        };
        let (mut references, mut found) = (Vec::new(), Vec::new());
        for own in outputs {
            let OutputColumn { output, column, file, deviation, low_pass, .. } = &own;
            let stated = |error: Error| error.under(&["outputs", output]);
            let k = signature.output_index(output).map_err(|error| stated(error.into()))?;
            // one that is estimated begins with the spread of the data, which the problem of all experiments knows
            let deviation = if let Some(Deviation::Given(deviation)) = deviation { *deviation } else { 1.0 };
            if !(deviation.is_finite() && deviation > 0.0) {
                let problem = format!("residuals cannot be divided by {deviation}");
                let what = format!("deviation of output `{output}`");
                return Err(stated(Error::invalid(what, problem, "give one > 0")));
            }
            let sought = Sought {
                column,
                calibration: Some(&own.calibration),
                others: &self.names,
                has_gain: own.sensor.contains(&Effect::Gain),
                ..Sought::named(output, &signature.outputs[k].unit)
            };
            let got = self.recording.get(&sought, *file);
            let (part, Column { name, values, note }) = got.map_err(stated)?;
            // whoever converts units reads the deviation off the column
            let of_deviation = |note: String| match own.deviation {
                Some(Deviation::Given(deviation)) => {
                    let unit = &signature.outputs[k].unit;
                    format!("{note}; its `deviation`, {}, is in {unit}, too", rounded(deviation, 6))
                }
                _ => note,
            };
            self.converted.extend(note.map(of_deviation));
            self.used.push((part, name));
            if let Some(column) = own.spectrum.as_ref().and_then(SpectrumSetting::column) {
                self.used.extend(
                    self.recording.parts[part]
                        .record
                        .names()
                        .iter()
                        .filter(|name| header::stem(name) == column)
                        .map(|name| (part, name.as_str())),
                );
            }
            let values = values[self.recording.parts[part].window.clone()].to_vec();
            let missing = values.iter().filter(|value| value.is_nan()).count();
            let count = values.len();
            if missing == count {
                let problem = format!(
                    "column `{name}`, which output `{output}` is compared with, has no value at its {count} samples: all of them are empty or no numbers"
                );
                let remedy = "fill it, take another column or other times, or leave it out: [data.outputs] names what is compared";
                return Err(stated(Error::file(self.recording.parts[part].file, None, problem, remedy)));
            }
            if missing > 0 {
                gaps.push(format!("{missing} of {count} samples of `{name}` are missing, and take part nowhere"));
            }
            // a filter would spread what are no jumps
            let values = match low_pass.is_some() || own.spectrum.is_some() {
                true => signature.outputs[k].unwrapped(values),
                false => values,
            };
            references.push(Reference { output: k, values: self.recording.spread(part, values), deviation });
            found.push((part, own));
        }
        Ok((found, references))
    }

    /// Columns of all parts, or of one, that nothing is made of.
    fn unused(&self, of: Option<usize>) -> String {
        let parts = self.recording.parts.iter().enumerate().filter(|(k, _)| of.is_none_or(|of| of == *k));
        let names = parts.flat_map(|(k, part)| part.record.names().iter().map(move |name| (k, name.as_str())));
        let is_numeric = |(k, name): &(usize, &str)| self.recording.parts[*k].record.is_numeric(name);
        let unused = names.filter(|column| !self.used.contains(column) && is_numeric(column));
        unused.map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// Inputs without a column: a note on each, if that is meant.
    fn undriven(&self, inputs: &[OfFile<InputColumn>]) -> Result<Vec<String>> {
        let without = self.signature.inputs.iter().filter(|q| !inputs.iter().any(|(_, column)| column.input == q.name));
        let note = |Quantity { name, .. }: &Quantity| {
            if self.source.inputs.is_some() {
                return Ok(format!("no column drives input `{name}`: the model's own signal does"));
            }
            if let Some(part) = self.recording.parts.iter().find(|part| part.record.left_out(name).is_some()) {
                return Err(columns::missing(part.record, part.file, name).into());
            }
            let unused = self.unused(None);
            let left = if unused.is_empty() { String::new() } else { format!(" (other columns: {unused})") };
            let remedy = format!(
                "rename a column, or map it in a problem file: [data.inputs.{name}] column = ..; with an empty \
                 [data.inputs] the model's own signal drives it"
            );
            Err(Error::file(&self.source.file, None, format!("no column drives input `{name}`{left}"), remedy))
        };
        without.map(note).collect()
    }

    /// Description of what was read: a line for each file, and what they come to together.
    fn describe(&self, inputs: &[OfFile<InputColumn>], outputs: &[OfFile<OutputColumn>]) -> Vec<String> {
        let mut notes: Vec<String> =
            self.recording.parts.iter().flat_map(|part| part.record.remarks().iter().cloned()).collect();
        let list = |names: Vec<String>| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        for (k, RecordingFile { file, axis, window, .. }) in self.recording.parts.iter().enumerate() {
            let (times, unused) = (&axis.times()[window.clone()], self.unused(Some(k)));
            let inputs = inputs.iter().filter(|(part, _)| *part == k).map(|(_, c)| c);
            let outputs = outputs.iter().filter(|(part, _)| *part == k).map(|(_, c)| c);
            let spacing = axis.part(window.clone()).spacing();
            notes.push(format!(
                "{}: {} samples from {} s to {} s, {spacing}; inputs: {}; compared: {}; other columns: {}",
                file.display(),
                times.len(),
                shown(times[0]),
                shown(times[times.len() - 1]),
                list(inputs.map(|c| format!("{} from `{}` ({})", c.input, c.column, c.interpolation)).collect()),
                list(outputs.map(|c| format!("{} with `{}`", c.output, c.column)).collect()),
                if unused.is_empty() { "none" } else { &unused },
            ));
        }
        let is_idle = |k: &usize| {
            !inputs.iter().map(|(part, _)| part).chain(outputs.iter().map(|(part, _)| part)).any(|part| part == k)
        };
        for k in (0..self.recording.parts.len()).filter(|k| self.recording.parts.len() > 1 && is_idle(k)) {
            let (file, unused) = (self.recording.parts[k].file.display(), self.unused(Some(k)));
            notes.push(format!(
                "warning: nothing of {file} is used ({unused}), while its times cost steps: name its columns in a problem file, such as \
                 outputs.NAME = {{ column = \"..\" }}, or leave it out"
            ));
        }
        notes.extend(self.converted.iter().cloned());
        notes.extend(self.recording.described());
        notes
    }

    /// Sentence on residuals in different units that are added up, if nobody has weighed them.
    fn unlike_units(&self, outputs: &[OfFile<OutputColumn>], references: &[Reference]) -> Option<String> {
        let units: Vec<&str> = references.iter().map(|r| self.signature.outputs[r.output].unit.as_str()).collect();
        let is_plain =
            outputs.iter().all(|(_, c)| c.deviation.is_none_or(|deviation| deviation == Deviation::Given(1.0)));
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
