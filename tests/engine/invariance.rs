//! What must not change a gradient, and mechanisms that the built-in ones leave out: moving constraints, singular mass
//! matrices, starts that are projected.

use crate::common;

use common::compare::{Limits, compare, compare_within, taylor};
use common::mechanisms::{Bead, Displaced, Guided, Scaled, bead, guided};
use common::{ALL, Case, FORMS, NONE, Parts};
use costate::cost::Quadrature;
use costate::sensitivity::Method;
use costate::{Error, InitialState, Model};
use costate_models::cart_pole::CartPole;
use costate_models::emps::Emps;
use costate_models::engine_mount::EngineMount;
use costate_models::oscillator::Oscillator;
use costate_models::pendulum::Pendulum;
use costate_models::silverbox::Silverbox;
use costate_models::slider_crank::SliderCrank;

/// Everything but multipliers, whose unit is that of the equations.
const UNSCALED: Parts = Parts { lambda: false, ..ALL };

fn check_scaling(name: &str, model: impl Model + Clone + 'static, case: Case) {
    for form in FORMS {
        let case = case.clone().alpha(-0.1).form(form);
        let (value, gradient) = case.engine(&case.cost_of(UNSCALED), Quadrature::Trapezoid, Method::Adjoint);
        for (motion, constraint, parameter) in [
            (1e3, 1.0, 1.0),
            (1.0, 1e3, 1.0),
            (1.0, 1.0, 1e3),
            (1e-4, 30.0, 1e-2),
            // micrometres in SI units
            (1e-16, 1.0, 1.0),
            (1e-25, 1e-3, 1e-6),
        ] {
            let scaled = Case {
                u: case.u.iter().map(|u| u * parameter).collect(),
                sizes: case.sizes.iter().map(|u| u * parameter).collect(),
                ..case.clone().with_model(Scaled { model: model.clone(), motion, constraint, parameter })
            };
            // the scales belong to the cost: those of the original
            let mut cost = case.cost_of(UNSCALED);
            cost.sizes.clone_from(&scaled.sizes);
            for method in [Method::Adjoint, Method::Tangent] {
                let (again, other) = scaled.engine(&cost, Quadrature::Trapezoid, method);
                let other: Vec<f64> = other.iter().map(|g| g * parameter).collect();
                let limits = Limits::of(&case);
                let error = case.distance(&other, &gradient);
                let place = format!("{name}, {form:?}, {method:?}, {motion} {constraint} {parameter}");
                assert!(error <= limits.textbook, "{place}: {error:.1e}\n{other:?}\n{gradient:?}");
                assert!((again / value - 1.0).abs() <= limits.value.max(1e-11), "{place}: {again} {value}");
            }
        }
    }
}

/// Protects the independence of units: no tolerance, pivot or increment may depend on how large the equations, the
/// constraints or the parameters' numbers are.
#[test]
fn scaling_equations_and_parameters_leaves_the_gradient() {
    check_scaling("oscillator", Oscillator, common::oscillator());
    check_scaling("engine_mount", EngineMount, common::engine_mount());
    check_scaling("silverbox", Silverbox, common::silverbox());
    check_scaling("pendulum", Pendulum, common::pendulum());
    check_scaling("cart_pole", CartPole, common::cart_pole());
    check_scaling("slider_crank", SliderCrank, common::slider_crank());
    check_scaling("emps", Emps, common::emps());
    check_scaling("bead", Bead, bead());
}

/// Protects C_t, C_tt and C_tu in the start and the step: constraints that depend on time and parameters, with a massless
/// coordinate; all costs and those of multipliers alone.
#[test]
fn moving_constraints_and_singular_mass_matrices_have_exact_gradients() {
    for form in FORMS {
        for alpha in [0.0, -0.05, -0.3] {
            let even = bead().alpha(alpha).form(form);
            for case in [even.clone(), even.uneven()] {
                compare("bead", &case, &case.cost_of(ALL), Quadrature::Trapezoid);
            }
        }
        let case = bead().alpha(-0.1).form(form);
        compare("bead, lambda", &case, &case.cost_of(Parts { lambda: true, ..NONE }), Quadrature::Rectangle);
        taylor("bead", &case, &case.cost_of(ALL));
    }
}

