//! Gradients of all models, forms, grids and costs against forward differentiation of a textbook HHT, against tangents,
//! and against the cost itself.

use crate::common;

use common::compare::{compare, taylor};
use common::{ALL, FORMS, NONE, Parts};
use costate::cost::Quadrature;
use costate::scheme::{Form, Hht};
use costate::sensitivity::{Gradient, Method};
use costate::{Error, InitialState, Model, Simulation, TimeGrid};
use costate_identify::ensemble::Ensemble;
use costate_identify::optimise::{self, Flow};
use costate_identify::problem::Problem;
use costate_identify::{Settings, identify};
use costate_models::squeezer::{AT_30_MS, FOLLOWED, LENGTHS, Squeezer};

/// Protects the whole chain (start, step, sweep, tangents, costs, weights) for costs that look at everything at once.
#[test]
fn adjoint_and_tangent_agree_with_a_textbook_simulation_in_dual_numbers() {
    for (name, case) in common::models() {
        for form in FORMS {
            for alpha in [0.0, -0.05, -0.3] {
                let even = case.clone().alpha(alpha).form(form);
                // without damping, alternating multipliers grow until the step's equation has another root nearby
                let even = if alpha == 0.0 { even.first_steps(40) } else { even };
                // how samples are weighted has nothing to do with damping
                let rectangle = (alpha == -0.05).then_some(Quadrature::Rectangle);
                for case in [even.clone(), even.uneven()] {
                    for quadrature in rectangle.into_iter().chain([Quadrature::Trapezoid]) {
                        compare(name, &case, &case.cost_of(ALL), quadrature);
                    }
                }
            }
        }
    }
}

/// Protects each part of a cotangent on its own, where the large ones of other parts would hide a mistake; and the
/// end-point term and the running term without each other.
#[test]
fn costs_of_single_parts_of_the_state_have_exact_gradients() {
    let parts = [
        ("q", Parts { q: true, ..NONE }),
        ("v", Parts { v: true, ..NONE }),
        ("a", Parts { a: true, ..NONE }),
        ("a_scheme", Parts { a_scheme: true, ..NONE }),
        ("lambda", Parts { lambda: true, ..NONE }),
        ("y", Parts { y: true, ..NONE }),
    ];
    for (name, case) in common::models() {
        for form in FORMS {
            // a part of a cotangent is the same in every step
            let case = case.clone().alpha(-0.05).form(form).first_steps(40).uneven();
            for (part, parts) in parts {
                if part == "lambda" && !case.is_constrained() {
                    continue;
                }
                // what the last state gives is no matter of the form
                let terminal_alone = (form == Form::Consistent).then_some((false, true));
                for (running, terminal) in terminal_alone.into_iter().chain([(true, false)]) {
                    let cost = case.cost_of(Parts { running, terminal, ..parts });
                    let what = format!("{name}, {part}, running {running}, terminal {terminal}");
                    compare(&what, &case, &cost, Quadrature::Trapezoid);
                }
            }
        }
    }
}

/// Protects cost and gradient as a pair: what is left of J after its linear part must be quadratic.
#[test]
fn taylor_remainders_are_of_second_order() {
    for (name, case) in common::models() {
        for form in FORMS {
            let case = case.clone().alpha(-0.1).form(form);
            taylor(name, &case, &case.cost_of(ALL));
        }
    }
}

fn squeezer(state: InitialState, steps: usize) -> Simulation {
    let system = common::ready("squeezer");
    let grid = TimeGrid::steps(0.0, 0.03 / 6000.0, steps).unwrap();
    Simulation::new(system, Hht::new(-0.05).unwrap(), grid, vec![]).unwrap().initial_state(state)
}

/// Its angles beside those of a run with another torque and other lengths.
fn squeezer_problem(state: InitialState, fixed: &[usize]) -> Problem {
    let simulation = squeezer(state, 200);
    let u = simulation.signature().nominal();
    let start: Vec<f64> = u
        .iter()
        .enumerate()
        .map(|(k, u)| if FOLLOWED.contains(&k) && !fixed.contains(&k) { 1.02 * u } else { *u })
        .collect();
    let mut problem =
        Problem::synthetic("squeezer", simulation, &u, &start, &["beta", "theta", "gamma"], Quadrature::Trapezoid)
            .unwrap();
    (0..u.len()).for_each(|k| problem.parameters[k].free = !fixed.contains(&k));
    problem
}

