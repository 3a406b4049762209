//! Gradients of all models, forms, grids and costs against forward differentiation of a textbook HHT, against tangents,
//! and against the cost itself.

use crate::common;
use crate::for_all_models;

use common::compare::{compare, taylor};
use common::{ALL, FORMS, NONE, Parts};
use costate::Model;
use costate::cost::Quadrature;

/// Protects the whole chain (start, step, sweep, tangents, costs, weights) for costs that look at everything at once.
#[test]
fn adjoint_and_tangent_agree_with_a_textbook_simulation_in_dual_numbers() {
    for_all_models!(|name, case| {
        for form in FORMS {
            for alpha in [0.0, -0.05, -0.3] {
                let even = case.clone().alpha(alpha).form(form);
                // without damping, alternating multipliers grow until the step's equation has another root nearby
                let even = if alpha == 0.0 { even.first_steps(40) } else { even };
                for case in [even.clone(), even.uneven()] {
                    for quadrature in [Quadrature::Rectangle, Quadrature::Trapezoid] {
                        compare(name, &case, &case.cost_of(ALL), quadrature);
                    }
                }
            }
        }
    });
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
    for_all_models!(|name, case| {
        for form in FORMS {
            let case = case.clone().alpha(-0.05).form(form).uneven();
            for (part, parts) in parts {
                if part == "lambda" && case.model.signature().constraints.is_empty() {
                    continue;
                }
                for (running, terminal) in [(true, false), (false, true)] {
                    let cost = case.cost_of(Parts { running, terminal, ..parts });
                    let what = format!("{name}, {part}, running {running}, terminal {terminal}");
                    compare(&what, &case, &cost, Quadrature::Trapezoid);
                }
            }
        }
    });
}

/// Protects cost and gradient as a pair: what is left of J after its linear part must be quadratic.
#[test]
fn taylor_remainders_are_of_second_order() {
    for_all_models!(|name, case| {
        for form in FORMS {
            let case = case.clone().alpha(-0.1).form(form);
            taylor(name, &case, &case.cost_of(ALL));
        }
    });
}
