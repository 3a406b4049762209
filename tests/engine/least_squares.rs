//! Levenberg-Marquardt and Gauss-Newton on real simulations.

use crate::common;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{Interpolation, Number, Parameter, Scale, Simulation, State, TimeGrid};
use costate_identify::Result;
use costate_identify::constraint::Constraint;
use costate_identify::optimise::{Flow, Method as Search, Options};
use costate_identify::problem::Problem;
use costate_identify::specification::{DataSource, Specification};
use costate_identify::{Identification, Settings, default_method, identify};
use std::f64::consts::{PI, TAU};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn search(problem: &Problem, method: Search) -> Identification {
    let settings = Settings { method: Some(method), options: Options::default(), ..Settings::default() };
    identify(problem, &settings, &mut |_| Flow::Continue).unwrap()
}

fn engine_mount(step: f64) -> Result<Problem> {
    let registry = costate_models::registry()?;
    let entry = registry.get("engine-mount")?;
    let mut scenario = entry.scenario.clone();
    scenario.step = step;
    entry.problem(&scenario)
}

/// Protects the engine mount from the paper's start: the cost falls below 1e-18 within a few evaluations on every scale, where
/// plain Gauss-Newton on the logarithmic one loses d_H2; parameters are found to nine digits.
#[test]
fn the_engine_mount_takes_few_evaluations() {
    for step in [1e-3, 1e-4] {
        for (scale, size, most) in [(Scale::Linear, Some(1.0), 10), (Scale::Linear, None, 10), (Scale::Log, None, 20)] {
            let mut problem = engine_mount(step).unwrap();
            problem.parameters.iter_mut().for_each(|p| (p.scale, p.size) = (scale, size));
            let found = search(&problem, Search::LevenbergMarquardt);
            let outcome = &found.outcome;
            let reached = outcome.history.iter().find(|i| i.cost < 1e-18).map(|i| i.evaluations);
            assert!(outcome.converged, "{step} {scale:?}: {}", outcome.reason);
            assert!(reached.is_some_and(|count| count <= most), "{step} {scale:?} {size:?}: {reached:?}");
            for (found, true_value) in found.values().iter().zip(problem.optimum.as_ref().unwrap()) {
                assert!((found / true_value - 1.0).abs() < 1e-9, "{:?}", found);
            }
        }
    }
}

/// Protects both methods on other mechanisms and fixed parameters: a Duffing oscillator with unknown start, a pendulum whose
/// length is in the constraint.
#[test]
fn other_mechanisms_are_identified() {
    let registry = costate_models::registry().unwrap();
    // the pendulum's residuals are uncertain by Newton's tolerance: the search ends there
    for (name, floor) in [("silverbox", 1e-20), ("oscillator", 1e-20), ("pendulum", 1e-16)] {
        let entry = registry.get(name).unwrap();
        for method in [Search::LevenbergMarquardt, Search::GaussNewton] {
            let mut problem = entry.problem(&entry.scenario).unwrap();
            let found = search(&problem, method);
            let outcome = &found.outcome;
            println!("{name} {method}: {} evaluations, {:e}, {}", outcome.evaluations, outcome.cost, outcome.reason);
            assert!(
                outcome.converged && outcome.cost < floor,
                "{name} {method}: {:e} {}",
                outcome.cost,
                outcome.reason
            );
            assert!(outcome.evaluations <= 40, "{name} {method}: {}", outcome.evaluations);
            // one parameter fixed at its true value
            let optimum = problem.optimum.clone().unwrap();
            problem.parameters[0].free = false;
            problem.start[0] = optimum[0];
            let found = search(&problem, method);
            assert_eq!(found.values()[0], optimum[0]);
            assert!(found.outcome.cost < floor, "{name} {method}: {:e}", found.outcome.cost);
        }
    }
}

