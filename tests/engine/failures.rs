//! Models that cannot be simulated: what their users are told, and what an identification makes of them.

use costate::scheme::Hht;
use costate::{
    InitialState, Interpolation, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State,
    TimeGrid,
};
use costate_data::Record;
use costate_identify::optimise::{Flow, Method};
use costate_identify::problem::{Integrator, Problem};
use costate_identify::registry::{Registry, Scenario};
use costate_identify::specification::Specification;
use costate_identify::{Identification, Settings, identify};
use std::sync::Arc;

/// A point mass on an inclined line x + 2 y = s, given as many times as there are constraint rows, and its start.
#[derive(Clone, Copy)]
struct Slope {
    rows: usize,
    start: [f64; 2],
    velocity: [f64; 2],
}

impl Model for Slope {
    fn signature(&self) -> Signature {
        let signature = Signature::new("slope").coordinates([("x", "m"), ("y", "m")]).constraints([("line", "m")]);
        let signature = if self.rows > 1 { signature.constraints([("wall", "m"), ("double", "m")]) } else { signature };
        let signature = signature.inputs([("F", "N")]).outputs([("x", "m")]);
        signature.parameters([Parameter::new("m", "kg", 2.0), Parameter::new("s", "m", 0.5)])
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], v: &mut [D]) {
        for j in 0..2 {
            (q[j], v[j]) = (D::from(self.start[j]), D::from(self.velocity[j]));
        }
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (u[0], u[0]);
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        (force[0], force[1]) = (w[0], u[0] * -9.81);
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = q[0] + q[1] * 2.0 - u[1];
        if self.rows > 1 {
            c[1] = q[0] - 0.5;
            c[2] = (q[0] + q[1] * 2.0 - u[1]) * 3.0;
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

const CONSISTENT: Slope = Slope { rows: 1, start: [0.1, 0.2], velocity: [2.0, -1.0] };

fn simulation(slope: Slope, signal: Signal) -> costate::Result<Simulation> {
    let system = Arc::new(Plain::new(slope)?);
    Simulation::new(system, Hht::new(-0.1)?, TimeGrid::uniform(0.0, 1.0, 0.01)?, vec![signal])
}

/// The message of a failure must contain all of `parts`.
#[track_caller]
fn said<T, E: std::fmt::Display>(outcome: Result<T, E>, parts: &[&str]) -> E {
    let Err(error) = outcome else { panic!("this should fail") };
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    error
}

// Protects inconsistent starts: each violated row is named with its size, and a projection on request mends it.
#[test]
fn a_start_off_the_constraints_is_refused_or_projected() {
    let off = Slope { start: [0.3, 0.2], velocity: [2.0, 0.0], ..CONSISTENT };
    let simulated = simulation(off, Signal::constant(0.0)).unwrap();
    let u = [2.0, 0.5];
    let error =
        said(simulated.run(&u), &["`line` by 8.944e-2 in position", "`line` by 8.944e-1 in velocity", "projection"]);
    assert!(error.is_simulation_failure());
    let trajectory = simulated.initial_state(InitialState::Projected).run(&u).unwrap();
    let start = trajectory.state(0);
    assert!((start.q[0] + 2.0 * start.q[1] - 0.5).abs() < 1e-14);
    assert!((start.v[0] + 2.0 * start.v[1]).abs() < 1e-14);
    assert!(trajectory.start.position[0] > 0.08);
}

// Protects `initial_state` as a setting: it reaches the simulation from a specification.
#[test]
fn a_specification_projects_the_start() {
    let off = Slope { start: [0.3, 0.2], ..CONSISTENT };
    let scenario = Scenario {
        step: 0.01,
        signals: vec![Signal::constant(0.0)],
        outputs: vec!["x".into()],
        integrator: Integrator::default(),
        ..Scenario::default()
    };
    let registry = Registry::new().with("a mass on a slope", off, scenario).unwrap();
    let specification = Specification::of("slope");
    said(specification.build(&registry), &["violates the constraints", "`line`", "ask for a projection of the start"]);
    let projected = Specification { initial_state: Some(InitialState::Projected), ..specification };
    assert!(projected.build(&registry).is_ok());
}

// Protects redundant constraints: the row that repeats, and the one it repeats, are named; independent rows are not.
#[test]
fn redundant_rows_are_named() {
    let redundant = Slope { rows: 3, start: [0.5, 0.0], velocity: [0.0, 0.0] };
    let outcome = simulation(redundant, Signal::constant(0.0)).unwrap().run(&[2.0, 0.5]);
    let parts = ["singular at t = 0 s", "1 of the 3 constraint rows", "rank 2", "row `double` repeats `line`; remove"];
    said(outcome, &parts);
}

// Protects sampled inputs: a simulation beyond its samples is refused with the input's name and what is missing.
#[test]
fn an_input_that_ends_too_early_is_named() {
    let short = Signal::sampled(&[0.0, 0.25, 0.5], &[1.0, 2.0, 3.0], Interpolation::Linear).unwrap();
    let parts =
        ["input `F`: sampled signal", "from 0 s to 0.5 s", "nothing is known from 0.5 s to 1 s", "longer record"];
    said(simulation(CONSISTENT, short), &parts);
    let late = Signal::sampled(&[0.2, 0.6, 1.2], &[1.0, 2.0, 3.0], Interpolation::Linear).unwrap();
    said(simulation(CONSISTENT, late), &["nothing is known from 0 s to 0.2 s"]);
    said(simulation(CONSISTENT, Signal::function(|t| 1.0 / (t - t))), &["input `F`: it is", "at t = 0 s"]);
}

/// A mass that is pushed by exp(k x): it runs away within finite time where k is large.
struct Runaway;

impl Model for Runaway {
    fn signature(&self) -> Signature {
        let signature = Signature::new("runaway").coordinates([("x", "m")]).outputs([("x", "m")]);
        signature.parameters([Parameter::new("k", "1/m", 0.5).size(50.0)])
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = (q[0] * u[0]).exp();
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
    }
}

fn runaway(start: f64) -> Problem {
    let system = Arc::new(Plain::new(Runaway).unwrap());
    let grid = TimeGrid::uniform(0.0, 1.5, 0.01).unwrap();
    let simulation = Simulation::new(system, Hht::new(0.0).unwrap(), grid, Vec::new()).unwrap();
    Problem::synthetic("runaway", simulation, &[2.0], &[start], &["x"], costate::cost::Quadrature::Unit).unwrap()
}

fn search(start: f64, method: Method) -> costate_identify::Result<Identification> {
    identify(&runaway(start), &Settings { method: Some(method), ..Settings::default() }, &mut |_| Flow::Continue)
}

// Protects searches whose line search enters a region without solutions: the step is rejected, counted and reported, and
// the minimum is found nevertheless.
#[test]
fn failures_within_a_search_are_counted_not_fatal() {
    for method in [Method::Bfgs, Method::LBfgs { memory: 5 }, Method::Dfp] {
        let found = search(1.0, method).unwrap();
        assert!(found.outcome.converged, "{method}: {}", found.outcome.reason);
        assert!((found.values()[0] - 2.0).abs() < 1e-6, "{method}: {:?}", found.values());
        assert!(found.outcome.failed_evaluations > 0, "{method} has met no failure");
        let failure = found.first_failure.unwrap();
        assert!(failure.contains("`x`") && failure.contains(" s (step "), "{failure}");
    }
}

// Protects the start: there is no step to reject, so the failure is an error that says where and why.
#[test]
fn a_failure_at_the_start_is_an_error() {
    said(
        search(30.0, Method::Bfgs),
        &["bfgs: the evaluation at the start fails", "`x`", "start where the simulation works"],
    );
}

// Protects names within a record made in memory: no file is named that does not exist.
#[test]
fn records_in_memory_name_their_columns() {
    let record = Record::from_columns([("t", vec![0.0, 1.0, 0.5]), ("y", vec![1.0; 3])]).unwrap();
    said(record.time("t"), &["column `t`, row 3", "0.5 s comes after 1 s"]);
}
