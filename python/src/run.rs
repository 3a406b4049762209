//! A simulation that has been run.

use super::convert::{bytes, named, raised};
use super::registry;
use costate::{Simulation, Trajectory};
use costate_identify::problem_file;
use costate_identify::specification::ParameterSetting;
use costate_identify::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A run, with all its states.
#[pyclass(frozen, module = "costate._costate")]
pub struct Run {
    simulation: Simulation,
    trajectory: Trajectory,
    document: String,
    #[pyo3(get)]
    notes: Vec<String>,
}

fn made(text: &str, path: PathBuf, values: Vec<(String, f64)>) -> Result<Run> {
    let registry = registry()?;
    let mut specification = problem_file::parse(text, &path)?;
    specification.overriding.extend(values.into_iter().map(ParameterSetting::starting));
    let entry = specification.entry(registry)?;
    let u = specification.model_values(&entry)?;
    let (simulation, measured, notes) = specification.simulation_with_notes(registry)?;
    let trajectory = simulation.run(&u)?;
    let document = costate_report::simulation_json(&simulation, &u, &trajectory, measured.as_ref());
    Ok(Run { simulation, trajectory, document: document.to_string(), notes })
}

#[pymethods]
impl Run {
    /// Runs the problem that a text states, as a file of this path would, with these values of parameters.
    #[new]
    fn new(py: Python<'_>, text: String, path: PathBuf, values: Vec<(String, f64)>) -> PyResult<Self> {
        py.detach(|| made(&text, path, values)).map_err(raised)
    }

    /// Scheme, counters, start and errors beside a record, as JSON.
    #[getter]
    fn document(&self) -> &str {
        &self.document
    }

    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.trajectory.times())
    }

    #[getter]
    fn outputs(&self) -> Vec<(String, String)> {
        named(&self.simulation.signature().outputs)
    }

    fn output<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let place = self.simulation.signature().output_index(name).map_err(|error| raised(Error::from(error)))?;
        Ok(bytes(py, &self.trajectory.output(place)))
    }

    /// `q`, `v`, `a` or `lambda` at all times, one time after another.
    fn states<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut all = Vec::new();
        for i in 0..self.trajectory.times().len() {
            let x = self.trajectory.state(i);
            all.extend_from_slice(match part {
                "q" => x.q,
                "v" => x.v,
                "a" => x.a,
                "lambda" => x.lambda,
                other => return Err(raised(Error::unknown("part of the state", other, "", ["q", "v", "a", "lambda"]))),
            });
        }
        Ok(bytes(py, &all))
    }
}
