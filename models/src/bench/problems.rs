//! The problems, with what is known of each and what this program finds; what is allowed is our choice, as near as the steps taken here come.

// digits as they are published
#![allow(clippy::excessive_precision)]

use super::{Expected, Found, Given, Problem, Row, closed_form, figures, records};
use crate::four_bar_chain::four_bar_chain;
use crate::overhead_crane;
use crate::pendulum_chain::pendulum_chain;
use crate::squeezer::AT_30_MS;
use costate::Signal;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate_check::Convergence;
use costate_identify::control::{Refined, refine};
use costate_identify::optimise::{self, Flow, Options};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Entry, Registry, Scenario};
use costate_identify::{Error, Result, Settings, identify};
use std::sync::Arc;

const FLYBALL: &str = include_str!("../../files/flyball_governor.toml");

/// All problems, in the order of the page.
pub(super) const ALL: [Problem; 13] = [
    Problem { name: "a01", title: "A01: simple pendulum, 10 s", record: None, run: a01 },
    Problem {
        name: "a02",
        title: "A02: two four-bar linkages through singular positions, 10 s",
        record: None,
        run: a02,
    },
    Problem { name: "a03", title: "A03: Andrews' squeezing mechanism, 0.03 s", record: None, run: a03 },
    Problem { name: "a04", title: "A04: Bricard's mechanism, 10 s", record: None, run: a04 },
    Problem { name: "a05", title: "A05: stiff flyball governor, 10 s", record: None, run: a05 },
    Problem { name: "mount", title: "Hydraulic engine mount", record: None, run: mount },
    Problem { name: "crane", title: "Overhead crane: force and torque for a path", record: None, run: crane },
    Problem { name: "rigid-body", title: "Shaken rigid body: its inertia tensor", record: None, run: rigid_body },
    Problem { name: "triple-pendulum", title: "Swing-up of a triple pendulum", record: None, run: triple_pendulum },
    Problem { name: "chain", title: "Chain of a thousand rods, 1 s", record: None, run: chain },
    Problem {
        name: "silverbox",
        title: "Silverbox: an electronic Duffing oscillator, measured",
        record: Some("columns t, u, y; Wigren & Schoukens 2013, nonlinearbenchmark.org"),
        run: records::silverbox,
    },
    Problem {
        name: "emps",
        title: "EMPS: a carriage on a screw, measured",
        record: Some("columns t, vir, qm; Janot, Gautier & Brunot 2019, nonlinearbenchmark.org"),
        run: records::emps,
    },
    Problem {
        name: "double-pendulum",
        title: "Double pendulum, measured",
        record: Some("columns segment, t, theta1, theta2, omega1, omega2; Kaheman et al. 2023, github.com/dynamicslab"),
        run: records::double_pendulum,
    },
];

/// Gravity of all these problems, m/s².
const GRAVITY: f64 = 9.81;

fn entry(registry: &Registry, name: &str) -> Result<Entry> {
    Ok(registry.get(name)?.clone())
}

/// The limit of vanishing steps of a run by i2p from the model's own start.
fn limits(entry: &Entry, (end, step): (f64, f64), halvings: usize) -> Result<Convergence> {
    let own = Integrator { scheme: "i2p".into(), settings: Vec::new(), ..entry.scenario.integrator.clone() };
    let scenario = Scenario { end, step, integrator: own, ..entry.scenario.clone() };
    let simulation = entry.simulation(&scenario)?;
    let nominal = entry.system.signature().nominal();
    Ok(Convergence::of_simulation(&simulation, &nominal, halvings, &mut |_| {})?)
}

fn limit(found: &Convergence, name: &str) -> Result<f64> {
    let series = found.series.iter().find(|series| series.name == name);
    let names = || found.series.iter().map(|series| series.name.as_str());
    series.map(costate_check::Series::limit).ok_or_else(|| Error::unknown("quantity", name, "", names()))
}

/// Rows of limits: name in the run, name on the page, unit, known value, what is allowed.
type Known<'a> = (&'a str, &'a str, &'static str, f64, f64);

