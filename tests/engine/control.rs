//! Inputs that are found: derivatives by the unknowns, steps in O(steps), goals that must be met, limits, replay, messages.

use costate::cost::{Aim, Goal, Goals, Quadrature, Sum};
use costate::scheme::Scheme;
use costate::system::System;
use costate::{FreeEndTime, Matrix, Model, Number, Plain, Signal, Signature, Simulation, State, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::control::{
    Control, ControlObjective, ControlScenario, Nodes, Shape, UnknownSignal, continuation,
};
use costate_identify::optimise::{DampedSteps, Flow, Method, Objective, Options};
use costate_models::cart_pole::CartPole;
use costate_models::oscillator::Oscillator;
use costate_models::overhead_crane::OverheadCrane;
use costate_models::robot_arm::{SIX_AXES, pose_to_pose, robot_arm};
use costate_models::triple_pendulum::TriplePendulum;
use costate_models::{overhead_crane, triple_pendulum};
use std::sync::Arc;

const SCHEMES: [&str; 8] =
    ["hht", "hht-literal", "newmark", "trapezoidal", "generalized-alpha", "ali3p", "i2p", "bdf2"];

fn simulation<M: Model + 'static>(model: M, scheme: &str, step: f64, steps: usize, start: Vec<Signal>) -> Simulation {
    let settings = if scheme == "hht" { vec![("alpha".to_string(), -0.1)] } else { Vec::new() };
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &settings).unwrap();
    let grid = TimeGrid::steps(0.0, step, steps).unwrap();
    Simulation::new(Arc::new(Plain::new(model).unwrap()), scheme, grid, start).unwrap()
}

fn control(simulation: Simulation, goals: Vec<Goal>, signals: Vec<UnknownSignal>) -> Result<Control> {
    let goals = Goals::new(simulation.signature(), goals, Quadrature::Trapezoid)?;
    Control::new("test", simulation, Sum::of_goals(goals), signals)
}

fn of_scenario<M: Model + 'static>(
    scenario: &ControlScenario,
    model: M,
    scheme: &str,
    step: f64,
    steps: usize,
) -> Control {
    let simulation = simulation(model, scheme, step, steps, scenario.start.clone());
    scenario.control("test", &simulation, 1, scenario.start.clone()).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Some values about the start.
fn about(control: &Control, salt: f64) -> Vec<f64> {
    let variables = control.variables().unwrap();
    variables.iter().enumerate().map(|(k, v)| v.start + 0.05 * v.nominal * (salt + 0.7 * k as f64).sin()).collect()
}

/// Protects the gradient by the values of signals: adjoint against tangents, for every scheme and shape. The fastest motions take few steps, so
/// that round-off does not grow.
#[test]
fn derivatives_by_signals_agree() {
    let check = |control: &Control, what: &str, limit: f64| {
        let mut objective = ControlObjective::new(control).unwrap();
        let u = about(control, 0.3);
        let mut gradient = vec![0.0; u.len()];
        objective.value_and_gradient(&u, &mut gradient).unwrap();
        let along: Vec<Vec<f64>> =
            (0..2).map(|k| (0..u.len()).map(|i| (1.7 * i as f64 + f64::from(k)).cos()).collect()).collect();
        let size = dot(&gradient, &gradient).sqrt();
        for (along, slope) in along.iter().zip(objective.derivatives_along(&u, &along).unwrap()) {
            let error = (dot(along, &gradient) - slope).abs() / size;
            assert!(error < limit, "{what}: {error:.1e}");
        }
    };
    for scheme in SCHEMES {
        let crane = of_scenario(&overhead_crane::following(), OverheadCrane, scheme, 1e-2, 60);
        // undamped multipliers of index 3 hold round-off over β h²
        let limit = if ["newmark", "trapezoidal"].contains(&scheme) { 1e-10 } else { 1e-11 };
        check(&crane, &format!("crane, {scheme}"), limit);
        let swing = of_scenario(&triple_pendulum::swing_up(), TriplePendulum, scheme, 5e-3, 60);
        check(&swing, &format!("triple pendulum, {scheme}"), limit);
    }
    let arm: Arc<dyn System> = Arc::new(robot_arm("arm", &SIX_AXES).unwrap());
    for scheme in ["generalized-alpha", "i2p", "ali3p"] {
        let scenario = pose_to_pose();
        let grid = TimeGrid::steps(0.0, 2.5e-3, 40).unwrap();
        let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &[]).unwrap();
        let simulation = Simulation::new(arm.clone(), scheme, grid, scenario.start.clone()).unwrap();
        check(&scenario.control("arm", &simulation, 1, scenario.start.clone()).unwrap(), "arm", 1e-11);
    }
    for shape in [Shape::Constant, Shape::Linear, Shape::Cubic, Shape::Fourier] {
        let mut scenario = overhead_crane::following();
        for signal in &mut scenario.signals {
            let regular = signal.clone().shaped(shape).intervals(7).effort(0.3, 1.0).smoothness(0.1);
            let size = signal.size;
            *signal = if shape == Shape::Constant { regular } else { regular.rate(size) };
        }
        check(&of_scenario(&scenario, OverheadCrane, "hht", 1e-2, 60), shape.name(), 1e-11);
    }
}

