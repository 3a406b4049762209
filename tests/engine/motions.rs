//! Motions that are found: a driven coordinate follows a spline whose coefficients are unknowns.

use costate::cost::{Aim, Goal, Goals, Quadrature, Sum};
use costate::scheme::Scheme;
use costate::spline::Spline;
use costate::system::System;
use costate::{InitialState, Parameter, Signal, Simulation, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::control::{Control, ControlObjective, Nodes, Shape, UnknownSignal};
use costate_identify::optimise::{DampedSteps, Flow, Method, Objective, Options};
use costate_models::hanging_load::{DURATION, WAY, hanging_load, rest_to_rest};
use costate_parts::law::Axes;
use costate_parts::planar::{Body, Mechanism};
use costate_parts::spatial::{self, Freedom, Inertia};
use std::sync::Arc;

const SCHEMES: [&str; 8] =
    ["hht", "hht-literal", "newmark", "trapezoidal", "generalized-alpha", "ali3p", "i2p", "bdf2"];

fn simulation(system: Arc<dyn System>, scheme: &str, end: f64, steps: usize, start: Vec<Signal>) -> Simulation {
    let settings = if scheme == "hht" { vec![("alpha".to_string(), -0.05)] } else { Vec::new() };
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &settings).unwrap();
    Simulation::new(system, scheme, TimeGrid::steps(0.0, end / steps as f64, steps).unwrap(), start).unwrap()
}

