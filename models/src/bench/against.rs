//! The same problem by other tools, on the same machine in the same run: small scripts of ours, where Python has what they need.

use super::{Expected, Found, Given, Row};
use crate::pendulum_chain::pendulum_chain;
use costate::Simulation;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate_identify::registry::{Entry, Scenario};
use costate_identify::{Error, Result};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

/// A script and what is compared with it.
pub(super) struct Peer {
    /// The module that it needs, by which it is asked for.
    pub name: &'static str,
    /// What it does, as the page's heading.
    pub title: &'static str,
    script: &'static str,
    compare: fn(&Given<'_>, &Value) -> Result<Found>,
}

pub(super) const PEERS: [Peer; 3] = [
    Peer {
        name: "scipy",
        title: "Beside scipy: engine mount, eliminated by hand, LSODA, gradient by differences",
        script: include_str!("peers/scipy.py"),
        compare: scipy,
    },
    Peer {
        name: "casadi",
        title: "Beside CasADi: engine mount, the same 1000 steps of HHT, reverse mode",
        script: include_str!("peers/casadi.py"),
        compare: casadi,
    },
    Peer {
        name: "exudyn",
        title: "Beside Exudyn: chain of a hundred rods, 1000 steps, one thread",
        script: include_str!("peers/exudyn.py"),
        compare: exudyn,
    },
];

/// What became of a script.
pub(super) enum Answer {
    /// It cannot be run here, for this reason.
    Absent(String),
    /// It was compared.
    Compared(Result<Found>),
}

impl Peer {
    pub(super) fn run(&self, given: &Given<'_>, python: &str) -> Answer {
        let document = match self.document(python) {
            Ok(Ok(document)) => document,
            Ok(Err(reason)) => return Answer::Absent(reason),
            Err(error) => return Answer::Compared(Err(error)),
        };
        Answer::Compared((self.compare)(given, &document))
    }

