//! What a fit has found.

use super::convert::{bytes, raised};
use super::problem::{interruptible, settings_of};
use costate_identify::bootstrap::{Bootstrap, bootstrap};
use costate_identify::problem::Problem;
use costate_identify::profile::{asked_for, profiles};
use costate_identify::specification::Specification;
use costate_identify::statistics::{OutputFit, fits};
use costate_identify::work::{ProgressCallback, Work};
use costate_identify::{Identification, Result};
use costate_report::{Certainty, Folder, bootstrap_json, profiles_json, result_json};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A result, with all that the files of the command are made of.
#[pyclass(frozen, module = "costate._costate")]
pub struct Fit {
    specification: Specification,
    problem: Problem,
    found: Identification,
    statistics: Result<costate_identify::statistics::Statistics>,
    document: serde_json::Value,
    outputs: Vec<OutputFit>,
    measured: Vec<Vec<f64>>,
}

impl Fit {
    /// The problem is that with the steps that the fit has chosen.
    pub fn new(
        (specification, problem): (Specification, Problem),
        method: String,
        fit: costate_identify::steps::Fit,
    ) -> Result<Self> {
        let costate_identify::steps::Fit { found, statistics } = fit;
        let mut document = result_json(&problem, &method, &found, &statistics);
        document["reason"] = found.reason().into();
        let outputs = fits(&problem, &problem.experiments, &found.values())?;
        let references = problem.experiments.iter().filter_map(|experiment| experiment.cost.as_least_squares());
        let measured =
            references.flat_map(|cost| cost.references().iter().map(|own| own.samples().collect())).collect();
        Ok(Fit { specification, problem, found, statistics, document, outputs, measured })
    }
}

#[pymethods]
impl Fit {
    /// All of `result.json`, as text.
    #[getter]
    fn document(&self) -> String {
        self.document.to_string()
    }

    /// What the command prints.
    fn report(&self, py: Python<'_>) -> String {
        py.detach(|| costate_cli::report(&self.problem, &self.found, &self.statistics))
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, &self.found.values())
    }

    /// Names of the free parameters, and their covariance row by row; NaN where there is none.
    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> (Vec<String>, Bound<'py, PyBytes>) {
        let names =
            self.problem.free().into_iter().map(|k| self.problem.parameters[k].name.clone()).collect::<Vec<_>>();
        let count = names.len();
        let entry = |i: usize, j: usize| match &self.statistics {
            Ok(statistics) if statistics.covariance.shape() == (count, count) => statistics.covariance[(i, j)],
            _ => f64::NAN,
        };
        let all: Vec<f64> = (0..count * count).map(|k| entry(k / count, k % count)).collect();
        (names, bytes(py, &all))
    }

    /// Compared outputs: name, unit, times, measured values, and residuals (simulated less measured).
    #[getter]
    #[allow(clippy::type_complexity)]
    fn outputs<'py>(
        &self,
        py: Python<'py>,
    ) -> Vec<(String, String, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let all = self.outputs.iter().zip(&self.measured);
        all.map(|(own, measured)| {
            let of = |values: &[f64]| bytes(py, values);
            (own.name.clone(), own.unit.clone(), of(&own.times), of(measured), of(&own.residuals))
        })
        .collect()
    }

    /// Profile likelihoods of these parameters, or of all free ones, as the JSON of results.
    fn profiles(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        interruptible(py, |interrupt| {
            let Fit { problem, found, .. } = self;
            let (settings, parameters) = (settings_of(&self.specification, interrupt), asked_for(problem, &names)?);
            let quiet = |_: &str, _: usize, _: usize| {};
            let statistics = self.statistics.as_ref().map_err(Clone::clone)?;
            let made = profiles(problem, found, statistics, &settings, &parameters, (&Work::default(), &quiet))?;
            Ok(profiles_json(&made).to_string())
        })
    }

    /// Fits to drawn data, as the JSON of results.
    fn bootstrap(&self, py: Python<'_>, replicates: usize, seed: u64, block: Option<f64>) -> PyResult<String> {
        interruptible(py, |interrupt| {
            let asked = Bootstrap { replicates, seed, block, over: None };
            let quiet = |_: &str, _: usize, _: usize| {};
            let settings = settings_of(&self.specification, interrupt);
            let statistics = self.statistics.as_ref().map_err(Clone::clone)?;
            let work = (&Work::default(), &quiet as ProgressCallback<'_>);
            let made = bootstrap(&self.problem, &self.found, statistics, &settings, &asked, work)?;
            Ok(bootstrap_json(&made).to_string())
        })
    }

    /// Writes the files of `costate identify` into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf, png: bool, report: bool) -> PyResult<()> {
        py.detach(|| {
            let folder = Folder::create(&folder, png)?.with_report(report);
            let certainty = Certainty::default();
            folder.identification_with(&self.problem, &self.found, &self.statistics, &certainty, self.document.clone())
        })
        .map_err(raised)
    }
}
