//! What a control problem gives: `result.json`, `signals.csv`, `outputs.csv`, `history.csv` and figures.

use super::{Folder, named, plot, units};
use crate::control::{Control, Solution};
use crate::error::Result;
use crate::optimise::Method;
use crate::plot::{Axis, Color, Dash, Figure, Panel, Series};
use crate::scheme;
use serde_json::{Value, json};

/// The result of a control problem as JSON.
pub fn control_json(control: &Control, method: Method, solution: &Solution, replay_tolerance: f64) -> Value {
    let outcome = &solution.outcome;
    let signature = control.simulation.signature();
    let (u, w) = control.expand(&outcome.u);
    let (times, inputs) = (control.simulation.grid().times(), signature.inputs.len());
    let signal = |signal: &crate::control::UnknownSignal| {
        // the problem was built from the same signature
        let k = signature.input_index(&signal.input).unwrap_or(0);
        let values: Vec<f64> = w.iter().skip(k).step_by(inputs).copied().collect();
        json!({"input": signal.input, "unit": signature.inputs[k].unit, "shape": signal.shape.name(), "values": values})
    };
    let parameters = control.parameters.iter().zip(&u).zip(&control.start);
    json!({
        "model": signature.name,
        "method": method.name(),
        "scheme": control.simulation.scheme().name(),
        "scheme_settings": scheme::settings_of(control.simulation.scheme()),
        "steps": control.simulation.grid().count(),
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
        "signals": control.signals().map(signal).collect::<Vec<_>>(),
    })
}

impl Folder {
    /// Everything that a control problem gives; `start`: all inputs at the times of the first search's beginning, as (times, values).
    ///
    /// # Errors
    /// [`crate::Error::Io`].
    pub fn control(
        &self,
        control: &Control,
        solution: &Solution,
        start: (&[f64], &[f64]),
        document: Value,
    ) -> Result<()> {
        let signature = control.simulation.signature();
        let (u, w) = control.expand(&solution.outcome.u);
        let times = control.simulation.grid().times();
        let simulation = control.simulation_of(&solution.outcome.u, 1)?;
        let run = simulation.run(&u)?;
        let inputs = signature.inputs.len();
        let of = |values: &[f64], k: usize| values.iter().skip(k).step_by(inputs).copied().collect::<Vec<f64>>();
        self.together("result.json", document, |aside| {
            let mut columns = vec![("time [s]".to_string(), times.to_vec())];
            columns.extend(signature.inputs.iter().enumerate().map(|(k, input)| (input.to_string(), of(&w, k))));
            aside.csv("signals.csv", columns)?;
            let outputs: Vec<Vec<f64>> = (0..signature.outputs.len()).map(|k| run.output(k)).collect();
            aside.outputs(&simulation, &run)?;
            let history = &solution.outcome.history;
            aside.csv(
                "history.csv",
                vec![
                    ("iteration".to_string(), history.iter().map(|i| i.number as f64).collect::<Vec<f64>>()),
                    ("evaluations".to_string(), history.iter().map(|i| i.evaluations as f64).collect()),
                    ("cost".to_string(), history.iter().map(|i| i.cost).collect()),
                    ("gradient_norm".to_string(), history.iter().map(|i| i.gradient_norm).collect()),
                ],
            )?;
            aside.draw("cost", &plot::cost_history(&history.iter().map(|i| i.cost).collect::<Vec<f64>>())?)?;
            let mut figure = Figure::column();
            for (k, input) in signature.inputs.iter().enumerate() {
                figure = figure.panel(
                    Panel::new(Axis::linear("time [s]"), Axis::linear(super::labelled(input)))
                        .series(
                            Series::line(start.0, &of(start.1, k))
                                .label("start")
                                .color(Color::PALETTE[1])
                                .dash(Dash::Dashed),
                        )
                        .series(Series::line(times, &of(&w, k)).label("found").color(Color::PALETTE[0])),
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