/// Protects fits of measured data: on part of the Silverbox's record every start that is off by 30 % in m, d, k1 and k3, up or
/// down, leads to the same optimum. It takes at most 15 iterations where m and k1 are off to the same side, and more where
/// they are not: then the resonance is off by 36 %, some widths of its peak.
#[test]
fn the_silverbox_is_identified_from_all_sides() {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let data = std::env::var_os("COSTATE_DATA").map_or_else(beside, PathBuf::from);
    let file = data.join("silverbox/multisine.csv");
    if !file.is_file() {
        println!("skipped: {} is not there", file.display());
        return;
    }
    let registry = costate_models::registry().unwrap();
    let source =
        DataSource { file, interpolation: Some(Interpolation::Cubic), until: Some(0.5), ..DataSource::default() };
    let specification = Specification {
        data: Some(source),
        substeps: Some(4),
        scheme_settings: vec![("alpha".into(), 0.0)],
        ..Specification::of("silverbox")
    };
    let mut problem = specification.build(&registry).unwrap();
    let nominal = problem.first().simulation.signature().nominal();
    let mut best: Option<Identification> = None;
    for signs in 0..16 {
        let side = |k: usize| if k >= 4 { 1.0 } else { 1.0 + if signs >> k & 1 == 0 { 0.3 } else { -0.3 } };
        problem.start = nominal.iter().enumerate().map(|(k, u)| u * side(k)).collect();
        let found = search(&problem, Search::LevenbergMarquardt);
        let outcome = &found.outcome;
        println!("{signs:04b}: {} iterations, cost {:.9e}, {}", outcome.iterations, outcome.cost, outcome.reason);
        let resonance_is_near = signs & 1 == signs >> 2 & 1;
        let most = if resonance_is_near { 15 } else { 40 };
        assert!(outcome.converged && outcome.iterations <= most, "{signs:04b}: {}", outcome.iterations);
        let best = best.get_or_insert(found.clone());
        assert!((outcome.cost / best.outcome.cost - 1.0).abs() < 1e-8, "{signs:04b}: {:e}", outcome.cost);
        for (k, (a, b)) in found.values().iter().zip(best.values()).take(4).enumerate() {
            assert!((a / b - 1.0).abs() < 1e-6, "{signs:04b}, parameter {k}: {a} {b}");
        }
    }
}

/// Protects the choice where none is made: few parameters in least squares go to Levenberg-Marquardt, and the reason says so.
#[test]
fn the_default_is_chosen_by_the_problem() {
    let (method, reason) = default_method(&engine_mount(1e-3).unwrap());
    assert_eq!(method, Search::LevenbergMarquardt);
    assert!(reason.contains("least squares with 4 free parameters"), "{reason}");
    // the library's choice is that of the command
    let found = identify(&engine_mount(1e-3).unwrap(), &Settings::default(), &mut |_| Flow::Continue).unwrap();
    assert_eq!(found.method, Search::LevenbergMarquardt);
}

/// Something that turns, with the place of its angle among the outputs. All have parameters `damping` and `rate`, the angular
/// velocity at the start.
struct Turning {
    name: &'static str,
    system: Arc<dyn System>,
    output: usize,
}

/// A flywheel in the plane, whose angle is that of an absolute encoder.
fn planar_wheel() -> costate::Result<costate_parts::assembly::Assembly> {
    use costate_parts::planar::{Body, Mechanism};
    let mut mechanism = Mechanism::new("planar_wheel");
    let damping = mechanism.parameter(Parameter::new("damping", "N m s/rad", 0.02));
    let rate = mechanism.parameter(Parameter::new("rate", "rad/s", 12.0));
    let wheel = mechanism.body("wheel", Body::new(1.0, 0.05).at([0.0; 2], 0.0).moving([0.0; 2], rate));
    let ground = mechanism.ground();
    mechanism.revolute("bearing", ground.at([0.0; 2]), wheel.at([0.0; 2]));
    mechanism.torsion("friction", &ground, &wheel, 0.0, damping);
    mechanism.encoder("turn", &ground, &wheel);
    mechanism.build()
}

/// The same in space, where a joint's angle comes from `atan2`.
fn spatial_wheel() -> costate::Result<costate_parts::assembly::Assembly> {
    use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism};
    let mut mechanism = Mechanism::new("spatial_wheel");
    let damping = mechanism.parameter(Parameter::new("damping", "N m s/rad", 0.02));
    let rate = mechanism.parameter(Parameter::new("rate", "rad/s", 12.0));
    let body = Body::new(1.0, Inertia::diagonal([0.03, 0.03, 0.05]));
    let wheel = mechanism.body("wheel", body.moving([0.0; 3], [&rate * 0.0, &rate * 0.0, rate]));
    let axis = [0.0, 0.0, 1.0];
    let ends = [mechanism.ground().at([0.0; 3]).axis(axis), wheel.at([0.0; 3]).axis(axis)];
    let [ground, own] = ends;
    let joint = mechanism.revolute("bearing", ground, own);
    mechanism.joint_spring("friction", &joint, Freedom::Turn, 0.0, damping);
    mechanism.joint_sensor("turn", &joint, Freedom::Turn);
    mechanism.build()
}

