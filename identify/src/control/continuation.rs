//! Continuation from an easy problem to the one that is meant, in stages.

use super::{Control, Solution};
use crate::Result;
use crate::optimise::{Flow, Iteration, Method, Options};
use costate::Signal;

/// Solves one problem after another, each from the signals and the free parameters of the one before (homotopy continuation; Vyasarayani et al., whom
/// Lauss 2018 cites): over longer and longer end times, weights that come up, or a blend of model and data. `problem` makes the
/// problem of a stage from its number and the signals to begin with; `observer` sees every iteration with the stage's number. Returns the last
/// problem with its solution, and all stages' costs.
///
/// # Errors
/// As [`Control::minimise`]; whatever `problem` returns.
pub fn continuation(
    stages: &[f64],
    start: Vec<Signal>,
    mut problem: impl FnMut(f64, Vec<Signal>) -> Result<Control>,
    (method, tolerance, options): (Method, f64, &Options),
    observer: &mut dyn FnMut(f64, &Iteration) -> Flow,
) -> Result<Option<(Control, Solution, Vec<f64>)>> {
    let (mut signals, mut last, mut costs) = (start, None::<(Control, Solution)>, Vec::new());
    for &stage in stages {
        let mut control = problem(stage, signals)?;
        if let Some((last, found)) = &last {
            control.begin_at(last, &found.outcome.u);
        }
        let found = control.minimise(method, tolerance, options, &mut |iteration| observer(stage, iteration))?;
        signals = control.signals_of(&found.outcome.u)?;
        costs.push(found.outcome.cost);
        last = Some((control, found));
    }
    Ok(last.map(|(control, found)| (control, found, costs)))
}