fn forced(scheme: &str, shape: Shape, start: Signal) -> Control {
    let simulation = simulation(Oscillator, scheme, 0.05, 40, vec![start]);
    let times = simulation.grid().times().to_vec();
    let goals = vec![
        Goal::new("a", Aim::Follow(times.iter().map(|t| (2.0 * t).sin()).collect())),
        Goal::new("a", Aim::Reach(0.7)).weighted(3.0),
    ];
    let force = UnknownSignal::new("F", 2.0).intervals(9).shaped(shape).effort(0.02, 0.4).smoothness(0.01);
    control(simulation, goals, vec![force]).unwrap()
}

/// Protects the elimination backwards in time: of a linear mechanism, a step solves (H + D²) d = -g with the Hessian that the second-order
/// sweep gives, whatever the shape and the scheme; unknowns whose steps are given take these; and JᵀJ times a direction is that Hessian's product.
#[test]
fn band_steps_solve_the_damped_equations() {
    for scheme in SCHEMES {
        for shape in [Shape::Constant, Shape::Linear, Shape::Cubic, Shape::Fourier] {
            let control = forced(scheme, shape, Signal::function(|t| 0.3 * t));
            let mut objective = ControlObjective::new(&control).unwrap();
            let u = about(&control, 1.0);
            let count = u.len();
            let mut gradient = vec![0.0; count];
            objective.value_and_gradient(&u, &mut gradient).unwrap();
            for damping in [1e-3, 0.3] {
                let mut given = vec![None; count];
                given[2] = (damping > 0.1).then_some(0.0);
                given[4] = (damping > 0.1).then_some(-0.7);
                objective.value_and_gradient(&u, &mut gradient).unwrap();
                let mut step = vec![0.0; count];
                objective.damped_step(&u, &vec![damping; count], &given, &mut step).unwrap();
                let mut product = vec![0.0; count];
                objective.hessian_vector(&u, &step, &mut product).unwrap();
                let size = dot(&gradient, &gradient).sqrt();
                for k in (0..count).filter(|&k| given[k].is_none()) {
                    let left = product[k] + damping * damping * step[k] + gradient[k];
                    assert!(
                        left.abs() < 1e-9 * size,
                        "{scheme}, {shape:?}, {damping}, unknown {k}: {left:.1e} of {size:.1e}"
                    );
                }
                given.iter().zip(&step).for_each(|(given, step)| assert_eq!(given.unwrap_or(*step), *step));
                let mut normal = vec![0.0; count];
                objective.normal_product(&u, &step, &mut normal).unwrap();
                let size = dot(&product, &product).sqrt();
                assert!(normal.iter().zip(&product).all(|(a, b)| (a - b).abs() < 1e-9 * size), "{scheme}, {shape:?}");
            }
        }
    }
}

