//! A simulation whose results do not fit into memory: rows are written as they come, and figures show some of the times.

use super::folder::{state_names, state_row};
use super::{Folder, OutputError, named, output_errors_of, plot, simulation_document, units};
use costate::cost::LeastSquares;
use costate::scheme::Counters;
use costate::system::{OutputPoint, Point};
use costate::{Quantity, Signature, Simulation, StartReport};
use costate_data::file_set::{FILES, FileSet};
use costate_data::rows::Row;
use costate_identify::{Error, Result};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Times that figures show, about.
const SHOWN: usize = 5000;

/// Summary of a run that is not kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Streamed {
    /// Counts of steps and evaluations.
    pub counters: Counters,
    /// Report on the start of the run.
    pub start: StartReport,
    /// Errors of compared outputs beside what was measured.
    pub errors: Vec<OutputError>,
    /// Contents of `simulation.json`.
    pub document: Value,
}

/// A file of rows that grows.
struct Table {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Table {
    fn create(path: PathBuf, names: &[String]) -> Result<Self> {
        let refused = |error: io::Error| refused(&path, error);
        let mut table = Table { out: BufWriter::new(File::create(&path).map_err(refused)?), path: path.clone() };
        Row::names(names, &mut table.out).map_err(refused)?;
        Ok(table)
    }

    fn add(&mut self, values: &[f64]) -> Result<()> {
        Row::values(values, &mut self.out).map_err(|error| refused(&self.path, error))
    }

    fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|error| refused(&self.path, error))
    }
}

fn refused(path: &Path, error: io::Error) -> Error {
    Error::folder("write", path, error, "make room, or choose another folder")
}

/// Some of the times, for figures: one series each.
struct Shown {
    stride: usize,
    last: usize,
    times: Vec<f64>,
    outputs: Vec<Vec<f64>>,
    inputs: Vec<Vec<f64>>,
}

impl Shown {
    fn of(simulation: &Simulation) -> Self {
        let last = simulation.grid().count();
        let Signature { outputs, inputs, .. } = simulation.signature();
        let series = |of: &[Quantity]| vec![Vec::new(); of.len()];
        let (outputs, inputs) = (series(outputs), series(inputs));
        Shown { stride: last.div_ceil(SHOWN), last, times: Vec::new(), outputs, inputs }
    }

    fn take(&mut self, i: usize, x: &OutputPoint<'_>, y: &[f64]) {
        if i.is_multiple_of(self.stride) || i == self.last {
            self.times.push(x.t);
            self.outputs.iter_mut().zip(y).for_each(|(series, y)| series.push(*y));
            self.inputs.iter_mut().zip(x.w).for_each(|(series, w)| series.push(*w));
        }
    }
}

impl Folder {
    /// Bytes that `states.csv` and `outputs.csv` of a simulation take, about.
    pub fn bytes_of_files(simulation: &Simulation) -> f64 {
        /// Of a number with its comma: most have 17 digits, a sign or a power of ten.
        const NUMBER: f64 = 20.0;
        let Signature { coordinates, constraints, inputs, outputs, .. } = simulation.signature();
        // the time in both, and q, v and a of each coordinate
        let columns = 2 + 3 * coordinates.len() + constraints.len() + inputs.len() + outputs.len();
        NUMBER * columns as f64 * (simulation.grid().count() + 1) as f64
    }
}

/// Runs it once without keeping it: `states.csv`, `outputs.csv`, `simulation.json` and figures go into the folder, if there is one, and
/// outputs are compared with what was `measured`, if it was. Only compared outputs are kept at all times.
///
/// # Errors
/// A simulation that fails, or [`Error::Data`]; files of an earlier run stay then.
pub fn stream(
    folder: Option<&Folder>,
    simulation: &Simulation,
    u: &[f64],
    measured: Option<&LeastSquares>,
) -> Result<Streamed> {
    let signature = simulation.signature();
    let set = folder.map(|folder| FileSet::begin(folder.path())).transpose()?;
    let mut tables = set.as_ref().map(|set| tables(set.path(), signature)).transpose()?;
    let mut shown = Shown::of(simulation);
    let references = measured.map_or(&[][..], LeastSquares::references);
    let mut compared = vec![Vec::new(); references.len()];
    let mut row = Vec::new();
    let run = simulation.watch(u, &mut |i, x, y| {
        shown.take(i, x, y);
        references.iter().zip(&mut compared).for_each(|(reference, values)| values.push(y[reference.output]));
        let Some([states, outputs]) = &mut tables else { return Ok(()) };
        row.clear();
        let OutputPoint { t, q, v, a, lambda, w, .. } = *x;
        state_row(signature, &Point { t, q, v, a, lambda, w }, &mut row);
        states.add(&row)?;
        row.truncate(1);
        row.extend(y);
        row.extend(x.w);
        outputs.add(&row)
    });
    let at_home = |error: Error| folder.map_or(error.clone(), |folder| folder.at_home(error));
    let (counters, start) = run.map_err(at_home)?;
    let errors = measured.map_or(Vec::new(), |cost| {
        let sensors = cost.sensors().nominal();
        output_errors_of((cost, &sensors), simulation, &|place| compared[place].clone())
    });
    let mut document = simulation_document(simulation, u, (counters, &start), &errors);
    if let (Some(folder), Some(set), Some(tables)) = (folder, set, tables) {
        tables.into_iter().try_for_each(Table::finish).map_err(at_home)?;
        let aside = folder.aside(set.path());
        figures(&aside, signature, &shown).map_err(at_home)?;
        let head = "simulation.json";
        document[FILES] = json!([vec![head.to_string()], set.names()?].concat());
        aside.json(head, &document).and_then(|()| Ok(set.commit(head)?)).map_err(at_home)?;
    }
    Ok(Streamed { counters, start, errors, document })
}

/// `states.csv` and `outputs.csv`.
fn tables(path: &Path, signature: &Signature) -> Result<[Table; 2]> {
    let Signature { outputs, inputs, .. } = signature;
    let names = outputs.iter().chain(inputs).map(ToString::to_string);
    let names: Vec<String> = std::iter::once("time [s]".to_string()).chain(names).collect();
    Ok([
        Table::create(path.join("states.csv"), &state_names(signature))?,
        Table::create(path.join("outputs.csv"), &names)?,
    ])
}

fn figures(folder: &Folder, signature: &Signature, shown: &Shown) -> Result<()> {
    let Signature { outputs, inputs, .. } = signature;
    if !inputs.is_empty() {
        folder.signals("input", plot::input, &shown.times, &named(inputs, &units(inputs), &shown.inputs))?;
    }
    if outputs.is_empty() {
        return Ok(());
    }
    folder.signals("outputs", plot::trajectory, &shown.times, &named(outputs, &units(outputs), &shown.outputs))
}
