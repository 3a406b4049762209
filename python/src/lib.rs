//! The native part of the Python package `costate`: models, problems, runs and fits. Arrays leave as bytes of `f64`, which Python sees as numpy arrays.

mod convert;
mod fit;
mod model;
mod problem;
mod run;

use costate_identify::registry::Registry;
use costate_identify::{Error, Result};
use pyo3::prelude::*;
use std::sync::OnceLock;

/// The ready models, with mechanism files.
fn registry() -> Result<&'static Registry> {
    static REGISTRY: OnceLock<Result<Registry>> = OnceLock::new();
    let made = REGISTRY.get_or_init(|| {
        Ok(costate_models::registry()?.with_files(costate_file::read).with_formulas(costate_file::FORMULAS))
    });
    made.as_ref().map_err(Error::clone)
}

/// The names of the ready models.
#[pyfunction]
fn model_names() -> PyResult<Vec<String>> {
    let registry = registry().map_err(convert::raised)?;
    Ok(registry.entries().iter().map(|entry| entry.name().to_string()).collect())
}

/// Runs the command with these arguments, the first of which is its own name; returns the exit code.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| {
        costate_cli::Program::new(costate_models::registry()).with_command(costate_models::bench::Bench).run(arguments)
    })
}

/// Native part of the package `costate`.
#[pymodule]
fn _costate(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<convert::CostateError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<problem::Problem>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<fit::Fit>()?;
    module.add_function(wrap_pyfunction!(model_names, module)?)?;
    module.add_function(wrap_pyfunction!(run_command, module)?)
}
