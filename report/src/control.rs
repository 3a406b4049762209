//! What a control problem gives: `result.json`, `signals.csv`, `outputs.csv`, `history.csv` and figures.

use super::{Folder, named, plot, units};
use crate::plot::{Axis, Color, Dash, Figure, Panel, Series};
use costate::Quantity;
use costate_identify::Result;
use costate_identify::control::{Refined, Stage, UnknownSignal};
use costate_identify::design::{Assessment, Optimality, Sought};
use costate_identify::optimise::Method;
use serde_json::{Value, json};

/// The result of a control problem as JSON.
pub fn control_json(refined: &Refined, method: Method, replay_tolerance: f64) -> Value {
    let Refined { control, solution, stages, kept } = refined;
    let outcome = &solution.outcome;
    let signature = control.simulation.signature();
    let (u, _) = control.expand(&outcome.u);
    let times = control.simulation.grid().times();
    let found = control.found(&outcome.u);
    let signal = |(signal, quantity, values): &(&UnknownSignal, &Quantity, Vec<f64>)| {
        let is_motion = signature.motions.iter().any(|motion| motion.quantity == **quantity);
        let shape = if is_motion { "motion" } else { signal.shape.name() };
        json!({"input": signal.input, "unit": quantity.unit, "shape": shape, "values": values})
    };
    let parameters = control.parameters.iter().zip(&u).zip(&control.start);
    json!({
        "model": signature.name,
        "method": method.name(),
        "scheme": control.simulation.scheme().name(),
        "scheme_settings": super::scheme_settings(control.simulation.scheme()),
        "steps": control.simulation.steps(),
        "unknowns": control.unknowns().0,
        "converged": outcome.converged,
        "reason": outcome.reason.to_string(),
        "cost": outcome.cost,
        "start_cost": solution.start_cost,
        "shares": solution.shares.iter().map(|(name, cost)| json!({"term": name, "cost": cost})).collect::<Vec<_>>(),
        "constraints": solution.violations,
        "constraints_met": solution.is_met,
        "rounds": solution.rounds,
        "iterations": outcome.iterations,
        "evaluations": outcome.evaluations,
        "gradient_norm": outcome.gradient_norm,
        "stages": stages,
        "kept_stage": kept,
        "parameters": parameters
            .map(|((p, value), start)| json!({"name": p.name, "unit": p.unit, "value": value, "start": start, "free": p.free}))
            .collect::<Vec<_>>(),
        "replay": {
            "cost": solution.replay.cost,
            "outputs": solution.replay.shifts,
            "largest_relative_change": solution.replay.largest,
            "tolerance": replay_tolerance,
            "survives": solution.replay.survives(replay_tolerance),
        },
        "times": times,
        "signals": found.iter().map(signal).collect::<Vec<_>>(),
    })
}

/// What the run at the start and the run that was found say of parameters, as JSON: standard errors, in the parameters' units.
pub fn information_json(sought: &Sought, [start, found]: [&Assessment; 2]) -> Value {
    let means = |assessment: &Assessment| {
        let each = Optimality::ALL.map(|own| (own.name().to_string(), json!(finite(assessment.mean(own)))));
        Value::Object(each.into_iter().collect())
    };
    let parameters = sought.parameters.iter().enumerate().map(|(k, own)| {
        json!({
            "name": own.name,
            "unit": own.unit,
            "size": own.size,
            "counts": sought.of.contains(&k),
            "at_start": finite(start.standard_errors[k]),
            "found": finite(found.standard_errors[k]),
        })
    });
    json!({
        "criterion": sought.optimality.name(),
        "means_at_start": means(start),
        "means": means(found),
        "standard_errors": parameters.collect::<Vec<_>>(),
    })
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The number of the stage that a record of the history belongs to.
fn stage_of(stages: &[Stage], iteration: usize) -> usize {
    stages.partition_point(|stage| stage.first_iteration <= iteration)
}

impl Folder {
    /// Everything that a control problem gives; `start`: all inputs and parameters with which the first search began, as (times, inputs,
    /// parameters).
    ///
    /// # Errors
    /// [`costate_identify::Error::Data`].
    pub fn control(&self, refined: &Refined, start: (&[f64], &[f64], &[f64]), document: Value) -> Result<()> {
        let Refined { control, solution, stages, .. } = refined;
        let signature = control.simulation.signature();
        let (u, w) = control.expand(&solution.outcome.u);
        let times = control.simulation.grid().times();
        let simulation = control.simulation_of(&solution.outcome.u, 1)?;
        let run = simulation.run(&u)?;
        let inputs = signature.inputs.len();
        let of = |values: &[f64], k: usize| values.iter().skip(k).step_by(inputs).copied().collect::<Vec<f64>>();
        // where they jump, those from then on, as a record has them
        let from_then_on =
            |k: usize| (0..times.len()).map(|i| w[control.simulation.row_from(i) * inputs + k]).collect();
        let motions = signature.motions.iter();
        let motions =
            motions.map(|motion| (&motion.quantity, motion.values(start.0, start.2), motion.values(times, &u)));
        // each with its start and what has been found
        let signals = signature.inputs.iter().enumerate().map(|(k, input)| (input, of(start.1, k), from_then_on(k)));
        let signals: Vec<(&Quantity, Vec<f64>, Vec<f64>)> = signals.chain(motions).collect();
        self.together("result.json", document, |aside| {
            let mut columns = vec![("time [s]".to_string(), times.to_vec())];
            columns.extend(signals.iter().map(|(quantity, _, found)| (quantity.to_string(), found.clone())));
            aside.csv("signals.csv", columns)?;
            let outputs: Vec<Vec<f64>> = (0..signature.outputs.len()).map(|k| run.output(k)).collect();
            aside.outputs(&simulation, &run)?;
            let history = &solution.outcome.history;
            aside.csv(
                "history.csv",
                vec![
                    ("stage".to_string(), history.iter().map(|i| stage_of(stages, i.number) as f64).collect()),
                    ("iteration".to_string(), history.iter().map(|i| i.number as f64).collect::<Vec<f64>>()),
                    ("evaluations".to_string(), history.iter().map(|i| i.evaluations as f64).collect()),
                    ("cost".to_string(), history.iter().map(|i| i.cost).collect()),
                    ("gradient_norm".to_string(), history.iter().map(|i| i.gradient_norm).collect()),
                ],
            )?;
            let costs: Vec<f64> = history.iter().map(|i| i.cost).collect();
            let firsts: Vec<usize> = stages.iter().map(|stage| stage.first_iteration).collect();
            aside.draw("cost", &plot::cost_history_in_stages(&costs, &firsts)?)?;
            let mut figure = Figure::column();
            let jumps = (0..signals.len()).map(|k| control.jumps(k));
            for ((quantity, begun, found), jumps) in signals.iter().zip(jumps) {
                let begun = Series::line(start.0, begun).label("start");
                let found = if jumps { Series::step(times, found) } else { Series::line(times, found) };
                figure = figure.panel(
                    Panel::new(Axis::linear("time [s]"), Axis::linear(super::labelled(quantity)))
                        .series(begun.color(Color::PALETTE[1]).dash(Dash::Dashed))
                        .series(found.label("found").color(Color::PALETTE[0])),
                );
            }
            aside.draw("signals", &figure.share_x())?;
            if outputs.is_empty() {
                return Ok(());
            }
            aside.signals(
                "outputs",
                plot::trajectory,
                times,
                &named(&signature.outputs, &units(&signature.outputs), &outputs),
            )
        })
    }
}