/// Protects parameters that are found together with signals: the same equations, for a parameter that the motion is not linear in, at a
/// point where all residuals vanish, so that the Hessian is JᵀJ.
#[test]
fn parameters_and_signals_are_found_together() {
    let force = |t: f64| 2.0 * (3.0 * t).sin();
    let truth = simulation(Oscillator, "i2p", 0.02, 100, vec![Signal::function(force)]);
    let u = truth.signature().nominal();
    let output = truth.run(&u).unwrap().output(truth.signature().output_index("a").unwrap());
    let nodes = UnknownSignal::new("F", 2.0);
    let mut problem = control(truth, vec![Goal::new("a", Aim::Follow(output))], vec![nodes]).unwrap();
    let stiffness = problem.parameters.iter().position(|p| p.name == "c").unwrap();
    problem.parameters[stiffness].free = true;
    let mut objective = ControlObjective::new(&problem).unwrap();
    let at: Vec<f64> = problem.variables().unwrap().iter().map(|v| v.start).collect();
    assert_eq!(at.len(), 102);
    let mut gradient = vec![0.0; at.len()];
    assert!(objective.value_and_gradient(&at, &mut gradient).unwrap() < 1e-24);
    // from elsewhere in the unknowns' tangent space, a step leads back: (H + D²) d = -H δ
    let damping = 1e-2;
    let mut moved = at.clone();
    moved[0] *= 1.0 + 1e-7;
    let mut away = vec![0.0; at.len()];
    objective.value_and_gradient(&moved, &mut away).unwrap();
    let mut step = vec![0.0; at.len()];
    objective.damped_step(&moved, &vec![damping; at.len()], &vec![None; at.len()], &mut step).unwrap();
    let mut product = vec![0.0; at.len()];
    objective.hessian_vector(&moved, &step, &mut product).unwrap();
    let size = dot(&away, &away).sqrt();
    for k in 0..at.len() {
        let left = product[k] + damping * damping * step[k] + away[k];
        assert!(left.abs() < 1e-5 * size, "unknown {k}: {left:.1e} of {size:.1e}");
    }
}

/// Protects the crane's numbers: its start as CasADi 3.8 has it (`21.117592933383`, the same 300 steps), how fast Levenberg-Marquardt gets on,
/// and the exact force and torque of the flat system.
#[test]
fn the_crane_follows_its_line() {
    let mut crane = of_scenario(&overhead_crane::following(), OverheadCrane, "hht", 1e-2, 300);
    let start: Vec<f64> = crane.variables().unwrap().iter().map(|v| v.start).collect();
    let cost = ControlObjective::new(&crane).unwrap().cost(&start).unwrap();
    assert!((cost - 21.117592933383).abs() < 1e-11, "{cost:.13}");
    let found = crane.minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue).unwrap();
    for (part, most) in [(1e-7, 10), (1e-12, 15), (1e-18, 20)] {
        let first = found.outcome.history.iter().position(|i| i.cost <= part * cost);
        assert!(first.is_some_and(|first| first <= most), "{part}: {first:?}");
    }
    assert!(found.outcome.converged && found.replay.survives(1e-3), "{:?}", found.replay);
    // the discrete force is the exact one up to the scheme's error, away from the ends, where the cost hardly sees it
    let (_, w) = crane.expand(&found.outcome.u);
    let times = crane.simulation.grid().times();
    for i in 60..240 {
        let [force, torque] = overhead_crane::flat(times[i]);
        assert!((w[2 * i] - force).abs() < 1e-3 * 509.3, "{} s: {} N, {force} N", times[i], w[2 * i]);
        assert!((w[2 * i + 1] - torque).abs() < 1e-3 * 145.8, "{} s", times[i]);
    }
}

/// Protects the flat solution by itself: with it, the load is on its line to second order.
#[test]
fn the_flat_crane_is_on_its_line() {
    let off = |steps: usize| {
        let signals = (0..2).map(|k| Signal::function(move |t| overhead_crane::flat(t)[k])).collect();
        let simulation = simulation(OverheadCrane, "i2p", 3.0 / steps as f64, steps, signals);
        let run = simulation.run(&simulation.signature().nominal()).unwrap();
        let (x, y) = (run.output(0), run.output(1));
        let distance = |i: usize| {
            let [x_0, y_0] = overhead_crane::wanted(run.times()[i]);
            (x[i] - x_0).hypot(y[i] - y_0)
        };
        (0..=steps).map(distance).fold(0.0, f64::max)
    };
    let (coarse, fine) = (off(300), off(600));
    assert!(fine < 1e-3 && (coarse / fine).log2() > 1.9, "{coarse:.1e}, {fine:.1e}");
}

