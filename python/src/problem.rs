//! A problem of identification: costs, derivatives, residuals, fits.

use super::convert::{bytes, raised};
use super::fit::Fit;
use super::registry;
use costate::Interrupt;
use costate::sensitivity::Method;
use costate_identify::optimise::{Flow, Options};
use costate_identify::problem_file;
use costate_identify::specification::Specification;
use costate_identify::steps::identify_with_steps;
use costate_identify::{Error, Result, Settings};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A problem as a problem file states it.
#[pyclass(frozen, module = "costate._costate")]
pub struct Problem {
    specification: Specification,
    pub problem: costate_identify::problem::Problem,
    #[pyo3(get)]
    notes: Vec<String>,
}

/// One parameter of the problem: name, unit, start, lower and upper bound, whether it is free.
type ParameterTuple = (String, String, f64, f64, f64, bool);

fn built(text: &str, path: PathBuf) -> Result<Problem> {
    let specification = problem_file::parse(text, &path)?;
    let (problem, notes) = specification.build_with_notes(registry()?)?;
    Ok(Problem { specification, problem, notes })
}

#[pymethods]
impl Problem {
    /// The problem that a text states, as a file of this path would.
    #[new]
    fn new(py: Python<'_>, text: String, path: PathBuf) -> PyResult<Self> {
        py.detach(|| built(&text, path)).map_err(raised)
    }

    #[getter]
    fn parameters(&self) -> Vec<ParameterTuple> {
        let all = self.problem.parameters.iter().zip(&self.problem.start);
        all.map(|(own, start)| (own.name.clone(), own.unit.clone(), *start, own.lower, own.upper, own.free)).collect()
    }

    /// The cost at values of all parameters.
    fn cost(&self, py: Python<'_>, u: Vec<f64>) -> PyResult<f64> {
        py.detach(|| self.problem.gradient_by_free()?.cost(&u)).map_err(raised)
    }

    /// The cost, and its derivatives by all parameters, of which those that are fixed have none.
    fn cost_and_gradient<'py>(&self, py: Python<'py>, u: Vec<f64>) -> PyResult<(f64, Bound<'py, PyBytes>)> {
        let mut gradient = vec![0.0; u.len()];
        let cost = py.detach(|| self.problem.gradient_by_free()?.cost_and_gradient(&u, Method::Adjoint, &mut gradient));
        Ok((cost.map_err(raised)?, bytes(py, &gradient)))
    }

    /// The cost, its derivatives, and its Hessian row by row, by all parameters.
    fn hessian<'py>(&self, py: Python<'py>, u: Vec<f64>) -> PyResult<(f64, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (mut gradient, mut hessian) = (vec![0.0; u.len()], vec![vec![0.0; u.len()]; u.len()]);
        let cost = py.detach(|| self.problem.gradient_by_free()?.hessian(&u, &mut gradient, &mut hessian));
        Ok((cost.map_err(raised)?, bytes(py, &gradient), bytes(py, &hessian.concat())))
    }

    /// Weighted residuals, half the sum of whose squares is the cost, and their derivatives by all parameters, row by row.
    fn residuals<'py>(&self, py: Python<'py>, u: Vec<f64>) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let found = py.detach(|| {
            let Some(costs) = self.problem.least_squares() else {
                let remedy = "take cost_and_gradient";
                return Err(Error::invalid("the residuals", "the cost is no sum of squares", remedy));
            };
            self.problem.gradient_by_free()?.residuals(&u, &costs)
        });
        let (residuals, rows) = found.map_err(raised)?;
        Ok((bytes(py, &residuals), bytes(py, &rows.concat())))
    }

    /// Finds the free parameters: the result, and the exception that ended the search early, if one did, with the best so far. `observer` is called with
    /// (iteration, evaluations, cost), and may raise.
    fn fit(&self, py: Python<'_>, observer: Option<Py<PyAny>>) -> PyResult<(Option<Fit>, Option<Py<PyAny>>)> {
        let (found, ended) = watched(py, |interrupt, end_by| {
            let told = |number: usize, evaluations: usize, cost: f64| {
                let Some(observer) = &observer else { return Flow::Continue };
                match Python::attach(|py| observer.call1(py, (number, evaluations, cost))) {
                    Ok(_) => Flow::Continue,
                    Err(error) => {
                        end_by(error);
                        Flow::Stop
                    }
                }
            };
            self.found(interrupt, &told)
        });
        match ended {
            Some(error) => Ok((found.ok(), Some(error.into_value(py).into_any()))),
            None => Ok((Some(found.map_err(raised)?), None)),
        }
    }
}

/// Settings of a search that ends once `interrupt` is raised.
pub fn settings_of(specification: &Specification, interrupt: &Interrupt) -> Settings {
    let options = Options { interrupt: interrupt.clone(), ..specification.options.clone() };
    let (constraints, homotopy) = (specification.constraint_options.clone(), specification.homotopy.clone());
    Settings { method: specification.method, options, constraints, homotopy, ..Settings::default() }
}

/// Does what ends early where a signal of Python says so, whose exception is raised then.
pub fn interruptible<R: Send>(py: Python<'_>, work: impl FnOnce(&Interrupt) -> Result<R> + Send) -> PyResult<R> {
    match watched(py, |interrupt, _| work(interrupt)) {
        (_, Some(error)) => Err(error),
        (found, None) => found.map_err(raised),
    }
}

/// Lets a thread work while this one, which Python gives its signals to, looks after them. The work is given an interrupt, and what raises it with an
/// exception; the first of these comes back, too.
fn watched<R: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Interrupt, &(dyn Fn(PyErr) + Sync)) -> Result<R> + Send,
) -> (Result<R>, Option<PyErr>) {
    /// Time in which a signal is seen.
    const PATIENCE: Duration = Duration::from_millis(50);
    let (interrupt, ended) = (Interrupt::default(), Mutex::new(None));
    let end_by = |error: PyErr| {
        interrupt.raise();
        if let Ok(mut first) = ended.lock() {
            first.get_or_insert(error);
        }
    };
    let found = py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waiting) = channel();
            let (interrupt, end_by) = (&interrupt, &end_by);
            let worker = scope.spawn(move || {
                let result = work(interrupt, end_by);
                // nobody waits any more only where nobody wants to know
                let _ = done.send(());
                result
            });
            while waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                Python::attach(|py| py.check_signals()).err().into_iter().for_each(end_by);
            }
            let failed = |_| Err(Error::invalid("the work of a thread", "it failed", "report it"));
            worker.join().unwrap_or_else(failed)
        })
    });
    (found, ended.into_inner().ok().flatten())
}

impl Problem {
    fn found(&self, interrupt: &Interrupt, observer: &(dyn Fn(usize, usize, f64) -> Flow + Sync)) -> Result<Fit> {
        let Problem { specification, .. } = self;
        // a fit may choose finer steps: the problem that was stated stays as it is
        let (mut problem, _) = specification.build_with_notes(registry()?)?;
        let settings = settings_of(specification, interrupt);
        let method = settings.method_for(&problem).0.name();
        let noise = specification.noise.unwrap_or_default();
        let mut show = |iteration: &costate_identify::optimise::Iteration| {
            observer(iteration.number, iteration.evaluations, iteration.cost)
        };
        let fit =
            identify_with_steps(&mut problem, &settings, noise, &specification.steps(), &mut show, &mut |_, _| Ok(()))?;
        Fit::new((specification.clone(), problem), method.to_string(), fit)
    }
}