fn turning() -> Vec<Turning> {
    let of = |name, system: Arc<dyn System>| Turning { name, system, output: 0 };
    vec![
        of("plain", common::ready("pendulum")),
        of("planar", Arc::new(planar_wheel().unwrap())),
        of("spatial", Arc::new(spatial_wheel().unwrap())),
    ]
}

impl Turning {
    fn simulation(&self) -> Simulation {
        let grid = TimeGrid::steps(0.0, 5e-3, 200).unwrap();
        Simulation::new(self.system.clone(), Hht::new(-0.05).unwrap(), grid, vec![]).unwrap()
    }

    /// Parameters of a motion with some turns, and the place of the angular velocity at the start.
    fn parameters(&self) -> (Vec<f64>, usize) {
        let mut u = self.system.signature().nominal();
        let rate = u.len() - 1;
        u[rate] = 12.0;
        (u, rate)
    }
}

/// The cost of missing `values`.
fn missing(simulation: &Simulation, output: usize, values: Vec<f64>) -> LeastSquares {
    let reference = Reference { output, values, deviation: 1.0 };
    LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Unit).unwrap()
}

fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU).round()
}

fn agree(name: &str, a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1e-3), "{name}: {a:e} {b:e}");
}

/// Protects fits of angles that turn: an angle that is known up to whole turns has no jumps along a run, and cost, adjoint,
/// tangents and Hessian are the same whether the record jumps or not. The cost of an angle that passes half a turn just before a
/// sample or just after it is continuous, and its gradient is its slope.
#[test]
fn costs_of_angles_have_no_jumps() {
    for turning in turning() {
        let (name, simulation) = (turning.name, turning.simulation());
        let (optimum, rate) = turning.parameters();
        let angle = simulation.run(&optimum).unwrap().output(turning.output);
        assert!(angle.iter().any(|y| y.abs() > 1.5 * TAU), "{name} does not turn");
        assert!(angle.windows(2).all(|w| (w[1] - w[0]).abs() < 0.2), "{name}");
        let jumping: Vec<f64> = angle.iter().map(|y| wrapped(*y)).collect();
        // the rate at which some sample is half a turn: bisected between neighbours of the optimum
        let at = |u: f64| {
            let mut all = optimum.clone();
            all[rate] = u;
            simulation.run(&all).unwrap().output(turning.output)
        };
        let (mut low, mut high) = (0.9 * optimum[rate], 0.95 * optimum[rate]);
        let turns = |y: f64| (y / TAU - 0.5).floor();
        let (first, last) = (at(low), at(high));
        let sample = (0..first.len()).find(|&i| turns(first[i]) != turns(last[i])).unwrap();
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if turns(at(middle)[sample]) == turns(first[sample]) { low = middle } else { high = middle }
        }
        let mut u = optimum.clone();
        u[rate] = low;
        let mut found = Vec::new();
        for values in [angle.clone(), jumping, angle.iter().map(|y| y - 3.0 * TAU).collect()] {
            let cost = missing(&simulation, turning.output, values);
            let mut gradient = Gradient::new(&simulation, &cost).unwrap();
            let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            let value = gradient.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
            let by_tangents = gradient.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
            agree(name, by_tangents, value, 1e-12);
            agree(name, tangent[rate], adjoint[rate], 1e-8);
            agree(name, gradient.linearise(&u, &cost).unwrap().gradient()[rate], adjoint[rate], 1e-8);
            let h = 1e-5 * u[rate];
            let mut beside = |step: f64| {
                let mut all = u.clone();
                all[rate] += step;
                let mut slopes = vec![0.0; u.len()];
                (gradient.cost_and_gradient(&all, Method::Adjoint, &mut slopes).unwrap(), slopes[rate])
            };
            let (ahead, behind) = (beside(h), beside(-h));
            agree(name, (ahead.0 - behind.0) / (2.0 * h), adjoint[rate], 1e-6);
            let (mut slopes, mut hessian) = (vec![0.0; u.len()], vec![vec![0.0; u.len()]; u.len()]);
            gradient.hessian(&u, &mut slopes, &mut hessian).unwrap();
            agree(name, hessian[rate][rate], (ahead.1 - behind.1) / (2.0 * h), 1e-6);
            found.push((value, adjoint[rate]));
        }
        for other in &found[1..] {
            agree(name, other.0, found[0].0, 1e-10);
            agree(name, other.1, found[0].1, 1e-10);
        }
        assert!(found[0].0 > 1e-3, "{name}: {}", found[0].0);
    }
}

