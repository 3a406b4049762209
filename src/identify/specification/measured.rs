//! From a record to a simulation with its inputs and a comparison with its outputs.

use super::record::{time_column, window};
use super::{DataSource, InputColumn, OutputColumn, Specification};
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
use crate::signature::Quantity;
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
        let file = &source.file;
        let time = time_column(record, source)?;
        let axis = record.time(time)?;
        let window = window(&axis, source)?;
        let times = &axis.times()[window.clone()];
        if let Some(end) = self.end {
            let last = times[times.len() - 1];
            let gap = (end - last) / axis.mean_step();
            if gap.is_nan() || gap.abs() > 1e-3 {
                let relation = if gap > 0.0 { "ends before the simulation" } else { "goes on after the simulation" };
                let problem = format!("the record {relation}: at {last} s against {end} s");
                let remedy = "leave out `end`, or choose the samples with `from` and `until`";
                return Err(Error::file(&source.file, None, problem, remedy));
            }
        }
        let grid = self.grid(&axis, times, file)?;
        let substeps = grid.count() / (times.len() - 1);
        let signature = entry.system.signature();
        let named_like = |quantities: &[Quantity]| {
            let found = quantities.iter().map(|q| Ok(columns::find(record, file, &q.name, &q.unit)?.map(|_| q)));
            found.filter_map(Result::transpose).map(|q| Ok(q?.name.clone())).collect::<Result<Vec<_>>>()
        };
        let mut used = vec![time];
        used.extend(source.split.as_deref());
        used.extend(self.parameters.iter().filter_map(|setting| setting.start_column.as_deref()));
        let mut signals = scenario.signals.clone();
        let inputs = match &source.inputs {
            Some(inputs) => inputs.clone(),
            None => {
                let interpolation = source.interpolation.unwrap_or(Interpolation::Linear);
                let column = |name: String| InputColumn { input: name.clone(), column: name, interpolation };
                named_like(&signature.inputs)?.into_iter().map(column).collect()
            }
        };
        for InputColumn { input, column, interpolation } in &inputs {
            let k = signature.input_index(input)?;
            let Column { name, values } = columns::get(record, file, column, &signature.inputs[k].unit)?;
            signals[k] = Signal::sampled(axis.times(), values, *interpolation).map_err(|error| match error {
                Error::Invalid { problem, remedy, .. } => {
                    Error::file(file, None, format!("column `{name}` for input `{input}`: {problem}"), remedy)
                }
                other => other,
            })?;
            used.push(name);
        }
        let outputs = match &source.outputs {
            Some(outputs) => outputs.clone(),
            None => {
                let column = |name: String| OutputColumn { output: name.clone(), column: name, deviation: 1.0 };
                named_like(&signature.outputs)?.into_iter().map(column).collect()
            }
        };
        let mut gaps = Vec::new();
        let references = outputs
            .iter()
            .map(|OutputColumn { output, column, deviation }| {
                let k = signature.output_index(output)?;
                if !(deviation.is_finite() && *deviation > 0.0) {
                    let problem = format!("residuals cannot be divided by {deviation}");
                    return Err(Error::invalid(format!("deviation of output `{output}`"), problem, "give one > 0"));
                }
                let Column { name, values } = columns::get_with_gaps(record, file, column, &signature.outputs[k].unit)?;
                used.push(name);
                let missing = values[window.clone()].iter().filter(|value| value.is_nan()).count();
                if missing > 0 {
                    gaps.push(format!(
                        "{missing} of {} samples of `{name}` are missing, and take part nowhere",
                        window.len()
                    ));
                }
                Ok(Reference { output: k, values: values[window.clone()].to_vec(), deviation: *deviation })
            })
            .collect::<Result<Vec<_>>>()?;
        let unused = record.names().iter().filter(|name| !used.contains(&name.as_str()));
        let unused = unused.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        for input in signature.inputs.iter().filter(|q| !inputs.iter().any(|column| column.input == q.name)) {
            let name = &input.name;
            if source.inputs.is_none() {
                let left = if unused.is_empty() { String::new() } else { format!(" (columns without use: {unused})") };
                let problem = format!("no column drives input `{name}`{left}");
                let remedy = format!(
                    "rename a column, or map it in a problem file: [data.inputs.{name}] column = ..; with an empty \
                     [data.inputs] the model's own signal drives it"
                );
                return Err(Error::file(file, None, problem, remedy));
            }
            notes.push(format!("no column drives input `{name}`: the model's own signal does"));
        }
        let list = |names: Vec<String>| if names.is_empty() { "none".to_string() } else { names.join(", ") };
        notes.push(format!(
            "{}: {} samples from {} s to {} s, {}; inputs: {}; compared: {}; columns without use: {}",
            file.display(),
            times.len(),
            shown(times[0]),
            shown(times[times.len() - 1]),
            if axis.is_even() { format!("{} s apart", shown(axis.mean_step())) } else { "unevenly spaced".to_string() },
            list(inputs.iter().map(|c| format!("{} from `{}` ({})", c.input, c.column, c.interpolation)).collect()),
            list(outputs.iter().map(|c| format!("{} with `{}`", c.output, c.column)).collect()),
            if unused.is_empty() { "none" } else { &unused },
        ));
        notes.append(&mut gaps);
        if outputs.len() > 1 && outputs.iter().all(|c| c.deviation == 1.0) {
            let units: Vec<&str> = references.iter().map(|r| signature.outputs[r.output].unit.as_str()).collect();
            if units.iter().any(|unit| *unit != units[0]) {
                let first = |&(k, unit): &(usize, &&str)| !units[..k].contains(unit);
                let units: Vec<&str> = units.iter().enumerate().filter(first).map(|(_, unit)| *unit).collect();
                notes.push(format!(
                    "residuals in {} are added up as plain numbers: weigh them with `deviation` in a problem file",
                    units.join(" and ")
                ));
            }
        }
        let integrator = self.integrator(scenario, &grid, !signature.constraints.is_empty(), notes)?;
        let simulation = integrator.simulation(entry.system.clone(), grid, signals)?;
        if references.is_empty() {
            return Ok(Measured { simulation, cost: None, window });
        }
        // residuals of measurements are summed plainly, unless asked otherwise
        let quadrature = self.quadrature.unwrap_or(Quadrature::Unit);
        let cost = LeastSquares::new(times, references, substeps, quadrature)?;
        Ok(Measured { simulation, cost: Some(cost), window })
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
        if let Some(trouble) = own.on_uneven_steps(constrained).filter(|_| is_free) {
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
            (None, None) => 1,
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
