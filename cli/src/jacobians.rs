//! `costate jacobians`: the exact Jacobians of a model at one point, to hold derivatives by hand against.

use super::ExitStatus;
use super::console::{print, print_document, tell};
use super::settings::{self, Run, RunArguments, assignments, number};
use costate::kinks::{in_a_sentence, kinks};
use costate::shown::{number as written, shown};
use costate::system::Point;
use costate::{Quantity, Signature, TimeGrid};
use costate_check::{Jacobian, Jacobians};
use costate_identify::registry::Registry;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use serde_json::{Map, Value, json};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    /// At the state of a run at this time, s [default: at its start]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = number)]
    time: Option<f64>,
    /// Other values there: NAME=X for positions and states, NAME'=X for velocities and rates of states, NAME''=X for accelerations, multipliers and inputs by
    /// their names
    #[arg(long, value_name = "NAME=X,..", allow_hyphen_values = true)]
    at: Vec<String>,
    /// Blocks that are printed alone: M, J_M, J_C, J_Q, J_V, C_q, dQ/du, dC/du, df/du, ..
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    only: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A point with its own numbers.
struct State {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    lambda: Vec<f64>,
    w: Vec<f64>,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let Run { entry, u, simulation, .. } = arguments.run.prepare(registry, settings::entry)?;
    let signature = entry.system.signature();
    let times = simulation.grid().times();
    let place = match arguments.time {
        None => 0,
        Some(time) => nearest(times, time)?,
    };
    if let Some(time) = arguments.time.filter(|time| *time != times[place]) {
        tell(&format!("note: the time step nearest to {} s ends at {} s", shown(time), shown(times[place])));
    }
    let grid = TimeGrid::through(&times[..=place.max(1)], 1)?;
    let run = simulation.on(grid, simulation.signals().to_vec())?.run(&u)?;
    let Point { t, q, v, a, lambda, .. } = run.state(place);
    let of = |values: &[f64]| values.to_vec();
    let mut state = State { t, q: of(q), v: of(v), a: of(a), lambda: of(lambda), w: of(simulation.inputs_at(place)) };
    for (name, value) in assignments("--at", &arguments.at)? {
        *state.place(&name, signature)? = value;
    }
    let State { t, q, v, a, lambda, w } = &state;
    let x = Point { t: *t, q, v, a, lambda, w };
    let jacobians = Jacobians::at(&*entry.system, &x, &u)?;
    // outputs and inputs have no part in these
    let kinks = kinks(&*entry.system, &x, &u).into_iter().filter(|kink| kink.output.is_none() && kink.input.is_none());
    let sentence = in_a_sentence(&kinks.collect::<Vec<_>>());
    sentence.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let chosen: Vec<&Jacobian> = match arguments.only.is_empty() {
        true => jacobians.all().iter().collect(),
        false => arguments.only.iter().map(|symbol| jacobians.get(symbol.trim())).collect::<costate::Result<_>>()?,
    };
    if arguments.json {
        print_document(&format!("{:#}", document(&state, signature, &u, &chosen)));
        return Ok(ExitStatus::Success);
    }
    print(&format!("{} at t = {} s\n\n{}", entry.name(), shown(*t), state.text(signature)));
    for jacobian in chosen {
        print(&format!("\n{}", text(jacobian)));
    }
    Ok(ExitStatus::Success)
}

/// The place of the time that is nearest.
fn nearest(times: &[f64], time: f64) -> Result<usize> {
    let (first, last) = (times[0], times[times.len() - 1]); // a grid has a step
    let slack = 1e-9 * (last - first);
    if !(first - slack..=last + slack).contains(&time) {
        let problem = format!("the run goes from {} s to {} s", shown(first), shown(last));
        return Err(Error::invalid(
            format!("--time {}", shown(time)),
            problem,
            "choose a time within it, or another --end",
        ));
    }
    let behind = times.partition_point(|t| *t < time).min(times.len() - 1);
    let before = behind.saturating_sub(1);
    Ok(if time - times[before] < times[behind] - time { before } else { behind })
}

impl State {
    /// The number that is called so.
    fn place(&mut self, name: &str, signature: &Signature) -> Result<&mut f64> {
        let plain = name.trim_end_matches('\'');
        let unknown = signature.unknowns().position(|quantity| quantity.name == plain);
        let is_plain = plain.len() == name.len();
        let multiplier = signature.constraints.iter().position(|quantity| is_plain && quantity.name == name);
        let input = signature.inputs.iter().position(|quantity| is_plain && quantity.name == name);
        // a state is handled as a velocity, whose position nobody sees
        let is_state = unknown.is_some_and(|k| signature.state_places().contains(&k));
        match (unknown, name.len() - plain.len() + usize::from(is_state), input, multiplier) {
            (Some(k), 0, ..) => Ok(&mut self.q[k]),
            (Some(k), 1, ..) => Ok(&mut self.v[k]),
            (Some(k), 2, ..) => Ok(&mut self.a[k]),
            (_, _, Some(k), _) => Ok(&mut self.w[k]),
            (_, _, _, Some(k)) => Ok(&mut self.lambda[k]),
            _ => {
                let of = |(k, quantity): (usize, &Quantity)| {
                    let ends = if signature.state_places().contains(&k) { &["", "'"][..] } else { &["", "'", "''"] };
                    ends.iter().map(|end| format!("{}{end}", quantity.name)).collect::<Vec<String>>()
                };
                let unknowns = signature.unknowns().enumerate().flat_map(of);
                let others =
                    signature.inputs.iter().chain(&signature.constraints).map(|quantity| quantity.name.clone());
                let context = format!("model `{}`", signature.name);
                Err(Error::unknown("coordinate, input or constraint", name, context, unknowns.chain(others)))
            }
        }
    }

