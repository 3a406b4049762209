//! Outputs beside what they are compared with, as figures and files show them.
//!
//! Where an output is known up to a period only (an angle up to whole turns), reference and simulations are moved by whole
//! periods to where they can be compared: every sample of the reference to what is nearest to the simulation that fits best,
//! other simulations as a whole to where they begin nearest to the reference.

use super::{Folder, printed};
use crate::cost::{LeastSquares, Reference};
use crate::error::Result;
use crate::identify::Identification;
use crate::plot;
use crate::problem::Problem;
use crate::signature::Quantity;
use crate::simulate::{Simulation, Trajectory};

/// The samples of a reference where they are nearest to a simulation.
fn reference_beside(output: &Quantity, reference: &Reference, simulated: &[f64]) -> Vec<f64> {
    reference.values.iter().zip(simulated).map(|(value, y)| output.beside(*value, *y)).collect()
}

/// A simulation that begins where it is nearest to a reference.
fn begun_beside(output: &Quantity, mut simulated: Vec<f64>, reference: &[f64]) -> Vec<f64> {
    let first = simulated.iter().zip(reference).find(|(_, value)| !value.is_nan());
    let shift = first.map_or(0.0, |(y, value)| output.beside(*y, *value) - y);
    if shift != 0.0 {
        simulated.iter_mut().for_each(|y| *y += shift);
    }
    simulated
}

/// Values at the samples of a cost.
fn at_samples(cost: &LeastSquares, values: Vec<f64>) -> Vec<f64> {
    values.into_iter().step_by(cost.substeps()).collect()
}

impl Folder {
    /// `output_NAME` of a simulation beside a record.
    pub(super) fn measured_outputs(
        &self,
        simulation: &Simulation,
        trajectory: &Trajectory,
        cost: &LeastSquares,
    ) -> Result<()> {
        let times = at_samples(cost, trajectory.times().to_vec());
        for reference in cost.references() {
            let output = &simulation.signature().outputs[reference.output];
            let simulated = at_samples(cost, trajectory.output(reference.output));
            let measured = ("measured", &*reference_beside(output, reference, &simulated));
            let figure = plot::comparison(&output.name, &printed(&output.unit), &times, measured, &simulated)?;
            self.draw(&format!("output_{}", output.name), &figure)?;
        }
        Ok(())
    }

    /// `output_NAME` and `error_NAME` of an identification, and `outputs.csv`.
    pub(super) fn compared_outputs(&self, problem: &Problem, found: &Identification) -> Result<()> {
        let Some(cost) = problem.cost.as_least_squares() else { return Ok(()) };
        let compared = if problem.optimum.is_some() { "reference" } else { "measured" };
        let last = found.history.len() - 1;
        let mut shown: Vec<usize> = [0, last / 4, last / 2, 3 * last / 4, last].into();
        shown.dedup();
        // of each run what is shown is kept, since states take more memory than all of it
        let outputs = |u: &[f64]| -> Result<Vec<Vec<f64>>> {
            let run = problem.simulation.run(u)?;
            Ok(cost.references().iter().map(|reference| at_samples(cost, run.output(reference.output))).collect())
        };
        let runs = shown.iter().map(|&i| outputs(&found.history[i])).collect::<Result<Vec<_>>>()?;
        let best = outputs(&found.values())?;
        let times = at_samples(cost, problem.simulation.grid().times().to_vec());
        let mut columns = vec![("time [s]".to_string(), times.clone())];
        for (k, reference) in cost.references().iter().enumerate() {
            let output = &problem.simulation.signature().outputs[reference.output];
            let (name, unit) = (output.name.as_str(), output.unit.as_str());
            let figure_unit = printed(unit);
            let after = &best[k];
            let values = reference_beside(output, reference, after);
            let before = begun_beside(output, runs[0][k].clone(), &values);
            self.draw(
                &format!("output_{name}"),
                &plot::outputs(name, &figure_unit, &times, (compared, &values), &before, after)?,
            )?;
            let errors = shown.iter().zip(&runs).map(|(i, run)| {
                // as the cost sees them
                let error = run[k].iter().zip(&reference.values).map(|(y, value)| output.difference(*y, *value));
                (format!("iteration {i}"), error.collect())
            });
            let errors: Vec<(String, Vec<f64>)> = errors.collect();
            let labelled: Vec<_> = errors.iter().map(|(label, error)| (label.as_str(), error.as_slice())).collect();
            self.draw(&format!("error_{name}"), &plot::errors(name, &figure_unit, &times, &labelled)?)?;
            // a record cannot hold samples that are not there
            if values.iter().all(|value| value.is_finite()) {
                columns.push((format!("{name} reference [{unit}]"), values));
            }
            columns.push((format!("{name} before [{unit}]"), before));
            columns.push((format!("{name} after [{unit}]"), after.clone()));
        }
        self.csv("outputs.csv", columns)
    }
}
