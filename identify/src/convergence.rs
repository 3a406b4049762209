//! Convergence of a problem's outputs and cost when the step is halved.

use crate::problem::{Experiment, Problem};
use crate::{Error, Result};
use costate::sensitivity::Gradient;
use costate_check::{Convergence, Values, failure_in_short};

/// Compared outputs of each experiment at its samples, as sensors show them, and costs, at `u`.
///
/// # Errors
/// As [`Convergence::of_simulation`]; a cost that is no sum of squares.
pub fn convergence(problem: &Problem, u: &[f64], halvings: usize, done: &mut dyn FnMut(usize)) -> Result<Convergence> {
    let costs = problem.least_squares().ok_or_else(|| {
        Error::invalid(format!("the cost of `{}`", problem.name), "it is no sum of squares", "name the model alone")
    })?;
    let mut named = Vec::new();
    for (experiment, cost) in problem.experiments.iter().zip(&costs) {
        named.extend(cost.references().iter().map(|reference| {
            let compared = cost.quantity(reference, experiment.simulation.signature());
            // what is still to be estimated is no measure of errors
            let is_known = !problem.estimates_deviation(experiment, reference.output);
            let deviation = is_known.then_some(reference.deviation);
            (problem.name_in(experiment, &compared.name), compared.unit, deviation)
        }));
    }
    let compared = named.len();
    named.extend(problem.experiments.iter().map(|own| (problem.name_in(own, "cost"), String::new(), None)));
    if problem.experiments.len() > 1 {
        named.push(("cost".to_string(), String::new(), None));
    }
    let run = |parts: usize| {
        let (mut values, mut own_costs, mut steps) = (Vec::with_capacity(compared), Vec::new(), 0);
        for experiment in &problem.experiments {
            let at = at_divided_steps(experiment, u, parts).map_err(|error| match problem.experiments.len() {
                1 => error,
                _ => error.in_experiment(&experiment.name),
            })?;
            values.extend(at.outputs);
            own_costs.push(at.cost);
            steps += at.steps;
        }
        values.extend(own_costs.iter().map(|cost| vec![*cost]));
        if own_costs.len() > 1 {
            values.push(vec![own_costs.iter().sum()]);
        }
        Ok((values, steps))
    };
    let failed = |error: &Error| {
        let short = error.engine().and_then(failure_in_short)?;
        match error {
            Error::Experiment { name, .. } => Some(format!("experiment `{name}`: {short}")),
            _ => Some(short),
        }
    };
    let first = &problem.first().simulation;
    let times = first.grid().times();
    let found = Convergence::of_runs(halvings, first.step_size(1), (run, failed), named, done)?;
    Ok(Convergence { times: costs[0].places().all(times.len()).count(), end: times[times.len() - 1], ..found })
}

/// Results of an experiment with divided steps.
struct Divided {
    /// Compared outputs at the samples.
    outputs: Values,
    cost: f64,
    steps: usize,
}

fn at_divided_steps(experiment: &Experiment, u: &[f64], parts: usize) -> Result<Divided> {
    let simulation = &experiment.simulation;
    let Some(cost) = experiment.cost.as_least_squares() else {
        let what = format!("the cost of `{}`", experiment.name);
        return Err(Error::invalid(what, "it is no sum of squares", "compare outputs with a reference instead"));
    };
    let simulation = simulation.divided(parts, simulation.signals().to_vec())?;
    let steps = simulation.steps();
    let cost = cost.clone().with_steps_divided(parts);
    let run = simulation.run(&experiment.own(u))?;
    let sensors = experiment.of_sensors(u);
    let outputs = cost.references().iter().map(|reference| {
        let shown = cost.sensors().shown(reference.output, run.times(), run.output(reference.output), &sensors);
        cost.places().all(shown.len()).map(|i| shown[i]).collect()
    });
    let outputs = outputs.collect();
    let own: Vec<f64> = experiment.places.iter().map(|&place| u[place]).collect();
    let cost = Gradient::new(&simulation, &cost)?.cost(&own)?;
    Ok(Divided { outputs, cost, steps })
}