fn rows_of_limits(found: &Convergence, known: &[Known<'_>], source: &str) -> Result<Vec<Row>> {
    known
        .iter()
        .map(|(name, shown, unit, value, allowed)| {
            Ok(Row::new(shown, unit, Expected::Value(*value, *allowed), limit(found, name)?, source))
        })
        .collect()
}

/// The largest change of the energy in a run of a model's own scheme.
fn drift(entry: &Entry, (end, step): (f64, f64)) -> Result<f64> {
    let simulation = entry.simulation(&Scenario { end, step, ..entry.scenario.clone() })?;
    let place = simulation.signature().output_index("energy")?;
    let energy = simulation.run(&simulation.signature().nominal())?.output(place);
    Ok(energy.iter().fold(0.0, |largest, own| f64::max(largest, (own - energy[0]).abs())))
}

fn a01(given: &Given<'_>) -> Result<Found> {
    let found = limits(&entry(given.registry, "simple_pendulum")?, (10.0, 4e-3), 4)?;
    let angle = closed_form::pendulum(10.0, GRAVITY);
    let known = [("position.x", "x", "m", -angle.sin(), 1e-9), ("position.y", "y", "m", -angle.cos(), 1e-9)];
    Ok(rows_of_limits(&found, &known, "closed form, sin(angle/2) = sn(K - sqrt(g/l) t | 1/2)/sqrt 2")?.into())
}

fn a02(given: &Given<'_>) -> Result<Found> {
    let entry = Entry::new("", Arc::new(four_bar_chain(2)?), entry(given.registry, "four_bar_chain")?.scenario);
    let found = limits(&entry, (10.0, 2e-3), 4)?;
    let angle = closed_form::four_bars(10.0, 2.0, GRAVITY);
    let known =
        [("B0.x", "end of a crank, x", "m", angle.sin(), 1e-7), ("B0.y", "end of a crank, y", "m", angle.cos(), 1e-7)];
    let mut rows = rows_of_limits(&found, &known, "closed form, by the amplitude am of Jacobi")?;
    let drift = drift(&entry, (10.0, 2e-3))?;
    rows.push(Row::new("drift of energy", "J", Expected::AtMost(1e-2), drift, "energy is conserved (steps of 2 ms)"));
    Ok(rows.into())
}

fn a03(given: &Given<'_>) -> Result<Found> {
    let found = limits(&entry(given.registry, "squeezer")?, (0.03, 1e-4), 5)?;
    let known = [("beta", "beta", "rad", AT_30_MS[0], 1e-10), ("theta", "theta", "rad", AT_30_MS[1], 1e-10)];
    let mut rows = rows_of_limits(&found, &known, "Hairer & Wanner, VII.7; extrapolated with 80 bits")?;
    let printed = [
        ("gamma", "gamma", "rad", 0.040_822_240_1, 2e-9),
        ("phi", "phi", "rad", -0.534_730_116_3, 2e-9),
        ("delta", "delta", "rad", 0.524_409_965_9, 2e-9),
        ("omega", "omega", "rad", 0.534_730_116_3, 2e-9),
        ("epsilon", "epsilon", "rad", 1.048_080_741_0, 2e-9),
    ];
    rows.extend(rows_of_limits(&found, &printed, "IVP test set, as printed (good to 1.4e-9)")?);
    Ok(rows.into())
}

fn a04(given: &Given<'_>) -> Result<Found> {
    let drift = drift(&entry(given.registry, "bricard")?, (10.0, 2e-3))?;
    Ok(vec![Row::new("drift of energy", "J", Expected::AtMost(1e-3), drift, "energy is conserved (steps of 2 ms)")]
        .into())
}

fn a05(_given: &Given<'_>) -> Result<Found> {
    let entry = costate_file::parse(FLYBALL, "flyball_governor.toml".as_ref())?;
    let found = limits(&entry, (10.0, 5e-3), 4)?;
    let known = [("s.z", "height of the slider", "m", 0.619_622_917_061_3, 1e-9)];
    let source = "no published digits, but three coordinates of our own (angle of the rods, height, turn eliminated by its moment) by scipy's Radau and DOP853, which agree to 1e-13";
    Ok(rows_of_limits(&found, &known, source)?.into())
}

fn mount(given: &Given<'_>) -> Result<Found> {
    let entry = entry(given.registry, "engine_mount")?;
    let source = "recursion of Lauss 2018, eqs. (12)-(15), in quadruple precision";
    let mut rows = Vec::new();
    let tables = [
        (
            1e-3,
            51.398_189_600_245_984,
            [
                -3.318_987_662_611_389_5e-3,
                -5.766_290_705_197_710_2e-8,
                -1.169_132_161_014_394_6,
                -1.082_006_293_511_742_6e-1,
            ],
        ),
        (
            1e-4,
            50.802_098_772_184_085,
            [
                -3.052_703_001_514_960_6e-3,
                -5.056_399_742_906_533e-8,
                -8.616_900_773_061_667_3e-1,
                -8.002_714_849_981_336_2e-2,
            ],
        ),
    ];
    for (step, cost, slopes) in tables {
        let problem = entry.problem(&Scenario { step, ..entry.scenario.clone() })?;
        let first = problem.first();
        let mut slope = vec![0.0; problem.start.len()];
        let mut gradient = Gradient::new(&first.simulation, &*first.cost)?;
        let found = gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope)?;
        // ten times the steps leave ten times the round-off
        let digits = 1e-12 * (1e-3 / step);
        rows.push(Row::new(&format!("J, h {step} s"), "m^2/s^3", Expected::Value(cost, digits * cost), found, source));
        for ((parameter, expected), k) in problem.parameters.iter().zip(slopes).zip(0..) {
            let name = format!("dJ/d{}, h {step} s", parameter.name);
            rows.push(Row::new(&name, "", Expected::Value(expected, 10.0 * digits * expected.abs()), slope[k], source));
        }
    }
    let problem = entry.problem(&entry.scenario)?;
    let options = Options { cost_target: 1e-18, ..Options::default() };
    let settings = Settings { method: Some(optimise::Method::Bfgs), options, ..Settings::default() };
    let found = identify(&problem, &settings, &mut |_| Flow::Continue)?;
    let source = "Lauss 2018, Figs. 4 to 7: about 60 iterations";
    rows.push(Row::new("cost by BFGS", "m^2/s^3", Expected::AtMost(1e-18), found.outcome.cost, source));
    let count = found.outcome.evaluations as f64;
    rows.push(Row::new("evaluations", "", Expected::AtMost(70.0), count, source));
    Ok(Found { rows, figures: figures::engine_mount(&problem, &found)? })
}