fn control(simulation: Simulation, goals: Vec<Goal>, signals: Vec<UnknownSignal>) -> Result<Control> {
    let goals = Goals::new(simulation.signature(), goals, Quadrature::Trapezoid)?;
    Control::new("test", simulation, Sum::of_goals(goals), signals)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Some values about the start.
fn about(control: &Control, salt: f64) -> Vec<f64> {
    let variables = control.variables().unwrap();
    variables.iter().enumerate().map(|(k, v)| v.start + 0.05 * v.nominal * (salt + 0.7 * k as f64).sin()).collect()
}

/// A crane without rest at its ends: the trolley's motion and the angle of a jib are free, a motor pulls the load, and the rope's length is a parameter.
fn jib(quintic: bool) -> Arc<dyn System> {
    let spline = if quintic { Spline::quintic } else { Spline::cubic };
    let mut m = Mechanism::new("jib");
    let length = m.parameter(Parameter::new("L", "m", 0.7));
    let (slide, turn) = (spline([0.0, 1.5], 6), spline([0.0, 1.5], 4).begin([0.2, -0.1]));
    let (slides, turns) = (m.motion("slide", "m", &slide), m.motion("turn", "rad", &turn));
    let pull = m.input("F", "N");
    let jib = m.body("jib", Body::new(8.0, 2.0).at([0.5, 0.1], turns[0]));
    let trolley = m.point("trolley", 2.0, [0.6, 0.1]);
    let load = m.point("load", 5.0, [0.6.into(), length * -1.0 + 0.1]);
    m.revolute("foot", m.ground().at([0.0, 0.0]), jib.at([-0.5, 0.0]));
    m.on_line("rail", jib.at([0.0, 0.0]), trolley.at([0.0, 0.0]), 0.0);
    m.drive("servo", trolley.coordinates()[0], slide, slides);
    m.drive("motor", jib.coordinates()[2], turn, turns);
    m.rod("rope", trolley.at([0.0, 0.0]), load.at([0.0, 0.0]), length);
    m.force("pull", load.at([0.0, 0.0]), [1.0, 0.0], Axes::World, pull);
    m.position("x", load.at([0.0, 0.0]));
    m.velocity("v", load.at([0.0, 0.0]), Axes::World);
    Arc::new(m.build().unwrap())
}

fn jib_control(quintic: bool, scheme: &str) -> Control {
    let simulation =
        simulation(jib(quintic), scheme, 1.5, 60, vec![Signal::constant(0.0)]).initial_state(InitialState::Projected);
    let path = simulation.grid().times().iter().map(|t| 0.6 + 0.2 * t).collect();
    let goals = vec![Goal::new("x.x", Aim::Follow(path)), Goal::new("v.y", Aim::Reach(0.1))];
    let signals = vec![
        UnknownSignal::new("turn", 1.0).effort(0.02, 0.1),
        UnknownSignal::new("F", 10.0).intervals(5).effort(1e-3, 0.0),
        UnknownSignal::new("slide", 0.5).smoothness(0.01).rate(0.2),
    ];
    let mut control = control(simulation, goals, signals).unwrap();
    control.parameters[0].free = true;
    let slides = control.simulation.signature().motions[0].places();
    slides.enumerate().for_each(|(k, place)| control.start[place] = 0.6 + 0.05 * (k as f64).sin());
    control
}

/// In space: a load under a hand that is led along three motions, and a hinge that is turned along a fourth.
fn in_space(scheme: &str) -> Control {
    let mut m = spatial::Mechanism::new("in_space");
    let spline = || Spline::cubic([0.0, 1.0], 4);
    let paths = [spline().begin([0.0; 2]), spline().begin([0.0; 2]), spline().begin([1.0, 0.0])];
    let led: Vec<_> = paths.iter().zip(["px", "py", "pz"]).flat_map(|(path, name)| m.motion(name, "m", path)).collect();
    let (hand, load) = (m.point("hand", 1.0, [0.0, 0.0, 1.0]), m.point("load", 2.0, [0.3, 0.0, 0.6]));
    m.drive_point("lead", hand.at([0.0; 3]), paths, led);
    m.distance("rope", hand.at([0.0; 3]), load.at([0.0; 3]), 0.5);
    m.position("x", load.at([0.0; 3]));
    let swing = spline().begin([0.0; 2]);
    let values = m.motion("swing", "rad", &swing);
    let arm = m.body("arm", spatial::Body::new(1.0, Inertia::diagonal([0.1, 0.02, 0.1])).at([0.4, 0.0, 0.0]));
    let (y, ground) = ([0.0, 1.0, 0.0], m.ground());
    let hinge = m.revolute("hinge", ground.at([0.0; 3]).axis(y), arm.at([-0.4, 0.0, 0.0]).axis(y));
    m.drive_joint("motor", &hinge, Freedom::Turn, swing, values);
    m.position("tip", arm.at([0.4, 0.0, 0.0]));
    let simulation = simulation(Arc::new(m.build().unwrap()), scheme, 1.0, 50, vec![]);
    let reach = |output: &str, value| Goal::new(output, Aim::Reach(value));
    let goals = vec![reach("x.x", 0.5), reach("x.y", 0.3), reach("tip.x", 0.6), reach("tip.z", -0.5)];
    let signals = ["px", "py", "pz", "swing"].map(|name| UnknownSignal::new(name, 0.3).smoothness(1e-2));
    control(simulation, goals, signals.to_vec()).unwrap()
}

fn crane(intervals: usize, scheme: &str, steps: usize) -> Control {
    let system = Arc::new(hanging_load(intervals).unwrap());
    let simulation = simulation(system, scheme, DURATION, steps, vec![]);
    rest_to_rest().control("crane", &simulation, 1, Vec::new()).unwrap()
}

/// Protects gradients by motions: adjoint against tangents for every scheme, cubic and quintic, free at their ends and held, beside inputs and
/// parameters, in the plane and in space; and against the cost itself: what a first-order Taylor series misses falls by four for half the change.
#[test]
fn derivatives_by_motions_agree() {
    let check = |control: &Control, what: &str, limit: f64| {
        let mut objective = ControlObjective::new(control).unwrap();
        let u = about(control, 0.3);
        let mut gradient = vec![0.0; u.len()];
        let cost = objective.value_and_gradient(&u, &mut gradient).unwrap();
        let along: Vec<f64> = (0..u.len()).map(|i| (1.7 * i as f64).cos()).collect();
        let slope = objective.derivatives_along(&u, std::slice::from_ref(&along)).unwrap()[0];
        let error = (dot(&along, &gradient) - slope).abs() / dot(&gradient, &gradient).sqrt();
        assert!(error < limit, "{what}: {error:.1e}");
        let mut missed = |part: f64| {
            let moved: Vec<f64> = u.iter().zip(&along).map(|(u, along)| u + part * along).collect();
            (objective.cost(&moved).unwrap() - cost - part * slope).abs()
        };
        let ratio = missed(2e-3) / missed(1e-3);
        assert!((ratio - 4.0).abs() < 0.1, "{what}: {ratio}");
    };
    for scheme in SCHEMES {
        // undamped multipliers of index 3 hold round-off over β h²
        let limit = if ["newmark", "trapezoidal"].contains(&scheme) { 1e-10 } else { 1e-11 };
        check(&crane(12, scheme, 125), &format!("crane, {scheme}"), limit);
        check(&jib_control(false, scheme), &format!("cubic, {scheme}"), limit);
        check(&jib_control(true, scheme), &format!("quintic, {scheme}"), limit);
        check(&in_space(scheme), &format!("space, {scheme}"), limit);
    }
}

/// Protects Gauss-Newton steps over motions, which act for a while each, beside inputs and parameters: where goals are reached, the Hessian is
/// JᵀJ, whatever effort, smoothness and limits on rates are.
#[test]
fn band_steps_solve_the_damped_equations() {
    for scheme in ["hht", "generalized-alpha", "i2p"] {
        let found = jib_control(false, scheme);
        let at = about(&found, 1.0);
        let (u, _) = found.expand(&at);
        let run = found.simulation_of(&at, 1).unwrap().run(&u).unwrap();
        let output = |name: &str| run.output(found.simulation.signature().output_index(name).unwrap());
        let goals = vec![Goal::new("x.x", Aim::Follow(output("x.x"))), Goal::new("v.y", Aim::Reach(output("v.y")[60]))];
        let simulation = found.simulation_of(&at, 1).unwrap();
        let mut problem = control(simulation, goals, found.signals().cloned().collect()).unwrap();
        (problem.parameters[0].free, problem.start) = (true, u);
        let at: Vec<f64> = problem.variables().unwrap().iter().map(|v| v.start).collect();
        let mut objective = ControlObjective::new(&problem).unwrap();
        let count = at.len();
        let (mut gradient, mut step, mut product) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        let mut given = vec![None; count];
        (given[5], given[12]) = (Some(0.03), Some(0.0));
        objective.value_and_gradient(&at, &mut gradient).unwrap();
        objective.damped_step(&at, &vec![0.1; count], &given, &mut step).unwrap();
        objective.hessian_vector(&at, &step, &mut product).unwrap();
        let size = dot(&gradient, &gradient).sqrt();
        for k in (0..count).filter(|&k| given[k].is_none()) {
            let left = product[k] + 0.01 * step[k] + gradient[k];
            assert!(left.abs() < 1e-9 * size, "{scheme}, unknown {k}: {left:.1e} of {size:.1e}");
        }
        assert_eq!([step[5], step[12]], [0.03, 0.0]);
    }
}

/// Protects the purpose: the load goes from rest to rest, by every kind of method alike, at half the step as well, and hangs still afterwards.
#[test]
fn loads_come_to_rest() {
    let mut costs = Vec::new();
    for method in [Method::LevenbergMarquardt, Method::LBfgs { memory: 20 }, Method::NewtonTrustRegion] {
        let mut problem = crane(12, "hht", 500);
        let found = problem.minimise(method, 1e-8, &Options::default(), &mut |_| Flow::Continue).unwrap();
        assert!(found.is_met && found.violations.iter().all(|v| v.by <= 1e-8), "{method}: {:?}", found.violations);
        assert!(found.replay.survives(1e-3), "{method}");
        costs.push(found.outcome.cost);
        let (u, _) = problem.expand(&found.outcome.u);
        let run = simulation(Arc::new(hanging_load(12).unwrap()), "hht", 2.0 * DURATION, 1000, vec![]).run(&u).unwrap();
        let x = run.output(problem.simulation.signature().output_index("load.x").unwrap());
        let swing = x[500..].iter().map(|x| (x - WAY).abs()).fold(0.0, f64::max);
        let before = x[..500].iter().zip(run.output(0)).map(|(x, trolley)| (x - trolley).abs()).fold(0.0, f64::max);
        assert!(swing < 1e-6 && before > 0.05, "{method}: {swing:.1e}, {before}");
    }
    assert!(costs.iter().all(|cost| (cost / costs[0] - 1.0).abs() < 1e-6), "{costs:?}");
}

/// Protects bounds and limits on rates of motions; the former hold between coefficients, too.
#[test]
fn motions_keep_their_limits() {
    let simulation = simulation(Arc::new(hanging_load(20).unwrap()), "hht", DURATION, 250, vec![]);
    let goals = vec![Goal::new("load.x", Aim::Reach(WAY)).exactly(), Goal::new("speed.x", Aim::Reach(0.0)).exactly()];
    let slide = UnknownSignal::new("slide", 1.0).smoothness(1e-3);
    let find = |slide: UnknownSignal, method: Method| {
        let mut problem = control(simulation.clone(), goals.clone(), vec![slide]).unwrap();
        let found = problem.minimise(method, 1e-6, &Options::default(), &mut |_| Flow::Continue).unwrap();
        assert!(found.is_met, "{method}: {:?}", found.violations);
        problem.found(&found.outcome.u).remove(0).2
    };
    let fastest = |s: &[f64]| s.windows(2).map(|pair| (pair[1] - pair[0]).abs() / 0.01).fold(0.0, f64::max);
    let extremes = |s: &[f64]| s.iter().fold([f64::MAX, f64::MIN], |[a, b], s| [a.min(*s), b.max(*s)]);
    for method in [Method::LevenbergMarquardt, Method::LBfgs { memory: 20 }] {
        let free = find(slide.clone(), method);
        let slow = find(slide.clone().rate(0.82), method);
        assert!(fastest(&free) > 0.9 && fastest(&slow) < 0.82 * (1.0 + 2e-6), "{} {}", fastest(&free), fastest(&slow));
        // against the way of the load at first, so that it swings ahead
        let [least, most] = extremes(&find(slide.clone().bounded(0.0, WAY), method));
        assert!(least >= 0.0 && most <= WAY, "{method}: {least}, {most}");
    }
}

/// Protects sentences: each names the motion, what is wrong, and what to do.
#[test]
fn wrong_motions_are_told() {
    let load = Arc::new(hanging_load(12).unwrap());
    let refusal = |signal: UnknownSignal| {
        let goals = vec![Goal::new("load.x", Aim::Reach(1.0))];
        control(simulation(load.clone(), "hht", 1.0, 20, vec![]), goals, vec![signal]).err().unwrap().to_string()
    };
    let slide = || UnknownSignal::new("slide", 1.0);
    for (message, parts) in [
        (refusal(UnknownSignal::new("side", 1.0)), ["motion `side`", "slide"]),
        (refusal(slide().intervals(4)), ["`slide`", "leave out its shape"]),
        (refusal(slide().shaped(Shape::Fourier)), ["`slide`", "leave out its shape"]),
        (refusal(slide().bounded(0.5, 2.0)), ["0 is held at an end", "widen the bounds"]),
        (refusal(UnknownSignal { nodes: Nodes::At(vec![0.0, 1.0]), ..slide() }), ["`slide`", "intervals"]),
    ] {
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let built = |spline: Spline| {
        let mut m = Mechanism::new("m");
        let mass = m.point("mass", 1.0, [0.0, 0.0]);
        let values = m.motion("slide", "m", &spline);
        m.drive("servo", mass.coordinates()[0], spline, values);
        m.build().err().unwrap().to_string()
    };
    for (message, parts) in [
        (built(Spline::cubic([0.0, 1.0], 0)), ["`slide`", "no interval"]),
        (built(Spline::cubic([1.0, 1.0], 3)), ["`slide`", "from 1 s to 1 s"]),
        (built(Spline::cubic([0.0, f64::NAN], 3)), ["`slide`", "NaN"]),
        (built(Spline::cubic([0.0, 1.0], 3).begin([0.0; 4])), ["`slide`", "three numbers"]),
        (built(Spline::cubic([0.0, 1.0], 3).begin([f64::NAN])), ["`slide`", "finite"]),
        (built(Spline::cubic([0.0, 1.0], 3).begin([0.0; 3]).end([1.0, 0.0, 0.0])), ["`slide`", "all held"]),
    ] {
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let late = simulation(load, "hht", DURATION, 20, vec![]);
    let mut m = Mechanism::new("m");
    let mass = m.point("mass", 1.0, [0.0, 0.0]);
    let slide = Spline::cubic([0.0, 1.0], 3);
    let values = m.motion("slide", "m", &slide);
    m.drive("servo", mass.coordinates()[0], slide, values);
    let (system, scheme, grid) =
        (Arc::new(m.build().unwrap()), scheme::by_name("hht", &[]).unwrap(), late.grid().clone());
    let message = Simulation::new(system, scheme, grid, vec![]).err().unwrap().to_string();
    assert!(message.contains("`servo`") && message.contains("1 s to 2.5 s"), "{message}");
}
