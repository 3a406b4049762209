//! Every scheme on every model: exact first and second derivatives, orders, drift of the constraints, messages.

use crate::common;

use common::{ALL, Case, largest};
use costate::cost::Quadrature;
use costate::scheme::Scheme;
use costate::sensitivity::{Gradient, Method};
use costate::system::Level;
use costate::{InitialState, Model, Signal, Simulation, Trajectory, scheme};
use costate_identify::problem::Integrator;
use std::sync::Arc;

/// The schemes other than HHT, whose tests are everywhere.
const SCHEMES: [&str; 6] = ["newmark", "trapezoidal", "generalized-alpha", "ali3p", "i2p", "bdf2"];

fn simulation(case: &Case, scheme: &str) -> Simulation {
    let signals = case.signals.iter().map(|&w| Signal::function(w)).collect();
    let (name, settings) = scheme.split_once(':').unwrap_or((scheme, ""));
    let settings = settings.split(',').filter_map(|setting| setting.split_once('='));
    let settings: Vec<(String, f64)> = settings.map(|(name, value)| (name.into(), value.parse().unwrap())).collect();
    let scheme: Arc<dyn Scheme> = scheme::by_name(name, &settings).unwrap();
    let system = case.system.clone();
    let state = if case.project { InitialState::Projected } else { InitialState::AsGiven };
    Simulation::new(system, scheme, case.grid.clone(), signals).unwrap().initial_state(state)
}

/// Adjoint against tangents.
fn agreement(case: &Case, scheme: &str) -> f64 {
    let (simulation, cost) = (simulation(case, scheme), case.clone().alpha(-0.1).cost_of(ALL));
    let cost = cost.differentiated(Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &*cost).unwrap();
    let [mut adjoint, mut tangent] = [(); 2].map(|()| vec![0.0; case.u.len()]);
    engine.cost_and_gradient(&case.u, Method::Adjoint, &mut adjoint).unwrap();
    engine.cost_and_gradient(&case.u, Method::Tangent, &mut tangent).unwrap();
    case.distance(&adjoint, &tangent)
}

/// Protects the recursions of lists of balances: start, step, projections; on even and uneven grids.
#[test]
fn adjoint_and_tangent_agree() {
    for (name, case) in common::models() {
        for scheme in SCHEMES.into_iter().chain(["ali3p:penalty=1e7", "ali3p:pure_penalty=1e8", "hht:start_order=2"]) {
            // undamped multipliers ring, and may grow
            let undamped = ["newmark", "trapezoidal"].contains(&scheme);
            let case = if undamped { case.clone().first_steps(40) } else { case.clone() };
            for case in [case.clone(), case.uneven()] {
                let error = agreement(&case, scheme);
                // round-off of positions over β h² is in multipliers of index 3, and stays there where nothing is damped; dividing by
                // no h², I2P and BDF2 (β h² with β = 4/9) have less of it
                let limit = match scheme {
                    "newmark" | "trapezoidal" => 1e-10,
                    "generalized-alpha" | "hht:start_order=2" => 1e-11,
                    "ali3p" | "ali3p:penalty=1e7" | "ali3p:pure_penalty=1e8" => 1e-10,
                    _ => 1e-12,
                };
                assert!(error < limit, "{name}, {scheme}: {error:.1e}");
            }
        }
    }
}

/// Largest errors of q, v, A and λ over all times, and over those after the first quarter. The reference has more steps.
fn errors(run: &Trajectory, reference: &Trajectory) -> [[f64; 4]; 2] {
    let last = run.times().len() - 1;
    let stride = (reference.times().len() - 1) / last;
    let mut errors = [[0.0f64; 4]; 2];
    for i in 0..=last {
        let (x, exact) = (run.state(i), reference.state(i * stride));
        let parts = [(x.q, exact.q), (x.v, exact.v), (x.a, exact.a), (x.lambda, exact.lambda)];
        for (kind, (x, exact)) in parts.into_iter().enumerate() {
            let distance = x.iter().zip(exact).fold(0.0f64, |largest, (x, exact)| largest.max((x - exact).abs()));
            for (late, errors) in errors.iter_mut().enumerate() {
                if late == 0 || 4 * i >= last {
                    errors[kind] = errors[kind].max(distance);
                }
            }
        }
    }
    errors
}