/// The built-in control problem of a model.
fn controlled(registry: &Registry, name: &str) -> Result<Refined> {
    let entry = entry(registry, name)?;
    let missing = || Error::invalid(format!("model `{name}`"), "it has no control problem", "take another model");
    let scenario = entry.control.clone().ok_or_else(missing)?;
    let own = Scenario { step: scenario.step.unwrap_or(entry.scenario.step), ..entry.scenario.clone() };
    let simulation = entry.simulation(&own)?;
    let mut problem = |parts, start: Option<Vec<Signal>>| {
        scenario.control(name, &simulation, parts, start.unwrap_or_else(|| scenario.start.clone()))
    };
    let options = Options { cost_target: scenario.target, ..Options::of_control() };
    refine(scenario.refinements, &mut problem, (scenario.method, 1e-6, &options), &mut |_| Flow::Continue)
}

fn crane(given: &Given<'_>) -> Result<Found> {
    let found = controlled(given.registry, "overhead_crane")?;
    let Refined { control, solution, stages, .. } = &found;
    let start = stages.first().map_or(f64::NAN, |stage| stage.start_cost);
    let of_peer = "Nachbagauer 2015, 5.1, by CasADi: the same 300 steps of HHT, alpha = -0.1";
    let of_paper = "Nachbagauer 2015, 5.1: 1e-7 after 300 iterations";
    let mut rows = vec![
        Row::new("cost at the start", "m^2 s", Expected::Value(21.117_592_933_383, 1e-9), start, of_peer),
        Row::new("cost", "m^2 s", Expected::AtMost(1e-7), solution.outcome.cost, of_paper),
        Row::new("iterations", "", Expected::AtMost(300.0), solution.outcome.iterations as f64, of_paper),
    ];
    let signals = control.signals_of(&solution.outcome.u)?;
    for (k, (name, unit)) in [("largest force", "N"), ("largest torque", "N m")].into_iter().enumerate() {
        let times = control.simulation.grid().times();
        let largest = |value: &dyn Fn(f64) -> f64| times.iter().fold(0.0, |most, t| f64::max(most, value(*t).abs()));
        let (here, exact) = (largest(&|t| signals[k].value(t)), largest(&|t| overhead_crane::flat(t)[k]));
        let source = "the crane is flat: force and torque follow from the path; the difference is the steps'";
        rows.push(Row::new(name, unit, Expected::Value(exact, 1e-3 * exact), here, source));
    }
    Ok(Found { rows, figures: figures::crane(&found)? })
}