/// The square of the angle, all turns counted.
struct Square;

impl CostFunction for Square {
    fn running<D: Number>(&self, _t: f64, _x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        y[0] * y[0]
    }
}

/// Protects costs written as functions, and limits of outputs, from jumps: they see the angle with its turns in the forward run, in
/// the sweep and in second derivatives alike.
#[test]
fn functions_and_limits_of_angles_count_turns() {
    for turning in turning() {
        let (name, simulation) = (turning.name, turning.simulation());
        let (u, rate) = turning.parameters();
        let angle = simulation.run(&u).unwrap().output(turning.output);
        let cost = Differentiated::new(Square, Quadrature::Unit);
        let mut gradient = Gradient::new(&simulation, &cost).unwrap();
        let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        let value = gradient.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
        agree(name, value, angle.iter().map(|y| y * y).sum(), 1e-12);
        gradient.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
        agree(name, adjoint[rate], tangent[rate], 1e-8);
        let (mut slopes, mut product) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        let direction: Vec<f64> = (0..u.len()).map(|k| if k == rate { 1.0 } else { 0.0 }).collect();
        let again = gradient.hessian_vector(&u, &direction, &mut slopes, &mut product).unwrap();
        agree(name, again, value, 1e-12);
        agree(name, slopes[rate], adjoint[rate], 1e-8);
        let mut beside = |step: f64| {
            let mut all = u.clone();
            all[rate] += step;
            let mut slopes = vec![0.0; u.len()];
            gradient.cost_and_gradient(&all, Method::Adjoint, &mut slopes).unwrap();
            slopes[rate]
        };
        agree(name, product[rate], (beside(1e-4) - beside(-1e-4)) / 2e-4, 1e-6);
    }
    // the wheel is fitted to a record of a faster one, and may make two turns
    let turning = &turning()[1];
    let simulation = turning.simulation();
    let (mut u, rate) = turning.parameters();
    let signature = simulation.signature().clone();
    u[rate] = 17.0;
    let values = simulation.run(&u).unwrap().output(turning.output).into_iter().map(wrapped).collect();
    let cost = missing(&simulation, turning.output, values);
    let mut parameters = signature.parameters.clone();
    parameters[0].free = false;
    let limit = Constraint::parse("peak `turn.angle` <= 12.566370614359172", &signature).unwrap();
    u[rate] = 15.0;
    let constraints = vec![limit];
    let problem = Problem { parameters, start: u, constraints, ..Problem::new("limited", simulation, Box::new(cost)) };
    let found = search(&problem, Search::LevenbergMarquardt);
    assert!(found.outcome.converged, "{}", found.reason());
    let peak =
        problem.first().simulation.run(&found.values()).unwrap().output(turning.output).into_iter().fold(0.0, f64::max);
    assert!(
        (peak - 2.0 * TAU).abs() < 1e-6,
        "{peak}, {:?} from {:?}, {}",
        found.values(),
        problem.start,
        found.reason()
    );
}

/// Protects the robot's problem, whose second and third joint pass half a turn: masses, centres and friction that start off are found
/// back.
#[test]
fn the_robot_is_identified() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("robot_arm").unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.step = 4e-3;
    let mut problem = entry.problem(&scenario).unwrap();
    let optimum = problem.optimum.clone().unwrap();
    for (k, parameter) in problem.parameters.iter_mut().enumerate() {
        parameter.free = problem.start[k] != optimum[k];
    }
    let most = |k: usize| {
        problem.first().simulation.run(&optimum).unwrap().output(k).iter().fold(0.0f64, |m, y| m.max(y.abs()))
    };
    assert!(most(3) > PI && most(6) > PI, "{} {}", most(3), most(6));
    let found = search(&problem, Search::LevenbergMarquardt);
    assert!(found.outcome.converged, "{}", found.outcome.reason);
    for (k, (found, wanted)) in found.values().iter().zip(&optimum).enumerate() {
        assert!((found - wanted).abs() <= 1e-7 * wanted.abs(), "{}: {found} {wanted}", problem.parameters[k].name);
    }
}