/// Protects the squeezer of these tests: at 0.03 s it is where it is known to be, to the second order of the step.
#[test]
fn the_squeezer_is_that_of_the_literature() {
    let off = |steps: usize| {
        let system = common::ready("squeezer");
        let grid = TimeGrid::steps(0.0, 0.03 / steps as f64, steps).unwrap();
        let run = Simulation::new(system, Hht::new(-0.05).unwrap(), grid, vec![]).unwrap();
        let run = run.run(&Squeezer.signature().nominal()).unwrap();
        let q = run.state(steps).q;
        (q[0] - AT_30_MS[0]).abs().max((q[1] - AT_30_MS[1]).abs())
    };
    let (coarse, fine) = (off(3000), off(6000));
    assert!(fine < 0.02 && (3.5..4.5).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
}

/// Protects derivatives from a start that belongs to one set of lengths: differentiated by a length, a start as given is refused,
/// with its name and a row's; by what it follows it is exact, whatever differences would do to the lengths; and projected, by all.
#[test]
fn a_start_that_does_not_follow_its_parameters_is_refused() {
    let problem = squeezer_problem(InitialState::AsGiven, &[]);
    let p = problem.start.len();
    let (mut gradient, mut other) = (vec![0.0; p], vec![0.0; p]);
    let mut all = Gradient::new(&problem.first().simulation, &*problem.first().cost).unwrap();
    for method in [Method::Adjoint, Method::Tangent, Method::Difference] {
        let error = all.cost_and_gradient(&problem.start, method, &mut gradient).unwrap_err();
        assert!(matches!(error, Error::StartDoesNotFollow { .. }), "{error}");
        let text = error.to_string();
        for part in [
            "where `d` changes by 2.8e-2 m, constraint `",
            "where `e` changes by",
            "in position",
            "Projected",
            "with_respect_to",
        ] {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
        assert!(!text.contains("`m3`") && !text.contains("`c0`"), "{text}");
    }
    let mut hessian = vec![vec![0.0; p]; p];
    assert!(all.hessian(&problem.start, &mut gradient, &mut hessian).is_err());
    assert!(problem.gradient().unwrap().cost_and_gradient(&problem.start, Method::Adjoint, &mut gradient).is_err());

    let agree = |engine: &mut Ensemble<'_>, by: &[usize], limits: [f64; 2]| {
        let (mut adjoint, mut tangent, mut difference) = (vec![0.0; p], vec![0.0; p], vec![0.0; p]);
        engine.cost_and_gradient(&problem.start, Method::Adjoint, &mut adjoint).unwrap();
        engine.cost_and_gradient(&problem.start, Method::Tangent, &mut tangent).unwrap();
        engine.cost_and_gradient(&problem.start, Method::Difference, &mut difference).unwrap();
        let scaled = |k: usize, gradient: &[f64]| gradient[k] * problem.start[k];
        let size = (0..p).map(|k| scaled(k, &adjoint).abs()).fold(0.0, f64::max);
        for k in 0..p {
            if !by.contains(&k) {
                assert_eq!([adjoint[k], tangent[k], difference[k]], [0.0; 3]);
                continue;
            }
            assert!(adjoint[k] != 0.0);
            for (gradient, limit) in [&tangent, &difference].into_iter().zip(limits) {
                let off = (scaled(k, &adjoint) - scaled(k, gradient)).abs() / size;
                assert!(off < limit, "{k}: {off:e}");
            }
        }
    };
    let mut followed =
        Gradient::new(&problem.first().simulation, &*problem.first().cost).unwrap().with_respect_to(&FOLLOWED);
    agree(&mut problem.gradient().unwrap().with_respect_to(&FOLLOWED), &FOLLOWED, [1e-9, 1e-5]);
    // the Hessian along directions with a share in the lengths is that without
    let direction = problem.start.clone();
    followed.hessian_vector(&problem.start, &direction, &mut gradient, &mut other).unwrap();
    assert!(LENGTHS.iter().all(|&k| gradient[k] == 0.0 && other[k] == 0.0) && other[0] != 0.0, "{other:?}");
    // fixed, they are left out
    let fixed = squeezer_problem(InitialState::AsGiven, &LENGTHS);
    let mut engine = fixed.gradient().unwrap();
    agree(&mut engine, &FOLLOWED, [1e-9, 1e-5]);
    assert_eq!(engine.left_out(), LENGTHS);
    // projected, the start follows everything
    let projected = squeezer_problem(InitialState::Projected, &[]);
    agree(&mut projected.gradient().unwrap(), &[0, 1, 2, 3, 4], [1e-8, 1e-4]);
}

/// Protects identifications from what is fixed: lengths that the start does not follow may be there, whichever way gradients come;
/// free, they are refused before anything is searched.
#[test]
fn identification_minds_free_parameters_alone() {
    for method in [Method::Adjoint, Method::Difference] {
        let mut problem = squeezer_problem(InitialState::AsGiven, &[1, 2, 3, 4]);
        let settings = Settings { method: Some(optimise::Method::Bfgs), gradient: method, ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        assert!((found.values()[0] / 0.033 - 1.0).abs() < 1e-5, "{method:?}: {:?} {}", found.values(), found.reason());
        problem.parameters[LENGTHS[0]].free = true;
        let error = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap_err();
        assert!(
            matches!(error.engine(), Some(Error::StartDoesNotFollow { .. })) && error.to_string().contains("`d`"),
            "{error}"
        );
    }
}