/// Protects the order of positions, velocities, accelerations and multipliers, the first ones among them: with constraints HHT's are of
/// first order until its damping has forgotten the start, those of the others are of second order at once.
#[test]
fn accelerations_and_multipliers_keep_the_order_from_the_start() {
    for (name, case) in common::models() {
        if ["pendulum", "slider_crank", "cart_pole", "oscillator"].contains(&name) {
            let constrained = case.is_constrained();
            let at = |scheme: &str, steps: usize| {
                let case = case.clone().step(0.5 / steps as f64, steps);
                simulation(&case, scheme).run(&case.u).unwrap()
            };
            // its own error is a thousandth of the others'
            let reference = at("i2p", 25600);
            let schemes =
                ["hht:alpha=-0.1", "hht:alpha=-0.1,start_order=2", "generalized-alpha", "ali3p", "i2p", "bdf2"];
            for scheme in schemes {
                let [coarse, fine] = [400, 800].map(|steps| errors(&at(scheme, steps), &reference));
                for late in 0..2 {
                    for (kind, what) in ["q", "v", "A", "λ"].into_iter().enumerate() {
                        if what == "λ" && !constrained {
                            continue;
                        }
                        let order = (coarse[late][kind] / fine[late][kind]).log2();
                        let place = format!("{name}, {scheme}, {what}, after the first quarter {late}: {order:.2}");
                        // BDF2 has the transient of index 3, too
                        let keeps_transient = ["hht:alpha=-0.1", "bdf2"].contains(&scheme);
                        let transient = constrained && late == 0 && kind > 1 && keeps_transient;
                        let expected = if transient { 1.0 } else { 2.0 };
                        let within =
                            if transient && scheme == "bdf2" { order > 0.9 } else { (order - expected).abs() < 0.1 };
                        assert!(within, "{place}");
                    }
                }
            }
        }
    }
}

/// Protects second derivatives through lists of balances: a product with the Hessian against differences of gradients.
#[test]
fn hessians_are_exact() {
    for (name, case) in common::models() {
        let case = case.clone().first_steps(30);
        let cost = case.clone().alpha(-0.1).cost_of(ALL);
        for scheme in ["generalized-alpha", "ali3p", "i2p", "bdf2"] {
            let (simulation, cost) = (simulation(&case, scheme), cost.differentiated(Quadrature::Trapezoid));
            let mut engine = Gradient::new(&simulation, &*cost).unwrap();
            let p = case.u.len();
            let direction: Vec<f64> = (0..p).map(|k| case.sizes[k] * (1.0 + 2.7 * k as f64).sin()).collect();
            let mut at = |s: f64| {
                let u: Vec<f64> = case.u.iter().zip(&direction).map(|(u, d)| u + s * d).collect();
                let mut gradient = vec![0.0; p];
                engine.cost_and_gradient(&u, Method::Adjoint, &mut gradient).unwrap();
                gradient
            };
            let (up, down) = (at(1e-5), at(-1e-5));
            let expected: Vec<f64> = up.iter().zip(&down).map(|(up, down)| (up - down) / 2e-5).collect();
            let (mut gradient, mut product) = (vec![0.0; p], vec![0.0; p]);
            engine.hessian_vector(&case.u, &direction, &mut gradient, &mut product).unwrap();
            let error = case.distance(&product, &expected);
            // differences of the step's square, and of round-off over the step
            assert!(error < 1e-6, "{name}, {scheme}: {error:.1e}");
        }
    }
}