fn rigid_body(given: &Given<'_>) -> Result<Found> {
    let entry = entry(given.registry, "rigid_body")?;
    let problem = entry.problem(&entry.scenario)?;
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
    let values = found.values();
    let table =
        [("I11", 132.285), ("I22", 162.054), ("I33", 92.809), ("I12", 22.382), ("I13", -42.342), ("I23", 2.689)];
    let source = "Nachbagauer 2015, 5.2: put in; there 133.441, 162.073, 96.815, 22.198, -44.593 and 3.011 are found after 126 iterations";
    let mut rows = Vec::new();
    for (name, value) in table {
        let place = entry.system.signature().parameter_index(name)?;
        let known = Expected::Value(value, 1e-6 * f64::abs(value));
        rows.push(Row::new(name, "kg m^2", known, values[place], source));
    }
    Ok(Found { rows, figures: figures::rigid_body(&problem, &found)? })
}

fn triple_pendulum(given: &Given<'_>) -> Result<Found> {
    let found = controlled(given.registry, "triple_pendulum")?;
    let Refined { solution, stages, .. } = &found;
    let iterations: usize = stages.iter().map(|stage| stage.iterations).sum();
    let source = "Nachbagauer 2015, 5.3: 1.5 after 353 iterations (its cart has no limit)";
    let rows = vec![
        Row::new("cost of the end", "", Expected::AtMost(1.5), solution.outcome.cost, source),
        Row::new("iterations", "", Expected::AtMost(353.0), iterations as f64, source),
    ];
    Ok(Found { rows, figures: figures::triple_pendulum(&found)? })
}

fn chain(_given: &Given<'_>) -> Result<Found> {
    const RODS: usize = 1000;
    let system: Arc<dyn System> = Arc::new(pendulum_chain(RODS)?);
    let mut scenario = Scenario { end: 1.0, step: 1e-3, ..Scenario::default() };
    scenario.integrator.scheme = "i2p".into();
    let entry = Entry::new("", system, scenario);
    let simulation = entry.simulation(&entry.scenario)?;
    let mut u = entry.system.signature().nominal();
    // without dampers
    u[RODS..].fill(0.0);
    let found = Convergence::of_simulation(&simulation, &u, 2, &mut |_| {})?;
    // a joint is as far behind the middle of its rod as the one before it is in front
    let joint = |count: usize, axis: &str| {
        (1..=count)
            .try_fold(0.0, |before, k| Ok::<f64, Error>(2.0 * limit(&found, &format!("rod{k}.{axis}"))? - before))
    };
    let source = "minimal coordinates, to 1e-12";
    let mut rows = Vec::new();
    let known = [
        (1, "x", 0.970_479_747_699),
        (1, "y", -0.241_182_626_462),
        (5, "x", 4.863_945_353_051),
        (5, "y", -1.157_931_029_738),
    ];
    for (count, axis, value) in known {
        let name = format!("joint {count}, {axis}");
        rows.push(Row::new(&name, "m", Expected::Value(value, 1e-7), joint(count, axis)?, source));
    }
    Ok(rows.into())
}