    fn text(&self, signature: &Signature) -> String {
        let row = |(k, quantity): (usize, &Quantity), columns: &[&[f64]]| -> Vec<String> {
            let values = columns.iter().map(|values| written(values[k]));
            [quantity.name.clone(), quantity.unit.clone()].into_iter().chain(values).collect()
        };
        let of_coordinates = signature.coordinates.iter().enumerate();
        let of_states = signature.state_places().zip(&signature.states);
        let coordinates: Vec<_> = of_coordinates.map(|one| row(one, &[&self.q, &self.v, &self.a])).collect();
        let states: Vec<_> = of_states.map(|one| row(one, &[&self.v, &self.a])).collect();
        let rest = |names: &[Quantity], values: &[f64]| -> Vec<Vec<String>> {
            let row = |(quantity, value): (&Quantity, &f64)| {
                vec![quantity.name.clone(), quantity.unit.clone(), written(*value)]
            };
            names.iter().zip(values).map(row).collect()
        };
        let mut parts = Vec::new();
        if !coordinates.is_empty() {
            parts.push(table(&["coordinate", "unit", "q", "v", "a"], &coordinates));
        }
        if !states.is_empty() {
            parts.push(table(&["state", "unit", "value", "rate"], &states));
        }
        // times the constraint it is a work
        let of_multiplier = |row: &Quantity| Quantity { unit: per_unit_of(&row.unit), ..row.clone() };
        let multipliers: Vec<Quantity> = signature.constraints.iter().map(of_multiplier).collect();
        for (what, names, values) in
            [("multiplier of", &multipliers, &self.lambda), ("input", &signature.inputs, &self.w)]
        {
            if !values.is_empty() {
                parts.push(table(&[what, "unit", "value"], &rest(names, values)));
            }
        }
        parts.join("\n\n")
    }
}

/// Joules by the unit of a constraint.
fn per_unit_of(unit: &str) -> String {
    match unit {
        "m" => "N".to_string(),
        "m^2" => "N/m".to_string(),
        "" | "1" | "rad" => "N m".to_string(),
        other => format!("N m/({other})"),
    }
}

fn text(Jacobian { name, rows, columns, matrix, .. }: &Jacobian) -> String {
    let heading = format!("{}: {}", name.symbol, name.words);
    let header: Vec<&str> = std::iter::once("row").chain(columns.iter().map(String::as_str)).collect();
    let row = |(i, row): (usize, &String)| {
        std::iter::once(row.clone()).chain(matrix.row(i).iter().map(|entry| written(*entry))).collect()
    };
    format!("{heading}\n{}", table(&header, &rows.iter().enumerate().map(row).collect::<Vec<Vec<String>>>()))
}

fn document(state: &State, signature: &Signature, u: &[f64], chosen: &[&Jacobian]) -> Value {
    let named = |names: Vec<&String>, values: &[f64]| -> Value {
        let pairs = names.into_iter().zip(values).map(|(name, value)| (name.clone(), json!(value)));
        Value::Object(pairs.collect::<Map<String, Value>>())
    };
    let places = signature.state_places();
    let of = |all: &[Quantity], values: &[f64]| named(all.iter().map(|one| &one.name).collect(), values);
    let jacobians = chosen.iter().map(|jacobian| {
        let Jacobian { name, rows, columns, matrix, .. } = jacobian;
        let values: Vec<Vec<f64>> = matrix.row_iter().map(|row| row.iter().copied().collect()).collect();
        json!({ "symbol": name.symbol, "words": name.words, "rows": rows, "columns": columns, "values": values })
    });
    json!({
        "model": signature.name,
        "time": state.t,
        "positions": of(&signature.coordinates, &state.q),
        "velocities": of(&signature.coordinates, &state.v),
        "accelerations": of(&signature.coordinates, &state.a),
        "states": of(&signature.states, &state.v[places.clone()]),
        "rates": of(&signature.states, &state.a[places]),
        "multipliers": of(&signature.constraints, &state.lambda),
        "inputs": of(&signature.inputs, &state.w),
        "parameters": named(signature.parameters.iter().map(|one| &one.name).collect(), u),
        "jacobians": jacobians.collect::<Vec<Value>>(),
    })
}