/// Protects constraints: positions hold to round-off everywhere, velocities in the schemes that project them; in HHT to the second order
/// of the step.
#[test]
fn constraints_hold_in_position_and_velocity() {
    let drift = |scheme: &str, level: Level| {
        let case = common::slider_crank();
        let (system, run) = (case.system.clone(), simulation(&case, scheme).run(&case.u).unwrap());
        let mut evaluator = system.evaluator();
        evaluator.set_parameters(&case.u);
        let mut worst = 0.0f64;
        for i in 0..run.times().len() {
            let mut c = vec![0.0; system.signature().constraints.len()];
            evaluator.constraint(level, &costate::system::Point { w: &[0.0], ..run.state(i) }, &mut c);
            worst = worst.max(largest(&c));
        }
        worst
    };
    for scheme in ["hht", "generalized-alpha", "ali3p", "i2p", "bdf2"] {
        assert!(drift(scheme, Level::Position) < 1e-13, "{scheme}: {:e}", drift(scheme, Level::Position));
        let velocity = drift(scheme, Level::Velocity);
        match scheme {
            "ali3p" | "i2p" => assert!(velocity < 1e-12, "{scheme}: {velocity:e}"),
            _ => assert!((1e-6..0.2).contains(&velocity), "{scheme}: {velocity:e}"),
        }
    }
    assert!(drift("ali3p", Level::Acceleration) < 1e-10, "{:e}", drift("ali3p", Level::Acceleration));
}

/// Protects messages on schemes and settings that do not exist or make no sense.
#[test]
fn schemes_that_do_not_exist_are_refused() {
    let says = |name: &str, settings: &[(&str, f64)], parts: &[&str]| {
        let settings: Vec<(String, f64)> = settings.iter().map(|(name, value)| (name.to_string(), *value)).collect();
        let error = scheme::by_name(name, &settings).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "`{part}` is missing in: {error}"));
    };
    says("generalised-alpha", &[], &["no scheme `generalised-alpha`", "did you mean `generalized-alpha`"]);
    says(
        "i2p",
        &[("alpha", -0.1)],
        &["`alpha`: scheme `i2p` has `spectral_radius` alone", "take hht or hht-literal, which have it"],
    );
    says(
        "i2p",
        &[("spectral_radus", 0.5)],
        &["setting `spectral_radus` in scheme `i2p`", "did you mean `spectral_radius`"],
    );
    says("bdf2", &[("penalty", 1e9)], &["setting `penalty`", "`bdf2` has no settings", "take ali3p, which has it"]);
    says("ali3p", &[("alpha", -0.1)], &["take hht or hht-literal, which have it"]);
    says("", &[], &["its name is missing", "i2p"]);
    for radius in [-0.1, 1.1, f64::NAN] {
        says("i2p", &[("spectral_radius", radius)], &["spectral_radius of i2p", "[0, 1]", "use 0.8"]);
        says("generalized-alpha", &[("spectral_radius", radius)], &["spectral_radius of generalized-alpha"]);
    }
    says("hht", &[("start_order", 3.0)], &["start_order of hht: it is 3", "use 1, as published, or 2"]);
    says("newmark", &[("gamma", 0.4)], &["gamma of newmark", "[0.5, 1]"]);
}

/// Protects assemblies and what HHT cannot do: a four-bar chain through singular positions, Bricard's mechanism with a redundant row,
/// and a fast top, whose accelerations and multipliers ring under HHT without damping.
#[test]
fn assemblies_run_and_differentiate_under_every_scheme() {
    let registry = costate_models::registry().unwrap();
    for name in ["four_bar_chain", "bricard", "top", "pendulum_chain", "five_bar", "quarter_car"] {
        let entry = registry.get(name).unwrap();
        for scheme in ["generalized-alpha", "ali3p", "i2p"] {
            let mut scenario = entry.scenario.clone();
            (scenario.integrator.scheme, scenario.integrator.settings) = (scheme.into(), Vec::new());
            scenario.end = 100.0 * scenario.step;
            let problem = entry.problem(&scenario).unwrap();
            let mut engine = problem.gradient().unwrap();
            let [mut adjoint, mut tangent] = [(); 2].map(|()| vec![0.0; problem.start.len()]);
            engine.cost_and_gradient(&problem.start, Method::Adjoint, &mut adjoint).unwrap();
            engine.cost_and_gradient(&problem.start, Method::Tangent, &mut tangent).unwrap();
            let size = |g: &[f64]| g.iter().zip(&problem.start).fold(0.0f64, |s, (g, u)| s.max((g * u).abs()));
            let difference: Vec<f64> = adjoint.iter().zip(&tangent).map(|(a, b)| a - b).collect();
            let error = size(&difference) / size(&tangent);
            assert!(error < if scheme == "i2p" { 1e-12 } else { 1e-10 }, "{name}, {scheme}: {error:.1e}");
        }
    }
    // 150 rad/s without damping: energy is kept to a part in a thousand
    let entry = registry.get("top").unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.integrator.scheme = "i2p".into();
    scenario.integrator.settings = vec![("spectral_radius".into(), 1.0)];
    scenario.end = 0.5;
    let run = entry.simulation(&scenario).unwrap().run(&entry.system.signature().nominal()).unwrap();
    let outputs = &entry.system.signature().outputs;
    let energy = run.output(outputs.iter().position(|output| output.name == "energy").unwrap());
    let worst = energy.iter().fold(0.0f64, |worst, e| worst.max((e / energy[0] - 1.0).abs()));
    assert!(worst < 1e-3, "{worst:e}");
}