fn pushed(goals: Vec<Goal>, force: UnknownSignal) -> Result<Control> {
    control(simulation(CartPole, "generalized-alpha", 0.02, 100, vec![Signal::constant(0.0)]), goals, vec![force])
}

/// Protects goals that must be met, bounds and limits on rates together, by every kind of method; and the report of what cannot be met.
#[test]
fn constraints_are_met_or_reported() {
    let goals = || {
        vec![
            Goal::new("x", Aim::Reach(0.5)).weighted(10.0).exactly(),
            Goal::new("theta", Aim::Reach(0.0)).exactly(),
            Goal::new("x", Aim::Within { lower: -0.05, upper: 0.6 }).weighted(10.0).exactly(),
        ]
    };
    let force = UnknownSignal::new("F", 2.0).intervals(25).bounded(-2.5, 2.5).rate(12.0).effort(1e-2, 0.0);
    let mut costs = Vec::new();
    for method in [Method::LevenbergMarquardt, Method::LBfgs { memory: 20 }, Method::NewtonTrustRegion] {
        let mut problem = pushed(goals(), force.clone()).unwrap();
        let options = Options { max_iterations: 200, ..Options::default() };
        let found = problem.minimise(method, 1e-5, &options, &mut |_| Flow::Continue).unwrap();
        assert!(found.is_met && found.violations.len() == 4, "{method}: {:?}", found.violations);
        let (_, w) = problem.expand(&found.outcome.u);
        assert!(w.iter().all(|w| w.abs() <= 2.5), "{method}");
        let fastest = w.windows(2).map(|pair| ((pair[1] - pair[0]) / 0.02).abs()).fold(0.0, f64::max);
        assert!(fastest <= 12.0 * (1.0 + 1e-5), "{method}: {fastest}");
        costs.push(found.shares.last().unwrap().1);
    }
    // the same least effort
    assert!(costs.iter().all(|cost| (cost / costs[0] - 1.0).abs() < 0.02), "{costs:?}");

    let far = vec![Goal::new("x", Aim::Reach(50.0)).exactly()];
    let mut problem = pushed(far, force).unwrap();
    let options = Options { max_iterations: 30, ..Options::default() };
    let found = problem.minimise(Method::LevenbergMarquardt, 1e-5, &options, &mut |_| Flow::Continue).unwrap();
    assert!(!found.is_met && found.violations[0].by > 40.0, "{:?}", found.violations);
}

/// Protects bounds that act: of a linear mechanism few steps find the optimum, where the cost rises from every bound that is reached and the gradient
/// vanishes between bounds; and a pole is swung up in a few dozen steps.
#[test]
fn bounds_that_act_are_kept_in_steps() {
    for shape in [Shape::Constant, Shape::Linear, Shape::Cubic] {
        let mut problem = forced("i2p", shape, Signal::constant(0.0));
        let goals = problem.cost.goals.as_ref().unwrap().goals().cloned().collect();
        let force = problem.signals().next().unwrap().clone().bounded(-0.6, 0.5);
        problem = control(problem.simulation, goals, vec![force]).unwrap();
        let found =
            problem.minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue).unwrap();
        let (u, gradient) = (&found.outcome.u, &found.outcome.history.last().unwrap().gradient);
        let size = dot(gradient, gradient).sqrt();
        let at = |bound: f64| u.iter().zip(gradient).filter(move |(u, _)| **u == bound).map(|(_, slope)| *slope);
        assert!(at(-0.6).count() > 0 && at(0.5).count() > 0 && found.outcome.iterations < 12, "{shape:?}: {u:?}");
        assert!(at(-0.6).all(|slope| slope >= 0.0) && at(0.5).all(|slope| slope <= 0.0), "{shape:?}: {gradient:?}");
        let inside = u.iter().zip(gradient).filter(|(u, _)| **u > -0.6 && **u < 0.5);
        assert!(inside.into_iter().all(|(_, slope)| slope.abs() < 1e-6 * size), "{shape:?}: {gradient:?}");
    }
    let goals = vec![Goal::new("theta", Aim::Reach(std::f64::consts::PI)).exactly()];
    let force = UnknownSignal::new("F", 5.0).intervals(40).bounded(-10.0, 10.0).effort(1e-4, 0.0);
    let simulation = simulation(CartPole, "generalized-alpha", 0.005, 400, vec![Signal::constant(0.0)]);
    let mut problem = control(simulation, goals, vec![force]).unwrap();
    let hanging = problem.parameters.iter().position(|p| p.name == "theta0").unwrap();
    problem.start[hanging] = 0.0;
    let found =
        problem.minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue).unwrap();
    assert!(found.is_met && found.outcome.iterations < 150, "{} iterations", found.outcome.iterations);
    assert!(found.outcome.u.iter().any(|force| force.abs() == 10.0));
}

