//! A model: what it is made of, and its Jacobians at a point.

use super::convert::{bytes, named, raised};
use super::registry;
use costate::system::Point;
use costate_check::Jacobians;
use costate_identify::registry::Entry;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A model by its name or its file.
#[pyclass(frozen, module = "costate._costate")]
pub struct Model {
    entry: Entry,
}

/// One parameter: name, unit, nominal value, lower and upper bound, size, whether it is free, whether it is searched by its logarithm.
type ParameterTuple = (String, String, f64, f64, f64, Option<f64>, bool, bool);

#[pymethods]
impl Model {
    #[new]
    fn new(py: Python<'_>, name: String) -> PyResult<Self> {
        let entry = py.detach(|| registry()?.get(&name)).map_err(raised)?;
        Ok(Model { entry: entry.clone() })
    }

    /// The model's name.
    #[getter]
    fn name(&self) -> String {
        self.entry.name().to_string()
    }

    /// One line on what it is.
    #[getter]
    fn summary(&self) -> String {
        self.entry.summary.clone()
    }

    #[getter]
    fn parameters(&self) -> Vec<ParameterTuple> {
        let all = self.entry.system.signature().parameters.iter();
        let tuple = |own: &costate::Parameter| {
            let is_log = own.scale == costate::Scale::Log;
            (own.name.clone(), own.unit.clone(), own.nominal, own.lower, own.upper, own.size, own.free, is_log)
        };
        all.map(tuple).collect()
    }

    #[getter]
    fn inputs(&self) -> Vec<(String, String)> {
        named(&self.entry.system.signature().inputs)
    }

    #[getter]
    fn outputs(&self) -> Vec<(String, String)> {
        named(&self.entry.system.signature().outputs)
    }

    /// Coordinates, and behind them first-order states.
    #[getter]
    fn coordinates(&self) -> Vec<(String, String)> {
        named(self.entry.system.signature().unknowns())
    }

    #[getter]
    fn states(&self) -> Vec<(String, String)> {
        named(&self.entry.system.signature().states)
    }

    #[getter]
    fn constraints(&self) -> Vec<(String, String)> {
        named(&self.entry.system.signature().constraints)
    }

    /// The exact Jacobians at a point, by their symbols: words, names of rows, names of columns, bytes row by row.
    #[allow(clippy::too_many_arguments)]
    fn jacobians<'py>(
        &self,
        py: Python<'py>,
        t: f64,
        q: Vec<f64>,
        v: Vec<f64>,
        a: Vec<f64>,
        lambda: Vec<f64>,
        w: Vec<f64>,
        u: Vec<f64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let x = Point { t, q: &q, v: &v, a: &a, lambda: &lambda, w: &w };
        let found = py.detach(|| Jacobians::at(&*self.entry.system, &x, &u));
        let all = PyDict::new(py);
        for jacobian in found.map_err(raised)?.all() {
            let rows: Vec<f64> =
                jacobian.matrix.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
            let tuple = (jacobian.name.words, jacobian.rows.clone(), jacobian.columns.clone(), bytes(py, &rows));
            all.set_item(jacobian.name.symbol, tuple)?;
        }
        Ok(all)
    }
}