/// Protects steps near rest, where velocities are small differences and have the round-off of what they are differences of: a pendulum
/// that turns back is solved once more for its gradient.
#[test]
fn steps_near_rest_have_gradients() {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("simple_pendulum").unwrap();
    let mut scenario = entry.scenario.clone();
    scenario.integrator = Integrator { scheme: "i2p".into(), ..Integrator::default() };
    let problem = entry.problem(&scenario).unwrap();
    let mut slopes = [vec![0.0; 3], vec![0.0; 3]];
    for (method, slopes) in [Method::Adjoint, Method::Tangent].into_iter().zip(&mut slopes) {
        problem.gradient().unwrap().cost_and_gradient(&problem.start, method, slopes).unwrap();
    }
    // the mass does not matter
    for (adjoint, tangent) in slopes[0].iter().zip(&slopes[1]).skip(1) {
        assert!((adjoint / tangent - 1.0).abs() < 1e-12, "{slopes:?}");
    }
}

/// Protects uneven steps: I2P keeps its order in everything on steps that alternate 1:2.
#[test]
fn i2p_keeps_its_order_on_uneven_steps() {
    let case = common::slider_crank();
    let at = |steps: usize| {
        let h = 0.5 / (1.5 * steps as f64);
        let times: Vec<f64> = (0..=steps).map(|i| h * (1.5 * i as f64 - if i % 2 == 1 { 0.5 } else { 0.0 })).collect();
        let case = Case { grid: costate::TimeGrid::through(&times, 1).unwrap(), ..case.clone() };
        simulation(&case, "i2p").run(&case.u).unwrap()
    };
    let end = |run: &Trajectory| {
        let x = run.state(run.times().len() - 1);
        [x.q.to_vec(), x.v.to_vec(), x.a.to_vec(), x.lambda.to_vec()]
    };
    let [coarse, fine, finest] = [400, 800, 6400].map(|steps| end(&at(steps)));
    for (kind, what) in ["q", "v", "A", "λ"].into_iter().enumerate() {
        let error = |x: &[Vec<f64>; 4]| {
            x[kind].iter().zip(&finest[kind]).fold(0.0f64, |largest, (x, exact)| largest.max((x - exact).abs()))
        };
        let order = (error(&coarse) / error(&fine)).log2();
        assert!((order - 2.0).abs() < 0.1, "{what}: {order:.2}");
    }
}

/// Protects what is known of Andrews' squeezer: Richardson's limit of I2P agrees with the literature in eight digits.
#[test]
fn the_squeezer_in_eight_digits() {
    let at = |steps: usize| {
        let system = common::ready("squeezer");
        let grid = costate::TimeGrid::steps(0.0, 0.03 / steps as f64, steps).unwrap();
        let run = Simulation::new(system, scheme::I2p::new(1.0).unwrap(), grid, vec![]).unwrap();
        run.run(&costate_models::squeezer::Squeezer.signature().nominal()).unwrap().state(steps).q.to_vec()
    };
    let [a, b, c] = [4000, 8000, 16000].map(at);
    for (j, exact) in costate_models::squeezer::AT_30_MS.into_iter().enumerate() {
        // errors of orders 2 and 4
        let (first, second) = ((4.0 * b[j] - a[j]) / 3.0, (4.0 * c[j] - b[j]) / 3.0);
        let limit = (16.0 * second - first) / 15.0;
        assert!((limit / exact - 1.0).abs() < 1e-8, "{j}: {limit} {exact}");
    }
}
