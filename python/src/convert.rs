//! Errors and arrays on their way to Python.

use costate_identify::Error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

mod exceptions {
    pyo3::create_exception!(
        costate,
        Error,
        pyo3::exceptions::PyValueError,
        "Wrong input, or a simulation that fails: a sentence that names the quantity and the remedy. Has `name`, `path` and `line` where they are known."
    );
}

pub use exceptions::Error as CostateError;

/// The exception of an error: the command's sentence, with `name`, `path` and `line` where the error has them.
pub fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let sentence = costate_cli::sentence(&error);
    let (name, place) = (name_of(&error), place_of(&error));
    Python::attach(|py| {
        let raised = CostateError::new_err(sentence);
        let value = raised.value(py);
        // an exception takes attributes; one that would not still has its sentence
        let _ = value.setattr("name", name);
        let _ = value.setattr("path", place.as_ref().map(|(path, _)| path.clone()));
        let _ = value.setattr("line", place.and_then(|(_, line)| line));
        raised
    })
}

/// The name that is wrong, where one is.
fn name_of(error: &Error) -> Option<String> {
    match error {
        Error::Engine(costate::Error::UnknownName { name, .. }) => Some(name.clone()),
        Error::Experiment { cause, .. } => name_of(cause),
        Error::Stated { keys, cause, .. } => name_of(cause).or_else(|| keys.last().cloned()),
        _ => None,
    }
}

/// The file and the line that are to blame.
fn place_of(error: &Error) -> Option<(String, Option<u64>)> {
    match error {
        Error::Data(costate_data::Error::File { path, line, .. }) => Some((path.display().to_string(), *line)),
        Error::Stated { place: Some((path, line)), .. } => Some((path.display().to_string(), Some(*line))),
        Error::Stated { cause, .. } | Error::Experiment { cause, .. } => place_of(cause),
        _ => None,
    }
}

/// Numbers as bytes, for `numpy.frombuffer`.
pub fn bytes<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &all)
}

/// A name and a unit of each.
pub fn named<'q>(all: impl IntoIterator<Item = &'q costate::Quantity>) -> Vec<(String, String)> {
    all.into_iter().map(|own| (own.name.clone(), own.unit.clone())).collect()
}
