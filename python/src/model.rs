//! A model: what it is made of, and its Jacobians at a point.

use super::convert::{bytes, named, raised};
use super::registry;
use costate::system::Point;
use costate_check::Jacobians;
use costate_identify::registry::Entry;
use costate_identify::{Error, Result};
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
            let is_log = own.scale == costate::signature::Scale::Log;
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
        let found = py.detach(|| self.found(&Point { t, q: &q, v: &v, a: &a, lambda: &lambda, w: &w }, &u));
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

impl Model {
    fn found(&self, x: &Point<'_>, u: &[f64]) -> Result<Jacobians> {
        let signature = self.entry.system.signature();
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        let expected = [
            ("q", x.q.len(), n),
            ("v", x.v.len(), n),
            ("a", x.a.len(), n),
            ("lambda_", x.lambda.len(), m),
            ("inputs", x.w.len(), signature.inputs.len()),
            ("the parameters", u.len(), signature.parameters.len()),
        ];
        if let Some((what, given, wanted)) = expected.into_iter().find(|(_, given, wanted)| given != wanted) {
            let problem = format!("{given} values are given");
            return Err(Error::invalid(what, problem, format!("give {wanted}")));
        }
        Ok(Jacobians::at(&*self.entry.system, x, u)?)
    }
}