/// Protects replays: a solution of steps that are too long is told from one that is not.
#[test]
fn coarse_solutions_do_not_survive() {
    let survives = |step: f64, steps: usize| {
        let simulation = simulation(CartPole, "generalized-alpha", step, steps, vec![Signal::constant(0.0)]);
        let goals = vec![Goal::new("theta", Aim::Reach(std::f64::consts::PI)), Goal::new("x", Aim::Reach(0.0))];
        let force = UnknownSignal::new("F", 5.0).intervals(20).effort(1e-4, 0.0);
        let mut problem = control(simulation, goals, vec![force]).unwrap();
        let options = Options { max_iterations: 60, ..Options::default() };
        let found = problem.minimise(Method::LevenbergMarquardt, 1e-6, &options, &mut |_| Flow::Continue).unwrap();
        found.replay.survives(0.01)
    };
    assert!(!survives(0.1, 20) && survives(2e-3, 1000));
}

/// Protects sentences: each names the signal or goal, what is wrong, and what to do.
#[test]
fn wrong_problems_are_told() {
    let theta = || vec![Goal::new("theta", Aim::Reach(1.0))];
    let force = || UnknownSignal::new("F", 1.0);
    let refusal = |goals: Vec<Goal>, signal: UnknownSignal| match pushed(goals, signal) {
        Ok(mut problem) => problem
            .minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue)
            .err()
            .map_or(String::new(), |error| error.to_string()),
        Err(error) => error.to_string(),
    };
    let nodes = |times: &[f64]| UnknownSignal { nodes: Nodes::At(times.to_vec()), ..force() };
    for (message, parts) in [
        (refusal(theta(), UnknownSignal::new("G", 1.0)), ["`G`", "known: F"]),
        (refusal(vec![Goal::new("phi", Aim::Reach(1.0))], force()), ["`phi`", "output"]),
        (refusal(theta(), nodes(&[0.0, 1.0])), ["do not cover", "2 s"]),
        (refusal(theta(), nodes(&[0.0, 0.5, 0.5, 2.0])), ["do not increase", "`F`"]),
        (refusal(theta(), force().bounded(2.0, 1.0)), ["cross", "`F`"]),
        (refusal(theta(), force().bounded(1.0, 2.0)), ["outside its bounds", "F at 0"]),
        (refusal(theta(), force().rate(0.0)), ["rate", "positive"]),
        (refusal(theta(), UnknownSignal::new("F", -1.0)), ["size", "magnitude"]),
        (refusal(theta(), force().effort(f64::NAN, 0.0)), ["effort", "zero or more"]),
        (refusal(theta(), force().shaped(Shape::Fourier).intervals(3).bounded(-1.0, 1.0)), ["Fourier", "bounded"]),
        (refusal(theta(), force().intervals(0)), ["no interval", "at least one"]),
        (refusal(vec![Goal::new("theta", Aim::Within { lower: 1.0, upper: 0.0 })], force()), ["cross", "theta"]),
        (refusal(vec![Goal::new("theta", Aim::Reach(1.0)).weighted(-1.0)], force()), ["weight", "theta"]),
        (refusal(vec![Goal::new("theta", Aim::Follow(vec![1.0; 3]))], force()), ["3 values for 101 times", "theta"]),
        (refusal(vec![], force()), ["goals", "at least one"]),
    ] {
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let quick = simulation(CartPole, "generalized-alpha", 0.02, 100, vec![Signal::function(|t| (9.0 * t).sin())]);
    let mut problem = control(quick, theta(), vec![force().rate(2.0)]).unwrap();
    let error = problem
        .minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue)
        .unwrap_err()
        .to_string();
    assert!(error.contains("more than 2") && error.contains("start with a slower signal"), "{error}");
}