/// Protects λ_0 where the constraint moves: with everything at rest in the moving frame the second time derivative of the
/// support is what the first multiplier carries.
#[test]
fn the_first_multiplier_knows_how_the_support_accelerates() {
    let case = bead();
    let run = case.simulation().run(&case.u).unwrap();
    let x = run.state(0);
    let [m, amplitude, omega, _, d, b, k, _] = *case.u else { panic!("eight parameters") };
    let t = x.t;
    let support = amplitude * (omega * t).sin();
    let (r_x, r_y) = (x.q[0] - support, x.q[1]);
    let (v_x, v_y) = (x.v[0] - amplitude * omega * (omega * t).cos(), x.v[1]);
    // d²/dt² of the hoop, by hand
    let relative = x.a[0] + omega * omega * support;
    let hoop = r_x * relative + r_y * x.a[1] + v_x * v_x + v_y * v_y;
    assert!(hoop.abs() <= 1e-13, "{hoop:e}");
    let pointer = x.a[2] - b * (2.0 * x.q[0] + 4.0 * t * x.v[0] + t * t * x.a[0]);
    assert!(pointer.abs() <= 1e-13, "{pointer:e}");
    let lambda_pointer = -k * x.q[2] - 0.1 * d * x.v[2];
    assert!((x.lambda[1] - lambda_pointer).abs() <= 1e-13);
    let motion = m * x.a[0] + r_x * x.lambda[0] - b * t * t * x.lambda[1] + d * x.v[0];
    assert!(motion.abs() <= 1e-12, "{motion:e}");
}

fn check_projection(name: &str, case: Case) {
    let case = case.alpha(-0.1).project();
    let run = case.simulation().run(&case.u).unwrap();
    assert_eq!(run.start.initial_state, InitialState::Projected);
    assert!(run.start.position.iter().any(|c| *c > 1e-3), "{name} starts on its constraints: {:?}", run.start);
    let x = run.state(0);
    let [position, velocity, acceleration] = case.textbook().mechanics.along_motion(x.t, x.q, x.v, x.a, &case.u);
    for residual in position.iter().chain(&velocity).chain(&acceleration) {
        assert!(residual.abs() <= 1e-12, "{name}: {position:?} {velocity:?} {acceleration:?}");
    }
    // the projection is solved by another matrix than the steps and adds a little round-off of its own
    let limits = Limits { tangent: 2e-12, textbook: 2e-11, value: 1e-11 };
    for form in FORMS {
        let case = case.clone().form(form);
        compare_within(limits, name, &case, &case.cost_of(ALL), Quadrature::Trapezoid);
        let start_only = Parts { a: true, lambda: true, ..NONE };
        let short = Case { grid: costate::TimeGrid::steps(case.grid.times()[0], 1e-2, 1).unwrap(), ..case.clone() };
        compare_within(limits, name, &short, &short.cost_of(start_only), Quadrature::Rectangle);
        taylor(name, &case, &case.cost_of(ALL));
    }
}

/// Protects the gradient through the projection of the start: curved constraints, moving ones with a singular mass matrix,
/// a mass matrix that depends on positions.
#[test]
fn gradients_pass_through_the_projection_of_the_start() {
    check_projection("pendulum", Displaced::case(Pendulum, common::pendulum(), 0.06, 0.5));
    check_projection("bead", Displaced::case(Bead, bead(), 0.06, 0.5));
    check_projection("guided", guided());
    check_projection("guided", Displaced::case(Guided, guided(), 0.05, 0.3));
}

/// Protects a projection that has nothing to do: it must not change a consistent start, nor its gradient.
#[test]
fn projecting_a_consistent_start_changes_nothing() {
    let case = common::pendulum().alpha(-0.1);
    let cost = case.cost_of(ALL);
    let (value, gradient) = case.engine(&cost, Quadrature::Trapezoid, Method::Adjoint);
    let projected = case.clone().project();
    let (again, other) = projected.engine(&cost, Quadrature::Trapezoid, Method::Adjoint);
    assert!((again / value - 1.0).abs() <= 1e-12);
    assert!(case.distance(&other, &gradient) <= 1e-11);
}

/// Protects the user from a start that violates the constraints: refused by the names of the rows, with the remedy.
#[test]
fn an_inconsistent_start_is_refused_by_name() {
    let case = Displaced::case(Bead, bead(), 0.01, 0.0);
    let error = case.simulation().run(&case.u).unwrap_err();
    let Error::InconsistentStart { violations } = &error else { panic!("{error}") };
    assert!(violations.contains("`hoop` by ") && violations.contains("`pointer` by "), "{violations}");
    assert!(error.to_string().contains("`InitialState::Projected`"), "{error}");
    let case = Displaced::case(Bead, bead(), 0.0, 0.1);
    let error = case.simulation().run(&case.u).unwrap_err();
    let Error::InconsistentStart { violations } = &error else { panic!("{error}") };
    assert!(violations.contains("in velocity") && !violations.contains("in position"), "{violations}");
}