    /// What the script prints, or why it cannot be run.
    fn document(&self, python: &str) -> Result<std::result::Result<Value, String>> {
        let begun =
            Command::new(python).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = match begun {
            Ok(child) => child,
            Err(error) => return Ok(Err(format!("`{python}` cannot be run ({error}); name another one: --python"))),
        };
        let failed = |problem: String| {
            Error::invalid(format!("the script beside {}", self.name), problem, "try another version of it")
        };
        if let Some(mut input) = child.stdin.take() {
            // a Python that ends before it has read all says why on its standard error
            let _ = input.write_all(self.script.as_bytes());
        }
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or("it said nothing").to_string();
        if last.starts_with("ModuleNotFoundError") {
            return Ok(Err(format!("{last} (`{python} -m pip install {}`)", self.name)));
        }
        if !output.status.success() {
            return Err(failed(last));
        }
        let printed = String::from_utf8_lossy(&output.stdout);
        let line = printed.lines().last().unwrap_or_default();
        serde_json::from_str(line).map(Ok).map_err(|error| failed(error.to_string()))
    }
}

fn number(document: &Value, pointer: &str) -> f64 {
    document.pointer(pointer).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// Seconds of a run: the median of as many as a fifth of a second has place for, three at least.
fn seconds(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut taken = Vec::new();
    let begun = Instant::now();
    while taken.len() < 3 || begun.elapsed().as_secs_f64() < 0.2 {
        let one = Instant::now();
        run()?;
        taken.push(one.elapsed().as_secs_f64());
    }
    taken.sort_by(f64::total_cmp);
    Ok(taken[taken.len() / 2])
}

/// How many times as long the other tool takes.
fn ratios(document: &Value, own: &[(&str, f64)]) -> Vec<Row> {
    let tool = document["tool"].as_str().unwrap_or("unnamed");
    let row = |(name, seconds): &(&str, f64)| {
        let factor = number(document, &format!("/seconds/{name}")) / seconds;
        Row::new(
            &format!("time, {name}"),
            "times",
            Expected::Unknown,
            factor,
            &format!("{tool}, its time over costate's"),
        )
    };
    own.iter().map(row).collect()
}

const MOUNT: [&str; 4] = ["dJ/dc_E1", "dJ/dc_E2", "dJ/dd_E", "dJ/dd_H2"];

/// Cost, gradient, and seconds of both by name.
type Mount = (f64, Vec<f64>, [(&'static str, f64); 2]);

/// Cost and gradient of the engine mount at a step, and how long both take here.
fn mount(given: &Given<'_>, step: f64) -> Result<Mount> {
    let entry = given.registry.get("engine_mount")?;
    let problem = entry.problem(&Scenario { step, ..entry.scenario.clone() })?;
    let first = problem.first();
    let mut gradient = Gradient::new(&first.simulation, &*first.cost)?;
    let mut slope = vec![0.0; problem.start.len()];
    let alone = seconds(|| gradient.cost(&problem.start).map(drop).map_err(Error::from))?;
    let both = seconds(|| Ok(gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope).map(drop)?))?;
    let cost = gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope)?;
    Ok((cost, slope, [("cost", alone), ("with gradient", both)]))
}

/// Its values against ours, within this part of them.
fn values(document: &Value, (cost, slope): (f64, &[f64]), allowed: [f64; 2], source: &str) -> Vec<Row> {
    let near = |known: f64, part: f64| Expected::Value(known, part * known.abs());
    let mut rows = vec![Row::new("J", "m^2/s^3", near(number(document, "/cost"), allowed[0]), cost, source)];
    for (k, name) in MOUNT.iter().enumerate() {
        let theirs = number(document, &format!("/gradient/{k}"));
        rows.push(Row::new(name, "", near(theirs, allowed[1]), slope[k], source));
    }
    rows
}

fn scipy(given: &Given<'_>, document: &Value) -> Result<Found> {
    let (cost, slope, times) = mount(given, 1e-4)?;
    let source = "scipy at 10 kHz; its differences lose digits, our steps are of the same 0.1 ms, hence 15 %";
    let mut rows = values(document, (cost, &slope), [1e-3, 0.15], source);
    rows.extend(ratios(document, &times));
    Ok(rows.into())
}

fn casadi(given: &Given<'_>, document: &Value) -> Result<Found> {
    let (cost, slope, times) = mount(given, 1e-3)?;
    let source = "CasADi on the same steps, its Newton iterations to 1e-10";
    let mut rows = values(document, (cost, &slope), [1e-10, 1e-8], source);
    rows.extend(ratios(document, &times));
    Ok(rows.into())
}

fn exudyn(given: &Given<'_>, document: &Value) -> Result<Found> {
    const RODS: usize = 100;
    let system: Arc<dyn System> = Arc::new(pendulum_chain(RODS)?);
    let own = given.registry.get("pendulum_chain")?;
    let scenario = Scenario { end: 1.0, step: 1e-3, ..own.scenario.clone() };
    let entry = Entry::new("", system, Scenario { outputs: Vec::new(), start: Vec::new(), ..scenario });
    let simulation: Simulation = entry.simulation(&entry.scenario)?;
    let mut u = entry.system.signature().nominal();
    // without dampers
    u[RODS..].fill(0.0);
    let mut end = [f64::NAN; 2];
    let time = seconds(|| {
        let run = simulation.run(&u)?;
        // the middle of the fifth rod; a rod has three coordinates
        let last = run.state(run.times().len() - 1).q;
        end = [last[12], last[13]];
        Ok(())
    })?;
    let source = "Exudyn, generalized-alpha with the same 1000 steps";
    let mut rows = Vec::new();
    for (k, name) in ["middle of rod 5, x", "middle of rod 5, y"].into_iter().enumerate() {
        let theirs = number(document, &format!("/position/{k}"));
        rows.push(Row::new(name, "m", Expected::Value(theirs, 1e-8), end[k], source));
    }
    rows.extend(ratios(document, &[("run", time)]));
    Ok(rows.into())
}