/// A unit mass on a line.
#[derive(Clone, Copy)]
struct Mass;

impl Model for Mass {
    fn signature(&self) -> Signature {
        Signature::new("mass").coordinates([("x", "m")]).inputs([("F", "N")]).outputs([
            ("x", "m"),
            ("v", "m/s"),
            ("a", "m/s^2"),
        ])
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], w: &[D], _u: &[D], force: &mut [D]) {
        force[0] = w[0];
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.q[0];
        y[1] = x.v[0];
        y[2] = x.a[0];
    }
}

/// Protects free end times: a mass is moved by 1 m with 1 N at most in no less than 2 s, full force one way and then the other; and the
/// scaled model is the same as the plain one.
#[test]
fn least_times_are_found() {
    let fast = FreeEndTime::new(Mass, 4.0, 0.1, 20.0);
    let simulation = simulation(fast, "generalized-alpha", 1.0 / 200.0, 200, vec![Signal::constant(0.1)]);
    let plain = {
        let grid = TimeGrid::steps(0.0, 4.0 / 200.0, 200).unwrap();
        let scheme: Arc<dyn Scheme> = scheme::by_name("generalized-alpha", &[]).unwrap();
        Simulation::new(Arc::new(Plain::new(Mass).unwrap()), scheme, grid, vec![Signal::constant(0.1)]).unwrap()
    };
    let (scaled, plain) = (simulation.run(&[4.0]).unwrap(), plain.run(&[]).unwrap());
    for k in 0..3 {
        scaled.output(k).iter().zip(plain.output(k)).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a}, {b}"));
    }
    let goals = vec![
        Goal::new("x", Aim::Reach(1.0)).weighted(100.0).exactly(),
        Goal::new("v", Aim::Reach(0.0)).weighted(100.0).exactly(),
        Goal::new("end_time", Aim::Reach(0.0)),
    ];
    let force = UnknownSignal::new("F", 1.0).shaped(Shape::Constant).intervals(20).bounded(-1.0, 1.0);
    let mut problem = control(simulation, goals, vec![force]).unwrap();
    problem.parameters[0].free = true;
    let found =
        problem.minimise(Method::LevenbergMarquardt, 1e-6, &Options::default(), &mut |_| Flow::Continue).unwrap();
    assert!(found.is_met, "{:?}", found.violations);
    // the force at a node holds from there on: half a step of the scheme's is the price of its jumps
    assert!((found.outcome.u[0] - 2.0).abs() < 0.01, "{}", found.outcome.u[0]);
    let (_, w) = problem.expand(&found.outcome.u);
    assert!(w[10] > 0.99 && w[190] < -0.99, "{w:?}");
}

/// Protects stages: longer and longer runs, each from the signals of the one before, and signals that go on beyond their nodes.
#[test]
fn problems_are_solved_in_stages() {
    let problem = |duration: f64, start: Vec<Signal>| {
        let steps = (duration / 0.01_f64).round() as usize;
        // signals that begin a longer run hold their last value
        let start = start.into_iter().map(|signal| Signal::function(move |t| signal.value(t))).collect();
        let goals = vec![Goal::new("theta", Aim::Reach(1.0)), Goal::new("x", Aim::Reach(0.3))];
        control(
            simulation(CartPole, "generalized-alpha", 0.01, steps, start),
            goals,
            vec![UnknownSignal::new("F", 2.0).intervals(20).effort(1e-4, 0.0)],
        )
    };
    let options = Options { max_iterations: 100, ..Options::default() };
    let settings = (Method::LevenbergMarquardt, 1e-6, &options);
    let mut seen = Vec::new();
    let found = continuation(&[0.5, 1.0, 1.5], vec![Signal::constant(0.0)], problem, settings, &mut |stage, _| {
        seen.push(stage);
        Flow::Continue
    });
    let (last, found, costs) = found.unwrap().unwrap();
    assert_eq!((last.simulation.grid().count(), costs.len()), (150, 3));
    // more time, less effort
    assert!(found.outcome.converged && costs[2] < costs[1] && costs[1] < costs[0], "{costs:?}");
    seen.dedup();
    assert_eq!(seen, [0.5, 1.0, 1.5]);
}
